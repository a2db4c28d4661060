//! Orients the parts of a mesh, so that front sides are outside.
//!
//! A *patch* is a component of triangles that are [paired](Matching::for_each_pair) at their edges.
//! Within a patch the orientation of one triangle determines all others, unless it is one-sided
//! like a Moebius strip. The choice between the two orientations follows from containment if all
//! patches are closed ([`nesting`]), and from visibility otherwise ([`sight`]).

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::base::forest::Forest;
use crate::base::progress::Progress;
use crate::base::vector::norm;
use crate::lattice::{Aabb, PlacedMesh, Triangle, normal};
use crate::solid::topology::edges::Matching;
use crate::solid::topology::{Topology, nesting, sight};

/// Statistics of flipped triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FlipStatistics {
    /// Patches with a flipped triangle.
    pub flipped_patches: u64,
    /// Flipped triangles.
    pub flipped_triangles: u64,
}

/// The triangles to flip.
#[derive(Default)]
pub(crate) struct Flips {
    pub(crate) statistics: FlipStatistics,
    /// Whether each triangle is flipped; `None` if none is, and if all are: a mesh that is inside
    /// out as a whole has the same solid.
    pub(crate) is_flipped: Option<Vec<bool>>,
    /// The bounding box of each shell but cavities, which are known if all shells are closed; none
    /// if there are one or more than [`MAX_SHELLS`] shells.
    pub(crate) shells: Vec<Aabb>,
}

/// Maximum number of shells with bounding boxes, of 24 MiB.
const MAX_SHELLS: u64 = 1 << 20;

/// Maximum number of triangles that are paired: both orientations of each are elements of a forest.
const MAX_PAIRED: usize = (1 << 31) - 1;

/// The triangles to flip in a mesh of this topology. If `progress` is cancelled, the result has no
/// meaning.
pub(in crate::solid) fn flips(
    matching: &Matching,
    topology: &Topology,
    progress: &dyn Progress,
) -> Flips {
    let mesh = matching.mesh;
    let is_manifold = topology.non_manifold_edges == 0;
    let roots = matching.shells.roots();
    let shells = match topology.shells {
        2..=MAX_SHELLS => shell_bounds(matching, &roots),
        _ => Vec::new(),
    };
    let (patches, are_closed) = if topology.is_oriented() {
        let roots = if is_manifold { roots } else { matching.paired_shells() };
        (Patches::consistent(roots), true)
    } else if is_manifold && topology.inconsistent_edges == 0 {
        (Patches::consistent(roots), false)
    } else {
        Patches::paired(matching)
    };
    let (faces_back, is_cavity) = if are_closed {
        nesting::orientation(mesh, &patches, progress)
    } else {
        (sight::faces_back(mesh, &patches, progress), vec![false; patches.len()])
    };
    let solid = |(root, _): &(u32, Aabb)| !is_cavity[patches.patch(*root as usize)];
    let shells = shells.into_iter().filter(solid).map(|(_, bounds)| bounds).collect();
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
    if flipped_triangles == 0 || topology.is_oriented() && flipped_triangles == mesh.len() as u64 {
        return Flips { statistics: FlipStatistics::default(), is_flipped: None, shells };
    }
    let flipped_patches = has_flipped.iter().filter(|&&has| has).count() as u64;
    let statistics = FlipStatistics { flipped_patches, flipped_triangles };
    Flips { statistics, is_flipped: Some(is_flipped), shells }
}

/// An upper bound of the memory of [`flips`] for so many triangles of this topology, in bytes,
/// besides that of the topology.
pub(super) fn bytes(triangles: usize, topology: &Topology) -> u64 {
    let patches = match topology.non_manifold_edges {
        0 => (topology.shells + topology.collapsed) as usize,
        _ => triangles,
    };
    let judged = nesting::bytes(triangles, patches);
    let boxes = size_of::<(u32, Aabb)>() as u64 * topology.shells.min(MAX_SHELLS);
    let forest = boxes + (28 * triangles) as u64;
    if topology.is_oriented() {
        return forest + judged;
    }
    if triangles > MAX_PAIRED {
        // Above every limit; sums with other amounts do not overflow. Without a limit, such a mesh
        // needs more than 100 GB.
        return u64::MAX / 2;
    }
    let areas = size_of::<[i128; 2]>() * triangles;
    areas as u64 + forest + judged.max(sight::bytes(triangles, patches))
}

/// The root and the bounding box of each shell, by the roots of the triangles: a root is the lowest
/// triangle of its shell. Triangles that do not count belong to none.
fn shell_bounds(matching: &Matching, roots: &[u32]) -> Vec<(u32, Aabb)> {
    let mut bounds: Vec<(u32, Aabb)> = Vec::new();
    // The index of each triangle's shell: its root, the lowest triangle, comes first.
    let mut shells = vec![0_u32; roots.len()];
    for (at, &root) in roots.iter().enumerate() {
        if !matching.counts(at) {
            continue;
        }
        let of_triangle = Aabb::of(&matching.mesh.triangle(at));
        if root as usize == at {
            shells[at] = bounds.len() as u32;
            bounds.push((root, of_triangle));
        } else {
            shells[at] = shells[root as usize];
            let (_, shell) = &mut bounds[shells[at] as usize];
            *shell = shell.union(of_triangle);
        }
    }
    bounds
}

