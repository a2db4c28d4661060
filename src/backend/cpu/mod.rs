//! The CPU backend: tasks of some thousand triangles refine blocks of boxes down to voxels, and set
//! these in a write-back cache of bricks. The grid is processed in slabs, which bounds the memory
//! of bricks that are not sorted yet.

mod brick_cache;
#[cfg(feature = "gpu")]
pub(crate) mod clamped;
mod columns;
mod refine;
pub(super) mod slabs;
mod strips;
mod tasks;
mod triangle_batch;

/// Voxelizes on the threads of the current rayon pool: one per core, unless the caller runs in
/// [another](rayon::ThreadPool::install).
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;
