//! The area and the centroid of a triangle's part in each voxel, eight parts at a time.
//!
//! A triangle is projected to the plane of `u` and `v`, along the dominant axis `w` of its normal.
//! Between the voxel's two planes across `w` it is a polygon of at most five corners: two on the
//! edge from its lowest to its highest corner along `w`, three on the other two edges. The voxel is
//! the unit square in this plane. By Green's theorem the area is the sum over the polygon's edges
//! of the integral of `u dv`, where `u` and `v` are clamped to the square: the clamped boundary
//! goes once around the polygon's part in the square, and all else of it lies on the square's
//! border and encloses no area.
//!
//! No branch depends on a triangle. The integrals are continuous in its corners, so corners and
//! edges in a face of a voxel need no special case. One remains: a triangle perpendicular to `w` is
//! never divided, and a triangle in the face between two voxels counts in both. Corners are exact,
//! at most `2^25` units from the voxel; interpolated corners have an error of at most `2^-50` of
//! that, or `2^-29` voxels. A test compares areas and centroids with clipped polygons.

use pulp::Simd;

use crate::base::lanes::{LANES, Lanes};
use crate::grid::{Mask, brick_slot, is_empty, mask_voxels};
use crate::surface::color::clip::Plane;

/// The part of a triangle in a voxel.
#[derive(Debug, Clone, Copy)]
pub(in crate::surface) struct Part {
    /// The index of the triangle.
    pub(in crate::surface) triangle: usize,
    /// The index of the voxel in its brick.
    pub(in crate::surface) voxel: usize,
    /// In voxel faces.
    pub(in crate::surface) area: f64,
    /// The barycentric weights of the triangle's second and third corner at the part's centroid; at
    /// a point near it for a part without area.
    pub(in crate::surface) weights: [f64; 2],
}

/// Calls `each` with the part of each triangle in each voxel of its mask. `triangles` has indices
/// and masks; `corners_of` gives the corners of the triangle with an index, in voxels from the
/// minimum corner of the brick.
#[inline(always)]
pub(in crate::surface) fn each_part<S: Simd>(
    simd: S,
    triangles: impl Iterator<Item = (usize, Mask)>,
    corners_of: impl Fn(usize) -> [[f64; 3]; 3],
    mut each: impl FnMut(&Part),
) {
    let mut queue = Queue::default();
    for (index, mask) in triangles {
        if is_empty(&mask) {
            continue;
        }
        let corners = corners_of(index);
        let plane = Plane::new(&corners);
        let corners = sorted(&corners, &plane);
        for voxel in mask_voxels([0; 3], mask) {
            let lane = queue.len;
            for (i, &axis) in plane.axes.iter().enumerate() {
                for (corner, own) in queue.corners.iter_mut().zip(&corners) {
                    corner[i].0[lane] = own[i];
                }
                queue.lowest[i].0[lane] = f64::from(voxel[axis]);
            }
            queue.planes[lane] = plane;
            queue.triangles[lane] = index;
            queue.voxels[lane] = brick_slot(voxel);
            queue.len += 1;
            if queue.len == LANES {
                queue.solve(simd, &mut each);
            }
        }
    }
    queue.solve(simd, &mut each);
}

/// The corners of a triangle along `u`, `v` and `w`, from the lowest to the highest along `w`.
#[inline(always)]
fn sorted(corners: &[[f64; 3]; 3], plane: &Plane) -> [[f64; 3]; 3] {
    let mut corners = corners.map(|corner| plane.axes.map(|axis| corner[axis]));
    let mut order = |i: usize, k: usize| {
        if corners[k][2] < corners[i][2] {
            corners.swap(i, k);
        }
    };
    order(0, 1);
    order(1, 2);
    order(0, 1);
    corners
}

/// Parts to be integrated, one per lane.
#[derive(Default)]
struct Queue {
    len: usize,
    /// `corners[corner][axis]`, in the order of [`sorted`].
    corners: [[Lanes; 3]; 3],
    /// The minimum corner of the voxel along `u`, `v` and `w`.
    lowest: [Lanes; 3],
    planes: [Plane; LANES],
    triangles: [usize; LANES],
    voxels: [usize; LANES],
}

impl Queue {
    /// Calls `each` with the queued parts, and empties the queue.
    #[inline(always)]
    fn solve<S: Simd>(&mut self, simd: S, each: &mut impl FnMut(&Part)) {
        if self.len == 0 {
            return;
        }
        let Self { corners, lowest, .. } = self;
        let (area, [u, v]) = simd.vectorize(
            #[inline(always)]
            || integrate(*corners, lowest),
        );
        for lane in 0..std::mem::take(&mut self.len) {
            let plane = &self.planes[lane];
            each(&Part {
                triangle: self.triangles[lane],
                voxel: self.voxels[lane],
                area: area.0[lane] * plane.area_ratio,
                weights: plane.weights([u.0[lane], v.0[lane]]),
            });
        }
    }
}

