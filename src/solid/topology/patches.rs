//! Determines the orientation of the parts of a mesh, and flips those whose front sides are not
//! outside.
//!
//! A *patch* is a component connected through edges with exactly two triangles. Within a patch the
//! orientation of one triangle determines all others, unless it is one-sided like a Moebius strip.
//! Which of the two orientations is right is decided by visibility from outside: along columns of a
//! coarse grid over the mesh's bounding box, from both ends of all three axes, the first triangle
//! shows its front or its back (compare K. Takayama and others, *A Simple Method for Correcting
//! Facet Orientations in Polygon Meshes Based on Ray Casting*, 2014, who cast rays from each patch
//! outwards).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::base::progress::{Latch, Progress};
use crate::lattice::{PlacedMesh, Triangle};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::{Axis, ProjectedTriangle};
use crate::solid::topology::Topology;
use crate::solid::topology::edges::{Matching, Pair};

/// Maximum numbers of columns along the longest axis of the coarse grid: the first that shows all
/// patches [clearly](Votes::are_clear), or the last.
const COLUMNS: [u32; 2] = [32, 128];
/// Maximum number of columns for a mesh of which [`COLUMNS`] leave many small patches unseen.
const FINE_COLUMNS: u32 = 512;
/// Unseen patches are many if there are more of them than this,
const MAX_UNSEEN: usize = 64;
/// and if more than one patch in so many is unseen.
const MAX_UNSEEN_PER: usize = 64;
/// With fewer sightings of a patch the mesh is looked at along more columns.
const CLEAR: i64 = 64;
/// Maximum number of crossings of a refinement, estimated from the first columns: some seconds.
/// Only meshes with a depth complexity of hundreds exceed it.
const MAX_CROSSINGS: i64 = 1 << 28;
/// Triangles per task.
const TASK: usize = 1 << 10;
/// A patch is judged if at least one in so many of its crossings is a sighting. Through holes and
/// gaps of a shell, less is seen of what is inside, such as the back of a cavity's wall.
const CROSSINGS_PER_SIGHTING: i64 = 4;
/// Heights are in units of this fraction of the lattice unit: far more than the rounding error of a
/// height, so that heights of coincident triangles rarely differ.
const HEIGHTS_PER_UNIT: f64 = 4096.0;

/// Statistics of flipped triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FlipStatistics {
    /// Patches of the mesh.
    pub patches: u64,
    /// Patches with a flipped triangle.
    pub flipped_patches: u64,
    /// Flipped triangles.
    pub flipped_triangles: u64,
}

/// The triangles to flip.
pub(crate) struct Flips {
    pub(crate) statistics: FlipStatistics,
    /// Whether each triangle is flipped; `None` if none is.
    pub(crate) is_flipped: Option<Vec<bool>>,
}

