//! The boxes of a block that triangles touch, several triangles with each vector instruction.

use pulp::Simd;

use crate::grid::Mask;
use crate::lattice::PlacedMesh;
use crate::predicate::blocks::{BLOCK, BlockMask, LANES, Pairs, first_boxes, rows_of_eight};
use crate::predicate::boxes::BoxRange;

/// A cube of up to 4 x 4 x 4 boxes of `2^box_bits` lattice units.
pub(super) struct Block {
    pub(super) box_bits: u32,
    /// The minimum corner, in boxes.
    pub(super) lowest: [i32; 3],
    /// In boxes.
    pub(super) edge: i32,
}

/// Writes to `masks`, for each of `triangles`, the boxes of the block that it touches.
#[inline(always)]
pub(super) fn block_masks<S: Simd>(
    simd: S,
    mesh: &PlacedMesh,
    triangles: &[u32],
    &Block { box_bits, lowest, edge }: &Block,
    masks: &mut Vec<BlockMask>,
) {
    let block = BoxRange { lo: lowest, hi: lowest.map(|i| i + edge - 1) };
    masks.clear();
    masks.resize(triangles.len(), 0);
    let mut queue =
        Queue { pairs: Pairs::new(box_bits), extent: [1; 3], origins: [Origin::default(); LANES] };
    for (index, &triangle) in triangles.iter().enumerate() {
        let triangle = mesh.triangle(triangle as usize);
        let bounds = BoxRange::of_triangle(&triangle, box_bits);
        let range = bounds.intersect(&block);
        if range.is_empty() {
            continue;
        }
        let [x, y, z] = [0, 1, 2].map(|a| range.lo[a] - lowest[a]);
        let extent = range.extent();
        let origin = Origin { index, shift: 16 * x + 4 * y + z, within: first_boxes(extent) };
        if bounds.extent().iter().filter(|&&e| e > 1).count() <= 1 {
            // A triangle touches all boxes of a line that its bounding box spans.
            masks[index] = origin.within << origin.shift;
            continue;
        }
        queue.push(&triangle, range.lo, extent, origin);
        if queue.pairs.len() == LANES {
            queue.solve(simd, masks);
        }
    }
    queue.solve(simd, masks);
}

/// The voxels that each of `triangles` touches, of the brick with the minimum corner `base`.
#[inline(always)]
pub(in crate::surface) fn brick_masks<S: Simd>(
    simd: S,
    mesh: &PlacedMesh,
    triangles: &[u32],
    base: [i32; 3],
) -> Vec<Mask> {
    let mut bricks = vec![[0; 8]; triangles.len()];
    let mut blocks = Vec::new();
    for [x, y, z] in (0..8).map(|i| [i >> 2, i >> 1 & 1, i & 1].map(|half: usize| 4 * half)) {
        let lowest = [base[0] + x as i32, base[1] + y as i32, base[2] + z as i32];
        let block = Block { box_bits: mesh.lattice().fraction_bits, lowest, edge: BLOCK };
        block_masks(simd, mesh, triangles, &block, &mut blocks);
        for (brick, block) in bricks.iter_mut().zip(&blocks) {
            for (slice, word) in brick[x..x + 4].iter_mut().enumerate() {
                *word |= rows_of_eight(block >> (16 * slice)) << (8 * y + z);
            }
        }
    }
    bricks
}

/// Pairs of a triangle and the part of the block that its bounding box meets.
struct Queue {
    pairs: Pairs,
    /// Maximum extent of the queued parts.
    extent: [i32; 3],
    origins: [Origin; LANES],
}

#[derive(Clone, Copy, Default)]
struct Origin {
    /// The index of the triangle's mask.
    index: usize,
    /// The bit of the part's minimum corner.
    shift: i32,
    /// The boxes of the part, from bit 0.
    within: BlockMask,
}

impl Queue {
    #[inline(always)]
    fn push(&mut self, triangle: &[[i32; 3]; 3], lo: [i32; 3], extent: [i32; 3], of: Origin) {
        self.extent = std::array::from_fn(|a| self.extent[a].max(extent[a]));
        self.origins[self.pairs.len()] = of;
        self.pairs.push(triangle, lo);
    }

    #[inline(always)]
    fn solve<S: Simd>(&mut self, simd: S, masks: &mut [BlockMask]) {
        let len = self.pairs.len();
        if len == 0 {
            return;
        }
        let extent = std::mem::replace(&mut self.extent, [1; 3]);
        let touched = self.pairs.solve(simd, extent);
        for (origin, touched) in self.origins.iter().zip(touched).take(len) {
            masks[origin.index] = (touched & origin.within) << origin.shift;
        }
    }
}
