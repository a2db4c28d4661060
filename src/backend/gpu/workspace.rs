//! One run: a part of a mesh through all stages.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::buffers::{Buffers, PARAMS_STRIDE, Sizes, UPPER_SHARE};
use crate::backend::gpu::clock::Clock;
use crate::backend::gpu::data::{
    BRICKS, BRICKS_FULL, FAILURES, GROUP, LEVELS, PAIRS, PAIRS_FULL, Params, SCAN_BLOCK,
    TOO_MANY_CANDIDATES,
};
use crate::backend::gpu::readback::{self, CLOCK_AT, Readback};
use crate::backend::gpu::stages::{Pipelines, Size, Stage, Step, steps};
use crate::backend::gpu::work::{Counts, work};
use crate::backend::gpu::{Budget, Part, Results};
use crate::backend::report::{Report, StageReport, milliseconds};
use crate::error::BackendError;
use crate::place::Lattice;

/// What did not fit, and how many were counted: of what follows a full buffer, not all.
#[derive(Debug, Clone, Copy)]
pub(super) enum Overflow {
    Pairs(u32),
    Bricks(u32),
    Candidates,
}

/// What runs the stages.
pub(super) struct Engine<'a> {
    pub(super) device: &'a Device,
    pub(super) pipelines: &'a Pipelines,
    /// Where the steps are to be timed.
    pub(super) clock: Option<&'a Clock>,
}

/// A part of a mesh to run, and under what limits.
pub(super) struct Task<'a> {
    pub(super) part: &'a Part,
    /// The word of the mesh at which its vertices begin.
    pub(super) vertex_words: u32,
    pub(super) lattice: &'a Lattice,
    pub(super) budget: &'a Budget,
}

/// The buffers, and how to use them: kept from one run to the next.
pub(super) struct Workspace {
    buffers: Buffers,
    bind_groups: HashMap<(Stage, u32), wgpu::BindGroup>,
    readback: Readback,
}

impl Workspace {
    /// Of the given sizes, for the mesh in `mesh`.
    pub(super) fn new(
        device: &Device,
        pipelines: &Pipelines,
        mesh: wgpu::Buffer,
        sizes: Sizes,
    ) -> Result<Self, BackendError> {
        let buffers = Buffers::new(device, mesh, sizes);
        let bind_groups = (steps(LEVELS as u32 - 1).iter())
            .map(|step| (step.kernel(), buffers.bind_group(device, pipelines, step)))
            .collect();
        let readback = Readback::new(device, sizes.expected.min(sizes.bricks));
        device.check()?;
        Ok(Self { buffers, bind_groups, readback })
    }

