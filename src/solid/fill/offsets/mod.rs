//! The difference between the winding number of an open surface and the signed count of a column's
//! crossings.
//!
//! The number is `n + b` ([`solid_angle`](crate::solid::fill::solid_angle)). A voxel is inside if
//! it is at least 1/2, that is, if `n` plus the *offset* `k = floor(b + 1/2)` is at least 1. Along
//! a column the offset changes only where `b` passes `i + 1/2` for an integer `i`: at caps across
//! the holes, and at the boundary itself. An octree divides the grid; a cube is decided as a whole
//! if a bound of the change of `b` excludes every `i + 1/2`. In the remaining bricks, those at
//! caps, each voxel has its own offset.
//!
//! `b` is smooth except for integer jumps across the closing rays, which do not affect the bound;
//! between two points of a cube they are counted exactly. As in a fast multipole method, the nodes
//! of the [BVH](crate::solid::fill::loop_bvh) in a cube's far field are one Taylor polynomial of
//! degree 2 around its centre, with an error bound, that the cube's children inherit.

mod work;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::base::lanes::{LANES, Lanes};
use crate::base::progress::Progress;
use crate::base::vector::{dot, minus, norm};
use crate::grid::{BRICK, Mask, brick_slot, mask_below};
use crate::lattice::Lattice;
use crate::solid::fill::extremes::{Candidates, VoxelValue, lexicographic_min};
use crate::solid::fill::loop_bvh::{ErrorBounds, LoopBvh};
use crate::solid::fill::solid_angle::{Aabb, Edge, Point, Taylor};
use crate::solid::topology::Boundary;

pub(in crate::solid) use work::takes_at_most;

/// Bound of the rounding error of a sum over all edges, at points that are at least one lattice
/// unit from every edge: at most [`MAX_EDGES`](crate::solid::topology::MAX_EDGES) factors, each
/// with an error of a few `2^-53`. At a smaller distance `d` an edge of length `l` has an error of
/// about `2^-53 l / d`. A voxel is inside from a winding number of 1/2 minus this bound on.
const ROUNDING: f64 = 1e-8;
/// Maximum error of a far node in a cube (the acceptance criterion). A larger tolerance leaves
/// fewer nodes to sum for each voxel, but more voxels undecided by the polynomial.
const CUBE_TOLERANCE: f64 = 3e-5;
/// Maximum errors of a node in a sum for one voxel; the second if the first does not decide.
const VOXEL_TOLERANCES: [f64; 2] = [1e-5, 1e-7];
/// Maximum ratio of the radius of a near node to that of a cube; a larger node is replaced by its
/// children.
const MAX_RADIUS_RATIO: f64 = 0.5;
/// A voxel is uncertain if the distance of its number from the nearest `i + 1/2` is less than this:
/// less than that from the nearest integer.
const UNCERTAIN: f64 = 0.25;
/// Maximum error of a voxel decided by a polynomial. A number near an integer is then above
/// [`UNCERTAIN`] by its lower bound, which spares an evaluation in the search for the least certain
/// voxel.
const MAX_VOXEL_ERROR: f64 = 0.2;
/// Maximum error of a polynomial that is evaluated at all; a larger one decides no voxel.
const MAX_ERROR: f64 = 1.0;
/// Maximum number of undecided voxels of an undivided cube; sums for more cost about as much as
/// eight children.
const MAX_UNDECIDED: usize = 40;

/// Offsets of the voxels of a brick; voxel `(x, y, z)` has index `64 x + 8 y + z`.
pub(super) type Offsets = [i32; 512];

/// A region of the grid.
pub(super) enum Region {
    /// Rows of bricks, a half-open range in `y` and `z`, with the offset of all voxels of their
    /// first brick; `None` if the offset differs by column.
    Rows { from: [u32; 2], to: [u32; 2], offset: Option<i32> },
    /// A brick with an offset per voxel.
    Brick { at: [u32; 3], content: Box<CapBrick> },
    /// The estimated number of uncertain voxels above an `i + 1/2` in a cube without caps, and the
    /// voxel at its centre.
    Uncertain { center: [u32; 3], voxels: u64 },
}

