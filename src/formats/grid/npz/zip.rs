//! Reading zip archives as streams, as far as `.npz` needs them.
//!
//! Hand-written: the crates `rawzip`, which writes them, and `zip` read seekable files, or entries
//! with the lengths before the content; a pipe offers neither. After PKWARE, *APPNOTE.TXT* 6.3.10.

use std::io::{self, BufRead, Read};

use flate2::bufread::DeflateDecoder;

use crate::formats::io::bytes::{read_exactly, skip, u16_at, u32_at, u64_at};
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
        match u32::from_le_bytes(record(input)?) {
            LOCAL => read_file(input, &mut take)?,
            CENTRAL => {
                let head: [u8; 42] = record(input)?;
                let lengths = [24, 26, 28].map(|at| u64::from(u16_at(&head, at)));
                skip(input, lengths.iter().sum()).map_err(cut_off)?;
            }
            END_64 => {
                let length = u64::from_le_bytes(record(input)?);
                skip(input, length).map_err(cut_off)?;
            }
            LOCATOR_64 => skip(input, 16).map_err(cut_off)?,
            END => {
                let head: [u8; 18] = record(input)?;
                skip(input, u16_at(&head, 16).into()).map_err(cut_off)?;
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
    let head: [u8; 26] = record(input)?;
    let [flags, method, name, extra] = [2, 4, 22, 24].map(|at| u16_at(&head, at));
    let (crc, deflated, len) = (u32_at(&head, 10), u32_at(&head, 14), u32_at(&head, 18));
    let (mut deflated, mut len) = (u64::from(deflated), u64::from(len));
    let name = read_exactly(input, name.into()).map_err(cut_off)?;
    let name = String::from_utf8_lossy(&name).into_owned();
    let extra = read_exactly(input, extra.into()).map_err(cut_off)?;
    let (mut rest, mut has_long_lengths) = (&extra[..], false);
    while let Some((head, content)) = rest.split_at_checked(4) {
        let [id, size] = [0, 2].map(|at| u16_at(head, at));
        has_long_lengths |= id == EXTRA_64;
        if id == EXTRA_64 && size >= 16 && content.len() >= 16 {
            (len, deflated) = (u64_at(content, 0), u64_at(content, 8));
        }
        rest = content.get(size.into()..).unwrap_or_default();
    }
    let has_descriptor = flags & HAS_DESCRIPTOR != 0;
    let called = excerpt(&name);
    ensure!(flags & ENCRYPTED == 0, "{called} is encrypted");
    let content: Box<dyn Read + '_> = match method {
        STORED if !has_descriptor => Box::new(input.take(deflated)),
        DEFLATED => Box::new(DeflateDecoder::new(&mut *input)),
        STORED => bail!(
            "{called} is stored without its length in front of it: compress it, or write the \
             archive to a file that can seek"
        ),
        _ => bail!("{called} is compressed in a way that is not supported"),
    };
    let found = drained(content, &called, |content| take(&name, content))?;
    let (crc, len) = if has_descriptor {
        read_descriptor(input, found.1, has_long_lengths)?
    } else {
        (crc, len)
    };
    ensure!(found == (crc, len), "{called} is damaged: its check sum is another");
    Ok(())
}

/// Reads a file to its end. Returns its CRC-32 and its length.
fn drained(
    content: Box<dyn Read + '_>,
    called: &str,
    take: impl FnOnce(&mut dyn Read) -> Result<(), ReadError>,
) -> Result<(u32, u64), ReadError> {
    let mut content = Checked::new(content);
    let malformed = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            self::content(format!("{called} is cut off, or damaged"))
        }
        _ => error.into(),
    };
    take(&mut content).map_err(|error| match error {
        ReadError::Io(error) => malformed(error),
        other => other,
    })?;
    io::copy(&mut content, &mut io::sink()).map_err(malformed)?;
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
    let mut crc = u32::from_le_bytes(record(input)?);
    if crc == DESCRIPTOR {
        crc = u32::from_le_bytes(record(input)?);
    }
    let lens: [u8; 8] = record(input)?;
    // With 64-bit lengths, `second` is the upper half of the first.
    let second = u64::from(u32_at(&lens, 4));
    if second == len && !has_long_lengths {
        return Ok((crc, second));
    }
    Ok((crc, u64::from_le_bytes(record(input)?)))
}

fn record<const N: usize>(input: &mut dyn BufRead) -> Result<[u8; N], ReadError> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map_err(cut_off)?;
    Ok(bytes)
}

/// An error of the archive's own structure.
fn cut_off(error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => content("the zip archive is cut off"),
        _ => error.into(),
    }
}
