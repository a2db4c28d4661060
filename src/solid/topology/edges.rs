//! Matches the half-edges of triangles: finds all edges, and how often each is traversed in either
//! direction.
//!
//! A half-edge belongs to the lower of its two vertices. The vertices are divided into parts;
//! within a part a counting sort groups the half-edges by vertex, rising ones (from it) before
//! falling ones (to it). Both lists, which are short, are sorted by the other vertex and merged.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::base::forest::Forest;
use crate::lattice::PlacedMesh;
use crate::solid::topology::Edge;
use crate::solid::topology::bins::{Bins, NO_BIN, part_bits};
use crate::solid::topology::boundary::BoundaryEdge;
use crate::solid::topology::patches::normal;
use crate::solid::topology::wedges::{self, Leaf};
use crate::solid::topology::weld::Weld;

/// Counts of edges.
#[derive(Default)]
pub(super) struct EdgeCounts {
    /// Three per triangle that counts.
    pub(super) half_edges: u64,
    pub(super) edges: u64,
    pub(super) open: u64,
    pub(super) non_manifold: u64,
    pub(super) inconsistent: u64,
    pub(super) odd: u64,
    pub(super) unbalanced: u64,
    /// The number of unions of two shells.
    pub(super) joins: u64,
    /// The lowest of the worst edges.
    pub(super) worst: Option<(Fault, Edge)>,
    /// The number of unbalanced edges, with their multiplicities.
    pub(super) boundary_edges: u64,
    /// These edges, in any order; incomplete if they are more than the maximum.
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
        self.edges += 1;
        self.non_manifold += u64::from(triangles > 2);
        if rising == falling {
            return;
        }
        let fault = match triangles {
            1 => Fault::Open,
            odd if odd % 2 == 1 => Fault::Odd,
            _ => Fault::Unbalanced,
        };
        self.unbalanced += 1;
        self.inconsistent += u64::from(triangles == 2);
        self.odd += u64::from(fault != Fault::Unbalanced);
        self.open += u64::from(fault == Fault::Open);
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
        self.boundary.append(&mut other.boundary);
        Self {
            half_edges: self.half_edges + other.half_edges,
            edges: self.edges + other.edges,
            open: self.open + other.open,
            non_manifold: self.non_manifold + other.non_manifold,
            inconsistent: self.inconsistent + other.inconsistent,
            odd: self.odd + other.odd,
            unbalanced: self.unbalanced + other.unbalanced,
            joins: self.joins + other.joins,
            worst: lowest(self.worst, other.worst),
            boundary_edges: self.boundary_edges + other.boundary_edges,
            boundary: self.boundary,
        }
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
    shells: Forest,
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
        self.parts()
            .map(|part| self.tally_part(part, keep))
            .reduce(EdgeCounts::default, EdgeCounts::merged)
    }

    fn tally_part(&self, part: usize, keep: impl Fn(u64) -> bool) -> EdgeCounts {
        let mut stars = Stars::of(self, part);
        let mut tally = EdgeCounts::default();
        let points = self.mesh.vertices();
        let first = part << self.part_bits;
        stars.for_each(|star, [rising, falling]| {
            let low = first + star;
            merge(rising, falling, |high, rising, falling| {
                let edge = || [points[low], points[high as usize]];
                tally.add([rising.len(), falling.len()], edge, &keep);
                tally.joins += self.join(rising.iter().chain(falling));
            });
        });
        tally
    }

    /// The lowest triangle of the shell of each triangle, once all half-edges are matched.
    pub(super) fn shells(&self) -> Vec<u32> {
        self.shells.roots()
    }

    /// The lowest triangle of the component of each triangle through pairs, of an oriented mesh.
    /// At edges of more than two triangles, those that are connected elsewhere pair first.
    pub(super) fn paired_shells(&self) -> Vec<u32> {
        let shells = Forest::new(self.mesh.len());
        let join = |(one, other, _): Pair| {
            shells.join(one, other);
        };
        self.parts().for_each(|part| {
            let pair = |_, leaves| wedges::pair_connected(leaves, &mut |pair| join(pair));
            self.pairs_of_part(part, pair, join);
        });
        let connected = shells.roots();
        self.parts().for_each(|part| {
            let pair = |edge, mut leaves: Vec<Leaf>| {
                for leaf in &mut leaves {
                    leaf.group = connected[leaf.triangle as usize].into();
                }
                wedges::pair(edge, leaves, &mut |pair| join(pair))
            };
            self.pairs_of_part(part, pair, join);
        });
        shells.roots()
    }

    /// Visits the pairs of triangles at all edges: the two triangles of an edge, or the pairs among
    /// more ([`wedges`]); returns the number of half-edges without a pair. An oriented mesh has
    /// none, and all its pairs are of one orientation.
    pub(super) fn for_each_pair(&self, visit: impl Fn(Pair) + Sync) -> u64 {
        let of_part = |part| {
            let pair = |edge, leaves| wedges::pair(edge, leaves, &mut |pair| visit(pair));
            self.pairs_of_part(part, pair, &visit)
        };
        self.parts().map(of_part).sum()
    }

    fn parts(&self) -> impl ParallelIterator<Item = usize> {
        (0..part_count(self.mesh.vertices().len())).into_par_iter()
    }

    /// Visits the pairs at edges of two triangles in a part, and calls `pair` with the leaves at
    /// every other edge; it returns the number of leaves without a pair. Returns the number of
    /// half-edges without a pair.
    fn pairs_of_part(
        &self,
        part: usize,
        mut pair: impl FnMut(Edge, Vec<Leaf>) -> u64,
        mut visit: impl FnMut(Pair),
    ) -> u64 {
        let mut unpaired = 0;
        let first = part << self.part_bits;
        Stars::of(self, part).for_each(|star, [rising, falling]| {
            merge(rising, falling, |high, rising, falling| match (rising, falling) {
                ([one, other], []) | ([], [one, other]) => {
                    visit((one.triangle(), other.triangle(), true));
                }
                ([one], [other]) => visit((one.triangle(), other.triangle(), false)),
                ([_], []) | ([], [_]) => unpaired += 1,
                _ => {
                    let leaf = |half_edge: &HalfEdge, is_rising| {
                        let ends = [(first + star) as u32, high];
                        self.leaf(half_edge.triangle(), ends, is_rising)
                    };
                    let rising = rising.iter().map(|half_edge| leaf(half_edge, true));
                    let falling = falling.iter().map(|half_edge| leaf(half_edge, false));
                    let points = self.mesh.vertices();
                    let edge = [points[first + star], points[high as usize]];
                    unpaired += pair(edge, rising.chain(falling).collect());
                }
            });
        });
        unpaired
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
/// half-edges per triangle, two ends per vertex if all parts are processed at once, and whether each
/// triangle is left out.
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

/// The half-edges of a part, grouped by vertex.
struct Stars {
    half_edges: Vec<HalfEdge>,
    /// The ends of the rising and of the falling half-edges of each vertex.
    ends: Vec<usize>,
}

impl Stars {
    fn of(matching: &Matching, part: usize) -> Self {
        let vertices = matching.mesh.vertices().len() - (part << matching.part_bits);
        let mut ends = vec![0; 2 * vertices.min(1 << matching.part_bits)];
        matching.half_edges(part, |star, falls, _| ends[2 * star + usize::from(falls)] += 1);
        let count = ends.iter_mut().fold(0, |sum, end| sum + std::mem::replace(end, sum));
        let mut half_edges = vec![HalfEdge::default(); count];
        matching.half_edges(part, |star, falls, half_edge| {
            let end = &mut ends[2 * star + usize::from(falls)];
            half_edges[*end] = half_edge;
            *end += 1;
        });
        Self { half_edges, ends }
    }

    /// Visits each vertex with its rising and falling half-edges.
    fn for_each(&mut self, mut visit: impl FnMut(usize, [&mut [HalfEdge]; 2])) {
        let (mut rest, mut start) = (&mut self.half_edges[..], 0);
        let mut next = |end: usize| {
            let these = rest.split_off_mut(..end - start).expect("as long as its parts");
            start = end;
            these
        };
        for (star, ends) in self.ends.chunks_exact(2).enumerate() {
            visit(star, [next(ends[0]), next(ends[1])]);
        }
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
