//! Fills on dense arrays, voxel by voxel, ray by ray.

use std::cmp::Reverse;

use trivox::VoxelGrid;
use trivox::grid::{BrickKey, Mask, count, mask_voxels};
use trivox::solid::fill::AxisDisagreement;

use super::paths::reached_from_outside;
use super::voxels::voxels_in;

/// The reference: a bit for each voxel.
#[derive(Clone, PartialEq)]
pub struct Dense {
    pub dims: [u32; 3],
    pub bits: Vec<bool>,
}

impl Dense {
    pub fn from_fn(dims: [u32; 3], is_set: impl FnMut([u32; 3]) -> bool) -> Self {
        Self { dims, bits: voxels(dims).map(is_set).collect() }
    }

    pub fn empty(dims: [u32; 3]) -> Self {
        Self::from_fn(dims, |_| false)
    }

    pub fn index(&self, [x, y, z]: [u32; 3]) -> usize {
        ((x * self.dims[1] + y) * self.dims[2] + z) as usize
    }

    pub fn get(&self, voxel: [u32; 3]) -> bool {
        self.bits[self.index(voxel)]
    }

    pub fn flip(&mut self, voxel: [u32; 3]) {
        let index = self.index(voxel);
        self.bits[index] ^= true;
    }

    pub fn set(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        voxels(self.dims).filter(|&voxel| self.get(voxel))
    }

    pub fn grid(&self) -> VoxelGrid {
        VoxelGrid::from_voxels(self.dims, self.set()).expect("voxels inside the grid")
    }

    /// Of a solid: the voxels that differ from the one before.
    pub fn flips(&self, axis: usize) -> Self {
        Self::from_fn(self.dims, |mut voxel| {
            let here = self.get(voxel);
            let is_first = voxel[axis] == 0;
            voxel[axis] = voxel[axis].saturating_sub(1);
            here != (!is_first && self.get(voxel))
        })
    }
}

/// All voxels, in the order of [`Dense::bits`].
pub fn voxels(dims: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    voxels_in([0; 3], dims)
}

/// The voxels of the column through `voxel`.
fn column(dims: [u32; 3], voxel: [u32; 3], axis: usize) -> impl Iterator<Item = [u32; 3]> {
    (0..dims[axis]).map(move |c| [0, 1, 2].map(|a| if a == axis { c } else { voxel[a] }))
}

/// The number of flips in the column through `voxel` before the place `end`.
fn flips_before(flips: &Dense, voxel: [u32; 3], axis: usize, end: u32) -> usize {
    column(flips.dims, voxel, axis).take(end as usize).filter(|&v| flips.get(v)).count()
}

/// The voxels inside, and the number of columns inside at the grid's end.
pub fn filled(flips: &Dense) -> (VoxelGrid, u64) {
    let inside = Dense::from_fn(flips.dims, |v| flips_before(flips, v, 0, v[0] + 1) % 2 == 1);
    let last = flips.dims[0] - 1;
    let open_columns = inside.set().filter(|v| v[0] == last).count() as u64;
    (inside.grid(), open_columns)
}

pub fn voted(flips: &[Dense; 3]) -> (VoxelGrid, AxisDisagreement) {
    let dims = flips[0].dims;
    let (mut inside, mut disputed) = (Dense::empty(dims), Dense::empty(dims));
    for voxel in voxels(dims) {
        let (mut votes, mut columns) = ([0, 0], [0, 0]);
        for (axis, flips) in flips.iter().enumerate() {
            let before = flips_before(flips, voxel, axis, voxel[axis] + 1);
            let after = flips_before(flips, voxel, axis, dims[axis]) - before;
            votes[before % 2] += 1;
            votes[after % 2] += 1;
            columns[before % 2] += u32::from(before % 2 == after % 2);
        }
        if votes[1] > votes[0] {
            inside.flip(voxel);
        }
        if !columns.contains(&0) || columns[0] + columns[1] < 2 {
            disputed.flip(voxel);
        }
    }
    let disagreement = disagreement(flips, &inside, &disputed);
    (inside.grid(), disagreement)
}

fn disagreement(flips: &[Dense; 3], inside: &Dense, disputed: &Dense) -> AxisDisagreement {
    let dims = inside.dims;
    let starts = |axis: usize| voxels(dims).filter(move |v| v[axis] == 0);
    let columns_with = |sets: &[&Dense]| {
        let has = |v: [u32; 3]| column(dims, v, 0).any(|v| sets.iter().any(|set| set.get(v)));
        starts(0).filter(|&v| has(v)).count() as u64
    };
    let odd = [0, 1, 2].map(|axis| {
        let is_odd = |v: &[u32; 3]| flips_before(&flips[axis], *v, axis, dims[axis]) % 2 == 1;
        starts(axis).filter(is_odd).count() as u64
    });
    let grid = disputed.grid();
    let number = |(key, mask): &(BrickKey, Mask)| (count(mask), Reverse(*key));
    let first_of_most = grid.bricks().max_by_key(number);
    let worst = first_of_most.and_then(|(key, mask)| mask_voxels(key.first_voxel(), mask).next());
    AxisDisagreement {
        voxels: grid.occupied(),
        columns: columns_with(&[disputed]),
        of_columns: columns_with(&[inside, disputed]),
        odd,
        worst,
    }
}

/// The surface with the enclosed voxels, and their number.
pub fn flooded(surface: &Dense) -> (VoxelGrid, u64) {
    let outside = reached_from_outside(&surface.grid());
    let closed = Dense::from_fn(surface.dims, |voxel| !outside.contains(voxel));
    let enclosed = closed.set().count() - surface.set().count();
    (closed.grid(), enclosed as u64)
}
