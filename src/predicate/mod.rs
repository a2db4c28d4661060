//! The exact decisions that voxels rest on, one by one, by rows and in batches; and the published
//! floating-point tests they descend from.

pub mod batch;
pub mod blocks;
pub mod boxes;
pub mod published;
pub mod rows;
pub mod touches;

pub use touches::touches;
