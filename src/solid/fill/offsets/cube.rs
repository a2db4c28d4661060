//! The cubes of the octree: the polynomial of a cube, and the voxels that it decides.

use std::array::from_fn;

use pulp::{Simd, WithSimd};

use super::{
    CUBE_TOLERANCE, CapBrick, Field, MAX_ERROR, MAX_RADIUS_RATIO, MAX_UNDECIDED, MAX_VOXEL_ERROR,
    MIN_SIZE, ROUNDING, UNCERTAIN, half_integer_distance,
};
use crate::base::lanes::{LANES, Lanes};
use crate::base::vector::{dot, minus};
use crate::grid::{BRICK, brick_slot};
use crate::solid::fill::solid_angle::{Edge, Point, PointBox};
use crate::solid::fill::taylor::Taylor;

/// A cube of voxels.
#[derive(Debug, Clone)]
pub(super) struct Cube {
    pub(super) at: [u32; 3],
    /// The edge length in voxels, a power of two.
    pub(super) size: u32,
    /// The nodes of the near field.
    pub(super) near: Vec<u32>,
    /// The sum over the far field.
    pub(super) far: Expansion,
}

impl Cube {
    /// The voxel with `index` in ascending order.
    #[inline(always)]
    pub(super) fn voxel(&self, index: u32) -> [u32; 3] {
        let [x, y, z] = self.at;
        let (bits, mask) = (self.size.ilog2(), self.size - 1);
        [x + (index >> (2 * bits)), y + (index >> bits & mask), z + (index & mask)]
    }

    pub(super) fn children(&self) -> impl Iterator<Item = Self> {
        let half = self.size / 2;
        (0..8).map(move |child| {
            let at = [0, 1, 2].map(|a| self.at[a] + half * (child >> a & 1));
            Self { at, size: half, ..self.clone() }
        })
    }
}

/// The Taylor polynomial of a sum over nodes in a ball, without jumps (a local expansion).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Expansion {
    pub(super) center: Point,
    pub(super) radius: f64,
    pub(super) taylor: Taylor,
    /// A bound of the truncation error (the terms from degree 3 on) of the nodes expanded in this
    /// ball. At a distance of `x` radii from the centre, `x^3` times this bound holds.
    pub(super) taylor_error: f64,
    /// The error bound of nodes expanded in larger balls, and of multipole expansions.
    pub(super) constant_error: f64,
}

impl Expansion {
    #[inline]
    pub(super) fn at(&self, p: Point) -> f64 {
        self.taylor.at(minus(p, self.center))
    }

    /// A bound of the error anywhere in the ball.
    pub(super) fn error(&self) -> f64 {
        self.taylor_error + self.constant_error
    }

    /// This polynomial, expanded in a ball within its own (local-to-local translation).
    pub(super) fn translated(&self, center: Point, radius: f64) -> Self {
        let gradient = self.taylor.gradient_at(minus(center, self.center));
        let taylor = Taylor { value: self.at(center), gradient, ..self.taylor };
        Self { center, radius, taylor, taylor_error: 0.0, constant_error: self.error() }
    }
}

impl Field {
    /// The polynomial of all loops in a cube. Nodes that are far enough for it and its descendants
    /// move from the near field to the polynomial of the far field.
    pub(super) fn expand_loops(&self, cube: &mut Cube) -> Expansion {
        let (center, radius) = self.ball(cube);
        cube.far = cube.far.translated(center, radius);
        let (far, near_error) = self.take_far_nodes(cube);
        if !far.is_empty() {
            cube.far.taylor = cube.far.taylor + self.bvh.expand(&far, center, radius).0;
        }
        let mut all = cube.far;
        if near_error < MAX_ERROR {
            let (near, leaf_error) = self.bvh.expand(&cube.near, center, radius);
            all.taylor = all.taylor + near;
            all.taylor_error += leaf_error;
            all.constant_error += near_error;
        } else {
            all.constant_error = f64::INFINITY;
        }
        all.constant_error += ROUNDING;
        all
    }

