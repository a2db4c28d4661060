//! Why bricks, or a file of them, do not make a grid.

use thiserror::Error;

use crate::place::MAX_DIM;

/// Why bricks, or a file of them, do not make a [`VoxelGrid`](crate::VoxelGrid).
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A grid with no voxels along an axis, or too many.
    #[error("a grid of {}x{}x{} voxels is not possible: use 1 to {MAX_DIM} per axis", .0[0], .0[1], .0[2])]
    Dims([u64; 3]),
    /// An occupied voxel lies outside the grid.
    #[error("voxel ({}, {}, {}) lies outside a grid of {}x{}x{}",
        .voxel[0], .voxel[1], .voxel[2], .dims[0], .dims[1], .dims[2])]
    Outside {
        /// The voxel.
        voxel: [u32; 3],
        /// The grid's size.
        dims: [u32; 3],
    },
}
