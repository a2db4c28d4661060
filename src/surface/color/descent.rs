//! Assigns triangles to the bricks that they touch, by descending a tree of boxes: a node has up to
//! 4 x 4 x 4 children.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::Progress;
use crate::grid::{BRICK, BrickKey, VoxelGrid, count, set_bits};
use crate::lattice::{Distinct, PlacedMesh};
use crate::predicate::blocks::BlockMask;
use crate::surface::color::integrator::BrickTriangles;
use crate::surface::color::sums::Weights;
use crate::surface::color::touched::{Block, block_masks};

/// A node: a cube with edges of `2^bits` bricks.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The minimum corner, in bricks.
    from: [u32; 3],
    bits: u32,
}

/// The children of larger nodes run in parallel, and those of nodes with this many triangles.
const SEQUENTIAL_BITS: u32 = 2;
const PARALLEL_TRIANGLES: usize = 1 << 9;

/// Units of progress of the whole traversal. A node divides its shares among its children in
/// proportion to their numbers of triangles.
pub(in crate::surface) const SHARES: u64 = 1 << 32;

/// Work on each brick and its triangles, with vector instructions.
pub(in crate::surface) trait BrickWork: Sync {
    /// Scratch memory of a task.
    type Scratch: Default;
    /// The result for a brick.
    type Output: Send;

    fn of_brick<S: Simd>(
        &self,
        simd: S,
        scratch: &mut Self::Scratch,
        brick: &BrickTriangles,
    ) -> Self::Output;

    /// The number of voxels that have a value in a result.
    fn voxels(result: &Self::Output) -> u64;

    /// Whether most occupied voxels of bricks with masks get a value. Then the results of all these
    /// bricks count from the start, so that a refusal names nearly all the memory needed.
    fn fills_masks(&self) -> bool;

    /// An upper estimate of the memory of results before they are in the grid, in bytes: `bricks`
    /// with values for `voxels` in all.
    fn bytes(&self, bricks: u64, voxels: u64) -> u64;
}

/// The results of `work` for each brick of `grid` that distinct triangles touch and,
/// `with_neighbors`, for the touched neighbours of its bricks: one list for each task, in no order.
/// Progress advances by the shares of each task that ends, [`SHARES`] in all.
///
/// # Errors
/// More than `memory` bytes for the lists of triangles and the results; cancellation.
pub(in crate::surface) fn bricks<W: BrickWork>(
    work: &W,
    distinct: &Distinct,
    grid: &VoxelGrid,
    with_neighbors: bool,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<Vec<W::Output>>, BackendError> {
    let [x, y, z] = grid.dims().map(|d| d.div_ceil(BRICK));
    let bits = x.max(y).max(z).next_power_of_two().ilog2();
    let all: Vec<u32> = distinct.triangles().collect();
    let weights = Weights::new(distinct.mesh.whole().len());
    let mut beforehand = 0;
    if work.fills_masks() {
        let voxels = grid.masks().par_iter().map(|mask| u64::from(count(mask))).sum();
        beforehand = work.bytes(grid.keys().len() as u64, voxels);
        check_memory(beforehand, memory)?;
    }
    let lists = ListMemory { allowed: memory, now: beforehand.into(), most: beforehand.into() };
    let traversal = Traversal { distinct, weights, grid, with_neighbors, lists, progress, work };
    let results = traversal.visit(Node { from: [0; 3], bits }, &all, SHARES);
    check_memory(traversal.lists.most.into_inner(), memory)?;
    check_cancelled(progress)?;
    Ok(results)
}

/// Memory, in bytes: of the lists of triangles of all nodes on the way down, of the work on the
/// current bricks, and of the results.
struct ListMemory {
    allowed: u64,
    now: AtomicU64,
    most: AtomicU64,
}

impl ListMemory {
    /// Counts a list until it is dropped; `None` if it would exceed the memory, which is recorded.
    fn reserve(&self, bytes: u64) -> Option<ListBytes<'_>> {
        let now = self.retain(bytes);
        let list = ListBytes { of: self, bytes };
        (now <= self.allowed).then_some(list)
    }

    /// Counts bytes that are not dropped; returns the sum.
    fn retain(&self, bytes: u64) -> u64 {
        let now = self.now.fetch_add(bytes, Relaxed) + bytes;
        self.most.fetch_max(now, Relaxed);
        now
    }
}

/// The memory of one list, until it is dropped.
struct ListBytes<'a> {
    of: &'a ListMemory,
    bytes: u64,
}

impl Drop for ListBytes<'_> {
    fn drop(&mut self) {
        self.of.now.fetch_sub(self.bytes, Relaxed);
    }
}

struct Traversal<'a, W> {
    distinct: &'a Distinct<'a>,
    weights: Weights,
    grid: &'a VoxelGrid,
    with_neighbors: bool,
    lists: ListMemory,
    progress: &'a dyn Progress,
    work: &'a W,
}

