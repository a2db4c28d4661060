//! Distances as fractions of big integers, and meshes to measure.

use std::cmp::Ordering;

use num_bigint::BigInt;
use trivox::Mesh;
use trivox::lattice::Triangle;

use super::shapes::mesh_of;
use super::vector::{dot, minus};

/// A squared distance in lattice units.
#[derive(Debug, Clone)]
pub struct Fraction(pub BigInt, pub BigInt);

impl Fraction {
    pub fn cmp(&self, other: &Self) -> Ordering {
        (&self.0 * &other.1).cmp(&(&other.0 * &self.1))
    }
}

/// The squared distance from `p` to `triangle`: of all of the corners, the feet of the
/// perpendiculars that lie on an edge, and the foot in the triangle by its barycentric coordinates,
/// the least.
pub fn squared(p: [i128; 3], triangle: &Triangle) -> Fraction {
    let corners = triangle.map(|corner| corner.map(i128::from));
    let mut all = Vec::new();
    for i in 0..3 {
        let [a, b] = [corners[i], corners[(i + 1) % 3]];
        let (e, q) = (minus(b, a), minus(p, a));
        all.push(Fraction(dot(q, q).into(), 1.into()));
        let (along, squared) = (dot(q, e), dot(e, e));
        if 0 < along && along < squared {
            let [along, squared] = [along, squared].map(BigInt::from);
            // |q|^2 - (q.e)^2 / |e|^2.
            all.push(Fraction(&squared * dot(q, q) - &along * &along, squared));
        }
    }
    let [u, v, q] =
        [minus(corners[1], corners[0]), minus(corners[2], corners[0]), minus(p, corners[0])];
    let [uu, uv, vv, qu, qv] =
        [dot(u, u), dot(u, v), dot(v, v), dot(q, u), dot(q, v)].map(BigInt::from);
    let gram = &uu * &vv - &uv * &uv;
    let [s, t] = [&vv * &qu - &uv * &qv, &uu * &qv - &uv * &qu];
    let zero = BigInt::ZERO;
    if gram > zero && s >= zero && t >= zero && &s + &t <= gram {
        // |q - (s u + t v) / gram|^2 = |q|^2 - (s q.u + t q.v) / gram.
        all.push(Fraction(&gram * dot(q, q) - (&s * &qu + &t * &qv), gram));
    }
    all.into_iter().min_by(Fraction::cmp).expect("three corners")
}

/// A number that is not negative times `2^SCALE_BITS`: exact for an `f32`, and for the middle of
/// two.
pub fn scaled(x: f64) -> BigInt {
    let bits = x.to_bits();
    if bits == 0 {
        return BigInt::ZERO;
    }
    let exponent = (bits >> 52) as i32 - 1075 + SCALE_BITS;
    let mantissa = BigInt::from((bits & ((1 << 52) - 1)) | 1 << 52);
    if exponent >= 0 { mantissa << exponent } else { mantissa >> -exponent }
}

/// All `f32`s are multiples of `2^-149`.
pub const SCALE_BITS: i32 = 150;

/// Whether `float`, in voxels, is the nearest to the root of `squared`, in lattice units.
pub fn is_nearest(float: f32, squared: &Fraction, fraction_bits: u32) -> bool {
    if float == 0.0 {
        return squared.0 == BigInt::ZERO;
    }
    // The square of the middle between two floats against the fraction.
    let middle_against_root = |other: f32| {
        let middle = scaled(f64::midpoint(float.into(), other.into()));
        let left: BigInt = (middle.pow(2) << (2 * fraction_bits)) * &squared.1;
        left.cmp(&(&squared.0 << (2 * SCALE_BITS)))
    };
    let [below, above] = [float.next_down(), float.next_up()].map(middle_against_root);
    let is_even = float.to_bits().is_multiple_of(2);
    (below == Ordering::Less || (below == Ordering::Equal && is_even))
        && (above == Ordering::Greater || (above == Ordering::Equal && is_even))
}

/// Whether `distance` is the root of `squared` but for `error`, a fraction of it.
pub fn is_close(distance: f64, squared: &Fraction, error: f64) -> bool {
    if distance == 0.0 || squared.0 == BigInt::ZERO {
        return distance == 0.0 && squared.0 == BigInt::ZERO;
    }
    let bits = 100 - distance.log2() as i32;
    let side = |factor: f64| {
        let scaled = BigInt::from((distance * factor * 2_f64.powi(bits)) as i128);
        (&scaled * &scaled * &squared.1).cmp(&(&squared.0 << (2 * bits)))
    };
    side(1.0 - error) != Ordering::Greater && side(1.0 + error) != Ordering::Less
}

/// Triangles of one of three sizes, in some meshes with corners at voxel centres.
pub fn random_mesh(triangles: usize, random: &mut fastrand::Rng) -> Mesh {
    let size = [1.0, 0.3, 0.05][random.usize(0..3)];
    let snapped = random.bool();
    let triangle = |_| {
        let at = [0; 3].map(|_| random.f64());
        [(); 3].map(|()| {
            let corner = at.map(|c| c + size * (random.f64() - 0.5));
            // Multiples of half a voxel of a grid of 8: through many voxel centres.
            if snapped { corner.map(|c| (16.0 * c).round() / 16.0) } else { corner }
        })
    };
    mesh_of(&(0..triangles).map(triangle).collect::<Vec<_>>())
}
