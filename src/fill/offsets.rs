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
//! not affect the bound. In a cube, loops that are small or far away are replaced by their Taylor
//! polynomial of degree 2 at its centre, with an error bound.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::fill::solid_angle::{Loop, Point, Sums, Taylor, Turns, minus};
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

/// The least and the most certain of the voxels that were evaluated one by one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// The distance of the winding number from the decision threshold, from 0 to 1/2, and the
    /// voxel.
    pub(super) ends: [Option<(f64, [u32; 3])>; 2],
}

impl Seen {
    pub(super) fn add(&mut self, seen: (f64, [u32; 3])) {
        let [least, most] = &mut self.ends;
        if least.is_none_or(|least| seen < least) {
            *least = Some(seen);
        }
        if most.is_none_or(|most| seen > most) {
            *most = Some(seen);
        }
    }
}

/// A region of the grid.
pub(super) enum Part {
    /// Rows of bricks, a half-open range in `y` and `z`, whose first brick has one offset in all
    /// voxels; `None` if the offset must be computed per column.
    Rows { from: [u32; 2], to: [u32; 2], offset: Option<i32> },
    /// A brick whose voxels have offsets of their own.
    Brick { at: [u32; 3], offsets: Box<Offsets>, seen: Seen },
}

/// The boundary of a surface, on its lattice.
pub(super) struct Field {
    loops: Vec<Loop>,
    /// The indices of the loops.
    all: Vec<u32>,
    length: f64,
    unit: f64,
    arch: Arch,
    /// The dimensions in bricks.
    dims: [u32; 3],
}

