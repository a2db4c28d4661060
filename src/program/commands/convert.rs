//! `voxelize convert`: writes a grid in another format.

use anyhow::{Result, bail};
use trivox::formats::LoadedGrid;

use crate::ExitStatus;
use crate::cli::ConvertArgs;
use crate::progress::TerminalProgress;
use crate::text::escaped;
use crate::write::output::Output;
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
    let read = (&*args.grid, &grid);
    let report = output.convert(read, warnings, &args.write.palette, &options, &progress)?;
    args.report.print(&report, &report.warnings, || {
        let (input, name) = (report.grid.text(), escaped(&report.written.name));
        format!("read      {input}\nwrote     {name}, {}", report.size_and_notes())
    })?;
    Ok(ExitStatus::Done)
}
