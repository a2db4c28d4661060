//! The distance from a lattice point to a triangle, exact and rounded once. Its twin
//! `shaders/exact/distance.wgsl` takes the least over the edges instead of finding the nearest one.
//!
//! The squared distance is a fraction of integers. With coordinates that differ by at most `2^24`
//! (see [`lattice`](crate::lattice)), a cross product of two differences has components below
//! `2^50`, and its squared norm is below `2^102`. The distance to a plane times the norm of its
//! normal is below `2^76`, its square below `2^152`.
//!
//! Rounding is monotone, so the rounded distance to the nearest triangle is the least of the
//! rounded distances: triangles may come in any order, from any number of threads, and bits of
//! floats that are not negative are ordered as the floats are, so that a GPU can take the least
//! by an atomic operation.

use std::cmp::Ordering;

use crate::lattice::Triangle;
use crate::solid::proximity::nearest::squared_distance;

/// A squared distance.
#[derive(Debug, Clone, Copy)]
pub(in crate::solid) struct Fraction {
    numerator: Wide,
    denominator: u128,
}

impl Fraction {
    pub(in crate::solid) fn new(numerator: i128, denominator: i128) -> Self {
        let numerator = Wide { high: 0, low: numerator.cast_unsigned() };
        Self { numerator, denominator: denominator.cast_unsigned() }
    }

    /// `root` squared, over `denominator`; `root` is below `2^96`.
    pub(in crate::solid) fn of_square(root: i128, denominator: i128) -> Self {
        let root = root.unsigned_abs();
        let numerator = Wide { high: 0, low: root }.times(root);
        Self { numerator, denominator: denominator.cast_unsigned() }
    }

    /// The order of two fractions; a numerator times the other's denominator is below `2^256`.
    pub(in crate::solid) fn cmp(&self, other: &Self) -> Ordering {
        self.numerator.times(other.denominator).cmp(&other.numerator.times(self.denominator))
    }
}

/// Whether the root of `squared` / `2^fraction_bits`, rounded to the nearest `f32`, is at least
/// `float`. The root is compared with the midpoint of `float` and the float below; a tie goes to
/// the even one. The root is close to `float`, so both sides of the comparison are about as large,
/// and below `2^153`.
fn rounds_to_at_least(squared: Fraction, fraction_bits: u32, float: f32) -> bool {
    let bits = float.to_bits();
    let mantissa = bits & 0x7f_ffff | 0x80_0000;
    // Below a power of 2 floats are half as far apart.
    let is_power = bits & 0x7f_ffff == 0;
    // midpoint = odd 2^exponent, and odd is below 2^25.
    let odd = u64::from(if is_power { 4 * mantissa - 1 } else { 2 * mantissa - 1 });
    let exponent = (bits >> 23) as i32 - 150 - if is_power { 2 } else { 1 };
    let mut left = squared.numerator;
    let mut right = Wide::product(squared.denominator, odd * odd);
    let shift = 2 * (exponent + fraction_bits as i32);
    if shift < 0 {
        left = left.shifted(shift.unsigned_abs());
    } else {
        right = right.shifted(shift.unsigned_abs());
    }
    if bits & 1 == 0 { left >= right } else { left > right }
}

/// The `f32` nearest to the root of `squared` / `2^fraction_bits`.
fn rounded(squared: Fraction, fraction_bits: u32) -> f32 {
    if squared.numerator == Wide::default() {
        return 0.0;
    }
    let root = (squared.numerator.to_f64() / squared.denominator as f64).sqrt();
    // Wrong by a few units of the 53rd bit: the rounded root is within one float.
    let near = (root / f64::from(1u32 << fraction_bits)) as f32;
    let is_reached = |&float: &f32| rounds_to_at_least(squared, fraction_bits, float);
    [near.next_up(), near].into_iter().find(is_reached).unwrap_or_else(|| near.next_down())
}

/// The `f32` nearest to the distance from lattice point `p` to `triangle`, in voxels of
/// `2^fraction_bits` lattice units; a tie goes to the even one.
pub(crate) fn distance_to(p: [i32; 3], triangle: &Triangle, fraction_bits: u32) -> f32 {
    let [p, a, b, c] = [p, triangle[0], triangle[1], triangle[2]].map(|p| p.map(i64::from));
    rounded(squared_distance(p, &[a, b, c]), fraction_bits)
}

/// An integer of 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    fn product(a: u128, b: u64) -> Self {
        let [high, low] = [a >> 64, a & u128::from(u64::MAX)].map(|half| half * u128::from(b));
        Self { high: 0, low }.plus(Self { high: 0, low: high }.shifted(64))
    }

    /// The product must be below `2^256`.
    fn times(self, factor: u128) -> Self {
        let [high, low] = [factor >> 64, factor & u128::from(u64::MAX)].map(|half| half as u64);
        let of_low = Self::product(self.low, high).shifted(64).plus(Self::product(self.low, low));
        of_low.plus(Self { high: self.high * factor, low: 0 })
    }

    fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { high: self.high + other.high + u128::from(carry), low }
    }

    /// Times `2^by`. The product must be below `2^256`.
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

    #[test]
    fn roots_of_integers_are_rounded_to_nearest() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200_000 {
            let bits = random.u32(1..50);
            let number = random.u64(1..1 << bits);
            let root = rounded(Fraction::new(number.into(), 1), 0);
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
            let square = i128::from(root).pow(2);
            assert_eq!(rounded(Fraction::new(square, 1), 0), expected as f32);
            assert_eq!(
                rounded(Fraction::new(square + 1, 1), 0),
                root as f32 + if root % 4 == 1 { 2.0 } else { 0.0 }
            );
        }
    }
}
