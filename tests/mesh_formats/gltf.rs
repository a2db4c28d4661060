//! glTF: Khronos' minimal samples by hand, and what else files hold.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use trivox::formats::gltf::read as read_beside;
use trivox::formats::{Loaded, ReadError, read_mesh};

use super::{A, B, C, D, corners, fault, triangles, warnings};

fn read(bytes: impl AsRef<[u8]>) -> Result<Loaded, ReadError> {
    read_beside(bytes.as_ref(), Path::new("mesh.gltf"))
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
              "max": [1.0, 1.0, 0.0], "min": [0.0, 0.0, 0.0]}}],
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

/// A primitive of the square's corners (accessor 0), indexed 0 1 2 3 in bytes (1), shorts (2) and
/// integers (3); normalized in shorts (4).
fn square(primitive: &str, nodes: &str) -> String {
    let mut data: Vec<u8> =
        [A, B, C, D].concat().iter().flat_map(|&c| (c as f32).to_le_bytes()).collect();
    data.extend([0, 1, 2, 3]);
    data.extend([0u16, 1, 2, 3].iter().flat_map(|i| i.to_le_bytes()));
    data.extend([0u32, 1, 2, 3].iter().flat_map(|i| i.to_le_bytes()));
    let quantized = [A, B, C, D].map(|p| p.map(|c| c as i16 * 32767));
    data.extend(quantized.concat().iter().flat_map(|c| c.to_le_bytes()));
    let length = data.len();
    let data = BASE64_STANDARD.encode(data);
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{nodes}],
        "meshes": [{{"primitives": [{primitive}]}}],
        "buffers": [{{"uri": "data:application/octet-stream;base64,{data}", "byteLength": {length}}}],
        "bufferViews": [{{"buffer": 0, "byteLength": {length}}}],
        "accessors": [
            {{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}},
            {{"bufferView": 0, "byteOffset": 48, "componentType": 5121, "count": 4, "type": "SCALAR"}},
            {{"bufferView": 0, "byteOffset": 52, "componentType": 5123, "count": 4, "type": "SCALAR"}},
            {{"bufferView": 0, "byteOffset": 60, "componentType": 5125, "count": 4, "type": "SCALAR"}},
            {{"bufferView": 0, "byteOffset": 76, "componentType": 5122, "normalized": true, "count": 4,
              "type": "VEC3"}}]}}"#
    )
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

