//! The solid angle of closed loops of edges, each edge connected to the direction `+x` at infinity.
//!
//! For a surface with boundary loops, and a point `p` with `n` crossings of the surface on its ray
//! towards `-x`, signed, the generalized winding number is `n + b`, where `b` is the sum over the
//! boundary edges `(u, v)` of the solid angle of the spherical triangle `(u, v, +x)` at `p`, in
//! units of `4 pi`: the *closing rays* from the boundary towards `+x` close the surface, and the
//! ray towards `-x` crosses none of them (A. Jacobson and others, *Robust Inside-Outside
//! Segmentation using Generalized Winding Numbers*, 2013; C. Martens, P. Trettner and
//! M. Bessmeltsev, *The Antipodal Method*, 2026).
//!
//! Half the solid angle is the argument of a complex number (A. van Oosterom and J. Strackee, *The
//! Solid Angle of a Plane Triangle*, 1983). With `q = v - p`, `a = |q| + q.x` and `z = q.y + i q.z`
//! of either end it is `a_u a_v + conj(z_u) z_v`. One product of complex numbers has the sum of all
//! arguments, modulo `2 pi`: one arc tangent at the end, and the signed number of crossings of the
//! branch cut, the negative real axis.
//!
//! The imaginary part is the edge function that decides whether a column crosses a triangle, and is
//! exact: coordinates differ by at most `2^24` plus half a voxel. Where it is 0 the tie rule of
//! columns gives its sign. So `b` has its integer jumps exactly where `n` has them.
//!
//! All operations are `+ - * /` and `sqrt` of IEEE 754 in a fixed order, and an `atan2` in
//! software: the result is the same on every machine.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::base::lanes::{LANES, Lanes, splats};
use crate::base::vector::{cross, dot, minus, norm, plus, times};
use crate::solid::fill::taylor::{ENTRIES, Taylor};

/// Factors between normalizations of a product: each is at most `2^52`, and eight are at most
/// `2^416`.
const SCALE_AFTER: u32 = 8;

/// A point, in lattice units.
pub(super) type Point = [f64; 3];

/// An axis-aligned bounding box.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PointBox {
    pub(super) lo: Point,
    pub(super) hi: Point,
}

impl PointBox {
    /// The bounding box of `points`.
    pub(super) fn of(points: impl IntoIterator<Item = Point>) -> Self {
        let union = |a: Self, b: Self| Self {
            lo: [0, 1, 2].map(|axis| a.lo[axis].min(b.lo[axis])),
            hi: [0, 1, 2].map(|axis| a.hi[axis].max(b.hi[axis])),
        };
        points.into_iter().map(|p| Self { lo: p, hi: p }).reduce(union).unwrap_or_default()
    }

    pub(super) fn center(&self) -> Point {
        [0, 1, 2].map(|a| 0.5 * (self.lo[a] + self.hi[a]))
    }

    /// The length of the diagonal.
    pub(super) fn diagonal(&self) -> f64 {
        norm(minus(self.hi, self.lo))
    }

    /// Whether closing rays from points of this box may hit `target`.
    #[inline]
    pub(super) fn rays_may_hit(&self, target: &Self) -> bool {
        self.lo[0] <= target.hi[0]
            && (1..3).all(|a| self.lo[a] <= target.hi[a] && self.hi[a] >= target.lo[a])
    }
}

/// [`LANES`] edges of closed loops; unused lanes have length 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edges {
    from: [Lanes; 3],
    to: [Lanes; 3],
    length: Lanes,
    /// `1 / length^2`; 0 for length 0.
    per_squared_length: Lanes,
}

/// An edge of a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge([Point; 2]);

impl Edge {
    pub(super) fn bounds(&self) -> PointBox {
        PointBox::of(self.0)
    }

    /// The jump of `b` from `p` to `q` across this edge's closing rays: 1, 0 or -1.
    ///
    /// `b` jumps where the segment from `p` to `q` crosses the edge in the projection along `x`, at
    /// larger `x` than the edge. The projections cross if the ends of either segment are on
    /// different sides of the other: four signs, exact, with the tie rule of columns.
    ///
    /// Precondition: no point of the edge is in the box spanned by `p` and `q`. At the crossing the
    /// edge is then before or past the box, and rounding of `x` does not move it across `p`.
    pub(super) fn jump(&self, p: Point, q: Point) -> f64 {
        let [from, to] = self.0;
        let along = minus(from, to);
        let [before, after] = [p, q].map(|at| side(cross_x(minus(from, at), minus(to, at)), along));
        let path = minus(q, p);
        let [u, v] = self.0.map(|end| cross_x(path, minus(end, p)));
        if before == after || side(u, path) == side(v, path) {
            return 0.0;
        }
        let [u, v] = [u.abs(), v.abs()];
        let x = (from[0] * v + to[0] * u) / (u + v);
        if x < p[0] { after } else { 0.0 }
    }
}

