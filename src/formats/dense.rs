//! A grid voxel by voxel with `x` fastest, then `y`, then `z`, as most dense formats want it.

use std::io;

use crate::grid::{BRICK, BrickKey, FULL, Piece, VoxelGrid};

/// How many voxels `dims` are.
pub(super) fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().map(|&d| u64::from(d)).product()
}

/// Gives `take` all rows along `x`, `y` fastest: a byte for each voxel, 1 if it is occupied. That takes
/// eight bytes of memory for each voxel along `x`, whatever the grid.
pub(super) fn rows(
    grid: &VoxelGrid,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let [nx, ny, nz] = grid.dims();
    // The rows of one z and of one brick along y.
    let mut rows = vec![0; (nx * BRICK.min(ny)) as usize];
    for z in 0..nz {
        let brick = |y| BrickKey::new([0, y, z / BRICK]);
        let bricks = ny.div_ceil(BRICK);
        let mut layer = grid.pieces_between(brick(0), brick(bricks - 1).next_row());
        for y in 0..bricks {
            let rows = &mut rows[..(nx * BRICK.min(ny - y * BRICK)) as usize];
            rows.fill(0);
            for piece in layer.take_before(brick(y).next_row()) {
                spread(&piece, z % BRICK, rows, nx as usize);
            }
            rows.chunks_exact(nx as usize).try_for_each(&mut take)?;
        }
    }
    Ok(())
}

/// Sets the bytes of the voxels at `z` within the bricks, in rows of `nx` bytes.
fn spread(piece: &Piece, z: u32, rows: &mut [u8], nx: usize) {
    let begin = (piece.start.position()[0] * BRICK) as usize;
    let end = begin + (piece.len * BRICK) as usize;
    for (y, row) in rows.chunks_exact_mut(nx).enumerate() {
        if piece.mask == FULL {
            row[begin..end].fill(1);
            continue;
        }
        let bit = BRICK as usize * y + z as usize;
        for (byte, word) in row[begin..].iter_mut().zip(piece.mask) {
            *byte = (word >> bit) as u8 & 1;
        }
    }
}
