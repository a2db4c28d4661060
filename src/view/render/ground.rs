//! The ground below the voxels, with its ambient occlusion: sampled on a regular grid, and
//! interpolated in between.

use std::sync::OnceLock;

use crate::base::vector::dot;
use crate::view::render::camera::Camera;
use crate::view::render::light::{
    Direction, ONE, RAY_OFFSET, is_occluded, lerp_fixed, scale, sky_directions,
};
use crate::view::trace::{FRACTION_BITS, Ray, Scene};

/// Samples of the ground along each side.
pub(crate) const GROUND_SAMPLES: usize = 128;

/// Sky directions per sample.
const GROUND_DIRECTIONS: usize = 96;

/// Margin of the sampled square at each side of the voxels, in multiples of their longest side.
const MARGIN: f64 = 1.0;

/// Sine of the camera's pitch below which no ground is drawn.
const MIN_PITCH: f64 = 0.05;

/// The plane that the lowest voxels stand on, in units of a ray's origin.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    pub(crate) up: usize,
    /// The two horizontal axes.
    pub(crate) level: [usize; 2],
    /// Position of the samples along the up axis, [`RAY_OFFSET`] above the plane.
    pub(crate) height: i64,
    /// Position of the first sample along the horizontal axes.
    pub(crate) corner: [i64; 2],
    /// The spacing of samples is `step << step_bits`; `step` has at most 16 bits.
    pub(crate) step: u32,
    pub(crate) step_bits: u32,
    pub(crate) directions: Vec<Direction>,
}

impl Ground {
    /// `None` without voxels, or if the camera does not look down on it.
    pub(crate) fn new(bounds: Option<[[u32; 3]; 2]>, camera: &Camera) -> Option<Self> {
        let [min, max] = bounds?;
        if dot(camera.axes[2], camera.world_up) < MIN_PITCH {
            return None;
        }
        let up = camera.up_axis.axis();
        let level = [0, 3 - up];
        let longest = (0..3).map(|a| max[a] + 1 - min[a]).fold(0, u32::max);
        let units = f64::from(1 << FRACTION_BITS);
        let side = f64::from(longest) * (1.0 + 2.0 * MARGIN) * units;
        let step = (side / (GROUND_SAMPLES - 1) as f64).ceil() as u32;
        let step_bits = (u32::BITS - step.leading_zeros()).saturating_sub(16);
        // Rounded up to 16 bits; 2^16 becomes 2^15 with one more bit of shift.
        let rounded = step.div_ceil(1 << step_bits);
        let (step, step_bits) = match rounded {
            0x1_0000 => (0x8000, step_bits + 1),
            _ => (rounded, step_bits),
        };
        let half = (i64::from(step) << step_bits) * (GROUND_SAMPLES as i64 - 1) / 2;
        let middle = |a: usize| (i64::from(min[a]) + i64::from(max[a]) + 1) << (FRACTION_BITS - 1);
        Some(Self {
            up,
            level,
            height: (i64::from(min[up]) << FRACTION_BITS) + RAY_OFFSET,
            corner: level.map(|a| middle(a) - half),
            step,
            step_bits,
            directions: sky_directions(camera.world_up, GROUND_DIRECTIONS, 0),
        })
    }

    /// The occluded share of the sky at a sample.
    fn occlusion(&self, scene: &Scene, index: usize) -> u32 {
        let step = i64::from(self.step) << self.step_bits;
        let mut from = [self.height; 3];
        from[self.level[0]] = self.corner[0] + (index % GROUND_SAMPLES) as i64 * step;
        from[self.level[1]] = self.corner[1] + (index / GROUND_SAMPLES) as i64 * step;
        let occluded = self.directions.iter().filter(|&&to| is_occluded(scene, from, to)).count();
        occluded as u32 * ONE / self.directions.len() as u32
    }

    /// Intersects a ray from above with the sampled square.
    pub(crate) fn hit(&self, ray: &Ray) -> Option<[i64; 3]> {
        let (origin, direction) = ray.in_units();
        let down = -i64::from(direction[self.up]);
        let above = origin[self.up] - self.height;
        if down <= 0 || above <= 0 {
            return None;
        }
        let end = (i64::from(self.step) << self.step_bits) * (GROUND_SAMPLES as i64 - 1);
        let mut point = [self.height; 3];
        for (a, corner) in self.level.into_iter().zip(self.corner) {
            // Up to 2^61 units away if the ray is nearly horizontal.
            point[a] = origin[a] + (above * i64::from(direction[a])).div_euclid(down);
            if !(0..end).contains(&(point[a] - corner)) {
                return None;
            }
        }
        Some(point)
    }

    /// The occluded share of the sky at a point of the sampled square: bilinear between samples,
    /// which are computed at their first use.
    pub(crate) fn occlusion_at(
        &self,
        scene: &Scene,
        occlusion: &[OnceLock<u32>],
        point: [i64; 3],
    ) -> u32 {
        // Below 127 steps of 16 bits.
        let at = [0, 1].map(|i| ((point[self.level[i]] - self.corner[i]) >> self.step_bits) as u32);
        let [i, j] = at.map(|c| (c / self.step) as usize);
        let [u, v] = at.map(|c| ((c % self.step) << 15) / self.step);
        let sample = |i: usize, j: usize| {
            let index = j * GROUND_SAMPLES + i;
            *occlusion[index].get_or_init(|| self.occlusion(scene, index))
        };
        let along = |j: usize| lerp_fixed(sample(i, j), sample(i + 1, j), u);
        // Fades to 0 at the border of the table.
        let last = (GROUND_SAMPLES as u32 - 1) * self.step;
        let to_end = at.map(|c| c.min(last - c) / (last >> 13));
        let fade = to_end[0].min(to_end[1]).min(1 << 10) << 5;
        scale(lerp_fixed(along(j), along(j + 1), v), fade)
    }
}
