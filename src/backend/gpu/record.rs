//! Records the stages of a run: their parameters and their dispatches.

use crate::backend::gpu::buffers::{Buffers, PARAMS_STRIDE};
use crate::backend::gpu::data::{
    BLOCK_WORDS, DISPATCH_WORDS, GROUP, LEVELS, MAX_CANDIDATES, Params,
};
use crate::backend::gpu::job::SubBatch;
use crate::backend::gpu::stages::{Size, Step, steps};
use crate::backend::{Rule, VoxelKernel};
use crate::gpu::{Clock, Device, dispatch};
use crate::predicate::crosses::Axis;

/// Bytes of the parameters of all levels.
pub(crate) const PARAMS_BYTES: usize = LEVELS * PARAMS_STRIDE;

/// The settings of the stages of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) rule: Rule,
    pub(crate) kernel: VoxelKernel,
    /// Whether the bricks stay on the GPU.
    pub(crate) keeps_bricks: bool,
    pub(crate) dims: [u32; 3],
    pub(crate) fraction_bits: u32,
    /// Candidates per pass.
    pub(crate) candidates: u32,
    pub(crate) groups: u32,
}

impl Setting {
    /// The highest level that is dispatched: the lowest, from 1 on, at which one pair can have all
    /// nodes of the grid as candidates.
    pub(crate) fn top_level(&self) -> u32 {
        let top = LEVELS as u32 - 1;
        let nodes = |level: u32| -> u64 {
            self.dims.iter().map(|&d| u64::from(d.div_ceil(1 << (3 * level)))).product()
        };
        (1..top).find(|&level| nodes(level) <= MAX_CANDIDATES.into()).unwrap_or(top)
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        steps(self.rule, self.kernel, self.keeps_bricks, self.top_level())
    }
}

impl Buffers {
    /// The parameters of all levels, as the buffer of parameters holds them.
    pub(crate) fn params_of(&self, setting: &Setting, sub_batch: &SubBatch) -> [u8; PARAMS_BYTES] {
        let Setting { rule, dims, fraction_bits, .. } = *setting;
        let (sizes, bricks) = (self.sizes, sub_batch.bricks);
        // Half a voxel along the counting axis moves a crossing into the voxel for which it counts,
        // the one with the next centre.
        let half = 1 << fraction_bits >> 1;
        let mut params = Params {
            region_lo: bricks.lo.map(|b| b << 3),
            fraction_bits,
            region_hi: std::array::from_fn(|a| ((bricks.hi[a] << 3) + 7).min(dims[a] as i32 - 1)),
            level: 0,
            shift: rule.counting_axis().map_or([0; 3], |axis| axis.unproject([0; 2], half)),
            top_level: setting.top_level(),
            axes: Axis::ALL.map(|axis| u32::from(rule.axes().contains(&axis))),
            first_triangle: sub_batch.triangles.start,
            dims: dims.map(|d| d as i32),
            triangle_count: sub_batch.triangle_count(),
            vertex_words: sub_batch.vertex_words,
            pair_capacity: sizes.pairs,
            upper_capacity: sizes.pairs_on(2),
            brick_capacity: sizes.bricks,
            crossing_capacity: sizes.crossings,
            directions: rule.directions(),
            candidate_limit: setting.candidates,
            max_groups: setting.groups,
        };
        let mut all = [0; PARAMS_BYTES];
        for (level, bytes) in (0..).zip(all.chunks_exact_mut(PARAMS_STRIDE)) {
            params.level = level;
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&params));
        }
        all
    }

    /// Clears the counters, and a bitmap of so many words.
    pub(crate) fn clear(&self, encoder: &mut wgpu::CommandEncoder, words: u32) {
        let [even, odd, _] = &self.dispatch;
        for buffer in [&self.counters, even, odd] {
            encoder.clear_buffer(buffer, 0, None);
        }
        let blocks = words.div_ceil(BLOCK_WORDS);
        for (buffer, words) in [(&self.bitmap, words), (&self.block_bricks, blocks)] {
            encoder.clear_buffer(buffer, 0, Some(4 * u64::from(words)));
        }
    }

    /// Records the steps of a run. Before: [`clear`](Self::clear), the parameters and the mesh in
    /// their buffers, and the bind groups of the steps.
    pub(crate) fn record(
        &self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        setting: &Setting,
        sub_batch: &SubBatch,
        clock: Option<&Clock>,
    ) {
        let steps = setting.steps();
        // Timestamps are per pass; untimed steps share one pass, which is slightly faster.
        let steps_per_pass = if clock.is_some() { 1 } else { steps.len() };
        for (index, steps) in steps.chunks(steps_per_pass).enumerate() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: clock.map(|clock| clock.around(index)),
            });
            for step in steps {
                step.pipeline(device).set(&mut pass, &self.bind_groups[&step.key()]);
                let invocations = match step.size {
                    Size::Triangles => sub_batch.triangle_count(),
                    Size::OneGroup => GROUP,
                    Size::Bitmap => sub_batch.bitmap_words(setting.rule),
                    Size::Indirect(word) => {
                        let buffer = &self.dispatch[step.dispatch_buffer()];
                        let word = DISPATCH_WORDS * u64::from(step.level) + word;
                        pass.dispatch_workgroups_indirect(buffer, 4 * word);
                        continue;
                    }
                };
                dispatch(&mut pass, invocations.div_ceil(GROUP), setting.groups);
            }
        }
    }
}
