//! The surface of a grid as a mesh: `.ply`, `.obj` and `.glb` files.
//!
//! They hold the faces that occupied voxels turn to empty ones or to the outside, in the mesh's
//! coordinates, outside in front; those in one plane and of one colour are merged into rectangles of up
//! to 64 by 64 voxels ([`mesher`]). Merged, they make T-junctions: a rectangle's corner
//! may lie in the middle of another's side. The surface has no holes, but an edge need not have two
//! faces, and programs that ask for that (repair, subdivision, physics) need it remeshed. Faces between
//! a voxel that can be seen through and an opaque one are left out, as all between two voxels.
//!
//! Rectangles share a corner where it has one colour and they are near one another in the file; what
//! they share depends on the grid alone. Writing takes the surface up to three times, and little memory.

pub mod glb;
pub mod obj;
pub mod ply;
mod share;

use crate::formats::WriteError;
use crate::grid::{Up, VoxelGrid, World};
use crate::mesher;
use crate::srgb::Rgba;

use share::Shared;

/// A part of a mesh; vertices come before what has them.
enum Part {
    /// Its place in the grid, and its colour where the grid has colours.
    Vertex([u32; 3], Option<Rgba>),
    /// The numbers of its vertices, from 0, counter-clockwise as seen from outside.
    Quad([u64; 4]),
}

/// Gives `take` the surface of `grid`, always in the same order.
fn parts(
    grid: &VoxelGrid,
    mut take: impl FnMut(Part) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut shared = Shared::new();
    mesher::rectangles(grid, |rectangle| {
        let mut quad = [0; 4];
        for (number, corner) in quad.iter_mut().zip(rectangle.corners()) {
            let (found, is_new) = shared.number(corner, rectangle.color.unwrap_or_default());
            *number = found;
            if is_new {
                take(Part::Vertex(corner, rectangle.color))?;
            }
        }
        take(Part::Quad(quad))
    })
}

/// How many vertices and quads a surface has.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    vertices: u64,
    quads: u64,
}

impl Size {
    /// That of the surface of `grid`, in a format that numbers vertices with 32 bits.
    ///
    /// # Errors
    /// It has too many.
    fn of(grid: &VoxelGrid) -> Result<Self, WriteError> {
        let mut size = Self::default();
        parts(grid, |part| {
            match part {
                Part::Vertex(..) => size.vertices += 1,
                Part::Quad(_) => size.quads += 1,
            }
            Ok(())
        })?;
        size.checked()
    }

    fn checked(self) -> Result<Self, WriteError> {
        let Self { vertices, quads } = self;
        match vertices.max(quads) > u32::MAX.into() {
            true => Err(WriteError::Unsupported(format!(
                "the surface has {quads} rectangles with {vertices} corners, and the format holds {} of \
                 each: write .obj, or at a lower resolution",
                u32::MAX
            ))),
            false => Ok(self),
        }
    }
}

/// Where `grid` lies; with its corner at the origin and voxels of size 1, if it does not say.
fn world(grid: &VoxelGrid) -> World {
    let unsaid = World { origin: [0.0; 3], voxel_size: 1.0, up: Up::default() };
    grid.world.unwrap_or(unsaid)
}

/// The place in mesh units of a corner of voxels.
fn placed(World { origin, voxel_size, .. }: &World, corner: [u32; 3]) -> [f64; 3] {
    std::array::from_fn(|a| origin[a] + f64::from(corner[a]) * voxel_size)
}

/// Whether all voxels that have a colour are opaque; so they are where there are no colours.
fn is_opaque(grid: &VoxelGrid) -> bool {
    grid.colors.as_ref().is_none_or(|colors| colors.are_opaque(grid.occupied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_corners_or_rectangles_than_32_bits_count_are_refused() {
        let most = u64::from(u32::MAX);
        assert!(Size { vertices: most, quads: most }.checked().is_ok());
        for [vertices, quads] in [[most + 1, 9], [9, most + 1]] {
            let error = Size { vertices, quads }.checked().expect_err("too many").to_string();
            let said = format!("{quads} rectangles with {vertices} corners, and the format holds");
            assert!(error.contains(&said), "{error}");
        }
    }
}
