//! The summary of a fill, as text and as JSON.

use std::iter;

use serde::Serialize;
use trivox::fill::{AxisDisagreement, Confidence};
use trivox::solid::FillReport;
use trivox::topology::Turned;
use trivox::{Lattice, Topology};

use crate::program::numbers::{counted, grouped};

/// The summary of a fill; volumes are in cubic mesh units.
#[derive(Debug, Clone, Serialize)]
pub struct FillSummary {
    /// `parity`, `winding`, `flood` or `vote`.
    rule: String,
    /// The reason for this fill.
    reason: String,
    pub doubtful: bool,
    pub doubts: Vec<DoubtSummary>,
    /// The whole report as a text.
    pub sentence: String,
    closed: bool,
    oriented: bool,
    shells: u64,
    edges: u64,
    open_edges: u64,
    non_manifold_edges: u64,
    inconsistent_edges: u64,
    /// Edges with an odd number of triangles.
    odd_edges: u64,
    /// Edges that are not traversed equally often in both directions.
    unbalanced_edges: u64,
    /// Such an edge, by its ends in mesh units.
    example: Option<[[f64; 3]; 2]>,
    /// Boundary loops that were capped.
    #[serde(skip_serializing_if = "Option::is_none")]
    boundary_loops: Option<u64>,
    /// The least certain voxel at a cap, and the most certain one sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    lowest_confidence: Option<ConfidenceSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest_confidence: Option<ConfidenceSummary>,
    /// Triangles whose orientation was flipped, and their patches.
    turned_triangles: u64,
    turned_patches: u64,
    #[serde(skip)]
    caps: Option<String>,
    /// Columns that are still inside at the end of the grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    unended_columns: Option<u64>,
    /// Columns with a winding number of 2 or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlapping_columns: Option<u64>,
    /// Columns through parts with inverted orientation, and through others.
    #[serde(skip_serializing_if = "Option::is_none")]
    opposed_columns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axes: Option<Axes>,
    /// Enclosed voxels found by the flood fill.
    #[serde(skip_serializing_if = "Option::is_none")]
    enclosed: Option<u64>,
    /// Voxels that the flood fill reached though most rays find them inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    leaked: Option<u64>,
    voxel_volume: f64,
    mesh_volume: Option<f64>,
}

/// A warning about the fill.
#[derive(Debug, Clone, Serialize)]
pub struct DoubtSummary {
    /// `holes`, `orientation`, `may overlap`, `overlap`, `inside out`, `dispute`, `wide`, `nothing`
    /// or `leak`.
    kind: &'static str,
    pub text: String,
}

/// The confidence of a voxel, from 0 to 1.
#[derive(Debug, Clone, Serialize)]
struct ConfidenceSummary {
    value: f64,
    voxel: [u32; 3],
    /// Its centre, in mesh units.
    position: [f64; 3],
}

impl ConfidenceSummary {
    fn new(&Confidence { value, voxel, .. }: &Confidence, lattice: &Lattice) -> Self {
        Self { value, voxel, position: center(voxel, lattice) }
    }
}

/// The centre of a voxel, in mesh units.
fn center(voxel: [u32; 3], lattice: &Lattice) -> [f64; 3] {
    let size = lattice.voxel_size;
    [0, 1, 2].map(|a| lattice.origin[a] + (f64::from(voxel[a]) + 0.5) * size)
}

/// The agreement of rays along the three axes.
#[derive(Debug, Clone, Serialize)]
struct Axes {
    disputed_voxels: u64,
    disputed_columns: u64,
    /// Columns with a voxel that is inside or disputed.
    columns: u64,
    share: f64,
    /// Columns along x, y and z that cross the surface an odd number of times.
    odd_columns: [u64; 3],
    /// The voxel with the most disagreement, and its centre in mesh units.
    worst: Option<[u32; 3]>,
    worst_position: Option<[f64; 3]>,
}

impl FillSummary {
    pub fn new(filling: &FillReport, lattice: &Lattice) -> Self {
        let Topology {
            shells,
            edges,
            open_edges,
            non_manifold_edges,
            inconsistent_edges,
            odd_edges,
            unbalanced_edges,
            example,
            ..
        } = filling.topology;
        let in_mesh_units = |point: [i32; 3]| {
            [0, 1, 2].map(|a| lattice.origin[a] + f64::from(point[a]) / lattice.scale)
        };
        let Turned { turned, triangles, .. } = filling.turned.unwrap_or_default();
        let caps = filling.caps.as_ref();
        let [lowest_confidence, highest_confidence] = match caps.and_then(|caps| caps.confidences) {
            Some(ends) => ends.map(|end| Some(ConfidenceSummary::new(&end, lattice))),
            None => [None, None],
        };
        Self {
            boundary_loops: caps.map(|caps| caps.loops),
            lowest_confidence,
            highest_confidence,
            turned_triangles: triangles,
            turned_patches: turned,
            caps: caps.map(ToString::to_string),
            rule: filling.fill.to_string(),
            reason: filling.reason.clone(),
            doubtful: filling.is_doubtful(),
            doubts: filling
                .doubts
                .iter()
                .map(|doubt| DoubtSummary { kind: doubt.kind(), text: doubt.to_string() })
                .collect(),
            sentence: filling.sentence(),
            closed: filling.topology.is_closed(),
            oriented: filling.topology.is_oriented(),
            shells,
            edges,
            open_edges,
            non_manifold_edges,
            inconsistent_edges,
            odd_edges,
            unbalanced_edges,
            example: example.map(|edge| edge.map(in_mesh_units)),
            unended_columns: filling.unended,
            overlapping_columns: filling.windings.map(|windings| windings.overlapping),
            opposed_columns: filling.windings.map(|windings| windings.opposed),
            axes: filling.dispute.as_ref().map(|dispute| Axes::new(dispute, lattice)),
            enclosed: filling.enclosed,
            leaked: filling.leaked,
            voxel_volume: filling.volume.voxels,
            mesh_volume: filling.volume.mesh,
        }
    }

    /// The summary as lines of text, each with its label.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mut facts = vec![counted(self.shells, "shell")];
        let faults = [
            (self.open_edges, "open"),
            (self.non_manifold_edges, "non-manifold"),
            (self.odd_edges - self.open_edges, "odd"),
            (self.inconsistent_edges, "inconsistent"),
        ];
        let faults = faults.iter().filter(|(number, _)| *number > 0);
        facts.extend(faults.map(|(number, what)| {
            let edges = if *number == 1 { "edge" } else { "edges" };
            format!("{} {what} {edges}", grouped(*number))
        }));
        if self.turned_triangles > 0 {
            let [triangles, patches] = [self.turned_triangles, self.turned_patches].map(grouped);
            facts.push(format!("turned around: {triangles} triangles, of {patches} patches"));
        }
        let more = iter::once(facts.join(", ")).chain(self.caps.clone());
        let first = ("fill", format!("{}: {}", self.rule, self.reason));
        iter::once(first).chain(more.map(|text| ("", text)))
    }
}

impl Axes {
    fn new(dispute: &AxisDisagreement, lattice: &Lattice) -> Self {
        Self {
            disputed_voxels: dispute.voxels,
            disputed_columns: dispute.columns,
            columns: dispute.of_columns,
            share: dispute.share(),
            odd_columns: dispute.odd,
            worst: dispute.worst,
            worst_position: dispute.worst.map(|voxel| center(voxel, lattice)),
        }
    }
}
