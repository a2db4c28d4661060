//! GPU times of the steps of a run, by timestamps at the beginning and the end of each.

use wgpu::BufferUsages as Usage;

use crate::gpu::Device;

/// Timestamp queries for one run at a time.
#[derive(Debug)]
pub(crate) struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Milliseconds per tick.
    period: f64,
}

impl Clock {
    /// For runs of at most `steps` steps; `None` if the adapter does not support timestamps.
    pub(crate) fn new(device: &Device, steps: u32) -> Option<Self> {
        if !device.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let queries = device.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * steps,
        });
        let usage = Usage::QUERY_RESOLVE | Usage::COPY_SRC;
        let resolved = device.buffer("timestamps", Self::bytes(steps) / 4, usage);
        // The period is in nanoseconds.
        let period = f64::from(device.queue.get_timestamp_period()) * 1e-6;
        Some(Self { queries, resolved, period })
    }

    /// Bytes of the timestamps of `steps` steps.
    pub(crate) const fn bytes(steps: u32) -> u64 {
        2 * 8 * steps as u64
    }

    /// Timestamp writes at the beginning and the end of the pass of step `index`.
    pub(crate) fn around(&self, index: usize) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * index as u32),
            end_of_pass_write_index: Some(2 * index as u32 + 1),
        }
    }

    /// Records a copy of the timestamps of `steps` steps to `staging`, at byte `offset`.
    pub(crate) fn read_into(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        steps: usize,
        staging: &wgpu::Buffer,
        offset: u64,
    ) {
        encoder.resolve_query_set(&self.queries, 0..2 * steps as u32, &self.resolved, 0);
        let bytes = Self::bytes(steps as u32);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, staging, offset, bytes);
    }

    /// Milliseconds of each step, from the timestamps in a staging buffer.
    pub(crate) fn milliseconds(&self, bytes: &[u8]) -> Vec<f64> {
        let steps: Vec<[u64; 2]> = bytemuck::pod_collect_to_vec(bytes);
        let ticks = steps.iter().map(|[begin, end]| end.saturating_sub(*begin));
        ticks.map(|ticks| ticks as f64 * self.period).collect()
    }
}