/// The side of a point from a line in the direction `along`: the sign of `product`, their cross
/// product. If it is 0, the tie rule of columns decides (simulation of simplicity, Edelsbrunner and
/// Mücke 1990): the point is displaced by an infinitesimal towards `+y` and a far smaller one
/// towards `-z`.
fn side(product: f64, along: Point) -> f64 {
    let first_nonzero = [product, along[2], along[1]].into_iter().find(|&value| value != 0.0);
    first_nonzero.map_or(0.0, f64::signum)
}

/// A sum of Taylor polynomials of edges.
#[derive(Default)]
pub(super) struct TaylorSum {
    /// The value.
    product: ComplexProduct,
    derivatives: Taylor<Lanes>,
    error: Lanes,
}

impl TaylorSum {
    /// `b` in a ball, and the error bound: infinite if an edge meets the ball. The remainder has
    /// degree 3 and higher, so at `x` times the radius the error is at most `x^3` times the bound.
    #[inline(always)]
    pub(super) fn total(self) -> (Taylor, f64) {
        let total = |lanes: Lanes| lanes.sum() * (1.0 / (2.0 * TAU));
        let taylor = Taylor { value: self.product.winding_number(), ..self.derivatives.map(total) };
        (taylor, total(self.error))
    }
}

impl Edges {
    /// Up to [`LANES`] edges.
    pub(super) fn new(ends: &[&[Point]]) -> Self {
        // Both ends of an unused lane are the end of the last edge.
        let coordinate = |lane: usize, end: usize, axis: usize| match ends.get(lane) {
            Some(edge) => edge[end][axis],
            None => ends[ends.len() - 1][1][axis],
        };
        let point = |end: usize| {
            [0, 1, 2].map(|axis| Lanes(std::array::from_fn(|lane| coordinate(lane, end, axis))))
        };
        let [from, to] = [point(0), point(1)];
        let along = minus(to, from);
        let squared = dot(along, along);
        let [zero, one] = [0.0, 1.0].map(Lanes::splat);
        let per_squared_length = squared.select_below(one, zero, one / squared.max(one));
        Self { from, to, length: squared.sqrt(), per_squared_length }
    }

    /// The sum of the lengths.
    pub(super) fn length(&self) -> f64 {
        self.length.sum()
    }

    /// The edges of the used lanes.
    pub(super) fn ends(&self) -> impl Iterator<Item = Edge> {
        let end = |end: &[Lanes; 3], lane: usize| [0, 1, 2].map(|a| end[a].0[lane]);
        let lanes = (0..LANES).filter(|&lane| self.length.0[lane] > 0.0);
        lanes.map(move |lane| Edge([end(&self.from, lane), end(&self.to, lane)]))
    }

    /// Multiplies the factors of `b` at `p` into `product`.
    #[inline(always)]
    pub(super) fn multiply_into(&self, p: Point, product: &mut ComplexProduct) {
        product.multiply(self.relative_to(p).factors(self, p));
    }

    /// Adds the Taylor polynomials in the ball of `radius` around `center`.
    #[inline(always)]
    pub(super) fn expand(&self, center: Point, radius: f64, sums: &mut TaylorSum) {
        let relative = self.relative_to(center);
        sums.product.multiply(relative.factors(self, center));
        sums.derivatives = sums.derivatives + relative.derivatives();
        sums.error = sums.error + relative.taylor_error(self, radius);
    }

    #[inline(always)]
    fn relative_to(&self, p: Point) -> EdgesFromPoint {
        let p = splats(&p);
        let ends = [minus(self.from, p), minus(self.to, p)];
        let radial_squared = [radial_squared(&ends[0]), radial_squared(&ends[1])];
        let distances = [
            (ends[0][0] * ends[0][0] + radial_squared[0]).sqrt(),
            (ends[1][0] * ends[1][0] + radial_squared[1]).sqrt(),
        ];
        EdgesFromPoint { ends, radial_squared, distances }
    }

