//! The buffers of one run, and the run itself: one part of a mesh through all stages.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use wgpu::BufferUsages as Usage;

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::clock::Clock;
use crate::backend::gpu::data::{
    BRICK_WORDS, BRICKS, BRICKS_FULL, COUNTERS, DISPATCH_WORDS, FAILURES, GROUP, LEVELS,
    MAX_CANDIDATES, PAIRS, PAIRS_FULL, Pair, Params, SCAN_BLOCK, TOO_MANY_CANDIDATES,
};
use crate::backend::gpu::readback::{self, CLOCK_AT, Readback};
use crate::backend::gpu::stages::{Binding, Pipelines, Size, Stage, Step, steps};
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

/// How large the buffers are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) pairs: u32,
    pub(super) bricks: u32,
    /// Bricks that a run is likely to find.
    pub(super) expected: u32,
}

/// Buffers for a number of pairs and bricks, and for a mesh.
pub(super) struct Workspace {
    pairs: u32,
    bricks: u32,
    pub(super) mesh: wgpu::Buffer,
    params: wgpu::Buffer,
    counters: wgpu::Buffer,
    dispatch: wgpu::Buffer,
    offsets: wgpu::Buffer,
    block_offsets: wgpu::Buffer,
    first_pairs: wgpu::Buffer,
    /// The pairs of each level.
    pair_lists: [wgpu::Buffer; LEVELS],
    table: wgpu::Buffer,
    entries: wgpu::Buffer,
    /// The number of the brick of each entry of the table.
    numbers: wgpu::Buffer,
    brick_words: wgpu::Buffer,
    bind_groups: HashMap<(Stage, u32), wgpu::BindGroup>,
    readback: Readback,
}

/// Tests look into the buffers.
const FOR_TESTS: Usage =
    if cfg!(test) { Usage::COPY_SRC.union(Usage::COPY_DST) } else { Usage::empty() };

/// Uniform buffers are bound at multiples of 256 bytes, the WebGPU default alignment.
const PARAMS_STRIDE: usize = 256;

