//! A grid in reports.

use std::path::Path;

use serde::Serialize;
use trivox::VoxelGrid;
use trivox::grid::{ContentHash, Place};

use crate::numbers::{counted, grouped, sized};
use crate::paths::path_text;

/// A grid of a file.
#[derive(Debug, Serialize)]
pub struct GridSummary {
    pub file: String,
    pub dims: [u32; 3],
    pub occupied: u64,
    pub hash: ContentHash,
}

impl GridSummary {
    pub fn new(path: &Path, grid: &VoxelGrid) -> Self {
        Self {
            file: path_text(path),
            dims: grid.dims(),
            occupied: grid.occupied(),
            hash: grid.hash(),
        }
    }

    pub fn text(&self) -> String {
        let Self { file, dims, occupied, hash } = self;
        let occupied = counted(*occupied, "voxel");
        format!("{file}, {}, {occupied} occupied, hash {hash}", sized(*dims))
    }
}

/// A line for each of the `blocks` of a schematic: a label, the number and the name.
pub fn block_lines(blocks: &[(String, u64)]) -> impl Iterator<Item = (&'static str, String)> {
    let labels = std::iter::once("blocks").chain(std::iter::repeat(""));
    labels.zip(blocks).map(|(label, (name, count))| {
        let name = name.strip_prefix("minecraft:").unwrap_or(name);
        (label, format!("{} {name}", grouped(*count)))
    })
}

/// The place of a grid.
pub fn described(place: &Place) -> String {
    let Place { origin: [x, y, z], voxel_size } = place;
    format!("voxels of {voxel_size} from ({x}, {y}, {z})")
}
