//! Reading occupancy: bricks by slabs of the file's slowest axis.

use std::io::BufRead;

use super::header::{Element, Header};
use crate::formats::grid::dense::{ONES, bits_of_bytes};
use crate::formats::grid::slab::BrickSlab;
use crate::formats::io::bytes::fill;
use crate::formats::{ReadError, content};
use crate::grid::{BrickKey, FULL, Mask, mask_place, mask_voxels};

/// Reads the array after the header: its bricks, each once.
pub(super) fn bricks(
    input: &mut dyn BufRead,
    header: &Header,
) -> Result<Vec<(BrickKey, Mask)>, ReadError> {
    let [slow, mid, fast] = header.file_order(header.dims).map(|d| d as usize);
    let mut bricks = Vec::new();
    let mut slab = ReadSlab { row: fast, masks: BrickSlab::new() };
    let mut rows = vec![0; mid.min(8) * fast];
    for s in 0..slow {
        for m in (0..mid).step_by(8) {
            let rows = &mut rows[..(mid - m).min(8) * fast];
            let before = (s * mid + m) as u64 * fast as u64;
            let all = header.voxels();
            fill(input, rows, format_args!("the array, after {before} or more of {all} bytes"))?;
            if header.element == Element::Bool {
                check_bools(rows, before)?;
            }
            slab.add_rows(s % 8, m / 8, rows);
        }
        if s % 8 == 7 || s + 1 == slow {
            slab.drain(s / 8, header, &mut bricks);
        }
    }
    Ok(bricks)
}

fn check_bools(rows: &[u8], before: u64) -> Result<(), ReadError> {
    // A fold vectorizes, and runs at memory bandwidth.
    if rows.iter().fold(0, |all, byte| all | byte) <= 1 {
        return Ok(());
    }
    let index = rows.iter().position(|&byte| byte > 1).unwrap_or_default();
    let (value, index) = (rows[index], before + index as u64);
    Err(content(format!("element {index} is {value}, but a bool is 0 or 1")))
}

/// A slab one brick thick, in the file's axes: word = slowest, bit = `8 mid + fast`.
struct ReadSlab {
    /// Voxels along the fastest axis.
    row: usize,
    /// By brick, fastest axis first.
    masks: BrickSlab<Mask>,
}

impl ReadSlab {
    /// Adds up to eight rows at `slow` within the slab and at brick `mid`.
    fn add_rows(&mut self, slow: usize, mid: usize, rows: &[u8]) {
        let bricks = self.row.div_ceil(8);
        let begin = mid * bricks;
        for (m, row) in rows.chunks_exact(self.row).enumerate() {
            let (eights, rest) = row.as_chunks::<8>();
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            for (brick, eight) in (begin..begin + bricks).zip(eights.iter().chain([&last])) {
                let word = u64::from_le_bytes(*eight);
                if word != 0 {
                    let bits = bits_of_bytes(ones_where_not_zero(word)) << (8 * m);
                    self.masks.get_or_insert(brick, || [0; 8])[slow] |= bits;
                }
            }
        }
    }

    /// Moves the bricks of the slab at `slow` (in bricks) to `bricks`.
    fn drain(&mut self, slow: usize, header: &Header, bricks: &mut Vec<(BrickKey, Mask)>) {
        let per_row = self.row.div_ceil(8);
        for (brick, mask) in self.masks.drain() {
            let position = [slow, brick / per_row, brick % per_row].map(|b| b as u32);
            let key = BrickKey::new(header.file_order(position));
            bricks.push((key, if header.is_fortran { exchange_x_z(&mask) } else { mask }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::grid::dense::bytes_of_bits;

    #[test]
    fn bytes_and_bits_convert_as_defined() {
        for bits in 0..=u8::MAX {
            let bytes = bytes_of_bits(bits);
            assert_eq!(bytes, std::array::from_fn(|i| bits >> i & 1));
            assert_eq!(bits_of_bytes(u64::from_le_bytes(bytes)), u64::from(bits));
        }
        for (byte, one) in (0..=u8::MAX).map(|byte| (byte, u8::from(byte != 0))) {
            let word = u64::from_le_bytes([byte, 0, 255, byte, byte, 0, 0, byte]);
            let ones = u64::from_le_bytes([one, 0, 1, one, one, 0, 0, one]);
            assert_eq!(ones_where_not_zero(word), ones, "{byte}");
        }
    }
}
