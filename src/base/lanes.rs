//! Eight doubles at a time.
//!
//! All functions are inlined into the code that is compiled for the widest vectors. This code is a
//! type with [`WithSimd`](pulp::WithSimd), not a closure: rustc compiles the call of a closure as a
//! function of its own, without these vectors.

use std::ops::{Add, Div, Mul, Sub};

/// Doubles in the widest vector.
pub(crate) const LANES: usize = 8;

/// One value for each of several edges or voxels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

impl Lanes {
    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        // A loop over an array becomes vector instructions; `from_fn` and `map` do not.
        let mut values = [0.0; LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = f(self.0[lane], other.0[lane]);
        }
        Self(values)
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        self.zip(self, |value, _| value.sqrt())
    }

    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    /// `yes` where this is below `other`, else `no`.
    #[inline(always)]
    pub(crate) fn select_below(self, other: Self, yes: Self, no: Self) -> Self {
        let mut values = no.0;
        for (lane, value) in values.iter_mut().enumerate() {
            if self.0[lane] < other.0[lane] {
                *value = yes.0[lane];
            }
        }
        Self(values)
    }

    /// A bit for each lane in which this is below `other`.
    #[inline(always)]
    pub(crate) fn bits_below(self, other: Self) -> u8 {
        let mut bits = 0;
        for lane in 0..LANES {
            bits |= u8::from(self.0[lane] < other.0[lane]) << lane;
        }
        bits
    }

    #[inline(always)]
    pub(crate) fn floor(self) -> Self {
        self.zip(self, |value, _| value.floor())
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        self.zip(self, |value, _| value.abs())
    }

    /// The quotient; 0 where `other` is about 0, so that no product with it is NaN.
    #[inline(always)]
    pub(crate) fn ratio(self, other: Self) -> Self {
        Self::splat(1e-100).select_below(other.abs(), self / other, Self::splat(0.0))
    }

    #[inline(always)]
    pub(crate) fn least(&self) -> f64 {
        self.reduced(|a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    pub(crate) fn greatest(&self) -> f64 {
        self.reduced(|a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn reduced(&self, merge: impl Fn(f64, f64) -> f64) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        merge(merge(merge(a, b), merge(c, d)), merge(merge(e, f), merge(g, h)))
    }

    #[inline(always)]
    pub(crate) fn sum(&self) -> f64 {
        let mut sum = 0.0;
        for value in self.0 {
            sum += value;
        }
        sum
    }
}

/// Each value in all lanes.
#[inline(always)]
pub(crate) fn splats<const N: usize>(values: &[f64; N]) -> [Lanes; N] {
    let mut lanes = [Lanes::default(); N];
    for (lanes, &value) in lanes.iter_mut().zip(values) {
        *lanes = Lanes::splat(value);
    }
    lanes
}

impl From<f64> for Lanes {
    #[inline(always)]
    fn from(value: f64) -> Self {
        Self::splat(value)
    }
}

/// An operation on each pair of lanes.
macro_rules! by_lane {
    ($($operation:ident, $function:ident, $operator:tt;)+) => {$(
        impl $operation for Lanes {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                self.zip(other, |a, b| a $operator b)
            }
        }
    )+};
}

by_lane! { Add, add, +; Sub, sub, -; Mul, mul, *; Div, div, /; }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_and_the_greatest_value_are_found_in_any_lane() {
        for lane in 0..LANES {
            let (mut low, mut high) = (Lanes::splat(2.5), Lanes::splat(-2.5));
            (low.0[lane], high.0[lane]) = (-7.5, 7.5);
            assert_eq!((low.least(), low.greatest()), (-7.5, 2.5));
            assert_eq!((high.least(), high.greatest()), (-2.5, 7.5));
            assert_eq!(low.abs().0[lane], 7.5);
            assert_eq!((low.bits_below(high), high.bits_below(low)), (1 << lane, !(1 << lane)));
        }
    }
}
