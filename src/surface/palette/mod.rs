//! Colour quantization: maps the colours of a grid to the palette of an indexed format, of at most
//! [`MAX_COLORS`].
//!
//! The palette is given; or it holds all colours of the grid if they fit; or it is quantized to
//! minimize the error in Oklab (B. Ottosson, "A perceptual color space for image processing",
//! 2020). A voxel gets the nearest palette colour or, dithered, one of a mixture whose mean is its
//! colour. Opacity is ignored.
//!
//! The result is the same on every machine and for any number of threads: integer sums, and
//! floating-point additions, multiplications, divisions and square roots in a fixed order.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::srgb::Rgba;
use crate::grid::{Colors, VoxelGrid};
use crate::mesh::appearance::{Texture, TextureError};

use self::color_set::ColorSet;
pub use self::indexed::IndexedColors;

mod color_set;
mod dither;
mod indexed;
mod nearest;
mod quantize;

/// An sRGB colour.
type Rgb = [u8; 3];

/// Largest size of a palette: an index is a byte, of which one value means an empty voxel.
pub const MAX_COLORS: usize = 255;

/// At most [`MAX_COLORS`] colours by index; some indices may be unused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// Opaque, or [`UNUSED`]; at least one is opaque.
    colors: Vec<Rgba>,
    matching: Matching,
}

/// How the colours of a palette are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matching {
    /// A palette quantized from the colours.
    Chosen,
    /// A palette of the user, perhaps of few colours: hue counts more than lightness, so that a
    /// coloured surface keeps its hue in the shade.
    Given,
    /// Blocks, matched as a given palette. Blocks that differ much are not mixed.
    Blocks,
}

impl Matching {
    /// The weight of a difference in lightness against one in hue or chroma, in Oklab.
    fn lightness(self) -> f32 {
        match self {
            Self::Chosen => 1.0,
            Self::Given | Self::Blocks => 0.5,
        }
    }

    /// The largest distance in Oklab, with the weight of lightness, of a colour that is mixed,
    /// where the nearest is at `least`. Chosen by eye: a voxel of another hue stands out.
    fn mixing_distance(self, least: f32) -> f32 {
        match self {
            Self::Chosen => least + 0.05,
            // Any of a few colours may be on the other side of the wanted one.
            Self::Given => f32::INFINITY,
            Self::Blocks => least + 0.01 + 3.0 * least * least,
        }
    }
}

/// Marks an index that no voxel gets.
const UNUSED: Rgba = [0; 4];

/// An error of making a palette of colours or of an image.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PaletteError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is not an image of a supported format.
    #[error("not an image to take a palette from")]
    Image(#[from] TextureError),
    /// All colours are fully transparent.
    #[error("a palette needs a colour, but all pixels are fully transparent")]
    Empty,
    /// There are more colours than indices.
    #[error(
        "a palette has at most {MAX_COLORS} colours, but the image has more: give one of fewer, \
         or none to have them chosen"
    )]
    TooMany,
}

impl ErrorCode for PaletteError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => error.code(),
            Self::Image(error) => error.code(),
            Self::Empty | Self::TooMany => "option.palette",
        }
    }
}

impl Palette {
    /// A palette of `colors` by index. Fully transparent colours are unused indices; all others
    /// become opaque.
    ///
    /// # Errors
    /// No colour that is not fully transparent, or more than [`MAX_COLORS`].
    pub fn new(colors: &[Rgba]) -> Result<Self, PaletteError> {
        let used = |&[r, g, b, opacity]: &Rgba| if opacity > 0 { [r, g, b, 255] } else { UNUSED };
        let colors: Vec<Rgba> = colors.iter().map(used).collect();
        match colors.len() {
            _ if colors.iter().all(|&color| color == UNUSED) => Err(PaletteError::Empty),
            0..=MAX_COLORS => Ok(Self { colors, matching: Matching::Given }),
            _ => Err(PaletteError::TooMany),
        }
    }

