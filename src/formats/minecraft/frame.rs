//! The axes of the game.

use std::io;

use super::kinds::Kinds;
use crate::grid::{BRICK, BrickKey, Up, VoxelGrid};

/// A grid in the game's axes.
pub(super) struct Frame {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) length: u32,
    pub(super) up: Up,
}

impl Frame {
    pub(super) fn new(grid: &VoxelGrid) -> Self {
        let up = grid.world.map_or(Up::default(), |world| world.up);
        let [width, y, z] = grid.dims();
        let [height, length] = if up == Up::Y { [y, z] } else { [z, y] };
        Self { width, height, length, up }
    }

    /// Blocks along the game's axes.
    pub(super) fn size(&self) -> [u32; 3] {
        [self.width, self.height, self.length]
    }

    /// Voxels along the grid's axes.
    pub(super) fn dims(&self) -> [u32; 3] {
        match self.up {
            Up::Y => [self.width, self.height, self.length],
            Up::Z => [self.width, self.length, self.height],
        }
    }

    /// The voxel of the grid of a block, whose place is along the width, height and length.
    pub(super) fn grid_from_game(&self, [x, up, across]: [u32; 3]) -> [u32; 3] {
        match self.up {
            Up::Y => [x, up, across],
            Up::Z => [x, self.length - 1 - across, up],
        }
    }

    /// Calls `take` with all rows of blocks, in file order.
    pub(super) fn rows(
        &self,
        grid: &VoxelGrid,
        kinds: &Kinds,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let width = self.width as usize;
        // The rows of one height and of one brick across.
        let mut rows = vec![0; width * BRICK as usize];
        for height in 0..self.height {
            let bricks = self.length.div_ceil(BRICK);
            for n in 0..bricks {
                let across = if self.up == Up::Y { n } else { bricks - 1 - n };
                let count = BRICK.min(self.length - across * BRICK);
                let rows = &mut rows[..width * count as usize];
                rows.fill(0);
                let brick = self.brick(height / BRICK, across);
                for run in grid.brick_runs_between(brick, brick.next_row()) {
                    let begin = (run.start.position()[0] * BRICK) as usize;
                    let end = (begin + (run.len * BRICK) as usize).min(width);
                    for (inside, row) in (0..).zip(rows.chunks_exact_mut(width)) {
                        let bit = self.bit(height % BRICK, inside);
                        kinds.put(grid, &run, bit, &mut row[begin..end]);
                    }
                }
                let mut in_order = rows.chunks_exact(width);
                match self.up {
                    Up::Y => in_order.try_for_each(&mut take)?,
                    Up::Z => in_order.rev().try_for_each(&mut take)?,
                }
            }
        }
        Ok(())
    }

    /// The first brick of a row, by its height and its position across, in bricks.
    fn brick(&self, height: u32, across: u32) -> BrickKey {
        match self.up {
            Up::Y => BrickKey::new([0, height, across]),
            Up::Z => BrickKey::new([0, across, height]),
        }
    }

    /// The bit of a row within a brick, by its height and its position across in the brick.
    fn bit(&self, height: u32, across: u32) -> u32 {
        match self.up {
            Up::Y => BRICK * height + across,
            Up::Z => BRICK * across + height,
        }
    }
}
