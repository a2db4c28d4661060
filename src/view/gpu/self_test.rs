//! The self-tests of the kernels of rays, scenes and pictures: before their first use on a device
//! their results for a built-in grid or mesh must equal the CPU's. A driver that miscompiles one is
//! refused by them.

use std::collections::BTreeMap;

use bytemuck::cast_slice;
use wgpu::{BufferUsages as Usage, IndexFormat};

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, Random, adversarial_solid, touches_of};
use crate::backend::{Backend, BackendError, RunOptions};
use crate::base::progress::NoProgress;
use crate::gpu::{BRICK_WORDS, Device, GpuError};
use crate::grid::{BRICK, Colors, VoxelGrid, mask_voxels};
use crate::lattice::PlacedMesh;
use crate::solid::mode::{Mode, Voxels, voxelize_async};
use crate::view::gpu::{
    GpuScene, HIT_WORDS, MeshBuffers, NO_HIT, SceneBuffers, SceneBuilder, SceneCapacity,
    SceneFailure, SceneStatus, hit,
};
use crate::view::render::{Background, RenderError, RenderOptions, Renderer};
use crate::view::trace::{DIRECTION_BITS, FRACTION_BITS, Face, Ray, Scene};

/// The grids have two levels of nodes, and end within bricks along `x`.
const DIMS: [u32; 3] = [70, 40, 72];

/// The tetrahedra of the built-in mesh, as for [`adversarial_solid`].
const SIZES: [(u32, u32); 3] = [(60, 8), (8, 50), (1, 79)];

/// The vertices of the triangles beside the grid.
const FAR_VERTICES: u32 = 4;

const RAYS: usize = 2048;

/// Tests the kernel of [`GpuScene::first_hits`].
pub(super) async fn rays(device: &Device) -> Result<(), GpuError> {
    let test = async {
        let grid = built_in();
        let scene = Scene::new(&grid);
        has_first_hits(&GpuScene::upload(device, &scene)?, &scene).await
    };
    device.self_test("rays", test).await
}

/// Tests the kernels that make a scene of a mesh by `mode`, and those of its colours.
pub(super) async fn scenes(gpu: &Gpu, mode: Mode, has_colors: bool) -> Result<(), BackendError> {
    let device = gpu.device();
    let test = async {
        let (mesh, capacity) = built_in_mesh(has_colors);
        let (vertices, triangles) = (mesh.vertices().len() as u32, mesh.len() as u32);
        let builder = SceneBuilder::untested(&gpu.probe(), mesh.lattice(), mode, capacity)?;
        // Exact in `f32`: integers below 2^23, divided by a power of two.
        let units = mesh.lattice().units_per_voxel() as f32;
        let positions = mesh.vertices().iter().map(|v| v.map(|c| c as f32 / units));
        let positions: Vec<[f32; 3]> = positions.collect();
        let numbers: Vec<u32> = (0..triangles).collect();
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let own = MeshBuffers {
            vertices: &device.filled("vertices", cast_slice(&positions), Usage::STORAGE)?,
            vertex_offset: 0,
            vertex_stride: 12,
            vertex_count: vertices,
            indices: &device.filled("indices", cast_slice(mesh.indices()), Usage::STORAGE)?,
            index_format: IndexFormat::Uint32,
            index_offset: 0,
            triangle_count: triangles,
            voxels_from_mesh: mesh.lattice().voxels_from_mesh(),
            colors: Some(&device.filled("colours", cast_slice(&numbers), usage)?),
        };
        // A triangle beside the grid, and one from there into it.
        let far = [[1e9_f32, 1e9, 1.0], [-1e9, 1e9, 1.0], [1.0, 1e9, 1e9], [20.0; 3]];
        let beside = MeshBuffers {
            vertices: &device.filled("vertices", cast_slice(&far), Usage::STORAGE)?,
            vertex_count: FAR_VERTICES,
            indices: &device.filled("indices", cast_slice(&[0, 1, 2, 0, 1, 3]), Usage::STORAGE)?,
            triangle_count: 1,
            ..own
        };
        let across = MeshBuffers { index_offset: 12, ..beside };
        let status_of = async |meshes: &[MeshBuffers]| -> Result<SceneStatus, GpuError> {
            let mut encoder = device.encoder();
            builder.record(&mut encoder, meshes)?;
            device.queue.submit([encoder.finish()]);
            builder.status_async().await
        };
        let status = status_of(&[own, beside]).await?;
        let (by, options) = (Backend::Cpu(&Cpu), RunOptions::default());
        let Voxels { grid, .. } = voxelize_async(by, &mesh, mode, &options, &NoProgress).await?;
        let scene = builder.scene();
        Ok(status.failure.is_none()
            && has_first_hits(scene, &Scene::new(&grid)).await?
            && (!has_colors || has_first_triangles(scene, &mesh).await?)
            && status_of(&[across]).await?.failure == Some(SceneFailure::Vertex))
    };
    let colors = if has_colors { " in colours" } else { "" };
    device.self_test(&format!("{mode} scenes{colors}"), test).await
}

