//! Determines the orientation of the parts of a mesh, and flips those whose front sides are not
//! outside.
//!
//! A *patch* is a component connected through edges with exactly two triangles. Within a patch the
//! orientation of one triangle determines all others, unless it is one-sided like a Moebius strip.
//! Which of the two orientations is right is decided by visibility from outside: along columns of a
//! coarse grid, from both ends of all three axes, the first triangle shows its front or its back
//! (compare K. Takayama and others, *A Simple Method for Correcting Facet Orientations in Polygon
//! Meshes Based on Ray Casting*, 2014, who cast rays from each patch outwards).

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::place::{PlacedMesh, Triangle};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::{Axis, Crossing};
use crate::topology::Topology;
use crate::topology::edges::Matching;

/// Maximum number of columns along the longest axis of the coarse grid.
const COLUMNS: u32 = 128;
/// The unit of heights is `2^-HEIGHT_BITS`.
const HEIGHT_BITS: u32 = 12;

/// Statistics of flipped patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Turned {
    /// Patches of the mesh.
    pub patches: u64,
    /// Patches with a flipped triangle.
    pub turned: u64,
    /// Flipped triangles.
    pub triangles: u64,
}

/// The statistics of flipped patches, and the triangles to flip, if any.
pub(crate) type Flips = (Turned, Option<Vec<bool>>);

