//! The traversal in fixed-point times, where their order is certain.
//!
//! A ray is mirrored to ascend along all axes. It crosses plane `j` between voxels of an axis at
//! the time `first + j side`, in integers: exact sums, at all levels of the tree. The side of a
//! cell is the side of a voxel times a power of 8. The last two bits of a time are the axis of its
//! plane, or 3 at no plane: planes of two axes never have equal times.
//!
//! # The margin
//! A power of 2 scales all times: the planes of the root are crossed before `2^61`.
//! - `first` is the product of an exact distance, below `2^37`, and a rounded inverse: two relative
//!   errors of `2^-53`, below `2^9`, and 4 for its fraction and its last bits. The same holds for
//!   the start.
//! - `side` has one such error and loses its fraction and its last bits. For `j` up to the root's
//!   `width`, and `j side` below `2^62`: `2^9 + 4 width`.
//!
//! Two times of an error below `4 width + 2^10 + 4` each are in their true order if they differ by
//! a margin of `8 width + 2^12`. Nearer times may be a tie, which the exact traversal decides: a
//! few of a million rays in general position have one.
//!
//! # Why no touch is missed
//! A ray begins a margin away from all planes but the root's plane of entry, or it has a tie. Each
//! step crosses one plane, a margin after the plane before and a margin before the next one: a ray
//! that enters a cell touches the cell before it and no third one. On descent the planes in a cell
//! are compared with the time of entry; the planes in an empty cell do not matter. So the ray
//! touches voxels one by one, and the first occupied one is the first hit.
//!
//! # Axes of direction 0
//! Along such an axis the ray stays in one layer of voxels, between two planes; on a plane it has a
//! tie. The exit time of each cell of the layer is [`NEVER`], the entry time is the complement
//! `!NEVER`, and `side` is 0. All differences of times are below `2^62 + 2^61 + 2^22`.

use std::hint::select_unpredictable;

use crate::grid::{FULL, Mask};
use crate::view::trace::scene::{Node, Scene};
use crate::view::trace::traverse::{Time, Touch};
use crate::view::trace::{FRACTION_BITS, Ray};

/// The exit time along an axis of direction 0, later than all planes.
const NEVER: i64 = 1 << 62;

/// The last bits of a time at which no plane is crossed.
const NO_PLANE: i64 = 3;

/// The order of two times is not certain.
#[derive(Debug)]
pub(crate) struct Tie;

/// A node of full cells.
const FULL_NODE: &Node = &Node { full: FULL, ..Node::EMPTY };

/// A power of two above the level of any root: `8^6` voxels are more than an axis has.
const LEVELS: u32 = 8;

/// A mirrored ray in a scene, in fixed point.
struct Crossings {
    /// The time at which it crosses the first plane of the root, per axis.
    first: [i64; 3],
    /// The time that it takes from plane to plane between voxels.
    side: [i64; 3],
    /// -1 (all bits set) on axes of direction 0, else 0.
    stays: [i64; 3],
    /// The ray's layer of voxels on axes of direction 0, else 0.
    layer: [u32; 3],
    /// The time at which it begins.
    start: i64,
    /// The change of a cell's index by a step, per axis.
    steps: [i32; 3],
    /// The bits of a cell's index that are inverted on the mirrored axes.
    flips: u32,
    /// The voxels along the root.
    width: u32,
    margin: i64,
}

/// The traversal of one node.
#[derive(Clone, Copy)]
struct Dda<'a> {
    /// The times at which the ray leaves the cell, per axis.
    exits: [i64; 3],
    /// The index of the cell in its node: `64 x + 8 y + z`.
    index: u32,
    /// The time at which the ray leaves the node.
    leave: i64,
    node: &'a Node,
}

/// An unrolled [`std::array::from_fn`].
#[inline]
fn each<T>(of_axis: impl Fn(usize) -> T) -> [T; 3] {
    [of_axis(0), of_axis(1), of_axis(2)]
}

