//! The STL reader, of text and of binary files.
//!
//! A binary file is an 80-byte header, a count, and 50 bytes per triangle. It has no magic number,
//! and many begin with `solid`, like text. So a file is classified by its length first.
//!
//! Hand-written: the crate `stl_io` checks only that word, parses text as 32-bit numbers with
//! lower-case keywords, and merges vertices by a hash map, which dominates the time.
//!
//! Every triangle gets three vertices of its own.

mod colors;
mod text;

use crate::base::numbers::{counted, grouped};
use crate::formats::io::bytes::{Budget, u16_at, u32_at};
use crate::formats::mesh::flat_colors::FlatColors;
use crate::formats::mesh::stl::colors::Scheme;
use crate::formats::{LoadedMesh, MeshSpec, ReadError, ReadOptions, check_memory, content};
use crate::mesh::{Mesh, MeshError};

pub const SPEC: MeshSpec = MeshSpec {
    extension: "stl",
    name: "STL",
    carries: "triangles, text or binary; colours of triangles",
    check_start,
    read: |bytes, _, options| read(&bytes, options),
};

/// Bytes before the triangles of a binary file.
const HEADER: usize = 84;
/// Bytes of a triangle of a binary file: normal, three corners, two attribute bytes.
const RECORD: usize = 50;
/// Bytes of a triangle in memory: three vertices and their indices.
const TRIANGLE: u64 = 3 * 24 + 12;
/// Most distinct colours: those of 15 bits, and the default.
const MOST_COLORS: u64 = (1 << 15) + 1;
/// Bytes of memory independent of the file.
const REST: u64 = 4 << 10;

fn read(bytes: &[u8], options: &ReadOptions) -> Result<LoadedMesh, ReadError> {
    let limit = options.memory;
    let whole = binary_count(bytes).is_some_and(|count| HEADER + count * RECORD == bytes.len());
    if !whole && text::is_text(bytes) {
        let vertices = text::most_vertices(bytes) as u64;
        let mut memory = Budget::new(limit);
        memory.take(bytes.len() as u64 + vertices * TRIANGLE / 3 + REST)?;
        let (corners, labels) = text::read(bytes, memory)?;
        return Ok(LoadedMesh::new(soup(corners)?.with_labels(labels), Vec::new()));
    }
    let (records, mut warnings) = records(bytes)?;
    let count = records.len() as u64;
    let scheme = if options.appearance { Scheme::of(bytes, records, &mut warnings) } else { None };
    let for_colors =
        scheme.map_or(0, |_| 4 * count + FlatColors::most_memory(count.min(MOST_COLORS)));
    check_memory(bytes.len() as u64 + count * TRIANGLE + for_colors + REST, limit)?;
    let mesh = soup(records.iter().flat_map(corners).collect()).map_err(located)?;
    let appearance = scheme.map(|scheme| colors::appearance(scheme, records, &mut warnings));
    Ok(LoadedMesh::new(mesh.with_appearance(appearance)?, warnings))
}

/// The mesh of unshared vertices, three per triangle.
fn soup(positions: Vec<[f64; 3]>) -> Result<Mesh, ReadError> {
    // Past `u32`, `Mesh::new` fails: there are too many vertices.
    let triangles = (0..positions.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
    Ok(Mesh::new(positions, triangles.collect())?)
}

/// The number of triangles in the header of a binary file.
fn binary_count(bytes: &[u8]) -> Option<usize> {
    bytes.get(..HEADER).map(|header| u32_at(header, 80) as usize)
}

/// Rejects files that are neither text nor of the length that a binary header implies.
fn check_start(start: &[u8], len: Option<u64>) -> Result<(), ReadError> {
    let (Some(len), Some(count)) = (len, binary_count(start)) else { return Ok(()) };
    let room = len.saturating_sub(HEADER as u64) / RECORD as u64;
    if text::is_text(start) || count as u64 <= room { Ok(()) } else { Err(too_short(count, room)) }
}

fn too_short(count: usize, room: u64) -> ReadError {
    content(format!(
        "the header (bytes 80 to 83) says that it holds {}, but there is room for {}: the file \
         is cut off, or no STL file",
        counted(count as u64, "triangle"),
        grouped(room)
    ))
}

/// The triangles of a binary file, and a warning about trailing bytes.
fn records(bytes: &[u8]) -> Result<(&[[u8; RECORD]], Vec<String>), ReadError> {
    let Some(count) = binary_count(bytes) else {
        bail!(
            "not an STL file: it neither begins with 'solid' nor has a binary file's header of 84 \
             bytes"
        );
    };
    let (records, rest) = bytes[HEADER..].as_chunks::<RECORD>();
    if count > records.len() {
        return Err(too_short(count, records.len() as u64));
    }
    if count == 0 && !records.is_empty() {
        bail!(
            "the header says that there are no triangles, but {} bytes follow, which would be {}: \
             write the number into bytes 80 to 83, little-endian",
            bytes.len() - HEADER,
            records.len()
        );
    }
    let behind = (records.len() - count) * RECORD + rest.len();
    let warning = (behind > 0).then(|| {
        let bytes = counted(behind as u64, "byte");
        format!(
            "{bytes} after the last of the {count} triangles that the header counts were skipped"
        )
    });
    Ok((&records[..count], warning.into_iter().collect()))
}

fn attribute(record: &[u8; RECORD]) -> u16 {
    u16_at(record, RECORD - 2)
}

/// The corners of a triangle, which follow its normal.
fn corners(record: &[u8; RECORD]) -> [[f64; 3]; 3] {
    let (numbers, _) = record.as_chunks::<4>();
    let number = |i: usize| f64::from(f32::from_le_bytes(numbers[i]));
    [3, 6, 9].map(|i| [i, i + 1, i + 2].map(number))
}

/// Adds the triangle of a binary file to an error about its vertex.
fn located(error: ReadError) -> ReadError {
    match error {
        ReadError::Mesh(MeshError::NotFinite { vertex, value }) => {
            let triangle = vertex / 3;
            let byte = HEADER + triangle * RECORD + 12 + vertex % 3 * 12;
            content(format!(
                "triangle {triangle} (counted from 0) has the coordinate {value} in the corner at \
                 byte {byte}, which is not a finite number: remove the triangle or repair the mesh"
            ))
        }
        other => other,
    }
}
