//! Finds the voxels that triangles touch by hierarchical refinement: tests a block of 4 x 4 x 4
//! boxes at a time, and expands each touched box to a block of the next level. A triangle starts at
//! the lowest level where one block contains it; one within a line of voxels needs no test.
//!
//! (triangle, block) pairs are queued until they fill a vector.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::backend::cpu::brick_cache::BrickCache;
use crate::backend::cpu::triangle_batch::{TriangleBatch, VoxelRanges};
use crate::grid::set_bits;
use crate::lattice::{MAX_DIM, PlacedMesh, Triangle};
use crate::predicate::blocks::{BLOCK, BLOCK_BITS, BlockMask, LANES, Pairs, first_boxes};
use crate::predicate::boxes::BoxRange;

/// Levels above the voxels': a block of the highest contains the largest grid.
const LEVELS: usize = (MAX_DIM.ilog2() / BLOCK_BITS) as usize - 1;
const _: () = assert!(MAX_DIM == 1 << (BLOCK_BITS * (LEVELS as u32 + 1)));

/// A task that sets the voxels that triangles touch in `bricks`.
pub(super) struct Task<'a, G> {
    pub(super) mesh: &'a PlacedMesh,
    /// Groups of triangles, each at most a [`TriangleBatch`].
    pub(super) groups: G,
    /// The voxels to set, inclusive, within the grid.
    pub(super) clip: BoxRange,
    pub(super) bricks: BrickCache<'a>,
}

impl<'a, G: Iterator<Item = Range<usize>>> WithSimd for Task<'a, G> {
    type Output = BrickCache<'a>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> BrickCache<'a> {
        let Self { mesh, groups, clip, bricks } = self;
        let fraction_bits = mesh.lattice().fraction_bits;
        let level = |level| Level {
            pairs: Pairs::new(fraction_bits + (level as u32 + 1) * BLOCK_BITS),
            extent: [1; 3],
            origins: [Origin { triangle: 0, range: clip }; LANES],
        };
        let mut refiner = Refiner {
            simd,
            mesh,
            clip,
            fraction_bits,
            levels: std::array::from_fn(level),
            blocks: vec![Pairs::new(fraction_bits); EXTENTS].into(),
            bricks,
        };
        let mut batch = TriangleBatch::new();
        for group in groups {
            batch.load(mesh, group.clone());
            let bounds = batch.bounds(fraction_bits, &clip);
            refiner.add(&batch, &bounds, group.start, group.len());
        }
        refiner.finish();
        refiner.bricks
    }
}

struct Refiner<'a, S> {
    simd: S,
    mesh: &'a PlacedMesh,
    clip: BoxRange,
    fraction_bits: u32,
    /// By box size, from 4 voxels up.
    levels: [Level; LEVELS],
    /// Pairs with a block of voxels, a queue for each extent.
    blocks: Box<[Pairs]>,
    bricks: BrickCache<'a>,
}

/// The queue of pairs with a block of boxes of one size.
struct Level {
    pairs: Pairs,
    /// Maximum extent of the queued blocks along each axis, in boxes.
    extent: [i32; 3],
    origins: [Origin; LANES],
}

/// The triangle and the block of a pair.
#[derive(Clone, Copy)]
struct Origin {
    triangle: u32,
    range: BoxRange,
}

const EXTENTS: usize = (BLOCK * BLOCK * BLOCK) as usize;

fn queue_of([x, y, z]: [i32; 3]) -> usize {
    ((x - 1) << 4 | (y - 1) << 2 | (z - 1)) as usize % EXTENTS
}

fn extent_of(queue: usize) -> [i32; 3] {
    let queue = queue as i32;
    [(queue >> 4) + 1, (queue >> 2 & 3) + 1, (queue & 3) + 1]
}

