//! Filling sparse grids against the same on dense arrays, voxel by voxel, ray by ray.
use crate::common::dense::{Dense, filled, flooded, voted};
use crate::common::prelude::*;
use trivox::solid::fill::{AxisDisagreement, along_x, flood, vote};

/// Scattered voxels as dense as chance has it, and blocks of which some fill bricks and runs.
fn random(rng: &mut Rng, dims: [u32; 3]) -> Dense {
    let density = [0.0, 0.001, 0.02, 0.3, 0.9][rng.usize(0..5)];
    let mut dense = Dense::from_fn(dims, |_| rng.f64() < density);
    for _ in 0..rng.u32(0..4) {
        let align = if rng.bool() { !7 } else { !0 };
        let lo = dims.map(|d| rng.u32(0..d) & align);
        let hi = [0, 1, 2].map(|a| dims[a].min(lo[a] + rng.u32(1..=40)));
        for voxel in voxels_in(lo, hi) {
            let index = dense.index(voxel);
            dense.bits[index] = true;
        }
    }
    dense
}

fn random_dims(rng: &mut Rng) -> [u32; 3] {
    let long = [1, 9, 17, 40][rng.usize(0..4)];
    std::array::from_fn(|_| rng.u32(1..=long))
}

fn flood_of(surface: &VoxelGrid) -> (VoxelGrid, u64) {
    flood(surface, u64::MAX, &NoProgress).unwrap()
}

fn vote_of(flips: [&VoxelGrid; 3]) -> (VoxelGrid, AxisDisagreement) {
    vote(flips, flips[0].dims(), u64::MAX, &NoProgress).unwrap()
}

/// The votes of these flips along the three axes.
fn vote_of_dense(flips: &[Dense; 3]) -> (VoxelGrid, AxisDisagreement) {
    vote_of(flips.each_ref().map(Dense::grid).each_ref())
}

fn filled_of(flips: &VoxelGrid) -> (VoxelGrid, u64) {
    along_x(flips, flips.dims(), u64::MAX, &NoProgress).unwrap()
}

/// Flips along the three axes of a solid, some of them wrong, or of no solid at all.
fn random_flips(rng: &mut Rng, dims: [u32; 3]) -> [Dense; 3] {
    if rng.u32(0..4) == 0 {
        return std::array::from_fn(|_| random(rng, dims));
    }
    let solid = random(rng, dims);
    let wrong = rng.u32(0..8);
    std::array::from_fn(|axis| {
        let mut flips = solid.flips(axis);
        (0..wrong).for_each(|_| flips.flip(dims.map(|d| rng.u32(0..d))));
        flips
    })
}

#[test]
fn flips_fill_along_x_and_six_rays_vote_as_they_do_one_by_one() {
    for seed in 0..2000 {
        let rng = &mut Rng::with_seed(seed);
        let dims = random_dims(rng);
        let flips = random_flips(rng, dims);
        assert!(filled_of(&flips[0].grid()) == filled(&flips[0]), "seed {seed}, {dims:?}");
        let (grid, disagreement) = vote_of_dense(&flips);
        let (expected, expected_disagreement) = voted(&flips);
        assert_eq!(disagreement, expected_disagreement, "seed {seed}, {dims:?}");
        assert!(grid == expected, "seed {seed}, {dims:?}");
    }
}

#[test]
fn flooding_reaches_what_steps_from_the_border_reach() {
    for seed in 0..2000 {
        let rng = &mut Rng::with_seed(seed);
        let dims = random_dims(rng);
        let mut surface = random(rng, dims);
        if rng.bool() {
            // Empty where it was full: caves, joined or not.
            surface.bits.iter_mut().for_each(|bit| *bit ^= true);
        }
        assert!(flood_of(&surface.grid()) == flooded(&surface), "seed {seed}, {dims:?}");
    }
}

#[test]
fn a_flip_more_or_less_is_noticed() {
    for seed in 0..200 {
        let rng = &mut Rng::with_seed(seed);
        let dims = random_dims(rng);
        let flips = random_flips(rng, dims);
        let mut wrong = flips.clone();
        let voxel = dims.map(|d| rng.u32(0..d));
        wrong.iter_mut().for_each(|flips| flips.flip(voxel));
        assert!(filled_of(&wrong[0].grid()) != filled(&flips[0]), "seed {seed}");
        let (_, disagreement) = vote_of_dense(&wrong);
        assert!(disagreement.odd != voted(&flips).1.odd, "seed {seed}");
        let [(found, _), (expected, _)] = [flood_of(&wrong[0].grid()), flooded(&flips[0])];
        // Or the voxel was enclosed, and is.
        let is_enclosed = expected.contains(voxel) && flooded(&wrong[0]).0.contains(voxel);
        assert!(found != expected || is_enclosed, "seed {seed}");
    }
}

