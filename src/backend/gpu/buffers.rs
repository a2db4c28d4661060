//! The buffers of the stages, their sizes, and what is bound where.

use wgpu::BufferUsages as Usage;

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::data::{
    BRICK_WORDS, COUNTERS, CROSSING_WORDS, DISPATCH_WORDS, GROUP, LEVELS, MAX_CANDIDATES, Pair,
    Params, SCAN_BLOCK,
};
use crate::backend::gpu::stages::{Binding, Output, Pipelines, Step};
use crate::error::BackendError;

/// How large the buffers are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) pairs: u32,
    pub(super) bricks: u32,
    pub(super) crossings: u32,
}

impl Sizes {
    /// Room for pairs on `level`: less on all but the two lowest, since a node's children are many.
    pub(super) fn pairs_on(&self, level: u32) -> u32 {
        if level > 1 { (self.pairs / UPPER_SHARE).max(1) } else { self.pairs }
    }

    /// Room for what a run gives.
    pub(super) fn room(&self, output: Output) -> u32 {
        match output {
            Output::Bricks => self.bricks,
            Output::Crossings => self.crossings,
        }
    }

    /// The hash table's entries: at most half of them are used while bricks fit.
    pub(super) fn table(&self) -> u32 {
        (2 * self.bricks).next_power_of_two()
    }
}

/// The lowest levels' room for pairs, divided by that of the others.
pub(super) const UPPER_SHARE: u32 = 8;

/// Uniform buffers are bound at multiples of 256 bytes, the WebGPU default alignment.
pub(super) const PARAMS_STRIDE: usize = 256;

/// Tests look into the buffers.
const FOR_TESTS: Usage =
    if cfg!(test) { Usage::COPY_SRC.union(Usage::COPY_DST) } else { Usage::empty() };

/// Buffers for a number of pairs and bricks, and for a mesh.
pub(super) struct Buffers {
    pub(super) sizes: Sizes,
    pub(super) mesh: wgpu::Buffer,
    /// Of each level.
    pub(super) params: wgpu::Buffer,
    pub(super) counters: wgpu::Buffer,
    pub(super) dispatch: wgpu::Buffer,
    pub(super) offsets: wgpu::Buffer,
    pub(super) block_offsets: wgpu::Buffer,
    pub(super) first_pairs: wgpu::Buffer,
    /// The pairs of each level.
    pub(super) pair_lists: [wgpu::Buffer; LEVELS],
    pub(super) table: wgpu::Buffer,
    pub(super) entries: wgpu::Buffer,
    /// The number of the brick of each entry of the table.
    pub(super) numbers: wgpu::Buffer,
    pub(super) bricks: wgpu::Buffer,
    pub(super) crossings: wgpu::Buffer,
}

/// A buffer for `words` words of a mesh.
pub(super) fn mesh_buffer(device: &Device, words: u64) -> Result<wgpu::Buffer, BackendError> {
    let buffer = device.buffer("mesh", words, Usage::STORAGE | Usage::COPY_DST);
    device.check()?;
    Ok(buffer)
}

impl Buffers {
    /// Of the given sizes, for the mesh in `mesh`. A device out of memory reports it later.
    pub(super) fn new(device: &Device, mesh: wgpu::Buffer, sizes: Sizes) -> Self {
        let storage = |label: &str, words: u64, more: Usage| {
            device.buffer(label, words, Usage::STORAGE | more | FOR_TESTS)
        };
        let scratch = |label: &str, words: u32| storage(label, words.into(), Usage::empty());
        let Sizes { pairs, bricks, crossings } = sizes;
        let params_words = (LEVELS * PARAMS_STRIDE / 4) as u64;
        let brick_words = BRICK_WORDS as u64 * u64::from(bricks);
        let crossing_words = CROSSING_WORDS as u64 * u64::from(crossings);
        Self {
            sizes,
            mesh,
            params: device.buffer("params", params_words, Usage::UNIFORM | Usage::COPY_DST),
            counters: storage("counters", COUNTERS as u64, Usage::COPY_SRC | Usage::COPY_DST),
            dispatch: storage("dispatch", DISPATCH_WORDS, Usage::INDIRECT),
            offsets: scratch("offsets", pairs),
            block_offsets: scratch("block offsets", pairs.div_ceil(SCAN_BLOCK)),
            first_pairs: scratch("first pairs", pairs * (MAX_CANDIDATES / GROUP)),
            pair_lists: std::array::from_fn(|level| {
                let words = (size_of::<Pair>() / 4) as u64;
                let pairs = u64::from(sizes.pairs_on(level as u32));
                storage("pairs", pairs * words, Usage::empty())
            }),
            table: storage("table", sizes.table().into(), Usage::COPY_DST),
            entries: scratch("entries", pairs),
            numbers: scratch("numbers", sizes.table()),
            bricks: storage("bricks", brick_words, Usage::COPY_SRC),
            crossings: storage("crossings", crossing_words, Usage::COPY_SRC),
        }
    }

    /// The list that a run fills.
    pub(super) fn list(&self, output: Output) -> &wgpu::Buffer {
        match output {
            Output::Bricks => &self.bricks,
            Output::Crossings => &self.crossings,
        }
    }

    /// What `step` binds.
    pub(super) fn bind_group(
        &self,
        device: &Device,
        pipelines: &Pipelines,
        step: &Step,
    ) -> wgpu::BindGroup {
        let bindings = step.stage.bindings().iter();
        let entries: Vec<wgpu::BindGroupEntry> = bindings
            .map(|&binding| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: self.resource(binding, step.level as usize),
            })
            .collect();
        device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(step.stage.name()),
            layout: &pipelines.of(device, step).get_bind_group_layout(0),
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
            Binding::Bricks => &self.bricks,
            Binding::Pairs0 => &self.pair_lists[0],
            Binding::Pairs1 => &self.pair_lists[1],
            Binding::Pairs2 => &self.pair_lists[2],
            Binding::Pairs3 => &self.pair_lists[3],
            Binding::Pairs4 => &self.pair_lists[4],
            Binding::Pairs5 => &self.pair_lists[5],
            Binding::Crossings => &self.crossings,
        };
        buffer.as_entire_binding()
    }
}
