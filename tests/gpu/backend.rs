//! The GPU backend against the CPU: equal to the bit, whatever the sizes; overlapping runs, shared
//! devices and lost ones.
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::common::prelude::*;
use crate::common::rules::RULES;
use crate::{by, run};
use rayon::ThreadPoolBuilder;
use trivox::GpuError;
use trivox::backend::VoxelKernel;
use trivox::gpu::Device;
use trivox::view::gpu::GpuScene;
use trivox::view::render::Renderer;
use trivox::view::trace::{Ray, Scene};
use wgpu::{BufferUsages as Usage, Limits};

/// What both kernels give.
fn gpu_grid(gpu: &Gpu, mesh: &PlacedMesh) -> VoxelGrid {
    let [rows, voxels] = [VoxelKernel::Rows, VoxelKernel::Voxels].map(|kernel| {
        let options = RunOptions { kernel, ..RunOptions::default() };
        run(gpu, mesh, (Rule::Conservative, options)).grid
    });
    assert_eq!(rows, voxels, "the kernels differ");
    rows
}

/// Compares both kernels on the fast adapters with the CPU.
fn check(meshes: &[(String, PlacedMesh)]) {
    for (label, gpu) in gpus(fast_adapters()) {
        for (name, mesh) in meshes {
            assert_same(&gpu_grid(&gpu, mesh), &surface(mesh), &format!("{label}, {name}"));
        }
    }
}

/// Goes by the grid of [`placed_soup`]s.
fn ray() -> Ray {
    Ray::new([-3.0, 7.3, 8.1], [1.0, 0.1, 0.05]).unwrap()
}

/// Whether the device was lost.
fn is_lost(error: &BackendError) -> bool {
    matches!(error, BackendError::Gpu(GpuError::Device(_)))
}

#[test]
fn counts_around_workgroups_and_blocks_make_no_difference() {
    let triangles = soup(&mut Rng::with_seed(4), 2050, 12 * UNIT, 1);
    let counts = [1, 2, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049];
    check(&counts.map(|n| (format!("{n} triangles"), placed(&triangles[..n], [12; 3]))));
}

#[test]
fn grids_of_every_depth_agree() {
    // Levels of nodes begin at 8, 64 and 512 voxels; sizes to either side of each, and not cubic.
    let triangles = large_triangles(60);
    let sizes = [[1, 1, 1], [1, 300, 2], [7, 8, 9], [63, 64, 65], [130, 9, 70], [70, 80, 90]];
    check(&sizes.map(|dims: [u32; 3]| {
        let longest = f64::from(dims.into_iter().max().unwrap());
        let mesh = mesh_of(&triangles).with_positions(|p| p.map(|c| longest * c)).unwrap();
        (format!("{dims:?}"), in_grid(&mesh, dims))
    }));
}

#[test]
fn vertices_that_no_triangle_uses_change_nothing() {
    let mut vertices = vec![[0.0; 3], [1.0, 0.3, 0.0], [0.2, 1.0, 0.7]];
    let plain = Mesh::new(vertices.clone(), vec![[0, 1, 2]]).unwrap();
    vertices.extend((1..=1000).map(|i| [f64::from(i) / 1000.0; 3]));
    let padded = Mesh::new(vertices, vec![[0, 1, 2]]).unwrap();
    let [plain, padded] = [plain, padded].map(|mesh| at_resolution(&mesh, 20));
    for (label, gpu) in gpus(fast_adapters()) {
        assert_eq!(gpu_grid(&gpu, &padded), surface(&plain), "{label}");
    }
}

#[test]
fn asynchronous_runs_overlap_and_give_the_same() {
    let mut rng = Rng::with_seed(12);
    let meshes = [1, UNIT / 2].map(|step| placed(&soup(&mut rng, 200, 20 * UNIT, step), [20; 3]));
    let options = RunOptions::default();
    // The ground would take a million rays.
    let picture = without_background([9, 7]);
    let ray = ray();
    for adapter in fast_adapters() {
        // An executor that knows nothing of the device.
        let gpu = &pollster::block_on(Gpu::open(&adapter)).unwrap();
        std::thread::scope(|threads| {
            for mesh in &meshes {
                threads.spawn(move || {
                    let run = gpu.run_async(mesh, Rule::Conservative, &options, &NoProgress);
                    let grid = pollster::block_on(run).unwrap().grid;
                    assert_eq!(grid, surface(mesh));
                    let scene = GpuScene::upload(gpu.device(), &Scene::new(&grid)).unwrap();
                    let hits = pollster::block_on(scene.first_hits_async(&[ray])).unwrap();
                    assert_eq!(hits, [Scene::new(&grid).first_hit(&ray)]);
                    let drawn = Renderer::on_gpu(&grid, gpu).unwrap();
                    let drawn = pollster::block_on(drawn.render_async(&picture)).unwrap();
                    let expected = Renderer::new(&grid).render(&picture, &NoProgress).unwrap();
                    assert_eq!(drawn.pixels(), expected.pixels());
                });
            }
        });
    }
}

