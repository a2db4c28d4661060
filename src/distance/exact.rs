//! The distance from a lattice point to a triangle, exact and rounded once.
//!
//! The squared distance is a fraction of integers. With coordinates that differ by at most `2^24`
//! (see [`place`](mod@crate::place)), a normal has components below `2^50` and a squared norm below
//! `2^100`; the distance to a plane times that norm is below `2^75`, its square below `2^150`. An
//! edge's fraction is below `2^100` over `2^50`, a corner's below `2^50`.
//!
//! Rounding is monotone, so the rounded distance to the nearest triangle is the least of the
//! rounded distances: triangles may come in any order, from any number of threads, and bits of
//! floats that are not negative are ordered as the floats are, which lets a GPU take an atomic
//! minimum.

use std::cmp::Ordering;

use crate::place::Triangle;
use crate::vector::{cross, dot, minus};

/// The `f32` nearest to the distance from lattice point `p` to `triangle`, in voxels of
/// `2^unit_bits` lattice units; of two as near, the even one.
pub(super) fn distance(p: [i32; 3], triangle: &Triangle, unit_bits: u32) -> f32 {
    let from = |corner: [i32; 3]| minus(p.map(i128::from), corner.map(i128::from));
    let p = triangle.map(from);
    // From one corner to the next.
    let edges: [[i128; 3]; 3] = [0, 1, 2].map(|i| minus(p[i], p[(i + 1) % 3]));
    let normal = cross(edges[0], edges[1]);
    let is_inward = |i: usize| dot(cross(normal, edges[i]), p[i]) >= 0;
    if normal != [0; 3] && (0..3).all(is_inward) {
        let height = dot(normal, p[0]).unsigned_abs();
        return rounded(Wide::square(height), dot(normal, normal).cast_unsigned(), unit_bits);
    }
    let to_edge = |i: usize| {
        let (from_start, from_end, edge) = (p[i], p[(i + 1) % 3], edges[i]);
        let (along, squared) = (dot(from_start, edge), dot(edge, edge));
        let (numerator, denominator) = if along <= 0 {
            (dot(from_start, from_start), 1)
        } else if along >= squared {
            (dot(from_end, from_end), 1)
        } else {
            let area = cross(from_start, edge);
            (dot(area, area), squared)
        };
        let numerator = Wide { high: 0, low: numerator.cast_unsigned() };
        rounded(numerator, denominator.cast_unsigned(), unit_bits)
    };
    to_edge(0).min(to_edge(1)).min(to_edge(2))
}

/// The `f32` nearest to `sqrt(numerator / denominator) / 2^unit_bits`.
fn rounded(numerator: Wide, denominator: u128, unit_bits: u32) -> f32 {
    if numerator == Wide::default() {
        return 0.0;
    }
    let unit = f64::from(1u32 << unit_bits);
    // Wrong by a few units of the 53rd bit: of the three nearest floats, the middle one.
    let near = ((numerator.to_f64() / denominator as f64).sqrt() / unit) as f32;
    let is_odd = near.to_bits() & 1 == 1;
    let side = |other: f32| {
        let middle = f64::midpoint(near.into(), other.into());
        compare(numerator, denominator, middle, unit_bits)
    };
    match (side(near.next_down()), side(near.next_up())) {
        (Ordering::Less, _) => near.next_down(),
        (Ordering::Equal, _) if is_odd => near.next_down(),
        (_, Ordering::Greater) => near.next_up(),
        (_, Ordering::Equal) if is_odd => near.next_up(),
        _ => near,
    }
}

/// Compares `sqrt(numerator / denominator) / 2^unit_bits` with `bound`, a positive number of 25
/// bits that is close to it.
fn compare(numerator: Wide, denominator: u128, bound: f64, unit_bits: u32) -> Ordering {
    const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = bound.to_bits();
    let mantissa = (bits & ((1 << MANTISSA) - 1)) | 1 << MANTISSA;
    let zeros = mantissa.trailing_zeros();
    // bound = odd 2^exponent, and odd is below 2^25.
    let odd = mantissa >> zeros;
    let exponent = (bits >> MANTISSA) as i32 - 1023 - MANTISSA as i32 + zeros as i32;
    let right = Wide::product(denominator, odd * odd);
    // Shifted, one side is less than 2^150, and the other about as large.
    let shift = 2 * (exponent + unit_bits as i32);
    match shift {
        0.. => numerator.cmp(&right.shifted(shift.unsigned_abs())),
        _ => numerator.shifted(shift.unsigned_abs()).cmp(&right),
    }
}

/// An integer of 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    /// `factor` squared; it is below `2^96`.
    fn square(factor: u128) -> Self {
        let [high, low] = [factor >> 64, factor & u128::from(u64::MAX)];
        let square = Self { high: high * high, low: low * low };
        square.plus(Self { high: 0, low: 2 * high * low }.shifted(64))
    }

    fn product(a: u128, b: u64) -> Self {
        let [high, low] = [a >> 64, a & u128::from(u64::MAX)].map(|half| half * u128::from(b));
        Self { high: 0, low }.plus(Self { high: 0, low: high }.shifted(64))
    }

    fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { high: self.high + other.high + u128::from(carry), low }
    }

    /// Times `2^by`, which must be less than `2^256`.
    fn shifted(self, by: u32) -> Self {
        match by {
            0 => self,
            1..128 => Self { high: self.high << by | self.low >> (128 - by), low: self.low << by },
            _ => Self { high: self.low << (by - 128), low: 0 },
        }
    }

    fn to_f64(self) -> f64 {
        self.high as f64 * 2.0_f64.powi(128) + self.low as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `distance`, in lattice units times `2^-unit_bits`, is the float nearest to the root
    /// of an integer.
    #[test]
    fn roots_of_integers_are_rounded_to_nearest() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200_000 {
            let bits = random.u32(1..50);
            let number = random.u64(1..1 << bits);
            let root = rounded(Wide { high: 0, low: number.into() }, 1, 0);
            // Floats of at most 25 bits have squares of at most 50, exact in u128 after scaling.
            let squared = |a: f32, b: f32| {
                let middle = (f64::midpoint(a.into(), b.into()) * 2.0_f64.powi(26)) as u128;
                middle * middle
            };
            let scaled = u128::from(number) << 52;
            assert!(squared(root.next_down(), root) <= scaled, "{number}: {root}");
            assert!(scaled <= squared(root, root.next_up()), "{number}: {root}");
        }
    }

    #[test]
    fn ties_go_to_the_even_float() {
        // 2^24 + 1 and 2^24 + 3 lie halfway between floats.
        for (root, expected) in [((1u64 << 24) + 1, 1u32 << 24), ((1 << 24) + 3, (1 << 24) + 4)] {
            let square = Wide::square(root.into());
            assert_eq!(rounded(square, 1, 0), expected as f32);
            let more = square.plus(Wide { high: 0, low: 1 });
            assert_eq!(rounded(more, 1, 0), root as f32 + if root % 4 == 1 { 2.0 } else { 0.0 });
        }
    }

    #[test]
    fn wide_products_are_those_of_their_halves() {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..10_000 {
            let (a, b) = (random.u64(..), random.u64(..));
            let product = Wide { high: 0, low: u128::from(a) * u128::from(b) };
            assert_eq!(Wide::product(a.into(), b), product);
            let [high, low] = [u128::from(a) << 20, u128::from(b)];
            // (2^20 a)^2 = 2^40 a^2.
            assert_eq!(Wide::square(high), Wide::square(a.into()).shifted(40));
            assert_eq!(Wide::square(low), Wide::product(low, b));
        }
    }
}
