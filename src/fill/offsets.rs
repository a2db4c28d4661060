//! The difference between the winding number of an open surface and the signed count of a column's
//! crossings.
//!
//! The number is `n + b` ([`solid_angle`](crate::fill::solid_angle)). A voxel is inside if it is at
//! least 1/2, that is, if `n` plus the *offset* `k = floor(b + 1/2)` is at least 1. Along a column
//! the offset changes only where `b` passes `i + 1/2` for an integer `i`: at caps across the holes,
//! and at the boundary itself. An octree divides the grid; a cube is decided as a whole if a bound
//! of the change of `b` excludes every `i + 1/2`. In the remaining bricks, which lie at the caps,
//! each voxel has its own offset.
//!
//! `b` is smooth except for integer steps across the rays from the boundary towards `+x`, which do
//! not affect the bound; between two points of a cube they are counted exactly. In a cube, loops
//! and [clusters](crate::fill::clusters) of them that are small or far away are replaced by their
//! Taylor polynomial of degree 2 at its centre, with an error bound.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::fill::clusters::{Clusters, Errors};
use crate::fill::extremes::{Candidates, Valued, lesser};
use crate::fill::lanes::{self, LANES, Lanes};
use crate::fill::solid_angle::{Edge, Point, Taylor, minus};
use crate::grid::BRICK;
use crate::place::Lattice;
use crate::progress::Progress;
use crate::topology::Boundary;

/// Error bound of a sum over loops: at most [`MAX_EDGES`](crate::topology::MAX_EDGES) factors with
/// relative errors of a few `2^-53`. A voxel within it of 1/2 is inside.
const NOISE: f64 = 1e-8;
/// Maximum error of a cluster that is replaced by its polynomial. A larger value leaves fewer to sum
/// at each voxel, but more voxels that the polynomial does not decide.
const FAR: f64 = 3e-5;
/// Maximum errors of a cluster in sums over all of them for one voxel: the second if the first leaves
/// a doubt.
const WHOLE: [f64; 2] = [1e-5, 1e-7];
/// A near cluster whose reach is a larger multiple of a cube's radius is divided.
const OPEN: f64 = 0.5;
/// Above this error a polynomial does not decide any voxel.
const MOST_ERROR: f64 = 1.0;
/// With more undecided voxels a cube is divided: its eight parts cost as much as this many sums.
const MOST_OPEN: usize = 40;

/// Offsets of the voxels of a brick; voxel `(x, y, z)` has index `64 x + 8 y + z`.
pub(super) type Offsets = [i16; 512];

/// A region of the grid.
pub(super) enum Part {
    /// Rows of bricks, a half-open range in `y` and `z`, whose first brick has one offset in all
    /// voxels; `None` if the offset must be computed per column.
    Rows { from: [u32; 2], to: [u32; 2], offset: Option<i16> },
    /// A brick whose voxels have offsets of their own.
    Brick { at: [u32; 3], offsets: Box<Offsets> },
}

/// What [`Field::parts`] finds.
pub(super) struct Parts {
    /// Rows that cover the grid, and the bricks at caps, in any order.
    pub(super) parts: Vec<Part>,
    /// The least certain voxel of the bricks at caps, and one of the most certain, with the
    /// distances of their numbers from the nearest `i + 1/2`, at most 1/2.
    pub(super) extremes: Option<[Valued; 2]>,
}

/// The boundary of a surface, on its lattice.
pub(super) struct Field {
    clusters: Clusters,
    /// The cluster of all loops.
    all: Vec<u32>,
    unit: f64,
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
    /// The distances of numbers from the nearest `i + 1/2`.
    least: Candidates,
    /// The least `error - distance`, whose voxel is certainly far from `i + 1/2`.
    most: Option<Valued>,
}

impl Extremes {
    /// No voxel has been added yet; uncertain ones count below `bound`.
    fn below(bound: f64) -> Self {
        Self { least: Candidates::below(bound), most: None }
    }

    /// A lower bound of the distance of the most certain voxel's number from `i + 1/2`.
    #[inline]
    fn certainty(&self) -> f64 {
        self.most.map_or(f64::NEG_INFINITY, |(uncertainty, _)| -uncertainty)
    }

    /// Adds a voxel whose distance is known up to `error`; 0 if it is that of the sum over all edges.
    #[inline]
    fn add(&mut self, distance: f64, error: f64, voxel: [u32; 3]) {
        // That sum, with which others are compared, has an error of its own. If a cap passes through
        // the centres of many voxels, all distances are about 0: with an error they would be ties.
        let noise = if error == 0.0 { 0.0 } else { NOISE };
        self.least.add(distance, error + noise, voxel);
        self.most = lesser(self.most, Some((error - distance, voxel)));
    }

