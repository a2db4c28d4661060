//! `VoxelGrid` against a plain set of voxels, its canonical form, and its hash.
use std::collections::HashSet;

use crate::common::prelude::*;
use trivox::grid::compare::{self, compare};
use trivox::grid::count;
use trivox::lattice::MAX_DIM;
use trivox::{GridError, Place};

/// The reference: what a grid means.
type Set = HashSet<[u32; 3]>;

fn grid_of(dims: [u32; 3], set: &Set) -> VoxelGrid {
    VoxelGrid::from_voxels(dims, set.iter().copied()).unwrap()
}

/// Scattered voxels and blocks, many of which fill bricks and runs of bricks.
fn random_set(rng: &mut Rng, dims: [u32; 3]) -> Set {
    let mut set: Set = (0..rng.u32(0..40)).map(|_| dims.map(|d| rng.u32(0..d))).collect();
    for _ in 0..rng.u32(0..4) {
        // Aligned to bricks every other time.
        let align = if rng.bool() { !7 } else { !0 };
        let lo = dims.map(|d| rng.u32(0..d) & align);
        let hi = [0, 1, 2].map(|a| dims[a].min(lo[a] + rng.u32(1..=40)));
        set.extend(voxels_in(lo, hi));
    }
    set
}

fn random_dims(rng: &mut Rng) -> [u32; 3] {
    std::array::from_fn(|_| rng.u32(1..=45))
}

/// So many sets, each with its seed, the numbers that come after it, and its grid's size.
fn random_sets(count: u64) -> impl Iterator<Item = (u64, Rng, [u32; 3], Set)> {
    (0..count).map(|seed| {
        let mut rng = Rng::with_seed(seed);
        let dims = random_dims(&mut rng);
        let set = random_set(&mut rng, dims);
        (seed, rng, dims, set)
    })
}

/// What differs between a grid and what it should hold, or `None`.
fn fault(grid: &VoxelGrid, dims: [u32; 3], set: &Set) -> Option<&'static str> {
    let voxels: Vec<[u32; 3]> = grid.voxels().collect();
    let bounds = (!set.is_empty()).then(|| {
        let of = |a: usize| set.iter().map(move |v| v[a]);
        [[0, 1, 2].map(|a| of(a).min().unwrap()), [0, 1, 2].map(|a| of(a).max().unwrap())]
    });
    let keys: Vec<BrickKey> = grid.bricks().map(|(key, _)| key).collect();
    let bricks: HashSet<[u32; 3]> = set.iter().map(|v| v.map(|c| c / BRICK)).collect();
    let around = voxels_in([0; 3], dims.map(|d| d + 1)).step_by(7);
    let faults = [
        (grid.dims() != dims, "dims"),
        (grid.occupied() != set.len() as u64, "occupied"),
        (voxels.len() != set.len() || !voxels.iter().all(|v| set.contains(v)), "voxels"),
        (grid.occupied_bounds() != bounds, "occupied_bounds"),
        (grid.brick_count() != bricks.len() as u64, "brick_count"),
        (!keys.is_sorted_by(|a, b| a < b), "order of bricks"),
        (!keys.iter().all(|key| bricks.contains(&key.position())), "bricks"),
        (grid.bricks().any(|(_, mask)| count(&mask) == 0), "empty bricks"),
        (!set.iter().all(|&v| grid.contains(v)), "contains what is in it"),
        (!around.into_iter().all(|v| grid.contains(v) == set.contains(&v)), "contains"),
    ];
    faults.into_iter().find(|(wrong, _)| *wrong).map(|(_, what)| what)
}

#[test]
fn grids_hold_exactly_the_voxels_they_are_made_of() {
    for (seed, _, dims, set) in random_sets(400) {
        assert_eq!(fault(&grid_of(dims, &set), dims, &set), None, "seed {seed}");
    }
    let empty = VoxelGrid::empty([3, 4, 5]).unwrap();
    assert_eq!(fault(&empty, [3, 4, 5], &Set::new()), None);
    assert_eq!(empty, grid_of([3, 4, 5], &Set::new()));
}

/// The set with `voxel` in it if it was not, or the other way round.
fn flipped(set: &Set, voxel: [u32; 3]) -> Set {
    set ^ &Set::from([voxel])
}

