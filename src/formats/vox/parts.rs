//! Grids past MagicaVoxel's world: the parts that files of their own hold.

use super::MAX_SCENE;
use crate::formats::description::Place;
use crate::grid::{BRICK, BrickRun, VoxelGrid, World};

/// Bricks along the edge of the largest part.
const PART_BRICKS: u32 = MAX_SCENE / BRICK;

/// A part of a grid that one file holds: [`MAX_SCENE`] voxels along each axis, fewer at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    index: [u32; 3],
    /// The minimum corner, in the grid's voxels.
    pub(super) base: [u32; 3],
    pub(super) dims: [u32; 3],
    /// The grid's.
    of: [u32; 3],
}

impl Part {
    fn new(index: [u32; 3], of: [u32; 3]) -> Self {
        let base = index.map(|i| i * MAX_SCENE);
        let dims = std::array::from_fn(|a| MAX_SCENE.min(of[a] - base[a]));
        Self { index, base, dims, of }
    }

    /// Which part it is along `x`, `y` and `z` of the grid, counted from 0.
    #[must_use]
    pub fn index(&self) -> [u32; 3] {
        self.index
    }

    /// The grid's voxel that is its first.
    #[must_use]
    pub fn base(&self) -> [u32; 3] {
        self.base
    }

    /// Voxels along each axis.
    #[must_use]
    pub fn dims(&self) -> [u32; 3] {
        self.dims
    }

    /// Where it lies, unless it is the whole grid.
    pub(super) fn place(&self) -> Option<Place> {
        (self.dims != self.of).then_some(Place { base: self.base, of: self.of })
    }

    /// Where it lies in the world, and its grid at `world`.
    pub(super) fn world(&self, world: World) -> World {
        let moved = |a| world.origin[a] + f64::from(self.base[a]) * world.voxel_size;
        let origin = if self.base == [0; 3] { world.origin } else { [0, 1, 2].map(moved) };
        World { origin, ..world }
    }

    /// From which of the grid's bricks to before which.
    pub(super) fn bricks(&self) -> [[u32; 3]; 2] {
        let end = std::array::from_fn(|a| (self.base[a] + self.dims[a]).div_ceil(BRICK));
        [self.base.map(|b| b / BRICK), end]
    }
}

/// The parts of `grid` that hold a voxel, `x` fastest; the first where there are no voxels.
pub(super) fn parts(grid: &VoxelGrid) -> Vec<Part> {
    let [nx, ny, nz] = grid.dims().map(|d| d.div_ceil(MAX_SCENE));
    let mut is_held = vec![false; (nx * ny * nz) as usize];
    for BrickRun { start, len, .. } in grid.brick_runs() {
        let [first, y, z] = start.position();
        let last = first + len - 1;
        for x in first / PART_BRICKS..=last / PART_BRICKS {
            is_held[((z / PART_BRICKS * ny + y / PART_BRICKS) * nx + x) as usize] = true;
        }
    }
    if !is_held.contains(&true) {
        is_held[0] = true;
    }
    let part = |i| Part::new([i % nx, i / nx % ny, i / nx / ny], grid.dims());
    (0..).zip(is_held).filter(|&(_, is_held)| is_held).map(|(index, _)| part(index)).collect()
}
