//! The CPU backend against slow oracles: triangles of every extent at every place in their bricks,
//! few and many, cut by bounds, as large as the largest grid; within the memory that suffices.
use crate::common::memory::{memory_needed, voxelize_within};
use crate::common::prelude::*;

/// A triangle of which the bounding box touches exactly the voxels from `lo` to `hi`.
fn triangle_within(rng: &mut Rng, lo: [i32; 3], hi: [i32; 3]) -> Triangle {
    let mut triangle = [[0; 3]; 3];
    for a in 0..3 {
        // Past the face below, which the voxel before touches too, and short of the one above.
        let (mut min, mut max) =
            (lo[a] * UNIT + rng.i32(1..=UNIT), hi[a] * UNIT + rng.i32(0..UNIT));
        if rng.u32(0..4) == 0 {
            (min, max) = ((lo[a] + 1) * UNIT, hi[a] * UNIT);
        }
        if min > max {
            (min, max) = (lo[a] * UNIT + 1, (lo[a] + 1) * UNIT - 1);
        }
        let mut coordinates = [min, max, rng.i32(min..=max)];
        rng.shuffle(&mut coordinates);
        (0..3).for_each(|corner| triangle[corner][a] = coordinates[corner]);
    }
    triangle
}

/// Voxels along an edge of the cell that a triangle has to itself.
const CELL: i32 = 16;

#[test]
fn triangles_of_every_extent_at_every_place_in_their_bricks() {
    let mut rng = Rng::with_seed(1);
    let offsets = (0..512).map(|i| [i >> 6, i >> 3 & 7, i & 7]);
    let extents = (0..125).map(|i| [i / 25, i / 5 % 5, i % 5]);
    let all = offsets.flat_map(|offset| extents.clone().map(move |extent| (offset, extent)));
    let all: Vec<([i32; 3], [i32; 3])> = all.collect();
    for (group, kinds) in all.chunks(4096).enumerate() {
        let triangles = kinds.iter().zip(0..).map(|(&(offset, extent), cell)| {
            let cell = [cell >> 8, cell >> 4 & 15, cell & 15];
            let lo: [i32; 3] = std::array::from_fn(|a| cell[a] * CELL + offset[a]);
            triangle_within(&mut rng, lo, std::array::from_fn(|a| lo[a] + extent[a]))
        });
        let mut triangles: Vec<Triangle> = triangles.collect();
        if group % 2 == 1 {
            rng.shuffle(&mut triangles);
        }
        let mesh = placed(&triangles, [256; 3]);
        let expected = oracle::voxelize_by_octree(&mesh);
        assert!(expected.occupied() > 20_000);
        assert_same(&surface(&mesh), &expected, &format!("triangles of group {group}"));
    }
}

#[test]
fn bounds_cut_triangles_of_every_extent() {
    let mut rng = Rng::with_seed(2);
    for _ in 0..150 {
        let dims: [u32; 3] = std::array::from_fn(|_| rng.u32(1..=20));
        let triangles = (0..40).map(|_| {
            let lo: [i32; 3] = std::array::from_fn(|a| rng.i32(-6..=dims[a] as i32 + 1));
            let hi = lo.map(|lo| lo + if rng.bool() { rng.i32(0..5) } else { rng.i32(0..26) });
            triangle_within(&mut rng, lo, hi)
        });
        let mesh = placed(&triangles.collect::<Vec<_>>(), dims);
        assert_same(&surface(&mesh), &oracle::voxelize(&mesh), &format!("{dims:?}"));
    }
}

#[test]
fn triangles_as_long_as_the_largest_grid() {
    // A sliver between opposite corners, and a segment: as few voxels as such can have. And small
    // ones anywhere.
    let sliver = 3.0 / 65_536.0;
    let mut triangles = vec![
        [[0.0; 3], [1.0; 3], [0.7, 0.7 + sliver, 0.7 - sliver]],
        [[0.1, 0.9, 0.0], [0.3, 0.7, 0.2], [0.2, 0.8, 0.1]],
    ];
    let mut rng = Rng::with_seed(12);
    triangles.extend((0..20).map(|_| {
        let base = [(); 3].map(|()| rng.f64() * 0.999);
        [(); 3].map(|()| base.map(|c| c + rng.f64() / 1000.0))
    }));
    let mesh = at_resolution(&mesh_of(&triangles), 65_536);
    let grid = surface(&mesh);
    assert!(grid.occupied() > 3 * 65_536);
    assert_same(&grid, &oracle::voxelize_by_octree(&mesh), "the largest grid");
}

