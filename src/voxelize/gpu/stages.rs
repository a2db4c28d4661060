//! The stages: their kernels, and the steps of a run.

use std::sync::Arc;

use crate::error::BackendError;
use crate::gpu::{self, Constants, Device, Pipeline, kernels};
use crate::voxelize::gpu::data::{
    BRICK_WORDS, BRICKS, CANDIDATE_GROUPS, CROSSING_WORDS, CROSSINGS, KIND_COLUMN, KIND_ROW,
    KIND_VOXEL, LEVELS, PAIR_GROUPS,
};
use crate::voxelize::{Kernel, Rule};

/// A stage of a run: one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Seed,
    ScanBlocks,
    ScanTotals,
    ScanPairs,
    Refine,
    FindBricks,
    VoxelRows,
    Voxels,
    Crossed,
    Flips,
    ListCrossings,
}

impl Stage {
    /// The one that finds the voxels that `rule` names.
    fn last(rule: Rule, kernel: Kernel) -> Self {
        match (rule, kernel) {
            (Rule::Conservative, Kernel::Rows) => Self::VoxelRows,
            (Rule::Conservative, Kernel::Voxels) => Self::Voxels,
            (Rule::SixSeparating, _) => Self::Crossed,
            (Rule::Parity(_), _) => Self::Flips,
            (Rule::Winding | Rule::Crossings, _) => Self::ListCrossings,
        }
    }

    /// What its candidates in a brick are: the value of the kernels' `CANDIDATE_KIND`.
    fn candidates(self) -> Constants {
        match self {
            Self::Crossed | Self::Flips | Self::ListCrossings => &[("CANDIDATE_KIND", KIND_COLUMN)],
            Self::Voxels => &[("CANDIDATE_KIND", KIND_VOXEL)],
            _ => &[("CANDIDATE_KIND", KIND_ROW)],
        }
    }

    pub(super) fn kernel(self) -> gpu::Kernel {
        match self {
            Self::Seed => kernels::SEED,
            Self::ScanBlocks => kernels::SCAN_BLOCKS,
            Self::ScanTotals => kernels::SCAN_TOTALS,
            Self::ScanPairs => kernels::SCAN_PAIRS,
            Self::Refine => kernels::REFINE,
            Self::FindBricks => kernels::FIND_BRICKS,
            Self::VoxelRows => kernels::VOXEL_ROWS,
            Self::Voxels => kernels::VOXELS,
            Self::Crossed => kernels::CROSSED,
            Self::Flips => kernels::FLIPS,
            Self::ListCrossings => kernels::LIST_CROSSINGS,
        }
    }

    /// The name of its kernel.
    pub(super) fn name(self) -> &'static str {
        self.kernel().name()
    }
}

/// One dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) stage: Stage,
    /// Pipeline constants, for a stage that counts candidates: it is compiled for each kind.
    pub(super) constants: Constants,
    /// Of the nodes that it works on; 0 are voxels.
    pub(super) level: u32,
    pub(super) size: Size,
}

impl Step {
    /// What its bind groups depend on.
    pub(super) fn key(&self) -> (Stage, Constants, u32) {
        (self.stage, self.constants, self.level)
    }

    pub(super) fn pipeline(&self, device: &Device) -> Arc<Pipeline> {
        device.pipeline(self.stage.kernel(), self.constants)
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

/// The records of the list that a run fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Bricks,
    Crossings,
}

impl Output {
    /// Parity is a bit of a voxel, but a winding number is not.
    pub(super) fn of(rule: Rule) -> Self {
        match rule {
            Rule::Conservative | Rule::SixSeparating | Rule::Parity(_) => Self::Bricks,
            Rule::Winding | Rule::Crossings => Self::Crossings,
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

/// Most steps in a run: four a level, and two more.
pub(super) const MAX_STEPS: u32 = 4 * LEVELS as u32 + 2;

/// The steps of a run by `rule` in which no triangle starts above `top_level`: the triangles join
/// their levels; then, level by level, a prefix sum distributes the candidates, and what touches
/// becomes pairs of the level below.
pub(super) fn steps(rule: Rule, kernel: Kernel, top_level: u32) -> Vec<Step> {
    let last = Stage::last(rule, kernel);
    let step = |stage, level, size| {
        let counts = matches!(stage, Stage::Seed | Stage::Refine);
        Step { stage, constants: if counts { last.candidates() } else { &[] }, level, size }
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
            add(last, Size::Planned(CANDIDATE_GROUPS));
        }
    }
    steps
}

/// Compiles the kernels that a rule needs, if they are not yet.
pub(super) fn prepare(device: &Device, rule: Rule, kernel: Kernel) -> Result<(), BackendError> {
    for step in steps(rule, kernel, 1) {
        step.pipeline(device);
    }
    device.check()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::crosses::Axis;

    #[test]
    fn a_run_takes_four_steps_a_level_and_two_more_or_one_without_bricks() {
        for rule in [Rule::Conservative, Rule::SixSeparating, Rule::Parity(Axis::Z)] {
            for kernel in [Kernel::Rows, Kernel::Voxels] {
                assert_eq!(steps(rule, kernel, 1).len(), 4 + 4 + 2);
                assert_eq!(steps(rule, kernel, 5).len(), MAX_STEPS as usize);
            }
        }
        assert_eq!(steps(Rule::Winding, Kernel::Rows, 5).len(), 6 * 4 + 1);
    }

    #[test]
    fn stages_that_count_candidates_count_those_of_the_last_stage() {
        let kinds = [
            (Rule::Conservative, Kernel::Rows, KIND_ROW),
            (Rule::Conservative, Kernel::Voxels, KIND_VOXEL),
            (Rule::SixSeparating, Kernel::Rows, KIND_COLUMN),
            (Rule::Winding, Kernel::Voxels, KIND_COLUMN),
        ];
        for (rule, kernel, kind) in kinds {
            for step in steps(rule, kernel, 1) {
                let counts = step.stage.kernel().source().contains("count_in_node(triangle, ");
                let expected = [("CANDIDATE_KIND", kind)];
                assert_eq!(step.constants, &expected[..usize::from(counts)], "{step:?}");
            }
        }
    }
}
