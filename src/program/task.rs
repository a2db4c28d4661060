//! One mesh, from its file to that of its voxels: made, checked, written and drawn.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use trivox::formats::{GridFormat, WriteOptions};
use trivox::palette::count_colors;
use trivox::solid::FillReport;
use trivox::voxelizer::{Placed, Timings as Times};
use trivox::{
    ColorSource, Lattice, Mode, PlacedMesh, Progress, Up, VoxelGrid, Voxelized, Voxelizer,
};

use crate::program::cli::{FewColors, Job, What};
use crate::program::fill_summary::FillSummary;
use crate::program::maker::{DEFAULT_RES, Maker, sentences};
use crate::program::memory::Share;
use crate::program::output::{Cut, Names, Output, Written};
use crate::program::plan::Task;
use crate::program::render::Preview;
use crate::program::resume::{self, Origin};
use crate::program::summary::{
    Check, Contents, Outcome, Summary, TileSummary, Timings, milliseconds, timed,
};
use crate::program::transform::{Transform, place_options};

/// What the meshes of a run share.
pub struct Tools<'a> {
    pub job: &'a Job,
    pub what: &'a What,
    pub few_colors: &'a FewColors,
    pub write_options: &'a WriteOptions,
    /// With the options that all meshes share, in this share of the memory.
    pub voxelizer: Voxelizer,
    pub memory: &'a Share,
    pub progress: &'a dyn Progress,
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
        let maker = self.maker(has_colors)?;
        let placed = maker.load_and_place(&task.mesh)?;
        output.as_ref().map_or(Ok(()), |o| o.check_dims(placed.mesh.window_dims()))?;
        let notes = self.notes(&placed, format);
        let made = maker.compute(&placed.mesh).with_context(|| task.mesh.display().to_string())?;
        let check = self.job.check.then(|| timed(|| check(&maker, &placed.mesh, &made)));
        let check = check.transpose()?;
        let differs = check.as_ref().is_some_and(|(check, _)| check.differing > 0);
        let refused =
            self.job.strict && made.fill_report.as_ref().is_some_and(FillReport::is_doubtful);
        let is_kept = !differs && (!refused || self.job.force);
        let (output, preview) = (output.filter(|_| is_kept), preview.filter(|_| is_kept));
        let made = maker.color(&placed.mesh, made)?;
        let grid = &made.grid;
        let written = output.as_ref().map(|output| self.write(output, grid)).transpose();
        // Whoever reads only a part of standard output has not cut short the preview.
        let (written, cut) = match written {
            Err(error) if error.is::<Cut>() => (None, Some(error)),
            written => (written?, None),
        };
        let drawn = preview.map(|preview| self.draw(&preview, grid)).transpose()?;
        if let Some(error) = cut {
            return Err(error);
        }

        let mut summary = summarize(&task.mesh, &placed, &made);
        summary.refused = refused;
        summary.warnings.extend(self.without_effect(output.as_ref()));
        summary.warnings.extend(too_high(format, grid));
        summary.notes.extend(notes);
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

    fn maker(&self, has_colors: bool) -> Result<Maker<'_>> {
        Ok(Maker {
            voxelizer: self.what.of(self.voxelizer.clone(), self.job.color, has_colors),
            transform: Transform::new(self.job)?,
            place: place_options(self.job),
            memory: self.memory,
            is_solid: matches!(self.what.mode(), Mode::Solid(_)),
        })
    }

    /// What was decided for the user, and how it could be had otherwise.
    fn notes(&self, placed: &Placed, format: Option<GridFormat>) -> Vec<String> {
        let Job { res, voxel_size, cube, dims, lattice, color, .. } = self.job;
        let is_sized = res.is_some() || voxel_size.is_some() || cube.is_some() || dims.is_some();
        let is_default = !is_sized && lattice.is_none();
        let resolution = is_default.then(|| {
            format!("no resolution given: {DEFAULT_RES} voxels along the longest axis (--res)")
        });
        let mesh = &placed.mesh;
        let has_colors = mesh.appearance().is_some() && *color == ColorSource::Mesh;
        let lost = format.filter(|format| has_colors && !format.spec().has_colors).map(|format| {
            let extension = format.extension();
            format!("the mesh has colours, but .{extension} files hold none: they are left out")
        });
        resolution.into_iter().chain(lost).collect()
    }

    /// What has no effect on the file that was written, though it was asked for.
    fn without_effect(&self, output: Option<&Output>) -> Vec<String> {
        let Some(format) = output.map(Output::format) else { return Vec::new() };
        let FewColors { palette, dither } = self.few_colors;
        let color = self.job.color;
        let [holds_any, holds_few] = [format.spec().has_colors, format.has_palette()];
        let options = [
            ("--color", matches!(color, ColorSource::Uniform(_)) && !holds_any, "no colours"),
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

/// Voxelizes again on the backend that did not make the voxels, and compares.
fn check(maker: &Maker, mesh: &PlacedMesh, made: &Voxelized) -> Result<Check> {
    let again = maker.compute_again(mesh, &made.backend).context("--compare-backends")?;
    let backends = [made.backend.to_string(), again.backend.to_string()];
    Ok(Check::new(&made.grid, &again.grid, backends))
}

/// What there is to say before anything is checked or written.
fn summarize(path: &Path, placed: &Placed, made: &Voxelized) -> Summary {
    let Placed { mesh, warnings, timings: Times { load, place, .. }, .. } = placed;
    let Voxelized { grid, fill_report, transparent, report, backend, timings, .. } = made;
    let fill = fill_report.as_ref().map(|report| FillSummary::new(report, mesh.lattice()));
    let stages = report.iter().flat_map(|report| &report.stages);
    let warnings = sentences(warnings).chain(sentences(&made.warnings)).collect();
    let lattice = *mesh.whole().lattice();
    let Lattice { voxel_size, unit_bits, .. } = lattice;
    Summary {
        mesh: path.display().to_string(),
        triangles: mesh.len(),
        degenerate: mesh.degenerate(),
        dims: grid.dims(),
        voxel_size,
        origin: grid.world.map_or(lattice.origin, |world| world.origin),
        unit_bits,
        lattice,
        tile: mesh.window().map(|window| TileSummary { from: window.from, to: window.to }),
        occupied: grid.occupied(),
        bricks: grid.brick_count(),
        hash: grid.hash().to_string(),
        backend: backend.name(),
        adapter: backend.adapter.clone(),
        reason: backend.reason.clone(),
        transparent: *transparent,
        colors: grid.colors.as_ref().map(|_| count_colors(grid)),
        check: None,
        refused: false,
        output: None,
        has_palette: false,
        preview: None,
        bytes: None,
        timings_ms: Timings {
            load: milliseconds(*load),
            place: milliseconds(*place),
            start: milliseconds(timings.start),
            voxelize: milliseconds(timings.voxelize),
            fill: timings.fill.map(milliseconds),
            color: timings.color.map(milliseconds),
            ..Timings::default()
        },
        gpu_ms: stages.filter_map(|stage| Some((stage.name, stage.ms?))).collect(),
        gpu: report.clone(),
        fill,
        warnings,
        notes: Vec::new(),
    }
}

/// The height of Minecraft's world, in blocks.
const WORLD_HEIGHT: u32 = 384;

/// A warning, where a schematic is higher than the world that it is for.
fn too_high(format: Option<GridFormat>, grid: &VoxelGrid) -> Option<String> {
    let up = grid.world.map_or(Up::default(), |world| world.up);
    let height = match up {
        Up::Y => grid.dims()[1],
        Up::Z => grid.dims()[2],
    };
    (format == Some(GridFormat::Schem) && height > WORLD_HEIGHT).then(|| {
        format!("the schematic is {height} blocks high, but Minecraft's world has {WORLD_HEIGHT}")
    })
}
