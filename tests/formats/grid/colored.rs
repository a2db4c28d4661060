//! Colours of voxels in all formats that hold them but `.vox`: what is written is read back, by us
//! and by other people's readers, and what is malformed is refused.

use std::io::Read;

use flate2::read::ZlibDecoder;
use trivox::grid::count;
use trivox::surface::palette::{Palette, count_colors};

use super::dense::{with_crc, without_crc};
use super::npy::{files_of, npy_file, openvdb_python};
use super::nvdb::nanovdb;
use super::vdb::{blocks, far, field, text, tiny_fields, tiny_vdb};
use super::*;

/// Formats that hold red, green, blue and opacity.
const WITH_OPACITY: [GridFormat; 3] = [Npz, Bricks, Vti];
/// Formats that hold red, green and blue.
const OPAQUE: [GridFormat; 2] = [Vdb, Nvdb];

/// The same grid, coloured: of about half the bricks some voxels have colours of their own, and all
/// others have one; where it is opaque, all are.
pub(crate) fn colored(grid: &VoxelGrid, is_opaque: bool) -> VoxelGrid {
    let mut random = fastrand::Rng::with_seed(11);
    let opacity = |random: &mut fastrand::Rng| if is_opaque { 255 } else { random.u8(..) };
    let mut bricks = Vec::new();
    for (key, voxels) in grid.bricks() {
        let mask: Mask = match random.u32(0..4) {
            0 => voxels,
            1 => voxels.map(|word| word & random.u64(..)),
            _ => continue,
        };
        let plain = (random.u32(0..4) == 0).then(|| random.u32(..));
        let own = (0..count(&mask)).map(|_| {
            let [r, g, b, _] = plain.unwrap_or_else(|| random.u32(..)).to_le_bytes();
            [r, g, b, opacity(&mut random)]
        });
        let own = own.collect();
        bricks.push((key, mask, own));
    }
    let rest = [12, 200, 77, opacity(&mut random)];
    grid.clone().with_colors(Colors::from_bricks(bricks, rest))
}

/// The voxels and their colours.
pub(crate) fn listed(grid: &VoxelGrid) -> BTreeSet<([u32; 3], Rgba)> {
    let colors = grid.colors.as_ref().expect("colours");
    grid.voxels().map(|voxel| (voxel, colors.of(voxel))).collect()
}

#[test]
fn files_give_back_the_colours_that_were_written() {
    let small = |grid: &VoxelGrid| grid.occupied() < 20_000 && grid.dims() != [2000, 3, 1001];
    for grid in grids().into_iter().filter(small) {
        for format in WITH_OPACITY {
            assert_given_back(&colored(&grid, false), format);
        }
        for format in WITH_OPACITY.into_iter().chain(OPAQUE) {
            assert_given_back(&colored(&grid, true), format);
        }
    }
    for grid in [blocks(), far()] {
        for format in OPAQUE {
            assert_given_back(&colored(&grid, true), format);
        }
        assert_given_back(&colored(&grid, false), Bricks);
    }
}

/// A line for each voxel and its colour.
pub(crate) fn color_lines(grid: &VoxelGrid) -> BTreeSet<String> {
    let line = |([x, y, z], [r, g, b, a]): ([u32; 3], Rgba)| format!("{x} {y} {z} {r} {g} {b} {a}");
    listed(grid).into_iter().map(line).collect()
}

/// A solid whose surface has colours, and its interior one.
fn solid() -> VoxelGrid {
    let grid = blocks();
    let whole = grid.bricks().filter(|(_, mask)| *mask == FULL).count();
    assert!(whole > 8192);
    let at_end =
        |[x, y, z]: [u32; 3]| (x / 8 == 16).then_some([(64 * x + 8 * y + z) as u8, 3, 9, 255]);
    painted_by(grid, [90, 80, 70, 255], at_end)
}

