//! Options of reading and writing.

#[cfg(feature = "palette")]
use crate::formats::minecraft::blocks::Blocks;
#[cfg(feature = "palette")]
use crate::surface::palette::Palette;

/// Options of reading a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The memory limit in bytes, the file itself included.
    pub memory: u64,
    /// Whether materials, textures and colours are read, from this file and its sidecar files.
    pub appearance: bool,
}

impl Default for ReadOptions {
    /// Reads everything, without a memory limit.
    fn default() -> Self {
        Self { memory: u64::MAX, appearance: true }
    }
}

impl ReadOptions {
    /// With a memory limit of `memory` bytes.
    #[must_use]
    pub fn with_memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// The triangles only.
    #[must_use]
    pub fn without_appearance(self) -> Self {
        Self { appearance: false, ..self }
    }
}

/// Options of writing a grid, for formats with a palette.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The palette of indexed formats; `None` chooses one for the grid.
    #[cfg(feature = "palette")]
    pub palette: Option<Palette>,
    /// The blocks that voxels become in Minecraft; `None` is concrete, wool and terracotta.
    #[cfg(feature = "palette")]
    pub blocks: Option<Blocks>,
    /// Whether colours are dithered to the palette.
    pub dither: bool,
}

impl WriteOptions {
    /// With `palette`, for indexed formats.
    #[cfg(feature = "palette")]
    #[must_use]
    pub fn with_palette(self, palette: Palette) -> Self {
        Self { palette: Some(palette), ..self }
    }

    /// With `blocks`, for Minecraft.
    #[cfg(feature = "palette")]
    #[must_use]
    pub fn with_blocks(self, blocks: Blocks) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// With or without dithering, for indexed formats.
    #[must_use]
    pub fn with_dither(self, dither: bool) -> Self {
        Self { dither, ..self }
    }
}
