//! OpenVDB `.vdb`: what Blender, Houdini and the film renderers read.
//!
//! The Academy Software Foundation's format has no specification but the library's source. Version
//! 224: a head; the file's metadata; for each grid its name, its type, where its parts lie, how it is
//! compressed, its metadata, its transform, its tree's *topology* (the root's entries, then each
//! node's masks and tiles, depth first) and its *buffers* (each leaf's mask again, and its values).
//! Values are kept as half floats, and only those of active voxels and tiles. Half floats tell all sRGB
//! values apart, and take half the room.

mod read;
mod values;
mod write;

pub use read::read;
pub use write::write;

use crate::formats::{GridSpec, lost_opacity};

/// OpenVDB's.
pub const SPEC: GridSpec = GridSpec {
    extension: "vdb",
    name: "OpenVDB",
    carries: "up to 65,536 voxels an axis; position and voxel size; up axis in metadata of ours; RGB",
    read: Some(read),
    write: Some(|grid, _, out| write(grid, out)),
    check_dims: |_| Ok(()),
    file_size: |_| None,
    lost: lost_opacity,
    has_colors: true,
};

/// "VDB " as the low half of a number of 8 bytes.
const MAGIC: [u8; 8] = *b" BDV\0\0\0\0";
/// Of the format.
const VERSION: u32 = 224;
/// Compression: inactive values are not stored where they are all the background.
const ACTIVE_MASK: u32 = 2;
/// Of a node's values: the inactive ones are the background, and not stored.
const BACKGROUND_ELSEWHERE: u8 = 0;
/// Bytes of an upper node's mask.
const UPPER_MASK: usize = 4096;
/// Bytes of a lower node's mask.
const LOWER_MASK: usize = 512;
/// Bytes of a leaf's mask.
const LEAF_MASK: usize = 64;
