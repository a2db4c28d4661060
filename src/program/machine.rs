//! What a command computes with: backends and threads, as its options say.

use anyhow::{Context, Result, bail};
use trivox::backend::{Backends, Choice};

use crate::program::cli::Machine;

/// The backends that `machine` allows; nothing is started yet.
pub fn backends(machine: &Machine) -> Backends {
    Backends::new(machine.backend.into(), machine.adapter.clone())
}

/// Options that would have no effect where only one backend is used.
pub fn refuse_contradictions(machine: &Machine) -> Result<()> {
    if machine.adapter.is_some() && Choice::from(machine.backend) == Choice::Cpu {
        bail!("--adapter names a GPU, but --backend cpu uses none: leave one of them out");
    }
    Ok(())
}

/// All threads that compute, whatever they work on, are those of one pool.
pub fn start_threads(threads: Option<u16>) -> Result<()> {
    let Some(threads) = threads else {
        return Ok(());
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
    pool.build_global().with_context(|| format!("--threads {threads}"))
}
