//! The PLY reader: text and binary, of either byte order.
//!
//! A header declares elements, each so many records of the same properties; what is not needed is
//! skipped by what is declared of it. Written here rather than taken from `ply-rs-bw`, which reads
//! text as 32-bit numbers and allocates several times for each face: this reads a face into the same
//! few bytes each time.

mod body;
mod build;
mod header;

use crate::formats::ply::body::{Binary, Text, Values, count_faces, read_records};
use crate::formats::ply::build::{Build, Part};
use crate::formats::ply::header::{Encoding, Header, Role};
use crate::formats::polygons::{CROSSING, CUT};
use crate::formats::{Loaded, MeshSpec, ReadError, check_memory, counted};
use crate::mesh::Mesh;

/// Stanford's.
pub const SPEC: MeshSpec = MeshSpec {
    extension: "ply",
    name: "Stanford",
    carries: "positions, faces of any shape, triangle strips, text or binary; colours are not used yet",
    read: |bytes, _, options| read_within(&bytes, options.memory),
};

/// Bytes per corner of a list, which grows as it is read.
const CORNER: u64 = 3 * 8;
/// Bytes of a byte of the header: its shortest property is `property int x`.
const HEADER: u64 = 16;
/// Whatever does not depend on the file.
const REST: u64 = 16 << 10;

/// Reads the mesh in `bytes`.
///
/// # Errors
/// No PLY file, malformed or cut off, indices out of range, coordinates that are not finite, no faces.
pub fn read(bytes: &[u8]) -> Result<Loaded, ReadError> {
    read_within(bytes, u64::MAX)
}

/// The same, if it takes at most `limit` bytes of memory at any time, `bytes` included.
///
/// # Errors
/// It could take more; all that [`read`] refuses.
pub fn read_within(bytes: &[u8], limit: u64) -> Result<Loaded, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Content("the file is empty".into()));
    }
    let start = header::len(bytes)?;
    check_memory(bytes.len() as u64 + HEADER * start as u64 + REST, limit)?;
    let header = Header::parse(&bytes[..start])?;
    let values = bytes.len() - start;
    match header.encoding {
        Encoding::Text => {
            read_body(&header, bytes, limit, values.div_ceil(2), Text::new(bytes, start))
        }
        Encoding::Little => {
            read_body(&header, bytes, limit, values, Binary::<false>::new(bytes, start))
        }
        Encoding::Big => {
            read_body(&header, bytes, limit, values, Binary::<true>::new(bytes, start))
        }
    }
}

/// Reads what follows the header: at most `most_values` numbers.
fn read_body<'a, V: Values<'a> + Clone>(
    header: &Header,
    bytes: &[u8],
    limit: u64,
    most_values: usize,
    values: V,
) -> Result<Loaded, ReadError> {
    header.check_room(most_values as u64)?;
    let vertices = header.count(Role::Vertex);
    let faces = header.count(Role::Face) + header.count(Role::Strip);
    if faces == 0 {
        return Err(nothing_to_voxelize(vertices, header.count(Role::Edge)));
    }
    let fixed = bytes.len() as u64 + HEADER * header.len as u64 + REST + 24 * vertices;
    let most = |triangles: u64, largest: u64| {
        // Faces are expected to be triangles, and the vector to grow where they are not.
        let room = if triangles > faces { 3 * triangles } else { faces };
        fixed + 12 * room + (CUT + CORNER) * largest
    };
    if most(most_values as u64, most_values as u64) > limit {
        let counts = count_faces(header, values.clone())?;
        check_memory(most(counts.triangles, counts.largest), limit)?;
    }

    let mut build = Build::new(vertices as usize, faces as usize);
    let end = if header.has_faces_first() {
        read_records(header, values.clone(), Part::Vertices, &mut build)?;
        read_records(header, values, Part::Faces, &mut build)?
    } else {
        read_records(header, values, Part::All, &mut build)?
    };
    if build.triangles.is_empty() {
        return Err(nothing_to_voxelize(
            vertices,
            build.lean.saturating_add(header.count(Role::Edge)),
        ));
    }
    let warnings = warnings(header, &build, end.left());
    Ok(Loaded { mesh: Mesh::new(build.positions, build.triangles)?, warnings })
}

fn nothing_to_voxelize(vertices: u64, lean: u64) -> ReadError {
    ReadError::Content(match (vertices, lean) {
        (0, 0) => "no faces found: is this a PLY mesh?".into(),
        (points, 0) => {
            let points = counted(points, "point", "points");
            format!("no faces found, only {points}: reconstruct the surface of a point cloud first")
        }
        (_, lean) => {
            let lean = counted(lean, "point or line", "points and lines");
            format!("no faces found, only {lean}: nothing to voxelize")
        }
    })
}

fn warnings(header: &Header, build: &Build, left: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    let lean = build.lean.saturating_add(header.count(Role::Edge));
    if lean > 0 {
        let lean = counted(lean, "point or line was", "points and lines were");
        warnings.push(format!("{lean} skipped: no surface"));
    }
    if build.cutter.crossing > 0 {
        warnings.push(format!("{} {CROSSING}", build.cutter.crossing));
    }
    if header.has_colors() {
        warnings.push("colours and textures are not used yet".into());
    }
    if left > 0 {
        let left = counted(left as u64, "byte", "bytes");
        warnings.push(format!("{left} after the last element were skipped"));
    }
    warnings
}
