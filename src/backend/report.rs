//! Profiling reports of runs on a GPU.

use serde::Serialize;

/// Profile of one run of a backend.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunReport {
    /// Executions of the stages: 1, unless buffers were enlarged or the work was split.
    pub runs: u32,
    /// Number of submissions that the host waited for.
    pub waits: u32,
    /// Bytes of mesh data uploaded to the GPU.
    pub upload_bytes: u64,
    /// Bytes read back.
    pub read_bytes: u64,
    /// Wall time on the host, by phase.
    pub host_ms: HostTimes,
    /// Profiles of the stages in the order of execution, summed over levels and runs.
    pub stages: Vec<StageReport>,
}

impl RunReport {
    /// Adds the profile of another run.
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

    /// GPU time of all stages in milliseconds; `None` if not measured.
    #[must_use]
    pub fn gpu_ms(&self) -> Option<f64> {
        self.stages.iter().map(|stage| stage.ms).sum()
    }
}

/// Wall time on the host by phase, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HostTimes {
    /// Creating buffers, if those of earlier runs are too small, and compiling kernels on first
    /// use.
    pub prepare: f64,
    /// Passing the mesh to the driver.
    pub upload: f64,
    /// Recording commands and submitting them.
    pub submit: f64,
    /// Waiting for the GPU.
    pub wait: f64,
    /// Reading bricks or crossings from mapped memory, and counting crossings.
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

/// Profile of one stage. `bytes` divided by the device's bandwidth is a lower bound of its time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageReport {
    /// The shader's entry point.
    pub name: &'static str,
    /// GPU time in milliseconds; `None` if not requested, or if the adapter has no timestamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Number of dispatches: one per level and run.
    pub dispatches: u32,
    /// Number of active invocations: one per triangle, pair or candidate.
    pub invocations: u64,
    /// Number of exact tests of a triangle against a node, a row of up to eight voxels, or a
    /// column.
    pub tests: u64,
    /// Distinct bytes read and written: the minimum memory traffic.
    pub bytes: u64,
}

impl StageReport {
    fn add(&mut self, other: &Self) {
        self.dispatches += other.dispatches;
        self.invocations += other.invocations;
        self.tests += other.tests;
        self.bytes += other.bytes;
        // No sum if either was not measured.
        self.ms = self.ms.zip(other.ms).map(|(own, other)| own + other);
    }
}
