//! The distances of a brick's voxel centres to the triangles near it: in `f64`, with a bound of the
//! error, and exactly ([`exact`]) where the error leaves the rounding open.
//!
//! # The error
//! All coordinates are integers that differ by at most `2^24`. What is computed of an edge is exact
//! until its last division: the products of `(p - a) x e` and `(p - a) . e` are below `2^51`, and
//! `|p - a|^2` is as well. So are a triangle's normal `n`, and, in many cases, `n . (p - a)` and
//! the edge functions `(n x e) . (p - a)`. If they exceed `2^53`, they have an absolute error,
//! which with at most 18 roundings is below `2^-49 |n| d` and `2^-48 |n| |e| d`, where `d` is the
//! largest 1-norm of a `p - a` in the brick. The first moves the distance to the plane by `2^-49
//! d`. The second takes a point above the triangle for one beside it, or the reverse, only within
//! `2^-48 d` of the plane through the edge, where the distances to edge and triangle differ by no
//! more than that. Of a point beside the triangle only edges that it is beyond are looked at: the
//! nearest point is on one of them, as the triangle is convex. If an edge is missed within `2^-48
//! d` of its plane, the others are farther by at most twice that. A point that is found above the
//! triangle has the first two errors, one that is found beside it the last: each is within the
//! `slack` of `2^-47 d`. The squares, divisions and the root add less than 16 roundings.
//!
//! # Culling
//! A triangle is skipped in a row of voxels if its bounding box is farther from each of them than
//! what was found for that voxel, by a margin that exceeds all errors. So what is skipped is not
//! the nearest triangle of any voxel.

use pulp::{Arch, Simd, WithSimd};

use crate::base::lanes::{LANES, Lanes};
use crate::base::vector::{Vector, cross, dot, minus, times};
use crate::grid::{BRICK, Mask, set_bits};
use crate::lattice::{PlacedMesh, Triangle};
use crate::solid::distance::clusters::{Aabb, Clusters};
use crate::solid::distance::exact;
use crate::solid::distance::reach::Reach;

/// Relative error of a distance before it is rounded to `f32`, twice what is needed.
const RELATIVE: f64 = 1.0 / (1_u64 << 48) as f64;
/// Integers up to here are exact in `f64`.
const EXACT: f64 = (1_u64 << 53) as f64;
/// Rows are skipped only if they are farther than this from mattering, in voxels: more than any
/// error.
const MARGIN: f64 = 1.0 / (1 << 16) as f64;
/// The voxels of a row along `z`.
const _: () = assert!(LANES == BRICK as usize);
const ROWS: usize = LANES * LANES;
/// The positions of a row's voxels, in voxels.
const ALONG: Lanes = Lanes([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);

/// Squared distances in lattice units, by rows along `z`: row `8 x + y`.
pub(crate) struct Nearest {
    squared: [Lanes; ROWS],
    /// For each row, by `x` and then `y`, an upper bound of its squared distances.
    limits: [Lanes; LANES],
    /// A bit for each row that some triangle may have lowered.
    reached: u64,
    slack: f64,
}

/// The brick, and the width of the band.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brick {
    /// The centre of its first voxel, in lattice units.
    pub(crate) origin: [i32; 3],
    pub(crate) fraction_bits: u32,
    /// In voxels.
    pub(crate) width: f32,
}

/// A function that is linear in the position, at the brick's first voxel and per voxel.
#[derive(Debug, Clone, Copy)]
struct Linear {
    at: f64,
    step: Vector,
}

impl Linear {
    /// The dot product of `along` and a voxel's position; `at` is the position of the first voxel.
    #[inline(always)]
    fn product(along: Vector, at: Vector, spacing: f64) -> Self {
        Self { at: dot(along, at), step: times(along, spacing) }
    }

    #[inline(always)]
    fn at(&self, x: f64, y: f64) -> f64 {
        self.at + x * self.step[0] + y * self.step[1]
    }

    /// The values in the row at `x` and `y`, in voxels.
    #[inline(always)]
    fn row(&self, x: f64, y: f64) -> Lanes {
        Lanes::splat(self.at(x, y)) + ALONG * Lanes::splat(self.step[2])
    }
}

/// A triangle as seen from a brick.
struct Seen {
    /// The first voxel's centre from each corner.
    corners: [Vector; 3],
    /// `n . (p - a)`.
    height: Linear,
    /// 1 over the squared norm of the normal; 0 for a triangle without area.
    per_normal: f64,
    /// For each edge, above 0 on the triangle's side of it.
    inward: [Linear; 3],
    edges: [Edge; 3],
    slack: f64,
}

