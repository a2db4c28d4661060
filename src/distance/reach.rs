//! Culling of triangles that cannot be the nearest to a voxel of some bricks.

use crate::distance::clusters::Aabb;
use crate::place::Triangle;
use crate::vector::{Vector, cross, dot, minus, plus, times};

/// Exceeds all rounding errors, in voxels and in lattice units, so that culling stays conservative.
const MARGIN: f64 = 1.0 / (1 << 16) as f64;

/// An upper bound of the distance from any voxel of some bricks to the triangle nearest to it.
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

    /// Whether the box is within the bound, so that its triangles may be the nearest to a voxel.
    #[inline]
    pub(super) fn meets(&self, bounds: &Aabb) -> bool {
        self.centers.nearest_squared(bounds) <= self.squared
    }

    /// Whether the triangle may be within the bound. May be `true` for one that is not.
    #[inline]
    pub(super) fn meets_triangle(&self, triangle: &Triangle) -> bool {
        self.meets(&Aabb::of(triangle)) && !is_farther(triangle, &self.centers, self.distance)
    }
}

/// Whether the box `bounds` is separated from `triangle` by more than `reach`, in lattice units,
/// along the triangle's normal or along an edge's normal in its plane. The test is conservative:
/// other separating axes are not tried, so `false` does not mean that the box is near. `true` means
/// that it is farther than `reach - 2^-20`.
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
    // The normal is exact: its terms are products of integers below 2^25. An edge and the normal
    // are perpendicular, so their product has a relative error below 2^-50. Positions are below
    // 2^26, so the errors of a gap sum to less than 2^-20 times the norm of `axis`.
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
