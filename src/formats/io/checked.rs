//! Lengths and checksums of streams.

use std::io::{self, Read, Write};

use crc32fast::Hasher;

/// A reader or writer that counts the bytes that pass, and computes their CRC-32.
pub(crate) struct Checked<T> {
    pub(crate) inner: T,
    /// `None` while it is not needed: a CRC-32 costs time.
    pub(crate) crc: Option<Hasher>,
    pub(crate) len: u64,
}

impl<T> Checked<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, crc: Some(Hasher::new()), len: 0 }
    }

    /// Without a CRC-32.
    pub(crate) fn counted(inner: T) -> Self {
        Self { inner, crc: None, len: 0 }
    }

    /// The CRC-32 so far; of no bytes without one.
    pub(crate) fn crc(&self) -> Hasher {
        self.crc.clone().unwrap_or_default()
    }

    fn count(&mut self, bytes: &[u8]) {
        if let Some(crc) = &mut self.crc {
            crc.update(bytes);
        }
        self.len += bytes.len() as u64;
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count(&buffer[..read]);
        Ok(read)
    }
}