#[test]
fn a_voxel_more_or_less_is_seen_by_the_comparison_with_a_set() {
    for (seed, mut rng, dims, set) in random_sets(100) {
        let wrong = flipped(&set, dims.map(|d| rng.u32(0..d)));
        assert!(fault(&grid_of(dims, &wrong), dims, &set).is_some(), "seed {seed}");
    }
}

/// The masks of a set, one per brick.
fn bricks_of(set: &Set) -> Vec<(BrickKey, Mask)> {
    let mut bricks = BTreeMap::new();
    for voxel in set {
        let mask: &mut Mask = bricks.entry(voxel.map(|c| c / BRICK)).or_default();
        let [x, y, z] = voxel.map(|c| c % BRICK);
        mask[x as usize] |= 1 << (8 * y + z);
    }
    bricks.into_iter().map(|(position, mask)| (BrickKey::new(position), mask)).collect()
}

#[test]
fn bricks_in_any_order_and_number_make_the_same_grid() {
    for (seed, mut rng, dims, set) in random_sets(200) {
        let expected = grid_of(dims, &set);
        let mut bricks = bricks_of(&set);
        // Some again, some in two halves, some empty.
        for index in 0..bricks.len() {
            let (key, mask) = bricks[index];
            let part: Mask = mask.map(|word| word & rng.u64(..));
            bricks.extend([(key, part), (key, [0; 8])]);
            if rng.bool() {
                bricks[index].1 = std::array::from_fn(|x| mask[x] & !part[x]);
            }
        }
        bricks.push((BrickKey::new([0; 3]), [0; 8]));
        rng.shuffle(&mut bricks);
        let grid = VoxelGrid::from_bricks(dims, bricks).unwrap();
        assert_eq!(grid, expected, "seed {seed}");
        assert_eq!(grid.hash(), expected.hash(), "seed {seed}");
        assert_eq!(fault(&grid, dims, &set), None, "seed {seed}");
        assert_eq!(VoxelGrid::from_bricks(dims, grid.bricks().collect()).unwrap(), expected);
    }
}

#[test]
fn any_voxel_flipped_changes_grid_and_hash() {
    let dims = [17, 10, 9];
    let set: Set = voxels_in([0; 3], [16, 8, 8]).chain([[16, 9, 8]]).collect();
    let grid = grid_of(dims, &set);
    let mut hashes = HashSet::from([grid.hash().to_string()]);
    for voxel in voxels_in([0; 3], dims) {
        let other = grid_of(dims, &flipped(&set, voxel));
        assert_ne!(other, grid);
        assert!(hashes.insert(other.hash().to_string()), "voxel {voxel:?}");
    }
}

#[test]
fn dims_are_part_of_the_hash_and_the_world_is_not() {
    let set = Set::from([[1, 2, 3]]);
    let grid = grid_of([8, 8, 8], &set);
    for dims in [[9, 8, 8], [8, 9, 8], [8, 8, 9]] {
        assert_ne!(grid_of(dims, &set).hash(), grid.hash());
    }
    let lattice = lattice_at([1.0, 2.0, 3.0], 32_768.0, [8; 3], 16);
    let placed = grid.clone().with_world(World::of(&lattice, Up::Z));
    assert_eq!(placed.hash(), grid.hash());
    assert_eq!(placed, grid);
    let world = placed.world.place.unwrap();
    assert_eq!((world.origin, world.voxel_size), ([1.0, 2.0, 3.0], 32_768.0));
}

/// The hash of a grid of `dims` that is described by `words`.
fn hash_of(dims: [u32; 3], words: impl IntoIterator<Item = u64>) -> String {
    let mut bytes = b"trivox grid 1".to_vec();
    dims.iter().for_each(|d| bytes.extend(d.to_le_bytes()));
    words.into_iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    blake3::hash(&bytes).to_hex()[..32].to_owned()
}

