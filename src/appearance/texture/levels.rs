//! A texture made smaller: each level has a half of the width and height of the one before (L. Williams,
//! "Pyramidal Parametrics", SIGGRAPH 1983), in linear light.

use rayon::prelude::*;

use crate::appearance::texture::{Light, Texture};
use crate::srgb::Linear;

/// An image of linear light, multiplied by opacity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    size: [u32; 2],
    texels: Vec<Linear>,
}

impl Level {
    pub(super) fn size(&self) -> [u32; 2] {
        self.size
    }

    pub(super) fn light(&self, x: u32, y: u32) -> Light {
        self.texels[y as usize * self.size[0] as usize + x as usize].map(|c| f64::from(c) / 65535.0)
    }
}

/// The levels below the texture itself, down to one texel.
pub(super) fn smaller_levels(texture: &Texture) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let mut size = texture.size();
    while size != [1, 1] {
        let light = |x: u32, y: u32| match levels.last() {
            Some(level) => level.light(x, y),
            None => texture.texel_light(x, y),
        };
        let level = halved(size, light);
        size = level.size;
        levels.push(level);
    }
    levels
}

/// Each texel is the mean of up to four of an image of `size`: fewer at the far edges of odd ones.
fn halved(size: [u32; 2], light: impl Fn(u32, u32) -> Light + Sync) -> Level {
    let half = size.map(|s| s.div_ceil(2));
    let pair = |i: u32, end: u32| 2 * i..end.min(2 * i + 2);
    let texel = |x: u32, y: u32| {
        let (rows, columns) = (pair(y, size[1]), pair(x, size[0]));
        let count = f64::from(rows.len() as u32 * columns.len() as u32);
        let all = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
        let sum = all.fold([0.0; 4], |sum: Light, (x, y)| {
            let light = light(x, y);
            std::array::from_fn(|i| sum[i] + light[i])
        });
        sum.map(|c| (c / count * 65535.0).round() as u16)
    };
    let rows = (0..half[1]).into_par_iter();
    let texels = rows.flat_map_iter(|y| (0..half[0]).map(move |x| (x, y)));
    Level { size: half, texels: texels.map(|(x, y)| texel(x, y)).collect() }
}
