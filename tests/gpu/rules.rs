//! The GPU by every rule and kernel, on every adapter: equal to the slow oracle and to the CPU, to
//! the bit, whatever the sizes, the limits, the bounds and the order.
use crate::common::prelude::*;
use crate::common::rules::{RULES, voxelize as oracle};
use crate::{Method, by, run};
use trivox::backend::VoxelKernel;

/// Every rule, and the second kernel of the one that has two.
fn methods() -> impl Iterator<Item = Method> {
    let voxels = RunOptions { kernel: VoxelKernel::Voxels, ..RunOptions::default() };
    RULES.map(by).into_iter().chain([(Rule::Conservative, voxels)])
}

fn cpu_grid(mesh: &PlacedMesh, rule: Rule) -> VoxelGrid {
    run(&Cpu, mesh, by(rule)).grid
}

/// Every method with the grid of its rule.
fn with_grids(grids: &[VoxelGrid; RULES.len()]) -> impl Iterator<Item = (Method, &VoxelGrid)> {
    methods().zip(grids.iter().chain(&grids[..1]))
}

/// Compares all rules on all adapters with the oracle, and returns how many voxels each names.
fn check(meshes: &[(String, PlacedMesh)]) -> [u64; RULES.len()] {
    let mut named = [0; RULES.len()];
    let expected: Vec<[VoxelGrid; RULES.len()]> =
        meshes.iter().map(|(_, mesh)| RULES.map(|rule| oracle(mesh, rule))).collect();
    for grids in &expected {
        (0..RULES.len()).for_each(|i| named[i] += grids[i].occupied());
    }
    for (label, gpu) in gpus(adapters()) {
        for ((name, mesh), grids) in meshes.iter().zip(&expected) {
            for (method, expected) in with_grids(grids) {
                let what = format!("{label}, {method:?}, {name}");
                assert_same(&run(&gpu, mesh, method).grid, expected, &what);
            }
        }
    }
    named
}

/// Half of the square between two corners, in voxels, across `axis` at the height `along`.
fn sheet(axis: Axis, [lo, hi]: [i32; 2], along: i32) -> Triangle {
    [[lo, lo], [hi, lo], [lo, hi]].map(|corner| axis.unproject(corner.map(|c| c * UNIT), along))
}

/// Grid steps of the corners, in lattice units. With half voxels, crossings are at centres, corners,
/// edges and faces.
const STEPS: [i32; 4] = [UNIT / 2, UNIT, UNIT / 8, 1];

#[test]
fn soups_of_triangles_of_every_size_on_the_lattice_and_off() {
    let mut rng = Rng::with_seed(1);
    let mut meshes = Vec::new();
    for round in 0..24 {
        let dims: [u32; 3] = std::array::from_fn(|_| rng.u32(1..=40));
        let reach = dims.into_iter().min().unwrap() as i32 * UNIT;
        let mut triangles = soup(&mut rng, 200, reach, STEPS[round % 4]);
        triangles.extend(degenerate_soup(&mut rng, 50, reach, STEPS[round % 4]));
        meshes.push((format!("round {round}"), placed(&triangles, dims)));
    }
    let named = check(&meshes);
    assert!(named.iter().all(|&n| n > 3_000), "{named:?}");
}

/// Voxels between the origins of small meshes in one grid: a mesh spans at most 13, so each voxel
/// is decided by one of them.
const APART: i32 = 15;

/// A mesh of at most 16 triangles, up to `reach` units wide; some begin before the origin.
fn small_mesh(rng: &mut Rng, number: usize, reach: i32) -> Vec<Triangle> {
    let step = STEPS[number % 4];
    let count = rng.usize(1..=16);
    let triangles = match number % 3 {
        0 => degenerate_soup(rng, count, reach, step),
        _ => soup(rng, count, reach, step),
    };
    let by = std::array::from_fn(|_| -step * rng.i32(0..=UNIT / step));
    all_moved(&triangles, by)
}

