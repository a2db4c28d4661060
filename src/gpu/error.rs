//! Errors of GPU adapters and devices.

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::numbers::{binary_bytes_apart, grouped};

/// An adapter cannot be used, or a device failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter, or none with the requested name.
    #[error("{0}")]
    NoAdapter(String),
    /// A limit of the adapter, or of a device of it, is too low for the kernels.
    #[error("{adapter}: the limit of {what} is {has}, but at least {needs} is needed")]
    Unsuitable {
        /// The adapter's label.
        adapter: String,
        /// The limit's name.
        what: &'static str,
        /// The limit.
        has: u64,
        /// The required minimum.
        needs: u64,
    },
    /// An adapter of OpenGL without compute shaders.
    #[error("{adapter}: OpenGL {version} has no compute shaders: install a Vulkan driver")]
    OldOpenGl {
        /// The adapter's label.
        adapter: String,
        /// The version of OpenGL, as the driver states it.
        version: String,
    },
    /// Kernels compute wrong results for a built-in mesh or grid.
    #[error(
        "the kernels of {what} compute wrong results with this driver ({driver}): update the \
         driver, or use the CPU"
    )]
    SelfTest {
        /// The results.
        what: String,
        /// The driver's name and version.
        driver: String,
    },
    /// The device was lost, ran out of memory, timed out or reported an error.
    #[error("the GPU failed: {0}")]
    Device(String),
    /// A scene that cannot be made or recorded: its lattice, its mode, its capacity, or a mesh.
    #[error("the scene is refused: {0}")]
    Scene(String),
    /// A grid would exceed the device's 3D textures.
    #[error(
        "the grid has {} voxels along an axis, and a 3D texture of this GPU at most {} texels: use \
         a lower resolution", grouped((*needed).into()), grouped((*limit).into())
    )]
    TooLongForTexture {
        /// Voxels along an axis.
        needed: u32,
        /// Maximum texels along an axis.
        limit: u32,
    },
    /// A buffer would exceed the adapter's limit.
    #[error(
        "the {what} take {}, and the GPU's buffers hold {} at most: use a lower resolution, \
         or the CPU",
        binary_bytes_apart([*size, *limit])[0], binary_bytes_apart([*size, *limit])[1]
    )]
    TooLarge {
        /// The contents of the buffer.
        what: &'static str,
        /// Its size, in bytes.
        size: u64,
        /// Maximum size of a buffer, in bytes.
        limit: u64,
    },
}

impl ErrorCode for GpuError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoAdapter(_) => "backend.no_adapter",
            Self::Unsuitable { .. } | Self::OldOpenGl { .. } => "backend.unsuitable",
            Self::SelfTest { .. } => "backend.self_test",
            Self::Device(_) => "backend.device",
            Self::Scene(_) => "backend.scene",
            Self::TooLongForTexture { .. } | Self::TooLarge { .. } => "backend.too_large",
        }
    }
}
