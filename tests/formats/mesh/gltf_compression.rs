//! glTF with geometry that is compressed by Draco or meshopt: the same as uncompressed.

use super::gltf::read;
use super::*;
use crate::common::compression::{
    AXES_AND_TURNS, Arrays, DRACO, MESHOPT, MESHOPT_1, decode, draco, meshopt, plain, sections,
};
use crate::common::files::glb;

/// A corner: bits of its position and texture coordinates, and its colour.
type Corner = ([u64; 3], [u32; 2], [u16; 4]);

/// The triangles of what is read without a warning, in an order that is that of no file.
fn triangles(document: &str, data: &[u8]) -> Vec<[Corner; 3]> {
    let loaded = read(glb(document, Some(data))).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let (mesh, look) = (&loaded.mesh, loaded.mesh.appearance().unwrap());
    let corner = |vertex: u32, uv: [f32; 2]| {
        let vertex = vertex as usize;
        let position = mesh.positions()[vertex].map(f64::to_bits);
        (position, uv.map(f32::to_bits), look.vertex_colors[vertex])
    };
    let triangle = |(triangle, uvs): (&[u32; 3], &[[f32; 2]; 3])| {
        let mut corners: [Corner; 3] = std::array::from_fn(|n| corner(triangle[n], uvs[n]));
        let least = (0..3).min_by_key(|&n| corners[n]).unwrap();
        corners.rotate_left(least);
        corners
    };
    let mut triangles: Vec<_> = mesh.triangles().iter().zip(&look.uvs).map(triangle).collect();
    triangles.sort();
    triangles
}

fn uncompressed() -> Vec<[Corner; 3]> {
    let (document, data) = plain();
    let found = triangles(&document, &data);
    assert_eq!(found.len(), 4);
    assert_eq!(BTreeSet::from_iter(found.as_flattened()).len(), 12);
    found
}

#[test]
fn draco_streams_are_read_as_what_was_compressed() {
    for (name, stream) in DRACO {
        let stream = decode(stream);
        assert_eq!(triangles(&draco(stream.len()), &stream), uncompressed(), "{name}");
        // An encoder may have dropped a degenerate triangle.
        let more = draco(stream.len()).replace(r#""count": 12"#, r#""count": 15"#);
        assert_eq!(triangles(&more, &stream), uncompressed(), "{name}");
    }
}

#[test]
fn meshopt_streams_of_both_extensions_are_read_as_what_was_compressed() {
    let read = |name: &str, arrays: &Arrays| {
        let (document, data) = meshopt(name, &sections(""), arrays);
        triangles(&document, &data)
    };
    assert_eq!(read("EXT_meshopt_compression", &MESHOPT), uncompressed());
    assert_eq!(read("KHR_meshopt_compression", &MESHOPT), uncompressed());
    // As meshoptimizer's own decoder says.
    let filtered = |[r, g, b, a]: [u16; 4]| match [r, g, b] {
        [65535, 0, 0] => [254 * 257, 257, 0, a],
        [0, 65535, 0] => [0, 254 * 257, 0, a],
        [0, 0, 65535] => [257, 0, 65535, a],
        _ => [r, g, b, a],
    };
    let mut expected = uncompressed();
    expected.as_flattened_mut().iter_mut().for_each(|corner| corner.2 = filtered(corner.2));
    assert_eq!(read("KHR_meshopt_compression", &MESHOPT_1), expected);
}

#[test]
fn octahedral_and_quaternion_filters_are_undone() {
    let sections = r#""meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing":
        {"attributes": {"ROTATION": 1}}}}]"#;
    let (document, data) = meshopt("EXT_meshopt_compression", sections, &AXES_AND_TURNS);
    let mesh = read(glb(&document, Some(&data))).unwrap().mesh;
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let minus = |p: [f64; 3]| p.map(|c| -c);
    let axes = [x, y, z, minus(x), minus(y), minus(z)];
    let turned = axes.map(|[x, y, z]| [-x, -y, z]);
    assert_eq!(mesh.positions(), [axes, turned].concat());
}

