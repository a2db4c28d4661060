//! Clusters of neighbouring triangles, the unit of culling.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::morton;
use crate::grid::BRICK;
use crate::lattice::{Aabb, PlacedMesh};

/// Maximum number of triangles of a cluster.
pub const TRIANGLES: usize = 8;
/// Triangles longer than this, in voxels, get a cluster each: the bounding box of several would
/// overlap too many bricks.
const LONG: u32 = BRICK / 2;
/// The bit of long triangles in sort keys.
const ALONE: u64 = 1 << 63;

/// The triangles of a mesh in clusters of up to eight; each long triangle is its own cluster.
pub(crate) struct Clusters {
    /// The indices of all triangles in the mesh, cluster by cluster.
    pub(crate) all_triangles: Vec<u32>,
    /// The first triangle of each cluster, and at the end the number of triangles (CSR offsets).
    starts: Vec<u32>,
    bounds: Vec<Aabb>,
}

impl Clusters {
    /// Peak bytes of memory per triangle during the construction.
    pub(crate) const BYTES: u64 =
        (size_of::<(u64, u32)>() + 2 * size_of::<u32>() + size_of::<Aabb>()) as u64;

    pub(crate) fn new(mesh: &PlacedMesh) -> Self {
        let long = (LONG << mesh.lattice().fraction_bits).cast_signed();
        let bounds_of = |index: &u32| Aabb::of(&mesh.triangle(*index as usize));
        let entry = |index| (key(&bounds_of(&index), long), index);
        let mut sorted: Vec<_> = (0..mesh.len() as u32).into_par_iter().map(entry).collect();
        sorted.par_sort_unstable();
        let short = sorted.partition_point(|&(key, _)| key & ALONE == 0);
        let triangles: Vec<u32> = sorted.into_iter().map(|(_, index)| index).collect();
        let starts = (0..short).step_by(TRIANGLES).chain(short..=triangles.len());
        let starts: Vec<u32> = starts.map(|start| start as u32).collect();
        let of_cluster = |ends: &[u32]| {
            let triangles = &triangles[ends[0] as usize..ends[1] as usize];
            triangles.iter().map(bounds_of).fold(Aabb::EMPTY, Aabb::union)
        };
        let bounds = starts.par_windows(2).map(of_cluster).collect();
        Self { all_triangles: triangles, starts, bounds }
    }

    pub(crate) fn len(&self) -> u32 {
        self.bounds.len() as u32
    }

    pub(crate) fn bounds(&self, cluster: u32) -> &Aabb {
        &self.bounds[cluster as usize]
    }

    /// The positions of the cluster's triangles in [`all_triangles`](Self::all_triangles).
    pub(crate) fn range(&self, cluster: u32) -> Range<u32> {
        self.starts[cluster as usize]..self.starts[cluster as usize + 1]
    }

    /// The indices of the cluster's triangles in the mesh.
    pub(crate) fn triangles(&self, cluster: u32) -> &[u32] {
        let Range { start, end } = self.range(cluster);
        &self.all_triangles[start as usize..end as usize]
    }
}

/// The sort key of a triangle with these bounds ([`morton::key`]); those longer than `long` come
/// last.
fn key(bounds: &Aabb, long: i32) -> u64 {
    let (Aabb { lo, hi }, length) = (bounds, bounds.length());
    // Coordinates are within 2^25 of 0, and Morton codes have 19 bits per axis.
    let cell = [0, 1, 2].map(|i| (i64::from(lo[i]) + i64::from(hi[i]) + (1 << 26)) as u64 >> 8);
    let key = morton::key(length.unsigned_abs().into(), cell);
    if length > long { ALONE | key } else { key }
}
