//! The summary of one mesh, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use trivox::backend::report::{RunReport, StageReport};
use trivox::engine::{self, BandSummary, Summary};
use trivox::grid::ContentHash;
use trivox::{Comparison, DistanceField, VoxelGrid, Window, compare};

use crate::errors::ErrorReport;
use crate::fill_summary;
use crate::grid_summary::block_lines;
use crate::numbers::{counted, duration, grouped, short, significant, sized};
use crate::paths::{escaped, path_text};
use crate::write::complete::Names;

/// The result of a mesh. In JSON it has the fields of its variant.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    Made(Box<MeshSummary>),
    Skipped(Skipped),
    Failed(Failure),
}

/// The result of one mesh.
#[derive(Debug, Serialize)]
pub struct MeshSummary {
    pub mesh: String,
    #[serde(flatten)]
    pub result: Summary,
    /// Triangles without area on the lattice.
    pub degenerate: usize,
    /// That of the distances, if they were computed.
    pub hash: ContentHash,
    /// The number of distinct colours, if there are any.
    pub colors: Option<usize>,
    /// The blocks of a schematic and their numbers, the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<(String, u64)>,
    /// The result of `--compare-backends`.
    pub check: Option<Check>,
    /// Whether the solid is doubtful and `--strict` was given.
    pub refused: bool,
    pub output: Option<Names>,
    /// The picture, if requested.
    pub preview: Option<Names>,
    pub bytes: Option<u64>,
    pub timings_ms: Timings,
    /// Milliseconds of each stage, if the GPU measures them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gpu_ms: BTreeMap<&'static str, f64>,
    /// Counts and times of the GPU's stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<RunReport>,
    pub warnings: Vec<String>,
    /// Defaults that were applied, and the options that change them.
    pub notes: Vec<String>,
}

/// A mesh whose output existed already.
#[derive(Debug, Serialize)]
pub struct Skipped {
    mesh: String,
    skipped: bool,
    reason: &'static str,
    output: String,
    #[serde(flatten)]
    pub contents: Contents,
}

/// The voxels of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Contents {
    dims: [u32; 3],
    pub occupied: u64,
    hash: ContentHash,
}

impl Contents {
    pub fn of(grid: &VoxelGrid) -> Self {
        Self { dims: grid.dims(), occupied: grid.occupied(), hash: grid.hash() }
    }

    pub fn of_distances(field: &DistanceField) -> Self {
        let (dims, occupied) = (field.dims(), field.inside().occupied());
        Self { dims, occupied, hash: field.hash() }
    }
}

impl Skipped {
    /// The summary of the existing file `output`.
    pub fn new(mesh: &Path, output: &Path, contents: Contents) -> Self {
        Self {
            mesh: path_text(mesh),
            skipped: true,
            reason: "complete, of this mesh with these options",
            output: path_text(output),
            contents,
        }
    }
}

/// A mesh that failed.
#[derive(Debug, Serialize)]
pub struct Failure {
    mesh: String,
    #[serde(flatten)]
    pub report: ErrorReport,
}

impl Failure {
    pub fn new(mesh: &Path, error: &anyhow::Error) -> Self {
        Self { mesh: path_text(mesh), report: ErrorReport::new(error) }
    }
}

/// A comparison of the results of two backends.
#[derive(Debug, Serialize)]
pub struct Check {
    /// Both backends, with their adapters.
    pub backends: [String; 2],
    /// The number of differing voxels, or of voxels with different distances.
    pub differing: u64,
    /// The first of them, each with the index in `backends` of the one that has it; without it if
    /// their distances differ.
    pub voxels: Vec<([u32; 3], Option<usize>)>,
}

/// Maximum number of differing voxels listed.
const NAMED: usize = 8;

impl Check {
    /// Compares the grids of two backends.
    pub fn new(one: &VoxelGrid, two: &VoxelGrid, backends: [String; 2]) -> Self {
        let Comparison { only, first, .. } = compare(one, two, NAMED);
        let voxels = first.into_iter().map(|(voxel, by)| (voxel, Some(by))).collect();
        Self { backends, differing: only[0] + only[1], voxels }
    }