    /// The factors `[re, im]` at `p`, with the tie rule applied to imaginary parts of 0.
    #[cold]
    fn with_ties(&self, p: Point, [mut re, mut im]: [Lanes; 2]) -> [Lanes; 2] {
        for lane in 0..LANES {
            if im.0[lane] == 0.0 && self.length.0[lane] > 0.0 {
                let ends =
                    [&self.from, &self.to].map(|end| [0, 1, 2].map(|a| end[a].0[lane] - p[a]));
                [re.0[lane], im.0[lane]] = tied_factor(ends, re.0[lane]);
            }
        }
        [re, im]
    }
}

/// The squared distance from the `x` axis.
#[inline(always)]
fn radial_squared(end: &[Lanes; 3]) -> Lanes {
    end[1] * end[1] + end[2] * end[2]
}

/// Edges relative to a point.
struct EdgesFromPoint {
    ends: [[Lanes; 3]; 2],
    /// Squared distances from the `x` axis.
    radial_squared: [Lanes; 2],
    distances: [Lanes; 2],
}

impl EdgesFromPoint {
    /// The complex factors of the edges at `p`; 1 for length 0.
    #[inline(always)]
    fn factors(&self, edges: &Edges, p: Point) -> [Lanes; 2] {
        let [from, to] = &self.ends;
        let re =
            self.distance_plus_x(0) * self.distance_plus_x(1) + (from[1] * to[1] + from[2] * to[2]);
        let im = from[1] * to[2] - from[2] * to[1];
        // An edge is 0 or at least 1 long.
        let one = Lanes::splat(1.0);
        let re = edges.length.select_below(one, one, re);
        if edges.length.select_below(one, one, im).0.contains(&0.0) {
            return edges.with_ties(p, [re, im]);
        }
        [re, im]
    }

    /// The distance of an end plus its `x`, without cancellation.
    #[inline(always)]
    fn distance_plus_x(&self, end: usize) -> Lanes {
        let (x, distance) = (self.ends[end][0], self.distances[end]);
        let if_negative = self.radial_squared[end] / (distance - x);
        x.select_below(Lanes::default(), if_negative, distance + x)
    }

    /// The gradient and the Hessian of the edges, in units of `1 / (4 pi)`.
    ///
    /// The gradient is the line integral of `dl x q / |q|^3` (Biot and Savart). For an edge from
    /// `f` to `t`, relative to the centre, it is `c s`, with `c = f x t` and
    /// `s = (|f| + |t|) / (|f| |t| P)`, `P = |f| |t| + f . t`. At the centre plus `h`, `c` is
    /// larger by `(t - f) x h`, perpendicular to `h`, and `ln s` by `w . h`. So the term of degree
    /// 2 is `(c . h) (w . h) s / 2`.
    #[inline(always)]
    fn derivatives(&self) -> Taylor<Lanes> {
        let (zero, one) = (Lanes::default(), Lanes::splat(1.0));
        let ([f, t], [m, n]) = (self.ends, self.distances);
        let c = cross(f, minus(t, f));
        let ft = dot(f, t);
        // `1 / P`. Where `f . t` is below 0, `P = |c|^2 / (|f| |t| - f . t)` has no cancellation.
        let (sum, product) = (m + n, m * n);
        let if_obtuse = |obtuse, acute| ft.select_below(zero, obtuse, acute);
        let by_p = if_obtuse(product - ft, one) / if_obtuse(dot(c, c), product + ft);
        let by_all = one / (sum * product);
        let [by_m, by_n, by_sum] = [n * sum * by_all, m * sum * by_all, product * by_all];
        let s = sum * sum * by_all * by_p;
        // `w = u f + v t`
        let u = by_p - by_m * (by_sum - by_m - n * by_p);
        let v = by_p - by_n * (by_sum - by_n - m * by_p);
        let half_sw = times(plus(times(f, u), times(t, v)), Lanes::splat(0.5) * s);
        let mut hessian = [zero; 6];
        for (value, [a, b]) in hessian.iter_mut().zip(ENTRIES) {
            *value = c[a] * half_sw[b] + c[b] * half_sw[a];
        }
        Taylor { value: zero, gradient: times(c, s), hessian }
    }

