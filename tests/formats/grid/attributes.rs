//! Attributes of voxels: what NumPy and VTK read is what the grid holds.

use trivox::grid::{Attribute, Attributes, Channel, count};
use trivox::mesh::Labels;
use trivox::surface::palette::Palette;

use super::colored::colored;
use super::npy::{VTK, openvdb_python, python};
use super::nvdb::nanovdb;
use super::*;
use crate::common::environment::python_with;

pub(crate) fn bent() -> VoxelGrid {
    bent_with(Attribute::ALL)
}

fn bent_with(attributes: &[Attribute]) -> VoxelGrid {
    let corners =
        vec![[0.0; 3], [29.0, 3.0, 1.0], [2.0, 18.5, 7.0], [28.0, 19.0, 42.0], [5.0, 3.0, 40.0]];
    let triangles = vec![[0, 1, 2], [1, 3, 2], [0, 4, 1], [2, 3, 4]];
    let material = |name: &str| Material {
        name: name.to_owned(),
        metallic: Some(0.125 * name.len() as f32),
        roughness: Some(0.7),
        emission: Some([0.25, name.len() as f32, 30.0]),
        ..Material::default()
    };
    let look = Appearance {
        materials: vec![material("steel"), material(""), material("blé")],
        material_of: vec![2, 0, 1, 0],
        uvs: vec![[[0.0, 0.5], [1.0, 2.0], [-3.0, 0.25]]; 4],
        ..Appearance::default()
    };
    let labels = Labels::of([(0, "wheel"), (2, "long name of an axle")], 4, true);
    let mesh = Mesh::new(corners, triangles).unwrap().with_labels(labels);
    let mesh = mesh.with_appearance(look).unwrap();
    let attributes = attributes.iter().copied();
    Voxelizer::new().voxel_size(1.0).pad(2).attributes(attributes).run(&mesh).unwrap().grid
}

#[test]
fn numpy_and_vtk_read_attributes_voxel_for_voxel() {
    let grid = bent();
    let folder = tempfile::tempdir().unwrap();
    for format in [GridFormat::Npz, GridFormat::Vti] {
        write_into(&folder, &grid, format);
    }
    let attributes = grid.attributes.as_ref().unwrap();
    let line = |([x, y, z], of): ([u32; 3], trivox::grid::VoxelSample)| {
        let [a, b, c] = of.normal;
        let (triangle, area) = (of.triangle, of.area);
        let line =
            format!("{x} {y} {z} {a} {b} {c} {triangle} {} {} {area}", of.material, of.label);
        let [r, g, b] = of.emission;
        let [u, v] = of.uv;
        format!("{line} {} {} {r} {g} {b} {} {u} {v}\n", of.metallic, of.roughness, of.alpha)
    };
    let list: String = grid.voxels().zip(attributes.of_voxels(&grid)).map(line).collect();
    std::fs::write(folder.path().join("grid.txt"), list).unwrap();
    let script = "
import numpy
file = numpy.load('grid.npz')
lines = numpy.loadtxt('grid.txt')
coords = file['coords']
assert (coords == lines[:, :3]).all() and file['occupied'].sum() == len(coords)
assert file['occupied'][tuple(coords.T)].all()
for name, kind, columns in [
    ('normal', 'f4', slice(3, 6)), ('triangle', 'i4', 6), ('material', 'i4', 7), ('label', 'i4', 8),
    ('area', 'f4', 9), ('metallic', 'f4', 10), ('roughness', 'f4', 11),
    ('emission', 'f4', slice(12, 15)), ('alpha', 'f4', 15), ('uv', 'f4', slice(16, 18)),
]:
    found = file[name]
    assert found.dtype == kind, name
    assert (found == lines[:, columns].astype(kind)).all(), name
assert set(file['triangle']) == {0, 1, 2, 3}
assert file['metallic'].max() > 0.6 and file['emission'].max() > 29 and file['uv'].min() < -1
assert set(file['material']) == {0, 1, 2} and set(file['label']) == {0, 1}
assert file['material_names'].tolist() == ['steel', '', 'blé']
assert file['label_names'].tolist() == ['wheel', 'long name of an axle']
";
    let Some(_) = python(script, folder.path()) else { return };
    let Some(_) = python_with("vtkmodules") else { return };
    let script = format!(
        "{VTK}
nx, ny, nz = (n - 1 for n in image.GetDimensions())
file = numpy.load('grid.npz')
indices = ['triangle', 'material', 'label']
floats = ['normal', 'area', 'metallic', 'roughness', 'emission', 'alpha', 'uv']
for name, empty in [(name, -1) for name in indices] + [(name, 0) for name in floats]:
    array = vtk_to_numpy(image.GetCellData().GetArray(name))
    array = array.reshape(nz, ny, nx, *array.shape[1:]).swapaxes(0, 2)
    assert array.dtype == file[name].dtype, name
    assert (array[tuple(file['coords'].T)] == file[name]).all(), name
    assert (array[~file['occupied']] == empty).all(), name
for name in ['material_names', 'label_names']:
    array = image.GetFieldData().GetAbstractArray(name)
    names = [array.GetValue(i) for i in range(array.GetNumberOfValues())]
    assert names == file[name].tolist(), names
"
    );
    python(&script, folder.path()).unwrap();
}

