//! The same rays on a GPU.

use trivox::Gpu;
use trivox::gpu::{Adapter, Device, kernels::FIRST_HITS};
use trivox::view::gpu::{GpuScene, HIT_WORDS, RAY_GROUP, RAY_WORDS};
use trivox::view::trace::{Hit, Ray, Scene};
use wgpu::BufferUsages as Usage;

use crate::common::{Patience, Result, timed};

/// Of [`OpenGpu::cells`].
pub const COLUMNS: &str = " upload ms | GPU ns/ray | M rays/s, GPU | with transfer, ns/ray |";

/// Buffers of the scene that the stage binds; it has no use for colours.
const SCENE_BUFFERS: usize = 4;

/// A GPU, ready for rays.
pub struct OpenGpu {
    device: Device,
    label: String,
    stage: wgpu::ComputePipeline,
}

impl OpenGpu {
    /// The preferred one; `None` where there is none, where it is software and this is not wanted,
    /// or where it does not start, which is said.
    pub fn open(with_software: bool) -> Option<Self> {
        let adapter = Adapter::find(None).ok()?;
        let adapter = Some(adapter).filter(|one| with_software || !one.is_software())?;
        let label = format!("{}, {}", adapter.label(), adapter.driver());
        match Gpu::new(&adapter) {
            Ok(gpu) => {
                let device = gpu.device().clone();
                let stage = first_hits_stage(&device.device);
                Some(Self { device, label, stage })
            }
            Err(error) => {
                eprintln!("{label}: {error}");
                None
            }
        }
    }

    /// Its name and its driver's.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The cells of [`COLUMNS`]; an error where a hit is not that of the CPU.
    pub fn cells(
        &self,
        scene: &Scene,
        rays: &[Ray],
        hits: &[Option<Hit>],
        patience: Patience,
    ) -> Result<String> {
        let (on_gpu, upload_ms) = timed(|| -> Result<GpuScene> {
            let on_gpu = GpuScene::upload(&self.device, scene)?;
            self.finish()?;
            Ok(on_gpu)
        });
        let on_gpu = on_gpu?;
        if on_gpu.first_hits(rays)? != hits {
            return Err("the GPU's hits differ".into());
        }
        let pass = self.prepare(&on_gpu, rays);
        let mut fastest = [f64::INFINITY; 2];
        patience.repeat(|| -> Result<()> {
            let (done, stage_ms) = timed(|| self.follow(&pass));
            done?;
            let (done, whole_ms) = timed(|| on_gpu.first_hits(rays));
            done?;
            fastest = [fastest[0].min(stage_ms), fastest[1].min(whole_ms)];
            Ok(())
        })?;
        let [stage, whole] = fastest.map(|ms| ms * 1e6 / rays.len() as f64);
        Ok(format!(" {upload_ms:.2} | {stage:.2} | {:.1} | {whole:.1} |", 1e3 / stage))
    }

    fn finish(&self) -> Result<()> {
        self.device.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(self.device.check()?)
    }

    /// What the stage binds, with the rays there already; and its workgroups.
    fn prepare(&self, scene: &GpuScene, rays: &[Ray]) -> Pass {
        let groups = (rays.len() as u32).div_ceil(RAY_GROUP);
        let params = self.filled(&[rays.len() as u32, groups, 0, 0], Usage::UNIFORM);
        let words: Vec<u32> = rays.iter().flat_map(words_of_ray).collect();
        let list = self.filled(&words, Usage::STORAGE);
        let hits = self.device.buffer("hits", (HIT_WORDS * rays.len()) as u64, Usage::STORAGE);
        let lists = self.bind(0, &[&params, &list, &hits]);
        let scene = self.bind(1, &scene.buffers().all()[..SCENE_BUFFERS]);
        Pass { groups, bindings: [lists, scene] }
    }

    /// Follows the rays, and waits.
    fn follow(&self, pass: &Pass) -> Result<()> {
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        let mut stage = encoder.begin_compute_pass(&Default::default());
        stage.set_pipeline(&self.stage);
        (0..).zip(&pass.bindings).for_each(|(group, set)| stage.set_bind_group(group, set, &[]));
        stage.dispatch_workgroups(pass.groups, 1, 1);
        drop(stage);
        self.device.queue.submit([encoder.finish()]);
        self.finish()
    }

    fn filled(&self, words: &[u32], usage: Usage) -> wgpu::Buffer {
        let buffer = self.device.buffer("filled", words.len() as u64, usage | Usage::COPY_DST);
        self.device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    }

    fn bind(&self, group: u32, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries = (0..).zip(buffers).map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        });
        let entries: Vec<wgpu::BindGroupEntry> = entries.collect();
        self.device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.stage.get_bind_group_layout(group),
            entries: &entries,
        })
    }
}

/// A pass over a list of rays.
struct Pass {
    groups: u32,
    bindings: [wgpu::BindGroup; 2],
}

fn first_hits_stage(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let (name, source) = (FIRST_HITS.name(), FIRST_HITS.source());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(name),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: None,
        module: &module,
        entry_point: Some(name),
        compilation_options: Default::default(),
        cache: None,
    })
}

/// The origin by 32-bit halves, the low ones first, and the direction.
fn words_of_ray(ray: &Ray) -> [u32; RAY_WORDS] {
    let (origin, direction) = ray.in_units();
    let [[a, b], [c, d], [e, f]] = origin.map(|c| [c as u32, (c >> 32) as u32]);
    let [x, y, z] = direction.map(|c| c as u32);
    [a, b, c, d, e, f, x, y, z]
}
