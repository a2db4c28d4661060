//! Signed distances in a narrow band around a surface: what film and simulation call a level set,
//! and machine learning a truncated signed distance field.
//!
//! A voxel's distance is that from its centre to the nearest point of the mesh on its lattice,
//! rounded once to `f32`. It is inside if its centre is, by the same fills as a solid
//! ([`solid`](crate::solid)).
//!
//! The grid is halved down to bricks. Of the triangles, in clusters, each half keeps those that may
//! be the nearest to one of its voxels: not farther than the width, nor than the farthest point of
//! another cluster. On the CPU, bricks are computed in `f64` with a bound of the error; where the
//! error leaves the rounding open, integers decide. For a GPU, the CPU halves the grid down to
//! blocks of eight bricks. On the GPU, bounds in `f32` exclude most of the triangles that are left;
//! the distances to the others are computed in integers. The result is the same for any number of
//! threads and any order of triangles, because each distance is a function of the triangles alone.

pub(crate) mod bricks;
pub(crate) mod clusters;
pub(crate) mod cull;
mod distance_bound;
pub(in crate::solid) mod exact;
mod field;
mod nearest;

pub use field::DistanceField;

use std::sync::atomic::{AtomicU64, Ordering};

use pulp::Arch;
use rayon::prelude::*;

use crate::base::progress::Progress;
use crate::engine::backend::{Backend, BackendError};
use crate::grid::{BRICK, BrickKey, GridBuilder, Mask, VoxelGrid, count};
use crate::lattice::{Distinct, PlacedMesh};
use crate::solid::distance::bricks::Bricks;
use crate::solid::distance::cull::Culling;
use crate::solid::distance::nearest::{Brick, BrickDistances, Near};

/// The widest band, in voxels.
pub const MAX_WIDTH: f32 = 1024.0;

/// Bricks whose distances one thread copies.
const COPIED_BRICKS: usize = 1 << 8;

pub(crate) const NOT_IN_TILES: BackendError = BackendError::NotInTiles(
    "distances depend on the surface beyond the tile: compute them for the whole grid",
);

/// Checks the width of a band, in voxels.
///
/// # Errors
/// A width that is not above 0, or above [`MAX_WIDTH`].
pub fn check_width(width: f32) -> Result<(), BackendError> {
    match width > 0.0 && width <= MAX_WIDTH {
        true => Ok(()),
        false => Err(BackendError::Width { width, most: MAX_WIDTH }),
    }
}

/// The distances of the voxels of `mesh`'s grid that are nearer than `width` voxels, as rounded:
/// one that is rounded to `width` is not. They are negative where `inside` has the voxel. Computed
/// by `backend`, in at most `memory` bytes beside the mesh and `inside`.
///
/// # Errors
/// A width that is not above 0, or above [`MAX_WIDTH`]; too little memory; cancelled; a mesh in a
/// window; the backend failed.
///
/// # Panics
/// `inside` has other dimensions than the grid.
pub fn distances<'a>(
    backend: impl Into<Backend<'a>>,
    mesh: &PlacedMesh,
    inside: VoxelGrid,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<DistanceField, BackendError> {
    let band = band(backend.into(), mesh, width, memory, progress)?;
    field_of(mesh, inside, width, band)
}

/// The field of a [`band`], as [`distances`] returns it.
pub(crate) fn field_of(
    mesh: &PlacedMesh,
    inside: VoxelGrid,
    width: f32,
    parts: Vec<Part>,
) -> Result<DistanceField, BackendError> {
    let dims = mesh.lattice().dims;
    assert_eq!(dims, inside.dims(), "the grid of voxels inside");
    let distances = in_order(&parts);
    let bricks: Vec<_> = parts.into_iter().map(|(bricks, _)| bricks).collect();
    let mut band = GridBuilder::new(dims)?;
    band.append(&bricks)?;
    let mut band = band.finish();
    band.world = inside.world;
    Ok(DistanceField::new(width, [band, inside], distances))
}

