//! One run of all stages on a sub-batch.

use std::ops::Range;

use web_time::Instant;
use wgpu::BufferUsages as Usage;

use crate::backend::gpu::buffers::{Buffers, Sizes, UPPER_SHARE};
use crate::backend::gpu::data::{
    BRICKS, BRICKS_FULL, CANDIDATES, COUNTERS, CROSSINGS, FAILURES, LEVELS, PAIRS, PAIRS_FULL,
    TOO_MANY_CANDIDATES,
};
use crate::backend::gpu::job::{Job, Overflow, Results, SubBatch};
use crate::backend::gpu::readback::{CLOCK_AT, LIST_AT, Readback};
use crate::backend::gpu::stages::OutputList;
use crate::backend::gpu::upload::Uploaded;
use crate::backend::gpu::work::{Counts, profile};
use crate::backend::report::RunReport;
use crate::base::milliseconds;
use crate::gpu::{Clock, Device, GpuError};

/// Buffers, bind groups and readback, reused by all runs.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) buffers: Buffers,
    pub(super) readback: Readback,
    pub(super) uploaded: Uploaded,
}

impl Workspace {
    /// Without room for any mesh.
    pub(super) fn new(device: &Device) -> Self {
        let mesh = device.buffer("mesh", 0, Usage::STORAGE);
        let buffers = Buffers::new(device, mesh, Sizes::default());
        Self { buffers, readback: Readback::new(device), uploaded: Uploaded::default() }
    }

    /// Runs all stages on a sub-batch of the uploaded mesh, and adds the output to `results`, or
    /// returns the overflow.
    pub(super) async fn run(
        &mut self,
        device: &Device,
        job: &Job<'_>,
        sub_batch: &SubBatch,
        results: &mut Results,
    ) -> Result<Option<Overflow>, GpuError> {
        let Results { lists, report, .. } = results;
        let began = Instant::now();
        let setting = job.setting();
        let steps = setting.steps();
        self.buffers.bind_all(device, &steps)?;
        let mut encoder = device.encoder();
        let params = self.buffers.params_of(&setting, sub_batch);
        device.queue.write_buffer(&self.buffers.params, 0, &params);
        self.buffers.clear(&mut encoder, sub_batch.bitmap_words(job.rule));
        self.buffers.record(device, &mut encoder, &setting, sub_batch, job.clock);
        let (counters, staging) = (&self.buffers.counters, &self.readback.staging);
        encoder.copy_buffer_to_buffer(counters, 0, staging, 0, counters.size());
        if let Some(clock) = job.clock {
            clock.read_into(&mut encoder, steps.len(), staging, CLOCK_AT as u64);
        }
        report.host_ms.submit += milliseconds(began.elapsed());

        let sizes = self.buffers.sizes;
        let expected = self.readback.expected(job.rule).min(sizes.bricks);
        let read = |staging: &[u8]| {
            let counters: Vec<u32> = bytemuck::pod_collect_to_vec(&staging[..4 * COUNTERS]);
            let overflow = overflow(&counters, &sizes, job);
            if overflow.is_none() {
                let found = counters[BRICKS].min(expected);
                lists.extend(OutputList::Bricks, staging, found as usize);
            }
            let times = |clock: &Clock| clock.milliseconds(&staging[CLOCK_AT..LIST_AT as usize]);
            (counters, overflow, job.clock.map(times))
        };
        let source = self.records(OutputList::Bricks, 0..expected);
        let fetched = self.readback.fetch(device, encoder, source, report, read);
        let (counters, overflow, times) = fetched.await?;
        let bitmap = sub_batch.bitmap_words(job.rule);
        let (triangles, bitmap) = (sub_batch.triangle_count().into(), bitmap.into());
        let counts = Counts { triangles, bitmap, counters: &counters, sizes: &sizes };
        let profile =
            |(index, step)| profile(step, &counts, times.as_ref().map(|times| times[index]));
        let stages = steps.iter().enumerate().map(profile).collect();
        report.add(RunReport { runs: 1, stages, ..RunReport::default() });

        if overflow.is_some() {
            return Ok(overflow);
        }
        job.adapt(counts.sum(CANDIDATES), began.elapsed());
        let [found, listed] = [counters[BRICKS], counters[CROSSINGS]];
        if found > expected {
            self.read(device, OutputList::Bricks, expected..found, results).await?;
        }
        if listed > 0 {
            self.read(device, OutputList::Crossings, 0..listed, results).await?;
        }
        self.readback.learn(job.rule, found);
        Ok(None)
    }

