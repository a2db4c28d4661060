//! The buffers of one run, and the run itself: one part of a mesh through all stages.

use wgpu::BufferUsages as Usage;

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::data::{
    BRICKS, BRICKS_FULL, CANDIDATE_GROUPS, COUNTERS, DISPATCH_WORDS, FAILURES, GROUP, LEVELS,
    MASK_WORDS, PAIR_GROUPS, PAIRS, PAIRS_FULL, Pair, Params, SCAN_BLOCK, SCAN_GROUPS,
    TOO_MANY_CANDIDATES,
};
use crate::backend::gpu::stages::{Binding, Stage, Stages};
use crate::backend::gpu::{Budget, Part};
use crate::error::BackendError;
use crate::grid::{BrickKey, Mask};
use crate::place::Lattice;

/// What one run of a part came to.
pub(super) enum Outcome {
    /// Its bricks, in no particular order.
    Done(Vec<(BrickKey, Mask)>),
    /// Something did not fit.
    Overflow(Overflow),
}

/// What did not fit, and how many were counted: of what follows a full buffer, not all.
#[derive(Debug, Clone, Copy)]
pub(super) enum Overflow {
    Pairs(u32),
    Bricks(u32),
    Candidates,
}

/// Buffers for a number of pairs and bricks.
pub(super) struct Workspace {
    pub(super) pairs: u32,
    pub(super) bricks: u32,
    params: wgpu::Buffer,
    counters: wgpu::Buffer,
    dispatch: wgpu::Buffer,
    offsets: wgpu::Buffer,
    block_offsets: wgpu::Buffer,
    /// Pairs of this level and of the one below, in turn.
    pair_lists: [wgpu::Buffer; 2],
    table: wgpu::Buffer,
    entries: wgpu::Buffer,
    brick_of_entry: wgpu::Buffer,
    keys: wgpu::Buffer,
    masks: wgpu::Buffer,
    counters_staging: wgpu::Buffer,
}

/// Tests look into the buffers.
const FOR_TESTS: Usage =
    if cfg!(test) { Usage::COPY_SRC.union(Usage::COPY_DST) } else { Usage::empty() };

/// Uniform buffers are bound at multiples of 256 bytes, the WebGPU default alignment.
const PARAMS_STRIDE: u64 = 256;

impl Workspace {
    /// Buffers for `pairs` pairs and `bricks` bricks.
    pub(super) fn new(device: &Device, pairs: u32, bricks: u32) -> Result<Self, BackendError> {
        let storage = |label: &str, words: u64, more: Usage| {
            device.buffer(label, words, Usage::STORAGE | more | FOR_TESTS)
        };
        let table = table_size(bricks);
        let pair_words = u64::from(pairs) * (size_of::<Pair>() / 4) as u64;
        let pair_list = || storage("pairs", pair_words, Usage::empty());
        let workspace = Self {
            pairs,
            bricks,
            params: device.buffer(
                "params",
                LEVELS as u64 * PARAMS_STRIDE / 4,
                Usage::UNIFORM | Usage::COPY_DST,
            ),
            counters: storage("counters", COUNTERS as u64, Usage::COPY_SRC | Usage::COPY_DST),
            dispatch: storage("dispatch", DISPATCH_WORDS, Usage::INDIRECT),
            offsets: storage("offsets", pairs.into(), Usage::empty()),
            block_offsets: storage(
                "block offsets",
                pairs.div_ceil(SCAN_BLOCK).into(),
                Usage::empty(),
            ),
            pair_lists: [pair_list(), pair_list()],
            table: storage("table", table.into(), Usage::COPY_DST),
            entries: storage("entries", pairs.into(), Usage::empty()),
            brick_of_entry: storage("brick of entry", table.into(), Usage::empty()),
            keys: storage("keys", 2 * u64::from(bricks), Usage::COPY_SRC),
            masks: storage("masks", MASK_WORDS as u64 * u64::from(bricks), Usage::COPY_SRC),
            counters_staging: device.buffer(
                "counters staging",
                COUNTERS as u64,
                Usage::MAP_READ | Usage::COPY_DST,
            ),
        };
        device.check()?;
        Ok(workspace)
    }

