//! The GPU backend against brute force and the CPU, on every adapter: equal to the bit, whatever
//! the sizes, the limits and the order.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::gpu::adapters;
use common::shapes::{degenerate_soup, placed, soup, unit_cube};
use common::{oracle, shapes};
use fastrand::Rng;
use trivox::backend::gpu::Budget;
use trivox::backend::{Chosen, Rule, Run, RunOptions};
use trivox::gpu::Adapter;
use trivox::place::Triangle;
use trivox::{
    Backend, BackendError, Bounds, Cpu, Gpu, Mesh, NoProgress, PlaceOptions, PlacedMesh, Progress,
    Sizing, VoxelGrid, place,
};

const VOXEL: i32 = 1 << 16;

const UNLIMITED: Budget = Budget {
    triangles: u32::MAX,
    pairs: u32::MAX,
    bricks: u32::MAX,
    crossings: u32::MAX,
    candidates: u32::MAX,
    groups: u32::MAX,
};

fn on_every_adapter(mut test: impl FnMut(&Adapter, &str)) {
    for adapter in adapters() {
        test(&adapter, &adapter.label());
    }
}

fn gpu_grid(gpu: &Gpu, mesh: &PlacedMesh) -> VoxelGrid {
    gpu.voxelize(mesh, &NoProgress).unwrap()
}

fn cpu_grid(mesh: &PlacedMesh) -> VoxelGrid {
    Cpu::default().voxelize(mesh, &NoProgress).unwrap()
}

/// Soups of every kind in a grid that is not cubic and ends within bricks.
fn soups() -> Vec<PlacedMesh> {
    let mut rng = Rng::with_seed(3);
    let dims = [37, 20, 29];
    let reach = 20 * VOXEL;
    let meshes: [Vec<Triangle>; 4] = [
        soup(&mut rng, 300, reach, 1),
        soup(&mut rng, 300, reach, VOXEL / 2),
        degenerate_soup(&mut rng, 300, reach, 1),
        degenerate_soup(&mut rng, 300, reach, VOXEL / 2),
    ];
    meshes.into_iter().map(|triangles| placed(&triangles, dims)).collect()
}

#[test]
fn brute_force_cpu_and_every_adapter_give_the_same_grid() {
    let expected: Vec<(PlacedMesh, VoxelGrid)> =
        soups().into_iter().map(|mesh| (mesh.clone(), oracle::voxelize(&mesh))).collect();
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        for (mesh, grid) in &expected {
            assert!(grid.occupied() > 100);
            assert_eq!(&cpu_grid(mesh), grid);
            assert_eq!(&gpu_grid(&gpu, mesh), grid, "{label}");
        }
    });
}

#[test]
fn counts_around_workgroups_and_blocks_make_no_difference() {
    let mut rng = Rng::with_seed(4);
    let triangles = soup(&mut rng, 2050, 12 * VOXEL, 1);
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        for count in [1, 2, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049] {
            let mesh = placed(&triangles[..count], [12; 3]);
            assert_eq!(gpu_grid(&gpu, &mesh), cpu_grid(&mesh), "{label}, {count} triangles");
        }
    });
}

#[test]
fn grids_of_every_depth_agree() {
    // Levels of nodes begin at 8, 64 and 512 voxels; sizes to either side of each, and not cubic.
    let mut rng = Rng::with_seed(5);
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        for dims in [[1, 1, 1], [1, 300, 2], [7, 8, 9], [63, 64, 65], [130, 9, 70], [70, 80, 90]] {
            let reach = f64::from(dims.iter().max().copied().unwrap());
            let triangles: Vec<[[f64; 3]; 3]> =
                (0..60).map(|_| [(); 3].map(|()| [(); 3].map(|()| rng.f64() * reach))).collect();
            let bounds = Bounds { min: [0.0; 3], max: dims.map(f64::from) };
            let options = PlaceOptions::new(Sizing::VoxelSize(1.0)).with_bounds(bounds);
            let mesh = place(&shapes::mesh_of(&triangles), &options).unwrap();
            assert_eq!(gpu_grid(&gpu, &mesh), cpu_grid(&mesh), "{label}, {dims:?}");
        }
    });
}

