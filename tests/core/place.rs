//! `place`: the bit budget, the sizes of grids, rounding, and what is refused.
use crate::common::prelude::*;
use crate::common::shapes::cuboid;
use trivox::lattice::transform::CenteredGrid;
use trivox::lattice::{
    MAX_DIM, MAX_FRACTION_BITS, MAX_SPAN_VOXELS, MIN_CUBE, MIN_FRACTION_BITS, SPAN_BITS,
};
use trivox::{MeshError, Transform};

fn lattice(mesh: &Mesh, options: &PlaceOptions) -> Lattice {
    *place(mesh, options).unwrap().lattice()
}

/// Smallest and largest lattice coordinate per axis.
fn extremes(placed: &PlacedMesh) -> [[i32; 2]; 3] {
    std::array::from_fn(|a| {
        let values = || placed.triangles().flatten().map(move |p| p[a]);
        [values().min().unwrap(), values().max().unwrap()]
    })
}

/// Resolutions around every power of two, and all small ones.
fn resolutions() -> impl Iterator<Item = u32> {
    let powers = (9..=16).map(|bits| 1u32 << bits).flat_map(|n| [n - 1, n, n + 1]);
    (1..=300).chain(powers).filter(|&n| n <= MAX_DIM)
}

#[test]
fn fraction_bits_follow_the_formula_at_every_resolution_and_padding() {
    let mesh = unit_cube();
    for (n, pad) in resolutions().flat_map(|n| [0, 1, 5, 100].map(|pad| (n, pad))) {
        let largest = n + 2 * pad;
        if largest > MAX_DIM {
            continue;
        }
        let lattice = lattice(&mesh, &resolution(n).with_pad(pad));
        let ceil_log2 = (0..).find(|&bits| 1u32 << bits >= largest).unwrap();
        assert_eq!(lattice.fraction_bits, 16.min(24 - ceil_log2), "{n} voxels, padding {pad}");
        assert_eq!(lattice.fraction_bits_of_grid(), lattice.fraction_bits);
        assert_eq!(lattice.dims, [largest; 3]);
    }
}

#[test]
fn a_box_is_as_many_voxels_along_one_axis_as_asked_for() {
    let mut rng = Rng::with_seed(4);
    for n in 1..=300 {
        let size = 10f64.powi(rng.i32(-5..=5));
        let min: [f64; 3] = std::array::from_fn(|_| (rng.f64() - 0.5) * 100.0 * size);
        let edges: [f64; 3] = std::array::from_fn(|_| size * (0.1 + rng.f64()));
        let mesh = cuboid(min, [0, 1, 2].map(|a| min[a] + edges[a]));
        for axis in 0..3 {
            let options = PlaceOptions::new(Sizing::Along { axis, voxels: n });
            let placed = place(&mesh, &options.with_pad(n % 3)).unwrap();
            let lattice = placed.lattice();
            let [low, high] = extremes(&placed)[axis];
            assert_eq!(high - low, n as i32 * lattice.units_per_voxel(), "{n} along {axis}");
            assert_eq!(lattice.dims[axis], n + 2 * (n % 3));
        }
    }
    // Along the longest axis it is the resolution.
    let mesh = cuboid([0.0; 3], [1.0, 3.0, 2.0]);
    let along = |axis, voxels| PlaceOptions::new(Sizing::Along { axis, voxels });
    assert_eq!(lattice(&mesh, &along(1, 77)), lattice(&mesh, &resolution(77)));
    let flat = cuboid([0.0; 3], [1.0, 0.0, 2.0]);
    for axis in [1, 3] {
        let refused = place(&flat, &along(axis, 8)).unwrap_err();
        assert!(matches!(refused, PlaceError::NoLength(at) if at == axis), "{refused}");
    }
    assert!(matches!(place(&mesh, &along(0, 0)), Err(PlaceError::Resolution(0))));
    let thin = cuboid([0.0; 3], [1e-6, 1.0, 1.0]);
    assert!(matches!(place(&thin, &along(0, 9)), Err(PlaceError::TooManyVoxels { .. })));
}

