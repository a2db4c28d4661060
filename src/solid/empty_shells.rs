//! Shells in which a solid has no voxel.

use rayon::prelude::*;

use crate::grid::{BRICK, VoxelGrid, mask_voxels};
use crate::lattice::{Aabb, Lattice};

/// Shells in whose bounding box the solid has no voxel: thinner than a voxel, or open. Cavities do
/// not count if all shells are closed and the cavities face inwards.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EmptyShells {
    /// The number of these shells.
    pub count: u64,
    /// The longest side of their bounding boxes, in voxels.
    pub longest: f64,
}

impl EmptyShells {
    /// Counts the shells without a voxel, by their bounding boxes; shells that extend outside the
    /// grid do not count.
    pub(super) fn of(shells: &[Aabb], grid: &VoxelGrid, lattice: &Lattice) -> Self {
        let (units, end) = (lattice.units_per_voxel(), lattice.end());
        let is_in_grid =
            |shell: &&Aabb| (0..3).all(|a| shell.lo[a] >= 0 && i64::from(shell.hi[a]) <= end[a]);
        let empty = shells
            .par_iter()
            .filter(is_in_grid)
            .filter(|shell| !has_voxel(grid, shell, units))
            .map(|shell| (1, shell.length()));
        let (count, longest) = empty.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
        Self { count, longest: f64::from(longest) / f64::from(units) }
    }
}

/// Whether the grid has a voxel with its centre in a box within the grid.
fn has_voxel(grid: &VoxelGrid, bounds: &Aabb, units: i32) -> bool {
    let half = units / 2;
    // The first voxel with its centre in the box, and the first past it, on each axis.
    let first = bounds.lo.map(|c| (c - half + units - 1).div_euclid(units).cast_unsigned());
    let end = bounds.hi.map(|c| (c + half).div_euclid(units).cast_unsigned());
    if (0..3).any(|a| first[a] >= end[a]) {
        return false;
    }
    let is_in_box = |voxel: [u32; 3]| (0..3).all(|a| (first[a]..end[a]).contains(&voxel[a]));
    let [from, to] = [first.map(|c| c / BRICK), end.map(|c| c.div_ceil(BRICK))];
    grid.brick_runs_in(from, to).any(|run| {
        let brick = |n| run.start.along_x(n).first_voxel();
        (0..run.len).any(|n| mask_voxels(brick(n), run.mask).any(is_in_box))
    })
}
