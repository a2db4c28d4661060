//! Backends: what turns a placed mesh into voxels. All give the same grid, bit for bit.

pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod report;

use std::fmt;

use crate::backend::cpu::Cpu;
use crate::backend::report::Report;
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

    /// From now on, measures the time of each stage where it can, at some cost.
    fn time_stages(&mut self) {}

    /// What the last run did; `None` before the first, and from a backend without stages.
    fn report(&self) -> Option<Report> {
        None
    }
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
    /// Whether the CPU may take its place where it fails.
    pub may_fall_back: bool,
}

impl Chosen {
    fn cpu(reason: &str) -> Self {
        Self {
            backend: Box::new(Cpu::default()),
            adapter: None,
            reason: reason.into(),
            warning: None,
            may_fall_back: false,
        }
    }

    /// Voxelizes `mesh`; if a GPU that was chosen by [`Choice::Auto`] fails, on the CPU, with a
    /// warning. Returns the backend that made the grid.
    ///
    /// # Errors
    /// The backend failed, and none may take its place.
    pub fn voxelize(
        self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<(VoxelGrid, Self), BackendError> {
        match self.backend.voxelize(mesh, progress) {
            Ok(grid) => Ok((grid, self)),
            Err(error) if self.may_fall_back => {
                let cpu = Self::cpu(&format!("{self} failed"));
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

/// Below this many (triangle, brick) pairs the CPU is done before a GPU has started: it takes about
/// a tenth of a microsecond a pair on one core; that a device takes some hundred milliseconds to open
/// is an assumption, not yet measured on hardware.
const WORTH_A_GPU: u64 = 1 << 21;

/// Starts the backend for `mesh`. `adapter` is part of the label of the GPU to use; `Auto` then
/// uses it.
///
/// # Errors
/// A GPU that was asked for, by `choice` or by name, cannot be started.
pub fn choose(
    choice: Choice,
    adapter: Option<&str>,
    mesh: &PlacedMesh,
) -> Result<Chosen, BackendError> {
    match choice {
        Choice::Cpu => Ok(Chosen::cpu("asked for")),
        Choice::Gpu => open_gpu(adapter, "asked for"),
        Choice::Auto if adapter.is_some() => open_gpu(adapter, "its adapter was asked for"),
        Choice::Auto if brick_pairs(mesh) < WORTH_A_GPU => {
            Ok(Chosen::cpu("done before a GPU would have started"))
        }
        Choice::Auto => Ok(hardware_or_cpu()),
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
        may_fall_back: false,
    })
}

#[cfg(feature = "gpu")]
fn hardware_or_cpu() -> Chosen {
    let Some(adapter) = gpu::adapters::Adapter::preferred().into_iter().next() else {
        return Chosen::cpu("no GPU adapter");
    };
    if adapter.is_software() {
        return Chosen::cpu(&format!("no hardware GPU: {} is software", adapter.label()));
    }
    match open_adapter(&adapter, "enough work for a GPU") {
        Ok(chosen) => Chosen { may_fall_back: true, ..chosen },
        Err(error) => {
            let warning = Some(format!("{error}; using the CPU instead"));
            Chosen { warning, ..Chosen::cpu("the GPU failed to start") }
        }
    }
}

#[cfg(not(feature = "gpu"))]
const WITHOUT_GPU: &str = "built without the GPU backend (cargo feature `gpu`)";

#[cfg(not(feature = "gpu"))]
fn open_gpu(_adapter: Option<&str>, _reason: &str) -> Result<Chosen, BackendError> {
    Err(BackendError::NoAdapter(WITHOUT_GPU.into()))
}

#[cfg(not(feature = "gpu"))]
fn hardware_or_cpu() -> Chosen {
    Chosen::cpu(WITHOUT_GPU)
}

/// About how many (triangle, brick) pairs `mesh` has, the measure of the work: the bricks of the
/// grid in each triangle's bounds, or for a large triangle three layers of its largest face.
fn brick_pairs(mesh: &PlacedMesh) -> u64 {
    let lattice = mesh.lattice();
    let bits = lattice.unit_bits + BRICK.ilog2();
    let bricks = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| ((d - 1) / BRICK) as i32) };
    mesh.triangles()
        .map(|triangle| {
            let range = BoxRange::of_triangle(&triangle, bits).intersect(&bricks);
            let size = |a: usize| (range.hi[a] - range.lo[a] + 1).max(0) as u64;
            let mut size = [size(0), size(1), size(2)];
            size.sort_unstable();
            size[0].min(3) * size[1] * size[2]
        })
        .sum()
}
