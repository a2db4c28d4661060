//! The CPU backend against slow oracles: triangles of every extent at every place in their bricks,
//! few and many, cut by bounds, as large as the largest grid; within the memory that suffices.
use crate::common::memory::{memory_needed, run_within};
use crate::common::prelude::*;

/// The touched voxels, by this number of threads, in the least memory that is not refused.
fn in_least_memory(threads: usize, mesh: &PlacedMesh) -> VoxelGrid {
    let memory = memory_needed(threads, mesh, Rule::Conservative);
    run_within(threads, memory, mesh, Rule::Conservative).unwrap()
}

/// Asserts that the CPU finds the octree's touched voxels; returns them.
fn check(mesh: &PlacedMesh, what: &str) -> VoxelGrid {
    let grid = surface(mesh);
    assert_same(&grid, &oracle::voxelize_by_octree(mesh), what);
    grid
}

/// A triangle of which the bounding box touches exactly the voxels from `lo` to `hi`.
fn triangle_within(rng: &mut Rng, lo: [i32; 3], hi: [i32; 3]) -> Triangle {
    let mut triangle = [[0; 3]; 3];
    for a in 0..3 {
        // Past the face below, which the voxel before touches too, and short of the one above.
        let (first, last) = (lo[a] * UNIT, hi[a] * UNIT);
        let (min, max) = match rng.u32(0..4) {
            0 => (first + UNIT, last),
            _ => (first + rng.i32(1..=UNIT), last + rng.i32(0..UNIT)),
        };
        let (min, max) = if min > max { (first + 1, first + UNIT - 1) } else { (min, max) };
        let mut coordinates = [min, max, rng.i32(min..=max)];
        rng.shuffle(&mut coordinates);
        (0..3).for_each(|corner| triangle[corner][a] = coordinates[corner]);
    }
    triangle
}

#[test]
fn triangles_of_every_extent_at_every_place_in_their_bricks() {
    let mut rng = Rng::with_seed(1);
    let extents = voxels_in([0; 3], [5; 3]);
    let all = voxels_in([0; 3], [8; 3]).flat_map(|at| extents.clone().map(move |e| (at, e)));
    for (group, kinds) in all.collect::<Vec<_>>().chunks(4096).enumerate() {
        // Each triangle has a cell of 16 x 16 x 16 voxels to itself.
        let cells = voxels_in([0; 3], [16; 3]).map(|cell| cell.map(|c| 16 * c));
        let triangles = kinds.iter().zip(cells).map(|(&(offset, extent), cell)| {
            let lo = plus(cell, offset);
            triangle_within(&mut rng, lo.map(|c| c as i32), plus(lo, extent).map(|c| c as i32))
        });
        let mut triangles: Vec<Triangle> = triangles.collect();
        if group % 2 == 1 {
            rng.shuffle(&mut triangles);
        }
        let grid = check(&placed(&triangles, [256; 3]), &format!("triangles of group {group}"));
        assert!(grid.occupied() > 20_000);
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
    let grid = check(&at_resolution(&mesh_of(&triangles), 65_536), "the largest grid");
    assert!(grid.occupied() > 3 * 65_536);
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
    assert!(check(&mesh, "slice").occupied() > 65_536);
}

#[test]
fn grids_of_many_slabs() {
    let mut rng = Rng::with_seed(5);
    let extent = [20_000.0, 17_000.0, 600.0];
    let mut triangles = vec![[[0.0; 3], extent, [0.0, 3.0, 0.0]]];
    triangles.extend((0..300).map(|_| {
        let base = extent.map(|length| length * rng.f64());
        let size = [1.0, 10.0, 100.0][rng.usize(0..3)];
        [(); 3].map(|()| [0, 1, 2].map(|a| (base[a] + size * rng.f64()).min(extent[a])))
    }));
    let mesh = within(&mesh_of(&triangles), 1.0, [0.0; 3], extent);
    let expected = check(&mesh, "as much memory as it takes");
    for threads in [1, 7] {
        assert_same(&in_least_memory(threads, &mesh), &expected, "as little");
    }
}

#[test]
fn more_triangles_than_tasks_have_room_for() {
    // With one thread: eight tasks, and more than eight since none takes more than 65,536.
    for (count, size) in [(70_001, 2 * UNIT), (530_001, UNIT / 4)] {
        let dims = [128, 100, 77];
        let mesh = placed(&small_triangles(6, count, dims, size), dims);
        let expected = check(&mesh, &format!("{count} triangles, all threads"));
        let grid = on_threads(1, || surface(&mesh));
        assert_same(&grid, &expected, &format!("{count} triangles"));
    }
}

#[test]
fn every_number_of_triangles_around_a_group() {
    let dims = [24, 20, 70];
    let triangles = small_triangles(7, 200, dims, 6 * UNIT);
    for count in [1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 191, 192, 193] {
        check(&placed(&triangles[..count], dims), &format!("{count} triangles"));
    }
}

#[test]
fn what_a_refusal_says_is_needed_suffices() {
    for seed in 0..12 {
        let mut rng = Rng::with_seed(seed);
        let dims = [(); 3].map(|()| rng.u32(1..=128));
        let least = dims.into_iter().min().unwrap() as i32;
        let (large, small) = (rng.usize(1..=40), rng.usize(1..=4000));
        let mut triangles = soup(&mut rng, large, least * UNIT, 1);
        triangles.extend(small_triangles(seed, small, dims, rng.i32(1..=least.min(8)) * UNIT));
        let mesh = placed(&triangles, dims);
        let expected = surface(&mesh);
        for threads in [1, 2, 5] {
            let grid = in_least_memory(threads, &mesh);
            assert_same(&grid, &expected, &format!("seed {seed}, {threads} threads"));
        }
    }
}
