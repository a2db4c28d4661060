//! `voxelize convert`: writes a grid in another format.

use anyhow::{Result, bail};
use serde::Serialize;
use trivox::formats::LoadedGrid;

use crate::ExitStatus;
use crate::cli::ConvertArgs;
use crate::grids::GridSummary;
use crate::progress::TerminalProgress;
use crate::text::escaped;
use crate::write::output::{Converted, Output};
use crate::write::sink::{Inputs, refuse_shared_stdout};

/// Reads the grid, writes it, and reports what the new file does not hold.
pub fn run(args: &ConvertArgs) -> Result<ExitStatus> {
    let Some(to) = args.output.as_ref().or(args.to.as_ref()) else {
        bail!("name the file to write: voxelize convert A B");
    };
    refuse_shared_stdout(args.report.json, to)?;
    args.scene.refuse_for_others(&args.grid)?;
    let options = args.write.palette.write_options()?;
    let inputs = Inputs::new(args.write.palette.files().chain([&*args.grid]));
    let output = Output::new(to, args.write.format, &inputs)?;
    let progress = TerminalProgress::new(args.report.quiet);
    let LoadedGrid { mut grid, warnings, .. } =
        progress.load(&args.grid, args.read.memory, args.scene)?;
    if let Some(axis) = args.up {
        grid.world.up = axis;
    }
    let converted = output.convert(&grid, warnings, &args.write.palette, &options, &progress)?;
    let report = ConvertReport { input: GridSummary::new(&args.grid, &grid), converted };
    args.report.print(&report, &report.converted.warnings, || {
        let ConvertReport { input, converted } = &report;
        let (input, name) = (input.text(), escaped(&converted.written.name));
        format!("read      {input}\nwrote     {name}, {}", converted.size_and_notes())
    })?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct ConvertReport {
    #[serde(flatten)]
    input: GridSummary,
    #[serde(flatten)]
    converted: Converted,
}
