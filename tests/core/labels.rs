//! Labels in solids: by an oracle, at faces that objects share, in tiles.

use crate::common::inside::{self, TIE_RULE};
use crate::common::prelude::*;

type Point = [f64; 3];

/// One mesh, each of `meshes` an object of it.
fn assembly(meshes: &[Mesh]) -> Mesh {
    Mesh::join(meshes.iter().map(|mesh| ("part", mesh))).unwrap()
}

fn solid(include_surface: bool) -> Voxelizer {
    let voxelizer = Voxelizer::new().backend(BackendChoice::Cpu).color(ColorSource::None);
    let solid = Solid { include_surface, ..Solid::default() };
    voxelizer.mode(Mode::Solid(solid)).attributes([Attribute::Label])
}

fn labels(grid: &VoxelGrid) -> Vec<([u32; 3], i32)> {
    let attributes = grid.attributes.as_ref().unwrap();
    grid.voxels().zip(attributes.of_voxels(grid).map(|of| of.label)).collect()
}

/// Boxes, spheres and tori that overlap, one of two parts, and one without a lid.
fn random_parts(rng: &mut Rng) -> Vec<Mesh> {
    let body = |rng: &mut Rng| {
        let by = [(); 3].map(|()| 10.0 * rng.f64());
        let mesh = match rng.u32(0..3) {
            0 => cube([0.0; 3], 1.0 + 5.0 * rng.f64()),
            1 => sphere(1.0 + 3.0 * rng.f64(), 6, 9),
            _ => torus(3.0, 1.0 + rng.f64(), 9, 6),
        };
        shifted(mesh, by)
    };
    let mut parts = vec![lidless_cube([20.0, 3.0, 3.0], 3.0)];
    for _ in 0..rng.usize(2..6) {
        let bodies: Vec<Mesh> = (0..rng.usize(1..=2)).map(|_| body(rng)).collect();
        parts.insert(rng.usize(0..=parts.len()), together(&bodies));
    }
    parts
}

