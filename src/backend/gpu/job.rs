//! A voxelization job on a GPU: its parameters, its division into sub-batches, and its results.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use rayon::prelude::*;

use crate::backend::cpu::clamped::clamped_crossings;
use crate::backend::gpu::buffers::UPPER_SHARE;
use crate::backend::gpu::crossings::CROSSING_BYTES;
use crate::backend::gpu::data::{BRICK_WORDS, GROUP, LEVELS, MAX_CANDIDATES, PAIR_WORDS};
use crate::backend::gpu::readback::Lists;
use crate::backend::gpu::record::Setting;
use crate::backend::gpu::upload::UNSHARED_WORDS;
use crate::backend::report::RunReport;
use crate::backend::{Rule, VoxelKernel};
use crate::base::progress::{NoProgress, Progress};
use crate::gpu::{Clock, MAX_GROUPS, buffer_limit};
use crate::grid::GridError;
use crate::grid::{BRICK, BrickKey, GridBuilder, Mask};
use crate::lattice::{Lattice, PlacedMesh};
use crate::predicate::boxes::BoxRange;

/// The buffer that overflowed, and the number of records counted; stages after an overflow count
/// too few.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Overflow {
    Pairs(u32),
    Bricks(u32),
    Crossings(u32),
    Candidates,
}

/// Limits of one run of the stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Triangles per batch, up to 48 bytes each.
    pub triangles: u32,
    /// (triangle, node) pairs per level.
    pub pairs: u32,
    /// Bricks, 72 bytes each.
    pub bricks: u32,
    /// Listed crossings, 8 bytes each: those of voxels that have one of the same direction.
    pub crossings: u32,
    /// Maximum number of candidates per pass; the first passes, and those of a slow GPU, have
    /// fewer.
    pub candidates: u32,
    /// Workgroups per dispatch dimension.
    pub groups: u32,
}

/// 800 MB of vertices and indices; word offsets fit in 32 bits.
const MAX_TRIANGLES: u32 = 1 << 24;
const _: () = assert!(MAX_TRIANGLES as u64 * (UNSHARED_WORDS as u64) < 1 << 32);
/// 2^22 pairs have at most 2^31 candidates, so sums of candidates fit in 32 bits.
pub(crate) const MAX_PAIRS: u32 = 1 << 22;
const _: () = assert!(MAX_PAIRS as u64 * (MAX_CANDIDATES as u64) < 1 << 32);
/// 144 MiB.
pub(crate) const MAX_BRICKS: u32 = 1 << 21;
/// 16 MiB: the bricks of a grid of 4096 x 4096 x 4096 voxels, or a layer of the largest grid.
pub(crate) const MAX_BITMAP_WORDS: u32 = 1 << 22;
/// 128 MiB.
const MAX_CROSSINGS: u32 = 1 << 24;
/// Candidates of a pass at first: at about 1,500 operations each, half a second on a GPU of 0.1
/// TFLOPS. Drivers time out after two seconds or more.
pub(crate) const FIRST_CANDIDATES_A_PASS: u32 = 1 << 25;
/// The range of candidates of a pass, by the speed of the GPU.
const MIN_CANDIDATES_A_PASS: u32 = 1 << 23;
pub(crate) const MAX_CANDIDATES_A_PASS: u32 = 1 << 28;
/// The aim for the time of a run: a display that waits for it does not seem frozen.
const RUN_TIME: Duration = Duration::from_millis(100);
const MIN_GROUPS: u32 = 64;
/// The pair lists of all levels have at most three times the capacity of one, in one buffer.
const LISTS: usize = 3;
const _: () = assert!(2 + (LEVELS as u32 - 2).div_ceil(UPPER_SHARE) <= LISTS as u32);
const _: () = assert!(MAX_CANDIDATES_A_PASS / GROUP <= MIN_GROUPS * MAX_GROUPS);

