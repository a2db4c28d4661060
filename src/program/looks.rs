//! The options about the colours of voxels.

use anyhow::{Context, Result};
use trivox::formats::WriteOptions;
use trivox::palette::Palette;
use trivox::srgb::Rgba;
use trivox::{ColorSource, Voxelizer};

use crate::program::cli::{FewColors, What};

/// The colours that `--color` asks for.
///
/// # Errors
/// There are none of that name; the message says which there are.
pub fn parse_color(text: &str) -> Result<ColorSource, String> {
    match text {
        "auto" => Ok(ColorSource::Mesh),
        "none" => Ok(ColorSource::None),
        _ => css_color(text).map(ColorSource::Uniform).ok_or_else(|| {
            "use auto, none or a CSS colour such as red, #fff or #C08040 (in quotes, where # begins \
             a comment)"
                .to_owned()
        }),
    }
}

/// An opaque colour as CSS writes it: a name, or hexadecimal digits with or without `#`.
pub fn css_color(text: &str) -> Option<Rgba> {
    let color = csscolorparser::parse(text).ok()?.to_rgba8();
    (color[3] == u8::MAX).then_some(color)
}

impl What {
    /// `voxelizer` for these voxels, whose colours are of use or not.
    pub fn of(&self, voxelizer: Voxelizer, color: ColorSource, has_colors: bool) -> Voxelizer {
        let keep_transparent = self.keep_transparent || color == ColorSource::None;
        let color = if has_colors { color } else { ColorSource::None };
        let voxelizer = voxelizer.mode(self.mode()).color(color).keep_transparent(keep_transparent);
        self.interior_color.into_iter().fold(voxelizer, Voxelizer::interior_color)
    }
}

impl FewColors {
    /// How grids are written in formats that have few colours.
    ///
    /// # Errors
    /// There is no palette in the file that is named.
    pub fn write_options(&self) -> Result<WriteOptions> {
        let options = WriteOptions::default().with_dither(self.dither);
        let Some(path) = &self.palette else { return Ok(options) };
        let palette = Palette::read(path).with_context(|| path.display().to_string())?;
        Ok(options.with_palette(palette))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_css() {
        let parse = |text: &str| parse_color(text).ok();
        assert_eq!(parse("#C08040"), Some(ColorSource::Uniform([192, 128, 64, 255])));
        assert_eq!(parse("c08040"), parse("#C08040"));
        assert_eq!(parse("#fff"), Some(ColorSource::Uniform([255; 4])));
        assert_eq!(parse("red"), Some(ColorSource::Uniform([255, 0, 0, 255])));
        assert_eq!(
            [parse("auto"), parse("none")],
            [ColorSource::Mesh, ColorSource::None].map(Some)
        );
        for text in ["", "#", "#C0804", "#C080401", "#C0804G", "+C0804", "##C08040", "mauve-ish"] {
            let message = parse_color(text).unwrap_err();
            assert!(message.contains("#C08040"), "{text}: {message}");
        }
    }
}
