//! `voxelize formats`: lists the formats.

use anyhow::Result;
use serde::Serialize;
use trivox::formats::{GridFormat, GridSpec, MESH_FORMATS, MeshSpec};

use crate::cli::ListArgs;
use crate::console::print_as;

#[derive(Debug, Serialize)]
struct FormatRow {
    name: &'static str,
    extension: &'static str,
    read: Option<&'static str>,
    written: Option<&'static str>,
    /// Further contents of written files, besides voxels.
    #[serde(skip)]
    with: &'static str,
    carries: String,
}

pub fn run(args: &ListArgs) -> Result<()> {
    let rows = rows();
    print_as(args.json, &rows, || table(&rows))
}

fn rows() -> Vec<FormatRow> {
    let grids = GridFormat::ALL.into_iter().map(GridFormat::spec);
    let is_grid = |spec: &&GridSpec| MESH_FORMATS.iter().all(|m| m.extension != spec.extension);
    let grids = grids.filter(is_grid).map(|spec| FormatRow {
        name: spec.name,
        extension: spec.extension,
        read: spec.is_read().then_some("grid"),
        written: Some("grid"),
        with: with(spec),
        carries: spec.carries.to_owned(),
    });
    MESH_FORMATS.into_iter().map(mesh_row).chain(grids).collect()
}

/// A mesh format. If it is written, the file holds the surface of a grid.
fn mesh_row(mesh: &MeshSpec) -> FormatRow {
    let written = GridFormat::of_extension(mesh.extension).ok().map(GridFormat::spec);
    FormatRow {
        name: mesh.name,
        extension: mesh.extension,
        read: Some("mesh"),
        written: written.map(|_| "mesh of voxels"),
        with: written.map_or("", with),
        carries: match written {
            Some(written) => format!("{}; written: {}", mesh.carries, written.carries),
            None => mesh.carries.to_owned(),
        },
    }
}

fn with(written: &GridSpec) -> &'static str {
    match (written.has_colors, written.has_distances()) {
        (false, false) => "",
        (true, false) => ", colours",
        (false, true) => ", distances",
        (true, true) => ", colours, distances",
    }
}

/// A table of at most 80 columns; what the formats carry is in `--json` only.
fn table(rows: &[FormatRow]) -> String {
    let line = |cells: [&str; 4]| {
        format!("{:<11} {:<21} {:<5} {}", cells[0], cells[1], cells[2], cells[3])
    };
    let mut lines = vec![line(["extension", "format", "read", "written"])];
    lines.extend(rows.iter().map(|row| {
        let FormatRow { name, extension, read, written, with, .. } = row;
        let [read, written] = [read, written].map(|what| what.unwrap_or("-"));
        line([&format!(".{extension}"), name, read, &format!("{written}{with}")])
    }));
    lines.push("What each of them holds: voxelize formats --json, or docs/formats.md".to_owned());
    lines.join("\n")
}
