//! Files that several formats' tests need.

use png::{BitDepth, ColorType, Encoder};

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
        std::io::Write::write_all(&mut writer, content).unwrap();
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
