//! The axes of the game.

use std::io;

use super::kinds::{AIR, Kinds};
use crate::formats::io::deflate::{CHUNK, Content, Deflater};
use crate::grid::{BRICK, BrickKey, Up, VoxelGrid, mask_place};

/// A grid in the game's axes.
pub(super) struct Frame {
    /// Blocks along the width, height and length.
    pub(super) size: [u32; 3],
    pub(super) up: Up,
}

impl Frame {
    pub(super) fn new(grid: &VoxelGrid) -> Self {
        let up = grid.world.up;
        Self { size: Self { size: grid.dims(), up }.dims(), up }
    }

    /// Voxels along the grid's axes. The exchange of axes is its own inverse.
    pub(super) fn dims(&self) -> [u32; 3] {
        let [width, height, length] = self.size;
        match self.up {
            Up::Y => self.size,
            Up::Z => [width, length, height],
        }
    }

    /// The voxel of the grid of a block, whose place is along the width, height and length.
    pub(super) fn grid_from_game(&self, [x, up, across]: [u32; 3]) -> [u32; 3] {
        match self.up {
            Up::Y => [x, up, across],
            Up::Z => [x, self.size[2] - 1 - across, up],
        }
    }

    /// Writes all rows of blocks in file order. `encode` packs the block indices of several rows,
    /// `bits` bits each. All but the last call get rows that fill whole 64-bit words.
    pub(super) fn write(
        &self,
        grid: &VoxelGrid,
        kinds: &Kinds,
        out: &mut Deflater,
        bits: u32,
        encode: impl Fn(Vec<u8>) -> Vec<u8> + Sync,
    ) -> io::Result<()> {
        let [width, height, length] = self.size.map(u64::from);
        // The fewest rows in whole words.
        let whole = 64 >> (width * u64::from(bits)).trailing_zeros().min(6);
        let at_once = (CHUNK as u64).div_ceil(width).next_multiple_of(whole);
        let rows = height * length;
        let firsts = (0..rows.div_ceil(at_once)).map(|n| n * at_once);
        out.write_each(firsts, |first| {
            let mut blocks = vec![AIR; (at_once.min(rows - first) * width) as usize];
            let is_air = self.fill(grid, kinds, first, &mut blocks);
            let encoded = encode(blocks);
            // Air has index 0, so its bytes are zeros.
            if is_air { Content::Zeros(encoded.len()) } else { Content::Bytes(encoded.into()) }
        })
    }

    /// Sets the blocks that are not air in consecutive rows, from the row `first` in file order on.
    /// Returns whether all are air.
    fn fill(&self, grid: &VoxelGrid, kinds: &Kinds, first: u64, blocks: &mut [u8]) -> bool {
        let [width, _, length] = self.size;
        let width = width as usize;
        let (mut row, mut rest, mut is_air) = (first, blocks, true);
        while !rest.is_empty() {
            let [height, along] = [row / u64::from(length), row % u64::from(length)];
            let [height, along] = [height as u32, along as u32];
            let voxel @ [_, y, z] = self.grid_from_game([0, height, along]);
            // The rows that are left in this brick, at this height, and in all.
            let in_brick = match self.up {
                Up::Y => BRICK - z % BRICK,
                Up::Z => y % BRICK + 1,
            };
            let count = in_brick.min(length - along).min((rest.len() / width) as u32);
            let rows;
            (rows, rest) = rest.split_at_mut(count as usize * width);
            let brick = BrickKey::of_voxel(voxel);
            for run in grid.brick_runs_between(brick, brick.next_row()) {
                is_air = false;
                let begin = (run.start.position()[0] * BRICK) as usize;
                let end = (begin + (run.len * BRICK) as usize).min(width);
                for (along, row) in (along..).zip(rows.chunks_exact_mut(width)) {
                    let (_, bit) = mask_place(self.grid_from_game([0, height, along]));
                    kinds.put(grid, &run, bit, &mut row[begin..end]);
                }
            }
            row += u64::from(count);
        }
        is_air
    }
}
