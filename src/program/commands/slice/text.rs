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
    /// Half blocks in 24-bit colours.
    Colors,
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
        let line = match style {
            Style::Ascii => upper[shown.clone()].iter().map(ascii).collect(),
            Style::Blocks | Style::Colors => {
                let lower = rows.next();
                let lower = &lower.as_ref().unwrap_or(&empty)[shown.clone()];
                let pairs = upper[shown.clone()].iter().copied().zip(lower.iter().copied());
                if style == Style::Colors { colored(pairs) } else { pairs.map(block).collect() }
            }
        };
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn ascii(voxel: &Option<Rgba>) -> char {
    if voxel.is_some() { '#' } else { '.' }
}

fn block((upper, lower): (Option<Rgba>, Option<Rgba>)) -> char {
    match (upper.is_some(), lower.is_some()) {
        (false, false) => ' ',
        (true, false) => '▀',
        (false, true) => '▄',
        (true, true) => '█',
    }
}

/// A line of pairs of an upper and a lower voxel, in colours.
fn colored(pairs: impl Iterator<Item = (Option<Rgba>, Option<Rgba>)>) -> String {
    let mut line = String::new();
    // The terminal's current foreground and background.
    let mut now = (None, None);
    for (upper, lower) in pairs {
        // Where both voxels are occupied, the lower one is the background of an upper half block.
        let (character, colors) = match (upper, lower) {
            (Some(_), Some(_)) => ('▀', (upper, lower)),
            (None, None) => (' ', (now.0, None)),
            _ => (block((upper, lower)), (upper.or(lower), None)),
        };
        if colors != now {
            line += &escape(38, colors.0);
            line += &escape(48, colors.1);
            now = colors;
        }
        line.push(character);
    }
    if now != (None, None) {
        line += "\x1b[0m";
    }
    line
}

/// The escape sequence that sets the colour of `target`, or resets it.
fn escape(target: u8, color: Option<Rgba>) -> String {
    match color {
        Some([r, g, b, _]) => format!("\x1b[{target};2;{r};{g};{b}m"),
        None => format!("\x1b[{}m", target + 1),
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

    #[test]
    fn colours_change_where_they_must_and_end_with_the_line() {
        let rows = [vec![RED, RED, None, None, BLUE], vec![BLUE, BLUE, None, RED, None]];
        let expected = "\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m▀▀\x1b[38;2;255;0;0m\x1b[49m ▄\
                        \x1b[38;2;0;0;255m\x1b[49m▀\x1b[0m\n";
        assert_eq!(text(&rows, 0..5, Style::Colors), expected);
        assert_eq!(text(&rows, 2..3, Style::Colors), " \n");
    }
}
