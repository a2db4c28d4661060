//! NanoVDB: against its own C++ headers, by a small program that is built here.
//!
//! These tests need `TRIVOX_NANOVDB` to name the folder that holds `nanovdb/NanoVDB.h`, a C++
//! compiler by the name of `c++`, zlib and Blosc.

use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

use super::dense::lines;
use super::vdb::{far, for_others, write_all};
use super::*;

/// The program, in a folder of its own.
static PROGRAM: LazyLock<Option<(TempDir, PathBuf)>> = LazyLock::new(|| {
    let headers = environment::path("TRIVOX_NANOVDB")?;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("nvdb");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/grid/nvdb.cpp");
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-O1", "-w", "-I"]).arg(headers).arg(source);
    let output = compiler.arg("-o").arg(&program).args(["-lz", "-lblosc"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some((folder, program))
});

/// What the program prints, or `None` where it is not there.
pub(crate) fn nanovdb(arguments: &[&str], folder: &Path) -> Option<String> {
    let (_, program) = PROGRAM.as_ref()?;
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn nanovdb_reads_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let grids = for_others();
    write_all(&grids, GridFormat::Nvdb, folder.path());
    let Some(output) = nanovdb(&["check", &grids.len().to_string()], folder.path()) else { return };
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), grids.len());
    for (line, grid) in lines.iter().zip(&grids) {
        let count = grid.occupied();
        let leaves = grid.bricks().filter(|(_, mask)| *mask != FULL).count() as u64;
        // Of the blocks, two are full lower nodes.
        let lower_tiles = if grid.dims() == [272, 192, 290] { 2 } else { 0 };
        let leaf_tiles = grid.brick_count() - leaves - lower_tiles * 16 * 16 * 16;
        let expected =
            format!("1 0 1 1 {count} {count} {leaves} {leaf_tiles} {lower_tiles} 1 dims=");
        let rest = line.strip_prefix(&*expected).unwrap_or_else(|| panic!("{line}, {expected}"));
        let (_, numbers) = rest.split_once(" 0 ").unwrap_or_else(|| panic!("{line}"));
        let numbers: Vec<f64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
        let (origin, size) = grid.world.place.map_or(([0.0; 3], 1.0), |p| (p.origin, p.voxel_size));
        let place = |c: [u32; 3]| [0, 1, 2].map(|a| origin[a] + size * f64::from(c[a]));
        let mut places = vec![place([0; 3]), place([2, 1, 0])];
        if let Some([lo, hi]) = grid.occupied_bounds() {
            places.extend([place(lo), place(hi.map(|c| c + 1))]);
        }
        assert_eq!(numbers.len(), 3 * places.len(), "{line}");
        for (found, expected) in numbers.iter().zip(places.as_flattened()) {
            assert!((found - expected).abs() < 1e-12, "{line}, not {places:?}");
        }
    }
}

/// What the program prints of `grids`, a line each, as pbrt-v4 reads them, and each as lying at an
/// origin that is moved by a part of its voxels.
fn as_pbrt_has_them(grids: &[VoxelGrid], moved: f64) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    write_all(grids, GridFormat::Nvdb, folder.path());
    for (n, grid) in grids.iter().enumerate() {
        let (origin, size) = grid.world.place.map_or(([0.0; 3], 1.0), |p| (p.origin, p.voxel_size));
        let [x, y, z] = origin.map(|c| c + moved * size);
        let place = format!("{x} {y} {z} {size}");
        std::fs::write(folder.path().join(format!("{n}.txt")), place).unwrap();
    }
    let output = nanovdb(&["pbrt", &grids.len().to_string()], folder.path())?;
    Some(output.lines().map(str::to_owned).collect())
}

