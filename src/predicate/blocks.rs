//! [`touches`](super::touches()) for blocks of up to 4 x 4 x 4 boxes, several triangles with each
//! vector instruction.
//!
//! A block's result is one word, a bit for each box. A lane of the vector holds one (triangle,
//! block) pair, so the set-up of a triangle's axes, as much work as tests of some dozen boxes, is
//! vectorized too. From box to box an axis changes by a constant, so a test is an addition and a
//! comparison.
//!
//! # Nine numbers for ten axes
//! The thirteen axes are those of [`touches`](super::touches()). Let `v_i` be the corners relative
//! to a box's centre, `w_i = v_i x v_(i+1)` and `n = w_0 + w_1 + w_2`, which is the triangle's
//! normal. Along the cross product of box normal `a` and the edge from corner `i`, that edge
//! projects to component `a` of `w_i`, and the corner across from it to that of `w_i - n` (or both
//! to the negatives). The interval between `p` and `q` misses `[-r, r]` if and only if `|p + q| >
//! |p - q| + 2 r`: here `|2 w_i - n| > |n| + 2 r`. So the components of the `w_i` serve the nine
//! edge axes and the plane.
//!
//! The edge axes along one box normal do not depend on the box's index along that normal, so 16
//! tests serve 64 boxes. The box normals are not tested: blocks are clipped to the triangle's
//! bounding box.
//!
//! # Exact in `f64`
//! The bit budget of [`lattice`](crate::lattice) bounds coordinates relative to a block's corner or
//! a box's centre by `D = 2^24`, also the block's edge. All values are integers, and on the edge
//! axes none exceeds `2 D^2` for `w_i`, `D^2` for `n` (twice the area of a triangle in a square of
//! `D`), `5 D^2` for `2 w_i - n` and `3 D^2` for the right-hand side: below `2^53`, hence exact in
//! any order, fused or not.
//!
//! The plane's `s = n . (c - v_0)` and `r = h |n|_1` are sums of terms whose absolute values sum to
//! at most `m`. Below `2^53` they are exact too. Otherwise at most 24 roundings lead to `t = |s| -
//! r`, each off by at most `2^-53 m` up to second order, together by less than `2^-48 m`: a sign
//! outside that interval is certain, and a lane with `t` inside it is decided again in `i128`. A
//! plane parallel to a box face is skipped, since the bounding box decides it: otherwise all such
//! planes of models aligned to the lattice would be uncertain.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use pulp::{Simd, WithSimd};

use crate::base::vector::{cross, minus};
use crate::lattice::Triangle;
use crate::predicate::InstructionSet;
use crate::predicate::touches::dot;

/// (Triangle, block) pairs tested together: the doubles in the widest vector.
pub const LANES: usize = 8;
/// Boxes along a block's edge, as a power of two.
pub const BLOCK_BITS: u32 = 2;
/// Boxes along a block's edge.
pub const BLOCK: i32 = 1 << BLOCK_BITS;

/// A bit for each box of a block: box `(x, y, z)` is bit `16 x + 4 y + z`.
pub type BlockMask = u64;

/// The four boxes of one row along `z`.
const ROW: BlockMask = 0xF;
/// Boxes that share `x` and `z`.
const ALONG_Y: BlockMask = 0x1111;
/// Boxes that share `y` and `z`.
const ALONG_X: BlockMask = 0x0001_0001_0001_0001;

/// The first `extent` boxes along each axis, 1 to 4 each.
#[must_use]
#[inline]
pub fn first_boxes([x, y, z]: [i32; 3]) -> BlockMask {
    const ALONG: [[BlockMask; 4]; 3] = [
        [0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF, u64::MAX],
        [0xF * ALONG_X, 0xFF * ALONG_X, 0xFFF * ALONG_X, u64::MAX],
        [ALONG_Y * ALONG_X, 3 * ALONG_Y * ALONG_X, 7 * ALONG_Y * ALONG_X, u64::MAX],
    ];
    ALONG[0][x as usize - 1] & ALONG[1][y as usize - 1] & ALONG[2][z as usize - 1]
}

