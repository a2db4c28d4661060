//! The main command: voxelizes one or many meshes, several at once, and reports them in order.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, bail};
use trivox::base::ordered::Ordered;
use trivox::solid::Solid;
use trivox::{ColorSource, Lattice, Mode, NoProgress, Progress, Voxelizer};

use crate::cli::Job;
use crate::console::print_warnings;
use crate::memory::{Memory, is_memory};
use crate::options::{read_lattice, start_threads};
use crate::plan::{Plan, Task};
use crate::progress::TerminalProgress;
use crate::report::Report;
use crate::task::{Run, catch_panic};
use crate::write::sink::{Inputs, refuse_shared_stdout};
use crate::{ExitStatus, inputs, resume};

/// Runs the job.
pub fn run(mut job: Job) -> Result<ExitStatus> {
    if job.distance.is_some() {
        job.voxels.mode = Some(Mode::Solid(Solid::default()));
    }
    let job = &job;
    refuse_contradictions(job)?;
    start_threads(job.compute.threads)?;
    let lattice = job.lattice.as_deref().map(read_lattice).transpose()?;
    let voxelizer = voxelizer(job, lattice);
    voxelizer.check()?;
    let plan = Plan::new(job)?;
    if plan.several && job.preview.is_some() {
        bail!("--preview draws one mesh: use `voxelize render` for each of several");
    }
    print_warnings(&plan.warnings, job.quiet);
    let tasks = &plan.tasks;
    let memory = Memory::new(job.compute.memory).shared_by(tasks, job);
    let backends = Arc::new(job.compute.backends().for_meshes(tasks.len()));
    let voxelizers = memory.of(voxelizer.backends(backends.clone())).in_shares(memory.at_once);
    let progress = Arc::new(TerminalProgress::new(job.quiet));
    let write_options = job.palette.write_options()?;
    let resume = job.resume.then(|| resume::options(job, lattice.as_ref(), &write_options));
    let lists = job.meshes.iter().filter_map(|arg| inputs::list(arg).map(Path::new));
    let read = job.palette.files().chain(job.lattice.as_deref()).chain(lists);
    let run = Run {
        job,
        plan: &plan,
        write_options,
        resume,
        inputs: Inputs::new(read),
        memory,
        progress: if plan.several { Arc::new(NoProgress) } else { progress.clone() },
    };
    let mut report = Report::new(job, &plan, &progress);
    if plan.several {
        progress.count("meshes", tasks.len());
    }
    let work = |task: &Task| {
        let result = voxelizers.run(|voxelizer| run.task(task, voxelizer), is_memory);
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
            let open = move || {
                backends.open_early();
                Ok(())
            };
            // If no thread can be started, the GPU is opened by the first mesh.
            _ = thread::Builder::new().spawn_scoped(scope, || catch_panic(open));
        }
        let workers = memory.at_once.min(tasks.len());
        let results = Ordered::in_scope(scope, tasks.iter(), workers, usize::MAX, &work);
        let results = results.context("cannot start a thread")?;
        tasks.iter().zip(results).try_for_each(|(task, result)| report.take(task, result))
    })?;
    Ok(report.finish())
}

/// The voxelizer with the options that all meshes share.
fn voxelizer(job: &Job, lattice: Option<Lattice>) -> Voxelizer {
    let mut voxelizer = (job.voxels.of(Voxelizer::new()))
        .attributes(job.attributes.iter().copied())
        .transform(job.transform())
        .place_options(job.place_options())
        .up(job.up)
        .time_stages(job.json || job.verbose > 0)
        .kernel(job.compute.kernel.unwrap_or_default());
    if let Some(tile) = job.tile {
        voxelizer = voxelizer.tile(tile);
    }
    if let Some(lattice) = lattice {
        voxelizer = voxelizer.lattice(lattice);
    }
    voxelizer
}

/// Refuses options without effect, and contradictory options.
fn refuse_contradictions(job: &Job) -> Result<()> {
    let voxels = &job.voxels;
    job.compute.refuse_contradictions(voxels.mode(), job.check)?;
    voxels.refuse_contradictions()?;
    voxels.only_for_solids("--strict", job.strict)?;
    for (option, is_given) in [
        ("--interior-color", voxels.interior_color.is_some()),
        ("--filter", voxels.filter.is_some()),
    ] {
        if job.distance.is_some() && is_given {
            bail!("{option} is for voxels, but --distance writes distances: leave it out");
        }
    }
    if job.color == ColorSource::None && voxels.filter.is_some() {
        bail!("--filter is for textures, which --color none ignores: leave one of them out");
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
