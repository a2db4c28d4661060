//! Converts the bricks of a grid to dense arrays in C order, in parts of whole rows along `z`.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::NoUninit;
use rayon::prelude::*;

use crate::base::srgb::Rgba;
use crate::formats::grid::dense::bytes_of_bits;
use crate::formats::io::deflate::{CHUNK, Content};
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid, is_empty, set_bits};

/// An empty voxel.
pub(super) const NONE: Rgba = [0; 4];

/// Layers of voxels along `x` that lie in the same bricks, or as much of one along `y` as the
/// capacity allows.
pub(super) struct Layers<'a> {
    colors: Option<&'a Colors>,
    dims: [u32; 3],
    /// In voxels.
    xs: Range<u32>,
    /// In bricks.
    ys: Range<u32>,
    /// Sorted by `y`, then `z`.
    runs: Vec<Run>,
}

/// Consecutive bricks along `z` with one mask, mostly full ones.
struct Run {
    y: u32,
    z: Range<u32>,
    mask: Mask,
    /// The index of the brick's own colours, for a run of one brick that has them.
    own: Option<usize>,
}

/// Consecutive rows: whole layers, or a part of one.
pub(super) struct Part {
    /// In voxels.
    xs: Range<u32>,
    /// In bricks.
    ys: Range<u32>,
}

impl<'a> Layers<'a> {
    /// Capacity, in runs of 96 bytes. Exceeded by at most [`AT_ONCE`](Self::AT_ONCE) runs, or by
    /// one row of up to 8192.
    const CAPACITY: usize = 3 << 13;

    /// Bricks that are looked up at once, in whole rows.
    const AT_ONCE: u32 = 1 << 12;

    /// The layers of `grid` in file order, with `colors`. If all `y` fit the capacity, each brick
    /// is looked up once for its eight `x`; otherwise once per `x`.
    fn all(grid: &'a VoxelGrid, colors: Option<&'a Colors>) -> impl Iterator<Item = Self> {
        let [nx, ny, _] = grid.dims();
        let mut next = Some([0, 0]);
        std::iter::from_fn(move || {
            let [x, y] = next?;
            let mut layers =
                Self { colors, dims: grid.dims(), xs: x..x + 1, ys: y..y, runs: vec![] };
            layers.load(grid);
            if layers.ys == (0..ny.div_ceil(BRICK)) {
                layers.xs.end = nx.min((x / BRICK + 1) * BRICK);
            }
            next = if layers.ys.end < ny.div_ceil(BRICK) {
                Some([x, layers.ys.end])
            } else {
                (layers.xs.end < nx).then_some([layers.xs.end, 0])
            };
            Some(layers)
        })
    }

    /// The parts of all layers in file order, each with its layers; `bytes` is a voxel's size.
    pub(super) fn all_parts(
        grid: &'a VoxelGrid,
        colors: Option<&'a Colors>,
        bytes: u32,
    ) -> impl Iterator<Item = (Arc<Self>, Part)> {
        Self::all(grid, colors).flat_map(move |layers| {
            let layers = Arc::new(layers);
            layers.parts(bytes).map(move |part| (Arc::clone(&layers), part))
        })
    }

    /// Looks up the bricks from the first `y` on.
    fn load(&mut self, grid: &VoxelGrid) {
        let [_, ny, nz] = self.dims.map(|d| d.div_ceil(BRICK));
        let x = self.xs.start / BRICK;
        let rows = (Self::AT_ONCE / nz).max(1);
        let most = Self::CAPACITY + (rows * nz) as usize;
        self.runs.reserve_exact(most.min(ny as usize * nz as usize));
        while self.ys.end < ny && self.runs.len() < Self::CAPACITY {
            let ys = self.ys.end..ny.min(self.ys.end + rows);
            self.ys.end = ys.end;
            let rows = ys.into_par_iter().map(|y| {
                let mut runs = Vec::new();
                for z in 0..nz {
                    let key = BrickKey::new([x, y, z]);
                    let mask = grid.mask_of(key);
                    if !is_empty(&mask) {
                        let own = self.colors.and_then(|colors| colors.index_of(key));
                        Run { y, z: z..z + 1, mask, own }.append_to(&mut runs);
                    }
                }
                runs
            });
            let rows: Vec<Vec<Run>> = rows.collect();
            self.runs.extend(rows.into_iter().flatten());
        }
    }

