//! Attributes of voxels: what NumPy and VTK read is what the grid holds.

use trivox::grid::{Attribute, Channel, count, mask_voxels};
use trivox::mesh::Labels;
use trivox::surface::palette::Palette;

use super::colored::{for_others, in_a_folder};
use super::npy::{VTK, openvdb_python, python};
use super::nvdb::nanovdb;
use super::*;

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

/// Writes a list of each attribute: a voxel and the bits of its numbers a line.
fn write_lists(grid: &VoxelGrid, folder: &TempDir) {
    for (attribute, channel) in grid.attributes.iter().flat_map(Attributes::channels) {
        let line =
            |([x, y, z], [a, b, c]): ([u32; 3], [u32; 3])| format!("{x} {y} {z} {a} {b} {c}\n");
        let list: String = grid.voxels().zip(channel.of_voxels(grid)).map(line).collect();
        fs::write(folder.path().join(format!("{attribute}.txt")), list).unwrap();
    }
}

#[test]
fn numpy_and_vtk_read_colours_and_attributes_voxel_for_voxel() {
    let script = "
import os, numpy
file = numpy.load('grid.npz')
lines = numpy.loadtxt('grid.txt')
voxels = tuple(lines[:, :3].astype(int).T)
occupied, rgba = file['occupied'], file['rgba']
assert occupied[voxels].all() and occupied.sum() == len(lines)
assert rgba.dtype == 'uint8' and rgba.flags.c_contiguous and rgba.any()
assert (rgba[voxels] == lines[:, 3:7]).all() and (rgba[~occupied] == 0).all()
INDICES = ['triangle', 'material', 'label']
FLOATS = ['normal', 'area', 'metallic', 'roughness', 'emission', 'alpha', 'uv']
attributes = INDICES + FLOATS if os.path.exists('normal.txt') else []
for name in attributes:
    lines = numpy.loadtxt(name + '.txt', dtype='u4')
    found = file[name]
    numbers = {'uv': 2, 'normal': 3, 'emission': 3}.get(name, 1)
    assert found.dtype == ('i4' if name in INDICES else 'f4'), name
    assert found.shape == ((len(lines), numbers) if numbers > 1 else (len(lines),)), name
    assert (file['coords'] == lines[:, :3]).all()
    assert (found.view('u4').reshape(-1, numbers) == lines[:, 3:3 + numbers]).all(), name
if attributes:
    assert set(file['triangle']) == {0, 1, 2, 3}
    assert file['metallic'].max() > 0.6 and file['emission'].max() > 29 and file['uv'].min() < -1
    assert set(file['material']) == {0, 1, 2} and set(file['label']) == {0, 1}
    assert file['material_names'].tolist() == ['steel', '', 'blé']
    assert file['label_names'].tolist() == ['wheel', 'long name of an axle']
";
    // Of the arrays that NumPy reads, VTK reads the same.
    let of_vtk = "
cells = image.GetCellData()
def dense(name):
    array = vtk_to_numpy(cells.GetArray(name))
    return array.reshape(*occupied.shape[::-1], *array.shape[1:]).swapaxes(0, 2)
assert (dense('color') == rgba).all() and dense('color').dtype == rgba.dtype
for name in attributes:
    array = dense(name)
    assert array.dtype == file[name].dtype, name
    assert (array[tuple(file['coords'].T)] == file[name]).all(), name
    assert (array[~occupied] == (-1 if name in INDICES else 0)).all(), name
for name in ['material_names', 'label_names'] if attributes else []:
    array = image.GetFieldData().GetAbstractArray(name)
    names = [array.GetValue(i) for i in range(array.GetNumberOfValues())]
    assert names == file[name].tolist(), names
";
    for grid in [for_others(false), colored(&bent(), false)] {
        let folder = in_a_folder(&grid, Npz);
        write_into(&folder, &grid, Vti);
        write_lists(&grid, &folder);
        let Some(_) = python(script, folder.path()) else { return };
        if python_with("vtkmodules").is_some() {
            python(&format!("{VTK}{script}{of_vtk}"), folder.path()).unwrap();
        }
    }
}

