//! The ray tracer of `raytrace.rs` on a GPU, for a mesh that changes each frame: its vertices are
//! voxelized and the voxels are traced in one submission, on the renderer's own device. Nothing is
//! read back but the last picture. Colours are one per triangle: a renderer that shades by textures
//! gives voxels the index of their triangle instead.
//!
//! `cargo run --release --example raytrace_gpu -- assets/lighthouse.obj 96 36 picture.png`

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use bytemuck::{Pod, Zeroable};
use image::{Rgb, RgbImage};
use trivox::base::srgb::{Linear, linear_of_rgba, rgba_of, srgb_of};
use trivox::gpu::Device;
use trivox::mesh::appearance::Texture;
use trivox::view::gpu::{MeshBuffers, SceneBuffers, SceneBuilder, SceneCapacity, scene_source};
use trivox::wgpu::util::{BufferInitDescriptor, DeviceExt};
use trivox::wgpu::{self, BufferUsages as Usage, ShaderStages};
use trivox::{Gpu, Lattice, Mesh, Mode, PlaceOptions, Sizing};

/// From a point below the middle of the grid to the eye, in units of its longest side.
const TO_EYE: [f32; 3] = [0.96, 0.90, 1.42];

/// The colour of a mesh without materials.
const GREY: [u8; 4] = [220, 220, 220, 255];
const WHITE: Linear = [u16::MAX; 4];

/// `Camera` in the shader.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Camera {
    eye: [f32; 4],
    right: [f32; 4],
    up: [f32; 4],
    back: [f32; 4],
    side: u32,
    rays: u32,
    padding: [u32; 2],
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mesh, resolution, frames, picture] = &args[..] else {
        bail!("use MESH RESOLUTION FRAMES PICTURE.png");
    };
    let resolution = resolution.parse().context("RESOLUTION is a number of voxels")?;
    let frames: u32 = frames.parse().context("FRAMES is a number of pictures")?;
    ensure!(frames > 0, "the picture is that of the last frame: use 1 frame or more");
    let loaded = trivox::formats::read_mesh(mesh).context(mesh.clone())?;
    for warning in &loaded.warnings {
        eprintln!("{warning}");
    }
    // wgpu would validate the arguments of each indirect dispatch by a dispatch before it. Those of
    // trivox are within the limits.
    let mut instance = wgpu::InstanceDescriptor::new_without_display_handle();
    instance.flags.remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
    let instance = wgpu::Instance::new(instance);
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()));
    let renderer = Renderer::new(&adapter?, &loaded.mesh, resolution, 480, 4)?;
    for frame in 1..=frames {
        let began = Instant::now();
        renderer.draw(360.0 * frame as f32 / frames as f32)?;
        // For the time alone: a renderer would go on with the next frame.
        renderer.device.device.poll(wgpu::PollType::wait_indefinitely())?;
        println!("frame {frame}: {:.2} ms", began.elapsed().as_secs_f64() * 1e3);
    }
    renderer.picture()?.save(picture).context(picture.clone())
}

pub(crate) struct Renderer {
    device: Device,
    builder: SceneBuilder,
    lattice: Lattice,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    colors: wgpu::Buffer,
    vertex_count: u32,
    triangle_count: u32,
    pipeline: wgpu::ComputePipeline,
    /// The camera and the sums, and the scene.
    groups: [wgpu::BindGroup; 2],
    sums: wgpu::Buffer,
    side: u32,
    rays: u32,
}

