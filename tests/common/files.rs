//! Files that several formats' tests need.

use fastrand::Rng;
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

/// A GLB file of this document and its data.
pub fn glb(json: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let chunks = [Some((b"JSON", &json[..])), data.map(|data| (b"BIN\0", data))];
    let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    let chunk = |(kind, data): (&[u8; 4], &[u8])| [&length(data), &kind[..], data].concat();
    let chunks = chunks.into_iter().flatten().map(chunk).collect::<Vec<_>>().concat();
    [b"glTF\x02\0\0\0", &(12 + chunks.len() as u32).to_le_bytes()[..], &chunks].concat()
}

/// A few changes of `input`: bytes, numbers at the ends of their range, parts left out, repeated,
/// or taken from `other`.
pub fn mutated(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 << rng.u32(0..4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.usize(..bytes.len());
        let end = bytes.len().min(at + (1 << rng.u32(0..7)));
        match rng.u32(0..8) {
            0 => bytes[at] ^= 1 << rng.u32(0..8),
            1 => bytes[at] = rng.u8(..),
            2 => bytes[at] = *rng.choice(b"0129-.eE \n/\"[]{},").expect("some"),
            3 => {
                let value = *rng.choice(&[0u32, 1, !0, 1 << 31, !0 >> 1, 0xffff]).expect("some");
                let len = (bytes.len() - at).min(4);
                bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            6 => bytes.truncate(at),
            _ => {
                let from = rng.usize(..=other.len());
                let part = other[from..other.len().min(from + (end - at))].to_vec();
                bytes.splice(at..end, part);
            }
        }
    }
    bytes
}
