//! NanoVDB: against its own C++ headers, by a small program that is built here.
//!
//! These tests need `TRIVOX_NANOVDB` to name the folder that holds `nanovdb/NanoVDB.h`, a C++
//! compiler by the name of `c++`, zlib and Blosc.

use std::process::Command;
use std::sync::LazyLock;

use super::vdb::{assert_near, far, for_others, in_the_world, write_all, write_far};
use super::*;
use crate::common::files::floats;

/// The program, in a folder of its own.
static PROGRAM: LazyLock<Option<(TempDir, PathBuf)>> = LazyLock::new(|| {
    let headers = environment::path("TRIVOX_NANOVDB")?;
    let folder = tempdir().unwrap();
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
    let folder = tempdir().unwrap();
    let grids = for_others();
    write_all(&grids, Nvdb, folder.path());
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
        let (_, found) = rest.split_once(" 0 ").unwrap_or_else(|| panic!("{line}"));
        let place = |voxel: [u32; 3]| in_the_world(grid, voxel);
        let mut places = vec![place([0; 3]), place([2, 1, 0])];
        if let Some([lo, hi]) = grid.occupied_bounds() {
            places.extend([place(lo), place(plus(hi, [1; 3]))]);
        }
        assert_near(&numbers(found), &places);
    }
}

/// What the program prints of `grids`, a line each, as pbrt-v4 reads them, and each as lying at an
/// origin that is moved by a part of its voxels.
fn as_pbrt_has_them(grids: &[VoxelGrid], moved: f64) -> Option<Vec<String>> {
    let folder = tempdir().unwrap();
    write_all(grids, Nvdb, folder.path());
    for (n, grid) in grids.iter().enumerate() {
        let Place { origin, voxel_size } = place_of(grid);
        let [x, y, z] = origin.map(|c| c + moved * voxel_size);
        let place = format!("{x} {y} {z} {voxel_size}");
        fs::write(folder.path().join(format!("{n}.txt")), place).unwrap();
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
    let folder = write_far(Nvdb);
    let Some(output) = nanovdb(&["far"], folder.path()) else { return };
    assert_eq!(output.trim(), format!("1 1 {} 0", far().occupied()));
}

#[test]
fn what_nanovdb_writes_is_read() {
    let folder = tempdir().unwrap();
    let Some(_) = nanovdb(&["write"], folder.path()) else { return };
    let load = |name: &str| load(&folder, name, Nvdb);
    let text = fs::read_to_string(folder.path().join("voxels.txt")).unwrap();
    let voxel = |line: &str| <[f64; 3]>::try_from(numbers(line)).unwrap().map(|c| c as i64);
    let expected: BTreeSet<[i64; 3]> = text.lines().map(voxel).collect();
    assert!(expected.len() > 1000);
    for name in ["none", "zip", "blosc", "several", "segments"] {
        let loaded = load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = voxels_from([-160, -8, 1000], &loaded.grid);
        assert!(found == expected, "{name}: {} voxels, not {}", found.len(), expected.len());
        let origin = [1.0 - 160.5 * 0.25, 2.0 - 8.5 * 0.25, 3.0 + 999.5 * 0.25];
        assert_eq!(loaded.grid.world, World::at(origin, 0.25, Up::Y));
        let said = if name.starts_with('s') { 1 } else { 0 };
        assert_eq!(loaded.warnings.len(), said, "{name}: {:?}", loaded.warnings);
    }
    for name in ["zip", "blosc"] {
        let bytes = fs::read(folder.path().join(name).with_extension("nvdb")).unwrap();
        read_with_changes(Nvdb, &bytes);
    }
    // A ball of radius 10 around the origin.
    let ball = load("level").unwrap();
    let squared = |voxel: &[u32; 3]| voxel.iter().map(|&c| (i64::from(c) - 16).pow(2)).sum::<i64>();
    let dims = ball.grid.dims();
    let expected = voxels_in([0; 3], dims).filter(|voxel| squared(voxel) < 100);
    assert!(ball.grid == VoxelGrid::from_voxels(dims, expected).unwrap(), "{ball:?}");
    let field = ball.distances.unwrap();
    assert_eq!((field.width(), ball.warnings), (3.0, vec![]));
    assert!(field.distances().count() > 1000);
    for (voxel, distance) in field.distances() {
        let expected = (squared(&voxel) as f64).sqrt() - 10.0;
        assert!((f64::from(distance) - expected).abs() < 1e-4, "{voxel:?}: {distance}");
    }
}

#[test]
fn all_segments_are_read_before_a_grid_is_chosen() {
    let density = written(&tiny(), Nvdb);
    let mut fog = written(&far(), Nvdb);
    // The name in the head of the segment.
    fog[192..199].copy_from_slice(b"another");
    let said = "only the grid density is read, not another";
    for (parts, grid, said) in [
        ([&fog, &density], tiny(), said),
        ([&density, &fog], tiny(), said),
        ([&fog, &fog], far(), "only the grid another is read, not another"),
    ] {
        let loaded = load_bytes(Nvdb, &parts.map(Vec::as_slice).concat()).unwrap();
        assert!(loaded.grid == grid);
        assert_eq!(loaded.warnings, [said]);
    }
    let more = [&density[..], b"NanoVDB1"].concat();
    refused(Nvdb, &more, "there are more bytes after the last grid");
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
        refused(Nvdb, &patched(&tiny_nvdb(), at, &[value]), why);
    }
}

