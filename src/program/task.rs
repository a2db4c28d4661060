//! One task: reads, voxelizes, checks, writes and draws one mesh.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use trivox::base::timed;
use trivox::engine::{Measured, Placed, Summary};
use trivox::formats::{GridFormat, LoadedMesh, ReadError};
use trivox::view::render::Renderer;
use trivox::{
    ColorSource, DistanceField, Progress, VoxelGrid, VoxelizeError, Voxelized, Voxelizer,
};

use crate::check::Check;
use crate::cli::{LabelBy, Strict, VoxelizeArgs};
use crate::grids::Contents;
use crate::inputs::Task;
use crate::plan::Plan;
use crate::resume::{self, Origin};
use crate::summary::{MeshSummary, Outcome};
use crate::text::{of_file, shown};
use crate::write::output::Output;
use crate::write::pictures::{preview, preview_options};
use crate::write::sink::{Sink, StdoutClosedEarly, Written, refuse_sidecars};
use crate::write::terminal;

/// A comparison of backends, and its duration.
type TimedCheck = (Check, Duration);

/// Bytes of a vertex: its position and colour.
const BYTES_A_VERTEX: usize = 24 + 8;

/// Bytes of a triangle: its corners, material and texture coordinates.
const BYTES_A_TRIANGLE: usize = 12 + 4 + 24;

