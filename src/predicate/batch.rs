//! [`touches`](super::touches()) for many triangles and one box, several triangles with each vector
//! instruction.
//!
//! Pays where early rejection does not: when about half of the pairs touch, the exits of a test
//! that stops early are mispredicted. The thirteen axes are those of [`touches`](super::touches()),
//! decided in `f32`, and exactly (below).
//!
//! # Nine numbers for ten axes
//! Let `v_i` be the corners relative to the box's centre, `w_i = v_i x v_(i+1)` and
//! `n = w_0 + w_1 + w_2`, which is the triangle's normal. Along the cross product of box normal `a`
//! and the edge from corner `i`, that edge projects to component `a` of `w_i`, and the corner
//! across from it to that of `w_i - n` (or both to the negatives). The interval between `p` and
//! `q` misses `[-r, r]` if and only if `|p + q| > |p - q| + 2 r`: here `|n - 2 w_i| > |n| + 2 r`.
//! So the components of the `w_i` serve the nine edge axes and the plane.
//!
//! # Exact in `f32`
//! Let `D` bound the corners' coordinates, relative to the centre, and the half edge. The bit
//! budget of [`lattice`](crate::lattice) says `D <= 2^24`, so these are exact in `f32`, and so are
//! the box normals. Along every other axis the gap between triangle and box is an integer, and
//! positive if and only if the axis separates; so its sign is certain where it is computed with an
//! error below 1/2, or is farther from 1/2 than its error. Uncertain triangles fall back to
//! [`touches`](super::touches()).
//!
//! With `u = 2^-24`, the relative error of one rounding, these are the largest values and errors,
//! fused or not; terms of second order are less than a thousandth of the slack:
//!
//! - `w_i`, from two products: `2 D^2`, off by `(2 + 2) u D^2`;
//! - `n`, twice an area in a square of `2 D`, from three `w_i`: `4 D^2`, off by
//!   `(3 * 4 + 4 + 4) u D^2`, which is `20 u D^2`;
//! - `n - 2 w_i`: `6 D^2`, off by `(20 + 2 * 4 + 6) u D^2`, which is `34 u D^2`;
//! - `2 r`, or `2 D` times two lengths of `2 D`: `8 D^2`, off by `(2 * (2 + 2 + 4) + 8) u D^2`,
//!   which is `24 u D^2`;
//! - the gap on an edge axis, `(|n - 2 w_i| - 2 r) - |n|`: `12 D^2`, off by
//!   `(34 + 24 + 8 + 20 + 12) u D^2`, which is `98 u D^2`;
//! - `n . v_0` and `h |n|_1`, from three products each: `12 D^3`, off by
//!   `(3 * 20 + 3 * 4 + 8 + 12) u D^3`, which is `92 u D^3`;
//! - the gap on the plane, their difference: `12 D^3`, off by `(92 + 92 + 12) u D^3`, which is
//!   `196 u D^3`.
//!
//! So the errors of gaps are below `2^-17 D^2` and `2^-16 D^3`. Integers up to `2^24` are exact,
//! hence the gaps on edge axes for `D <= 2^10`, and on the plane for `D <= 2^6`.

use pulp::{Arch, Simd, WithSimd};

use crate::lattice::{SPAN_BITS, Triangle};
use crate::predicate::{InstructionSet, touches};

/// Triangles tested per word of answers.
const LANES: usize = u64::BITS as usize;

/// One coordinate of one corner, by lane.
type Coordinates = [f32; LANES];

/// 64 triangles. Aligned to cache lines, so that no vector straddles two.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Block {
    /// `corners[corner][axis][lane]`
    corners: [[Coordinates; 3]; 3],
    min: [f32; 3],
    max: [f32; 3],
}

