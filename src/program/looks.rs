//! What voxels look like: the options about it, and the step that gives a grid its colours.

use anyhow::{Context, Result};
use trivox::formats::{ReadOptions, WriteOptions};
use trivox::grid::Colors;
use trivox::palette::Palette;
use trivox::srgb::Rgba;
use trivox::{BackendError, ColorOptions, Colored, Mode, PlacedMesh, Progress, VoxelGrid, color};

use crate::program::cli::FewColors;

/// Which colours voxels get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorChoice {
    /// Those of the mesh.
    Auto,
    /// None; what the mesh looks like plays no part at all.
    None,
    /// This one.
    One(Rgba),
}

impl ColorChoice {
    /// Of the command line.
    ///
    /// # Errors
    /// It is none; the message says what would be.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            _ => css_color(text).map(Self::One).ok_or_else(|| {
                "use auto, none or a CSS colour such as red, #fff or #C08040 (in quotes, where # begins \
                 a comment)"
                    .to_owned()
            }),
        }
    }
}

/// An opaque colour as CSS writes it: a name, or hexadecimal digits with or without `#`.
pub fn css_color(text: &str) -> Option<Rgba> {
    let color = csscolorparser::parse(text).ok()?.to_rgba8();
    (color[3] == u8::MAX).then_some(color)
}

/// What of a mesh's look is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Looks {
    pub mode: Mode,
    /// `None` where voxels get no colours, because none are wanted or none can be written.
    pub color: ColorChoice,
    /// Not to leave out voxels in which all is transparent.
    pub keep_transparent: bool,
}

impl Looks {
    /// For voxels of `mode` whose colours are of use or not.
    pub fn new(mode: Mode, color: ColorChoice, keep_transparent: bool, has_colors: bool) -> Self {
        let keep_transparent = keep_transparent || color == ColorChoice::None;
        let color = if has_colors { color } else { ColorChoice::None };
        Self { mode, color, keep_transparent }
    }

    /// Whether voxels may be left out for being transparent.
    fn leaves_out(&self) -> bool {
        !self.keep_transparent && !matches!(self.mode, Mode::Solid(_))
    }

    /// Reads of a mesh what is needed.
    pub fn read_options(&self) -> ReadOptions {
        match self.color == ColorChoice::Auto || self.leaves_out() {
            true => ReadOptions::default(),
            false => ReadOptions::default().without_appearance(),
        }
    }

    /// The grid as it looks, made in `memory` bytes.
    ///
    /// # Errors
    /// That is not enough.
    pub fn apply(
        &self,
        mesh: &PlacedMesh,
        grid: VoxelGrid,
        memory: u64,
        progress: &dyn Progress,
    ) -> Result<Colored, BackendError> {
        let mut options = ColorOptions::new(self.mode);
        options.keep_transparent = self.keep_transparent;
        options.memory = memory;
        let is_clear = || mesh.appearance().is_some_and(|look| look.has_transparency());
        let mut colored = match self.color == ColorChoice::Auto || self.leaves_out() && is_clear() {
            true => color(mesh, grid, &options, progress)?,
            false => Colored::without_colors(grid),
        };
        match self.color {
            ColorChoice::Auto => {}
            ColorChoice::None => colored.grid.colors = None,
            ColorChoice::One(color) => colored.grid.colors = Some(Colors::uniform(color)),
        }
        Ok(colored)
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
        let parse = |text: &str| ColorChoice::parse(text).ok();
        assert_eq!(parse("#C08040"), Some(ColorChoice::One([192, 128, 64, 255])));
        assert_eq!(parse("c08040"), parse("#C08040"));
        assert_eq!(parse("#fff"), Some(ColorChoice::One([255; 4])));
        assert_eq!(parse("red"), Some(ColorChoice::One([255, 0, 0, 255])));
        assert_eq!(
            [parse("auto"), parse("none")],
            [ColorChoice::Auto, ColorChoice::None].map(Some)
        );
        for text in ["", "#", "#C0804", "#C080401", "#C0804G", "+C0804", "##C08040", "mauve-ish"] {
            let message = ColorChoice::parse(text).unwrap_err();
            assert!(message.contains("#C08040"), "{text}: {message}");
        }
    }
}
