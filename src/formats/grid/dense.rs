//! Dense arrays of voxels, `x` fastest, then `y`, then `z`, as in most dense formats.

use std::io;

use crate::base::srgb::Rgba;
use crate::grid::{
    Attribute, Attributes, BRICK, BrickKey, BrickRun, Colors, FULL, SurfaceSample, VoxelGrid,
    VoxelValues,
};

/// The number of voxels of a grid of `dims`.
pub(crate) fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().map(|&d| u64::from(d)).product()
}

/// 1 in each byte of a word.
pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;

/// Unpacks bits: byte `i` is bit `i`.
pub(crate) fn bytes_of_bits(bits: u8) -> [u8; 8] {
    // Byte i keeps bit i alone, at most 128; adding 127 carries it, if set, to the byte's top.
    let spread = (u64::from(bits) * ONES) & 0x8040_2010_0804_0201;
    (((spread + 0x7f * ONES) >> 7) & ONES).to_le_bytes()
}

/// Packs bits: bit `i` is byte `i`, which must be 0 or 1.
pub(crate) fn bits_of_bytes(word: u64) -> u64 {
    // Byte i, at bit 8 i, is shifted by 56 - 7 i to bit 56 + i; no two partial products overlap.
    word.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Calls `take` with all rows along `x`, `y` fastest: a byte per voxel, 1 if occupied. Takes eight
/// bytes of memory per voxel along `x`.
pub(crate) fn rows(grid: &VoxelGrid, take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    rows_of(grid, 0, |run, z, rows, nx| fill(run, z, rows, nx, [0, 1]), take)
}

/// As [`rows`] with the colour of each voxel, zeros if empty; four times the memory.
pub(crate) fn color_rows(
    grid: &VoxelGrid,
    colors: &Colors,
    take: impl FnMut(&[Rgba]) -> io::Result<()>,
) -> io::Result<()> {
    let fill = |run: &BrickRun, z, rows: &mut [Rgba], nx| {
        fill_values(run, colors, z, rows, nx, [0; 4], |color| color);
    };
    rows_of(grid, [0; 4], fill, take)
}

/// As [`rows`] with the components of an attribute; twelve times the memory.
pub(crate) fn attribute_rows(
    grid: &VoxelGrid,
    attributes: &Attributes,
    attribute: Attribute,
    take: impl FnMut(&[[[u8; 4]; 3]]) -> io::Result<()>,
) -> io::Result<()> {
    let empty = attribute.bytes_of(&SurfaceSample::NONE);
    let fill = |run: &BrickRun, z, rows: &mut [[[u8; 4]; 3]], nx| {
        let bytes = |sample| attribute.bytes_of(&sample);
        fill_values(run, attributes.values(), z, rows, nx, empty, bytes);
    };
    rows_of(grid, empty, fill, take)
}

/// All rows. `put` sets the voxels of a run at `z` within its bricks, in rows of the given length.
fn rows_of<T: Copy>(
    grid: &VoxelGrid,
    empty: T,
    put: impl Fn(&BrickRun, u32, &mut [T], usize),
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
                put(&run, z % BRICK, rows, nx as usize);
            }
            rows.chunks_exact(nx as usize).try_for_each(&mut take)?;
        }
    }
    Ok(())
}

/// Sets the voxels at `z` within the bricks to `empty` or `value`, in rows of `nx` voxels.
fn fill<T: Copy>(run: &BrickRun, z: u32, rows: &mut [T], nx: usize, [empty, value]: [T; 2]) {
    let begin = (run.start.position()[0] * BRICK) as usize;
    let end = begin + (run.len * BRICK) as usize;
    for (y, row) in rows.chunks_exact_mut(nx).enumerate() {
        if run.mask == FULL {
            row[begin..end].fill(value);
            continue;
        }
        let bit = BRICK as usize * y + z as usize;
        for (voxel, word) in row[begin..].iter_mut().zip(run.mask) {
            *voxel = if word >> bit & 1 == 1 { value } else { empty };
        }
    }
}

/// Sets the voxels at `z` within the bricks to what `of` makes of their values, in rows of `nx`
/// voxels.
fn fill_values<V: Copy + Sync, T: Copy>(
    run: &BrickRun,
    values: &VoxelValues<V>,
    z: u32,
    rows: &mut [T],
    nx: usize,
    empty: T,
    of: impl Fn(V) -> T,
) {
    fill(run, z, rows, nx, [empty, of(values.rest())]);
    for (key, brick) in values.between(run.start, run.start.along_x(run.len)) {
        let begin = (key.position()[0] * BRICK) as usize;
        for (y, row) in (0..).zip(rows.chunks_exact_mut(nx)) {
            let bit = BRICK * y + z;
            for (x, (voxel, word)) in (0..).zip(row[begin..].iter_mut().zip(run.mask)) {
                if word >> bit & 1 == 1 {
                    *voxel = of(brick.at(x, bit));
                }
            }
        }
    }
}
