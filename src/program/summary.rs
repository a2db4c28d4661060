//! The result of one mesh, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use trivox::backend::report::{RunReport, StageReport};
use trivox::base::{ms, some_ms};
use trivox::engine::{self, BandSummary, Measured, Summary, Warning};
use trivox::formats::{BlockList, Blocks, GridFormat, WriteOptions};
use trivox::grid::{Attribute, Attributes, Channel, ContentHash, VoxelValues};
use trivox::mesh::appearance::Material;
use trivox::surface::palette::count_colors;
use trivox::{
    Bounds, ColorSource, Lattice, Mode, PlacedMesh, Sizing, Up, VoxelGrid, Voxelized, Window,
};

use crate::check::Check;
use crate::cli::VoxelizeArgs;
use crate::console::CodedError;
use crate::grids::{Contents, block_lines, fill_lines};
use crate::inputs::Task;
use crate::plan::Plan;
use crate::resume::Remarks;
use crate::text::{
    counted, counted_as, duration, escaped, grouped, listed, rounded, sentences, short,
    significant, sized, triangles_text,
};
use crate::tips::nearest;

/// The result of a mesh. In JSON it has the fields of its variant.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    Made(Box<MeshSummary>),
    /// Its output existed already.
    Skipped {
        mesh: String,
        skipped: bool,
        reason: &'static str,
        output: String,
        #[serde(flatten)]
        contents: Contents,
        #[serde(flatten)]
        remarks: Remarks,
    },
    Failed {
        mesh: String,
        #[serde(flatten)]
        report: CodedError,
    },
}

#[derive(Debug, Serialize)]
pub struct MeshSummary {
    pub mesh: String,
    #[serde(flatten)]
    pub result: Summary,
    /// Triangles without area on the lattice.
    pub degenerate: usize,
    /// The hash of the distances or, if there are none, of the voxels.
    pub hash: ContentHash,
    /// The number of distinct colours, if there are any.
    pub colors: Option<usize>,
    /// The blocks of a schematic and their numbers, the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<(String, u64)>,
    /// The result of `--compare-backends`.
    pub check: Option<Check>,
    /// Whether `--strict` refused the mesh.
    pub refused: bool,
    pub output: Option<String>,
    /// The picture, if requested.
    pub preview: Option<String>,
    /// The picture for the terminal, if requested.
    #[serde(skip)]
    pub shown: Option<String>,
    pub bytes: Option<u64>,
    pub timings_ms: Timings,
    /// Milliseconds of each stage, if the GPU measures them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gpu_ms: BTreeMap<&'static str, f64>,
    /// Counts and times of the GPU's stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<RunReport>,
    pub warnings: Vec<String>,
    /// The warnings for which `--strict` refuses the mesh.
    #[serde(skip)]
    pub doubts: Vec<String>,
    /// Defaults that were applied, and the options that change them.
    pub notes: Vec<String>,
}

/// The time of each step.
#[derive(Debug, Default, Serialize)]
pub struct Timings {
    #[serde(flatten)]
    pub steps: engine::Timings,
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub check: Option<Duration>,
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub write: Option<Duration>,
    #[serde(serialize_with = "some_ms", skip_serializing_if = "Option::is_none")]
    pub preview: Option<Duration>,
    #[serde(serialize_with = "ms")]
    pub total: Duration,
}

impl MeshSummary {
    /// What `--resume` says of it again.
    pub fn remarks(&self) -> Remarks {
        let doubtful = self.result.fill.as_ref().is_some_and(|fill| fill.is_doubtful());
        Remarks { doubtful, warnings: self.warnings.clone() }
    }