impl BatchLimits {
    pub(crate) fn of(limits: &wgpu::Limits) -> Self {
        let bytes = buffer_limit(limits);
        let of_size = |size: usize| u32::try_from(bytes / size as u64).unwrap_or(u32::MAX);
        Self {
            triangles: of_size(4 * UNSHARED_WORDS).min(MAX_TRIANGLES),
            pairs: of_size(LISTS * 4 * PAIR_WORDS).min(MAX_PAIRS),
            bricks: of_size(4 * BRICK_WORDS).min(MAX_BRICKS),
            crossings: of_size(CROSSING_BYTES).min(MAX_CROSSINGS),
            candidates: MAX_CANDIDATES_A_PASS,
            // Some drivers report 2^32 - 1, which would overflow in the shaders.
            groups: limits.max_compute_workgroups_per_dimension.min(MAX_GROUPS),
        }
    }

    pub(crate) fn at_most(&self, other: &Self) -> Self {
        Self {
            triangles: self.triangles.min(other.triangles).max(1),
            pairs: self.pairs.min(other.pairs).max(1),
            bricks: self.bricks.min(other.bricks).max(1),
            // None of one triangle are listed, so splitting terminates.
            crossings: self.crossings.min(other.crossings).max(1),
            // At least those of one pair, so that splitting terminates.
            candidates: self.candidates.min(other.candidates).max(MAX_CANDIDATES),
            // MIN_GROUPS x 65,535 workgroups cover all candidates of a pass.
            groups: self.groups.min(other.groups).max(MIN_GROUPS),
        }
    }
}

/// The parameters of a job, common to all its batches and sub-batches.
pub(crate) struct Job<'a> {
    pub(crate) mesh: &'a PlacedMesh,
    pub(crate) rule: Rule,
    pub(crate) kernel: VoxelKernel,
    pub(crate) progress: &'a dyn Progress,
    /// Maximum number of bricks in host memory.
    pub(crate) room: u64,
    pub(crate) batch_limits: BatchLimits,
    /// Maximum number of candidates of the next pass: of all jobs of the GPU.
    pub(crate) pass_candidates: &'a AtomicU32,
    /// Set if the steps are to be timed.
    pub(crate) clock: Option<&'a Clock>,
}

impl<'a> Job<'a> {
    /// A job by [`Rule::Conservative`], limited only by `batch_limits`.
    pub(crate) fn new(
        mesh: &'a PlacedMesh,
        batch_limits: BatchLimits,
        pass_candidates: &'a AtomicU32,
    ) -> Self {
        Self {
            mesh,
            rule: Rule::Conservative,
            kernel: VoxelKernel::default(),
            progress: &NoProgress,
            room: u64::MAX,
            batch_limits,
            pass_candidates,
            clock: None,
        }
    }

    pub(crate) fn setting(&self) -> Setting {
        let Lattice { dims, fraction_bits, .. } = *self.mesh.lattice();
        let groups = self.batch_limits.groups;
        let candidates = self.pass_candidates.load(Relaxed).min(self.batch_limits.candidates);
        let Self { rule, kernel, .. } = *self;
        Setting { rule, kernel, keeps_bricks: false, dims, fraction_bits, candidates, groups }
    }

    /// Adapts the next pass to a run of so many candidates, if these are enough to tell the speed.
    pub(crate) fn adapt(&self, candidates: u64, time: Duration) {
        if candidates < u64::from(self.setting().candidates) / 4 {
            return;
        }
        let in_run_time = candidates as f64 * RUN_TIME.div_duration_f64(time);
        let most = self.batch_limits.candidates;
        let next = (in_run_time as u32).clamp(MIN_CANDIDATES_A_PASS.min(most), most);
        self.pass_candidates.store(next, Relaxed);
    }
}

/// The unit of a run: a range of a batch's triangles, clipped to a box of bricks, inclusive.
#[derive(Debug, Clone)]
pub(crate) struct SubBatch {
    pub(crate) triangles: Range<u32>,
    /// Offset of the batch's vertices, in words.
    pub(crate) vertex_words: u32,
    pub(crate) bricks: BoxRange,
    /// Its share of the progress.
    pub(crate) units: u64,
}

