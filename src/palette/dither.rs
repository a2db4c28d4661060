//! Ordered dithering in three dimensions: T. Knoll, "Pattern dithering", United States patent 6,606,166
//! (1999, expired 2019).
//!
//! A colour becomes a mixture of [`STEPS`] of the palette's, found one after another: each is the
//! nearest to what the mixture still lacks, in linear light, as eyes mix it. Sorted from dark to light,
//! the place of a voxel says which of them it gets.

use super::nearest::{Nearest, oklab};
use super::{Palette, Rgb};
use crate::srgb::{linear_of, srgb_of};

/// Colours in a mixture: as many as a square of 4 by 4 voxels.
const STEPS: usize = 16;

/// Indices of a palette's colours, from dark to light.
pub(super) type Mixture = [u8; STEPS];

/// The mixtures of palette colours for `colors`.
pub(super) fn mixtures(colors: &[Rgb], palette: &Palette, nearest: &Nearest) -> Vec<Mixture> {
    let linear = |index: u8| {
        let [r, g, b, _] = palette.colors()[usize::from(index)];
        [r, g, b].map(|c| i64::from(linear_of(c)))
    };
    let aims: Vec<[i64; 3]> = colors.iter().map(|c| c.map(|c| linear_of(c).into())).collect();
    // What the mixture lacks.
    let mut lacks = aims.clone();
    let mut mixtures = vec![Mixture::default(); colors.len()];
    for step in 0..STEPS {
        let wanted: Vec<Rgb> = lacks.iter().map(|lack| lack.map(clamped_srgb)).collect();
        let found = nearest.of(&wanted);
        for (((mixture, lack), aim), index) in
            mixtures.iter_mut().zip(&mut lacks).zip(&aims).zip(found)
        {
            mixture[step] = index;
            let has = linear(index);
            *lack = std::array::from_fn(|c| lack[c] + aim[c] - has[c]);
        }
    }
    let lightness = lightness(palette);
    let key = |index: &u8| (lightness[usize::from(*index)], *index);
    mixtures.iter_mut().for_each(|mixture| mixture.sort_unstable_by_key(key));
    mixtures
}

fn clamped_srgb(light: i64) -> u8 {
    srgb_of(light.clamp(0, u16::MAX.into()) as u16)
}

/// Of each of the palette's colours, in millionths.
fn lightness(palette: &Palette) -> Vec<i32> {
    let colors: Vec<Rgb> = palette.colors().iter().map(|&[r, g, b, _]| [r, g, b]).collect();
    oklab(&colors).into_iter().map(|color| (color.l * 1e6) as i32).collect()
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
