//! The colours of voxels: the area-weighted mean of the mesh's surface inside each voxel, in linear
//! light.
//!
//! Triangles are assigned to the bricks that they touch (`descent`), which are painted one by one
//! (`painter`). A voxel that only triangles of one shade touch (`touched`) has that shade. In all
//! other voxels the shades of the triangles' parts are summed (`integrator`), weighted by their
//! areas (`parts`). Triangles with a texture are clipped (`clip`): the mean of a texture (`shade`)
//! is that of the texels in the polygon, weighted by covered area (`texels`, `coverage`,
//! `integrals`). Sums are integers (`sums`), so their order has no effect. With
//! [`Blend::Visible`] and [`Blend::None`] voxels of several shades have what rays through their
//! open faces hit first (`visible`). All of it runs on the
//! CPU, for both backends, with basic floating-point operations only: the colours are the same on
//! every machine, to the bit.
//!
//! The surface of a solid does not touch all its voxels. An exposed untouched voxel has the mean
//! colour of its neighbours; all others have one colour, the mean over the surface (`interior`).

use rayon::prelude::*;

use crate::backend::{BackendError, check_memory};
use crate::base::names::named;
use crate::base::progress::{Latch, Progress};
use crate::base::srgb::{Rgba, rgba_of};
use crate::grid::{BrickKey, Colors, Mask, VoxelGrid, is_empty};
use crate::lattice::{Distinct, PlacedMesh};
use crate::mesh::appearance::FilterChoice;
use crate::solid::mode::Mode;
use crate::surface::color::painter::{ColoredBrick, Painter};
use crate::surface::color::shade::{Layer, Shading};
use crate::surface::color::sums::Sums;

mod clip;
mod coverage;
pub(super) mod descent;
mod integrals;
pub(super) mod integrator;
mod interior;
pub(super) mod layers;
mod painter;
pub(super) mod parts;
mod polygon;
mod shade;
pub(super) mod sums;
mod texels;
mod touched;
mod visible;

/// Which surfaces in a voxel make its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Blend {
    /// The mean of all, weighted by area.
    #[default]
    All,
    /// The mean of the visible ones: 16 rays enter through each open face of the voxel, and count
    /// if they hit the front of a triangle first. Where none does, as [`All`](Self::All).
    Visible,
    /// The most typical colour of the visible ones, or where none is visible of all: samples are
    /// not mixed, and textures not interpolated unless the caller chooses a filter.
    None,
}

named!(Blend, "blend", { All = "all", Visible = "visible", None = "none" });

/// How voxels are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColorOptions {
    /// How the grid was voxelized. Fully transparent voxels of surfaces are removed.
    pub mode: Mode,
    /// Keep the fully transparent voxels of surfaces.
    pub keep_transparent: bool,
    /// The memory limit in bytes, colours included.
    pub memory: u64,
    /// The colour of voxels far from the surface, of a solid; `None` for the mean colour of all
    /// voxels that the surface touches, whether occupied or not. The mean differs between tiles.
    pub interior: Option<Rgba>,
    /// The magnification filter of textures.
    pub filter: FilterChoice,
    /// Which surfaces in a voxel count.
    pub blend: Blend,
}

impl ColorOptions {
    /// For voxels of `mode`, without a memory limit.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            keep_transparent: false,
            memory: u64::MAX,
            interior: None,
            filter: FilterChoice::Auto,
            blend: Blend::All,
        }
    }
}