#[test]
fn the_interior_of_a_solid_takes_no_room() {
    let grid = solid();
    let own = grid.colors.as_ref().unwrap().own_count();
    for format in [Bricks, Npz, Vdb, Nvdb] {
        let bytes = written(&grid, format);
        let back = read(format, &bytes).unwrap();
        assert!(listed(&back) == listed(&grid));
        let colors = back.colors.unwrap();
        assert_eq!((colors.rest(), colors.own_count()), ([90, 80, 70, 255], own), "{format:?}");
        let plain = written(&blocks(), format);
        // An upper and a lower node, 12 bytes and a little for each voxel.
        let room = if format == Nvdb { 800_000 } else { 20_000 } + 15 * own as usize;
        let more = bytes.len() - plain.len();
        println!("{format:?}: {} bytes, {more} more than without colours", bytes.len());
        assert!(more < room, "{format:?}: {more} more bytes for {own} colours");
    }
}

/// The tiny grid: its first voxel has a colour of its own.
pub(crate) fn tiny_colored() -> VoxelGrid {
    painted_by(tiny(), [5, 6, 7, 8], |voxel| (voxel == [0; 3]).then_some([1, 2, 3, 4]))
}

/// One line of JSON up to byte 384; the mask, the key; and of the colours the mask, the key, the
/// number of those before, and the only one.
pub(crate) fn tiny_colored_bricks() -> Vec<u8> {
    let line = r#"{"format":"trivox bricks","version":2,"dims":[1,2,3],"world":{"origin":[-1.5,0.0,2.0],"voxel_size":0.125,"up":"y"},"bricks":1,"runs":0,"masks_at":384,"keys_at":448,"runs_at":456,"colors":{"rest":[5,6,7,8],"bricks":1,"own":1,"masks_at":456,"keys_at":520,"first_at":528,"own_at":536},"bytes":540,"crc32":"00000000"}"#;
    let mut bytes = format!("{line:<383}\n").into_bytes();
    bytes.extend(b"\x01\x04\0\0\0\0\0\0");
    bytes.extend([0; 56 + 8]);
    bytes.push(1);
    bytes.extend([0; 63 + 8 + 8]);
    bytes.extend([1, 2, 3, 4]);
    with_crc(&bytes)
}

/// The values of the first array of a `.vti`, and the bytes of the arrays after it.
fn vti_array(appended: &[u8]) -> (Vec<u8>, &[u8]) {
    let number = |n: usize| u64::from_le_bytes(*appended[8 * n..].first_chunk().unwrap());
    let blocks = number(0) as usize;
    let mut rest = &appended[8 * (3 + blocks)..];
    let mut values = Vec::new();
    for block in 0..blocks {
        let (stream, after) = rest.split_at(number(3 + block) as usize);
        let mut decoder = ZlibDecoder::new(stream);
        let len = decoder.read_to_end(&mut values).unwrap() as u64;
        assert_eq!(decoder.total_in(), stream.len() as u64, "more than the stream");
        let is_last = block + 1 == blocks && number(2) > 0;
        assert_eq!(len, if is_last { number(2) } else { number(1) });
        rest = after;
    }
    (values, rest)
}

#[test]
fn a_colored_vti_has_the_arrays_it_always_had() {
    let bytes = written(&tiny_colored(), Vti);
    let (head, arrays) = bytes.split_at(position(&bytes, b">\n_") + 3);
    let head = std::str::from_utf8(head).unwrap();
    let (occupied, rest) = vti_array(arrays);
    for (name, components, offset) in [("occupied", 1, 0), ("color", 4, arrays.len() - rest.len())]
    {
        let array = format!(
            "<DataArray type=\"UInt8\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{offset}\"/>\n"
        );
        assert!(head.contains(&array), "{head}");
    }
    assert_eq!(occupied, b"\x01\0\0\0\0\x01");
    let (colors, _) = vti_array(rest);
    assert_eq!(colors, [[1, 2, 3, 4], [0; 4], [0; 4], [0; 4], [0; 4], [5, 6, 7, 8]].concat());
}

