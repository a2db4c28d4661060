//! Welds vertices at the same lattice point.
//!
//! The points are divided into parts by cells of space; each part has a hash table that fits into a
//! core's cache.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::lattice::SPAN_BITS;
use crate::solid::topology::bins::{Bins, part_bits};

/// An invalid index: there are at most `u32::MAX` vertices.
const NONE: u32 = u32::MAX;

/// Cells are `2^CELL_BITS` units wide: 64 along the longest axis, so that a surface has far more
/// cells than there are parts.
const CELL_BITS: u32 = SPAN_BITS - 6;

/// For each vertex the first vertex at its lattice point.
pub(super) struct Weld {
    /// `None` if no two vertices share a point.
    first: Option<Vec<u32>>,
}

impl Weld {
    pub(super) fn new(points: &[[i32; 3]]) -> Self {
        let parts = part_count(points.len());
        // Nearby points are in one part: they are often adjacent in memory too.
        let part_of = |vertex: u32| {
            let cell = points[vertex as usize].map(|c| c >> CELL_BITS);
            [(hash(cell) as usize & (parts - 1)) as u16]
        };
        let bins = Bins::new(points.len(), parts, part_of);
        let first: Vec<AtomicU32> =
            (0..points.len() as u32).into_par_iter().map(AtomicU32::new).collect();
        let welded = (0..parts).into_par_iter().map(|part| weld_part(points, &bins, part, &first));
        let any = welded.reduce(|| false, |one, other| one | other);
        Self { first: any.then(|| first.into_iter().map(AtomicU32::into_inner).collect()) }
    }

    /// The indices of the welded vertices.
    #[inline]
    pub(super) fn triangle(&self, triangle: [u32; 3]) -> [u32; 3] {
        match &self.first {
            None => triangle,
            Some(first) => triangle.map(|vertex| first[vertex as usize]),
        }
    }
}

/// Maximum memory of welding, in bytes: the result, the bins, and tables of up to four slots per
/// vertex if all are processed at once.
pub(super) fn bytes(vertices: usize) -> u64 {
    kept_bytes(vertices) + Bins::bytes(vertices, 1, part_count(vertices)) + 16 * vertices as u64
}

/// Maximum memory of the result, in bytes.
pub(super) fn kept_bytes(vertices: usize) -> u64 {
    4 * vertices as u64
}

/// The number of parts, a power of two.
fn part_count(vertices: usize) -> usize {
    (vertices >> part_bits(vertices)).next_power_of_two()
}

/// Records for each vertex of a part the first one at its point; returns whether any two are equal.
fn weld_part(points: &[[i32; 3]], bins: &Bins, part: usize, first: &[AtomicU32]) -> bool {
    let mut any = false;
    let mut table = vec![NONE; (2 * bins.bin(part).count()).next_power_of_two()];
    let mask = table.len() - 1;
    bins.bin(part).for_each(|vertex| {
        let point = points[vertex as usize];
        let mut slot = hash(point) as usize & mask;
        // At least half of the slots stay empty.
        while table[slot] != NONE {
            if points[table[slot] as usize] == point {
                first[vertex as usize].store(table[slot], Relaxed);
                any = true;
                return;
            }
            slot = (slot + 1) & mask;
        }
        table[slot] = vertex;
    });
    any
}

/// A hash in which every bit depends on every bit of the point, since coordinates are often
/// multiples of a large power of two. The factors are digits of pi.
fn hash([x, y, z]: [i32; 3]) -> u64 {
    let xy = u64::from(x as u32) << 32 | u64::from(y as u32);
    let folded = fold(xy ^ 0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345);
    fold(folded ^ u64::from(z as u32), 0xa409_3822_299f_31d1)
}

/// The XOR of both halves of the product.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
