//! A reader of blocks that are decoded one at a time.

use std::io::{self, BufRead, Cursor, Read};

/// Reads the blocks that `next` decodes, one after the other, until it returns `None`. One block is
/// in memory.
pub(crate) struct Joined<F> {
    next: F,
    block: Cursor<Vec<u8>>,
}

impl<F: FnMut() -> io::Result<Option<Vec<u8>>>> Joined<F> {
    pub(crate) fn new(next: F) -> Self {
        Self { next, block: Cursor::default() }
    }
}

impl<F: FnMut() -> io::Result<Option<Vec<u8>>>> BufRead for Joined<F> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.block.fill_buf()?.is_empty() {
            self.block = Cursor::default();
            let Some(block) = (self.next)()? else { break };
            self.block = Cursor::new(block);
        }
        self.block.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.block.consume(count);
    }
}

impl<F: FnMut() -> io::Result<Option<Vec<u8>>>> Read for Joined<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(bytes)?;
        self.consume(count);
        Ok(count)
    }
}