/// The triangles to flip in a mesh of this topology.
///
/// A patch is flipped if at least two thirds of the columns that see it see its back. A patch that
/// is not seen, or is seen from both sides, keeps the orientation of most of its area; but if two
/// thirds of all sightings of the mesh are backs, such patches are flipped too.
pub(super) fn flips(matching: &Matching, topology: &Topology) -> Flips {
    let mesh = matching.mesh;
    let patches = if topology.non_manifold_edges == 0 && topology.inconsistent_edges == 0 {
        Patches::consistent(matching.shells())
    } else {
        Patches::new(mesh.len(), matching.pairs())
    };
    let votes = votes(mesh, &patches);
    let most = |front: i64, back: i64| 2 * front <= back && back > 0;
    let seen = votes.as_given;
    let all_turned = most(seen[0], seen[1]);
    let is_turned = |triangle: usize| {
        let (patch, is_flipped) = (patches.patch(triangle), patches.is_flipped(triangle));
        let [front, back] = votes.of_patches[patch];
        // An undecided patch keeps the orientation of most of its area.
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

/// An upper bound of the memory of [`flips`], in bytes, besides that of the topology.
pub(super) fn bytes(triangles: usize) -> u64 {
    let pairs = 3 * size_of::<Pair>() * triangles;
    let votes = 2 * size_of::<[i64; 2]>() * triangles;
    (pairs + 2 * votes + 24 * triangles) as u64 + (6 * 8 * COLUMNS * COLUMNS) as u64
}

/// Two triangles at an edge, and whether they traverse it in the same direction.
pub(super) type Pair = (u32, u32, bool);

/// A union-find with parity: elements store their orientation relative to their parent.
struct Patches {
    /// The parent; the lowest bit tells whether the two have opposite orientation.
    parents: Vec<u64>,
    /// For each root, whether its patch is one-sided.
    one_sided: Vec<bool>,
}

impl Patches {
    fn new(triangles: usize, pairs: Vec<Pair>) -> Self {
        let parents = (0..triangles as u64).map(|triangle| triangle << 1).collect();
        let mut patches = Self { parents, one_sided: vec![false; triangles] };
        for (one, other, differs) in pairs {
            patches.join(one, other, differs);
        }
        for triangle in 0..triangles as u32 {
            let (root, differs) = patches.root(triangle);
            patches.parents[triangle as usize] = u64::from(root) << 1 | u64::from(differs);
        }
        patches
    }

    /// Patches of one orientation: those are shells, by their roots.
    fn consistent(shells: impl ExactSizeIterator<Item = u32>) -> Self {
        let one_sided = vec![false; shells.len()];
        Self { parents: shells.map(|root| u64::from(root) << 1).collect(), one_sided }
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

    /// Whether the triangle's orientation is opposite to its root's; `false` for a one-sided patch.
    fn is_flipped(&self, triangle: usize) -> bool {
        self.parents[triangle] & 1 == 1 && !self.one_sided[self.patch(triangle)]
    }
}

struct Votes {
    /// Columns that see the front and the back of each patch, if all triangles are oriented like
    /// its root.
    of_patches: Vec<[i64; 2]>,
    /// Columns that see a front or a back of the mesh as given.
    as_given: [i64; 2],
    /// Twice the area of the triangles that are oriented like the patch's root, and of the others.
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
    let columns = Columns::new(mesh);
    // The minimum and maximum height in each column.
    let ends: Vec<[AtomicI64; 2]> =
        (0..columns.count()).map(|_| [i64::MAX, i64::MIN].map(AtomicI64::new)).collect();
    let crosses = |&index: &u32| {
        let mut crosses = false;
        columns.cross(&mesh.triangle(index as usize), |column, height, _| {
            crosses = true;
            ends[column][0].fetch_min(height, Relaxed);
            ends[column][1].fetch_max(height, Relaxed);
        });
        crosses
    };
    let crossing: Vec<u32> = (0..mesh.len() as u32).into_par_iter().filter(crosses).collect();
    crossing.into_par_iter().for_each(|index| {
        let index = index as usize;
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

/// The columns of a coarse grid along all axes.
struct Columns {
    unit_bits: u32,
    grid: BoxRange,
}

impl Columns {
    fn new(mesh: &PlacedMesh) -> Self {
        let lattice = mesh.lattice();
        let longest = lattice.dims.into_iter().max().unwrap_or(1);
        let shift = longest.div_ceil(COLUMNS).next_power_of_two().ilog2();
        let hi = lattice.dims.map(|d| d.div_ceil(1 << shift) as i32 - 1);
        Self { unit_bits: lattice.unit_bits + shift, grid: BoxRange { lo: [0; 3], hi } }
    }

    /// The columns along an axis by the two others.
    fn dims(&self, axis: Axis) -> [i32; 2] {
        axis.project(self.grid.hi).0.map(|last| last + 1)
    }

    fn count(&self) -> usize {
        Axis::ALL
            .into_iter()
            .map(|axis| self.dims(axis).map(|d| d as usize))
            .map(|[a, b]| a * b)
            .sum()
    }

    /// Calls `each` with the columns that cross `triangle`, the height of the crossing, and its
    /// direction.
    fn cross(&self, triangle: &Triangle, mut each: impl FnMut(usize, i64, i32)) {
        let centers = BoxRange::of_centers(triangle, self.unit_bits).intersect(&self.grid);
        let is_empty = |axis: usize| centers.lo[axis] > centers.hi[axis];
        if usize::from(is_empty(0)) + usize::from(is_empty(1)) + usize::from(is_empty(2)) > 1 {
            return;
        }
        let center = |index: i32| (index << self.unit_bits) + (1 << (self.unit_bits - 1));
        let mut first_column = 0;
        for axis in Axis::ALL {
            let dims = self.dims(axis);
            let [lo, hi] = [centers.lo, centers.hi].map(|corner| axis.project(corner).0);
            if lo[0] <= hi[0] && lo[1] <= hi[1] {
                let crossing = Crossing::new(triangle, axis);
                for second in lo[1]..=hi[1] {
                    for first in lo[0]..=hi[0] {
                        if let Some(height) = crossing.at([center(first), center(second)]) {
                            let height = height.numerator() as f64 / height.denominator() as f64;
                            let height = (height * f64::from(1 << HEIGHT_BITS)) as i64;
                            let column = first_column + second * dims[0] + first;
                            each(column as usize, height, crossing.winding());
                        }
                    }
                }
            }
            first_column += dims[0] * dims[1];
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::mesh::Mesh;
    use crate::place::{PlaceOptions, Sizing, place};

    #[test]
    fn without_faulty_edges_shells_and_matched_pairs_give_the_same_patches() {
        let mut rng = Rng::with_seed(5);
        for _ in 0..200 {
            // Quads of random cells of a plane: they share edges, or only vertices.
            let vertices = (0..81).map(|i| [(i % 9) as f64, f64::from(i / 9), 0.0]).collect();
            let cells = (0..64).filter(|_| rng.bool()).map(|cell| 9 * (cell / 8) + cell % 8);
            let mut triangles: Vec<[u32; 3]> =
                cells.flat_map(|at| [[at, at + 1, at + 9], [at + 1, at + 10, at + 9]]).collect();
            rng.shuffle(&mut triangles);
            let mesh = Mesh::new(vertices, triangles).unwrap();
            let mesh = place(&mesh, &PlaceOptions::new(Sizing::Resolution(20))).unwrap();
            let matching = Matching::new(&mesh);
            assert_eq!(matching.tally().inconsistent, 0);
            let by_shells = Patches::consistent(matching.shells());
            let by_pairs = Patches::new(mesh.len(), matching.pairs());
            assert_eq!(by_shells.parents, by_pairs.parents);
        }
    }
}
