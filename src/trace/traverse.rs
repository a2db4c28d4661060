//! One ray through the tree.

use crate::trace::scene::{Cell, Scene};
use crate::trace::{Face, Hit, Ray, UNIT, UNIT_BITS};

impl Scene<'_> {
    /// The first voxel that the ray touches.
    #[must_use]
    pub fn first_hit(&self, ray: &Ray) -> Option<Hit> {
        self.first_touch(ray).map(|touch| touch.hit(ray))
    }

    pub(crate) fn first_touch(&self, ray: &Ray) -> Option<Touch> {
        let start = self.start(ray)?;
        let has_two = [0, 1, 2].map(|a| ray.runs_in_plane(a));
        if has_two == [false; 3] {
            return March::new(self, ray, [false; 3]).search(start);
        }
        // A ray that runs in a plane between layers of voxels touches both, all along: it is one ray
        // through each.
        let sides = |a: usize| if has_two[a] { 0..2 } else { 0..1 };
        let mut first: Option<Touch> = None;
        for side in
            sides(0).flat_map(|x| sides(1).flat_map(move |y| sides(2).map(move |z| [x, y, z])))
        {
            let touch = March::new(self, ray, side.map(|side| side == 0)).search(start);
            first = match (first, touch) {
                (Some(a), Some(b)) => Some(if b.is_before(&a) { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        first
    }

    /// When the ray comes to the box of the occupied voxels, if it does.
    fn start(&self, ray: &Ray) -> Option<Time> {
        let [min, max] = self.bounds()?;
        let (mut begin, mut end) = (Time::ZERO, None);
        for a in 0..3 {
            let (lo, hi) = (i64::from(min[a]) << UNIT_BITS, (i64::from(max[a]) + 1) << UNIT_BITS);
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
    /// Whether it stays between two layers of voxels perpendicular to the axis.
    fn runs_in_plane(&self, axis: usize) -> bool {
        self.direction[axis] == 0 && self.origin[axis] & ((1 << UNIT_BITS) - 1) == 0
    }
}

/// A time on a ray: the quotient of a distance along an axis, in units, and the length of the direction
/// along that axis, above 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    pub(super) distance: i64,
    pub(super) length: i64,
}

impl Time {
    const ZERO: Self = Self { distance: 0, length: 1 };

    /// Products are below 2^61.
    fn is_before(&self, other: &Self) -> bool {
        self.distance * other.length < other.distance * self.length
    }

    fn is_at(&self, other: &Self) -> bool {
        self.distance * other.length == other.distance * self.length
    }
}

/// A voxel that a ray touches, and when it first does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub(super) voxel: [i32; 3],
    pub(super) time: Time,
}

impl Touch {
    fn is_before(&self, other: &Self) -> bool {
        let is_at_once = self.time.is_at(&other.time);
        self.time.is_before(&other.time) || is_at_once && self.voxel < other.voxel
    }

    pub(super) fn hit(&self, ray: &Ray) -> Hit {
        let time_in_units = self.time.distance as f64 / self.time.length as f64;
        let distance = time_in_units * ray.length() * UNIT;
        Hit { voxel: self.voxel(), face: self.face(ray), distance }
    }

    #[inline]
    pub(crate) fn voxel(&self) -> [u32; 3] {
        self.voxel.map(|c| c as u32)
    }

    /// Where it is touched, in units, rounded down.
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

    /// The face of the first axis whose plane the ray reaches now; none where it begins in the voxel.
    #[inline]
    pub(crate) fn face(&self, ray: &Ray) -> Option<Face> {
        if self.time.distance <= 0 {
            return None;
        }
        (0..3).filter(|&a| ray.direction[a] != 0).find_map(|axis| {
            let is_upper = ray.direction[axis] < 0;
            let plane = i64::from(self.voxel[axis] + i32::from(is_upper)) << UNIT_BITS;
            let towards = plane - ray.origin[axis];
            let distance = if is_upper { -towards } else { towards };
            let length = i64::from(ray.direction[axis]).abs();
            Time { distance, length }.is_at(&self.time).then_some(Face { axis, is_upper })
        })
    }
}

/// A ray and what it is searched with.
struct March<'a> {
    scene: &'a Scene<'a>,
    ray: &'a Ray,
    /// The lengths of the direction along the axes.
    lengths: [i64; 3],
    /// Whether cells end at the plane that the ray reaches, rather than begin there.
    is_down: [bool; 3],
}

/// A walk from cell to cell of one level.
struct Walk {
    /// The cell, counted in cells from the grid's corner.
    cell: [i32; 3],
    /// By how much the ray leaves the cell later along `x` than along `y`, along `y` than `z`, and along `z`
    /// than `x`: with distances `n` to the planes, `n[x] m[y] - n[y] m[x]` and so on.
    later: [i64; 3],
    /// What a step along each axis adds, by the length along the other: a cell's side times each length.
    step: [i64; 3],
    /// By which axis the ray came to the cell; `None` where the walk begins.
    came_by: Option<usize>,
}

/// A point on a ray.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Rounded down.
    units: [i64; 3],
    /// Whether that changed nothing.
    is_exact: [bool; 3],
}

impl Point {
    /// The cell of a level that holds it, along one axis: the upper one where it is where one ends.
    /// Rounding down to units first changes neither.
    #[inline]
    fn cell(&self, axis: usize, level: u32) -> i32 {
        (self.units[axis] >> (UNIT_BITS + 3 * level)) as i32
    }

    /// Whether a cell of a level ends there, along one axis.
    #[inline]
    fn is_at_end(&self, axis: usize, level: u32) -> bool {
        let within = (1 << (UNIT_BITS + 3 * level)) - 1;
        self.is_exact[axis] && self.units[axis] & within == 0
    }
}

/// `a / b` rounded down, and what remains, for `b` from 1 to `2^24` and `a` below `2^62` with a quotient
/// below `2^39`; `inverse` is about `1 / b`.
///
/// It is `1 / b`, `a` and their product rounded once each, so within `2^-51` of the quotient as a part of it,
/// which is `2^-12`: cut off it is wrong by 2 at most, and multiplied back it tells by how much. That is
/// several times faster than a division of 64 bits.
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

/// An axis along which `cell` is not in `parent`, a cell of the next larger size.
#[inline]
fn left_by(cell: [i32; 3], parent: [i32; 3]) -> Option<usize> {
    (0..3).find(|&a| cell[a] >> 3 != parent[a])
}

/// How much later than any other is an axis along which the ray never leaves a cell.
const NEVER: i64 = 1 << 62;

impl<'a> March<'a> {
    /// `is_lower` says of an axis along which the ray stays in a plane whether it is searched for voxels
    /// below this.
    fn new(scene: &'a Scene<'a>, ray: &'a Ray, is_lower: [bool; 3]) -> Self {
        let lengths = ray.direction.map(|d| i64::from(d).abs());
        let is_down = std::array::from_fn(|a| match ray.direction[a] {
            0 => ray.runs_in_plane(a) && is_lower[a],
            d => d < 0,
        });
        Self { scene, ray, lengths, is_down }
    }

    /// Searches the tree from its root, down into cells that hold something and up again past their
    /// ends.
    fn search(&self, start: Time) -> Option<Touch> {
        let Scene { nodes, children, .. } = self.scene;
        let (mut level, mut node) = (self.scene.top(), self.scene.root());
        // The brick that is walked through at level 0, and when the ray came to it, or to the node.
        let (mut brick, mut time) = (0, start);
        let mut point = self.position(start);
        // The node's own cell, or the brick's, among those of its size.
        let mut parent = [0; 3];
        let (mut walk, _) = self.enter(level, &point);
        // Whether the ray may now be in voxels beside that of the walk: in two where it begins on a plane,
        // but not where it comes through one to the box of those that are occupied; in more at an edge.
        let mut is_beside = self.planes_about(&point, 0) >= if start.distance > 0 { 2 } else { 1 };
        let mut now = start;
        loop {
            if is_beside {
                let touch = self.touched_at(now);
                if touch.is_some() {
                    return touch;
                }
                is_beside = false;
            }
            if let Some(axis) = left_by(walk.cell, parent) {
                if level == self.scene.top() {
                    return None;
                }
                node = if level > 0 { nodes[node].parent as usize } else { node };
                level += 1;
                // Where a node ends a cell of the next larger one ends: the ray comes to that cell's
                // neighbour now.
                walk = self.walk_from(level, walk.cell.map(|c| c >> 3), Some(axis));
                parent = parent.map(|c| c >> 3);
                continue;
            }
            let cell = match level {
                0 => self.scene.voxel(brick, walk.cell),
                _ => nodes[node].cell(children, walk.cell),
            };
            if cell == Cell::Empty {
                is_beside = self.advance(&mut walk);
            }
            if cell != Cell::Empty || is_beside {
                now = self.time_of(&walk, level, time);
            }
            match cell {
                Cell::Empty => {}
                Cell::Full if level == 0 => return Some(Touch { voxel: walk.cell, time: now }),
                // Which of its voxels.
                Cell::Full => is_beside = true,
                Cell::Partial(child) => {
                    // A walk that just began is where the one before was.
                    if walk.came_by.is_some() {
                        point = self.position(now);
                    }
                    time = now;
                    (brick, node) = if level == 1 { (child, node) } else { (brick, child) };
                    level -= 1;
                    parent = walk.cell;
                    (walk, is_beside) = self.enter(level, &point);
                }
            }
        }
    }

    /// The first in order of the occupied voxels whose closed cubes hold the ray's point at `time`.
    #[cold]
    fn touched_at(&self, time: Time) -> Option<Touch> {
        let point = self.position(time);
        let cells = |a: usize| {
            let upper = point.cell(a, 0);
            upper - i32::from(point.is_at_end(a, 0))..=upper
        };
        let mut voxels =
            cells(0).flat_map(|x| cells(1).flat_map(move |y| cells(2).map(move |z| [x, y, z])));
        let voxel = voxels.find(|&voxel| self.scene.contains(voxel))?;
        Some(Touch { voxel, time })
    }

    /// Where the ray is at `time`.
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

    /// The walk through cells of a level that begins at `point`, and whether this is between layers of cells
    /// along two axes or more: other cells touch it there, too.
    #[inline]
    fn enter(&self, level: u32, point: &Point) -> (Walk, bool) {
        let mut cell = [0; 3];
        for (axis, cell) in cell.iter_mut().enumerate() {
            let is_lower = self.is_down[axis] && point.is_at_end(axis, level);
            *cell = point.cell(axis, level) - i32::from(is_lower);
        }
        (self.walk_from(level, cell, None), self.planes_about(point, level) >= 2)
    }

    /// Between how many layers of cells `point` is that the ray does not stay between.
    #[inline]
    fn planes_about(&self, point: &Point, level: u32) -> u32 {
        let is_on = |a: usize| u32::from(point.is_at_end(a, level) && self.lengths[a] != 0);
        is_on(0) + is_on(1) + is_on(2)
    }

    #[inline]
    fn walk_from(&self, level: u32, cell: [i32; 3], came_by: Option<usize>) -> Walk {
        let bits = UNIT_BITS + 3 * level;
        let distance = |a: usize| {
            let plane = i64::from(cell[a] + i32::from(self.ray.direction[a] > 0)) << bits;
            (plane - self.ray.origin[a]).abs()
        };
        let n = [0, 1, 2].map(distance);
        let m = self.lengths;
        let later = |a: usize, b: usize| match (m[a], m[b]) {
            (0, _) => NEVER,
            (_, 0) => -NEVER,
            _ => n[a] * m[b] - n[b] * m[a],
        };
        let later = [later(0, 1), later(1, 2), later(2, 0)];
        Walk { cell, later, step: m.map(|length| length << bits), came_by }
    }

    /// Goes on to the next cell, and tells whether others are touched on the way to it: where the ray
    /// leaves the last along several axes at once.
    #[inline]
    fn advance(&self, walk: &mut Walk) -> bool {
        let [xy, yz, zx] = walk.later;
        if xy < 0 && zx > 0 {
            self.step::<0>(walk);
        } else if yz < 0 && xy > 0 {
            self.step::<1>(walk);
        } else if zx < 0 && yz > 0 {
            self.step::<2>(walk);
        } else {
            self.step_along_several(walk);
            return true;
        }
        false
    }

    /// Where the ray leaves a cell along two axes at once, or three.
    #[cold]
    fn step_along_several(&self, walk: &mut Walk) {
        let [xy, yz, zx] = walk.later;
        if xy <= 0 && zx >= 0 {
            self.step::<0>(walk);
        }
        if yz <= 0 && xy >= 0 {
            self.step::<1>(walk);
        }
        if zx <= 0 && yz >= 0 {
            self.step::<2>(walk);
        }
    }

    #[inline]
    fn step<const AXIS: usize>(&self, walk: &mut Walk) {
        let (next, last) = ((AXIS + 1) % 3, (AXIS + 2) % 3);
        walk.later[AXIS] += walk.step[next];
        walk.later[last] -= walk.step[last];
        walk.cell[AXIS] += self.ray.direction[AXIS].signum();
        walk.came_by = Some(AXIS);
    }

    /// When the ray came to the walk's cell.
    #[inline]
    fn time_of(&self, walk: &Walk, level: u32, start: Time) -> Time {
        let Some(axis) = walk.came_by else { return start };
        let is_down = self.ray.direction[axis] < 0;
        let plane = i64::from(walk.cell[axis] + i32::from(is_down)) << (UNIT_BITS + 3 * level);
        let towards = plane - self.ray.origin[axis];
        let distance = if is_down { -towards } else { towards };
        Time { distance, length: self.lengths[axis] }
    }
}