#[test]
fn a_colored_vdb_has_the_bytes_it_always_had() {
    const TRANSFORM: Range<usize> = 488..664;
    let node = |mask: usize| [&[1][..], &vec![0; 2 * mask]].concat();
    let leaf = [&[1, 4][..], &[0; 62]].concat();
    let light = |value: u8| half::f16::from_f32(f32::from(linear_of(value)) / 65535.0);
    let halves = |rgb: [u8; 3]| rgb.map(|value| light(value).to_le_bytes()).concat();
    let whole = |rgb: [u8; 3]| rgb.map(|value| light(value).to_f32().to_le_bytes()).concat();
    let density = tiny_vdb();
    let name = [text("Cd"), text("Tree_vec3s_5_4_3_HalfFloat"), text("")].concat();
    let topology = [
        u32s(&[2, 8]),
        tiny_fields("unknown"),
        field("name", "string", b"Cd"),
        field("vector_type", "string", b"invariant"),
        // As that of the density; and one buffer a leaf.
        density[TRANSFORM].to_vec(),
        // The background is the rest's colour; no tile, one child, at the origin.
        [whole([5, 6, 7]), u32s(&[0, 1, 0, 0, 0])].concat(),
        [node(4096), node(512), leaf.clone()].concat(),
    ]
    .concat();
    let buffers = [leaf, vec![0], halves([1, 2, 3]), halves([5, 6, 7])].concat();
    let begin = density.len() + name.len() + 24;
    let values = begin + topology.len();
    let places = u64s(&[begin, values, values + buffers.len()].map(|at| at as u64));
    let expected = [name, places, topology, buffers].concat();
    let bytes = written(&tiny_colored(), Vdb);
    let (found_density, found) = bytes.split_at(density.len());
    let first = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!((found.len(), first), (expected.len(), None));
    // Two grids; the identity is another.
    let differ = (0..density.len()).filter(|&at| density[at] != found_density[at]);
    assert_eq!(differ.filter(|at| !(21..57).contains(at)).collect::<Vec<_>>(), [61]);
}

#[test]
fn malformed_colours_of_bricks_are_refused_with_the_reason() {
    let good = tiny_colored_bricks();
    assert!(read(Bricks, &good).is_ok());
    // The checksum is judged last.
    let with = |from, to| without_crc(&good, from, to);
    let changed = |at, value| patched(&good, at, &[value]);
    for (why, bytes) in [
        ("'version' and 'colors' contradict", with("\"version\":2", "\"version\":1")),
        ("malformed", with("[5,6,7,8]", "[5,6,7,256]")),
        ("malformed", with("[5,6,7,8]", "[5,6,7]")),
        ("contradict", with("\"own\":1", "\"own\":2")),
        ("contradict", with("\"own_at\":536", "\"own_at\":537")),
        ("contradict", with("\"bricks\":1,\"own\"", "\"bricks\":99999999999999999,\"own\"")),
        ("numbers of colours contradict", changed(456, 0)),
        ("numbers of colours contradict", changed(456, 0x41)),
        ("numbers of colours contradict", changed(528, 1)),
        ("not possible, or out of order", changed(527, 1)),
        ("brick (0, 0, 0) has colours without a voxel", changed(456, 2)),
        ("brick (1, 0, 0) has colours without a voxel", changed(520, 1)),
    ] {
        refused(Bricks, &bytes, why);
    }
}

/// An archive of one array, stored, as far as it is read.
fn npz_of(name: &str, array: &[u8]) -> Vec<u8> {
    let [crc, len] = [crc32fast::hash(array), array.len() as u32].map(u32::to_le_bytes);
    let name_len = (name.len() as u16).to_le_bytes();
    let head = [b"PK\x03\x04\x14\0", &[0; 8][..], &crc, &len, &len, &name_len, &[0; 2]];
    let end = [b"PK\x05\x06", &[0; 18][..]];
    [&head.concat(), name.as_bytes(), array, &end.concat()].concat()
}