/// Tests the kernels that draw.
pub(super) async fn pictures(device: &Device) -> Result<(), RenderError> {
    let test = async {
        let grid = built_in();
        // Of voxels with edges; of voxels smaller than a pixel, on the ground.
        let background = Background::Transparent;
        let near = RenderOptions { zoom: 16.0, background, ..RenderOptions::new([32, 20]) };
        let far = RenderOptions { samples: 1, ..RenderOptions::new([16, 12]) };
        for options in [near, far] {
            let renderer = Renderer::new(&grid);
            let mut picture = renderer.params(&options)?;
            // One of 96 directions: each takes 16,384 rays.
            if let Some(ground) = &mut picture.ground {
                ground.directions.truncate(1);
            }
            let scene = GpuScene::upload(device, &Scene::new(&grid))?;
            let drawn = scene.untested_pixels(&picture, &NoProgress).await?;
            if drawn != renderer.pixels(&picture, &NoProgress)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    device.self_test("pictures", test).await
}

/// Whether built-in rays hit the voxels of `known` in `scene`.
async fn has_first_hits(scene: &GpuScene, known: &Scene<'_>) -> Result<bool, GpuError> {
    let rays = built_in_rays();
    let words = scene.device().scoped(scene.hit_words(&rays)).await?;
    let found = words.as_chunks::<HIT_WORDS>().0;
    Ok(rays.iter().zip(found).all(|(ray, words)| {
        let known = known.first_hit(ray);
        let face = known.map_or(NO_HIT, |hit| hit.face.map_or(6, Face::number) as u32);
        words[2] == face && (known.is_none() || hit(ray, words) == known)
    }))
}

/// Whether each voxel's colour is the number of the first triangle of `mesh` that touches it.
async fn has_first_triangles(scene: &GpuScene, mesh: &PlacedMesh) -> Result<bool, GpuError> {
    let (device, SceneBuffers { bricks, colors, .. }) = (scene.device(), scene.buffers());
    let (bricks, colors) = (device.contents(bricks).await?, device.contents(colors).await?);
    let mut found = BTreeMap::new();
    // Unused bricks are zeros.
    for (&[xy, z, ref mask @ ..], &first) in bricks.as_chunks::<BRICK_WORDS>().0.iter().zip(&colors)
    {
        let base = [xy & 0xffff, xy >> 16, z].map(|c| c * BRICK);
        let colors = colors.get(first as usize..).unwrap_or_default().iter().copied();
        found.extend(mask_voxels(base, bytemuck::cast(*mask)).zip(colors));
    }
    let mut known = BTreeMap::new();
    touches_of(mesh).for_each(|(voxel, number)| _ = known.entry(voxel).or_insert(number));
    Ok(found == known)
}

/// Rays from the grid and its surroundings. Half of them cross planes of several axes at once.
fn built_in_rays() -> Vec<Ray> {
    let mut random = Random(1);
    let mut rays = Vec::with_capacity(RAYS);
    while rays.len() < RAYS {
        let is_tie = rays.len().is_multiple_of(2);
        let half_voxels = DIMS.map(|d| i64::from(random.below(4 * d)) - i64::from(d));
        let mut origin = half_voxels.map(|half_voxels| half_voxels << (FRACTION_BITS - 1));
        let mut longest = 2;
        if !is_tie {
            longest = 1 << DIRECTION_BITS;
            origin = origin.map(|c| c + i64::from(random.below(1 << FRACTION_BITS)));
        }
        let direction = [0; 3].map(|_: i32| random.below(2 * longest + 1) as i32 - longest as i32);
        // The direction may be 0.
        rays.extend(Ray::from_units(origin, direction));
    }
    rays
}

/// The mesh of the self-test's scenes, and a sufficient capacity.
fn built_in_mesh(has_colors: bool) -> (PlacedMesh, SceneCapacity) {
    let mesh = adversarial_solid(DIMS, &SIZES);
    let capacity = SceneCapacity {
        vertices: mesh.vertices().len() as u32 + FAR_VERTICES,
        triangles: mesh.len() as u32 + 1,
        pairs: 1 << 15,
        bricks: 1 << 10,
        candidates: 1 << 20,
        voxels: if has_colors { 1 << 16 } else { 0 },
    };
    (mesh, capacity)
}

/// A block with full bricks and other bricks, most of them empty, in several colours.
fn built_in() -> VoxelGrid {
    let mut random = Random(1);
    let block = (9..30).flat_map(|x| (7..27).flat_map(move |y| (13..50).map(move |z| [x, y, z])));
    let mut others = Vec::new();
    for _ in 0..100 {
        let brick = DIMS.map(|d| BRICK * random.below(d / BRICK));
        others.extend((0..50).map(|_| brick.map(|first| first + random.below(BRICK))));
    }
    let grid = VoxelGrid::from_voxels(DIMS, block.chain(others)).expect("the dimensions are valid");
    let color = |[x, y, z]: [u32; 3]| [3 * x as u8, 6 * y as u8, 3 * z as u8, 255];
    let own = grid.bricks().filter(|(key, _)| key.position()[0] != 1).map(|(key, mask)| {
        let voxels = mask_voxels(key.first_voxel(), mask);
        (key, mask, voxels.map(color).collect())
    });
    let own = own.collect();
    grid.with_colors(Colors::from_bricks(own, [200, 40, 90, 255]))
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::gpu::{Adapter, Kernel, kernels, promised};
    use crate::solid::{Fill, Solid};

    const SOLID: Mode = Mode::Solid(Solid { fill: Fill::Parity, include_surface: false });

    /// A kernel, and a text in it with its replacement.
    type Fault = (Kernel, &'static str, &'static str);

    const OF_RAYS: [Fault; 9] = [
        // Ties between voxels, planes, edges and corners.
        (kernels::FIRST_HITS, "runs_in_plane(ray.origin[1], ray.direction.y)", "false"),
        (kernels::FIRST_HITS, "u32(is_x) + u32(is_y) + u32(is_z) > 1u", "false"),
        (
            kernels::FIRST_HITS,
            "let least_planes = select(1u, 2u,",
            "let least_planes = select(2u, 2u,",
        ),
        (kernels::FIRST_HITS, "touches_others = entry.is_at_edge;", ""),
        // Times and faces.
        (kernels::FIRST_HITS, "select(towards, int64_neg(towards), is_down)", "towards"),
        (kernels::FIRST_HITS, "return a + select(0u, 3u, d < 0);", "return a;"),
        // The tree, its box, and wide integers.
        (kernels::FIRST_HITS, "rank += countOneBits(partial & ((1u << bit.y) - 1u));", ""),
        (kernels::FIRST_HITS, "scene.hi[a] + 1", "scene.hi[a]"),
        (kernels::FIRST_HITS, "+ u32(low < a.x)", ""),
    ];

    const OF_SURFACES: [Fault; 13] = [
        (kernels::QUANTIZE, "return select(BEYOND, -BEYOND, difference > distance);", "return 0i;"),
        (kernels::CHECK_TRIANGLES, "(is_far && !is_beside)", "is_far"),
        (kernels::CHECK_TRIANGLES, "(is_far && !is_beside)", "false"),
        (kernels::QUANTIZE, "row.z * position.z", "row.z * position.y"),
        (kernels::QUANTIZE, "source.index_bits == 16u", "true"),
        (kernels::TREE_FILL, "mask = PARTIAL_MASK;", "return;"),
        (kernels::TREE_COUNT, "countOneBits(nodes[node + 2u * x]) +", ""),
        (kernels::TREE_LINK, "place.level + 1u, index", "1u, index"),
        (kernels::TREE_LINK, "rank += countOneBits(nodes[node + bit.x - 1u]);", ""),
        (kernels::RESERVE_COLORS, "+ first + before;", "+ first;"),
        (kernels::FIRST_TRIANGLES, "place += countOneBits(bricks[before]);", ""),
        (kernels::FIRST_TRIANGLES, "(&colors[place]) > triangle", "(&colors[place]) > 99999u"),
        (kernels::COLOR_VOXELS, "triangle_colors[colors[place]]", "triangle_colors[0]"),
    ];

    const OF_SOLIDS: [Fault; 4] = [
        (kernels::PARITY, "atomicXor", "atomicOr"),
        (kernels::FILL_ROWS, "inside ^= ", "inside |= "),
        (kernels::FILL_ROWS, "any_inside |= inside;", ""),
        (kernels::FILL_ROWS, "all_inside &= inside;", ""),
    ];

    const OF_PICTURES: [Fault; 12] = [
        (kernels::DRAW_CORNERS, "differs = differs || any(found.key != first_key);", ""),
        (kernels::DRAW_CORNERS, "draw.sun_directions_at + 3u * index", "draw.sun_directions_at"),
        (kernels::DRAW_CORNERS, "clamp(draw.edge_max - width, 0", "clamp(0, 0"),
        (kernels::DRAW_CORNERS, "select(LIT, NOT_LIT, is_last_occluded)", "LIT"),
        (kernels::DRAW_CORNERS, "0u, sides == 2u)", "0u, false)"),
        (kernels::DRAW_CORNERS, "[colors[found.brick] + rank]", "[colors[found.brick]]"),
        (kernels::DRAW_CORNERS, "voxel_hash(vec3<u32>(hit.voxel)) &", "0u &"),
        (kernels::DRAW_INTERIOR, "atomicAdd(&sums[to + SAMPLES], 1u);", ""),
        (kernels::DRAW_INTERIOR, "index % samples % draw.samples", "0u"),
        (kernels::MEAN_PIXELS, "(sum + divisor / 2u)", "sum"),
        (kernels::MEAN_PIXELS, "half = 128u", "half = 64u"),
        (kernels::GROUND_OCCLUSION, "if first_hit(ray).exists", "if false"),
    ];

    /// A device whose kernels have the fault.
    fn faulty(adapter: &Adapter, (kernel, right, wrong): Fault) -> Device {
        let device = adapter.open().unwrap();
        device.plant(kernel, &[], right, wrong);
        device
    }

    #[test]
    fn a_kernel_that_computes_wrong_hits_scenes_or_pictures_is_refused() {
        let Some(adapter) =
            promised().into_iter().max_by_key(|adapter| adapter.label().contains("llvmpipe"))
        else {
            return;
        };
        let mut missed = Vec::new();
        let mut expect_refusal = |fault: Fault, tested: Result<(), String>| match tested {
            Err(error) if error.contains("compute wrong results") => {}
            other => missed.push((fault, other)),
        };
        for fault in OF_RAYS {
            let device = faulty(&adapter, fault);
            expect_refusal(fault, device.block_on(rays(&device)).map_err(|e| e.to_string()));
        }
        for fault in OF_PICTURES {
            let device = faulty(&adapter, fault);
            expect_refusal(fault, device.block_on(pictures(&device)).map_err(|e| e.to_string()));
        }
        let of_surfaces = OF_SURFACES.map(|fault| (fault, Mode::Surface, true));
        let of_solids = OF_SOLIDS.map(|fault| (fault, SOLID, false));
        for (fault, mode, has_colors) in of_surfaces.into_iter().chain(of_solids) {
            let gpu = Gpu::on_device(faulty(&adapter, fault)).unwrap();
            let build = |mode, has_colors| {
                let (mesh, capacity) = built_in_mesh(has_colors);
                let builder = SceneBuilder::new(&gpu, mesh.lattice(), mode, capacity);
                builder.map(drop).map_err(|e| e.to_string())
            };
            let tested = build(mode, has_colors);
            if fault.0 == kernels::PARITY {
                let refused = tested.as_ref().unwrap_err();
                assert!(refused.contains("solid scenes"), "{refused}");
                assert_eq!(build(Mode::Surface, false), Ok(()), "the kernels of another rule");
            }
            expect_refusal(fault, tested);
        }
        assert!(missed.is_empty(), "{missed:#?}");
    }
}