/// Spreads a slice's four rows of four boxes to rows of eight.
#[inline(always)]
pub(crate) fn rows_of_eight(slice: BlockMask) -> u64 {
    let rows = slice & 0xFFFF;
    let rows = (rows | rows << 8) & 0x00FF_00FF;
    (rows | rows << 4) & 0x0F0F_0F0F
}

/// One coordinate, by lane.
pub type Coordinate = [i32; LANES];

/// Up to [`LANES`] pairs of a triangle and a block of boxes, all boxes of one size.
#[derive(Debug, Clone)]
pub struct Pairs {
    box_bits: u32,
    len: usize,
    /// `corners[corner][axis][lane]`, in lattice units.
    corners: [[Coordinate; 3]; 3],
    /// `lowest[axis][lane]`, the index of the block's lowest box.
    lowest: [Coordinate; 3],
}

/// Runs [`Pairs::solve`].
struct Solve<'a> {
    pairs: &'a mut Pairs,
    extent: [i32; 3],
}

impl WithSimd for Solve<'_> {
    type Output = [BlockMask; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [BlockMask; LANES] {
        self.pairs.solve(simd, self.extent)
    }
}

impl Pairs {
    /// No pairs; boxes of `2^box_bits` units, at least 2 so that centres are integers.
    #[must_use]
    pub fn new(box_bits: u32) -> Self {
        debug_assert!(box_bits > 0);
        Self { box_bits, len: 0, corners: [[[0; LANES]; 3]; 3], lowest: [[0; LANES]; 3] }
    }

    /// The number of pairs.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The index of each block's lowest box, by axis.
    #[must_use]
    pub fn lowest(&self) -> &[Coordinate; 3] {
        &self.lowest
    }

    /// Adds `triangle` with the block whose lowest box is `lowest`.
    ///
    /// # Panics
    /// There are [`LANES`] pairs already.
    #[inline(always)]
    pub fn push(&mut self, triangle: &Triangle, lowest: [i32; 3]) {
        assert!(self.len < LANES, "no room for a ninth pair");
        let lane = self.len % LANES;
        for axis in 0..3 {
            self.lowest[axis][lane] = lowest[axis];
            for corner in 0..3 {
                self.corners[corner][axis][lane] = triangle[corner][axis];
            }
        }
        self.len += 1;
    }

    /// The boxes that its triangle touches, of the first `extent` boxes of each block. Box normals
    /// are not tested: the bits of boxes that do not meet the triangle's bounding box, or do not
    /// keep the bit budget, mean nothing, and callers mask them. Removes the pairs.
    pub fn solve_by(&mut self, set: InstructionSet, extent: [i32; 3]) -> [BlockMask; LANES] {
        set.dispatch(Solve { pairs: self, extent })
    }

    /// [`solve_by`](Self::solve_by) within a function that is compiled for the instructions of
    /// `simd`.
    #[inline(always)]
    pub(crate) fn solve<S: Simd>(&mut self, simd: S, extent: [i32; 3]) -> [BlockMask; LANES] {
        self.len = 0;
        let mut corners = [[[0.0; LANES]; 3]; 3];
        for axis in 0..3 {
            for corner in 0..3 {
                for lane in 0..LANES {
                    let base = self.lowest[axis][lane] << self.box_bits;
                    corners[corner][axis][lane] =
                        f64::from(self.corners[corner][axis][lane] - base);
                }
            }
        }
        let size = simd.splat_f64s(f64::from(1i32 << self.box_bits));
        let boxes = Boxes { simd, size, extent };
        let (mut masks, mut uncertain) = ([0; LANES], [0; LANES]);
        let (mask_vectors, _) = S::as_mut_simd_u64s(&mut masks);
        let (uncertain_vectors, _) = S::as_mut_simd_u64s(&mut uncertain);
        let vectors = mask_vectors.iter_mut().zip(uncertain_vectors);
        for (i, (separated, uncertain)) in vectors.enumerate() {
            let corner = |c: usize, axis: usize| S::as_simd_f64s(&corners[c][axis]).0[i];
            let axis = |a: usize| [corner(0, a), corner(1, a), corner(2, a)];
            (*separated, *uncertain) = boxes.separated([axis(0), axis(1), axis(2)]);
        }
        let within = first_boxes(extent);
        let mut any_uncertain = 0;
        for lane in 0..LANES {
            masks[lane] = !masks[lane] & within;
            any_uncertain |= uncertain[lane];
        }
        if any_uncertain != 0 {
            self.resolve(&corners, &uncertain, &mut masks);
        }
        masks
    }

