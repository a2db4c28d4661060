//! Clips a triangle to each voxel that it touches (I. Sutherland and G. Hodgman, "Reentrant Polygon
//! Clipping", Communications of the ACM 17(1), 1974). Uses only floating-point additions,
//! multiplications, divisions and square roots: the same result on every machine.

use crate::base::vector::{cross, minus, norm};
use crate::surface::color::floor;
use crate::surface::color::polygon::{Moments, TexelPolygon, Vertices, area, bounds, moments};

/// A triangle, clipped, in voxels from the minimum corner of a brick. It has three corners, and
/// each of a voxel's six planes adds at most one.
pub(super) type Polygon = Vertices<3, 9>;

impl Polygon {
    fn of_triangle(corners: &[[f64; 3]; 3]) -> Self {
        let mut polygon = Self::default();
        corners.iter().for_each(|corner| polygon.push(*corner));
        polygon
    }

    /// Minimum and maximum on `axis`.
    #[inline(always)]
    fn ends(&self, axis: usize) -> [f64; 2] {
        let [mut low, mut high] = [f64::INFINITY, f64::NEG_INFINITY];
        for point in self.points() {
            low = low.min(point[axis]);
            high = high.max(point[axis]);
        }
        [low, high]
    }

    /// Calls `each` with every voxel of `first..=last` along `axis` that the polygon touches, and
    /// the polygon clipped to it. A polygon in the plane between two voxels is in both.
    #[inline(always)]
    fn slabs(
        &self,
        axis: usize,
        [first, last]: [i32; 2],
        [part, rest, next]: &mut [Self; 3],
        mut each: impl FnMut(i32, &Self),
    ) {
        let [lo, hi] = self.ends(axis);
        let first = first.max(-floor(-lo) as i32 - 1);
        let last = last.min(floor(hi) as i32);
        let (mut rest, mut next) = (rest, next);
        let mut is_whole = true;
        if lo < f64::from(first) {
            self.split(axis, f64::from(first), part, rest);
            is_whole = false;
        }
        for voxel in first..=last {
            let bound = f64::from(voxel + 1);
            let is_last = hi < bound;
            let mut slab = if is_whole { self } else { &*rest };
            if !is_last {
                slab.split(axis, bound, part, next);
                slab = part;
            }
            if slab.len > 0 {
                each(voxel, slab);
            }
            if is_last {
                return;
            }
            std::mem::swap(&mut rest, &mut next);
            is_whole = false;
        }
    }
}

/// Polygons that are being clipped, by axis.
pub(super) type ClipScratch = [[Polygon; 3]; 3];

/// Calls `each` with every voxel that a triangle touches, within the first and the last along each
/// axis, and the triangle clipped to it. All are in voxels from the minimum corner of a brick.
#[inline(always)]
pub(super) fn clip(
    corners: &[[f64; 3]; 3],
    [xs, ys, zs]: [[i32; 2]; 3],
    [in_x, in_y, in_z]: &mut ClipScratch,
    mut each: impl FnMut([i32; 3], &Polygon),
) {
    // Closures that are not inlined would be compiled without the caller's vector instructions.
    Polygon::of_triangle(corners).slabs(
        0,
        xs,
        in_x,
        #[inline(always)]
        |x, slab| {
            slab.slabs(
                1,
                ys,
                in_y,
                #[inline(always)]
                |y, row| {
                    row.slabs(
                        2,
                        zs,
                        in_z,
                        #[inline(always)]
                        |z, polygon| each([x, y, z], polygon),
                    );
                },
            );
        },
    );
}

/// An affine map from a triangle to the texture plane, in texels.
#[derive(Debug, Clone, Copy)]
pub(super) struct TexelMap {
    pub(super) plane: Plane,
    /// The texture coordinates of the first corner.
    first: [f64; 2],
    /// Their gradients along the projected axes.
    gradients: [[f64; 2]; 2],
    /// The bounds of the corners.
    low: [f64; 2],
    high: [f64; 2],
}

impl TexelMap {
    /// The map that takes the corners of the triangle of `plane` to `corners`.
    pub(super) fn new(plane: Plane, corners: [[f64; 2]; 3]) -> Self {
        let [a, b, c] = corners;
        let gradient = |i: usize| {
            let [second, third] = plane.weights;
            [0, 1].map(|k| second[k] * (b[i] - a[i]) + third[k] * (c[i] - a[i]))
        };
        let [low, high] = bounds(&corners);
        Self { plane, first: a, gradients: [gradient(0), gradient(1)], low, high }
    }

    /// The image of a clipped polygon.
    #[inline(always)]
    pub(super) fn map(&self, clipped: &Polygon) -> TexelPolygon {
        let mut mapped = TexelPolygon::default();
        for point in clipped.points() {
            mapped.push(self.point(self.plane.project(point)));
        }
        mapped
    }

