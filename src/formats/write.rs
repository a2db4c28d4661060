//! Writes grids and distances.

use std::io::{BufWriter, Write};

#[cfg(feature = "palette")]
use crate::formats::Blocks;
use crate::formats::{GridFormat, Out, WriteError};
use crate::grid::{VoxelGrid, World};
use crate::solid::distance::DistanceField;
#[cfg(feature = "palette")]
use crate::surface::palette::{IndexedColors, MAX_COLORS, Palette};

/// Options of writing a grid: of formats with a palette, or with several forms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// The palette of indexed formats; `None` chooses one for the grid.
    #[cfg(feature = "palette")]
    pub palette: Option<Palette>,
    /// The most colours of a chosen palette, from 1 to [`MAX_COLORS`], which is the default.
    #[cfg(feature = "palette")]
    pub colors: Option<usize>,
    /// The blocks that voxels become in Minecraft; `None` is a list of 161.
    #[cfg(feature = "palette")]
    pub blocks: Option<Blocks>,
    /// The name of a `.litematic`; `None` is "trivox".
    pub name: Option<String>,
    /// Whether colours are dithered to the palette.
    pub dither: bool,
    /// Whether the simplest form of a format is written, for readers that know no other: `.schem`
    /// of version 2; `.vox` of one model without a scene graph, for grids of up to 256 voxels along
    /// each axis, without their world position.
    pub plain: bool,
    /// Whether a `.ply` is a point cloud: the centres of the voxels, with their attributes, and no
    /// faces.
    pub points: bool,
}

impl WriteOptions {
    /// The palette of `grid` by these options, and its voxels' indices in it.
    #[cfg(feature = "palette")]
    pub(crate) fn indexed(&self, grid: &VoxelGrid) -> Option<IndexedColors> {
        IndexedColors::new(grid, self.palette.as_ref(), self.most_colors(), self.dither)
    }

    /// The most colours of a chosen palette.
    #[cfg(feature = "palette")]
    pub(crate) fn most_colors(&self) -> usize {
        self.colors.unwrap_or(MAX_COLORS).clamp(1, MAX_COLORS)
    }
}

/// Writes `grid` to `out`. Output is deterministic. Takes at most 4 MiB of memory for any grid, and
/// up to 10 MiB more for each thread for formats that are encoded in parallel (`.vox`, `.vdb`,
/// `.nvdb`, `.npz`, `.vti`, schematics, meshes of voxels); indexed formats also take up to 32 bytes
/// per distinct colour. A mesh takes more where a tile of 64 x 64 x 64 voxels has tens of thousands
/// of isolated ones: at most two such tiles are in memory for each thread. A `.vox` of a grid with
/// colours and emission takes a copy of the grid; a `.bricks` whose empty voxels have colours, a
/// copy of the colours.
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

/// [`write_grid`] with `options`.
///
/// # Errors
/// As [`write_grid`].
pub fn write_grid_with(
    grid: &VoxelGrid,
    format: GridFormat,
    options: &WriteOptions,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    format.check_dims(grid.dims(), options)?;
    buffered(grid.world, out, |out| (format.spec().write)(grid, options, out))
}

/// Writes to `out` through a buffer. Refuses a grid at an impossible place, as readers do.
fn buffered(
    world: World,
    out: &mut dyn Write,
    write: impl FnOnce(&mut Out) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    const BYTES: usize = 1 << 18;
    if let Some(place) = world.place.filter(|place| !place.is_possible()) {
        return Err(WriteError::Unsupported(format!(
            "a grid cannot lie at {place:?}: use a finite origin and a positive voxel size"
        )));
    }
    let mut out = BufWriter::with_capacity(BYTES, out);
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Writes `field` in `format`. `.vdb`, `.nvdb` and `.vti` hold distances in world units, `.npy` and
/// `.npz` in voxels.
///
/// # Errors
/// The format cannot hold distances ([`GridFormat::check_distances`]); `out` fails.
pub fn write_distances(
    field: &DistanceField,
    format: GridFormat,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    format.check_distances()?;
    let Some(write) = format.spec().distances else { return Ok(()) };
    buffered(field.world(), out, |out| write(field, out))
}
