//! Where a grid lies: index space, whose integers are the voxels' centres, and the world.

use crate::formats::WriteError;
use crate::formats::description::is_possible;
use crate::grid::{Up, VoxelGrid, World};

/// `world = scale * index + shift`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WorldFromIndex {
    pub(super) scale: f64,
    pub(super) shift: [f64; 3],
}

impl WorldFromIndex {
    /// Of a grid.
    ///
    /// # Errors
    /// No grid can lie where it says.
    pub(super) fn of(grid: &VoxelGrid) -> Result<Self, WriteError> {
        match grid.world.filter(|world| !is_possible(world)) {
            Some(world) => Err(WriteError::Unsupported(format!("a grid cannot lie at {world:?}"))),
            None => Ok(Self::of_world(grid.world)),
        }
    }

    /// A grid that does not say where it lies has its corner at the origin, and voxels of size 1.
    pub(super) fn of_world(world: Option<World>) -> Self {
        let unsaid = World { origin: [0.0; 3], voxel_size: 1.0, up: Up::default() };
        let World { origin, voxel_size, up: _ } = world.unwrap_or(unsaid);
        Self { scale: voxel_size, shift: origin.map(|c| c + 0.5 * voxel_size) }
    }

    /// Of a diagonal and a shift, if all axes have one scale and a grid can lie so.
    pub(super) fn of_diagonal(diagonal: [f64; 3], shift: [f64; 3]) -> Option<Self> {
        let [scale, y, z] = diagonal;
        let world = World { origin: shift, voxel_size: scale, up: Up::default() };
        (scale == y && scale == z && is_possible(&world)).then_some(Self { scale, shift })
    }

    /// Of a matrix whose rows are what the axes become, if it turns nothing.
    pub(super) fn of_matrix(matrix: [[f64; 3]; 3], shift: [f64; 3]) -> Option<Self> {
        let is_diagonal = (0..3).all(|i| (0..3).all(|j| i == j || matrix[i][j] == 0.0));
        is_diagonal.then(|| Self::of_diagonal([0, 1, 2].map(|a| matrix[a][a]), shift)).flatten()
    }

    pub(super) fn apply(&self, index: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.scale * index[a] + self.shift[a])
    }
}
