//! Deflate in independent chunks, compressed in parallel.
//!
//! Each chunk is compressed without the ones before it and ends with an empty stored block (a sync
//! flush), so that chunks can be concatenated. After L. P. Deutsch, *DEFLATE Compressed Data Format
//! Specification*, RFC 1951, 1996; the `pigz` program does the same. The stream does not depend on
//! the number of threads, nor on the lengths of writes.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::OnceLock;

use crc32fast::Hasher;
use flate2::{Compress, Compression, FlushCompress};

use crate::base::ordered::in_pool;

/// Bytes of content per chunk: several times the 32 KiB window of deflate, so that chunks cost
/// little compression.
pub(crate) const CHUNK: usize = 128 << 10;
/// Chunks that are buffered; to compress one takes about 0.6 MiB.
const BATCH: usize = 8;
/// Maximum compression ratio of deflate: a match of 258 bytes takes 2 bits.
pub(crate) const MAX_RATIO: u64 = 1032;
/// The end of the empty stored block.
const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];
/// The last block of a stream: of fixed Huffman codes, empty.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// Writes deflated content to `out`.
pub(crate) struct Deflater<'a> {
    out: &'a mut dyn Write,
    level: Compression,
    /// Less than a batch.
    content: Vec<u8>,
    crc: Hasher,
    len: u64,
    /// The first chunk of zeros, for reuse: most of a sparse array is zeros.
    zeros: OnceLock<Chunk>,
}

/// A part of the content.
pub(crate) enum Content<'a> {
    /// This many zero bytes.
    Zeros(usize),
    Bytes(Cow<'a, [u8]>),
}

impl Content<'_> {
    pub(crate) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Zeros(len) => io::copy(&mut io::repeat(0).take(*len as u64), out).map(|_| ()),
            Self::Bytes(bytes) => out.write_all(bytes),
        }
    }
}

#[derive(Clone)]
struct Chunk {
    deflated: Vec<u8>,
    crc: Hasher,
    /// The length of the content.
    len: usize,
}

impl<'a> Deflater<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, level: Compression) -> Self {
        let (crc, zeros) = (Hasher::new(), OnceLock::new());
        Self { out, level, content: Vec::new(), crc, len: 0, zeros }
    }

    /// Adds the content that `make` computes for each of `items`, in their order. Contents are
    /// computed and deflated in parallel; each is a chunk, and should have about [`CHUNK`] bytes.
    pub(crate) fn write_each<'c, T: Send>(
        &mut self,
        items: impl Iterator<Item = T>,
        make: impl Fn(T) -> Content<'c> + Sync,
    ) -> io::Result<()> {
        self.write_chunks()?;
        self.put_each(items, make)
    }

    /// Ends the stream. Returns the CRC-32 and the length of the content.
    pub(crate) fn finish(mut self) -> io::Result<(u32, u64)> {
        self.write_chunks()?;
        self.out.write_all(&LAST_BLOCK)?;
        Ok((self.crc.finalize(), self.len))
    }

    /// Writes the buffered content.
    fn write_chunks(&mut self) -> io::Result<()> {
        let mut content = std::mem::take(&mut self.content);
        self.put_each(content.chunks(CHUNK), |chunk| {
            if chunk == &[0; CHUNK][..] {
                Content::Zeros(CHUNK)
            } else {
                Content::Bytes(chunk.into())
            }
        })?;
        content.clear();
        self.content = content;
        Ok(())
    }

    /// Writes items, like [`write_each`](Self::write_each), but not the buffered content.
    fn put_each<'c, T: Send>(
        &mut self,
        items: impl Iterator<Item = T>,
        make: impl Fn(T) -> Content<'c> + Sync,
    ) -> io::Result<()> {
        let Self { out, level, crc, len, zeros, .. } = self;
        in_pool(
            items,
            |item| Chunk::of(&make(item), *level, zeros),
            |chunk| {
                crc.combine(&chunk.crc);
                *len += chunk.len as u64;
                out.write_all(&chunk.deflated)
            },
        )
    }
}

