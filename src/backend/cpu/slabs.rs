//! Slabs of the grid, one after another, each as thick as memory allows: a slab's bricks come from
//! the tasks in no order, and take twice the memory until they are in order.

use crate::backend::Rule;
use crate::backend::cpu::open::Budget;
use crate::backend::cpu::tasks::Tasks;
use crate::error::BackendError;
use crate::grid::{BrickKey, GridBuilder, Mask};
use crate::place::PlacedMesh;
use crate::progress::Progress;

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

    /// Counts what the whole grid would take.
    fn refuse(&self, tasks: &Tasks, progress: &dyn Progress) -> BackendError {
        let (mut kept, mut most) = (0, 0);
        let (mut budget, mut builder) = (tasks.budget(), GridBuilder::counting());
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
        let kept = kept * GridBuilder::BYTES_KEPT + tasks.unused_room() * UNORDERED + self.fixed;
        // So much is set aside: a sixteenth of all is a fifteenth of the rest.
        let unordered = (most * UNORDERED).max((BRICKS * UNORDERED).min(kept / 15 + 1));
        BackendError::Memory { needed: kept + unordered, allowed: self.allowed }
    }
}
