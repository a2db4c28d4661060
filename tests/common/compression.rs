//! Compressed glTF files of a tetrahedron: its corners have other texture coordinates in each
//! triangle. The streams were written by the encoders of the extensions' authors, in JavaScript,
//! from the indices, positions, texture coordinates and colours of [`plain`]:
//!
//! - `draco3dgltf` 1.5.7: an `ExpertEncoder` with `MESH_EDGEBREAKER_ENCODING`, or
//!   `MESH_SEQUENTIAL_ENCODING`, and `SetSpeedOptions(speed, speed)`. Positions are quantized to 3
//!   bits and texture coordinates to 2: the steps are 1, so nothing is rounded.
//! - `meshoptimizer` 1.3.0: `encodeGltfBuffer` in version 0 or 1, with `TRIANGLES` or `INDICES`, of
//!   the positions by `encodeFilterExp(_, 12, 12, 15)`, and of the colours as they are or by
//!   `encodeFilterColor(_, 12, 4, 8)`; of axes by `encodeFilterOct(_, 6, 4, 8)`, and of turns by
//!   `encodeFilterQuat(_, 2, 8, 16)`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::files::{floats, glb, gltf, png_of, without_buffer};

/// Edgebreaker with valences, without, and without seams; sequential. In all the ids are 0, 1 and
/// 2.
pub const DRACO: [(&str, &str); 4] = [
    (
        "edgebreaker, speed 0",
        "RFJBQ08CAgEBAAAADAQCBAAAAv8P/wJEQAEBAAEBAAP/AAEAAAABAAABAAkDAAACAQMJAgABAgECAgQAAgEBAQEBBAMBIAEQARAJAFxMlpSQa/OSAAAAAAcAAAAAAAAAAAAAAAAAAAAAAOBAAwUBAQADA1UVrSoET6XIgYkmmmiiBAAAAIADgPGAAAAAAAMAAAAAAAAAAAAAAAAAQEACAQEBAQQDASBVEa0OC5RTdCf4k6B/5WO7AAAAAP8AAAA=",
    ),
    (
        "edgebreaker, speed 5",
        "RFJBQ08CAgEBAAAADAQCBAAAAv8P/wJEQAEBAAEBAAP/AAAAAAABAAABAAkDAAACAQMJAgABAgECAgQAAgEBAQEBAQMBIAEQARAJAFxMlpSQa/OSAAAAAAcAAAAAAAAAAAAAAAAAAAAAAOBAAwEBAQADBwFAAQCJnMiJnMgAAAAAAwAAAAAAAAAAAAAAAABAQAIBAQEBAQMBIFURrQ4LlFN0J/iToH/lY7sAAAAA/wAAAA==",
    ),
    (
        "edgebreaker, speed 10",
        "RFJBQ08CAgEBAAAADAQABAAAAv8P/wJEQAH/AAADAAkDAAADCQIAAQICBAACAgIBAAEBAQEDASABEAEQCQBcTJaUkGvzkgAAAAAHAAAAAAEBAAMHAUABAImcyImcyAAAAAADAAAAAAEBAQEDASBVEa0OC5RTdCf4k6B/5WO7AAAAAP8AAAAAAAAAAAAAAAAAAAAAAOBAAwAAAAAAAAAAAABAQAI=",
    ),
    (
        "sequential, speed 0",
        "RFJBQ08CAgEAAAAEDAEAAQIDBAUGBwgJCgsBAwAJAwAAAwkCAAECAgQAAgICAQABAQEEA8khARA5DgkoahQJtT6DRYgAAAAABwAAAAABAQEEBK0aA1UdAQgHPQ0uH13UgAAAAAADAAAAAAEBAQQDASCtElUNCwV6loGH1mFT+XuuAAAAAP8AAAAAAAAAAAAAAAAAAAAAAOBAAwAAAAAAAAAAAABAQAI=",
    ),
];

