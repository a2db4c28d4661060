//! One task: reads, voxelizes, checks, writes and draws one mesh.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use trivox::engine::{BandSummary, Measured, Placed};
use trivox::formats::{BlockList, Blocks, GridFormat, WriteOptions};
use trivox::solid::FillReport;
use trivox::surface::palette::count_colors;
use trivox::{
    ColorSource, DistanceField, PlacedMesh, Progress, Up, VoxelGrid, Voxelized, Voxelizer,
};

use crate::check::Check;
use crate::cli::Job;
use crate::console::CodedError;
use crate::grids::Contents;
use crate::memory::{Memory, sufficient};
use crate::options::DEFAULT_RES;
use crate::plan::{Plan, Task};
use crate::progress::Deadline;
use crate::resume::{self, Origin};
use crate::summary::{MeshSummary, Outcome, Timings, milliseconds, timed};
use crate::text::{counted_as, grouped, path_text, sentences, shown};
use crate::tips::nearest;
use crate::write::destination::same_file;
use crate::write::output::Output;
use crate::write::pictures::{draw, preview};
use crate::write::sink::{Inputs, Sink, StdoutClosedEarly, Written};

/// A comparison of the backends, and its time in milliseconds.
type TimedCheck = (Check, f64);

/// The state shared by the tasks of a run.
pub struct Run<'a> {
    pub job: &'a Job,
    pub plan: &'a Plan,
    pub write_options: WriteOptions,
    /// The options to compare with those of earlier runs; `None` without `--resume`.
    pub resume: Option<String>,
    /// The files that all tasks read.
    pub inputs: Inputs,
    pub memory: Memory,
    /// Receives the steps of a task.
    pub progress: Arc<dyn Progress>,
}

