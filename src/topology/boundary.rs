//! The boundary of a mesh as a 1-chain: the edges that are traversed more often in one direction
//! than in the other, each with that multiplicity. It is a cycle, so it decomposes into closed
//! loops.

use std::collections::BTreeMap;

/// Maximum number of boundary edges that are kept.
pub const MAX_EDGES: usize = 1 << 14;

/// Two lattice points, and the multiplicity of the edge from the first to the second.
pub(super) type BoundaryEdge = ([[i32; 3]; 2], i32);

/// Maximum memory of boundary edges while they are matched and sorted, in bytes.
pub(super) const BYTES: u64 = 16 * (MAX_EDGES * size_of::<BoundaryEdge>()) as u64;

/// The boundary of a mesh, as closed loops. It does not depend on the order of triangles and
/// vertices, nor on the threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Boundary {
    /// Each ends where it begins. Triangles lie to the left of their boundary edges, seen from
    /// the side of their normal.
    loops: Vec<Vec<[i32; 3]>>,
}

impl Boundary {
    /// The boundary of these edges; `None` if there are more than [`MAX_EDGES`].
    pub(super) fn of(edges: Vec<BoundaryEdge>) -> Option<Self> {
        // The successors of each point, with multiplicities.
        let mut steps: BTreeMap<[i32; 3], BTreeMap<[i32; 3], u32>> = BTreeMap::new();
        let mut count: usize = 0;
        for ([from, to], number) in edges {
            let [from, to] = if number > 0 { [from, to] } else { [to, from] };
            count = count.saturating_add(number.unsigned_abs() as usize);
            *steps.entry(from).or_default().entry(to).or_default() += number.unsigned_abs();
        }
        if count > MAX_EDGES {
            return None;
        }
        let mut loops = Vec::new();
        while let Some(&start) = steps.first_key_value().map(|(start, _)| start) {
            let mut path = vec![start];
            let mut at = start;
            // Each point has as many edges in as out, so the walk ends at its start.
            while let Some(next) = take_step(&mut steps, at) {
                path.push(next);
                at = next;
                if at == start {
                    break;
                }
            }
            loops.push(path);
        }
        Some(Self { loops })
    }

    /// The same, moved so that `origin` becomes the origin.
    pub(crate) fn relative_to(mut self, origin: [i32; 3]) -> Self {
        for point in self.loops.iter_mut().flatten() {
            *point = [0, 1, 2].map(|a| point[a] - origin[a]);
        }
        self
    }

    /// The loops; the first point is repeated at the end.
    #[must_use]
    pub fn loops(&self) -> &[Vec<[i32; 3]>] {
        &self.loops
    }

    /// The area of discs with the circumference of the loops, in square lattice units.
    #[must_use]
    pub fn discs(&self) -> f64 {
        let squared = |ends: &[[i32; 3]]| {
            let d = [0, 1, 2].map(|a| f64::from(ends[1][a]) - f64::from(ends[0][a]));
            d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        };
        let length = |points: &Vec<[i32; 3]>| points.windows(2).map(|e| squared(e).sqrt()).sum();
        self.loops.iter().map(length).map(|l: f64| l * l / (2.0 * std::f64::consts::TAU)).sum()
    }

    /// The total number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.loops.iter().map(|points| points.len() - 1).sum()
    }
}

/// Takes the edge to the lowest successor of `at`.
fn take_step(
    steps: &mut BTreeMap<[i32; 3], BTreeMap<[i32; 3], u32>>,
    at: [i32; 3],
) -> Option<[i32; 3]> {
    let ends = steps.get_mut(&at)?;
    let mut entry = ends.first_entry()?;
    let to = *entry.key();
    *entry.get_mut() -= 1;
    if *entry.get() == 0 {
        entry.remove();
    }
    if ends.is_empty() {
        steps.remove(&at);
    }
    Some(to)
}
