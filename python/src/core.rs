//! The library's voxelizer, as a caller's options and process have it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use trivox::backend::{BackendChoice, Backends};
use trivox::base::numbers::counted;
use trivox::engine::{Distances, Remedy, Summary, Timings, Warning};
use trivox::solid::FillReport;
use trivox::{Voxelized, Voxelizer};

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

/// # Errors
/// As the library's.
pub fn run(plan: &Plan, source: &Source, job: &Arc<Job>) -> Result<PyGrid, Failure> {
    let voxelizer = plan.voxelizer(job)?;
    let made = voxelizer.run(source.as_library()).map_err(|error| source.failure(error.into()))?;
    let grid = job::pool(plan.threads)?.install(|| grid_of(made, plan.strict));
    grid.map_err(|failure| source.failure(failure))
}

/// The distances around a mesh's surface.
///
/// # Errors
/// As the library's.
pub fn distances(
    plan: &Plan,
    source: &Source,
    width: f32,
    job: &Arc<Job>,
) -> Result<PyDistanceField, Failure> {
    let voxelizer = plan.voxelizer(job)?;
    let found = voxelizer
        .distances(source.as_library(), width)
        .map_err(|error| source.failure(error.into()))?;
    let warning = plan.without_effect_on_distances.clone();
    let field = job::pool(plan.threads)?.install(|| field_of(found, warning, plan.strict));
    field.map_err(|failure| source.failure(failure))
}

/// What Python gets of a result; to be called on a pool.
///
/// # Errors
/// The solid is one that `strict` refuses.
pub fn grid_of(made: Voxelized, strict: Strict) -> Result<PyGrid, Failure> {
    let warnings: Vec<String> = made.warnings.iter().map(sentence).collect();
    let report = report(&made.summary(), &made.timings);
    judge(made.fill_report.as_ref(), strict, &report, &warnings)?;
    Ok(PyGrid::new(made.grid, report, warnings))
}

/// As [`grid_of`], with a warning of the options.
pub fn field_of(
    found: Distances,
    warning: Option<String>,
    strict: Strict,
) -> Result<PyDistanceField, Failure> {
    let warnings: Vec<String> = found.warnings.iter().map(sentence).chain(warning).collect();
    let report = report(&found.summary(), &found.timings);
    judge(found.fill_report.as_ref(), strict, &report, &warnings)?;
    Ok(PyDistanceField::new(found.field, report, warnings))
}

/// # Errors
/// The solid is one that `strict` refuses.
fn judge(
    fill: Option<&FillReport>,
    strict: Strict,
    report: &str,
    warnings: &[String],
) -> Result<(), Failure> {
    let Some(fill) = fill.filter(|fill| strict.refuses(fill)) else { return Ok(()) };
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