/// The projected area of each part, and its centroid, in voxels from the minimum corner of the
/// brick.
#[inline(always)]
fn integrate(mut corners: [[Lanes; 3]; 3], lowest: &[Lanes; 3]) -> (Lanes, [Lanes; 2]) {
    for corner in &mut corners {
        for (c, &lowest) in corner.iter_mut().zip(lowest) {
            *c = *c - lowest;
        }
    }
    let [us, vs] = slab(corners);
    let mut sums = Moments::default();
    for from in 0..5 {
        let to = if from == 4 { 0 } else { from + 1 };
        sums.add_edge([us[from], vs[from]], [us[to], vs[to]]);
    }
    let (u, v) = (mean(sums.u, sums.area, us), mean(sums.v, sums.area, vs));
    // The areas of clockwise polygons are negative.
    (sums.area.abs(), [u + lowest[0], v + lowest[1]])
}

/// A projected area, in voxel faces, below which it may be a rounding error: corners are off by
/// `2^-29`, and a polygon in a square is at most 4 long.
const LEAST_AREA: f64 = 1.0 / (1 << 27) as f64;

#[inline(always)]
fn clamped(c: Lanes) -> Lanes {
    c.max(Lanes::default()).min(Lanes::splat(1.0))
}

/// The mean of a coordinate over a polygon: its moment by its area. A polygon without area has the
/// mean of its clamped corners.
#[inline(always)]
fn mean(moment: Lanes, area: Lanes, corners: [Lanes; 5]) -> Lanes {
    let mut mean = Lanes::default();
    for corner in corners {
        mean = mean + clamped(corner) * Lanes::splat(0.2);
    }
    Lanes::splat(LEAST_AREA).select_below(area.abs(), clamped(moment / area), mean)
}

#[inline(always)]
fn between(c: Lanes, a: Lanes, b: Lanes) -> Lanes {
    c.max(a.min(b)).min(a.max(b))
}

/// The polygon of the triangle `a b c`, sorted along `w`, between the planes 0 and 1 of `w`: its
/// corners along `u` and along `v`. They coincide for a triangle on one side of both planes.
#[inline(always)]
fn slab([a, b, c]: [[Lanes; 3]; 3]) -> [[Lanes; 5]; 2] {
    let one = Lanes::splat(1.0);
    let (bottom, top) = (between(Lanes::default(), a[2], c[2]), between(one, a[2], c[2]));
    // One by the height of each edge along `w`.
    let (ab, bc) = (one.ratio(b[2] - a[2]), one.ratio(c[2] - b[2]));
    let ac = one.ratio(c[2] - a[2]);
    // Shares of the edge from `a` to `c`.
    let from = (bottom - a[2]) * ac;
    // A triangle perpendicular to `w` is not divided.
    let to = a[2].select_below(c[2], (top - a[2]) * ac, one);
    let mut corners = [[Lanes::default(); 5]; 2];
    for (i, corners) in corners.iter_mut().enumerate() {
        let slopes = [(b[i] - a[i]) * ab, (c[i] - b[i]) * bc];
        let low = short_edge(bottom, b[2], b[i], slopes);
        let high = short_edge(top, b[2], b[i], slopes);
        let middle = b[2].select_below(bottom, low, top.select_below(b[2], high, b[i]));
        let long = c[i] - a[i];
        *corners = [a[i] + from * long, a[i] + to * long, high, middle, low];
    }
    corners
}

/// The point at `w` of the edges that meet in a corner at `corner_w`, with these slopes.
#[inline(always)]
fn short_edge(w: Lanes, corner_w: Lanes, corner: Lanes, [below, above]: [Lanes; 2]) -> Lanes {
    corner + (w - corner_w) * w.select_below(corner_w, below, above)
}

/// The integrals over the clamped boundary of polygons: the area, and those of `u` and `v` over it.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    area: Lanes,
    u: Lanes,
    v: Lanes,
}

impl Moments {
    /// Adds an edge, clamped to the unit square. Outside along `v` it is dropped: `dv` is 0 on the
    /// square's borders across `v`.
    #[inline(always)]
    fn add_edge(&mut self, [u0, v0]: [Lanes; 2], [u1, v1]: [Lanes; 2]) {
        let slope = (u1 - u0).ratio(v1 - v0);
        let (from, to) = (clamped(v0), clamped(v1));
        let leaves = between(u0 + (to - v0) * slope, u0, u1);
        self.add_row([between(u0 + (from - v0) * slope, u0, u1), from], [leaves, to]);
    }

