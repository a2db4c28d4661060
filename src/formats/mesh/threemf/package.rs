//! The package: the parts of a zip archive by name.

use std::collections::HashMap;
use std::io::Read;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use crate::formats::io::bytes::Budget;
use crate::formats::io::deflate::MAX_RATIO;
use crate::formats::io::xml::Xml;
use crate::formats::{ReadError, content, excerpt};

/// The part with the relationship to the model.
const RELATIONSHIPS: &str = "_rels/.rels";
/// The type of that relationship.
const MODEL: &str = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel";

/// Rejects other files than zip archives, by their first bytes.
pub(super) fn check_start(start: &[u8]) -> Result<(), ReadError> {
    ensure!(start.starts_with(b"PK"), "not a 3MF file: it is no zip archive");
    Ok(())
}

/// An archive, and the place and compression of each file by its name in lower case.
pub(super) struct Package<'a> {
    archive: ZipSliceArchive<&'a [u8]>,
    files: HashMap<String, (ZipArchiveEntryWayfinder, CompressionMethod)>,
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ReadError> {
        check_start(bytes)?;
        let damaged = |error| content(format!("the zip archive is cut off, or damaged: {error}"));
        let archive = ZipArchive::from_slice(bytes).map_err(damaged)?;
        let mut files = HashMap::new();
        let mut entries = archive.entries();
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            let name = String::from_utf8_lossy(entry.file_path().as_bytes());
            let file = (entry.wayfinder(), entry.compression_method());
            let is_new = files.insert(key(&name), file).is_none();
            ensure!(is_new, "the zip archive has two files named {}", excerpt(&name));
        }
        Ok(Self { archive, files })
    }

    /// The name of the part with the model.
    pub(super) fn model(&self, memory: &mut Budget) -> Result<String, ReadError> {
        ensure!(
            self.files.contains_key(RELATIONSHIPS),
            "a zip archive, but no 3MF file: it has no file _rels/.rels"
        );
        let text = self.text(RELATIONSHIPS, memory)?;
        memory.give_back(text.len() as u64);
        let mut xml = Xml::new(RELATIONSHIPS, &text);
        xml.root("Relationships")?;
        while let Some(relationship) = xml.child()? {
            let [kind, target] = xml.attributes(&relationship, ["Type", "Target"])?;
            if let (Some(MODEL), Some(target)) = (kind.as_deref(), target) {
                return Ok(target.into_owned());
            }
            xml.skip(&relationship)?;
        }
        bail!("a package of another format than 3MF: _rels/.rels names no 3D model")
    }

    pub(super) fn text(&self, name: &str, memory: &mut Budget) -> Result<String, ReadError> {
        let called = excerpt(name);
        let Some(&(at, method)) = self.files.get(&key(name)) else {
            bail!("the package has no part {called}, to which it refers");
        };
        let damaged = |error: String| content(format!("{called} is cut off, or damaged: {error}"));
        // The length of the content, as the directory states it.
        let length = at.uncompressed_size_hint();
        memory.take(length)?;
        let entry = self.archive.get_entry(at).map_err(|error| damaged(error.to_string()))?;
        let inflated: &mut dyn Read = match method {
            CompressionMethod::STORE => &mut entry.verifying_reader(entry.data()),
            CompressionMethod::DEFLATE => {
                &mut entry.verifying_reader(DeflateDecoder::new(entry.data()))
            }
            method => bail!(
                "{called} is compressed by {method}, which is not read: compress it by deflate"
            ),
        };
        let mut text = Vec::new();
        let most = entry.data().len().saturating_mul(MAX_RATIO as usize).saturating_add(64);
        let room = most.min(usize::try_from(length).unwrap_or(usize::MAX));
        text.try_reserve_exact(room).map_err(std::io::Error::from)?;
        // A byte more than the stated length lets the check of the length fail.
        let read = inflated.take(length.saturating_add(1)).read_to_end(&mut text);
        match read {
            Ok(read) if read as u64 == length => String::from_utf8(text)
                .map_err(|_| content(format!("{called} is not in UTF-8: export it in UTF-8"))),
            Ok(_) => Err(damaged("its length is not the one in the directory".into())),
            Err(error) => Err(damaged(error.to_string())),
        }
    }
}

/// The key of a part's name: without a slash in front, and in lower case.
fn key(name: &str) -> String {
    name.strip_prefix('/').unwrap_or(name).to_ascii_lowercase()
}