impl SubBatch {
    /// So many triangles, in the whole grid.
    pub(crate) fn of_grid(triangles: u32, vertex_words: u32, dims: [u32; 3]) -> Self {
        Self {
            triangles: 0..triangles,
            vertex_words,
            bricks: BoxRange::of_grid(dims).coarser(BRICK.ilog2()),
            units: UNITS,
        }
    }

    /// Words of its brick bitmap: one bit per brick and crossing direction.
    pub(crate) fn bitmap_words(&self, rule: Rule) -> u32 {
        let bricks: u64 = self.bricks.extent().iter().map(|&n| n as u64).product();
        let bits = bricks * u64::from(rule.directions());
        u32::try_from(bits.div_ceil(32)).unwrap_or(u32::MAX)
    }

    /// Divides it into slabs with bitmaps of at most [`MAX_BITMAP_WORDS`]. The last is the lowest:
    /// the results of a stack of them are in canonical order.
    pub(crate) fn slabs(self, rule: Rule) -> Vec<Self> {
        let (mut larger, mut slabs) = (vec![self], Vec::new());
        while let Some(slab) = larger.pop() {
            // One layer, at most 2^26 bricks, always fits.
            if slab.bitmap_words(rule) > MAX_BITMAP_WORDS {
                larger.extend(slab.split_along(2));
            } else {
                slabs.push(slab);
            }
        }
        slabs
    }

    pub(crate) fn triangle_count(&self) -> u32 {
        self.triangles.end - self.triangles.start
    }

    pub(crate) fn split(&self, overflow: Overflow) -> Option<[Self; 2]> {
        match overflow {
            // Halving the region halves the bricks; halving the triangles may not.
            Overflow::Bricks(_) => self.split_region().or_else(|| self.split_triangles()),
            Overflow::Pairs(_) | Overflow::Crossings(_) | Overflow::Candidates => {
                self.split_triangles().or_else(|| self.split_region())
            }
        }
    }

    fn split_triangles(&self) -> Option<[Self; 2]> {
        let Range { start, end } = self.triangles;
        let middle = start + (end - start) / 2;
        let [mut first, mut second] = self.halves();
        first.triangles = start..middle;
        second.triangles = middle..end;
        (start < middle).then_some([first, second])
    }

    fn split_region(&self) -> Option<[Self; 2]> {
        let size = self.bricks.extent();
        let axis = (0..3).max_by_key(|&a| size[a])?;
        (size[axis] > 1).then(|| self.split_along(axis))
    }

    /// Halves its region, of at least two layers of bricks.
    fn split_along(&self, axis: usize) -> [Self; 2] {
        let middle = (self.bricks.lo[axis] + self.bricks.hi[axis]) / 2;
        let [mut first, mut second] = self.halves();
        first.bricks.hi[axis] = middle;
        second.bricks.lo[axis] = middle + 1;
        [first, second]
    }

    fn halves(&self) -> [Self; 2] {
        let units = self.units / 2;
        [Self { units, ..self.clone() }, Self { units: self.units - units, ..self.clone() }]
    }
}

/// Units of progress per batch.
pub(crate) const UNITS: u64 = 1 << 20;

/// The results of the sub-batches so far.
#[derive(Default)]
pub(crate) struct Results {
    pub(crate) lists: Lists,
    /// Number of bricks dropped because they exceeded [`Job::room`].
    pub(crate) dropped: u64,
    pub(crate) report: RunReport,
}

/// Peak bytes per brick until all are sorted: in a list that may be reallocated, in the staging
/// buffer and in the grid.
pub(crate) const BYTES_PER_BRICK: u64 =
    3 * size_of::<(BrickKey, Mask)>() as u64 + GridBuilder::BYTES_TO_ADD + GridBuilder::BYTES_KEPT;

