//! The difference between the winding number of an open surface and the signed count of a column's
//! crossings.
//!
//! The number is `n + b` ([`solid_angle`](crate::solid::fill::solid_angle)). A voxel is inside if it is at
//! least 1/2, that is, if `n` plus the *offset* `k = floor(b + 1/2)` is at least 1. Along a column
//! the offset changes only where `b` passes `i + 1/2` for an integer `i`: at caps across the holes,
//! and at the boundary itself. An octree divides the grid; a cube is decided as a whole if a bound
//! of the change of `b` excludes every `i + 1/2`. In the remaining bricks, which lie at the caps,
//! each voxel has its own offset.
//!
//! `b` is smooth except for integer steps across the rays from the boundary towards `+x`, which do
//! not affect the bound; between two points of a cube they are counted exactly. In a cube, loops
//! and [clusters](crate::solid::fill::clusters) of them that are small or far away are replaced by their
//! Taylor polynomial of degree 2 at its centre, with an error bound.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::base::lanes::{LANES, Lanes};
use crate::base::progress::Progress;
use crate::base::vector::{dot, minus, norm};
use crate::grid::{BRICK, Mask, brick_slot};
use crate::lattice::Lattice;
use crate::solid::fill::clusters::{Clusters, Errors};
use crate::solid::fill::extremes::{Candidates, Valued, lesser};
use crate::solid::fill::solid_angle::{Edge, Point, Taylor};
use crate::solid::topology::Boundary;

/// Bound of the rounding error of a sum over all edges, at points that are at least one lattice
/// unit from every edge: at most [`MAX_EDGES`](crate::solid::topology::MAX_EDGES) factors, each with an
/// error of a few `2^-53`. At a smaller distance `d` an edge of length `l` has an error of about
/// `2^-53 l / d`. A voxel whose winding number is less than this below 1/2 is inside.
const ROUNDING: f64 = 1e-8;
/// Maximum error of a far cluster in a cube (the acceptance criterion). A larger tolerance leaves
/// fewer clusters to sum at each voxel, but more voxels that the polynomial does not decide.
const CUBE_TOLERANCE: f64 = 3e-5;
/// Maximum errors of a cluster in a sum for one voxel; the second if the first does not decide.
const VOXEL_TOLERANCES: [f64; 2] = [1e-5, 1e-7];
/// Maximum ratio of the reach of a near cluster to the radius of a cube; a larger one is replaced
/// by its children.
const MAX_REACH: f64 = 0.5;
/// Below this distance of its number from the nearest `i + 1/2` a voxel is uncertain: the number is
/// nearer to that than to an integer.
const UNCERTAIN: f64 = 0.25;
/// Maximum error of a decided voxel: it cannot be the least certain one if its number is near an
/// integer, as most are even where polynomials have large errors.
const MAX_VOXEL_ERROR: f64 = 0.2;
/// With a larger error a polynomial decides no voxel.
const MAX_ERROR: f64 = 1.0;
/// Maximum number of undecided voxels of a cube that is not divided: about what its eight children
/// cost.
const MAX_UNDECIDED: usize = 40;

/// Offsets of the voxels of a brick; voxel `(x, y, z)` has index `64 x + 8 y + z`.
pub(super) type Offsets = [i32; 512];

/// A region of the grid.
pub(super) enum Region {
    /// Rows of bricks, a half-open range in `y` and `z`, whose first brick has one offset in all
    /// voxels; `None` if the offset must be computed per column.
    Rows { from: [u32; 2], to: [u32; 2], offset: Option<i32> },
    /// A brick whose voxels have offsets of their own.
    Brick { at: [u32; 3], content: Box<CapBrick> },
    /// The estimated number of uncertain voxels of a cube with one offset, where the voxels are
    /// inside, and the voxel at its centre.
    Uncertain { center: [u32; 3], voxels: u64 },
}

/// A brick at a cap.
#[derive(Debug, Clone)]
pub(super) struct CapBrick {
    pub(super) offsets: Offsets,
    /// The voxels whose number is less than [`UNCERTAIN`] above an `i + 1/2`.
    pub(super) uncertain: Mask,
}

