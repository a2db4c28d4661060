//! Backends: what turns a placed mesh into voxels. All give the same grid, bit for bit.

pub mod choice;
pub mod cpu;
mod error;
pub(crate) mod finder;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod report;
pub mod rule;
mod shared_gpu;

use std::sync::Arc;

use crate::grid::{BRICK, Crossings, VoxelGrid, Windings};
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::progress::Progress;
use crate::voxelize::report::RunReport;

pub use choice::{BackendChoice, Backends, ChosenBackend};
pub use error::BackendError;
pub use rule::Rule;

/// Finds the voxels of a placed mesh.
pub trait Backend {
    /// The voxels of `mesh`'s grid whose closed cube meets a closed triangle.
    ///
    /// # Errors
    /// The backend's device or threads failed. Never a partial grid.
    fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError> {
        self.run(mesh, Rule::Conservative, &RunOptions::default(), progress).map(|run| run.grid)
    }

    /// The voxels of `mesh`'s grid that `rule` names, found as `options` say, with what there is to
    /// say of the run.
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
}

/// How a backend is to run. No result depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Bytes of memory for the grid and for the work on it, at most; those of the mesh, and a GPU's
    /// own, not counted.
    pub memory: u64,
    /// Whether to measure the time of each stage where that is possible, at some cost.
    pub time_stages: bool,
    /// How a GPU tests voxels by [`Rule::Conservative`].
    pub kernel: Kernel,
}

/// How a GPU tests the voxels of a brick that a triangle may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kernel {
    /// One invocation tests a row of up to eight voxels: `shaders/voxelize/voxel_rows.wgsl`.
    #[default]
    Rows,
    /// One invocation tests one voxel, the plain form: `shaders/voxelize/voxels.wgsl`.
    Voxels,
}

impl Default for RunOptions {
    /// As much memory as it takes, no measurements, and the kernel that is usually faster.
    fn default() -> Self {
        Self { memory: u64::MAX, time_stages: false, kernel: Kernel::default() }
    }
}

/// What a run gives.
#[derive(Debug, Clone)]
pub struct Run {
    /// The voxels.
    pub grid: VoxelGrid,
    /// What winding numbers come to; of [`Rule::Winding`].
    pub windings: Option<Windings>,
    /// The crossings of columns along `x`; of [`Rule::Crossings`].
    pub crossings: Option<Crossings>,
    /// What the stages did; `None` from a backend without stages.
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
}

/// Triangles that the work is estimated from.
const SAMPLE: usize = 1 << 14;

/// About how many (triangle, brick) pairs `mesh` has, the measure of the work: the bricks of the
/// grid in each triangle's bounds, or for a large triangle three layers of its largest face. Of a large
/// mesh, a sample of the triangles stands for all.
#[must_use]
pub fn brick_pairs(mesh: &PlacedMesh) -> u64 {
    let lattice = mesh.lattice();
    let bits = lattice.unit_bits + BRICK.ilog2();
    let bricks = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| ((d - 1) / BRICK) as i32) };
    let step = mesh.len().div_ceil(SAMPLE);
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
