//! glTF: Khronos' minimal samples by hand, and what else files hold.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::*;
use crate::common::files::{as_glb, floats, glb, gltf};

pub(crate) fn read(bytes: impl AsRef<[u8]>) -> Result<LoadedMesh, ReadError> {
    read_as("gltf", bytes, &ReadOptions::default())
}

/// The data of Khronos' sample `Triangle`: three indices, two bytes of padding, three positions.
const TRIANGLE: &str = "AAABAAIAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAAAAAACAPwAAAAA=";

/// Khronos' sample `Triangle`, embedded.
fn triangle() -> String {
    format!(
        r#"{{"scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 1}}, "indices": 0}}]}}],
        "buffers": [{{"uri": "data:application/octet-stream;base64,{TRIANGLE}", "byteLength": 44}}],
        "bufferViews": [
            {{"buffer": 0, "byteOffset": 0, "byteLength": 6, "target": 34963}},
            {{"buffer": 0, "byteOffset": 8, "byteLength": 36, "target": 34962}}],
        "accessors": [
            {{"bufferView": 0, "byteOffset": 0, "componentType": 5123, "count": 3, "type": "SCALAR",
              "max": [2], "min": [0]}},
            {{"bufferView": 1, "byteOffset": 0, "componentType": 5126, "count": 3, "type": "VEC3",
              "max": [1.0, 1.0, 0.0], "min": [0.0, 0.0, 0.0]}},
            {{"componentType": 5126, "count": 3, "type": "VEC3"}}],
        "asset": {{"version": "2.0"}}}}"#
    )
}

/// Khronos' sample `SimpleSparseAccessor`.
const SPARSE: &str = r#"{"scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 1}, "indices": 0}]}],
    "buffers": [{"uri": "data:application/gltf-buffer;base64,AAAIAAcAAAABAAgAAQAJAAgAAQACAAkAAgAKAAkAAgADAAoAAwALAAoAAwAEAAsABAAMAAsABAAFAAwABQANAAwABQAGAA0AAAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAQAAAAAAAAAAAAABAQAAAAAAAAAAAAACAQAAAAAAAAAAAAACgQAAAAAAAAAAAAADAQAAAAAAAAAAAAAAAAAAAgD8AAAAAAACAPwAAgD8AAAAAAAAAQAAAgD8AAAAAAABAQAAAgD8AAAAAAACAQAAAgD8AAAAAAACgQAAAgD8AAAAAAADAQAAAgD8AAAAACAAKAAwAAAAAAIA/AAAAQAAAAAAAAEBAAABAQAAAAAAAAKBAAACAQAAAAAA=",
        "byteLength": 284}],
    "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 72, "target": 34963},
        {"buffer": 0, "byteOffset": 72, "byteLength": 168},
        {"buffer": 0, "byteOffset": 240, "byteLength": 6},
        {"buffer": 0, "byteOffset": 248, "byteLength": 36}],
    "accessors": [{"bufferView": 0, "byteOffset": 0, "componentType": 5123, "count": 36,
            "type": "SCALAR", "max": [13], "min": [0]},
        {"bufferView": 1, "byteOffset": 0, "componentType": 5126, "count": 14, "type": "VEC3",
            "max": [6.0, 4.0, 0.0], "min": [0.0, 0.0, 0.0], "sparse": {"count": 3,
            "indices": {"bufferView": 2, "byteOffset": 0, "componentType": 5123},
            "values": {"bufferView": 3, "byteOffset": 0}}}],
    "asset": {"version": "2.0"}}"#;

/// An array of a file: the description of its elements, and its bytes.
type Array<'a> = (&'a str, Vec<u8>);

/// Positions in 32 bits.
fn positions(corners: &[[f64; 3]]) -> Vec<u8> {
    corners.as_flattened().iter().flat_map(|&c| (c as f32).to_le_bytes()).collect()
}

