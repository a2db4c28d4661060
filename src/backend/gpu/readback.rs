//! Readback of a run: counters, timestamps, and the expected number of bricks, in one buffer, so
//! that the host waits once.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;
use web_time::Instant;

use crate::backend::Rule;
use crate::backend::gpu::crossings::{CROSSING_BYTES, Crossing, brick_of, count};
use crate::backend::gpu::data::{BRICK_WORDS, COUNTERS, KEY_WORDS};
use crate::backend::gpu::stages::{MAX_STEPS, OutputList};
use crate::backend::report::RunReport;
use crate::base::milliseconds;
use crate::gpu::{Clock, Device, GpuError};
use crate::grid::{BrickKey, Mask};

/// First byte of the timestamps in the staging buffer, after the counters.
pub(crate) const CLOCK_AT: usize = 128;
const _: () = assert!(COUNTERS * 4 <= CLOCK_AT);
/// First byte of the output list.
pub(crate) const LIST_AT: u64 = CLOCK_AT as u64 + Clock::bytes(MAX_STEPS);
const BRICK_BYTES: usize = 4 * BRICK_WORDS;
/// Maximum bricks that are read with the counters of a first run.
const MAX_FIRST_BRICKS: u32 = 1 << 16;

/// A staging buffer, and predictions of the output of the next run.
#[derive(Debug)]
pub(crate) struct Readback {
    pub(crate) staging: wgpu::Buffer,
    /// Predicted number of bricks, by rule.
    expected: HashMap<Rule, u32>,
}

/// Records read from output lists.
#[derive(Default)]
pub(crate) struct Lists {
    /// Bricks of the stages: those of a sub-batch in canonical order, with duplicates across
    /// sub-batches.
    pub(crate) keys: Vec<BrickKey>,
    pub(crate) masks: Vec<Mask>,
    /// Further bricks, of crossings that the stages do not mark, in any order.
    pub(crate) listed: Vec<(BrickKey, Mask)>,
}

impl Lists {
    /// Appends the first `len` records of a staging buffer: all crossings of a run, or bricks.
    pub(crate) fn extend(&mut self, output: OutputList, staging: &[u8], len: usize) {
        let list = &staging[LIST_AT as usize..];
        match output {
            OutputList::Bricks => {
                let bricks = list.as_chunks::<BRICK_BYTES>().0.par_iter().take(len);
                rayon::join(
                    || self.keys.par_extend(bricks.clone().map(key)),
                    || self.masks.par_extend(bricks.clone().map(mask)),
                );
            }
            OutputList::Crossings => {
                let crossings = list.as_chunks::<CROSSING_BYTES>().0.iter();
                let crossings = crossings.take(len).map(Crossing::from_bytes);
                self.listed.append(&mut count(crossings.collect()));
            }
        }
    }
}

impl Readback {
    /// Without predictions.
    pub(crate) fn new(device: &Device) -> Self {
        Self { staging: device.staging(LIST_AT / 4), expected: HashMap::new() }
    }

    /// Number of bricks to read with the counters of a run by `rule`: those of the last run plus
    /// an eighth, since successive frames and sub-batches are similar.
    pub(crate) fn expected(&self, rule: Rule) -> u32 {
        self.expected.get(&rule).copied().unwrap_or(0)
    }

    /// Predicts `guess()` bricks, within limits, for the first run by `rule`.
    pub(crate) fn predict(
        &mut self,
        device: &Device,
        rule: Rule,
        guess: impl FnOnce() -> u32,
    ) -> Result<(), GpuError> {
        if !self.expected.contains_key(&rule) {
            let guess = guess().min(MAX_FIRST_BRICKS);
            self.grow(device, OutputList::Bricks, guess)?;
            self.expected.insert(rule, guess);
        }
        Ok(())
    }

    /// Updates the prediction with the number of bricks of a run by `rule`.
    pub(crate) fn learn(&mut self, rule: Rule, found: u32) {
        let room = (self.staging.size() - LIST_AT) / OutputList::Bricks.bytes();
        let predicted = (u64::from(found) + u64::from(found / 8)).min(room);
        self.expected.insert(rule, predicted as u32);
    }

    /// Grows the staging buffer to at least `len` records.
    pub(crate) fn grow(
        &mut self,
        device: &Device,
        output: OutputList,
        len: u32,
    ) -> Result<(), GpuError> {
        let bytes = LIST_AT + output.bytes() * u64::from(len);
        if bytes > self.staging.size() {
            self.staging = device.staging(bytes / 4);
        }
        device.check()
    }

    /// Records a copy of these bytes of `list` to the staging buffer, submits `encoder`, waits, and
    /// calls `read` on the staging buffer.
    pub(crate) async fn fetch<T>(
        &self,
        device: &Device,
        mut encoder: wgpu::CommandEncoder,
        (list, range): (&wgpu::Buffer, Range<u64>),
        report: &mut RunReport,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        let len = range.end - range.start;
        encoder.copy_buffer_to_buffer(list, range.start, &self.staging, LIST_AT, len);
        let bytes = LIST_AT + len;

        let began = Instant::now();
        let mapping = device.submit(encoder, &self.staging, bytes);
        let submitted = Instant::now();
        mapping.await?;
        let done = Instant::now();
        let result = device.mapped(&self.staging, bytes, read)?;

        report.waits += 1;
        report.read_bytes += bytes;
        report.host_ms.submit += milliseconds(submitted - began);
        report.host_ms.wait += milliseconds(done - submitted);
        report.host_ms.read += milliseconds(done.elapsed());
        Ok(result)
    }
}

fn key(bytes: &[u8; BRICK_BYTES]) -> BrickKey {
    brick_of(bytemuck::pod_read_unaligned(&bytes[..4 * KEY_WORDS]))
}

fn mask(bytes: &[u8; BRICK_BYTES]) -> Mask {
    bytemuck::pod_read_unaligned(&bytes[4 * KEY_WORDS..])
}
