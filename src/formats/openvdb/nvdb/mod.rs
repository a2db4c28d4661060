//! NanoVDB `.nvdb`: OpenVDB's tree as it lies in a graphics card's memory.
//!
//! K. Museth, "NanoVDB: A GPU-Friendly and Portable VDB Data Structure For Real-Time Rendering And
//! Simulation" (SIGGRAPH Talks, 2021). Version 32.3 of the format, with the magic `NanoVDB0` that
//! version began with: the one pbrt-v4 reads, and later versions of the library read it too.
//!
//! A file is a head of 16 bytes, 176 bytes about the grid, the grid's name, and the grid as it is in
//! memory: 672 bytes about the grid and 64 about its tree, then the root and its entries, all upper
//! nodes, all lower nodes, all leaves, and here the text of ours as "blind data". Nodes point to
//! their children by the number of bytes between them. Floats need 2 KiB for each leaf.

mod read;
mod write;

pub use read::read;
pub use write::write;

use crate::formats::GridSpec;

/// NanoVDB's.
pub const SPEC: GridSpec = GridSpec {
    extension: "nvdb",
    name: "NanoVDB",
    carries: "up to 65,536 voxels an axis; position and voxel size; up axis in blind data of ours",
    read: Some(read),
    write: Some(|grid, _, out| write(grid, out)),
    check_dims: |_| Ok(()),
    file_size: |_| None,
    lost: |_| Vec::new(),
};

/// Of files, and of grids.
const MAGIC: [u8; 8] = *b"NanoVDB0";
/// Of files that are read; the last is that of later versions.
const MAGICS: [[u8; 8]; 2] = [MAGIC, *b"NanoVDB2"];
/// Of grids that are read.
const GRID_MAGICS: [[u8; 8]; 2] = [MAGIC, *b"NanoVDB1"];
/// The layout of what follows.
const MAJOR_VERSION: u32 = 32;
/// 32.3.3: the major version in 11 bits, then 11 and 10.
const VERSION: u32 = MAJOR_VERSION << 21 | 3 << 10 | 3;

/// `GridType::Float`.
const FLOAT: u32 = 1;
/// `GridClass::FogVolume`.
const FOG_VOLUME: u32 = 2;

// Bytes.
const METADATA: usize = 176;
const GRID: usize = 672;
const TREE: usize = 64;
const ROOT: usize = 64;
const ROOT_ENTRY: usize = 32;
const UPPER: usize = 270_400;
const LOWER: usize = 33_856;
const LEAF: usize = 2_144;
const BLIND: usize = 288;
/// All parts begin at a multiple of this.
const ALIGNMENT: usize = 32;