    /// Reads records that were not read with the counters. The staging buffer grows by an eighth
    /// more than a list that begins with them would need.
    async fn read(
        &mut self,
        device: &Device,
        output: OutputList,
        range: Range<u32>,
        results: &mut Results,
    ) -> Result<(), GpuError> {
        let Results { lists, report, .. } = results;
        let (_, capacity) = self.buffers.list(output);
        let room = range.end.saturating_add(range.end / 8).min(capacity);
        self.readback.grow(device, output, room)?;
        let len = range.len();
        let read = |staging: &[u8]| lists.extend(output, staging, len);
        let source = self.records(output, range);
        self.readback.fetch(device, device.encoder(), source, report, read).await
    }

    /// Records of an output list: its buffer, and where they are in it, in bytes.
    fn records(&self, output: OutputList, range: Range<u32>) -> (&wgpu::Buffer, Range<u64>) {
        let [start, end] = [range.start, range.end].map(|i| u64::from(i) * output.bytes());
        (self.buffers.list(output).0, start..end)
    }
}

/// The capacity of pairs that the lists of a run need.
pub(crate) fn needed_pairs(counters: &[u32]) -> u32 {
    let needed = |level: usize| {
        let share = if level > 1 { UPPER_SHARE } else { 1 };
        counters[PAIRS + level].saturating_mul(share)
    };
    (0..LEVELS).map(needed).fold(0, u32::max)
}