    /// Compares the distances of two backends, whose voxels inside are the same.
    pub fn of_distances(one: &DistanceField, two: &DistanceField, backends: [String; 2]) -> Self {
        let differs = |&(voxel, distance): &([u32; 3], f32)| distance != two.get(voxel);
        // Voxels that only the other has in its band.
        let is_new = |&(voxel, _): &([u32; 3], f32)| !one.band().contains(voxel);
        let mut differing = one.distances().filter(differs).chain(two.distances().filter(is_new));
        let voxels: Vec<_> =
            differing.by_ref().take(NAMED).map(|(voxel, _)| (voxel, None)).collect();
        Self { backends, differing: (voxels.len() + differing.count()) as u64, voxels }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two] = &self.backends;
        if self.differing == 0 {
            return write!(f, "{two}: the same, bit for bit");
        }
        let are_voxels = self.voxels.iter().any(|(_, by)| by.is_some());
        let differing = counted(self.differing, if are_voxels { "voxel" } else { "distance" });
        let name = |([x, y, z], by): &([u32; 3], Option<usize>)| match by {
            Some(by) => format!("({x}, {y}, {z}) only on {}", self.backends[*by]),
            None => format!("({x}, {y}, {z})"),
        };
        let mut named: Vec<String> = self.voxels.iter().map(name).collect();
        match self.differing - named.len() as u64 {
            0 => {}
            more => named.push(format!("and {} more", grouped(more))),
        }
        write!(f, "{one} and {two} differ in {differing}: {}", named.join("; "))
    }
}

/// Milliseconds per step.
#[derive(Debug, Default, Serialize)]
pub struct Timings {
    #[serde(flatten)]
    pub steps: engine::Timings,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<f64>,
    pub total: f64,
}

/// Runs `step`; returns its result and its time in milliseconds.
///
/// # Errors
/// Errors of `step`.
pub fn timed<T, E>(step: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let result = step()?;
    Ok((result, milliseconds(start.elapsed())))
}

/// Rounded to three decimals, the resolution of the clock.
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

impl MeshSummary {
    /// Whether the backends differ.
    pub fn differs(&self) -> bool {
        self.check.as_ref().is_some_and(|check| check.differing > 0)
    }

    /// The summary without warnings, one line per item; more with `verbose`.
    pub fn block(&self, verbose: bool) -> String {
        let mut lines = Vec::new();
        let mut line = |label: &str, text: String| lines.push(format!("{label:<9} {text}\n"));
        let Summary { triangles, dims, voxel_size, origin, lattice, occupied, bricks, .. } =
            &self.result;
        let degenerate = match self.degenerate {
            0 => String::new(),
            n => format!(", {} of them degenerate", grouped(n as u64)),
        };
        let triangles = counted(*triangles as u64, "triangle");
        line("mesh", format!("{}, {triangles}{degenerate}", escaped(&self.mesh)));
        let [x, y, z] = dims.map(|voxels| significant(f64::from(voxels) * voxel_size));
        let corner = origin.map(significant).join(", ");
        line("size", format!("{x} x {y} x {z} mesh units, from ({corner})"));
        line("grid", format!("{} of {}", sized(*dims), significant(*voxel_size)));
        if verbose {
            line("origin", origin.map(|c| short(&c)).join(", "));
            if let Some(Window { from: [x, y, z], .. }) = &self.result.tile {
                let whole = sized(lattice.dims);
                line("tile", format!("from voxel ({x}, {y}, {z}) of {whole}"));
            }
            line("lattice", format!("2^{} units a voxel", lattice.fraction_bits));
        }
        let bricks =
            if verbose { format!(" in {}", counted(*bricks, "brick")) } else { String::new() };
        line("occupied", format!("{}{bricks}", counted(*occupied, "voxel")));
        if let Some(BandSummary { width, voxels, .. }) = self.result.distances {
            line("distances", format!("{} nearer than {width}", counted(voxels, "voxel")));
        }
        if let Some(fill) = &self.result.fill {
            fill_summary::lines(fill).for_each(|(label, text)| line(label, text));
        }
        if verbose {
            line("hash", self.hash.to_string());
        }
        if let Some(colors) = self.colors {
            line("colours", grouped(colors as u64));
        }
        if verbose {
            block_lines(&self.blocks).for_each(|(label, text)| line(label, text));
        }
        let Summary { backend, adapter, reason, .. } = &self.result;
        let adapter = adapter.as_ref().map(|a| format!(", {a}")).unwrap_or_default();
        let reason = if verbose { format!(" ({reason})") } else { String::new() };
        line("backend", format!("{backend}{adapter}{reason}"));
        if let Some(check) = &self.check {
            line("check", check.to_string());
        }
        line("time", self.timings_ms.to_string());
        if let Some(gpu) = self.gpu.as_ref().filter(|_| verbose) {
            line("gpu", gpu_host(gpu));
            gpu.stages.iter().for_each(|stage| line("", gpu_stage(stage)));
        }
        if let (Some(output), Some(bytes)) = (&self.output, self.bytes) {
            line("wrote", format!("{output}, {}", counted(bytes, "byte")));
        }
        if let Some(preview) = &self.preview {
            line("drew", preview.to_string());
        }
        lines.concat()
    }

