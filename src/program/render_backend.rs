//! The backend that draws pictures.

use anyhow::Result;
use trivox::VoxelGrid;
use trivox::backend::BackendChoice;
use trivox::view::render::Renderer;
#[cfg(feature = "gpu")]
use trivox::{Gpu, gpu::Adapter};

use crate::cli::RenderArgs;
use crate::compute::refuse_contradictions;

/// The CPU, or an open GPU.
pub enum RenderBackend {
    Cpu,
    #[cfg(feature = "gpu")]
    Gpu {
        gpu: Box<Gpu>,
        label: String,
        is_software: bool,
    },
}

impl RenderBackend {
    /// The selected backend; `--adapter` alone selects a GPU.
    ///
    /// # Errors
    /// There is no such GPU, or it cannot be opened; an adapter is named for the CPU.
    pub fn new(args: &RenderArgs) -> Result<Self> {
        let name = args.adapter.as_deref();
        refuse_contradictions(args.backend, name)?;
        match (args.backend, name) {
            (None | Some(BackendChoice::Cpu), None) => Ok(Self::Cpu),
            _ => Self::on_gpu(name),
        }
    }

    #[cfg(feature = "gpu")]
    fn on_gpu(name: Option<&str>) -> Result<Self> {
        let adapter = Adapter::find(name)?;
        let (label, is_software) = (adapter.label(), adapter.is_software());
        Ok(Self::Gpu { gpu: Box::new(Gpu::new(&adapter)?), label, is_software })
    }

    #[cfg(not(feature = "gpu"))]
    fn on_gpu(_: Option<&str>) -> Result<Self> {
        anyhow::bail!("built without the GPU backend (cargo feature `gpu`)")
    }

    /// A renderer of `grid`.
    ///
    /// # Errors
    /// The grid exceeds the GPU's limits, or the GPU fails.
    pub fn renderer<'a>(&self, grid: &'a VoxelGrid) -> Result<Renderer<'a>> {
        match self {
            Self::Cpu => Ok(Renderer::new(grid)),
            #[cfg(feature = "gpu")]
            Self::Gpu { gpu, .. } => Ok(Renderer::on_gpu(grid, gpu)?),
        }
    }

    /// A warning about a software adapter.
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "gpu")]
            Self::Gpu { is_software: false, .. } => None,
            #[cfg(feature = "gpu")]
            Self::Gpu { label, .. } => {
                Some(format!("{label} is software: --backend cpu draws the same, and is faster"))
            }
        }
    }

    /// The backend's name, and the GPU's.
    pub fn names(&self) -> (&'static str, Option<String>) {
        match self {
            Self::Cpu => ("cpu", None),
            #[cfg(feature = "gpu")]
            Self::Gpu { label, .. } => ("gpu", Some(label.clone())),
        }
    }
}