/// A brick at a cap.
#[derive(Debug, Clone)]
pub(super) struct CapBrick {
    pub(super) offsets: Offsets,
    /// Voxels with a number less than [`UNCERTAIN`] above an `i + 1/2`.
    pub(super) uncertain: Mask,
}

impl CapBrick {
    /// Marks a voxel if it is uncertain; `remainder` is its number minus its offset.
    #[inline(always)]
    fn mark_if_uncertain(&mut self, slot: usize, remainder: f64) {
        self.uncertain[slot / 64] |= u64::from(remainder < UNCERTAIN - 0.5) << (slot % 64);
    }
}

/// The result of [`Field::regions`].
pub(super) struct Regions {
    /// Rows that cover the grid, and the bricks at caps, in any order.
    pub(super) regions: Vec<Region>,
    /// The least certain voxel of the bricks at caps, and one of the most certain, with the
    /// distances of their numbers from the nearest `i + 1/2`, at most 1/2. `None` if no voxel of
    /// these bricks is below [`UNCERTAIN`].
    pub(super) extremes: Option<[VoxelValue; 2]>,
}

/// The winding number `b` of the boundary's closing rays, on the lattice of the surface.
pub(in crate::solid) struct Field {
    bvh: LoopBvh,
    /// The root of `bvh`; empty without loops.
    root: Vec<u32>,
    units_per_voxel: f64,
    arch: Arch,
    dims: [u32; 3],
    /// The dimensions in bricks.
    bricks: [u32; 3],
}

/// Totals over all bricks at caps.
struct CapTotals<'a> {
    /// Maximum number of bricks that are kept.
    room: u64,
    /// The number of bricks, kept or not.
    count: AtomicU64,
    extremes: Mutex<Extremes>,
    progress: &'a dyn Progress,
}

impl CapTotals<'_> {
    fn extremes(&self) -> MutexGuard<'_, Extremes> {
        self.extremes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The least and the most certain voxels.
struct Extremes {
    /// By the distance of the number from the nearest `i + 1/2`.
    least: Candidates,
    /// The voxel with the greatest lower bound of the distance, as the minimum of `error -
    /// distance`.
    most: Option<VoxelValue>,
}

impl Extremes {
    /// No voxels. The least certain voxel has a distance of at most `bound`.
    fn below(bound: f64) -> Self {
        Self { least: Candidates::below(bound), most: None }
    }

    /// A lower bound of the distance of the most certain voxel's number from `i + 1/2`.
    #[inline]
    fn certainty(&self) -> f64 {
        self.most.map_or(f64::NEG_INFINITY, |(uncertainty, _)| -uncertainty)
    }

    /// Adds a voxel; `error` bounds the difference between its distance and that of the sum over
    /// all edges.
    #[inline]
    fn add(&mut self, distance: f64, error: f64, voxel: [u32; 3]) {
        // An approximation and the sum have different rounding errors. Sums are compared without
        // an error bound: on a cap through many voxel centres all distances are about 0, and all
        // voxels would be candidates.
        let rounding = if error == 0.0 { 0.0 } else { ROUNDING };
        self.least.add(distance, error + rounding, voxel);
        self.most = lexicographic_min(self.most, Some((error - distance, voxel)));
    }

    fn merge(&mut self, other: Self) {
        self.least.merge(other.least);
        self.most = lexicographic_min(self.most, other.most);
    }
}

/// A brick at a cap, and its extremes.
struct Brick {
    content: Box<CapBrick>,
    extremes: Extremes,
}

impl Brick {
    fn below(bound: f64) -> Self {
        let content = Box::new(CapBrick { offsets: [0; 512], uncertain: Mask::default() });
        Self { content, extremes: Extremes::below(bound) }
    }
}

