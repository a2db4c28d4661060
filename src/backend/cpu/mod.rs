//! The CPU backend: threads take some thousand triangles each, refine blocks of boxes around them
//! down to voxels, and set these in bricks that stay near the processor. One slab of the grid at a
//! time, so that what is not yet in order takes little memory.

mod gather;
mod open;
mod refine;
mod slabs;

use crate::backend::Backend;
use crate::error::BackendError;
use crate::grid::VoxelGrid;
use crate::place::PlacedMesh;
use crate::progress::Progress;

/// Voxelizes on the CPU's threads.
#[derive(Debug)]
pub struct Cpu {
    /// `None`: the process-wide pool.
    pool: Option<rayon::ThreadPool>,
    /// In bytes.
    memory: u64,
}

impl Default for Cpu {
    /// One thread per core, shared with the rest of the process, and as much memory as it takes.
    fn default() -> Self {
        Self { pool: None, memory: u64::MAX }
    }
}

impl Cpu {
    /// With `threads` threads of its own.
    ///
    /// # Errors
    /// The operating system refused to start them.
    pub fn with_threads(threads: usize) -> Result<Self, BackendError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| BackendError::Threads { threads, reason: e.to_string() })?;
        Ok(Self { pool: Some(pool), ..Self::default() })
    }

    /// With at most `bytes` of memory for the grid and for the work on it; the mesh not counted. A
    /// grid that needs more is refused.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }
}

impl Backend for Cpu {
    fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError> {
        let run = || slabs::voxelize(mesh, self.memory, progress);
        match &self.pool {
            Some(pool) => pool.install(run),
            None => run(),
        }
    }
}
