//! The rules by which triangles set voxels.

use crate::grid::Combine;
use crate::lattice::{MAX_DIM, WindowReach};
use crate::predicate::crosses::Axis;

/// The rule by which triangles set voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rule {
    /// Sets every voxel whose closed cube a closed triangle touches: the conservative surface. It
    /// is 26-separating: no path of voxels from one side to the other avoids it, not even through
    /// corners.
    #[default]
    Conservative,
    /// Sets every voxel in which a line through voxel centres, along any axis, crosses a triangle:
    /// the thin surface. It is 6-separating: no path through faces of voxels avoids it (S. Laine,
    /// *A Topological Approach to Voxelization*, 2013). A crossing in the plane between two voxels
    /// belongs to the upper one; on the grid's far face, to the last.
    SixSeparating,
    /// Sets the voxels at which the parity of crossings changes along an axis. A crossing counts
    /// for the first voxel whose centre is at or past it; a voxel with an odd number of crossings
    /// is set. Crossings before the first centre count for the first voxel, those past the last
    /// centre for one more voxel, for which [`grid_dims`](Self::grid_dims) adds room.
    Parity(Axis),
    /// Sets the voxels at which the winding number changes between 0 and another value along `x`;
    /// crossings count as those of [`Parity`](Self::Parity).
    Winding,
    /// Lists the crossings of columns along `x`, each at the voxel where [`Parity`](Self::Parity)
    /// counts it, with its direction: [`Run::crossings`](super::Run::crossings). The grid is empty.
    Crossings,
}

impl Rule {
    /// The axes along which columns are tested; none if voxels are tested.
    #[must_use]
    pub fn axes(self) -> &'static [Axis] {
        match self {
            Self::Conservative => &[],
            Self::SixSeparating => &Axis::ALL,
            Self::Parity(Axis::X) | Self::Winding | Self::Crossings => &[Axis::X],
            Self::Parity(Axis::Y) => &[Axis::Y],
            Self::Parity(Axis::Z) => &[Axis::Z],
        }
    }

    /// The axis along which crossings are counted, if they are.
    #[must_use]
    pub fn counting_axis(self) -> Option<Axis> {
        match self {
            Self::Conservative | Self::SixSeparating => None,
            Self::Parity(axis) => Some(axis),
            Self::Winding | Self::Crossings => Some(Axis::X),
        }
    }

    /// Crossing directions: 2, into and out of the mesh; 1 for a rule that ignores them.
    pub(crate) fn directions(self) -> u32 {
        if matches!(self, Self::Winding | Self::Crossings) { 2 } else { 1 }
    }

    /// The triangles of a mesh on which the voxels of a [window](crate::PlacedMesh::in_window) can
    /// depend.
    pub(crate) fn reach(self) -> WindowReach {
        match self.counting_axis() {
            None => WindowReach::Box,
            Some(Axis::X) => WindowReach::ColumnsAlongX,
            Some(Axis::Y | Axis::Z) => WindowReach::Columns,
        }
    }

    /// The dimensions of the result for a grid of `dims` voxels: one more along the
    /// [`counting_axis`](Self::counting_axis), up to [`MAX_DIM`].
    #[must_use]
    pub fn grid_dims(self, dims: [u32; 3]) -> [u32; 3] {
        let Some(axis) = self.counting_axis() else {
            return dims;
        };
        let [x, y, z] = axis.unproject([0; 2], 1).map(|step| step as u32);
        [dims[0] + x, dims[1] + y, dims[2] + z].map(|d| d.min(MAX_DIM))
    }

    /// How the voxels that parts of a mesh set in the same brick are combined.
    pub(crate) fn combine(self) -> Combine {
        match self {
            Self::Conservative | Self::SixSeparating => Combine::Union,
            Self::Parity(_) => Combine::Parity,
            Self::Winding => Combine::Winding,
            Self::Crossings => Combine::Crossings,
        }
    }
}
