//! The ray tracer of `raytrace.rs` on a GPU, as part of a renderer: its own device computes the
//! voxels, and its own shader follows rays through them. Only the picture is read back.
//!
//! `cargo run --release --example raytrace_gpu -- assets/lighthouse.obj 96 picture.png`

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use bytemuck::{Pod, Zeroable};
use image::{Rgb, RgbImage};
use trivox::base::srgb::srgb_of;
use trivox::gpu::Device;
use trivox::gpu::scene::{GpuScene, SCENE_SOURCE, SceneBuffers};
use trivox::view::trace::Scene;
use trivox::wgpu::{self, BufferUsages as Usage, ShaderStages};
use trivox::{Gpu, Voxelizer};

/// From a point below the middle of the grid to the eye, in units of its longest side.
const TO_EYE: [f32; 3] = [0.96, 0.90, 1.42];
/// Camera rays per pixel, one per dispatch.
const RAYS: u32 = 64;

/// `Camera` in the shader.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Camera {
    eye: [f32; 4],
    right: [f32; 4],
    up: [f32; 4],
    back: [f32; 4],
    side: u32,
    ray: u32,
    padding: [u32; 2],
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mesh, resolution, picture] = &args[..] else { bail!("use MESH RESOLUTION PICTURE.png") };
    let resolution = resolution.parse().context("RESOLUTION is a number of voxels")?;
    let adapter = wgpu::Instance::default().request_adapter(&Default::default());
    draw(&pollster::block_on(adapter)?, mesh, resolution, 480)?.save(picture)?;
    Ok(())
}

/// Voxelizes a mesh and draws it, on one device of `adapter`.
pub(crate) fn draw(
    adapter: &wgpu::Adapter,
    mesh: &str,
    resolution: u32,
    side: u32,
) -> Result<RgbImage> {
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
    let shared = Device::from_wgpu(device.clone(), queue.clone())?;
    let gpu = Arc::new(Gpu::on_device(shared.clone())?);
    let grid = Voxelizer::new().resolution(resolution).gpu(gpu).run(mesh)?.grid;
    let scene = GpuScene::upload(&shared, &Scene::new(&grid))?;

    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(
            [SCENE_SOURCE, include_str!("light.wgsl")].concat().into(),
        ),
    });
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let own_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[
            entry(0, wgpu::BufferBindingType::Uniform),
            entry(1, wgpu::BufferBindingType::Storage { read_only: false }),
        ],
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&own_layout), Some(&SceneBuffers::layout(&shared))],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&layout),
        module: &module,
        entry_point: Some("add_light"),
        compilation_options: Default::default(),
        cache: None,
    });

    let words = u64::from(4 * side * side);
    let camera_words = size_of::<Camera>() as u64 / 4;
    let uniform = shared.buffer("camera", camera_words, Usage::UNIFORM | Usage::COPY_DST);
    let sums = shared.buffer("sums", words, Usage::STORAGE | Usage::COPY_SRC);
    let staging = shared.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
    let own_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &own_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: sums.as_entire_binding() },
        ],
    });
    let scene_group = scene.buffers().bind_group(&shared);
    let camera = camera(grid.dims(), resolution, side);
    for ray in 0..RAYS {
        queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&Camera { ray, ..camera }));
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &own_group, &[]);
        pass.set_bind_group(1, &scene_group, &[]);
        pass.dispatch_workgroups(side.div_ceil(8), side.div_ceil(8), 1);
        drop(pass);
        queue.submit([encoder.finish()]);
    }
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(&sums, 0, &staging, 0, 4 * words);
    let words = shared.submit_and_read(encoder, &staging)?;
    let sums: &[[f32; 4]] = bytemuck::cast_slice(&words);
    ensure!(sums.iter().all(|sum| sum[3] == 0.0), "the GPU's driver ended a ray early");
    Ok(RgbImage::from_fn(side, side, |column, row| {
        let [r, g, b, _] = sums[(row * side + column) as usize];
        Rgb([r, g, b].map(|c| srgb_of((c / RAYS as f32 * 65535.0) as u16)))
    }))
}

/// The camera of `raytrace.rs`: above and in front of the grid, and to its right.
fn camera(dims: [u32; 3], resolution: u32, side: u32) -> Camera {
    let normalized = |v: [f32; 3]| v.map(|c| c / v.iter().map(|c| c * c).sum::<f32>().sqrt());
    let four = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
    let below_middle = [0.5, 0.36, 0.5];
    let eye = [0, 1, 2].map(|a| below_middle[a] * dims[a] as f32 + TO_EYE[a] * resolution as f32);
    let back = normalized(TO_EYE);
    let right = normalized([back[2], 0.0, -back[0]]);
    let up = normalized([0, 1, 2].map(|a| f32::from(u8::from(a == 1)) - back[1] * back[a]));
    let (right, up, back) = (four(right), four(up), four(back));
    Camera { eye: four(eye), right, up, back, side, ray: 0, padding: [0; 2] }
}