impl Block {
    /// Lays out 1 to 64 triangles; spare lanes are copies of the last.
    fn new(triangles: &[Triangle]) -> Self {
        let coordinate = |lane: usize, corner: usize, axis: usize| {
            let coordinate = triangles[lane.min(triangles.len() - 1)][corner][axis];
            debug_assert!(coordinate.abs() <= 1 << SPAN_BITS, "{coordinate} is out of the budget");
            coordinate as f32
        };
        let corners: [[Coordinates; 3]; 3] = std::array::from_fn(|corner| {
            std::array::from_fn(|axis| std::array::from_fn(|lane| coordinate(lane, corner, axis)))
        });
        let all = |axis: usize| corners.iter().flat_map(move |corner| corner[axis]);
        let min = [0, 1, 2].map(|axis| all(axis).fold(f32::INFINITY, f32::min));
        let max = [0, 1, 2].map(|axis| all(axis).fold(f32::NEG_INFINITY, f32::max));
        Self { corners, min, max }
    }

    fn triangle(&self, lane: usize) -> Triangle {
        self.corners.each_ref().map(|corner| corner.each_ref().map(|axis| axis[lane] as i32))
    }
}

/// Triangles in structure-of-arrays layout, tested against one box at a time.
///
/// ```
/// use trivox::predicate::batch::Batch;
///
/// let flat = |z| [[0, 0, z], [8, 0, z], [0, 8, z]];
/// let batch = Batch::new(&[flat(0), flat(4), flat(5)]);
/// // The box [0, 4]^3 has the first triangle on its floor and the second on its lid.
/// assert_eq!(batch.touches([2, 2, 2], 2), [0b011]);
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    len: usize,
    blocks: Vec<Block>,
}

impl Batch {
    /// Lays out `triangles`, which must keep the bit budget of [`lattice`](crate::lattice).
    #[must_use]
    pub fn new(triangles: &[Triangle]) -> Self {
        Self { len: triangles.len(), blocks: triangles.chunks(LANES).map(Block::new).collect() }
    }

    /// The number of triangles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Which triangles touch the closed cube of half edge `half` around `center`: bit `i % 64` of
    /// word `i / 64` is what [`touches`](super::touches()) answers for triangle `i`. Bits past the
    /// last triangle are 0.
    ///
    /// Corners, `center` and `half` must keep the bit budget of [`lattice`](crate::lattice).
    #[must_use]
    pub fn touches(&self, center: [i32; 3], half: i32) -> Vec<u64> {
        self.touches_with(|test| Arch::new().dispatch(test), center, half)
    }

    /// [`touches`](Self::touches) with the vector instructions of `set`.
    #[must_use]
    pub fn touches_by(&self, set: InstructionSet, center: [i32; 3], half: i32) -> Vec<u64> {
        self.touches_with(|test| set.dispatch(test), center, half)
    }

    fn touches_with(&self, dispatch: impl FnOnce(Test), center: [i32; 3], half: i32) -> Vec<u64> {
        let mut words = vec![0; self.blocks.len()];
        dispatch(Test { blocks: &self.blocks, center, half, words: &mut words });
        if let Some(last) = words.last_mut() {
            *last &= u64::MAX >> (self.blocks.len() * LANES - self.len);
        }
        words
    }
}

/// A test of triangles against one box.
struct Test<'a> {
    blocks: &'a [Block],
    center: [i32; 3],
    half: i32,
    /// The answers, a word for each block.
    words: &'a mut [u64],
}

impl WithSimd for Test<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { blocks, center, half, words } = self;
        for (block, word) in blocks.iter().zip(words) {
            let (separated, uncertain) = Cube::new(simd, block, center, half).separates(block);
            *word = !separated;
            if uncertain != 0 {
                *word = decide(block, center, half, *word, uncertain);
            }
        }
    }
}

/// Decides the uncertain lanes of `word` exactly, one by one.
#[cold]
fn decide(block: &Block, center: [i32; 3], half: i32, word: u64, uncertain: u64) -> u64 {
    (0..LANES).filter(|lane| uncertain >> lane & 1 == 1).fold(word & !uncertain, |word, lane| {
        word | u64::from(touches(&block.triangle(lane), center, half)) << lane
    })
}

/// Thresholds of gaps: above `apart` an axis certainly separates, below `clear` it certainly does
/// not.
#[derive(Clone, Copy)]
struct Thresholds<S: Simd> {
    apart: S::f32s,
    clear: S::f32s,
}

impl<S: Simd> Thresholds<S> {
    /// For gaps that are integers plus an error of at most `error`.
    #[inline(always)]
    fn new(simd: S, error: f32) -> Self {
        Self { apart: simd.splat_f32s(0.5 + error), clear: simd.splat_f32s(0.5 - error) }
    }
}

