//! Gzip files (L. P. Deutsch, *GZIP file format specification version 4.3*, RFC 1952, 1996):
//! written in parallel, and read as tags.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};

use flate2::Compression;
use flate2::bufread::GzDecoder;

use super::nbt::{COMPOUND, TagReader, Tags};
use crate::formats::io::deflate::Deflater;
use crate::formats::{Out, ReadError, content};

/// The magic bytes, deflate, no flags, no time, no level and no operating system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Writes a file with the tags that `write` writes.
pub(super) fn write(
    out: &mut Out,
    write: impl FnOnce(&mut Tags) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(&HEADER)?;
    let mut content = Deflater::new(out, Compression::default());
    write(&mut Tags { out: &mut content })?;
    let (crc, len) = content.finish()?;
    out.write_all(&crc.to_le_bytes())?;
    // Modulo 2^32.
    out.write_all(&(len as u32).to_le_bytes())
}

/// Calls `take` with the tags in the root compound of `input`, a `what` file.
pub(super) fn unzip(
    input: &mut dyn BufRead,
    what: &str,
    take: impl FnOnce(&mut TagReader) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    ensure!(input.fill_buf()?.first() == Some(&0x1f), "not a {what}: it is not compressed by gzip");
    let take_root = || {
        let mut tags = TagReader { input: BufReader::new(GzDecoder::new(&mut *input)) };
        match tags.next()? {
            Some((COMPOUND, _)) => take(&mut tags)?,
            _ => bail!("not a {what}: it does not begin with a compound"),
        }
        // Reads to the end, where the checksum is.
        let is_end = tags.input.fill_buf()?.is_empty() && input.fill_buf()?.is_empty();
        ensure!(is_end, "there are more bytes after the schematic");
        Ok(())
    };
    take_root().map_err(|error| match error {
        ReadError::Io(error) => match error.kind() {
            ErrorKind::UnexpectedEof => content("the file ends before its blocks do"),
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                content(format!("the file is damaged: {error}"))
            }
            _ => error.into(),
        },
        other => other,
    })
}
