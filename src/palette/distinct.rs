//! Which of the 2^24 colours there are, and how often each comes.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::Rgb;
use crate::grid::{Colors, set_bits};
use crate::srgb::Rgba;

/// All colours there can be, 64 of them in a word.
const WORDS: usize = 1 << 18;
/// Colours that one task looks at.
const CHUNK: usize = 1 << 15;

/// A set of colours, each with an index in the order of red, green and blue.
pub(super) struct Distinct {
    /// A bit for each colour that there is.
    words: Vec<u64>,
    /// How many come before each word.
    before: Vec<u32>,
}

impl Distinct {
    /// Those that `occupied` voxels have; one at least, whatever their number.
    pub(super) fn new(colors: &Colors, occupied: u64) -> Self {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let set = |color: &Rgba| {
            let [word, bit] = place(color);
            // Nearly always it is there already: reading does not stop others.
            if words[word].load(Ordering::Relaxed) >> bit & 1 == 0 {
                words[word].fetch_or(1 << bit, Ordering::Relaxed);
            }
        };
        colors.own().par_iter().with_min_len(CHUNK).for_each(set);
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

    /// All of them, by their index.
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

    /// That of a colour that is in the set.
    #[inline]
    pub(super) fn index(&self, color: &Rgba) -> usize {
        let [word, bit] = place(color);
        let below = self.words[word] & ((1 << bit) - 1);
        (self.before[word] + below.count_ones()) as usize
    }

    /// How many of `occupied` voxels have each colour, by its index.
    pub(super) fn counts(&self, colors: &Colors, occupied: u64) -> Vec<u64> {
        let counts: Vec<AtomicU64> = (0..self.len()).map(|_| AtomicU64::new(0)).collect();
        colors.own().par_chunks(CHUNK).for_each(|part| {
            // Neighbours often have the same.
            for run in part.chunk_by(|a, b| a[..3] == b[..3]) {
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

/// How many voxels have no colour of their own.
fn rest_count(colors: &Colors, occupied: u64) -> u64 {
    occupied.saturating_sub(colors.own_count())
}

/// The word and the bit of a colour.
#[inline]
fn place(&[r, g, b, _]: &Rgba) -> [usize; 2] {
    let value = u32::from_be_bytes([0, r, g, b]) as usize;
    [value / 64, value % 64]
}
