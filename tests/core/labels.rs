//! Labels in solids: by an oracle, at faces that objects share, in tiles.

use crate::common::inside::{self, TIE_RULE};
use crate::common::prelude::*;
use trivox::grid::Attribute;
use trivox::mesh::appearance::TextureRef;

type Point = [f64; 3];

/// One mesh, each of `meshes` an object of it.
fn assembly(meshes: &[Mesh]) -> Mesh {
    Mesh::join(meshes.iter().map(|mesh| ("part", mesh))).unwrap()
}

fn solid() -> Voxelizer {
    let voxelizer = Voxelizer::new().backend(BackendChoice::Cpu).color(ColorSource::None);
    voxelizer.mode(Mode::Solid(Solid::default())).attributes([Attribute::Label])
}

fn labels(grid: &VoxelGrid) -> Vec<([u32; 3], i32)> {
    let attributes = grid.attributes.as_ref().unwrap();
    grid.voxels().zip(attributes.of_voxels(grid).map(|of| of.label)).collect()
}

/// Boxes, spheres and tori that overlap, one of two parts, and one without a lid.
fn random_parts(rng: &mut Rng) -> Vec<Mesh> {
    let mut parts: Vec<Mesh> = (0..rng.usize(2..6))
        .map(|_| {
            let part = |rng: &mut Rng| {
                let by = [(); 3].map(|()| 10.0 * rng.f64());
                let mesh = match rng.u32(0..3) {
                    0 => cube([0.0; 3], 1.0 + 5.0 * rng.f64()),
                    1 => sphere(1.0 + 3.0 * rng.f64(), 6, 9),
                    _ => torus(3.0, 1.0 + rng.f64(), 9, 6),
                };
                shifted(mesh, by)
            };
            let one = part(rng);
            if rng.bool() { one } else { together(&[one, part(rng)]) }
        })
        .collect();
    parts.insert(rng.usize(0..parts.len()), lidless_cube([20.0, 3.0, 3.0], 3.0));
    parts
}

#[test]
fn the_label_in_a_solid_is_the_last_closed_object_around_the_centre() {
    let mut rng = Rng::with_seed(1);
    let (mut changed, mut of_surface, mut none) = (0, 0, 0);
    for include_surface in [false, true].repeat(6) {
        let parts = random_parts(&mut rng);
        let mesh = assembly(&parts);
        let mode = Mode::Solid(Solid { include_surface, ..Solid::default() });
        let voxelizer = solid().mode(mode).voxel_size(0.4 + rng.f64()).pad(1);
        let placed = voxelizer.place(&mesh).unwrap().mesh;
        let grid = voxelizer.run(&mesh).unwrap().grid;
        // Of each object that is closed, the voxels inside.
        let solid_of = |part: &Mesh| {
            let placed = place_on(part, placed.lattice()).unwrap();
            let is_closed = part.triangles().len() != 10;
            is_closed.then(|| inside::solid(&placed, TIE_RULE, |around| around.winding != 0))
        };
        let solids: Vec<_> = parts.iter().map(solid_of).collect();
        let surface_of = |part: &Mesh| surface(&place_on(part, placed.lattice()).unwrap());
        let surfaces: Vec<_> = parts.iter().map(surface_of).collect();
        for (voxel, label) in labels(&grid) {
            let holds = |solid: &Option<VoxelGrid>| {
                solid.as_ref().is_some_and(|solid| solid.contains(voxel))
            };
            if let Some(last) = solids.iter().rposition(holds) {
                assert_eq!(label, last as i32, "{voxel:?}");
                changed += u32::from(solids.iter().position(holds) != Some(last));
            } else if let Ok(label) = usize::try_from(label) {
                assert!(surfaces[label].contains(voxel), "{voxel:?}: {label}");
                of_surface += 1;
            } else {
                assert!(surfaces.iter().all(|surface| !surface.contains(voxel)), "{voxel:?}");
                none += 1;
            }
        }
    }
    assert!(changed > 100 && of_surface > 100 && none > 10, "{changed} {of_surface} {none}");
}

#[test]
fn objects_that_touch_divide_at_the_face() {
    for (axis, size) in [(0, 1.0), (1, 1.0), (2, 1.0), (0, 0.7), (0, 1.6), (1, 1.6), (2, 1.6)] {
        let mut min = [0.0; 3];
        min[axis] = 4.0;
        let mesh = assembly(&[cube([0.0; 3], 4.0), cube(min, 4.0)]);
        let grid = solid().voxel_size(size).run(&mesh).unwrap().grid;
        let all = labels(&grid);
        for &(voxel, label) in &all {
            // With voxels of 1.6, the centres of the third layer are on the face: above it by the
            // tie rule along x and y, and below it along z.
            let center = (f64::from(voxel[axis]) + 0.5) * size;
            let is_upper = if axis == 2 { center > 4.0 } else { center >= 4.0 };
            assert_eq!(label, i32::from(is_upper), "{voxel:?} of {size} along {axis}");
        }
        let lower = all.iter().filter(|(_, label)| *label == 0).count();
        assert!(lower > 0 && all.len() > lower);
    }
}

#[test]
fn labels_of_tiles_are_those_of_the_whole_with_any_number_of_threads() {
    let mesh = assembly(&random_parts(&mut Rng::with_seed(7)));
    for include_surface in [false, true] {
        let mode = Mode::Solid(Solid { include_surface, ..Solid::default() });
        let voxelizer = solid().mode(mode).resolution(60);
        let whole = voxelizer.clone().threads(1).run(&mesh).unwrap().grid;
        let expected = labels(&whole);
        assert!(expected == labels(&voxelizer.clone().threads(4).run(&mesh).unwrap().grid));
        let joined = joined_tiles(&voxelizer, &mesh, [2, 2, 2], whole.dims());
        assert!(labels(&joined) == expected);
        assert!(expected.iter().any(|(_, label)| *label != expected[0].1));
    }
}

