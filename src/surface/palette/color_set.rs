//! The set of distinct colours, as a bit set of all 2^24, and a histogram over it.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::Rgb;
use crate::base::srgb::Rgba;
use crate::grid::{Colors, set_bits};

/// Words of a bit set of all colours.
const WORDS: usize = 1 << 18;
/// Colours per task.
const BATCH: usize = 1 << 15;

/// A set of colours, indexed in the order of red, green and blue.
#[derive(Debug)]
pub(super) struct ColorSet {
    /// The bit set.
    words: Vec<u64>,
    /// The exclusive prefix sum of the words' bit counts.
    before: Vec<u32>,
}

impl ColorSet {
    /// The colours of a grid with `occupied` voxels; for an empty grid the default colour.
    pub(super) fn new(colors: &Colors, occupied: u64) -> Self {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let set = |color: &Rgba| {
            let [word, bit] = bit_position(color);
            // The bit is nearly always set already, and a load does not contend with others.
            if words[word].load(Ordering::Relaxed) >> bit & 1 == 0 {
                words[word].fetch_or(1 << bit, Ordering::Relaxed);
            }
        };
        colors.own().par_iter().with_min_len(BATCH).for_each(set);
        if rest_count(colors, occupied) > 0 || occupied == 0 {
            set(&colors.rest());
        }
        let words: Vec<u64> = words.into_iter().map(AtomicU64::into_inner).collect();
        let mut sum = 0;
        let before = words.iter().map(|word| {
            let before = sum;
            sum += word.count_ones();
            before
        });
        Self { before: before.collect(), words }
    }

    pub(super) fn len(&self) -> usize {
        (self.before[WORDS - 1] + self.words[WORDS - 1].count_ones()) as usize
    }

    /// The colours by index.
    pub(super) fn colors(&self) -> Vec<Rgb> {
        let mut colors = Vec::with_capacity(self.len());
        for (index, &word) in (0..).zip(&self.words) {
            colors.extend(set_bits(word).map(|bit| {
                let [_, r, g, b] = (64 * index + bit).to_be_bytes();
                [r, g, b]
            }));
        }
        colors
    }

    /// The index of a colour of the set.
    #[inline]
    pub(super) fn index(&self, color: &Rgba) -> usize {
        let [word, bit] = bit_position(color);
        let below = self.words[word] & ((1 << bit) - 1);
        (self.before[word] + below.count_ones()) as usize
    }

    /// The histogram of the `occupied` voxels, by colour index.
    pub(super) fn counts(&self, colors: &Colors, occupied: u64) -> Vec<u64> {
        let counts: Vec<AtomicU64> = (0..self.len()).map(|_| AtomicU64::new(0)).collect();
        colors.own().par_chunks(BATCH).for_each(|batch| {
            // Neighbours often have the same colour.
            for run in batch.chunk_by(|a, b| a[..3] == b[..3]) {
                counts[self.index(&run[0])].fetch_add(run.len() as u64, Ordering::Relaxed);
            }
        });
        let rest = rest_count(colors, occupied);
        if rest > 0 {
            counts[self.index(&colors.rest())].fetch_add(rest, Ordering::Relaxed);
        }
        counts.into_iter().map(AtomicU64::into_inner).collect()
    }
}

/// The number of voxels with the default colour.
fn rest_count(colors: &Colors, occupied: u64) -> u64 {
    occupied.saturating_sub(colors.own_count())
}

/// The word and the bit of a colour in the bit set.
#[inline]
fn bit_position(&[r, g, b, _]: &Rgba) -> [usize; 2] {
    let value = u32::from_be_bytes([0, r, g, b]) as usize;
    [value / 64, value % 64]
}
