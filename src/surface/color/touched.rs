//! The boxes of a block that triangles touch, several triangles with each vector instruction.

use pulp::Simd;

use crate::grid::Mask;
use crate::lattice::{PlacedMesh, Triangle};
use crate::predicate::blocks::{BLOCK, BlockMask, LANES, Pairs, first_boxes, rows_of_eight};
use crate::predicate::boxes::BoxRange;

/// A cube of up to 4 x 4 x 4 boxes.
pub(super) struct Block {
    /// The minimum corner, in boxes.
    pub(super) lowest: [i32; 3],
    /// In boxes.
    pub(super) edge: i32,
}

/// The boxes of each block that each triangle touches: the masks of all blocks for the first
/// triangle, then for the next. A box has edges of `2^box_bits` lattice units.
#[inline(always)]
pub(super) fn block_masks<S: Simd>(
    simd: S,
    mesh: &PlacedMesh,
    triangles: &[u32],
    box_bits: u32,
    blocks: &[Block],
) -> Vec<BlockMask> {
    let mut masks = vec![0; triangles.len() * blocks.len()];
    let mut queue = Queue::new(box_bits);
    let mut index = 0;
    for &triangle in triangles {
        let triangle = mesh.triangle(triangle as usize);
        let bounds = BoxRange::of_triangle(&triangle, box_bits);
        for block in blocks {
            queue.add(simd, (&triangle, &bounds), block, index, &mut masks);
            index += 1;
        }
    }
    queue.solve(simd, &mut masks);
    masks
}

/// The voxels that each of `triangles` touches, of the brick with the minimum corner `base`.
#[inline(always)]
pub(super) fn brick_masks<S: Simd>(
    simd: S,
    mesh: &PlacedMesh,
    triangles: &[u32],
    base: [i32; 3],
) -> Vec<Mask> {
    let halves = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| [i >> 2, i >> 1 & 1, i & 1].map(|i| BLOCK * i));
    let blocks = halves.map(|half| {
        let lowest = [base[0] + half[0], base[1] + half[1], base[2] + half[2]];
        Block { lowest, edge: BLOCK }
    });
    let masks = block_masks(simd, mesh, triangles, mesh.lattice().fraction_bits, &blocks);
    let mut bricks = vec![[0; 8]; triangles.len()];
    for (brick, blocks) in bricks.iter_mut().zip(masks.chunks_exact(8)) {
        for (&block, [x, y, z]) in blocks.iter().zip(halves).filter(|(block, _)| **block != 0) {
            for (slice, word) in brick[x as usize..][..BLOCK as usize].iter_mut().enumerate() {
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
    fn new(box_bits: u32) -> Self {
        let origins = [Origin::default(); LANES];
        Self { pairs: Pairs::new(box_bits), extent: [1; 3], origins }
    }

    /// Finds the boxes of a block that a triangle with these `bounds` touches, for the mask of
    /// `index`.
    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        (triangle, bounds): (&Triangle, &BoxRange),
        &Block { lowest, edge }: &Block,
        index: usize,
        masks: &mut [BlockMask],
    ) {
        let range = bounds.intersect(&BoxRange { lo: lowest, hi: lowest.map(|i| i + edge - 1) });
        if range.is_empty() {
            return;
        }
        let [x, y, z] = [0, 1, 2].map(|a| range.lo[a] - lowest[a]);
        let extent = range.extent();
        let origin = Origin { index, shift: 16 * x + 4 * y + z, within: first_boxes(extent) };
        if bounds.extent().iter().filter(|&&e| e > 1).count() <= 1 {
            // A triangle touches all boxes of a line that its bounding box spans.
            masks[index] = origin.within << origin.shift;
            return;
        }
        self.extent = std::array::from_fn(|a| self.extent[a].max(extent[a]));
        self.origins[self.pairs.len()] = origin;
        self.pairs.push(triangle, range.lo);
        if self.pairs.len() == LANES {
            self.solve(simd, masks);
        }
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
