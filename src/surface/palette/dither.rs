//! Ordered dithering in three dimensions: T. Knoll, "Pattern dithering", United States patent
//! 6,606,166 (1999, expired 2019).
//!
//! A colour becomes a mixture of [`LEVELS`] palette colours, chosen greedily: each minimizes the
//! distance to the remaining error in linear light, in which the eye mixes, plus a penalty for its
//! distance to the colour in Oklab, which limits grain. Colours much farther than the nearest are
//! not mixed, except of a palette that the user gives. The mixture is sorted from dark to light and
//! indexed by the threshold of the voxel's position.

use quantette::deps::palette::Oklab;

use super::nearest::{candidates, points, squared_distance};
use super::{Matching, Palette, Rgb};
use crate::base::srgb::linear_of;
use crate::grid::Up;

/// Colours in a mixture, and thresholds in a square of 4 by 4 voxels.
const LEVELS: usize = 16;

/// Palette indices, from dark to light.
pub(super) type Mixture = [u8; LEVELS];

/// The weight of a squared distance in Oklab against one in linear light. The mean of a mixture may
/// be off by about its square root.
const GRAIN: f32 = 1.0 / 16.0;

/// Palette slots, a multiple of all vector widths; unused ones are at the distance `FAR`.
const SLOTS: usize = 256;
const FAR: f32 = 1e9;

/// The palette colours, from dark to light.
pub(super) struct Mixer {
    /// Linear light by channel, from 0 to 1.
    light: [[f32; SLOTS]; 3],
    oklab: Vec<Oklab>,
    indices: Vec<u8>,
    matching: Matching,
}

impl Mixer {
    pub(super) fn new(palette: &Palette) -> Self {
        let mut all = candidates(palette);
        all.sort_by(|(.., a), (.., b)| a.l.total_cmp(&b.l));
        let mut lights = [[FAR; SLOTS]; 3];
        for (slot, (_, color, _)) in all.iter().enumerate() {
            (0..3).for_each(|c| lights[c][slot] = light(color[c]));
        }
        Self {
            light: lights,
            oklab: all.iter().map(|&(.., oklab)| oklab).collect(),
            indices: all.iter().map(|&(index, ..)| index).collect(),
            matching: palette.matching,
        }
    }

    /// The mixtures of `colors`.
    pub(super) fn mixtures(&self, colors: &[Rgb]) -> Vec<Mixture> {
        let mixture = |(color, oklab): (&Rgb, _)| self.mixture(color.map(light), oklab);
        colors.iter().zip(points(colors, self.matching)).map(mixture).collect()
    }

    fn mixture(&self, target: [f32; 3], oklab: Oklab) -> Mixture {
        let mut grain = [0.0; SLOTS];
        let distance = |&other: &Oklab| squared_distance(oklab, other);
        let least = self.oklab.iter().map(distance).fold(f32::INFINITY, f32::min);
        let most = self.matching.mixing_distance(least.sqrt());
        for (grain, other) in grain.iter_mut().zip(&self.oklab) {
            let distance = distance(other);
            *grain = if distance > most * most { FAR } else { GRAIN * distance };
        }
        // The target for the next colour: `target` plus the error of the colours chosen so far.
        let mut next = target;
        let mut mixture = [0; LEVELS].map(|_: u8| {
            let slot = self.nearest(next, &grain);
            next = [0, 1, 2].map(|c| next[c] + target[c] - self.light[c][usize::from(slot)]);
            slot
        });
        mixture.sort_unstable();
        mixture.map(|slot| self.indices[usize::from(slot)])
    }

    /// The slot with the least sum of `grain` and the squared distance to `target`.
    fn nearest(&self, target: [f32; 3], grain: &[f32; SLOTS]) -> u8 {
        let [r, g, b] = &self.light;
        // The bits of non-negative floats are ordered as the floats. The slot replaces the lowest
        // eight, so the minimum contains its slot.
        let costs: [i32; SLOTS] = std::array::from_fn(|slot| {
            let [x, y, z] = [target[0] - r[slot], target[1] - g[slot], target[2] - b[slot]];
            (grain[slot] + (x * x + y * y + z * z)).to_bits() as i32 & !0xff | slot as i32
        });
        costs.into_iter().fold(i32::MAX, i32::min) as u8
    }
}

fn light(value: u8) -> f32 {
    f32::from(linear_of(value)) / 65535.0
}

/// The dither threshold of a voxel, an index of its mixture. Every axis-aligned square of 4 by 4
/// voxels holds each threshold once, and neighbours have distant ones: Bayer's matrix (B. Bayer,
/// "An optimum method for two-level rendition of continuous-tone pictures", 1973) in horizontal
/// planes, which are the widest of most models, and a similar one in the others.
#[inline]
pub(super) fn threshold([x, y, z]: [u32; 3], up: Up) -> usize {
    let [x, y, z] = if up == Up::Y { [x, z, y] } else { [x, y, z] };
    let (a, b) = (x ^ y, y ^ z);
    ((a & 1) << 3 | (b & 1) << 2 | (a & 2) | (b & 2) >> 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_hold_every_threshold_once_and_half_of_a_horizontal_plane_is_a_checkerboard() {
        for (up, vertical) in [(Up::Y, 1), (Up::Z, 2)] {
            for (i, j) in [(0, 1), (1, 2), (0, 2)] {
                for base in [[0, 0, 0], [1, 2, 3], [7, 5, 2]] {
                    let mut seen = 0;
                    for [s, t] in (0..16).map(|n| [n % 4, n / 4]) {
                        let mut voxel = base;
                        (voxel[i], voxel[j]) = (base[i] + s, base[j] + t);
                        let threshold = threshold(voxel, up);
                        seen |= 1 << threshold;
                        if i != vertical && j != vertical {
                            let is_light = threshold >= LEVELS / 2;
                            assert_eq!(is_light, (voxel[i] + voxel[j]) % 2 == 1, "{voxel:?}");
                        }
                    }
                    assert_eq!(seen, u16::MAX, "along axes {i} and {j} from {base:?}");
                }
            }
        }
    }
}
