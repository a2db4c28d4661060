//! The distances of a brick's voxel centres to the triangles near it: in `f64`, with a bound of the
//! error, and exactly ([`exact`]) where the error leaves the rounding open.
//!
//! # The error
//! All coordinates are integers that differ by at most `2^24`. What is computed of an edge is exact
//! until its last division: the products of `(p - a) x e` and `(p - a) . e` are below `2^51`, and
//! `|p - a|^2` is as well. So are a triangle's normal `n`, and, in many cases, `n . (p - a)` and
//! the edge functions `(n x e) . (p - a)`. If they exceed `2^53`, they have an absolute error,
//! which with at most 18 roundings is below `2^-49 |n| d` and `2^-48 |n| |e| d`, where `d` is the
//! largest 1-norm of a `p - a` in the brick. The first moves the distance to the plane by
//! `2^-49 d`. The second takes a point above the triangle for one beside it, or the reverse, only
//! within `2^-48 d` of the plane through the edge, where the distances to edge and triangle differ
//! by no more than that. Of a point beside the triangle only edges that it is beyond are looked at:
//! the nearest point is on one of them, as the triangle is convex. If an edge is missed within
//! `2^-48 d` of its plane, the others are farther by at most twice that. All together are the
//! `slack`. The squares, divisions and the root add less than 16 roundings.

use pulp::{Arch, Simd, WithSimd};

use crate::distance::Pair;
use crate::distance::exact;
use crate::distance::vector::{Vector, cross, dot, minus};
use crate::grid::{BRICK, Mask};
use crate::place::{PlacedMesh, Triangle};

/// Relative error of a distance before it is rounded to `f32`, twice what is needed.
const RELATIVE: f64 = 1.0 / (1_u64 << 48) as f64;
/// Integers up to here are exact in `f64`.
const EXACT: f64 = (1_u64 << 53) as f64;
/// Rows are skipped only if they are farther than this from mattering, in voxels: more than any
/// error.
const MARGIN: f64 = 1.0 / (1 << 16) as f64;
/// Voxels in a row along `z`.
const LANES: usize = BRICK as usize;
const ROWS: usize = LANES * LANES;

type Lanes = [f64; LANES];

/// Squared distances in lattice units, by rows along `z`: row `8 x + y`.
pub(super) struct Nearest {
    squared: [Lanes; ROWS],
    /// Whatever is as far cannot change the row.
    limits: [f64; ROWS],
    /// A bit for each row that some triangle may have lowered.
    reached: u64,
    slack: f64,
}

/// The brick, and the width of the band.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brick {
    /// The centre of its first voxel, in lattice units.
    pub(super) origin: [i32; 3],
    pub(super) unit_bits: u32,
    /// In voxels.
    pub(super) width: f32,
}

/// A function that is linear in the position, at the brick's first voxel and per voxel.
#[derive(Debug, Clone, Copy)]
struct Linear {
    at: f64,
    step: Vector,
}

impl Linear {
    #[inline(always)]
    fn row(&self, x: f64, y: f64) -> f64 {
        self.at + x * self.step[0] + y * self.step[1]
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
    lo: Vector,
    hi: Vector,
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

struct Task<'a> {
    nearest: &'a mut Nearest,
    mesh: &'a PlacedMesh,
    brick: &'a Brick,
    indices: &'a [Pair],
}

impl WithSimd for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let unit = f64::from(1u32 << self.brick.unit_bits);
        for &(_, index) in self.indices {
            let seen = Seen::new(&self.mesh.triangle(index as usize), self.brick.origin, unit);
            self.nearest.add(&seen, unit);
        }
    }
}

impl Nearest {
    /// Of the triangles of `mesh` with these `indices`, where they are nearer than the width.
    pub(super) fn of(arch: Arch, mesh: &PlacedMesh, brick: &Brick, indices: &[Pair]) -> Self {
        let unit = f64::from(1u32 << brick.unit_bits);
        let most = (f64::from(brick.width) + MARGIN) * unit;
        let limits = [most * most; ROWS];
        let mut nearest =
            Self { squared: [[most * most; LANES]; ROWS], limits, reached: 0, slack: 0.0 };
        arch.dispatch(Task { nearest: &mut nearest, mesh, brick, indices });
        nearest
    }

