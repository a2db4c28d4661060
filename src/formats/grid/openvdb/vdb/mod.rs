//! OpenVDB `.vdb`, read by Blender, Houdini and film renderers.
//!
//! The Academy Software Foundation's format is specified only by the library's source. Version 224:
//! a header; the file's metadata; for each grid its name, type, offsets, compression, metadata,
//! transform, its tree's *topology* (the root's entries, then each node's masks and tiles, depth
//! first) and its *buffers* (each leaf's mask again, and its values). Values are half floats, only
//! of active voxels and tiles. Half floats distinguish all sRGB values, in half the size.

mod read;
mod values;
mod write;

use self::read::read;
use self::write::write;
use super::Channel;
use crate::formats::{GridSpec, lost_names, lost_opacity};
use crate::grid::Attribute;

pub const SPEC: GridSpec = GridSpec {
    extension: "vdb",
    name: "OpenVDB",
    carries: "up to 65,536 voxels per axis; position and voxel size; up axis in custom metadata; \
              RGB, attributes; distances",
    read: Some(|input, options| read(input, options.memory)),
    lost: |grid, _| vec![lost_opacity(grid), lost_names(grid)],
    distances: Some(|field, out| write(field.band(), &[Channel::of_distances(field)?], out)),
    has_colors: true,
    attributes: |_| Attribute::ALL,
    ..GridSpec::plain(|grid, _, out| write(grid, &Channel::all(grid), out))
};

/// "VDB " as the low half of a 64-bit number.
const MAGIC: [u8; 8] = *b" BDV\0\0\0\0";
const VERSION: u32 = 224;
