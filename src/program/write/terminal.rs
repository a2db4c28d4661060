//! A picture in a terminal: each character has two pixels, one above the other.

use std::env;
use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use anyhow::Result;
use clap::builder::styling::{Ansi256Color, Color, RgbColor, Style};
use terminal_size::{Height, Width, terminal_size_of};
use trivox::base::srgb::Rgba;
use trivox::view::render::{Background, Picture, RenderOptions, Renderer};
use trivox::{Progress, VoxelGrid};

/// Most pixels a side: 64 columns of characters, 32 rows.
const SIDE: u32 = 64;

/// Opacity of the faintest pixel that is drawn; half of the highest if all are fainter.
const OPAQUE: u8 = 128;

/// Whether standard error shows colours.
pub fn has_colors() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Writes a picture to standard error; ignores failures, as for messages.
pub fn print(picture: &str) {
    _ = anstream::stderr().lock().write_all(picture.as_bytes());
}

/// `grid` drawn in characters that fit the terminal of standard error.
pub fn draw(grid: &VoxelGrid, progress: &dyn Progress) -> Result<String> {
    let side = terminal_size_of(io::stderr()).map_or(SIDE, |(Width(columns), Height(rows))| {
        // Two rows remain for the prompt.
        let rows = u32::from(rows).saturating_sub(2);
        u32::from(columns).min(2 * rows).clamp(2, SIDE) & !1
    });
    let options = RenderOptions {
        background: Background::Transparent,
        edges: false,
        margin: 0.0,
        ..RenderOptions::new([side; 2])
    };
    let picture = Renderer::new(grid).render(&options, progress)?;
    let is_true = env::var("COLORTERM").is_ok_and(|kind| ["truecolor", "24bit"].contains(&&*kind));
    Ok(text(&picture, if is_true { true_color } else { nearest_of_256 }))
}

/// The rows of characters of `picture`, without empty ones above and below.
fn text(picture: &Picture, color: fn(Rgba) -> Color) -> String {
    let [width, height] = picture.size();
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
    // Of voxels thinner than a pixel, all pixels may be faint.
    let most = pixels.map(|[x, y]| picture.at(x, y)[3]).max().unwrap_or_default();
    let opaque = if most < OPAQUE { (most / 2).max(1) } else { OPAQUE };
    let character = |x: u32, y: u32| {
        let [top, bottom] = [y, y + 1].map(|y| {
            let pixel = picture.at(x, y);
            (pixel[3] >= opaque).then(|| color(pixel))
        });
        let (ink, glyph) = if top.is_some() { (top, '▀') } else { (bottom, '▄') };
        let paper = top.and(bottom);
        let style = Style::new().fg_color(ink).bg_color(paper);
        if ink.is_some() { format!("{style}{glyph}{style:#}") } else { " ".to_owned() }
    };
    let row =
        |y: u32| (0..width).map(|x| character(x, y)).collect::<String>().trim_end().to_owned();
    let rows: Vec<String> = (0..height).step_by(2).map(row).collect();
    format!("{}\n", rows.join("\n").trim_matches('\n'))
}

fn true_color([r, g, b, _]: Rgba) -> Color {
    RgbColor(r, g, b).into()
}

/// A colour of xterm's cube of 6 x 6 x 6, whose levels are 0 and 95 to 255 in steps of 40.
fn nearest_of_256([r, g, b, _]: Rgba) -> Color {
    let level = |value: u8| if value < 48 { 0 } else { (value.saturating_sub(35) / 40).max(1) };
    Ansi256Color(16 + 36 * level(r) + 6 * level(g) + level(b)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_of_256_are_the_nearest_of_the_cube() {
        let levels = [0, 95, 135, 175, 215, 255];
        for value in 0..=u8::MAX {
            let Color::Ansi256(color) = nearest_of_256([value, 0, 255, 0]) else { panic!() };
            let level = usize::from((color.0 - 16 - 5) / 36);
            let distance = |level: usize| value.abs_diff(levels[level]);
            assert!((0..6).all(|other| distance(level) <= distance(other)), "{value}: {level}");
        }
    }
}
