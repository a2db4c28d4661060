//! `voxelize formats`: lists the formats.

use anyhow::Result;
use serde::Serialize;
use trivox::formats::{GridFormat, GridSpec, MESH_FORMATS, MeshSpec};

use crate::program::cli::FormatsArgs;
use crate::program::{Verdict, print, print_json};

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    extension: &'static str,
    read: Option<&'static str>,
    written: Option<&'static str>,
    carries: String,
}

/// Prints the table of formats.
///
/// # Errors
/// Standard output cannot be written to.
pub fn run(args: &FormatsArgs) -> Result<Verdict> {
    let rows = rows();
    if args.json {
        print_json(&rows)?;
    } else {
        print(&table(&rows))?;
    }
    Ok(Verdict::Done)
}

fn rows() -> Vec<Row> {
    let grids = GridFormat::ALL.into_iter().map(GridFormat::spec);
    let is_grid = |spec: &&GridSpec| MESH_FORMATS.iter().all(|m| m.extension != spec.extension);
    let grids = grids.filter(is_grid).map(|spec| Row {
        name: spec.name,
        extension: spec.extension,
        read: spec.is_read().then_some("grid"),
        written: spec.is_written().then_some("grid"),
        carries: spec.carries.to_owned(),
    });
    MESH_FORMATS.into_iter().map(mesh_row).chain(grids).collect()
}

/// A mesh format. If it is written, the file holds the surface of a grid.
fn mesh_row(mesh: &MeshSpec) -> Row {
    let written = GridFormat::of_extension(mesh.extension).ok().map(GridFormat::spec);
    Row {
        name: mesh.name,
        extension: mesh.extension,
        read: Some("mesh"),
        written: written.map(|_| "mesh of voxels"),
        carries: match written {
            Some(written) => format!("{}; written: {}", mesh.carries, written.carries),
            None => mesh.carries.to_owned(),
        },
    }
}

/// The table in Markdown, as in the README.
fn table(rows: &[Row]) -> String {
    let mut lines =
        vec!["| format | read | written | carries |".to_owned(), "|---|---|---|---|".to_owned()];
    lines.extend(rows.iter().map(|row| {
        let Row { name, extension, read, written, carries } = row;
        let [read, written] = [read, written].map(|what| what.unwrap_or_default());
        format!("| {name} .{extension} | {read} | {written} | {carries} |")
    }));
    lines.join("\n")
}