/// The devices of a renderer: one on each adapter, with the defaults of wgpu and its own handler of
/// errors, which counts them.
pub fn devices_of_a_renderer(limits: &Limits) -> Vec<(wgpu::Device, wgpu::Queue, Arc<AtomicI32>)> {
    let promised = adapters().len();
    let instance = wgpu::Instance::default();
    let found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let open = |adapter: wgpu::Adapter| {
        let descriptor =
            wgpu::DeviceDescriptor { required_limits: limits.clone(), ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).ok()?;
        let wrapped = Device::from_wgpu(device.clone(), queue.clone());
        if matches!(wrapped, Err(GpuError::OldOpenGl { .. })) {
            return None;
        }
        let errors = Arc::new(AtomicI32::new(0));
        let counted = errors.clone();
        device.on_uncaptured_error(Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        Some((device, queue, errors))
    };
    let devices: Vec<_> = found.into_iter().filter_map(open).collect();
    assert!(devices.len() >= promised, "{} devices of {promised}", devices.len());
    devices
}

/// An error of the renderer's: a buffer beyond the limits.
fn fail(device: &wgpu::Device) {
    let _ = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: device.limits().max_buffer_size + 4,
        usage: Usage::STORAGE,
        mapped_at_creation: false,
    });
}

#[test]
fn the_device_of_a_renderer_computes_the_same_and_keeps_its_errors() {
    let mesh = placed_soup(9, 200, 20, 1);
    let (expected, ray) = (surface(&mesh), ray());
    let solid = Voxelizer::new().resolution(20).mode(Mode::Solid(Solid::default()));
    for (device, queue, errors) in devices_of_a_renderer(&Limits::default()) {
        let shared = Device::from_wgpu(device.clone(), queue.clone()).unwrap();
        let gpu = Arc::new(Gpu::on_device(shared.clone()).unwrap());
        let label = shared.label();
        fail(&device);
        assert_eq!(errors.load(Ordering::Relaxed), 1, "{label}: the renderer's error is its own");
        // While the renderer draws.
        let is_done = AtomicBool::new(false);
        let frame = shared.buffer("frame", 64, Usage::COPY_DST);
        let grid = std::thread::scope(|threads| {
            threads.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let mut encoder = device.create_command_encoder(&Default::default());
                    encoder.clear_buffer(&frame, 0, None);
                    queue.submit([encoder.finish()]);
                    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
                }
            });
            let grid = threads.spawn(|| gpu_grid(&gpu, &mesh)).join();
            is_done.store(true, Ordering::Relaxed);
            grid.unwrap()
        });
        assert_eq!(grid, expected, "{label}");
        // Bound in a group that the renderer makes.
        let scene = GpuScene::upload(&shared, &Scene::new(&grid)).unwrap();
        let _ = scene.buffers().bind_group(&shared);
        let hits = scene.first_hits(&[ray]).unwrap();
        assert_eq!(hits, [Scene::new(&expected).first_hit(&ray)], "{label}");

        let own = solid.clone().gpu(gpu.clone());
        let voxelized = own.run(unit_cube()).unwrap();
        assert_eq!(voxelized.backend.adapter.as_deref(), Some(&*label));
        assert_eq!(voxelized.grid.occupied(), 20_u64.pow(3), "{label}");
        let chosen = own.clone().backend(BackendChoice::Cpu).run(unit_cube()).unwrap();
        assert_eq!(chosen.grid, voxelized.grid);

        assert_eq!(errors.load(Ordering::Relaxed), 1, "{label}: no error of trivox's");
        device.destroy();
        let lost = voxelize(&*gpu, &mesh, Mode::Surface, &RunOptions::default(), &NoProgress);
        assert!(lost.as_ref().is_err_and(is_lost), "{label}: {lost:?}");
        assert_eq!(errors.load(Ordering::Relaxed), 1, "{label}: no error of trivox's");
    }
}

