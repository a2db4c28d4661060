//! Grids from files that have full bricks as runs.

use super::{BRICK, BrickKey, FullRun, Mask, VoxelGrid};
use crate::grid::GridError;

impl VoxelGrid {
    /// The union of `bricks` and of full bricks in `runs` along `x`: each its first one, and how many
    /// they are. All may be in any order and repeated.
    ///
    /// # Errors
    /// As [`from_bricks`](Self::from_bricks).
    pub(crate) fn from_bricks_and_runs(
        dims: [u32; 3],
        bricks: Vec<(BrickKey, Mask)>,
        runs: Vec<(BrickKey, u32)>,
    ) -> Result<Self, GridError> {
        let grid = Self::from_bricks(dims, bricks)?;
        if runs.is_empty() {
            return Ok(grid);
        }
        let full = Self { full: maximal(dims, runs)?, ..Self::empty(dims)? };
        Ok(grid.union(&full))
    }

    /// The runs of full bricks: of each the first one, and how many they are.
    pub(crate) fn full_runs(&self) -> impl ExactSizeIterator<Item = (BrickKey, u32)> + '_ {
        self.full.iter().map(|run| (run.start, run.len))
    }
}

/// The same bricks as sorted runs, none of which touches another.
fn maximal(dims: [u32; 3], mut runs: Vec<(BrickKey, u32)>) -> Result<Vec<FullRun>, GridError> {
    runs.sort_unstable();
    let mut maximal: Vec<FullRun> = Vec::new();
    for (start, len) in runs {
        check_inside(dims, start, len)?;
        match maximal.last_mut() {
            Some(last)
                if start.row() == last.start.row() && start <= last.start.along_x(last.len) =>
            {
                last.len = last.len.max(last.start.bricks_to(start.along_x(len)));
            }
            _ if len > 0 => maximal.push(FullRun { start, len }),
            _ => {}
        }
    }
    Ok(maximal)
}

fn check_inside(dims: [u32; 3], start: BrickKey, len: u32) -> Result<(), GridError> {
    let [x, y, z] = start.position().map(u64::from);
    let end = [x + u64::from(len), y + 1, z + 1].map(|b| b * u64::from(BRICK));
    match (0..3).all(|a| end[a] <= u64::from(dims[a])) {
        true => Ok(()),
        // A length that no grid has is past every grid's end.
        false => Err(GridError::Outside {
            voxel: end.map(|c| u32::try_from(c.saturating_sub(1)).unwrap_or(u32::MAX)),
            dims,
        }),
    }
}
