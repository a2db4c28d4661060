//! The CPU backend against the brute-force oracle, and relations between voxelizations that hold
//! whatever the mesh.
use crate::common::prelude::*;

/// The voxels of lattice triangles in a grid of `dims` voxels.
fn voxels(triangles: &[Triangle], dims: [u32; 3]) -> VoxelGrid {
    surface(&placed(triangles, dims))
}

/// A soup of random kind: lattice-aligned (whole, half and quarter voxels) or not, degenerate or
/// not, reaching past the grid or not.
fn random_soup(rng: &mut Rng, dims: [u32; 3]) -> Vec<Triangle> {
    let reach = *dims.iter().max().unwrap() as i32 * UNIT;
    let step = [1, 1, 77, UNIT / 4, UNIT / 2, UNIT][rng.usize(0..6)];
    let count = rng.usize(1..=12);
    let triangles = match rng.u32(0..3) {
        0 => degenerate_soup(rng, count, reach, step),
        _ => soup(rng, count, reach, step),
    };
    if rng.bool() {
        return all_moved(&triangles, [(); 3].map(|()| rng.i32(-2..=2) * (UNIT / 2)));
    }
    triangles
}

#[test]
fn random_soups_match_brute_force() {
    let count = environment::number("TRIVOX_SOUPS", 300);
    let mut occupied = 0;
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let dims = [(); 3].map(|()| rng.u32(1..=21));
        let mesh = placed(&random_soup(&mut rng, dims), dims);
        let grid = surface(&mesh);
        assert_same(&grid, &oracle::voxelize(&mesh), &format!("seed {seed}"));
        occupied += grid.occupied();
    }
    println!("{count} meshes, {occupied} voxels");
    assert!(occupied > 33 * count, "{occupied}");
}

#[test]
fn the_longest_grids_match_brute_force() {
    for axis in 0..3 {
        let mut rng = Rng::with_seed(axis as u64);
        // 65,536 voxels along one axis, one to three along the others.
        let mut extent = [2e-5, 4e-5, 2e-5];
        extent[axis] = 1.0;
        let mut corner = || std::array::from_fn(|a| extent[a] * rng.f64());
        let triangles: Vec<_> = (0..5).map(|_| [corner(), corner(), corner()]).collect();
        let triangles = [triangles, vec![[[0.0; 3], extent, extent]]].concat();
        let mesh = at_resolution(&mesh_of(&triangles), 65_536);
        assert_eq!(mesh.lattice().fraction_bits, 8);
        assert_same(&surface(&mesh), &oracle::voxelize(&mesh), &format!("axis {axis}"));
    }
}

#[test]
fn a_triangle_with_one_corner_moved_one_unit_is_seen_by_the_comparison_with_brute_force() {
    // A corner exactly at the face of a voxel, and one unit short of it.
    let triangle = |x| [[x, 5, 5], [0, UNIT / 2, 9], [9, 9, UNIT / 2]];
    let right = oracle::voxelize(&placed(&[triangle(UNIT)], [2, 1, 1]));
    assert_eq!(right, voxels(&[triangle(UNIT)], [2, 1, 1]));
    assert_ne!(right, voxels(&[triangle(UNIT - 1)], [2, 1, 1]));
}

/// The voxels on the six sides of a cube of `n` voxels.
fn hollow_cube(n: u32) -> VoxelGrid {
    let side = |axis: usize, at: u32| {
        let (mut lo, mut hi) = ([0; 3], [n; 3]);
        (lo[axis], hi[axis]) = (at, at + 1);
        block([n; 3], lo, hi)
    };
    let sides = (0..3).flat_map(|axis| [side(axis, 0), side(axis, n - 1)]);
    sides.reduce(|all, side| all.union(&side)).unwrap()
}

#[test]
fn a_cube_is_hollow_with_walls_of_one_voxel_at_every_resolution() {
    for n in 1..=300 {
        let grid = surface(&at_resolution(&unit_cube(), n));
        assert_same(&grid, &hollow_cube(n), &format!("{n}"));
    }
}

#[test]
fn a_point_touches_the_eight_four_two_or_one_voxels_around_it_and_none_outside_the_grid() {
    let inside = 2 * UNIT;
    for (point, occupied) in [
        ([inside, inside, inside], 8),
        ([inside, inside, inside + 1], 4),
        ([inside, inside - 1, inside + 1], 2),
        ([inside - 1, inside - 1, inside + 1], 1),
        ([0, 0, 0], 1),
        ([0, inside, inside], 4),
    ] {
        assert_eq!(voxels(&[[point; 3]], [4; 3]).occupied(), occupied, "{point:?}");
    }
    let dims = [5, 9, 70];
    for axis in 0..3 {
        let far = dims[axis] as i32 * UNIT;
        for (at, occupied) in [(-1, 0), (0, 1), (far, 1), (far + 1, 0)] {
            let mut point = [UNIT / 2; 3];
            point[axis] = at;
            assert_eq!(voxels(&[[point; 3]], dims).occupied(), occupied, "{point:?}");
        }
    }
}

/// Whole bricks and parts of bricks. At most 128, so that meshes may reach as far outside.
const DIMS: [u32; 3] = [100, 70, 127];