    #[inline(always)]
    fn point(&self, projected: [f64; 2]) -> [f64; 2] {
        let [x, y] = [projected[0] - self.plane.origin[0], projected[1] - self.plane.origin[1]];
        let mut point = self.first;
        for (i, point) in point.iter_mut().enumerate() {
            let [along_x, along_y] = self.gradients[i];
            *point += along_x * x + along_y * y;
            // For slivers, rounding can push points past the corners.
            *point = point.max(self.low[i]).min(self.high[i]);
        }
        point
    }

    /// The image of a clipped polygon's centroid, moved [`inward`].
    pub(super) fn centroid(&self, clipped: &Polygon) -> [f64; 2] {
        let centroid = self.point(self.plane.projected_centroid(clipped));
        inward(centroid, [self.low, self.high])
    }
}

/// A point of a triangle in the texture, moved 2^-16 of the way to the middle of the triangle's
/// bounds: at the end of a triangle, that is in its last texel, and not in the first texel of a
/// repeated texture.
pub(super) fn inward(point: [f64; 2], [low, high]: [[f64; 2]; 2]) -> [f64; 2] {
    [0, 1].map(|i| point[i] + (f64::midpoint(low[i], high[i]) - point[i]) / 65536.0)
}

/// The index of the number of the largest absolute value, the first of equals.
pub(super) fn largest(numbers: [f64; 3]) -> usize {
    let is_larger = |i: usize, k: usize| numbers[k].abs() > numbers[i].abs();
    (1..3).fold(0, |i, k| if is_larger(i, k) { k } else { i })
}

/// The plane of a triangle, projected along the dominant axis of its normal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plane {
    /// The two other axes, and the dominant one.
    pub(super) axes: [usize; 3],
    /// Area in the plane divided by projected area; 0 for a triangle without area.
    pub(super) area_ratio: f64,
    /// The first corner, projected.
    origin: [f64; 2],
    /// The gradients of the barycentric weights of the second and third corner.
    weights: [[f64; 2]; 2],
}

impl Plane {
    pub(super) fn new(corners: &[[f64; 3]; 3]) -> Self {
        let [a, b, c] = corners;
        let [p, q] = [minus(*b, *a), minus(*c, *a)];
        let normal = cross(p, q);
        let axis = largest(normal);
        let height = normal[axis];
        if height == 0.0 {
            return Self::of_line(a, p, q);
        }
        let axes = [(axis + 1) % 3, (axis + 2) % 3, axis];
        Self {
            axes,
            area_ratio: norm(normal) / height.abs(),
            origin: [a[axes[0]], a[axes[1]]],
            weights: [
                [q[axes[1]] / height, -q[axes[0]] / height],
                [-p[axes[1]] / height, p[axes[0]] / height],
            ],
        }
    }

    /// For a triangle without area: weights vary along the longer edge at the first corner.
    fn of_line(a: &[f64; 3], p: [f64; 3], q: [f64; 3]) -> Self {
        let axis = largest(std::array::from_fn(|i| p[i].abs().max(q[i].abs())));
        let axes = [axis, (axis + 1) % 3, (axis + 2) % 3];
        let is_second = p[axis].abs() >= q[axis].abs();
        let edge = if is_second { p[axis] } else { q[axis] };
        let along = [if edge == 0.0 { 0.0 } else { 1.0 / edge }, 0.0];
        let weights = if is_second { [along, [0.0; 2]] } else { [[0.0; 2], along] };
        Self { axes, area_ratio: 0.0, origin: [a[axes[0]], a[axes[1]]], weights }
    }

    /// The barycentric weights of the second and third corner at a projected point of the triangle.
    #[inline(always)]
    pub(super) fn weights(&self, point: [f64; 2]) -> [f64; 2] {
        let [x, y] = [point[0] - self.origin[0], point[1] - self.origin[1]];
        let [second, third] = self.weights;
        // For slivers, rounding can push weights out of range.
        let s = (second[0] * x + second[1] * y).clamp(0.0, 1.0);
        let t = (third[0] * x + third[1] * y).clamp(0.0, 1.0);
        [s, t.min(1.0 - s)]
    }

    #[inline(always)]
    fn project(&self, point: &[f64; 3]) -> [f64; 2] {
        [point[self.axes[0]], point[self.axes[1]]]
    }

    /// The area of a clipped polygon, in voxel faces.
    #[inline(always)]
    pub(super) fn area(&self, polygon: &Polygon) -> f64 {
        area(polygon.points().iter().map(|point| self.project(point))) * self.area_ratio
    }

    /// The barycentric weights at the centroid of a clipped polygon.
    pub(super) fn centroid(&self, polygon: &Polygon) -> [f64; 2] {
        self.weights(self.projected_centroid(polygon))
    }

    /// The centroid of a clipped polygon; without area, the mean of its points.
    fn projected_centroid(&self, polygon: &Polygon) -> [f64; 2] {
        let projected = polygon.points().iter().map(|point| self.project(point));
        if let Some(Moments { mean: [x, y, _], .. }) = moments(projected.clone()) {
            return [x, y];
        }
        let first = self.project(&polygon.points()[0]);
        [0, 1].map(|a| {
            let sum: f64 = projected.clone().map(|point| point[a] - first[a]).sum();
            first[a] + sum / polygon.len as f64
        })
    }
}
