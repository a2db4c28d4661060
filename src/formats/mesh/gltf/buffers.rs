//! The container of a glTF file, and its buffers, embedded or in sidecar files.

use std::borrow::Cow;
use std::path::PathBuf;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use crate::formats::mesh::gltf::json::{Buffer, unsupported_version};
use crate::formats::mesh::sidecars::Finder;
use crate::formats::{ReadError, Sidecars, content, excerpt, shortened};

/// Rejects files that begin like neither form of glTF.
pub(super) fn check_start(start: &[u8]) -> Result<(), ReadError> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    match text.is_empty() || text.starts_with(b"{") || start.starts_with(b"glTF") {
        true => Ok(()),
        false => Err(content("not a glTF file: it begins with neither '{' nor 'glTF'")),
    }
}

/// The JSON of a file and its embedded buffer, by its content rather than its extension.
///
/// # Errors
/// A malformed or truncated binary file.
pub(super) fn open(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), ReadError> {
    let Some(mut rest) = bytes.strip_prefix(b"glTF") else {
        return Ok((bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None));
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
    match json {
        (b"JSON", json) => {
            Ok((json, binary.and_then(|(kind, bytes)| (kind == b"BIN\0").then_some(bytes))))
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

/// The place of the bytes of a buffer.
pub(super) enum Source<'a> {
    Inside(&'a [u8]),
    /// In base 64.
    Text(&'a str),
    File {
        sidecars: &'a Sidecars,
        path: PathBuf,
        /// Its length when it was found.
        bytes: u64,
    },
}

/// The place of the bytes of each buffer, or the reason why there are none.
pub(super) fn sources<'a>(
    buffers: &'a [Buffer],
    binary: Option<&'a [u8]>,
    sidecars: &'a Sidecars,
) -> Vec<Result<Source<'a>, String>> {
    let mut finder = Finder::new(sidecars);
    let mut source = |(index, buffer): (usize, &'a Buffer)| {
        let Some(uri) = buffer.uri.as_deref() else {
            let inside =
                if buffer.is_left_out() { Some(&[][..]) } else { binary.filter(|_| index == 0) };
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
        let decoded = percent_decode_str(uri).decode_utf8_lossy();
        let folders = [sidecars.base().to_owned()];
        // Some programs write names as they are.
        let found = [&decoded, uri].into_iter().find_map(|name| finder.find(name, &folders, &[]));
        let path = found.ok_or_else(|| {
            format!("is in '{}', which is not beside the model: put it there", excerpt(&decoded))
        })?;
        Ok(Source::File { sidecars, bytes: sidecars.cost(&path), path })
    };
    buffers.iter().enumerate().map(&mut source).collect()
}

impl<'a> Source<'a> {
    fn fetch(self) -> Result<Cow<'a, [u8]>, String> {
        match self {
            Source::Inside(bytes) => Ok(Cow::Borrowed(bytes)),
            Source::Text(text) => decode(text).map(Cow::Owned),
            Source::File { sidecars, path, bytes } => {
                let from = shortened(&path.display().to_string(), 120);
                let cannot = |error| format!("cannot be read from {from}: {error}");
                sidecars.read(&path, bytes).map_err(cannot)
            }
        }
    }
}

/// Base 64, with or without padding.
const BASE_64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// At most so many bytes are taken by all buffers.
pub(super) fn most_memory(sources: &[Result<Source, String>]) -> u64 {
    let bytes = |source: &Source| match source {
        Source::Inside(_) => 0,
        Source::Text(text) => text.len() as u64 / 4 * 3 + 6,
        Source::File { bytes, .. } => *bytes,
    };
    sources.iter().flatten().map(bytes).fold(0, u64::saturating_add)
}

/// The bytes of all `buffers`, which are at `sources`.
///
/// # Errors
/// A file that cannot be read; a buffer shorter than the document states.
pub(super) fn load<'a>(
    buffers: &[Buffer],
    sources: Vec<Result<Source<'a>, String>>,
) -> Result<Vec<Cow<'a, [u8]>>, ReadError> {
    let load = |(index, (buffer, source)): (usize, (&Buffer, Result<Source<'a>, String>))| {
        let long_enough = source.and_then(Source::fetch).and_then(|bytes| {
            if bytes.len() < buffer.byte_length && !buffer.is_left_out() {
                let (has, needed) = (bytes.len(), buffer.byte_length);
                Err(format!("has {has} bytes where the document says {needed}: it is cut off"))
            } else {
                Ok(bytes)
            }
        });
        long_enough.map_err(|what| content(format!("buffer {index} (counted from 0) {what}")))
    };
    buffers.iter().zip(sources).enumerate().map(load).collect()
}