/// A stream of meshopt: its accessor, the number and the size of its elements, the extension object
/// of its view, and its bytes.
pub type Meshopt = (&'static str, [usize; 2], &'static str, &'static str);

/// Indices, positions, texture coordinates and colours.
pub type Arrays = [Meshopt; 4];

const KINDS: [&str; 4] = [
    r#""componentType": 5123, "count": 12, "type": "SCALAR""#,
    r#""componentType": 5126, "count": 12, "type": "VEC3""#,
    r#""componentType": 5126, "count": 12, "type": "VEC2""#,
    r#""componentType": 5121, "normalized": true, "count": 12, "type": "VEC4""#,
];

const TRIANGLES: &str = "4fDw8PAAdodWZ3iphmWJaJgBaQAA";

pub const MESHOPT: Arrays = [
    (KINDS[0], [12, 2], r#""mode": "TRIANGLES""#, TRIANGLES),
    (
        KINDS[1],
        [12, 12],
        r#""mode": "ATTRIBUTES", "filter": "EXPONENTIAL""#,
        "oAABD/A8AHBvcG9wbwABM88AAM7Nzs3OAAE8AP8AcG9wb3BvAAEzzwAAzs3Ozc4AAQA/wwBwb3BvcAABM88AAM7Nzs3OAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACOAAAAjgAAAI4=",
    ),
    (
        KINDS[2],
        [12, 8],
        r#""mode": "ATTRIBUTES""#,
        "oAAAAQMMMAD//4ABAwgAAH4AAAE8888A//////////8BO+++AH5/fn9+f34AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
    ),
    (
        KINDS[3],
        [12, 4],
        r#""mode": "ATTRIBUTES", "filter": "NONE""#,
        "oAEhkIEAAQZJmQABGBkkAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/wAA/w==",
    ),
];

/// Version 1, with a filter of colours, which changes most of them by 1 of 255.
pub const MESHOPT_1: Arrays = [
    (KINDS[0], [12, 2], r#""mode": "INDICES""#, "0QAEBAQEBAQEBAQEBAAAAAA="),
    (
        KINDS[1],
        [12, 12],
        r#""mode": "ATTRIBUTES", "filter": "EXPONENTIAL""#,
        "oWZmZgA8BnBvcG9wbwDaAM7Nzs3OAAYPcG9wb3BvANoAzs3Ozc4A4Alwb3BvcADaAM7Nzs3OAAAAAAAAAAAAAAAAjgAAAI4AAACOAAAA",
    ),
    (
        KINDS[2],
        [12, 8],
        r#""mode": "ATTRIBUTES""#,
        "oVraAAACgABIAH8BAEgC////AH8Bf38Bf38Bf38BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEB",
    ),
    (
        KINDS[3],
        [12, 4],
        r#""mode": "ATTRIBUTES", "filter": "COLOR""#,
        "ob8AAH59fv+CgYJ+fYEABP7+/QD+/f3+/f4AAYGEg/19fn+BgoAAAAAAAAAAAAAAAAAAAAAAAAAAQH/B/wA=",
    ),
];

/// The ends of the axes, and two turns: the identity, and a half turn about z.
pub const AXES_AND_TURNS: [Meshopt; 2] = [
    (
        r#""componentType": 5120, "normalized": true, "count": 6, "type": "VEC3""#,
        [6, 4],
        r#""mode": "ATTRIBUTES", "filter": "OCTAHEDRAL""#,
        "oAEz8AAA/f3+/gE88AAA/v39AwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAH8AfwA=",
    ),
    (
        r#""componentType": 5122, "normalized": true, "count": 2, "type": "VEC4""#,
        [2, 8],
        r#""mode": "ATTRIBUTES", "filter": "QUATERNION""#,
        "oAAAAAAAAAEQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP9/",
    ),
];

pub fn decode(base64: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(base64).unwrap()
}

/// The nodes and meshes of the tetrahedron, with an image, which shows its texture coordinates.
/// `more` is a part of the primitive.
pub fn sections(more: &str) -> String {
    let image = BASE64_STANDARD.encode(png_of([1, 1], &[[9, 9, 9]]));
    format!(
        r#""nodes": [{{"mesh": 0}}], "meshes": [{{"primitives": [{{"indices": 0, "material": 0,
        "attributes": {{"POSITION": 1, "TEXCOORD_0": 2, "COLOR_0": 3}}{more}}}]}}],
        "materials": [{{"pbrMetallicRoughness": {{"baseColorTexture": {{"index": 0}}}}}}],
        "textures": [{{"source": 0}}], "images": [{{"uri": "data:image/png;base64,{image}"}}]"#
    )
}

