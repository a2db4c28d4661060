//! Blosc chunks compressed by LZ4, as in most OpenVDB files.
//!
//! F. Alted, "Why Modern CPUs Are Starving and What Can Be Done about It" (Computing in Science &
//! Engineering 12, 2010). Version 1 of the format: a header of 16 bytes, the offset of each block,
//! and the blocks. The bytes of a block's elements are *shuffled* (all first bytes first), and a
//! block may be *split* into one stream per byte of an element.

use std::io::{self, ErrorKind, Read};

use crate::formats::io::bytes::read_exactly;
use crate::formats::io::joined::Joined;

const HEAD: usize = 16;
/// Limit of a block's size, above that of any writer.
const MAX_BLOCK: usize = 1 << 24;

// Flags.
const SHUFFLED: u8 = 1;
const COPIED: u8 = 2;
const BITS_SHUFFLED: u8 = 4;
const NOT_SPLIT: u8 = 16;
/// The codec, in the highest three bits.
const LZ4: u8 = 1;

#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    flags: u8,
    /// Bytes per element.
    element: usize,
    /// Bytes of the content, and per block.
    content: usize,
    block: usize,
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("Blosc: {what}"))
}

impl Chunk {
    fn new(bytes: Vec<u8>) -> io::Result<Self> {
        let &[_, _, flags, element, ..] = &bytes[..] else { return Err(invalid("no head")) };
        let [content, block, compressed] =
            [number_at(&bytes, 4)?, number_at(&bytes, 8)?, number_at(&bytes, 12)?];
        if compressed != bytes.len() {
            return Err(invalid("a chunk's length differs"));
        }
        if flags & COPIED == 0 && flags >> 5 != LZ4 {
            return Err(invalid("only LZ4 is read"));
        }
        if flags & BITS_SHUFFLED != 0 {
            return Err(invalid("shuffled bits are not read"));
        }
        if element == 0 || content > 0 && block == 0 || block > MAX_BLOCK && flags & COPIED == 0 {
            return Err(invalid("impossible lengths"));
        }
        Ok(Self { bytes, flags, element: element.into(), content, block })
    }

    /// Decompresses block `n`.
    fn read_block(&self, n: usize) -> io::Result<Vec<u8>> {
        let begin = n * self.block;
        let len = self.block.min(self.content - begin);
        if self.flags & COPIED != 0 {
            let copied = self.bytes.get(HEAD + begin..HEAD + begin + len);
            return copied.map(<[u8]>::to_vec).ok_or_else(|| invalid("a chunk ends early"));
        }
        let is_split = self.flags & NOT_SPLIT == 0
            && self.element <= 16
            && self.block / self.element >= 128
            && len == self.block;
        let mut bytes = vec![0; len];
        let stream = if is_split { len / self.element } else { len };
        let mut at = number_at(&self.bytes, HEAD + 4 * n)?;
        for out in bytes.chunks_exact_mut(stream) {
            let packed = number_at(&self.bytes, at)?;
            let input = self.bytes.get(at + 4..).and_then(|rest| rest.get(..packed));
            unpack(input.ok_or_else(|| invalid("a chunk ends early"))?, out)?;
            at += 4 + packed;
        }
        Ok(if self.flags & SHUFFLED == 0 { bytes } else { unshuffled(&bytes, self.element) })
    }
}

fn number_at(bytes: &[u8], at: usize) -> io::Result<usize> {
    let number = bytes.get(at..).and_then(|rest| rest.first_chunk());
    let number = number.ok_or_else(|| invalid("a chunk ends early"))?;
    Ok(u32::from_le_bytes(*number) as usize)
}

/// Decompresses LZ4; incompressible input is stored uncompressed.
fn unpack(input: &[u8], out: &mut [u8]) -> io::Result<()> {
    if input.len() == out.len() {
        out.copy_from_slice(input);
        return Ok(());
    }
    match lz4_flex::block::decompress_into(input, out) {
        Ok(len) if len == out.len() => Ok(()),
        _ => Err(invalid("malformed LZ4")),
    }
}

fn unshuffled(bytes: &[u8], element: usize) -> Vec<u8> {
    let count = bytes.len() / element;
    let mut out = bytes.to_vec();
    for (n, out) in out.chunks_exact_mut(element).enumerate() {
        out.iter_mut().enumerate().for_each(|(byte, out)| *out = bytes[byte * count + n]);
    }
    out
}

/// A reader of a sequence of chunks, each after its length, a `u64`.
pub(super) fn decoder(mut input: impl Read) -> impl Read {
    let (mut chunk, mut blocks) = (Chunk::default(), 0..0);
    Joined::new(move || {
        loop {
            if let Some(n) = blocks.next() {
                return chunk.read_block(n).map(Some);
            }
            let mut len = [0; 8];
            input.read_exact(&mut len)?;
            chunk = Chunk::new(read_exactly(&mut input, u64::from_le_bytes(len))?)?;
            blocks = 0..chunk.content.div_ceil(chunk.block.max(1));
        }
    })
}
