//! A bounding volume hierarchy of triangles with eight children a node, packed (as an R-tree that
//! is loaded by medians: S. Leutenegger and others, *STR: A Simple and Efficient Algorithm for
//! R-Tree Packing*, 1997): child `i` of node `n` is number `8 n + i` of the level below.

use rayon::prelude::*;

use crate::base::lanes::{LANES, Lanes};
use crate::lattice::{Aabb, PlacedMesh};
use crate::predicate::crosses::Axis;
use crate::solid::proximity::query::Query;

/// Triangles that one thread orders.
const MIN_TASK: usize = 1 << 12;

pub(super) struct Tree {
    /// All triangles, so that each eight in turn are neighbours, and each 64, and so on.
    triangles: Vec<u32>,
    /// The boxes of the nodes' children by level. Children of the first level are triangles; the
    /// last level is the root.
    levels: Vec<Vec<Boxes>>,
}

/// A node: level, and number within it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    level: u32,
    number: u32,
}

/// The bounding boxes of the children of a node.
struct Boxes {
    lo: [[i32; LANES]; 3],
    hi: [[i32; LANES]; 3],
}

type Item = (Aabb, u32);

impl Tree {
    /// Maximum memory of the construction, in bytes: the items twice, and the boxes of all levels,
    /// eight for each eight triangles and at most two more for each level.
    pub(super) fn bytes(triangles: usize) -> u64 {
        let items = triangles * (size_of::<Item>() + size_of::<Aabb>());
        let nodes = triangles.div_ceil(LANES) * LANES / (LANES - 1) + 16;
        (items + triangles * size_of::<u32>() + nodes * size_of::<Boxes>()) as u64
    }

    pub(super) fn new(mesh: &PlacedMesh) -> Self {
        let item = |index: u32| (Aabb::of(&mesh.triangle(index as usize)), index);
        let mut items: Vec<Item> = (0..mesh.len() as u32).into_par_iter().map(item).collect();
        order(&mut items);
        let triangles = items.iter().map(|&(_, index)| index).collect();
        let mut children: Vec<Aabb> = items.into_iter().map(|(bounds, _)| bounds).collect();
        let mut levels = Vec::new();
        loop {
            let level: Vec<Boxes> = children.par_chunks(LANES).map(Boxes::new).collect();
            let is_root = level.len() <= 1;
            levels.push(level);
            if is_root {
                return Self { triangles, levels };
            }
            let union = |boxes: &[Aabb]| boxes[1..].iter().fold(boxes[0], |a, &b| a.union(b));
            children = children.par_chunks(LANES).map(union).collect();
        }
    }

    pub(super) fn root(&self) -> Node {
        Node { level: self.levels.len() as u32 - 1, number: 0 }
    }

    /// The squared distances of the children's boxes from the point; without meaning past the last
    /// child.
    #[inline(always)]
    pub(super) fn squared_distances(&self, node: Node, query: &Query) -> Lanes {
        let boxes = self.boxes(node);
        let (scale, margin) = (Lanes::splat(query.scale()), Lanes::splat(query.margin()));
        let mut squared = Lanes::default();
        for (axis, p) in query.position().into_iter().enumerate() {
            let (mut lo, mut hi) = (Lanes::default(), Lanes::default());
            for lane in 0..LANES {
                lo.0[lane] = f64::from(boxes.lo[axis][lane]);
                hi.0[lane] = f64::from(boxes.hi[axis][lane]);
            }
            let p = Lanes::splat(p);
            let gap = (lo * scale - margin - p).max(p - hi * scale - margin);
            let gap = gap.max(Lanes::default());
            squared = squared + gap * gap;
        }
        squared
    }

    /// Calls `visit` with each triangle whose bounding box meets the line along `axis` through
    /// `at`, at `end` or before.
    pub(super) fn column(&self, axis: Axis, at: [i32; 3], end: i32, mut visit: impl FnMut(u32)) {
        let ([first, second], _) = axis.project(at);
        let [u, v] = axis.across();
        let mut stack = vec![self.root()];
        while let Some(node) = stack.pop() {
            let Boxes { lo, hi } = self.boxes(node);
            let mut meets = [false; LANES];
            for (lane, meets) in meets.iter_mut().enumerate() {
                *meets = (lo[u][lane] <= first)
                    & (first <= hi[u][lane])
                    & (lo[v][lane] <= second)
                    & (second <= hi[v][lane])
                    & (lo[axis.along()][lane] <= end);
            }
            for lane in (0..self.children(node)).filter(|&lane| meets[lane]) {
                match self.child(node, lane) {
                    Child::Node(child) => stack.push(child),
                    Child::Triangle(index) => visit(index),
                }
            }
        }
    }

    /// The number of children.
    #[inline(always)]
    pub(super) fn children(&self, node: Node) -> usize {
        let all = match node.level {
            0 => self.triangles.len(),
            level => self.levels[level as usize - 1].len(),
        };
        LANES.min(all - LANES * node.number as usize)
    }

    #[inline(always)]
    pub(super) fn child(&self, node: Node, lane: usize) -> Child {
        let number = LANES as u32 * node.number + lane as u32;
        match node.level {
            0 => Child::Triangle(self.triangles[number as usize]),
            level => Child::Node(Node { level: level - 1, number }),
        }
    }

    #[inline(always)]
    fn boxes(&self, node: Node) -> &Boxes {
        &self.levels[node.level as usize][node.number as usize]
    }
}

/// A child of a node.
pub(super) enum Child {
    Node(Node),
    /// The index of a triangle in the mesh.
    Triangle(u32),
}

impl Boxes {
    /// Of up to [`LANES`] boxes; the last one is repeated.
    fn new(boxes: &[Aabb]) -> Self {
        let of = |corner: fn(&Aabb) -> [i32; 3]| {
            [0, 1, 2].map(|axis| {
                std::array::from_fn(|lane| corner(&boxes[lane.min(boxes.len() - 1)])[axis])
            })
        };
        Self { lo: of(|bounds| bounds.lo), hi: of(|bounds| bounds.hi) }
    }
}

/// Orders triangles by medians along the longest axis of their boxes' centres, at multiples of the
/// powers of [`LANES`].
fn order(items: &mut [Item]) {
    if items.len() <= LANES {
        return;
    }
    let group = LANES.pow((items.len() - 1).ilog(LANES));
    let middle = group * (items.len() / group / 2).max(1);
    // Twice the centre.
    let center = |&(Aabb { lo, hi }, _): &Item, axis: usize| lo[axis] + hi[axis];
    let extent = |axis: usize| {
        let centers = items.iter().map(|item| center(item, axis));
        let [least, most] = centers.fold([i32::MAX, i32::MIN], |[a, b], c| [a.min(c), b.max(c)]);
        i64::from(most) - i64::from(least)
    };
    let axis = [0, 1, 2].into_iter().max_by_key(|&axis| extent(axis)).unwrap_or(0);
    items.select_nth_unstable_by_key(middle, |item| center(item, axis));
    let (before, after) = items.split_at_mut(middle);
    if before.len() + after.len() > MIN_TASK {
        rayon::join(|| order(before), || order(after));
    } else {
        order(before);
        order(after);
    }
}