/// A soup that fills bricks of all kinds, with triangles that cross the whole grid. Even
/// coordinates, so that the middles of edges are lattice points.
fn large_soup(seed: u64, dims: [u32; 3]) -> Vec<Triangle> {
    let mut rng = Rng::with_seed(seed);
    let reach = *dims.iter().max().unwrap() as i32 * UNIT;
    let mut triangles = soup(&mut rng, 300, reach, 2);
    // Halves of differences are even too.
    triangles.extend(degenerate_soup(&mut rng, 100, reach, 4));
    triangles.extend(soup(&mut rng, 100, reach, UNIT / 2));
    triangles
}

#[test]
fn the_order_of_triangles_and_of_their_corners_does_not_matter_nor_does_dividing_them() {
    let (mut triangles, other) = (large_soup(2, DIMS), large_soup(3, DIMS));
    let expected = voxels(&triangles, DIMS);
    let mut rng = Rng::with_seed(0);
    for _ in 0..3 {
        rng.shuffle(&mut triangles);
        triangles.iter_mut().for_each(|triangle| rng.shuffle(triangle));
        assert_same(&voxels(&triangles, DIMS), &expected, "shuffled");
    }
    let twice = triangles.repeat(2);
    assert_same(&voxels(&twice, DIMS), &expected, "all triangles twice");
    let union = expected.union(&voxels(&other, DIMS));
    assert_same(&voxels(&[&triangles[..], &other].concat(), DIMS), &union, "two meshes");
    let divided: Vec<Triangle> = triangles.iter().flat_map(into_four).collect();
    assert_same(&voxels(&divided, DIMS), &expected, "into four");
    // Three of the four parts leave a hole in the middle, which must be seen.
    let holed: Vec<Triangle> = triangles.iter().flat_map(|t| into_four(t)[..3].to_vec()).collect();
    assert_ne!(voxels(&holed, DIMS), expected);
}

#[test]
fn mirrors_axis_orders_and_whole_voxel_shifts_move_the_voxels() {
    let triangles = large_soup(5, DIMS);
    let grid = voxels(&triangles, DIMS);
    for (order, mirrored, shift) in [
        ([0, 1, 2], [true, false, false], [0; 3]),
        ([0, 1, 2], [false, true, false], [0; 3]),
        ([0, 1, 2], [false, false, true], [0; 3]),
        ([0, 2, 1], [false; 3], [0; 3]),
        ([1, 0, 2], [false; 3], [0; 3]),
        ([1, 2, 0], [true; 3], [0; 3]),
        ([2, 0, 1], [false; 3], [0; 3]),
        ([2, 1, 0], [false; 3], [0; 3]),
        ([0, 1, 2], [false; 3], [1, 0, 0]),
        ([0, 1, 2], [false; 3], [7, 8, 9]),
        ([0, 1, 2], [false; 3], [33, 32, 64]),
        ([0, 1, 2], [false; 3], [-3, 5, -61]),
        ([0, 1, 2], [false; 3], [-64, -1, 2]),
    ] {
        // The place of `p` in the moved grid, where the last place along an axis is `end`.
        let moved = |p: [i32; 3], unit: i32, end: i32| -> [i32; 3] {
            std::array::from_fn(|a| {
                let (at, dim) = (p[order[a]], DIMS[order[a]] as i32 * unit);
                shift[a] * unit + if mirrored[a] { dim - end - at } else { at }
            })
        };
        let dims = order.map(|a| DIMS[a]);
        let corners: Vec<Triangle> =
            triangles.iter().map(|t| t.map(|p| moved(p, UNIT, 0))).collect();
        let found = voxels(&corners, dims);
        let kept: Vec<[u32; 3]> = (grid.voxels())
            .map(|voxel| moved(voxel.map(|c| c as i32), 1, 1))
            .filter(|v| (0..3).all(|a| (0..dims[a] as i32).contains(&v[a])))
            .map(|voxel| voxel.map(|c| c as u32))
            .collect();
        assert!(kept.len() > 1_000);
        // What enters the grid has no counterpart.
        let is_known =
            |v: &[u32; 3]| (0..3).all(|a| (0..dims[a] as i32).contains(&(v[a] as i32 - shift[a])));
        let found = VoxelGrid::from_voxels(dims, found.voxels().filter(is_known)).unwrap();
        let what = format!("{order:?}, {mirrored:?}, {shift:?}");
        assert_same(&found, &VoxelGrid::from_voxels(dims, kept).unwrap(), &what);
    }
}

#[test]
fn coarse_voxels_are_occupied_exactly_where_fine_ones_in_them_are() {
    // Twice the coordinates at the same voxel size are the same points at half the voxel size.
    let dims = [50, 33, 64];
    let mut triangles = large_soup(9, dims);
    let coarse = voxels(&triangles, dims);
    triangles.as_flattened_mut().iter_mut().for_each(|p| *p = p.map(|c| 2 * c));
    let fine = voxels(&triangles, dims.map(|d| 2 * d));
    let covered = fine.voxels().map(|voxel| voxel.map(|c| c / 2));
    assert_same(&coarse, &VoxelGrid::from_voxels(dims, covered).unwrap(), "coarse");
}
