//! The distances of a brick's voxel centres to the triangles near it: in `f64` with an error bound,
//! and exactly ([`exact`]) if the bound admits two roundings to `f32`.
//!
//! # The error
//! All coordinates are integers that differ by at most `2^24`. The terms of an edge are exact
//! before the division: the products of `(p - a) x e` and `(p - a) . e` are below `2^51`, and `|p -
//! a|^2` is as well. So are a triangle's normal `n`, and, in many cases, `n . (p - a)` and the edge
//! functions `(n x e) . (p - a)`. If they exceed `2^53`, they have an absolute error, which with at
//! most 19 roundings is below `2^-49 |n| d` and `2^-48 |n| |e| d`, where `d` is the largest 1-norm
//! of a `p - a` in the brick. The first moves the distance to the plane by `2^-49 d`. An edge
//! function is lowered by the bound of its error, so that it is negative for each point beside the
//! triangle, even beyond an acute corner, where the planes of two edges are near and the triangle
//! is not. The edges tested are those with a function below twice its error. The nearest point of
//! a point beside the triangle is on one of them, as the triangle is convex, and its distance has
//! no absolute error. A point above the triangle may have a negative function too. Then it is
//! within `2^-47 d` of the plane of an edge, so of the edge nearest to it, whose function is below
//! twice its error: the distances to this edge and to the triangle differ by at most `2^-47 d`,
//! which is the `absolute_error`. The squares, divisions and the root add less than 16 roundings.
//!
//! # Culling
//! A triangle is culled in a row of voxels if its bounding box is farther from each of them than
//! the distance found so far, by a margin above all errors. So a culled triangle is not the nearest
//! of any voxel.

use pulp::{Simd, WithSimd};

use crate::base::lanes::{LANES, Lanes};
use crate::base::vector::{Vector, cross, dot, minus, norm, times};
use crate::grid::{BRICK, Mask, set_bits};
use crate::lattice::{Aabb, PlacedMesh, Triangle};
use crate::solid::distance::clusters::Clusters;
use crate::solid::distance::distance_bound::{DistanceBound, MARGIN, vector};
use crate::solid::distance::exact;

/// Relative error bound of a distance before it is rounded to `f32`, with a factor of 2 to spare.
const RELATIVE_ERROR: f64 = 1.0 / (1_u64 << 48) as f64;
/// All integers up to this one are exact in `f64`.
const MAX_EXACT_INTEGER: f64 = (1_u64 << 53) as f64;
/// The voxels of a row along `z`.
const _: () = assert!(LANES == BRICK as usize);
const ROWS: usize = LANES * LANES;
/// The `z` of a row's voxels, in voxels.
const ROW_Z: Lanes = Lanes([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);

/// Squared distances in lattice units, by rows along `z`: row `8 x + y`.
pub(crate) struct BrickDistances {
    squared: [Lanes; ROWS],
    /// For each row, by `x` and then `y`, an upper bound of its squared distances with the margin.
    cull_limits: [Lanes; LANES],
    /// A bit for each row with a triangle that was not culled.
    updated_rows: u64,
    /// The absolute error bound of a distance, in lattice units.
    absolute_error: f64,
}

/// A brick and the triangles near it. Dispatched, it returns the mask of the voxels nearer than the
/// width, and their rounded distances in the same order.
pub(crate) struct Brick<'a> {
    pub(crate) mesh: &'a PlacedMesh,
    pub(crate) clusters: &'a Clusters,
    /// The clusters within `bound` of the brick.
    pub(crate) near: &'a [u32],
    pub(crate) bound: &'a DistanceBound,
    /// The centre of its first voxel, in lattice units.
    pub(crate) origin: [i32; 3],
    pub(crate) fraction_bits: u32,
    /// The width of the band, in voxels.
    pub(crate) width: f32,
    /// Its voxels in the grid.
    pub(crate) in_grid: Mask,
}

impl WithSimd for Brick<'_> {
    type Output = (Mask, Vec<f32>);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (Mask, Vec<f32>) {
        BrickDistances::of(&self).rounded(&self)
    }
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
    fn lowered(self, by: f64) -> Self {
        Self { at: self.at - by, step: self.step }
    }

    #[inline(always)]
    fn at(&self, x: f64, y: f64) -> f64 {
        self.at + x * self.step[0] + y * self.step[1]
    }

    /// The values in the row at `x` and `y`, which are in voxels.
    #[inline(always)]
    fn row(&self, x: f64, y: f64) -> Lanes {
        Lanes::splat(self.at(x, y)) + ROW_Z * Lanes::splat(self.step[2])
    }
}

