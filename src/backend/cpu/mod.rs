//! The CPU backend: tasks of some thousand triangles refine blocks of boxes down to voxels, and set
//! these in a write-back cache of bricks. The grid is processed in slabs, which bounds the memory
//! of bricks that are not sorted yet.

mod brick_cache;
#[cfg(feature = "gpu")]
pub(crate) mod clamped;
mod columns;
mod refine;
mod slabs;
mod strips;
mod tasks;
mod triangle_batch;

use crate::backend::{BackendError, Rule, Run, RunOptions};
use crate::base::progress::{Latch, Progress};
use crate::lattice::PlacedMesh;

/// Voxelizes on the threads of the current rayon pool: one per core, unless the caller runs in
/// [another](rayon::ThreadPool::install).
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

/// Voxelizes `mesh` by `rule`.
///
/// # Errors
/// The memory is not sufficient; cancelled.
pub(crate) fn run(
    mesh: &PlacedMesh,
    rule: Rule,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<Run, BackendError> {
    let progress = Latch::new(progress);
    // Runs on a thread of the pool: a thread outside it would block in every parallel call until
    // one in it wakes up.
    let found = rayon::scope(|_| slabs::voxelize(mesh, rule, options.memory, &progress))?;
    Ok(Run::new(found, None))
}
