//! Builds a grid from bricks in canonical order in two parallel passes: the first counts, the
//! second writes to the final slots. No memory beyond the grid is needed.

use std::convert::Infallible;

use rayon::prelude::*;

use super::brick::{is_empty, is_full};
use super::{BrickKey, FullRun, GridBuilder, Mask, VoxelGrid, World};

/// The number of stored items of a part of a grid.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    /// Bricks that are not full.
    bricks: usize,
    /// Runs of full bricks.
    runs: usize,
}

impl Extent {
    /// Total bytes of memory of `parts`.
    pub(crate) fn bytes(parts: &[Self]) -> u64 {
        parts.iter().map(|part| bytes(part.bricks as u64, part.runs as u64)).sum()
    }
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
    pub(crate) fn counting() -> Self {
        let run = FullRun { start: BrickKey::NONE, len: 0 };
        Self { extent: Extent::default(), run, slots: None }
    }

    /// Adds `len` consecutive bricks along `x` with one mask, which may be empty. They must come
    /// after all bricks pushed before.
    #[inline]
    pub(crate) fn push(&mut self, start: BrickKey, len: u32, mask: &Mask) {
        if is_full(mask) {
            self.push_full(start, len);
        } else if !is_empty(mask) {
            (0..len).for_each(|n| self.push_partial(start.along_x(n), mask));
        }
    }

    #[inline]
    fn push_partial(&mut self, key: BrickKey, mask: &Mask) {
        if let Some(Slots { keys, masks, .. }) = &mut self.slots {
            keys[self.extent.bricks] = key;
            masks[self.extent.bricks] = *mask;
        }
        self.extent.bricks += 1;
    }

    fn push_full(&mut self, start: BrickKey, len: u32) {
        if len == 0 {
            return;
        }
        let FullRun { start: first, len: before } = self.run;
        if before > 0 && first.along_x(before) == start && first.row() == start.row() {
            self.run.len += len;
        } else {
            self.extent.runs += 1;
            self.run = FullRun { start, len };
        }
        if let Some(Slots { full, .. }) = &mut self.slots {
            full[self.extent.runs - 1] = self.run;
        }
    }

    /// The counts so far.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }
}

/// A grid with allocated slots, to be written part by part.
pub(crate) struct OrderedGrid {
    grid: VoxelGrid,
    parts: Vec<Extent>,
}

impl OrderedGrid {
    /// Allocates the slots of `parts`. `dims` must be those of an existing grid; they are not
    /// checked.
    pub(crate) fn new(dims: [u32; 3], world: World, parts: Vec<Extent>) -> Self {
        let bricks = parts.iter().map(|part| part.bricks).sum();
        let runs = parts.iter().map(|part| part.runs).sum();
        let grid = VoxelGrid {
            dims,
            keys: bytemuck::zeroed_vec(bricks),
            masks: bytemuck::zeroed_vec(bricks),
            full: vec![FullRun { start: BrickKey::NONE, len: 0 }; runs],
            world,
            colors: None,
            attributes: None,
        };
        Self { grid, parts }
    }

    /// A writer for each part. Pushed bricks must be those that were counted.
    pub(crate) fn writers(&mut self) -> Vec<Writer<'_>> {
        let VoxelGrid { keys, masks, full, .. } = &mut self.grid;
        let (mut keys, mut masks, mut full) = (&mut keys[..], &mut masks[..], &mut full[..]);
        let writer = |part: &Extent| {
            let slots = Slots {
                keys: keys.split_off_mut(..part.bricks).unwrap_or_default(),
                masks: masks.split_off_mut(..part.bricks).unwrap_or_default(),
                full: full.split_off_mut(..part.runs).unwrap_or_default(),
            };
            Writer { slots: Some(slots), ..Writer::counting() }
        };
        self.parts.iter().map(writer).collect()
    }

    pub(crate) fn finish(self) -> VoxelGrid {
        self.grid
    }
}

/// Builds a grid from the bricks that `write` pushes for each of `parts`, which are in canonical
/// order and share no row. `write` runs twice per part, to count and to write.
pub(crate) fn in_order<P: Sync>(
    dims: [u32; 3],
    world: World,
    parts: &[P],
    write: impl Fn(&P, &mut Writer<'_>) + Sync,
) -> VoxelGrid {
    let Ok((grid, _)) = in_order_within(dims, world, parts, |_| Ok::<(), Infallible>(()), write);
    grid
}

/// As [`in_order`], with the values that `write` returns. Between the two passes, `fits` checks the
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
        (writer.extent(), value)
    };
    let (extents, values): (Vec<Extent>, Vec<T>) = parts.par_iter().map(count).unzip();
    fits(Extent::bytes(&extents))?;
    let mut grid = OrderedGrid::new(dims, world, extents);
    parts.par_iter().zip(grid.writers()).for_each(|(part, mut writer)| {
        write(part, &mut writer);
    });
    Ok((grid.finish(), values))
}
