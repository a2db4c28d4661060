//! Voxelizing on a GPU: one invocation per (triangle, node) candidate, level by level, and finally per
//! (triangle, row of voxels) or (triangle, voxel) candidate ([`Kernel`]), all with the exact `touches`;
//! or, by rules that test columns, per (triangle, column through a brick) candidate, with the exact
//! `crosses`.
//!
//! A level takes pairs of a triangle and a node, expands each to the child nodes inside the
//! triangle's bounds, tests one child per invocation, and keeps those touched as the pairs of the
//! level below. A prefix sum over the pairs' candidate counts balances the load. The last level sets or
//! flips bits in bricks, which a hash table numbers; or, for winding numbers, lists crossings. Only
//! these are read back, with the counters: a run is one submission and one wait.
//!
//! A crossing is in one voxel, so in one brick, and found by the pair of its triangle and this brick:
//! once, whatever the parts.
//!
//! Buffers have fixed sizes. Where one is full the stages go on counting without writing; the host
//! then enlarges the buffers, up to the [`Budget`], or splits the work and combines the results of the
//! parts, by union, parity or winding number. None of these depends on order, so neither does the
//! result.
//!
//! A mesh is a [`Job`], run in batches of triangles that fit one buffer, and these in parts that fit the
//! others.

/// The adapters of a machine, under their former path.
pub mod adapters {
    pub use crate::gpu::{Adapter, Device};
}
mod buffers;
mod crossings;
pub mod data;
mod job;
mod readback;
mod stages;
mod upload;
mod work;
mod workspace;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use web_time::Instant;

use crate::error::BackendError;
use crate::gpu::{Adapter, Clock, Device};
use crate::grid::BRICK;
use crate::place::PlacedMesh;
use crate::progress::Progress;
use crate::trace::gpu::GpuScene;
#[cfg(not(target_arch = "wasm32"))]
use crate::voxelize::Backend;
use crate::voxelize::gpu::buffers::{Sizes, mesh_buffer};
use crate::voxelize::gpu::job::{
    BYTES_A_BRICK, Job, MAX_PAIRS, MIN_CROSSINGS, Overflow, Part, Results, UNITS, part_bricks,
};
use crate::voxelize::gpu::readback::Readback;
use crate::voxelize::gpu::stages::{MAX_STEPS, Output, prepare};
use crate::voxelize::gpu::upload::{Batch, UNSHARED_WORDS};
use crate::voxelize::gpu::workspace::Workspace;
use crate::voxelize::report::milliseconds;
use crate::voxelize::{Kernel, Rule, Run, RunOptions, brick_pairs};

pub use job::Budget;

/// Voxelizes on a GPU.
///
/// ```no_run
/// # use trivox::{Backend, NoProgress, backend::{Rule, RunOptions}};
/// # use trivox::{Gpu, gpu::Adapter};
/// # fn example(mesh: &trivox::PlacedMesh) -> Result<(), trivox::BackendError> {
/// let gpu = Gpu::new(&Adapter::find(None)?)?;
/// let options = RunOptions { time_stages: true, ..RunOptions::default() };
/// let run = gpu.run(mesh, Rule::Touched, &options, &NoProgress)?;
/// for stage in run.report.unwrap_or_default().stages {
///     println!("{}: {:?} ms, {} bytes", stage.name, stage.ms, stage.bytes);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Gpu {
    device: Device,
    budget: Budget,
    /// Made when steps are first to be timed; `None` where they cannot be.
    clock: OnceLock<Option<Clock>>,
    /// Kept from one mesh to the next. A run takes it out, and puts it back at its end.
    workspace: Mutex<Option<Workspace>>,
    /// Held by a blocking run, so that those of several threads share one workspace.
    #[cfg(not(target_arch = "wasm32"))]
    turn: Mutex<()>,
}

impl Gpu {
    /// Opens `adapter` and compiles the kernels of [`Rule::Conservative`]; those of other rules when they are
    /// first asked for.
    ///
    /// # Errors
    /// The adapter lacks something, or its driver fails.
    pub async fn open(adapter: &Adapter) -> Result<Self, BackendError> {
        let device = adapter.open_async().await?;
        prepare(&device, Rule::Conservative, Kernel::default())?;
        let budget = Budget::of(&device.device.limits());
        Ok(Self {
            device,
            budget,
            clock: OnceLock::new(),
            workspace: Mutex::default(),
            #[cfg(not(target_arch = "wasm32"))]
            turn: Mutex::default(),
        })
    }

