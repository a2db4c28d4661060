//! Clusters of neighbouring triangles, the unit of culling.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::morton;
use crate::grid::BRICK;
use crate::lattice::{PlacedMesh, Triangle};

/// Maximum number of triangles of a cluster.
pub const TRIANGLES: usize = 8;
/// Triangles longer than this, in voxels, get a cluster each: the bounding box of several would
/// overlap too many bricks.
const LONG: u32 = BRICK / 2;
/// The bit of long triangles in sort keys.
const ALONE: u64 = 1 << 63;

/// An axis-aligned bounding box in lattice units, whose bounds are inclusive. Coordinates of two
/// boxes differ by less than `2^30`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aabb {
    pub(crate) lo: [i32; 3],
    pub(crate) hi: [i32; 3],
}

/// The triangles of a mesh in clusters of up to eight; each long triangle is its own cluster.
pub(crate) struct Clusters {
    /// Indices of triangles, cluster by cluster.
    triangles: Vec<u32>,
    /// The first triangle of each cluster, and at the end the number of triangles (CSR offsets).
    starts: Vec<u32>,
    bounds: Vec<Aabb>,
    /// The edge of a brick, in lattice units.
    brick: i32,
}

impl Clusters {
    /// Peak bytes of memory per triangle during the construction.
    pub(crate) const BYTES: u64 =
        (size_of::<(u64, u32)>() + 2 * size_of::<u32>() + size_of::<Aabb>()) as u64;

    pub(crate) fn new(mesh: &PlacedMesh) -> Self {
        let fraction_bits = mesh.lattice().fraction_bits;
        let long = (LONG << fraction_bits).cast_signed();
        let bounds = |index: u32| Aabb::of(&mesh.triangle(index as usize));
        let entry = |index| (key(&bounds(index), long), index);
        let mut sorted: Vec<_> = (0..mesh.len() as u32).into_par_iter().map(entry).collect();
        sorted.par_sort_unstable();
        let short = sorted.partition_point(|&(key, _)| key & ALONE == 0);
        let triangles: Vec<u32> = sorted.into_iter().map(|(_, index)| index).collect();
        let starts = (0..short).step_by(TRIANGLES).chain(short..=triangles.len());
        let starts: Vec<u32> = starts.map(|start| start as u32).collect();
        let of_cluster = |ends: &[u32]| {
            let [first, rest @ ..] = &triangles[ends[0] as usize..ends[1] as usize] else {
                return Aabb { lo: [0; 3], hi: [0; 3] };
            };
            rest.iter().fold(bounds(*first), |all, &index| all.union(bounds(index)))
        };
        let bounds = starts.par_windows(2).map(of_cluster).collect();
        Self { triangles, starts, bounds, brick: (BRICK << fraction_bits).cast_signed() }
    }

    pub(crate) fn len(&self) -> u32 {
        self.bounds.len() as u32
    }

    pub(crate) fn bounds(&self, cluster: u32) -> &Aabb {
        &self.bounds[cluster as usize]
    }

    /// The indices of all triangles in the mesh, cluster by cluster.
    pub(crate) fn all_triangles(&self) -> &[u32] {
        &self.triangles
    }

    /// The positions of the cluster's triangles in [`all_triangles`](Self::all_triangles).
    pub(crate) fn range(&self, cluster: u32) -> Range<u32> {
        self.starts[cluster as usize]..self.starts[cluster as usize + 1]
    }

    /// The indices of the cluster's triangles in the mesh.
    pub(crate) fn triangles(&self, cluster: u32) -> &[u32] {
        let Range { start, end } = self.range(cluster);
        &self.all_triangles()[start as usize..end as usize]
    }

    /// Whether the bounding box is longer than a brick.
    pub(crate) fn is_long(&self, cluster: u32) -> bool {
        self.bounds(cluster).length() > self.brick
    }
}

impl Aabb {
    #[inline]
    pub(crate) fn of(&[a, b, c]: &Triangle) -> Self {
        Self { lo: lowest(lowest(a, b), c), hi: highest(highest(a, b), c) }
    }

    /// The longest edge.
    fn length(&self) -> i32 {
        let [x, y, z] = minus(self.hi, self.lo);
        x.max(y).max(z)
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self { lo: lowest(self.lo, other.lo), hi: highest(self.hi, other.hi) }
    }

    /// The squared distance between the nearest points of two boxes.
    #[inline]
    pub(crate) fn nearest_squared(&self, other: &Self) -> i64 {
        squared(highest(highest(minus(self.lo, other.hi), minus(other.lo, self.hi)), [0; 3]))
    }

    /// The squared distance between the farthest points of two boxes.
    #[inline]
    pub(crate) fn farthest_squared(&self, other: &Self) -> i64 {
        squared(highest(minus(self.hi, other.lo), minus(other.hi, self.lo)))
    }
}

#[inline]
fn lowest(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].min(b[2])]
}

#[inline]
fn highest(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2])]
}