/// A cube of voxels.
#[derive(Debug, Clone)]
struct Cube {
    at: [u32; 3],
    /// The edge length in voxels, a power of two.
    size: u32,
    /// The nodes of the near field.
    near: Vec<u32>,
    /// The sum over the far field.
    far: Expansion,
}

impl Cube {
    /// The voxel with `index` in ascending order.
    #[inline(always)]
    fn voxel(&self, index: u32) -> [u32; 3] {
        let [x, y, z] = self.at;
        let (bits, mask) = (self.size.ilog2(), self.size - 1);
        [x + (index >> (2 * bits)), y + (index >> bits & mask), z + (index & mask)]
    }
}

/// The result of [`Field::split_near`].
#[derive(Debug, Default)]
struct Split {
    /// Nodes that join the far field.
    far: Vec<u32>,
    /// The sum of the error bounds of `far`.
    errors: ErrorBounds,
    /// An error bound of the polynomials of near inner nodes; that of leaves comes from
    /// [`LoopBvh::expand`]. Infinite if closing rays of one of these nodes may hit the cube: jumps
    /// of `b` are counted by edges.
    near_error: f64,
}

/// The Taylor polynomial of a sum over nodes in a ball (a local expansion).
#[derive(Debug, Clone, Copy, Default)]
struct Expansion {
    center: Point,
    radius: f64,
    /// The sum at the centre.
    number: f64,
    /// The change from the centre, without jumps. The error bound is that of the nodes expanded in
    /// this ball.
    taylor: Taylor,
    /// The error bound of nodes expanded in larger balls, and of multipole expansions.
    constant_error: f64,
}

impl Expansion {
    #[inline]
    fn at(&self, p: Point) -> f64 {
        self.number + self.taylor.change(minus(p, self.center))
    }

    /// A bound of the error anywhere in the ball.
    fn error(&self) -> f64 {
        self.taylor.error + self.constant_error
    }

    /// The same polynomial in a ball within its own (local-to-local translation).
    fn translated(&self, center: Point, radius: f64) -> Self {
        let gradient = self.taylor.gradient_at(minus(center, self.center));
        let taylor = Taylor { gradient, error: 0.0, ..self.taylor };
        Self { center, radius, number: self.at(center), taylor, constant_error: self.error() }
    }

    /// Adds the sum over other nodes, expanded in the same ball.
    fn add(&mut self, number: f64, taylor: &Taylor, multipole_error: f64) {
        self.number += number;
        self.taylor.add(taylor);
        self.constant_error += multipole_error;
    }
}

/// The arguments of [`Field::decide_by_polynomial`].
struct DecideVoxels<'a> {
    field: &'a Field,
    cube: &'a Cube,
    all: &'a Expansion,
    brick: &'a mut Brick,
}