    fn merge(&mut self, other: Self) {
        self.least.merge(other.least);
        self.most = lesser(self.most, other.most);
    }
}

/// A brick at a cap.
struct Brick {
    offsets: Box<Offsets>,
    extremes: Extremes,
}

/// A cube of voxels.
#[derive(Debug, Clone)]
struct Cube {
    at: [u32; 3],
    /// The edge length in voxels, a power of two.
    size: u32,
    /// Clusters of loops that have no polynomial here.
    near: Vec<u32>,
    /// The others.
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

/// A sum over loops in a ball, as a Taylor polynomial.
#[derive(Debug, Clone, Copy, Default)]
struct Expansion {
    center: Point,
    radius: f64,
    /// The sum at the centre.
    number: f64,
    /// Its change, modulo integer steps. The error bound is that of loops expanded at this centre.
    taylor: Taylor,
    /// The error bound of loops expanded in larger balls, around other centres.
    moved_error: f64,
}

impl Expansion {
    #[inline]
    fn at(&self, p: Point) -> f64 {
        self.number + self.taylor.change(minus(p, self.center))
    }

    /// A bound of the error anywhere in the ball.
    fn error(&self) -> f64 {
        self.taylor.error + self.moved_error
    }

    /// The same polynomial in a ball within its own.
    fn moved(&self, center: Point, radius: f64) -> Self {
        let gradient = self.taylor.slope(minus(center, self.center));
        let taylor = Taylor { gradient, error: 0.0, ..self.taylor };
        Self { center, radius, number: self.at(center), taylor, moved_error: self.error() }
    }

    /// Adds the sum over other loops.
    fn add(&mut self, number: f64, taylor: &Taylor, multipole_error: f64) {
        self.number += number;
        self.taylor.add(taylor);
        self.moved_error += multipole_error;
    }
}

/// Computes the offsets of a cube's voxels by its polynomial, where the error bound leaves no doubt
/// on which side of an `i + 1/2` the number is.
struct Decide<'a> {
    field: &'a Field,
    cube: &'a Cube,
    all: &'a Expansion,
    brick: &'a mut Brick,
    /// The other voxels.
    open: &'a mut Vec<[u32; 3]>,
}

