//! A grid in another box: cropped, padded, or in one box with another grid.

use rayon::prelude::*;

use crate::base::vector::minus;
use crate::grid::windows::voxels_between;
use crate::grid::{
    BRICK, BrickKey, BrickRun, Channel, GridError, VoxelGrid, VoxelValues, checked_dims, in_order,
    mask_spliced, mask_voxels, overlay,
};

impl VoxelGrid {
    /// The grid cropped or padded to a box of `dims` voxels. Its minimum corner is the voxel `low`,
    /// inside or outside of this grid. Colours and world position are kept.
    ///
    /// ```
    /// use trivox::VoxelGrid;
    ///
    /// let grid = VoxelGrid::from_voxels([4, 4, 4], [[0, 0, 0], [2, 3, 1]])?;
    /// let cropped = grid.in_box([2, 2, 0], [2, 2, 3])?;
    /// assert_eq!(cropped, VoxelGrid::from_voxels([2, 2, 3], [[0, 1, 1]])?);
    /// let padded = grid.in_box([-1; 3], [6; 3])?;
    /// assert_eq!(padded, VoxelGrid::from_voxels([6; 3], [[1, 1, 1], [3, 4, 2]])?);
    /// # Ok::<(), trivox::GridError>(())
    /// ```
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`](crate::lattice::MAX_DIM).
    pub fn in_box(&self, low: [i64; 3], dims: [u32; 3]) -> Result<Self, GridError> {
        checked_dims(dims)?;
        let along =
            |grid: &Self, axis: usize| grid.displaced(axis, low[axis].saturating_neg(), dims[axis]);
        let mut grid = along(&along(&along(self, 0), 1), 2);
        grid.world = self.world;
        if let Some(place) = &mut grid.world.place {
            place.origin = place.to_mesh_units(low.map(|c| c as f64));
        }
        Ok(grid.with_values_of(self, low))
    }

    /// This grid with the colours and attributes of `other`, in which its voxels are `low` further.
    pub(super) fn with_values_of(mut self, other: &Self, low: [i64; 3]) -> Self {
        self.colors = other.colors.as_ref().map(|colors| self.values_from(colors, low));
        let of_these = |channel: &Channel| match channel {
            Channel::Scalar(values) => Channel::Scalar(self.values_from(values, low)),
            Channel::Vector(values) => Channel::Vector(self.values_from(values, low)),
        };
        self.attributes = other.attributes.as_ref().map(|all| all.with_channels(of_these));
        self
    }

    /// Both grids padded to their common bounding box, for set operations by world position. Grids
    /// without a place are taken to have the same minimum corner.
    ///
    /// ```
    /// use trivox::{Up, VoxelGrid, World};
    ///
    /// let grid = VoxelGrid::from_voxels([2, 1, 1], [[1, 0, 0]])?;
    /// let left = grid.clone().with_world(World::at([0.0; 3], 0.5, Up::Y));
    /// let right = grid.with_world(World::at([1.0, 0.0, 0.0], 0.5, Up::Y));
    /// let [left, right] = left.in_one_box(&right)?;
    /// let both = VoxelGrid::from_voxels([4, 1, 1], [[1, 0, 0], [3, 0, 0]])?;
    /// assert_eq!(left.union(&right), both);
    /// # Ok::<(), trivox::GridError>(())
    /// ```
    ///
    /// # Errors
    /// Only one has a place; the grids differ in voxel size or up axis, or their offset is not a
    /// whole number of voxels; the box has more than [`MAX_DIM`](crate::lattice::MAX_DIM) voxels
    /// along an axis.
    pub fn in_one_box(&self, other: &Self) -> Result<[Self; 2], GridError> {
        let to = match (self.world.place, other.world.place) {
            (Some(from), Some(to)) => voxels_between(from, to)?,
            (None, None) => [0; 3],
            _ => return Err(GridError::NoPlace),
        };
        if self.world.up != other.world.up {
            return Err(GridError::OtherLattice);
        }
        let low = to.map(|to| to.min(0));
        let ends =
            |a: usize| i64::from(self.dims[a]).max(to[a].saturating_add(other.dims[a].into()));
        let dims = checked_dims([0, 1, 2].map(|a| ends(a).abs_diff(low[a])))?;
        Ok([self.in_box(low, dims)?, other.in_box(minus(low, to), dims)?])
    }

    /// The voxels moved along one axis, in a grid with `dim` voxels along it, without colours.
    fn displaced(&self, axis: usize, by: i64, dim: u32) -> Self {
        let mut dims = self.dims;
        dims[axis] = dim;
        let (bricks, voxels) = (by.div_euclid(8), by.rem_euclid(8) as u32);
        let bricks_in_grid = i64::from(dim.div_ceil(BRICK));
        // Each brick reaches into two.
        let moved = |by: i64| {
            self.brick_runs().filter_map(move |BrickRun { start, len, mask }| {
                let mut at = start.position();
                let extent = if axis == 0 { len } else { 1 };
                let begin = i64::from(at[axis]).saturating_add(by);
                let end = begin.saturating_add(extent.into()).min(bricks_in_grid);
                let begin = begin.max(0);
                at[axis] = u32::try_from(begin).ok().filter(|_| begin < end)?;
                let len = if axis == 0 { (end - begin) as u32 } else { len };
                Some(BrickRun { start: BrickKey::new(at), len, mask })
            })
        };
        in_order(dims, self.world, &[()], |(), out| {
            for both in overlay([moved(bricks.saturating_add(1)), moved(bricks)]) {
                let [before, brick] = &both.masks;
                let mask = mask_spliced([before, brick], axis, voxels);
                let run = BrickRun { start: both.start, len: both.len, mask };
                out.push_clipped(dims, &run);
            }
        })
    }

    /// The values of these voxels, which are `low` further in a grid with `values`.
    fn values_from<T: Copy + Send + Sync>(
        &self,
        values: &VoxelValues<T>,
        low: [i64; 3],
    ) -> VoxelValues<T> {
        // The bricks that those with values reach into: one or two along each axis.
        let reached = |key: BrickKey| {
            let first = key.first_voxel();
            (0..8).filter_map(move |corner| {
                let at = [0, 1, 2].map(|a| {
                    let voxel = i64::from(first[a] + (corner >> a & 1) * (BRICK - 1));
                    let voxel = voxel.saturating_sub(low[a]);
                    u32::try_from(voxel.div_euclid(8)).ok()
                });
                let [Some(x), Some(y), Some(z)] = at else { return None };
                let is_inside = (0..3).all(|a| [x, y, z][a] < self.dims[a].div_ceil(BRICK));
                is_inside.then(|| BrickKey::new([x, y, z]))
            })
        };
        let mut keys: Vec<BrickKey> = values.bricks().flat_map(|(key, ..)| reached(key)).collect();
        keys.par_sort_unstable();
        keys.dedup();
        let bricks = keys.into_par_iter().map(|key| {
            let mask = self.mask_of(key);
            let value = |voxel: [u32; 3]| {
                values.of([0, 1, 2].map(|a| (i64::from(voxel[a]) + low[a]) as u32))
            };
            (key, mask, mask_voxels(key.first_voxel(), mask).map(value).collect())
        });
        VoxelValues::from_bricks(bricks.collect(), values.rest())
    }
}
