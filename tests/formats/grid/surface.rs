//! The surface of a grid as `.ply`, `.obj` and `.glb`: our own readers and trimesh find it in its
//! place, and inside it the very voxels that it was made of.

use trivox::Topology;
use trivox::base::srgb::Linear;
use trivox::grid::{Attribute, Channel};
use trivox::view::mesher::Rectangle;

use super::npy::python;
use super::*;
use crate::common::files::{floats, glb};

const MESHES: [GridFormat; 3] = [Ply, Obj, Glb];

/// A mesh in the coordinates of the grid's mesh.
fn read(grid: &VoxelGrid, format: GridFormat) -> Mesh {
    let bytes = written(grid, format);
    let spec = MeshSpec::of_extension(format.extension()).unwrap();
    let loaded = read_mesh_from(bytes, spec, &Sidecars::none(), &ReadOptions::default()).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let mesh = loaded.mesh;
    if format != Glb || grid.world.up == Up::Y {
        return mesh;
    }
    mesh.with_positions(|[x, y, z]| [x, -z, y]).unwrap()
}

/// The mesh on the lattice that the grid lies on.
fn placed(mesh: &Mesh, grid: &VoxelGrid) -> PlacedMesh {
    let Place { origin: min, voxel_size } = place_of(grid);
    // Half a voxel less, so that no rounding gives a voxel more.
    let end = |a: usize| min[a] + (f64::from(grid.dims()[a]) - 0.5) * voxel_size;
    let bounds = Bounds { min, max: [end(0), end(1), end(2)] };
    place(mesh, &PlaceOptions::new(Sizing::VoxelSize(voxel_size)).with_bounds(bounds)).unwrap()
}

/// Grids with voxels, not too many.
fn some_grids() -> impl Iterator<Item = VoxelGrid> {
    grids_of(1..30_000)
}

#[test]
fn a_surface_has_the_inside_the_volume_and_the_area_of_the_voxels_that_it_was_made_of() {
    for grid in some_grids() {
        let faces: u64 = rectangles(&grid).iter().map(Rectangle::faces).sum();
        for format in MESHES {
            let mesh = placed(&read(&grid, format), &grid);
            let (inside, _) = solid(&mesh, Fill::Parity);
            assert!(inside == grid, "{format:?} of {grid:?}, {:?}", grid.world);
            let units_per_voxel = 1_i128 << mesh.lattice().fraction_bits;
            let found = Topology::of(&mesh);
            let volume = 6 * i128::from(grid.occupied()) * units_per_voxel.pow(3);
            assert_eq!(found.volume_times_six, volume, "{format:?} of {grid:?}");
            let area = faces as f64 * (units_per_voxel * units_per_voxel) as f64;
            assert!((found.area / area - 1.0).abs() < 1e-12, "{format:?} of {grid:?}");
        }
    }
}

/// The colour of each triangle's first corner, with the colour that the voxel behind it has.
fn compared(grid: &VoxelGrid, mesh: &Mesh) -> Vec<[Linear; 2]> {
    let Place { origin, voxel_size } = place_of(grid);
    let colors = grid.colors.as_ref().unwrap();
    let look = &mesh.appearance().unwrap().vertex_colors;
    let of = |triangle: &[u32; 3]| {
        let corners = triangle.map(|vertex| {
            let at = mesh.positions()[vertex as usize];
            [0, 1, 2].map(|a| ((at[a] - origin[a]) / voxel_size).round() as i64)
        });
        let normal = cross(minus(corners[1], corners[0]), minus(corners[2], corners[0]));
        let voxel: [u32; 3] = std::array::from_fn(|a| {
            let least = corners.iter().map(|corner| corner[a]).min().unwrap();
            // All voxels behind a rectangle have its colour; this one is at its least corner.
            u32::try_from(least - i64::from(normal[a] > 0)).unwrap()
        });
        assert!(grid.contains(voxel), "{voxel:?}");
        let [first, others @ ..] = triangle.map(|vertex| look[vertex as usize]);
        assert_eq!(others, [first; 2]);
        [first, linear_of_rgba(colors.of(voxel))]
    };
    mesh.triangles().iter().map(of).collect()
}

