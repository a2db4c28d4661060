//! Six rays per voxel, from both ends of the three columns through its centre.
//!
//! A sweep in canonical order carries the state of each column, inside or not, in words of 64
//! columns: one word along `x`, a row of words along `y`, a layer along `z`. Bricks without flips,
//! in a row with equal words, are decided at once. Threads process slabs of layers; the initial
//! state of each slab is the parity of the flips before it.

use std::ops::Range;

use rayon::prelude::*;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::Progress;
use crate::grid::{
    BRICK, BrickKey, BrickRun, BrickRuns, FIRST_Z, Mask, VoxelGrid, Writer, checked_dims, count,
    in_order, in_order_within, mask_voxels, overlay, union_bounds,
};
use crate::solid::fill::AxisDisagreement;

/// Maximum memory for the layers of words of all slabs, in bytes, beyond two layers.
const SLAB_BYTES: usize = 256 << 20;
/// Memory that may be used to determine how much a vote needs in total, in bytes. A vote that needs
/// more for its work is refused earlier, with that amount.
const MIN_CHECK_BYTES: u64 = 64 << 20;

/// Fills a grid of `dims` voxels by a vote of six rays for each voxel: one from either end of the
/// three columns through it. Returns the voxels that most rays find inside, and the disagreement of
/// the rays. The two votes of a column with an odd number of flips cancel out. A tie counts as
/// outside. `flips` are the flips along `x`, `y` and `z`; they may lie beyond the end of the filled
/// grid.
///
/// Takes at most `memory` bytes besides `flips`, including the result; if that is refused, up to 64
/// MiB are used to determine the amount needed. The step `fill` of `progress` is in layers of
/// bricks, in two passes: one counts, one writes.
///
/// ```
/// use trivox::{NoProgress, VoxelGrid, solid::fill};
///
/// // A cube of one voxel; one of its sides across `x` is missing.
/// let both = VoxelGrid::from_voxels([3; 3], [[1, 1, 1]])?;
/// let along_x = both.clone();
/// let along_y = VoxelGrid::from_voxels([3; 3], [[1, 1, 1], [1, 2, 1]])?;
/// let along_z = VoxelGrid::from_voxels([3; 3], [[1, 1, 1], [1, 1, 2]])?;
/// let flips = [&along_x, &along_y, &along_z];
/// let (grid, disagreement) = fill::vote(flips, [3; 3], u64::MAX, &NoProgress)?;
/// assert_eq!(grid, both);
/// assert_eq!((disagreement.voxels, disagreement.odd), (0, [1, 0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BackendError::Memory`], cancellation, or dimensions that no grid has.
pub fn vote(
    flips: [&VoxelGrid; 3],
    dims: [u32; 3],
    memory: u64,
    progress: &dyn Progress,
) -> Result<(VoxelGrid, AxisDisagreement), BackendError> {
    let dims = checked_dims(dims)?;
    let world = flips[0].world;
    // Beyond these bounds two columns of each voxel have no flips, and agree.
    let Some(bounds) =
        flips.into_iter().filter_map(VoxelGrid::occupied_bounds).reduce(union_bounds)
    else {
        let grid = in_order::<()>(dims, world, &[], |(), _| ());
        return Ok((grid, AxisDisagreement::default()));
    };
    let bounds = bounds.map(|voxel| voxel.map(|c| c / BRICK));
    let sweep = Sweep { flips, dims, bounds, progress };
    progress.start("fill", 2 * sweep.len(2) as u64);
    let slabs = sweep.slabs();
    let working = sweep.work_bytes(slabs.len());
    check_memory(working, memory.max(MIN_CHECK_BYTES))?;
    let (layers, odd) = sweep.layers(&slabs);
    let parts: Vec<(Range<u32>, Vec<u64>)> = slabs.into_iter().zip(layers).collect();
    let fits = |bytes| {
        check_cancelled(progress)?;
        check_memory(bytes + working, memory)
    };
    let decide = |(slab, layer): &(Range<u32>, Vec<u64>), out: &mut Writer<'_>| {
        sweep.slab(slab, layer, &odd, out)
    };
    let (grid, of_slabs) = in_order_within(dims, world, &parts, fits, decide)?;
    let mut statistics = of_slabs.into_iter().fold(Statistics::default(), Statistics::followed_by);
    statistics.disagreement.odd[2] = ones(odd.iter().copied());
    let worst = statistics.worst.map(|(_, voxel)| voxel);
    Ok((grid, AxisDisagreement { worst, ..statistics.disagreement }))
}

