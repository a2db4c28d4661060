//! Sphere tracing (J. C. Hart, 1996) of a mesh: its signed distances are measured into a 3D texture,
//! which stays on the GPU. The field gives the surface without facets of voxels, its normals, soft
//! shadows and ambient occlusion.
//!
//! `cargo run --release --example sphere_trace -- assets/lighthouse.obj 64 picture.png`

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use image::RgbImage;
use trivox::gpu::Adapter;
use trivox::solid::Solid;
use trivox::view::gpu::distance_texture;
use trivox::wgpu::{self, BindingResource, BufferUsages as Usage};
use trivox::{ColorSource, Gpu, Mode, NoProgress, Voxelizer};

/// Memory of the host, in bytes.
const MEMORY: u64 = 1 << 30;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mesh, resolution, picture] = &args[..] else { bail!("use MESH RESOLUTION PICTURE.png") };
    let resolution = resolution.parse().context("RESOLUTION is a number of voxels")?;
    let gpu = Arc::new(Gpu::new(&Adapter::find(None)?)?);
    draw(gpu, mesh, resolution, 480)?.save(picture).context(picture.clone())
}

/// A picture of `side` pixels a side, a multiple of 8.
pub(crate) fn draw(gpu: Arc<Gpu>, mesh: &str, resolution: u32, side: u32) -> Result<RgbImage> {
    // The band has half-shadows and occlusion in it.
    let width = resolution.div_ceil(4);
    let voxelizer = Voxelizer::new()
        .gpu(gpu.clone())
        .resolution(resolution)
        .pad(width)
        .mode(Mode::Solid(Solid { include_surface: false, ..Solid::default() }))
        .color(ColorSource::None);
    let placed = voxelizer.place(mesh)?;
    let voxelized = voxelizer.voxelize(&placed)?;
    for warning in &voxelized.warnings {
        eprintln!("{warning}");
    }
    let (mesh, inside) = (&placed.mesh, &voxelized.grid);
    let field = distance_texture(&gpu, mesh, inside, width as f32, MEMORY, &NoProgress)?;

    let device = gpu.device();
    let words = u64::from(side * side);
    let pixels = device.buffer("pixels", words, Usage::STORAGE | Usage::COPY_SRC);
    let pipeline = pipeline(&device.device);
    let view = field.create_view(&Default::default());
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
    pass.dispatch_workgroups(side / 8, side / 8, 1);
    drop(pass);
    let staging = device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
    encoder.copy_buffer_to_buffer(&pixels, 0, &staging, 0, 4 * words);
    let pixels = device.submit_and_read(encoder, &staging)?;
    let rgb = pixels.iter().flat_map(|pixel| pixel.to_le_bytes().into_iter().take(3));
    RgbImage::from_raw(side, side, rgb.collect()).context("a pixel for each invocation")
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