    /// A bound of the terms of degree 3 and higher in a ball, in units of `1 / (4 pi)`.
    ///
    /// The term of degree `k` of `1 / |q|` is at most `x^k / |q|`, with `x = radius / |q|`; of its
    /// gradient, the integrand, at most `(k + 1) x^k / |q|^2`. The term of degree `k` of `b` is `h`
    /// times the term of degree `k - 1` of its gradient, divided by `k`: at most the integral of
    /// `x^k / |q|`. With `x` at the nearest point, at a distance `d`, all terms from degree 3 on
    /// add up to at most `x^3 / (1 - x)` times the integral of `d^3 / |q|^4`, which is at most
    /// `l / d` for an edge of length `l`, and `pi / 2` for a line.
    #[inline(always)]
    fn taylor_error(&self, edges: &Edges, radius: f64) -> Lanes {
        let (zero, one, radius) = (Lanes::default(), Lanes::splat(1.0), Lanes::splat(radius));
        let [from, to] = self.ends;
        let edge = minus(to, from);
        // The parameter of the point of the edge nearest to the centre.
        let at = (zero - dot(from, edge) * edges.per_squared_length).max(zero).min(one);
        let nearest = plus(from, times(edge, at));
        let squared = dot(nearest, nearest);
        let d = squared.sqrt();
        let line = edges.length.min(Lanes::splat(FRAC_PI_2) * d);
        let error = radius * radius * radius * line / (squared * d * (d - radius));
        radius.select_below(d, error, Lanes::splat(f64::INFINITY))
    }
}

/// The factor of a tied edge, with the tie rule of [`side`]. `ends` are relative to the point,
/// which is on the edge's line in the projection: before the rule the factor is the real number
/// `re`.
fn tied_factor(ends: [Point; 2], re: f64) -> [f64; 2] {
    let is_behind = |[x, y, z]: Point| y == 0.0 && z == 0.0 && x <= 0.0;
    // An end in the direction `-x` is displaced towards `-y`; `|q| + q.x` is 0.
    let [u, v] = ends.map(|end| if is_behind(end) { [-1.0, 0.0] } else { [end[1], end[2]] });
    let displaced = [u[0] * v[0] + u[1] * v[1], u[0] * v[1] - u[1] * v[0]];
    let [re, im] = if ends.into_iter().any(is_behind) { displaced } else { [re, 0.0] };
    if im != 0.0 {
        return [re, im];
    }
    let sign = side(0.0, minus(ends[0], ends[1]));
    let is_on_edge = cross(ends[0], ends[1]) == [0.0; 3] && dot(ends[0], ends[1]) <= 0.0;
    if sign == 0.0 {
        // An edge along `x` has no angle.
        [1.0, 0.0]
    } else if is_on_edge {
        // The mean of both sides.
        [0.0, sign]
    } else {
        [re, 0f64.copysign(sign)]
    }
}

/// A product of complex numbers with the sum of their arguments, in each lane.
pub(super) struct ComplexProduct {
    re: Lanes,
    im: Lanes,
    /// The signed crossings of the branch cut: multiples of `2 pi` in the sum.
    cut_crossings: Lanes,
    factors: u32,
}

impl Default for ComplexProduct {
    fn default() -> Self {
        let zero = Lanes::default();
        Self { re: Lanes::splat(1.0), im: zero, cut_crossings: zero, factors: 0 }
    }
}

impl ComplexProduct {
    /// Multiplies by `re + i im`. Arguments are from `-pi` to `pi`; an `im` of -0 is negative.
    #[inline(always)]
    fn multiply(&mut self, [re, im]: [Lanes; 2]) {
        let product = self.re * im + self.im * re;
        for lane in 0..LANES {
            let before = self.im.0[lane].is_sign_negative();
            let factor = im.0[lane].is_sign_negative();
            let after = product.0[lane].is_sign_negative();
            // Two arguments of one sign have a sum of the other sign only past the branch cut.
            let crosses_cut = before == factor && after != before;
            self.cut_crossings.0[lane] +=
                f64::from(u8::from(crosses_cut)) * 1f64.copysign(im.0[lane]);
        }
        self.re = self.re * re - self.im * im;
        self.im = product;
        self.factors += 1;
        if self.factors == SCALE_AFTER {
            self.scale();
        }
    }

    #[inline(always)]
    fn scale(&mut self) {
        self.factors = 0;
        let size =
            self.re.max(Lanes::default() - self.re) + self.im.max(Lanes::default() - self.im);
        (self.re, self.im) = (self.re / size, self.im / size);
    }

