//! NumPy `.npy`: occupancy as an array of shape `(nx, ny, nz)`, index `[x, y, z]`.
//!
//! Written as `bool` in C order, also for grids with colours: scripts expect occupancy, and `.npz`
//! holds both. Read in C or Fortran order, of either byte order, with leading axes of length 1, as
//! `bool`; as integers, occupied unless zero; as floats that are 0 or 1; as `uint8` of shape `(nx,
//! ny, nz, 4)`: red, green, blue and opacity in sRGB, occupied unless the opacity is zero; and as
//! integers of shape `(n, 3)`: the coordinates of the occupied voxels. Only colours in Fortran
//! order and coordinates are in memory as a whole: a file of 4096 cubed is 64 GiB, its grid about a
//! hundredth of that. Writing takes a few MiB besides the grid; reading takes a few times the grid,
//! and 4 bytes per brick of a slice, 1 MiB at 4096 cubed. The format has no world position.
//!
//! A field of distances is an array of `float32`.
//!
//! The format is NumPy Enhancement Proposal 1 (Robert Kern, "A Simple File Format for NumPy
//! Arrays", 2007): a magic string, a version, the length of a header, the header as a Python
//! dictionary, and the elements.

pub(super) mod header;
mod read;
pub(super) mod rgba;

use std::fmt::Display;
use std::io::{self, BufRead, Write};

use self::header::{Fields, Header, Kind, MAGIC};
use crate::formats::grid::dense;
use crate::formats::grid::layers::{LayerPart, Layers};
use crate::formats::io::deflate::{CHUNK, Content, Deflater};
use crate::formats::{GridSpec, LoadedGrid, Out, ReadError, WriteError, lost_colors, lost_place};
use crate::grid::{BRICK, Colors, VoxelGrid};
use crate::solid::distance::DistanceField;

pub const SPEC: GridSpec = GridSpec {
    extension: "npy",
    name: "NumPy",
    carries: "up to 65,536 voxels per axis; occupancy, or distances; RGBA and coordinates are read",
    read: Some(|input, options| read(input, options.memory)),
    file_size: |dims| Some(dense::volume(dims) + header("|b1", &dims).len() as u64),
    lost: |grid, _| {
        vec![lost_place(grid), lost_colors(grid).map(|lost| format!("{lost}: write .npz"))]
    },
    distances: Some(write_distances),
    distances_size: |dims| Some(4 * dense::volume(dims) + header("<f4", &dims).len() as u64),
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

/// Writes `grid` as `bool` in C order, one byte per voxel, in at most 4 MiB of memory.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    out.write_all(&header("|b1", &grid.dims()))?;
    for (layers, part) in Layers::all_parts(grid, None, 1) {
        layers.occupied(&part).write_to(out)?;
    }
    Ok(())
}

/// Writes an array, like [`write`](fn@write), in parallel.
pub(super) fn deflate(grid: &VoxelGrid, out: &mut Deflater) -> io::Result<()> {
    out.write_all(&header("|b1", &grid.dims()))?;
    deflate_parts(grid, None, 1, out, |layers, part| layers.occupied(part))
}

/// Deflates the colours of `grid` in C order, `uint8` of shape `(nx, ny, nz, 4)`: red, green, blue
/// and opacity in sRGB, zeros for empty voxels.
pub(super) fn deflate_colors(
    grid: &VoxelGrid,
    colors: &Colors,
    out: &mut Deflater,
) -> io::Result<()> {
    let [nx, ny, nz] = grid.dims();
    out.write_all(&header("|u1", &[nx, ny, nz, 4]))?;
    deflate_parts(grid, Some(colors), 4, out, |layers, part| layers.colors(part, colors))
}

/// Deflates the parts of an array with `bytes` for a voxel; in parallel, unless they are so small
/// that several fit a chunk.
fn deflate_parts(
    grid: &VoxelGrid,
    colors: Option<&Colors>,
    bytes: u32,
    out: &mut Deflater,
    make: impl Fn(&Layers, &LayerPart) -> Content<'static> + Sync,
) -> io::Result<()> {
    let mut parts = Layers::all_parts(grid, colors, bytes);
    let [_, ny, nz] = grid.dims().map(u64::from);
    if u64::from(BRICK * bytes) * ny * nz < CHUNK as u64 / 2 {
        parts.try_for_each(|(layers, part)| make(&layers, &part).write_to(out))
    } else {
        out.write_each(parts, |(layers, part)| make(&layers, &part))
    }
}

/// Writes `field` as `float32` in C order: signed distances in voxels, outside the band plus or
/// minus its width. Takes the memory of one `x`: `4 ny nz` bytes.
pub fn write_distances(field: &DistanceField, out: &mut Out) -> Result<(), WriteError> {
    let [nx, ny, nz] = field.dims();
    out.write_all(&header("<f4", &field.dims()))?;
    let mut layer = vec![0.0; ny as usize * nz as usize];
    for x in 0..nx {
        field.fill_layer(x, &mut layer);
        layer.iter().try_for_each(|distance| out.write_all(&distance.to_le_bytes()))?;
    }
    Ok(())
}

/// Bytes before the header's text: the magic string, a version and the length of the text.
const START: usize = 10;

/// The header of an array in C order with elements of type `descr`.
pub(super) fn header<N: Display>(descr: &str, shape: &[N]) -> Vec<u8> {
    let shape: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The elements begin at a multiple of 64 bytes, as NumPy writes them.
    let padded = (START + text.len() + 1).next_multiple_of(64) - START;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let length = (text.len() as u16).to_le_bytes();
    [&MAGIC[..], &[1, 0], &length, text.as_bytes()].concat()
}

pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let fields = Fields::read(input)?;
    let Some(array) = fields.coordinates() else {
        let header = fields.grid()?;
        let grid = read_grid(input, &header, limit)?;
        return Ok(LoadedGrid::new(grid, Vec::from_iter(header.doubt())));
    };
    let grid = read::coordinates(input, &array, limit)?;
    end(input, array.count * 3 * array.integer.bytes as u64)?;
    let [x, y, z] = grid.dims();
    let warning = format!(
        "coordinates do not say how large the grid is: it is of {x}x{y}x{z} voxels, up to the \
         largest coordinate along each axis"
    );
    Ok(LoadedGrid::new(grid, vec![warning]))
}

/// Reads the array of a grid after its `header`.
pub(super) fn read_grid(
    input: &mut dyn BufRead,
    header: &Header,
    limit: u64,
) -> Result<VoxelGrid, ReadError> {
    if header.element.kind == Kind::Rgba {
        return rgba::ColorArray::read_after(header, input, limit)?.grid(limit);
    }
    let bricks = read::bricks(input, header, limit)?;
    end(input, header.bytes())?;
    Ok(VoxelGrid::from_bricks(header.dims, bricks)?)
}

/// Refuses more than the array's `bytes`.
fn end(input: &mut dyn BufRead, bytes: u64) -> Result<(), ReadError> {
    ensure!(input.fill_buf()?.is_empty(), "there are more bytes after the array's {bytes}");
    Ok(())
}