    /// A palette of blocks.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn of_blocks(colors: &[Rgba]) -> Result<Self, PaletteError> {
        Ok(Self { matching: Matching::Blocks, ..Self::new(colors)? })
    }

    /// The palette without the colours that look like one of more voxels, whose numbers are
    /// `counts`. Their indices are unused.
    pub(crate) fn without_alike(&self, counts: &[u64]) -> Self {
        /// In Oklab with the weight of lightness: neighbouring shades of stone differ by less.
        const ALIKE: f32 = 0.025;
        let colors: Vec<Rgb> = self.colors.iter().map(|&[r, g, b, _]| [r, g, b]).collect();
        let points = nearest::points(&colors, self.matching);
        let mut order: Vec<usize> = (0..colors.len()).collect();
        order.sort_by_key(|&index| Reverse(counts[index]));
        let (mut kept, mut distinct) = (Vec::new(), vec![UNUSED; colors.len()]);
        for index in order.into_iter().filter(|&index| self.colors[index] != UNUSED) {
            let distance = |other| nearest::squared_distance(points[index], other).sqrt();
            let is_alike = |&other| distance(other) < ALIKE;
            if !kept.iter().any(is_alike) {
                kept.push(points[index]);
                distinct[index] = self.colors[index];
            }
        }
        Self { colors: distinct, matching: self.matching }
    }

    /// The palette of an image. The pixels of a 256 by 1 image are the colours by index, as
    /// MagicaVoxel exports them, without the last one. Any other image gives its distinct colours,
    /// in the order of their first pixels, row by row.
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

    /// The palette of an image file, as [`of_image`](Self::of_image).
    ///
    /// # Errors
    /// The file cannot be read or is not an image, or as [`of_image`](Self::of_image).
    pub fn read(path: impl AsRef<Path>) -> Result<Self, PaletteError> {
        /// Bytes, for an image of 16 million pixels.
        const LIMIT: u64 = 1 << 28;
        let path = path.as_ref();
        let mut bytes = Vec::new();
        File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LIMIT {
            return Err(io::Error::other("has more than 256 MiB: name a smaller image").into());
        }
        Self::of_image(&Texture::decode(&bytes, &path.to_string_lossy(), LIMIT)?)
    }

    /// The palette with the least error for the voxels of `grid`; `None` if it has no colours.
    #[must_use]
    pub fn of_grid(grid: &VoxelGrid) -> Option<Self> {
        let colors = &*grid.voxel_colors()?;
        let set = ColorSet::new(colors, grid.occupied());
        Some(Self::of_set(&set, colors, grid.occupied(), MAX_COLORS))
    }

    /// The palette of at most `most` colours with the least error for the `occupied` voxels of
    /// `colors`, whose set is `set`.
    fn of_set(set: &ColorSet, colors: &Colors, occupied: u64, most: usize) -> Self {
        let mut chosen = set.colors();
        if chosen.len() > most {
            chosen = quantize::quantize(&chosen, &set.counts(colors, occupied), most);
        }
        nearest::sort(&mut chosen);
        let colors = chosen.into_iter().map(|[r, g, b]| [r, g, b, 255]).collect();
        Self { colors, matching: Matching::Chosen }
    }

    /// The colours by index: opaque, or transparent for unused indices.
    #[must_use]
    pub fn colors(&self) -> &[Rgba] {
        &self.colors
    }
}

/// The palette of a picture, and the index of each pixel. A colour's weight is the square root of
/// its number of pixels: by the number, the background would take most of the palette.
#[cfg(feature = "images")]
pub(crate) fn indexed(pixels: &[Rgb]) -> (Vec<Rgb>, Vec<u8>) {
    let mut sorted = pixels.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|one, other| one == other);
    let (distinct, weights): (Vec<Rgb>, Vec<u64>) =
        runs.map(|run| (run[0], run.len().isqrt() as u64)).unzip();
    let of_all = match distinct.len() {
        0..=MAX_COLORS => distinct.clone(),
        _ => quantize::quantize(&distinct, &weights, MAX_COLORS),
    };
    if of_all.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let colors = of_all.iter().map(|&[r, g, b]| [r, g, b, 255]).collect();
    let nearest = nearest::Nearest::new(&Palette { colors, matching: Matching::Chosen });
    let index_of = nearest.of(&distinct);
    let index = |pixel| distinct.binary_search(pixel).map_or(0, |at| index_of[at]);
    (of_all, pixels.iter().map(index).collect())
}

/// The number of distinct colours of the voxels of `grid`.
#[must_use]
pub fn count_colors(grid: &VoxelGrid) -> usize {
    grid.voxel_colors().map_or(0, |colors| ColorSet::new(&colors, grid.occupied()).len())
}
