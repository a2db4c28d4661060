//! Runs of one backend on one mesh within one memory limit, for modes and fills.

use std::borrow::Cow;
use std::time::Duration;

use web_time::Instant;

use crate::backend::report::RunReport;
use crate::backend::{Backend, BackendError, Rule, Run, RunOptions, check_cancelled};
use crate::base::progress::Progress;
use crate::lattice::{Distinct, PlacedMesh};

/// A backend at work on one mesh.
pub(crate) struct Runner<'a> {
    pub(crate) by: Backend<'a>,
    pub(crate) mesh: Cow<'a, PlacedMesh>,
    pub(crate) options: &'a RunOptions,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) report: Option<RunReport>,
    pub(crate) time: Duration,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        by: Backend<'a>,
        mesh: &'a PlacedMesh,
        options: &'a RunOptions,
        progress: &'a dyn Progress,
    ) -> Self {
        let mesh = Cow::Borrowed(mesh);
        Self { by, mesh, options, progress, report: None, time: Duration::ZERO }
    }

    /// The voxels that `rule` names, found in the memory that `kept` bytes leave.
    pub(crate) async fn run(&mut self, rule: Rule, kept: u64) -> Result<Run, BackendError> {
        check_cancelled(self.progress)?;
        if !self.mesh.has(rule.reach()) {
            return Err(BackendError::NotInTiles(
                "the window has too few of the mesh's triangles: make it with the reach of the mode",
            ));
        }
        let began = Instant::now();
        let memory = self.options.memory.saturating_sub(kept);
        let options = RunOptions { memory, ..*self.options };
        // Repeated triangles touch the same voxels, but their crossings count.
        let mesh = match rule.counting_axis() {
            None => Distinct::of(&self.mesh, false).into_mesh(),
            Some(_) => Cow::Borrowed(&*self.mesh),
        };
        let run = self.by.run_async(&mesh, rule, &options, self.progress).await;
        let mut run = run.map_err(|error| error.with_kept_bytes(kept, self.options.memory))?;
        self.time += began.elapsed();
        match (&mut self.report, run.report.take()) {
            (Some(report), Some(more)) => report.add(more),
            (report, more) => *report = more,
        }
        Ok(run)
    }

    /// Calls `work` with the memory that remains beside `kept` bytes.
    pub(crate) fn within<T>(
        &self,
        kept: u64,
        work: impl FnOnce(u64) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let memory = self.options.memory;
        work(memory.saturating_sub(kept)).map_err(|error| error.with_kept_bytes(kept, memory))
    }
}
