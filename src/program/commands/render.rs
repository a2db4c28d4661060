//! `voxelize render`: draws a grid, or the voxels of a mesh.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use trivox::backend::{BackendChoice, Backends, Chosen};
use trivox::base::{ms, timed};
use trivox::formats::is_mesh;
use trivox::view::render::{Camera, Projection, RenderError, RenderOptions, Renderer};
use trivox::{Backend, Place, VoxelGrid};

use crate::cli::RenderArgs;
use crate::grids::GridSummary;
use crate::options::{refuse_adapter_of_cpu, start_threads};
use crate::progress::TerminalProgress;
use crate::text::{counted, duration, escaped};
use crate::voxels::{check_input, voxels};
use crate::write::pictures::Pictures;
use crate::write::sink::{Inputs, Written, refuse_shared_stdout};

/// Default width and height, in pixels.
const SIZE: [u32; 2] = [1024; 2];

/// Reads the grid, draws it and writes the pictures.
pub fn run(args: &RenderArgs) -> Result<()> {
    let target = &*args.target();
    refuse_shared_stdout(args.report.json, target)?;
    start_threads(args.threads)?;
    let options = options(args);
    options.check()?;
    let inputs = Inputs::new([&*args.file]);
    let output = Pictures::new(target, &inputs, args.turntable, args.fps)?;
    check_input(&args.file)?;
    args.source.refuse_contradictions(&args.file)?;
    let chosen = backend(args)?;

    let progress = Arc::new(TerminalProgress::new(args.report.quiet));
    let read = || voxels(&args.file, &args.source, Some(&output.sink), &progress);
    let ((mut grid, mut warnings), load) = timed(read)?;
    progress.finish();
    grid.world.up = args.up.unwrap_or(grid.world.up);
    if !is_mesh(&args.file) && grid.brick_count() == 0 {
        warnings.push("no voxel is occupied: the picture is empty".to_owned());
    }
    warnings.extend(slow(chosen.backend()));
    let draw = || output.write(&renderer(&grid, chosen.backend())?, &options, &progress);
    let (written, render) = timed(draw)?;
    progress.finish();

    let Written { name: output, bytes, .. } = written;
    let [width, height] = options.size;
    let report = RenderReport {
        input: GridSummary::new(&args.file, &grid),
        output,
        width,
        height,
        camera: CameraReport::new(&grid, &options)?,
        frames: args.turntable,
        backend: chosen.used.name(),
        adapter: chosen.used.adapter,
        bytes,
        timings_ms: RenderTimings { load, render },
        warnings,
    };
    args.report.print(&report, &report.warnings, || report.text())
}

/// The backend that is asked for; `--adapter` alone asks for a GPU.
fn backend(args: &RenderArgs) -> Result<Chosen> {
    refuse_adapter_of_cpu(args.backend, args.adapter.as_deref())?;
    let choice = args.backend.unwrap_or(BackendChoice::Auto);
    Ok(Backends::new(choice, args.adapter.clone()).asked_for()?)
}

/// A warning about a GPU in software.
fn slow(by: Backend) -> Option<String> {
    #[cfg(feature = "gpu")]
    if let Backend::Gpu(gpu) = by
        && gpu.device().is_software()
    {
        let advice = "is software: --backend cpu draws the same, and is faster";
        return Some(format!("{} {advice}", gpu.device().label()));
    }
    _ = by;
    None
}

fn renderer<'a>(grid: &'a VoxelGrid, by: Backend) -> Result<Renderer<'a>> {
    #[cfg(feature = "gpu")]
    if let Backend::Gpu(gpu) = by {
        return Ok(Renderer::on_gpu(grid, gpu)?);
    }
    // A build without GPUs has no other backend than the CPU.
    _ = by;
    Ok(Renderer::new(grid))
}

fn options(args: &RenderArgs) -> RenderOptions {
    RenderOptions {
        view: args.view,
        azimuth: args.azimuth,
        elevation: args.elevation,
        zoom: args.zoom,
        projection: args.camera,
        background: args.background,
        sun: args.light,
        edges: !args.no_edges,
        samples: args.samples,
        ..RenderOptions::new(args.size.unwrap_or(SIZE))
    }
}

#[derive(Debug, Serialize)]
struct RenderReport {
    #[serde(flatten)]
    input: GridSummary,
    output: String,
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
    timings_ms: RenderTimings,
    warnings: Vec<String>,
}

/// The camera, for other renderers: in the axes and units of the mesh and of written grids.
#[derive(Debug, Serialize)]
struct CameraReport {
    projection: &'static str,
    eye: [f64; 3],
    /// Unit vectors to the right and upwards in the picture.
    right: [f64; 3],
    up: [f64; 3],
    /// The unit vector from the scene towards the camera.
    back: [f64; 3],
    /// The left, right, bottom and top edge of the picture, as in pbrt's `screenwindow`: in mesh
    /// units for an orthographic camera; at distance 1 from the eye for a perspective camera.
    screen_window: [f64; 4],
}

impl CameraReport {
    /// The camera that frames `grid`.
    fn new(grid: &VoxelGrid, options: &RenderOptions) -> Result<Self, RenderError> {
        let Place { origin, voxel_size } = grid.world.place.unwrap_or_default();
        let camera = Camera::new(grid, grid.world.up, options)?;
        let (eye, [right, above, back]) = (camera.eye, camera.axes);
        let (projection, unit) = match camera.projection {
            Projection::Perspective => ("perspective", 1.0),
            Projection::Orthographic => ("orthographic", voxel_size),
        };
        let [left, top] = camera.film_corner;
        let [width, height] = options.size.map(|side| f64::from(side) * camera.pixel_side);
        Ok(Self {
            projection,
            eye: [0, 1, 2].map(|a| origin[a] + voxel_size * eye[a]),
            right,
            up: above,
            back,
            screen_window: [left, left + width, top - height, top].map(|edge| edge * unit),
        })
    }
}

#[derive(Debug, Serialize)]
struct RenderTimings {
    #[serde(serialize_with = "ms")]
    load: Duration,
    #[serde(serialize_with = "ms")]
    render: Duration,
}

impl RenderReport {
    fn text(&self) -> String {
        let Self { input, output, width, height, frames, bytes, timings_ms, .. } = self;
        let (read, drawn) = (input.text(), duration(timings_ms.render));
        let pictures = match frames {
            Some(number) => format!("{} of ", counted(u64::from(*number), "picture")),
            None => String::new(),
        };
        let (output, written) = (escaped(output), counted(*bytes, "byte"));
        let on = self.adapter.as_ref().map(|label| format!(" on {label}")).unwrap_or_default();
        format!(
            "read      {read}\n\
             drew      {pictures}{width} x {height} pixels in {drawn}{on}\n\
             wrote     {output}, {written}\n"
        )
    }
}
