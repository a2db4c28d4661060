//! OpenVDB `.vdb` and NanoVDB `.nvdb`: a grid of floats named `density`, a fog volume that is 1 in
//! occupied voxels and 0 elsewhere; and where the voxels have colours a grid of vectors named `Cd`, red,
//! green and blue in linear light.
//!
//! Both grids are active in the occupied voxels. The background of `Cd` is the colour of the voxels that
//! have none of their own, and there its tiles are those of `density`. How opaque voxels are is not
//! kept: the density says that they are there.
//!
//! Both lay a voxel's *centre* at its index: voxel `(i, j, k)` of a grid lies at `(i, j, k)` in index
//! space, and at `origin + (i + 1/2, j + 1/2, k + 1/2) voxel_size` in the world. Axes stay the
//! mesh's; neither format has an up axis. A text of ours beside the grid, the one that `.vox` files
//! have too, says what there is no place for: the grid's size, its up axis, and its corner to the
//! last bit. Other programs pass over it.

pub mod nvdb;
pub mod vdb;

mod blosc;
mod channel;
mod gather;
mod record;
mod source;
mod tree;
mod world;

/// The grid's name; what renderers look for.
const DENSITY: &str = "density";
/// The name of the grid of colours: Houdini's, which others took over.
const COLOR: &str = "Cd";
/// The name of our text.
const TEXT: &str = "trivox";
