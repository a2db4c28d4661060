//! The grid formats: what is written is read back, by us and by other people's readers, and what
//! is malformed is refused.
//!
//! The tests with NumPy, trimesh, VTK and Mitsuba need `TRIVOX_PYTHON` to name a Python that has
//! them; those that `TRIVOX_PYTHON_MODULES` names must be there.

mod attributes;
mod colored;
mod costs;
mod dense;
mod distances;
mod litematic;
mod npy;
mod nvdb;
mod schem;
mod surface;
mod vdb;
mod vox;
mod vti;

use std::ops::Range;

use crate::common::prelude::*;
use rayon::prelude::*;
use tempfile::TempDir;
use trivox::formats::{Reporting, WriteError, read_grid_with, write_grid, write_grid_with};

fn written(grid: &VoxelGrid, format: GridFormat) -> Vec<u8> {
    written_with(grid, format, &WriteOptions::default())
}

fn written_with(grid: &VoxelGrid, format: GridFormat, options: &WriteOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_grid_with(grid, format, options, &mut bytes).unwrap();
    bytes
}

/// Why nothing of the grid is written.
fn unwritable(grid: &VoxelGrid, format: GridFormat) -> String {
    let mut bytes = Vec::new();
    match write_grid(grid, format, &mut bytes) {
        Err(WriteError::Unsupported(why)) if bytes.is_empty() => why,
        other => panic!("{format:?}, {grid:?}, {} bytes: {other:?}", bytes.len()),
    }
}

/// Refuses `bytes` in a short sentence that has `why` in it.
fn refused(format: GridFormat, bytes: &[u8], why: &str) -> ReadError {
    let error = match read(format, bytes) {
        Ok(grid) => panic!("{grid:?} was read, though: {why}"),
        Err(error) => error,
    };
    let said = error.to_string();
    assert!(said.contains(why) && said.len() < 300, "'{said}' does not say '{why}'");
    error
}

/// Reads the file of that name and of the format's extension.
fn load(folder: &TempDir, name: &str, format: GridFormat) -> Result<LoadedGrid, ReadError> {
    let path = folder.path().join(name).with_extension(format.extension());
    load_bytes(format, &std::fs::read(path).unwrap())
}

/// The grid as a file `grid` in `folder`.
fn write_into(folder: &TempDir, grid: &VoxelGrid, format: GridFormat) {
    let path = folder.path().join("grid").with_extension(format.extension());
    std::fs::write(path, written(grid, format)).unwrap();
}

fn load_bytes(format: GridFormat, mut bytes: &[u8]) -> Result<LoadedGrid, ReadError> {
    read_grid_from(&mut bytes, format, &ReadOptions::default())
}

fn read(format: GridFormat, bytes: &[u8]) -> Result<VoxelGrid, ReadError> {
    load_bytes(format, bytes).map(|loaded| loaded.grid)
}

/// Grids of all sizes that matter, sparse and dense, lying in all ways.
fn grids() -> Vec<VoxelGrid> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut grids = Vec::new();
    let sizes = [
        [1, 1, 1],
        [7, 8, 9],
        [8, 1, 7],
        [1, 256, 1],
        [255, 13, 256],
        [257, 9, 3],
        [3, 257, 513],
        [1000, 5, 300],
        [2, 2000, 7],
        [2000, 3, 1001],
        [5, 3, 2000],
    ];
    for (n, dims) in sizes.into_iter().enumerate() {
        let volume: usize = dims.iter().map(|&d| d as usize).product();
        for count in [0, 1, 40, volume.min(200_000)] {
            let mut grid = random_grid(dims, count, &mut random);
            let up = if (n + count) % 2 == 0 { Up::Y } else { Up::Z };
            let origin = [random.f64(), -1e9 * random.f64(), 1e-9 * random.f64()];
            let world = World::at(origin, random.f64() / 3.0, up);
            grid.world = if count != 1 { world } else { World { place: None, ..world } };
            grids.push(grid);
        }
    }
    grids
}

/// Those of the grids that have so many voxels.
fn grids_of(occupied: Range<u64>) -> impl Iterator<Item = VoxelGrid> {
    grids().into_iter().filter(move |grid| occupied.contains(&grid.occupied()))
}

fn voxel_set(grid: &VoxelGrid) -> BTreeSet<[i64; 3]> {
    grid.voxels().map(|v| v.map(i64::from)).collect()
}

/// Two voxels, y up: the one at the origin, and the last.
fn tiny() -> VoxelGrid {
    let world = World::at([-1.5, 0.0, 2.0], 0.125, Up::Y);
    VoxelGrid::from_voxels([1, 2, 3], [[0, 0, 0], [0, 1, 2]]).unwrap().with_world(world)
}

