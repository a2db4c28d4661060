//! A finished picture.

#[cfg(feature = "images")]
use std::io::{self, Write};

#[cfg(feature = "images")]
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
#[cfg(feature = "images")]
use image::{ExtendedColorType, ImageEncoder, ImageError};

use crate::srgb::Rgba;

/// Pixels in sRGB, row by row from the top left; opacity is not multiplied in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    size: [u32; 2],
    pixels: Vec<Rgba>,
}

impl Picture {
    pub(super) fn new(size: [u32; 2], pixels: Vec<Rgba>) -> Self {
        Self { size, pixels }
    }

    /// Width and height, in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Row by row from the top left.
    #[must_use]
    pub fn pixels(&self) -> &[Rgba] {
        &self.pixels
    }

    /// That of a column and a row, from the top left.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn at(&self, column: u32, row: u32) -> Rgba {
        let [width, height] = self.size;
        assert!(column < width && row < height, "pixel ({column}, {row}) of {width}x{height}");
        self.pixels[row as usize * width as usize + column as usize]
    }

    /// Writes it as PNG, without opacity where all is opaque.
    ///
    /// # Errors
    /// `out` cannot be written to.
    #[cfg(feature = "images")]
    pub fn write_png(&self, out: impl Write) -> io::Result<()> {
        let [width, height] = self.size;
        let encoder =
            PngEncoder::new_with_quality(out, CompressionType::Default, FilterType::Adaptive);
        let is_opaque = self.pixels.iter().all(|pixel| pixel[3] == u8::MAX);
        let written = if is_opaque {
            encoder.write_image(&opaque_bytes(&self.pixels), width, height, ExtendedColorType::Rgb8)
        } else {
            let bytes = self.pixels.as_flattened();
            encoder.write_image(bytes, width, height, ExtendedColorType::Rgba8)
        };
        written.map_err(|error| match error {
            ImageError::IoError(error) => error,
            other => io::Error::other(other),
        })
    }
}

/// Red, green and blue of each.
#[cfg(feature = "images")]
pub(super) fn opaque_bytes(pixels: &[Rgba]) -> Vec<u8> {
    pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect()
}