impl Crossings {
    #[inline]
    fn new(scene: &Scene, ray: &Ray, start: Time) -> Self {
        let width = 1 << (3 * (scene.top + 1));
        let side = f64::from(1 << FRACTION_BITS);
        let units = f64::from(width) * side;
        let (mut origin, mut inverse, mut latest) = ([0.0; 3], [0.0; 3], 0.0);
        let (mut stays, mut layer, mut steps, mut flips) = ([0; 3], [0; 3], [64, 8, 1], 0);
        for a in 0..3 {
            let (from, direction) = (ray.origin[a] as f64, f64::from(ray.direction[a]));
            if direction == 0.0 {
                // A negative layer becomes larger than the grid.
                (stays[a], layer[a]) = (-1, (ray.origin[a] >> FRACTION_BITS) as u32);
                continue;
            }
            origin[a] = from;
            if direction < 0.0 {
                origin[a] = units - from;
                flips |= 7 * steps[a] as u32;
                steps[a] = -steps[a];
            }
            inverse[a] = 1.0 / direction.abs();
            let all = (origin[a].abs() + units) * inverse[a];
            latest = if all > latest { all } else { latest };
        }
        // From the exponent of `latest`, which is normal.
        let scale = f64::from_bits((2 * 1023 + 60 - (latest.to_bits() >> 52)) << 52);
        let rate = inverse.map(|inverse| inverse * scale);
        let time = start.distance as f64 / start.length as f64 * scale;
        let first = |a: usize| (-origin[a] * rate[a]) as i64 & !3 | a as i64 | !NEVER & stays[a];
        Self {
            first: each(first),
            side: rate.map(|rate| (side * rate) as i64 & !3),
            stays,
            layer,
            // Past all planes of the root, at most.
            start: time.min((1_u64 << 62) as f64) as i64,
            steps,
            flips,
            width,
            margin: 8 * i64::from(width) + (1 << 12),
        }
    }

    /// The time at which the traversal begins: shortly before the box of the occupied voxels, or
    /// the start inside it, but not before the root's planes of entry. `None` if the ray misses the
    /// box.
    #[inline]
    fn begin(&self, [min, max]: [[u32; 3]; 2]) -> Result<Option<i64>, Tie> {
        let (mut enter, mut leave, mut least) = (i64::MIN, NEVER, NEVER);
        for a in 0..3 {
            if self.stays[a] != 0 {
                if !(min[a]..=max[a]).contains(&self.layer[a]) {
                    return Ok(None);
                }
                continue;
            }
            let (lo, hi) = (min[a], max[a] + 1);
            let is_mirrored = self.steps[a] < 0;
            let (lo, hi) = if is_mirrored { (self.width - hi, self.width - lo) } else { (lo, hi) };
            let plane = |voxel: u32| self.first[a] + i64::from(voxel) * self.side[a];
            enter = enter.max(plane(lo));
            leave = leave.min(plane(hi));
            least = least.min(self.side[a]);
        }
        let inside = leave - enter.max(self.start);
        if inside < -self.margin {
            return Ok(None);
        }
        let begin = self.start.max(enter - self.margin - (least >> 8)) | NO_PLANE;
        let at_root = self.first.into_iter().fold(i64::MIN, i64::max);
        if inside < self.margin || (begin - at_root).abs() < self.margin {
            return Err(Tie);
        }
        Ok(Some(begin.max(at_root)))
    }

    /// The index of the ray's cell at `time` and the exit times of that cell, in a node of `level`
    /// with the entry times `lower`; the ray crosses a cell in the times `side`.
    #[inline]
    fn enter(
        &self,
        level: u32,
        time: i64,
        lower: [i64; 3],
        side: [i64; 3],
    ) -> Result<(u32, [i64; 3]), Tie> {
        let (mut index, mut near, mut exits) = (0, 0, [0; 3]);
        for a in 0..3 {
            // Bisection. If rounding puts `time` outside the node, the result is the first or last
            // cell; `time` is not between the planes of that cell, which is a tie.
            let (mut within, mut at) = (time - lower[a], 0);
            for half in [2, 1, 0] {
                let beyond = within - (side[a] << half);
                within = select_unpredictable(beyond < 0, within, beyond);
                at = at << 1 | u32::from(beyond >= 0);
            }
            near += (within - self.margin) >> 63;
            exits[a] = (time - within + side[a]) ^ self.stays[a];
            index = index << 3 | at & !self.stays[a] as u32 | self.layer[a] >> (3 * level) & 7;
        }
        // Only the plane of entry may be this near.
        if near < -i64::from(time & 3 != NO_PLANE) {
            return Err(Tie);
        }
        Ok((index ^ self.flips, exits))
    }
}