#[inline]
fn minus(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
fn squared(v: [i32; 3]) -> i64 {
    let [x, y, z] = [i64::from(v[0]), i64::from(v[1]), i64::from(v[2])];
    x * x + y * y + z * z
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

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::lattice::{PlaceOptions, Sizing, place};
    use crate::mesh::Mesh;

    #[test]
    fn boxes_are_as_far_from_each_other_as_their_points() {
        let mut rng = Rng::with_seed(31);
        for _ in 0..10_000 {
            let mut any = || {
                let lo = [(); 3].map(|()| rng.i32(-9..9));
                Aabb { lo, hi: lo.map(|c| c + rng.i32(0..6)) }
            };
            let [a, b] = [any(), any()];
            // Corners are integers, and with them the nearest and the farthest points.
            let gaps = [0, 1, 2].map(|axis| {
                let points = |of: &Aabb| of.lo[axis]..=of.hi[axis];
                let all = points(&a).flat_map(|p| points(&b).map(move |q| i64::from(p - q).pow(2)));
                [all.clone().min(), all.max()].map(|gap| gap.expect("boxes have points"))
            });
            let [nearest, farthest] = [0, 1].map(|end| gaps.iter().map(|gap| gap[end]).sum());
            assert_eq!((a.nearest_squared(&b), a.farthest_squared(&b)), (nearest, farthest));
        }
    }

    #[test]
    fn triangles_are_sorted_by_size_then_along_a_z_order_curve_long_ones_last() {
        let mut rng = Rng::with_seed(32);
        for _ in 0..2000 {
            let most = 1 << rng.i32(0..12);
            let half = [(); 3].map(|()| rng.i32(0..most));
            let center = [(); 3].map(|()| rng.i32(-(1 << 24)..1 << 24));
            let [lo, hi] = [-1, 1].map(|sign| [0, 1, 2].map(|a| center[a] + sign * half[a]));
            let length = 2 * half.into_iter().max().expect("three axes");
            let long = rng.i32(1..1 << 12);
            // Whether it is long, the bits of the size, then one of each axis in turn.
            let size = length.max(1).ilog(4);
            let mut bits = format!("{}{size:06b}", u8::from(length > long));
            // Cells of 128 from -2^25.
            let cells = center.map(|c| format!("{:019b}", (i64::from(c) + (1 << 25)) / 128));
            (0..19).for_each(|bit| cells.iter().for_each(|cell| bits.push_str(&cell[bit..=bit])));
            let expected = u64::from_str_radix(&bits, 2).expect("64 bits");
            assert_eq!(key(&Aabb { lo, hi }, long), expected, "{lo:?}, {hi:?}, {long}");
        }
        let point = Aabb { lo: [3; 3], hi: [3; 3] };
        let side = Aabb { lo: [0; 3], hi: [0, 8, 4] };
        assert!(key(&point, 0) & ALONE == 0 && key(&side, 8) & ALONE == 0);
        assert_eq!(key(&side, 7) & ALONE, ALONE);
    }

    #[test]
    fn clusters_hold_each_triangle_once_within_their_bounds() {
        let mut rng = Rng::with_seed(33);
        let [mut full, mut alone, mut longer] = [0; 3];
        for count in (1..40).chain([500]) {
            let positions: Vec<[f64; 3]> = (0..count)
                .flat_map(|_| {
                    let (at, size) = ([(); 3].map(|()| rng.f64()), 0.5_f64.powi(rng.i32(1..6)));
                    [(); 3].map(|()| at.map(|c| c + size * rng.f64()))
                })
                .collect();
            let triangles = (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
            let mesh = Mesh::new(positions, triangles).expect("a mesh");
            let options = PlaceOptions::new(Sizing::Resolution(60));
            let mesh = place(&mesh, &options).expect("a placed mesh");
            let clusters = Clusters::new(&mesh);
            let all = (0..clusters.len()).map(|cluster| clusters.triangles(cluster));
            let mut listed = all.clone().flatten().copied().collect::<Vec<u32>>();
            listed.sort_unstable();
            assert_eq!(listed, (0..count).collect::<Vec<u32>>());
            let voxel = mesh.lattice().units_per_voxel();
            let sides = |lo: [i32; 3], hi: [i32; 3]| [0, 1, 2].map(|a| hi[a] - lo[a]);
            for (cluster, triangles) in all.enumerate() {
                let corners = |index: &u32| mesh.triangle(*index as usize);
                let ends = |triangles: &[u32]| {
                    let of = |a: usize| triangles.iter().flat_map(corners).map(move |p| p[a]);
                    let lo = [0, 1, 2].map(|a| of(a).min().expect("corners"));
                    (lo, [0, 1, 2].map(|a| of(a).max().expect("corners")))
                };
                let (lo, hi) = ends(triangles);
                let bounds = clusters.bounds(cluster as u32);
                assert_eq!((bounds.lo, bounds.hi), (lo, hi));
                let is_long = sides(lo, hi).into_iter().any(|side| side > 8 * voxel);
                assert_eq!(clusters.is_long(cluster as u32), is_long);
                let has_long = triangles.iter().any(|&index| {
                    let (lo, hi) = ends(&[index]);
                    sides(lo, hi).into_iter().any(|side| side > 4 * voxel)
                });
                assert!(!has_long || triangles.len() == 1, "{triangles:?}");
                assert!((1..=TRIANGLES).contains(&triangles.len()), "{triangles:?}");
                full += u32::from(triangles.len() == TRIANGLES);
                alone += u32::from(has_long);
                longer += u32::from(is_long);
            }
        }
        let counts = [full, alone, longer];
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
    }
}
