//! A hierarchy of the boundary's loops. Far from a cluster of loops, their contribution to the
//! winding number is replaced by that of three multipoles, as of charges in a gravity or fast
//! multipole code (J. Barnes and P. Hut, *A Hierarchical O(N log N) Force-Calculation Algorithm*,
//! 1986; L. Greengard and V. Rokhlin, *A Fast Algorithm for Particle Simulations*, 1987; for winding
//! numbers G. Barill and others, *Fast Winding Numbers for Soups and Clouds*, 2018), with an error
//! bound.
//!
//! A long loop is divided into loops of at most [`LONG`] edges by chords, which are in the sum in
//! both directions: a part of it may then be near, and the rest far.

use std::f64::consts::TAU;

use pulp::{Arch, Simd, WithSimd};

use crate::fill::lanes::LANES;
use crate::fill::multipoles::{Fields, Multipoles};
use crate::fill::solid_angle::{Edge, Edges, Point, Sums, Taylor, Turns, minus, norm};
use crate::topology::Boundary;

/// A node whose loops are small beside it has parts, whatever their number of edges.
const SPREAD: f64 = 4.0;
/// A longer loop is divided, by chords.
const LONG: usize = 64;

/// All loops.
pub(super) struct Clusters {
    /// The root is the last.
    nodes: Vec<Node>,
    /// Those of the nodes.
    multipoles: Vec<Multipoles>,
    edges: Vec<Edges>,
    arch: Arch,
}

/// Loops that are near each other.
#[derive(Debug, Clone)]
struct Node {
    lo: Point,
    hi: Point,
    /// The length of the edges.
    length: f64,
    /// The area of a cone over each loop.
    area: f64,
    center: Point,
    /// A bound of the distance of the cones from the centre.
    reach: f64,
    parts: Parts,
}

#[derive(Debug, Clone, Copy)]
enum Parts {
    /// A half-open range of edges.
    Edges([u32; 2]),
    Nodes([u32; 2]),
}

/// Error bounds of a polynomial in a ball.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Errors {
    /// As [`Taylor::error`].
    pub(super) taylor: f64,
    /// Of the multipoles, anywhere in the ball.
    pub(super) multipoles: f64,
}

impl Errors {
    pub(super) fn sum(self) -> f64 {
        self.taylor + self.multipoles
    }
}

impl Clusters {
    /// Maximum memory of a boundary's clusters, in bytes. A loop has at least three edges, and lists
    /// may be twice as large as what is in them.
    pub(super) fn bytes(boundary: &Boundary) -> u64 {
        let edges = boundary.edges() + boundary.edges() / (LONG / 2) + LANES;
        let nodes = 2 * (size_of::<Node>() + size_of::<Multipoles>());
        let short = size_of::<Short>() + 2 * size_of::<u64>() + size_of::<Point>();
        (edges * (2 * (size_of::<Edges>() + nodes) + 2 * short) / 3
            + 2 * edges * size_of::<Point>()) as u64
    }

    pub(super) fn new(loops: &[Vec<[i32; 3]>]) -> Self {
        let mut clusters = Self {
            nodes: Vec::new(),
            multipoles: Vec::new(),
            edges: Vec::new(),
            arch: Arch::new(),
        };
        let mut short: Vec<Short> = loops.iter().flat_map(|points| Short::divide(points)).collect();
        if !short.is_empty() {
            let lo = Node::around(&short).lo;
            let key = |each: &Short| each.key(lo);
            short.sort_by_cached_key(key);
            let keys: Vec<u64> = short.iter().map(key).collect();
            clusters.add(&short, &keys);
        }
        clusters
    }

    /// The whole boundary.
    pub(super) fn root(&self) -> Option<u32> {
        (self.nodes.len() as u32).checked_sub(1)
    }

