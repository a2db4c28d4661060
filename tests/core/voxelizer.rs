//! The way in: [`Voxelizer`] gives what its steps give, in order, and ends when it is told to.

use crate::common::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(feature = "gpu")]
use rayon::prelude::*;
#[cfg(feature = "gpu")]
use trivox::backend::Backends;
use trivox::engine::{Many, Timings, Warning};
use trivox::lattice::transform::{CenteredGrid, Rotation, TransformError};
use trivox::{DistanceField, MeshSource, Transform, VoxelizeError, Voxelized};

const LIGHTHOUSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/lighthouse.obj");

fn on_cpu() -> Voxelizer {
    Voxelizer::new().backend(BackendChoice::Cpu)
}

#[test]
fn everything_may_go_to_another_thread() {
    fn check<T: Send + Sync>() {}
    check::<(Voxelizer, Voxelized, VoxelizeError, Box<dyn Progress>)>();
    fn check_send<T: Send>() {}
    check_send::<Many<String>>();
}

#[test]
fn a_mesh_is_transformed_before_it_is_placed_wherever_it_comes_from() {
    let mesh = asset("lighthouse.obj");
    let transform = Transform {
        scale: Some(2.0),
        rotations: vec!["x:90".parse().unwrap(), "z:-30".parse().unwrap()],
        center: true,
        grid: Some(CenteredGrid { dims: [40, 32, 24], fills: true }),
    };
    let moved = transform.apply(mesh.clone()).unwrap();
    let place = transform.place_options(&moved, PlaceOptions::new(Sizing::Resolution(1)));
    let expected = on_cpu().place_options(place).run(&moved).unwrap().grid;
    assert_eq!(expected.dims(), [40, 32, 24]);
    let voxelizer = on_cpu().transform(transform);
    assert_eq!(voxelizer.run(&mesh).unwrap().grid, expected);
    assert_eq!(voxelizer.run(Path::new(LIGHTHOUSE)).unwrap().grid, expected);
    assert_eq!(voxelizer.distances(&mesh, 3.0).unwrap().field.dims(), [40, 32, 24]);
}

