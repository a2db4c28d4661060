//! Multipole expansions of the winding number of closed loops.
//!
//! The winding number of a surface at `p` is the integral of `dA . grad 1 / |p - q|` over its
//! points `q`, in units of `4 pi`. With `v = p - center` and `s = q - center`, the Taylor series of
//! `1 / |v - s|` in `s` gives a dipole, a quadrupole and an octupole: the integrals of `dA`, `dA s`
//! and `dA s s`. As `1 / |v|` is harmonic, only their symmetric, traceless parts contribute. All
//! surfaces with the same boundary have the same winding number modulo 1; here the surface is a
//! cone over each loop.

use std::f64::consts::TAU;

use crate::base::lanes::{LANES, Lanes, splats};
use crate::base::vector::{cross, dot, minus, norm, plus};
use crate::solid::fill::solid_angle::Point;
use crate::solid::fill::taylor::{ENTRIES, Taylor, entry};

/// The entries of a symmetric tensor of degree 3.
const TRIPLES: [[usize; 3]; 10] = [
    [0, 0, 0],
    [1, 1, 1],
    [2, 2, 2],
    [0, 0, 1],
    [0, 0, 2],
    [1, 1, 0],
    [1, 1, 2],
    [2, 2, 0],
    [2, 2, 1],
    [0, 1, 2],
];

/// For each entry `ab` of [`ENTRIES`], the indices of `abx`, `aby` and `abz` in [`TRIPLES`].
const CONTRACTED: [[usize; 3]; 6] =
    [[0, 3, 4], [5, 1, 6], [7, 8, 2], [9, 6, 8], [4, 9, 7], [3, 5, 9]];

/// The factor of the sum of an expansion's terms.
const PER_UNIT: f64 = -1.0 / (2.0 * TAU);

/// The multipole expansion of a surface around a centre, up to the octupole.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Multipoles {
    dipole: Point,
    /// By [`ENTRIES`].
    quadrupole: [f64; 6],
    /// By [`TRIPLES`].
    octupole: [f64; 10],
}

impl Multipoles {
    /// The expansion of the cone over a closed loop, with its first point as the apex, and the
    /// cone's area. The last point of a loop is the first.
    pub(super) fn of(points: &[Point], center: Point) -> (Self, f64) {
        let (mut sum, mut area) = (Self::default(), 0.0);
        for ends in points.windows(2) {
            let corners = [points[0], ends[0], ends[1]].map(|point| minus(point, center));
            let doubled = cross(minus(corners[1], corners[0]), minus(corners[2], corners[0]));
            let normal = doubled.map(|value| 0.5 * value);
            let total = plus(plus(corners[0], corners[1]), corners[2]);
            // The mean of `s s` over a triangle.
            let second_moment = |a: usize, b: usize| {
                let sum: f64 = corners.iter().map(|corner| corner[a] * corner[b]).sum();
                (total[a] * total[b] + sum) / 12.0
            };
            sum.add_moments(normal, total.map(|value| value / 3.0), second_moment);
            area += norm(normal);
        }
        (sum.traceless(), area)
    }

    /// Adds the symmetrized integrals over a flat surface of area vector `n`: `mean` is the mean of
    /// `s` over it, and `second_moment` that of `s s`.
    fn add_moments(&mut self, n: Point, mean: Point, second_moment: impl Fn(usize, usize) -> f64) {
        self.dipole = plus(self.dipole, n);
        for (value, [a, b]) in self.quadrupole.iter_mut().zip(ENTRIES) {
            *value += (n[a] * mean[b] + n[b] * mean[a]) / 2.0;
        }
        for (value, [a, b, c]) in self.octupole.iter_mut().zip(TRIPLES) {
            let sum = n[a] * second_moment(b, c)
                + n[b] * second_moment(c, a)
                + n[c] * second_moment(a, b);
            *value += sum / 3.0;
        }
    }

    /// The expansion around another centre, with `d` from the new centre to the old one
    /// (multipole-to-multipole translation).
    pub(super) fn translated(&self, d: Point) -> Self {
        let mut translated = *self;
        let q = |a: usize, b: usize| self.quadrupole[entry(a, b)];
        for (value, [a, b, c]) in translated.octupole.iter_mut().zip(TRIPLES) {
            *value += (q(a, b) * d[c] + q(b, c) * d[a] + q(c, a) * d[b]) * (2.0 / 3.0);
        }
        translated.dipole = Point::default();
        translated.add_moments(self.dipole, d, |a, b| d[a] * d[b]);
        translated.traceless()
    }

