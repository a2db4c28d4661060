//! Rays and pictures on every adapter: those of the CPU, to the bit.
use crate::common::prelude::*;
use crate::common::rays::{adversarial, adversarial_line};
use std::fmt::Display;

use rayon::prelude::*;
use trivox::gpu::Device;
use trivox::view::gpu::{GpuScene, SceneBuffers, scene_source};
use trivox::view::render::{Background, Projection, RenderOptions, Renderer, View};
use trivox::view::trace::{Hit, Ray, Scene};
use wgpu::BufferUsages as Usage;

/// How many rays to compare on each adapter.
fn rays() -> usize {
    environment::number("TRIVOX_RAYS", 30_000)
}

/// So many adversarial rays at a grid.
fn rays_at(grid: &VoxelGrid, count: usize) -> Vec<Ray> {
    let voxels: Vec<[u32; 3]> = grid.voxels().collect();
    let ray = |seed: usize| {
        adversarial_line(&mut Rng::with_seed(seed as u64), grid.dims(), &voxels).ray()
    };
    (0..count).into_par_iter().map(ray).collect()
}

/// A device on each of the adapters, with its label.
fn devices() -> impl Iterator<Item = (String, Device)> {
    adapters().into_iter().map(|adapter| (adapter.label(), adapter.open().unwrap()))
}

fn uploaded(device: &Device, grid: &VoxelGrid) -> GpuScene {
    GpuScene::upload(device, &Scene::new(grid)).unwrap()
}

/// How many rays hit the scene, and the first that hits something else in `grid` on the CPU.
pub fn compare_hits(scene: &GpuScene, grid: &VoxelGrid, rays: &[Ray]) -> (usize, Option<Ray>) {
    let found = scene.first_hits(rays).unwrap();
    assert_eq!(found.len(), rays.len());
    let on_cpu = Scene::new(grid);
    let is_wrong = |(ray, hit): &(&Ray, &Option<Hit>)| on_cpu.first_hit(ray) != **hit;
    let wrong = rays.par_iter().zip(&found).find_first(is_wrong);
    (found.iter().flatten().count(), wrong.map(|(ray, _)| *ray))
}

#[test]
fn first_hits_are_those_of_the_cpu() {
    let grids = adversarial(&mut Rng::with_seed(3));
    for (label, device) in devices() {
        let mut all_hits = 0;
        for (name, grid) in &grids {
            let rays = rays_at(grid, rays() / grids.len());
            let (hits, wrong) = compare_hits(&uploaded(&device, grid), grid, &rays);
            assert_eq!(wrong, None, "{label}, {name}");
            all_hits += hits;
        }
        assert!(all_hits * 20 > rays(), "{label}: {all_hits} hits");
    }
}

#[test]
fn a_voxel_that_is_not_there_is_noticed() {
    let (_, grid) = adversarial(&mut Rng::with_seed(1)).swap_remove(0);
    let less = VoxelGrid::from_voxels(grid.dims(), grid.voxels().skip(1)).unwrap();
    let rays = rays_at(&grid, 20_000);
    for (_, device) in devices() {
        let (_, wrong) = compare_hits(&uploaded(&device, &less), &grid, &rays);
        assert!(wrong.is_some());
    }
}

/// A driver may end a loop early: the result is `expected`, or an error that says so.
fn is_or_ended_early<T: PartialEq, E: Display>(found: Result<T, E>, expected: &T, label: &str) {
    match found {
        Ok(found) => assert!(found == *expected, "{label}"),
        Err(error) => assert!(error.to_string().contains("ended the search"), "{label}: {error}"),
    }
}

#[test]
fn a_search_that_a_driver_ends_early_is_an_error() {
    // 65,536 steps through bricks that are almost empty; llvmpipe ends loops after 65,535.
    let end = 1 << 16;
    let floor = (0..end).step_by(8).map(|x| [x, 0, 0]);
    let grid = VoxelGrid::from_voxels([end, 8, 8], floor.chain([[end - 1, 3, 3]])).unwrap();
    let ray = Ray::new([-1.0, 3.5, 3.5], [1.0, 0.0, 0.0]).unwrap();
    let expected = Scene::new(&grid).first_hit(&ray);
    assert_eq!(expected.unwrap().voxel, [end - 1, 3, 3]);
    for (label, device) in devices() {
        let hits = uploaded(&device, &grid).first_hits(&[ray]);
        is_or_ended_early(hits, &vec![expected], &label);
    }
}

#[test]
fn a_picture_in_which_a_driver_ends_any_loop_early_is_an_error() {
    // Rays of a pixel take about as many steps together as llvmpipe allows: it ends a loop between
    // two searches.
    let comb =
        |x: u32| [0, 8, 16, 24].map(|y| [0, 8, 16, 24].map(|z| [x, y, z])).into_iter().flatten();
    let options = RenderOptions {
        view: View::Left,
        projection: Some(Projection::Perspective),
        samples: 2,
        ..without_background([40, 7])
    };
    for length in [3688, 3752] {
        let voxels = (0..length).step_by(8).flat_map(comb);
        let grid = VoxelGrid::from_voxels([length, 32, 32], voxels).unwrap();
        let expected = Renderer::new(&grid).render(&options, &NoProgress).unwrap();
        for (label, gpu) in gpus(adapters()) {
            let drawn = Renderer::on_gpu(&grid, &gpu).unwrap().render(&options, &NoProgress);
            is_or_ended_early(drawn, &expected, &format!("{label}, {length}"));
        }
    }
}