#[test]
fn a_cube_far_from_the_origin_is_the_same_cube() {
    let near = place(&unit_cube(), &resolution(256)).unwrap();
    let at = [1e7, -1e7, 3e7];
    let far = place(&cuboid(at, at.map(|c| c + 1.0)), &resolution(256)).unwrap();
    assert!(near.triangles().eq(far.triangles()));
    assert_eq!(far.lattice().dims, [256; 3]);
    assert_eq!(far.lattice().origin, at);
}

#[test]
fn short_axes_round_up_to_whole_voxels() {
    let mesh = cuboid([0.0; 3], [4.0, 2.0, 1.0]);
    for n in 1..=100u32 {
        let dims = [n, n.div_ceil(2), n.div_ceil(4)];
        assert_eq!(lattice(&mesh, &resolution(n)).dims, dims);
        let padded = lattice(&mesh, &resolution(n).with_pad(3)).dims;
        assert_eq!(padded, dims.map(|d| d + 6));
    }
}

#[test]
fn flat_meshes_are_one_voxel_thick() {
    for axis in 0..3 {
        let mut max = [1.0; 3];
        max[axis] = 0.0;
        let placed = place(&cuboid([0.0; 3], max), &resolution(10).with_pad(2)).unwrap();
        let mut dims = [14; 3];
        dims[axis] = 5;
        assert_eq!(placed.lattice().dims, dims);
        let units_per_voxel = placed.lattice().units_per_voxel();
        assert_eq!(extremes(&placed)[axis], [2 * units_per_voxel; 2]);
        assert_eq!(placed.degenerate(), 8, "four sides of a flat box have no area");
    }
}

#[test]
fn a_voxel_size_sets_the_dims() {
    let mesh = cuboid([-1.0; 3], [9.0, 4.0, 0.0]);
    for (s, dims) in [
        (2.5, [4, 2, 1]),
        (3.0, [4, 2, 1]),
        (1.0, [10, 5, 1]),
        (0.1, [100, 50, 10]),
        (1000.0, [1, 1, 1]),
    ] {
        let lattice = lattice(&mesh, &voxel_size(s));
        assert_eq!(lattice.dims, dims, "voxels of {s}");
        assert!((lattice.voxel_size / s - 1.0).abs() < 1e-15);
        assert_eq!(lattice.origin, [-1.0; 3]);
    }
}

#[test]
fn a_single_point_has_a_voxel_at_any_voxel_size() {
    let mesh = mesh_of(&[[[5.0, 6.0, 7.0]; 3]]);
    let placed = place(&mesh, &voxel_size(0.25).with_pad(1)).unwrap();
    assert_eq!(placed.lattice().dims, [3; 3]);
    assert_eq!(placed.triangle(0), [[placed.lattice().units_per_voxel(); 3]; 3]);
    assert_eq!(placed.degenerate(), 1);
}

#[test]
fn bounds_set_origin_and_dims_wherever_the_mesh_is() {
    let mesh = unit_cube();
    for (min, max, dims, first) in [
        // Larger than the mesh, smaller, across its corner, and away from it.
        ([-1.0; 3], [2.0; 3], [30; 3], 10),
        ([0.25; 3], [0.75; 3], [5; 3], -3),
        ([0.5; 3], [2.5; 3], [20; 3], -5),
        ([10.0; 3], [11.0; 3], [10; 3], -100),
        ([-4.0, -4.0, -4.0], [-3.05, -3.5, -3.95], [10, 5, 1], 40),
    ] {
        let placed = place(&mesh, &voxel_size(0.1).with_bounds(Bounds { min, max })).unwrap();
        assert_eq!(placed.lattice().dims, dims, "{min:?} to {max:?}");
        assert_eq!(placed.lattice().origin, min);
        let voxel = extremes(&placed)[0][0].div_euclid(placed.lattice().units_per_voxel());
        assert_eq!(voxel, first, "{min:?} to {max:?}");
        assert_keeps_the_budget(&placed);
    }
}

