//! One task: reads, voxelizes, checks, writes and draws one mesh.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use trivox::engine::{BandSummary, Measured, Placed};
use trivox::formats::{GridFormat, Sidecar, WriteOptions};
use trivox::solid::FillReport;
use trivox::surface::palette::count_colors;
use trivox::{ColorSource, DistanceField, PlacedMesh, Progress, Up, Voxelized, Voxelizer};

use crate::batch;
use crate::cli::{ComputeArgs, Job, PaletteArgs, VoxelArgs};
use crate::paths::{path_text, shown};
use crate::plan::Task;
use crate::resume::{self, Origin};
use crate::summary::{Check, Contents, MeshSummary, Outcome, Timings, milliseconds, timed};
use crate::transform::DEFAULT_RES;
use crate::warnings::sentences;
use crate::write::destination::{Outputs, same_file};
use crate::write::output::{Names, Output, Written};
use crate::write::preview::Preview;
use crate::write::sink::{Inputs, StdoutClosedEarly};

/// What the tasks of a run share.
pub struct RunContext<'a> {
    pub job: &'a Job,
    pub voxels: &'a VoxelArgs,
    pub palette_args: &'a PaletteArgs,
    pub compute: &'a ComputeArgs,
    pub write_options: &'a WriteOptions,
    /// What records of earlier runs are compared with; `None` without `--resume`.
    pub resume: Option<&'a resume::Options>,
    /// The files that all tasks read.
    pub inputs: &'a Inputs,
    /// The files that all tasks write.
    pub outputs: &'a Outputs,
    /// With the shared options, and the share of the memory.
    pub voxelizer: Voxelizer,
    /// An estimate of the bytes that suffice for all steps of the mesh.
    pub sufficient: &'a Cell<u64>,
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
        let origin = self.resume.map(|options| Origin::new(options, &task.mesh));
        let kept = origin.as_ref().and_then(|origin| resume::kept(task, origin.as_ref().ok()?));
        if let Some(skipped) = kept {
            return Ok(Outcome::Skipped(skipped));
        }
        let targets = self.targets(task)?;
        let named = || shown(&task.mesh);
        let voxelizer = self.voxelizer(targets.hold_colors() && self.job.distance.is_none());
        let placed = voxelizer.place(&task.mesh).with_context(named)?;
        self.sufficient.set(batch::sufficient(task, self.job, Some(&placed.mesh)));
        let sidecars = Inputs::of_mesh(&task.mesh, &voxelizer, &placed, targets.files());
        targets.check(&placed, &sidecars.with_context(named)?, self.outputs)?;
        let computed = self.compute(&voxelizer, &placed.mesh).with_context(named)?;
        let outputs = match computed.judgement.is_kept(self.job.force) {
            true => self.write(&targets, &computed)?,
            false => Finished::default(),
        };
        let mut summary = self.summarize(&task.mesh, &placed, &computed, targets.format());
        if let Some((written, _)) = &outputs.written {
            // A doubtful solid must fail again in the next run.
            let origin = origin.filter(|_| !computed.judgement.refused);
            let contents = || computed.contents();
            let warning = self.remember(task, &written.names, origin, &placed.sidecars, contents);
            summary.warnings.extend(warning);
        }
        computed.judgement.add_to(&mut summary);
        outputs.add_to(&mut summary);
        summary.timings_ms.total = milliseconds(began.elapsed());
        Ok(Outcome::Made(Box::new(summary)))
    }

    /// Voxelizes the mesh, measures distances, compares the backends and colours the voxels, as
    /// the job wants.
    fn compute(&self, voxelizer: &Voxelizer, mesh: &PlacedMesh) -> Result<Computed> {
        let made = voxelizer.voxelize(mesh)?;
        let is_doubtful = made.fill_report.as_ref().is_some_and(FillReport::is_doubtful);
        let refused = self.job.strict && is_doubtful;
        let check = || check(voxelizer, mesh, &made);
        let check = self.job.check.then(|| timed(check)).transpose()?;
        let mut judgement = Judgement { check, refused };
        let width = self.job.distance.filter(|_| judgement.is_kept(self.job.force));
        let measure = |width| voxelizer.measure(mesh, made.grid.clone(), width, &made.backend);
        let measured = width.map(measure).transpose()?;
        if let (Some((check, time)), Some(measured)) = (&mut judgement.check, &measured) {
            let (again, ms) = timed(|| check_distances(voxelizer, mesh, measured))?;
            (*check, *time) = (again, *time + ms);
        }
        Ok(Computed { made: voxelizer.paint(mesh, made)?, measured, judgement })
    }

    /// Where the results of `task` go, checked before the work begins.
    fn targets(&self, task: &Task) -> Result<Targets> {
        let inputs = &self.inputs.with(&task.mesh);
        let output = task.target.as_ref();
        let output = output.map(|path| Output::new(path, self.job.format, inputs)).transpose()?;
        if let (Some(output), Some(_)) = (&output, self.job.distance) {
            output.check_distances()?;
        }
        let preview = self.job.preview.as_ref();
        let preview = preview.map(|path| Preview::new(path, inputs)).transpose()?;
        refuse_one_file(task.target.as_deref(), self.job.preview.as_deref())?;
        Ok(Targets { output, preview, has_distances: self.job.distance.is_some() })
    }

    /// Draws the voxels, and writes them or the distances. No file is replaced before all but the
    /// last are complete.
    fn write(&self, targets: &Targets, computed: &Computed) -> Result<Finished> {
        let grid = &computed.made.grid;
        let drawn = match &targets.preview {
            Some(preview) => Some((preview, timed(|| preview.draw(grid, self.progress))?)),
            None => None,
        };
        let write = |output: &Output| match computed.field() {
            Some(field) => output.write_distances(field, self.progress),
            None => output.write(grid, self.write_options, self.progress),
        };
        let written = targets.output.as_ref().map(|output| timed(|| write(output))).transpose();
        // A reader that closes standard output early does not prevent the preview.
        let (written, cut) = match written {
            Err(error) if error.is::<StdoutClosedEarly>() => (None, Some(error)),
            written => (written?, None),
        };
        let drawn = match drawn {
            Some((preview, (picture, time))) => {
                picture.finish()?;
                Some((preview.name().to_owned(), time))
            }
            None => None,
        };
        match cut {
            Some(error) => Err(error),
            None => Ok(Finished { written, drawn }),
        }
    }

    /// The voxelizer for an output with or without colours.
    fn voxelizer(&self, has_colors: bool) -> Voxelizer {
        let color = match self.job.color {
            ColorSource::Mesh | ColorSource::Uniform(_) if !has_colors => ColorSource::Transparency,
            color => color,
        };
        self.voxels.of(self.voxelizer.clone(), color)
    }

    /// The summary before any output; `format` is that of the file to be written.
    fn summarize(
        &self,
        path: &Path,
        placed: &Placed,
        computed: &Computed,
        format: Option<GridFormat>,
    ) -> MeshSummary {
        let Computed { made, measured, .. } = computed;
        let mut summary = summary_of(path, placed, made);
        let blocks = format.and_then(|format| format.blocks(&made.grid));
        let is_one_color = matches!(self.job.color, ColorSource::Uniform(_));
        let colorless = self.colorless(format).filter(|_| is_one_color);
        let unused = colorless.map(|what| format!("--color had no effect: {what} hold no colours"));
        summary.warnings.extend(unused);
        let unused = self.compute.unused_kernel(&made.backend).filter(|_| !self.job.check);
        summary.warnings.extend(unused);
        summary.warnings.extend(self.palette_args.without_effect(format, &made.grid));
        summary.warnings.extend(blocks.and_then(too_high));
        summary.notes.extend(blocks.map(|blocks| size_of_schematic(blocks, self.job.up)));
        summary.notes.extend(self.notes(placed, format));
        summary.notes.extend(format.map(|format| format.lost(&made.grid)).unwrap_or_default());
        if let Some(measured) = measured {
            add_distances(&mut summary, measured);
        }
        summary
    }

    /// Notes on defaults, and the options that change them.
    fn notes(&self, placed: &Placed, format: Option<GridFormat>) -> Vec<String> {
        let Job { res, voxel_size, cube, dims, lattice, color, .. } = self.job;
        let is_sized = res.is_some() || voxel_size.is_some() || cube.is_some() || dims.is_some();
        let is_default = !is_sized && lattice.is_none();
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

    /// What is written, if neither it nor a picture holds colours.
    fn colorless(&self, format: Option<GridFormat>) -> Option<String> {
        match (self.job.distance, format) {
            (Some(_), _) => Some("distances".to_owned()),
            (None, Some(format)) if self.job.preview.is_none() && !format.spec().has_colors => {
                Some(format!(".{} files", format.extension()))
            }
            _ => None,
        }
    }

    /// Writes the record for `--resume`; on failure a warning, since the voxels exist.
    fn remember(
        &self,
        task: &Task,
        names: &Names,
        origin: Option<io::Result<Origin>>,
        sidecars: &[Sidecar],
        contents: impl FnOnce() -> Contents,
    ) -> Option<String> {
        let why = match (origin?, names) {
            (Err(error), _) => error.into(),
            (Ok(origin), Names::One(_)) => {
                resume::remember(task, origin, sidecars, contents()).err()?
            }
            (Ok(_), Names::Several(_)) => anyhow!("it is several files"),
        };
        Some(format!("--resume will make the output again: its record cannot be written: {why:#}"))
    }
}