struct Edge {
    /// `(p - a) . e`.
    along: Linear,
    squared: f64,
    /// 1 over `squared`; 0 if that is.
    per_squared: f64,
    /// `(p - a) x e`.
    area: [Linear; 3],
}

impl Edge {
    /// The edge `side` from a corner, which is at `p` from the first voxel's centre.
    #[inline(always)]
    fn new(p: Vector, [x, y, z]: Vector, spacing: f64) -> Self {
        let squared = dot([x, y, z], [x, y, z]);
        let at = cross(p, [x, y, z]);
        Self {
            along: Linear::product([x, y, z], p, spacing),
            squared,
            per_squared: if squared > 0.0 { 1.0 / squared } else { 0.0 },
            area: [
                Linear { at: at[0], step: times([0.0, z, -y], spacing) },
                Linear { at: at[1], step: times([-z, 0.0, x], spacing) },
                Linear { at: at[2], step: times([y, -x, 0.0], spacing) },
            ],
        }
    }
}

#[inline(always)]
fn seen_from(origin: [i32; 3], corner: [i32; 3]) -> Vector {
    [
        f64::from(origin[0] - corner[0]),
        f64::from(origin[1] - corner[1]),
        f64::from(origin[2] - corner[2]),
    ]
}

#[inline(always)]
fn norm_1(v: Vector) -> f64 {
    v[0].abs() + v[1].abs() + v[2].abs()
}

#[inline(always)]
fn norm_max(v: Vector) -> f64 {
    v[0].abs().max(v[1].abs()).max(v[2].abs())
}

/// The triangles near a brick.
pub(crate) struct Near<'a> {
    pub(crate) mesh: &'a PlacedMesh,
    pub(crate) clusters: &'a Clusters,
    /// Clusters that the brick's reach meets.
    pub(crate) near: &'a [u32],
    pub(crate) reach: &'a Reach,
}

struct Task<'a> {
    nearest: &'a mut Nearest,
    near: &'a Near<'a>,
    brick: &'a Brick,
}

impl WithSimd for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { nearest, near: Near { mesh, clusters, near, reach }, brick } = self;
        let count = near.len();
        // Consecutive clusters are often close together. In a scattered order, the distances of
        // all voxels soon become small, and more triangles are culled.
        let stride = coprime_stride(count);
        let mut at = 0;
        for _ in 0..count {
            let cluster = near[at];
            at = (at + stride) % count;
            let triangles = clusters.triangles(cluster);
            let bounds = clusters.bounds(cluster);
            if triangles.len() > 1 && !nearest.is_near(&Gaps::new(bounds, brick)) {
                continue;
            }
            for &index in triangles {
                let triangle = mesh.triangle(index as usize);
                // Clusters of one triangle were tested before.
                if triangles.len() == 1 || reach.meets_triangle(&triangle) {
                    nearest.add(&triangle, brick);
                }
            }
        }
    }
}

/// The squared distances of a brick's voxels from a box, by axis; exact.
struct Gaps {
    axes: [Lanes; 3],
    least_z: Lanes,
}

impl Gaps {
    #[inline(always)]
    fn new(bounds: &Aabb, brick: &Brick) -> Self {
        let spacing = f64::from(1u32 << brick.fraction_bits);
        let mut axes = [Lanes::default(); 3];
        for (axis, squared) in axes.iter_mut().enumerate() {
            let lo = Lanes::splat(f64::from(bounds.lo[axis] - brick.origin[axis]));
            let hi = Lanes::splat(f64::from(bounds.hi[axis] - brick.origin[axis]));
            let at = ALONG * Lanes::splat(spacing);
            let gap = (lo - at).max(at - hi).max(Lanes::default());
            *squared = gap * gap;
        }
        Self { axes, least_z: Lanes::splat(axes[2].least()) }
    }

    /// Of the rows along `z` at `x`, by `y`.
    #[inline(always)]
    fn rows(&self, x: usize) -> Lanes {
        Lanes::splat(self.axes[0].0[x]) + self.axes[1] + self.least_z
    }

    /// Of the voxels of a row.
    #[inline(always)]
    fn voxels(&self, x: usize, y: usize) -> Lanes {
        Lanes::splat(self.axes[0].0[x] + self.axes[1].0[y]) + self.axes[2]
    }
}

