//! `place`: the bit budget, the sizes of grids, rounding, and what is refused.
use crate::common::prelude::*;
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

/// The options for a grid of given dimensions about the centre of the mesh.
fn centered(mesh: &Mesh, options: PlaceOptions, grid: CenteredGrid) -> PlaceOptions {
    Transform { grid: Some(grid), ..Transform::default() }.place_options(mesh, options)
}

#[test]
fn fraction_bits_follow_the_formula_at_every_resolution_and_padding() {
    let mesh = unit_cube();
    // All small resolutions, and those around every power of two; the largest grid, padded and not.
    let around_powers = (9..=16).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    let sizes = (1..=300).chain(around_powers).chain([MAX_DIM - 2]);
    let requests = sizes.flat_map(|n| [0, 1, 5, 100].map(|pad| (n, pad)));
    for (n, pad) in requests.filter(|(n, pad)| n + 2 * pad <= MAX_DIM) {
        let (largest, lattice) = (n + 2 * pad, lattice(&mesh, &resolution(n).with_pad(pad)));
        let ceil_log2 = (0..).find(|&bits| 1u32 << bits >= largest).unwrap();
        assert_eq!(lattice.fraction_bits, 16.min(24 - ceil_log2), "{n} voxels, padding {pad}");
        assert_eq!(lattice.fraction_bits_of_grid(), lattice.fraction_bits);
        assert_eq!(lattice.dims, [largest; 3]);
    }
}

fn along(axis: usize, voxels: u32) -> PlaceOptions {
    PlaceOptions::new(Sizing::Along { axis, voxels })
}

#[test]
fn a_box_is_as_many_voxels_along_one_axis_as_asked_for() {
    let mut rng = Rng::with_seed(4);
    for n in 1..=300 {
        let size = 10f64.powi(rng.i32(-5..=5));
        let min = [(); 3].map(|()| (rng.f64() - 0.5) * 100.0 * size);
        let mesh = cuboid(min, min.map(|c| c + size * (0.1 + rng.f64())));
        for axis in 0..3 {
            let placed = place(&mesh, &along(axis, n).with_pad(n % 3)).unwrap();
            let lattice = placed.lattice();
            let [low, high] = extremes(&placed)[axis];
            assert_eq!(high - low, n as i32 * lattice.units_per_voxel(), "{n} along {axis}");
            assert_eq!(lattice.dims[axis], n + 2 * (n % 3));
        }
    }
    // Along the longest axis it is the resolution.
    let mesh = cuboid([0.0; 3], [1.0, 3.0, 2.0]);
    assert_eq!(lattice(&mesh, &along(1, 77)), lattice(&mesh, &resolution(77)));
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
    let alone = Lattice::in_bounds(bounds, Sizing::VoxelSize(1.0)).unwrap();
    assert_eq!(alone, lattice(&unit_cube(), &options));
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
    let triangles = [(); 4].map(|()| [(); 3].map(|()| [number(), number(), number()]));
    let n = ((1 << rng.u32(0..=16)) + rng.i32(-1..=1)).clamp(1, 1 << 16);
    let sizing = match rng.u32(0..4) {
        0 | 1 => Sizing::VoxelSize(size / f64::from(n)),
        2 => Sizing::Resolution(n as u32),
        _ => Sizing::Along { axis: rng.usize(0..3), voxels: n as u32 },
    };
    let options = PlaceOptions::new(sizing).with_pad([0, 0, 1, 7][rng.usize(0..4)]);
    if rng.bool() {
        return (mesh_of(&triangles), options);
    }
    let min = [(); 3].map(|()| offset + size * (rng.f64() * 4.0 - 2.0));
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
            let fraction_bits = placed.lattice().fraction_bits + 1;
            let finer = Lattice { fraction_bits, ..*placed.lattice() };
            let twice = extremes(&placed).map(|[lo, hi]| [2 * lo - 1, 2 * hi + 1]);
            assert!(!keeps_the_budget_of_cube(&finer, &twice), "{options:?}");
        }
    }
    let counts = [placed_some, refused, fewer_bits];
    assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
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
}