    /// The parts, in file order, of at most about [`CHUNK`] bytes; `bytes` is the size of a voxel.
    fn parts(&self, bytes: u32) -> impl Iterator<Item = Part> + use<> {
        let [_, ny, nz] = self.dims.map(u64::from);
        let fit = |size: u64| (CHUNK as u64 / size).max(1) as usize;
        let (voxel, brick) = (u64::from(bytes), u64::from(BRICK));
        let (layers, rows) = (fit(ny * nz * voxel), fit(brick * nz * voxel));
        let (xs, ys) = (self.xs.clone(), self.ys.clone());
        let ends = [xs.end, ys.end];
        xs.step_by(layers).flat_map(move |x| {
            let xs = x..ends[0].min(x + layers as u32);
            let part = move |y| Part { xs: xs.clone(), ys: y..ends[1].min(y + rows as u32) };
            ys.clone().step_by(rows).map(part)
        })
    }

    /// A byte for each voxel: whether it is occupied.
    pub(super) fn occupied(&self, part: &Part) -> Content<'static> {
        self.content(part, |run, _, bits, row: &mut [u8]| {
            let [begin, end] = [run.z.start, run.z.end].map(|z| (z * BRICK) as usize);
            let eight = bytes_of_bits(bits);
            let end = end.min(row.len());
            for place in row[begin..end].chunks_mut(BRICK as usize) {
                place.copy_from_slice(&eight[..place.len()]);
            }
        })
    }

    /// The colour of each voxel in `colors`.
    pub(super) fn colors(&self, part: &Part, colors: &Colors) -> Content<'static> {
        self.content(part, |run, [x, y], bits, row: &mut [Rgba]| {
            let own = run.own.map(|index| colors.brick(index));
            for z in run.z.clone() {
                for bit in set_bits(bits.into()) {
                    let color = own.map_or(colors.rest(), |own| own.at(x, BRICK * y + bit));
                    row[(z * BRICK + bit) as usize] = color;
                }
            }
        })
    }

    /// The content of `part`. `put` sets the voxels of a run in a row, from its `x` and `y` in the
    /// bricks and its bits there.
    fn content<T: Default + NoUninit>(
        &self,
        part: &Part,
        put: impl Fn(&Run, [u32; 2], u8, &mut [T]),
    ) -> Content<'static> {
        let [_, ny, nz] = self.dims;
        let rows = ny.min(part.ys.end * BRICK) - part.ys.start * BRICK;
        let layer = rows as usize * nz as usize;
        let voxels = layer * part.xs.len();
        let from = self.runs.partition_point(|run| run.y < part.ys.start);
        let runs = self.runs[from..].iter().take_while(|run| run.y < part.ys.end);
        let word = |run: &Run, x: u32| run.mask[(x % BRICK) as usize];
        if runs.clone().all(|run| part.xs.clone().all(|x| word(run, x) == 0)) {
            return Content::Zeros(voxels * size_of::<T>());
        }
        let mut values = vec![T::default(); voxels];
        for (x, layer) in part.xs.clone().zip(values.chunks_exact_mut(layer)) {
            for run in runs.clone() {
                let first = ((run.y - part.ys.start) * BRICK) as usize * nz as usize;
                let rows = layer[first..].chunks_exact_mut(nz as usize);
                for ((y, row), bits) in (0..).zip(rows).zip(word(run, x).to_le_bytes()) {
                    put(run, [x % BRICK, y], bits, row);
                }
            }
        }
        Content::Bytes(bytemuck::cast_vec::<T, u8>(values).into())
    }
}

impl Run {
    /// Appends this run to `runs`, or extends the last run by it.
    fn append_to(self, runs: &mut Vec<Self>) {
        match runs.last_mut() {
            Some(run) if run.is_continued_by(&self) => run.z.end = self.z.end,
            _ => runs.push(self),
        }
    }

    fn is_continued_by(&self, next: &Self) -> bool {
        let is_next = self.y == next.y && self.z.end == next.z.start && self.mask == next.mask;
        is_next && self.own.is_none() && next.own.is_none()
    }
}
