//! Processes the grid in slabs, each as thick as memory allows: the tasks emit a slab's bricks
//! unordered, and sorting them takes twice their memory.

use std::collections::BTreeMap;

use crate::backend::cpu::brick_cache::EvictionBudget;
use crate::backend::cpu::tasks::Tasks;
use crate::backend::{BackendError, Rule, check_cancelled};
use crate::base::progress::{Progress, Unreported};
use crate::grid::{BRICK, BrickKey, GridBuilder, Mask, count};
use crate::lattice::PlacedMesh;

/// Maximum bricks in the first slab: those of 1024^3 voxels.
const FIRST_SLAB: u64 = 1 << 21;
/// Initial limit of unordered bricks: 90 MB, or a sixteenth of the memory.
const BRICKS: u64 = 1 << 20;

/// Voxelizes `mesh` by `rule` in at most `memory` bytes for the grid and intermediate data.
///
/// # Errors
/// The memory is not sufficient; cancelled.
pub(in crate::backend) fn voxelize(
    mesh: &PlacedMesh,
    rule: Rule,
    memory: u64,
    progress: &dyn Progress,
) -> Result<GridBuilder, BackendError> {
    let tasks = Tasks::new(mesh, rule);
    let mut memory = MemoryLimit::new(memory, &tasks);
    let mut builder = GridBuilder::new(rule.grid_dims(mesh.lattice().dims), rule.combine())?;
    if rule == Rule::Conservative {
        memory.check_early(mesh, &tasks, progress)?;
    }
    progress.start("voxelize", tasks.layers);

    let mut budget = tasks.budget();
    let mut first = 0;
    let mut layers = tasks.layers_within(FIRST_SLAB);
    while first < tasks.layers {
        let slab = first..tasks.layers.min(first + layers);
        budget.begin(memory.unordered);
        let batches = tasks.voxelize(&slab, &budget, progress);
        check_cancelled(progress)?;
        let fits = budget.dropped() == 0 && memory.holds(builder.bytes(), builder.order(&batches));
        if !fits {
            if slab.end - slab.start > 1 {
                layers = (slab.end - slab.start).div_ceil(4);
            } else if !memory.fit_layer(&builder, &budget, &tasks) {
                drop((batches, builder, budget));
                return Err(memory.count_needed(&tasks, progress));
            }
            budget.recycle(batches);
            continue;
        }
        builder.append_ordered(&batches)?;
        budget.recycle(batches);
        progress.advance(slab.end - slab.start);
        first = slab.end;
        if budget.evicted() > memory.unordered / 2 {
            layers = layers.div_ceil(2);
        } else if budget.evicted() < memory.unordered / 8 {
            layers *= 2;
        }
    }
    Ok(builder)
}

struct MemoryLimit {
    /// Total, in bytes.
    allowed: u64,
    /// Memory that does not depend on the number of bricks, in bytes.
    fixed: u64,
    /// Maximum number of unordered bricks. Their memory counts until the end, since the allocator
    /// may keep it.
    unordered: u64,
}

/// Memory that may be used to find out that a surface is too large, in bytes.
const MIN_CHECK_BYTES: u64 = 16 << 20;

/// The part of a growing grid that an allocator may copy, in bytes: on Linux the pages of longer
/// lists are mapped to another address (`mremap`).
const MAX_COPIED_BYTES: u64 = if cfg!(target_os = "linux") { 64 << 20 } else { u64::MAX };

/// Peak memory of reallocating the lists of a grid, in bytes beside its `kept` bytes: the old
/// lists, and a spare capacity of an eighth in old and new lists.
fn copy_bytes(kept: u64) -> u64 {
    (kept / 4 * 5).min(MAX_COPIED_BYTES)
}

/// Bytes per brick while its slab is sorted.
const UNORDERED: u64 = size_of::<(BrickKey, Mask)>() as u64 + GridBuilder::BYTES_TO_ADD;

impl MemoryLimit {
    fn new(allowed: u64, tasks: &Tasks) -> Self {
        let bricks = BRICKS.min(allowed / 16 / UNORDERED) + tasks.unused_room();
        Self { allowed, fixed: tasks.fixed_bytes(), unordered: bricks }
    }

