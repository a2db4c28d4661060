//! The exact predicates: triangle-box overlap, one pair at a time, by blocks of boxes and by
//! batches of triangles; and triangle-column crossings. Also the published floating-point tests.

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