impl WithSimd for DecideVoxels<'_> {
    type Output = Vec<[u32; 3]>;

    /// The Taylor error falls with `x^3`, at `x` times the radius; `x^3 <= (x^2 + x^4) / 2`.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<[u32; 3]> {
        let Self { field, cube, all, brick } = self;
        let mut undecided = Vec::new();
        let jumps = field.jumps(cube, all.center);
        let half = Lanes::splat(0.5);
        let per_squared_radius = Lanes::splat(1.0 / (all.radius * all.radius));
        // The first batch. All others are translated by `x` and `y`, as no column is longer than
        // `LANES`.
        let (mut first, mut slots) = ([Lanes::default(); 3], [0; LANES]);
        for (lane, lane_slot) in slots.iter_mut().enumerate() {
            let voxel = cube.voxel(lane as u32);
            let h = minus(field.center(voxel), all.center);
            (first[0].0[lane], first[1].0[lane], first[2].0[lane]) = (h[0], h[1], h[2]);
            *lane_slot = brick_slot(voxel) - brick_slot(cube.at);
        }
        for start in (0..cube.size.pow(3)).step_by(LANES) {
            let at = cube.voxel(start);
            let translation =
                |a: usize| Lanes::splat(f64::from(at[a] - cube.at[a]) * field.units_per_voxel);
            let h = [first[0] + translation(0), first[1] + translation(1), first[2]];
            let squared = dot(h, h) * per_squared_radius;
            let error = Lanes::splat(all.constant_error)
                + Lanes::splat(0.5 * all.taylor.error) * (squared + squared * squared);
            let number = Lanes::splat(all.number)
                + jumps[start as usize / LANES % jumps.len()]
                + all.taylor.changes(h);
            let certainty = (number - number.floor() - half).abs() - error;
            // Most voxels are neither the least nor the most certain so far.
            if certainty.least() > brick.extremes.least.upper_bound() + ROUNDING
                && certainty.greatest() < brick.extremes.certainty()
                && error.greatest() < MAX_VOXEL_ERROR
            {
                let offsets = (number + half).floor();
                let remainder = number - offsets;
                for (lane_slot, offset) in slots.iter().zip(offsets.0) {
                    brick.content.offsets[brick_slot(at) + lane_slot] = offset as i32;
                }
                if remainder.least() < UNCERTAIN - 0.5 {
                    for (lane_slot, remainder) in slots.iter().zip(remainder.0) {
                        brick.content.mark_if_uncertain(brick_slot(at) + lane_slot, remainder);
                    }
                }
                continue;
            }
            for lane in 0..LANES {
                let voxel = cube.voxel(start + lane as u32);
                if certainty.0[lane] > 0.0 && error.0[lane] < MAX_VOXEL_ERROR {
                    field.set(brick, voxel, number.0[lane], error.0[lane]);
                } else {
                    undecided.push(voxel);
                }
            }
        }
        undecided
    }
}

impl Field {
    pub(in crate::solid) fn new(boundary: &Boundary, lattice: &Lattice) -> Self {
        let units_per_voxel = f64::from(lattice.units_per_voxel());
        Self::of(LoopBvh::new(boundary.loops()), units_per_voxel, lattice.dims)
    }

    fn of(bvh: LoopBvh, units_per_voxel: f64, dims: [u32; 3]) -> Self {
        let (root, bricks) = (bvh.root(), dims.map(|d| d.div_ceil(BRICK)));
        Self { bvh, root, units_per_voxel, arch: Arch::new(), dims, bricks }
    }

    /// Maximum memory of the field of a boundary, in bytes.
    pub(in crate::solid) fn bytes(boundary: &Boundary) -> u64 {
        LoopBvh::bytes(boundary.edges())
    }

    /// The octree's root. Its edge in bricks is a power of two.
    fn root_cube(&self) -> Cube {
        let longest = self.bricks.into_iter().fold(1, u32::max);
        let size = longest.next_power_of_two() * BRICK;
        Cube { at: [0; 3], size, near: self.root.clone(), far: Expansion::default() }
    }

    /// The bricks of the octree's root, the unit of the progress of [`regions`](Self::regions).
    pub(super) fn work(&self) -> u64 {
        u64::from(self.root_cube().size / BRICK).pow(3)
    }

    /// The regions of the grid; incomplete if `progress` is cancelled.
    ///
    /// # Errors
    /// The number of bricks at caps, if it exceeds `room`.
    pub(super) fn regions(&self, room: u64, progress: &dyn Progress) -> Result<Regions, u64> {
        let extremes = Mutex::new(Extremes::below(UNCERTAIN));
        let totals = CapTotals { room, count: AtomicU64::new(0), extremes, progress };
        let regions = self.divide(self.root_cube(), &totals);
        let count = totals.count.into_inner();
        if count > room {
            return Err(count);
        }
        let Extremes { least, most } =
            totals.extremes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let least = least.minimum(|voxel| self.distance(voxel)).filter(|&(d, _)| d < UNCERTAIN);
        let most = most.map(|(_, voxel)| (self.distance(voxel), voxel));
        Ok(Regions { regions, extremes: least.zip(most).map(|(least, most)| [least, most]) })
    }