#[test]
fn an_empty_grid_has_nothing_to_hit() {
    let grid = VoxelGrid::empty([70, 3, 9]).unwrap();
    let ray = Ray::new([-1.0, 1.5, 1.5], [1.0, 0.0, 0.0]).unwrap();
    for (_, device) in devices() {
        let scene = uploaded(&device, &grid);
        assert_eq!(scene.first_hits(&[ray, ray]).unwrap(), [None, None]);
        assert_eq!(scene.first_hits(&[]).unwrap(), []);
    }
}

/// A shader that somebody else wrote: which voxels a row of parallel rays meets.
const OWN_STAGE: &str = "
@group(0) @binding(0) var<storage, read_write> found: array<u32>;

@compute @workgroup_size(64)
fn own(@builtin(global_invocation_id) id: vec3<u32>) {
    let y = int64_shifted(i32(id.x), FRACTION_BITS);
    let origin = array<Int64, 3>(Int64(0u, 0u), int64_add(y, Int64(0x8000u, 0u)), Int64(0x8000u, 0u));
    let touch = first_hit(Ray(origin, vec3<i32>(1, 0, 0)));
    found[id.x] = select(0u, u32(touch.voxel.x) + 1u, touch.exists);
}
";

#[test]
fn a_stage_of_ones_own_follows_rays_through_the_buffers() {
    let mesh = placed_soup(5, 400, 64, UNIT);
    let grid = surface(&mesh);
    let expected: Vec<u32> = (0..64)
        .map(|y| (0..grid.dims()[0]).find(|&x| grid.contains([x, y, 0])).map_or(0, |x| x + 1))
        .collect();
    assert!(expected.iter().any(|&x| x > 0), "no voxel is met");
    assert_finds(OWN_STAGE, &grid, &expected);
}

/// A shader that somebody else wrote: rays of length 0 from points in empty and in full voxels.
const STAGE_WITHOUT_DIRECTIONS: &str = "
@group(0) @binding(0) var<storage, read_write> found: array<u32>;

@compute @workgroup_size(64)
fn own(@builtin(global_invocation_id) id: vec3<u32>) {
    let ray = ray_of(vec3<f32>(f32(id.x), 8.5, 8.5), vec3<f32>(0.0));
    found[id.x] = u32(contains(vec3<i32>(i32(id.x), 8, 8))) + 2u * u32(first_hit(ray).exists)
        + 4u * u32(has_given_up());
}
";

#[test]
fn a_ray_without_a_direction_ends_and_touches_nothing() {
    let ends = [[0, 0, 0], [63, 63, 63]];
    let voxels = (0..64).step_by(3).map(|x| [x, 8, 8]).chain(ends);
    let grid = VoxelGrid::from_voxels([64; 3], voxels).unwrap();
    let expected: Vec<u32> = (0..64).map(|x| u32::from(x % 3 == 0)).collect();
    assert_finds(STAGE_WITHOUT_DIRECTIONS, &grid, &expected);
}

/// A shader that somebody else wrote: the distances to voxels, from origins that rays may have and
/// others.
const STAGE_OF_DISTANCES: &str = "
@group(0) @binding(0) var<storage, read_write> found: array<u32>;

fn exists_from(x: f32, y: f32) -> u32 {
    return u32(first_hit(ray_of(vec3<f32>(x, y, 0.5), vec3<f32>(1.0, 0.0, 0.0))).exists);
}

@compute @workgroup_size(64)
fn own(@builtin(global_invocation_id) id: vec3<u32>) {
    let y = f32(id.x) + 0.5;
    let ray = ray_of(vec3<f32>(-2.5, y, 0.5), vec3<f32>(3.0, 0.0, 0.0));
    let touch = first_hit(ray);
    let nan = bitcast<f32>(0x7fc00000u + id.x);
    found[id.x] = select(0u, u32(2.0 * hit_distance(ray, touch)), touch.exists)
        + 1000u * (exists_from(nan, y) + exists_from(-1048576.5, y) + exists_from(-1.0e9, y))
        + 10000u * exists_from(-1048576.0, y);
}
";

#[test]
fn distances_of_hits_are_those_to_the_face_and_no_ray_begins_too_far_away() {
    let voxels = (0..64).step_by(3).map(|y| [y / 2, y, 0]);
    let grid = VoxelGrid::from_voxels([64; 3], voxels).unwrap();
    let distance = |y: u32| if y.is_multiple_of(3) { 10_000 + 2 * (y / 2) + 5 } else { 0 };
    let expected: Vec<u32> = (0..64).map(distance).collect();
    assert_finds(STAGE_OF_DISTANCES, &grid, &expected);
}

