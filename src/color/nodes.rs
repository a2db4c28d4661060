//! Assigns triangles to the bricks that they touch, by descending an octree.

use rayon::prelude::*;

use crate::grid::{BRICK, BrickKey, VoxelGrid};
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::predicate::touches::touches;

/// A cube of `2^bits` bricks an edge.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The minimum corner, in bricks.
    from: [u32; 3],
    bits: u32,
}

/// The least number of triangles for which the parts of a node are split among threads.
const SHARED: usize = 1 << 9;

/// Calls `work` for each brick of `grid` that triangles touch, and with `beside` for the neighbours of
/// bricks of `grid`. Returns the results in no order.
pub(super) fn bricks<T: Send>(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    beside: bool,
    work: &(impl Fn(BrickKey, &[u32]) -> T + Sync),
) -> Vec<T> {
    let [x, y, z] = grid.dims().map(|d| d.div_ceil(BRICK));
    let bits = x.max(y).max(z).next_power_of_two().ilog2();
    let all: Vec<u32> = (0..mesh.len() as u32).collect();
    Walk { mesh, grid, beside, work }.walk(Node { from: [0; 3], bits }, &all)
}

struct Walk<'a, W> {
    mesh: &'a PlacedMesh,
    grid: &'a VoxelGrid,
    beside: bool,
    work: &'a W,
}

impl<W, T: Send> Walk<'_, W>
where
    W: Fn(BrickKey, &[u32]) -> T + Sync,
{
    fn walk(&self, node: Node, triangles: &[u32]) -> Vec<T> {
        if triangles.is_empty() || !self.is_wanted(node) {
            return Vec::new();
        }
        if node.bits == 0 {
            return vec![(self.work)(BrickKey::new(node.from), triangles)];
        }
        let part = |part: u32| {
            let part = node.part(part);
            self.walk(part, &self.touching(part, triangles))
        };
        match triangles.len() >= SHARED {
            true => (0..8).into_par_iter().flat_map_iter(part).collect(),
            false => (0..8).flat_map(part).collect(),
        }
    }

    /// Whether the grid has voxels in the node.
    fn is_wanted(&self, Node { from, bits }: Node) -> bool {
        let beside = u32::from(self.beside);
        let end = self.grid.dims().map(|d| d.div_ceil(BRICK));
        let to = [0, 1, 2].map(|a| end[a].min(from[a] + (1 << bits) + beside));
        let from = from.map(|c| c.saturating_sub(beside));
        (0..3).all(|a| from[a] < to[a]) && self.grid.brick_runs_in(from, to).next().is_some()
    }

    /// Those of `triangles` that touch the node.
    fn touching(&self, Node { from, bits }: Node, triangles: &[u32]) -> Vec<u32> {
        let box_bits = self.mesh.lattice().unit_bits + BRICK.ilog2() + bits;
        let index = from.map(|c| (c >> bits) as i32);
        let half = 1 << (box_bits - 1);
        let center = index.map(|i| (i << box_bits) + half);
        let is_touched = |&&triangle: &&u32| {
            let triangle = self.mesh.triangle(triangle as usize);
            let range = BoxRange::of_triangle(&triangle, box_bits);
            let is_near = (0..3).all(|a| (range.lo[a]..=range.hi[a]).contains(&index[a]));
            // In a line of boxes all are touched.
            let is_line = || (0..3).filter(|&a| range.lo[a] < range.hi[a]).count() <= 1;
            is_near && (is_line() || touches(&triangle, center, half))
        };
        triangles.iter().filter(is_touched).copied().collect()
    }
}

impl Node {
    fn part(self, part: u32) -> Self {
        let bits = self.bits - 1;
        let from = [0, 1, 2].map(|a| self.from[a] + ((part >> a & 1) << bits));
        Self { from, bits }
    }
}
