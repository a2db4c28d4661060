//! Properties of the surface in a voxel: its colour and attributes, and palettes of colours.

pub mod attributes;
pub mod color;
#[cfg(feature = "palette")]
pub mod palette;
