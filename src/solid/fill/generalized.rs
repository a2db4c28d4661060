//! Solids of surfaces with holes, by generalized winding numbers (A. Jacobson, L. Kavan and O.
//! Sorkine-Hornung, *Robust Inside-Outside Segmentation using Generalized Winding Numbers*, 2013).
//!
//! The winding number at a voxel is the signed solid angle of the surface as seen from its centre,
//! as a fraction of the sphere: 1 inside a closed surface, 0 outside, and in between near a hole.
//! Parts may overlap. A sweep along each row of bricks counts crossings, and adds the offsets that
//! follow from the boundary ([`offsets`](crate::solid::fill::offsets)).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::Progress;
use crate::grid::{
    BRICK, BrickKey, BrickRun, Crossings, Mask, VoxelGrid, World, in_order_within, is_empty,
    set_bits,
};
use crate::lattice::Lattice;
use crate::solid::fill::offsets::{CapBrick, Field, Region};
use crate::solid::topology::Boundary;

/// Maximum memory of a brick at a cap, in bytes: its offsets, and its entries in two lists.
const BRICK_BYTES: u64 = (size_of::<CapBrick>() + 4 * size_of::<Region>()) as u64;

/// Rows of bricks filled per task.
const TASK: usize = 64;

/// The voxels at whose centres the winding number of a surface is at least 1/2, given its crossings
/// with columns along `x` and its boundary; and the number of those with a winding number below
/// 3/4, an estimate outside the bricks at caps.
///
/// Takes at most `memory` bytes besides `crossings`, including the result. The step `fill` of
/// `progress` is in bricks.
///
/// # Errors
/// [`BackendError::Memory`], or cancellation.
pub(in crate::solid) fn generalized(
    crossings: &Crossings,
    boundary: &Boundary,
    lattice: &Lattice,
    memory: u64,
    progress: &dyn Progress,
) -> Result<(VoxelGrid, u64), BackendError> {
    let kept = Field::bytes(boundary);
    check_memory(kept, memory)?;
    let field = Field::new(boundary, lattice);
    progress.start("fill", field.work());
    let regions = field.regions((memory - kept) / BRICK_BYTES, progress);
    check_cancelled(progress)?;
    let regions = regions.map_err(|bricks| BackendError::Memory {
        needed: kept + bricks * BRICK_BYTES,
        allowed: memory,
    })?;
    check_memory(kept + Sweep::row_bytes(lattice), memory)?;
    let sweep = Sweep::new(crossings, &field, regions, lattice, progress);
    let kept = kept + sweep.bytes();
    check_memory(kept, memory)?;
    let (runs, [bytes, uncertain]) = sweep.all(memory - kept);
    check_cancelled(progress)?;
    let kept = kept + bytes;
    check_memory(kept, memory)?;
    let fits = |bytes| check_memory(bytes + kept, memory);
    let (grid, _) =
        in_order_within(lattice.dims, World::default(), &runs, fits, |runs: &Vec<_>, out| {
            runs.iter().for_each(|run| out.push_clipped(lattice.dims, run));
        })?;
    let is_inside = |&&(center, _): &&([u32; 3], u64)| grid.contains(center);
    let estimated: u64 = sweep.uncertain.iter().filter(is_inside).map(|&(_, voxels)| voxels).sum();
    Ok((grid, uncertain + estimated))
}

/// A sweep along `x` through all rows of bricks.
struct Sweep<'a> {
    crossings: &'a Crossings,
    field: &'a Field,
    progress: &'a dyn Progress,
    /// The number of rows along `x`, and of bricks along `y`.
    dims: [u32; 2],
    /// The offset at the start of each row, if it is the same for all columns.
    starts: Vec<Option<i32>>,
    /// The bricks with offsets of their own, in canonical order.
    bricks: Vec<(BrickKey, Box<CapBrick>)>,
    /// The centres of other cubes, and their uncertain voxels if these are inside.
    uncertain: Vec<([u32; 3], u64)>,
}

impl<'a> Sweep<'a> {
    /// The memory of [`starts`](Self::starts).
    fn row_bytes(lattice: &Lattice) -> u64 {
        let [_, y, z] = lattice.dims.map(|d| u64::from(d.div_ceil(BRICK)));
        y * z * size_of::<Option<i32>>() as u64
    }

    fn new(
        crossings: &'a Crossings,
        field: &'a Field,
        regions: Vec<Region>,
        lattice: &Lattice,
        progress: &'a dyn Progress,
    ) -> Self {
        let [x, y, z] = lattice.dims.map(|d| d.div_ceil(BRICK));
        let mut sweep = Self {
            crossings,
            field,
            progress,
            dims: [x, y],
            starts: vec![None; (y * z) as usize],
            bricks: Vec::new(),
            uncertain: Vec::new(),
        };
        for region in regions {
            match region {
                Region::Rows { from, to, offset } => {
                    for z in from[1]..to[1] {
                        let row = |at: u32| (z * y + at) as usize;
                        sweep.starts[row(from[0])..row(to[0])].fill(offset);
                    }
                }
                Region::Brick { at, content } => sweep.bricks.push((BrickKey::new(at), content)),
                Region::Uncertain { center, voxels } => sweep.uncertain.push((center, voxels)),
            }
        }
        sweep.bricks.sort_unstable_by_key(|&(key, _)| key);
        sweep
    }