    #[inline(always)]
    fn add(&mut self, seen: &Seen, unit: f64) {
        self.slack = self.slack.max(seen.slack);
        let last = (LANES - 1) as f64;
        let gap =
            |axis: usize, lo: f64, hi: f64| (seen.lo[axis] - hi).max(lo - seen.hi[axis]).max(0.0);
        let gap_z = gap(2, 0.0, last * unit).powi(2);
        let gaps = |axis: usize| -> Lanes {
            std::array::from_fn(|i| {
                let at = i as f64 * unit;
                gap(axis, at, at).powi(2)
            })
        };
        let [gaps_x, gaps_y] = [gaps(0), gaps(1)];
        let half_z = 0.5 * last * seen.height.step[2];
        for (x, gap_x) in gaps_x.into_iter().enumerate() {
            for (y, gap_y) in gaps_y.into_iter().enumerate() {
                let row = LANES * x + y;
                let limit = self.limits[row];
                if gap_x + gap_y + gap_z > limit {
                    continue;
                }
                let (fx, fy) = (x as f64, y as f64);
                let height = (seen.height.row(fx, fy) + half_z).abs() - half_z.abs();
                if height > 0.0 && height * height * seen.per_normal > limit {
                    continue;
                }
                self.reached |= 1 << row;
                seen.lower(fx, fy, unit, &mut self.squared[row]);
                let most = self.squared[row].into_iter().fold(0.0, f64::max);
                let margin = MARGIN * MARGIN * unit * unit;
                self.limits[row] = limit.min(most * (1.0 + MARGIN) + margin);
            }
        }
    }

    /// Rounds the distances, and stores those of the voxels within the width in `values`, in the
    /// order of the mask.
    pub(super) fn finish(
        &self,
        arch: Arch,
        mesh: &PlacedMesh,
        brick: &Brick,
        indices: &[Pair],
        values: &mut Vec<f32>,
    ) -> Mask {
        let mut mask = [0; 8];
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
                    let at = [x, y, z].map(|i| (i as i32) << brick.unit_bits);
                    let p = std::array::from_fn(|i| brick.origin[i] + at[i]);
                    exactly(mesh, p, brick.unit_bits, indices)
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
        let per_unit = 1.0 / f64::from(1u32 << self.brick.unit_bits);
        let slack = self.slack * per_unit;
        let distances = self.squared.map(|squared| squared.sqrt() * per_unit);
        let least = distances.map(|d| (d * (1.0 - RELATIVE) - slack).max(0.0) as f32);
        let most = distances.map(|d| (d * (1.0 + RELATIVE) + slack) as f32);
        std::array::from_fn(|z| [least[z], most[z]])
    }
}

/// The rounded distance from `p` to the nearest triangle.
#[cold]
fn exactly(mesh: &PlacedMesh, p: [i32; 3], unit_bits: u32, indices: &[Pair]) -> f32 {
    let distances = indices.iter().map(|&(_, index)| {
        let triangle = mesh.triangle(index as usize);
        exact::distance(p, &triangle, unit_bits)
    });
    distances.fold(f32::INFINITY, f32::min)
}