    /// The regions of a cube of the octree.
    fn divide(&self, mut cube: Cube, totals: &CapTotals) -> Vec<Region> {
        let (size, mut regions) = (cube.size / BRICK, Vec::new());
        let is_in_grid = (0..3).all(|a| cube.at[a] < self.dims[a]);
        if is_in_grid && !totals.progress.is_cancelled() {
            let all = self.estimate(&mut cube);
            if self.is_decided(&cube, &all) {
                regions = self.regions_without_cap(&cube, &all);
            } else if size > 1 {
                let children: Vec<Cube> = children(&cube).collect();
                let children = children.into_par_iter();
                return children.flat_map_iter(|child| self.divide(child, totals)).collect();
            } else if totals.count.fetch_add(1, Relaxed) < totals.room {
                regions.push(self.cap_brick(cube, &all, totals));
            }
        }
        totals.progress.advance(u64::from(size).pow(3));
        regions
    }

    /// The regions of a cube whose voxels have the same offset, except for jumps.
    fn regions_without_cap(&self, cube: &Cube, all: &Expansion) -> Vec<Region> {
        let mut regions = Vec::new();
        let voxels = self.estimated_uncertain(cube, all);
        if voxels > 0 {
            let center = [0, 1, 2].map(|a| (cube.at[a] + cube.size / 2).min(self.dims[a] - 1));
            regions.push(Region::Uncertain { center, voxels });
        }
        if cube.at[0] == 0 {
            let from = [1, 2].map(|a| cube.at[a] / BRICK);
            let to = [1, 2].map(|a| ((cube.at[a] + cube.size) / BRICK).min(self.bricks[a]));
            let offset = self.edges_with_rays_in(cube).is_empty().then(|| offset(all.number));
            regions.push(Region::Rows { from, to, offset });
        }
        regions
    }

    fn cap_brick(&self, cube: Cube, all: &Expansion, totals: &CapTotals) -> Region {
        let at = cube.at;
        let mut brick = Brick::below(totals.extremes().least.upper_bound());
        self.fill(cube, all, &mut brick);
        let Brick { mut content, extremes } = brick;
        totals.extremes().merge(extremes);
        let in_grid = mask_below([0, 1, 2].map(|a| self.dims[a] - at[a]));
        for (layer, in_grid) in content.uncertain.iter_mut().zip(in_grid) {
            *layer &= in_grid;
        }
        Region::Brick { at: at.map(|c| c / BRICK), content }
    }

    /// Moves nodes from the near field of a cube to its polynomial of the far field; returns the
    /// polynomial of both.
    fn estimate(&self, cube: &mut Cube) -> Expansion {
        let (center, radius) = self.ball(cube);
        cube.far = cube.far.translated(center, radius);
        let Split { far, errors, near_error } = self.split_near(cube);
        if !far.is_empty() {
            let (number, taylor) = self.bvh.expand(&far, center, radius);
            cube.far.add(number, &Taylor { error: errors.taylor, ..taylor }, errors.multipoles);
        }
        let mut all = cube.far;
        if near_error < MAX_ERROR {
            let (number, taylor) = self.bvh.expand(&cube.near, center, radius);
            all.add(number, &taylor, near_error);
        } else {
            all.constant_error = f64::INFINITY;
        }
        all.constant_error += ROUNDING;
        all
    }

    /// Removes nodes, or descendants, from the near field: those with an error of at most
    /// [`CUBE_TOLERANCE`] and no closing ray that may hit the cube.
    fn split_near(&self, cube: &mut Cube) -> Split {
        let (center, radius) = self.ball(cube);
        let bounds = self.bounds(cube);
        let mut split = Split::default();
        let mut nodes = std::mem::take(&mut cube.near);
        while let Some(node) = nodes.pop() {
            let errors = self.bvh.errors(node, center, radius);
            let is_far = errors.sum() <= CUBE_TOLERANCE;
            let rays_may_hit = || self.bvh.rays_may_hit(node, &bounds);
            if is_far && !rays_may_hit() {
                split.far.push(node);
                split.errors.taylor += errors.taylor;
                split.errors.multipoles += errors.multipoles;
                continue;
            }
            if let Some(children) = self.bvh.children(node) {
                if is_far || self.bvh.radius(node) > MAX_RADIUS_RATIO * radius {
                    nodes.extend(children);
                    continue;
                }
                split.near_error += if rays_may_hit() { f64::INFINITY } else { errors.sum() };
            }
            cube.near.push(node);
        }
        split
    }

