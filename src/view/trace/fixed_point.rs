//! The traversal in fixed-point times, where their order is certain.
//!
//! A ray is mirrored to ascend along all axes. It crosses plane `j` between voxels of an axis at
//! the time `first + j side`, in integers: exact sums, at all levels of the tree. The side of a cell
//! is the side of a voxel times a power of 8.
//!
//! # The margin
//! A power of 2 scales all times: the planes of the root are crossed before `2^61`.
//! - `first` is the product of an exact distance, below `2^37`, and a rounded inverse: two relative
//!   errors of `2^-53`, below `2^9`, and 1 for its fraction. The same holds for the start.
//! - `side` has one such error and loses its fraction. Planes are at most `2^18`, and `j side` below
//!   `2^62`: `2^9 + 2^18`.
//!
//! Two times of an error below `2^18 + 2^11` each are in their true order if they differ by
//! [`MARGIN`]. Nearer times may be a tie, which the exact traversal decides: a few of a million rays
//! in general position have one.
//!
//! # Why no touch is missed
//! A ray begins a margin away from all planes but the root's plane of entry, or it has a tie. Each
//! step crosses one plane, a margin before the next planes of the other axes: a ray that enters a
//! cell touches the cell before it and no third one. On descent the planes in a cell are compared
//! with the time of entry; the planes in an empty cell do not matter. So the ray touches voxels one
//! by one, and the first occupied one is the first hit.

use crate::grid::{FULL, Mask};
use crate::view::trace::scene::{Node, Scene};
use crate::view::trace::traverse::{Time, Touch};
use crate::view::trace::{FRACTION_BITS, Ray};

/// Times that differ by less may be in another order, or equal.
const MARGIN: i64 = 1 << 20;

/// The order of two times is not certain.
#[derive(Debug)]
pub(crate) struct Tie;

/// A node of full cells.
const FULL_NODE: &Node = &Node { full: FULL, ..Node::EMPTY };

/// Nodes above the bricks, at most: `8^6` voxels are more than an axis has.
const LEVELS: usize = 6;

/// The place of a cell in its node: `x` from bit 8 on, `y` from bit 4 on, `z`. Where one of them
/// passes 7, the ray leaves the node.
const OUTSIDE: u32 = 0x888;

/// A mirrored ray in a scene, in fixed point.
struct Crossings {
    /// The time at which it crosses the first plane of the root, per axis.
    first: [i64; 3],
    /// The time that it takes from plane to plane between voxels.
    side: [i64; 3],
    /// The time at which it begins.
    start: i64,
    /// 7 on the mirrored axes.
    flips: [u32; 3],
    /// The voxels along the root.
    width: u32,
}

/// The traversal of one node.
#[derive(Clone, Copy)]
struct Dda<'a> {
    /// The times at which the ray leaves the cell, per axis.
    exits: [i64; 3],
    place: u32,
    /// The node's position in the grid of nodes of its level.
    position: [u32; 3],
    node: &'a Node,
}

impl Crossings {
    /// `None` if the ray is parallel to planes between voxels.
    #[inline]
    fn new(scene: &Scene, ray: &Ray, start: Time) -> Option<Self> {
        if ray.direction.contains(&0) {
            return None;
        }
        let width = 1 << (3 * (scene.top() + 1));
        let side = f64::from(1 << FRACTION_BITS);
        let units = f64::from(width) * side;
        let (mut flips, mut origin, mut inverse, mut latest) = ([0; 3], [0.0; 3], [0.0; 3], 0.0);
        for a in 0..3 {
            let (from, direction) = (ray.origin[a] as f64, f64::from(ray.direction[a]));
            (flips[a], origin[a]) = if direction < 0.0 { (7, units - from) } else { (0, from) };
            inverse[a] = 1.0 / direction.abs();
            let farthest = origin[a].abs().max((units - origin[a]).abs());
            latest = f64::max(latest, farthest * inverse[a]);
        }
        // From the exponent of `latest`, which is normal.
        let scale = f64::from_bits((2 * 1023 + 60 - (latest.to_bits() >> 52)) << 52);
        let rate = inverse.map(|inverse| inverse * scale);
        let time = start.distance as f64 / start.length as f64 * scale;
        Some(Self {
            first: [0, 1, 2].map(|a| (-origin[a] * rate[a]) as i64),
            side: rate.map(|rate| (side * rate) as i64),
            // Past all planes of the root, at most.
            start: time.min((1_u64 << 62) as f64) as i64,
            flips,
            width,
        })
    }

