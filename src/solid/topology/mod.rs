//! The topology of a placed mesh: its shells, whether it is closed and oriented, its volume and
//! area. Solid fills depend on these facts, so they are exact: they are computed on the lattice,
//! from the same triangles that the columns cross.
//!
//! 1. Vertices are welded by lattice point: files repeat vertices per group or face, and vertices
//!    that rounding made equal are one vertex to every predicate.
//! 2. Half-edges are matched. Each edge belongs to the lower of its two vertices; the vertices are
//!    divided into parts that fit into a core's cache.
//! 3. Triangles that share an edge are joined into shells.
//! 4. Volume and area are sums of integers, so they do not depend on the order.
//!
//! # What counts
//!
//! A triangle with two corners at one lattice point is *collapsed*, and is left out: its edges
//! cancel. A triangle without area but with three distinct corners counts like any other: such
//! slivers close T-junctions, and without them the edges there would be open. A shell of slivers
//! alone encloses nothing, and is left out. At a T-junction without a sliver all three edges are
//! open, even if the middle vertex lies exactly on the long edge. Duplicate triangles count twice
//! here; a solid counts them once where they hide holes.

mod bins;
mod boundary;
mod edges;
mod measure;
mod nesting;
mod patches;
mod sight;
mod wedges;
mod weld;

use crate::base::vector::minus;
use crate::lattice::PlacedMesh;
pub(super) use crate::solid::topology::boundary::BOUNDARY_EDGE_BYTES;
pub use crate::solid::topology::boundary::{Boundary, MAX_EDGES};
pub(super) use crate::solid::topology::edges::Matching;
pub use crate::solid::topology::patches::FlipStatistics;
pub(super) use crate::solid::topology::patches::{Flips, flips};

use crate::solid::topology::measure::Measure;

/// An upper bound of the memory that rayon takes to distribute the work, in bytes.
const QUEUES: u64 = 64 << 10;

/// An edge by its two lattice points, in ascending order.
pub type Edge = [[i32; 3]; 2];

/// The topology of a placed mesh. All triangles count, inside and outside the grid. The result does
/// not depend on the order of triangles and vertices, nor on the threads.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Topology {
    /// Triangles left out because two of their corners are one lattice point, or because no
    /// triangle of their shell has an area.
    pub collapsed: u64,
    /// Components connected through edges, whatever the number of triangles at an edge. Two cubes
    /// that share an edge are one shell, since the triangles at that edge cannot be told apart; two
    /// that share only a vertex are two shells.
    pub shells: u64,
    /// The number of edges.
    pub edges: u64,
    /// Edges with exactly one triangle.
    pub open_edges: u64,
    /// Edges with more than two triangles.
    pub non_manifold_edges: u64,
    /// Edges with exactly two triangles, which traverse it in the same direction.
    pub inconsistent_edges: u64,
    /// Edges with an odd number of triangles, including open edges.
    pub odd_edges: u64,
    /// Edges that are traversed more often in one direction than in the other: odd and inconsistent
    /// edges, and some edges of several triangles.
    pub unbalanced_edges: u64,
    /// An example: the lowest open edge; else the lowest odd edge; else the lowest unbalanced edge.
    pub example: Option<Edge>,
    /// Six times the volume in cubic lattice units, positive if triangles are counter-clockwise as
    /// seen from outside: the sum of the signed tetrahedra from the grid's centre to the triangles.
    /// If the mesh [is oriented](Self::is_oriented), it is the enclosed volume multiplied by the
    /// winding number, wherever the grid lies; otherwise it depends on that centre.
    pub volume_times_six: i128,
    /// Area of all triangles in square lattice units; the error per triangle is at most `2^-13`, or
    /// `2^-52` of its area.
    pub area: f64,
}

impl Topology {
    /// The topology of `mesh`, computed in the current thread pool.
    #[must_use]
    pub fn of(mesh: &PlacedMesh) -> Self {
        Self::matched(&Matching::new(mesh), 0).0
    }