/// A box, set up for the triangles of one block.
struct Cube<S: Simd> {
    simd: S,
    center: [S::f32s; 3],
    half: S::f32s,
    minus_half: S::f32s,
    edge: S::f32s,
    on_edges: Thresholds<S>,
    on_plane: Thresholds<S>,
}

impl<S: Simd> Cube<S> {
    #[inline(always)]
    fn new(simd: S, block: &Block, center: [i32; 3], half: i32) -> Self {
        let [x, y, z] = center.map(|c| c as f32);
        let half = half as f32;
        let mut reach = half;
        for (axis, c) in [x, y, z].into_iter().enumerate() {
            reach = reach.max(block.max[axis] - c).max(c - block.min[axis]);
        }
        let error = |exact: f32, error: f32| if reach <= exact { 0.0 } else { error };
        Self {
            simd,
            center: [simd.splat_f32s(x), simd.splat_f32s(y), simd.splat_f32s(z)],
            half: simd.splat_f32s(half),
            minus_half: simd.splat_f32s(-half),
            edge: simd.splat_f32s(2.0 * half),
            on_edges: Thresholds::new(simd, error(EXACT_EDGES, EDGES_ERROR * reach * reach)),
            on_plane: Thresholds::new(
                simd,
                error(EXACT_PLANE, PLANE_ERROR * reach * reach * reach),
            ),
        }
    }

    /// The lanes of `block` that an axis certainly separates, and those that are uncertain.
    #[inline(always)]
    fn separates(&self, block: &Block) -> (u64, u64) {
        let (mut separated, mut uncertain) = ([0; LANES], [0; LANES]);
        let bits = S::as_simd_u32s(&BITS).0;
        let separated_by_vector = S::as_mut_simd_u32s(&mut separated).0;
        let uncertain_by_vector = S::as_mut_simd_u32s(&mut uncertain).0;
        let none = self.simd.splat_u32s(0);
        for vector in 0..LANES / S::F32_LANES {
            let relative = |corner: usize, axis: usize| {
                let all = S::as_simd_f32s(&block.corners[corner][axis]).0;
                self.simd.sub_f32s(all[vector], self.center[axis])
            };
            let axis = |a: usize| [relative(0, a), relative(1, a), relative(2, a)];
            let (apart, unclear) = self.separates_vector([axis(0), axis(1), axis(2)]);
            let bit = bits[vector];
            let apart = self.simd.select_u32s(apart, bit, none);
            let unclear = self.simd.select_u32s(unclear, bit, none);
            separated_by_vector[vector] = apart;
            uncertain_by_vector[vector] = unclear;
        }
        let separated = word_of(&separated);
        (separated, word_of(&uncertain) & !separated)
    }

    /// The triangles that an axis certainly separates, and a superset of the uncertain ones.
    #[inline(always)]
    fn separates_vector(&self, [x, y, z]: [[S::f32s; 3]; 3]) -> (S::m32s, S::m32s) {
        let simd = self.simd;
        let (size_x, size_y, size_z) = (self.edge_sizes(x), self.edge_sizes(y), self.edge_sizes(z));
        let (gap_x, nx) = self.gap_of_edges([y, z], [size_y, size_z]);
        let (gap_y, ny) = self.gap_of_edges([z, x], [size_z, size_x]);
        let (gap_z, nz) = self.gap_of_edges([x, y], [size_x, size_y]);
        let edges = simd.max_f32s(simd.max_f32s(gap_x, gap_y), gap_z);
        let plane = self.gap_of_plane([x[0], y[0], z[0]], [nx, ny, nz]);

        let sure = |gap, thresholds: &Thresholds<S>| simd.greater_than_f32s(gap, thresholds.apart);
        let unsure = |gap, thresholds: &Thresholds<S>| {
            simd.greater_than_or_equal_f32s(gap, thresholds.clear)
        };
        let apart = simd.or_m32s(sure(edges, &self.on_edges), sure(plane, &self.on_plane));
        let unclear = simd.or_m32s(unsure(edges, &self.on_edges), unsure(plane, &self.on_plane));
        (simd.or_m32s(apart, self.faces_separate([x, y, z])), unclear)
    }