    /// Runs all stages on `part` of `triangles`.
    pub(super) fn run(
        &self,
        device: &Device,
        stages: &Stages,
        triangles: &wgpu::Buffer,
        task: &Task,
    ) -> Result<Outcome, BackendError> {
        for level in 0..LEVELS {
            let params = self.params_of(task, level as u32);
            let offset = level as u64 * PARAMS_STRIDE;
            device.queue.write_buffer(&self.params, offset, bytemuck::bytes_of(&params));
        }
        let mut encoder = device.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.counters, 0, None);
        encoder.clear_buffer(&self.table, 0, None);
        let mut pass = Pass {
            workspace: self,
            device: &device.device,
            triangles,
            pass: encoder.begin_compute_pass(&Default::default()),
        };
        pass.run_all(stages, task);
        drop(pass);
        let bytes = self.counters.size();
        encoder.copy_buffer_to_buffer(&self.counters, 0, &self.counters_staging, 0, bytes);
        let [counters] = device.submit_and_read(encoder, [&self.counters_staging])?;
        match overflow(&counters) {
            Some(overflow) => Ok(Outcome::Overflow(overflow)),
            None => self.read_bricks(device, counters[BRICKS]).map(Outcome::Done),
        }
    }

    fn params_of(&self, task: &Task, level: u32) -> Params {
        let Task { part, lattice, budget } = task;
        Params {
            region_lo: part.bricks_lo.map(|b| b << 3),
            unit_bits: lattice.unit_bits,
            region_hi: std::array::from_fn(|a| {
                ((part.bricks_hi[a] << 3) + 7).min(lattice.dims[a] as i32 - 1)
            }),
            level,
            top_level: top_level(lattice.dims),
            first_triangle: part.triangles.start,
            triangle_count: part.triangles.end - part.triangles.start,
            pair_capacity: self.pairs,
            brick_capacity: self.bricks,
            table_mask: table_size(self.bricks) - 1,
            candidate_limit: budget.candidates,
            max_groups: budget.groups,
        }
    }

    fn read_bricks(
        &self,
        device: &Device,
        count: u32,
    ) -> Result<Vec<(BrickKey, Mask)>, BackendError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut encoder = device.device.create_command_encoder(&Default::default());
        let mut stage = |source: &wgpu::Buffer, words: usize| {
            let words = words as u64 * u64::from(count);
            let staging = device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
            encoder.copy_buffer_to_buffer(source, 0, &staging, 0, staging.size());
            staging
        };
        let staging = [stage(&self.keys, 2), stage(&self.masks, MASK_WORDS)];
        let [keys, masks] = device.submit_and_read(encoder, staging.each_ref())?;
        let (keys, _) = keys.as_chunks::<2>();
        let (masks, _) = masks.as_chunks::<MASK_WORDS>();
        Ok(keys.iter().map(unpack_key).zip(masks.iter().map(unpack_mask)).collect())
    }
}

/// The hash table's entries: at most half of them are used while bricks fit.
fn table_size(bricks: u32) -> u32 {
    (2 * bricks).next_power_of_two()
}

fn unpack_key(&[xy, z]: &[u32; 2]) -> BrickKey {
    BrickKey::new([xy & 0xffff, xy >> 16, z])
}

fn unpack_mask(words: &[u32; MASK_WORDS]) -> Mask {
    std::array::from_fn(|x| u64::from(words[2 * x]) | u64::from(words[2 * x + 1]) << 32)
}

/// The highest level whose nodes are no larger than the grid, as the bit budget demands; at least
/// bricks.
fn top_level(dims: [u32; 3]) -> u32 {
    let cube = dims[0].max(dims[1]).max(dims[2]).next_power_of_two();
    (cube.ilog2() / 3).max(1)
}