impl Workspace {
    /// The sizes that it was made with, and the bricks that it expects by now.
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { pairs: self.pairs, bricks: self.bricks, expected: self.readback.expected() }
    }

    /// A buffer for `words` words of a mesh.
    pub(super) fn mesh_buffer(device: &Device, words: u64) -> Result<wgpu::Buffer, BackendError> {
        let buffer = device.buffer("mesh", words, Usage::STORAGE | Usage::COPY_DST);
        device.check()?;
        Ok(buffer)
    }

    /// Buffers of the given sizes, for the mesh in `mesh`.
    pub(super) fn new(
        device: &Device,
        pipelines: &Pipelines,
        mesh: wgpu::Buffer,
        sizes: Sizes,
    ) -> Result<Self, BackendError> {
        let Sizes { pairs, bricks, expected } = sizes;
        let storage = |label: &str, words: u64, more: Usage| {
            device.buffer(label, words, Usage::STORAGE | more | FOR_TESTS)
        };
        let scratch = |label: &str, words: u32| storage(label, words.into(), Usage::empty());
        let pair_words = (size_of::<Pair>() / 4) as u64;
        let table = table_size(bricks);
        let params_words = (LEVELS * PARAMS_STRIDE / 4) as u64;
        let mut workspace = Self {
            pairs,
            bricks,
            mesh,
            params: device.buffer("params", params_words, Usage::UNIFORM | Usage::COPY_DST),
            counters: storage("counters", COUNTERS as u64, Usage::COPY_SRC | Usage::COPY_DST),
            dispatch: storage("dispatch", DISPATCH_WORDS, Usage::INDIRECT),
            offsets: scratch("offsets", pairs),
            block_offsets: scratch("block offsets", pairs.div_ceil(SCAN_BLOCK)),
            first_pairs: scratch("first pairs", pairs * (MAX_CANDIDATES / GROUP)),
            pair_lists: std::array::from_fn(|level| {
                let pairs = capacity_of(level as u32, pairs);
                storage("pairs", u64::from(pairs) * pair_words, Usage::empty())
            }),
            table: storage("table", table.into(), Usage::COPY_DST),
            entries: scratch("entries", pairs),
            numbers: scratch("numbers", table),
            brick_words: storage("bricks", BRICK_WORDS as u64 * u64::from(bricks), Usage::COPY_SRC),
            bind_groups: HashMap::new(),
            readback: Readback::new(device, expected.min(bricks)),
        };
        workspace.bind_groups = (steps(LEVELS as u32 - 1).iter())
            .map(|step| (step.kernel(), workspace.bind_group(device, pipelines, step)))
            .collect();
        device.check()?;
        Ok(workspace)
    }

    fn bind_group(&self, device: &Device, pipelines: &Pipelines, step: &Step) -> wgpu::BindGroup {
        let bindings = step.stage.bindings().iter();
        let entries: Vec<wgpu::BindGroupEntry> = bindings
            .map(|&binding| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: self.resource(binding, step.level as usize),
            })
            .collect();
        device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(step.stage.name()),
            layout: &pipelines.of(step.stage).get_bind_group_layout(0),
            entries: &entries,
        })
    }

    fn resource(&self, binding: Binding, level: usize) -> wgpu::BindingResource<'_> {
        let buffer = match binding {
            Binding::Params => {
                return wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &self.params,
                    offset: (level * PARAMS_STRIDE) as u64,
                    size: wgpu::BufferSize::new(size_of::<Params>() as u64),
                });
            }
            Binding::Mesh => &self.mesh,
            Binding::Counters => &self.counters,
            Binding::Pairs => &self.pair_lists[level],
            Binding::Dispatch => &self.dispatch,
            Binding::Offsets => &self.offsets,
            Binding::BlockOffsets => &self.block_offsets,
            Binding::FirstPairs => &self.first_pairs,
            Binding::Children => &self.pair_lists[level - 1],
            Binding::Table => &self.table,
            Binding::Entries => &self.entries,
            Binding::Numbers => &self.numbers,
            Binding::Bricks => &self.brick_words,
            Binding::Pairs0 => &self.pair_lists[0],
            Binding::Pairs1 => &self.pair_lists[1],
            Binding::Pairs2 => &self.pair_lists[2],
            Binding::Pairs3 => &self.pair_lists[3],
            Binding::Pairs4 => &self.pair_lists[4],
            Binding::Pairs5 => &self.pair_lists[5],
        };
        buffer.as_entire_binding()
    }

    /// Runs all stages on the task's part of the mesh, and adds what they find to `results`: no
    /// bricks where something did not fit.
    pub(super) fn run(
        &mut self,
        engine: &Engine,
        task: &Task,
        results: &mut Results,
    ) -> Result<Option<Overflow>, BackendError> {
        let Results { bricks, report } = results;
        let began = Instant::now();
        let steps = steps(top_level(task.lattice.dims));
        let mut encoder = engine.device.device.create_command_encoder(&Default::default());
        self.record(engine, task, &steps, &mut encoder);
        report.host_ms.submit += milliseconds(began.elapsed());

        let expected = self.readback.expected();
        let source = (&self.brick_words, 0..expected);
        let read = |staging: &[u8]| {
            let counters = readback::counters(staging);
            if overflow(&counters).is_none() {
                let found = counters[BRICKS].min(expected) as usize;
                bricks.extend(readback::bricks(staging).take(found));
            }
            (counters, engine.clock.map(|clock| clock.milliseconds(&staging[CLOCK_AT..])))
        };
        let (counters, times) =
            self.readback.fetch(engine.device, encoder, source, report, read)?;
        let capacity = |level| capacity_of(level, self.pairs);
        let counts = Counts::new(task.part.triangle_count(), &counters, capacity);
        add_work(report, &steps, &counts, times.as_deref());

        let overflow = overflow(&counters);
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
        let Results { bricks, report } = results;
        self.readback.grow(device, rest.end, self.bricks)?;
        let encoder = device.device.create_command_encoder(&Default::default());
        let (count, source) = (rest.len(), (&self.brick_words, rest));
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
        engine.device.queue.write_buffer(&self.params, 0, &params);
        encoder.clear_buffer(&self.counters, 0, None);
        encoder.clear_buffer(&self.table, 0, None);
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
        encoder.copy_buffer_to_buffer(&self.counters, 0, staging, 0, self.counters.size());
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
        match step.size {
            Size::One => groups(1),
            Size::Triangles => groups(task.part.triangle_count().div_ceil(GROUP)),
            Size::Blocks => groups(capacity_of(step.level, self.pairs).div_ceil(SCAN_BLOCK)),
            Size::Planned(word) => pass.dispatch_workgroups_indirect(&self.dispatch, 4 * word),
        }
    }

    fn params_of(&self, task: &Task, level: u32) -> Params {
        let Task { part, lattice, budget, .. } = task;
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
            pair_capacity: self.pairs,
            upper_capacity: capacity_of(2, self.pairs),
            brick_capacity: self.bricks,
            table_mask: table_size(self.bricks) - 1,
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

/// Room for pairs on `level`, where the two lowest have room for `pairs`: those above have fewer,
/// since a node's children are many.
fn capacity_of(level: u32, pairs: u32) -> u32 {
    if level > 1 { (pairs / UPPER_SHARE).max(1) } else { pairs }
}

/// The lowest levels' room for pairs, divided by that of the others.
const UPPER_SHARE: u32 = 8;

/// The hash table's entries: at most half of them are used while bricks fit.
fn table_size(bricks: u32) -> u32 {
    (2 * bricks).next_power_of_two()
}

/// The highest level whose nodes are no larger than the grid, as the bit budget demands; at least
/// bricks.
fn top_level(dims: [u32; 3]) -> u32 {
    let cube = dims[0].max(dims[1]).max(dims[2]).next_power_of_two();
    (cube.ilog2() / 3).max(1)
}

fn overflow(counters: &[u32]) -> Option<Overflow> {
    let failures = counters[FAILURES];
    if failures & PAIRS_FULL != 0 {
        let needed = |level: usize| {
            let share = if level > 1 { UPPER_SHARE } else { 1 };
            counters[PAIRS + level].saturating_mul(share)
        };
        Some(Overflow::Pairs((0..LEVELS).map(needed).fold(0, u32::max)))
    } else if failures & TOO_MANY_CANDIDATES != 0 {
        Some(Overflow::Candidates)
    } else if failures & BRICKS_FULL != 0 {
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
    use crate::backend::gpu::upload::Chunk;
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
            let buffer = Workspace::mesh_buffer(&device, chunk.words()).unwrap();
            chunk.upload(&device, &buffer);
            let mut outcomes = [0, 0];
            // From far too little of either to enough of both.
            for (pairs, bricks) in [(1, 1), (1023, 64), (1024, 1024), (1 << 14, 1), (1 << 14, 1024)]
            {
                let sizes = Sizes { pairs: 2 * pairs, bricks: 2 * bricks, expected: 1 };
                let mut workspace =
                    Workspace::new(&device, &pipelines, buffer.clone(), sizes).unwrap();
                (workspace.pairs, workspace.bricks) = (pairs, bricks);
                let pair_words = (size_of::<Pair>() / 4) as u32;
                let guarded = |w: &Workspace| {
                    [
                        (w.pair_lists[0].clone(), pairs * pair_words),
                        (w.pair_lists[1].clone(), pairs * pair_words),
                        (w.pair_lists[2].clone(), capacity_of(2, pairs) * pair_words),
                        (w.offsets.clone(), pairs),
                        (w.first_pairs.clone(), 2 * pairs),
                        (w.block_offsets.clone(), pairs.div_ceil(SCAN_BLOCK)),
                        (w.entries.clone(), pairs),
                        (w.numbers.clone(), table_size(bricks)),
                        (w.brick_words.clone(), BRICK_WORDS as u32 * bricks),
                    ]
                };
                for (buffer, _) in guarded(&workspace) {
                    let words = vec![GUARD; buffer.size() as usize / 4];
                    device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
                }
                let outcome = workspace.run(&engine, &task, &mut Results::default()).unwrap();
                outcomes[usize::from(outcome.is_none())] += 1;
                for (index, (buffer, used)) in guarded(&workspace).into_iter().enumerate() {
                    let words = read(&device, &buffer);
                    let (used, past) = words.split_at(used as usize);
                    assert!(
                        past.iter().all(|&word| word == GUARD),
                        "buffer {index}, {pairs} pairs"
                    );
                    assert!(used.iter().any(|&word| word != GUARD), "buffer {index} unused");
                }
            }
            assert_eq!(outcomes, [4, 1], "{}", adapter.label());
        }
    }
}
