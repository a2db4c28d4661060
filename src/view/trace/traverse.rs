//! Traversal of the tree by one ray, in exact times. Its twin on a GPU has the same functions.

use crate::view::trace::scene::{Cell, Scene};
use crate::view::trace::{FRACTION_BITS, Face, Hit, Ray, UNIT};

impl Scene<'_> {
    /// The first voxel that the ray touches.
    #[must_use]
    pub fn first_hit(&self, ray: &Ray) -> Option<Hit> {
        self.first_touch(ray).map(|touch| touch.hit(ray))
    }

    pub(crate) fn first_touch(&self, ray: &Ray) -> Option<Touch> {
        self.first_touch_from(ray, Time::ZERO)
    }

    /// The first touch of a ray that touches none up to and at `start`: the traversal begins there.
    pub(crate) fn first_touch_from(&self, ray: &Ray, start: Time) -> Option<Touch> {
        self.certain_touch(ray, start).unwrap_or_else(|_tie| self.exact_touch(ray, start))
    }

    #[inline(never)]
    pub(crate) fn exact_touch(&self, ray: &Ray, start: Time) -> Option<Touch> {
        let start = self.entry(ray, start)?;
        let has_two = [0, 1, 2].map(|a| ray.runs_in_plane(a));
        if has_two == [false; 3] {
            return Traversal::new(self, ray, [false; 3]).search(start);
        }
        // A ray within a plane between two layers of voxels touches both: traverse each of them.
        let sides = |a: usize| if has_two[a] { 0..2 } else { 0..1 };
        let mut first: Option<Touch> = None;
        for side in
            sides(0).flat_map(|x| sides(1).flat_map(move |y| sides(2).map(move |z| [x, y, z])))
        {
            let touch = Traversal::new(self, ray, side.map(|side| side == 0)).search(start);
            first = match (first, touch) {
                (Some(a), Some(b)) => Some(if b.is_before(&a) { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        first
    }

    /// The first time from `start` on at which the ray is in the box of the occupied voxels, if it
    /// is.
    fn entry(&self, ray: &Ray, start: Time) -> Option<Time> {
        let [min, max] = self.bounds()?;
        let (mut begin, mut end) = (start, None);
        for a in 0..3 {
            let (lo, hi) =
                (i64::from(min[a]) << FRACTION_BITS, (i64::from(max[a]) + 1) << FRACTION_BITS);
            let (to_lo, to_hi) = (lo - ray.origin[a], hi - ray.origin[a]);
            let length = i64::from(ray.direction[a]).abs();
            let (near, far) = match ray.direction[a] {
                0 if to_lo > 0 || to_hi < 0 => return None,
                0 => continue,
                1.. => (to_lo, to_hi),
                _ => (-to_hi, -to_lo),
            };
            let [near, far] = [near, far].map(|distance| Time { distance, length });
            begin = if begin.is_before(&near) { near } else { begin };
            end = end.filter(|end: &Time| end.is_before(&far)).or(Some(far));
        }
        end.is_none_or(|end| !end.is_before(&begin)).then_some(begin)
    }
}

impl Ray {
    /// Whether the ray stays in a plane, perpendicular to the axis, between two layers of voxels.
    pub(super) fn runs_in_plane(&self, axis: usize) -> bool {
        self.direction[axis] == 0 && self.origin[axis] & ((1 << FRACTION_BITS) - 1) == 0
    }
}

/// A time on a ray as a fraction: a distance along an axis, in units, over the absolute direction
/// along that axis, above 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    pub(crate) distance: i64,
    pub(crate) length: i64,
}

impl Time {
    pub(crate) const ZERO: Self = Self { distance: 0, length: 1 };

    /// A lower bound of `time` within the bit budget, at least 0.
    pub(crate) fn at_most(time: f64) -> Self {
        let (length, most) = (1 << 14, 1_i64 << 36);
        let distance = ((time * length as f64) as i64).clamp(0, most);
        Self { distance, length }
    }

    /// The time at which the ray enters a cell of a level along an axis.
    #[inline]
    pub(crate) fn of_entry(ray: &Ray, cell: [i32; 3], axis: usize, level: u32) -> Self {
        let is_down = ray.direction[axis] < 0;
        let plane = i64::from(cell[axis] + i32::from(is_down)) << (FRACTION_BITS + 3 * level);
        let towards = plane - ray.origin[axis];
        let distance = if is_down { -towards } else { towards };
        Self { distance, length: i64::from(ray.direction[axis]).abs() }
    }

    /// Products are below 2^61.
    fn is_before(&self, other: &Self) -> bool {
        self.distance * other.length < other.distance * self.length
    }

    fn is_at(&self, other: &Self) -> bool {
        self.distance * other.length == other.distance * self.length
    }
}

/// A voxel that a ray touches, and the time of the first touch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub(crate) voxel: [i32; 3],
    pub(crate) time: Time,
}

impl Touch {
    fn is_before(&self, other: &Self) -> bool {
        let is_same_time = self.time.is_at(&other.time);
        self.time.is_before(&other.time) || is_same_time && self.voxel < other.voxel
    }

    pub(crate) fn hit(&self, ray: &Ray) -> Hit {
        let time_in_units = self.time.distance as f64 / self.time.length as f64;
        let distance = time_in_units * ray.length() * UNIT;
        Hit { voxel: self.voxel(), face: self.face(ray), distance }
    }

    #[inline]
    pub(crate) fn voxel(&self) -> [u32; 3] {
        self.voxel.map(|c| c as u32)
    }

    /// The point of the first touch, in units, rounded down.
    #[inline]
    pub(crate) fn point(&self, ray: &Ray) -> [i64; 3] {
        let Time { distance, length } = self.time;
        let inverse = 1.0 / length as f64;
        let along = |a: usize| {
            let numerator = ray.origin[a] * length + distance * i64::from(ray.direction[a]);
            divided_by(numerator, length, inverse).0
        };
        std::array::from_fn(along)
    }

    /// The face through which the ray enters: of the first axis whose plane it reaches at that
    /// time. `None` if the ray begins in the voxel.
    #[inline]
    pub(crate) fn face(&self, ray: &Ray) -> Option<Face> {
        if self.time.distance <= 0 {
            return None;
        }
        (0..3).filter(|&a| ray.direction[a] != 0).find_map(|axis| {
            let time = Time::of_entry(ray, self.voxel, axis, 0);
            let is_upper = ray.direction[axis] < 0;
            time.is_at(&self.time).then_some(Face { axis, is_upper })
        })
    }
}

/// A ray, set up for one traversal: on one side of each plane between voxels that it runs in.
struct Traversal<'a> {
    scene: &'a Scene<'a>,
    ray: &'a Ray,
    /// The absolute direction, per axis.
    lengths: [i64; 3],
    /// Per axis, whether a point on a plane between cells counts to the lower cell.
    takes_lower: [bool; 3],
}