    /// The winding number at `v`, points relative to the centre.
    #[inline(always)]
    pub(super) fn at(&self, v: [Lanes; 3]) -> Lanes {
        let Self { dipole, quadrupole, octupole } = self;
        let terms = series(v, splats(dipole), splats(quadrupole), splats(octupole));
        Lanes::splat(PER_UNIT) * terms.value
    }

    /// The sum of two expansions around the same centre.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            dipole: plus(self.dipole, other.dipole),
            quadrupole: std::array::from_fn(|i| self.quadrupole[i] + other.quadrupole[i]),
            octupole: std::array::from_fn(|i| self.octupole[i] + other.octupole[i]),
        }
    }

    /// The traceless tensors: the traces contribute nothing, as `1 / |v|` is harmonic.
    fn traceless(mut self) -> Self {
        let third = self.quadrupole[..3].iter().sum::<f64>() / 3.0;
        self.quadrupole[..3].iter_mut().for_each(|value| *value -= third);
        let traces =
            [0, 1, 2].map(|c| (0..3).map(|a| self.octupole[CONTRACTED[a][c]]).sum::<f64>() / 5.0);
        for (value, [a, b, c]) in self.octupole.iter_mut().zip(TRIPLES) {
            for (one, other, axis) in [(a, b, c), (b, c, a), (c, a, b)] {
                *value -= if one == other { traces[axis] } else { 0.0 };
            }
        }
        self
    }
}

/// The winding number of expansions at one point, and its Taylor polynomial. Each expansion comes
/// with the point relative to its centre.
#[inline(always)]
pub(super) fn sum_of_multipoles(all: &[(Point, &Multipoles)]) -> Taylor {
    let (zero, one) = (Lanes::default(), Lanes::splat(1.0));
    let set = |lanes: &mut [Lanes], lane: usize, values: &[f64]| {
        lanes.iter_mut().zip(values).for_each(|(lanes, &value)| lanes.0[lane] = value);
    };
    let mut sum = Taylor::default();
    for batch in all.chunks(LANES) {
        // Unused lanes have no multipoles.
        let (mut v, mut n, mut q, mut o) = ([one, zero, zero], [zero; 3], [zero; 6], [zero; 10]);
        for (lane, (at, multipoles)) in batch.iter().enumerate() {
            set(&mut v, lane, at);
            set(&mut n, lane, &multipoles.dipole);
            set(&mut q, lane, &multipoles.quadrupole);
            set(&mut o, lane, &multipoles.octupole);
        }
        sum = sum + series(v, n, q, o);
    }
    sum.map(|lanes: Lanes| PER_UNIT * lanes.sum())
}

