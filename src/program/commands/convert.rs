//! `voxelize convert`: writes a grid in another format. `voxelize join` shares [`write()`].

use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Result, bail};
use serde::Serialize;
use trivox::{DistanceField, VoxelGrid, World};

use crate::cli::{ConvertArgs, ReportArgs, WriteArgs};
use crate::grids::GridSummary;
use crate::progress::TerminalProgress;
use crate::text::{counted, escaped};
use crate::write::output::Output;
use crate::write::sink::{Inputs, Written, refuse_shared_stdout};

pub fn run(args: &ConvertArgs) -> Result<()> {
    let Some(to) = args.output.as_ref().or(args.to.as_ref()) else {
        bail!("name the file to write: voxelize convert A B");
    };
    args.scene.refuse_for_others(&args.grid)?;
    let read = |progress: &TerminalProgress| {
        let mut loaded = progress.load(&args.grid, args.read.memory, args.scene)?;
        let world = World { up: args.up.unwrap_or(loaded.grid.world.up), ..loaded.grid.world };
        let distances = loaded.distances.take().map(|field| field.with_world(world));
        Ok((loaded.grid.with_world(world), distances, loaded.warnings))
    };
    write(slice::from_ref(&args.grid), None, to, &args.write, &args.report, read)
}

/// Writes the grid that `read` returns to the file `to`, and prints a report. `from` is the file of
/// the grid, or the files of its tiles, whose number is `tiles`; `to` must be none of them. `read`
/// also returns distances, which are written instead if the format holds them, and warnings, to
/// which this adds the options without effect.
pub fn write(
    from: &[PathBuf],
    tiles: Option<usize>,
    to: &Path,
    WriteArgs { format, palette }: &WriteArgs,
    report: &ReportArgs,
    read: impl FnOnce(&TerminalProgress) -> Result<(VoxelGrid, Option<DistanceField>, Vec<String>)>,
) -> Result<()> {
    refuse_shared_stdout(report.json, to)?;
    let options = palette.write_options()?;
    let inputs = Inputs::new(palette.files().chain(from.iter().map(PathBuf::as_path)));
    let output = Output::new(to, *format, &inputs)?;
    let progress = TerminalProgress::new(report.quiet);
    let (mut grid, distances, mut warnings) = read(&progress)?;
    let kept = distances.as_ref().filter(|_| output.format.spec().has_distances());
    output.check_dims(grid.dims(), kept.is_some(), &options)?;
    warnings.extend(palette.without_effect(Some(output.format), &grid));
    if grid.occupied() == 0 && kept.is_none() {
        warnings.push("no voxel is occupied".to_owned());
    }
    let written = output.write(&grid, kept, &options, &progress)?;
    progress.finish();
    let file = if tiles.is_some() { to } else { &from[0] };
    let notes = match &distances {
        Some(_) if kept.is_none() => {
            vec!["its distances are not kept: the voxels are the solid inside".to_owned()]
        }
        Some(_) if grid.colors.take().is_some() | grid.attributes.take().is_some() => {
            vec!["its colours and attributes are not kept beside distances".to_owned()]
        }
        _ => Vec::new(),
    };
    let notes = notes.into_iter().chain(output.format.lost(&grid, &options)).collect();
    let grid = GridSummary::of_level_set(file, &grid, kept);
    let converted = Converted { tiles, grid, written, warnings, notes };
    report.print(&converted, &converted.warnings, || converted.text())
}

/// The report of `convert` or `join`.
#[derive(Debug, Serialize)]
struct Converted {
    /// The number of tiles that were joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    tiles: Option<usize>,
    /// The grid that was read, or the whole that was joined.
    #[serde(flatten)]
    grid: GridSummary,
    #[serde(flatten)]
    written: Written,
    warnings: Vec<String>,
    /// Parts of the grid that the format cannot hold.
    notes: Vec<String>,
}

impl Converted {
    fn text(&self) -> String {
        let (grid, bytes) = (self.grid.text(), counted(self.written.bytes, "byte"));
        let files = match self.tiles {
            Some(tiles) => {
                format!("joined    {}\nwrote     {grid}", counted(tiles as u64, "tile"))
            }
            None => format!("read      {grid}\nwrote     {}", escaped(&self.written.name)),
        };
        let notes: String = self.notes.iter().map(|note| format!("note: {note}\n")).collect();
        format!("{files}, {bytes}\n{notes}")
    }
}
