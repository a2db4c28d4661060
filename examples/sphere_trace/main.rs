//! Sphere tracing (J. C. Hart, 1996) of a mesh by its signed distances in a 3D texture, which stays
//! on the GPU. The shader interpolates the distances: the surface is smooth, and its normals, soft
//! shadows and ambient occlusion follow from them.
//!
//! `cargo run --release --example sphere_trace -- assets/lighthouse.obj 64 picture.png`

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use image::RgbImage;
use trivox::gpu::Adapter;
use trivox::wgpu::{self, BindingResource, BufferUsages as Usage};
use trivox::{Gpu, Voxelizer};

/// Pixels along an edge of a workgroup's tile.
const TILE: u32 = 8;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mesh, resolution, picture] = &args[..] else { bail!("use MESH RESOLUTION PICTURE.png") };
    let resolution = resolution.parse().context("RESOLUTION is a number of voxels")?;
    let gpu = Arc::new(Gpu::new(&Adapter::find(None)?)?);
    let drawn = draw(&gpu, mesh, resolution, 480).context(mesh.clone())?;
    drawn.save(picture).context(picture.clone())
}

/// Draws a square picture. Its `side`, in pixels, is a multiple of [`TILE`].
pub(crate) fn draw(gpu: &Arc<Gpu>, mesh: &str, resolution: u32, side: u32) -> Result<RgbImage> {
    ensure!(side.is_multiple_of(TILE), "{side} pixels are no multiple of {TILE}");
    // The width of the band, and of the grid's padding: shadows and occlusion need near distances.
    let width = resolution.div_ceil(4).max(2);
    let voxelizer = Voxelizer::new().resolution(resolution);
    let distances = voxelizer.distance_texture(gpu, Path::new(mesh), width as f32)?;
    for warning in &distances.warnings {
        eprintln!("{warning}");
    }

    let device = gpu.device();
    let words = u64::from(side * side);
    let pixels = device.buffer("pixels", words, Usage::STORAGE | Usage::COPY_SRC);
    let pipeline = pipeline(&device.device);
    let view = distances.texture.create_view(&Default::default());
    let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: BindingResource::TextureView(&view) },
            wgpu::BindGroupEntry { binding: 1, resource: pixels.as_entire_binding() },
        ],
    });
    let mut encoder = device.device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(side / TILE, side / TILE, 1);
    drop(pass);
    let staging = device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
    encoder.copy_buffer_to_buffer(&pixels, 0, &staging, 0, 4 * words);
    let colors = device.submit_and_read(encoder, &staging)?;
    let rgb = colors.iter().flat_map(|color| color.to_le_bytes().into_iter().take(3));
    RgbImage::from_raw(side, side, rgb.collect()).context("a colour for each pixel")
}

fn pipeline(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::include_wgsl!("march.wgsl"));
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("draw"),
        compilation_options: Default::default(),
        cache: None,
    })
}
