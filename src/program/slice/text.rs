//! A slice in characters.

use std::io::{self, Write};
use std::ops::Range;

use trivox::srgb::Rgba;

/// How voxels style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `#` and `.`, a character a voxel.
    Ascii,
    /// Blocks of half a character, two rows a line.
    Blocks,
    /// The same, in colours of 24 bits.
    Colors,
}

/// A row of voxels: their colours, where they are occupied.
type Row = Vec<Option<Rgba>>;

/// Writes the columns `shown` of `rows`, the topmost first.
///
/// # Errors
/// `out` cannot be written to.
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

/// A line of pairs, an upper and a lower voxel, in their colours.
fn colored(pairs: impl Iterator<Item = (Option<Rgba>, Option<Rgba>)>) -> String {
    let mut line = String::new();
    // Of the terminal: what is written, and what is behind it.
    let mut now = (None, None);
    for (upper, lower) in pairs {
        // The lower half of a block is its background, where the upper one is there too.
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

/// VoxelArgs makes a terminal take a colour for what `target` says, or its own.
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
