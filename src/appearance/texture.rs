//! Images, as they lie on triangles.

#[cfg(feature = "images")]
use std::io::Cursor;
use std::sync::OnceLock;

#[cfg(feature = "images")]
use image::{ImageError, ImageReader, Limits};
use serde::{Deserialize, Serialize};

use crate::appearance::texture::levels::{Level, smaller_levels};
use crate::srgb::{Rgba, linear_of};

mod levels;

/// What is past the edges of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Wrap {
    /// The texture again.
    #[default]
    Repeat,
    /// The texture again, every second time mirrored.
    Mirror,
    /// Its outermost texels.
    Clamp,
}

/// What is between the centres of texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Filter {
    /// A mixture of the four around.
    #[default]
    Linear,
    /// The nearest.
    Nearest,
}

/// Light, from 0 to 1: red, green and blue as far as they are seen, which is multiplied by opacity, and
/// the opacity.
pub(crate) type Light = [f64; 4];

/// Of each sRGB value.
const LIGHT: [f64; 256] = {
    let mut light = [0.0; 256];
    let mut value = 0;
    while value < 256 {
        light[value] = linear_of(value as u8) as f64 / 65535.0;
        value += 1;
    }
    light
};

/// An image: sRGB colours, and how opaque they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Texture {
    size: [u32; 2],
    /// Row by row, from the top left.
    texels: Vec<Rgba>,
    /// The image at a half of its size, a quarter and so on; made when they are first needed.
    #[serde(skip)]
    smaller: OnceLock<Vec<Level>>,
}

impl PartialEq for Texture {
    fn eq(&self, other: &Self) -> bool {
        let Self { size, texels, smaller: _ } = self;
        (size, texels) == (&other.size, &other.texels)
    }
}

impl Texture {
    /// An image of `size` texels, `(width, height)`, given row by row from the top left.
    ///
    /// # Panics
    /// `size` has a zero, or there are not so many texels.
    #[must_use]
    pub fn new(size: [u32; 2], texels: Vec<Rgba>) -> Self {
        let [width, height] = size.map(u64::from);
        assert!(width * height > 0 && width * height == texels.len() as u64, "{size:?} texels");
        Self { size, texels, smaller: OnceLock::new() }
    }

    /// The image in the `bytes` of a PNG, JPEG, TGA, BMP, WebP or GIF file, in at most `limit` bytes of
    /// memory. `name` tells by its extension what is in files that do not (TGA).
    ///
    /// # Errors
    /// Why there is none: not an image, malformed or cut off, too large.
    #[cfg(feature = "images")]
    pub fn decode(bytes: &[u8], name: &str, limit: u64) -> Result<Self, String> {
        let mut reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|error| error.to_string())?;
        if reader.format().is_none()
            && let Ok(format) = image::ImageFormat::from_path(name)
        {
            reader.set_format(format);
        }
        let mut limits = Limits::default();
        // The decoder's own image, of a byte a texel where it is grey, and ours of four.
        limits.max_alloc = Some(limit / 5);
        reader.limits(limits);
        let image = reader.decode().map_err(|error| match error {
            ImageError::Limits(_) => "it is too large for the memory that is left".into(),
            other => other.to_string(),
        })?;
        let image = image.into_rgba8();
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

    /// The same without transparency.
    #[must_use]
    pub fn opaque(&self) -> Self {
        let opaque = |&[r, g, b, _]: &Rgba| [r, g, b, u8::MAX];
        Self::new(self.size, self.texels.iter().map(opaque).collect())
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.texels[..]) as u64
    }

    /// The light at `uv`, finite, seen at `1 / 2^level` of the size: there a texel is the mean of those
    /// that it stands for.
    #[inline]
    pub(crate) fn light(
        &self,
        [u, v]: [f64; 2],
        level: u32,
        wrap: [Wrap; 2],
        filter: Filter,
    ) -> Light {
        let smaller = match level {
            0 => &[],
            _ => &self.smaller.get_or_init(|| smaller_levels(self))[..],
        };
        // Past the last level, which has one texel, there is nothing smaller.
        let level = (level as usize).min(smaller.len());
        let smaller = level.checked_sub(1).map(|index| &smaller[index]);
        let size = smaller.map_or(self.size, Level::size);
        let texel = |x: u32, y: u32| match smaller {
            Some(smaller) => smaller.light(x, y),
            None => self.texel_light(x, y),
        };
        let scale = f64::from(1_u32 << level);
        let at =
            |a: usize, c: f64| Place::new(c, f64::from(self.size[a]) / scale, size[a], wrap[a]);
        let (x, y) = (at(0, u), at(1, v));
        match filter {
            Filter::Nearest => texel(x.nearest(), y.nearest()),
            Filter::Linear => {
                let (x, y) = (x.between(), y.between());
                let row = |y: u32| mix(texel(x.0, y), texel(x.1, y), x.2);
                mix(row(y.0), row(y.1), y.2)
            }
        }
    }

    #[inline]
    fn texel_light(&self, x: u32, y: u32) -> Light {
        let [r, g, b, opacity] = self.texels[y as usize * self.size[0] as usize + x as usize];
        let [r, g, b] = [r, g, b].map(|value| LIGHT[usize::from(value)]);
        match opacity {
            u8::MAX => [r, g, b, 1.0],
            _ => [r, g, b, 1.0].map(|light| light * (f64::from(opacity) / 255.0)),
        }
    }
}

/// The largest integer that is not above `x`, or the nearest that there is. Without a call, which
/// `f64::floor` is on processors that need not have an instruction for it.
#[inline(always)]
pub(crate) fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}

#[inline(always)]
fn mix(a: Light, b: Light, part: f64) -> Light {
    std::array::from_fn(|i| a[i] + part * (b[i] - a[i]))
}

/// Where a coordinate is among texels.
struct Place {
    /// In texels, from the first one's edge.
    at: f64,
    count: i64,
    wrap: Wrap,
}

impl Place {
    /// `c` is in units of the whole texture, which is `width` texels wide: of `count` texels the last
    /// may be there in part.
    #[inline(always)]
    fn new(c: f64, width: f64, count: u32, wrap: Wrap) -> Self {
        let c = match wrap {
            Wrap::Repeat => c - floor(c) as f64,
            Wrap::Mirror => {
                let c = c - 2.0 * floor(c / 2.0) as f64;
                c.min(2.0 - c)
            }
            Wrap::Clamp => c,
        };
        // Of numbers so large that they have no fraction anything may be left.
        Self { at: c.clamp(0.0, 1.0) * width, count: count.into(), wrap }
    }

    #[inline(always)]
    fn nearest(&self) -> u32 {
        self.index(self.at as i64)
    }

    /// The texels whose centres it is between, and how far it is from the first to the second.
    #[inline(always)]
    fn between(&self) -> (u32, u32, f64) {
        let low = floor(self.at - 0.5);
        (self.index(low), self.index(low + 1), self.at - 0.5 - low as f64)
    }

    /// At most one texel is beyond either end.
    #[inline(always)]
    fn index(&self, i: i64) -> u32 {
        let last = self.count - 1;
        let i = match self.wrap {
            Wrap::Repeat if i < 0 => last,
            Wrap::Repeat if i > last => 0,
            _ => i.clamp(0, last),
        };
        i as u32
    }
}