#[test]
fn pbrt_finds_all_that_it_asks_for() {
    let mut grids = for_others();
    let colored = painted_by(grids[1].clone(), [0; 4], |_| Some([250, 20, 30, 255]));
    grids.push(colored);
    let Some(lines) = as_pbrt_has_them(&grids, 0.0) else { return };
    assert_eq!(lines.len(), grids.len());
    for (line, grid) in lines.iter().zip(&grids) {
        let is_empty = grid.occupied() == 0;
        assert_eq!(line, if is_empty { "1 1 1 0" } else { "1 1 1 0 0" }, "{grid:?}");
    }
    let moved = as_pbrt_has_them(&grids, 0.5).unwrap();
    let misses = |(line, g): (&String, &VoxelGrid)| g.occupied() == 0 || !line.contains("1 1 1 0 ");
    assert!(moved.iter().zip(&grids).all(misses));
}

#[test]
fn nanovdb_finds_voxels_far_apart() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("far.nvdb"), written(&far(), GridFormat::Nvdb)).unwrap();
    std::fs::write(folder.path().join("far.txt"), Vec::from_iter(lines(&far())).join("\n"))
        .unwrap();
    let Some(output) = nanovdb(&["far"], folder.path()) else { return };
    assert_eq!(output.trim(), format!("1 1 {} 0", far().occupied()));
}

#[test]
fn what_nanovdb_writes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_) = nanovdb(&["write"], folder.path()) else { return };
    let load = |name: &str| load(&folder, name, GridFormat::Nvdb);
    let text = std::fs::read_to_string(folder.path().join("voxels.txt")).unwrap();
    let voxels = text.lines().map(|line| {
        let voxel: Vec<i64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        <[i64; 3]>::try_from(voxel).unwrap()
    });
    let expected: BTreeSet<[i64; 3]> = voxels.collect();
    assert!(expected.len() > 1000);
    for name in ["none", "zip", "blosc", "several", "segments"] {
        let loaded = load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let base = [-160, -8, 1000];
        let found: BTreeSet<_> = (voxel_set(&loaded.grid).into_iter())
            .map(|voxel| [0, 1, 2].map(|a| voxel[a] + base[a]))
            .collect();
        assert!(found == expected, "{name}: {} voxels, not {}", found.len(), expected.len());
        let origin = [1.0 - 160.5 * 0.25, 2.0 - 8.5 * 0.25, 3.0 + 999.5 * 0.25];
        assert_eq!(loaded.grid.world, World::at(origin, 0.25, Up::Y));
        let said = if name.starts_with('s') { 1 } else { 0 };
        assert_eq!(loaded.warnings.len(), said, "{name}: {:?}", loaded.warnings);
    }
    for name in ["zip", "blosc"] {
        let bytes = std::fs::read(folder.path().join(name).with_extension("nvdb")).unwrap();
        read_with_changes(GridFormat::Nvdb, &bytes);
    }
    // A ball of radius 10 around the origin.
    let ball = load("level").unwrap();
    let voxels = (0..26_u32.pow(3)).map(|i| [i / 676, i / 26 % 26, i % 26]);
    let squared = |voxel: &[u32; 3]| voxel.iter().map(|&c| (i64::from(c) - 16).pow(2)).sum::<i64>();
    let expected = voxels.filter(|voxel| squared(voxel) < 100);
    assert!(ball.grid == VoxelGrid::from_voxels([26; 3], expected).unwrap(), "{ball:?}");
    assert!(ball.warnings[0].contains("only the sign"), "{:?}", ball.warnings);
}

#[test]
fn all_segments_are_read_before_a_grid_is_chosen() {
    let density = written(&tiny(), GridFormat::Nvdb);
    let mut fog = written(&far(), GridFormat::Nvdb);
    // The name in the head of the segment.
    fog[192..199].copy_from_slice(b"another");
    for parts in [[&fog, &density], [&density, &fog]] {
        let bytes = parts.map(|part| &part[..]).concat();
        let loaded =
            read_grid_from(&mut &bytes[..], GridFormat::Nvdb, &ReadOptions::default()).unwrap();
        assert!(loaded.grid == tiny());
        assert_eq!(loaded.warnings, ["only the grid density is read, not another"]);
    }
    let twice = [&fog[..], &fog].concat();
    let loaded =
        read_grid_from(&mut &twice[..], GridFormat::Nvdb, &ReadOptions::default()).unwrap();
    assert!(loaded.grid == far());
    assert_eq!(loaded.warnings, ["only the grid another is read, not another"]);
    let more = [&density[..], b"NanoVDB1"].concat();
    refused(GridFormat::Nvdb, &more, "there are more bytes after the last grid");
}