#[test]
fn the_hash_is_what_its_description_says_and_never_changes() {
    // Two full bricks in a row, one apart from them, and two voxels in a fourth.
    let dims = [40, 8, 16];
    let full = voxels_in([0; 3], [16, 8, 8]).chain(voxels_in([24, 0, 0], [32, 8, 8]));
    let set: Set = full.chain([[0, 0, 8], [3, 2, 15]]).collect();
    let mask = [1, 0, 0, 1 << (8 * 2 + 7), 0, 0, 0, 0];
    let words = [1, 1 << 26].into_iter().chain(mask).chain([2, 0, 2, 3, 1]);
    assert_eq!(grid_of(dims, &set).hash().to_string(), hash_of(dims, words));
    // Of known grids it never changes.
    let grid = block([20; 3], [0; 3], [20, 9, 20]);
    assert_eq!(grid.hash().to_string(), "143539759f932de9c5b7ca2315722573");
    let empty = VoxelGrid::empty([1; 3]).unwrap();
    assert_eq!(empty.hash().to_string(), "e63d7fc7f7029bd8fb7b19cc0716e440");
}

fn full_bricks(keys: impl IntoIterator<Item = [u32; 3]>) -> Vec<(BrickKey, Mask)> {
    keys.into_iter().map(|key| (BrickKey::new(key), FULL)).collect()
}

#[test]
fn a_run_of_full_bricks_ends_where_the_row_ends() {
    // The brick after the last of a row has the next key, but lies in the next row.
    let last = MAX_DIM / BRICK - 1;
    let keys = [[last - 1, 0, 0], [last, 0, 0], [0, 1, 0], [1, 1, 0], [last, last, 0], [0, 0, 1]];
    let grid = VoxelGrid::from_bricks([MAX_DIM; 3], full_bricks(keys)).unwrap();
    assert!(grid.bricks().map(|(key, _)| key.position()).eq(keys));
    let far = MAX_DIM - 1;
    assert!(grid.contains([far, 7, 7]) && grid.contains([0, 8, 0]) && grid.contains([far, far, 7]));
    assert!(!grid.contains([far, 8, 0]) && !grid.contains([16, 8, 0]) && !grid.contains([0; 3]));
    assert_eq!(grid.occupied_bounds(), Some([[0; 3], [far, far, 15]]));
    // Four runs, each a key and a length.
    let last = u64::from(last);
    let runs = [last - 1, 2, 1 << 13, 2, (last << 13) + last, 1, 1 << 26, 1];
    assert_eq!(grid.hash().to_string(), hash_of([MAX_DIM; 3], [0, 4].into_iter().chain(runs)));
}

#[test]
fn impossible_dims_are_refused() {
    for dims in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [MAX_DIM + 1, 1, 1], [1, 1, u32::MAX]] {
        let refused = Err(GridError::Dims(dims.map(u64::from)));
        assert_eq!(VoxelGrid::empty(dims), refused);
        assert_eq!(VoxelGrid::from_voxels(dims, []), refused);
        assert_eq!(VoxelGrid::from_voxels(dims, [dims.map(|d| d.saturating_sub(1))]), refused);
    }
    assert!(VoxelGrid::empty([MAX_DIM; 3]).is_ok());
}

#[test]
fn voxels_outside_the_grid_are_refused() {
    let dims = [9, 17, 8];
    for voxel in [[9, 0, 0], [0, 17, 0], [0, 0, 8], [8, 16, 8], [u32::MAX; 3]] {
        let outside = Err(GridError::Outside { voxel, dims });
        assert_eq!(VoxelGrid::from_voxels(dims, [[0; 3], voxel]), outside);
        if voxel[0] < MAX_DIM {
            let bricks = bricks_of(&Set::from([voxel]));
            assert_eq!(VoxelGrid::from_bricks(dims, bricks), outside);
        }
        let grid = VoxelGrid::from_voxels(dims, voxels_in([0; 3], dims)).unwrap();
        assert!(!grid.contains(voxel));
    }
}

