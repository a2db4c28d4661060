//! Time and memory of the CPU backend against resolution: 64, 128, and so on to 16,384.
//!
//! Prints a Markdown table for the project's torus knot, and for the dragon or the bunny where the
//! folder that `TRIVOX_MESHES` names has them. `--chart FILE` draws it as SVG too. `--quick` goes
//! to 256 only; so does `cargo test`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Patience, Result, timed};
use peak_alloc::PeakAlloc;
use trivox::backend::{Rule, RunOptions};
use trivox::formats::read_mesh;
use trivox::{Backend, Cpu, Mesh, NoProgress, PlaceOptions, Sizing, place};

mod chart;
#[path = "../common/mod.rs"]
mod common;

/// Leaves it to the system to let a buffer grow, so that times are the program's own, and counts it
/// once: the system moves large ones without a copy.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// A mesh, and what it took at each resolution.
struct Curve {
    mesh: String,
    points: Vec<Point>,
}

/// One mesh at one resolution.
struct Point {
    resolution: u32,
    occupied: u64,
    bricks: u64,
    /// Of the fastest run.
    ms: f64,
    /// Bytes of memory that a run had at most, the grid's included and the mesh's not.
    peak: u64,
}

fn main() -> Result<()> {
    let quick = common::is_quick();
    let finest = if quick { 256 } else { 16_384 };
    let time = Duration::from_millis(if quick { 0 } else { 500 });
    let patience = Patience { runs: if quick { 1 } else { 2 }, time };

    println!("CPU: {}\n", common::cpu_name());
    println!("| mesh | res | occupied | bricks | ms | ns/voxel | peak MiB | bytes/brick |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut curves = Vec::new();
    for path in models() {
        let mesh = read_mesh(&path)?.mesh;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut curve = Curve { mesh: name, points: Vec::new() };
        for resolution in (6..).map(|power| 1 << power).take_while(|&res| res <= finest) {
            let point = measure(&mesh, resolution, patience)?;
            print_row(&curve.mesh, &point);
            curve.points.push(point);
        }
        curves.push(curve);
    }
    let drawing = chart::draw(&curves)?;
    if let Some(path) = chart_path() {
        std::fs::write(path, drawing)?;
    }
    Ok(())
}

/// The file that follows `--chart`.
fn chart_path() -> Option<PathBuf> {
    std::env::args().skip_while(|arg| arg != "--chart").nth(1).map(PathBuf::from)
}

fn models() -> Vec<PathBuf> {
    let mut models = vec![PathBuf::from("assets/torus-knot.obj")];
    if let Some(folder) = std::env::var_os("TRIVOX_MESHES") {
        let scans = ["dragon.obj", "bunny.obj"].map(|name| Path::new(&folder).join(name));
        models.extend(scans.into_iter().find(|path| path.is_file()));
    }
    models
}

fn measure(mesh: &Mesh, resolution: u32, patience: Patience) -> Result<Point> {
    let placed = place(mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
    let mut point = Point { resolution, occupied: 0, bricks: 0, ms: f64::INFINITY, peak: 0 };
    patience.repeat(|| {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let (run, ms) = timed(|| {
            Backend::Cpu(&Cpu).run(&placed, Rule::Conservative, &RunOptions::default(), &NoProgress)
        });
        point.peak = point.peak.max((ALLOCATOR.peak_usage() - before) as u64);
        point.ms = point.ms.min(ms);
        run.map(|run| {
            (point.occupied, point.bricks) = (run.grid.occupied(), run.grid.brick_count());
        })
    })?;
    Ok(point)
}

fn print_row(mesh: &str, point: &Point) {
    let Point { resolution, occupied, bricks, ms, peak } = *point;
    let per_voxel = ms * 1e6 / occupied as f64;
    let mib = peak as f64 / f64::from(1 << 20);
    let per_brick = peak as f64 / bricks as f64;
    print!("| {mesh} | {resolution} | {occupied} | {bricks} ");
    println!("| {ms:.2} | {per_voxel:.1} | {mib:.1} | {per_brick:.0} |");
}
