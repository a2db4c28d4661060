//! Animated PNG and GIF. Viewers without support for animated PNG show the first frame; GIF has 256
//! colours per frame.

use std::fmt;
use std::io::{self, Write};

use gif::{DisposalMethod, EncodingError, Frame, Repeat};
use png::{BitDepth, ColorType, Encoder, Filter, Writer};

use crate::base::srgb::Rgba;
use crate::view::render::picture::opaque_bytes;
use crate::view::render::{Background, Picture, RenderOptions};

/// Writes an animated PNG, one frame at a time. It loops forever.
///
/// ```
/// use trivox::VoxelGrid;
/// use trivox::view::render::{PngAnimation, RenderOptions, Renderer};
///
/// let grid = VoxelGrid::from_voxels([2, 2, 2], [[0, 0, 0], [1, 1, 1]])?;
/// let renderer = Renderer::new(&grid);
/// let options = RenderOptions::new([64, 48]);
/// let mut png = Vec::new();
/// let mut animation = PngAnimation::new(&mut png, &options, 3, 24)?;
/// for frame in options.turntable(3) {
///     animation.add(&renderer.render(&frame)?)?;
/// }
/// animation.finish()?;
/// # assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PngAnimation<W: Write> {
    writer: Writer<W>,
    size: [u32; 2],
    has_opacity: bool,
}

impl<W: Write> PngAnimation<W> {
    /// Begins a file of `frames` frames, drawn with `options`, at `fps` frames per second.
    ///
    /// # Errors
    /// 0 frames, 0 frames per second, or `out` cannot be written to.
    pub fn new(out: W, options: &RenderOptions, frames: u32, fps: u16) -> io::Result<Self> {
        if fps == 0 {
            return Err(invalid("0 frames per second are not possible: use 1 or more".to_owned()));
        }
        let size = options.size;
        let has_opacity = options.background == Background::Transparent;
        let mut encoder = Encoder::new(out, size[0], size[1]);
        encoder.set_color(if has_opacity { ColorType::Rgba } else { ColorType::Rgb });
        encoder.set_depth(BitDepth::Eight);
        encoder.set_filter(Filter::Adaptive);
        encoder.set_animated(frames, 0)?;
        encoder.set_frame_delay(1, fps)?;
        encoder.validate_sequence(true);
        Ok(Self { writer: encoder.write_header()?, size, has_opacity })
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// The size differs, all frames are written already, or `out` cannot be written to.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        check_size(picture, self.size)?;
        match self.has_opacity {
            true => self.writer.write_image_data(picture.pixels().as_flattened())?,
            false => self.writer.write_image_data(&opaque_bytes(picture.pixels())?)?,
        }
        Ok(())
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// Frames are missing, or `out` cannot be written to.
    pub fn finish(self) -> io::Result<()> {
        Ok(self.writer.finish()?)
    }
}

impl<W: Write> fmt::Debug for PngAnimation<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PngAnimation").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Maximum frame rate of a GIF, in Hz: browsers replace shorter delays by a tenth of a second.
pub const MAX_GIF_FPS: u16 = 50;

/// Speed of the colour quantization, 1 to 30; higher is faster and less accurate.
const GIF_SPEED: i32 = 10;

/// Writes an animated GIF, one frame at a time. It loops forever.
///
/// Each frame has its own palette of 256 colours (A. Dekker, *Kohonen neural networks for optimal
/// colour quantization*, 1994). Opacity is thresholded at one half. Delays are rounded down to
/// 1/100 second: 24 Hz become 25.
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
        let whole = |&[r, g, b, a]: &Rgba| [r, g, b, if a < 128 { 0 } else { u8::MAX }];
        let mut bytes: Vec<u8> = picture.pixels().iter().flat_map(whole).collect();
        let [width, height] = self.size;
        let frame = Frame::from_rgba_speed(width, height, &mut bytes, GIF_SPEED);
        let frame = Frame { delay: self.delay, dispose: DisposalMethod::Background, ..frame };
        self.frames += 1;
        self.encoder.write_frame(&frame).map_err(gif_error)
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// There are no frames; `out` cannot be written to.
    pub fn finish(self) -> io::Result<()> {
        check_count(self.frames)?;
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

/// # Errors
/// `picture` is not of `expected` pixels.
pub(super) fn check_size(picture: &Picture, expected: [u32; 2]) -> io::Result<()> {
    match picture.size() {
        size if size == expected => Ok(()),
        size => Err(invalid(format!("a picture of {size:?} pixels in one of {expected:?}"))),
    }
}

/// # Errors
/// There are no frames.
pub(super) fn check_count(frames: u32) -> io::Result<()> {
    match frames {
        0 => Err(invalid("an animation has at least one picture".to_owned())),
        _ => Ok(()),
    }
}

pub(super) fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