/// Each brick of a part, and its distances.
fn of_bricks((bricks, distances): &Part) -> impl Iterator<Item = (BrickKey, &[f32])> {
    let mut rest = distances.as_slice();
    bricks.iter().map(move |(key, mask)| {
        let (own, others) = rest.split_at(count(mask) as usize);
        rest = others;
        (*key, own)
    })
}

/// The distances of all parts, with the bricks in canonical order.
pub(crate) fn in_order(parts: &[Part]) -> Vec<f32> {
    let mut bricks: Vec<_> = parts.par_iter().flat_map_iter(of_bricks).collect();
    bricks.par_sort_unstable_by_key(|&(key, _)| key);
    let total = |bricks: &[(BrickKey, &[f32])]| bricks.iter().map(|(_, own)| own.len()).sum();
    // Zeroed memory is touched first by the threads that fill it, which share the page faults.
    let mut all = vec![0.0; total(&bricks)];
    let mut rest = all.as_mut_slice();
    let mut tasks = Vec::new();
    for bricks in bricks.chunks(COPIED_BRICKS) {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(total(bricks));
        rest = others;
        tasks.push((own, bricks));
    }
    tasks.into_par_iter().for_each(|(mut to, bricks)| {
        for (_, from) in bricks {
            let (own, others) = std::mem::take(&mut to).split_at_mut(from.len());
            own.copy_from_slice(from);
            to = others;
        }
    });
    all
}

/// The band of [`distances`] in parts, in any order.
pub(crate) fn band(
    backend: Backend<'_>,
    mesh: &PlacedMesh,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<Part>, BackendError> {
    check_width(width)?;
    if mesh.window().is_some() {
        return Err(NOT_IN_TILES);
    }
    let mesh = &*Distinct::of(mesh, false).into_mesh();
    match backend {
        #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
        Backend::Gpu(gpu) => {
            crate::gpu::distance::parts(gpu.device(), mesh, width, memory, progress)
        }
        _ => Work::new(mesh, width, memory, 0, progress)?.parts(),
    }
}

/// Bricks of the band, and their distances.
pub(crate) type Part = (Vec<(BrickKey, Mask)>, Vec<f32>);

pub(crate) struct Work<'a> {
    pub(crate) culling: Culling<'a>,
    pub(crate) width: f32,
    memory: u64,
    /// Bytes of `memory` that are left.
    room: AtomicU64,
}

impl<'a> Work<'a> {
    /// With `memory`, of which `taken` bytes are not for the band.
    pub(crate) fn new(
        mesh: &'a PlacedMesh,
        width: f32,
        memory: u64,
        taken: u64,
        progress: &'a dyn Progress,
    ) -> Result<Self, BackendError> {
        let needed = Culling::bytes(mesh) + taken;
        let Some(room) = memory.checked_sub(needed) else {
            return Err(BackendError::Memory { needed, allowed: memory });
        };
        let culling = Culling::new(mesh, width, progress);
        progress.start("distances", Bricks::of_grid(mesh.lattice().dims).count());
        Ok(Self { culling, width, memory, room: AtomicU64::new(room) })
    }