/// The destinations of a task.
struct Targets {
    output: Option<Output>,
    preview: Option<Preview>,
    /// Whether the output is distances, not voxels.
    has_distances: bool,
}

impl Targets {
    fn format(&self) -> Option<GridFormat> {
        self.output.as_ref().map(Output::format)
    }

    fn hold_colors(&self) -> bool {
        self.preview.is_some() || self.format().is_some_and(|format| format.spec().has_colors)
    }

    /// The files that are replaced, which may not exist yet.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let output = self.output.as_ref().and_then(Output::file);
        output.into_iter().chain(self.preview.as_ref().and_then(Preview::file))
    }

    /// Checks what is known of the mesh: its sidecar files, and the dimensions of its grid.
    fn check(&self, placed: &Placed, sidecars: &Inputs, outputs: &Outputs) -> Result<()> {
        if let Some(output) = &self.output {
            output.refuse(sidecars)?;
            let dims = placed.mesh.window_dims();
            match self.has_distances {
                true => output.check_distances_dims(dims)?,
                false => output.check_dims(dims)?,
            }
            output.refuse_parts(dims, outputs)?;
        }
        self.preview.as_ref().map_or(Ok(()), |preview| preview.refuse(sidecars))
    }
}

/// What a task computed.
struct Computed {
    /// The voxels, in colour if the outputs hold colours.
    made: Voxelized,
    measured: Option<Measured>,
    judgement: Judgement,
}

