//! Light from the sun and the sky, rounded once to integers.

use std::f64::consts::TAU;

use crate::base::vector::{Vector, cross, dot, normalized, plus, times};
use crate::view::render::camera::Camera;
use crate::view::trace::{Face, Ray, Scene, quantized_direction};

/// Light and shares of light are fixed-point numbers: multiples of 1 / `ONE`.
pub(crate) const ONE: u32 = 1 << 15;

/// The fixed-point product, rounded half up. One factor is below `2^17`, the other at most [`ONE`].
#[inline]
pub(crate) fn scale(a: u32, b: u32) -> u32 {
    (a * b + ONE / 2) / ONE
}

/// Linear interpolation from `a` at 0 to `b` at [`ONE`].
#[inline]
pub(crate) fn lerp_fixed(a: u32, b: u32, at: u32) -> u32 {
    (a * (ONE - at) + b * at) / ONE
}

/// `value` in fixed point.
pub(crate) const fn fixed(value: f64) -> u32 {
    (value * ONE as f64 + 0.5) as u32
}

/// Default direction to the sun in camera coordinates (right, up, towards the eye), so that visible
/// faces are lit.
const SUN: Vector = [-0.46, 0.62, 0.72];

/// Tangent of the sun's angular radius: sets the width of penumbrae.
const SUN_RADIUS: f64 = 0.02;

/// Linear light of the sun, of the sky and from the ground: a white surface that faces the sun is
/// almost white.
const SUN_LIGHT: [f64; 3] = [0.74, 0.71, 0.655];
const SKY_LIGHT: [f64; 3] = [0.43, 0.455, 0.495];
const GROUND_LIGHT: [f64; 3] = [0.35, 0.34, 0.335];

/// Ambient light where the whole sky is occluded, as a share of the sky's: stands for indirect
/// light.
const BOUNCED: f64 = 0.25;

/// The golden angle, whose multiples are spread evenly on the circle.
const GOLDEN: f64 = TAU * 0.381_966_011_250_105;

/// Rotation between sets of sky directions. Its multiples are spread on the circle, unlike those of
/// the golden angle.
const TURN: f64 = TAU * 0.414_213_562_373_095;

/// Distance of the origins of secondary rays from their surface, in units of a ray's origin.
pub(crate) const RAY_OFFSET: i64 = 4;

/// Direction to the sun: with the given azimuth and elevation in degrees, or the default one.
pub(crate) fn to_sun(camera: &Camera, angles: Option<[f64; 2]>) -> Vector {
    if let Some(angles) = angles {
        return camera.world_direction(angles);
    }
    let [right, up, back] = [0, 1, 2].map(|i| times(camera.axes[i], SUN[i]));
    normalized(plus(plus(right, up), back))
}

/// A direction towards light, as that of a ray.
pub(crate) type Direction = [i32; 3];

/// Whether a ray from `point`, in units of a ray's origin, hits a voxel.
pub(crate) fn is_occluded(scene: &Scene, point: [i64; 3], to: Direction) -> bool {
    scene.first_touch(&Ray::of(point, to)).is_some()
}

/// The light of a picture. Arrays by face are indexed by [`Face::number`].
#[derive(Debug, Clone)]
pub(crate) struct Light {
    /// To the centre of the sun.
    pub(crate) sun: Direction,
    /// To points on the sun's disc.
    pub(crate) sun_directions: Vec<Direction>,
    /// Ambient-occlusion directions of each face: `sky_sets` sets; each voxel uses one of them.
    pub(crate) sky_directions: [Vec<Direction>; FACES],
    /// Directions per set.
    pub(crate) set_len: usize,
    /// Number of sets, a power of two.
    pub(crate) sky_sets: u32,
    /// Sunlight on each unshadowed face; 0 on faces that face away.
    pub(crate) sun_light: [[u32; 3]; FACES],
    /// Light of the unoccluded sky, and from the ground, on each face.
    pub(crate) sky_light: [[u32; 3]; FACES],
    /// Shares of the sky's light with 0, 1, ... occluded directions.
    pub(crate) sky_shares: Vec<u32>,
}

