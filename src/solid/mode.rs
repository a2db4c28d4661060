//! Surface, thin or solid voxelization, composed of runs of a backend.

use std::time::Duration;

use web_time::Instant;

use crate::backend::report::RunReport;
use crate::backend::runner::Runner;
use crate::backend::{Backend, BackendError, Rule, RunOptions};
use crate::base::names::named;
use crate::base::progress::{Latch, Progress};
use crate::grid::VoxelGrid;
use crate::lattice::{PlacedMesh, WindowReach};
use crate::solid::{Fill, FillReport, Solid, solidify};

/// The rule by which voxels are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// The voxels that the surface touches ([`Rule::Conservative`]).
    #[default]
    Surface,
    /// The voxels in which lines through voxel centres cross the surface ([`Rule::SixSeparating`]).
    Thin,
    /// The voxels whose centre is inside the mesh.
    Solid(Solid),
}

named!(Mode, "mode", {
    Surface = "surface",
    Thin = "thin",
    Solid(Solid { fill: Fill::Auto, include_surface: false }) = "solid",
});

impl Mode {
    /// The triangles of a mesh on which the voxels of a [window](PlacedMesh::in_window) can depend.
    #[must_use]
    pub fn reach(self) -> WindowReach {
        match self {
            Self::Surface | Self::Thin => WindowReach::Box,
            Self::Solid(Solid { fill: Fill::Vote, .. }) => WindowReach::Columns,
            Self::Solid(_) => WindowReach::ColumnsAlongX,
        }
    }
}

/// The voxels of a mesh.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxels {
    /// The voxels.
    pub grid: VoxelGrid,
    /// How it was filled, if it is a solid.
    pub fill_report: Option<FillReport>,
    /// The report of the backend's stages; `None` from a backend without stages.
    pub report: Option<RunReport>,
    /// Time that the backend took.
    pub voxelize_time: Duration,
    /// Time that filling took, the analysis of the mesh included.
    pub fill_time: Duration,
}

/// Voxelizes `mesh` as `mode` says. Of a mesh in a [window](PlacedMesh::in_window) the result has
/// the window's halo too.
///
/// ```
/// use trivox::solid::{Fill, Solid};
/// use trivox::{Cpu, Mesh, Mode, NoProgress, PlaceOptions, Sizing, place, voxelize};
///
/// let corners = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 8.0]];
/// let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let mesh = place(&Mesh::new(corners, sides)?, &PlaceOptions::new(Sizing::Resolution(8)))?;
/// let mode = Mode::Solid(Solid::default());
/// let voxels = voxelize(&Cpu, &mesh, mode, &Default::default(), &NoProgress)?;
/// assert_eq!(voxels.grid.occupied(), 84);
/// let fill_report = voxels.fill_report.expect("it is a solid");
/// assert_eq!((fill_report.fill, fill_report.doubts.len()), (Fill::Parity, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The backend failed, or there is not enough memory.
pub fn voxelize<'a>(
    backend: impl Into<Backend<'a>>,
    mesh: &PlacedMesh,
    mode: Mode,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<Voxels, BackendError> {
    let by = backend.into();
    let run = || by.wait(voxelize_async(by, mesh, mode, options, progress));
    by.exclusively(rayon::current_num_threads(), run)?
}

/// The asynchronous form of [`voxelize`], for a browser, where nothing may wait.
///
/// # Errors
/// The backend failed, or there is not enough memory.
pub async fn voxelize_async(
    by: Backend<'_>,
    mesh: &PlacedMesh,
    mode: Mode,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<Voxels, BackendError> {
    let began = Instant::now();
    let progress = &Latch::new(progress);
    let mut runner = Runner::new(by, mesh, options, progress);
    let (grid, fill_report) = match mode {
        Mode::Surface => (runner.run(Rule::Conservative, 0).await?.grid, None),
        Mode::Thin => (runner.run(Rule::SixSeparating, 0).await?.grid, None),
        Mode::Solid(solid) => {
            let (grid, fill_report) = solidify(&mut runner, solid).await?;
            (grid, Some(fill_report))
        }
    };
    let Runner { report, time: voxelize_time, .. } = runner;
    let fill_time = began.elapsed().saturating_sub(voxelize_time);
    Ok(Voxels { grid, fill_report, report, voxelize_time, fill_time })
}
