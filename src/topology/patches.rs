//! Which way the parts of a mesh face, and which of them have to be turned so that their front sides
//! are outside.
//!
//! A *patch* is what hangs together through edges of exactly two triangles. Within a patch one
//! triangle decides for all which way they face, unless it is one-sided, as a Moebius strip is. Which
//! of the two ways is the right one is decided by what can be seen from outside: along columns of a
//! coarse grid, from both ends of all three axes, the first triangle of each column shows its front
//! or its back (compare K. Takayama and others, *A Simple Method for Correcting Facet Orientations in
//! Polygon Meshes Based on Ray Casting*, 2014, who follow rays from each patch outwards).

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::place::{PlacedMesh, Triangle};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::{Axis, Crossing};
use crate::topology::edges::Matching;
use crate::topology::weld::Weld;

/// Columns along the longest axis of the coarse grid, at most.
const COLUMNS: u32 = 128;
/// Heights are compared in units of `2^-HEIGHT_BITS`.
const HEIGHT_BITS: u32 = 12;

/// What was turned, so that front sides are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Turned {
    /// Patches of the mesh.
    pub patches: u64,
    /// Patches with a turned triangle.
    pub turned: u64,
    /// Turned triangles.
    pub triangles: u64,
}

/// The triangles of `mesh` that have to be turned, if any, and what that comes to.
///
/// A patch is turned where at least two thirds of the columns that see it see its back. One that is
/// not seen, or from both sides, is left as most of its area faces; but if two thirds of all that is
/// seen of the mesh are backs, such patches are turned too.
pub(crate) fn turned(mesh: &PlacedMesh) -> (Turned, Option<Vec<bool>>) {
    let weld = Weld::new(mesh.vertices());
    let pairs = Matching::new(mesh, &weld).pairs();
    let patches = Patches::new(mesh.len(), &pairs);
    let votes = votes(mesh, &patches);
    let most = |front: i64, back: i64| 2 * front <= back && back > 0;
    let seen = votes.as_given;
    let all_turned = most(seen[0], seen[1]);
    let is_turned = |triangle: usize| {
        let (patch, is_flipped) = (patches.patch(triangle), patches.is_flipped(triangle));
        let [front, back] = votes.of_patches[patch];
        // Where a patch has no say, it faces as most of its area does.
        let faces_back = if most(front, back) {
            true
        } else if most(back, front) {
            false
        } else {
            let [kept, flipped] = votes.areas[patch];
            (flipped > kept) != all_turned
        };
        is_flipped != faces_back
    };
    let turned: Vec<bool> = (0..mesh.len()).into_par_iter().map(is_turned).collect();
    let mut by_patch = vec![[false; 2]; mesh.len()];
    for (triangle, &is_turned) in turned.iter().enumerate() {
        let flags = &mut by_patch[patches.patch(triangle)];
        *flags = [true, flags[1] || is_turned];
    }
    let count = |flag: usize| by_patch.iter().filter(|flags| flags[flag]).count() as u64;
    let triangles = turned.iter().filter(|&&is| is).count() as u64;
    let summary = Turned { patches: count(0), turned: count(1), triangles };
    (summary, (triangles > 0).then_some(turned))
}

/// More than the bytes that [`turned`] takes besides those of the topology.
pub(super) fn bytes(triangles: usize) -> u64 {
    let pairs = 3 * size_of::<Pair>() * triangles;
    let votes = 2 * size_of::<[i64; 2]>() * triangles;
    (pairs + 2 * votes + 16 * triangles) as u64 + (6 * 8 * COLUMNS * COLUMNS) as u64
}

/// Two triangles at an edge, and whether they run along it the same way.
pub(super) type Pair = (u32, u32, bool);

/// A union-find whose elements know whether they face as their root does.
struct Patches {
    /// A triangle of the same patch, and whether the two face different ways, in the lowest bit.
    parents: Vec<u64>,
    /// Of each root, whether its patch is one-sided.
    one_sided: Vec<bool>,
}

impl Patches {
    fn new(triangles: usize, pairs: &[Pair]) -> Self {
        let parents = (0..triangles as u64).map(|triangle| triangle << 1).collect();
        let mut patches = Self { parents, one_sided: vec![false; triangles] };
        for &(one, other, differs) in pairs {
            patches.join(one, other, differs);
        }
        for triangle in 0..triangles as u32 {
            let (root, differs) = patches.root(triangle);
            patches.parents[triangle as usize] = u64::from(root) << 1 | u64::from(differs);
        }
        patches
    }

    fn root(&mut self, triangle: u32) -> (u32, bool) {
        let (mut at, mut differs) = (triangle, 0);
        loop {
            let parent = self.parents[at as usize];
            let next = (parent >> 1) as u32;
            if next == at {
                return (at, differs == 1);
            }
            let grandparent = self.parents[next as usize];
            self.parents[at as usize] = grandparent ^ (parent & 1);
            differs ^= self.parents[at as usize] & 1;
            at = (grandparent >> 1) as u32;
        }
    }