/// The triangles to flip in a mesh of this topology.
///
/// A patch is flipped if at least two thirds of the columns that see it see its back. A patch of
/// which little is seen, or both sides, keeps the orientation of most of its area; if both
/// orientations have the same area, that of its first triangle in [`canonical`] order. But if two
/// thirds of all sightings of the mesh are backs, such patches are flipped too.
///
/// If `progress` is cancelled, the result has no meaning.
pub(super) fn flips(matching: &Matching, topology: &Topology, progress: &dyn Progress) -> Flips {
    let mesh = matching.mesh;
    let patches = if topology.non_manifold_edges == 0 && topology.inconsistent_edges == 0 {
        Patches::consistent(matching.shells())
    } else {
        Patches::new(mesh.len(), matching.pairs())
    };
    let bounds = bounds(mesh);
    let votes_along =
        |columns: u32| Votes::of(mesh, &patches, &Columns::new(&bounds, columns), progress);
    let mut votes = votes_along(COLUMNS[0]);
    let coarse_crossings = votes.crossings();
    let is_within_limit =
        |columns: u32| coarse_crossings * i64::from(columns / COLUMNS[0]).pow(2) <= MAX_CROSSINGS;
    if !votes.are_clear() && is_within_limit(COLUMNS[1]) {
        votes = votes_along(COLUMNS[1]);
    }
    let unseen = votes.unseen();
    let is_much_unseen = unseen > MAX_UNSEEN && unseen > patches.len() / MAX_UNSEEN_PER;
    if is_much_unseen && is_within_limit(FINE_COLUMNS) {
        votes = votes_along(FINE_COLUMNS);
    }
    let all_face_back = most_face_back(votes.as_given) == Some(true);
    let seen = |patch: usize| votes.of_patches[patch].faces_back();
    // Twice the area of a patch's triangles that are oriented like its root, and of the others: if
    // a patch is undecided.
    let mut areas = vec![[0; 2]; patches.len()];
    if (0..patches.len()).any(|patch| seen(patch).is_none()) {
        for triangle in 0..mesh.len() {
            let area =
                &mut areas[patches.patch(triangle)][usize::from(patches.is_flipped(triangle))];
            *area += twice_area(&mesh.triangle(triangle));
        }
    }
    let is_tied = |patch: usize| areas[patch][0] == areas[patch][1] && areas[patch][0] > 0;
    let tied = (0..mesh.len()).filter(|&triangle| is_tied(patches.patch(triangle)));
    let mut least: BTreeMap<usize, (Canonical, bool)> = BTreeMap::new();
    for triangle in tied {
        let its = (canonical(&mesh.triangle(triangle)), patches.is_flipped(triangle));
        let least = least.entry(patches.patch(triangle)).or_insert(its);
        *least = its.min(*least);
    }
    let is_mostly_flipped = |patch: usize| match least.get(&patch) {
        Some(&(_, is_flipped)) => is_flipped,
        None => areas[patch][1] > areas[patch][0],
    };
    let faces_back: Vec<bool> = (0..patches.len())
        .map(|patch| seen(patch).unwrap_or_else(|| is_mostly_flipped(patch) != all_face_back))
        .collect();
    let is_flipped: Vec<bool> = (0..mesh.len())
        .into_par_iter()
        .map(|triangle| patches.is_flipped(triangle) != faces_back[patches.patch(triangle)])
        .collect();
    let mut has_flipped = vec![false; patches.len()];
    let mut flipped_triangles = 0;
    for triangle in (0..mesh.len()).filter(|&triangle| is_flipped[triangle]) {
        has_flipped[patches.patch(triangle)] = true;
        flipped_triangles += 1;
    }
    let statistics = FlipStatistics {
        patches: patches.len() as u64,
        flipped_patches: has_flipped.iter().filter(|&&has| has).count() as u64,
        flipped_triangles,
    };
    Flips { statistics, is_flipped: (flipped_triangles > 0).then_some(is_flipped) }
}

/// An upper bound of the memory of [`flips`], in bytes, besides that of the topology.
pub(super) fn bytes(triangles: usize) -> u64 {
    let pairs = 3 * size_of::<Pair>() * triangles;
    let votes = (2 * size_of::<Sightings>() + size_of::<[i128; 2]>()) * triangles;
    (pairs + votes + 28 * triangles) as u64 + u64::from(6 * 8 * FINE_COLUMNS * FINE_COLUMNS)
}

/// A union-find with parity: elements store their orientation relative to their parent.
struct Patches {
    /// The parent; the lowest bit tells whether the two have opposite orientation.
    parents: Vec<u64>,
    /// For each root, whether its patch is one-sided.
    one_sided: Vec<bool>,
    /// For each root, the index of its patch.
    indices: Vec<u32>,
    len: usize,
}

impl Patches {
    fn new(triangles: usize, pairs: Vec<Pair>) -> Self {
        let parents = (0..triangles as u64).map(|triangle| triangle << 1).collect();
        let mut patches = Self::numbered(parents);
        for (one, other, differs) in pairs {
            patches.join(one, other, differs);
        }
        for triangle in 0..triangles as u32 {
            let (root, differs) = patches.root(triangle);
            patches.parents[triangle as usize] = u64::from(root) << 1 | u64::from(differs);
        }
        Self { one_sided: patches.one_sided, ..Self::numbered(patches.parents) }
    }

