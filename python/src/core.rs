//! The library's voxelizer, as a caller's options and process have it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use trivox::backend::{BackendChoice, Backends};
use trivox::base::numbers::counted;
use trivox::engine::{Distances, Remedy, Summary, Timings, Warning};
use trivox::grid::Attribute;
use trivox::mesh::appearance::FilterChoice;
use trivox::solid::FillReport;
use trivox::{
    Blend, ColorSource, Lattice, Mode, PlaceOptions, Tile, Transform, Up, Voxelized, Voxelizer,
};

use crate::distance::PyDistanceField;
use crate::error::Failure;
use crate::grid::PyGrid;
use crate::job::{self, Job};
use crate::mesh::Source;
use crate::options::Strict;

/// A caller's options.
#[derive(Debug, Clone)]
pub struct Plan {
    pub place: PlaceOptions,
    pub transform: Transform,
    pub mode: Mode,
    pub up: Up,
    pub color: ColorSource,
    pub keep_transparent: bool,
    pub filter: FilterChoice,
    pub blend: Blend,
    pub attributes: Vec<Attribute>,
    pub interior: Option<[u8; 3]>,
    pub tile: Option<Tile>,
    pub lattice: Option<Lattice>,
    pub choice: BackendChoice,
    pub adapter: Option<String>,
    pub threads: Option<usize>,
    pub memory: Option<u64>,
    pub time_limit: Option<Duration>,
    /// Whether a mesh's file may only name files beside it and below.
    pub confine: bool,
    /// The solids that are errors.
    pub strict: Strict,
}

impl Plan {
    /// Refuses what no mesh can be placed with.
    ///
    /// # Errors
    /// A resolution, voxel size, bounds or dimensions that are not possible.
    pub fn check(&self) -> Result<(), Failure> {
        self.of_place().check().map_err(|error| Failure::own("option.place", error))
    }

    /// A voxelizer with the options of size and place.
    fn of_place(&self) -> Voxelizer {
        let voxelizer = Voxelizer::new()
            .place_options(self.place)
            .transform(self.transform.clone())
            .up(self.up);
        let voxelizer = self.tile.into_iter().fold(voxelizer, Voxelizer::tile);
        self.lattice.into_iter().fold(voxelizer, Voxelizer::lattice)
    }

    /// A warning of options that were given and have no effect on distances.
    pub fn without_effect_on_distances(&self) -> Option<String> {
        let is_closed = matches!(self.mode, Mode::Solid(solid) if solid.include_surface);
        let names = [
            ("mode=\"thin\"", self.mode == Mode::Thin),
            ("include_surface", is_closed),
            ("interior_color", self.interior.is_some()),
            ("filter", self.filter != FilterChoice::Auto),
            ("blend", self.blend != Blend::All),
            ("attributes", !self.attributes.is_empty()),
            ("color", matches!(self.color, ColorSource::Uniform(_))),
        ];
        let given: Vec<&str> = names.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        let sentence = || format!("options without effect on distances: {}", given.join(", "));
        (!given.is_empty()).then(sentence)
    }

    /// A voxelizer for this process, which `job` watches.
    ///
    /// # Errors
    /// The operating system refused to start threads.
    pub fn voxelizer(&self, job: &Arc<Job>) -> Result<Voxelizer, Failure> {
        let voxelizer = self
            .of_place()
            .mode(self.mode)
            .color(self.color)
            .keep_transparent(self.keep_transparent)
            .confined(self.confine)
            .filter(self.filter)
            .blend(self.blend)
            .attributes(self.attributes.iter().copied())
            .backends(self.backends())
            .pool(job::pool(self.threads)?)
            .progress(Arc::<Job>::clone(job));
        let voxelizer = match self.interior {
            Some([r, g, b]) => voxelizer.interior_color([r, g, b, u8::MAX]),
            None => voxelizer,
        };
        Ok(match self.memory {
            Some(bytes) => voxelizer.memory(bytes),
            None => voxelizer.memory_from(trivox::base::memory::left),
        })
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
    let warning = plan.without_effect_on_distances();
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