/// A primitive of the square's corners (accessor 0), indexed 0 1 2 3 in bytes (1), shorts (2) and
/// integers (3); normalized in shorts (4).
fn square(primitive: &str, nodes: &str) -> String {
    let array = |component: &str, shape: &str, bytes: Vec<u8>| {
        (format!(r#""componentType": {component}, "count": 4, "type": "{shape}""#), bytes)
    };
    let corners = [A, B, C, D];
    let quantized = corners.as_flattened().iter().flat_map(|&c| (c as i16 * 32767).to_le_bytes());
    let arrays = [
        array("5126", "VEC3", positions(&corners)),
        array("5121", "SCALAR", vec![0, 1, 2, 3]),
        array("5123", "SCALAR", vec![0, 0, 1, 0, 2, 0, 3, 0]),
        array("5125", "SCALAR", vec![0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
        array(r#"5122, "normalized": true"#, "VEC3", quantized.collect()),
    ];
    let sections = format!(
        r#""scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{nodes}],
        "meshes": [{{"primitives": [{primitive}]}}]"#
    );
    gltf(&sections, &arrays)
}

const FAN: &str = r#"{"attributes": {"POSITION": 0}, "mode": 6}"#;
const FAN_TRIANGLES: [[[f64; 3]; 3]; 2] = [[B, C, A], [C, D, A]];

pub(crate) fn embedded() -> Vec<u8> {
    square(
        &format!(r#"{FAN}, {{"attributes": {{"POSITION": 4}}, "indices": 2, "mode": 5}}"#),
        r#"{"children": [1, 2]}, {"mesh": 0, "scale": [1, 2, 3]},
           {"mesh": 0, "translation": [1, 2, 3], "rotation": [0, 0, 1, 0]}"#,
    )
    .into_bytes()
}

/// Khronos' `Triangle` in one file.
pub(crate) fn binary() -> Vec<u8> {
    as_glb(&triangle())
}

#[test]
fn a_triangle_is_read_from_an_embedded_a_binary_and_a_split_file() {
    let without_indices = triangle().replace(r#", "indices": 0"#, "");
    for file in [triangle().into_bytes(), without_indices.into_bytes(), binary()] {
        assert_eq!(triangles(read(file)), [[A, B, D]]);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("triangle.gltf");
    let data = format!("data:application/octet-stream;base64,{TRIANGLE}");
    // A device would be read forever.
    for uri in ["/dev/zero", "a%20buffer.bin"] {
        fs::write(&path, triangle().replace(&data, uri)).unwrap();
        let name = format!("'{}'", uri.replace("%20", " "));
        let absent = "which is not beside the model: put it there";
        let said = format!("buffer 0 (counted from 0) is in {name}, {absent}");
        assert_eq!(fault(read_mesh(&path)), said);
    }
    let buffer = BASE64_STANDARD.decode(TRIANGLE).unwrap();
    fs::write(folder.path().join("a buffer.bin"), buffer).unwrap();
    assert_eq!(triangles(read_mesh(&path)), [[A, B, D]]);
}

#[test]
fn sparse_accessors_replace_vertices() {
    let mesh = read(SPARSE).unwrap().mesh;
    assert_eq!(mesh.triangles().len(), 12);
    let mut expected: Vec<[f64; 3]> =
        (0..14).map(|i| [f64::from(i % 7), f64::from(i / 7), 0.0]).collect();
    (expected[8], expected[10], expected[12]) = ([1.0, 2.0, 0.0], [3.0, 3.0, 0.0], [5.0, 4.0, 0.0]);
    assert_eq!(mesh.positions(), expected);
    let of_zeros = SPARSE.replacen(r#"{"bufferView": 1, "byteOffset": 0, "#, "{", 1);
    let mesh = read(of_zeros).unwrap().mesh;
    let zeros = mesh.positions().iter().filter(|&&p| p == A).count();
    assert_eq!((mesh.positions()[12], zeros), ([5.0, 4.0, 0.0], 11));
    let out = SPARSE.replace(r#""count": 14"#, r#""count": 12"#);
    let expected = "replaces the element 12, but there are 12, counted from 0";
    assert!(fault(read(out)).ends_with(expected));
}

#[test]
fn strips_and_fans_are_triangles_that_face_one_way() {
    let mode = |mode: u32, indices: &str| {
        let primitive = format!(r#"{{"attributes": {{"POSITION": 0}}, "mode": {mode}{indices}}}"#);
        triangles(read(square(&primitive, r#"{"mesh": 0}"#)))
    };
    for indices in ["", r#", "indices": 1"#, r#", "indices": 2"#, r#", "indices": 3"#] {
        assert_eq!(mode(6, indices), FAN_TRIANGLES, "{indices}");
        assert_eq!(mode(5, indices), [[A, B, C], [B, D, C]], "{indices}");
    }
}

#[test]
fn integers_are_positions_too() {
    let primitive = FAN.replace("\"POSITION\": 0", "\"POSITION\": 4");
    let file = square(&primitive, r#"{"mesh": 0}"#);
    assert_eq!(triangles(read(&file)), FAN_TRIANGLES);
    let raw = file.replace(r#""normalized": true, "#, "");
    assert_eq!(read(raw).unwrap().mesh.bounds()[1], [32767.0, 32767.0, 0.0]);
    let required = r#""extensionsRequired": ["KHR_mesh_quantization"], "scene": 0"#;
    assert_eq!(triangles(read(file.replacen(r#""scene": 0"#, required, 1))), FAN_TRIANGLES);
}

#[test]
fn nodes_move_turn_and_scale_what_is_below_them() {
    let place = |nodes: &str| triangles(read(square(FAN, nodes)))[0];
    let moved =
        place(r#"{"children": [1], "translation": [10, 0, 0.1]}, {"mesh": 0, "scale": [1, 2, 3]}"#);
    assert_eq!(moved, [[11.0, 0.0, 0.1], [11.0, 2.0, 0.1], [10.0, 0.0, 0.1]]);
    // A quarter turn about z, by matrix and by quaternion.
    let matrix = r#"{"mesh": 0, "matrix": [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]}"#;
    let turned = [[5.0, 7.0, 7.0], [4.0, 7.0, 7.0], [5.0, 6.0, 7.0]];
    assert_eq!(place(matrix), turned);
    let quaternion = r#"{"mesh": 0, "translation": [5, 6, 7], "rotation": [0, 0, 2, 2]}"#;
    for (found, expected) in place(quaternion).concat().iter().zip(turned.concat()) {
        assert!((found - expected).abs() < 1e-12, "{found} rather than {expected}");
    }
    // Scale first, then the turn: x, which is scaled, becomes y.
    let both = r#"{"mesh": 0, "rotation": [0, 0, 2, 2], "scale": [3, 1, 1]}"#;
    assert!((place(both)[0][1] - 3.0).abs() < 1e-12);
}

#[test]
fn instances_are_meshes_and_mirrors_keep_their_outside() {
    let nodes = r#"{"children": [1, 2]}, {"mesh": 0}, {"mesh": 0, "scale": [-1, 1, 1]}"#;
    let [_, mirrored @ ..] = FAN_TRIANGLES.map(|[a, b, c]| [a, c, b].map(|[x, y, z]| [-x, y, z]));
    let all = triangles(read(square(FAN, nodes)));
    assert_eq!(all[..2], FAN_TRIANGLES);
    assert_eq!(all[3..], mirrored);
}

#[test]
fn labels_are_nodes_with_their_names_or_those_of_their_meshes() {
    let nodes = r#"{"children": [1, 2, 3, 4]}, {"mesh": 0, "name": "left"}, {"name": "empty"},
        {"mesh": 0}, {"mesh": 0, "name": "left"}"#;
    let text = square(FAN, nodes).replace(r#""meshes": [{"#, r#""meshes": [{"name": "quad", "#);
    let expected = ("left,quad,left".to_owned(), vec![0, 0, 1, 1, 2, 2]);
    assert_eq!(labels(&read(text).unwrap().mesh), expected);
}

#[test]
fn parts_that_share_vertices_have_them_once() {
    let mesh = read(square(&format!("{FAN}, {FAN}"), r#"{"mesh": 0}"#)).unwrap().mesh;
    assert_eq!((mesh.positions().len(), mesh.triangles().len()), (4, 4));
}

#[test]
fn the_default_scene_is_read_or_the_first_or_all_nodes_or_all_meshes() {
    let nodes = r#"{"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0]}"#;
    let scenes = r#""scenes": [{"nodes": [0]}, {"nodes": [1, 0], "name": "pair"}]"#;
    let first = square(FAN, nodes).replace(r#""scenes": [{"nodes": [0]}]"#, scenes);
    let second = first.replace(r#""scene": 0"#, r#""scene": 1"#);
    let no_default = first.replace(r#""scene": 0, "#, "");
    let no_scenes = no_default.replace(&format!("{scenes}, "), "");
    let no_nodes = no_scenes.replace(nodes, "");
    let no_default_said = "the file has no default scene, so its first is read";
    for (text, meshes, skipped, why) in [
        (first, 1, "pair", "the default scene is read"),
        (second, 2, "scene 0", "the default scene is read"),
        (no_default, 1, "pair", no_default_said),
        (no_scenes, 2, "", ""),
        (no_nodes, 1, "", ""),
    ] {
        let loaded = read(&text).unwrap();
        assert_eq!(loaded.mesh.triangles().len(), 2 * meshes, "{text}");
        let said = format!("1 scene was skipped, '{skipped}': {why}");
        assert_eq!(loaded.warnings, if why.is_empty() { vec![] } else { vec![said] }, "{text}");
    }
}

/// Changes of a fan, and the warning, or none.
const LEFT_OUT: &str = r#"
"mode": 6} => "mode": 6}, {"attributes": {"POSITION": 0}, "mode": 0}, \
{"attributes": {"POSITION": 0}, "mode": 3}
    2 sets of points or lines were skipped: they have no surface
"mode": 6} => "mode": 6}, {"attributes": {}} | 1 primitive was skipped: no positions
"mode": 6 => "mode": 6, "targets": [{"POSITION": 1}]
"scene": 0 => "animations": [{}], "scene": 0 | the mesh is animated: its default pose is voxelized
{"mesh": 0} => {"mesh": 0, "skin": 0} | skin 0 (counted from 0) was ignored: it does not exist
"scene": 0 => "extensionsUsed": ["KHR_materials_unlit", "EXT_unknown"], "scene": 0
    the extension EXT_unknown was ignored: the shape may differ
"scene": 0 => "extensionsUsed": ["FB_ngon_encoding"], "scene": 0
"scene": 0 => "extensionsUsed": ["KHR_techniques_webgl"], \
"extensionsRequired": ["KHR_techniques_webgl"], "scene": 0
    the extension KHR_techniques_webgl was ignored: colours may differ
"#;

#[test]
fn what_is_left_out_is_a_warning() {
    for (changed, expected) in changes(&square(FAN, r#"{"mesh": 0}"#), LEFT_OUT) {
        assert_eq!(warnings(read(&changed)).join("; "), expected, "{changed}");
    }
}

/// Changes of Khronos' `Triangle`, and why they are refused.
const BAD_DOCUMENTS: &str = r#"
"count": 3, "type": "VEC3" => "count": 2, "type": "VEC3"
    {part}: the index 2 is out of range: there are 2 vertices
"count": 3, "type": "VEC3" => "count": 4, "type": "VEC3"
    {part}: accessor 1 (counted from 0) reaches past the end of the buffer view 1
"count": 3, "type": "VEC3" => "count": 4000000000, "type": "VEC3"
    {part}: accessor 1 (counted from 0) says that it has 4000000000 elements, more than there are
    bytes
"count": 3, "type": "SCALAR" => "count": 2, "type": "SCALAR"
    {part}: 2 corners are not those of whole triangles
"VEC3" => "VEC2" | {part}: accessor 1 (counted from 0) is of type VEC2 where VEC3 belongs
5126 => 5125 | {part}: accessor 1 (counted from 0) has components of type 5125 for positions
5123 => 5122 | {part}: accessor 0 (counted from 0) has components of type 5122 for indices
"POSITION": 1 => "POSITION": 7 | {part}: accessor 7 (counted from 0) does not exist
"attributes": {"POSITION": 1} => "attributes": {"POSITION": 2}, \
"extensions": {"KHR_draco_mesh_compression": {"bufferView": 1, "attributes": {}}}
    {part}: it is compressed with KHR_draco_mesh_compression: decompress it with the tool that made
    it, or with gltf-transform
"bufferView": 1 => "bufferView": 9
    {part}: accessor 1 (counted from 0) is in the buffer view 9, which does not exist
"buffer": 0, "byteOffset": 8 => "buffer": 3, "byteOffset": 8
    {part}: accessor 1 (counted from 0) is in the buffer 3, which does not exist
"byteOffset": 8 => "byteOffset": 9
    {part}: accessor 1 (counted from 0) is in the buffer view 1, which reaches past the end of its
    buffer
"byteLength": 36 => "byteLength": 36, "byteStride": 4
    {part}: accessor 1 (counted from 0) has elements of 12 bytes at a stride of 4
"indices": 0 => "indices": 0, "mode": 9 | {part}: its mode is 9: use 4 for triangles
"indices": 0 => "indices": 0, "mode": 1
    no triangles in the scene, only 1 set of points or lines: nothing to voxelize
"nodes": [0] => "nodes": [] | no triangles in the scene: nothing to voxelize
"nodes": [0] => "nodes": [4] | node 4 (counted from 0) does not exist
"nodes": [0] => "nodes": [0, 0] | node 0 (counted from 0) is below two nodes: a scene is a tree
{"mesh": 0} => {"mesh": 0, "children": [0]}
    node 0 (counted from 0) is below two nodes: a scene is a tree
{"mesh": 0} => {"mesh": 2} | node 0 (counted from 0) has the mesh 2, which does not exist
{"mesh": 0} => {"mesh": 0, "rotation": [0, 0, 0, 0]}
    node 0 (counted from 0) has the rotation [0.0, 0.0, 0.0, 0.0], which is no unit quaternion
{"mesh": 0} => {"mesh": 0, "matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]}
    node 0 (counted from 0) has a matrix whose last row is [1.0, 0.0, 0.0, 1.0], not 0, 0, 0, 1
"scene": 0 => "scene": 5 | scene 5 (counted from 0) does not exist
"scene": 0 => "extensionsRequired": ["KHR_materials_unlit", "EXT_unknown"], "scene": 0
    {needs} EXT_unknown, {unread}
"scene": 0 => "extensionsRequired": ["KHR_draco_mesh_compression_2"], "scene": 0
    {needs} KHR_draco_mesh_compression_2, {unread}
"version": "2.0" => "version": "1.0"
    glTF 1.0 is not read, only 2.0: convert the file, for instance with gltf-pipeline
"version": "2.0" => "version": "2.0", "minVersion": "2.1"
    glTF 2.1 is not read, only 2.0: convert the file, for instance with gltf-pipeline
AAABAAIA => AAAB*AIA | buffer 0 (counted from 0) is malformed base 64: Invalid symbol 42, offset 4.
;base64, => , | buffer 0 (counted from 0) has data that are not in base 64
data:application => https://example.org/data:application
    buffer 0 (counted from 0) is at https://example.org/data:application/oct...: download it, and
    write its name there
"byteLength": 44 => "byteLength": 45
    buffer 0 (counted from 0) has 44 bytes where the document says 45: it is cut off
"#;

const GLTF_1: &str =
    "glTF 1.0 is not read, only 2.0: convert the file, for instance with gltf-pipeline";

#[test]
fn bad_documents_are_refused_with_the_place() {
    let file = triangle();
    for (text, expected) in changes(&file, BAD_DOCUMENTS) {
        let unread = "which is not read: write it without, with the tool that made it, or with \
                      gltf-transform";
        let expected = expected
            .replace("{part}", "mesh 0, primitive 0 (counted from 0)")
            .replace("{needs}", "the file needs the extension")
            .replace("{unread}", unread);
        assert_eq!(fault(read(&text)), expected, "{text}");
    }
    let unreadable = file.replacen("0]", "0", 1);
    for (text, expected) in [
        ("{}", "line 1: not a glTF document: column 2: missing field `asset`"),
        (&unreadable, "line 1: not a glTF document: column "),
        (r#"{"accessors": {}, "meshes": {"a": {}}}"#, "glTF 1.0 is not read, only 2.0: convert"),
        (r#"{"asset": {"version": "1.0"}, "meshes": {"a": {}}}"#, GLTF_1),
    ] {
        let said = fault(read(text));
        assert!(said.starts_with(expected), "{text}: {said}");
    }
}

#[test]
fn bad_binary_files_are_refused_with_the_reason() {
    let good = binary();
    let first = "the first chunk of the file is not JSON: write it again with another tool";
    for (at, value, expected) in [
        (4, 1, GLTF_1),
        (11, 1, "the header says that the file has 167"),
        (14, 9, "a chunk is longer than the file: it is cut off, or malformed"),
        (16, b'j', first),
    ] {
        let mut bytes = good.clone();
        bytes[at] = value;
        let said = fault(read(bytes));
        assert!(said.starts_with(expected), "byte {at}: {said}");
    }
    assert_eq!(fault(read(b"glTF\x02")), "the file ends within its header: it is cut off");
    let uri = format!(r#""uri": "data:application/octet-stream;base64,{TRIANGLE}", "#);
    let said = fault(read(glb(&triangle().replace(&uri, ""), None)));
    let no_data = "has no data: decompress the file, or write it again with another tool";
    assert_eq!(said, format!("buffer 0 (counted from 0) {no_data}"));
}

#[test]
fn arrays_may_be_interleaved() {
    // The last element has no more than its own bytes.
    let data = BASE64_STANDARD.encode(&positions(&[A, A, B, B, D, D])[..60]);
    let text = triangle()
        .replace(TRIANGLE, &data)
        .replace(r#""byteLength": 44"#, r#""byteLength": 60"#)
        .replace(r#""byteOffset": 8, "byteLength": 36"#, r#""byteLength": 60, "byteStride": 24"#)
        .replace(r#", "indices": 0"#, "");
    assert_eq!(triangles(read(text)), [[A, B, D]]);
}

#[test]
fn more_triangles_than_an_index_can_name_are_refused_before_they_are_made() {
    let nodes = vec![r#"{"mesh": 0}"#; 65_537].join(",");
    let strip = r#"{"attributes": {"POSITION": 0}, "indices": 1, "mode": 5}"#;
    let sections = format!(r#""nodes": [{nodes}], "meshes": [{{"primitives": [{strip}]}}]"#);
    let arrays: [Array; 2] = [
        (r#""componentType": 5126, "count": 1, "type": "VEC3""#, vec![0; 12]),
        (r#""componentType": 5121, "count": 65538, "type": "SCALAR""#, vec![0; 65_538]),
    ];
    let expected = "the mesh has 4295032832 triangles; at most 4294967295 are supported";
    assert_eq!(fault(read(gltf(&sections, &arrays))), expected);
}

/// A file of fans, of the square's corners (accessor 0) and `arrays` (from 1 on, of four elements
/// each), with `sections` for their looks. A part is the text after a fan's positions: more
/// attributes and, after `}`, more of the primitive.
fn fans(parts: &[&str], sections: &str, arrays: &[Array]) -> String {
    let fan = |part: &&str| {
        let end = if part.contains('}') { "" } else { "}" };
        format!(r#"{{"mode": 6, "attributes": {{"POSITION": 0{part}{end}}}"#)
    };
    let fans = parts.iter().map(fan).collect::<Vec<_>>().join(", ");
    let sections =
        format!(r#"{sections} "nodes": [{{"mesh": 0}}], "meshes": [{{"primitives": [{fans}]}}]"#);
    let positions = (r#""componentType": 5126, "type": "VEC3""#, positions(&[A, B, C, D]));
    let counted = |(kind, bytes): &Array| (format!(r#""count": 4, {kind}"#), bytes.clone());
    let arrays: Vec<_> = std::iter::once(&positions).chain(arrays).map(counted).collect();
    gltf(&sections, &arrays)
}

/// A fan that has the first of these materials.
fn of_materials(materials: &str) -> String {
    fans(&[r#"}, "material": 0"#], &format!(r#""materials": [{materials}],"#), &[])
}

/// What is read of a material without a warning.
fn material(of: &str) -> Material {
    look(read(of_materials(of))).materials[0].clone()
}

/// Members of a material, its colour in linear light and the use of its opacity.
const MATERIALS: &str = r#"
BASE [1, 0.5, 0, 0.25]} | [65535, 32768, 0, 16384] Opaque
BASE [1, 1, 1, 0.5]}, "alphaMode": "BLEND" | [65535, 65535, 65535, 32768] Blend
BASE [1, 1, 1, 0.5]}, "alphaMode": "MASK" | [65535, 65535, 65535, 32768] Mask(32768)
BASE [1, 1, 1, 0.5]}, "alphaMode": "MASK", "alphaCutoff": 0.25
    [65535, 65535, 65535, 32768] Mask(16384)
BASE [1, 1, 1, 0.5]}, "alphaMode": "MASK", "alphaCutoff": 1.5 | [65535, 65535, 65535, 0] Mask(65535)
BASE [1, 0, 0, 1]}, GLOSSY {"diffuseFactor": [0, 1, 0, 1]}} | [0, 65535, 0, 65535] Opaque
GLOSSY {}} | [65535, 65535, 65535, 65535] Opaque
BASE [0, 0, 0, 0.5]}, "emissiveFactor": [0, 0.25, 1] | [0, 16384, 65535, 32768] Opaque
BASE [1, 0, 0, 1]}, "emissiveFactor": [0, 0.25, 1] | [65535, 0, 0, 65535] Opaque
BASE [0, 0, 0, 0.5]} | [0, 0, 0, 32768] Opaque
BASE [0, 0, 0, 0.5]}, "emissiveFactor": [0, 0.25, 1], STRENGTH 2}} | [0, 32768, 65535, 32768] Opaque
"#;

/// A material of these members, with the words of its tables written out.
fn written(members: &str) -> String {
    let base = r#""pbrMetallicRoughness": {"baseColorFactor":"#;
    let glossy = r#""extensions": {"KHR_materials_pbrSpecularGlossiness":"#;
    let strength = r#""extensions": {"KHR_materials_emissive_strength": {"emissiveStrength":"#;
    let members = members.replace("BASE", base).replace("GLOSSY", glossy);
    format!("{{{}}}", members.replace("STRENGTH", strength))
}

#[test]
fn colours_are_linear_and_opacity_is_ignored_cut_or_mixed_as_the_material_says() {
    for (members, expected) in rows(MATERIALS) {
        let look = look(read(of_materials(&written(&members))));
        assert!(look.material_of.is_empty() && look.uvs.is_empty());
        let material = &look.materials[0];
        assert_eq!(format!("{:?} {:?}", material.color, material.alpha), expected, "{members}");
    }
}

#[test]
fn materials_go_with_their_primitives() {
    let colors = ["[1, 0, 0, 1]", "[0, 1, 0, 1]"].map(|color| written(&format!("BASE {color}}}")));
    let sections = format!(r#""materials": [{}],"#, colors.join(", "));
    let parts = [r#"}, "material": 1"#, "", r#"}, "material": 0"#, r#"}, "material": 1"#];
    let look = look(read(fans(&parts, &sections, &[])));
    let colors = [0, 2, 4, 6].map(|triangle| look.material(triangle).color);
    assert_eq!(colors, [GREEN, [255; 4], RED, GREEN].map(linear_of_rgba));
    assert_eq!((look.materials.len(), look.material_of.len()), (3, 8));
}

#[test]
fn a_black_material_with_an_image_of_emission_has_its_colour() {
    let shown = r#"{"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 0, 1]},
        "emissiveFactor": [1, 1, 1], "emissiveTexture": {"index": 0}}"#;
    let look = look(read(painted_by(shown, &textured())));
    assert_eq!(look.materials[0].color, [65535; 4]);
    assert_eq!(look.textures[0].texels(), TEXELS);
    assert!(look.materials[0].texture.is_some() && !look.uvs.is_empty());
}

/// Members of a material, and the factor that is used instead.
const BAD_FACTORS: &str = r#"
"name": "a", BASE [2, -1, 0, 1]} | a: baseColorFactor 2 -1 0 1, used as 1 0 0 1
"name": "a", "pbrMetallicRoughness": {"metallicFactor": -0.5} | a: metallicFactor -0.5, used as 0
"name": "a", "pbrMetallicRoughness": {"roughnessFactor": 7} | a: roughnessFactor 7, used as 1
"name": "a", GLOSSY {"diffuseFactor": [1, 1, 1.5, 1]}} | a: diffuseFactor 1 1 1.5 1, used as 1 1 1 1
"emissiveFactor": [-1, 0.5, 3]
    material 0 (counted from 0): emissiveFactor -1 0.5 3, used as 0 0.5 3
"name": "a", STRENGTH 1e9}}, "emissiveFactor": [0, 1e308, -1]
    a: emissiveFactor by emissiveStrength 0 inf -1000000000, used as 0 3.4028234663852886e38 0
"#;

#[test]
fn factors_outside_their_range_are_clamped_and_named() {
    for (factors, said) in rows(BAD_FACTORS) {
        let said = format!("factors of materials are outside their range: '{said}'");
        let mesh = warned(read(of_materials(&written(&factors))), &said);
        let Material { metallic, roughness, emission, .. } =
            mesh.appearance().unwrap().materials[0];
        assert!([metallic, roughness].iter().flatten().all(|factor| (0.0..=1.0).contains(factor)));
        assert!(emission.unwrap().iter().all(|light| light.is_finite()));
    }
    // Light may be brighter than white, and rounding is no fault.
    material(r#"{"emissiveFactor": [4, 0, 0]}"#);
    material(r#"{"pbrMetallicRoughness": {"roughnessFactor": 1.0000001192092896}}"#);
}

#[test]
fn metal_roughness_and_emission_have_factors_and_textures() {
    let with = |base: &str, emissive: &str| {
        format!(
            r#"{{"pbrMetallicRoughness": {{"metallicFactor": 0.25, "roughnessFactor": 1{base}}},
            "emissiveFactor": [0, 0.25, 1]{emissive}, "extensions":
            {{"KHR_materials_emissive_strength": {{"emissiveStrength": 8}}}}}}"#
        )
    };
    for (of, metallic, roughness, emission) in [
        ("{}", Some(1.0), Some(1.0), [0.0; 3]),
        (&with("", ""), Some(0.25), Some(1.0), [0.0, 2.0, 8.0]),
        (&written("GLOSSY {}}"), None, None, [0.0; 3]),
    ] {
        let found = material(of);
        assert_eq!((found.metallic, found.roughness), (metallic, roughness), "{of}");
        assert_eq!(found.emission, Some(emission), "{of}");
    }
    let textures = format!(
        r#""textures": [{{"source": 0}}, {{"source": 1}}],
        "images": [{{"uri": "{}"}}, {{"uri": "0.png"}}]"#,
        data_uri()
    );
    let file = |set: u32| {
        let base = r#", "metallicRoughnessTexture": {"index": 0}"#;
        let emissive = format!(r#", "emissiveTexture": {{"index": 0, "texCoord": {set}}}"#);
        painted_by(&with(base, &emissive), &textures)
    };
    let both = look(read(file(0)));
    let Material { texture, metallic_texture, roughness_texture, emission_texture, .. } =
        both.materials[0];
    assert_eq!((texture, metallic_texture), (None, roughness_texture));
    assert_eq!(emission_texture, metallic_texture);
    assert!(emission_texture.is_some() && both.textures.len() == 1 && both.uvs.len() == 2);
    let bare = ReadOptions { maps: false, ..ReadOptions::default() };
    let bare = look(read_as("gltf", file(0), &bare));
    assert!(bare.textures.is_empty() && bare.uvs.is_empty());
    assert_eq!(bare.materials[0], material(&with("", "")));

    let ignored = "a texture besides that of colour was ignored: material 0 (counted from 0) has \
                   other coordinates for it";
    let mesh = warned(read(file(1)), ignored);
    let material = &mesh.appearance().unwrap().materials[0];
    assert!(material.roughness_texture.is_some() && material.emission_texture.is_none());
}

#[test]
fn materials_that_are_none_are_white_and_a_warning() {
    let replaced = "a material was replaced by plain white: material";
    let length = "is malformed: invalid length 2, expected an array of length 4";
    let mode = "is malformed: unknown variant `GLASS`, expected one of `OPAQUE`, `MASK`, `BLEND`";
    for (materials, said) in [
        ("[]", "does not exist"),
        ("{}", "does not exist"),
        (r#"[{"pbrMetallicRoughness": {"baseColorFactor": [1, 1]}}]"#, length),
        (r#"[{"alphaMode": "GLASS"}]"#, mode),
    ] {
        let sections = format!(r#""materials": {materials},"#);
        let said = format!("{replaced} 0 (counted from 0) {said}");
        let mesh = warned(read(fans(&[r#"}, "material": 0"#], &sections, &[])), &said);
        assert_eq!(mesh.appearance().unwrap().materials[0].color, [65535; 4]);
    }
    let two = fans(&[r#"}, "material": 3"#, r#"}, "material": 4"#, r#"}, "material": 3"#], "", &[]);
    let said = format!("{replaced} 3 (counted from 0) does not exist; and 1 more");
    assert_eq!(warnings(read(two)), [said]);
}

/// Where the square's corners are on a texture, `v` down.
const UVS: [f32; 8] = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.25];
const UV_KIND: &str = r#""componentType": 5126, "type": "VEC2""#;
const PAINTED: &str = r#", "TEXCOORD_0": 1}, "material": 0"#;
const TEXELS: [Rgba; 2] = [RED, BLUE];

/// The material whose colour is the first texture.
const TEXTURED: &str = r#"{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}"#;

/// A fan on `textures`, with the first of these materials.
fn painted_by(materials: &str, textures: &str) -> String {
    let sections = format!(r#""materials": [{materials}], {textures},"#);
    fans(&[PAINTED], &sections, &[(UV_KIND, floats(&UVS))])
}

/// A fan whose colour is the first of `textures`, with `info` on how.
fn painted(info: &str, textures: &str) -> String {
    painted_by(&TEXTURED.replace(r#""index": 0"#, &format!(r#""index": 0{info}"#)), textures)
}

fn data_uri() -> String {
    format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png([2, 1], &TEXELS)))
}

fn textured() -> String {
    format!(r#""textures": [{{"source": 0}}], "images": [{{"uri": "{}"}}]"#, data_uri())
}

pub(crate) fn with_image(image: &str) -> String {
    painted("", &format!(r#""textures": [{{"source": 0}}], "images": [{image}]"#))
}

/// A painted square in one file, with an image in a buffer view.
pub(crate) fn painted_binary() -> Vec<u8> {
    let image = r#"{"bufferView": 2, "mimeType": "image/png"}"#;
    let sections = format!(
        r#""materials": [{TEXTURED}], "textures": [{{"source": 0}}], "images": [{image}],"#
    );
    let bytes = r#""componentType": 5121, "type": "SCALAR""#;
    let arrays = [(UV_KIND, floats(&UVS)), (bytes, png([2, 1], &TEXELS))];
    as_glb(&fans(&[PAINTED], &sections, &arrays))
}

#[test]
fn textures_are_read_from_text_a_buffer_and_a_file() {
    let found = look(read(painted("", &textured())));
    assert_eq!((found.textures[0].size(), found.textures[0].texels()), ([2, 1], &TEXELS[..]));
    let [a, b, c, d] = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.25]];
    assert_eq!(found.uvs, [[b, c, a], [c, d, a]]);
    let inside = look(read(painted_binary()));
    assert_eq!((&inside.textures, &inside.uvs), (&found.textures, &found.uvs));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.gltf");
    std::fs::create_dir(folder.path().join("Textures")).unwrap();
    std::fs::write(folder.path().join("Textures/a 1%.PNG"), png([2, 1], &TEXELS)).unwrap();
    for uri in [
        "Textures/a%201%25.PNG",
        "textures/a%201%25.png",
        "Textures/a 1%.PNG",
        "Textures\\\\a%201%25.PNG",
        "file:///home/me/Textures/a%201%25.PNG",
    ] {
        std::fs::write(&path, with_image(&format!(r#"{{"uri": "{uri}"}}"#))).unwrap();
        assert_eq!(look(read_mesh(&path)).textures, found.textures, "{uri}");
    }
}

/// Images and textures, each with its warning.
const UNREAD_IMAGES: &str = r#"
{"uri": "none.png"} | 'none.png' (there is no such file beside the model)
{"uri": "https://example.org/a.png"}
    'https://example.org/a.png' (it is not beside the model: download it, and write its name there)
{"uri": "data:image/png;base64,AAAA"}
    'image 0' (files of this kind are not read; save it as PNG or JPEG)
{"uri": "data:image/png,AAAA"} | 'image 0' (has data that are not in base 64)
{"name": "bark"} | 'bark' (it has no data)
{"name": "bark", "bufferView": 7} | 'bark' (is in the buffer view 7, which does not exist)
7 | 'image 0' (is malformed: invalid type: integer `7`, expected an image)
"#;
const UNREAD_TEXTURES: &str = r#"
{} | 'texture 0' (it has no image)
{"source": 1} | 'image 1' (there is no such image)
{"extensions": {"KHR_texture_basisu": {"source": 0}}}
    'texture 0' (an image of KHR_texture_basisu is not read: use PNG, JPEG or WebP)
{"extensions": {"EXT_texture_avif": {"source": 0}}}
    'texture 0' (an image of EXT_texture_avif is not read: use PNG, JPEG or WebP)
{"extensions": {"EXT_other": {"x": 0}}} | 'texture 0' (it has no image)
{"extensions": {"MSFT_texture_dds": {"source": 0}}}
    'texture 0' (an image of MSFT_texture_dds is not read: use PNG, JPEG or WebP)
"#;

#[test]
fn textures_that_cannot_be_read_are_plain_and_a_warning_by_name() {
    let images = rows(UNREAD_IMAGES).into_iter().map(|(image, said)| (with_image(&image), said));
    let with_texture = |texture: &str| {
        painted("", &format!(r#""textures": [{texture}], "images": [{{"uri": "a"}}]"#))
    };
    let textures =
        rows(UNREAD_TEXTURES).into_iter().map(|(texture, said)| (with_texture(&texture), said));
    let none = (with_texture(""), "'texture 0' (there is no such texture)".to_owned());
    for (file, said) in images.chain(textures).chain([none]) {
        let said = format!("a texture was replaced by a plain colour: {said}");
        let mesh = warned(read(&file), &said);
        let look = mesh.appearance().unwrap();
        assert!(look.textures.is_empty() && look.uvs.is_empty());
        assert_eq!(look.materials[0].texture, None);
    }
}

/// Textures, with samplers, and how they are wrapped and filtered.
const SAMPLED: &str = r#"
{"source": 0} | [Repeat, Repeat] Nearest
{"source": 0, "sampler": 0}], "samplers": [{"wrapS": 33071, "wrapT": 33648, "magFilter": 9729}
    [Clamp, Mirror] Linear
{"source": 0, "sampler": 0}], \
"samplers": [{"wrapS": 10497, "wrapT": 10497, "magFilter": 9728, "minFilter": 9987}
    [Repeat, Repeat] Nearest
{"extensions": {"EXT_texture_webp": {"source": 0}}} | [Repeat, Repeat] Nearest
{"source": 0, "extensions": {"KHR_texture_basisu": {"source": 9}}} | [Repeat, Repeat] Nearest
"#;

#[test]
fn textures_have_their_wrapping_filter_and_other_source() {
    for (texture, expected) in rows(SAMPLED) {
        let image = format!(r#""images": [{{"uri": "{}"}}]"#, data_uri());
        let look = look(read(painted("", &format!(r#""textures": [{texture}], {image}"#))));
        let found = look.materials[0].texture.unwrap();
        assert_eq!((found.texture, look.textures.len()), (0, 1), "{texture}");
        assert_eq!(format!("{:?} {:?}", found.wrap, found.filter), expected, "{texture}");
    }
}

#[test]
fn one_image_is_read_once_for_all_textures_of_it() {
    let glossy = r#"{"extensions": {"KHR_materials_pbrSpecularGlossiness": {"diffuseTexture":
        {"index": 1}}}}"#;
    let sections = format!(
        r#""materials": [{TEXTURED}, {glossy}], "samplers": [{{"magFilter": 9729}}],
        "textures": [{{"source": 0}}, {{"source": 0, "sampler": 0}}],
        "images": [{{"uri": "{}"}}],"#,
        data_uri()
    );
    let other = PAINTED.replace("\"material\": 0", "\"material\": 1");
    let look = look(read(fans(&[PAINTED, &other], &sections, &[(UV_KIND, floats(&UVS))])));
    let filters = [0, 2].map(|i| look.material(i).texture.unwrap().filter);
    assert_eq!((look.textures.len(), filters), (1, [Filter::Nearest, Filter::Linear]));
}

#[test]
fn texture_coordinates_are_of_any_type_and_set() {
    let textured = textured();
    let expected = look(read(painted("", &textured))).uvs;
    let bytes: Vec<u8> = UVS.iter().map(|c| (c * 255.0) as u8).collect();
    let shorts: Vec<u8> = UVS.iter().flat_map(|c| ((c * 65535.0) as u16).to_le_bytes()).collect();
    for (component, numbers) in [(5121, bytes), (5123, shorts)] {
        let kind = format!(r#""componentType": {component}, "normalized": true, "type": "VEC2""#);
        let material = TEXTURED.replace(r#""index": 0"#, r#""index": 0, "texCoord": 3"#);
        let sections = format!(r#""materials": [{material}], {textured},"#);
        let part = PAINTED.replace("TEXCOORD_0", "TEXCOORD_0\": 0, \"TEXCOORD_3");
        let found = look(read(fans(&[&part], &sections, &[(&kind, numbers)]))).uvs;
        assert_near(&found, &expected, 0.005);
    }
    // All zeros, and one that is not.
    let values = (UV_KIND, floats(&[0.5, 0.75]));
    let part = PAINTED.replace("\"TEXCOORD_0\": 1", "\"TEXCOORD_0\": 2");
    let sections = format!(r#""materials": [{TEXTURED}], {textured},"#);
    let sparse = r#"{"count": 4, "componentType": 5126, "type": "VEC2", "sparse": {"count": 1,
        "indices": {"bufferView": 2, "componentType": 5121}, "values": {"bufferView": 1}}}"#;
    let file = fans(&[&part], &sections, &[values, ("", vec![2])])
        .replace(r#"{"bufferView": 2, "count": 4, }"#, sparse);
    let [zero, there] = [[0.0, 0.0], [0.5, 0.75]];
    assert_eq!(look(read(file)).uvs, [[zero, there, zero], [there, zero, zero]]);
}

/// Whether these texture coordinates of triangles differ by less than `tolerance`.
fn assert_near(found: &[[[f32; 2]; 3]], expected: &[[[f32; 2]; 3]], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    let [all_found, all_expected] = [found, expected].map(|uvs| uvs.as_flattened().as_flattened());
    for (a, b) in all_found.iter().zip(all_expected) {
        assert!((a - b).abs() < tolerance, "{found:?} rather than {expected:?}");
    }
}

#[test]
fn texture_transforms_scale_then_turn_then_move() {
    let textured = textured();
    // The first triangle is of the corners at (1, 1), (1, 0) and (0, 1).
    for (transform, expected) in [
        ("", [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]),
        (r#""offset": [0, 1], "scale": [1, -1]"#, [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]),
        // The specification's example: the lower left quadrant, the image turned clockwise.
        (
            r#""offset": [0, 1], "rotation": 1.5707963267948966, "scale": [0.5, 0.5]"#,
            [[0.5, 0.5], [0.0, 0.5], [0.5, 1.0]],
        ),
        (
            r#""rotation": 1.5707963267948966, "scale": [2, 3]"#,
            [[3.0, -2.0], [0.0, -2.0], [3.0, 0.0]],
        ),
    ] {
        let info = format!(r#", "extensions": {{"KHR_texture_transform": {{{transform}}}}}"#);
        // Exact without a rotation.
        let tolerance = if transform.contains("rotation") { 1e-6 } else { f32::MIN_POSITIVE };
        assert_near(&look(read(painted(&info, &textured))).uvs[..1], &[expected], tolerance);
    }
    let info = r#", "texCoord": 5, "extensions": {"KHR_texture_transform": {"texCoord": 0}}"#;
    assert_eq!(look(read(painted(info, &textured))).uvs[0][0], [1.0, 1.0]);
}

/// Changes of a painted square, and their messages.
const BAD_TEXTURE_COORDINATES: &str = r#"
TEXCOORD_0 => TEXCOORD_1 | there is no TEXCOORD_0
"TEXCOORD_0": 1 => "TEXCOORD_0": 8 | accessor 8 (counted from 0) does not exist
"bufferView": 1, "count": 4 => "bufferView": 1, "count": 3
    accessor 1 (counted from 0) has 3 elements for 4 vertices
VEC2 => VEC4 | accessor 1 (counted from 0) is of type VEC4 where VEC2 belongs
5126, "type": "VEC2" => 5125, "type": "VEC2"
    accessor 1 (counted from 0) has components of type 5125 for texture coordinates
"byteLength": 32 => "byteLength": 31
    accessor 1 (counted from 0) reaches past the end of the buffer view 1
"#;

#[test]
fn texture_coordinates_that_cannot_be_read_are_plain_and_a_warning() {
    let part = "a texture was replaced by a plain colour: mesh 0, primitive 0 (counted from 0): ";
    for (changed, expected) in changes(&painted("", &textured()), BAD_TEXTURE_COORDINATES) {
        let mesh = warned(read(changed), &format!("{part}{expected}"));
        let look = mesh.appearance().unwrap();
        let is_nowhere = look.uvs.as_flattened().iter().all(|uv| uv[0].is_nan() && uv[1].is_nan());
        assert!(look.materials[0].texture.is_none() || is_nowhere, "{expected}");
    }
}

/// A fan with the texture `large.png`.
pub(crate) fn large() -> String {
    with_image(r#"{"uri": "large.png"}"#)
}

const COLORS: [f32; 12] = [1.0, 0.0, 0.5, 0.0, 1.0, 0.5, 0.25, 0.0, 1.0, 1.0, 0.0, 0.0];
const COLORED: &str = r#", "COLOR_0": 1"#;
const COLOR_KIND: &str = r#""componentType": 5126, "type": "VEC3""#;

#[test]
fn colours_of_vertices_are_linear_and_of_any_type() {
    let found = look(read(fans(&[COLORED], "", &[(COLOR_KIND, floats(&COLORS))])));
    let opaque = u16::MAX;
    let expected = [
        [opaque, 0, 32768, opaque],
        [0, opaque, 32768, opaque],
        [16384, 0, opaque, opaque],
        [opaque, 0, 0, opaque],
    ];
    assert_eq!(found.vertex_colors, expected);
    assert!(found.materials[0].has_vertex_colors && found.materials[0].color == [opaque; 4]);
    let beyond = [&COLORS[..9], &[2.0, -1.0, f32::NAN]].concat();
    let said = "1 vertex has a colour with values outside their range: the nearest in it are used, \
                and 0 for NaN";
    let clamped = warned(read(fans(&[COLORED], "", &[(COLOR_KIND, floats(&beyond))])), said);
    assert_eq!(clamped.appearance().unwrap().vertex_colors, expected);
    let bytes = vec![255, 0, 51, 128];
    let shorts = vec![255, 255, 0, 0, 1, 2, 0, 0x80];
    for (kind, bytes, expected) in [
        (r#"5121, "normalized": true"#, &bytes, [65535, 0, 13107, 0x8080]),
        ("5121", &bytes, [65535, 0, 13107, 0x8080]),
        (r#"5123, "normalized": true"#, &shorts, [65535, 0, 0x201, 0x8000]),
    ] {
        let kind = format!(r#""componentType": {kind}, "type": "VEC4""#);
        let look = look(read(fans(&[COLORED], "", &[(&kind, bytes.repeat(4))])));
        assert_eq!(look.vertex_colors, [expected; 4], "{kind}");
        assert_eq!(look.materials[0].alpha, Alpha::Opaque);
    }
}

#[test]
fn primitives_without_colours_of_vertices_have_none_and_share_only_what_is_the_same() {
    let arrays = [(COLOR_KIND, floats(&COLORS)), (COLOR_KIND, floats(&[0.5; 12]))];
    let sections = r#""materials": [{"alphaMode": "BLEND"}],"#;
    let parts = [
        r#", "COLOR_0": 1}, "material": 0"#,
        r#"}, "material": 0"#,
        COLORED,
        r#", "COLOR_0": 2"#,
        r#", "COLOR_0": 1}, "material": 0"#,
    ];
    let loaded = read(fans(&parts, sections, &arrays)).unwrap();
    assert_eq!(loaded.mesh.positions().len(), 12);
    let look = loaded.mesh.appearance().unwrap();
    let found = [0, 2, 4, 6, 8].map(|triangle| {
        let material = look.material(triangle);
        (material.has_vertex_colors, material.alpha)
    });
    let [blend, opaque] = [Alpha::Blend, Alpha::Opaque];
    let [clear, solid] = [blend, opaque].map(|alpha| (true, alpha));
    assert_eq!(found, [clear, (false, blend), solid, solid, clear]);
    let color = |triangle: usize| look.vertex_colors[loaded.mesh.triangles()[triangle][2] as usize];
    assert_eq!(color(0), [65535, 0, 32768, 65535]);
    assert_eq!(color(2), [65535; 4]);
    assert_eq!((color(4), color(6), color(8)), (color(0), [32768, 32768, 32768, 65535], color(0)));
}

/// Changes of a square with colours of vertices, and their messages.
const BAD_COLORS: &str = r#"
"COLOR_0": 1 => "COLOR_0": 8 | accessor 8 (counted from 0) does not exist
"bufferView": 1, "count": 4 => "bufferView": 1, "count": 5
    accessor 1 (counted from 0) has 5 elements for 4 vertices
1, "count": 4, "componentType": 5126, "type": "VEC3" => \
1, "count": 4, "componentType": 5126, "type": "VEC2"
    accessor 1 (counted from 0) is of type VEC2 where VEC3 or VEC4 belongs
1, "count": 4, "componentType": 5126 => 1, "count": 4, "componentType": 5122
    accessor 1 (counted from 0) has components of type 5122 for colours
"byteOffset": 48, "byteLength": 48 => "byteOffset": 48, "byteLength": 47
    accessor 1 (counted from 0) reaches past the end of the buffer view 1
"#;

#[test]
fn colours_of_vertices_that_cannot_be_read_are_white_and_a_warning() {
    let file = fans(&[COLORED], r#""materials": [{}],"#, &[(COLOR_KIND, floats(&COLORS))]);
    let part = "colours of vertices were ignored: mesh 0, primitive 0 (counted from 0): ";
    for (changed, expected) in changes(&file, BAD_COLORS) {
        let mesh = warned(read(changed), &format!("{part}{expected}"));
        let colors = mesh.appearance().map(|look| look.vertex_colors.clone());
        assert!(colors.unwrap_or_default().iter().all(|color| *color == [65535; 4]));
    }
}

#[test]
fn instances_have_the_looks_of_their_mesh_and_mirrors_too() {
    let sections = format!(r#""materials": [{TEXTURED}], {},"#, textured());
    let part = PAINTED.replace("\"TEXCOORD_0\": 1", "\"TEXCOORD_0\": 1, \"COLOR_0\": 2");
    let arrays = [(UV_KIND, floats(&UVS)), (COLOR_KIND, floats(&COLORS))];
    let nodes = r#""nodes": [{"mesh": 0}, {"mesh": 0, "scale": [-1, 1, 1]}]"#;
    let file = fans(&[&part], &sections, &arrays).replace(r#""nodes": [{"mesh": 0}]"#, nodes);
    let look = look(read(file));
    let [one, two] = [0, 2].map(|triangle| look.uvs[triangle]);
    assert_eq!([one[0], one[2], one[1]], two);
    assert_eq!((look.vertex_colors.len(), look.uvs.len()), (8, 4));
    assert_eq!(look.vertex_colors[..4], look.vertex_colors[4..]);
}

#[test]
fn materials_that_no_primitive_has_look_like_nothing() {
    let unused = fans(&[""], r#""materials": [{}], "textures": 7,"#, &[]);
    assert_eq!(read(unused).unwrap().mesh.appearance(), None);
}

/// A triangle, `A`, `B` and `D` by accessor 0, among `arrays` of floats by accessors 1 and on, each
/// with its type. One more accessor follows, of joints.
fn with_arrays(primitive: &str, rest: &str, arrays: &[(&str, &[f32])]) -> String {
    let positions = [A, B, D].concat().into_iter().map(|c| c as f32).collect::<Vec<_>>();
    let mut all = Vec::new();
    for (shape, numbers) in [("VEC3", &positions[..])].iter().chain(arrays) {
        let size = HashMap::from([("VEC3", 3), ("VEC4", 4), ("MAT4", 16)])[shape];
        let count = numbers.len() / size;
        let kind = format!(r#""componentType": 5126, "count": {count}, "type": "{shape}""#);
        all.push((kind, floats(numbers)));
    }
    // All 0, but for the first joint of the last vertex.
    all.push((JOINTS.to_owned(), vec![0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]));
    gltf(&format!(r#""meshes": [{{"primitives": [{primitive}]}}], {rest}"#), &all)
}

const JOINTS: &str = r#""componentType": 5121, "count": 3, "type": "VEC4""#;

/// The triangle, with `count` positions without data by accessor 1.
fn with_zeros(primitive: &str, rest: &str, count: usize) -> String {
    let zeros = format!(r#"{{"componentType": 5126, "count": {count}, "type": "VEC3"}}"#);
    with_arrays(primitive, rest, &[]).replace(&format!(r#"{{"bufferView": 1, {JOINTS}}}"#), &zeros)
}

fn moved(by: [f64; 3]) -> [[f64; 3]; 3] {
    [A, B, D].map(|corner| [0, 1, 2].map(|axis| corner[axis] + by[axis]))
}

#[test]
fn gpu_instances_are_placed_one_by_one_below_their_node() {
    let placed = |attributes: &str, arrays: &[(&str, &[f32])]| {
        let node = format!(
            r#""extensionsRequired": ["EXT_mesh_gpu_instancing"], "nodes": [{{"mesh": 0,
            "translation": [0, 0, 5], "extensions": {{"EXT_mesh_gpu_instancing":
            {{"attributes": {{{attributes}}}}}}}}}]"#
        );
        read(with_arrays(r#"{"attributes": {"POSITION": 0}}"#, &node, arrays))
    };
    let arrays: [(&str, &[f32]); 3] = [
        ("VEC3", &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0]),
        ("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]),
        ("VEC3", &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
    ];
    // Doubled, then turned by a half turn about z, then moved.
    let turned = [[0.0, 2.0, 5.0], [-2.0, 2.0, 5.0], [0.0, 0.0, 5.0]];
    let [first, second] = [[1.0, 0.0, 5.0], [0.0, 2.0, 5.0]].map(moved);
    for (attributes, expected) in [
        ("", &[moved([0.0, 0.0, 5.0])][..]),
        (r#""TRANSLATION": 1"#, &[first, second]),
        (r#""TRANSLATION": 1, "ROTATION": 2, "SCALE": 3"#, &[first, turned]),
    ] {
        assert_eq!(triangles(placed(attributes, &arrays)), expected, "{attributes}");
    }
    let uneven = placed(r#""TRANSLATION": 1, "SCALE": 2"#, &[arrays[0], ("VEC3", &[1.0; 9])]);
    assert_eq!(fault(uneven), "EXT_mesh_gpu_instancing has accessors of different counts");
}

#[test]
fn morph_targets_have_the_weights_of_the_node_or_the_mesh() {
    let primitive =
        r#"{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}, {"POSITION": 2}]}"#;
    let arrays: [(&str, &[f32]); 2] = [("VEC3", &[4.0; 9]), ("VEC3", &[1.0; 9])];
    let of_mesh = |weights: &str, node: &str| {
        let nodes = format!(r#""nodes": [{{"mesh": 0{node}}}]"#);
        let weights = format!(r#"{weights}"primitives""#);
        with_arrays(primitive, &nodes, &arrays).replace(r#""primitives""#, &weights)
    };
    for (mesh, node, by) in [
        ("", "", 0.0),
        ("", r#", "weights": [0.5, 0.25]"#, 2.25),
        (r#""weights": [0, 1], "#, "", 1.0),
    ] {
        assert_eq!(triangles(read(of_mesh(mesh, node))), [moved([by; 3])], "{mesh}{node}");
    }
    let short: [(&str, &[f32]); 2] = [("VEC3", &[4.0; 6]), ("VEC3", &[1.0; 9])];
    let rest = r#""nodes": [{"mesh": 0, "weights": [1, 0]}]"#;
    let said = fault(read(with_arrays(primitive, rest, &short)));
    assert!(said.ends_with("accessor 1 (counted from 0) has 2 elements for 3 vertices"), "{said}");
}

#[test]
fn skinned_meshes_are_where_their_joints_place_them() {
    // Accessor 3 has the joints: the last vertex has the second, all others the first.
    let primitive = r#"{"attributes": {"POSITION": 0, "JOINTS_0": 3, "WEIGHTS_0": 1}}"#;
    let identity =
        |x: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, 0.0, 0.0, 1.0];
    let matrices = [identity(-1.0), identity(0.0)].concat();
    // Half a weight is all of it where there is no other.
    let weights = [0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    // The transform of the node with the mesh does not count.
    let rest = r#""nodes": [{"mesh": 0, "skin": 0, "translation": [100, 0, 0]},
        {"translation": [3, 0, 0], "children": [2]}, {"translation": [0, 7, 0]}],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 2}]"#;
    let file = with_arrays(primitive, rest, &[("VEC4", &weights), ("MAT4", &matrices)]);
    let with_joints = |joints: &str| read(file.replace(r#""joints": [1, 2]"#, joints));
    let placed = [[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 8.0, 0.0]];
    assert_eq!(triangles(read(&file)), [placed]);
    let said = "skin 0 (counted from 0) was ignored: it has the joint 9, not in the scene";
    let mesh = warned(with_joints(r#""joints": [1, 9]"#), said);
    assert_eq!(corners(&mesh), [moved([100.0, 0.0, 0.0])]);
    let said = fault(with_joints(r#""joints": [1]"#));
    assert!(said.ends_with("the joint 1 is out of range: there are 1"), "{said}");
    let count = r#""count": 2, "type": "MAT4""#;
    let said = warnings(read(file.replace(count, &count.replace('2', "1000000000000000000"))));
    assert!(said[0].contains("bind matrices whose accessor 2"), "{said:?}");
    assert!(said[0].ends_with("more than there are bytes"), "{said:?}");
}

#[test]
fn the_work_of_all_poses_is_limited() {
    // Accessor 1 has no data: a short file has 65,535 vertices, moved by 600 targets.
    let targets = vec![r#"{"POSITION": 1}"#; 600].join(", ");
    let primitive = format!(r#"{{"attributes": {{"POSITION": 1}}, "targets": [{targets}]}}"#);
    let loaded = |nodes: usize| {
        let nodes = vec![r#"{"mesh": 0}"#; nodes].join(", ");
        read(with_zeros(&primitive, &format!(r#""nodes": [{nodes}]"#), 65_535))
    };
    assert_eq!(loaded(3).unwrap().mesh.positions().len(), 3 * 65_535);
    let said = fault(loaded(500));
    let start = "its nodes and morph targets repeat meshes too often: there are 19,";
    assert!(said.starts_with(start), "{said}");
}

#[test]
fn an_accessor_without_a_buffer_view_is_zero() {
    // Accessor 1 is: zero, and moved by a morph target.
    let primitive = r#"{"attributes": {"POSITION": 1}, "targets": [{"POSITION": 0}]}"#;
    let rest = r#""nodes": [{"mesh": 0, "weights": [1]}]"#;
    assert_eq!(triangles(read(with_zeros(primitive, rest, 3))), [[A, B, D]]);
    let bare = with_zeros(r#"{"attributes": {"POSITION": 1}}"#, rest, 3);
    let said = "1 primitive has positions or indices without data, which are all zero";
    assert_eq!(corners(&warned(read(bare), said)), [[A; 3]]);
}