#[test]
fn arrays_that_are_a_batch_or_colours_are_what_their_name_says() {
    // A batch of one grid of 2x1x4 voxels, or the colours of 1x2x1.
    let data = [0, 1, 0, 0, 0, 0, 1, 1];
    let shapes = ["(1, 2, 1, 4)", "(1, 1, 2, 1, 4)"];
    for bytes in shapes.map(|shape| npy_file("|u1", "False", shape, &data)) {
        let as_npz = |name| npz_of(name, &bytes);
        let load = |format, bytes: &[u8]| load_bytes(format, bytes).unwrap();
        let batch = load(Npz, &as_npz("occupied.npy"));
        assert!(batch.warnings.is_empty() && batch.grid.colors.is_none(), "{:?}", batch.warnings);
        let voxels = BTreeSet::from([[0, 0, 1], [1, 0, 2], [1, 0, 3]]);
        assert_eq!((batch.grid.dims(), voxel_set(&batch.grid)), ([2, 1, 4], voxels));
        let colors = load(Npz, &as_npz("rgba.npy"));
        assert!(colors.warnings.is_empty(), "{:?}", colors.warnings);
        let expected = BTreeSet::from([([0, 1, 0], [0, 0, 1, 1])]);
        assert_eq!((colors.grid.dims(), listed(&colors.grid)), ([1, 2, 1], expected));
        for other in [load(Npy, &bytes), load(Npz, &as_npz("arr_0.npy"))] {
            assert!(other.grid == colors.grid);
            let why = "shape (1, 2, 1, 4) is read as colours of 1x2x1 voxels";
            assert!(other.warnings.concat().contains(why), "{:?}", other.warnings);
        }
    }
    let bools = npy_file("|b1", "False", "(1, 2, 1, 4)", &data);
    assert_eq!(read(Npy, &bools).unwrap().dims(), [2, 1, 4]);
}

#[test]
fn npy_of_colours_has_voxels_where_they_are_not_wholly_transparent() {
    let data = [[0; 4], [9, 8, 7, 0], [1, 2, 3, 4], [0, 0, 0, 255]];
    let file = |data: &[Rgba]| npy_file("|u1", "False", "(1, 2, 2, 4)", data.as_flattened());
    let grid = read(Npy, &file(&data)).unwrap();
    let expected = [([0, 1, 0], [1, 2, 3, 4]), ([0, 1, 1], [0, 0, 0, 255])];
    assert_eq!((grid.dims(), listed(&grid)), ([1, 2, 2], BTreeSet::from(expected)));
    assert_eq!(grid.colors.as_ref().unwrap().own_count(), 2);
    // In Fortran order the channel is slowest, then z, then y.
    let channels = (0..4).flat_map(|channel| [0, 2, 1, 3].map(|voxel: usize| data[voxel][channel]));
    let fortran = npy_file("|u1", "True", "(1, 2, 2, 4)", &channels.collect::<Vec<u8>>());
    let back = read(Npy, &fortran).unwrap();
    assert!(back == grid, "{back:?}");
    let huge = npy_file("|u1", "False", "(65536, 65536, 65536, 4)", &[1; 99]);
    for (why, bytes) in [
        ("after 8 or more of 16 bytes", file(&data[..3])),
        ("more bytes after the array's 16", file(&[[1; 4]; 5])),
        ("after 8 or more of 16 bytes", npy_file("|u1", "True", "(1, 2, 2, 4)", &[1; 11])),
        ("colours of type |i1", npy_file("|i1", "False", "(2, 2, 1, 4)", data.as_flattened())),
        ("colours of type |b1", npy_file("|b1", "False", "(2, 2, 1, 4)", data.as_flattened())),
        ("shape (2, 2, 2, 3)", npy_file("|u1", "False", "(2, 2, 2, 3)", &[0; 24])),
        ("after 0 or more of 1125899906842624 bytes", huge),
    ] {
        refused(Npy, &bytes, why);
    }
}

#[test]
fn colours_that_are_twice_in_an_npz_are_refused() {
    let bytes = written(&tiny_colored(), Npz);
    // The files, without the directory; the last is that of the colours.
    let (begin, end) = (position(&bytes, b"rgba.npy") - 30, position(&bytes, b"PK\x01\x02"));
    let twice = [&bytes[..end], &bytes[begin..]].concat();
    let error = read(Npz, &twice).unwrap_err().to_string();
    assert_eq!(error, "rgba.npy appears twice");
}

