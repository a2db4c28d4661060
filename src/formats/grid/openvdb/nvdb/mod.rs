//! NanoVDB `.nvdb`: OpenVDB's tree in the memory layout of GPUs.
//!
//! K. Museth, "NanoVDB: A GPU-Friendly and Portable VDB Data Structure For Real-Time Rendering And
//! Simulation" (SIGGRAPH Talks, 2021). Version 32.3 of the format, with the magic `NanoVDB0` that
//! version began with: the one pbrt-v4 reads, and later versions of the library read it too.
//!
//! A file is a header of 16 bytes, for each grid 176 bytes of metadata and its name, and the grids
//! in their memory layout: a grid header of 672 bytes, a tree header of 64, then the root and its
//! entries, all upper nodes, all lower nodes, all leaves, and in `density` the text field as "blind
//! data". Child pointers are byte offsets relative to the node. Floats take 2 KiB per leaf, colours
//! 6 KiB.

mod read;
mod write;

use self::read::read;
use self::write::write;
use super::{Channel, vdb};
use crate::formats::GridSpec;

pub const SPEC: GridSpec = GridSpec {
    extension: "nvdb",
    name: "NanoVDB",
    carries: "up to 65,536 voxels per axis; position and voxel size; up axis in custom blind data; \
              RGB, attributes; distances",
    read: Some(|input, options| read(input, options.memory)),
    write: |grid, _, out| write(grid, &Channel::all(grid), out),
    distances: Some(|field, out| write(field.band(), &[Channel::of_distances(field)?], out)),
    ..vdb::SPEC
};

/// The magic number of files and of grids.
const MAGIC: [u8; 8] = *b"NanoVDB0";
/// The magic numbers of files that are read; the last is that of later versions.
const MAGICS: [[u8; 8]; 2] = [MAGIC, *b"NanoVDB2"];
/// The magic numbers of grids that are read.
const GRID_MAGICS: [[u8; 8]; 2] = [MAGIC, *b"NanoVDB1"];
/// The major version, which determines the layout.
const MAJOR_VERSION: u32 = 32;
/// 32.3.3: the major version in 11 bits, then 11 and 10.
const VERSION: u32 = MAJOR_VERSION << 21 | 3 << 10 | 3;

/// Marks an absent checksum, or half of one.
const NO_CHECKSUM: u32 = u32::MAX;
/// In the text field, before 8 hexadecimal digits: the CRC-32 of all nodes and of the text before
/// it. The format's own checksum covers the header only, as libraries compute that of nodes in
/// three ways.
const CRC_LABEL: &str = " crc32=";
const CRC_DIGITS: usize = 8;

/// `GridType::Float`.
const FLOAT: u32 = 1;
/// `GridType::Int32`.
const INTEGER: u32 = 4;
/// `GridType::Vec3f`.
const VECTOR: u32 = 6;
/// `GridClass::Unknown`.
const UNKNOWN_CLASS: u32 = 0;
/// `GridClass::LevelSet`.
const LEVEL_SET: u32 = 1;
/// `GridClass::FogVolume`.
const FOG_VOLUME: u32 = 2;

// Bytes.
const METADATA: usize = 176;
const GRID: usize = 672;
const TREE: usize = 64;
const ROOT_ENTRY: usize = 32;
const BLIND: usize = 288;
/// The alignment of all parts.
const ALIGNMENT: usize = 32;

/// Sizes in bytes of nodes with values of one or three floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    value: usize,
    /// A child or a tile's value.
    entry: usize,
    /// The root without its entries.
    root: usize,
    upper: usize,
    lower: usize,
    leaf: usize,
}

impl Sizes {
    fn of(floats: usize) -> Self {
        let value = 4 * floats;
        let entry = value.next_multiple_of(8);
        // Minimum, maximum, mean and standard deviation.
        let statistics = 2 * value + 8;
        // A box and flags; two masks.
        let head = |masks: usize| (32 + masks + statistics).next_multiple_of(ALIGNMENT);
        Self {
            value,
            entry,
            root: (28 + value + statistics).next_multiple_of(ALIGNMENT),
            upper: head(2 * 4096) + 32_768 * entry,
            lower: head(2 * 512) + 4096 * entry,
            leaf: (16 + 64 + statistics).next_multiple_of(ALIGNMENT) + 512 * value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_the_sizes_that_the_library_gives_them() {
        let [floats, vectors] = [1, 3].map(Sizes::of);
        let nodes = |sizes: Sizes| [sizes.root, sizes.upper, sizes.lower, sizes.leaf];
        assert_eq!(nodes(floats), [64, 270_400, 33_856, 2144]);
        assert_eq!(nodes(vectors), [96, 532_544, 66_624, 6272]);
    }
}
