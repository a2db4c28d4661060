//! `voxelize render`: draws a grid, or the voxels of a mesh.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::backend::BackendChoice;
use trivox::formats::{LoadedGrid, check_known_extension, is_mesh};
use trivox::view::render::{RenderOptions, Renderer};
use trivox::{PlaceOptions, VoxelGrid, Voxelizer};

use crate::ExitStatus;
use crate::camera::CameraReport;
use crate::cli::{RenderArgs, VoxelArgs};
use crate::compute::start_threads;
use crate::grid_summary::GridSummary;
use crate::memory::Memory;
use crate::numbers::{counted, duration};
use crate::paths::shown;
use crate::render_backend::RenderBackend;
use crate::summary::timed;
use crate::terminal::TerminalProgress;
use crate::transform::sizing;
use crate::warnings::sentences;
use crate::write::complete::{Names, Written};
use crate::write::frames::{Frames, Kind};
use crate::write::picture::check_extension;
use crate::write::sink::{Inputs, Sink, refuse_shared_stdout};

/// Reads the grid, draws it and writes the pictures.
///
/// # Errors
/// Bad usage; a file that cannot be read; a mesh that cannot be voxelized; an output that cannot be
/// written.
pub fn run(args: &RenderArgs) -> Result<ExitStatus> {
    let target = &*args.target();
    let to_stdout = target.as_os_str() == "-";
    refuse_shared_stdout(args.report.json, target)?;
    start_threads(args.threads)?;
    let is_animation = args.turntable.is_some() && Kind::of(target) != Kind::Png;
    if !to_stdout && !is_animation {
        check_extension(target).with_context(|| shown(target))?;
    }
    let options = options(args);
    options.check()?;
    let output = Pictures::new(args)?;
    let named = || shown(&args.file);
    refuse_contradictions(args).with_context(named)?;
    let render_backend = RenderBackend::new(args)?;

    let progress = Arc::new(TerminalProgress::new(args.report.quiet));
    let ((mut grid, mut warnings, sidecars), load) =
        timed(|| load(args, &output.files(), &progress))?;
    progress.finish();
    output.refuse(&sidecars)?;
    warnings.extend(render_backend.warning());
    if let Some(up) = args.up {
        grid.world.up = up;
    }
    let (written, draw) =
        timed(|| output.write(&render_backend.renderer(&grid)?, &options, &progress))?;
    progress.finish();

    let input = GridSummary::new(&args.file, &grid);
    let [width, height] = args.size;
    let timings_ms = Timings { load, render: draw };
    let Written { names: output, bytes, warnings: of_files } = written;
    warnings.extend(of_files);
    let (camera, frames) = (CameraReport::new(&grid, &options)?, args.turntable);
    let (backend, adapter) = render_backend.names();
    let report = Report {
        input,
        output,
        width,
        height,
        camera,
        frames,
        backend,
        adapter,
        bytes,
        timings_ms,
        warnings,
    };
    args.report.print(&report, &report.warnings, || report.text())?;
    Ok(ExitStatus::Done)
}

/// The destination of the pictures.
enum Pictures {
    Picture(Sink),
    Frames(Frames),
}

impl Pictures {
    fn new(args: &RenderArgs) -> Result<Self> {
        let inputs = Inputs::new([&*args.file]);
        Ok(match args.turntable {
            Some(number) => Self::Frames(Frames::new(&args.target(), &inputs, number, args.fps)?),
            None => Self::Picture(Sink::new(&args.target(), &inputs)?),
        })
    }

    /// The files that are replaced, which may not exist yet.
    fn files(&self) -> Vec<&Path> {
        match self {
            Self::Picture(sink) => sink.file().into_iter().collect(),
            Self::Frames(frames) => frames.files(),
        }
    }

    /// Checks that no picture is one of `inputs`, which were not known before.
    fn refuse(&self, inputs: &Inputs) -> Result<()> {
        match self {
            Self::Picture(sink) => sink.refuse(inputs),
            Self::Frames(frames) => frames.refuse(inputs),
        }
    }

    fn write(
        &self,
        renderer: &Renderer,
        options: &RenderOptions,
        progress: &TerminalProgress,
    ) -> Result<Written> {
        match self {
            Self::Frames(frames) => {
                progress.count("pictures", frames.number());
                frames.write(renderer, options, progress)
            }
            Self::Picture(sink) => {
                let picture = renderer.render_with(options, progress)?;
                sink.write(|out| Ok(picture.write_png(out)?))?.finish()
            }
        }
    }
}

