//! Decodes the values of arrays: numbers in ASCII, or bytes after their length, raw or in base 64.
//! Compressed bytes come after the lengths of their [`Blocks`](super::blocks::Blocks); in base 64
//! lengths and bytes are two streams.

use std::borrow::Cow;
use std::io::{self, BufRead, Cursor, ErrorKind, Read};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;

use super::blocks::LENGTHS;
use crate::formats::grid::npy::header::Element;
use crate::formats::io::bytes::{Budget, u32_at, u64_at};
use crate::formats::io::joined::Joined;
use crate::formats::{ReadError, content, excerpt};

/// A reader of the values of an array as little-endian bytes.
pub(super) type Values<'a> = Box<dyn BufRead + 'a>;

/// The bytes of numbers in ASCII.
pub(super) fn of_ascii(
    text: &str,
    element: Element,
    memory: &mut Budget,
) -> Result<Vec<u8>, ReadError> {
    // A number has at least two characters, and the capacity is at most twice the length.
    memory.take((text.len() as u64 + 1) * element.bytes as u64)?;
    let mut bytes = Vec::new();
    for word in text.split_ascii_whitespace() {
        let number = number(word, element);
        let number = number.ok_or_else(|| content(format!("'{}' is no value", excerpt(word))))?;
        bytes.extend_from_slice(&number[..element.bytes]);
    }
    Ok(bytes)
}

/// The little-endian bytes of a number that the type has.
fn number(word: &str, element: Element) -> Option<[u8; 8]> {
    if element.is_float() {
        return match element.bytes {
            2 => Some(u64::from(word.parse::<half::f16>().ok()?.to_bits()).to_le_bytes()),
            4 => Some(u64::from(word.parse::<f32>().ok()?.to_bits()).to_le_bytes()),
            _ => Some(word.parse::<f64>().ok()?.to_le_bytes()),
        };
    }
    let integer: i128 = word.parse().ok()?;
    let bytes = (integer as u64).to_le_bytes();
    (element.integer(&bytes) == integer).then_some(bytes)
}

/// Streams of bytes, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'a> {
    pub(super) text: &'a [u8],
    pub(super) is_base_64: bool,
}

impl<'a> Encoded<'a> {
    /// The first `len` bytes of a stream.
    fn first(self, len: u64, memory: &mut Budget) -> Result<Cow<'a, [u8]>, ReadError> {
        let end = usize::try_from(self.text_len(len)).ok();
        let text = end.and_then(|end| self.text.get(..end)).ok_or_else(|| {
            content(format!("{len} bytes are announced, which are more than the file has there"))
        })?;
        if !self.is_base_64 {
            return Ok(text.into());
        }
        memory.take(len + 2)?;
        let mut bytes = BASE64_STANDARD
            .decode(text)
            .map_err(|error| content(format!("malformed base 64: {error}")))?;
        ensure!(bytes.len() as u64 >= len, "malformed base 64: it ends early");
        bytes.truncate(len as usize);
        Ok(bytes.into())
    }

    /// The length of the text of a stream of `len` bytes.
    fn text_len(self, len: u64) -> u64 {
        if self.is_base_64 { len.div_ceil(3).saturating_mul(4) } else { len }
    }

    /// The first `count` numbers of `size` bytes of a stream.
    fn numbers(self, count: u64, size: u64, memory: &mut Budget) -> Result<Vec<u64>, ReadError> {
        let bytes = self.first(count.saturating_mul(size), memory)?;
        let number = |of: &[u8]| if size == 4 { u32_at(of, 0).into() } else { u64_at(of, 0) };
        Ok(bytes.chunks_exact(size as usize).map(number).collect())
    }

    /// The values of an array, and their length. Lengths are numbers of `size` bytes.
    pub(super) fn plain(
        self,
        size: u64,
        memory: &mut Budget,
    ) -> Result<(Values<'a>, u64), ReadError> {
        let len = self.numbers(1, size, memory)?[0];
        let mut values = Cursor::new(self.first(len.saturating_add(size), memory)?);
        values.set_position(size);
        Ok((Box::new(values), len))
    }

    /// The values of a compressed array, and their length, like [`plain`](Self::plain).
    pub(super) fn inflated(
        self,
        size: u64,
        memory: &mut Budget,
    ) -> Result<(Values<'a>, u64), ReadError> {
        let head = LENGTHS as u64;
        let blocks = self.numbers(head, size, memory)?[0];
        let head = head.saturating_add(blocks);
        let numbers = self.numbers(head, size, memory)?;
        let (&[_, block, last], deflated) =
            numbers.split_first_chunk().unwrap_or((&[0; LENGTHS], &[]));
        let mut lens: Vec<_> = deflated.iter().map(|&deflated| (deflated, block)).collect();
        if let Some((_, len)) = lens.last_mut().filter(|_| last > 0) {
            *len = last;
        }
        memory.take(lens.iter().map(|&(_, len)| len).max().unwrap_or(0).saturating_mul(2))?;
        let sum = |sum: u64, len: u64| sum.saturating_add(len);
        let streams = Self { text: &self.text[self.text_len(head * size) as usize..], ..self };
        let streams = streams.first(deflated.iter().copied().fold(0, sum), memory)?;
        let len = lens.iter().map(|&(_, len)| len).fold(0, sum);
        let (mut at, mut lens) = (0, lens.into_iter());
        let values = Joined::new(move || {
            let Some((deflated, len)) = lens.next() else { return Ok(None) };
            // The sum of all is the length of `streams`.
            let stream = &streams[at..][..deflated as usize];
            at += stream.len();
            let mut block = Vec::new();
            // One byte more: the stream's end has its checksum.
            let mut inflated = ZlibDecoder::new(stream).take(len.saturating_add(1));
            if inflated.read_to_end(&mut block)? as u64 != len {
                return Err(io::Error::new(ErrorKind::InvalidData, "a block has another length"));
            }
            Ok(Some(block))
        });
        Ok((Box::new(values), len))
    }
}
