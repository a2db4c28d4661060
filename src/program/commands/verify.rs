//! `voxelize verify`: compares a grid with the exact voxels of its mesh.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::backend::Backends;
use trivox::engine::Verified;
use trivox::engine::verify::{
    Alignment, KnownPlacement, PlacementSource, Verdict, VerifyOptions, Wrong,
};
use trivox::formats::is_mesh;
use trivox::grid::ContentHash;
use trivox::solid::FillReport;
use trivox::{ColorSource, Lattice, Sizing, Voxelizer};

use crate::ExitStatus;
use crate::cli::{SceneArgs, VerifyArgs};
use crate::grids::{GridSummary, described, fill_lines};
use crate::memory::Memory;
use crate::options::start_threads;
use crate::progress::TerminalProgress;
use crate::text::{
    counted, grouped, path_text, range, ratio, sentences, shown, significant, sized,
};

/// Reads the mesh and the grid, and reports the wrong voxels.
pub fn run(args: &VerifyArgs) -> Result<ExitStatus> {
    let compute = &args.compute;
    compute.refuse_contradictions(args.voxels.mode(), false)?;
    args.voxels.refuse_contradictions()?;
    if args.voxels.interior_color.is_some() {
        bail!("--interior-color has no effect: colours are not verified, leave it out");
    }
    if is_mesh(&args.grid) && !is_mesh(&args.mesh) {
        let [grid, mesh] = [&args.mesh, &args.grid].map(shown);
        bail!("the mesh comes first: did you mean `voxelize verify {mesh} {grid}`?");
    }
    start_threads(compute.threads)?;
    let progress = Arc::new(TerminalProgress::new(args.report.quiet));
    let voxelizer = Voxelizer::new()
        .backends(Arc::new(Backends::new(compute.backend, compute.adapter.clone())))
        .kernel(compute.kernel.unwrap_or_default())
        .progress(progress.clone());
    let voxelizer = args.voxels.apply_to(voxelizer).color(ColorSource::Transparency);
    let voxelizer = voxelizer.transform(args.transform.transform());
    voxelizer.check()?;
    let memory = Memory::new(compute.memory);
    let grid = progress.load(&args.grid, compute.memory, SceneArgs::default())?;
    let voxelizer = voxelizer.memory_from(move || memory.left());
    let verified = voxelizer.verify(&args.mesh, &grid.grid, &options(args));
    progress.finish();
    let verified = verified.map_err(|error| memory.explain(error.into()));
    let verified = verified.with_context(|| shown(&args.mesh))?;

    let of_mesh = sentences(&verified.warnings);
    let of_mesh = of_mesh.map(|text| format!("{}: {text}", shown(&args.mesh)));
    let of_grid = grid.warnings.iter().map(|text| format!("{}: {text}", shown(&args.grid)));
    let verdict = &verified.verdict;
    let contradiction = verdict.contradicted.as_ref().map(|place| {
        let of_file = described(place);
        format!("the grid's file says that it has {of_file}; it is judged as the options say")
    });
    let unused = compute.unused_kernel(&verified.backend);
    let warnings = of_mesh.chain(of_grid).chain(contradiction).chain(unused);
    let report = VerifyReport::new(
        args,
        GridSummary::new(&args.grid, &grid.grid),
        &verified,
        warnings.collect(),
    );
    args.report.print_verdict(&report, &report.warnings, || report.text(verdict))?;
    Ok(if verdict.is_right() { ExitStatus::Done } else { ExitStatus::Differs })
}

fn options(args: &VerifyArgs) -> VerifyOptions {
    let size = args.voxel_size.map(Sizing::VoxelSize);
    let sizing = args.res.map(Sizing::Resolution).or(size);
    let dims = args.dims.or(args.cube.map(|n| [n; 3]));
    let placement = KnownPlacement { sizing, bounds: args.bounds, pad: args.pad, dims };
    VerifyOptions { placement, as_placed: args.as_placed, ..VerifyOptions::default() }
}

#[derive(Debug, Serialize)]
struct VerifyReport {
    mesh: String,
    grid: GridSummary,
    /// Whether no voxel is wrong.
    equal: bool,
    exact: Exact,
    placed: PlacementSource,
    alignment: Aligned,
    backend: &'static str,
    adapter: Option<String>,
    /// The fill of the exact grid, if it is a solid.
    #[serde(skip_serializing_if = "Option::is_none")]
    fill: Option<FillReport>,
    /// The number of correct voxels.
    agreeing: u64,
    missing: u64,
    spurious: u64,
    /// Intersection over union.
    iou: f64,
    /// Smallest and largest wrong voxel.
    bounds: Option<[[i64; 3]; 2]>,
    /// The first wrong voxels.
    voxels: Vec<Wrong>,
    /// Advice if the placement may be wrong.
    hint: Option<String>,
    warnings: Vec<String>,
}

/// The exact grid; lengths are in mesh units.
#[derive(Debug, Serialize)]
struct Exact {
    dims: [u32; 3],
    voxel_size: f64,
    origin: [f64; 3],
    occupied: u64,
    hash: ContentHash,
}

