//! The rays through the places of a picture, as integers: each is the sum of a part of its column and a
//! part of its row, so that whoever adds them has the same rays.

use crate::render::camera::{Camera, Projection, Vec3, add_scaled};
use crate::trace::{DIRECTION_BITS, MAX_DISTANCE, Ray, UNIT};

/// What a column or a row of places adds to its rays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// In units of a ray's origin.
    pub(super) origin: [i64; 3],
    pub(super) direction: [i32; 3],
}

/// The rays of a picture.
#[derive(Debug, Clone)]
pub(super) struct Film {
    /// Of each column of places, and of each row.
    pub(super) parts: [Vec<Part>; 2],
}

/// Voxels. Nothing is seen of a grid further from the middle of a parallel view, and origins are in
/// reach of a ray with twice as much.
const FARTHEST: f64 = (MAX_DISTANCE / 4) as f64;

impl Film {
    /// Of a camera, with `samples` places along each side of a pixel.
    pub(super) fn new(camera: &Camera, size: [u32; 2], samples: u32) -> Self {
        let at = |axis: usize| {
            let place = move |i: u32| (f64::from(i) + 0.5) / f64::from(samples);
            (0..size[axis] * samples).map(move |i| camera.on_film(axis, place(i)))
        };
        let across = |x: f64| camera.right.map(|c| c * x);
        let along = |y: f64| camera.up.map(|c| c * y);
        let parts = match camera.projection {
            Projection::Orthographic => {
                let origin = |v: Vec3| v.map(|c| (c / UNIT).round_ties_even() as i64);
                let part = |v: Vec3| Part { origin: origin(v), direction: [0; 3] };
                let near = |c: f64| c.clamp(-FARTHEST, FARTHEST);
                let ahead = whole(camera.back.map(|c| -c * f64::from(1 << DIRECTION_BITS)));
                let row = |y: f64| part(add_scaled(camera.eye, 1.0, along(near(y))));
                [
                    at(0).map(|x| part(across(near(x)))).collect(),
                    at(1).map(|y| Part { direction: ahead, ..row(y) }).collect(),
                ]
            }
            Projection::Perspective => {
                // The sum of two rounded numbers is at most 1 larger than that of the numbers.
                let most = f64::from((1 << DIRECTION_BITS) - 1);
                let scale = most
                    / (at(0).map(across).map(longest).fold(0.0, f64::max)
                        + at(1).map(along).map(longest).fold(0.0, f64::max)
                        + 1.0);
                let origin = camera.eye.map(|c| (c / UNIT).round_ties_even() as i64);
                let part = |v: Vec3| whole(v.map(|c| c * scale));
                let row = |y: f64| part(add_scaled(along(y), -1.0, camera.back));
                [
                    at(0).map(|x| Part { origin: [0; 3], direction: part(across(x)) }).collect(),
                    at(1).map(|y| Part { origin, direction: row(y) }).collect(),
                ]
            }
        };
        Self { parts }
    }

    /// The ray through a place, by its column and its row.
    #[inline]
    pub(super) fn ray(&self, place: [usize; 2]) -> Ray {
        let [column, row] = [0, 1].map(|axis| &self.parts[axis][place[axis]]);
        let origin = std::array::from_fn(|a| column.origin[a] + row.origin[a]);
        let direction = std::array::from_fn(|a| column.direction[a] + row.direction[a]);
        Ray::of(origin, direction)
    }
}

fn longest(v: Vec3) -> f64 {
    v.iter().fold(0.0, |longest: f64, c| longest.max(c.abs()))
}

fn whole(v: Vec3) -> [i32; 3] {
    v.map(|c| c.round_ties_even() as i32)
}
