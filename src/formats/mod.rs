//! File formats: one module each, which defines its [`MeshSpec`] or [`GridSpec`]. A table of these
//! by extension selects the reader or the writer of a file.

#[macro_use]
mod error;
mod grid;
mod io;
mod mesh;
mod read;
mod spec;
mod surface;
mod table;
mod write;

pub use crate::formats::error::{ReadError, WriteError};
#[cfg(feature = "palette")]
pub use crate::formats::grid::minecraft::{
    BlockList,
    blocks::{Blocks, BlocksError, MAX_BLOCKS},
};
pub use crate::formats::io::reporting::Reporting;
#[doc(hidden)]
pub use crate::formats::io::save::{check_space, replaceable, write_counted};
pub use crate::formats::io::save::{replace_file, save_distances, save_grid, save_grid_with};
#[doc(hidden)]
pub use crate::formats::io::temporary;
pub use crate::formats::mesh::sidecars::{Sidecar, Sidecars};
pub use crate::formats::read::{
    LoadedGrid, LoadedMesh, MeshFile, ReadOptions, read_grid, read_grid_from, read_grid_with,
    read_mesh, read_mesh_from, read_mesh_with,
};
pub use crate::formats::spec::{GridSpec, MeshSpec};
pub use crate::formats::surface::Surface;
pub use crate::formats::table::{
    GridFormat, MESH_FORMATS, check_known_extension, is_mesh, is_unread_mesh,
};
pub use crate::formats::write::{WriteOptions, write_distances, write_grid, write_grid_with};

use crate::formats::error::{checked_place, content, excerpt, shortened, stated_place};
use crate::formats::io::bytes::check_memory;
use crate::formats::spec::{
    Out, assumed_place, lost_colors, lost_names, lost_opacity, lost_place, lost_up,
};
use crate::grid::checked_dims;
