//! Prints a slice as characters.

use std::io::{self, Write};
use std::ops::Range;

use trivox::base::srgb::Rgba;

/// A row of voxels: the colours of the occupied ones.
type Row = Vec<Option<Rgba>>;

/// Writes the columns `shown` of `rows`, the top one first: with `is_ascii` as `#` and `.`, one
/// character per voxel, else as half blocks, two rows of voxels per line.
pub fn write(
    mut rows: impl Iterator<Item = Row>,
    shown: &Range<u32>,
    is_ascii: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let shown = shown.start as usize..shown.end as usize;
    let empty = vec![None; shown.end];
    while let Some(upper) = rows.next() {
        let line: String = if is_ascii {
            upper[shown.clone()].iter().map(ascii).collect()
        } else {
            let lower = rows.next();
            let lower = &lower.as_ref().unwrap_or(&empty)[shown.clone()];
            upper[shown.clone()].iter().zip(lower).map(block).collect()
        };
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn ascii(voxel: &Option<Rgba>) -> char {
    if voxel.is_some() { '#' } else { '.' }
}

fn block((upper, lower): (&Option<Rgba>, &Option<Rgba>)) -> char {
    match (upper.is_some(), lower.is_some()) {
        (false, false) => ' ',
        (true, false) => '▀',
        (false, true) => '▄',
        (true, true) => '█',
    }
}
