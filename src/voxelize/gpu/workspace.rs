//! One run: a part of a mesh through all stages.

use std::collections::HashMap;
use std::ops::Range;

use web_time::Instant;
use wgpu::BufferUsages as Usage;

use crate::error::BackendError;
use crate::gpu::{Constants, Device, dispatch};
use crate::predicate::crosses::Axis;
use crate::voxelize::Rule;
use crate::voxelize::gpu::buffers::{Buffers, PARAMS_STRIDE, Sizes, UPPER_SHARE};
use crate::voxelize::gpu::data::{
    BRICKS, BRICKS_FULL, CROSSINGS, FAILURES, GROUP, LEVELS, PAIRS, PAIRS_FULL, Params, SCAN_BLOCK,
    TOO_MANY_CANDIDATES,
};
use crate::voxelize::gpu::job::{Job, Overflow, Part, Results};
use crate::voxelize::gpu::readback::{self, CLOCK_AT, Readback, Source};
use crate::voxelize::gpu::stages::{Output, Size, Stage, Step, steps};
use crate::voxelize::gpu::work::{Counts, work};
use crate::voxelize::report::{RunReport, StageReport, milliseconds};

/// The buffers, and how to use them: kept from one run to the next.
pub(super) struct Workspace {
    buffers: Buffers,
    /// Made when a step is first run.
    bind_groups: HashMap<(Stage, Constants, u32), Vec<wgpu::BindGroup>>,
    readback: Readback,
}

impl Workspace {
    /// Of the given sizes, for the mesh in `mesh`.
    pub(super) fn new(
        device: &Device,
        mesh: wgpu::Buffer,
        sizes: Sizes,
        readback: Readback,
    ) -> Result<Self, BackendError> {
        let buffers = Buffers::new(device, mesh, sizes);
        device.check()?;
        Ok(Self { buffers, bind_groups: HashMap::new(), readback })
    }

    /// Gives it other sizes, for the same mesh.
    pub(super) fn resize(&mut self, device: &Device, sizes: Sizes) -> Result<(), BackendError> {
        self.buffers = Buffers::new(device, self.mesh().clone(), sizes);
        self.bind_groups.clear();
        device.check()
    }

    /// Its sizes, and what it knows of runs.
    pub(super) fn into_parts(self) -> (Sizes, Readback) {
        (self.buffers.sizes, self.readback)
    }

    /// The sizes that it was made with.
    pub(super) fn sizes(&self) -> Sizes {
        self.buffers.sizes
    }

    /// The mesh's buffer.
    pub(super) fn mesh(&self) -> &wgpu::Buffer {
        &self.buffers.mesh
    }

    /// Runs all stages on a part of the uploaded mesh, and adds what they find to `results`: nothing
    /// where something did not fit. A job that keeps its bricks on the GPU gets a copy of them there.
    pub(super) async fn run(
        &mut self,
        device: &Device,
        job: &Job<'_>,
        part: &Part,
        results: &mut Results,
    ) -> Result<Option<Overflow>, BackendError> {
        let Results { lists, report, .. } = results;
        let began = Instant::now();
        let steps = steps(job.rule, job.kernel, job.top_level());
        self.bind(device, &steps)?;
        let mut encoder = device.encoder();
        self.record(device, job, part, &steps, &mut encoder);
        report.host_ms.submit += milliseconds(began.elapsed());

        let (output, sizes) = (Output::of(job.rule), self.buffers.sizes);
        let expected = match job.keeps_bricks {
            true => 0,
            false => self.readback.expected(job.rule).min(sizes.room(output)),
        };
        let read = |staging: &[u8]| {
            let counters = readback::counters(staging);
            if overflow(&counters, &sizes, job).is_none() {
                lists.extend(output, staging, counters[output.counter()].min(expected) as usize);
            }
            let times = |clock: &crate::gpu::Clock| {
                clock.milliseconds(&staging[CLOCK_AT..readback::LIST_AT as usize])
            };
            (counters, job.clock.map(times))
        };
        let source = self.source(output, 0..expected);
        let fetched = self.readback.fetch(device, encoder, &source, report, read);
        let (counters, times) = fetched.await?;
        let counts = Counts::new(part.triangle_count(), &counters, &sizes);
        add_work(report, &steps, &counts, times.as_deref());

        let overflow = overflow(&counters, &sizes, job);
        if overflow.is_some() {
            return Ok(overflow);
        }
        let found = counters[output.counter()];
        if job.keeps_bricks {
            results.kept = Some((self.copy_bricks(device, found)?, found));
            return Ok(None);
        }
        if found > expected {
            self.read_rest(device, output, expected..found, results).await?;
        }
        self.readback.learn(job.rule, found);
        let began = Instant::now();
        results.lists.count_crossings();
        results.report.host_ms.read += milliseconds(began.elapsed());
        Ok(None)
    }

