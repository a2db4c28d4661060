//! Matches the half-edges of triangles: finds all edges, and how often each is traversed in either
//! direction.
//!
//! A half-edge belongs to the lower of its two vertices. The vertices are divided into parts;
//! within a part a counting sort groups the half-edges by vertex, rising ones (from it) before
//! falling ones (to it). Both lists, which are short, are sorted by the other vertex and merged.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::base::forest::Forest;
use crate::lattice::{PlacedMesh, normal};
use crate::solid::topology::bins::{Bins, NO_BIN, part_bits};
use crate::solid::topology::boundary::BoundaryEdge;
use crate::solid::topology::wedges::{self, Leaf};
use crate::solid::topology::weld::Weld;
use crate::solid::topology::{Edge, Topology};

/// Counts of edges.
#[derive(Default)]
pub(super) struct EdgeCounts {
    /// Three per triangle that counts.
    pub(super) half_edges: u64,
    /// The numbers of edges are set, the rest by `Topology::matched`.
    pub(super) topology: Topology,
    /// The number of unions of two shells.
    pub(super) joins: u64,
    /// The lowest of the worst edges.
    pub(super) worst: Option<(Fault, Edge)>,
    /// The number of unbalanced edges, with their multiplicities.
    pub(super) boundary_edges: u64,
    /// The unbalanced edges, in any order; incomplete if they are more than the maximum.
    pub(super) boundary: Vec<BoundaryEdge>,
}

/// The kinds of unbalanced edges, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Open,
    Odd,
    Unbalanced,
}

impl EdgeCounts {
    /// Counts an edge that `rising` triangles traverse in one direction and `falling` in the other.
    /// If it is on the boundary, `keep` decides by its multiplicity whether to keep it.
    fn add(
        &mut self,
        [rising, falling]: [usize; 2],
        edge: impl FnOnce() -> Edge,
        keep: impl FnOnce(u64) -> bool,
    ) {
        let triangles = rising + falling;
        self.half_edges += triangles as u64;
        let topology = &mut self.topology;
        topology.edges += 1;
        topology.non_manifold_edges += u64::from(triangles > 2);
        if rising == falling {
            return;
        }
        let fault = match triangles {
            1 => Fault::Open,
            odd if odd % 2 == 1 => Fault::Odd,
            _ => Fault::Unbalanced,
        };
        topology.unbalanced_edges += 1;
        topology.inconsistent_edges += u64::from(triangles == 2);
        topology.odd_edges += u64::from(fault != Fault::Unbalanced);
        topology.open_edges += u64::from(fault == Fault::Open);
        let edge = edge();
        self.worst =
            lowest(self.worst, Some((fault, [edge[0].min(edge[1]), edge[0].max(edge[1])])));
        let times = rising.abs_diff(falling) as u64;
        self.boundary_edges += times;
        if keep(times) {
            self.boundary.push((edge, rising as i32 - falling as i32));
        }
    }

    fn merged(mut self, mut other: Self) -> Self {
        let (sum, more) = (&mut self.topology, other.topology);
        sum.edges += more.edges;
        sum.open_edges += more.open_edges;
        sum.non_manifold_edges += more.non_manifold_edges;
        sum.inconsistent_edges += more.inconsistent_edges;
        sum.odd_edges += more.odd_edges;
        sum.unbalanced_edges += more.unbalanced_edges;
        self.half_edges += other.half_edges;
        self.joins += other.joins;
        self.worst = lowest(self.worst, other.worst);
        self.boundary_edges += other.boundary_edges;
        self.boundary.append(&mut other.boundary);
        self
    }
}

fn lowest<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    [one, other].into_iter().flatten().min()
}

/// Two triangles at an edge, and whether they traverse it in the same direction.
pub(super) type Pair = (u32, u32, bool);