impl Run<'_> {
    /// Runs `task` by `voxelizer`, with the shared options and a share of the memory.
    pub fn task(&self, task: &Task, voxelizer: &Voxelizer) -> Result<Outcome> {
        let deadline = Arc::new(Deadline::new(self.progress.clone(), self.job.time_limit));
        let voxelizer = voxelizer.clone().progress(deadline.clone());
        catch_panic(|| self.outcome(task, voxelizer, &*deadline))
            .map_err(|error| deadline.explain(error, &task.mesh))
    }

    fn outcome(
        &self,
        task: &Task,
        voxelizer: Voxelizer,
        progress: &dyn Progress,
    ) -> Result<Outcome> {
        let began = Instant::now();
        // Recorded before the mesh is read: if the file changes meanwhile, the record must not
        // match it.
        let origin = self.resume.as_ref().map(|options| Origin::new(options, &task.mesh));
        let kept = origin.as_ref().and_then(|origin| resume::kept(task, origin.as_ref().ok()?));
        if let Some(skipped) = kept {
            return Ok(Outcome::Skipped(skipped));
        }
        let targets = self.targets(task)?;
        let named = || shown(&task.mesh);
        let explain = |error, mesh| self.memory.explain(error, sufficient(task, self.job, mesh));
        let voxelizer = voxelizer.color(self.color(&targets));
        let placed = voxelizer.place(&task.mesh).with_context(named);
        let placed = placed.map_err(|error| explain(error, None))?;
        let explain = |error| explain(error, Some(&placed.mesh));
        let sidecars = Inputs::of_mesh(&task.mesh, &voxelizer, &placed, targets.files());
        let sidecars = sidecars.with_context(named).map_err(explain)?;
        self.check_targets(&targets, placed.mesh.window_dims(), &sidecars)?;
        let inspect = |voxels: &Voxelized| self.inspect(&voxelizer, &placed.mesh, voxels);
        let finished = voxelizer.finish(&placed, inspect).with_context(named);
        let (voxelized, (check, measured)) = finished.map_err(explain)?;
        let field = measured.as_ref().map(|measured| &measured.field);
        let mut summary = self.summarize(task, &placed, &voxelized, targets.format());
        (summary.check, summary.timings_ms.check) = check.unzip();
        if let Some(measured) = &measured {
            add_distances(&mut summary, measured);
        }
        if !summary.differs() && (!summary.refused || self.job.force) {
            let written = self.write(&targets, &voxelized.grid, field, &mut summary, progress)?;
            if let Some(Written { names, bytes, warnings, .. }) = written {
                let contents = || Contents::of(&voxelized.grid, field);
                // A doubtful solid must fail again in the next run.
                if let Some(origin) = origin.filter(|_| !summary.refused)
                    && let Err(why) =
                        resume::remember(task, &names, origin, &placed.sidecars, contents)
                {
                    summary.warnings.push(format!(
                        "--resume will make the output again: its record cannot be written: {why:#}"
                    ));
                }
                summary.warnings.extend(warnings);
                summary.bytes = Some(bytes);
                summary.output = Some(names);
            }
        }
        summary.timings_ms.total = milliseconds(began.elapsed());
        Ok(Outcome::Made(Box::new(summary)))
    }

    /// Compares the backends, with the time in milliseconds, and measures distances, as the job
    /// wants.
    fn inspect(
        &self,
        voxelizer: &Voxelizer,
        mesh: &PlacedMesh,
        voxels: &Voxelized,
    ) -> Result<(Option<TimedCheck>, Option<Measured>)> {
        let check = || Check::of_voxels(voxelizer, mesh, voxels);
        let mut check = self.job.check.then(|| timed(check)).transpose()?;
        let differs = check.as_ref().is_some_and(|(check, _)| check.differing > 0);
        let is_written = !differs && (self.job.force || !self.refuses(voxels));
        let Some(width) = self.job.distance.filter(|_| is_written) else {
            return Ok((check, None));
        };
        let measured = voxelizer.measure(mesh, voxels.grid.clone(), width, &voxels.backend)?;
        if let Some((check, time)) = &mut check {
            let (again, ms) = timed(|| Check::of_measured(voxelizer, mesh, &measured))?;
            (*check, *time) = (again, *time + ms);
        }
        Ok((check, Some(measured)))
    }

    /// Whether `--strict` refuses the solid.
    fn refuses(&self, voxels: &Voxelized) -> bool {
        self.job.strict && voxels.fill_report.as_ref().is_some_and(FillReport::is_doubtful)
    }

    /// The destinations of `task`, checked before the work begins.
    fn targets(&self, task: &Task) -> Result<Targets> {
        let Job { format, distance, attributes, preview: picture, .. } = self.job;
        let inputs = &self.inputs.with(&task.mesh);
        let output = |path| {
            let output = Output::new(path, *format, inputs)?;
            let named = || output.sink.name.clone();
            if distance.is_some() {
                output.format.check_distances().with_context(named)?;
            }
            if !attributes.is_empty() {
                output.format.check_attributes().with_context(named)?;
            }
            anyhow::Ok(output)
        };
        let output = task.target.as_deref().map(output).transpose()?;
        let preview = picture.as_deref().map(|path| preview(path, inputs)).transpose()?;
        match task.target.as_deref().zip(picture.as_deref()) {
            Some((output, preview)) if same_file(output, preview) => bail!(
                "{}: would be both the voxels and their picture: name another file for --preview",
                shown(output)
            ),
            _ => Ok(Targets { output, preview }),
        }
    }

    /// Checks what is known of the mesh: its sidecar files, and the dimensions of its grid, of
    /// voxels or of distances.
    fn check_targets(&self, targets: &Targets, dims: [u32; 3], sidecars: &Inputs) -> Result<()> {
        if let Some(output) = &targets.output {
            output.sink.refuse(sidecars)?;
            output.check_dims(dims, self.job.distance.is_some())?;
            output.refuse_parts(dims, &self.plan.outputs)?;
        }
        targets.preview.as_ref().map_or(Ok(()), |preview| preview.refuse(sidecars))
    }

    /// Draws the voxels, and writes them or the distances. No file is replaced before all but the
    /// last are complete.
    fn write(
        &self,
        targets: &Targets,
        grid: &VoxelGrid,
        field: Option<&DistanceField>,
        summary: &mut MeshSummary,
        progress: &dyn Progress,
    ) -> Result<Option<Written>> {
        let format = targets.format();
        let painted = || format.and_then(|format| format.painted(grid, &self.write_options));
        let draw = |sink| timed(|| draw(grid, painted(), sink, progress));
        let drawn = targets.preview.as_ref().map(draw).transpose()?;
        let write =
            |output: &Output| timed(|| output.write(grid, field, &self.write_options, progress));
        let written = targets.output.as_ref().map(write).transpose();
        // A reader that closes standard output early does not prevent the preview.
        let has_failed = written.as_ref().is_err_and(|error| !error.is::<StdoutClosedEarly>());
        if !has_failed && let Some((picture, time)) = drawn {
            summary.preview = Some(picture.finish()?.names);
            summary.timings_ms.preview = Some(time);
        }
        let (written, time) = written?.unzip();
        summary.timings_ms.write = time;
        Ok(written)
    }

    /// The source of colours, for outputs that hold them or do not.
    fn color(&self, targets: &Targets) -> ColorSource {
        let of_format = targets.format().is_some_and(|format| format.spec().has_colors);
        let hold_colors = targets.preview.is_some() || of_format;
        match self.job.color {
            ColorSource::Mesh | ColorSource::Uniform(_)
                if !hold_colors || self.job.distance.is_some() =>
            {
                ColorSource::Transparency
            }
            color => color,
        }
    }

    /// The summary of the voxels, before any output; `format` is that of the file to be written.
    fn summarize(
        &self,
        task: &Task,
        placed: &Placed,
        voxelized: &Voxelized,
        format: Option<GridFormat>,
    ) -> MeshSummary {
        let Voxelized { grid, report, warnings, timings, .. } = voxelized;
        let stages = report.iter().flat_map(|report| &report.stages);
        let mut summary = MeshSummary {
            mesh: path_text(&task.mesh),
            result: voxelized.summary(),
            degenerate: placed.mesh.degenerate(),
            hash: grid.hash(),
            colors: grid.colors.as_ref().map(|_| count_colors(grid)),
            blocks: Vec::new(),
            check: None,
            refused: self.refuses(voxelized),
            output: None,
            preview: None,
            bytes: None,
            timings_ms: Timings { steps: *timings, ..Timings::default() },
            gpu_ms: stages.filter_map(|stage| Some((stage.name, stage.ms?))).collect(),
            gpu: report.clone(),
            warnings: sentences(warnings).collect(),
            notes: Vec::new(),
        };
        let blocks = format.and_then(|format| format.blocks(grid));
        let is_one_color = matches!(self.job.color, ColorSource::Uniform(_));
        let colorless = self.colorless(format).filter(|_| is_one_color);
        let unused = colorless.map(|what| format!("--color had no effect: {what} hold no colours"));
        summary.warnings.extend(unused);
        let unused = self.job.compute.unused_kernel(&voxelized.backend).filter(|_| !self.job.check);
        summary.warnings.extend(unused);
        summary.warnings.extend(self.job.palette.without_effect(format, grid));
        summary.warnings.extend(blocks.and_then(too_high));
        let list = format.and_then(|format| format.block_list(grid, &self.write_options));
        if let Some((size, list)) = blocks.zip(list) {
            summary.notes.push(size_of_schematic(size, &list, self.job.up));
            summary.notes.extend(unknown_blocks(&list.unknown));
            summary.blocks = list.counts;
        }
        let is_plain = grid.colors.is_none() && self.job.color != ColorSource::None;
        let plain = format.filter(|_| is_plain);
        summary.notes.extend(plain.and_then(|format| colorless_as(format, &summary.blocks)));
        summary.notes.extend(self.notes(placed, format));
        summary.notes.extend(without_attributes(grid));
        let lost = format.map(|format| format.lost_with(grid, &self.write_options));
        summary.notes.extend(lost.unwrap_or_default());
        summary
    }

    /// Notes on defaults, and the options that change them.
    fn notes(&self, placed: &Placed, format: Option<GridFormat>) -> Vec<String> {
        let Job { res, voxel_size, cube, dims, lattice, color, .. } = self.job;
        let is_sized = res.is_some() || voxel_size.is_some() || cube.is_some() || dims.is_some();
        let is_default = !is_sized && self.job.along().is_none() && lattice.is_none();
        let resolution = is_default.then(|| {
            format!("no resolution given: {DEFAULT_RES} voxels along the longest axis (--res)")
        });
        let has_colors = placed.mesh.appearance().is_some() && *color == ColorSource::Mesh;
        let lost = self.colorless(format).filter(|_| has_colors);
        let lost = lost
            .map(|what| format!("the mesh has colours, but {what} hold none: they are left out"));
        let is_unwritten = format.is_none() && self.job.preview.is_none() && !self.job.check;
        let unwritten = is_unwritten.then(|| "no file is written: name one with -o".to_owned());
        resolution.into_iter().chain(lost).chain(unwritten).collect()
    }

    /// The name of the output, if neither it nor a picture holds colours.
    fn colorless(&self, format: Option<GridFormat>) -> Option<String> {
        match (self.job.distance, format) {
            (Some(_), _) => Some("distances".to_owned()),
            (None, Some(format)) if self.job.preview.is_none() && !format.spec().has_colors => {
                Some(format!(".{} files", format.extension()))
            }
            _ => None,
        }
    }
}

