//! The stages: their pipelines, the buffers that each of them uses, and the steps of a run.

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::data::{CANDIDATE_GROUPS, PAIR_GROUPS, SOURCES};
use crate::error::BackendError;

/// The buffers, by the number under which all shaders bind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Params = 0,
    Mesh = 1,
    Counters = 2,
    Pairs = 3,
    Dispatch = 4,
    Offsets = 5,
    BlockOffsets = 6,
    Children = 7,
    Table = 8,
    Entries = 9,
    Numbers = 10,
    Bricks = 11,
    FirstPairs = 12,
    Pairs0 = 13,
    Pairs1 = 14,
    Pairs2 = 15,
    Pairs3 = 16,
    Pairs4 = 17,
    Pairs5 = 18,
}

/// One kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Seed,
    ScanBlocks,
    ScanTotals,
    ScanPairs,
    Refine,
    FindBricks,
    Voxels,
}

impl Stage {
    /// In the order of [`SOURCES`].
    pub(super) const ALL: [Self; SOURCES.len()] = [
        Self::Seed,
        Self::ScanBlocks,
        Self::ScanTotals,
        Self::ScanPairs,
        Self::Refine,
        Self::FindBricks,
        Self::Voxels,
    ];

    /// The name of its entry point.
    pub(super) fn name(self) -> &'static str {
        SOURCES[self as usize].0
    }

    pub(super) fn bindings(self) -> &'static [Binding] {
        use Binding::*;
        match self {
            Self::Seed => &[Params, Mesh, Counters, Pairs0, Pairs1, Pairs2, Pairs3, Pairs4, Pairs5],
            Self::ScanBlocks => &[Params, Counters, Pairs, Offsets, BlockOffsets],
            Self::ScanTotals => &[Params, Counters, Dispatch, BlockOffsets],
            Self::ScanPairs => &[Params, Counters, Pairs, Offsets, BlockOffsets, FirstPairs],
            Self::Refine => &[Params, Mesh, Counters, Pairs, Offsets, FirstPairs, Children],
            Self::FindBricks => &[Params, Counters, Pairs, Table, Entries, Numbers, Bricks],
            Self::Voxels => {
                &[Params, Mesh, Counters, Pairs, Offsets, FirstPairs, Entries, Numbers, Bricks]
            }
        }
    }
}

/// One dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) stage: Stage,
    /// Of the nodes that it works on; 0 are voxels.
    pub(super) level: u32,
    pub(super) size: Size,
}

impl Step {
    /// What runs, whatever the size.
    pub(super) fn kernel(&self) -> (Stage, u32) {
        (self.stage, self.level)
    }
}

/// How large a dispatch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// One workgroup.
    One,
    /// An invocation for each triangle.
    Triangles,
    /// A workgroup for each block of pairs that has room.
    Blocks,
    /// What an earlier step put at this word of the dispatch arguments.
    Planned(u64),
}

/// The steps of a run in which no triangle starts above `top_level`: the triangles join their
/// levels, then level by level candidates are shared out and tested, and what touches goes down.
pub(super) fn steps(top_level: u32) -> Vec<Step> {
    let mut steps = vec![Step { stage: Stage::Seed, level: 0, size: Size::Triangles }];
    for level in (0..=top_level).rev() {
        let mut add = |stage, size| steps.push(Step { stage, level, size });
        add(Stage::ScanBlocks, Size::Blocks);
        add(Stage::ScanTotals, Size::One);
        add(Stage::ScanPairs, Size::Planned(PAIR_GROUPS));
        if level > 0 {
            add(Stage::Refine, Size::Planned(CANDIDATE_GROUPS));
        } else {
            add(Stage::FindBricks, Size::Planned(PAIR_GROUPS));
            add(Stage::Voxels, Size::Planned(CANDIDATE_GROUPS));
        }
    }
    steps
}

/// The compute pipelines.
#[derive(Debug)]
pub(super) struct Pipelines(Vec<wgpu::ComputePipeline>);

impl Pipelines {
    pub(super) fn compile(device: &Device) -> Result<Self, BackendError> {
        let pipelines = SOURCES.iter().map(|(name, source)| pipeline(&device.device, name, source));
        let pipelines = Self(pipelines.collect());
        device.check()?;
        Ok(pipelines)
    }

    pub(super) fn of(&self, stage: Stage) -> &wgpu::ComputePipeline {
        &self.0[stage as usize]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_numbered_as_their_sources() {
        let names = ["seed", "scan_blocks", "scan_totals", "scan_pairs"];
        assert_eq!(Stage::ALL[..4].iter().map(|stage| stage.name()).collect::<Vec<_>>(), names);
        for (index, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, index);
        }
        assert_eq!(Stage::Voxels.name(), "voxels");
        assert_eq!(Stage::FindBricks.name(), "find_bricks");
    }

    #[test]
    fn a_run_takes_four_steps_a_level_and_two_more() {
        assert_eq!(steps(1).len(), 4 + 4 + 2);
        assert_eq!(steps(5).len(), 6 * 4 + 2);
    }
}
