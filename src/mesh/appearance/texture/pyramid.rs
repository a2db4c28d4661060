//! The mip levels of a texture (L. Williams, "Pyramidal Parametrics", SIGGRAPH 1983), in linear
//! light: a texel of level `k` is the mean of the up to `2^k` by `2^k` texels that it covers.

use std::sync::OnceLock;

use crate::base::srgb::{Rgba, linear_of};
use crate::mesh::appearance::texture::Texture;

/// A filtered texel, from 0 to 1: linear red, green and blue premultiplied by opacity, opacity, and
/// the share of the area whose opacity is not 0.
pub(crate) type Sample = [f64; 5];

/// Linear light of each sRGB value, from 0 to 1.
const LIGHT: [f64; 256] = {
    let mut light = [0.0; 256];
    let mut value = 0;
    while value < 256 {
        light[value] = linear_of(value as u8) as f64 / 65535.0;
        value += 1;
    }
    light
};

/// The alpha mode of texels. A cutoff applies to texels, before filtering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TexelAlpha {
    /// Every texel is opaque.
    Opaque,
    /// Texels of at least this opacity (0 to 255) are opaque; all others are transparent.
    Cutoff(u16),
    /// Opacity as stored.
    Blend,
    /// Every texel is opaque, and its values are linear instead of sRGB.
    Linear,
}

impl TexelAlpha {
    #[inline(always)]
    pub(crate) fn sample(self, [r, g, b, opacity]: Rgba) -> Sample {
        if self == Self::Linear {
            let [r, g, b] = [r, g, b].map(|value| f64::from(value) / 255.0);
            return [r, g, b, 1.0, 1.0];
        }
        let [r, g, b] = [LIGHT[usize::from(r)], LIGHT[usize::from(g)], LIGHT[usize::from(b)]];
        match self {
            Self::Cutoff(cutoff) if u16::from(opacity) < cutoff => [0.0; 5],
            Self::Blend if opacity == 0 => [0.0; 5],
            Self::Blend if opacity < u8::MAX => {
                let opacity = f64::from(opacity) / 255.0;
                [r * opacity, g * opacity, b * opacity, opacity, 1.0]
            }
            _ => [r, g, b, 1.0, 1.0],
        }
    }
}

/// One mip level; samples are scaled to 65,535.
#[derive(Debug)]
pub(crate) struct Level {
    size: [u32; 2],
    texels: Vec<[u16; 5]>,
}

impl Level {
    fn new(size: [u32; 2], sample: impl Fn(u32, u32) -> Sample) -> Self {
        let positions = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y)));
        let texel = |(x, y)| sample(x, y).map(|c| (c * 65535.0 + 0.5) as u16);
        Self { size, texels: positions.map(texel).collect() }
    }

    #[inline]
    fn sample(&self, x: u32, y: u32) -> Sample {
        let texel = self.texels[y as usize * self.size[0] as usize + x as usize];
        texel.map(|c| f64::from(c) / 65535.0)
    }
}

/// The sizes of the mip levels above a base of `size` texels, down to one texel.
fn smaller_sizes(size: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    let half = |size: &[u32; 2]| (*size != [1, 1]).then(|| size.map(|s| s.div_ceil(2)));
    std::iter::successors(half(&size), half)
}

/// The memory of the mip levels of a texture of `size` texels, in bytes.
pub(crate) fn level_bytes(size: [u32; 2]) -> u64 {
    let texels: u64 =
        smaller_sizes(size).map(|[width, height]| u64::from(width) * u64::from(height)).sum();
    texels * size_of::<[u16; 5]>() as u64
}

/// The mip levels above a base of `size` texels, down to one texel.
fn smaller_levels(size: [u32; 2], base: impl Fn(u32, u32) -> Sample) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let mut shape = size;
    for half in smaller_sizes(size) {
        let edge = 1_u64 << levels.len();
        // A texel at the far edge may cover fewer base texels than the others.
        let width = |a: usize, i: u32| edge.min(u64::from(size[a]) - u64::from(i) * edge) as f64;
        let pair = |i: u32, end: u32| 2 * i..end.min(2 * i + 2);
        let level = Level::new(half, |x, y| {
            let (mut sum, mut area) = ([0.0; 5], 0.0);
            for y in pair(y, shape[1]) {
                for x in pair(x, shape[0]) {
                    let sample = match levels.last() {
                        Some(level) => level.sample(x, y),
                        None => base(x, y),
                    };
                    let weight = width(0, x) * width(1, y);
                    (0..5).for_each(|i| sum[i] += weight * sample[i]);
                    area += weight;
                }
            }
            sum.map(|c| c / area)
        });
        levels.push(level);
        shape = half;
    }
    levels
}

