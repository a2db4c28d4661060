//! OpenVDB: against the library itself, by its Python module, and against `vdb-rs`.
//!
//! The tests with the library need `TRIVOX_OPENVDB_PYTHON` to name a Python that has `pyopenvdb`
//! and NumPy.

use super::dense::lines;
use super::npy::openvdb_python;
use super::*;

/// A text of a file, after its length.
pub(crate) fn text(text: &str) -> Vec<u8> {
    [&u32s(&[text.len() as u32]), text.as_bytes()].concat()
}

/// A field of a grid's metadata: its name, type and value.
pub(crate) fn field(name: &str, kind: &str, value: &[u8]) -> Vec<u8> {
    [&text(name), &text(kind), &u32s(&[value.len() as u32]), value].concat()
}

/// What the metadata of each grid of the tiny one have in common, and the first of them.
pub(crate) fn tiny_fields(class: &str) -> Vec<u8> {
    [
        field("class", "string", class.as_bytes()),
        field("file_bbox_max", "vec3i", &u32s(&[0, 1, 2])),
        field("file_bbox_min", "vec3i", &u32s(&[0; 3])),
        field("file_compression", "string", b"active values"),
        field("file_voxel_count", "int64", &u64s(&[2])),
        field("is_saved_as_half_float", "bool", &[1]),
    ]
    .concat()
}

/// A file of the tiny grid, part by part. What it has of zeros is only counted.
pub(crate) fn tiny_vdb() -> Vec<u8> {
    let described = b"1 dims=1,2,3 up=y origin=-1.5,0.0,2.0 voxel=0.125";
    // Bits 0 and 8 + 2 of x = 0.
    let mask = [&[1, 4][..], &[0; 62]].concat();
    // Masks of children, of which there is one, and of tiles, and no values.
    let node = |mask: usize| [&[1][..], &vec![0; 2 * mask]].concat();
    [
        b" BDV\0\0\0\0".to_vec(),
        // Of the format and of the library.
        u32s(&[224, 10, 0]),
        b"\x01f7b9ece6-8071-8f81-80e9-1f71d04ab4ba".to_vec(),
        // No metadata, one grid.
        u32s(&[0, 1]),
        [text("density"), text("Tree_float_5_4_3_HalfFloat"), text("")].concat(),
        // Where the grid, its values, and what follows it begin.
        u64s(&[134, 9970, 10039]),
        // Active values only; eight fields.
        u32s(&[2, 8]),
        tiny_fields("fog volume"),
        field("name", "string", b"density"),
        field("trivox", "string", described),
        text("UniformScaleTranslateMap"),
        // The first voxel's centre.
        f64s(&[-1.4375, 0.0625, 2.0625]),
        [0.125, 0.125, 8.0, 64.0, 4.0].map(|scale| f64s(&[scale; 3])).concat(),
        // One buffer; background 0; no tile and one child, at the origin.
        u32s(&[1, 0, 0, 1, 0, 0, 0]),
        // Upper and lower node.
        [node(4096), node(512), mask.clone()].concat(),
        // The leaf again, with its values.
        [mask, vec![0], vec![0, 0x3c, 0, 0x3c]].concat(),
    ]
    .concat()
}

/// Bricks of a box, in bricks.
fn full_box(at: [u32; 3], size: [u32; 3]) -> impl Iterator<Item = (BrickKey, Mask)> {
    voxels_in(at, plus(at, size)).map(|brick| (BrickKey::new(brick), FULL))
}

/// Solids with tiles of 8 and 128 voxels, beside leaves, that no mirroring leaves as they are.
pub(crate) fn blocks() -> VoxelGrid {
    let mut bricks: Vec<_> = full_box([16, 0, 0], [16, 16, 32]).collect();
    bricks.extend(full_box([3, 5, 7], [2, 3, 20]));
    bricks.push((BrickKey::new([33, 0, 0]), [1, 2, 3, 4, 5, 6, 7, u64::MAX]));
    bricks.push((BrickKey::new([0, 23, 0]), [u64::MAX, 0, 0, 0, 0, 0, 0, 1 << 63]));
    VoxelGrid::from_bricks([272, 192, 290], bricks).unwrap()
}

