//! One mesh, from its file to that of its voxels: load, place, voxelize, check, write.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use trivox::backend::report::Report;
use trivox::backend::{Backends, Chosen, Rule, Run, RunOptions};
use trivox::formats::read_mesh_within;
use trivox::{Lattice, PlaceOptions, PlacedMesh, Progress, Sizing, VoxelGrid, World, place};

use crate::program::cli::Job;
use crate::program::memory::Share;
use crate::program::numbers::counted;
use crate::program::output::Output;
use crate::program::plan::Task;
use crate::program::resume::{self, Origin};
use crate::program::summary::{Check, Contents, Outcome, Summary, Timings, milliseconds, timed};

/// What the meshes of a run share.
pub struct Tools<'a> {
    pub job: &'a Job,
    pub backends: &'a Backends,
    pub memory: &'a Share<'a>,
    pub progress: &'a dyn Progress,
}

/// A mesh that is ready for a backend, and what there is to say of it.
struct Placed {
    mesh: PlacedMesh,
    warnings: Vec<String>,
    /// Milliseconds, as all times below.
    load: f64,
    place: f64,
}

/// The voxels, and how they were made.
struct Voxels {
    grid: VoxelGrid,
    report: Option<Report>,
    by: Chosen,
    start: f64,
    voxelize: f64,
}

impl Tools<'_> {
    /// Does `task`.
    ///
    /// # Errors
    /// Bad input, a backend that failed, an output that cannot be written.
    pub fn voxelize(&self, task: &Task) -> Result<Outcome> {
        let began = Instant::now();
        // Before the mesh is read: if it changes meanwhile, the voxels are not of what it is then.
        let origin = self.job.resume.then(|| Origin::new(self.job, &task.mesh).ok()).flatten();
        if let Some(skipped) = origin.as_ref().and_then(|origin| resume::kept(task, origin)) {
            return Ok(Outcome::Skipped(skipped));
        }
        let output = task.target.as_ref();
        let output = output.map(|path| Output::new(path, self.job.format, &task.mesh));
        let output = output.transpose()?;

        let placed = self.load_and_place(&task.mesh)?;
        output.as_ref().map_or(Ok(()), |o| o.check_dims(placed.mesh.lattice().dims))?;
        let voxels = self.compute(&placed.mesh).with_context(|| task.mesh.display().to_string())?;
        let check = self.job.check.then(|| timed(|| self.check(&placed.mesh, &voxels)));
        let check = check.transpose()?;
        let differs = check.as_ref().is_some_and(|(check, _)| check.differing > 0);
        let output = output.filter(|_| !differs);
        let written = output.as_ref().map(|output| self.write(output, &voxels.grid));
        let written = written.transpose()?;

        let mut summary = summarize(&task.mesh, placed, &voxels);
        if let Some((check, time)) = check {
            summary.check = Some(check);
            summary.timings_ms.check = Some(time);
        }
        if let Some((bytes, time)) = written {
            summary.bytes = Some(bytes);
            summary.output = output.map(|output| output.to_string());
            summary.timings_ms.write = Some(time);
            summary.warnings.extend(self.remember(task, origin, &voxels.grid));
        }
        summary.timings_ms.total = milliseconds(began.elapsed());
        Ok(Outcome::Made(Box::new(summary)))
    }

    fn load_and_place(&self, path: &Path) -> Result<Placed> {
        let named = || path.display().to_string();
        self.progress.start("load", 0);
        let (loaded, load) = timed(|| read_mesh_within(path, self.memory.left()))
            .map_err(|error| self.memory.explain(error.into()))
            .with_context(named)?;
        self.progress.start("place", 0);
        let options = place_options(self.job);
        let (mesh, place) = timed(|| place(&loaded.mesh, &options)).with_context(named)?;
        let mut warnings = loaded.warnings;
        warnings.extend(warnings_of(&mesh));
        Ok(Placed { mesh, warnings, load, place })
    }

    fn compute(&self, mesh: &PlacedMesh) -> Result<Voxels> {
        let (chosen, start) = timed(|| self.backends.choose(mesh))?;
        let ((run, by), voxelize) =
            timed(|| chosen.voxelize(mesh, Rule::Touched, &self.run_options(), self.progress))
                .map_err(|error| self.memory.explain(error.into()))?;
        let Run { grid, report } = run;
        let grid = grid.with_world(World::of(mesh.lattice(), self.job.up.into()));
        Ok(Voxels { grid, report, by, start, voxelize })
    }

    fn run_options(&self) -> RunOptions {
        let time_stages = self.job.json || self.job.verbose;
        RunOptions { memory: self.memory.left(), time_stages }
    }

    /// Voxelizes again on the backend that did not make the voxels, and compares.
    fn check(&self, mesh: &PlacedMesh, voxels: &Voxels) -> Result<Check> {
        let other = self.backends.other_than(&voxels.by).context("--check")?;
        let again = other.backend.run(mesh, Rule::Touched, &self.run_options(), self.progress);
        let again = again.map_err(|e| self.memory.explain(e.into())).context("--check")?;
        Ok(Check::new(&voxels.grid, &again.grid, [voxels.by.to_string(), other.to_string()]))
    }

    /// A warning, where that is not possible: the voxels are there.
    fn remember(&self, task: &Task, origin: Option<Origin>, grid: &VoxelGrid) -> Option<String> {
        let remembered = resume::remember(task.target.as_deref()?, origin?, Contents::of(grid));
        let error = remembered.err()?;
        Some(format!("--resume will make the output again: no note can be left of it: {error:#}"))
    }

    fn write(&self, output: &Output, grid: &VoxelGrid) -> Result<(u64, f64)> {
        self.progress.start("write", 0);
        timed(|| output.write(grid))
    }
}

