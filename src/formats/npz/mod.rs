//! NumPy `.npz`: occupancy as in `.npy`, world position and colours.
//!
//! A zip archive of `.npy` arrays: `occupied`, `bool` of shape `(nx, ny, nz)`; for a grid with a
//! world position, `origin`, its corner, three `float64`, `voxel_size`, a `float64`, and `up`, the
//! letter of the axis; for a grid with colours, `rgba`, `uint8` of shape `(nx, ny, nz, 4)` in sRGB,
//! zeros for empty voxels. Written deflated, as a stream. Read deflated or stored; other arrays are
//! ignored. Without `occupied` the voxels are those of `rgba` that are not fully transparent;
//! without either, those of the first suitable array.

mod read;
mod zip;

use std::io::{BufWriter, Write};

use crate::formats::{GridSpec, WriteError, npy};
use crate::grid::{Up, VoxelGrid, World};

pub use read::read;

/// NumPy's `.npz`.
pub const SPEC: GridSpec = GridSpec {
    extension: "npz",
    name: "NumPy",
    carries: "up to 65,536 voxels an axis; position, voxel size, up axis and RGBA as arrays",
    read: Some(read),
    write: Some(|grid, _, out| write(grid, out)),
    check_dims: |_| Ok(()),
    file_size: |_| None,
    lost: |_| Vec::new(),
    has_colors: true,
};

const OCCUPIED: &str = "occupied.npy";
const RGBA: &str = "rgba.npy";
const ORIGIN: &str = "origin.npy";
const VOXEL_SIZE: &str = "voxel_size.npy";
const UP: &str = "up.npy";

/// Writes `grid`, in at most 4 MiB of memory.
///
/// # Errors
/// `out` fails.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut zip = zip::Writer::new(BufWriter::new(out));
    if let Some(World { origin, voxel_size, up }) = grid.world {
        let up = match up {
            Up::Y => 'y',
            Up::Z => 'z',
        };
        let origin: Vec<u8> = origin.iter().flat_map(|c| c.to_le_bytes()).collect();
        for (name, descr, shape, bytes) in [
            (ORIGIN, "<f8", "(3,)", &origin[..]),
            (VOXEL_SIZE, "<f8", "()", &voxel_size.to_le_bytes()),
            (UP, "<U1", "()", &u32::from(up).to_le_bytes()),
        ] {
            zip.file(name, |out| {
                out.write_all(&npy_header(descr, shape))?;
                Ok(out.write_all(bytes)?)
            })?;
        }
    }
    zip.file(OCCUPIED, |out| npy::write(grid, out))?;
    if let Some(colors) = &grid.colors {
        zip.file(RGBA, |out| npy::rgba::write(grid, colors, out))?;
    }
    Ok(zip.finish()?.flush()?)
}

/// The 128-byte header of a small `.npy` array.
fn npy_header(descr: &str, shape: &str) -> Vec<u8> {
    const LEN: usize = 118;
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let text = format!("{text:<width$}\n", width = LEN - 1);
    [&b"\x93NUMPY\x01\0"[..], &(LEN as u16).to_le_bytes(), text.as_bytes()].concat()
}
