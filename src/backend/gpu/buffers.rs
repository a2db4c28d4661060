//! The buffers of the stages, their sizes, and their bindings.

use std::collections::HashMap;

use wgpu::{BindingResource, BufferUsages as Usage};

use crate::backend::gpu::data::{
    BLOCK_WORDS, BRICK_WORDS, COUNTERS, CROSSING_WORDS, DISPATCH_WORDS, GROUP, LEVELS,
    MAX_CANDIDATES, PAIR_WORDS, Params,
};
use crate::backend::gpu::stages::{OutputList, Size, Step};
use crate::gpu::{Constants, Device, GpuError};

/// Capacities of the buffers, in records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) pairs: u32,
    pub(crate) bricks: u32,
    pub(crate) crossings: u32,
    /// Words of the bitmap of bricks.
    pub(crate) bitmap: u32,
}

impl Sizes {
    /// Capacity of the pair list of `level`: lower above level 1, since a node has many children.
    pub(crate) fn pairs_on(&self, level: u32) -> u32 {
        if level > 1 { (self.pairs / UPPER_SHARE).max(1) } else { self.pairs }
    }

    /// Capacity of the pair lists of all levels together.
    pub(crate) fn all_pairs(&self) -> u64 {
        (0..LEVELS as u32).map(|level| u64::from(self.pairs_on(level))).sum()
    }

    /// Blocks of the bitmap.
    pub(crate) fn blocks(&self) -> u32 {
        self.bitmap.div_ceil(BLOCK_WORDS)
    }
}

/// Ratio of the pair capacities of the two lowest levels and of the others.
pub(crate) const UPPER_SHARE: u32 = 8;

/// Maximum workgroups of a pair's candidates.
const GROUPS_PER_PAIR: u64 = (MAX_CANDIDATES / GROUP) as u64;

/// Offsets of uniform bindings are multiples of 256 bytes, the WebGPU default alignment.
pub(crate) const PARAMS_STRIDE: usize = 256;

/// Tests read and write the buffers.
const FOR_TESTS: Usage =
    if cfg!(test) { Usage::COPY_SRC.union(Usage::COPY_DST) } else { Usage::empty() };

#[derive(Debug)]
pub(crate) struct Buffers {
    pub(crate) sizes: Sizes,
    pub(crate) mesh: wgpu::Buffer,
    /// [`Params`] of each level, [`PARAMS_STRIDE`] apart.
    pub(crate) params: wgpu::Buffer,
    pub(crate) counters: wgpu::Buffer,
    /// The dispatch arguments of the even and of the odd levels. The third is bound in place of the
    /// one that a stage is dispatched from.
    pub(crate) dispatch: [wgpu::Buffer; 3],
    pub(crate) first_pairs: wgpu::Buffer,
    /// The pair lists of all levels.
    pub(crate) pairs: wgpu::Buffer,
    /// A bit for each brick of the region.
    pub(crate) bitmap: wgpu::Buffer,
    /// The number of bricks before each word of the bitmap with bricks.
    pub(crate) bricks_before: wgpu::Buffer,
    /// The number of bricks of each block of [`BLOCK_WORDS`] words of the bitmap, then of those
    /// before.
    pub(crate) block_bricks: wgpu::Buffer,
    pub(crate) bricks: wgpu::Buffer,
    pub(crate) crossings: wgpu::Buffer,
    /// By [`Step::key`].
    pub(crate) bind_groups: HashMap<(&'static str, Constants, u32), Vec<wgpu::BindGroup>>,
}

impl Buffers {
    /// Buffers of the given sizes, and `mesh`. Errors are reported by the device.
    pub(crate) fn new(device: &Device, mesh: wgpu::Buffer, sizes: Sizes) -> Self {
        let storage = |label: &str, words: u64, more: Usage| {
            device.buffer(label, words, Usage::STORAGE | more | FOR_TESTS)
        };
        let Sizes { bricks, crossings, bitmap, .. } = sizes;
        let all_pairs = sizes.all_pairs();
        let dispatch_words = LEVELS as u64 * DISPATCH_WORDS;
        let params_words = (LEVELS * PARAMS_STRIDE / 4) as u64;
        let brick_words = BRICK_WORDS as u64 * u64::from(bricks);
        let crossing_words = CROSSING_WORDS as u64 * u64::from(crossings);
        Self {
            sizes,
            mesh,
            params: device.buffer("params", params_words, Usage::UNIFORM | Usage::COPY_DST),
            counters: storage("counters", COUNTERS as u64, Usage::COPY_SRC | Usage::COPY_DST),
            dispatch: std::array::from_fn(|_| {
                storage("dispatch", dispatch_words, Usage::INDIRECT | Usage::COPY_DST)
            }),
            first_pairs: storage("first pairs", GROUPS_PER_PAIR * all_pairs, Usage::empty()),
            pairs: storage("pairs", PAIR_WORDS as u64 * all_pairs, Usage::empty()),
            bitmap: storage("bitmap", bitmap.into(), Usage::COPY_DST),
            bricks_before: storage("bricks_before", bitmap.into(), Usage::empty()),
            block_bricks: storage("block_bricks", sizes.blocks().into(), Usage::COPY_DST),
            bricks: storage("bricks", brick_words, Usage::COPY_SRC),
            crossings: storage("crossings", crossing_words, Usage::COPY_SRC),
            bind_groups: HashMap::new(),
        }
    }

