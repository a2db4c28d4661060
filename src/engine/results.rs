//! The results of the steps.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::backend::UsedBackend;
use crate::backend::report::RunReport;
use crate::engine::Warning;
use crate::formats::Sidecar;
use crate::grid::VoxelGrid;
use crate::lattice::{Lattice, PlacedMesh, Window};
use crate::solid::FillReport;

/// A mesh that is ready for a backend.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Placed {
    /// The mesh on its lattice.
    pub mesh: PlacedMesh,
    /// The sidecar files that were looked for.
    pub sidecars: Vec<Sidecar>,
    /// Warnings about the file and the placement.
    pub warnings: Vec<Warning>,
    /// The time of reading and placing.
    pub timings: Timings,
}

/// The voxels of a mesh.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxelized {
    /// The voxels, with their place in the world and colours where the mesh has any.
    pub grid: VoxelGrid,
    /// The lattice of the mesh; for a tile, that of the whole grid.
    pub lattice: Lattice,
    /// The number of triangles.
    pub triangles: usize,
    /// Of a tile: where it lies in the whole grid.
    pub window: Option<Window>,
    /// The report of the fill, for a solid.
    pub fill_report: Option<FillReport>,
    /// The number of voxels left out because they are completely transparent.
    pub transparent: u64,
    /// Counts and times of the backend's stages; `None` for a backend without stages.
    pub report: Option<RunReport>,
    /// The backend used.
    pub backend: UsedBackend,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// The time of each step.
    pub timings: Timings,
}

impl Voxelized {
    /// These voxels with the warnings and times of reading and placing, the steps that came before.
    #[must_use]
    pub fn after(mut self, placed: &Placed) -> Self {
        self.warnings.splice(..0, placed.warnings.iter().cloned());
        let Timings { load, place, .. } = placed.timings;
        Self { timings: Timings { load, place, ..self.timings }, ..self }
    }
}

/// The time of each step. With serde, milliseconds of the steps that were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Timings {
    /// Reading the file, for a mesh that was not in memory.
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub load: Option<Duration>,
    /// Placing the mesh on the lattice.
    #[serde(serialize_with = "ms")]
    pub place: Duration,
    /// Choosing a backend, and opening the GPU for its first mesh.
    #[serde(serialize_with = "ms")]
    pub start: Duration,
    /// The backend.
    #[serde(serialize_with = "ms")]
    pub voxelize: Duration,
    /// Filling, for a solid.
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub fill: Option<Duration>,
    /// Computing distances.
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub distance: Option<Duration>,
    /// Colouring, for a mesh that has an appearance.
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub color: Option<Duration>,
    /// Computing attributes.
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Duration>,
}

/// Milliseconds, rounded to three decimals, the resolution of clocks.
fn ms<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

fn some_ms<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => ms(time, serializer),
        None => serializer.serialize_none(),
    }
}