    fn bytes(&self) -> u64 {
        let brick = size_of::<(BrickKey, Box<CapBrick>)>() + size_of::<CapBrick>();
        let lists = size_of_val(&self.starts[..]) + size_of_val(&self.uncertain[..]);
        (self.bricks.len() * brick + lists) as u64
    }

    /// The bricks inside, in canonical order, with voxels beyond the end of the grid; their memory,
    /// if it is more than `memory` incomplete; and the number of uncertain voxels inside in bricks
    /// at caps.
    fn all(&self, memory: u64) -> (Vec<Vec<BrickRun>>, [u64; 2]) {
        let rows = self.starts.len();
        let [bytes, uncertain] = [0, 0].map(AtomicU64::new);
        let runs = (0..rows.div_ceil(TASK))
            .into_par_iter()
            .map(|task| {
                let mut runs = Vec::new();
                if self.progress.is_cancelled() {
                    return runs;
                }
                let rows = task * TASK..rows.min((task + 1) * TASK);
                let count: u64 = rows.map(|row| self.row(row, &mut runs)).sum();
                uncertain.fetch_add(count, Relaxed);
                let new = size_of_val(&runs[..]) as u64;
                let fits = bytes.fetch_add(new, Relaxed) + new <= memory;
                if fits { runs } else { Vec::new() }
            })
            .collect();
        (runs, [bytes, uncertain].map(AtomicU64::into_inner))
    }

    /// Fills a row of bricks; returns the number of uncertain voxels inside in bricks at caps.
    fn row(&self, row: usize, out: &mut Vec<BrickRun>) -> u64 {
        let [width, depth] = self.dims;
        let [y, z] = [row as u32 % depth, row as u32 / depth];
        let begin = BrickKey::new([0, y, z]);
        let end = begin.along_x(width);
        let bricks = &self.bricks[self.bricks.partition_point(|&(key, _)| key < begin)..];
        let mut caps = bricks.iter().take_while(|&&(key, _)| key < end).peekable();
        let mut crossings = self.crossings.row(begin).take_while(|&(key, ..)| key < end).peekable();

        let mut columns = ColumnStates { crossings: [0; 64], offsets: [0; 64], inside: 0, once: 0 };
        if caps.peek().is_none_or(|&&(key, _)| key > begin) {
            columns.offsets = match self.starts[row] {
                Some(offset) => [offset; 64],
                None => std::array::from_fn(|column| {
                    let [y, z] = [BRICK * y + column as u32 / 8, BRICK * z + column as u32 % 8];
                    self.field.offset([0, y, z])
                }),
            };
            columns.update(u64::MAX);
        }
        let (mut next, mut uncertain) = (begin, 0);
        loop {
            let keys = [caps.peek().map(|&&(key, _)| key), crossings.peek().map(|&(key, ..)| key)];
            let at = keys.into_iter().flatten().min().unwrap_or(end);
            if next < at && columns.inside != 0 {
                let (len, mask) = (next.bricks_to(at), [columns.inside; 8]);
                out.push(BrickRun { start: next, len, mask });
            }
            if at == end {
                return uncertain;
            }
            let mut steps = Vec::new();
            while let Some((_, step, mask)) = crossings.next_if(|&(key, ..)| key == at) {
                steps.push((step, mask));
            }
            let cap = caps.next_if(|&&(key, _)| key == at).map(|(_, content)| &**content);
            let (mask, count) = columns.through(&steps, cap);
            uncertain += count;
            if !is_empty(&mask) {
                out.push(BrickRun { start: at, len: 1, mask });
            }
            next = at.along_x(1);
        }
    }
}

/// The state of the 64 columns of a row, by `8 y + z`, at the current position of the sweep.
struct ColumnStates {
    crossings: [i32; 64],
    offsets: [i32; 64],
    /// The columns that are inside: whose crossings and offset add up to 1 or more.
    inside: u64,
    /// The columns whose crossings and offset add up to 1.
    once: u64,
}

impl ColumnStates {
    /// Updates the masks of `columns`.
    fn update(&mut self, columns: u64) {
        for column in set_bits(columns) {
            let number = self.crossings[column as usize] + self.offsets[column as usize];
            self.inside = self.inside & !(1 << column) | u64::from(number > 0) << column;
            self.once = self.once & !(1 << column) | u64::from(number == 1) << column;
        }
    }

    /// The voxels inside, in a brick with crossings or at a cap, and the number of uncertain ones.
    fn through(&mut self, steps: &[(i32, &Mask)], cap: Option<&CapBrick>) -> (Mask, u64) {
        let mut uncertain = 0;
        let inside = std::array::from_fn(|x| {
            let mut changed = 0;
            for (step, mask) in steps {
                changed |= mask[x];
                set_bits(mask[x]).for_each(|column| self.crossings[column as usize] += step);
            }
            if let Some(cap) = cap {
                let offsets = &cap.offsets[64 * x..][..64];
                if self.offsets != offsets {
                    self.offsets.copy_from_slice(offsets);
                    changed = u64::MAX;
                }
            }
            self.update(changed);
            let of_layer = cap.map_or(0, |cap| cap.uncertain[x] & self.once);
            uncertain += u64::from(of_layer.count_ones());
            self.inside
        });
        (inside, uncertain)
    }
}
