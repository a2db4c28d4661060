//! Textures: images, wrap modes and filters.

use std::collections::BTreeMap;
#[cfg(feature = "images")]
use std::io::{BufRead, Cursor, Seek};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "images")]
use image::{
    ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult,
    Limits,
};

use serde::{Deserialize, Serialize, Serializer};

use crate::appearance::texture::pyramid::{Pyramid, TexelAlpha};
use crate::srgb::Rgba;

pub(crate) mod pyramid;

/// The wrap mode: how texture coordinates outside `[0, 1]` are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Wrap {
    /// The texture repeats.
    #[default]
    Repeat,
    /// The texture repeats, every second tile mirrored.
    Mirror,
    /// Clamped to the edge texels.
    Clamp,
}

/// The magnification filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Filter {
    /// Bilinear.
    #[default]
    Linear,
    /// The nearest texel.
    Nearest,
}

/// Limit of texels, 16,384 squared: a small file can take minutes to decode.
#[cfg(feature = "images")]
const MAX_TEXELS: u64 = 1 << 28;

/// A file that is read in parts: one type for all, since every decoder of images is compiled for
/// each type of reader.
#[cfg(feature = "images")]
pub(crate) trait ReadSeek: BufRead + Seek {}

#[cfg(feature = "images")]
impl<T: BufRead + Seek> ReadSeek for T {}

#[cfg(feature = "images")]
fn limits_of(memory: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(memory);
    limits
}

