//! What can be reached from outside of a grid, voxel by voxel.

use trivox::VoxelGrid;

use super::voxels::voxels_in;

/// The voxels that paths from outside the grid reach, from face to face, without one of `walls`.
pub fn reached_from_outside(walls: &VoxelGrid) -> VoxelGrid {
    let dims = walls.dims();
    let index = |[x, y, z]: [u32; 3]| ((z * dims[1] + y) * dims[0] + x) as usize;
    let mut is_closed = vec![false; dims.iter().map(|&d| d as usize).product()];
    walls.voxels().for_each(|voxel| is_closed[index(voxel)] = true);
    let (mut reached, mut waiting) = (Vec::new(), Vec::new());
    let mut enter = |voxel: [u32; 3], waiting: &mut Vec<[u32; 3]>| {
        if !std::mem::replace(&mut is_closed[index(voxel)], true) {
            waiting.push(voxel);
        }
    };
    for voxel in voxels_in([0; 3], dims) {
        if (0..3).any(|a| voxel[a] == 0 || voxel[a] == dims[a] - 1) {
            enter(voxel, &mut waiting);
        }
    }
    while let Some(voxel) = waiting.pop() {
        reached.push(voxel);
        neighbours(voxel, dims).for_each(|beside| enter(beside, &mut waiting));
    }
    VoxelGrid::from_voxels(dims, reached).expect("voxels inside the grid")
}

/// The voxels that share a face with `voxel`.
pub fn neighbours(voxel: [u32; 3], dims: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..6).filter_map(move |side| {
        let (axis, is_up) = (side / 2, side % 2 == 1);
        let mut beside = voxel;
        beside[axis] = if is_up { voxel[axis] + 1 } else { voxel[axis].checked_sub(1)? };
        (beside[axis] < dims[axis]).then_some(beside)
    })
}