    /// Decides the plane axis of uncertain lanes again, exactly.
    #[cold]
    fn resolve(
        &self,
        corners: &[[[f64; LANES]; 3]; 3],
        uncertain: &[u64; LANES],
        masks: &mut [BlockMask; LANES],
    ) {
        for lane in (0..LANES).filter(|&lane| uncertain[lane] != 0) {
            let corner = |c: usize| [0, 1, 2].map(|axis| corners[c][axis][lane] as i64);
            let plane = Plane::new([corner(0), corner(1), corner(2)], self.box_bits);
            if !plane.is_exact_in_f64() {
                masks[lane] &= plane.touched();
            }
        }
    }
}

/// The plane of a triangle relative to the lowest corner of a block, in integers.
struct Plane {
    normal: [i64; 3],
    point: [i64; 3],
    half: i64,
}

impl Plane {
    fn new([a, b, c]: [[i64; 3]; 3], box_bits: u32) -> Self {
        let normal = cross(minus(b, a), minus(c, b));
        Self { normal, point: a, half: 1 << (box_bits - 1) }
    }

    /// Whether the test in `f64` was exact, and certain of every sign but 0. All its terms are
    /// multiples of one power of two `p`, which is large for models aligned to a coarse lattice.
    /// The test is exact if the sum of the terms is below `2^53 p`; and below `2^48 p` its error
    /// bound is less than `p`.
    fn is_exact_in_f64(&self) -> bool {
        let Self { normal: n, point: p, half } = self;
        let zeros =
            (n[0] | n[1] | n[2]).trailing_zeros() + (p[0] | p[1] | p[2] | half).trailing_zeros();
        let farthest = |axis: usize| p[axis].abs() + 10 * half;
        let term = |axis: usize| i128::from(n[axis].abs()) * i128::from(farthest(axis));
        (term(0) + term(1) + term(2)) >> zeros < 1 << 47
    }

    /// The boxes that the plane touches.
    fn touched(&self) -> BlockMask {
        let Self { normal, point, half } = *self;
        let radius = dot(normal.map(i64::abs), [half; 3]);
        let step = normal.map(|n| 2 * i128::from(n) * i128::from(half));
        let mut mask = 0;
        let mut layer = dot(normal, minus([half; 3], point));
        for x in 0..BLOCK {
            let mut row = layer;
            for y in 0..BLOCK {
                let mut value = row;
                for z in 0..BLOCK {
                    mask |= u64::from(value.abs() <= radius) << (16 * x + 4 * y + z);
                    value += step[2];
                }
                row += step[1];
            }
            layer += step[0];
        }
        mask
    }
}

/// The boxes of one block, for a vector of triangles.
struct Boxes<S: Simd> {
    simd: S,
    size: S::f64s,
    extent: [i32; 3],
}

/// The edge axes along one box normal: `|origin + i step_a + j step_b| > bound` separates box
/// `(i, j)` of the other two axes, `a` and `b`.
struct Edges<S: Simd> {
    origin: [S::f64s; 3],
    step_a: [S::f64s; 3],
    step_b: [S::f64s; 3],
    bound: [S::f64s; 3],
    /// The triangle's normal along the box normal.
    normal: S::f64s,
}

impl<S: Simd> Boxes<S> {
    /// The boxes that an axis certainly separates, and whether the plane is uncertain for one.
    #[inline(always)]
    fn separated(&self, [x, y, z]: [[S::f64s; 3]; 3]) -> (S::u64s, S::u64s) {
        let none = self.simd.splat_u64s(0);
        let (xy, xz, yz) = (self.edges(x, y), self.edges(x, z), self.edges(y, z));
        let separated = self.separated_by_edges(&xy, [0, 1], [16, 4], ROW, none);
        let separated = self.separated_by_edges(&xz, [0, 2], [16, 1], ALONG_Y, separated);
        let separated = self.separated_by_edges(&yz, [1, 2], [4, 1], ALONG_X, separated);
        // The cross product's second component is that of (z, x).
        let normal = [yz.normal, self.simd.neg_f64s(xz.normal), xy.normal];
        self.separated_by_plane([x[0], y[0], z[0]], normal, separated)
    }

