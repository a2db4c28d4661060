//! The summary of a fill, as the program prints it in JSON.

use serde::Serialize;

use crate::grid::Place;
use crate::lattice::Lattice;
use crate::solid::FillReport;
use crate::solid::fill::{AxisDisagreement, Confidence};
use crate::solid::topology::{FlipStatistics, Topology};

/// A [`FillReport`] in mesh units, for serde. Every fill has the same keys; fields that do not apply
/// to it are `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FillSummary {
    /// `parity`, `winding`, `flood` or `vote`.
    pub rule: String,
    /// The reason for this fill.
    pub reason: String,
    /// Whether there is a doubt.
    pub doubtful: bool,
    /// The reasons for doubt.
    pub doubts: Vec<DoubtSummary>,
    /// The whole report as text.
    pub sentence: String,
    /// The topology of the mesh, after triangles were flipped.
    #[serde(flatten)]
    pub topology: TopologySummary,
    /// An unbalanced edge, by its ends in mesh units.
    pub example: Option<[[f64; 3]; 2]>,
    /// Boundary loops that were capped.
    pub boundary_loops: Option<u64>,
    /// The least certain voxel in bricks at caps.
    pub lowest_confidence: Option<ConfidenceSummary>,
    /// One of the most certain voxels in bricks at caps.
    pub highest_confidence: Option<ConfidenceSummary>,
    /// Voxels of the solid with a winding number below 3/4: counted near the caps, estimated
    /// elsewhere, as [`Generalized::uncertain`](crate::solid::fill::Generalized::uncertain) says.
    pub uncertain_voxels: Option<u64>,
    /// Triangles whose orientation was flipped.
    pub flipped_triangles: u64,
    /// The patches of those triangles.
    pub flipped_patches: u64,
    /// The caps as text.
    pub caps: Option<String>,
    /// Columns that are still inside at the end of the grid.
    pub unended_columns: Option<u64>,
    /// Columns with a winding number of 2 or more.
    pub overlapping_columns: Option<u64>,
    /// Columns with a winding number opposite in sign to the mesh's volume.
    pub opposed_columns: Option<u64>,
    /// The disagreements of rays along the three axes, for a vote.
    pub axis_disagreement: Option<DisagreementSummary>,
    /// Enclosed voxels found by the flood fill.
    pub enclosed: Option<u64>,
    /// Voxels that the flood fill reached though most rays find them inside.
    pub leaked: Option<u64>,
    /// Shells without a voxel, if there are several shells; not for a tile, nor with an included
    /// surface.
    pub empty_shells: Option<u64>,
    /// These shells as text.
    pub empty_shells_text: Option<String>,
    /// The connected parts of the voxels, through faces, edges and corners; not for a tile, nor with
    /// an included surface.
    pub pieces: Option<u64>,
    /// The pieces as text, if they are more than the shells.
    pub pieces_text: Option<String>,
    /// Volume of the voxels, in cubic mesh units.
    pub voxel_volume: f64,
    /// Volume of a closed mesh, in cubic mesh units; negative if it is inside out.
    pub mesh_volume: Option<f64>,
}

/// The shells and edges of a [`Topology`], for serde.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TopologySummary {
    /// Whether every edge has an even number of triangles.
    pub closed: bool,
    /// Whether every edge is traversed equally often in both directions.
    pub oriented: bool,
    /// Components connected through edges.
    pub shells: u64,
    /// Edges of the mesh.
    pub edges: u64,
    /// Edges with exactly one triangle.
    pub open_edges: u64,
    /// Edges with more than two triangles.
    pub non_manifold_edges: u64,
    /// Edges with exactly two triangles, which traverse it in the same direction.
    pub inconsistent_edges: u64,
    /// Edges with an odd number of triangles.
    pub odd_edges: u64,
    /// Edges that are not traversed equally often in both directions.
    pub unbalanced_edges: u64,
}

impl From<&Topology> for TopologySummary {
    fn from(topology: &Topology) -> Self {
        Self {
            closed: topology.is_closed(),
            oriented: topology.is_oriented(),
            shells: topology.shells,
            edges: topology.edges,
            open_edges: topology.open_edges,
            non_manifold_edges: topology.non_manifold_edges,
            inconsistent_edges: topology.inconsistent_edges,
            odd_edges: topology.odd_edges,
            unbalanced_edges: topology.unbalanced_edges,
        }
    }
}