#[test]
fn trimesh_reads_points_with_colours_and_attributes() {
    let Some(_) = python_with("trimesh") else { return };
    let points = WriteOptions { points: true, ..WriteOptions::default() };
    for (origin, is_opaque) in [(-2.5, true), (1e6, false)] {
        let mut grid = colored(&bent(), is_opaque);
        grid.attributes = bent().attributes;
        grid.world = World::at([origin, 0.5, 3.0], 0.125, Up::Y);
        let folder = tempfile::tempdir().unwrap();
        write_into(&folder, &grid, GridFormat::Npz);
        let bytes = written_with(&grid, GridFormat::Ply, &points);
        std::fs::write(folder.path().join("grid.ply"), bytes).unwrap();
        let script = "
import numpy, trimesh
cloud = trimesh.load('grid.ply')
assert isinstance(cloud, trimesh.PointCloud)
file = numpy.load('grid.npz')
coords = file['coords']
centres = (cloud.vertices - file['origin']) / file['voxel_size'] - 0.5
assert abs(centres - coords).max() < 1e-4
rgba = file['rgba'][tuple(coords.T)]
assert (cloud.colors == rgba).all() and len(numpy.unique(rgba, axis=0)) > 9
found = cloud.metadata['_ply_raw']['vertex']['data']
names = {'normal': ['nx', 'ny', 'nz'], 'uv': ['uv_u', 'uv_v'], 'alpha': ['opacity'],
    'emission': ['emission_r', 'emission_g', 'emission_b']}
for name in 'normal triangle material label area metallic roughness emission alpha uv'.split():
    columns = [found[column] for column in names.get(name, [name])]
    assert all(column.dtype == file[name].dtype for column in columns), name
    assert (numpy.stack(columns, -1).reshape(file[name].shape) == file[name]).all(), name
";
        python(script, folder.path()).unwrap();
        let lost = GridFormat::Ply.lost(&grid, &points);
        assert_eq!(lost, ["the names of materials and objects are not kept"]);
    }
}

