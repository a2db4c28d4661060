//! Mitsuba's `.vol`: the grid volume of the renderer, 0 or 1 in each voxel.
//!
//! The file is `VOL`, version 3, then little-endian 4-byte numbers: the type (1: 32-bit floats),
//! the voxels along `x`, `y` and `z`, the channels, the minimum and maximum corner of the grid, and
//! the values, `x` fastest, then `y`, then `z` (W. Jakob and others, *Mitsuba 3*, the plugin
//! `gridvolume`). Mitsuba uses the box only with `use_grid_bbox`; otherwise it is the unit cube. A
//! grid without a world position has its corner at the origin and voxels of size 1.

use std::io::Write;

use crate::formats::grid::dense;
use crate::formats::{GridSpec, Out, WriteError, assumed_place, lost_colors, lost_up};
use crate::grid::{Place, VoxelGrid};

pub const SPEC: GridSpec = GridSpec {
    extension: "vol",
    name: "Mitsuba",
    carries: "up to 65,536 voxels per axis, as 32-bit floats; position and voxel size, rounded to \
              32-bit floats",
    file_size: |dims| Some(HEADER + 4 * dense::volume(dims)),
    lost: |grid, _| vec![assumed_place(grid), lost_up(grid), lost_colors(grid), lost_digits(grid)],
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

/// Bytes before the values.
const HEADER: u64 = 48;

/// Writes `grid`, in constant memory.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    out.write_all(b"VOL\x03")?;
    let [x, y, z] = grid.dims();
    for number in [1, x, y, z, 1] {
        out.write_all(&number.to_le_bytes())?;
    }
    for corner in corners(grid).as_flattened() {
        out.write_all(&(*corner as f32).to_le_bytes())?;
    }
    let floats = [0.0_f32, 1.0].map(f32::to_le_bytes);
    Ok(dense::occupancy_rows(grid, floats, |row| out.write_all(row.as_flattened()))?)
}

/// The rounding of the corners, if it exceeds a hundredth of a voxel.
fn lost_digits(grid: &VoxelGrid) -> Option<String> {
    let Place { voxel_size, .. } = grid.world.place?;
    let exact = corners(grid).into_iter().flatten();
    let error = exact.map(|c| (f64::from(c as f32) - c).abs() / voxel_size).fold(0.0, f64::max);
    (error > 0.01).then(|| {
        format!(
            "the corners of the grid are moved by up to {error:.2} voxels, to 32-bit floats: move \
             the mesh near the origin first, or use a format with 64-bit positions"
        )
    })
}

fn corners(grid: &VoxelGrid) -> [[f64; 3]; 2] {
    let Place { origin, voxel_size } = grid.world.place.unwrap_or_default();
    let dims = grid.dims().map(f64::from);
    let corner = |n: f64| [0, 1, 2].map(|a| origin[a] + n * dims[a] * voxel_size);
    [corner(0.0), corner(1.0)]
}
