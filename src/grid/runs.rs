//! Grids from files that store full bricks as runs.

use crate::grid::{BRICK, BrickKey, FULL, GridError, Mask, VoxelGrid, in_order};

impl VoxelGrid {
    /// The union of `bricks` and of `runs` of full bricks along `x`, each the first key and the
    /// number of bricks. Any order; repeats are allowed.
    ///
    /// # Errors
    /// As [`from_bricks`](Self::from_bricks).
    pub(crate) fn from_bricks_and_runs(
        dims: [u32; 3],
        bricks: Vec<(BrickKey, Mask)>,
        mut runs: Vec<(BrickKey, u32)>,
    ) -> Result<Self, GridError> {
        let grid = Self::from_bricks(dims, bricks)?;
        if runs.is_empty() {
            return Ok(grid);
        }
        runs.sort_unstable();
        runs.iter().try_for_each(|&(start, len)| check_inside(dims, start, len))?;
        let full = in_order(dims, grid.world, &[runs], |runs, out| {
            runs.iter().for_each(|&(start, len)| out.push(start, len, &FULL));
        });
        Ok(grid.union(&full))
    }

    /// The runs of full bricks: the first key and the number of bricks of each.
    pub(crate) fn full_runs(&self) -> impl ExactSizeIterator<Item = (BrickKey, u32)> + '_ {
        self.full.iter().map(|run| (run.start, run.len))
    }
}

fn check_inside(dims: [u32; 3], start: BrickKey, len: u32) -> Result<(), GridError> {
    let [x, y, z] = start.position().map(u64::from);
    let end = [x + u64::from(len), y + 1, z + 1].map(|b| b * u64::from(BRICK));
    if (0..3).all(|a| end[a] <= u64::from(dims[a])) {
        return Ok(());
    }
    // Saturates: `len` comes from a file and may exceed any grid.
    let voxel = end.map(|c| u32::try_from(c.saturating_sub(1)).unwrap_or(u32::MAX));
    Err(GridError::Outside { voxel, dims })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_bricks_they_stand_for() {
        let dims = [64, 16, 16];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let mut run = || {
                let [x, y, z] = [random.u32(0..=8), random.u32(0..2), random.u32(0..2)];
                (BrickKey::new([x, y, z]), random.u32(0..=8 - x))
            };
            let runs: Vec<_> = (0..6).map(|_| run()).collect();
            let bricks =
                runs.iter().flat_map(|&(start, len)| (0..len).map(move |n| start.along_x(n)));
            let bricks = bricks.map(|key| (key, FULL)).collect();
            let expected = VoxelGrid::from_bricks(dims, bricks).unwrap();
            let grid = VoxelGrid::from_bricks_and_runs(dims, vec![], runs.clone()).unwrap();
            assert_eq!(grid, expected, "{runs:?}");
        }
    }

    #[test]
    fn a_run_that_leaves_the_grid_is_refused() {
        let run = |dims, len| {
            let runs = vec![(BrickKey::new([1; 3]), len)];
            VoxelGrid::from_bricks_and_runs(dims, vec![], runs).map(|grid| grid.occupied())
        };
        assert_eq!(run([24, 16, 16], 2), Ok(1024));
        for (dims, len, x) in [
            ([23, 16, 16], 2, 23),
            ([24, 15, 16], 2, 23),
            ([24, 16, 15], 2, 23),
            ([24, 16, 16], 3, 31),
            ([24, 16, 16], u32::MAX, u32::MAX),
        ] {
            assert_eq!(run(dims, len), Err(GridError::Outside { voxel: [x, 15, 15], dims }));
        }
    }
}
