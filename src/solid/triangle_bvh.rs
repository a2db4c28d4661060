//! A bounding volume hierarchy (BVH) of triangles with eight children a node, packed (as an R-tree
//! that is loaded by medians: S. Leutenegger and others, *STR: A Simple and Efficient Algorithm for
//! R-Tree Packing*, 1997): child `i` of node `n` is number `8 n + i` of the level below.

use rayon::prelude::*;

use crate::base::lanes::LANES;
use crate::lattice::{Aabb, PlacedMesh};

/// Triangles that one thread orders.
const MIN_TASK: usize = 1 << 12;

pub(super) struct TriangleBvh {
    /// All triangles, so that each eight in turn are neighbours, and each 64, and so on.
    triangles: Vec<u32>,
    /// The boxes of the nodes' children by level. Children of the first level are triangles; the
    /// last level is the root.
    levels: Vec<Vec<Boxes>>,
}

/// A node: level, and number within it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    level: usize,
    number: usize,
}

/// The bounding boxes of the children of a node, empty past the last child.
pub(super) struct Boxes {
    pub(super) lo: [[i32; LANES]; 3],
    pub(super) hi: [[i32; LANES]; 3],
}

/// Twice the centre of a triangle's bounding box, and the triangle.
type Item = ([i32; 3], u32);

impl TriangleBvh {
    /// Maximum memory of the construction, in bytes: the order, and then the items or the boxes of
    /// all levels, eight for each eight triangles and at most one node more for each level.
    pub(super) fn bytes(triangles: usize) -> u64 {
        let nodes = triangles.div_ceil(LANES - 1) + 16;
        let boxes = nodes * size_of::<Boxes>();
        (triangles * size_of::<u32>() + boxes.max(triangles * size_of::<Item>())) as u64
    }

    /// The triangles of `mesh`, which has some, divided along `axes`.
    pub(super) fn new(mesh: &PlacedMesh, axes: &[usize]) -> Self {
        let bounds = |index: u32| Aabb::of(&mesh.triangle(index as usize));
        let item = |index: u32| {
            let Aabb { lo, hi } = bounds(index);
            ([lo[0] + hi[0], lo[1] + hi[1], lo[2] + hi[2]], index)
        };
        let mut items: Vec<Item> = (0..mesh.len() as u32).into_par_iter().map(item).collect();
        order(&mut items, axes);
        let triangles: Vec<u32> = items.iter().map(|item| item.1).collect();
        drop(items);
        let of_leaf = |leaf: &[u32]| Boxes::new(leaf.iter().map(|&index| bounds(index)));
        let mut levels: Vec<Vec<Boxes>> = vec![triangles.par_chunks(LANES).map(of_leaf).collect()];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            let of_node = |nodes: &[Boxes]| Boxes::new(nodes.iter().map(Boxes::union));
            let level = below.par_chunks(LANES).map(of_node).collect();
            levels.push(level);
        }
        Self { triangles, levels }
    }

    pub(super) fn root(&self) -> Node {
        Node { level: self.levels.len() - 1, number: 0 }
    }

    #[inline(always)]
    pub(super) fn boxes(&self, node: Node) -> &Boxes {
        &self.levels[node.level][node.number]
    }

    /// The triangles of a leaf; none of an inner node.
    #[inline(always)]
    pub(super) fn triangles(&self, node: Node) -> &[u32] {
        match node.level {
            0 => &self.triangles[children(node, self.triangles.len())],
            _ => &[],
        }
    }

    /// The children of an inner node; none of a leaf.
    #[inline(always)]
    pub(super) fn children(&self, node: Node) -> impl Iterator<Item = Node> {
        let level = node.level.wrapping_sub(1);
        let below = self.levels.get(level).map_or(0, Vec::len);
        children(node, below).map(move |number| Node { level, number })
    }

    /// Calls `visit` with each triangle whose bounding box meets the box from `lo` to `hi`. Where
    /// `hi` is one less than `lo`, the box is a point between the two.
    pub(super) fn meeting(&self, [lo, hi]: [[i32; 3]; 2], mut visit: impl FnMut(u32)) {
        let mut stack = vec![self.root()];
        while let Some(node) = stack.pop() {
            let boxes = self.boxes(node);
            let mut meets = [true; LANES];
            for axis in 0..3 {
                for (lane, meets) in meets.iter_mut().enumerate() {
                    *meets &=
                        (boxes.lo[axis][lane] <= hi[axis]) & (lo[axis] <= boxes.hi[axis][lane]);
                }
            }
            stack.extend(self.children(node).zip(meets).filter(|c| c.1).map(|c| c.0));
            self.triangles(node).iter().zip(meets).filter(|t| t.1).for_each(|t| visit(*t.0));
        }
    }
}

/// The numbers of a node's children in the level below, which has `len` entries.
#[inline(always)]
fn children(node: Node, len: usize) -> std::ops::Range<usize> {
    let first = LANES * node.number;
    first.min(len)..(first + LANES).min(len)
}

impl Boxes {
    /// Packs up to [`LANES`] boxes.
    fn new(boxes: impl Iterator<Item = Aabb>) -> Self {
        let [lo, hi] = [Aabb::EMPTY.lo, Aabb::EMPTY.hi].map(|corner| corner.map(|c| [c; LANES]));
        let mut all = Self { lo, hi };
        for (lane, Aabb { lo, hi }) in boxes.enumerate() {
            for axis in 0..3 {
                (all.lo[axis][lane], all.hi[axis][lane]) = (lo[axis], hi[axis]);
            }
        }
        all
    }

    fn union(&self) -> Aabb {
        let lo = self.lo.map(|lo| lo.into_iter().fold(i32::MAX, i32::min));
        Aabb { lo, hi: self.hi.map(|hi| hi.into_iter().fold(i32::MIN, i32::max)) }
    }
}

/// Orders triangles by median splits, at multiples of the powers of [`LANES`], along the axis of
/// largest extent among `axes`.
fn order(items: &mut [Item], axes: &[usize]) {
    if items.len() <= LANES {
        return;
    }
    let group = LANES.pow((items.len() - 1).ilog(LANES));
    let middle = group * (items.len() / group / 2).max(1);
    let extent = |axis: usize| {
        let centers = items.iter().map(|item| item.0[axis]);
        let [least, most] = centers.fold([i32::MAX, i32::MIN], |[a, b], c| [a.min(c), b.max(c)]);
        i64::from(most) - i64::from(least)
    };
    let axis = axes.iter().copied().max_by_key(|&axis| extent(axis)).unwrap_or(0);
    items.select_nth_unstable_by_key(middle, |item| item.0[axis]);
    let (before, after) = items.split_at_mut(middle);
    if before.len() + after.len() > MIN_TASK {
        rayon::join(|| order(before, axes), || order(after, axes));
    } else {
        order(before, axes);
        order(after, axes);
    }
}