impl Nearest {
    /// Of the triangles `near` the brick, where they are nearer than the width.
    pub(crate) fn of(arch: Arch, near: &Near, brick: &Brick) -> Self {
        let spacing = f64::from(1u32 << brick.fraction_bits);
        let most = (f64::from(brick.width) + MARGIN) * spacing;
        let most = Lanes::splat(most * most);
        let mut nearest =
            Self { squared: [most; ROWS], limits: [most; LANES], reached: 0, slack: 0.0 };
        arch.dispatch(Task { nearest: &mut nearest, near, brick });
        nearest
    }

    /// Whether what has these gaps may be nearer to a voxel than what was found.
    #[inline(always)]
    fn is_near(&self, gaps: &Gaps) -> bool {
        let mut is_near = false;
        for x in 0..LANES {
            is_near |= gaps.rows(x).bits_below(self.limits[x]) != 0;
        }
        is_near
    }

    #[inline(always)]
    fn add(&mut self, triangle: &Triangle, brick: &Brick) {
        let spacing = f64::from(1u32 << brick.fraction_bits);
        let gaps = Gaps::new(&Aabb::of(triangle), brick);
        let mut seen = None;
        for x in 0..LANES {
            let rows = gaps.rows(x).bits_below(self.limits[x]);
            for y in set_bits(rows.into()).map(|y| y as usize) {
                let squared = &mut self.squared[LANES * x + y];
                if gaps.voxels(x, y).bits_below(limit(*squared, spacing)) == 0 {
                    continue;
                }
                if seen.is_none() {
                    seen = Some(Seen::new(triangle, brick.origin, spacing));
                }
                let Some(seen) = &seen else { continue };
                let (fx, fy) = (x as f64, y as f64);
                if seen.height_of_row(fx, fy) > self.limits[x].0[y] {
                    continue;
                }
                self.reached |= 1 << (LANES * x + y);
                seen.lower(fx, fy, spacing, squared);
                self.limits[x].0[y] = limit(*squared, spacing).greatest();
                self.slack = self.slack.max(seen.slack);
            }
        }
    }

    /// Rounds the distances, and stores those of the voxels within the width in `values`, in the
    /// order of the mask.
    pub(crate) fn finish(
        &self,
        arch: Arch,
        near: &Near,
        brick: &Brick,
        values: &mut Vec<f32>,
    ) -> Mask {
        let mut mask = [0; 8];
        if self.reached == 0 {
            return mask;
        }
        for (row, squared) in self.squared.iter().enumerate() {
            if self.reached >> row & 1 == 0 {
                continue;
            }
            let (x, y) = (row / LANES, row % LANES);
            let bounds = arch.dispatch(Round { squared, slack: self.slack, brick });
            for (z, [least, most]) in bounds.into_iter().enumerate() {
                if least >= brick.width {
                    continue;
                }
                let rounded = if least == most {
                    least
                } else {
                    let at = [x, y, z].map(|i| (i as i32) << brick.fraction_bits);
                    let p = std::array::from_fn(|i| brick.origin[i] + at[i]);
                    exactly(near, p, brick.fraction_bits)
                };
                if rounded < brick.width {
                    mask[x] |= 1 << (LANES * y + z);
                    values.push(rounded);
                }
            }
        }
        mask
    }
}

/// Rounds the least and the largest distances that those of a row may be.
struct Round<'a> {
    squared: &'a Lanes,
    slack: f64,
    brick: &'a Brick,
}

impl WithSimd for Round<'_> {
    type Output = [[f32; 2]; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let per_unit = 1.0 / f64::from(1u32 << self.brick.fraction_bits);
        let slack = self.slack * per_unit;
        let distances = self.squared.sqrt().0.map(|distance| distance * per_unit);
        let least = distances.map(|d| (d * (1.0 - RELATIVE) - slack).max(0.0) as f32);
        let most = distances.map(|d| (d * (1.0 + RELATIVE) + slack) as f32);
        std::array::from_fn(|z| [least[z], most[z]])
    }
}

/// The rounded distance from `p` to the nearest triangle.
#[cold]
fn exactly(near: &Near, p: [i32; 3], fraction_bits: u32) -> f32 {
    let triangles = near.near.iter().flat_map(|&cluster| near.clusters.triangles(cluster));
    let distances = triangles.map(|&index| {
        let triangle = near.mesh.triangle(index as usize);
        exact::distance_to(p, &triangle, fraction_bits)
    });
    distances.fold(f32::INFINITY, f32::min)
}

