//! Axis-aligned bounding boxes.

use crate::base::vector::{dot, minus};
use crate::lattice::Triangle;

/// An axis-aligned bounding box in lattice units, whose bounds are inclusive. Coordinates of two
/// boxes differ by less than `2^30`.
#[derive(Debug, Clone, Copy, Default)]
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
