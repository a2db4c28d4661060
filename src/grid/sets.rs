//! Set operations on grids. Voxels are compared by index; world positions are ignored.
//! [`VoxelGrid::in_one_box`] gives grids of one lattice the same indices.

use super::brick_runs::{BrickRun, key_ranges, overlay};
use super::ordered::{in_order, in_order_within};
use super::{BRICK, Mask, VoxelGrid, mask_below};

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
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    /// The voxels that are in both grids, with the colours and attributes of this one.
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b).with_values_of(self, [0; 3])
    }

    /// The voxels of this grid that are not in `other`, with their colours and attributes.
    pub fn subtract(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b).with_values_of(self, [0; 3])
    }

    /// The voxels that are in exactly one of the grids.
    /// [`differing_voxels`](Self::differing_voxels) lists them, and says in which grid each is.
    pub fn symmetric_difference(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a ^ b)
    }

    /// The grid cropped to `dims`, which must not exceed its own. The result takes at most `memory`
    /// bytes besides this grid.
    ///
    /// # Errors
    /// The bytes that the result takes, if they exceed `memory`.
    pub(crate) fn cropped(self, dims: [u32; 3], memory: u64) -> Result<Self, u64> {
        debug_assert!(
            (0..3).all(|a| (1..=self.dims[a]).contains(&dims[a])),
            "{dims:?} of {self:?}"
        );
        let is_inside = |run: BrickRun| is_within(dims, &run) || clipped(dims, &run).eq([run]);
        if self.brick_runs().all(is_inside) {
            return Ok(Self { dims, ..self });
        }
        let fits = |needed| if needed > memory { Err(needed) } else { Ok(()) };
        let cropped =
            in_order_within(dims, self.world, &key_ranges(&[&self]), fits, |&[first, end], out| {
                self.brick_runs_between(first, end).for_each(|run| out.push_clipped(dims, &run));
            });
        cropped.map(|(grid, _)| grid)
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

/// Clips `run` to a grid of `dims` voxels: the bricks that fit along `x`, and the one that the
/// grid's end cuts.
pub(super) fn clipped(dims: [u32; 3], run: &BrickRun) -> impl Iterator<Item = BrickRun> + use<> {
    let &BrickRun { start, len, mask } = run;
    let from = start.first_voxel();
    let [x, y, z] = [0, 1, 2].map(|a| dims[a].saturating_sub(from[a]));
    let trimmed = move |slices: u32| -> Mask {
        let within = mask_below([slices, y, z]);
        std::array::from_fn(|i| mask[i] & within[i])
    };
    let whole = len.min(x / BRICK);
    let last = u32::from(whole < len && x % BRICK > 0);
    let parts = [(start, whole, BRICK), (start.along_x(whole), last, x % BRICK)];
    let parts = parts.into_iter().filter(|&(_, len, _)| len > 0);
    parts.map(move |(start, len, slices)| BrickRun { start, len, mask: trimmed(slices) })
}

/// Whether all bricks of `run` are within a grid of `dims` voxels.
#[inline]
pub(super) fn is_within(dims: [u32; 3], run: &BrickRun) -> bool {
    let [x, y, z] = run.start.position();
    let ends = [x + run.len, y + 1, z + 1];
    (0..3).all(|a| ends[a] * BRICK <= dims[a])
}