/// How an axis of the texture is reduced to one texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisReduction {
    /// The first row or column.
    First,
    /// The last row or column.
    Last,
    /// The mean of all.
    Mean,
}

/// The mip levels of a texture under one alpha mode, made on first use.
#[derive(Debug)]
pub(crate) struct Pyramid {
    pub(crate) texel_alpha: TexelAlpha,
    smaller: OnceLock<Vec<Level>>,
    /// A row or a column of samples and its mip levels, by the axis that is reduced, then by
    /// [`AxisReduction`].
    strips: [[OnceLock<Vec<Level>>; 3]; 2],
}

impl Pyramid {
    pub(crate) fn new(texel_alpha: TexelAlpha) -> Self {
        Self { texel_alpha, smaller: OnceLock::new(), strips: Default::default() }
    }

    // The closures given to `get_or_init` must not use rayon: a waiting thread may steal a task
    // that needs the same value, and deadlock on itself.
    fn smaller(&self, texture: &Texture) -> &[Level] {
        let base = |x, y| self.texel_alpha.sample(texture.texel(x, y));
        self.smaller.get_or_init(|| smaller_levels(texture.size(), base))
    }

    /// The texture with one axis reduced.
    pub(crate) fn strip(&self, texture: &Texture, axis: usize, to: AxisReduction) -> Mipmapped<'_> {
        Mipmapped::Strip(self.strips[axis][to as usize].get_or_init(|| {
            let mut size = texture.size();
            let count = std::mem::replace(&mut size[axis], 1);
            let range = match to {
                AxisReduction::First => 0..1,
                AxisReduction::Last => count - 1..count,
                AxisReduction::Mean => 0..count,
            };
            let base = Level::new(size, |x, y| {
                let mut sum = [0.0; 5];
                for i in range.clone() {
                    let [x, y] = if axis == 0 { [i, y] } else { [x, i] };
                    let sample = self.texel_alpha.sample(texture.texel(x, y));
                    (0..5).for_each(|c| sum[c] += sample[c]);
                }
                sum.map(|c| c / range.len() as f64)
            });
            let smaller = smaller_levels(size, |x, y| base.sample(x, y));
            [base].into_iter().chain(smaller).collect()
        }))
    }
}

/// An image with mip levels: a texture, or a texture with one axis reduced.
#[derive(Clone, Copy)]
pub(crate) enum Mipmapped<'a> {
    Whole { texture: &'a Texture, pyramid: &'a Pyramid },
    Strip(&'a [Level]),
}

impl Mipmapped<'_> {
    pub(crate) fn size(self) -> [u32; 2] {
        match self {
            Self::Whole { texture, .. } => texture.size(),
            Self::Strip(levels) => levels[0].size,
        }
    }

    /// The texel `(x, y)` of a level, clamped to its size; of the smallest for a level past it.
    #[inline(always)]
    pub(crate) fn sample(self, level: u32, [x, y]: [i64; 2]) -> Sample {
        let clamp = |i: i64, count: u32| i.clamp(0, i64::from(count) - 1) as u32;
        let at = |level: &Level| level.sample(clamp(x, level.size[0]), clamp(y, level.size[1]));
        match self {
            Self::Strip(levels) => at(&levels[(level as usize).min(levels.len() - 1)]),
            Self::Whole { texture, pyramid } => {
                // None of a base of one texel.
                let smaller = if level > 0 { pyramid.smaller(texture) } else { &[] };
                match smaller.get((level as usize).wrapping_sub(1)).or(smaller.last()) {
                    Some(level) => at(level),
                    None => {
                        let [width, height] = texture.size();
                        let texel = texture.texel(clamp(x, width), clamp(y, height));
                        pyramid.texel_alpha.sample(texel)
                    }
                }
            }
        }
    }
}