/// A file of the tiny grid, part by part. What it has of zeros is only counted.
pub(crate) fn tiny_nvdb() -> Vec<u8> {
    let padded = |text: &[u8], len: usize| [text, &vec![0; len - text.len()]].concat();
    // 32.3.3.
    let version = 0x0400_0c03;
    let text = b"1 dims=1,2,3 up=y origin=-1.5,0.0,2.0 voxel=0.125 crc32=00000000";
    let bounds = u32s(&[0, 0, 0, 0, 1, 2]);
    let world_bounds = f64s(&[-1.5, 0.0, 2.0, -1.375, 0.25, 2.375]);
    // Scale, its inverse, the first voxel's centre, and a taper.
    let map = [
        [0.125, 0.0, 0.0, 0.0, 0.125, 0.0, 0.0, 0.0, 0.125, 8.0, 0.0],
        [0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 8.0, -1.4375, 0.0625, 2.0625, 1.0],
    ]
    .concat();
    let statistics = floats(&[1.0, 1.0, 1.0, 0.0]);
    let node = |mask: usize, child: u64, entries: usize| {
        // No tiles, one child.
        let masks = [vec![0; mask], padded(&[1], mask)].concat();
        let table = padded(&u64s(&[child]), 8 * entries);
        [bounds.clone(), u64s(&[2]), masks, statistics.clone(), vec![0; 16], table].concat()
    };
    let bytes = [
        [b"NanoVDB0".to_vec(), u32s(&[version])].concat(),
        // One grid, not compressed; its size in memory and here; its name's hash; its voxels.
        b"\x01\0\0\0".to_vec(),
        u64s(&[307_584, 307_584, 0x0000_085a_6c08_0218, 2]),
        // Float, fog volume.
        [u32s(&[1, 2]), world_bounds.clone(), bounds.clone()].concat(),
        [f64s(&[0.125; 3]), u32s(&[8])].concat(),
        // Nodes from leaf to root, tiles, no codec.
        u32s(&[1, 1, 1, 1, 0, 0, 0, 0, version]),
        b"density\0".to_vec(),
        // The grid: its checksum is of the head only.
        b"NanoVDB0".to_vec(),
        u32s(&[0, u32::MAX, version]),
        // All statistics, and breadth first; the first of one grid.
        [u32s(&[0x3e, 0, 1]), u64s(&[307_584])].concat(),
        padded(b"density", 256),
        [floats(&map.iter().map(|&x| x as f32).collect::<Vec<_>>()), f64s(&map)].concat(),
        [world_bounds, f64s(&[0.125; 3]), u32s(&[2, 1])].concat(),
        // Where the blind data are; one record.
        [u64s(&[307_232]), u32s(&[1, 0, 0, 0, 0, 0])].concat(),
        // The tree: leaves, lower and upper nodes and the root; their numbers; tiles; voxels.
        u64s(&[304_416, 270_560, 160, 64]),
        [u32s(&[1, 1, 1, 0, 0, 0]), u64s(&[2])].concat(),
        // The root, with one entry.
        [bounds.clone(), u32s(&[1, 0]), statistics.clone(), vec![0; 16]].concat(),
        u64s(&[0, 96, 0, 0]),
        node(4096, 270_400, 32_768),
        node(512, 33_856, 4_096),
        // The leaf: its box, its mask, its values at 0 and 10.
        [vec![0; 12], vec![0, 1, 2, 2], padded(&[1, 4], 64), statistics.clone()].concat(),
        [floats(&[1.0]), vec![0; 36], floats(&[1.0]), vec![0; 4 * 501]].concat(),
        // The text begins after 288 bytes of its record; characters of one byte.
        [u64s(&[288, text.len() as u64]), u32s(&[1, 0, 0, 0]), padded(b"trivox", 256)].concat(),
        padded(text, 64),
    ]
    .concat();
    // Of the nodes and the text before the digits.
    let digits = text.len() - 8;
    let checked = [&bytes[NODES], &text[..digits]].concat();
    let crc = format!("{:08x}", crc32fast::hash(&checked));
    patched(&bytes, NODES.end + 288 + digits, crc.as_bytes())
}