#[test]
fn bounds_that_round_to_a_voxels_face_end_there() {
    // 2^-16 of a voxel more is nothing in units of 2^-14, all that 1000 voxels leave.
    let bounds = Bounds { min: [0.0; 3], max: [1000.0 + 1.0 / 65536.0, 1.0, 1.0] };
    let lattice = lattice(&unit_cube(), &voxel_size(1.0).with_bounds(bounds));
    assert_eq!((lattice.fraction_bits, lattice.dims), (14, [1000, 1, 1]));
}

#[test]
fn bounds_make_the_same_grid_for_all_meshes_however_far_they_reach() {
    // Not a whole number of voxels: with few bits the rest is rounded away.
    let bounds = Bounds { min: [0.0; 3], max: [10.00001; 3] };
    let options = voxel_size(1.0).with_bounds(bounds);
    let mut bits = Vec::new();
    for far in [5.0, 400.0, 40_000.0, 400_000.0] {
        let mesh = mesh_of(&[[[1.0, 1.0, 1.0], [2.0, 3.0, 9.0], [far, 1.0, 1.0]]]);
        let placed = place(&mesh, &options).unwrap();
        assert_eq!(placed.lattice().dims, [11; 3], "reaching to {far}");
        bits.push(placed.lattice().fraction_bits);
    }
    assert_eq!(bits[0], 16);
    assert!(bits[3] < 8, "{bits:?}");
}

#[test]
fn padding_past_any_lattice_is_refused() {
    let far = voxel_size(1000.0).with_dims([10; 3]).with_pad(5_000_000);
    let error = place(&unit_cube(), &far).unwrap_err();
    assert!(matches!(error, PlaceError::TooManyVoxels { .. }), "{error}");
    let infinite = voxel_size(1e308).with_pad(10);
    let error = place(&unit_cube(), &infinite).unwrap_err();
    assert!(matches!(error, PlaceError::Lattice(_)), "{error}");
}

#[test]
fn a_resolution_divides_the_bounds_rather_than_the_mesh() {
    let bounds = Bounds { min: [0.0; 3], max: [8.0, 4.0, 2.0] };
    let lattice = lattice(&unit_cube(), &resolution(16).with_bounds(bounds).with_pad(1));
    assert_eq!(lattice.dims, [18, 10, 6]);
    assert_eq!(lattice.voxel_size, 0.5);
    assert_eq!(lattice.origin, [-0.5; 3]);
}

#[test]
fn lattice_points_lie_half_a_unit_from_their_vertices_in_the_world() {
    let mut rng = Rng::with_seed(2);
    for _ in 0..300 {
        let (mesh, options) = random_request(&mut rng);
        let Ok(placed) = place(&mesh, &options) else { continue };
        let Lattice { scale, origin, .. } = *placed.lattice();
        for (index, corners) in mesh.triangles().iter().enumerate() {
            for (u, &vertex) in placed.triangle(index).iter().zip(corners) {
                let p = mesh.positions()[vertex as usize];
                for a in 0..3 {
                    let world = origin[a] + f64::from(u[a]) / scale;
                    let sizes = p[a].abs() + origin[a].abs() + (p[a] - origin[a]).abs();
                    let digits = 4.0 * f64::EPSILON * sizes;
                    assert!((world - p[a]).abs() <= 0.5 / scale + digits, "{p:?} at {u:?}");
                }
            }
        }
    }
}

