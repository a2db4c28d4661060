//! Distances: against fractions of big integers, by brute force.

use std::cmp::Ordering;

use crate::common::distances::{Fraction, is_nearest, random_mesh, squared};
use crate::common::prelude::*;
use num_bigint::BigInt;
use trivox::solid::distance::{DistanceField, MAX_WIDTH, distances};

/// The distances of these triangles without an inside.
fn unsigned(mesh: &PlacedMesh, width: f32) -> DistanceField {
    field(mesh, VoxelGrid::empty(mesh.lattice().dims).unwrap(), width)
}

fn field(mesh: &PlacedMesh, inside: VoxelGrid, width: f32) -> DistanceField {
    distances(&Cpu, mesh, inside, width, u64::MAX, &NoProgress).unwrap()
}

/// Checks all voxels of a field without an inside.
fn check(mesh: &PlacedMesh, field: &DistanceField) {
    let bits = mesh.lattice().fraction_bits;
    let mut band: HashMap<[u32; 3], f32> = field.distances().collect();
    assert!(!band.is_empty());
    for voxel in voxels_in([0; 3], field.dims()) {
        let p = voxel.map(|c| (i128::from(2 * c + 1) << bits) / 2);
        let all = mesh.triangles().map(|triangle| squared(p, &triangle));
        let nearest = all.min_by(Fraction::cmp).unwrap();
        if let Some(distance) = band.remove(&voxel) {
            assert!(distance < field.width());
            assert_eq!(field.get(voxel), distance);
            assert!(is_nearest(distance, &nearest, bits), "{voxel:?}: {distance}");
        } else {
            assert_eq!(field.get(voxel), field.width());
            let width = BigInt::from((field.width() * 1024.0) as i64) << bits;
            let far = (&width * &width * &nearest.1).cmp(&(&nearest.0 << 20));
            assert!(far != Ordering::Greater, "{voxel:?} is missing");
        }
    }
    assert_eq!(band, HashMap::new());
}

#[test]
fn every_distance_is_the_float_nearest_to_the_exact_one() {
    let mut random = fastrand::Rng::with_seed(15);
    for round in 0..60 {
        let mesh = random_mesh(random.usize(1..12), &mut random);
        let options =
            if round % 2 == 0 { resolution(random.u32(3..14)) } else { voxel_size(0.125) };
        let mesh = padded(&mesh, options, random.u32(0..5));
        let field = unsigned(&mesh, [0.5, 1.0, 2.5, 3.0, 6.0][random.usize(0..5)]);
        if field.band().occupied() > 0 {
            check(&mesh, &field);
        }
    }
}

#[test]
fn culling_clusters_of_triangles_misses_no_nearest_one() {
    let mut random = fastrand::Rng::with_seed(18);
    for width in [2.0, 7.5, 40.0] {
        let (small, large) = (random_mesh(200, &mut random), random_mesh(3, &mut random));
        let mesh = at_resolution(&together(&[small, large]), 18);
        check(&mesh, &unsigned(&mesh, width));
    }
}

#[test]
fn triangles_across_a_large_lattice_are_as_exact() {
    // A window of 16 voxels in the middle of triangles that span 2^24 lattice units.
    let mut random = fastrand::Rng::with_seed(16);
    for _ in 0..6 {
        let mut far = || [0; 3].map(|_| (random.f64() - 0.5) * 200.0);
        let triangles = [(); 3].map(|()| [far(), far(), far()]);
        let [a, b, c] = triangles[0];
        let center = plus(plus(a, b), c).map(|sum| sum / 3.0);
        let [min, max] = [-8.0, 8.0].map(|half| center.map(|c| c + half));
        let mesh = within(&mesh_of(&triangles), 1.0, min, max);
        check(&mesh, &unsigned(&mesh, 4.0));
    }
}