#[test]
fn a_triangle_as_large_as_the_largest_grid_in_a_slice_of_it() {
    // 65,536 x 65,536 voxels and a few layers, which a triangle as wide and as high crosses.
    let top = 5.0 / 65_536.0;
    let steep = [[0.0, 0.0, 0.0], [1.0, 1.0, top], [0.9999, 1.0, 300.0 * top]];
    let cut = [[0.2, 0.0, -1.0], [0.3, 1.0, 1.0], [0.3001, 1.0, 1.0]];
    let bounds = Bounds { min: [0.0; 3], max: [1.0, 1.0, top] };
    let options = PlaceOptions::new(Sizing::Resolution(65_536)).with_bounds(bounds);
    let mesh = place(&mesh_of(&[steep, cut]), &options).unwrap();
    assert_eq!(mesh.lattice().dims, [65_536, 65_536, 5]);
    let grid = surface(&mesh);
    assert!(grid.occupied() > 65_536);
    assert_same(&grid, &oracle::voxelize_by_octree(&mesh), "slice");
}

#[test]
fn grids_of_many_slabs() {
    let mut rng = Rng::with_seed(5);
    let extent = [20_000.0, 17_000.0, 600.0];
    let number = |rng: &mut Rng, a: usize| extent[a] * rng.f64();
    let mut triangles: Vec<_> = (0..300)
        .map(|_| {
            let base = [0, 1, 2].map(|a| number(&mut rng, a));
            let size = [1.0, 10.0, 100.0][rng.usize(0..3)];
            [(); 3].map(|()| [0, 1, 2].map(|a| (base[a] + size * rng.f64()).min(extent[a])))
        })
        .collect();
    triangles.push([[0.0; 3], extent, [0.0, 3.0, 0.0]]);
    let mesh = within(&mesh_of(&triangles), 1.0, [0.0; 3], extent);
    let expected = oracle::voxelize_by_octree(&mesh);
    assert_same(&surface(&mesh), &expected, "as much memory as it takes");
    for threads in [1, 7] {
        let grid = voxelize_within(threads, memory_needed(threads, &mesh), &mesh).unwrap();
        assert_same(&grid, &expected, "as little");
    }
}

#[test]
fn more_triangles_than_tasks_have_room_for() {
    // With one thread: eight tasks, and more than eight since none takes more than 65,536.
    for (count, size) in [(70_001, 2 * UNIT), (530_001, UNIT / 4)] {
        let dims = [128, 100, 77];
        let mesh = placed(&small_triangles(6, count, dims, size), dims);
        let expected = oracle::voxelize_by_octree(&mesh);
        let grid = on_threads(1, || surface(&mesh));
        assert_same(&grid, &expected, &format!("{count} triangles"));
        assert_same(&surface(&mesh), &expected, &format!("{count} triangles, all threads"));
    }
}

#[test]
fn every_number_of_triangles_around_a_group() {
    let dims = [24, 20, 70];
    let triangles = small_triangles(7, 200, dims, 6 * UNIT);
    for count in [1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 191, 192, 193] {
        let mesh = placed(&triangles[..count], dims);
        let expected = oracle::voxelize_by_octree(&mesh);
        assert_same(&surface(&mesh), &expected, &format!("{count} triangles"));
    }
}

#[test]
fn what_a_refusal_says_is_needed_suffices() {
    for seed in 0..12 {
        let mut rng = Rng::with_seed(seed);
        let dims: [u32; 3] = std::array::from_fn(|_| rng.u32(1..=128));
        let (count, size) = (rng.usize(1..=40), UNIT << rng.u32(0..=3));
        let reach = dims.into_iter().min().unwrap() as i32 * UNIT;
        let mut triangles = soup(&mut rng, count, reach, 1);
        if dims.iter().all(|&d| d as i32 * UNIT > size) {
            triangles.extend(small_triangles(seed, rng.usize(1..=4000), dims, size));
        }
        let mesh = placed(&triangles, dims);
        let expected = surface(&mesh);
        for threads in [1, 2, 5] {
            let needed = memory_needed(threads, &mesh);
            let grid = voxelize_within(threads, needed, &mesh);
            let grid = grid.unwrap_or_else(|e| panic!("seed {seed}, {threads} threads: {e:?}"));
            assert_same(&grid, &expected, &format!("seed {seed}, {threads} threads"));
        }
    }
}
