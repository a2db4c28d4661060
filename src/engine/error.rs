//! Errors of the voxelizer, and the codes of all errors.

use std::error::Error as StdError;
use std::io;

use thiserror::Error;

use crate::backend::BackendError;
use crate::base::error_code::ErrorCode;
use crate::base::names::UnknownName;
use crate::engine::verify::VerifyError;
#[cfg(feature = "palette")]
use crate::formats::BlocksError;
use crate::formats::{ReadError, WriteError};
#[cfg(feature = "gpu")]
use crate::gpu::GpuError;
use crate::grid::{ContentHashError, GridError};
use crate::lattice::transform::{RotationError, TransformError};
use crate::lattice::{PlaceError, TileError};
use crate::mesh::MeshError;
use crate::mesh::appearance::TextureError;
use crate::solid::proximity::ProximityError;
#[cfg(feature = "palette")]
use crate::surface::palette::PaletteError;
use crate::view::render::RenderError;
use crate::view::trace::RayError;

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
    Verify(#[from] VerifyError),
    /// The voxels cannot be computed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl ErrorCode for VoxelizeError {
    fn code(&self) -> &'static str {
        match self {
            Self::Read(error) => error.code(),
            Self::Transform(error) => error.code(),
            Self::Place(error) => error.code(),
            Self::Verify(error) => error.code(),
            Self::Backend(error) => error.code(),
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

/// The code of an error, or of the first of its [sources](StdError::source) that has one.
#[must_use]
pub fn code_of(error: &(dyn StdError + 'static)) -> Option<&'static str> {
    own_code(error).or_else(|| code_of(error.source()?))
}

/// The code of an error of this library.
fn own_code(error: &(dyn StdError + 'static)) -> Option<&'static str> {
    macro_rules! first_of {
        ($($(#[$attribute:meta])? $error:ty),+ $(,)?) => {
            $(
                $(#[$attribute])?
                if let Some(error) = error.downcast_ref::<$error>() {
                    return Some(error.code());
                }
            )+
        };
    }
    first_of!(
        io::Error,
        BackendError,
        #[cfg(feature = "palette")]
        BlocksError,
        ContentHashError,
        #[cfg(feature = "gpu")]
        GpuError,
        GridError,
        MeshError,
        #[cfg(feature = "palette")]
        PaletteError,
        PlaceError,
        ProximityError,
        RayError,
        ReadError,
        RenderError,
        RotationError,
        TextureError,
        TileError,
        TransformError,
        UnknownName,
        VerifyError,
        VoxelizeError,
        WriteError,
    );
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_that_of_the_first_source_that_has_one() {
        #[derive(Debug, thiserror::Error)]
        #[error("model.obj")]
        struct Named(#[source] ReadError);
        let mesh = || VoxelizeError::from(ReadError::from(MeshError::NoTriangles));
        assert_eq!(mesh().code(), "mesh.no_triangles");
        assert_eq!(code_of(&mesh()), Some("mesh.no_triangles"));
        let line = ReadError::Line { line: 7, what: "malformed".to_owned() };
        assert_eq!(code_of(&Named(line)), Some("read.line"));
        assert_eq!(code_of(&io::Error::other("disk")), Some("io"));
        assert_eq!(code_of(&WriteError::from(io::Error::other("disk"))), Some("write.io"));
        assert_eq!(code_of(&std::fmt::Error), None);
    }
}