#[test]
fn vertices_round_to_the_nearest_lattice_point_and_ties_to_even() {
    let units_per_voxel = f64::from(1 << 16);
    let at = |units: f64| [units / units_per_voxel, 0.0, 0.0];
    let bounds = Bounds { min: [0.0; 3], max: [8.0; 3] };
    let rounded = |units: f64| {
        let mesh = mesh_of(&[[at(units); 3]]);
        place(&mesh, &voxel_size(1.0).with_bounds(bounds)).unwrap().triangle(0)[0][0]
    };
    let ties = [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5];
    assert_eq!(ties.map(rounded), [0, 2, 2, 4, 0, -2, -2]);
    assert_eq!([2.499, 2.501, -2.501].map(rounded), [2, 3, -3]);
}

/// Whether all vertices, and the centres of all boxes of every size that could be tested, lie
/// within one interval of `2^24`.
fn keeps_the_budget(lattice: &Lattice, extremes: &[[i32; 2]; 3]) -> bool {
    let units_per_voxel = i64::from(lattice.units_per_voxel());
    let largest = lattice.dims.iter().max().unwrap().next_power_of_two().max(MIN_CUBE);
    let sizes = (0..32).map(|bits| 1i64 << bits).take_while(|&size| size <= i64::from(largest));
    let centers = sizes.flat_map(|size| {
        // The first and the last box of this size in the grid rounded up.
        let half = size * units_per_voxel / 2;
        [half, i64::from(largest) * units_per_voxel - half]
    });
    let centers: Vec<i64> = centers.collect();
    extremes.iter().all(|ends| {
        let all = || ends.iter().map(|&u| i64::from(u)).chain(centers.iter().copied());
        all().max().unwrap() - all().min().unwrap() <= 1 << SPAN_BITS
    })
}

fn assert_keeps_the_budget(placed: &PlacedMesh) {
    let lattice = placed.lattice();
    let bits = MIN_FRACTION_BITS..=MAX_FRACTION_BITS;
    assert!(bits.contains(&lattice.fraction_bits), "{lattice:?}");
    assert!(keeps_the_budget(lattice, &extremes(placed)), "{lattice:?}, {:?}", extremes(placed));
}

/// A few triangles of any size, anywhere, and options that may cut, enlarge or miss them.
fn random_request(rng: &mut Rng) -> (Mesh, PlaceOptions) {
    let size = 10f64.powi(rng.i32(-30..=30));
    let offset = size * [0.0, 1.0, 1e3, 1e7][rng.usize(0..4)];
    let mut number = || match rng.u32(0..6) {
        0 => offset,
        1 => offset + size,
        _ => offset + size * rng.f64(),
    };
    let triangles: [[[f64; 3]; 3]; 4] =
        std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| number())));
    let n = 1 << rng.u32(0..=16);
    let n = (n + rng.i32(-1..=1)).clamp(1, 1 << 16);
    let sizing = match rng.u32(0..4) {
        0 | 1 => Sizing::VoxelSize(size / f64::from(n)),
        2 => Sizing::Resolution(n as u32),
        _ => Sizing::Along { axis: rng.usize(0..3), voxels: n as u32 },
    };
    let options = PlaceOptions::new(sizing).with_pad([0, 0, 1, 7][rng.usize(0..4)]);
    if rng.bool() {
        return (mesh_of(&triangles), options);
    }
    let min: [f64; 3] = std::array::from_fn(|_| offset + size * (rng.f64() * 4.0 - 2.0));
    let extent = size * 2f64.powi(rng.i32(-6..=6));
    let bounds = Bounds { min, max: min.map(|c| c + extent) };
    (mesh_of(&triangles), options.with_bounds(bounds))
}

