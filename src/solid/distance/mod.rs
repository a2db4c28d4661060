//! Signed distances in a narrow band around a surface: a level set in film and simulation, a
//! truncated signed distance field in machine learning.
//!
//! A voxel's distance is that from its centre to the nearest point of the mesh on its lattice,
//! rounded once to `f32`. It is inside if its centre is, by the same fills as a solid
//! ([`solid`](crate::solid)).
//!
//! The grid is bisected down to bricks. Each half keeps the clusters of triangles that may contain
//! the nearest triangle of one of its voxels: those within the width, and no farther than the
//! farthest point of any other cluster. On the CPU, bricks are computed in `f64` with an error
//! bound; where it admits two roundings, integers decide. For a GPU, the CPU bisects the grid down
//! to blocks of eight bricks; bounds in `f32` exclude most of the remaining triangles, and the
//! distances to the others are computed in integers. The result is the same for any number of
//! threads and any order of triangles, because each distance is a function of the triangles alone.

pub(crate) mod bricks;
pub(crate) mod clusters;
mod distance_bound;
pub(in crate::solid) mod exact;
mod field;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub mod gpu;
mod nearest;

pub use field::{DistanceField, FieldError};

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use pulp::Arch;
use rayon::prelude::*;

use crate::backend::{Backend, BackendError, check_cancelled, check_memory};
use crate::base::divided;
use crate::base::progress::Progress;
use crate::grid::{BRICK, BrickKey, GridBuilder, Mask, VoxelGrid, mask_below};
use crate::lattice::{Distinct, Lattice, PlacedMesh};
use crate::solid::distance::bricks::Bricks;
use crate::solid::distance::clusters::Clusters;
use crate::solid::distance::distance_bound::DistanceBound;
use crate::solid::distance::nearest::Brick;

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
    let is_valid = width > 0.0 && width <= MAX_WIDTH;
    if is_valid { Ok(()) } else { Err(BackendError::Width { width, most: MAX_WIDTH }) }
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
    mut bricks: Vec<BandBrick>,
) -> Result<DistanceField, BackendError> {
    let dims = mesh.lattice().dims;
    assert_eq!(dims, inside.dims(), "the grid of voxels inside");
    bricks.par_sort_unstable_by_key(|&(key, ..)| key);
    let distances = joined(&bricks);
    let masks = bricks.into_iter().map(|(key, mask, _)| (key, mask)).collect();
    let band = VoxelGrid::from_bricks(dims, masks)?.with_world(inside.world);
    Ok(DistanceField::new(width, [band, inside], distances))
}

/// The distances of these bricks, one after another.
fn joined(bricks: &[BandBrick]) -> Vec<f32> {
    let total = |bricks: &[BandBrick]| bricks.iter().map(|(.., own)| own.len()).sum();
    // Zeroed memory is touched first by the threads that fill it, which share the page faults.
    let mut all = vec![0.0; total(bricks)];
    let parts = divided(&mut all, bricks.chunks(COPIED_BRICKS).map(total));
    bricks.par_chunks(COPIED_BRICKS).zip(parts).for_each(|(bricks, mut to)| {
        for (.., own) in bricks {
            to.split_off_mut(..own.len()).expect("as long as its parts").copy_from_slice(own);
        }
    });
    all
}

/// The bricks of the band of [`distances`], in any order.
pub(crate) fn band(
    backend: Backend<'_>,
    mesh: &PlacedMesh,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<BandBrick>, BackendError> {
    let mesh = &*checked(mesh, width)?;
    match backend {
        #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
        Backend::Gpu(gpu) => self::gpu::bricks(gpu.device(), mesh, width, memory, progress),
        _ => Work::new(mesh, width, memory, 0, progress)?.bricks(),
    }
}

/// The mesh without repeated triangles.
///
/// # Errors
/// A width out of range; a mesh in a window.
pub(crate) fn checked(mesh: &PlacedMesh, width: f32) -> Result<Cow<'_, PlacedMesh>, BackendError> {
    check_width(width)?;
    match mesh.window() {
        Some(_) => Err(NOT_IN_TILES),
        None => Ok(Distinct::of(mesh, false).into_mesh()),
    }
}

/// A brick of the band: its voxels, and their distances in the order of the mask.
pub(crate) type BandBrick = (BrickKey, Mask, Vec<f32>);