#[test]
fn malformed_nvdb_is_refused_with_the_reason() {
    // Of the head of the file, of that of the grid, of the tree, of the root, of the nodes.
    for (why, at, value) in [
        ("not a NanoVDB file", 0, b'n'),
        ("version 33.3", 10, 0x20),
        ("compression 3", 14, 3),
        ("a grid's name cannot be a text", 16 + 138, 1),
        ("there are more bytes after the last grid", 12, 0),
        ("no grid in it is a fog volume or a level set of floats: there are ", 48, 2),
        ("no grid in it is a fog volume or a level set of floats: there are ", 52, 3),
        ("the file ends in blind data", 24, 0),
        ("the grid begins with neither", 200, b'X'),
        ("the grid's end", 200 + 32, 0),
        ("a node should lie at byte", 1000 + 8, 32),
        ("the file ends in a node", 271_432 + 1088 + 2, 9),
    ] {
        let mut bytes = tiny_nvdb();
        bytes[at] = value;
        refused(GridFormat::Nvdb, &bytes, why);
    }
}

/// A file of the tiny grid, part by part. What it has of zeros is only counted.
pub(crate) fn tiny_nvdb() -> Vec<u8> {
    let number = |n: u32| n.to_le_bytes().to_vec();
    let place = |n: u64| n.to_le_bytes().to_vec();
    let doubles =
        |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let floats = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let padded = |text: &[u8], len: usize| [text, &vec![0; len - text.len()]].concat();
    // 32.3.3.
    let version = number(0x0400_0c03);
    let text = b"1 dims=1,2,3 up=y origin=-1.5,0.0,2.0 voxel=0.125 crc32=00000000";
    let bounds = [0, 0, 0, 0, 1, 2].map(number).concat();
    let world_bounds = doubles(&[-1.5, 0.0, 2.0, -1.375, 0.25, 2.375]);
    // Scale, its inverse, the first voxel's centre, and a taper.
    let map = [
        [0.125, 0.0, 0.0, 0.0, 0.125, 0.0, 0.0, 0.0, 0.125, 8.0, 0.0],
        [0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 8.0, -1.4375, 0.0625, 2.0625, 1.0],
    ]
    .concat();
    let statistics = floats(&[1.0, 1.0, 1.0, 0.0]);
    let first_of = |bytes: usize| [&[1][..], &vec![0; bytes - 1]].concat();
    let node = |mask: usize, padding: usize, child: u64, entries: usize| {
        let masks = [vec![0; mask], first_of(mask)].concat();
        let table = padded(&place(child), 8 * entries);
        [bounds.clone(), place(2), masks, statistics.clone(), vec![0; padding], table].concat()
    };
    let mut bytes = [
        b"NanoVDB0".to_vec(),
        version.clone(),
        // One grid, not compressed; its size in memory and here; its name's hash; its voxels.
        b"\x01\0\0\0".to_vec(),
        [place(307_584), place(307_584), place(0x0000_085a_6c08_0218), place(2)].concat(),
        // Float, fog volume.
        [number(1), number(2), world_bounds.clone(), bounds.clone()].concat(),
        [doubles(&[0.125; 3]), number(8)].concat(),
        // Nodes from leaf to root, tiles, no codec.
        [1, 1, 1, 1, 0, 0, 0, 0].map(number).concat(),
        [version.clone(), b"density\0".to_vec()].concat(),
        // The grid: its checksum is of the head only.
        b"NanoVDB0".to_vec(),
        [number(0), number(u32::MAX), version].concat(),
        // All statistics, and breadth first; the first of one grid.
        [number(0x3e), number(0), number(1), place(307_584)].concat(),
        padded(b"density", 256),
        [floats(&map.iter().map(|&x| x as f32).collect::<Vec<_>>()), doubles(&map)].concat(),
        [world_bounds, doubles(&[0.125; 3]), number(2), number(1)].concat(),
        // Where the blind data are; one record.
        [place(307_232), number(1), vec![0; 20]].concat(),
        // The tree: leaves, lower and upper nodes and the root; their numbers; tiles; voxels.
        [place(304_416), place(270_560), place(160), place(64)].concat(),
        [[1, 1, 1, 0, 0, 0].map(number).concat(), place(2)].concat(),
        // The root, with one entry.
        [bounds.clone(), number(1), floats(&[0.0]), statistics.clone(), vec![0; 16]].concat(),
        [place(0), place(96), vec![0; 16]].concat(),
        node(4096, 16, 270_400, 32_768),
        node(512, 16, 33_856, 4_096),
        // The leaf: its box, its mask, its values at 0 and 10.
        [vec![0; 12], vec![0, 1, 2, 2], padded(&[1, 4], 64), statistics.clone()].concat(),
        [floats(&[1.0]), vec![0; 36], floats(&[1.0]), vec![0; 4 * 501]].concat(),
        // The text begins after 288 bytes of its record; characters of one byte.
        [place(288), place(text.len() as u64), number(1), vec![0; 12], padded(b"trivox", 256)]
            .concat(),
        padded(text, 64),
    ]
    .concat();
    // Of the nodes and the text before the digits.
    let digits = text.len() - 8;
    let checked = [&bytes[NODES], &text[..digits]].concat();
    let digits = NODES.end + 288 + digits;
    let crc = format!("{:08x}", crc32fast::hash(&checked));
    bytes[digits..digits + 8].copy_from_slice(crc.as_bytes());
    bytes
}

