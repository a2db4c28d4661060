//! The camera rays of a picture's samples, in integers: each is the sum of a column term and a row
//! term, so that CPU and GPU trace the same rays.

use std::ops::Range;

use crate::base::vector::{Vector, minus, plus, times};
use crate::view::render::camera::{Camera, Projection};
use crate::view::trace::{DIRECTION_BITS, MAX_DISTANCE, Ray, Time, UNIT, in_units, longest};

/// The term that a column or a row of samples adds to its rays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RayTerm {
    /// In units of `2^-16` voxel.
    pub(crate) origin: [i64; 3],
    pub(crate) direction: [i32; 3],
}

/// The camera rays of a picture.
#[derive(Debug, Clone)]
pub(crate) struct Film {
    /// The terms of each column and of each row of samples.
    pub(crate) terms: [Vec<RayTerm>; 2],
    /// In pixels.
    pub(crate) size: [u32; 2],
    camera: Camera,
    /// Depth that an unrounded direction gains: units per unit of time.
    scale: f64,
}

/// Largest film coordinate of an orthographic ray, in voxels. No grid is visible beyond, and
/// origins stay within [`MAX_DISTANCE`].
const FARTHEST: f64 = (MAX_DISTANCE / 4) as f64;

impl Film {
    /// The rays of a camera, with `samples` along each side of a pixel.
    pub(crate) fn new(camera: &Camera, size: [u32; 2], samples: u32) -> Self {
        let at = |axis: usize| {
            let pixels = move |i: u32| (f64::from(i) + 0.5) / f64::from(samples);
            (0..size[axis] * samples).map(move |i| camera.on_film(axis, pixels(i)))
        };
        let [right, up, back] = camera.axes;
        let across = |x: f64| times(right, x);
        let along = |y: f64| times(up, y);
        let (terms, scale) = match camera.projection {
            Projection::Orthographic => {
                let term = |v: Vector| RayTerm { origin: in_units(v), direction: [0; 3] };
                let near = |c: f64| c.clamp(-FARTHEST, FARTHEST);
                let scale = f64::from(1 << DIRECTION_BITS);
                let ahead = rounded(times(back, -scale));
                let row = |y: f64| term(plus(along(near(y)), camera.eye));
                let terms = [
                    at(0).map(|x| term(across(near(x)))).collect(),
                    at(1).map(|y| RayTerm { direction: ahead, ..row(y) }).collect(),
                ];
                (terms, scale)
            }
            Projection::Perspective => {
                // Rounding two terms increases their sum by at most 1.
                let most = f64::from((1 << DIRECTION_BITS) - 1);
                let scale = most
                    / (at(0).map(across).map(longest).fold(0.0, f64::max)
                        + at(1).map(along).map(longest).fold(0.0, f64::max)
                        + 1.0);
                let origin = in_units(camera.eye);
                let term = |v: Vector| rounded(times(v, scale));
                let row = |y: f64| term(minus(along(y), back));
                let terms = [
                    at(0).map(|x| RayTerm { origin: [0; 3], direction: term(across(x)) }).collect(),
                    at(1).map(|y| RayTerm { origin, direction: row(y) }).collect(),
                ];
                (terms, scale)
            }
        };
        Self { terms, size, camera: *camera, scale }
    }

    /// The ray of a sample: the sum of its column term and its row term.
    #[inline]
    pub(crate) fn ray(&self, sample: [usize; 2]) -> Ray {
        let [column, row] = [0, 1].map(|axis| &self.terms[axis][sample[axis]]);
        let origin = std::array::from_fn(|a| column.origin[a] + row.origin[a]);
        let direction = std::array::from_fn(|a| column.direction[a] + row.direction[a]);
        Ray::of(origin, direction)
    }

    /// A conservative footprint of a ball: the half-open ranges of columns and of rows of the
    /// pixels with a ray that meets it, and a lower bound of its depth, in voxels from the eye
    /// along the viewing direction.
    ///
    /// A ray is the sum of two rounded terms: its origin is off by at most 1 unit per axis, its
    /// direction by at most 1. At depth `d`, after `d / scale` times its direction, it is at most
    /// `sqrt(3) (2^-16 + d / scale)` voxels from the exact ray of its sample, which therefore meets
    /// a ball of a larger radius `r`. In perspective, a point of that ball is at `x / d` on the
    /// film, where `x` and `d` differ by at most `r` from those of the centre, and `x / d` by at
    /// most `r (1 + |x / d|) / (d - r)`. `2^-6` voxel is far more than the rounding errors of this
    /// function.
    pub(crate) fn footprint(&self, center: Vector, radius: f64) -> ([Range<usize>; 2], f64) {
        let [on_film, [depth, _]] = self.camera.project(center);
        let farthest = depth.max(0.0) + radius;
        let radius = radius + 1.0 / 64.0 + 2.0 * farthest / self.scale;
        let half_extent = match self.camera.projection {
            Projection::Orthographic => [radius; 2],
            Projection::Perspective if depth > radius => {
                on_film.map(|c| radius * (1.0 + c.abs()) / (depth - radius))
            }
            // The eye is in the ball, or before it.
            Projection::Perspective => return (self.size.map(|side| 0..side as usize), 0.0),
        };
        let pixels = [0, 1].map(|axis| {
            let at = self.camera.in_pixels(axis, on_film[axis]);
            let half = half_extent[axis] / self.camera.pixel_side;
            let pixel = |position: f64| (position.max(0.0) as usize).min(self.size[axis] as usize);
            pixel(at - half)..pixel(at + half + 1.0)
        });
        (pixels, depth - radius)
    }

    /// A lower bound of the time at which a ray reaches `depth`, in voxels. Rounding moves a ray's
    /// origin by at most `sqrt(3)` units, and changes the depth that it gains per unit of time,
    /// `scale`, by at most `sqrt(3)`.
    pub(crate) fn time_at(&self, depth: f64) -> Time {
        Time::at_most((depth / UNIT - 2.0) / (self.scale + 2.0))
    }
}

fn rounded(v: Vector) -> [i32; 3] {
    v.map(|c| c.round_ties_even() as i32)
}