#[test]
fn impossible_requests_are_refused_with_the_numbers() {
    let (cube, point) = (unit_cube(), mesh_of(&[[[1.0, 2.0, 3.0]; 3]]));
    let flat = cuboid([0.0; 3], [1.0, 0.0, 2.0]);
    let thin = cuboid([0.0; 3], [1e-6, 1.0, 1.0]);
    let wider_than_a_float = cuboid([-1.7e308; 3], [1.7e308; 3]);
    let far = mesh_of(&[[[1e15, 0.0, 0.0], [1e15, 2.0, 0.0], [1e15 + 2.0, 0.0, 2.0]]]);
    let filled = CenteredGrid { dims: [64; 3], fills: true };
    let small = CenteredGrid { dims: [4; 3], fills: false };
    let too_many = |axis, voxels| PlaceError::TooManyVoxels { axis, voxels, limit: MAX_DIM };
    let wrong_dims = |dims| PlaceError::Dims { dims, limit: MAX_DIM };
    for (mesh, options, error) in [
        (&cube, resolution(0), PlaceError::Resolution(0)),
        (&cube, resolution(65_537), PlaceError::Resolution(65_537)),
        (&cube, resolution(u32::MAX), PlaceError::Resolution(u32::MAX)),
        (&cube, along(0, 0), PlaceError::Resolution(0)),
        (&cube, voxel_size(0.0), PlaceError::VoxelSize(0.0)),
        (&cube, voxel_size(-0.0), PlaceError::VoxelSize(-0.0)),
        (&cube, voxel_size(-1.0), PlaceError::VoxelSize(-1.0)),
        (&cube, voxel_size(f64::INFINITY), PlaceError::VoxelSize(f64::INFINITY)),
        (&cube, voxel_size(-f64::INFINITY), PlaceError::VoxelSize(-f64::INFINITY)),
        (&cube, voxel_size(1e-320), PlaceError::ExtentRange { extent: 1.0 }),
        (&wider_than_a_float, resolution(100), PlaceError::ExtentRange { extent: f64::INFINITY }),
        (&point, resolution(8), PlaceError::NoExtent([1.0, 2.0, 3.0])),
        (&point, centered(&point, resolution(8), filled), PlaceError::NoExtent([1.0, 2.0, 3.0])),
        (&flat, along(1, 8), PlaceError::NoLength(1)),
        (&flat, along(3, 8), PlaceError::NoLength(3)),
        (&thin, along(0, 9), too_many('y', 9e6)),
        (&cube, resolution(65_536).with_pad(1), too_many('x', 65_538.0)),
        (&cube, voxel_size(1.0 / 65_537.0), too_many('x', 65_537.0)),
        (&cube, resolution(1).with_pad(u32::MAX), too_many('x', 8_589_934_591.0)),
        (
            &cube,
            voxel_size(1000.0).with_dims([10; 3]).with_pad(5_000_000),
            too_many('x', 10_000_010.0),
        ),
        (&cube, resolution(8).with_dims([8, 0, 8]), wrong_dims([8, 0, 8])),
        (&cube, resolution(8).with_dims([8, 8, 70_000]), wrong_dims([8, 8, 70_000])),
        // A grid smaller than the rounding of its place.
        (
            &far,
            centered(&far, resolution(2000), small),
            PlaceError::Unresolved { axis: 'x', at: 1e15 + 1.0 },
        ),
    ] {
        assert_eq!(place(mesh, &options), Err(error), "{options:?}");
    }
    // NaN is not equal to itself.
    assert!(matches!(place(&cube, &voxel_size(f64::NAN)), Err(PlaceError::VoxelSize(_))));
    let infinite = voxel_size(1e308).with_pad(10);
    assert!(matches!(place(&cube, &infinite), Err(PlaceError::Lattice(_))));
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
            let Err(PlaceError::Bounds { axis, min, max }) = refused else {
                panic!("bounds from {lo} to {hi}: {refused:?}");
            };
            // NaN is not equal to itself.
            let [found, expected] = [[min, max], [lo, hi]].map(|ends| ends.map(f64::to_bits));
            assert_eq!((axis, found), (name, expected), "bounds from {lo} to {hi}");
            let alone = Lattice::in_bounds(bounds, Sizing::Resolution(8));
            assert_eq!(alone.is_ok(), lo == hi && lo == 0.0, "bounds from {lo} to {hi}");
        }
    }
}