#[test]
fn distances_are_restored_from_their_parts() {
    let field = on_cpu().resolution(20).distances(octahedron(1.0), 2.5).unwrap().field;
    let grids = || [field.band().clone(), field.inside().clone()];
    let mut distances: Vec<f32> = field.distances().map(|(_, distance)| distance).collect();
    let again = DistanceField::of_parts(field.width(), grids(), distances.clone()).unwrap();
    assert_eq!((again.hash(), again.world()), (field.hash(), field.world()));
    let empty = || [(); 2].map(|()| VoxelGrid::empty([4; 3]).unwrap());
    for width in [0.0, -1.0, f32::INFINITY, f32::NAN] {
        assert!(DistanceField::of_parts(width, empty(), vec![]).is_none(), "{width}");
    }
    distances.pop();
    assert!(DistanceField::of_parts(field.width(), grids(), distances).is_none());
    let voxels: Vec<([u32; 3], f32)> = field.distances().collect();
    let made = |width, voxels| DistanceField::of_voxels(width, field.inside().clone(), voxels);
    let reversed = voxels.iter().rev().copied().collect();
    let again = made(field.width(), reversed).unwrap();
    assert_eq!((again.hash(), again.world()), (field.hash(), field.world()));
    let (voxel, distance) = voxels[9];
    for (width, voxels, message) in [
        (f32::NAN, vec![], "a width of NaN voxels is not possible"),
        (2.5, vec![([0, 99, 0], 1.0)], "voxel (0, 99, 0) lies outside a grid"),
        (2.5, vec![([1, 1, 1], 2.0); 2], "voxel (1, 1, 1) appears twice"),
        (2.5, vec![(voxel, -distance)], "negative inside"),
        (2.5, vec![(voxel, 2.5)], "a distance of 2.5 is not possible for voxel ("),
        (2.5, vec![(voxel, f32::NAN)], "a distance of NaN is not possible for voxel ("),
    ] {
        let error = made(width, voxels).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn distances_differ_in_the_bands_and_in_their_signs_beyond() {
    let grid = |voxels: &[[u32; 3]]| VoxelGrid::from_voxels([9; 3], voxels.to_vec()).unwrap();
    let (near, far, inside) = ([1, 2, 3], [8, 0, 8], [4, 4, 4]);
    let field = |width, band: &[[u32; 3]], solid: &[[u32; 3]], distance| {
        let distances = vec![distance; band.len()];
        DistanceField::of_parts(width, [grid(band), grid(solid)], distances).unwrap()
    };
    let one = field(2.0, &[near, inside], &[inside], 0.5);
    for (other, differing) in [
        (one.clone(), vec![]),
        (field(2.0, &[near, inside], &[near, inside], 0.5), vec![near]),
        (field(2.0, &[inside], &[inside], 0.5), vec![near]),
        (field(2.0, &[near, inside, far], &[inside], 0.5), vec![far]),
        // Beyond the bands.
        (field(2.0, &[near, inside], &[inside, far], 0.5), vec![far]),
        (field(3.0, &[near, inside], &[inside], 0.5), vec![]),
    ] {
        assert!(one.differing_voxels(&other).eq(differing.clone()), "{differing:?}");
        assert!(other.differing_voxels(&one).eq(differing.clone()), "{differing:?}");
    }
}

/// Cancels at these of its questions.
#[derive(Debug)]
struct Cancel {
    at: Range<usize>,
    asked: AtomicUsize,
}

impl Progress for Cancel {
    fn is_cancelled(&self) -> bool {
        self.at.contains(&self.asked.fetch_add(1, Ordering::SeqCst))
    }
}

fn cancel(at: Range<usize>) -> Arc<Cancel> {
    Arc::new(Cancel { at, asked: AtomicUsize::new(0) })
}

/// Takes 0.6 s for a mesh.
struct Slow;

impl Progress for Slow {
    fn start(&self, step: &str, _: u64) {
        if step == "place" {
            std::thread::sleep(Duration::from_millis(600));
        }
    }
}

#[test]
fn each_mesh_has_a_time_limit() {
    let voxelizer = on_cpu().time_limit(Duration::ZERO);
    assert!(voxelizer.run(octahedron(1.0)).unwrap_err().is_cancelled());
    assert!(voxelizer.distances(octahedron(1.0), 2.0).unwrap_err().is_cancelled());
    let meshes = || (0..4).map(|n| (n, octahedron(1.0)));
    let mut late = voxelizer.many(meshes()).unwrap();
    assert!(late.all(|(_, result)| result.is_err_and(|error| error.is_cancelled())));
    // Together they take longer than the limit of each.
    let slow = on_cpu().threads(1).progress(Arc::new(Slow));
    for limit in [Duration::from_secs(2), Duration::MAX] {
        let mut in_time = slow.clone().time_limit(limit).many(meshes()).unwrap();
        assert!(in_time.all(|(_, result)| result.is_ok()), "{limit:?}");
    }
}

#[test]
fn the_voxels_are_those_of_the_steps() {
    let mesh = asset("lighthouse.obj");
    let grid = surface(&at_resolution(&mesh, 64));
    let voxelizer = on_cpu().resolution(64);
    let of_file = voxelizer.run(Path::new(LIGHTHOUSE)).unwrap();
    assert!(of_file.grid.voxels().eq(grid.voxels()));
    assert!(of_file.grid.colors.is_some() && of_file.grid.world.place.is_some());
    assert_eq!(of_file.backend.name(), "cpu");
    assert!(of_file.timings.load > Some(Duration::ZERO) && of_file.timings.color.is_some());
    assert_eq!(voxelizer.run(&mesh).unwrap().grid, of_file.grid);
    let placed = voxelizer.place(LIGHTHOUSE).unwrap();
    let voxelized = voxelizer.voxelize(&placed).unwrap();
    let painted = voxelizer.paint(&placed.mesh, voxelized).unwrap();
    let colors = |grid: &VoxelGrid| -> Vec<_> { grid.voxels().map(|at| grid.color(at)).collect() };
    assert!(painted.grid == of_file.grid && colors(&painted.grid) == colors(&of_file.grid));
    assert_eq!(painted.warnings, of_file.warnings);
    let of_placed = |timings: Timings| (timings.load, timings.place);
    assert_eq!(of_placed(painted.timings), of_placed(placed.timings));
    // Texture coordinates of triangles without a texture are NaN: meshes are not compared whole.
    let loaded = voxelizer.load(LIGHTHOUSE).unwrap().mesh;
    assert!(loaded.positions() == mesh.positions() && loaded.triangles() == mesh.triangles());
    let own_threads = voxelizer.clone().threads(3).run(&mesh).unwrap();
    assert_eq!(own_threads.grid, of_file.grid);
    let plain = voxelizer.color(ColorSource::None).run(&mesh).unwrap();
    assert!(plain.grid.colors.is_none());
    assert_ne!(plain.timings, Timings::default());
}

#[test]
fn a_mesh_in_memory_has_the_sidecar_files_of_the_folder() {
    let path = Path::new(LIGHTHOUSE);
    let (bytes, spec) = (std::fs::read(path).unwrap(), MeshSpec::of_path(path).unwrap());
    let voxelizer = on_cpu().resolution(32);
    let expected = voxelizer.run(path).unwrap();
    let of_bytes = |sidecars| MeshSource::Bytes { bytes: (&*bytes).into(), spec, sidecars };
    let with = voxelizer.run(of_bytes(Sidecars::beside(path))).unwrap();
    assert_eq!(with.grid, expected.grid);
    assert!(expected.grid.colors.is_some());
    assert!(expected.grid.voxels().all(|v| with.grid.color(v) == expected.grid.color(v)));
    let without = voxelizer.run(of_bytes(Sidecars::none())).unwrap();
    assert!(without.grid.voxels().eq(expected.grid.voxels()));
    assert!(!without.warnings.is_empty());
}

#[test]
fn warnings_say_what_is_left_out() {
    let far = Bounds { min: [10.0; 3], max: [12.0; 3] };
    let missed = on_cpu().resolution(8).bounds(far).run(octahedron(1.0)).unwrap();
    let said: Vec<String> = missed.warnings.iter().map(Warning::to_string).collect();
    let outside = "8 triangles reach outside the bounds; what lies there has no voxels";
    let missed = "no voxel is occupied: the grid misses the surface: it lies beside the mesh, or \
                  inside it, where only a solid has voxels";
    assert_eq!(said, [outside, missed]);
}

#[test]
fn a_mesh_of_few_voxels_is_doubted_unless_few_are_asked_for() {
    let said = |voxelizer: Voxelizer, radius: f64| {
        let warnings = voxelizer.run(octahedron(radius)).unwrap().warnings;
        warnings.iter().map(Warning::to_string).collect::<Vec<_>>()
    };
    let of_unit = || on_cpu().voxel_size(1.0);
    let centered = || of_unit().bounds(Bounds { min: [-2.0; 3], max: [2.0; 3] });
    let small = "the mesh is 0.6 x 0.6 x 0.6 units and a voxel 1";
    let point = "the mesh is less than a thousandth of a voxel of 1 units";
    for (voxelizer, radius, mesh, voxels) in [
        (of_unit(), 0.3, small, "1 voxel is"),
        (centered(), 0.3, small, "8 voxels are"),
        (of_unit(), 1e-9, point, "1 voxel is"),
    ] {
        let doubt = format!("{mesh}, so {voxels} occupied: are the units those you mean?");
        assert_eq!(said(voxelizer, radius), [doubt]);
    }
    // More voxels, a resolution of few, and a part of a grid.
    let wide = Bounds { min: [-8.0; 3], max: [8.0; 3] };
    let tile = of_unit().bounds(wide).tile("1/8".parse().unwrap());
    for (voxelizer, radius) in [(centered(), 1.5), (on_cpu().resolution(1), 1.5), (tile, 0.3)] {
        assert_eq!(said(voxelizer, radius), Vec::<String>::new());
    }
}

#[test]
fn a_batch_is_in_order_and_has_errors_of_items() {
    let voxelizer = on_cpu().voxel_size(0.25).mode(Mode::Solid(Solid::default())).threads(4);
    let radius = |i: usize| 1.0 + i as f64;
    let item = move |i: usize| match i % 5 {
        3 => (i, MeshSource::from("not there.obj")),
        _ => (i, octahedron(radius(i)).into()),
    };
    let (mut runs, mut distances) = (0, 0);
    for (i, result) in voxelizer.many((0..30).map(item)).unwrap() {
        assert_eq!(i, runs);
        match result {
            Err(VoxelizeError::Read(_)) => assert_eq!(i % 5, 3),
            result => {
                let alone = voxelizer.run(octahedron(radius(i))).unwrap();
                assert_eq!(result.unwrap().grid, alone.grid, "{i}");
            }
        }
        runs += 1;
    }
    for (i, result) in voxelizer.many_distances((0..6).map(item), 2.5).unwrap() {
        assert_eq!(i, distances);
        match result {
            Err(VoxelizeError::Read(_)) => assert_eq!(i, 3),
            result => {
                let alone = voxelizer.distances(octahedron(radius(i)), 2.5).unwrap();
                assert!(result.unwrap().field == alone.field, "{i}");
            }
        }
        distances += 1;
    }
    assert_eq!([runs, distances], [30, 6]);
}

#[cfg(feature = "gpu")]
#[test]
fn threads_of_one_rayon_pool_may_share_a_gpu() {
    let voxelizer = Voxelizer::new().resolution(40).backend(BackendChoice::Gpu);
    if let Err(VoxelizeError::Backend(error)) = voxelizer.run(octahedron(1.0)) {
        return environment::skip_without_adapter(&error.to_string());
    }
    // Not open yet: the first runs open it.
    let shared = voxelizer.backends(Arc::new(Backends::new(BackendChoice::Gpu, None)));
    let expected = on_cpu().resolution(40).run(octahedron(1.0)).unwrap();
    // Many small steps in each, so that a thread that waits finds work to steal.
    let are_equal = |voxelizer: &Voxelizer| {
        let run = |_| voxelizer.run(octahedron(1.0)).unwrap().grid;
        (0..24).into_par_iter().map(run).all(|grid| grid == expected.grid)
    };
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap());
    let within = shared.clone().pool(Arc::clone(&pool));
    assert!(pool.install(|| are_equal(&within)));
    assert!(are_equal(&shared) && are_equal(&shared.clone().threads(2)));
}

#[test]
fn a_mesh_of_a_batch_that_needs_more_than_its_share_has_all_memory() {
    let (path, mesh) = (asset_path("tetrahedron.obj"), asset("tetrahedron.obj"));
    let voxelizer = on_cpu().resolution(512).threads(4);
    let needed = (16..40)
        .map(|bits| 1 << bits)
        .find(|&memory: &u64| voxelizer.clone().memory(memory).run(&mesh).is_ok());
    let voxelizer = voxelizer.memory(needed.unwrap());
    let mut items: Vec<(usize, MeshSource)> = (0..5).map(|i| (i, mesh.clone().into())).collect();
    let (bytes, spec) = (fs::read(&path).unwrap().into(), MeshSpec::of_path(&path).unwrap());
    items.push((5, MeshSource::Bytes { bytes, spec, sidecars: Sidecars::none() }));
    assert!(voxelizer.many(items.clone()).unwrap().all(|(_, result)| result.is_ok()));
    let too_little = voxelizer.memory(1 << 12);
    let mut results = too_little.many(items).unwrap();
    assert!(results.all(|(_, result)| result.is_err_and(|error| error.is_memory())));
}

#[test]
fn steps_advance_by_their_totals() {
    // Without one side it is filled by generalized winding numbers.
    let whole = octahedron(1.0);
    let open = with_triangles(&whole, whole.triangles()[1..].to_vec());
    let painted = asset("lighthouse.obj");
    for (mesh, mode, step) in
        [(open, Mode::Solid(Solid::default()), "fill"), (painted, Mode::Surface, "color")]
    {
        let steps = Arc::new(Steps::default());
        let voxelizer = on_cpu().resolution(100).mode(mode).threads(2);
        voxelizer.progress(steps.clone()).run(&mesh).unwrap();
        let steps = steps.0.lock().unwrap();
        let of_step: Vec<_> = steps.iter().filter(|(name, ..)| name == step).collect();
        assert!(!of_step.is_empty(), "no step '{step}' in {steps:?}");
        assert!(of_step.iter().all(|(_, total, done)| *total > 0 && total == done), "{steps:?}");
    }
    let steps = Arc::new(Steps::default());
    on_cpu().progress(steps.clone()).place(Path::new(LIGHTHOUSE)).unwrap();
    let bytes = std::fs::metadata(LIGHTHOUSE).unwrap().len();
    assert!(steps.0.lock().unwrap().contains(&("load".to_owned(), bytes, bytes)), "{steps:?}");
}

/// Cancelled from the question `after` on, the work ends with an error before many more questions.
fn assert_cancelled(voxelizer: &Voxelizer, mesh: &Mesh, after: usize, what: &str) {
    let cancel = cancel(after..usize::MAX);
    let voxelizer = voxelizer.clone().threads(2).progress(cancel.clone());
    let error = voxelizer.run(mesh).expect_err("cancelled");
    assert!(matches!(error, VoxelizeError::Backend(BackendError::Cancelled)), "{error}");
    let asked = cancel.asked.load(Ordering::SeqCst);
    assert!(asked < after + 60, "{what}: asked {asked} times, cancelled at {after}");
}

#[test]
fn cancelling_ends_the_work_soon_whenever_it_is() {
    for mode in [Mode::Surface, Mode::Thin, Mode::Solid(Solid::default())] {
        let voxelizer = on_cpu().resolution(4096).mode(mode).color(ColorSource::None);
        for after in [0, 1, 3, 10] {
            assert_cancelled(&voxelizer, &octahedron(1.0), after, &format!("{mode:?}"));
        }
    }
    let no_memory = on_cpu().resolution(65_536).memory(1 << 20);
    let error = no_memory.run(octahedron(1.0)).expect_err("too little memory");
    assert!(error.is_memory(), "{error}");
    assert_cancelled(&no_memory, &octahedron(1.0), 3, "the search for too large a grid");
    // Large triangles, each a patch: to look at all of them takes many seconds.
    let soup = mesh_of(&large_triangles(30_000));
    let voxelizer = on_cpu().resolution(64).mode(Mode::Solid(Solid::default()));
    assert_cancelled(&voxelizer, &soup, 40, "the search for flipped triangles");
}

#[test]
fn a_grid_is_whole_even_if_the_cancellation_is_withdrawn() {
    let open = || asset("lighthouse.obj");
    for mode in [Mode::Surface, Mode::Solid(Solid::default())] {
        let voxelizer = on_cpu().resolution(300).mode(mode).threads(2);
        let whole = voxelizer.run(open()).unwrap().grid;
        let mut cancelled = 0;
        for after in 0..60 {
            match voxelizer.clone().progress(cancel(after..after + 1)).run(open()) {
                Ok(result) => assert!(result.grid == whole, "{mode:?}, poll {after}"),
                Err(error) => {
                    assert!(error.is_cancelled(), "{error}");
                    cancelled += 1;
                }
            }
        }
        assert!(cancelled > 20, "{mode:?}: {cancelled}");
    }
}

#[test]
fn options_are_checked_as_runs_use_them() {
    let lattice = Lattice::of(&octahedron(1.0), &resolution(20)).unwrap();
    let wrong = Lattice { scale: 2.0 * lattice.scale, ..lattice };
    // With a lattice, the resolution is not used.
    let none = on_cpu().resolution(0);
    for (voxelizer, is_possible) in
        [(none.clone(), false), (none.clone().lattice(lattice), true), (none.lattice(wrong), false)]
    {
        assert_eq!(voxelizer.check().is_ok(), is_possible, "{voxelizer:?}");
        assert_eq!(voxelizer.run(octahedron(1.0)).is_ok(), is_possible, "{voxelizer:?}");
    }
}

#[test]
fn impossible_transforms_are_refused() {
    let refused = |transform| on_cpu().transform(transform).run(octahedron(1.0)).unwrap_err();
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(Transform { scale: Some(scale), ..Transform::default() });
        assert!(matches!(error, VoxelizeError::Transform(TransformError::Scale(_))), "{error}");
    }
    let rotations = vec![Rotation { axis: 3, degrees: 90.0 }];
    let error = refused(Transform { rotations, ..Transform::default() });
    assert!(matches!(error, VoxelizeError::Transform(TransformError::Axis(3))), "{error}");
    let grid = Some(CenteredGrid { dims: [4, 0, 4], fills: true });
    let error = refused(Transform { grid, ..Transform::default() });
    assert!(matches!(error, VoxelizeError::Place(PlaceError::Dims { .. })), "{error}");
}

