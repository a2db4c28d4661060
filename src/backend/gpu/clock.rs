//! Times of the steps of a run on the GPU, by timestamps at both ends of each.

use wgpu::BufferUsages as Usage;

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::data::LEVELS;

/// Most steps in a run: four a level, and two more.
const MAX_STEPS: usize = 4 * LEVELS + 2;
/// Bytes of the timestamps of a run.
pub(super) const CLOCK_BYTES: u64 = 2 * 8 * MAX_STEPS as u64;

/// Timestamps for one run at a time.
#[derive(Debug)]
pub(super) struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Milliseconds a tick.
    period: f64,
}

impl Clock {
    /// `None` where the adapter has no timestamps.
    pub(super) fn new(device: &Device) -> Option<Self> {
        if !device.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let queries = device.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * MAX_STEPS as u32,
        });
        let usage = Usage::QUERY_RESOLVE | Usage::COPY_SRC;
        let resolved = device.buffer("timestamps", CLOCK_BYTES / 4, usage);
        // The period is in nanoseconds.
        let period = f64::from(device.queue.get_timestamp_period()) * 1e-6;
        Some(Self { queries, resolved, period })
    }

    /// Writes the time at both ends of the pass of step `index`.
    pub(super) fn around(&self, index: usize) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * index as u32),
            end_of_pass_write_index: Some(2 * index as u32 + 1),
        }
    }

    /// Puts the times of `steps` steps into `staging`, from byte `offset`.
    pub(super) fn read_into(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        steps: usize,
        staging: &wgpu::Buffer,
        offset: u64,
    ) {
        encoder.resolve_query_set(&self.queries, 0..2 * steps as u32, &self.resolved, 0);
        let bytes = 2 * 8 * steps as u64;
        encoder.copy_buffer_to_buffer(&self.resolved, 0, staging, offset, bytes);
    }

    /// Milliseconds of each step, from what was put into the staging buffer.
    pub(super) fn milliseconds(&self, bytes: &[u8]) -> Vec<f64> {
        let (times, _) = bytes[..CLOCK_BYTES as usize].as_chunks::<8>();
        let (steps, _) = times.as_chunks::<2>();
        let ticks = steps.iter().map(|times| {
            let [begin, end] = times.map(u64::from_le_bytes);
            end.saturating_sub(begin)
        });
        ticks.map(|ticks| ticks as f64 * self.period).collect()
    }
}