impl Computed {
    fn field(&self) -> Option<&DistanceField> {
        self.measured.as_ref().map(|measured| &measured.field)
    }

    fn contents(&self) -> Contents {
        match self.field() {
            Some(field) => Contents::of_distances(field),
            None => Contents::of(&self.made.grid),
        }
    }
}

/// Reasons not to write the voxels.
struct Judgement {
    /// The comparison of the backends, and its time in milliseconds.
    check: Option<(Check, f64)>,
    /// Whether `--strict` refuses the solid.
    refused: bool,
}

impl Judgement {
    fn is_kept(&self, is_forced: bool) -> bool {
        let differs = self.check.as_ref().is_some_and(|(check, _)| check.differing > 0);
        !differs && (!self.refused || is_forced)
    }

    fn add_to(self, summary: &mut MeshSummary) {
        summary.refused = self.refused;
        (summary.check, summary.timings_ms.check) = self.check.unzip();
    }
}

/// What a task wrote and drew, and the time of each, in milliseconds.
#[derive(Default)]
struct Finished {
    written: Option<(Written, f64)>,
    drawn: Option<(String, f64)>,
}

impl Finished {
    fn add_to(self, summary: &mut MeshSummary) {
        if let Some((Written { names, bytes, warnings }, time)) = self.written {
            summary.timings_ms.write = Some(time);
            summary.bytes = Some(bytes);
            summary.warnings.extend(warnings);
            summary.output = Some(names);
        }
        (summary.preview, summary.timings_ms.preview) = self.drawn.unzip();
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

/// Refuses an output and a preview in one file.
fn refuse_one_file(output: Option<&Path>, preview: Option<&Path>) -> Result<()> {
    match output.zip(preview) {
        Some((output, preview)) if same_file(output, preview) => bail!(
            "{}: would be both the voxels and their picture: name another file for --preview",
            shown(output)
        ),
        _ => Ok(()),
    }
}

/// Voxelizes again on the other backend, and compares.
fn check(voxelizer: &Voxelizer, mesh: &PlacedMesh, made: &Voxelized) -> Result<Check> {
    let again = voxelizer.voxelize_on_other_backend(mesh, &made.backend);
    let again = again.context("--compare-backends")?;
    let backends = [made.backend.to_string(), again.backend.to_string()];
    Ok(Check::new(&made.grid, &again.grid, backends))
}

/// Measures again on the other backend, and compares.
fn check_distances(voxelizer: &Voxelizer, mesh: &PlacedMesh, measured: &Measured) -> Result<Check> {
    let Measured { field, backend, .. } = measured;
    let (inside, width) = (field.inside().clone(), field.width());
    let again = voxelizer.measure_on_other_backend(mesh, inside, width, backend);
    let again = again.context("--compare-backends")?;
    let backends = [measured.backend.to_string(), again.backend.to_string()];
    Ok(Check::of_distances(&measured.field, &again.field, backends))
}

/// The summary of the voxels, before any check or output.
fn summary_of(path: &Path, placed: &Placed, made: &Voxelized) -> MeshSummary {
    let Placed { mesh, warnings, timings, .. } = placed;
    let Voxelized { grid, report, .. } = made;
    let stages = report.iter().flat_map(|report| &report.stages);
    let warnings = sentences(warnings).chain(sentences(&made.warnings)).collect();
    MeshSummary {
        mesh: path_text(path),
        result: made.summary(),
        degenerate: mesh.degenerate(),
        hash: grid.hash(),
        colors: grid.colors.as_ref().map(|_| count_colors(grid)),
        check: None,
        refused: false,
        output: None,
        preview: None,
        bytes: None,
        timings_ms: Timings { steps: made.timings.after(timings), ..Timings::default() },
        gpu_ms: stages.filter_map(|stage| Some((stage.name, stage.ms?))).collect(),
        gpu: report.clone(),
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
