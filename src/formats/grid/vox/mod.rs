//! MagicaVoxel `.vox`, version 150.
//!
//! The format is ephtracy's ("MagicaVoxel File Format", 2016, and its scene graph extension): a
//! tree of chunks, each a four-letter name, the length of its content, the length of its
//! children, its content and its children. The relevant parts:
//!
//! - a *model* (`SIZE`, `XYZI`) is a list of voxels `(x, y, z, colour)`, a byte each, in a box of
//!   at most 256 per axis, with `z` up;
//! - larger grids are several models, placed by a *scene graph*: transforms (`nTRN`), groups
//!   (`nGRP`) and shapes (`nSHP`), the root being transform 0. A transform's translation `_t` is
//!   the position of the model's pivot `floor(size / 2)`, so voxel `v` lies at
//!   `t + v - floor(size / 2)`;
//! - MagicaVoxel shows positions from -1000 to 999 and clips the rest.
//!
//! # What is written
//! Always a scene graph: readers that ignore it still get the model of a grid of up to 256 per
//! axis. Grids whose mesh is `y` up are rotated to `z` up, `(x, y, z)` to `(x, -z, y)`, without
//! mirroring. The scene is centred in `x` and `y` and stands on the ground, or as far below it as
//! its height requires. Labels are parts: the voxels of each are models of their own, below a
//! transform with the label's name.
//!
//! The root attribute `trivox` stores what the format does not: the grid's dimensions, its up axis
//! and its position in mesh coordinates. With it, reading restores the grid that was written, and
//! its labels, numbered anew, if a part has a name.
//!
//! # Colours
//! A voxel's colour is an index into a palette (`RGBA`): the index is 1 for the first entry, and
//! 255 are usable. A grid's colours are quantized to 255 or fewer by
//! [`palette`](crate::surface::palette); a grid without colours is light grey, in a palette of
//! colours to paint with. Light adds to the colours of voxels that [emit](light) it.
//!
//! Reading uses the file's palette, or MagicaVoxel's default, without opacity, which has no effect
//! in MagicaVoxel. It ignores materials (`MATL`), with a warning; [`materials`] writes them.
//! `IMAP`, the display order of the palette, affects no voxel. Where models overlap, the last in
//! the scene graph wins, and of a model's voxels at one position the last. A grid that was written
//! without colours is read without colours.

mod assemble;
mod light;
mod materials;
mod paint;
mod parse;
mod scene;
mod write;

use std::io::BufRead;

use self::scene::{Pose, Rotation};
use crate::base::numbers::{counted, grouped};
use crate::formats::grid::description::Description;
use crate::formats::io::bytes::read_whole;
use crate::formats::{GridSpec, LoadedGrid, ReadError, ReadOptions, WriteOptions, lost_opacity};
use crate::grid::{Colors, Up, VoxelGrid};
use crate::surface::palette::{MAX_COLORS, count_colors};

pub use write::{check_dims, write};

pub const SPEC: GridSpec = GridSpec {
    extension: "vox",
    name: "MagicaVoxel",
    carries: "up to 2,000 voxels per axis; 255 colours, written with metal, roughness and light; \
              labels as named parts; position, voxel size and up axis in a custom attribute",
    read: Some(read),
    check_dims,
    lost,
    has_colors: true,
    has_palette: true,
    attributes: |options| {
        if options.plain { &materials::ATTRIBUTES } else { &materials::ATTRIBUTES_AND_LABEL }
    },
    ..GridSpec::plain(write)
};

/// Reads the grid of a `.vox` file: all models of the scene graph, or the visible ones, in the
/// palette's colours, in the first or the chosen frame of an animation. Its dimensions are those of
/// the `trivox` attribute or, without it, the extent of the models' boxes.
///
/// # Errors
/// Malformed content; several models without a scene graph (frames of an animation) and no frame; a
/// frame past the last; a graph with cycles or too many instances; a grid past the largest
/// dimensions; models outside the region that the attribute states.
fn read(input: &mut dyn BufRead, options: &ReadOptions) -> Result<LoadedGrid, ReadError> {
    let limit = options.memory;
    // The first bytes of a pipe may come one by one.
    if let Some(start) = input.fill_buf()?.get(..4) {
        parse::check_start(start)?;
    }
    // Its voxels by brick take as much again.
    let file = read_whole(input, limit)?;
    let scene = parse::parse(&file, options)?;
    let limit = limit - 2 * file.len() as u64;
    let (grid, counts) = assemble::assemble(&scene, limit)?;
    Ok(LoadedGrid::new(grid, scene.warnings(&counts)))
}

