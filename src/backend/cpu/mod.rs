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

/// Voxelizes on the CPU's threads.
#[derive(Debug)]
pub struct Cpu {
    /// `None`: the process-wide pool.
    pool: Option<rayon::ThreadPool>,
}

/// The CPU with the threads of the process.
pub(crate) static SHARED: Cpu = Cpu { pool: None };

impl Default for Cpu {
    /// One thread per core, shared with the rest of the process.
    fn default() -> Self {
        Self { pool: None }
    }
}

impl Cpu {
    /// With its own pool of `threads` threads.
    ///
    /// # Errors
    /// The operating system refused to start them.
    pub fn with_threads(threads: usize) -> Result<Self, BackendError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| BackendError::Threads { threads, reason: e.to_string() })?;
        Ok(Self { pool: Some(pool) })
    }

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
        let voxelize = || slabs::voxelize(mesh, rule, options.memory, &progress);
        let builder = match &self.pool {
            Some(pool) => pool.install(voxelize),
            // Runs on a thread of the pool: a thread outside it would block in every parallel call
            // until one in it wakes up.
            None => rayon::scope(|_| voxelize()),
        };
        let builder = builder?;
        let windings = builder.windings();
        let (grid, crossings) = builder.finish_with_crossings();
        Ok(Run { grid, windings, crossings, report: None })
    }
}
