//! The readers and writers of grids.

pub(super) mod binvox;
mod brick_colors;
pub(super) mod bricks;
mod dense;
mod description;
#[cfg(feature = "palette")]
pub(super) mod minecraft;
pub(super) mod mitsuba;
pub(super) mod npy;
pub(super) mod npz;
pub(super) mod openvdb;
mod slab;
#[cfg(feature = "palette")]
pub(super) mod vox;
pub(super) mod vti;
