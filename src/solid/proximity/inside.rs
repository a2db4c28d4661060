//! Whether points are inside: by the same rules, on the same lattice, as voxel centres of a solid.

use crate::base::lanes::LANES;
use crate::lattice::Aabb;
use crate::predicate::crosses::{Axis, ProjectedTriangle};
use crate::solid::proximity::Proximity;
use crate::solid::proximity::query::Query;
use crate::solid::report::holes;
use crate::solid::topology::Topology;
use crate::solid::{Fill, FillWarning};

/// Farther than this from the mesh, in lattice units, a winding number is below 1/12: triangles are
/// fewer than `2^32`, of at most `2^48` square units each, and the sphere has `4 pi 2^80`.
const MAX_OFFSET: f64 = (1_u64 << 40) as f64;

/// The crossings of a column.
#[derive(Default)]
struct Column {
    /// Whether the number of crossings at the point or before it is odd.
    is_inside: bool,
    /// Whether the number of all crossings is odd.
    is_odd: bool,
    /// The sum of the changes of the winding number at the point or before it.
    winding: i32,
}

impl Proximity {
    /// Why [`contains`](Self::contains) and the signs of [`distances`](Self::distances) are
    /// doubtful, in words: the mesh is not closed, or cannot be oriented. `None` if they are not.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let &Topology { open_edges, odd_edges, unbalanced_edges: edges, .. } = &self.topology;
        let is_by_winding = self.fill == Fill::Winding;
        match self.topology.is_closed() {
            false => Some(format!(
                "the mesh is not closed, as it has {}: what is inside depends on where its holes \
                 are taken to end",
                holes(open_edges, odd_edges)
            )),
            true if edges == 0 => None,
            true if is_by_winding => Some(FillWarning::Orientation { edges }.to_string()),
            true => Some(FillWarning::MayOverlap { edges }.to_string()),
        }
    }

    /// Whether each of `queries` is inside.
    pub(super) fn are_inside(&self, queries: &[Query]) -> Vec<bool> {
        let Some(field) = &self.field else {
            return queries.iter().map(|query| self.is_inside(self.clamped(query))).collect();
        };
        let is_far = |query: &Query| query.units.iter().any(|c| c.abs() > MAX_OFFSET);
        let winding = |query: &Query| self.column(Axis::X, self.clamped(query)).winding;
        let of_some = |queries: &[Query]| -> Vec<bool> {
            let points: Vec<[f64; 3]> = queries.iter().map(|query| query.units).collect();
            let is_inside = |(query, offset)| !is_far(query) && winding(query) + offset > 0;
            queries.iter().zip(field.offsets_at(&points)).map(is_inside).collect()
        };
        queries.chunks(LANES).flat_map(of_some).collect()
    }

    /// The point of a query, clamped to one unit around the bounding box: farther points have the
    /// same crossings before and past them.
    fn clamped(&self, query: &Query) -> [i32; 3] {
        let Aabb { lo, hi } = self.bounds;
        [0, 1, 2].map(|axis| {
            let ends = [lo[axis] - 1, hi[axis] + 1].map(f64::from);
            query.units[axis].clamp(ends[0], ends[1]) as i32
        })
    }

    /// Whether a point is inside, by crossings alone.
    fn is_inside(&self, at: [i32; 3]) -> bool {
        let Aabb { lo, hi } = self.bounds;
        let is_beside = (0..3).any(|axis| at[axis] < lo[axis] || at[axis] > hi[axis]);
        match self.fill {
            Fill::Parity => self.column(Axis::X, at).is_inside,
            _ if is_beside => false,
            Fill::Vote => self.vote(at),
            _ => self.column(Axis::X, at).winding != 0,
        }
    }

    /// Whether more of the rays from both ends of the three columns find the point inside than
    /// outside. The two rays of a column disagree if the number of its crossings is odd.
    fn vote(&self, at: [i32; 3]) -> bool {
        let votes = Axis::ALL.map(|axis| match self.column(axis, at) {
            Column { is_odd: true, .. } => 0,
            Column { is_inside: true, .. } => 1,
            Column { is_inside: false, .. } => -1,
        });
        votes.iter().sum::<i32>() > 0
    }

    /// The crossings of the line along `axis` through `at`.
    fn column(&self, axis: Axis, at: [i32; 3]) -> Column {
        let mut column = Column::default();
        let (center, height) = axis.project(at);
        // Only a vote counts the crossings past the point.
        let end = if self.fill == Fill::Vote { i32::MAX } else { height };
        let [mut lo, mut hi] = [at; 2];
        (lo[axis.along()], hi[axis.along()]) = (i32::MIN, end);
        self.bvh.meeting([lo, hi], |index| {
            let triangle = ProjectedTriangle::new(&self.oriented.triangle(index as usize), axis);
            if let Some(crossing) = triangle.at(center) {
                column.is_odd ^= true;
                let end = i128::from(height) * i128::from(crossing.denominator());
                if crossing.numerator() <= end {
                    column.is_inside ^= true;
                    column.winding += triangle.winding();
                }
            }
        });
        column
    }
}
