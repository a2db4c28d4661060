//! Ray tracing against the voxels of a grid: the first voxel that a ray touches, exactly.
//!
//! A [`Ray`] is rounded once, to integers; all decisions after that are exact. A voxel is its
//! closed cube, and a ray hits the voxel whose cube it touches first. A ray along a face, along an
//! edge or through a corner hits too, so that no ray passes through a thin wall, or between two
//! voxels that share only an edge or a corner.
//!
//! # Ties
//! - Of the voxels that a ray touches first at one point, it hits the one with the smallest `x`,
//!   then `y`, then `z`.
//! - A ray that reaches a voxel at an edge or a corner enters through the face of the first axis,
//!   in the order `x`, `y`, `z`, whose plane it reaches there.
//! - A ray that begins in a closed cube hits it there, through no face. A secondary ray must
//!   therefore begin at least [`UNIT`] voxel off its surface.
//!
//! # The bit budget
//! Origins are multiples of `2^-16` voxel ([`FRACTION_BITS`]), at most `2^20` voxels from the
//! grid's corner ([`MAX_DISTANCE`]): at most `2^36` units. Directions are integers up to `2^24`
//! ([`DIRECTION_BITS`]). A grid has at most `2^16` voxels per axis, and the largest cell of the
//! tree below ends at `2^18`: planes lie at `0` to `2^34` units, and the distance from a plane to
//! an origin is below `2^37`.
//!
//! - A ray reaches a plane of axis `a` at the time `n / m[a]`, for a distance `n < 2^37` along the
//!   axis and `m[a] = |d[a]|`. Its coordinate on another axis is then `(o m + n d) / m`, with a
//!   numerator below `2^60 + 2^61`: `i64`. Rounding down to units keeps it in its cell; it is on a
//!   plane between cells only if the remainder is 0. In the box of the grid, where rays are
//!   traversed, it is below `2^35`.
//! - Times `n / m` of two axes are compared by `n m' - n' m`: products below `2^61`, so that the
//!   difference fits in an `i64`, or in two 32-bit words. A step adds or subtracts a cell's side
//!   times a length.
//!
//! # The traversal
//! A [`Scene`] is a tree over the grid's bricks; each node has 8x8x8 cells, as a brick has voxels.
//! In a node the ray steps from cell to cell through the nearest of three planes, a DDA (J.
//! Amanatides and A. Woo, *A Fast Voxel Traversal Algorithm for Ray Tracing*, 1987), and descends
//! into cells that are not empty. The times at which it crosses planes are rounded first, to fixed
//! point. A ray whose next plane is not certain is searched for in exact times, among all cells
//! that it touches. On a GPU all times of the traversal are exact; where a ray crosses planes of
//! two or more axes at once, the up to eight voxels around that point are tested one by one. The
//! hits are the same.

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::numbers::short;
use crate::base::vector::norm;
pub use crate::view::trace::scene::Scene;
pub(crate) use crate::view::trace::traverse::{Time, Touch};

mod fixed_point;
pub(crate) mod scene;
pub(crate) mod traverse;

/// A voxel is `2^FRACTION_BITS` units of a ray's origin wide.
pub const FRACTION_BITS: u32 = 16;

/// The resolution of a ray's origin, in voxels.
pub const UNIT: f64 = 1.0 / (1u32 << FRACTION_BITS) as f64;

/// Largest distance of a ray's origin from the grid's corner along each axis, in voxels.
pub const MAX_DISTANCE: u32 = 1 << 20;

/// The components of a direction are at most `2^DIRECTION_BITS`.
pub const DIRECTION_BITS: u32 = 24;

/// An error in a ray.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RayError {
    /// An origin that is too far from the grid, or not finite.
    #[error(
        "a ray from ({}, {}, {}) is not possible: begin at most {MAX_DISTANCE} voxels from the \
         grid's corner along each axis", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    Origin([f64; 3]),
    /// A direction that is zero, not finite, or out of range.
    #[error(
        "a ray to ({}, {}, {}) is not possible: use finite numbers that are not all zero, and for \
         integers at most 2^24", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    Direction([f64; 3]),
}

impl ErrorCode for RayError {
    fn code(&self) -> &'static str {
        "option.ray"
    }
}

/// A half-line: an origin and a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ray {
    /// In units of `2^-16` voxel.
    origin: [i64; 3],
    /// Not all 0.
    direction: [i32; 3],
}