/// The triangles of a mesh, by the parts that own their edges.
pub(in crate::solid) struct Matching<'a> {
    pub(super) mesh: &'a PlacedMesh,
    weld: Weld,
    part_bits: u32,
    /// Whether each triangle is left out with a shell without area; `None` if no triangle may be.
    is_left_out: Option<Vec<bool>>,
    bins: Bins,
    /// The roots are the lowest triangles of the shells, once all half-edges are matched.
    pub(super) shells: Forest,
}

impl<'a> Matching<'a> {
    pub(in crate::solid) fn new(mesh: &'a PlacedMesh) -> Self {
        let all = Self::of(mesh, Weld::new(mesh.vertices()), None);
        let has_area = |index: usize| normal(&mesh.triangle(index)) != [0; 3];
        let is_sliver = |index| all.counts(index) && !has_area(index);
        if !(0..mesh.len()).into_par_iter().any(is_sliver) {
            return all;
        }
        // Joins the triangles of each shell.
        all.tally(0);
        let mut is_left_out = vec![true; mesh.len()];
        for index in (0..mesh.len()).filter(|&index| has_area(index)) {
            is_left_out[all.shells.root(index as u32) as usize] = false;
        }
        for index in 0..mesh.len() {
            is_left_out[index] = is_left_out[all.shells.root(index as u32) as usize];
        }
        let Self { weld, bins, shells, .. } = all;
        drop((bins, shells));
        Self::of(mesh, weld, Some(is_left_out))
    }

    fn of(mesh: &'a PlacedMesh, weld: Weld, is_left_out: Option<Vec<bool>>) -> Self {
        let part_bits = part_bits(mesh.vertices().len());
        let parts_of = |triangle: u32| {
            let is_left_out = is_left_out.as_ref().is_some_and(|all| all[triangle as usize]);
            match Rising::of(weld.triangle(mesh.indices()[triangle as usize])) {
                Some(Rising { low, middle, .. }) if !is_left_out => {
                    let [low, middle] = [low, middle].map(|vertex| (vertex >> part_bits) as u16);
                    [low, if middle == low { NO_BIN } else { middle }]
                }
                _ => [NO_BIN; 2],
            }
        };
        let bins = Bins::new(mesh.len(), part_count(mesh.vertices().len()), parts_of);
        Self { mesh, weld, part_bits, is_left_out, bins, shells: Forest::new(mesh.len()) }
    }

    /// Whether a triangle is not collapsed, and of a shell that has an area.
    pub(super) fn counts(&self, index: usize) -> bool {
        let is_left_out = self.is_left_out.as_ref().is_some_and(|all| all[index]);
        !is_left_out && Rising::of(self.weld.triangle(self.mesh.indices()[index])).is_some()
    }

    /// Matches all half-edges; keeps at most `max_edges` of the boundary.
    pub(super) fn tally(&self, max_edges: u64) -> EdgeCounts {
        let count = AtomicU64::new(0);
        let keep = |times: u64| count.fetch_add(times, Relaxed) + times <= max_edges;
        let of_part = |part| {
            let mut tally = EdgeCounts::default();
            self.for_each_edge(part, |ends, rising, falling| {
                tally.add([rising.len(), falling.len()], || self.edge(ends), keep);
                tally.joins += self.join(rising.iter().chain(falling));
            });
            tally
        };
        self.parts().map(of_part).reduce(EdgeCounts::default, EdgeCounts::merged)
    }

    /// The lowest triangle of the component of each triangle through pairs, of an oriented mesh.
    /// At edges of more than two triangles, those that are connected elsewhere pair first.
    pub(super) fn paired_shells(&self) -> Vec<u32> {
        let shells = Forest::new(self.mesh.len());
        let join = |(one, other, _): Pair| {
            shells.join(one, other);
        };
        self.pairs(|_, leaves| wedges::pair_connected(leaves, &join), join);
        let connected = shells.roots();
        let pair = |edge, mut leaves: Vec<Leaf>| {
            for leaf in &mut leaves {
                leaf.group = connected[leaf.triangle as usize].into();
            }
            wedges::pair(edge, leaves, &join)
        };
        self.pairs(pair, join);
        shells.roots()
    }

