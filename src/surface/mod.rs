//! What a voxel holds of the surface: its colour, and palettes of colours.

pub mod color;
#[cfg(feature = "palette")]
pub mod palette;
