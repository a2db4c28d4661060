//! Numbers sorted into bins, in parallel: chunk by chunk, so that no thread waits for another.

use std::ops::Range;

use rayon::prelude::*;

/// Numbers that are binned at a time: the names of their bins stay in a core's cache.
const CHUNK: usize = 1 << 15;

/// A part has `2^PART_BITS` vertices, unless that makes too many parts: six half-edges for each
/// then take 0.8 MB, which a core's cache holds, and few triangles lie across two parts.
const PART_BITS: u32 = 14;
/// At most `2^MAX_PARTS_BITS` parts, so that a chunk has many numbers for each.
const MAX_PARTS_BITS: u32 = 8;

/// A place that names no bin.
pub(super) const NO_BIN: u16 = u16::MAX;

/// A part has `2^part_bits` of `count` vertices, the last one perhaps fewer.
pub(super) fn part_bits(count: usize) -> u32 {
    PART_BITS.max(count.next_power_of_two().ilog2().saturating_sub(MAX_PARTS_BITS))
}

/// The numbers from 0 in the bins that each belongs to, ascending within a bin.
pub(super) struct Bins {
    chunks: Vec<Chunk>,
}

/// The numbers of a chunk, bin by bin.
struct Chunk {
    numbers: Vec<u32>,
    /// Where each bin ends, and the next one starts.
    ends: Vec<u32>,
}

impl Bins {
    /// Sorts the numbers below `count` into `bins` bins. `bins_of` names up to `N` for a number,
    /// with [`NO_BIN`] in the other places.
    pub(super) fn new<const N: usize>(
        count: usize,
        bins: usize,
        bins_of: impl Fn(u32) -> [u16; N] + Sync,
    ) -> Self {
        let chunk = |chunk: usize| {
            let start = chunk * CHUNK;
            Chunk::new(start as u32..count.min(start + CHUNK) as u32, bins, &bins_of)
        };
        Self { chunks: (0..count.div_ceil(CHUNK)).into_par_iter().map(chunk).collect() }
    }

    /// The numbers in a bin.
    pub(super) fn bin(&self, bin: usize) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flat_map(move |chunk| chunk.bin(bin)).copied()
    }

    /// How many numbers are in a bin.
    pub(super) fn len(&self, bin: usize) -> usize {
        self.chunks.iter().map(|chunk| chunk.bin(bin).len()).sum()
    }

    /// The most bytes that `count` numbers take, each in `each` of `bins` bins.
    pub(super) fn bytes(count: usize, each: usize, bins: usize) -> u64 {
        let chunks = count.div_ceil(CHUNK);
        (4 * each * count + chunks * (size_of::<Chunk>() + 4 * bins)) as u64
    }
}

impl Chunk {
    fn new<const N: usize>(
        numbers: Range<u32>,
        bins: usize,
        bins_of: impl Fn(u32) -> [u16; N],
    ) -> Self {
        let names: Vec<[u16; N]> = numbers.clone().map(bins_of).collect();
        let is_bin = |bin: &&u16| **bin != NO_BIN;
        let mut ends = vec![0; bins];
        for &bin in names.as_flattened().iter().filter(is_bin) {
            ends[usize::from(bin)] += 1;
        }
        let mut sorted = vec![0; starts_from_counts(&mut ends) as usize];
        for (number, names) in numbers.zip(&names) {
            for &bin in names.iter().filter(is_bin) {
                let end = &mut ends[usize::from(bin)];
                sorted[*end as usize] = number;
                *end += 1;
            }
        }
        Self { numbers: sorted, ends }
    }

    fn bin(&self, bin: usize) -> &[u32] {
        let start = if bin == 0 { 0 } else { self.ends[bin - 1] };
        &self.numbers[start as usize..self.ends[bin] as usize]
    }
}

/// Where each bin starts, from how many it has; returns how many there are in all.
fn starts_from_counts(counts: &mut [u32]) -> u32 {
    counts.iter_mut().fold(0, |start, count| start + std::mem::replace(count, start))
}
