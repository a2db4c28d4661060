//! Divides a grid: into files where it is larger than MagicaVoxel's world, and these into models.

use super::MAX_SCENE;
use crate::formats::Part;
use crate::grid::{BRICK, Place, VoxelGrid, World, count};

/// A box of a grid, aligned to bricks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    /// The minimum corner, in the grid's voxels.
    pub(super) base: [u32; 3],
    pub(super) dims: [u32; 3],
}

impl Region {
    /// The half-open box of bricks, as its minimum and end corners.
    pub(super) fn bricks(&self) -> [[u32; 3]; 2] {
        let end = std::array::from_fn(|a| (self.base[a] + self.dims[a]).div_ceil(BRICK));
        [self.base.map(|b| b / BRICK), end]
    }

    /// The boxes of `edge` voxels along each axis, fewer at the end, that have voxels of `grid`,
    /// and how many, `x` fastest; of an empty region the first.
    pub(super) fn divided(&self, grid: &VoxelGrid, edge: u32) -> Vec<(Self, u64)> {
        let [nx, ny, nz] = self.dims.map(|d| d.div_ceil(edge));
        let mut voxels = vec![0; (nx * ny * nz) as usize];
        let [first, end] = self.bricks();
        for run in grid.brick_runs_in(first, end) {
            let each = u64::from(count(&run.mask));
            for key in (0..run.len).map(|n| run.start.along_x(n)) {
                let at = key.position();
                let [x, y, z] = std::array::from_fn(|a| (at[a] - first[a]) / (edge / BRICK));
                voxels[((z * ny + y) * nx + x) as usize] += each;
            }
        }
        let is_empty = voxels.iter().all(|&n| n == 0);
        let wanted = |&(index, n): &(u32, u64)| n > 0 || is_empty && index == 0;
        let region = |(index, voxels): (u32, u64)| {
            let place = [index % nx, index / nx % ny, index / nx / ny].map(|p| p * edge);
            let dims = std::array::from_fn(|a| edge.min(self.dims[a] - place[a]));
            (Self { base: std::array::from_fn(|a| self.base[a] + place[a]), dims }, voxels)
        };
        (0..).zip(voxels).filter(wanted).map(region).collect()
    }
}

/// The part of a grid in one file: [`MAX_SCENE`] voxels along each axis, fewer at the grid's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VoxPart {
    pub(super) region: Region,
    /// The dimensions of the whole grid.
    of: [u32; 3],
}

impl VoxPart {
    /// The parts of `grid` that are not empty, `x` fastest; of an empty grid the first.
    pub(super) fn all(grid: &VoxelGrid) -> Vec<Self> {
        let whole = Region { base: [0; 3], dims: grid.dims() };
        let parts = whole.divided(grid, MAX_SCENE).into_iter();
        parts.map(|(region, _)| Self { region, of: grid.dims() }).collect()
    }

    /// The index of the part along `x`, `y` and `z`, from 0.
    #[must_use]
    pub fn index(&self) -> [u32; 3] {
        self.region.base.map(|b| b / MAX_SCENE)
    }

    /// The part's first voxel, in the grid.
    #[must_use]
    pub fn base(&self) -> [u32; 3] {
        self.region.base
    }

    /// Voxels along each axis.
    #[must_use]
    pub fn dims(&self) -> [u32; 3] {
        self.region.dims
    }

    /// The part of the grid; `None` for the whole grid.
    pub(super) fn part(&self) -> Option<Part> {
        (self.dims() != self.of).then_some(Part { from: self.base(), of: self.of })
    }

    /// The part's world in a grid at `world`.
    pub(super) fn world(&self, world: World) -> World {
        let moved = |place: Place| match self.base() {
            [0, 0, 0] => place,
            base => {
                let origin = |a| place.origin[a] + f64::from(base[a]) * place.voxel_size;
                Place { origin: [0, 1, 2].map(origin), ..place }
            }
        };
        World { place: world.place.map(moved), ..world }
    }
}
