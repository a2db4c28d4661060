//! From the colours of a grid to the few that an indexed format has: at most [`MAX_COLORS`].
//!
//! All of them, where they are no more; else those by which the voxels look most alike, in Oklab (B.
//! Ottosson, "A perceptual color space for image processing", 2020), or those of a given palette. What
//! a voxel gets is the nearest of them, or with dithering one of several, such that their mean is its
//! colour. How opaque colours are plays no part.
//!
//! All of it is the same on every machine, whatever the number of threads: sums of integers, and
//! floating point with additions, multiplications, divisions and square roots only, in a fixed order.

use std::collections::HashSet;
use std::path::Path;

use thiserror::Error;

use crate::appearance::Texture;
use crate::grid::VoxelGrid;
use crate::srgb::Rgba;

pub use self::indexed::IndexedColors;

mod distinct;
mod dither;
mod indexed;
mod nearest;
mod quantize;

/// An sRGB colour.
type Rgb = [u8; 3];

/// Most colours of a palette: an index is a byte, and one of its values means that there is no voxel.
pub const MAX_COLORS: usize = 255;

/// Colours in the order of their indices, at most [`MAX_COLORS`]; some may be unused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// Opaque, or [`UNUSED`]; one at least is opaque.
    colors: Vec<Rgba>,
}

/// Of an index that no voxel gets.
const UNUSED: Rgba = [0; 4];

/// Why something is no palette.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PaletteError {
    /// The operating system could not read it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It is not an image that can be read.
    #[error("not an image to take a palette from: {0}")]
    Image(String),
    /// There is no colour.
    #[error("a palette needs a colour, but all pixels are fully transparent")]
    Empty,
    /// There are more colours than indices.
    #[error(
        "a palette has at most {MAX_COLORS} colours, but the image has more: give one of fewer, \
         or none to have them chosen"
    )]
    TooMany,
}

impl Palette {
    /// Of these colours, in this order, whatever their opacity; those that are fully transparent are
    /// unused indices.
    ///
    /// # Errors
    /// None that is visible, or more than [`MAX_COLORS`].
    pub fn new(colors: &[Rgba]) -> Result<Self, PaletteError> {
        let used = |&[r, g, b, opacity]: &Rgba| if opacity > 0 { [r, g, b, 255] } else { UNUSED };
        let colors: Vec<Rgba> = colors.iter().map(used).collect();
        match colors.len() {
            _ if colors.iter().all(|&color| color == UNUSED) => Err(PaletteError::Empty),
            0..=MAX_COLORS => Ok(Self { colors }),
            _ => Err(PaletteError::TooMany),
        }
    }

    /// Of the pixels of an image. One of 256 by 1 pixels is a palette as MagicaVoxel has them: its
    /// pixels are the colours of the indices in order, and the last has none. Of any other they are
    /// the different colours of pixels, in the order in which they come first, row by row.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_image(image: &Texture) -> Result<Self, PaletteError> {
        if image.size() == [MAX_COLORS as u32 + 1, 1] {
            return Self::new(&image.texels()[..MAX_COLORS]);
        }
        let mut seen = HashSet::new();
        let visible = image.texels().iter().filter(|texel| texel[3] > 0);
        let new = visible.filter(|&&[r, g, b, _]| seen.insert([r, g, b]));
        let colors: Vec<Rgba> = new.take(MAX_COLORS + 1).copied().collect();
        Self::new(&colors)
    }

    /// Of the pixels of the image in a file, as [`of_image`](Self::of_image).
    ///
    /// # Errors
    /// The file cannot be read, is not an image, or of none that has a palette.
    pub fn read(path: &Path) -> Result<Self, PaletteError> {
        /// Bytes, for an image of 16 million pixels.
        const LIMIT: u64 = 1 << 28;
        let bytes = std::fs::read(path)?;
        let image = Texture::decode(&bytes, &path.to_string_lossy(), LIMIT);
        Self::of_image(&image.map_err(PaletteError::Image)?)
    }

    /// By which the voxels of `grid` look most alike; `None` where it has no colours.
    #[must_use]
    pub fn of_grid(grid: &VoxelGrid) -> Option<Self> {
        let colors = grid.colors.as_ref()?;
        let distinct = distinct::Distinct::new(colors, grid.occupied());
        Some(Self::of_distinct(&distinct, || distinct.counts(colors, grid.occupied())))
    }

    /// Of colours that come so often.
    fn of_distinct(distinct: &distinct::Distinct, counts: impl FnOnce() -> Vec<u64>) -> Self {
        let mut colors = distinct.colors();
        if colors.len() > MAX_COLORS {
            colors = quantize::quantize(&colors, &counts());
        }
        nearest::sort(&mut colors);
        Self { colors: colors.into_iter().map(|[r, g, b]| [r, g, b, 255]).collect() }
    }

    /// The colours in the order of their indices, opaque; those of unused indices are transparent.
    #[must_use]
    pub fn colors(&self) -> &[Rgba] {
        &self.colors
    }
}

/// How many different colours the voxels of `grid` have.
#[must_use]
pub fn count_colors(grid: &VoxelGrid) -> usize {
    let distinct =
        grid.colors.as_ref().map(|colors| distinct::Distinct::new(colors, grid.occupied()));
    distinct.map_or(0, |distinct| distinct.len())
}
