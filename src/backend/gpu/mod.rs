//! The GPU backend: one invocation per (triangle, node) candidate, level by level, and finally per
//! (triangle, voxel) candidate, all with the exact `touches`.
//!
//! A level takes pairs of a triangle and a node, expands each to the child nodes inside the
//! triangle's bounds, tests one child per invocation, and keeps those touched as the pairs of the
//! level below. Invocations are shared out by a prefix sum over the pairs' candidate counts. The
//! last level sets bits in bricks, which a hash table numbers; only those are read back.
//!
//! Buffers have fixed sizes. Where one is full the stages go on counting without writing; the host
//! then enlarges the buffers, up to the [`Budget`], or cuts the work in two and takes the union.
//! Sets of voxels do not depend on order, so neither does the result.

pub mod adapters;
pub mod data;
mod stages;
mod workspace;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::backend::gpu::adapters::{Adapter, Device};
use crate::backend::gpu::data::{GROUP, MASK_WORDS, MAX_CANDIDATES, Pair, TRIANGLE_WORDS};
use crate::backend::gpu::stages::Stages;
use crate::backend::gpu::workspace::{Outcome, Overflow, Task, Workspace, upload};
use crate::backend::{Backend, brick_pairs};
use crate::error::BackendError;
use crate::grid::{BRICK, BrickKey, Mask, VoxelGrid};
use crate::place::{Lattice, PlacedMesh};
use crate::progress::Progress;

/// Voxelizes on a GPU.
pub struct Gpu {
    device: Device,
    stages: Stages,
    budget: Budget,
    /// Kept from one mesh to the next.
    workspace: Mutex<Option<Workspace>>,
}

impl Gpu {
    /// Opens `adapter` and compiles the stages for it.
    ///
    /// # Errors
    /// The adapter lacks something, or its driver fails.
    pub fn new(adapter: &Adapter) -> Result<Self, BackendError> {
        let device = adapter.open()?;
        let stages = Stages::compile(&device)?;
        let budget = Budget::of(&device.device.limits());
        Ok(Self { device, stages, budget, workspace: Mutex::new(None) })
    }

    /// With at most `budget` of everything, and no more than the device allows. Small budgets make
    /// the work run in many parts; the voxels are the same.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        let budget = self.budget.at_most(&budget);
        Self { budget, ..self }
    }

    /// The open device, to run other work on it.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// The most that one run of the stages may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Triangles in one buffer, 36 bytes each.
    pub triangles: u32,
    /// (triangle, node) pairs of one level.
    pub pairs: u32,
    /// Bricks, 72 bytes each and up to 32 more for their table.
    pub bricks: u32,
    /// Candidates tested in one pass, so that a pass stays far from a driver's time limit.
    pub candidates: u32,
    /// Workgroups per dispatch dimension.
    pub groups: u32,
}

/// 600 MB of coordinates, whose words can be numbered in 32 bits.
const MAX_TRIANGLES: u32 = 1 << 24;
const _: () = assert!(MAX_TRIANGLES as u64 * (TRIANGLE_WORDS as u64) < 1 << 32);
/// The WebGPU default limit.
const MAX_GROUPS: u32 = 65_535;
/// At most: 2^22 pairs have at most 2^31 candidates, so sums of candidates fit in 32 bits; and the
/// second step of the prefix sum is one workgroup for 4096 blocks.
const MAX_PAIRS: u32 = 1 << 22;
const _: () = assert!(MAX_PAIRS as u64 * (MAX_CANDIDATES as u64) < 1 << 32);
/// 128 MiB of masks, and a third as much again of keys and tables.
const MAX_BRICKS: u32 = 1 << 21;
/// At some two hundred operations each, half a second for a GPU of a tenth of a teraflop; drivers give
/// up after two or more.
const MAX_CANDIDATES_A_PASS: u32 = 1 << 28;
/// Room for a small mesh.
const MIN_PAIRS: u32 = 1 << 12;
const MIN_BRICKS: u32 = 1 << 10;
const MIN_GROUPS: u32 = 64;
const _: () = assert!(MAX_CANDIDATES_A_PASS / GROUP <= MIN_GROUPS * MAX_GROUPS);

impl Budget {
    fn of(limits: &wgpu::Limits) -> Self {
        let bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let of_size = |size: usize| u32::try_from(bytes / size as u64).unwrap_or(u32::MAX);
        Self {
            triangles: of_size(4 * TRIANGLE_WORDS).min(MAX_TRIANGLES),
            pairs: of_size(size_of::<Pair>()).min(MAX_PAIRS),
            bricks: of_size(4 * MASK_WORDS).min(MAX_BRICKS),
            candidates: MAX_CANDIDATES_A_PASS,
            // Some drivers claim 2^32 - 1, which sums in the shaders would overflow.
            groups: limits.max_compute_workgroups_per_dimension.min(MAX_GROUPS),
        }
    }

    fn at_most(&self, other: &Self) -> Self {
        Self {
            triangles: self.triangles.min(other.triangles).max(1),
            pairs: self.pairs.min(other.pairs).max(1),
            bricks: self.bricks.min(other.bricks).max(1),
            // One pair's candidates, or splitting would not come to an end.
            candidates: self.candidates.min(other.candidates).max(MAX_CANDIDATES),
            // Two dimensions of this many, or of 65,535, cover all candidates of a pass.
            groups: self.groups.min(other.groups).max(MIN_GROUPS),
        }
    }
}