#[test]
fn given_dimensions_are_not_padded_for_distances() {
    let grid = Some(CenteredGrid { dims: [24; 3], fills: false });
    let around = on_cpu().resolution(16);
    let centered = around.clone().transform(Transform { grid, ..Transform::default() });
    let inside = |voxelizer: &Voxelizer| {
        let field = voxelizer.distances(octahedron(1.0), 3.0).unwrap().field;
        (field.dims(), field.inside().occupied())
    };
    let (dims, occupied) = inside(&around);
    assert_eq!(dims, [22; 3]);
    assert_eq!(inside(&centered), ([24; 3], occupied));
    // Four voxels are around the mesh: the centre of the fifth is at 4.5. A vertex of no triangle
    // cuts no band.
    let positions = [octahedron(1.0).positions(), &[[1e3; 3]]].concat();
    let vertex = Mesh::new(positions, octahedron(1.0).triangles().to_vec()).unwrap();
    for (voxelizer, mesh, width, warnings) in [
        (&centered, octahedron(1.0), 4.5, vec![]),
        (&centered, octahedron(1.0), 4.75, vec![Warning::CutBand { width: 4.75 }]),
        (&around, octahedron(1.0), 4.75, vec![]),
        (&around, vertex, 3.0, vec![]),
    ] {
        assert_eq!(voxelizer.distances(mesh, width).unwrap().warnings, warnings, "{width}");
    }
    // A band that ends before a grid beside the mesh is not cut by it.
    let bounds = Bounds { min: [2.0, -1.0, -1.0], max: [4.0, 1.0, 1.0] };
    let beside = on_cpu().voxel_size(0.125).bounds(bounds);
    for (width, is_cut) in [(7.5, false), (9.5, true)] {
        let warnings = beside.distances(octahedron(1.0), width).unwrap().warnings;
        assert_eq!(warnings.contains(&Warning::CutBand { width }), is_cut, "{width}: {warnings:?}");
    }
}