#[test]
fn every_face_has_the_colour_of_its_voxel() {
    for grid in some_grids().filter(|grid| grid.occupied() < 5000) {
        for is_opaque in [true, false] {
            let grid = colored(&grid, is_opaque);
            for format in [Ply, Glb] {
                for [found, expected] in compared(&grid, &read(&grid, format)) {
                    assert_eq!(found, expected, "{format:?} of {grid:?}");
                }
            }
        }
    }
}

#[test]
fn obj_has_colours_as_display_values_behind_coordinates() {
    let grid = colored(&random_grid([40, 19, 23], 300, &mut fastrand::Rng::with_seed(2)), true);
    let text = String::from_utf8(written(&grid, Obj)).unwrap();
    let lines = |keyword: &str| -> Vec<Vec<f64>> {
        text.lines().filter_map(|line| line.strip_prefix(keyword)).map(numbers).collect()
    };
    let [vertices, quads] = ["v ", "f "].map(lines);
    assert_eq!(vertices.len() + quads.len(), text.lines().count());
    let rectangles = rectangles(&grid);
    assert_eq!(quads.len(), rectangles.len());
    for (quad, rectangle) in quads.iter().zip(rectangles) {
        for (number, corner) in quad.iter().zip(rectangle.corners()) {
            let vertex = &vertices[*number as usize - 1];
            assert_eq!(vertex[..3], corner.map(f64::from));
            let display = [3, 4, 5].map(|i| (255.0 * vertex[i]).round() as u8);
            assert_eq!(display, rectangle.color.unwrap()[..3]);
        }
    }
}

/// One voxel, red.
fn one_voxel() -> VoxelGrid {
    let world = World::at([-1.5, 0.0, 2.0], 0.125, Up::Z);
    let grid = VoxelGrid::from_voxels([1; 3], [[0; 3]]).unwrap().with_world(world);
    grid.with_colors(Colors::uniform([255, 0, 51, 255]))
}

/// Its corners, in the order in which the file has them.
const CORNERS: [[u8; 3]; 8] =
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]];

/// Its sides: towards smaller and larger x, y and z.
const QUADS: [[u32; 4]; 6] =
    [[0, 1, 2, 3], [4, 5, 6, 7], [0, 4, 7, 1], [3, 2, 6, 5], [0, 3, 5, 4], [1, 7, 6, 2]];

#[test]
fn ply_has_the_bytes_it_always_had() {
    let mut expected = b"ply\nformat binary_little_endian 1.0\nelement vertex 8\n\
        property float x\nproperty float y\nproperty float z\n\
        property uchar red\nproperty uchar green\nproperty uchar blue\n\
        element face 6\nproperty list uchar uint vertex_indices\nend_header\n"
        .to_vec();
    for [x, y, z] in CORNERS.map(|corner| corner.map(f32::from)) {
        let place = [x.mul_add(0.125, -1.5), y * 0.125, z.mul_add(0.125, 2.0)];
        expected.extend(place.map(f32::to_le_bytes).as_flattened());
        expected.extend([255, 0, 51]);
    }
    for quad in QUADS {
        expected.push(4);
        expected.extend(quad.map(u32::to_le_bytes).as_flattened());
    }
    assert_bytes(&written(&one_voxel(), Ply), &expected);
}

#[test]
fn ply_of_points_has_a_vertex_for_each_voxel_and_no_faces() {
    let mut grid = one_voxel();
    let index = Channel::from_bricks(Attribute::Label, vec![]);
    let names = BTreeMap::from([(Attribute::Label, vec![])]);
    grid.attributes = Some(Attributes::new(names, BTreeMap::from([(Attribute::Label, index)])));
    let mut expected = b"ply\nformat binary_little_endian 1.0\nelement vertex 1\n\
        property float x\nproperty float y\nproperty float z\n\
        property uchar red\nproperty uchar green\nproperty uchar blue\n\
        property int label\ncomment voxel_size 0.125\nend_header\n"
        .to_vec();
    expected.extend([-1.4375_f32, 0.0625, 2.0625].map(f32::to_le_bytes).as_flattened());
    expected.extend([255, 0, 51]);
    expected.extend((-1_i32).to_le_bytes());
    let points = WriteOptions { points: true, ..WriteOptions::default() };
    assert_bytes(&written_with(&grid, Ply, &points), &expected);
}