    /// The box normals.
    #[inline(always)]
    fn faces_separate(&self, [x, y, z]: [[S::f32s; 3]; 3]) -> S::m32s {
        let simd = self.simd;
        let min = |v: [S::f32s; 3]| simd.min_f32s(simd.min_f32s(v[0], v[1]), v[2]);
        let max = |v: [S::f32s; 3]| simd.max_f32s(simd.max_f32s(v[0], v[1]), v[2]);
        let highest_min = max([min(x), min(y), min(z)]);
        let lowest_max = min([max(x), max(y), max(z)]);
        simd.or_m32s(
            simd.greater_than_f32s(highest_min, self.half),
            simd.less_than_f32s(lowest_max, self.minus_half),
        )
    }

    /// The edges' lengths along one axis.
    #[inline(always)]
    fn edge_sizes(&self, x: [S::f32s; 3]) -> [S::f32s; 3] {
        let size = |i: usize, j: usize| self.simd.abs_f32s(self.simd.sub_f32s(x[j], x[i]));
        [size(0, 1), size(1, 2), size(2, 0)]
    }

    /// The largest gap on the cross products of one box normal and an edge, and the triangle's
    /// normal along that box normal; `b` and `c` are the corners' coordinates along the other two.
    #[inline(always)]
    fn gap_of_edges(
        &self,
        [b, c]: [[S::f32s; 3]; 2],
        [size_b, size_c]: [[S::f32s; 3]; 2],
    ) -> (S::f32s, S::f32s) {
        let simd = self.simd;
        let w =
            |i: usize, j: usize| simd.negate_mul_add_e_f32s(c[i], b[j], simd.mul_f32s(b[i], c[j]));
        let w = [w(0, 1), w(1, 2), w(2, 0)];
        let n = simd.add_f32s(simd.add_f32s(w[0], w[1]), w[2]);
        let two = simd.splat_f32s(2.0);
        let gap = |i: usize| {
            let middle = simd.abs_f32s(simd.negate_mul_add_e_f32s(two, w[i], n));
            simd.negate_mul_add_e_f32s(self.edge, simd.add_f32s(size_b[i], size_c[i]), middle)
        };
        let gap = simd.max_f32s(simd.max_f32s(gap(0), gap(1)), gap(2));
        (simd.sub_f32s(gap, simd.abs_f32s(n)), n)
    }

    /// The gap between the box and the plane through `point`.
    #[inline(always)]
    fn gap_of_plane(&self, point: [S::f32s; 3], n: [S::f32s; 3]) -> S::f32s {
        let simd = self.simd;
        let distance = simd.mul_f32s(n[0], point[0]);
        let distance = simd.mul_add_e_f32s(n[1], point[1], distance);
        let distance = simd.mul_add_e_f32s(n[2], point[2], distance);
        let size = simd.add_f32s(simd.abs_f32s(n[0]), simd.abs_f32s(n[1]));
        let size = simd.add_f32s(size, simd.abs_f32s(n[2]));
        simd.negate_mul_add_e_f32s(self.half, size, simd.abs_f32s(distance))
    }
}

/// Largest reach for which the edge axes are exact.
const EXACT_EDGES: f32 = (1 << 10) as f32;
/// Largest reach for which the plane axis is exact.
const EXACT_PLANE: f32 = (1 << 6) as f32;
/// Largest error on an edge axis, for a reach of 1.
const EDGES_ERROR: f32 = 1.0 / (1 << 17) as f32;
/// Largest error on the plane, for a reach of 1.
const PLANE_ERROR: f32 = 1.0 / (1 << 16) as f32;

/// Each lane's bit in its 32-bit half of the word.
const BITS: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << (lane % 32);
        lane += 1;
    }
    bits
};

/// Packs the lanes' bits into one word.
#[inline(always)]
fn word_of(lanes: &[u32; LANES]) -> u64 {
    let (low, high) = lanes.split_at(LANES / 2);
    let mut halves = [0; 2];
    for (low, high) in low.iter().zip(high) {
        halves[0] |= low;
        halves[1] |= high;
    }
    u64::from(halves[1]) << 32 | u64::from(halves[0])
}
