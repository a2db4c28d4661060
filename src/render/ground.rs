//! The ground below the voxels, and how much of the sky it sees: a table of places, between which is
//! interpolated, so that shadows of the sky are soft.

use rayon::prelude::*;

use crate::raymarch::{Ray, Scene};
use crate::render::camera::{Camera, Vec3, add_scaled, dot};
use crate::render::light::{OFF, is_dark, to_sky};

/// Places along a side of the table.
const PLACES: usize = 128;

/// Rays from a place to the sky.
const SKY_RAYS: usize = 96;

/// How far the table reaches past the voxels at each side, in lengths of their longest side.
const REACH: f64 = 1.0;

/// A camera that looks down less steeply, as a sine, sees no ground.
const LEAST_SLOPE: f64 = 0.05;

/// The plane that the lowest voxels stand on.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    up: Vec3,
    height: f64,
    /// The two level axes.
    level: [usize; 2],
    /// The first place, and how far the next one is along both axes.
    corner: [f64; 2],
    step: f64,
    /// What part of the sky each place does not see, by rows along the first axis.
    dark: Vec<f32>,
}

impl Ground {
    /// None where there is nothing on it, or it is not seen from above.
    pub(super) fn new(scene: &Scene, camera: &Camera) -> Option<Self> {
        let [min, max] = scene.bounds()?.map(|voxel| voxel.map(f64::from));
        let up = camera.world_up;
        if dot(camera.back, up) < LEAST_SLOPE {
            return None;
        }
        let level = if up[1] > 0.5 { [0, 2] } else { [0, 1] };
        let longest = (0..3).map(|a| max[a] + 1.0 - min[a]).fold(0.0, f64::max);
        let side = longest * (1.0 + 2.0 * REACH);
        let corner = level.map(|a| (min[a] + max[a] + 1.0 - side) / 2.0);
        // Both axes that can be up point from the grid's corner.
        let height = dot(min, up);
        let step = side / (PLACES - 1) as f64;
        let mut ground = Self { up, height, level, corner, step, dark: Vec::new() };
        let directions = to_sky(up, SKY_RAYS);
        let dark = |place: usize| {
            let from = ground.place(place % PLACES, place / PLACES);
            let dark = directions.iter().filter(|&&to| is_dark(scene, from, to)).count();
            dark as f32 / SKY_RAYS as f32
        };
        ground.dark = (0..PLACES * PLACES).into_par_iter().map(dark).collect();
        Some(ground)
    }

    fn place(&self, i: usize, j: usize) -> Vec3 {
        let mut place = self.up.map(|c| c * (self.height + OFF));
        place[self.level[0]] = self.corner[0] + i as f64 * self.step;
        place[self.level[1]] = self.corner[1] + j as f64 * self.step;
        place
    }

    /// Where a ray meets it, if it comes from above.
    pub(super) fn met_by(&self, ray: &Ray) -> Option<Vec3> {
        let down = -dot(ray.direction(), self.up);
        let above = dot(ray.origin(), self.up) - self.height - OFF;
        (down > 0.0 && above > 0.0).then(|| add_scaled(ray.origin(), above / down, ray.direction()))
    }

    /// What part of the sky is not seen from a point of it.
    pub(super) fn dark_at(&self, point: Vec3) -> f32 {
        let at = [0, 1].map(|i| (point[self.level[i]] - self.corner[i]) / self.step);
        let last = (PLACES - 1) as f64;
        if !at.iter().all(|c| (0.0..last).contains(c)) {
            return 0.0;
        }
        let [i, j] = at.map(|c| c as usize);
        let [u, v] = at.map(|c| c.fract() as f32);
        let of = |i: usize, j: usize| self.dark[j * PLACES + i];
        let along = |j: usize| of(i, j) + (of(i + 1, j) - of(i, j)) * u;
        let (lower, upper) = (along(j), along(j + 1));
        // To nothing at the table's ends.
        let to_end = at.map(|c| c.min(last - c) / last * 8.0);
        (lower + (upper - lower) * v) * to_end[0].min(to_end[1]).min(1.0) as f32
    }
}
