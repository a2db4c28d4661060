//! VTK's `.vti`, which ParaView reads: image data whose cells are the voxels.
//!
//! XML, and after it the cell array `occupied` as raw bytes, `x` fastest, then `y`, then `z`, 0 or 1
//! (Kitware, *VTK File Formats*, the section on XML formats). `Origin` is the grid's corner and
//! `Spacing` a voxel's edge; the field array `up` is the number of the axis that is up, 1 for `y`. A
//! grid that does not say where it lies has its corner at the origin, voxels of size 1, and no `up`.

use std::io::{BufWriter, Write};

use crate::formats::{GridSpec, WriteError, dense};
use crate::grid::{Up, VoxelGrid, World};

/// VTK's.
pub const SPEC: GridSpec = GridSpec {
    extension: "vti",
    name: "VTK",
    carries: "up to 65,536 voxels an axis, as bytes; position, voxel size and up axis",
    read: None,
    write: Some(|grid, _, out| write(grid, out)),
    check_dims: |_| Ok(()),
    file_size: |dims| Some((head(dims, None) + TAIL).len() as u64 + 8 + dense::volume(dims)),
    lost: |_| Vec::new(),
};

const TAIL: &str = "\n  </AppendedData>\n</VTKFile>\n";

/// Writes `grid`, in little memory.
///
/// # Errors
/// `out` fails.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut out = BufWriter::new(out);
    out.write_all(head(grid.dims(), grid.world).as_bytes())?;
    out.write_all(&dense::volume(grid.dims()).to_le_bytes())?;
    dense::rows(grid, |row| out.write_all(row))?;
    out.write_all(TAIL.as_bytes())?;
    Ok(out.flush()?)
}

/// All before the array's length.
fn head([nx, ny, nz]: [u32; 3], world: Option<World>) -> String {
    let unsaid = World { origin: [0.0; 3], voxel_size: 1.0, up: Up::default() };
    let World { origin: [x, y, z], voxel_size: s, .. } = world.unwrap_or(unsaid);
    let up = match world.map(|world| world.up) {
        Some(up) => field(match up {
            Up::Y => 1,
            Up::Z => 2,
        }),
        None => String::new(),
    };
    let extent = format!("0 {nx} 0 {ny} 0 {nz}");
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n  \
           <ImageData WholeExtent=\"{extent}\" Origin=\"{x:?} {y:?} {z:?}\" \
           Spacing=\"{s:?} {s:?} {s:?}\">\n{up}    \
             <Piece Extent=\"{extent}\">\n      \
               <CellData Scalars=\"occupied\">\n        \
                 <DataArray type=\"UInt8\" Name=\"occupied\" format=\"appended\" offset=\"0\"/>\n      \
               </CellData>\n    \
             </Piece>\n  \
           </ImageData>\n  \
           <AppendedData encoding=\"raw\">\n_"
    )
}

fn field(up: u8) -> String {
    format!(
        "    <FieldData>\n      \
           <DataArray type=\"UInt8\" Name=\"up\" NumberOfTuples=\"1\" format=\"ascii\">{up}</DataArray>\n    \
         </FieldData>\n"
    )
}
