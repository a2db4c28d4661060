//! Animated GIF, of 256 colours a frame.

use std::fmt;
use std::io::{self, Write};

use gif::{DisposalMethod, EncodingError, Frame, Repeat};

use crate::base::srgb::Rgba;
use crate::surface::palette::indexed;
use crate::view::render::animation::{check_size, invalid};
use crate::view::render::{Picture, RenderOptions};

/// Maximum frame rate of a GIF, in Hz: browsers replace shorter delays by a tenth of a second.
pub const MAX_GIF_FPS: u16 = 50;

/// Writes an animated GIF, one frame at a time. It loops forever.
///
/// Each frame has its own palette of at most 255 colours; more are quantized. Opacity is
/// thresholded at one half. Delays are rounded down to 1/100 second: 24 Hz become 25.
pub struct GifAnimation<W: Write> {
    encoder: gif::Encoder<W>,
    size: [u16; 2],
    frames: u32,
    /// In 1/100 second.
    delay: u16,
}

impl<W: Write> GifAnimation<W> {
    /// Starts a file for frames drawn with `options`, at `fps` Hz, 1 to [`MAX_GIF_FPS`].
    ///
    /// # Errors
    /// Another `fps`; no pixels, or a picture larger than GIF allows; `out` cannot be written to.
    pub fn new(out: W, options: &RenderOptions, fps: u16) -> io::Result<Self> {
        if !(1..=MAX_GIF_FPS).contains(&fps) {
            return Err(invalid(format!(
                "{fps} frames per second are not possible in a GIF: use 1 to {MAX_GIF_FPS}"
            )));
        }
        let [Ok(width @ 1..), Ok(height @ 1..)] = options.size.map(u16::try_from) else {
            let [width, height] = options.size;
            return Err(invalid(format!("a GIF of {width}x{height} pixels is not possible")));
        };
        let mut encoder = gif::Encoder::new(out, width, height, &[]).map_err(gif_error)?;
        encoder.set_repeat(Repeat::Infinite).map_err(gif_error)?;
        Ok(Self { encoder, size: [width, height], frames: 0, delay: 100 / fps })
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// `picture` has another size; the output cannot be written.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        check_size(picture, self.size.map(u32::from))?;
        let [width, height] = self.size;
        let is_opaque = |pixel: &&Rgba| pixel[3] >= 128;
        let visible = picture.pixels().iter().filter(is_opaque).map(|&[r, g, b, _]| [r, g, b]);
        let (mut palette, indices) = indexed(&visible.collect::<Vec<_>>());
        let transparent = (indices.len() < picture.pixels().len()).then_some(palette.len() as u8);
        palette.extend(transparent.map(|_| [0; 3]));
        let mut indices = indices.into_iter();
        let index = |pixel: &Rgba| if is_opaque(&pixel) { indices.next() } else { transparent };
        let pixels: Vec<u8> = picture.pixels().iter().filter_map(index).collect();
        let palette = palette.as_flattened();
        let frame = Frame::from_palette_pixels(width, height, pixels, palette, transparent);
        let frame = Frame { delay: self.delay, dispose: DisposalMethod::Background, ..frame };
        self.frames += 1;
        self.encoder.write_frame(&frame).map_err(gif_error)
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// There are no frames; `out` cannot be written to.
    pub fn finish(self) -> io::Result<()> {
        if self.frames == 0 {
            return Err(invalid("an animation has at least one picture".to_owned()));
        }
        self.encoder.into_inner().map_err(gif_error)?.flush()
    }
}

impl<W: Write> fmt::Debug for GifAnimation<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GifAnimation").field("size", &self.size).finish_non_exhaustive()
    }
}

fn gif_error(error: EncodingError) -> io::Error {
    match error {
        EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}