#[test]
fn colours_of_empty_voxels_are_left_out() {
    for grid in grids() {
        let grid = colored(&grid, true);
        let half = VoxelGrid::from_voxels(grid.dims(), grid.voxels().step_by(2)).unwrap();
        let less = grid.subtract(&half);
        let less = less.clone().with_colors(grid.colors.clone().unwrap());
        for format in WITH_OPACITY.into_iter().chain(OPAQUE) {
            let again = reread(&less, format);
            assert_eq!(again, less, "{format:?}");
            let same = |voxel: [u32; 3]| again.color(voxel) == grid.color(voxel);
            assert!(less.voxels().all(same), "{format:?}: {grid:?}");
        }
    }
}

#[test]
fn as_many_colours_of_empty_voxels_as_voxels_hide_no_colour() {
    let (voxel, empty, clear) = ([0; 3], [0, 0, 1], [9, 8, 7, 90]);
    let both = VoxelGrid::from_voxels([8; 3], [voxel, empty]).unwrap();
    let color = |at| (at == empty).then_some([1, 2, 3, 255]);
    let painted = painted_by(both, clear, color);
    let grid = VoxelGrid::from_voxels([8; 3], [voxel]).unwrap();
    let grid = grid.with_colors(painted.colors.unwrap());
    for format in WITH_OPACITY.into_iter().chain(OPAQUE) {
        let opacity = if OPAQUE.contains(&format) { 255 } else { 90 };
        assert_eq!(reread(&grid, format).color(voxel), Some([9, 8, 7, opacity]), "{format:?}");
    }
    assert_eq!(count_colors(&grid), 1);
    assert_eq!(Palette::of_grid(&grid).unwrap().colors(), [[9, 8, 7, 255]]);
    let losses = Vdb.lost(&grid, &WriteOptions::default());
    assert!(losses.contains(&"how opaque the voxels are is not kept".to_owned()), "{losses:?}");
}

#[test]
fn what_numpy_writes_of_colours_is_read() {
    let script = "
import numpy
random = numpy.random.default_rng(4)
rgba = random.integers(0, 256, (19, 9, 30, 4), 'uint8')
rgba[random.random((19, 9, 30)) < 0.8] = 0
rgba[..., 3] |= (rgba[..., 3] > 0) * numpy.uint8(1)
occupied = rgba[..., 3] > 0
numpy.save('c.npy', rgba)
numpy.savez('first.npz', rgba=rgba, occupied=occupied)
numpy.savez_compressed('last.npz', occupied=occupied, other=occupied, rgba=rgba)
numpy.savez('only.npz', rgba=rgba)
numpy.savez('without.npz', other=rgba[..., 0] < 9, rgba=rgba)
numpy.savez('unnamed.npz', rgba)
numpy.savez('fortran.npz', rgba=numpy.asfortranarray(rgba), occupied=occupied)
numpy.savez('size.npz', rgba=rgba[1:], occupied=occupied)
for x, y, z in numpy.argwhere(occupied): print(x, y, z, *rgba[x, y, z])
";
    let Some((folder, expected)) = files_of("numpy", script) else { return };
    let load = |name: &str| {
        let (name, extension) = name.split_once('.').unwrap();
        load(&folder, name, GridFormat::of_extension(extension).unwrap()).unwrap()
    };
    for (name, warning) in [
        ("c.npy", ""),
        ("first.npz", ""),
        ("last.npz", "1 more of its arrays are ignored: the voxels are those of occupied.npy"),
        ("only.npz", ""),
        ("without.npz", "1 more of its arrays are ignored: the voxels are those of rgba.npy"),
        ("unnamed.npz", ""),
        ("fortran.npz", ""),
    ] {
        let loaded = load(name);
        assert_eq!(loaded.warnings.join("; "), warning, "{name}");
        assert!(color_lines(&loaded.grid) == expected, "{name}");
    }
    let loaded = load("size.npz");
    let warning = "rgba.npy is ignored: it has 18x9x30 voxels, and occupied.npy 19x9x30";
    assert!(loaded.warnings.join("; ").starts_with(warning), "{:?}", loaded.warnings);
    assert!(loaded.grid.colors.is_none() && loaded.grid.occupied() == expected.len() as u64);
}