    /// Patches of one orientation: those are shells, by their roots.
    fn consistent(shells: impl ExactSizeIterator<Item = u32>) -> Self {
        Self::numbered(shells.map(|root| u64::from(root) << 1).collect())
    }

    /// Two-sided patches, numbered in the order of their roots.
    fn numbered(parents: Vec<u64>) -> Self {
        let (mut indices, mut len) = (vec![0; parents.len()], 0);
        for (triangle, &parent) in parents.iter().enumerate() {
            if parent >> 1 == triangle as u64 {
                indices[triangle] = len as u32;
                len += 1;
            }
        }
        Self { one_sided: vec![false; parents.len()], parents, indices, len }
    }

    /// The number of patches.
    fn len(&self) -> usize {
        self.len
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

    /// The index of a triangle's patch.
    fn patch(&self, triangle: usize) -> usize {
        self.indices[(self.parents[triangle] >> 1) as usize] as usize
    }

    /// Whether the triangle's orientation is opposite to its root's; `false` for a one-sided patch.
    fn is_flipped(&self, triangle: usize) -> bool {
        let parent = self.parents[triangle];
        parent & 1 == 1 && !self.one_sided[(parent >> 1) as usize]
    }
}

/// What is seen along columns.
struct Votes {
    /// Of each patch, if all triangles are oriented like its root.
    of_patches: Vec<Sightings>,
    /// The sightings of fronts and of backs of the mesh as given.
    as_given: [i64; 2],
}

/// The crossings of columns with a surface, and how many of them are the first or last of a column.
#[derive(Default)]
struct Sightings {
    /// Sightings of the front, and of the back.
    sides: [AtomicI64; 2],
    crossings: AtomicI64,
}

impl Sightings {
    fn add(&self, [front, back]: [i64; 2], crossings: i64) {
        self.sides[0].fetch_add(front, Relaxed);
        self.sides[1].fetch_add(back, Relaxed);
        self.crossings.fetch_add(crossings, Relaxed);
    }

    fn sides(&self) -> [i64; 2] {
        [0, 1].map(|side| self.sides[side].load(Relaxed))
    }

    /// Whether it is seen often, and one side at least four times as often as the other.
    fn is_clear(&self) -> bool {
        let [front, back] = self.sides();
        front.max(back) >= (4 * front.min(back)).max(CLEAR)
    }

