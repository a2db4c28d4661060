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
//! that are small or far away are replaced by their Taylor polynomial of degree 2 at its centre, with
//! an error bound.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::fill::extremes::{Candidates, Valued, lesser};
use crate::fill::solid_angle::{Edge, Loop, Point, Sums, Taylor, Turns, minus};
use crate::grid::BRICK;
use crate::place::Lattice;
use crate::progress::Progress;
use crate::topology::Boundary;

/// Error bound of a sum over loops: at most [`MAX_EDGES`](crate::topology::MAX_EDGES) factors with
/// relative errors of a few `2^-53`. A voxel within it of 1/2 is inside.
const NOISE: f64 = 1e-9;
/// Maximum error that distant loops may add when a cube is divided.
const FAR: f64 = 2e-4;
/// Above this error a polynomial does not decide any voxel.
const MOST_ERROR: f64 = 0.1;
/// With more undecided voxels a cube is divided: its eight parts cost as much as this many sums.
const MOST_OPEN: usize = 40;

/// Offsets of the voxels of a brick; voxel `(x, y, z)` has index `64 x + 8 y + z`.
pub(super) type Offsets = [i16; 512];

/// A region of the grid.
pub(super) enum Part {
    /// Rows of bricks, a half-open range in `y` and `z`, whose first brick has one offset in all
    /// voxels; `None` if the offset must be computed per column.
    Rows { from: [u32; 2], to: [u32; 2], offset: Option<i32> },
    /// A brick whose voxels have offsets of their own.
    Brick { at: [u32; 3], offsets: Box<Offsets> },
}

/// What [`Field::parts`] finds.
pub(super) struct Parts {
    /// Rows that cover the grid, and the bricks at caps, in any order.
    pub(super) parts: Vec<Part>,
    /// The least certain voxel of the bricks at caps, and one of the most certain, with the
    /// distances of their winding numbers from the nearest `i + 1/2`, at most 1/2.
    pub(super) extremes: Option<[Valued; 2]>,
}

/// The boundary of a surface, on its lattice.
pub(super) struct Field {
    loops: Vec<Loop>,
    /// The indices of the loops.
    all: Vec<u32>,
    length: f64,
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
    /// The least distance of a winding number from the nearest `i + 1/2`; and the least
    /// `error - distance`, whose voxel is certainly far from it.
    extremes: Mutex<[Option<Valued>; 2]>,
    progress: &'a dyn Progress,
}

impl Bricks<'_> {
    fn extremes(&self) -> MutexGuard<'_, [Option<Valued>; 2]> {
        self.extremes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the extremes of a brick.
    fn add(&self, brick: [Option<Valued>; 2]) {
        let mut extremes = self.extremes();
        *extremes = [0, 1].map(|i| lesser(extremes[i], brick[i]));
    }
}

/// A brick at a cap.
struct Brick {
    offsets: Box<Offsets>,
    least: Candidates,
    /// As in [`Bricks::extremes`].
    most: Option<Valued>,
}

/// A cube of voxels.
#[derive(Clone)]
struct Cube {
    at: [u32; 3],
    /// The edge length in voxels, a power of two.
    size: u32,
    /// Loops that are summed edge by edge.
    near: Vec<u32>,
    far: Far,
}

/// A sum over loops, as a Taylor polynomial.
#[derive(Debug, Clone, Copy, Default)]
struct Far {
    center: Point,
    /// The sum at the centre.
    number: f64,
    /// Its change, modulo integer steps.
    taylor: Taylor,
}

impl Far {
    #[inline]
    fn at(&self, p: Point) -> f64 {
        self.number + self.taylor.change(minus(p, self.center))
    }

    /// The same polynomial around another centre. The error bound holds in a ball within its own.
    fn moved(&self, center: Point) -> Self {
        let gradient = self.taylor.slope(minus(center, self.center));
        Self { center, number: self.at(center), taylor: Taylor { gradient, ..self.taylor } }
    }

