//! Set operations on grids. Voxels are compared by index; world positions are ignored.
//! [`VoxelGrid::in_one_box`] gives grids of one lattice the same indices.

use super::{VoxelGrid, in_order, key_ranges, overlay};

/// Set operations, linear in the number of bricks and runs. The result has the first grid's world
/// position, and the larger dimension along each axis. Where all its voxels are the first grid's,
/// it has also its colours and attributes, and otherwise none.
impl VoxelGrid {
    /// The voxels that are in this grid, in `other` or in both.
    ///
    /// ```
    /// use trivox::VoxelGrid;
    ///
    /// let a = VoxelGrid::from_voxels([4, 4, 4], [[0, 0, 0], [1, 2, 3]])?;
    /// let b = VoxelGrid::from_voxels([9, 1, 1], [[0, 0, 0], [8, 0, 0]])?;
    /// let both = VoxelGrid::from_voxels([9, 4, 4], [[0, 0, 0], [1, 2, 3], [8, 0, 0]])?;
    /// assert_eq!(a.union(&b), both);
    /// # Ok::<(), trivox::GridError>(())
    /// ```
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    /// The voxels that are in both grids, with the colours and attributes of this one.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b).with_values_of(self, [0; 3])
    }

    /// The voxels of this grid that are not in `other`, with their colours and attributes.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b).with_values_of(self, [0; 3])
    }

    /// The voxels that are in exactly one of the grids.
    /// [`differing_voxels`](Self::differing_voxels) lists them, and says in which grid each is.
    #[must_use]
    pub fn symmetric_difference(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a ^ b)
    }

    /// Applies `op` to the masks of both grids; `op(0, 0)` must be 0.
    fn combine(&self, other: &Self, op: impl Fn(u64, u64) -> u64 + Sync) -> Self {
        let dims = std::array::from_fn(|a| self.dims[a].max(other.dims[a]));
        in_order(dims, self.world, &key_ranges(&[self, other]), |&[first, end], out| {
            let runs = [self, other].map(|grid| grid.brick_runs_between(first, end));
            for both in overlay(runs) {
                let [a, b] = &both.masks;
                out.push(both.start, both.len, &std::array::from_fn(|x| op(a[x], b[x])));
            }
        })
    }
}
