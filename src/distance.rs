//! Signed distances in a narrow band around a surface: what film and simulation call a level set,
//! and machine learning a truncated signed distance field.
//!
//! A voxel's distance is that from its centre to the nearest point of the mesh on its lattice,
//! rounded once to `f32`. It is inside if its centre is, by the same fills as a solid
//! ([`solid`](crate::solid)).
//!
//! The grid is halved down to bricks. Of the triangles, in clusters, each half keeps those that may
//! be the nearest to one of its voxels: not farther than the width, nor than the farthest point of
//! another cluster. Bricks are computed in `f64` with a bound of the error. Where that leaves the
//! rounding open, it is decided in integers. The result is the same for any number of threads and
//! any order of triangles, because each distance is a function of the triangles alone.

mod clusters;
mod exact;
mod field;
mod nearest;
mod reach;

pub use field::DistanceField;

use std::sync::atomic::{AtomicU64, Ordering};

use pulp::Arch;

use crate::grid::{BRICK, BrickKey, GridBuilder, Mask, VoxelGrid, count};
use crate::place::PlacedMesh;
use crate::progress::Progress;
use crate::voxelize::BackendError;

use clusters::{Aabb, Clusters};
use nearest::{Brick, Near, Nearest};
use reach::Reach;

/// The widest band, in voxels.
pub const MAX_WIDTH: f32 = 1024.0;

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
    let bricks = Bricks { from: [0; 3], to: dims.map(|d| d.div_ceil(BRICK)) };
    // At each depth there is a list of clusters, of which there are at most as many as triangles.
    let depth: u32 = bricks.to.map(|d| 1 + d.next_power_of_two().ilog2()).into_iter().sum();
    let lists = u64::from(depth) * size_of::<u32>() as u64;
    let needed = (Clusters::BYTES + lists) * mesh.len() as u64;
    let Some(room) = memory.checked_sub(needed) else {
        return Err(BackendError::Memory { needed, allowed: memory });
    };
    progress.start("distances", bricks.rows());
    let work = Work {
        mesh,
        clusters: Clusters::new(mesh),
        width,
        memory,
        room: AtomicU64::new(room),
        rows: AtomicU64::new(0),
        progress,
    };
    let all: Vec<u32> = (0..work.clusters.len()).collect();
    let parts = work.visit(bricks, &all)?;
    let (bricks, distances): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut band = GridBuilder::new(dims)?;
    band.append(&bricks)?;
    drop(bricks);
    let mut band = band.finish();
    band.world = inside.world;
    Ok(DistanceField::new(width, [band, inside], distances.concat()))
}

/// A half-open range of bricks.
#[derive(Debug, Clone, Copy)]
struct Bricks {
    from: [u32; 3],
    to: [u32; 3],
}

impl Bricks {
    /// The number of rows along `x`.
    fn rows(&self) -> u64 {
        u64::from(self.len(1)) * u64::from(self.len(2))
    }

    fn len(&self, axis: usize) -> u32 {
        self.to[axis] - self.from[axis]
    }

    /// Both halves, in canonical order; `None` of one brick.
    fn halves(&self) -> Option<[Self; 2]> {
        let axis = (0..3).rev().find(|&axis| self.len(axis) > 1)?;
        let [mut before, mut after] = [*self; 2];
        before.to[axis] -= self.len(axis) / 2;
        after.from[axis] = before.to[axis];
        Some([before, after])
    }

    /// The bounds of the voxels' centres.
    fn centers(&self, unit_bits: u32) -> Aabb {
        let half = 1 << (unit_bits - 1);
        let at = |brick: u32| ((brick * BRICK) << unit_bits).cast_signed();
        Aabb { lo: self.from.map(|c| at(c) + half), hi: self.to.map(|c| at(c) - half) }
    }
}

/// Bricks of the band, and their distances.
type Part = (Vec<(BrickKey, Mask)>, Vec<f32>);

struct Work<'a> {
    mesh: &'a PlacedMesh,
    clusters: Clusters,
    width: f32,
    memory: u64,
    /// Bytes of `memory` that are left.
    room: AtomicU64,
    /// Finished rows of bricks.
    rows: AtomicU64,
    progress: &'a dyn Progress,
}

