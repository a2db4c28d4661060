//! Voxelization on a GPU: one invocation per (triangle, node) candidate, level by level, and
//! finally per (triangle, row of voxels) or (triangle, voxel) candidate ([`VoxelKernel`]), all with
//! the exact `touches`; rules that test columns use (triangle, column through a brick) candidates
//! and the exact `crosses`.
//!
//! A level takes (triangle, node) pairs, expands each to the child nodes within the triangle's
//! bounds, tests one child per invocation, and appends those touched to the pairs of the level
//! below. The candidates of the pairs that a workgroup appends are padded to whole workgroups. The
//! next level is dispatched over candidates, not pairs, so that its load is balanced. The last level
//! sets or flips bits in bricks. A bitmap of the bricks of the region gives them their indices, in
//! canonical order. Only these are read back, with the counters: a run is one submission and one
//! wait, and the grid of one run needs no sorting.
//!
//! Winding numbers need the number of crossings of a voxel by direction. A brick has a key for each
//! direction; bits mark the first crossing of a voxel, and a list takes the others, which the host
//! adds, after one more wait.
//!
//! A crossing is in one voxel, hence in one brick, and is found by the pair of its triangle and
//! this brick: exactly once, regardless of how the work is split.
//!
//! Buffers have fixed capacities. On overflow the stages continue to count without writing; the
//! host then enlarges the buffers, up to the [`BatchLimits`], or splits the work and combines the
//! results by union, parity or winding number. These operations are commutative, so the result does
//! not depend on order.
//!
//! A mesh is a `Job`. It runs in batches, which fit the mesh buffer, and these in sub-batches,
//! which fit the other buffers.

pub(crate) mod buffers;
mod crossings;
pub mod data;
pub(crate) mod job;
mod readback;
pub(crate) mod record;
mod self_test;
pub(crate) mod stages;
mod upload;
mod work;
pub(crate) mod workspace;

use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, OnceLock};

use web_time::Instant;
use wgpu::BufferUsages;

use crate::backend::gpu::buffers::{Buffers, Sizes};
use crate::backend::gpu::job::{
    BYTES_PER_BRICK, FIRST_CANDIDATES_A_PASS, Job, MAX_PAIRS, Overflow, Results, SubBatch, UNITS,
};
use crate::backend::gpu::self_test::{self_test, tested_as};
use crate::backend::gpu::stages::{MAX_STEPS, prepare};
use crate::backend::gpu::upload::{Batch, Uploaded};
use crate::backend::gpu::workspace::Workspace;
#[cfg(not(target_arch = "wasm32"))]
use crate::backend::turn::Turn;
use crate::backend::{
    BackendError, Rule, Run, RunOptions, VoxelKernel, brick_pairs, check_cancelled,
};
use crate::base::lock;
use crate::base::milliseconds;
use crate::base::progress::Progress;
use crate::gpu::{Adapter, Clock, Device, GpuError};
use crate::grid::BRICK;
use crate::lattice::PlacedMesh;

pub use job::BatchLimits;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use self_test::adversarial_mesh;
pub(crate) use self_test::{Random, adversarial_solid, touches_of};

/// Voxelizes on a GPU.
///
/// ```no_run
/// # use trivox::{Backend, NoProgress, backend::{Rule, RunOptions}};
/// # use trivox::{Gpu, gpu::Adapter};
/// # fn example(mesh: &trivox::PlacedMesh) -> Result<(), trivox::BackendError> {
/// let gpu = Gpu::new(&Adapter::find(None)?)?;
/// let options = RunOptions { time_stages: true, ..RunOptions::default() };
/// let run = Backend::Gpu(&gpu).run(mesh, Rule::Conservative, &options, &NoProgress)?;
/// for stage in run.report.unwrap_or_default().stages {
///     println!("{}: {:?} ms, {} bytes", stage.name, stage.ms, stage.bytes);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Gpu {
    device: Device,
    pub(crate) batch_limits: BatchLimits,
    /// Maximum number of candidates of the next pass, by the speed of the runs so far.
    pass_candidates: AtomicU32,
    /// Created when steps are first timed; `None` if the adapter has no timestamps.
    clock: OnceLock<Option<Clock>>,
    /// Reused by all meshes. A run takes it, and puts it back at its end.
    workspace: Mutex<Option<Workspace>>,
    /// Serializes blocking callers, so that they share one workspace.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) turn: Turn,
}