    /// Whether a mesh is closed, consistently oriented, and inside out as a whole. The volume is
    /// computed first, as it rules out nearly all meshes.
    pub(crate) fn is_inside_out(mesh: &PlacedMesh) -> bool {
        Measure::of(mesh).volume_times_six < 0 && Self::of(mesh).is_oriented()
    }

    /// The topology, and the mesh's boundary: `None` if it has more than [`MAX_EDGES`] edges.
    #[must_use]
    pub fn with_boundary(mesh: &PlacedMesh) -> (Self, Option<Boundary>) {
        let (topology, boundary) = Self::matched(&Matching::new(mesh), MAX_EDGES as u64);
        (topology, boundary.ok())
    }

    /// The topology, with the boundary, or only its number of edges if there are more than
    /// `max_edges`.
    pub(super) fn matched(matching: &Matching, max_edges: u64) -> (Self, Result<Boundary, u64>) {
        let mesh = matching.mesh;
        let tally = matching.tally(max_edges);
        let triangles = tally.half_edges / 3;
        let measure = Measure::of(mesh);
        let boundary = if tally.boundary_edges <= max_edges {
            Ok(Boundary::of(tally.boundary))
        } else {
            Err(tally.boundary_edges)
        };
        let topology = Self {
            collapsed: mesh.len() as u64 - triangles,
            shells: triangles - tally.joins,
            example: tally.worst.map(|(_, edge)| edge),
            volume_times_six: measure.volume_times_six,
            area: measure.area(),
            ..tally.topology
        };
        (topology, boundary)
    }

    /// This topology, with its example moved so that `origin` becomes the origin.
    pub(crate) fn relative_to(mut self, origin: [i32; 3]) -> Self {
        for point in self.example.iter_mut().flatten() {
            *point = minus(*point, origin);
        }
        self
    }

    /// Whether every edge has an even number of triangles. Then every column crosses the surface an
    /// even number of times, and the parity of crossings does not depend on the axis. A mesh of
    /// collapsed triangles is closed, and encloses nothing.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.odd_edges == 0
    }

    /// Whether every edge is traversed equally often in both directions. Then the mesh is also
    /// closed, and has a winding number around every point that is not on it.
    #[must_use]
    pub fn is_oriented(&self) -> bool {
        self.unbalanced_edges == 0
    }

    /// The mean thickness in lattice units: twice the volume by the area, as of a plate.
    pub(crate) fn thickness(&self) -> f64 {
        (self.volume_times_six as f64).abs() / (3.0 * self.area)
    }

    /// Maximum memory that [`of`](Self::of) allocates for `mesh`, in bytes, for any number of
    /// threads.
    #[must_use]
    pub fn bytes(mesh: &PlacedMesh) -> u64 {
        let (vertices, triangles) = (mesh.vertices().len(), mesh.len());
        let matching = weld::kept_bytes(vertices) + edges::bytes(vertices, triangles);
        QUEUES + weld::bytes(vertices).max(matching)
    }

    /// Whether repeated triangles change what is closed, where `once` is the topology without them:
    /// they add odd edges, or close all holes, as the rim of a sheet that is there twice has two
    /// triangles. Elsewhere they may be faces of two parts, one of them inside out, that touch:
    /// then edges have three triangles without them.
    pub(super) fn hides_holes_of(&self, once: &Self) -> bool {
        let are_all_open = once.odd_edges == once.open_edges;
        once.odd_edges < self.odd_edges || self.is_closed() && !once.is_closed() && are_all_open
    }

    /// Whether some part may have inverted orientation while others have not.
    pub(crate) fn may_need_flips(&self) -> bool {
        !self.is_oriented() || self.shells > 1 || self.non_manifold_edges > 0
    }

    /// Maximum memory that flipping the patches of `mesh`, of this topology, allocates, in bytes.
    pub(crate) fn flipping_bytes(&self, mesh: &PlacedMesh) -> u64 {
        Self::bytes(mesh) + patches::bytes(mesh.len(), self)
    }
}