impl<W: BrickWork> Traversal<'_, W> {
    fn visit(&self, node: Node, triangles: &[u32], shares: u64) -> Vec<Vec<W::Output>> {
        let is_small = node.bits <= SEQUENTIAL_BITS && triangles.len() < PARALLEL_TRIANGLES;
        if is_small || node.bits == 0 {
            let mut results = Vec::new();
            self.visit_all(node, triangles, &mut W::Scratch::default(), &mut results);
            self.progress.advance(shares);
            return vec![results];
        }
        let children = self.children(node, triangles);
        // At most 2^32 and below 2^32, so the product does not overflow.
        let shares_of = |triangles: usize| match children.triangles.len() as u64 {
            0 => 0,
            all => shares * triangles as u64 / all,
        };
        let given: u64 = (0..64).map(|index| shares_of(children.triangles_of(index).len())).sum();
        self.progress.advance(shares - given);
        let visit = |index: usize| match children.triangles_of(index) {
            [] => Vec::new(),
            triangles => self.visit(node.child(index), triangles, shares_of(triangles.len())),
        };
        (0..64).into_par_iter().with_max_len(1).flat_map_iter(visit).collect()
    }

    fn visit_all(
        &self,
        node: Node,
        triangles: &[u32],
        scratch: &mut W::Scratch,
        results: &mut Vec<W::Output>,
    ) {
        if node.bits == 0 {
            if self.progress.is_cancelled() {
                return;
            }
            let bytes = triangles.len() as u64 * BrickTriangles::BYTES_A_TRIANGLE;
            let Some(_lists) = self.lists.reserve(bytes) else { return };
            let (key, weights) = (BrickKey::new(node.from), self.weights);
            let brick = BrickTriangles { distinct: self.distinct, key, triangles, weights };
            let (work, brick) = (self.work, &brick);
            let result = Arch::new().dispatch(WorkOfBrick { work, scratch, brick });
            let has_mask = || self.grid.keys().binary_search(&brick.key).is_ok();
            if !(work.fills_masks() && has_mask()) {
                self.lists.retain(work.bytes(1, W::voxels(&result)));
            }
            results.push(result);
            return;
        }
        let children = self.children(node, triangles);
        for index in 0..64 {
            match children.triangles_of(index) {
                [] => {}
                triangles => self.visit_all(node.child(index), triangles, scratch, results),
            }
        }
    }

    /// The triangles of each wanted child; none if they would take too much memory.
    fn children(&self, node: Node, triangles: &[u32]) -> Children<'_> {
        let mut masks =
            Arch::new().dispatch(TouchedChildren { mesh: self.distinct.mesh, node, triangles });
        let touched = set_bits(masks.iter().fold(0, |any, mask| any | mask));
        let wanted = touched.filter(|&bit| self.is_wanted(node.child(bit as usize)));
        let wanted = wanted.fold(0, |wanted, bit| wanted | 1 << bit);
        masks.iter_mut().for_each(|mask| *mask &= wanted);
        Children::new(triangles, &masks, &self.lists)
    }

    /// Whether a node in the grid has voxels, or is next to some if neighbours are wanted.
    fn is_wanted(&self, Node { from, bits }: Node) -> bool {
        let margin = u32::from(self.with_neighbors);
        let end = self.grid.dims().map(|d| d.div_ceil(BRICK));
        if (0..3).any(|a| from[a] >= end[a]) {
            return false;
        }
        let to = [0, 1, 2].map(|a| end[a].min(from[a] + (1 << bits) + margin));
        let from = from.map(|c| c.saturating_sub(margin));
        self.grid.brick_runs_in(from, to).next().is_some()
    }
}

impl Node {
    /// The children's edges are a quarter of the node's, or half of an edge of `2^k` bricks for an
    /// odd `k`.
    fn child_bits(self) -> u32 {
        (self.bits - 1) & !1
    }

    /// The child at bit `16 x + 4 y + z` of a [`BlockMask`].
    fn child(self, index: usize) -> Self {
        let bits = self.child_bits();
        let at = [index >> 4, index >> 2 & 3, index & 3];
        Self { from: [0, 1, 2].map(|a| self.from[a] + ((at[a] as u32) << bits)), bits }
    }
}

/// Works on one brick.
struct WorkOfBrick<'a, W: BrickWork> {
    work: &'a W,
    scratch: &'a mut W::Scratch,
    brick: &'a BrickTriangles<'a>,
}

impl<W: BrickWork> WithSimd for WorkOfBrick<'_, W> {
    type Output = W::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> W::Output {
        self.work.of_brick(simd, self.scratch, self.brick)
    }
}

/// Finds the children that each triangle touches.
struct TouchedChildren<'a> {
    mesh: &'a PlacedMesh,
    node: Node,
    triangles: &'a [u32],
}

impl WithSimd for TouchedChildren<'_> {
    type Output = Vec<BlockMask>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<BlockMask> {
        let Self { mesh, node, triangles } = self;
        let bits = node.child_bits();
        let box_bits = mesh.lattice().fraction_bits + BRICK.ilog2() + bits;
        let lowest = node.from.map(|c| (c >> bits) as i32);
        let block = Block { lowest, edge: 1 << (node.bits - bits) };
        block_masks(simd, mesh, triangles, box_bits, &[block])
    }
}

/// Triangles, grouped by child.
struct Children<'a> {
    triangles: Vec<u32>,
    /// The end of each child's group.
    ends: [usize; 64],
    /// `None` if there was not enough.
    _memory: Option<ListBytes<'a>>,
}

impl<'a> Children<'a> {
    fn new(triangles: &[u32], masks: &[BlockMask], memory: &'a ListMemory) -> Self {
        let mut ends = [0; 64];
        masks.iter().flat_map(|&mask| set_bits(mask)).for_each(|bit| ends[bit as usize] += 1);
        let mut total: usize = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let memory = memory.reserve((total * size_of::<u32>() + size_of_val(masks)) as u64);
        if memory.is_none() {
            return Self { triangles: Vec::new(), ends: [0; 64], _memory: None };
        }
        let mut grouped = vec![0; total];
        for (&triangle, &mask) in triangles.iter().zip(masks) {
            for bit in set_bits(mask) {
                let end = &mut ends[bit as usize];
                grouped[*end] = triangle;
                *end += 1;
            }
        }
        Self { triangles: grouped, ends, _memory: memory }
    }

    fn triangles_of(&self, child: usize) -> &[u32] {
        let start = child.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.triangles[start..self.ends[child]]
    }
}
