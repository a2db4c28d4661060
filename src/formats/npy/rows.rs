//! A cache of bricks for writing, by slabs along `x`.

use std::ops::Range;

use super::bytes_of_bits;
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid, is_empty};

/// A cache of the bricks at one `x` and a range of `y`, as large as the capacity allows. If all `y`
/// fit, each brick is looked up once for its eight `x`; otherwise once per `x`.
#[derive(Default)]
pub(super) struct BrickCache<'a> {
    colors: Option<&'a Colors>,
    x: u32,
    y: Range<u32>,
    /// Sorted by `y`, then `z`.
    runs: Vec<Run>,
}

/// Consecutive bricks along `z` with one mask, mostly full ones.
pub(super) struct Run {
    y: u32,
    pub(super) z: Range<u32>,
    pub(super) mask: Mask,
    /// The index of the brick's own colours, for a run of one brick that has them.
    pub(super) own: Option<usize>,
}

impl<'a> BrickCache<'a> {
    /// Capacity in runs of 96 bytes; the last `y` may exceed it by at most 8192.
    const CAPACITY: usize = 3 << 13;

    pub(super) fn with_colors(colors: &'a Colors) -> Self {
        Self { colors: Some(colors), ..Self::default() }
    }

    /// The bricks at `x` and `y`, in bricks.
    pub(super) fn row(&mut self, grid: &VoxelGrid, x: u32, y: u32) -> &[Run] {
        if self.x != x || !self.y.contains(&y) {
            self.load(grid, x, y);
        }
        let from = self.runs.partition_point(|run| run.y < y);
        let row = &self.runs[from..];
        &row[..row.partition_point(|run| run.y == y)]
    }

    /// Loads the bricks at `x` from `y` on.
    fn load(&mut self, grid: &VoxelGrid, x: u32, y: u32) {
        let [_, ny, nz] = grid.dims().map(|d| d.div_ceil(BRICK));
        self.runs.clear();
        self.runs.reserve_exact(Self::CAPACITY.min(ny as usize * nz as usize) + nz as usize);
        (self.x, self.y) = (x, y..y);
        while self.y.end < ny && self.runs.len() < Self::CAPACITY {
            let y = self.y.end;
            for z in 0..nz {
                let key = BrickKey::new([x, y, z]);
                let mask = grid.mask_of(key);
                if !is_empty(&mask) {
                    let own = self.colors.and_then(|colors| colors.index_of(key));
                    self.push(Run { y, z: z..z + 1, mask, own });
                }
            }
            self.y.end += 1;
        }
    }

    fn push(&mut self, next: Run) {
        match self.runs.last_mut() {
            Some(run) if run.is_continued_by(&next) => run.z.end = next.z.end,
            _ => self.runs.push(next),
        }
    }
}

impl Run {
    fn is_continued_by(&self, next: &Self) -> bool {
        let is_next = self.y == next.y && self.z.end == next.z.start && self.mask == next.mask;
        is_next && self.own.is_none() && next.own.is_none()
    }

    /// Sets the bytes of the voxels at `x` within the bricks, in rows of `nz` bytes.
    pub(super) fn fill(&self, x: u32, rows: &mut [u8], nz: usize) {
        let [begin, end] = [self.z.start, self.z.end].map(|z| (z * BRICK) as usize);
        let word = self.mask[x as usize].to_le_bytes();
        for (row, bits) in rows.chunks_exact_mut(nz).zip(word) {
            let bytes = bytes_of_bits(bits);
            for eight in row[begin..end.min(nz)].chunks_mut(BRICK as usize) {
                eight.copy_from_slice(&bytes[..eight.len()]);
            }
        }
    }
}
