//! A grid whose bricks come in canonical order: counted first and then written where they stay, by
//! many threads at once, in no more memory than the grid takes.

use rayon::prelude::*;

use super::brick::{is_empty, is_full};
use super::{BrickKey, FullRun, GridBuilder, Mask, VoxelGrid, World};

/// How much a part of a grid holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    /// That are not full.
    bricks: usize,
    runs: usize,
}

impl Extent {
    /// Bytes of memory that parts take together.
    pub(crate) fn bytes(parts: &[Self]) -> u64 {
        parts.iter().map(|part| bytes(part.bricks as u64, part.runs as u64)).sum()
    }
}

/// Bytes of memory that a grid takes.
pub(crate) fn bytes(bricks: u64, runs: u64) -> u64 {
    bricks * GridBuilder::BYTES_KEPT + runs * size_of::<FullRun>() as u64
}

/// Takes the bricks of a part in canonical order, and counts or writes them.
pub(crate) struct Writer<'a> {
    extent: Extent,
    /// The last run; it may go on. None has length 0.
    run: FullRun,
    /// `None`: they are only counted.
    slots: Option<Slots<'a>>,
}

/// Where a part's bricks and runs stay.
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

    /// Takes `len` bricks along `x` that hold the same voxels. They come after all before, and may
    /// be empty.
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

    /// How much was taken.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }
}

/// A grid that is being written, part by part.
pub(crate) struct OrderedGrid {
    grid: VoxelGrid,
    parts: Vec<Extent>,
}

impl OrderedGrid {
    /// With room for `parts`. The dimensions are those of grids that there are, and need no check.
    pub(crate) fn new(dims: [u32; 3], world: Option<World>, parts: Vec<Extent>) -> Self {
        let bricks = parts.iter().map(|part| part.bricks).sum();
        let runs = parts.iter().map(|part| part.runs).sum();
        let grid = VoxelGrid {
            dims,
            keys: bytemuck::zeroed_vec(bricks),
            masks: bytemuck::zeroed_vec(bricks),
            full: vec![FullRun { start: BrickKey::NONE, len: 0 }; runs],
            world,
            colors: None,
        };
        Self { grid, parts }
    }

    /// Of each part; what is pushed must be what was counted.
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

/// The grid of what `write` pushes for `parts`, which follow one another and share no row, and what
/// it returns for each. It is called twice for each, to count and to write; in between, `fits` says
/// whether the grid may take so many bytes.
pub(crate) fn in_order<P: Sync, T: Send, E>(
    dims: [u32; 3],
    world: Option<World>,
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
