//! A grid voxel by voxel with `x` fastest, then `y`, then `z`, as most dense formats want it.

use std::io;

use crate::grid::{BRICK, BrickKey, BrickRun, Colors, FULL, VoxelGrid};
use crate::srgb::Rgba;

/// How many voxels `dims` are.
pub(super) fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().map(|&d| u64::from(d)).product()
}

/// Gives `take` all rows along `x`, `y` fastest: a byte for each voxel, 1 if it is occupied. That takes
/// eight bytes of memory for each voxel along `x`, whatever the grid.
pub(super) fn rows(grid: &VoxelGrid, take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    rows_of(grid, |piece, z, rows, nx| spread(piece, z, rows, nx, 1), take)
}

/// The same with the colour of each voxel, zeros where it is not occupied: four times the memory.
pub(super) fn color_rows(
    grid: &VoxelGrid,
    colors: &Colors,
    take: impl FnMut(&[Rgba]) -> io::Result<()>,
) -> io::Result<()> {
    rows_of(grid, |piece, z, rows, nx| paint(piece, colors, z, rows, nx), take)
}

/// All rows, as `put` sets the voxels of a piece at a `z` within its bricks, in rows of so many voxels.
fn rows_of<T: Copy + Default>(
    grid: &VoxelGrid,
    put: impl Fn(&BrickRun, u32, &mut [T], usize),
    mut take: impl FnMut(&[T]) -> io::Result<()>,
) -> io::Result<()> {
    let [nx, ny, nz] = grid.dims();
    // The rows of one z and of one brick along y.
    let mut rows = vec![T::default(); (nx * BRICK.min(ny)) as usize];
    for z in 0..nz {
        let brick = |y| BrickKey::new([0, y, z / BRICK]);
        let bricks = ny.div_ceil(BRICK);
        let mut layer = grid.brick_runs_between(brick(0), brick(bricks - 1).next_row());
        for y in 0..bricks {
            let rows = &mut rows[..(nx * BRICK.min(ny - y * BRICK)) as usize];
            rows.fill(T::default());
            for piece in layer.take_before(brick(y).next_row()) {
                put(&piece, z % BRICK, rows, nx as usize);
            }
            rows.chunks_exact(nx as usize).try_for_each(&mut take)?;
        }
    }
    Ok(())
}

/// Sets the voxels at `z` within the bricks to `value`, in rows of `nx` voxels.
fn spread<T: Copy + Default>(piece: &BrickRun, z: u32, rows: &mut [T], nx: usize, value: T) {
    let begin = (piece.start.position()[0] * BRICK) as usize;
    let end = begin + (piece.len * BRICK) as usize;
    for (y, row) in rows.chunks_exact_mut(nx).enumerate() {
        if piece.mask == FULL {
            row[begin..end].fill(value);
            continue;
        }
        let bit = BRICK as usize * y + z as usize;
        for (voxel, word) in row[begin..].iter_mut().zip(piece.mask) {
            *voxel = if word >> bit & 1 == 1 { value } else { T::default() };
        }
    }
}

/// Sets the voxels at `z` within the bricks to their colours, in rows of `nx` voxels.
fn paint(piece: &BrickRun, colors: &Colors, z: u32, rows: &mut [Rgba], nx: usize) {
    spread(piece, z, rows, nx, colors.rest());
    for (key, brick) in colors.between(piece.start, piece.start.along_x(piece.len)) {
        let begin = (key.position()[0] * BRICK) as usize;
        for (y, row) in (0..).zip(rows.chunks_exact_mut(nx)) {
            let bit = BRICK * y + z;
            for (x, (voxel, word)) in (0..).zip(row[begin..].iter_mut().zip(piece.mask)) {
                if word >> bit & 1 == 1 {
                    *voxel = brick.at(x, bit);
                }
            }
        }
    }
}