    /// Removes nodes, or descendants, from the near field: those with an error of at most
    /// [`CUBE_TOLERANCE`] and no closing ray that may hit the cube. Their errors are added to those
    /// of the far field.
    ///
    /// Returns these nodes, and the error bound of the remaining inner nodes: infinite if a closing
    /// ray of one of them may hit the cube, because jumps of `b` are counted by edges. The error
    /// bound of leaves comes from
    /// [`LoopBvh::expand`](crate::solid::fill::loop_bvh::LoopBvh::expand).
    pub(super) fn take_far_nodes(&self, cube: &mut Cube) -> (Vec<u32>, f64) {
        let (center, radius) = self.ball(cube);
        let bounds = self.bounds(cube);
        let (mut far, mut near_error) = (Vec::new(), 0.0);
        let mut nodes = std::mem::take(&mut cube.near);
        while let Some(index) = nodes.pop() {
            let node = self.bvh.node(index);
            let errors = node.errors(center, radius);
            let is_far = errors.sum() <= CUBE_TOLERANCE;
            let rays_may_hit = || self.bvh.rays_may_hit(index, &bounds);
            if is_far && !rays_may_hit() {
                far.push(index);
                cube.far.taylor_error += errors.taylor;
                cube.far.constant_error += errors.multipoles;
                continue;
            }
            if let Some(children) = node.children {
                if is_far || node.radius > MAX_RADIUS_RATIO * radius {
                    nodes.extend(children);
                    continue;
                }
                near_error += if rays_may_hit() { f64::INFINITY } else { errors.sum() };
            }
            cube.near.push(index);
        }
        (far, near_error)
    }

    /// Whether all voxels of a cube have the same offset, except for jumps.
    pub(super) fn is_decided(&self, cube: &Cube, all: &Expansion) -> bool {
        let half = f64::from(cube.size / 2) * self.units_per_voxel;
        half_integer_distance(all.taylor.value) > all.taylor.max_change(half) + all.error()
    }

    /// Sets the offsets that the polynomial decides; returns the other voxels, or `None` if these
    /// are so many that the cube is to be divided.
    pub(super) fn set_decided(
        &self,
        cube: &Cube,
        all: &Expansion,
        brick: &mut CapBrick,
    ) -> Option<Vec<[u32; 3]>> {
        if all.error() < MAX_ERROR {
            let undecided = self.set_by_polynomial(cube, all, brick);
            let is_undivided = cube.size <= MIN_SIZE || undecided.len() <= MAX_UNDECIDED;
            return is_undivided.then_some(undecided);
        }
        let voxels = || (0..cube.size.pow(3)).map(|index| cube.voxel(index)).collect();
        (cube.size <= MIN_SIZE).then(voxels)
    }

    /// Sets the offsets of numbers farther from every `i + 1/2` than their error bound; returns the
    /// other voxels.
    pub(super) fn set_by_polynomial(
        &self,
        cube: &Cube,
        all: &Expansion,
        brick: &mut CapBrick,
    ) -> Vec<[u32; 3]> {
        self.arch.dispatch(DecideVoxels { field: self, cube, all, brick })
    }

    /// The jumps of `b` from `center` to each column of `cube`, by `y` and `z`.
    pub(super) fn jumps(&self, cube: &Cube, center: Point) -> Vec<Lanes> {
        let columns = cube.size.pow(2).max(LANES as u32);
        let mut jumps = vec![Lanes::default(); columns as usize / LANES];
        let edges = self.edges_with_rays_in(cube);
        if !edges.is_empty() {
            for column in 0..columns {
                // One voxel for all: a column is parallel to the closing rays.
                let first = self.center(cube.voxel(column));
                jumps[column as usize / LANES].0[column as usize % LANES] =
                    edges.iter().map(|edge| edge.jump(center, first)).sum();
            }
        }
        jumps
    }

