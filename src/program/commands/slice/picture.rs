//! Draws a slice as a picture, row by row.

use std::io::{self, Write};

use anyhow::{Result, bail};
use png::{BitDepth, ColorType, Encoder, Filter};
use trivox::base::srgb::Rgba;
use trivox::lattice::MAX_DIM;

use crate::text::{counted, grouped};

/// Default length of the longest side, in pixels, approximately.
const SIDE: u32 = 1024;

/// Maximum default scale, in pixels per voxel.
const MAX_SCALE: u32 = 32;

/// Maximum length of a side, in pixels: the largest grid at one pixel per voxel.
const MAX_SIDE: u32 = MAX_DIM;

/// Smallest scale with lines between voxels, in pixels per voxel.
const LINED: u32 = 8;

/// The colours of the background and of its lines. White and black voxels contrast with both by at
/// least 3 to 1 (WCAG 2), and the violet is distinguishable from greys.
const EMPTY: [u8; 3] = [92, 91, 134];
const EMPTY_LINE: [u8; 3] = [84, 83, 124];

/// Darkening of lines on voxels, in 256ths.
const LINE_LIGHT: u16 = 214;

#[derive(Debug)]
pub struct Drawing {
    size: [u32; 2],
    /// Pixels per voxel.
    scale: u32,
}

impl Drawing {
    /// A picture of `size` voxels, at `scale` pixels per voxel.
    pub fn new(size: [u32; 2], scale: Option<u32>) -> Result<Self> {
        let longest = size[0].max(size[1]);
        let scale = scale.unwrap_or((SIDE / longest).clamp(1, MAX_SCALE));
        if u64::from(longest) * u64::from(scale) > u64::from(MAX_SIDE) {
            bail!(
                "{} of {scale} pixels are more than the {} that a picture can have: use --pixels \
                 {} or less",
                counted(longest.into(), "voxel"),
                grouped(MAX_SIDE.into()),
                MAX_SIDE / longest
            );
        }
        Ok(Self { size, scale })
    }

    /// Width and height, in pixels.
    pub fn pixels(&self) -> [u32; 2] {
        self.size.map(|voxels| voxels * self.scale)
    }

    /// Draws the rows of the slice, the top one first, as PNG.
    pub fn write(
        &self,
        rows: impl Iterator<Item = Vec<Option<Rgba>>>,
        out: impl Write,
    ) -> io::Result<()> {
        let [width, height] = self.pixels();
        let mut encoder = Encoder::new(out, width, height);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_filter(Filter::Adaptive);
        let mut writer = encoder.write_header()?;
        let mut out = writer.stream_writer()?;
        for (number, row) in rows.enumerate() {
            let inner = self.row(&row, false);
            // Lines are between rows, so there is none above the first.
            let first =
                if number > 0 && self.has_lines() { self.row(&row, true) } else { inner.clone() };
            out.write_all(&first)?;
            (1..self.scale).try_for_each(|_| out.write_all(&inner))?;
        }
        Ok(out.finish()?)
    }

    fn has_lines(&self) -> bool {
        self.scale >= LINED
    }

    /// The pixels of one row: a line, or voxels with lines between them.
    fn row(&self, voxels: &[Option<Rgba>], is_line: bool) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(3 * voxels.len() * self.scale as usize);
        for (column, &voxel) in voxels.iter().enumerate() {
            let [inner, line] = colors(voxel);
            let is_left_line = is_line || column > 0 && self.has_lines();
            bytes.extend(if is_left_line { line } else { inner });
            let color = if is_line { line } else { inner };
            (1..self.scale).for_each(|_| bytes.extend(color));
        }
        bytes
    }
}

/// The colour of a voxel or of the background, and of its lines.
fn colors(voxel: Option<Rgba>) -> [[u8; 3]; 2] {
    match voxel {
        Some([r, g, b, _]) => {
            let color = [r, g, b];
            [color, color.map(|c| (u16::from(c) * LINE_LIGHT / 256) as u8)]
        }
        None => [EMPTY, EMPTY_LINE],
    }
}
