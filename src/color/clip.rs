//! What of a triangle is within a voxel: a polygon, found by cutting the triangle by the planes between
//! voxels (I. Sutherland and G. Hodgman, "Reentrant Polygon Clipping", Communications of the ACM 17(1),
//! 1974). In floating point, of which only additions, multiplications, divisions and square roots are
//! used: the same on every machine.

use std::ops::RangeInclusive;

use crate::appearance::texture::floor;
use crate::place::Triangle;
use crate::predicate::boxes::BoxRange;

/// A point of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// In voxels, from the minimum corner of a brick.
    at: [f64; 3],
    /// The weights of the second and third corner; that of the first makes 1 of them.
    pub(super) weights: [f64; 2],
}

impl Point {
    /// Between `self` and `other`, where `axis` has the value `bound`.
    fn between(&self, other: &Self, axis: usize, bound: f64) -> Self {
        let part = (bound - self.at[axis]) / (other.at[axis] - self.at[axis]);
        let mix = |a: f64, b: f64| a + part * (b - a);
        let mut point = Self {
            at: std::array::from_fn(|a| mix(self.at[a], other.at[a])),
            weights: std::array::from_fn(|i| mix(self.weights[i], other.weights[i])),
        };
        point.at[axis] = bound;
        point
    }
}

/// A convex part of a triangle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Polygon {
    points: [Point; Self::MOST],
    len: usize,
}

/// What the triangles of a polygon come to.
pub(super) struct Parts {
    /// In faces of a voxel.
    pub(super) area: f64,
    /// By the weights of the second and third corner. Where there is no area, the mean of the points.
    pub(super) centroid: [f64; 2],
}

const EMPTY: Polygon =
    Polygon { points: [Point { at: [0.0; 3], weights: [0.0; 2] }; Polygon::MOST], len: 0 };

impl Polygon {
    /// Points, at most: a triangle's corners, and one for each plane of a voxel.
    pub(super) const MOST: usize = 9;

    /// The whole triangle, as seen from the minimum corner of the voxel `base`.
    fn of_triangle(triangle: &Triangle, base: [i32; 3], unit_bits: u32) -> Self {
        let unit = f64::from(1_u32 << unit_bits);
        let mut points = EMPTY.points;
        for (corner, point) in triangle.iter().zip(&mut points) {
            // Exact: the bit budget leaves 25 bits for differences, and units are powers of two.
            point.at =
                std::array::from_fn(|a| f64::from(corner[a] - (base[a] << unit_bits)) / unit);
        }
        points[1].weights = [1.0, 0.0];
        points[2].weights = [0.0, 1.0];
        Self { points, len: 3 }
    }

    pub(super) fn points(&self) -> &[Point] {
        &self.points[..self.len]
    }

    /// The triangles that it consists of.
    fn triangles(&self) -> impl Iterator<Item = [&Point; 3]> {
        let points = self.points();
        (2..points.len()).map(|i| [&points[0], &points[i - 1], &points[i]])
    }

    pub(super) fn parts(&self) -> Parts {
        let (mut area, mut moment) = (0.0, [0.0; 2]);
        for part in self.triangles() {
            let double = double_area(part);
            area += double / 2.0;
            for (i, sum) in moment.iter_mut().enumerate() {
                *sum += double / 6.0 * part.iter().map(|point| point.weights[i]).sum::<f64>();
            }
        }
        let centroid = match area > 0.0 {
            true => moment.map(|sum| sum / area),
            false => self.mean_point(),
        };
        Parts { area, centroid }
    }

    fn mean_point(&self) -> [f64; 2] {
        let points = self.points();
        [0, 1].map(|i| points.iter().map(|p| p.weights[i]).sum::<f64>() / points.len() as f64)
    }

    /// The least and the greatest value on `axis`.
    fn bounds(&self, axis: usize) -> [f64; 2] {
        let values = self.points().iter().map(|point| point.at[axis]);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], c| [lo.min(c), hi.max(c)])
    }

    /// Among `voxels` along `axis` those that it touches.
    fn voxels(&self, axis: usize, [first, last]: [i32; 2]) -> RangeInclusive<i32> {
        let [lo, hi] = self.bounds(axis);
        first.max(-floor(-lo) as i32 - 1)..=last.min(floor(hi) as i32)
    }

    /// What of it is between `low` and `low + 1` on `axis`, bounds included, if anything is; in `room`,
    /// unless it is all.
    fn slice<'a>(&'a self, axis: usize, low: i32, room: &'a mut [Self; 2]) -> Option<&'a Self> {
        let bounds = [f64::from(low), f64::from(low) + 1.0];
        let [lo, hi] = self.bounds(axis);
        let [above, below] = room;
        let mut part = self;
        if lo < bounds[0] {
            part.half(|point| point.at[axis] - bounds[0], axis, bounds[0], above);
            part = above;
        }
        if hi > bounds[1] {
            part.half(|point| bounds[1] - point.at[axis], axis, bounds[1], below);
            part = below;
        }
        (part.len > 0).then_some(part)
    }

    /// Puts into `part` what of it is where `height` is not negative; at `bound` on `axis` it is 0.
    #[inline(always)]
    fn half(&self, height: impl Fn(&Point) -> f64, axis: usize, bound: f64, part: &mut Self) {
        part.len = 0;
        // Rounding may have a sliver pass a plane more than twice: what there is no room for then has no
        // area to speak of.
        let mut add = |point: Point| {
            if let Some(place) = part.points.get_mut(part.len) {
                *place = point;
                part.len += 1;
            }
        };
        let points = self.points();
        let Some(mut last) = points.last() else { return };
        let mut before = height(last);
        for point in points {
            let now = height(point);
            if before < 0.0 && now > 0.0 || before > 0.0 && now < 0.0 {
                add(last.between(point, axis, bound));
            }
            if now >= 0.0 {
                add(*point);
            }
            (last, before) = (point, now);
        }
    }
}

/// Twice the area of a triangle, in faces of a voxel.
fn double_area([a, b, c]: [&Point; 3]) -> f64 {
    let [p, q] = [b, c].map(|point| [0, 1, 2].map(|i| point.at[i] - a.at[i]));
    let n = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
    (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt()
}

/// Calls `each` with the voxels among `range`, and what of `triangle` is in them, where there is some.
/// `base` is the minimum corner of the brick that they are in, in voxels.
pub(super) fn cut(
    triangle: &Triangle,
    unit_bits: u32,
    base: [i32; 3],
    range: &BoxRange,
    mut each: impl FnMut([i32; 3], &Polygon),
) {
    let whole = Polygon::of_triangle(triangle, base, unit_bits);
    let [xs, ys, zs] = [0, 1, 2].map(|a| [range.lo[a] - base[a], range.hi[a] - base[a]]);
    let mut room = [[EMPTY; 2]; 3];
    let [for_slice, for_row, for_piece] = &mut room;
    for x in xs[0]..=xs[1] {
        let Some(slice) = whole.slice(0, x, for_slice) else { continue };
        for y in slice.voxels(1, ys) {
            let Some(row) = slice.slice(1, y, for_row) else { continue };
            for z in row.voxels(2, zs) {
                if let Some(piece) = row.slice(2, z, for_piece) {
                    each([x, y, z], piece);
                }
            }
        }
    }
}