    /// Adds an edge with `v` in the square: a segment on its border, a segment inside, and a
    /// segment on its border; some have no length.
    #[inline(always)]
    fn add_row(&mut self, [u0, v0]: [Lanes; 2], [u1, v1]: [Lanes; 2]) {
        let slope = (v1 - v0).ratio(u1 - u0);
        let (from, to) = (clamped(u0), clamped(u1));
        let enters = between(v0 + (from - u0) * slope, v0, v1);
        let leaves = between(v0 + (to - u0) * slope, v0, v1);
        self.add_segment([from, v0], [from, enters]);
        self.add_segment([from, enters], [to, leaves]);
        self.add_segment([to, leaves], [to, v1]);
    }

    /// Adds the integrals of `u`, `u^2 / 2` and `u v` by `dv`.
    #[inline(always)]
    fn add_segment(&mut self, [u0, v0]: [Lanes; 2], [u1, v1]: [Lanes; 2]) {
        let (dv, sum) = (v1 - v0, u0 + u1);
        let half = dv * Lanes::splat(0.5);
        let sixth = dv * Lanes::splat(1.0 / 6.0);
        self.area = self.area + half * sum;
        self.u = self.u + sixth * (sum * sum - u0 * u1);
        self.v = self.v + sixth * (u0 * v0 + u1 * v1 + sum * (v0 + v1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::FULL;
    use crate::predicate::InstructionSet;
    use crate::surface::color::clip::{ClipScratch, clip};
    use fastrand::Rng;
    use pulp::WithSimd;

    /// Divides a triangle among the voxels of a brick.
    #[derive(Clone, Copy)]
    struct Divide([[f64; 3]; 3]);

    impl WithSimd for Divide {
        type Output = Vec<Part>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let mut all = Vec::new();
            each_part(simd, [(0, FULL)].into_iter(), |_| self.0, |part| all.push(*part));
            all
        }
    }

    /// Some have corners and edges in the faces of voxels, lie in one, or are lines.
    fn triangle(rng: &mut Rng) -> [[f64; 3]; 3] {
        let unit = [1.0, 0.5, 1.0 / 256.0][rng.usize(0..3)];
        let size = [1.0, 3.0, 10.0, 1000.0, 100_000.0][rng.usize(0..5)];
        let base = [(); 3].map(|()| rng.f64() * 8.0);
        let mut corners = [(); 3].map(|()| base.map(|c| c + size * (rng.f64() - 0.5)));
        for corner in corners.as_flattened_mut() {
            *corner = (*corner / unit).round() * unit;
        }
        match rng.u32(0..8) {
            0 => (1..3).for_each(|i| corners[i][1] = corners[0][1]),
            1 => corners[2] = [0, 1, 2].map(|a| f64::midpoint(corners[0][a], corners[1][a])),
            _ => {}
        }
        corners
    }

    #[test]
    fn parts_have_the_areas_and_centroids_of_clipped_polygons_by_any_instructions() {
        let mut rng = Rng::with_seed(1);
        let sets = InstructionSet::available();
        for _ in 0..2000 {
            let corners = triangle(&mut rng);
            let plane = Plane::new(&corners);
            let mut expected = vec![None; 512];
            clip(&corners, [[0, 7]; 3], &mut ClipScratch::default(), |voxel, polygon| {
                let voxel = brick_slot(voxel.map(i32::cast_unsigned));
                expected[voxel] = Some((plane.area(polygon), plane.centroid(polygon)));
            });
            let first = sets[0].dispatch(Divide(corners));
            for part in &first {
                // Other voxels than those that the triangle touches are never asked for.
                let Some((area, centroid)) = expected[part.voxel] else { continue };
                let error = (part.area - area).abs();
                assert!(error < 1e-9, "{corners:?}, {}: {}, not {area}", part.voxel, part.area);
                if area > 1e-6 {
                    for (found, expected) in part.weights.into_iter().zip(centroid) {
                        let error = (found - expected).abs();
                        assert!(error < 1e-6, "{corners:?}, {}: {found} {expected}", part.voxel);
                    }
                }
            }
            for set in &sets {
                let others = set.dispatch(Divide(corners));
                for (part, other) in first.iter().zip(others) {
                    let same = (other.area, other.weights) == (part.area, part.weights);
                    assert!(same, "{}: {corners:?} {part:?} {other:?}", set.name());
                }
            }
        }
    }
}
