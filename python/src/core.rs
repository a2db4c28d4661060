//! One mesh, from its source to its grid.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use trivox::backend::{Backends, Choice, RunOptions};
use trivox::{ColorOptions, Mode, PlaceOptions, Progress, Up, World, place, voxelize};

use crate::error::Failure;
use crate::grid::PyGrid;
use crate::job::{self, Job};
use crate::mesh::Source;

#[derive(Debug, Clone)]
pub struct Plan {
    pub place: PlaceOptions,
    pub mode: Mode,
    pub up: Up,
    pub color: bool,
    pub keep_transparent: bool,
    pub choice: Choice,
    pub adapter: Option<String>,
    pub threads: Option<usize>,
    pub memory: u64,
    pub time_limit: Option<Duration>,
}

impl Plan {
    pub fn check(&self) -> Result<(), Failure> {
        let triangle = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let mesh = trivox::Mesh::new(triangle, vec![[0, 1, 2]])?;
        match place(&mesh, &self.place) {
            Err(error @ (trivox::PlaceError::Resolution(_) | trivox::PlaceError::VoxelSize(_) | trivox::PlaceError::Bounds { .. })) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

pub fn run(plan: &Plan, source: Source, job: &Job) -> Result<PyGrid, Failure> {
    let pool = job::pool(plan.threads)?;
    let mut began = Instant::now();
    let mut lap = || {
        let ms = began.elapsed().as_secs_f64() * 1e3;
        began = Instant::now();
        ms
    };
    job.start("load", 0);
    let mesh = pool.install(|| source.load())?;
    let load = lap();
    let placed = pool.install(|| place(&mesh.mesh, &plan.place))?;
    let place_ms = lap();
    let (mut voxels, name, adapter, reason) = pool.install(|| {
        let by = Backends::new(plan.choice, plan.adapter.clone()).choose(&placed)?;
        let options = RunOptions { memory: plan.memory, ..RunOptions::default() };
        let voxels = voxelize(&by, &placed, plan.mode, &options, job)?;
        Ok::<_, Failure>((voxels, by.name(), by.adapter().map(str::to_owned), by.reason()))
    })?;
    voxels.grid.world = Some(World::of(placed.lattice(), plan.up));
    let made = lap();
    let mut colors = ColorOptions::new(plan.mode);
    colors.keep_transparent = plan.keep_transparent || !plan.color;
    let grid = match plan.color {
        true => pool.install(|| trivox::color(&placed, voxels.grid, &colors, job))?.grid,
        false => voxels.grid,
    };
    let color = lap();
    let report = json!({
        "triangles": placed.len(), "occupied": grid.occupied(), "backend": name, "adapter": adapter, "reason": reason,
        "timings_ms": {"load": load, "place": place_ms, "voxelize": made, "color": color},
    });
    Ok(PyGrid { grid: Arc::new(grid), report: report.to_string(), warnings: mesh.warnings.to_vec() })
}
