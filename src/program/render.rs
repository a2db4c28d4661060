//! `voxelize render`: a picture of a grid, or of a mesh's voxels.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::formats::{LoadedGrid, is_mesh, read_grid, read_mesh};
use trivox::render::{RenderOptions, render};
use trivox::{
    Backend, ColorOptions, Cpu, Mode, NoProgress, PlaceOptions, Sizing, Up, VoxelGrid, World,
    color, place,
};

use crate::program::camera::CameraReport;
use crate::program::cli::{BackendName, Machine, RenderArgs};
use crate::program::diff::Side;
use crate::program::numbers::{counted, duration};
use crate::program::output::Sink;
use crate::program::summary::timed;
use crate::program::{Verdict, print_json, say, unfinished};

/// Reads the grid, draws it and writes the picture.
///
/// # Errors
/// Bad usage, a file that cannot be read, a mesh that cannot be voxelized so, an output that cannot be
/// written.
pub fn run(args: &RenderArgs) -> Result<Verdict> {
    let to_stdout = args.output.as_os_str() == "-";
    if args.json && to_stdout {
        bail!("--json and -o - both write to standard output: leave one of them out");
    }
    let machine =
        Machine { backend: BackendName::Cpu, adapter: None, threads: args.threads, memory: None };
    machine.start_threads()?;
    unfinished::clean_up_when_interrupted()?;
    let named = || args.output.display().to_string();
    if !to_stdout {
        check_extension(&args.output).with_context(named)?;
    }
    let sink = Sink::new(&args.output, &args.file)?;

    let (loaded, load) = timed(|| load(args)).with_context(|| args.file.display().to_string())?;
    let LoadedGrid { mut grid, mut warnings } = loaded;
    turn_up(&mut grid, args.up.map(Up::from));
    if grid.brick_count() == 0 {
        warnings.push("no voxel is occupied: the picture is empty".to_owned());
    }
    let options = options(args);
    let (picture, draw) = timed(|| render(&grid, &options))?;
    let bytes = sink.write(|out| Ok(picture.write_png(out)?))?;

    let input = Side::new(&args.file, &grid);
    let [width, height] = args.size;
    let timings_ms = Timings { load, render: draw };
    let output = sink.name().to_owned();
    let camera = CameraReport::new(&grid, &options);
    let report = Report { input, output, width, height, camera, bytes, timings_ms, warnings };
    if !args.quiet {
        report.warnings.iter().for_each(|warning| say(&format!("warning: {warning}\n")));
    }
    if args.json {
        print_json(&report)?;
    } else if !args.quiet {
        say(&report.text());
    }
    Ok(Verdict::Done)
}

/// A picture beside the main job's output.
#[derive(Debug)]
pub struct Preview(Sink);

impl Preview {
    /// Pixels.
    const SIZE: [u32; 2] = [1024; 2];

    /// Checks that `path` is a place for a picture, and is not `input`.
    ///
    /// # Errors
    /// It is none.
    pub fn new(path: &Path, input: &Path) -> Result<Self> {
        check_extension(path).with_context(|| path.display().to_string())?;
        Ok(Self(Sink::new(path, input)?))
    }

    /// Draws `grid`, and returns where.
    ///
    /// # Errors
    /// The picture cannot be written.
    pub fn draw(&self, grid: &VoxelGrid) -> Result<String> {
        let picture = render(grid, &RenderOptions::new(Self::SIZE))?;
        self.0.write(|out| Ok(picture.write_png(out)?))?;
        Ok(self.0.name().to_owned())
    }
}

fn check_extension(path: &Path) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match &extension[..] {
        "png" => Ok(()),
        "" => bail!("no file extension: pictures are .png files"),
        _ => bail!("unknown file extension '.{extension}': pictures are .png files"),
    }
}

/// The grid, or the voxels of the mesh.
fn load(args: &RenderArgs) -> Result<LoadedGrid> {
    match (is_mesh(&args.file), args.res) {
        (true, Some(res)) => voxels_of(&args.file, res),
        (true, None) => bail!("is a mesh: say with --res N how many voxels long it is to be"),
        (false, Some(_)) => bail!("is no mesh, so --res has no effect: leave it out"),
        (false, None) => Ok(read_grid(&args.file)?),
    }
}

fn voxels_of(path: &Path, res: u32) -> Result<LoadedGrid> {
    let loaded = read_mesh(path)?;
    let placed = place(&loaded.mesh, &PlaceOptions::new(Sizing::Resolution(res)))?;
    let grid = Cpu::default().voxelize(&placed, &NoProgress)?;
    let mut grid = color(&placed, grid, &ColorOptions::new(Mode::Surface), &NoProgress)?.grid;
    grid.world = Some(World::of(placed.lattice(), Up::default()));
    Ok(LoadedGrid { grid, warnings: loaded.warnings })
}

/// Says what is up in the grid, where that is asked for.
fn turn_up(grid: &mut VoxelGrid, up: Option<Up>) {
    let unplaced = World { origin: [0.0; 3], voxel_size: 1.0, up: Up::default() };
    if let Some(up) = up {
        grid.world = Some(World { up, ..grid.world.unwrap_or(unplaced) });
    }
}

fn options(args: &RenderArgs) -> RenderOptions {
    let mut options = RenderOptions::new(args.size)
        .with_view(args.view.into())
        .with_background(args.background)
        .with_samples(args.samples);
    options.projection = args.camera.map(Into::into);
    options
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    input: Side,
    output: String,
    width: u32,
    height: u32,
    camera: CameraReport,
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
        let Self { input, output, width, height, bytes, timings_ms, .. } = self;
        let (read, drawn) = (input.text(), duration(timings_ms.render));
        let written = counted(*bytes, "byte");
        format!(
            "{:<9} {read}\n{:<9} {width} x {height} pixels in {drawn}\n{:<9} {output}, {written}\n",
            "read", "drew", "wrote"
        )
    }
}
