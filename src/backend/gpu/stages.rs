//! The stages: their kernels, and the steps of a run.

use std::sync::Arc;

use crate::backend::gpu::data::{
    BRICK_WORDS, CANDIDATE_GROUPS, CROSSING_WORDS, KIND_COLUMN, KIND_DIRECTED_COLUMN, KIND_ROW,
    KIND_SOLID_COLUMN, KIND_VOXEL, LEVELS, PAIR_GROUPS,
};
use crate::backend::{Rule, VoxelKernel};
use crate::gpu::{Constants, Device, GpuError, Kernel, Pipeline, kernels};

/// The last kernel of `rule`, which finds the voxels, and the kind of its candidates in a brick:
/// the constant `CANDIDATE_KIND` of the kernels that count them. With `keeps_bricks` a solid is
/// filled on the GPU, for which all touched bricks are marked, also those between columns.
pub(crate) fn last_kernel(
    rule: Rule,
    kernel: VoxelKernel,
    keeps_bricks: bool,
) -> (Kernel, Constants) {
    const COLUMN: Constants = &[("CANDIDATE_KIND", KIND_COLUMN)];
    match (rule, kernel) {
        (Rule::Conservative, VoxelKernel::Rows) => {
            (kernels::VOXEL_ROWS, &[("CANDIDATE_KIND", KIND_ROW)])
        }
        (Rule::Conservative, VoxelKernel::Voxels) => {
            (kernels::VOXELS, &[("CANDIDATE_KIND", KIND_VOXEL)])
        }
        (Rule::SixSeparating, _) => (kernels::SIX_SEPARATING, COLUMN),
        (Rule::Parity(_), _) if keeps_bricks => {
            (kernels::PARITY, &[("CANDIDATE_KIND", KIND_SOLID_COLUMN)])
        }
        (Rule::Parity(_), _) => (kernels::PARITY, COLUMN),
        (Rule::Winding | Rule::Crossings, _) => {
            (kernels::MARK_CROSSINGS, &[("CANDIDATE_KIND", KIND_DIRECTED_COLUMN)])
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) kernel: Kernel,
    /// Pipeline constants: a kernel that counts candidates is compiled for each kind.
    pub(crate) constants: Constants,
    /// Level of the children that its pairs expand to; 0 is voxels.
    pub(crate) level: u32,
    pub(crate) size: Size,
}

impl Step {
    /// The key of its bind groups.
    pub(crate) fn key(&self) -> (&'static str, Constants, u32) {
        (self.kernel.name(), self.constants, self.level)
    }

    /// The index of the buffer with the dispatch arguments of its level.
    pub(crate) fn dispatch_buffer(&self) -> usize {
        self.level as usize % 2
    }

    pub(crate) fn pipeline(&self, device: &Device) -> Arc<Pipeline> {
        device.pipeline(self.kernel, self.constants)
    }

    /// The kernel, as it is compiled.
    pub(crate) fn variant(&self) -> (Kernel, Constants) {
        (self.kernel, self.constants)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// One invocation per triangle.
    Triangles,
    OneGroup,
    /// One invocation per word of the bitmap.
    Bitmap,
    /// Indirect, with the arguments at this word of the level's in its dispatch buffer.
    Indirect(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputList {
    Bricks,
    /// Crossings of voxels that have one of the same direction in their brick.
    Crossings,
}

impl OutputList {
    /// Bytes per record.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Bricks => 4 * BRICK_WORDS as u64,
            Self::Crossings => 4 * CROSSING_WORDS as u64,
        }
    }
}

/// Maximum number of steps of a run: one per level, and five more.
pub(crate) const MAX_STEPS: u32 = LEVELS as u32 + 5;

/// The steps of a run by `rule` in which no triangle starts above `top_level`: triangles are
/// appended to their start levels; then, level by level, touched nodes become pairs of the level
/// below. With `keeps_bricks` the vertices were rounded on the GPU, and are checked first.
pub(crate) fn steps(
    rule: Rule,
    kernel: VoxelKernel,
    keeps_bricks: bool,
    top_level: u32,
) -> Vec<Step> {
    let (last, kind) = last_kernel(rule, kernel, keeps_bricks);
    let step = |kernel, constants, level, size| Step { kernel, constants, level, size };
    let check = keeps_bricks.then(|| step(kernels::CHECK_TRIANGLES, &[], 0, Size::Triangles));
    let mut steps: Vec<Step> = check.into_iter().collect();
    steps.push(step(kernels::SEED, kind, 0, Size::Triangles));
    let candidates = Size::Indirect(CANDIDATE_GROUPS);
    steps.extend((1..=top_level).rev().map(|level| step(kernels::REFINE, kind, level, candidates)));
    steps.push(step(kernels::MARK_BRICKS, &[], 0, Size::Indirect(PAIR_GROUPS)));
    steps.push(step(kernels::SCAN_BLOCKS, &[], 0, Size::OneGroup));
    steps.push(step(kernels::RANK_BRICKS, &[], 0, Size::Bitmap));
    steps.push(step(last, &[], 0, candidates));
    debug_assert!(steps.len() <= MAX_STEPS as usize, "{} steps", steps.len());
    steps
}

/// Compiles the kernels of a rule, unless cached.
pub(crate) fn prepare(device: &Device, rule: Rule, kernel: VoxelKernel) -> Result<(), GpuError> {
    device.compile(steps(rule, kernel, false, 1).iter().map(Step::variant))
}
