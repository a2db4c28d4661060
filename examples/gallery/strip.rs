//! Pictures side by side in one file.

use anyhow::Result;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, GenericImage, Rgba, RgbaImage};
use trivox::view::render::{RenderOptions, Renderer};
use trivox::{NoProgress, VoxelGrid};

/// Transparent gap between tiles, in pixels.
const GAP: u32 = 10;

/// Draws the grids from left to right, in tiles of `size` pixels, as a PNG.
pub fn strip(grids: &[VoxelGrid], size: [u32; 2]) -> Result<Vec<u8>> {
    let tiles: Vec<_> = grids.iter().map(|grid| (grid, RenderOptions::new(size))).collect();
    strip_of(&tiles, size)
}

/// Draws the grids from left to right, each by its options of `size` pixels, as a PNG.
pub fn strip_of(tiles: &[(&VoxelGrid, RenderOptions)], size: [u32; 2]) -> Result<Vec<u8>> {
    let [width, height] = size;
    let mut strip = RgbaImage::new((width + GAP) * tiles.len() as u32 - GAP, height);
    for ((grid, options), left) in tiles.iter().zip((0..).step_by((width + GAP) as usize)) {
        let picture = Renderer::new(grid).render(options, &NoProgress)?;
        let tile = RgbaImage::from_fn(width, height, |column, row| Rgba(picture.at(column, row)));
        strip.copy_from(&tile, left, 0)?;
    }
    let strip = DynamicImage::from(strip);
    png(&if tiles.len() == 1 { strip.to_rgb8().into() } else { strip })
}

/// As a PNG, as small as it gets.
pub fn png(image: &DynamicImage) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let (best, adaptive) = (CompressionType::Best, FilterType::Adaptive);
    image.write_with_encoder(PngEncoder::new_with_quality(&mut bytes, best, adaptive))?;
    Ok(bytes)
}
