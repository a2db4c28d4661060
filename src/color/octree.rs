//! Assigns triangles to the bricks that they touch, by descending an octree.

use rayon::prelude::*;

use crate::grid::{BRICK, BrickKey, VoxelGrid};
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::predicate::touches::touches;

/// An octree node: a cube with edges of `2^bits` bricks.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The minimum corner, in bricks.
    from: [u32; 3],
    bits: u32,
}

/// The number of triangles from which the children of a node run in parallel.
const PARALLEL_TRIANGLES: usize = 1 << 9;

/// Calls `work` for each brick of `grid` that triangles touch and, `with_neighbors`, for the
/// touched neighbours of its bricks. Returns the results in no order.
pub(super) fn bricks<T: Send>(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    with_neighbors: bool,
    work: &(impl Fn(BrickKey, &[u32]) -> T + Sync),
) -> Vec<T> {
    let [x, y, z] = grid.dims().map(|d| d.div_ceil(BRICK));
    let bits = x.max(y).max(z).next_power_of_two().ilog2();
    let all: Vec<u32> = (0..mesh.len() as u32).collect();
    Traversal { mesh, grid, with_neighbors, work }.visit(Node { from: [0; 3], bits }, &all)
}

struct Traversal<'a, W> {
    mesh: &'a PlacedMesh,
    grid: &'a VoxelGrid,
    with_neighbors: bool,
    work: &'a W,
}

impl<W, T: Send> Traversal<'_, W>
where
    W: Fn(BrickKey, &[u32]) -> T + Sync,
{
    fn visit(&self, node: Node, triangles: &[u32]) -> Vec<T> {
        if triangles.is_empty() || !self.is_wanted(node) {
            return Vec::new();
        }
        if node.bits == 0 {
            return vec![(self.work)(BrickKey::new(node.from), triangles)];
        }
        let visit_child = |index: u32| {
            let child = node.child(index);
            self.visit(child, &self.touching(child, triangles))
        };
        match triangles.len() >= PARALLEL_TRIANGLES {
            true => (0..8).into_par_iter().flat_map_iter(visit_child).collect(),
            false => (0..8).flat_map(visit_child).collect(),
        }
    }

    /// Whether the grid has voxels in the node, or next to it if neighbours are wanted.
    fn is_wanted(&self, Node { from, bits }: Node) -> bool {
        let margin = u32::from(self.with_neighbors);
        let end = self.grid.dims().map(|d| d.div_ceil(BRICK));
        let to = [0, 1, 2].map(|a| end[a].min(from[a] + (1 << bits) + margin));
        let from = from.map(|c| c.saturating_sub(margin));
        (0..3).all(|a| from[a] < to[a]) && self.grid.brick_runs_in(from, to).next().is_some()
    }

    /// The `triangles` that touch the node.
    fn touching(&self, Node { from, bits }: Node, triangles: &[u32]) -> Vec<u32> {
        let box_bits = self.mesh.lattice().unit_bits + BRICK.ilog2() + bits;
        let index = from.map(|c| (c >> bits) as i32);
        let half = 1 << (box_bits - 1);
        let center = index.map(|i| (i << box_bits) + half);
        let is_touched = |&&triangle: &&u32| {
            let triangle = self.mesh.triangle(triangle as usize);
            let range = BoxRange::of_triangle(&triangle, box_bits);
            let is_near = (0..3).all(|a| (range.lo[a]..=range.hi[a]).contains(&index[a]));
            // If the bounding box spans boxes along one axis only, the triangle touches all of
            // them.
            let is_line = || (0..3).filter(|&a| range.lo[a] < range.hi[a]).count() <= 1;
            is_near && (is_line() || touches(&triangle, center, half))
        };
        triangles.iter().filter(is_touched).copied().collect()
    }
}

impl Node {
    fn child(self, index: u32) -> Self {
        let bits = self.bits - 1;
        let from = [0, 1, 2].map(|a| self.from[a] + ((index >> a & 1) << bits));
        Self { from, bits }
    }
}
