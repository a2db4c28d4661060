//! From a mesh's file to its voxels: load, place, voxelize, color. The steps of the main job, and of whoever
//! else wants the voxels of a mesh.

use std::path::Path;

use anyhow::{Context, Result};
use trivox::formats::ReadError;
use trivox::formats::read_mesh_with;
use trivox::solid::FillReport;
use trivox::voxelize::{Backends, ChosenBackend, RunOptions};
use trivox::{
    Mode, PlaceOptions, PlacedMesh, Progress, Sizing, Up, VoxelGrid, Voxels, World, place, voxelize,
};

use crate::program::fill_summary::FillSummary;
use crate::program::looks::Looks;
use crate::program::memory::Share;
use crate::program::numbers::counted;
use crate::program::summary::timed;
use crate::program::transform::Transform;

/// How a mesh becomes voxels, and with what.
pub struct Maker<'a> {
    pub transform: Transform,
    pub place: PlaceOptions,
    /// The mesh's up axis.
    pub up: Up,
    pub looks: Looks,
    pub backends: &'a Backends,
    pub memory: &'a Share<'a>,
    pub progress: &'a dyn Progress,
    /// Whether a GPU is to say how long each stage took.
    pub time_stages: bool,
}

/// A mesh that is ready for a backend, and what there is to say of it.
pub struct Placed {
    pub mesh: PlacedMesh,
    pub warnings: Vec<String>,
    /// Milliseconds, as all times below.
    pub load: f64,
    pub place: f64,
}

/// The voxels, and what made them.
pub struct Made {
    pub voxels: Voxels,
    pub by: ChosenBackend,
    pub start: f64,
    /// How many were left out for being transparent.
    pub transparent: u64,
    /// The time that colours took, if any were looked at.
    pub color: Option<f64>,
}

impl Maker<'_> {
    /// Reads the mesh and places it.
    ///
    /// # Errors
    /// It cannot be read, or not in the memory that there is; it cannot be placed so.
    pub fn load_and_place(&self, path: &Path) -> Result<Placed> {
        let named = || path.display().to_string();
        self.progress.start("load", 0);
        let options = self.looks.read_options().within(self.memory.left());
        let (loaded, load) = timed(|| read_mesh_with(path, &options))
            .map_err(|error| self.memory.explain(error.into()))
            .with_context(named)?;
        let needed = size_of_val(loaded.mesh.positions()) as u64 / 2;
        let limit = self.memory.left();
        if needed > limit {
            let error = self.memory.explain(ReadError::Memory { needed, limit }.into());
            return Err(error).with_context(named);
        }
        self.progress.start("place", 0);
        let moved = self.transform.apply(loaded.mesh).with_context(named)?;
        let options = self.transform.place(&moved, self.place);
        let (mesh, place) = timed(|| place(&moved, &options)).with_context(named)?;
        let mut warnings = loaded.warnings;
        warnings.extend(warnings_of(&mesh));
        Ok(Placed { mesh, warnings, load, place })
    }

    /// Voxelizes the mesh on the backend that suits it; without colours.
    ///
    /// # Errors
    /// A backend that failed, or too little memory.
    pub fn compute(&self, mesh: &PlacedMesh) -> Result<Made> {
        let (by, start) = timed(|| self.backends.choose(mesh))?;
        let mut voxels = self.voxels(&by, mesh)?;
        voxels.grid.world = Some(World::of(mesh.lattice(), self.up));
        Ok(Made { voxels, by, start, transparent: 0, color: None })
    }

    /// Voxelizes the mesh on one backend.
    ///
    /// # Errors
    /// The backend failed, or too little memory.
    pub fn voxels(&self, by: &ChosenBackend, mesh: &PlacedMesh) -> Result<Voxels> {
        let mode = self.looks.mode;
        let options = RunOptions {
            memory: self.memory.left(),
            time_stages: self.time_stages,
            ..RunOptions::default()
        };
        voxelize(by, mesh, mode, &options, self.progress).map_err(|error| match mode {
            Mode::Solid(_) => self.memory.explain_step(error.into()),
            Mode::Surface | Mode::Thin => self.memory.explain(error.into()),
        })
    }

    /// Gives the voxels their colours.
    ///
    /// # Errors
    /// Too little memory.
    pub fn color(&self, mesh: &PlacedMesh, mut made: Made) -> Result<Made> {
        let apply = |grid| self.looks.apply(mesh, grid, self.memory.left(), self.progress);
        let (colored, time) =
            timed(|| apply(made.voxels.grid)).map_err(|error| self.memory.explain(error.into()))?;
        made.voxels.grid = colored.grid;
        made.transparent = colored.transparent;
        made.color = mesh.appearance().map(|_| time);
        Ok(made)
    }
}

impl Made {
    /// Whether the fill is doubtful, of a solid.
    pub fn is_doubtful(&self) -> bool {
        self.voxels.fill_report.as_ref().is_some_and(FillReport::is_doubtful)
    }

    /// How it was filled, of a solid.
    pub fn fill(&self, mesh: &PlacedMesh) -> Option<FillSummary> {
        let filling = self.voxels.fill_report.as_ref();
        filling.map(|filling| FillSummary::new(filling, mesh.lattice()))
    }

    /// What the user would not expect of the voxels of `mesh`, which were filled so.
    pub fn warnings(&self, mesh: &PlacedMesh, fill: Option<&FillSummary>) -> Vec<String> {
        let empty = why_empty(mesh, &self.voxels.grid, fill.is_some(), self.transparent);
        let doubts = fill.into_iter().flat_map(FillSummary::warnings);
        let others = left_out(self.transparent).into_iter().chain(empty);
        self.by.warning().into_iter().chain(doubts).chain(others).collect()
    }
}

/// The resolution of those who give none.
pub const DEFAULT_RES: u32 = 256;

/// The size of voxels, of which at most one is given.
pub fn sizing(res: Option<u32>, voxel_size: Option<f64>) -> Sizing {
    match voxel_size {
        Some(size) => Sizing::VoxelSize(size),
        None => Sizing::Resolution(res.unwrap_or(DEFAULT_RES)),
    }
}

fn warnings_of(mesh: &PlacedMesh) -> Vec<String> {
    let mut warnings = Vec::new();
    let outside = mesh.outside();
    if outside > 0 {
        warnings.push(format!(
            "{} reach outside the bounds; what lies there has no voxels",
            counted(outside as u64, "triangle")
        ));
    }
    let lattice = mesh.lattice();
    if lattice.unit_bits < lattice.unit_bits_of_grid() {
        warnings.push(format!(
            "the mesh reaches so far past the bounds that vertices are rounded to 1/{} of a voxel \
             instead of 1/{}",
            1u32 << lattice.unit_bits,
            1u32 << lattice.unit_bits_of_grid()
        ));
    }
    warnings
}

/// A warning, where voxels were left out for being transparent.
fn left_out(transparent: u64) -> Option<String> {
    let voxels = (transparent > 0).then(|| counted(transparent, "voxel"))?;
    Some(format!(
        "{voxels} in which all is transparent were left out: --keep-transparent keeps them"
    ))
}

/// A warning, where no voxel is occupied.
fn why_empty(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    is_solid: bool,
    transparent: u64,
) -> Option<String> {
    let why = match grid.occupied() {
        1.. => return None,
        _ if transparent > 0 => "all of the mesh is transparent",
        _ if mesh.is_missed() => "the bounds miss the mesh",
        _ if is_solid => "no voxel's centre is inside the mesh as it was filled",
        _ => "no line through voxel centres in the grid crosses the mesh",
    };
    Some(format!("no voxel is occupied: {why}"))
}