    /// Adds a node for loops in the order of their keys, after its parts; returns its index.
    fn add(&mut self, short: &[Short], keys: &[u64]) -> u32 {
        let (mut node, mut multipoles) = (Node::around(short), Multipoles::default());
        let largest = short.iter().map(Short::diagonal).fold(0.0, f64::max);
        let count: usize = short.iter().map(|each| each.points.len() - 1).sum();
        let is_leaf = count <= LANES && 2.0 * node.reach <= SPREAD * largest;
        if is_leaf || short.len() == 1 {
            let ends: Vec<&[Point]> =
                short.iter().flat_map(|each| each.points.windows(2)).collect();
            let first = self.edges.len();
            self.edges.extend(ends.chunks(LANES).map(Edges::new));
            node.parts = Parts::Edges([first, self.edges.len()].map(|at| at as u32));
            node.length = self.edges[first..].iter().map(Edges::length).sum();
            for each in short {
                let (its, area) = Multipoles::of(&each.points, node.center);
                multipoles = multipoles.plus(&its);
                node.area += area;
            }
        } else {
            let (first, last) = (keys[0], keys[keys.len() - 1]);
            // The first key with the highest bit in which any two differ.
            let middle = match (first ^ last).checked_ilog2() {
                Some(bit) => keys.partition_point(|key| key >> bit == first >> bit),
                None => short.len() / 2,
            };
            let parts = [
                self.add(&short[..middle], &keys[..middle]),
                self.add(&short[middle..], &keys[middle..]),
            ];
            node.parts = Parts::Nodes(parts);
            for index in parts {
                let part = self.node(index);
                let its = &self.multipoles[index as usize];
                multipoles = multipoles.plus(&its.moved(minus(part.center, node.center)));
                node.length += part.length;
                node.area += part.area;
            }
        }
        self.nodes.push(node);
        self.multipoles.push(multipoles);
        self.nodes.len() as u32 - 1
    }
}

/// The error of the terms of degree 3 and higher of the series of a surface of `area`, as dipoles
/// at a distance of at least `distance`, over steps of `step`: of degree `k` they add up to at most
/// `(k + 1) x^k / distance^2` per area, `x = step / distance`. Infinite unless `x` is below 1.
fn beyond_octupoles(area: f64, step: f64, distance: f64) -> f64 {
    if distance <= step {
        return f64::INFINITY;
    }
    let (x, rest) = (step / distance, distance - step);
    area * x * x * x * (4.0 - 3.0 * x) / (2.0 * TAU * rest * rest)
}

impl Node {
    /// The bounds of loops, with nothing in it.
    fn around(short: &[Short]) -> Self {
        let bounds = |of: fn(f64, f64) -> f64, corner: fn(&Short) -> Point| {
            let merge = |a: Point, b: Point| [0, 1, 2].map(|axis| of(a[axis], b[axis]));
            short.iter().map(corner).reduce(merge).unwrap_or_default()
        };
        let (lo, hi) = (bounds(f64::min, |each| each.lo), bounds(f64::max, |each| each.hi));
        Self {
            lo,
            hi,
            length: 0.0,
            area: 0.0,
            center: [0, 1, 2].map(|a| 0.5 * (lo[a] + hi[a])),
            reach: 0.5 * norm(minus(hi, lo)),
            parts: Parts::Edges([0; 2]),
        }
    }

    /// The error bounds of its polynomial of degree 2 in a ball.
    ///
    /// At a distance `r` from a point of a loop the terms of degree `k` add up to at most
    /// `x^k / r` per length, `x = radius / r` ([`Edges::expand`]). As dipoles on a cone over the
    /// loop they add up to at most `(k + 1) x^k / r^2` per area. The lesser bound holds.
    ///
    /// The multipoles lack the terms of degree 3 and higher in the positions of the cones' points.
    /// Let `d` be the distance of the centres, `X = reach / d` and `Y = radius / d`. Per area, the
    /// term of degree `m` in a position and `n` in the step from the ball's centre is at most
    /// `(m + n + 1) C(m + n, m) X^m Y^n / d^2`, as the polar form of a polynomial has its norm (S.
    /// Banach, 1938). For each `m`, those of all `n` add up to `(m + 1) reach^m / (d - radius)^(m +
    /// 2)`: the same series, with `reach` as the step and `d - radius` as the distance.
    fn errors(&self, center: Point, radius: f64) -> Errors {
        let outside = |a: usize| (self.lo[a] - center[a]).max(center[a] - self.hi[a]).max(0.0);
        let distance = norm([0, 1, 2].map(outside));
        if distance <= radius {
            return Errors { taylor: f64::INFINITY, multipoles: 0.0 };
        }
        let x = radius / distance;
        let by_length = self.length * x * x * x / (distance * (1.0 - x)) / (2.0 * TAU);
        let taylor = by_length.min(beyond_octupoles(self.area, radius, distance));
        let multipoles = match self.parts {
            Parts::Edges(_) => 0.0,
            Parts::Nodes(_) => {
                let distance = norm(minus(self.center, center)) - radius;
                beyond_octupoles(self.area, self.reach, distance)
            }
        };
        Errors { taylor, multipoles }
    }

