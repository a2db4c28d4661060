//! Where a grid lies: index space, whose integers are the voxels' centres, and the world.

use crate::formats::WriteError;
use crate::formats::vox::is_possible;
use crate::grid::{Up, VoxelGrid, World};

/// `world = scale * index + shift`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WorldFromIndex {
    pub(super) scale: f64,
    pub(super) shift: [f64; 3],
}

impl WorldFromIndex {
    /// Of a grid; one that does not say lies at the origin, with voxels of size 1.
    ///
    /// # Errors
    /// No grid can lie where it says.
    pub(super) fn of(grid: &VoxelGrid) -> Result<Self, WriteError> {
        let unsaid = World { origin: [0.0; 3], voxel_size: 1.0, up: Up::default() };
        let world = grid.world.unwrap_or(unsaid);
        match is_possible(&world) {
            true => Ok(Self::of_world(&world)),
            false => Err(WriteError::Unsupported(format!("a grid cannot lie at {world:?}"))),
        }
    }

    pub(super) fn of_world(world: &World) -> Self {
        let World { origin, voxel_size, up: _ } = *world;
        Self { scale: voxel_size, shift: origin.map(|c| c + 0.5 * voxel_size) }
    }

    pub(super) fn apply(&self, index: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.scale * index[a] + self.shift[a])
    }
}
