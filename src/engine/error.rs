//! Errors of the voxelizer.

use thiserror::Error;

use crate::engine::backend::BackendError;
use crate::engine::verify::VerifyError;
use crate::formats::ReadError;
use crate::lattice::PlaceError;
use crate::lattice::transform::TransformError;

/// A mesh could not be voxelized. Like that of [`ReadError`], the message does not name the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VoxelizeError {
    /// The mesh cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The mesh cannot be transformed.
    #[error(transparent)]
    Transform(#[from] TransformError),
    /// The mesh cannot be placed on a lattice.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The mesh cannot be placed to verify a grid.
    #[error(transparent)]
    Verify(VerifyError),
    /// The voxels cannot be computed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl From<VerifyError> for VoxelizeError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Backend(error) => Self::Backend(error),
            error @ (VerifyError::Place { .. } | VerifyError::Pad { .. }) => Self::Verify(error),
        }
    }
}

impl VoxelizeError {
    /// Whether [`Progress::is_cancelled`](crate::Progress::is_cancelled) ended the work.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Backend(BackendError::Cancelled) | Self::Read(ReadError::Cancelled))
    }

    /// Whether more memory than is allowed was needed.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        matches!(
            self,
            Self::Backend(BackendError::Memory { .. }) | Self::Read(ReadError::Memory { .. })
        )
    }
}