/// Refuses options that have no effect on this input.
fn refuse_contradictions(args: &RenderArgs) -> Result<()> {
    if is_mesh(&args.file) {
        return args.voxels.refuse_contradictions();
    }
    let VoxelArgs {
        mode,
        fill,
        include_surface,
        keep_transparent,
        interior_color,
        filter,
        confine,
    } = args.voxels;
    let of_meshes = [
        ("--res", args.res.is_some()),
        ("--voxel-size", args.voxel_size.is_some()),
        ("--mode", mode.is_some()),
        ("--fill", fill.is_some()),
        ("--include-surface", include_surface),
        ("--interior-color", interior_color.is_some()),
        ("--keep-transparent", keep_transparent),
        ("--filter", filter.is_some()),
        ("--confine", confine),
        ("--color", args.color.is_some()),
        ("--memory", args.memory.is_some()),
    ];
    match of_meshes.into_iter().find(|&(_, is_given)| is_given) {
        Some((option, _)) => bail!("is no mesh, so {option} has no effect: leave it out"),
        None => Ok(()),
    }
}

/// The grid or the voxels of the mesh, with warnings, and the sidecar files of the mesh.
type Loaded = (VoxelGrid, Vec<String>, Inputs);

fn load(args: &RenderArgs, replaced: &[&Path], progress: &Arc<TerminalProgress>) -> Result<Loaded> {
    if is_mesh(&args.file) {
        let memory = Memory::new(args.memory);
        let loaded = voxels_of(args, replaced, memory, progress);
        let loaded = loaded.map_err(|error| memory.explain(error, 0));
        return loaded.with_context(|| shown(&args.file));
    }
    fs::metadata(&args.file).with_context(|| shown(&args.file))?;
    check_known_extension(&args.file).with_context(|| shown(&args.file))?;
    let LoadedGrid { grid, mut warnings, .. } = progress.load(&args.file, args.memory)?;
    if grid.brick_count() == 0 {
        warnings.push("no voxel is occupied: the picture is empty".to_owned());
    }
    Ok((grid, warnings, Inputs::default()))
}

/// Voxelizes the mesh as the main command does.
fn voxels_of(
    args: &RenderArgs,
    replaced: &[&Path],
    memory: Memory,
    progress: &Arc<TerminalProgress>,
) -> Result<Loaded> {
    let color = args.color.unwrap_or_default();
    let voxelizer = memory
        .of(Voxelizer::new())
        .backend(BackendChoice::Cpu)
        .progress(progress.clone())
        .place_options(PlaceOptions::new(sizing(args.res, args.voxel_size)));
    let voxelizer = args.voxels.of(voxelizer, color);
    let placed = voxelizer.place(&args.file)?;
    let sidecars = Inputs::of_mesh(&args.file, &voxelizer, &placed, replaced.iter().copied())?;
    let (voxelized, ()) = voxelizer.finish(&placed, |_| anyhow::Ok(()))?;
    let warnings = sentences(&voxelized.warnings).collect();
    Ok((voxelized.grid, warnings, sidecars))
}

fn options(args: &RenderArgs) -> RenderOptions {
    let mut options = RenderOptions::new(args.size)
        .with_view(args.view)
        .with_background(args.background)
        .with_zoom(args.zoom)
        .with_edges(!args.no_edges)
        .with_samples(args.samples);
    (options.azimuth, options.elevation, options.sun) = (args.azimuth, args.elevation, args.light);
    options.projection = args.camera;
    options
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    input: GridSummary,
    /// A list, if each picture of a turntable is a file.
    output: Names,
    width: u32,
    height: u32,
    /// The camera of the first picture.
    camera: CameraReport,
    /// The number of pictures of a turntable.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u32>,
    backend: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter: Option<String>,
    /// Total size in bytes.
    bytes: u64,
    timings_ms: Timings,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Timings {
    load: f64,
    render: f64,
}

impl Report {
    fn text(&self) -> String {
        let Self { input, width, height, frames, bytes, timings_ms, .. } = self;
        let (read, drawn) = (input.text(), duration(timings_ms.render));
        let pictures = match frames {
            Some(number) => format!("{} of ", counted(u64::from(*number), "picture")),
            None => String::new(),
        };
        let output = match &self.output {
            Names::Several(names) => match &names[..] {
                [first, .., last] => format!("{first} to {last}"),
                names => names.concat(),
            },
            Names::One(name) => name.clone(),
        };
        let written = counted(*bytes, "byte");
        let on = self.adapter.as_ref().map(|label| format!(" on {label}")).unwrap_or_default();
        format!(
            "read      {read}\n\
             drew      {pictures}{width} x {height} pixels in {drawn}{on}\n\
             wrote     {output}, {written}\n"
        )
    }
}
