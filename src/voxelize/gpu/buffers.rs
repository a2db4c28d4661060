//! The buffers of the stages, their sizes, and their bindings.

use wgpu::BufferUsages as Usage;

use crate::gpu::{Device, GpuError};
use crate::voxelize::gpu::data::{
    BRICK_WORDS, COUNTERS, CROSSING_WORDS, DISPATCH_WORDS, GROUP, LEVELS, MAX_CANDIDATES, Pair,
    Params, SCAN_BLOCK,
};
use crate::voxelize::gpu::stages::{Output, Step};

/// Capacities of the buffers, in records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) pairs: u32,
    pub(super) bricks: u32,
    pub(super) crossings: u32,
}

impl Sizes {
    /// Capacity of the pair list of `level`: lower above level 1, since a node has many children.
    pub(super) fn pairs_on(&self, level: u32) -> u32 {
        if level > 1 { (self.pairs / UPPER_SHARE).max(1) } else { self.pairs }
    }

    /// Capacity of the output list.
    pub(super) fn capacity(&self, output: Output) -> u32 {
        match output {
            Output::Bricks => self.bricks,
            Output::Crossings => self.crossings,
        }
    }

    /// Entries of the hash table: at most half are used while the bricks fit.
    pub(super) fn table(&self) -> u32 {
        (2 * self.bricks).next_power_of_two()
    }
}

/// Ratio of the pair capacities of the two lowest levels and of the others.
pub(super) const UPPER_SHARE: u32 = 8;

/// Offsets of uniform bindings are multiples of 256 bytes, the WebGPU default alignment.
pub(super) const PARAMS_STRIDE: usize = 256;

/// Tests read and write the buffers.
const FOR_TESTS: Usage =
    if cfg!(test) { Usage::COPY_SRC.union(Usage::COPY_DST) } else { Usage::empty() };

/// All buffers of the stages.
pub(super) struct Buffers {
    pub(super) sizes: Sizes,
    pub(super) mesh: wgpu::Buffer,
    /// [`Params`] of each level, [`PARAMS_STRIDE`] apart.
    pub(super) params: wgpu::Buffer,
    pub(super) counters: wgpu::Buffer,
    pub(super) dispatch: wgpu::Buffer,
    pub(super) offsets: wgpu::Buffer,
    pub(super) block_offsets: wgpu::Buffer,
    pub(super) first_pairs: wgpu::Buffer,
    /// The pair list of each level.
    pub(super) pair_lists: [wgpu::Buffer; LEVELS],
    pub(super) table: wgpu::Buffer,
    pub(super) entries: wgpu::Buffer,
    /// The brick index of each table entry.
    pub(super) numbers: wgpu::Buffer,
    pub(super) bricks: wgpu::Buffer,
    pub(super) crossings: wgpu::Buffer,
}

/// A buffer for a mesh of `words` words.
pub(super) fn mesh_buffer(device: &Device, words: u64) -> Result<wgpu::Buffer, GpuError> {
    let buffer = device.buffer("mesh", words, Usage::STORAGE | Usage::COPY_DST);
    device.check()?;
    Ok(buffer)
}

impl Buffers {
    /// Buffers of the given sizes, and `mesh`. Errors are reported by the device.
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

    /// The output list.
    pub(super) fn list(&self, output: Output) -> &wgpu::Buffer {
        match output {
            Output::Bricks => &self.bricks,
            Output::Crossings => &self.crossings,
        }
    }

    /// The bind groups of `step`.
    pub(super) fn bind(
        &self,
        device: &Device,
        step: &Step,
    ) -> Result<Vec<wgpu::BindGroup>, GpuError> {
        let level = step.level as usize;
        step.pipeline(device).bind(&device.device, |name| {
            let buffer = match name {
                "params" => {
                    return Some(wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &self.params,
                        offset: (level * PARAMS_STRIDE) as u64,
                        size: wgpu::BufferSize::new(size_of::<Params>() as u64),
                    }));
                }
                "mesh" => &self.mesh,
                "counters" => &self.counters,
                "dispatch" => &self.dispatch,
                "offsets" => &self.offsets,
                "block_offsets" => &self.block_offsets,
                "first_pairs" => &self.first_pairs,
                "pairs" => &self.pair_lists[level],
                "children" => &self.pair_lists[level - 1],
                "table" => &self.table,
                "entries" => &self.entries,
                "numbers" => &self.numbers,
                "bricks" => &self.bricks,
                "crossings" => &self.crossings,
                _ => {
                    let list: usize = name.strip_prefix("pairs_")?.parse().ok()?;
                    self.pair_lists.get(list)?
                }
            };
            Some(buffer.as_entire_binding())
        })
    }
}
