//! Distances in files: as NumPy, OpenVDB and NanoVDB read them, against the field itself; and
//! against the distances that OpenVDB computes.

use trivox::DistanceField;
use trivox::formats::write_distances;

use super::npy::{VTK, openvdb_python, python};
use super::nvdb::nanovdb;
use super::*;
use crate::common::files::floats;

fn written(field: &DistanceField, format: GridFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_distances(field, format, &mut bytes).unwrap();
    bytes
}

/// A part of a cube, with one of its sides: its inside has tiles of 8 and 128 voxels.
fn part_of_cube() -> DistanceField {
    let bounds = Bounds { min: [0.1; 3], max: [1.04, 0.75, 0.75] };
    let voxelizer = Voxelizer::new().voxel_size(0.005).bounds(bounds);
    voxelizer.distances(unit_cube(), 2.5).unwrap().field
}

fn knot(width: f32) -> DistanceField {
    Voxelizer::new().resolution(90).distances(asset("torus-knot.obj"), width).unwrap().field
}

fn sheet() -> DistanceField {
    let mesh = mesh_of(&[[[0.0; 3], [9.0, 0.0, 1.0], [0.0, 9.0, 2.0]]]);
    Voxelizer::new().resolution(20).pad(9).distances(&mesh, 3.0).unwrap().field
}

/// A unit cube with voxel centres on three of its sides: some are inside, at a distance of -0.
fn on_centres() -> DistanceField {
    let voxelizer = Voxelizer::new().voxel_size(0.4);
    let field = voxelizer.distances(asset("cube.obj"), 2.0).unwrap().field;
    let zeros = field.distances().filter(|&(voxel, distance)| {
        distance == 0.0 && distance.is_sign_negative() && field.inside().contains(voxel)
    });
    assert_eq!(zeros.count(), 4);
    field
}

fn fields() -> [(&'static str, DistanceField); 5] {
    [
        ("box", part_of_cube()),
        ("knot", knot(3.0)),
        // Whole bricks are in the band.
        ("wide", knot(20.0)),
        ("sheet", sheet()),
        ("centres", on_centres()),
    ]
}

/// A folder with each field in all formats.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    for (name, field) in fields() {
        let path = folder.path().join(name);
        for format in [Npy, Npz, Vti, Vdb, Nvdb] {
            fs::write(path.with_extension(format.extension()), written(&field, format)).unwrap();
        }
        let mut values = vec![0.0_f32; field.dims().iter().map(|&d| d as usize).product()];
        field.fill_dense(&mut values);
        fs::write(path.with_extension("raw"), floats(&values)).unwrap();
        let world = field.world().place.unwrap();
        let [x, y, z] = world.origin;
        let [nx, ny, nz] = field.dims();
        let (width, size) = (field.width(), world.voxel_size);
        let text = format!("{nx} {ny} {nz} {width} {size:?} {x:?} {y:?} {z:?}");
        fs::write(path.with_extension("txt"), text).unwrap();
    }
    folder
}

#[test]
fn other_formats_refuse_distances_and_say_which_hold_them() {
    let field = sheet();
    for format in GridFormat::ALL.into_iter().filter(|format| !format.spec().has_distances()) {
        let refusal = write_distances(&field, format, &mut Vec::new());
        let Err(WriteError::Unsupported(why)) = refusal else { panic!("{format:?}: {refusal:?}") };
        assert!(why.contains("use one of .npy, .npz, .vti, .vdb, .nvdb"), "{why}");
    }
    let holding = GridFormat::ALL.into_iter().filter(|format| format.spec().has_distances());
    assert_eq!(holding.count(), 5);
}