#[test]
fn a_device_whose_limits_are_too_low_is_refused() {
    let limits = Limits { max_storage_buffers_per_shader_stage: 7, ..Limits::default() };
    for (device, queue, _) in devices_of_a_renderer(&limits) {
        let error = Device::from_wgpu(device, queue).unwrap_err();
        let what = "storage buffers per stage";
        let GpuError::Unsuitable { adapter, .. } = &error else { panic!("{error}") };
        let expected = format!("{adapter}: the limit of {what} is 7, but at least 8 is needed");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

/// Begins other work of the thread's pool, as a thread does that waits for others.
struct Waits;

impl Progress for Waits {
    fn start(&self, _: &str, _: u64) {
        for _ in 0..100 {
            _ = rayon::yield_now();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn voxelizers_take_turns_on_a_gpu_that_they_were_given() {
    let Some(adapter) = adapters().into_iter().next() else { return };
    let gpu = Arc::new(Gpu::new(&adapter).unwrap());
    let (done, finished) = mpsc::channel();
    for _ in 0..2 {
        let voxelizer = Voxelizer::new().resolution(8).threads(1).progress(Arc::new(Waits));
        let voxelizer = voxelizer.gpu(gpu.clone()).backend(BackendChoice::Gpu);
        let done = done.clone();
        std::thread::spawn(move || done.send(voxelizer.run(unit_cube()).is_ok()).unwrap());
    }
    for _ in 0..2 {
        assert_eq!(finished.recv_timeout(Duration::from_secs(60)), Ok(true), "no deadlock");
    }
}

/// Destroys the device when the work has advanced `left` times.
struct Destroyer<'a> {
    gpu: &'a Gpu,
    left: AtomicI32,
}

impl Progress for Destroyer<'_> {
    fn advance(&self, _: u64) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.gpu.device().device.destroy();
        }
    }
}

#[test]
fn a_device_lost_between_two_parts_of_the_work_is_an_error_under_every_rule() {
    let mesh = placed_soup(9, 60, 8, 1);
    let limits = BatchLimits { triangles: 20, ..UNLIMITED };
    let options = RunOptions::default();
    // What is lost does not depend on the adapter.
    let Some(adapter) = fast_adapters().into_iter().next() else { return };
    for rule in RULES {
        // Lost after the first part, the second and so on; at last after the end.
        for left in 0.. {
            let gpu = Gpu::new(&adapter).unwrap().with_batch_limits(limits);
            let progress = Destroyer { gpu: &gpu, left: left.into() };
            match Backend::Gpu(&gpu).run(&mesh, rule, &options, &progress) {
                Err(error) => assert!(is_lost(&error), "{error}"),
                Ok(found) => {
                    assert_eq!(found.grid, run(&Cpu, &mesh, by(rule)).grid);
                    assert!(left >= 2, "{rule:?}: one part");
                    break;
                }
            }
        }
    }
}

#[test]
fn a_device_lost_at_any_time_gives_the_right_grid_or_an_error() {
    let mesh = placed_soup(9, 500, 60, 1);
    let expected = surface(&mesh);
    let voxelize =
        |gpu: &Gpu| voxelize(gpu, &mesh, Mode::Surface, &RunOptions::default(), &NoProgress);
    for adapter in fast_adapters() {
        for delay in 0..8 {
            let gpu = Gpu::new(&adapter).unwrap();
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    std::thread::sleep(Duration::from_millis(delay));
                    gpu.device().device.destroy();
                });
                let error = loop {
                    match voxelize(&gpu) {
                        Ok(voxels) => assert_eq!(voxels.grid, expected),
                        Err(error) => break error,
                    }
                };
                assert!(is_lost(&error), "{error}");
            });
        }
    }
}

#[test]
fn what_is_traced_or_drawn_on_a_lost_device_is_an_error() {
    let mesh = placed_soup(9, 10, 8, 1);
    let grid = surface(&mesh);
    for (label, gpu) in gpus(fast_adapters()) {
        let scene = Scene::new(&grid);
        let uploaded = GpuScene::upload(gpu.device(), &scene).unwrap();
        let renderer = Renderer::on_gpu(&grid, &gpu).unwrap();
        gpu.device().device.destroy();
        assert!(uploaded.first_hits(&[ray()]).is_err(), "{label}");
        let picture = without_background([9, 7]);
        assert!(renderer.render(&picture, &NoProgress).is_err(), "{label}");
        assert!(GpuScene::upload(gpu.device(), &scene).is_err(), "{label}");
        assert!(Renderer::on_gpu(&grid, &gpu).is_err(), "{label}");
    }
}

#[test]
fn the_highest_levels_of_nodes_are_used_and_right() {
    // A diagonal has few voxels in the largest grids: levels of 4096 and 32,768 voxels. Of a flat
    // grid, because work follows the number of bricks that the grid may have.
    let diagonal = [[0.0; 3], [1.0, 1.0, 0.01], [0.5, 0.5, 0.005]];
    let sliver = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.01], [0.5, 0.500_01, 0.005]];
    let mesh = mesh_of(&[diagonal, sliver]);
    let meshes = [4096, 33_000].map(|n| (format!("{n} voxels"), at_resolution(&mesh, n)));
    assert!(surface(&meshes[1].1).occupied() > 66_000);
    check(&meshes);
}

#[test]
fn callers_on_threads_of_a_pool_and_on_others_share_a_gpu() {
    let Some(adapter) = adapters().into_iter().next() else { return };
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    let voxelizer = Voxelizer::new()
        .resolution(24)
        .mode(Mode::Solid(Solid::default()))
        .backend(BackendChoice::Gpu)
        .adapter(adapter.label())
        .pool(Arc::clone(&pool));
    let placed = voxelizer.place(unit_cube()).unwrap();
    let expected = voxelizer.voxelize(&placed).unwrap().grid;
    let runs = Arc::new(move || {
        for _ in 0..20 {
            assert_eq!(voxelizer.voxelize(&placed).unwrap().grid, expected);
        }
    });
    let (done, finished) = mpsc::channel();
    let (outside, beside, of_pool) = (Arc::clone(&runs), done.clone(), runs);
    std::thread::spawn(move || (outside(), beside.send(()).unwrap()));
    std::thread::spawn(move || (pool.broadcast(|_| of_pool()), done.send(()).unwrap()));
    for _ in 0..2 {
        finished.recv_timeout(Duration::from_secs(120)).expect("no deadlock");
    }
}