impl Ray {
    /// The ray from `origin`, in voxels from the grid's minimum corner, towards `direction`. The
    /// origin is rounded to a multiple of [`UNIT`]; the direction is scaled so that its longest
    /// component is `2^24`, and rounded.
    ///
    /// # Errors
    /// A number that is not finite, an origin too far away, a direction of zero length.
    pub fn new(origin: [f64; 3], direction: [f64; 3]) -> Result<Self, RayError> {
        // Negated, so that NaN is an error.
        if !origin.iter().all(|c| c.abs() <= f64::from(MAX_DISTANCE)) {
            return Err(RayError::Origin(origin));
        }
        let is_possible = direction.iter().all(|c| c.is_finite()) && direction != [0.0; 3];
        if !is_possible {
            return Err(RayError::Direction(direction));
        }
        Ok(Self { origin: in_units(origin), direction: quantized_direction(direction) })
    }

    /// The ray from `origin`, in units of `2^-16` voxel, towards `direction`, of any length.
    ///
    /// # Errors
    /// An origin too far away; a direction of zero length, or with a component past `2^24`.
    pub fn from_units(origin: [i64; 3], direction: [i32; 3]) -> Result<Self, RayError> {
        let most = i64::from(MAX_DISTANCE) << FRACTION_BITS;
        if origin.iter().any(|c| !(-most..=most).contains(c)) {
            return Err(RayError::Origin(origin.map(|c| c as f64 * UNIT)));
        }
        let most = 1 << DIRECTION_BITS;
        let is_possible = direction.iter().all(|c| (-most..=most).contains(c));
        if !is_possible || direction == [0; 3] {
            return Err(RayError::Direction(direction.map(f64::from)));
        }
        Ok(Self { origin, direction })
    }

    /// Unchecked: the arguments must satisfy [`from_units`](Self::from_units).
    #[inline]
    pub(crate) fn of(origin: [i64; 3], direction: [i32; 3]) -> Self {
        debug_assert!(Self::from_units(origin, direction).is_ok(), "{origin:?}, {direction:?}");
        Self { origin, direction }
    }

    /// The origin in units of `2^-16` voxel, and the direction: the exact integers of the ray.
    #[must_use]
    #[inline]
    pub fn in_units(&self) -> ([i64; 3], [i32; 3]) {
        (self.origin, self.direction)
    }

    /// The origin in voxels, exactly.
    #[must_use]
    pub fn origin(&self) -> [f64; 3] {
        self.origin.map(|c| c as f64 * UNIT)
    }

    /// The direction, not normalized.
    #[must_use]
    pub fn direction(&self) -> [f64; 3] {
        self.direction.map(f64::from)
    }

    /// The point at `distance` voxels from its origin.
    #[must_use]
    pub fn at(&self, distance: f64) -> [f64; 3] {
        let (origin, direction, length) = (self.origin(), self.direction(), self.length());
        std::array::from_fn(|a| origin[a] + distance * direction[a] / length)
    }

    fn length(&self) -> f64 {
        norm(self.direction())
    }
}

/// A point in voxels, rounded to units.
pub(crate) fn in_units(point: [f64; 3]) -> [i64; 3] {
    point.map(|c| (c / UNIT).round_ties_even() as i64)
}

/// The largest absolute component.
pub(crate) fn longest(v: [f64; 3]) -> f64 {
    v.into_iter().fold(0.0, |longest, c| c.abs().max(longest))
}

/// Scales a direction, finite and not all 0, so that its longest component is `2^24`, and rounds
/// it.
pub(crate) fn quantized_direction(direction: [f64; 3]) -> [i32; 3] {
    let (longest, most) = (longest(direction), f64::from(1u32 << DIRECTION_BITS));
    direction.map(|c| (c / longest * most).round_ties_even() as i32)
}

/// A face of a voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Face {
    /// The axis that it is perpendicular to: 0, 1 or 2.
    pub axis: usize,
    /// Whether it is the one of the two with the larger coordinate.
    pub is_upper: bool,
}

impl Face {
    /// Its number: the axis, plus 3 for the upper face.
    #[must_use]
    #[inline]
    pub fn number(self) -> usize {
        self.axis + 3 * usize::from(self.is_upper)
    }

    /// The outward normal: -1, 0 or 1 along each axis.
    #[must_use]
    pub fn normal(&self) -> [i32; 3] {
        let side = if self.is_upper { 1 } else { -1 };
        std::array::from_fn(|a| if a == self.axis { side } else { 0 })
    }
}

/// The first voxel that a ray touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The voxel.
    pub voxel: [u32; 3],
    /// The face through which the ray enters; `None` if it begins in the voxel's closed cube.
    pub face: Option<Face>,
    /// From the ray's origin, in voxels.
    pub distance: f64,
}
