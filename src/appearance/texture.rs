//! Images, as they lie on triangles.

use std::io::Cursor;

use image::{ImageError, ImageReader, Limits};

use crate::srgb::Rgba;

/// What is past the edges of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// A mixture of the four around.
    #[default]
    Linear,
    /// The nearest.
    Nearest,
}

/// An image: sRGB colours, and how opaque they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture {
    size: [u32; 2],
    /// Row by row, from the top left.
    texels: Vec<Rgba>,
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
        Self { size, texels }
    }

    /// The image in the `bytes` of a PNG, JPEG, TGA, BMP, WebP or GIF file, in at most `limit` bytes of
    /// memory. `name` tells by its extension what is in files that do not (TGA).
    ///
    /// # Errors
    /// Why there is none: not an image, malformed or cut off, too large.
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
        Ok(Self { size, texels: bytemuck::cast_vec(image.into_raw()) })
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

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.texels[..]) as u64
    }
}
