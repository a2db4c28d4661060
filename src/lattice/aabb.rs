//! Axis-aligned bounding boxes.

use crate::base::vector::{dot, minus};
use crate::lattice::Triangle;

/// An axis-aligned bounding box in lattice units, whose bounds are inclusive. Coordinates of two
/// boxes differ by less than `2^30`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aabb {
    pub(crate) lo: [i32; 3],
    pub(crate) hi: [i32; 3],
}

impl Aabb {
    /// The box without points.
    pub(crate) const EMPTY: Self = Self { lo: [i32::MAX; 3], hi: [i32::MIN; 3] };

    #[inline]
    pub(crate) fn of(&[a, b, c]: &Triangle) -> Self {
        Self { lo: lowest(lowest(a, b), c), hi: highest(highest(a, b), c) }
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self { lo: lowest(self.lo, other.lo), hi: highest(self.hi, other.hi) }
    }

    /// The longest edge.
    #[inline]
    pub(crate) fn length(&self) -> i32 {
        let [x, y, z] = minus(self.hi, self.lo);
        x.max(y).max(z)
    }

    /// The squared distance between the nearest points of two boxes.
    #[inline]
    pub(crate) fn nearest_squared(&self, other: &Self) -> i64 {
        squared(highest(highest(minus(self.lo, other.hi), minus(other.lo, self.hi)), [0; 3]))
    }

    /// The squared distance between the farthest points of two boxes.
    #[inline]
    pub(crate) fn farthest_squared(&self, other: &Self) -> i64 {
        squared(highest(minus(self.hi, other.lo), minus(other.hi, self.lo)))
    }
}

#[inline]
fn lowest(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].min(b[2])]
}

#[inline]
fn highest(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2])]
}

#[inline]
fn squared(v: [i32; 3]) -> i64 {
    let v = [i64::from(v[0]), i64::from(v[1]), i64::from(v[2])];
    dot(v, v)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn boxes_are_as_far_from_each_other_as_their_points() {
        let mut rng = Rng::with_seed(31);
        for _ in 0..10_000 {
            let mut any = || {
                let lo = [(); 3].map(|()| rng.i32(-9..9));
                Aabb { lo, hi: lo.map(|c| c + rng.i32(0..6)) }
            };
            let [a, b] = [any(), any()];
            // Corners are integers, and with them the nearest and the farthest points.
            let gaps = [0, 1, 2].map(|axis| {
                let points = |of: &Aabb| of.lo[axis]..=of.hi[axis];
                let all = points(&a).flat_map(|p| points(&b).map(move |q| i64::from(p - q).pow(2)));
                [all.clone().min(), all.max()].map(|gap| gap.expect("boxes have points"))
            });
            let [nearest, farthest] = [0, 1].map(|end| gaps.iter().map(|gap| gap[end]).sum());
            assert_eq!((a.nearest_squared(&b), a.farthest_squared(&b)), (nearest, farthest));
        }
    }
}
