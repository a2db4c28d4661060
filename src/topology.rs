//! What a placed mesh is as a surface: in how many pieces, whether closed, whether oriented, and
//! the volume and area that it has. A solid fill rests on these facts, so they are exact: they are
//! found on the lattice, from the very triangles that the columns cross.
//!
//! 1. Vertices are welded by lattice point: files repeat vertices for each group or face, and two
//!    that rounding brought together are one to every predicate.
//! 2. Edges are matched: each belongs to the lower of its two vertices, and the vertices are
//!    divided into parts that fit a core's cache.
//! 3. Triangles that share an edge are joined into shells.
//! 4. Volume and area are sums of integers, so no order changes them.
//!
//! # What counts
//!
//! A triangle of which two corners are one lattice point is *collapsed* and left out: its edges
//! cancel, whatever its neighbours. A triangle without area whose corners are three points counts
//! like any other: such slivers close the T-junctions of a mesh, and without them its edges would
//! be open. For a T-junction that nothing closes, all three edges are open, also where the middle
//! vertex lies exactly on the long one. Triangles that occur twice count twice.

mod bins;
mod boundary;
mod edges;
mod measure;
mod patches;
mod shells;
mod weld;

use crate::place::PlacedMesh;
pub use crate::topology::boundary::{Boundary, MAX_EDGES};
pub use crate::topology::patches::Turned;
pub(crate) use crate::topology::patches::turned;

use crate::topology::edges::Matching;
use crate::topology::measure::Measure;
use crate::topology::weld::Weld;

/// More than the bytes that rayon takes to hand out the work.
const QUEUES: u64 = 64 << 10;

/// An edge by its two lattice points, in ascending order.
pub type Edge = [[i32; 3]; 2];

/// The facts about a placed mesh as a surface; all of its triangles counted, within the grid and
/// outside. They depend on neither the order of triangles and vertices nor the threads.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Topology {
    /// Triangles left out because two of their corners are one lattice point.
    pub collapsed: u64,
    /// Pieces that hang together through edges, however many triangles an edge has. Two cubes that
    /// share an edge are one shell, as no count at that edge tells whose triangles are whose; two
    /// that share only a vertex are two, as each of them is closed without the other.
    pub shells: u64,
    /// Edges in all.
    pub edges: u64,
    /// Edges of exactly one triangle.
    pub open_edges: u64,
    /// Edges of more than two triangles.
    pub non_manifold_edges: u64,
    /// Edges of exactly two triangles that run along it in the same direction.
    pub inconsistent_edges: u64,
    /// Edges of an odd number of triangles, the open ones among them.
    pub odd_edges: u64,
    /// Edges that triangles run along more often in one direction than in the other: the odd ones,
    /// the inconsistent ones, and others of several triangles.
    pub unbalanced_edges: u64,
    /// Where to look first: the lowest open edge; where there is none the lowest odd one; where
    /// there is none of these either the lowest unbalanced one.
    pub example: Option<Edge>,
    /// Six times the volume in cubic lattice units, positive where triangles are counter-clockwise
    /// as seen from outside. It is that of the cones from the grid's centre to the triangles: the
    /// enclosed volume, wherever the grid lies, if the mesh [is oriented](Self::is_oriented), each
    /// point as often as the surface winds around it. Otherwise it depends on that centre.
    pub volume_times_six: i128,
    /// Area of all triangles in square lattice units, each to within `2^-13` or `2^-52` of itself.
    pub area: f64,
}

impl Topology {
    /// Of `mesh`, in the current thread pool.
    #[must_use]
    pub fn of(mesh: &PlacedMesh) -> Self {
        Self::with_boundary(mesh).0
    }

    /// The same, and the mesh's boundary: `None` if it has more than [`MAX_EDGES`] edges.
    #[must_use]
    pub fn with_boundary(mesh: &PlacedMesh) -> (Self, Option<Boundary>) {
        let weld = Weld::new(mesh.vertices());
        let tally = Matching::new(mesh, &weld).tally();
        let triangles = tally.half_edges / 3;
        let Measure { volume_times_six, area } = Measure::of(mesh);
        let boundary = Boundary::of(tally.boundary);
        let topology = Self {
            collapsed: mesh.len() as u64 - triangles,
            shells: triangles - tally.joins,
            edges: tally.edges,
            open_edges: tally.open,
            non_manifold_edges: tally.non_manifold,
            inconsistent_edges: tally.inconsistent,
            odd_edges: tally.odd,
            unbalanced_edges: tally.unbalanced,
            example: tally.worst.map(|(_, edge)| edge),
            volume_times_six,
            area,
        };
        (topology, boundary)
    }

    /// The same, moved so that `origin` becomes the origin.
    pub(crate) fn from_point(mut self, origin: [i32; 3]) -> Self {
        for point in self.example.iter_mut().flatten() {
            *point = [0, 1, 2].map(|a| point[a] - origin[a]);
        }
        self
    }

    /// Whether every edge has an even number of triangles. Then every column crosses the surface
    /// an even number of times, and the parity of crossings does not depend on the axis. A mesh
    /// all of whose triangles are collapsed is closed: it encloses nothing.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.odd_edges == 0
    }

    /// Whether triangles run along every edge as often one way as the other. Then the mesh is
    /// closed too, and has a winding number about every point that is not on it.
    #[must_use]
    pub fn is_oriented(&self) -> bool {
        self.unbalanced_edges == 0
    }

    /// The most bytes that [`of`](Self::of) allocates at a time for `mesh`, whatever the threads.
    #[must_use]
    pub fn bytes(mesh: &PlacedMesh) -> u64 {
        let (vertices, triangles) = (mesh.vertices().len(), mesh.len());
        let matching = weld::kept_bytes(vertices) + edges::bytes(vertices, triangles);
        QUEUES + weld::bytes(vertices).max(matching)
    }

    /// The most bytes that [`with_boundary`](Self::with_boundary) allocates at a time.
    pub(crate) fn bytes_with_boundary(mesh: &PlacedMesh) -> u64 {
        Self::bytes(mesh) + boundary::BYTES
    }

    /// The most bytes that turning the patches of `mesh` allocates at a time.
    pub(crate) fn turning_bytes(mesh: &PlacedMesh) -> u64 {
        Self::bytes_with_boundary(mesh) + patches::bytes(mesh.len())
    }
}