    /// The summary in one line.
    pub fn line(&self) -> String {
        let Self { mesh, hash, result: Summary { dims, occupied, .. }, .. } = self;
        let (dims, occupied) = (sized(*dims), grouped(*occupied));
        let check = self.check.as_ref().map(|check| format!(", {check}")).unwrap_or_default();
        let output = self.output.as_ref().map(|output| format!(", {output}")).unwrap_or_default();
        let time = duration(self.timings_ms.total);
        let mesh = escaped(mesh);
        format!("{mesh}: {dims}, {occupied} occupied, {hash}{check}, {time}{output}\n")
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [mesh, output] = [&self.mesh, &self.output].map(|name| escaped(name));
        write!(f, "{mesh}: skipped, {output} is there: {}", self.reason)
    }
}

impl fmt::Display for Failure {
    /// The error, with the mesh's name unless the message has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mesh, report: ErrorReport { error, .. } } = self;
        let mesh = escaped(mesh);
        match error.starts_with(&mesh) {
            true => f.write_str(error),
            false => write!(f, "{mesh}: {error}"),
        }
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { steps, check, write, preview, total } = self;
        let ms = |time: Duration| Some(milliseconds(time));
        let steps = [
            ("load", steps.load.and_then(ms)),
            ("place", ms(steps.place)),
            ("start", ms(steps.start).filter(|start| *start >= 1.0)),
            ("voxelize", ms(steps.voxelize)),
            ("fill", steps.fill.and_then(ms)),
            ("distance", steps.distance.and_then(ms)),
            ("check", *check),
            ("color", steps.color.and_then(ms)),
            ("attributes", steps.attributes.and_then(ms)),
            ("write", *write),
            ("preview", *preview),
            ("total", Some(*total)),
        ];
        let steps: Vec<String> = (steps.iter())
            .filter_map(|(name, time)| time.map(|time| format!("{name} {}", duration(time))))
            .collect();
        f.write_str(&steps.join(", "))
    }
}

fn gpu_host(gpu: &RunReport) -> String {
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
            "cpu and gpu differ in 2 voxels: (19, 0, 4) only on gpu; (9, 9, 9) only on cpu"
        );
        let same = Check::new(&one, &one, backends());
        assert_eq!((same.differing, same.to_string().as_str()), (0, "gpu: the same, bit for bit"));
    }

    #[test]
    fn a_check_of_different_distances_counts_them_and_names_the_first() {
        let backends = || ["cpu".to_owned(), "gpu".to_owned()];
        let field = |voxels: &[[u32; 3]], distances: Vec<f32>| {
            DistanceField::of_parts(2.0, [grid(voxels), grid(&[])], distances).unwrap()
        };
        let one = field(&[[1, 2, 3], [3, 3, 3]], vec![1.0, 1.5]);
        let two = field(&[[1, 2, 3], [9, 9, 9]], vec![1.25, 0.5]);
        let check = Check::of_distances(&one, &two, backends());
        let expected = "cpu and gpu differ in 3 distances: (1, 2, 3); (3, 3, 3); (9, 9, 9)";
        assert_eq!((check.differing, check.to_string().as_str()), (3, expected));
        assert_eq!(Check::of_distances(&two, &two, backends()).differing, 0);
        let many: Vec<[u32; 3]> = (0..12).map(|x| [x, 0, 0]).collect();
        let many = field(&many, vec![1.0; 12]);
        let check = Check::of_distances(&many, &two, backends());
        assert!(check.to_string().ends_with("; and 6 more"), "{check}");
    }
}