/// Where the root's background lies in the file of the tiny grid.
const ROOT: usize = 664;

/// A file whose root has tiles at `corners`, and no node; it does not say where its parts lie.
pub(crate) fn of_root_tiles(corners: &[[i32; 3]]) -> Vec<u8> {
    let mut bytes = tiny_vdb();
    bytes.truncate(ROOT);
    bytes[20] = 0;
    bytes.extend(u32s(&[0, corners.len() as u32, 0]));
    for corner in corners {
        bytes.extend(corner.map(i32::to_le_bytes).as_flattened());
        bytes.extend(1_f32.to_le_bytes());
        bytes.push(1);
    }
    bytes
}

/// Voxels in many nodes of the root, and a solid across some.
pub(crate) fn far() -> VoxelGrid {
    let mut random = fastrand::Rng::with_seed(9);
    random_grid([9000, 4200, 12_400], 150, &mut random)
}

#[test]
fn tiles_of_the_root_are_read_and_written() {
    let bytes = of_root_tiles(&[[4096, -4096, 0], [0, -4096, 0], [-4096, 0, 8192]]);
    let loaded = load_bytes(Vdb, &bytes).unwrap();
    assert_eq!(loaded.warnings.len(), 1, "the text does not fit the voxels");
    let grid = loaded.grid;
    assert_eq!((grid.dims(), grid.occupied()), ([12288, 8192, 12288], 3 * 4096_u64.pow(3)));
    let corners = [[4096, 0, 0], [12287, 4095, 4095], [0, 4096, 8192], [4095, 8191, 12287]];
    assert!(corners.into_iter().all(|voxel| grid.contains(voxel)));
    let outside = [[4095, 0, 0], [4096, 4096, 0], [4096, 4096, 8192]];
    assert!(!outside.into_iter().any(|voxel| grid.contains(voxel)));
    let origin = [-1.5 - 512.0, -512.0, 2.0];
    assert_eq!(grid.world, World::at(origin, 0.125, Up::Y));
    for format in [Vdb, Nvdb] {
        let bytes = written(&grid, format);
        assert!(bytes.len() < 2000, "{} bytes", bytes.len());
        assert!(read(format, &bytes).unwrap() == grid);
    }
}

#[test]
fn tiles_that_cannot_be_are_refused() {
    let checkered: Vec<_> =
        (0..2048).map(|i| [i % 8 * 2, i / 8 % 16, i / 128].map(|c| 4096 * c)).collect();
    for (corners, why) in [
        (&[[0, 0, 0], [65536, 0, 0]][..], "69632"),
        (&[[0, 4096, 0], [0, 4096, 0]], "two nodes of the tree"),
        (&[[0, 0, 8]], "no node of the root lies at [0, 0, 8]"),
        (&[[i32::MIN, 0, 0], [i32::MAX - 4095, 0, 0]], "grid"),
        (&checkered, "rows of full bricks"),
    ] {
        refused(Vdb, &of_root_tiles(corners), why);
    }
}

/// What is written for others to read.
pub(crate) fn for_others() -> Vec<VoxelGrid> {
    let mut random = fastrand::Rng::with_seed(7);
    let world = World::at([-3.25, 10.0, 0.125], 0.375, Up::Z);
    let full = |dims: [u32; 3]| block(dims, [0; 3], dims);
    vec![
        tiny(),
        random_grid([19, 9, 30], 300, &mut random).with_world(world),
        random_grid([257, 9, 3], 90, &mut random).with_world(world),
        blocks().with_world(world),
        VoxelGrid::empty([5, 3, 2]).unwrap().with_world(world),
        full([1, 1, 1]).with_world(world),
        full([24, 16, 33]),
    ]
}

/// Writes each grid, by its number, in this format and as NumPy's.
pub(crate) fn write_all(grids: &[VoxelGrid], format: GridFormat, folder: &Path) {
    for (n, grid) in grids.iter().enumerate() {
        for format in [format, Npy] {
            let name = format!("{n}.{}", format.extension());
            fs::write(folder.join(name), written(grid, format)).unwrap();
        }
    }
}

