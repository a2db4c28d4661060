//! The main job: load, place, voxelize, check, write, and say so.

use std::time::Instant;

use anyhow::{Context, Result};
use trivox::backend::{Choice, Chosen, choose};
use trivox::formats::read_mesh;
use trivox::{PlaceOptions, PlacedMesh, Progress, Sizing, VoxelGrid, World, place};

use crate::program::cli::Job;
use crate::program::output::Output;
use crate::program::summary::{Summary, milliseconds, timed};
use crate::program::terminal::TerminalProgress;
use crate::program::{Verdict, print_json};

/// Runs the job.
///
/// # Errors
/// Bad input, a backend that failed, an output that cannot be written.
pub fn run(job: &Job) -> Result<Verdict> {
    let began = Instant::now();
    let output = job.output.as_ref().map(|path| Output::new(path, job.format.map(Into::into)));
    let output = output.transpose()?;
    let progress = TerminalProgress::new(job.quiet);

    let mut summary = Summary { verbose: job.verbose, ..Summary::default() };
    let mesh = load_and_place(job, &progress, &mut summary)?;
    let chosen = start(job, &mesh, &mut summary)?;
    let (grid, chosen) = compute(job, &mesh, chosen, &progress, &mut summary)?;
    describe(&grid, &mut summary);

    if job.check {
        let (difference, time) = timed(|| check(job, &mesh, &chosen, &grid, &progress));
        summary.timings_ms.check = Some(time);
        match difference? {
            Agreement::Same(other) => summary.check = Some(other),
            Agreement::Differs(report) => {
                progress.finish();
                eprintln!("voxelize: {report}");
                return Ok(Verdict::Differs);
            }
        }
    }
    if let Some(output) = &output {
        progress.start("write", 0);
        let (bytes, time) = timed(|| output.write(&grid));
        summary.bytes = Some(bytes?);
        summary.output = Some(output.to_string());
        summary.timings_ms.write = Some(time);
    }
    summary.timings_ms.total = milliseconds(began.elapsed());
    progress.finish();
    if !job.quiet {
        eprint!("{summary}");
    }
    if job.json {
        print_json(&summary)?;
    }
    Ok(Verdict::Done)
}

fn load_and_place(job: &Job, progress: &dyn Progress, summary: &mut Summary) -> Result<PlacedMesh> {
    progress.start("load", 0);
    let named = || job.mesh.display().to_string();
    let (loaded, time) = timed(|| read_mesh(&job.mesh));
    let loaded = loaded.with_context(named)?;
    summary.timings_ms.load = time;
    summary.mesh = named();
    summary.triangles = loaded.mesh.triangles().len();
    summary.warnings = loaded.warnings;

    progress.start("place", 0);
    let (placed, time) = timed(|| place(&loaded.mesh, &place_options(job)));
    let placed = placed.with_context(named)?;
    summary.timings_ms.place = time;
    summary.degenerate = placed.degenerate();
    let outside = placed.outside();
    if outside > 0 {
        summary.warnings.push(format!(
            "{outside} triangles reach outside the bounds; what lies there has no voxels"
        ));
    }
    let lattice = placed.lattice();
    summary.dims = lattice.dims;
    summary.unit_bits = lattice.unit_bits;
    summary.voxel_size = lattice.voxel_size;
    summary.origin = lattice.origin;
    Ok(placed)
}

fn place_options(job: &Job) -> PlaceOptions {
    let sizing = match (job.res, job.voxel_size) {
        (Some(res), _) => Sizing::Resolution(res),
        // One of the two is required.
        (None, size) => Sizing::VoxelSize(size.unwrap_or(0.0)),
    };
    let options = PlaceOptions::new(sizing).with_pad(job.pad);
    match job.bounds {
        Some(bounds) => options.with_bounds(bounds),
        None => options,
    }
}

fn start(job: &Job, mesh: &PlacedMesh, summary: &mut Summary) -> Result<Chosen> {
    let threads = job.threads.map(usize::from);
    let (chosen, time) =
        timed(|| choose(job.backend.into(), job.adapter.as_deref(), threads, mesh));
    summary.timings_ms.start = time;
    Ok(chosen?)
}

/// The grid, and the backend that made it.
fn compute(
    job: &Job,
    mesh: &PlacedMesh,
    chosen: Chosen,
    progress: &dyn Progress,
    summary: &mut Summary,
) -> Result<(VoxelGrid, Chosen)> {
    let (result, time) =
        timed(|| chosen.voxelize(job.backend.into(), job.threads.map(usize::from), mesh, progress));
    let (grid, chosen) = result?;
    summary.timings_ms.voxelize = time;
    summary.backend = chosen.name();
    summary.adapter = chosen.adapter.clone();
    summary.reason = chosen.reason.clone();
    summary.warnings.extend(chosen.warning.clone());
    Ok((grid.with_world(World::of(mesh.lattice(), job.up.into())), chosen))
}

fn describe(grid: &VoxelGrid, summary: &mut Summary) {
    summary.occupied = grid.occupied();
    summary.bricks = grid.brick_count();
    summary.hash = grid.hash().to_string();
    if summary.occupied == 0 {
        summary.warnings.push("no voxel is occupied: the bounds miss the mesh".to_owned());
    }
}

enum Agreement {
    /// With this backend.
    Same(String),
    /// How.
    Differs(String),
}

/// Voxelizes again on the backend that did not make `grid`, and compares.
fn check(
    job: &Job,
    mesh: &PlacedMesh,
    chosen: &Chosen,
    grid: &VoxelGrid,
    progress: &dyn Progress,
) -> Result<Agreement> {
    let choice = if chosen.adapter.is_some() { Choice::Cpu } else { Choice::Gpu };
    let threads = job.threads.map(usize::from);
    let other = choose(choice, job.adapter.as_deref(), threads, mesh).context("--check")?;
    let again = other.backend.voxelize(mesh, progress).context("--check")?;
    let names = [chosen.to_string(), other.to_string()];
    Ok(match difference(grid, &again, &names) {
        None => Agreement::Same(other.to_string()),
        Some(report) => Agreement::Differs(report),
    })
}

/// How many of the voxels that differ are named.
const NAMED: usize = 8;

fn difference(grid: &VoxelGrid, other: &VoxelGrid, names: &[String; 2]) -> Option<String> {
    let count = grid.difference(other).count();
    let named: Vec<String> = (grid.difference(other).take(NAMED))
        .map(|([x, y, z], here)| format!("({x}, {y}, {z}) only on {}", names[usize::from(!here)]))
        .collect();
    (count > 0).then(|| {
        let [one, two] = names;
        format!("{one} and {two} differ in {count} voxels: {}", named.join("; "))
    })
}
