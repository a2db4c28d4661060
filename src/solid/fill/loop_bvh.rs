//! A bounding volume hierarchy (BVH) of the boundary loops. Far from a node, the winding number `b`
//! of its loops' closing rays ([`solid_angle`](crate::solid::fill::solid_angle)) is approximated by
//! a multipole expansion with an error bound, as in a treecode (J. Barnes and P. Hut, *A
//! Hierarchical O(N log N) Force-Calculation Algorithm*, 1986; for winding numbers G. Barill and
//! others, *Fast Winding Numbers for Soups and Clouds*, 2018).
//!
//! A long loop is split by chords into loops of at most [`MAX_LOOP_EDGES`] edges, so that its near
//! part is summed exactly and the rest approximated. Each chord belongs to two of these loops, in
//! opposite directions: its contributions cancel.

use std::f64::consts::TAU;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::base::lanes::{LANES, Lanes, splats};
use crate::base::morton;
use crate::base::vector::{dot, minus, norm};
use crate::solid::fill::multipoles::{Multipoles, sum_of_multipoles};
use crate::solid::fill::solid_angle::{ComplexProduct, Edge, Edges, Point, PointBox, TaylorSum};
use crate::solid::fill::taylor::Taylor;

/// Maximum ratio of a leaf's diagonal to that of its largest loop.
const MAX_DIAMETER_RATIO: f64 = 4.0;
/// Maximum number of edges of a loop after the split.
const MAX_LOOP_EDGES: usize = 64;

/// The BVH of all loops.
pub(super) struct LoopBvh {
    /// Children come before their parent; the root is the last.
    nodes: Vec<Node>,
    /// One entry per node.
    multipoles: Vec<Multipoles>,
    /// All edges, leaf by leaf.
    edges: Vec<Edges>,
    arch: Arch,
}

/// A set of loops.
#[derive(Debug, Clone)]
pub(super) struct Node {
    bounds: PointBox,
    /// The centre of the bounding box, and of the bounding sphere.
    center: Point,
    /// The radius of the bounding sphere, half the box's diagonal. The cones over the loops are
    /// inside, as the box is convex.
    pub(super) radius: f64,
    /// The total length of the edges.
    length: f64,
    /// The total area of the cones over the loops.
    area: f64,
    /// A leaf's range of [`LoopBvh::edges`]; empty for an inner node.
    edges: Range<u32>,
    /// `None` for a leaf.
    pub(super) children: Option<[u32; 2]>,
}

/// Error bounds of the Taylor polynomial of a node in a ball.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ErrorBounds {
    /// Truncation error of the Taylor series, as that of [`TaylorSum::total`].
    pub(super) taylor: f64,
    /// Truncation error of the multipole expansion, anywhere in the ball.
    pub(super) multipoles: f64,
}

impl ErrorBounds {
    pub(super) fn sum(self) -> f64 {
        self.taylor + self.multipoles
    }
}

impl LoopBvh {
    /// Peak memory of the construction for a boundary of `edges` edges, in bytes.
    pub(super) fn bytes(edges: usize) -> u64 {
        // A split loop has at least 65 edges; its chords, in both directions, are at most 1/16
        // more.
        let edges = edges + edges / 16;
        // A loop has at least three edges, and a leaf at least one loop.
        let loops = edges / 3;
        let per_leaf = size_of::<Edges>() + 2 * (size_of::<Node>() + size_of::<Multipoles>());
        // With its key and index during the sort, and the repeated first point.
        let per_loop = size_of::<Loop>() + 2 * size_of::<u64>() + size_of::<Point>();
        // The capacity of a growing list is at most twice its length, or four elements.
        2 * ((loops + 4) * (per_leaf + per_loop) + edges * size_of::<Point>()) as u64
    }

    pub(super) fn new(loops: &[Vec<[i32; 3]>]) -> Self {
        let mut bvh = Self {
            nodes: Vec::new(),
            multipoles: Vec::new(),
            edges: Vec::new(),
            arch: Arch::new(),
        };
        let mut loops: Vec<Loop> = loops.iter().flat_map(|points| Loop::split(points)).collect();
        let lo = bounds(&loops).lo;
        loops.iter_mut().for_each(|each| each.set_key(lo));
        loops.sort_by_cached_key(|each| each.key);
        if !loops.is_empty() {
            bvh.add(&loops);
        }
        bvh
    }