/// A part of the work: some triangles, in some box of bricks (both inclusive).
#[derive(Debug, Clone)]
struct Part {
    triangles: Range<u32>,
    bricks_lo: [i32; 3],
    bricks_hi: [i32; 3],
    /// Its share of the progress.
    units: u64,
}

impl Part {
    /// All of `triangles`, in the whole grid.
    fn whole(triangles: u32, lattice: &Lattice) -> Self {
        Self {
            triangles: 0..triangles,
            bricks_lo: [0; 3],
            bricks_hi: lattice.dims.map(|d| ((d - 1) / BRICK) as i32),
            units: UNITS,
        }
    }

    fn split(&self, overflow: Overflow) -> Option<[Self; 2]> {
        match overflow {
            // Halving the region halves the bricks; halving the triangles need not.
            Overflow::Bricks(_) => self.split_region().or_else(|| self.split_triangles()),
            Overflow::Pairs(_) | Overflow::Candidates => {
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
const UNITS: u64 = 1 << 20;

impl Backend for Gpu {
    fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError> {
        let chunk = self.budget.triangles as usize;
        progress.start("voxelize", mesh.len().div_ceil(chunk) as u64 * UNITS);
        let mut bricks = Vec::new();
        for first in (0..mesh.len()).step_by(chunk) {
            let chunk = first..mesh.len().min(first + chunk);
            self.voxelize_chunk(mesh, chunk, progress, &mut bricks)?;
        }
        let grid = VoxelGrid::from_bricks(mesh.lattice().dims, bricks)
            .map_err(|e| BackendError::Device(format!("it returned a wrong grid: {e}")))?;
        // A driver that runs nothing and reports nothing: a triangle inside the grid has voxels.
        if grid.occupied() == 0 && mesh.outside() < mesh.len() {
            return Err(BackendError::Device("it returned no voxels".into()));
        }
        Ok(grid)
    }
}

impl Gpu {
    /// Adds the bricks of the triangles of `chunk`, in one part or as many as are necessary.
    fn voxelize_chunk(
        &self,
        mesh: &PlacedMesh,
        chunk: Range<usize>,
        progress: &dyn Progress,
        bricks: &mut Vec<(BrickKey, Mask)>,
    ) -> Result<(), BackendError> {
        let coordinates: Vec<i32> =
            chunk.clone().flat_map(|i| mesh.triangle(i).into_iter().flatten()).collect();
        let triangles = upload(&self.device, &coordinates)?;
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        let workspace = self.workspace_for(mesh, &mut workspace)?;
        let mut parts = vec![Part::whole(chunk.len() as u32, mesh.lattice())];
        while let Some(part) = parts.pop() {
            let task = Task { part: &part, lattice: mesh.lattice(), budget: &self.budget };
            match workspace.run(&self.device, &self.stages, &triangles, &task)? {
                Outcome::Done(found) => {
                    bricks.extend(found);
                    progress.advance(part.units);
                }
                Outcome::Overflow(overflow) if self.enlarge(workspace, overflow)? => {
                    parts.push(part);
                }
                Outcome::Overflow(overflow) => {
                    // One triangle in one brick fits any budget, so this is our own bug.
                    let halves = part.split(overflow).ok_or_else(|| {
                        BackendError::Device(format!("cannot divide the work: {overflow:?}"))
                    })?;
                    parts.extend(halves);
                }
            }
        }
        Ok(())
    }

    /// The workspace, made on first use for what `mesh` is likely to need.
    fn workspace_for<'a>(
        &self,
        mesh: &PlacedMesh,
        workspace: &'a mut Option<Workspace>,
    ) -> Result<&'a mut Workspace, BackendError> {
        let workspace = match workspace.take() {
            Some(kept) => workspace.insert(kept),
            None => {
                let pairs = brick_pairs(mesh).clamp(MIN_PAIRS.into(), MAX_PAIRS.into()) as u32;
                let bricks = pairs.max(MIN_BRICKS).min(self.budget.bricks);
                let pairs = pairs.min(self.budget.pairs);
                workspace.insert(Workspace::new(&self.device, pairs, bricks)?)
            }
        };
        Ok(workspace)
    }

    /// Makes room for what did not fit, if the budget allows, and says whether it did.
    fn enlarge(&self, workspace: &mut Workspace, overflow: Overflow) -> Result<bool, BackendError> {
        let Workspace { pairs, bricks, .. } = *workspace;
        // At least double, since counting stops being complete where something was dropped.
        let larger = |has: u32, needs: u32, most: u32| needs.max(2 * has).min(most);
        let (pairs, bricks) = match overflow {
            Overflow::Pairs(needs) if needs <= self.budget.pairs => {
                (larger(pairs, needs, self.budget.pairs), bricks)
            }
            Overflow::Bricks(needs) if needs <= self.budget.bricks => {
                (pairs, larger(bricks, needs, self.budget.bricks))
            }
            _ => return Ok(false),
        };
        if (pairs, bricks) == (workspace.pairs, workspace.bricks) {
            return Ok(false);
        }
        *workspace = Workspace::new(&self.device, pairs, bricks)?;
        Ok(true)
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("device", &self.device).field("budget", &self.budget).finish()
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
        let budget = Budget::of(&limits);
        assert_eq!(budget.groups, MAX_GROUPS);
        assert_eq!((budget.triangles, budget.pairs), (MAX_TRIANGLES, MAX_PAIRS));
    }
}