    /// The first `count` bricks in a buffer of their own.
    fn copy_bricks(&self, device: &Device, count: u32) -> Result<wgpu::Buffer, BackendError> {
        let bytes = Output::Bricks.bytes() * u64::from(count);
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        let bricks = device.buffer("bricks", bytes / 4, usage);
        let mut encoder = device.encoder();
        encoder.copy_buffer_to_buffer(&self.buffers.bricks, 0, &bricks, 0, bytes);
        device.queue.submit([encoder.finish()]);
        device.check()?;
        Ok(bricks)
    }

    /// Expects about `guess()` of the first run by `rule`.
    pub(super) fn expect(
        &mut self,
        device: &Device,
        rule: Rule,
        guess: impl FnOnce() -> u32,
    ) -> Result<(), BackendError> {
        self.readback.expect(device, rule, guess)
    }

    /// Reads what was not expected, and makes room for as much in later runs, and an eighth more.
    async fn read_rest(
        &mut self,
        device: &Device,
        output: Output,
        rest: Range<u32>,
        results: &mut Results,
    ) -> Result<(), BackendError> {
        let Results { lists, report, .. } = results;
        let room = rest.end.saturating_add(rest.end / 8).min(self.buffers.sizes.room(output));
        self.readback.grow(device, output, room)?;
        let source = self.source(output, rest);
        let read = |staging: &[u8]| lists.extend(output, staging, source.range.len());
        self.readback.fetch(device, device.encoder(), &source, report, read).await
    }

    fn source(&self, output: Output, range: Range<u32>) -> Source<'_> {
        Source { buffer: self.buffers.list(output), output, range }
    }

    /// Makes the bind groups of `steps` that are new.
    fn bind(&mut self, device: &Device, steps: &[Step]) -> Result<(), BackendError> {
        for step in steps {
            if !self.bind_groups.contains_key(&step.key()) {
                self.bind_groups.insert(step.key(), self.buffers.bind(device, step)?);
            }
        }
        Ok(())
    }

    fn record(
        &self,
        device: &Device,
        job: &Job,
        part: &Part,
        steps: &[Step],
        encoder: &mut wgpu::CommandEncoder,
    ) {
        let mut params = [0; LEVELS * PARAMS_STRIDE];
        for (level, bytes) in params.chunks_exact_mut(PARAMS_STRIDE).enumerate() {
            let level = self.params_of(job, part, level as u32);
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&level));
        }
        device.queue.write_buffer(&self.buffers.params, 0, &params);
        encoder.clear_buffer(&self.buffers.counters, 0, None);
        encoder.clear_buffer(&self.buffers.table, 0, None);
        // Steps are timed as passes; all in one pass they are a little faster.
        let steps_a_pass = if job.clock.is_some() { 1 } else { steps.len() };
        for (index, steps) in steps.chunks(steps_a_pass).enumerate() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: job.clock.map(|clock| clock.around(index)),
            });
            for step in steps {
                step.pipeline(device).set(&mut pass, &self.bind_groups[&step.key()]);
                self.dispatch(&mut pass, job, part, step);
            }
        }
        let (counters, staging) = (&self.buffers.counters, &self.readback.staging);
        encoder.copy_buffer_to_buffer(counters, 0, staging, 0, counters.size());
        if let Some(clock) = job.clock {
            clock.read_into(encoder, steps.len(), staging, CLOCK_AT as u64);
        }
    }

    fn dispatch(&self, pass: &mut wgpu::ComputePass, job: &Job, part: &Part, step: &Step) {
        let sizes = self.buffers.sizes;
        let groups = match step.size {
            Size::One => 1,
            Size::Triangles => part.triangle_count().div_ceil(GROUP),
            Size::Blocks => sizes.pairs_on(step.level).div_ceil(SCAN_BLOCK),
            Size::Planned(word) => {
                return pass.dispatch_workgroups_indirect(&self.buffers.dispatch, 4 * word);
            }
        };
        dispatch(pass, groups, job.budget.groups);
    }

    fn params_of(&self, job: &Job, part: &Part, level: u32) -> Params {
        let Job { rule, budget, .. } = job;
        let (sizes, lattice) = (self.buffers.sizes, job.mesh.lattice());
        Params {
            region_lo: part.bricks_lo.map(|b| b << 3),
            unit_bits: lattice.unit_bits,
            region_hi: std::array::from_fn(|a| {
                ((part.bricks_hi[a] << 3) + 7).min(lattice.dims[a] as i32 - 1)
            }),
            level,
            shift: shift(*rule, lattice.unit()),
            top_level: job.top_level(),
            axes: axes(*rule),
            first_triangle: part.triangles.start,
            dims: lattice.dims.map(|d| d as i32),
            triangle_count: part.triangle_count(),
            vertex_words: part.vertex_words,
            pair_capacity: sizes.pairs,
            upper_capacity: sizes.pairs_on(2),
            brick_capacity: sizes.bricks,
            crossing_capacity: sizes.crossings,
            table_mask: sizes.table() - 1,
            candidate_limit: budget.candidates,
            max_groups: budget.groups,
        }
    }
}