    /// As [`most_face_back`]; `None` if too little is seen.
    fn faces_back(&self) -> Option<bool> {
        let [front, back] = self.sides();
        let is_seen = CROSSINGS_PER_SIGHTING * (front + back) >= self.crossings.load(Relaxed);
        most_face_back([front, back]).filter(|_| is_seen)
    }
}

/// Whether at least two thirds are backs; `None` if neither side has as many.
fn most_face_back([front, back]: [i64; 2]) -> Option<bool> {
    let is_back = back > 0 && 2 * front <= back;
    let is_front = front > 0 && 2 * back <= front;
    (is_back || is_front).then_some(is_back)
}

fn sum(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

impl Votes {
    /// Incomplete if `progress` is cancelled.
    fn of(
        mesh: &PlacedMesh,
        patches: &Patches,
        columns: &Columns,
        progress: &dyn Progress,
    ) -> Self {
        let progress = Latch::new(progress);
        // A triangle takes up to a millisecond.
        let must_end = |index: u32| match index.is_multiple_of(64) {
            true => progress.is_cancelled(),
            false => progress.is_latched(),
        };
        // The minimum and maximum height in each column.
        let ends: Vec<[AtomicI64; 2]> =
            (0..columns.count()).map(|_| [i64::MAX, i64::MIN].map(AtomicI64::new)).collect();
        let crosses = |&index: &u32| {
            let mut crosses = false;
            if must_end(index) {
                return crosses;
            }
            columns.cross(&mesh.triangle(index as usize), |column, height, _| {
                crosses = true;
                let [min, max] = &ends[column];
                // Most crossings are not at an end, and a load is cheaper than a `fetch_min`.
                if height < min.load(Relaxed) {
                    min.fetch_min(height, Relaxed);
                }
                if height > max.load(Relaxed) {
                    max.fetch_max(height, Relaxed);
                }
            });
            crosses
        };
        let crossing: Vec<u32> = (0..mesh.len() as u32).into_par_iter().filter(crosses).collect();
        let of_patches: Vec<Sightings> = (0..patches.len()).map(|_| Sightings::default()).collect();
        let as_given = crossing
            .par_chunks(TASK)
            .map(|triangles| {
                let mut as_given = [0; 2];
                let of_patch =
                    |a: &u32, b: &u32| patches.patch(*a as usize) == patches.patch(*b as usize);
                for triangles in triangles.chunk_by(of_patch) {
                    let (mut of_run, mut crossings) = ([0; 2], 0);
                    for &index in triangles.iter().take_while(|&&index| !must_end(index)) {
                        let mut sides = [0; 2];
                        columns.cross(&mesh.triangle(index as usize), |column, height, winding| {
                            crossings += 1;
                            for (end, facing) in [(0, 1), (1, -1)] {
                                if ends[column][end].load(Relaxed) == height {
                                    sides[usize::from(winding != facing)] += 1;
                                }
                            }
                        });
                        as_given = sum(as_given, sides);
                        if patches.is_flipped(index as usize) {
                            sides.reverse();
                        }
                        of_run = sum(of_run, sides);
                    }
                    of_patches[patches.patch(triangles[0] as usize)].add(of_run, crossings);
                }
                as_given
            })
            .reduce(|| [0; 2], sum);
        Self { of_patches, as_given }
    }

    fn crossings(&self) -> i64 {
        self.of_patches.iter().map(|patch| patch.crossings.load(Relaxed)).sum()
    }

    /// Whether each patch is seen clearly.
    fn are_clear(&self) -> bool {
        self.of_patches.iter().all(Sightings::is_clear)
    }

    /// The number of patches that no column sees.
    fn unseen(&self) -> usize {
        self.of_patches.iter().filter(|patch| patch.sides() == [0; 2]).count()
    }
}

/// The corners of a triangle in ascending order, and whether that is an odd permutation.
type Canonical = (Triangle, bool);

/// Independent of the order of the triangles, and of which corner is the first.
fn canonical(&[a, b, c]: &Triangle) -> Canonical {
    let mut sorted = [a, b, c];
    sorted.sort_unstable();
    (sorted, ![[a, b, c], [b, c, a], [c, a, b]].contains(&sorted))
}

/// Rounded down.
fn twice_area(&[a, b, c]: &Triangle) -> i128 {
    let from_a = |p: [i32; 3]| [0, 1, 2].map(|i| i64::from(p[i]) - i64::from(a[i]));
    let (e, f) = (from_a(b), from_a(c));
    let normal = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| (e[i] * f[j] - e[j] * f[i]) as f64);
    (normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]).sqrt() as i128
}

/// Bounding box of the triangles, as minimum and maximum corner; the origin if there are none.
fn bounds(mesh: &PlacedMesh) -> [[i32; 3]; 2] {
    let corners = (0..mesh.len()).into_par_iter().flat_map_iter(|index| mesh.triangle(index));
    corners
        .map(|corner| [corner; 2])
        .reduce_with(|[min, max], [other_min, other_max]| {
            let min = [0, 1, 2].map(|a| min[a].min(other_min[a]));
            [min, [0, 1, 2].map(|a| max[a].max(other_max[a]))]
        })
        .unwrap_or_default()
}

/// Columns along all axes, in a coarse grid over the mesh's bounding box: padding and bounds of the
/// voxel grid do not move them.
struct Columns {
    /// The minimum corner.
    from: [i32; 3],
    fraction_bits: u32,
    dims: [i32; 3],
}