#[test]
fn distances_that_no_float_holds_are_refused_in_world_units() {
    for (size, fits) in [(1e30, true), (1e-30, true), (1e39, false), (1e-37, false)] {
        let mesh = mesh_of(&[[[0.0; 3], [size, 0.0, 0.0], [0.0, size, 0.0]]]);
        let field = Voxelizer::new().resolution(8).distances(&mesh, 3.0).unwrap().field;
        for format in [Vdb, Nvdb, Vti] {
            match write_distances(&field, format, &mut Vec::new()) {
                Ok(()) => assert!(fits, "{size}"),
                Err(error) => assert!(!fits && error.to_string().contains("write .npz"), "{size}"),
            }
        }
        assert!(!written(&field, Npz).is_empty());
    }
}

#[test]
fn numpy_reads_the_distances_that_were_written() {
    let folder = folder();
    let script = "
import numpy as np
for name in ['box', 'knot', 'sheet']:
    nx, ny, nz, width, size, *origin = map(float, open(name + '.txt').read().split())
    raw = np.fromfile(name + '.raw', '<f4').reshape(int(nx), int(ny), int(nz))
    dense = np.load(name + '.npy')
    assert dense.dtype == np.float32 and np.array_equal(dense, raw), name
    file = np.load(name + '.npz')
    coords, distances, occupied = file['coords'], file['distances'], file['occupied']
    assert file['width'] == np.float32(width) and file['voxel_size'] == size, name
    assert np.array_equal(file['origin'], origin), name
    again = np.where(occupied, -file['width'], file['width']).astype(np.float32)
    again[tuple(coords.T)] = distances
    assert np.array_equal(again, raw), name
    assert len(coords) == (np.abs(raw) < width).sum(), name
";
    let Some(_) = openvdb_python(script, folder.path()) else { return };
}

#[test]
fn vtk_reads_the_distances_that_were_written() {
    let folder = folder();
    let Some(_) = python_with("vtkmodules") else { return };
    for (name, _) in fields() {
        let vtk = VTK.replace("grid.vti", &format!("{name}.vti"));
        let script = format!(
            "{vtk}
nx, ny, nz, width, size, *origin = map(float, open('{name}.txt').read().split())
shape = int(nx), int(ny), int(nz)
raw = numpy.fromfile('{name}.raw', '<f4').reshape(shape)
cells = image.GetCellData()
assert cells.GetNumberOfArrays() == 1 and cells.GetScalars().GetName() == 'distance'
assert image.GetOrigin() == tuple(origin) and image.GetSpacing() == (size,) * 3
found = vtk_to_numpy(cells.GetScalars()).reshape(shape, order='F')
assert found.dtype == numpy.float32
assert numpy.array_equal(found, (raw.astype('f8') * size).astype('f4'))
assert numpy.array_equal(numpy.signbit(found), numpy.signbit(raw))
"
        );
        python(&script, folder.path()).unwrap();
    }
}

/// Reads the distances in `bytes`, without a warning.
fn reread(format: GridFormat, bytes: &[u8]) -> DistanceField {
    let LoadedGrid { grid, warnings, distances, .. } = load_bytes(format, bytes).unwrap();
    assert_eq!(warnings, Vec::<String>::new(), "{format:?}");
    let field = distances.expect("distances");
    assert!(grid == *field.inside() && grid.world == field.world(), "{format:?}");
    field
}

#[test]
fn distances_are_read_as_they_were_written() {
    for (name, field) in fields() {
        for format in [Vdb, Nvdb, Npz, Vti] {
            let bytes = written(&field, format);
            let again = reread(format, &bytes);
            assert_eq!(again.world(), field.world(), "{name}, {format:?}");
            assert!(again.inside() == field.inside(), "{name}, {format:?}");
            assert!(again.band() == field.band(), "{name}, {format:?}");
            assert_eq!(again.width(), field.width(), "{name}, {format:?}");
            let differing: Vec<_> = field.differing_voxels(&again).collect();
            for &voxel in &differing {
                let (own, read) = (field.get(voxel), again.get(voxel));
                assert!(is_near(own, read), "{name}, {format:?}: {own}, {read}");
            }
            let is_whole = field.world().place.unwrap().voxel_size.log2().fract() == 0.0;
            if format == Npz || is_whole {
                assert!(again == field, "{name}, {format:?}: {} differ", differing.len());
            }
            assert!(written(&again, Npz) == written(&reread(format, &bytes), Npz));
        }
    }
}

