//! A point on the lattice of a mesh, or on a coarser one if it is far from it.

use crate::base::morton;
use crate::lattice::{Aabb, Lattice, Triangle};
use crate::solid::proximity::nearest::Point;

/// Maximum difference between coordinates of the point and of the mesh, before both are rounded.
const MAX_DIFFERENCE: f64 = (1_u64 << 25) as f64;

/// A point. Its distance is computed in units of `2^shift` lattice units, with the mesh rounded to
/// them, so that it differs from the mesh by at most [`MAX_DIFFERENCE`] of them on each axis.
///
/// If `shift` is not 0, the point is farther than [`MAX_DIFFERENCE`] / 2 units from the farthest
/// corner of the mesh's bounding box along some axis. The box is at most [`MAX_DIFFERENCE`] / 4
/// units long, so the distance is at least `2^23` units. Rounding changes it by at most `sqrt(3)`
/// of them: by less than `2^-22` of the distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Query {
    /// In lattice units: integers.
    pub(super) units: [f64; 3],
    /// In units of `2^shift`.
    pub(super) at: Point,
    shift: u32,
}

impl Query {
    /// `None` if the point's coordinates on the lattice or a bound of its distance are not finite
    /// numbers.
    pub(super) fn new(lattice: &Lattice, bounds: &Aabb, point: [f64; 3]) -> Option<Self> {
        let units = [0, 1, 2].map(|axis| lattice.lattice_point(point[axis], axis));
        let gap = |axis: usize| {
            let (lo, hi) = (f64::from(bounds.lo[axis]), f64::from(bounds.hi[axis]));
            (units[axis] - lo).abs().max((units[axis] - hi).abs())
        };
        let ratio = gap(0).max(gap(1)).max(gap(2)) / MAX_DIFFERENCE;
        // More than the distance, in mesh units.
        let most = ratio / lattice.scale * (2.0 * MAX_DIFFERENCE);
        if !most.is_finite() || !units.iter().all(|c| c.is_finite()) {
            return None;
        }
        // The binary exponent plus 1: 2^shift is above the ratio, and at most twice as large.
        let shift = if ratio <= 1.0 { 0 } else { (ratio.to_bits() >> 52) as u32 - 1022 };
        let at = units.map(|c| (c * power(-(shift as i32))).round_ties_even() as i64);
        Some(Self { units, at, shift })
    }

    /// The corners of a triangle in units of `2^shift`, rounded up from the middle.
    #[inline(always)]
    pub(super) fn corners(&self, triangle: &Triangle) -> [Point; 3] {
        // Coordinates are below 2^25: all larger shifts give 0.
        let shift = self.shift.min(32);
        let half = (1_i64 << shift) >> 1;
        triangle.map(|corner| corner.map(|c| (i64::from(c) + half) >> shift))
    }

    /// Units of `2^shift` per lattice unit.
    #[inline(always)]
    pub(super) fn scale(&self) -> f64 {
        power(-(self.shift as i32))
    }

    /// How far corners move by rounding, in units of `2^shift`.
    #[inline(always)]
    pub(super) fn margin(&self) -> f64 {
        if self.shift == 0 { 0.0 } else { 0.5 }
    }

    /// The place of the point on a Morton curve through the mesh and its surroundings.
    pub(super) fn morton_code(&self) -> u64 {
        let ends = (1_u64 << 25) as f64;
        // 19 bits.
        morton::code(self.units.map(|c| (c.clamp(-ends, ends - 1.0) + ends) as u64 >> 7))
    }

    /// Lattice units per unit of `2^shift`.
    pub(super) fn unit(&self) -> f64 {
        power(self.shift as i32)
    }
}

/// `2^exponent`, from -1000 to 1000.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}
