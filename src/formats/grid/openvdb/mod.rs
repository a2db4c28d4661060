//! OpenVDB `.vdb` and NanoVDB `.nvdb`: a grid of floats named `density`, a fog volume that is 1 in
//! occupied voxels and 0 elsewhere; and where the voxels have colours a grid of vectors named `Cd`,
//! red, green and blue in linear light.
//!
//! Each attribute is a grid of its name: of floats, 32-bit integers or vectors of floats.
//!
//! All grids are active in the occupied voxels. The background of `Cd` is the default colour,
//! which lets it use the tiles of `density` there. Opacity is not stored: the density is occupancy.
//!
//! A field of distances is a grid named `surface`, a level set: signed distances in world units,
//! active in the band, and inactive outside of it, with the width of the band as the background.
//!
//! Both formats place a voxel's *centre* at its index: voxel `(i, j, k)` of a grid is at `(i, j,
//! k)` in index space, and at `origin + (i + 1/2, j + 1/2, k + 1/2) voxel_size` in the world. Axes
//! are those of the mesh; neither format has an up axis. A text field, the same as in `.vox` files,
//! stores what the formats do not: the grid's dimensions, its up axis, and its corner to the last
//! bit. Other programs ignore it.

pub mod nvdb;
pub mod vdb;

mod blosc;
mod channel;
mod nodes;
mod record;
mod source;
mod tree;
mod world;

pub(super) use channel::Channel;
pub(super) use nodes::is_occupied;

/// The name of the density grid, as renderers expect it.
const DENSITY: &str = "density";
/// The name of the grid of colours: Houdini's convention.
const COLOR: &str = "Cd";
/// The name of the grid of distances: Houdini's convention.
const SURFACE: &str = "surface";
const TEXT: &str = "trivox";