#[test]
fn brick_keys_order_by_z_then_y_then_x_and_give_their_position_back() {
    let ends = [0, 1, MAX_DIM / BRICK - 1];
    let positions = (0..27).map(|i| [i % 3, i / 3 % 3, i / 9].map(|i| ends[i]));
    let keys: Vec<BrickKey> = positions.clone().map(BrickKey::new).collect();
    assert!(keys.is_sorted_by(|a, b| a < b));
    assert!(keys.iter().map(|key| key.position()).eq(positions));
    // A key is plain data, which may be cast from any bits.
    let no_position: BrickKey = bytemuck::cast(1_u64 << 39);
    let refused = VoxelGrid::from_bricks([8; 3], vec![(no_position, FULL)]);
    assert!(matches!(refused, Err(GridError::Outside { .. })), "{refused:?}");
}

/// Two sets of one size or two, some of whose bricks and runs are the same.
fn random_pair(rng: &mut Rng) -> [([u32; 3], Set); 2] {
    let dims = random_dims(rng);
    let other_dims = if rng.bool() { dims } else { random_dims(rng) };
    let set = random_set(rng, dims);
    let mut other = random_set(rng, other_dims);
    if rng.bool() {
        let fits = |v: &&[u32; 3]| (0..3).all(|a| v[a] < other_dims[a]);
        other.extend(set.iter().filter(fits));
    }
    [(dims, set), (other_dims, other)]
}