/// Colours the voxels of `grid`, the voxelization of `mesh`, by the mesh's appearance. Returns the
/// grid, with colours if the mesh has any, and the number of voxels that were removed because they
/// are fully transparent.
///
/// # Errors
/// The memory limit, or cancellation.
///
/// # Panics
/// The dimensions of `grid` are not those of the mesh's lattice.
pub fn color(
    mesh: &PlacedMesh,
    grid: VoxelGrid,
    options: &ColorOptions,
    progress: &dyn Progress,
) -> Result<(VoxelGrid, u64), BackendError> {
    assert_eq!(grid.dims(), mesh.lattice().dims, "the grid of the mesh");
    let Some(appearance) = mesh.appearance() else {
        return Ok((grid, 0));
    };
    let is_solid = matches!(options.mode, Mode::Solid(_));
    if let Some(color) = appearance.only_color()
        && !(is_solid && options.interior.is_some())
    {
        return Ok((grid.with_colors(Colors::uniform(rgba_of(color))), 0));
    }
    let progress = &Latch::new(progress);
    progress.start("color", descent::SHARES);
    // Two lists of all triangles.
    let needed = mesh.len() as u64 * 8 + Shading::bytes(appearance, Layer::Color);
    check_memory(needed, options.memory)?;
    let filter = match (options.blend, options.filter) {
        (Blend::None, FilterChoice::Auto) => FilterChoice::Nearest,
        (_, filter) => filter,
    };
    let shading = Shading::new(appearance, filter, Layer::Color);
    let distinct = &Distinct::of(mesh, true);
    let blend = options.blend;
    let painter = Painter { shading, grid: &grid, is_solid, blend };
    let painted =
        descent::bricks(&painter, distinct, &grid, is_solid, options.memory - needed, progress)
            .map_err(|error| error.with_kept_bytes(needed, options.memory))?;
    let (grid, transparent) = if is_solid || options.keep_transparent {
        (grid, 0)
    } else {
        without_transparent(grid, &painted)?
    };
    let surface = SurfaceColors::new(&painted, options.interior);
    drop(painted);
    let colors = if !is_solid && surface.colors.own_count() == grid.occupied() {
        surface.colors
    } else {
        interior::colors(&grid, &surface, options.blend)
    };
    Ok((grid.with_colors(colors), transparent))
}

/// Removes the voxels that triangles touch, but only with transparent parts. Returns their number.
fn without_transparent(
    grid: VoxelGrid,
    painted: &[Vec<ColoredBrick>],
) -> Result<(VoxelGrid, u64), BackendError> {
    let transparent = |brick: &ColoredBrick| {
        let mask = std::array::from_fn(|x| brick.touched[x] & !brick.visible[x]);
        (!is_empty(&mask)).then_some((brick.key, mask))
    };
    let transparent = painted.iter().flatten().filter_map(transparent).collect();
    let transparent = VoxelGrid::from_bricks(grid.dims(), transparent)?;
    Ok(match transparent.occupied() {
        0 => (grid, 0),
        count => (grid.subtract(&transparent), count),
    })
}

/// The coloured surface of a mesh, including voxels that are not in the grid.
struct SurfaceColors {
    touched: Vec<(BrickKey, Mask)>,
    colors: Colors,
}

impl SurfaceColors {
    fn new(painted: &[Vec<ColoredBrick>], interior: Option<Rgba>) -> Self {
        let mut bricks: Vec<&ColoredBrick> = painted.iter().flatten().collect();
        bricks.par_sort_unstable_by_key(|brick| brick.key);
        let sums = bricks.par_iter().map(|brick| Sums::of_colors(&brick.colors));
        let mean = || sums.reduce(Sums::default, Sums::plus).mean().map(rgba_of);
        let mut colors = Colors::uniform(interior.or_else(mean).unwrap_or(GREY));
        colors.reserve(bricks.len(), bricks.iter().map(|brick| brick.colors.len()).sum());
        bricks.iter().for_each(|brick| colors.push(brick.key, brick.visible, &brick.colors));
        let touched = bricks.iter().map(|brick| (brick.key, brick.touched)).collect();
        Self { touched, colors }
    }

    /// The voxels of a brick that triangles touch.
    fn touched(&self, key: BrickKey) -> Mask {
        let found = self.touched.binary_search_by_key(&key, |&(key, _)| key);
        found.map_or([0; 8], |index| self.touched[index].1)
    }
}

/// Linear red, green, blue and opacity from 0 to 1; straight alpha.
type Color = [f64; 4];

/// The colour of a solid without any coloured surface.
const GREY: Rgba = [200, 200, 200, 255];

/// `floor(x)` of an `x` that fits `i64`. `f64::floor` is a function call on baseline x86-64, which
/// has no rounding instruction.
#[inline(always)]
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}