/// A digital differential analyzer: the current cell of one level and the order of its exits.
struct Dda {
    /// The cell, counted in cells from the grid's corner.
    cell: [i32; 3],
    /// Differences of exit times, scaled to integers: `x` minus `y`, `y` minus `z`, `z` minus `x`.
    /// With distances `n` to the exit planes and lengths `m`: `n[x] m[y] - n[y] m[x]` and so on.
    exit_differences: [i64; 3],
    /// A cell's side times each length: the change of the differences by one step.
    step: [i64; 3],
    /// The axis along which the ray entered the cell; `None` before the first step.
    entry_axis: Option<usize>,
}

/// A point on a ray.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Rounded down to units.
    units: [i64; 3],
    /// Whether rounding changed nothing.
    is_exact: [bool; 3],
}

impl Point {
    /// The cell of a level that contains it, along one axis: the upper one if it is on a plane
    /// between cells. Rounding down to units does not change it.
    #[inline]
    fn cell(&self, axis: usize, level: u32) -> i32 {
        (self.units[axis] >> (FRACTION_BITS + 3 * level)) as i32
    }

    /// Whether it is on a plane between cells of a level, along one axis.
    #[inline]
    fn is_on_plane(&self, axis: usize, level: u32) -> bool {
        let within = (1 << (FRACTION_BITS + 3 * level)) - 1;
        self.is_exact[axis] && self.units[axis] & within == 0
    }
}

/// `floor(a / b)` and the remainder, for `b` from 1 to `2^24` and `|a| < 2^62` with a quotient
/// below `2^39`; `inverse` is `1 / b`, rounded.
///
/// `1 / b`, `a` and their product are rounded once each: the relative error is below `2^-51`, the
/// absolute one below `2^-12`. Truncated, the quotient is off by at most 2; the remainder tells by
/// how much. This is several times faster than a 64-bit division.
#[inline]
fn divided_by(a: i64, b: i64, inverse: f64) -> (i64, i64) {
    let mut quotient = (a as f64 * inverse) as i64;
    let mut rest = a - quotient * b;
    while rest < 0 {
        (quotient, rest) = (quotient - 1, rest + b);
    }
    while rest >= b {
        (quotient, rest) = (quotient + 1, rest - b);
    }
    (quotient, rest)
}

