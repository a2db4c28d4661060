//! NumPy `.npz`: occupancy as in `.npy`, world position and colours.
//!
//! A zip archive of `.npy` arrays: `occupied`, `bool` of shape `(nx, ny, nz)`; for a grid with a
//! world position, `origin`, its corner, three `float64`, `voxel_size`, a `float64`, and `up`, the
//! letter of the axis; for a grid with colours, `rgba`, `uint8` of shape `(nx, ny, nz, 4)` in sRGB,
//! zeros for empty voxels. Written deflated, as a stream. Read deflated or stored; other arrays are
//! ignored. Without `occupied` the voxels are those of `rgba` that are not fully transparent;
//! without either, those of the first suitable array.
//!
//! Attributes are arrays in the order of `coords`, the occupied voxels as `int32` of shape
//! `(n, 3)`: `normal`, `float32` of shape `(n, 3)`; `triangle`, `material` and `label`, `int32`;
//! `area`, `float32`. `material_names` and `label_names` are the names by index, in UTF-32. They
//! are read if `coords` are the voxels in the order in which they are written.
//!
//! A file of distances has the arrays of [`write_distances`]; `occupied` is then the solid inside.

mod read;
mod zip;

use std::io::{self, Write};
use std::iter;

use flate2::Compression;
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter};

use crate::formats::grid::{dense, npy};
use crate::formats::io::deflate::{Deflater, MAX_RATIO};
use crate::formats::{GridSpec, Out, WriteError};
use crate::grid::{Attribute, Channel, Place, VoxelGrid, World};
use crate::solid::distance::DistanceField;

pub use read::read;
pub(super) use read::{check_values, known_values};

pub const SPEC: GridSpec = GridSpec {
    extension: "npz",
    name: "NumPy",
    carries: "up to 65,536 voxels per axis; position, voxel size, up axis, RGBA and attributes, or \
              distances, as arrays",
    read: Some(|input, options| read(input, options.memory)),
    file_size: |dims| Some(dense::volume(dims) / MAX_RATIO),
    distances: Some(write_distances),
    distances_size: |dims| Some(dense::volume(dims) / MAX_RATIO),
    has_colors: true,
    attributes: |_| Attribute::ALL,
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

const OCCUPIED: &str = "occupied.npy";
const RGBA: &str = "rgba.npy";
const ORIGIN: &str = "origin.npy";
const VOXEL_SIZE: &str = "voxel_size.npy";
const UP: &str = "up.npy";
const COORDS: &str = "coords.npy";
const DISTANCES: &str = "distances.npy";
const WIDTH: &str = "width.npy";

/// Writes `grid`. Memory per thread is constant.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let mut zip = ZipArchiveWriter::new(out);
    put_world(&mut zip, grid.world)?;
    put(&mut zip, OCCUPIED, |out| npy::deflate(grid, out))?;
    if let Some(colors) = &grid.colors {
        put(&mut zip, RGBA, |out| npy::deflate_colors(grid, colors, out))?;
    }
    if let Some(attributes) = &grid.attributes {
        put_coords(&mut zip, grid.occupied(), grid.voxels())?;
        for (attribute, channel) in attributes.channels() {
            put_attribute(&mut zip, grid, *attribute, channel)?;
        }
        for (attribute, names) in attributes.names() {
            put_texts(&mut zip, &file_of_names(*attribute), &[names.len()], names)?;
        }
    }
    zip.finish().map_err(io_error)?;
    Ok(())
}

/// Writes `field`: `coords`, `int32` of shape `(n, 3)`, the voxels of the band; `distances`,
/// `float32` of shape `(n,)`, their signed distances in voxels; `width`, a `float32`; and
/// `occupied`, the voxels inside, with their world position as in other files.
pub fn write_distances(field: &DistanceField, out: &mut Out) -> Result<(), WriteError> {
    let mut zip = ZipArchiveWriter::new(out);
    put_world(&mut zip, field.world())?;
    let count = field.band().occupied();
    put(&mut zip, WIDTH, |out| {
        out.write_all(&npy::header::<u64>("<f4", &[]))?;
        out.write_all(&field.width().to_le_bytes())
    })?;
    put_coords(&mut zip, count, field.distances().map(|(voxel, _)| voxel))?;
    put(&mut zip, DISTANCES, |out| {
        out.write_all(&npy::header("<f4", &[count]))?;
        field.distances().try_for_each(|(_, distance)| out.write_all(&distance.to_le_bytes()))
    })?;
    put(&mut zip, OCCUPIED, |out| npy::deflate(field.inside(), out))?;
    zip.finish().map_err(io_error)?;
    Ok(())
}