    fn join(&mut self, one: u32, other: u32, differs: bool) {
        let ((a, a_differs), (b, b_differs)) = (self.root(one), self.root(other));
        let differs = differs ^ a_differs ^ b_differs;
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        if low == high {
            self.one_sided[low] |= differs;
        } else {
            self.parents[high] = (low as u64) << 1 | u64::from(differs);
            self.one_sided[low] |= self.one_sided[high];
        }
    }

    fn patch(&self, triangle: usize) -> usize {
        (self.parents[triangle] >> 1) as usize
    }

    /// Whether the triangle faces another way than its patch's root; not where that means nothing.
    fn is_flipped(&self, triangle: usize) -> bool {
        self.parents[triangle] & 1 == 1 && !self.one_sided[self.patch(triangle)]
    }
}

struct Votes {
    /// Columns that see the front and the back of each patch, if all face as its root does.
    of_patches: Vec<[i64; 2]>,
    /// Columns that see a front or a back of the mesh as it is given.
    as_given: [i64; 2],
    /// Twice the area of triangles that face as the patch's root does, and of the others.
    areas: Vec<[i128; 2]>,
}

fn votes(mesh: &PlacedMesh, patches: &Patches) -> Votes {
    let mut areas = vec![[0; 2]; mesh.len()];
    for (index, triangle) in mesh.triangles().enumerate() {
        let area = twice_area(&triangle);
        areas[patches.patch(index)][usize::from(patches.is_flipped(index))] += area;
    }
    let counts: Vec<[AtomicI64; 2]> = (0..mesh.len()).map(|_| Default::default()).collect();
    let as_given: [AtomicI64; 2] = Default::default();
    for axis in Axis::ALL {
        let columns = Columns::new(mesh, axis);
        // The lowest height of each column, and the highest.
        let ends: Vec<[AtomicI64; 2]> =
            (0..columns.count()).map(|_| [i64::MAX, i64::MIN].map(AtomicI64::new)).collect();
        let triangles = || (0..mesh.len()).into_par_iter();
        triangles().for_each(|index| {
            columns.cross(&mesh.triangle(index), |column, height, _| {
                ends[column][0].fetch_min(height, Relaxed);
                ends[column][1].fetch_max(height, Relaxed);
            });
        });
        triangles().for_each(|index| {
            columns.cross(&mesh.triangle(index), |column, height, winding| {
                for (end, facing) in [(0, 1), (1, -1)] {
                    if ends[column][end].load(Relaxed) == height {
                        let is_back = winding != facing;
                        as_given[usize::from(is_back)].fetch_add(1, Relaxed);
                        let is_back = is_back != patches.is_flipped(index);
                        counts[patches.patch(index)][usize::from(is_back)].fetch_add(1, Relaxed);
                    }
                }
            });
        });
    }
    let of_patches = counts.into_iter().map(|each| each.map(AtomicI64::into_inner)).collect();
    Votes { of_patches, as_given: as_given.map(AtomicI64::into_inner), areas }
}

/// Rounded down.
fn twice_area(&[a, b, c]: &Triangle) -> i128 {
    let from_a = |p: [i32; 3]| [0, 1, 2].map(|i| i64::from(p[i]) - i64::from(a[i]));
    let (e, f) = (from_a(b), from_a(c));
    let normal = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| (e[i] * f[j] - e[j] * f[i]) as f64);
    (normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]).sqrt() as i128
}

/// The columns of a coarse grid along an axis.
struct Columns {
    axis: Axis,
    unit_bits: u32,
    grid: BoxRange,
    /// Across the axis.
    dims: [i32; 2],
}

impl Columns {
    fn new(mesh: &PlacedMesh, axis: Axis) -> Self {
        let lattice = mesh.lattice();
        let longest = lattice.dims.into_iter().max().unwrap_or(1);
        let shift = longest.div_ceil(COLUMNS).next_power_of_two().ilog2();
        let dims = lattice.dims.map(|d| d.div_ceil(1 << shift) as i32);
        let grid = BoxRange { lo: [0; 3], hi: dims.map(|d| d - 1) };
        Self { axis, unit_bits: lattice.unit_bits + shift, grid, dims: axis.project(dims).0 }
    }

    fn count(&self) -> usize {
        (self.dims[0] * self.dims[1]) as usize
    }

    /// Calls `each` with the columns that cross `triangle`, the height where, and the direction.
    fn cross(&self, triangle: &Triangle, mut each: impl FnMut(usize, i64, i32)) {
        let centers = BoxRange::of_centers(triangle, self.unit_bits).intersect(&self.grid);
        let [lo, hi] = [centers.lo, centers.hi].map(|corner| self.axis.project(corner).0);
        if lo[0] > hi[0] || lo[1] > hi[1] {
            return;
        }
        let crossing = Crossing::new(triangle, self.axis);
        let center = |index: i32| (index << self.unit_bits) + (1 << (self.unit_bits - 1));
        for second in lo[1]..=hi[1] {
            for first in lo[0]..=hi[0] {
                if let Some(height) = crossing.at([center(first), center(second)]) {
                    let height = height.numerator() as f64 / height.denominator() as f64;
                    let height = (height * f64::from(1 << HEIGHT_BITS)) as i64;
                    each((second * self.dims[0] + first) as usize, height, crossing.winding());
                }
            }
        }
    }
}
