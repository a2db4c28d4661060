//! The surface of a grid as a mesh: `.ply`, `.obj` and `.glb` files.
//!
//! The mesh is the exposed faces of voxels, in mesh coordinates, front sides out; coplanar faces of
//! one colour are merged into rectangles of up to 64 by 64 voxels ([`mesher`]). Merging makes
//! T-junctions: a rectangle's corner may lie inside another's side. The surface has no holes, but
//! an edge need not have two faces; programs that require that (repair, subdivision, physics) need
//! it remeshed. Faces between two voxels are omitted, also between a transparent and an opaque one.
//!
//! Rectangles share a vertex if the colours are equal and they are close in the file; sharing
//! depends on the grid alone. Writing generates the surface up to three times, in constant memory.

pub mod glb;
pub mod obj;
pub mod ply;
mod share;

use crate::formats::WriteError;
use crate::grid::{VoxelGrid, World};
use crate::mesher;
use crate::srgb::Rgba;

use share::VertexCache;

/// An element of a mesh; a quad comes after its vertices.
enum Element {
    /// Its position in voxels, and its colour if the grid has colours.
    Vertex([u32; 3], Option<Rgba>),
    /// Its vertex indices, from 0, counter-clockwise seen from outside.
    Quad([u64; 4]),
}

/// Calls `take` with the elements of the surface of `grid`, in a fixed order.
fn elements(
    grid: &VoxelGrid,
    mut take: impl FnMut(Element) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut cache = VertexCache::new();
    mesher::rectangles(grid, |rectangle| {
        let mut quad = [0; 4];
        for (vertex, corner) in quad.iter_mut().zip(rectangle.corners()) {
            let (index, is_new) = cache.index(corner, rectangle.color.unwrap_or_default());
            *vertex = index;
            if is_new {
                take(Element::Vertex(corner, rectangle.color))?;
            }
        }
        take(Element::Quad(quad))
    })
}

/// The numbers of vertices and quads of a surface.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    vertices: u64,
    quads: u64,
}

impl Size {
    /// The size of the surface of `grid`, for a format with 32-bit vertex indices.
    ///
    /// # Errors
    /// More than 32 bits can index.
    fn of(grid: &VoxelGrid) -> Result<Self, WriteError> {
        let mut size = Self::default();
        elements(grid, |element| {
            match element {
                Element::Vertex(..) => size.vertices += 1,
                Element::Quad(_) => size.quads += 1,
            }
            Ok(())
        })?;
        size.checked()
    }

    fn checked(self) -> Result<Self, WriteError> {
        let Self { vertices, quads } = self;
        match vertices.max(quads) > u32::MAX.into() {
            true => Err(WriteError::Unsupported(format!(
                "the surface has {quads} rectangles with {vertices} corners, and the format holds \
                 {} of each: write .obj, or at a lower resolution",
                u32::MAX
            ))),
            false => Ok(self),
        }
    }
}

/// The world of `grid`; by default its corner is at the origin and voxels have size 1.
fn world(grid: &VoxelGrid) -> World {
    grid.world.unwrap_or_default()
}

/// The position, in mesh units, of a corner of voxels.
fn placed(World { origin, voxel_size, .. }: &World, corner: [u32; 3]) -> [f64; 3] {
    std::array::from_fn(|a| origin[a] + f64::from(corner[a]) * voxel_size)
}

/// Whether all voxels are opaque; `true` without colours.
fn is_opaque(grid: &VoxelGrid) -> bool {
    grid.colors.as_ref().is_none_or(|colors| colors.are_opaque(grid.occupied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_corners_or_rectangles_than_32_bits_can_index_are_refused() {
        let most = u64::from(u32::MAX);
        assert!(Size { vertices: most, quads: most }.checked().is_ok());
        for [vertices, quads] in [[most + 1, 9], [9, most + 1]] {
            let error = Size { vertices, quads }.checked().expect_err("too many").to_string();
            let said = format!("{quads} rectangles with {vertices} corners, and the format holds");
            assert!(error.contains(&said), "{error}");
        }
    }
}
