//! Solids of meshes with holes, against the sum of the solid angles of all triangles; meshes that
//! lost a part, or have parts that face the wrong way, and what they enclose all the same.

use crate::common::inside::winding_number;
use crate::common::prelude::*;
use rayon::prelude::*;

fn at_resolution(mesh: &Mesh, n: u32) -> PlacedMesh {
    padded(mesh, resolution(n), 2)
}

/// Expects every voxel as its winding number says, unless that is within an error of 1/2; returns
/// how many voxels there are, and how many were left out.
fn assert_as_sum(mesh: &PlacedMesh, grid: &VoxelGrid, what: &str) -> [u64; 2] {
    let [nx, ny, nz] = mesh.lattice().dims;
    let center = |c: u32| (f64::from(c) + 0.5) * f64::from(mesh.lattice().units_per_voxel());
    let count = |x: u32| {
        let mut near = 0;
        for voxel in voxels_in([x, 0, 0], [x + 1, ny, nz]) {
            let number = winding_number(mesh, voxel.map(center));
            if (number - 0.5).abs() < 1e-7 {
                near += 1;
            } else {
                assert_eq!(grid.contains(voxel), number > 0.5, "{what}: {voxel:?}: {number}");
            }
        }
        near
    };
    [grid.occupied(), (0..nx).into_par_iter().map(count).sum()]
}

/// Meshes with holes, whose front sides are outside.
fn broken_meshes() -> Vec<(String, Mesh)> {
    let ball = sphere(5.0, 16, 24);
    let count = ball.triangles().len();
    let mut rng = Rng::with_seed(4);
    let lost: Vec<bool> = (0..count).map(|_| rng.f32() < 0.1).collect();
    let bodies = [sphere(4.0, 12, 16), shifted(sphere(3.0, 12, 16), [3.0, 1.0, 0.5])];
    let overlapping = together(&bodies.map(|ball| without(&ball, |index| index % 17 == 3)));
    let fine = sphere(5.0, 24, 36);
    let one = cube([0.0; 3], 3.0);
    let wall = quad([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]].map(|[y, z]| [1.4, y, z]));
    let meshes = [
        ("a ball with hundreds of holes", without(&fine, |index| index % 7 == 3)),
        ("a bowl", without(&ball, |index| index < count / 3)),
        ("a ball with small holes", without(&ball, |index| lost[index])),
        ("a ball with a slit", without(&ball, |index| index % 24 == 0)),
        ("a lidless cube", lidless_cube([-1.0; 3], 2.1)),
        ("balls that overlap", overlapping),
        ("a torus that is cut", without(&torus(4.0, 1.5, 24, 12), |index| index < 40)),
        ("a ball of triangles apart", apart(&fine, 0.9)),
        ("a wall within", together(&[one.clone(), wall])),
    ];
    meshes.map(|(name, mesh)| (name.to_owned(), mesh)).into()
}

#[test]
fn a_solid_is_where_the_solid_angles_of_all_triangles_add_up_to_half_of_all_directions() {
    for (name, mesh) in broken_meshes() {
        for resolution in [5, 13, 40] {
            let mesh = at_resolution(&mesh, resolution);
            let (grid, filling) = solid(&mesh, Fill::Auto);
            assert_eq!(filling.fill, Fill::Winding, "{name}");
            assert_eq!(filling.flips.flipped_triangles, 0, "{name}");
            let what = format!("{name} at {resolution}");
            let [inside, near] = assert_as_sum(&mesh, &grid, &what);
            assert!(inside > 0 && near < 40 * 40 * 2, "{what}: {inside}, {near}");
        }
    }
}

#[test]
fn holes_before_the_grid_are_capped_within_it() {
    let (mut inside, mut with_caps) = (0, 0);
    for (name, mesh) in broken_meshes() {
        let [mut lo, hi] = mesh.bounds();
        lo[0] = 0.6 * lo[0] + 0.4 * hi[0];
        let bounds = Bounds { min: lo, max: hi };
        let mesh = place(&mesh, &resolution(24).with_bounds(bounds)).unwrap();
        let (grid, filling) = solid(&mesh, Fill::Winding);
        inside += assert_as_sum(&mesh, &grid, &name)[0];
        with_caps += usize::from(filling.findings.boundary_loops.is_some());
    }
    assert!(inside > 10_000 && with_caps > 4, "{inside}, {with_caps}");
}

#[test]
fn a_tube_that_begins_before_the_grid_is_filled_up_to_its_end_within_it() {
    // Columns that begin inside cross no wall. In some bricks, columns on both sides of a wall
    // begin.
    let tube = cuboid([-12.3, 3.3, 5.2], [30.4, 21.7, 27.9]);
    let tube = without(&tube, |index| index < 4);
    let mesh = in_grid(&tube, [40, 26, 35]);
    let (grid, filling) = solid(&mesh, Fill::Auto);
    assert_eq!(filling.findings.boundary_loops, Some(2));
    let [inside, near] = assert_as_sum(&mesh, &grid, "a tube");
    assert_eq!((inside, near), (30 * 19 * 23, 0));
}