impl CapBrick {
    /// Marks a voxel as uncertain, if it is: by its number, relative to the offset.
    #[inline(always)]
    fn mark(&mut self, slot: usize, above: f64) {
        self.uncertain[slot / 64] |= u64::from(above < UNCERTAIN - 0.5) << (slot % 64);
    }
}

/// What [`Field::regions`] finds.
pub(super) struct Regions {
    /// Rows that cover the grid, and the bricks at caps, in any order.
    pub(super) regions: Vec<Region>,
    /// The least certain voxel of the bricks at caps, and one of the most certain, with the
    /// distances of their numbers from the nearest `i + 1/2`, at most 1/2. `None` if no voxel of
    /// these bricks is below [`UNCERTAIN`].
    pub(super) extremes: Option<[Valued; 2]>,
}

/// The boundary of a surface, on its lattice.
pub(super) struct Field {
    clusters: Clusters,
    /// The cluster of all loops.
    all: Vec<u32>,
    units_per_voxel: f64,
    arch: Arch,
    dims: [u32; 3],
    /// The dimensions in bricks.
    bricks: [u32; 3],
}

/// All bricks at caps.
struct Bricks<'a> {
    /// Beyond this number they are only counted.
    room: u64,
    count: AtomicU64,
    extremes: Mutex<Extremes>,
    progress: &'a dyn Progress,
}

impl Bricks<'_> {
    fn extremes(&self) -> MutexGuard<'_, Extremes> {
        self.extremes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The least and the most certain voxels.
struct Extremes {
    /// By the distance of the number from the nearest `i + 1/2`.
    least: Candidates,
    /// The voxel with the least `error - distance`: with the greatest lower bound of the distance.
    most: Option<Valued>,
}

impl Extremes {
    /// Without voxels. Voxels whose distance is above `bound` cannot be the least certain.
    fn below(bound: f64) -> Self {
        Self { least: Candidates::below(bound), most: None }
    }

    /// A lower bound of the distance of the most certain voxel's number from `i + 1/2`.
    #[inline]
    fn certainty(&self) -> f64 {
        self.most.map_or(f64::NEG_INFINITY, |(uncertainty, _)| -uncertainty)
    }

    /// Adds a voxel whose distance differs by at most `error` from that of the sum over all edges.
    #[inline]
    fn add(&mut self, distance: f64, error: f64, voxel: [u32; 3]) {
        // An approximation and the sum have different rounding errors. Where a cap passes through
        // the centres of many voxels, the distances of sums are compared as they are: all are about
        // 0, and with an error bound all would be candidates.
        let rounding = if error == 0.0 { 0.0 } else { ROUNDING };
        self.least.add(distance, error + rounding, voxel);
        self.most = lesser(self.most, Some((error - distance, voxel)));
    }

    fn merge(&mut self, other: Self) {
        self.least.merge(other.least);
        self.most = lesser(self.most, other.most);
    }
}

/// A brick at a cap, and its extremes.
struct Brick {
    content: Box<CapBrick>,
    extremes: Extremes,
}

/// A cube of voxels.
#[derive(Debug, Clone)]
struct Cube {
    at: [u32; 3],
    /// The edge length in voxels, a power of two.
    size: u32,
    /// The clusters that are not in `far`.
    near: Vec<u32>,
    /// The sum over the other clusters.
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

/// The clusters that [`Field::split_near`] removes, and the errors of those that remain.
#[derive(Debug, Default)]
struct Split {
    far: Vec<u32>,
    /// The sum of the error bounds of `far`.
    errors: Errors,
    /// An error bound of the polynomials of the near clusters that are not leaves; that of leaves
    /// comes from [`Clusters::expand`]. Infinite if rays towards `+x` of one of them may reach the
    /// cube: only edges tell where `b` has steps.
    near_error: f64,
}

/// The Taylor polynomial of a sum over clusters in a ball.
#[derive(Debug, Clone, Copy, Default)]
struct Expansion {
    center: Point,
    radius: f64,
    /// The sum at the centre.
    number: f64,
    /// Its change, modulo integer steps. The error bound is that of clusters expanded at this
    /// centre.
    taylor: Taylor,
    /// The error bound of clusters expanded in larger balls, and of multipole expansions.
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
        let gradient = self.taylor.slope(minus(center, self.center));
        let taylor = Taylor { gradient, error: 0.0, ..self.taylor };
        Self { center, radius, number: self.at(center), taylor, constant_error: self.error() }
    }

