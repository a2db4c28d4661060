//! The results of the steps, and the report on them, which is the same in the program, the Python
//! package and the browser package.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::backend::UsedBackend;
use crate::backend::report::RunReport;
use crate::base::{ms, some_ms};
use crate::engine::{Distances, Warning};
use crate::formats::Sidecar;
use crate::grid::{Attributes, VoxelGrid};
use crate::lattice::{Lattice, PlacedMesh, Window};
use crate::solid::FillReport;
use crate::solid::distance::DistanceField;

/// A mesh that is ready for a backend.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Placed {
    /// The mesh on its lattice.
    pub mesh: PlacedMesh,
    /// The sidecar files that were looked for, or that the mesh names.
    pub sidecars: Vec<Sidecar>,
    /// Warnings about the file and the placement.
    pub warnings: Vec<Warning>,
    /// The time of reading and placing.
    pub timings: Timings,
}

impl From<PlacedMesh> for Placed {
    fn from(mesh: PlacedMesh) -> Self {
        let (sidecars, warnings, timings) = Default::default();
        Self { mesh, sidecars, warnings, timings }
    }
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
    /// The place of a tile in the whole grid.
    pub window: Option<Window>,
    /// The report of the fill, for a solid.
    pub fill_report: Option<FillReport>,
    /// The number of voxels left out because they are completely transparent.
    pub transparent: u64,
    /// Counts and times of the backend's stages; `None` for a backend without stages.
    pub report: Option<RunReport>,
    /// The backend used.
    pub backend: UsedBackend,
    /// Warnings, those of reading and placing first.
    pub warnings: Vec<Warning>,
    /// The time of each step.
    pub timings: Timings,
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

/// The properties of a result, for serde: the program's JSON, Python and browsers have them under
/// these names, the same for every mode and fill. Lengths are in mesh units.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The number of triangles; of a tile, of those that it needs.
    pub triangles: usize,
    /// Voxels along each axis; of a tile, those of the tile.
    pub dims: [u32; 3],
    /// The edge of a voxel.
    pub voxel_size: f64,
    /// The minimum corner of the grid; of a tile, that of the tile.
    pub origin: [f64; 3],
    /// Bits of a voxel's edge on the lattice.
    pub fraction_bits: u32,
    /// The lattice of the whole grid, as `--lattice` reads it.
    pub lattice: Lattice,
    /// The place of a tile in the whole grid.
    pub tile: Option<Window>,
    /// The number of occupied voxels; for distances, of voxels inside the mesh.
    pub occupied: u64,
    /// The number of bricks that have these voxels.
    pub bricks: u64,
    /// `cpu` or `gpu`.
    pub backend: &'static str,
    /// The GPU adapter's label.
    pub adapter: Option<String>,
    /// The reason for this backend.
    pub reason: String,
    /// How a solid was filled.
    pub fill: Option<FillReport>,
    /// The band of distances.
    pub distances: Option<BandSummary>,
    /// The number of voxels left out because they are completely transparent.
    pub transparent: u64,
    /// The names of materials and objects, by index, for each attribute that has them.
    pub attribute_names: BTreeMap<&'static str, Vec<String>>,
}

/// The band of a distance field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BandSummary {
    /// In voxels.
    pub width: f32,
    /// The number of voxels with a distance.
    pub voxels: u64,
}

impl Summary {
    fn new(
        grid: &VoxelGrid,
        lattice: Lattice,
        triangles: usize,
        backend: &UsedBackend,
        fill: Option<&FillReport>,
    ) -> Self {
        Self {
            triangles,
            dims: grid.dims(),
            voxel_size: lattice.voxel_size,
            origin: grid.world.place.map_or(lattice.origin, |place| place.origin),
            fraction_bits: lattice.fraction_bits,
            lattice,
            tile: None,
            occupied: grid.occupied(),
            bricks: grid.brick_count(),
            backend: backend.name(),
            adapter: backend.adapter.clone(),
            reason: backend.reason.clone(),
            fill: fill.cloned(),
            distances: None,
            transparent: 0,
            attribute_names: BTreeMap::new(),
        }
    }
}

impl Voxelized {
    /// The properties of the voxels.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let Self { grid, lattice, triangles, backend, fill_report, .. } = self;
        let summary = Summary::new(grid, *lattice, *triangles, backend, fill_report.as_ref());
        let names = grid.attributes.iter().flat_map(Attributes::names);
        let attribute_names =
            names.map(|(attribute, names)| (attribute.name(), names.clone())).collect();
        Summary { tile: self.window, transparent: self.transparent, attribute_names, ..summary }
    }
}

impl Distances {
    /// The properties of the distances.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let Self { field, lattice, triangles, backend, fill_report, .. } = self;
        let inside = field.inside();
        let summary = Summary::new(inside, *lattice, *triangles, backend, fill_report.as_ref());
        Summary { distances: Some(BandSummary::of(field)), ..summary }
    }
}

impl BandSummary {
    /// The band of `field`.
    #[must_use]
    pub fn of(field: &DistanceField) -> Self {
        Self { width: field.width(), voxels: field.band().occupied() }
    }
}