#[cfg(feature = "images")]
fn message(error: ImageError) -> String {
    match error {
        ImageError::Limits(_) => "it is too large for the memory that is left".into(),
        ImageError::Unsupported(_) => {
            "files of this kind are not read; save it as PNG or JPEG".into()
        }
        other => other.to_string(),
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

/// The bytes of a decoder's image as [`Rgba`], and an estimate of the peak memory of decoding it:
/// the image as it is stored, up to twice as much in the decoder (a progressive JPEG has
/// coefficients of 16 bits), and the copy if that is not how it is stored.
#[cfg(feature = "images")]
fn memory_of(decoder: &impl ImageDecoder) -> [u64; 2] {
    let (width, height) = decoder.dimensions();
    let texels = u64::from(width).saturating_mul(u64::from(height)).saturating_mul(4);
    let copy = if decoder.color_type() == ColorType::Rgba8 { 0 } else { texels };
    [texels, decoder.total_bytes().saturating_mul(3).saturating_add(copy)]
}

/// An sRGB image with opacity.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Image")]
pub struct Texture {
    size: [u32; 2],
    /// Row by row, from the top left.
    #[serde(serialize_with = "serialize_texels")]
    texels: Arc<Vec<Rgba>>,
    /// Its mip levels by alpha mode, made on first use and shared by clones.
    #[serde(skip)]
    pyramids: Arc<Mutex<BTreeMap<TexelAlpha, Arc<Pyramid>>>>,
}

/// Serde serializes `Arc` only with its feature `rc`, which would be enabled in all dependents.
fn serialize_texels<S: Serializer>(texels: &Arc<Vec<Rgba>>, to: S) -> Result<S::Ok, S::Error> {
    texels.as_slice().serialize(to)
}

/// A deserialized [`Texture`] before it is checked.
#[derive(Deserialize)]
struct Image {
    size: [u32; 2],
    texels: Vec<Rgba>,
}

impl TryFrom<Image> for Texture {
    type Error = String;

    fn try_from(Image { size, texels }: Image) -> Result<Self, String> {
        match is_whole(size, &texels) {
            true => Ok(Self::new(size, texels)),
            false => Err(format!("a texture of {size:?} texels has {}", texels.len())),
        }
    }
}

/// Whether an image of `size` has these texels, and at least one.
fn is_whole(size: [u32; 2], texels: &[Rgba]) -> bool {
    let [width, height] = size.map(u64::from);
    width * height > 0 && width * height == texels.len() as u64
}

impl PartialEq for Texture {
    fn eq(&self, other: &Self) -> bool {
        let Self { size, texels, pyramids: _ } = self;
        (size, texels) == (&other.size, &other.texels)
    }
}

impl Texture {
    /// An image of `size` texels, `(width, height)`, given row by row from the top left.
    ///
    /// # Panics
    /// `size` has a zero, or its product is not the number of texels.
    #[must_use]
    pub fn new(size: [u32; 2], texels: Vec<Rgba>) -> Self {
        assert!(is_whole(size, &texels), "{size:?} texels");
        Self { size, texels: Arc::new(texels), pyramids: Arc::default() }
    }

    /// Decodes the `bytes` of a PNG, JPEG, TGA, BMP, WebP or GIF file, in at most `limit` bytes of
    /// memory. The extension of `name` decides for formats without a signature (TGA).
    ///
    /// # Errors
    /// A message: not an image, malformed, truncated or too large.
    #[cfg(feature = "images")]
    pub fn decode(bytes: &[u8], name: &str, limit: u64) -> Result<Self, String> {
        let mut decoder = decoder_of(Self::file(bytes), name, limit).map_err(message)?;
        let (width, height) = decoder.dimensions();
        let texels = u64::from(width) * u64::from(height);
        if texels > MAX_TEXELS {
            return Err(format!(
                "it has {width} x {height} texels, and {MAX_TEXELS} at most are read: \
                 make it smaller"
            ));
        }
        let [_, peak] = memory_of(&decoder);
        if peak > limit {
            return Err(format!(
                "it has {width} x {height} texels, too many for the memory that is left"
            ));
        }
        let mut limits = limits_of(limit);
        limits.reserve(decoder.total_bytes()).map_err(message)?;
        decoder.set_limits(limits).map_err(message)?;
        let image = DynamicImage::from_decoder(decoder).map_err(message)?.into_rgba8();
        let size = [image.width(), image.height()];
        if size.contains(&0) {
            return Err("it has no pixels".into());
        }
        Ok(Self::new(size, bytemuck::cast_vec(image.into_raw())))
    }

    /// Refuses all images.
    ///
    /// # Errors
    /// Always: the feature `images` is off.
    #[cfg(not(feature = "images"))]
    pub fn decode(_bytes: &[u8], _name: &str, _limit: u64) -> Result<Self, String> {
        Err("this build reads no images: it was compiled without the feature `images`".into())
    }

    /// The bytes of the texels of the image in `file`, and an estimate of the peak memory of
    /// decoding it. Takes at most `limit` bytes of memory.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), of the header.
    #[cfg(feature = "images")]
    pub(crate) fn peak_memory(
        file: Box<dyn ReadSeek + '_>,
        name: &str,
        limit: u64,
    ) -> Result<[u64; 2], String> {
        decoder_of(file, name, limit).map(|decoder| memory_of(&decoder)).map_err(message)
    }

    /// `bytes` as a file.
    #[cfg(feature = "images")]
    pub(crate) fn file(bytes: &[u8]) -> Box<dyn ReadSeek + '_> {
        Box::new(Cursor::new(bytes))
    }

    /// Texels along `u` and `v`.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The texels, row by row from the top left.
    #[must_use]
    pub fn texels(&self) -> &[Rgba] {
        &self.texels
    }

    /// Whether some texel is not opaque.
    #[must_use]
    pub fn has_transparency(&self) -> bool {
        self.texels.iter().any(|texel| texel[3] < u8::MAX)
    }

    /// Bytes of memory of the texels.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.texels[..]) as u64
    }

    #[inline(always)]
    pub(crate) fn texel(&self, x: u32, y: u32) -> Rgba {
        self.texels[y as usize * self.size[0] as usize + x as usize]
    }

    /// Its mip levels, cached.
    pub(crate) fn pyramid(&self, alpha: TexelAlpha) -> Arc<Pyramid> {
        let mut pyramids = self.pyramids.lock().unwrap_or_else(PoisonError::into_inner);
        pyramids.entry(alpha).or_insert_with(|| Arc::new(Pyramid::new(alpha))).clone()
    }
}

impl Wrap {
    /// The index of texel `i` after wrapping to an axis of `count` texels.
    #[inline(always)]
    pub(crate) fn index(self, i: i64, count: u32) -> i64 {
        let n = i64::from(count);
        if (0..n).contains(&i) {
            return i;
        }
        match self {
            Self::Clamp => i.clamp(0, n - 1),
            Self::Repeat => i.rem_euclid(n),
            Self::Mirror => {
                let i = i.rem_euclid(2 * n);
                i.min(2 * n - 1 - i)
            }
        }
    }
}

/// `floor(x)`, saturating. `f64::floor` is a function call on baseline x86-64, which has no
/// rounding instruction.
#[inline(always)]
pub(crate) fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}
