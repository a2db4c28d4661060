//! The main job, stage by stage, on both backends: the project's models, and those in the folder
//! that `TRIVOX_MESHES` names.
//!
//! Prints a Markdown table of milliseconds (medians) and of ratios within this run. `--quick`
//! takes one small resolution; so does `cargo test`, which passes no `--bench`.
//!
//! Before it reports anything it compares the backends' grids.
//!
//! A second table has the stages of the GPU backend at the finest resolution: their times by the
//! GPU's clock, what they do in it, and the least time that the device would take to move the bytes
//! they must, at the rate at which it copies buffers.

use std::path::{Path, PathBuf};
use std::time::Instant;

use trivox::formats::{GridFormat, read_mesh, write_grid};
use trivox::{Backend, Cpu, NoProgress, PlaceOptions, PlacedMesh, Sizing, VoxelGrid, World, place};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Runs of each stage; the median is printed.
const RUNS: usize = 5;

fn main() -> Result<()> {
    let given = |flag: &str| std::env::args().any(|arg| arg == flag);
    let quick = given("--quick") || !given("--bench");
    let resolutions: &[u32] = if quick { &[64] } else { &[128, 256, 512, 1024] };
    let gpus = gpus();

    let threads = std::thread::available_parallelism()?;
    println!("CPU: {}, {threads} threads", cpu_name());
    gpus.iter().for_each(|(label, _)| println!("GPU: {label}"));
    println!();
    header(&gpus);
    for path in models()? {
        for &resolution in resolutions {
            row(&path, resolution, &gpus, if quick { 1 } else { RUNS })?;
        }
    }
    gpu_stages::print(&models()?, resolutions[resolutions.len() - 1], if quick { 1 } else { RUNS })
}

#[cfg(feature = "gpu")]
mod gpu_stages;

#[cfg(not(feature = "gpu"))]
mod gpu_stages {
    pub fn print(_: &[std::path::PathBuf], _: u32, _: usize) -> super::Result<()> {
        Ok(())
    }
}

/// Label and backend of the adapters that would be used; none without the feature `gpu`.
type Gpus = Vec<(String, Box<dyn Backend>)>;

#[cfg(feature = "gpu")]
fn gpus() -> Gpus {
    use trivox::backend::gpu::{Gpu, adapters::Adapter};
    let Some(adapter) = Adapter::preferred().into_iter().next() else {
        return Vec::new();
    };
    match Gpu::new(&adapter) {
        Ok(gpu) => vec![(format!("{}, {}", adapter.label(), adapter.driver()), Box::new(gpu))],
        Err(error) => {
            eprintln!("{}: {error}", adapter.label());
            Vec::new()
        }
    }
}

#[cfg(not(feature = "gpu"))]
fn gpus() -> Gpus {
    Vec::new()
}

fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or(std::env::consts::ARCH, |(_, name)| name).to_owned()
}

fn models() -> Result<Vec<PathBuf>> {
    // Cargo runs benches in the project's folder, and so does the measuring script.
    let mut folders = vec![PathBuf::from("assets")];
    folders.extend(std::env::var_os("TRIVOX_MESHES").map(PathBuf::from));
    let mut models = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "obj") {
                models.push(path);
            }
        }
    }
    models.sort();
    Ok(models)
}

fn header(gpus: &Gpus) {
    let mut columns = vec![
        "mesh",
        "triangles",
        "res",
        "occupied",
        "load",
        "place",
        "cpu",
        "cpu ns/voxel",
        "hash",
        "write .vox",
    ];
    if !gpus.is_empty() {
        columns.extend(["gpu", "gpu / cpu"]);
    }
    println!("| {} |", columns.join(" | "));
    println!("|---|{}", "--:|".repeat(columns.len() - 1));
}

fn row(path: &Path, resolution: u32, gpus: &Gpus, runs: usize) -> Result<()> {
    let (loaded, load) = median(runs, || read_mesh(path));
    let mesh = loaded?.mesh;
    let options = PlaceOptions::new(Sizing::Resolution(resolution));
    let (placed, placing) = median(runs, || place(&mesh, &options));
    let placed = placed?;
    let (grid, cpu) = voxelize(&Cpu::default(), &placed, runs)?;
    let grid = grid.with_world(World::of(placed.lattice(), Default::default()));
    let (_, hash) = median(runs, || grid.hash());
    let (written, write) =
        median(runs, || write_grid(&grid, GridFormat::Vox, &mut std::io::sink()));
    written?;

    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let (triangles, occupied) = (placed.len(), grid.occupied());
    let per_voxel = cpu * 1e6 / occupied as f64;
    print!("| {name} | {triangles} | {resolution} | {occupied} | {load:.2} | {placing:.2} ");
    print!("| {cpu:.2} | {per_voxel:.1} | {hash:.2} | {write:.2} |");
    for (label, gpu) in gpus {
        let (on_gpu, time) = voxelize(gpu.as_ref(), &placed, runs)?;
        assert_eq!(on_gpu.hash(), grid.hash(), "{name} at {resolution} on {label}");
        print!(" {time:.2} | {:.2} |", time / cpu);
    }
    println!();
    Ok(())
}

fn voxelize(backend: &dyn Backend, mesh: &PlacedMesh, runs: usize) -> Result<(VoxelGrid, f64)> {
    let (grid, time) = median(runs, || backend.voxelize(mesh, &NoProgress));
    Ok((grid?, time))
}

/// The result of `stage`, and the median of its times in milliseconds.
fn median<T>(runs: usize, mut stage: impl FnMut() -> T) -> (T, f64) {
    let mut times = Vec::new();
    loop {
        let start = Instant::now();
        let result = stage();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if times.len() >= runs {
            times.sort_by(f64::total_cmp);
            return (result, times[times.len() / 2]);
        }
    }
}