/// An axis along which `cell` is outside `parent`, a cell one level up.
#[inline]
fn outside_axis(cell: [i32; 3], parent: [i32; 3]) -> Option<usize> {
    (0..3).find(|&a| cell[a] >> 3 != parent[a])
}

/// Exit time, relative to other axes, of an axis along which the ray never leaves a cell.
const NEVER: i64 = 1 << 62;

impl<'a> Traversal<'a> {
    /// `is_lower`: for each axis on which the ray runs in a plane, whether to traverse the layer
    /// below it.
    fn new(scene: &'a Scene<'a>, ray: &'a Ray, is_lower: [bool; 3]) -> Self {
        let lengths = ray.direction.map(|d| i64::from(d).abs());
        let takes_lower = std::array::from_fn(|a| match ray.direction[a] {
            0 => ray.runs_in_plane(a) && is_lower[a],
            d => d < 0,
        });
        Self { scene, ray, lengths, takes_lower }
    }

    /// Traverses the tree from its root: down into cells that are not empty, up where a node ends.
    fn search(&self, start: Time) -> Option<Touch> {
        let Scene { nodes, children, .. } = self.scene;
        let (mut level, mut node) = (self.scene.top, self.scene.root());
        // The brick that is traversed at level 0, and the time at which the ray entered it, or the
        // node.
        let (mut brick, mut time) = (0, start);
        let mut point = self.position(start);
        // The position of the current node or brick, among those of its level.
        let mut parent = [0; 3];
        let (mut dda, _) = self.enter(level, &point);
        // Whether the ray may now touch voxels other than the DDA's: if it begins on a plane (a ray
        // that enters the occupied box through one touches only empty voxels outside it), and at
        // edges.
        let least_planes = if start.distance > 0 { 2 } else { 1 };
        let mut touches_others = self.crossed_planes(&point, 0) >= least_planes;
        let mut now = start;
        loop {
            if touches_others {
                let touch = self.touched_at(now);
                if touch.is_some() {
                    return touch;
                }
                touches_others = false;
            }
            if let Some(axis) = outside_axis(dda.cell, parent) {
                if level == self.scene.top {
                    return None;
                }
                node = if level > 0 { nodes[node].parent as usize } else { node };
                level += 1;
                // The node is a cell one level up: the ray enters that cell's neighbour.
                dda = self.dda_from(level, dda.cell.map(|c| c >> 3), Some(axis));
                parent = parent.map(|c| c >> 3);
                continue;
            }
            let cell = match level {
                0 => self.scene.voxel(brick, dda.cell),
                _ => nodes[node].cell(children, dda.cell),
            };
            if cell == Cell::Empty {
                touches_others = self.advance(&mut dda);
            }
            if cell != Cell::Empty || touches_others {
                now = self.entry_time(&dda, level, time);
            }
            match cell {
                Cell::Empty => {}
                Cell::Full if level == 0 => return Some(Touch { voxel: dda.cell, time: now }),
                // The first in order of its voxels at this point.
                Cell::Full => touches_others = true,
                Cell::Partial(child) => {
                    // A DDA before its first step is at the point of the one above.
                    if dda.entry_axis.is_some() {
                        point = self.position(now);
                    }
                    time = now;
                    (brick, node) = if level == 1 { (child, node) } else { (brick, child) };
                    level -= 1;
                    parent = dda.cell;
                    (dda, touches_others) = self.enter(level, &point);
                }
            }
        }
    }

    /// The first in order of the occupied voxels whose closed cubes contain the ray's point at
    /// `time`.
    #[cold]
    fn touched_at(&self, time: Time) -> Option<Touch> {
        let point = self.position(time);
        let cells = |a: usize| {
            let upper = point.cell(a, 0);
            upper - i32::from(point.is_on_plane(a, 0))..=upper
        };
        let mut voxels =
            cells(0).flat_map(|x| cells(1).flat_map(move |y| cells(2).map(move |z| [x, y, z])));
        let voxel = voxels.find(|&voxel| self.scene.contains(voxel))?;
        Some(Touch { voxel, time })
    }

