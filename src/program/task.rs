//! One mesh, from its file to that of its voxels: load, place, voxelize, check, write.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use trivox::backend::{Backends, Chosen, RunOptions};
use trivox::formats::{GridFormat, WriteOptions, read_mesh_with};
use trivox::palette::count_colors;
use trivox::solid::Filling;
use trivox::{
    Lattice, Mode, PlaceOptions, PlacedMesh, Progress, Sizing, VoxelGrid, Voxels, World, place,
    voxelize,
};

use crate::program::cli::{FewColors, Job, What};
use crate::program::filling::FillSummary;
use crate::program::looks::{ColorChoice, Looks};
use crate::program::memory::Share;
use crate::program::numbers::counted;
use crate::program::output::{Names, Output, Written};
use crate::program::plan::Task;
use crate::program::render::Preview;
use crate::program::resume::{self, Origin};
use crate::program::summary::{Check, Contents, Outcome, Summary, Timings, milliseconds, timed};

/// What the meshes of a run share.
pub struct Tools<'a> {
    pub job: &'a Job,
    pub what: &'a What,
    pub few_colors: &'a FewColors,
    pub write_options: &'a WriteOptions,
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

/// The voxels, and what made them.
struct Made {
    voxels: Voxels,
    by: Chosen,
    start: f64,
}

impl Made {
    fn is_doubtful(&self) -> bool {
        self.voxels.filling.as_ref().is_some_and(Filling::is_doubtful)
    }
}