    /// The sizes that it was made with, and the bricks that it expects by now.
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { expected: self.readback.expected(), ..self.buffers.sizes }
    }

    /// The mesh's buffer.
    pub(super) fn mesh(&self) -> &wgpu::Buffer {
        &self.buffers.mesh
    }

    /// Runs all stages on the task's part of the mesh, and adds what they find to `results`: no
    /// bricks where something did not fit.
    pub(super) fn run(
        &mut self,
        engine: &Engine,
        task: &Task,
        results: &mut Results,
    ) -> Result<Option<Overflow>, BackendError> {
        let Results { bricks, report, .. } = results;
        let began = Instant::now();
        let steps = steps(top_level(task.lattice.dims));
        let mut encoder = engine.device.device.create_command_encoder(&Default::default());
        self.record(engine, task, &steps, &mut encoder);
        report.host_ms.submit += milliseconds(began.elapsed());

        let expected = self.readback.expected();
        let source = (&self.buffers.bricks, 0..expected);
        let read = |staging: &[u8]| {
            let counters = readback::counters(staging);
            if overflow(&counters, task.budget).is_none() {
                let found = counters[BRICKS].min(expected) as usize;
                bricks.extend(readback::bricks(staging).take(found));
            }
            (counters, engine.clock.map(|clock| clock.milliseconds(&staging[CLOCK_AT..])))
        };
        let (counters, times) =
            self.readback.fetch(engine.device, encoder, source, report, read)?;
        let sizes = self.buffers.sizes;
        let counts = Counts::new(task.part.triangle_count(), &counters, |l| sizes.pairs_on(l));
        add_work(report, &steps, &counts, times.as_deref());

        let overflow = overflow(&counters, task.budget);
        if overflow.is_none() {
            if counters[BRICKS] > expected {
                self.read_rest(engine.device, expected..counters[BRICKS], results)?;
            }
            self.readback.learn(counters[BRICKS]);
        }
        Ok(overflow)
    }

    /// Reads the bricks that were not expected, and makes room for as many in later runs.
    fn read_rest(
        &mut self,
        device: &Device,
        rest: Range<u32>,
        results: &mut Results,
    ) -> Result<(), BackendError> {
        let Results { bricks, report, .. } = results;
        self.readback.grow(device, rest.end, self.buffers.sizes.bricks)?;
        let encoder = device.device.create_command_encoder(&Default::default());
        let (count, source) = (rest.len(), (&self.buffers.bricks, rest));
        self.readback.fetch(device, encoder, source, report, |staging| {
            bricks.extend(readback::bricks(staging).take(count));
        })
    }

    fn record(
        &self,
        engine: &Engine,
        task: &Task,
        steps: &[Step],
        encoder: &mut wgpu::CommandEncoder,
    ) {
        let mut params = [0; LEVELS * PARAMS_STRIDE];
        for (level, bytes) in params.chunks_exact_mut(PARAMS_STRIDE).enumerate() {
            let level = self.params_of(task, level as u32);
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&level));
        }
        engine.device.queue.write_buffer(&self.buffers.params, 0, &params);
        encoder.clear_buffer(&self.buffers.counters, 0, None);
        encoder.clear_buffer(&self.buffers.table, 0, None);
        // Steps are timed as passes; all in one pass they are a little faster.
        let passes = if engine.clock.is_some() { 1 } else { steps.len() };
        for (index, steps) in steps.chunks(passes).enumerate() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: engine.clock.map(|clock| clock.around(index)),
            });
            steps.iter().for_each(|step| self.dispatch(&mut pass, engine, task, step));
        }
        let staging = &self.readback.staging;
        encoder.copy_buffer_to_buffer(
            &self.buffers.counters,
            0,
            staging,
            0,
            self.buffers.counters.size(),
        );
        if let Some(clock) = engine.clock {
            clock.read_into(encoder, steps.len(), staging, CLOCK_AT as u64);
        }
    }

    fn dispatch(&self, pass: &mut wgpu::ComputePass, engine: &Engine, task: &Task, step: &Step) {
        pass.set_pipeline(engine.pipelines.of(step.stage));
        pass.set_bind_group(0, &self.bind_groups[&step.kernel()], &[]);
        let mut groups = |groups: u32| {
            let max = task.budget.groups;
            pass.dispatch_workgroups(groups.min(max), groups.div_ceil(max), 1);
        };
        let sizes = self.buffers.sizes;
        match step.size {
            Size::One => groups(1),
            Size::Triangles => groups(task.part.triangle_count().div_ceil(GROUP)),
            Size::Blocks => groups(sizes.pairs_on(step.level).div_ceil(SCAN_BLOCK)),
            Size::Planned(word) => {
                pass.dispatch_workgroups_indirect(&self.buffers.dispatch, 4 * word)
            }
        }
    }

    fn params_of(&self, task: &Task, level: u32) -> Params {
        let Task { part, lattice, budget, .. } = task;
        let sizes = self.buffers.sizes;
        Params {
            region_lo: part.bricks_lo.map(|b| b << 3),
            unit_bits: lattice.unit_bits,
            region_hi: std::array::from_fn(|a| {
                ((part.bricks_hi[a] << 3) + 7).min(lattice.dims[a] as i32 - 1)
            }),
            level,
            top_level: top_level(lattice.dims),
            first_triangle: part.triangles.start,
            triangle_count: part.triangle_count(),
            vertex_words: task.vertex_words,
            pair_capacity: sizes.pairs,
            upper_capacity: sizes.pairs_on(2),
            brick_capacity: sizes.bricks,
            table_mask: sizes.table() - 1,
            candidate_limit: budget.candidates,
            max_groups: budget.groups,
            padding: [0; 2],
        }
    }
}

/// Adds what the steps of a run did to `report`.
fn add_work(report: &mut Report, steps: &[Step], counts: &Counts, times: Option<&[f64]>) {
    report.runs += 1;
    if report.stages.is_empty() {
        report.stages = Stage::ALL.map(|stage| StageReport::new(stage.name())).into();
    }
    for (index, step) in steps.iter().enumerate() {
        let work = work(step, counts);
        let stage = &mut report.stages[step.stage as usize];
        stage.dispatches += 1;
        stage.invocations += work.invocations;
        stage.tests += work.tests;
        stage.bytes += work.bytes;
        stage.ms = times.map(|times| times[index] + stage.ms.unwrap_or(0.0));
    }
}

