//! The memory limit, which counts the whole process.

use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Error, Result};
use bytesize::ByteSize;
use sysinfo::{
    MemoryRefreshKind, Pid, ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System,
    get_current_pid,
};
use trivox::formats::ReadError;
use trivox::{BackendError, VoxelizeError, Voxelizer};

/// Bytes reserved for what has no limit of its own: stacks of threads, the process itself.
const RESERVE: u64 = 32 << 20;
/// Bytes reserved per mesh: the buffers of a writer.
const RESERVE_A_MESH: u64 = 8 << 20;

/// The limit. Clones share it.
#[derive(Debug, Clone)]
pub struct Memory {
    total: u64,
    /// Whether the user set it.
    is_asked: bool,
    /// The number of meshes that share it.
    at_once: u64,
    process: Option<Pid>,
    /// Held shared by each mesh that has a share, and exclusively by one that has all memory.
    running: Arc<RwLock<()>>,
}

impl Memory {
    /// The limit `asked`, in bytes; by default nine tenths of the memory that is available now.
    pub fn new(asked: Option<ByteSize>) -> Self {
        let total = asked.map_or_else(|| available() / 10 * 9, |size| size.as_u64());
        let (is_asked, process) = (asked.is_some(), get_current_pid().ok());
        Self { total, is_asked, at_once: 1, process, running: Arc::default() }
    }

    /// The same limit for `at_once` meshes at a time.
    pub fn shared_by(self, at_once: usize) -> Self {
        Self { at_once: at_once.max(1) as u64, ..self }
    }

    /// The limit in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Runs `work` with a share; if that is not enough, again with all memory while no other mesh
    /// is in work.
    ///
    /// # Errors
    /// Errors of `work`.
    pub fn divided<T>(&self, work: impl Fn(&Share) -> Result<T>) -> Result<T> {
        let shared = {
            let _one_of_several = self.running.read().unwrap_or_else(PoisonError::into_inner);
            work(&Share { memory: self.clone(), of: self.at_once })
        };
        match shared {
            Err(error) if self.at_once > 1 && error.downcast_ref::<Short>().is_some() => {
                let _alone = self.running.write().unwrap_or_else(PoisonError::into_inner);
                work(&Share { memory: self.clone(), of: 1 })
            }
            result => result,
        }
    }

    fn taken(&self) -> u64 {
        let resident = self.process.map_or(0, |process| used(process).resident);
        resident.saturating_add(RESERVE + RESERVE_A_MESH * self.at_once)
    }

    /// Bytes that can still be mapped within the limit of the address space. Beyond it an
    /// allocation fails, which ends the process, so it must be refused before.
    fn address_space_left(&self) -> u64 {
        let Some(limit) = address_space_limit() else { return u64::MAX };
        let mapped = self.process.map_or(0, |process| used(process).mapped);
        // Allocators map more than requested.
        limit.saturating_sub(mapped).saturating_sub(RESERVE + RESERVE_A_MESH * self.at_once) / 10
            * 9
    }
}

/// The share of one mesh.
#[derive(Debug, Clone)]
pub struct Share {
    memory: Memory,
    /// The number of shares.
    of: u64,
}

impl Share {
    /// Bytes that the mesh may take now, beyond the memory of the process.
    pub fn left(&self) -> u64 {
        let resident = self.memory.total.saturating_sub(self.memory.taken());
        resident.min(self.memory.address_space_left()) / self.of
    }

    /// Sets the memory limit of `voxelizer` to this share.
    pub fn of(&self, voxelizer: &Voxelizer) -> Voxelizer {
        let share = self.clone();
        voxelizer.clone().memory_from(move || share.left())
    }

    /// Adds to a memory error which limit would be enough.
    pub fn explain(&self, error: impl Into<VoxelizeError>) -> Error {
        self.explain_step(error, false)
    }

