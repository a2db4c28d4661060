//! Estimates the work of the offsets of a boundary by counts. They depend on the boundary and on
//! the voxel size alone, so they are the same on every machine and in every tile.
//!
//! The octree is descended as for the offsets, but below its first levels only one of eight
//! children is visited, and its work counts eightfold.

use super::{CapBrick, FIRST_TOLERANCE, Field, NEAR_TOLERANCES, ROOT_TOLERANCES};
use crate::grid::BRICK;
use crate::lattice::Aabb;
use crate::solid::fill::loop_bvh::LoopBvh;
use crate::solid::fill::offsets::cube::Cube;
use crate::solid::topology::Boundary;

/// Voxels along the longest axis above which the estimated work does not grow.
const MAX_VOXELS: f64 = 256.0;
/// The size of the octree's root, relative to the smallest cubes all of whose children are visited.
const VISITED_WHOLE: u32 = 8;
/// The measured cost of an expansion of a block of edges. The unit is a jump of a column, which
/// costs as much as a term of a sum for one voxel.
const EXPANSION: u64 = 16;

/// Whether the offsets of a boundary take at most about `most` jumps, in a grid of voxels of
/// `units_per_voxel` over a mesh from `lo` to `hi`.
pub(in crate::solid) fn takes_at_most(
    most: u64,
    boundary: &Boundary,
    Aabb { lo, hi }: Aabb,
    units_per_voxel: i32,
) -> bool {
    let extent = [0, 1, 2].map(|a| f64::from(hi[a]) - f64::from(lo[a]));
    let longest = extent.into_iter().fold(0.0, f64::max);
    let units_per_voxel = f64::from(units_per_voxel).max(longest / MAX_VOXELS);
    let dims = extent.map(|length| ((length / units_per_voxel).ceil() as u32).max(1));
    let bvh = LoopBvh::new(boundary.clone().relative_to(lo).loops());
    let field = Field::of(bvh, units_per_voxel, dims);
    let (root, mut left) = (field.root_cube(), most);
    let smallest = root.size / VISITED_WHOLE;
    field.subtract_work(root, 1, smallest, &mut left).is_some()
}

impl Field {
    /// Subtracts the work of a cube from `left`, `weight` times; `None` if it is more than `left`.
    /// Cubes of at most `sampled` voxels are sampled.
    fn subtract_work(
        &self,
        mut cube: Cube,
        weight: u64,
        sampled: u32,
        left: &mut u64,
    ) -> Option<()> {
        if (0..3).any(|a| cube.at[a] >= self.dims[a]) {
            return Some(());
        }
        let all = self.expand_loops(&mut cube);
        let blocks = |&index: &u32| 1 + self.bvh.edges_of(self.bvh.node(index)).len() as u64;
        let blocks: u64 = cube.near.iter().map(blocks).sum();
        let mut work = EXPANSION * blocks;
        let mut is_filled = cube.size >= BRICK && self.is_decided(&cube, &all);
        if cube.size <= BRICK && !is_filled {
            work += u64::from(cube.size.pow(2)) * self.edges_with_rays_in(&cube).len() as u64;
            if let Some(undecided) = self.set_decided(&cube, &all, &mut CapBrick::new()) {
                is_filled = true;
                let terms = undecided.first().map_or(0, |&voxel| self.terms(&cube, voxel));
                work += undecided.len() as u64 * terms;
            }
        }
        *left = left.checked_sub(weight * work)?;
        if is_filled {
            return Some(());
        }
        if cube.size > sampled {
            return cube
                .children()
                .try_for_each(|child| self.subtract_work(child, weight, sampled, left));
        }
        let hash = cube.at.iter().fold(cube.size, |hash, &c| (hash ^ c).wrapping_mul(0x9E37_79B1));
        let child = cube.children().nth(hash as usize >> 29)?;
        self.subtract_work(child, 8 * weight, sampled, left)
    }

    /// The number of terms of [`numbers`](Self::numbers) at one voxel.
    fn terms(&self, cube: &Cube, voxel: [u32; 3]) -> u64 {
        let p = self.center(voxel);
        let is_decided = |tolerance| self.numbers_in(cube, &[p], tolerance)[0].is_some();
        let mut terms = 0;
        for tolerance in [FIRST_TOLERANCE].into_iter().chain(NEAR_TOLERANCES) {
            terms += self.bvh.visits(&cube.near, p, tolerance);
            if is_decided(tolerance) {
                return terms;
            }
        }
        terms + self.bvh.visits(&self.root, p, ROOT_TOLERANCES[0])
    }
}
