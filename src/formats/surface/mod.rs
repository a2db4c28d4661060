//! The surface of a grid as a mesh: `.ply`, `.obj` and `.glb` files.
//!
//! The mesh is the exposed faces of voxels, in mesh coordinates, front sides out; coplanar faces of
//! one colour are merged into rectangles of up to 64 by 64 voxels ([`mesher`]). Merging makes
//! T-junctions: a rectangle's corner may lie inside another's side. The surface has no holes, but
//! an edge need not have two faces; programs that require that (repair, subdivision, physics) need
//! it remeshed. Faces between two voxels are omitted, also between a transparent and an opaque one.
//!
//! Rectangles share a vertex if the colours are equal and they are close in the file; sharing
//! depends on the grid alone. Writing generates the surface two or three times, in parallel, so
//! that it need not fit in memory.

pub mod glb;
pub mod obj;
pub mod ply;

use std::convert::Infallible;
use std::io::Write;

use rayon::prelude::*;

use crate::base::divided;
use crate::base::ordered::in_pool;
use crate::base::srgb::Rgba;
use crate::formats::WriteError;
use crate::grid::{Place, VoxelGrid};
use crate::view::mesher::{self, Rectangle};

/// An element of a mesh; a quad comes after its vertices.
enum Element {
    /// Its position in voxels, and its colour if the grid has colours.
    Vertex([u32; 3], Option<Rgba>),
    /// Its vertex indices, from 0, counter-clockwise seen from outside.
    Quad([u64; 4]),
}

/// The surface of a grid as a mesh: exposed faces of voxels, merged into rectangles of one colour,
/// which are generated in parallel. Rectangles make T-junctions.
///
/// ```
/// use trivox::{VoxelGrid, formats::Surface};
///
/// let grid = VoxelGrid::from_voxels([4, 1, 1], [[1, 0, 0], [2, 0, 0]])?;
/// let surface = Surface::new(&grid);
/// let mut positions = vec![[0.0; 3]; surface.vertices() as usize];
/// surface.fill_positions(&mut positions);
/// let mut triangles = vec![[0; 3]; surface.triangles() as usize];
/// surface.fill_triangles(&mut triangles);
/// assert_eq!((positions.len(), triangles.len()), (8, 12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Surface<'a> {
    grid: &'a VoxelGrid,
    patches: Vec<Patch>,
    size: Size,
}

/// Neighbouring tiles of the mesher, whose rectangles share vertices.
#[derive(Debug)]
struct Patch {
    tiles: Vec<[u32; 3]>,
    /// The index of its first vertex.
    first: u64,
    size: Size,
}

impl<'a> Surface<'a> {
    /// The surface of `grid`, generated once to count its vertices.
    #[must_use]
    pub fn new(grid: &'a VoxelGrid) -> Self {
        let mut patches = Patch::all(grid);
        let sizes: Vec<Size> = patches.par_iter().map(|patch| patch.size(grid)).collect();
        let mut size = Size::default();
        for (patch, of_patch) in patches.iter_mut().zip(sizes) {
            (patch.first, patch.size) = (size.vertices, of_patch);
            size.vertices += of_patch.vertices;
            size.quads += of_patch.quads;
        }
        Self { grid, patches, size }
    }

    /// The number of vertices. Rectangles of different colours have vertices of their own.
    #[must_use]
    pub fn vertices(&self) -> u64 {
        self.size.vertices
    }

    /// The number of triangles: two for each rectangle.
    #[must_use]
    pub fn triangles(&self) -> u64 {
        2 * self.size.quads
    }

    /// Writes the positions of the vertices, in mesh units; in voxels if the grid has no place.
    ///
    /// # Panics
    /// `out` has another length than there are [`vertices`](Self::vertices).
    pub fn fill_positions(&self, out: &mut [[f64; 3]]) {
        let place = self.grid.world.place.unwrap_or_default();
        self.fill_vertices(out, |corner, _| placed(&place, corner));
    }

    /// Writes the colours of the vertices; zeros if the grid has no colours.
    ///
    /// # Panics
    /// As [`fill_positions`](Self::fill_positions).
    pub fn fill_colors(&self, out: &mut [Rgba]) {
        self.fill_vertices(out, |_, color| color.unwrap_or_default());
    }

    /// Writes the vertices of the triangles, from 0, counter-clockwise seen from outside.
    ///
    /// # Panics
    /// `out` has another length than there are [`triangles`](Self::triangles).
    pub fn fill_triangles(&self, out: &mut [[u64; 3]]) {
        let (pairs, rest) = out.as_chunks_mut();
        assert!(rest.is_empty(), "two triangles for each rectangle");
        let pair = |element| match element {
            Element::Vertex(..) => None,
            Element::Quad([a, b, c, d]) => Some([[a, b, c], [a, c, d]]),
        };
        self.fill(pairs, |size| size.quads, pair);
    }

    fn fill_vertices<T: Send>(
        &self,
        out: &mut [T],
        value: impl Fn([u32; 3], Option<Rgba>) -> T + Sync,
    ) {
        let value = |element| match element {
            Element::Vertex(corner, color) => Some(value(corner, color)),
            Element::Quad(_) => None,
        };
        self.fill(out, |size| size.vertices, value);
    }

