//! What comes back from a run: the counters, the timestamps, and bricks as far as they are
//! expected, all in one buffer, so that the host waits once.

use std::ops::Range;
use std::time::Instant;

use wgpu::BufferUsages as Usage;

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::clock::CLOCK_BYTES;
use crate::backend::gpu::data::{BRICK_WORDS, COUNTERS, KEY_WORDS};
use crate::backend::report::{Report, milliseconds};
use crate::error::BackendError;
use crate::grid::{BrickKey, Mask};

/// First byte of the timestamps in the staging buffer, after the counters.
pub(super) const CLOCK_AT: usize = 128;
const _: () = assert!(COUNTERS * 4 <= CLOCK_AT);
/// First byte of the bricks.
const BRICKS_AT: u64 = CLOCK_AT as u64 + CLOCK_BYTES;
const BRICK_BYTES: usize = 4 * BRICK_WORDS;
/// Most bricks that are read with the counters of a first run: 4.5 MiB.
const MOST_GUESSED: u32 = 1 << 16;

/// A staging buffer, and how much of it the next run is likely to fill.
pub(super) struct Readback {
    pub(super) staging: wgpu::Buffer,
    /// Bricks for which there is room.
    room: u32,
    expected: u32,
}

impl Readback {
    /// For a first run that finds about `guess` bricks.
    pub(super) fn new(device: &Device, guess: u32) -> Self {
        Self::with_room(device, guess.min(MOST_GUESSED))
    }

    fn with_room(device: &Device, room: u32) -> Self {
        let bytes = BRICKS_AT + BRICK_BYTES as u64 * u64::from(room);
        let staging = device.buffer("staging", bytes / 4, Usage::MAP_READ | Usage::COPY_DST);
        Self { staging, room, expected: room }
    }

    /// Bricks to read with the counters: what the last run found and an eighth more, since frames
    /// and parts are much alike.
    pub(super) fn expected(&self) -> u32 {
        self.expected
    }

    /// Takes note of what a run found.
    pub(super) fn learn(&mut self, found: u32) {
        self.expected = (found + found / 8).min(self.room);
    }

    /// Makes room for `bricks` bricks and an eighth more, of at most `most`.
    pub(super) fn grow(
        &mut self,
        device: &Device,
        bricks: u32,
        most: u32,
    ) -> Result<(), BackendError> {
        if bricks > self.room {
            *self = Self::with_room(device, (bricks + bricks / 8).min(most));
            device.check()?;
        }
        Ok(())
    }

    /// Copies `bricks` of `source` after all that `encoder` holds, submits it, waits, and returns
    /// what `read` makes of the staging buffer.
    pub(super) fn fetch<T>(
        &self,
        device: &Device,
        mut encoder: wgpu::CommandEncoder,
        (source, bricks): (&wgpu::Buffer, Range<u32>),
        report: &mut Report,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, BackendError> {
        let [from, to] = [bricks.start, bricks.end].map(|b| u64::from(b) * BRICK_BYTES as u64);
        encoder.copy_buffer_to_buffer(source, from, &self.staging, BRICKS_AT, to - from);
        let bytes = BRICKS_AT + to - from;

        let began = Instant::now();
        device.submit(encoder, &self.staging, bytes);
        let submitted = Instant::now();
        device.wait()?;
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

/// The counters in a staging buffer.
pub(super) fn counters(staging: &[u8]) -> Vec<u32> {
    let (words, _) = staging[..4 * COUNTERS].as_chunks::<4>();
    words.iter().copied().map(u32::from_le_bytes).collect()
}

/// The bricks in a staging buffer.
pub(super) fn bricks(staging: &[u8]) -> impl Iterator<Item = (BrickKey, Mask)> {
    let (bricks, _) = staging[BRICKS_AT as usize..].as_chunks::<BRICK_BYTES>();
    bricks.iter().map(brick)
}

fn brick(bytes: &[u8; BRICK_BYTES]) -> (BrickKey, Mask) {
    let (key, mask) = bytes.split_at(4 * KEY_WORDS);
    let (key, mask) = (key.as_chunks::<4>().0, mask.as_chunks::<8>().0);
    let [xy, z] = [0, 1].map(|i| u32::from_le_bytes(key[i]));
    let key = BrickKey::new([xy & 0xffff, xy >> 16, z]);
    (key, std::array::from_fn(|x| u64::from_le_bytes(mask[x])))
}
