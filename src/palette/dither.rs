//! Ordered dithering in three dimensions: T. Knoll, "Pattern dithering", United States patent 6,606,166
//! (1999, expired 2019).
//!
//! A colour becomes a mixture of [`STEPS`] of the palette's, found one after another: each is near to
//! what the mixture still lacks, in linear light, as eyes mix it, and to the colour itself, in Oklab,
//! so that a mixture has as little grain as it can. Sorted from dark to light, the place of a voxel
//! says which of them it gets.

use quantette::deps::palette::Oklab;

use super::Rgb;
use super::nearest::{Nearest, oklab};
use crate::srgb::linear_of;

/// Colours in a mixture: as many as a square of 4 by 4 voxels.
const STEPS: usize = 16;

/// Indices of a palette's colours, from dark to light.
pub(super) type Mixture = [u8; STEPS];

/// What a distance in Oklab counts, squared, against one in linear light: for the sake of less grain
/// the sum of a mixture may be off by about the root of it.
const GRAIN: f32 = 1.0 / 16.0;

/// Colours, and those that are too far away to be chosen: as many as vectors hold.
const ROOM: usize = 256;
const FAR: f32 = 1e9;

/// A palette's colours, from dark to light.
pub(super) struct Mixer {
    /// Each channel from 0 to 1.
    light: [[f32; ROOM]; 3],
    look: Vec<Oklab>,
    indices: Vec<u8>,
}

impl Mixer {
    /// Of those that `nearest` may find.
    pub(super) fn new(nearest: &Nearest) -> Self {
        let mut all: Vec<(u8, Rgb, Oklab)> = nearest.candidates().collect();
        all.sort_by(|(.., a), (.., b)| a.l.total_cmp(&b.l));
        let mut lights = [[FAR; ROOM]; 3];
        for (place, (_, color, _)) in all.iter().enumerate() {
            (0..3).for_each(|c| lights[c][place] = light(color[c]));
        }
        Self {
            light: lights,
            look: all.iter().map(|&(.., look)| look).collect(),
            indices: all.iter().map(|&(index, ..)| index).collect(),
        }
    }

    /// The mixtures that are like `colors`.
    pub(super) fn mixtures(&self, colors: &[Rgb]) -> Vec<Mixture> {
        let mixture = |(color, look): (&Rgb, _)| self.mixture(color.map(light), look);
        colors.iter().zip(oklab(colors)).map(mixture).collect()
    }

    fn mixture(&self, aim: [f32; 3], look: Oklab) -> Mixture {
        let mut grain = [0.0; ROOM];
        for (grain, other) in grain.iter_mut().zip(&self.look) {
            let d = [look.l - other.l, look.a - other.a, look.b - other.b];
            *grain = GRAIN * square(d);
        }
        let mut lack = aim;
        let mut mixture = [0; STEPS].map(|_: u8| {
            let found = self.nearest(lack, &grain);
            lack = [0, 1, 2].map(|c| lack[c] + aim[c] - self.light[c][usize::from(found)]);
            found
        });
        mixture.sort_unstable();
        mixture.map(|found| self.indices[usize::from(found)])
    }

    /// The place of the colour nearest to `lack`, with what each has of grain.
    fn nearest(&self, lack: [f32; 3], grain: &[f32; ROOM]) -> u8 {
        let [r, g, b] = &self.light;
        // Floats that are not negative are ordered as their bits are; the last of these make room for
        // the place, so that the least of all numbers holds it.
        let costs: [i32; ROOM] = std::array::from_fn(|place| {
            let d = [lack[0] - r[place], lack[1] - g[place], lack[2] - b[place]];
            (grain[place] + square(d)).to_bits() as i32 & !0xff | place as i32
        });
        costs.into_iter().fold(i32::MAX, i32::min) as u8
    }
}

fn light(value: u8) -> f32 {
    f32::from(linear_of(value)) / 65535.0
}

fn square([x, y, z]: [f32; 3]) -> f32 {
    x * x + y * y + z * z
}

/// Which colour of its mixture a voxel gets. In each square of 4 by 4 voxels that lies along two axes
/// it is every one once, and near voxels get ones far apart: in two dimensions it is B. Bayer's matrix
/// ("An optimum method for two-level rendition of continuous-tone pictures", 1973).
#[inline]
pub(super) fn step([x, y, z]: [u32; 3]) -> usize {
    let (a, b) = (x ^ y, y ^ z);
    ((a & 1) << 3 | (b & 1) << 2 | (a & 2) | (b & 2) >> 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_of_four_by_four_voxels_holds_every_step_once() {
        for (i, j) in [(0, 1), (1, 2), (0, 2)] {
            for base in [[0, 0, 0], [1, 2, 3], [7, 5, 2]] {
                let mut seen = 0;
                for n in 0..16 {
                    let mut voxel = base;
                    voxel[i] += n % 4;
                    voxel[j] += n / 4;
                    seen |= 1 << step(voxel);
                }
                assert_eq!(seen, u16::MAX, "along axes {i} and {j} from {base:?}");
            }
        }
    }
}