#[test]
fn all_voxels_of_one_object_have_its_label() {
    for mode in [Mode::Surface, Mode::Thin, Mode::Solid(Solid::default())] {
        let grid = solid().mode(mode).resolution(20).run(sphere(1.0, 9, 9)).unwrap().grid;
        assert!(grid.occupied() > 100 && labels(&grid).iter().all(|(_, label)| *label == 0));
        let channels = grid.attributes.as_ref().unwrap().channels();
        assert_eq!(channels[&Attribute::Label].bytes(), 0);
    }
}

#[test]
fn a_body_that_is_inside_out_is_reversed_where_bodies_are_joined() {
    let (outer, inner) = (cube([0.0; 3], 8.0), cube([3.0; 3], 2.0));
    let hollow = together(&[outer.clone(), inside_out(&inner)]);
    let joined = |outer: &Mesh, inner: &Mesh| {
        let part = |(name, mesh): (&str, &Mesh)| {
            (name.to_owned(), LoadedMesh::new(mesh.clone(), Vec::new()))
        };
        LoadedMesh::join([("outer", outer), ("inner", inner)].map(part).into()).unwrap()
    };
    let said = |names: &[&str]| -> Vec<String> {
        let text = |name| format!("{name} is inside out: its triangles are reversed");
        names.iter().map(text).collect()
    };
    let same = |one: &Mesh, other: &Mesh| corners_of(one).eq(corners_of(other));
    for (parts, warnings) in [
        ([outer.clone(), inner.clone()], said(&[])),
        ([outer.clone(), inside_out(&inner)], said(&["inner"])),
        ([inside_out(&outer), inner.clone()], said(&["outer"])),
        ([inside_out(&outer), inside_out(&inner)], said(&["outer", "inner"])),
    ] {
        let found = joined(&parts[0], &parts[1]);
        assert_eq!(found.warnings, warnings);
        assert!(same(&found.mesh, &together(&[outer.clone(), inner.clone()])), "{warnings:?}");
    }
    // Cavities stay, and so do open meshes.
    for mesh in [hollow.clone(), inside_out(&lidless_cube([0.0; 3], 8.0))] {
        let found = joined(&mesh, &inner);
        assert_eq!(found.warnings, said(&[]));
        assert!(same(&found.mesh, &together(&[mesh, inner.clone()])));
    }
    assert_eq!(joined(&inside_out(&hollow), &inner).warnings, said(&["outer"]));
    // Corners keep their texture coordinates.
    let uvs = |mesh: &Mesh| {
        let of = |corners: [Point; 3]| corners.map(|[x, y, z]| [(x + z) as f32, (y - z) as f32]);
        corners_of(mesh).map(of).collect::<Vec<_>>()
    };
    let reversed = inside_out(&outer);
    let look = Appearance {
        materials: vec![Material::default()],
        uvs: uvs(&reversed),
        ..Appearance::default()
    };
    let found = joined(&reversed.with_appearance(look).unwrap(), &outer).mesh;
    assert_eq!(found.appearance().unwrap().uvs[..12], uvs(&found)[..12]);
}

#[test]
fn a_joined_mesh_has_the_colours_of_its_parts() {
    let image = |color: Rgba| Texture::new([1, 1], vec![color]);
    let map = TextureRef { texture: 0, wrap: [Wrap::Repeat; 2], filter: Filter::Nearest };
    let textured = |color: Rgba| Appearance {
        materials: vec![Material { texture: Some(map), ..Material::default() }],
        textures: vec![image(color)],
        uvs: vec![[[0.0; 2], [1.0, 0.0], [1.0; 2]]; 2],
        ..Appearance::default()
    };
    let of_vertices = Appearance {
        materials: vec![
            Material::default(),
            Material { has_vertex_colors: true, ..Material::default() },
        ],
        material_of: vec![1, 1],
        vertex_colors: vec![[0, 65535, 0, 65535]; 4],
        ..Appearance::default()
    };
    let square = square(4.0, 0.5);
    let parts = [
        square.clone().with_appearance(textured(RED)).unwrap(),
        square.clone(),
        square.clone().with_appearance(of_vertices).unwrap(),
        square.clone().with_appearance(textured(BLUE)).unwrap(),
    ];
    let parts: Vec<Mesh> = parts
        .into_iter()
        .zip([0.0, 10.0, 20.0, 30.0])
        .map(|(part, x)| shifted(part, [x, 0.0, 0.0]))
        .collect();
    let joined = Mesh::join(["a", "b", "c", "d"].into_iter().zip(&parts)).unwrap();
    let voxelizer = Voxelizer::new().backend(BackendChoice::Cpu).attributes([Attribute::Label]);
    let grid = voxelizer.voxel_size(1.0).run(&joined).unwrap().grid;
    let colors = grid.colors.as_ref().unwrap();
    let expected = [RED, [255; 4], GREEN, BLUE];
    for (voxel, label) in labels(&grid) {
        // A square touches voxels 9 to 14, for example.
        assert_eq!(label, (voxel[0] as i32 + 5) / 10, "{voxel:?}");
        assert_eq!(colors.of(voxel), expected[label as usize], "{voxel:?}");
    }
    let plain = Mesh::join([("a", &square), ("b", &square)]).unwrap();
    assert!(plain.appearance().is_none());
    assert!(matches!(Mesh::join([]), Err(trivox::mesh::MeshError::NoTriangles)));
}