#[test]
fn obj_has_the_bytes_it_always_had() {
    let expected = "\
v -1.5 0 2 1.000 0.000 0.200
v -1.5 0 2.125 1.000 0.000 0.200
v -1.5 0.125 2.125 1.000 0.000 0.200
v -1.5 0.125 2 1.000 0.000 0.200
f 1 2 3 4
v -1.375 0 2 1.000 0.000 0.200
v -1.375 0.125 2 1.000 0.000 0.200
v -1.375 0.125 2.125 1.000 0.000 0.200
v -1.375 0 2.125 1.000 0.000 0.200
f 5 6 7 8
f 1 5 8 2
f 4 3 7 6
f 1 4 6 5
f 2 8 7 3
";
    assert_eq!(String::from_utf8(written(&one_voxel(), Obj)).unwrap(), expected);
}

#[test]
fn glb_has_the_bytes_it_always_had() {
    let text = r#"{"accessors":[
{"bufferView":0,"componentType":5126,"count":8,"max":[1,1,1],"min":[0,0,0],"type":"VEC3"},
{"bufferView":1,"componentType":5125,"count":36,"type":"SCALAR"},
{"bufferView":0,"byteOffset":12,"componentType":5123,"count":8,"normalized":true,"type":"VEC4"}],
"asset":{"generator":"trivox","version":"2.0"},
"bufferViews":[{"buffer":0,"byteLength":160,"byteOffset":0,"byteStride":20,"target":34962},
{"buffer":0,"byteLength":144,"byteOffset":160,"target":34963}],"buffers":[{"byteLength":304}],
"materials":[{"alphaMode":"OPAQUE",
"pbrMetallicRoughness":{"baseColorFactor":[1,1,1,1],"metallicFactor":0,"roughnessFactor":1}}],
"meshes":[{"primitives":[{"attributes":{"COLOR_0":2,"POSITION":0},"indices":1,"material":0}]}],
"nodes":[{"matrix":[0.125,0.0,0.0,0.0,0.0,0.0,-0.125,0.0,0.0,0.125,0.0,0.0,-1.5,2.0,0.0,1.0],
"mesh":0,"name":"voxels"}],"scene":0,"scenes":[{"nodes":[0]}]}"#
        .replace('\n', "");
    let mut data = Vec::new();
    for corner in CORNERS {
        data.extend(floats(&corner.map(f32::from)));
        let light = [u16::MAX, 0, linear_of(51), u16::MAX];
        data.extend(light.map(u16::to_le_bytes).as_flattened());
    }
    for [a, b, c, d] in QUADS {
        data.extend(u32s(&[a, b, c, a, c, d]));
    }
    assert_bytes(&written(&one_voxel(), Glb), &glb(&text, Some(&data)));
}

#[test]
fn a_surface_has_the_same_bytes_for_any_number_of_threads() {
    for grid in some_grids() {
        let grid = colored(&grid, false);
        for format in MESHES {
            let [one, four] = [1, 4].map(|n| on_threads(n, || written(&grid, format)));
            assert!(one == four, "{format:?} of {grid:?}");
        }
    }
}

#[test]
fn ply_has_doubles_where_floats_would_be_off_by_a_ten_thousandth_of_a_voxel() {
    for (dims, origin, voxel_size, kind) in [
        ([1600, 1, 1], 0.0, 1.0, "float"),
        ([2100, 1, 1], 0.0, 1.0, "double"),
        ([9, 9, 9], -1000.0, 1.0, "float"),
        ([9, 9, 9], -4_000_000.0, 1.0, "double"),
        ([9, 9, 9], 0.0, 1e-44, "double"),
        ([9, 9, 9], 0.0, 1e39, "double"),
    ] {
        let world = World::at([0.0, origin, 0.0], voxel_size, Up::Y);
        let grid = VoxelGrid::from_voxels(dims, [[0; 3]]).unwrap().with_world(world);
        let bytes = written(&grid, Ply);
        let properties = ["x", "y", "z"].map(|axis| format!("property {kind} {axis}\n")).concat();
        let text = String::from_utf8_lossy(&bytes[..200]);
        assert!(text.contains(&properties), "{dims:?} {origin} {voxel_size}: {text}");
    }
}

