//! Culling of triangles that cannot be the nearest to a voxel of some bricks.

use crate::distance::clusters::Aabb;
use crate::distance::vector::{Vector, cross, dot, minus, plus, times};
use crate::place::Triangle;

/// More than any rounding, in voxels: no triangle may be missed.
const MARGIN: f64 = 1.0 / (1 << 16) as f64;

/// How far from some bricks the nearest triangle to one of their voxels may be.
pub(super) struct Reach {
    /// The bounds of the voxels' centres.
    pub(super) centers: Aabb,
    /// In lattice units.
    distance: f64,
    squared: i64,
}

impl Reach {
    /// For voxels with these `centers`, of edge `unit`: at most the width of the band, in voxels,
    /// and the farthest point of each of `boxes`, which all contain triangles.
    pub(super) fn new<'a>(
        centers: Aabb,
        width: f32,
        unit: i32,
        boxes: impl Iterator<Item = &'a Aabb>,
    ) -> Self {
        let distance = (f64::from(width) + MARGIN) * f64::from(unit);
        let farthest = boxes.map(|bounds| centers.farthest_squared(bounds));
        let squared = farthest.fold((distance * distance) as i64, i64::min);
        Self { centers, distance: (squared as f64).sqrt() + MARGIN, squared }
    }

    /// Whether a point of the box may be near enough.
    #[inline]
    pub(super) fn meets(&self, bounds: &Aabb) -> bool {
        self.centers.nearest_squared(bounds) <= self.squared
    }

    /// Whether a point of the triangle may be near enough.
    #[inline]
    pub(super) fn meets_triangle(&self, triangle: &Triangle) -> bool {
        self.meets(&Aabb::of(triangle)) && !is_farther(triangle, &self.centers, self.distance)
    }
}

/// Whether all of the box `bounds` is farther than `reach` from `triangle`, in lattice units, along
/// the triangle's normal or, in its plane, along the normal of an edge: axes along which all of the
/// triangle is on one side of a corner. `false` may be wrong. So may `true` if the distance exceeds
/// the reach by less than `2^-20`.
fn is_farther(triangle: &Triangle, bounds: &Aabb, reach: f64) -> bool {
    let corners = [vector(triangle[0]), vector(triangle[1]), vector(triangle[2])];
    let (lo, hi) = (vector(bounds.lo), vector(bounds.hi));
    let center = times(plus(lo, hi), 0.5);
    let half = times(minus(hi, lo), 0.5);
    let edges = [
        minus(corners[1], corners[0]),
        minus(corners[2], corners[1]),
        minus(corners[0], corners[2]),
    ];
    let normal = cross(edges[0], edges[1]);
    // Coordinates are below 2^25, so all errors are below 2^-20 of the norm of `axis`.
    let limit = |axis: Vector| {
        let extent = axis[0].abs() * half[0] + axis[1].abs() * half[1] + axis[2].abs() * half[2];
        extent + reach * dot(axis, axis).sqrt()
    };
    if dot(normal, minus(center, corners[0])).abs() > limit(normal) {
        return true;
    }
    for (edge, corner) in edges.into_iter().zip(corners) {
        let axis = cross(edge, normal);
        if dot(axis, minus(center, corner)) > limit(axis) {
            return true;
        }
    }
    false
}

fn vector(v: [i32; 3]) -> Vector {
    [f64::from(v[0]), f64::from(v[1]), f64::from(v[2])]
}