/// By how much triangles are moved for a crossing to be in the voxel that it counts for: that whose
/// centre follows is half a voxel up.
fn shift(rule: Rule, unit: i32) -> [i32; 3] {
    rule.flips_along().map_or([0; 3], |axis| axis.unproject([0; 2], unit / 2))
}

/// 1 for each axis along which `rule` looks at columns.
fn axes(rule: Rule) -> [u32; 3] {
    Axis::ALL.map(|axis| u32::from(rule.axes().contains(&axis)))
}

/// Adds what the steps of a run did to `report`: stages in the order in which they first ran.
fn add_work(report: &mut RunReport, steps: &[Step], counts: &Counts, times: Option<&[f64]>) {
    report.runs += 1;
    for (index, step) in steps.iter().enumerate() {
        let work = work(step, counts);
        let name = step.stage.name();
        let known = report.stages.iter().position(|stage| stage.name == name);
        let stage = known.unwrap_or_else(|| {
            report.stages.push(StageReport::new(name));
            report.stages.len() - 1
        });
        let stage = &mut report.stages[stage];
        stage.dispatches += 1;
        stage.invocations += work.invocations;
        stage.tests += work.tests;
        stage.bytes += work.bytes;
        stage.ms = times.map(|times| times[index] + stage.ms.unwrap_or(0.0));
    }
}