    /// Whether the rays of the loops' box towards `+x` pass through the box from `lo` to `hi`.
    fn may_shade(&self, lo: Point, hi: Point) -> bool {
        self.lo[0] <= hi[0] && (1..3).all(|a| self.lo[a] <= hi[a] && self.hi[a] >= lo[a])
    }
}

impl Clusters {
    fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    fn edges(&self, [from, to]: [u32; 2]) -> &[Edges] {
        &self.edges[from as usize..to as usize]
    }

    fn ends(&self, edges: [u32; 2]) -> impl Iterator<Item = Edge> {
        self.edges(edges).iter().flat_map(Edges::ends)
    }

    /// The two parts of a cluster of several loops.
    pub(super) fn parts(&self, node: u32) -> Option<[u32; 2]> {
        match self.node(node).parts {
            Parts::Nodes(parts) => Some(parts),
            Parts::Edges(_) => None,
        }
    }

    pub(super) fn reach(&self, node: u32) -> f64 {
        self.node(node).reach
    }

    /// The error bounds of [`expand`](Self::expand), from boxes alone.
    pub(super) fn errors(&self, node: u32, center: Point, radius: f64) -> Errors {
        self.node(node).errors(center, radius)
    }

    /// Whether an edge's ray towards `+x` may pass through the box from `lo` to `hi`.
    pub(super) fn may_shade(&self, node: u32, lo: Point, hi: Point) -> bool {
        self.node(node).may_shade(lo, hi)
            && match self.node(node).parts {
                Parts::Edges(edges) => self.ends(edges).any(|edge| edge.may_shade(lo, hi)),
                Parts::Nodes(_) => true,
            }
    }

    /// The edges whose rays towards `+x` may pass through the box from `lo` to `hi`.
    pub(super) fn shading(&self, nodes: &[u32], lo: Point, hi: Point) -> Vec<Edge> {
        let (mut shading, mut nodes) = (Vec::new(), nodes.to_vec());
        while let Some(node) = nodes.pop() {
            let node = self.node(node);
            if node.may_shade(lo, hi) {
                match node.parts {
                    Parts::Nodes(parts) => nodes.extend(parts),
                    Parts::Edges(edges) => {
                        shading.extend(self.ends(edges).filter(|edge| edge.may_shade(lo, hi)));
                    }
                }
            }
        }
        shading
    }

    /// `b` at `center`, and its change in a ball. The clusters of several loops shade no part of
    /// the ball.
    pub(super) fn expand(&self, nodes: &[u32], center: Point, radius: f64) -> (f64, Taylor) {
        self.arch.dispatch(Expand { clusters: self, nodes, center, radius })
    }

    /// `b` at `p`, and an error bound: clusters of several loops count as multipoles where these
    /// have an error below `most`.
    pub(super) fn number(&self, nodes: &[u32], p: Point, most: f64) -> (f64, f64) {
        self.arch.dispatch(Number { clusters: self, nodes, p, most })
    }
}

struct Expand<'a> {
    clusters: &'a Clusters,
    nodes: &'a [u32],
    center: Point,
    radius: f64,
}

impl WithSimd for Expand<'_> {
    type Output = (f64, Taylor);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { clusters, nodes, center, radius } = self;
        let mut sums = Sums::default();
        let mut fields = Fields::of(&clusters.multipoles);
        for &index in nodes {
            let node = clusters.node(index);
            match node.parts {
                Parts::Edges(range) => {
                    for edges in clusters.edges(range) {
                        edges.expand(center, radius, &mut sums);
                    }
                }
                Parts::Nodes(_) => fields.add(index, minus(center, node.center)),
            }
        }
        let (number, mut taylor) = fields.total();
        let (value, change) = sums.total();
        taylor.add(&change);
        (number + value, taylor)
    }
}

struct Number<'a> {
    clusters: &'a Clusters,
    nodes: &'a [u32],
    p: Point,
    most: f64,
}