impl Seen {
    #[inline(always)]
    fn new(triangle: &Triangle, origin: [i32; 3], spacing: f64) -> Self {
        let corners = [
            seen_from(origin, triangle[0]),
            seen_from(origin, triangle[1]),
            seen_from(origin, triangle[2]),
        ];
        let sides = [
            minus(corners[0], corners[1]),
            minus(corners[1], corners[2]),
            minus(corners[2], corners[0]),
        ];
        let normal = primitive(cross(sides[0], sides[1]));
        let squared = dot(normal, normal);
        let across = 3.0 * (LANES - 1) as f64 * spacing;
        let far = norm_1(corners[0]).max(norm_1(corners[1])).max(norm_1(corners[2])) + across;
        let longest = norm_max(sides[0]).max(norm_max(sides[1])).max(norm_max(sides[2]));
        // Both bound all partial sums as well.
        let largest = 2.0 * norm_max(normal) * longest.max(1.0) * far;
        let slack = if largest < EXACT { 0.0 } else { far / (1_u64 << 47) as f64 };
        Self {
            corners,
            height: Linear::product(normal, corners[0], spacing),
            per_normal: if squared > 0.0 { 1.0 / squared } else { 0.0 },
            inward: [
                Linear::product(cross(normal, sides[0]), corners[0], spacing),
                Linear::product(cross(normal, sides[1]), corners[1], spacing),
                Linear::product(cross(normal, sides[2]), corners[2], spacing),
            ],
            edges: [
                Edge::new(corners[0], sides[0], spacing),
                Edge::new(corners[1], sides[1], spacing),
                Edge::new(corners[2], sides[2], spacing),
            ],
            slack,
        }
    }

    /// A lower bound of the squared distances of the row at `x` and `y` from the plane.
    #[inline(always)]
    fn height_of_row(&self, x: f64, y: f64) -> f64 {
        let half = 0.5 * (LANES - 1) as f64 * self.height.step[2];
        let height = ((self.height.at(x, y) + half).abs() - half.abs()).max(0.0);
        height * height * self.per_normal
    }

    /// Lowers the squared distances of the row at `x` and `y`, in voxels, to this triangle's.
    #[inline(always)]
    fn lower(&self, x: f64, y: f64, spacing: f64, squared: &mut Lanes) {
        let zero = Lanes::default();
        let inward = [self.inward[0].row(x, y), self.inward[1].row(x, y), self.inward[2].row(x, y)];
        // The edges that a voxel of the row is beyond.
        let mut beyond = [true; 3];
        if self.per_normal > 0.0 {
            let height = self.height.row(x, y);
            let to_plane = height * height * Lanes::splat(self.per_normal);
            let least = inward[0].min(inward[1]).min(inward[2]);
            *squared = least.select_below(zero, *squared, squared.min(to_plane));
            beyond = [
                inward[0].bits_below(zero) != 0,
                inward[1].bits_below(zero) != 0,
                inward[2].bits_below(zero) != 0,
            ];
        }
        for (i, edge) in self.edges.iter().enumerate().filter(|&(i, _)| beyond[i]) {
            let along = edge.along.row(x, y);
            let area = [edge.area[0].row(x, y), edge.area[1].row(x, y)];
            // The component along z does not change with z.
            let area_z = Lanes::splat(edge.area[2].at(x, y));
            let area = area[0] * area[0] + area[1] * area[1] + area_z * area_z;
            let to_line = area * Lanes::splat(edge.per_squared);
            let to_end = self.to_corner((i + 1) % 3, x, y, spacing);
            let to_edge = along.select_below(Lanes::splat(edge.squared), to_line, to_end);
            let to_edge = zero.select_below(along, to_edge, self.to_corner(i, x, y, spacing));
            *squared = squared.min(to_edge);
        }
    }

    /// The squared distances of the row at `x` and `y` from a corner.
    #[inline(always)]
    fn to_corner(&self, corner: usize, x: f64, y: f64, spacing: f64) -> Lanes {
        let [px, py, pz] = self.corners[corner];
        let (px, py) = (px + x * spacing, py + y * spacing);
        let pz = Lanes::splat(pz) + ALONG * Lanes::splat(spacing);
        Lanes::splat(px * px + py * py) + pz * pz
    }
}

/// Squared distances with the margin: beyond these, triangles are culled.
#[inline(always)]
fn limit(squared: Lanes, spacing: f64) -> Lanes {
    squared * Lanes::splat(1.0 + MARGIN) + Lanes::splat(MARGIN * MARGIN * spacing * spacing)
}