#[test]
fn random_small_meshes_agree_with_the_oracle_on_cpu_and_gpu() {
    const ALONE: usize = 32;
    let count = environment::number("TRIVOX_SOUPS", ALONE);
    let mut rng = Rng::with_seed(4);
    let gpus: Vec<(String, Gpu)> = gpus(adapters()).collect();
    let mut named = [0; RULES.len()];
    let (mut runs, mut made) = (0, 0);
    while made < count {
        // The first are alone in their grids; then up to 256 share one, and each run costs less.
        // Few along x, along which windings add up.
        let most = if made < ALONE { [1; 3] } else { [4, 8, 8] };
        let [nx, ny, nz] = most.map(|most| rng.i32(1..=most));
        let (mut triangles, mut dims) = (Vec::new(), [0; 3]);
        for cell in 0..nx * ny * nz {
            let by = [cell / (ny * nz), cell / nz % ny, cell % nz].map(|c| c * APART * UNIT);
            dims = std::array::from_fn(|_| rng.i32(1..=12));
            let reach = dims.into_iter().max().unwrap() * UNIT;
            let mesh = small_mesh(&mut rng, made, reach);
            triangles.extend(all_moved(&mesh, by));
            made += 1;
        }
        // The grid ends with the last, whose longer triangles it cuts.
        let before = [nx, ny, nz].map(|n| (n - 1) * APART);
        let mesh = placed(&triangles, std::array::from_fn(|a| (before[a] + dims[a]) as u32));
        let expected = RULES.map(|rule| oracle(&mesh, rule));
        for (index, (rule, expected)) in RULES.into_iter().zip(&expected).enumerate() {
            assert_same(&cpu_grid(&mesh, rule), expected, &format!("{rule:?}, run {runs}"));
            named[index] += expected.occupied();
        }
        for (method, expected) in with_grids(&expected) {
            for (label, gpu) in &gpus {
                let what = format!("{label}, {method:?}, run {runs}");
                assert_same(&run(gpu, &mesh, method).grid, expected, &what);
            }
        }
        runs += 1;
    }
    let (methods, adapters) = (methods().count(), gpus.len());
    println!("{made} meshes in {runs} grids by {methods} methods on {adapters} adapters");
    assert!(named.iter().all(|&n| n > 3 * count as u64), "{named:?}");
}

#[test]
fn bounds_cut_triangles_and_what_lies_before_them_still_counts() {
    let mut rng = Rng::with_seed(2);
    let mut meshes = Vec::new();
    for round in 0..24 {
        let dims: [u32; 3] = std::array::from_fn(|_| rng.u32(1..=30));
        let triangles = soup(&mut rng, 60, 60 * UNIT, [UNIT / 2, 1][round % 2]);
        let mesh = placed(&all_moved(&triangles, [-15 * UNIT; 3]), dims);
        meshes.push((format!("round {round}"), mesh));
    }
    check(&meshes);
    // Along each axis some triangles lie before the grid, and count for its first voxels.
    for (a, rule) in (0..).zip(Axis::ALL.map(Rule::Parity)).chain([(0, Rule::Winding)]) {
        let grids = meshes.iter().map(|(_, mesh)| cpu_grid(mesh, rule));
        let first = |grid: VoxelGrid| grid.voxels().filter(|voxel| voxel[a] == 0).count();
        let before: usize = grids.map(first).sum();
        assert!(before > 100, "{rule:?}: {before}");
    }
}

#[test]
fn sheets_at_centres_faces_and_between_before_the_grid_and_past_it_count_once() {
    // Sheets across each axis at every quarter of a voxel from well before the grid to past its
    // end.
    let sheets = (-8..=40).map(|quarter| {
        let triangles = Axis::ALL.map(|axis| sheet(axis, [-1, 20], quarter * UNIT / 4));
        (format!("quarter {quarter}"), placed(&triangles, [9, 8, 7]))
    });
    let named = check(&sheets.collect::<Vec<_>>());
    assert!(named.iter().all(|&n| n > 1000), "{named:?}");
}

#[test]
fn one_place_may_be_crossed_any_number_of_times() {
    let mut triangles = sheets();
    let named = check(&[("sheets".into(), placed(&triangles, [8; 3]))]);
    assert_eq!(named[5], 3 * 28, "in, out, and in again by the other side");
    triangles.extend([moved(triangles[0], [-7 * UNIT, 0, 0]); 7]);
    let named = check(&[("sheets".into(), placed(&triangles, [8; 3]))]);
    assert_eq!(named[5], 2 * 28, "in before the grid, and out by as many in the end");
}

#[test]
fn windows_on_triangles_that_span_a_million_voxels() {
    let mut rng = Rng::with_seed(5);
    let sizes = [1e-4, 1e-4, 1e-4, 1e-3, 1e-3, 1e-3];
    let window = |size| ("window".into(), window_on_wide_triangles(&mut rng, size, 40));
    let named = check(&sizes.map(window));
    assert!(named.iter().all(|&n| n > 1000), "{named:?}");
}

