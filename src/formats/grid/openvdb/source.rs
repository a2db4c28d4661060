//! A reader of little-endian numbers that tracks the file offset.

use std::fmt;
use std::io::{self, ErrorKind, Read};

use crate::formats::io::checked::Checked;
use crate::formats::{ReadError, content, excerpt};

/// Longest text that is read, in bytes; names are some dozens of bytes.
const MAX_TEXT: u32 = 1 << 16;

/// The unread rest of a file.
pub(super) struct Source<'a> {
    input: Box<dyn Read + 'a>,
    /// Bytes read so far.
    at: u64,
    /// The CRC-32 of the bytes read since [`start_crc`](Self::start_crc).
    crc: Option<crc32fast::Hasher>,
}

impl<'a> Source<'a> {
    pub(super) fn new(input: impl Read + 'a) -> Self {
        Self { input: Box::new(input), at: 0, crc: None }
    }

    /// Starts a CRC-32 of the bytes that follow.
    pub(super) fn start_crc(&mut self) {
        self.crc = Some(crc32fast::Hasher::new());
    }

    /// The CRC-32 so far; of no bytes if it was not started.
    pub(super) fn crc(&self) -> crc32fast::Hasher {
        self.crc.clone().unwrap_or_default()
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Fills `bytes`; an error names `what` if the file ends early.
    pub(super) fn fill(
        &mut self,
        bytes: &mut [u8],
        what: impl fmt::Display,
    ) -> Result<(), ReadError> {
        self.input.read_exact(bytes).map_err(|error| ended(error, what))?;
        self.at += bytes.len() as u64;
        if let Some(crc) = &mut self.crc {
            crc.update(bytes);
        }
        Ok(())
    }

    pub(super) fn array<const N: usize>(
        &mut self,
        what: impl fmt::Display,
    ) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    pub(super) fn u8(&mut self, what: impl fmt::Display) -> Result<u8, ReadError> {
        self.array(what).map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self, what: impl fmt::Display) -> Result<u16, ReadError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: impl fmt::Display) -> Result<u32, ReadError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: impl fmt::Display) -> Result<u64, ReadError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// `N` 32-bit integers.
    pub(super) fn i32s<const N: usize>(
        &mut self,
        what: impl fmt::Display + Copy,
    ) -> Result<[i32; N], ReadError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = i32::from_le_bytes(self.array(what)?);
        }
        Ok(numbers)
    }

    /// `N` 64-bit floats.
    pub(super) fn f64s<const N: usize>(
        &mut self,
        what: impl fmt::Display + Copy,
    ) -> Result<[f64; N], ReadError> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = f64::from_le_bytes(self.array(what)?);
        }
        Ok(numbers)
    }

    /// Words of a mask.
    pub(super) fn words(
        &mut self,
        words: &mut [u64],
        what: impl fmt::Display + Copy,
    ) -> Result<(), ReadError> {
        for word in words {
            *word = self.u64(what)?;
        }
        Ok(())
    }

    /// A text, preceded by its length.
    pub(super) fn text(&mut self, what: impl fmt::Display + Copy) -> Result<String, ReadError> {
        let len = self.u32(what)?;
        self.text_of(len, what)
    }

    /// A text of `len` bytes.
    pub(super) fn text_of(
        &mut self,
        len: u32,
        what: impl fmt::Display + Copy,
    ) -> Result<String, ReadError> {
        if len > MAX_TEXT {
            let at = self.at;
            return Err(content(format!("byte {at}: {what} cannot be a text of {len} bytes")));
        }
        let mut bytes = vec![0; len as usize];
        self.fill(&mut bytes, what)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A reader of the next `len` bytes; bytes it reads advance the offset.
    pub(super) fn take(&mut self, len: u64) -> impl Read {
        Take { source: self, left: len }
    }

    /// Skips `len` bytes.
    pub(super) fn skip(&mut self, len: u64, what: impl fmt::Display) -> Result<(), ReadError> {
        let mut skipped_bytes = self.input.by_ref().take(len);
        let skipped = match self.crc.take() {
            Some(crc) => {
                let mut checked = Checked::continuing(crc, io::sink());
                let skipped = io::copy(&mut skipped_bytes, &mut checked)?;
                self.crc = Some(checked.crc);
                skipped
            }
            None => io::copy(&mut skipped_bytes, &mut io::sink())?,
        };
        self.at += skipped;
        if skipped == len { Ok(()) } else { Err(content(format!("the file ends in {what}"))) }
    }

    /// Skips to byte `to`.
    ///
    /// # Errors
    /// The file ends before it, or it is already passed.
    pub(super) fn skip_to(&mut self, to: u64, what: &str) -> Result<(), ReadError> {
        let at = self.at;
        let len = to.checked_sub(at).ok_or_else(|| {
            content(format!("{what} should lie at byte {to}, but byte {at} is before it"))
        })?;
        self.skip(len, what)
    }

    /// The next byte; `None` at the end of the file.
    pub(super) fn next_byte(&mut self) -> Result<Option<u8>, ReadError> {
        let mut bytes = Vec::new();
        self.at += self.input.by_ref().take(1).read_to_end(&mut bytes)? as u64;
        Ok(bytes.first().copied())
    }

    /// # Errors
    /// There are more bytes.
    pub(super) fn end(&mut self) -> Result<(), ReadError> {
        let at = self.at;
        match self.next_byte()? {
            None => Ok(()),
            Some(_) => Err(content(format!("there are more bytes after the last grid's, {at}"))),
        }
    }

    /// An error about the bytes just read.
    pub(super) fn fault(&self, what: impl fmt::Display) -> ReadError {
        content(format!("before byte {}: {what}", self.at))
    }
}

fn ended(error: io::Error, what: impl fmt::Display) -> ReadError {
    match error.kind() {
        ErrorKind::UnexpectedEof => content(format!("the file ends in {what}")),
        // Errors of decompression.
        ErrorKind::InvalidInput | ErrorKind::InvalidData => {
            content(format!("{what}: {}", excerpt(&error.to_string())))
        }
        _ => error.into(),
    }
}

struct Take<'a, 'b> {
    source: &'a mut Source<'b>,
    left: u64,
}

impl Read for Take<'_, '_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.left.min(bytes.len() as u64) as usize;
        let read = self.source.input.read(&mut bytes[..len])?;
        self.source.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}
