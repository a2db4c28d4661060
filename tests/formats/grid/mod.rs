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

use GridFormat::*;
use rayon::prelude::*;
use tempfile::{TempDir, tempdir};
use trivox::Place;
use trivox::formats::{Reporting, WriteError, read_grid_with, write_grid, write_grid_with};
use trivox::grid::Attributes;

use crate::common::environment::python_with;
use crate::common::prelude::*;
use colored::colored;

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
    load_bytes(format, &fs::read(path).unwrap())
}

/// The grid as a file `grid` in `folder`.
fn write_into(folder: &TempDir, grid: &VoxelGrid, format: GridFormat) {
    let path = folder.path().join("grid").with_extension(format.extension());
    fs::write(path, written(grid, format)).unwrap();
}

fn load_bytes(format: GridFormat, mut bytes: &[u8]) -> Result<LoadedGrid, ReadError> {
    read_grid_from(&mut bytes, format, &ReadOptions::default())
}

/// Reads `bytes` without a warning.
fn load_silently(format: GridFormat, bytes: &[u8]) -> VoxelGrid {
    let loaded = load_bytes(format, bytes).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded.grid
}

/// Refuses `bytes` for the memory that they need.
fn refused_within(memory: u64, format: GridFormat, mut bytes: &[u8]) {
    let options = ReadOptions { memory, ..ReadOptions::default() };
    let read = read_grid_from(&mut bytes, format, &options).map(|loaded| loaded.grid);
    assert!(matches!(read, Err(ReadError::Memory { .. })), "{memory} bytes: {read:?}");
}

fn read(format: GridFormat, bytes: &[u8]) -> Result<VoxelGrid, ReadError> {
    load_bytes(format, bytes).map(|loaded| loaded.grid)
}

/// The grid as its file gives it back.
fn reread(grid: &VoxelGrid, format: GridFormat) -> VoxelGrid {
    read(format, &written(grid, format)).unwrap()
}

/// The notes on the properties of a grid that a file loses.
fn lost(grid: &VoxelGrid, format: GridFormat) -> String {
    format.lost(grid, &WriteOptions::default()).join("; ")
}

fn assert_bytes(found: &[u8], expected: &[u8]) {
    assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

/// The same bytes, but for `new` ones at a place.
fn patched(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    [&bytes[..at], new, &bytes[at + new.len()..]].concat()
}

/// Where `part` first lies in the bytes.
fn position(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).unwrap()
}

