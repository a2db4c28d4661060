//! Decodes images, with the feature `images`.

use std::io::{self, BufRead, Seek};

#[cfg(feature = "images")]
use image::{
    ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult,
    Limits,
};
use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::mesh::appearance::texture::Texture;

/// Limit of texels, 16,384 squared: a small file can take minutes to decode.
const MAX_TEXELS: u64 = 1 << 28;

/// An error of decoding an image.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextureError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No image of a format that is read.
    #[error("files of this kind are not read; save it as PNG or JPEG")]
    Unsupported,
    /// The image is malformed or truncated.
    #[error("{0}")]
    Malformed(String),
    /// The image has no pixels.
    #[error("it has no pixels")]
    Empty,
    /// The image has too many texels for any memory limit.
    #[error("it has {width} x {height} texels, and {MAX_TEXELS} at most are read: make it smaller")]
    Size {
        /// In texels.
        width: u32,
        /// In texels.
        height: u32,
    },
    /// Decoding may exceed the memory limit.
    #[error("it is too large for the memory that is left")]
    Memory,
    /// The feature `images` is off.
    #[error("this build reads no images: it was compiled without the feature `images`")]
    Disabled,
}

impl ErrorCode for TextureError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => error.code(),
            Self::Memory => "memory",
            Self::Unsupported
            | Self::Malformed(_)
            | Self::Empty
            | Self::Size { .. }
            | Self::Disabled => "read.image",
        }
    }
}

/// A file that is read in parts: one type for all, since every decoder of images is compiled for
/// each type of reader.
pub(crate) trait ReadSeek: BufRead + Seek {}

impl<T: BufRead + Seek> ReadSeek for T {}

/// The memory that an image takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageMemory {
    /// The bytes of its texels.
    pub(crate) texels: u64,
    /// An estimate of the peak memory of decoding, in bytes.
    pub(crate) peak: u64,
}

#[cfg(feature = "images")]
impl Texture {
    /// Decodes the `bytes` of a PNG, JPEG, TGA, BMP, WebP or GIF file, in at most `limit` bytes of
    /// memory. The extension of `name` decides for formats without a signature (TGA).
    ///
    /// # Errors
    /// Not an image, malformed, truncated or too large; the feature `images` is off.
    pub fn decode(bytes: &[u8], name: &str, limit: u64) -> Result<Self, TextureError> {
        let mut decoder = decoder_of(Box::new(io::Cursor::new(bytes)), name, limit)?;
        let (width, height) = decoder.dimensions();
        if u64::from(width) * u64::from(height) > MAX_TEXELS {
            return Err(TextureError::Size { width, height });
        }
        if memory_of(&decoder).peak > limit {
            return Err(TextureError::Memory);
        }
        let mut limits = limits_of(limit);
        limits.reserve(decoder.total_bytes())?;
        decoder.set_limits(limits)?;
        let image = DynamicImage::from_decoder(decoder)?.into_rgba8();
        let size = [image.width(), image.height()];
        if size.contains(&0) {
            Err(TextureError::Empty)
        } else {
            Ok(Self::new(size, bytemuck::cast_vec(image.into_raw())))
        }
    }

    /// The memory that the image in `file` takes. Takes at most `limit` bytes itself.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), of the header.
    pub(crate) fn memory(
        file: Box<dyn ReadSeek + '_>,
        name: &str,
        limit: u64,
    ) -> Result<ImageMemory, TextureError> {
        Ok(memory_of(&decoder_of(file, name, limit)?))
    }
}

#[cfg(not(feature = "images"))]
impl Texture {
    /// Refuses all images.
    ///
    /// # Errors
    /// Always: the feature `images` is off.
    pub fn decode(_bytes: &[u8], _name: &str, _limit: u64) -> Result<Self, TextureError> {
        Err(TextureError::Disabled)
    }

    pub(crate) fn memory(
        _file: Box<dyn ReadSeek + '_>,
        _name: &str,
        _limit: u64,
    ) -> Result<ImageMemory, TextureError> {
        Err(TextureError::Disabled)
    }
}

/// The decoder of an image, which takes at most `memory` bytes. The extension of `name` decides for
/// formats without a signature.
#[cfg(feature = "images")]
fn decoder_of<'a>(
    file: Box<dyn ReadSeek + 'a>,
    name: &str,
    memory: u64,
) -> ImageResult<impl ImageDecoder + 'a> {
    let mut reader = ImageReader::new(file).with_guessed_format()?;
    if reader.format().is_none()
        && let Ok(format) = ImageFormat::from_path(name)
    {
        reader.set_format(format);
    }
    reader.limits(limits_of(memory));
    reader.into_decoder()
}

/// The peak is the image as it is stored, up to twice as much in the decoder (a progressive JPEG
/// has coefficients of 16 bits), and the copy if that is not how it is stored.
#[cfg(feature = "images")]
fn memory_of(decoder: &impl ImageDecoder) -> ImageMemory {
    let (width, height) = decoder.dimensions();
    let texels = u64::from(width).saturating_mul(u64::from(height)).saturating_mul(4);
    let copy = if decoder.color_type() == ColorType::Rgba8 { 0 } else { texels };
    ImageMemory { texels, peak: decoder.total_bytes().saturating_mul(3).saturating_add(copy) }
}

#[cfg(feature = "images")]
fn limits_of(memory: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(memory);
    limits
}

#[cfg(feature = "images")]
impl From<ImageError> for TextureError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Self::Malformed("it is cut off".into())
            }
            ImageError::IoError(error) => Self::Io(error),
            ImageError::Limits(_) => Self::Memory,
            ImageError::Unsupported(_) => Self::Unsupported,
            other => Self::Malformed(other.to_string()),
        }
    }
}