    /// Visits the pairs of triangles at all edges: the two triangles of an edge, or the pairs among
    /// more ([`wedges`]); returns the number of half-edges without a pair. An oriented mesh has
    /// none, and all its pairs are of one orientation.
    pub(super) fn for_each_pair(&self, visit: impl Fn(Pair) + Sync) -> u64 {
        self.pairs(|edge, leaves| wedges::pair(edge, leaves, &visit), &visit)
    }

    fn parts(&self) -> impl ParallelIterator<Item = usize> {
        (0..part_count(self.mesh.vertices().len())).into_par_iter()
    }

    /// Visits the pairs at edges of two triangles, and calls `pair` with the leaves at every other
    /// edge; it returns the number of leaves without a pair. Returns the number of half-edges
    /// without a pair.
    fn pairs(
        &self,
        pair: impl Fn(Edge, Vec<Leaf>) -> u64 + Sync,
        visit: impl Fn(Pair) + Sync,
    ) -> u64 {
        let of_part = |part| {
            let mut unpaired = 0;
            self.for_each_edge(part, |ends, rising, falling| match (rising, falling) {
                ([one, other], []) | ([], [one, other]) => {
                    visit((one.triangle(), other.triangle(), true));
                }
                ([one], [other]) => visit((one.triangle(), other.triangle(), false)),
                ([_], []) | ([], [_]) => unpaired += 1,
                _ => {
                    let rising = rising.iter().map(|one| self.leaf(one.triangle(), ends, true));
                    let falling = falling.iter().map(|one| self.leaf(one.triangle(), ends, false));
                    unpaired += pair(self.edge(ends), rising.chain(falling).collect());
                }
            });
            unpaired
        };
        self.parts().map(of_part).sum()
    }

    /// The edge between two vertices.
    fn edge(&self, ends: [u32; 2]) -> Edge {
        ends.map(|vertex| self.mesh.vertices()[vertex as usize])
    }

    /// A triangle at the edge between two welded vertices.
    fn leaf(&self, triangle: u32, ends: [u32; 2], is_rising: bool) -> Leaf {
        let vertices = self.mesh.indices()[triangle as usize];
        let welded = self.weld.triangle(vertices);
        let at = |end: u32| welded.iter().position(|&vertex| vertex == end).unwrap_or(0);
        let [low, high] = ends.map(at);
        Leaf {
            triangle,
            is_rising,
            group: u64::from(vertices[low]) << 32 | u64::from(vertices[high]),
            apex: self.mesh.vertices()[vertices[3 - low - high] as usize],
        }
    }

    /// Unites the shells of all triangles at an edge; returns the number of unions.
    fn join<'h>(&self, half_edges: impl Iterator<Item = &'h HalfEdge>) -> u64 {
        let mut triangles = half_edges.map(HalfEdge::triangle);
        let first = triangles.next();
        let join = |other| first.is_some_and(|first| self.shells.join(first, other));
        triangles.filter(|&other| join(other)).count() as u64
    }

    /// Visits each edge of a part: its vertices, the lower one first, and the half-edges that rise
    /// from the lower one and that fall to it.
    fn for_each_edge(
        &self,
        part: usize,
        mut visit: impl FnMut([u32; 2], &[HalfEdge], &[HalfEdge]),
    ) {
        let first = part << self.part_bits;
        let vertices = (self.mesh.vertices().len() - first).min(1 << self.part_bits);
        // The ends of the rising and of the falling half-edges of each vertex.
        let mut ends = vec![0; 2 * vertices];
        self.half_edges(part, |star, falls, _| ends[2 * star + usize::from(falls)] += 1);
        let count = ends.iter_mut().fold(0, |sum, end| sum + std::mem::replace(end, sum));
        let mut half_edges = vec![HalfEdge::default(); count];
        self.half_edges(part, |star, falls, half_edge| {
            let end = &mut ends[2 * star + usize::from(falls)];
            half_edges[*end] = half_edge;
            *end += 1;
        });
        let (mut rest, mut start) = (&mut half_edges[..], 0);
        let mut next = |end: usize| {
            let these = rest.split_off_mut(..end - start).expect("as long as its parts");
            start = end;
            these
        };
        for (low, ends) in (first as u32..).zip(ends.chunks_exact(2)) {
            let (rising, falling) = (next(ends[0]), next(ends[1]));
            merge(rising, falling, |high, rising, falling| visit([low, high], rising, falling));
        }
    }

    /// Visits the half-edges of a part: the index of the lower vertex in the part, whether the
    /// half-edge falls, and the half-edge.
    fn half_edges(&self, part: usize, mut visit: impl FnMut(usize, bool, HalfEdge)) {
        let in_part = |vertex: u32| (vertex >> self.part_bits) as usize == part;
        let star = |vertex: u32| vertex as usize - (part << self.part_bits);
        for triangle in self.bins.bin(part) {
            let corners = self.weld.triangle(self.mesh.indices()[triangle as usize]);
            let Some(Rising { low, middle, high, is_reversed }) = Rising::of(corners) else {
                continue;
            };
            if in_part(low) {
                visit(star(low), is_reversed, HalfEdge::new(middle, triangle));
                visit(star(low), !is_reversed, HalfEdge::new(high, triangle));
            }
            if in_part(middle) {
                visit(star(middle), is_reversed, HalfEdge::new(high, triangle));
            }
        }
    }
}

