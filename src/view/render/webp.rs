//! Animated WebP: lossless frames (VP8L) in a RIFF container (J. Zern, P. Massimino and
//! J. Alakuijala, *WebP Image Format*, RFC 9649, 2024).

use std::fmt;
use std::io::{self, Write};

use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageEncoder};

use crate::view::render::animation::{check_count, check_size, invalid};
use crate::view::render::picture::image_error;
use crate::view::render::picture::opaque_bytes;
use crate::view::render::{Background, Picture, RenderOptions};

/// The encoder's file begins with `RIFF`, its size and `WEBP`; then follows the frame's chunk.
const BEFORE_FRAME: usize = 12;

/// Flags of the chunk `VP8X`.
const ANIMATED: u8 = 1 << 1;
const OPACITY: u8 = 1 << 4;

/// Flag of the chunk `ANMF`: the frame replaces the one before.
const REPLACES: u8 = 1 << 1;

/// Writes an animated WebP, one frame at a time, with all colours and opacity. It loops forever.
///
/// The file begins with its size, so that the compressed frames are held in memory. The time of a
/// frame is a whole number of milliseconds, and differs by one where `fps` demands it: the speed is
/// exact.
pub struct WebpAnimation<W: Write> {
    out: W,
    size: [u32; 2],
    has_opacity: bool,
    fps: u16,
    pictures: u32,
    /// The chunks `ANMF`.
    frames: Vec<u8>,
}

impl<W: Write> WebpAnimation<W> {
    /// Starts a file for frames drawn with `options`, at `fps` Hz, 1 to 1000.
    ///
    /// # Errors
    /// Another `fps`; no pixels.
    pub fn new(out: W, options: &RenderOptions, fps: u16) -> io::Result<Self> {
        if !(1..=1000).contains(&fps) {
            return Err(invalid(format!(
                "{fps} pictures a second are not possible in a WebP: use 1 to 1000"
            )));
        }
        if options.size.contains(&0) {
            return Err(invalid("a WebP without pixels is not possible".into()));
        }
        let has_opacity = options.background == Background::Transparent;
        Ok(Self { out, size: options.size, has_opacity, fps, pictures: 0, frames: Vec::new() })
    }

    /// Adds the next frame.
    ///
    /// # Errors
    /// `picture` has another size.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        check_size(picture, self.size)?;
        let mut file = Vec::new();
        let encoder = WebPEncoder::new_lossless(&mut file);
        let [width, height] = self.size;
        let written = match self.has_opacity {
            true => {
                let bytes = picture.pixels().as_flattened();
                encoder.write_image(bytes, width, height, ExtendedColorType::Rgba8)
            }
            false => {
                let bytes = opaque_bytes(picture.pixels())?;
                encoder.write_image(&bytes, width, height, ExtendedColorType::Rgb8)
            }
        };
        written.map_err(image_error)?;
        let start = |picture: u32| 1000 * picture / u32::from(self.fps);
        let milliseconds = start(self.pictures + 1) - start(self.pictures);
        self.pictures += 1;
        // The frame's corner is the picture's.
        let mut frame = [0; 6].to_vec();
        frame.extend([width - 1, height - 1, milliseconds].map(three_bytes).as_flattened());
        frame.push(REPLACES);
        frame.extend(&file[BEFORE_FRAME..]);
        add_chunk(&mut self.frames, b"ANMF", &frame)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// There are no frames; the file would have 4 GiB or more; `out` cannot be written to.
    pub fn finish(mut self) -> io::Result<()> {
        check_count(self.pictures)?;
        let mut head = b"WEBP".to_vec();
        let opacity = if self.has_opacity { OPACITY } else { 0 };
        let mut canvas = vec![ANIMATED | opacity, 0, 0, 0];
        canvas.extend(self.size.map(|side| three_bytes(side - 1)).as_flattened());
        add_chunk(&mut head, b"VP8X", &canvas)?;
        // Transparent background; loop count 0, which is forever.
        add_chunk(&mut head, b"ANIM", &[0; 6])?;
        let bytes = chunk_size(head.len() + self.frames.len())?;
        self.out.write_all(b"RIFF")?;
        self.out.write_all(&bytes)?;
        self.out.write_all(&head)?;
        self.out.write_all(&self.frames)?;
        self.out.flush()
    }
}

impl<W: Write> fmt::Debug for WebpAnimation<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebpAnimation").field("size", &self.size).finish_non_exhaustive()
    }
}

fn three_bytes(number: u32) -> [u8; 3] {
    let [a, b, c, _] = number.to_le_bytes();
    [a, b, c]
}

fn chunk_size(bytes: usize) -> io::Result<[u8; 4]> {
    // The largest even size that is no 2^32 with the eight bytes before it.
    match u32::try_from(bytes) {
        Ok(size) if size <= u32::MAX - 9 => Ok(size.to_le_bytes()),
        _ => Err(invalid(format!(
            "the pictures have {bytes} bytes, more than a WebP holds: draw fewer or smaller ones"
        ))),
    }
}

/// Chunks are padded to an even size.
fn add_chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) -> io::Result<()> {
    out.extend(name);
    out.extend(chunk_size(data.len())?);
    out.extend(data);
    out.resize(out.len().next_multiple_of(2), 0);
    Ok(())
}
