//! MagicaVoxel `.vox`, version 150.
//!
//! The format is ephtracy's ("MagicaVoxel File Format", 2016, and its scene graph extension): a
//! tree of chunks, each a four-letter name, the length of its content, the length of its
//! children, and these. What matters here:
//!
//! - a *model* (`SIZE`, `XYZI`) is a list of voxels `(x, y, z, colour)`, a byte each, in a box of
//!   at most 256 per axis, with `z` up;
//! - larger grids are several models, placed by a *scene graph*: transforms (`nTRN`), groups
//!   (`nGRP`) and shapes (`nSHP`), the root being transform 0. A transform's translation `_t` is
//!   where the model's pivot `floor(size / 2)` comes to lie, so voxel `v` lies at
//!   `t + v - floor(size / 2)`;
//! - MagicaVoxel shows positions from -1000 to 999 and clips the rest.
//!
//! # What is written
//! Always a scene graph, whatever the size: readers without one take the models as they are, and a
//! grid of up to 256 per axis is one model. Grids whose mesh is `y` up are rotated to `z` up,
//! `(x, y, z)` to `(x, -z, y)`, without mirroring. The scene is centred in `x` and `y` and stands
//! on the ground, or as far below it as its height makes necessary.
//!
//! One attribute of the root, `trivox`, says what MagicaVoxel has no place for: the grid's size,
//! its up axis and where it lies in the mesh's coordinates. With it, reading gives back the grid
//! that was written.
//!
//! Larger grids are several files, each of a box of up to 2000 voxels per axis that lies in its own
//! world as a grid would. The attribute says where the box lies, in the mesh's coordinates and in the
//! grid.
//!
//! # Colours
//! A voxel's colour is an index into a palette (`RGBA`): the index is 1 for the first entry, and 255
//! are usable. A grid's colours become 255 or fewer, as [`palette`](crate::palette) has it, the same
//! in all files of it; a grid without colours is light grey, beside colours to paint with.
//!
//! Reading takes a file's palette, or MagicaVoxel's own where it has none, and only the colours in it:
//! opacities in a palette have no effect there, and materials (`MATL`) are said and left out. `IMAP`
//! tells in which order MagicaVoxel shows the palette, and changes no voxel. Where models overlap, the
//! one that comes last in the scene graph wins, and of a model's voxels in one place the last. A grid
//! that was written without colours has none when it is read.

mod default_palette;
mod paint;
mod parts;
mod read;
mod scene;
mod write;

use std::fmt;

use crate::formats::GridSpec;
use crate::grid::{Up, VoxelGrid, World};
use crate::palette::{MAX_COLORS, count_colors};

pub use parts::Part;
use parts::Place;
pub use read::read;
pub use write::{Files, check_dims, write};

/// MagicaVoxel's.
pub const SPEC: GridSpec = GridSpec {
    extension: "vox",
    name: "MagicaVoxel",
    carries: "any size, past 2,000 voxels an axis as several files; 255 colours; position, voxel size \
              and up axis in an attribute of ours",
    read: Some(read),
    write: Some(write),
    check_dims,
    file_size: |_| None,
    lost,
    has_colors: true,
};

fn lost(grid: &VoxelGrid) -> Vec<String> {
    let mut lost = Vec::new();
    let count = count_colors(grid);
    if count > MAX_COLORS {
        lost.push(format!("of {count} colours {MAX_COLORS} or fewer are kept, those most alike"));
    }
    if grid.colors.as_ref().is_some_and(|colors| !colors.are_opaque(grid.occupied())) {
        lost.push("how opaque voxels are is not kept: all are opaque".to_owned());
    }
    lost
}

/// Most voxels along an axis of one model.
const MAX_MODEL: u32 = 256;
/// Most voxels along an axis of a scene, and so of a file: positions -1000 to 999.
pub const MAX_SCENE: u32 = 2000;
/// The first position past MagicaVoxel's world.
const WORLD_END: i64 = 1000;
/// The root attribute that describes the grid.
const ATTRIBUTE: &str = "trivox";

