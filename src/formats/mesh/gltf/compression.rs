//! Compressed geometry: `KHR_draco_mesh_compression`, `EXT_meshopt_compression` and
//! `KHR_meshopt_compression`. Decompressed data become buffers: the rest of the reader sees an
//! uncompressed file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use draco_core::{
    DataType, DecodeLimits, DecoderBuffer, DracoError, ErrorKind, GeometryMetadata, MeshDecoder,
    PointAttribute, PointIndex,
};
use meshoptimizer_rs::{Limits, Workspace, codec};
use serde::Deserialize;

use crate::formats::io::bytes::Budget;
use crate::formats::mesh::gltf::accessors::view_bytes;
use crate::formats::mesh::gltf::json::{Accessor, Document, MeshoptExtension, Primitive, View};
use crate::formats::mesh::gltf::parts::{DECOMPRESS, in_primitive};
use crate::formats::read::proportionate;
use crate::formats::{ReadError, content, excerpt, shortened};

/// `KHR_draco_mesh_compression` of a primitive.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Draco {
    buffer_view: usize,
    /// By name, the unique ids of attributes in the compressed data.
    attributes: BTreeMap<String, u32>,
}

/// `KHR_meshopt_compression` of a buffer view.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meshopt {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: usize,
    count: usize,
    mode: String,
    filter: Option<String>,
}

type Buffers<'b> = Vec<Cow<'b, [u8]>>;

/// Decompresses the views and attributes without uncompressed data. Returns all buffers.
pub(super) fn decompress<'b>(
    document: &mut Document,
    buffers: Buffers<'b>,
    memory: &mut Budget,
) -> Result<Buffers<'b>, ReadError> {
    let Document { meshes, accessors, buffer_views: views, .. } = document;
    let bytes = buffers.iter().map(|buffer| buffer.len() as u64).sum();
    let mut room = Room { memory, left: proportionate(bytes) };
    let mut arrays = Compressed { accessors, views, buffers, sources: BTreeMap::new() };
    arrays.decompress_views(&mut room)?;
    for (at, mesh) in meshes.iter().enumerate() {
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            let error = |what: String| in_primitive(at, index, &what);
            let Some(draco) = &primitive.extensions.draco else { continue };
            let parts = parts(primitive, draco);
            if arrays.is_missing(draco, &parts).map_err(error)? {
                let counts = arrays.counts(primitive, draco).map_err(error)?;
                let [kept, besides] = counts.memory();
                room.take(kept, besides)?;
                arrays.decompress_parts(draco, &parts, &counts).map_err(error)?;
            }
        }
    }
    Ok(arrays.buffers)
}

/// Limits of the memory for decompressing.
struct Room<'m> {
    memory: &'m mut Budget,
    /// The remaining sum of all allocations, which bounds the time too.
    left: u64,
}

impl Room<'_> {
    /// Takes `kept` bytes, and during the decoding `besides` more.
    fn take(&mut self, kept: u64, besides: u64) -> Result<(), ReadError> {
        let needed = kept.saturating_add(besides);
        self.memory.take(needed)?;
        self.memory.give_back(besides);
        self.left = self.left.checked_sub(needed).ok_or_else(|| {
            content(format!(
                "its compressed geometry takes more than 2 GiB of memory for each MB of its \
                 buffers, as no model does: {DECOMPRESS}"
            ))
        })?;
        Ok(())
    }
}

/// A part of a Draco stream: the accessor that describes it, and the unique id of its attribute;
/// `None` for the indices.
type DracoPart = (usize, Option<u32>);

/// The parts of the stream of a primitive. Voxels need no directions.
fn parts(primitive: &Primitive, draco: &Draco) -> Vec<DracoPart> {
    let names = draco.attributes.iter().filter(|(name, _)| !DIRECTIONS.contains(&&name[..]));
    let attributes =
        names.filter_map(|(name, &id)| Some((*primitive.attributes.get(name)?, Some(id))));
    primitive.indices.map(|indices| (indices, None)).into_iter().chain(attributes).collect()
}

const DIRECTIONS: [&str; 2] = ["NORMAL", "TANGENT"];

/// The arrays of a document.
struct Compressed<'d, 'b> {
    accessors: &'d mut [Accessor],
    views: &'d mut Vec<View>,
    buffers: Buffers<'b>,
    /// By accessor, the buffer view with the Draco stream that it was decompressed from, and the
    /// id.
    sources: BTreeMap<usize, (usize, Option<u32>)>,
}

impl Compressed<'_, '_> {
    /// Decompresses the views of buffers without data.
    fn decompress_views(&mut self, room: &mut Room) -> Result<(), ReadError> {
        for index in 0..self.views.len() {
            let view = &self.views[index];
            let extension = view.extensions.as_ref().and_then(MeshoptExtension::content);
            let Some(meshopt) = extension else { continue };
            if self.buffers.get(view.buffer).is_some_and(|buffer| buffer.is_empty()) {
                room.take(view.byte_length as u64, 0)?;
                let error = |what| content(format!("buffer view {index} (counted from 0) {what}"));
                let bytes = decoded(meshopt, view, &self.buffers).map_err(error)?;
                (self.views[index].buffer, self.views[index].byte_offset) = (self.buffers.len(), 0);
                self.buffers.push(Cow::Owned(bytes));
            }
        }
        Ok(())
    }