/// The highest level whose nodes are no larger than the grid, as the bit budget demands; at least
/// bricks.
fn top_level(dims: [u32; 3]) -> u32 {
    let cube = dims[0].max(dims[1]).max(dims[2]).next_power_of_two();
    (cube.ilog2() / 3).max(1)
}

fn overflow(counters: &[u32], budget: &Budget) -> Option<Overflow> {
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
    } else {
        None
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::backend::gpu::adapters::Adapter;
    use crate::backend::gpu::buffers::mesh_buffer;
    use crate::backend::gpu::data::{BRICK_WORDS, Pair};
    use crate::backend::gpu::upload::Chunk;
    use crate::{Mesh, PlaceOptions, Sizing, place};

    use wgpu::BufferUsages as Usage;

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
        let staging = device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
        let mut encoder = device.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        device.submit_and_read(encoder, &staging).unwrap()
    }

    /// Buffers are made twice as large as the shaders are told; what they write past that shows.
    #[test]
    fn no_stage_writes_past_the_capacity_it_is_told() {
        let mesh = place(&sheet(40), &PlaceOptions::new(Sizing::Resolution(100))).unwrap();
        let chunk = Chunk::new(&mesh, 0..mesh.len());
        let budget = Budget::of(&wgpu::Limits::default());
        let part = Part::whole(mesh.len() as u32, mesh.lattice());
        let task = Task {
            part: &part,
            vertex_words: chunk.vertex_words(),
            lattice: mesh.lattice(),
            budget: &budget,
        };
        let promised = std::env::var("TRIVOX_GPU").map_or(0, |n| n.parse().unwrap());
        let adapters: Vec<Adapter> =
            Adapter::all().into_iter().filter(|adapter| adapter.check().is_ok()).collect();
        assert!(adapters.len() >= promised, "{promised} adapters promised, {adapters:?} found");
        for adapter in adapters {
            let device = adapter.open().unwrap();
            let pipelines = Pipelines::compile(&device).unwrap();
            let engine = Engine { device: &device, pipelines: &pipelines, clock: None };
            let buffer = mesh_buffer(&device, chunk.words()).unwrap();
            chunk.upload(&device, &buffer);
            let mut outcomes = [0, 0];
            // From far too little of either to enough of both.
            for (pairs, bricks) in [(1, 1), (1023, 64), (1024, 1024), (1 << 14, 1), (1 << 14, 1024)]
            {
                let sizes = Sizes { pairs: 2 * pairs, bricks: 2 * bricks, expected: 1 };
                let mut workspace =
                    Workspace::new(&device, &pipelines, buffer.clone(), sizes).unwrap();
                workspace.buffers.sizes = Sizes { pairs, bricks, expected: 1 };
                let pair_words = (size_of::<Pair>() / 4) as u32;
                let told = workspace.buffers.sizes;
                let guarded = |w: &Buffers| {
                    [
                        (w.pair_lists[0].clone(), pairs * pair_words),
                        (w.pair_lists[1].clone(), pairs * pair_words),
                        (w.pair_lists[2].clone(), told.pairs_on(2) * pair_words),
                        (w.offsets.clone(), pairs),
                        (w.first_pairs.clone(), 2 * pairs),
                        (w.block_offsets.clone(), pairs.div_ceil(SCAN_BLOCK)),
                        (w.entries.clone(), pairs),
                        (w.numbers.clone(), told.table()),
                        (w.bricks.clone(), BRICK_WORDS as u32 * bricks),
                    ]
                };
                for (buffer, _) in guarded(&workspace.buffers) {
                    let words = vec![GUARD; buffer.size() as usize / 4];
                    device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
                }
                let outcome = workspace.run(&engine, &task, &mut Results::default()).unwrap();
                outcomes[usize::from(outcome.is_none())] += 1;
                for (index, (buffer, used)) in guarded(&workspace.buffers).into_iter().enumerate() {
                    let words = read(&device, &buffer);
                    let (used, past) = words.split_at(used as usize);
                    assert!(
                        past.iter().all(|&word| word == GUARD),
                        "buffer {index}, {pairs} pairs"
                    );
                    // The last stages are left out of a run that failed before.
                    let is_used = used.iter().any(|&word| word != GUARD);
                    assert!(is_used || outcome.is_some(), "buffer {index} unused");
                }
            }
            assert_eq!(outcomes, [4, 1], "{}", adapter.label());
        }
    }
}
