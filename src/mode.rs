//! What users call a mode: a surface, a thin surface or a solid, made of what backends find.

use std::borrow::Cow;
use std::time::Duration;

use web_time::Instant;

use crate::backend::finder::Finder;
use crate::backend::report::Report;
use crate::backend::{Backend, BackendError, Rule, RunOptions};
use crate::grid::VoxelGrid;
use crate::place::PlacedMesh;
use crate::progress::Progress;
use crate::solid::{Filling, Solid, solidify};

/// Which voxels of a mesh are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Those that its surface touches ([`Rule::Touched`]).
    #[default]
    Surface,
    /// Those that lines through voxel centres cross its surface in ([`Rule::Crossed`]).
    Thin,
    /// Those whose centre is inside it.
    Solid(Solid),
}

/// The voxels of a mesh.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxels {
    /// The voxels.
    pub grid: VoxelGrid,
    /// How it was filled, if it is a solid.
    pub filling: Option<Filling>,
    /// What the backend's stages did; `None` from a backend without stages.
    pub report: Option<Report>,
    /// Time that the backend took.
    pub voxelize: Duration,
    /// Time that filling took, with looking at the mesh for it.
    pub fill: Duration,
}

/// Voxelizes `mesh` as `mode` says.
///
/// ```
/// use trivox::solid::{Fill, Solid};
/// use trivox::{Cpu, Mesh, Mode, NoProgress, PlaceOptions, Sizing, place, voxelize};
///
/// let corners = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 8.0]];
/// let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let mesh = place(&Mesh::new(corners, sides)?, &PlaceOptions::new(Sizing::Resolution(8)))?;
/// let mode = Mode::Solid(Solid::default());
/// let voxels = voxelize(&Cpu::default(), &mesh, mode, &Default::default(), &NoProgress)?;
/// assert_eq!(voxels.grid.occupied(), 84);
/// let filling = voxels.filling.expect("it is a solid");
/// assert_eq!((filling.fill, filling.doubts.len()), (Fill::Parity, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The backend failed, or there is not enough memory.
pub fn voxelize(
    backend: &dyn Backend,
    mesh: &PlacedMesh,
    mode: Mode,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<Voxels, BackendError> {
    let began = Instant::now();
    let mesh = Cow::Borrowed(mesh);
    let mut finder =
        Finder { backend, mesh, options, progress, report: None, time: Duration::ZERO };
    let (grid, filling) = match mode {
        Mode::Surface => (finder.find(Rule::Touched, 0)?.grid, None),
        Mode::Thin => (finder.find(Rule::Crossed, 0)?.grid, None),
        Mode::Solid(solid) => {
            let (grid, filling) = solidify(&mut finder, solid)?;
            (grid, Some(filling))
        }
    };
    let Finder { report, time: voxelize, .. } = finder;
    let fill = began.elapsed().saturating_sub(voxelize);
    Ok(Voxels { grid, filling, report, voxelize, fill })
}
