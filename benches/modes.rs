//! Thin surfaces, solids and distances against the surface: time and memory by mode and resolution,
//! on both backends. Distances are those nearer than three voxels, without the solid inside.
//!
//! Prints a Markdown table for the project's torus knot, and for the dragon and for meshes with
//! holes, the bunny, the teapot and Suzanne, where the folder that `TRIVOX_MESHES` names has them.
//! Times are the fastest of several runs; ratios are to the surface of the same mesh in the same
//! run. Memory is that of the CPU's run at its most, the result included and the mesh not. Every
//! result of the GPU is compared with the CPU's. `--quick` goes to 128 only; so does `cargo test`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Patience, Result, timed};
use peak_alloc::PeakAlloc;
use trivox::formats::read_mesh;
use trivox::solid::distance::distances;
use trivox::solid::{Fill, Solid};
use trivox::{
    Backend, BackendError, Cpu, DistanceField, Mode, NoProgress, PlaceOptions, Sizing, VoxelGrid,
    place, voxelize,
};
#[cfg(feature = "gpu")]
use trivox::{Gpu, gpu::Adapter};

mod common;

/// Counts a buffer that grows once: the system moves large ones without a copy.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Milliseconds after which a GPU, one in software most likely, is spared finer resolutions.
const SLOW: f64 = 3000.0;

const FILLS: [Fill; 5] = [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote, Fill::Flood];

/// The voxels within this many voxels of the surface have distances.
const WIDTH: f32 = 3.0;

/// What a mode took at one resolution.
struct Point {
    occupied: u64,
    bricks: u64,
    /// Milliseconds.
    cpu: f64,
    /// Bytes.
    peak: u64,
    gpu: Option<f64>,
}

fn main() -> Result<()> {
    let quick = common::is_quick();
    let resolutions: &[u32] = if quick { &[128] } else { &[256, 512, 1024, 2048, 4096] };
    let time = Duration::from_millis(if quick { 0 } else { 300 });
    let patience = Patience { runs: if quick { 1 } else { 2 }, time };
    #[cfg(feature = "gpu")]
    let opened = Adapter::find(None).map_err(BackendError::from).and_then(|a| Gpu::new(&a)).ok();
    #[cfg(feature = "gpu")]
    let gpu = opened.as_ref().map(Backend::Gpu);
    #[cfg(not(feature = "gpu"))]
    let gpu: Option<Backend> = None;

    println!("CPU: {}", common::cpu_name());
    let mut modes = vec![("surface".to_owned(), Mode::Surface), ("thin".to_owned(), Mode::Thin)];
    modes.extend(FILLS.map(|fill| {
        (format!("solid, {fill}"), Mode::Solid(Solid { fill, include_surface: false }))
    }));
    let columns = "| mesh | res | mode | occupied | bricks | cpu ms | / surface | peak MiB | gpu ms | / surface |";
    let mut head = Some(columns);
    for path in models() {
        let mesh = read_mesh(&path)?.mesh;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut is_quick = true;
        for &resolution in resolutions {
            let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
            // A machine without one has a table without its figures.
            let gpu = gpu.filter(|_| is_quick);
            if let Some(head) = head.take() {
                #[cfg(feature = "gpu")]
                opened.iter().for_each(|gpu| println!("GPU: {}", gpu.device().label()));
                println!("\n{head}\n|---|--:|---|{}", "--:|".repeat(7));
            }
            let mut surface: Option<Point> = None;
            let mut print = |label: &str, point: Point| {
                print_row(&format!("{name} | {resolution} | {label}"), &point, surface.as_ref());
                is_quick &= point.gpu.is_none_or(|ms| ms < SLOW);
                surface.get_or_insert(point);
            };
            for (label, mode) in &modes {
                let run = |by: Backend| {
                    voxelize(by, &placed, *mode, &Default::default(), &NoProgress)
                        .map(|voxels| voxels.grid)
                };
                print(label, measure(run, |grid| grid, gpu, patience)?);
            }
            let empty = VoxelGrid::empty(placed.lattice().dims)?;
            let run =
                |by: Backend| distances(by, &placed, empty.clone(), WIDTH, u64::MAX, &NoProgress);
            print("distances", measure(run, DistanceField::band, gpu, patience)?);
        }
    }
    Ok(())
}

fn models() -> Vec<PathBuf> {
    let mut models = vec![PathBuf::from("assets/torus-knot.obj")];
    if let Some(folder) = std::env::var_os("TRIVOX_MESHES") {
        let scans = ["dragon.obj", "bunny.obj", "teapot.obj", "suzanne.obj"];
        let scans = scans.map(|name| Path::new(&folder).join(name));
        models.extend(scans.into_iter().filter(|path| path.is_file()));
    }
    models
}

/// The fastest runs of `run`; `grid` is that of its result, whose voxels are counted.
fn measure<T: PartialEq>(
    run: impl Fn(Backend) -> std::result::Result<T, BackendError>,
    grid: impl Fn(&T) -> &VoxelGrid,
    gpu: Option<Backend>,
    patience: Patience,
) -> Result<Point> {
    let (mut peak, mut expected) = (0, None);
    let cpu = fastest(
        patience,
        || run(Backend::Cpu(&Cpu)),
        |result, bytes| {
            (expected, peak) = (Some(result), bytes);
        },
    )?;
    let mut differs = false;
    let gpu = gpu.map(|gpu| {
        fastest(patience, || run(gpu), |result, _| differs |= expected.as_ref() != Some(&result))
    });
    let gpu = gpu.transpose()?;
    if differs {
        return Err("the GPU's result differs".into());
    }
    let grid = expected.as_ref().map(grid);
    let count = |of: fn(&VoxelGrid) -> u64| grid.map_or(0, of);
    let (occupied, bricks) = (count(VoxelGrid::occupied), count(VoxelGrid::brick_count));
    Ok(Point { occupied, bricks, cpu, peak, gpu })
}

/// Milliseconds of the fastest run; `each` run's result, and the bytes that it took, are looked at.
fn fastest<T>(
    patience: Patience,
    run: impl Fn() -> std::result::Result<T, BackendError>,
    mut each: impl FnMut(T, u64),
) -> Result<f64> {
    let mut fastest = f64::INFINITY;
    patience.repeat(|| -> Result<()> {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let (result, ms) = timed(&run);
        let peak = ALLOCATOR.peak_usage() - before;
        fastest = fastest.min(ms);
        each(result?, peak as u64);
        Ok(())
    })?;
    Ok(fastest)
}

fn print_row(what: &str, point: &Point, surface: Option<&Point>) {
    let Point { occupied, bricks, cpu, peak, gpu } = point;
    let surface = surface.unwrap_or(point);
    let mib = *peak as f64 / f64::from(1 << 20);
    print!("| {what} | {occupied} | {bricks} ");
    print!("| {cpu:.2} | {:.2} | {mib:.1} ", cpu / surface.cpu);
    match (gpu, surface.gpu) {
        (Some(gpu), Some(of_surface)) => println!("| {gpu:.2} | {:.2} |", gpu / of_surface),
        _ => println!("| | |"),
    }
}