/// Where the corner of a voxel towards the origin lies.
pub(crate) fn in_the_world(grid: &VoxelGrid, voxel: [u32; 3]) -> [f64; 3] {
    let Place { origin, voxel_size } = place_of(grid);
    [0, 1, 2].map(|a| origin[a] + voxel_size * f64::from(voxel[a]))
}

pub(crate) fn assert_near(found: &[f64], places: &[[f64; 3]]) {
    let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
    let places = places.as_flattened();
    assert!(found.len() == places.len() && found.iter().zip(places).all(near), "{found:?}");
}

/// Writes [`far`] in this format, and the list of its voxels.
pub(crate) fn write_far(format: GridFormat) -> TempDir {
    let folder = tempdir().unwrap();
    let path = folder.path().join("far");
    fs::write(path.with_extension(format.extension()), written(&far(), format)).unwrap();
    fs::write(path.with_extension("txt"), Vec::from_iter(lines(&far())).join("\n")).unwrap();
    folder
}

#[test]
fn openvdb_reads_what_is_written() {
    let folder = tempdir().unwrap();
    let grids = for_others();
    write_all(&grids, Vdb, folder.path());
    // The values of all voxels and tiles; where two corners lie; how much is in leaves.
    let script = "
import glob, numpy, pyopenvdb
for n in range(len(glob.glob('*.vdb'))):
    [only] = pyopenvdb.readAllGridMetadata(f'{n}.vdb')
    grid = pyopenvdb.read(f'{n}.vdb', 'density')
    expected = numpy.load(f'{n}.npy')
    # With a margin of 5, so that nothing lies outside.
    found = numpy.full([d + 10 for d in expected.shape], 7, 'float32')
    grid.copyToArray(found, ijk=(-5, -5, -5))
    same = (found == numpy.pad(expected, 5)).all()
    values = {item.value for item in grid.citerOnValues()}
    tiles = sorted({item.max[0] - item.min[0] + 1 for item in grid.citerOnValues()} - {1})
    corners = [grid.transform.indexToWorld(c) for c in [(-.5, -.5, -.5), (1.5, .5, -.5)]]
    print(bool(same), grid.gridClass, grid.background, values <= {1.0}, grid.activeVoxelCount(),
        grid.leafCount(), tiles, grid.metadata['file_voxel_count'], only.name,
        *[c for corner in corners for c in corner])
";
    let Some(output) = openvdb_python(script, folder.path()) else { return };
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), grids.len());
    for (line, grid) in lines.iter().zip(&grids) {
        let count = grid.occupied();
        let leaves = grid.bricks().filter(|(_, mask)| *mask != FULL).count();
        let tiles = match (leaves as u64 == grid.brick_count(), *grid == blocks()) {
            (true, _) => "[]",
            (_, true) => "[8, 128]",
            _ => "[8]",
        };
        let expected =
            format!("True fog volume 0.0 True {count} {leaves} {tiles} {count} density ");
        let rest = line.strip_prefix(&*expected).unwrap_or_else(|| panic!("{line}, {expected}"));
        assert_near(&numbers(rest), &[in_the_world(grid, [0; 3]), in_the_world(grid, [2, 1, 0])]);
    }
}

#[test]
fn openvdb_finds_voxels_far_apart() {
    let folder = write_far(Vdb);
    let script = "
import pyopenvdb
grid = pyopenvdb.read('far.vdb', 'density')
voxels = [tuple(map(int, line.split())) for line in open('far.txt')]
accessor = grid.getConstAccessor()
print(all(accessor.probeValue(voxel) == (1, True) for voxel in voxels),
    grid.activeVoxelCount() == len(voxels))
";
    let Some(output) = openvdb_python(script, folder.path()) else { return };
    assert_eq!(output.trim(), "True True");
}

