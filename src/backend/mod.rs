//! Backends: what turns a placed mesh into voxels. All give the same grid, bit for bit.

pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;

use crate::error::BackendError;
use crate::grid::VoxelGrid;
use crate::place::PlacedMesh;
use crate::progress::Progress;

/// Turns a placed mesh into the set of voxels that its triangles touch.
pub trait Backend {
    /// The voxels of `mesh`'s grid whose closed cube meets a closed triangle.
    ///
    /// # Errors
    /// The backend's device or threads failed. Never a partial grid.
    fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError>;
}