/// The destinations of a task.
struct Targets {
    output: Option<Output>,
    preview: Option<Sink>,
}

impl Targets {
    fn format(&self) -> Option<GridFormat> {
        self.output.as_ref().map(|output| output.format)
    }

    /// The files that are replaced, which may not exist yet.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let output = self.output.as_ref().and_then(|output| output.sink.file());
        output.into_iter().chain(self.preview.as_ref().and_then(Sink::file))
    }
}

fn add_distances(summary: &mut MeshSummary, measured: &Measured) {
    let Measured { field, backend, warnings, time, .. } = measured;
    summary.result.distances = Some(BandSummary::of(field));
    summary.timings_ms.steps.distance = Some(*time);
    summary.hash = field.hash();
    summary.warnings.extend(sentences(warnings));
    if backend.name() != summary.result.backend {
        summary.notes.push(format!("the distances were computed by {backend}"));
    }
}

/// The result of `work`; a panic, which is a bug, is an error of this task, and the others go on.
pub fn catch_panic<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message = format!("{}: this is a bug in voxelize", text.unwrap_or("a panic"));
        Err(CodedError { code: "bug", message }.into())
    })
}

/// A note on what voxels without colours are in a file of this format, of these `blocks`.
fn colorless_as(format: GridFormat, blocks: &[(String, u64)]) -> Option<String> {
    let what = match blocks.first() {
        Some((name, _)) => {
            format!("blocks are {} (--color, --blocks)", name.trim_start_matches("minecraft:"))
        }
        None if format.has_palette() => "voxels are light grey (--color)".to_owned(),
        None => return None,
    };
    Some(format!("the mesh has no colours: all {what}"))
}

