//! Conservative clipping of large triangles: for each strip of rows of columns, an interval that
//! contains all columns that the triangle crosses.
//!
//! Columns are points in the plane perpendicular to their axis; the unit is one column. The
//! projected triangle is an intersection of half-planes `slope . p + constant >= 0`, and so is the
//! set of points where its plane is within a range of heights. The strip is clipped by one
//! half-plane at a time, to the interval of first coordinates at which one of its points is in the
//! half-plane. Where a vertex of the triangle lies in the strip, the interval has a few columns too
//! many, and never too few.

use std::ops::Range;

use crate::base::vector::minus;
use crate::lattice::SPAN_BITS;
use crate::predicate::crosses::blocks::ProjectedCorners;
use crate::predicate::crosses::center_of;

/// The half-planes of a triangle.
pub(super) struct Strips {
    edges: [HalfPlane; 3],
    /// The half-planes in which the plane is above the start of the range, and below its end;
    /// `None` if both are unbounded.
    heights: Option<[HalfPlane; 2]>,
}

#[derive(Clone, Copy)]
struct HalfPlane {
    slope: [f64; 2],
    constant: f64,
}

/// Relative error bound of the heights' half-planes, with slack: fewer than 16 roundings.
const ERROR: f64 = 1.0 / (1u64 << 48) as f64;

impl Strips {
    /// The half-planes of `triangle`, with columns counted from `lowest`, and heights in the voxels
    /// of `range` or one voxel to either side. An end at `i32::MIN` or `i32::MAX` is unbounded.
    #[inline(always)]
    pub(super) fn new(
        triangle: &ProjectedCorners,
        lowest: [i32; 2],
        fraction_bits: u32,
        range: &Range<i32>,
    ) -> Self {
        let origin = lowest.map(|index| center_of(index, fraction_bits));
        let size = f64::from(1i32 << fraction_bits);
        // Edge functions are integers below `2^53`, as all numbers on the way: exact.
        let [a, b, c] = triangle.map(|(across, along)| {
            [across[0] - origin[0], across[1] - origin[1], along].map(f64::from)
        });
        let edge = |p: [f64; 3], q: [f64; 3]| HalfPlane {
            slope: [(p[1] - q[1]) * size, (q[0] - p[0]) * size],
            constant: p[0] * q[1] - p[1] * q[0],
        };
        let edges = [edge(b, c), edge(c, a), edge(a, b)];
        let area = edges[0].constant + edges[1].constant + edges[2].constant;
        let edges = if area < 0.0 { edges.map(HalfPlane::turned) } else { edges };

        // Over point `p` the plane is at height `z` where `n . (p - a) + |n_z| (z - a_z) = 0`.
        let (e, f) = (minus(b, a), minus(c, a));
        let sign = if area < 0.0 { -1.0 } else { 1.0 };
        let n = [sign * (e[1] * f[2] - e[2] * f[1]), sign * (e[2] * f[0] - e[0] * f[2])];
        let past = |voxel: i32, direction: f64| {
            let limit = f64::from(voxel) * size;
            let terms = [n[0] * a[0], n[1] * a[1], area.abs() * (a[2] - limit)];
            let farthest = f64::from(2u32 << SPAN_BITS);
            let largest = (n[0].abs() + n[1].abs() + area.abs()) * farthest;
            HalfPlane {
                slope: [-direction * n[0] * size, -direction * n[1] * size],
                constant: direction * (terms[0] + terms[1] + terms[2]) + ERROR * largest,
            }
        };
        let limit = |voxel: i32, end: i32, direction: f64| {
            if voxel == end { HalfPlane::ALL } else { past(voxel - direction as i32, direction) }
        };
        let is_limited = *range != (i32::MIN..i32::MAX);
        let heights = is_limited
            .then(|| [limit(range.start, i32::MIN, 1.0), limit(range.end, i32::MAX, -1.0)]);
        Self { edges, heights }
    }

    /// The columns of the strip `rows` that may cross, of those `within`; empty if there are none.
    #[inline(always)]
    pub(super) fn clip(&self, rows: Range<i32>, within: Range<i32>) -> Range<i32> {
        let rows = [f64::from(rows.start), f64::from(rows.end - 1)];
        let mut columns = [f64::from(within.start), f64::from(within.end - 1)];
        for half_plane in self.edges.iter().chain(self.heights.iter().flatten()) {
            columns = half_plane.clip(rows, columns);
        }
        let [first, last] = columns;
        if first <= last { first.ceil() as i32..last.floor() as i32 + 1 } else { 0..0 }
    }
}

impl HalfPlane {
    const ALL: Self = Self { slope: [0.0; 2], constant: 0.0 };

    fn turned(self) -> Self {
        Self { slope: self.slope.map(|s| -s), constant: -self.constant }
    }

    /// Clips the interval `columns` to the points that are in the half-plane for one of `rows`.
    /// Rounding a quotient does not move it past an integer.
    #[inline(always)]
    fn clip(&self, rows: [f64; 2], [first, last]: [f64; 2]) -> [f64; 2] {
        let most = self.constant + (self.slope[1] * rows[0]).max(self.slope[1] * rows[1]);
        let bound = -most / self.slope[0];
        if self.slope[0] > 0.0 {
            [first.max(bound), last]
        } else if self.slope[0] < 0.0 {
            [first, last.min(bound)]
        } else if most >= 0.0 {
            [first, last]
        } else {
            [1.0, 0.0]
        }
    }
}