fn part_count(vertices: usize) -> usize {
    vertices.div_ceil(1 << part_bits(vertices))
}

/// Maximum memory of matching, in bytes: each triangle in at most two bins and in one shell, three
/// half-edges per triangle, two ends per vertex if all parts are processed at once, and whether
/// each triangle is left out.
pub(super) fn bytes(vertices: usize, triangles: usize) -> u64 {
    let ends = 2 * size_of::<usize>() * vertices;
    let half_edges = 3 * size_of::<HalfEdge>() * triangles;
    Bins::bytes(triangles, 2, part_count(vertices))
        + Forest::bytes(triangles)
        + (ends + half_edges + triangles) as u64
}

/// The corners of a triangle in ascending order.
struct Rising {
    low: u32,
    middle: u32,
    high: u32,
    /// Whether the triangle traverses them in the opposite direction.
    is_reversed: bool,
}

impl Rising {
    /// `None` if two of the corners are equal.
    #[inline]
    fn of([a, b, c]: [u32; 3]) -> Option<Self> {
        if a == b || b == c || c == a {
            return None;
        }
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let is_reversed = (a > b) ^ (b > c) ^ (a > c);
        Some(Self { low, middle: a ^ b ^ c ^ low ^ high, high, is_reversed })
    }
}

/// The higher vertex of a half-edge, by which it is ordered, and its triangle.
#[derive(Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HalfEdge(u64);

impl HalfEdge {
    fn new(high: u32, triangle: u32) -> Self {
        Self(u64::from(high) << 32 | u64::from(triangle))
    }

    fn high(&self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn triangle(&self) -> u32 {
        self.0 as u32
    }
}

/// Visits each edge of a vertex: the other vertex, and the half-edges in both directions.
fn merge(
    rising: &mut [HalfEdge],
    falling: &mut [HalfEdge],
    mut visit: impl FnMut(u32, &[HalfEdge], &[HalfEdge]),
) {
    rising.sort_unstable();
    falling.sort_unstable();
    let (mut rising, mut falling) = (&rising[..], &falling[..]);
    while let Some(next) = lowest(rising.first(), falling.first()) {
        let high = next.high();
        let (up, down);
        (up, rising) = split_run(rising, high);
        (down, falling) = split_run(falling, high);
        visit(high, up, down);
    }
}

/// Splits off the first `half_edges` that end at `high`.
fn split_run(half_edges: &[HalfEdge], high: u32) -> (&[HalfEdge], &[HalfEdge]) {
    let run = half_edges.iter().take_while(|half_edge| half_edge.high() == high).count();
    half_edges.split_at(run)
}