    /// The buffer of a list, and its capacity.
    pub(crate) fn list(&self, output: OutputList) -> (&wgpu::Buffer, u32) {
        match output {
            OutputList::Bricks => (&self.bricks, self.sizes.bricks),
            OutputList::Crossings => (&self.crossings, self.sizes.crossings),
        }
    }

    /// Creates the missing bind groups of `steps`.
    pub(crate) fn bind_all(&mut self, device: &Device, steps: &[Step]) -> Result<(), GpuError> {
        for step in steps {
            if !self.bind_groups.contains_key(&step.key()) {
                let is_indirect = matches!(step.size, Size::Indirect(_));
                let from = is_indirect.then_some(step.dispatch_buffer());
                let named = self.named(step.level, from);
                let bind_groups = step.pipeline(device).bind(&device.device, &named)?;
                self.bind_groups.insert(step.key(), bind_groups);
            }
        }
        Ok(())
    }

    /// The buffers for a kernel of a level, by the names of its bindings. `from` is the index of
    /// the buffer of dispatch arguments that the kernel is dispatched from, if it is.
    pub(crate) fn named(
        &self,
        level: u32,
        from: Option<usize>,
    ) -> [(&str, BindingResource<'_>); 12] {
        let params = wgpu::BufferBinding {
            buffer: &self.params,
            offset: (level as usize * PARAMS_STRIDE) as u64,
            size: wgpu::BufferSize::new(size_of::<Params>() as u64),
        };
        let dispatch = |index: usize| &self.dispatch[if from == Some(index) { 2 } else { index }];
        [
            ("params", BindingResource::Buffer(params)),
            ("mesh", self.mesh.as_entire_binding()),
            ("counters", self.counters.as_entire_binding()),
            ("dispatch_0", dispatch(0).as_entire_binding()),
            ("dispatch_1", dispatch(1).as_entire_binding()),
            ("first_pairs", self.first_pairs.as_entire_binding()),
            ("pairs", self.pairs.as_entire_binding()),
            ("bitmap", self.bitmap.as_entire_binding()),
            ("bricks_before", self.bricks_before.as_entire_binding()),
            ("block_bricks", self.block_bricks.as_entire_binding()),
            ("bricks", self.bricks.as_entire_binding()),
            ("crossings", self.crossings.as_entire_binding()),
        ]
    }
}