#[test]
fn what_openvdb_writes_is_read() {
    let folder = tempdir().unwrap();
    // Values below and above 0, blocks that become tiles, places below 0.
    let script = "
import numpy, pyopenvdb
random = numpy.random.default_rng(4)
values = random.random((19, 9, 30)).astype('float32') - 0.9
values[0, 0, 0] = values[-1, -1, -1] = 1
grid = pyopenvdb.FloatGrid()
grid.copyFromArray(values, ijk=(-3, 8, 21))
grid.fill((-128, 0, 128), (-1, 127, 255), 0.5)
grid.fill((0, 256, 256), (7, 271, 263), -0.5)
grid.name = 'smoke'
grid.transform = pyopenvdb.createLinearTransform(0.25)
grid.transform.translate((1, 2, 3))
truths = pyopenvdb.BoolGrid()
truths.fill((1, 2, 3), (40, 20, 30), True)
truths.fill((4, 5, 6), (7, 8, 9), False)
turned = grid.deepCopy()
turned.transform.rotate(0.5, pyopenvdb.Axis.X)
half = grid.deepCopy()
half.saveFloatAsHalf = True
vectors = pyopenvdb.Vec3SGrid()
vectors.fill((0, 0, 0), (9, 9, 9), (1, 2, 3))
ball = pyopenvdb.createLevelSetSphere(40)
# Inactive values besides the background and its negative, in more and more nodes.
holes = ball.deepCopy()
holes.fill((0, 0, -8), (15, 15, -1), 1.5, False)
holes.fill((-3, -3, -8), (20, 2, 20), -1.5, False)
holes.fill((-35, 2, 3), (-30, 20, 30), -0.25, False)
# Active, but a tile and a voxel beyond the background.
far = ball.deepCopy()
far.fill((64, 0, 0), (71, 7, 7), 1, True)
far.fill((64, 16, 0), (64, 16, 0), 5, True)
density = holes.deepCopy()
density.name = 'density'
half_ball = ball.deepCopy()
half_ball.saveFloatAsHalf = True
random_values = pyopenvdb.FloatGrid()
random_values.copyFromArray(random.random((64, 64, 64)).astype('float32') + 0.5)
for name, grids in dict(float=[grid], half=[half], bool=[truths], turned=[turned], ball=[ball],
        half_ball=[half_ball], holes=[holes], far=[far],
        vector=[vectors], several=[vectors, truths, grid],
        mixed=[ball, holes, truths, ball],
        named=[ball, density, truths], dense=[random_values]).items():
    pyopenvdb.write(name + '.vdb', grids)
for name, grid in ('float', grid), ('bool', truths), ('dense', random_values):
    with open(name + '.txt', 'w') as out:
        for item in grid.citerOnValues():
            if item.value > 0: print(*item.min, *item.max, file=out)
for name, grid in ('ball', ball), ('holes', holes):
    values = numpy.zeros((100, 100, 100), numpy.float32)
    grid.copyToArray(values, ijk=(-50, -50, -50))
    with open(name + '.txt', 'w') as out:
        for voxel in numpy.argwhere(values < 0) - 50: print(*voxel, *voxel, file=out)
for name in 'ball', 'holes', 'half_ball':
    [grid], _ = pyopenvdb.readAll(name + '.vdb')
    with open(name + '.band', 'w') as out:
        for item in grid.citerOnValues():
            assert item.min == item.max
            print(*item.min, item.value, file=out)
";
    let Some(_) = openvdb_python(script, folder.path()) else { return };
    let load = |name: &str| load(&folder, name, Vdb);
    let expected = |name: &str| -> BTreeSet<[i64; 3]> {
        let text = fs::read_to_string(folder.path().join(name).with_extension("txt")).unwrap();
        let mut voxels = BTreeSet::new();
        for line in text.lines() {
            let corners: Vec<i64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
            let [lo, hi] = [0, 3].map(|at| [0, 1, 2].map(|a| corners[at + a]));
            let size = minus(hi, lo).map(|extent| extent as u32 + 1);
            let within = voxels_in([0; 3], size);
            voxels.extend(within.map(|voxel| plus(lo, voxel.map(i64::from))));
        }
        voxels
    };
    let origin = [1.0 + (-128.5) * 0.25, 2.0 - 0.125, 3.0 + 15.5 * 0.25];
    let world = World::at(origin, 0.25, Up::Y);
    for (name, voxels, base, said) in [
        ("float", "float", [-128, 0, 16], ""),
        ("half", "float", [-128, 0, 16], ""),
        ("turned", "float", [-128, 0, 16], "turned or stretched"),
        ("several", "bool", [0; 3], "only the grid"),
        ("bool", "bool", [0; 3], ""),
        ("mixed", "bool", [0; 3], "only the grid"),
        ("dense", "dense", [0; 3], ""),
        ("ball", "ball", [-48; 3], ""),
        ("half_ball", "ball", [-48; 3], ""),
        ("holes", "holes", [-48; 3], ""),
        ("far", "ball", [-48; 3], "its band leaves out 513 active voxels (farther than"),
        ("named", "holes", [-48; 3], "only the grid density is read"),
    ] {
        let loaded = load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = voxels_from(base, &loaded.grid);
        assert!(found == expected(voxels), "{name}: {} voxels", found.len());
        let warned = loaded.warnings.join("; ");
        assert!(warned.contains(said) && warned.is_empty() == said.is_empty(), "{warned}");
        match name {
            "float" | "half" => assert_eq!(loaded.grid.world, world),
            "turned" => assert_eq!(loaded.grid.world, World::default()),
            "ball" | "half_ball" | "holes" => {
                let path = folder.path().join(name).with_extension("band");
                let text = fs::read_to_string(path).unwrap();
                let expected: BTreeSet<[i64; 4]> = text
                    .lines()
                    .map(|line| {
                        let (voxel, distance) = line.rsplit_once(' ').unwrap();
                        let distance: f32 = distance.parse().unwrap();
                        let [x, y, z] =
                            <[f64; 3]>::try_from(numbers(voxel)).unwrap().map(|c| c as i64);
                        [x, y, z, distance.to_bits().into()]
                    })
                    .collect();
                let field = loaded.distances.unwrap();
                let found = field.distances().map(|(voxel, distance)| {
                    let [x, y, z] = plus(voxel.map(i64::from), base);
                    [x, y, z, distance.to_bits().into()]
                });
                assert_eq!(field.width(), 3.0);
                assert!(found.collect::<BTreeSet<_>>() == expected, "{name}");
            }
            _ => assert_eq!(loaded.distances.is_some(), ["far", "named"].contains(&name), "{name}"),
        }
    }
    for name in ["half", "bool", "several", "holes"] {
        let bytes = fs::read(folder.path().join(name).with_extension("vdb")).unwrap();
        read_with_changes(Vdb, &bytes);
    }
    let error = load("vector").unwrap_err().to_string();
    assert!(error.contains("no grid in it"), "{error}");
}

