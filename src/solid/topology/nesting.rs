//! Orients closed shells by containment.
//!
//! A shell outside all others faces outwards, and so does a shell in a cavity. A shell in matter
//! keeps its orientation relative to the innermost shell around it: an opposite one bounds a
//! cavity, and an equal one is redundant. In other words, a flipped shell takes the shells in it
//! along.
//!
//! A shell encloses another if points just behind all triangles of the other have a winding number
//! other than 0 around the shell. Winding numbers are exact sums of the crossings of a ray. So the
//! result depends neither on axes, bounds and tiles nor on the order of triangles, and shells in
//! contact are no special case.

use rayon::prelude::*;

use crate::base::progress::Progress;
use crate::base::vector::{cross, dot, minus, norm};
use crate::lattice::{Aabb, PlacedMesh, Triangle, normal};
use crate::solid::topology::patches::{Patches, twice_area};
use crate::solid::triangle_bvh::TriangleBvh;

/// Maximum number of triangles of a shell that is probed at all of [`WEIGHTS`].
const FEW: usize = 512;
/// Maximum number of triangles of a larger shell that are probed, each at its centroid.
const MAX_PROBES: usize = 4096;
/// The distance of a probe from its triangle, in lattice units: more than rounding moves surfaces
/// in contact.
const DEPTH: i32 = 2;
/// Shells whose lists of the shells around them are kept at a time.
const AT_ONCE: usize = 32;
/// The sum of the weights of a probe.
const SCALE: i64 = 6;
/// Points of a triangle by the weights of its corners: all multiples of 1/6 in its interior, the
/// centroid first.
const WEIGHTS: [[i64; 3]; 10] = [
    [2, 2, 2],
    [4, 1, 1],
    [1, 4, 1],
    [1, 1, 4],
    [3, 2, 1],
    [3, 1, 2],
    [2, 3, 1],
    [1, 3, 2],
    [2, 1, 3],
    [1, 2, 3],
];

/// Whether each of these closed patches faces back, and whether it is a cavity once it is oriented.
/// If `progress` is cancelled, the result has no meaning.
pub(super) fn orientation(
    mesh: &PlacedMesh,
    patches: &Patches,
    progress: &dyn Progress,
) -> (Vec<bool>, Vec<bool>) {
    let shells = Shell::all(mesh, patches);
    let has = |sign: i128| shells.iter().any(|shell| shell.volume.signum() == sign);
    let outward = vec![false; shells.len()];
    match (has(1), has(-1)) {
        (_, false) => (outward.clone(), outward),
        (false, true) => (vec![true; shells.len()], outward),
        (true, true) => {
            // Rays along x pass all nodes of a line along x.
            let bvh = TriangleBvh::new(mesh, &[1, 2]);
            Nesting { mesh, patches, shells, bvh }.is_turned(progress)
        }
    }
}

/// Maximum memory of [`orientation`], in bytes: shells, and if they are nested their triangles, the
/// shells around each, and the BVH.
pub(super) fn bytes(triangles: usize, patches: usize) -> u64 {
    let of_patch = size_of::<Shell>() + size_of::<Vec<u32>>() + 4 * AT_ONCE + 48;
    (of_patch * patches + 8 * triangles) as u64 + TriangleBvh::bytes(triangles)
}

/// A closed shell.
#[derive(Clone, Copy)]
struct Shell {
    /// Six times the volume in cubic lattice units, negative if it is inside out.
    volume: i128,
    /// In square lattice units.
    twice_area: i128,
    bounds: Aabb,
}

impl Shell {
    /// The shell of each patch.
    fn all(mesh: &PlacedMesh, patches: &Patches) -> Vec<Self> {
        let origin = mesh.vertices().first().copied().unwrap_or_default().map(i128::from);
        let none = Self { volume: 0, twice_area: 0, bounds: Aabb::EMPTY };
        let mut shells = vec![none; patches.len()];
        for (index, triangle) in mesh.triangles().enumerate() {
            // The origin may be an unused vertex, up to `2^32` units away: products are below
            // `2^97`. Six times the volume of a tetrahedron, `a` times the normal, is below `2^83`,
            // and the sum over `2^32` triangles below `2^115`.
            let [a, b, c] = triangle.map(|corner| minus(corner.map(i128::from), origin));
            let volume = dot(a, cross(b, c));
            let shell = &mut shells[patches.patch(index)];
            shell.volume += if patches.is_flipped(index) { -volume } else { volume };
            shell.twice_area += twice_area(&triangle);
            shell.bounds = shell.bounds.union(Aabb::of(&triangle));
        }
        shells
    }

