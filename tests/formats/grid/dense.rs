//! `.binvox`, `.npz`, `.vti`, `.vol` and `.bricks`: their bytes, and what other people's readers
//! make of them.

use super::colored::color_lines;
use super::npy::{VTK, files_of};
use super::*;

/// The tiny grid, padded to a cube of 3: `y` fastest, then `z`, then `x`.
pub(crate) const TINY_BINVOX: &[u8] = b"#binvox 1\n\
    dim 3 3 3\n\
    translate -1.5 0.0 2.0\n\
    scale 0.375\n\
    data\n\
    \x01\x01\
    \x00\x06\
    \x01\x01\
    \x00\x13";

/// One line of JSON up to byte 256, then the mask, the key, and no runs.
pub(crate) fn tiny_bricks() -> Vec<u8> {
    let line = r#"{"format":"trivox bricks","version":1,"dims":[1,2,3],"world":{"origin":[-1.5,0.0,2.0],"voxel_size":0.125,"up":"y"},"bricks":1,"runs":0,"masks_at":256,"keys_at":320,"runs_at":328,"bytes":328,"crc32":"00000000"}"#;
    let mut bytes = format!("{line:<255}\n").into_bytes();
    // Bits 0 (y 0, z 0) and 10 (y 1, z 2) at x 0.
    bytes.extend(b"\x01\x04\0\0\0\0\0\0");
    bytes.extend([0; 56 + 8]);
    with_crc(&bytes)
}

/// With the CRC-32 of `.bricks` in place of the zeros.
pub(crate) fn with_crc(bytes: &[u8]) -> Vec<u8> {
    let digits = format!("{:08x}", crc32fast::hash(bytes));
    patched(bytes, position(bytes, b"00000000"), digits.as_bytes())
}

/// As files were before they had a checksum, with `to` in place of what the header has.
pub(crate) fn without_crc(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = position(file, b"\n") + 1;
    let header = std::str::from_utf8(&file[..at]).unwrap();
    assert!(header.contains(from), "{header}");
    let (header, _) = header.split_once(",\"crc32\"").unwrap();
    let header = format!("{header}}}").replacen(from, to, 1);
    [format!("{header:<width$}\n", width = at - 1).as_bytes(), &file[at..]].concat()
}

