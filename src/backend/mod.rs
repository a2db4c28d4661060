//! Backends, which voxelize a placed mesh. All return the same grid, to the bit.

pub mod choice;
pub mod cpu;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
pub(crate) mod pool;
pub mod report;
pub mod rule;
pub(crate) mod runner;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
mod shared_gpu;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub(crate) mod turn;

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::backend::cpu::{Cpu, slabs};
#[cfg(feature = "gpu")]
use crate::backend::gpu::Gpu;
use crate::backend::report::RunReport;
use crate::base::names::named;
use crate::base::progress::{Latch, Progress};
use crate::grid::{BRICK, Crossings, GridBuilder, VoxelGrid, Windings};
use crate::lattice::PlacedMesh;
use crate::predicate::boxes::BoxRange;

pub use choice::{BackendChoice, Backends, Chosen, UsedBackend};
pub use error::BackendError;
pub(crate) use error::{check_cancelled, check_memory};
pub use rule::Rule;

/// A voxelizer of placed meshes.
#[derive(Debug, Clone, Copy)]
pub enum Backend<'a> {
    /// The CPU.
    Cpu(&'a Cpu),
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(&'a Gpu),
}

impl<'a> From<&'a Cpu> for Backend<'a> {
    fn from(cpu: &'a Cpu) -> Self {
        Self::Cpu(cpu)
    }
}

#[cfg(feature = "gpu")]
impl<'a> From<&'a Gpu> for Backend<'a> {
    fn from(gpu: &'a Gpu) -> Self {
        Self::Gpu(gpu)
    }
}

impl Backend<'_> {
    /// Voxelizes `mesh` by `rule`, with a report of the run. Waits for a GPU, and for others that
    /// use it.
    ///
    /// # Errors
    /// The backend's device or threads failed, or [`BackendError::Memory`]. A partial grid is never
    /// returned.
    pub fn run(
        self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        let run = || self.wait(self.run_async(mesh, rule, options, progress));
        self.exclusively(rayon::current_num_threads(), run)?
    }

    pub(crate) async fn run_async(
        self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        match self {
            Self::Cpu(_) => {
                let progress = Latch::new(progress);
                // On a thread of the pool: a thread outside it would block in every parallel call
                // until one in it wakes up.
                let run = |_: &rayon::Scope| slabs::voxelize(mesh, rule, options.memory, &progress);
                Ok(Run::new(rayon::scope(run)?, None))
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.run_async(mesh, rule, options, progress).await,
        }
    }

    /// The output of `work`, which awaits nothing but this backend. This is where blocking callers
    /// meet asynchronous code.
    pub(crate) fn wait<T>(
        self,
        work: impl Future<Output = Result<T, BackendError>>,
    ) -> Result<T, BackendError> {
        match self {
            #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
            Self::Gpu(gpu) => gpu.device().block_on(work),
            // A browser cannot block; the CPU has no need to.
            _ => match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(output) => output,
                Poll::Pending => Err(BackendError::WithoutGpu(choice::WITHOUT_GPU)),
            },
        }
    }

    /// Runs `work` with exclusive use of this backend: of a GPU in a pool of `threads` threads.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn exclusively<T: Send>(
        self,
        threads: usize,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, BackendError> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.turn.take(threads, work),
            Self::Cpu(_) => {
                _ = threads;
                Ok(work())
            }
        }
    }

    /// Runs `work`: there is one thread.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn exclusively<T>(
        self,
        _threads: usize,
        work: impl FnOnce() -> T,
    ) -> Result<T, BackendError> {
        Ok(work())
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

impl Run {
    pub(crate) fn new(found: GridBuilder, report: Option<RunReport>) -> Self {
        let (grid, windings, crossings) = found.finish_with_counts();
        Self { grid, windings, crossings, report }
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
    let bricks = BoxRange::of_grid(lattice.dims).coarser(BRICK.ilog2());
    // A window may have no triangles.
    let step = mesh.len().div_ceil(SAMPLE).max(1);
    let sample = (0..mesh.len()).step_by(step);
    sample
        .map(|index| {
            let range = BoxRange::of_triangle(&mesh.triangle(index), bits).intersect(&bricks);
            let mut size = range.extent().map(|bricks| bricks.max(0) as u64);
            size.sort_unstable();
            size[0].min(3) * size[1] * size[2] * step as u64
        })
        .sum()
}
