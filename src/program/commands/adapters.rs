//! `voxelize adapters`: the GPUs that `--adapter` can name.

use anyhow::Result;
use serde::Serialize;

use crate::cli::ListArgs;
use crate::console::print_as;

#[derive(Debug, Serialize)]
struct AdapterRow {
    adapter: String,
    driver: String,
    software: bool,
    usable: bool,
    /// The reason if it is not usable.
    problem: Option<String>,
}

pub fn run(args: &ListArgs) -> Result<()> {
    let rows = rows();
    print_as(args.json, &rows, || table(&rows))
}

fn table(rows: &[AdapterRow]) -> String {
    if rows.is_empty() {
        return "no GPU adapter: voxelize computes on the CPU".to_owned();
    }
    let width = rows.iter().map(|row| row.adapter.len()).max().unwrap_or(0);
    let line = |AdapterRow { adapter, driver, software, problem, .. }: &AdapterRow| {
        let kind = if *software { "software" } else { "hardware" };
        let problem = problem.as_ref().map(|problem| format!(", not usable: {problem}"));
        format!("{adapter:width$}  {kind}, {driver}{}", problem.unwrap_or_default())
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(feature = "gpu")]
fn rows() -> Vec<AdapterRow> {
    use trivox::gpu::Adapter;
    let row = |adapter: Adapter| {
        let problem = adapter.check().err().map(|e| e.to_string());
        AdapterRow {
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
fn rows() -> Vec<AdapterRow> {
    Vec::new()
}