#[test]
fn random_requests_keep_the_bit_budget_and_waste_no_bit() {
    let mut rng = Rng::with_seed(3);
    let (mut placed_some, mut refused, mut fewer_bits) = (0, 0, 0);
    for _ in 0..20_000 {
        let (mesh, options) = random_request(&mut rng);
        let Ok(placed) = place(&mesh, &options) else {
            refused += 1;
            continue;
        };
        placed_some += 1;
        assert_keeps_the_budget(&placed);
        if placed.lattice().fraction_bits < MAX_FRACTION_BITS {
            fewer_bits += 1;
            // With one more bit everything is twice as far apart, but for the rounding.
            let finer =
                Lattice { fraction_bits: placed.lattice().fraction_bits + 1, ..*placed.lattice() };
            let twice = extremes(&placed).map(|[lo, hi]| [2 * lo - 1, 2 * hi + 1]);
            assert!(!keeps_the_budget_of_cube(&finer, &twice), "{options:?}");
        }
    }
    println!("{placed_some} placed, {fewer_bits} with fewer than 16 bits, {refused} refused");
    assert!(placed_some.min(refused).min(fewer_bits) > 1_000);
}

/// The budget as it is defined: the whole cube, rather than the centres in it.
fn keeps_the_budget_of_cube(lattice: &Lattice, extremes: &[[i32; 2]; 3]) -> bool {
    let largest = lattice.dims.iter().max().unwrap().next_power_of_two().max(MIN_CUBE);
    let cube = largest as i32 * lattice.units_per_voxel();
    extremes.iter().all(|&[lo, hi]| hi.max(cube) - lo.min(0) <= 1 << SPAN_BITS)
}

#[test]
fn a_lattice_past_the_budget_is_seen() {
    let lattice = lattice(&unit_cube(), &resolution(256));
    let end = 1 << SPAN_BITS;
    assert!(keeps_the_budget(&lattice, &[[0, end]; 3]));
    assert!(!keeps_the_budget(&lattice, &[[0, end], [0, end], [-1, end]]));
    assert!(!keeps_the_budget(&Lattice { fraction_bits: 18, ..lattice }, &[[0, end]; 3]));
}

#[test]
fn extremes_of_floating_point_are_placed_or_refused_but_never_wrong() {
    let cube = |size: f64| cuboid([-size / 2.0; 3], [size / 2.0; 3]);
    for size in [1e30, 1e-30, 1e-290, 1e300, 1e308] {
        let placed = place(&cube(size), &resolution(100)).unwrap();
        assert_eq!(placed.lattice().dims, [100; 3], "a cube of {size:e}");
        assert_eq!(extremes(&placed), [[0, 100 * placed.lattice().units_per_voxel()]; 3]);
    }
    for size in [1e-310, 1e-320, f64::MIN_POSITIVE] {
        let refused = place(&cube(size), &resolution(100));
        assert!(matches!(refused, Err(PlaceError::ExtentRange { .. })), "{size:e}: {refused:?}");
    }
    let wider_than_a_float = cuboid([-1.7e308; 3], [1.7e308; 3]);
    let refused = place(&wider_than_a_float, &resolution(100));
    assert_eq!(refused, Err(PlaceError::ExtentRange { extent: f64::INFINITY }));
    let refused = place(&unit_cube(), &voxel_size(1e-320));
    assert_eq!(refused, Err(PlaceError::ExtentRange { extent: 1.0 }));
}

#[test]
fn the_largest_grid_is_placed_and_one_voxel_more_is_refused() {
    let mesh = unit_cube();
    assert_eq!(lattice(&mesh, &resolution(65_536)).fraction_bits, 8);
    assert_eq!(lattice(&mesh, &resolution(65_534).with_pad(1)).dims, [65_536; 3]);
    let too_many = |voxels| Err(PlaceError::TooManyVoxels { axis: 'x', voxels, limit: 1 << 16 });
    assert_eq!(place(&mesh, &resolution(65_536).with_pad(1)), too_many(65_538.0));
    assert_eq!(place(&mesh, &voxel_size(1.0 / 65_537.0)), too_many(65_537.0));
    assert_eq!(place(&mesh, &resolution(1).with_pad(u32::MAX)), too_many(8_589_934_591.0));
}

