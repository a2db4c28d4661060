//! One backend at work on one mesh, with one bound on memory: what modes and fills find voxels by.

use std::borrow::Cow;
use std::time::Duration;

use web_time::Instant;

use crate::backend::report::Report;
use crate::backend::{Backend, BackendError, Rule, Run, RunOptions};
use crate::grid::VoxelGrid;
use crate::place::PlacedMesh;
use crate::progress::Progress;

/// A backend at work on one mesh.
pub(crate) struct Finder<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) mesh: Cow<'a, PlacedMesh>,
    pub(crate) options: &'a RunOptions,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) report: Option<Report>,
    pub(crate) time: Duration,
}

impl Finder<'_> {
    /// The voxels that `rule` names, found in the memory that `kept` bytes leave.
    pub(crate) fn find(&mut self, rule: Rule, kept: u64) -> Result<Run, BackendError> {
        if self.progress.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        let began = Instant::now();
        let mut run = self.within(kept, |memory| {
            let options = RunOptions { memory, ..*self.options };
            self.backend.run(&self.mesh, rule, &options, self.progress)
        })?;
        self.time += began.elapsed();
        match (&mut self.report, run.report.take()) {
            (Some(report), Some(more)) => report.add(more),
            (report, more) => *report = more,
        }
        Ok(run)
    }

    /// Without the voxels that flips have past the mesh's grid.
    pub(crate) fn crop(&self, grid: VoxelGrid) -> Result<VoxelGrid, BackendError> {
        self.within(grid.bytes(), |memory| grid.cropped(self.mesh.lattice().dims, memory))
    }

    /// What `work` makes in the memory that `kept` bytes leave of all that is allowed.
    pub(crate) fn within<T>(
        &self,
        kept: u64,
        work: impl FnOnce(u64) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        work(self.options.memory.saturating_sub(kept)).map_err(|error| match error {
            BackendError::Memory { needed, .. } => BackendError::Memory {
                needed: needed.saturating_add(kept),
                allowed: self.options.memory,
            },
            other => other,
        })
    }
}
