//! Bricks at hand for writing, by slabs of `x`.

use std::ops::Range;

use super::bytes_of_bits;
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid};

/// Bricks at hand for writing: of one `x`, and of as many `y` in a row as there is room for. All of
/// them, unless they are very many: then each brick is looked up once for its eight `x`.
#[derive(Default)]
pub(super) struct Slab<'a> {
    colors: Option<&'a Colors>,
    x: u32,
    y: Range<u32>,
    /// Sorted by `y`, then `z`.
    runs: Vec<Run>,
}

/// Bricks in a row along `z` that hold the same voxels; full ones, for the most part.
pub(super) struct Run {
    y: u32,
    pub(super) z: Range<u32>,
    pub(super) mask: Mask,
    /// The colours of its only brick, by their index, where voxels have one of their own.
    pub(super) own: Option<usize>,
}

impl<'a> Slab<'a> {
    /// Runs that are kept, 96 bytes each; those of the last `y` may be more, by 8192 at most.
    const ROOM: usize = 3 << 13;

    pub(super) fn with_colors(colors: &'a Colors) -> Self {
        Self { colors: Some(colors), ..Self::default() }
    }

    /// The bricks at `x` and `y`, in bricks.
    pub(super) fn row(&mut self, grid: &VoxelGrid, x: u32, y: u32) -> &[Run] {
        if self.x != x || !self.y.contains(&y) {
            self.gather(grid, x, y);
        }
        let from = self.runs.partition_point(|run| run.y < y);
        let row = &self.runs[from..];
        &row[..row.partition_point(|run| run.y == y)]
    }

    /// Takes bricks at `x`, from `y` on.
    fn gather(&mut self, grid: &VoxelGrid, x: u32, y: u32) {
        let [_, ny, nz] = grid.dims().map(|d| d.div_ceil(BRICK));
        self.runs.clear();
        self.runs.reserve_exact(Self::ROOM.min(ny as usize * nz as usize) + nz as usize);
        (self.x, self.y) = (x, y..y);
        while self.y.end < ny && self.runs.len() < Self::ROOM {
            let y = self.y.end;
            for z in 0..nz {
                let key = BrickKey::new([x, y, z]);
                for (_, mask) in grid.bricks_between(key, key) {
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
    pub(super) fn spread(&self, x: u32, rows: &mut [u8], nz: usize) {
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