#[test]
fn impossible_sizes_are_refused() {
    let mesh = unit_cube();
    for n in [0, 65_537, u32::MAX] {
        assert_eq!(place(&mesh, &resolution(n)), Err(PlaceError::Resolution(n)));
    }
    for s in [0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(place(&mesh, &voxel_size(s)), Err(PlaceError::VoxelSize(s)));
    }
    // NaN is not equal to itself.
    assert!(matches!(place(&mesh, &voxel_size(f64::NAN)), Err(PlaceError::VoxelSize(_))));
}

#[test]
fn impossible_bounds_are_refused_whatever_the_axis() {
    let bad = [(0.0, 0.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::NAN), (-1.7e308, 1.7e308)];
    let infinite = [(f64::NEG_INFINITY, 0.0), (0.0, f64::INFINITY), (f64::INFINITY, f64::INFINITY)];
    for (lo, hi) in bad.into_iter().chain(infinite) {
        for (a, name) in ['x', 'y', 'z'].into_iter().enumerate() {
            let mut bounds = Bounds { min: [0.0; 3], max: [1.0; 3] };
            (bounds.min[a], bounds.max[a]) = (lo, hi);
            let refused = place(&unit_cube(), &resolution(8).with_bounds(bounds));
            let Err(PlaceError::Bounds { axis, .. }) = refused else {
                panic!("bounds from {lo} to {hi}: {refused:?}");
            };
            assert_eq!(axis, name);
        }
    }
}

#[test]
fn a_flat_mesh_has_a_grid_of_its_own_bounds_but_a_point_is_none() {
    let mesh = mesh_of(&[[[0.0, 0.0, 2.0], [4.0, 0.0, 2.0], [0.0, 3.0, 2.0]]]);
    let own = place(&mesh, &resolution(4)).unwrap();
    let options = resolution(4).with_bounds(mesh.bounds().into());
    assert_eq!(place(&mesh, &options), Ok(own));
    let point = Bounds::from([[1.0; 3]; 2]);
    let refused = place(&mesh, &voxel_size(1.0).with_bounds(point));
    assert_eq!(refused, Err(PlaceError::Bounds { axis: 'x', min: 1.0, max: 1.0 }));
}

#[test]
fn a_grid_smaller_than_the_rounding_of_its_place_is_refused_in_its_own_words() {
    let corners = [[1e15, 0.0, 0.0], [1e15, 2.0, 0.0], [1e15 + 2.0, 0.0, 2.0]];
    let grid = CenteredGrid { dims: [4; 3], fills: false };
    let options = Transform { grid: Some(grid), ..Transform::default() }
        .place_options(&mesh_of(&[corners]), resolution(2000));
    let refused = place(&mesh_of(&[corners]), &options);
    assert_eq!(refused, Err(PlaceError::Unresolved { axis: 'x', at: 1e15 + 1.0 }));
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("ends of the grid") && !text.contains("bounds"), "{text}");
}

#[test]
fn a_resolution_of_a_single_point_is_refused() {
    let point = [1.0, 2.0, 3.0];
    let refused = place(&mesh_of(&[[point; 3]]), &resolution(8));
    assert_eq!(refused, Err(PlaceError::NoExtent(point)));
}

#[test]
fn a_mesh_that_reaches_too_far_past_its_bounds_is_refused() {
    let options = resolution(1).with_bounds(Bounds { min: [0.0; 3], max: [1.0; 3] });
    let reaching = |far: f64| place(&cuboid([0.0; 3], [far, 1.0, 1.0]), &options);
    let limit = f64::from(MAX_SPAN_VOXELS);
    let too_far = Err(PlaceError::TooFar { voxels: limit + 1.0, limit: limit as u32 });
    assert_eq!(reaching(limit).unwrap().lattice().fraction_bits, MIN_FRACTION_BITS);
    assert_eq!(reaching(limit + 1.0), too_far);
    // To the other side, the whole cube that the grid is rounded up to counts too.
    let below = |far: f64| place(&cuboid([far, 0.0, 0.0], [1.0; 3]), &options);
    assert_eq!(below(64.0 - limit).unwrap().lattice().fraction_bits, MIN_FRACTION_BITS);
    assert_eq!(below(63.0 - limit), too_far);
    assert!(matches!(reaching(1.7e308), Err(PlaceError::TooFar { .. })));
}