/// A number coprime to `count`, near its golden section: its multiples modulo `count` are all
/// indices, evenly scattered.
fn coprime_stride(count: usize) -> usize {
    let greatest_common_divisor = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let near = (count as f64 * 0.618) as usize;
    (near.max(1)..).find(|&stride| greatest_common_divisor(stride, count) == 1).unwrap_or(1)
}

/// `normal` divided by its length if it lies along an axis, otherwise by a power of two: integers
/// still, and smaller.
#[inline(always)]
fn primitive(normal: Vector) -> Vector {
    let [x, y, z] = [normal[0] as i64, normal[1] as i64, normal[2] as i64];
    let (x, y, z) = (x.unsigned_abs(), y.unsigned_abs(), z.unsigned_abs());
    let is_axis = u32::from(x > 0) + u32::from(y > 0) + u32::from(z > 0) == 1;
    let bits = x | y | z;
    let divisor = if is_axis { bits } else { 1 << (bits | 1 << 62).trailing_zeros() };
    let divisor = divisor as f64;
    [normal[0] / divisor, normal[1] / divisor, normal[2] / divisor]
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    fn any_triangle(rng: &mut Rng, within: i32) -> Triangle {
        [(); 3].map(|()| [(); 3].map(|()| rng.i32(-within..=within)))
    }

    /// The centre of the voxel at `x`, `y` and `z`.
    fn center(origin: [i32; 3], spacing: i32, voxel: [usize; 3]) -> [i32; 3] {
        [0, 1, 2].map(|a| origin[a] + voxel[a] as i32 * spacing)
    }

    #[test]
    fn gaps_are_the_squared_distances_of_voxels_from_a_box() {
        let mut rng = Rng::with_seed(61);
        for _ in 0..100 {
            let fraction_bits = rng.u32(4..8);
            let brick =
                Brick { origin: [(); 3].map(|()| rng.i32(-999..999)), fraction_bits, width: 3.0 };
            let bounds = Aabb::of(&any_triangle(&mut rng, 2000));
            let gaps = Gaps::new(&bounds, &brick);
            for (x, y) in (0..LANES).flat_map(|x| (0..LANES).map(move |y| (x, y))) {
                let expected: [f64; LANES] = std::array::from_fn(|z| {
                    let at = center(brick.origin, 1 << fraction_bits, [x, y, z]);
                    bounds.nearest_squared(&Aabb { lo: at, hi: at }) as f64
                });
                assert_eq!(gaps.voxels(x, y).0, expected);
                assert_eq!(gaps.rows(x).0[y], Lanes(expected).least());
            }
        }
    }

    #[test]
    fn heights_of_rows_are_those_of_their_nearest_points() {
        let mut rng = Rng::with_seed(62);
        let mut counts = [0; 2];
        for _ in 0..1000 {
            let (triangle, spacing) = (any_triangle(&mut rng, 300), 16);
            let origin = [(); 3].map(|()| rng.i32(-300..300));
            let seen = Seen::new(&triangle, origin, f64::from(spacing));
            let (x, y) = (rng.usize(0..LANES), rng.usize(0..LANES));
            let [a, b, c] = triangle.map(|corner| corner.map(f64::from));
            let normal = cross(minus(b, a), minus(c, a));
            let ends = [0, LANES - 1]
                .map(|z| dot(normal, minus(center(origin, spacing, [x, y, z]).map(f64::from), a)));
            let crosses = ends[0] * ends[1] <= 0.0;
            let nearest = if crosses { 0.0 } else { ends[0].abs().min(ends[1].abs()) };
            let expected = nearest * nearest / dot(normal, normal);
            let found = seen.height_of_row(x as f64, y as f64);
            assert!((found - expected).abs() <= 1e-9 * expected.max(1.0), "{found}, {expected}");
            counts[usize::from(crosses)] += 1;
        }
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
    }

    #[test]
    fn normals_are_divided_into_smaller_integers() {
        let mut rng = Rng::with_seed(63);
        for _ in 0..10_000 {
            let bits = rng.u32(0..20);
            let any = |rng: &mut Rng| (i64::from(rng.i32(-40..40)) * i64::from(rng.bool())) << bits;
            let normal = [(); 3].map(|()| any(&mut rng));
            let found = primitive(normal.map(|c| c as f64));
            assert!(found.iter().all(|c| c.fract() == 0.0), "{normal:?}: {found:?}");
            let parts = normal.iter().filter(|&&c| c != 0).count();
            let times = [0, 1, 2].map(|a| normal[a] as f64 / found[a]);
            let times: Vec<f64> = times.into_iter().filter(|times| !times.is_nan()).collect();
            assert!(times.len() == parts && times.iter().all(|&t| t == times[0]), "{normal:?}");
            match parts {
                0 => assert_eq!(found, [0.0; 3]),
                1 => assert_eq!(norm_1(found), 1.0),
                _ => assert!(found.iter().any(|c| c % 2.0 != 0.0), "{normal:?}: {found:?}"),
            }
        }
    }

    #[test]
    fn strides_reach_all_indices_and_are_near_the_golden_section() {
        assert_eq!(coprime_stride(1), 1);
        for count in 2..2000 {
            let stride = coprime_stride(count);
            let mut is_reached = vec![false; count];
            (0..count).for_each(|i| is_reached[i * stride % count] = true);
            assert!(is_reached.iter().all(|&is| is), "{stride} of {count}");
            let off = stride as f64 - 0.618 * count as f64;
            assert!(off > -1.0 && off < 12.0, "{stride} of {count}");
        }
    }

    #[test]
    fn limits_exceed_squares_by_their_margin() {
        for fraction_bits in 4..=16 {
            let spacing = f64::from(1 << fraction_bits);
            let at =
                |distance: f64| limit(Lanes::splat((distance * spacing).powi(2)), spacing).0[0];
            assert_eq!(at(0.0), (MARGIN * spacing).powi(2));
            for distance in [1e-6, 1e-3, 0.1, 1.0, 1000.0] {
                let least = (distance * spacing).powi(2) * (1.0 + MARGIN);
                assert!(at(distance) > least, "{distance}");
                assert!(at(distance) <= least + 2.0 * at(0.0), "{distance}");
            }
        }
    }

    #[test]
    fn a_distance_rounds_either_way_within_its_error_of_the_middle_of_two_floats() {
        let mut rng = Rng::with_seed(64);
        let brick = Brick { origin: [0; 3], fraction_bits: 4, width: 3.0 };
        for _ in 0..1000 {
            let float = 1.0 + 900.0 * rng.f32();
            let next = float.next_up();
            let middle = f64::midpoint(float.into(), next.into());
            let round = |distance: f64, slack: f64| {
                let squared = Lanes::splat((16.0 * distance).powi(2));
                Arch::new().dispatch(Round { squared: &squared, slack, brick: &brick })[7]
            };
            // The slack is in lattice units.
            let (slack, relative) = (16.0 * 2_f64.powi(-30), 2_f64.powi(-50));
            for sign in [-1.0, 1.0] {
                let beside = if sign < 0.0 { float } else { next };
                assert_eq!(round(middle * (1.0 + sign * relative), 0.0), [float, next]);
                assert_eq!(round(middle * (1.0 + 64.0 * sign * relative), 0.0), [beside; 2]);
                assert_eq!(round(middle + sign * slack / 32.0, slack), [float, next]);
                assert_eq!(round(middle + sign * slack / 8.0, slack), [beside; 2]);
            }
            assert_eq!(round(0.0, slack)[0], 0.0);
        }
    }

    #[test]
    fn the_slack_follows_from_the_farthest_corner_and_is_0_if_all_is_exact() {
        let mut rng = Rng::with_seed(65);
        for _ in 0..1000 {
            let (triangle, spacing) = (any_triangle(&mut rng, 1 << 22), 1 << 12);
            let origin = [(); 3].map(|()| rng.i32(-(1 << 22)..1 << 22));
            let ends = (0..8).map(|i| [0, 1, 2].map(|a| (i >> a & 1) * (LANES - 1)));
            let norms = ends.flat_map(|end| {
                let p = center(origin, spacing, end);
                triangle.map(|corner| norm_1(seen_from(p, corner)))
            });
            let farthest = norms.fold(0.0, f64::max);
            let slack = Seen::new(&triangle, origin, f64::from(spacing)).slack;
            let bound = slack * 2_f64.powi(47);
            let across = 6.0 * (LANES as f64) * f64::from(spacing);
            assert!((farthest..farthest + across).contains(&bound), "{bound}, {farthest}");
            let triangle = triangle.map(|corner| corner.map(|c| c >> 14));
            assert_eq!(Seen::new(&triangle, origin.map(|c| c >> 14), 16.0).slack, 0.0);
        }
        assert_eq!((norm_1([-1.0, 2.0, -4.0]), norm_max([-1.0, 2.0, -4.0])), (7.0, 4.0));
    }
}
