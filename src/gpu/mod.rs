//! The GPU: adapters, devices and their errors, buffers and readback, kernels with bindings and
//! pipelines, timestamps. Voxelization ([`backend::gpu`](crate::backend::gpu)), distances
//! ([`solid::distance::gpu`](crate::solid::distance::gpu)), scenes for ray tracing and pictures
//! ([`view::gpu`](crate::view::gpu)) stand on it.
//!
//! A kernel is one WGSL file in `shaders/` and one row of [`kernels`]. Its imports and bindings are
//! declared only in that file.
//!
//! # Waiting
//! Functions that wait for the GPU are `async`, since a browser cannot block. On native targets
//! [`Device::block_on`] runs such a future to completion, and public operations have a blocking
//! form too. Under another executor, each poll of a native future polls the device, and wakes the
//! task at once. No lock is held across an await.

mod adapter;
mod clock;
mod device;
mod error;
pub mod kernels;
mod pipeline;

pub use adapter::Adapter;
pub use device::Device;
pub use error::GpuError;
pub use kernels::Kernel;

#[cfg(test)]
pub(crate) use adapter::promised;
pub(crate) use clock::Clock;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use device::Mapping;
pub(crate) use device::{buffer_limit, dispatch};
pub(crate) use pipeline::{Constants, Pipeline, group_layout};

/// Invocations per workgroup of the voxelization kernels; adapters must support it.
pub const GROUP: u32 = 256;
/// Maximum workgroups per dispatch dimension: the WebGPU default limit.
pub const MAX_GROUPS: u32 = 65_535;
/// Bytes of workgroup memory that adapters must have: the kernel `voxel_rows` takes 13,864, and
/// WebGPU guarantees 16,384.
pub const WORKGROUP_BYTES: u32 = 14 << 10;
/// Words of a brick in a buffer: its key, then its mask.
pub const BRICK_WORDS: usize = 18;
/// Words of a brick's key: x in the low and y in the high 16 bits of the first, z in the second.
pub const KEY_WORDS: usize = 2;