#[test]
fn a_grid_without_voxels_is_a_file_without_faces() {
    let grid = VoxelGrid::empty([3, 4, 5]).unwrap();
    let ply = String::from_utf8(written(&grid, Ply)).unwrap();
    assert!(ply.contains("element vertex 0\n") && ply.contains("element face 0\n"));
    assert!(ply.ends_with("end_header\n"));
    assert_eq!(written(&grid, Obj), b"");
    let glb = written(&grid, Glb);
    let length = u32::from_le_bytes(glb[8..12].try_into().unwrap());
    assert_eq!(length as usize, glb.len());
    let document: serde_json::Value = serde_json::from_slice(&glb[20..]).unwrap();
    assert!(document.get("meshes").is_none() && document.get("buffers").is_none());
}

#[test]
fn corners_of_one_colour_are_shared() {
    let grid = random_grid([60, 60, 60], 0, &mut fastrand::Rng::with_seed(5));
    let wall = (0..60).flat_map(|x| (0..60).map(move |y| [x, y, x]));
    let voxels = VoxelGrid::from_voxels([60; 3], wall).unwrap();
    for grid in [grid, voxels] {
        let text = String::from_utf8(written(&grid, Obj)).unwrap();
        let all: Vec<&str> = text.lines().filter(|line| line.starts_with("v ")).collect();
        assert_eq!(BTreeSet::from_iter(&all).len(), all.len(), "{grid:?}");
    }
}

/// Neither cubic nor a mirror image of itself, with rectangles of many sizes.
fn for_trimesh(up: Up) -> VoxelGrid {
    let world = World::at([-1.5, 1e4, 2.0], 0.125, up);
    let grid = random_grid([70, 39, 43], 900, &mut fastrand::Rng::with_seed(8));
    colored(&grid.with_world(world), true)
}

#[test]
fn trimesh_reads_the_surface_in_its_place_and_colours() {
    let Some(_) = python_with("trimesh") else { return };
    let script = "
import numpy, trimesh, json
told = json.load(open('told.json'))
quads = numpy.array(told['quads'], float)
colors = numpy.array(told['colors'], float)
for name in ['ply', 'glb']:
    mesh = trimesh.load('grid.' + name, force='mesh', process=False)
    # Of quads, trimesh puts all second halves behind all first ones: the corners 2, 3, 0.
    halves = mesh.faces.reshape(2, -1, 3).swapaxes(0, 1) if name == 'ply' else mesh.faces.reshape(-1, 2, 3)
    corners = numpy.concatenate([halves[:, 0], halves[:, 1, 1 if name == 'ply' else 2][:, None]], 1)
    found = mesh.vertices[corners]
    if name == 'glb' and told['is_turned']:
        found = numpy.stack([found[..., 0], -found[..., 2], found[..., 1]], -1)
    place = (found - told['origin']) / told['size']
    if name == 'ply':
        rgb = mesh.visual.vertex_colors / 255
    else:
        [shape] = trimesh.load('grid.glb', process=False).geometry.values()
        rgb = shape.visual.vertex_attributes['color'] / 65535
    rgb = rgb[corners][..., :3]
    light = colors[:, None, :3] / 255
    if name == 'glb':
        light = numpy.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    print(name, abs(place - quads).max() < 1e-3, abs(rgb - light).max() < 1e-5,
        round(mesh.area / told['size'] ** 2), round(mesh.volume / told['size'] ** 3),
        len(mesh.faces) == 2 * len(quads))
";
    for up in [Up::Y, Up::Z] {
        let grid = for_trimesh(up);
        let folder = tempdir().unwrap();
        for format in [Ply, Glb] {
            write_into(&folder, &grid, format);
        }
        let rectangles = rectangles(&grid);
        let quads: Vec<_> = rectangles.iter().map(Rectangle::corners).collect();
        let colors: Vec<_> = rectangles.iter().map(|rectangle| rectangle.color.unwrap()).collect();
        let faces: u64 = rectangles.iter().map(Rectangle::faces).sum();
        let Place { origin, voxel_size } = grid.world.place.unwrap();
        let told = serde_json::json!({"quads": quads, "colors": colors, "origin": origin,
            "size": voxel_size, "is_turned": grid.world.up == Up::Z});
        fs::write(folder.path().join("told.json"), told.to_string()).unwrap();
        let Some(output) = python(script, folder.path()) else { return };
        let facts = format!("True True {faces} {} True", grid.occupied());
        assert_eq!(output, format!("ply {facts}\nglb {facts}\n"));
    }
}