impl Seen {
    #[inline(always)]
    fn new(triangle: &Triangle, origin: [i32; 3], unit: f64) -> Self {
        let corners: [Vector; 3] = [0, 1, 2].map(|corner: usize| {
            [0, 1, 2].map(|axis: usize| f64::from(origin[axis] - triangle[corner][axis]))
        });
        let sides = [0, 1, 2].map(|i: usize| minus(corners[i], corners[(i + 1) % 3]));
        let normal = primitive(cross(sides[0], sides[1]));
        let squared = dot(normal, normal);
        let steps = |v: Vector| v.map(|c| c * unit);
        let norm_1 = |v: Vector| v[0].abs() + v[1].abs() + v[2].abs();
        let norm_max = |v: Vector| v[0].abs().max(v[1].abs()).max(v[2].abs());
        let across = 3.0 * (LANES - 1) as f64 * unit;
        let far = norm_1(corners[0]).max(norm_1(corners[1])).max(norm_1(corners[2])) + across;
        let longest = norm_max(sides[0]).max(norm_max(sides[1])).max(norm_max(sides[2]));
        // Both bound all partial sums as well.
        let largest = 2.0 * norm_max(normal) * longest.max(1.0) * far;
        let slack = if largest < EXACT { 0.0 } else { far / (1_u64 << 47) as f64 };
        let inward = [0, 1, 2].map(|i: usize| {
            let inward = cross(normal, sides[i]);
            Linear { at: dot(inward, corners[i]), step: steps(inward) }
        });
        let edges = [0, 1, 2].map(|i: usize| {
            let (p, e) = (corners[i], sides[i]);
            let squared = dot(e, e);
            // The products of the axes with e.
            let by_axis = [[0.0, e[2], -e[1]], [-e[2], 0.0, e[0]], [e[1], -e[0], 0.0]];
            let at = cross(p, e);
            let area = [0, 1, 2].map(|i: usize| Linear { at: at[i], step: steps(by_axis[i]) });
            Edge {
                along: Linear { at: dot(p, e), step: steps(e) },
                squared,
                per_squared: if squared > 0.0 { 1.0 / squared } else { 0.0 },
                area,
            }
        });
        // Relative to the first voxel's centre.
        let least = |axis: usize| corners[0][axis].max(corners[1][axis]).max(corners[2][axis]);
        let most = |axis: usize| corners[0][axis].min(corners[1][axis]).min(corners[2][axis]);
        Self {
            corners,
            height: Linear { at: dot(normal, corners[0]), step: steps(normal) },
            per_normal: if squared > 0.0 { 1.0 / squared } else { 0.0 },
            inward,
            edges,
            lo: [-least(0), -least(1), -least(2)],
            hi: [-most(0), -most(1), -most(2)],
            slack,
        }
    }

    /// Lowers the squared distances of the row at `x` and `y`, in voxels, to this triangle's.
    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "lanes of several vectors")]
    fn lower(&self, x: f64, y: f64, unit: f64, squared: &mut Lanes) {
        let height = self.height.row(x, y);
        let inward = [0, 1, 2].map(|i: usize| self.inward[i].row(x, y));
        let is_flat = self.per_normal == 0.0;
        // Whether any voxel of the row is beyond the edge.
        let mut is_beyond = [is_flat; 3];
        for z in 0..LANES {
            let at = z as f64;
            let beyond = [0, 1, 2].map(|i: usize| inward[i] + at * self.inward[i].step[2] < 0.0);
            let height = height + at * self.height.step[2];
            let to_plane = height * height * self.per_normal;
            let is_above = !(beyond[0] | beyond[1] | beyond[2] | is_flat);
            squared[z] = if is_above { squared[z].min(to_plane) } else { squared[z] };
            is_beyond = [0, 1, 2].map(|i: usize| is_beyond[i] | beyond[i]);
        }
        if is_beyond == [false; 3] {
            return;
        }
        let corner = |i: usize| -> Lanes {
            let [px, py, pz] = self.corners[i];
            let (px, py) = (px + x * unit, py + y * unit);
            let in_layer = px * px + py * py;
            std::array::from_fn(|z| {
                let pz = pz + z as f64 * unit;
                in_layer + pz * pz
            })
        };
        let corners = [corner(0), corner(1), corner(2)];
        for (i, edge) in self.edges.iter().enumerate().filter(|&(i, _)| is_beyond[i]) {
            let along = edge.along.row(x, y);
            let area = [0, 1, 2].map(|axis: usize| edge.area[axis].row(x, y));
            // The component along z does not change with z.
            let area_z = area[2] * area[2];
            for z in 0..LANES {
                let at = z as f64;
                let along = along + at * edge.along.step[2];
                let ax = area[0] + at * edge.area[0].step[2];
                let ay = area[1] + at * edge.area[1].step[2];
                let to_line = (ax * ax + ay * ay + area_z) * edge.per_squared;
                let to_edge = if along >= edge.squared { corners[(i + 1) % 3][z] } else { to_line };
                let to_edge = if along <= 0.0 { corners[i][z] } else { to_edge };
                squared[z] = squared[z].min(to_edge);
            }
        }
    }
}

/// `normal` divided by its length if it lies along an axis, otherwise by a power of two: integers
/// still, and smaller.
#[inline(always)]
fn primitive(normal: Vector) -> Vector {
    let [x, y, z] = normal.map(|c| (c as i64).unsigned_abs());
    let divisor = if [x, y, z].iter().filter(|&&c| c > 0).count() == 1 {
        x | y | z
    } else {
        1 << (x | y | z | 1 << 62).trailing_zeros()
    };
    normal.map(|c| c / divisor as f64)
}