    /// Whether all voxels of a cube have the same offset, except for jumps.
    fn is_decided(&self, cube: &Cube, all: &Expansion) -> bool {
        let half = f64::from(cube.size / 2) * self.units_per_voxel;
        half_integer_distance(all.number) > all.taylor.max_change(half) + all.error()
    }

    /// Computes the offsets of a cube within a brick; `all` is its polynomial of all loops.
    fn fill(&self, cube: Cube, all: &Expansion, brick: &mut Brick) {
        if let Some(undecided) = self.decide(&cube, all, brick) {
            for voxel in undecided {
                let (number, error) = self.number(&cube, voxel);
                self.set(brick, voxel, number, error);
            }
        } else {
            for mut child in children(&cube) {
                let all = self.estimate(&mut child);
                self.fill(child, &all, brick);
            }
        }
    }

    /// Computes the offsets that the polynomial decides; returns the other voxels, `None` if they
    /// are so many that the cube is to be divided.
    fn decide(&self, cube: &Cube, all: &Expansion, brick: &mut Brick) -> Option<Vec<[u32; 3]>> {
        if all.error() < MAX_ERROR {
            let undecided = self.decide_by_polynomial(cube, all, brick);
            return (cube.size == 2 || undecided.len() <= MAX_UNDECIDED).then_some(undecided);
        }
        (cube.size == 2).then(|| (0..8).map(|index| cube.voxel(index)).collect())
    }

    /// Computes the offsets of numbers farther from every `i + 1/2` than their error bound; returns
    /// the other voxels.
    fn decide_by_polynomial(
        &self,
        cube: &Cube,
        all: &Expansion,
        brick: &mut Brick,
    ) -> Vec<[u32; 3]> {
        self.arch.dispatch(DecideVoxels { field: self, cube, all, brick })
    }

