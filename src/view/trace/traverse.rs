//! The first voxel that a ray touches: by the traversal in fixed-point times where their order is
//! certain, otherwise by a search in exact times. The search follows the definition; a GPU, which
//! traverses the tree in exact times, has the same hits.

use std::cmp::Ordering;

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

    /// The first touch by exact times: a search of the cells that the ray touches, in the order of
    /// their touches.
    #[cold]
    pub(crate) fn exact_touch(&self, ray: &Ray, start: Time) -> Option<Touch> {
        let root = self.nodes.len().checked_sub(1)?;
        self.touch_in(ray, start, self.top, Cell::Partial(root), [0; 3])
    }

    /// The first touch in a cell whose own cells are of `level` and begin at `corner`.
    fn touch_in(
        &self,
        ray: &Ray,
        start: Time,
        level: u32,
        cell: Cell,
        corner: [u32; 3],
    ) -> Option<Touch> {
        let side = 1 << (3 * level);
        let touched = |(at, cell): ([u32; 3], Cell)| {
            let voxel = at.map(|c| c as i32);
            Some((Touch { voxel, time: ray.touches(voxel, side, start)? }, at, cell))
        };
        let mut cells: Vec<_> = self.cells(level, cell, corner).filter_map(touched).collect();
        cells.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
        let mut first: Option<Touch> = None;
        for (touch, at, cell) in cells {
            if first.is_some_and(|first| first.time.cmp(&touch.time).is_lt()) {
                break;
            }
            let touch = match level {
                0 => Some(touch),
                _ => self.touch_in(ray, start, level - 1, cell, at),
            };
            first = first.into_iter().chain(touch).min_by(Touch::cmp);
        }
        first
    }
}

impl Ray {
    /// The first time from `start` on at which the ray is in the closed cube of `side` voxels from
    /// voxel `corner` on, if it is.
    fn touches(&self, corner: [i32; 3], side: i32, start: Time) -> Option<Time> {
        let (mut begin, mut end) = (start, None);
        for (a, voxel) in corner.into_iter().enumerate() {
            let plane = |voxel: i32| (i64::from(voxel) << FRACTION_BITS) - self.origin[a];
            let (to_lo, to_hi) = (plane(voxel), plane(voxel + side));
            let (near, far) = match self.direction[a] {
                0 if to_lo > 0 || to_hi < 0 => return None,
                0 => continue,
                1.. => (to_lo, to_hi),
                _ => (-to_hi, -to_lo),
            };
            let length = i64::from(self.direction[a]).abs();
            let [near, far] = [near, far].map(|distance| Time { distance, length });
            begin = std::cmp::max_by(near, begin, Time::cmp);
            end = end.into_iter().chain([far]).min_by(Time::cmp);
            if end.is_some_and(|end| end.cmp(&begin).is_lt()) {
                return None;
            }
        }
        Some(begin)
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

    /// The time at which the ray enters a voxel along an axis.
    #[inline]
    pub(crate) fn of_entry(ray: &Ray, voxel: [i32; 3], axis: usize) -> Self {
        let is_down = ray.direction[axis] < 0;
        let plane = i64::from(voxel[axis] + i32::from(is_down)) << FRACTION_BITS;
        let towards = plane - ray.origin[axis];
        let distance = if is_down { -towards } else { towards };
        Self { distance, length: i64::from(ray.direction[axis]).abs() }
    }

    /// Products are below 2^61.
    fn cmp(&self, other: &Self) -> Ordering {
        (self.distance * other.length).cmp(&(other.distance * self.length))
    }
}

/// A voxel that a ray touches, and the time of the first touch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub(crate) voxel: [i32; 3],
    pub(crate) time: Time,
}

impl Touch {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time.cmp(&other.time).then(self.voxel.cmp(&other.voxel))
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
        std::array::from_fn(|a| {
            let numerator = ray.origin[a] * length + distance * i64::from(ray.direction[a]);
            numerator.div_euclid(length)
        })
    }

    /// The face through which the ray enters: of the first axis whose plane it reaches at that
    /// time. `None` if the ray begins in the voxel.
    #[inline]
    pub(crate) fn face(&self, ray: &Ray) -> Option<Face> {
        if self.time.distance <= 0 {
            return None;
        }
        (0..3).filter(|&a| ray.direction[a] != 0).find_map(|axis| {
            let time = Time::of_entry(ray, self.voxel, axis);
            let is_upper = ray.direction[axis] < 0;
            time.cmp(&self.time).is_eq().then_some(Face { axis, is_upper })
        })
    }
}
