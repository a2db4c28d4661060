//! The stages: their pipelines, the buffers that each of them uses, and the steps of a run.

use std::sync::OnceLock;

use crate::backend::Rule;
use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::data::{
    BRICK_WORDS, BRICKS, CANDIDATE_GROUPS, CROSSING_WORDS, CROSSINGS, PAIR_GROUPS, SOURCES,
};
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
    Crossings = 19,
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
    Crossed,
    Flips,
    ListCrossings,
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
        Self::Crossed,
        Self::Flips,
        Self::ListCrossings,
    ];

    /// The one that finds the voxels that `rule` names.
    fn last(rule: Rule) -> Self {
        match rule {
            Rule::Touched => Self::Voxels,
            Rule::Crossed => Self::Crossed,
            Rule::Flips(_) => Self::Flips,
            Rule::WindingFlips | Rule::Crossings => Self::ListCrossings,
        }
    }

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
            Self::Voxels | Self::Crossed | Self::Flips => {
                &[Params, Mesh, Counters, Pairs, Offsets, FirstPairs, Entries, Numbers, Bricks]
            }
            Self::ListCrossings => &[Params, Mesh, Counters, Pairs, Offsets, FirstPairs, Crossings],
        }
    }
}

/// One dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) stage: Stage,
    /// Whether candidates in bricks are columns, for a stage that counts them: it is compiled for
    /// either.
    pub(super) by_columns: bool,
    /// Of the nodes that it works on; 0 are voxels.
    pub(super) level: u32,
    pub(super) size: Size,
}

impl Step {
    /// What runs, whatever the size.
    pub(super) fn kernel(&self) -> (Stage, bool, u32) {
        (self.stage, self.by_columns, self.level)
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

/// What a run fills a list with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Bricks,
    Crossings,
}

impl Output {
    /// Parity is a bit of a voxel, but a winding number is not.
    pub(super) fn of(rule: Rule) -> Self {
        match rule {
            Rule::Touched | Rule::Crossed | Rule::Flips(_) => Self::Bricks,
            Rule::WindingFlips | Rule::Crossings => Self::Crossings,
        }
    }

    /// Bytes of one.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Bricks => 4 * BRICK_WORDS as u64,
            Self::Crossings => 4 * CROSSING_WORDS as u64,
        }
    }

    /// The word that counts them.
    pub(super) fn counter(self) -> usize {
        match self {
            Self::Bricks => BRICKS,
            Self::Crossings => CROSSINGS,
        }
    }
}

/// The steps of a run by `rule` in which no triangle starts above `top_level`: the triangles join
/// their levels, then level by level candidates are shared out and tested, and what touches goes
/// down.
pub(super) fn steps(rule: Rule, top_level: u32) -> Vec<Step> {
    let step = |stage, level, size| {
        let counts = matches!(stage, Stage::Seed | Stage::Refine);
        Step { stage, by_columns: counts && !rule.axes().is_empty(), level, size }
    };
    let mut steps = vec![step(Stage::Seed, 0, Size::Triangles)];
    for level in (0..=top_level).rev() {
        let mut add = |stage, size| steps.push(step(stage, level, size));
        add(Stage::ScanBlocks, Size::Blocks);
        add(Stage::ScanTotals, Size::One);
        add(Stage::ScanPairs, Size::Planned(PAIR_GROUPS));
        if level > 0 {
            add(Stage::Refine, Size::Planned(CANDIDATE_GROUPS));
        } else {
            if Output::of(rule) == Output::Bricks {
                add(Stage::FindBricks, Size::Planned(PAIR_GROUPS));
            }
            add(Stage::last(rule), Size::Planned(CANDIDATE_GROUPS));
        }
    }
    steps
}

/// The compute pipelines, each compiled when a rule first needs it.
#[derive(Debug, Default)]
pub(super) struct Pipelines([[OnceLock<wgpu::ComputePipeline>; 2]; SOURCES.len()]);

impl Pipelines {
    /// Compiles those that `rule` needs, if they are not yet.
    pub(super) fn prepare(&self, device: &Device, rule: Rule) -> Result<(), BackendError> {
        for step in steps(rule, 1) {
            self.of(device, &step);
        }
        device.check()
    }

    pub(super) fn of(&self, device: &Device, step: &Step) -> &wgpu::ComputePipeline {
        self.0[step.stage as usize][usize::from(step.by_columns)]
            .get_or_init(|| pipeline(&device.device, step))
    }
}

fn pipeline(device: &wgpu::Device, step: &Step) -> wgpu::ComputePipeline {
    let (name, source) = SOURCES[step.stage as usize];
    let constants = if step.by_columns { &[("BY_COLUMNS", 1.0)][..] } else { &[] };
    compute_pipeline(device, name, source, constants)
}

/// The pipeline of a stage, whose entry point has its name.
pub(crate) fn compute_pipeline(
    device: &wgpu::Device,
    name: &str,
    source: &str,
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(name),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: None,
        module: &module,
        entry_point: Some(name),
        compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
        cache: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::crosses::Axis;

    #[test]
    fn stages_are_numbered_as_their_sources() {
        let names = ["seed", "scan_blocks", "scan_totals", "scan_pairs"];
        assert_eq!(Stage::ALL[..4].iter().map(|stage| stage.name()).collect::<Vec<_>>(), names);
        for (index, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, index);
        }
        assert_eq!(Stage::Voxels.name(), "voxels");
        assert_eq!(Stage::FindBricks.name(), "find_bricks");
        assert_eq!(Stage::ListCrossings.name(), "list_crossings");
    }

    #[test]
    fn a_run_takes_four_steps_a_level_and_two_more_or_one_without_bricks() {
        for rule in [Rule::Touched, Rule::Crossed, Rule::Flips(Axis::Z)] {
            assert_eq!(steps(rule, 1).len(), 4 + 4 + 2);
            assert_eq!(steps(rule, 5).len(), 6 * 4 + 2);
        }
        assert_eq!(steps(Rule::WindingFlips, 5).len(), 6 * 4 + 1);
    }

    #[test]
    fn stages_that_count_candidates_are_compiled_for_columns_and_for_rows() {
        for (name, source) in SOURCES {
            let counts = source.contains("count_in_node(triangle, ");
            for rule in [Rule::Touched, Rule::Crossed, Rule::WindingFlips] {
                let steps = steps(rule, 1);
                let of_stage = steps.iter().filter(|step| step.stage.name() == name);
                let expected = counts && rule != Rule::Touched;
                of_stage.for_each(|step| assert_eq!(step.by_columns, expected, "{step:?}"));
            }
        }
    }
}