    /// A voxel's coordinate, mirrored where the ray is; the inverse is the same.
    #[inline]
    fn mirrored(&self, axis: usize, voxel: u32) -> u32 {
        if self.flips[axis] == 0 { voxel } else { self.width - 1 - voxel }
    }

    /// When to begin: a time before the box of the occupied voxels, or the start in it. And whether
    /// the ray is then at the first plane of the root.
    #[inline]
    fn begin(&self, [min, max]: [[u32; 3]; 2]) -> Result<Option<(i64, bool)>, Tie> {
        let (mut enter, mut leave) = (i64::MIN, i64::MAX);
        for a in 0..3 {
            let [lo, hi] = [min[a], max[a]].map(|voxel| self.mirrored(a, voxel));
            let plane = |voxel: u32| self.first[a] + i64::from(voxel) * self.side[a];
            enter = enter.max(plane(lo.min(hi)));
            leave = leave.min(plane(lo.max(hi) + 1));
        }
        let inside = leave - enter.max(self.start);
        if inside < -MARGIN {
            return Ok(None);
        }
        let [x, y, z] = self.side;
        let begin = self.start.max(enter - MARGIN - (x.min(y).min(z) >> 8));
        let at_root = self.first.into_iter().fold(i64::MIN, i64::max);
        if inside < MARGIN || (begin - at_root).abs() < MARGIN {
            return Err(Tie);
        }
        Ok(Some((begin.max(at_root), at_root > begin)))
    }

    /// The place of the cell that the ray is in at `time`, and when it leaves it, in a node that it
    /// enters at the times `lower` and whose cells take `side`; `is_entered`: at `time`.
    #[inline]
    fn place_at(
        &self,
        time: i64,
        lower: [i64; 3],
        side: [i64; 3],
        per_side: [f64; 3],
        is_entered: bool,
    ) -> Result<(u32, [i64; 3]), Tie> {
        // Adding this rounds to multiples of `2^-32`. Where that is another cell, it is a tie.
        const ROUND: f64 = (3_u64 << 19) as f64;
        let at = [0, 1, 2].map(|a| {
            let cells = (time - lower[a]) as f64 * per_side[a] + ROUND;
            (cells.to_bits() >> 32) as u32 & 7
        });
        let begins = [0, 1, 2].map(|a| lower[a] + i64::from(at[a]) * side[a]);
        let exits = [0, 1, 2].map(|a| begins[a] + side[a]);
        let [x, y, z] = exits.map(|exit| exit - time - MARGIN);
        let near = begins.map(|begin| (time - begin - MARGIN) >> 63);
        // The plane of entry is one.
        if x | y | z < 0 || near[0] + near[1] + near[2] < -i64::from(is_entered) {
            return Err(Tie);
        }
        Ok((at[0] << 8 | at[1] << 4 | at[2], exits))
    }
}

