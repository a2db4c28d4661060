//! What the CPU cannot do without: the bytes that must move, and the rates at which they do.

use rayon::prelude::*;

use crate::common::{Patience, Result, timed};
use crate::job::Job;

/// A lattice point, or a triangle's vertex numbers.
const TRIPLE: u64 = 12;
/// A brick's key and mask.
const BRICK: u64 = 72;

/// The mesh that is read once.
pub fn bytes_read(job: &Job) -> u64 {
    TRIPLE * (job.vertices + job.triangles)
}

/// The bricks that are written once.
pub fn bytes_written(job: &Job) -> u64 {
    BRICK * job.bricks
}

/// Bytes a millisecond of all threads together.
pub struct Rates {
    /// Read from memory.
    pub read: f64,
    /// Written to memory that the process did not have before.
    pub write: f64,
}

impl Rates {
    /// Words that are moved to find them: 256 MB, past any cache.
    const WORDS: usize = 1 << 25;
    /// Words that a thread moves at a time.
    const PIECE: usize = 1 << 16;

    pub fn measure(patience: Patience) -> Result<Self> {
        let bytes = (size_of::<u64>() * Self::WORDS) as f64;
        let [mut reading, mut writing] = [f64::INFINITY; 2];
        patience.repeat(|| -> Result<()> {
            let (words, ms) = timed(Self::write);
            writing = writing.min(ms);
            let (_, ms) = timed(|| Self::read(&words));
            reading = reading.min(ms);
            Ok(())
        })?;
        Ok(Self { read: bytes / reading, write: bytes / writing })
    }

    fn write() -> Vec<u64> {
        // The system gives zeros, and the memory for them when they are written over.
        let mut words = vec![0; Self::WORDS];
        words.par_chunks_mut(Self::PIECE).for_each(|piece| piece.fill(1));
        words
    }

    fn read(words: &[u64]) -> u64 {
        words.par_chunks(Self::PIECE).map(|piece| piece.iter().sum::<u64>()).sum()
    }

    /// The least milliseconds in which the bytes of `job` can move.
    pub fn floor(&self, job: &Job) -> f64 {
        bytes_read(job) as f64 / self.read + bytes_written(job) as f64 / self.write
    }
}