    /// The band, computed on the CPU.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, BackendError> {
        let measure_row = |row: Bricks, near: &[u32]| {
            let mut part = Part::default();
            let mut measure = |brick, near: &[u32]| self.measure(brick, near, &mut part);
            self.culling.bricks(row, near, &mut measure)?;
            part.0.shrink_to_fit();
            part.1.shrink_to_fit();
            self.culling.finish(&row);
            Ok((!part.0.is_empty()).then_some(part))
        };
        let bricks = Bricks::of_grid(self.culling.mesh.lattice().dims);
        self.culling.rows(bricks, &self.culling.all(), &measure_row)
    }

    /// Computes one brick.
    fn measure(&self, brick: Bricks, near: &[u32], part: &mut Part) -> Result<(), BackendError> {
        let Culling { mesh, clusters, .. } = &self.culling;
        let bound = self.culling.distance_bound(&brick, near);
        let is_admitted = |&index: &u32| bound.admits_triangle(&mesh.triangle(index as usize));
        if !near.iter().any(|&cluster| clusters.triangles(cluster).iter().any(is_admitted)) {
            return Ok(());
        }
        let arch = Arch::new();
        let key = BrickKey::new(brick.from);
        let fraction_bits = mesh.lattice().fraction_bits;
        let brick = Brick { origin: bound.centers.lo, fraction_bits, width: self.width };
        let near = Near { mesh, clusters, near, bound: &bound };
        let distances = BrickDistances::of(arch, &near, &brick);
        let mask = distances.finish(arch, &near, &brick, &mut part.1);
        let mask = self.clipped(key, mask, &mut part.1);
        self.add(key, mask, part)
    }

    /// Adds a brick, whose distances are the last of the part.
    pub(crate) fn add(
        &self,
        key: BrickKey,
        mask: Mask,
        part: &mut Part,
    ) -> Result<(), BackendError> {
        if mask == [0; 8] {
            return Ok(());
        }
        part.0.push((key, mask));
        // Counted twice: the parts and the field that they are copied to exist at the same time.
        let needed = 2 * bytes(1, count(&mask) as usize);
        let claim = |room: u64| room.checked_sub(needed);
        match self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.too_little_memory()),
        }
    }

    /// Extrapolates the memory of the finished rows to all rows.
    fn too_little_memory(&self) -> BackendError {
        let allowed = self.memory as f64;
        let needed =
            (allowed / self.culling.finished_fraction().max(0.01)).max(allowed * 1.25) as u64;
        BackendError::Memory { needed, allowed: self.memory }
    }

    /// Without the voxels past the grid's end, nor their values, which are the last ones.
    fn clipped(&self, key: BrickKey, mask: Mask, values: &mut Vec<f32>) -> Mask {
        let dims = self.culling.mesh.lattice().dims;
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
    use crate::base::progress::NoProgress;
    use crate::cpu::Cpu;
    use crate::lattice::{PlaceOptions, Sizing, place};
    use crate::mesh::Mesh;
    use crate::solid::distance::clusters::Clusters;

    #[test]
    fn distances_are_in_the_order_of_their_bricks_whatever_the_parts() {
        let mut rng = Rng::with_seed(54);
        for bricks in [0, 1, 5, 3 * COPIED_BRICKS] {
            let mut keys: Vec<_> = (0..bricks as u32).map(|x| BrickKey::new([x, 0, 0])).collect();
            rng.shuffle(&mut keys);
            let mut parts = Vec::new();
            while !keys.is_empty() {
                let mut part = Part::default();
                for key in keys.drain(..rng.usize(1..=keys.len())) {
                    let voxels = rng.u32(1..4);
                    let mut mask = [0; 8];
                    mask[rng.usize(0..8)] = (1 << voxels) - 1;
                    part.0.push((key, mask));
                    part.1.extend((0..voxels).map(|v| (4 * key.position()[0] + v) as f32));
                }
                parts.push(part);
            }
            let found = in_order(&parts);
            assert_eq!(
                found.len(),
                parts.iter().map(|(_, distances)| distances.len()).sum::<usize>()
            );
            assert!(found.is_sorted_by(|a, b| a < b), "{found:?}");
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
            distances(&Cpu::default(), &mesh, inside, 1.5, memory, &NoProgress)
        };
        let Err(BackendError::Memory { needed, .. }) = make(0) else { panic!("there is no room") };
        let mut ranges = vec![Bricks::of_grid(dims)];
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
        for (rows, needed) in [(0, 100_000), (2, 4000), (4, 2000), (8, 1250)] {
            let work = Work::new(&mesh, 1.0, 1000, 0, &NoProgress).expect("it fits");
            work.culling.finish(&Bricks { from: [0; 3], to: [8, 8, rows] });
            let error = work.too_little_memory();
            let expected = BackendError::Memory { needed, allowed: 1000 };
            assert_eq!(error.to_string(), expected.to_string(), "{rows}");
        }
    }
}