impl Scene<'_> {
    /// As [`first_touch_from`](Self::first_touch_from), if there is no tie.
    pub(crate) fn certain_touch(&self, ray: &Ray, start: Time) -> Result<Option<Touch>, Tie> {
        let Some(bounds) = self.bounds() else { return Ok(None) };
        let crossings = Crossings::new(self, ray, start).ok_or(Tie)?;
        let Some((begin, is_at_root)) = crossings.begin(bounds)? else { return Ok(None) };
        let flips = crossings.flips;
        let flipped = flips[1] << 3 | flips[2];

        let top = self.top();
        let mut level = top;
        let mut node: &Node = &self.nodes[self.root()];
        let (mut partial, mut full): (&Mask, &Mask) = (&node.partial, &node.full);
        let mut position = [0; 3];
        let mut parents = [Dda { exits: [0; 3], place: 0, position, node }; LEVELS];
        let mut side = crossings.side.map(|side| side << (3 * level));
        let mut per_side = side.map(|side| 1.0 / side as f64);
        let (mut time, mut lower) = (begin, crossings.first);
        loop {
            let is_entered = time > begin || is_at_root;
            let (mut place, [mut x, mut y, mut z]) =
                crossings.place_at(time, lower, side, per_side, is_entered)?;
            let (word, bit) = loop {
                let word = ((place >> 8 ^ flips[0]) & 7) as usize;
                let bit = (place & 7 | place >> 1 & 0x38) ^ flipped;
                if (partial[word] | full[word]) >> bit & 1 == 1 {
                    break (word, bit);
                }
                loop {
                    // All bits are set for the axis whose plane is certainly the next.
                    let [late_x, late_y, late_z] = [x, y, z].map(|exit| exit + MARGIN);
                    let is_x = ((late_x - y) & (late_x - z)) >> 63;
                    let is_y = ((late_y - x) & (late_y - z)) >> 63;
                    let is_z = ((late_z - x) & (late_z - y)) >> 63;
                    let step = is_x as u32 & 0x100 | is_y as u32 & 0x10 | is_z as u32 & 1;
                    if step == 0 {
                        return Err(Tie);
                    }
                    x += side[0] & is_x;
                    y += side[1] & is_y;
                    z += side[2] & is_z;
                    place += step;
                    if place & OUTSIDE == 0 {
                        break;
                    }
                    if level == top {
                        return Ok(None);
                    }
                    // The node is a cell one level up: the ray leaves that, too.
                    level += 1;
                    side = side.map(|side| side << 3);
                    per_side = per_side.map(|per_side| per_side / 8.0);
                    Dda { exits: [x, y, z], place, position, node } = parents[level as usize - 1];
                    (partial, full) = (&node.partial, &node.full);
                }
            };
            lower = [x - side[0], y - side[1], z - side[2]];
            time = lower[0].max(lower[1]).max(lower[2]).max(begin);
            let cell = [8, 4, 0].map(|shift| place >> shift & 7);
            let cell = [0, 1, 2].map(|a| position[a] << 3 | cell[a]);
            if level == 0 {
                let voxel = [0, 1, 2].map(|a| crossings.mirrored(a, cell[a]) as i32);
                // The last plane that it crosses, if it has crossed any.
                let axis = (0..3).find(|&a| lower[a] == time);
                let time = axis.map_or(start, |axis| Time::of_entry(ray, voxel, axis, 0));
                return Ok(Some(Touch { voxel, time }));
            }
            level -= 1;
            parents[level as usize] = Dda { exits: [x, y, z], place, position, node };
            position = cell;
            side = side.map(|side| side >> 3);
            per_side = per_side.map(|per_side| per_side * 8.0);
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
        // In general position; towards a corner of a voxel; and one unit beside it.
        let mut certain = [0; 3];
        for size in [7, 40, 100] {
            let grid = sphere(size, &mut rng);
            let (scene, units) = (Scene::new(&grid), i64::from(size) << FRACTION_BITS);
            for i in 0..30_000 {
                let kind = i % 3;
                let reach = if i % 5 == 0 { most } else { 2 * units };
                let target = [0; 3].map(|_| rng.i64(0..units) >> FRACTION_BITS << FRACTION_BITS);
                let ray = if kind == 0 {
                    let direction = [0; 3].map(|_| rng.i32(-1 << 24..1 << 24) >> rng.u32(0..20));
                    let towards = direction.map(|d| if d == 0 { 1 } else { d });
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
            }
        }
        let [general, corners, beside] = certain;
        assert!(general > 29_900 && corners < 25_000 && beside > corners, "{certain:?}");
    }
}
