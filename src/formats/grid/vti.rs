//! VTK's `.vti`, which ParaView reads: image data whose cells are the voxels.
//!
//! XML, followed by the cell array `occupied` as raw bytes, `x` fastest, then `y`, then `z`, 0 or 1
//! (Kitware, *VTK File Formats*, the section on XML formats). `Origin` is the grid's corner and
//! `Spacing` a voxel's edge; the field array `up` is the index of the up axis, 1 for `y`. A grid
//! without a world position has its corner at the origin, voxels of size 1, and no `up`. With
//! colours, the cell array `color` has red, green, blue and opacity in sRGB, which VTK displays
//! unmapped ("direct scalars"); zeros for empty voxels. Each attribute is a cell array of its name;
//! in empty voxels -1 for indices, else 0. The field arrays `material_names` and `label_names` are
//! the names by index.

use std::io::Write;

use crate::formats::grid::dense;
use crate::formats::{GridSpec, Out, WriteError, assumed_place};
use crate::grid::{Attributes, Bits, Channel, Place, VoxelGrid, World};

/// VTK's `.vti`.
pub const SPEC: GridSpec = GridSpec {
    extension: "vti",
    name: "VTK",
    carries: "up to 65,536 voxels per axis, as bytes; position, voxel size and up axis; RGBA; \
              attributes",
    write: Some(|grid, _, out| write(grid, out)),
    file_size: |dims| {
        Some(
            (head(dims, World::default(), false, None) + TAIL).len() as u64
                + 8
                + dense::volume(dims),
        )
    },
    lost: |grid, _| assumed_place(grid),
    has_colors: true,
    has_attributes: true,
    ..GridSpec::PLAIN
};

const TAIL: &str = "\n  </AppendedData>\n</VTKFile>\n";

/// Writes `grid`, in constant memory.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let volume = dense::volume(grid.dims());
    let attributes = grid.attributes.as_ref();
    out.write_all(head(grid.dims(), grid.world, grid.colors.is_some(), attributes).as_bytes())?;
    out.write_all(&volume.to_le_bytes())?;
    dense::occupancy_rows(grid, [0, 1], |row| out.write_all(row))?;
    if let Some(colors) = &grid.colors {
        out.write_all(&(4 * volume).to_le_bytes())?;
        dense::rows(grid, colors, [0; 4], |color| color, |row| out.write_all(row.as_flattened()))?;
    }
    for (&attribute, channel) in grid.attributes.iter().flat_map(Attributes::channels) {
        let components = attribute.components();
        out.write_all(&(4 * components as u64 * volume).to_le_bytes())?;
        let empty = attribute.none();
        let mut put = |row: &[Bits]| {
            row.iter().try_for_each(|bits| {
                out.write_all(bits.map(u32::to_le_bytes)[..components].as_flattened())
            })
        };
        match channel {
            Channel::Scalar(values) => {
                dense::rows(grid, values, empty, |bits| [bits, 0, 0], &mut put)?;
            }
            Channel::Vector(values) => dense::rows(grid, values, empty, |bits| bits, &mut put)?,
        }
    }
    Ok(out.write_all(TAIL.as_bytes())?)
}

/// Everything before the first array's length.
fn head(dims: [u32; 3], world: World, has_colors: bool, attributes: Option<&Attributes>) -> String {
    let [nx, ny, nz] = dims;
    let Place { origin: [x, y, z], voxel_size: s } = world.place.unwrap_or_default();
    let up = world.up.axis();
    let names = attributes.into_iter().flat_map(Attributes::names);
    let names: String =
        names.map(|(attribute, names)| texts(&format!("{attribute}_names"), names)).collect();
    let extent = format!("0 {nx} 0 {ny} 0 {nz}");
    let volume = dense::volume(dims);
    let mut offset = 8 + volume;
    let mut arrays = String::new();
    if has_colors {
        arrays += &array("UInt8", "color", 4, offset);
        offset += 8 + 4 * volume;
    }
    for attribute in attributes.map(Attributes::set).unwrap_or_default().iter() {
        let kind = if attribute.is_float() { "Float32" } else { "Int32" };
        let components = attribute.components();
        arrays += &array(kind, attribute.name(), components, offset);
        offset += 8 + 4 * components as u64 * volume;
    }
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n  \
           <ImageData WholeExtent=\"{extent}\" Origin=\"{x:?} {y:?} {z:?}\" \
           Spacing=\"{s:?} {s:?} {s:?}\">\n    \
             <FieldData>\n      \
               <DataArray type=\"UInt8\" Name=\"up\" NumberOfTuples=\"1\" \
               format=\"ascii\">{up}</DataArray>\n\
               {names}    \
             </FieldData>\n    \
             <Piece Extent=\"{extent}\">\n      \
               <CellData Scalars=\"occupied\">\n        \
                 <DataArray type=\"UInt8\" Name=\"occupied\" format=\"appended\" \
                 offset=\"0\"/>\n{arrays}      \
               </CellData>\n    \
             </Piece>\n  \
           </ImageData>\n  \
           <AppendedData encoding=\"raw\">\n_"
    )
}

fn array(kind: &str, name: &str, components: usize, offset: u64) -> String {
    format!(
        "        <DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
         format=\"appended\" offset=\"{offset}\"/>\n"
    )
}

/// A field array of texts: the bytes of each as signed numbers, and 0 at its end.
fn texts(name: &str, texts: &[String]) -> String {
    let bytes = texts.iter().flat_map(|text| text.bytes().filter(|&byte| byte != 0).chain([0]));
    let numbers: Vec<String> = bytes.map(|byte| (byte as i8).to_string()).collect();
    format!(
        "      <Array type=\"String\" Name=\"{name}\" NumberOfTuples=\"{}\" format=\"ascii\">{}\
         </Array>\n",
        texts.len(),
        numbers.join(" ")
    )
}
