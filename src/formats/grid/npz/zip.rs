//! Streaming zip archives, as far as `.npz` needs them.
//!
//! Hand-written: the crate `zip` reads seekable files, or entries with the lengths before the
//! content; a pipe offers neither. After PKWARE, *APPNOTE.TXT* 6.3.10.

use std::io::{self, BufRead, Read, Write};

use flate2::Compression;
use flate2::bufread::DeflateDecoder;

use crate::formats::io::bytes::{read_exactly, skip};
use crate::formats::io::checked::Checked;
use crate::formats::io::deflate::Deflater;
use crate::formats::{ReadError, content, excerpt};

const LOCAL: u32 = 0x0403_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

/// Version 4.5 of the specification, the first with 64-bit lengths.
const VERSION: u16 = 45;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Flag: the lengths are in a descriptor after the content.
const HAS_DESCRIPTOR: u16 = 1 << 3;
const ENCRYPTED: u16 = 1;
/// Marks a length that is in the extra field.
const IN_EXTRA: u32 = u32::MAX;
const EXTRA_64: u16 = 1;
/// 1 January 1980, the earliest date: a fixed date makes files reproducible.
const DATE: u16 = 1 << 5 | 1;

/// Writes an archive.
pub(super) struct Writer<W> {
    out: Checked<W>,
    entries: Vec<Entry>,
}

struct Entry {
    name: &'static str,
    offset: u64,
    crc: u32,
    deflated: u64,
    len: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out: Checked::new(out), entries: Vec::new() }
    }

    /// Adds a file with the content that `write` writes.
    pub(super) fn file(
        &mut self,
        name: &'static str,
        write: impl FnOnce(&mut Deflater<&mut dyn Write>) -> io::Result<()>,
    ) -> io::Result<()> {
        let offset = self.out.len;
        let head = bytes(&[&LOCAL.to_le_bytes(), &common(0, [IN_EXTRA; 2], name, 20)]);
        self.out.write_all(&head)?;
        self.out.write_all(name.as_bytes())?;
        // This field makes readers expect 64-bit lengths in the descriptor.
        self.out.write_all(&extra_64(&[0, 0]))?;
        let begin = self.out.len;
        let mut content = Deflater::new(&mut self.out as &mut dyn Write, Compression::fast());
        write(&mut content)?;
        let (crc, len) = content.finish()?;
        let deflated = self.out.len - begin;
        self.out.write_all(&bytes(&[
            &DESCRIPTOR.to_le_bytes(),
            &crc.to_le_bytes(),
            &deflated.to_le_bytes(),
            &len.to_le_bytes(),
        ]))?;
        self.entries.push(Entry { name, offset, crc, deflated, len });
        Ok(())
    }

    /// Writes the central directory.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let begin = self.out.len;
        for Entry { name, offset, crc, deflated, len } in &self.entries {
            let extra = extra_64(&[*len, *deflated, *offset]);
            let record = bytes(&[
                &CENTRAL.to_le_bytes(),
                &VERSION.to_le_bytes(),
                &common(*crc, [IN_EXTRA; 2], name, extra.len() as u16),
                // Comment length, disk number and attributes.
                &[0; 10],
                &IN_EXTRA.to_le_bytes(),
                name.as_bytes(),
                &extra,
            ]);
            self.out.write_all(&record)?;
        }
        let (end, count) = (self.out.len, self.entries.len() as u64);
        let tail = bytes(&[
            &END_64.to_le_bytes(),
            &44_u64.to_le_bytes(),
            &[VERSION.to_le_bytes(), VERSION.to_le_bytes()].concat(),
            &[0; 8],
            &count.to_le_bytes(),
            &count.to_le_bytes(),
            &(end - begin).to_le_bytes(),
            &begin.to_le_bytes(),
            &LOCATOR_64.to_le_bytes(),
            &[0; 4],
            &end.to_le_bytes(),
            &1_u32.to_le_bytes(),
            &END.to_le_bytes(),
            &[0; 4],
            // Counts, length and offset are in the 64-bit record.
            &[0xff; 12],
            &[0; 2],
        ]);
        self.out.write_all(&tail)?;
        Ok(self.out.inner)
    }
}

/// The common fields of a local header and a central directory record.
fn common(crc: u32, lens: [u32; 2], name: &str, extra: u16) -> Vec<u8> {
    bytes(&[
        &VERSION.to_le_bytes(),
        &HAS_DESCRIPTOR.to_le_bytes(),
        &DEFLATED.to_le_bytes(),
        &0_u16.to_le_bytes(),
        &DATE.to_le_bytes(),
        &crc.to_le_bytes(),
        &lens[0].to_le_bytes(),
        &lens[1].to_le_bytes(),
        &(name.len() as u16).to_le_bytes(),
        &extra.to_le_bytes(),
    ])
}

fn extra_64(numbers: &[u64]) -> Vec<u8> {
    let numbers: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    bytes(&[&EXTRA_64.to_le_bytes(), &(numbers.len() as u16).to_le_bytes(), &numbers])
}

