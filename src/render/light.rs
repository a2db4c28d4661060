//! The light: a sun, and a sky that is seen in part.

use std::f64::consts::TAU;

use crate::raymarch::{Ray, Scene, UNIT};
use crate::render::camera::{Camera, Vec3, add_scaled, cross, normalized};

/// Where the sun stands: by the picture's right, up and towards the eye, so that what is seen is lit.
const SUN: Vec3 = [-0.46, 0.62, 0.72];

/// The sun's radius, as the tangent of its angle: shadows are soft at a distance.
const SUN_RADIUS: f64 = 0.02;

/// The light of the sun, of the sky and from the ground, linear: a white surface that faces the sun is
/// almost white.
pub(super) const SUN_LIGHT: [f32; 3] = [0.74, 0.71, 0.655];
pub(super) const SKY_LIGHT: [f32; 3] = [0.43, 0.455, 0.495];
pub(super) const GROUND_LIGHT: [f32; 3] = [0.35, 0.34, 0.335];

/// The golden angle: multiples of it are spread evenly about a circle.
const GOLDEN: f64 = TAU * 0.381_966_011_250_105;

/// How far off a surface light is looked for.
pub(super) const OFF: f64 = 4.0 * UNIT;

/// Whether a voxel is in the way of the light.
pub(super) fn is_dark(scene: &Scene, point: Vec3, to: Vec3) -> bool {
    Ray::new(point, to).is_ok_and(|ray| scene.first_hit(&ray).is_some())
}

/// The directions of light.
#[derive(Debug, Clone)]
pub(super) struct Light {
    /// To the middle of the sun, of length 1.
    pub(super) sun: Vec3,
    /// To places on it.
    pub(super) suns: Vec<Vec3>,
}

impl Light {
    /// With so many places on the sun.
    pub(super) fn new(camera: &Camera, places: usize) -> Self {
        let sun = [camera.up, camera.back]
            .into_iter()
            .zip([SUN[1], SUN[2]])
            .fold(camera.right.map(|c| c * SUN[0]), |sum, (axis, s)| add_scaled(sum, s, axis));
        let sun = normalized(sun);
        let [u, v] = across(sun);
        let place = |i: usize| {
            let [x, y] = on_disc(i, places).map(|c| c * SUN_RADIUS);
            add_scaled(add_scaled(sun, x, u), y, v)
        };
        Self { sun, suns: (0..places).map(place).collect() }
    }
}

/// `count` directions to the sky above a plane, more of them where it shines more steeply: each counts
/// the same.
pub(super) fn to_sky(normal: Vec3, count: usize) -> Vec<Vec3> {
    let [u, v] = across(normal);
    let direction = |i: usize| {
        let [x, y] = on_disc(i, count);
        let height = (1.0 - x * x - y * y).sqrt();
        add_scaled(add_scaled(normal.map(|c| c * height), x, u), y, v)
    };
    (0..count).map(direction).collect()
}

/// The place of number `i` of `count` that are spread evenly in the unit disc (H. Vogel, *A Better Way to
/// Construct the Sunflower Head*, 1979).
fn on_disc(i: usize, count: usize) -> [f64; 2] {
    let radius = ((i as f64 + 0.5) / count as f64).sqrt();
    let (sin, cos) = libm::sincos(i as f64 * GOLDEN + 0.6);
    [radius * cos, radius * sin]
}

/// Two directions at right angles to one of length 1, and to one another.
fn across(normal: Vec3) -> [Vec3; 2] {
    let other = if normal[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let u = normalized(cross(other, normal));
    [u, cross(normal, u)]
}