    #[inline(always)]
    fn edges(&self, a: [S::f64s; 3], b: [S::f64s; 3]) -> Edges<S> {
        let simd = self.simd;
        let zero = simd.splat_f64s(0.0);
        let (mut w, mut ea, mut eb) = ([zero; 3], [zero; 3], [zero; 3]);
        for i in 0..3 {
            let j = (i + 1) % 3;
            w[i] = simd.sub_f64s(simd.mul_f64s(a[i], b[j]), simd.mul_f64s(b[i], a[j]));
            ea[i] = simd.mul_f64s(self.size, simd.sub_f64s(a[j], a[i]));
            eb[i] = simd.mul_f64s(self.size, simd.sub_f64s(b[j], b[i]));
        }
        let normal = simd.add_f64s(simd.add_f64s(w[0], w[1]), w[2]);
        let mut edges = Edges { origin: w, step_a: eb, step_b: ea, bound: [zero; 3], normal };
        let two = simd.splat_f64s(2.0);
        for i in 0..3 {
            // Relative to the centre (c, c) of the lowest box, 2 w is less by 2 c (eb - ea).
            let at_corner = simd.sub_f64s(simd.mul_f64s(two, w[i]), normal);
            edges.origin[i] = simd.add_f64s(at_corner, simd.sub_f64s(ea[i], eb[i]));
            edges.step_a[i] = simd.mul_f64s(simd.splat_f64s(-2.0), eb[i]);
            edges.step_b[i] = simd.mul_f64s(two, ea[i]);
            let radius = simd.add_f64s(simd.abs_f64s(ea[i]), simd.abs_f64s(eb[i]));
            edges.bound[i] = simd.add_f64s(simd.abs_f64s(normal), radius);
        }
        edges
    }

    /// Adds to `separated` the boxes that `edges` separate. The test at `(i, j)` on axes `a` and
    /// `b` decides the boxes of `line`, shifted by `i shift_a + j shift_b`.
    #[inline(always)]
    fn separated_by_edges(
        &self,
        edges: &Edges<S>,
        [a, b]: [usize; 2],
        [shift_a, shift_b]: [i32; 2],
        line: BlockMask,
        mut separated: S::u64s,
    ) -> S::u64s {
        let simd = self.simd;
        let beyond = |value: [S::f64s; 3], k: usize| {
            simd.greater_than_f64s(simd.abs_f64s(value[k]), edges.bound[k])
        };
        let mut row = edges.origin;
        for i in 0..self.extent[a] {
            let mut value = row;
            for j in 0..self.extent[b] {
                let any = simd.or_m64s(beyond(value, 0), beyond(value, 1));
                let any = simd.or_m64s(any, beyond(value, 2));
                let line = simd.splat_u64s(line << (i * shift_a + j * shift_b));
                separated = simd.select_u64s(any, simd.or_u64s(separated, line), separated);
                for k in 0..3 {
                    value[k] = simd.add_f64s(value[k], edges.step_b[k]);
                }
            }
            for k in 0..3 {
                row[k] = simd.add_f64s(row[k], edges.step_a[k]);
            }
        }
        separated
    }

