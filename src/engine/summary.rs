//! The report on a result, the same in the program, the Python package and the browser package.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::backend::UsedBackend;
use crate::engine::{Distances, Voxelized};
use crate::grid::{Attributes, VoxelGrid};
use crate::lattice::{Lattice, Window};
use crate::solid::distance::DistanceField;
use crate::solid::{FillReport, FillSummary};

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
    pub fill: Option<FillSummary>,
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
            fill: fill.map(FillSummary::new),
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