/// What others read: neither cubic nor a mirror image of itself, with full bricks of one colour.
pub(crate) fn for_others(is_opaque: bool) -> VoxelGrid {
    let world = World::at([-1.5, 10.25, 2.0], 0.125, Up::Z);
    let grid = random_grid([29, 19, 43], 900, &mut fastrand::Rng::with_seed(8));
    assert!(grid.bricks().filter(|(_, mask)| *mask == FULL).count() > 3);
    colored(&grid.with_world(world), is_opaque)
}

/// The file and a list of what is in it: a voxel and its colour a line.
pub(crate) fn in_a_folder(grid: &VoxelGrid, format: GridFormat) -> TempDir {
    let folder = tempdir().unwrap();
    write_into(&folder, grid, format);
    let line = |([x, y, z], [r, g, b, a]): &([u32; 3], Rgba)| {
        let light = [r, g, b].map(|&value| f64::from(linear_of(value)) / 65535.0);
        format!("{x} {y} {z} {r} {g} {b} {a} {} {} {}\n", light[0], light[1], light[2])
    };
    let list: String = listed(grid).iter().map(line).collect();
    fs::write(folder.path().join("grid.txt"), list).unwrap();
    folder
}

#[test]
fn openvdb_reads_colours_voxel_for_voxel() {
    let folder = in_a_folder(&for_others(true), Vdb);
    let script = "
import pyopenvdb
names = sorted(grid.name for grid in pyopenvdb.readAllGridMetadata('grid.vdb'))
colors, density = (pyopenvdb.read('grid.vdb', name) for name in names)
accessor = colors.getAccessor()
worst = active = count = 0
for line in open('grid.txt'):
    x, y, z, r, g, b, a, *light = map(float, line.split())
    place = int(x), int(y), int(z)
    value, is_active = accessor.getValue(place), accessor.isValueOn(place)
    worst = max(worst, *(abs(v - l) / max(l, 1e-4) for v, l in zip(value, light)))
    active += is_active
    count += 1
tiles = any(item.min != item.max for item in colors.citerOnValues())
same = colors.transform == density.transform
print(names, type(colors).__name__, colors.gridClass, colors.vectorType, worst < 2 ** -10,
    active == count == colors.activeVoxelCount() == density.activeVoxelCount(), tiles, same,
    [round(c, 4) for c in colors.background])
";
    let Some(output) = openvdb_python(script, folder.path()) else { return };
    let rest = [12, 200, 77].map(|c| f64::from(linear_of(c)) / 65535.0);
    let background = rest.map(|c| format!("{:.4}", c).trim_end_matches('0').to_owned()).join(", ");
    let kind = "['Cd', 'density'] Vec3SGrid unknown invariant True True True True";
    assert_eq!(output.trim(), format!("{kind} [{background}]"));
}

