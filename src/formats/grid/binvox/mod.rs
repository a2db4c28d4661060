//! `.binvox`: run-length encoded cubes of voxels, read by many geometry and machine learning tools.
//!
//! The format is Patrick Min's (*binvox voxel file format specification*, 2004 to 2024): a text
//! header, then pairs of bytes, a value and a run length. `y` is fastest, then `z`, then `x`.
//! `translate` is the grid's corner and `scale` the edge of the whole cube, so a grid that is not a
//! cube is padded at its far ends, and is read back as the cube. A grid without a world position is
//! written with its corner at the origin and voxels of size 1. The format does not store the up
//! axis: reading assumes `y`.

mod read;
mod write;

use crate::formats::{GridSpec, assumed_place, lost_colors, lost_up};
use crate::grid::VoxelGrid;

pub use read::read;
pub use write::write;

/// The `.binvox` format.
pub const SPEC: GridSpec = GridSpec {
    extension: "binvox",
    name: "binvox",
    carries: "up to 65,536 voxels per axis, padded to a cube; position and voxel size",
    read: Some(read),
    write: Some(|grid, _, out| write(grid, out)),
    file_size: |dims| Some(2 * u64::from(edge(dims)).pow(3).div_ceil(LONGEST_RUN)),
    lost: |grid, _| lost(grid),
    ..GridSpec::PLAIN
};

/// Most voxels in one run.
const LONGEST_RUN: u64 = 255;

/// The edge, in voxels, of the cube that contains a grid of `dims`.
fn edge([x, y, z]: [u32; 3]) -> u32 {
    x.max(y).max(z)
}

fn lost(grid: &VoxelGrid) -> Vec<String> {
    let [x, y, z] = grid.dims();
    let n = edge(grid.dims());
    let padded = format!("the grid of {x} x {y} x {z} voxels is padded to {n} x {n} x {n}");
    let padded = Some(padded).filter(|_| [x, y, z] != [n; 3]);
    let assumed = assumed_place(grid).into_iter().chain(lost_up(grid));
    padded.into_iter().chain(assumed).chain(lost_colors(grid)).collect()
}
