//! One ray per column along `x`: a prefix XOR of the bricks' words, 64 columns at once.

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::Progress;
use crate::grid::{
    BRICK, BrickKey, BrickRun, BrickRuns, Mask, VoxelGrid, Writer, checked_dims, in_order_within,
    key_ranges,
};

/// Fills a grid of `dims` voxels by rays along `x`. Returns the voxels inside, and the number of
/// columns that are inside after their last flip. `flips` are the flips along `x`; they may lie
/// beyond the end of the filled grid.
///
/// Takes at most `memory` bytes besides `flips`, including the result. The step `fill` of
/// `progress` is in parts of `flips`, in two passes: one counts, one writes.
///
/// ```
/// use trivox::{NoProgress, VoxelGrid, solid::fill};
///
/// let flips = VoxelGrid::from_voxels([9, 2, 1], [[3, 0, 0], [5, 0, 0], [7, 1, 0]])?;
/// let (grid, open_columns) = fill::along_x(&flips, flips.dims(), u64::MAX, &NoProgress)?;
/// let inside = [[3, 0, 0], [4, 0, 0], [7, 1, 0], [8, 1, 0]];
/// assert_eq!(grid, VoxelGrid::from_voxels([9, 2, 1], inside)?);
/// assert_eq!(open_columns, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BackendError::Memory`], cancellation, or dimensions that no grid has.
pub fn along_x(
    flips: &VoxelGrid,
    dims: [u32; 3],
    memory: u64,
    progress: &dyn Progress,
) -> Result<(VoxelGrid, u64), BackendError> {
    let dims = checked_dims(dims)?;
    let parts = key_ranges(&[flips]);
    progress.start("fill", 2 * parts.len() as u64);
    // For each part: its start, its extent, and a writer.
    let working = parts.len() as u64 * 256;
    let fits = |bytes| {
        check_cancelled(progress)?;
        check_memory(bytes + working, memory)
    };
    let write = |&[first, end]: &[BrickKey; 2], out: &mut Writer<'_>| -> u64 {
        let rows = flips.brick_runs_between(first, end).rows();
        let open_columns = rows.map(|row| u64::from(fill_row(row, dims, out))).sum();
        progress.advance(1);
        open_columns
    };
    let (grid, open_columns) = in_order_within(dims, flips.world, &parts, fits, write)?;
    Ok((grid, open_columns.into_iter().sum()))
}

/// Fills a row of bricks in a grid of `dims` voxels; returns the number of columns that are inside
/// after their last flip.
fn fill_row(row: BrickRuns<'_>, dims: [u32; 3], out: &mut Writer<'_>) -> u32 {
    let Some(first) = row.first() else {
        return 0;
    };
    let mut fill = |start: BrickKey, end: BrickKey, mask: Mask| {
        out.push_clipped(dims, &BrickRun { start, len: start.bricks_to(end), mask });
    };
    // The state of each column of the row before the next slice.
    let mut inside = 0;
    let mut next = first;
    for mut run in row {
        fill(next, run.start, [inside; 8]);
        // A full brick flips each column eight times and leaves its state unchanged, so all full
        // bricks of a run give the same result.
        for slice in &mut run.mask {
            inside ^= *slice;
            *slice = inside;
        }
        next = run.end();
        fill(run.start, next, run.mask);
    }
    let end = first.row().along_x(dims[0].div_ceil(BRICK));
    fill(next, end.max(next), [inside; 8]);
    inside.count_ones()
}