    /// The root; empty without loops.
    pub(super) fn root(&self) -> Vec<u32> {
        (self.nodes.len() as u32).checked_sub(1).into_iter().collect()
    }

    /// Adds the node of `loops`, sorted by key, after its descendants; returns its index.
    fn add(&mut self, loops: &[Loop]) -> u32 {
        let mut node = Node::new(bounds(loops));
        let largest = loops.iter().map(|each| each.bounds.diagonal()).fold(0.0, f64::max);
        let count: usize = loops.iter().map(|each| each.points.len() - 1).sum();
        let is_compact = count <= LANES && 2.0 * node.radius <= MAX_DIAMETER_RATIO * largest;
        let multipoles = if is_compact || loops.len() == 1 {
            self.add_edges(&mut node, loops)
        } else {
            self.add_children(&mut node, loops)
        };
        self.nodes.push(node);
        self.multipoles.push(multipoles);
        self.nodes.len() as u32 - 1
    }

    /// Adds the edges of a leaf; returns its multipoles.
    fn add_edges(&mut self, leaf: &mut Node, loops: &[Loop]) -> Multipoles {
        let ends: Vec<&[Point]> = loops.iter().flat_map(|each| each.points.windows(2)).collect();
        let first = self.edges.len();
        self.edges.extend(ends.chunks(LANES).map(Edges::new));
        leaf.edges = first as u32..self.edges.len() as u32;
        leaf.length = self.edges[first..].iter().map(Edges::length).sum();
        loops.iter().fold(Multipoles::default(), |sum, each| {
            let (of_loop, area) = Multipoles::of(&each.points, leaf.center);
            leaf.area += area;
            sum.plus(&of_loop)
        })
    }

    /// Adds the descendants of an inner node; returns its multipoles.
    fn add_children(&mut self, node: &mut Node, loops: &[Loop]) -> Multipoles {
        // Split at the highest bit in which the keys differ.
        let (first, last) = (loops[0].key, loops[loops.len() - 1].key);
        let middle = match (first ^ last).checked_ilog2() {
            Some(bit) => loops.partition_point(|each| each.key >> bit == first >> bit),
            None => loops.len() / 2,
        };
        let children = [self.add(&loops[..middle]), self.add(&loops[middle..])];
        node.children = Some(children);
        children.into_iter().fold(Multipoles::default(), |sum, index| {
            let child = self.node(index);
            node.length += child.length;
            node.area += child.area;
            let offset = minus(child.center, node.center);
            sum.plus(&self.multipoles[index as usize].translated(offset))
        })
    }
}

/// A bound of the terms of degree 3 and higher of the Taylor series of the winding number of a
/// surface of `area`, for a displacement of length `h`, if no point of the surface is nearer than
/// `distance`. A surface element is a dipole: per unit of area its term of degree `k` is at most
/// `(k + 1) x^k / distance^2`, with `x = h / distance`. Infinite for `x >= 1`.
fn taylor_remainder(area: f64, h: f64, distance: f64) -> f64 {
    if distance <= h {
        return f64::INFINITY;
    }
    let (x, rest) = (h / distance, distance - h);
    area * x * x * x * (4.0 - 3.0 * x) / (2.0 * TAU * rest * rest)
}

/// The bounding box of `loops`.
fn bounds(loops: &[Loop]) -> PointBox {
    PointBox::of(loops.iter().flat_map(|each| [each.bounds.lo, each.bounds.hi]))
}

impl Node {
    /// A leaf without edges.
    fn new(bounds: PointBox) -> Self {
        let (center, radius) = (bounds.center(), 0.5 * bounds.diagonal());
        Self { bounds, center, radius, length: 0.0, area: 0.0, edges: 0..0, children: None }
    }