#[test]
fn trimesh_reads_points_with_colours_and_attributes() {
    let Some(_) = python_with("trimesh") else { return };
    let points = WriteOptions { points: true, ..WriteOptions::default() };
    for (origin, is_opaque) in [(-2.5, true), (1e6, false)] {
        let mut grid = colored(&bent(), is_opaque);
        grid.world = World::at([origin, 0.5, 3.0], 0.125, Up::Y);
        let folder = tempdir().unwrap();
        write_into(&folder, &grid, Npz);
        let bytes = written_with(&grid, Ply, &points);
        fs::write(folder.path().join("grid.ply"), bytes).unwrap();
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
        let lost = Ply.lost(&grid, &points);
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
    for grid in [bent(), solid.run(asset("cube.obj")).unwrap().grid] {
        let folder = tempdir().unwrap();
        write_into(&folder, &grid, Npz);
        // OpenVDB's Python module has no grids of integers.
        let mut bytes = written(&grid, Vdb);
        // Reading leaves attributes out, and says so.
        for format in [Vdb, Nvdb] {
            write_into(&folder, &grid, format);
            let loaded = load(&folder, "grid", format).unwrap();
            let said = "only the grid density is read, not ";
            assert!(loaded.grid == grid && loaded.warnings[0].starts_with(said), "{format:?}");
        }
        while let Some(at) = bytes.windows(10).position(|part| part == b"Tree_int32") {
            bytes = patched(&bytes, at, b"Tree_float");
        }
        fs::write(folder.path().join("grid.vdb"), bytes).unwrap();
        let attributes = attributes_of(&grid);
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
        write_lists(&grid, &folder);
        for attribute in attributes.set() {
            let kind = match (attribute.components(), attribute.is_float()) {
                (1, true) => "float",
                (1, false) => "int",
                _ => "vector",
            };
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
    let bytes = written_with(grid, Vox, &WriteOptions { plain: true, ..options.clone() });
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
    // The light of the materials is brighter than the brightest that the format holds.
    let samples = attributes_of(&grid).of_voxels(&grid);
    let expected: Vec<_> = samples.map(|of| [of.metallic, of.roughness, 5.0]).collect();
    let light = "light and surface have one colour, their sum, and light a strength up to 5";
    let palette = Palette::new(&[RED, [0; 4]]).unwrap();
    let given = WriteOptions { palette: Some(palette), ..WriteOptions::default() };
    let (none, grey) = (WriteOptions::default(), [200, 200, 200, 255]);
    for (colors, options, color) in [(None, none, grey), (Some(Colors::uniform(RED)), given, RED)] {
        grid.colors = colors;
        let found = magica_materials(&grid, &options);
        for ((found, own), expected) in found.iter().zip(&expected) {
            let is_near = (0..3).all(|n| (found[n] - expected[n]).abs() < 0.1);
            assert!(is_near && *own == color, "{found:?} {own:?}, {expected:?}");
        }
        let metals: BTreeSet<u32> = found.iter().map(|(of, _)| of[0].to_bits()).collect();
        assert!((4..12).contains(&metals.len()), "{metals:?}");
        let lost = Vox.lost(&grid, &options);
        assert!(lost.iter().any(|lost| lost == light) && !lost.concat().contains("room"));
    }

    // Where all entries are taken, each has the mean of its voxels; light would change colours.
    let surface = bent_with(&[Attribute::Metallic, Attribute::Roughness]);
    grid.attributes = surface.attributes;
    let mut next = (0..=254).cycle();
    let bricks = grid.bricks().map(|(key, mask)| {
        let own = next.by_ref().take(count(&mask) as usize).map(|n| [n, 7, 9, 255]);
        (key, mask, own.collect())
    });
    grid.colors = Some(Colors::from_bricks(bricks.collect(), RED));
    let found = magica_materials(&grid, &WriteOptions::default());
    for (n, (of, color)) in found.iter().enumerate() {
        assert_eq!(*color, [(n % 255) as u8, 7, 9, 255]);
        let alike: Vec<f32> = expected.iter().skip(n % 255).step_by(255).map(|of| of[0]).collect();
        let mean = alike.iter().sum::<f32>() / alike.len() as f32;
        assert!((of[0] - mean).abs() < 0.001, "{of:?}, {mean}");
    }
    let lost = lost(&grid, Vox);
    assert!(lost.contains("the palette has no room for") && lost.contains("means are kept"));

    // Without light the type is that of the metalness, 0 in one of the materials.
    for (attributes, types, properties) in [
        (&[Attribute::Roughness][..], &["_diffuse"][..], &["_rough", "_type"][..]),
        (&[Attribute::Metallic], &["_diffuse", "_metal"], &["_metal", "_type"]),
    ] {
        let bytes = written(&bent_with(attributes), Vox);
        let materials = dot_vox::load_bytes(&bytes).unwrap().materials;
        let found: BTreeSet<&str> = materials.iter().map(|of| &*of.properties["_type"]).collect();
        assert_eq!(Vec::from_iter(found), types);
        let of_all = materials.iter().flat_map(|of| of.properties.keys());
        assert_eq!(Vec::from_iter(BTreeSet::from_iter(of_all)), properties);
    }

    let mut others = bent_with(&[Attribute::Normal]);
    let with_others = written(&others, Vox);
    others.attributes = None;
    assert!(with_others == written(&others, Vox));
}

/// Some of everything: colours, attributes and their names, and a place of many digits.
pub(crate) fn everything() -> VoxelGrid {
    let grid = colored(&bent(), false);
    let Place { origin, voxel_size } = place_of(&grid);
    grid.with_world(World::at(origin.map(|c| c / 3.0), voxel_size / 7.0, Up::Z))
}

#[test]
fn npz_and_vti_give_back_attributes_and_their_names() {
    let solid = Voxelizer::new().resolution(9).mode(Mode::Solid(Solid::default()));
    let solid = solid.attributes([Attribute::Normal, Attribute::Label, Attribute::Coverage]);
    let solid = solid.run(asset("tetrahedron.obj")).unwrap().grid;
    for (grid, format) in
        [bent(), solid, everything()].iter().flat_map(|grid| [(grid, Npz), (grid, Vti)])
    {
        let bytes = written(grid, format);
        let back = load_silently(format, &bytes);
        assert!(back == *grid && back.world == grid.world, "{format:?}");
        let [one, two] = [grid, &back].map(attributes_of);
        assert_eq!((one.set(), one.names()), (two.set(), two.names()));
        assert!(one.of_voxels(grid).eq(two.of_voxels(&back)), "{format:?}");
        assert!(written(&back, format) == bytes, "{format:?}");
        // Memory is in proportion to the surface.
        let own = |all: &Attributes| all.channels()[&Attribute::Normal].own_count();
        assert_eq!(own(one), own(two), "{format:?}");
        refused_within(1000, format, &bytes);
        if format == Vti {
            refused_within(3 * bytes.len() as u64, format, &bytes);
        }
    }
}

#[test]
fn npz_and_vti_refuse_values_that_no_voxel_can_have() {
    let mut grid = bent();
    let row = grid.occupied() - 1;
    let (key, mask) = grid.bricks().last().unwrap();
    let voxel = mask_voxels(key.first_voxel(), mask).last().unwrap();
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
        // Of the last brick, the last voxel.
        let absent = if attribute.is_float() { 0 } else { index(-1) };
        let mut values = vec![[absent, 0, 0]; count(&mask) as usize];
        values.last_mut().unwrap()[0] = value;
        let channel = Channel::from_bricks(attribute, vec![(key, mask, values)]);
        let names = names.map(|count| (attribute, vec![String::new(); count]));
        let channels = BTreeMap::from([(attribute, channel)]);
        grid.attributes = Some(Attributes::new(names.into_iter().collect(), channels));
        let error = load_bytes(Npz, &written(&grid, Npz)).unwrap_err();
        assert_eq!(error.to_string(), format!("{attribute}.npy, row {row}: {said}"));
        let vti = format!("the array '{attribute}': voxel {voxel:?}: {said}");
        refused(Vti, &written(&grid, Vti), &vti);
    }
}

#[test]
fn arrays_that_are_no_attributes_of_the_voxels_are_ignored_or_a_grid() {
    let folder = tempdir().unwrap();
    write_into(&folder, &bent(), Npz);
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
        let loaded = load(&folder, name, Npz).unwrap();
        assert!(loaded.grid == grid, "{name}");
        let set = loaded.grid.attributes.as_ref().map(|all| all.set()).unwrap_or_default();
        let names: Vec<&str> = set.iter().map(|of| of.name()).collect();
        assert_eq!(names.join(" "), attributes, "{name}");
        if attributes == ALL && ignored == 0 {
            let [found, expected] = [&loaded.grid, &grid].map(|of| attributes_of(of).of_voxels(of));
            assert!(found.eq(expected), "{name}");
        }
        let said = "ignored: an attribute has a row for each occupied voxel";
        let said = loaded.warnings.iter().filter(|warning| warning.contains(said));
        let named = said.map(|warning| warning.matches(".npy").count() - 1).sum::<usize>();
        assert_eq!(named, ignored, "{name}: {:?}", loaded.warnings);
    }
}

#[test]
fn formats_say_which_attributes_they_do_not_keep() {
    use Attribute::{Emission, Label, Metallic, Roughness};
    let grid = bent();
    let all = attributes_of(&grid).set();
    for format in GridFormat::ALL {
        let kept = match format {
            Npz | Vti | Vdb | Nvdb => all.clone(),
            Vox => BTreeSet::from([Emission, Label, Metallic, Roughness]),
            _ => BTreeSet::new(),
        };
        let names: Vec<&str> = all.difference(&kept).map(|of| of.name()).collect();
        let said = format!("the voxels' attributes are not kept: {}", names.join(", "));
        assert_eq!(lost(&grid, format).contains(&said), kept != all, "{format:?}");
        for &attribute in &all {
            let checked = format.check_attributes(&[attribute].into(), &WriteOptions::default());
            assert_eq!(checked.is_ok(), kept.contains(&attribute), "{format:?}: {attribute}");
        }
    }
}
