//! Two slow answers to "does the closed triangle meet the closed cube?" that share no code with
//! the library or with each other, and the voxelizer made of the first.
//!
//! 1. [`touches`]: the thirteen axes as written in T. Akenine-Möller, "Fast 3D
//!    Triangle-Box Overlap Testing", Journal of Graphics Tools 6(1), 2001, with all eight corners
//!    of the box projected instead of a radius.
//! 2. [`clipping`]: no separating axis at all. The triangle is cut by the six closed half-spaces
//!    of the box (I. Sutherland and G. Hodgman, "Reentrant Polygon Clipping", Communications of
//!    the ACM 17(1), 1974) in exact rational coordinates; they meet if anything is left.

use std::ops::{Div, Neg, Rem};

use rayon::prelude::*;
use trivox::lattice::Triangle;
use trivox::{PlacedMesh, VoxelGrid};

use super::vector::{Number, cross, dot, minus};
use super::voxels::grid_where;

/// An integer type to compute in: `i128` for all of the lattice, `i64` where coordinates are small
/// and there are millions of cases.
pub trait Integer:
    Number + Ord + From<i32> + Div<Output = Self> + Rem<Output = Self> + Neg<Output = Self>
{
}

impl Integer for i64 {}
impl Integer for i128 {}

/// The answer for all of the lattice. Corners and edges are below `2^26`, so twelve axes and what
/// is projected to them need 54 bits; the plane needs 80.
pub fn touches(triangle: &Triangle, center: [i32; 3], half: i32) -> bool {
    overlap(box_and_edge_axes::<i64>, triangle, center, half)
        && overlap(plane_axis::<i128>, triangle, center, half)
}

/// The same in one type.
pub fn separating_axes<T: Integer>(triangle: &Triangle, center: [i32; 3], half: i32) -> bool {
    overlap(box_and_edge_axes::<T>, triangle, center, half)
        && overlap(plane_axis::<T>, triangle, center, half)
}

/// Whether none of the axes separates the triangle from the cube strictly.
fn overlap<T: Integer, const N: usize>(
    axes: impl Fn(&[[T; 3]; 3]) -> [[T; 3]; N],
    triangle: &Triangle,
    center: [i32; 3],
    half: i32,
) -> bool {
    let corners: [[T; 3]; 8] = std::array::from_fn(|bits| {
        std::array::from_fn(|a| {
            let side = if bits >> a & 1 == 1 { T::from(half) } else { -T::from(half) };
            T::from(center[a]) + side
        })
    });
    let triangle: [[T; 3]; 3] = triangle.map(|corner| corner.map(T::from));
    axes(&triangle).iter().all(|&axis| {
        let [box_min, box_max] = project(axis, &corners);
        let [min, max] = project(axis, &triangle);
        box_min <= max && min <= box_max
    })
}

fn box_and_edge_axes<T: Integer>(&[a, b, c]: &[[T; 3]; 3]) -> [[T; 3]; 12] {
    let (zero, one) = (T::from(0), T::from(1));
    let normals = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
    let edges = [minus(b, a), minus(c, b), minus(a, c)];
    std::array::from_fn(|i| match i {
        0..3 => normals[i],
        _ => cross(normals[i % 3], edges[i / 3 - 1]),
    })
}

fn plane_axis<T: Integer>(&[a, b, c]: &[[T; 3]; 3]) -> [[T; 3]; 1] {
    [cross(minus(b, a), minus(c, b))]
}

fn project<T: Integer, const N: usize>(axis: [T; 3], points: &[[T; 3]; N]) -> [T; 2] {
    let values = points.map(|p| dot(axis, p));
    values[1..].iter().fold([values[0]; 2], |[lo, hi], &v| [lo.min(v), hi.max(v)])
}

/// The point `(x / w, y / w, z / w)`, in lowest terms, with `w > 0`.
type Point<T> = [T; 4];

/// A triangle cut by six planes has at most nine corners.
const MOST_CORNERS: usize = 9;

/// Whether anything is left of the triangle once it is cut by the six sides of the cube.
///
/// A corner of what is left is where three of seven planes meet, so in lowest terms its parts are
/// at most determinants of coordinates relative to the centre: for coordinates up to `2^n`, below
/// `2^(3n + 4)`, and the steps between below `2^(6n + 10)`.
pub fn clipping<T: Integer>(triangle: &Triangle, center: [i32; 3], half: i32) -> bool {
    let mut polygon: Polygon<T> = Polygon { points: [[T::from(0); 4]; MOST_CORNERS], len: 0 };
    for corner in triangle {
        let [x, y, z] = std::array::from_fn(|a| T::from(corner[a]) - T::from(center[a]));
        polygon.push([x, y, z, T::from(1)]);
    }
    for axis in 0..3 {
        for side in [T::from(1), T::from(-1)] {
            polygon = polygon.clip(|p| T::from(half) * p[3] - side * p[axis]);
            if polygon.len == 0 {
                return false;
            }
        }
    }
    true
}

