//! Solids of surfaces with holes, by generalized winding numbers (A. Jacobson, L. Kavan and O.
//! Sorkine-Hornung, *Robust Inside-Outside Segmentation using Generalized Winding Numbers*, 2013).
//!
//! The winding number at a voxel is the signed solid angle of the surface as seen from its centre,
//! as a fraction of the sphere: 1 inside a closed surface, 0 outside, and in between near a hole.
//! Parts may overlap. A sweep along each row of bricks counts crossings, and adds the offsets that
//! follow from the boundary ([`offsets`](crate::solid::fill::offsets)).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::base::progress::{Latch, Progress};
use crate::engine::backend::{BackendError, check_cancelled, check_memory};
use crate::grid::{
    BRICK, BrickKey, Crossings, Mask, VoxelGrid, World, in_order_within, is_empty, set_bits,
};
use crate::lattice::Lattice;
use crate::solid::fill::offsets::{CapBrick, Field, Region, Regions};
use crate::solid::topology::Boundary;

/// Maximum memory of a brick at a cap, in bytes: its offsets, and its entries in two lists.
const BRICK_BYTES: u64 = (size_of::<CapBrick>() + 4 * size_of::<Region>()) as u64;

/// Rows of bricks filled per task.
const TASK: usize = 64;

/// The result of [`generalized()`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Generalized {
    /// The voxels at whose centres the winding number is at least 1/2.
    pub grid: VoxelGrid,
    /// The least certain voxel of the bricks at caps, and one of the most certain; `None` if no
    /// voxel of these bricks has a confidence below 1/2.
    pub confidences: Option<[Confidence; 2]>,
    /// The number of voxels of the solid with a winding number below 3/4. An estimate outside the
    /// bricks at caps.
    pub uncertain: u64,
}

/// The confidence that a voxel is inside, or that it is outside. Where parts overlap it may be low
/// although the voxel is certainly inside.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Confidence {
    /// From 0, for a winding number of `i + 1/2`, to 1, for an integer.
    pub value: f64,
    /// The voxel.
    pub voxel: [u32; 3],
}

/// The voxels at whose centres the winding number of a surface is at least 1/2, given its crossings
/// with columns along `x` and its boundary.
///
/// Takes at most `memory` bytes besides `crossings`, including the result. The step `fill` of
/// `progress` is in bricks.
///
/// # Errors
/// [`BackendError::Memory`], or cancellation.
pub fn generalized(
    crossings: &Crossings,
    boundary: &Boundary,
    lattice: &Lattice,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Generalized, BackendError> {
    let kept = Field::bytes(boundary);
    check_memory(kept, memory)?;
    let field = Field::new(boundary, lattice);
    let progress = &Latch::new(progress);
    progress.start("fill", field.work());
    let regions = field.regions((memory - kept) / BRICK_BYTES, progress);
    check_cancelled(progress)?;
    let Regions { regions, extremes } = regions.map_err(|bricks| BackendError::Memory {
        needed: kept + bricks * BRICK_BYTES,
        allowed: memory,
    })?;
    check_memory(kept + Caps::row_bytes(lattice), memory)?;
    let caps = Caps::new(regions, lattice);
    let kept = kept + caps.bytes();
    check_memory(kept, memory)?;
    let sweep = Sweep { crossings, field: &field, caps: &caps, progress };
    let Swept { runs, bytes, uncertain } = sweep.all(memory - kept);
    check_cancelled(progress)?;
    let kept = kept + bytes;
    check_memory(kept, memory)?;
    let fits = |bytes| check_memory(bytes + kept, memory);
    // Whole bricks; voxels beyond the end of the grid are removed afterwards.
    let dims = lattice.dims.map(|d| d.next_multiple_of(BRICK));
    let (grid, _) = in_order_within(dims, World::default(), &runs, fits, |runs, out| {
        runs.iter().for_each(|&(start, len, mask)| out.push(start, len, &mask));
    })?;
    let is_inside = |&&(center, _): &&([u32; 3], u64)| grid.contains(center);
    let estimated: u64 = caps.uncertain.iter().filter(is_inside).map(|&(_, voxels)| voxels).sum();
    let uncertain = uncertain + estimated;
    drop((runs, field));
    let uncropped = grid.bytes();
    let grid = grid
        .cropped(lattice.dims, memory.saturating_sub(uncropped))
        .map_err(|bytes| BackendError::Memory { needed: bytes + uncropped, allowed: memory })?;
    let confidences = extremes
        .map(|ends| ends.map(|(distance, voxel)| Confidence { value: 2.0 * distance, voxel }));
    Ok(Generalized { grid, confidences, uncertain })
}

/// Consecutive bricks along `x` with the same voxels.
type MaskRun = (BrickKey, u32, Mask);

/// The offsets of all rows of bricks.
struct Caps {
    /// The number of rows along `x`, and of bricks along `y`.
    dims: [u32; 2],
    /// The offset at the start of each row, if it is the same for all columns.
    starts: Vec<Option<i32>>,
    /// The bricks with offsets of their own, in canonical order.
    bricks: Vec<(BrickKey, Box<CapBrick>)>,
    /// The centres of other cubes, and their uncertain voxels if these are inside.
    uncertain: Vec<([u32; 3], u64)>,
}

impl Caps {
    /// The memory of [`starts`](Self::starts).
    fn row_bytes(lattice: &Lattice) -> u64 {
        let [_, y, z] = lattice.dims.map(|d| u64::from(d.div_ceil(BRICK)));
        y * z * size_of::<Option<i32>>() as u64
    }

    fn new(regions: Vec<Region>, lattice: &Lattice) -> Self {
        let [x, y, z] = lattice.dims.map(|d| d.div_ceil(BRICK));
        let mut caps = Self {
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
                        caps.starts[row(from[0])..row(to[0])].fill(offset);
                    }
                }
                Region::Brick { at, content } => caps.bricks.push((BrickKey::new(at), content)),
                Region::Uncertain { center, voxels } => caps.uncertain.push((center, voxels)),
            }
        }
        caps.bricks.sort_unstable_by_key(|&(key, _)| key);
        caps
    }

    fn bytes(&self) -> u64 {
        let brick = size_of::<(BrickKey, Box<CapBrick>)>() + size_of::<CapBrick>();
        let lists = size_of_val(&self.starts[..]) + size_of_val(&self.uncertain[..]);
        (self.bricks.len() * brick + lists) as u64
    }
}