fn overflow(counters: &[u32]) -> Option<Overflow> {
    let failures = counters[FAILURES];
    let pairs = &counters[PAIRS..PAIRS + LEVELS];
    if failures & PAIRS_FULL != 0 {
        Some(Overflow::Pairs(pairs.iter().copied().fold(0, u32::max)))
    } else if failures & TOO_MANY_CANDIDATES != 0 {
        Some(Overflow::Candidates)
    } else if failures & BRICKS_FULL != 0 {
        Some(Overflow::Bricks(counters[BRICKS]))
    } else {
        None
    }
}

/// A part of a mesh to run, and under what limits.
pub(super) struct Task<'a> {
    pub(super) part: &'a Part,
    pub(super) lattice: &'a Lattice,
    pub(super) budget: &'a Budget,
}

/// A compute pass being recorded.
struct Pass<'a> {
    workspace: &'a Workspace,
    device: &'a wgpu::Device,
    triangles: &'a wgpu::Buffer,
    pass: wgpu::ComputePass<'a>,
}

impl Pass<'_> {
    /// Level by level: triangles join, candidates are counted and tested, what touches goes down.
    fn run_all(&mut self, stages: &Stages, task: &Task) {
        let triangles = task.part.triangles.end - task.part.triangles.start;
        let groups = triangles.div_ceil(GROUP);
        let max = task.budget.groups;
        for level in (1..=top_level(task.lattice.dims)).rev() {
            self.bind(&stages.seed, level);
            self.pass.dispatch_workgroups(groups.min(max), groups.div_ceil(max), 1);
            self.scan(stages, level);
            self.bind(&stages.refine, level);
            self.dispatch(CANDIDATE_GROUPS);
        }
        self.scan(stages, 0);
        self.bind(&stages.find_bricks, 0);
        self.dispatch(PAIR_GROUPS);
        self.bind(&stages.voxels, 0);
        self.dispatch(CANDIDATE_GROUPS);
    }

    fn scan(&mut self, stages: &Stages, level: u32) {
        self.bind(&stages.plan, level);
        self.pass.dispatch_workgroups(1, 1, 1);
        self.bind(&stages.scan_blocks, level);
        self.dispatch(SCAN_GROUPS);
        self.bind(&stages.scan_totals, level);
        self.pass.dispatch_workgroups(1, 1, 1);
    }

    fn dispatch(&mut self, word: u64) {
        self.pass.dispatch_workgroups_indirect(&self.workspace.dispatch, 4 * word);
    }

    fn bind(&mut self, stage: &Stage, level: u32) {
        let entries: Vec<wgpu::BindGroupEntry> = (stage.bindings.iter())
            .map(|&binding| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: self.resource(binding, level),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &stage.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        self.pass.set_pipeline(&stage.pipeline);
        self.pass.set_bind_group(0, &group, &[]);
    }

    fn resource(&self, binding: Binding, level: u32) -> wgpu::BindingResource<'_> {
        let workspace = self.workspace;
        let list = |level: u32| &workspace.pair_lists[level as usize % 2];
        let buffer = match binding {
            Binding::Params => {
                return wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &workspace.params,
                    offset: u64::from(level) * PARAMS_STRIDE,
                    size: wgpu::BufferSize::new(size_of::<Params>() as u64),
                });
            }
            Binding::Triangles => self.triangles,
            Binding::Counters => &workspace.counters,
            Binding::Pairs => list(level),
            Binding::Dispatch => &workspace.dispatch,
            Binding::Offsets => &workspace.offsets,
            Binding::BlockOffsets => &workspace.block_offsets,
            Binding::Children => list(level - 1),
            Binding::Table => &workspace.table,
            Binding::Entries => &workspace.entries,
            Binding::Bricks => &workspace.brick_of_entry,
            Binding::Keys => &workspace.keys,
            Binding::Masks => &workspace.masks,
        };
        buffer.as_entire_binding()
    }
}