#[test]
fn a_distance_that_is_no_number_is_an_error() {
    let field = on_centres();
    // A distance of the band, as the files hold it.
    let (voxel, distance) = field.distances().find(|&(_, distance)| distance > 1.0).unwrap();
    let size = field.world().place.unwrap().voxel_size;
    let stored = ((f64::from(distance) * size) as f32).to_le_bytes();
    let bytes = written(&field, Nvdb);
    let at = bytes.windows(4).position(|four| four == stored).unwrap();
    let mut changed = bytes.clone();
    changed[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    // Without the checksum of the nodes.
    let label = bytes.windows(7).position(|seven| seven == b" crc32=").unwrap();
    changed[label..label + 7].copy_from_slice(b" other=");
    let error = load_bytes(Nvdb, &changed).unwrap_err().to_string();
    assert!(error.contains(&format!("the distance of voxel {voxel:?} is not a number")), "{error}");
}

#[test]
fn no_distance_of_a_band_is_stored_as_its_width() {
    let grid = |count: u32| {
        let voxels = (0..count).map(|x| [x, 0, 0]);
        let grid = VoxelGrid::from_voxels([8, 1, 1], voxels).unwrap();
        grid.with_world(World::at([0.0; 3], 0.7, Up::Y))
    };
    let width = (1..1000).map(|n| f32::from_bits(3f32.to_bits() + n)).find(|width| {
        let stored = |distance: f32| (f64::from(distance) * 0.7) as f32;
        stored(*width) == stored(width.next_down())
    });
    let width = width.expect("two distances with one number");
    let values = vec![1.0, width.next_down()];
    let field = DistanceField::of_parts(width, [grid(2), grid(0)], values).unwrap();
    for format in [Vti, Vdb, Nvdb] {
        let again = reread(format, &written(&field, format));
        assert!(again.band() == field.band(), "{format:?}");
    }
}

#[test]
fn damaged_distances_are_an_error_or_a_field() {
    for format in [Vdb, Nvdb, Npz, Vti] {
        read_with_changes(format, &written(&on_centres(), format));
    }
}

/// Whether `a` is `b` or an `f32` next to it.
fn is_near(a: f32, b: f32) -> bool {
    a == b || a == b.next_up() || a == b.next_down()
}

#[test]
fn distances_in_mesh_units_are_read_as_themselves_or_as_their_neighbours() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..40 {
        let size = (1.0 + random.f64()) * 2f64.powi(random.i32(-30..30));
        let place = World::at([0.0; 3], size, Up::Y);
        let grid = |count: u32| {
            let voxels = (0..count).map(|x| [x, 0, 0]);
            VoxelGrid::from_voxels([512, 1, 1], voxels).unwrap().with_world(place)
        };
        // Neighbours, around a power of two in mesh units.
        let power = 2f64.powi(size.log2() as i32 + random.i32(-6..1));
        let first = ((power / size) as f32).to_bits() - 250;
        let values = (0..500).map(|n| f32::from_bits(first + n)).collect();
        let field = DistanceField::of_parts(3.0, [grid(500), grid(0)], values).unwrap();
        for format in [Vdb, Nvdb, Vti] {
            let again = reread(format, &written(&field, format));
            for ((voxel, own), (_, read)) in field.distances().zip(again.distances()) {
                assert!(is_near(own, read), "{size}, {format:?}, {voxel:?}: {own}, {read}");
            }
        }
    }
}