impl Renderer {
    /// A renderer of pictures of `side` pixels a side, with `rays` rays in each.
    pub(crate) fn new(
        adapter: &wgpu::Adapter,
        mesh: &Mesh,
        resolution: u32,
        side: u32,
        rays: u32,
    ) -> Result<Self> {
        // The default limits hold small meshes only.
        let with_limits =
            wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
        let (own, queue) = pollster::block_on(adapter.request_device(&with_limits))?;
        let device = Device::from_wgpu(own.clone(), queue)?;
        let gpu = Gpu::on_device(device.clone())?;
        let lattice = Lattice::of(mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
        let (positions, triangles) = (mesh.positions(), mesh.triangles());
        let (vertices, triangle_count) = (positions.len() as u32, triangles.len() as u32);
        // Room for most meshes; `picture` says if a mesh needs more.
        let bricks = resolution.div_ceil(8).saturating_pow(2).saturating_mul(16);
        let voxels = bricks.saturating_mul(100);
        let pairs = triangle_count.saturating_add(bricks).saturating_mul(4);
        let capacity = SceneCapacity {
            vertices,
            triangles: triangle_count,
            pairs,
            bricks,
            candidates: 1 << 25,
            voxels,
        };
        let builder = SceneBuilder::new(&gpu, &lattice, Mode::Surface, capacity)?;

        let buffer = |label, contents: &[u8], usage| {
            own.create_buffer_init(&BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let floats: Vec<[f32; 3]> = positions.iter().map(|p| p.map(|c| c as f32)).collect();
        let color = |triangle| color_of(mesh, triangle);
        let colors: Vec<[u8; 4]> = (0..triangles.len()).map(color).collect();
        let camera = Camera { side, rays, ..camera(lattice.dims, resolution) };
        let camera = buffer("camera", bytemuck::bytes_of(&camera), Usage::UNIFORM);
        let words = u64::from(4 * side * side);
        let sums = device.buffer("sums", words, Usage::STORAGE | Usage::COPY_SRC);
        let own_layout = layout(&own);
        let pipeline = pipeline(&own, &[Some(&own_layout), Some(&SceneBuffers::layout(&device))]);
        let own_group = own.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &own_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: camera.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: sums.as_entire_binding() },
            ],
        });
        Ok(Self {
            vertices: buffer("vertices", bytemuck::cast_slice(&floats), Usage::STORAGE),
            indices: buffer("indices", bytemuck::cast_slice(triangles), Usage::STORAGE),
            colors: buffer("colours", bytemuck::cast_slice(&colors), Usage::COPY_SRC),
            vertex_count: vertices,
            triangle_count,
            groups: [own_group, builder.scene().buffers().bind_group(&device)],
            pipeline,
            builder,
            lattice,
            sums,
            side,
            rays,
            device,
        })
    }

    /// Voxelizes the mesh, turned by an angle in degrees, and traces it.
    pub(crate) fn draw(&self, angle: f32) -> Result<()> {
        let mesh = MeshBuffers {
            vertices: &self.vertices,
            vertex_offset: 0,
            vertex_stride: 12,
            vertex_count: self.vertex_count,
            indices: &self.indices,
            index_format: wgpu::IndexFormat::Uint32,
            index_offset: 0,
            triangle_count: self.triangle_count,
            voxels_from_mesh: turned(&self.lattice, angle.to_radians()),
            colors: Some(&self.colors),
        };
        let Device { device, queue, .. } = &self.device;
        let mut encoder = device.create_command_encoder(&Default::default());
        self.builder.record(&mut encoder, &[mesh])?;
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.groups[0], &[]);
        pass.set_bind_group(1, &self.groups[1], &[]);
        pass.dispatch_workgroups(self.side.div_ceil(8), self.side.div_ceil(8), 1);
        drop(pass);
        queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Reads the picture that was drawn last.
    pub(crate) fn picture(&self) -> Result<RgbImage> {
        let status = self.builder.status()?;
        if let Some(failure) = status.failure {
            bail!("the scene is empty: {failure} ({status:?})");
        }
        let words = u64::from(4 * self.side * self.side);
        let staging = self.device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&self.sums, 0, &staging, 0, 4 * words);
        let words = self.device.submit_and_read(encoder, &staging)?;
        let sums: &[[f32; 4]] = bytemuck::cast_slice(&words);
        ensure!(sums.iter().all(|sum| sum[3] == 0.0), "the GPU's driver ended a ray early");
        Ok(RgbImage::from_fn(self.side, self.side, |column, row| {
            let [r, g, b, _] = sums[(row * self.side + column) as usize];
            Rgb([r, g, b].map(|c| srgb_of((c / self.rays as f32 * 65535.0) as u16)))
        }))
    }
}

