//! Vertex sharing between rectangles.

use crate::base::srgb::Rgba;

/// The logarithm of the cache's size: the vertices of a few tiles of a typical surface.
const BITS: u32 = 16;

/// Indexes vertices by a direct-mapped cache of fixed size. A vertex that was evicted is written
/// again with a new index.
pub(super) struct VertexCache {
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
    pub(super) fn new(first: u64) -> Self {
        // `u32::MAX` is no voxel corner.
        let none = Vertex { corner: [u32::MAX; 3], color: [0; 4], index: 0 };
        Self { table: vec![none; 1 << BITS], next: first }
    }

    /// The index of the vertex at `corner` with this `color`, and whether it is new.
    pub(super) fn index(&mut self, corner: [u32; 3], color: Rgba) -> (u64, bool) {
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
