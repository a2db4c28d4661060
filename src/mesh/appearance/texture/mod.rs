//! Textures: images, wrap modes and filters.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize, Serializer};

use crate::base::lock;
use crate::base::names::named;
use crate::base::srgb::Rgba;
use crate::mesh::appearance::texture::pyramid::{Pyramid, TexelAlpha};

pub(crate) mod decode;
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
    /// The nearest texel: texels are squares.
    #[default]
    Nearest,
    /// Bilinear. Textures with a cutoff are not filtered: it applies to whole texels.
    Linear,
}

/// The magnification filter of all textures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FilterChoice {
    /// The own filter of each texture.
    #[default]
    Auto,
    /// [`Filter::Nearest`].
    Nearest,
    /// [`Filter::Linear`].
    Linear,
}

named!(FilterChoice, "filter", { Auto = "auto", Nearest = "nearest", Linear = "linear" });

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
        if is_whole(size, &texels) {
            Ok(Self::new(size, texels))
        } else {
            Err(format!("a texture of {size:?} texels has {}", texels.len()))
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
        let mut pyramids = lock(&self.pyramids);
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