#[test]
fn a_mesh_that_reaches_too_far_past_a_given_lattice_is_refused() {
    let lattice = lattice(&unit_cube(), &resolution(1));
    let reaching = |far: f64| place_on(&cuboid([0.0; 3], [far, 1.0, 1.0]), &lattice);
    let limit = f64::from(1 << (SPAN_BITS - lattice.fraction_bits));
    assert!(reaching(limit).is_ok());
    let too_far = PlaceError::TooFar { voxels: limit + 1.0, limit: limit as u32 };
    assert_eq!(reaching(limit + 1.0), Err(too_far));
}

#[test]
fn a_corner_one_unit_past_the_grid_is_outside_and_one_on_its_faces_is_not() {
    let bounds = Bounds { min: [0.0; 3], max: [4.0; 3] };
    let placed = |triangles: &[_]| place(&mesh_of(triangles), &resolution(4).with_bounds(bounds));
    let inside = [[1.0, 2.0, 2.0], [2.0, 1.0, 2.0], [2.0, 2.0, 1.0]];
    let lattice = *placed(&[inside]).unwrap().lattice();
    let unit = 1.0 / f64::from(lattice.units_per_voxel());
    for a in 0..3 {
        for (at, is_past) in [(0.0, false), (-unit, true), (4.0, false), (4.0 + unit, true)] {
            for corners in 1..=3 {
                let mut triangle = inside;
                triangle.iter_mut().take(corners).for_each(|corner| corner[a] = at);
                let one = placed(&[triangle]).unwrap();
                assert_eq!(one.outside(), usize::from(is_past), "{corners} at {at}, axis {a}");
                assert_eq!(one.is_missed(), is_past && corners == 3, "{corners} at {at}, axis {a}");
                let two = placed(&[triangle, inside]).unwrap();
                assert_eq!(two.outside(), usize::from(is_past));
                assert!(!two.is_missed());
            }
        }
    }
}