impl Gpu {
    /// Opens `adapter`, compiles the kernels of [`Rule::Conservative`], and tests them on a
    /// built-in mesh; those of other rules are compiled and tested before their first use.
    ///
    /// # Errors
    /// A limit of the adapter is too low, its driver fails, or it computes wrong voxels
    /// ([`GpuError::SelfTest`]).
    pub async fn open(adapter: &Adapter) -> Result<Self, BackendError> {
        Self::over(adapter.open_async().await?).tested().await
    }

    async fn tested(self) -> Result<Self, BackendError> {
        let test = self.test(Rule::Conservative, VoxelKernel::default());
        self.device.scoped(test).await?;
        Ok(self)
    }

    /// Over an open device, untested.
    fn over(device: Device) -> Self {
        let batch_limits = BatchLimits::of(&device.device.limits());
        Self {
            device,
            batch_limits,
            pass_candidates: AtomicU32::new(FIRST_CANDIDATES_A_PASS),
            clock: OnceLock::new(),
            workspace: Mutex::default(),
            #[cfg(not(target_arch = "wasm32"))]
            turn: Turn::default(),
        }
    }

    /// Tests the kernels of `rule`, the first time only.
    pub(crate) async fn test(&self, rule: Rule, kernel: VoxelKernel) -> Result<(), BackendError> {
        let (rule, kernel) = tested_as(rule, kernel);
        let test = async { self_test(&self.probe(), rule, kernel).await };
        let what = match rule {
            Rule::Conservative => format!("surfaces ({kernel})"),
            Rule::SixSeparating => "thin surfaces".to_owned(),
            Rule::Parity(axis) => format!("parity along {axis:?}"),
            Rule::Winding | Rule::Crossings => "crossings".to_owned(),
        };
        self.device.self_test(&what, test).await
    }

    /// A GPU on this device for self-tests. It has its own workspace, since the first real mesh
    /// determines the buffer sizes of a workspace. With one workgroup per dimension its dispatches
    /// are two-dimensional, like those of large meshes.
    pub(crate) fn probe(&self) -> Self {
        let probe = Self::over(self.device.clone());
        let limits = BatchLimits { groups: 1, bricks: 1 << 10, ..probe.batch_limits };
        probe.with_batch_limits(limits)
    }

    /// The blocking form of [`open`](Self::open).
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(adapter: &Adapter) -> Result<Self, BackendError> {
        Self::on_device(adapter.open()?)
    }

    /// On an open device, which may be [one of yours](Device::from_wgpu). Compiles and tests as
    /// [`open`](Self::open) does.
    ///
    /// # Errors
    /// Its driver fails, or it computes wrong voxels ([`GpuError::SelfTest`]).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn on_device(device: Device) -> Result<Self, BackendError> {
        // A device that hangs fails after its time limit.
        device.clone().block_on(Self::over(device).tested())
    }

    /// Limits runs to `batch_limits`, within the device's limits. Small ones split the work into
    /// many runs; the voxels are the same.
    #[must_use]
    pub fn with_batch_limits(self, batch_limits: BatchLimits) -> Self {
        let batch_limits = self.batch_limits.at_most(&batch_limits);
        Self { batch_limits, ..self }
    }

    /// The open device, for other work.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The asynchronous form of [`Backend::run`](crate::Backend::run). Concurrent runs each create
    /// their own buffers.
    ///
    /// # Errors
    /// Those of [`Backend::run`](crate::Backend::run); the kernels of `rule` fail their self-test.
    pub async fn run_async(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        let run = async {
            self.test(rule, options.kernel).await?;
            self.run_untested(mesh, rule, options, progress).await
        };
        self.device.scoped(run).await
    }

    async fn run_untested(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        let batches = mesh.len().div_ceil(self.batch_limits.triangles as usize);
        progress.start("voxelize", batches as u64 * UNITS);
        let room = options.memory / BYTES_PER_BRICK;
        // A quarter of the room, but at least 4,096 bricks, about 1 MB: that bounds the number of
        // sub-batches where bricks are only counted.
        let max_found = u32::try_from(room / 4).unwrap_or(u32::MAX).max(1 << 12);
        let job = Job {
            rule,
            kernel: options.kernel,
            progress,
            room,
            // A sub-batch is read back as a whole. Each crossing may take a brick.
            batch_limits: BatchLimits {
                bricks: self.batch_limits.bricks.min(max_found),
                crossings: self.batch_limits.crossings.min(max_found),
                ..self.batch_limits
            },
            clock: options.time_stages.then(|| self.clock()).flatten(),
            ..Job::new(mesh, self.batch_limits, &self.pass_candidates)
        };
        let mut results = self.voxelize_batches(&job).await?;
        if results.dropped > 0 {
            let needed = results.dropped * BYTES_PER_BRICK;
            return Err(BackendError::Memory { needed, allowed: options.memory });
        }
        let report = Some(std::mem::take(&mut results.report));
        let found = (results.build(&job))
            .map_err(|e| BackendError::Failed(format!("it returned a wrong grid: {e}")))?;
        let run = Run::new(found, report);
        // A driver may execute nothing without an error; a triangle inside the grid touches voxels.
        if rule == Rule::Conservative && run.grid.occupied() == 0 && mesh.outside() < mesh.len() {
            return Err(BackendError::Failed("it returned no voxels".into()));
        }
        Ok(run)
    }
}

