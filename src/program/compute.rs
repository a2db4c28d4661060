//! VoxelArgs a command computes with: backends and threads, as its options say.

use anyhow::{Context, Result, bail};
use trivox::voxelize::{BackendChoice, Backends};

use crate::program::cli::ComputeArgs;

impl ComputeArgs {
    /// The backends that may be used; nothing is started yet.
    pub fn backends(&self) -> Backends {
        Backends::new(self.backend.into(), self.adapter.clone())
    }

    /// # Errors
    /// Options that would have no effect where only one backend is used.
    pub fn refuse_contradictions(&self) -> Result<()> {
        if self.adapter.is_some() && BackendChoice::from(self.backend) == BackendChoice::Cpu {
            bail!("--adapter names a GPU, but --backend cpu uses none: leave one of them out");
        }
        Ok(())
    }

    /// Starts the threads. All that compute, whatever they work on, are those of one pool.
    pub fn start_threads(&self) -> Result<()> {
        // Of 0 threads: as many as there are cores.
        let threads = self.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().context("cannot start the threads: use fewer (--threads)")
    }
}