#[test]
fn backend_and_adapter_can_be_set_in_any_order() {
    let text = |voxelizer: Voxelizer| format!("{voxelizer:?}");
    let one = text(Voxelizer::new().backend(BackendChoice::Gpu).adapter("llvm"));
    assert!(one.contains("choice: Gpu, adapter: Some(\"llvm\")"), "{one}");
    assert_eq!(text(Voxelizer::new().adapter("llvm").backend(BackendChoice::Gpu)), one);
}

#[test]
fn an_estimate_is_about_what_the_work_takes() {
    let voxelizer = on_cpu().resolution(512);
    let mesh = octahedron(1.0);
    let estimate = voxelizer.estimate(&mesh).unwrap();
    let grid = voxelizer.run(&mesh).unwrap().grid;
    let bricks = grid.brick_count();
    assert_eq!(estimate.dims, grid.dims());
    assert!((bricks..20 * bricks).contains(&estimate.brick_pairs), "{estimate:?} {bricks}");
    assert!(estimate.memory >= grid.bytes(), "{estimate:?} {}", grid.bytes());
    let tile = voxelizer.clone().tile("2/2x1x1".parse::<trivox::Tile>().unwrap());
    assert_eq!(tile.estimate(&mesh).unwrap().dims, tile.run(&mesh).unwrap().grid.dims());
    let finer = voxelizer.resolution(1024).estimate(&mesh).unwrap();
    assert!(finer.core_seconds > 3.0 * estimate.core_seconds);
}

#[cfg(feature = "gpu")]
#[test]
fn without_a_gpu_a_browser_says_why_the_cpu_computes_unless_a_gpu_was_asked_for() {
    let run = |choice| {
        let voxelizer = Voxelizer::new().resolution(9).backend(choice);
        let placed = voxelizer.place(octahedron(1.0)).unwrap();
        let run = voxelizer.voxelize_async(&placed, Err("there is no WebGPU here"));
        pollster::block_on(run).map(|made| (made.backend.name(), made.backend.reason))
    };
    let on_cpu = |reason: &str| Ok(("cpu", reason.to_owned()));
    assert_eq!(run(BackendChoice::Auto), on_cpu("there is no WebGPU here"));
    assert_eq!(run(BackendChoice::Cpu), on_cpu("asked for"));
    let refused = run(BackendChoice::Gpu).unwrap_err();
    assert_eq!(trivox::ErrorCode::code(&refused), "backend.no_adapter");
    assert!(refused.to_string().ends_with("there is no WebGPU here"), "{refused}");
}
