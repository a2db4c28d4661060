//! Conservative culling by an upper bound of the distance from voxels to their nearest triangle.

use crate::base::vector::{Vector, cross, dot, minus, plus, times};
use crate::lattice::{Aabb, Triangle};

/// More than all rounding errors, in voxels, in lattice units and as a fraction of a squared
/// distance: culling is conservative.
pub(super) const MARGIN: f64 = 1.0 / (1 << 16) as f64;

/// An upper bound of the distance from any voxel of some bricks to its nearest triangle.
pub(crate) struct DistanceBound {
    /// The bounding box of the voxel centres.
    pub(crate) centers: Aabb,
    /// In lattice units, with the margin.
    distance: f64,
    /// The square of the bound, with the margin in voxels, without that in lattice units.
    squared: i64,
}

impl DistanceBound {
    /// The minimum of the `width` of the band, in voxels, and the distances from `centers` to the
    /// farthest point of each of `boxes`. Each box contains a triangle.
    pub(crate) fn new<'a>(
        centers: Aabb,
        width: f32,
        units_per_voxel: i32,
        boxes: impl Iterator<Item = &'a Aabb>,
    ) -> Self {
        let distance = (f64::from(width) + MARGIN) * f64::from(units_per_voxel);
        let farthest = boxes.map(|bounds| centers.farthest_squared(bounds));
        let squared = farthest.fold((distance * distance) as i64, i64::min);
        Self { centers, distance: (squared as f64).sqrt() + MARGIN, squared }
    }

    /// Whether a triangle in the box may be the nearest to a voxel.
    #[inline]
    pub(crate) fn admits_box(&self, bounds: &Aabb) -> bool {
        self.centers.nearest_squared(bounds) <= self.squared
    }

    /// Whether the triangle may be the nearest to a voxel; conservative.
    #[inline]
    pub(crate) fn admits_triangle(&self, triangle: &Triangle) -> bool {
        self.admits_box(&Aabb::of(triangle)) && !is_farther(triangle, &self.centers, self.distance)
    }
}

/// Whether the box `bounds` is separated from `triangle` by more than `distance`, in lattice units,
/// along the triangle's normal or along an edge's normal in its plane. Other separating axes are
/// not tried: `false` does not imply that the box is near. `true` implies a distance above
/// `distance - 2^-20`.
fn is_farther(triangle: &Triangle, bounds: &Aabb, distance: f64) -> bool {
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
        extent + distance * dot(axis, axis).sqrt()
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

#[inline(always)]
pub(super) fn vector(v: [i32; 3]) -> Vector {
    [f64::from(v[0]), f64::from(v[1]), f64::from(v[2])]
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    const UNIT: i32 = 16;

    fn any_point(rng: &mut Rng, within: i32) -> [i32; 3] {
        [(); 3].map(|()| rng.i32(-within..=within))
    }

    fn any_box(rng: &mut Rng, within: i32) -> Aabb {
        let lo = any_point(rng, within);
        Aabb { lo, hi: lo.map(|c| c + rng.i32(0..20)) }
    }

    /// Whether all corners of a box are farther than the root of `squared` from `triangle` along
    /// its normal, or along an edge's normal away from it; `None` if they are as far.
    fn is_separated(triangle: &Triangle, bounds: &Aabb, squared: i64) -> Option<bool> {
        let [a, b, c] = triangle.map(|corner| corner.map(i64::from));
        let normal = cross(minus(b, a), minus(c, b));
        let mut axes = vec![(normal, a), (normal.map(|n| -n), a)];
        axes.extend([(a, b), (b, c), (c, a)].map(|(p, q)| (cross(minus(q, p), normal), p)));
        let corners = (0..8).map(|i| {
            [0, 1, 2].map(|a| i64::from(if i >> a & 1 == 0 { bounds.lo[a] } else { bounds.hi[a] }))
        });
        let mut is_any = false;
        for (axis, from) in axes {
            let height = corners.clone().map(|p| dot(axis, minus(p, from))).min().expect("corners");
            let height = i128::from(height.max(0)).pow(2);
            let limit = i128::from(squared) * i128::from(dot(axis, axis));
            if height == limit && limit > 0 {
                return None;
            }
            is_any |= height > limit;
        }
        Some(is_any)
    }

    #[test]
    fn the_bound_is_the_width_or_the_farthest_point_of_the_nearest_box() {
        let mut rng = Rng::with_seed(42);
        let (mut by_width, mut by_box, mut met) = (0, 0, [0; 3]);
        for _ in 0..10_000 {
            let centers = any_box(&mut rng, 50);
            let boxes: Vec<Aabb> = (0..rng.usize(0..3)).map(|_| any_box(&mut rng, 50)).collect();
            let width = rng.i32(1..8);
            let bound = DistanceBound::new(centers, width as f32, UNIT, boxes.iter());
            let farthest = boxes.iter().map(|bounds| centers.farthest_squared(bounds)).min();
            let of_width = i64::from(width * UNIT).pow(2);
            let expected = farthest.map_or(of_width, |squared| squared.min(of_width));
            *(if expected < of_width { &mut by_box } else { &mut by_width }) += 1;
            assert_eq!(bound.squared, expected);
            // With the margin.
            let more = bound.distance - (expected as f64).sqrt();
            assert!(more > 0.5 * MARGIN && more < 2.0 * MARGIN, "{more}");

            let triangle = [(); 3].map(|()| any_point(&mut rng, 90));
            let bounds = Aabb::of(&triangle);
            let is_met = centers.nearest_squared(&bounds) <= expected;
            assert_eq!(bound.admits_box(&bounds), is_met);
            let Some(is_far) = is_separated(&triangle, &centers, expected) else { continue };
            assert_eq!(bound.admits_triangle(&triangle), is_met && !is_far, "{triangle:?}");
            met[usize::from(is_met) + usize::from(is_met && !is_far)] += 1;
        }
        let counts = [by_width, by_box, met[0], met[1], met[2]];
        assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
    }
}