impl Tools<'_> {
    /// Does `task`.
    ///
    /// # Errors
    /// Bad input, a backend that failed, an output that cannot be written.
    pub fn voxelize(&self, task: &Task) -> Result<Outcome> {
        let began = Instant::now();
        // Before the mesh is read: if it changes meanwhile, the voxels are not of what it is then.
        let origin = self
            .job
            .resume
            .then(|| Origin::new(self.job, self.what, self.few_colors, &task.mesh).ok())
            .flatten();
        if let Some(skipped) = origin.as_ref().and_then(|origin| resume::kept(task, origin)) {
            return Ok(Outcome::Skipped(skipped));
        }
        let output = task.target.as_ref();
        let output = output.map(|path| Output::new(path, self.job.format, &task.mesh));
        let output = output.transpose()?;
        let preview = self.job.preview.as_ref().map(|path| Preview::new(path, &task.mesh));
        let preview = preview.transpose()?;

        let format = output.as_ref().map(Output::format);
        let has_colors = preview.is_some() || format.is_some_and(|format| format.spec().has_colors);
        let What { keep_transparent, .. } = *self.what;
        let looks = Looks::new(self.what.mode(), self.job.color, keep_transparent, has_colors);
        let placed = self.load_and_place(&task.mesh, &looks)?;
        output.as_ref().map_or(Ok(()), |o| o.check_dims(placed.mesh.lattice().dims))?;
        let made = self.compute(&placed.mesh).with_context(|| task.mesh.display().to_string())?;
        let check = self.job.check.then(|| timed(|| self.check(&placed.mesh, &made)));
        let check = check.transpose()?;
        let differs = check.as_ref().is_some_and(|(check, _)| check.differing > 0);
        let refused = self.job.strict && made.is_doubtful();
        let is_kept = !differs && (!refused || self.job.force);
        let (output, preview) = (output.filter(|_| is_kept), preview.filter(|_| is_kept));
        let (made, transparent, color) = self.color(&looks, &placed.mesh, made)?;
        let grid = &made.voxels.grid;
        let written = output.as_ref().map(|output| self.write(output, grid)).transpose()?;
        let drawn = preview.map(|preview| self.draw(&preview, grid)).transpose()?;

        let mut summary = summarize(&task.mesh, placed, &made, transparent);
        summary.refused = refused;
        summary.timings_ms.color = color;
        summary.warnings.extend(self.without_effect(output.as_ref()));
        if let Some((check, time)) = check {
            summary.check = Some(check);
            summary.timings_ms.check = Some(time);
        }
        if let Some((written, time)) = written {
            summary.timings_ms.write = Some(time);
            // A doubtful solid is to fail again.
            let origin = origin.filter(|_| !refused);
            summary.warnings.extend(self.remember(task, &written.names, origin, grid));
            summary.bytes = Some(written.bytes);
            summary.warnings.extend(written.warning);
            summary.has_palette = format.is_some_and(GridFormat::has_palette);
            summary.output = Some(written.names);
        }
        if let Some((preview, time)) = drawn {
            summary.preview = Some(preview);
            summary.timings_ms.preview = Some(time);
        }
        summary.timings_ms.total = milliseconds(began.elapsed());
        Ok(Outcome::Made(Box::new(summary)))
    }

    fn load_and_place(&self, path: &Path, looks: &Looks) -> Result<Placed> {
        let named = || path.display().to_string();
        self.progress.start("load", 0);
        let options = looks.read_options().within(self.memory.left());
        let (loaded, load) = timed(|| read_mesh_with(path, &options))
            .map_err(|error| self.memory.explain(error.into()))
            .with_context(named)?;
        self.progress.start("place", 0);
        let options = place_options(self.job);
        let (mesh, place) = timed(|| place(&loaded.mesh, &options)).with_context(named)?;
        let mut warnings = loaded.warnings;
        warnings.extend(warnings_of(&mesh));
        Ok(Placed { mesh, warnings, load, place })
    }

    fn compute(&self, mesh: &PlacedMesh) -> Result<Made> {
        let (by, start) = timed(|| self.backends.choose(mesh))?;
        let mut voxels = self.voxels(&by, mesh)?;
        voxels.grid.world = Some(World::of(mesh.lattice(), self.job.up.into()));
        Ok(Made { voxels, by, start })
    }

    fn voxels(&self, by: &Chosen, mesh: &PlacedMesh) -> Result<Voxels> {
        let mode = self.what.mode();
        voxelize(by, mesh, mode, &self.run_options(), self.progress).map_err(|error| match mode {
            Mode::Solid(_) => self.memory.explain_step(error.into()),
            Mode::Surface | Mode::Thin => self.memory.explain(error.into()),
        })
    }

    fn run_options(&self) -> RunOptions {
        let time_stages = self.job.json || self.job.verbose;
        RunOptions { memory: self.memory.left(), time_stages }
    }

    /// Voxelizes again on the backend that did not make the voxels, and compares.
    fn check(&self, mesh: &PlacedMesh, made: &Made) -> Result<Check> {
        let other = self.backends.other_than(&made.by).context("--check")?;
        let again = self.voxels(&other, mesh).context("--check")?;
        let backends = [made.by.to_string(), other.to_string()];
        Ok(Check::new(&made.voxels.grid, &again.grid, backends))
    }

    /// Gives the voxels their colours; also how many were left out for being transparent, and the time
    /// that took, if any was needed.
    fn color(
        &self,
        looks: &Looks,
        mesh: &PlacedMesh,
        mut made: Made,
    ) -> Result<(Made, u64, Option<f64>)> {
        let apply = |grid| looks.apply(mesh, grid, self.memory.left(), self.progress);
        let (colored, time) =
            timed(|| apply(made.voxels.grid)).map_err(|error| self.memory.explain(error.into()))?;
        made.voxels.grid = colored.grid;
        let time = mesh.appearance().map(|_| time);
        Ok((made, colored.transparent, time))
    }

    /// What has no effect on the file that was written, though it was asked for.
    fn without_effect(&self, output: Option<&Output>) -> Vec<String> {
        let Some(format) = output.map(Output::format) else { return Vec::new() };
        let FewColors { palette, dither } = self.few_colors;
        let color = self.job.color;
        let [holds_any, holds_few] = [format.spec().has_colors, format.has_palette()];
        let options = [
            ("--color", matches!(color, ColorChoice::One(_)) && !holds_any, "no colours"),
            ("--palette", palette.is_some() && !holds_few, "no palette"),
            ("--dither", *dither && !holds_few, "no palette"),
        ];
        let lost = options.into_iter().filter(|&(_, is_lost, _)| is_lost);
        let extension = format.extension();
        lost.map(|(option, _, what)| {
            format!("{option} had no effect: .{extension} files hold {what}")
        })
        .collect()
    }

    /// A warning, where that is not possible: the voxels are there.
    fn remember(
        &self,
        task: &Task,
        names: &Names,
        origin: Option<Origin>,
        grid: &VoxelGrid,
    ) -> Option<String> {
        let (target, origin) = (task.target.as_deref()?, origin?);
        let why = match names {
            Names::One(_) => resume::remember(target, origin, Contents::of(grid)).err()?,
            Names::Several(_) => anyhow!("it is several files"),
        };
        Some(format!("--resume will make the output again: no note can be left of it: {why:#}"))
    }

    fn draw(&self, preview: &Preview, grid: &VoxelGrid) -> Result<(String, f64)> {
        self.progress.start("draw", 0);
        timed(|| preview.draw(grid))
    }

    fn write(&self, output: &Output, grid: &VoxelGrid) -> Result<(Written, f64)> {
        self.progress.start("write", 0);
        timed(|| output.write(grid, self.write_options))
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
fn summarize(path: &Path, placed: Placed, made: &Made, transparent: u64) -> Summary {
    let Placed { mesh, mut warnings, load, place } = placed;
    let Made { voxels, by, start } = made;
    let Voxels { grid, report, filling, .. } = voxels;
    let fill = filling.as_ref().map(|filling| FillSummary::new(filling, mesh.lattice()));
    let stages = report.iter().flat_map(|report| &report.stages);
    warnings.extend(by.warning());
    warnings.extend(fill.iter().flat_map(FillSummary::warnings));
    warnings.extend(left_out(transparent));
    warnings.extend(why_empty(&mesh, grid, fill.is_some(), transparent));
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
        adapter: by.adapter().map(str::to_owned),
        reason: by.reason(),
        transparent,
        colors: grid.colors.as_ref().map(|_| count_colors(grid)),
        check: None,
        refused: false,
        output: None,
        has_palette: false,
        preview: None,
        bytes: None,
        timings_ms: Timings {
            load,
            place,
            start: *start,
            voxelize: milliseconds(voxels.voxelize),
            fill: filling.as_ref().map(|_| milliseconds(voxels.fill)),
            ..Timings::default()
        },
        gpu_ms: stages.filter_map(|stage| Some((stage.name, stage.ms?))).collect(),
        gpu: report.clone(),
        fill,
        warnings,
    }
}

/// A warning, where voxels were left out for being transparent.
fn left_out(transparent: u64) -> Option<String> {
    let voxels = (transparent > 0).then(|| counted(transparent, "voxel"))?;
    Some(format!(
        "{voxels} in which all is transparent were left out: --keep-transparent keeps them"
    ))
}

/// A warning, where no voxel is occupied.
fn why_empty(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    is_solid: bool,
    transparent: u64,
) -> Option<String> {
    let why = match grid.occupied() {
        1.. => return None,
        _ if transparent > 0 => "all of the mesh is transparent",
        _ if mesh.is_missed() => "the bounds miss the mesh",
        _ if is_solid => "no voxel's centre is inside the mesh as it was filled",
        _ => "no line through voxel centres in the grid crosses the mesh",
    };
    Some(format!("no voxel is occupied: {why}"))
}