    /// Whether it may enclose `other`: a shell that is there twice, perhaps with other diagonals of
    /// sides that rounding bent, encloses no copy of itself. A wall between them thinner than
    /// [`DEPTH`] is none.
    fn is_larger_than(&self, other: &Self) -> bool {
        let wall = self.volume.abs() - other.volume.abs();
        let (outer, inner) = (&self.bounds, &other.bounds);
        wall > 3 * i128::from(DEPTH) * other.twice_area
            && (0..3)
                .all(|a| outer.lo[a] <= inner.lo[a] + DEPTH && inner.hi[a] <= outer.hi[a] + DEPTH)
    }
}

/// The shells of a mesh, and how they are nested.
struct Nesting<'a> {
    mesh: &'a PlacedMesh,
    patches: &'a Patches,
    shells: Vec<Shell>,
    bvh: TriangleBvh,
}

impl Nesting<'_> {
    /// Whether each shell is turned, and whether it is a cavity.
    fn is_turned(&self, progress: &dyn Progress) -> (Vec<bool>, Vec<bool>) {
        let members = self.members();
        let enclosing = |&shell: &usize| {
            if progress.is_cancelled() {
                Vec::new()
            } else {
                self.enclosing(shell, &members[shell])
            }
        };
        let mut order: Vec<usize> = (0..self.shells.len()).collect();
        order.sort_by_key(|&shell| std::cmp::Reverse(self.shells[shell].volume.abs()));
        let mut is_turned = vec![false; order.len()];
        // The winding number that each shell adds inside, once it is oriented.
        let mut adds = vec![0; order.len()];
        for shells in order.chunks(AT_ONCE) {
            let around: Vec<Vec<u32>> = shells.par_iter().map(enclosing).collect();
            for (&shell, around) in shells.iter().zip(&around) {
                let sign = self.shells[shell].volume.signum();
                let winding: i128 = around.iter().map(|&other| adds[other as usize]).sum();
                is_turned[shell] = match self.innermost(around, sign) {
                    Some(other) if winding > 0 => is_turned[other],
                    _ => sign < 0,
                };
                adds[shell] = if is_turned[shell] { -sign } else { sign };
            }
        }
        (is_turned, adds.into_iter().map(|adds| adds < 0).collect())
    }

    /// The smallest of the shells around one; among copies of it, the one opposite to `sign`: the
    /// cavity of a doubled part is doubled too.
    fn innermost(&self, around: &[u32], sign: i128) -> Option<usize> {
        let shell = |other: &u32| &self.shells[*other as usize];
        let smallest = around.iter().min_by_key(|other| shell(other).volume.abs())?;
        let copies = around.iter().filter(|other| !shell(other).is_larger_than(shell(smallest)));
        let is_alike = |other: &&u32| shell(other).volume.signum() == sign;
        copies.min_by_key(is_alike).map(|&other| other as usize)
    }

    /// The triangles of each shell that have an area; of a large shell, only some.
    fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.shells.len()];
        for index in 0..self.mesh.len() {
            if normal(&self.mesh.triangle(index)) != [0; 3] {
                members[self.patches.patch(index)].push(index as u32);
            }
        }
        members.par_iter_mut().zip(&self.shells).for_each(|(members, shell)| {
            if members.len() > MAX_PROBES {
                // By their place in the shell, so that neither order nor bounds matter.
                let rank = |&index: &u32| hash(&self.mesh.triangle(index as usize), shell);
                members.select_nth_unstable_by_key(MAX_PROBES, rank);
                members.truncate(MAX_PROBES);
            }
        });
        members
    }

    /// The shells that enclose `shell`, which has the triangles `members`.
    fn enclosing(&self, shell: usize, members: &[u32]) -> Vec<u32> {
        let this = &self.shells[shell];
        if this.volume == 0 {
            return Vec::new();
        }
        let weights = if members.len() <= FEW { &WEIGHTS[..] } else { &WEIGHTS[..1] };
        let mut enclosing: Option<Vec<u32>> = None;
        for weights in weights {
            for &index in members {
                let triangle = self.mesh.triangle(index as usize);
                let is_flipped = self.patches.is_flipped(index as usize) != (this.volume < 0);
                let probe = Probe::behind(&triangle, *weights, is_flipped);
                let around = self.around(&probe);
                let may_enclose = |&other: &u32| match &enclosing {
                    // In ascending order.
                    Some(enclosing) => enclosing.binary_search(&other).is_ok(),
                    None => self.shells[other as usize].is_larger_than(this),
                };
                let around: Vec<u32> = around.into_iter().filter(may_enclose).collect();
                if around.is_empty() {
                    return around;
                }
                enclosing = Some(around);
            }
        }
        enclosing.unwrap_or_default()
    }

    /// The shells around which the winding number of `probe` is not 0.
    fn around(&self, probe: &Probe) -> Vec<u32> {
        let mut crossed: Vec<(u32, i32)> = Vec::new();
        self.bvh.meeting(probe.bounds(), |index| {
            let index = index as usize;
            let crossing = probe.crossing(&self.mesh.triangle(index));
            if crossing != 0 {
                let is_flipped = self.patches.is_flipped(index);
                let crossing = if is_flipped { -crossing } else { crossing };
                crossed.push((self.patches.patch(index) as u32, crossing));
            }
        });
        crossed.sort_unstable();
        let of_one = crossed.chunk_by(|one, other| one.0 == other.0);
        let is_around = |of_one: &&[(u32, i32)]| of_one.iter().map(|c| c.1).sum::<i32>() != 0;
        of_one.filter(is_around).map(|of_one| of_one[0].0).collect()
    }
}