    /// The point of the ray at `time`.
    #[inline]
    fn position(&self, time: Time) -> Point {
        let inverse = 1.0 / time.length as f64;
        let (x, is_x) = self.along(0, time, inverse);
        let (y, is_y) = self.along(1, time, inverse);
        let (z, is_z) = self.along(2, time, inverse);
        Point { units: [x, y, z], is_exact: [is_x, is_y, is_z] }
    }

    #[inline]
    fn along(&self, axis: usize, time: Time, inverse: f64) -> (i64, bool) {
        let Time { distance, length } = time;
        let point = self.ray.origin[axis] * length + distance * i64::from(self.ray.direction[axis]);
        let (units, rest) = divided_by(point, length, inverse);
        (units, rest == 0)
    }

    /// Begins a DDA through the cells of a level at `point`. Also returns whether the ray crosses
    /// planes of two or more axes there: an edge or a corner, where it touches other cells too.
    #[inline]
    fn enter(&self, level: u32, point: &Point) -> (Dda, bool) {
        let mut cell = [0; 3];
        for (axis, cell) in cell.iter_mut().enumerate() {
            let is_lower = self.takes_lower[axis] && point.is_on_plane(axis, level);
            *cell = point.cell(axis, level) - i32::from(is_lower);
        }
        (self.dda_from(level, cell, None), self.crossed_planes(point, level) >= 2)
    }

    /// The number of axes on which `point` is on a plane between cells that the ray crosses.
    #[inline]
    fn crossed_planes(&self, point: &Point, level: u32) -> u32 {
        let is_crossed = |a: usize| u32::from(point.is_on_plane(a, level) && self.lengths[a] != 0);
        is_crossed(0) + is_crossed(1) + is_crossed(2)
    }

    #[inline]
    fn dda_from(&self, level: u32, cell: [i32; 3], entry_axis: Option<usize>) -> Dda {
        let bits = FRACTION_BITS + 3 * level;
        let distance = |a: usize| {
            let plane = i64::from(cell[a] + i32::from(self.ray.direction[a] > 0)) << bits;
            (plane - self.ray.origin[a]).abs()
        };
        let n = [0, 1, 2].map(distance);
        let m = self.lengths;
        let exit_difference = |a: usize, b: usize| match (m[a], m[b]) {
            (0, _) => NEVER,
            (_, 0) => -NEVER,
            _ => n[a] * m[b] - n[b] * m[a],
        };
        let exit_differences =
            [exit_difference(0, 1), exit_difference(1, 2), exit_difference(2, 0)];
        Dda { cell, exit_differences, step: m.map(|length| length << bits), entry_axis }
    }

    /// Steps to the next cell. Returns whether the ray leaves the cell along several axes at once,
    /// through an edge or a corner, where it touches other cells too.
    #[inline]
    fn advance(&self, dda: &mut Dda) -> bool {
        let [xy, yz, zx] = dda.exit_differences;
        if xy < 0 && zx > 0 {
            self.step::<0>(dda);
        } else if yz < 0 && xy > 0 {
            self.step::<1>(dda);
        } else if zx < 0 && yz > 0 {
            self.step::<2>(dda);
        } else {
            self.step_along_several(dda);
            return true;
        }
        false
    }

    /// Steps along two or three axes at once.
    #[cold]
    fn step_along_several(&self, dda: &mut Dda) {
        let [xy, yz, zx] = dda.exit_differences;
        if xy <= 0 && zx >= 0 {
            self.step::<0>(dda);
        }
        if yz <= 0 && xy >= 0 {
            self.step::<1>(dda);
        }
        if zx <= 0 && yz >= 0 {
            self.step::<2>(dda);
        }
    }

    #[inline]
    fn step<const AXIS: usize>(&self, dda: &mut Dda) {
        let (next, last) = ((AXIS + 1) % 3, (AXIS + 2) % 3);
        dda.exit_differences[AXIS] += dda.step[next];
        dda.exit_differences[last] -= dda.step[last];
        dda.cell[AXIS] += self.ray.direction[AXIS].signum();
        dda.entry_axis = Some(AXIS);
    }

    /// The time at which the ray entered the DDA's cell.
    #[inline]
    fn entry_time(&self, dda: &Dda, level: u32, start: Time) -> Time {
        dda.entry_axis.map_or(start, |axis| Time::of_entry(self.ray, dda.cell, axis, level))
    }
}