impl Plan<'_> {
    /// Runs `task` by `voxelizer`, which has the options that all tasks share, and its share of the
    /// memory.
    pub fn run(&self, task: &Task, voxelizer: &Voxelizer) -> Result<Outcome> {
        let began = Instant::now();
        if let Some(error) = &task.error {
            return Err(error.clone().into());
        }
        // Recorded before the mesh is read: if the file changes meanwhile, the record must not
        // match it.
        let modified = resume::modified(&task.mesh);
        let origin = self.resume.as_ref().map(|options| Origin::new(options, &task.mesh));
        if let Some(Ok(origin)) = &origin
            && let Some(skipped) = resume::kept(task, origin)
        {
            return Ok(skipped);
        }
        let (output, preview) = self.targets(task)?;
        let sinks: Vec<&Sink> = output.iter().map(|output| &output.sink).chain(&preview).collect();
        let format = output.as_ref().map(|output| output.format);
        let named = || shown(&task.mesh);
        let voxelizer = voxelizer.clone().color(self.color(format));
        let placed = match self.job.label {
            Some(LabelBy::File) => self.place_joined(task, &voxelizer)?,
            _ => voxelizer.place(&task.mesh).with_context(named)?,
        };
        let mesh = &placed.mesh;
        refuse_sidecars(&sinks, task.meshes(), &voxelizer, &placed)?;
        if let Some(output) = &output {
            let has_distances = self.job.distance.is_some();
            output.check_dims(mesh.window_dims(), has_distances, &self.write_options)?;
        }
        let voxelized = voxelizer.voxelize(&placed).with_context(named)?;
        let inspected = self.inspect(&voxelizer, &placed, &voxelized);
        let (check, measured) = inspected.with_context(named)?;
        let voxelized = voxelizer.paint(mesh, voxelized).with_context(named)?;
        let field = measured.as_ref().map(|measured| &measured.field);
        let mut summary = MeshSummary::new(self, task, mesh, &voxelized, format);
        (summary.check, summary.timings_ms.check) = check.unzip();
        if let Some(measured) = &measured {
            summary.add_distances(measured);
        }
        if self.job.strict == Some(Strict::Warnings) && !summary.warnings.is_empty() {
            summary.refused = true;
            summary.doubts.clone_from(&summary.warnings);
        }
        if !summary.differs() && (!summary.refused || self.job.force) {
            let progress = voxelizer.progress_receiver();
            let targets = (output.as_ref(), preview.as_ref());
            self.write(targets, &voxelized.grid, field, &mut summary, progress)?;
            let Summary { dims, occupied, .. } = summary.result;
            let contents = Contents { dims, occupied, hash: summary.hash };
            let remarks = summary.remarks();
            // A doubtful solid must fail again in the next run.
            if let Some(origin) = origin.filter(|_| !summary.refused)
                && let Err(why) =
                    resume::remember(task, origin, modified, &placed.sidecars, contents, remarks)
            {
                summary.warnings.push(format!(
                    "--resume will make the output again: its record cannot be written: {why:#}"
                ));
            }
        }
        summary.timings_ms.total = began.elapsed();
        Ok(Outcome::Made(Box::new(summary)))
    }

    /// Reads the meshes of `task` and places them as objects of one.
    fn place_joined(&self, task: &Task, voxelizer: &Voxelizer) -> Result<Placed> {
        let named = || shown(&task.mesh);
        let began = Instant::now();
        let load = |path: &Path| {
            let mut loaded = voxelizer.load(path).with_context(|| shown(path))?;
            loaded.warnings = of_file(path, loaded.warnings).collect();
            anyhow::Ok(loaded)
        };
        let meshes = task.meshes().map(load).collect::<Result<Vec<_>>>()?;
        let copied = |LoadedMesh { mesh, .. }: &LoadedMesh| {
            let triangles = mesh.triangles().len() * BYTES_A_TRIANGLE;
            (mesh.positions().len() * BYTES_A_VERTEX + triangles) as u64
        };
        let (needed, limit) = (meshes.iter().map(copied).sum::<u64>(), self.memory.left());
        if needed > limit {
            let error = VoxelizeError::from(ReadError::Memory { needed, limit });
            return Err(error).with_context(named);
        }
        let parts = task.objects().into_iter().zip(meshes).collect();
        let joined = LoadedMesh::join(parts).with_context(named)?;
        let load = began.elapsed();
        let mut placed = voxelizer.place(joined).with_context(named)?;
        placed.timings.load = Some(load);
        Ok(placed)
    }

    /// The destinations of the voxels of `task`, or its distances, and of their picture, checked
    /// before the work begins.
    fn targets(&self, task: &Task) -> Result<(Option<Output>, Option<Sink>)> {
        let VoxelizeArgs { format, preview: picture, .. } = self.job;
        let inputs = &self.inputs.with(task.meshes());
        let output = |path| {
            let output = Output::new(path, *format, inputs)?;
            self.job.check_format(output.format).with_context(|| output.sink.shown())?;
            anyhow::Ok(output)
        };
        let output = task.target.as_deref().map(output).transpose()?;
        let preview = picture.as_deref().map(|path| preview(path, inputs)).transpose()?;
        Ok((output, preview))
    }

    /// The source of colours: none if neither the file nor a picture shows them.
    fn color(&self, format: Option<GridFormat>) -> ColorSource {
        let of_format = format.is_some_and(|format| format.spec().has_colors);
        let are_lost = self.job.distance.is_some() || !(self.job.draws() || of_format);
        match self.job.color {
            ColorSource::Mesh | ColorSource::Uniform(_) if are_lost => ColorSource::Transparency,
            color => color,
        }
    }

    /// Compares the backends, and measures the distances, if the job asks for them.
    fn inspect(
        &self,
        voxelizer: &Voxelizer,
        placed: &Placed,
        voxels: &Voxelized,
    ) -> Result<(Option<TimedCheck>, Option<Measured>)> {
        let check = || timed(|| Check::of_voxels(voxelizer, placed, voxels));
        let mut check = self.job.check.then(check).transpose()?;
        let differs = check.as_ref().is_some_and(|(check, _)| check.differing > 0);
        let is_written = !differs && (self.job.force || !self.job.refuses(voxels));
        let Some(width) = self.job.distance.filter(|_| is_written) else {
            return Ok((check, None));
        };
        let (mesh, inside) = (&placed.mesh, voxels.grid.clone());
        let measured = voxelizer.measure(mesh, inside, width, &voxels.backend)?;
        if let Some((check, time)) = &mut check {
            let (again, more) = timed(|| Check::of_measured(voxelizer, mesh, &measured))?;
            (*check, *time) = (again, *time + more);
        }
        Ok((check, Some(measured)))
    }

    /// Draws the voxels, and writes them or the distances. No file is replaced before all but the
    /// last are complete.
    fn write(
        &self,
        (output, preview): (Option<&Output>, Option<&Sink>),
        grid: &VoxelGrid,
        field: Option<&DistanceField>,
        summary: &mut MeshSummary,
        progress: &dyn Progress,
    ) -> Result<()> {
        let painted = output.filter(|_| self.job.draws());
        let painted = painted.and_then(|to| to.format.painted(grid, &self.write_options));
        let painted = painted.map(|colors| grid.clone().with_colors(colors));
        let pictured = painted.as_ref().unwrap_or(grid);
        if self.job.show && terminal::has_colors() {
            summary.shown = Some(terminal::draw(pictured, progress)?);
        }
        let draw = |sink: &Sink| {
            let picture = Renderer::new(pictured).render(&preview_options(), progress)?;
            sink.write(|out| Ok(picture.write_png(out)?))
        };
        let drawn = preview.map(|sink| timed(|| draw(sink))).transpose()?;
        let write =
            |output: &Output| timed(|| output.write(grid, field, &self.write_options, progress));
        let written = output.map(write).transpose();
        // A reader that closes standard output early does not prevent the preview.
        let has_failed = written.as_ref().is_err_and(|error| !error.is::<StdoutClosedEarly>());
        if !has_failed && let Some((picture, time)) = drawn {
            summary.preview = Some(picture.finish()?.name);
            summary.timings_ms.preview = Some(time);
        }
        if let Some((Written { name, bytes, .. }, time)) = written? {
            (summary.output, summary.bytes) = (Some(name), Some(bytes));
            summary.timings_ms.write = Some(time);
        }
        Ok(())
    }
}
