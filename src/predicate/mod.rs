//! The exact decisions that voxels rest on and the published floating-point tests they
//! descend from.

pub mod published;
pub mod rows;
pub mod touches;

pub use touches::touches;