pub(crate) struct Work<'a> {
    pub(crate) mesh: &'a PlacedMesh,
    pub(crate) clusters: Clusters,
    /// The width of the band, in voxels.
    pub(crate) width: f32,
    memory: u64,
    /// Bytes of `memory` that are left.
    room: AtomicU64,
    /// Finished bricks.
    finished: AtomicU64,
    progress: &'a dyn Progress,
}

impl<'a> Work<'a> {
    /// With `memory` less the `taken` bytes of other data.
    pub(crate) fn new(
        mesh: &'a PlacedMesh,
        width: f32,
        memory: u64,
        taken: u64,
        progress: &'a dyn Progress,
    ) -> Result<Self, BackendError> {
        let needed = Self::culling_bytes(mesh) + taken;
        check_memory(needed, memory)?;
        let clusters = Clusters::new(mesh);
        progress.start("distances", Bricks::of_grid(mesh.lattice().dims).count());
        let [room, finished] = [memory - needed, 0].map(AtomicU64::new);
        Ok(Self { mesh, clusters, width, memory, room, finished, progress })
    }

    /// The band, computed on the CPU.
    pub(crate) fn bricks(&self) -> Result<Vec<BandBrick>, BackendError> {
        let measure = |brick: Bricks, near: Vec<u32>| {
            let measured = self.measure(brick, &near)?;
            self.finish(&brick);
            Ok(measured)
        };
        let all = Bricks::of_grid(self.mesh.lattice().dims);
        self.divide(all, self.near(&all, &self.all()), 1, &measure)
    }

    /// Computes a brick near the clusters `near`.
    fn measure(&self, brick: Bricks, near: &[u32]) -> Result<Option<BandBrick>, BackendError> {
        let Self { mesh, clusters, .. } = self;
        let bound = self.distance_bound(&brick, near);
        let is_admitted = |&index: &u32| bound.admits_triangle(&mesh.triangle(index as usize));
        if !near.iter().any(|&cluster| clusters.triangles(cluster).iter().any(is_admitted)) {
            return Ok(None);
        }
        let key = BrickKey::new(brick.from);
        let (Lattice { dims, fraction_bits, .. }, first) = (*mesh.lattice(), key.first_voxel());
        let in_grid = mask_below([0, 1, 2].map(|a| dims[a] - first[a]));
        let (bound, origin, width) = (&bound, bound.centers.lo, self.width);
        let brick = Brick { mesh, clusters, near, bound, origin, fraction_bits, width, in_grid };
        let (mask, mut distances) = Arch::new().dispatch(brick);
        distances.shrink_to_fit();
        self.claim(key, mask, distances)
    }