/// A triangle relative to a brick: vectors to the centre of its first voxel, and linear functions
/// of the voxel's position.
struct TriangleFromBrick {
    /// From each corner to the first voxel's centre.
    corners: [Vector; 3],
    /// `n . (p - a)`.
    height: Linear,
    /// 1 over the squared norm of the normal; 0 for a triangle without area.
    per_squared_normal: f64,
    /// The edge functions `(n x e) . (p - a)` less their error: negative beside the triangle.
    inward: [Linear; 3],
    /// The errors of the edge functions.
    errors: [f64; 3],
    edges: [Edge; 3],
    /// The absolute error bound of a distance, in lattice units.
    absolute_error: f64,
}

struct Edge {
    /// `(p - a) . e`.
    along: Linear,
    squared: f64,
    /// `1 / squared`; 0 for length 0.
    per_squared: f64,
    /// `(p - a) x e`.
    area: [Linear; 3],
}

impl Edge {
    /// The edge `(x, y, z)`; `p` is the first voxel's centre relative to its start.
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
fn norm_1(v: Vector) -> f64 {
    v[0].abs() + v[1].abs() + v[2].abs()
}

#[inline(always)]
fn norm_max(v: Vector) -> f64 {
    v[0].abs().max(v[1].abs()).max(v[2].abs())
}

/// The squared distances of a brick's voxels from a box, by axis, in lattice units; exact.
struct BoxGaps {
    axes: [Lanes; 3],
    min_z: Lanes,
}

impl BoxGaps {
    #[inline(always)]
    fn new(bounds: &Aabb, brick: &Brick) -> Self {
        let spacing = f64::from(1u32 << brick.fraction_bits);
        let mut axes = [Lanes::default(); 3];
        for (axis, squared) in axes.iter_mut().enumerate() {
            let lo = Lanes::splat(f64::from(bounds.lo[axis] - brick.origin[axis]));
            let hi = Lanes::splat(f64::from(bounds.hi[axis] - brick.origin[axis]));
            let at = ROW_Z * Lanes::splat(spacing);
            let gap = (lo - at).max(at - hi).max(Lanes::default());
            *squared = gap * gap;
        }
        Self { axes, min_z: Lanes::splat(axes[2].least()) }
    }

    /// The squared distances of the rows at `x`, by `y`.
    #[inline(always)]
    fn rows(&self, x: usize) -> Lanes {
        Lanes::splat(self.axes[0].0[x]) + self.axes[1] + self.min_z
    }

    /// The squared distances of the voxels of a row.
    #[inline(always)]
    fn voxels(&self, x: usize, y: usize) -> Lanes {
        Lanes::splat(self.axes[0].0[x] + self.axes[1].0[y]) + self.axes[2]
    }
}

impl BrickDistances {
    /// The distances to the triangles near the brick, at most the width and the margin.
    #[inline(always)]
    fn of(brick: &Brick) -> Self {
        let spacing = f64::from(1u32 << brick.fraction_bits);
        let max_distance = (f64::from(brick.width) + MARGIN) * spacing;
        let max_squared = Lanes::splat(max_distance * max_distance);
        let mut distances = Self {
            squared: [max_squared; ROWS],
            cull_limits: [max_squared; LANES],
            updated_rows: 0,
            absolute_error: 0.0,
        };
        let &Brick { mesh, clusters, near, bound, .. } = brick;
        let count = near.len();
        // Consecutive clusters are neighbours. A scattered order lowers all distances early, and
        // more triangles are culled.
        let stride = coprime_stride(count);
        let mut at = 0;
        for _ in 0..count {
            let cluster = near[at];
            at = (at + stride) % count;
            let triangles = clusters.triangles(cluster);
            let bounds = clusters.bounds(cluster);
            if triangles.len() > 1 && !distances.may_improve(&BoxGaps::new(bounds, brick)) {
                continue;
            }
            for &index in triangles {
                let triangle = mesh.triangle(index as usize);
                // Clusters of one triangle have passed this test.
                if triangles.len() == 1 || bound.admits_triangle(&triangle) {
                    distances.lower(&triangle, brick);
                }
            }
        }
        distances
    }