#[test]
fn triangles_across_a_large_grid_are_those_of_the_cpu() {
    // Off the axes, so that the nodes of higher levels are refined.
    let corners = [[0.0, 0.1, 0.2], [1.0, 0.9, 0.3], [0.4, 1.0, 1.0]];
    let mesh = mesh_of(&[corners, [corners[2], corners[0], [0.9, 0.0, 0.6]]]);
    let mesh = at_resolution(&mesh, 520);
    let Some(gpu) = fast_gpu() else { return };
    for method in methods() {
        let expected = cpu_grid(&mesh, method.0);
        assert!(expected.occupied() > 50_000);
        assert_same(&run(&gpu, &mesh, method).grid, &expected, &format!("{method:?}"));
    }
}

#[test]
fn shrunken_limits_run_in_parts_and_change_nothing() {
    let [triangles, pairs, bricks, crossings, candidates] = [50, 64, 7, 200, 600];
    let several = BatchLimits { triangles, pairs, bricks, crossings, candidates, groups: 1 };
    // With the least number of parts that each makes necessary.
    let budgets = [
        (1, UNLIMITED),
        (80, BatchLimits { triangles: 1, ..UNLIMITED }),
        (5, BatchLimits { triangles: 17, ..UNLIMITED }),
        (60, BatchLimits { pairs: 1, ..UNLIMITED }),
        (3, BatchLimits { pairs: 60, bricks: 10, crossings: 100, ..UNLIMITED }),
        (10, BatchLimits { bricks: 1, crossings: 1, ..UNLIMITED }),
        (3, BatchLimits { candidates: 1, ..UNLIMITED }),
        (1, BatchLimits { groups: 1, ..UNLIMITED }),
        (4, several),
    ];
    // On half voxels, and between bricks, so that crossings are on the faces of parts; in the grid,
    // and some before it.
    let mut rng = Rng::with_seed(6);
    let mut triangles = soup(&mut rng, 77, 20 * UNIT, UNIT / 2);
    triangles.extend(Axis::ALL.map(|axis| sheet(axis, [0, 20], 8 * UNIT)));
    let meshes = [[0; 3], [-7 * UNIT; 3]].map(|by| placed(&all_moved(&triangles, by), [20; 3]));
    let Some(adapter) = fast_adapters().into_iter().next() else { return };
    // Those of which each has a last stage of its own; the others need no other test of this.
    let methods = methods().filter(|(rule, _)| !matches!(rule, Rule::Parity(Axis::X | Axis::Z)));
    let methods: Vec<Method> = methods.collect();
    let grids = |(rule, _): &Method| meshes.each_ref().map(|mesh| oracle(mesh, *rule));
    let expected: Vec<[VoxelGrid; 2]> = methods.iter().map(grids).collect();
    for (least, batch_limits) in budgets {
        let gpu = Gpu::new(&adapter).unwrap().with_batch_limits(batch_limits);
        for (method, [whole, cut]) in methods.iter().zip(&expected) {
            let (parts, what) = (Counts::default(), format!("{method:?}, {batch_limits:?}"));
            let (rule, options) = *method;
            let first = Backend::Gpu(&gpu).run(&meshes[0], rule, &options, &parts).unwrap();
            assert_same(&first.grid, whole, &what);
            let parts = parts.parts.into_inner();
            assert!(parts >= least && (least > 1 || parts == 1), "{parts} parts: {what}");
            // The enlarged buffers of the first run are kept for the second.
            assert_same(&run(&gpu, &meshes[1], *method).grid, cut, &format!("{what}, cut"));
        }
    }
}

#[test]
fn a_list_that_is_too_short_is_made_longer_and_nothing_counts_twice() {
    // More listed crossings than the initial capacity: 32 of one direction in each voxel.
    let sheet = [[0, 0, 0], [0, 16 * UNIT, 0], [0, 0, 16 * UNIT]];
    let sheets = (0..512).map(|i| moved(sheet, [i * UNIT / 32, 0, 0]));
    let mesh = placed(&sheets.collect::<Vec<_>>(), [16; 3]);
    let expected = oracle(&mesh, Rule::Winding);
    assert!(expected.occupied() > 0);
    for (label, gpu) in gpus(fast_adapters()) {
        let first = run(&gpu, &mesh, by(Rule::Winding));
        assert_same(&first.grid, &expected, &label);
        assert!(first.report.unwrap().runs > 1, "{label}");
        let again = run(&gpu, &mesh, by(Rule::Winding)).report.unwrap();
        assert_eq!((again.runs, again.waits), (1, 2), "{label}");
    }
}

