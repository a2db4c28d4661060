//! The main command: voxelizes one or many meshes, several at once, and reports them in order.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, bail};
use trivox::base::ordered::Ordered;
use trivox::{NoProgress, Progress, Voxelizer};

use crate::cli::{ComputeArgs, Job, PaletteArgs, VoxelArgs};
use crate::compute::start_threads;
use crate::deadline::Deadline;
use crate::memory::{Memory, is_memory};
use crate::plan::{Plan, Task};
use crate::report::Report;
use crate::resume::Options;
use crate::task::RunContext;
use crate::terminal::TerminalProgress;
use crate::transform::{place_options, transform};
use crate::write::sink::{Inputs, refuse_shared_stdout};
use crate::{ExitStatus, batch, inputs, lattice, print_warnings};

/// Runs the job with these options.
///
/// # Errors
/// Bad usage; for a single mesh also bad input, a failed backend or an output that cannot be
/// written.
pub fn run(
    job: &Job,
    voxels: &VoxelArgs,
    palette_args: &PaletteArgs,
    compute: &ComputeArgs,
) -> Result<ExitStatus> {
    let voxels = &voxels.of_job(job);
    refuse_contradictions(job, voxels, compute)?;
    start_threads(compute.threads)?;
    let mut voxelizer = Voxelizer::new()
        .transform(transform(job))
        .place_options(place_options(job))
        .up(job.up)
        .time_stages(job.json || job.verbose > 0)
        .kernel(compute.kernel.unwrap_or_default());
    if let Some(tile) = job.tile {
        voxelizer = voxelizer.tile(tile);
    }
    voxelizer.check()?;
    let lattice = job.lattice.as_deref().map(lattice::read).transpose()?;
    let plan = Plan::new(job)?;
    if plan.several && job.preview.is_some() {
        bail!("--preview draws one mesh: use `voxelize render` for each of several");
    }
    print_warnings(&plan.warnings, job.quiet);
    let write_options = palette_args.write_options()?;
    let resume = job.resume.then(|| Options::new(job, voxels, lattice.as_ref(), &write_options));
    let lists = job.meshes.iter().filter_map(|arg| inputs::list(arg).map(Path::new));
    let inputs = Inputs::new(palette_args.files().chain(job.lattice.as_deref()).chain(lists));
    let tasks = &plan.tasks;
    let progress = Arc::new(TerminalProgress::new(job.quiet));
    let mut report = Report::new(job, &plan, &progress);

    let steps: Arc<dyn Progress> =
        if plan.several { Arc::new(NoProgress) } else { progress.clone() };
    let backends = Arc::new(compute.backends().for_meshes(tasks.len()));
    voxelizer = voxelizer.backends(Arc::clone(&backends));
    if let Some(lattice) = lattice {
        voxelizer = voxelizer.lattice(lattice);
    }
    let memory = Memory::new(compute.memory);
    let at_once = batch::at_once(tasks, memory.total(), job);
    let memory = memory.shared_by(at_once);
    if plan.several {
        progress.count("meshes", tasks.len());
    }
    let shares = memory.of(voxelizer).in_shares(at_once);
    let work_with = |voxelizer: &Voxelizer, task: &Task| {
        let sufficient = Cell::new(batch::sufficient(task, job, None));
        let deadline = Arc::new(Deadline::new(steps.clone(), job.time_limit));
        let context = RunContext {
            job,
            voxels,
            palette_args,
            compute,
            write_options: &write_options,
            resume: resume.as_ref(),
            inputs: &inputs,
            outputs: &plan.outputs,
            sufficient: &sufficient,
            voxelizer: voxelizer.clone().progress(deadline.clone()),
            progress: &*deadline,
        };
        batch::catch_panic(|| context.voxelize(task))
            .map_err(|error| deadline.explain(error, &task.mesh))
            .map_err(|error| memory.explain(error, sufficient.get()))
    };
    let work = |task: &Task| {
        let result = shares.run(|voxelizer| work_with(voxelizer, task), is_memory);
        if plan.several {
            progress.advance(1)
        } else {
            progress.finish()
        };
        result
    };
    thread::scope(|scope| {
        // With --resume there may be nothing to do.
        if !job.resume {
            let backends = &backends;
            let open = || {
                backends.open_early();
                Ok(())
            };
            // If no thread can be started, the GPU is opened by the first mesh.
            _ = thread::Builder::new().spawn_scoped(scope, move || batch::catch_panic(open));
        }
        let workers = at_once.min(tasks.len());
        let results = Ordered::in_scope(scope, tasks.iter(), workers, usize::MAX, &work);
        let results = results.context("cannot start a thread")?;
        tasks.iter().zip(results).try_for_each(|(task, result)| report.take(task, result))
    })?;
    Ok(report.finish())
}

/// Refuses options without effect, and contradictory options.
fn refuse_contradictions(job: &Job, voxels: &VoxelArgs, args: &ComputeArgs) -> Result<()> {
    args.refuse_contradictions(voxels.mode(), job.check)?;
    voxels.refuse_contradictions()?;
    voxels.only_for_solids("--strict", job.strict)?;
    if job.distance.is_some() && voxels.interior_color.is_some() {
        bail!("--interior-color is for voxels, but --distance writes distances: leave it out");
    }
    if job.force && !job.strict {
        bail!(
            "--force is for --strict, to write a doubtful solid: leave it out (files are replaced \
             without it)"
        );
    }
    let Some(output) = &job.output else { return Ok(()) };
    refuse_shared_stdout(job.json, output)?;
    if job.resume && output.as_os_str() == "-" {
        bail!("--resume looks for a file, but -o - is standard output: leave one of them out");
    }
    Ok(())
}