/// Asserts that a stage on [`scene_source`] writes these 64 words on every adapter, one word per
/// invocation.
fn assert_finds(stage: &str, grid: &VoxelGrid, expected: &[u32]) {
    let array = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Storage { read_only: false },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    for (label, device) in devices() {
        let found = device.buffer("found", 64, Usage::COPY_SRC | Usage::STORAGE);
        let scene = uploaded(&device, grid);
        run_stage(stage, &scene, array, found.as_entire_binding(), [1; 3]);
        assert_eq!(read_buffer(&device, &found, 64), expected, "{label}");
    }
}

/// Runs the one stage of a shader on [`scene_source`], with `output` at its first binding.
pub fn run_stage(
    stage: &str,
    scene: &GpuScene,
    ty: wgpu::BindingType,
    output: wgpu::BindingResource,
    workgroups: [u32; 3],
) {
    let device = &scene.device().device;
    let visibility = wgpu::ShaderStages::COMPUTE;
    let own = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry { binding: 0, visibility, ty, count: None }],
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        bind_group_layouts: &[Some(&own), Some(&SceneBuffers::layout(scene.device()))],
        ..Default::default()
    });
    let pipeline = pipeline(scene.device(), scene_source(1) + stage, Some(&layout));
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &own,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: output }],
    });
    let of_scene = scene.buffers().bind_group(scene.device());
    dispatch(scene.device(), &pipeline, &[&group, &of_scene], workgroups);
}

/// Rubble on a full block, in colours of many kinds: full bricks with colours of their own, and
/// without.
fn colored() -> VoxelGrid {
    let mut rng = Rng::with_seed(9);
    let block = voxels_in([0; 3], [24, 16, 24]);
    let rubble = (0..150).map(|_| [rng.u32(0..40), rng.u32(16..30), rng.u32(0..33)]);
    let voxels: Vec<[u32; 3]> = block.chain(rubble).collect();
    let grid = VoxelGrid::from_voxels([40, 30, 33], voxels).unwrap();
    let color = |[x, y, z]: [u32; 3]| [(7 * x) as u8, (9 * y) as u8, (60 + 5 * z) as u8, 255];
    painted_by(grid, [200, 40, 90, 255], |voxel| (voxel[0] / 8 != 1).then(|| color(voxel)))
}

#[test]
fn pictures_are_those_of_the_cpu() {
    let colored = colored();
    let mut plain = colored.clone();
    plain.colors = None;
    plain.world = World::at([0.0; 3], 1.0, Up::Z);
    let empty = VoxelGrid::empty([5, 6, 7]).unwrap();
    let options = RenderOptions::new([61, 47]);
    // With the ground in the picture there are a million rays more.
    let clear = without_background(options.size);
    let background = Background::Color([20, 70, 90]);
    let asked_for = RenderOptions {
        azimuth: Some(-50.0),
        elevation: Some(12.0),
        zoom: 1.7,
        sun: Some([100.0, 20.0]),
        edges: false,
        samples: 1,
        ..options
    };
    let projection = Some(Projection::Orthographic);
    let cases = [
        ("colours", &colored, options),
        ("one ray a pixel", &colored, RenderOptions { samples: 1, ..clear }),
        ("four rays a pixel", &colored, RenderOptions { samples: 2, ..clear }),
        ("parallel", &colored, RenderOptions { projection, ..clear }),
        ("from the front", &colored, RenderOptions { view: View::Front, background, ..options }),
        ("z is up", &plain, RenderOptions { samples: 1, ..options }),
        ("isometric", &colored, RenderOptions { view: View::Iso, samples: 1, ..clear }),
        ("as asked for", &colored, asked_for),
        ("small voxels", &plain, without_background([23, 19])),
        ("large voxels", &plain, without_background([400, 3])),
        ("nothing", &empty, options),
    ];
    for (label, gpu) in gpus(adapters()) {
        let drawn = cases.map(|(name, grid, options)| {
            let expected = Renderer::new(grid).render(&options, &NoProgress).unwrap();
            let drawn = Renderer::on_gpu(grid, &gpu).unwrap();
            let drawn = drawn.render(&options, &NoProgress).unwrap();
            let pairs = expected.pixels().iter().zip(drawn.pixels()).enumerate();
            let different: Vec<_> = pairs.filter(|(_, (a, b))| a != b).take(5).collect();
            assert_eq!(different, [], "{label}, {name}");
            drawn
        });
        assert_ne!(drawn[0], drawn[5], "{label}: all pictures are the same");
    }
    // A picture of more than 2^20 pixels takes several submissions.
    let options = RenderOptions { samples: 1, ..without_background([1100, 1000]) };
    let expected = Renderer::new(&colored).render(&options, &NoProgress).unwrap();
    for (label, gpu) in gpus(fast_adapters()) {
        let drawn = Renderer::on_gpu(&colored, &gpu).unwrap();
        let drawn = drawn.render(&options, &NoProgress).unwrap();
        assert!(drawn.pixels() == expected.pixels(), "{label}");
    }
}