/// The overflow of a run, from its counters.
fn overflow(counters: &[u32], sizes: &Sizes, job: &Job) -> Option<Overflow> {
    let batch_limits = &job.batch_limits;
    let failures = counters[FAILURES];
    if failures & PAIRS_FULL != 0 {
        Some(Overflow::Pairs(needed_pairs(counters)))
    } else if failures & TOO_MANY_CANDIDATES != 0 {
        Some(Overflow::Candidates)
    } else if failures & BRICKS_FULL != 0 || counters[BRICKS] > batch_limits.bricks {
        Some(Overflow::Bricks(counters[BRICKS]))
    } else if counters[CROSSINGS] > sizes.crossings.min(batch_limits.crossings) {
        Some(Overflow::Crossings(counters[CROSSINGS]))
    } else {
        None
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::backend::gpu::BatchLimits;
    use crate::backend::gpu::data::{BRICK_WORDS, CROSSING_WORDS, PAIR_WORDS};
    use crate::backend::gpu::upload::Batch;
    use crate::backend::{Rule, VoxelKernel};
    use crate::gpu::promised;
    use crate::predicate::crosses::Axis;
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

    /// The buffers that stages write, and the words of each that they may write.
    fn written(buffers: &Buffers) -> Vec<(wgpu::Buffer, u32)> {
        let told = buffers.sizes;
        let all_pairs = told.all_pairs() as u32;
        let written = [
            (&buffers.pairs, all_pairs * PAIR_WORDS as u32),
            (&buffers.first_pairs, 2 * all_pairs),
            (&buffers.bitmap, told.bitmap),
            (&buffers.bricks_before, told.bitmap),
            (&buffers.block_bricks, told.blocks()),
            (&buffers.bricks, BRICK_WORDS as u32 * told.bricks),
            (&buffers.crossings, CROSSING_WORDS as u32 * told.crossings),
        ];
        written.map(|(buffer, words)| (buffer.clone(), words)).into()
    }

    /// Whether a run by `rule` writes the buffer with that index in [`written`]: crossings are
    /// listed where the large triangles of the mesh coincide with the sheet.
    fn is_used(rule: Rule, index: usize) -> bool {
        index < 6 || rule == Rule::Winding
    }

    /// Runs the job with buffers twice as large as the capacities in its parameters, filled with
    /// guard words; fails if a guard past a capacity is overwritten. Returns whether nothing
    /// overflowed.
    fn run_with_guards(
        device: &Device,
        (job, sub_batch): (&Job, &SubBatch),
        mesh: &wgpu::Buffer,
        told: Sizes,
    ) -> bool {
        let Sizes { pairs, bricks, crossings, bitmap } = told;
        let made = Sizes {
            pairs: 2 * pairs,
            bricks: 2 * bricks,
            crossings: 2 * crossings,
            bitmap: 2 * bitmap,
        };
        let mut workspace = Workspace::new(device);
        workspace.buffers = Buffers::new(device, mesh.clone(), made);
        device.check().unwrap();
        workspace.buffers.sizes = told;
        for (buffer, _) in written(&workspace.buffers) {
            let words = vec![GUARD; buffer.size() as usize / 4];
            device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
        }
        let mut results = Results::default();
        let outcome = device.block_on(workspace.run(device, job, sub_batch, &mut results)).unwrap();
        for (index, (buffer, used)) in written(&workspace.buffers).into_iter().enumerate() {
            let words = device.block_on(device.contents(&buffer)).unwrap();
            let (used, past) = words.split_at(used as usize);
            let what = format!("{:?}, buffer {index}, {told:?}", job.rule);
            assert!(past.iter().all(|&word| word == GUARD), "{what}");
            // The last stages are skipped after a failure.
            let was_used = used.iter().any(|&word| word != GUARD);
            let should_be = is_used(job.rule, index);
            assert!(was_used == should_be || (should_be && outcome.is_some()), "{what} unused");
        }
        outcome.is_none()
    }

    #[test]
    fn no_stage_writes_past_the_capacity_it_is_told() {
        let mesh = place(&sheet(40), &PlaceOptions::new(Sizing::Resolution(100))).unwrap();
        let batch_limits = BatchLimits::of(&wgpu::Limits::default());
        let batch = Batch::new(&mesh, 0..mesh.len());
        let dims = mesh.lattice().dims;
        let sub_batch = SubBatch::of_grid(batch.len(), batch.vertex_words(), dims);
        for adapter in promised() {
            let device = adapter.open().unwrap();
            let buffer = device.checked_buffer("mesh", batch.words(), Usage::STORAGE).unwrap();
            Uploaded::default().update(&device, &buffer, &batch);
            for (rule, kernel) in [
                (Rule::Conservative, VoxelKernel::Rows),
                (Rule::Conservative, VoxelKernel::Voxels),
                (Rule::SixSeparating, VoxelKernel::Rows),
                (Rule::Parity(Axis::Y), VoxelKernel::Rows),
                (Rule::Winding, VoxelKernel::Rows),
            ] {
                let pass_candidates = batch_limits.candidates.into();
                let job = Job::new(&mesh, batch_limits, &pass_candidates);
                let job = Job { rule, kernel, ..job };
                // From far too little to enough of both.
                let most = 1 << 14;
                let told = [(1, 1), (1023, 64), (1024, 1024), (most, 1), (most, most)];
                let fits = told.map(|(pairs, found)| {
                    let bitmap = sub_batch.bitmap_words(rule);
                    let told = Sizes { pairs, bricks: found.min(1024), crossings: found, bitmap };
                    run_with_guards(&device, (&job, &sub_batch), &buffer, told)
                });
                let label = adapter.label();
                assert!(!fits[0] && !fits[1] && !fits[3] && fits[4], "{label}, {rule:?}: {fits:?}");
            }
        }
    }
}
