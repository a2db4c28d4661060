//! Palette quantization: X. Wu, "Color quantization by dynamic programming and principal analysis",
//! ACM Transactions on Graphics 11(4), 1992; then S. Thompson, M. E. Celebi and K. H. Buck, "Fast
//! color quantization using MacQueen's k-means algorithm", Journal of Real-Time Image Processing
//! 17, 2020.

use quantette::color_space::oklab_to_srgb8;
use quantette::deps::palette::{Oklab, cast};
use quantette::kmeans::{Kmeans, KmeansOptions};
use quantette::wu::{BinnerF32x3, WuF32x3};
use quantette::{PaletteBuf, PaletteCounts, PaletteSize};

use super::Rgb;
use super::nearest::oklab;

/// Quantizes `colors`, weighted by `counts`, to at most `most` distinct colours. Single-threaded:
/// the results of the crate's parallel versions depend on the number of threads.
pub(super) fn quantize(colors: &[Rgb], counts: &[u64], most: usize) -> Vec<Rgb> {
    let weights = weights(counts);
    let all =
        PaletteCounts::new(oklab(colors), weights).expect("a weight for each, of 2^32 in all");
    let by_wu = wu(&all, most);
    let best = kmeans(&all, by_wu);
    let mut chosen = cast::into_array_vec(oklab_to_srgb8(&best));
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Counts scaled for the crate: each at least 1, in total at most about 2^31.
fn weights(counts: &[u64]) -> Vec<u32> {
    let total: u64 = counts.iter().sum();
    let shift = (u64::BITS - total.leading_zeros()).saturating_sub(31);
    counts.iter().map(|count| (count >> shift).max(1) as u32).collect()
}

fn wu(all: &PaletteCounts<Oklab>, most: usize) -> PaletteBuf<Oklab> {
    /// Bins along `l`, `a` and `b`, twice as fine as the crate's default: a fifth less error, for
    /// 2.6 MB.
    type Bins = BinnerF32x3<64, 32, 32>;
    let bins = Bins::new(Bins::OKLAB_COMPONENT_RANGES_FROM_SRGB8);
    let found = WuF32x3::run_palette_counts(all, bins);
    found.expect("some colours").palette(PaletteSize::from_usize_clamped(most))
}

/// Samples of k-means, each of which moves the nearest centroid towards it. Twice as many lower the
/// mean error by 1 %.
const SAMPLES: u32 = 1 << 17;

/// Refines the palette `first`.
fn kmeans(all: &PaletteCounts<Oklab>, first: PaletteBuf<Oklab>) -> PaletteBuf<Oklab> {
    let options = KmeansOptions::new().sampling_factor(f32::INFINITY).max_samples(SAMPLES).seed(0);
    let found = Kmeans::run_slice(&samples(all), first, options);
    found.expect("at most 2^32 samples").into_palette()
}

/// Systematic sampling: colours at equal steps of the cumulative weight.
fn samples(all: &PaletteCounts<Oklab>) -> Vec<Oklab> {
    let total = u64::from(all.total_count());
    let count = total.min(SAMPLES.into());
    let mut weights = all.palette().iter().zip(all.counts());
    let (mut color, mut end) = (Oklab::default(), 0);
    let at = |index: u64| {
        // The middle of the step; below `total`.
        let position = (2 * index + 1) * total / (2 * count);
        while end <= position
            && let Some((&next, &weight)) = weights.next()
        {
            (color, end) = (next, end + u64::from(weight));
        }
        color
    };
    (0..count).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::palette::nearest::Nearest;
    use crate::surface::palette::{MAX_COLORS, Matching, Palette};

    /// The sorted distinct colours of a picture of a million pixels, and their counts: smooth
    /// gradients of stone, moss and sky, with noise.
    fn picture() -> (Vec<Rgb>, Vec<u64>) {
        let mut random = fastrand::Rng::with_seed(4);
        let mut pixels: Vec<Rgb> = (0..1 << 20)
            .map(|i| {
                let [x, y] = [i % 1024, i / 1024].map(|c| f64::from(c) / 1024.0);
                let ends = match ((7.0 * x).sin() + (5.0 * y).cos(), y < 0.3) {
                    (_, true) => [[90.0, 140.0, 220.0], [235.0, 240.0, 255.0]],
                    (..0.3, _) => [[60.0, 52.0, 48.0], [190.0, 180.0, 160.0]],
                    _ => [[20.0, 50.0, 15.0], [130.0, 170.0, 40.0]],
                };
                let along = (0.5 + 0.5 * (23.0 * x * y).sin() + 0.1 * random.f64()).min(1.0);
                std::array::from_fn(|c| {
                    let value = ends[0][c] + along * (ends[1][c] - ends[0][c]);
                    (value + 12.0 * random.f64()) as u8
                })
            })
            .collect();
        pixels.sort_unstable();
        pixels.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).unzip()
    }

    /// The mean distance in Oklab from `colors` to the nearest of `chosen`.
    fn mean_error(colors: &[Rgb], counts: &[u64], chosen: &[Rgb]) -> f64 {
        let rgba = chosen.iter().map(|&[r, g, b]| [r, g, b, 255]).collect();
        let palette = Palette { colors: rgba, matching: Matching::Chosen };
        let nearest = Nearest::new(&palette).of(colors);
        let found: Vec<Rgb> = nearest.iter().map(|&index| chosen[usize::from(index)]).collect();
        let distance = |(a, b): (Oklab, Oklab)| {
            let square: f64 =
                [a.l - b.l, a.a - b.a, a.b - b.b].map(|d| f64::from(d).powi(2)).iter().sum();
            square.sqrt()
        };
        let distances = oklab(colors).into_iter().zip(oklab(&found)).map(distance);
        let sum: f64 = distances.zip(counts).map(|(d, &n)| d * n as f64).sum();
        sum / counts.iter().sum::<u64>() as f64
    }

    #[test]
    fn k_means_finds_a_better_palette_than_wu_alone() {
        let (colors, counts) = picture();
        let all = PaletteCounts::new(oklab(&colors), weights(&counts)).expect("weights");
        let of = |palette: PaletteBuf<Oklab>| {
            mean_error(&colors, &counts, &cast::into_array_vec(oklab_to_srgb8(&palette)))
        };
        let first = || wu(&all, MAX_COLORS);
        let (by_wu, by_both) = (of(first()), of(kmeans(&all, first())));
        println!("{} colours: {by_wu:.5} by Wu, {by_both:.5} with k-means", colors.len());
        assert!(by_both < 0.95 * by_wu && by_both < 0.006);
    }
}
