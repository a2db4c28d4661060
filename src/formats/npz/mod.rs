//! NumPy `.npz`: occupancy as in `.npy`, where it lies, and its colours.
//!
//! A zip archive of `.npy` arrays: `occupied`, `bool` of shape `(nx, ny, nz)`; where the grid says
//! where it lies, `origin`, its corner, three `float64`; `voxel_size`, a `float64`; and `up`, the
//! letter of the axis; and where it has colours, `rgba`, `uint8` of shape `(nx, ny, nz, 4)`, in sRGB,
//! zeros where there is no voxel. Written deflated and as a stream. Read deflated or stored, also with
//! other arrays beside it. Without `occupied` the voxels are those of `rgba` that are not wholly
//! transparent, and without that those of the first array that can be.

mod read;
mod zip;

use std::io::{BufWriter, Write};

use crate::formats::{GridSpec, WriteError, npy};
use crate::grid::{Up, VoxelGrid, World};

pub use read::read;

/// NumPy's.
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

/// Writes `grid`. Whatever the grid, that takes no more than 4 MiB of memory.
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

/// The header of a small `.npy` array, 128 bytes.
fn npy_header(descr: &str, shape: &str) -> Vec<u8> {
    const LEN: usize = 118;
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let text = format!("{text:<width$}\n", width = LEN - 1);
    [&b"\x93NUMPY\x01\0"[..], &(LEN as u16).to_le_bytes(), text.as_bytes()].concat()
}
