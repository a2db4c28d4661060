//! The GPU engine: adapters, an open device with its faults, buffers and readback, the kernels with
//! their bindings and pipelines, and timestamps. Voxelizing ([`backend::gpu`](crate::voxelize::gpu)),
//! tracing ([`raymarch::gpu`](crate::trace::gpu)) and drawing ([`render::gpu`](crate::render::gpu))
//! are built on it; it imports none of them.
//!
//! A kernel is one WGSL file in `shaders/` and one row of [`kernels`]. The file states its imports and
//! its bindings; nothing repeats them.
//!
//! # Waiting
//! What waits for the GPU is an `async fn`, since a browser cannot block. On native targets
//! [`Device::block_on`] runs such a future to its end, and the public operations have a blocking form
//! too. Under another executor a native future polls the device whenever it is polled, and asks to be
//! polled again at once. No lock is held across an await.

mod adapter;
mod clock;
mod device;
pub mod kernels;
mod pipeline;

pub use adapter::Adapter;
pub use device::Device;
pub use kernels::Kernel;

pub(crate) use clock::Clock;
pub(crate) use device::dispatch;
pub(crate) use pipeline::{Constants, Pipeline};

/// Invocations per workgroup of the kernels that voxelize; adapters must allow as many.
pub const GROUP: u32 = 256;
/// Most workgroups per dispatch dimension: the WebGPU default limit.
pub const MAX_GROUPS: u32 = 65_535;
/// Words of a brick in a buffer: its key, then its mask.
pub const BRICK_WORDS: usize = 18;
/// Words of a brick's key: x in the low 16 bits of the first and y in the high, z in the second.
pub const KEY_WORDS: usize = 2;
