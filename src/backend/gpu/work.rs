//! The profile of each step of a run: its minimum work, from the run's counters.

use crate::backend::gpu::buffers::Sizes;
use crate::backend::gpu::data::{
    BLOCK_WORDS, BRICK_WORDS, BRICKS, CANDIDATES, CROSSING_WORDS, CROSSINGS, FAILURES, GROUP,
    GROUPS, LEVELS, PAIRS, Pair, STARTED, TRIANGLE_WORDS,
};
use crate::backend::gpu::stages::Step;
use crate::backend::report::StageReport;
use crate::gpu::kernels;

/// The counts of a run.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    pub(super) triangles: u64,
    pub(super) bricks: u64,
    pub(super) crossings: u64,
    /// Words of the bitmap of the region's bricks.
    pub(super) bitmap: u64,
    /// Pairs per level.
    pub(super) pairs: [u64; LEVELS],
    /// Candidates per level.
    pub(super) candidates: [u64; LEVELS],
    /// Triangles that start at each level.
    pub(super) started: [u64; LEVELS],
    /// Workgroups of candidates per level.
    pub(super) groups: [u64; LEVELS],
    /// Failure bits: the stages after a failure are skipped.
    pub(super) failures: u32,
}

impl Counts {
    /// Decodes the counters of a run with buffers of `sizes`. Pairs and crossings above the
    /// capacity were counted, but not processed.
    pub(super) fn new(triangles: u32, bitmap: u32, counters: &[u32], sizes: &Sizes) -> Self {
        let levels = |first: usize| std::array::from_fn(|l| counters[first + l].into());
        Self {
            triangles: triangles.into(),
            bitmap: bitmap.into(),
            bricks: counters[BRICKS].min(sizes.bricks).into(),
            crossings: counters[CROSSINGS].min(sizes.crossings).into(),
            pairs: std::array::from_fn(|l| {
                counters[PAIRS + l].min(sizes.pairs_on(l as u32)).into()
            }),
            candidates: levels(CANDIDATES),
            started: levels(STARTED),
            groups: levels(GROUPS),
            failures: counters[FAILURES],
        }
    }

    /// The pairs of `level` from the level above.
    fn children(&self, level: usize) -> u64 {
        self.pairs[level].saturating_sub(self.started[level])
    }
}

const WORD: u64 = 4;
const PAIR: u64 = size_of::<Pair>() as u64;
const BRICK: u64 = WORD * BRICK_WORDS as u64;
const CROSSING: u64 = WORD * CROSSING_WORDS as u64;
/// A triangle's vertex indices and its three vertices.
const TRIANGLE: u64 = 4 * WORD * TRIANGLE_WORDS as u64;

/// The profile of `step`, which took `ms`, in a run that counted `counts`.
pub(super) fn profile(step: &Step, counts: &Counts, ms: Option<f64>) -> StageReport {
    let level = step.level as usize;
    let (pairs, candidates) = (counts.pairs[level], counts.candidates[level]);
    // The first pair of a workgroup is written by the stage before.
    let groups = 2 * counts.groups[level];
    let (invocations, tests, bytes) = match step.kernel {
        kernels::SEED => {
            let started: u64 = counts.started.iter().sum();
            (counts.triangles, 0, counts.triangles * TRIANGLE + started * PAIR)
        }
        kernels::REFINE => {
            let read = pairs * (PAIR + TRIANGLE) + groups * WORD;
            (candidates, candidates, read + counts.children(level - 1) * PAIR)
        }
        // A pair, and its word of the bitmap; each brick counts.
        kernels::MARK_BRICKS => (pairs, 0, pairs * (PAIR + WORD) + counts.bricks * WORD),
        // The blocks, read twice and written.
        kernels::SCAN_BLOCKS => {
            (GROUP.into(), 0, counts.bitmap.div_ceil(BLOCK_WORDS.into()) * 3 * WORD)
        }
        // The bitmap, the blocks, and the bricks. The number of words with bricks is not known.
        kernels::RANK_BRICKS => (counts.bitmap, 0, counts.bitmap * WORD + counts.bricks * BRICK),
        // After a failure, voxels are not tested.
        _ if counts.failures != 0 => (0, 0, 0),
        // A pair, its word of the bitmap and its number, and its triangle; the bricks, read and
        // written.
        _ => {
            let read = pairs * (PAIR + 2 * WORD + TRIANGLE) + groups * WORD;
            let written = counts.bricks * 2 * BRICK + counts.crossings * CROSSING;
            (candidates, candidates, read + written)
        }
    };
    StageReport { name: step.kernel.name(), ms, dispatches: 1, invocations, tests, bytes }
}