/// Depends neither on the order of the corners nor on where the shell is.
fn hash(triangle: &Triangle, shell: &Shell) -> u64 {
    let mut corners = triangle.map(|corner| minus(corner, shell.bounds.lo));
    corners.sort_unstable();
    let mix =
        |hash: u64, &c: &i32| (hash ^ c as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    corners.as_flattened().iter().fold(0, mix)
}

/// A point [`DEPTH`] behind a triangle, and the ray from there towards positive `x`.
///
/// The point is a multiple of `1 / SCALE`, displaced by infinitesimals (simulation of simplicity,
/// Edelsbrunner and Mücke 1990): into the shell, and then along `y`, `z` and `x`, each infinitely
/// smaller than the one before. The sign of a linear function of the point is that of its first
/// term other than 0; only a constant function is 0. So the ray starts on no triangle, and passes
/// through no edge.
struct Probe {
    /// In units of `1 / SCALE`.
    at: [i64; 3],
    inwards: [i64; 3],
}

impl Probe {
    /// Behind the point of `triangle` at `weights`; before it if `is_flipped`.
    fn behind(triangle: &Triangle, weights: [i64; 3], is_flipped: bool) -> Self {
        let sum = |axis: usize| -> i64 {
            (0..3).map(|corner| weights[corner] * i64::from(triangle[corner][axis])).sum()
        };
        let normal = normal(triangle);
        let inwards = if is_flipped { normal } else { normal.map(|c| -c) };
        let to_depth = (i64::from(DEPTH) * SCALE) as f64 / norm(inwards.map(|c| c as f64));
        let step = |axis: usize| (inwards[axis] as f64 * to_depth).round_ties_even() as i64;
        Self { at: [0, 1, 2].map(|axis| sum(axis) + step(axis)), inwards }
    }

    /// The bounding box of the ray, for [`TriangleBvh::meeting`].
    fn bounds(&self) -> [[i32; 3]; 2] {
        let before = self.at.map(|c| c.div_euclid(SCALE) as i32);
        let past = self.at.map(|c| -(-c).div_euclid(SCALE) as i32);
        [past, [i32::MAX, before[1], before[2]]]
    }

    /// The sign of a linear function that has `value` at the point before it is moved. Below
    /// `2^53` times `2^51` times 3.
    fn sign(&self, value: i128, gradient: [i64; 3]) -> i128 {
        let [x, y, z] = gradient.map(i128::from);
        let inwards = dot([x, y, z], self.inwards.map(i128::from));
        let steps = [value, inwards, y, z, x];
        steps.into_iter().find(|&step| step != 0).unwrap_or(0).signum()
    }

    /// 1 if the ray leaves through the front of `triangle`, -1 if it enters there, else 0.
    fn crossing(&self, triangle: &Triangle) -> i32 {
        let normal = normal(triangle);
        let facing = i128::from(normal[0].signum());
        if facing == 0 {
            return 0;
        }
        let corners = triangle.map(|corner| corner.map(|c| SCALE * i64::from(c)));
        // Below 2^28 each, so the edge functions are below 2^57.
        let is_left_of = |from: [i64; 3], to: [i64; 3]| {
            let ([_, y, z], [_, to_y, to_z]) = (minus(self.at, from), minus(to, from));
            self.sign(i128::from(to_y * z - to_z * y), [0, -to_z, to_y]) == facing
        };
        let [a, b, c] = corners;
        if !(is_left_of(a, b) && is_left_of(b, c) && is_left_of(c, a)) {
            return 0;
        }
        let height = dot(minus(self.at, a).map(i128::from), normal.map(i128::from));
        if self.sign(height, normal) == -facing { facing as i32 } else { 0 }
    }
}