#[test]
fn order_of_triangles_and_of_rules_makes_no_difference() {
    let mut rng = Rng::with_seed(8);
    let mut triangles = soup(&mut rng, 500, 30 * UNIT, 1);
    let cpu_grids = |triangles: &[Triangle]| {
        let mesh = placed(triangles, [30; 3]);
        RULES.map(|rule| cpu_grid(&mesh, rule))
    };
    let expected = cpu_grids(&triangles);
    let mut shuffled: Vec<_> = with_grids(&expected).collect();
    for (label, gpu) in gpus(fast_adapters()) {
        for _ in 0..3 {
            rng.shuffle(&mut triangles);
            rng.shuffle(&mut shuffled);
            let mesh = placed(&triangles, [30; 3]);
            for (method, expected) in &shuffled {
                let what = format!("{label}, {method:?}");
                assert_same(&run(&gpu, &mesh, *method).grid, expected, &what);
            }
        }
    }
    let less = cpu_grids(&triangles[..450]);
    assert!(expected.iter().zip(&less).all(|(a, b)| a != b), "missing triangles are noticed");
}

#[test]
fn a_rule_reports_its_own_stages_and_waits_once_or_again_for_listed_crossings() {
    let mesh = placed_soup(9, 300, 40, 1);
    let shared = ["seed", "refine", "mark_bricks", "scan_blocks", "rank_bricks"];
    let Some(gpu) = fast_gpu() else { return };
    let [parity, crossings] = ["parity", "mark_crossings"];
    let last = ["voxel_rows", "six_separating", parity, parity, parity, crossings, "voxels"];
    for (method, last) in methods().zip(last) {
        run(&gpu, &mesh, method);
        let report = run(&gpu, &mesh, method).report.unwrap();
        let names: Vec<&str> = report.stages.iter().map(|stage| stage.name).collect();
        assert_eq!(names, [&shared[..], &[last]].concat(), "{method:?}");
        let waits = if last == crossings { 2 } else { 1 };
        assert_eq!((report.runs, report.waits), (1, waits), "{method:?}");
        assert!(report.stages.iter().all(|s| s.dispatches > 0 && s.invocations > 0 && s.bytes > 0));
    }
}

#[test]
fn counts_are_those_of_a_known_mesh() {
    // A square of 4 x 4 centres within a brick, seen along x; edge-on along y and z.
    let at = |y: i32, z: i32| [3 * UNIT, y * UNIT, z * UNIT];
    let square = [[at(1, 1), at(5, 1), at(5, 5)], [at(1, 1), at(5, 5), at(1, 5)]];
    let mesh = placed(&square, [8; 3]);
    for (_, gpu) in gpus(fast_adapters()) {
        for (rule, stage, pairs) in [
            (Rule::SixSeparating, "six_separating", 2),
            (Rule::Parity(Axis::X), "parity", 2),
            // No centre is within bounds without extent.
            (Rule::Parity(Axis::Y), "parity", 0),
            (Rule::Winding, "mark_crossings", 2),
        ] {
            let report = run(&gpu, &mesh, by(rule)).report.unwrap();
            let last = report.stages.iter().find(|s| s.name == stage).unwrap();
            assert_eq!((last.invocations, last.tests), (16 * pairs, 16 * pairs), "{rule:?}");
            // Per pair its table entry and the brick index there; one brick, read and written.
            let bytes = if pairs == 0 { 0 } else { 64 * pairs + 8 + 8 * pairs + 2 * 72 };
            assert_eq!(last.bytes, bytes, "{rule:?}");
        }
    }
}

#[test]
fn memory_that_does_not_hold_the_grid_is_refused_with_a_figure_that_does() {
    // Some of them before the grid.
    let mut triangles = soup(&mut Rng::with_seed(10), 400, 120 * UNIT, 1);
    for triangle in triangles.iter_mut().step_by(7) {
        *triangle = moved(*triangle, [-50 * UNIT; 3]);
    }
    let mesh = placed(&triangles, [120; 3]);
    let Some(adapter) = fast_adapters().into_iter().next() else { return };
    // In one part, and in several.
    let gpus = [u32::MAX, 99].map(|bricks| {
        Gpu::new(&adapter).unwrap().with_batch_limits(BatchLimits { bricks, ..UNLIMITED })
    });
    for (rule, gpu) in RULES.into_iter().flat_map(|rule| gpus.each_ref().map(|gpu| (rule, gpu))) {
        let within = |memory| {
            let options = RunOptions { memory, ..RunOptions::default() };
            Backend::Gpu(gpu).run(&mesh, rule, &options, &NoProgress)
        };
        let grid = cpu_grid(&mesh, rule);
        for too_little in [72 * grid.brick_count(), 0] {
            let Err(BackendError::Memory { needed, allowed }) = within(too_little) else {
                panic!("{rule:?}: refused")
            };
            assert_eq!(allowed, too_little);
            let what = format!("{rule:?}, {needed} bytes");
            assert_same(&within(needed).unwrap().grid, &grid, &what);
        }
    }
}
