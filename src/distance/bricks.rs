//! The bricks that a triangle may have voxels of the band in.

use crate::distance::vector::{Vector, cross, dot, minus};
use crate::grid::{BRICK, BrickKey};
use crate::place::{PlacedMesh, Triangle};

/// Ranges of more bricks are divided before each is tested.
const FEW: i32 = 4;
/// More than any rounding, in voxels: no brick may be missed.
const MARGIN: f64 = 1.0 / (1 << 16) as f64;

/// Finds bricks whose voxel centres may be within `reach` voxels of triangles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finder {
    /// Of a voxel, in lattice units.
    unit: f64,
    /// In lattice units.
    reach: f64,
    /// Bricks, inclusive.
    lo: [i32; 3],
    hi: [i32; 3],
}

/// A triangle for tests against boxes.
struct Triple {
    corners: [Vector; 3],
    lo: Vector,
    hi: Vector,
    /// Along the normal, and outwards from each edge.
    sides: [Side; 4],
}

/// A plane through a corner, and what is too far from it.
struct Side {
    corner: usize,
    along: Vector,
    /// The norm of `along` times the reach.
    limit: f64,
}

impl Finder {
    /// For bricks from `lo` to `hi`, inclusive.
    pub(super) fn new(mesh: &PlacedMesh, width: f32, [lo, hi]: [[i32; 3]; 2]) -> Self {
        let unit = f64::from(mesh.lattice().unit());
        Self { unit, reach: (f64::from(width) + MARGIN) * unit, lo, hi }
    }

    /// Calls `found` with the key of each brick near `triangle`.
    pub(super) fn each(&self, triangle: &Triangle, found: &mut impl FnMut(BrickKey)) {
        let triple = Triple::new(triangle, self.reach);
        let edge = f64::from(BRICK) * self.unit;
        let at = |units: f64| (units / edge).floor() as i32;
        let lo = std::array::from_fn(|a| at(triple.lo[a] - self.reach).max(self.lo[a]));
        let hi = std::array::from_fn(|a| at(triple.hi[a] + self.reach).min(self.hi[a]));
        if (0..3).all(|a| lo[a] <= hi[a]) {
            self.search(&triple, lo, hi, found);
        }
    }

    fn search(
        &self,
        triple: &Triple,
        lo: [i32; 3],
        hi: [i32; 3],
        found: &mut impl FnMut(BrickKey),
    ) {
        let extent: [i32; 3] = std::array::from_fn(|a| hi[a] - lo[a] + 1);
        let axis = (0..3).max_by_key(|&a| extent[a]).unwrap_or(0);
        if extent[axis] > FEW && self.is_far(triple, lo, hi) {
            return;
        }
        if extent[axis] > FEW {
            let middle = lo[axis] + extent[axis] / 2;
            let (mut end, mut begin) = (hi, lo);
            (end[axis], begin[axis]) = (middle - 1, middle);
            self.search(triple, lo, end, found);
            self.search(triple, begin, hi, found);
            return;
        }
        for z in lo[2]..=hi[2] {
            for y in lo[1]..=hi[1] {
                for x in lo[0]..=hi[0] {
                    if !self.is_far(triple, [x, y, z], [x, y, z]) {
                        found(BrickKey::new([x, y, z].map(i32::cast_unsigned)));
                    }
                }
            }
        }
    }

    /// Whether all voxel centres of the bricks are certainly farther than the reach.
    fn is_far(&self, triple: &Triple, lo: [i32; 3], hi: [i32; 3]) -> bool {
        let edge = f64::from(BRICK);
        let lo = lo.map(|c| (f64::from(c) * edge + 0.5) * self.unit);
        let hi = hi.map(|c| (f64::from(c + 1) * edge - 0.5) * self.unit);
        let gap = |a: usize| (triple.lo[a] - hi[a]).max(lo[a] - triple.hi[a]).max(0.0);
        let gaps = [gap(0), gap(1), gap(2)];
        if dot(gaps, gaps) > self.reach * self.reach {
            return true;
        }
        let center: Vector = std::array::from_fn(|a| 0.5 * (lo[a] + hi[a]));
        let half: Vector = std::array::from_fn(|a| 0.5 * (hi[a] - lo[a]));
        // Along the normal, and in the plane along each edge's normal, all of the triangle is on
        // one side.
        let beyond = |from: Vector, along: Vector| {
            dot(along, minus(center, from)) - dot(along.map(f64::abs), half)
        };
        // An error of 2^-50 of coordinates of 2^25 units is far less than the margin.
        let is_beyond = |side: &Side| beyond(triple.corners[side.corner], side.along) > side.limit;
        let up = &triple.sides[0];
        let down = beyond(triple.corners[0], up.along.map(|c| -c)) > up.limit;
        down || triple.sides.iter().any(is_beyond)
    }
}

impl Triple {
    fn new(triangle: &Triangle, reach: f64) -> Self {
        let corners = triangle.map(|corner| corner.map(f64::from));
        let [a, b, c] = corners;
        let normal = cross(minus(b, a), minus(c, a));
        let side = |corner: usize, along: Vector| Side {
            corner,
            along,
            limit: reach * dot(along, along).sqrt(),
        };
        let outward = |i: usize| cross(minus(corners[(i + 1) % 3], corners[i]), normal);
        let edge = |i: usize| side(i, outward(i));
        Self {
            corners,
            lo: std::array::from_fn(|i| a[i].min(b[i]).min(c[i])),
            hi: std::array::from_fn(|i| a[i].max(b[i]).max(c[i])),
            sides: [side(0, normal), edge(0), edge(1), edge(2)],
        }
    }
}
