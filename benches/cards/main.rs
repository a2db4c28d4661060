//! Predicted times of voxelization on graphics cards, from the counts of a run on any adapter and
//! the cards' public limits. They are lower bounds, since every rate is the highest. If the adapter
//! is one of the cards, measured times are printed beside them: `RESULTS.md` has those of an H200.
//!
//! Prints Markdown tables. `--quick` takes two models at a small resolution, and `--only NAME` one.

use trivox::backend::gpu::Gpu;
use trivox::backend::report::RunReport;
use trivox::backend::{Rule, RunOptions, VoxelKernel};
use trivox::formats::read_mesh;
use trivox::gpu::Adapter;
use trivox::{Backend, NoProgress, PlaceOptions, Sizing, place};

use cards::{CARDS, Card, Time};
use common::Result;

mod cards;
#[allow(dead_code, reason = "no time is measured here")]
#[path = "../common/mod.rs"]
mod common;
#[path = "../pipeline/hall.rs"]
mod hall;
mod kernels;
#[path = "../pipeline/models.rs"]
mod models;

/// The reports of one mesh at one resolution.
struct Counts {
    mesh: String,
    resolution: u32,
    rows: RunReport,
    voxels: RunReport,
}

fn main() -> Result<()> {
    let Ok(adapter) = Adapter::find(None) else {
        println!("skipped: no adapter");
        return Ok(());
    };
    let gpu = Gpu::new(&adapter)?;
    println!("Counts of {}.", adapter.label());
    let quick = common::is_quick();
    let resolutions: &[u32] = if quick { &[64] } else { &[256, 1024] };
    let folder = tempfile::tempdir()?;
    let mut all = Vec::new();
    for model in models::models(folder.path(), quick)? {
        for &resolution in resolutions {
            // Read again, so that its triangles are uploaded again.
            let mesh = read_mesh(&model.path)?.mesh;
            let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
            let report = |kernel| -> Result<RunReport> {
                let options = RunOptions { time_stages: true, kernel, ..RunOptions::default() };
                let run =
                    Backend::Gpu(&gpu).run(&placed, Rule::Conservative, &options, &NoProgress)?;
                Ok(run.report.ok_or("a run reports")?)
            };
            // The first run uploads the mesh and enlarges the buffers.
            let first = report(VoxelKernel::Rows)?;
            let (mut rows, mut voxels) = (report(VoxelKernel::Rows)?, report(VoxelKernel::Voxels)?);
            for report in [&mut rows, &mut voxels] {
                report.upload_bytes = first.upload_bytes;
                report.host_ms.upload = first.host_ms.upload;
            }
            all.push(Counts { mesh: model.name.clone(), resolution, rows, voxels });
        }
    }
    print_counts(&all);
    for card in &CARDS {
        print_card(card, &all, adapter.label().contains(card.name))?;
    }
    Ok(())
}

fn print_counts(all: &[Counts]) {
    println!("\n### Counts of a run\n");
    println!("| mesh | res | dispatches | waits | M invocations | MB | MB up | MB back |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for Counts { mesh, resolution, rows, .. } in all {
        let sum = |of: fn(&_) -> u64| rows.stages.iter().map(of).sum::<u64>() as f64 / 1e6;
        let dispatches: u32 = rows.stages.iter().map(|stage| stage.dispatches).sum();
        let [up, back] = [rows.upload_bytes, rows.read_bytes].map(|bytes| bytes as f64 / 1e6);
        print!("| {mesh} | {resolution} | {dispatches} | {} ", rows.waits);
        print!("| {:.2} | {:.2} ", sum(|stage| stage.invocations), sum(|stage| stage.bytes));
        println!("| {up:.2} | {back:.2} |");
    }
}

/// The predictions for `card`; measured times beside, if these were `measured` on it.
fn print_card(card: &Card, all: &[Counts], measured: bool) -> Result<()> {
    let Some(first) = all.first() else { return Ok(()) };
    println!("\n### Predicted on {} (milliseconds)\n", card.name);
    let stages: Vec<&str> = first.rows.stages.iter().map(|stage| stage.name).collect();
    println!(
        "| mesh | res | upload | {} | readback | total | bound | voxels | voxels / rows |",
        stages.join(" | ")
    );
    println!("|---|{}---|--:|--:|", "--:|".repeat(stages.len() + 4));
    for Counts { mesh, resolution, rows, voxels } in all {
        let cell = |time: &Time, ms: Option<f64>| match ms.filter(|_| measured) {
            Some(ms) => format!(" {:.3} (measured {ms:.3}) |", time.ms()),
            None => format!(" {:.3} |", time.ms()),
        };
        let mut row = cell(&card.upload(rows), Some(rows.host_ms.upload));
        for stage in &rows.stages {
            let time = card.stage(stage).ok_or_else(|| format!("no cost of {}", stage.name))?;
            row += &cell(&time, stage.ms);
        }
        row += &cell(&card.readback(rows), None);
        let host = |report: &RunReport| {
            let ms = report.host_ms;
            ms.upload + ms.submit + ms.wait + ms.read
        };
        let total = |report: &RunReport| card.run(report).ok_or("a kernel has no cost");
        let (by_rows, by_voxels) = (total(rows)?, total(voxels)?);
        row += &cell(&by_rows, Some(host(rows)));
        let (bound, share) = by_rows.bound();
        row += &format!(" {bound:?} {:.0} % |", 100.0 * share);
        row += &cell(&by_voxels, Some(host(voxels)));
        println!("| {mesh} | {resolution} |{row} {:.2} |", by_voxels.ms() / by_rows.ms());
    }
    Ok(())
}
