//! Orients the patches of a mesh with holes by visibility: seen from either end of the columns of a
//! coarse grid over the mesh's bounding box, along all three axes, the first triangle shows its
//! front or its back (compare K. Takayama and others, *A Simple Method for Correcting Facet
//! Orientations in Polygon Meshes Based on Ray Casting*, 2014, who cast rays from each patch
//! outwards).

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::base::progress::{Latch, Progress};
use crate::base::vector::minus;
use crate::lattice::{Aabb, PlacedMesh, Triangle};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::{Axis, ProjectedTriangle, center_of};
use crate::solid::topology::patches::Patches;

/// Maximum numbers of columns along the longest axis of the coarse grid: the first that shows all
/// patches [clearly](Sightings::is_clear), or the last.
const COLUMNS: [u32; 2] = [32, 128];
/// Maximum number of columns for a mesh with many small patches that [`COLUMNS`] leave unseen.
const FINE_COLUMNS: u32 = 512;
/// Many patches are unseen if they are more than this number, and more than one patch in so many.
const MAX_UNSEEN: usize = 64;
/// Minimum number of sightings of a patch; with fewer, more columns are used.
const CLEAR: i64 = 64;
/// Maximum number of crossings of a refinement, estimated from the first columns: some seconds.
/// Only meshes with a depth complexity of hundreds exceed it.
const MAX_CROSSINGS: i64 = 1 << 28;
/// A patch is judged if at least one in so many of its crossings is a sighting. Patches seen only
/// through holes and gaps of a shell, such as the back of a cavity's wall, have fewer.
const CROSSINGS_PER_SIGHTING: i64 = 4;
/// Heights are in units of this fraction of the lattice unit: far more than the rounding error of a
/// height, so that heights of coincident triangles rarely differ.
const HEIGHTS_PER_UNIT: f64 = 4096.0;

/// Whether each patch faces back.
///
/// A patch faces back if at least two thirds of the columns that see it see its back. A patch of
/// which little is seen, or both sides, keeps the orientation of most of its area. But if two
/// thirds of all sightings of the mesh are backs, such patches are flipped too.
///
/// If `progress` is cancelled, the result has no meaning.
pub(super) fn faces_back(
    mesh: &PlacedMesh,
    patches: &Patches,
    progress: &dyn Progress,
) -> Vec<bool> {
    let bounds = mesh.bounds();
    let votes_along =
        |columns: u32| Votes::of(mesh, patches, &CoarseColumns::new(&bounds, columns), progress);
    let mut votes = votes_along(COLUMNS[0]);
    let coarse_crossings: i64 = votes.of_patches.iter().map(|patch| patch.crossings).sum();
    let is_within_limit =
        |columns: u32| coarse_crossings * i64::from(columns / COLUMNS[0]).pow(2) <= MAX_CROSSINGS;
    if !votes.of_patches.iter().all(Sightings::is_clear) && is_within_limit(COLUMNS[1]) {
        votes = votes_along(COLUMNS[1]);
    }
    let unseen = votes.of_patches.iter().filter(|patch| patch.sides == [0; 2]).count();
    let are_many_unseen = unseen > MAX_UNSEEN && unseen > patches.len() / MAX_UNSEEN;
    if are_many_unseen && is_within_limit(FINE_COLUMNS) {
        votes = votes_along(FINE_COLUMNS);
    }
    let all_face_back = most_face_back(votes.as_given) == Some(true);
    let faces_back = |patch: &Sightings| patch.faces_back().unwrap_or(all_face_back);
    votes.of_patches.iter().map(faces_back).collect()
}

/// Maximum memory of [`faces_back`], in bytes.
pub(super) fn bytes(triangles: usize, patches: usize) -> u64 {
    let lists = size_of::<Sightings>() * (triangles + 2 * patches) + size_of::<u32>() * triangles;
    lists as u64 + u64::from(6 * 8 * FINE_COLUMNS * FINE_COLUMNS)
}

/// The sight along columns.
struct Votes {
    /// The sightings of each patch.
    of_patches: Vec<Sightings>,
    /// The sightings of fronts and of backs of the mesh as given.
    as_given: [i64; 2],
}

/// The crossings of columns with a surface, and how many of them are the first or last of a column.
#[derive(Default, Clone, Copy)]
struct Sightings {
    /// Sightings of the front, and of the back.
    sides: [i64; 2],
    crossings: i64,
}

impl Sightings {
    /// Whether it is seen often, and one side at least four times as often as the other.
    fn is_clear(&self) -> bool {
        let [front, back] = self.sides;
        front.max(back) >= (4 * front.min(back)).max(CLEAR)
    }

    /// Whether [most sightings](most_face_back) are of the back; `None` if they are too few.
    fn faces_back(&self) -> Option<bool> {
        let [front, back] = self.sides;
        let is_seen = CROSSINGS_PER_SIGHTING * (front + back) >= self.crossings;
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
        columns: &CoarseColumns,
        progress: &dyn Progress,
    ) -> Self {
        let progress = Latch::new(progress);
        // A triangle takes up to a millisecond.
        let must_end = |index: u32| {
            if index.is_multiple_of(64) { progress.is_cancelled() } else { progress.is_latched() }
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
        let sightings = |&index: &u32| {
            let mut sightings = Sightings::default();
            if must_end(index) {
                return sightings;
            }
            columns.cross(&mesh.triangle(index as usize), |column, height, winding| {
                sightings.crossings += 1;
                for (end, facing) in [(0, 1), (1, -1)] {
                    if ends[column][end].load(Relaxed) == height {
                        sightings.sides[usize::from(winding != facing)] += 1;
                    }
                }
            });
            sightings
        };
        let of_triangles: Vec<Sightings> = crossing.par_iter().map(sightings).collect();
        let (mut of_patches, mut as_given) = (vec![Sightings::default(); patches.len()], [0; 2]);
        for (&index, Sightings { mut sides, crossings }) in crossing.iter().zip(of_triangles) {
            as_given = sum(as_given, sides);
            if patches.is_flipped(index as usize) {
                sides.reverse();
            }
            let of_patch = &mut of_patches[patches.patch(index as usize)];
            of_patch.sides = sum(of_patch.sides, sides);
            of_patch.crossings += crossings;
        }
        Self { of_patches, as_given }
    }
}

/// Columns along all axes, in a coarse grid over the mesh's bounding box: padding and bounds of the
/// voxel grid do not move them.
struct CoarseColumns {
    /// The minimum corner.
    from: [i32; 3],
    fraction_bits: u32,
    dims: [i32; 3],
}

impl CoarseColumns {
    /// At most `most` columns along an axis. They are at least two lattice units wide, so that
    /// their centres are lattice points.
    fn new(&Aabb { lo, hi }: &Aabb, most: u32) -> Self {
        let extent = [0, 1, 2].map(|a| hi[a].abs_diff(lo[a]).max(1));
        let longest = extent.into_iter().fold(1, u32::max);
        let fraction_bits = longest.div_ceil(most).next_power_of_two().ilog2().max(1);
        let dims = extent.map(|units| units.div_ceil(1 << fraction_bits) as i32);
        Self { from: lo, fraction_bits, dims }
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
        let triangle = &triangle.map(|corner| minus(corner, self.from));
        let centers = BoxRange::of_centers(triangle, self.fraction_bits);
        // Columns have centres within the triangle's extent along two axes.
        if (0..3).filter(|&axis| centers.lo[axis] > centers.hi[axis]).count() > 1 {
            return;
        }
        let center = |index: i32| center_of(index, self.fraction_bits);
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
