//! Views of a grid: exact ray tracing, pictures, and meshes of its surface.

#[cfg(feature = "gpu")]
pub mod gpu;
pub mod mesher;
pub mod render;
pub mod trace;
