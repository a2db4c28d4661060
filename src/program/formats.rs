//! `voxelize formats`: the table of what is read and written.

use anyhow::Result;
use serde::Serialize;
use trivox::formats::{GridFormat, MESH_FORMATS};

use crate::program::cli::FormatsArgs;
use crate::program::{Verdict, print, print_json};

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    extension: &'static str,
    read: Option<&'static str>,
    written: Option<&'static str>,
    carries: &'static str,
}

/// Prints the table.
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
    let meshes = MESH_FORMATS.into_iter().map(|spec| Row {
        name: spec.name,
        extension: spec.extension,
        read: Some("mesh"),
        written: None,
        carries: spec.carries,
    });
    let grids = GridFormat::ALL.into_iter().map(GridFormat::spec).map(|spec| Row {
        name: spec.name,
        extension: spec.extension,
        read: spec.is_read().then_some("grid"),
        written: spec.is_written().then_some("grid"),
        carries: spec.carries,
    });
    meshes.chain(grids).collect()
}

/// In Markdown, as the README has it.
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
