//! The exact decisions that voxels rest on, one by one, by blocks of boxes and in batches of
//! triangles; and the published floating-point tests they descend from.

pub mod batch;
pub mod blocks;
pub mod boxes;
pub mod crosses;
pub mod instructions;
pub mod published;
pub mod touches;

pub use crosses::{Axis, Crossing, Height};
pub use instructions::instruction_sets;
pub use touches::touches;
