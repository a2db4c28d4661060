//! The solid angle of closed loops of edges, each edge connected to the direction `+x` at infinity.
//!
//! For a surface with boundary loops, and a point `p` with `n` crossings of the surface on its ray
//! towards `-x`, signed, the generalized winding number is `n + b`, where `b` is the sum over the
//! boundary edges `(u, v)` of the solid angle of the spherical triangle `(u, v, +x)` as seen from
//! `p`, in units of `4 pi`: the rays from the boundary towards `+x` close the surface, and the ray
//! towards `-x` crosses none of them (C. Martens, P. Trettner and M. Bessmeltsev, *The Antipodal
//! Method*, 2026).
//!
//! Half the solid angle is the argument of a complex number (A. van Oosterom and J. Strackee, *The
//! Solid Angle of a Plane Triangle*, 1983). With `q = v - p`, `a = |q| + q.x` and `z = q.y + i q.z`
//! of either end it is `a_u a_v + conj(z_u) z_v`. So one product of complex numbers gives the sum,
//! with one arc tangent at its end; how often the product turns past the negative axis is counted.
//!
//! The imaginary part is the edge function that decides whether a column crosses a triangle, and is
//! exact: coordinates differ by at most `2^24` plus half a voxel. Where it is 0 the tie rule of
//! columns gives its sign. So `b` changes by a whole number exactly where `n` does.
//!
//! All operations are `+ - * /` and `sqrt` of IEEE 754 in a fixed order, and an `atan2` in
//! software: the result is the same on every machine.

use std::f64::consts::{PI, TAU};

/// Products are rescaled after this many factors: each is at most `2^52`.
const SCALE_AFTER: u32 = 8;

/// A point, in lattice units.
pub(super) type Point = [f64; 3];

/// A closed loop of edges.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    /// The first point is also the last.
    points: Vec<Point>,
    lo: Point,
    hi: Point,
    length: f64,
}

/// The change of a winding number over a region: the gradient at its centre, and a bound of the
/// second derivatives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slope {
    /// The gradient at the centre, in lattice units.
    pub(super) gradient: Point,
    /// A bound of the norm of the second derivative; infinite if the loop passes through the
    /// region.
    pub(super) bend: f64,
}

impl Loop {
    pub(super) fn new(points: &[[i32; 3]]) -> Self {
        let points: Vec<Point> = points.iter().map(|point| point.map(f64::from)).collect();
        let [mut lo, mut hi] = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for point in &points {
            lo = [0, 1, 2].map(|a| lo[a].min(point[a]));
            hi = [0, 1, 2].map(|a| hi[a].max(point[a]));
        }
        let length = points.windows(2).map(|ends| norm(minus(ends[1], ends[0]))).sum();
        Self { points, lo, hi, length }
    }

    pub(super) fn length(&self) -> f64 {
        self.length
    }

    /// Adds the loop's contribution to `b` at `p`.
    #[inline]
    pub(super) fn turn(&self, p: Point, turns: &mut Turns) {
        let Some((&first, rest)) = self.points.split_first() else {
            return;
        };
        let mut from = End::new(first, p);
        for &point in rest {
            let to = End::new(point, p);
            turns.multiply(from.factor(&to));
            from = to;
        }
    }

    /// Adds the loop's contribution to `slope`, over the ball of `radius` around `center`.
    ///
    /// The gradient is the line integral of `dl x q / |q|^3` (Biot and Savart). The derivative of
    /// `q / |q|^3` has norm `2 / |q|^3`; its integral over an edge of length `l` at a distance of
    /// at least `d` is at most `2 l / d^3`, and at most that over a whole line, `4 / d^2`.
    pub(super) fn add_slope(&self, center: Point, radius: f64, slope: &mut Slope) {
        let mut from = minus(self.points[0], center);
        let mut from_norm = norm(from);
        for &point in &self.points[1..] {
            let to = minus(point, center);
            let to_norm = norm(to);
            let product = from_norm * to_norm;
            let cross = cross(from, to);
            let along = minus(to, from);
            let squared = dot(along, along);
            // The parameter along the edge of the point nearest to the centre.
            let at =
                if squared > 0.0 { (-dot(from, along) / squared).clamp(0.0, 1.0) } else { 0.0 };
            let nearest = [0, 1, 2].map(|a| from[a] + at * along[a]);
            let distance = norm(nearest) - radius;
            if distance <= 0.0 {
                slope.bend = f64::INFINITY;
                return;
            }
            let factor = (from_norm + to_norm) / (product * (product + dot(from, to)) * 2.0 * TAU);
            (0..3).for_each(|a| slope.gradient[a] += factor * cross[a]);
            let line = 4.0 / (distance * distance);
            let bend = line.min(2.0 * squared.sqrt() / (distance * distance * distance));
            slope.bend += bend / (2.0 * TAU);
            (from, from_norm) = (to, to_norm);
        }
    }

