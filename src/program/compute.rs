//! Backends and threads.

use anyhow::{Context, Result, bail};
use trivox::voxelize::{BackendChoice, Backends};

use crate::program::cli::ComputeArgs;

impl ComputeArgs {
    /// The selected backends; none is started yet.
    pub fn backends(&self) -> Backends {
        Backends::new(self.backend, self.adapter.clone())
    }

    /// # Errors
    /// Options without effect, since only one backend is used.
    pub fn refuse_contradictions(&self) -> Result<()> {
        if self.adapter.is_some() && self.backend == BackendChoice::Cpu {
            bail!("--adapter names a GPU, but --backend cpu uses none: leave one of them out");
        }
        Ok(())
    }

    /// Starts the threads: one pool for all computations.
    pub fn start_threads(&self) -> Result<()> {
        // 0 threads: one per core.
        let threads = self.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().context("cannot start the threads: use fewer (--threads)")
    }
}
