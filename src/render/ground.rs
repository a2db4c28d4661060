//! The ground below the voxels, and how much of the sky it sees: a table of places, between which is
//! interpolated, so that shadows of the sky are soft.

use rayon::prelude::*;

use crate::render::camera::{Camera, dot};
use crate::render::light::{OFF, ONE, Way, axis_of, is_dark, of, to_sky};
use crate::trace::{Ray, Scene, UNIT_BITS};

/// Places along a side of the table.
pub(super) const PLACES: usize = 128;

/// Ways from a place to the sky.
const WAYS: usize = 96;

/// How far the table reaches past the voxels at each side, in lengths of their longest side.
const REACH: f64 = 1.0;

/// A camera that looks down less steeply, as a sine, sees no ground.
const LEAST_SLOPE: f64 = 0.05;

/// The plane that the lowest voxels stand on, in units of a ray's origin.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    /// The axis that is up.
    pub(super) up: usize,
    /// The two level axes.
    pub(super) level: [usize; 2],
    /// Of the places, just above the plane.
    pub(super) height: i64,
    /// The first place.
    pub(super) corner: [i64; 2],
    /// The next one along either axis is `step << step_bits` further; `step` has at most 16 bits.
    pub(super) step: u32,
    pub(super) step_bits: u32,
    /// To the sky.
    pub(super) ways: Vec<Way>,
}

/// What part of the sky each place does not see, by rows along the first axis.
pub(super) type Dark = Vec<u32>;

impl Ground {
    /// None where there is nothing on it, or it is not seen from above.
    pub(super) fn new(bounds: Option<[[u32; 3]; 2]>, camera: &Camera) -> Option<Self> {
        let [min, max] = bounds?;
        if dot(camera.back, camera.world_up) < LEAST_SLOPE {
            return None;
        }
        let up = axis_of(camera.up_axis);
        let level = [0, 3 - up];
        let longest = (0..3).map(|a| max[a] + 1 - min[a]).fold(0, u32::max);
        let units = f64::from(1 << UNIT_BITS);
        let side = f64::from(longest) * (1.0 + 2.0 * REACH) * units;
        let step = (side / (PLACES - 1) as f64).ceil() as u32;
        let step_bits = (u32::BITS - step.leading_zeros()).saturating_sub(16);
        // Rounded up, to a number of 16 bits: 2^16 is one with a bit more.
        let rounded = step.div_ceil(1 << step_bits);
        let (step, step_bits) = match rounded {
            0x1_0000 => (0x8000, step_bits + 1),
            _ => (rounded, step_bits),
        };
        let half = (i64::from(step) << step_bits) * (PLACES as i64 - 1) / 2;
        let middle = |a: usize| (i64::from(min[a]) + i64::from(max[a]) + 1) << (UNIT_BITS - 1);
        Some(Self {
            up,
            level,
            height: (i64::from(min[up]) << UNIT_BITS) + OFF,
            corner: level.map(|a| middle(a) - half),
            step,
            step_bits,
            ways: to_sky(camera.world_up, WAYS, 0),
        })
    }

    /// What is dark of the sky over each place.
    pub(super) fn dark(&self, scene: &Scene) -> Dark {
        let dark = |place: usize| {
            let from = self.place(place);
            let dark = self.ways.iter().filter(|&&to| is_dark(scene, from, to)).count();
            dark as u32 * ONE / WAYS as u32
        };
        (0..PLACES * PLACES).into_par_iter().map(dark).collect()
    }

    fn place(&self, number: usize) -> [i64; 3] {
        let step = i64::from(self.step) << self.step_bits;
        let mut place = [self.height; 3];
        place[self.level[0]] = self.corner[0] + (number % PLACES) as i64 * step;
        place[self.level[1]] = self.corner[1] + (number / PLACES) as i64 * step;
        place
    }

    /// Where a ray meets it among the places, if it comes from above.
    pub(super) fn met_by(&self, ray: &Ray) -> Option<[i64; 3]> {
        let (origin, direction) = ray.in_units();
        let down = -i64::from(direction[self.up]);
        let above = origin[self.up] - self.height;
        if down <= 0 || above <= 0 {
            return None;
        }
        let end = (i64::from(self.step) << self.step_bits) * (PLACES as i64 - 1);
        let mut point = [self.height; 3];
        for (a, corner) in self.level.into_iter().zip(self.corner) {
            // As far away as 2^61 units, where it is hardly above the horizon.
            point[a] = origin[a] + (above * i64::from(direction[a])).div_euclid(down);
            if !(0..end).contains(&(point[a] - corner)) {
                return None;
            }
        }
        Some(point)
    }

    /// What part of the sky is not seen from a point of it that is among the places.
    pub(super) fn dark_at(&self, dark: &Dark, point: [i64; 3]) -> u32 {
        // Below 127 steps of 16 bits.
        let at = [0, 1].map(|i| ((point[self.level[i]] - self.corner[i]) >> self.step_bits) as u32);
        let [i, j] = at.map(|c| (c / self.step) as usize);
        let [u, v] = at.map(|c| ((c % self.step) << 15) / self.step);
        let of_place = |i: usize, j: usize| dark[j * PLACES + i];
        let along = |j: usize| between(of_place(i, j), of_place(i + 1, j), u);
        // To nothing at the table's ends.
        let last = (PLACES as u32 - 1) * self.step;
        let to_end = at.map(|c| c.min(last - c) / (last >> 13));
        let whole = to_end[0].min(to_end[1]).min(1 << 10) << 5;
        of(between(along(j), along(j + 1), v), whole)
    }
}

/// From `a` at 0 to `b` at [`ONE`].
#[inline]
pub(super) fn between(a: u32, b: u32, at: u32) -> u32 {
    (a * (ONE - at) + b * at) / ONE
}
