//! The container of a glTF file, and its buffers, embedded or in sidecar files.

use std::borrow::Cow;
use std::path::PathBuf;
use std::slice::from_ref;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_PAD_INDIFFERENT;
use percent_encoding::percent_decode_str;

use crate::formats::io::bytes::{Budget, u32_at};
use crate::formats::mesh::gltf::json::{Buffer, unsupported_version};
use crate::formats::mesh::sidecars::Finder;
use crate::formats::{ReadError, Sidecars, content, excerpt, shortened};

/// Rejects files that begin like neither form of glTF.
pub(super) fn check_start(start: &[u8]) -> Result<(), ReadError> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let is_gltf = text.is_empty() || text.starts_with(b"{") || start.starts_with(b"glTF");
    ensure!(is_gltf, "not a glTF file: it begins with neither '{{' nor 'glTF'");
    Ok(())
}

/// The JSON of a file and its embedded buffer, by its content rather than its extension.
pub(super) fn open(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), ReadError> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None));
    }
    let Some((head, mut rest)) = bytes.split_at_checked(12) else {
        bail!("the file ends within its header: it is cut off");
    };
    let [version, length] = [4, 8].map(|at| u32_at(head, at));
    if version != 2 {
        return Err(unsupported_version(&format!("{version}.0")));
    }
    ensure!(
        length as usize == bytes.len(),
        "the header says that the file has {length} bytes, but it has {}: it is cut off, or \
         something was added",
        bytes.len()
    );
    let json = chunk(&mut rest)?;
    let binary = if rest.is_empty() { None } else { Some(chunk(&mut rest)?) };
    let (b"JSON", json) = json else {
        bail!("the first chunk of the file is not JSON: write it again with another tool");
    };
    Ok((json, binary.and_then(|(kind, bytes)| (kind == b"BIN\0").then_some(bytes))))
}

/// The next chunk, and its type.
fn chunk<'a>(rest: &mut &'a [u8]) -> Result<(&'a [u8; 4], &'a [u8]), ReadError> {
    let parts = rest.split_first_chunk::<8>().and_then(|(head, rest)| {
        Some((head.last_chunk()?, rest.split_at_checked(u32_at(head, 0) as usize)?))
    });
    let Some((kind, (bytes, after))) = parts else {
        bail!("a chunk is longer than the file: it is cut off, or malformed");
    };
    *rest = after;
    Ok((kind, bytes))
}

/// The beginning of a data URI.
pub(super) const DATA: &str = "data:";

/// The bytes of a data URI, by its text after [`DATA`].
pub(super) fn decoded(data: &str) -> Result<Vec<u8>, String> {
    let (_, text) = data.split_once(";base64,").ok_or("has data that are not in base 64")?;
    let bytes = STANDARD_PAD_INDIFFERENT.decode(text);
    bytes.map_err(|error| format!("is malformed base 64: {error}"))
}

/// The bytes of all `buffers`; the first may be `binary`, the chunk of a GLB file.
pub(super) fn load<'a>(
    buffers: &[Buffer],
    binary: Option<&'a [u8]>,
    sidecars: &'a Sidecars,
    memory: &mut Budget,
) -> Result<Vec<Cow<'a, [u8]>>, ReadError> {
    let mut finder = Finder::new(sidecars);
    let mut loaded = Vec::with_capacity(buffers.len());
    for (index, buffer) in buffers.iter().enumerate() {
        let fault = |what: String| content(format!("buffer {index} (counted from 0) {what}"));
        let uri = buffer.uri.as_deref();
        let data = uri.and_then(|uri| uri.strip_prefix(DATA));
        let bytes: Result<Cow<[u8]>, String> = match (uri, data) {
            (None, _) if buffer.is_left_out() => Ok(Cow::Borrowed(&[])),
            (None, _) => binary.filter(|_| index == 0).map(Cow::Borrowed).ok_or_else(|| {
                "has no data: decompress the file, or write it again with another tool".into()
            }),
            (Some(_), Some(data)) => {
                memory.take(data.len() as u64 / 4 * 3 + 6)?;
                decoded(data).map(Cow::Owned)
            }
            (Some(uri), None) => {
                let path = find(uri, sidecars, &mut finder).map_err(fault)?;
                let length = sidecars.cost(&path);
                memory.take(length)?;
                sidecars.read(&path, length).map_err(|error| {
                    let from = shortened(&path.display().to_string(), 120);
                    format!("cannot be read from {from}: {error}")
                })
            }
        };
        let bytes = bytes.map_err(fault)?;
        let (has, needed) = (bytes.len(), buffer.byte_length);
        if has < needed && !buffer.is_left_out() {
            let what = format!("has {has} bytes where the document says {needed}: it is cut off");
            return Err(fault(what));
        }
        loaded.push(bytes);
    }
    Ok(loaded)
}

fn find(uri: &str, sidecars: &Sidecars, finder: &mut Finder) -> Result<PathBuf, String> {
    if uri.contains("://") {
        return Err(format!("is at {}: download it, and write its name there", excerpt(uri)));
    }
    let names = names_of(uri);
    let folders = from_ref(&sidecars.folder);
    let found = names.iter().find_map(|name| finder.find(name, folders, &[]));
    found.ok_or_else(|| {
        format!("is in '{}', which is not beside the model: put it there", excerpt(&names[0]))
    })
}

/// The possible file names of a URI: decoded, and as it is, since some programs do not encode it.
pub(super) fn names_of(uri: &str) -> [Cow<'_, str>; 2] {
    [percent_decode_str(uri).decode_utf8_lossy(), uri.into()]
}
