//! One task: reads, voxelizes, checks, writes and draws one mesh.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use trivox::formats::{GridFormat, Sidecar, WriteOptions};
use trivox::palette::count_colors;
use trivox::solid::{FillReport, FillSummary};
use trivox::voxelizer::{Placed, Timings as Times};
use trivox::{
    ColorSource, Lattice, Mode, PlacedMesh, Progress, Up, VoxelGrid, Voxelized, Voxelizer,
};

use crate::program::cli::{Job, PaletteArgs, VoxelArgs};
use crate::program::destination::same_file;
use crate::program::memory::Share;
use crate::program::output::{Cut, Inputs, Names, Output, Written};
use crate::program::pipeline::{DEFAULT_RES, Pipeline, sentences};
use crate::program::plan::Task;
use crate::program::render::Preview;
use crate::program::resume::{self, Origin};
use crate::program::summary::{
    Check, Contents, DistanceSummary, Outcome, Summary, TileSummary, Timings, milliseconds, timed,
};
use crate::program::transform::{place_options, transform};

/// What the tasks of a run share.
pub struct RunContext<'a> {
    pub job: &'a Job,
    pub voxels: &'a VoxelArgs,
    pub palette_args: &'a PaletteArgs,
    pub write_options: &'a WriteOptions,
    /// The files that all tasks read.
    pub inputs: &'a Inputs,
    /// With the shared options, and this share of the memory.
    pub voxelizer: Voxelizer,
    pub memory: &'a Share,
    pub progress: &'a dyn Progress,
}

