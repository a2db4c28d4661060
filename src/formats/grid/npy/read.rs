//! Reading occupancy: bricks by slices of the file's slowest axis.

use std::io::BufRead;

use super::header::{Coordinates, Header, Kind};
use crate::formats::grid::brick_slice::{BRICK_BYTES, BrickSlice};
use crate::formats::grid::dense::ONES;
use crate::formats::io::bytes::{ended, fill, read_exactly};
use crate::formats::{ReadError, check_memory, checked_dims};
use crate::grid::{BrickKey, FULL, Mask, VoxelGrid, bits_of_bytes, mask_place, mask_voxels};

/// Reads the array after the header: its bricks, each once, in at most `limit` bytes of memory.
pub(super) fn bricks(
    input: &mut dyn BufRead,
    header: &Header,
    limit: u64,
) -> Result<Vec<(BrickKey, Mask)>, ReadError> {
    let [slow, mid, fast] = header.file_order(header.dims).map(|d| d as usize);
    let mut bricks = Vec::new();
    // By brick, the fastest axis first. In the file's axes: word = slowest, bit = `8 mid + fast`.
    let mut slice = BrickSlice::new();
    let per_row = fast.div_ceil(8);
    let size = header.element.bytes;
    let mut elements = vec![0; mid.min(8) * fast * size];
    let mut occupied = Vec::new();
    for s in 0..slow {
        for m in (0..mid).step_by(8) {
            let elements = &mut elements[..(mid - m).min(8) * fast * size];
            let before = (s * mid + m) as u64 * fast as u64;
            let (done, all) = (before * size as u64, header.bytes());
            fill(input, elements, format_args!("the array, after {done} or more of {all} bytes"))?;
            let rows = match header.element.kind {
                Kind::Float => {
                    occupied.clear();
                    for (index, float) in (before..).zip(elements.chunks_exact(size)) {
                        occupied.push(zero_or_one(index, header.element.number(float))?);
                    }
                    &occupied[..]
                }
                _ if size > 1 => {
                    let is_set = |integer: &[u8]| u8::from(integer.iter().any(|&byte| byte != 0));
                    occupied.clear();
                    occupied.extend(elements.chunks_exact(size).map(is_set));
                    &occupied[..]
                }
                _ => elements,
            };
            if header.element.kind == Kind::Bool {
                check_bools(rows, before)?;
            }
            for (n, row) in rows.chunks_exact(fast).enumerate() {
                add_row(&mut slice, m / 8 * per_row, [s % 8, n], row);
            }
            check_memory((bricks.len() + 2 * slice.len()) as u64 * BRICK_BYTES, limit)?;
        }
        if s % 8 == 7 || s + 1 == slow {
            bricks.extend(slice.drain().map(|(brick, mask)| {
                let position = [s / 8, brick / per_row, brick % per_row].map(|b| b as u32);
                let key = BrickKey::new(header.file_order(position));
                (key, if header.is_fortran { exchange_x_z(&mask) } else { mask })
            }));
        }
    }
    Ok(bricks)
}

/// A float, which must be 0 or 1.
fn zero_or_one(index: u64, value: f64) -> Result<u8, ReadError> {
    match value {
        0.0 => Ok(0),
        1.0 => Ok(1),
        _ => bail!(
            "element {index} is {value}, but of floats only 0 and 1 are read (distances are \
             read from .npz, .vti, .vdb and .nvdb)"
        ),
    }
}

/// The grid of voxels given by their coordinates, which ends at the largest of each axis.
pub(super) fn coordinates(
    input: &mut dyn BufRead,
    array: &Coordinates,
    limit: u64,
) -> Result<VoxelGrid, ReadError> {
    let &Coordinates { count, integer, is_fortran } = array;
    let length = count.saturating_mul(3 * integer.bytes as u64);
    // The numbers, and bricks as their list grows.
    check_memory(length.saturating_add(count.saturating_mul(BRICK_BYTES)), limit)?;
    let what = format_args!("the array, which has {length} bytes");
    let bytes = read_exactly(input, length).map_err(|error| ended(error, what))?;
    let number = |voxel: usize, axis: usize| {
        let at = if is_fortran { axis * count as usize + voxel } else { 3 * voxel + axis };
        integer.integer(&bytes[at * integer.bytes..])
    };
    let mut dims = [0; 3];
    for voxel in 0..count as usize {
        for (axis, length) in dims.iter_mut().enumerate() {
            let coordinate = number(voxel, axis);
            *length = u64::try_from(coordinate + 1).unwrap_or(0).max(*length);
            ensure!(
                coordinate >= 0,
                "voxel {voxel} has the coordinate {coordinate}: coordinates begin at 0"
            );
        }
    }
    let dims = checked_dims(dims)?;
    let voxels = (0..count as usize).map(|voxel| [0, 1, 2].map(|axis| number(voxel, axis) as u32));
    Ok(VoxelGrid::from_voxels(dims, voxels)?)
}

fn check_bools(rows: &[u8], before: u64) -> Result<(), ReadError> {
    // A fold vectorizes, and runs at memory bandwidth.
    if rows.iter().fold(0, |all, byte| all | byte) <= 1 {
        return Ok(());
    }
    let index = rows.iter().position(|&byte| byte > 1).unwrap_or_default();
    let (value, index) = (rows[index], before + index as u64);
    bail!("element {index} is {value}, but a bool is 0 or 1")
}

/// Adds a row at these places in its bricks along the two slower axes; `begin` is its first brick.
fn add_row(slice: &mut BrickSlice<Mask>, begin: usize, [slow, mid]: [usize; 2], row: &[u8]) {
    let (eights, rest) = row.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for (brick, eight) in (begin..).zip(eights.iter().chain([&last])) {
        let word = u64::from_le_bytes(*eight);
        // A last one that is empty is of no brick.
        if word != 0 {
            let bits = bits_of_bytes(ones_where_not_zero(word)) << (8 * mid);
            slice.get_or_insert(brick, || [0; 8])[slow] |= bits;
        }
    }
}

/// Maps each nonzero byte to 1.
fn ones_where_not_zero(word: u64) -> u64 {
    let low_bits = 0x7f * ONES;
    ((((word & low_bits) + low_bits) | word) >> 7) & ONES
}

fn exchange_x_z(mask: &Mask) -> Mask {
    if *mask == FULL {
        return FULL;
    }
    mask_voxels([0; 3], *mask).fold([0; 8], |mut exchanged: Mask, [x, y, z]| {
        let (slice, bit) = mask_place([z, y, x]);
        exchanged[slice] |= 1 << bit;
        exchanged
    })
}