    /// The error bounds of the node's Taylor polynomial of degree 2 in a ball.
    ///
    /// `taylor`: an edge at a distance of at least `r` has a term of degree `k` of at most `x^k /
    /// r` per length, with `x = radius / r` (`taylor_error` in
    /// [`solid_angle`](crate::solid::fill::solid_angle)). A cone over the loop has one of at most
    /// `(k + 1) x^k / r^2` per area ([`taylor_remainder`]). Both bounds hold, so the lesser one
    /// does.
    ///
    /// `multipoles`: the expansion lacks the terms of degree 3 and higher in the positions of the
    /// cones' points, relative to the node's centre. Let `R` be the node's radius, `d` the distance
    /// between the two centres, `X = R / d` and `Y = radius / d`. Per area, the term of degree `m`
    /// in the position and `n` in the displacement from the ball's centre is at most `(m + n + 1)
    /// C(m + n, m) X^m Y^n / d^2`, since a homogeneous polynomial and its polar form have the same
    /// norm (S. Banach, 1938). For each `m`, the sum over `n` is `(m + 1) R^m / (d - radius)^(m +
    /// 2)`: the series of [`taylor_remainder`] for `h = R` at a distance of `d - radius`.
    #[inline]
    pub(super) fn errors(&self, center: Point, radius: f64) -> ErrorBounds {
        let PointBox { lo, hi } = self.bounds;
        let outside = |a: usize| (lo[a] - center[a]).max(center[a] - hi[a]).max(0.0);
        let distance = norm([0, 1, 2].map(outside));
        if distance <= radius {
            return ErrorBounds { taylor: f64::INFINITY, multipoles: 0.0 };
        }
        let x = radius / distance;
        let by_length = self.length * x * x * x / (distance * (1.0 - x)) / (2.0 * TAU);
        let taylor = by_length.min(taylor_remainder(self.area, radius, distance));
        if self.children.is_none() {
            return ErrorBounds { taylor, multipoles: 0.0 };
        }
        // Infinite if the ball meets the bounding sphere.
        let distance = norm(minus(self.center, center)) - radius;
        ErrorBounds { taylor, multipoles: taylor_remainder(self.area, self.radius, distance) }
    }

    /// The error bound of the node's multipole expansion at all of `points`, `distance` or more
    /// from its centre, if it is below `tolerance` and no closing ray may hit one of them. A bound
    /// of 0 is reserved for sums without approximation.
    #[inline(always)]
    fn approximation(&self, points: &[Point], distance: f64, tolerance: f64) -> Option<f64> {
        let error = taylor_remainder(self.area, self.radius, distance);
        let is_near = error > 0.0 && error < tolerance;
        let may_be_hit = |&p: &Point| self.bounds.rays_may_hit(&PointBox { lo: p, hi: p });
        (is_near && !points.iter().any(may_be_hit)).then_some(error)
    }
}

impl LoopBvh {
    pub(super) fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    /// The edges of a leaf, [`LANES`] at a time; none of an inner node.
    #[inline(always)]
    pub(super) fn edges_of(&self, node: &Node) -> &[Edges] {
        &self.edges[node.edges.start as usize..node.edges.end as usize]
    }

    /// The edges of a leaf with closing rays that may hit a box.
    fn hitting_edges(&self, node: &Node, target: &PointBox) -> impl Iterator<Item = Edge> {
        let edges = self.edges_of(node).iter().flat_map(Edges::ends);
        edges.filter(|edge| edge.bounds().rays_may_hit(target))
    }

    /// Whether the node's closing rays may hit a box. An inner node is tested by its bounding box,
    /// a leaf by its edges.
    pub(super) fn rays_may_hit(&self, index: u32, target: &PointBox) -> bool {
        let node = self.node(index);
        node.bounds.rays_may_hit(target)
            && (node.children.is_some() || self.hitting_edges(node, target).next().is_some())
    }

    /// The edges of `nodes` with closing rays that may hit a box.
    pub(super) fn edges_with_rays_in(&self, nodes: &[u32], target: &PointBox) -> Vec<Edge> {
        let (mut found, mut stack) = (Vec::new(), nodes.to_vec());
        while let Some(index) = stack.pop() {
            let node = self.node(index);
            if node.bounds.rays_may_hit(target) {
                stack.extend(node.children.into_iter().flatten());
                found.extend(self.hitting_edges(node, target));
            }
        }
        found
    }

    /// `b` of `nodes` in a ball, from the edges of leaves and the multipoles of inner nodes, and
    /// the error bound of the leaves' polynomials. Precondition: no closing ray of an inner node
    /// hits the ball.
    pub(super) fn expand(&self, nodes: &[u32], center: Point, radius: f64) -> (Taylor, f64) {
        self.arch.dispatch(Expand { bvh: self, nodes, center, radius })
    }

    /// `b` of `nodes` at `p`, and its error bound. A node is approximated by its multipoles if
    /// their error bound is below `tolerance`.
    pub(super) fn winding_number(&self, nodes: &[u32], p: Point, tolerance: f64) -> (f64, f64) {
        let (numbers, error) = self.winding_numbers(nodes, &[p], tolerance);
        (numbers[0], error)
    }

