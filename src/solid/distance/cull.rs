//! Conservative culling: for each brick, or block of bricks, the clusters that may contain the
//! triangle nearest to one of its voxels. The grid is bisected down to bricks, and each half keeps
//! the clusters with a possible nearest triangle of one of its voxels.

use std::sync::atomic::Ordering;

use crate::backend::{BackendError, check_cancelled};
use crate::grid::BRICK;
use crate::lattice::PlacedMesh;
use crate::solid::distance::Work;
use crate::solid::distance::bricks::Bricks;
use crate::solid::distance::clusters::Clusters;
use crate::solid::distance::distance_bound::DistanceBound;

impl Work<'_> {
    /// Bytes of memory: the clusters, at most one per triangle, and one thread's lists of them, one
    /// per depth.
    pub(super) fn culling_bytes(mesh: &PlacedMesh) -> u64 {
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
    pub(crate) fn distance_bound(&self, bricks: &Bricks, clusters: &[u32]) -> DistanceBound {
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