struct Polygon<T> {
    points: [Point<T>; MOST_CORNERS],
    len: usize,
}

impl<T: Integer> Polygon<T> {
    fn push(&mut self, point: Point<T>) {
        self.points[self.len] = point;
        self.len += 1;
    }

    /// The part where `inside`, a linear form, is not negative.
    fn clip(&self, inside: impl Fn(Point<T>) -> T) -> Self {
        let zero = T::from(0);
        let mut kept = Self { points: [[zero; 4]; MOST_CORNERS], len: 0 };
        for i in 0..self.len {
            let (p, q) = (self.points[i], self.points[(i + 1) % self.len]);
            let (at_p, at_q) = (inside(p), inside(q));
            if at_p >= zero {
                kept.push(p);
            }
            if (at_p > zero && at_q < zero) || (at_p < zero && at_q > zero) {
                kept.push(between(p, q, abs(at_q), abs(at_p)));
            }
        }
        kept
    }
}

/// The point at `p_weight` parts `p` and `q_weight` parts `q`, in lowest terms.
fn between<T: Integer>(p: Point<T>, q: Point<T>, p_weight: T, q_weight: T) -> Point<T> {
    let r: Point<T> = std::array::from_fn(|i| p[i] * p_weight + q[i] * q_weight);
    let divisor = r.iter().fold(T::from(0), |divisor, &part| gcd(divisor, abs(part)));
    r.map(|part| part / divisor)
}

fn gcd<T: Integer>(mut a: T, mut b: T) -> T {
    while b != T::from(0) {
        (a, b) = (b, a % b);
    }
    a
}

fn abs<T: Integer>(value: T) -> T {
    value.max(-value)
}

/// All voxels of the grid against all triangles, one by one.
pub fn voxelize(mesh: &PlacedMesh) -> VoxelGrid {
    let lattice = mesh.lattice();
    let half = lattice.units_per_voxel() / 2;
    let center = |voxel: [u32; 3]| voxel.map(|v| (2 * v as i32 + 1) * half);
    grid_where(lattice.dims, |voxel| mesh.triangles().any(|t| touches(&t, center(voxel), half)))
}

/// The same for grids and triangles of any size: cubes of `2^k` voxels, from one that holds the
/// grid down to voxels, of which those that a triangle does not touch are left out.
pub fn voxelize_by_octree(mesh: &PlacedMesh) -> VoxelGrid {
    let dims = mesh.lattice().dims;
    let voxels = voxels_between(mesh, [0; 3], dims.map(|d| d - 1));
    VoxelGrid::from_voxels(dims, voxels).expect("voxels of the grid lie inside it")
}

/// The voxels from `lo` to `hi`, inclusive, that triangles of `mesh` touch; some more than once.
pub fn voxels_between(mesh: &PlacedMesh, lo: [u32; 3], hi: [u32; 3]) -> Vec<[u32; 3]> {
    let window = Window { fraction_bits: mesh.lattice().fraction_bits, lo, hi };
    let levels = mesh.lattice().dims.map(|d| d.next_power_of_two().ilog2());
    let top = levels.into_iter().fold(0, u32::max);
    let triangles: Vec<Triangle> = mesh.triangles().collect();
    let touched = |triangle: &Triangle| {
        let mut voxels = Vec::new();
        window.descend(triangle, [0; 3], top, &mut voxels);
        voxels
    };
    triangles.par_iter().flat_map_iter(touched).collect()
}

struct Window {
    fraction_bits: u32,
    lo: [u32; 3],
    hi: [u32; 3],
}

impl Window {
    /// Adds the voxels that `triangle` touches in the cube of `2^level` voxels from voxel `at`.
    fn descend(&self, triangle: &Triangle, at: [u32; 3], level: u32, voxels: &mut Vec<[u32; 3]>) {
        let (size, last) = (1 << level, (1 << level) - 1);
        let apart = |a: usize| {
            let [lo, hi] = [at[a], at[a] + size].map(|c| i64::from(c) << self.fraction_bits);
            let corners = || triangle.iter().map(|corner| i64::from(corner[a]));
            at[a] > self.hi[a]
                || at[a] + last < self.lo[a]
                || corners().all(|c| c < lo)
                || corners().all(|c| c > hi)
        };
        if (0..3).any(apart) {
            return;
        }
        let half = 1 << (self.fraction_bits + level - 1);
        let center = at.map(|c| ((c << self.fraction_bits) + half) as i32);
        if !touches(triangle, center, half as i32) {
            return;
        }
        if level == 0 {
            voxels.push(at);
            return;
        }
        for child in 0..8 {
            let child = [0, 1, 2].map(|a| at[a] + (child >> a & 1) * size / 2);
            self.descend(triangle, child, level - 1, voxels);
        }
    }
}
