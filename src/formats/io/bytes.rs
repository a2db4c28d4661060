//! The bytes of files, within a memory limit.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

use crate::base::progress::Progress;
use crate::formats::{ReadError, Reporting, content};

/// Fails if `needed` bytes exceed `limit`.
pub(crate) fn check_memory(needed: u64, limit: u64) -> Result<(), ReadError> {
    if needed > limit { Err(ReadError::Memory { needed, limit }) } else { Ok(()) }
}

/// The memory of a reader, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Budget {
    pub(crate) used: u64,
    pub(crate) limit: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { used: 0, limit }
    }

    /// Fails if `more` bytes exceed it.
    pub(crate) fn check(&self, more: u64) -> Result<(), ReadError> {
        check_memory(self.used.saturating_add(more), self.limit)
    }

    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), ReadError> {
        self.used = self.used.saturating_add(bytes);
        self.check(0)
    }

    /// Takes an item of a list that doubles when it grows.
    pub(crate) fn take_record<T>(&mut self) -> Result<(), ReadError> {
        self.take(2 * size_of::<T>() as u64)
    }

    pub(crate) fn give_back(&mut self, bytes: u64) {
        self.used -= bytes;
    }
}

/// Bytes of a file's beginning that are checked before the rest is read.
pub(crate) const START: u64 = 4 << 10;

/// The bytes of a file whose beginning passes `check`, in at most `limit` bytes of memory.
pub(crate) fn checked_bytes(
    path: &Path,
    limit: u64,
    check: fn(&[u8], Option<u64>) -> Result<(), ReadError>,
    progress: &dyn Progress,
) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path)?;
    let needed = file.metadata()?.len();
    progress.start("load", needed);
    let mut file = Reporting::new(file, progress);
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(START).read_to_end(&mut start)?;
    refuse_stand_in(&start)?;
    check(&start, Some(needed).filter(|&len| len > 0))?;
    check_memory(needed, limit)?;
    // A pipe has no length. Its buffer grows by doubling, during which both copies exist.
    let most = if needed > 0 { needed } else { limit / 3 };
    let mut bytes = start;
    bytes
        .try_reserve_exact((needed as usize).saturating_sub(bytes.len()))
        .map_err(io::Error::from)?;
    let left = most.saturating_add(1).saturating_sub(bytes.len() as u64);
    file.take(left).read_to_end(&mut bytes)?;
    ensure!(
        bytes.len() as u64 <= most,
        "holds more than the {most} bytes that it may: copy it to a file that nothing writes to, \
         or allow more memory"
    );
    Ok(bytes)
}

/// Refuses two common stand-ins for a model, by their first bytes: the pointer of Git LFS, and the
/// web page of a download.
pub(crate) fn refuse_stand_in(start: &[u8]) -> Result<(), ReadError> {
    ensure!(
        !start.starts_with(b"version https://git-lfs.github.com/spec/"),
        "is a Git LFS pointer and not the model: run `git lfs pull` in its repository"
    );
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let is_page =
        |begin: &[u8]| text.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin));
    ensure!(
        !is_page(b"<!doctype html") && !is_page(b"<html"),
        "is a web page (HTML) and not the model: download the file that the page links to"
    );
    Ok(())
}

/// Reads `len` bytes into a buffer that grows with what is read, to exactly `len`: both copies
/// together take at most twice that.
pub(crate) fn read_exactly(input: &mut (impl Read + ?Sized), len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < len {
        let more = (len - bytes.len() as u64).min(START.max(bytes.len() as u64));
        bytes.try_reserve_exact(more as usize)?;
        if (&mut *input).take(more).read_to_end(&mut bytes)? as u64 != more {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(bytes)
}

/// All bytes of `input`, at most a third of `limit`: the buffer grows by doubling, during which
/// both copies exist.
pub(crate) fn read_whole(input: &mut dyn BufRead, limit: u64) -> Result<Vec<u8>, ReadError> {
    let (most, mut bytes) = (limit / 3, Vec::new());
    Read::take(&mut *input, most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let rest = io::copy(input, &mut io::sink())?;
        check_memory(3 * (bytes.len() as u64 + rest), limit)?;
    }
    Ok(bytes)
}

pub(crate) fn skip(input: &mut (impl Read + ?Sized), len: u64) -> io::Result<()> {
    if io::copy(&mut input.take(len), &mut io::sink())? == len {
        Ok(())
    } else {
        Err(ErrorKind::UnexpectedEof.into())
    }
}

/// The little-endian `u16` at byte `at` of a record, which must not end before it.
pub(crate) fn u16_at(record: &[u8], at: usize) -> u16 {
    record[at..].first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// The little-endian `u32` at byte `at`, like [`u16_at`].
pub(crate) fn u32_at(record: &[u8], at: usize) -> u32 {
    record[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The little-endian `u64` at byte `at`, like [`u16_at`].
pub(crate) fn u64_at(record: &[u8], at: usize) -> u64 {
    record[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Fills `bytes`; an error names `what` if the file ends early.
pub(crate) fn fill(
    input: &mut (impl Read + ?Sized),
    bytes: &mut [u8],
    what: impl Display,
) -> Result<(), ReadError> {
    input.read_exact(bytes).map_err(|error| ended(error, what))
}

pub(crate) fn ended(error: io::Error, what: impl Display) -> ReadError {
    match error.kind() {
        ErrorKind::UnexpectedEof => content(format!("the file ends in {what}")),
        _ => error.into(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn exactly_as_many_bytes_are_read_into_a_buffer_of_that_size() {
        for len in [0, 1, 31, 4096, 4097, 100_000] {
            let source = vec![7; len + 5];
            let bytes = read_exactly(&mut &source[..], len as u64).unwrap();
            assert_eq!((bytes.len(), bytes.capacity()), (len, len));
            let error = read_exactly(&mut &source[..], len as u64 + 6).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        }
    }
}