impl WithSimd for Number<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { clusters, nodes, p, most } = self;
        let (mut turns, mut fields, mut error) =
            (Turns::default(), Fields::of(&clusters.multipoles), 0.0);
        let mut nodes = nodes.to_vec();
        while let Some(index) = nodes.pop() {
            let node = clusters.node(index);
            match node.parts {
                Parts::Edges(range) => {
                    for edges in clusters.edges(range) {
                        edges.turn(p, &mut turns);
                    }
                }
                Parts::Nodes(parts) => {
                    let Errors { multipoles, .. } = node.errors(p, 0.0);
                    if multipoles < most && !node.may_shade(p, p) {
                        fields.add(index, minus(p, node.center));
                        error += multipoles;
                    } else {
                        nodes.extend(parts);
                    }
                }
            }
        }
        (fields.total().0 + turns.number(), error)
    }
}

/// A closed loop of few edges.
struct Short {
    /// The first point is also the last.
    points: Vec<Point>,
    lo: Point,
    hi: Point,
}

impl Short {
    fn new(points: Vec<Point>) -> Self {
        let corner = |of: fn(f64, f64) -> f64| {
            let merge = |a: Point, b: Point| [0, 1, 2].map(|axis| of(a[axis], b[axis]));
            points.iter().copied().reduce(merge).unwrap_or_default()
        };
        Self { lo: corner(f64::min), hi: corner(f64::max), points }
    }

    /// The loop as loops of at most [`LONG`] edges: parts of it, closed by chords, and recursively
    /// the loop of chords in the opposite directions.
    fn divide(points: &[[i32; 3]]) -> Vec<Self> {
        let mut points: Vec<Point> = points.iter().map(|point| point.map(f64::from)).collect();
        let mut short = Vec::new();
        while points.len() - 1 > LONG {
            let mut chords = vec![points[0]];
            for start in (0..points.len() - 1).step_by(LONG - 1) {
                let mut part = points[start..].iter().take(LONG).copied().collect::<Vec<_>>();
                let (first, last) = (part[0], part[part.len() - 1]);
                if first != last {
                    chords.push(last);
                    part.push(first);
                }
                if part.len() > 3 {
                    short.push(Self::new(part));
                }
            }
            points = chords;
        }
        // The edges of shorter ones cancel.
        if points.len() > 3 {
            short.push(Self::new(points));
        }
        short
    }

    fn diagonal(&self) -> f64 {
        norm(minus(self.hi, self.lo))
    }

