//! Sorts numbers into bins in parallel, chunk by chunk, without synchronization.

use std::ops::Range;

use rayon::prelude::*;

/// Items per chunk; the bin indices of a chunk fit into a core's cache.
const CHUNK: usize = 1 << 15;

/// A part has `2^PART_BITS` vertices, unless that makes too many parts: six half-edges per vertex
/// then take 0.8 MB, which fits into a core's cache, and few triangles span two parts.
const PART_BITS: u32 = 14;
/// At most `2^MAX_PARTS_BITS` parts, so that a chunk has many numbers per part.
const MAX_PARTS_BITS: u32 = 8;

/// Marks an unused entry.
pub(super) const NO_BIN: u16 = u16::MAX;

/// The number of vertices per part, as a power of two, for `count` vertices; the last part may have
/// fewer.
pub(super) fn part_bits(count: usize) -> u32 {
    PART_BITS.max(count.next_power_of_two().ilog2().saturating_sub(MAX_PARTS_BITS))
}

/// The numbers from 0, sorted into the bins that each belongs to, ascending within a bin.
pub(super) struct Bins {
    chunks: Vec<Chunk>,
}

/// The numbers of a chunk, bin by bin.
struct Chunk {
    numbers: Vec<u32>,
    /// The end of each bin, which is the start of the next.
    ends: Vec<u32>,
}

impl Bins {
    /// Sorts the numbers below `count` into `bins` bins. `bins_of` returns up to `N` bins of a
    /// number, padded with [`NO_BIN`].
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

    /// Maximum memory of `count` numbers, each in `each` of `bins` bins, in bytes.
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
        // From the sizes to the starts of the bins.
        let total = ends.iter_mut().fold(0, |start, end| start + std::mem::replace(end, start));
        let mut sorted = vec![0; total as usize];
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
