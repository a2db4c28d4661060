//! The PLY reader: text and binary, of either byte order.
//!
//! A header declares elements, each a number of records with the same properties; unused elements
//! and properties are skipped.
//!
//! Hand-written: the crate `ply-rs-bw` parses text as 32-bit numbers and allocates several times
//! per face; here all faces share one buffer.

mod body;
mod build;
mod header;

use std::slice::from_ref;

use crate::base::numbers::counted;
use crate::formats::io::warnings::{counted_warning, only_points_and_lines};
use crate::formats::mesh::flat_colors::FlatColors;
use crate::formats::mesh::ply::body::{
    Binary, FaceCounts, Fault, Text, Values, count_faces, read_records,
};
use crate::formats::mesh::ply::build::{Attributes, Build};
use crate::formats::mesh::ply::header::{EDGE, Encoding, FACE, Header, STRIP, VERTEX};
use crate::formats::mesh::polygons::TRIANGULATION;
use crate::formats::mesh::textures::TextureLoader;
use crate::formats::{LoadedMesh, MeshSpec, ReadError, ReadOptions, Sidecars, check_memory};

pub const SPEC: MeshSpec = MeshSpec {
    extension: "ply",
    name: "Stanford",
    carries: "faces of any shape, triangle strips, text or binary; colours of vertices or faces, \
              textures",
    check_start: |start, _| header::check_start(start),
    read: |bytes, sidecars, options| read(&bytes, sidecars, options),
};

/// Bytes per number of a list, which grows while it is read.
const CORNER: u64 = 3 * 8;
/// Bytes of memory per byte of the header, whose shortest property is `property int x`.
const HEADER: u64 = 16;
/// Bytes of memory independent of the file.
const REST: u64 = 16 << 10;

/// Reads the mesh in `bytes`. Textures are among the `sidecars`.
fn read(bytes: &[u8], sidecars: &Sidecars, options: &ReadOptions) -> Result<LoadedMesh, ReadError> {
    let start = header::len(bytes)?;
    let for_header = bytes.len() as u64 + HEADER * start as u64 + REST;
    check_memory(for_header, options.memory)?;
    let header = Header::parse(&bytes[..start])?;
    let file = File { header: &header, sidecars, options: *options, for_header };
    let values = bytes.len() - start;
    match header.encoding {
        Encoding::Text => {
            let read = |is_by_line| {
                file.read(values.div_ceil(2), Text::new(bytes, start, is_by_line), is_by_line)
            };
            match read(true) {
                Err(error @ ReadError::Line { .. }) => read(false).map_err(|_| error),
                result => result,
            }
        }
        Encoding::Little => file.read(values, Binary::<false>::new(bytes, start), true),
        Encoding::Big => file.read(values, Binary::<true>::new(bytes, start), true),
    }
}

/// A file whose header was read.
struct File<'a> {
    header: &'a Header<'a>,
    sidecars: &'a Sidecars,
    options: ReadOptions,
    /// Bytes of memory in use.
    for_header: u64,
}

impl File<'_> {
    /// Reads the records after the header, at most `most_values` numbers. More may follow only if
    /// `more_is_allowed`.
    fn read<V: Values>(
        &self,
        most_values: usize,
        values: V,
        more_is_allowed: bool,
    ) -> Result<LoadedMesh, ReadError> {
        let header = self.header;
        header.check_room(most_values as u64)?;
        let vertices = header.count(VERTEX);
        let faces = header.count(FACE) + header.count(STRIP);
        if faces == 0 {
            return Err(nothing_to_voxelize(vertices, header.count(EDGE)));
        }
        let mut warnings = Vec::new();
        let lines = header.unknown.quoted_and_counted();
        if header.unknown.count > 0 {
            warnings.push(format!("header lines were skipped: {lines} are not PLY keywords"));
        }
        let attributes = if self.options.appearance {
            let named = header.textures.iter().map(|name| [String::from_utf8_lossy(name)]);
            self.sidecars.note_images(named, from_ref(&self.sidecars.folder));
            Attributes::of(header, &mut warnings)
        } else {
            Attributes::default()
        };
        let needed = self.memory(attributes, [vertices, faces], most_values, &values)?;
        let counts = [vertices as usize, faces as usize];
        let names = if attributes.has_texcoords() { &header.textures[..] } else { &[] };
        let loader = TextureLoader::new(self.sidecars, self.options.memory - needed);
        let mut build = Build::new(attributes, counts, names, loader, &mut warnings);
        let end = read_records(header, values, &mut build)?;
        if !more_is_allowed && end.left() > 0 {
            return Err(end.error("the last element", Fault::Other("more numbers follow".into())));
        }
        let more = "more numbers than the header declares: they were skipped";
        warnings.extend(counted_warning(end.extra(), ["line has", "lines have"], more));
        let mut faults = build.triangulator.faults;
        faults.points_and_lines = faults.points_and_lines.saturating_add(header.count(EDGE));
        if build.triangles.is_empty() {
            return Err(nothing_to_voxelize(vertices, faults.points_and_lines));
        }
        warnings.extend(faults.warnings());
        let skipped = "after the last element were skipped";
        warnings.extend(counted_warning(end.left() as u64, ["byte", "bytes"], skipped));
        Ok(LoadedMesh::new(build.finish(&mut warnings)?, warnings))
    }

    /// An upper bound of the memory for reading, in bytes, without textures.
    fn memory<V: Values>(
        &self,
        attributes: Attributes,
        [vertices, faces]: [u64; 2],
        most_values: usize,
        values: &V,
    ) -> Result<u64, ReadError> {
        let bytes = |is_there: bool, bytes: u64| if is_there { bytes } else { 0 };
        let per_vertex =
            24 + bytes(attributes.vertex_colors, 8) + bytes(attributes.vertex_texcoords, 8);
        let per_triangle =
            12 + bytes(attributes.has_texcoords(), 24) + bytes(attributes.has_materials(), 4);
        let fixed = self.for_header + per_vertex * vertices;
        let for_faces = if attributes.face_colors { FlatColors::most_memory(faces) } else { 0 };
        let most = |FaceCounts { triangles, largest, texcoords }: FaceCounts| {
            // Capacity is for triangles; the lists grow if faces have more corners.
            let room = if triangles > faces { 3 * triangles } else { faces };
            fixed
                + for_faces
                + per_triangle * room
                + (TRIANGULATION + CORNER) * largest
                + bytes(attributes.corner_texcoords, CORNER * texcoords)
        };
        let upper = most_values as u64;
        let needed = most(FaceCounts { triangles: upper, largest: upper, texcoords: upper });
        // Textures may use the memory left.
        if needed <= self.options.memory && !attributes.has_texcoords() {
            return Ok(needed);
        }
        let needed = most(count_faces(self.header, values.clone())?);
        check_memory(needed, self.options.memory)?;
        Ok(needed)
    }
}

fn nothing_to_voxelize(vertices: u64, points_and_lines: u64) -> ReadError {
    ReadError::Content(match (vertices, points_and_lines) {
        (0, 0) => "no faces found: is this a PLY mesh?".into(),
        (points, 0) => {
            let points = counted(points, "point");
            format!("no faces found, only {points}: reconstruct the surface of a point cloud first")
        }
        (_, points_and_lines) => only_points_and_lines(points_and_lines),
    })
}