impl WithSimd for Decide<'_> {
    type Output = ();

    /// The error of expanded loops falls with `x^3`, and `x <= (1 + x^2) / 2`.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { field, cube, all, brick, open } = self;
        let steps = field.steps(cube, all.center);
        let half = Lanes::splat(0.5);
        let by_squared = Lanes::splat(1.0 / (all.radius * all.radius));
        // The first voxels; the others are the same, moved.
        let (mut first, mut slots) = ([Lanes::default(); 3], [0; LANES]);
        for (lane, lane_slot) in slots.iter_mut().enumerate() {
            let voxel = cube.voxel(lane as u32);
            let h = minus(field.center(voxel), all.center);
            (first[0].0[lane], first[1].0[lane], first[2].0[lane]) = (h[0], h[1], h[2]);
            *lane_slot = slot(voxel) - slot(cube.at);
        }
        for start in (0..cube.size.pow(3)).step_by(LANES) {
            let at = cube.voxel(start);
            let step = |a: usize| Lanes::splat(f64::from(at[a] - cube.at[a]) * field.unit);
            let h = [first[0] + step(0), first[1] + step(1), first[2] + step(2)];
            let squared = lanes::dot(h, h) * by_squared;
            let error = Lanes::splat(all.moved_error)
                + Lanes::splat(0.5 * all.taylor.error) * (squared + squared * squared);
            let number = Lanes::splat(all.number)
                + steps[start as usize / LANES % steps.len()]
                + all.taylor.changes(h);
            let certainty = (number - number.floor() - half).abs() - error;
            // Most voxels are neither the least nor the most certain so far.
            if certainty.least() > brick.extremes.least.bound() + NOISE
                && certainty.greatest() <= brick.extremes.certainty()
            {
                let offsets = (number + Lanes::splat(0.5 + NOISE)).floor();
                for (lane_slot, offset) in slots.iter().zip(offsets.0) {
                    brick.offsets[slot(at) + lane_slot] = offset as i16;
                }
                continue;
            }
            for lane in 0..LANES {
                let voxel = cube.voxel(start + lane as u32);
                match certainty.0[lane] > 0.0 {
                    true => field.set(brick, voxel, number.0[lane], error.0[lane]),
                    false => open.push(voxel),
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
            unit: f64::from(lattice.unit()),
            arch: Arch::new(),
            dims: lattice.dims,
            bricks: lattice.dims.map(|d| d.div_ceil(BRICK)),
        }
    }

    /// Maximum memory of the field of a boundary, in bytes.
    pub(super) fn bytes(boundary: &Boundary) -> u64 {
        Clusters::bytes(boundary)
    }

    /// The bricks along an edge of the cube that is divided, a power of two.
    fn longest(&self) -> u32 {
        self.bricks.into_iter().max().unwrap_or(1).next_power_of_two()
    }

    /// The bricks of the cube that is divided: what [`parts`](Self::parts) advances by.
    pub(super) fn work(&self) -> u64 {
        u64::from(self.longest()).pow(3)
    }

    /// Incomplete if `progress` is cancelled.
    ///
    /// # Errors
    /// The number of bricks at caps, if it exceeds `room`.
    pub(super) fn parts(&self, room: u64, progress: &dyn Progress) -> Result<Parts, u64> {
        let near = self.all.clone();
        let whole =
            Cube { at: [0; 3], size: self.longest() * BRICK, near, far: Expansion::default() };
        let extremes = Mutex::new(Extremes::below(f64::INFINITY));
        let bricks = Bricks { room, count: AtomicU64::new(0), extremes, progress };
        let parts = self.divide(whole, &bricks);
        let count = bricks.count.load(Relaxed);
        if count > room {
            return Err(count);
        }
        let Extremes { least, most } =
            bricks.extremes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let least = least.least(|voxel| self.distance(voxel));
        let most = most.map(|(_, voxel)| (self.distance(voxel), voxel));
        Ok(Parts { parts, extremes: least.zip(most).map(|(least, most)| [least, most]) })
    }

    fn divide(&self, mut cube: Cube, bricks: &Bricks) -> Vec<Part> {
        let brick = cube.at.map(|c| c / BRICK);
        let size = cube.size / BRICK;
        let done = |parts: Vec<Part>| {
            bricks.progress.advance(u64::from(size).pow(3));
            parts
        };
        if (0..3).any(|a| brick[a] >= self.bricks[a]) || bricks.progress.is_cancelled() {
            return done(Vec::new());
        }
        let all = self.estimate(&mut cube);
        let half = f64::from(cube.size / 2) * self.unit;
        if half_distance(all.number) > all.taylor.swing(half) + all.error() {
            let to = [1, 2].map(|a| (brick[a] + size).min(self.bricks[a]));
            let offset = self.shading(&cube).is_empty().then(|| offset(all.number));
            let rows = Part::Rows { from: [brick[1], brick[2]], to, offset };
            return done(if brick[0] == 0 { vec![rows] } else { Vec::new() });
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
        let mut filled = Brick { offsets: Box::new([0; 512]), extremes: Extremes::below(bound) };
        self.fill(cube, &all, &mut filled);
        let Brick { offsets, extremes } = filled;
        bricks.extremes().merge(extremes);
        done(vec![Part::Brick { at: brick, offsets }])
    }

    /// Moves clusters that are far from the cube into its polynomial; returns the polynomial of all.
    fn estimate(&self, cube: &mut Cube) -> Expansion {
        let (center, radius) = self.ball(cube);
        cube.far = cube.far.moved(center, radius);
        let (distant, errors) = self.take_distant(cube);
        if !distant.is_empty() {
            let (number, taylor) = self.clusters.expand(&distant, center, radius);
            cube.far.add(number, &Taylor { error: errors.taylor, ..taylor }, errors.multipoles);
        }
        let mut all = cube.far;
        match self.near_error(cube) {
            Some(error) => {
                let (number, taylor) = self.clusters.expand(&cube.near, center, radius);
                all.add(number, &taylor, error);
            }
            None => all.moved_error = f64::INFINITY,
        }
        all.moved_error += NOISE;
        all
    }

    /// Takes the clusters, or parts of them, that are far from the cube and shade none of it; returns
    /// their error bounds, too.
    fn take_distant(&self, cube: &mut Cube) -> (Vec<u32>, Errors) {
        let (center, radius) = self.ball(cube);
        let [lo, hi] = self.bounds(cube.at, cube.size);
        let (mut distant, mut errors) = (Vec::new(), Errors::default());
        let mut open = std::mem::take(&mut cube.near);
        while let Some(node) = open.pop() {
            let its = self.clusters.errors(node, center, radius);
            let is_far = its.sum() <= FAR;
            if is_far && !self.clusters.may_shade(node, lo, hi) {
                distant.push(node);
                errors.taylor += its.taylor;
                errors.multipoles += its.multipoles;
                continue;
            }
            match self.clusters.parts(node) {
                Some(parts) if is_far || self.clusters.reach(node) > OPEN * radius => {
                    open.extend(parts);
                }
                _ => cube.near.push(node),
            }
        }
        (distant, errors)
    }

    /// An error bound of the polynomials of the cube's near clusters, besides those of single loops;
    /// `None` if it is too large to decide any voxel, or one shades the cube: only edges tell where
    /// `b` has steps.
    fn near_error(&self, cube: &Cube) -> Option<f64> {
        let (center, radius) = self.ball(cube);
        let [lo, hi] = self.bounds(cube.at, cube.size);
        let mut clusters = cube.near.iter().filter(|&&node| self.clusters.parts(node).is_some());
        clusters.try_fold(0.0, |sum, &node| {
            let sum = sum + self.clusters.errors(node, center, radius).sum();
            (sum < MOST_ERROR && !self.clusters.may_shade(node, lo, hi)).then_some(sum)
        })
    }

    /// Computes the offsets of a cube within a brick, given the polynomial of all loops.
    fn fill(&self, cube: Cube, all: &Expansion, brick: &mut Brick) {
        let mut open = Vec::new();
        let is_smooth = all.error() < MOST_ERROR;
        if is_smooth {
            let field = self;
            self.arch.dispatch(Decide { field, cube: &cube, all, brick, open: &mut open });
        } else if cube.size == 2 {
            open.extend((0..8).map(|index| cube.voxel(index)));
        }
        if cube.size > 2 && (!is_smooth || open.len() > MOST_OPEN) {
            for mut child in children(&cube) {
                let all = self.estimate(&mut child);
                self.fill(child, &all, brick);
            }
            return;
        }
        for voxel in open {
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
                let first = self.center(cube.voxel(column % cube.size.pow(2)));
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
        brick.offsets[slot(voxel)] = offset(number);
        if (0..3).all(|a| voxel[a] < self.dims[a]) {
            brick.extremes.add(half_distance(number), error, voxel);
        }
    }

    /// `b` at the centre of a voxel of `cube`, or a number with the same offset, and its error
    /// bound.
    fn number(&self, cube: &Cube, voxel: [u32; 3]) -> (f64, f64) {
        let p = self.center(voxel);
        let (number, error) = self.clusters.number(&cube.near, p, FAR);
        let (number, error) = (number + cube.far.at(p), error + cube.far.error() + NOISE);
        match half_distance(number) > error {
            true => (number, error),
            false => self.decided(p),
        }
    }

    /// The offset of one voxel.
    pub(super) fn offset(&self, voxel: [u32; 3]) -> i16 {
        offset(self.decided(self.center(voxel)).0)
    }

    /// The distance of `b` at the centre of a voxel from the nearest `i + 1/2`.
    fn distance(&self, voxel: [u32; 3]) -> f64 {
        half_distance(self.exact(self.center(voxel)))
    }

    /// `b` or a number with the same offset, and its error bound: 0 for the sum over all edges.
    fn decided(&self, p: Point) -> (f64, f64) {
        for most in WHOLE {
            let (number, error) = self.clusters.number(&self.all, p, most);
            if error == 0.0 {
                // No multipoles took part.
                return (number, 0.0);
            }
            if half_distance(number) > error + NOISE {
                return (number, error + NOISE);
            }
        }
        (self.exact(p), 0.0)
    }

    /// `b`, the sum over all loops.
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
        let center = cube.at.map(|c| (f64::from(c) + half) * self.unit);
        (center, reach * self.unit * 3f64.sqrt())
    }

    fn bounds(&self, at: [u32; 3], size: u32) -> [Point; 2] {
        [at, at.map(|c| c + size)].map(|corner| corner.map(|c| f64::from(c) * self.unit))
    }

    fn center(&self, voxel: [u32; 3]) -> Point {
        voxel.map(|c| (f64::from(c) + 0.5) * self.unit)
    }
}

fn children(cube: &Cube) -> impl Iterator<Item = Cube> {
    let half = cube.size / 2;
    (0..8).map(move |child| {
        let at = [0, 1, 2].map(|a| cube.at[a] + half * (child >> a & 1));
        Cube { at, size: half, ..cube.clone() }
    })
}

/// The index of a voxel within its brick.
fn slot(voxel: [u32; 3]) -> usize {
    let [x, y, z] = voxel.map(|c| c % BRICK);
    (64 * x + 8 * y + z) as usize
}

/// The distance of `number` from the nearest `i + 1/2`.
fn half_distance(number: f64) -> f64 {
    (number - number.floor() - 0.5).abs()
}

/// The offset for `b`; a voxel within the error bound of a cap is inside.
fn offset(number: f64) -> i16 {
    (number + 0.5 + NOISE).floor() as i16
}

#[cfg(test)]
mod tests;