#[test]
fn a_row_of_bricks_without_flips_is_decided_by_the_columns_through_it() {
    // In the middle row, the second brick has a column that is inside: the first of its 64 along
    // each of these axes.
    for axes in [&[1][..], &[2], &[1, 2]] {
        let mut flips = [(); 3].map(|()| Dense::empty([24; 3]));
        // Elsewhere, so that rows begin at the first brick.
        (0..2).for_each(|x| flips[0].flip([x, 0, 0]));
        for &axis in axes {
            for end in [0, 16] {
                let mut at = [8; 3];
                at[axis] = end;
                flips[axis].flip(at);
            }
        }
        assert_eq!(vote_of_dense(&flips), voted(&flips), "{axes:?}");
    }
}

#[test]
fn rows_as_long_as_they_get_are_filled_in_runs() {
    for dims in [[65_536, 1, 1], [65_536, 8, 8], [5_000, 9, 9], [5_001, 16, 8]] {
        let last = dims[0] - 1;
        for [from, to] in [[0, last], [3, last], [8, 16], [70, 4_999], [last, last]] {
            // Columns that end at the last voxel have no second flip.
            let is_open = to == last;
            let ends = [from, to].into_iter().take(if is_open { 1 } else { 2 });
            let flips = ends.flat_map(|x| voxels_in([x, 0, 0], [x + 1, dims[1], dims[2]]));
            let (grid, open_columns) = filled_of(&VoxelGrid::from_voxels(dims, flips).unwrap());
            let end = to + u32::from(is_open);
            let columns = u64::from(dims[1] * dims[2]);
            assert_eq!(grid.occupied(), columns * u64::from(end - from), "{dims:?}");
            let bounds = [[from, 0, 0], [end - 1, dims[1] - 1, dims[2] - 1]];
            assert_eq!(grid.occupied_bounds(), Some(bounds));
            assert_eq!(open_columns, if is_open { columns } else { 0 });
            if dims[1..].iter().all(|d| d % 8 == 0) {
                let rows = (dims[1] / 8 * dims[2] / 8) as usize;
                assert!(grid.brick_runs().count() <= 3 * rows, "{dims:?} {from} {to}");
            }
        }
    }
}

#[test]
fn full_bricks_of_flips_flip_every_other_slice() {
    for dims in [[4_000, 8, 8], [65_536, 8, 16]] {
        let mut bricks: Vec<_> =
            (1..dims[0] / 8).map(|x| (BrickKey::new([x, 0, 0]), FULL)).collect();
        bricks.push((BrickKey::new([0, 0, 0]), [0, 0, 5, 0, 0, 0, 0, 0]));
        let flips = VoxelGrid::from_bricks(dims, bricks).unwrap();
        let (grid, open_columns) = filled_of(&flips);
        assert_eq!(open_columns, 2);
        for (key, mask) in grid.bricks().skip(1) {
            assert_eq!(mask, [!5, 5, !5, 5, !5, 5, !5, 5], "{key:?}");
        }
        assert_eq!(grid.brick_count(), u64::from(dims[0] / 8));
    }
}

/// A block with a corridor one voxel wide that winds through all of it: along each row along `x` to
/// its end, and on to the next row but one.
fn winding(dims: [u32; 3], axes: [usize; 3]) -> Dense {
    let size = axes.map(|a| dims[a]);
    Dense::from_fn(dims, |voxel| {
        let [x, y, z] = axes.map(|a| voxel[a]);
        let in_border = [x, y, z].iter().zip(size).any(|(&c, n)| c == 0 || c + 1 == n);
        let passage = |row: u32, at: u32, n: u32| at == if row % 4 == 2 { n - 2 } else { 1 };
        let is_free = match (y % 2, z % 2) {
            (1, 1) => true,
            (0, 1) => passage(y, x, size[0]),
            // Layers join at the end that the corridor has come to.
            (1, 0) => x == 1 && passage(z, y, size[1]),
            _ => false,
        };
        in_border || !is_free
    })
}

#[test]
fn a_corridor_through_hundreds_of_bricks_is_followed_to_its_end() {
    for axes in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let dims = [41, 41, 41];
        let sealed = winding(dims, axes);
        let corridor = sealed.bits.iter().filter(|bit| !**bit).count() as u64;
        assert!(corridor > 15_000);
        assert_eq!(flood_of(&sealed.grid()).1, corridor);
        for end in [[1, 1, 0], [20, 39, 40]] {
            let mut open = sealed.clone();
            let mut hole = [0; 3];
            (0..3).for_each(|i| hole[axes[i]] = end[i]);
            open.flip(hole);
            assert_eq!(flood_of(&open.grid()).1, 0, "open at {end:?}, {axes:?}");
        }
    }
}

