//! The main command: voxelizes one or many meshes, several at once, and reports them in order.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, Builder};

use anyhow::{Context, Error, Result};
use trivox::backend::Backends;
use trivox::base::ordered::Ordered;
use trivox::grid::Attribute;
use trivox::solid::Solid;
use trivox::{Lattice, Mode, NoProgress, Progress, Voxelizer};

use crate::ExitStatus;
use crate::cli::VoxelizeArgs;
use crate::console::CodedError;
use crate::inputs::Task;
use crate::memory::is_memory;
use crate::options::{read_lattice, start_threads};
use crate::plan::Plan;
use crate::progress::{TerminalProgress, explain_late};
use crate::report::Report;

pub fn run(mut job: VoxelizeArgs) -> Result<ExitStatus> {
    if job.distance.is_some() {
        job.voxels.mode = Some(Mode::Solid(Solid::default()));
    }
    if job.label.is_some() && job.distance.is_none() {
        job.attributes.push(Attribute::Label);
    }
    let job = &job;
    job.refuse_contradictions()?;
    start_threads(job.compute.threads)?;
    let lattice = job.lattice.as_deref().map(read_lattice).transpose()?;
    let voxelizer = voxelizer(job, lattice);
    voxelizer.check()?;
    let plan = &Plan::new(job, lattice.as_ref())?;
    let (tasks, memory) = (&plan.tasks, plan.memory);
    let progress = Arc::new(TerminalProgress::new(job.quiet));
    let mut report = Report::new(plan, &progress);
    report.start()?;
    // Of one mesh the steps are shown, of several how many are done.
    let mut steps: Arc<dyn Progress> = progress.clone();
    if plan.is_batch {
        steps = Arc::new(NoProgress);
        progress.count("meshes", tasks.len());
    }
    let backends = Backends::new(job.compute.backend, job.compute.adapter.clone());
    let backends = Arc::new(backends.for_meshes(tasks.len()));
    let voxelizer = voxelizer.backends(backends.clone()).progress(steps);
    let shares = voxelizer.memory_from(move || memory.left()).in_shares(memory.at_once);
    let made_by = |voxelizer: &Voxelizer, task: &Task| {
        // A panic is an error of one task, and the others go on.
        catch_unwind(AssertUnwindSafe(|| plan.run(task, voxelizer)))
            .unwrap_or_else(|panic| Err(bug(&*panic)))
            .map_err(|error| explain_late(memory.explain(error), job.time_limit, &task.mesh))
    };
    let work = |task: &Task| {
        let result = shares.run(task, made_by, is_memory);
        if plan.is_batch {
            progress.advance(1)
        } else {
            progress.finish()
        };
        result
    };
    thread::scope(|scope| {
        // With --resume there may be nothing to do.
        if !job.resume {
            // A GPU that is asked for is opened while the first mesh is read. If it panics, or no
            // thread can be started, the first mesh opens it, and has the error.
            let open = move || catch_unwind(AssertUnwindSafe(|| drop(backends.asked_for())));
            _ = Builder::new().spawn_scoped(scope, open);
        }
        let spawn = |thread: Builder, worker| thread.spawn_scoped(scope, worker).map(drop);
        let results = Ordered::new(tasks.iter(), memory.at_once, tasks.len(), &work, spawn);
        let results = results.context("cannot start a thread")?;
        tasks.iter().zip(results).try_for_each(|(task, result)| report.take(task, result))
    })?;
    Ok(report.finish())
}

/// The error for a panic, which is a bug.
fn bug(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let error = format!("{}: this is a bug in voxelize", text.unwrap_or("a panic"));
    CodedError { error, code: "bug" }.into()
}

/// The voxelizer with the options that all meshes share.
fn voxelizer(job: &VoxelizeArgs, lattice: Option<Lattice>) -> Voxelizer {
    let mut voxelizer = (job.voxels.apply_to(Voxelizer::new()))
        .attributes(job.attributes.iter().copied())
        .band(job.distance.unwrap_or(0.0))
        .transform(job.transform())
        .place_options(job.place_options())
        .up(job.up)
        .time_stages(job.json || job.verbose)
        .kernel(job.compute.kernel.unwrap_or_default());
    if let Some(limit) = job.time_limit {
        voxelizer = voxelizer.time_limit(limit);
    }
    if let Some(tile) = job.tile {
        voxelizer = voxelizer.tile(tile);
    }
    if let Some(lattice) = lattice {
        voxelizer = voxelizer.lattice(lattice);
    }
    voxelizer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_text() {
        let panics: [fn(); 2] = [|| panic!("a task"), || panic!("task {}", 1)];
        let texts = panics.map(|run| catch_unwind(run).map_err(|panic| bug(&*panic).to_string()));
        let expected =
            ["a task", "task 1"].map(|text| format!("{text}: this is a bug in voxelize"));
        assert_eq!(texts, expected.map(Err));
    }
}