impl Results {
    /// Above `room` bricks, drops them all, and counts without storing from then on.
    pub(crate) fn limit_to(&mut self, room: u64) {
        let bricks = (self.lists.keys.len() + self.lists.listed.len()) as u64;
        if self.dropped > 0 || bricks > room {
            self.dropped += bricks;
            self.lists = Lists::default();
        }
    }

    /// Adds the crossings outside the grid, which the stages do not find.
    pub(crate) fn add_clamped(&mut self, job: &Job) {
        match clamped_crossings(job.mesh, job.rule, job.room) {
            Ok(bricks) => self.lists.listed.extend(bricks.into_iter().flatten()),
            Err(number) => self.dropped += number,
        }
        self.limit_to(job.room);
    }

    /// Builds the grid from all bricks, as one job of the pool, like a run on the CPU.
    pub(crate) fn build(self, job: &Job) -> Result<GridBuilder, GridError> {
        let dims = job.rule.grid_dims(job.mesh.lattice().dims);
        let mut grid = GridBuilder::new(dims, job.rule.combine())?;
        let Lists { keys, masks, listed, .. } = self.lists;
        rayon::scope(|_| {
            if listed.is_empty() && grid.takes(&keys) {
                return grid.take(keys, masks);
            }
            let bricks = keys.into_par_iter().zip(masks).collect();
            grid.append(&[bricks, listed])
        })?;
        Ok(grid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_stays_within_32_bits_whatever_a_driver_claims() {
        let limits = wgpu::Limits {
            max_compute_workgroups_per_dimension: u32::MAX,
            max_storage_buffer_binding_size: u64::MAX,
            max_buffer_size: u64::MAX,
            ..Default::default()
        };
        let batch_limits = BatchLimits::of(&limits);
        assert_eq!(batch_limits.groups, MAX_GROUPS);
        assert_eq!((batch_limits.triangles, batch_limits.pairs), (MAX_TRIANGLES, MAX_PAIRS));
    }

    #[test]
    fn passes_grow_on_a_fast_gpu_and_shrink_on_a_slow_one() {
        let mesh = &crate::backend::gpu::adversarial_mesh([16; 3], &[(4, 4)]);
        let pass_candidates = AtomicU32::new(FIRST_CANDIDATES_A_PASS);
        let limits = BatchLimits::of(&wgpu::Limits::default());
        let job = Job::new(mesh, limits, &pass_candidates);
        let next = |candidates: u64, milliseconds| {
            job.adapt(candidates, Duration::from_millis(milliseconds));
            job.setting().candidates
        };
        assert_eq!(job.setting().candidates, FIRST_CANDIDATES_A_PASS);
        // Too few to tell the speed.
        assert_eq!(next(1000, 5000), FIRST_CANDIDATES_A_PASS);
        assert_eq!(next(20_000_000, 50), 40_000_000);
        assert_eq!(next(40_000_000, 4000), MIN_CANDIDATES_A_PASS);
        assert_eq!(next(8_000_000, 0), MAX_CANDIDATES_A_PASS);
    }

    #[test]
    fn slabs_are_a_stack_in_canonical_order_and_their_bitmaps_fit() {
        for rule in [Rule::Conservative, Rule::Winding] {
            let whole = SubBatch {
                triangles: 0..1,
                vertex_words: 0,
                bricks: BoxRange { lo: [0; 3], hi: [8191, 8191, 100] },
                units: UNITS,
            };
            let slabs = whole.slabs(rule);
            assert!(
                slabs.len() > 50 && slabs.iter().all(|s| s.bitmap_words(rule) <= MAX_BITMAP_WORDS)
            );
            let end = slabs.iter().rev().fold(0, |z, slab| {
                assert_eq!(slab.bricks.lo, [0, 0, z]);
                slab.bricks.hi[2] + 1
            });
            assert_eq!(end, 101);
            assert_eq!(slabs.iter().map(|slab| slab.units).sum::<u64>(), UNITS);
        }
    }
}
