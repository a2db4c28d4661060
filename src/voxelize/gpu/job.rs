//! What a run is asked for, how its work is divided, and what it finds.

use std::ops::Range;

use crate::error::{BackendError, GridError};
use crate::gpu::{Clock, MAX_GROUPS};
use crate::grid::{BRICK, BrickKey, GridBuilder, Mask};
use crate::place::{Lattice, PlacedMesh};
use crate::progress::{NoProgress, Progress};
use crate::voxelize::cpu::beyond::cross_beyond;
use crate::voxelize::gpu::crossings::CROSSING_BYTES;
use crate::voxelize::gpu::data::{BRICK_WORDS, GROUP, MAX_CANDIDATES, Pair};
use crate::voxelize::gpu::readback::Lists;
use crate::voxelize::gpu::upload::{Batch, UNSHARED_WORDS};
use crate::voxelize::report::RunReport;
use crate::voxelize::{Kernel, Rule, brick_pairs};

/// What did not fit, and how many were counted: of what follows a full buffer, not all.
#[derive(Debug, Clone, Copy)]
pub(super) enum Overflow {
    Pairs(u32),
    Bricks(u32),
    Crossings(u32),
    Candidates,
}

/// The most that one run of the stages may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Triangles in one buffer, up to 48 bytes each.
    pub triangles: u32,
    /// (triangle, node) pairs of one level.
    pub pairs: u32,
    /// Bricks, 72 bytes each and up to 32 more for their table.
    pub bricks: u32,
    /// Crossings, where they are listed: 8 bytes each.
    pub crossings: u32,
    /// Candidates tested in one pass, so that a pass stays far from a driver's time limit.
    pub candidates: u32,
    /// Workgroups per dispatch dimension.
    pub groups: u32,
}

/// 800 MB of vertices and their numbers, whose words can be numbered in 32 bits.
const MAX_TRIANGLES: u32 = 1 << 24;
const _: () = assert!(MAX_TRIANGLES as u64 * (UNSHARED_WORDS as u64) < 1 << 32);
/// At most: 2^22 pairs have at most 2^31 candidates, so sums of candidates fit in 32 bits; and the
/// second step of the prefix sum is one workgroup for 4096 blocks.
pub(super) const MAX_PAIRS: u32 = 1 << 22;
const _: () = assert!(MAX_PAIRS as u64 * (MAX_CANDIDATES as u64) < 1 << 32);
/// 144 MiB, and up to half as much again of tables.
const MAX_BRICKS: u32 = 1 << 21;
/// 128 MiB.
const MAX_CROSSINGS: u32 = 1 << 24;
/// Columns of a brick along an axis: as often does a triangle cross them.
pub(super) const MIN_CROSSINGS: u32 = BRICK * BRICK;
/// At some two hundred operations each, half a second for a GPU of a tenth of a teraflop; drivers give
/// up after two or more.
const MAX_CANDIDATES_A_PASS: u32 = 1 << 28;
const MIN_GROUPS: u32 = 64;
const _: () = assert!(MAX_CANDIDATES_A_PASS / GROUP <= MIN_GROUPS * MAX_GROUPS);

impl Budget {
    pub(super) fn of(limits: &wgpu::Limits) -> Self {
        let bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let of_size = |size: usize| u32::try_from(bytes / size as u64).unwrap_or(u32::MAX);
        Self {
            triangles: of_size(4 * UNSHARED_WORDS).min(MAX_TRIANGLES),
            pairs: of_size(size_of::<Pair>()).min(MAX_PAIRS),
            bricks: of_size(4 * BRICK_WORDS).min(MAX_BRICKS),
            crossings: of_size(CROSSING_BYTES).min(MAX_CROSSINGS),
            candidates: MAX_CANDIDATES_A_PASS,
            // Some drivers claim 2^32 - 1, which sums in the shaders would overflow.
            groups: limits.max_compute_workgroups_per_dimension.min(MAX_GROUPS),
        }
    }

    pub(super) fn at_most(&self, other: &Self) -> Self {
        Self {
            triangles: self.triangles.min(other.triangles).max(1),
            pairs: self.pairs.min(other.pairs).max(1),
            bricks: self.bricks.min(other.bricks).max(1),
            // What one triangle has in one brick, or splitting would not come to an end.
            crossings: self.crossings.min(other.crossings).max(MIN_CROSSINGS),
            // One pair's candidates, or splitting would not come to an end.
            candidates: self.candidates.min(other.candidates).max(MAX_CANDIDATES),
            // Two dimensions of this many, or of 65,535, cover all candidates of a pass.
            groups: self.groups.min(other.groups).max(MIN_GROUPS),
        }
    }
}

/// What a run is asked for: the same for all its batches and parts.
pub(super) struct Job<'a> {
    pub(super) mesh: &'a PlacedMesh,
    pub(super) rule: Rule,
    pub(super) kernel: Kernel,
    /// Whether the bricks stay on the GPU, all of one run; else they are read, part by part.
    pub(super) keeps_bricks: bool,
    pub(super) progress: &'a dyn Progress,
    /// Bricks that there is memory for.
    pub(super) room: u64,
    pub(super) budget: Budget,
    /// Where the steps are to be timed.
    pub(super) clock: Option<&'a Clock>,
}

