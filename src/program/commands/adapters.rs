//! `voxelize adapters`: the GPUs that `--adapter` can name.

use anyhow::Result;
use serde::Serialize;

use crate::ExitStatus;
use crate::cli::AdaptersArgs;
use crate::console::{print, print_json};

#[derive(Debug, Serialize)]
struct Row {
    adapter: String,
    driver: String,
    software: bool,
    usable: bool,
    /// The reason if it is not usable.
    problem: Option<String>,
}

/// Lists them.
///
/// # Errors
/// Standard output is closed.
pub fn run(args: &AdaptersArgs) -> Result<ExitStatus> {
    let rows = rows();
    if args.json {
        print_json(&rows)?;
        return Ok(ExitStatus::Done);
    }
    if rows.is_empty() {
        print("no GPU adapter: voxelize computes on the CPU")?;
    }
    let width = rows.iter().map(|row| row.adapter.len()).max().unwrap_or(0);
    for row in rows {
        let kind = if row.software { "software" } else { "hardware" };
        let problem =
            row.problem.map(|problem| format!(", not usable: {problem}")).unwrap_or_default();
        print(&format!("{:width$}  {kind}, {}{problem}", row.adapter, row.driver))?;
    }
    Ok(ExitStatus::Done)
}

#[cfg(feature = "gpu")]
fn rows() -> Vec<Row> {
    use trivox::gpu::Adapter;
    let row = |adapter: Adapter| {
        let problem = adapter.check().err().map(|e| e.to_string());
        Row {
            adapter: adapter.label(),
            driver: adapter.driver(),
            software: adapter.is_software(),
            usable: problem.is_none(),
            problem,
        }
    };
    Adapter::all().into_iter().map(row).collect()
}

#[cfg(not(feature = "gpu"))]
fn rows() -> Vec<Row> {
    Vec::new()
}