    /// Writes the value of each element that has one; `count` is the number of those of a patch.
    fn fill<T: Send>(
        &self,
        out: &mut [T],
        count: impl Fn(&Size) -> u64,
        value: impl Fn(Element) -> Option<T> + Sync,
    ) {
        assert_eq!(out.len() as u64, count(&self.size), "a place for each value");
        let parts = divided(out, self.patches.iter().map(|patch| count(&patch.size) as usize));
        self.patches.par_iter().zip(parts).for_each(|(patch, part)| {
            let mut places = part.iter_mut();
            patch.elements(self.grid, |element| {
                if let Some(value) = value(element)
                    && let Some(place) = places.next()
                {
                    *place = value;
                }
            });
        });
    }

    /// Writes all elements in a fixed order; `encode` appends the bytes of one.
    fn write(
        &self,
        out: &mut dyn Write,
        encode: impl Fn(Element, &mut Vec<u8>) + Sync,
    ) -> Result<(), WriteError> {
        let encode = |patch: &Patch| {
            let mut bytes = Vec::new();
            patch.elements(self.grid, |element| encode(element, &mut bytes));
            bytes
        };
        Ok(in_pool(self.patches.iter(), encode, |bytes| out.write_all(&bytes))?)
    }
}

impl Patch {
    /// A patch with this many voxels gets no more tiles. Fewer voxels would make the
    /// initialization of its vertex cache a noticeable cost.
    const VOXELS: u32 = 1 << 13;

    /// The patches of `grid`, without the indices of their first vertices.
    fn all(grid: &VoxelGrid) -> Vec<Self> {
        let (mut patches, mut left) = (Vec::new(), 0);
        for (tile, voxels) in mesher::tiles(grid) {
            match patches.last_mut() {
                Some(Self { tiles, .. }) if left > 0 => tiles.push(tile),
                _ => {
                    patches.push(Self { tiles: vec![tile], first: 0, size: Size::default() });
                    left = Self::VOXELS;
                }
            }
            left = left.saturating_sub(voxels);
        }
        patches
    }

    /// Calls `take` with the elements, in a fixed order.
    fn elements(&self, grid: &VoxelGrid, mut take: impl FnMut(Element)) {
        let mut cache = VertexCache::new(self.first);
        let mut add = |rectangle: &Rectangle| {
            let mut quad = [0; 4];
            for (vertex, corner) in quad.iter_mut().zip(rectangle.corners()) {
                let (index, is_new) = cache.index(corner, rectangle.color.unwrap_or_default());
                *vertex = index;
                if is_new {
                    take(Element::Vertex(corner, rectangle.color));
                }
            }
            take(Element::Quad(quad));
            Ok::<(), Infallible>(())
        };
        let Ok(()) = mesher::rectangles_of(grid, self.tiles.iter().copied(), &mut add);
    }

    fn size(&self, grid: &VoxelGrid) -> Size {
        let mut size = Size::default();
        self.elements(grid, |element| match element {
            Element::Vertex(..) => size.vertices += 1,
            Element::Quad(_) => size.quads += 1,
        });
        size
    }
}

/// The numbers of vertices and quads of a surface.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    vertices: u64,
    quads: u64,
}

impl Size {
    /// This size, if 32-bit indices suffice.
    fn checked(self) -> Result<Self, WriteError> {
        let Self { vertices, quads } = self;
        if vertices.max(quads) > u32::MAX.into() {
            Err(WriteError::Unsupported(format!(
                "the surface has {quads} rectangles with {vertices} corners, and the format holds \
                 {} of each: write .obj, or at a lower resolution",
                u32::MAX
            )))
        } else {
            Ok(self)
        }
    }
}

/// The position, in mesh units, of a corner or a centre of voxels.
fn placed(Place { origin, voxel_size }: &Place, at: [impl Into<f64> + Copy; 3]) -> [f64; 3] {
    std::array::from_fn(|a| origin[a] + at[a].into() * voxel_size)
}

/// The logarithm of the cache's size: the vertices of a few tiles of a typical surface.
const BITS: u32 = 16;

/// Indexes vertices by a direct-mapped cache of fixed size. A vertex that was evicted is written
/// again with a new index.
struct VertexCache {
    table: Vec<Vertex>,
    next: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Vertex {
    corner: [u32; 3],
    color: Rgba,
    index: u64,
}

impl VertexCache {
    /// The first new vertex gets the index `first`.
    fn new(first: u64) -> Self {
        // `u32::MAX` is no voxel corner.
        let none = Vertex { corner: [u32::MAX; 3], color: [0; 4], index: 0 };
        Self { table: vec![none; 1 << BITS], next: first }
    }

    /// The index of the vertex at `corner` with this `color`, and whether it is new.
    fn index(&mut self, corner: [u32; 3], color: Rgba) -> (u64, bool) {
        let cached = &mut self.table[slot(corner, color)];
        if (cached.corner, cached.color) == (corner, color) {
            return (cached.index, false);
        }
        *cached = Vertex { corner, color, index: self.next };
        self.next += 1;
        (cached.index, true)
    }
}

/// The cache slot. Close corners of one colour have different slots; blocks and colours are spread
/// by Fibonacci hashing (D. Knuth, The Art of Computer Programming 3, section 6.4, 1973).
fn slot([x, y, z]: [u32; 3], color: Rgba) -> usize {
    const NEAR: u32 = BITS / 3;
    let near = |c: u32| u64::from(c & ((1 << NEAR) - 1));
    let block = [x, y, z].map(|c| u64::from(c >> NEAR));
    let block = block[0] | block[1] << 12 | block[2] << 24;
    let mix = |word: u64| word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let far = mix(mix(block) ^ u64::from(u32::from_le_bytes(color)));
    let near = near(x) | near(y) << NEAR | near(z) << (2 * NEAR);
    (near ^ far >> (64 - BITS)) as usize
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
