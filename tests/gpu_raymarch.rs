//! Rays and pictures on every adapter: those of the CPU, to the bit.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::gpu::adapters;
use common::rays::{adversarial, adversarial_line};
use fastrand::Rng;
use rayon::prelude::*;
use trivox::grid::Colors;
use trivox::raymarch::gpu::GpuScene;
use trivox::raymarch::{Hit, Ray, Scene};
use trivox::render::{Background, Projection, RenderOptions, Renderer, View};
use trivox::{Gpu, Up, VoxelGrid, World};

/// How many rays to compare on each adapter.
fn rays() -> usize {
    std::env::var("TRIVOX_RAYS").map_or(60_000, |rays| rays.parse().unwrap())
}

/// So many adversarial rays at a grid.
fn rays_at(grid: &VoxelGrid, count: usize) -> Vec<Ray> {
    let voxels: Vec<[u32; 3]> = grid.voxels().collect();
    let ray = |seed: usize| {
        adversarial_line(&mut Rng::with_seed(seed as u64), grid.dims(), &voxels).ray()
    };
    (0..count).into_par_iter().map(ray).collect()
}

#[test]
fn first_hits_are_those_of_the_cpu() {
    let grids = adversarial(&mut Rng::with_seed(3));
    for adapter in adapters() {
        let device = adapter.open().unwrap();
        let mut hits = 0;
        for (name, grid) in &grids {
            let scene = Scene::new(grid);
            let rays = rays_at(grid, rays() / grids.len());
            let expected: Vec<Option<Hit>> =
                rays.par_iter().map(|ray| scene.first_hit(ray)).collect();
            let found = GpuScene::upload(&device, &scene).unwrap().first_hits(&rays).unwrap();
            let wrong = rays.iter().zip(expected.iter().zip(&found)).find(|(_, (a, b))| a != b);
            assert_eq!(wrong, None, "{}, {name}", adapter.label());
            assert_eq!(found.len(), rays.len());
            hits += found.iter().flatten().count();
        }
        assert!(hits * 20 > rays(), "{}: {hits} hits", adapter.label());
    }
}

#[test]
fn a_voxel_that_is_not_there_is_noticed() {
    let mut rng = Rng::with_seed(1);
    let (_, grid) = adversarial(&mut rng).swap_remove(0);
    let less = VoxelGrid::from_voxels(grid.dims(), grid.voxels().skip(1)).unwrap();
    let rays = rays_at(&grid, 20_000);
    let (scene, less) = (Scene::new(&grid), Scene::new(&less));
    for adapter in adapters() {
        let device = adapter.open().unwrap();
        let found = GpuScene::upload(&device, &less).unwrap().first_hits(&rays).unwrap();
        assert!(rays.iter().zip(found).any(|(ray, hit)| hit != scene.first_hit(ray)));
    }
}

#[test]
fn a_search_that_a_driver_ends_early_is_an_error() {
    // 65,536 steps through bricks that are almost empty; llvmpipe ends loops after 65,535.
    let end = 1 << 16;
    let floor = (0..end).step_by(8).map(|x| [x, 0, 0]);
    let grid = VoxelGrid::from_voxels([end, 8, 8], floor.chain([[end - 1, 3, 3]])).unwrap();
    let scene = Scene::new(&grid);
    let ray = Ray::new([-1.0, 3.5, 3.5], [1.0, 0.0, 0.0]).unwrap();
    let expected = scene.first_hit(&ray);
    assert_eq!(expected.unwrap().voxel, [end - 1, 3, 3]);
    for adapter in adapters() {
        let device = adapter.open().unwrap();
        match GpuScene::upload(&device, &scene).unwrap().first_hits(&[ray]) {
            Ok(hits) => assert_eq!(hits, [expected], "{}", adapter.label()),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("ended the search"), "{}: {message}", adapter.label());
            }
        }
    }
}

#[test]
fn an_empty_grid_has_nothing_to_hit() {
    let grid = VoxelGrid::empty([70, 3, 9]).unwrap();
    let ray = Ray::new([-1.0, 1.5, 1.5], [1.0, 0.0, 0.0]).unwrap();
    for adapter in adapters() {
        let device = adapter.open().unwrap();
        let scene = GpuScene::upload(&device, &Scene::new(&grid)).unwrap();
        assert_eq!(scene.first_hits(&[ray, ray]).unwrap(), [None, None]);
        assert_eq!(scene.first_hits(&[]).unwrap(), []);
    }
}

/// Rubble on a full block, in colours of many kinds: full bricks with colours of their own, and without.
fn colored() -> VoxelGrid {
    let mut rng = Rng::with_seed(9);
    let block = (0..24).flat_map(|x| (0..16).flat_map(move |y| (0..24).map(move |z| [x, y, z])));
    let rubble = (0..150).map(|_| [rng.u32(0..40), rng.u32(16..30), rng.u32(0..33)]);
    let voxels: Vec<[u32; 3]> = block.chain(rubble).collect();
    let grid = VoxelGrid::from_voxels([40, 30, 33], voxels).unwrap();
    let bricks = grid.bricks().filter(|(key, _)| key.position()[0] != 1).map(|(key, mask)| {
        let base = key.position().map(|b| b * 8);
        let color = |[x, y, z]: [u32; 3]| [(7 * x) as u8, (9 * y) as u8, (60 + 5 * z) as u8, 255];
        (key, mask, trivox::grid::mask_voxels(base, mask).map(color).collect())
    });
    let colors = Colors::from_bricks(bricks.collect(), [200, 40, 90, 255]);
    grid.with_colors(colors)
}

#[test]
fn pictures_are_those_of_the_cpu() {
    let mut plain = colored();
    plain.colors = None;
    plain.world = Some(World { origin: [0.0; 3], voxel_size: 1.0, up: Up::Z });
    let empty = VoxelGrid::empty([5, 6, 7]).unwrap();
    let options = RenderOptions::new([61, 47]);
    // With the ground in the picture there are a million rays more.
    let sized = |size| RenderOptions::new(size).with_background(Background::Transparent);
    let clear = sized(options.size);
    let front = options.with_view(View::Front).with_background(Background::Color([20, 70, 90]));
    let cases = [
        ("colours", &colored(), options),
        ("one ray a pixel", &colored(), clear.with_samples(1)),
        ("four rays a pixel", &colored(), clear.with_samples(2)),
        ("parallel", &colored(), clear.with_projection(Projection::Orthographic)),
        ("from the front", &colored(), front),
        ("z is up", &plain, options.with_samples(1)),
        ("small voxels", &plain, sized([23, 19])),
        ("large voxels", &plain, sized([400, 3])),
        ("nothing", &empty, options),
    ];
    for adapter in adapters() {
        let gpu = Gpu::new(&adapter).unwrap();
        for (name, grid, options) in &cases {
            let expected = Renderer::new(grid).render(options).unwrap();
            let drawn = Renderer::on_gpu(grid, &gpu).unwrap().render(options).unwrap();
            let pairs = expected.pixels().iter().zip(drawn.pixels()).enumerate();
            let different: Vec<_> = pairs.filter(|(_, (a, b))| a != b).take(5).collect();
            assert_eq!(different, [], "{}, {name}", adapter.label());
        }
        let [a, b] = [&cases[0], &cases[5]].map(|(_, grid, options)| {
            Renderer::on_gpu(grid, &gpu).unwrap().render(options).unwrap()
        });
        assert_ne!(a, b, "{}: all pictures are the same", adapter.label());
    }
}
