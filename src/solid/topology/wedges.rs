//! Pairs the triangles at an edge of more than two, so that each pair belongs to one shell.
//!
//! Two triangles are a pair if they alone are connected, by their vertices in the file or through
//! other edges. The others are paired in the order of their angles around the edge: a triangle with
//! the next one behind it of opposite direction. Both bound one wedge of matter. So boxes in
//! contact at an edge stay two boxes, and a box with each side twice, once in each direction,
//! becomes two.

use std::cmp::Ordering;

use crate::base::vector::{cross, dot, minus, norm};
use crate::solid::topology::Edge;
use crate::solid::topology::edges::Pair;

/// Rounding moves the corners of a side by at most so many lattice units out of a plane.
const ROUNDING: f64 = 4.0;

/// A triangle at an edge.
pub(super) struct Leaf {
    pub(super) triangle: u32,
    /// Whether it traverses the edge from its first to its second point.
    pub(super) is_rising: bool,
    /// The link to others: at first, the vertices of the edge before they were welded.
    pub(super) group: u64,
    /// The third corner.
    pub(super) apex: [i32; 3],
}

/// Visits the pairs of `leaves`; returns how many leaves have none. If as many leaves rise as fall,
/// all are paired, each rising one with a falling one.
pub(super) fn pair(edge: Edge, mut leaves: Vec<Leaf>, visit: &impl Fn(Pair)) -> u64 {
    leaves.sort_unstable_by_key(|leaf| (leaf.group, leaf.triangle));
    let must_alternate = is_balanced(&leaves);
    let mut rest = Vec::new();
    for connected in leaves.chunk_by(|one, other| one.group == other.group) {
        let mut connected: Vec<&Leaf> = connected.iter().collect();
        if !pair_all(edge, &mut connected, must_alternate, visit) {
            rest.append(&mut connected);
        }
    }
    if pair_all(edge, &mut rest, must_alternate, visit) { 0 } else { rest.len() as u64 }
}

/// Visits each group of exactly two opposite leaves as a pair; returns 0.
pub(super) fn pair_connected(mut leaves: Vec<Leaf>, visit: &impl Fn(Pair)) -> u64 {
    leaves.sort_unstable_by_key(|leaf| (leaf.group, leaf.triangle));
    for connected in leaves.chunk_by(|one, other| one.group == other.group) {
        if let [one, other] = connected
            && one.is_rising != other.is_rising
        {
            visit((one.triangle, other.triangle, false));
        }
    }
    0
}

/// Pairs `leaves` if that is possible; returns whether it is.
fn pair_all(edge: Edge, leaves: &mut [&Leaf], must_alternate: bool, visit: &impl Fn(Pair)) -> bool {
    if let [one, other] = leaves
        && !(must_alternate && one.is_rising == other.is_rising)
    {
        visit((one.triangle, other.triangle, one.is_rising == other.is_rising));
        return true;
    }
    let is_balanced = is_balanced(leaves.iter().copied());
    if is_balanced {
        pair_around(edge, leaves, visit);
    }
    is_balanced
}

fn is_balanced<'a>(leaves: impl IntoIterator<Item = &'a Leaf>) -> bool {
    leaves.into_iter().map(|leaf| if leaf.is_rising { 1 } else { -1 }).sum::<i64>() == 0
}

/// Pairs as many rising as falling leaves around the edge, like brackets. Seen along the edge, the
/// front of a rising leaf is towards larger angles, and that of a falling one towards smaller ones.
/// So a falling leaf opens a wedge, and the next rising one closes it.
fn pair_around(edge: Edge, leaves: &mut [&Leaf], visit: &impl Fn(Pair)) {
    let around = Around::new(edge, leaves);
    leaves.sort_unstable_by(|one, other| around.compare(one.apex, other.apex));
    // Leaves that coincide are interchangeable: those that rise come first, so that they pair with
    // others. Of either kind, the lowest links and indices pair, at all edges of a side: seen from
    // the other end of an edge, the order is reversed, and rising leaves fall.
    let ends_run = |(one, other): (&&Leaf, &&Leaf)| !around.coincide(one.apex, other.apex);
    let next = leaves.iter().skip(1).chain(leaves.first());
    let starts = leaves.iter().zip(next).position(ends_run).map_or(0, |last| last + 1);
    leaves.rotate_left(starts % leaves.len().max(1));
    for run in leaves.chunk_by_mut(|one, other| around.coincide(one.apex, other.apex)) {
        run.sort_unstable_by(|one, other| {
            let [first, second] = if one.is_rising { [one, other] } else { [other, one] };
            let by_link = (first.group, first.triangle).cmp(&(second.group, second.triangle));
            other.is_rising.cmp(&one.is_rising).then(by_link)
        });
    }
    let mut open: Vec<&Leaf> = Vec::new();
    let mut unclosed: Vec<&Leaf> = Vec::new();
    for &leaf in leaves.iter() {
        match (leaf.is_rising, open.pop()) {
            (true, Some(opening)) => visit((opening.triangle, leaf.triangle, false)),
            (true, None) => unclosed.push(leaf),
            (false, top) => {
                open.extend(top);
                open.push(leaf);
            }
        }
    }
    // Once more around.
    for (closing, opening) in unclosed.into_iter().zip(open.into_iter().rev()) {
        visit((opening.triangle, closing.triangle, false));
    }
}

/// The order of directions around an edge, from that of one leaf on.
struct Around {
    from: [i128; 3],
    along: [i128; 3],
    /// To the apex of the first leaf.
    first: [i128; 3],
}

impl Around {
    fn new([from, to]: Edge, leaves: &[&Leaf]) -> Self {
        let from = from.map(i128::from);
        let along = minus(to.map(i128::from), from);
        let to_apex = |leaf: &&Leaf| minus(leaf.apex.map(i128::from), from);
        // A sliver has no direction.
        let has_area = |apex: &[i128; 3]| cross(along, *apex) != [0; 3];
        let first = leaves.iter().map(to_apex).filter(has_area).min().unwrap_or_default();
        Self { from, along, first }
    }

    /// Whether two leaves lie in one plane, on one side of the edge, but for rounding.
    fn coincide(&self, one: [i32; 3], other: [i32; 3]) -> bool {
        let [one, other] = [one, other].map(|apex| minus(apex.map(i128::from), self.from));
        let [normal, other_normal] = [one, other].map(|apex| cross(self.along, apex));
        let length = |normal: [i128; 3]| norm(normal.map(|c| c as f64));
        let distance = dot(normal, other).abs() as f64 / length(normal).max(length(other_normal));
        dot(normal, other_normal) > 0 && distance <= ROUNDING
    }

    /// Exact: coordinates differ by at most `2^24`, so a triple product is below `2^75`, and a
    /// product of two normals below `2^102`.
    fn compare(&self, one: [i32; 3], other: [i32; 3]) -> Ordering {
        let [one, other] = [one, other].map(|apex| minus(apex.map(i128::from), self.from));
        let turn = |from, to| dot(self.along, cross(from, to)).signum();
        // 0 along the first leaf, 1 for the half before its opposite direction, 2 along that, and
        // 3.
        let half = |apex| match turn(self.first, apex) {
            0 if dot(cross(self.along, self.first), cross(self.along, apex)) < 0 => 2,
            0 => 0,
            1 => 1,
            _ => 3,
        };
        half(one).cmp(&half(other)).then_with(|| match half(one) {
            0 | 2 => Ordering::Equal,
            _ => 0.cmp(&turn(one, other)),
        })
    }
}
