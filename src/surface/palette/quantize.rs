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
