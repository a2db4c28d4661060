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
mod readback;
mod stages;
mod upload;
mod work;
mod workspace;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use web_time::Instant;

#[cfg(not(target_arch = "wasm32"))]
use crate::backend::Backend;
use crate::backend::cpu::beyond::cross_beyond;
use crate::backend::gpu::buffers::{Sizes, mesh_buffer};
use crate::backend::gpu::crossings::CROSSING_BYTES;
use crate::backend::gpu::data::{BRICK_WORDS, GROUP, MAX_CANDIDATES, Pair};
use crate::backend::gpu::readback::{Lists, Readback};
use crate::backend::gpu::stages::{MAX_STEPS, Output, prepare};
use crate::backend::gpu::upload::{Batch, UNSHARED_WORDS};
use crate::backend::gpu::workspace::{Overflow, Workspace};
use crate::backend::report::{Report, milliseconds};
use crate::backend::{Kernel, Rule, Run, RunOptions, brick_pairs};
use crate::error::{BackendError, GridError};
use crate::gpu::{Adapter, Clock, Device, MAX_GROUPS};
use crate::grid::{BRICK, BrickKey, GridBuilder, Mask};
use crate::place::{Lattice, PlacedMesh};
use crate::progress::{NoProgress, Progress};
use crate::raymarch::gpu::GpuScene;

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
    /// Opens `adapter` and compiles the kernels of [`Rule::Touched`]; those of other rules when they are
    /// first asked for.
    ///
    /// # Errors
    /// The adapter lacks something, or its driver fails.
    pub async fn open(adapter: &Adapter) -> Result<Self, BackendError> {
        let device = adapter.open_async().await?;
        prepare(&device, Rule::Touched, Kernel::default())?;
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

    /// Voxelizes a mesh by [`Rule::Touched`], and leaves the voxels on the GPU as a scene for rays. Only
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
        if rule == Rule::Touched && grid.occupied() == 0 && mesh.outside() < mesh.len() {
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

/// The most that one run of the stages may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Triangles in one buffer, up to 48 bytes each.
    pub triangles: u32,
    /// (triangle, node) pairs of one level.
    pub pairs: u32,
    /// Bricks, 72 bytes each and up to 32 more for their table.
    pub bricks: u32,
    /// Crossings, where they are listed: 8 bytes each.
    pub crossings: u32,
    /// Candidates tested in one pass, so that a pass stays far from a driver's time limit.
    pub candidates: u32,
    /// Workgroups per dispatch dimension.
    pub groups: u32,
}

/// 800 MB of vertices and their numbers, whose words can be numbered in 32 bits.
const MAX_TRIANGLES: u32 = 1 << 24;
const _: () = assert!(MAX_TRIANGLES as u64 * (UNSHARED_WORDS as u64) < 1 << 32);
/// At most: 2^22 pairs have at most 2^31 candidates, so sums of candidates fit in 32 bits; and the
/// second step of the prefix sum is one workgroup for 4096 blocks.
const MAX_PAIRS: u32 = 1 << 22;
const _: () = assert!(MAX_PAIRS as u64 * (MAX_CANDIDATES as u64) < 1 << 32);
/// 144 MiB, and up to half as much again of tables.
const MAX_BRICKS: u32 = 1 << 21;
/// 128 MiB.
const MAX_CROSSINGS: u32 = 1 << 24;
/// Columns of a brick along an axis: as often does a triangle cross them.
const MIN_CROSSINGS: u32 = BRICK * BRICK;
/// At some two hundred operations each, half a second for a GPU of a tenth of a teraflop; drivers give
/// up after two or more.
const MAX_CANDIDATES_A_PASS: u32 = 1 << 28;
/// Room for a small mesh.
const MIN_PAIRS: u32 = 1 << 12;
const MIN_GROUPS: u32 = 64;
const _: () = assert!(MAX_CANDIDATES_A_PASS / GROUP <= MIN_GROUPS * MAX_GROUPS);

impl Budget {
    fn of(limits: &wgpu::Limits) -> Self {
        let bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let of_size = |size: usize| u32::try_from(bytes / size as u64).unwrap_or(u32::MAX);
        Self {
            triangles: of_size(4 * UNSHARED_WORDS).min(MAX_TRIANGLES),
            pairs: of_size(size_of::<Pair>()).min(MAX_PAIRS),
            bricks: of_size(4 * BRICK_WORDS).min(MAX_BRICKS),
            crossings: of_size(CROSSING_BYTES).min(MAX_CROSSINGS),
            candidates: MAX_CANDIDATES_A_PASS,
            // Some drivers claim 2^32 - 1, which sums in the shaders would overflow.
            groups: limits.max_compute_workgroups_per_dimension.min(MAX_GROUPS),
        }
    }

    fn at_most(&self, other: &Self) -> Self {
        Self {
            triangles: self.triangles.min(other.triangles).max(1),
            pairs: self.pairs.min(other.pairs).max(1),
            bricks: self.bricks.min(other.bricks).max(1),
            // What one triangle has in one brick, or splitting would not come to an end.
            crossings: self.crossings.min(other.crossings).max(MIN_CROSSINGS),
            // One pair's candidates, or splitting would not come to an end.
            candidates: self.candidates.min(other.candidates).max(MAX_CANDIDATES),
            // Two dimensions of this many, or of 65,535, cover all candidates of a pass.
            groups: self.groups.min(other.groups).max(MIN_GROUPS),
        }
    }
}

/// What a run is asked for: the same for all its batches and parts.
struct Job<'a> {
    mesh: &'a PlacedMesh,
    rule: Rule,
    kernel: Kernel,
    /// Whether the bricks stay on the GPU, all of one run; else they are read, part by part.
    keeps_bricks: bool,
    progress: &'a dyn Progress,
    /// Bricks that there is memory for.
    room: u64,
    budget: Budget,
    /// Where the steps are to be timed.
    clock: Option<&'a Clock>,
}

