//! The values of an array in blocks, each a zlib stream, as `vtkZLibDataCompressor` reads them
//! (Deutsch and Gailly, *ZLIB Compressed Data Format Specification*, RFC 1950, 1996).
//!
//! Blocks are compressed in parallel. Their bytes do not depend on the number of threads, nor on
//! the lengths of writes.

use std::io::{self, Write};
use std::iter;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::base::ordered::in_pool;

/// Bytes of values in a block; the last one may have fewer.
const BLOCK: usize = 256 << 10;
/// Numbers before the compressed lengths.
pub(super) const LENGTHS: usize = 3;
/// Blocks that are compressed at a time.
const BATCH: usize = 8;

/// Takes a compressed block.
pub(super) type OnBlock<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Compresses the values that are written to it.
pub(super) struct Blocks<'a> {
    on_block: OnBlock<'a>,
    /// Less than a batch.
    values: Vec<u8>,
    /// Bytes of values in whole batches.
    len: u64,
    /// The compressed length of each block.
    lengths: Vec<u64>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(on_block: OnBlock<'a>) -> Self {
        Self { on_block, values: Vec::new(), len: 0, lengths: Vec::new() }
    }

    /// Ends the last block. Returns the numbers before the array: of blocks, of bytes in a block
    /// and in the last one (0 for a full one), and the compressed lengths.
    pub(super) fn finish(mut self) -> io::Result<Vec<u64>> {
        self.compress()?;
        let numbers: [u64; LENGTHS] =
            [self.lengths.len() as u64, BLOCK as u64, self.len % BLOCK as u64];
        Ok([&numbers[..], &self.lengths].concat())
    }

    fn compress(&mut self) -> io::Result<()> {
        let Self { on_block, values, lengths, .. } = self;
        let blocks = values.chunks(BLOCK);
        let previous = iter::once(None).chain(blocks.clone().map(Some));
        let mut stream = Vec::new();
        in_pool(
            blocks.zip(previous),
            // Many blocks of a sparse array are equal.
            |(block, previous)| (previous != Some(block)).then(|| zlib(block)).transpose(),
            |compressed| {
                stream = compressed?.unwrap_or_else(|| std::mem::take(&mut stream));
                lengths.push(stream.len() as u64);
                on_block(&stream)
            },
        )?;
        self.len += values.len() as u64;
        values.clear();
        Ok(())
    }
}

impl Write for Blocks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (part, _) = bytes.split_at(bytes.len().min(BATCH * BLOCK - self.values.len()));
        self.values.extend_from_slice(part);
        if self.values.len() == BATCH * BLOCK {
            self.compress()?;
        }
        Ok(part.len())
    }

    /// Does nothing: batches are written when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn zlib(block: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(block)?;
    encoder.finish()
}
