//! Colours against the surface that gets them: time and memory by resolution.
//!
//! Prints a Markdown table for the project's lighthouse, of materials and a texture, and for the
//! fuze bottle, all of it texture, where the folder that `TRIVOX_MESHES` names has it. Times are
//! the fastest of several runs on the CPU; ratios are to the surface of the same mesh in the same
//! run. Memory is what the colours took at their most, themselves included. `--quick` goes to 128
//! only; so does `cargo test`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Patience, Result, timed};
use peak_alloc::PeakAlloc;
use trivox::formats::read_mesh;
use trivox::surface::palette::count_colors;
use trivox::{
    ColorOptions, Cpu, Mode, NoProgress, PlaceOptions, PlacedMesh, Sizing, VoxelGrid, color, place,
    voxelize,
};

mod common;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() -> Result<()> {
    let quick = common::is_quick();
    let resolutions: &[u32] = if quick { &[128] } else { &[64, 128, 256, 512, 1024, 2048] };
    let time = Duration::from_millis(if quick { 0 } else { 300 });
    let patience = Patience { runs: if quick { 1 } else { 2 }, time };

    println!("CPU: {}\n", common::cpu_name());
    println!("| mesh | res | occupied | colours | surface ms | color ms | / surface | peak MiB |");
    println!("|---|{}", "--:|".repeat(7));
    for path in models() {
        let mesh = read_mesh(&path)?.mesh;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for &resolution in resolutions {
            let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
            print_row(&format!("{name} | {resolution}"), &placed, patience)?;
        }
    }
    Ok(())
}

fn models() -> Vec<PathBuf> {
    let mut models = vec![PathBuf::from("assets/lighthouse.obj")];
    if let Some(folder) = std::env::var_os("TRIVOX_MESHES") {
        models.extend(Some(Path::new(&folder).join("fuze.obj")).filter(|path| path.is_file()));
    }
    models
}

fn print_row(what: &str, mesh: &PlacedMesh, patience: Patience) -> Result<()> {
    let mut grid = VoxelGrid::empty([1; 3])?;
    let surface = fastest(patience, || {
        grid = voxelize(&Cpu, mesh, Mode::Surface, &Default::default(), &NoProgress)?.grid;
        Ok(())
    })?;
    let (mut colored, mut peak) = (grid.clone(), 0);
    let options = ColorOptions::new(Mode::Surface);
    let ms = fastest(patience, || {
        let grid = grid.clone();
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        colored = color(mesh, grid, &options, &NoProgress)?.0;
        peak = ALLOCATOR.peak_usage() - before;
        Ok(())
    })?;
    let (occupied, colors) = (colored.occupied(), count_colors(&colored));
    let mib = peak as f64 / f64::from(1 << 20);
    println!(
        "| {what} | {occupied} | {colors} | {surface:.2} | {ms:.2} | {:.1} | {mib:.1} |",
        ms / surface
    );
    Ok(())
}

/// Milliseconds of the fastest of several runs.
fn fastest(patience: Patience, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut fastest = f64::INFINITY;
    patience.repeat(|| -> Result<()> {
        let (done, ms) = timed(&mut run);
        fastest = fastest.min(ms);
        done
    })?;
    Ok(fastest)
}