    /// [`winding_number`](Self::winding_number) at up to [`LANES`] points, and the error bound of
    /// all. Those that are near each other share nearly all nodes.
    pub(super) fn winding_numbers(
        &self,
        nodes: &[u32],
        points: &[Point],
        tolerance: f64,
    ) -> ([f64; LANES], f64) {
        self.arch.dispatch(Numbers { bvh: self, nodes, points, tolerance })
    }

    /// The number of nodes and blocks of edges that [`winding_number`](Self::winding_number)
    /// visits.
    pub(super) fn visits(&self, nodes: &[u32], p: Point, tolerance: f64) -> u64 {
        let (mut stack, mut count) = (nodes.to_vec(), 0);
        while let Some(index) = stack.pop() {
            let node = self.node(index);
            count += 1;
            let distance = norm(minus(p, node.center));
            if node.approximation(&[p], distance, tolerance).is_none() {
                count += node.edges.len() as u64;
                stack.extend(node.children.into_iter().flatten());
            }
        }
        count
    }
}

struct Expand<'a> {
    bvh: &'a LoopBvh,
    nodes: &'a [u32],
    center: Point,
    radius: f64,
}

impl WithSimd for Expand<'_> {
    type Output = (Taylor, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { bvh, nodes, center, radius } = self;
        let (mut near, mut far) = (TaylorSum::default(), Vec::new());
        for &index in nodes {
            let node = bvh.node(index);
            for edges in bvh.edges_of(node) {
                edges.expand(center, radius, &mut near);
            }
            if node.children.is_some() {
                far.push((minus(center, node.center), &bvh.multipoles[index as usize]));
            }
        }
        let (near, error) = near.total();
        (sum_of_multipoles(&far) + near, error)
    }
}

struct Numbers<'a> {
    bvh: &'a LoopBvh,
    nodes: &'a [u32],
    points: &'a [Point],
    tolerance: f64,
}

impl WithSimd for Numbers<'_> {
    type Output = ([f64; LANES], f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { bvh, nodes, points, tolerance } = self;
        // Unused lanes repeat the first point.
        let mut at = splats(&points[0]);
        for (lane, p) in points.iter().enumerate() {
            at.iter_mut().zip(p).for_each(|(at, &c)| at.0[lane] = c);
        }
        let mut near: [ComplexProduct; LANES] = Default::default();
        let (mut far, mut error) = (Lanes::default(), 0.0);
        let mut stack = nodes.to_vec();
        while let Some(index) = stack.pop() {
            let node = bvh.node(index);
            let from_center = minus(at, splats(&node.center));
            let distance = dot(from_center, from_center).least().sqrt();
            if let Some(node_error) = node.approximation(points, distance, tolerance) {
                far = far + bvh.multipoles[index as usize].at(from_center);
                error += node_error;
                continue;
            }
            for edges in bvh.edges_of(node) {
                for (product, &p) in near.iter_mut().zip(points) {
                    edges.multiply_into(p, product);
                }
            }
            stack.extend(node.children.into_iter().flatten());
        }
        let mut numbers = far.0;
        for (number, product) in numbers.iter_mut().zip(near) {
            *number += product.winding_number();
        }
        (numbers, error)
    }
}

/// A closed loop of at most [`MAX_LOOP_EDGES`] edges.
struct Loop {
    /// The first point is also the last.
    points: Vec<Point>,
    bounds: PointBox,
    key: u64,
}

impl Loop {
    fn new(points: Vec<Point>) -> Self {
        Self { bounds: PointBox::of(points.iter().copied()), points, key: 0 }
    }

    /// Splits a loop into loops of at most [`MAX_LOOP_EDGES`] edges: its parts, each closed by a
    /// chord, and the loop of the reversed chords, split likewise.
    fn split(points: &[[i32; 3]]) -> Vec<Self> {
        let mut points: Vec<Point> = points.iter().map(|point| point.map(f64::from)).collect();
        let mut loops = Vec::new();
        while points.len() - 1 > MAX_LOOP_EDGES {
            let mut chords = vec![points[0]];
            for start in (0..points.len() - 1).step_by(MAX_LOOP_EDGES - 1) {
                let mut part = points[start..points.len().min(start + MAX_LOOP_EDGES)].to_vec();
                let (first, last) = (part[0], part[part.len() - 1]);
                if first != last {
                    chords.push(last);
                    part.push(first);
                }
                if part.len() > 3 {
                    loops.push(Self::new(part));
                }
            }
            points = chords;
        }
        // The edges of a loop of two cancel.
        if points.len() > 3 {
            loops.push(Self::new(points));
        }
        loops
    }