#[test]
fn a_flat_mesh_has_a_grid_of_its_own_bounds() {
    let mesh = mesh_of(&[[[0.0, 0.0, 2.0], [4.0, 0.0, 2.0], [0.0, 3.0, 2.0]]]);
    let bounded = resolution(4).with_bounds(mesh.bounds().into());
    assert_eq!(place(&mesh, &bounded), Ok(at_resolution(&mesh, 4)));
}

#[test]
fn a_mesh_that_reaches_too_far_past_its_bounds_or_a_given_lattice_is_refused() {
    let options = resolution(1).with_bounds(Bounds { min: [0.0; 3], max: [1.0; 3] });
    let reaching = |far: f64| cuboid([0.0; 3], [far, 1.0, 1.0]);
    let limit = f64::from(MAX_SPAN_VOXELS);
    let too_far = |limit| PlaceError::TooFar { voxels: f64::from(limit) + 1.0, limit };
    assert_eq!(lattice(&reaching(limit), &options).fraction_bits, MIN_FRACTION_BITS);
    assert_eq!(place(&reaching(limit + 1.0), &options), Err(too_far(MAX_SPAN_VOXELS)));
    // To the other side, the whole cube that the grid is rounded up to counts too.
    let below = |far: f64| cuboid([far, 0.0, 0.0], [1.0; 3]);
    assert_eq!(lattice(&below(64.0 - limit), &options).fraction_bits, MIN_FRACTION_BITS);
    assert_eq!(place(&below(63.0 - limit), &options), Err(too_far(MAX_SPAN_VOXELS)));
    assert!(matches!(place(&reaching(1.7e308), &options), Err(PlaceError::TooFar { .. })));
    let given = lattice(&unit_cube(), &resolution(1));
    let limit = 1 << (SPAN_BITS - given.fraction_bits);
    assert!(place_on(&reaching(f64::from(limit)), &given).is_ok());
    assert_eq!(place_on(&reaching(f64::from(limit) + 1.0), &given), Err(too_far(limit)));
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
    let no_dims = PlaceError::Dims { dims: [8, 0, 8], limit: MAX_DIM };
    let unresolved = PlaceError::Unresolved { axis: 'x', at: 1e15 };
    let cases: [(PlaceError, &[&str]); 11] = [
        (PlaceError::Resolution(0), &["0", "use 1 to 65,536"]),
        (PlaceError::VoxelSize(-2.5), &["-2.5", "use a positive number"]),
        (PlaceError::VoxelSize(0.0), &["size of 0 is"]),
        (PlaceError::VoxelSize(-1e-9), &["-1e-9"]),
        (PlaceError::Bounds { axis: 'y', min: 4.0, max: 3.0 }, &["4", "3", "y axis", "below"]),
        (PlaceError::NoExtent([1.5, 2.5, 3.5]), &["(1.5, 2.5, 3.5)", "give a voxel size"]),
        (PlaceError::ExtentRange { extent: 1e-320 }, &["e-320", "scale the mesh"]),
        (too_many, &["70,000", "z axis", "65,536"]),
        (too_far, &["2,000,000", "1,048,576", "larger voxels"]),
        (no_dims, &["a grid of 8 x 0 x 8 voxels is not possible: each must be from 1 to 65,536"]),
        (unresolved, &["cannot tell the ends of the grid apart", "x axis: use larger voxels, or"]),
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
        let options = centered(&mesh, resolution(8), CenteredGrid { dims, fills: true });
        assert_eq!(lattice(&mesh, &options).dims, dims, "{base}, {extent:?}");
    }
}

#[test]
fn given_dimensions_cut_a_mesh_that_is_larger_and_pad_one_that_is_smaller() {
    let mesh = unit_cube();
    let whole = surface(&at_resolution(&mesh, 16));
    let cut = surface(&place(&mesh, &resolution(16).with_dims([5, 16, 20])).unwrap());
    assert_eq!(cut.dims(), [5, 16, 20]);
    assert!(cut.occupied() > 0);
    let within_z = cut.voxels().filter(|&[.., z]| z < 16);
    assert!(within_z.eq(whole.voxels().filter(|&[x, ..]| x < 5)));
}
