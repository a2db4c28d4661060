//! A grid as arrays that a caller owns: a value for each occupied voxel, or for each voxel; and
//! back.

use rayon::prelude::*;

use super::{
    BRICK, BrickKey, BrickRun, FULL, GridError, Mask, VoxelGrid, checked_dims, count, is_empty,
    key_ranges, set_bits,
};
use crate::base::divided;

impl VoxelGrid {
    /// Fills `out`, one element for each occupied voxel in the order of [`voxels`](Self::voxels),
    /// on all threads: `fill` gets each brick, its mask, and the elements of its voxels.
    ///
    /// ```
    /// use trivox::VoxelGrid;
    /// use trivox::grid::{BRICK, mask_voxels};
    ///
    /// let grid = VoxelGrid::from_voxels([4, 4, 4], [[1, 2, 3], [0, 1, 0]])?;
    /// let mut coordinates = vec![[0; 3]; grid.occupied() as usize];
    /// grid.fill_voxels(&mut coordinates, |key, mask, out| {
    ///     let voxels = mask_voxels(key.first_voxel(), *mask);
    ///     out.iter_mut().zip(voxels).for_each(|(out, voxel)| *out = voxel);
    /// });
    /// assert_eq!(coordinates, [[0, 1, 0], [1, 2, 3]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// `out` does not have one element for each occupied voxel.
    pub fn fill_voxels<T: Send>(
        &self,
        out: &mut [T],
        fill: impl Fn(BrickKey, &Mask, &mut [T]) + Sync,
    ) {
        self.fill_runs(
            out,
            |run| count(&run.mask) as usize * run.len as usize,
            |run, out| {
                let each = count(&run.mask) as usize;
                for (n, out) in (0..run.len).zip(out.chunks_exact_mut(each)) {
                    fill(run.start.along_x(n), &run.mask, out);
                }
            },
        );
    }

    /// Fills `out`, one element for each brick that holds a voxel, in canonical order, on all
    /// threads.
    ///
    /// # Panics
    /// `out` does not have [`brick_count`](Self::brick_count) elements.
    pub fn fill_bricks<T: Send>(&self, out: &mut [T], value: impl Fn(BrickKey, &Mask) -> T + Sync) {
        self.fill_runs(
            out,
            |run| run.len as usize,
            |run, out| {
                for (n, out) in (0..run.len).zip(out) {
                    *out = value(run.start.along_x(n), &run.mask);
                }
            },
        );
    }

    /// Gives each run, in canonical order, the next `length` elements of `out`, on all threads.
    fn fill_runs<T: Send>(
        &self,
        out: &mut [T],
        length: impl Fn(&BrickRun) -> usize + Sync,
        fill: impl Fn(&BrickRun, &mut [T]) + Sync,
    ) {
        let parts = key_ranges(&[self]);
        let runs = |&[first, end]: &[BrickKey; 2]| self.brick_runs_between(first, end);
        let lengths: Vec<usize> =
            parts.par_iter().map(|part| runs(part).map(|run| length(&run)).sum()).collect();
        assert_eq!(lengths.iter().sum::<usize>(), out.len(), "elements");
        parts.par_iter().zip(divided(out, lengths)).for_each(|(part, mut out)| {
            for run in runs(part) {
                fill(&run, out.split_off_mut(..length(&run)).expect("as long as its parts"));
            }
        });
    }

    /// Sets the elements of occupied voxels in `out` to `value`, on all threads. `out` holds an
    /// element for each voxel of the grid, `z` fastest, then `y`, then `x` (C order for the index
    /// `[x, y, z]`).
    ///
    /// # Panics
    /// `out` does not have one element for each voxel of the grid.
    pub fn fill_dense<T: Copy + Send + Sync>(&self, out: &mut [T], value: T) {
        let [nx, ny, nz] = self.dims().map(|d| d as usize);
        assert_eq!(out.len(), nx * ny * nz, "elements");
        // One layer of bricks along `x` is contiguous.
        let mut layers = vec![Vec::new(); nx.div_ceil(BRICK as usize)];
        for run in self.brick_runs() {
            let [x, y, z] = run.start.position();
            for n in 0..run.len {
                layers[(x + n) as usize].push(([y, z], run.mask));
            }
        }
        let chunks = out.par_chunks_mut(BRICK as usize * ny * nz);
        chunks.zip(layers).for_each(|(out, bricks)| {
            for ([y, z], mask) in bricks {
                let [y, z] = [y, z].map(|b| (b * BRICK) as usize);
                let is_full = mask == FULL;
                for (x, word) in mask.into_iter().enumerate() {
                    if word == 0 {
                        continue;
                    }
                    let corner = (x * ny + y) * nz + z;
                    if is_full {
                        (0..8).for_each(|y| out[corner + y * nz..][..8].fill(value));
                        continue;
                    }
                    for bit in set_bits(word) {
                        let bit = bit as usize;
                        out[corner + bit / 8 * nz + bit % 8] = value;
                    }
                }
            }
        });
    }

