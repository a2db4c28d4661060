//! File formats: one module each, which defines its [`MeshSpec`] or [`GridSpec`]. A table of these
//! by extension selects the reader or the writer of a file.

mod binvox;
mod brick_colors;
mod bricks;
mod bytes;
mod checked;
mod deflate;
mod dense;
mod description;
mod error;
mod flat_colors;
mod gltf;
mod in_order;
mod loaded;
#[cfg(feature = "palette")]
mod minecraft;
mod mitsuba;
mod npy;
mod npz;
mod obj;
mod off;
mod openvdb;
mod options;
mod ply;
mod polygons;
mod read;
mod reporting;
mod save;
mod sidecars;
mod slab;
mod spec;
mod stalling;
mod stl;
mod surface;
mod table;
mod tally;
#[doc(hidden)]
pub mod temporary;
mod textures;
mod tokens;
#[cfg(feature = "palette")]
mod vox;
mod vti;
mod write;

pub use crate::formats::error::{ReadError, UnknownFormat, WriteError};
pub use crate::formats::loaded::{LoadedGrid, LoadedMesh, Part};
#[cfg(feature = "palette")]
pub use crate::formats::minecraft::schem::{Blocks, BlocksError, MAX_BLOCKS};
pub use crate::formats::options::{ReadOptions, WriteOptions};
pub use crate::formats::read::{
    MeshFile, read_grid, read_grid_from, read_grid_with, read_mesh, read_mesh_from, read_mesh_with,
};
pub use crate::formats::reporting::Reporting;
#[doc(hidden)]
pub use crate::formats::save::{check_file, check_space};
pub use crate::formats::save::{replace_file, save_distances, save_grid, save_grid_with};
pub use crate::formats::sidecars::{Sidecar, Sidecars};
pub use crate::formats::spec::{GridSpec, MeshSpec, SIGN_ONLY};
pub use crate::formats::table::{GridFormat, MESH_FORMATS, check_known_extension, is_mesh};
#[cfg(feature = "palette")]
pub use crate::formats::vox::{MAX_SCENE, VoxFiles, VoxPart};
pub use crate::formats::write::{write_distances, write_grid, write_grid_with};

use crate::formats::bytes::{bytes_within, check_memory};
use crate::formats::error::{checked_dims, checked_place, content, excerpt, shortened};
use crate::formats::spec::{assumed_place, lost_colors, lost_opacity, lost_place, lost_up};
