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

mod read;
mod scene;
mod write;

use crate::formats::GridSpec;
use crate::grid::{Up, VoxelGrid, World};

pub use read::read;
pub use write::{check_dims, write};

/// MagicaVoxel's.
pub const SPEC: GridSpec = GridSpec {
    extension: "vox",
    name: "MagicaVoxel",
    carries: "up to 2,000 voxels an axis; position, voxel size and up axis in an attribute of ours",
    read: Some(read),
    write: Some(|grid, _, out| write(grid, out)),
    check_dims,
    file_size: |_| None,
    lost: |_| Vec::new(),
};

/// Most voxels along an axis of one model.
const MAX_MODEL: u32 = 256;
/// Most voxels along an axis of a scene: positions -1000 to 999.
const MAX_SCENE: u32 = 2000;
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

/// The attribute's text, such as `1 dims=55,99,100 up=y origin=-1.5,0.0,2.0 voxel=0.125`: a
/// version, the grid's dimensions and, where it is known, its [`World`]. Numbers have as many
/// digits as they need to be read back as they were.
pub(super) fn describe(grid: &VoxelGrid) -> String {
    let [x, y, z] = grid.dims();
    let mut text = format!("1 dims={x},{y},{z}");
    if let Some(World { origin: [x, y, z], voxel_size, up }) = grid.world {
        let up = match up {
            Up::Y => 'y',
            Up::Z => 'z',
        };
        text += &format!(" up={up} origin={x:?},{y:?},{z:?} voxel={voxel_size:?}");
    }
    text
}

/// What [`describe`] said, or `None` where the text is none of its.
pub(super) fn parse_description(text: &str) -> Option<([u32; 3], Option<World>)> {
    let words: Vec<&str> = text.split(' ').collect();
    let (dims, world) = match words[..] {
        ["1", dims] => (dims, None),
        ["1", dims, up, origin, voxel] => (dims, Some(parse_world([up, origin, voxel])?)),
        _ => return None,
    };
    Some((numbers(dims.strip_prefix("dims=")?)?, world))
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
        let mut grid = VoxelGrid::empty([55, 99, 100]).expect("a small grid");
        assert_eq!(parse_description(&describe(&grid)), Some(([55, 99, 100], None)));
        for (up, c) in [(Up::Y, 0.1 + 0.2), (Up::Z, -0.0), (Up::Y, 5e-324), (Up::Z, f64::MAX)] {
            let world = World { origin: [c, -c, 1.0 / 3.0], voxel_size: f64::MIN_POSITIVE, up };
            grid.world = Some(world);
            let text = describe(&grid);
            let read = parse_description(&text).and_then(|(_, world)| world).expect(&text);
            assert_eq!(read.origin.map(f64::to_bits), world.origin.map(f64::to_bits), "{text}");
            assert_eq!(read, world);
        }
    }

    #[test]
    fn descriptions_that_lie_are_refused() {
        let good = "1 dims=5,6,7 up=y origin=0.0,1.0,2.0 voxel=0.5";
        assert!(parse_description(good).is_some());
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
        ] {
            let text = good.replace(from, to);
            assert_eq!(parse_description(&text), None, "{text}");
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