    /// Adds the sum over other clusters, expanded in the same ball.
    fn add(&mut self, number: f64, taylor: &Taylor, multipole_error: f64) {
        self.number += number;
        self.taylor.add(taylor);
        self.constant_error += multipole_error;
    }
}

/// Computes the offsets of a cube's voxels by its polynomial, where the error bound leaves no doubt
/// on which side of an `i + 1/2` the number is.
struct Decide<'a> {
    field: &'a Field,
    cube: &'a Cube,
    all: &'a Expansion,
    brick: &'a mut Brick,
    /// The undecided voxels.
    undecided: &'a mut Vec<[u32; 3]>,
}

impl WithSimd for Decide<'_> {
    type Output = ();

    /// The Taylor error falls with `x^3`, at `x` times the radius; `x^3 <= (x^2 + x^4) / 2`.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { field, cube, all, brick, undecided } = self;
        let steps = field.steps(cube, all.center);
        let half = Lanes::splat(0.5);
        let by_squared = Lanes::splat(1.0 / (all.radius * all.radius));
        // Of the first voxels; the others differ from them by a translation along `x` and `y`, as
        // no column is longer than `LANES`.
        let (mut first, mut slots) = ([Lanes::default(); 3], [0; LANES]);
        for (lane, lane_slot) in slots.iter_mut().enumerate() {
            let voxel = cube.voxel(lane as u32);
            let h = minus(field.center(voxel), all.center);
            (first[0].0[lane], first[1].0[lane], first[2].0[lane]) = (h[0], h[1], h[2]);
            *lane_slot = brick_slot(voxel) - brick_slot(cube.at);
        }
        for start in (0..cube.size.pow(3)).step_by(LANES) {
            let at = cube.voxel(start);
            let step =
                |a: usize| Lanes::splat(f64::from(at[a] - cube.at[a]) * field.units_per_voxel);
            let h = [first[0] + step(0), first[1] + step(1), first[2]];
            let squared = dot(h, h) * by_squared;
            let error = Lanes::splat(all.constant_error)
                + Lanes::splat(0.5 * all.taylor.error) * (squared + squared * squared);
            let number = Lanes::splat(all.number)
                + steps[start as usize / LANES % steps.len()]
                + all.taylor.changes(h);
            let certainty = (number - number.floor() - half).abs() - error;
            // Most voxels are neither the least nor the most certain so far.
            if certainty.least() > brick.extremes.least.bound() + ROUNDING
                && certainty.greatest() < brick.extremes.certainty()
                && error.greatest() < MAX_VOXEL_ERROR
            {
                let offsets = (number + half).floor();
                let above = number - offsets;
                for (lane_slot, offset) in slots.iter().zip(offsets.0) {
                    brick.content.offsets[brick_slot(at) + lane_slot] = offset as i32;
                }
                if above.least() < UNCERTAIN - 0.5 {
                    for (lane_slot, above) in slots.iter().zip(above.0) {
                        brick.content.mark(brick_slot(at) + lane_slot, above);
                    }
                }
                continue;
            }
            for lane in 0..LANES {
                let voxel = cube.voxel(start + lane as u32);
                match certainty.0[lane] > 0.0 && error.0[lane] < MAX_VOXEL_ERROR {
                    true => field.set(brick, voxel, number.0[lane], error.0[lane]),
                    false => undecided.push(voxel),
                }
            }
        }
    }
}

impl Field {
    pub(super) fn new(boundary: &Boundary, lattice: &Lattice) -> Self {
        let clusters = Clusters::new(boundary.loops());
        Self {
            all: clusters.root().into_iter().collect(),
            clusters,
            units_per_voxel: f64::from(lattice.units_per_voxel()),
            arch: Arch::new(),
            dims: lattice.dims,
            bricks: lattice.dims.map(|d| d.div_ceil(BRICK)),
        }
    }

