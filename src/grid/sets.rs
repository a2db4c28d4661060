//! Grids as sets of voxels. Voxels are the same where their indices are, wherever the grids lie in
//! the world.

use std::convert::Infallible;

use crate::voxelize::BackendError;

use super::brick_runs::{BrickRun, overlay, parts};
use super::ordered::in_order;
use super::{BRICK, Mask, VoxelGrid};

/// Each takes a step for a brick or a run of full bricks. The result lies where the first grid does,
/// and is as large as the larger of the two along each axis; it has no colours.
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

    /// The voxels that a grid of `dims` voxels, not more than this one has, has room for, in such a
    /// grid; in at most `memory` bytes besides this one.
    ///
    /// # Errors
    /// [`BackendError::Memory`].
    pub(crate) fn cropped(self, dims: [u32; 3], memory: u64) -> Result<Self, BackendError> {
        debug_assert!(
            (0..3).all(|a| (1..=self.dims[a]).contains(&dims[a])),
            "{dims:?} of {self:?}"
        );
        let is_inside =
            |piece: BrickRun| is_within(dims, &piece) || within(dims, &piece).eq([piece]);
        if self.brick_runs().all(is_inside) {
            return Ok(Self { dims, ..self });
        }
        let fits = |needed| match needed > memory {
            true => Err(BackendError::Memory { needed, allowed: memory }),
            false => Ok(()),
        };
        let cropped = in_order(dims, self.world, &parts(&[&self]), fits, |&[first, end], out| {
            let pieces = self.brick_runs_between(first, end);
            let inside = pieces.flat_map(|piece| within(dims, &piece));
            inside.for_each(|BrickRun { start, len, mask }| out.push(start, len, &mask));
        });
        cropped.map(|(grid, _)| grid)
    }

    /// Where `decide` says so of the two grids' bits; where both are 0 it must be 0.
    fn combine(&self, other: &Self, decide: impl Fn(u64, u64) -> u64 + Sync) -> Self {
        let dims = std::array::from_fn(|a| self.dims[a].max(other.dims[a]));
        let fits = |_| Ok::<(), Infallible>(());
        let combined =
            in_order(dims, self.world, &parts(&[self, other]), fits, |&[first, end], out| {
                let pieces = [self, other].map(|grid| grid.brick_runs_between(first, end));
                for both in overlay(pieces) {
                    let [a, b] = &both.masks;
                    out.push(both.start, both.len, &std::array::from_fn(|x| decide(a[x], b[x])));
                }
            });
        let Ok((grid, _)) = combined;
        grid
    }
}

/// What of `piece` is within a grid of `dims` voxels: bricks that are whole along `x`, and the one at
/// its end.
fn within(dims: [u32; 3], piece: &BrickRun) -> impl Iterator<Item = BrickRun> + use<> {
    let &BrickRun { start, len, mask } = piece;
    let from = start.position().map(|brick| brick * BRICK);
    let [x, y, z] = [0, 1, 2].map(|a| dims[a].saturating_sub(from[a]));
    let rows = (0..y.min(BRICK)).fold(0, |rows, row| rows | 0xff_u64 << (8 * row));
    let columns = ((1_u64 << z.min(BRICK)) - 1) * 0x0101_0101_0101_0101;
    let trimmed = move |slices: u32| -> Mask {
        let trim = |i: usize| if (i as u32) < slices { mask[i] & rows & columns } else { 0 };
        std::array::from_fn(trim)
    };
    let whole = len.min(x / BRICK);
    let last = u32::from(whole < len && x % BRICK > 0);
    let parts = [(start, whole, BRICK), (start.along_x(whole), last, x % BRICK)];
    let parts = parts.into_iter().filter(|&(_, len, _)| len > 0);
    parts.map(move |(start, len, slices)| BrickRun { start, len, mask: trimmed(slices) })
}

/// Whether all bricks of `piece` are within a grid of `dims` voxels.
fn is_within(dims: [u32; 3], piece: &BrickRun) -> bool {
    let [x, y, z] = piece.start.position();
    let ends = [x + piece.len, y + 1, z + 1];
    (0..3).all(|a| ends[a] * BRICK <= dims[a])
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn a_cropped_grid_has_the_voxels_inside_and_no_others() {
        let mut rng = Rng::with_seed(1);
        let mut cut = 0;
        for _ in 0..400 {
            let dims = [(); 3].map(|()| rng.u32(1..=30));
            let cropped = dims.map(|d| rng.u32(d.saturating_sub(9).max(1)..=d));
            let density = [0.001, 0.1, 0.999, 1.0][rng.usize(0..4)];
            let all = (0..dims.iter().product())
                .map(|i| [i % dims[0], i / dims[0] % dims[1], i / dims[0] / dims[1]]);
            let voxels: Vec<[u32; 3]> = all.filter(|_| rng.f64() < density).collect();
            let inside = |voxel: &&[u32; 3]| (0..3).all(|a| voxel[a] < cropped[a]);
            let expected = voxels.iter().filter(inside).copied();
            let expected = VoxelGrid::from_voxels(cropped, expected).unwrap();
            let grid = VoxelGrid::from_voxels(dims, voxels).unwrap();
            cut += u32::from(grid.occupied() > expected.occupied());
            let bytes = expected.bytes();
            assert_eq!(grid.clone().cropped(cropped, bytes), Ok(expected.clone()));
            if grid.occupied() > expected.occupied() && bytes > 0 {
                let refused = BackendError::Memory { needed: bytes, allowed: bytes - 1 };
                assert_eq!(grid.cropped(cropped, bytes - 1), Err(refused));
            }
        }
        assert!(cut > 100, "{cut}");
    }
}
