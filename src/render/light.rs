//! The light: a sun, and a sky that is seen in part. What rays need of it is rounded once, to integers.

use std::f64::consts::TAU;

use crate::grid::Up;
use crate::render::camera::{Camera, Vec3, add_scaled, cross, dot, normalized};
use crate::trace::{Face, Ray, Scene, steps_towards};

/// A share of light, or light itself, is a multiple of 1 / `ONE`.
pub(super) const ONE: u32 = 1 << 15;

/// A share of a share, or of light: rounded, half up. One is below `2^17`, the other at most [`ONE`].
#[inline]
pub(super) fn of(a: u32, b: u32) -> u32 {
    (a * b + ONE / 2) / ONE
}

/// That share of one.
pub(super) fn share(part: f64) -> u32 {
    (part * f64::from(ONE) + 0.5) as u32
}

/// The direction to the sun where none is given: by the picture's right, up and towards the eye, so that
/// what is seen is lit.
const SUN: Vec3 = [-0.46, 0.62, 0.72];

/// The sun's radius, as the tangent of its angle: shadows are soft at a distance.
const SUN_RADIUS: f64 = 0.02;

/// The light of the sun, of the sky and from the ground, linear: a white surface that faces the sun is
/// almost white.
const SUN_LIGHT: [f64; 3] = [0.74, 0.71, 0.655];
const SKY_LIGHT: [f64; 3] = [0.43, 0.455, 0.495];
const GROUND_LIGHT: [f64; 3] = [0.35, 0.34, 0.335];

/// What light there is where no sky is seen, thrown from surface to surface, as a part of the sky's.
const BOUNCED: f64 = 0.25;

/// The golden angle: multiples of it are spread evenly about a circle.
const GOLDEN: f64 = TAU * 0.381_966_011_250_105;

/// What the next set of ways to the sky is turned by: multiples are spread about a circle, and differ from
/// those of the golden angle.
const TURN: f64 = TAU * 0.414_213_562_373_095;

/// How far off a surface light is looked for, in units of a ray's origin.
pub(super) const OFF: i64 = 4;

/// The direction to the sun: of this azimuth and elevation in degrees, else over the camera's shoulder.
pub(super) fn to_sun(camera: &Camera, angles: Option<[f64; 2]>) -> Vec3 {
    if let Some(angles) = angles {
        return camera.world_direction(angles);
    }
    let sun = [camera.up, camera.back]
        .into_iter()
        .zip([SUN[1], SUN[2]])
        .fold(camera.right.map(|c| c * SUN[0]), |sum, (axis, s)| add_scaled(sum, s, axis));
    normalized(sun)
}

/// A way that light comes, as a ray's direction.
pub(super) type Way = [i32; 3];

/// Whether a voxel is in the way of the light to a point, in units of a ray's origin.
pub(super) fn is_dark(scene: &Scene, point: [i64; 3], to: Way) -> bool {
    scene.first_touch(&Ray::of(point, to)).is_some()
}

/// The light of a picture, by faces: lower and upper by axes.
#[derive(Debug, Clone)]
pub(super) struct Light {
    /// To the middle of the sun.
    pub(super) sun: Way,
    /// To places on it.
    pub(super) suns: Vec<Way>,
    /// To the sky from the faces: sets of so many ways, of which a voxel has one.
    pub(super) skies: [Vec<Way>; FACES],
    /// How many ways a set has.
    pub(super) sky_ways: usize,
    /// How many sets there are, a power of two.
    pub(super) sky_sets: u32,
    /// Of the sun on a face that it shines on; 0 on those that look away from it.
    pub(super) of_sun: [[u32; 3]; FACES],
    /// Of the whole sky, and from the ground, on a face.
    pub(super) of_sky: [[u32; 3]; FACES],
    /// Of the sky's light, where none of the ways to it is dark, one, and so on.
    pub(super) sky_left: Vec<u32>,
}

/// Faces of a voxel.
pub(super) const FACES: usize = 6;