    /// Claims the memory of a brick, and returns it; `None` if it has no voxels.
    pub(crate) fn claim(
        &self,
        key: BrickKey,
        mask: Mask,
        distances: Vec<f32>,
    ) -> Result<Option<BandBrick>, BackendError> {
        if distances.is_empty() {
            return Ok(None);
        }
        // In a list, which may be twice as long when it grows, and in the field: its distances
        // exist in both at the same time.
        let in_field = GridBuilder::BYTES_KEPT + 2 * size_of::<u64>() as u64;
        let in_list = 2 * size_of::<BandBrick>() as u64;
        let needed = in_list + in_field + 2 * size_of_val(&distances[..]) as u64;
        let claim = |room: u64| room.checked_sub(needed);
        let claimed = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim);
        claimed.map(|_| Some((key, mask, distances))).map_err(|_| self.too_little_memory())
    }

    /// Extrapolates the memory of the finished bricks to all bricks.
    fn too_little_memory(&self) -> BackendError {
        let allowed = self.memory as f64;
        let bricks = Bricks::of_grid(self.mesh.lattice().dims).count();
        let finished = self.finished.load(Ordering::Relaxed) as f64 / bricks as f64;
        let needed = (allowed / finished.max(0.01)).max(allowed * 1.25) as u64;
        BackendError::Memory { needed, allowed: self.memory }
    }

    /// Maximum memory of the culling, in bytes: the clusters, at most one per triangle, and the
    /// lists of clusters of one thread, one list per depth of the bisection.
    fn culling_bytes(mesh: &PlacedMesh) -> u64 {
        let bricks = Bricks::of_grid(mesh.lattice().dims);
        let depth: u32 = bricks.to.map(|d| 1 + d.next_power_of_two().ilog2()).into_iter().sum();
        let lists = u64::from(depth) * size_of::<u32>() as u64;
        (Clusters::BYTES + lists) * mesh.len() as u64
    }

    /// The indices of all clusters.
    pub(crate) fn all(&self) -> Vec<u32> {
        (0..self.clusters.len()).collect()
    }

    /// Counts `bricks` as finished.
    pub(crate) fn finish(&self, bricks: &Bricks) {
        self.finished.fetch_add(bricks.count(), Ordering::Relaxed);
        self.progress.advance(bricks.count());
    }

    /// Bisects `bricks`, which have the clusters `near`, down to blocks of `side` bricks. Calls
    /// `visit` in parallel with each block that has clusters near it, and returns the results.
    /// Blocks without clusters are [finished](Self::finish) here, the others by the caller.
    pub(crate) fn divide<T: Send>(
        &self,
        bricks: Bricks,
        near: Vec<u32>,
        side: u32,
        visit: &(impl Fn(Bricks, Vec<u32>) -> Result<Option<T>, BackendError> + Sync),
    ) -> Result<Vec<T>, BackendError> {
        check_cancelled(self.progress)?;
        if near.is_empty() {
            self.finish(&bricks);
            return Ok(Vec::new());
        }
        let Some([before, after]) = bricks.halves(side) else {
            return Ok(visit(bricks, near)?.into_iter().collect());
        };
        let of_half = |half| self.divide(half, self.near(&half, &near), side, visit);
        let (before, after) = rayon::join(|| of_half(before), || of_half(after));
        let mut results = before?;
        results.append(&mut after?);
        Ok(results)
    }

    /// The subset of `clusters` with a possible nearest triangle of a voxel of `bricks` within the
    /// width.
    pub(crate) fn near(&self, bricks: &Bricks, clusters: &[u32]) -> Vec<u32> {
        let bound = self.distance_bound(bricks, clusters);
        let is_brick = bricks.count() == 1;
        let brick = (BRICK << self.mesh.lattice().fraction_bits).cast_signed();
        let is_long = |cluster| self.clusters.bounds(cluster).length() > brick;
        let is_near = |&&cluster: &&u32| match *self.clusters.triangles(cluster) {
            [index] if is_brick || is_long(cluster) => {
                bound.admits_triangle(&self.mesh.triangle(index as usize))
            }
            _ => bound.admits_box(self.clusters.bounds(cluster)),
        };
        clusters.iter().filter(is_near).copied().collect()
    }

    /// The distance bound of `bricks` by `clusters`.
    fn distance_bound(&self, bricks: &Bricks, clusters: &[u32]) -> DistanceBound {
        let lattice = self.mesh.lattice();
        let boxes = clusters.iter().map(|&cluster| self.clusters.bounds(cluster));
        DistanceBound::new(
            bricks.centers(lattice.fraction_bits),
            self.width,
            lattice.units_per_voxel(),
            boxes,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::progress::NoProgress;
    use crate::lattice::{PlaceOptions, Sizing, place};
    use crate::mesh::Mesh;

    #[test]
    fn the_memory_of_all_bricks_is_extrapolated_from_that_of_the_finished_ones() {
        let mesh = Mesh::new(vec![[0.0; 3], [1.0; 3], [0.0, 1.0, 1.0]], vec![[0, 1, 2]]);
        let options = PlaceOptions::new(Sizing::VoxelSize(1.0 / 64.0));
        let mesh = place(&mesh.expect("a mesh"), &options).expect("a placed mesh");
        // In bricks, beside a margin.
        assert!(mesh.lattice().dims.into_iter().all(|d| d.div_ceil(BRICK) == 8));
        for (rows, needed) in [(0, 100_000), (2, 4000), (4, 2000), (8, 1250)] {
            let work = Work::new(&mesh, 1.0, 1000, 0, &NoProgress).expect("it fits");
            work.finish(&Bricks { from: [0; 3], to: [8, 8, rows] });
            let error = work.too_little_memory();
            let expected = BackendError::Memory { needed, allowed: 1000 };
            assert_eq!(error.to_string(), expected.to_string(), "{rows}");
        }
    }
}