impl<'a> Job<'a> {
    /// The plain job: [`Rule::Touched`], with no more limits than `budget`.
    fn new(mesh: &'a PlacedMesh, budget: Budget) -> Self {
        Self {
            mesh,
            rule: Rule::Touched,
            kernel: Kernel::default(),
            keeps_bricks: false,
            progress: &NoProgress,
            room: u64::MAX,
            budget,
            clock: None,
        }
    }

    /// The highest level whose nodes are no larger than the grid, as the bit budget demands; at least
    /// bricks.
    fn top_level(&self) -> u32 {
        let dims = self.mesh.lattice().dims;
        let cube = dims[0].max(dims[1]).max(dims[2]).next_power_of_two();
        (cube.ilog2() / 3).max(1)
    }

    /// The error for what does not fit, of a job whose bricks stay on the GPU.
    fn too_large(&self, overflow: Overflow) -> BackendError {
        let too_large = |what, size: u64, limit: u64| BackendError::TooLarge { what, size, limit };
        match overflow {
            Overflow::Bricks(count) => {
                let of_bricks = |count: u32| 4 * BRICK_WORDS as u64 * u64::from(count);
                too_large("bricks", of_bricks(count), of_bricks(self.budget.bricks))
            }
            _ => {
                let of_pairs = |count: u64| size_of::<Pair>() as u64 * count;
                let limit = of_pairs(self.budget.pairs.into());
                too_large("candidates", of_pairs(brick_pairs(self.mesh)).max(limit + 1), limit)
            }
        }
    }
}

/// A part of a batch: some of its triangles, in some box of bricks (both inclusive).
#[derive(Debug, Clone)]
struct Part {
    triangles: Range<u32>,
    /// The word of the batch at which its vertices begin.
    vertex_words: u32,
    bricks_lo: [i32; 3],
    bricks_hi: [i32; 3],
    /// Its share of the progress.
    units: u64,
}

impl Part {
    /// All of `batch`, in the whole grid.
    fn whole(batch: &Batch, lattice: &Lattice) -> Self {
        Self {
            triangles: 0..batch.len(),
            vertex_words: batch.vertex_words(),
            bricks_lo: [0; 3],
            bricks_hi: lattice.dims.map(|d| ((d - 1) / BRICK) as i32),
            units: UNITS,
        }
    }

