//! Converts the bricks of a grid to dense arrays with `x` slowest, in parts of whole rows.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::NoUninit;
use rayon::prelude::*;

use crate::base::srgb::Rgba;
use crate::formats::grid::dense::{ONES, bytes_of_bits};
use crate::formats::io::deflate::{CHUNK, Content};
use crate::grid::{BRICK, BrickRun, Colors, FULL, Mask, VoxelGrid, bits_of_bytes, set_bits};

/// The axis of the rows, the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowAxis {
    Y,
    /// C order.
    Z,
}

/// The layers of voxels along `x` of one layer of bricks, or a part of one layer, as large as the
/// capacity. The second axis is the middle one of the array.
pub(super) struct Layers<'a> {
    colors: Option<&'a Colors>,
    axis: RowAxis,
    /// Voxels along `x`, the second axis and a row.
    dims: [u32; 3],
    /// In voxels.
    pub(super) xs: Range<u32>,
    /// Along the second axis, in bricks.
    seconds: Range<u32>,
    /// Sorted by the second axis, then along the row.
    pub(super) runs: Vec<Run>,
}

/// Consecutive bricks along a row with one mask, mostly full ones.
pub(super) struct Run {
    axis: RowAxis,
    /// The position along the second axis.
    pub(super) second: u32,
    pub(super) bricks: Range<u32>,
    mask: Mask,
    /// The index of the colours of a single brick; `None` for uniform colours.
    own: Option<usize>,
}

/// Consecutive rows: whole layers, or a part of one.
pub(super) struct LayerPart {
    /// In voxels.
    xs: Range<u32>,
    /// In bricks.
    seconds: Range<u32>,
}

impl<'a> Layers<'a> {
    /// Capacity, in runs of 96 bytes. Exceeded by at most [`AT_ONCE`](Self::AT_ONCE) runs, or by
    /// one row of up to 8192.
    const CAPACITY: usize = 3 << 13;

    /// Bricks of a parallel look-up, in whole rows.
    const AT_ONCE: u32 = 1 << 12;

