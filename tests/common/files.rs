//! Files that several formats' tests need.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use png::{BitDepth, ColorType, Encoder};

/// The files in a folder and below.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// A PNG file of these bytes, encoded as `set` says.
pub fn png_with(
    [width, height]: [u32; 2],
    set: impl FnOnce(&mut Encoder<'_, &mut Vec<u8>>),
    data: &[u8],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    set(&mut encoder);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A PNG file of these texels, of three or four channels.
pub fn png_of<const N: usize>(size: [u32; 2], texels: &[[u8; N]]) -> Vec<u8> {
    let color = if N == 4 { ColorType::Rgba } else { ColorType::Rgb };
    png_with(size, |encoder| encoder.set_color(color), texels.as_flattened())
}

/// A PNG file of one grey, of so many bits a texel.
pub fn grey_png(size: [u32; 2], depth: BitDepth, byte: u8) -> Vec<u8> {
    let row = size[0] as usize * depth as usize / 8;
    let set = |encoder: &mut Encoder<'_, &mut Vec<u8>>| {
        encoder.set_color(ColorType::Grayscale);
        encoder.set_depth(depth);
    };
    png_with(size, set, &vec![byte; row * size[1] as usize])
}

/// A glTF document of `sections`. Each of `arrays` becomes an accessor: its JSON members, and its
/// bytes, embedded.
pub fn gltf<K: Display>(sections: &str, arrays: &[(K, Vec<u8>)]) -> String {
    let (mut accessors, mut views, mut data) = (Vec::new(), Vec::new(), Vec::new());
    for (view, (kind, bytes)) in arrays.iter().enumerate() {
        accessors.push(format!(r#"{{"bufferView": {view}, {kind}}}"#));
        let (at, length) = (data.len(), bytes.len());
        views.push(format!(r#"{{"buffer": 0, "byteOffset": {at}, "byteLength": {length}}}"#));
        data.extend(bytes);
    }
    let (accessors, views) = (accessors.join(", "), views.join(", "));
    let (base64, length) = (BASE64_STANDARD.encode(&data), data.len());
    format!(
        r#"{{"asset": {{"version": "2.0"}}, {sections}, "accessors": [{accessors}],
        "bufferViews": [{views}],
        "buffers": [{{"uri": "data:;base64,{base64}", "byteLength": {length}}}]}}"#
    )
}

/// A glTF document whose buffer is embedded, without it, and the bytes of the buffer.
pub fn without_buffer(document: &str) -> (String, Vec<u8>) {
    let (before, rest) = document.rsplit_once("\"uri\": \"data:").unwrap();
    let (uri, after) = rest.split_once("\", ").unwrap();
    let (_, base64) = uri.split_once("base64,").unwrap();
    (format!("{before}{after}"), BASE64_STANDARD.decode(base64).unwrap())
}

/// The same in one binary file.
pub fn as_glb(document: &str) -> Vec<u8> {
    let (document, data) = without_buffer(document);
    glb(&document, Some(&data))
}

/// Floats as glTF and other formats have them.
pub fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A GLB file: a JSON document and a binary chunk.
pub fn glb(json: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let chunks = [Some((b"JSON", &json[..])), data.map(|data| (b"BIN\0", data))];
    let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    let chunk = |(kind, data): (&[u8; 4], &[u8])| [&length(data), &kind[..], data].concat();
    let chunks = chunks.into_iter().flatten().map(chunk).collect::<Vec<_>>().concat();
    [b"glTF\x02\0\0\0", &(12 + chunks.len() as u32).to_le_bytes()[..], &chunks].concat()
}

/// A zip archive of files, stored.
pub fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    for &(name, content) in files {
        let (mut entry, config) = archive.new_file(name).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap()
}

/// A 3MF file of this model.
pub fn package_3mf(model: &[u8]) -> Vec<u8> {
    zip_of(&[("_rels/.rels", RELATIONSHIPS_3MF.as_bytes()), ("3D/3dmodel.model", model)])
}

/// The relationships of a 3MF file whose model is `3D/3dmodel.model`.
pub const RELATIONSHIPS_3MF: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Target="/Metadata/thumbnail.png" Id="rel-1" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail"/>
<Relationship Target="/3D/3dmodel.model" Id="rel-2" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/>
</Relationships>
"#;

pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzipped = GzEncoder::new(Vec::new(), Compression::fast());
    gzipped.write_all(bytes).unwrap();
    gzipped.finish().unwrap()
}