/// A buffer of the triangles' coordinates.
pub(super) fn upload(device: &Device, coordinates: &[i32]) -> Result<wgpu::Buffer, BackendError> {
    let usage = Usage::STORAGE | Usage::COPY_DST;
    let buffer = device.buffer("triangles", coordinates.len() as u64, usage);
    device.check()?;
    device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(coordinates));
    device.check()?;
    Ok(buffer)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::backend::gpu::adapters::Adapter;
    use crate::{Mesh, PlaceOptions, Sizing, place};

    const GUARD: u32 = 0xdead_beef;

    /// A sheet of `n` x `n` quads across the diagonal of the unit cube.
    fn sheet(n: u32) -> Mesh {
        let corner = |i: u32| {
            let (x, y) = (f64::from(i % (n + 1)), f64::from(i / (n + 1)));
            [x, y, (x + y) / 2.0]
        };
        let quads = (0..n * n).map(|i| i / n * (n + 1) + i % n);
        let triangles = quads.flat_map(|i| [[i, i + 1, i + n + 2], [i, i + n + 2, i + n + 1]]);
        Mesh::new((0..(n + 1) * (n + 1)).map(corner).collect(), triangles.collect()).unwrap()
    }

    /// All words of `buffer`.
    fn read(device: &Device, buffer: &wgpu::Buffer) -> Vec<u32> {
        let words = buffer.size() / 4;
        let staging = device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
        let mut encoder = device.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        let [words] = device.submit_and_read(encoder, [&staging]).unwrap();
        words
    }

    /// Buffers are made twice as large as the shaders are told; what they write past that shows.
    #[test]
    fn no_stage_writes_past_the_capacity_it_is_told() {
        let mesh = place(&sheet(40), &PlaceOptions::new(Sizing::Resolution(100))).unwrap();
        let coordinates: Vec<i32> = mesh.triangles().flatten().flatten().collect();
        let budget = Budget::of(&wgpu::Limits::default());
        let part = Part::whole(mesh.len() as u32, mesh.lattice());
        let task = Task { part: &part, lattice: mesh.lattice(), budget: &budget };
        let promised = std::env::var("TRIVOX_GPU").map_or(0, |n| n.parse().unwrap());
        let adapters: Vec<Adapter> =
            Adapter::all().into_iter().filter(|adapter| adapter.check().is_ok()).collect();
        assert!(adapters.len() >= promised, "{promised} adapters promised, {adapters:?} found");
        for adapter in adapters {
            let device = adapter.open().unwrap();
            let stages = Stages::compile(&device).unwrap();
            let triangles = upload(&device, &coordinates).unwrap();
            let mut outcomes = [0, 0];
            // From far too little of either to enough of both.
            for (pairs, bricks) in [(1, 1), (1023, 64), (1024, 1024), (1 << 14, 1), (1 << 14, 1024)]
            {
                let mut workspace = Workspace::new(&device, 2 * pairs, 2 * bricks).unwrap();
                (workspace.pairs, workspace.bricks) = (pairs, bricks);
                let pair_words = (size_of::<Pair>() / 4) as u32;
                let guarded = |w: &Workspace| {
                    [
                        (w.pair_lists[0].clone(), pairs * pair_words),
                        (w.pair_lists[1].clone(), pairs * pair_words),
                        (w.offsets.clone(), pairs),
                        (w.block_offsets.clone(), pairs.div_ceil(SCAN_BLOCK)),
                        (w.entries.clone(), pairs),
                        (w.brick_of_entry.clone(), table_size(bricks)),
                        (w.keys.clone(), 2 * bricks),
                        (w.masks.clone(), MASK_WORDS as u32 * bricks),
                    ]
                };
                for (buffer, _) in guarded(&workspace) {
                    let words = vec![GUARD; buffer.size() as usize / 4];
                    device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
                }
                let outcome = workspace.run(&device, &stages, &triangles, &task).unwrap();
                outcomes[usize::from(matches!(outcome, Outcome::Done(_)))] += 1;
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
