//! The CPU backend: tasks of some thousand triangles refine blocks of boxes down to voxels, and set
//! these in a write-back cache of bricks. The grid is processed in slabs, which bounds the memory
//! of bricks that are not sorted yet.

mod brick_cache;
#[cfg(feature = "gpu")]
pub(crate) mod clamped;
mod clipped;
mod columns;
mod refine;
mod slabs;
mod strips;
mod tasks;
mod triangle_batch;

use crate::backend::BackendError;
use crate::backend::{Backend, Rule, Run, RunOptions};
use crate::base::progress::{Latch, Progress};
use crate::grid::VoxelGrid;
use crate::lattice::PlacedMesh;

/// Voxelizes on the threads of the current rayon pool: one per core, unless the caller runs in
/// [another](rayon::ThreadPool::install).
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Cpu {}

impl Cpu {
    /// As [`Backend::voxelize`].
    ///
    /// # Errors
    /// As [`Backend::voxelize`].
    pub fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError> {
        Backend::Cpu(self).voxelize(mesh, progress)
    }

    /// As [`Backend::run`].
    ///
    /// # Errors
    /// As [`Backend::run`].
    pub fn run(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        let progress = Latch::new(progress);
        // Runs on a thread of the pool: a thread outside it would block in every parallel call until
        // one in it wakes up.
        let builder = rayon::scope(|_| slabs::voxelize(mesh, rule, options.memory, &progress))?;
        let windings = builder.windings();
        let (grid, crossings) = builder.finish_with_crossings();
        Ok(Run { grid, windings, crossings, report: None })
    }
}