#[test]
fn set_operations_and_comparisons_are_those_of_sets_of_voxels() {
    for seed in 0..1000 {
        let mut rng = Rng::with_seed(seed);
        let pair = random_pair(&mut rng);
        let dims = std::array::from_fn(|i| pair[0].0[i].max(pair[1].0[i]));
        let [a, b] = pair.each_ref().map(|(dims, set)| grid_of(*dims, set));
        let [set_a, set_b] = pair.map(|(_, set)| set);
        let differing = &set_a ^ &set_b;
        for (grid, expected) in [
            (a.union(&b), &set_a | &set_b),
            (a.intersection(&b), &set_a & &set_b),
            (a.subtract(&b), &set_a - &set_b),
            (a.symmetric_difference(&b), differing.clone()),
        ] {
            assert_eq!(fault(&grid, dims, &expected), None, "seed {seed}");
            assert_eq!(grid, grid_of(dims, &expected), "seed {seed}");
        }
        let found: HashMap<_, _> = a.differing_voxels(&b).collect();
        assert_eq!(a.differing_voxels(&b).count(), differing.len(), "seed {seed}");
        let either = differing.iter().map(|voxel| (*voxel, set_a.contains(voxel)));
        assert_eq!(found, either.collect(), "seed {seed}");

        let found = compare(&a, &b, 5);
        assert_eq!(found.both, (&set_a & &set_b).len() as u64);
        assert_eq!(found.only, [&set_a - &set_b, &set_b - &set_a].map(|set| set.len() as u64));
        let differing = grid_of(dims, &differing);
        assert_eq!(found.bounds, differing.occupied_bounds(), "seed {seed}");
        let first = differing.voxels().map(|v| (v, usize::from(set_b.contains(&v))));
        assert_eq!(found.first, first.take(5).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn pieces_are_bricks_and_the_longest_runs_of_full_ones() {
    for (seed, _, dims, set) in random_sets(300) {
        let grid = grid_of(dims, &set);
        let pieces: Vec<_> = grid.brick_runs().collect();
        let bricks = pieces.iter().flat_map(|piece| {
            let [x, y, z] = piece.start.position();
            (x..x + piece.len).map(move |x| (BrickKey::new([x, y, z]), piece.mask))
        });
        assert!(bricks.eq(grid.bricks()), "seed {seed}");
        assert!(pieces.iter().all(|piece| piece.len == 1 || piece.mask == FULL));
        for pair in pieces.windows(2).filter(|pair| pair.iter().all(|p| p.mask == FULL)) {
            let [[x, y, z], next] = [0, 1].map(|i| pair[i].start.position());
            assert_ne!([x + pair[0].len, y, z], next, "seed {seed}");
        }
    }
}

#[test]
fn what_is_solid_is_walked_in_runs() {
    // 10^11 voxels in 2 x 10^8 bricks: brick by brick, this would take seconds and gigabytes.
    let rows = |len: u32| {
        let dims = [65_536, 1_248, 1_248];
        let ends = (0..156 * 156).flat_map(|i| [0, len].map(|x| [x, i % 156 * 8, i / 156 * 8]));
        let flips = ends.map(|v| (BrickKey::new(v.map(|c| c / 8)), [!0, 0, 0, 0, 0, 0, 0, 0]));
        let flips = VoxelGrid::from_bricks(dims, flips.collect()).unwrap();
        trivox::solid::fill::along_x(&flips, dims, u64::MAX, &NoProgress).unwrap().0
    };
    let [a, b] = [65_528, 65_520].map(rows);
    assert_eq!(a.brick_runs().count(), 156 * 156);
    assert_eq!(a.occupied_bounds(), Some([[0; 3], [65_527, 1_247, 1_247]]));
    assert_eq!((a.union(&b), a.intersection(&b)), (a.clone(), b.clone()));
    assert_eq!(a.subtract(&b).occupied(), 8 * 1_248 * 1_248);
    let found = compare(&a, &b, 3);
    assert_eq!((found.both, found.only), (b.occupied(), [8 * 1_248 * 1_248, 0]));
    assert_eq!(a.differing_voxels(&b).take(9).count(), 9);
}

#[test]
fn runs_of_the_longest_rows_stay_apart_whatever_writes_them() {
    let dims = [MAX_DIM, 16, 8];
    let rows = |begin: u32| {
        let row = |y: u32| (begin..MAX_DIM / BRICK).map(move |x| [x, y, 0]);
        VoxelGrid::from_bricks(dims, full_bricks(row(0).chain(row(1)))).unwrap()
    };
    let [all, less] = [0, 1].map(rows);
    assert_eq!(all.brick_runs().count(), 2);
    assert_eq!(all.union(&less), all);
    assert_eq!(all.intersection(&less), less);
    let first = full_bricks([[0, 0, 0], [0, 1, 0]]);
    assert_eq!(all.subtract(&less), VoxelGrid::from_bricks(dims, first).unwrap());
    assert_eq!(trivox::solid::fill::flood(&all, u64::MAX, &NoProgress).unwrap().0, all);
}

#[test]
fn a_voxel_has_a_colour_if_it_is_there_and_the_grid_has_colours() {
    let grid = VoxelGrid::from_voxels([9, 9, 9], [[0, 0, 0], [8, 8, 8]]).unwrap();
    assert_eq!(grid.color([0; 3]), None);
    let grid = painted_by(grid, BLUE, |voxel| (voxel == [8; 3]).then_some(RED));
    let colors = grid.colors.as_ref().unwrap();
    assert_eq!([[0; 3], [8; 3]].map(|voxel| grid.color(voxel)), [Some(BLUE), Some(RED)]);
    assert_eq!([[1, 0, 0], [9; 3], [u32::MAX; 3]].map(|voxel| grid.color(voxel)), [None; 3]);
    assert_eq!([[1, 0, 0], [u32::MAX; 3]].map(|voxel| colors.of(voxel)), [BLUE; 2]);
}

#[test]
fn the_centre_of_a_voxel_is_half_a_voxel_past_its_corner() {
    let place = Place { origin: [-1.5, 0.0, 4.0], voxel_size: 0.25 };
    let center = place.center([2, 0, 7]);
    assert_eq!(center, [-0.875, 0.125, 5.875]);
    assert_eq!(place.to_voxels(center), [2.5, 0.5, 7.5]);
    assert_eq!(place.to_voxels(place.origin), [0.0; 3]);
}

#[test]
fn a_comparison_of_solids_shows_on_their_surface_what_is_only_in_one() {
    let block = |x: u32| block([64; 3], [0; 3], [8 * x, 64, 64]);
    let [grey, orange, blue] = [[200, 200, 200, 255], [213, 94, 0, 255], [0, 114, 178, 255]];
    for half in [3, 5] {
        let both = compare::in_colors(&block(8), &block(half), grey, [orange, blue]);
        for voxel in both.voxels().filter(|voxel| voxel.iter().any(|&c| c == 0 || c == 63)) {
            let expected = if voxel[0] < 8 * half { grey } else { orange };
            assert_eq!(both.color(voxel), Some(expected), "{voxel:?}");
        }
    }
}

#[test]
fn a_grid_in_another_box_has_the_voxels_of_the_box_in_their_colours() {
    let mut in_runs = 0;
    for (seed, mut rng, dims, set) in random_sets(300) {
        let grid = grid_of(dims, &set).with_world(World::at([1.0, 2.0, 3.0], 0.5, Up::Z));
        in_runs += u32::from(grid.brick_runs().any(|run| run.len > 1));
        let color = |[x, y, z]: [u32; 3]| [x as u8, y as u8, z as u8, 255];
        // The other bricks have no colours of their own.
        let is_own = |voxel: [u32; 3]| voxel.map(|c| c / BRICK).iter().sum::<u32>() % 3 > 0;
        let grid = painted_by(grid, [9; 4], |voxel| is_own(voxel).then(|| color(voxel)));
        let low = dims.map(|dim| rng.i64(-20..i64::from(dim) + 9));
        let size = [(); 3].map(|()| rng.u32(1..40));
        let found = grid.in_box(low, size).unwrap();
        let inside = |voxel: &[u32; 3]| {
            let at = [0, 1, 2].map(|a| i64::from(voxel[a]) - low[a]);
            let is_inside = (0..3).all(|a| (0..i64::from(size[a])).contains(&at[a]));
            is_inside.then(|| (at.map(|c| c as u32), grid.color(*voxel)))
        };
        let expected: BTreeMap<_, _> = set.iter().filter_map(inside).collect();
        let colors = found.voxels().map(|voxel| (voxel, found.color(voxel)));
        assert!(colors.collect::<BTreeMap<_, _>>() == expected, "seed {seed}: {low:?}, {size:?}");
        assert_eq!(found, VoxelGrid::from_voxels(size, expected.into_keys()).unwrap());
        let place = found.world.place.unwrap();
        assert_eq!(place.origin, [0, 1, 2].map(|a| (a + 1) as f64 + 0.5 * low[a] as f64));
    }
    assert!(in_runs > 10, "{in_runs}");
    let whole = VoxelGrid::from_voxels([MAX_DIM, 1, 1], [[0; 3], [MAX_DIM - 1, 0, 0]]).unwrap();
    let moved = whole.in_box([-3, 0, 0], [MAX_DIM, 1, 1]).unwrap();
    assert_eq!(moved, VoxelGrid::from_voxels([MAX_DIM, 1, 1], [[3, 0, 0]]).unwrap());
    assert_eq!(whole.in_box([i64::MIN, 0, i64::MAX], [5; 3]).unwrap().occupied(), 0);
    assert!(whole.in_box([0; 3], [MAX_DIM + 1, 1, 1]).is_err());
}

#[test]
fn grids_of_one_lattice_are_brought_into_one_box() {
    let at = |origin: [f64; 3], size: f64, up| {
        let grid = VoxelGrid::from_voxels([3, 2, 2], [[0; 3], [2, 1, 1]]).unwrap();
        grid.with_world(World::at(origin, size, up))
    };
    let grid = at([0.0; 3], 0.5, Up::Y);
    let [one, other] = grid.in_one_box(&at([-0.5, 1.0, 0.0], 0.5, Up::Y)).unwrap();
    assert_eq!((one.dims(), other.dims(), one.world), ([4, 4, 2], [4, 4, 2], other.world));
    assert_eq!(one.voxels().collect::<Set>(), Set::from([[1, 0, 0], [3, 1, 1]]));
    assert_eq!(other.voxels().collect::<Set>(), Set::from([[0, 2, 0], [2, 3, 1]]));
    let far = GridError::FarFromOrigin { voxels: 2_000_000_000_000_000 };
    for (other, why) in [
        (at([0.25, 0.0, 0.0], 0.5, Up::Y), GridError::OtherLattice),
        (at([0.0; 3], 0.25, Up::Y), GridError::OtherLattice),
        (at([0.0; 3], 0.5, Up::Z), GridError::OtherLattice),
        (at([1e5, 0.0, 0.0], 0.5, Up::Y), GridError::Dims([200_003, 2, 2])),
        (at([1e15, 0.0, 0.0], 0.5, Up::Y), far),
        (at([0.0; 3], 0.5, Up::Y).with_world(World::default()), GridError::NoPlace),
    ] {
        assert_eq!(grid.in_one_box(&other).unwrap_err(), why);
    }
}