#[test]
fn openvdb_reads_the_level_sets_that_were_written() {
    let folder = folder();
    let script = "
import numpy as np
try: import openvdb as vdb
except ImportError: import pyopenvdb as vdb
for name in ['box', 'knot', 'sheet']:
    nx, ny, nz, width, size, *origin = map(float, open(name + '.txt').read().split())
    shape = int(nx), int(ny), int(nz)
    raw = np.fromfile(name + '.raw', '<f4').reshape(shape)
    grid = vdb.read(name + '.vdb', 'surface')
    assert grid.gridClass == vdb.GridClass.LEVEL_SET and not grid.saveFloatAsHalf, name
    world = lambda voxels: (voxels.astype(np.float64) * size).astype(np.float32)
    bound = world(np.array([width]))[0]
    assert np.float32(grid.background) == bound, (grid.background, bound)
    # Two voxels more on each side: outside.
    values = np.zeros([n + 4 for n in shape], np.float32)
    grid.copyToArray(values, ijk=(-2, -2, -2))
    expected = np.full(values.shape, bound)
    expected[2:-2, 2:-2, 2:-2] = world(raw)
    assert np.array_equal(values, expected), (name, np.argwhere(values != expected)[:3])
    active = np.zeros(shape, bool)
    for item in grid.citerOnValues():
        assert item.min == item.max, 'a tile'
        active[item.min] = True
    assert np.array_equal(active, np.abs(raw) < width), name
    assert grid.activeVoxelCount() == active.sum(), name
    center = grid.transform.indexToWorld((0, 0, 0))
    assert np.allclose(center, np.array(origin) + 0.5 * size, rtol=1e-14), name
    if name == 'box': print('tiles', grid.leafCount() * 512 < raw.size / 4)
";
    let Some(output) = openvdb_python(script, folder.path()) else { return };
    assert_eq!(output, "tiles True\n");
}

#[test]
fn openvdb_computes_nearly_the_same_distances() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("knot.vdb"), written(&knot(3.0), Vdb)).unwrap();
    fs::copy(asset_path("torus-knot.obj"), folder.path().join("mesh.obj")).unwrap();
    let script = "
import numpy as np
try: import openvdb as vdb
except ImportError: import pyopenvdb as vdb
lines = [line.split() for line in open('mesh.obj')]
points = np.array([line[1:4] for line in lines if line[:1] == ['v']], np.float32)
faces = [[int(corner.split('/')[0]) - 1 for corner in line[1:]] for line in lines if line[:1] == ['f']]
triangles = np.array([[f[0], f[i], f[i + 1]] for f in faces for i in range(1, len(f) - 1)], np.uint32)
ours = vdb.read('knot.vdb', 'surface')
theirs = vdb.FloatGrid.createLevelSetFromPolygons(points, triangles=triangles,
    transform=ours.transform, halfWidth=3)
low, high = ours.evalActiveVoxelBoundingBox()
shape = [b - a + 1 for a, b in zip(low, high)]
a, b = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
ours.copyToArray(a, ijk=low), theirs.copyToArray(b, ijk=low)
size = ours.transform.voxelSize()[0]
a, b = a / size, b / size
band = (np.abs(a) < 2.99) & (np.abs(b) < 2.99)
differences = np.abs(a - b)[band]
# OpenVDB moves distances of either sign towards its neighbours': few far, most not at all.
assert band.sum() > 100000, band.sum()
assert np.median(differences) < 1e-4, np.median(differences)
assert differences.mean() < 0.02, differences.mean()
assert (differences > 0.1).mean() < 0.05, (differences > 0.1).mean()
assert not ((a < 0) != (b < 0))[np.abs(a) > 1].any()
";
    let Some(_) = openvdb_python(script, folder.path()) else { return };
}

#[test]
fn nanovdb_reads_the_level_sets_that_were_written() {
    let folder = folder();
    for (name, field) in fields() {
        let Some(output) = nanovdb(&["distances", name], folder.path()) else { return };
        // Valid; a level set; no value that differs; no voxel that differs in being active.
        assert_eq!(output, format!("1 1 0 0 {}\n", field.band().occupied()), "{name}");
    }
}