    /// The summary of the voxels, before any output; `format` is that of the file to be written.
    pub fn new(
        plan: &Plan,
        task: &Task,
        mesh: &PlacedMesh,
        voxelized: &Voxelized,
        format: Option<GridFormat>,
    ) -> Self {
        let job = plan.job;
        let Voxelized { grid, report, backend, .. } = voxelized;
        let mut warnings: Vec<String> = sentences(&voxelized.warnings).collect();
        let is_doubt = |warning: &&Warning| matches!(warning, Warning::Fill(_));
        let doubts = sentences(voxelized.warnings.iter().filter(is_doubt)).collect();
        let colorless = job.colorless_output(format);
        if let (Some(what), ColorSource::Uniform(_)) = (&colorless, job.color) {
            warnings.push(format!("--color had no effect: {what} hold no colours"));
        }
        warnings.extend(job.compute.unused_kernel(backend).filter(|_| !job.check));
        warnings.extend(job.palette.without_effect(format, grid));
        let (mut notes, mut blocks) = (Vec::new(), Vec::new());
        let list = format.and_then(|format| format.block_list(grid, &plan.write_options));
        if let Some((size, list)) = format.and_then(|format| format.blocks(grid)).zip(list) {
            warnings.extend(too_high(size));
            notes.push(size_of_schematic(size, &list, job.up));
            notes.extend(unknown_blocks(&list.unknown));
            blocks = list.counts;
        }
        let is_plain = grid.colors.is_none() && job.color != ColorSource::None;
        let plain = format.filter(|_| is_plain);
        notes.extend(plain.and_then(|format| colorless_as(format, &blocks)));
        if job.has_default_res() {
            let res = Sizing::DEFAULT_RESOLUTION;
            notes.push(format!("no resolution given: {res} voxels along the longest axis (--res)"));
        }
        if let (Some(what), Some(_), ColorSource::Mesh) = (&colorless, mesh.appearance(), job.color)
        {
            notes.push(format!("the mesh has colours, but {what} hold none: they are left out"));
        }
        notes.extend(light_left_out(job, mesh, grid));
        if format.is_none() && !job.draws() && !job.check {
            notes.push("no file is written: name one with -o".to_owned());
        }
        notes.extend(past_bounds(job, voxelized));
        if job.attributes.contains(&Attribute::Coverage)
            && matches!(job.voxels.mode(), Mode::Solid(solid) if !solid.include_surface)
        {
            notes.push(
                "voxels with their centre outside are left out, and so is their coverage: \
                 --include-surface adds them"
                    .to_owned(),
            );
        }
        notes.extend(without_attributes(grid));
        notes.extend(format.iter().flat_map(|format| format.lost(grid, &plan.write_options)));
        let stages = report.iter().flat_map(|report| &report.stages);
        Self {
            mesh: task.name(),
            result: voxelized.summary(),
            degenerate: mesh.degenerate(),
            hash: grid.hash(),
            colors: grid.colors.as_ref().map(|_| count_colors(grid)),
            blocks,
            check: None,
            refused: job.refuses(voxelized),
            output: None,
            preview: None,
            shown: None,
            bytes: None,
            timings_ms: Timings { steps: voxelized.timings, ..Timings::default() },
            gpu_ms: stages.filter_map(|stage| Some((stage.name, stage.ms?))).collect(),
            gpu: report.clone(),
            warnings,
            doubts,
            notes,
        }
    }

    pub fn add_distances(&mut self, measured: &Measured) {
        let Measured { field, backend, warnings, time, .. } = measured;
        self.result.distances = Some(BandSummary::of(field));
        self.timings_ms.steps.distance = Some(*time);
        self.hash = field.hash();
        self.warnings.extend(sentences(warnings));
        if backend.name() != self.result.backend {
            self.notes.push(format!("the distances were computed by {backend}"));
        }
    }

    pub fn differs(&self) -> bool {
        self.check.as_ref().is_some_and(|check| check.differing > 0)
    }

