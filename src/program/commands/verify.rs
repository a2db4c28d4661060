//! `voxelize verify`: compares a grid with the exact voxels of its mesh.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use trivox::backend::Backends;
use trivox::engine::Verified;
use trivox::engine::verify::{
    Alignment, KnownPlacement, PlacementSource, Verdict, VerifyOptions, Wrong,
};
use trivox::formats::is_mesh;
use trivox::grid::ContentHash;
use trivox::{ColorSource, Lattice, Voxelizer};

use crate::ExitStatus;
use crate::cli::{SceneArgs, VerifyArgs};
use crate::grids::{GridSummary, described, fill_lines};
use crate::memory::Memory;
use crate::options::{sizing, start_threads};
use crate::progress::TerminalProgress;
use crate::text::{
    counted, grouped, of_file, path_text, range, ratio, sentences, shown, significant, sized,
};

/// Reads the mesh and the grid, and reports the wrong voxels.
pub fn run(args: &VerifyArgs) -> Result<ExitStatus> {
    let compute = &args.compute;
    compute.refuse_contradictions(args.voxels.mode(), false)?;
    args.voxels.refuse_contradictions(None)?;
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
    let loaded = progress.load(&args.grid, compute.memory, SceneArgs::default())?;
    let (grid, of_grid) = loaded.into_grid();
    let voxelizer = voxelizer.memory_from(move || memory.left());
    let verified = voxelizer.verify(&args.mesh, &grid, &options(args));
    progress.finish();
    let verified = verified.map_err(|error| memory.explain(error.into()));
    let verified = verified.with_context(|| shown(&args.mesh))?;

    let of_mesh = of_file(&args.mesh, sentences(&verified.warnings));
    let of_grid = of_file(&args.grid, of_grid);
    let verdict = &verified.verdict;
    let contradiction = verdict.contradicted.as_ref().map(|place| {
        let stated = described(place);
        format!("the grid's file says that it has {stated}; it is judged as the options say")
    });
    let unused = compute.unused_kernel(&verified.backend);
    let warnings = of_mesh.chain(of_grid).chain(contradiction).chain(unused);
    let report = VerifyReport {
        mesh: &args.mesh,
        grid: GridSummary::new(&args.grid, &grid),
        verified: &verified,
        warnings: warnings.collect(),
    };
    args.report.print_verdict(&report, &report.warnings, || report.text())?;
    Ok(if verdict.is_right() { ExitStatus::Done } else { ExitStatus::Differs })
}

fn options(args: &VerifyArgs) -> VerifyOptions {
    let sizing = sizing(args.res, args.voxel_size);
    let dims = args.dims.or(args.cube);
    let placement = KnownPlacement { sizing, bounds: args.bounds, pad: args.pad, dims };
    VerifyOptions { placement, as_placed: args.as_placed, ..VerifyOptions::default() }
}

struct VerifyReport<'a> {
    mesh: &'a Path,
    grid: GridSummary,
    verified: &'a Verified,
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

impl Serialize for VerifyReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Verified { verdict, backend, fill_report, .. } = self.verified;
        let &Verdict { alignment, differing_as_placed, .. } = verdict;
        let moved = !alignment.is_identity();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("mesh", &path_text(self.mesh))?;
        map.serialize_entry("grid", &self.grid)?;
        map.serialize_entry("equal", &verdict.is_right())?;
        map.serialize_entry("exact", &exact(verdict))?;
        map.serialize_entry("placed", &verdict.source)?;
        map.serialize_entry("alignment", &Aligned { alignment, differing_as_placed, moved })?;
        map.serialize_entry("backend", backend.name())?;
        map.serialize_entry("adapter", &backend.adapter)?;
        if let Some(fill) = fill_report {
            map.serialize_entry("fill", fill)?;
        }
        map.serialize_entry("agreeing", &verdict.agreeing)?;
        map.serialize_entry("missing", &verdict.missing)?;
        map.serialize_entry("spurious", &verdict.spurious)?;
        map.serialize_entry("iou", &verdict.iou())?;
        map.serialize_entry("bounds", &verdict.bounds)?;
        map.serialize_entry("voxels", &verdict.first)?;
        map.serialize_entry("hint", &hint(verdict))?;
        map.serialize_entry("warnings", &self.warnings)?;
        map.end()
    }
}

fn exact(verdict: &Verdict) -> Exact {
    let Lattice { dims, voxel_size, origin, .. } = verdict.lattice;
    let (occupied, hash) = (verdict.exact.occupied(), verdict.exact.hash());
    Exact { dims, voxel_size, origin, occupied, hash }
}

impl VerifyReport<'_> {
    fn text(&self) -> String {
        let Verified { verdict, backend, fill_report, .. } = self.verified;
        let mut lines = Vec::new();
        let mut line = |label: &str, text: String| lines.push(format!("{label:<9} {text}"));
        line("grid", self.grid.text());
        let Exact { dims, voxel_size, origin: [x, y, z], occupied, hash } = exact(verdict);
        let occupied = counted(occupied, "voxel");
        line("exact", format!("{}, {occupied} occupied, hash {hash}", sized(dims)));
        let (size, how) = (significant(voxel_size), how(verdict.source));
        line("placed", format!("voxels of {size} from ({x}, {y}, {z}), {how}"));
        let alignment = verdict.alignment;
        if !alignment.is_identity() {
            let wrong = counted(verdict.differing_as_placed, "voxel");
            line(
                "aligned",
                format!("as if the grid were {alignment}; as placed, {wrong} would be wrong"),
            );
        }
        line("backend", backend.to_string());
        if let Some(fill) = fill_report {
            fill_lines(fill, true).for_each(|(label, text)| line(label, text));
        }
        line("agreeing", counted(verdict.agreeing, "voxel"));
        line("missing", counted(verdict.missing, "voxel"));
        line("spurious", counted(verdict.spurious, "voxel"));
        line("iou", ratio(verdict.iou()));
        if let Some(bounds) = &verdict.bounds {
            line("where", range(bounds));
        }
        verdict.first.iter().for_each(|voxel| line("", wrong_voxel(voxel)));
        let unnamed = verdict.differing() - verdict.first.len() as u64;
        if unnamed > 0 {
            line("", format!("and {} more", counted(unnamed, "voxel")));
        }
        let aligned = if alignment.is_identity() { "" } else { ", aligned as said above" };
        let (missing, spurious) = (counted(verdict.missing, "voxel"), grouped(verdict.spurious));
        let judgement = if verdict.is_right() {
            format!("right: every voxel is exact{aligned}")
        } else {
            format!("wrong: {missing} missing and {spurious} spurious{aligned}")
        };
        line("verdict", judgement);
        hint(verdict).into_iter().for_each(|hint| line("", hint));
        lines.join("\n")
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