/// A triangle's colour at its centroid: that of its material, times those of its texture and of its
/// vertices. Opacity is not used.
fn color_of(mesh: &Mesh, triangle: usize) -> [u8; 4] {
    let Some(look) = mesh.appearance() else { return GREY };
    let material = look.material(triangle);
    let texel = match material.texture {
        Some(of) => texel_at(&look.textures[of.texture as usize], look.uvs[triangle]),
        None => WHITE,
    };
    let corners = if material.has_vertex_colors {
        mesh.triangles()[triangle].map(|vertex| look.vertex_colors[vertex as usize])
    } else {
        [WHITE; 3]
    };
    let [r, g, b] = [0, 1, 2].map(|i| {
        let part = |color: Linear| f32::from(color[i]) / 65535.0;
        (65535.0 * part(material.color) * part(texel) * mean(corners.map(part))) as u16
    });
    rgba_of([r, g, b, u16::MAX])
}

/// The texel at a triangle's centroid, of a texture that repeats; white without coordinates in it.
fn texel_at(texture: &Texture, uvs: [[f32; 2]; 3]) -> Linear {
    let [width, height] = texture.size().map(|texels| texels as usize);
    let [u, v] = [0, 1].map(|a| mean(uvs.map(|uv| uv[a])).rem_euclid(1.0));
    if u.is_nan() || v.is_nan() {
        return WHITE;
    }
    let x = ((u * width as f32) as usize).min(width - 1);
    let y = ((v * height as f32) as usize).min(height - 1);
    linear_of_rgba(texture.texels()[y * width + x])
}

fn mean(of: [f32; 3]) -> f32 {
    of.iter().sum::<f32>() / 3.0
}

/// The transform to voxels of a mesh that is turned about the vertical axis of its grid, and made
/// smaller until it fits.
fn turned(lattice: &Lattice, angle: f32) -> [[f32; 4]; 3] {
    let rows = lattice.voxels_from_mesh();
    let [width, _, depth] = lattice.dims.map(|d| d as f32);
    let (sin, cos) = angle.sin_cos();
    let turned = [width * cos.abs() + depth * sin.abs(), width * sin.abs() + depth * cos.abs()];
    let scale = (width / turned[0]).min(depth / turned[1]).min(1.0);
    let mut from_grid = rows;
    for i in 0..4 {
        // The last column is the image of the mesh's origin.
        let [x, y, z] = [rows[0][i], rows[1][i], rows[2][i]];
        let middle = if i == 3 { [width / 2.0, depth / 2.0] } else { [0.0; 2] };
        let [x, z] = [x - middle[0], z - middle[1]];
        from_grid[0][i] = scale * (cos * x + sin * z) + middle[0];
        from_grid[1][i] = scale * y;
        from_grid[2][i] = scale * (cos * z - sin * x) + middle[1];
    }
    from_grid
}

fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[
            entry(0, wgpu::BufferBindingType::Uniform),
            entry(1, wgpu::BufferBindingType::Storage { read_only: false }),
        ],
    })
}

fn pipeline(
    device: &wgpu::Device,
    layouts: &[Option<&wgpu::BindGroupLayout>],
) -> wgpu::ComputePipeline {
    let source = scene_source(1) + include_str!("light.wgsl");
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: layouts,
        immediate_size: 0,
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&layout),
        module: &module,
        entry_point: Some("draw"),
        compilation_options: Default::default(),
        cache: None,
    })
}

/// The camera of `raytrace.rs`: above and in front of the grid, and to its right.
fn camera(dims: [u32; 3], resolution: u32) -> Camera {
    let normalized = |v: [f32; 3]| v.map(|c| c / v.iter().map(|c| c * c).sum::<f32>().sqrt());
    let four = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
    let below_middle = [0.5, 0.36, 0.5];
    let eye = [0, 1, 2].map(|a| below_middle[a] * dims[a] as f32 + TO_EYE[a] * resolution as f32);
    let back = normalized(TO_EYE);
    let right = normalized([back[2], 0.0, -back[0]]);
    let up = normalized([0, 1, 2].map(|a| f32::from(u8::from(a == 1)) - back[1] * back[a]));
    let (right, up, back) = (four(right), four(up), four(back));
    Camera { eye: four(eye), right, up, back, side: 0, rays: 0, padding: [0; 2] }
}
