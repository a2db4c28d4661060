//! What a run has to say at its end: for a person, and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;
use trivox::VoxelGrid;
use trivox::backend::report::{Report, StageReport};

/// The result of a run. As JSON these are the fields; lengths are in mesh units.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub mesh: String,
    pub triangles: usize,
    /// Triangles without area on the lattice.
    pub degenerate: usize,
    pub dims: [u32; 3],
    pub voxel_size: f64,
    pub origin: [f64; 3],
    /// Bits of a voxel's edge on the lattice.
    pub unit_bits: u32,
    pub occupied: u64,
    pub bricks: u64,
    pub hash: String,
    pub backend: &'static str,
    pub adapter: Option<String>,
    /// Why this backend.
    pub reason: String,
    /// What `--check` found.
    pub check: Option<Check>,
    pub output: Option<String>,
    pub bytes: Option<u64>,
    pub timings_ms: Timings,
    /// Milliseconds of each stage, where the GPU's clock told.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gpu_ms: BTreeMap<&'static str, f64>,
    /// What the GPU did, stage by stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Report>,
    pub warnings: Vec<String>,
    #[serde(skip)]
    pub verbose: bool,
}

impl Summary {
    /// Takes note of what the backend says of its run.
    pub fn report(&mut self, report: Option<Report>) {
        let stages = report.iter().flat_map(|report| &report.stages);
        self.gpu_ms = stages.filter_map(|stage| Some((stage.name, stage.ms?))).collect();
        self.gpu = report;
    }
}

/// A grid compared with the one that another backend made.
#[derive(Debug, Serialize)]
pub struct Check {
    /// Both backends, with their adapters.
    pub backends: [String; 2],
    /// How many voxels differ.
    pub differing: usize,
    /// The first few of them, and the number in `backends` of the one that has it.
    pub voxels: Vec<([u32; 3], usize)>,
}

/// How many of the voxels that differ are named.
const NAMED: usize = 8;

impl Check {
    /// Compares the grids of two backends.
    pub fn new(one: &VoxelGrid, two: &VoxelGrid, backends: [String; 2]) -> Self {
        let named = one.difference(two).take(NAMED);
        Self {
            backends,
            differing: one.difference(two).count(),
            voxels: named.map(|(voxel, in_one)| (voxel, usize::from(!in_one))).collect(),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two] = &self.backends;
        if self.differing == 0 {
            return write!(f, "{two}: the same, bit for bit");
        }
        write!(f, "{one} and {two} differ in {} voxels:", self.differing)?;
        self.voxels.iter().try_for_each(|([x, y, z], by)| {
            write!(f, " ({x}, {y}, {z}) only on {};", self.backends[*by])
        })
    }
}

/// Milliseconds per step, in order.
#[derive(Debug, Default, Serialize)]
pub struct Timings {
    pub load: f64,
    pub place: f64,
    /// Starting the backend: opening the device and compiling for it.
    pub start: f64,
    pub voxelize: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<f64>,
    pub total: f64,
}

/// Runs `step` and returns its result and its time in milliseconds.
pub fn timed<T>(step: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = step();
    (result, milliseconds(start.elapsed()))
}

