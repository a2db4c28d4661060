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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::data::{BRICKS_FULL, COUNTERS, PAIRS_FULL};
    use crate::backend::gpu::stages::steps;
    use crate::backend::{Rule, VoxelKernel};
    use crate::gpu::Kernel;

    fn counters() -> [u32; COUNTERS] {
        let mut counters = [0; COUNTERS];
        (counters[BRICKS], counters[CROSSINGS]) = (3, 700);
        (counters[PAIRS], counters[PAIRS + 1]) = (1030, 20);
        (counters[CANDIDATES], counters[CANDIDATES + 1]) = (5000, 70);
        (counters[STARTED], counters[STARTED + 1]) = (1000, 20);
        (counters[GROUPS], counters[GROUPS + 1]) = (21, 1);
        counters
    }

    fn of(counters: &[u32], kernel: Kernel, level: u32) -> (u64, u64, u64) {
        let sizes = Sizes { pairs: 1 << 20, bricks: 1 << 20, crossings: 600, bitmap: 64 };
        let counts = Counts::new(1020, 50, counters, &sizes);
        let rules = [Rule::Conservative, Rule::SixSeparating, Rule::Winding];
        let mut steps = rules.into_iter().flat_map(|rule| steps(rule, VoxelKernel::Rows, 1));
        let step = steps.find(|s| s.kernel == kernel && s.level == level);
        let found = profile(&step.expect("a step"), &counts, None);
        (found.invocations, found.tests, found.bytes)
    }

    #[test]
    fn the_work_of_a_run_is_what_it_counted() {
        let of = |stage, level| of(&counters(), stage, level);
        assert_eq!(of(kernels::SEED, 0), (1020, 0, 1020 * 48 + 1020 * 16));
        assert_eq!(of(kernels::REFINE, 1), (70, 70, 20 * 64 + 2 * 4 + 30 * 16));
        assert_eq!(of(kernels::MARK_BRICKS, 0), (1030, 0, 1030 * 20 + 3 * 4));
        assert_eq!(of(kernels::SCAN_BLOCKS, 0), (256, 0, 12));
        assert_eq!(of(kernels::RANK_BRICKS, 0), (50, 0, 50 * 4 + 3 * 72));
        // The capacity is 600 of 700 crossings.
        let last = (5000, 5000, 1030 * 72 + 2 * 21 * 4 + 3 * 144 + 600 * 8);
        assert_eq!(of(kernels::VOXEL_ROWS, 0), last);
        assert_eq!(of(kernels::SIX_SEPARATING, 0), of(kernels::VOXEL_ROWS, 0));
        assert_eq!(of(kernels::MARK_CROSSINGS, 0), of(kernels::VOXEL_ROWS, 0));
    }

    #[test]
    fn after_a_failure_no_voxels_are_tested() {
        let of = |failures, stage| {
            let mut counters = counters();
            counters[FAILURES] = failures;
            of(&counters, stage, 0).0
        };
        assert_eq!(of(BRICKS_FULL, kernels::VOXEL_ROWS), 0);
        assert_eq!(of(BRICKS_FULL, kernels::SIX_SEPARATING), 0);
        assert_eq!(of(PAIRS_FULL, kernels::MARK_CROSSINGS), 0);
        assert_eq!(of(BRICKS_FULL, kernels::MARK_BRICKS), 1030);
    }
}