#[test]
fn colours_that_openvdb_writes_are_read() {
    let folder = tempdir().unwrap();
    let script = "
import numpy, pyopenvdb
random = numpy.random.default_rng(4)
shape = (19, 9, 30)
values = (random.random(shape) < 0.3).astype('float32')
values[0, 0, 0] = values[-1, -1, -1] = 1
density = pyopenvdb.FloatGrid()
density.copyFromArray(values, ijk=(-3, 8, 21))
density.name = 'density'
colors = pyopenvdb.Vec3SGrid((0.5, 0.25, 1))
light = random.random(shape + (3,)).astype('float32') * 1.1
colors.copyFromArray(light, ijk=(-3, 8, 21))
density.fill((-128, 0, 128), (-1, 127, 255), 1)
density.fill((0, 256, 256), (7, 271, 263), 1)
colors.fill((-128, 0, 128), (-1, 127, 255), (0, 1, 0))
colors.fill((0, 256, 256), (7, 271, 263), (1, 0, 0))
colors.name = 'Cd'
half, moved, other = colors.deepCopy(), colors.deepCopy(), colors.deepCopy()
half.saveFloatAsHalf = True
moved.transform.translate((1, 0, 0))
other.name = 'v'
large, halves = pyopenvdb.FloatGrid(), pyopenvdb.Vec3SGrid()
large.fill((0, 0, 0), (1023, 511, 511), 1)
halves.fill((0, 0, 0), (639, 511, 511), (1, 0, 0))
halves.fill((640, 0, 0), (1023, 511, 511), (0, 1, 0))
large.name, halves.name = 'density', 'Cd'
for name, grids in dict(float=[density, colors], half=[half, density], moved=[density, moved],
        other=[density, other], alone=[colors], large=[large, halves]).items():
    pyopenvdb.write(name + '.vdb', grids)
accessor = colors.getAccessor()
random_voxels = [v.min for v in density.citerOnValues() if v.value > 0 and v.min == v.max]
for x, y, z in random_voxels + [(-1, 5, 200), (3, 260, 260), (7, 271, 263)]:
    print(x, y, z, *accessor.getValue((x, y, z)))
";
    let Some(output) = openvdb_python(script, folder.path()) else { return };
    let load = |name: &str| load(&folder, name, Vdb);
    for name in ["float", "half"] {
        let loaded = load(name).unwrap();
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        let colors = loaded.grid.colors.unwrap();
        assert_eq!(colors.rest(), [0, 255, 0, 255]);
        assert!(output.lines().count() > 1000);
        for line in output.lines() {
            let numbers = numbers(line);
            let voxel = [0, 1, 2].map(|a| (numbers[a] - [-128.0, 0.0, 16.0][a]) as u32);
            let found = colors.of(voxel);
            for channel in 0..3 {
                // Half floats may lie on the other side of the middle between two values.
                let light = numbers[3 + channel].min(1.0) * 65535.0;
                let near = |value: u8| (f64::from(linear_of(value)) - light).abs();
                let best = (0..=255).map(near).fold(f64::INFINITY, f64::min);
                assert!(near(found[channel]) <= best + 40.0, "{line}: {found:?}");
            }
        }
    }
    let parts = "its colours are not read: too many solid parts differ in colour from the others";
    for (name, warning) in [
        ("moved", "its colours are not read: they lie elsewhere than the voxels"),
        ("other", "only the grid density is read, not v"),
        ("large", parts),
    ] {
        let loaded = load(name).unwrap();
        assert_eq!(loaded.warnings.join("; "), warning);
        assert!(loaded.grid.colors.is_none());
    }
    let error = load("alone").unwrap_err().to_string();
    let why = "no grid in it has numbers or truths as values: there are Cd";
    assert!(error.contains(why), "{error}");
}

#[test]
fn nanovdb_reads_colours_voxel_for_voxel() {
    let grid = for_others(true);
    let folder = in_a_folder(&grid, Nvdb);
    let Some(output) = nanovdb(&["colors"], folder.path()) else { return };
    let count = grid.occupied();
    assert_eq!(output.trim(), format!("2 density Cd 1 1 {count} {count} 0 1"));
}

#[test]
fn colours_that_nanovdb_writes_are_read() {
    let folder = tempdir().unwrap();
    let Some(_) = nanovdb(&["writecolors"], folder.path()) else { return };
    for name in ["none", "zip", "blosc"] {
        let loaded = load(&folder, name, Nvdb).unwrap();
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        let colors = loaded.grid.colors.as_ref().unwrap();
        // The value is that of the place: x, y, z.
        let place = [-160, -8, 1000];
        for voxel in loaded.grid.voxels() {
            let expected = [0, 1, 2].map(|a| (voxel[a] as i32 + place[a]).rem_euclid(256) as u8);
            assert_eq!(colors.of(voxel)[..3], expected, "{name}, {voxel:?}");
        }
    }
}
