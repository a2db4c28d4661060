//! A reader of little-endian numbers that tracks the file offset.

use std::fmt::Display;
use std::io::{self, ErrorKind, Read};

use crc32fast::Hasher;

use crate::formats::io::bytes::{ended, skip};
use crate::formats::io::checked::Checked;
use crate::formats::{ReadError, content, excerpt};

/// Longest text that is read, in bytes; names are some dozens of bytes.
const MAX_TEXT: u32 = 1 << 16;

/// The unread rest of a file.
pub(super) struct Source<'a> {
    input: Checked<Box<dyn Read + 'a>>,
}

impl Read for Source<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.input.read(bytes)
    }
}

impl<'a> Source<'a> {
    pub(super) fn new(input: impl Read + 'a) -> Self {
        Self { input: Checked::counted(Box::new(input)) }
    }

    /// Starts a CRC-32 of the bytes that follow.
    pub(super) fn start_crc(&mut self) {
        self.input.crc = Some(Hasher::new());
    }

    /// The CRC-32 so far; of no bytes if it was not started.
    pub(super) fn crc(&self) -> Hasher {
        self.input.crc()
    }

    /// Bytes read so far.
    pub(super) fn at(&self) -> u64 {
        self.input.len
    }

    /// Fills `bytes`; an error names `what` if the file ends early.
    pub(super) fn fill(&mut self, bytes: &mut [u8], what: &str) -> Result<(), ReadError> {
        self.read_exact(bytes).map_err(|error| match error.kind() {
            // Errors of decompression.
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                content(format!("{what}: {}", excerpt(&error.to_string())))
            }
            _ => ended(error, what),
        })
    }

    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    pub(super) fn u8(&mut self, what: &str) -> Result<u8, ReadError> {
        self.array(what).map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, ReadError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, ReadError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// `N` numbers of `B` bytes.
    pub(super) fn numbers<T, const B: usize, const N: usize>(
        &mut self,
        number: fn([u8; B]) -> T,
        what: &str,
    ) -> Result<[T; N], ReadError> {
        let mut bytes = [[0; B]; N];
        self.fill(bytes.as_flattened_mut(), what)?;
        Ok(bytes.map(number))
    }

    pub(super) fn words(&mut self, words: &mut [u64], what: &str) -> Result<(), ReadError> {
        self.fill(bytemuck::cast_slice_mut(words), what)?;
        words.iter_mut().for_each(|word| *word = u64::from_le(*word));
        Ok(())
    }

    /// A text, preceded by its length.
    pub(super) fn text(&mut self, what: &str) -> Result<String, ReadError> {
        let len = self.u32(what)?;
        self.text_of(len, what)
    }

    /// A text of `len` bytes.
    pub(super) fn text_of(&mut self, len: u32, what: &str) -> Result<String, ReadError> {
        ensure!(len <= MAX_TEXT, "byte {}: {what} cannot be a text of {len} bytes", self.at());
        let mut bytes = vec![0; len as usize];
        self.fill(&mut bytes, what)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn skip(&mut self, len: u64, what: &str) -> Result<(), ReadError> {
        skip(self, len).map_err(|error| ended(error, what))
    }

    /// Skips to byte `to`.
    pub(super) fn skip_to(&mut self, to: u64, what: &str) -> Result<(), ReadError> {
        let at = self.at();
        let len = to.checked_sub(at).ok_or_else(|| {
            content(format!("{what} should lie at byte {to}, but byte {at} is before it"))
        })?;
        self.skip(len, what)
    }

    /// The next byte; `None` at the end of the file.
    pub(super) fn next_byte(&mut self) -> Result<Option<u8>, ReadError> {
        let mut bytes = Vec::new();
        self.by_ref().take(1).read_to_end(&mut bytes)?;
        Ok(bytes.first().copied())
    }

    pub(super) fn ensure(&self, condition: bool, what: impl Display) -> Result<(), ReadError> {
        if condition { Ok(()) } else { Err(self.fault(what)) }
    }

    /// An error about the bytes just read.
    pub(super) fn fault(&self, what: impl Display) -> ReadError {
        content(format!("before byte {}: {what}", self.at()))
    }
}
