//! Dense arrays of voxels, `x` fastest, then `y`, then `z`, as in most dense formats.

use std::io;

use crate::grid::{BRICK, BrickKey, BrickRun, VoxelGrid, VoxelValues};
use crate::solid::distance::DistanceField;

/// The number of voxels of a grid of `dims`.
pub(crate) fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().map(|&d| u64::from(d)).product()
}

/// 1 in each byte of a word.
pub(crate) use crate::grid::FIRST_Z as ONES;

/// Unpacks bits: byte `i` is bit `i`.
pub(crate) fn bytes_of_bits(bits: u8) -> [u8; 8] {
    // Byte i keeps bit i alone, at most 128; adding 127 carries it, if set, to the byte's top.
    let spread = (u64::from(bits) * ONES) & 0x8040_2010_0804_0201;
    (((spread + 0x7f * ONES) >> 7) & ONES).to_le_bytes()
}

/// Calls `take` with all rows along `x`, `y` fastest. An occupied voxel has the value that `of`
/// returns for its own, an empty one has `empty`. Takes the memory of eight rows.
pub(crate) fn rows<V: Copy + Sync, T: Copy>(
    grid: &VoxelGrid,
    values: &VoxelValues<V>,
    empty: T,
    of: impl Fn(V) -> T,
    mut take: impl FnMut(&[T]) -> io::Result<()>,
) -> io::Result<()> {
    let [nx, ny, nz] = grid.dims();
    // The rows of one z and of one brick along y.
    let mut rows = vec![empty; (nx * BRICK.min(ny)) as usize];
    for z in 0..nz {
        let brick = |y| BrickKey::new([0, y, z / BRICK]);
        let bricks = ny.div_ceil(BRICK);
        let mut layer = grid.brick_runs_between(brick(0), brick(bricks - 1).next_row());
        for y in 0..bricks {
            let rows = &mut rows[..(nx * BRICK.min(ny - y * BRICK)) as usize];
            rows.fill(empty);
            for run in layer.take_before(brick(y).next_row()) {
                put(&run, z % BRICK, rows, nx as usize, |_, _| of(values.rest()));
                for (start, brick) in values.between(run.start, run.start.along_x(run.len)) {
                    let own = BrickRun { start, len: 1, ..run };
                    put(&own, z % BRICK, rows, nx as usize, |x, bit| of(brick.at(x, bit)));
                }
            }
            rows.chunks_exact(nx as usize).try_for_each(&mut take)?;
        }
    }
    Ok(())
}

/// [`rows`] of a grid without values.
pub(crate) fn occupancy_rows<T: Copy>(
    grid: &VoxelGrid,
    [empty, occupied]: [T; 2],
    take: impl FnMut(&[T]) -> io::Result<()>,
) -> io::Result<()> {
    rows(grid, &VoxelValues::uniform(()), empty, |()| occupied, take)
}

/// Calls `take` with the signed distances of all rows along `x`, `y` fastest, in voxels; outside
/// the band plus or minus the width. Takes the memory of eight rows.
pub(crate) fn distance_rows(
    field: &DistanceField,
    mut take: impl FnMut(&[f32]) -> io::Result<()>,
) -> io::Result<()> {
    let [nx, ny, nz] = field.dims().map(|d| d as usize);
    let size = BRICK as usize;
    let mut rows = vec![0.0; nx * size.min(ny)];
    for (z, y) in (0..nz).flat_map(|z| (0..ny).step_by(size).map(move |y| (z, y))) {
        let rows = &mut rows[..nx * size.min(ny - y)];
        for x in (0..nx).step_by(size) {
            let key = BrickKey::of_voxel([x, y, z].map(|c| c as u32));
            let distances = field.in_brick(key);
            for (y, row) in (0..).zip(rows.chunks_exact_mut(nx)) {
                for (x, value) in (0..).zip(row[x..].iter_mut().take(size)) {
                    *value = distances(x, BRICK * y + z as u32 % BRICK);
                }
            }
        }
        rows.chunks_exact(nx).try_for_each(&mut take)?;
    }
    Ok(())
}

/// Sets the voxels of a run at `z` within the bricks, in rows of `nx` voxels, to what `of` makes of
/// their word and bit.
fn put<T>(run: &BrickRun, z: u32, rows: &mut [T], nx: usize, of: impl Fn(u32, u32) -> T) {
    let begin = (run.start.position()[0] * BRICK) as usize;
    for (y, row) in (0..).zip(rows.chunks_exact_mut(nx)) {
        let bit = BRICK * y + z;
        for voxels in row[begin..].chunks_mut(BRICK as usize).take(run.len as usize) {
            for ((x, word), voxel) in (0..).zip(run.mask).zip(voxels) {
                if word >> bit & 1 == 1 {
                    *voxel = of(x, bit);
                }
            }
        }
    }
}