#[test]
fn openvdb_and_nanovdb_read_each_attribute_as_a_grid_of_its_name() {
    // A solid has tiles.
    let solid = Mode::Solid(Solid::default());
    let solid = Voxelizer::new().resolution(40).mode(solid).attributes([
        Attribute::Normal,
        Attribute::Label,
        Attribute::Coverage,
        Attribute::Area,
    ]);
    for mut grid in [bent(), solid.run(asset("cube.obj")).unwrap().grid] {
        let folder = tempfile::tempdir().unwrap();
        write_into(&folder, &grid, GridFormat::Npz);
        // OpenVDB's Python module has no grids of integers.
        let mut bytes = written(&grid, GridFormat::Vdb);
        // Reading leaves attributes out, and says so.
        for format in [GridFormat::Vdb, GridFormat::Nvdb] {
            write_into(&folder, &grid, format);
            let loaded = load(&folder, "grid", format).unwrap();
            let said = "only the grid density is read, not ";
            assert!(loaded.grid == grid && loaded.warnings[0].starts_with(said), "{format:?}");
        }
        for at in 0..bytes.len() - 16 {
            if &bytes[at..at + 16] == b"Tree_int32_5_4_3" {
                bytes[at..at + 16].copy_from_slice(b"Tree_float_5_4_3");
            }
        }
        std::fs::write(folder.path().join("grid.vdb"), bytes).unwrap();
        let attributes = grid.attributes.take().unwrap();
        let names: Vec<&str> = attributes.set().iter().map(|of| of.name()).collect();
        let script = "
import numpy, sys
import pyopenvdb as openvdb
file = numpy.load('grid.npz')
names = 'NAMES'.split()
for name in names:
    grid = openvdb.read('grid.vdb', name)
    assert grid.activeVoxelCount() == len(file['coords'])
    expected = file[name]
    kind = expected.dtype
    found = numpy.zeros(file['occupied'].shape + ((3,) if expected.ndim == 2 else ()), 'f4')
    grid.copyToArray(found)
    empty = found[~file['occupied']].view(kind)
    found = found[tuple(file['coords'].T)].view(kind)
    assert (empty == (-1 if kind == 'i4' else 0)).all(), name
    found = found[:, :2] if name == 'uv' else found
    assert (found == expected).all(), name
print(len(names))
"
        .replace("NAMES", &names.join(" "));
        let Some(said) = openvdb_python(&script, folder.path()) else { return };
        assert_eq!(said.trim(), names.len().to_string());
        for (attribute, channel) in attributes.channels() {
            let kind = match (attribute.components(), attribute.is_float()) {
                (1, true) => "float",
                (1, false) => "int",
                _ => "vector",
            };
            let line =
                |([x, y, z], [a, b, c]): ([u32; 3], [u32; 3])| format!("{x} {y} {z} {a} {b} {c}\n");
            let list: String = grid.voxels().zip(channel.of_voxels(&grid)).map(line).collect();
            std::fs::write(folder.path().join(format!("{attribute}.txt")), list).unwrap();
            let Some(said) = nanovdb(&["attribute", attribute.name(), kind], folder.path()) else {
                return;
            };
            let count = grid.occupied();
            assert_eq!(said.trim(), format!("1 {count} {count} 0"), "{attribute}");
        }
    }
}

/// Metal, roughness and the strength of light of each voxel of `grid`, and its colour, as `dot_vox`
/// reads them from the file of one model.
fn magica_materials(grid: &VoxelGrid, options: &WriteOptions) -> Vec<([f32; 3], Rgba)> {
    let bytes =
        written_with(grid, GridFormat::Vox, &WriteOptions { plain: true, ..options.clone() });
    let data = dot_vox::load_bytes(&bytes).unwrap();
    let materials: BTreeMap<u32, [f32; 3]> = (data.materials.iter())
        .map(|material| {
            let text = |key: &str| material.properties.get(key);
            let of = |key: &str| text(key).map_or(0.0, |text| text.parse::<f32>().unwrap());
            assert_eq!(material.properties["_type"] == "_emit", text("_emit").is_some());
            (material.id, [of("_metal"), of("_rough"), of("_emit") * (of("_flux") + 1.0)])
        })
        .collect();
    let voxels = data.models[0].voxels.iter().zip(grid.voxels()).map(|(found, voxel)| {
        assert_eq!([found.x, found.y, found.z].map(u32::from), voxel);
        (materials[&(u32::from(found.i) + 1)], data.palette[usize::from(found.i)].into())
    });
    voxels.collect()
}

