//! Backends, which voxelize a placed mesh. All return the same grid, to the bit.

pub mod choice;
mod error;
pub mod report;
pub mod rule;
pub(crate) mod runner;
mod shared_gpu;

use std::sync::Arc;

use crate::base::names::named;
use crate::base::progress::Progress;
use crate::engine::backend::report::RunReport;
#[cfg(feature = "gpu")]
use crate::gpu::Device;
use crate::grid::{BRICK, Crossings, VoxelGrid, Windings};
use crate::lattice::PlacedMesh;
use crate::predicate::boxes::BoxRange;

pub use choice::{BackendChoice, Backends, ChosenBackend};
pub use error::BackendError;
pub(crate) use error::{check_cancelled, check_memory};
pub use rule::Rule;

/// Voxelizes a placed mesh.
pub trait Backend {
    /// The voxels of `mesh`'s grid whose closed cube meets a closed triangle.
    ///
    /// # Errors
    /// The backend's device or threads failed. A partial grid is never returned.
    fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError> {
        self.run(mesh, Rule::Conservative, &RunOptions::default(), progress).map(|run| run.grid)
    }

    /// Voxelizes `mesh` by `rule`, with a report of the run.
    ///
    /// # Errors
    /// Those of [`voxelize`](Self::voxelize); and [`BackendError::Memory`].
    fn run(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError>;

    /// The GPU that it runs on, on which other kernels for the same mesh may run; `None` for the
    /// CPU.
    #[cfg(feature = "gpu")]
    fn device(&self) -> Option<&Device> {
        None
    }

    /// Called with the error of a kernel on [`device`](Self::device). `Ok` to continue on the CPU.
    ///
    /// # Errors
    /// The same error: there is no fallback.
    #[cfg(feature = "gpu")]
    fn fall_back_to_cpu(&self, error: BackendError) -> Result<(), BackendError> {
        Err(error)
    }
}

/// Options of a run. The resulting voxels do not depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Maximum memory for the grid and for intermediate data, in bytes; the mesh and GPU memory are
    /// not counted.
    pub memory: u64,
    /// Whether to measure the GPU time of each stage, if supported; this slows the run slightly.
    pub time_stages: bool,
    /// The kernel with which a GPU tests voxels by [`Rule::Conservative`].
    pub kernel: VoxelKernel,
}

/// The kernel with which a GPU tests the voxels of a brick against a triangle by
/// [`Rule::Conservative`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum VoxelKernel {
    /// One invocation tests a row of up to eight voxels: `shaders/voxelize/voxel_rows.wgsl`. It is
    /// faster on every GPU that was measured.
    #[default]
    Rows,
    /// One invocation tests one (triangle, voxel) candidate: `shaders/voxelize/voxels.wgsl`. It is
    /// the plain form: a second opinion on a new driver, and the baseline of measurements.
    Voxels,
}

named!(VoxelKernel, "kernel", { Rows = "rows", Voxels = "voxels" });

impl Default for RunOptions {
    /// Unlimited memory, no timing, and the kernel that is usually faster.
    fn default() -> Self {
        Self { memory: u64::MAX, time_stages: false, kernel: VoxelKernel::default() }
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Run {
    /// The voxels.
    pub grid: VoxelGrid,
    /// Statistics of the winding numbers, for [`Rule::Winding`].
    pub windings: Option<Windings>,
    /// The crossings of columns along `x`, for [`Rule::Crossings`].
    pub crossings: Option<Crossings>,
    /// Counts and times of the stages; `None` for a backend without stages.
    pub report: Option<RunReport>,
}

impl<B: Backend + ?Sized> Backend for Arc<B> {
    fn run(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        self.as_ref().run(mesh, rule, options, progress)
    }

    #[cfg(feature = "gpu")]
    fn device(&self) -> Option<&Device> {
        self.as_ref().device()
    }

    #[cfg(feature = "gpu")]
    fn fall_back_to_cpu(&self, error: BackendError) -> Result<(), BackendError> {
        self.as_ref().fall_back_to_cpu(error)
    }
}

/// Maximum number of triangles sampled to estimate the work.
const SAMPLE: usize = 1 << 14;

/// Estimates the number of (triangle, brick) pairs of `mesh`, the measure of the work: the sum over
/// the triangles of the bricks in their bounds or, for a large triangle, in three layers of the
/// bounds' largest face. Of a large mesh, only a sample of the triangles is counted.
#[must_use]
pub fn brick_pairs(mesh: &PlacedMesh) -> u64 {
    let lattice = mesh.lattice();
    let bits = lattice.fraction_bits + BRICK.ilog2();
    let bricks = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| ((d - 1) / BRICK) as i32) };
    // A window may have no triangles.
    let step = mesh.len().div_ceil(SAMPLE).max(1);
    let sample = (0..mesh.len()).step_by(step);
    sample
        .map(|index| {
            let range = BoxRange::of_triangle(&mesh.triangle(index), bits).intersect(&bricks);
            let size = |a: usize| (range.hi[a] - range.lo[a] + 1).max(0) as u64;
            let mut size = [size(0), size(1), size(2)];
            size.sort_unstable();
            size[0].min(3) * size[1] * size[2] * step as u64
        })
        .sum()
}
