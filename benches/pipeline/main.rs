//! The main job, step by step, on both backends: the project's models, those in the folder that
//! `TRIVOX_MESHES` names, and some that are made here.
//!
//! Prints Markdown tables of milliseconds, each the fastest of several runs, and of ratios within
//! this run: of the backends, of the CPU to its floor, of all else to loading, and of each stage
//! of the GPU to the least time in which the device could move its bytes. The last table has the
//! figures that `auto` rests on. `--quick` takes one small resolution once; so does `cargo test`.
//!
//! Every grid of the GPU is compared with that of the CPU.

use std::time::Duration;

use common::{Patience, Result};
use floor::Rates;
use gpu::OpenGpu;
use job::Job;

mod auto;
#[path = "../common/mod.rs"]
mod common;
mod floor;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod hall;
mod job;
mod models;
mod pairs;
mod tables;

fn main() -> Result<()> {
    let quick = common::is_quick();
    let resolutions: &[u32] = if quick { &[64] } else { &[128, 256, 512, 1024] };
    let patience = if quick {
        Patience { runs: 1, time: Duration::ZERO }
    } else {
        Patience { runs: 4, time: Duration::from_millis(400) }
    };
    let gpu = OpenGpu::open();
    println!("CPU: {}", common::cpu_name());
    gpu.iter().for_each(|gpu| println!("GPU: {}", gpu.label()));

    let folder = tempfile::tempdir()?;
    let models = models::models(folder.path(), quick)?;
    tables::steps_head(gpu.is_some());
    let mut jobs = Vec::new();
    for model in &models {
        for &resolution in resolutions {
            let job = Job::measure(model, resolution, gpu.as_ref(), patience)?;
            tables::steps_row(&job);
            jobs.push(job);
        }
    }
    tables::floor(&jobs, &Rates::measure(patience)?);
    tables::whole_jobs(&jobs);
    if let Some(gpu) = gpu {
        gpu.print_stages(&models, resolutions[resolutions.len() - 1], patience.runs)?;
        auto::print(&jobs, &gpu, patience)?;
    }
    Ok(())
}
