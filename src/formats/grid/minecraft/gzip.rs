//! Gzip files, deflated in parallel (L. P. Deutsch, *GZIP file format specification version 4.3*,
//! RFC 1952, 1996).

use std::io::{self, BufWriter, Write};

use flate2::Compression;

use crate::formats::io::deflate::Deflater;

/// The magic bytes, deflate, no flags, no time, no level and no operating system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Writes a file with the content that `write` writes.
pub(super) fn write<'a>(
    out: &'a mut dyn Write,
    write: impl FnOnce(&mut Deflater<&mut BufWriter<&'a mut dyn Write>>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    out.write_all(&HEADER)?;
    let mut content = Deflater::new(&mut out, Compression::default());
    write(&mut content)?;
    let (crc, len) = content.finish()?;
    out.write_all(&crc.to_le_bytes())?;
    // Modulo 2^32.
    out.write_all(&(len as u32).to_le_bytes())?;
    out.flush()
}
