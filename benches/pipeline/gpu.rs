//! The GPU that would be used, and the table of its stages.

use std::path::Path;

use trivox::backend::gpu::Gpu;
use trivox::backend::report::{RunReport, StageReport};
use trivox::backend::{Rule, Run, RunOptions, VoxelKernel};
use trivox::formats::read_mesh;
use trivox::gpu::{Adapter, Device};
use trivox::{Backend, BackendError, NoProgress, PlaceOptions, PlacedMesh, Sizing, place};
use wgpu::BufferUsages as Usage;

use crate::common::{Result, timed};
use crate::models::Model;

/// A GPU, ready for a mesh.
pub struct OpenGpu {
    gpu: Gpu,
    label: String,
    start_ms: f64,
}

impl OpenGpu {
    /// The preferred one; `None` where there is none or it does not start, which is said.
    pub fn open() -> Option<Self> {
        let (opened, start_ms) = timed(|| {
            let adapter = Adapter::find(None).ok()?;
            Some((Gpu::new(&adapter), adapter))
        });
        let (gpu, adapter) = opened?;
        let label = format!("{}, {}", adapter.label(), adapter.driver());
        match gpu {
            Ok(gpu) => Some(Self { gpu, label, start_ms }),
            Err(error) => {
                eprintln!("{label}: {error}");
                None
            }
        }
    }

    /// Its name and its driver's.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The surface of a mesh.
    pub fn run(&self, mesh: &PlacedMesh) -> std::result::Result<Run, BackendError> {
        let options = RunOptions::default();
        Backend::Gpu(&self.gpu).run(mesh, Rule::Conservative, &options, &NoProgress)
    }

    /// Milliseconds that it took to find and to open it.
    pub fn start_ms(&self) -> f64 {
        self.start_ms
    }

    /// Prints the stages of each model, and what they cost the host.
    pub fn print_stages(&self, models: &[Model], resolution: u32, runs: u32) -> Result<()> {
        let rate = copy_rate(self.gpu.device())?;
        let mut reports = Vec::new();
        for model in models {
            for (kernel, what) in [(VoxelKernel::Rows, ""), (VoxelKernel::Voxels, ", by voxels")] {
                let report = fastest_run(&self.gpu, &model.path, (resolution, kernel), runs)?;
                reports.push((format!("{}{what}", model.name), report));
            }
        }
        print_reports(&reports, resolution, rate);
        Ok(())
    }
}

fn print_reports(reports: &[(String, RunReport)], resolution: u32, rate: f64) {
    println!("\n### GPU stages at {resolution} voxels\n");
    println!("Buffers are copied at {:.1} GB/s, reading and writing.\n", rate / 1e9);
    println!("| mesh | stage | ms | items | M items/s | MB | GB/s | bound ms | ms / bound |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, report) in reports {
        report.stages.iter().for_each(|stage| row(name, stage, rate));
        row(name, &all_stages(report), rate);
    }
    println!("\n### GPU runs at {resolution} voxels, time on the host (milliseconds)\n");
    println!("| mesh | runs | waits | MB up | MB back | upload | submit | wait | read |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (name, report) in reports {
        let RunReport { runs, waits, host_ms: ms, .. } = report;
        let [up, back] = [report.upload_bytes, report.read_bytes].map(|bytes| bytes as f64 / 1e6);
        print!("| {name} | {runs} | {waits} | {up:.2} | {back:.2} ");
        println!("| {:.3} | {:.3} | {:.3} | {:.3} |", ms.upload, ms.submit, ms.wait, ms.read);
    }
}

fn row(mesh: &str, stage: &StageReport, rate: f64) {
    let (ms, bytes) = (stage.ms.unwrap_or(f64::NAN), stage.bytes as f64);
    let floor = bytes / rate * 1e3;
    println!(
        "| {mesh} | {} | {ms:.3} | {} | {:.1} | {:.2} | {:.1} | {floor:.4} | {:.1} |",
        stage.name,
        stage.invocations,
        stage.invocations as f64 / ms / 1e3,
        bytes / 1e6,
        bytes / ms / 1e6,
        ms / floor,
    );
}

fn all_stages(report: &RunReport) -> StageReport {
    let sum = |of: fn(&StageReport) -> u64| report.stages.iter().map(of).sum();
    StageReport {
        name: "all",
        ms: report.gpu_ms(),
        dispatches: report.stages.iter().map(|stage| stage.dispatches).sum(),
        invocations: sum(|stage| stage.invocations),
        tests: sum(|stage| stage.tests),
        bytes: sum(|stage| stage.bytes),
    }
}

/// The report of the fastest of `runs` runs after a first, which sizes the buffers.
fn fastest_run(
    gpu: &Gpu,
    path: &Path,
    (resolution, kernel): (u32, VoxelKernel),
    runs: u32,
) -> Result<RunReport> {
    let mesh = read_mesh(path)?.mesh;
    let mesh = place(&mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
    let options = RunOptions { time_stages: true, kernel, ..RunOptions::default() };
    Backend::Gpu(gpu).run(&mesh, Rule::Conservative, &options, &NoProgress)?;
    let mut fastest: Option<RunReport> = None;
    for _ in 0..runs {
        let report = Backend::Gpu(gpu)
            .run(&mesh, Rule::Conservative, &options, &NoProgress)?
            .report
            .ok_or("a run reports")?;
        let time = |report: &RunReport| report.gpu_ms().unwrap_or(report.host_ms.wait);
        if fastest.as_ref().is_none_or(|fastest| time(&report) < time(fastest)) {
            fastest = Some(report);
        }
    }
    Ok(fastest.ok_or("at least one run")?)
}

/// Bytes of the buffer that is copied to find the device's bandwidth: past any cache.
const COPIED: u64 = 256 << 20;
/// Copies of it in the longer of two submissions.
const COPIES: u32 = 9;

/// Bytes a second that the device reads and writes when it copies a buffer. The difference of a
/// submission of nine copies and one of a single copy, so that a submission's own cost is not in
/// it.
fn copy_rate(device: &Device) -> Result<f64> {
    let bytes = COPIED.min(device.device.limits().max_buffer_size);
    let buffer = || device.buffer("copied", bytes / 4, Usage::COPY_SRC | Usage::COPY_DST);
    let (from, to) = (buffer(), buffer());
    let time = |copies: u32| -> Result<f64> {
        let mut encoder = device.device.create_command_encoder(&Default::default());
        (0..copies).for_each(|_| encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes));
        let (waited, ms) = timed(|| {
            device.queue.submit([encoder.finish()]);
            device.device.poll(wgpu::PollType::wait_indefinitely())
        });
        waited?;
        Ok(ms / 1e3)
    };
    time(1)?;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..3 {
        best = [best[0].min(time(1)?), best[1].min(time(COPIES)?)];
    }
    device.check()?;
    let seconds = (best[1] - best[0]).max(f64::MIN_POSITIVE) / f64::from(COPIES - 1);
    Ok(2.0 * bytes as f64 / seconds)
}