#[test]
fn uncompressed_data_are_preferred() {
    // The streams are of no use.
    let (document, data) = plain();
    let draco = r#""COLOR_0": 3}, "extensions": {"KHR_draco_mesh_compression": {"bufferView": 0,
        "attributes": {"POSITION": 0}}}"#;
    let document = document.replace(r#""COLOR_0": 3}"#, draco);
    let meshopt = r#"{"buffer": 0, "extensions": {"EXT_meshopt_compression": {"buffer": 0,
        "byteLength": 1, "byteStride": 2, "count": 3, "mode": "ATTRIBUTES"}}, "#;
    let document = document.replace(r#"{"buffer": 0, "#, meshopt);
    assert_eq!(triangles(&document, &data), uncompressed());
}

#[test]
fn primitives_share_a_draco_stream() {
    let stream = decode(DRACO[0].1);
    let document = draco(stream.len());
    let (before, rest) = document.split_once(r#""primitives": ["#).unwrap();
    let (primitive, after) = rest.split_once("]}],").unwrap();
    let twice = format!(r#"{before}"primitives": [{primitive}, {primitive}]}}],{after}"#);
    let mesh = read(glb(&twice, Some(&stream))).unwrap().mesh;
    assert_eq!((mesh.positions().len(), mesh.triangles().len()), (12, 8));
    let other = primitive.replace(r#""bufferView": 0"#, r#""bufferView": 1"#);
    let other = format!(r#"{before}"primitives": [{primitive}, {other}]}}],{after}"#);
    let said = fault(read(glb(&other, Some(&stream))));
    let expected = "mesh 0, primitive 1 (counted from 0): its accessor 0 (counted from 0) is also \
                    that of another Draco stream: decompress it";
    assert!(said.starts_with(expected), "{said}");
}

/// Changes of a file with Draco, and how the refusals begin.
const BAD_DRACO: &str = r#"
"count": 12, "type": "SCALAR" => "count": 9, "type": "SCALAR"
    its accessors have 9 indices and 12 vertices, but its Draco stream has 4 triangles and at least
    12 vertices: export it again
"count": 12, "type": "VEC3" => "count": 11, "type": "VEC3"
    its accessors have 12 indices and 11 vertices, but its Draco stream has 4 triangles and at least
    12 vertices: export it again
"POSITION": 0, "TEXCOORD_0": 1, "COLOR_0": 2 => "POSITION": 0
    its Draco stream is malformed: it has more attributes than the file says; export it again
"POSITION": 0 => "POSITION": 7 | its Draco stream has no numbers with the id 7: export it again
"POSITION": 0, =>
    it is compressed with KHR_draco_mesh_compression: decompress it with the tool that made it, or
    with gltf-transform
"indices": 0, => | it has a Draco stream, but no accessor of positions or indices: export it again
"bufferView": 0 => "bufferView": 5 | its Draco stream is in the buffer view 5, which does not exist
"byteLength": 191} => "byteLength": 192}
    its Draco stream is in the buffer view 0, which reaches past the end of its buffer
{"buffer": 0, "byteLength": => {"buffer": 0, "byteLength": 11, "rest":
    its Draco stream is malformed: Unexpected end of buffer: need 1 bytes, have 0; export it again
{"buffer": 0, "byteLength": => {"buffer": 0, "byteLength": 50, "rest":
    its Draco stream is malformed:
{"buffer": 0, "byteLength": => {"buffer": 0, "byteOffset": 1, "byteLength": 60, "rest":
    its Draco stream is malformed: it is not a triangle mesh of version 2.2; export it again
"#;

#[test]
fn draco_streams_that_contradict_their_file_are_refused() {
    let stream = decode(DRACO[0].1);
    let file = draco(stream.len());
    let said = |document: &str, stream: &[u8]| {
        let said = fault(read(glb(document, Some(stream))));
        let place = "mesh 0, primitive 0 (counted from 0): ";
        said.strip_prefix(place).map(str::to_owned).unwrap_or_else(|| panic!("{said}"))
    };
    for (changed, expected) in changes(&file, BAD_DRACO) {
        let said = said(&changed, &stream);
        assert!(!expected.is_empty() && said.starts_with(&expected), "{changed}: {said}");
    }
    // The second corner is the point 12 of 12.
    let mut stream = decode(DRACO[3].1);
    assert_eq!(stream[14..26], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    stream[15] = 12;
    let said = said(&draco(stream.len()), &stream);
    assert!(said.contains("names point 12 of a mesh with 12"), "{said}");
}

/// Changes of a file with meshopt, and how the refusals begin.
const BAD_MESHOPT: &str = r#"
"byteOffset": 0, "byteLength": 24 => "byteOffset": 0, "byteLength": 26
    buffer view 0 (counted from 0) has 26 bytes at a stride of 2, but its meshopt stream has 12
    elements of 2: export it again
"byteStride": 12, "count": 12 => "byteStride": 12, "count": 13
    buffer view 1 (counted from 0) has 144 bytes at a stride of 12, but its meshopt stream has 13
    elements of 12: export it again
"byteLength": 144, "byteStride": 12 => "byteLength": 144, "byteStride": 16
    buffer view 1 (counted from 0) has 144 bytes at a stride of 16, but its meshopt stream has 12
    elements of 12: export it again
"buffer": 0, "byteOffset": 0, "byteLength": 21 => "buffer": 0, "byteOffset": 0, "byteLength": 20
    buffer view 0 (counted from 0) has a malformed meshopt stream (
"buffer": 0, "byteOffset": 0, "byteLength": 21 => "buffer": 0, "byteOffset": 0, "byteLength": 2100
    buffer view 0 (counted from 0) has a meshopt stream that reaches past the end of its buffer
"buffer": 0, "byteOffset": 0 => "buffer": 7, "byteOffset": 0
    buffer view 0 (counted from 0) has a meshopt stream that reaches past the end of its buffer
"mode": "TRIANGLES" => "mode": "QUADS"
    buffer view 0 (counted from 0) is compressed with 'QUADS': decompress it with the tool that made
    it, or with gltf-transform
"filter": "EXPONENTIAL" => "filter": "FUR"
    buffer view 1 (counted from 0) is compressed with 'FUR': decompress it with the tool that made
    it, or with gltf-transform
"filter": "EXPONENTIAL" => "filter": "QUATERNION"
    buffer view 1 (counted from 0) has a malformed meshopt stream (
"count": 12, "type": "VEC3" => "count": 11, "type": "VEC3"
    mesh 0, primitive 0 (counted from 0): the index 11 is out of range: there are 11 vertices
"fallback": true => "fallback": false
    buffer 1 (counted from 0) has no data: decompress the file, or write it again with another tool
"#;

#[test]
fn meshopt_streams_that_contradict_their_file_are_refused() {
    let (file, data) = meshopt("EXT_meshopt_compression", &sections(""), &MESHOPT);
    for (changed, expected) in changes(&file, BAD_MESHOPT) {
        let said = fault(read(glb(&changed, Some(&data))));
        assert!(!expected.is_empty() && said.starts_with(&expected), "{changed}: {said}");
    }
}

#[test]
fn decompressing_takes_no_more_memory_than_allowed() {
    let stream = decode(DRACO[0].1);
    let draco = glb(&draco(stream.len()), Some(&stream));
    let (document, data) = meshopt("EXT_meshopt_compression", &sections(""), &MESHOPT);
    let large = document.replace(r#""byteLength": 144"#, r#""byteLength": 100000000"#);
    for file in [draco, glb(&large, Some(&data))] {
        let options = ReadOptions { memory: 4 << 20, ..ReadOptions::default() };
        let read = read_as("glb", file, &options);
        assert!(matches!(read, Err(ReadError::Memory { limit: 0x40_0000, .. })), "{read:?}");
    }
    let large = document.replace(r#""byteLength": 144"#, r#""byteLength": 3000000000"#);
    let said = fault(read(glb(&large, Some(&data))));
    let expected =
        "its compressed geometry takes more than 2 GiB of memory for each MB of its buffers";
    assert!(said.starts_with(expected), "{said}");
}
