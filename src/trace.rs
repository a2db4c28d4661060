//! Rays against the voxels of a grid: the first voxel that a ray touches, exactly.
//!
//! A [`Ray`] is rounded once, to integers; from then on every decision is an integer comparison. A voxel
//! is its closed cube, and a ray hits the voxel whose cube it touches first. Touching counts: a ray
//! along a face, along an edge or through a corner alone hits, so none slips through a wall, however
//! thin, nor between two voxels that only share an edge or a corner.
//!
//! # Ties
//! - Of the voxels that a ray touches first at one point, the one with the smallest `x` is hit; of those,
//!   with the smallest `y`, then `z`.
//! - A ray that comes to a voxel on an edge or a corner enters it by the face of the first axis, in the
//!   order `x`, `y`, `z`, whose plane it reaches there.
//! - A ray that begins in a closed cube hits it there, and has entered by no face. A ray that leaves a
//!   surface must therefore begin off it, by [`UNIT`] of a voxel or more.
//!
//! # The bit budget
//! Origins are multiples of `2^-16` voxel ([`UNIT_BITS`]), no further than `2^20` voxels from the grid's
//! corner ([`MAX_DISTANCE`]): at most `2^36` units. Directions are integers up to `2^24`
//! ([`DIRECTION_BITS`]). A grid has `2^16` voxels an axis, and the largest cell of the tree below ends at
//! `2^18`: planes lie at `0` to `2^34` units, and from a plane to an origin is below `2^37`.
//!
//! - A ray reaches a plane of axis `a` at the time `n / m[a]`, for a distance `n < 2^37` along the axis and
//!   `m[a] = |d[a]|`. Where it is then along another axis is `(o m + n d) / m`, with a numerator below
//!   `2^60 + 2^61`: `i64`. Rounded down to units it is in the same cell, and where one ends if nothing remains;
//!   in the box of the grid, where rays are searched, it is then below `2^35`.
//! - Times `n / m` of two axes are compared by `n m' - n' m`: products below `2^61`, so that the sign of the
//!   difference is that of an `i64`, or of two 32-bit words. A step adds a cell's side times a length to it,
//!   or takes that away.
//!
//! # The search
//! A [`Scene`] is a tree over the grid's bricks, in which each node has 8x8x8 cells, as a brick has voxels.
//! In a node the ray goes from cell to cell by the earliest of three planes (J. Amanatides and A. Woo, *A Fast
//! Voxel Traversal Algorithm for Ray Tracing*, 1987), and into those that hold something. Where it reaches
//! planes of two axes at once, the up to eight voxels about that point are looked at one by one.

use thiserror::Error;

use crate::place::short;
pub use crate::trace::scene::{Node, Scene};
pub(crate) use crate::trace::traverse::Touch;

#[cfg(feature = "gpu")]
pub mod gpu;
mod scene;
mod traverse;

/// A voxel is `2^UNIT_BITS` units of a ray's origin wide.
pub const UNIT_BITS: u32 = 16;

/// The smallest step of a ray's origin, in voxels.
pub const UNIT: f64 = 1.0 / (1u32 << UNIT_BITS) as f64;

/// A ray's origin is at most so many voxels from the grid's corner along each axis.
pub const MAX_DISTANCE: u32 = 1 << 20;

/// The components of a direction are at most `2^DIRECTION_BITS`.
pub const DIRECTION_BITS: u32 = 24;

/// Why a ray cannot be searched along.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RayError {
    /// An origin that is too far from the grid, or not finite.
    #[error(
        "a ray from ({}, {}, {}) is not possible: begin at most {MAX_DISTANCE} voxels from the grid's \
         corner along each axis", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    Origin([f64; 3]),
    /// A direction that is none.
    #[error(
        "a ray to ({}, {}, {}) is not possible: use finite numbers that are not all zero, and for \
         integers at most 2^24", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    Direction([f64; 3]),
}

/// A half-line: where it begins, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ray {
    /// In units.
    origin: [i64; 3],
    /// Not all 0.
    direction: [i32; 3],
}

impl Ray {
    /// The ray from `origin` to `direction`, in voxels from the grid's minimum corner: the origin rounded
    /// to a multiple of [`UNIT`], the direction so that its longest component is `2^24`.
    ///
    /// # Errors
    /// A number that is not finite, an origin too far away, a direction of zero length.
    pub fn new(origin: [f64; 3], direction: [f64; 3]) -> Result<Self, RayError> {
        // Written so that a NaN fails it.
        if !origin.iter().all(|c| c.abs() <= f64::from(MAX_DISTANCE)) {
            return Err(RayError::Origin(origin));
        }
        let is_possible = direction.iter().all(|c| c.is_finite()) && direction != [0.0; 3];
        if !is_possible {
            return Err(RayError::Direction(direction));
        }
        let origin = origin.map(|c| (c / UNIT).round_ties_even() as i64);
        Ok(Self { origin, direction: steps_towards(direction) })
    }

    /// The ray from `origin`, in units of `2^-16` voxel, to `direction`, in steps of any length.
    ///
    /// # Errors
    /// An origin too far away; a direction of zero length, or with a component past `2^24`.
    pub fn from_units(origin: [i64; 3], direction: [i32; 3]) -> Result<Self, RayError> {
        let most = i64::from(MAX_DISTANCE) << UNIT_BITS;
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

    /// One that is known to be possible.
    #[inline]
    pub(crate) fn of(origin: [i64; 3], direction: [i32; 3]) -> Self {
        debug_assert!(Self::from_units(origin, direction).is_ok(), "{origin:?}, {direction:?}");
        Self { origin, direction }
    }

    /// The origin in units of `2^-16` voxel, and the direction: integers, and all there is of a ray.
    #[must_use]
    #[inline]
    pub fn in_units(&self) -> ([i64; 3], [i32; 3]) {
        (self.origin, self.direction)
    }

    /// Where it begins, in voxels: exactly.
    #[must_use]
    pub fn origin(&self) -> [f64; 3] {
        self.origin.map(|c| c as f64 * UNIT)
    }

    /// Where it goes, of any length.
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
        let [x, y, z] = self.direction();
        (x * x + y * y + z * z).sqrt()
    }
}

/// A direction of a ray, rounded so that its longest component is `2^24`; finite and not all 0.
pub(crate) fn steps_towards(direction: [f64; 3]) -> [i32; 3] {
    let longest = direction.iter().fold(0.0, |longest: f64, c| longest.max(c.abs()));
    let most = f64::from(1u32 << DIRECTION_BITS);
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
    /// Its number: the axis, and 3 more for the upper one.
    #[must_use]
    #[inline]
    pub fn number(self) -> usize {
        self.axis + 3 * usize::from(self.is_upper)
    }

    /// What is outside: -1, 0 or 1 along each axis.
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
    /// The face it is entered by; none where the ray begins in it, its faces included.
    pub face: Option<Face>,
    /// From the ray's origin, in voxels.
    pub distance: f64,
}