impl RunContext<'_> {
    /// Runs `task`.
    ///
    /// # Errors
    /// Bad input; a failed backend; an output that cannot be written.
    pub fn voxelize(&self, task: &Task) -> Result<Outcome> {
        let began = Instant::now();
        // Recorded before the mesh is read: if the file changes meanwhile, the record must not
        // match it.
        let origin = self
            .job
            .resume
            .then(|| Origin::new(self.job, self.voxels, self.palette_args, &task.mesh).ok())
            .flatten();
        if let Some(skipped) = origin.as_ref().and_then(|origin| resume::kept(task, origin)) {
            return Ok(Outcome::Skipped(skipped));
        }
        let inputs = &self.inputs.with(&task.mesh);
        let output = task.target.as_ref();
        let output = output.map(|path| Output::new(path, self.job.format, inputs));
        let output = output.transpose()?;
        if let (Some(output), Some(_)) = (&output, self.job.distance) {
            output.check_distances()?;
        }
        let preview = self.job.preview.as_ref().map(|path| Preview::new(path, inputs));
        let preview = preview.transpose()?;
        refuse_one_file(task.target.as_deref(), self.job.preview.as_deref())?;

        let format = output.as_ref().map(Output::format);
        let is_grid = self.job.distance.is_none();
        let has_colors = preview.is_some() || format.is_some_and(|format| format.spec().has_colors);
        let has_colors = has_colors && is_grid;
        let pipeline = self.pipeline(has_colors)?;
        let placed = pipeline.place(&task.mesh)?;
        let sidecars = Inputs::of_sidecars(&placed.sidecars);
        if let Some(output) = &output {
            output.refuse(&sidecars)?;
            output.check_dims(placed.mesh.window_dims())?;
        }
        preview.as_ref().map_or(Ok(()), |preview| preview.refuse(&sidecars))?;
        let notes = self.notes(&placed, format);
        let made =
            pipeline.compute(&placed.mesh).with_context(|| task.mesh.display().to_string())?;
        let check = self.job.check.then(|| timed(|| check(&pipeline, &placed.mesh, &made)));
        let check = check.transpose()?;
        let differs = check.as_ref().is_some_and(|(check, _)| check.differing > 0);
        let refused =
            self.job.strict && made.fill_report.as_ref().is_some_and(FillReport::is_doubtful);
        let is_kept = !differs && (!refused || self.job.force);
        let (output, preview) = (output.filter(|_| is_kept), preview.filter(|_| is_kept));
        let made = pipeline.color(&placed.mesh, made)?;
        let grid = &made.grid;
        let field = self.job.distance.filter(|_| is_kept);
        let field =
            field.map(|width| timed(|| pipeline.measure(&placed.mesh, grid.clone(), width)));
        let (field, measured) = field.transpose()?.unzip();
        let written = output.as_ref().map(|output| match &field {
            Some(field) => self.write(|| output.write_distances(field, self.progress)),
            None => self.write(|| output.write(grid, self.write_options, self.progress)),
        });
        let written = written.transpose();
        // A reader that closes standard output early does not prevent the preview.
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
        let blocks = format.and_then(|format| format.blocks(grid));
        summary.warnings.extend(self.without_effect(format, blocks.is_some()));
        summary.warnings.extend(blocks.and_then(too_high));
        summary.notes.extend(blocks.map(|blocks| size_of_schematic(blocks, self.job.up.into())));
        summary.notes.extend(notes);
        if let Some(field) = &field {
            let (width, voxels) = (field.width(), field.band().occupied());
            summary.distances = Some(DistanceSummary { width, voxels });
            summary.timings_ms.distance = measured;
            summary.hash = field.hash();
            let on_gpu = made.backend.adapter.is_some();
            let note = "the GPU found the inside; distances are computed on the CPU";
            summary.notes.extend(on_gpu.then(|| note.to_owned()));
        }
        if let Some((check, time)) = check {
            summary.check = Some(check);
            summary.timings_ms.check = Some(time);
        }
        if let Some((written, time)) = written {
            summary.timings_ms.write = Some(time);
            // A doubtful solid must fail again in the next run.
            let origin = origin.filter(|_| !refused);
            let contents =
                || field.as_ref().map_or_else(|| Contents::of(grid), Contents::of_distances);
            summary.warnings.extend(self.remember(
                task,
                &written.names,
                origin,
                &placed.sidecars,
                contents,
            ));
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

    fn pipeline(&self, has_colors: bool) -> Result<Pipeline<'_>> {
        Ok(Pipeline {
            voxelizer: (self.voxels.of(self.voxelizer.clone(), self.job.color, has_colors))
                .transform(transform(self.job)?)
                .place_options(place_options(self.job)),
            memory: self.memory,
            is_solid: matches!(self.voxels.mode(), Mode::Solid(_)),
        })
    }

    /// Notes on defaults, and the options that change them.
    fn notes(&self, placed: &Placed, format: Option<GridFormat>) -> Vec<String> {
        let Job { res, voxel_size, cube, dims, lattice, color, .. } = self.job;
        let is_sized = res.is_some() || voxel_size.is_some() || cube.is_some() || dims.is_some();
        let is_default = !is_sized && lattice.is_none();
        let resolution = is_default.then(|| {
            format!("no resolution given: {DEFAULT_RES} voxels along the longest axis (--res)")
        });
        let mesh = &placed.mesh;
        let has_colors = mesh.appearance().is_some() && *color == ColorSource::Mesh;
        let lost = format.filter(|_| has_colors).and_then(|format| match self.job.distance {
            Some(_) => Some("distances".to_owned()),
            None if format.spec().has_colors => None,
            None => Some(format!(".{} files", format.extension())),
        });
        let lost = lost
            .map(|what| format!("the mesh has colours, but {what} hold none: they are left out"));
        resolution.into_iter().chain(lost).collect()
    }

    /// Warnings about options without effect on the output's format.
    fn without_effect(&self, format: Option<GridFormat>, has_blocks: bool) -> Vec<String> {
        let Some(format) = format else { return Vec::new() };
        let PaletteArgs { palette, blocks, dither } = self.palette_args;
        let color = self.job.color;
        let [holds_any, holds_few] = [format.spec().has_colors, format.has_palette()];
        let options = [
            ("--color", matches!(color, ColorSource::Uniform(_)) && !holds_any, "no colours"),
            ("--palette", palette.is_some() && !holds_few, "no palette"),
            ("--blocks", blocks.is_some() && !has_blocks, "no blocks"),
            ("--dither", *dither && !holds_few && !has_blocks, "no palette"),
        ];
        let lost = options.into_iter().filter(|&(_, is_lost, _)| is_lost);
        let extension = format.extension();
        lost.map(|(option, _, what)| {
            format!("{option} had no effect: .{extension} files hold {what}")
        })
        .collect()
    }

    /// Writes the record for `--resume`; on failure a warning, since the voxels exist.
    fn remember(
        &self,
        task: &Task,
        names: &Names,
        origin: Option<Origin>,
        sidecars: &[Sidecar],
        contents: impl FnOnce() -> Contents,
    ) -> Option<String> {
        let origin = origin?;
        let why = match names {
            Names::One(_) => resume::remember(task, origin, sidecars, contents()).err()?,
            Names::Several(_) => anyhow!("it is several files"),
        };
        Some(format!("--resume will make the output again: its record cannot be written: {why:#}"))
    }

    fn draw(&self, preview: &Preview, grid: &VoxelGrid) -> Result<(String, f64)> {
        timed(|| preview.draw(grid, self.progress))
    }

    fn write(&self, write: impl FnOnce() -> Result<Written>) -> Result<(Written, f64)> {
        timed(write)
    }
}