    /// Maximum memory of the field of a boundary, in bytes.
    pub(super) fn bytes(boundary: &Boundary) -> u64 {
        Clusters::bytes(boundary.edges())
    }

    /// The bricks along an edge of the cube that is divided, a power of two.
    fn longest(&self) -> u32 {
        self.bricks.into_iter().max().unwrap_or(1).next_power_of_two()
    }

    /// The bricks of the cube that is divided: what [`regions`](Self::regions) advances by.
    pub(super) fn work(&self) -> u64 {
        u64::from(self.longest()).pow(3)
    }

    /// Incomplete if `progress` is cancelled.
    ///
    /// # Errors
    /// The number of bricks at caps, if it exceeds `room`.
    pub(super) fn regions(&self, room: u64, progress: &dyn Progress) -> Result<Regions, u64> {
        let near = self.all.clone();
        let whole =
            Cube { at: [0; 3], size: self.longest() * BRICK, near, far: Expansion::default() };
        let extremes = Mutex::new(Extremes::below(UNCERTAIN));
        let bricks = Bricks { room, count: AtomicU64::new(0), extremes, progress };
        let regions = self.divide(whole, &bricks);
        let count = bricks.count.load(Relaxed);
        if count > room {
            return Err(count);
        }
        let Extremes { least, most } =
            bricks.extremes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let least = least.least(|voxel| self.distance(voxel)).filter(|&(d, _)| d < UNCERTAIN);
        let most = most.map(|(_, voxel)| (self.distance(voxel), voxel));
        Ok(Regions { regions, extremes: least.zip(most).map(|(least, most)| [least, most]) })
    }

    fn divide(&self, mut cube: Cube, bricks: &Bricks) -> Vec<Region> {
        let brick = cube.at.map(|c| c / BRICK);
        let size = cube.size / BRICK;
        let done = |regions: Vec<Region>| {
            bricks.progress.advance(u64::from(size).pow(3));
            regions
        };
        if (0..3).any(|a| brick[a] >= self.bricks[a]) || bricks.progress.is_cancelled() {
            return done(Vec::new());
        }
        let all = self.estimate(&mut cube);
        let half = f64::from(cube.size / 2) * self.units_per_voxel;
        if half_distance(all.number) > all.taylor.max_change(half) + all.error() {
            let mut regions = Vec::new();
            let voxels = self.uncertain(&cube, &all);
            if voxels > 0 {
                let center = [0, 1, 2].map(|a| (cube.at[a] + cube.size / 2).min(self.dims[a] - 1));
                regions.push(Region::Uncertain { center, voxels });
            }
            if brick[0] > 0 {
                return done(regions);
            }
            let to = [1, 2].map(|a| (brick[a] + size).min(self.bricks[a]));
            let offset = self.shading(&cube).is_empty().then(|| offset(all.number));
            regions.push(Region::Rows { from: [brick[1], brick[2]], to, offset });
            return done(regions);
        }
        if size > 1 {
            let children: Vec<Cube> = children(&cube).collect();
            return children
                .into_par_iter()
                .flat_map_iter(|child| self.divide(child, bricks))
                .collect();
        }
        if bricks.count.fetch_add(1, Relaxed) >= bricks.room {
            return done(Vec::new());
        }
        let bound = bricks.extremes().least.bound();
        let content = Box::new(CapBrick { offsets: [0; 512], uncertain: Mask::default() });
        let mut filled = Brick { content, extremes: Extremes::below(bound) };
        self.fill(cube, &all, &mut filled);
        let Brick { mut content, extremes } = filled;
        bricks.extremes().merge(extremes);
        let [_, y, z] = brick.map(|c| c * BRICK);
        let is_in_grid =
            |&column: &u32| y + column / 8 < self.dims[1] && z + column % 8 < self.dims[2];
        let columns: u64 = (0..64).filter(is_in_grid).map(|column| 1 << column).sum();
        for (x, layer) in content.uncertain.iter_mut().enumerate() {
            let is_in_grid = brick[0] * BRICK + (x as u32) < self.dims[0];
            *layer &= if is_in_grid { columns } else { 0 };
        }
        done(vec![Region::Brick { at: brick, content }])
    }