/// A note on voxels without attributes: those of a solid that are away from its surface.
fn without_attributes(grid: &VoxelGrid) -> Option<String> {
    let attributes = grid.attributes.as_ref()?;
    let without = grid.occupied() - attributes.values().own_count();
    let voxels = counted_as(without, "voxel inside has", "voxels inside have");
    (without > 0).then(|| format!("{voxels} no attributes, which only voxels at the surface have"))
}

/// The height of Minecraft's world, in blocks.
const WORLD_HEIGHT: u32 = 384;

/// A warning if a schematic is higher than Minecraft's world.
fn too_high([_, height, _]: [u32; 3]) -> Option<String> {
    (height > WORLD_HEIGHT).then(|| {
        let height = grouped(height.into());
        format!("the schematic is {height} blocks high, but Minecraft's world has {WORLD_HEIGHT}")
    })
}

fn size_of_schematic(size: [u32; 3], list: &BlockList, up: Up) -> String {
    let up = if up == Up::Y { ", with y up: use --up z if the mesh has z up" } else { "" };
    let game = match list.unknown.is_empty() {
        true => format!(", for Minecraft {} or later", list.game_version),
        false => String::new(),
    };
    let [width, height, length] = size.map(|blocks| grouped(blocks.into()));
    format!("the schematic is {width} blocks wide, {height} high and {length} long{game}{up}")
}

/// A note on blocks of which it is not known whether the game has them.
fn unknown_blocks(names: &[String]) -> Option<String> {
    /// The most that are named.
    const MOST: usize = 8;
    let mut named: Vec<String> = names.iter().take(MOST).map(|name| like_known(name)).collect();
    match names.len().saturating_sub(MOST) {
        0 => {}
        more => named.push(format!("{} more", grouped(more as u64))),
    }
    let which = "which version of Minecraft has these blocks is not known";
    (!named.is_empty()).then(|| format!("{which}: {}", named.join(", ")))
}

/// The name of a block, and the known one that it may be a mistyping of.
fn like_known(name: &str) -> String {
    let plain = name.trim_start_matches("minecraft:");
    match nearest(plain, Blocks::known()) {
        Some(known) => format!("'{plain}' (similar: '{known}')"),
        None => format!("'{plain}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let run = |task: u32| {
            catch_panic(|| match task {
                1 => panic!("task {task}"),
                2 => bail!("refused"),
                _ => Ok(task),
            })
            .map_err(|error| error.to_string())
        };
        let failed = |text: &str| Err(text.to_owned());
        let panicked = failed("task 1: this is a bug in voxelize");
        assert_eq!([0, 1, 2].map(run), [Ok(0), panicked, failed("refused")]);
    }
}