/// The colours of the voxels of `grid` in the palette; `None` if it has no colours.
pub fn painted(grid: &VoxelGrid, options: &WriteOptions) -> Option<Colors> {
    let grid = &*light::lit(grid);
    options.indexed(grid)?.painted(grid)
}

fn lost(grid: &VoxelGrid, options: &WriteOptions) -> Vec<Option<String>> {
    let grid = &*light::lit(grid);
    let count = count_colors(grid);
    let colors = || counted(count as u64, "colour");
    let approximated = if let Some(given) = options.palette.as_ref().filter(|_| count > 0) {
        let all = given.colors().iter().filter(|color| color[3] > 0).count();
        let by = if options.dither { "a mixture" } else { "each the nearest" };
        Some(format!("{} of the voxels, {by} of the palette's {all}", colors()))
    } else if count > options.most_colors() {
        let most = options.most_colors();
        let why = match most {
            MAX_COLORS => "the most that the file's palette holds",
            _ => "as asked for",
        };
        Some(format!("{} are approximated by {most} or fewer, {why}", colors()))
    } else {
        None
    };
    let opaque = |_| "how opaque voxels are is not kept: all are opaque".to_owned();
    let [joined, light] = materials::lost(grid, options);
    let parts = write::parts_over_limit(grid).map(|parts| {
        let (parts, most) = (counted(parts as u64, "object"), grouped(write::MAX_PARTS as u64));
        format!("the labels are not kept: {parts} are more than the {most} parts of a file")
    });
    vec![approximated, lost_opacity(grid).map(opaque), joined, light, parts]
}

/// Most voxels along an axis of one model.
const MAX_MODEL: u32 = 256;
/// Most voxels along an axis of a scene: positions -1000 to 999.
const MAX_SCENE: u32 = 2000;
/// The first position past MagicaVoxel's world.
const WORLD_END: i64 = 1000;
/// The root attribute that describes the grid.
const ATTRIBUTE: &str = "trivox";
/// The attribute of a transform with the name of its subtree, which MagicaVoxel lists.
const NAME: &str = "_name";
/// The name of the voxels with the label -1.
const REST: &str = "(no label)";

/// The box of a grid, or of a model, in MagicaVoxel's axes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Frame {
    /// Voxels along the grid's axes.
    dims: [u32; 3],
    up: Up,
}

impl Frame {
    /// Voxels along MagicaVoxel's axes.
    fn size(&self) -> [u32; 3] {
        let [x, y, z] = self.dims;
        match self.up {
            Up::Y => [x, z, y],
            Up::Z => [x, y, z],
        }
    }

    /// The position of the minimum corner in MagicaVoxel, if the frame is a whole scene.
    fn corner(&self) -> [i64; 3] {
        let [x, y, z] = self.size().map(i64::from);
        [-(x / 2), -(y / 2), (WORLD_END - z).min(0)]
    }

    /// A voxel of the grid in MagicaVoxel's axes, relative to the minimum corner.
    fn vox_from_grid(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        match self.up {
            Up::Y => [x, self.dims[2] - 1 - z, y],
            Up::Z => [x, y, z],
        }
    }

    /// The inverse of [`vox_from_grid`](Self::vox_from_grid).
    fn grid_from_vox(&self) -> Pose {
        match self.up {
            Up::Y => {
                let translation = [0, 0, i64::from(self.dims[2]) - 1];
                Pose { rotation: Rotation::Y_UP, translation }
            }
            Up::Z => Pose::NONE,
        }
    }
}