    /// A bound like that of [`add_slope`](Self::add_slope) from the loop's box alone.
    ///
    /// A cone over the loop has at most the area of its length times the box's diagonal, by 2; the
    /// second derivatives of the field of a dipole at a distance `d` are at most `6 / d^4`.
    pub(super) fn bend(&self, center: Point, radius: f64) -> f64 {
        let outside = |a: usize| (self.lo[a] - center[a]).max(center[a] - self.hi[a]).max(0.0);
        let distance = norm([0, 1, 2].map(outside)) - radius;
        if distance <= 0.0 {
            return f64::INFINITY;
        }
        let cubed = distance * distance * distance;
        let as_dipole = 3.0 * self.length * norm(minus(self.hi, self.lo)) / (cubed * distance);
        as_dipole.min(2.0 * self.length / cubed) / (2.0 * TAU)
    }

    /// Whether rays from the loop towards `+x` may pass through the box from `lo` to `hi`.
    pub(super) fn may_shade(&self, lo: Point, hi: Point) -> bool {
        let passes = |min: Point, max: Point| {
            min[0] <= hi[0] && (1..3).all(|a| min[a] <= hi[a] && max[a] >= lo[a])
        };
        if !passes(self.lo, self.hi) {
            return false;
        }
        self.points.windows(2).any(|ends| {
            let min = [0, 1, 2].map(|a| ends[0][a].min(ends[1][a]));
            let max = [0, 1, 2].map(|a| ends[0][a].max(ends[1][a]));
            passes(min, max)
        })
    }
}

/// A product of complex numbers, with its winding around 0.
pub(super) struct Turns {
    re: f64,
    im: f64,
    whole: i64,
    factors: u32,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self { re: 1.0, im: 0.0, whole: 0, factors: 0 }
    }

    /// Adds the argument of `re + i im`, from `-pi` to `pi`; the sign of a zero counts.
    #[inline]
    fn multiply(&mut self, [re, im]: [f64; 2]) {
        let before = self.im.is_sign_negative();
        let product = self.re * im + self.im * re;
        self.re = self.re * re - self.im * im;
        self.im = product;
        // The sum of two angles of equal sign with the other sign passed the negative axis.
        if before == im.is_sign_negative() && product.is_sign_negative() != before {
            self.whole += if before { -1 } else { 1 };
        }
        self.factors += 1;
        if self.factors == SCALE_AFTER {
            self.factors = 0;
            let scale = 1.0 / (self.re.abs() + self.im.abs());
            (self.re, self.im) = (self.re * scale, self.im * scale);
        }
    }

    /// The sum in turns: twice the arguments as a fraction of `4 pi`.
    pub(super) fn number(&self) -> f64 {
        self.whole as f64 + libm::atan2(self.im, self.re) / (2.0 * PI)
    }
}

/// An end of an edge, as seen from a point.
#[derive(Clone, Copy)]
struct End {
    /// The distance, plus `x`.
    a: f64,
    /// The position in the plane perpendicular to `x`; `(-1, 0)` for an end straight towards `-x`,
    /// as the tie rule implies.
    z: [f64; 2],
    /// `y` and `z`, for ties.
    across: [f64; 2],
}

impl End {
    #[inline]
    fn new(end: Point, p: Point) -> Self {
        let [x, y, z] = minus(end, p);
        let squared = y * y + z * z;
        let distance = (x * x + squared).sqrt();
        if squared == 0.0 && x <= 0.0 {
            return Self { a: 0.0, z: [-1.0, 0.0], across: [y, z] };
        }
        // Without cancellation.
        let a = if x >= 0.0 { distance + x } else { squared / (distance - x) };
        Self { a, z: [y, z], across: [y, z] }
    }

    /// The complex number of the edge from this end to `to`.
    #[inline]
    fn factor(&self, to: &Self) -> [f64; 2] {
        let re = self.a * to.a + (self.z[0] * to.z[0] + self.z[1] * to.z[1]);
        let im = self.z[0] * to.z[1] - self.z[1] * to.z[0];
        if im != 0.0 {
            return [re, im];
        }
        self.tie(to, re)
    }

    /// The same if the projection of the edge's line contains the point, which the tie rule moves
    /// by an infinitesimal step up `y`, and a far smaller one down `z`.
    #[cold]
    fn tie(&self, to: &Self, re: f64) -> [f64; 2] {
        let by_y = self.across[1] - to.across[1];
        let by_z = self.across[0] - to.across[0];
        let sign = if by_y != 0.0 { by_y } else { by_z };
        match (re == 0.0, sign == 0.0) {
            // The point is on an edge along `x`, or beyond its end.
            (_, true) => [1.0, 0.0],
            // The point is on the edge: the mean of both sides.
            (true, false) => [0.0, 1f64.copysign(sign)],
            (false, false) => [re, 0f64.copysign(sign)],
        }
    }
}

pub(super) fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn norm(a: Point) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