    /// Adds clusters that are far from the cube to its polynomial; returns the polynomial of all
    /// clusters.
    fn estimate(&self, cube: &mut Cube) -> Expansion {
        let (center, radius) = self.ball(cube);
        cube.far = cube.far.translated(center, radius);
        let Split { far, errors, near_error } = self.split_near(cube);
        if !far.is_empty() {
            let (number, taylor) = self.clusters.expand(&far, center, radius);
            cube.far.add(number, &Taylor { error: errors.taylor, ..taylor }, errors.multipoles);
        }
        let mut all = cube.far;
        if near_error < MAX_ERROR {
            let (number, taylor) = self.clusters.expand(&cube.near, center, radius);
            all.add(number, &taylor, near_error);
        } else {
            all.constant_error = f64::INFINITY;
        }
        all.constant_error += ROUNDING;
        all
    }

    /// Removes from the near clusters, and their descendants, those that are far from the cube and
    /// whose rays towards `+x` do not reach it.
    fn split_near(&self, cube: &mut Cube) -> Split {
        let (center, radius) = self.ball(cube);
        let [lo, hi] = self.bounds(cube.at, cube.size);
        let mut split = Split::default();
        let mut nodes = std::mem::take(&mut cube.near);
        while let Some(node) = nodes.pop() {
            let errors = self.clusters.errors(node, center, radius);
            let is_far = errors.sum() <= CUBE_TOLERANCE;
            let may_shade = || self.clusters.may_shade(node, lo, hi);
            if is_far && !may_shade() {
                split.far.push(node);
                split.errors.taylor += errors.taylor;
                split.errors.multipoles += errors.multipoles;
                continue;
            }
            match self.clusters.children(node) {
                Some(children) if is_far || self.clusters.reach(node) > MAX_REACH * radius => {
                    nodes.extend(children);
                    continue;
                }
                Some(_) => {
                    split.near_error += if may_shade() { f64::INFINITY } else { errors.sum() }
                }
                None => {}
            }
            cube.near.push(node);
        }
        split
    }

    /// Computes the offsets of a cube within a brick, given the polynomial of all loops.
    fn fill(&self, cube: Cube, all: &Expansion, brick: &mut Brick) {
        let mut undecided = Vec::new();
        let is_smooth = all.error() < MAX_ERROR;
        if is_smooth {
            let undecided = &mut undecided;
            self.arch.dispatch(Decide { field: self, cube: &cube, all, brick, undecided });
        } else if cube.size == 2 {
            undecided.extend((0..8).map(|index| cube.voxel(index)));
        }
        if cube.size > 2 && (!is_smooth || undecided.len() > MAX_UNDECIDED) {
            for mut child in children(&cube) {
                let all = self.estimate(&mut child);
                self.fill(child, &all, brick);
            }
            return;
        }
        for voxel in undecided {
            let (number, error) = self.number(&cube, voxel);
            self.set(brick, voxel, number, error);
        }
    }

    /// The integer steps of `b` from `center` to each column of `cube`, by `y` and `z`.
    fn steps(&self, cube: &Cube, center: Point) -> Vec<Lanes> {
        let columns = cube.size.pow(2).max(LANES as u32);
        let mut steps = vec![Lanes::default(); columns as usize / LANES];
        let shading = self.shading(cube);
        if !shading.is_empty() {
            for column in 0..columns {
                // Along a column there are no steps.
                let first = self.center(cube.voxel(column));
                steps[column as usize / LANES].0[column as usize % LANES] =
                    shading.iter().map(|edge| edge.step(center, first)).sum();
            }
        }
        steps
    }

    /// Sets the offset of a voxel for which `b` is `number`, or a number with the same offset, with
    /// an error of at most `error`.
    #[inline]
    fn set(&self, brick: &mut Brick, voxel: [u32; 3], number: f64, error: f64) {
        let offset = offset(number);
        brick.content.offsets[brick_slot(voxel)] = offset;
        brick.content.mark(brick_slot(voxel), number - f64::from(offset));
        if (0..3).all(|a| voxel[a] < self.dims[a]) {
            brick.extremes.add(half_distance(number), error, voxel);
        }
    }

