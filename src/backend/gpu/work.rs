//! The profile of each step of a run: its minimum work, from the run's counters.

use crate::backend::gpu::buffers::Sizes;
use crate::backend::gpu::data::{
    BLOCK_WORDS, BRICK_WORDS, BRICKS, CANDIDATES, CROSSING_WORDS, CROSSINGS, FAILURES, GROUP,
    GROUPS, LEVELS, PAIR_WORDS, PAIRS, STARTED, TRIANGLE_WORDS,
};
use crate::backend::gpu::stages::Step;
use crate::backend::report::StageReport;
use crate::gpu::kernels;

/// What a run counted, and what the host knows of it.
pub(super) struct Counts<'a> {
    pub(super) triangles: u64,
    /// Words of the bitmap of the region's bricks.
    pub(super) bitmap: u64,
    pub(super) counters: &'a [u32],
    /// Capacities of the buffers: records above them were counted, but not processed.
    pub(super) sizes: &'a Sizes,
}

impl Counts<'_> {
    /// The counter of a level; `first` is that of the first.
    fn on(&self, level: usize, first: usize) -> u64 {
        self.counters[first + level].into()
    }

    /// The sum over all levels.
    pub(super) fn sum(&self, first: usize) -> u64 {
        (0..LEVELS).map(|level| self.on(level, first)).sum()
    }

    fn pairs(&self, level: usize) -> u64 {
        self.on(level, PAIRS).min(self.sizes.pairs_on(level as u32).into())
    }
}

const WORD: u64 = 4;
const PAIR: u64 = WORD * PAIR_WORDS as u64;
const BRICK: u64 = WORD * BRICK_WORDS as u64;
const CROSSING: u64 = WORD * CROSSING_WORDS as u64;
/// A triangle's vertex indices and its three vertices.
const TRIANGLE: u64 = 4 * WORD * TRIANGLE_WORDS as u64;

/// The profile of `step`, which took `ms`, in a run that counted `counts`.
pub(super) fn profile(step: &Step, counts: &Counts, ms: Option<f64>) -> StageReport {
    let level = step.level as usize;
    let (pairs, candidates) = (counts.pairs(level), counts.on(level, CANDIDATES));
    let &Counts { triangles, bitmap, counters, sizes } = counts;
    let bricks = u64::from(counters[BRICKS].min(sizes.bricks));
    let crossings = u64::from(counters[CROSSINGS].min(sizes.crossings));
    // The first pair of a workgroup is written by the stage before.
    let groups = 2 * counts.on(level, GROUPS);
    let (invocations, tests, bytes) = match step.kernel {
        kernels::SEED => (triangles, 0, triangles * TRIANGLE + counts.sum(STARTED) * PAIR),
        kernels::REFINE => {
            let read = pairs * (PAIR + TRIANGLE) + groups * WORD;
            // The pairs of the level below that do not start there.
            let children = counts.pairs(level - 1).saturating_sub(counts.on(level - 1, STARTED));
            (candidates, candidates, read + children * PAIR)
        }
        // A pair, and its word of the bitmap; each brick counts.
        kernels::MARK_BRICKS => (pairs, 0, pairs * (PAIR + WORD) + bricks * WORD),
        // The blocks, read twice and written.
        kernels::SCAN_BLOCKS => (GROUP.into(), 0, bitmap.div_ceil(BLOCK_WORDS.into()) * 3 * WORD),
        // The bitmap, the blocks, and the bricks. The number of words with bricks is not known.
        kernels::RANK_BRICKS => (bitmap, 0, bitmap * WORD + bricks * BRICK),
        // After a failure, voxels are not tested.
        _ if counters[FAILURES] != 0 => (0, 0, 0),
        // A pair, its word of the bitmap and its number, and its triangle; the bricks, read and
        // written.
        _ => {
            let read = pairs * (PAIR + 2 * WORD + TRIANGLE) + groups * WORD;
            let written = bricks * 2 * BRICK + crossings * CROSSING;
            (candidates, candidates, read + written)
        }
    };
    StageReport { name: step.kernel.name(), ms, dispatches: 1, invocations, tests, bytes }
}
