//! The readers and writers of grids.

pub(super) mod binvox;
mod brick_colors;
mod brick_slice;
pub(super) mod bricks;
mod dense;
mod description;
mod layers;
mod level_set;
#[cfg(feature = "palette")]
pub(super) mod minecraft;
pub(super) mod mitsuba;
pub(super) mod npy;
pub(super) mod npz;
pub(super) mod openvdb;
#[cfg(feature = "palette")]
pub(super) mod vox;
pub(super) mod vti;