#[test]
fn vox_has_metal_roughness_and_light_as_materials_of_palette_entries() {
    let mut grid = bent();
    grid.world.up = Up::Z;
    let samples: Vec<_> = grid.attributes.as_ref().unwrap().of_voxels(&grid).collect();
    // The light of the materials is brighter than the brightest that the format holds.
    let expected: Vec<_> = samples.iter().map(|of| [of.metallic, of.roughness, 5.0]).collect();
    let light = "light and surface have one colour, their sum, and light a strength up to 5";
    let palette = Palette::new(&[RED, [0; 4]]).unwrap();
    let given = WriteOptions { palette: Some(palette), ..WriteOptions::default() };
    for (colors, options, color) in [
        (None, WriteOptions::default(), [200, 200, 200, 255]),
        (Some(Colors::uniform(RED)), given, RED),
    ] {
        grid.colors = colors;
        let found = magica_materials(&grid, &options);
        for ((found, own), expected) in found.iter().zip(&expected) {
            let is_near = (0..3).all(|n| (found[n] - expected[n]).abs() < 0.1);
            assert!(is_near && *own == color, "{found:?} {own:?}, {expected:?}");
        }
        let metals: BTreeSet<u32> = found.iter().map(|(of, _)| of[0].to_bits()).collect();
        assert!((4..12).contains(&metals.len()), "{metals:?}");
        let lost = GridFormat::Vox.lost(&grid, &options);
        assert!(lost.iter().any(|lost| lost == light) && !lost.concat().contains("room"));
    }

    // Where all entries are taken, each has the mean of its voxels; light would change colours.
    let surface = bent_with(&[Attribute::Metallic, Attribute::Roughness]);
    grid.attributes = surface.attributes;
    let mut next = 0..;
    let mut own = |of: &Mask| -> Vec<Rgba> {
        let numbers = next.by_ref().take(count(of) as usize);
        numbers.map(|n: u32| [(n % 255) as u8, 7, 9, 255]).collect()
    };
    let bricks = grid.bricks().map(|(key, mask)| (key, mask, own(&mask))).collect();
    grid.colors = Some(Colors::from_bricks(bricks, RED));
    let found = magica_materials(&grid, &WriteOptions::default());
    for (n, (of, color)) in found.iter().enumerate() {
        assert_eq!(*color, [(n % 255) as u8, 7, 9, 255]);
        let alike: Vec<f32> = expected.iter().skip(n % 255).step_by(255).map(|of| of[0]).collect();
        let mean = alike.iter().sum::<f32>() / alike.len() as f32;
        assert!((of[0] - mean).abs() < 0.001, "{of:?}, {mean}");
    }
    let lost = GridFormat::Vox.lost(&grid, &WriteOptions::default()).concat();
    assert!(lost.contains("the palette has no room for") && lost.contains("means are kept"));

    // Without light the type is that of the metalness, 0 in one of the materials.
    for (attributes, types, properties) in [
        (&[Attribute::Roughness][..], &["_diffuse"][..], &["_rough", "_type"][..]),
        (&[Attribute::Metallic], &["_diffuse", "_metal"], &["_metal", "_type"]),
    ] {
        let bytes = written(&bent_with(attributes), GridFormat::Vox);
        let materials = dot_vox::load_bytes(&bytes).unwrap().materials;
        let found: BTreeSet<&str> = materials.iter().map(|of| &*of.properties["_type"]).collect();
        assert_eq!(Vec::from_iter(found), types);
        let of_all = materials.iter().flat_map(|of| of.properties.keys());
        assert_eq!(Vec::from_iter(BTreeSet::from_iter(of_all)), properties);
    }

    let bytes = |grid: &VoxelGrid| written(grid, GridFormat::Vox);
    let run = Voxelizer::new().resolution(9).attributes([Attribute::Normal]);
    let mut others = run.run(asset("cube.obj")).unwrap().grid;
    let with_others = bytes(&others);
    others.attributes = None;
    assert!(with_others == bytes(&others));
}

#[test]
fn npz_gives_back_the_attributes_that_were_written() {
    let solid = Voxelizer::new().resolution(9).mode(Mode::Solid(Solid::default()));
    let solid = solid.attributes([Attribute::Normal, Attribute::Label, Attribute::Coverage]);
    for grid in [bent(), solid.run(asset("tetrahedron.obj")).unwrap().grid] {
        let bytes = written(&grid, GridFormat::Npz);
        let loaded = load_bytes(GridFormat::Npz, &bytes).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new());
        let [one, two] = [&grid, &loaded.grid].map(|grid| grid.attributes.as_ref().unwrap());
        assert_eq!((one.set(), one.names()), (two.set(), two.names()));
        assert!(written(&loaded.grid, GridFormat::Npz) == bytes);
        // Memory is in proportion to the surface.
        let count = |all: &Attributes| all.channels()[&Attribute::Normal].own_count();
        assert_eq!(count(one), count(two));
        let little = ReadOptions { memory: 1000, ..ReadOptions::default() };
        let refused = read_grid_from(&mut &bytes[..], GridFormat::Npz, &little);
        assert!(matches!(refused, Err(ReadError::Memory { .. })));
    }
}