    /// `b` at the centre of a voxel of `cube`, or a number with the same offset, and its error
    /// bound.
    fn number(&self, cube: &Cube, voxel: [u32; 3]) -> (f64, f64) {
        let p = self.center(voxel);
        let (number, error) = self.clusters.number(&cube.near, p, CUBE_TOLERANCE);
        let (number, error) = (number + cube.far.at(p), error + cube.far.error() + ROUNDING);
        match half_distance(number) > error {
            true => (number, error),
            false => self.number_from_root(p),
        }
    }

    /// The offset of one voxel.
    pub(super) fn offset(&self, voxel: [u32; 3]) -> i32 {
        offset(self.number_from_root(self.center(voxel)).0)
    }

    /// The distance of `b` at the centre of a voxel from the nearest `i + 1/2`.
    fn distance(&self, voxel: [u32; 3]) -> f64 {
        half_distance(self.exact(self.center(voxel)))
    }

    /// `b` or a number with the same offset, and its error bound: 0 for the sum over all edges.
    fn number_from_root(&self, p: Point) -> (f64, f64) {
        for tolerance in VOXEL_TOLERANCES {
            let (number, error) = self.clusters.number(&self.all, p, tolerance);
            if error == 0.0 {
                // No cluster was approximated.
                return (number, 0.0);
            }
            if half_distance(number) > error + ROUNDING {
                return (number, error + ROUNDING);
            }
        }
        (self.exact(p), 0.0)
    }

    /// `b`, the sum over all edges.
    fn exact(&self, p: Point) -> f64 {
        self.clusters.number(&self.all, p, 0.0).0
    }

    /// The edges across whose rays `b` may have integer steps in the cube.
    fn shading(&self, cube: &Cube) -> Vec<Edge> {
        let [lo, hi] = self.bounds(cube.at, cube.size);
        self.clusters.shading(&cube.near, lo, hi)
    }

    /// The centre, and the radius in which the bounds must hold: the whole cube if it has bricks or
    /// more, since columns continue in the next one; the voxels' centres for a part of a brick.
    fn ball(&self, cube: &Cube) -> (Point, f64) {
        let half = f64::from(cube.size) / 2.0;
        let reach = if cube.size < BRICK { half - 0.5 } else { half };
        let center = cube.at.map(|c| (f64::from(c) + half) * self.units_per_voxel);
        (center, reach * self.units_per_voxel * 3f64.sqrt())
    }

    /// The number of voxels of a cube without caps whose number is less than [`UNCERTAIN`] above an
    /// `i + 1/2`, estimated as if numbers were uniformly distributed: by the polynomial's gradient
    /// `g`, with a standard deviation of `half |g| / sqrt(3)` from the number at the centre.
    fn uncertain(&self, cube: &Cube, all: &Expansion) -> u64 {
        let half = f64::from(cube.size / 2) * self.units_per_voxel;
        let above = all.number - all.number.floor() - 0.5;
        if above < 0.0 {
            return 0;
        }
        let share = 0.5 + 0.5 * (UNCERTAIN - above) / (half * norm(all.taylor.gradient));
        (share.clamp(0.0, 1.0) * self.volume(cube) as f64).round() as u64
    }

    /// The number of voxels of a cube within the grid.
    fn volume(&self, cube: &Cube) -> u64 {
        let length =
            |a: usize| (cube.at[a] + cube.size).min(self.dims[a]) - cube.at[a].min(self.dims[a]);
        (0..3).map(|a| u64::from(length(a))).product()
    }

    fn bounds(&self, at: [u32; 3], size: u32) -> [Point; 2] {
        [at, at.map(|c| c + size)].map(|corner| corner.map(|c| f64::from(c) * self.units_per_voxel))
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
fn half_distance(number: f64) -> f64 {
    (number - number.floor() - 0.5).abs()
}

/// The offset for `b`; a voxel within the error bound of a cap is inside.
fn offset(number: f64) -> i32 {
    (number + 0.5 + ROUNDING).floor() as i32
}

#[cfg(test)]
mod tests;