#[test]
fn centres_in_the_plane_of_a_large_triangle_are_at_distance_0() {
    // On the plane x + 2 y + 3 z = 51; by f64 alone some of its centres are beside it.
    let at = |s: f64, t: f64| [8.5 + 2.0 * s + 3.0 * t, 8.5 - s, 8.5 - t];
    // Lattice points with as many digits as there may be.
    let units = |whole: f64, units: f64| whole + units / 65536.0;
    let mesh = mesh_of(&[[
        at(units(31.0, 12345.0), units(5.0, 7919.0)),
        at(-units(20.0, 4321.0), units(17.0, 54321.0)),
        at(-units(10.0, 777.0), -units(25.0, 23457.0)),
    ]]);
    let mesh = in_grid(&mesh, [16; 3]);
    let field = unsigned(&mesh, 1.5);
    check(&mesh, &field);
    assert!(field.distances().filter(|&(_, distance)| distance == 0.0).count() > 50);
}

#[test]
fn a_sample_is_the_trilinear_interpolation_of_eight_voxels() {
    let mut random = fastrand::Rng::with_seed(21);
    let mesh = padded(&random_mesh(8, &mut random), resolution(19), 2);
    let dims = mesh.lattice().dims;
    let field = field(&mesh, scattered(dims, 900, &mut random), 2.5);
    assert_eq!(field.dims(), dims);
    let [nx, ny, nz] = dims.map(|d| d as usize);
    let mut dense = vec![0.0; nx * ny * nz];
    field.fill_dense(&mut dense);
    let value = |[x, y, z]: [usize; 3]| f64::from(dense[(x * ny + y) * nz + z]);
    for voxel in voxels_in([0; 3], dims) {
        let expected = value(voxel.map(|c| c as usize)) as f32;
        assert_eq!(field.sample(voxel.map(|c| f64::from(c) + 0.5)), Some(expected), "{voxel:?}");
        assert_eq!(field.get(voxel), expected, "{voxel:?}");
    }
    for _ in 0..2000 {
        let point = dims.map(|d| random.f64() * f64::from(d));
        // The weight of each voxel is the overlap of unit cubes around it and around the point.
        let near = [0, 1, 2].map(|a| (point[a] - 0.5).clamp(0.0, f64::from(dims[a] - 1)));
        let share = |voxel: [usize; 3], a: usize| 1.0 - (near[a] - voxel[a] as f64).abs();
        let weight = |voxel| (0..3).map(|a| share(voxel, a)).product::<f64>();
        let first = near.map(|c| c as usize);
        let corners = (0..8).map(|c| [0, 1, 2].map(|a| first[a] + (c >> a & 1)));
        let corners = corners.filter(|c| c[0] < nx && c[1] < ny && c[2] < nz);
        let expected: f64 = corners.map(|voxel| weight(voxel) * value(voxel)).sum();
        let found = field.sample(point).unwrap();
        assert!((f64::from(found) - expected).abs() < 1e-6, "{point:?}: {found}, {expected}");
    }
    let [x, y, z] = dims.map(f64::from);
    assert_eq!(field.sample([x, y, z]), Some(field.get(dims.map(|d| d - 1))));
    for outside in [[-0.1, 1.0, 1.0], [1.0, y + 0.1, 1.0], [1.0, 1.0, f64::NAN]] {
        assert_eq!(field.sample(outside), None, "{outside:?}");
    }
}

#[test]
fn segments_and_points_have_distances() {
    let mesh = mesh_of(&[[[0.0; 3], [4.0, 3.0, 2.0], [8.0, 6.0, 4.0]], [[1.0, 7.0, 1.0]; 3]]);
    let mesh = padded(&mesh, voxel_size(1.0), 2);
    check(&mesh, &unsigned(&mesh, 2.0));
}

#[test]
fn an_octahedron_has_the_distances_of_its_formula() {
    let mesh = padded(&octahedron(1.0), resolution(96), 3);
    let solid = in_mode(&mesh, Mode::Solid(Solid::default())).grid;
    let field = field(&mesh, solid, 3.0);
    // The distances of more bricks than one thread copies.
    assert!(field.band().brick_count() > 500, "{field:?}");
    let mut faces = 0;
    for (voxel, distance) in field.distances() {
        let [x, y, z] = voxel.map(|c| (f64::from(c) + 0.5 - 51.0).abs());
        let height = (x + y + z - 48.0) / 3.0_f64.sqrt();
        // Above a face, where the foot is in it.
        let foot = [x, y, z].map(|c| c - height / 3.0_f64.sqrt());
        if foot.into_iter().all(|c| c >= 0.0) {
            faces += 1;
            assert!((f64::from(distance) - height).abs() < 1e-6, "{voxel:?}");
        }
        assert_eq!(distance < 0.0, height < 0.0, "{voxel:?}");
    }
    assert!(faces > 10_000);
    assert_eq!(field.get([51, 51, 51]), -3.0);
    assert_eq!(field.get([0, 0, 0]), 3.0);
    assert_eq!([102, 70_000, u32::MAX].map(|x| field.get([x, 0, 0])), [3.0; 3]);
}

