//! Letters in pictures.

use embedded_graphics::geometry::Point;
use embedded_graphics::image::GetPixel;
use embedded_graphics::mono_font::MonoFont;
use embedded_graphics::mono_font::iso_8859_1::FONT_6X12;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::OriginDimensions;
use trivox::base::srgb::Rgba;

const FONT: MonoFont = FONT_6X12;

/// Width and height of a letter, in pixels.
pub const LETTER: [u32; 2] = [FONT.character_size.width, FONT.character_size.height];

pub const PAPER: Rgba = [243, 242, 238, 255];
pub const INK: Rgba = [48, 46, 44, 255];

/// Whether a pixel of a character, or of the font's replacement of one that it lacks, is set.
fn is_ink(character: char, x: u32, y: u32) -> bool {
    let index = FONT.glyph_mapping.index(character) as u32;
    let [width, height] = LETTER;
    let columns = FONT.image.size().width / width;
    let [x, y] = [index % columns * width + x, index / columns * height + y];
    FONT.image.pixel(Point::new(x as i32, y as i32)) == Some(BinaryColor::On)
}

/// Calls `ink` with each set pixel of a line of text that begins at `left` and `top`.
pub fn draw_line(
    text: impl IntoIterator<Item = char>,
    [left, top]: [u32; 2],
    mut ink: impl FnMut(u32, u32),
) {
    let [width, height] = LETTER;
    for (place, character) in (0..).zip(text) {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        for (x, y) in pixels.filter(|&(x, y)| is_ink(character, x, y)) {
            ink(left + place * width + x, top + y);
        }
    }
}