/// Bricks at caps.
struct Bricks<'a> {
    /// Beyond this number they are only counted.
    room: u64,
    count: AtomicU64,
    progress: &'a dyn Progress,
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
            dims: lattice.dims.map(|d| d.div_ceil(BRICK)),
        }
    }

    /// The bricks along an edge of the cube that is divided, a power of two.
    fn longest(&self) -> u32 {
        self.dims.into_iter().max().unwrap_or(1).next_power_of_two()
    }

    /// The bricks of the cube that is divided: what [`parts`](Self::parts) advances by.
    pub(super) fn bricks(&self) -> u64 {
        u64::from(self.longest()).pow(3)
    }

    /// Rows that cover the grid, and the bricks at caps, in any order. Incomplete if
    /// `progress` is cancelled.
    ///
    /// # Errors
    /// The number of bricks at caps, if it exceeds `room`.
    pub(super) fn parts(&self, room: u64, progress: &dyn Progress) -> Result<Vec<Part>, u64> {
        let near = self.all.clone();
        let whole = Cube { at: [0; 3], size: self.longest() * BRICK, near, far: Far::default() };
        let bricks = Bricks { room, count: AtomicU64::new(0), progress };
        let parts = self.divide(whole, &bricks);
        match bricks.count.into_inner() {
            count if count > room => Err(count),
            _ => Ok(parts),
        }
    }

    fn divide(&self, mut cube: Cube, bricks: &Bricks) -> Vec<Part> {
        let brick = cube.at.map(|c| c / BRICK);
        let size = cube.size / BRICK;
        let done = |parts: Vec<Part>| {
            bricks.progress.advance(u64::from(size).pow(3));
            parts
        };
        if (0..3).any(|a| brick[a] >= self.dims[a]) || bricks.progress.is_cancelled() {
            return done(Vec::new());
        }
        let all = self.estimate(&mut cube);
        let half = f64::from(cube.size / 2) * self.unit;
        if half_distance(all.number) > all.taylor.swing(half) + all.taylor.error {
            let to = [1, 2].map(|a| (brick[a] + size).min(self.dims[a]));
            let offset = (!self.is_shaded(&cube)).then(|| offset(all.number).into());
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
        let (mut offsets, mut seen) = (Box::new([0; 512]), Seen::default());
        self.fill(cube, &all, &mut offsets, &mut seen);
        done(vec![Part::Brick { at: brick, offsets, seen }])
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
            let is_far = its <= FAR * each.length() / self.length && !each.may_shade(lo, hi);
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
    fn fill(&self, cube: Cube, all: &Far, offsets: &mut Offsets, seen: &mut Seen) {
        let (mut open, mut least) = (Vec::new(), Vec::new());
        if all.taylor.error < MOST_ERROR {
            least = self.fill_smooth(&cube, all, offsets, &mut open);
        } else {
            open.extend(voxels(&cube));
        }
        if cube.size > 2 && open.len() > MOST_OPEN {
            for mut child in children(&cube) {
                let all = self.estimate(&mut child);
                self.fill(child, &all, offsets, seen);
            }
            return;
        }
        for voxel in open.into_iter().chain(least) {
            let number = self.number(&cube, voxel);
            offsets[slot(voxel)] = offset(number);
            seen.add((half_distance(number), voxel));
        }
    }

    /// Computes the offsets that the polynomial decides; the other voxels go to `open`. Returns the
    /// decided voxels that may be the nearest to the decision threshold.
    fn fill_smooth(
        &self,
        cube: &Cube,
        all: &Far,
        offsets: &mut Offsets,
        open: &mut Vec<[u32; 3]>,
    ) -> Vec<[u32; 3]> {
        let is_shaded = self.is_shaded(cube);
        let error = if is_shaded { 2.0 * all.taylor.error } else { all.taylor.error };
        let mut decided = Vec::new();
        let bend = 0.5 * all.taylor.bend[0] * self.unit * self.unit;
        for column in voxels(cube).filter(|voxel| voxel[0] == cube.at[0]) {
            let first = self.center(column);
            // Integer steps are between columns, not within them.
            let number = match is_shaded {
                true => self.sum(&cube.near, first) + cube.far.at(first),
                false => all.at(first),
            };
            let slope = all.taylor.slope(minus(first, all.center))[0] * self.unit;
            for x in 0..cube.size {
                let step = f64::from(x);
                let number = number + step * (slope + step * bend);
                let voxel = [column[0] + x, column[1], column[2]];
                let distance = half_distance(number);
                if distance > error {
                    offsets[slot(voxel)] = offset(number);
                    decided.push((distance, voxel));
                } else {
                    open.push(voxel);
                }
            }
        }
        let nearest = decided.iter().fold(1.0, |least: f64, &(distance, _)| least.min(distance));
        decided.retain(|&(distance, _)| distance <= nearest + 2.0 * error);
        decided.into_iter().map(|(_, voxel)| voxel).collect()
    }

    /// `b` at the centre of a voxel of `cube`, or a number with the same offset.
    fn number(&self, cube: &Cube, voxel: [u32; 3]) -> f64 {
        let p = self.center(voxel);
        let number = self.sum(&cube.near, p) + cube.far.at(p);
        match half_distance(number) > cube.far.taylor.error + NOISE
            || cube.near.len() == self.loops.len()
        {
            true => number,
            false => self.whole(p),
        }
    }

    /// The offset of one voxel.
    pub(super) fn offset(&self, voxel: [u32; 3]) -> i32 {
        offset(self.whole(self.center(voxel))).into()
    }

    /// `b`, the sum over all loops.
    fn whole(&self, p: Point) -> f64 {
        self.sum(&self.all, p)
    }

    fn sum(&self, loops: &[u32], p: Point) -> f64 {
        self.arch.dispatch(Sum { field: self, loops, p })
    }

    /// Whether `b` may have integer steps in the cube.
    fn is_shaded(&self, cube: &Cube) -> bool {
        let [lo, hi] = self.bounds(cube.at, cube.size);
        cube.near.iter().any(|&index| self.loops[index as usize].may_shade(lo, hi))
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
    let (at, size) = (cube.at, cube.size);
    let along = move |a: usize| at[a]..at[a] + size;
    along(0).flat_map(move |x| along(1).flat_map(move |y| along(2).map(move |z| [x, y, z])))
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
