//! Taylor polynomials of degree 2 of functions of a point, in doubles or in lanes.

use std::ops::{Add, Mul};

use crate::base::vector::{dot, plus, times};

/// The entries of a symmetric matrix, in the order `xx`, `yy`, `zz`, `yz`, `zx`, `xy`.
pub(super) const ENTRIES: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [1, 2], [2, 0], [0, 1]];

/// The index of `ab` in [`ENTRIES`].
pub(super) fn entry(a: usize, b: usize) -> usize {
    if a == b { a } else { 6 - a - b }
}

/// A real number, or one for each lane.
pub(super) trait Real:
    Copy + Default + Add<Output = Self> + Mul<Output = Self> + From<f64>
{
}

impl<T: Copy + Default + Add<Output = T> + Mul<Output = T> + From<f64>> Real for T {}

/// The value of a function at a point, its gradient and its Hessian.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Taylor<T = f64> {
    pub(super) value: T,
    pub(super) gradient: [T; 3],
    /// By [`ENTRIES`].
    pub(super) hessian: [T; 6],
}

impl<T: Real> Taylor<T> {
    /// A function of `u = |v|^2`, from its value and its first and second derivative by `u`.
    #[inline(always)]
    pub(super) fn radial(v: [T; 3], [value, first, second]: [T; 3]) -> Self {
        let (first, second) = (T::from(2.0) * first, T::from(4.0) * second);
        let mut hessian = [T::default(); 6];
        for (value, [a, b]) in hessian.iter_mut().zip(ENTRIES) {
            *value = second * v[a] * v[b];
        }
        hessian[..3].iter_mut().for_each(|value| *value = *value + first);
        Self { value, gradient: times(v, first), hessian }
    }

    /// `factor * matrix(v, v)`, a homogeneous polynomial of `degree` 2 or 3. For degree 3, `matrix`
    /// is the tensor contracted with `v` once.
    #[inline(always)]
    pub(super) fn form(matrix: [T; 6], v: [T; 3], degree: f64, factor: f64) -> Self {
        let once = product(matrix, v);
        let first = factor * degree;
        let second = T::from(first * (degree - 1.0));
        let mut hessian = matrix;
        for value in &mut hessian {
            *value = second * *value;
        }
        Self {
            value: T::from(factor) * dot(once, v),
            gradient: times(once, T::from(first)),
            hessian,
        }
    }

    /// The value at a displacement of `h`.
    #[inline(always)]
    pub(super) fn at(&self, h: [T; 3]) -> T {
        // The change is `h` times the gradient halfway.
        self.value + dot(self.gradient_at(times(h, T::from(0.5))), h)
    }

    /// The gradient at a displacement of `h`.
    #[inline(always)]
    pub(super) fn gradient_at(&self, h: [T; 3]) -> [T; 3] {
        plus(self.gradient, product(self.hessian, h))
    }

    #[inline(always)]
    pub(super) fn map<U>(self, f: impl Fn(T) -> U) -> Taylor<U> {
        let Self { value, gradient, hessian } = self;
        Taylor { value: f(value), gradient: gradient.map(&f), hessian: hessian.map(&f) }
    }
}

impl Taylor {
    /// A bound of the change in the cube around the centre with edges of twice `half`.
    pub(super) fn max_change(&self, half: f64) -> f64 {
        let sum = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>();
        let mixed = sum(&self.hessian[..3]) + 2.0 * sum(&self.hessian[3..]);
        half * (sum(&self.gradient) + 0.5 * half * mixed)
    }
}

impl<T: Real> Add for Taylor<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut hessian = self.hessian;
        for (value, other) in hessian.iter_mut().zip(other.hessian) {
            *value = *value + other;
        }
        let gradient = plus(self.gradient, other.gradient);
        Self { value: self.value + other.value, gradient, hessian }
    }
}

/// The product rule.
impl<T: Real> Mul for Taylor<T> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (f, g) = (self.gradient, other.gradient);
        let mut hessian = self.hessian;
        for (i, [a, b]) in ENTRIES.into_iter().enumerate() {
            hessian[i] = self.value * other.hessian[i]
                + other.value * self.hessian[i]
                + (f[a] * g[b] + f[b] * g[a]);
        }
        let gradient = plus(times(g, self.value), times(f, other.value));
        Self { value: self.value * other.value, gradient, hessian }
    }
}

/// A symmetric matrix times a vector.
#[inline(always)]
fn product<T: Real>([xx, yy, zz, yz, zx, xy]: [T; 6], v: [T; 3]) -> [T; 3] {
    [dot([xx, xy, zx], v), dot([xy, yy, yz], v), dot([zx, yz, zz], v)]
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn a_polynomial_is_that_of_a_point_nearby_and_changes_within_its_bound() {
        let mut rng = Rng::with_seed(9);
        for _ in 0..1000 {
            let mut number = || rng.f64() - 0.5;
            let mut any = || Taylor {
                value: number(),
                gradient: [(); 3].map(|()| number()),
                hessian: [(); 6].map(|()| number()),
            };
            let (taylor, moved, mut h) = (any(), any(), any().gradient);
            let Taylor { value, gradient, hessian } = taylor;
            let sum: f64 = (0..9).map(|i| h[i / 3] * hessian[entry(i / 3, i % 3)] * h[i % 3]).sum();
            let expected = value + dot(gradient, h) + 0.5 * sum;
            assert!((taylor.at(h) - expected).abs() < 1e-12, "{taylor:?} at {h:?}");
            let gradient = taylor.gradient_at(moved.gradient);
            let there = Taylor { value: taylor.at(moved.gradient), gradient, hessian };
            let both = plus(h, moved.gradient);
            assert!((there.at(h) - taylor.at(both)).abs() < 1e-12, "{taylor:?} at {both:?}");
            // If no term is negative, the change is largest at the cube's corner.
            let positive = Taylor { value: 0.0, ..taylor.map(f64::abs) };
            h = [0.7; 3];
            assert!((taylor.max_change(0.7) - positive.at(h)).abs() < 1e-12, "{taylor:?}");
        }
    }
}