    /// The summary without warnings, one line per item; more with `verbose`.
    pub fn text(&self, verbose: bool) -> String {
        let mut lines = Vec::new();
        let mut line = |label: &str, text: String| lines.push(format!("{label:<9} {text}\n"));
        let Summary { triangles, dims, voxel_size, origin, lattice, occupied, bricks, .. } =
            &self.result;
        let triangles = triangles_text(*triangles, self.degenerate as u64);
        line("mesh", format!("{}, {triangles}", escaped(&self.mesh)));
        let [x, y, z] = dims.map(|voxels| significant(f64::from(voxels) * voxel_size));
        let corner = origin.map(|c| rounded(c, *voxel_size)).join(", ");
        line("grid", format!("{} of {}", sized(*dims), significant(*voxel_size)));
        line("", format!("{x} x {y} x {z} mesh units, from ({corner})"));
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
            let are_voxels = self.result.distances.is_none();
            fill_lines(fill, are_voxels).for_each(|(label, text)| line(label, text));
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
            line("wrote", format!("{}, {}", escaped(output), counted(bytes, "byte")));
        }
        if let Some(preview) = &self.preview {
            line("drew", escaped(preview));
        }
        lines.concat()
    }

    /// The summary in one line.
    pub fn line(&self) -> String {
        let Self { mesh, hash, result: Summary { dims, occupied, .. }, .. } = self;
        let (dims, occupied) = (sized(*dims), grouped(*occupied));
        let check = self.check.as_ref().map(|check| format!(", {check}")).unwrap_or_default();
        let output = self.output.as_ref().map(|output| format!(", {}", escaped(output)));
        let output = output.unwrap_or_default();
        let time = duration(self.timings_ms.total);
        let mesh = escaped(mesh);
        format!("{mesh}: {dims}, {occupied} occupied, {hash}{check}, {time}{output}\n")
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { steps, check, write, preview, total } = self;
        let start = Some(steps.start).filter(|start| start.as_millis() > 0);
        let steps = [
            ("load", steps.load),
            ("place", Some(steps.place)),
            ("start", start),
            ("voxelize", Some(steps.voxelize)),
            ("fill", steps.fill),
            ("distance", steps.distance),
            ("check", *check),
            ("color", steps.color),
            ("attributes", steps.attributes),
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

/// A note on the block, or the colour, that voxels without colours get.
fn colorless_as(format: GridFormat, blocks: &[(String, u64)]) -> Option<String> {
    let what = match blocks.first() {
        Some((name, _)) => {
            format!("blocks are {} (--color, --blocks)", name.trim_start_matches("minecraft:"))
        }
        None if format.has_palette() => "voxels are light grey (--color)".to_owned(),
        None => return None,
    };
    Some(format!("the mesh has no colours: all {what}"))
}

/// The note that the grid is larger than `--bounds`, as it has whole voxels.
fn past_bounds(job: &VoxelizeArgs, Voxelized { lattice, .. }: &Voxelized) -> Option<String> {
    let Lattice { origin, voxel_size, dims, .. } = *lattice;
    let end = [0, 1, 2].map(|a| origin[a] + f64::from(dims[a]) * voxel_size);
    let is_past = |bounds: &Bounds| (0..3).any(|a| end[a] - bounds.max[a] > voxel_size / 100.0);
    job.bounds.filter(|bounds| is_past(bounds) && job.pad == 0).map(|_| {
        let end = end.map(|c| rounded(c, voxel_size)).join(", ");
        format!("the grid has whole voxels, so it ends at ({end}), past the bounds")
    })
}

/// The note that the mesh emits light, which colours leave out.
fn light_left_out(job: &VoxelizeArgs, mesh: &PlacedMesh, grid: &VoxelGrid) -> Option<String> {
    let mut materials = mesh.appearance()?.materials.iter();
    let is_kept =
        grid.attributes.as_ref().is_some_and(|all| all.set().contains(&Attribute::Emission));
    if job.color != ColorSource::Mesh
        || grid.colors.is_none()
        || is_kept
        || !materials.any(Material::adds_light)
    {
        return None;
    }
    let held = |format: &GridFormat| format.spec().attributes(&WriteOptions::default());
    let able = GridFormat::ALL.iter().filter(|format| held(format).contains(&Attribute::Emission));
    let able: Vec<String> = able.map(|format| format!(".{}", format.extension())).collect();
    Some(format!(
        "the mesh emits light, which colours leave out: --attributes emission keeps it in {}",
        able.join(", ")
    ))
}

/// Notes on voxels without attributes: those away from the surface, and those of no object.
fn without_attributes(grid: &VoxelGrid) -> Vec<String> {
    let channels = || grid.attributes.iter().flat_map(Attributes::channels);
    let of_surface: Vec<_> =
        channels().filter(|(attribute, _)| attribute.is_of_surface()).collect();
    let mut notes = Vec::new();
    let without = of_surface.first().map_or(0, |(_, of)| grid.occupied() - of.own_count());
    if without > 0 {
        let names: Vec<&str> = of_surface.iter().map(|(attribute, _)| attribute.name()).collect();
        let voxels = counted_as(without, "interior voxel has", "interior voxels have");
        let names = names.join(", ");
        notes.push(format!(
            "{voxels} no {names}: only voxels at the surface have attributes of the surface"
        ));
    }
    for (attribute, channel) in channels().filter(|(of, _)| **of == Attribute::Label) {
        let is_one = |labels: &VoxelValues<u32>| labels.own_count() == 0 && labels.rest() == 0;
        if matches!(channel, Channel::Scalar(labels) if is_one(labels)) {
            continue;
        }
        let unlabeled = channel.of_voxels(grid).filter(|bits| *bits == attribute.none()).count();
        if unlabeled > 0 {
            let voxels = counted_as(unlabeled as u64, "interior voxel has", "interior voxels have");
            notes.push(format!("{voxels} the label -1: no object that is closed holds the centre"));
        }
    }
    notes
}

/// The height of Minecraft's world, in blocks.
const WORLD_HEIGHT: u32 = 384;

/// A warning if a schematic is higher than Minecraft's world.
fn too_high([_, height, _]: [u32; 3]) -> Option<String> {
    (height > WORLD_HEIGHT).then(|| {
        let height = grouped(height.into());
        format!("the schematic is {height} blocks high, but Minecraft's world has {WORLD_HEIGHT}")
    })
}

fn size_of_schematic(size: [u32; 3], list: &BlockList, up: Up) -> String {
    let up = if up == Up::Y { ", with y up: use --up z if the mesh has z up" } else { "" };
    let game = if list.unknown.is_empty() {
        format!(", for Minecraft {} or later", list.game_version)
    } else {
        String::new()
    };
    let [width, height, length] = size.map(|blocks| grouped(blocks.into()));
    format!("the schematic is {width} blocks wide, {height} high and {length} long{game}{up}")
}

/// A note on blocks of an unknown version of the game.
fn unknown_blocks(names: &[String]) -> Option<String> {
    /// Maximum number of names.
    const MOST: usize = 8;
    let with_similar = |name: &String| {
        let plain = name.trim_start_matches("minecraft:");
        match nearest(plain, Blocks::known().map(|(name, _)| name)) {
            Some(known) => format!("'{plain}' (similar: '{known}')"),
            None => format!("'{plain}'"),
        }
    };
    let named: Vec<String> = names.iter().take(MOST).map(with_similar).collect();
    let named = listed(&named, names.len() as u64);
    (!names.is_empty()).then(|| format!("blocks of an unknown version of Minecraft: {named}"))
}

fn gpu_host(gpu: &RunReport) -> String {
    let host = [
        ("prepare", gpu.host_ms.prepare),
        ("upload", gpu.host_ms.upload),
        ("submit", gpu.host_ms.submit),
        ("wait", gpu.host_ms.wait),
        ("read", gpu.host_ms.read),
    ];
    let time = |ms: f64| duration(Duration::from_secs_f64(ms / 1e3));
    let host: Vec<String> = host.iter().map(|(name, ms)| format!("{name} {}", time(*ms))).collect();
    let (runs, waits) = (counted(gpu.runs.into(), "run"), counted(gpu.waits.into(), "wait"));
    format!("{runs}, {waits}; {}", host.join(", "))
}

fn gpu_stage(stage: &StageReport) -> String {
    let time = stage.ms.map_or_else(|| "not timed".to_owned(), |ms| format!("{ms:.3} ms"));
    let (invocations, bytes) = (grouped(stage.invocations), grouped(stage.bytes));
    format!("{:<11} {time:>10}, {invocations} invocations, {bytes} bytes", stage.name)
}
