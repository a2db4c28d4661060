//! NumPy: its `.npy`, and scripts that other tests of formats run.

use super::dense::lines;
use super::*;

/// The tiny grid: 128 bytes of header, then `x` slowest.
pub(crate) const TINY_NPY: &[u8] = b"\x93NUMPY\x01\0\x76\0\
    {'descr': '|b1', 'fortran_order': False, 'shape': (1, 2, 3, ), }    \
    \x20                                                \n\
    \x01\0\0\
    \0\0\x01";

/// An `.npy` file with this text in its header.
fn npy_of(header: &str, data: &[u8]) -> Vec<u8> {
    let len = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\0"[..], &len, header.as_bytes(), data].concat()
}

/// An `.npy` file with these fields in its header.
pub(crate) fn npy_file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let fields = format!("'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, ");
    npy_of(&format!("{{{fields}}}\n"), data)
}

#[test]
fn malformed_npy_is_refused_with_the_reason() {
    let good = npy_file("|b1", "False", "(1, 2, 3)", &[1; 6]);
    assert!(read(Npy, &good).is_ok());
    let with = |index: usize, value: u8| patched(&good, index, &[value]);
    let of = |descr, shape| npy_file(descr, "False", shape, &[0, 1, 0, 1, 7, 0]);
    let of_floats = |floats: &[f32]| {
        let bytes: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
        npy_file("<f4", "False", "(1, 1, 2)", &bytes)
    };
    let negative = npy_file("|i1", "False", "(2, 3)", &[1, 2, 3, 255, 0, 0]);
    for (why, bytes) in [
        ("does not begin with", with(0, b'N')),
        ("version 9.0", with(6, 9)),
        ("element 4 is 7", of("|b1", "(1, 2, 3)")),
        ("type <c8", of("<c8", "(1, 2, 3)")),
        ("element 0 is 0.25, but of floats only 0 and 1", of_floats(&[0.25, 1.0])),
        ("element 1 is NaN", of_floats(&[0.0, f32::NAN])),
        ("type |V1", of("|V1", "(1, 2, 3)")),
        ("shape (2, 3)", of("|b1", "(2, 3)")),
        ("voxel 1 has the coordinate -1", negative),
        ("65537x1x1", npy_file("<u4", "False", "(1, 3)", &[0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        ("shape ()", of("|u1", "()")),
        ("shape (2, 1, 2, 3)", of("|u1", "(2, 1, 2, 3)")),
        ("1x2x65537", of("|u1", "(1, 2, 65537)")),
        ("0x2x3", of("|u1", "(0, 2, 3)")),
        ("after 0 or more of 281474976710656 bytes", of("|u1", "(65536, 65536, 65536)")),
        ("more bytes after the array's 4", of("|u1", "(1, 2, 2)")),
        ("after 0 or more of 8 bytes", of("|u1", "(1, 2, 4)")),
        ("header of 4294967295 bytes", b"\x93NUMPY\x02\0\xff\xff\xff\xff{".to_vec()),
    ] {
        refused(Npy, &bytes, why);
    }
    // A message is short, however long a text it quotes.
    let long = "(".repeat(60_000);
    for bytes in [
        npy_of(&long, &[]),
        npy_file(&long, "False", "(1, 1, 1)", &[]),
        npy_file("|b1", &long, "(1, 1, 1)", &[]),
        npy_file("|b1", "False", &long, &[]),
    ] {
        assert!(refused(Npy, &bytes, "").to_string().len() < 200);
    }
}

#[test]
fn npy_headers_are_read_in_any_order_and_quoting() {
    let read = |header: &str| read(Npy, &npy_of(header, &[1; 6]));
    let good = "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2, 3), }  \n";
    for header in [good, "{ 'shape':(1L,2L,3L),'fortran_order':False ,'descr' :\"|b1\"}"] {
        assert_eq!(read(header).unwrap().dims(), [1, 2, 3], "{header}");
    }
    for (from, to) in [
        ("'|b1'", "[('a', '|b1')]"),
        ("'|b1'", "\u{e9}"),
        ("(1, 2, 3)", "(1, 2, -3)"),
        ("(1, 2, 3)", "(1, 2, 99999999999999999999999)"),
        ("(1, 2, 3)", "((((1, 2, 3))))"),
        ("(1, 2, 3)", "1, 2, 3"),
        ("(1, 2, 3)", "(1, 2, 3"),
        ("(1, 2, 3)", ""),
        ("False", "Maybe"),
        ("'shape'", "'descr'"),
        ("'shape'", "'Shape'"),
        ("'shape'", "'shape"),
        ("{", "["),
    ] {
        let header = good.replace(from, to);
        assert!(matches!(read(&header), Err(ReadError::Content(_))), "{header}");
    }
}

#[test]
fn elements_of_other_types_and_shapes_are_the_same_voxels() {
    // x y z: 010, 101 of 1x2x3.
    let occupied = [[0, 0, 1], [0, 1, 0], [0, 1, 2]];
    let bits = [0_u8, 1, 0, 1, 0, 1];
    let orders = [("False", [0, 1, 2, 3, 4, 5]), ("True", [0, 3, 1, 4, 2, 5])];
    let cases: [(&str, &[u8]); 9] = [
        ("|u1", &[7]),
        ("|i1", &[255]),
        ("<i2", &[0, 255]),
        (">u4", &[0, 1, 0, 0]),
        ("<i8", &[0, 0, 0, 0, 0, 0, 0, 128]),
        ("<f2", &[0, 0x3c]),
        (">f4", &1.0_f32.to_be_bytes()),
        ("<f4", &1.0_f32.to_le_bytes()),
        (">f8", &1.0_f64.to_be_bytes()),
    ];
    for (descr, one) in cases {
        for (fortran, order) in orders {
            let elements: Vec<u8> =
                order.iter().flat_map(|&at| one.iter().map(move |byte| byte * bits[at])).collect();
            for shape in ["(1, 2, 3)", "(1, 1, 2, 3)", "(1, 1, 1, 2, 3)"] {
                let file = npy_file(descr, fortran, shape, &elements);
                let grid = read(Npy, &file).unwrap();
                assert_eq!(grid.dims(), [1, 2, 3], "{descr} {fortran} {shape}");
                assert!(grid.voxels().eq(occupied), "{descr} {fortran} {shape}");
            }
        }
    }
    // Coordinates, a row or a column each.
    let rows = occupied.as_flattened().to_vec();
    let columns: Vec<u32> = (0..9).map(|n| occupied[n % 3][n / 3]).collect();
    for (fortran, numbers) in [("False", rows), ("True", columns)] {
        let big: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        for (descr, array) in [("<i4", u32s(&numbers)), (">u4", big)] {
            let loaded = load_bytes(Npy, &npy_file(descr, fortran, "(3, 3)", &array)).unwrap();
            assert!(loaded.grid.voxels().eq(occupied), "{descr} {fortran}");
            assert!(loaded.warnings[0].contains("of 1x2x3 voxels"), "{:?}", loaded.warnings);
        }
    }
}

#[test]
fn all_bytes_and_all_rows_of_a_brick_are_read_and_written() {
    let of = |byte: u8| [byte, 0, 255, byte, byte, 0, 0, byte];
    let bytes: Vec<u8> = (0..=u8::MAX).flat_map(of).collect();
    let grid = read(Npy, &npy_file("|u1", "False", "(2, 128, 8)", &bytes)).unwrap();
    let place = |at: usize| [at / 1024, at / 8 % 128, at % 8].map(|c| c as i64);
    let expected = (0..bytes.len()).filter(|&at| bytes[at] > 0).map(place).collect();
    assert_eq!(voxel_set(&grid), expected);
    let rows = (0..=u8::MAX).flat_map(|bits| [0, 1, 2, 3, 4, 5, 6, 7].map(|bit| bits >> bit & 1));
    let rows: Vec<u8> = rows.collect();
    let grid = read(Npy, &npy_file("|b1", "False", "(2, 128, 8)", &rows)).unwrap();
    assert_eq!(grid.occupied(), 128 * 8);
    assert!(written(&grid, Npy).ends_with(&rows));
}

#[test]
fn npy_of_slabs_with_very_many_bricks_is_written_right() {
    // 206 by 262 bricks in each of two slabs, nearly all of them occupied.
    let dims = [9, 1641, 2096];
    let mut random = fastrand::Rng::with_seed(5);
    let mut bricks = Vec::new();
    for [x, y, z] in voxels_in([0; 3], [2, 206, 262]) {
        // Of the last bricks, what is inside.
        let row = if y == 205 { 0xff } else { u64::MAX };
        let slices = if x == 1 { 1 } else { 8 };
        let kind = random.u32(0..10);
        let mut mask: Mask = [0; 8];
        mask[..slices].fill_with(|| if kind == 1 { row } else { row & random.u64(..) });
        if kind > 0 {
            bricks.push((BrickKey::new([x, y, z]), mask));
        }
    }
    let grid = VoxelGrid::from_bricks(dims, bricks).unwrap();
    let bytes = written(&grid, Npy);
    assert_eq!(Some(bytes.len() as u64), Npy.file_size(dims));
    assert!(read(Npy, &bytes).unwrap() == grid);
}

#[test]
fn the_size_of_npy_files_is_known_before_they_are_written() {
    for dims in [[1, 2, 3], [65536, 1, 1], [19, 9, 30]] {
        let bytes = written(&VoxelGrid::empty(dims).unwrap(), Npy);
        assert_eq!(Npy.file_size(dims), Some(bytes.len() as u64));
    }
    assert_eq!(Npy.file_size([65536; 3]), Some(128 + (1 << 48)));
    assert_eq!(Npy.file_size([u32::MAX; 3]), None);
    // Compressed, an empty grid has the fewest bytes.
    let empty = written(&VoxelGrid::empty([256; 3]).unwrap(), Npz);
    let least = Npz.file_size([256; 3]).unwrap();
    assert!((least..8 * least).contains(&(empty.len() as u64)), "{least}, {}", empty.len());
    assert_eq!(Vox.file_size([1; 3]), None);
}

/// The output of `script`, or `None` without a Python that has NumPy.
pub(crate) fn python(script: &str, folder: &Path) -> Option<String> {
    Some(environment::run_python(&python_with("numpy")?, script, folder))
}

/// The files that `script` writes with a module of Python's, and the lines that it prints.
pub(crate) fn files_of(module: &str, script: &str) -> Option<(TempDir, BTreeSet<String>)> {
    let folder = tempdir().unwrap();
    let output = environment::run_python(&python_with(module)?, script, folder.path());
    Some((folder, output.lines().map(str::to_owned).collect()))
}

/// The output of `script` by the Python that has OpenVDB's module.
pub(crate) fn openvdb_python(script: &str, folder: &Path) -> Option<String> {
    Some(environment::run_python(&environment::path("TRIVOX_OPENVDB_PYTHON")?, script, folder))
}

/// The start of a script that has VTK read a `.vti` file.
pub(crate) const VTK: &str = "
import numpy
from vtkmodules.vtkIOXML import vtkXMLImageDataReader
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = vtkXMLImageDataReader()
reader.SetFileName('grid.vti')
reader.Update()
image = reader.GetOutput()
";

#[test]
fn what_numpy_writes_is_read() {
    let script = "
import numpy
grid = numpy.random.default_rng(4).random((19, 9, 30)) < 0.1
numpy.save('c.npy', grid)
numpy.save('fortran.npy', numpy.asfortranarray(grid))
numpy.save('uint8.npy', grid.astype('uint8') * 200)
numpy.save('int8.npy', numpy.asfortranarray(-grid.astype('int8')))
numpy.lib.format.write_array(open('v2.npy', 'wb'), grid, version=(2, 0))
numpy.save('float.npy', grid.astype('float32'))
numpy.save('record.npy', numpy.zeros((1, 2, 3), dtype=[('a', '?'), ('b', 'u1')]))
for x, y, z in numpy.argwhere(grid): print(x, y, z)
";
    let Some((folder, expected)) = files_of("numpy", script) else { return };
    let load = |name: &str| load(&folder, name, Npy).map(|loaded| loaded.grid);
    for name in ["c", "fortran", "uint8", "int8", "v2", "float"] {
        let grid = load(name).unwrap();
        assert_eq!(grid.dims(), [19, 9, 30]);
        assert_eq!(expected, lines(&grid), "{name}");
    }
    let refused = load("record").unwrap_err().to_string();
    assert!(refused.contains("not supported"), "{refused}");
}