/// How `job` wants meshes placed.
pub fn place_options(job: &Job) -> PlaceOptions {
    let sizing = match (job.res, job.voxel_size) {
        (Some(res), _) => Sizing::Resolution(res),
        // One of the two is required.
        (None, size) => Sizing::VoxelSize(size.unwrap_or(0.0)),
    };
    let options = PlaceOptions::new(sizing).with_pad(job.pad);
    match job.bounds {
        Some(bounds) => options.with_bounds(bounds),
        None => options,
    }
}

fn warnings_of(mesh: &PlacedMesh) -> Vec<String> {
    let mut warnings = Vec::new();
    let outside = mesh.outside();
    if outside > 0 {
        warnings.push(format!(
            "{} reach outside the bounds; what lies there has no voxels",
            counted(outside as u64, "triangle")
        ));
    }
    let lattice = mesh.lattice();
    if lattice.unit_bits < lattice.unit_bits_of_grid() {
        warnings.push(format!(
            "the mesh reaches so far past the bounds that vertices are rounded to 1/{} of a voxel \
             instead of 1/{}",
            1u32 << lattice.unit_bits,
            1u32 << lattice.unit_bits_of_grid()
        ));
    }
    warnings
}

/// What there is to say before anything is checked or written.
fn summarize(path: &Path, placed: Placed, voxels: &Voxels) -> Summary {
    let Placed { mesh, mut warnings, load, place } = placed;
    let Voxels { grid, report, by, start, voxelize } = voxels;
    let stages = report.iter().flat_map(|report| &report.stages);
    warnings.extend(by.warning.clone());
    if grid.occupied() == 0 {
        warnings.push("no voxel is occupied: the bounds miss the mesh".to_owned());
    }
    let &Lattice { dims, voxel_size, origin, unit_bits, .. } = mesh.lattice();
    Summary {
        mesh: path.display().to_string(),
        triangles: mesh.len(),
        degenerate: mesh.degenerate(),
        dims,
        voxel_size,
        origin,
        unit_bits,
        occupied: grid.occupied(),
        bricks: grid.brick_count(),
        hash: grid.hash().to_string(),
        backend: by.name(),
        adapter: by.adapter.clone(),
        reason: by.reason.clone(),
        check: None,
        output: None,
        bytes: None,
        timings_ms: Timings {
            load,
            place,
            start: *start,
            voxelize: *voxelize,
            ..Timings::default()
        },
        gpu_ms: stages.filter_map(|stage| Some((stage.name, stage.ms?))).collect(),
        gpu: report.clone(),
        warnings,
    }
}
