//! Thin surfaces: nothing passes them from face to face, and they are no thicker than that takes.
use crate::common::paths;
use crate::common::prelude::*;

fn thin(mesh: &PlacedMesh) -> VoxelGrid {
    in_mode(mesh, Mode::Thin).grid
}

fn inside(mesh: &PlacedMesh) -> VoxelGrid {
    solid(mesh, Fill::Parity).0
}

/// A step from face to face between voxels that are not of `thin`, one inside and one outside; past
/// the grid is outside.
fn passage(inside: &VoxelGrid, thin: &VoxelGrid) -> Option<[u32; 3]> {
    let dims = inside.dims();
    inside.subtract(thin).voxels().find(|&voxel| {
        let is_at_border = (0..3).any(|a| voxel[a] == 0 || voxel[a] == dims[a] - 1);
        let mut beside = paths::neighbours(voxel, dims);
        is_at_border || beside.any(|v| !inside.contains(v) && !thin.contains(v))
    })
}

/// No path avoids the thin surface; returns how many voxels it shuts in.
fn assert_separates(mesh: &PlacedMesh, what: &str) -> u64 {
    let (inside, thin) = (inside(mesh), thin(mesh));
    assert_eq!(passage(&inside, &thin), None, "{what}");
    let reached = paths::reached_from_outside(&thin);
    let entered = reached.intersection(&inside);
    assert_eq!(entered.occupied(), 0, "{what}: {:?}", entered.voxels().next());
    inside.subtract(&thin).occupied()
}

/// Closed surfaces, by name.
fn closed() -> Vec<(String, Mesh)> {
    let mut meshes = vec![
        ("cube".to_owned(), cube([0.0; 3], 1.0)),
        ("sphere".to_owned(), sphere(1.0, 24, 48)),
        ("torus".to_owned(), torus(1.0, 0.4, 48, 24)),
        ("Klein bottle".to_owned(), klein_bottle(40, 24)),
    ];
    let Some(folder) = environment::models() else { return meshes };
    for name in ["spot.obj", "fandisk.obj"] {
        meshes.push((name.to_owned(), read_mesh(folder.join(name)).unwrap().mesh));
    }
    meshes
}

#[test]
fn no_path_from_face_to_face_passes_a_closed_surface() {
    let mut shut_in = 0;
    for (name, mesh) in closed() {
        for resolution in [1, 2, 3, 7, 8, 16, 33, 48, 65, 100] {
            let mesh = at_resolution(&mesh, resolution);
            shut_in += assert_separates(&mesh, &format!("{name} at {resolution}"));
        }
    }
    assert!(shut_in > 1_000_000, "{shut_in}");
}

#[test]
fn no_path_passes_what_is_folded_and_lies_on_centres_faces_and_edges() {
    let mut shut_in = 0;
    for round in 0..400 {
        let mut rng = Rng::with_seed(round);
        let half = [UNIT / 2, UNIT / 4, 1001][round as usize % 3];
        let reach = 20 * UNIT / half;
        let triangles = if round % 2 == 0 {
            crumpled_torus(&mut rng, 5, 4, half, reach)
        } else {
            let mut corner = || [(); 3].map(|()| rng.i32(0..=reach) * half);
            (0..3).flat_map(|_| tetrahedron([(); 4].map(|()| corner()))).collect()
        };
        shut_in += assert_separates(&placed(&triangles, [20; 3]), &format!("round {round}"));
    }
    assert!(shut_in > 10_000, "{shut_in}");
}

#[test]
fn one_voxel_less_is_a_passage_where_it_parts_two_sides() {
    for (name, mesh) in closed() {
        let mesh = at_resolution(&mesh, 24);
        let (inside, thin) = (inside(&mesh), thin(&mesh));
        let parting: Vec<[u32; 3]> = (thin.voxels())
            .filter(|&voxel| {
                let open = paths::neighbours(voxel, thin.dims()).filter(|&v| !thin.contains(v));
                let (within, outside): (Vec<_>, Vec<_>) = open.partition(|&v| inside.contains(v));
                let past_the_grid = (0..3).any(|a| [0, thin.dims()[a] - 1].contains(&voxel[a]));
                !within.is_empty() && (past_the_grid || !outside.is_empty())
            })
            .collect();
        assert!(parting.len() > 100, "{name}: {}", parting.len());
        for voxel in parting.into_iter().step_by(17) {
            let pierced = thin.subtract(&block(thin.dims(), voxel, voxel.map(|c| c + 1)));
            assert!(passage(&inside, &pierced).is_some(), "{name}: {voxel:?}");
        }
    }
}