    /// Whether a triangle in a box with these gaps could lower a distance.
    #[inline(always)]
    fn may_improve(&self, gaps: &BoxGaps) -> bool {
        let mut may_improve = false;
        for x in 0..LANES {
            may_improve |= gaps.rows(x).bits_below(self.cull_limits[x]) != 0;
        }
        may_improve
    }

    /// Lowers the distances to those of a triangle.
    #[inline(always)]
    fn lower(&mut self, triangle: &Triangle, brick: &Brick) {
        let spacing = f64::from(1u32 << brick.fraction_bits);
        let gaps = BoxGaps::new(&Aabb::of(triangle), brick);
        // Computed for the first row that is not culled.
        let mut relative = None;
        for x in 0..LANES {
            let rows = gaps.rows(x).bits_below(self.cull_limits[x]);
            for y in set_bits(rows.into()).map(|y| y as usize) {
                let squared = &mut self.squared[LANES * x + y];
                if gaps.voxels(x, y).bits_below(with_margin(*squared, spacing)) == 0 {
                    continue;
                }
                if relative.is_none() {
                    relative = Some(TriangleFromBrick::new(triangle, brick.origin, spacing));
                }
                let Some(relative) = &relative else { continue };
                let (fx, fy) = (x as f64, y as f64);
                if relative.plane_distance_squared(fx, fy) > self.cull_limits[x].0[y] {
                    continue;
                }
                self.updated_rows |= 1 << (LANES * x + y);
                relative.lower(fx, fy, spacing, squared);
                self.cull_limits[x].0[y] = with_margin(*squared, spacing).greatest();
                self.absolute_error = self.absolute_error.max(relative.absolute_error);
            }
        }
    }

    /// The distances below the width, rounded.
    #[inline(always)]
    fn rounded(&self, brick: &Brick) -> (Mask, Vec<f32>) {
        let (mut mask, mut values) = ([0; 8], Vec::new());
        for (row, squared) in self.squared.iter().enumerate() {
            if self.updated_rows >> row & 1 == 0 {
                continue;
            }
            let (x, y) = (row / LANES, row % LANES);
            let [least, most] = rounded_bounds(squared, self.absolute_error, brick.fraction_bits);
            for z in 0..LANES {
                let bit = LANES * y + z;
                if least[z] >= brick.width || brick.in_grid[x] >> bit & 1 == 0 {
                    continue;
                }
                let rounded = if least[z] == most[z] {
                    least[z]
                } else {
                    let at = [x, y, z].map(|i| (i as i32) << brick.fraction_bits);
                    let p = std::array::from_fn(|i| brick.origin[i] + at[i]);
                    exact_distance(brick, p)
                };
                if rounded < brick.width {
                    mask[x] |= 1 << bit;
                    values.push(rounded);
                }
            }
        }
        (mask, values)
    }
}

/// Each distance of a row minus and plus its error bound, rounded to `f32`, in voxels; equal
/// results need no exact distance. `absolute_error` is in lattice units.
#[inline(always)]
fn rounded_bounds(squared: &Lanes, absolute_error: f64, fraction_bits: u32) -> [[f32; LANES]; 2] {
    let per_unit = 1.0 / f64::from(1u32 << fraction_bits);
    let absolute = absolute_error * per_unit;
    let distances = squared.sqrt().0;
    let (mut least, mut most) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let distance = distances[lane] * per_unit;
        least[lane] = (distance * (1.0 - RELATIVE_ERROR) - absolute).max(0.0) as f32;
        most[lane] = (distance * (1.0 + RELATIVE_ERROR) + absolute) as f32;
    }
    [least, most]
}

/// The exact distance from `p` to the nearest triangle, rounded.
#[cold]
fn exact_distance(brick: &Brick, p: [i32; 3]) -> f32 {
    let triangles = brick.near.iter().flat_map(|&cluster| brick.clusters.triangles(cluster));
    let distances = triangles.map(|&index| {
        let triangle = brick.mesh.triangle(index as usize);
        exact::distance_to(p, &triangle, brick.fraction_bits)
    });
    distances.fold(f32::INFINITY, f32::min)
}