struct Sweep<'a> {
    crossings: &'a Crossings,
    field: &'a Field,
    caps: &'a Caps,
    progress: &'a dyn Progress,
}

/// What a sweep finds.
struct Swept {
    /// The bricks inside, in canonical order.
    runs: Vec<Vec<MaskRun>>,
    /// Their memory. If that is more than allowed, `runs` is incomplete.
    bytes: u64,
    /// The number of uncertain voxels inside in bricks at caps.
    uncertain: u64,
}

impl Sweep<'_> {
    /// Fills all rows, and keeps at most about `memory` bytes.
    fn all(&self, memory: u64) -> Swept {
        let rows = self.caps.starts.len();
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
                match bytes.fetch_add(new, Relaxed) + new <= memory {
                    true => runs,
                    false => Vec::new(),
                }
            })
            .collect();
        Swept { runs, bytes: bytes.into_inner(), uncertain: uncertain.into_inner() }
    }

    /// Fills a row of bricks; returns the number of uncertain voxels inside in bricks at caps.
    fn row(&self, row: usize, out: &mut Vec<MaskRun>) -> u64 {
        let [width, depth] = self.caps.dims;
        let [y, z] = [row as u32 % depth, row as u32 / depth];
        let begin = BrickKey::new([0, y, z]);
        let end = begin.along_x(width);
        let bricks = &self.caps.bricks[self.caps.bricks.partition_point(|&(key, _)| key < begin)..];
        let mut caps = bricks.iter().take_while(|&&(key, _)| key < end).peekable();
        let mut crossings = self.crossings.row(begin).take_while(|&(key, ..)| key < end).peekable();

        let mut columns = Columns::default();
        if caps.peek().is_none_or(|&&(key, _)| key > begin) {
            columns.offsets = match self.caps.starts[row] {
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
                out.push((next, next.bricks_to(at), [columns.inside; 8]));
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
                out.push((at, 1, mask));
            }
            next = at.along_x(1);
        }
    }
}

/// The state of the 64 columns of a row, by `8 y + z`, at the current position of the sweep.
struct Columns {
    crossings: [i32; 64],
    offsets: [i32; 64],
    /// The columns that are inside: whose crossings and offset add up to 1 or more.
    inside: u64,
    /// Those where they add up to 1.
    once: u64,
}