#[test]
fn closed_meshes_that_lost_their_caps_keep_their_volume() {
    let ball = sphere(5.0, 24, 48);
    let long = torus(6.0, 1.0, 96, 24);
    for (name, whole, broken) in [
        ("a ball", &ball, without(&ball, |index| index < 48 * 5)),
        ("a torus in two parts", &long, without(&long, |index| index % 2304 < 48)),
        ("a ball with hundreds of holes", &ball, without(&ball, |index| index % 7 == 0)),
        ("a ball of triangles apart", &ball, apart(&ball, 0.97)),
    ] {
        let [whole, broken] =
            [whole, &broken].map(|mesh| solid(&at_resolution(mesh, 100), Fill::Auto).1);
        let share = broken.voxel_volume / whole.voxel_volume;
        println!("{name}: {share} of the volume; {:?} loops", broken.findings.boundary_loops);
        assert!((share - 1.0).abs() < 0.01, "{name}: {share}");
    }
}

#[test]
fn parts_that_face_the_wrong_way_are_flipped_and_counted() {
    let ball = without(&sphere(5.0, 16, 24), |index| index % 50 == 7);
    let count = ball.triangles().len();
    let both = together(&[ball.clone(), shifted(ball.clone(), [11.0, 0.0, 0.0])]);
    let turned = |mesh: &Mesh, is_turned: &mut dyn FnMut(usize) -> bool| {
        let turn = |(index, &[a, b, c]): (usize, &[u32; 3])| {
            if is_turned(index) { [a, c, b] } else { [a, b, c] }
        };
        with_triangles(mesh, mesh.triangles().iter().enumerate().map(turn).collect())
    };
    for (what, right, wrong, triangles) in [
        ("a triangle", &ball, turned(&ball, &mut |index| index == 100), 1),
        ("each third", &ball, turned(&ball, &mut |index| index % 3 == 0), count.div_ceil(3)),
        ("all", &ball, inside_out(&ball), count),
        ("a part beside another", &both, turned(&both, &mut |index| index >= count), count),
    ] {
        let (expected, as_given) = solid(&at_resolution(right, 40), Fill::Auto);
        let (grid, filling) = solid(&at_resolution(&wrong, 40), Fill::Auto);
        assert!(grid == expected, "{what}");
        assert_eq!(as_given.flips.flipped_triangles, 0, "{what}");
        let flipped = [filling.flips.flipped_patches, filling.flips.flipped_triangles];
        assert_eq!(flipped, [1, triangles as u64], "{what}");
        assert_eq!(filling.doubts, [], "{what}");
    }
    // Triangles that are all apart, with gaps between them, each a patch of its own.
    let apart = apart(&sphere(5.0, 24, 48), 0.95);
    let mut rng = Rng::with_seed(9);
    let mixed = turned(&apart, &mut |_| rng.bool());
    let [expected, found] =
        [&apart, &mixed].map(|mesh| solid(&at_resolution(mesh, 40), Fill::Auto));
    assert!(found.0 == expected.0);
    assert_eq!(found.1.fill, Fill::Winding);
    assert_eq!(found.1.findings.boundary_loops, Some(apart.triangles().len() as u64));
}

#[test]
fn order_and_threads_change_nothing() {
    let mode = by_fill(Fill::Auto);
    let mut rng = Rng::with_seed(9);
    for (name, mesh) in broken_meshes() {
        let expected = solid(&at_resolution(&mesh, 48), Fill::Auto);
        let mut triangles = mesh.triangles().to_vec();
        rng.shuffle(&mut triangles);
        let shuffled = at_resolution(&with_triangles(&mesh, triangles), 48);
        for threads in [1, 2, 5] {
            let run = || voxelize(&Cpu, &shuffled, mode, &Default::default(), &NoProgress);
            let voxels = on_threads(threads, run).unwrap();
            assert!(voxels.grid == expected.0, "{name}: {threads} threads");
            let filling = voxels.fill_report.unwrap();
            assert_eq!(filling.sentence(), expected.1.sentence(), "{name}");
            assert_eq!(filling.findings, expected.1.findings, "{name}");
        }
    }
}

#[cfg(feature = "gpu")]
#[test]
fn every_backend_gives_the_same_solid_and_the_same_report() {
    let mode = by_fill(Fill::Auto);
    for adapter in crate::common::gpu::adapters() {
        let gpu = trivox::Gpu::new(&adapter).unwrap();
        for (name, mesh) in broken_meshes() {
            let mesh = at_resolution(&mesh, 48);
            let (expected, report) = solid(&mesh, Fill::Auto);
            let voxels = voxelize(&gpu, &mesh, mode, &Default::default(), &NoProgress).unwrap();
            assert!(voxels.grid == expected, "{name}, {}", adapter.label());
            let filling = voxels.fill_report.unwrap();
            assert_eq!(filling.sentence(), report.sentence(), "{name}, {}", adapter.label());
        }
    }
}
