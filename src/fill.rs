//! Solid voxels: from where the surface is crossed, or from the voxels it touches, to what it
//! encloses. Exact set operations on sparse grids, which take a step for a brick or for a run of full
//! ones: a solid grid costs little more than its surface. Shared by all backends.
//!
//! A *column* is a line of voxels along an axis, and its *flips* are the voxels at whose centre being
//! inside the mesh flips: each is the first whose centre is at or past an odd number of crossings.
//! A ray along the column finds a voxel inside where the number of flips at or before it is odd.
//! A column with an odd number of flips passes through a hole, through an open edge or out of the
//! grid's bounds: rays from its two ends contradict one another on each of its voxels.
//!
//! - [`along_x()`] takes one ray for each column, from its lower end.
//! - [`generalized()`] adds to the signed crossings of that ray what the mesh's boundary contributes:
//!   generalized winding numbers.
//! - [`vote()`] takes six rays for each voxel, and reports how much they disagree.
//! - [`flood()`] takes no rays: what cannot be reached from outside is inside.
//!
//! The parity of crossings along a ray: F. S. Nooruddin and G. Turk, Simplification and Repair of
//! Polygonal Models Using Volumetric Techniques, 2003, who also have several rays vote.

mod along_x;
mod flood;
mod generalized;
mod offsets;
mod solid_angle;
mod vote;

use crate::grid::VoxelGrid;
use crate::voxelize::BackendError;

pub use along_x::along_x;
pub use flood::flood;
pub use generalized::{Confidence, Generalized, generalized};
pub use vote::vote;

/// What [`along_x()`] makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The voxels inside.
    pub grid: VoxelGrid,
    /// Columns that are still inside at the grid's end.
    pub unended: u64,
}

/// What [`vote()`] makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voted {
    /// The voxels that most rays find inside.
    pub grid: VoxelGrid,
    /// How much the rays disagree.
    pub dispute: AxisDisagreement,
}

/// How much the rays of a [`vote()`] disagree.
///
/// A voxel is *disputed* unless at least two of its three columns agree on it and the third, if it
/// votes at all, does too. Where one column passes through a hole the others still agree far from
/// it, so that disputed voxels lie where the mesh is wrong and not along everything that a ray
/// through the hole meets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AxisDisagreement {
    /// Disputed voxels.
    pub voxels: u64,
    /// Columns along `x` with a disputed voxel.
    pub columns: u64,
    /// Columns along `x` with a voxel that is inside or disputed.
    pub of_columns: u64,
    /// Columns along `x`, `y` and `z` with an odd number of flips; they do not vote.
    pub odd: [u64; 3],
    /// The first disputed voxel of the brick that has the most of them; of several such bricks, the
    /// first in canonical order.
    pub worst: Option<[u32; 3]>,
}

impl AxisDisagreement {
    /// How many of the columns along `x` that are inside or disputed somewhere are disputed.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.of_columns == 0 { 0.0 } else { self.columns as f64 / self.of_columns as f64 }
    }
}

/// What [`flood()`] makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flooded {
    /// The surface and what it encloses.
    pub grid: VoxelGrid,
    /// Voxels that are enclosed and not of the surface.
    pub enclosed: u64,
}

/// # Errors
/// `needed` bytes of memory are more than `allowed`.
fn check_memory(needed: u64, allowed: u64) -> Result<(), BackendError> {
    if needed > allowed {
        return Err(BackendError::Memory { needed, allowed });
    }
    Ok(())
}