fn put_coords(
    zip: &mut ZipArchiveWriter<impl Write>,
    count: u64,
    mut voxels: impl Iterator<Item = [u32; 3]>,
) -> io::Result<()> {
    put(zip, COORDS, |out| {
        out.write_all(&npy::header("<i4", &[count, 3]))?;
        voxels.try_for_each(|voxel| out.write_all(voxel.map(u32::to_le_bytes).as_flattened()))
    })
}

/// The array of an attribute.
fn file_of(attribute: Attribute) -> String {
    format!("{attribute}.npy")
}

/// The array of the names of an attribute.
fn file_of_names(attribute: Attribute) -> String {
    format!("{attribute}_names.npy")
}

/// The type of an attribute's numbers.
fn descr_of(attribute: Attribute) -> &'static str {
    if attribute.is_float() { "<f4" } else { "<i4" }
}

/// Adds an attribute of the occupied voxels, in the order of `coords`.
fn put_attribute(
    zip: &mut ZipArchiveWriter<impl Write>,
    grid: &VoxelGrid,
    attribute: Attribute,
    channel: &Channel,
) -> io::Result<()> {
    put(zip, &file_of(attribute), |out| {
        let components = attribute.components();
        let shape = [grid.occupied(), components as u64];
        let shape = if components == 1 { &shape[..1] } else { &shape };
        out.write_all(&npy::header(descr_of(attribute), shape))?;
        channel.of_voxels(grid).try_for_each(|bits| {
            out.write_all(bits.map(u32::to_le_bytes)[..components].as_flattened())
        })
    })
}

fn put_world(zip: &mut ZipArchiveWriter<impl Write>, world: World) -> Result<(), WriteError> {
    let mut put_floats = |name, shape: &[u64], bytes: &[u8]| {
        put(zip, name, |out| {
            out.write_all(&npy::header("<f8", shape))?;
            out.write_all(bytes)
        })
    };
    if let Some(Place { origin, voxel_size }) = world.place {
        put_floats(ORIGIN, &[3], origin.map(f64::to_le_bytes).as_flattened())?;
        put_floats(VOXEL_SIZE, &[], &voxel_size.to_le_bytes())?;
    }
    if world != World::default() {
        put_texts(zip, UP, &[], &[world.up.name()])?;
    }
    Ok(())
}

/// Adds an array of texts in UTF-32, each as long as the longest, with zeros at its end.
fn put_texts(
    zip: &mut ZipArchiveWriter<impl Write>,
    name: &str,
    shape: &[usize],
    texts: &[impl AsRef<str>],
) -> io::Result<()> {
    let lengths = texts.iter().map(|text| text.as_ref().chars().count());
    let length = lengths.max().unwrap_or(0).max(1);
    put(zip, name, |out| {
        out.write_all(&npy::header(&format!("<U{length}"), shape))?;
        for text in texts {
            let characters = text.as_ref().chars().map(u32::from).chain(iter::repeat(0));
            for character in characters.take(length) {
                out.write_all(&character.to_le_bytes())?;
            }
        }
        Ok(())
    })
}

fn put(
    zip: &mut ZipArchiveWriter<impl Write>,
    name: &str,
    write: impl FnOnce(&mut Deflater) -> io::Result<()>,
) -> io::Result<()> {
    let file = zip.new_file(name).compression_method(CompressionMethod::DEFLATE);
    let (mut entry, _) = file.start().map_err(io_error)?;
    let mut content = Deflater::new(&mut entry, Compression::fast());
    write(&mut content)?;
    let (crc, len) = content.finish()?;
    entry.finish(DataDescriptorOutput::new(crc, len)).map_err(io_error)?;
    Ok(())
}

/// The error of the file; of the archive itself there is none.
fn io_error(error: rawzip::Error) -> io::Error {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