    /// [`open`](Self::open), and waits.
    ///
    /// # Errors
    /// The adapter lacks something, or its driver fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(adapter: &Adapter) -> Result<Self, BackendError> {
        pollster::block_on(Self::open(adapter))
    }

    /// With at most `budget` of everything, and no more than the device allows. Small budgets make
    /// the work run in many parts; the voxels are the same.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        let budget = self.budget.at_most(&budget);
        Self { budget, ..self }
    }

    /// The open device, to run other work on it.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Voxelizes a mesh by [`Rule::Conservative`], and leaves the voxels on the GPU as a scene for rays. Only
    /// counters are read back.
    ///
    /// # Errors
    /// The triangles, the work or the voxels do not fit there at once; the device fails.
    pub async fn scene_async(&self, mesh: &PlacedMesh) -> Result<GpuScene, BackendError> {
        let job = Job { keeps_bricks: true, ..Job::new(mesh, self.budget) };
        let results = self.voxelize_batches(&job).await?;
        let (bricks, count) =
            results.kept.ok_or_else(|| BackendError::Device("it returned no bricks".into()))?;
        GpuScene::over_bricks(&self.device, mesh.lattice().dims, bricks, count).await
    }

    /// [`scene_async`](Self::scene_async), and waits.
    ///
    /// # Errors
    /// The triangles, the work or the voxels do not fit there at once; the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn scene(&self, mesh: &PlacedMesh) -> Result<GpuScene, BackendError> {
        let _turn = lock(&self.turn);
        self.device.block_on(self.scene_async(mesh))
    }

    /// The asynchronous form of [`Backend::run`](crate::Backend::run). Runs that overlap each make
    /// buffers of their own.
    ///
    /// # Errors
    /// Those of [`Backend::run`](crate::Backend::run).
    pub async fn run_async(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        let batches = mesh.len().div_ceil(self.budget.triangles as usize);
        progress.start("voxelize", batches as u64 * UNITS);
        let room = options.memory / BYTES_A_BRICK;
        let most_found = part_bricks(room);
        let job = Job {
            rule,
            kernel: options.kernel,
            progress,
            room,
            // Of a part, which is read whole. A crossing may take a brick.
            budget: Budget {
                bricks: self.budget.bricks.min(most_found),
                crossings: self.budget.crossings.min(most_found),
                ..self.budget
            },
            clock: options.time_stages.then(|| self.clock()).flatten(),
            ..Job::new(mesh, self.budget)
        };
        let mut results = self.voxelize_batches(&job).await?;
        if results.dropped > 0 {
            let needed = results.dropped * BYTES_A_BRICK;
            return Err(BackendError::Memory { needed, allowed: options.memory });
        }
        let report = Some(std::mem::take(&mut results.report));
        let builder = (results.build(&job))
            .map_err(|e| BackendError::Device(format!("it returned a wrong grid: {e}")))?;
        let windings = builder.windings();
        let (grid, crossings) = builder.finish_with_crossings();
        // A driver that runs nothing and reports nothing: a triangle inside the grid touches voxels.
        if rule == Rule::Conservative && grid.occupied() == 0 && mesh.outside() < mesh.len() {
            return Err(BackendError::Device("it returned no voxels".into()));
        }
        Ok(Run { grid, windings, crossings, report })
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Backend for Gpu {
    fn run(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        let _turn = lock(&self.turn);
        self.device.block_on(self.run_async(mesh, rule, options, progress))
    }
}

/// Room for the pairs of a small mesh.
const MIN_PAIRS: u32 = 1 << 12;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// All that a job finds, batch after batch of its triangles.
    async fn voxelize_batches(&self, job: &Job<'_>) -> Result<Results, BackendError> {
        let most = self.budget.triangles as usize;
        if job.keeps_bricks && job.mesh.len() > most {
            let of_triangles = |count: usize| 4 * UNSHARED_WORDS as u64 * count as u64;
            let (size, limit) = (of_triangles(job.mesh.len()), of_triangles(most));
            return Err(BackendError::TooLarge { what: "triangles", size, limit });
        }
        let mut results = Results::default();
        results.add_beyond(job);
        // Out of the lock, which is not held while this waits.
        let mut workspace = lock(&self.workspace).take();
        let mut outcome = Ok(());
        for first in (0..job.mesh.len()).step_by(most) {
            let batch = Batch::new(job.mesh, first..job.mesh.len().min(first + most));
            outcome = self.voxelize_batch(job, &batch, &mut workspace, &mut results).await;
            if outcome.is_err() {
                break;
            }
        }
        *lock(&self.workspace) = workspace;
        outcome.map(|()| results)
    }

    /// Adds what the triangles of `batch` have, in one part or as many as are necessary.
    async fn voxelize_batch(
        &self,
        job: &Job<'_>,
        batch: &Batch<'_>,
        workspace: &mut Option<Workspace>,
        results: &mut Results,
    ) -> Result<(), BackendError> {
        let began = Instant::now();
        prepare(&self.device, job.rule, job.kernel)?;
        let workspace = self.workspace_for(job, batch, workspace)?;
        let ready = Instant::now();
        batch.upload(&self.device, workspace.mesh());
        self.device.check()?;
        let report = &mut results.report;
        report.upload_bytes += 4 * batch.words();
        report.host_ms.prepare += milliseconds(ready - began);
        report.host_ms.upload += milliseconds(ready.elapsed());

        let mut parts = vec![Part::whole(batch, job.mesh.lattice())];
        while let Some(part) = parts.pop() {
            match workspace.run(&self.device, job, &part, results).await? {
                None => {
                    results.keep(job.room);
                    job.progress.advance(part.units);
                }
                Some(overflow) if self.enlarge(workspace, &job.budget, overflow)? => {
                    parts.push(part);
                }
                Some(overflow) if job.keeps_bricks => return Err(job.too_large(overflow)),
                Some(overflow) => {
                    // One triangle in one brick fits any budget, so this is our own bug.
                    let halves = part.split(overflow).ok_or_else(|| {
                        BackendError::Device(format!("cannot divide the work: {overflow:?}"))
                    })?;
                    parts.extend(halves);
                }
            }
        }
        Ok(())
    }

    fn clock(&self) -> Option<&Clock> {
        self.clock.get_or_init(|| Clock::new(&self.device, MAX_STEPS)).as_ref()
    }

    /// The workspace, made on first use for what the mesh is likely to need, with room for `batch`.
    fn workspace_for<'a>(
        &self,
        job: &Job,
        batch: &Batch,
        workspace: &'a mut Option<Workspace>,
    ) -> Result<&'a mut Workspace, BackendError> {
        let output = Output::of(job.rule);
        let is_enough = |kept: &Workspace| {
            kept.mesh().size() >= 4 * batch.words() && kept.sizes().room(output) > 0
        };
        let new = match workspace.take() {
            Some(kept) if is_enough(&kept) => kept,
            Some(kept) => {
                let (sizes, readback) = kept.into_parts();
                self.new_workspace(job, batch, sizes, readback)?
            }
            None => {
                let readback = Readback::new(&self.device);
                self.new_workspace(job, batch, Sizes::default(), readback)?
            }
        };
        let workspace = workspace.insert(new);
        workspace.expect(&self.device, job.rule, || likely(output, job.mesh))?;
        Ok(workspace)
    }

    /// A workspace no smaller than `kept`.
    fn new_workspace(
        &self,
        job: &Job,
        batch: &Batch,
        kept: Sizes,
        readback: Readback,
    ) -> Result<Workspace, BackendError> {
        let pairs = brick_pairs(job.mesh).clamp(MIN_PAIRS.into(), MAX_PAIRS.into()) as u32;
        let crossings = match Output::of(job.rule) {
            Output::Bricks => 0,
            Output::Crossings => likely(Output::Crossings, job.mesh),
        };
        let sizes = Sizes {
            pairs: pairs.min(self.budget.pairs).max(kept.pairs),
            bricks: pairs.min(self.budget.bricks).max(kept.bricks),
            crossings: crossings.min(self.budget.crossings).max(kept.crossings),
        };
        let mesh = mesh_buffer(&self.device, batch.words())?;
        Workspace::new(&self.device, mesh, sizes, readback)
    }

    /// Makes room for what did not fit, if the budget allows, and says whether it did.
    fn enlarge(
        &self,
        workspace: &mut Workspace,
        budget: &Budget,
        overflow: Overflow,
    ) -> Result<bool, BackendError> {
        let sizes = workspace.sizes();
        // At least double, since counting stops being complete where something was dropped.
        let larger = |has: u32, needs: u32, most: u32| needs.max(2 * has).min(most);
        let larger = match overflow {
            Overflow::Pairs(needs) if needs <= budget.pairs => {
                Sizes { pairs: larger(sizes.pairs, needs, budget.pairs), ..sizes }
            }
            Overflow::Bricks(needs) if needs <= budget.bricks => {
                Sizes { bricks: larger(sizes.bricks, needs, budget.bricks), ..sizes }
            }
            Overflow::Crossings(needs) if needs <= budget.crossings => {
                Sizes { crossings: larger(sizes.crossings, needs, budget.crossings), ..sizes }
            }
            _ => return Ok(false),
        };
        if larger == sizes {
            return Ok(false);
        }
        workspace.resize(&self.device, larger)?;
        Ok(true)
    }
}

/// What a run on all of `mesh` is likely to find; at least one.
fn likely(output: Output, mesh: &PlacedMesh) -> u32 {
    let (pairs, dims) = (brick_pairs(mesh).max(1), mesh.lattice().dims);
    let most = match output {
        Output::Bricks => pairs.min(shell_bricks(dims)),
        // A closed surface that fills the grid is crossed twice by each column along x.
        Output::Crossings => {
            let [_, y, z] = dims.map(u64::from);
            (pairs * u64::from(MIN_CROSSINGS)).min(2 * y * z)
        }
    };
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// Bricks of the shell of a grid: about as many as a closed surface that fills the grid has.
fn shell_bricks(dims: [u32; 3]) -> u64 {
    let [x, y, z] = dims.map(|d| u64::from(d.div_ceil(BRICK)));
    2 * (x * y + y * z + z * x)
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("device", &self.device).field("budget", &self.budget).finish()
    }
}