impl Columns {
    /// At most `most` columns along an axis. They are at least two lattice units wide, so that
    /// their centres are lattice points.
    fn new(&[min, max]: &[[i32; 3]; 2], most: u32) -> Self {
        let extent = [0, 1, 2].map(|a| max[a].abs_diff(min[a]).max(1));
        let longest = extent.into_iter().fold(1, u32::max);
        let fraction_bits = longest.div_ceil(most).next_power_of_two().ilog2().max(1);
        let dims = extent.map(|units| units.div_ceil(1 << fraction_bits) as i32);
        Self { from: min, fraction_bits, dims }
    }

    /// The columns along an axis by the two others.
    fn dims(&self, axis: Axis) -> [i32; 2] {
        axis.project(self.dims).0
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
        let triangle = &triangle.map(|corner| [0, 1, 2].map(|a| corner[a] - self.from[a]));
        let centers = BoxRange::of_centers(triangle, self.fraction_bits);
        let is_empty = |axis: usize| centers.lo[axis] > centers.hi[axis];
        if usize::from(is_empty(0)) + usize::from(is_empty(1)) + usize::from(is_empty(2)) > 1 {
            return;
        }
        let center = |index: i32| (index << self.fraction_bits) + (1 << (self.fraction_bits - 1));
        let mut first_column = 0;
        for axis in Axis::ALL {
            let dims = self.dims(axis);
            let [lo, hi] = [centers.lo, centers.hi].map(|corner| axis.project(corner).0);
            if lo[0] <= hi[0] && lo[1] <= hi[1] {
                let projected = ProjectedTriangle::new(triangle, axis);
                for second in lo[1]..=hi[1] {
                    for first in lo[0]..=hi[0] {
                        if let Some(height) = projected.at([center(first), center(second)]) {
                            let height =
                                (height.to_f64() * HEIGHTS_PER_UNIT).round_ties_even() as i64;
                            let column = first_column + second * dims[0] + first;
                            each(column as usize, height, projected.winding());
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
    use crate::base::progress::NoProgress;
    use crate::lattice::{PlaceOptions, Sizing, place};
    use crate::mesh::Mesh;

    #[test]
    fn columns_are_not_refined_at_a_high_depth_complexity() {
        // A small cube inside out, above a stack of squares: only columns of width 1 see it, since
        // those of width 4 and 16 have their centres at 4 n + 2 and 16 n + 8.
        let flipped = |squares: u32| {
            let [lo, hi] = [[100.2, 500.2, 100.2], [101.8, 501.8, 101.8]];
            let mut vertices: Vec<[f64; 3]> = (0..8)
                .map(|i| [0, 1, 2].map(|a| if i >> a & 1 == 1 { hi[a] } else { lo[a] }))
                .collect();
            let inwards = [
                [0, 4, 6, 2],
                [1, 3, 7, 5],
                [0, 1, 5, 4],
                [2, 6, 7, 3],
                [0, 2, 3, 1],
                [4, 5, 7, 6],
            ]
            .map(|[a, b, c, d]| [a, d, c, b]);
            let mut quads = inwards.to_vec();
            for square in 0..squares {
                let (first, y) = (vertices.len() as u32, 0.25 * f64::from(square));
                vertices.extend([
                    [0.0, y, 0.0],
                    [0.0, y, 512.0],
                    [512.0, y, 512.0],
                    [512.0, y, 0.0],
                ]);
                quads.push([first, first + 1, first + 2, first + 3]);
            }
            let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
            let mesh = Mesh::new(vertices, triangles.collect()).unwrap();
            let mesh = place(&mesh, &PlaceOptions::new(Sizing::Resolution(512))).unwrap();
            let flip = |_: &Topology, _| Ok::<_, ()>(true);
            let (.., flips) = Topology::with_flips(&mesh, 0, flip, &NoProgress).unwrap();
            flips.unwrap().statistics.flipped_triangles
        };
        // The lowest square shows its back from below.
        assert_eq!(flipped(100), 12 + 2);
        assert_eq!(flipped(1_100), 2);
    }

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
            assert_eq!(matching.tally(0).inconsistent, 0);
            let by_shells = Patches::consistent(matching.shells());
            let by_pairs = Patches::new(mesh.len(), matching.pairs());
            assert_eq!(by_shells.parents, by_pairs.parents);
        }
    }
}
