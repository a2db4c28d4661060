//! Triangulation of polygons: a fan for convex polygons and tangles, otherwise ear clipping in the
//! polygon's plane.

use std::borrow::Cow;
use std::collections::HashSet;

use earcut::{Earcut, utils3d::project3d_to_2d};

use crate::base::vector::{cross, minus};
use crate::formats::io::warnings::counted_warning;

/// Bytes of memory per corner of a polygon that is triangulated: its corners in space and in the
/// plane, the nodes of the ear clipping and the triangles.
pub(crate) const TRIANGULATION: u64 = 512;

/// Counts of faces without a surface, and without a correct triangulation.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct FaceFaults {
    /// Faces of fewer than three corners.
    pub(crate) points_and_lines: u64,
    /// Polygons that intersect themselves or are far from planar.
    pub(crate) crossing: u64,
}

impl FaceFaults {
    pub(crate) fn warnings(self) -> impl Iterator<Item = String> {
        let were = ["point or line was", "points and lines were"];
        let skipped = counted_warning(self.points_and_lines, were, "skipped: no surface");
        let are = ["polygon crosses itself or is", "polygons cross themselves or are"];
        let what = "far from planar: part of the area may be missing";
        [skipped, counted_warning(self.crossing, are, what)].into_iter().flatten()
    }
}

#[derive(Default)]
pub(crate) struct Triangulator {
    earcut: Earcut<f64>,
    pub(crate) faults: FaceFaults,
}

impl Triangulator {
    /// The triangles, as indices of corners, of a face of so many corners at these positions.
    #[inline]
    pub(crate) fn face(
        &mut self,
        corners: usize,
        position: impl Fn(usize) -> [f64; 3],
    ) -> Cow<'static, [[u32; 3]]> {
        match corners {
            0..=2 => {
                self.faults.points_and_lines += 1;
                Cow::Borrowed(&[])
            }
            3 => Cow::Borrowed(&[[0, 1, 2]]),
            _ => {
                let corners: Vec<[f64; 3]> = (0..corners).map(position).collect();
                Cow::Owned(self.triangulate(&corners))
            }
        }
    }

    /// The triangles, as indices into `corners`, of a polygon of at least four corners; every
    /// corner is in one of them, and there are at most [`most_triangles`]. A polygon without area
    /// gives triangles without area.
    fn triangulate(&mut self, corners: &[[f64; 3]]) -> Vec<[u32; 3]> {
        let n = corners.len() as u32;
        let fan: Vec<[u32; 3]> = (2..n).map(|i| [0, i - 1, i]).collect();
        let Some(flat) = flatten(corners) else {
            // No area, but not collinear: the signed areas on both sides of a crossing cancel.
            self.faults.crossing +=
                u64::from(fan.iter().any(|t| has_area(t.map(|i| corners[i as usize]))));
            return fan;
        };
        if is_convex(&flat) {
            return fan;
        }
        if is_tangle(corners) {
            self.faults.crossing += 1;
            return fan;
        }
        let mut cut: Vec<u32> = Vec::new();
        self.earcut.earcut(flat.iter().copied(), &[], &mut cut);
        // Relative difference of the areas; rounding alone leaves about 1e-15 per corner.
        if earcut::deviation(flat, &[], &cut) > 1e-9 {
            self.faults.crossing += 1;
        }
        if cut.is_empty() {
            return fan;
        }
        let mut triangles = cut.as_chunks::<3>().0.to_vec();
        if triangles.len() + 2 < corners.len() {
            triangles.extend(spikes(n, &cut));
        }
        triangles
    }
}

/// Maximum number of triangles of a polygon. Ear clipping that drops corners gives at most
/// `corners - 3` triangles. Their union has at least three corners, so at most `corners - 3` are
/// dropped, and each of these becomes a triangle without area.
pub(crate) fn most_triangles(corners: usize) -> usize {
    match corners {
        0..=2 => 0,
        3 => 1,
        _ => 2 * (corners - 3),
    }
}

fn has_area([a, b, c]: [[f64; 3]; 3]) -> bool {
    cross(minus(b, a), minus(c, a)).iter().any(|area| area.abs() > 0.0)
}

/// Ear clipping drops collinear corners and the tips of spikes; each is restored as a triangle
/// without area between its neighbours.
fn spikes(n: u32, cut: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    let mut is_used = vec![false; n as usize];
    cut.iter().for_each(|&corner| is_used[corner as usize] = true);
    let dropped = (0..n).filter(move |&corner| !is_used[corner as usize]);
    dropped.map(move |corner| [(corner + n - 1) % n, corner, (corner + 1) % n])
}

/// The corners projected to the polygon's plane, counter-clockwise; `None` without area. They are
/// relative to the first corner and scaled to about 1, which keeps the precision of distant and
/// tiny polygons.
fn flatten(corners: &[[f64; 3]]) -> Option<Vec<[f64; 2]>> {
    let mut local: Vec<[f64; 3]> = corners.iter().map(|&p| minus(p, corners[0])).collect();
    let size = local.iter().flatten().fold(0.0, |m: f64, c| m.max(c.abs()));
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    local.iter_mut().flatten().for_each(|c| *c /= size);
    let mut flat = Vec::new();
    project3d_to_2d(&local, local.len(), &mut flat).then_some(flat)
}

/// Whether a fan from the first corner covers the polygon: no corner turns right, and neither does
/// a triangle of the fan, as would happen in a polygon that winds around more than once.
fn is_convex(flat: &[[f64; 2]]) -> bool {
    let n = flat.len();
    let turns_left = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) >= 0.0
    };
    (0..n).all(|i| turns_left(flat[i], flat[(i + 1) % n], flat[(i + 2) % n]))
        && (2..n).all(|i| turns_left(flat[0], flat[i - 1], flat[i]))
}

/// Whether the polygon has many corners, on average four or more per distinct point: it crosses
/// itself many times, and ear clipping takes minutes without a better result. Bridges to holes
/// repeat less than half of an outline's corners.
fn is_tangle(corners: &[[f64; 3]]) -> bool {
    // With fewer corners, the search for diagonals takes well below a second.
    const FEW: usize = 5000;
    if corners.len() <= FEW {
        return false;
    }
    // Adding 0 makes -0 equal to it.
    let bits = |corner: &[f64; 3]| corner.map(|c| (c + 0.0).to_bits());
    let points: HashSet<[u64; 3]> = corners.iter().map(bits).collect();
    points.len() <= corners.len() / 4
}