impl<'a> Job<'a> {
    /// The plain job: [`Rule::Conservative`], with no more limits than `budget`.
    pub(super) fn new(mesh: &'a PlacedMesh, budget: Budget) -> Self {
        Self {
            mesh,
            rule: Rule::Conservative,
            kernel: Kernel::default(),
            keeps_bricks: false,
            progress: &NoProgress,
            room: u64::MAX,
            budget,
            clock: None,
        }
    }

    /// The highest level whose nodes are no larger than the grid, as the bit budget demands; at least
    /// bricks.
    pub(super) fn top_level(&self) -> u32 {
        let dims = self.mesh.lattice().dims;
        let cube = dims[0].max(dims[1]).max(dims[2]).next_power_of_two();
        (cube.ilog2() / 3).max(1)
    }

    /// The error for what does not fit, of a job whose bricks stay on the GPU.
    pub(super) fn too_large(&self, overflow: Overflow) -> BackendError {
        let too_large = |what, size: u64, limit: u64| BackendError::TooLarge { what, size, limit };
        match overflow {
            Overflow::Bricks(count) => {
                let of_bricks = |count: u32| 4 * BRICK_WORDS as u64 * u64::from(count);
                too_large("bricks", of_bricks(count), of_bricks(self.budget.bricks))
            }
            _ => {
                let of_pairs = |count: u64| size_of::<Pair>() as u64 * count;
                let limit = of_pairs(self.budget.pairs.into());
                too_large("candidates", of_pairs(brick_pairs(self.mesh)).max(limit + 1), limit)
            }
        }
    }
}

/// A part of a batch: some of its triangles, in some box of bricks (both inclusive).
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) triangles: Range<u32>,
    /// The word of the batch at which its vertices begin.
    pub(super) vertex_words: u32,
    pub(super) bricks_lo: [i32; 3],
    pub(super) bricks_hi: [i32; 3],
    /// Its share of the progress.
    pub(super) units: u64,
}

impl Part {
    /// All of `batch`, in the whole grid.
    pub(super) fn whole(batch: &Batch, lattice: &Lattice) -> Self {
        Self {
            triangles: 0..batch.len(),
            vertex_words: batch.vertex_words(),
            bricks_lo: [0; 3],
            bricks_hi: lattice.dims.map(|d| ((d - 1) / BRICK) as i32),
            units: UNITS,
        }
    }

    pub(super) fn triangle_count(&self) -> u32 {
        self.triangles.end - self.triangles.start
    }

    pub(super) fn split(&self, overflow: Overflow) -> Option<[Self; 2]> {
        match overflow {
            // Halving the region halves the bricks; halving the triangles need not.
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
        let size = |a: usize| self.bricks_hi[a] - self.bricks_lo[a];
        let axis = (0..3).max_by_key(|&a| size(a))?;
        let middle = self.bricks_lo[axis] + size(axis) / 2;
        let [mut first, mut second] = self.halves();
        first.bricks_hi[axis] = middle;
        second.bricks_lo[axis] = middle + 1;
        (size(axis) > 0).then_some([first, second])
    }

    fn halves(&self) -> [Self; 2] {
        let units = self.units / 2;
        [Self { units, ..self.clone() }, Self { units: self.units - units, ..self.clone() }]
    }
}

/// Units of progress for one buffer of triangles.
pub(super) const UNITS: u64 = 1 << 20;

/// What the parts so far found.
#[derive(Default)]
pub(super) struct Results {
    pub(super) lists: Lists,
    /// Bricks that there was no room for.
    pub(super) dropped: u64,
    /// The bricks of a job that keeps them on the GPU, and how many they are.
    pub(super) kept: Option<(wgpu::Buffer, u32)>,
    pub(super) report: RunReport,
}

/// Bytes that a brick takes until all are in order: in a list that may just have grown by moving,
/// where it was found, and in the grid.
pub(super) const BYTES_A_BRICK: u64 =
    3 * size_of::<(BrickKey, Mask)>() as u64 + GridBuilder::BYTES_TO_ADD + GridBuilder::BYTES_KEPT;

impl Results {
    /// Past so many bricks they are only counted.
    pub(super) fn keep(&mut self, room: u64) {
        let bricks = &mut self.lists.bricks;
        if self.dropped > 0 || bricks.len() as u64 > room {
            self.dropped += std::mem::take(bricks).len() as u64;
        }
    }

    /// Adds what no part finds: what columns cross beyond the ends of the grid.
    pub(super) fn add_beyond(&mut self, job: &Job) {
        let beyond = cross_beyond(job.mesh, job.rule, job.room);
        self.lists.bricks.extend(beyond.bricks.into_iter().flatten());
        self.dropped += beyond.dropped;
        self.keep(job.room);
    }

    /// All bricks in order.
    pub(super) fn build(self, job: &Job) -> Result<GridBuilder, GridError> {
        let grid = GridBuilder::new(job.rule.grid_dims(job.mesh.lattice().dims))?;
        let mut grid = grid.combining(job.rule.combine());
        grid.append(&[self.lists.bricks])?;
        Ok(grid)
    }
}

/// Bricks of a part where there is room for so many in all: 1 MB of them though there be none, lest
/// the parts that only find out how many there are become too many.
pub(super) fn part_bricks(room: u64) -> u32 {
    const LEAST: u32 = 1 << 12;
    u32::try_from(room / 4).unwrap_or(u32::MAX).max(LEAST)
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
        let budget = Budget::of(&limits);
        assert_eq!(budget.groups, MAX_GROUPS);
        assert_eq!((budget.triangles, budget.pairs), (MAX_TRIANGLES, MAX_PAIRS));
    }
}