    /// The voxels whose element of `values` is not the default, such as 0 or false. The elements
    /// are in the order of [`fill_dense`](Self::fill_dense).
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`](crate::lattice::MAX_DIM).
    ///
    /// # Panics
    /// `values` does not have one element for each voxel of the grid.
    pub fn from_dense<T: Default + PartialEq + Sync>(
        dims: [u32; 3],
        values: &[T],
    ) -> Result<Self, GridError> {
        checked_dims(dims)?;
        let [nx, ny, nz] = dims.map(|d| d as usize);
        assert_eq!(values.len(), nx * ny * nz, "elements");
        let [_, y_bricks, z_bricks] = dims.map(|d| d.div_ceil(BRICK));
        // One layer of bricks along `x` is contiguous.
        let layers = values.par_chunks(BRICK as usize * ny * nz).enumerate().map(|(x, layer)| {
            let columns = (0..y_bricks).flat_map(|y| (0..z_bricks).map(move |z| [y, z]));
            let brick = |[y, z]: [u32; 2]| {
                let first = [y, z].map(|brick| (brick * BRICK) as usize);
                (BrickKey::new([x as u32, y, z]), mask_of_values(layer, [ny, nz], first))
            };
            columns.map(brick).filter(|(_, mask)| !is_empty(mask)).collect()
        });
        let layers: Vec<Vec<(BrickKey, Mask)>> = layers.collect();
        Self::from_parts(dims, &layers)
    }
}

/// The mask of a brick in a layer of slices of `ny` rows of `nz` values; `y` and `z` are its first
/// row and value.
fn mask_of_values<T: Default + PartialEq>(
    layer: &[T],
    [ny, nz]: [usize; 2],
    [y, z]: [usize; 2],
) -> Mask {
    let mut mask = Mask::default();
    for (slice, word) in layer.chunks(ny * nz).zip(&mut mask) {
        for (row, values) in slice.chunks(nz).skip(y).take(BRICK as usize).enumerate() {
            for (bit, value) in values[z..].iter().take(BRICK as usize).enumerate() {
                *word |= u64::from(*value != T::default()) << (8 * row + bit);
            }
        }
    }
    mask
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::grid::mask_voxels;

    fn random_grid(random: &mut fastrand::Rng) -> VoxelGrid {
        let dims = [random.u32(1..90), random.u32(1..40), random.u32(1..40)];
        let voxels = (0..random.usize(0..3000)).map(|_| dims.map(|d| random.u32(0..d)));
        let grid = VoxelGrid::from_voxels(dims, voxels.collect::<Vec<_>>()).unwrap();
        let bricks = dims.map(|d| d / BRICK);
        let run = (0..bricks[0]).filter(|_| bricks[1] > 0 && bricks[2] > 0);
        let run = run.map(|x| (BrickKey::new([x, 0, 0]), FULL)).collect();
        grid.union(&VoxelGrid::from_bricks(dims, run).unwrap())
    }

    #[test]
    fn arrays_hold_what_iterators_give_in_their_order() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..200 {
            let grid = random_grid(&mut random);
            let mut voxels = vec![[0; 3]; grid.occupied() as usize];
            grid.fill_voxels(&mut voxels, |key, mask, out| {
                let of_brick = mask_voxels(key.first_voxel(), *mask);
                out.iter_mut().zip(of_brick).for_each(|(out, voxel)| *out = voxel);
            });
            assert!(voxels.iter().copied().eq(grid.voxels()), "{grid:?}");
            let mut bricks = vec![(BrickKey::default(), [0; 8]); grid.brick_count() as usize];
            grid.fill_bricks(&mut bricks, |key, mask| (key, *mask));
            assert!(bricks.iter().copied().eq(grid.bricks()), "{grid:?}");
        }
    }

    #[test]
    fn a_dense_array_has_each_voxel_at_its_index() {
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..200 {
            let grid = random_grid(&mut random);
            let [nx, ny, nz] = grid.dims();
            let mut dense = vec![false; (nx * ny * nz) as usize];
            grid.fill_dense(&mut dense, true);
            let index = |[x, y, z]: [u32; 3]| ((x * ny + y) * nz + z) as usize;
            assert!(grid.voxels().all(|voxel| dense[index(voxel)]), "{grid:?}");
            assert_eq!(dense.iter().filter(|&&is| is).count() as u64, grid.occupied());
            assert_eq!(VoxelGrid::from_dense(grid.dims(), &dense).unwrap(), grid);
        }
    }
}
