//! Errors of backends.

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::numbers::{binary_bytes_apart, grouped};
use crate::base::progress::Progress;
#[cfg(feature = "gpu")]
use crate::gpu::GpuError;
use crate::grid::GridError;
use crate::lattice::MAX_DIM;

/// A backend could not voxelize.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The GPU cannot be used, or failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A GPU was requested, but this build has none.
    #[error("{0}")]
    WithoutGpu(&'static str),
    /// The backend failed, or returned a wrong result.
    #[error("the backend failed: {0}")]
    Failed(String),
    /// The grid exceeds the allowed memory.
    #[error(
        "the grid needs at least {} of memory, {} are allowed: use a lower resolution, or allow \
         more",
        binary_bytes_apart([*needed, *allowed])[0], binary_bytes_apart([*needed, *allowed])[1]
    )]
    Memory {
        /// Bytes needed, an estimate.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// [`Fill::Vote`](crate::solid::Fill::Vote) of a grid that has [`MAX_DIM`] voxels along an
    /// axis.
    #[error(
        "the fill 'vote' needs a grid of at most {} voxels along each axis: use a lower \
         resolution, or another fill", grouped((MAX_DIM - 1).into())
    )]
    VoteTooLarge,
    /// The width of a band of distances is out of range.
    #[error("a width of {width} voxels is not possible: use more than 0, at most {most}")]
    Width {
        /// In voxels.
        width: f32,
        /// The largest.
        most: f32,
    },
    /// A fill or distances that depend on more than a tile: why, and what to do instead.
    #[error("not available for tiles: {0}")]
    NotInTiles(&'static str),
    /// The mesh's lattice is larger than any grid.
    #[error(
        "a lattice of {} x {} x {} voxels is larger than a grid, of at most {} along each axis: \
         voxelize it in windows",
        grouped(.0[0]), grouped(.0[1]), grouped(.0[2]), grouped(MAX_DIM.into())
    )]
    Lattice([u64; 3]),
    /// The result is not a valid grid: a bug in this library.
    #[error("{0}: this is a bug in trivox")]
    Grid(GridError),
    /// The caller cancelled the work ([`Progress::is_cancelled`]).
    #[error("cancelled")]
    Cancelled,
    /// The worker threads could not be started.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// Requested number of threads.
        threads: usize,
        /// The operating system's reason.
        reason: String,
    },
}

impl ErrorCode for BackendError {
    fn code(&self) -> &'static str {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(error) => error.code(),
            Self::WithoutGpu(_) => "backend.without_gpu",
            Self::Failed(_) => "backend.failed",
            Self::Memory { .. } => "memory",
            Self::VoteTooLarge => "backend.vote_too_large",
            Self::Width { .. } => "option.width",
            Self::NotInTiles(_) => "backend.not_in_tiles",
            Self::Lattice(_) => "backend.lattice",
            Self::Grid(_) => "bug",
            Self::Cancelled => "cancelled",
            Self::Threads { .. } => "backend.threads",
        }
    }
}

impl BackendError {
    /// The error of a step beside `kept` bytes, in terms of the whole `memory`.
    pub(crate) fn with_kept_bytes(self, kept: u64, memory: u64) -> Self {
        match self {
            Self::Memory { needed, .. } => {
                Self::Memory { needed: needed.saturating_add(kept), allowed: memory }
            }
            other => other,
        }
    }
}

/// # Errors
/// `needed` exceeds `allowed`, both in bytes.
pub(crate) fn check_memory(needed: u64, allowed: u64) -> Result<(), BackendError> {
    if needed > allowed { Err(BackendError::Memory { needed, allowed }) } else { Ok(()) }
}

/// # Errors
/// The caller cancelled.
pub(crate) fn check_cancelled(progress: &dyn Progress) -> Result<(), BackendError> {
    if progress.is_cancelled() { Err(BackendError::Cancelled) } else { Ok(()) }
}

impl From<GridError> for BackendError {
    fn from(error: GridError) -> Self {
        match error {
            GridError::Dims(dims) => Self::Lattice(dims),
            other => Self::Grid(other),
        }
    }
}
