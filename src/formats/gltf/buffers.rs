//! The container of a glTF file, and its buffers, embedded or in sidecar files.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use crate::formats::gltf::json::{Buffer, unsupported_version};
use crate::formats::{ReadError, bytes_within, excerpt};

/// The parts of a file.
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    /// The embedded buffer.
    pub(super) binary: Option<&'a [u8]>,
}

/// Rejects files that begin like neither form of glTF.
pub(super) fn check_start(start: &[u8]) -> Result<(), ReadError> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    match text.is_empty() || text.starts_with(b"{") || start.starts_with(b"glTF") {
        true => Ok(()),
        false => Err(content("not a glTF file: it begins with neither '{' nor 'glTF'")),
    }
}

/// Splits a file into its parts, by its content rather than its extension.
///
/// # Errors
/// A malformed or truncated binary file.
pub(super) fn open(bytes: &[u8]) -> Result<Container<'_>, ReadError> {
    let Some(mut rest) = bytes.strip_prefix(b"glTF") else {
        let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        return Ok(Container { json, binary: None });
    };
    let cut_off = || content("the file ends within its header: it is cut off");
    let mut number = || {
        let (number, after) = rest.split_first_chunk::<4>()?;
        rest = after;
        Some(u32::from_le_bytes(*number))
    };
    let version = number().ok_or_else(cut_off)?;
    if version != 2 {
        return Err(unsupported_version(&format!("{version}.0")));
    }
    let length = number().ok_or_else(cut_off)? as usize;
    if length != bytes.len() {
        return Err(content(format!(
            "the header says that the file has {length} bytes, but it has {}: it is cut off, or \
             something was added",
            bytes.len()
        )));
    }
    let json = chunk(&mut rest)?;
    let binary = if rest.is_empty() { None } else { Some(chunk(&mut rest)?) };
    match (json, binary) {
        ((b"JSON", json), None) => Ok(Container { json, binary: None }),
        ((b"JSON", json), Some((kind, bytes))) => {
            Ok(Container { json, binary: (kind == b"BIN\0").then_some(bytes) })
        }
        _ => Err(content(
            "the first chunk of the file is not JSON: write it again with another tool",
        )),
    }
}

/// The next chunk, and its type.
fn chunk<'a>(rest: &mut &'a [u8]) -> Result<(&'a [u8; 4], &'a [u8]), ReadError> {
    let parts = rest.split_first_chunk::<4>().and_then(|(length, rest)| {
        let (kind, rest) = rest.split_first_chunk::<4>()?;
        let (content, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((kind, content, rest))
    });
    let (kind, bytes, after) = parts
        .ok_or_else(|| content("a chunk is longer than the file: it is cut off, or malformed"))?;
    *rest = after;
    Ok((kind, bytes))
}

/// The bytes of a data URI; `None` for any other URI.
pub(super) fn data_of_uri(uri: &str) -> Option<Result<Vec<u8>, String>> {
    let data = uri.strip_prefix("data:")?;
    Some(text_in_base_64(data).and_then(decode))
}

fn text_in_base_64(data: &str) -> Result<&str, String> {
    let text = data.split_once(";base64,").map(|(_, text)| text);
    text.ok_or_else(|| "has data that are not in base 64".to_owned())
}

fn decode(text: &str) -> Result<Vec<u8>, String> {
    BASE_64.decode(text).map_err(|error| format!("is malformed base 64: {error}"))
}

fn content(what: impl Into<String>) -> ReadError {
    ReadError::Content(what.into())
}

/// The source of a buffer's bytes.
enum Source<'a> {
    Inside(&'a [u8]),
    /// In base 64.
    Text(&'a str),
    File(PathBuf),
}

fn source<'a>(
    buffer: &'a Buffer,
    is_first: bool,
    binary: Option<&'a [u8]>,
    folder: &Path,
) -> Result<Source<'a>, String> {
    let Some(uri) = buffer.uri.as_deref() else {
        let inside = binary.filter(|_| is_first);
        let what = "has no data: decompress the file, or write it again with another tool";
        return inside.map(Source::Inside).ok_or_else(|| what.to_owned());
    };
    if let Some(data) = uri.strip_prefix("data:") {
        return text_in_base_64(data).map(Source::Text);
    }
    if uri.contains("://") {
        let uri = excerpt(uri);
        return Err(format!("is at {uri}: download it, and write its name there"));
    }
    Ok(Source::File(folder.join(percent_decode_str(uri).decode_utf8_lossy().as_ref())))
}

impl Source<'_> {
    /// An upper bound of bytes of memory.
    fn most_memory(&self) -> u64 {
        match self {
            Source::Inside(_) => 0,
            Source::Text(text) => text.len() as u64 / 4 * 3 + 6,
            Source::File(path) => fs::metadata(path).map_or(0, |file| file.len()),
        }
    }
}

/// Base 64, with or without padding.
const BASE_64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An upper bound of bytes of memory of all buffers.
pub(super) fn most_memory(buffers: &[Buffer], binary: Option<&[u8]>, folder: &Path) -> u64 {
    let each = buffers.iter().enumerate().map(|(index, buffer)| {
        source(buffer, index == 0, binary, folder).map_or(0, |source| source.most_memory())
    });
    each.fold(0, u64::saturating_add)
}

/// The bytes of all buffers.
///
/// # Errors
/// A file that cannot be read; a buffer shorter than the document states.
pub(super) fn load<'a>(
    buffers: &'a [Buffer],
    binary: Option<&'a [u8]>,
    folder: &Path,
) -> Result<Vec<Cow<'a, [u8]>>, ReadError> {
    let load = |(index, buffer): (usize, &'a Buffer)| {
        let bytes = source(buffer, index == 0, binary, folder).and_then(fetch);
        let long_enough = bytes.and_then(|bytes| match bytes.len() < buffer.byte_length {
            true => {
                let (has, needed) = (bytes.len(), buffer.byte_length);
                Err(format!("has {has} bytes where the document says {needed}: it is cut off"))
            }
            false => Ok(bytes),
        });
        long_enough.map_err(|what| content(format!("buffer {index} (counted from 0) {what}")))
    };
    buffers.iter().enumerate().map(load).collect()
}

fn fetch(source: Source) -> Result<Cow<[u8]>, String> {
    match source {
        Source::Inside(bytes) => Ok(Cow::Borrowed(bytes)),
        Source::Text(text) => decode(text).map(Cow::Owned),
        Source::File(path) => {
            // The memory bound includes its length already.
            let bytes = bytes_within(&path, u64::MAX);
            let cannot = |error| format!("cannot be read from {}: {error}", path.display());
            bytes.map(Cow::Owned).map_err(cannot)
        }
    }
}
