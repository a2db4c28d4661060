//! The compute pipelines, and which buffers each of them uses.

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::data::SOURCES;
use crate::error::BackendError;

/// The buffers, by the number under which all shaders bind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Params = 0,
    Triangles = 1,
    Counters = 2,
    Pairs = 3,
    Dispatch = 4,
    Offsets = 5,
    BlockOffsets = 6,
    Children = 7,
    Table = 8,
    Entries = 9,
    Bricks = 10,
    Keys = 11,
    Masks = 12,
}

/// One compute pipeline.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) bindings: &'static [Binding],
}

/// All of them, in the order in which they run.
#[derive(Debug)]
pub(super) struct Stages {
    pub(super) seed: Stage,
    pub(super) plan: Stage,
    pub(super) scan_blocks: Stage,
    pub(super) scan_totals: Stage,
    pub(super) refine: Stage,
    pub(super) find_bricks: Stage,
    pub(super) voxels: Stage,
}

impl Stages {
    pub(super) fn compile(device: &Device) -> Result<Self, BackendError> {
        use Binding::*;
        let compile = |name: &str, bindings: &'static [Binding]| {
            let source = SOURCES.iter().find(|(entry, _)| *entry == name);
            let (_, source) = source.expect("every stage has a source");
            Stage { pipeline: pipeline(&device.device, name, source), bindings }
        };
        let stages = Self {
            seed: compile("seed", &[Params, Triangles, Counters, Pairs]),
            plan: compile("plan", &[Params, Counters, Dispatch]),
            scan_blocks: compile("scan_blocks", &[Params, Counters, Pairs, Offsets, BlockOffsets]),
            scan_totals: compile("scan_totals", &[Params, Counters, Dispatch, BlockOffsets]),
            refine: compile(
                "refine",
                &[Params, Triangles, Counters, Pairs, Offsets, BlockOffsets, Children],
            ),
            find_bricks: compile(
                "find_bricks",
                &[Params, Counters, Pairs, Table, Entries, Bricks, Keys, Masks],
            ),
            voxels: compile(
                "voxels",
                &[
                    Params,
                    Triangles,
                    Counters,
                    Pairs,
                    Offsets,
                    BlockOffsets,
                    Entries,
                    Bricks,
                    Masks,
                ],
            ),
        };
        device.check()?;
        Ok(stages)
    }
}

fn pipeline(device: &wgpu::Device, name: &str, source: &str) -> wgpu::ComputePipeline {
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