/// Numbers the patches, given the lowest triangle of each triangle's patch. Returns each triangle's
/// patch, and the number of patches.
fn numbered(mut lowest: Vec<u32>) -> (Vec<u32>, usize) {
    let mut len = 0;
    for triangle in 0..lowest.len() {
        let first = lowest[triangle] as usize;
        if first == triangle {
            lowest[triangle] = len;
            len += 1;
        } else {
            lowest[triangle] = lowest[first];
        }
    }
    (lowest, len as usize)
}

/// The patches of a mesh, and the orientation of each triangle in its patch.
pub(super) struct Patches {
    /// The patch of each triangle. Patches are numbered in the order of their lowest triangles.
    indices: Vec<u32>,
    /// Whether each triangle's orientation is opposite to that of its patch. A patch has the
    /// orientation of most of its area. False for all triangles of a one-sided patch.
    is_flipped: Vec<bool>,
    len: usize,
}

impl Patches {
    /// The components of paired triangles, and whether all are closed and two-sided.
    ///
    /// Each orientation of a triangle is an element (the orientation double cover): a two-sided
    /// patch has two components, a one-sided patch one.
    fn paired(matching: &Matching) -> (Self, bool) {
        let forest = Forest::new(2 * matching.mesh.len());
        let unpaired = matching.for_each_pair(|(one, other, differs)| {
            let other = 2 * other + u32::from(differs);
            forest.join(2 * one, other);
            forest.join(2 * one + 1, other ^ 1);
        });
        let roots = forest.roots();
        let is_one_sided = roots.chunks_exact(2).any(|sides| sides[0] == sides[1]);
        let (indices, len) = numbered(roots.iter().step_by(2).map(|root| root >> 1).collect());
        // At first, relative to the lowest triangle of the patch.
        let is_flipped = roots.iter().step_by(2).map(|root| root & 1 == 1).collect();
        let mut patches = Self { indices, is_flipped, len };
        if patches.is_flipped.contains(&true) {
            let is_mostly_flipped = patches.are_mostly_flipped(matching.mesh);
            for (is_flipped, &patch) in patches.is_flipped.iter_mut().zip(&patches.indices) {
                *is_flipped ^= is_mostly_flipped[patch as usize];
            }
        }
        (patches, unpaired == 0 && !is_one_sided)
    }

    /// Patches without flipped triangles, given the lowest triangle of each triangle's patch.
    fn consistent(lowest: Vec<u32>) -> Self {
        let is_flipped = vec![false; lowest.len()];
        let (indices, len) = numbered(lowest);
        Self { indices, is_flipped, len }
    }

    /// The number of patches.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The index of a triangle's patch.
    pub(super) fn patch(&self, triangle: usize) -> usize {
        self.indices[triangle] as usize
    }

    /// Whether the triangle's orientation is opposite to its patch's.
    pub(super) fn is_flipped(&self, triangle: usize) -> bool {
        self.is_flipped[triangle]
    }

    /// Whether most of each patch's area is flipped; between equal areas, the first triangle in
    /// [`canonical`] order decides.
    fn are_mostly_flipped(&self, mesh: &PlacedMesh) -> Vec<bool> {
        // Twice the area of a patch's triangles that are not flipped, and of the others.
        let mut areas = vec![[0; 2]; self.len()];
        for triangle in 0..mesh.len() {
            let area = &mut areas[self.patch(triangle)][usize::from(self.is_flipped(triangle))];
            *area += twice_area(&mesh.triangle(triangle));
        }
        let is_tied = |patch: usize| areas[patch][0] == areas[patch][1] && areas[patch][0] > 0;
        let tied = (0..mesh.len()).filter(|&triangle| is_tied(self.patch(triangle)));
        let mut first: BTreeMap<usize, (Canonical, bool)> = BTreeMap::new();
        for triangle in tied {
            let entry = (canonical(&mesh.triangle(triangle)), self.is_flipped(triangle));
            let first_of_patch = first.entry(self.patch(triangle)).or_insert(entry);
            *first_of_patch = entry.min(*first_of_patch);
        }
        let is_mostly_flipped = |patch: usize| match first.get(&patch) {
            Some(&(_, is_flipped)) => is_flipped,
            None => areas[patch][1] > areas[patch][0],
        };
        (0..self.len()).map(is_mostly_flipped).collect()
    }
}

/// The corners of a triangle in ascending order, and whether that is an odd permutation.
type Canonical = (Triangle, bool);

/// The canonical form of a triangle, which all rotations of its corners share.
fn canonical(&[a, b, c]: &Triangle) -> Canonical {
    let mut sorted = [a, b, c];
    sorted.sort_unstable();
    (sorted, ![[a, b, c], [b, c, a], [c, a, b]].contains(&sorted))
}

/// Twice the area of a triangle, rounded down.
pub(super) fn twice_area(triangle: &Triangle) -> i128 {
    norm(normal(triangle).map(|c| c as f64)) as i128
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::lattice::{PlaceOptions, Sizing, place};
    use crate::mesh::Mesh;

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
            assert_eq!(matching.tally(0).topology.inconsistent_edges, 0);
            let by_shells = Patches::consistent(matching.shells.roots());
            let (by_pairs, _) = Patches::paired(&matching);
            assert_eq!(by_shells.indices, by_pairs.indices);
            assert_eq!(by_shells.is_flipped, by_pairs.is_flipped);
        }
    }
}
