//! The CPU backend by every rule, against the slow oracle: triangles of every size, cut by bounds,
//! on any number of threads and within any bound on memory.
use crate::common::memory::assert_same_or_refused;
use crate::common::pairs::triangle_past_the_origin;
use crate::common::prelude::*;
use crate::common::rules::{RULES, voxelize as oracle};

fn run(mesh: &PlacedMesh, rule: Rule) -> VoxelGrid {
    Backend::Cpu(&Cpu).run(mesh, rule, &RunOptions::default(), &NoProgress).unwrap().grid
}

/// Compares all rules, and returns how many voxels each names.
fn check(mesh: &PlacedMesh, what: &str) -> [u64; RULES.len()] {
    RULES.map(|rule| {
        let expected = oracle(mesh, rule);
        assert_same(&run(mesh, rule), &expected, &format!("{rule:?}, {what}"));
        expected.occupied()
    })
}

#[test]
fn soups_of_triangles_of_every_size_and_on_the_lattice() {
    let mut rng = Rng::with_seed(1);
    let mut named = [0; RULES.len()];
    for round in 0..240 {
        let dims: [u32; 3] = std::array::from_fn(|_| rng.u32(1..=24));
        let reach = dims.into_iter().min().unwrap() as i32 * UNIT;
        // Half voxels have crossings at centres, corners, edges and faces.
        let step = [UNIT / 2, UNIT, UNIT / 8, 1][round % 4];
        let count = rng.usize(1..=60);
        let mut triangles = soup(&mut rng, count, reach, step);
        triangles.extend(degenerate_soup(&mut rng, 3, reach, step));
        let found = check(&placed(&triangles, dims), &format!("round {round}"));
        (0..RULES.len()).for_each(|i| named[i] += found[i]);
    }
    assert!(named.iter().all(|&n| n > 5_000), "{named:?}");
}

#[test]
fn bounds_cut_triangles_and_what_lies_before_them_still_counts() {
    let mut rng = Rng::with_seed(2);
    let mut before = 0;
    for round in 0..200 {
        let dims: [u32; 3] = std::array::from_fn(|_| rng.u32(1..=20));
        let step = [UNIT / 2, 1][round % 2];
        let triangles = all_moved(&soup(&mut rng, 30, 40 * UNIT, step), [-10 * UNIT; 3]);
        let mesh = placed(&triangles, dims);
        check(&mesh, &format!("round {round}"));
        let first = run(&mesh, Rule::Parity(trivox::predicate::Axis::X));
        before += first.voxels().filter(|v| v[0] == 0).count();
    }
    assert!(before > 1000, "{before}");
}

#[test]
fn planes_that_pass_a_voxels_corner_by_less_than_f64_can_tell() {
    let mut rng = Rng::with_seed(3);
    for round in 0..3000 {
        let gap = rng.i32(-2..=2);
        let (steps, step) = [(4, UNIT), (8, UNIT / 2)][round % 2];
        let corner: [i32; 3] = std::array::from_fn(|_| rng.i32(0..=steps) * step);
        let triangle = moved(triangle_past_the_origin(&mut rng, gap, 22), corner);
        check(&placed(&[triangle], [4; 3]), &format!("gap {gap}"));
    }
}

#[test]
fn any_number_of_threads_and_any_bound_on_memory_gives_the_same_grid_or_is_refused() {
    // Of all sizes, in 13 layers of bricks.
    let (mut rng, dims) = (Rng::with_seed(4), [100, 70, 101]);
    let mut triangles = soup(&mut rng, 30, 70 * UNIT, 1);
    triangles.extend(small_triangles(4, 3000, dims, 5 * UNIT));
    rng.shuffle(&mut triangles);
    let mesh = placed(&triangles, dims);
    for rule in RULES {
        let expected = oracle(&mesh, rule);
        for threads in [1, 2, 3, 7] {
            let grid = on_threads(threads, || run(&mesh, rule));
            assert_same(&grid, &expected, &format!("{rule:?}, {threads} threads"));
            let steps = if rule == Rule::Conservative { 20 } else { 10 };
            assert_same_or_refused(threads, &mesh, rule, &expected, steps);
        }
    }
}

#[test]
fn one_place_may_be_crossed_any_number_of_times() {
    let named = check(&placed(&sheets(), [8; 3]), "sheets");
    assert_eq!(named[5], 3 * 28, "in, out, and in again by the other side");
}

#[test]
fn windows_on_triangles_that_span_a_million_voxels() {
    let mut rng = Rng::with_seed(5);
    let mut touched = 0;
    for size in [1e-4, 1e-3, 1e-2].repeat(6) {
        let resolution = rng.u32(40..=64);
        touched += check(&window_on_wide_triangles(&mut rng, size, resolution), "window")[0];
    }
    assert!(touched > 20_000, "{touched}");
}