#[test]
fn a_flipped_bit_of_bricks_is_refused_or_changes_nothing() {
    let good = tiny_bricks();
    let grid = read(Bricks, &good).unwrap();
    for bit in 0..8 * good.len() {
        let flipped = good[bit / 8] ^ 1 << (bit % 8);
        match read(Bricks, &patched(&good, bit / 8, &[flipped])) {
            Ok(found) => assert_eq!((&found, found.world), (&grid, grid.world), "bit {bit}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    // Another voxel, which nothing but the checksum can tell.
    let other = patched(&good, 256, &[2]);
    refused(Bricks, &other, "the file is damaged");
    assert!(read(Bricks, &without_crc(&other, "", "")).is_ok());
}

pub(crate) const TINY_VTI: &[u8] = b"<?xml version=\"1.0\"?>\n\
<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">
  <ImageData WholeExtent=\"0 1 0 2 0 3\" Origin=\"-1.5 0.0 2.0\" Spacing=\"0.125 0.125 0.125\">
    <FieldData>
      <DataArray type=\"UInt8\" Name=\"up\" NumberOfTuples=\"1\" format=\"ascii\">1</DataArray>
    </FieldData>
    <Piece Extent=\"0 1 0 2 0 3\">
      <CellData Scalars=\"occupied\">
        <DataArray type=\"UInt8\" Name=\"occupied\" NumberOfComponents=\"1\" format=\"appended\" offset=\"0\"/>
      </CellData>
    </Piece>
  </ImageData>
  <AppendedData encoding=\"raw\">
_\x01\0\0\0\0\0\0\0\
\0\0\x04\0\0\0\0\0\
\x06\0\0\0\0\0\0\0\
\x0c\0\0\0\0\0\0\0\
\x78\x01\x63\x64\0\x02\x46\0\0\x0d\0\x03
  </AppendedData>
</VTKFile>
";

/// The header; then a float for each voxel, 1 for the first and the last.
pub(crate) const TINY_VOL: &[u8] = b"VOL\x03\
    \x01\0\0\0\
    \x01\0\0\0\x02\0\0\0\x03\0\0\0\
    \x01\0\0\0\
    \0\0\xc0\xbf\0\0\0\0\0\0\0\x40\
    \0\0\xb0\xbf\0\0\x80\x3e\0\0\x18\x40\
    \0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f";

#[test]
fn headers_of_bricks_of_every_length_are_padded_to_a_multiple_of_64_bytes() {
    let mut lengths = BTreeSet::new();
    for digits in 0..2 * 64 {
        let dims = if digits < 64 { [1, 2, 3] } else { [10, 20, 30] };
        // Up to 16 digits in each of four numbers.
        let number = |n: usize| {
            let count = (digits % 64 + n) / 4;
            format!("0.{}5", &"123456789123456"[..count.min(15)]).parse().unwrap()
        };
        let origin = [number(0), number(1), number(2)];
        let world = World::at(origin, number(3), Up::Y);
        let grid = VoxelGrid::from_voxels(dims, [[0; 3]]).unwrap().with_world(world);
        let bytes = written(&grid, Bricks);
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap();
        // The line has room for four offsets of four digits each; they have three.
        let text = line.trim_ascii_end().len();
        assert_eq!(line.len() + 1, (text + 4 + 1).next_multiple_of(64), "{world:?}");
        lengths.insert(text % 64);
        let back = read(Bricks, &bytes).unwrap();
        assert_eq!((&back, back.world), (&grid, world));
    }
    assert_eq!(lengths.len(), 64, "{lengths:?}");
}

/// Whether two numbers are the same but for rounding.
fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2.0 * f64::EPSILON * a.abs()
}

#[test]
fn binvox_gives_back_the_grid_padded_to_a_cube() {
    let small = grids().into_iter().filter(|grid| grid.dims().iter().max() <= Some(&513));
    for grid in small.chain([random_grid([64; 3], 3000, &mut fastrand::Rng::with_seed(8))]) {
        let bytes = written(&grid, Binvox);
        let back = read(Binvox, &bytes).unwrap();
        let edge = *grid.dims().iter().max().unwrap();
        assert_eq!(back.dims(), [edge; 3]);
        assert!(back.voxels().eq(grid.voxels()), "{grid:?}");
        let (place, read) = (grid.world.place.unwrap_or_default(), back.world.place.unwrap());
        assert_eq!((read.origin, back.world.up), (place.origin, Up::Y));
        assert!(is_near(read.voxel_size, place.voxel_size), "{read:?} of {place:?}");
        assert_eq!(lost(&grid, Binvox).contains(ASSUMED), grid.world.place.is_none());
        let least = Binvox.file_size(grid.dims()).unwrap();
        assert!(bytes.len() as u64 >= least);
    }
}

#[test]
fn full_bricks_and_the_gaps_between_them_are_kept() {
    // Along y at one z, and on either side of a step in z.
    let keys = [[0, 0, 0], [0, 3, 0], [0, 4, 0], [0, 5, 1], [0, 7, 1]];
    let bricks = keys.map(|key| (BrickKey::new(key), FULL)).to_vec();
    let gaps = VoxelGrid::from_bricks([8, 64, 16], bricks).unwrap();
    let solid = |edge: u32| block([edge; 3], [0; 3], [edge; 3]);
    for format in [Binvox, Npy, Npz, Bricks] {
        let back = reread(&gaps, format);
        assert!(back.voxels().eq(gaps.voxels()), "{format:?}: {back:?}");
        // The last bricks of 33 voxels along an axis are not full.
        for solid in [1, 33, 40].map(solid) {
            assert!(reread(&solid, format) == solid, "{solid:?}");
        }
    }
}

/// The voxels of an array of a 32-bit float for each, `x` fastest.
fn dense(values: &[u8], [nx, ny, _]: [u32; 3]) -> BTreeSet<[i64; 3]> {
    let is_set = |(_, value): &(usize, &[u8])| value.iter().any(|&byte| byte != 0);
    let set = values.chunks_exact(4).enumerate().filter(is_set);
    set.map(|(i, _)| {
        let (i, nx, ny) = (i as i64, i64::from(nx), i64::from(ny));
        [i % nx, i / nx % ny, i / nx / ny]
    })
    .collect()
}

#[test]
fn vol_holds_the_voxels_with_x_fastest_and_sizes_of_vol_and_vti_are_known() {
    for grid in grids() {
        let dims = grid.dims();
        let volume: usize = dims.iter().map(|&d| d as usize).product();
        if volume > 2_000_000 {
            continue;
        }
        let vol = written(&grid, Vol);
        assert_eq!(dense(&vol[48..], dims), voxel_set(&grid), "{grid:?}");
        assert_eq!(Vol.file_size(dims), Some(vol.len() as u64));
        assert!(Vti.file_size(dims).unwrap() <= written(&grid, Vti).len() as u64);
    }
}

/// More than a thread keeps, and less than four do: one of them compresses it twice.
#[test]
fn a_vti_has_the_same_bytes_for_any_number_of_threads() {
    let grid = random_grid([300, 290, 280], 3_000_000, &mut fastrand::Rng::with_seed(3));
    let [one, four] = [1, 4].map(|threads| on_threads(threads, || written(&grid, Vti)));
    assert!((4 << 20..16 << 20).contains(&one.len()), "{} bytes", one.len());
    assert!(one == four);
    assert!(read(Vti, &one).unwrap() == grid);
}

#[test]
fn a_vol_far_from_the_origin_says_by_how_much_its_corners_are_rounded() {
    let lost = |x: f64| {
        let world = World::at([x, 0.0, 0.0], 0.05, Up::Y);
        let grid = VoxelGrid::from_voxels([20, 12, 8], []).unwrap().with_world(world);
        super::lost(&grid, Vol)
    };
    assert_eq!(lost(100.0), "");
    // Floats from 2^22 to 2^23 are multiples of a half, of ten voxels.
    let moved = "the corners of the grid are moved by up to 4.00 voxels";
    assert!(lost(4_649_776.2).starts_with(moved), "{}", lost(4_649_776.2));
}

/// A file stores the edge of the cube: there are fewer floats for it than for the size of voxels.
#[test]
fn binvox_gives_back_the_voxel_size_wherever_a_scale_exists_for_it() {
    let mut is_rounded = false;
    for edge in [1_u32, 2, 3, 7, 49, 64, 96] {
        for step in 1..200 {
            let size = f64::from(step) * 0.01;
            let grid = VoxelGrid::empty([edge; 3]).unwrap();
            let grid = grid.with_world(World::at([0.0; 3], size, Up::Y));
            if reread(&grid, Binvox).world != grid.world {
                let scale = size * f64::from(edge);
                for scale in [scale.next_down(), scale, scale.next_up()] {
                    assert_ne!(scale / f64::from(edge), size);
                }
                is_rounded = true;
            }
        }
    }
    assert!(is_rounded);
}

#[test]
fn malformed_binvox_is_refused_with_the_reason() {
    let file = |header: &str, data: &[u8]| [header.as_bytes(), b"data\n", data].concat();
    let good = "#binvox 1\ndim 2 2 2\ntranslate 0 0 0\nscale 2\n";
    assert!(read(Binvox, &file(good, &[0, 7, 1, 1])).is_ok());
    for (from, to, why) in [
        ("#binvox", "#vox", "does not begin with '#binvox'"),
        ("#binvox 1", "#binvox 3", "version '3' is not supported"),
        ("dim 2 2 2\n", "", "no 'dim'"),
        ("dim 2 2 2", "dim 2 2", "malformed line 'dim 2 2'"),
        ("dim 2 2 2", "dim 2 2 -2", "malformed line"),
        ("dim 2 2 2", "dim 0 2 2", "0x2x2"),
        ("dim 2 2 2", "dim 2 2 65537", "65537"),
        ("dim 2 2 2", "dim 65536 65536 65536", "ends after 8 of 281474976710656 voxels"),
        ("dim 2 2 2", "dim 1 1 1", "more voxels than the 1"),
        ("0 0 0", "0 0 x", "malformed line 'translate 0 0 x'"),
        ("0 0 0", "0 0 nan", "cannot lie at"),
        ("scale 2", "scale 0", "cannot lie at"),
        ("scale 2", "scale", "malformed line 'scale'"),
        ("scale 2\n", &"x".repeat(5000), "ends in the header"),
    ] {
        refused(Binvox, &file(&good.replace(from, to), &[0, 7, 1, 1]), why);
    }
    refused(Binvox, &file(good, &[0, 7]), "ends after 7 of 8 voxels");
    refused(Binvox, &file(good, &[0, 7, 1, 1, 0]), "more bytes");
    refused(Binvox, &file(good, &[0, 7, 1, 1, 0, 1]), "more voxels");
}

#[test]
fn binvox_of_other_programs_is_read() {
    let read = |text: &str, data: &[u8]| {
        let bytes = [text.as_bytes(), data].concat();
        load_bytes(Binvox, &bytes).unwrap()
    };
    let loaded = read("#binvox 2\n# comment\r\ndim 2 2 2\r\ndata\n", &[0, 1, 200, 1, 0, 6]);
    let found = (voxel_set(&loaded.grid), loaded.grid.world);
    assert_eq!(found, ([[0, 1, 0]].into(), World::default()));
    // Not a cube: x, z, y.
    let header = "#binvox 1\ndim 2 3 4\ntranslate 0 0 0\nscale 1\ndata\n";
    let loaded = read(header, &[0, 17, 1, 1, 0, 6]);
    assert_eq!(loaded.grid.dims(), [2, 4, 3]);
    assert_eq!(voxel_set(&loaded.grid), [[1, 1, 1]].into());
    assert!(loaded.grid.world.place.is_none() && loaded.warnings[0].contains("is ignored"));
}

#[test]
fn malformed_bricks_are_refused_with_the_reason() {
    let grid = random_grid([40, 40, 40], 3, &mut fastrand::Rng::with_seed(1));
    assert!(grid.brick_runs().any(|piece| piece.len > 1));
    let good = written(&grid, Bricks);
    // The checksum is judged last.
    for (from, to, why) in [
        ("trivox bricks", "trivox brick", "another 'format'"),
        ("\"version\":1", "\"version\":3", "version 3 is not supported, only 1 and 2"),
        ("\"version\":1", "\"version\":2", "'version' and 'colors' contradict"),
        ("{", "[", "not a .bricks file"),
        ("\"version\":1", "\"version\":x", "header is malformed"),
        ("\"dims\":[40,40,40]", "\"dims\":[40,40,0]", "40x40x0"),
        ("\"dims\":[40,40,40]", "\"dims\":[16,16,16]", "outside a grid of 16x16x16"),
        ("\"masks_at\":", "\"masks_at\":9", "contradict"),
        ("\"bricks\":", "\"bricks\":9", "contradict"),
        ("\"bricks\":", "\"bricks\":99999999999999999", "contradict"),
        ("null", "{\"origin\":[0,0,0],\"voxel_size\":1,\"up\":\"x\"}", "neither y nor z"),
        ("null", "{\"origin\":[0,0,0],\"voxel_size\":-1,\"up\":\"y\"}", "cannot lie"),
    ] {
        refused(Bricks, &without_crc(&good, from, to), why);
    }
    let bricks = grid.brick_runs().filter(|piece| piece.mask != [u64::MAX; 8]).count();
    let masks = position(&good, b"\n") + 1;
    let keys = masks + 64 * bricks;
    let runs = keys + 8 * bricks;
    for (at, bytes, why) in [
        (masks, &[0; 64][..], "brick 0 is empty or full"),
        (masks, &[255; 64], "brick 0 is empty or full"),
        (keys, &[255; 8], "not possible, or out of order"),
        (runs + 8, &[0; 8], "length of a run"),
        (runs + 8, &[255; 4], "outside a grid"),
    ] {
        refused(Bricks, &patched(&good, at, bytes), why);
    }
}

#[test]
fn a_damaged_npz_is_refused() {
    let grid = random_grid([19, 9, 30], 300, &mut fastrand::Rng::with_seed(3));
    let good = written(&grid, Npz);
    refused(Npz, b"\x93NUMPY", "it is no zip archive");
    refused(Npz, &[&good[..4], &good].concat(), "");
    let renamed = patched(&good, position(&good, b"occupied.npy"), b"something.np");
    assert!(read(Npz, &renamed).unwrap() == grid);
    let sum = position(&good, b"PK\x07\x08") + 4;
    let damaged = patched(&good, sum, &[good[sum] ^ 1]);
    refused(Npz, &damaged, "its check sum is another");
    refused(Npz, &patched(&good, 8, &[12]), "not supported");
}

#[test]
fn names_in_an_npz_are_shown_in_part_and_without_orders_to_the_terminal() {
    // Encrypted, not compressed, of no length, with a name of the longest.
    let mut file = b"PK\x03\x04\x14\0\x01\0\0\0".to_vec();
    file.extend([&[0; 16][..], &u16::MAX.to_le_bytes(), &[0; 2], b"\x1b[2J"].concat());
    file.extend([b'x'; u16::MAX as usize - 4]);
    let error = read(Npz, &file).unwrap_err().to_string();
    assert_eq!(error, format!("\\u{{1b}}[2J{}... is encrypted", "x".repeat(36)));
}

/// A grid that is not cubic, and whose every mirror is another.
fn asymmetric() -> VoxelGrid {
    let world = World::at([-1.5, 10.25, 2.0], 0.125, Up::Z);
    random_grid([19, 9, 30], 300, &mut fastrand::Rng::with_seed(3)).with_world(world)
}

/// What `script` prints of the grid's file, a line of facts and one for each voxel; `None` where
/// the module is not there. A script of VTK's follows [`VTK`].
fn other_reader(
    grid: &VoxelGrid,
    format: GridFormat,
    module: &str,
    script: &str,
) -> Option<(String, BTreeSet<String>)> {
    let folder = tempdir().unwrap();
    write_into(&folder, grid, format);
    let begin = if module == "vtkmodules" { VTK } else { "" };
    let script = format!("{begin}{script}");
    let output = environment::run_python(&python_with(module)?, &script, folder.path());
    let (head, voxels) = output.split_once('\n').unwrap();
    Some((head.to_owned(), voxels.lines().map(str::to_owned).collect()))
}

/// A line for each voxel.
pub(crate) fn lines(grid: &VoxelGrid) -> BTreeSet<String> {
    grid.voxels().map(|[x, y, z]| format!("{x} {y} {z}")).collect()
}

/// For each format the Python module that reads it, a script that prints facts about the file of
/// [`asymmetric`] and makes a NumPy array `grid` of its voxels, and the facts expected.
const READERS: [(GridFormat, &str, &str, &str); 5] = [
    (
        Npy,
        "numpy",
        "
grid = numpy.load('grid.npy')
print(grid.dtype, grid.shape, grid.flags.c_contiguous)
",
        "bool (19, 9, 30) True",
    ),
    (
        Npz,
        "numpy",
        "
file = numpy.load('grid.npz')
grid = file['occupied']
print(grid.dtype, grid.shape, file['origin'].tolist(), float(file['voxel_size']), str(file['up']))
",
        "bool (19, 9, 30) [-1.5, 10.25, 2.0] 0.125 z",
    ),
    // trimesh takes the corner for the first voxel's centre, and the edge for one voxel shorter.
    (
        Binvox,
        "trimesh",
        "
import trimesh
file = trimesh.load('grid.binvox', file_type='binvox')
grid, n = file.matrix, int(file.shape[0])
print(n, file.transform[:3, 3].tolist(), round(float(file.transform[0, 0] * (n - 1)), 12))
",
        "30 [-1.5, 10.25, 2.0] 3.75",
    ),
    (
        Vti,
        "vtkmodules",
        "
cells = tuple(n - 1 for n in image.GetDimensions())
up = image.GetFieldData().GetArray('up').GetValue(0)
print(cells, image.GetOrigin(), image.GetSpacing(), image.GetCellData().GetScalars().GetName(), up)
grid = vtk_to_numpy(image.GetCellData().GetScalars()).reshape(cells, order='F')
",
        "(19, 9, 30) (-1.5, 10.25, 2.0) (0.125, 0.125, 0.125) occupied 2",
    ),
    (
        Vol,
        "mitsuba",
        "
import mitsuba
mitsuba.set_variant('scalar_rgb')
volume = mitsuba.VolumeGrid('grid.vol')
texture = mitsuba.load_dict({
    'type': 'gridvolume', 'filename': 'grid.vol', 'use_grid_bbox': True, 'filter_type': 'nearest'})
box = texture.bbox()
size = [int(n) for n in volume.size()]
print(size, [round(c, 5) for c in box.min], [round(c, 5) for c in box.max])
grid = numpy.array(volume).reshape(size[::-1]).T
",
        "[19, 9, 30] [-1.5, 10.25, 2.0] [0.875, 11.375, 5.75]",
    ),
];

#[test]
fn other_programs_read_all_voxels_and_the_place() {
    let voxels = "for x, y, z in numpy.argwhere(grid): print(x, y, z)";
    for (format, module, script, expected) in READERS {
        let script = format!("import numpy\n{script}{voxels}");
        if let Some((head, voxels)) = other_reader(&asymmetric(), format, module, &script) {
            assert_eq!(head, expected, "{format:?}");
            assert!(voxels == lines(&asymmetric()), "{format:?}");
        }
    }
}

#[test]
fn the_reader_in_the_documentation_reads_bricks_with_their_colours() {
    let page = include_str!("../../../docs/bricks.md");
    let (_, code) = page.split_once("```python\n").unwrap();
    let (reader, _) = code.split_once("```").unwrap();
    let script = format!(
        "{reader}
world, occupied, rgba = read('grid.bricks')
print(occupied.shape, rgba.shape, world['origin'], world['voxel_size'], world['up'])
assert (rgba[~occupied] == 0).all()
for x, y, z in numpy.argwhere(occupied): print(x, y, z, *rgba[x, y, z])
"
    );
    // A full brick, and voxels with colours of their own.
    let grid = asymmetric().union(&block([19, 9, 30], [8, 0, 8], [16, 8, 16]));
    let grid = colored(&grid.with_world(asymmetric().world), false);
    let Some((head, found)) = other_reader(&grid, Bricks, "numpy", &script) else { return };
    assert_eq!(head, "(19, 9, 30) (19, 9, 30, 4) [-1.5, 10.25, 2.0] 0.125 z");
    assert_eq!(found, color_lines(&grid));
}

#[test]
fn what_numpy_writes_as_npz_is_read() {
    let script = "
import numpy, zipfile
grid = numpy.random.default_rng(4).random((19, 9, 30)) < 0.1
place = dict(origin=numpy.array([1.5, 2, 3]), voxel_size=numpy.float64(0.25), up='z')
numpy.savez('stored.npz', occupied=grid, **place)
numpy.savez_compressed('deflated.npz', other=numpy.arange(5), occupied=grid, **place)
numpy.savez('unnamed.npz', grid)
place = dict(origin=numpy.float32([1.5, 2, 3]), voxel_size=numpy.float32([0.25]), up='z')
numpy.savez('floats.npz', occupied=grid, **place)
place = dict(origin=numpy.array([1, 2, 3]), voxel_size=numpy.int32(1))
numpy.savez('integers.npz', occupied=grid, **place)
numpy.savez('flat.npz', occupied=grid, origin=numpy.array([1.5, 2]))
numpy.savez('none.npz', numpy.arange(5))
class Stream:
    def __init__(self, name): self.file = open(name, 'wb')
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
for name, method in [('streamed', zipfile.ZIP_DEFLATED), ('streamed stored', zipfile.ZIP_STORED)]:
    with zipfile.ZipFile(Stream(name + '.npz'), 'w', method) as archive:
        archive.writestr('empty.txt', b'')
        with archive.open('occupied.npy', 'w') as array: numpy.save(array, grid)
for x, y, z in numpy.argwhere(grid): print(x, y, z)
";
    let Some((folder, expected)) = files_of("numpy", script) else { return };
    let load = |name: &str| load(&folder, name, Npz);
    let at = World::at([1.5, 2.0, 3.0], 0.25, Up::Z);
    for (name, world, ignored) in [
        ("stored", at, 0),
        ("deflated", at, 1),
        ("floats", at, 0),
        ("integers", World::at([1.0, 2.0, 3.0], 1.0, Up::Y), 0),
        ("unnamed", World::default(), 0),
        ("streamed", World::default(), 1),
    ] {
        let LoadedGrid { grid, warnings, .. } = load(name).unwrap();
        assert_eq!((lines(&grid), grid.world), (expected.clone(), world), "{name}");
        assert_eq!(warnings.len(), ignored, "{name}: {warnings:?}");
    }
    let flat = "origin.npy: elements of type <f8 and shape (2,): use three numbers of float64";
    let stream = "stored without its length";
    let none = "no array of voxels";
    for (name, why) in [("none", none), ("flat", flat), ("streamed stored", stream)] {
        let error = load(name).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn what_trimesh_writes_as_binvox_is_read() {
    let script = "
import numpy, trimesh
grid = numpy.random.default_rng(4).random((19, 19, 19)) < 0.1
grid = trimesh.voxel.VoxelGrid(grid)
open('trimesh.binvox', 'wb').write(trimesh.exchange.binvox.export_binvox(grid))
for x, y, z in numpy.argwhere(grid.matrix): print(x, y, z)
";
    let Some((folder, expected)) = files_of("trimesh", script) else { return };
    let grid = load(&folder, "trimesh", Binvox).unwrap().grid;
    assert_eq!(grid.dims(), [19; 3]);
    assert_eq!(lines(&grid), expected);
}
