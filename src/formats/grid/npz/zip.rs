//! Reading zip archives as streams, as far as `.npz` needs them.
//!
//! Hand-written: the crates `rawzip`, which writes them, and `zip` read seekable files, or entries
//! with the lengths before the content; a pipe offers neither. After PKWARE, *APPNOTE.TXT* 6.3.10.

use std::io::{self, BufRead, Read};

use flate2::bufread::DeflateDecoder;

use crate::formats::io::bytes::{read_exactly, skip};
use crate::formats::io::checked::Checked;
use crate::formats::{ReadError, content, excerpt};

const LOCAL: u32 = 0x0403_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Flag: the lengths are in a descriptor after the content.
const HAS_DESCRIPTOR: u16 = 1 << 3;
const ENCRYPTED: u16 = 1;
const EXTRA_64: u16 = 1;
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
            _ if first => bail!("not an .npz file: it is no zip archive"),
            _ => bail!("the zip archive is malformed"),
        }
        first = false;
    }
    ensure!(input.fill_buf()?.is_empty(), "there are more bytes after the archive's end");
    Ok(())
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
    ensure!(flags & ENCRYPTED == 0, "{called} is encrypted");
    let found = match method {
        STORED if !has_descriptor => {
            let mut content = Checked::new(input.take(deflated));
            drained(&mut content, &called, &mut take)?
        }
        DEFLATED => {
            let mut content = Checked::new(DeflateDecoder::new(&mut *input));
            drained(&mut content, &called, &mut take)?
        }
        STORED => bail!(
            "{called} is stored without its length in front of it: compress it, or write the \
             archive to a file that can seek"
        ),
        _ => bail!("{called} is compressed in a way that is not supported"),
    };
    let (crc, len) = if has_descriptor {
        read_descriptor(input, found.1, has_long_lengths)?
    } else {
        (crc, len)
    };
    ensure!(found == (crc, len), "{called} is damaged: its check sum is another");
    Ok(())
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
    Ok((content.crc().finalize(), content.len))
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