#[test]
fn a_triangle_across_a_large_grid_is_found_without_testing_its_bounds() {
    let corners = [[0.0, 0.1, 0.2], [1.0, 0.9, 0.3], [0.4, 1.0, 1.0]];
    let mesh = shapes::mesh_of(&[corners]);
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        let mesh = place(&mesh, &PlaceOptions::new(Sizing::Resolution(520))).unwrap();
        assert_eq!(gpu_grid(&gpu, &mesh), cpu_grid(&mesh), "{label}");
    });
}

/// Counts the parts in which work is done.
#[derive(Default)]
struct Parts(AtomicUsize);

impl Progress for Parts {
    fn start(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn shrunken_limits_run_in_parts_and_change_nothing() {
    // With the least number of parts that each makes necessary.
    let budgets = [
        (1, UNLIMITED),
        (80, Budget { triangles: 1, ..UNLIMITED }),
        (5, Budget { triangles: 17, ..UNLIMITED }),
        (80, Budget { pairs: 1, ..UNLIMITED }),
        (3, Budget { pairs: 100, bricks: 10, ..UNLIMITED }),
        (20, Budget { bricks: 1, ..UNLIMITED }),
        (10, Budget { candidates: 1, ..UNLIMITED }),
        (1, Budget { groups: 1, ..UNLIMITED }),
        (
            4,
            Budget { triangles: 50, pairs: 64, bricks: 7, candidates: 600, groups: 1, ..UNLIMITED },
        ),
    ];
    let mut rng = Rng::with_seed(6);
    let mesh = placed(&soup(&mut rng, 80, 20 * VOXEL, 1), [20; 3]);
    let expected = cpu_grid(&mesh);
    // One adapter that is not the slowest will do: the parts are the host's work.
    let Some(adapter) = adapters().into_iter().find(|a| !a.label().contains("SwiftShader")) else {
        return;
    };
    for (least, budget) in budgets {
        let gpu = Gpu::new(&adapter).unwrap().with_budget(budget);
        let parts = Parts::default();
        assert_eq!(gpu.voxelize(&mesh, &parts).unwrap(), expected, "{budget:?}");
        let parts = parts.0.into_inner();
        assert!(parts >= least && (least > 1 || parts == 1), "{parts} parts: {budget:?}");
        // The enlarged buffers of the first run are kept for the second.
        assert_eq!(gpu_grid(&gpu, &mesh), expected, "{budget:?} again");
    }
}

#[test]
fn vertices_that_no_triangle_uses_change_nothing() {
    let mut vertices = vec![[0.0; 3], [1.0, 0.3, 0.0], [0.2, 1.0, 0.7]];
    let plain = Mesh::new(vertices.clone(), vec![[0, 1, 2]]).unwrap();
    vertices.extend((1..=1000).map(|i| [f64::from(i) / 1000.0; 3]));
    let padded = Mesh::new(vertices, vec![[0, 1, 2]]).unwrap();
    let options = PlaceOptions::new(Sizing::Resolution(20));
    let [plain, padded] = [plain, padded].map(|mesh| place(&mesh, &options).unwrap());
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        assert_eq!(gpu_grid(&gpu, &padded), cpu_grid(&plain), "{label}");
    });
}

#[test]
fn order_of_triangles_makes_no_difference() {
    let mut rng = Rng::with_seed(8);
    let mut triangles = soup(&mut rng, 500, 30 * VOXEL, 1);
    let expected = cpu_grid(&placed(&triangles, [30; 3]));
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        let mut triangles = triangles.clone();
        for _ in 0..3 {
            rng.shuffle(&mut triangles);
            assert_eq!(gpu_grid(&gpu, &placed(&triangles, [30; 3])), expected, "{label}");
        }
    });
    triangles.pop();
    assert_ne!(cpu_grid(&placed(&triangles, [30; 3])), expected, "a missing triangle is noticed");
}