    /// Whether one of the `parts` has no data, neither decompressed nor in the file.
    fn is_missing(&self, draco: &Draco, parts: &[DracoPart]) -> Result<bool, String> {
        let mut is_missing = false;
        for &(accessor, id) in parts {
            let has_data = |of: &Accessor| of.buffer_view.is_some();
            match self.sources.get(&accessor) {
                Some(&source) if source != (draco.buffer_view, id) => {
                    return Err(format!(
                        "its accessor {accessor} (counted from 0) is also that of another Draco \
                         stream: {DECOMPRESS}"
                    ));
                }
                Some(_) => {}
                None => is_missing |= !self.accessors.get(accessor).is_some_and(has_data),
            }
        }
        Ok(is_missing)
    }

    fn stream(&self, draco: &Draco) -> Result<&[u8], String> {
        let bytes = view_bytes(self.views, &self.buffers, draco.buffer_view);
        bytes.map_err(|what| format!("its Draco stream {what}"))
    }

    /// The counts of a primitive, at least those of its stream: Draco drops degenerate triangles,
    /// and not every exporter updates the accessors.
    fn counts(&self, primitive: &Primitive, draco: &Draco) -> Result<Counts, String> {
        let count = |index: Option<usize>| self.accessors.get(index?).map(|of| of.count as u64);
        let position = primitive.attributes.get("POSITION").copied();
        let (Some(corners), Some(vertices)) = (count(primitive.indices), count(position)) else {
            let what = "has a Draco stream, but no accessor of positions or indices";
            return Err(format!("it {what}: export it again"));
        };
        let [triangles, least, seams] = header(self.stream(draco)?).map_err(|e| malformed(&e))?;
        let attributes = draco.attributes.len() as u64;
        let counts = Counts { corners, vertices, attributes, seams };
        // Seams may divide vertices.
        if triangles.saturating_mul(3) <= corners && least <= vertices {
            Ok(counts)
        } else {
            Err(counts.are_exceeded_by(triangles, &format!("at least {least}")))
        }
    }

    fn decompress_parts(
        &mut self,
        draco: &Draco,
        parts: &[DracoPart],
        counts: &Counts,
    ) -> Result<(), String> {
        let limits = DecodeLimits::default()
            .with_max_faces(counts.corners / 3)
            .with_max_decoded_bytes(counts.decoded_bytes());
        let mut stream = DecoderBuffer::new(self.stream(draco)?).with_limits(limits);
        let mut mesh = draco_core::Mesh::new();
        MeshDecoder::new().decode(&mut stream, &mut mesh).map_err(|e| malformed(&e))?;
        let (triangles, points) = (mesh.num_faces() as u64, mesh.num_points());
        if points as u64 > counts.vertices {
            return Err(counts.are_exceeded_by(triangles, &points.to_string()));
        }
        for &(accessor, id) in parts {
            let bytes = match id {
                None => Some(indices(&mesh)),
                Some(id) => mesh.attribute_by_unique_id(id).and_then(|of| values(of, points)),
            };
            let (component_type, stride, bytes) = bytes.ok_or_else(|| {
                let id = id.unwrap_or_default();
                format!("its Draco stream has no numbers with the id {id}: export it again")
            })?;
            let Some(described) = self.accessors.get_mut(accessor) else { continue };
            (described.component_type, described.count) = (component_type, bytes.len() / stride);
            (described.buffer_view, described.byte_offset) = (Some(self.views.len()), 0);
            self.sources.insert(accessor, (draco.buffer_view, id));
            self.views.push(View {
                buffer: self.buffers.len(),
                byte_offset: 0,
                byte_length: bytes.len(),
                byte_stride: Some(stride),
                extensions: None,
            });
            self.buffers.push(Cow::Owned(bytes));
        }
        Ok(())
    }
}

struct Counts {
    corners: u64,
    vertices: u64,
    attributes: u64,
    /// Attributes with seams of their own.
    seams: u64,
}

impl Counts {
    /// An upper bound of bytes of the attributes, each of four floats or less.
    fn decoded_bytes(&self) -> u64 {
        self.vertices.saturating_mul(16).saturating_mul(self.attributes)
    }

    /// Upper bounds of the bytes of the decompressed data, and of the decoder's working memory. The
    /// latter was measured: 40 bytes per triangle and 45 more per triangle and seam, 4 per byte of
    /// an attribute, and 5 MB of tables.
    fn memory(&self) -> [u64; 2] {
        let for_triangles = (self.corners / 3).saturating_mul(64 + 48 * self.seams);
        let for_attributes = self.decoded_bytes().saturating_mul(5);
        let kept = self.decoded_bytes().saturating_add(self.corners.saturating_mul(4));
        [kept, for_triangles.saturating_add(for_attributes).saturating_add(8 << 20)]
    }