impl Light {
    /// With the direction `sun` to it, so many places on it, and sets of ways to the sky from each face.
    pub(super) fn new(sun: Vec3, camera: &Camera, places: usize, ways: usize, sets: u32) -> Self {
        let [u, v] = across(sun);
        let place = |i: usize| {
            let [x, y] = on_disc(i, places, 0.0).map(|c| c * SUN_RADIUS);
            steps_towards(add_scaled(add_scaled(sun, x, u), y, v))
        };
        let normal = |number: usize| {
            let face = Face { axis: number % 3, is_upper: number >= 3 };
            face.normal().map(f64::from)
        };
        let light = |number: usize, of: &dyn Fn(Vec3, usize) -> f64| {
            [0, 1, 2].map(|i| share(of(normal(number), i)))
        };
        let of_sun = |n: Vec3, i: usize| SUN_LIGHT[i] * dot(n, sun).max(0.0);
        let of_sky = |n: Vec3, i: usize| {
            let above = (dot(n, camera.world_up) + 1.0) / 2.0;
            GROUND_LIGHT[i] + (SKY_LIGHT[i] - GROUND_LIGHT[i]) * above
        };
        let left = |dark: usize| BOUNCED + (1.0 - BOUNCED) * (1.0 - dark as f64 / ways as f64);
        Self {
            sun: steps_towards(sun),
            suns: (0..places).map(place).collect(),
            skies: std::array::from_fn(|number| {
                (0..sets).flat_map(|set| to_sky(normal(number), ways, set)).collect()
            }),
            sky_ways: ways,
            sky_sets: sets,
            of_sun: std::array::from_fn(|number| light(number, &of_sun)),
            of_sky: std::array::from_fn(|number| light(number, &of_sky)),
            sky_left: (0..=ways).map(|dark| share(left(dark))).collect(),
        }
    }
}

impl Light {
    /// To the sky from the face of a voxel.
    #[inline]
    pub(super) fn ways_from(&self, voxel: [u32; 3], face: Face) -> &[Way] {
        let set = (spread(voxel) & (self.sky_sets - 1)) as usize;
        &self.skies[face.number()][set * self.sky_ways..][..self.sky_ways]
    }
}

/// A number of a voxel that those of its neighbours do not resemble (M. Teschner et al., *Optimized Spatial
/// Hashing for Collision Detection of Deformable Objects*, 2003).
fn spread([x, y, z]: [u32; 3]) -> u32 {
    let [x, y, z] =
        [x.wrapping_mul(73_856_093), y.wrapping_mul(19_349_663), z.wrapping_mul(83_492_791)];
    let mixed = (x ^ y ^ z).wrapping_mul(0x9E37_79B1);
    mixed >> 24
}

/// `count` ways to the sky above a plane, more of them where it shines more steeply: each counts the
/// same. Another set is turned by another angle.
pub(super) fn to_sky(normal: Vec3, count: usize, set: u32) -> Vec<Way> {
    let [u, v] = across(normal);
    let angle = f64::from(set) * TURN;
    let way = |i: usize| {
        let [x, y] = on_disc(i, count, angle);
        let height = (1.0 - x * x - y * y).sqrt();
        steps_towards(add_scaled(add_scaled(normal.map(|c| c * height), x, u), y, v))
    };
    (0..count).map(way).collect()
}

/// The place of number `i` of `count` that are spread evenly in the unit disc (H. Vogel, *A Better Way to
/// Construct the Sunflower Head*, 1979), turned by an angle.
fn on_disc(i: usize, count: usize, angle: f64) -> [f64; 2] {
    let radius = ((i as f64 + 0.5) / count as f64).sqrt();
    let (sin, cos) = libm::sincos(i as f64 * GOLDEN + 0.6 + angle);
    [radius * cos, radius * sin]
}

/// Two directions at right angles to one of length 1, and to one another.
fn across(normal: Vec3) -> [Vec3; 2] {
    let other = if normal[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let u = normalized(cross(other, normal));
    [u, cross(normal, u)]
}

/// The axis that is up.
pub(super) fn axis_of(up: Up) -> usize {
    match up {
        Up::Y => 1,
        Up::Z => 2,
    }
}