pub(crate) const FACES: usize = 6;

impl Light {
    /// A sun in the direction `sun` with `samples` directions to its disc, and per face `sets` sets
    /// of `set_len` sky directions.
    pub(crate) fn new(
        sun: Vector,
        camera: &Camera,
        samples: usize,
        set_len: usize,
        sets: u32,
    ) -> Self {
        let [u, v] = tangents(sun);
        let sun_direction = |i: usize| {
            let [x, y] = disc_sample(i, samples, 0.0).map(|c| c * SUN_RADIUS);
            quantized_direction(plus(plus(sun, times(u, x)), times(v, y)))
        };
        let normals: [Vector; FACES] = std::array::from_fn(|number| {
            let face = Face { axis: number % 3, is_upper: number >= 3 };
            face.normal().map(f64::from)
        });
        let sky_light = |n: Vector| {
            let above = (dot(n, camera.world_up) + 1.0) / 2.0;
            let light = |i: usize| GROUND_LIGHT[i] + (SKY_LIGHT[i] - GROUND_LIGHT[i]) * above;
            [0, 1, 2].map(|i| fixed(light(i)))
        };
        let sky_share =
            |occluded: usize| BOUNCED + (1.0 - BOUNCED) * (1.0 - occluded as f64 / set_len as f64);
        Self {
            sun: quantized_direction(sun),
            sun_directions: (0..samples).map(sun_direction).collect(),
            sky_directions: normals
                .map(|n| (0..sets).flat_map(|set| sky_directions(n, set_len, set)).collect()),
            set_len,
            sky_sets: sets,
            sun_light: normals.map(|n| SUN_LIGHT.map(|light| fixed(light * dot(n, sun).max(0.0)))),
            sky_light: normals.map(sky_light),
            sky_shares: (0..=set_len).map(|occluded| fixed(sky_share(occluded))).collect(),
        }
    }

    /// The sky directions of a voxel's face.
    #[inline]
    pub(crate) fn sky_directions_from(&self, voxel: [u32; 3], face: Face) -> &[Direction] {
        let set = (voxel_hash(voxel) & (self.sky_sets - 1)) as usize;
        &self.sky_directions[face.number()][set * self.set_len..][..self.set_len]
    }
}

/// A hash of a voxel's position, uncorrelated between neighbours (M. Teschner et al., *Optimized
/// Spatial Hashing for Collision Detection of Deformable Objects*, 2003).
fn voxel_hash([x, y, z]: [u32; 3]) -> u32 {
    let [x, y, z] =
        [x.wrapping_mul(73_856_093), y.wrapping_mul(19_349_663), z.wrapping_mul(83_492_791)];
    let mixed = (x ^ y ^ z).wrapping_mul(0x9E37_79B1);
    mixed >> 24
}

/// `count` cosine-weighted directions in the hemisphere about `normal`. Each set is rotated by a
/// different angle.
pub(crate) fn sky_directions(normal: Vector, count: usize, set: u32) -> Vec<Direction> {
    let [u, v] = tangents(normal);
    let angle = f64::from(set) * TURN;
    let direction = |i: usize| {
        let [x, y] = disc_sample(i, count, angle);
        let height = (1.0 - x * x - y * y).sqrt();
        quantized_direction(plus(plus(times(normal, height), times(u, x)), times(v, y)))
    };
    (0..count).map(direction).collect()
}

/// Point `i` of `count` spread evenly in the unit disc (H. Vogel, *A Better Way to Construct the
/// Sunflower Head*, 1979), rotated by an angle.
fn disc_sample(i: usize, count: usize, angle: f64) -> [f64; 2] {
    let radius = ((i as f64 + 0.5) / count as f64).sqrt();
    let (sin, cos) = libm::sincos(i as f64 * GOLDEN + 0.6 + angle);
    [radius * cos, radius * sin]
}

/// Two unit vectors that form an orthonormal basis with the unit vector `normal`.
fn tangents(normal: Vector) -> [Vector; 2] {
    let other = if normal[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let u = normalized(cross(other, normal));
    [u, cross(normal, u)]
}
