//! Builds a grid from bricks in canonical order in two parallel passes: the first counts, the
//! second writes to the final slots. No memory beyond the grid is needed.

use std::convert::Infallible;

use rayon::prelude::*;

use super::brick::{BRICK, is_empty, is_full, mask_below};
use super::{BrickKey, BrickRun, FullRun, GridBuilder, Mask, VoxelGrid, World};
use crate::base::divided;

/// The number of stored items of a part of a grid.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// Bricks that are not full.
    bricks: usize,
    /// Runs of full bricks.
    runs: usize,
}

/// Bytes of memory of a grid.
pub(crate) fn bytes(bricks: u64, runs: u64) -> u64 {
    bricks * GridBuilder::BYTES_KEPT + runs * size_of::<FullRun>() as u64
}

/// Receives the bricks of a part in canonical order, and counts or writes them.
pub(crate) struct Writer<'a> {
    extent: Extent,
    /// The last run, which may still grow; length 0 before the first.
    run: FullRun,
    /// `None` in the counting pass.
    slots: Option<Slots<'a>>,
}

/// The slots of a part's bricks and runs in the grid.
struct Slots<'a> {
    keys: &'a mut [BrickKey],
    masks: &'a mut [Mask],
    full: &'a mut [FullRun],
}

impl Writer<'_> {
    fn counting() -> Self {
        let run = FullRun { start: BrickKey::NONE, len: 0 };
        Self { extent: Extent::default(), run, slots: None }
    }

    /// Adds `len` consecutive bricks along `x` with one mask, which may be empty. They must come
    /// after all bricks pushed before; full ones may overlap the last run of full bricks.
    #[inline]
    pub(crate) fn push(&mut self, start: BrickKey, len: u32, mask: &Mask) {
        if is_full(mask) {
            self.push_full(start, len);
        } else if !is_empty(mask) {
            let first = self.extent.bricks;
            self.extent.bricks += len as usize;
            if let Some(Slots { keys, masks, .. }) = &mut self.slots {
                masks[first..self.extent.bricks].fill(*mask);
                let keys = keys[first..self.extent.bricks].iter_mut();
                (0..len).zip(keys).for_each(|(n, key)| *key = start.along_x(n));
            }
        }
    }

    /// The part of `run` in a grid of `dims` voxels, as [`push`](Self::push).
    #[inline]
    pub(crate) fn push_clipped(&mut self, dims: [u32; 3], run: &BrickRun) {
        if is_within(dims, run) {
            self.push(run.start, run.len, &run.mask);
        } else {
            clipped(dims, run).for_each(|run| self.push(run.start, run.len, &run.mask));
        }
    }

    fn push_full(&mut self, start: BrickKey, len: u32) {
        if len == 0 {
            return;
        }
        if self.run.is_continued_at(start) {
            self.run.len = self.run.len.max(self.run.start.bricks_to(start.along_x(len)));
        } else {
            self.extent.runs += 1;
            self.run = FullRun { start, len };
        }
        if let Some(Slots { full, .. }) = &mut self.slots {
            full[self.extent.runs - 1] = self.run;
        }
    }
}

/// Clips `run` to a grid of `dims` voxels: the bricks that fit along `x`, and the one that the
/// grid's end cuts.
fn clipped(dims: [u32; 3], run: &BrickRun) -> impl Iterator<Item = BrickRun> + use<> {
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
fn is_within(dims: [u32; 3], run: &BrickRun) -> bool {
    let [x, y, z] = run.start.position();
    let ends = [x + run.len, y + 1, z + 1];
    (0..3).all(|a| ends[a] * BRICK <= dims[a])
}

/// A writer for the slots of each part. Pushed bricks must be those that were counted.
fn writers<'a>(grid: &'a mut VoxelGrid, parts: &[Extent]) -> Vec<Writer<'a>> {
    let VoxelGrid { keys, masks, full, .. } = grid;
    let keys = divided(keys, parts.iter().map(|part| part.bricks));
    let masks = divided(masks, parts.iter().map(|part| part.bricks));
    let full = divided(full, parts.iter().map(|part| part.runs));
    let slots = keys.into_iter().zip(masks).zip(full);
    let slots = slots.map(|((keys, masks), full)| Slots { keys, masks, full });
    slots.map(|slots| Writer { slots: Some(slots), ..Writer::counting() }).collect()
}

/// Builds a grid from the bricks that `write` pushes for each of `parts`, which are in canonical
/// order and share no row. `write` runs twice per part, to count and to write. `dims` must be those
/// of an existing grid; they are not checked.
pub(crate) fn in_order<P: Sync>(
    dims: [u32; 3],
    world: World,
    parts: &[P],
    write: impl Fn(&P, &mut Writer<'_>) + Sync,
) -> VoxelGrid {
    let Ok((grid, _)) = in_order_within(dims, world, parts, |_| Ok::<(), Infallible>(()), write);
    grid
}

/// [`in_order`] with the values that `write` returns. Between the two passes, `fits` checks the
/// grid's size in bytes.
pub(crate) fn in_order_within<P: Sync, T: Send, E>(
    dims: [u32; 3],
    world: World,
    parts: &[P],
    fits: impl FnOnce(u64) -> Result<(), E>,
    write: impl Fn(&P, &mut Writer<'_>) -> T + Sync,
) -> Result<(VoxelGrid, Vec<T>), E> {
    let count = |part| {
        let mut writer = Writer::counting();
        let value = write(part, &mut writer);
        (writer.extent, value)
    };
    let (extents, values): (Vec<Extent>, Vec<T>) = parts.par_iter().map(count).unzip();
    let bricks = extents.iter().map(|part| part.bricks).sum();
    let runs = extents.iter().map(|part| part.runs).sum();
    fits(bytes(bricks as u64, runs as u64))?;
    let mut grid = VoxelGrid {
        keys: bytemuck::zeroed_vec(bricks),
        masks: bytemuck::zeroed_vec(bricks),
        full: vec![FullRun { start: BrickKey::NONE, len: 0 }; runs],
        world,
        ..VoxelGrid::of_dims(dims)
    };
    parts.par_iter().zip(writers(&mut grid, &extents)).for_each(|(part, mut writer)| {
        write(part, &mut writer);
    });
    Ok((grid, values))
}
