//! Stable codes of errors, for programs that count failures or react to them. `--json`, Python's
//! exceptions and errors in browsers have them as `code`.
//!
//! A code is a class and, after a dot, what is wrong. Messages may change in any version; a code
//! changes only where [SemVer](https://semver.org) lets the library's interface change.

use std::error::Error;
use std::io;

use crate::base::names::UnknownName;
use crate::engine::VoxelizeError;
use crate::engine::backend::BackendError;
use crate::engine::verify::VerifyError;
#[cfg(feature = "palette")]
use crate::formats::BlocksError;
use crate::formats::{ReadError, UnknownFormat, WriteError};
#[cfg(feature = "gpu")]
use crate::gpu::GpuError;
use crate::grid::{ContentHashError, GridError};
use crate::lattice::transform::{RotationError, TransformError};
use crate::lattice::{PlaceError, TileError};
use crate::mesh::MeshError;
use crate::mesh::appearance::TextureError;
#[cfg(feature = "palette")]
use crate::surface::palette::PaletteError;
use crate::view::render::RenderError;
use crate::view::trace::RayError;

/// An error with a stable code.
pub trait ErrorCode: Error {
    /// The code, such as `mesh.index_out_of_range`.
    fn code(&self) -> &'static str;
}

/// The code of an error, or of the first of its [sources](Error::source) that has one.
#[must_use]
pub fn code_of(error: &(dyn Error + 'static)) -> Option<&'static str> {
    own_code(error).or_else(|| code_of(error.source()?))
}

/// The code of an error of this library.
fn own_code(error: &(dyn Error + 'static)) -> Option<&'static str> {
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
        RayError,
        ReadError,
        RenderError,
        RotationError,
        TextureError,
        TileError,
        TransformError,
        UnknownFormat,
        UnknownName,
        VerifyError,
        VoxelizeError,
        WriteError,
    );
    None
}

/// Errors of one code each.
macro_rules! coded {
    ($($(#[$attribute:meta])? $error:ty = $code:literal),+ $(,)?) => {
        $(
            $(#[$attribute])?
            impl ErrorCode for $error {
                fn code(&self) -> &'static str {
                    $code
                }
            }
        )+
    };
}

coded!(
    io::Error = "io",
    #[cfg(feature = "palette")]
    BlocksError = "option.blocks",
    ContentHashError = "option.hash",
    RayError = "option.ray",
    RotationError = "option.rotate",
    TileError = "place.tile",
    UnknownFormat = "write.unsupported",
    UnknownName = "option.value",
);

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

impl ErrorCode for ReadError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => error.code(),
            Self::Line { .. } => "read.line",
            Self::Content(_) => "read.content",
            Self::Mesh(error) => error.code(),
            Self::Grid(_) => "read.grid",
            Self::Memory { .. } => "memory",
            Self::Unsupported(_) => "read.unsupported",
            Self::Cancelled => "cancelled",
        }
    }
}

impl ErrorCode for MeshError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoTriangles => "mesh.no_triangles",
            Self::IndexOutOfRange { .. } => "mesh.index_out_of_range",
            Self::NotFinite { .. } => "mesh.not_finite",
            Self::TooLarge { .. } => "mesh.too_large",
            Self::Appearance(_) => "mesh.appearance",
        }
    }
}

impl ErrorCode for TransformError {
    fn code(&self) -> &'static str {
        match self {
            Self::Scale(_) => "place.scale",
            Self::Axis(_) => "place.axis",
            Self::Mesh(error) => error.code(),
        }
    }
}

impl ErrorCode for PlaceError {
    fn code(&self) -> &'static str {
        match self {
            Self::Resolution(_) => "place.resolution",
            Self::VoxelSize(_) => "place.voxel_size",
            Self::Bounds { .. } => "place.bounds",
            Self::NoExtent(_) => "place.no_extent",
            Self::ExtentRange { .. } => "place.extent_range",
            Self::TooManyVoxels { .. } => "place.too_many_voxels",
            Self::Dims { .. } => "place.dims",
            Self::TooFar { .. } => "place.too_far",
            Self::Lattice(_) => "place.lattice",
            Self::Tile(error) => error.code(),
        }
    }
}

impl ErrorCode for BackendError {
    fn code(&self) -> &'static str {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(error) => error.code(),
            Self::WithoutGpu(_) => "backend.without_gpu",
            Self::Failed(_) => "backend.failed",
            Self::SelfTest { .. } => "backend.self_test",
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

#[cfg(feature = "gpu")]
impl ErrorCode for GpuError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoAdapter(_) => "backend.no_adapter",
            Self::Unsuitable { .. } | Self::OldOpenGl { .. } => "backend.unsuitable",
            Self::Device(_) => "backend.device",
            Self::TooLarge { .. } => "backend.too_large",
        }
    }
}

impl ErrorCode for GridError {
    fn code(&self) -> &'static str {
        match self {
            Self::Dims(_) => "grid.dims",
            Self::Outside { .. } => "grid.outside",
            Self::Tile { .. } | Self::Overlap { .. } => "grid.tile",
            Self::NoTiles => "grid.no_tiles",
            Self::NoPlace => "grid.no_place",
            Self::OtherLattice => "grid.other_lattice",
            Self::SomeColors => "grid.some_colors",
        }
    }
}

impl ErrorCode for WriteError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "write.io",
            Self::Unsupported(_) => "write.unsupported",
            Self::Cancelled => "cancelled",
        }
    }
}

impl ErrorCode for VerifyError {
    fn code(&self) -> &'static str {
        match self {
            Self::Place { .. } | Self::Pad { .. } => "place.verify",
            Self::Backend(error) => error.code(),
        }
    }
}

impl ErrorCode for RenderError {
    fn code(&self) -> &'static str {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(error) => error.code(),
            Self::Cancelled => "cancelled",
            Self::Size(_)
            | Self::Samples(_)
            | Self::Margin(_)
            | Self::Turn(_)
            | Self::Azimuth(_)
            | Self::Elevation(_)
            | Self::Sun(_)
            | Self::Zoom(_) => "option.render",
        }
    }
}

impl ErrorCode for TextureError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => error.code(),
            Self::Memory => "memory",
            Self::Unsupported
            | Self::Malformed(_)
            | Self::Empty
            | Self::Size { .. }
            | Self::Disabled => "read.image",
        }
    }
}

#[cfg(feature = "palette")]
impl ErrorCode for PaletteError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => error.code(),
            Self::Image(error) => error.code(),
            Self::Empty | Self::TooMany => "option.palette",
        }
    }
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
