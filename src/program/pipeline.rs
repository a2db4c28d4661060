//! The steps from a mesh file to its voxels, within the memory limit.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use trivox::voxelizer::{Measured, Placed, UsedBackend, Warning};
use trivox::{PlacedMesh, Sizing, Voxelized, Voxelizer};

use crate::program::memory::Share;

/// The options of the steps.
pub struct Pipeline<'a> {
    pub voxelizer: Voxelizer,
    pub memory: &'a Share,
    pub is_solid: bool,
}

impl Pipeline<'_> {
    /// Reads the mesh, transforms and places it.
    ///
    /// # Errors
    /// The mesh cannot be read or placed; too little memory.
    pub fn place(&self, path: &Path) -> Result<Placed> {
        let placed = self.voxelizer.place(path);
        placed
            .map_err(|error| self.memory.explain(error))
            .with_context(|| path.display().to_string())
    }

    /// Voxelizes the mesh on the chosen backend, without colours.
    ///
    /// # Errors
    /// The backend failed; too little memory.
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
        let again = self.voxelizer.voxelize_on_other_backend(mesh, used);
        again.map_err(|error| self.memory.explain_step(error, self.is_solid))
    }

    /// The distances to the mesh's surface; `made` is its solid.
    ///
    /// # Errors
    /// The backend failed; too little memory.
    pub fn measure(&self, mesh: &PlacedMesh, made: &Voxelized, width: f32) -> Result<Measured> {
        self.voxelizer
            .measure(mesh, made.grid.clone(), width, &made.backend)
            .map_err(|error| self.memory.explain_step(error, true))
    }

    /// The distances on the other backend.
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub fn measure_again(&self, mesh: &PlacedMesh, measured: &Measured) -> Result<Measured> {
        let Measured { field, backend, .. } = measured;
        let (inside, width) = (field.inside().clone(), field.width());
        self.voxelizer
            .measure_on_other_backend(mesh, inside, width, backend)
            .map_err(|error| self.memory.explain_step(error, true))
    }

    /// Colours the voxels.
    ///
    /// # Errors
    /// Too little memory.
    pub fn color(&self, mesh: &PlacedMesh, made: Voxelized) -> Result<Voxelized> {
        self.voxelizer.paint(mesh, made).map_err(|error| self.memory.explain(error))
    }
}

/// Warnings as sentences, with the option that avoids them.
pub fn sentences(warnings: &[Warning]) -> impl Iterator<Item = String> + '_ {
    warnings.iter().map(|warning| match warning {
        Warning::Transparent { .. } => format!("{warning}: --keep-transparent keeps them"),
        Warning::InteriorOfTile => format!("{warning} with --interior-color"),
        _ => advised(warning, warning.better_fill()),
    })
}

/// What is doubtful about a solid, with the option for a `better` fill.
pub fn advised(doubt: &impl fmt::Display, better: Option<impl fmt::Display>) -> String {
    match better {
        Some(better) => format!("{doubt}; try --fill {better}"),
        None => doubt.to_string(),
    }
}

/// The default resolution.
pub const DEFAULT_RES: u32 = Sizing::DEFAULT_RESOLUTION;

/// The voxel size; at most one of the options is given.
pub fn sizing(res: Option<u32>, voxel_size: Option<f64>) -> Sizing {
    match voxel_size {
        Some(size) => Sizing::VoxelSize(size),
        None => Sizing::Resolution(res.unwrap_or(DEFAULT_RES)),
    }
}
