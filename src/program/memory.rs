//! How much memory the run may take, all of the process counted.

use anyhow::{Error, anyhow};
use bytesize::ByteSize;
use sysinfo::{
    MemoryRefreshKind, Pid, ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System,
    get_current_pid,
};
use trivox::BackendError;
use trivox::formats::ReadError;

/// What is kept back for whatever is not bounded one by one: threads' stacks, writers' buffers.
const RESERVE: u64 = 32 << 20;

/// The bound, and how many meshes share it.
#[derive(Debug)]
pub struct Memory {
    total: u64,
    /// Whether the user named the bound.
    is_asked: bool,
    at_once: u64,
    process: Option<Pid>,
}

impl Memory {
    /// Of `asked` bytes, or else of nine tenths of what the machine has available now.
    pub fn new(asked: Option<ByteSize>) -> Self {
        let total = asked.map_or_else(|| available() / 10 * 9, |size| size.as_u64());
        Self { total, is_asked: asked.is_some(), at_once: 1, process: get_current_pid().ok() }
    }

    /// For `at_once` meshes at a time.
    pub fn shared_by(self, at_once: usize) -> Self {
        Self { at_once: at_once.max(1) as u64, ..self }
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that one of the meshes may take now, beyond what the process has.
    pub fn left(&self) -> u64 {
        self.total.saturating_sub(self.taken()) / self.at_once
    }

    fn taken(&self) -> u64 {
        self.process.map_or(0, resident).saturating_add(RESERVE)
    }

    /// Says of an error for want of memory what bound would do.
    pub fn explain(&self, error: Error) -> Error {
        let read = error.downcast_ref().map(|error| match error {
            ReadError::Memory { needed, .. } => Some(("reading the mesh", *needed)),
            _ => None,
        });
        let made = error.downcast_ref().map(|error| match error {
            BackendError::Memory { needed, .. } => Some(("the grid", *needed)),
            _ => None,
        });
        let Some((what, needed)) = read.or(made).flatten() else {
            return error;
        };
        let total = needed.saturating_mul(self.at_once).saturating_add(self.taken());
        let total = total.div_ceil(1 << 20);
        let bound = match (self.total >> 20, self.is_asked) {
            (total, true) => format!("--memory allows {total} MiB"),
            (total, false) => format!("the machine has {total} MiB to give"),
        };
        anyhow!(
            "for {what} the program needs up to {total} MiB of memory, but {bound}: use a lower \
             resolution, divide the mesh, or allow --memory {total}MiB"
        )
    }
}

/// Bytes that the machine, or the group of processes that this is confined to, has to give.
fn available() -> u64 {
    let refresh = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(refresh);
    let group = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    match system.available_memory().min(group) {
        // Not every system tells.
        0 => u64::MAX,
        bytes => bytes,
    }
}

/// Bytes that the process has.
fn resident(process: Pid) -> u64 {
    let mut system = System::new();
    let memory = ProcessRefreshKind::nothing().with_memory().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), false, memory);
    system.process(process).map_or(0, |process| process.memory())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_memory_and_the_process_takes_some() {
        let memory = Memory::new(None);
        assert!((64 << 20..1 << 50).contains(&memory.total()), "{memory:?}");
        let left = memory.left();
        assert!(left < memory.total() - RESERVE, "{left} of {memory:?}");
        assert_eq!(Memory::new(Some(ByteSize::mib(1))).left(), 0);
    }

    #[test]
    fn meshes_at_once_have_equal_shares() {
        let alone = Memory::new(Some(ByteSize::gib(64))).left();
        let shared = Memory::new(Some(ByteSize::gib(64))).shared_by(4).left();
        // The process may have grown between.
        assert!(shared.abs_diff(alone / 4) < 64 << 20, "{shared} of {alone}");
    }
}