impl Write for Deflater<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (part, _) = bytes.split_at(bytes.len().min(BATCH * CHUNK - self.content.len()));
        self.content.extend_from_slice(part);
        if self.content.len() == BATCH * CHUNK {
            self.write_chunks()?;
        }
        Ok(part.len())
    }

    /// Does nothing: chunks are written when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Chunk {
    fn of(content: &Content, level: Compression, zeros: &OnceLock<Self>) -> Self {
        match content {
            Content::Bytes(bytes) => Self::of_bytes(bytes, level),
            Content::Zeros(len) => {
                let deflate = || Self::of_bytes(&vec![0; *len], level);
                let first = zeros.get_or_init(deflate);
                if first.len == *len { first.clone() } else { deflate() }
            }
        }
    }

    fn of_bytes(content: &[u8], level: Compression) -> Self {
        let mut crc = Hasher::new();
        crc.update(content);
        Self { deflated: deflate(content, level, room(content)), crc, len: content.len() }
    }
}

/// Bytes in which any chunk fits: data that does not compress is stored, with a few bytes per
/// block.
fn room(content: &[u8]) -> usize {
    content.len() + content.len() / 16 + 1024
}

fn deflate(content: &[u8], level: Compression, room: usize) -> Vec<u8> {
    // The output must fit: once it is full, the next call of `miniz_oxide` may end without the
    // empty block.
    let mut deflated = Vec::with_capacity(room);
    let mut compress = Compress::new(level, false);
    let status = compress.compress_vec(content, &mut deflated, FlushCompress::Sync);
    let is_complete = compress.total_in() == content.len() as u64 && deflated.ends_with(&FLUSHED);
    assert!(status.is_ok() && is_complete, "deflate stopped within a chunk: {status:?}");
    deflated.shrink_to_fit();
    deflated
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::io::Read;
    use std::panic::catch_unwind;

    use flate2::read::DeflateDecoder;
    use rayon::ThreadPoolBuilder;

    use super::*;

    fn deflated(content: &[u8], level: u32, step: usize, threads: usize) -> (Vec<u8>, u32, u64) {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut stream = Vec::new();
            let mut deflater = Deflater::new(&mut stream, Compression::new(level));
            content.chunks(step).for_each(|part| deflater.write_all(part).unwrap());
            let (crc, len) = deflater.finish().unwrap();
            (stream, crc, len)
        })
    }

    #[test]
    fn the_stream_inflates_to_the_content_and_depends_on_nothing_else() {
        let mut random = fastrand::Rng::with_seed(1);
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, BATCH * CHUNK, 2_500_000] {
            for kind in 0..8 {
                let mut content = vec![0; len];
                match kind {
                    0 => {}
                    1 => random.fill(&mut content),
                    _ => {
                        // Runs of bytes from a small alphabet, between zeros.
                        let period = [2, 7, 97, 1000, 30_000][random.usize(0..5)];
                        let run = random.usize(1..=period);
                        for (index, byte) in content.iter_mut().enumerate() {
                            *byte = if index % period < run { random.u8(..kind) } else { 0 };
                        }
                    }
                }
                let level = if kind % 2 == 0 { 1 } else { 6 };
                let (stream, crc, found) = deflated(&content, level, usize::MAX, 1);
                assert_eq!((crc, found), (crc32fast::hash(&content), len as u64));
                let mut inflated = Vec::new();
                let mut decoder = DeflateDecoder::new(&stream[..]);
                decoder.read_to_end(&mut inflated).unwrap();
                assert!(inflated == content, "{len} bytes of kind {kind}");
                assert_eq!(decoder.total_in(), stream.len() as u64, "the stream has an end");
                for (step, threads) in [(1000, 2), (77_777, 5)] {
                    assert!(
                        deflated(&content, level, step, threads) == (stream.clone(), crc, found)
                    );
                }
            }
        }
    }

    #[test]
    fn a_chunk_that_does_not_fit_is_noticed() {
        let content: Vec<u8> = (0..2000_u32).map(|n| (n * n % 251) as u8).collect();
        let needed = deflate(&content, Compression::fast(), room(&content)).len();
        for room in needed.saturating_sub(20)..needed {
            assert!(
                catch_unwind(|| deflate(&content, Compression::fast(), room)).is_err(),
                "{room} of {needed} bytes"
            );
        }
    }
}
