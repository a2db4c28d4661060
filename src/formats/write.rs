//! Writes grids and distances.

use std::io::Write;

use crate::formats::{GridFormat, WriteError, WriteOptions};
use crate::grid::{Place, VoxelGrid};
use crate::solid::distance::DistanceField;

/// Writes `grid` to `out`. Output is deterministic. Takes at most 4 MiB of memory for any grid, and
/// up to 10 MiB more for each thread for formats that are encoded in parallel (`.vox`, `.vdb`,
/// `.nvdb`, `.npz`, schematics, meshes of voxels); indexed formats also take up to 32 bytes per
/// distinct colour. A mesh takes more where a tile of 64 x 64 x 64 voxels has tens of thousands of
/// isolated ones: at most two such tiles are in memory for each thread.
///
/// Other tasks of the caller's rayon pool may run meanwhile on the same thread: do not hold a lock
/// that they take.
///
/// # Errors
/// `out` fails, or the format cannot hold the grid.
pub fn write_grid(
    grid: &VoxelGrid,
    format: GridFormat,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    write_grid_with(grid, format, &WriteOptions::default(), out)
}

/// As [`write_grid`], with `options`.
///
/// # Errors
/// As [`write_grid`].
pub fn write_grid_with(
    grid: &VoxelGrid,
    format: GridFormat,
    options: &WriteOptions,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let extension = format.extension();
    let unwritten =
        || WriteError::Unsupported(format!(".{extension} files are read, but not written"));
    let write = format.spec().write.ok_or_else(unwritten)?;
    check_place(grid.world.place)?;
    write(grid, options, out)
}

/// # Errors
/// The grid's place is impossible, which readers refuse.
pub(super) fn check_place(place: Option<Place>) -> Result<(), WriteError> {
    match place.filter(|place| !place.is_possible()) {
        Some(place) => Err(WriteError::Unsupported(format!(
            "a grid cannot lie at {place:?}: use a finite origin and a positive voxel size"
        ))),
        None => Ok(()),
    }
}

/// Writes `field` in `format`. `.vdb` and `.nvdb` hold distances in world units, `.npy` and `.npz`
/// in voxels.
///
/// # Errors
/// The format cannot hold distances ([`GridFormat::check_distances`]); `out` fails.
pub fn write_distances(
    field: &DistanceField,
    format: GridFormat,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    format.check_distances()?;
    check_place(field.world().place)?;
    format.spec().distances.map_or(Ok(()), |write| write(field, out))
}
