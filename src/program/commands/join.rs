//! `voxelize join`: tiles of a grid, put together.

use std::iter;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::formats::LoadedGrid;
use trivox::{Tile, VoxelGrid};

use crate::ExitStatus;
use crate::cli::JoinArgs;
use crate::grids::GridSummary;
use crate::progress::TerminalProgress;
use crate::text::{counted, shown};
use crate::write::destination::tile_named;
use crate::write::output::Output;
use crate::write::sink::{Inputs, Written, refuse_shared_stdout};

/// Reads the tiles, puts them together where they lie, and writes the whole.
pub fn run(args: &JoinArgs) -> Result<ExitStatus> {
    refuse_shared_stdout(args.report.json, &args.output)?;
    let options = args.write.palette.write_options()?;
    let progress = TerminalProgress::new(args.report.quiet);
    let tiles = args.grids.iter().map(PathBuf::as_path);
    let inputs = Inputs::new(args.write.palette.files().chain(tiles));
    let output = Output::new(&args.output, args.write.format, &inputs)?;
    refuse_missing(&args.grids)?;
    let (mut tiles, mut warnings) = (Vec::new(), Vec::new());
    for path in &args.grids {
        let LoadedGrid { grid, warnings: of_grid, .. } = progress.load(path, args.read.memory)?;
        if grid.world.place.is_none() {
            bail!(
                "{}: does not say where it lies: join tiles in a format that does, such as .npz",
                shown(path)
            );
        }
        let name = shown(path);
        warnings.extend(of_grid.into_iter().map(|warning| format!("{name}: {warning}")));
        tiles.push(grid);
    }
    let grid = VoxelGrid::join(&tiles.iter().collect::<Vec<_>>());
    let grid = grid.context("the grids are not tiles of one")?;
    warnings.extend(gap(&grid, &tiles));
    warnings.extend(grid.left_out(&tiles));
    drop(tiles);
    let written = output.convert(&grid, warnings, &args.write.palette, &options, &progress)?;
    let whole = GridSummary::new(&args.output, &grid);
    let report = Report { tiles: args.grids.len(), whole, written };
    args.report.print(&report, &report.written.warnings, || report.text())?;
    Ok(ExitStatus::Done)
}

/// Refuses files that all have names of tiles, if one of the tiles is not among them.
fn refuse_missing(paths: &[PathBuf]) -> Result<()> {
    let Some(mut tiles) = paths.iter().map(|path| tile_named(path)).collect::<Option<Vec<_>>>()
    else {
        return Ok(());
    };
    tiles.sort_unstable_by_key(|tile| tile.index);
    tiles.dedup();
    let Some(&Tile { of, .. }) = tiles.first() else { return Ok(()) };
    let expected = (0..of.count()).map(|index| Tile { index, of });
    let found = tiles.into_iter().map(Some).chain(iter::repeat(None));
    match expected.zip(found).find(|&(expected, found)| found != Some(expected)) {
        Some((missing, _)) => bail!(
            "tile {missing} is missing, by the names of the others: make it with --tile {missing}, \
             or rename the tiles to join only some"
        ),
        None => Ok(()),
    }
}

/// A warning if the tiles do not cover the whole.
fn gap(whole: &VoxelGrid, tiles: &[VoxelGrid]) -> Option<String> {
    // At most 2^60 voxels in each.
    let voxels = |grid: &VoxelGrid| grid.dims().map(u128::from).into_iter().product::<u128>();
    let missing = voxels(whole).saturating_sub(tiles.iter().map(voxels).sum());
    (missing > 0).then(|| {
        let missing = counted(missing as u64, "voxel");
        format!("the tiles leave {missing} of the whole grid empty: is one missing?")
    })
}

#[derive(Debug, Serialize)]
struct Report {
    tiles: usize,
    #[serde(flatten)]
    whole: GridSummary,
    #[serde(flatten)]
    written: Written,
}

impl Report {
    fn text(&self) -> String {
        let (whole, bytes) = (self.whole.text(), counted(self.written.bytes, "byte"));
        let (tiles, notes) = (counted(self.tiles as u64, "tile"), self.written.note_lines());
        format!("joined    {tiles}\nwrote     {whole}, {bytes}\n{notes}")
    }
}