    /// The edges with closing rays that may hit the cube: those of the jumps of `b` in it.
    pub(super) fn edges_with_rays_in(&self, cube: &Cube) -> Vec<Edge> {
        self.bvh.edges_with_rays_in(&cube.near, &self.bounds(cube))
    }

    /// The centre and radius of a bounding ball: of the whole cube if it consists of bricks, as
    /// columns continue in the next brick; of the voxel centres if it is a part of a brick.
    pub(super) fn ball(&self, cube: &Cube) -> (Point, f64) {
        let half = f64::from(cube.size) / 2.0;
        let half_extent = if cube.size < BRICK { half - 0.5 } else { half };
        let center = cube.at.map(|c| (f64::from(c) + half) * self.units_per_voxel);
        (center, half_extent * self.units_per_voxel * 3f64.sqrt())
    }

    fn bounds(&self, cube: &Cube) -> PointBox {
        let corner = |by: u32| cube.at.map(|c| f64::from(c + by) * self.units_per_voxel);
        PointBox { lo: corner(0), hi: corner(cube.size) }
    }
}

/// The arguments of [`Field::set_by_polynomial`].
struct DecideVoxels<'a> {
    field: &'a Field,
    cube: &'a Cube,
    all: &'a Expansion,
    brick: &'a mut CapBrick,
}

impl WithSimd for DecideVoxels<'_> {
    type Output = Vec<[u32; 3]>;

    /// At `x` times the radius the error bound is `constant + taylor x^3`; `x^3 <= (x^2 + x^4) /
    /// 2`.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<[u32; 3]> {
        let Self { field, cube, all, brick } = self;
        let mut undecided = Vec::new();
        let jumps = field.jumps(cube, all.center);
        let (one, half) = (Lanes::splat(1.0), Lanes::splat(0.5));
        let taylor = all.taylor.map(Lanes::splat);
        let constant_error = Lanes::splat(all.constant_error);
        let half_taylor_error = Lanes::splat(0.5 * all.taylor_error);
        let per_squared_radius = Lanes::splat(1.0 / (all.radius * all.radius));
        // The first batch. All others are translated by `x` and `y`, as no column is longer than
        // `LANES`.
        let voxels: [[u32; 3]; LANES] = from_fn(|lane| cube.voxel(lane as u32));
        let slots = voxels.map(|voxel| brick_slot(voxel) - brick_slot(cube.at));
        let from_center = voxels.map(|voxel| minus(field.center(voxel), all.center));
        let first = [0, 1, 2].map(|a| Lanes(from_center.map(|h| h[a])));
        for start in (0..cube.size.pow(3)).step_by(LANES) {
            let at = cube.voxel(start);
            let translation =
                |a: usize| Lanes::splat(f64::from(at[a] - cube.at[a]) * field.units_per_voxel);
            let h = [first[0] + translation(0), first[1] + translation(1), first[2]];
            let squared = dot(h, h) * per_squared_radius;
            let error = constant_error + half_taylor_error * squared * (one + squared);
            let number = taylor.at(h) + jumps[start as usize / LANES % jumps.len()];
            let certainty = (number - number.floor() - half).abs() - error;
            // Nearly always: all eight are decided.
            if certainty.least() > 0.0 && error.greatest() < MAX_VOXEL_ERROR {
                let offsets = (number + half).floor();
                let remainder = number - offsets;
                let first_slot = brick_slot(at);
                for (slot, offset) in slots.iter().zip(offsets.0) {
                    brick.offsets[first_slot + slot] = offset as i32;
                }
                if remainder.least() < UNCERTAIN - 0.5 {
                    for (slot, remainder) in slots.iter().zip(remainder.0) {
                        brick.mark_if_uncertain(first_slot + slot, remainder);
                    }
                }
                continue;
            }
            for lane in 0..LANES {
                let voxel = cube.voxel(start + lane as u32);
                if certainty.0[lane] > 0.0 && error.0[lane] < MAX_VOXEL_ERROR {
                    brick.set(voxel, number.0[lane]);
                } else {
                    undecided.push(voxel);
                }
            }
        }
        undecided
    }
}