#[test]
fn every_refusal_says_the_numbers_and_the_remedy() {
    let too_many = PlaceError::TooManyVoxels { axis: 'z', voxels: 7e4, limit: 1 << 16 };
    let too_far = PlaceError::TooFar { voxels: 2e6, limit: 1 << 20 };
    let cases: [(PlaceError, &[&str]); 9] = [
        (PlaceError::Resolution(0), &["0", "use 1 to 65,536"]),
        (PlaceError::VoxelSize(-2.5), &["-2.5", "use a positive number"]),
        (PlaceError::VoxelSize(0.0), &["size of 0 is"]),
        (PlaceError::VoxelSize(-1e-9), &["-1e-9"]),
        (PlaceError::Bounds { axis: 'y', min: 4.0, max: 3.0 }, &["4", "3", "y axis", "below"]),
        (PlaceError::NoExtent([1.5, 2.5, 3.5]), &["(1.5, 2.5, 3.5)", "give a voxel size"]),
        (PlaceError::ExtentRange { extent: 1e-320 }, &["e-320", "scale the mesh"]),
        (too_many, &["70,000", "z axis", "65,536"]),
        (too_far, &["2,000,000", "1,048,576", "larger voxels"]),
    ];
    for (error, parts) in cases {
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn vertices_that_no_triangle_uses_have_no_effect() {
    let cube = unit_cube();
    let mut positions = cube.positions().to_vec();
    positions.extend([[f64::NAN; 3], [1e300, -1e300, f64::INFINITY]]);
    let mesh = Mesh::new(positions, cube.triangles().to_vec()).unwrap();
    let (with, without) = (place(&mesh, &resolution(9)), place(&cube, &resolution(9)));
    assert!(with.unwrap().triangles().eq(without.unwrap().triangles()));
}

#[test]
fn invalid_meshes_are_refused() {
    let corner = [0.0; 3];
    let out_of_range = MeshError::IndexOutOfRange { triangle: 1, index: 2, vertices: 2 };
    assert_eq!(Mesh::new(vec![corner], vec![]), Err(MeshError::NoTriangles));
    assert_eq!(Mesh::new(vec![corner; 2], vec![[0, 1, 0], [0, 1, 2]]), Err(out_of_range));
    let infinite = [0.0, f64::INFINITY, 0.0];
    let refused = Mesh::new(vec![corner, infinite], vec![[0, 0, 1]]);
    assert_eq!(refused, Err(MeshError::NotFinite { vertex: 1, value: f64::INFINITY }));
    assert!(Mesh::new(vec![[f64::NAN; 3]], vec![[0; 3]]).is_err());
}

#[test]
fn a_grid_of_given_dimensions_has_them_wherever_the_mesh_lies() {
    let mut rng = Rng::with_seed(11);
    for _ in 0..2000 {
        let base = 10f64.powi(rng.i32(-3..10)) * (rng.f64() + 0.1);
        let extent = [(); 3].map(|()| rng.f64() + 1e-3);
        let corner = |k: [u8; 3]| [0, 1, 2].map(|a| base + f64::from(k[a]) * extent[a]);
        let mesh = mesh_of(&[[corner([0, 0, 0]), corner([1, 1, 0]), corner([0, 1, 1])]]);
        let dims = [(); 3].map(|()| rng.u32(1..=1000));
        let grid = Some(CenteredGrid { dims, fills: true });
        let transform = Transform { grid, ..Transform::default() };
        let options = transform.place_options(&mesh, resolution(8));
        let placed = place(&mesh, &options).unwrap();
        assert_eq!(placed.lattice().dims, dims, "{base}, {extent:?}");
    }
    let zero = resolution(8).with_dims([8, 0, 8]);
    let triangle = mesh_of(&[[[0.0; 3], [1.0; 3], [0.0, 1.0, 0.0]]]);
    let error = place(&triangle, &zero).unwrap_err();
    let expected = "a grid of 8 x 0 x 8 voxels is not possible: each must be from 1 to 65,536";
    assert_eq!(error.to_string(), expected);
    let wide = resolution(8).with_dims([8, 8, 70_000]);
    assert!(matches!(place(&triangle, &wide).unwrap_err(), PlaceError::Dims { .. }));
    let point = mesh_of(&[[[1.0; 3]; 3]]);
    let grid = Some(CenteredGrid { dims: [64; 3], fills: true });
    let transform = Transform { grid, ..Transform::default() };
    let options = transform.place_options(&point, resolution(8));
    assert_eq!(place(&point, &options).unwrap_err(), PlaceError::NoExtent([1.0; 3]));
}

#[test]
fn given_dimensions_cut_a_mesh_that_is_larger_and_pad_one_that_is_smaller() {
    let mesh = unit_cube();
    let voxels = |options: &PlaceOptions| surface(&place(&mesh, options).unwrap());
    let whole = voxels(&resolution(16));
    let cut = voxels(&resolution(16).with_dims([5, 16, 20]));
    assert_eq!(cut.dims(), [5, 16, 20]);
    assert!(cut.occupied() > 0);
    let is_within = |&[x, ..]: &[u32; 3]| x < 5;
    let expected: Vec<_> = whole.voxels().filter(is_within).collect();
    let found: Vec<_> = cut.voxels().filter(|&[.., z]| z < 16).collect();
    assert_eq!(found, expected);
}