/// A warning about the fill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DoubtSummary {
    /// `holes`, `orientation`, `may overlap`, `overlap`, `opposed`, `axis disagreement`, `uncertain`,
    /// `unjudged`, `nothing` or `leak`.
    pub kind: &'static str,
    /// A sentence.
    pub text: String,
    /// A fill that may do better.
    pub better: Option<String>,
}

/// The confidence of a voxel, from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfidenceSummary {
    /// From 0 to 1.
    pub value: f64,
    /// The voxel.
    pub voxel: [u32; 3],
    /// Its centre, in mesh units.
    pub position: [f64; 3],
}

impl ConfidenceSummary {
    fn new(&Confidence { value, voxel, .. }: &Confidence, lattice: &Lattice) -> Self {
        Self { value, voxel, position: center(voxel, lattice) }
    }
}

/// The centre of a voxel, in mesh units.
fn center(voxel: [u32; 3], lattice: &Lattice) -> [f64; 3] {
    Place::of(lattice).center(voxel)
}

/// The disagreements of rays along the three axes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DisagreementSummary {
    /// Voxels that the axes disagree on.
    pub voxels: u64,
    /// Columns with such a voxel.
    pub columns: u64,
    /// Columns with a voxel that is inside, or that the axes disagree on.
    pub of_columns: u64,
    /// `columns` as a fraction of `of_columns`.
    pub share: f64,
    /// Columns along x, y and z that cross the surface an odd number of times.
    pub odd_columns: [u64; 3],
    /// The voxel with the most disagreement.
    pub worst: Option<[u32; 3]>,
    /// Its centre, in mesh units.
    pub worst_position: Option<[f64; 3]>,
}

impl FillSummary {
    /// Converts a report to mesh units.
    #[must_use]
    pub fn new(filling: &FillReport) -> Self {
        let lattice = &filling.lattice;
        let in_mesh_units = |point: [i32; 3]| {
            [0, 1, 2].map(|a| lattice.origin[a] + f64::from(point[a]) / lattice.scale)
        };
        let FlipStatistics { flipped_patches, flipped_triangles, .. } =
            filling.flips.unwrap_or_default();
        let caps = filling.caps.as_ref();
        let [lowest_confidence, highest_confidence] = match caps.and_then(|caps| caps.confidences) {
            Some(ends) => ends.map(|end| Some(ConfidenceSummary::new(&end, lattice))),
            None => [None, None],
        };
        Self {
            boundary_loops: caps.map(|caps| caps.loops),
            uncertain_voxels: caps.and_then(|caps| caps.uncertain),
            lowest_confidence,
            highest_confidence,
            flipped_triangles,
            flipped_patches,
            caps: caps.map(ToString::to_string),
            rule: filling.fill.to_string(),
            reason: filling.reason.clone(),
            doubtful: filling.is_doubtful(),
            doubts: filling
                .doubts
                .iter()
                .map(|doubt| DoubtSummary {
                    kind: doubt.kind(),
                    text: doubt.to_string(),
                    better: doubt.better().map(|fill| fill.to_string()),
                })
                .collect(),
            sentence: filling.sentence(),
            topology: TopologySummary::from(&filling.topology),
            example: filling.topology.example.map(|edge| edge.map(in_mesh_units)),
            unended_columns: filling.unended,
            overlapping_columns: filling.windings.map(|windings| windings.overlapping),
            opposed_columns: filling.opposed_columns(),
            axis_disagreement: (filling.disagreement.as_ref())
                .map(|disagreement| DisagreementSummary::new(disagreement, lattice)),
            enclosed: filling.enclosed,
            leaked: filling.leaked,
            empty_shells: filling.empty_shells.map(|empty| empty.count),
            empty_shells_text: filling.empty_shells_text(),
            pieces: filling.pieces,
            pieces_text: filling.pieces_text(),
            voxel_volume: filling.volume.voxels,
            mesh_volume: filling.volume.mesh,
        }
    }
}

impl DisagreementSummary {
    fn new(disagreement: &AxisDisagreement, lattice: &Lattice) -> Self {
        Self {
            voxels: disagreement.voxels,
            columns: disagreement.columns,
            of_columns: disagreement.of_columns,
            share: disagreement.share(),
            odd_columns: disagreement.odd,
            worst: disagreement.worst,
            worst_position: disagreement.worst.map(|voxel| center(voxel, lattice)),
        }
    }
}