const MIN_PAIRS: u32 = 1 << 12;
/// Minimum capacity of crossings: 128 KiB.
const MIN_CROSSINGS: u32 = 1 << 14;

impl Gpu {
    /// Runs a job, batch by batch.
    async fn voxelize_batches(&self, job: &Job<'_>) -> Result<Results, BackendError> {
        let max_triangles = self.batch_limits.triangles as usize;
        let mut results = Results::default();
        results.add_clamped(job);
        // Taken, so that the lock is not held across an await.
        let kept = lock(&self.workspace).take();
        let mut workspace = kept.unwrap_or_else(|| Workspace::new(&self.device));
        let run = async {
            for first in (0..job.mesh.len()).step_by(max_triangles) {
                let batch = Batch::new(job.mesh, first..job.mesh.len().min(first + max_triangles));
                self.voxelize_batch(job, &batch, &mut workspace, &mut results).await?;
            }
            Ok(())
        };
        let outcome = run.await;
        *lock(&self.workspace) = Some(workspace);
        outcome.map(|()| results)
    }

    /// Adds the voxels of the triangles of `batch`, in one sub-batch or as many as necessary.
    async fn voxelize_batch(
        &self,
        job: &Job<'_>,
        batch: &Batch,
        workspace: &mut Workspace,
        results: &mut Results,
    ) -> Result<(), BackendError> {
        let began = Instant::now();
        prepare(&self.device, job.rule, job.kernel)?;
        let dims = job.mesh.lattice().dims;
        let whole = SubBatch::of_grid(batch.len(), batch.vertex_words(), dims);
        let mut sub_batches = whole.slabs(job.rule);
        self.fit(workspace, job, batch, &sub_batches)?;
        let ready = Instant::now();
        let report = &mut results.report;
        let Workspace { buffers, uploaded, .. } = workspace;
        report.upload_bytes += uploaded.update(&self.device, &buffers.mesh, batch);
        self.device.check()?;
        report.host_ms.prepare += milliseconds(ready - began);
        report.host_ms.upload += milliseconds(ready.elapsed());

        while let Some(sub_batch) = sub_batches.pop() {
            check_cancelled(job.progress)?;
            match workspace.run(&self.device, job, &sub_batch, results).await? {
                None => {
                    results.limit_to(job.room);
                    job.progress.advance(sub_batch.units);
                }
                Some(overflow) if self.enlarge(workspace, &job.batch_limits, overflow)? => {
                    sub_batches.push(sub_batch);
                }
                Some(overflow) => {
                    // One triangle in one brick fits all limits: `None` is a bug.
                    let halves = sub_batch.split(overflow).ok_or_else(|| {
                        BackendError::Failed(format!("cannot divide the work: {overflow:?}"))
                    })?;
                    // A stack: the first half is next.
                    sub_batches.extend(halves.into_iter().rev());
                }
            }
        }
        Ok(())
    }

