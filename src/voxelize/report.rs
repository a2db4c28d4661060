//! What a run on a GPU did and where its time went, for people who want to know; no result depends
//! on it.

use serde::Serialize;

/// What one run of a backend did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunReport {
    /// How often the stages ran: once, unless buffers had to be enlarged or the work divided.
    pub runs: u32,
    /// Submissions that the host waited for.
    pub waits: u32,
    /// Bytes of the mesh sent to the GPU.
    pub upload_bytes: u64,
    /// Bytes read back.
    pub read_bytes: u64,
    /// Where the host's time went.
    pub host_ms: HostTimes,
    /// What each stage did, in the order in which they run; summed over levels and runs.
    pub stages: Vec<StageReport>,
}

impl RunReport {
    /// Adds what another run did.
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.waits += other.waits;
        self.upload_bytes += other.upload_bytes;
        self.read_bytes += other.read_bytes;
        self.host_ms.add(&other.host_ms);
        for stage in other.stages {
            match self.stages.iter_mut().find(|own| own.name == stage.name) {
                Some(own) => own.add(&stage),
                None => self.stages.push(stage),
            }
        }
    }

    /// Milliseconds of all stages on the GPU; `None` where they were not measured.
    #[must_use]
    pub fn gpu_ms(&self) -> Option<f64> {
        self.stages.iter().map(|stage| stage.ms).sum()
    }
}

/// Milliseconds of wall time on the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HostTimes {
    /// Making buffers, where those of an earlier run are too small, and compiling the stages that a
    /// rule is the first to need.
    pub prepare: f64,
    /// Handing the mesh to the driver.
    pub upload: f64,
    /// Recording commands and submitting them.
    pub submit: f64,
    /// Waiting for the GPU.
    pub wait: f64,
    /// Taking bricks out of mapped memory, or crossings, and counting these.
    pub read: f64,
}

impl HostTimes {
    fn add(&mut self, other: &Self) {
        self.prepare += other.prepare;
        self.upload += other.upload;
        self.submit += other.submit;
        self.wait += other.wait;
        self.read += other.read;
    }
}

/// What one stage did. Divided by `ms`, these are rates; `bytes` divided by the device's bandwidth
/// is the least time that the stage can take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageReport {
    /// The shader's entry point.
    pub name: &'static str,
    /// Milliseconds on the GPU; `None` if not asked for, or if the adapter has no timestamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Dispatches: one for each level of each run.
    pub dispatches: u32,
    /// Invocations that had something to do: one for each triangle, pair or candidate.
    pub invocations: u64,
    /// Exact tests: of a triangle against a node, a row of up to eight voxels, or a column.
    pub tests: u64,
    /// Bytes that must be read and written, each counted once however often it is used.
    pub bytes: u64,
}

impl StageReport {
    fn add(&mut self, other: &Self) {
        self.dispatches += other.dispatches;
        self.invocations += other.invocations;
        self.tests += other.tests;
        self.bytes += other.bytes;
        // Where one of them was not measured, there is no sum.
        self.ms = self.ms.zip(other.ms).map(|(own, other)| own + other);
    }
}

#[cfg(feature = "gpu")]
impl StageReport {
    /// Of a stage that has not run.
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, ms: None, dispatches: 0, invocations: 0, tests: 0, bytes: 0 }
    }
}

#[cfg(feature = "gpu")]
pub(super) fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