impl Work<'_> {
    /// Computes `bricks`, near which there are triangles of only these clusters. Returns a part for
    /// each row that has voxels of the band.
    fn visit(&self, bricks: Bricks, clusters: &[u32]) -> Result<Vec<Part>, BackendError> {
        if self.progress.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        let near = self.near(&bricks, clusters);
        let halves = bricks.halves().filter(|_| !near.is_empty() && bricks.rows() > 1);
        if let Some([before, after]) = halves {
            let (before, after) =
                rayon::join(|| self.visit(before, &near), || self.visit(after, &near));
            let mut parts = before?;
            parts.append(&mut after?);
            return Ok(parts);
        }
        let mut part = Part::default();
        self.visit_row(bricks, &near, &mut part)?;
        self.rows.fetch_add(bricks.rows(), Ordering::Relaxed);
        self.progress.advance(bricks.rows());
        part.0.shrink_to_fit();
        part.1.shrink_to_fit();
        Ok(if part.0.is_empty() { Vec::new() } else { vec![part] })
    }

    /// Computes bricks of one row.
    fn visit_row(&self, bricks: Bricks, near: &[u32], part: &mut Part) -> Result<(), BackendError> {
        if near.is_empty() {
            return Ok(());
        }
        let Some(halves) = bricks.halves() else { return self.brick(bricks, near, part) };
        let mut visit = |half: Bricks| self.visit_row(half, &self.near(&half, near), part);
        halves.into_iter().try_for_each(&mut visit)
    }

    /// The clusters, of `clusters`, with triangles that may be the nearest to a voxel of `bricks`
    /// within the width.
    fn near(&self, bricks: &Bricks, clusters: &[u32]) -> Vec<u32> {
        let reach = self.reach(bricks, clusters);
        let is_brick = bricks.halves().is_none();
        let is_near = |&&cluster: &&u32| match *self.clusters.triangles(cluster) {
            [index] if is_brick || self.clusters.is_long(cluster) => {
                reach.meets_triangle(&self.mesh.triangle(index as usize))
            }
            _ => reach.meets(self.clusters.bounds(cluster)),
        };
        clusters.iter().filter(is_near).copied().collect()
    }

    /// The reach of `bricks`, given that there are triangles in each of `clusters`.
    fn reach(&self, bricks: &Bricks, clusters: &[u32]) -> Reach {
        let lattice = self.mesh.lattice();
        let boxes = clusters.iter().map(|&cluster| self.clusters.bounds(cluster));
        Reach::new(bricks.centers(lattice.unit_bits), self.width, lattice.unit(), boxes)
    }

    /// Computes one brick.
    fn brick(&self, brick: Bricks, near: &[u32], part: &mut Part) -> Result<(), BackendError> {
        if self.progress.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        let arch = Arch::new();
        let unit_bits = self.mesh.lattice().unit_bits;
        let reach = self.reach(&brick, near);
        let meets = |&index: &u32| reach.meets_triangle(&self.mesh.triangle(index as usize));
        if !near.iter().any(|&cluster| self.clusters.triangles(cluster).iter().any(meets)) {
            return Ok(());
        }
        let key = BrickKey::new(brick.from);
        let brick = Brick { origin: reach.centers.lo, unit_bits, width: self.width };
        let (bricks, values) = part;
        let before = values.len();
        let near = Near { mesh: self.mesh, clusters: &self.clusters, near, reach: &reach };
        let nearest = Nearest::of(arch, &near, &brick);
        let mask = nearest.finish(arch, &near, &brick, values);
        let mask = self.clipped(key, mask, values);
        if mask == [0; 8] {
            return Ok(());
        }
        bricks.push((key, mask));
        // Counted twice: the parts and the field that they are copied to exist at the same time.
        let needed = 2 * bytes(1, values.len() - before);
        let claim = |room: u64| room.checked_sub(needed);
        match self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.too_little_memory()),
        }
    }

    /// Extrapolates the memory of the finished rows to all rows.
    fn too_little_memory(&self) -> BackendError {
        let dims = self.mesh.lattice().dims.map(|d| u64::from(d.div_ceil(BRICK)));
        let done = self.rows.load(Ordering::Relaxed) as f64 / (dims[1] * dims[2]) as f64;
        let allowed = self.memory as f64;
        let needed = (allowed / done.max(0.01)).max(allowed * 1.25) as u64;
        BackendError::Memory { needed, allowed: self.memory }
    }

    /// Without the voxels past the grid's end, nor their values, which are the last ones.
    fn clipped(&self, key: BrickKey, mask: Mask, values: &mut Vec<f32>) -> Mask {
        let dims = self.mesh.lattice().dims;
        let base = key.first_voxel();
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

/// Bytes of memory of a field with this many bricks and distances.
fn bytes(bricks: usize, distances: usize) -> u64 {
    let of_brick = GridBuilder::BYTES_KEPT + 2 * size_of::<u64>() as u64;
    bricks as u64 * of_brick + (distances * size_of::<f32>()) as u64
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::mesh::Mesh;
    use crate::place::{PlaceOptions, Sizing, place};
    use crate::progress::NoProgress;

    /// The keys of all bricks, in canonical order.
    fn keys(bricks: &Bricks) -> Vec<BrickKey> {
        let [x, y, z] = [0, 1, 2].map(|a| bricks.from[a]..bricks.to[a]);
        let all = z.flat_map(|z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| BrickKey::new([x, y, z])))
        });
        all.collect()
    }

    #[test]
    fn both_halves_of_a_range_are_all_of_its_bricks_in_order() {
        let mut rng = Rng::with_seed(51);
        for _ in 0..1000 {
            let from = [(); 3].map(|()| rng.u32(0..50));
            let bricks = Bricks { from, to: from.map(|c| c + rng.u32(1..6)) };
            let all = keys(&bricks);
            let in_row = (bricks.to[0] - bricks.from[0]) as usize;
            assert_eq!(bricks.rows() as usize, all.len() / in_row);
            let Some([before, after]) = bricks.halves() else {
                assert_eq!(all.len(), 1);
                continue;
            };
            let lens = [&before, &after].map(|half| keys(half).len());
            assert_eq!([keys(&before), keys(&after)].concat(), all);
            // One row of an odd number is more than half.
            assert!(lens[0] >= lens[1] && lens[1] * 2 >= lens[0], "{lens:?}");

            let unit_bits = rng.u32(4..10);
            let middle = |voxel: u32| (2 * voxel as i32 + 1) << (unit_bits - 1);
            let centers = bricks.centers(unit_bits);
            assert_eq!(centers.lo, bricks.from.map(|c| middle(8 * c)));
            assert_eq!(centers.hi, bricks.to.map(|c| middle(8 * c - 1)));
        }
    }

    #[test]
    fn memory_is_that_of_the_clusters_their_lists_and_two_fields() {
        let mut rng = Rng::with_seed(52);
        let positions = (0..60).map(|_| [40.0, 90.0, 20.0].map(|length| length * rng.f64()));
        let triangles = (0..20).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let mesh = Mesh::new(positions.collect(), triangles).expect("a mesh");
        let options = PlaceOptions::new(Sizing::VoxelSize(1.0)).with_pad(2);
        let mesh = place(&mesh, &options).expect("a placed mesh");
        let dims = mesh.lattice().dims;
        let make = |memory| {
            let inside = VoxelGrid::empty(dims).expect("a grid");
            distances(&mesh, inside, 1.5, memory, &NoProgress)
        };
        let Err(BackendError::Memory { needed, .. }) = make(0) else { panic!("there is no room") };
        let mut ranges = vec![Bricks { from: [0; 3], to: dims.map(|d| d.div_ceil(BRICK)) }];
        while let Some([before, _]) = ranges[ranges.len() - 1].halves() {
            ranges.push(before);
        }
        // A list of all clusters at each depth; the bound has two more.
        assert_eq!(needed, 20 * (Clusters::BYTES + 4 * (ranges.len() as u64 + 2)));
        let field = make(u64::MAX).expect("there is room");
        let of_field = bytes(field.band().brick_count() as usize, field.distances().count());
        // There is one more index of a distance than bricks.
        assert_eq!(of_field + 8 + field.inside().bytes(), field.bytes());
        let needed = needed + 2 * of_field;
        assert!(make(needed).expect("it fits") == field);
        assert!(matches!(make(needed - 1), Err(BackendError::Memory { .. })));
    }

    #[test]
    fn the_memory_of_all_rows_is_extrapolated_from_that_of_the_finished_ones() {
        let mesh = Mesh::new(vec![[0.0; 3], [1.0; 3], [0.0, 1.0, 1.0]], vec![[0, 1, 2]]);
        let options = PlaceOptions::new(Sizing::VoxelSize(1.0 / 64.0));
        let mesh = place(&mesh.expect("a mesh"), &options).expect("a placed mesh");
        // In bricks, beside a margin.
        assert!(mesh.lattice().dims.into_iter().all(|d| d.div_ceil(BRICK) == 8));
        for (rows, needed) in [(0, 100_000), (16, 4000), (32, 2000), (64, 1250)] {
            let work = Work {
                mesh: &mesh,
                clusters: Clusters::new(&mesh),
                width: 1.0,
                memory: 1000,
                room: AtomicU64::new(0),
                rows: AtomicU64::new(rows),
                progress: &NoProgress,
            };
            let error = work.too_little_memory();
            let expected = BackendError::Memory { needed, allowed: 1000 };
            assert_eq!(error.to_string(), expected.to_string(), "{rows}");
        }
    }
}
