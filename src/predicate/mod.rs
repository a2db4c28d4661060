//! The exact predicates: triangle-box overlap, one pair at a time ([`touches`](touches())) and by
//! blocks of boxes ([`blocks`]); and triangle-column crossings ([`crosses`]).

pub mod blocks;
pub mod boxes;
pub mod crosses;
mod instructions;
pub mod touches;

pub use crosses::{Axis, Height, ProjectedTriangle};
pub use instructions::InstructionSet;
pub use touches::touches;