fn bytes(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Reads an archive to its end, and calls `take` with the name and content of each file. `take`
/// need not read all of the content.
pub(super) fn read(
    input: &mut dyn BufRead,
    mut take: impl FnMut(&str, &mut dyn Read) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut first = true;
    loop {
        match Fields::new(input, 4)?.u32() {
            LOCAL => read_file(input, &mut take)?,
            CENTRAL => skip_fields(input, 42, |head| {
                head.skip(24);
                u64::from(head.u16()) + u64::from(head.u16()) + u64::from(head.u16())
            })?,
            END_64 => skip_fields(input, 8, Fields::u64)?,
            LOCATOR_64 => skip(input, 16).map_err(cut_off)?,
            END => {
                skip_fields(input, 18, |end| {
                    end.skip(16);
                    end.u16().into()
                })?;
                break;
            }
            _ if first => return Err(content("not an .npz file: it is no zip archive")),
            _ => return Err(content("the zip archive is malformed")),
        }
        first = false;
    }
    match input.fill_buf()? {
        [] => Ok(()),
        _ => Err(content("there are more bytes after the archive's end")),
    }
}

/// Reads one file, after its signature, with its descriptor.
fn read_file(
    input: &mut dyn BufRead,
    take: &mut impl FnMut(&str, &mut dyn Read) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut head = Fields::new(input, 26)?;
    head.skip(2);
    let (flags, method) = (head.u16(), head.u16());
    head.skip(4);
    let (crc, mut deflated, mut len) = (head.u32(), u64::from(head.u32()), u64::from(head.u32()));
    let (name, extra) = (head.u16(), head.u16());
    let name = Fields::new(input, name.into())?.0;
    let name = String::from_utf8_lossy(&name).into_owned();
    let mut extra = Fields::new(input, extra.into())?;
    let mut has_long_lengths = false;
    while extra.0.len() >= 4 {
        let (id, size) = (extra.u16(), usize::from(extra.u16()));
        has_long_lengths |= id == EXTRA_64;
        if id == EXTRA_64 && size >= 16 && extra.0.len() >= 16 {
            (len, deflated) = (extra.u64(), extra.u64());
            extra.skip(size - 16);
        } else {
            extra.skip(size);
        }
    }
    let has_descriptor = flags & HAS_DESCRIPTOR != 0;
    let called = excerpt(&name);
    let mut take = |content: &mut dyn Read| take(&name, content);
    if flags & ENCRYPTED != 0 {
        return Err(content(format!("{called} is encrypted")));
    }
    let found = match method {
        STORED if !has_descriptor => {
            let mut content = Checked::new(input.take(deflated));
            drained(&mut content, &called, &mut take)?
        }
        DEFLATED => {
            let mut content = Checked::new(DeflateDecoder::new(&mut *input));
            drained(&mut content, &called, &mut take)?
        }
        STORED => {
            let message = "is stored without its length in front of it: compress it, or write the \
                           archive to a file that can seek";
            return Err(content(format!("{called} {message}")));
        }
        _ => return Err(content(format!("{called} is compressed in a way that is not supported"))),
    };
    let (crc, len) = match has_descriptor {
        true => read_descriptor(input, found.1, has_long_lengths)?,
        false => (crc, len),
    };
    match found == (crc, len) {
        true => Ok(()),
        false => Err(content(format!("{called} is damaged: its check sum is another"))),
    }
}

/// Reads a file to its end. Returns its CRC-32 and its length.
fn drained<R: Read>(
    content: &mut Checked<R>,
    called: &str,
    take: &mut impl FnMut(&mut dyn Read) -> Result<(), ReadError>,
) -> Result<(u32, u64), ReadError> {
    let malformed = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            self::content(format!("{called} is cut off, or damaged"))
        }
        _ => error.into(),
    };
    take(content).map_err(|error| match error {
        ReadError::Io(error) => malformed(error),
        other => other,
    })?;
    io::copy(content, &mut io::sink()).map_err(malformed)?;
    Ok((content.crc.clone().finalize(), content.len))
}

/// The CRC-32 and the length in the descriptor of a file of `len` bytes. Its signature is optional.
/// Its lengths have 64 bits if the local header has the extra field for such lengths (section
/// 4.3.9); some writers omit that field.
fn read_descriptor(
    input: &mut dyn BufRead,
    len: u64,
    has_long_lengths: bool,
) -> Result<(u32, u64), ReadError> {
    let mut crc = Fields::new(input, 4)?.u32();
    if crc == DESCRIPTOR {
        crc = Fields::new(input, 4)?.u32();
    }
    let mut lens = Fields::new(input, 8)?;
    let (_, second) = (lens.u32(), u64::from(lens.u32()));
    // With 64-bit lengths, `second` is the upper half of the first.
    if second == len && !has_long_lengths {
        return Ok((crc, second));
    }
    Ok((crc, Fields::new(input, 8)?.u64()))
}

/// Skips a record. `more` returns its remaining length from its first `head` bytes.
fn skip_fields(
    input: &mut dyn BufRead,
    head: u64,
    more: impl FnOnce(&mut Fields) -> u64,
) -> Result<(), ReadError> {
    let more = more(&mut Fields::new(input, head)?);
    skip(input, more).map_err(cut_off)
}

/// An error of the archive's own structure.
fn cut_off(error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => content("the zip archive is cut off"),
        _ => error.into(),
    }
}

/// A record of little-endian numbers; reads past its end give zeros.
struct Fields(Vec<u8>);

impl Fields {
    /// Reads the next `len` bytes, at most 65,535.
    fn new(input: &mut dyn BufRead, len: u64) -> Result<Self, ReadError> {
        read_exactly(input, len).map(Self).map_err(cut_off)
    }

    fn skip(&mut self, len: usize) {
        self.0.drain(..len.min(self.0.len()));
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut number = [0; N];
        let len = N.min(self.0.len());
        number[..len].copy_from_slice(&self.0[..len]);
        self.skip(len);
        number
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}
