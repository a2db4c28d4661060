//! Signed distances in a narrow band around a surface: what film and simulation call a level set,
//! and machine learning a truncated signed distance field.
//!
//! A voxel's distance is that from its centre to the nearest point of the mesh on its lattice,
//! rounded once to `f32`. It is inside if its centre is, by the same fills as a solid
//! ([`solid`](crate::solid)).
//!
//! Triangles are sorted into the bricks that they may reach; then bricks are computed
//! independently, each in `f64` with a bound of the error. Where that leaves the rounding open, it
//! is decided in integers. The result is the same for any number of threads and any order of
//! triangles, because each distance is a function of the triangles alone.

mod bricks;
mod exact;
mod field;
mod nearest;
mod vector;

pub use field::DistanceField;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use pulp::Arch;
use rayon::prelude::*;

use crate::grid::{BRICK, BrickKey, GridBuilder, Mask, VoxelGrid, count};
use crate::place::PlacedMesh;
use crate::progress::Progress;
use crate::voxelize::BackendError;

use bricks::Finder;
use nearest::{Brick, Nearest};

/// The widest band, in voxels.
pub const MAX_WIDTH: f32 = 1024.0;

/// Most pairs of a brick and a triangle that are sorted at a time, 256 MiB, unless a layer has
/// more.
const PAIRS: u64 = 1 << 24;
/// A brick and a triangle.
type Pair = (u64, u32);
/// Triangles per task.
const TRIANGLES: usize = 1 << 10;
/// Pairs per task, at least; all of a brick are in one.
const TASK: usize = 1 << 9;

/// The distances of the voxels of `mesh`'s grid that are nearer than `width` voxels, negative where
/// `inside` has the voxel, in at most `memory` bytes beside the mesh and `inside`.
///
/// # Errors
/// Too little memory; cancelled; a mesh in a window.
///
/// # Panics
/// The width is not above 0, or above [`MAX_WIDTH`]; `inside` has other dimensions than the grid.
pub fn distances(
    mesh: &PlacedMesh,
    inside: VoxelGrid,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<DistanceField, BackendError> {
    assert!(width > 0.0 && width <= MAX_WIDTH, "a band of {width} voxels");
    if mesh.window().is_some() {
        return Err(BackendError::NotInTiles(
            "distances depend on the surface beyond the tile: compute them for the whole grid",
        ));
    }
    let dims = mesh.lattice().dims;
    assert_eq!(dims, inside.dims(), "the grid of voxels inside");
    let layers = dims[2].div_ceil(BRICK);
    progress.start("distances", layers.into());
    let work = Work { mesh, width, memory, progress };
    let mut parts = Vec::new();
    work.solve(0..layers, &mut parts)?;
    let (bricks, values): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let bricks = bricks.concat();
    let mut distances = Vec::with_capacity(values.iter().map(Vec::len).sum());
    values.into_iter().for_each(|part| distances.extend(part));
    let mut band = VoxelGrid::from_bricks(dims, bricks.clone())?;
    band.world = inside.world;
    Ok(DistanceField::new(width, [band, inside], &bricks, distances))
}

/// Bricks of the band, and their distances.
type Part = (Vec<(BrickKey, Mask)>, Vec<f32>);

struct Work<'a> {
    mesh: &'a PlacedMesh,
    width: f32,
    memory: u64,
    progress: &'a dyn Progress,
}

