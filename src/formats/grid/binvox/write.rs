//! Writing: from slabs of bricks to runs along `y`.

use std::io::{self, Write};
use std::ops::Range;

use super::{LONGEST_RUN, edge};
use crate::formats::grid::dense::{ONES, bits_of_bytes};
use crate::formats::{Out, WriteError};
use crate::grid::{BRICK, BrickKey, FULL, Mask, Place, VoxelGrid};

/// Writes `grid`, in at most 4 MiB of memory.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let [nx, _, nz] = grid.dims();
    let edge = u64::from(edge(grid.dims()));
    out.write_all(header(grid).as_bytes())?;
    let mut runs = Runs { out, written: 0, ones: 0..0 };
    let mut cache = BrickCache::default();
    for x in 0..nx {
        for z in 0..nz {
            let column = (u64::from(x) * edge + u64::from(z)) * edge;
            for row in cache.row(grid, x / BRICK, z / BRICK) {
                row.runs([x, z].map(|c| c % BRICK), |ys| {
                    runs.ones(column + u64::from(ys.start)..column + u64::from(ys.end))
                })?;
            }
        }
    }
    Ok(runs.finish(edge.pow(3))?)
}

fn header(grid: &VoxelGrid) -> String {
    let edge = edge(grid.dims());
    let Place { origin: [x, y, z], voxel_size } = grid.world.place.unwrap_or_default();
    // The nearest float to the cube's edge. If any float divided by `edge` is `voxel_size`, this
    // one is: such floats form an interval around the exact edge, and this is the nearest to it.
    let scale = voxel_size * f64::from(edge);
    format!(
        "#binvox 1\ndim {edge} {edge} {edge}\ntranslate {x:?} {y:?} {z:?}\nscale {scale:?}\ndata\n"
    )
}

/// A cache of the bricks at one `x` and a range of `z`, as large as the capacity allows. If all `z`
/// fit, each brick is looked up once for its eight `x`; otherwise once per `x`.
#[derive(Default)]
struct BrickCache {
    x: u32,
    z: Range<u32>,
    /// Sorted by `z`, then `y`.
    rows: Vec<Row>,
}

/// Consecutive bricks along `y` with one mask: a single brick, or full ones.
struct Row {
    z: u32,
    y: Range<u32>,
    mask: Mask,
}

impl BrickCache {
    /// Capacity in rows; the last `z` may exceed it by at most 8192.
    const CAPACITY: usize = 1 << 15;

    /// The bricks at `x` and `z`, in bricks.
    fn row(&mut self, grid: &VoxelGrid, x: u32, z: u32) -> &[Row] {
        if self.x != x || !self.z.contains(&z) {
            self.load(grid, x, z);
        }
        let from = self.rows.partition_point(|row| row.z < z);
        let rows = &self.rows[from..];
        &rows[..rows.partition_point(|row| row.z == z)]
    }

    /// Loads the bricks at `x` from `z` on.
    fn load(&mut self, grid: &VoxelGrid, x: u32, z: u32) {
        let [_, ny, nz] = grid.dims().map(|d| d.div_ceil(BRICK));
        self.rows.clear();
        self.rows.reserve_exact(Self::CAPACITY.min(ny as usize * nz as usize) + ny as usize);
        (self.x, self.z) = (x, z..z);
        while self.z.end < nz && self.rows.len() < Self::CAPACITY {
            let z = self.z.end;
            let layer = [0, ny - 1].map(|y| BrickKey::new([0, y, z]));
            // A scan of the layer is faster than a binary search per row.
            for run in grid.brick_runs_between(layer[0], layer[1].next_row()) {
                let [first, y, _] = run.start.position();
                if (first..first + run.len).contains(&x) {
                    self.push(z, y, run.mask);
                }
            }
            self.z.end += 1;
        }
    }

    fn push(&mut self, z: u32, y: u32, mask: Mask) {
        match self.rows.last_mut() {
            Some(row) if row.z == z && row.y.end == y && mask == FULL && row.mask == FULL => {
                row.y.end += 1;
            }
            _ => self.rows.push(Row { z, y: y..y + 1, mask }),
        }
    }
}

impl Row {
    /// Calls `take` with the runs of occupied voxels along `y`, at `x` and `z` within the bricks.
    fn runs(
        &self,
        [x, z]: [u32; 2],
        mut take: impl FnMut(Range<u32>) -> io::Result<()>,
    ) -> io::Result<()> {
        let [begin, end] = [self.y.start, self.y.end].map(|y| y * BRICK);
        if self.mask == FULL {
            return take(begin..end);
        }
        let mut bits = bits_of_bytes((self.mask[x as usize] >> z) & ONES);
        while bits != 0 {
            let first = bits.trailing_zeros();
            let last = first + (bits >> first).trailing_ones();
            take(begin + first..begin + last)?;
            bits &= u64::MAX << last;
        }
        Ok(())
    }
}

/// The run-length encoder, in file order.
struct Runs<'a, 'b> {
    out: &'a mut Out<'b>,
    /// The number of voxels written.
    written: u64,
    /// The pending run of occupied voxels, which may still grow.
    ones: Range<u64>,
}

impl Runs<'_, '_> {
    /// Adds occupied voxels, after all before.
    fn ones(&mut self, voxels: Range<u64>) -> io::Result<()> {
        if voxels.start != self.ones.end {
            self.flush()?;
            self.ones.start = voxels.start;
        }
        self.ones.end = voxels.end;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let Range { start, end } = self.ones;
        self.put(0, start.max(self.written) - self.written)?;
        self.put(1, end - start)?;
        self.written = self.written.max(end);
        Ok(())
    }

    /// Writes the pending run and empty voxels up to `total`.
    fn finish(mut self, total: u64) -> io::Result<()> {
        self.flush()?;
        self.put(0, total - self.written)
    }

    fn put(&mut self, value: u8, count: u64) -> io::Result<()> {
        const BATCH: usize = 256;
        let longest = [[value, LONGEST_RUN as u8]; BATCH];
        let mut whole = count / LONGEST_RUN;
        while whole > 0 {
            let batch = whole.min(BATCH as u64);
            self.out.write_all(longest[..batch as usize].as_flattened())?;
            whole -= batch;
        }
        match (count % LONGEST_RUN) as u8 {
            0 => Ok(()),
            rest => self.out.write_all(&[value, rest]),
        }
    }
}
