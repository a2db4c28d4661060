//! Ranges of bricks.

use crate::grid::BRICK;
use crate::lattice::Aabb;

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
        self.blocks(1)
    }

    /// The number of blocks of `side` bricks along each edge. The last block along an axis may be
    /// smaller.
    pub(crate) fn blocks(&self, side: u32) -> u64 {
        [0, 1, 2].map(|axis| u64::from(self.len(axis).div_ceil(side))).into_iter().product()
    }

    fn len(&self, axis: usize) -> u32 {
        self.to[axis] - self.from[axis]
    }

    /// Both halves, in whole [blocks](Self::blocks), across the longest axis; `None` of one block.
    pub(crate) fn halves(&self, side: u32) -> Option<[Self; 2]> {
        let axis = (0..3).max_by_key(|&axis| self.len(axis))?;
        let blocks = self.len(axis).div_ceil(side);
        let [mut before, mut after] = [*self; 2];
        before.to[axis] = self.from[axis] + blocks.div_ceil(2) * side;
        after.from[axis] = before.to[axis];
        (blocks > 1).then_some([before, after])
    }

    /// The bounds of the voxels' centres.
    pub(crate) fn centers(&self, fraction_bits: u32) -> Aabb {
        let half = 1 << (fraction_bits - 1);
        let at = |brick: u32| ((brick * BRICK) << fraction_bits).cast_signed();
        Aabb { lo: self.from.map(|c| at(c) + half), hi: self.to.map(|c| at(c) - half) }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn blocks_are_all_of_a_range_and_cut_only_at_its_end() {
        let mut rng = Rng::with_seed(53);
        for _ in 0..200 {
            let side = rng.u32(1..4);
            let dims = [(); 3].map(|()| rng.u32(1..100));
            let grid = Bricks::of_grid(dims);
            let (mut ranges, mut blocks) = (vec![grid], Vec::new());
            while let Some(range) = ranges.pop() {
                match range.halves(side) {
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
