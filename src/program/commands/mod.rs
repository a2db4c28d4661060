//! The commands, a module each.

pub mod adapters;
pub mod convert;
pub mod diff;
pub mod formats;
pub mod info;
pub mod join;
pub mod manual;
pub mod render;
pub mod slice;
pub mod verify;
pub mod voxelize;