impl Scene<'_> {
    /// The touch of [`first_touch_from`](Self::first_touch_from), if there is no tie.
    pub(crate) fn certain_touch(&self, ray: &Ray, start: Time) -> Result<Option<Touch>, Tie> {
        let (Some(bounds), Some(mut node)) = (self.bounds(), self.nodes.last()) else {
            return Ok(None);
        };
        let is_on_plane = |a: usize| ray.origin[a] & ((1 << FRACTION_BITS) - 1) == 0;
        if (0..3).any(|a| ray.direction[a] == 0 && is_on_plane(a)) {
            return Err(Tie);
        }
        let crossings = Crossings::new(self, ray, start);
        let Some(mut time) = crossings.begin(bounds)? else { return Ok(None) };
        let Crossings { margin, stays, steps, first: mut lower, .. } = crossings;

        let top = self.top;
        let mut level = top;
        let (mut partial, mut full): (&Mask, &Mask) = (&node.partial, &node.full);
        let mut side = crossings.side.map(|side| side << (3 * level));
        let ends = each(|a| (lower[a] + 8 * side[a]) ^ stays[a]);
        let mut leave = ends.into_iter().fold(NEVER, i64::min);
        let mut parents = [Dda { exits: [0; 3], index: 0, leave, node }; LEVELS as usize];
        loop {
            let (mut index, [mut x, mut y, mut z]) = crossings.enter(level, time, lower, side)?;
            let mut next = x.min(y).min(z);
            if next - time < margin {
                return Err(Tie);
            }
            let (word, bit) = loop {
                let (word, bit) = ((index >> 6 & 7) as usize, index & 63);
                if (partial[word] | full[word]) >> bit & 1 == 1 {
                    break (word, bit);
                }
                time = next;
                loop {
                    x += select_unpredictable(x == time, side[0], 0);
                    y += select_unpredictable(y == time, side[1], 0);
                    z += select_unpredictable(z == time, side[2], 0);
                    next = x.min(y).min(z);
                    if next - time < margin {
                        return Err(Tie);
                    }
                    if time != leave {
                        break;
                    }
                    // The node is a cell one level up: the ray leaves that, too.
                    if level == top {
                        return Ok(None);
                    }
                    side = each(|a| side[a] << 3);
                    Dda { exits: [x, y, z], index, leave, node } =
                        parents[(level % LEVELS) as usize];
                    (partial, full) = (&node.partial, &node.full);
                    level += 1;
                }
                let step = select_unpredictable(time & 3 == 0, steps[0], steps[2]);
                let step = select_unpredictable(time & 3 == 1, steps[1], step);
                index = index.wrapping_add_signed(step);
            };
            if level == 0 {
                let mut voxel = [0; 3];
                for level in (0..=top).rev() {
                    let index = if level == 0 { index } else { parents[level as usize - 1].index };
                    let cell = [index >> 6, index >> 3 & 7, index & 7];
                    voxel = each(|a| voxel[a] << 3 | cell[a] as i32);
                }
                let time = match time & 3 {
                    NO_PLANE => start,
                    axis => Time::of_entry(ray, voxel, axis as usize),
                };
                return Ok(Some(Touch { voxel, time }));
            }
            level -= 1;
            parents[(level % LEVELS) as usize] = Dda { exits: [x, y, z], index, leave, node };
            leave = next;
            lower = [(x - side[0]) ^ stays[0], (y - side[1]) ^ stays[1], (z - side[2]) ^ stays[2]];
            side = each(|a| side[a] >> 3);
            if full[word] >> bit & 1 == 1 {
                (node, partial, full) = (FULL_NODE, &FULL, &FULL);
                continue;
            }
            let child = node.child(&self.children, word, bit);
            if level == 0 {
                (partial, full) = (self.mask(child), &[0; 8]);
            } else {
                node = &self.nodes[child];
                (partial, full) = (&node.partial, &node.full);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::grid::VoxelGrid;
    use crate::view::trace::MAX_DISTANCE;

    /// A sphere of `size` voxels in a larger grid, and a block of full bricks.
    fn sphere(size: u32, rng: &mut Rng) -> VoxelGrid {
        let all = (0..size.pow(3)).map(|i| [i % size, i / size % size, i / size / size]);
        let is_occupied = |voxel: &[u32; 3]| {
            let square: u32 = voxel.iter().map(|&c| (2 * c + 1).abs_diff(size).pow(2)).sum();
            let thickness = (2 * size - square.isqrt().min(2 * size)).abs_diff(size);
            thickness < 2 && rng.u32(0..9) > 0 || voxel.iter().all(|c| c / 16 == 1)
        };
        VoxelGrid::from_voxels([5 * size / 4; 3], all.filter(is_occupied).collect::<Vec<_>>())
            .unwrap()
    }

    /// Compares a ray, from its origin and from a time before its hit. Returns whether it is
    /// certain.
    fn check(scene: &Scene, ray: &Ray, rng: &mut Rng) -> bool {
        let seen = |touch: Option<Touch>| touch.map(|t| (t.voxel, t.face(ray), t.point(ray)));
        let hit = scene.exact_touch(ray, Time::ZERO);
        let before = hit.map_or(0.0, |hit| hit.time.distance as f64 / hit.time.length as f64);
        let mut is_certain = true;
        for start in [Time::ZERO, Time::at_most(0.99 * rng.f64() * before)] {
            let certain = scene.certain_touch(ray, start);
            is_certain &= certain.is_ok();
            if let Ok(touch) = certain {
                assert_eq!(seen(touch), seen(hit), "{ray:?}, {start:?}");
            }
        }
        is_certain
    }

    #[test]
    fn certain_touches_are_the_exact_ones() {
        let mut rng = Rng::with_seed(1);
        let most = i64::from(MAX_DISTANCE) << FRACTION_BITS;
        // In general position; towards a corner of a voxel; one unit beside it; and in planes or
        // along an axis, between the planes of voxels.
        let mut certain = [0; 4];
        for size in [7, 40, 100] {
            let grid = sphere(size, &mut rng);
            let (scene, units) = (Scene::new(&grid), i64::from(size) << FRACTION_BITS);
            for i in 0..40_000 {
                let kind = i % 4;
                let reach = if i % 5 == 0 { most } else { 2 * units };
                let target = [0; 3].map(|_| rng.i64(0..units) >> FRACTION_BITS << FRACTION_BITS);
                let ray = if kind == 0 || kind == 3 {
                    let direction = [0; 3].map(|_| rng.i32(-1 << 24..1 << 24) >> rng.u32(0..20));
                    let mut towards = direction.map(|d| if d == 0 { 1 } else { d });
                    if kind == 3 {
                        let axis = rng.usize(0..3);
                        towards[axis] = 0;
                        towards[(axis + 1) % 3] *= rng.i32(0..2);
                    }
                    let back = if i % 2 == 0 { 0 } else { reach >> 24 };
                    let origin = [0, 1, 2].map(|a| target[a] + 77 - back * i64::from(towards[a]));
                    Ray::from_units(origin.map(|c| c.clamp(-most, most)), towards).unwrap()
                } else {
                    let direction = [0; 3].map(|_| rng.i32(-(1 << 12)..1 << 12) | 1);
                    let times = rng.i64(0..(reach >> 13).min(1 << 20));
                    let beside = if kind == 2 { rng.i64(-1..=1) } else { 0 };
                    let origin = [0, 1, 2].map(|a| target[a] - times * i64::from(direction[a]));
                    Ray::from_units([origin[0] + beside, origin[1], origin[2]], direction).unwrap()
                };
                certain[kind] += u32::from(check(&scene, &ray, &mut rng));
                if kind == 3 {
                    let in_plane = ray.origin.map(|c| c >> FRACTION_BITS << FRACTION_BITS);
                    assert!(!check(&scene, &Ray { origin: in_plane, ..ray }, &mut rng), "{ray:?}");
                }
            }
        }
        let [general, corners, beside, still] = certain;
        assert!(general > 29_900 && still > 29_900, "{certain:?}");
        assert!(corners < 25_000 && beside > corners, "{certain:?}");
    }
}
