//! A finished picture.

#[cfg(feature = "images")]
use std::borrow::Cow;
use std::collections::TryReserveError;
#[cfg(feature = "images")]
use std::io::{self, Write};

#[cfg(feature = "images")]
use png::{BitDepth, ColorType, Encoder, EncodingError, Filter};

use crate::base::srgb::Rgba;

/// An sRGB image with straight (not premultiplied) alpha, row by row from the top left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    size: [u32; 2],
    pixels: Vec<Rgba>,
}

impl Picture {
    /// A picture of `size` pixels, given row by row from the top left.
    ///
    /// # Panics
    /// `pixels` has another length.
    #[must_use]
    pub fn new(size: [u32; 2], pixels: Vec<Rgba>) -> Self {
        assert_eq!(pixels.len(), size[0] as usize * size[1] as usize, "pixels of {size:?}");
        Self { size, pixels }
    }

    /// Width and height, in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The pixels, row by row from the top left.
    #[must_use]
    pub fn pixels(&self) -> &[Rgba] {
        &self.pixels
    }

    /// The pixel of a column and a row, from the top left.
    ///
    /// # Panics
    /// The column or the row is outside the picture.
    #[must_use]
    pub fn at(&self, column: u32, row: u32) -> Rgba {
        let [width, height] = self.size;
        assert!(column < width && row < height, "pixel ({column}, {row}) of {width}x{height}");
        self.pixels[row as usize * width as usize + column as usize]
    }

    /// Composites `above`, of the same size, over this picture (T. Porter and T. Duff, *Compositing
    /// Digital Images*, 1984): its opacity is multiplied by `opacity`, 0 to 1. Colours are mixed as
    /// they are, in sRGB.
    ///
    /// # Panics
    /// The sizes differ.
    pub fn overlay(&mut self, above: &Self, opacity: f64) {
        assert_eq!(self.size, above.size, "pictures of different sizes");
        let factor = (opacity.clamp(0.0, 1.0) * 255.0).round_ties_even() as u32;
        for (pixel, &[r, g, b, a]) in self.pixels.iter_mut().zip(&above.pixels) {
            let [r0, g0, b0, a0] = *pixel;
            // The weights of both colours and the opacity, in 255ths of 255ths: at most 65,025.
            let weight = u32::from(a) * factor;
            let below = u32::from(a0) * (255 * 255 - weight) / 255;
            let whole = (weight + below).max(1);
            let mix = |c0: u8, c: u8| {
                let sum = u32::from(c0) * below + u32::from(c) * weight;
                ((sum + whole / 2) / whole) as u8
            };
            let opacity = ((weight + below + 127) / 255) as u8;
            *pixel = [mix(r0, r), mix(g0, g), mix(b0, b), opacity];
        }
    }

    /// Writes it as PNG, without opacity where all is opaque.
    ///
    /// # Errors
    /// `out` cannot be written to; there is too little memory.
    #[cfg(feature = "images")]
    pub fn write_png(&self, out: impl Write) -> io::Result<()> {
        let has_opacity = self.pixels.iter().any(|pixel| pixel[3] < u8::MAX);
        let bytes = png_bytes(&self.pixels, has_opacity)?;
        let write = || {
            let mut writer = png_encoder(out, self.size, has_opacity).write_header()?;
            writer.write_image_data(&bytes)?;
            writer.finish()
        };
        write().map_err(png_error)
    }
}

/// The error of `out`, which `io::Error::from` would make a text.
#[cfg(feature = "images")]
pub(super) fn png_error(error: EncodingError) -> io::Error {
    match error {
        EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// An encoder of pictures of this size, with or without opacity.
#[cfg(feature = "images")]
pub(super) fn png_encoder<W: Write>(
    out: W,
    [width, height]: [u32; 2],
    has_opacity: bool,
) -> Encoder<'static, W> {
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(if has_opacity { ColorType::Rgba } else { ColorType::Rgb });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_filter(Filter::Adaptive);
    encoder
}

/// An empty list with memory for `count` values, or an error: a failed allocation would end the
/// process.
pub(super) fn try_with_capacity<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut values = Vec::new();
    values.try_reserve_exact(count)?;
    Ok(values)
}

/// The pixels as PNG stores them, with or without opacity.
#[cfg(feature = "images")]
pub(super) fn png_bytes(pixels: &[Rgba], has_opacity: bool) -> io::Result<Cow<'_, [u8]>> {
    if has_opacity {
        return Ok(pixels.as_flattened().into());
    }
    let mut bytes = try_with_capacity(3 * pixels.len())?;
    pixels.iter().for_each(|pixel| bytes.extend_from_slice(&pixel[..3]));
    Ok(bytes.into())
}
