//! Prints a slice as characters.

use std::io::{self, Write};
use std::ops::Range;

use trivox::base::srgb::Rgba;

/// The characters of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `#` and `.`, one character per voxel.
    Ascii,
    /// Half blocks, two rows of voxels per line.
    Blocks,
}

/// A row of voxels: the colours of the occupied ones.
type Row = Vec<Option<Rgba>>;

/// Writes the columns `shown` of `rows`, the top one first.
pub fn write(
    mut rows: impl Iterator<Item = Row>,
    shown: &Range<u32>,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let shown = shown.start as usize..shown.end as usize;
    let empty = vec![None; shown.end];
    while let Some(upper) = rows.next() {
        let line: String = match style {
            Style::Ascii => upper[shown.clone()].iter().map(ascii).collect(),
            Style::Blocks => {
                let lower = rows.next();
                let lower = &lower.as_ref().unwrap_or(&empty)[shown.clone()];
                upper[shown.clone()].iter().zip(lower).map(block).collect()
            }
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const RED: Option<Rgba> = Some([255, 0, 0, 255]);
    const BLUE: Option<Rgba> = Some([0, 0, 255, 255]);

    fn text(rows: &[Row], shown: Range<u32>, style: Style) -> String {
        let mut out = Vec::new();
        write(rows.iter().cloned(), &shown, style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_are_lines_of_ascii_or_halves_of_blocks() {
        let rows = [vec![RED, None, RED, None], vec![None, None, RED, RED], vec![BLUE; 4]];
        assert_eq!(text(&rows, 0..4, Style::Ascii), "#.#.\n..##\n####\n");
        assert_eq!(text(&rows, 0..4, Style::Blocks), "▀ █▄\n▀▀▀▀\n");
        assert_eq!(text(&rows, 1..3, Style::Ascii), ".#\n.#\n##\n");
        assert_eq!(text(&rows, 2..4, Style::Blocks), "█▄\n▀▀\n");
    }
}