    /// The layers of `grid` in file order, with `colors`. If the whole second axis fits the
    /// capacity, each brick is looked up once for its eight `x`; otherwise once per `x`.
    pub(super) fn all(
        grid: &'a VoxelGrid,
        colors: Option<&'a Colors>,
        axis: RowAxis,
    ) -> impl Iterator<Item = Self> {
        let dims = axis.ordered(grid.dims());
        let [nx, bricks] = [dims[0], dims[1].div_ceil(BRICK)];
        let mut next = Some([0, 0]);
        std::iter::from_fn(move || {
            let [x, second] = next?;
            let (xs, seconds) = (x..x + 1, second..second);
            let mut layers = Self { colors, axis, dims, xs, seconds, runs: vec![] };
            layers.load(grid);
            if layers.seconds == (0..bricks) {
                layers.xs.end = nx.min((x / BRICK + 1) * BRICK);
            }
            next = if layers.seconds.end < bricks {
                Some([x, layers.seconds.end])
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
    ) -> impl Iterator<Item = (Arc<Self>, LayerPart)> {
        Self::all(grid, colors, RowAxis::Z).flat_map(move |layers| {
            let layers = Arc::new(layers);
            layers.parts(bytes).map(move |part| (Arc::clone(&layers), part))
        })
    }

    /// Looks up the bricks from the first along the second axis on.
    fn load(&mut self, grid: &VoxelGrid) {
        let (axis, colors, x) = (self.axis, self.colors, self.xs.start / BRICK);
        let [_, bricks, per_row] = self.dims.map(|d| d.div_ceil(BRICK));
        let rows = (Self::AT_ONCE / per_row).max(1);
        let most = Self::CAPACITY + (rows * per_row) as usize;
        self.runs.reserve_exact(most.min(bricks as usize * per_row as usize));
        while self.seconds.end < bricks && self.runs.len() < Self::CAPACITY {
            let seconds = self.seconds.end..bricks.min(self.seconds.end + rows);
            self.seconds.end = seconds.end;
            let rows = seconds.into_par_iter().map(|second| {
                let [from, to] = [[x, second, 0], [x + 1, second + 1, per_row]];
                let mut runs: Vec<Run> = Vec::new();
                for BrickRun { start, mask, .. } in
                    grid.brick_runs_in(axis.ordered(from), axis.ordered(to))
                {
                    let [.., at] = axis.ordered(start.position());
                    let own = colors.and_then(|colors| colors.index_of(start));
                    let run = Run { axis, second, bricks: at..at + 1, mask, own };
                    match runs.last_mut() {
                        Some(last) if run.continues(last) => last.bricks.end = at + 1,
                        _ => runs.push(run),
                    }
                }
                runs
            });
            let rows: Vec<Vec<Run>> = rows.collect();
            self.runs.extend(rows.into_iter().flatten());
        }
    }

    /// The parts, in file order, of at most about [`CHUNK`] bytes; `bytes` is the size of a voxel.
    fn parts(&self, bytes: u32) -> impl Iterator<Item = LayerPart> + use<> {
        let [_, ny, nz] = self.dims.map(u64::from);
        let fit = |size: u64| (CHUNK as u64 / size).max(1) as usize;
        let (voxel, brick) = (u64::from(bytes), u64::from(BRICK));
        let (layers, rows) = (fit(ny * nz * voxel), fit(brick * nz * voxel));
        let (xs, seconds) = (self.xs.clone(), self.seconds.clone());
        let ends = [xs.end, seconds.end];
        xs.step_by(layers).flat_map(move |x| {
            let xs = x..ends[0].min(x + layers as u32);
            let end = move |first| ends[1].min(first + rows as u32);
            let part = move |first| LayerPart { xs: xs.clone(), seconds: first..end(first) };
            seconds.clone().step_by(rows).map(part)
        })
    }

    /// A byte for each voxel: whether it is occupied.
    pub(super) fn occupied(&self, part: &LayerPart) -> Content<'static> {
        self.content(part, |run, _, bits, row: &mut [u8]| {
            let [begin, end] = [run.bricks.start, run.bricks.end].map(|z| (z * BRICK) as usize);
            let eight = bytes_of_bits(bits);
            let end = end.min(row.len());
            for place in row[begin..end].chunks_mut(BRICK as usize) {
                place.copy_from_slice(&eight[..place.len()]);
            }
        })
    }

    /// The colour of each voxel in `colors`.
    pub(super) fn colors(&self, part: &LayerPart, colors: &Colors) -> Content<'static> {
        self.content(part, |run, [x, y], bits, row: &mut [Rgba]| {
            let own = run.own.map(|index| colors.brick(index));
            for z in run.bricks.clone() {
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
        part: &LayerPart,
        put: impl Fn(&Run, [u32; 2], u8, &mut [T]),
    ) -> Content<'static> {
        let [_, ny, nz] = self.dims;
        let rows = ny.min(part.seconds.end * BRICK) - part.seconds.start * BRICK;
        let layer = rows as usize * nz as usize;
        let voxels = layer * part.xs.len();
        let from = self.runs.partition_point(|run| run.second < part.seconds.start);
        let runs = self.runs[from..].iter().take_while(|run| run.second < part.seconds.end);
        let is_empty = |run: &Run, x: u32| run.mask[(x % BRICK) as usize] == 0;
        if runs.clone().all(|run| part.xs.clone().all(|x| is_empty(run, x))) {
            return Content::Zeros(voxels * size_of::<T>());
        }
        let mut values = vec![T::default(); voxels];
        for (x, layer) in part.xs.clone().zip(values.chunks_exact_mut(layer)) {
            for run in runs.clone() {
                let first = ((run.second - part.seconds.start) * BRICK) as usize * nz as usize;
                let rows = layer[first..].chunks_exact_mut(nz as usize);
                for (y, row) in (0..BRICK).zip(rows) {
                    put(run, [x % BRICK, y], run.bits([x % BRICK, y]), row);
                }
            }
        }
        Content::Bytes(bytemuck::cast_vec::<T, u8>(values).into())
    }
}

impl Run {
    /// The voxels of a row in a brick, at its `x` and along the second axis in the brick.
    fn bits(&self, [x, second]: [u32; 2]) -> u8 {
        let word = self.mask[x as usize];
        match self.axis {
            RowAxis::Z => (word >> (BRICK * second)) as u8,
            RowAxis::Y => bits_of_bytes((word >> second) & ONES) as u8,
        }
    }

    /// The runs of occupied voxels of a row, at its `x` and along the second axis in the bricks.
    pub(super) fn voxels(&self, at: [u32; 2]) -> impl Iterator<Item = Range<u32>> {
        let begin = self.bricks.start * BRICK;
        let is_full = self.mask == FULL;
        let whole = is_full.then_some(begin..self.bricks.end * BRICK);
        let mut bits = if is_full { 0 } else { u32::from(self.bits(at)) };
        let runs = std::iter::from_fn(move || {
            let first = (bits != 0).then(|| bits.trailing_zeros())?;
            let end = first + (bits >> first).trailing_ones();
            bits &= u32::MAX << end;
            Some(begin + first..begin + end)
        });
        whole.into_iter().chain(runs)
    }

    /// Whether this run extends `last`. Along `y` only full bricks share a run.
    fn continues(&self, last: &Self) -> bool {
        let is_next = last.bricks.end == self.bricks.start && last.mask == self.mask;
        let is_run = self.axis == RowAxis::Z || self.mask == FULL;
        is_next && is_run && last.own.is_none() && self.own.is_none()
    }
}

impl RowAxis {
    /// The axes `x`, `y` and `z` in the order of the array, slowest first, and the inverse.
    fn ordered<T>(self, [x, y, z]: [T; 3]) -> [T; 3] {
        match self {
            Self::Y => [x, z, y],
            Self::Z => [x, y, z],
        }
    }
}
