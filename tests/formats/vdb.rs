//! OpenVDB: against the library itself, by its Python module, and against `vdb-rs`.

use std::collections::BTreeSet;

use trivox::formats::{GridFormat, LoadedGrid, ReadError};
use trivox::grid::{BrickKey, FULL};
use trivox::{Up, VoxelGrid, World};

use super::npy::python;
use super::{grids, random_grid, read, tiny, voxel_set, written};

/// The tiny grid's file as hexadecimal digits, part by part.
const TINY_VDB: &str = "
    2042445600000000 e0000000 0a000000 00000000 01
";

pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    let text = text.lines().filter_map(|line| line.split('#').next()).collect::<String>();
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn vdb_has_the_bytes_it_always_had() {
    let bytes = written(&tiny(), GridFormat::Vdb);
    assert_eq!(bytes.escape_ascii().to_string(), from_hex(TINY_VDB).escape_ascii().to_string());
}

/// Solid blocks at which each level of tiles shows, mirrored by no axis: 4096, 128 and 8 voxels.
pub(crate) fn blocks() -> VoxelGrid {
    let block = |at: [u32; 3], size: [u32; 3]| {
        let [x, y, z] = [0, 1, 2].map(|a| at[a]..at[a] + size[a]);
        z.flat_map(move |z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| (BrickKey::new([x, y, z]), FULL)))
        })
    };
    let mut bricks: Vec<_> = block([16, 32, 48], [16, 16, 32]).collect();
    bricks.extend(block([3, 5, 7], [2, 3, 20]));
    bricks.push((BrickKey::new([100, 0, 0]), [1, 2, 3, 4, 5, 6, 7, u64::MAX]));
    bricks.push((BrickKey::new([0, 99, 0]), [u64::MAX, 0, 0, 0, 0, 0, 0, 1 << 63]));
    VoxelGrid::from_bricks([900, 801, 700], bricks).unwrap()
}

#[test]
fn vdb_and_nvdb_give_back_the_grid_that_was_written() {
    for grid in grids().into_iter().chain([blocks()]) {
        for format in [GridFormat::Vdb, GridFormat::Nvdb] {
            let bytes = written(&grid, format);
            let back = read(format, &bytes).unwrap();
            assert!(back == grid, "{grid:?}, read {back:?}");
            assert_eq!(back.world, grid.world, "{grid:?}");
            assert_eq!(bytes, written(&back, format), "other bytes for {grid:?}");
        }
    }
}
