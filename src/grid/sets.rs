//! Grids as sets of voxels. Voxels are the same where their indices are, wherever the grids lie in
//! the world.

use std::convert::Infallible;

use super::VoxelGrid;
use super::ordered::in_order;
use super::pieces::{overlay, parts};

/// Each takes a step for a brick or a run of full bricks. The result lies where the first grid does,
/// and is as large as the larger of the two along each axis.
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

    /// The voxels that are in both grids.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    /// The voxels of this grid that are not in `other`.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    /// Where `decide` says so of the two grids' bits; where both are 0 it must be 0.
    fn combine(&self, other: &Self, decide: impl Fn(u64, u64) -> u64 + Sync) -> Self {
        let dims = std::array::from_fn(|a| self.dims[a].max(other.dims[a]));
        let fits = |_| Ok::<(), Infallible>(());
        let combined =
            in_order(dims, self.world, &parts(&[self, other]), fits, |&[first, end], out| {
                let pieces = [self, other].map(|grid| grid.pieces_between(first, end));
                for both in overlay(pieces) {
                    let [a, b] = &both.masks;
                    out.push(both.start, both.len, &std::array::from_fn(|x| decide(a[x], b[x])));
                }
            });
        let Ok((grid, _)) = combined;
        grid
    }
}
