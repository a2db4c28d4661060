//! The one GPU that all meshes of a process share: found and opened when a mesh first needs it.

use crate::voxelize::Backend;
use crate::voxelize::BackendError;

/// What [`SharedGpu::open`] gives: the backend, and the adapter's label.
pub type Opened = (Box<dyn Backend + Send + Sync>, String);

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use with_gpu::SharedGpu;
#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
pub use without_gpu::SharedGpu;

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
mod with_gpu {
    use std::sync::{Arc, OnceLock};

    use super::{BackendError, Opened};
    use crate::gpu::Adapter;
    use crate::voxelize::gpu::Gpu;

    /// Threads that ask for it while it starts wait for it.
    #[derive(Debug, Default)]
    pub struct SharedGpu {
        name: Option<String>,
        adapter: OnceLock<Result<Adapter, BackendError>>,
        gpu: OnceLock<Result<Arc<Gpu>, BackendError>>,
    }

    impl SharedGpu {
        /// The preferred GPU, or the one with `name` in its label. Nothing is started yet.
        pub fn new(name: Option<String>) -> Self {
            Self { name, ..Self::default() }
        }

        /// Whether it has a name, so that it and no other was asked for.
        pub fn is_named(&self) -> bool {
            self.name.is_some()
        }

        /// Whether it is worth using, and open, so that this costs no start.
        pub fn is_ready(&self) -> bool {
            matches!(self.gpu.get(), Some(Ok(_))) && self.why_not().is_none()
        }

        /// Why it is not worth using, in a few words, if it is not: there is none, or it is
        /// software.
        pub fn why_not(&self) -> Option<String> {
            match self.adapter() {
                Err(_) => Some("no GPU adapter".into()),
                Ok(adapter) if adapter.is_software() => {
                    Some(format!("no hardware GPU: {} is software", adapter.label()))
                }
                Ok(_) => None,
            }
        }

        /// Opens it, the first time.
        ///
        /// # Errors
        /// There is none, none of that name, or it does not start; the same every time.
        pub fn open(&self) -> Result<Opened, BackendError> {
            let adapter = self.adapter()?;
            let gpu = self.gpu.get_or_init(|| Gpu::new(adapter).map(Arc::new)).clone()?;
            Ok((Box::new(gpu), adapter.label()))
        }

        fn adapter(&self) -> Result<&Adapter, BackendError> {
            let found = self.adapter.get_or_init(|| Adapter::find(self.name.as_deref()));
            found.as_ref().map_err(Clone::clone)
        }
    }
}

#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
mod without_gpu {
    use super::{BackendError, Opened};

    // A browser's GPU cannot be waited for: `Gpu::run_async` is for it.
    const WITHOUT_GPU: &str = if cfg!(feature = "gpu") {
        "a GPU does not run as a blocking backend here"
    } else {
        "built without the GPU backend (cargo feature `gpu`)"
    };

    /// There is none.
    #[derive(Debug, Default)]
    pub struct SharedGpu {
        name: Option<String>,
    }

    impl SharedGpu {
        /// The GPU that would be used.
        pub fn new(name: Option<String>) -> Self {
            Self { name }
        }

        /// Whether it has a name, so that it and no other was asked for.
        pub fn is_named(&self) -> bool {
            self.name.is_some()
        }

        /// It never is.
        pub fn is_ready(&self) -> bool {
            false
        }

        /// Why it is not worth using.
        pub fn why_not(&self) -> Option<String> {
            Some(WITHOUT_GPU.into())
        }

        /// Says why it does not open.
        ///
        /// # Errors
        /// Always.
        pub fn open(&self) -> Result<Opened, BackendError> {
            Err(BackendError::NoAdapter(WITHOUT_GPU.into()))
        }
    }
}
