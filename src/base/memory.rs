//! The memory that this process takes, and may still take.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use sysinfo::{
    MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System, get_current_pid,
};

use crate::base::lock;

/// Memory that the process may take now, in bytes: nine tenths of what the machine and its control
/// group have available, and of what the limit of the address space leaves. `u64::MAX` where the
/// system does not say. It is measured at most every 20 ms.
///
/// ```
/// use trivox::{Voxelizer, memory};
///
/// let voxelizer = Voxelizer::new().memory_from(memory::left);
/// ```
#[must_use]
pub fn left() -> u64 {
    // Measuring takes 0.1 ms, and a small mesh 1 ms.
    const VALID: Duration = Duration::from_millis(20);
    static MEASURED: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
    let mut measured = lock(&MEASURED);
    match *measured {
        Some((at, bytes)) if at.elapsed() < VALID => bytes,
        _ => {
            let bytes = (available() / 10 * 9).min(address_space_left() / 10 * 9);
            *measured = Some((Instant::now(), bytes));
            bytes
        }
    }
}

/// Memory available on the machine, or in the process's control group, in bytes.
#[must_use]
pub fn available() -> u64 {
    let refresh = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(refresh);
    // `cgroup_limits` requires the machine's total, which is unknown where /proc/meminfo cannot be
    // read: in a chroot without it, or when the process is out of descriptors.
    if system.total_memory() == 0 {
        return u64::MAX;
    }
    let group = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    match system.available_memory().min(group) {
        // Not every system reports it.
        0 => u64::MAX,
        bytes => bytes,
    }
}

/// Bytes that can still be mapped within the limit of the address space. An allocation beyond it
/// fails, which ends the process, so it must be refused before.
#[must_use]
pub fn address_space_left() -> u64 {
    address_space_limit().map_or(u64::MAX, |limit| limit.saturating_sub(of_process().mapped))
}

/// The limit of the address space (`ulimit -v`) in bytes, if there is one.
#[cfg(unix)]
#[must_use]
pub fn address_space_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::As).current
}

/// The limit of the address space in bytes, if there is one.
#[cfg(not(unix))]
#[must_use]
pub fn address_space_limit() -> Option<u64> {
    None
}

/// Memory that the process takes; 0 where the system does not say.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct OfProcess {
    /// The resident set, in bytes.
    pub resident: u64,
    /// The address space, in bytes.
    pub mapped: u64,
}

/// Memory that this process takes.
#[must_use]
pub fn of_process() -> OfProcess {
    let Ok(id) = get_current_pid() else { return OfProcess::default() };
    let mut system = System::new();
    let memory = ProcessRefreshKind::nothing().with_memory().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, memory);
    let process = system.process(id);
    process.map_or_else(OfProcess::default, |process| OfProcess {
        resident: process.memory(),
        mapped: process.virtual_memory(),
    })
}