    /// The same for a step that is followed by others, which may need more.
    pub fn explain_step(&self, error: impl Into<VoxelizeError>, others_follow: bool) -> Error {
        let how_much = if others_follow { "at least" } else { "up to" };
        let error = error.into();
        // A mesh takes as much memory at every resolution.
        let (what, needed, remedy) = match error {
            VoxelizeError::Read(ReadError::Memory { needed, .. }) => {
                ("reading the mesh", needed, "divide the mesh")
            }
            VoxelizeError::Backend(BackendError::Memory { needed, .. }) => {
                ("the grid", needed, "use a lower resolution, divide the mesh")
            }
            error => return error.into(),
        };
        let Memory { total, is_asked, .. } = &self.memory;
        if let (Some(limit), true) =
            (address_space_limit(), needed > self.memory.address_space_left())
        {
            let needed = needed.div_ceil(1 << 20);
            let message = format!(
                "for {what} the program needs {how_much} {needed} MiB more memory, but the limit \
                 of its address space is {} MiB: {remedy}, or raise the limit (ulimit -v)",
                limit >> 20
            );
            return Short(message).into();
        }
        let needed = needed.saturating_add(self.memory.taken()).div_ceil(1 << 20);
        let total = match total >> 20 {
            0 => "less than 1".to_owned(),
            total => total.to_string(),
        };
        let bound = match is_asked {
            true => format!("--memory allows {total} MiB"),
            false => format!("the machine has {total} MiB to give"),
        };
        let message = format!(
            "for {what} the program needs {how_much} {needed} MiB of memory, but {bound}: \
             {remedy}, or allow --memory {needed}MiB"
        );
        Short(message).into()
    }
}

/// Why the memory was not enough.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Short(String);

/// Memory available on the machine, or in the process's control group, in bytes.
fn available() -> u64 {
    let refresh = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(refresh);
    let group = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    match system.available_memory().min(group) {
        // Not every system reports it.
        0 => u64::MAX,
        bytes => bytes,
    }
}

/// The limit of the address space (`ulimit -v`) in bytes, if there is one.
#[cfg(unix)]
fn address_space_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::As).current
}

#[cfg(not(unix))]
fn address_space_limit() -> Option<u64> {
    None
}

/// Memory of the process.
#[derive(Debug, Default)]
struct Used {
    /// In bytes.
    resident: u64,
    /// The address space of the process, in bytes.
    mapped: u64,
}

fn used(process: Pid) -> Used {
    let mut system = System::new();
    let memory = ProcessRefreshKind::nothing().with_memory().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), false, memory);
    let process = system.process(process);
    process.map_or_else(Used::default, |process| Used {
        resident: process.memory(),
        mapped: process.virtual_memory(),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use anyhow::bail;

    fn left(memory: &Memory) -> u64 {
        memory.divided(|share| Ok(share.left())).unwrap()
    }

    #[test]
    fn the_machine_has_memory_and_the_process_takes_some() {
        let memory = Memory::new(None);
        assert!((64 << 20..1 << 50).contains(&memory.total()), "{memory:?}");
        assert!(left(&memory) < memory.total() - RESERVE, "{memory:?}");
        assert_eq!(left(&Memory::new(Some(ByteSize::mib(1)))), 0);
    }

    #[test]
    fn meshes_at_once_have_equal_shares() {
        let alone = left(&Memory::new(Some(ByteSize::gib(64))));
        let shared = left(&Memory::new(Some(ByteSize::gib(64))).shared_by(4));
        // The process may have grown in between.
        assert!(shared.abs_diff(alone / 4) < 64 << 20, "{shared} of {alone}");
    }

    #[test]
    fn a_mesh_that_its_share_is_too_small_for_has_all_memory_once() {
        let memory = Memory::new(Some(ByteSize::gib(64))).shared_by(4);
        let needed = 20 << 30;
        let work = |share: &Share| match share.left() {
            left if left < needed => {
                Err(share.explain(BackendError::Memory { needed, allowed: left }))
            }
            left => Ok(left),
        };
        assert!(memory.divided(work).unwrap() > needed);
        let too_small = Memory::new(Some(ByteSize::gib(16))).shared_by(4);
        let message = too_small.divided(work).unwrap_err().to_string();
        let rest = message.strip_prefix("for the grid the program needs up to ").unwrap();
        let mib: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        // With what the process takes.
        assert!((20 << 10..21 << 10).contains(&mib), "{message}");

        let tries = std::cell::Cell::new(0);
        let failing = |_: &Share| -> Result<()> {
            tries.set(tries.get() + 1);
            bail!("another reason")
        };
        memory.divided(failing).unwrap_err();
        assert_eq!(tries.get(), 1);
    }
}