    /// Whether memory suffices for `bricks` more bricks beside `kept` bytes of the grid.
    fn holds(&self, kept: u64, bricks: u64) -> bool {
        let kept = kept + copy_bytes(kept) + bricks * GridBuilder::BYTES_KEPT;
        self.fixed + self.unordered * UNORDERED + kept <= self.allowed
    }

    /// Raises the limit of unordered bricks to those of the layer just tried, if that exceeded it.
    /// Returns whether memory suffices for them.
    fn fit_layer(&mut self, builder: &GridBuilder, tried: &EvictionBudget, tasks: &Tasks) -> bool {
        let was_complete = tried.dropped() == 0;
        self.unordered = tried.evicted() + tasks.unused_room();
        !was_complete && self.holds(builder.bytes(), 0)
    }

    /// Rejects a surface that is too large before voxelizing it: the bricks it touches are the
    /// voxels of a grid 8 times as coarse, which takes about 1/64 of the time and memory.
    ///
    /// # Errors
    /// The bricks alone exceed the memory; cancelled.
    fn check_early(
        &self,
        mesh: &PlacedMesh,
        tasks: &Tasks,
        progress: &dyn Progress,
    ) -> Result<(), BackendError> {
        let [x, y, z] = mesh.lattice().dims.map(|d| u64::from(d.div_ceil(BRICK)));
        // Surfaces with more bricks than this are rare; they are rejected later.
        let likely_most = 8 * (x * y + y * z + z * x);
        let is_small = x.max(y).max(z) < 256 || self.holds(0, likely_most);
        if is_small {
            return Ok(());
        }
        let Some(coarse) = mesh.coarser(BRICK.ilog2()) else { return Ok(()) };
        let left = self.allowed.max(MIN_CHECK_BYTES);
        let coarse = voxelize(&coarse, Rule::Conservative, left, &Unreported(progress))
            .map(GridBuilder::finish);
        let coarse = coarse.map_err(|error| match error {
            // A brick of the coarse grid corresponds to at least 8 x 8 bricks of this one.
            BackendError::Memory { needed, .. } => {
                BackendError::Memory { needed: needed.saturating_mul(64), allowed: self.allowed }
            }
            other => other,
        })?;
        let bricks = coarse.occupied();
        if self.holds(0, bricks) {
            return Ok(());
        }
        let mut layer_bricks = BTreeMap::new();
        for run in coarse.brick_runs() {
            let layer: &mut u64 = layer_bricks.entry(run.start.position()[2]).or_default();
            *layer += u64::from(count(&run.mask)) * u64::from(run.len);
        }
        // 5/4: some bricks are evicted by several tasks.
        let most = layer_bricks.into_values().max().unwrap_or(0) / 4 * 5;
        Err(self.error(bricks, most, tasks))
    }

    /// The error with the memory that the whole grid needs, by counting its bricks.
    fn count_needed(&self, tasks: &Tasks, progress: &dyn Progress) -> BackendError {
        let (mut kept, mut most) = (0, 0);
        let mut builder = GridBuilder::counting(tasks.rule.combine());
        let mut budget = tasks.budget();
        for layer in 0..tasks.layers {
            budget.begin(self.unordered);
            let batches = tasks.voxelize(&(layer..layer + 1), &budget, progress);
            if progress.is_cancelled() {
                return BackendError::Cancelled;
            }
            // Duplicates are counted too if there was no room to find them.
            kept += if budget.dropped() == 0 { builder.order(&batches) } else { budget.evicted() };
            most = most.max(budget.evicted());
            budget.recycle(batches);
        }
        self.error(kept, most, tasks)
    }

    /// The error for a grid of `bricks`, at most `most` of them unordered at a time.
    fn error(&self, bricks: u64, most: u64, tasks: &Tasks) -> BackendError {
        let grid = bricks * GridBuilder::BYTES_KEPT;
        let kept = grid + copy_bytes(grid) + tasks.unused_room() * UNORDERED + self.fixed;
        // `new` reserves a sixteenth of the total: a fifteenth of the rest.
        let unordered = (most * UNORDERED).max((BRICKS * UNORDERED).min(kept / 15 + 1));
        // Thicker slabs evict some bricks more often than the layers that were counted.
        let least = self.allowed + self.allowed / 16;
        BackendError::Memory { needed: least.max(kept + unordered), allowed: self.allowed }
    }
}
