//! The main job: load, place, voxelize, check, write, and say so.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use trivox::backend::{Choice, Chosen, choose};
use trivox::formats::read_mesh;
use trivox::{PlaceOptions, PlacedMesh, Progress, Sizing, VoxelGrid, World, place};

use crate::program::cli::Job;
use crate::program::output::{Output, clean_up_when_interrupted};
use crate::program::summary::{Check, Summary, counted, milliseconds, timed};
use crate::program::terminal::TerminalProgress;
use crate::program::{Verdict, print_json, say};

/// Runs the job.
///
/// # Errors
/// Bad input, a backend that failed, an output that cannot be written.
pub fn run(job: &Job) -> Result<Verdict> {
    let began = Instant::now();
    refuse_contradictions(job)?;
    start_threads(job)?;
    clean_up_when_interrupted()?;
    let output = job.output.as_ref().map(|path| Output::new(path, job.format, &job.mesh));
    let output = output.transpose()?;
    let progress = TerminalProgress::new(job.quiet);

    let mut summary = Summary { verbose: job.verbose, ..Summary::default() };
    let mesh = load_and_place(job, &progress, &mut summary)?;
    output.as_ref().map_or(Ok(()), |output| output.check_dims(summary.dims))?;
    let chosen = start(job, &mesh, &mut summary)?;
    let (grid, chosen) = compute(job, &mesh, chosen, &progress, &mut summary)?;
    describe(&grid, &mut summary);

    if job.check {
        let (check, time) = timed(|| check(job, &mesh, &chosen, &grid, &progress));
        summary.check = Some(check?);
        summary.timings_ms.check = Some(time);
    }
    let differs = summary.check.as_ref().is_some_and(|check| check.differing > 0);
    if let Some(output) = output.filter(|_| !differs) {
        progress.start("write", 0);
        let (bytes, time) = timed(|| output.write(&grid));
        summary.bytes = Some(bytes?);
        summary.output = Some(output.to_string());
        summary.timings_ms.write = Some(time);
    }
    summary.timings_ms.total = milliseconds(began.elapsed());
    progress.finish();
    if job.json {
        print_json(&summary)?;
    }
    match &summary.check {
        Some(check) if differs => say(&format!("voxelize: {check}\n")),
        _ if job.quiet => {}
        _ => say(&summary.to_string()),
    }
    Ok(if differs { Verdict::Differs } else { Verdict::Done })
}

/// Options that would have no effect, or spoil one another.
fn refuse_contradictions(job: &Job) -> Result<()> {
    let on_cpu = Choice::from(job.backend) == Choice::Cpu && !job.check;
    if job.adapter.is_some() && on_cpu {
        bail!("--adapter names a GPU, but --backend cpu uses none: leave one of them out");
    }
    let to_stdout = job.output.as_deref() == Some("-".as_ref());
    if job.json && to_stdout {
        bail!("--json and -o - both write to standard output: leave one of them out");
    }
    Ok(())
}

/// All threads of the process, whatever they work on, are those of one pool.
fn start_threads(job: &Job) -> Result<()> {
    let Some(threads) = job.threads else {
        return Ok(());
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
    pool.build_global().with_context(|| format!("--threads {threads}"))
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
            "{} reach outside the bounds; what lies there has no voxels",
            counted(outside as u64, "triangle")
        ));
    }
    let lattice = placed.lattice();
    if lattice.unit_bits < lattice.unit_bits_of_grid() {
        summary.warnings.push(format!(
            "the mesh reaches so far past the bounds that vertices are rounded to 1/{} of a voxel \
             instead of 1/{}",
            1u32 << lattice.unit_bits,
            1u32 << lattice.unit_bits_of_grid()
        ));
    }
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
    let (chosen, time) = timed(|| choose(job.backend.into(), job.adapter.as_deref(), mesh));
    summary.timings_ms.start = time;
    let mut chosen = chosen?;
    if job.json || job.verbose {
        chosen.backend.time_stages();
    }
    Ok(chosen)
}

/// The grid, and the backend that made it.
fn compute(
    job: &Job,
    mesh: &PlacedMesh,
    chosen: Chosen,
    progress: &dyn Progress,
    summary: &mut Summary,
) -> Result<(VoxelGrid, Chosen)> {
    let (result, time) = timed(|| chosen.voxelize(mesh, progress));
    let (grid, chosen) = result?;
    summary.timings_ms.voxelize = time;
    summary.report(chosen.backend.report());
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

/// Voxelizes again on the backend that did not make `grid`, and compares.
fn check(
    job: &Job,
    mesh: &PlacedMesh,
    chosen: &Chosen,
    grid: &VoxelGrid,
    progress: &dyn Progress,
) -> Result<Check> {
    let choice = if chosen.adapter.is_some() { Choice::Cpu } else { Choice::Gpu };
    let other = choose(choice, job.adapter.as_deref(), mesh).context("--check")?;
    let again = other.backend.voxelize(mesh, progress).context("--check")?;
    Ok(Check::new(grid, &again, [chosen.to_string(), other.to_string()]))
}
