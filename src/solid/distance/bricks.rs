//! Ranges of bricks.

use crate::grid::BRICK;
use crate::solid::distance::clusters::Aabb;

/// A half-open range of bricks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bricks {
    pub(crate) from: [u32; 3],
    pub(crate) to: [u32; 3],
}

impl Bricks {
    /// All bricks of a grid.
    pub(crate) fn of_grid(dims: [u32; 3]) -> Self {
        Self { from: [0; 3], to: dims.map(|d| d.div_ceil(BRICK)) }
    }

    /// The number of bricks.
    pub(crate) fn count(&self) -> u64 {
        [0, 1, 2].map(|axis| u64::from(self.len(axis))).into_iter().product()
    }

    /// The number of rows along `x`.
    pub(crate) fn rows(&self) -> u64 {
        u64::from(self.len(1)) * u64::from(self.len(2))
    }

    fn len(&self, axis: usize) -> u32 {
        self.to[axis] - self.from[axis]
    }

    /// Both halves, in canonical order; `None` of one brick.
    pub(crate) fn halves(&self) -> Option<[Self; 2]> {
        let axis = (0..3).rev().find(|&axis| self.len(axis) > 1)?;
        let [mut before, mut after] = [*self; 2];
        before.to[axis] -= self.len(axis) / 2;
        after.from[axis] = before.to[axis];
        Some([before, after])
    }

    /// The bounds of the voxels' centres.
    pub(crate) fn centers(&self, fraction_bits: u32) -> Aabb {
        let half = 1 << (fraction_bits - 1);
        let at = |brick: u32| ((brick * BRICK) << fraction_bits).cast_signed();
        Aabb { lo: self.from.map(|c| at(c) + half), hi: self.to.map(|c| at(c) - half) }
    }
}

/// Division into blocks; the last block along an axis may be smaller.
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
impl Bricks {
    /// The number of blocks of `side` bricks along each edge.
    pub(crate) fn blocks(&self, side: u32) -> u64 {
        [0, 1, 2].map(|axis| u64::from(self.len(axis).div_ceil(side))).into_iter().product()
    }

    /// Both halves, in blocks, across the longest axis; `None` of one block.
    pub(crate) fn halves_in_blocks(&self, side: u32) -> Option<[Self; 2]> {
        let axis = (0..3).max_by_key(|&axis| self.len(axis))?;
        let blocks = self.len(axis).div_ceil(side);
        let [mut before, mut after] = [*self; 2];
        before.to[axis] = self.from[axis] + blocks.div_ceil(2) * side;
        after.from[axis] = before.to[axis];
        (blocks > 1).then_some([before, after])
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::grid::BrickKey;

    /// The keys of all bricks, in canonical order.
    fn keys(bricks: &Bricks) -> Vec<BrickKey> {
        let [x, y, z] = [0, 1, 2].map(|a| bricks.from[a]..bricks.to[a]);
        let all = z.flat_map(|z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| BrickKey::new([x, y, z])))
        });
        all.collect()
    }

    #[test]
    fn both_halves_of_a_range_are_all_of_its_bricks_in_order() {
        let mut rng = Rng::with_seed(51);
        for _ in 0..1000 {
            let from = [(); 3].map(|()| rng.u32(0..50));
            let bricks = Bricks { from, to: from.map(|c| c + rng.u32(1..6)) };
            let all = keys(&bricks);
            let in_row = (bricks.to[0] - bricks.from[0]) as usize;
            assert_eq!(bricks.rows() as usize, all.len() / in_row);
            let Some([before, after]) = bricks.halves() else {
                assert_eq!(all.len(), 1);
                continue;
            };
            let lens = [&before, &after].map(|half| keys(half).len());
            assert_eq!([keys(&before), keys(&after)].concat(), all);
            // Of an odd number of rows, the first half has one more.
            assert!(lens[0] >= lens[1] && lens[1] * 2 >= lens[0], "{lens:?}");

            let fraction_bits = rng.u32(4..10);
            let middle = |voxel: u32| (2 * voxel as i32 + 1) << (fraction_bits - 1);
            let centers = bricks.centers(fraction_bits);
            assert_eq!(centers.lo, bricks.from.map(|c| middle(8 * c)));
            assert_eq!(centers.hi, bricks.to.map(|c| middle(8 * c - 1)));
        }
    }

    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    #[test]
    fn blocks_are_all_of_a_range_and_cut_only_at_its_end() {
        let mut rng = Rng::with_seed(53);
        for _ in 0..200 {
            let side = rng.u32(1..4);
            let dims = [(); 3].map(|()| rng.u32(1..100));
            let grid = Bricks::of_grid(dims);
            let (mut ranges, mut blocks) = (vec![grid], Vec::new());
            while let Some(range) = ranges.pop() {
                match range.halves_in_blocks(side) {
                    Some(halves) => ranges.extend(halves),
                    None => blocks.push(range),
                }
            }
            assert_eq!(blocks.len() as u64, grid.blocks(side));
            assert_eq!(blocks.iter().map(Bricks::count).sum::<u64>(), grid.count());
            for block in blocks {
                for axis in 0..3 {
                    assert_eq!(block.from[axis] % side, 0);
                    assert_eq!(block.to[axis], grid.to[axis].min(block.from[axis] + side));
                }
            }
        }
    }
}