/// The document of the tetrahedron with the uncompressed arrays in its binary chunk, and the chunk.
pub fn plain() -> (String, Vec<u8>) {
    const CORNERS: [usize; 12] = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    let positions = [[0f32, 0.0, 0.0], [7.0, 0.0, 0.0], [0.0, 7.0, 0.0], [0.0, 0.0, 7.0]];
    let colors = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255; 4]];
    let texcoords: Vec<f32> = (0..12).flat_map(|i| [(i / 3) as f32, (i % 3) as f32]).collect();
    let arrays = [
        (0..12u16).flat_map(u16::to_le_bytes).collect(),
        floats(&CORNERS.map(|corner| positions[corner]).concat()),
        floats(&texcoords),
        CORNERS.map(|corner| colors[corner]).concat(),
    ];
    let arrays: Vec<_> = KINDS.into_iter().zip(arrays).collect();
    without_buffer(&gltf(&sections(""), &arrays))
}

fn document(
    required: &str,
    sections: &str,
    accessors: &[String],
    views: &[String],
    length: usize,
    fallback: &str,
) -> String {
    let (accessors, views) = (accessors.join(", "), views.join(", "));
    format!(
        r#"{{"asset": {{"version": "2.0"}},{required} {sections}, "accessors": [{accessors}],
        "bufferViews": [{views}], "buffers": [{{"byteLength": {length}}}{fallback}]}}"#
    )
}

/// The document of the tetrahedron with a Draco stream in its binary chunk, of `length` bytes.
pub fn draco(length: usize) -> String {
    const NAME: &str = "KHR_draco_mesh_compression";
    let required = format!(r#" "extensionsUsed": ["{NAME}"], "extensionsRequired": ["{NAME}"],"#);
    let more = format!(
        r#", "extensions": {{"{NAME}": {{"bufferView": 0,
        "attributes": {{"POSITION": 0, "TEXCOORD_0": 1, "COLOR_0": 2}}}}}}"#
    );
    let views = [format!(r#"{{"buffer": 0, "byteLength": {length}}}"#)];
    let accessors = KINDS.map(|kind| format!("{{{kind}}}"));
    document(&required, &sections(&more), &accessors, &views, length, "")
}

/// The document with `arrays` compressed by the extension `name` in its binary chunk, and the
/// chunk.
pub fn meshopt(name: &str, sections: &str, arrays: &[Meshopt]) -> (String, Vec<u8>) {
    let (mut views, mut accessors, mut data) = (Vec::new(), Vec::new(), Vec::new());
    let mut decoded = 0;
    for (view, (kind, [count, size], how, stream)) in arrays.iter().enumerate() {
        let (stream, at, length) = (decode(stream), data.len(), count * size);
        accessors.push(format!(r#"{{"bufferView": {view}, {kind}}}"#));
        let stride =
            if how.contains("ATTR") { format!(r#", "byteStride": {size}"#) } else { String::new() };
        views.push(format!(
            r#"{{"buffer": 1, "byteOffset": {decoded}, "byteLength": {length}{stride},
            "extensions": {{"{name}": {{"buffer": 0, "byteOffset": {at}, "byteLength": {},
            "byteStride": {size}, "count": {count}, {how}}}}}}}"#,
            stream.len()
        ));
        decoded += length;
        data.extend(stream);
    }
    let required = format!(r#" "extensionsUsed": ["{name}"], "extensionsRequired": ["{name}"],"#);
    let fallback = format!(
        r#", {{"byteLength": {decoded}, "extensions": {{"{name}": {{"fallback": true}}}}}}"#
    );
    (document(&required, sections, &accessors, &views, data.len(), &fallback), data)
}

pub fn draco_glb() -> Vec<u8> {
    let stream = decode(DRACO[0].1);
    glb(&draco(stream.len()), Some(&stream))
}

pub fn meshopt_glb() -> Vec<u8> {
    let (document, data) = meshopt("KHR_meshopt_compression", &sections(""), &MESHOPT_1);
    glb(&document, Some(&data))
}