    fn clock(&self) -> Option<&Clock> {
        self.clock.get_or_init(|| Clock::new(&self.device, MAX_STEPS)).as_ref()
    }

    /// Makes room for `batch` and for the bitmap of each of its `slabs`. Sizes are estimated from
    /// the mesh, and only grow.
    fn fit(
        &self,
        workspace: &mut Workspace,
        job: &Job,
        batch: &Batch,
        slabs: &[SubBatch],
    ) -> Result<(), GpuError> {
        let Buffers { mesh, sizes, .. } = &workspace.buffers;
        let bitmap = slabs.iter().map(|slab| slab.bitmap_words(job.rule)).max().unwrap_or(0);
        let has_room = 4 * batch.words() <= mesh.size();
        if !has_room || sizes.bitmap < bitmap {
            let pairs = brick_pairs(job.mesh).clamp(MIN_PAIRS.into(), MAX_PAIRS.into()) as u32;
            let sizes = Sizes {
                pairs: pairs.min(self.batch_limits.pairs).max(sizes.pairs),
                bricks: pairs.min(self.batch_limits.bricks).max(sizes.bricks),
                crossings: MIN_CROSSINGS.min(self.batch_limits.crossings).max(sizes.crossings),
                bitmap: bitmap.max(sizes.bitmap),
            };
            let mesh = if has_room {
                mesh.clone()
            } else {
                workspace.uploaded = Uploaded::default();
                self.device.checked_buffer("mesh", batch.words(), BufferUsages::STORAGE)?
            };
            workspace.buffers = Buffers::new(&self.device, mesh, sizes);
            self.device.check()?;
        }
        workspace.readback.predict(&self.device, job.rule, || expected_bricks(job.mesh))
    }

    /// Enlarges the buffer that overflowed, if the limits allow. Returns whether it did.
    fn enlarge(
        &self,
        workspace: &mut Workspace,
        batch_limits: &BatchLimits,
        overflow: Overflow,
    ) -> Result<bool, GpuError> {
        let mut larger = workspace.buffers.sizes;
        let (needs, size, limit) = match overflow {
            Overflow::Pairs(needs) => (needs, &mut larger.pairs, batch_limits.pairs),
            Overflow::Bricks(needs) => (needs, &mut larger.bricks, batch_limits.bricks),
            Overflow::Crossings(needs) => (needs, &mut larger.crossings, batch_limits.crossings),
            Overflow::Candidates => return Ok(false),
        };
        // At least double, since the count after an overflow may be too low.
        *size = needs.max(2 * *size).min(limit);
        if needs > limit || larger == workspace.buffers.sizes {
            return Ok(false);
        }
        let mesh = workspace.buffers.mesh.clone();
        workspace.buffers = Buffers::new(&self.device, mesh, larger);
        self.device.check()?;
        Ok(true)
    }
}

/// Estimated number of bricks of `mesh`, at least 1: a closed surface that fills the grid has about
/// as many as the grid's outer layer.
fn expected_bricks(mesh: &PlacedMesh) -> u32 {
    let [x, y, z] = mesh.lattice().dims.map(|d| u64::from(d.div_ceil(BRICK)));
    let outer = 2 * (x * y + y * z + z * x);
    u32::try_from(brick_pairs(mesh).max(1).min(outer)).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::backend::Backend;
    use crate::backend::gpu::data::MAX_CANDIDATES;
    use crate::base::progress::NoProgress;
    use crate::gpu::promised;

    #[test]
    fn the_speed_that_a_run_finds_is_that_of_the_next() {
        let mesh = adversarial_mesh([64; 3], &[(300, 30)]);
        for adapter in promised() {
            let gpu = Gpu::new(&adapter).unwrap();
            gpu.pass_candidates.store(MAX_CANDIDATES, Relaxed);
            let runs = || {
                let options = RunOptions::default();
                let run = Backend::Gpu(&gpu).run(&mesh, Rule::Conservative, &options, &NoProgress);
                run.unwrap().report.unwrap().runs
            };
            let both = [runs(), runs()];
            assert!(both[0] > 1 && both[1] == 1, "{}: {both:?}", adapter.label());
        }
    }
}