#[derive(Debug, Serialize)]
struct Aligned {
    #[serde(flatten)]
    alignment: Alignment,
    /// The number of wrong voxels without it.
    differing_as_placed: u64,
    /// Whether the grid's alignment differs from the placement.
    moved: bool,
}

impl VerifyReport {
    fn new(
        args: &VerifyArgs,
        grid: GridSummary,
        Verified { verdict, backend, fill_report, .. }: &Verified,
        warnings: Vec<String>,
    ) -> Self {
        let Lattice { dims, voxel_size, origin, .. } = verdict.lattice;
        let exact = &verdict.exact;
        let (occupied, hash) = (exact.occupied(), exact.hash());
        let &Verdict { alignment, differing_as_placed, .. } = verdict;
        let moved = !alignment.is_identity();
        let alignment = Aligned { alignment, differing_as_placed, moved };
        Self {
            mesh: path_text(&args.mesh),
            grid,
            equal: verdict.is_right(),
            exact: Exact { dims, voxel_size, origin, occupied, hash },
            placed: verdict.source,
            alignment,
            backend: backend.name(),
            adapter: backend.adapter.clone(),
            fill: fill_report.clone(),
            agreeing: verdict.agreeing,
            missing: verdict.missing,
            spurious: verdict.spurious,
            iou: verdict.iou(),
            bounds: verdict.bounds,
            voxels: verdict.first.clone(),
            hint: hint(verdict),
            warnings,
        }
    }

    fn text(&self, verdict: &Verdict) -> String {
        let mut lines = Vec::new();
        let mut line = |label: &str, text: String| lines.push(format!("{label:<9} {text}"));
        line("grid", self.grid.text());
        let Exact { dims, voxel_size, origin: [x, y, z], occupied, hash } = &self.exact;
        let size = significant(*voxel_size);
        let occupied = counted(*occupied, "voxel");
        line("exact", format!("{}, {occupied} occupied, hash {hash}", sized(*dims)));
        let how = how(verdict.source);
        line("placed", format!("voxels of {size} from ({x}, {y}, {z}), {how}"));
        if self.alignment.moved {
            let Aligned { alignment, differing_as_placed, .. } = &self.alignment;
            let wrong = counted(*differing_as_placed, "voxel");
            line(
                "aligned",
                format!("as if the grid were {alignment}; as placed, {wrong} would be wrong"),
            );
        }
        let adapter = self.adapter.as_ref().map(|a| format!(", {a}")).unwrap_or_default();
        line("backend", format!("{}{adapter}", self.backend));
        if let Some(fill) = &self.fill {
            fill_lines(fill).for_each(|(label, text)| line(label, text));
        }
        line("agreeing", counted(self.agreeing, "voxel"));
        line("missing", counted(self.missing, "voxel"));
        line("spurious", counted(self.spurious, "voxel"));
        line("iou", ratio(self.iou));
        if let Some(bounds) = &self.bounds {
            line("where", range(bounds));
        }
        self.voxels.iter().for_each(|voxel| line("", wrong_voxel(voxel)));
        let unnamed = verdict.differing() - self.voxels.len() as u64;
        if unnamed > 0 {
            line("", format!("and {} more", counted(unnamed, "voxel")));
        }
        line("verdict", self.verdict());
        self.hint.iter().for_each(|hint| line("", hint.clone()));
        lines.join("\n")
    }

    fn verdict(&self) -> String {
        let aligned = if self.alignment.moved { ", aligned as said above" } else { "" };
        if self.equal {
            return format!("right: every voxel is exact{aligned}");
        }
        let (missing, spurious) = (counted(self.missing, "voxel"), grouped(self.spurious));
        format!("wrong: {missing} missing and {spurious} spurious{aligned}")
    }
}

/// How the mesh was placed.
fn how(source: PlacementSource) -> String {
    match source {
        PlacementSource::Options => "as the options say".to_owned(),
        PlacementSource::File | PlacementSource::FileBounds => "as the grid's file says".to_owned(),
        PlacementSource::Fitted { resolution, pad } => format!(
            "fitted to the grid, as no placement was given: as with --res {resolution} --pad {pad}"
        ),
        PlacementSource::Centered => {
            "in the grid's centre, as no placement was given: as with --dims".to_owned()
        }
    }
}

fn wrong_voxel(Wrong { voxel: [x, y, z], position, fault }: &Wrong) -> String {
    let [px, py, pz] = position.map(significant);
    format!("({x}, {y}, {z}) {}, at ({px}, {py}, {pz})", fault.name())
}

/// Warnings besides wrong voxels.
fn hint(verdict: &Verdict) -> Option<String> {
    if verdict.is_doubtful() {
        let advice = match verdict.source {
            PlacementSource::Options => "check the options",
            _ => "if it lies otherwise, state how, with --voxel-size and --bounds",
        };
        return Some(format!(
            "so much is wrong that the grid may lie otherwise by parts of a voxel, be of another \
             mesh, or hold the voxels of another --mode: {advice}"
        ));
    }
    let is_rounded = !verdict.is_right() && verdict.source == PlacementSource::FileBounds;
    is_rounded.then(|| {
        "the file does not say with which --bounds and --pad it was made, and rounding may differ: \
         state them to be sure"
            .to_owned()
    })
}
