//! Eight doubles at a time.
//!
//! All functions are inlined into the code that is compiled for the widest vectors.

use std::ops::{Add, Div, Mul, Sub};

use crate::fill::solid_angle::Point;

/// Doubles in the widest vector.
pub(super) const LANES: usize = 8;

/// One value for each of several edges.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lanes(pub(super) [f64; LANES]);

impl Lanes {
    #[inline(always)]
    pub(super) fn splat(value: f64) -> Self {
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
    pub(super) fn sqrt(self) -> Self {
        self.zip(self, |value, _| value.sqrt())
    }

    #[inline(always)]
    pub(super) fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    pub(super) fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    /// `yes` where this is below `other`, else `no`.
    #[inline(always)]
    pub(super) fn select_below(self, other: Self, yes: Self, no: Self) -> Self {
        let mut values = no.0;
        for (lane, value) in values.iter_mut().enumerate() {
            if self.0[lane] < other.0[lane] {
                *value = yes.0[lane];
            }
        }
        Self(values)
    }

    #[inline(always)]
    pub(super) fn floor(self) -> Self {
        self.zip(self, |value, _| value.floor())
    }

    #[inline(always)]
    pub(super) fn abs(self) -> Self {
        self.zip(self, |value, _| value.abs())
    }

    /// The least of all values.
    #[inline(always)]
    pub(super) fn least(&self) -> f64 {
        let mut least = self.0[0];
        for value in self.0 {
            least = if value < least { value } else { least };
        }
        least
    }

    /// The greatest of all values.
    #[inline(always)]
    pub(super) fn greatest(&self) -> f64 {
        let mut greatest = self.0[0];
        for value in self.0 {
            greatest = if value > greatest { value } else { greatest };
        }
        greatest
    }

    #[inline(always)]
    pub(super) fn sum(&self) -> f64 {
        let mut sum = 0.0;
        for value in self.0 {
            sum += value;
        }
        sum
    }
}

impl Add for Lanes {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Div for Lanes {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}

#[inline(always)]
pub(super) fn relative(end: &[Lanes; 3], p: Point) -> [Lanes; 3] {
    [end[0] - Lanes::splat(p[0]), end[1] - Lanes::splat(p[1]), end[2] - Lanes::splat(p[2])]
}

/// The squared distance in the plane perpendicular to `x`.
#[inline(always)]
pub(super) fn across(end: &[Lanes; 3]) -> Lanes {
    end[1] * end[1] + end[2] * end[2]
}

#[inline(always)]
pub(super) fn dot(a: [Lanes; 3], b: [Lanes; 3]) -> Lanes {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross(a: [Lanes; 3], b: [Lanes; 3]) -> [Lanes; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

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
        }
    }
}