    fn are_exceeded_by(&self, triangles: u64, vertices: &str) -> String {
        format!(
            "its accessors have {} indices and {} vertices, but its Draco stream has {triangles} \
             triangles and {vertices} vertices: export it again",
            self.corners, self.vertices
        )
    }
}

/// The numbers of triangles, vertices and attributes with seams in the header of a Draco stream.
fn header(stream: &[u8]) -> Result<[u64; 3], DracoError> {
    let mut stream = DecoderBuffer::new(stream);
    // "DRACO", the version, the geometry type (1: triangles), the method, and 16 bits of flags.
    let mut start = [0; 11];
    stream.decode_bytes(&mut start)?;
    let [.., method, _, flags] = start;
    if start[..8] != *b"DRACO\x02\x02\x01" {
        return Err(DracoError::general("it is not a triangle mesh of version 2.2"));
    }
    if flags & 0x80 != 0 {
        GeometryMetadata::decode(&mut stream)?;
    }
    if method != EDGEBREAKER {
        return Ok([stream.decode_varint()?, stream.decode_varint()?, 0]);
    }
    let _traversal = stream.decode_u8()?;
    let vertices = stream.decode_varint()?;
    Ok([stream.decode_varint()?, vertices, stream.decode_u8()?.into()])
}

const EDGEBREAKER: u8 = 1;

fn malformed(error: &DracoError) -> String {
    let what = match error.kind() {
        ErrorKind::LimitExceeded => "it has more attributes than the file says".into(),
        _ => shortened(error.message(), 120),
    };
    format!("its Draco stream is malformed: {what}; export it again")
}

/// The type of a component in glTF, the bytes of an element, and all elements.
type Elements = (u32, usize, Vec<u8>);

fn indices(mesh: &draco_core::Mesh) -> Elements {
    let mut bytes = Vec::with_capacity(12 * mesh.num_faces());
    bytes.extend(mesh.faces().as_flattened().iter().flat_map(|point| point.0.to_le_bytes()));
    (UNSIGNED_INT, 4, bytes)
}

const UNSIGNED_INT: u32 = 5125;

/// The values of an attribute at all points, if glTF has their type.
fn values(attribute: &PointAttribute, points: usize) -> Option<Elements> {
    let component_type = match attribute.data_type() {
        DataType::Int8 => 5120,
        DataType::Uint8 => 5121,
        DataType::Int16 => 5122,
        DataType::Uint16 => 5123,
        DataType::Uint32 => UNSIGNED_INT,
        DataType::Float32 => 5126,
        _ => return None,
    };
    let size = usize::from(attribute.num_components()) * attribute.data_type().byte_length();
    let mut bytes = Vec::with_capacity(points * size);
    for point in 0..points {
        let at = attribute.mapped_index(PointIndex(point as u32)).0 as usize;
        bytes.extend(attribute.buffer().data().get(at.checked_mul(size)?..)?.get(..size)?);
    }
    Some((component_type, size, bytes))
}

/// The decompressed bytes of a view.
fn decoded(meshopt: &Meshopt, view: &View, buffers: &[Cow<[u8]>]) -> Result<Vec<u8>, String> {
    let &Meshopt { buffer, byte_offset, byte_length, byte_stride, count, .. } = meshopt;
    let end = byte_offset.checked_add(byte_length);
    let stream = buffers.get(buffer).and_then(|buffer| buffer.get(byte_offset..end?));
    let stream = stream.ok_or("has a meshopt stream that reaches past the end of its buffer")?;
    let stride = view.byte_stride.unwrap_or(byte_stride);
    if count.checked_mul(byte_stride) != Some(view.byte_length) || stride != byte_stride {
        return Err(format!(
            "has {} bytes at a stride of {stride}, but its meshopt stream has {count} elements of \
             {byte_stride}: export it again",
            view.byte_length
        ));
    }
    let malformed = |error| format!("has a malformed meshopt stream ({error}): export it again");
    let unknown = |what: &str| format!("is compressed with '{}': {DECOMPRESS}", excerpt(what));
    // The memory for `count` is taken.
    let mut workspace = Workspace::new(Limits { max_bytes: usize::MAX, max_work: u64::MAX });
    let decode = match &meshopt.mode[..] {
        "ATTRIBUTES" => codec::decode_vertex_buffer,
        "TRIANGLES" => codec::decode_index_buffer,
        "INDICES" => codec::decode_index_sequence,
        mode => return Err(unknown(mode)),
    };
    let mut bytes = decode(count, byte_stride, stream, &mut workspace).map_err(malformed)?;
    let filter = match meshopt.filter.as_deref() {
        None | Some("NONE") => return Ok(bytes),
        Some("OCTAHEDRAL") => codec::decode_filter_oct,
        Some("QUATERNION") => codec::decode_filter_quat,
        Some("EXPONENTIAL") => codec::decode_filter_exp,
        Some("COLOR") => codec::decode_filter_color,
        Some(filter) => return Err(unknown(filter)),
    };
    filter(&mut bytes, count, byte_stride, &mut workspace).map_err(malformed)?;
    Ok(bytes)
}
