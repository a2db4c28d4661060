//! Grids larger than MagicaVoxel's world, split into parts with one file each.

use super::MAX_SCENE;
use crate::formats::Part;
use crate::grid::{BRICK, BrickRun, Place, VoxelGrid, World};

/// Bricks along the edge of the largest part.
const PART_BRICKS: u32 = MAX_SCENE / BRICK;

/// The part of a grid in one file: [`MAX_SCENE`] voxels along each axis, fewer at the grid's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VoxPart {
    index: [u32; 3],
    /// The minimum corner, in the grid's voxels.
    pub(super) base: [u32; 3],
    pub(super) dims: [u32; 3],
    /// The dimensions of the whole grid.
    of: [u32; 3],
}

impl VoxPart {
    fn new(index: [u32; 3], of: [u32; 3]) -> Self {
        let base = index.map(|i| i * MAX_SCENE);
        let dims = std::array::from_fn(|a| MAX_SCENE.min(of[a] - base[a]));
        Self { index, base, dims, of }
    }

    /// The index of the part along `x`, `y` and `z`, from 0.
    #[must_use]
    pub fn index(&self) -> [u32; 3] {
        self.index
    }

    /// The part's first voxel, in the grid.
    #[must_use]
    pub fn base(&self) -> [u32; 3] {
        self.base
    }

    /// Voxels along each axis.
    #[must_use]
    pub fn dims(&self) -> [u32; 3] {
        self.dims
    }

    /// The part of the grid; `None` for the whole grid.
    pub(super) fn part(&self) -> Option<Part> {
        (self.dims != self.of).then_some(Part { from: self.base, of: self.of })
    }

    /// The part's world in a grid at `world`.
    pub(super) fn world(&self, world: World) -> World {
        let moved = |place: Place| match self.base {
            [0, 0, 0] => place,
            base => {
                let origin = |a| place.origin[a] + f64::from(base[a]) * place.voxel_size;
                Place { origin: [0, 1, 2].map(origin), ..place }
            }
        };
        World { place: world.place.map(moved), ..world }
    }

    /// The half-open box of bricks, as its minimum and end corners.
    pub(super) fn bricks(&self) -> [[u32; 3]; 2] {
        let end = std::array::from_fn(|a| (self.base[a] + self.dims[a]).div_ceil(BRICK));
        [self.base.map(|b| b / BRICK), end]
    }
}

/// The parts of `grid` that are not empty, `x` fastest; for an empty grid the first part.
pub(super) fn parts(grid: &VoxelGrid) -> Vec<VoxPart> {
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
    let part = |i| VoxPart::new([i % nx, i / nx % ny, i / nx / ny], grid.dims());
    (0..).zip(is_held).filter(|&(_, is_held)| is_held).map(|(index, _)| part(index)).collect()
}