    /// Adds the sum over other loops.
    fn add(&mut self, number: f64, Taylor { gradient, bend, error }: Taylor) {
        self.number += number;
        (0..3).for_each(|a| self.taylor.gradient[a] += gradient[a]);
        (0..6).for_each(|a| self.taylor.bend[a] += bend[a]);
        self.taylor.error += error;
    }
}

/// Expands the sum over loops.
struct Expand<'a> {
    field: &'a Field,
    loops: &'a [u32],
    center: Point,
    radius: f64,
}

impl WithSimd for Expand<'_> {
    type Output = (f64, Taylor);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let mut sums = Sums::default();
        for &index in self.loops {
            self.field.loops[index as usize].expand(self.center, self.radius, &mut sums);
        }
        sums.total()
    }
}

/// The sum over loops at a point.
struct Sum<'a> {
    field: &'a Field,
    loops: &'a [u32],
    p: Point,
}

impl WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut turns = Turns::default();
        for &index in self.loops {
            self.field.loops[index as usize].turn(self.p, &mut turns);
        }
        turns.number()
    }
}

impl Field {
    pub(super) fn new(boundary: &Boundary, lattice: &Lattice) -> Self {
        let loops: Vec<Loop> = boundary.loops().iter().map(|points| Loop::new(points)).collect();
        let length = loops.iter().map(Loop::length).sum();
        let unit = f64::from(lattice.unit());
        let all = (0..loops.len() as u32).collect();
        Self {
            loops,
            all,
            length,
            unit,
            arch: Arch::new(),
            dims: lattice.dims,
            bricks: lattice.dims.map(|d| d.div_ceil(BRICK)),
        }
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
        let whole = Cube { at: [0; 3], size: self.longest() * BRICK, near, far: Far::default() };
        let bricks =
            Bricks { room, count: AtomicU64::new(0), extremes: Mutex::new([None; 2]), progress };
        let parts = self.divide(whole, &bricks);
        let count = bricks.count.load(Relaxed);
        if count > room {
            return Err(count);
        }
        let [least, most] = *bricks.extremes();
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
        if half_distance(all.number) > all.taylor.swing(half) + all.taylor.error {
            let to = [1, 2].map(|a| (brick[a] + size).min(self.bricks[a]));
            let offset = self.shading(&cube).next().is_none().then(|| offset(all.number).into());
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
        let bound = bricks.extremes()[0].map_or(f64::INFINITY, |(least, _)| least);
        let mut filled =
            Brick { offsets: Box::new([0; 512]), least: Candidates::below(bound), most: None };
        self.fill(cube, &all, &mut filled);
        let Brick { offsets, least, most } = filled;
        bricks.add([least.least(|voxel| self.distance(voxel)), most]);
        done(vec![Part::Brick { at: brick, offsets }])
    }

    /// Moves loops that are far from the cube into its polynomial; returns the polynomial of all.
    fn estimate(&self, cube: &mut Cube) -> Far {
        let (center, radius) = self.ball(cube);
        cube.far = cube.far.moved(center);
        let [lo, hi] = self.bounds(cube.at, cube.size);
        let (mut distant, mut error) = (Vec::new(), 0.0);
        cube.near.retain(|&index| {
            let each = &self.loops[index as usize];
            let its = each.error(center, radius);
            let is_far =
                its <= FAR * each.length() / self.length && each.shading(lo, hi).next().is_none();
            if is_far {
                distant.push(index);
                error += its;
            }
            !is_far
        });
        if !distant.is_empty() {
            let (number, taylor) = self.expand(&distant, center, radius);
            cube.far.add(number, Taylor { error, ..taylor });
        }
        let mut all = cube.far;
        let (number, taylor) = self.expand(&cube.near, center, radius);
        all.add(number, taylor);
        all.taylor.error += NOISE;
        all
    }

    /// The sum over `loops` at `center`, and its change in a ball.
    fn expand(&self, loops: &[u32], center: Point, radius: f64) -> (f64, Taylor) {
        self.arch.dispatch(Expand { field: self, loops, center, radius })
    }

    /// Computes the offsets of a cube within a brick, given the polynomial of all loops.
    fn fill(&self, cube: Cube, all: &Far, brick: &mut Brick) {
        let mut open = Vec::new();
        let is_smooth = all.taylor.error < MOST_ERROR;
        if is_smooth {
            self.fill_smooth(&cube, all, brick, &mut open);
        } else if cube.size == 2 {
            open.extend(voxels(&cube));
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

    /// Computes the offsets that the polynomial decides; the other voxels go to `open`.
    fn fill_smooth(&self, cube: &Cube, all: &Far, brick: &mut Brick, open: &mut Vec<[u32; 3]>) {
        let shading: Vec<Edge> = self.shading(cube).collect();
        let error = all.taylor.error;
        let bend = 0.5 * all.taylor.bend[0] * self.unit * self.unit;
        for column in columns(cube) {
            let first = self.center(column);
            // Integer steps are between columns, not within them.
            let steps: f64 = shading.iter().map(|edge| edge.step(all.center, first)).sum();
            let number = all.at(first) + steps;
            let slope = all.taylor.slope(minus(first, all.center))[0] * self.unit;
            for x in 0..cube.size {
                let step = f64::from(x);
                let number = number + step * (slope + step * bend);
                let voxel = [column[0] + x, column[1], column[2]];
                match half_distance(number) > error {
                    true => self.set(brick, voxel, number, error),
                    false => open.push(voxel),
                }
            }
        }
    }

    /// Sets the offset of a voxel for which `b` is `number`, or a number with the same offset, with
    /// an error of at most `error`.
    #[inline]
    fn set(&self, brick: &mut Brick, voxel: [u32; 3], number: f64, error: f64) {
        brick.offsets[slot(voxel)] = offset(number);
        if (0..3).all(|a| voxel[a] < self.dims[a]) {
            let distance = half_distance(number);
            // The sum over all loops, with which it is compared, has an error of its own.
            brick.least.add(distance, error + NOISE, voxel);
            brick.most = lesser(brick.most, Some((error - distance, voxel)));
        }
    }

    /// `b` at the centre of a voxel of `cube`, or a number with the same offset, and its error
    /// bound.
    fn number(&self, cube: &Cube, voxel: [u32; 3]) -> (f64, f64) {
        let p = self.center(voxel);
        let number = self.sum(&cube.near, p) + cube.far.at(p);
        let error = cube.far.taylor.error + NOISE;
        match half_distance(number) > error || cube.near.len() == self.loops.len() {
            true => (number, error),
            false => (self.whole(p), NOISE),
        }
    }

    /// The offset of one voxel.
    pub(super) fn offset(&self, voxel: [u32; 3]) -> i32 {
        offset(self.whole(self.center(voxel))).into()
    }

    /// The distance of `b` at the centre of a voxel from the nearest `i + 1/2`.
    fn distance(&self, voxel: [u32; 3]) -> f64 {
        half_distance(self.whole(self.center(voxel)))
    }

    /// `b`, the sum over all loops.
    fn whole(&self, p: Point) -> f64 {
        self.sum(&self.all, p)
    }

    fn sum(&self, loops: &[u32], p: Point) -> f64 {
        self.arch.dispatch(Sum { field: self, loops, p })
    }

    /// The edges across whose rays `b` may have integer steps in the cube.
    fn shading(&self, cube: &Cube) -> impl Iterator<Item = Edge> {
        let [lo, hi] = self.bounds(cube.at, cube.size);
        cube.near.iter().flat_map(move |&index| self.loops[index as usize].shading(lo, hi))
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

fn voxels(cube: &Cube) -> impl Iterator<Item = [u32; 3]> + use<> {
    let along_x = 0..cube.size;
    columns(cube).flat_map(move |[x, y, z]| along_x.clone().map(move |step| [x + step, y, z]))
}

/// The first voxels of the columns.
fn columns(cube: &Cube) -> impl Iterator<Item = [u32; 3]> + use<> {
    let ([x, y, z], size) = (cube.at, cube.size);
    (y..y + size).flat_map(move |y| (z..z + size).map(move |z| [x, y, z]))
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