#[test]
fn order_of_triangles_and_number_of_threads_change_nothing() {
    let mut random = fastrand::Rng::with_seed(17);
    let mesh = random_mesh(400, &mut random);
    let expected = unsigned(&padded(&mesh, resolution(60), 3), 3.0);
    let mut triangles = mesh.triangles().to_vec();
    random.shuffle(&mut triangles);
    triangles.iter_mut().for_each(|triangle| triangle.rotate_left(random.usize(0..3)));
    let shuffled = padded(&with_triangles(&mesh, triangles), resolution(60), 3);
    for threads in [1, 2, 5] {
        let again = on_threads(threads, || unsigned(&shuffled, 3.0));
        assert!(again == expected, "{again:?}, {expected:?}");
        assert_eq!(again.hash(), expected.hash());
    }
}

#[test]
fn a_repeated_triangle_is_one() {
    let corners = vec![[0.0; 3], [30.0, 4.0, 9.0], [7.0, 25.0, 3.0], [1.0; 3]];
    let field_of = |copies: usize| {
        let mut triangles = vec![[0, 1, 2]; copies];
        triangles.push([1, 2, 3]);
        let mesh = Mesh::new(corners.clone(), triangles).unwrap();
        unsigned(&padded(&mesh, voxel_size(1.0), 3), 3.0)
    };
    assert!(field_of(1) == field_of(1000));
}

#[test]
fn progress_ends_at_its_total_and_cancelling_ends_the_work() {
    let mesh = padded(&octahedron(1.0), resolution(60), 40);
    let inside = || VoxelGrid::empty(mesh.lattice().dims).unwrap();
    let run = |progress: &Counts| distances(&Cpu, &mesh, inside(), 2.0, u64::MAX, progress);
    assert_eq!(checked_progress(run), 18 * 18 * 18, "the bricks");
}

#[test]
fn impossible_widths_are_refused() {
    let mesh = octahedron(1.0);
    let placed = at_resolution(&mesh, 8);
    for width in [0.0, -1.0, MAX_WIDTH.next_up(), f32::INFINITY, f32::NAN] {
        let inside = surface(&placed);
        let of_steps = distances(&Cpu, &placed, inside, width, u64::MAX, &NoProgress).unwrap_err();
        let of_all = Voxelizer::new().resolution(8).distances(&mesh, width).unwrap_err();
        for error in [of_steps.to_string(), of_all.to_string()] {
            assert!(error.starts_with("a width of ") && error.ends_with("at most 1024"), "{error}");
        }
    }
}

#[test]
fn what_rounds_to_the_width_is_not_in_the_band() {
    // The middle of two floats, in lattice units. Lengths whose squares differ from its square by 1
    // are equal to it in `f64`.
    const MIDDLE: u32 = 20_000_001;
    let lattice = lattice_at([0.0; 3], 1.0, [1; 3], 15);
    let in_voxels = |units: u32| (f64::from(units) / lattice.scale) as f32;
    let longer = [15_141_264, 10_089_991, 8_302_665];
    let shorter = [15_102_400, 3_466_128, 12_645_296];
    let nearest = vec![([0; 3], in_voxels(MIDDLE - 1))];
    for (from_center, band) in [(longer, vec![]), (shorter, nearest)] {
        let corner = from_center.map(|units| f64::from(units) / lattice.scale + 0.5);
        let beyond = |axis: usize| [0, 1, 2].map(|a| corner[a] + f64::from(u8::from(a == axis)));
        let mesh = mesh_of(&[[corner, beyond(0), beyond(1)]]);
        let mesh = place_on(&mesh, &lattice).unwrap();
        let field = unsigned(&mesh, in_voxels(MIDDLE + 1));
        assert_eq!(field.distances().collect::<Vec<_>>(), band);
    }
}
