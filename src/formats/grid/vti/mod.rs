//! VTK's `.vti`, which ParaView reads: image data whose cells are the voxels.
//!
//! XML, followed by the cell array `occupied` as bytes, `x` fastest, then `y`, then `z`, 0 or 1
//! (Kitware, *VTK File Formats*, the section on XML formats). `Origin` is the grid's corner and
//! `Spacing` a voxel's edge; the field array `up` is the index of the up axis, 1 for `y`. A grid
//! without a world position has its corner at the origin, and voxels of size 1. With
//! colours, the cell array `color` has red, green, blue and opacity in sRGB, which VTK displays
//! unmapped ("direct scalars"); zeros for empty voxels. Each attribute is a cell array of its name;
//! in empty voxels -1 for indices, else 0. The field arrays `material_names` and `label_names` are
//! the names by index. A file of distances has the cell array `distance` alone, in mesh units, and
//! the field array `width`, in voxels.
//!
//! The XML has the place of each array, and an array begins with the lengths of its compressed
//! blocks. Arrays are therefore compressed before the first byte is written, and once more where
//! memory does not hold them.
//!
//! The reader supports all encodings of VTK except LZ4, LZMA, big-endian numbers and several
//! pieces. Without `occupied` and `distance` the voxels are those where the only cell array is not
//! 0.

mod blocks;
mod image;
mod read;
mod values;

use std::io::{self, Write};

use self::blocks::{Blocks, LENGTHS, OnBlock};
use crate::base::srgb::Rgba;
use crate::formats::grid::dense;
use crate::formats::grid::level_set::world_distance;
use crate::formats::grid::openvdb::Channel;
use crate::formats::io::deflate::MAX_RATIO;
use crate::formats::{GridSpec, Out, WriteError, assumed_place};
use crate::grid::Channel::{Scalar, Vector};
use crate::grid::{Attribute, Attributes, Bits, Place, VoxelGrid};
use crate::solid::distance::DistanceField;

pub const SPEC: GridSpec = GridSpec {
    extension: "vti",
    name: "VTK",
    carries: "up to 65,536 voxels per axis, as bytes; position, voxel size and up axis; RGBA; \
              attributes; distances",
    read: Some(|input, options| read::read(input, options.memory)),
    file_size: |dims| Some(dense::volume(dims) / MAX_RATIO),
    lost: |grid, _| vec![assumed_place(grid)],
    distances: Some(write_distances),
    distances_size: |dims| Some(4 * dense::volume(dims) / MAX_RATIO),
    has_colors: true,
    attributes: |_| Attribute::ALL,
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

const OCCUPIED: &str = "occupied";
const COLOR: &str = "color";
const DISTANCE: &str = "distance";
const WIDTH: &str = "width";
const UP: &str = "up";

const TAIL: &str = "\n  </AppendedData>\n</VTKFile>\n";

/// Compressed bytes, for each thread, that are kept in memory.
const KEPT: usize = 4 << 20;

/// The name of a channel's cell array, the type of its numbers, and their number per voxel.
fn array_of(channel: Channel) -> (&'static str, &'static str, usize) {
    match channel {
        Channel::Density => (OCCUPIED, "UInt8", 1),
        Channel::Color(_) => (COLOR, "UInt8", 4),
        Channel::Attribute(of, _) => (of.name(), kind_of(of), of.components()),
        Channel::Distance(_) => (DISTANCE, "Float32", 1),
    }
}

/// Compresses the values of a cell array. Returns the numbers before them.
fn compress(grid: &VoxelGrid, channel: Channel, on_block: OnBlock) -> io::Result<Vec<u64>> {
    let mut out = Blocks::new(on_block);
    match channel {
        Channel::Density => dense::occupancy_rows(grid, [0, 1], |row| out.write_all(row))?,
        Channel::Color(colors) => {
            let put = |row: &[Rgba]| out.write_all(row.as_flattened());
            dense::rows(grid, colors, [0; 4], |color| color, put)?;
        }
        Channel::Attribute(of, values) => {
            let components = of.components();
            let put = |row: &[Bits]| {
                row.iter().try_for_each(|bits| {
                    out.write_all(bits.map(u32::to_le_bytes)[..components].as_flattened())
                })
            };
            match values {
                Scalar(values) => dense::rows(grid, values, of.none(), |bits| [bits, 0, 0], put)?,
                Vector(values) => dense::rows(grid, values, of.none(), |bits| bits, put)?,
            }
        }
        Channel::Distance(field) => {
            // Only voxels outside the band have the width, also where a distance is rounded to it.
            let most = world_distance(field, field.width()).next_down();
            let stored = |&distance: &f32| match world_distance(field, distance) {
                number if distance.abs() < field.width() => number.clamp(-most, most),
                number => number,
            };
            let bytes = |distance: &f32| stored(distance).to_le_bytes();
            dense::distance_rows(field, |row| {
                out.write_all(row.iter().map(bytes).collect::<Vec<_>>().as_flattened())
            })?;
        }
    }
    out.finish()
}

/// The type of an attribute's numbers.
fn kind_of(attribute: Attribute) -> &'static str {
    if attribute.is_float() { "Float32" } else { "Int32" }
}