/// The terms of an expansion, in units of [`PER_UNIT`]: `(n . v) / r^3 + 3 q(v, v) / r^5 +
/// 7.5 o(v, v, v) / r^7`, with the dipole `n`, the quadrupole `q`, the octupole `o`, and `r = |v|`.
#[inline(always)]
fn series(v: [Lanes; 3], n: [Lanes; 3], q: [Lanes; 6], o: [Lanes; 10]) -> Taylor<Lanes> {
    let (zero, one) = (Lanes::default(), Lanes::splat(1.0));
    let all = Lanes::splat;
    let squared = one / dot(v, v);
    let cubed = squared * squared.sqrt();
    // `u^-1` and `u^-3/2` of `u = |v|^2`, with their derivatives by `u`.
    let by_square = Taylor::radial(
        v,
        [squared, all(-1.0) * squared * squared, all(2.0) * squared * squared * squared],
    );
    let by_cube = Taylor::radial(
        v,
        [cubed, all(-1.5) * cubed * squared, all(3.75) * cubed * squared * squared],
    );
    let dipole = Taylor { value: dot(n, v), gradient: n, hessian: [zero; 6] };
    let quadrupole = Taylor::form(q, v, 2.0, 3.0);
    let mut matrix = [zero; 6];
    for (value, [x, y, z]) in matrix.iter_mut().zip(CONTRACTED) {
        *value = dot(v, [o[x], o[y], o[z]]);
    }
    let octupole = Taylor::form(matrix, v, 3.0, 7.5);
    by_cube * (dipole + by_square * (quadrupole + by_square * octupole))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::base::vector::times;
    use crate::solid::fill::closed;

    /// A closed loop of 3 to 9 points around the origin.
    fn any_loop(rng: &mut Rng) -> Vec<Point> {
        closed((0..rng.usize(3..10)).map(|_| [(); 3].map(|()| 2.0 * rng.f64() - 1.0)))
    }

    fn sum_at(v: Point, all: &[Multipoles]) -> Taylor {
        sum_of_multipoles(&all.iter().map(|each| (v, each)).collect::<Vec<_>>())
    }

    /// A point at a distance of 3 to 5.
    fn any_point(rng: &mut Rng) -> Point {
        let direction = [(); 3].map(|()| rng.f64() - 0.5);
        let length = (3.0 + 2.0 * rng.f64()) / norm(direction);
        direction.map(|c| c * length)
    }

    fn assert_near(found: f64, expected: f64, scale: f64) {
        assert!((found - expected).abs() <= 1e-12 * scale, "{found}, not {expected}");
    }

    #[test]
    fn multipoles_are_the_first_terms_of_the_sum_over_small_dipoles() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..200 {
            let points = any_loop(&mut rng);
            let (multipoles, area) = Multipoles::of(&points, [0.0; 3]);
            let v = any_point(&mut rng);
            // The series of `(q - v) / |q - v|^3` in `q`, up to degree 2, as its value, and its
            // first and second differences.
            let n_at = |n: Point, q: Point| {
                let to = minus(q, v);
                dot(n, to) / dot(to, to).powf(1.5)
            };
            let (mut expected, mut total) = (0.0, 0.0);
            for ends in points.windows(2) {
                let corners = [points[0], ends[0], ends[1]];
                let n = cross(minus(corners[1], corners[0]), minus(corners[2], corners[0]));
                let n = times(n, 0.5);
                total += norm(n);
                // Exact for a polynomial of degree 2.
                for weights in [[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]] {
                    let q = [0, 1, 2].map(|a| {
                        (0..3).map(|corner| weights[corner] * corners[corner][a]).sum::<f64>() / 6.0
                    });
                    let step = 1e-3;
                    let at = |t: f64| n_at(n, q.map(|c| t * c));
                    let first = (at(step) - at(-step)) / (2.0 * step);
                    let second = (at(step) - 2.0 * at(0.0) + at(-step)) / (step * step);
                    expected += (at(0.0) + first + 0.5 * second) / 3.0;
                }
            }
            expected /= 2.0 * TAU;
            assert_near(area, total, 1.0);
            let found = sum_at(v, &[multipoles]).value;
            assert!((found - expected).abs() < 1e-6 * area, "{found}, not {expected}");
        }
    }

    #[test]
    fn changes_are_those_of_the_number() {
        let mut rng = Rng::with_seed(2);
        for count in 1..40 {
            let all: Vec<Multipoles> =
                (0..count).map(|_| Multipoles::of(&any_loop(&mut rng), [0.0; 3]).0).collect();
            let v = any_point(&mut rng);
            let taylor = sum_at(v, &all);
            let sum: f64 = all.iter().map(|each| each.at(splats(&v)).0[0]).sum();
            assert_near(sum, taylor.value, f64::from(count));
            for _ in 0..20 {
                let h = [(); 3].map(|()| 2e-3 * (rng.f64() - 0.5));
                let [moved, back] = [plus(v, h), minus(v, h)].map(|v| sum_at(v, &all).value);
                let off = (moved - taylor.at(h)).abs();
                assert!(off < 1e-8 * f64::from(count), "{off}: {h:?}");
                // Twice the terms of degree 0 and 2: that of degree 1 cancels.
                let even = Taylor { gradient: [0.0; 3], ..taylor }.at(h);
                let off = (moved + back - 2.0 * even).abs();
                assert!(off < 1e-11 * f64::from(count), "{off}: {h:?}");
            }
        }
    }

    #[test]
    fn around_another_centre_they_are_the_same_as_found_there() {
        let mut rng = Rng::with_seed(3);
        for _ in 0..200 {
            let points = any_loop(&mut rng);
            let center = [(); 3].map(|()| 4.0 * (rng.f64() - 0.5));
            let to = [(); 3].map(|()| 4.0 * (rng.f64() - 0.5));
            let [(here, _), (there, _)] = [center, to].map(|at| Multipoles::of(&points, at));
            let moved = here.translated(minus(center, to));
            let sum = moved.plus(&here);
            let values = |of: &Multipoles| [&of.dipole[..], &of.quadrupole, &of.octupole].concat();
            let [moved, there, sum, here] = [&moved, &there, &sum, &here].map(values);
            for (at, &there) in there.iter().enumerate() {
                assert_near(moved[at], there, 100.0);
                assert_near(sum[at], there + here[at], 100.0);
            }
        }
    }
}
