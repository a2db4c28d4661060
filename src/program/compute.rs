//! Backends and threads.

use anyhow::{Context, Result, bail};
use trivox::engine::backend::{BackendChoice, Backends};

use crate::cli::ComputeArgs;

impl ComputeArgs {
    /// The selected backends; none is started yet.
    pub fn backends(&self) -> Backends {
        Backends::new(self.backend, self.adapter.clone())
    }
}

/// # Errors
/// An adapter is named, and the only backend is the CPU.
pub fn refuse_contradictions(backend: Option<BackendChoice>, adapter: Option<&str>) -> Result<()> {
    if adapter.is_some() && backend == Some(BackendChoice::Cpu) {
        bail!("--adapter names a GPU, but --backend cpu uses none: leave one of them out");
    }
    Ok(())
}

/// Starts the threads: one pool for all computations.
///
/// # Errors
/// The operating system refuses to start them.
pub fn start_threads(number: Option<u16>) -> Result<()> {
    // 0 threads: one per core.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number.unwrap_or(0).into());
    pool.build_global().context("cannot start the threads: use fewer (--threads)")
}