fn glb(json: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut chunks = vec![(*b"JSON", json)];
    chunks.extend(data.map(|data| (*b"BIN\0", data.to_vec())));
    let length = 12 + chunks.iter().map(|(_, chunk)| 8 + chunk.len()).sum::<usize>();
    let mut bytes = [&b"glTF"[..], &2u32.to_le_bytes(), &(length as u32).to_le_bytes()].concat();
    for (kind, chunk) in chunks {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

/// Khronos' `Triangle` in one file.
pub(crate) fn binary() -> Vec<u8> {
    let uri = format!(r#""uri": "data:application/octet-stream;base64,{TRIANGLE}", "#);
    glb(&triangle().replace(&uri, ""), Some(&BASE64_STANDARD.decode(TRIANGLE).unwrap()))
}

#[test]
fn a_triangle_is_read_from_an_embedded_a_binary_and_a_split_file() {
    assert_eq!(triangles(read(triangle())), [[A, B, D]]);
    assert_eq!(triangles(read(binary())), [[A, B, D]]);
    let folder = tempfile::tempdir().unwrap();
    let name = format!("data:application/octet-stream;base64,{TRIANGLE}");
    let split = triangle().replace(&name, "a%20buffer.bin");
    let path = folder.path().join("triangle.gltf");
    std::fs::write(&path, split).unwrap();
    let said = fault(read_mesh(&path));
    assert!(said.starts_with("buffer 0 (counted from 0) cannot be read from "), "{said}");
    let data = BASE64_STANDARD.decode(TRIANGLE).unwrap();
    std::fs::write(folder.path().join("a buffer.bin"), &data).unwrap();
    assert_eq!(triangles(read_mesh(&path)), [[A, B, D]]);
    std::fs::write(folder.path().join("a buffer.bin"), &data[..43]).unwrap();
    let said = fault(read_mesh(&path));
    assert!(said.contains("has 43 bytes where the document says 44: it is cut off"), "{said}");
    std::fs::write(folder.path().join("triangle.glb"), binary()).unwrap();
    assert_eq!(triangles(read_mesh(&folder.path().join("triangle.glb"))), [[A, B, D]]);
}

#[test]
fn a_triangle_without_indices_is_read() {
    let text = triangle().replace(r#", "indices": 0"#, "");
    assert_eq!(triangles(read(text)), [[A, B, D]]);
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
    let both = r#"{"mesh": 0, "rotation": [0, 0, 0.7071067811865476, 0.7071067811865476], "scale": [3, 1, 1]}"#;
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
fn parts_that_share_vertices_have_them_once() {
    let mesh = read(square(&format!("{FAN}, {FAN}"), r#"{"mesh": 0}"#)).unwrap().mesh;
    assert_eq!((mesh.positions().len(), mesh.triangles().len()), (4, 4));
}

#[test]
fn the_default_scene_is_read_or_all_or_all_nodes_or_all_meshes() {
    let nodes = r#"{"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0]}"#;
    let count = |text: String| corners(&read(text).unwrap().mesh).len() / 2;
    let scenes = r#""scenes": [{"nodes": [0]}, {"nodes": [1, 0]}]"#;
    let two = square(FAN, nodes).replace(r#""scenes": [{"nodes": [0]}]"#, scenes);
    assert_eq!(count(two.clone()), 1);
    let skipped = "1 scene was skipped: another is the one to show first";
    assert_eq!(warnings(read(&two)), [skipped]);
    assert_eq!(count(two.replace(r#""scene": 0"#, r#""scene": 1"#)), 2);
    let none = two.replace(r#""scene": 0, "#, "");
    assert_eq!(count(none.clone()), 2);
    assert_eq!(warnings(read(&none)), Vec::<String>::new());
    assert_eq!(count(none.replace(&format!("{scenes}, "), "")), 2);
    let no_nodes = none.replace(&format!("{scenes}, "), "").replace(nodes, "");
    assert_eq!(count(no_nodes), 1);
}

#[test]
fn what_is_left_out_is_a_warning() {
    let node = r#"{"mesh": 0}"#;
    let points =
        r#"{"attributes": {"POSITION": 0}, "mode": 0}, {"attributes": {"POSITION": 0}, "mode": 3}"#;
    let of = |primitives: &str, node: &str| warnings(read(square(primitives, node)));
    assert_eq!(
        of(&format!("{FAN}, {points}"), node),
        ["2 sets of points or lines were skipped: they have no surface"]
    );
    let bare = format!(r#"{FAN}, {{"attributes": {{}}}}"#);
    assert_eq!(of(&bare, node), ["1 primitive was skipped: no positions"]);
    let colored = FAN.replace(r#""POSITION": 0"#, r#""POSITION": 0, "COLOR_0": 1"#);
    assert_eq!(of(&colored, node), ["materials and colours are not used yet"]);
    let morphed = FAN.replace(r#""mode": 6"#, r#""mode": 6, "targets": [{"POSITION": 1}]"#);
    assert_eq!(of(&morphed, node), ["morph targets were ignored: their meshes are at rest"]);
    let skin = "skins were ignored: their meshes are as they were modelled, not as they are posed";
    assert_eq!(of(FAN, r#"{"mesh": 0, "skin": 0}"#), [skin]);
    let used =
        r#""extensionsUsed": ["KHR_materials_unlit", "EXT_mesh_gpu_instancing"], "scene": 0"#;
    let extended = square(FAN, node).replacen(r#""scene": 0"#, used, 1);
    let ignored = "the extension EXT_mesh_gpu_instancing was ignored: the shape may differ";
    assert_eq!(warnings(read(extended)), [ignored]);
}

#[test]
fn required_extensions_that_are_not_known_are_refused_by_name() {
    for (name, fix) in [
        ("KHR_draco_mesh_compression", "decompress it"),
        ("EXT_meshopt_compression", "decompress it"),
        ("EXT_mesh_gpu_instancing", "write it without"),
    ] {
        let required =
            format!(r#""extensionsRequired": ["KHR_materials_unlit", "{name}"], "scene": 0"#);
        let text = triangle().replacen(r#""scene": 0"#, &required, 1);
        assert_eq!(
            fault(read(text)),
            format!(
                "the file needs the extension {name}, which is not read: {fix} with the tool that \
                 made it, or with gltf-transform"
            )
        );
    }
}

#[test]
fn bad_documents_are_refused_with_the_place() {
    let file = triangle();
    for (old, new, expected) in [
        (
            r#""count": 3, "type": "VEC3""#,
            r#""count": 2, "type": "VEC3""#,
            "mesh 0, primitive 0 (counted from 0): the index 2 is out of range: there are 2 vertices",
        ),
        (
            r#""count": 3, "type": "VEC3""#,
            r#""count": 4, "type": "VEC3""#,
            "mesh 0, primitive 0 (counted from 0): accessor 1 (counted from 0) reaches past the end of \
          the buffer view 1",
        ),
        (
            r#""count": 3, "type": "VEC3""#,
            r#""count": 4000000000, "type": "VEC3""#,
            "mesh 0, primitive 0 (counted from 0): accessor 1 (counted from 0) says that it has \
          4000000000 elements, more than there are bytes",
        ),
        (
            r#""count": 3, "type": "SCALAR""#,
            r#""count": 2, "type": "SCALAR""#,
            "mesh 0, primitive 0 (counted from 0): 2 corners are not those of whole triangles",
        ),
        (
            r#""VEC3""#,
            r#""VEC2""#,
            "mesh 0, primitive 0 (counted from 0): accessor 1 (counted from \
          0) is of type VEC2 where VEC3 belongs",
        ),
        (
            "5126",
            "5125",
            "mesh 0, primitive 0 (counted from 0): accessor 1 (counted from 0) has \
          components of type 5125 for positions",
        ),
        (
            "5123",
            "5122",
            "mesh 0, primitive 0 (counted from 0): accessor 0 (counted from 0) has \
          components of type 5122 for indices",
        ),
        (
            r#""POSITION": 1"#,
            r#""POSITION": 7"#,
            "mesh 0, primitive 0 (counted from 0): accessor 7 (counted from 0) does not exist",
        ),
        (
            r#"{"bufferView": 1, "#,
            "{",
            "mesh 0, primitive 0 (counted from 0): accessor 1 (counted \
          from 0) has no data: decompress the file, or write it again with another tool",
        ),
        (
            r#""bufferView": 1"#,
            r#""bufferView": 9"#,
            "mesh 0, primitive 0 (counted from 0): accessor \
          1 (counted from 0) is in the buffer view 9, which does not exist",
        ),
        (
            r#""buffer": 0, "byteOffset": 8"#,
            r#""buffer": 3, "byteOffset": 8"#,
            "mesh 0, primitive 0 \
          (counted from 0): accessor 1 (counted from 0) is in the buffer 3, which does not exist",
        ),
        (
            r#""byteOffset": 8"#,
            r#""byteOffset": 9"#,
            "mesh 0, primitive 0 (counted from 0): accessor \
          1 (counted from 0) is in the buffer view 1, which reaches past the end of its buffer",
        ),
        (
            r#""byteLength": 36"#,
            r#""byteLength": 36, "byteStride": 4"#,
            "mesh 0, primitive 0 (counted \
          from 0): accessor 1 (counted from 0) has elements of 12 bytes at a stride of 4",
        ),
        (
            r#""indices": 0"#,
            r#""indices": 0, "mode": 9"#,
            "mesh 0, primitive 0 (counted from 0): its mode is 9: use 4 for triangles",
        ),
        (
            r#""indices": 0"#,
            r#""indices": 0, "mode": 1"#,
            "no triangles in the scene, only 1 set of \
          points or lines: nothing to voxelize",
        ),
        (r#""nodes": [0]"#, r#""nodes": []"#, "no triangles in the scene: nothing to voxelize"),
        (r#""nodes": [0]"#, r#""nodes": [4]"#, "node 4 (counted from 0) does not exist"),
        (
            r#""nodes": [0]"#,
            r#""nodes": [0, 0]"#,
            "node 0 (counted from 0) is below two nodes: a scene is a tree",
        ),
        (
            r#"{"mesh": 0}"#,
            r#"{"mesh": 0, "children": [0]}"#,
            "node 0 (counted from 0) is below two nodes: a scene is a tree",
        ),
        (
            r#"{"mesh": 0}"#,
            r#"{"mesh": 2}"#,
            "node 0 (counted from 0) has the mesh 2, which does not exist",
        ),
        (
            r#"{"mesh": 0}"#,
            r#"{"mesh": 0, "rotation": [0, 0, 0, 0]}"#,
            "node 0 (counted from 0) has \
          the rotation [0.0, 0.0, 0.0, 0.0], which is no unit quaternion",
        ),
        (
            r#"{"mesh": 0}"#,
            r#"{"mesh": 0, "matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]}"#,
            "node 0 \
          (counted from 0) has a matrix whose last row is [1.0, 0.0, 0.0, 1.0], not 0, 0, 0, 1",
        ),
        (r#""scene": 0"#, r#""scene": 5"#, "scene 5 (counted from 0) does not exist"),
        (r#""version": "2.0""#, r#""version": "1.0""#, "glTF of version 1.0: convert it to 2.0"),
        (
            r#""version": "2.0""#,
            r#""version": "2.0", "minVersion": "2.1""#,
            "glTF of version 2.1: convert it to 2.0",
        ),
        (
            "AAABAAIA",
            "AAAB*AIA",
            "buffer 0 (counted from 0) is malformed base 64: Invalid symbol 42, \
          offset 4.",
        ),
        (";base64,", ",", "buffer 0 (counted from 0) has data that are not in base 64"),
        (
            "data:application",
            "https://example.org/data:application",
            "buffer 0 (counted from 0) is at \
          https://example.org/data:application/oct...: download it, and write its name there",
        ),
        (
            r#""byteLength": 44"#,
            r#""byteLength": 45"#,
            "buffer 0 (counted from 0) has 44 bytes where \
          the document says 45: it is cut off",
        ),
    ] {
        let text = file.replacen(old, new, 1);
        assert_ne!(text, file, "{old} is not there");
        assert_eq!(fault(read(text)), expected, "{new}");
    }
    assert_eq!(fault(read("")), "the file is empty");
    let missing = "line 1: not a glTF document: column 2: missing field `asset`";
    assert_eq!(fault(read("{}")), missing);
    let said = fault(read(file.replacen("0]", "0", 1)));
    assert!(said.starts_with("line 1: not a glTF document: column "), "{said}");
    let old = r#"{"asset": {"version": "1.0"}, "meshes": {"a": {}}}"#;
    assert_eq!(fault(read(old)), "glTF of version 1.0: convert it to 2.0");
}

#[test]
fn bad_binary_files_are_refused_with_the_reason() {
    let good = binary();
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    assert_eq!(fault(read(with(4, 1))), "binary glTF of version 1: convert it to 2.0");
    let said = fault(read(with(11, 1)));
    assert!(said.starts_with("the header says that the file has 167"), "{said}");
    let long = "a chunk is longer than the file: it is cut off, or malformed";
    assert_eq!(fault(read(with(14, 9))), long);
    let first = "the first chunk of the file is not JSON: write it again with another tool";
    assert_eq!(fault(read(with(16, b'j'))), first);
    assert_eq!(fault(read(b"glTF\x02")), "the file ends within its header: it is cut off");
    let uri = format!(r#""uri": "data:application/octet-stream;base64,{TRIANGLE}", "#);
    let said = fault(read(glb(&triangle().replace(&uri, ""), None)));
    let no_data = "has no data: decompress the file, or write it again with another tool";
    assert_eq!(said, format!("buffer 0 (counted from 0) {no_data}"));
}

#[test]
fn arrays_may_be_interleaved() {
    let data: Vec<u8> =
        [A, A, B, B, D, D].concat().iter().flat_map(|&c| (c as f32).to_le_bytes()).collect();
    // The last element has no more than its own bytes.
    let data = BASE64_STANDARD.encode(&data[..60]);
    let text = triangle()
        .replace(TRIANGLE, &data)
        .replace(r#""byteLength": 44"#, r#""byteLength": 60"#)
        .replace(r#""byteOffset": 8, "byteLength": 36"#, r#""byteLength": 60, "byteStride": 24"#)
        .replace(r#", "indices": 0"#, "");
    assert_eq!(triangles(read(text)), [[A, B, D]]);
}

#[test]
fn more_triangles_than_an_index_can_name_are_refused_before_they_are_made() {
    let data = BASE64_STANDARD.encode(vec![0; 65_538]);
    let nodes = vec![r#"{"mesh": 0}"#; 65_537].join(",");
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{nodes}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1, "mode": 5}}]}}],
        "buffers": [{{"uri": "data:;base64,{data}", "byteLength": 65538}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 65538}}], "accessors": [
        {{"bufferView": 0, "componentType": 5126, "count": 1, "type": "VEC3"}},
        {{"bufferView": 0, "componentType": 5121, "count": 65538, "type": "SCALAR"}}]}}"#
    );
    let expected = "the mesh has 4295032832 triangles; at most 4294967295 are supported";
    assert_eq!(fault(read(text)), expected);
}