#[test]
fn a_cube_fills_its_shell_at_many_sizes() {
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        for n in (1..=40).chain([63, 64, 65, 127, 128, 129]) {
            let mesh = place(&unit_cube(), &PlaceOptions::new(Sizing::Resolution(n))).unwrap();
            let (n, hollow) = (u64::from(n), u64::from(n.saturating_sub(2)));
            let grid = gpu_grid(&gpu, &mesh);
            assert_eq!(grid.occupied(), n.pow(3) - hollow.pow(3), "{label}, {n}");
        }
    });
}

#[test]
fn a_lost_device_is_an_error_and_not_a_grid() {
    on_every_adapter(|adapter, label| {
        let gpu = Gpu::new(adapter).unwrap();
        let mesh = placed(&soup(&mut Rng::with_seed(9), 10, 8 * VOXEL, 1), [8; 3]);
        gpu.device().device.destroy();
        let result = gpu.voxelize(&mesh, &NoProgress);
        assert!(matches!(result, Err(BackendError::Device(_))), "{label}: {result:?}");
    });
}

#[test]
fn the_highest_levels_of_nodes_are_used_and_right() {
    // A diagonal has few voxels in the largest grids: levels of 4096 and 32,768 voxels.
    let diagonal = [[0.0; 3], [1.0; 3], [0.5; 3]];
    let sliver = [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.5, 0.500_01, 0.5]];
    let mesh = shapes::mesh_of(&[diagonal, sliver]);
    let adapters = adapters().into_iter().filter(|a| !a.label().contains("SwiftShader"));
    for adapter in adapters {
        let gpu = Gpu::new(&adapter).unwrap();
        for res in [4096, 33_000] {
            let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(res))).unwrap();
            let grid = gpu_grid(&gpu, &placed);
            assert_eq!(grid, cpu_grid(&placed), "{}, {res}", adapter.label());
            assert!(grid.occupied() > 2 * u64::from(res));
        }
    }
}

/// A GPU that fails.
struct Broken;

impl Backend for Broken {
    fn run(
        &self,
        _: &PlacedMesh,
        _: Rule,
        _: &RunOptions,
        _: &dyn Progress,
    ) -> Result<Run, BackendError> {
        Err(BackendError::Device("it caught fire".into()))
    }
}

fn broken() -> Chosen {
    Chosen::gpu(Box::new(Broken), "vulkan: Broken".into(), "a test")
}

#[test]
fn auto_finishes_on_the_cpu_when_the_gpu_fails_and_says_so() {
    let mesh = placed(&soup(&mut Rng::with_seed(9), 10, 8 * VOXEL, 1), [8; 3]);
    let options = RunOptions::default();
    let by = broken().or_cpu();
    assert_eq!((by.name(), by.adapter(), by.warning()), ("gpu", Some("vulkan: Broken"), None));
    for rule in [Rule::Touched, Rule::Crossed] {
        let run = by.run(&mesh, rule, &options, &NoProgress).unwrap();
        let on_cpu = Cpu::default().run(&mesh, rule, &options, &NoProgress).unwrap();
        assert_eq!(run.grid, on_cpu.grid);
        assert_eq!((by.name(), by.adapter()), ("cpu", None));
    }
    let warning = by.warning().unwrap();
    assert!(warning.contains("Broken") && warning.contains("it caught fire"), "{warning}");
    assert_eq!(by.reason(), "gpu, vulkan: Broken failed");

    let refused = broken().run(&mesh, Rule::Touched, &options, &NoProgress);
    assert!(matches!(refused, Err(BackendError::Device(_))));
}
