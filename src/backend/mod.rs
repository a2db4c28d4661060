//! Backends: what turns a placed mesh into voxels. All give the same grid, bit for bit.

pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;

use std::fmt;

use crate::backend::cpu::Cpu;
use crate::error::BackendError;
use crate::grid::{BRICK, VoxelGrid};
use crate::place::PlacedMesh;
use crate::predicate::rows::BoxRange;
use crate::progress::Progress;

/// Turns a placed mesh into the set of voxels that its triangles touch.
pub trait Backend {
    /// The voxels of `mesh`'s grid whose closed cube meets a closed triangle.
    ///
    /// # Errors
    /// The backend's device or threads failed. Never a partial grid.
    fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError>;
}

/// Which backend to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Whichever is likely to be faster; the CPU where there is no GPU.
    Auto,
    /// The GPU, or an error.
    Gpu,
    /// The CPU.
    Cpu,
}

/// A backend that is ready, and why it was chosen.
pub struct Chosen {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// The GPU adapter's label; `None` for the CPU.
    pub adapter: Option<String>,
    /// Why this backend, in a few words.
    pub reason: String,
    /// What went wrong with a better choice.
    pub warning: Option<String>,
}

impl Chosen {
    /// The CPU backend, with so many threads or one per core.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn cpu(threads: Option<usize>, reason: String) -> Result<Self, BackendError> {
        let cpu = match threads {
            Some(threads) => Cpu::with_threads(threads)?,
            None => Cpu::default(),
        };
        Ok(Self { backend: Box::new(cpu), adapter: None, reason, warning: None })
    }

    /// Voxelizes `mesh`; if a GPU that was chosen by [`Choice::Auto`] fails, on the CPU, with a
    /// warning. Returns the backend that made the grid.
    ///
    /// # Errors
    /// The backend failed, and none may take its place.
    pub fn voxelize(
        self,
        choice: Choice,
        threads: Option<usize>,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<(VoxelGrid, Self), BackendError> {
        match self.backend.voxelize(mesh, progress) {
            Ok(grid) => Ok((grid, self)),
            Err(error) if choice == Choice::Auto && self.adapter.is_some() => {
                let cpu = Self::cpu(threads, format!("{self} failed"))?;
                let grid = cpu.backend.voxelize(mesh, progress)?;
                let warning = Some(format!("{self}: {error}; computed on the CPU instead"));
                Ok((grid, Self { warning, ..cpu }))
            }
            Err(error) => Err(error),
        }
    }

    /// `cpu` or `gpu`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.adapter.is_some() { "gpu" } else { "cpu" }
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.adapter {
            Some(adapter) => write!(f, "gpu, {adapter}"),
            None => f.write_str("cpu"),
        }
    }
}

/// Below this many (triangle, brick) pairs the CPU is done before a GPU has started: it takes
/// about a microsecond a pair, and a device some hundred milliseconds.
const WORTH_A_GPU: u64 = 1 << 19;

/// Starts the backend for `mesh`. `adapter` is part of the label of the GPU to use.
///
/// # Errors
/// The backend asked for cannot be started. `Auto` only fails where the CPU does.
pub fn choose(
    choice: Choice,
    adapter: Option<&str>,
    threads: Option<usize>,
    mesh: &PlacedMesh,
) -> Result<Chosen, BackendError> {
    match choice {
        Choice::Cpu => Chosen::cpu(threads, "asked for".into()),
        Choice::Gpu => open_gpu(adapter, "asked for"),
        Choice::Auto if adapter.is_some() => open_gpu(adapter, "its adapter was asked for"),
        Choice::Auto if brick_pairs(mesh) < WORTH_A_GPU => {
            Chosen::cpu(threads, "done before a GPU would have started".into())
        }
        Choice::Auto => hardware_or_cpu(threads),
    }
}

#[cfg(feature = "gpu")]
fn open_gpu(adapter: Option<&str>, reason: &str) -> Result<Chosen, BackendError> {
    open_adapter(&gpu::adapters::Adapter::find(adapter)?, reason)
}

#[cfg(feature = "gpu")]
fn open_adapter(adapter: &gpu::adapters::Adapter, reason: &str) -> Result<Chosen, BackendError> {
    Ok(Chosen {
        backend: Box::new(gpu::Gpu::new(adapter)?),
        adapter: Some(adapter.label()),
        reason: reason.into(),
        warning: None,
    })
}

#[cfg(feature = "gpu")]
fn hardware_or_cpu(threads: Option<usize>) -> Result<Chosen, BackendError> {
    let Some(adapter) = gpu::adapters::Adapter::preferred().into_iter().next() else {
        return Chosen::cpu(threads, "no GPU adapter".into());
    };
    if adapter.is_software() {
        let reason = format!("no hardware GPU: {} is software", adapter.label());
        return Chosen::cpu(threads, reason);
    }
    open_adapter(&adapter, "enough work for a GPU").or_else(|error| {
        let cpu = Chosen::cpu(threads, "the GPU failed to start".into())?;
        Ok(Chosen { warning: Some(format!("{error}; using the CPU instead")), ..cpu })
    })
}

#[cfg(not(feature = "gpu"))]
const WITHOUT_GPU: &str = "built without the GPU backend (cargo feature `gpu`)";

#[cfg(not(feature = "gpu"))]
fn open_gpu(_adapter: Option<&str>, _reason: &str) -> Result<Chosen, BackendError> {
    Err(BackendError::NoAdapter(WITHOUT_GPU.into()))
}

#[cfg(not(feature = "gpu"))]
fn hardware_or_cpu(threads: Option<usize>) -> Result<Chosen, BackendError> {
    Chosen::cpu(threads, WITHOUT_GPU.into())
}

/// About how many (triangle, brick) pairs `mesh` has, the measure of the work: the bricks in each
/// triangle's bounds, or for a large triangle three layers of its largest face.
fn brick_pairs(mesh: &PlacedMesh) -> u64 {
    let bits = mesh.lattice().unit_bits + BRICK.ilog2();
    mesh.triangles()
        .map(|triangle| {
            let range = BoxRange::of_triangle(&triangle, bits);
            let mut size: [u64; 3] =
                std::array::from_fn(|a| (range.hi[a] - range.lo[a] + 1) as u64);
            size.sort_unstable();
            size[0].min(3) * size[1] * size[2]
        })
        .sum()
}