impl TriangleFromBrick {
    #[inline(always)]
    fn new(triangle: &Triangle, origin: [i32; 3], spacing: f64) -> Self {
        let corners = [
            vector(minus(origin, triangle[0])),
            vector(minus(origin, triangle[1])),
            vector(minus(origin, triangle[2])),
        ];
        let sides = [
            minus(corners[0], corners[1]),
            minus(corners[1], corners[2]),
            minus(corners[2], corners[0]),
        ];
        let normal = shortened(cross(sides[0], sides[1]));
        let squared = dot(normal, normal);
        let extent = 3.0 * (LANES - 1) as f64 * spacing;
        let far = norm_1(corners[0]).max(norm_1(corners[1])).max(norm_1(corners[2])) + extent;
        let longest = norm_max(sides[0]).max(norm_max(sides[1])).max(norm_max(sides[2]));
        // Both bound all partial sums as well.
        let largest = 2.0 * norm_max(normal) * longest.max(1.0) * far;
        let error = if largest < MAX_EXACT_INTEGER { 0.0 } else { far / (1_u64 << 48) as f64 };
        let across = [cross(normal, sides[0]), cross(normal, sides[1]), cross(normal, sides[2])];
        let errors = [error * norm(across[0]), error * norm(across[1]), error * norm(across[2])];
        Self {
            corners,
            height: Linear::product(normal, corners[0], spacing),
            per_squared_normal: if squared > 0.0 { 1.0 / squared } else { 0.0 },
            inward: [
                Linear::product(across[0], corners[0], spacing).lowered(errors[0]),
                Linear::product(across[1], corners[1], spacing).lowered(errors[1]),
                Linear::product(across[2], corners[2], spacing).lowered(errors[2]),
            ],
            errors,
            edges: [
                Edge::new(corners[0], sides[0], spacing),
                Edge::new(corners[1], sides[1], spacing),
                Edge::new(corners[2], sides[2], spacing),
            ],
            absolute_error: 2.0 * error,
        }
    }

    /// A lower bound of the squared distances of the row at `x` and `y` from the plane.
    #[inline(always)]
    fn plane_distance_squared(&self, x: f64, y: f64) -> f64 {
        let half = 0.5 * (LANES - 1) as f64 * self.height.step[2];
        let height = ((self.height.at(x, y) + half).abs() - half.abs()).max(0.0);
        height * height * self.per_squared_normal
    }

