//! The limits of graphics cards, and the times that they predict.

use trivox::backend::report::{RunReport, StageReport};

use crate::kernels::{COSTS, Cost};

/// The public limits of a card.
pub struct Card {
    /// Part of the adapter's name.
    pub name: &'static str,
    /// Bytes a second between the GPU and its memory.
    memory: f64,
    /// Multiprocessors or compute units.
    units: f64,
    /// Instructions a second that a unit issues, counted for each lane: lanes times clock.
    lane_rate: f64,
    /// Maximum resident invocations of a unit.
    resident: f64,
    /// Seconds of a load that misses the caches.
    load: f64,
    /// Bytes a second between host and GPU.
    link: f64,
}

/// Registers of a unit, 32 bits each: 256 KiB on all three.
const REGISTERS: f64 = 65_536.0;

/// Seconds from the end of a dispatch to the start of one that depends on it. Measured on an H200:
/// an almost empty dispatch takes 7 µs.
const DISPATCH: f64 = 5e-6;

/// Seconds from a submission to its first command, and from the last to the host that waits for
/// it. Measured on an H200: an almost empty run takes 240 µs, of which 40 µs are dispatches.
const WAIT: f64 = 200e-6;

/// Bytes a second at which the host copies to or from memory that the GPU sees: one thread's
/// `memcpy`. Measured on an H200: an upload of 15.7 MB takes 1.54 ms; PCIe takes 0.25 ms of it.
const HOST_COPY: f64 = 12e9;

pub const CARDS: [Card; 3] = [
    // NVIDIA H200 datasheet: 4.8 TB/s, 67 TFLOPS in FP32 (132 multiprocessors, 128 lanes, two
    // operations, 1.98 GHz), PCIe 5.0 x16 (63 GB/s each way). Compute capability 9.0: 2,048
    // threads. Loads: about 500 cycles.
    Card {
        name: "H200",
        memory: 4.8e12,
        units: 132.0,
        lane_rate: 128.0 * 1.98e9,
        resident: 2048.0,
        load: 500.0 / 1.98e9,
        link: 63e9,
    },
    // NVIDIA Ada whitepaper and product page: 504 GB/s, 46 multiprocessors, 128 lanes, 2.475 GHz,
    // PCIe 4.0 x16 (31.5 GB/s each way). Compute capability 8.9: 1,536 threads. Loads: about 500
    // cycles.
    Card {
        name: "RTX 4070",
        memory: 504e9,
        units: 46.0,
        lane_rate: 128.0 * 2.475e9,
        resident: 1536.0,
        load: 500.0 / 2.475e9,
        link: 31.5e9,
    },
    // AMD Ryzen 7 7840U: 12 compute units, two SIMDs of 32 lanes and 16 subgroups, 2.7 GHz;
    // DDR5-5600 on 128 bits is 89.6 GB/s, of which OpenCL programs reach 73 GB/s. Copies between
    // host and GPU read and write the same memory. Loads: DDR5 and its fabric, assumed.
    Card {
        name: "780M",
        memory: 73e9,
        units: 12.0,
        lane_rate: 64.0 * 2.7e9,
        resident: 1024.0,
        load: 400e-9,
        link: 73e9 / 2.0,
    },
];

/// What bounds a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Dispatches,
    Memory,
    Instructions,
    Latency,
    Transfer,
}

/// A predicted time in milliseconds, by what bounds its parts.
#[derive(Clone, Default)]
pub struct Time(Vec<(Bound, f64)>);

impl Time {
    fn part(&mut self, bound: Bound, seconds: f64) {
        self.0.push((bound, seconds * 1e3));
    }

    pub fn ms(&self) -> f64 {
        self.0.iter().map(|&(_, ms)| ms).sum()
    }

    /// The bound of most of the time, and its share.
    pub fn bound(&self) -> (Bound, f64) {
        let share = |bound| {
            let own = self.0.iter().filter(|(other, _)| *other == bound);
            own.map(|&(_, ms)| ms).sum::<f64>() / self.ms()
        };
        let all = self.0.iter().map(|&(bound, _)| (bound, share(bound)));
        all.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((Bound::Dispatches, 0.0))
    }
}

impl Card {
    /// The time of a stage: its dispatches wait for one another; in each, the slowest of moving
    /// its bytes, of issuing its instructions, and of its chains of loads, with as many invocations
    /// side by side as registers allow.
    pub fn stage(&self, stage: &StageReport) -> Option<Time> {
        let Cost { instructions, registers, chain, .. } =
            COSTS.iter().find(|cost| cost.kernel == stage.name)?;
        let invocations = stage.invocations as f64;
        let resident = self.units * self.resident.min(REGISTERS / f64::from(*registers));
        let waves = (invocations / resident).max(stage.dispatches.into());
        let terms = [
            (Bound::Memory, stage.bytes as f64 / self.memory),
            (
                Bound::Instructions,
                invocations * f64::from(*instructions) / (self.units * self.lane_rate),
            ),
            (Bound::Latency, waves * f64::from(*chain) * self.load),
        ];
        let (bound, seconds) = terms.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let mut time = Time::default();
        time.part(Bound::Dispatches, f64::from(stage.dispatches) * DISPATCH);
        time.part(bound, seconds);
        Some(time)
    }

    /// The time to move `bytes` between host and GPU, copied once more by the host.
    fn transfer(&self, bytes: u64) -> f64 {
        bytes as f64 / self.link + bytes as f64 / HOST_COPY
    }

    /// The time to upload a run's mesh.
    pub fn upload(&self, report: &RunReport) -> Time {
        let mut time = Time::default();
        time.part(Bound::Transfer, self.transfer(report.upload_bytes));
        time
    }

    /// The time to read a run's output back, and to wait for it.
    pub fn readback(&self, report: &RunReport) -> Time {
        let mut time = Time::default();
        time.part(Bound::Transfer, self.transfer(report.read_bytes));
        time.part(Bound::Dispatches, f64::from(report.waits) * WAIT);
        time
    }

    /// The time of a run: upload, stages, readback.
    pub fn run(&self, report: &RunReport) -> Option<Time> {
        let mut all = self.upload(report).0;
        for stage in &report.stages {
            all.extend(self.stage(stage)?.0);
        }
        all.extend(self.readback(report).0);
        Some(Time(all))
    }
}