/// Refuses an output and a preview in one file.
fn refuse_one_file(output: Option<&Path>, preview: Option<&Path>) -> Result<()> {
    match output.zip(preview) {
        Some((output, preview)) if same_file(output, preview) => bail!(
            "{}: would be both the voxels and their picture: name another file for --preview",
            output.display()
        ),
        _ => Ok(()),
    }
}

/// Voxelizes again on the other backend, and compares.
fn check(pipeline: &Pipeline, mesh: &PlacedMesh, made: &Voxelized) -> Result<Check> {
    let again = pipeline.compute_again(mesh, &made.backend).context("--compare-backends")?;
    let backends = [made.backend.to_string(), again.backend.to_string()];
    Ok(Check::new(&made.grid, &again.grid, backends))
}

/// The summary before any check or output.
fn summarize(path: &Path, placed: &Placed, made: &Voxelized) -> Summary {
    let Placed { mesh, warnings, timings: Times { load, place, .. }, .. } = placed;
    let Voxelized { grid, lattice, fill_report, transparent, report, backend, timings, .. } = made;
    let fill = fill_report.as_ref().map(FillSummary::new);
    let stages = report.iter().flat_map(|report| &report.stages);
    let warnings = sentences(warnings).chain(sentences(&made.warnings)).collect();
    let &Lattice { voxel_size, unit_bits, .. } = lattice;
    Summary {
        mesh: path.display().to_string(),
        triangles: mesh.len(),
        degenerate: mesh.degenerate(),
        dims: grid.dims(),
        voxel_size,
        origin: grid.world.map_or(lattice.origin, |world| world.origin),
        unit_bits,
        lattice: *lattice,
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
        distances: None,
        warnings,
        notes: Vec::new(),
    }
}

/// The height of Minecraft's world, in blocks.
const WORLD_HEIGHT: u32 = 384;

/// A warning if a schematic is higher than Minecraft's world.
fn too_high([_, height, _]: [u32; 3]) -> Option<String> {
    (height > WORLD_HEIGHT).then(|| {
        format!("the schematic is {height} blocks high, but Minecraft's world has {WORLD_HEIGHT}")
    })
}

fn size_of_schematic([width, height, length]: [u32; 3], up: Up) -> String {
    let up = if up == Up::Y { ", with y up: use --up z if the mesh has z up" } else { "" };
    format!("the schematic is {width} blocks wide, {height} high and {length} long{up}")
}