    /// The winding number: the sum of the arguments in units of `2 pi`, as twice the sum is the
    /// solid angle.
    #[inline(always)]
    pub(super) fn winding_number(mut self) -> f64 {
        // Pairwise reduction to the first lane: a product of eight normalized factors.
        self.scale();
        for half in [4, 2, 1] {
            let (mut re, mut im) = (Lanes::splat(1.0), Lanes::default());
            re.0[..half].copy_from_slice(&self.re.0[half..2 * half]);
            im.0[..half].copy_from_slice(&self.im.0[half..2 * half]);
            self.multiply([re, im]);
        }
        self.cut_crossings.sum() + libm::atan2(self.im.0[0], self.re.0[0]) / (2.0 * PI)
    }
}

/// The component along `x` of the cross product.
fn cross_x(a: Point, b: Point) -> f64 {
    a[1] * b[2] - a[2] * b[1]
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::solid::fill::closed;

    /// A closed loop.
    #[derive(Debug)]
    struct Loop {
        /// The first point is also the last.
        points: Vec<Point>,
        edges: Vec<Edges>,
    }

    impl Loop {
        fn new(points: &[[i32; 3]]) -> Self {
            let points: Vec<Point> = points.iter().map(|point| point.map(f64::from)).collect();
            let ends: Vec<&[Point]> = points.windows(2).collect();
            Self { edges: ends.chunks(LANES).map(Edges::new).collect(), points }
        }

        fn expand(&self, center: Point, radius: f64) -> (Taylor, f64) {
            let mut sums = TaylorSum::default();
            self.edges.iter().for_each(|edges| edges.expand(center, radius, &mut sums));
            sums.total()
        }
    }

    /// Closed loops of 3 to 17 points, each with a lattice point near it.
    fn cases() -> impl Iterator<Item = (Loop, Point)> {
        let mut rng = Rng::with_seed(7);
        (0..4000).map(move |case| {
            let size = 1 << rng.i32(3..20);
            let coordinate = |rng: &mut Rng| 16 * rng.i32(-size..=size);
            let point = |rng: &mut Rng| [0; 3].map(|_: i32| coordinate(rng));
            let points = closed((0..3 + case % 15).map(|_| point(&mut rng)));
            (Loop::new(&points), point(&mut rng).map(|c| f64::from(c + 8)))
        })
    }

    fn number(edges: &[Edges], p: Point) -> f64 {
        let mut product = ComplexProduct::default();
        edges.iter().for_each(|edges| edges.multiply_into(p, &mut product));
        product.winding_number()
    }

    #[test]
    fn the_product_of_all_edges_has_the_sum_of_their_angles() {
        let mut rng = Rng::with_seed(13);
        // Without normalization, thousands of factors would overflow.
        let large = [300, 3000, 16_000].map(|size| {
            let point = |_| [(); 3].map(|()| rng.i32(-(1 << 24)..1 << 24));
            (Loop::new(&closed((0..size).map(point))), [0.5; 3])
        });
        for (each, p) in cases().chain(large) {
            // By the formula of van Oosterom and Strackee, but for ties.
            let angle = |ends: &[Point]| {
                let [u, v] = [ends[0], ends[1]].map(|end| minus(end, p));
                // `|q| + q.x` without cancellation.
                let a = |q: Point| {
                    if q[0] >= 0.0 {
                        norm(q) + q[0]
                    } else {
                        (q[1] * q[1] + q[2] * q[2]) / (norm(q) - q[0])
                    }
                };
                let im = cross_x(u, v);
                if im == 0.0 {
                    return number(&[Edges::new(&[ends])], p);
                }
                im.atan2(a(u) * a(v) + u[1] * v[1] + u[2] * v[2]) / (2.0 * PI)
            };
            let sum: f64 = each.points.windows(2).map(angle).sum();
            let product = number(&each.edges, p);
            assert!((sum - product).abs() < 1e-9, "{sum}, {product}: from {p:?}");
        }
    }

    #[test]
    fn taylor_polynomials_are_as_near_as_their_bounds_say() {
        let mut rng = Rng::with_seed(8);
        let mut bounded = 0;
        for (each, center) in cases() {
            let radius = f64::from(1 << rng.i32(3..20));
            let (taylor, bound) = each.expand(center, radius);
            for _ in 0..20 {
                let direction = [0; 3].map(|_: i32| rng.f64() - 0.5);
                let length = radius * rng.f64().sqrt() / norm(direction);
                let h = direction.map(|c| c * length);
                let p = plus(center, h);
                let edges = each.edges.iter().flat_map(Edges::ends);
                let jumps: f64 = edges.map(|edge| edge.jump(center, p)).sum();
                let off = (number(&each.edges, p) - jumps - taylor.at(h)).abs();
                let x = length / radius;
                assert!(off <= bound * x * x * x + 1e-9, "{off}, {bound}: {each:?} from {p:?}");
                bounded += u32::from(bound < 0.1);
            }
        }
        assert!(bounded > 1000, "{bounded}");
    }

    #[test]
    fn the_bound_of_an_expansion_is_the_sum_of_those_of_its_edges() {
        let mut rng = Rng::with_seed(10);
        let (mut by_length, mut by_angle) = (0, 0);
        for (each, p) in cases() {
            // Far from some loops and near others.
            let away = f64::from(rng.i32(1..20));
            let (center, radius) = (p.map(|c| c * away), f64::from(1 << rng.i32(3..22)));
            let bound = |ends: &[Point]| {
                let along = minus(ends[1], ends[0]);
                let at = -dot(minus(ends[0], center), along) / dot(along, along);
                let nearest = [0, 1, 2].map(|a| ends[0][a] + at.clamp(0.0, 1.0) * along[a]);
                let distance = norm(minus(nearest, center));
                let (x, angle) = (radius / distance, norm(along) / distance);
                if x >= 1.0 {
                    return f64::INFINITY;
                }
                *(if angle < PI / 2.0 { &mut by_length } else { &mut by_angle }) += 1;
                x.powi(3) / (1.0 - x) * angle.min(PI / 2.0) / (4.0 * PI)
            };
            let expected: f64 = each.points.windows(2).map(bound).sum();
            let (_, found) = each.expand(center, radius);
            let is_near = found == expected || (found - expected).abs() < 1e-9 * expected.abs();
            assert!(is_near, "{found}, not {expected}: {each:?}");
        }
        assert!(by_length > 1000 && by_angle > 500, "{by_length}, {by_angle}");
    }

    #[test]
    fn jumps_of_edges_add_up_to_the_jumps_along_the_path() {
        let mut rng = Rng::with_seed(12);
        let (mut jumps, mut checked) = ([0; 3], 0);
        for (each, p) in cases() {
            // Past most edges, so that their rays pass; a way along one, two or all axes.
            let p = [2.0 * p[0].abs() + 8.0, p[1], p[2]];
            let (axes, extent) = (rng.u8(1..8), 1 << rng.i32(3..20));
            let q = [0, 1, 2].map(|a| match axes >> a & 1 {
                1 => p[a] + f64::from(16 * rng.i32(-extent..=extent)),
                _ => p[a],
            });
            let path = PointBox::of([p, q]);
            let is_apart = |ends: &[Point]| {
                let edge = PointBox::of([ends[0], ends[1]]);
                (0..3).any(|a| edge.hi[a] < path.lo[a] || edge.lo[a] > path.hi[a])
            };
            if !each.points.windows(2).all(is_apart) {
                continue;
            }
            let mut before = number(&each.edges, p);
            let mut sum = 0.0;
            let mut is_smooth = true;
            for n in 1..=64 {
                let at = [0, 1, 2].map(|a| p[a] + (q[a] - p[a]) * f64::from(n) / 64.0);
                let after = number(&each.edges, at);
                let jump = (after - before).round();
                is_smooth &= (after - before - jump).abs() < 0.1;
                sum += jump;
                before = after;
            }
            if !is_smooth {
                continue;
            }
            let jump = |ends: &[Point]| Edge([ends[0], ends[1]]).jump(p, q);
            let all: f64 = each.points.windows(2).map(jump).sum();
            assert_eq!(all, sum, "{each:?} from {p:?} to {q:?}");
            let edges = each.edges.iter().flat_map(Edges::ends);
            let passing = edges.filter(|edge| edge.bounds().rays_may_hit(&path));
            let passing: f64 = passing.map(|edge| edge.jump(p, q)).sum();
            assert_eq!(passing, sum, "{each:?} from {p:?} to {q:?}");
            jumps[(1.0 + sum.clamp(-1.0, 1.0)) as usize] += 1;
            checked += 1;
        }
        assert!(checked > 1000 && jumps[0] > 100 && jumps[2] > 100, "{checked}, {jumps:?}");
    }
}
