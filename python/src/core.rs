//! The library's voxelizer, as a caller's options and process have it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use serde_json::json;
use trivox::backend::{BackendChoice, Backends};
use trivox::base::numbers::counted;
use trivox::engine::{Distances, Remedy, Summary, Timings, Warning};
use trivox::solid::FillReport;
use trivox::{MeshSource, Voxelized, Voxelizer};

use crate::distance::PyDistanceField;
use crate::error::Failure;
use crate::grid::PyGrid;
use crate::job::{self, Job};
use crate::mesh::Source;
use crate::options::Strict;

/// A caller's options.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Has all options of meshes and voxels, and the memory.
    pub voxelizer: Voxelizer,
    pub choice: BackendChoice,
    pub adapter: Option<String>,
    pub threads: Option<usize>,
    pub time_limit: Option<Duration>,
    /// The solids that are errors.
    pub strict: Strict,
    /// A warning about given options without effect on distances.
    pub without_effect_on_distances: Option<String>,
}

impl Plan {
    /// A voxelizer for this process, which `job` watches.
    ///
    /// # Errors
    /// The operating system refused to start threads.
    pub fn voxelizer(&self, job: &Arc<Job>) -> Result<Voxelizer, Failure> {
        let voxelizer = self.voxelizer.clone().backends(self.backends());
        Ok(voxelizer.pool(job::pool(self.threads)?).progress(Arc::<Job>::clone(job)))
    }

    /// Calls `make` with a voxelizer and the mesh in `source`, on a thread of its own, within the
    /// time limit.
    ///
    /// # Errors
    /// Those of [`job::run_on`]; an error of `make` has the path of the mesh's file.
    pub fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        source: Source,
        progress: Option<&Bound<'_, PyAny>>,
        make: impl FnOnce(&Self, Voxelizer, MeshSource<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let plan = self.clone();
        job::run_on(py, source.path(), self.time_limit, progress, move |job| {
            let made = make(&plan, plan.voxelizer(job)?, source.as_library());
            made.map_err(|failure| source.failure(failure))
        })
    }

    /// The grid of a result as Python has it, with its report and warnings.
    ///
    /// # Errors
    /// The solid is one that `strict` refuses.
    pub fn grid_of(&self, made: Voxelized) -> Result<PyGrid, Failure> {
        job::pool(self.threads)?.install(|| {
            let warnings: Vec<String> = made.warnings.iter().map(sentence).collect();
            let report = report(&made.summary(), &made.timings);
            self.judge(made.fill_report.as_ref(), &report, &warnings)?;
            Ok(PyGrid::new(made.grid, report, warnings))
        })
    }

    /// The distance field of a result as Python has it. Its warnings name the options without
    /// effect.
    ///
    /// # Errors
    /// Those of [`grid_of`](Self::grid_of).
    pub fn field_of(&self, found: Distances) -> Result<PyDistanceField, Failure> {
        job::pool(self.threads)?.install(|| {
            let warnings = found.warnings.iter().map(sentence);
            let warnings: Vec<_> =
                warnings.chain(self.without_effect_on_distances.clone()).collect();
            let report = report(&found.summary(), &found.timings);
            self.judge(found.fill_report.as_ref(), &report, &warnings)?;
            Ok(PyDistanceField::new(found.field, report, warnings))
        })
    }

    /// # Errors
    /// The solid is one that `strict` refuses.
    fn judge(
        &self,
        fill: Option<&FillReport>,
        report: &str,
        warnings: &[String],
    ) -> Result<(), Failure> {
        let Some(fill) = fill.filter(|fill| self.strict.refuses(fill)) else { return Ok(()) };
        let doubts: Vec<String> = fill.doubts.iter().map(ToString::to_string).collect();
        let message = if doubts.is_empty() {
            let edges = counted(fill.topology.odd_edges, "edge");
            format!("the mesh is not closed: {edges} of an odd number of triangles")
        } else {
            format!("the fill is doubtful: {}", doubts.join(", and "))
        };
        let (report, warnings) = (report.to_owned(), warnings.to_owned());
        Err(Failure::Doubtful { message, report, warnings, path: None })
    }

    /// Those of the process: a GPU is opened once, and a forked child opens it for itself.
    fn backends(&self) -> Arc<Backends> {
        type Key = (u32, BackendChoice, Option<String>);
        static BACKENDS: Mutex<Vec<(Key, Arc<Backends>)>> = Mutex::new(Vec::new());
        let key = (std::process::id(), self.choice, self.adapter.clone());
        let mut all = BACKENDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, backends)) = all.iter().find(|(own, _)| *own == key) {
            return Arc::clone(backends);
        }
        let backends = Arc::new(Backends::new(self.choice, self.adapter.clone()));
        all.push((key, Arc::clone(&backends)));
        backends
    }
}

/// A warning, with the option that helps.
pub fn sentence(warning: &Warning) -> String {
    warning.with_remedy(|remedy| match remedy {
        Remedy::Fill(fill) => format!("fill=\"{fill}\""),
        Remedy::KeepTransparent => "keep_transparent=True".to_owned(),
        Remedy::InteriorColor => "interior_color".to_owned(),
    })
}

/// JSON with the keys of the program's.
fn report(summary: &Summary, times: &Timings) -> String {
    let mut report = json!(summary);
    report["timings_ms"] = json!(times);
    report.to_string()
}