#[test]
fn npz_refuses_values_that_no_voxel_can_have() {
    let mut grid = bent();
    let (key, mask) = grid.bricks().last().unwrap();
    let first = grid.occupied() - u64::from(count(&mask));
    let index = i32::cast_unsigned;
    for (attribute, value, names, said) in [
        (Attribute::Normal, f32::NAN.to_bits(), None, "NaN is not possible: use -1 to 1"),
        (Attribute::Coverage, 1.5_f32.to_bits(), None, "1.5 is not possible: use 0 to 1"),
        (Attribute::Uv, f32::INFINITY.to_bits(), None, "inf is not possible: use finite numbers"),
        (
            Attribute::Area,
            (-0.5_f32).to_bits(),
            None,
            "-0.5 is not possible: use finite numbers from 0",
        ),
        (Attribute::Triangle, index(-2), None, "-2 is not possible: use -1 or more"),
        (Attribute::Label, index(2), Some(2), "2 is not possible: use -1 to 1"),
        (Attribute::Material, 0, Some(0), "0 is not possible: use -1, as there are no names"),
    ] {
        let values = vec![[value, 0, 0]; count(&mask) as usize];
        let channel = Channel::from_bricks(attribute, vec![(key, mask, values)]);
        let names = names.map(|count| (attribute, vec![String::new(); count]));
        let channels = BTreeMap::from([(attribute, channel)]);
        grid.attributes = Some(Attributes::new(names.into_iter().collect(), channels));
        let refused = load_bytes(GridFormat::Npz, &written(&grid, GridFormat::Npz)).unwrap_err();
        assert_eq!(refused.to_string(), format!("{attribute}.npy, row {first}: {said}"));
    }
}

#[test]
fn arrays_that_are_no_attributes_of_the_voxels_are_ignored_or_a_grid() {
    let folder = tempfile::tempdir().unwrap();
    write_into(&folder, &bent(), GridFormat::Npz);
    let script = "
import numpy
file = dict(numpy.load('grid.npz'))
numpy.savez('same.npz', **file)
numpy.savez('turned.npz', **{**file, 'coords': file['coords'][::-1], **{
    name: file[name][::-1] for name in file if len(file[name].shape) and
    len(file[name]) == len(file['coords']) and name not in ('coords', 'occupied')}})
numpy.savez('shifted.npz', **{**file, 'coords': file['coords'] + 1})
numpy.savez('far.npz', **{**file, 'coords': file['coords'][::-1] + 100000})
numpy.savez('repeated.npz', **{**file, 'coords': file['coords'] * 0 + file['coords'][0]})
numpy.savez('wide.npz', **{**file, 'coords': file['coords'].astype('i8')})
numpy.savez('short.npz', **{**file, 'label': file['label'][1:]})
numpy.savez('unnamed.npz', **{**file, 'label_names': numpy.zeros(2, 'f4')})
numpy.savez('dense.npz', label=file['occupied'].astype('i4') * 7)
";
    let Some(_) = python(script, folder.path()) else { return };
    const ALL: &str = "normal triangle material label area metallic roughness emission alpha uv";
    let grid = bent();
    for (name, ignored, attributes) in [
        ("same", 0, ALL),
        ("turned", 0, ALL),
        ("shifted", 13, ""),
        ("far", 13, ""),
        ("repeated", 13, ""),
        ("wide", 13, ""),
        ("short", 2, &ALL.replace("label ", "")),
        ("unnamed", 1, ALL),
        ("dense", 0, ""),
    ] {
        let loaded = read_grid(folder.path().join(format!("{name}.npz"))).unwrap();
        assert!(loaded.grid == grid, "{name}");
        let set = loaded.grid.attributes.as_ref().map(|all| all.set()).unwrap_or_default();
        let names: Vec<&str> = set.iter().map(|of| of.name()).collect();
        assert_eq!(names.join(" "), attributes, "{name}");
        if attributes == ALL && ignored == 0 {
            let [found, expected] = [&loaded.grid, &grid].map(|grid| {
                let attributes = grid.attributes.as_ref().unwrap();
                attributes.of_voxels(grid).map(|of| format!("{of:?}")).collect::<Vec<_>>()
            });
            assert_eq!(found, expected, "{name}");
        }
        let said = "ignored: an attribute has a row for each occupied voxel";
        let said = loaded.warnings.iter().filter(|warning| warning.contains(said));
        let named = said.map(|warning| warning.matches(".npy").count() - 1).sum::<usize>();
        assert_eq!(named, ignored, "{name}: {:?}", loaded.warnings);
    }
}

#[test]
fn formats_without_attributes_say_so() {
    let grid = bent();
    let attributes = grid.attributes.as_ref().unwrap();
    for format in GridFormat::ALL {
        let options = WriteOptions::default();
        let held = format.spec().attributes(&options);
        let is_lost = format
            .lost(&grid, &WriteOptions::default())
            .iter()
            .any(|lost| lost.contains("attributes"));
        assert_eq!(is_lost, !attributes.set().iter().all(|of| held.contains(of)), "{format:?}");
        for attribute in attributes.set() {
            let checked = format.check_attributes(&[attribute].into(), &options);
            assert_eq!(checked.is_ok(), held.contains(&attribute), "{format:?}: {attribute}");
        }
    }
}
