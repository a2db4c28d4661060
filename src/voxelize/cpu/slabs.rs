//! Slabs of the grid, one after another, each as thick as memory allows: a slab's bricks come from
//! the tasks in no order, and take twice the memory until they are in order.

use std::collections::BTreeMap;

use crate::grid::{BRICK, BrickKey, GridBuilder, Mask, count};
use crate::place::PlacedMesh;
use crate::progress::{NoProgress, Progress};
use crate::voxelize::cpu::brick_cache::Budget;
use crate::voxelize::cpu::tasks::Tasks;
use crate::voxelize::{BackendError, Rule};

/// Bricks that the first slab has room for: those of 1024^3 voxels.
const FIRST_SLAB: u64 = 1 << 21;
/// Bricks that may be out of order at a time, to begin with: 90 MB, or a sixteenth of the memory.
const BRICKS: u64 = 1 << 20;

/// The voxels of `mesh` that `rule` names, in at most `memory` bytes for the grid and the work on it.
///
/// # Errors
/// That is not enough.
pub(super) fn voxelize(
    mesh: &PlacedMesh,
    rule: Rule,
    memory: u64,
    progress: &dyn Progress,
) -> Result<GridBuilder, BackendError> {
    let tasks = Tasks::new(mesh, rule);
    let mut memory = Allowance::new(memory, &tasks);
    if rule == Rule::Conservative {
        memory.refuse_early(mesh, &tasks)?;
    }
    progress.start("voxelize", tasks.layers());

    let mut builder =
        GridBuilder::new(rule.grid_dims(mesh.lattice().dims))?.combining(rule.combine());
    let mut budget = tasks.budget();
    let mut first = 0;
    let mut layers = tasks.layers_of_room(FIRST_SLAB);
    while first < tasks.layers() {
        let slab = first..tasks.layers().min(first + layers);
        budget.begin(memory.unordered);
        let parts = tasks.fill(&slab, &budget, progress);
        if progress.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        let fits = budget.dropped() == 0 && memory.holds(builder.bytes(), builder.order(&parts));
        if !fits {
            if slab.end - slab.start > 1 {
                layers = (slab.end - slab.start).div_ceil(4);
            } else if !memory.make_room(&builder, &budget, &tasks) {
                drop((parts, builder, budget));
                return Err(memory.refuse(&tasks, progress));
            }
            budget.take_back(parts);
            continue;
        }
        builder.append_ordered(&parts)?;
        budget.take_back(parts);
        progress.advance(slab.end - slab.start);
        first = slab.end;
        if budget.closed() > memory.unordered / 2 {
            layers = layers.div_ceil(2);
        } else if budget.closed() < memory.unordered / 8 {
            layers *= 2;
        }
    }
    Ok(builder)
}

struct Allowance {
    /// In bytes, for all.
    allowed: u64,
    /// In bytes, whatever the grid.
    fixed: u64,
    /// Bricks that may be out of order at a time. What they take is not given back: the allocator
    /// may keep it.
    unordered: u64,
}

/// Bytes that a brick takes while its slab is brought into order.
const UNORDERED: u64 = size_of::<(BrickKey, Mask)>() as u64 + GridBuilder::BYTES_TO_ADD;

impl Allowance {
    fn new(allowed: u64, tasks: &Tasks) -> Self {
        let bricks = BRICKS.min(allowed / 16 / UNORDERED) + tasks.unused_room();
        Self { allowed, fixed: tasks.fixed_bytes(), unordered: bricks }
    }

    /// Whether the grid may have `bricks` besides those that take `kept` bytes.
    fn holds(&self, kept: u64, bricks: u64) -> bool {
        let kept = kept + bricks * GridBuilder::BYTES_KEPT;
        self.fixed + self.unordered * UNORDERED + kept <= self.allowed
    }

    /// Lets as many bricks be out of order as the layer has that was just tried, if that were too
    /// many, and tells whether there is memory for them.
    fn make_room(&mut self, builder: &GridBuilder, tried: &Budget, tasks: &Tasks) -> bool {
        let had_room = tried.dropped() == 0;
        self.unordered = tried.closed() + tasks.unused_room();
        !had_room && self.holds(builder.bytes(), 0)
    }

    /// Refuses a large surface before the work on it: the bricks that it touches are the voxels of a
    /// grid 8 times as coarse, which takes about 1/64 of the time and memory.
    ///
    /// # Errors
    /// The bricks alone are more than the memory holds.
    fn refuse_early(&self, mesh: &PlacedMesh, tasks: &Tasks) -> Result<(), BackendError> {
        let [x, y, z] = mesh.lattice().dims.map(|d| u64::from(d.div_ceil(BRICK)));
        // Surfaces with more bricks than this are rare; they are refused later.
        let likely_most = 8 * (x * y + y * z + z * x);
        let is_small = x.max(y).max(z) < 256 || self.holds(0, likely_most);
        let copy = size_of_val(mesh.vertices()) as u64;
        if is_small || copy > self.allowed / 4 {
            return Ok(());
        }
        let Some(coarse) = mesh.coarser(BRICK.ilog2()) else { return Ok(()) };
        let left = self.allowed - copy;
        let coarse =
            voxelize(&coarse, Rule::Conservative, left, &NoProgress).map(GridBuilder::finish);
        let coarse = coarse.map_err(|error| match error {
            // A brick of the coarse grid stands for 8 x 8 of this one, or more.
            BackendError::Memory { needed, .. } => {
                BackendError::Memory { needed: needed.saturating_mul(64), allowed: self.allowed }
            }
            other => other,
        })?;
        let bricks = coarse.occupied();
        if self.holds(0, bricks) {
            return Ok(());
        }
        let mut of_layers = BTreeMap::new();
        for piece in coarse.brick_runs() {
            let layer: &mut u64 = of_layers.entry(piece.start.position()[2]).or_default();
            *layer += u64::from(count(&piece.mask)) * u64::from(piece.len);
        }
        // Some bricks are found by several tasks.
        let most = of_layers.into_values().max().unwrap_or(0) / 4 * 5;
        Err(self.error(bricks, most, tasks))
    }

    /// Counts what the whole grid would take.
    fn refuse(&self, tasks: &Tasks, progress: &dyn Progress) -> BackendError {
        let (mut kept, mut most) = (0, 0);
        let mut builder = GridBuilder::counting().combining(tasks.rule().combine());
        let mut budget = tasks.budget();
        for layer in 0..tasks.layers() {
            budget.begin(self.unordered);
            let parts = tasks.fill(&(layer..layer + 1), &budget, progress);
            if progress.is_cancelled() {
                return BackendError::Cancelled;
            }
            // Where there is no room to tell which were closed several times, all count.
            kept += if budget.dropped() == 0 { builder.order(&parts) } else { budget.closed() };
            most = most.max(budget.closed());
            budget.take_back(parts);
        }
        self.error(kept, most, tasks)
    }

    /// For a grid of `bricks`, of which `most` are out of order at a time.
    fn error(&self, bricks: u64, most: u64, tasks: &Tasks) -> BackendError {
        let kept = bricks * GridBuilder::BYTES_KEPT + tasks.unused_room() * UNORDERED + self.fixed;
        // So much is set aside: a sixteenth of all is a fifteenth of the rest.
        let unordered = (most * UNORDERED).max((BRICKS * UNORDERED).min(kept / 15 + 1));
        BackendError::Memory { needed: kept + unordered, allowed: self.allowed }
    }
}