/// With three decimals: the clock is no better.
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |label: &str, text: String| writeln!(f, "{label:<9} {text}");
        let degenerate = match self.degenerate {
            0 => String::new(),
            n => format!(", {} of them degenerate", grouped(n as u64)),
        };
        line(
            "mesh",
            format!("{}, {}{degenerate}", self.mesh, counted(self.triangles as u64, "triangle")),
        )?;
        let [x, y, z] = self.dims;
        line("grid", format!("{x} x {y} x {z} voxels of {}", significant(self.voxel_size)))?;
        if self.verbose {
            let [x, y, z] = self.origin;
            line("origin", format!("{x}, {y}, {z}"))?;
            line("lattice", format!("2^{} units a voxel", self.unit_bits))?;
        }
        let (occupied, bricks) = (counted(self.occupied, "voxel"), counted(self.bricks, "brick"));
        line("occupied", format!("{occupied} in {bricks}"))?;
        line("hash", self.hash.clone())?;
        let adapter = self.adapter.as_ref().map(|a| format!(", {a}")).unwrap_or_default();
        let reason = if self.verbose { format!(" ({})", self.reason) } else { String::new() };
        line("backend", format!("{}{adapter}{reason}", self.backend))?;
        if let Some(check) = &self.check {
            line("check", check.to_string())?;
        }
        line("time", self.timings_ms.to_string())?;
        if let Some(gpu) = self.gpu.as_ref().filter(|_| self.verbose) {
            line("gpu", gpu_host(gpu))?;
            gpu.stages.iter().try_for_each(|stage| line("", gpu_stage(stage)))?;
        }
        if let (Some(output), Some(bytes)) = (&self.output, self.bytes) {
            line("wrote", format!("{output}, {}", counted(bytes, "byte")))?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = [
            ("load", Some(self.load)),
            ("place", Some(self.place)),
            ("start", Some(self.start).filter(|start| *start >= 1.0)),
            ("voxelize", Some(self.voxelize)),
            ("check", self.check),
            ("write", self.write),
            ("total", Some(self.total)),
        ];
        let steps: Vec<String> = (steps.iter())
            .filter_map(|(name, time)| time.map(|time| format!("{name} {}", duration(time))))
            .collect();
        f.write_str(&steps.join(", "))
    }
}

fn gpu_host(gpu: &Report) -> String {
    let host = [
        ("prepare", gpu.host_ms.prepare),
        ("upload", gpu.host_ms.upload),
        ("submit", gpu.host_ms.submit),
        ("wait", gpu.host_ms.wait),
        ("read", gpu.host_ms.read),
    ];
    let host: Vec<String> =
        host.iter().map(|(name, time)| format!("{name} {}", duration(*time))).collect();
    let (runs, waits) = (counted(gpu.runs.into(), "run"), counted(gpu.waits.into(), "wait"));
    format!("{runs}, {waits}; {}", host.join(", "))
}

fn gpu_stage(stage: &StageReport) -> String {
    let time = stage.ms.map_or_else(|| "not timed".to_owned(), |ms| format!("{ms:.3} ms"));
    let (invocations, bytes) = (grouped(stage.invocations), grouped(stage.bytes));
    format!("{:<11} {time:>10}, {invocations} invocations, {bytes} bytes", stage.name)
}

fn duration(milliseconds: f64) -> String {
    match milliseconds {
        t if t < 10.0 => format!("{t:.1} ms"),
        t if t < 1000.0 => format!("{t:.0} ms"),
        t => format!("{:.2} s", t / 1000.0),
    }
}

/// A length with six significant digits.
fn significant(length: f64) -> String {
    format!("{length:.5e}").parse::<f64>().unwrap_or(length).to_string()
}

/// A number of things.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// With commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn grid(voxels: &[[u32; 3]]) -> VoxelGrid {
        VoxelGrid::from_voxels([20; 3], voxels.iter().copied()).unwrap()
    }

    #[test]
    fn a_check_of_different_grids_names_the_voxels_and_who_has_them() {
        let backends = || ["cpu".to_owned(), "gpu".to_owned()];
        let (one, two) = (grid(&[[1, 2, 3], [9, 9, 9]]), grid(&[[1, 2, 3], [19, 0, 4]]));
        let check = Check::new(&one, &two, backends());
        assert_eq!(
            check.to_string(),
            "cpu and gpu differ in 2 voxels: (19, 0, 4) only on gpu; (9, 9, 9) only on cpu;"
        );
        let same = Check::new(&one, &one, backends());
        assert_eq!((same.differing, same.to_string().as_str()), (0, "gpu: the same, bit for bit"));
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [0, 999, 1000, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
