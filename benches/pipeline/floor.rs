//! What the CPU cannot do without: the bytes that must move and the rates at which they do, and the
//! pairs of triangles and voxels that touch.

use rayon::prelude::*;
use trivox::PlacedMesh;
use trivox::place::Triangle;
use trivox::predicate::boxes::BoxRange;
use trivox::predicate::touches;

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

/// (Triangle, voxel) pairs that touch.
pub fn touching_pairs(mesh: &PlacedMesh) -> u64 {
    let lattice = mesh.lattice();
    let grid = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| d as i32 - 1) };
    let indices = (0..mesh.len()).into_par_iter();
    indices.map(|index| Pairs::new(mesh.triangle(index), lattice.unit_bits, grid).count()).sum()
}

/// The voxels that one triangle touches, found by halving cubes that it touches.
struct Pairs {
    triangle: Triangle,
    unit_bits: u32,
    /// All voxels there are.
    grid: BoxRange,
}

impl Pairs {
    fn new(triangle: Triangle, unit_bits: u32, grid: BoxRange) -> Self {
        Self { triangle, unit_bits, grid }
    }

    fn count(&self) -> u64 {
        let mut bits = self.unit_bits;
        while self.reached(bits).longest() > 2 {
            bits += 1;
        }
        self.count_in(self.reached(bits), bits)
    }

    /// Cubes of `2^bits` units that the triangle's bounding box touches in the grid.
    fn reached(&self, bits: u32) -> BoxRange {
        let grid = self.grid.coarser(bits - self.unit_bits);
        BoxRange::of_triangle(&self.triangle, bits).intersect(&grid)
    }

    /// Voxels touched within the cubes of `2^bits` units in `range`.
    fn count_in(&self, BoxRange { lo, hi }: BoxRange, bits: u32) -> u64 {
        let mut count = 0;
        for x in lo[0]..=hi[0] {
            for y in lo[1]..=hi[1] {
                count += (lo[2]..=hi[2]).map(|z| self.count_in_cube([x, y, z], bits)).sum::<u64>();
            }
        }
        count
    }

    fn count_in_cube(&self, cube: [i32; 3], bits: u32) -> u64 {
        let half = 1 << (bits - 1);
        if !touches(&self.triangle, cube.map(|i| (2 * i + 1) * half), half) {
            return 0;
        }
        if bits == self.unit_bits {
            return 1;
        }
        let parts = BoxRange { lo: cube.map(|i| 2 * i), hi: cube.map(|i| 2 * i + 1) };
        self.count_in(parts.intersect(&self.reached(bits - 1)), bits - 1)
    }
}
