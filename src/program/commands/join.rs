//! `voxelize join`: tiles of a grid, put together.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::path::PathBuf;

use anyhow::{Error, Result, bail};
use trivox::{GridError, Tile, VoxelGrid};

use crate::cli::{JoinArgs, SceneArgs};
use crate::commands::convert::write;
use crate::progress::TerminalProgress;
use crate::text::{counted, of_file, shown};
use crate::write::destination::tile_named;

/// Reads the tiles, puts them together where they lie, and writes the whole.
pub fn run(args: &JoinArgs) -> Result<()> {
    let read = |progress: &TerminalProgress| {
        refuse_missing(&args.grids)?;
        let (mut tiles, mut warnings) = (Vec::new(), Vec::new());
        for path in &args.grids {
            let loaded = progress.load(path, args.read.memory, SceneArgs::default())?;
            let (grid, of_grid) = loaded.into_grid();
            if grid.world.place.is_none() {
                bail!(
                    "{}: does not say where it lies: join tiles in a format that does, such as \
                     .npz",
                    shown(path)
                );
            }
            warnings.extend(of_file(path, of_grid));
            tiles.push(grid);
        }
        let grid = VoxelGrid::join(&tiles.iter().collect::<Vec<_>>());
        let grid = grid.map_err(|error| {
            let of = at_fault(&error, &tiles, &args.grids);
            let of = if of.is_empty() { of } else { format!(": {of}") };
            Error::from(error).context(format!("the grids are not tiles of one{of}"))
        })?;
        warnings.extend(gap(&grid, &tiles));
        warnings.extend(grid.left_out(&tiles));
        Ok((grid, None, warnings))
    };
    write(&args.grids, Some(args.grids.len()), &args.output, &args.write, &args.report, read)
}

/// Refuses files that all have names of tiles, if they are of several meshes or divisions, or if
/// one of the tiles is not among them.
fn refuse_missing(paths: &[PathBuf]) -> Result<()> {
    let named = |path: &PathBuf| tile_named(path).map(|(mesh, tile)| (mesh.to_owned(), tile));
    let Some(named) = paths.iter().map(named).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let Some((mesh, Tile { of, .. })) = named.first().cloned() else { return Ok(()) };
    if let Some(at) = named.iter().position(|(other, tile)| *other != mesh || tile.of != of) {
        bail!(
            "{}: is by its name a tile of another mesh or division than {}: leave it out, or \
             rename the tiles",
            shown(&paths[at]),
            shown(&paths[0])
        );
    }
    let tiles: BTreeSet<u64> = named.iter().map(|(_, tile)| tile.index).collect();
    match (0..of.count()).find(|index| !tiles.contains(index)) {
        Some(index) => {
            let missing = Tile { index, of };
            bail!(
                "tile {missing} is missing, by the names of the others: make it with --tile \
                 {missing}, or rename the tiles to join only some"
            )
        }
        None => Ok(()),
    }
}

/// The names of the tiles at fault: one without colours, or two whose empty boxes cannot be joined
/// for the same reason.
fn at_fault(error: &GridError, tiles: &[VoxelGrid], paths: &[PathBuf]) -> String {
    let outline =
        |tile: &VoxelGrid| Some(VoxelGrid::empty(tile.dims()).ok()?.with_world(tile.world));
    let outlines: Vec<VoxelGrid> = tiles.iter().filter_map(outline).collect();
    let fails = |a: usize, b: usize| {
        let joined = VoxelGrid::join(&[&outlines[a], &outlines[b]]);
        joined.is_err_and(|other| discriminant(&other) == discriminant(error))
    };
    let found = match error {
        GridError::SomeColors => {
            let is_uncolored = |tile: &VoxelGrid| tile.colors.is_none() && tile.brick_count() > 0;
            tiles.iter().position(is_uncolored).map(|tile| vec![tile])
        }
        _ => {
            let mut pairs = (1..outlines.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
            pairs.find(|&(a, b)| fails(a, b)).map(|(a, b)| vec![a, b])
        }
    };
    let names: Vec<String> = found.iter().flatten().map(|&tile| shown(&paths[tile])).collect();
    names.join(" and ")
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
