//! The GPU shared by all meshes of a process, found and opened on first use.

use std::sync::{Arc, Mutex, OnceLock, TryLockError};

use crate::backend::BackendError;
use crate::backend::gpu::Gpu;
use crate::backend::turn::Turn;
use crate::base::lock;
use crate::gpu::{Adapter, GpuError};

/// How often a GPU that failed is opened again. One that hangs holds up each mesh for minutes.
const MAX_REOPENED: u32 = 3;

/// Threads that open it concurrently wait for the first.
#[derive(Debug, Default)]
pub(super) struct SharedGpu {
    name: Option<String>,
    adapter: OnceLock<Result<Adapter, GpuError>>,
    open: Mutex<Open>,
    /// Taken to open it.
    turn: Turn,
}

#[derive(Debug, Default)]
struct Open {
    gpu: Option<Result<Arc<Gpu>, BackendError>>,
    reopened: u32,
}

impl Open {
    /// The GPU, if it is open and has not failed.
    fn working(&self) -> Option<&Gpu> {
        let gpu = self.gpu.as_ref()?.as_deref().ok()?;
        gpu.device().check().is_ok().then_some(gpu)
    }
}

impl SharedGpu {
    /// The preferred GPU, or the one with `name` in its label; not opened yet.
    pub(super) fn new(name: Option<String>) -> Self {
        Self { name, ..Self::default() }
    }

    /// A GPU that is open. If it fails, it is not opened again.
    pub(super) fn of(gpu: Arc<Gpu>) -> Self {
        let open = Mutex::new(Open { gpu: Some(Ok(gpu)), reopened: MAX_REOPENED });
        Self { open, ..Self::default() }
    }

    /// Whether it is open and a hardware GPU. Does not wait while another thread opens it.
    pub(super) fn is_ready(&self) -> bool {
        let open = match self.open.try_lock() {
            Ok(open) => open,
            Err(TryLockError::Poisoned(open)) => open.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        open.working().is_some_and(|gpu| !gpu.device().is_software())
    }

    /// The reason not to use it, if there is one: no adapter, or a software adapter.
    pub(super) fn why_not(&self) -> Option<String> {
        let opened = lock(&self.open).gpu.clone();
        let (label, is_software) = match opened {
            Some(Ok(gpu)) => (gpu.device().label(), gpu.device().is_software()),
            _ => match self.adapter() {
                Ok(adapter) => (adapter.label(), adapter.is_software()),
                Err(_) => return Some("no GPU adapter".into()),
            },
        };
        is_software.then(|| format!("no hardware GPU: {label} is software"))
    }

    /// Opens it on first use, and again if it was lost or ran out of memory: a mesh that is too
    /// large for it must not fail the next.
    ///
    /// # Errors
    /// There is no adapter, none with that name, or it fails to open; the same error every
    /// time.
    pub(super) fn open(&self) -> Result<Arc<Gpu>, BackendError> {
        let mut open = lock(&self.open);
        let has_failed = matches!(open.gpu, Some(Ok(_))) && open.working().is_none();
        if has_failed && open.reopened < MAX_REOPENED {
            open.reopened += 1;
            open.gpu = None;
        }
        if let Some(gpu) = &open.gpu {
            return gpu.clone();
        }
        drop(open);
        // The self-test computes in parallel, under the lock. On the caller's pool, a thread that
        // waits for it could begin another mesh, which locks again: a deadlock.
        let new = || Gpu::new(self.adapter()?).map(Arc::new);
        let opened = || lock(&self.open).gpu.get_or_insert_with(new).clone();
        self.turn.take(rayon::current_num_threads(), opened)?
    }

    fn adapter(&self) -> Result<&Adapter, GpuError> {
        let found = self.adapter.get_or_init(|| Adapter::find(self.name.as_deref()));
        found.as_ref().map_err(Clone::clone)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_lost_gpu_is_opened_again_but_not_for_ever() {
        let Some(adapter) = crate::gpu::promised().into_iter().next() else { return };
        let shared = SharedGpu::new(Some(adapter.label()));
        shared.open().unwrap();
        let lose = || {
            let gpu = lock(&shared.open).gpu.clone().unwrap().unwrap();
            gpu.device().device.destroy();
            while gpu.device().check().is_ok() {
                _ = gpu.device().device.poll(wgpu::PollType::Poll);
            }
        };
        for _ in 0..MAX_REOPENED {
            lose();
            assert!(shared.open().is_ok() && lock(&shared.open).working().is_some());
        }
        lose();
        assert!(shared.open().is_ok() && lock(&shared.open).working().is_none());
    }
}