#[test]
fn long_gaps_between_walls_are_enclosed_as_runs() {
    // A tube of full bricks along x, closed by walls far apart.
    let dims = [65_536, 24, 24];
    // At the beginning of the longest rows that there are, and at their end.
    for begin in [0, 7_192] {
        let is_wall = |[x, y, z]: [u32; 3]| y != 1 || z != 1 || x == 0 || x == 999;
        let tube = |open: Option<[u32; 3]>| {
            let walls =
                voxels_in([0; 3], [1000, 3, 3]).filter(|&at| is_wall(at) && open != Some(at));
            let full = walls.map(|[x, y, z]| (BrickKey::new([begin + x, y, z]), FULL));
            VoxelGrid::from_bricks(dims, full.collect()).unwrap()
        };
        let (grid, enclosed) = flood_of(&tube(None));
        assert_eq!((enclosed, grid.brick_runs().count()), (998 * 512, 9));
        for hole in [[0, 1, 1], [999, 1, 1], [500, 0, 1], [500, 1, 2], [3, 1, 0], [998, 2, 1]] {
            let open = tube(Some(hole));
            assert_eq!(flood_of(&open), (open, 0));
        }
    }
}

#[test]
fn results_are_the_same_with_any_number_of_threads() {
    // More bricks than one task takes.
    let rng = &mut Rng::with_seed(7);
    let grids = [(); 3].map(|()| scattered([501, 333, 299], 60_000, rng));
    let all = || {
        let sets = grids[0].union(&grids[1]).subtract(&grids[2]);
        (vote_of(grids.each_ref()), filled_of(&grids[0]), flood_of(&grids[0]), sets)
    };
    let one = on_threads(1, all);
    for threads in [2, 3, 7] {
        assert!(on_threads(threads, all) == one, "{threads} threads");
    }
}

#[test]
fn progress_ends_at_its_total_and_cancelling_ends_the_fill() {
    // More nodes of the flood than two reports have, past the first bricks along every axis.
    let rng = &mut Rng::with_seed(8);
    let voxels = (0..20_000).map(|_| [rng.u32(20..501), rng.u32(20..333), rng.u32(20..299)]);
    let grid = VoxelGrid::from_voxels([501, 333, 299], voxels).unwrap();
    assert!(
        checked_progress(|progress| along_x(&grid, grid.dims(), u64::MAX, progress)) > 1,
        "along x"
    );
    assert!(
        checked_progress(|progress| vote([&grid; 3], grid.dims(), u64::MAX, progress)) > 1,
        "vote"
    );
    assert!(checked_progress(|progress| flood(&grid, u64::MAX, progress)) > 1, "flood");
}

#[test]
fn the_dimensions_of_grids_of_flips_have_no_effect() {
    for seed in 0..200 {
        let rng = &mut Rng::with_seed(seed);
        let grids = [0, 1, 2].map(|_| random_dims(rng)).map(|dims| random(rng, dims).grid());
        let dims = std::array::from_fn(|a| grids.iter().map(|g| g.dims()[a]).max().unwrap());
        let same = grids.each_ref().map(|g| VoxelGrid::from_voxels(dims, g.voxels()).unwrap());
        let found = vote(grids.each_ref(), dims, u64::MAX, &NoProgress).unwrap();
        assert!(found == vote_of(same.each_ref()), "seed {seed}");
    }
}

#[test]
fn a_fill_in_other_dimensions_is_that_in_larger_ones_cut_off() {
    for seed in 0..200 {
        let rng = &mut Rng::with_seed(seed);
        let dims = random_dims(rng);
        let grids = random_flips(rng, dims).each_ref().map(Dense::grid);
        let other = dims.map(|d| rng.u32(1..=2 * d));
        let all = [0, 1, 2].map(|a| dims[a].max(other[a]));
        let larger = grids.each_ref().map(|g| VoxelGrid::from_voxels(all, g.voxels()).unwrap());
        let cropped = |grid: VoxelGrid| grid.in_box([0; 3], other).unwrap();
        let (filled, open_columns) = filled_of(&larger[0]);
        let found = along_x(&grids[0], other, u64::MAX, &NoProgress).unwrap();
        assert!(found == (cropped(filled), open_columns), "seed {seed}");
        let (voted, disagreement) = vote_of(larger.each_ref());
        let found = vote(grids.each_ref(), other, u64::MAX, &NoProgress).unwrap();
        assert!(found == (cropped(voted), disagreement), "seed {seed}");
    }
}

#[test]
fn fills_in_dimensions_that_no_grid_has_are_refused() {
    let one = block([1; 3], [0; 3], [1; 3]);
    for dims in [[0, 1, 1], [1, 65_537, 1], [u32::MAX, 2, 1]] {
        assert!(along_x(&one, dims, u64::MAX, &NoProgress).is_err(), "{dims:?}");
        assert!(vote([&one; 3], dims, u64::MAX, &NoProgress).is_err(), "{dims:?}");
    }
}

#[test]
fn what_is_filled_lies_where_the_flips_lie() {
    let world = World::at([1.0, 2.0, 3.0], 32_768.0, Up::Z);
    for voxels in [vec![], vec![[1, 2, 3]]] {
        let grid = VoxelGrid::from_voxels([8; 3], voxels).unwrap().with_world(world);
        assert_eq!([filled_of(&grid).0.world, flood_of(&grid).0.world], [world; 2]);
        assert_eq!(vote_of([&grid; 3]).0.world, world);
    }
}