/// A grid, or a part of one, as a box in MagicaVoxel's axes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Frame {
    /// In the grid's axes.
    dims: [u32; 3],
    up: Up,
}

impl Frame {
    /// A grid that does not say what is up is taken to be `z` up.
    fn new(dims: [u32; 3], world: Option<World>) -> Self {
        Self { dims, up: world.map_or(Up::Z, |world| world.up) }
    }

    /// Voxels along MagicaVoxel's axes.
    fn size(&self) -> [u32; 3] {
        let [x, y, z] = self.dims;
        match self.up {
            Up::Y => [x, z, y],
            Up::Z => [x, y, z],
        }
    }

    /// MagicaVoxel's position of the frame's minimum corner, where the frame is a whole scene.
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
    fn grid_from_vox(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        match self.up {
            Up::Y => [x, z, self.dims[2] - 1 - y],
            Up::Z => [x, y, z],
        }
    }
}

/// What the attribute says, such as `1 dims=55,99,100 up=y origin=-1.5,0.0,2.0 voxel=0.125`: a
/// version, the grid's dimensions and, where it is known, its [`World`]. Numbers have as many
/// digits as they need to be read back as they were. Of a part `from=2000,0,0 of=2055,99,100` follows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Description {
    dims: [u32; 3],
    world: Option<World>,
    part: Option<Place>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dims: [x, y, z], world, part } = self;
        write!(f, "1 dims={x},{y},{z}")?;
        if let Some(World { origin: [x, y, z], voxel_size, up }) = world {
            let up = match up {
                Up::Y => 'y',
                Up::Z => 'z',
            };
            write!(f, " up={up} origin={x:?},{y:?},{z:?} voxel={voxel_size:?}")?;
        }
        if let Some(Place { base: [x, y, z], of: [dx, dy, dz] }) = part {
            write!(f, " from={x},{y},{z} of={dx},{dy},{dz}")?;
        }
        Ok(())
    }
}

impl Description {
    /// `None` where the text is none of ours.
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let (dims, world, part) = match words[..] {
            ["1", dims] => (dims, None, None),
            ["1", dims, from, of] => (dims, None, Some([from, of])),
            ["1", dims, up, origin, voxel] => (dims, Some([up, origin, voxel]), None),
            ["1", dims, up, origin, voxel, from, of] => {
                (dims, Some([up, origin, voxel]), Some([from, of]))
            }
            _ => return None,
        };
        let dims = numbers(dims.strip_prefix("dims=")?)?;
        let world = world.map(|words| parse_world(words).ok_or(())).transpose().ok()?;
        let part = part.map(|words| parse_place(words, dims).ok_or(())).transpose().ok()?;
        Some(Self { dims, world, part })
    }
}

/// The [`Description`] of a whole grid, for other formats too.
pub(super) fn describe(grid: &VoxelGrid) -> String {
    Description { dims: grid.dims(), world: grid.world, part: None }.to_string()
}

/// What [`describe`] said, or `None` where the text is none of its.
pub(super) fn parse_description(text: &str) -> Option<([u32; 3], Option<World>)> {
    let Description { dims, world, part } = Description::parse(text)?;
    part.is_none().then_some((dims, world))
}

/// Where a part of `dims` voxels lies, which must be inside.
fn parse_place([from, of]: [&str; 2], dims: [u32; 3]) -> Option<Place> {
    let base: [u32; 3] = numbers(from.strip_prefix("from=")?)?;
    let of: [u32; 3] = numbers(of.strip_prefix("of=")?)?;
    let is_inside = |a: usize| base[a].checked_add(dims[a]).is_some_and(|end| end <= of[a]);
    (0..3).all(is_inside).then_some(Place { base, of })
}

fn parse_world([up, origin, voxel]: [&str; 3]) -> Option<World> {
    let up = match up {
        "up=y" => Up::Y,
        "up=z" => Up::Z,
        _ => return None,
    };
    let origin = numbers(origin.strip_prefix("origin=")?)?;
    let [voxel_size] = numbers(voxel.strip_prefix("voxel=")?)?;
    Some(World { origin, voxel_size, up }).filter(is_possible)
}