/// Numbers of a binary file, in little-endian order.
fn u32s(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn u64s(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn f64s(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The numbers of a line of text.
fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').map(|number| number.parse().unwrap()).collect()
}

fn place_of(grid: &VoxelGrid) -> Place {
    grid.world.place.unwrap_or(Place { origin: [0.0; 3], voxel_size: 1.0 })
}

fn attributes_of(grid: &VoxelGrid) -> &Attributes {
    grid.attributes.as_ref().unwrap()
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
    voxels_from([0; 3], grid)
}

/// The voxels of a grid that begins at `base`.
fn voxels_from(base: [i64; 3], grid: &VoxelGrid) -> BTreeSet<[i64; 3]> {
    grid.voxels().map(|voxel| plus(base, voxel.map(i64::from))).collect()
}

/// Two voxels, y up: the one at the origin, and the last.
fn tiny() -> VoxelGrid {
    let world = World::at([-1.5, 0.0, 2.0], 0.125, Up::Y);
    VoxelGrid::from_voxels([1, 2, 3], [[0, 0, 0], [0, 1, 2]]).unwrap().with_world(world)
}

#[test]
fn files_have_the_bytes_they_always_had() {
    let (painted, painted_vox) = vox::tiny_painted();
    for (grid, format, expected) in [
        (&tiny(), Vox, &vox::tiny_vox()[..]),
        (&painted, Vox, &painted_vox),
        (&tiny(), Npy, npy::TINY_NPY),
        (&tiny(), Vdb, &vdb::tiny_vdb()),
        (&tiny(), Binvox, dense::TINY_BINVOX),
        (&tiny(), Bricks, &dense::tiny_bricks()),
        (&colored::tiny_colored(), Bricks, &colored::tiny_colored_bricks()),
        (&tiny(), Vti, dense::TINY_VTI),
        (&tiny(), Vol, dense::TINY_VOL),
    ] {
        assert_bytes(&written(grid, format), expected);
    }
}

/// The warning about a grid of unknown place in a file of a format that states a place.
const ASSUMED: &str = "where the grid lies is not known: the file says that it begins at (0, 0, \
                       0), in voxels of 1";

/// The grid, its place and its colours are read back, and written again they are the same bytes.
fn assert_given_back(grid: &VoxelGrid, format: GridFormat) {
    let (world, said) = match grid.world {
        World { place: None, up } if format == Vti => (World::at([0.0; 3], 1.0, up), ASSUMED),
        world => (world, ""),
    };
    let bytes = written(grid, format);
    let back = read(format, &bytes).unwrap();
    assert!(back == *grid && back.hash() == grid.hash(), "{format:?}: {grid:?}, read {back:?}");
    assert_eq!(back.world, world, "{format:?}: {grid:?}");
    assert_eq!(back.colors.is_some(), grid.colors.is_some(), "{format:?}: {grid:?}");
    let same = |voxel: [u32; 3]| back.color(voxel) == grid.color(voxel);
    assert!(grid.voxels().all(same), "{format:?} changes colours of {grid:?}");
    assert!(bytes == written(&back, format), "{format:?}: other bytes for {grid:?}");
    assert_eq!(lost(grid, format), said, "{format:?}: {grid:?}");
}

#[test]
fn files_give_back_the_grid_that_was_written() {
    grids().into_par_iter().for_each(|grid| {
        for format in [Vox, Npz, Bricks, Vdb, Nvdb, Schem, Litematic, Vti] {
            assert_given_back(&grid, format);
        }
        // An .npy has no place.
        let bare = grid.clone().with_world(World::default());
        assert_given_back(&bare, Npy);
        assert!(written(&bare, Npy) == written(&grid, Npy), "{grid:?}");
    });
    for grid in [vdb::blocks(), vdb::far()] {
        assert_given_back(&grid, Vdb);
        assert_given_back(&grid, Nvdb);
    }
}

/// A small file of each format, in several models' and several bricks' worth of structure.
fn small_files() -> [(GridFormat, Vec<u8>); 18] {
    let voxels = [[0, 0, 0], [8, 1, 2], [8, 9, 2]];
    let grid = VoxelGrid::from_voxels([9, 10, 3], voxels).unwrap();
    [
        (Vox, vox::tiny_vox()),
        (Npy, npy::TINY_NPY.to_vec()),
        (Npy, written(&grid, Npy)),
        (Vdb, vdb::tiny_vdb()),
        (Vdb, written(&grid, Vdb)),
        (Nvdb, nvdb::tiny_nvdb()),
        (Npz, written(&tiny(), Npz)),
        (Binvox, dense::TINY_BINVOX.to_vec()),
        (Schem, written(&tiny(), Schem)),
        (Litematic, written(&tiny(), Litematic)),
        (Bricks, dense::tiny_bricks()),
        (Bricks, written(&grid, Bricks)),
        (Bricks, colored::tiny_colored_bricks()),
        (Npz, written(&colored::tiny_colored(), Npz)),
        (Vdb, written(&colored::tiny_colored(), Vdb)),
        (Nvdb, written(&colored(&tiny(), true), Nvdb)),
        // The line feed at the end is optional.
        (Vti, dense::TINY_VTI.trim_ascii_end().to_vec()),
        (Vti, vti::ASCII.trim_ascii_end().into()),
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
        fs::write(&path, &bytes).unwrap();
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
    for up in [Up::Y, Up::Z] {
        for grid in [&grid, &colored] {
            let mut grid = grid.clone();
            grid.world = World::at([0.0; 3], 1.0, up);
            for format in [Npy, Npz, Vox, Vdb, Vti, Schem, Litematic] {
                let found = reread(&grid, format);
                assert_eq!(found.hash(), grid.hash(), "{format:?}, {up:?} up");
                if [Npz, Vti].contains(&format) {
                    let same = |voxel: [u32; 3]| found.color(voxel) == grid.color(voxel);
                    assert!(grid.voxels().all(same), "{format:?}, {up:?} up");
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

#[test]
fn each_format_says_what_it_does_not_keep_of_colours_and_of_the_place() {
    let grid = tiny();
    let [opaque, clear] = [true, false].map(|is_opaque| colored(&grid, is_opaque));
    let glass = tiny().with_colors(Colors::uniform([1, 2, 3, 254]));
    let z_up = opaque.clone().with_world(World { up: Up::Z, ..grid.world });
    let place = "where the grid lies, its voxel size and which axis is up are not kept";
    let padded = "the grid of 1 x 2 x 3 voxels is padded to 3 x 3 x 3";
    let colors = "the voxels' colours are not kept";
    let (opacity, up) = ("how opaque the voxels are is not kept", "that z is up is not kept");
    let blocks = "each colour becomes the nearest block";
    for (format, grid, said) in [
        (Npy, &grid, &[place][..]),
        (Npy, &opaque, &[place, "the voxels' colours are not kept: write .npz"]),
        (Binvox, &grid, &[padded]),
        (Binvox, &opaque, &[padded, colors]),
        (Vol, &grid, &[]),
        (Vol, &opaque, &[colors]),
        (Npz, &clear, &[]),
        (Bricks, &clear, &[]),
        (Vti, &clear, &[]),
        (Vdb, &opaque, &[]),
        (Vdb, &clear, &[opacity]),
        (Vdb, &glass, &[opacity]),
        (Nvdb, &opaque, &[]),
        (Nvdb, &clear, &[opacity]),
        (Nvdb, &glass, &[opacity]),
        (Schem, &grid, &[]),
        (Schem, &opaque, &[blocks]),
        (Schem, &clear, &[blocks, opacity]),
        (Vox, &glass, &["how opaque voxels are is not kept: all are opaque"]),
        (Glb, &z_up, &[]),
        (Ply, &z_up, &[up]),
        (Obj, &z_up, &[up]),
        (Ply, &clear, &[]),
        (Obj, &clear, &[opacity]),
    ] {
        assert_eq!(format.lost(grid, &WriteOptions::default()), said, "{format:?}");
    }
}