fn ones(words: impl Iterator<Item = u64>) -> u64 {
    words.map(|word| u64::from(word.count_ones())).sum()
}

/// The bricks that hold all flips.
struct Sweep<'a> {
    flips: [&'a VoxelGrid; 3],
    /// The dimensions of the result, in voxels.
    dims: [u32; 3],
    /// The first and the last brick along each axis.
    bounds: [[u32; 3]; 2],
    progress: &'a dyn Progress,
}

impl Sweep<'_> {
    /// Bricks along an axis.
    fn len(&self, axis: usize) -> usize {
        (self.bounds[1][axis] - self.bounds[0][axis] + 1) as usize
    }

    /// Words per layer: one for the 64 columns through a brick along `z`.
    fn layer_len(&self) -> usize {
        self.len(0) * self.len(1)
    }

    /// The key of the first brick of a row.
    fn row(&self, y: u32, z: u32) -> BrickKey {
        BrickKey::new([self.bounds[0][0], y, z])
    }

    /// Layers of bricks swept per task.
    fn slabs(&self) -> Vec<Range<u32>> {
        let affordable = 1 + SLAB_BYTES / (self.layer_len() * size_of::<u64>());
        let tasks = (4 * rayon::current_num_threads()).min(affordable).min(self.len(2));
        let step = self.len(2).div_ceil(tasks);
        let end = self.bounds[1][2] + 1;
        let begins = (self.bounds[0][2]..end).step_by(step);
        begins.map(|begin| begin..end.min(begin + step as u32)).collect()
    }

    /// Bytes of the layers, of the columns in work, and of the statistics of each slab.
    fn work_bytes(&self, slabs: usize) -> u64 {
        let layers = (slabs + 1) * self.layer_len() * size_of::<u64>();
        let columns = (self.layer_len() + self.len(0)) * size_of::<BrickColumns>() + self.len(1);
        (layers + slabs.min(rayon::current_num_threads()) * columns + slabs * 1024) as u64
    }

    /// For each slab, the columns along `z` that are inside at its start, and the columns with an
    /// odd number of flips.
    fn layers(&self, slabs: &[Range<u32>]) -> (Vec<Vec<u64>>, Vec<u64>) {
        let parity = |slab: &Range<u32>| {
            let mut odd = vec![0; self.layer_len()];
            for piece in self.pieces(2, slab) {
                let [x, y, _] = piece.start.position();
                let place = (y - self.bounds[0][1]) as usize * self.len(0);
                odd[place + (x - self.bounds[0][0]) as usize] ^= parity_along_z(&piece.mask);
            }
            odd
        };
        let mut layers: Vec<Vec<u64>> = slabs.par_iter().map(parity).collect();
        let mut before = vec![0; self.layer_len()];
        for layer in &mut layers {
            for (parity, before) in layer.iter_mut().zip(&mut before) {
                (*parity, *before) = (*before, *parity ^ *before);
            }
        }
        (layers, before)
    }

    /// The flips along an axis in layers of bricks.
    fn pieces(&self, axis: usize, layers: &Range<u32>) -> BrickRuns<'_> {
        let end = self.row(self.bounds[1][1], layers.end - 1).next_row();
        self.flips[axis].brick_runs_between(self.row(self.bounds[0][1], layers.start), end)
    }

    /// Decides the voxels of a slab. `layer` has the columns along `z` that are inside at its
    /// start; `odd` those with an odd number of flips.
    fn slab(
        &self,
        slab: &Range<u32>,
        layer: &[u64],
        odd: &[u64],
        out: &mut Writer<'_>,
    ) -> Statistics {
        let mut statistics = Statistics::default();
        let width = self.len(0);
        let mut y = vec![BrickColumns::default(); width];
        let columns = layer.iter().zip(odd).map(|(&inside, &odd)| BrickColumns { inside, odd });
        let mut z: Vec<BrickColumns> = columns.collect();
        let mut pieces = [0, 1, 2].map(|axis| self.pieces(axis, slab));
        // Only rows with a column that is inside or odd: most others are empty.
        let mut any_z: Vec<bool> = z.chunks_exact(width).map(any).collect();
        for layer in slab.clone() {
            y.fill(BrickColumns::default());
            for piece in self.pieces(1, &(layer..layer + 1)) {
                let [x, ..] = piece.start.position();
                y[(x - self.bounds[0][0]) as usize].odd ^= parity_along_y(&piece.mask);
            }
            statistics.disagreement.odd[1] += ones(y.iter().map(|columns| columns.odd));
            let mut any_y = any(&y);
            for (row, z) in z.chunks_exact_mut(width).enumerate() {
                let first = self.row(self.bounds[0][1] + row as u32, layer);
                let flips = pieces.each_mut().map(|pieces| pieces.take_before(first.next_row()));
                let is_crossed = flips.iter().any(|flips| flips.first().is_some());
                if is_crossed || any_y || any_z[row] {
                    let (x, statistics) = (BrickColumns::default(), &mut statistics);
                    let (dims, inside, disputed) = (self.dims, 0, 0);
                    let y = &mut y[..];
                    Row { dims, first, x, y, z, inside, disputed, out, statistics }.decide(flips);
                    any_z[row] = any(z);
                    any_y = any(y);
                }
            }
            self.progress.advance(1);
        }
        statistics
    }
}