/// What did not fit, from the counters of a run.
fn overflow(counters: &[u32], sizes: &Sizes, job: &Job) -> Option<Overflow> {
    let budget = &job.budget;
    let failures = counters[FAILURES];
    if failures & PAIRS_FULL != 0 {
        let needed = |level: usize| {
            let share = if level > 1 { UPPER_SHARE } else { 1 };
            counters[PAIRS + level].saturating_mul(share)
        };
        Some(Overflow::Pairs((0..LEVELS).map(needed).fold(0, u32::max)))
    } else if failures & TOO_MANY_CANDIDATES != 0 {
        Some(Overflow::Candidates)
    } else if failures & BRICKS_FULL != 0 || counters[BRICKS] > budget.bricks {
        Some(Overflow::Bricks(counters[BRICKS]))
    } else if counters[CROSSINGS] > sizes.crossings.min(budget.crossings) {
        Some(Overflow::Crossings(counters[CROSSINGS]))
    } else {
        None
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::gpu::Adapter;
    use crate::voxelize::Kernel;
    use crate::voxelize::gpu::Budget;
    use crate::voxelize::gpu::buffers::mesh_buffer;
    use crate::voxelize::gpu::data::{BRICK_WORDS, CROSSING_WORDS, Pair};
    use crate::voxelize::gpu::upload::Batch;
    use crate::{Mesh, PlaceOptions, Sizing, place};

    const GUARD: u32 = 0xdead_beef;

    /// A sheet of `n` x `n` quads across the diagonal of a cube, and two large triangles, which
    /// start at higher levels.
    fn sheet(n: u32) -> Mesh {
        let corner = |i: u32| {
            let (x, y) = (f64::from(i % (n + 1)), f64::from(i / (n + 1)));
            [x, y, (x + y) / 2.0]
        };
        let quads = (0..n * n).map(|i| i / n * (n + 1) + i % n);
        let small = quads.flat_map(|i| [[i, i + 1, i + n + 2], [i, i + n + 2, i + n + 1]]);
        let last = (n + 1) * (n + 1) - 1;
        let large = [[0, n, last], [0, last - n, last]];
        Mesh::new((0..=last).map(corner).collect(), small.chain(large).collect()).unwrap()
    }

    /// All words of `buffer`.
    fn read(device: &Device, buffer: &wgpu::Buffer) -> Vec<u32> {
        let words = buffer.size() / 4;
        let staging = device.staging(words);
        let mut encoder = device.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        device.submit_and_read(encoder, &staging).unwrap()
    }

    /// The buffers that stages write, and the words that they may use of each.
    fn written(buffers: &Buffers) -> Vec<(wgpu::Buffer, u32)> {
        let told = buffers.sizes;
        let pair_words = (size_of::<Pair>() / 4) as u32;
        let pair_list =
            |level: u32| (&buffers.pair_lists[level as usize], told.pairs_on(level) * pair_words);
        let written = [
            pair_list(0),
            pair_list(1),
            pair_list(2),
            (&buffers.offsets, told.pairs),
            (&buffers.first_pairs, 2 * told.pairs),
            (&buffers.block_offsets, told.pairs.div_ceil(SCAN_BLOCK)),
            (&buffers.entries, told.pairs),
            (&buffers.numbers, told.table()),
            (&buffers.bricks, BRICK_WORDS as u32 * told.bricks),
            (&buffers.crossings, CROSSING_WORDS as u32 * told.crossings),
        ];
        written.map(|(buffer, words)| (buffer.clone(), words)).into()
    }

    /// Whether a run by `rule` writes the buffer with that index in [`written`].
    fn is_used(rule: Rule, index: usize) -> bool {
        let of_bricks = (6..9).contains(&index);
        let of_crossings = index == 9;
        match Output::of(rule) {
            Output::Bricks => !of_crossings,
            Output::Crossings => !of_bricks,
        }
    }

    /// Runs the job with buffers twice as large as the shaders are told, and guards in them; fails if
    /// one is overwritten. Says whether all fitted.
    fn run_with_guards(
        device: &Device,
        (job, part): (&Job, &Part),
        mesh: &wgpu::Buffer,
        told: Sizes,
    ) -> bool {
        let Sizes { pairs, bricks, crossings } = told;
        let made = Sizes { pairs: 2 * pairs, bricks: 2 * bricks, crossings: 2 * crossings };
        let readback = Readback::new(device);
        let mut workspace = Workspace::new(device, mesh.clone(), made, readback).unwrap();
        workspace.buffers.sizes = told;
        for (buffer, _) in written(&workspace.buffers) {
            let words = vec![GUARD; buffer.size() as usize / 4];
            device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
        }
        let mut results = Results::default();
        let outcome = device.block_on(workspace.run(device, job, part, &mut results)).unwrap();
        for (index, (buffer, used)) in written(&workspace.buffers).into_iter().enumerate() {
            let words = read(device, &buffer);
            let (used, past) = words.split_at(used as usize);
            let what = format!("{:?}, buffer {index}, {told:?}", job.rule);
            assert!(past.iter().all(|&word| word == GUARD), "{what}");
            // The last stages are left out of a run that failed before.
            let was_used = used.iter().any(|&word| word != GUARD);
            let should_be = is_used(job.rule, index);
            assert!(was_used == should_be || (should_be && outcome.is_some()), "{what} unused");
        }
        outcome.is_none()
    }

    #[test]
    fn no_stage_writes_past_the_capacity_it_is_told() {
        let mesh = place(&sheet(40), &PlaceOptions::new(Sizing::Resolution(100))).unwrap();
        let budget = Budget::of(&wgpu::Limits::default());
        let batch = Batch::new(&mesh, 0..mesh.len());
        let part = Part::whole(&batch, mesh.lattice());
        let promised = std::env::var("TRIVOX_GPU").map_or(0, |n| n.parse().unwrap());
        let adapters: Vec<Adapter> =
            Adapter::all().into_iter().filter(|adapter| adapter.check().is_ok()).collect();
        assert!(adapters.len() >= promised, "{promised} adapters promised, {adapters:?} found");
        for adapter in adapters {
            let device = adapter.open().unwrap();
            let buffer = mesh_buffer(&device, batch.words()).unwrap();
            batch.upload(&device, &buffer);
            for (rule, kernel) in [
                (Rule::Conservative, Kernel::Rows),
                (Rule::Conservative, Kernel::Voxels),
                (Rule::SixSeparating, Kernel::Rows),
                (Rule::Parity(Axis::Y), Kernel::Rows),
                (Rule::Winding, Kernel::Rows),
            ] {
                let job = Job { rule, kernel, ..Job::new(&mesh, budget) };
                // From far too little of either to enough of both.
                let most = 1 << 14;
                let told = [(1, 1), (1023, 64), (1024, 1024), (most, 1), (most, most)];
                let fits = told.map(|(pairs, found)| {
                    let told = Sizes { pairs, bricks: found.min(1024), crossings: found };
                    run_with_guards(&device, (&job, &part), &buffer, told)
                });
                let label = adapter.label();
                assert!(!fits[0] && !fits[1] && !fits[3] && fits[4], "{label}, {rule:?}: {fits:?}");
            }
        }
    }
}
