//! The boundary of a mesh as a 1-chain: the edges that are traversed more often in one direction
//! than in the other, each with that multiplicity. It is a cycle, so it decomposes into closed
//! loops.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::vector::minus;

/// Maximum number of boundary edges that are kept.
pub const MAX_EDGES: usize = 1 << 22;

/// Two lattice points, and the multiplicity of the edge from the first to the second.
pub(super) type BoundaryEdge = ([[i32; 3]; 2], i32);

/// Maximum memory of a boundary edge while it is found, sorted and connected, in bytes.
pub(in crate::solid) const BOUNDARY_EDGE_BYTES: u64 = 4 * size_of::<BoundaryEdge>() as u64;

/// The boundary of a mesh, as closed loops. It does not depend on the order of triangles and
/// vertices, nor on the threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Boundary {
    /// Each ends where it begins. Triangles lie to the left of their boundary edges, seen from
    /// the side of their normal.
    loops: Vec<Vec<[i32; 3]>>,
}

impl Boundary {
    /// The boundary of these edges.
    pub(super) fn of(mut edges: Vec<BoundaryEdge>) -> Self {
        for ([from, to], number) in &mut edges {
            if *number < 0 {
                (*from, *to, *number) = (*to, *from, -*number);
            }
        }
        edges.par_sort_unstable();
        // For each point, the range of its outgoing edges not yet in a loop.
        let (mut points, mut end) = (Vec::new(), 0);
        for edges_of_point in edges.chunk_by(|one, other| one.0[0] == other.0[0]) {
            points.push(end..end + edges_of_point.len());
            end += edges_of_point.len();
        }
        let first = |range: &Range<usize>| edges[range.start].0[0];
        let firsts: Vec<[i32; 3]> = points.iter().map(first).collect();
        let mut loops = Vec::new();
        for start in 0..points.len() {
            while !points[start].is_empty() {
                let mut path = vec![firsts[start]];
                let mut at = start;
                // Each point has as many edges in as out, so the walk ends at its start.
                loop {
                    let edge = points[at].start;
                    let ([_, to], number) = &mut edges[edge];
                    path.push(*to);
                    *number -= 1;
                    if *number == 0 {
                        points[at].start += 1;
                    }
                    at = firsts.binary_search(to).unwrap_or(start);
                    if at == start {
                        break;
                    }
                }
                loops.push(path);
            }
        }
        Self { loops }
    }

    /// The loops, moved so that `origin` becomes the origin.
    pub(crate) fn relative_to(mut self, origin: [i32; 3]) -> Self {
        for point in self.loops.iter_mut().flatten() {
            *point = minus(*point, origin);
        }
        self
    }

    /// The loops; the first point is repeated at the end.
    #[must_use]
    pub fn loops(&self) -> &[Vec<[i32; 3]>] {
        &self.loops
    }

    /// The total number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.loops.iter().map(|points| points.len() - 1).sum()
    }
}
