//! Checksums of streams.

use std::io::{self, Read, Write};

use crc32fast::Hasher;

/// A reader or writer that computes the CRC-32 and the number of the bytes that pass.
pub(crate) struct Checked<T> {
    pub(crate) inner: T,
    pub(crate) crc: Hasher,
    pub(crate) len: u64,
}

impl<T> Checked<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self::continuing(Hasher::new(), inner)
    }

    /// With the CRC-32 of bytes that came before.
    pub(crate) fn continuing(crc: Hasher, inner: T) -> Self {
        Self { inner, crc, len: 0 }
    }

    fn count(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
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
