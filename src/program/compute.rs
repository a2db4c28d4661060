//! Backends and threads.

use anyhow::{Context, Result, bail};
use trivox::Mode;
use trivox::backend::UsedBackend;
use trivox::backend::{BackendChoice, Backends};
use trivox::solid::Fill;

use crate::cli::ComputeArgs;

impl ComputeArgs {
    /// The selected backends; none is started yet.
    pub fn backends(&self) -> Backends {
        Backends::new(self.backend, self.adapter.clone())
    }

    /// # Errors
    /// Options of a GPU that are without effect: `mode` tests no voxels, or the CPU computes, and
    /// `compares_backends` does not make a GPU compute too.
    pub fn refuse_contradictions(&self, mode: Mode, compares_backends: bool) -> Result<()> {
        if !compares_backends {
            refuse_contradictions(Some(self.backend), self.adapter.as_deref())?;
            if self.kernel.is_some() && self.backend == BackendChoice::Cpu {
                bail!("--kernel is for a GPU, but --backend cpu uses none: leave one of them out");
            }
        }
        let tests_columns = match mode {
            Mode::Solid(solid) => !solid.include_surface && solid.fill != Fill::Flood,
            mode => mode == Mode::Thin,
        };
        if self.kernel.is_some() && tests_columns {
            bail!("--kernel is for tests of voxels, but columns are tested here: leave it out");
        }
        Ok(())
    }

    /// A warning if --kernel had no effect, as the CPU computed the voxels.
    pub fn unused_kernel(&self, used: &UsedBackend) -> Option<String> {
        let is_unused = self.kernel.is_some() && used.adapter.is_none();
        is_unused.then(|| "--kernel had no effect: the CPU computed the voxels".to_owned())
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