/// Where the nodes of the tiny grid are in its file.
const NODES: std::ops::Range<usize> = 1032..307_432;

#[test]
fn a_flipped_bit_of_nvdb_is_refused() {
    let bytes = written(&tiny(), GridFormat::Nvdb);
    let grid = read(GridFormat::Nvdb, &bytes).unwrap();
    assert_eq!(grid.world, tiny().world);
    // Of the grid's head without magic and checksum, of nodes, and of all of the leaf's mask.
    let head = 200 + 16..NODES.start;
    let leaf = 200 + 304_416 + 672..200 + 304_416 + 672 + 100;
    for at in head.chain(NODES.step_by(2999)).chain(leaf) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        assert!(read(GridFormat::Nvdb, &bytes).is_err(), "byte {at}");
    }
    let mut changed = bytes.clone();
    changed[200 + 304_416 + 672 + 16] ^= 2;
    refused(GridFormat::Nvdb, &changed, "the checksum of the nodes is another");
    let mut changed = bytes.clone();
    changed[200 + 528] ^= 1;
    refused(GridFormat::Nvdb, &changed, "the checksum of the grid's head is another");
    // Of others, who need not have one.
    changed[200 + 8..200 + 16].fill(255);
    assert!(read(GridFormat::Nvdb, &changed).is_ok());
}

#[test]
fn a_root_of_any_number_of_entries_is_read_within_the_memory_limit() {
    let mut bytes = written(&tiny(), GridFormat::Nvdb);
    // The grid's size in the file, and no checksums.
    bytes[24..32].copy_from_slice(&(1_u64 << 32).to_le_bytes());
    bytes[200 + 8..200 + 16].fill(255);
    let root = 200 + 736;
    bytes.truncate(root + 64);
    bytes[root + 24..][..4].fill(255);
    let entry = [0_u64, 96, 0, 0].map(u64::to_le_bytes);
    bytes.extend(entry.as_flattened().repeat(100_000));
    let options = ReadOptions { memory: 1 << 20, ..ReadOptions::default() };
    let error = read_grid_from(&mut &bytes[..], GridFormat::Nvdb, &options).unwrap_err();
    assert!(matches!(error, ReadError::Memory { .. }), "{error}");
}

#[test]
fn nvdb_has_the_bytes_it_always_had() {
    let mut bytes = written(&tiny(), GridFormat::Nvdb);
    // What the library makes of the head is checked with the library.
    bytes[16 + 176 + 8 + 8..][..4].fill(0);
    let expected = tiny_nvdb();
    let first = bytes.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!((bytes.len(), first), (expected.len(), None));
}