fn numbers<T: std::str::FromStr, const N: usize>(text: &str) -> Option<[T; N]> {
    let numbers: Option<Vec<T>> = text.split(',').map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// Whether a grid can lie so in the world at all.
pub(super) fn is_possible(world: &World) -> bool {
    world.origin.iter().all(|c| c.is_finite())
        && world.voxel_size.is_finite()
        && world.voxel_size > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read_back_as_written() {
        let place = Place { base: [2000, 0, 4000], of: [2055, 99, 4100] };
        for (up, c) in [(Up::Y, 0.1 + 0.2), (Up::Z, -0.0), (Up::Y, 5e-324), (Up::Z, f64::MAX)] {
            let world = World { origin: [c, -c, 1.0 / 3.0], voxel_size: f64::MIN_POSITIVE, up };
            for (world, part) in
                [(None, None), (Some(world), None), (None, Some(place)), (Some(world), Some(place))]
            {
                let description = Description { dims: [55, 99, 100], world, part };
                let text = description.to_string();
                let read = Description::parse(&text).expect(&text);
                assert_eq!(read, description, "{text}");
                let bits = |d: Description| d.world.map(|world| world.origin.map(f64::to_bits));
                assert_eq!(bits(read), bits(description), "{text}");
            }
        }
    }

    #[test]
    fn descriptions_that_lie_are_refused() {
        let good = "1 dims=5,6,7 up=y origin=0.0,1.0,2.0 voxel=0.5 from=2,0,0 of=7,6,8";
        assert!(Description::parse(good).is_some());
        for (from, to) in [
            ("1 ", "2 "),
            ("1 ", "1  "),
            ("5,6,7", "5,6"),
            ("5,6,7", "5,6,-7"),
            ("5,6,7", "5,6,4294967296"),
            ("up=y", "up=x"),
            ("up=y ", ""),
            ("2.0 ", "NaN "),
            ("2.0 ", "1e999 "),
            ("voxel=0.5", "voxel=0.0"),
            ("voxel=0.5", "voxel=0.5 more"),
            ("from=2,0,0", "from=3,0,0"),
            ("from=2,0,0", "from=4294967295,0,0"),
            (" of=7,6,8", ""),
            ("of=7,6,8", "of=7,6,6"),
            ("of=7,6,8", "of=7,6,8 more"),
        ] {
            let text = good.replace(from, to);
            assert_eq!(Description::parse(&text), None, "{text}");
        }
    }

    #[test]
    fn turning_back_undoes_turning_and_does_not_mirror() {
        for up in [Up::Y, Up::Z] {
            let frame = Frame { dims: [5, 6, 7], up };
            let turn = |v| frame.vox_from_grid(v).map(i64::from);
            let [o, x, y, z] = [[1, 2, 3], [2, 2, 3], [1, 3, 3], [1, 2, 4]].map(turn);
            assert_eq!(frame.grid_from_vox(frame.vox_from_grid([1, 2, 3])), [1, 2, 3]);
            let [a, b, c] = [x, y, z].map(|p| [0, 1, 2].map(|i| p[i] - o[i]));
            let cross = [0, 1, 2].map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                a[j] * b[k] - a[k] * b[j]
            });
            assert_eq!(cross, c, "x cross y is not z with {up:?}");
        }
    }

    #[test]
    fn scenes_stand_on_the_ground_until_they_are_too_high() {
        let corner = |dims| Frame { dims, up: Up::Z }.corner();
        assert_eq!(corner([1, 2, 3]), [0, -1, 0]);
        assert_eq!(corner([2000, 1999, 1000]), [-1000, -999, 0]);
        assert_eq!(corner([1, 1, 1001]), [0, 0, -1]);
        assert_eq!(corner([1, 1, 2000]), [0, 0, -1000]);
        assert_eq!(Frame { dims: [1, 1500, 4], up: Up::Y }.corner(), [0, -2, -500]);
    }
}