impl<S: Simd> Refiner<'_, S> {
    #[inline(always)]
    fn add(&mut self, batch: &TriangleBatch, bounds: &VoxelRanges, first: usize, len: usize) {
        let classes = bounds.classify(len);
        for lane in classes.pairs.iter() {
            let BoxRange { lo, hi } = bounds.range(lane);
            self.bricks.set_voxel(lo);
            self.bricks.set_voxel(hi);
        }
        for lane in classes.lines.iter() {
            let BoxRange { lo, hi } = bounds.range(lane);
            for x in lo[0]..=hi[0] {
                for y in lo[1]..=hi[1] {
                    (lo[2]..=hi[2]).for_each(|z| self.bricks.set_voxel([x, y, z]));
                }
            }
        }
        for lane in classes.blocks.iter() {
            self.push_block(&batch.triangle(lane), &bounds.range(lane));
        }
        for lane in classes.large.iter() {
            let (mut level, mut range) = (0, bounds.range(lane).coarser(BLOCK_BITS));
            while range.longest() > BLOCK {
                (level, range) = (level + 1, range.coarser(BLOCK_BITS));
            }
            let origin = Origin { triangle: (first + lane) as u32, range };
            self.push(level, origin, &batch.triangle(lane));
        }
    }

    /// Processes all queued pairs.
    #[inline(always)]
    fn finish(&mut self) {
        (0..LEVELS).rev().for_each(|level| self.solve(level));
        (0..EXTENTS).for_each(|queue| self.solve_blocks(queue));
    }

    #[inline(always)]
    fn push(&mut self, level: usize, origin: Origin, triangle: &Triangle) {
        let Level { pairs, extent, origins } = &mut self.levels[level];
        let own = origin.range.extent();
        *extent = [extent[0].max(own[0]), extent[1].max(own[1]), extent[2].max(own[2])];
        origins[pairs.len()] = origin;
        pairs.push(triangle, origin.range.lo);
        if pairs.len() == LANES {
            self.solve(level);
        }
    }

    #[inline(always)]
    fn push_block(&mut self, triangle: &Triangle, range: &BoxRange) {
        let queue = queue_of(range.extent());
        let pairs = &mut self.blocks[queue];
        pairs.push(triangle, range.lo);
        if pairs.len() == LANES {
            self.solve_blocks(queue);
        }
    }

    fn solve(&mut self, level: usize) {
        self.simd.vectorize(Solve { refiner: self, level });
    }

    /// Processes the queue of one extent of blocks of voxels.
    fn solve_blocks(&mut self, queue: usize) {
        self.simd.vectorize(SolveBlocks { refiner: self, queue });
    }

    /// Queues a block of the level below for each box of `mask` on `level`.
    fn expand(&mut self, level: usize, Origin { triangle: index, range }: Origin, mask: BlockMask) {
        let triangle = self.mesh.triangle(index as usize);
        let bounds = BoxRange::of_triangle(&triangle, self.fraction_bits).intersect(&self.clip);
        let bounds = bounds.coarser(level as u32 * BLOCK_BITS);
        let [x, y, z] = range.lo;
        for bit in set_bits(mask) {
            let bit = bit as i32;
            let position = [x + (bit >> 4), y + (bit >> 2 & 3), z + (bit & 3)];
            let lo = position.map(|i| i << BLOCK_BITS);
            let block = BoxRange { lo, hi: lo.map(|i| i + BLOCK - 1) }.intersect(&bounds);
            match level.checked_sub(1) {
                Some(below) => {
                    self.push(below, Origin { triangle: index, range: block }, &triangle);
                }
                None => self.push_block(&triangle, &block),
            }
        }
    }
}

struct Solve<'r, 'a, S> {
    refiner: &'r mut Refiner<'a, S>,
    level: usize,
}

impl<S: Simd> WithSimd for Solve<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Same: Simd>(self, _: Same) {
        let Self { refiner, level } = self;
        let Level { pairs, extent, origins } = &mut refiner.levels[level];
        let (len, origins) = (pairs.len(), *origins);
        if len > 0 {
            let masks = pairs.solve(refiner.simd, std::mem::replace(extent, [1; 3]));
            for (origin, mask) in origins.into_iter().zip(masks).take(len) {
                refiner.expand(level, origin, mask & first_boxes(origin.range.extent()));
            }
        }
    }
}

struct SolveBlocks<'r, 'a, S> {
    refiner: &'r mut Refiner<'a, S>,
    queue: usize,
}

impl<S: Simd> WithSimd for SolveBlocks<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Same: Simd>(self, _: Same) {
        let Self { refiner, queue } = self;
        let pairs = &mut refiner.blocks[queue];
        let (len, extent) = (pairs.len(), extent_of(queue));
        if len > 0 {
            let masks = pairs.solve(refiner.simd, extent);
            refiner.bricks.set_blocks(pairs.lowest(), extent, &masks, len);
        }
    }
}
