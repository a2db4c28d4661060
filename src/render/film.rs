//! The camera rays of a picture's samples, in integers: each is the sum of a column term and a row
//! term, so that CPU and GPU trace the same rays.

use crate::render::camera::{Camera, Projection};
use crate::trace::{DIRECTION_BITS, MAX_DISTANCE, Ray, UNIT};
use crate::vector::{Vector, minus, plus, times};

/// The term that a column or a row of samples adds to its rays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RayTerm {
    /// In units of `2^-16` voxel.
    pub(super) origin: [i64; 3],
    pub(super) direction: [i32; 3],
}

/// The camera rays of a picture.
#[derive(Debug, Clone)]
pub(super) struct Film {
    /// The terms of each column and of each row of samples.
    pub(super) terms: [Vec<RayTerm>; 2],
}

/// Largest film coordinate of an orthographic ray, in voxels. No grid is visible beyond, and
/// origins stay within [`MAX_DISTANCE`].
const FARTHEST: f64 = (MAX_DISTANCE / 4) as f64;

impl Film {
    /// The rays of a camera, with `samples` along each side of a pixel.
    pub(super) fn new(camera: &Camera, size: [u32; 2], samples: u32) -> Self {
        let at = |axis: usize| {
            let pixels = move |i: u32| (f64::from(i) + 0.5) / f64::from(samples);
            (0..size[axis] * samples).map(move |i| camera.on_film(axis, pixels(i)))
        };
        let across = |x: f64| times(camera.right, x);
        let along = |y: f64| times(camera.up, y);
        let terms = match camera.projection {
            Projection::Orthographic => {
                let origin = |v: Vector| v.map(|c| (c / UNIT).round_ties_even() as i64);
                let term = |v: Vector| RayTerm { origin: origin(v), direction: [0; 3] };
                let near = |c: f64| c.clamp(-FARTHEST, FARTHEST);
                let ahead = rounded(times(camera.back, -f64::from(1 << DIRECTION_BITS)));
                let row = |y: f64| term(plus(along(near(y)), camera.eye));
                [
                    at(0).map(|x| term(across(near(x)))).collect(),
                    at(1).map(|y| RayTerm { direction: ahead, ..row(y) }).collect(),
                ]
            }
            Projection::Perspective => {
                // Rounding two terms increases their sum by at most 1.
                let most = f64::from((1 << DIRECTION_BITS) - 1);
                let scale = most
                    / (at(0).map(across).map(longest).fold(0.0, f64::max)
                        + at(1).map(along).map(longest).fold(0.0, f64::max)
                        + 1.0);
                let origin = camera.eye.map(|c| (c / UNIT).round_ties_even() as i64);
                let term = |v: Vector| rounded(times(v, scale));
                let row = |y: f64| term(minus(along(y), camera.back));
                [
                    at(0).map(|x| RayTerm { origin: [0; 3], direction: term(across(x)) }).collect(),
                    at(1).map(|y| RayTerm { origin, direction: row(y) }).collect(),
                ]
            }
        };
        Self { terms }
    }

    /// The ray of a sample: the sum of its column term and its row term.
    #[inline]
    pub(super) fn ray(&self, sample: [usize; 2]) -> Ray {
        let [column, row] = [0, 1].map(|axis| &self.terms[axis][sample[axis]]);
        let origin = std::array::from_fn(|a| column.origin[a] + row.origin[a]);
        let direction = std::array::from_fn(|a| column.direction[a] + row.direction[a]);
        Ray::of(origin, direction)
    }
}

fn longest(v: Vector) -> f64 {
    v.iter().fold(0.0, |longest: f64, c| longest.max(c.abs()))
}

fn rounded(v: Vector) -> [i32; 3] {
    v.map(|c| c.round_ties_even() as i32)
}
