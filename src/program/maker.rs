//! From a mesh's file to its voxels, as a command's options say and in its share of the memory.

use std::path::Path;

use anyhow::{Context, Result};
use trivox::formats::Loaded;
use trivox::voxelizer::{Placed, UsedBackend, Warning};
use trivox::{PlaceOptions, PlacedMesh, Sizing, Voxelized, Voxelizer};

use crate::program::memory::Share;
use crate::program::transform::Transform;

/// How a mesh becomes voxels.
pub struct Maker<'a> {
    pub voxelizer: Voxelizer,
    pub transform: Transform,
    pub place: PlaceOptions,
    pub memory: &'a Share,
    pub is_solid: bool,
}

impl Maker<'_> {
    /// Reads the mesh, transforms and places it.
    ///
    /// # Errors
    /// It cannot be read, or not in the memory that there is; it cannot be placed so.
    pub fn load_and_place(&self, path: &Path) -> Result<Placed> {
        let named = || path.display().to_string();
        let began = std::time::Instant::now();
        let loaded = self.voxelizer.load_file(path);
        let load = began.elapsed();
        let Loaded { mesh, warnings, .. } =
            loaded.map_err(|error| self.memory.explain(error)).with_context(named)?;
        let mesh = self.transform.apply(mesh).with_context(named)?;
        let options = self.transform.place(&mesh, self.place);
        let placed = self.voxelizer.clone().place_options(options).place(&mesh);
        let mut placed = placed.with_context(named)?;
        placed.timings.load = load;
        placed.warnings.splice(..0, warnings.into_iter().map(Warning::File));
        Ok(placed)
    }

    /// Voxelizes the mesh on the backend that suits it; without colours.
    ///
    /// # Errors
    /// A backend that failed, or too little memory.
    pub fn compute(&self, mesh: &PlacedMesh) -> Result<Voxelized> {
        self.voxelizer
            .voxelize(mesh)
            .map_err(|error| self.memory.explain_step(error, self.is_solid))
    }

    /// Voxelizes the mesh on the other backend.
    ///
    /// # Errors
    /// As [`compute`](Self::compute).
    pub fn compute_again(&self, mesh: &PlacedMesh, used: &UsedBackend) -> Result<Voxelized> {
        let again = self.voxelizer.check(mesh, used);
        again.map_err(|error| self.memory.explain_step(error, self.is_solid))
    }

    /// Gives the voxels their colours.
    ///
    /// # Errors
    /// Too little memory.
    pub fn color(&self, mesh: &PlacedMesh, made: Voxelized) -> Result<Voxelized> {
        self.voxelizer.paint(mesh, made).map_err(|error| self.memory.explain(error))
    }
}

/// Warnings as sentences, with the option that helps.
pub fn sentences(warnings: &[Warning]) -> impl Iterator<Item = String> + '_ {
    warnings.iter().map(|warning| match warning {
        Warning::Transparent { .. } => format!("{warning}: --keep-transparent keeps them"),
        Warning::InteriorOfTile => format!("{warning} with --interior-color"),
        _ => warning.to_string(),
    })
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