    /// Lowers the squared distances of the row at `x` and `y`, in voxels, to this triangle's.
    #[inline(always)]
    fn lower(&self, x: f64, y: f64, spacing: f64, squared: &mut Lanes) {
        let zero = Lanes::default();
        let inward = [self.inward[0].row(x, y), self.inward[1].row(x, y), self.inward[2].row(x, y)];
        // The edges with a voxel of the row on their outer side, or in doubt.
        let mut beyond = [true; 3];
        if self.per_squared_normal > 0.0 {
            let height = self.height.row(x, y);
            let to_plane = height * height * Lanes::splat(self.per_squared_normal);
            let least = inward[0].min(inward[1]).min(inward[2]);
            *squared = least.select_below(zero, *squared, squared.min(to_plane));
            beyond = [
                inward[0].bits_below(Lanes::splat(2.0 * self.errors[0])) != 0,
                inward[1].bits_below(Lanes::splat(2.0 * self.errors[1])) != 0,
                inward[2].bits_below(Lanes::splat(2.0 * self.errors[2])) != 0,
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
        let pz = Lanes::splat(pz) + ROW_Z * Lanes::splat(spacing);
        Lanes::splat(px * px + py * py) + pz * pz
    }
}

/// Squared distances with the margin of culling.
#[inline(always)]
fn with_margin(squared: Lanes, spacing: f64) -> Lanes {
    squared * Lanes::splat(1.0 + MARGIN) + Lanes::splat(MARGIN * MARGIN * spacing * spacing)
}

/// A number coprime to `count`, near its golden section: its multiples modulo `count` are a
/// permutation of the indices with low discrepancy.
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

/// `normal` divided by its length if it is parallel to an axis, otherwise by the largest power of
/// two that divides all components: smaller integers.
#[inline(always)]
fn shortened(normal: Vector) -> Vector {
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
    fn normals_are_divided_into_smaller_integers() {
        let mut rng = Rng::with_seed(63);
        for _ in 0..10_000 {
            let bits = rng.u32(0..20);
            let any = |rng: &mut Rng| (i64::from(rng.i32(-40..40)) * i64::from(rng.bool())) << bits;
            let normal = [(); 3].map(|()| any(&mut rng));
            let found = shortened(normal.map(|c| c as f64));
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
    fn limits_exceed_squares_by_their_margin() {
        for fraction_bits in 4..=16 {
            let spacing = f64::from(1 << fraction_bits);
            let at = |distance: f64| {
                with_margin(Lanes::splat((distance * spacing).powi(2)), spacing).0[0]
            };
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
        for _ in 0..1000 {
            let float = 1.0 + 900.0 * rng.f32();
            let next = float.next_up();
            let middle = f64::midpoint(float.into(), next.into());
            let round = |distance: f64, absolute_error: f64| {
                let squared = Lanes::splat((16.0 * distance).powi(2));
                rounded_bounds(&squared, absolute_error, 4).map(|of_row| of_row[7])
            };
            // In lattice units.
            let (absolute, relative) = (16.0 * 2_f64.powi(-30), 2_f64.powi(-50));
            for sign in [-1.0, 1.0] {
                let beside = if sign < 0.0 { float } else { next };
                assert_eq!(round(middle * (1.0 + sign * relative), 0.0), [float, next]);
                assert_eq!(round(middle * (1.0 + 64.0 * sign * relative), 0.0), [beside; 2]);
                assert_eq!(round(middle + sign * absolute / 32.0, absolute), [float, next]);
                assert_eq!(round(middle + sign * absolute / 8.0, absolute), [beside; 2]);
            }
            assert_eq!(round(0.0, absolute)[0], 0.0);
        }
    }

    #[test]
    fn edge_functions_are_below_their_exact_values_by_at_most_twice_their_error() {
        let mut rng = Rng::with_seed(66);
        let int = |v: Vector| v.map(|c| c as i128);
        let mut inexact = 0;
        for _ in 0..2000 {
            let (within, spacing) = (1 << rng.u32(10..23), 1 << 12);
            let mut triangle = any_triangle(&mut rng, within);
            // Half of them are needles.
            if rng.bool() {
                triangle[2] = triangle[1].map(|c| c + rng.i32(-2..=2));
            }
            let origin = [(); 3].map(|()| rng.i32(-within..within));
            let relative = TriangleFromBrick::new(&triangle, origin, f64::from(spacing));
            let [a, b, c] = triangle.map(|corner| corner.map(f64::from));
            let normal = int(shortened(cross(minus(b, a), minus(c, a))));
            for (i, edge) in [minus(b, a), minus(c, b), minus(a, c)].into_iter().enumerate() {
                let across = cross(normal, int(edge));
                let length = norm(across.map(|c| c as f64));
                let voxel = [(); 3].map(|()| rng.usize(0..LANES));
                let p = center(origin, spacing, voxel);
                let exact = dot(across, minus(p, triangle[i]).map(i128::from));
                let found = relative.inward[i].row(voxel[0] as f64, voxel[1] as f64).0[voxel[2]];
                let floor = found.floor();
                let below = (exact - floor as i128) as f64 - (found - floor);
                let bound = relative.absolute_error * length;
                assert!((0.0..=bound).contains(&below), "{triangle:?}, {p:?}: {below}, {bound}");
                inexact += u32::from(bound > 0.0);
            }
        }
        assert!((1000..5000).contains(&inexact), "{inexact}");
    }

    #[test]
    fn the_absolute_error_follows_from_the_farthest_corner_and_is_0_if_all_is_exact() {
        let mut rng = Rng::with_seed(65);
        for _ in 0..1000 {
            let (triangle, spacing) = (any_triangle(&mut rng, 1 << 22), 1 << 12);
            let origin = [(); 3].map(|()| rng.i32(-(1 << 22)..1 << 22));
            let ends = (0..8).map(|i| [0, 1, 2].map(|a| (i >> a & 1) * (LANES - 1)));
            let norms = ends.flat_map(|end| {
                let p = center(origin, spacing, end);
                triangle.map(|corner| norm_1(vector(minus(p, corner))))
            });
            let farthest = norms.fold(0.0, f64::max);
            let error =
                TriangleFromBrick::new(&triangle, origin, f64::from(spacing)).absolute_error;
            let bound = error * 2_f64.powi(47);
            let across = 6.0 * (LANES as f64) * f64::from(spacing);
            assert!((farthest..farthest + across).contains(&bound), "{bound}, {farthest}");
            let triangle = triangle.map(|corner| corner.map(|c| c >> 14));
            assert_eq!(
                TriangleFromBrick::new(&triangle, origin.map(|c| c >> 14), 16.0).absolute_error,
                0.0
            );
        }
        assert_eq!((norm_1([-1.0, 2.0, -4.0]), norm_max([-1.0, 2.0, -4.0])), (7.0, 4.0));
    }
}
