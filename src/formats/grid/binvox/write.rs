//! Writing: from slabs of bricks to runs along `y`.

use std::io::{self, Write};
use std::ops::Range;

use super::{LONGEST_RUN, edge};
use crate::formats::grid::layers::{Layers, RowAxis};
use crate::formats::{Out, WriteError};
use crate::grid::{BRICK, Place, VoxelGrid};

/// Writes `grid`, in at most 4 MiB of memory.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let edge = u64::from(edge(grid.dims()));
    out.write_all(header(grid).as_bytes())?;
    let mut runs = Runs { out, written: 0, ones: 0..0 };
    for layers in Layers::all(grid, None, RowAxis::Y) {
        let rows = |x: u32| {
            let rows = layers.runs.chunk_by(|a, b| a.second == b.second);
            rows.flat_map(move |runs| (0..BRICK).map(move |z| ([x, z], runs)))
        };
        for ([x, z], bricks) in layers.xs.clone().flat_map(rows) {
            let column = u64::from(x) * edge + u64::from(bricks[0].second * BRICK + z);
            for ys in bricks.iter().flat_map(|run| run.voxels([x % BRICK, z])) {
                let [start, end] = [ys.start, ys.end].map(|y| column * edge + u64::from(y));
                runs.ones(start..end)?;
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
