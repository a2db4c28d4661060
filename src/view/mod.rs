//! Views of a grid: exact ray tracing, pictures, and meshes of its surface.

pub mod mesher;
pub mod render;
pub mod trace;