    fn triangle_count(&self) -> u32 {
        self.triangles.end - self.triangles.start
    }

    fn split(&self, overflow: Overflow) -> Option<[Self; 2]> {
        match overflow {
            // Halving the region halves the bricks; halving the triangles need not.
            Overflow::Bricks(_) => self.split_region().or_else(|| self.split_triangles()),
            Overflow::Pairs(_) | Overflow::Crossings(_) | Overflow::Candidates => {
                self.split_triangles().or_else(|| self.split_region())
            }
        }
    }

    fn split_triangles(&self) -> Option<[Self; 2]> {
        let Range { start, end } = self.triangles;
        let middle = start + (end - start) / 2;
        let [mut first, mut second] = self.halves();
        first.triangles = start..middle;
        second.triangles = middle..end;
        (start < middle).then_some([first, second])
    }

    fn split_region(&self) -> Option<[Self; 2]> {
        let size = |a: usize| self.bricks_hi[a] - self.bricks_lo[a];
        let axis = (0..3).max_by_key(|&a| size(a))?;
        let middle = self.bricks_lo[axis] + size(axis) / 2;
        let [mut first, mut second] = self.halves();
        first.bricks_hi[axis] = middle;
        second.bricks_lo[axis] = middle + 1;
        (size(axis) > 0).then_some([first, second])
    }

    fn halves(&self) -> [Self; 2] {
        let units = self.units / 2;
        [Self { units, ..self.clone() }, Self { units: self.units - units, ..self.clone() }]
    }
}

/// Units of progress for one buffer of triangles.
const UNITS: u64 = 1 << 20;

/// What the parts so far found.
#[derive(Default)]
struct Results {
    lists: Lists,
    /// Bricks that there was no room for.
    dropped: u64,
    /// The bricks of a job that keeps them on the GPU, and how many they are.
    kept: Option<(wgpu::Buffer, u32)>,
    report: Report,
}

/// Bytes that a brick takes until all are in order: in a list that may just have grown by moving,
/// where it was found, and in the grid.
const BYTES_A_BRICK: u64 =
    3 * size_of::<(BrickKey, Mask)>() as u64 + GridBuilder::BYTES_TO_ADD + GridBuilder::BYTES_KEPT;

impl Results {
    /// Past so many bricks they are only counted.
    fn keep(&mut self, room: u64) {
        let bricks = &mut self.lists.bricks;
        if self.dropped > 0 || bricks.len() as u64 > room {
            self.dropped += std::mem::take(bricks).len() as u64;
        }
    }

    /// Adds what no part finds: what columns cross beyond the ends of the grid.
    fn add_beyond(&mut self, job: &Job) {
        let beyond = cross_beyond(job.mesh, job.rule, job.room);
        self.lists.bricks.extend(beyond.bricks.into_iter().flatten());
        self.dropped += beyond.dropped;
        self.keep(job.room);
    }

    /// All bricks in order.
    fn build(self, job: &Job) -> Result<GridBuilder, GridError> {
        let grid = GridBuilder::new(job.rule.grid_dims(job.mesh.lattice().dims))?;
        let mut grid = grid.combining(job.rule.combine());
        grid.append(&[self.lists.bricks])?;
        Ok(grid)
    }
}

/// Bricks of a part where there is room for so many in all: 1 MB of them though there be none, lest
/// the parts that only find out how many there are become too many.
fn part_bricks(room: u64) -> u32 {
    const LEAST: u32 = 1 << 12;
    u32::try_from(room / 4).unwrap_or(u32::MAX).max(LEAST)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_stays_within_32_bits_whatever_a_driver_claims() {
        let limits = wgpu::Limits {
            max_compute_workgroups_per_dimension: u32::MAX,
            max_storage_buffer_binding_size: u64::MAX,
            max_buffer_size: u64::MAX,
            ..Default::default()
        };
        let budget = Budget::of(&limits);
        assert_eq!(budget.groups, MAX_GROUPS);
        assert_eq!((budget.triangles, budget.pairs), (MAX_TRIANGLES, MAX_PAIRS));
    }
}
