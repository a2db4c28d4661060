//! Fills solids: from the crossings of the surface with columns of voxels, or from the voxels that
//! the surface touches. The operations are exact, work on sparse grids, and take one step per brick
//! or run of full bricks, so that a solid costs little more than its surface. All backends share
//! them.
//!
//! A *column* is a line of voxels along an axis. Its *flips* are the voxels at whose centre the
//! parity of crossings changes: each is the first voxel whose centre is at or past an odd number of
//! crossings. A ray along the column finds a voxel inside if the number of flips at or before it is
//! odd. A column with an odd number of flips passes through a hole, through an open edge or out of
//! the grid's bounds: then the rays from its two ends disagree on every voxel.
//!
//! - [`along_x()`] casts one ray per column, from its lower end.
//! - `generalized` computes generalized winding numbers: the signed crossings of that ray, plus
//!   the contribution of the mesh's boundary. In order of reading: the sweep (`generalized`), the
//!   octree (`offsets`), the hierarchy of boundary loops (`loop_bvh`), near sums (`solid_angle`)
//!   and far sums (`multipoles`), and the polynomials of both (`taylor`).
//! - [`vote()`] casts six rays per voxel, and reports how much they disagree.
//! - [`flood()`] casts no rays: a flood fill from outside; what it does not reach is inside.
//!
//! Parity of crossings along rays, and the vote of several rays: F. S. Nooruddin and G. Turk,
//! Simplification and Repair of Polygonal Models Using Volumetric Techniques, 2003.

mod along_x;
mod flood;
mod generalized;
mod loop_bvh;
mod multipoles;
mod offsets;
mod solid_angle;
mod taylor;
mod vote;

pub use along_x::along_x;
pub use flood::flood;
pub(in crate::solid) use flood::spread;
pub(super) use generalized::generalized;
pub(super) use offsets::{Field, takes_at_most};
pub use vote::vote;

/// The closed loop through `points`, without repeated ones in turn; the first is also the last.
#[cfg(test)]
fn closed<P: PartialEq + Copy>(points: impl IntoIterator<Item = P>) -> Vec<P> {
    let mut points: Vec<P> = points.into_iter().collect();
    points.dedup();
    points.push(points[0]);
    points
}

/// The disagreement of the rays of a [`vote()`].
///
/// A voxel is *disputed* unless at least two of its three columns agree on it, and the third agrees
/// too or does not vote. If one column passes through a hole, the other two still agree far from
/// it, so that disputed voxels lie near defects of the mesh and not along the whole ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// The fraction of disputed columns among the columns along `x` with a voxel that is inside or
    /// disputed.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.of_columns == 0 { 0.0 } else { self.columns as f64 / self.of_columns as f64 }
    }
}
