//! The triangle nearest to a point.

use pulp::{Simd, WithSimd};

use crate::base::lanes::LANES;
use crate::solid::proximity::Proximity;
use crate::solid::proximity::nearest::{Candidate, RELATIVE_ERROR};
use crate::solid::proximity::query::Query;
use crate::solid::triangle_bvh::{Boxes, Node};

/// Searches of one thread, each from the triangle that the last one found: points are in an order
/// in which neighbours are often near each other.
pub(super) struct Search<'a> {
    of: &'a Proximity,
    best: Candidate,
    /// Nodes, with the squared distance of their bounding box.
    stack: Vec<(Node, f64)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(of: &'a Proximity) -> Self {
        Self { of, best: Candidate::new([0; 3], 0, [[0; 3]; 3]), stack: Vec::new() }
    }

    /// The triangle nearest to a point.
    pub(super) fn nearest(&mut self, query: &Query) -> &Candidate {
        self.of.arch.dispatch(FindNearest { search: self, query });
        &self.best
    }

    #[inline(always)]
    fn candidate(&self, index: u32, query: &Query) -> Candidate {
        let corners = query.corners(&self.of.mesh.triangle(index as usize));
        Candidate::new(query.at, index, corners)
    }
}

/// Best-first descent. A box is skipped if it is farther than the best triangle so far, by more
/// than the errors of both, so that a triangle as near with a lower index is found.
struct FindNearest<'a, 'b> {
    search: &'a mut Search<'b>,
    query: &'a Query,
}

impl WithSimd for FindNearest<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { search, query } = self;
        let bvh = &search.of.bvh;
        let limit = |best: &Candidate| best.squared * (1.0 + 2.0 * RELATIVE_ERROR);
        search.best = search.candidate(search.best.index, query);
        search.stack.clear();
        search.stack.push((bvh.root(), 0.0));
        while let Some((node, squared)) = search.stack.pop() {
            if squared > limit(&search.best) {
                continue;
            }
            let distances = squared_distances(bvh.boxes(node), query);
            for (&index, squared) in bvh.triangles(node).iter().zip(distances) {
                if squared <= limit(&search.best) {
                    let candidate = search.candidate(index, query);
                    if candidate.precedes(&search.best, query.at) {
                        search.best = candidate;
                    }
                }
            }
            let first = search.stack.len();
            for (child, squared) in bvh.children(node).zip(distances) {
                if squared <= limit(&search.best) {
                    // The nearest last.
                    let farther = search.stack[first..].iter().take_while(|e| e.1 > squared);
                    let place = first + farther.count();
                    search.stack.insert(place, (child, squared));
                }
            }
        }
    }
}

/// The squared distances of boxes from the point.
#[inline(always)]
fn squared_distances(boxes: &Boxes, query: &Query) -> [f64; LANES] {
    let (scale, margin) = (query.scale(), query.margin());
    let mut squared = [0.0; LANES];
    for (axis, p) in query.at.into_iter().enumerate() {
        let p = p as f64;
        let (lo, hi) = (&boxes.lo[axis], &boxes.hi[axis]);
        for (lane, squared) in squared.iter_mut().enumerate() {
            let before = f64::from(lo[lane]) * scale - margin - p;
            let past = p - f64::from(hi[lane]) * scale - margin;
            let gap = if before > past { before } else { past };
            let gap = if gap > 0.0 { gap } else { 0.0 };
            *squared += gap * gap;
        }
    }
    squared
}
