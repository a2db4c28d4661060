//! A streaming writer and reader of named binary tags, with big-endian numbers, in files compressed
//! by gzip (L. P. Deutsch, *GZIP file format specification version 4.3*, RFC 1952, 1996). Several
//! threads compress.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use flate2::Compression;
use flate2::bufread::GzDecoder;

use crate::formats::io::bytes::{Budget, read_exactly, skip};
use crate::formats::io::deflate::Deflater;
use crate::formats::{Out, ReadError, WriteError, content};

/// The magic bytes, deflate, no flags, no time, no level and no operating system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

const END: u8 = 0;
const BYTE: u8 = 1;
pub(super) const SHORT: u8 = 2;
pub(super) const INT: u8 = 3;
pub(super) const LONG: u8 = 4;
const FLOAT: u8 = 5;
pub(super) const DOUBLE: u8 = 6;
pub(super) const BYTE_ARRAY: u8 = 7;
pub(super) const STRING: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const COMPOUND: u8 = 10;
const INT_ARRAY: u8 = 11;
pub(super) const LONG_ARRAY: u8 = 12;

/// Compounds and lists in each other, at most, as in the game.
const MAX_DEPTH: u32 = 512;

/// Writes a gzip file of the tags that `write` writes.
pub(super) fn write_gzip(
    out: &mut Out,
    write: impl FnOnce(&mut Tags) -> io::Result<()>,
) -> Result<(), WriteError> {
    out.write_all(&GZIP_HEADER)?;
    let mut content = Deflater::new(out, Compression::default());
    write(&mut Tags { out: &mut content })?;
    let (crc, len) = content.finish()?;
    out.write_all(&crc.to_le_bytes())?;
    // Modulo 2^32.
    Ok(out.write_all(&(len as u32).to_le_bytes())?)
}

/// Writes tags to `out`.
pub(super) struct Tags<'a, 'b> {
    pub(super) out: &'a mut Deflater<'b>,
}

impl Tags<'_, '_> {
    pub(super) fn compound(&mut self, name: &str) -> io::Result<()> {
        self.put(COMPOUND, name, &[])
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        self.out.write_all(&[END])
    }

    pub(super) fn int(&mut self, name: &str, value: u32) -> io::Result<()> {
        self.put(INT, name, &value.to_be_bytes())
    }

    pub(super) fn string(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.put(STRING, name, &[])?;
        self.text(value)
    }

    pub(super) fn doubles(&mut self, name: &str, values: [f64; 3]) -> io::Result<()> {
        self.put(LIST, name, &[DOUBLE, 0, 0, 0, 3])?;
        self.out.write_all(values.map(f64::to_be_bytes).as_flattened())
    }

    pub(super) fn ints(&mut self, name: &str, values: [u32; 3]) -> io::Result<()> {
        self.put(INT_ARRAY, name, &[0, 0, 0, 3])?;
        self.out.write_all(values.map(u32::to_be_bytes).as_flattened())
    }

    /// Begins a list of `length` compounds, which must follow, each with its end.
    pub(super) fn compounds(&mut self, name: &str, length: u32) -> io::Result<()> {
        self.put(LIST, name, &[COMPOUND])?;
        self.out.write_all(&length.to_be_bytes())
    }

    /// A tag and its value; of an array only the length, before its elements.
    pub(super) fn put(&mut self, tag: u8, name: &str, value: &[u8]) -> io::Result<()> {
        self.out.write_all(&[tag])?;
        self.text(name)?;
        self.out.write_all(value)
    }

    /// `text` must have fewer than 2^16 bytes.
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(&(text.len() as u16).to_be_bytes())?;
        self.out.write_all(text.as_bytes())
    }
}

/// Reads a gzip file: `take` reads the tags of the root compound, to its end. Messages name the
/// format `what`.
pub(super) fn read_gzip(
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
        // The decoder checks the checksum at the end of the stream.
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

/// A reader of the tags of a compressed file.
pub(super) struct TagReader<'a> {
    input: BufReader<GzDecoder<&'a mut (dyn BufRead + 'a)>>,
}