/// The 64 columns through a brick along an axis. The bit of a column is `8 y + z` along `x`, `8 x +
/// z` along `y` and `8 y + x` along `z`.
#[derive(Clone, Copy, Default, PartialEq)]
struct BrickColumns {
    inside: u64,
    /// The columns with an odd number of flips.
    odd: u64,
}

/// Whether a column is inside or odd.
fn any(columns: &[BrickColumns]) -> bool {
    columns.iter().any(|columns| columns.inside | columns.odd != 0)
}

/// A row of bricks.
struct Row<'a, 'b> {
    /// The dimensions of the result, in voxels.
    dims: [u32; 3],
    first: BrickKey,
    /// The columns along `x`.
    x: BrickColumns,
    /// The columns along `y` through each brick.
    y: &'a mut [BrickColumns],
    /// The columns along `z` through each brick.
    z: &'a mut [BrickColumns],
    /// The columns along `x` with a voxel that is inside so far.
    inside: u64,
    /// The columns along `x` with a disputed voxel so far.
    disputed: u64,
    out: &'a mut Writer<'b>,
    statistics: &'a mut Statistics,
}

impl Row<'_, '_> {
    /// Decides the row's voxels, given the flips along the three axes.
    fn decide(mut self, flips: [BrickRuns<'_>; 3]) {
        let parity = |mask: &Mask| mask.iter().fold(0, |parity, slice| parity ^ slice);
        self.x.odd = flips[0].clone().fold(0, |odd, piece| odd ^ parity(&piece.mask));
        let (mut next, end) = (0, self.z.len());
        for bricks in overlay(flips) {
            let begin = self.first.bricks_to(bricks.start) as usize;
            self.decide_without_flips(next..begin);
            next = begin + bricks.len as usize;
            (begin..next).for_each(|x| self.decide_bricks(x, 1, &bricks.masks));
        }
        self.decide_without_flips(next..end);
        let disagreement = &mut self.statistics.disagreement;
        disagreement.odd[0] += u64::from(self.x.odd.count_ones());
        disagreement.columns += u64::from(self.disputed.count_ones());
        disagreement.of_columns += u64::from((self.inside | self.disputed).count_ones());
    }

    fn decide_without_flips(&mut self, bricks: Range<usize>) {
        let mut next = bricks.start;
        while next < bricks.end {
            let first = (self.y[next], self.z[next]);
            let same = (next..bricks.end).take_while(|&x| (self.y[x], self.z[x]) == first).count();
            self.decide_bricks(next, same, &[[0; 8]; 3]);
            next += same;
        }
    }

    /// Decides `len` bricks with the same columns and the same `flips`; `flips` is empty if `len >
    /// 1`.
    fn decide_bricks(&mut self, begin: usize, len: usize, flips: &[Mask; 3]) {
        let mut columns = [self.x, self.y[begin], self.z[begin]];
        let (inside, disputed) = through_brick(&mut columns, flips);
        [self.x, self.y[begin], self.z[begin]] = columns;
        let start = self.first.along_x(begin as u32);
        let run = BrickRun { start, len: len as u32, mask: inside };
        self.out.push_clipped(self.dims, &run);
        self.statistics.add(start, len, &disputed);
        self.inside |= inside.iter().fold(0, |any, slice| any | slice);
        self.disputed |= disputed.iter().fold(0, |any, slice| any | slice);
    }
}

/// The voxels of a brick that are inside, and the disputed ones, given its columns along the three
/// axes, which are moved past it.
fn through_brick(
    [along_x, along_y, along_z]: &mut [BrickColumns; 3],
    flips: &[Mask; 3],
) -> (Mask, Mask) {
    let (mut inside, mut disputed) = ([0; 8], [0; 8]);
    let (mut y_inside, mut z_inside) = (0, 0);
    for x in 0..8 {
        along_x.inside ^= flips[0][x];
        let y = prefix_along_y(flips[1][x]) ^ y_row(along_y.inside, x);
        let z = prefix_along_z(flips[2][x]) ^ z_row(along_z.inside, x);
        y_inside |= y >> 56 << (8 * x);
        z_inside |= (z >> 7 & FIRST_Z) << x;
        let odd = [along_x.odd, y_row(along_y.odd, x), z_row(along_z.odd, x)];
        (inside[x], disputed[x]) = decide([along_x.inside, y, z], odd);
    }
    (along_y.inside, along_z.inside) = (y_inside, z_inside);
    (inside, disputed)
}

/// The voxels, of 64, that are inside and that are disputed, given the results of their three
/// columns and the columns that do not vote.
#[inline(always)]
fn decide(inside: [u64; 3], odd: [u64; 3]) -> (u64, u64) {
    let yes = [0, 1, 2].map(|a| inside[a] & !odd[a]);
    let no = [0, 1, 2].map(|a| !inside[a] & !odd[a]);
    let any = |[a, b, c]: [u64; 3]| a | b | c;
    let two = |[a, b, c]: [u64; 3]| a & b | (a | b) & c;
    let agreed = two(yes) & !any(no) | two(no) & !any(yes);
    (two(yes) | any(yes) & !any(no), !agreed)
}

/// The slice `x` of columns along `y`.
#[inline(always)]
fn y_row(columns: u64, x: usize) -> u64 {
    (columns >> (8 * x) & 0xff) * FIRST_Z
}

/// The slice `x` of columns along `z`.
#[inline(always)]
fn z_row(columns: u64, x: usize) -> u64 {
    (columns >> x & FIRST_Z) * 0xff
}

/// For each voxel of a slice, the parity of the bits at or before it along `y`: a prefix XOR.
#[inline(always)]
fn prefix_along_y(mut slice: u64) -> u64 {
    slice ^= slice << 8;
    slice ^= slice << 16;
    slice ^ slice << 32
}

/// For each voxel of a slice, the parity of the bits at or before it along `z`: a prefix XOR.
#[inline(always)]
fn prefix_along_z(mut slice: u64) -> u64 {
    slice ^= slice << 1 & (0xfe * FIRST_Z);
    slice ^= slice << 2 & (0xfc * FIRST_Z);
    slice ^ slice << 4 & (0xf0 * FIRST_Z)
}

/// The columns along `y` with an odd number of flips in a brick.
fn parity_along_y(flips: &Mask) -> u64 {
    (0..8).fold(0, |odd, x| odd | prefix_along_y(flips[x]) >> 56 << (8 * x))
}

/// The columns along `z` with an odd number of flips in a brick.
fn parity_along_z(flips: &Mask) -> u64 {
    (0..8).fold(0, |odd, x| odd | (prefix_along_z(flips[x]) >> 7 & FIRST_Z) << x)
}

/// Statistics of some layers.
#[derive(Default)]
struct Statistics {
    disagreement: AxisDisagreement,
    /// The maximum number of disputed voxels in a brick, and the first of them in the first brick
    /// that has it.
    worst: Option<(u32, [u32; 3])>,
}

impl Statistics {
    /// Counts the disputed voxels of `bricks` bricks along `x`. Calls must be in canonical order.
    fn add(&mut self, start: BrickKey, bricks: usize, disputed: &Mask) {
        let voxels = count(disputed);
        self.disagreement.voxels += u64::from(voxels) * bricks as u64;
        if voxels > self.worst.map_or(0, |(most, ..)| most) {
            let first = mask_voxels(start.first_voxel(), *disputed).next();
            self.worst = first.map(|first| (voxels, first));
        }
    }

    /// Adds the statistics of the layers that follow.
    fn followed_by(self, after: Self) -> Self {
        let (a, b) = (self.disagreement, after.disagreement);
        let worst = [self.worst, after.worst].into_iter().flatten();
        let worst = worst.reduce(|a, b| if b.0 > a.0 { b } else { a });
        let disagreement = AxisDisagreement {
            voxels: a.voxels + b.voxels,
            columns: a.columns + b.columns,
            of_columns: a.of_columns + b.of_columns,
            odd: std::array::from_fn(|axis| a.odd[axis] + b.odd[axis]),
            worst: None,
        };
        Self { disagreement, worst }
    }
}
