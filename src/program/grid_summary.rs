//! A grid in reports.

use std::path::Path;

use serde::Serialize;
use trivox::VoxelGrid;
use trivox::grid::{ContentHash, Place};

use crate::numbers::{counted, sized};
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

/// The place of a grid.
pub fn described(place: &Place) -> String {
    let Place { origin: [x, y, z], voxel_size } = place;
    format!("voxels of {voxel_size} from ({x}, {y}, {z})")
}
