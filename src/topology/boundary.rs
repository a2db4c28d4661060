//! The boundary of a mesh as a 1-chain: the edges along which triangles run more often one way than
//! the other, each as often as that. It is a cycle, so it falls into closed loops.

use std::collections::BTreeMap;

/// Edges of a boundary that are kept, at most.
pub const MAX_EDGES: usize = 1 << 14;

/// Two lattice points, and how many more triangles run from the first to the second than back.
pub(super) type BoundaryEdge = ([[i32; 3]; 2], i32);

/// The most bytes that boundary edges take while they are matched and put in order.
pub(super) const BYTES: u64 = 16 * (MAX_EDGES * size_of::<BoundaryEdge>()) as u64;

/// The boundary of a mesh, as closed loops. It depends on neither the order of triangles and
/// vertices nor the threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Boundary {
    /// Each ends where it begins. Triangles lie to the left of their boundary edges, seen from
    /// the side of their normal.
    loops: Vec<Vec<[i32; 3]>>,
}

impl Boundary {
    /// `None` if these are more than [`MAX_EDGES`].
    pub(super) fn of(edges: Vec<BoundaryEdge>) -> Option<Self> {
        // Where each point leads, and how often.
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
            // A point has as many edges in as out: the walk ends where it began.
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
    pub(crate) fn from_point(mut self, origin: [i32; 3]) -> Self {
        for point in self.loops.iter_mut().flatten() {
            *point = [0, 1, 2].map(|a| point[a] - origin[a]);
        }
        self
    }

    /// The loops, each with its first point again at its end.
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

    /// How many edges they have together.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.loops.iter().map(|points| points.len() - 1).sum()
    }
}

/// Takes the step to the lowest point that `at` leads to.
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