#[test]
fn files_have_the_bytes_they_always_had() {
    for (format, expected) in [
        (GridFormat::Vox, &vox::tiny_vox()[..]),
        (GridFormat::Npy, npy::TINY_NPY),
        (GridFormat::Vdb, &vdb::tiny_vdb()),
        (GridFormat::Binvox, dense::TINY_BINVOX),
        (GridFormat::Bricks, &dense::tiny_bricks()),
        (GridFormat::Vti, dense::TINY_VTI),
        (GridFormat::Vol, dense::TINY_VOL),
    ] {
        let bytes = written(&tiny(), format);
        assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }
}

fn assert_given_back(grid: &VoxelGrid, format: GridFormat) {
    let bytes = written(grid, format);
    let back = read(format, &bytes).unwrap();
    assert!(back == *grid && back.hash() == grid.hash(), "{format:?}: {grid:?}, read {back:?}");
    assert_eq!(back.world, grid.world, "{format:?}: {grid:?}");
    assert!(back.colors.is_none(), "{format:?}: {grid:?}");
    assert!(bytes == written(&back, format), "{format:?}: other bytes for {grid:?}");
}

#[test]
fn files_give_back_the_grid_that_was_written() {
    use GridFormat::{Bricks, Litematic, Npz, Nvdb, Schem, Vdb, Vox};
    grids().into_par_iter().for_each(|grid| {
        for format in [Vox, Npz, Bricks, Vdb, Nvdb, Schem, Litematic] {
            assert_given_back(&grid, format);
        }
        // A file always has a place.
        if grid.world.place.is_some() {
            assert_given_back(&grid, GridFormat::Vti);
        }
    });
    for grid in [vdb::blocks(), vdb::far()] {
        assert_given_back(&grid, Vdb);
        assert_given_back(&grid, Nvdb);
    }
}

#[test]
fn npy_gives_back_the_voxels_that_were_written() {
    for mut grid in grids() {
        let back = read(GridFormat::Npy, &written(&grid, GridFormat::Npy)).unwrap();
        grid.world = World::default();
        assert!(back == grid, "{grid:?}, read {back:?}");
    }
}

/// A small file of each format, in several models' and several bricks' worth of structure.
fn small_files() -> [(GridFormat, Vec<u8>); 17] {
    let voxels = [[0, 0, 0], [8, 1, 2], [8, 9, 2]];
    let grid = VoxelGrid::from_voxels([9, 10, 3], voxels).unwrap();
    [
        (GridFormat::Vox, vox::tiny_vox()),
        (GridFormat::Npy, npy::TINY_NPY.to_vec()),
        (GridFormat::Npy, written(&grid, GridFormat::Npy)),
        (GridFormat::Vdb, vdb::tiny_vdb()),
        (GridFormat::Vdb, written(&grid, GridFormat::Vdb)),
        (GridFormat::Nvdb, nvdb::tiny_nvdb()),
        (GridFormat::Npz, written(&tiny(), GridFormat::Npz)),
        (GridFormat::Binvox, dense::TINY_BINVOX.to_vec()),
        (GridFormat::Schem, written(&tiny(), GridFormat::Schem)),
        (GridFormat::Litematic, written(&tiny(), GridFormat::Litematic)),
        (GridFormat::Bricks, dense::tiny_bricks()),
        (GridFormat::Bricks, written(&grid, GridFormat::Bricks)),
        (GridFormat::Bricks, colored::tiny_colored_bricks()),
        (GridFormat::Npz, written(&colored::tiny_colored(), GridFormat::Npz)),
        (GridFormat::Vdb, written(&colored::tiny_colored(), GridFormat::Vdb)),
        // The line feed at the end is optional.
        (GridFormat::Vti, dense::TINY_VTI.trim_ascii_end().to_vec()),
        (GridFormat::Vti, vti::ASCII.trim_ascii_end().into()),
    ]
}

/// Lengths and places in a file: all of a small one, and of a large one those at which something
/// begins or ends in [`nvdb::tiny_nvdb`], with some in between.
fn places_of_interest(len: usize) -> impl Iterator<Item = usize> {
    let parts = [200, 872, 936, 1000, 1032, 9272, 271_432, 272_520, 305_288, 307_432, 307_720];
    let near = parts.into_iter().flat_map(|at: usize| at.saturating_sub(24)..at + 24);
    let all = if len < 20_000 { len } else { 1200 };
    (0..all).chain(near).chain((0..len).step_by(997)).filter(move |&at| at < len)
}

#[test]
fn every_truncated_prefix_is_refused_and_so_are_extra_bytes() {
    for (format, mut bytes) in small_files() {
        assert!(read(format, &bytes).is_ok());
        for len in places_of_interest(bytes.len()) {
            let error = read(format, &bytes[..len]).expect_err("a truncated file was read");
            assert!(matches!(error, ReadError::Content(_)), "{len} bytes: {error}");
        }
        bytes.push(0);
        refused(format, &bytes, "more");
    }
}