impl Default for Columns {
    fn default() -> Self {
        Self { crossings: [0; 64], offsets: [0; 64], inside: 0, once: 0 }
    }
}

impl Columns {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::progress::NoProgress;
    use crate::grid::{Combine, GridBuilder, Writer};
    use crate::lattice::{Bounds, PlaceOptions, Sizing, place};
    use crate::mesh::Mesh;
    use crate::solid::fill::loop_bvh::LoopBvh;
    use crate::solid::topology::Topology;

    #[test]
    fn refusals_say_the_memory_of_each_step() {
        // A square across a long grid. Its crossings are left out: columns behind it are inside.
        let dims = [801, 37, 43];
        let corner = |i: usize| [4.3, [3.2, 33.1][i & 1], [5.4, 36.9][i >> 1]];
        let square = Mesh::new((0..4).map(corner).collect(), vec![[0, 3, 2], [0, 1, 3]]);
        let bounds = Bounds { min: [0.0; 3], max: dims.map(f64::from) };
        let options = PlaceOptions::new(Sizing::VoxelSize(1.0)).with_bounds(bounds);
        let mesh = place(&square.expect("a mesh"), &options).expect("it is small");
        let (lattice, boundary) = (mesh.lattice(), Topology::with_boundary(&mesh).1);
        let boundary = boundary.expect("four edges");
        let builder = GridBuilder::new(dims).expect("a small grid").combining(Combine::Crossings);
        let crossings = builder.finish_with_crossings().1.expect("there are none, but a list");
        let run = |memory| generalized(&crossings, &boundary, lattice, memory, &NoProgress);
        let expected = run(u64::MAX).expect("there is room");
        assert!(expected.grid.occupied() > 10_000);

        let field = Field::new(&boundary, lattice);
        let Ok(Regions { regions, .. }) = field.regions(u64::MAX, &NoProgress) else {
            panic!("there is room");
        };
        let caps = Caps::new(regions, lattice);
        let bricks = caps.bricks.len() as u64;
        let (rows, content) = (caps.starts.len() as u64, size_of::<CapBrick>() as u64);
        // A key, an address and the content of a brick; the offset of a row, if there is one; the
        // centre of a cube, and a number.
        let cubes = caps.uncertain.len() as u64;
        assert_eq!(caps.bytes(), bricks * (8 + 8 + content) + rows * 8 + cubes * 24);
        let mut uncropped = 0;
        let sweep =
            Sweep { crossings: &crossings, field: &field, caps: &caps, progress: &NoProgress };
        let Swept { runs, bytes: list, .. } = sweep.all(u64::MAX);
        assert_eq!(list, 80 * runs.iter().map(Vec::len).sum::<usize>() as u64);
        let without_room = sweep.all(0);
        assert!(without_room.bytes == list && without_room.runs.iter().all(Vec::is_empty));
        let note = |bytes| {
            uncropped = bytes;
            Ok::<(), ()>(())
        };
        let whole = dims.map(|d| d.next_multiple_of(BRICK));
        let write = |runs: &Vec<MaskRun>, out: &mut Writer<'_>| {
            runs.iter().for_each(|(start, len, mask)| out.push(*start, *len, mask));
        };
        in_order_within(whole, World::default(), &runs, note, write).expect("it fits");
        let kept = Field::bytes(&boundary);
        assert_eq!(kept, LoopBvh::bytes(4), "four edges");
        let mut steps = vec![
            kept,
            kept + bricks * BRICK_BYTES,
            kept + caps.bytes() + list,
            kept + caps.bytes() + list + uncropped,
            uncropped + expected.grid.bytes(),
        ];
        // The BVH is freed before the last one.
        assert!(steps[..4].is_sorted() && steps[4] > kept, "{steps:?}");
        if steps[4] < steps[3] {
            steps.pop();
        }

        let mut refusals = Vec::new();
        let found = loop {
            let memory = refusals.last().copied().unwrap_or(0);
            match run(memory) {
                Ok(found) => break found,
                Err(BackendError::Memory { needed, allowed }) => {
                    assert!(needed > allowed && allowed == memory);
                    refusals.push(needed);
                }
                Err(other) => panic!("{other}"),
            }
        };
        assert!(found == expected);
        assert_eq!(refusals, steps);
    }
}