#[test]
fn the_label_in_a_solid_is_the_last_closed_object_around_the_centre() {
    let mut rng = Rng::with_seed(1);
    let (mut changed, mut of_surface, mut none) = (0, 0, 0);
    for include_surface in [false, true].repeat(6) {
        let parts = random_parts(&mut rng);
        let mesh = assembly(&parts);
        let voxelizer = solid(include_surface).voxel_size(0.4 + rng.f64()).pad(1);
        let lattice = *voxelizer.place(&mesh).unwrap().mesh.lattice();
        let placed: Vec<_> = parts.iter().map(|part| place_on(part, &lattice).unwrap()).collect();
        // Without its lid a cube has ten triangles, and nothing is inside.
        let solid_of = |part: &PlacedMesh| {
            let is_closed = part.triangles().len() != 10;
            inside::solid(part, TIE_RULE, |around| is_closed && around.winding != 0)
        };
        let solids: Vec<_> = placed.iter().map(solid_of).collect();
        let surfaces: Vec<_> = placed.iter().map(surface).collect();
        for (voxel, label) in labels(&voxelizer.run(&mesh).unwrap().grid) {
            let holds = |solid: &VoxelGrid| solid.contains(voxel);
            if let Some(last) = solids.iter().rposition(holds) {
                assert_eq!(label, last as i32, "{voxel:?}");
                changed += u32::from(solids.iter().position(holds) != Some(last));
            } else if let Ok(label) = usize::try_from(label) {
                assert!(surfaces[label].contains(voxel), "{voxel:?}: {label}");
                of_surface += 1;
            } else {
                assert!(!surfaces.iter().any(holds), "{voxel:?}");
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
        let all = labels(&solid(false).voxel_size(size).run(&mesh).unwrap().grid);
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
        let voxelizer = solid(include_surface).resolution(60);
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
        let grid = solid(false).mode(mode).resolution(20).run(sphere(1.0, 9, 9)).unwrap().grid;
        assert!(grid.occupied() > 100 && labels(&grid).iter().all(|(_, label)| *label == 0));
        let channels = grid.attributes.as_ref().unwrap().channels();
        assert_eq!(channels[&Attribute::Label].bytes(), 0);
    }
}

#[test]
fn a_body_that_is_inside_out_is_reversed_where_bodies_are_joined() {
    let (outer, inner) = (cube([0.0; 3], 8.0), cube([3.0; 3], 2.0));
    let hollow = together(&[outer.clone(), inside_out(&inner)]);
    let open = inside_out(&lidless_cube([0.0; 3], 8.0));
    let join = |outer: &Mesh, inner: &Mesh| {
        let parts = [("outer", outer), ("inner", inner)];
        let part =
            |(name, mesh): (&str, &Mesh)| (name.to_owned(), LoadedMesh::new(mesh.clone(), vec![]));
        LoadedMesh::join(parts.map(part).into()).unwrap()
    };
    // Cavities stay, and so do open meshes.
    for (parts, expected, reversed) in [
        ([&outer, &inner], [&outer, &inner], &[][..]),
        ([&outer, &inside_out(&inner)], [&outer, &inner], &["inner"]),
        ([&inside_out(&outer), &inner], [&outer, &inner], &["outer"]),
        ([&inside_out(&outer), &inside_out(&inner)], [&outer, &inner], &["outer", "inner"]),
        ([&hollow, &inner], [&hollow, &inner], &[]),
        ([&inside_out(&hollow), &inner], [&hollow, &inner], &["outer"]),
        ([&open, &inner], [&open, &inner], &[]),
    ] {
        let found = join(parts[0], parts[1]);
        let said = |name: &&str| format!("{name} is inside out: its triangles are reversed");
        assert_eq!(found.warnings, reversed.iter().map(said).collect::<Vec<_>>());
        let expected = together(&expected.map(Mesh::clone));
        assert!(corners_of(&found.mesh).eq(corners_of(&expected)), "{reversed:?}");
    }
    // Corners keep their texture coordinates.
    let uvs = |mesh: &Mesh| {
        let of = |corners: [Point; 3]| corners.map(|[x, y, z]| [(x + z) as f32, (y - z) as f32]);
        corners_of(mesh).map(of).collect::<Vec<_>>()
    };
    let reversed = inside_out(&outer);
    let (materials, uvs_of_reversed) = (vec![Material::default()], uvs(&reversed));
    let look = Appearance { materials, uvs: uvs_of_reversed, ..Appearance::default() };
    let found = join(&reversed.with_appearance(look).unwrap(), &outer).mesh;
    assert_eq!(found.appearance().unwrap().uvs[..12], uvs(&found)[..12]);
}

#[test]
fn a_joined_mesh_has_the_colours_of_its_parts() {
    let square = square(4.0, 0.5);
    let of_texture = |color: Rgba| {
        let texture = Texture::new([1, 1], vec![color]);
        let uvs = [[[0.0; 2], [1.0, 0.0], [1.0; 2]]; 2];
        textured(square.clone(), Material::textured(0, &texture), texture, &uvs)
    };
    let has_vertex_colors = Material { has_vertex_colors: true, ..Material::default() };
    let look = Appearance {
        materials: vec![Material::default(), has_vertex_colors],
        material_of: vec![1, 1],
        vertex_colors: vec![linear_of_rgba(GREEN); 4],
        ..Appearance::default()
    };
    let of_vertices = square.clone().with_appearance(look).unwrap();
    let parts = [of_texture(RED), square.clone(), of_vertices, of_texture(BLUE)];
    let parts: Vec<Mesh> = (0..)
        .zip(parts)
        .map(|(part, mesh)| shifted(mesh, [10.0 * f64::from(part), 0.0, 0.0]))
        .collect();
    let joined = Mesh::join(["a", "b", "c", "d"].into_iter().zip(&parts)).unwrap();
    let voxelizer = solid(false).mode(Mode::Surface).color(ColorSource::Mesh);
    let grid = voxelizer.voxel_size(1.0).run(&joined).unwrap().grid;
    for (voxel, label) in labels(&grid) {
        // A square touches voxels 9 to 14, for example.
        assert_eq!(label, (voxel[0] as i32 + 5) / 10, "{voxel:?}");
        let expected = [RED, [255; 4], GREEN, BLUE][label as usize];
        assert_eq!(grid.color(voxel), Some(expected), "{voxel:?}");
    }
    let plain = Mesh::join([("a", &square), ("b", &square)]).unwrap();
    assert!(plain.appearance().is_none());
    assert!(matches!(Mesh::join([]), Err(trivox::mesh::MeshError::NoTriangles)));
}