    /// The jumps of `b` from `center` to each column of `cube`, by `y` and `z`.
    fn jumps(&self, cube: &Cube, center: Point) -> Vec<Lanes> {
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

    /// Sets the offset of a voxel; `number` is `b` or a number with the same offset, and `error`
    /// its error bound.
    #[inline]
    fn set(&self, brick: &mut Brick, voxel: [u32; 3], number: f64, error: f64) {
        let offset = offset(number);
        brick.content.offsets[brick_slot(voxel)] = offset;
        brick.content.mark_if_uncertain(brick_slot(voxel), number - f64::from(offset));
        if (0..3).all(|a| voxel[a] < self.dims[a]) {
            brick.extremes.add(half_integer_distance(number), error, voxel);
        }
    }

    /// `b` at the centre of a voxel of `cube`, or a number with the same offset, and its error
    /// bound.
    fn number(&self, cube: &Cube, voxel: [u32; 3]) -> (f64, f64) {
        let p = self.center(voxel);
        self.number_in(cube, p).unwrap_or_else(|| self.number_from_root(p))
    }

    /// [`number`](Self::number) by the near and far fields of the cube, if these decide the offset.
    fn number_in(&self, cube: &Cube, p: Point) -> Option<(f64, f64)> {
        let (number, error) = self.bvh.number(&cube.near, p, CUBE_TOLERANCE);
        let (number, error) = (number + cube.far.at(p), error + cube.far.error() + ROUNDING);
        (half_integer_distance(number) > error).then_some((number, error))
    }

    /// The offset of one voxel.
    pub(super) fn offset(&self, voxel: [u32; 3]) -> i32 {
        self.offset_at(self.center(voxel))
    }

    /// The offset at a point, in lattice units.
    pub(in crate::solid) fn offset_at(&self, p: Point) -> i32 {
        offset(self.number_from_root(p).0)
    }

    /// The distance of `b` at the centre of a voxel from the nearest `i + 1/2`.
    fn distance(&self, voxel: [u32; 3]) -> f64 {
        half_integer_distance(self.exact(self.center(voxel)))
    }

    /// `b` or a number with the same offset, and its error bound: 0 for the sum over all edges.
    fn number_from_root(&self, p: Point) -> (f64, f64) {
        for tolerance in VOXEL_TOLERANCES {
            let (number, error) = self.bvh.number(&self.root, p, tolerance);
            if error == 0.0 {
                // No node was approximated.
                return (number, 0.0);
            }
            if half_integer_distance(number) > error + ROUNDING {
                return (number, error + ROUNDING);
            }
        }
        (self.exact(p), 0.0)
    }

    /// `b`, the sum over all edges.
    fn exact(&self, p: Point) -> f64 {
        self.bvh.number(&self.root, p, 0.0).0
    }

    /// The edges with closing rays that may hit the cube: those of the jumps of `b` in it.
    fn edges_with_rays_in(&self, cube: &Cube) -> Vec<Edge> {
        self.bvh.edges_with_rays_in(&cube.near, &self.bounds(cube))
    }

    /// The bounding ball of a cube of bricks, as columns continue in the next one, or of the voxel
    /// centres of a part of a brick: its centre and radius.
    fn ball(&self, cube: &Cube) -> (Point, f64) {
        let half = f64::from(cube.size) / 2.0;
        let half_extent = if cube.size < BRICK { half - 0.5 } else { half };
        let center = cube.at.map(|c| (f64::from(c) + half) * self.units_per_voxel);
        (center, half_extent * self.units_per_voxel * 3f64.sqrt())
    }

    /// The estimated number of uncertain voxels above an `i + 1/2` in a cube without caps, for
    /// uniformly distributed numbers: around the number at the centre, with a standard deviation of
    /// `half |g| / sqrt(3)`, where `g` is the polynomial's gradient.
    fn estimated_uncertain(&self, cube: &Cube, all: &Expansion) -> u64 {
        let half = f64::from(cube.size / 2) * self.units_per_voxel;
        let above = all.number - all.number.floor() - 0.5;
        if above < 0.0 {
            return 0;
        }
        let share = 0.5 + 0.5 * (UNCERTAIN - above) / (half * norm(all.taylor.gradient));
        let length = |a: usize| u64::from(cube.size.min(self.dims[a].saturating_sub(cube.at[a])));
        let voxels_in_grid: u64 = (0..3).map(length).product();
        (share.clamp(0.0, 1.0) * voxels_in_grid as f64).round() as u64
    }

    fn bounds(&self, cube: &Cube) -> Aabb {
        let corner = |by: u32| cube.at.map(|c| f64::from(c + by) * self.units_per_voxel);
        Aabb { lo: corner(0), hi: corner(cube.size) }
    }

    fn center(&self, voxel: [u32; 3]) -> Point {
        voxel.map(|c| (f64::from(c) + 0.5) * self.units_per_voxel)
    }
}

fn children(cube: &Cube) -> impl Iterator<Item = Cube> {
    let half = cube.size / 2;
    (0..8).map(move |child| {
        let at = [0, 1, 2].map(|a| cube.at[a] + half * (child >> a & 1));
        Cube { at, size: half, ..cube.clone() }
    })
}

/// The distance of `number` from the nearest `i + 1/2`.
fn half_integer_distance(number: f64) -> f64 {
    (number - number.floor() - 0.5).abs()
}

/// The offset for `b`; a voxel within [`ROUNDING`] of a cap is inside.
fn offset(number: f64) -> i32 {
    (number + 0.5 + ROUNDING).floor() as i32
}

#[cfg(test)]
mod tests;