#[test]
fn progress_of_reading_is_in_bytes_and_a_cancelled_file_is_neither_read_nor_written() {
    let folder = TempDir::new().unwrap();
    for (format, bytes) in small_files() {
        let path = folder.path().join("grid").with_extension(format.extension());
        std::fs::write(&path, &bytes).unwrap();
        let progress = Steps::default();
        read_grid_with(&path, &ReadOptions::default(), &progress).unwrap();
        let len = bytes.len() as u64;
        assert_eq!(progress.0.into_inner().unwrap(), [("load".into(), len, len)], "{format:?}");
        let cancelled = Counts::cancelled_at(0);
        let read = read_grid_with(&path, &ReadOptions::default(), &cancelled).map(|_| ());
        assert!(matches!(read, Err(ReadError::Cancelled)), "{format:?}: {read:?}");
        let mut out = Vec::new();
        let written = write_grid(&tiny(), format, &mut Reporting::new(&mut out, &cancelled));
        assert!(matches!(written, Err(WriteError::Cancelled)), "{format:?}: {written:?}");
        assert!(out.is_empty(), "{format:?}");
    }
}

/// Larger than what is encoded at once: chunks of 128 KiB, 256 bricks, tiles of 64 voxels.
#[test]
fn grids_of_many_parallel_parts_are_read_back() {
    let grid = random_grid([11, 203, 301], 3000, &mut fastrand::Rng::with_seed(7));
    let color = |[x, y, z]: [u32; 3]| Some([x as u8, y as u8, (x ^ y ^ z) as u8, 255]);
    let colored = painted_by(grid.clone(), [1, 2, 3, 255], color);
    use GridFormat::{Npy, Npz, Vdb, Vox, Vti};
    for up in [Up::Y, Up::Z] {
        for grid in [&grid, &colored] {
            let mut grid = grid.clone();
            grid.world = World::at([0.0; 3], 1.0, up);
            for format in [Npy, Npz, Vox, Vdb, Vti, GridFormat::Schem, GridFormat::Litematic] {
                let found = read(format, &written(&grid, format)).unwrap();
                assert_eq!(found.hash(), grid.hash(), "{format:?}, {up:?} up");
                if [Npz, Vti].contains(&format) {
                    let color = |grid: &VoxelGrid| {
                        grid.voxels().map(|voxel| grid.color(voxel)).collect::<Vec<_>>()
                    };
                    assert!(color(&found) == color(&grid), "{up:?} up");
                }
            }
        }
    }
}

#[test]
fn any_changed_byte_is_read_or_refused_in_proportion() {
    for (format, bytes) in small_files() {
        let mut changed = bytes.clone();
        for index in places_of_interest(bytes.len()) {
            let original = bytes[index];
            let values = [0, 0xff, original ^ 1, 1, 2, 0x7f, 0x80, original ^ 32, b'9', b'('];
            for value in &values[..if bytes.len() < 20_000 { 10 } else { 3 }] {
                changed[index] = *value;
                match read(format, &changed) {
                    // A byte of a mask is eight tiles of at most 128 voxels.
                    Ok(grid) => assert!(grid.brick_count() as usize <= bytes.len().min(32_769)),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
            changed[index] = original;
        }
    }
}

/// Reads a file with bytes changed at random places, which must not panic.
fn read_with_changes(format: GridFormat, bytes: &[u8]) {
    let mut random = fastrand::Rng::with_seed(6);
    for _ in 0..300 {
        let mut changed = bytes.to_vec();
        // What comes first says how to read the rest.
        let len = if random.bool() { 600.min(bytes.len()) } else { bytes.len() };
        changed[random.usize(..len)] = random.u8(..);
        if let Err(error) = read(format, &changed) {
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn a_message_is_short_however_long_what_it_quotes() {
    let long = "(".repeat(60_000);
    for text in [
        long.clone(),
        format!("{{'descr': '{long}', 'fortran_order': False, 'shape': (1, 1, 1)}}"),
        format!("{{'descr': '|b1', 'fortran_order': {long}, 'shape': (1, 1, 1)}}"),
        format!("{{'descr': '|b1', 'fortran_order': False, 'shape': ({long})}}"),
    ] {
        let length = (text.len() as u32).to_le_bytes();
        let bytes = [&b"\x93NUMPY\x02\x00"[..], &length, text.as_bytes()].concat();
        let message = read(GridFormat::Npy, &bytes).unwrap_err().to_string();
        assert!(message.len() < 200, "{} bytes", message.len());
    }
}

#[test]
fn a_grid_in_an_impossible_place_is_not_written() {
    let possible = World::at([0.0; 3], 1.0, Up::Y);
    let impossible = [
        ([0.0, f64::NAN, 0.0], 1.0),
        ([f64::INFINITY, 0.0, 0.0], 1.0),
        ([0.0; 3], 0.0),
        ([0.0; 3], -1.0),
        ([0.0; 3], f64::NAN),
    ];
    for format in GridFormat::ALL {
        for (origin, voxel_size) in impossible {
            let world = World::at(origin, voxel_size, Up::Y);
            let why = unwritable(&tiny().with_world(world), format);
            assert!(why.contains("cannot lie at"), "{format:?}: {why}");
        }
        write_grid(&tiny().with_world(possible), format, &mut Vec::new()).unwrap();
    }
}