/// The field array of the names of an attribute.
fn name_of_names(attribute: Attribute) -> String {
    format!("{attribute}_names")
}

/// Writes `grid`. Takes 8 bytes of memory for each compressed block, and a constant for each
/// thread.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let names = grid.attributes.iter().flat_map(Attributes::names);
    let names = names.map(|(attribute, names)| texts(&name_of_names(*attribute), names));
    let fields: String = names.collect();
    write_image(grid, &Channel::all(grid), &fields, out)
}

/// Writes `field` in mesh units; outside the band plus or minus its width.
pub fn write_distances(field: &DistanceField, out: &mut Out) -> Result<(), WriteError> {
    let width = format!(
        "      <DataArray type=\"Float32\" Name=\"{WIDTH}\" NumberOfTuples=\"1\" \
         format=\"ascii\">{:?}</DataArray>\n",
        field.width()
    );
    write_image(field.band(), &[Channel::of_distances(field)?], &width, out)
}

/// Writes an image of `channels`, the first one of them active; `fields` is XML.
fn write_image(
    grid: &VoxelGrid,
    channels: &[Channel],
    fields: &str,
    out: &mut Out,
) -> Result<(), WriteError> {
    let mut room = KEPT * rayon::current_num_threads();
    let mut compressed = Vec::with_capacity(channels.len());
    let (mut elements, mut offset) = (String::new(), 0);
    for &channel in channels {
        let mut kept = Some(Vec::new());
        let mut keep = |block: &[u8]| {
            if kept.as_ref().is_some_and(|kept: &Vec<u8>| kept.len() + block.len() > room) {
                kept = None;
            }
            if let Some(kept) = &mut kept {
                kept.extend_from_slice(block);
            }
            // Fails once the work is cancelled.
            out.flush()
        };
        let numbers = compress(grid, channel, &mut keep)?;
        let (name, kind, components) = array_of(channel);
        elements += &format!(
            "        <DataArray type=\"{kind}\" Name=\"{name}\" \
             NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\"/>\n"
        );
        offset += 8 * numbers.len() as u64 + numbers[LENGTHS..].iter().sum::<u64>();
        room -= kept.as_ref().map_or(0, Vec::len);
        compressed.push((channel, numbers, kept));
    }
    let (active, ..) = array_of(channels[0]);
    out.write_all(head(grid, fields, active, &elements).as_bytes())?;
    for (channel, numbers, kept) in compressed {
        numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        match kept {
            Some(blocks) => out.write_all(&blocks)?,
            None => {
                compress(grid, channel, &mut |block| {
                    out.write_all(block)?;
                    // Fails once the work is cancelled, however little was written.
                    out.flush()
                })?;
            }
        }
    }
    Ok(out.write_all(TAIL.as_bytes())?)
}

/// The XML before the bytes of the arrays; `scalars` is the name of the active one.
fn head(grid: &VoxelGrid, fields: &str, scalars: &str, elements: &str) -> String {
    let [nx, ny, nz] = grid.dims();
    let Place { origin: [x, y, z], voxel_size: s } = grid.world.place.unwrap_or_default();
    let up = grid.world.up.axis();
    let extent = format!("0 {nx} 0 {ny} 0 {nz}");
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n  \
           <ImageData WholeExtent=\"{extent}\" Origin=\"{x:?} {y:?} {z:?}\" \
           Spacing=\"{s:?} {s:?} {s:?}\">\n    \
             <FieldData>\n      \
               <DataArray type=\"UInt8\" Name=\"{UP}\" NumberOfTuples=\"1\" \
               format=\"ascii\">{up}</DataArray>\n\
               {fields}    \
             </FieldData>\n    \
             <Piece Extent=\"{extent}\">\n      \
               <CellData Scalars=\"{scalars}\">\n\
               {elements}      \
               </CellData>\n    \
             </Piece>\n  \
           </ImageData>\n  \
           <AppendedData encoding=\"raw\">\n_"
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