impl TagReader<'_> {
    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The type and name of the next tag of a compound; `None` at its end.
    pub(super) fn next(&mut self) -> io::Result<Option<(u8, String)>> {
        let [tag] = self.array()?;
        if tag == END {
            return Ok(None);
        }
        Ok(Some((tag, self.text()?)))
    }

    pub(super) fn short(&mut self) -> io::Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn int(&mut self) -> io::Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    pub(super) fn double(&mut self) -> io::Result<f64> {
        self.array().map(f64::from_be_bytes)
    }

    pub(super) fn text(&mut self) -> io::Result<String> {
        let mut bytes = vec![0; self.short()?.into()];
        self.input.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Negative lengths count as 0, as in the game.
    fn length(&mut self) -> io::Result<u64> {
        Ok(u64::try_from(self.int()?).unwrap_or(0))
    }

    /// The bytes of an array with elements of `size` bytes; an error above `most` bytes. The list
    /// grows with the bytes in the file: a false length allocates nothing.
    pub(super) fn bytes(
        &mut self,
        size: u64,
        most: u64,
        memory: &mut Budget,
    ) -> Result<Vec<u8>, ReadError> {
        let length = size * self.length()?;
        ensure!(
            length <= most,
            "there are {length} bytes of block numbers, but at most {most} are possible here"
        );
        // Twice: a growing list is copied.
        memory.check(2 * length)?;
        let bytes = read_exactly(&mut self.input, length)?;
        memory.take(length)?;
        Ok(bytes)
    }

    /// A list of three doubles; `None` if it is another list.
    pub(super) fn doubles(&mut self) -> Result<Option<[f64; 3]>, ReadError> {
        let ([tag], length) = (self.array()?, self.length()?);
        if (tag, length) != (DOUBLE, 3) {
            return self.skip(tag, length, 0).map(|()| None);
        }
        Ok(Some([self.double()?, self.double()?, self.double()?]))
    }

    /// The length of a list of compounds, whose tags follow.
    pub(super) fn compounds(&mut self) -> Result<u64, ReadError> {
        let ([tag], length) = (self.array()?, self.length()?);
        ensure!(tag == COMPOUND || length == 0, "a palette is not a list of compounds");
        Ok(length)
    }

    /// Skips a list, and returns its length.
    pub(super) fn skip_list(&mut self, depth: u32) -> Result<u64, ReadError> {
        let ([tag], length) = (self.array()?, self.length()?);
        self.skip(tag, length, depth + 1).map(|()| length)
    }

    /// Skips `count` values of a type.
    pub(super) fn skip(&mut self, tag: u8, count: u64, depth: u32) -> Result<(), ReadError> {
        let size = match tag {
            BYTE => 1,
            SHORT => 2,
            INT | FLOAT => 4,
            LONG | DOUBLE => 8,
            _ => return (0..count).try_for_each(|_| self.skip_longer(tag, depth)),
        };
        Ok(skip(&mut self.input, count * size)?)
    }

    /// Skips a value of a type whose values differ in length.
    fn skip_longer(&mut self, tag: u8, depth: u32) -> Result<(), ReadError> {
        ensure!(depth <= MAX_DEPTH, "tags are more than {MAX_DEPTH} levels deep");
        let bytes = match tag {
            STRING => self.short()?.into(),
            BYTE_ARRAY => self.length()?,
            INT_ARRAY => 4 * self.length()?,
            LONG_ARRAY => 8 * self.length()?,
            LIST => return self.skip_list(depth).map(|_| ()),
            COMPOUND => {
                while let Some((tag, _)) = self.next()? {
                    self.skip(tag, 1, depth + 1)?;
                }
                return Ok(());
            }
            _ => bail!("there is no type {tag} of tags"),
        };
        Ok(skip(&mut self.input, bytes)?)
    }
}
