//! Which corners of rectangles are one vertex.

use crate::srgb::Rgba;

/// Vertices that are remembered: those of a few tiles of an ordinary surface.
const BITS: u32 = 16;

/// Numbers vertices. Each place of a table of fixed size remembers one, the last that belonged there: a
/// vertex that was forgotten is there twice.
pub(super) struct Shared {
    table: Vec<Vertex>,
    next: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Vertex {
    corner: [u32; 3],
    color: Rgba,
    number: u64,
}

impl Shared {
    pub(super) fn new() -> Self {
        // No corner of a voxel.
        let none = Vertex { corner: [u32::MAX; 3], color: [0; 4], number: 0 };
        Self { table: vec![none; 1 << BITS], next: 0 }
    }

    /// The number of the vertex at `corner` that has this `color`, and whether it is a new one.
    pub(super) fn number(&mut self, corner: [u32; 3], color: Rgba) -> (u64, bool) {
        let known = &mut self.table[place(corner, color)];
        if (known.corner, known.color) == (corner, color) {
            return (known.number, false);
        }
        *known = Vertex { corner, color, number: self.next };
        self.next += 1;
        (known.number, true)
    }
}

/// Corners near one another of one colour have different places; other colours are spread by the golden
/// ratio's multiples (D. Knuth, The Art of Computer Programming 3, section 6.4, 1973).
fn place([x, y, z]: [u32; 3], color: Rgba) -> usize {
    const NEAR: u32 = BITS / 3;
    let near = |c: u32| u64::from(c & ((1 << NEAR) - 1));
    let block = [x, y, z].map(|c| u64::from(c >> NEAR));
    let block = block[0] | block[1] << 12 | block[2] << 24;
    let mix = |word: u64| word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let far = mix(mix(block) ^ u64::from(u32::from_le_bytes(color)));
    let near = near(x) | near(y) << NEAR | near(z) << (2 * NEAR);
    (near ^ far >> (64 - BITS)) as usize
}