impl Work<'_> {
    /// Computes the bricks in `layers`, in slabs whose pairs there is memory for.
    fn solve(&self, layers: Range<u32>, parts: &mut Vec<Part>) -> Result<(), BackendError> {
        if self.progress.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        let is_one = layers.end - layers.start == 1;
        let most = self.memory / 4 / size_of::<Pair>() as u64;
        let most = if is_one { most } else { most.min(PAIRS) };
        let (pairs, count) = self.pairs(&layers, most);
        if count > most {
            drop(pairs);
            let middle = layers.start + (layers.end - layers.start) / 2;
            if is_one {
                let needed = count.saturating_mul(4 * size_of::<Pair>() as u64);
                return Err(BackendError::Memory { needed, allowed: self.memory });
            }
            self.solve(layers.start..middle, parts)?;
            return self.solve(middle..layers.end, parts);
        }
        let kept = parts.iter().map(|(bricks, values)| 2 * bytes(bricks.len(), values.len())).sum();
        let room = AtomicU64::new((self.memory - self.memory / 4).saturating_sub(kept));
        let found: Vec<Option<Part>> =
            tasks(&pairs).into_par_iter().map(|pairs| self.bricks(pairs, &room)).collect();
        let done = f64::from(layers.end) / f64::from(self.mesh.lattice().dims[2].div_ceil(BRICK));
        if found.iter().any(Option::is_none) {
            if self.progress.is_cancelled() {
                return Err(BackendError::Cancelled);
            }
            let needed = (self.memory as f64 / done).max(self.memory as f64 * 1.25) as u64;
            return Err(BackendError::Memory { needed, allowed: self.memory });
        }
        parts.extend(found.into_iter().flatten());
        self.progress.advance((layers.end - layers.start).into());
        Ok(())
    }

    /// The pairs of a brick in `layers` and a triangle near it, sorted; and their number, of which
    /// only `most` are returned.
    fn pairs(&self, layers: &Range<u32>, most: u64) -> (Vec<Pair>, u64) {
        let [nx, ny, _] = self.mesh.lattice().dims.map(|d| d.div_ceil(BRICK) as i32);
        let lo = [0, 0, layers.start as i32];
        let hi = [nx - 1, ny - 1, layers.end as i32 - 1];
        let finder = Finder::new(self.mesh, self.width, [lo, hi]);
        let total = AtomicU64::new(0);
        let tasks = (0..self.mesh.len().div_ceil(TRIANGLES)).into_par_iter();
        let pairs = tasks.flat_map_iter(|task| {
            let first = task * TRIANGLES;
            let mut pairs = Vec::new();
            let mut before = 0;
            for index in first..self.mesh.len().min(first + TRIANGLES) {
                let is_full = total.load(Ordering::Relaxed) > most;
                finder.each(&self.mesh.triangle(index), &mut |key| {
                    if !is_full {
                        pairs.push((key.packed(), index as u32));
                    }
                    before += 1;
                });
                total.fetch_add(std::mem::take(&mut before), Ordering::Relaxed);
            }
            pairs
        });
        let mut pairs: Vec<Pair> = pairs.collect();
        let total = total.into_inner();
        if total <= most {
            pairs.par_sort_unstable();
        }
        (pairs, total)
    }

    /// The bricks of `pairs` and their distances; `None` if there is no room for them.
    fn bricks(&self, pairs: &[Pair], room: &AtomicU64) -> Option<Part> {
        if self.progress.is_cancelled() {
            return None;
        }
        let arch = Arch::new();
        let unit_bits = self.mesh.lattice().unit_bits;
        let of_bricks = || pairs.chunk_by(|a, b| a.0 == b.0);
        let count = of_bricks().count();
        // Twice: while they shrink, and while parts are joined, both copies exist.
        let most = 2 * bytes(count, 512 * count);
        let claim = |room: u64| room.checked_sub(most);
        room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).ok()?;
        let (mut bricks, mut values) = (Vec::with_capacity(count), Vec::with_capacity(512 * count));
        for indices in of_bricks() {
            let key = BrickKey::from_packed(indices[0].0)?;
            let half = 1 << (unit_bits - 1);
            let origin = key.position().map(|b| ((b * BRICK) << unit_bits) as i32 + half);
            let brick = Brick { origin, unit_bits, width: self.width };
            let nearest = Nearest::of(arch, self.mesh, &brick, indices);
            let mask = nearest.finish(arch, self.mesh, &brick, indices, &mut values);
            let mask = self.clipped(key, mask, &mut values);
            if mask != [0; 8] {
                bricks.push((key, mask));
            }
        }
        bricks.shrink_to_fit();
        values.shrink_to_fit();
        room.fetch_add(most - 2 * bytes(bricks.len(), values.len()), Ordering::Relaxed);
        Some((bricks, values))
    }

    /// Without the voxels past the grid's end, nor their values, which are the last ones.
    fn clipped(&self, key: BrickKey, mask: Mask, values: &mut Vec<f32>) -> Mask {
        let dims = self.mesh.lattice().dims;
        let base = key.position().map(|b| b * BRICK);
        if (0..3).all(|a| base[a] + BRICK <= dims[a]) {
            return mask;
        }
        let [nx, ny, nz] = [0, 1, 2].map(|a| (dims[a] - base[a]).min(BRICK));
        let row = u64::from(u8::MAX >> (BRICK - nz));
        let slice = (0..ny).fold(0, |slice, y| slice | row << (BRICK * y));
        let within: Mask = std::array::from_fn(|x| if x < nx as usize { slice } else { 0 });
        let first = values.len() - count(&mask) as usize;
        let bits = mask.iter().zip(within).flat_map(|(&word, within)| {
            crate::grid::set_bits(word).map(move |bit| within >> bit & 1 == 1)
        });
        let kept: Vec<f32> =
            values[first..].iter().zip(bits).filter(|&(_, is_in)| is_in).map(|(&v, _)| v).collect();
        values.truncate(first);
        values.extend(kept);
        std::array::from_fn(|x| mask[x] & within[x])
    }
}

/// Divides sorted pairs where a brick ends.
fn tasks(pairs: &[Pair]) -> Vec<&[Pair]> {
    let mut tasks = Vec::with_capacity(pairs.len() / TASK + 1);
    let mut rest = pairs;
    while !rest.is_empty() {
        let last = rest[TASK.min(rest.len()) - 1].0;
        let (task, others) = rest.split_at(rest.partition_point(|pair| pair.0 <= last));
        tasks.push(task);
        rest = others;
    }
    tasks
}

/// Bytes of memory of a field with this many bricks and distances.
fn bytes(bricks: usize, distances: usize) -> u64 {
    let of_brick = GridBuilder::BYTES_KEPT + 2 * size_of::<u64>() as u64;
    bricks as u64 * of_brick + (distances * size_of::<f32>()) as u64
}