#[test]
fn malformed_vdb_is_refused_with_the_reason() {
    for (why, at, value) in [
        ("does not begin with ' BDV'", 0, b'V'),
        ("version 221", 8, 221),
        ("version 225", 8, 225),
        ("the type of metadata cannot be a text", 57, 1),
        ("more bytes after the last grid", 61, 0),
        ("no grid in it has numbers or truths as values: there are density", 80, b'X'),
        ("compression 10", 134, 10),
        ("2 buffers a leaf", ROOT - 4, 2),
        ("the grid ends at byte 10039, but the file says", 126, 0),
        ("no node of the root lies at [1, 0, 0]", ROOT + 12, 1),
        ("values cannot be stored in way 7", ROOT + 24 + 8192, 7),
        ("a leaf's mask differs", 9970, 3),
    ] {
        refused(Vdb, &patched(&tiny_vdb(), at, &[value]), why);
    }
}

#[test]
fn vdb_rs_reads_the_density_of_a_grid_alone_and_beside_colours() {
    let plain = for_others().into_iter().map(|grid| (grid, &["density"][..]));
    let colored = (super::colored::for_others(true), &["Cd", "density"][..]);
    for (grid, expected) in plain.chain([colored]) {
        let bytes = written(&grid, Vdb);
        let mut reader = vdb_rs::VdbReader::new(std::io::Cursor::new(bytes)).unwrap();
        let mut names = reader.available_grids();
        names.sort();
        assert_eq!(names, expected);
        let density = reader.read_grid::<half::f16>("density").unwrap();
        let mut voxels = BTreeSet::new();
        for (corner, value, level) in density.iter() {
            assert_eq!(value.to_f32(), 1.0);
            let corner = corner.to_array().map(|c| c as u32);
            voxels.extend(voxels_in(corner, plus(corner, [level.scale() as u32; 3])));
        }
        assert!(voxels == grid.voxels().collect(), "{grid:?}");
    }
}