    /// The order of loops: by size, then along a Z-order curve that begins at `lo`, so that near
    /// ones are together.
    fn key(&self, lo: Point) -> u64 {
        let size = self.diagonal() as u64;
        let class = u64::from(size.max(1).ilog2() / 2);
        // Coordinates differ by less than 2^25.
        let cell = [0, 1, 2].map(|a| (0.5 * (self.lo[a] + self.hi[a]) - lo[a]) as u64 >> 6);
        let spread = |value: u64| (0..19).map(|bit| (value >> bit & 1) << (3 * bit)).sum::<u64>();
        class << 57 | spread(cell[0]) << 2 | spread(cell[1]) << 1 | spread(cell[2])
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// Small loops near each other, and a few large ones of up to 400 points.
    fn any_loops(rng: &mut Rng) -> Vec<Vec<[i32; 3]>> {
        (0..rng.usize(1..200))
            .map(|index| {
                let (count, size) = match index {
                    0..3 => (rng.usize(3..400), 1 << rng.i32(4..16)),
                    _ => (rng.usize(3..9), 1 << rng.i32(4..8)),
                };
                let corner = [(); 3].map(|()| 16 * rng.i32(-400..400));
                let point = |_| corner.map(|c| c + rng.i32(0..=size));
                let mut points: Vec<[i32; 3]> = (0..count).map(point).collect();
                points.dedup();
                points.push(points[0]);
                points
            })
            .collect()
    }

    /// The sum over loops, edge by edge.
    fn brute(loops: &[Vec<[i32; 3]>], p: Point) -> f64 {
        let mut turns = Turns::default();
        for points in loops {
            let points: Vec<Point> = points.iter().map(|point| point.map(f64::from)).collect();
            points.windows(2).for_each(|ends| Edges::new(&[ends]).turn(p, &mut turns));
        }
        turns.number()
    }

    fn any_point(rng: &mut Rng) -> Point {
        [(); 3].map(|()| f64::from(16 * rng.i32(-600..600) + 8))
    }

    /// The nodes below some, and these.
    fn below(clusters: &Clusters, nodes: &[u32]) -> Vec<u32> {
        let mut all = nodes.to_vec();
        let mut at = 0;
        while at < all.len() {
            all.extend(clusters.parts(all[at]).into_iter().flatten());
            at += 1;
        }
        all
    }

    #[test]
    fn the_number_of_all_clusters_is_the_sum_over_all_edges() {
        let mut rng = Rng::with_seed(21);
        let mut divided = 0;
        for _ in 0..100 {
            let loops = any_loops(&mut rng);
            let clusters = Clusters::new(&loops);
            divided += loops.iter().filter(|points| points.len() > LONG + 1).count();
            let root: Vec<u32> = clusters.root().into_iter().collect();
            for _ in 0..20 {
                let p = any_point(&mut rng);
                let (found, error) = clusters.number(&root, p, 0.0);
                let expected = brute(&loops, p);
                assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
                assert_eq!(error, 0.0);
            }
        }
        assert!(divided > 50, "{divided}");
        assert_eq!(Clusters::new(&[]).root(), None);
        // There and back: the edges cancel.
        assert_eq!(Clusters::new(&[vec![[0; 3], [1; 3], [0; 3]]]).root(), None);
    }

    #[test]
    fn multipoles_are_as_near_as_their_bounds_say() {
        let mut rng = Rng::with_seed(22);
        let (mut replaced, mut largest) = (0, 0.0_f64);
        for _ in 0..200 {
            let loops = any_loops(&mut rng);
            let clusters = Clusters::new(&loops);
            let root: Vec<u32> = clusters.root().into_iter().collect();
            for _ in 0..10 {
                let p = any_point(&mut rng);
                let exact = clusters.number(&root, p, 0.0).0;
                for limit in [1e-2, 1e-4, 1e-6] {
                    let (found, error) = clusters.number(&root, p, limit);
                    assert!(error <= limit * clusters.nodes.len() as f64, "{error}, {limit}");
                    assert!((found - exact).abs() <= error + 1e-9, "{found}, {exact}, {error}");
                    replaced += u32::from(error > 0.0);
                    largest = largest.max(((found - exact).abs() - 1e-9) / error.max(1e-9));
                }
            }
        }
        assert!(replaced > 1000 && largest > 0.01, "{replaced}, {largest}");
    }

    #[test]
    fn polynomials_of_clusters_are_as_near_as_their_bounds_say() {
        let mut rng = Rng::with_seed(23);
        let mut bounded = [0; 2];
        for _ in 0..200 {
            let clusters = Clusters::new(&any_loops(&mut rng));
            let root: Vec<u32> = clusters.root().into_iter().collect();
            let nodes = below(&clusters, &root);
            for _ in 0..20 {
                let node = nodes[rng.usize(0..nodes.len())];
                let (center, radius) = (any_point(&mut rng), f64::from(1 << rng.i32(3..12)));
                let [lo, hi] = [-radius, radius].map(|r| center.map(|c| c + r));
                let errors = clusters.errors(node, center, radius);
                if errors.sum() > 0.1 || clusters.may_shade(node, lo, hi) {
                    continue;
                }
                bounded[usize::from(clusters.parts(node).is_some())] += 1;
                let (number, taylor) = clusters.expand(&[node], center, radius);
                for _ in 0..10 {
                    let direction = [(); 3].map(|()| rng.f64() - 0.5);
                    let x = rng.f64();
                    let h = direction.map(|c| c * x * radius / norm(direction));
                    let p = [0, 1, 2].map(|a| center[a] + h[a]);
                    let exact = clusters.number(&[node], p, 0.0).0;
                    let off = (number + taylor.change(h) - exact).abs();
                    let bound = errors.taylor * x * x * x + errors.multipoles;
                    assert!(off <= bound + 1e-9, "{off}, {bound}: {:?}", clusters.node(node));
                }
            }
        }
        assert!(bounded.iter().all(|&count| count > 300), "{bounded:?}");
    }

    #[test]
    fn bounds_are_the_lesser_of_two_series_and_that_of_multipoles() {
        let mut rng = Rng::with_seed(24);
        let [mut as_length, mut as_dipole, mut none] = [0; 3];
        let series = |x: f64, of: &dyn Fn(f64) -> f64| {
            // The terms of degree 3 and higher, those above 900 are below the rounding errors.
            (3..900).rev().map(|k| x.powi(k) * of(f64::from(k))).sum::<f64>()
        };
        for round in 0..1000 {
            let mut loops = any_loops(&mut rng);
            if round % 2 == 0 {
                // Few large ones, near which bounds by length are less.
                loops.truncate(3);
            }
            let clusters = Clusters::new(&loops);
            let node = clusters.root().expect("there are loops");
            let away = f64::from(rng.i32(1..20));
            let (center, radius) =
                (any_point(&mut rng).map(|c| c * away), f64::from(1 << rng.i32(3..18)));
            let points = || loops.iter().flatten().map(|point| point.map(f64::from));
            let corner = |of: fn(f64, f64) -> f64| {
                let merge = |a: Point, b: Point| [0, 1, 2].map(|axis| of(a[axis], b[axis]));
                points().reduce(merge).expect("there are points")
            };
            let (lo, hi) = (corner(f64::min), corner(f64::max));
            let nearest = [0, 1, 2].map(|a| center[a].clamp(lo[a], hi[a]));
            let distance = norm(minus(nearest, center));
            let errors = clusters.errors(node, center, radius);
            assert_eq!(errors.sum(), errors.taylor + errors.multipoles);
            let x = radius / distance;
            if x >= 1.0 {
                assert_eq!(errors.taylor, f64::INFINITY);
                none += 1;
                continue;
            }
            // Chords make both larger.
            let Node { length, area, .. } = *clusters.node(node);
            let edges: f64 = loops
                .iter()
                .flat_map(|points| points.windows(2))
                .map(|ends| norm(minus(ends[1].map(f64::from), ends[0].map(f64::from))))
                .sum();
            assert!(length > edges * (1.0 - 1e-12) && area > 0.0);
            let middle = [0, 1, 2].map(|a| 0.5 * (lo[a] + hi[a]));
            let away = norm(minus(middle, center)) - radius;
            let reach = 0.5 * norm(minus(hi, lo));
            if x < 0.95 && reach / away < 0.95 && clusters.parts(node).is_some() {
                let by_length = series(x, &|_| length / distance);
                let by_area = series(x, &|k| (k + 1.0) * area / distance.powi(2));
                *(if by_length < by_area { &mut as_length } else { &mut as_dipole }) += 1;
                let expected = by_length.min(by_area) / (2.0 * TAU);
                assert!((errors.taylor / expected - 1.0).abs() < 1e-9, "{errors:?}, {expected}");
                let expected =
                    series(reach / away, &|k| (k + 1.0) * area / away.powi(2)) / (2.0 * TAU);
                assert!((errors.multipoles / expected - 1.0).abs() < 1e-9, "{errors:?}");
            }
            assert!(
                away > reach
                    || errors.multipoles == f64::INFINITY
                    || clusters.parts(node).is_none()
            );
        }
        let counts = [as_length, as_dipole, none];
        assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
    }

    #[test]
    fn shading_edges_have_the_steps_of_all_edges() {
        let mut rng = Rng::with_seed(25);
        let mut steps = 0;
        for _ in 0..600 {
            let loops = any_loops(&mut rng);
            let clusters = Clusters::new(&loops);
            let root: Vec<u32> = clusters.root().into_iter().collect();
            let lo = any_point(&mut rng);
            let hi = lo.map(|c| c + f64::from(16 << rng.i32(0..7)));
            let shading = clusters.shading(&root, lo, hi);
            assert_eq!(
                !shading.is_empty(),
                root.iter().any(|&node| {
                    below(&clusters, &[node]).into_iter().any(|node| {
                        clusters.parts(node).is_none() && clusters.may_shade(node, lo, hi)
                    })
                })
            );
            // Past all loops, so that no edge is between the points.
            let past = f64::from(1 << 17);
            let [p, q] = [lo, hi].map(|[_, y, z]| [past, y, z]);
            let found: f64 = shading.iter().map(|edge| edge.step(p, q)).sum();
            let before = brute(&loops, p);
            let after = brute(&loops, q);
            let all: f64 = clusters
                .shading(&root, [past, f64::MIN, f64::MIN], [past, f64::MAX, f64::MAX])
                .iter()
                .map(|edge| edge.step(p, q))
                .sum();
            let in_reach: f64 =
                clusters.shading(&root, p, q).iter().map(|edge| edge.step(p, q)).sum();
            assert_eq!(all, in_reach);
            assert!((after - before - all).abs() < 0.2, "{after}, {before}, {all}");
            steps += u32::from(found != 0.0);
        }
        assert!(steps > 10, "{steps}");
    }
}