    /// Sets the sort key ([`morton::key`]), with cells relative to `lo`.
    fn set_key(&mut self, lo: Point) {
        // Coordinates differ by less than 2^25, and Morton codes have 19 bits per axis.
        let cell = minus(self.bounds.center(), lo).map(|c| c as u64 >> 6);
        self.key = morton::key(self.bounds.diagonal() as u64, cell);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fastrand::Rng;

    use super::*;
    use crate::base::vector::plus;
    use crate::solid::fill::closed;

    /// Small loops near each other, and a few large ones of up to 400 points.
    fn any_loops(rng: &mut Rng) -> Vec<Vec<[i32; 3]>> {
        (0..rng.usize(1..200))
            .map(|index| {
                let (count, size) = match index {
                    0..3 => (rng.usize(3..400), 1 << rng.i32(4..16)),
                    _ => (rng.usize(3..9), 1 << rng.i32(4..8)),
                };
                let corner = [(); 3].map(|()| 16 * rng.i32(-400..400));
                closed((0..count).map(|_| corner.map(|c| c + rng.i32(0..=size))))
            })
            .collect()
    }

    /// The sum over loops, edge by edge.
    fn brute(loops: &[Vec<[i32; 3]>], p: Point) -> f64 {
        let mut product = ComplexProduct::default();
        for points in loops {
            let points: Vec<Point> = points.iter().map(|point| point.map(f64::from)).collect();
            points.windows(2).for_each(|ends| Edges::new(&[ends]).multiply_into(p, &mut product));
        }
        product.winding_number()
    }

    fn any_point(rng: &mut Rng) -> Point {
        [(); 3].map(|()| f64::from(16 * rng.i32(-600..600) + 8))
    }

    /// The nodes and all their descendants.
    fn with_descendants(bvh: &LoopBvh, nodes: &[u32]) -> Vec<u32> {
        let mut all = nodes.to_vec();
        let mut at = 0;
        while at < all.len() {
            all.extend(bvh.node(all[at]).children.into_iter().flatten());
            at += 1;
        }
        all
    }

    /// The memory of the lists in `bvh`, and of the loops that they are made from.
    fn allocated(bvh: &LoopBvh, loops: &[Loop]) -> u64 {
        let LoopBvh { nodes, multipoles, edges, arch: _ } = bvh;
        let points: usize = loops.iter().map(|each| each.points.capacity()).sum();
        let bytes = nodes.capacity() * size_of::<Node>()
            + multipoles.capacity() * size_of::<Multipoles>()
            + edges.capacity() * size_of::<Edges>()
            + size_of_val(loops)
            + loops.len() * 2 * size_of::<u64>()
            + points * size_of::<Point>();
        bytes as u64
    }

    #[test]
    fn memory_is_bounded_by_the_number_of_edges() {
        let ring = |count: i32, at: i32| closed((0..count).map(|i| [at, i % 50, i / 50]));
        // Lists of 1025 have just grown.
        for (count, loops) in
            [(3, 1), (3, 1025), (3, 2000), (4, 1000), (9, 500), (64, 100), (65, 100)]
                .into_iter()
                .chain([(127, 50), (190, 50), (4000, 3), (4096, 1)])
        {
            let boundary: Vec<_> = (0..loops).map(|at| ring(count, 100 * at)).collect();
            let split: Vec<Loop> = boundary.iter().flat_map(|points| Loop::split(points)).collect();
            let needed = allocated(&LoopBvh::new(&boundary), &split);
            let bound = LoopBvh::bytes((count * loops) as usize);
            assert!(needed <= bound, "{count}, {loops}: {needed}, {bound}");
            assert!(loops < 100 || bound < 8 * needed, "{count}, {loops}: {needed}, {bound}");
        }
    }

    #[test]
    fn a_long_loop_is_split_and_its_chords_cancel() {
        let mut rng = Rng::with_seed(26);
        for count in (3..600).chain([4095, 4096, 4097, 5000]) {
            // A figure of eight in some.
            let range = if count % 2 == 0 { 1 << 20 } else { 40 };
            let points = closed((0..count).map(|_| [(); 3].map(|()| rng.i32(0..range))));
            let mut edges = BTreeMap::new();
            let mut add = |[u, v]: [[i32; 3]; 2], times: i32| {
                let (ends, sign) = if u < v { ([u, v], 1) } else { ([v, u], -1) };
                *edges.entry(ends).or_insert(0) += sign * times;
            };
            points.windows(2).for_each(|ends| add([ends[0], ends[1]], -1));
            let loops = Loop::split(&points);
            for Loop { points: part, .. } in &loops {
                assert!(part[0] == part[part.len() - 1], "{count}");
                assert!((4..=MAX_LOOP_EDGES + 1).contains(&part.len()), "{count}: {}", part.len());
                let integer = |point: Point| point.map(|c| c as i32);
                part.windows(2).for_each(|ends| add([integer(ends[0]), integer(ends[1])], 1));
            }
            assert!(edges.iter().all(|([u, v], &times)| times == 0 || u == v), "{count}");
            assert!(
                points.len() > MAX_LOOP_EDGES + 1 || points.len() < 4 || loops.len() == 1,
                "{count}"
            );
        }
    }

    #[test]
    fn the_number_of_the_root_is_as_near_to_the_sum_over_all_edges_as_its_bound_says() {
        let mut rng = Rng::with_seed(22);
        let (mut divided, mut replaced, mut largest) = (0, 0, 0.0_f64);
        for _ in 0..200 {
            let loops = any_loops(&mut rng);
            let bvh = LoopBvh::new(&loops);
            divided += loops.iter().filter(|points| points.len() > MAX_LOOP_EDGES + 1).count();
            let root = bvh.root();
            for _ in 0..10 {
                let p = any_point(&mut rng);
                let expected = brute(&loops, p);
                for limit in [0.0, 1e-2, 1e-4, 1e-6] {
                    let (found, error) = bvh.winding_number(&root, p, limit);
                    assert!(error <= limit * bvh.nodes.len() as f64, "{error}, {limit}");
                    let off = (found - expected).abs();
                    assert!(off <= error + 1e-9, "{found}, {expected}, {error}");
                    replaced += u32::from(error > 0.0);
                    largest = largest.max((off - 1e-9) / error.max(1e-9));
                }
            }
        }
        assert!(divided > 50 && replaced > 1000 && largest > 0.01, "{replaced}, {largest}");
        assert!(LoopBvh::new(&[]).root().is_empty());
        // There and back: the edges cancel.
        assert!(LoopBvh::new(&[vec![[0; 3], [1; 3], [0; 3]]]).root().is_empty());
    }

    #[test]
    fn polynomials_of_nodes_are_as_near_as_their_bounds_say() {
        let mut rng = Rng::with_seed(23);
        let mut bounded = [0; 2];
        for _ in 0..200 {
            let bvh = LoopBvh::new(&any_loops(&mut rng));
            let nodes = with_descendants(&bvh, &bvh.root());
            for _ in 0..20 {
                let node = nodes[rng.usize(0..nodes.len())];
                let (center, radius) = (any_point(&mut rng), f64::from(1 << rng.i32(3..12)));
                let [lo, hi] = [-radius, radius].map(|r| center.map(|c| c + r));
                let errors = bvh.node(node).errors(center, radius);
                if errors.sum() > 0.1 || bvh.rays_may_hit(node, &PointBox { lo, hi }) {
                    continue;
                }
                bounded[usize::from(bvh.node(node).children.is_some())] += 1;
                let (taylor, _) = bvh.expand(&[node], center, radius);
                for _ in 0..10 {
                    let direction = [(); 3].map(|()| rng.f64() - 0.5);
                    let x = rng.f64();
                    let h = direction.map(|c| c * x * radius / norm(direction));
                    let exact = bvh.winding_number(&[node], plus(center, h), 0.0).0;
                    let off = (taylor.at(h) - exact).abs();
                    let bound = errors.taylor * x * x * x + errors.multipoles;
                    assert!(off <= bound + 1e-9, "{off}, {bound}: {:?}", bvh.node(node));
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
            // The terms of degree 3 and higher. Those above 900 are below the rounding error.
            (3..900).rev().map(|k| x.powi(k) * of(f64::from(k))).sum::<f64>()
        };
        for round in 0..1000 {
            let mut loops = any_loops(&mut rng);
            if round % 2 == 0 {
                // Few large ones, near which bounds by length are less.
                loops.truncate(3);
            }
            let bvh = LoopBvh::new(&loops);
            let node = bvh.root()[0];
            let away = f64::from(rng.i32(1..20));
            let (center, radius) =
                (any_point(&mut rng).map(|c| c * away), f64::from(1 << rng.i32(3..18)));
            let PointBox { lo, hi } =
                PointBox::of(loops.iter().flatten().map(|point| point.map(f64::from)));
            let nearest = [0, 1, 2].map(|a| center[a].clamp(lo[a], hi[a]));
            let distance = norm(minus(nearest, center));
            let errors = bvh.node(node).errors(center, radius);
            assert_eq!(errors.sum(), errors.taylor + errors.multipoles);
            let x = radius / distance;
            if x >= 1.0 {
                assert_eq!(errors.taylor, f64::INFINITY);
                none += 1;
                continue;
            }
            // Chords make both larger.
            let Node { length, area, .. } = *bvh.node(node);
            let edges: f64 = loops
                .iter()
                .flat_map(|points| points.windows(2))
                .map(|ends| norm(minus(ends[1].map(f64::from), ends[0].map(f64::from))))
                .sum();
            assert!(length > edges * (1.0 - 1e-12) && area > 0.0);
            let middle = [0, 1, 2].map(|a| 0.5 * (lo[a] + hi[a]));
            let away = norm(minus(middle, center)) - radius;
            let radius_of_node = 0.5 * norm(minus(hi, lo));
            if x < 0.95 && radius_of_node / away < 0.95 && bvh.node(node).children.is_some() {
                let by_length = series(x, &|_| length / distance);
                let by_area = series(x, &|k| (k + 1.0) * area / distance.powi(2));
                *(if by_length < by_area { &mut as_length } else { &mut as_dipole }) += 1;
                let expected = by_length.min(by_area) / (2.0 * TAU);
                assert!((errors.taylor / expected - 1.0).abs() < 1e-9, "{errors:?}, {expected}");
                let expected = series(radius_of_node / away, &|k| (k + 1.0) * area / away.powi(2))
                    / (2.0 * TAU);
                assert!((errors.multipoles / expected - 1.0).abs() < 1e-9, "{errors:?}");
            }
            assert!(
                away > radius_of_node
                    || errors.multipoles == f64::INFINITY
                    || bvh.node(node).children.is_none()
            );
        }
        let counts = [as_length, as_dipole, none];
        assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
    }

    #[test]
    fn edges_with_rays_in_a_box_have_the_jumps_of_all_edges() {
        let mut rng = Rng::with_seed(25);
        let mut jumps = 0;
        for _ in 0..600 {
            let loops = any_loops(&mut rng);
            let bvh = LoopBvh::new(&loops);
            let root = bvh.root();
            let lo = any_point(&mut rng);
            let target = PointBox { lo, hi: lo.map(|c| c + f64::from(16 << rng.i32(0..7))) };
            let edges = bvh.edges_with_rays_in(&root, &target);
            let is_hit =
                |&node: &u32| bvh.node(node).children.is_none() && bvh.rays_may_hit(node, &target);
            assert_eq!(!edges.is_empty(), with_descendants(&bvh, &root).iter().any(is_hit));
            // Past all loops, so that no edge is between the points.
            let past = f64::from(1 << 17);
            let [p, q] = [target.lo, target.hi].map(|[_, y, z]| [past, y, z]);
            let jump = |edges: &[Edge]| edges.iter().map(|edge| edge.jump(p, q)).sum::<f64>();
            let found = jump(&edges);
            let (before, after) = (brute(&loops, p), brute(&loops, q));
            let plane = PointBox { lo: [past, f64::MIN, f64::MIN], hi: [past, f64::MAX, f64::MAX] };
            let all = jump(&bvh.edges_with_rays_in(&root, &plane));
            let near = jump(&bvh.edges_with_rays_in(&root, &PointBox { lo: p, hi: q }));
            assert_eq!(all, near);
            assert!((after - before - all).abs() < 0.2, "{after}, {before}, {all}");
            jumps += u32::from(found != 0.0);
        }
        assert!(jumps > 10, "{jumps}");
    }
}