/// Where the nodes of the tiny grid are in its file.
const NODES: std::ops::Range<usize> = 1032..307_432;

#[test]
fn a_flipped_bit_of_nvdb_is_refused() {
    let bytes = written(&tiny(), Nvdb);
    let grid = read(Nvdb, &bytes).unwrap();
    assert_eq!(grid.world, tiny().world);
    let head = 200;
    let leaf = head + 304_416 + 672;
    // Of the grid's head without magic and checksum, of nodes, and of all of the leaf's mask.
    for at in (head + 16..NODES.start).chain(NODES.step_by(2999)).chain(leaf..leaf + 100) {
        let flipped = patched(&bytes, at, &[bytes[at] ^ 1 << (at % 8)]);
        assert!(read(Nvdb, &flipped).is_err(), "byte {at}");
    }
    let changed = patched(&bytes, leaf + 16, &[bytes[leaf + 16] ^ 2]);
    refused(Nvdb, &changed, "the checksum of the nodes is another");
    let changed = patched(&bytes, head + 528, &[bytes[head + 528] ^ 1]);
    refused(Nvdb, &changed, "the checksum of the grid's head is another");
    // Of others, who need not have one.
    assert!(read(Nvdb, &patched(&changed, head + 8, &[255; 8])).is_ok());
}

#[test]
fn a_root_of_any_number_of_entries_is_read_within_the_memory_limit() {
    let root = 200 + 736;
    let mut bytes = written(&tiny(), Nvdb)[..root + 64].to_vec();
    // The grid's size in the file, no checksums, and the number of entries.
    bytes[24..32].copy_from_slice(&(1_u64 << 32).to_le_bytes());
    bytes[200 + 8..200 + 16].fill(255);
    bytes[root + 24..root + 28].fill(255);
    bytes.extend(u64s(&[0, 96, 0, 0]).repeat(100_000));
    refused_within(1 << 20, Nvdb, &bytes);
}

#[test]
fn nvdb_has_the_bytes_it_always_had() {
    let mut bytes = written(&tiny(), Nvdb);
    // What the library makes of the head is checked with the library.
    bytes[16 + 176 + 8 + 8..][..4].fill(0);
    let expected = tiny_nvdb();
    let first = bytes.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!((bytes.len(), first), (expected.len(), None));
}
