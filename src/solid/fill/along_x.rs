//! One ray per column along `x`: a prefix XOR of the bricks' words, 64 columns at once.

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::Progress;
use crate::grid::{BRICK, BrickKey, BrickRuns, VoxelGrid, Writer, in_order_within, key_ranges};
use crate::solid::fill::Filled;

/// The voxels that a ray along `x` finds inside, given the flips along `x`. A column that is inside
/// after its last flip stays so to the end of the grid, and is counted.
///
/// Takes at most `memory` bytes besides `flips`, including the result. The step `fill` of
/// `progress` is in parts of `flips`, in two passes: one counts, one writes.
///
/// ```
/// use trivox::{NoProgress, VoxelGrid, solid::fill};
///
/// let flips = VoxelGrid::from_voxels([9, 2, 1], [[3, 0, 0], [5, 0, 0], [7, 1, 0]])?;
/// let filled = fill::along_x(&flips, u64::MAX, &NoProgress)?;
/// let inside = [[3, 0, 0], [4, 0, 0], [7, 1, 0], [8, 1, 0]];
/// assert_eq!(filled.grid, VoxelGrid::from_voxels([9, 2, 1], inside)?);
/// assert_eq!(filled.unended, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BackendError::Memory`], or cancellation.
pub fn along_x(
    flips: &VoxelGrid,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Filled, BackendError> {
    let width = Width::of(flips.dims()[0]);
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
        let unended = rows.map(|row| u64::from(fill_row(row, width, out))).sum();
        progress.advance(1);
        unended
    };
    let (grid, unended) = in_order_within(flips.dims(), flips.world, &parts, fits, write)?;
    Ok(Filled { grid, unended: unended.into_iter().sum() })
}

/// The end of rows along `x`.
#[derive(Clone, Copy)]
struct Width {
    /// The last brick.
    last: u32,
    /// The number of its slices that are inside the grid.
    slices: usize,
}

impl Width {
    fn of(voxels: u32) -> Self {
        let last = (voxels - 1) / BRICK;
        Self { last, slices: (voxels - last * BRICK) as usize }
    }
}

/// Fills a row of bricks; returns the number of columns that are still inside at its end.
fn fill_row(row: BrickRuns<'_>, width: Width, out: &mut Writer<'_>) -> u32 {
    let Some(first) = row.first() else {
        return 0;
    };
    let end = first.row().along_x(width.last);
    // The state of each column of the row before the next slice.
    let mut inside = 0;
    let mut next = first;
    for mut piece in row {
        out.push(next, next.bricks_to(piece.start), &[inside; 8]);
        // A full brick flips each column eight times and leaves its state unchanged, so all full
        // bricks of a run give the same result.
        for slice in &mut piece.mask {
            inside ^= *slice;
            *slice = inside;
        }
        next = piece.start.along_x(piece.len);
        if piece.start == end {
            piece.mask[width.slices..].fill(0);
        }
        out.push(piece.start, piece.len, &piece.mask);
    }
    if inside != 0 && next <= end {
        out.push(next, next.bricks_to(end), &[inside; 8]);
        let mut last = [inside; 8];
        last[width.slices..].fill(0);
        out.push(end, 1, &last);
    }
    inside.count_ones()
}
