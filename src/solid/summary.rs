//! The report of a fill for serde, as the program's JSON, Python and browsers have it: every fill
//! has the same keys, those that do not apply to it are `null`. Lengths and positions are in mesh
//! units.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::grid::Place;
use crate::solid::report::opposed_columns;
use crate::solid::topology::{FlipStatistics, Topology};
use crate::solid::{EmptyShells, Fill, FillReport, FillWarning};

impl Serialize for FillReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lattice = &self.lattice;
        let in_mesh_units = |point: [i32; 3]| {
            [0, 1, 2].map(|a| lattice.origin[a] + f64::from(point[a]) / lattice.scale)
        };
        let FlipStatistics { flipped_patches, flipped_triangles } = self.flips;
        let findings = &self.findings;
        let center = |voxel: [u32; 3]| Place::of(lattice).center(voxel);
        let disagreement = findings.disagreement.map(|found| DisagreementSummary {
            voxels: found.voxels,
            columns: found.columns,
            of_columns: found.of_columns,
            share: found.share(),
            odd_columns: found.odd,
            worst: found.worst,
            worst_position: found.worst.map(center),
        });
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rule", self.fill.name())?;
        map.serialize_entry("reason", &self.reason)?;
        map.serialize_entry("doubtful", &self.is_doubtful())?;
        map.serialize_entry("doubts", &self.doubts)?;
        map.serialize_entry("sentence", &self.sentence())?;
        self.topology.serialize_into(&mut map)?;
        map.serialize_entry("example", &self.topology.example.map(|e| e.map(in_mesh_units)))?;
        map.serialize_entry("boundary_loops", &findings.boundary_loops)?;
        map.serialize_entry("uncertain_voxels", &findings.uncertain)?;
        map.serialize_entry("flipped_triangles", &flipped_triangles)?;
        map.serialize_entry("flipped_patches", &flipped_patches)?;
        map.serialize_entry("caps", &self.caps_text())?;
        map.serialize_entry("open_columns", &findings.open_columns)?;
        map.serialize_entry("overlapping_columns", &findings.windings.map(|w| w.overlapping))?;
        let opposed = |windings| opposed_columns(&self.topology, windings);
        map.serialize_entry("opposed_columns", &findings.windings.map(opposed))?;
        map.serialize_entry("axis_disagreement", &disagreement)?;
        map.serialize_entry("enclosed", &findings.enclosed)?;
        map.serialize_entry("leaked", &findings.leaked)?;
        let empty_shells = self.empty_shells.map(|EmptyShells { count, .. }| count);
        map.serialize_entry("empty_shells", &empty_shells)?;
        map.serialize_entry("empty_shells_text", &self.empty_shells_text())?;
        map.serialize_entry("pieces", &self.pieces)?;
        map.serialize_entry("pieces_text", &self.pieces_text())?;
        map.serialize_entry("voxel_volume", &self.voxel_volume)?;
        map.serialize_entry("mesh_volume", &self.mesh_volume)?;
        map.end()
    }
}

/// Its shells and edges.
impl Serialize for Topology {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.serialize_into(&mut map)?;
        map.end()
    }
}

impl Topology {
    fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("closed", &self.is_closed())?;
        map.serialize_entry("oriented", &self.is_oriented())?;
        map.serialize_entry("shells", &self.shells)?;
        map.serialize_entry("edges", &self.edges)?;
        map.serialize_entry("open_edges", &self.open_edges)?;
        map.serialize_entry("non_manifold_edges", &self.non_manifold_edges)?;
        map.serialize_entry("inconsistent_edges", &self.inconsistent_edges)?;
        map.serialize_entry("odd_edges", &self.odd_edges)?;
        map.serialize_entry("unbalanced_edges", &self.unbalanced_edges)
    }
}

impl Serialize for FillWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (kind, better) = self.kind_and_better();
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("text", &self.to_string())?;
        map.serialize_entry("better", &better.map(Fill::name))?;
        map.end()
    }
}

#[derive(Serialize)]
struct DisagreementSummary {
    voxels: u64,
    columns: u64,
    of_columns: u64,
    /// `columns` as a fraction of `of_columns`.
    share: f64,
    odd_columns: [u64; 3],
    worst: Option<[u32; 3]>,
    /// The centre of that voxel.
    worst_position: Option<[f64; 3]>,
}