/// A sheet across `axis` that covers the grid of `n` voxels along each axis, with the height at
/// each corner in lattice units.
fn sheet(axis: Axis, n: u32, height: impl Fn([i32; 2]) -> i32) -> PlacedMesh {
    let end = n as i32;
    let corner = |[p, q]: [i32; 2]| axis.unproject([p * UNIT, q * UNIT], height([p, q]));
    let [a, b, c, d] = [[0, 0], [end, 0], [end, end], [0, end]].map(corner);
    placed(&[[a, b, c], [a, c, d]], [n; 3])
}

fn layer(axis: Axis, n: u32, index: u32) -> VoxelGrid {
    grid_where([n; 3], |voxel| voxel[axis as usize] == index)
}

#[test]
fn a_level_sheet_is_one_layer_thick_wherever_it_lies() {
    const N: u32 = 9;
    for axis in Axis::ALL {
        for voxel in 0..N {
            // A face, just past it, the centre and beside it, and just before the next face.
            for offset in [0, 1, UNIT / 2 - 1, UNIT / 2, UNIT / 2 + 1, 12_345, UNIT - 1] {
                let thin = thin(&sheet(axis, N, |_| voxel as i32 * UNIT + offset));
                assert!(thin == layer(axis, N, voxel), "{axis:?}, {voxel} and {offset}");
                assert!(thin != layer(axis, N, (voxel + 1) % N));
            }
        }
        // On the far face, in the last layer.
        for n in [1, 7, 8, 9, 64] {
            let mesh = sheet(axis, n, |_| n as i32 * UNIT);
            assert!(thin(&mesh) == layer(axis, n, n - 1), "{axis:?}, {n}");
        }
    }
    // A cube's far sides, too: its thin surface is the outermost layer of all six.
    let mesh = at_resolution(&cube([0.0; 3], 1.0), 10);
    assert_eq!(thin(&mesh).occupied(), 1000 - 512);
}

#[test]
fn a_slanted_sheet_has_one_voxel_in_each_column_across_it() {
    const N: u32 = 24;
    let mut rng = Rng::with_seed(3);
    for round in 0..120 {
        let axis = Axis::ALL[round % 3];
        // It rises less than a voxel from column to column.
        let slope = [(); 2].map(|()| rng.i32(-UNIT + 1..UNIT) / 3);
        let rise = |[p, q]: [i32; 2]| p * slope[0] + q * slope[1];
        let base = N as i32 * UNIT / 2 + 257 - rise([N as i32 / 2; 2]);
        let grid = thin(&sheet(axis, N, |corner| base + rise(corner)));
        let mut columns: BTreeMap<[i32; 2], u32> = BTreeMap::new();
        for voxel in grid.voxels() {
            *columns.entry(axis.project(voxel.map(|c| c as i32)).0).or_default() += 1;
        }
        assert_eq!(columns.len(), (N * N) as usize, "round {round}");
        assert!(columns.values().all(|&count| count == 1), "round {round}: {grid:?}");
    }
}

#[test]
fn subdivision_changes_nothing() {
    let mut rng = Rng::with_seed(4);
    for round in 0..100 {
        let step = [UNIT / 2, UNIT, 4][round % 3];
        let triangles = soup(&mut rng, 30, 16 * UNIT, step);
        let coarse = thin(&placed(&triangles, [16; 3]));
        let once: Vec<Triangle> = triangles.iter().flat_map(into_four).collect();
        let twice: Vec<Triangle> = once.iter().flat_map(into_four).collect();
        assert!(thin(&placed(&once, [16; 3])) == coarse, "round {round}, once");
        assert!(thin(&placed(&twice, [16; 3])) == coarse, "round {round}, twice");
        assert!(thin(&placed(&once[..once.len() / 2], [16; 3])) != coarse, "half of it");
    }
}

#[test]
fn the_thin_surface_is_part_of_the_surface() {
    let mut rng = Rng::with_seed(5);
    let (mut all, mut touched) = (0, 0);
    for round in 0..100 {
        let triangles = soup(&mut rng, 30, 16 * UNIT, [UNIT / 2, 1][round % 2]);
        let mesh = placed(&triangles, [12, 16, 9]);
        let (thin, surface) = (thin(&mesh), surface(&mesh));
        assert_eq!(thin.subtract(&surface).occupied(), 0, "round {round}");
        (all, touched) = (all + thin.occupied(), touched + surface.occupied());
    }
    assert!(all > 10_000 && all < touched, "{all} of {touched}");
}

#[test]
fn a_single_small_triangle_may_be_in_no_voxel_but_a_closed_surface_about_a_centre_never_is() {
    let small = mesh_of(&[[[1.1, 1.1, 1.1], [1.3, 1.1, 1.1], [1.1, 1.3, 1.2]]]);
    assert_eq!(thin(&in_grid(&small, [4; 3])).occupied(), 0);
    let around = in_grid(&cube([1.4; 3], 0.2), [4; 3]);
    assert_eq!(thin(&around).voxels().collect::<Vec<_>>(), [[1; 3]]);
}