    /// Adds to `separated` the boxes that the plane through `point` certainly separates; also
    /// returns the triangles for which it is uncertain about a box.
    #[inline(always)]
    fn separated_by_plane(
        &self,
        point: [S::f64s; 3],
        normal: [S::f64s; 3],
        mut separated: S::u64s,
    ) -> (S::u64s, S::u64s) {
        let simd = self.simd;
        let sum = |v: [S::f64s; 3]| simd.add_f64s(simd.add_f64s(v[0], v[1]), v[2]);
        let times = |f: S::f64s, v: [S::f64s; 3]| {
            [simd.mul_f64s(f, v[0]), simd.mul_f64s(f, v[1]), simd.mul_f64s(f, v[2])]
        };
        let half = simd.mul_f64s(simd.splat_f64s(0.5), self.size);
        // Written out: the compiler does not inline closures for these, which run without vectors.
        let sizes = [simd.abs_f64s(normal[0]), simd.abs_f64s(normal[1]), simd.abs_f64s(normal[2])];
        let at_point = [
            simd.mul_f64s(normal[0], point[0]),
            simd.mul_f64s(normal[1], point[1]),
            simd.mul_f64s(normal[2], point[2]),
        ];
        let radius = simd.mul_f64s(half, sum(sizes));
        let step = times(self.size, normal);
        let origin = simd.sub_f64s(simd.mul_f64s(half, sum(normal)), sum(at_point));

        // At most `7 radius` for a centre up to 3.5 boxes away, and `radius` for the right-hand
        // side.
        let largest = simd.mul_f64s(simd.splat_f64s(10.0), radius);
        let largest = simd.add_f64s(
            largest,
            sum([
                simd.abs_f64s(at_point[0]),
                simd.abs_f64s(at_point[1]),
                simd.abs_f64s(at_point[2]),
            ]),
        );
        let rounded = simd.greater_than_or_equal_f64s(largest, simd.splat_f64s(EXACT));
        let error = simd.mul_f64s(simd.splat_f64s(ERROR), largest);
        let error = simd.select_f64s(rounded, error, simd.splat_f64s(0.0));
        // The plane is parallel to a face if fewer than two components differ from 0.
        let products = simd.add_f64s(
            simd.mul_f64s(sizes[0], simd.add_f64s(sizes[1], sizes[2])),
            simd.mul_f64s(sizes[1], sizes[2]),
        );
        let oblique = simd.greater_than_f64s(products, simd.splat_f64s(0.0));
        let radius = simd.select_f64s(oblique, radius, simd.splat_f64s(f64::INFINITY));

        let mut nearest = simd.splat_f64s(f64::INFINITY);
        let mut layer = origin;
        for i in 0..self.extent[0] {
            let mut row = layer;
            for j in 0..self.extent[1] {
                let mut value = row;
                for k in 0..self.extent[2] {
                    let past = simd.sub_f64s(simd.abs_f64s(value), radius);
                    nearest = simd.min_f64s(nearest, simd.abs_f64s(past));
                    let beyond = simd.greater_than_f64s(past, error);
                    let one = simd.splat_u64s(1 << (16 * i + 4 * j + k));
                    separated = simd.select_u64s(beyond, simd.or_u64s(separated, one), separated);
                    value = simd.add_f64s(value, step[2]);
                }
                row = simd.add_f64s(row, step[1]);
            }
            layer = simd.add_f64s(layer, step[0]);
        }
        let uncertain = simd.less_than_or_equal_f64s(nearest, error);
        let uncertain = simd.and_m64s(uncertain, rounded);
        let uncertain = simd.select_u64s(uncertain, simd.splat_u64s(1), simd.splat_u64s(0));
        (separated, uncertain)
    }
}

/// Integers below this are exact in `f64`.
const EXACT: f64 = (1u64 << 53) as f64;
/// Largest error of the plane's test, relative to the sum of its terms.
const ERROR: f64 = 1.0 / (1u64 << 48) as f64;

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn a_plane_is_exact_only_if_all_its_terms_fit_into_f64() {
        let (mut rng, mut exact) = (Rng::with_seed(1), 0);
        for _ in 0..100_000 {
            // Numbers of the sizes of the bit budget, with any number of zeros at the end.
            let mut number = |bits: u32| {
                let zeros = rng.u32(0..bits);
                rng.i64(-1 << (bits - zeros)..=1 << (bits - zeros)) << zeros
            };
            let normal = [0; 3].map(|_: i32| number(48));
            let point = [0; 3].map(|_: i32| number(24));
            let half = 1 << rng.u32(0..23);
            let plane = Plane { normal, point, half };
            if plane.is_exact_in_f64() {
                let (mut sum, mut all) = (0, 0);
                for (n, p) in normal.into_iter().zip(point) {
                    let (n, p, half) = (i128::from(n), i128::from(p), i128::from(half));
                    sum += (n * p).abs() + 10 * (n * half).abs();
                    all |= (n * p) | (n * half);
                }
                let is_below = sum < 1 << (47 + all.trailing_zeros().min(64));
                assert!(is_below, "{normal:?}, {point:?}, {half}");
                exact += 1;
            }
        }
        assert!((10_000..90_000).contains(&exact), "{exact}");
    }
}
