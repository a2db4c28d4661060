//! Grids and fills in reports.

use std::iter;
use std::path::Path;

use serde::{Deserialize, Serialize};
use trivox::grid::{ContentHash, Place};
use trivox::solid::FillReport;
use trivox::{DistanceField, VoxelGrid};

use crate::text::{counted, escaped, grouped, path_text, sized};

/// The voxels of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Contents {
    pub dims: [u32; 3],
    pub occupied: u64,
    /// The hash of the distances or, if there are none, of the voxels.
    pub hash: ContentHash,
}

/// A grid of a file.
#[derive(Debug, Serialize)]
pub struct GridSummary {
    pub file: String,
    #[serde(flatten)]
    pub contents: Contents,
}

impl GridSummary {
    pub fn new(path: &Path, grid: &VoxelGrid) -> Self {
        Self::of_level_set(path, grid, None)
    }

    /// The summary of a grid that may be the solid inside `distances`.
    pub fn of_level_set(path: &Path, grid: &VoxelGrid, distances: Option<&DistanceField>) -> Self {
        let (dims, occupied) = (grid.dims(), grid.occupied());
        let hash = distances.map_or_else(|| grid.hash(), DistanceField::hash);
        Self { file: path_text(path), contents: Contents { dims, occupied, hash } }
    }

    pub fn text(&self) -> String {
        let Self { file, contents: Contents { dims, occupied, hash } } = self;
        let (file, occupied) = (escaped(file), counted(*occupied, "voxel"));
        format!("{file}, {}, {occupied} occupied, hash {hash}", sized(*dims))
    }
}

/// A line for each of the `blocks` of a schematic: a label, the number and the name.
pub fn block_lines(blocks: &[(String, u64)]) -> impl Iterator<Item = (&'static str, String)> {
    let labels = iter::once("blocks").chain(iter::repeat(""));
    labels.zip(blocks).map(|(label, (name, count))| {
        let name = name.strip_prefix("minecraft:").unwrap_or(name);
        (label, format!("{} {name}", grouped(*count)))
    })
}

/// The place of a grid, with all digits.
pub fn described(place: &Place) -> String {
    let Place { origin: [x, y, z], voxel_size } = place;
    format!("voxels of {voxel_size} from ({x}, {y}, {z})")
}

/// The report of a fill as lines of text, each with its label. Lines about voxels name the options
/// that help; distances refuse these.
pub fn fill_lines(
    fill: &FillReport,
    are_voxels: bool,
) -> impl Iterator<Item = (&'static str, String)> {
    let topology = &fill.topology;
    let mut facts = vec![counted(topology.shells, "shell")];
    let faults = [
        (topology.open_edges, "open"),
        (topology.non_manifold_edges, "non-manifold"),
        (topology.odd_edges - topology.open_edges, "odd"),
        (topology.inconsistent_edges, "inconsistent"),
    ];
    let faults = faults.iter().filter(|(number, _)| *number > 0);
    facts.extend(faults.map(|(number, what)| counted(*number, &format!("{what} edge"))));
    if fill.flips.flipped_triangles > 0 {
        let triangles = counted(fill.flips.flipped_triangles, "triangle");
        let patches = counted(fill.flips.flipped_patches, "patch");
        facts.push(format!("flipped: {triangles} in {patches}"));
    }
    let is_one = fill.empty_shells.is_some_and(|empty| empty.count == 1);
    let them = if is_one { "it" } else { "them" };
    let empty = fill.empty_shells_text();
    let helped = |text: String, verb: &str, them: &str| {
        if are_voxels { format!("{text}; --include-surface {verb} {them}") } else { text }
    };
    let empty = empty.map(|text| helped(text, "keeps", them));
    let pieces = fill.pieces_text().map(|text| helped(text, "joins", "them"));
    let more = iter::once(facts.join(", ")).chain(fill.caps_text()).chain(empty).chain(pieces);
    let first = ("fill", format!("{}: {}", fill.fill, fill.reason));
    iter::once(first).chain(more.map(|text| ("", text)))
}
