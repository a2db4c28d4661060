//! Animated PNG. Viewers without support for it show the first frame.

use std::fmt;
use std::io::{self, Write};

use png::Writer;

use crate::view::render::picture::{png_bytes, png_encoder, png_error};
use crate::view::render::{Background, Picture, RenderOptions};

/// Writes an animated PNG, one frame at a time. It loops forever.
///
/// ```
/// use trivox::view::render::{PngAnimation, RenderOptions, Renderer};
/// use trivox::{NoProgress, VoxelGrid};
///
/// let grid = VoxelGrid::from_voxels([2, 2, 2], [[0, 0, 0], [1, 1, 1]])?;
/// let renderer = Renderer::new(&grid);
/// let options = RenderOptions::new([64, 48]);
/// let mut png = Vec::new();
/// let mut animation = PngAnimation::new(&mut png, &options, 3, 24)?;
/// for frame in options.turntable(3) {
///     animation.add(&renderer.render(&frame, &NoProgress)?)?;
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
        let mut encoder = png_encoder(out, size, has_opacity);
        encoder.set_animated(frames, 0).map_err(png_error)?;
        encoder.set_frame_delay(1, fps).map_err(png_error)?;
        encoder.validate_sequence(true);
        Ok(Self { writer: encoder.write_header().map_err(png_error)?, size, has_opacity })
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// The size differs, all frames are written already, or `out` cannot be written to.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        check_size(picture, self.size)?;
        let bytes = png_bytes(picture.pixels(), self.has_opacity)?;
        self.writer.write_image_data(&bytes).map_err(png_error)
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// Frames are missing, or `out` cannot be written to.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish().map_err(png_error)
    }
}

impl<W: Write> fmt::Debug for PngAnimation<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PngAnimation").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Refuses a frame that is not of the animation's size.
pub(super) fn check_size(picture: &Picture, expected: [u32; 2]) -> io::Result<()> {
    match picture.size() {
        size if size == expected => Ok(()),
        size => Err(invalid(format!("a picture of {size:?} pixels in one of {expected:?}"))),
    }
}

pub(super) fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
