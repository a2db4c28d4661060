//! What a backend is asked for: by which rule triangles set voxels.

use crate::grid::Combine;
use crate::place::MAX_DIM;
use crate::predicate::crosses::Axis;

/// Which voxels a backend finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rule {
    /// Those whose closed cube a closed triangle touches: the conservative surface. No path from one
    /// side to the other avoids it, not even through corners (26-separating).
    #[default]
    Conservative,
    /// Those in which a line through voxel centres, along any axis, crosses a triangle: the thin
    /// surface. No path from face to face of voxels avoids it (6-separating; S. Laine, *A Topological
    /// Approach to Voxelization*, 2013). A crossing in the plane between two voxels is in the upper
    /// one; on the grid's far face, in the last.
    SixSeparating,
    /// Those at whose centre being inside changes, for who goes up an axis and counts crossings: the
    /// first centre at or past an odd number of them. What is crossed before the grid counts for its
    /// first voxel, and what is crossed past its last centre for one voxel more, which
    /// [`grid_dims`](Self::grid_dims) has room for.
    Parity(Axis),
    /// The same along `x` for who is inside where the winding number is not 0.
    Winding,
    /// Every crossing of a column along `x`, at the voxel where [`Parity`](Self::Flips) would count
    /// it, with its direction: [`Run::crossings`](super::Run::crossings). The grid is empty.
    Crossings,
}

impl Rule {
    /// The axes along which columns are looked at; none where whole voxels are.
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

    /// The axis along which it counts crossings, where it does.
    #[must_use]
    pub fn flips_along(self) -> Option<Axis> {
        match self {
            Self::Conservative | Self::SixSeparating => None,
            Self::Parity(axis) => Some(axis),
            Self::Winding | Self::Crossings => Some(Axis::X),
        }
    }

    /// The dimensions of what a backend gives for a grid of `dims` voxels: one more along the axis of
    /// flips, unless that is [`MAX_DIM`].
    #[must_use]
    pub fn grid_dims(self, dims: [u32; 3]) -> [u32; 3] {
        let Some(axis) = self.flips_along() else {
            return dims;
        };
        let [x, y, z] = axis.unproject([0; 2], 1).map(|step| step as u32);
        [dims[0] + x, dims[1] + y, dims[2] + z].map(|d| d.min(MAX_DIM))
    }

    /// What the voxels that parts of a mesh have in one brick make together.
    pub(crate) fn combine(self) -> Combine {
        match self {
            Self::Conservative | Self::SixSeparating => Combine::Union,
            Self::Parity(_) => Combine::Parity,
            Self::Winding => Combine::Winding,
            Self::Crossings => Combine::Crossings,
        }
    }
}
