//! The colours of voxels: the area-weighted mean of the mesh's surface inside each voxel, in linear
//! light.
//!
//! Triangles are assigned to the bricks that they touch (`octree`) and clipped to voxels (`clip`).
//! The mean colour of a clipped polygon (`shade`) is the mean of the texels that it covers,
//! weighted by covered area (`texels`, `coverage`). Polygons are summed in integers (`sums`), so
//! their order has no effect. All of it runs on the CPU, for both backends, with basic
//! floating-point operations only: the colours are the same on every machine, to the bit.
//!
//! The surface of a solid does not touch all its voxels. An exposed untouched voxel has the mean
//! colour of its neighbours; all others have one colour, the mean over the surface (`interior`).

use rayon::prelude::*;

use crate::color::clip::{Plane, clip, corners};
use crate::color::coverage::Scratch;
use crate::color::shade::{Shade, Shading, TriangleShading};
use crate::color::sums::{Sums, Weights};
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid, count, is_empty, set_bits};
use crate::mode::Mode;
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::progress::Progress;
use crate::srgb::{Rgba, linear_of, rgba_of, srgb_of};
use crate::voxelize::BackendError;

mod clip;
mod coverage;
mod interior;
mod octree;
mod shade;
mod sums;
mod texel_polygon;
mod texels;

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
    /// The colour of voxels far from the surface, of a solid; `None` for the mean over the surface's
    /// voxels in the grid, which differs from tile to tile.
    pub interior: Option<Rgba>,
}

impl ColorOptions {
    /// For voxels of `mode`, without a memory limit.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, keep_transparent: false, memory: u64::MAX, interior: None }
    }
}

/// A grid in colour.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Colored {
    /// The grid, with colours if the mesh has any.
    pub grid: VoxelGrid,
    /// Number of voxels that were removed because they are fully transparent.
    pub transparent: u64,
}

impl Colored {
    /// `grid` without colours.
    #[must_use]
    pub fn without_colors(grid: VoxelGrid) -> Self {
        Self { grid, transparent: 0 }
    }
}

/// Colours the voxels of `grid`, the voxelization of `mesh`, by the mesh's appearance.
///
/// # Errors
/// The memory limit, or cancellation.
pub fn color(
    mesh: &PlacedMesh,
    grid: VoxelGrid,
    options: &ColorOptions,
    progress: &dyn Progress,
) -> Result<Colored, BackendError> {
    let Some(appearance) = mesh.appearance() else {
        return Ok(Colored::without_colors(grid));
    };
    if let Some(color) = appearance.only_color() {
        let grid = grid.with_colors(Colors::uniform(rgba_of(color)));
        return Ok(Colored { grid, transparent: 0 });
    }
    progress.start("color", 0);
    let needed = memory_bound(mesh, &grid);
    if needed > options.memory {
        return Err(BackendError::Memory { needed, allowed: options.memory });
    }
    let is_solid = matches!(options.mode, Mode::Solid(_));
    let shading = Shading::new(appearance);
    let bricks = Painter { mesh, shading, grid: &grid, is_solid, progress }.paint();
    if progress.is_cancelled() {
        return Err(BackendError::Cancelled);
    }
    let (grid, transparent) = match is_solid || options.keep_transparent {
        true => (grid, 0),
        false => without_transparent(grid, &bricks)?,
    };
    let surface = Surface::new(bricks, options.interior);
    let colors = match !is_solid && surface.colors.own_count() == grid.occupied() {
        true => surface.colors,
        false => interior::colors(&grid, &surface),
    };
    Ok(Colored { grid: grid.with_colors(colors), transparent })
}

/// Removes the voxels that triangles touch, but only with transparent parts. Returns their number.
fn without_transparent(
    grid: VoxelGrid,
    bricks: &[ColoredBrick],
) -> Result<(VoxelGrid, u64), BackendError> {
    let transparent = |brick: &ColoredBrick| {
        let mask = std::array::from_fn(|x| brick.touched[x] & !brick.visible[x]);
        (!is_empty(&mask)).then_some((brick.key, mask))
    };
    let transparent = bricks.iter().filter_map(transparent).collect();
    let transparent = VoxelGrid::from_bricks(grid.dims(), transparent)?;
    Ok(match transparent.occupied() {
        0 => (grid, 0),
        count => (grid.subtract(&transparent), count),
    })
}

/// An upper estimate of bytes: triangle lists of bricks, coloured bricks, the colours of the
/// surface and of the grid.
fn memory_bound(mesh: &PlacedMesh, grid: &VoxelGrid) -> u64 {
    let bricks = grid.keys().len() as u64;
    let voxels: u64 = grid.masks().par_iter().map(|mask| u64::from(count(mask))).sum();
    let brick_bytes = (size_of::<ColoredBrick>() + 2 * size_of::<(BrickKey, Mask, u64)>()) as u64;
    let voxel_bytes = 3 * size_of::<Rgba>() as u64;
    mesh.len() as u64 * 16 + bricks * brick_bytes + voxels * voxel_bytes
}

/// The colours of a brick's voxels.
struct ColoredBrick {
    key: BrickKey,
    /// The voxels that a clipped polygon lies in.
    touched: Mask,
    /// The touched voxels that are not fully transparent.
    visible: Mask,
    /// One for each voxel of `visible`.
    colors: Vec<Rgba>,
}

/// The coloured surface of a mesh, including voxels that are not in the grid.
struct Surface {
    touched: Vec<(BrickKey, Mask)>,
    colors: Colors,
}

impl Surface {
    fn new(mut bricks: Vec<ColoredBrick>, interior: Option<Rgba>) -> Self {
        bricks.par_sort_unstable_by_key(|brick| brick.key);
        let touched = bricks.iter().map(|brick| (brick.key, brick.touched)).collect();
        let mean = || mean(bricks.iter().flat_map(|brick| &brick.colors));
        let rest = interior.or_else(mean).unwrap_or(GREY);
        let bricks = bricks.into_iter().map(|brick| (brick.key, brick.visible, brick.colors));
        Self { touched, colors: Colors::from_bricks(bricks.collect(), rest) }
    }

    /// The voxels of a brick that triangles touch.
    fn touched(&self, key: BrickKey) -> Mask {
        let found = self.touched.binary_search_by_key(&key, |&(key, _)| key);
        found.map_or([0; 8], |index| self.touched[index].1)
    }
}

/// The colour of a solid without any coloured surface.
const GREY: Rgba = [200, 200, 200, 255];

/// The opaque mean in linear light.
fn mean<'a>(colors: impl Iterator<Item = &'a Rgba>) -> Option<Rgba> {
    let (mut sums, mut count) = ([0_u64; 3], 0);
    for &[r, g, b, _] in colors {
        for (sum, value) in sums.iter_mut().zip([r, g, b]) {
            *sum += u64::from(linear_of(value));
        }
        count += 1;
    }
    let mean = |sum: u64| Some(srgb_of((sum + count / 2).checked_div(count)? as u16));
    Some([mean(sums[0])?, mean(sums[1])?, mean(sums[2])?, u8::MAX])
}

struct Painter<'a> {
    mesh: &'a PlacedMesh,
    shading: Shading<'a>,
    grid: &'a VoxelGrid,
    is_solid: bool,
    progress: &'a dyn Progress,
}

impl Painter<'_> {
    /// The bricks that triangles touch, in no order.
    fn paint(&self) -> Vec<ColoredBrick> {
        let weights = Weights::new(self.mesh.whole().len());
        let paint = |key: BrickKey, triangles: &[u32]| self.paint_brick(key, triangles, weights);
        octree::bricks(self.mesh, self.grid, self.is_solid, &paint)
    }

    fn paint_brick(&self, key: BrickKey, triangles: &[u32], weights: Weights) -> ColoredBrick {
        let mut colored =
            ColoredBrick { key, touched: [0; 8], visible: [0; 8], colors: Vec::new() };
        if self.progress.is_cancelled() {
            return colored;
        }
        // Of a solid also the voxels outside it: exposed neighbours take their colours.
        let wanted = if self.is_solid { [u64::MAX; 8] } else { self.grid.mask_of(key) };
        let shading = |&triangle: &u32| {
            let triangle = triangle as usize;
            self.shading.of(self.mesh.source(triangle), self.mesh.indices()[triangle])
        };
        let first = triangles.first().map(shading).and_then(|shading| shading.uniform());
        let is_same = |triangle: &u32| shading(triangle).uniform() == first;
        if !self.is_solid && first.is_some_and(Shade::is_visible) && triangles.iter().all(is_same) {
            let mut sums = Sums::default();
            first.iter().for_each(|shade| sums.add(1, shade));
            let colors = sums.mean().map(rgba_of).into_iter();
            let colors = colors.flat_map(|c| std::iter::repeat_n(c, count(&wanted) as usize));
            return ColoredBrick {
                key,
                touched: wanted,
                visible: wanted,
                colors: colors.collect(),
            };
        }
        let mut sums = [Sums::default(); 512];
        let mut scratch = Scratch::default();
        let mut brick = BrickSums { key, weights, wanted: &wanted, sums: &mut sums };
        for triangle in triangles {
            self.add(*triangle as usize, &shading(triangle), &mut brick, &mut scratch);
        }
        for (x, &word) in wanted.iter().enumerate() {
            for bit in set_bits(word) {
                let sums = &sums[64 * x + bit as usize];
                colored.touched[x] |= u64::from(sums.is_touched()) << bit;
                if let Some(mean) = sums.mean() {
                    colored.visible[x] |= 1 << bit;
                    colored.colors.push(rgba_of(mean));
                }
            }
        }
        colored
    }

    /// Clips a triangle to the voxels of a brick and adds the polygons.
    fn add(
        &self,
        triangle: usize,
        shading: &TriangleShading,
        sums: &mut BrickSums,
        scratch: &mut Scratch,
    ) {
        let unit_bits = self.mesh.lattice().unit_bits;
        let dims = self.grid.dims();
        let triangle = self.mesh.triangle(triangle);
        let base = sums.key.position().map(|b| (b * BRICK) as i32);
        let brick = BoxRange {
            lo: base,
            hi: std::array::from_fn(|a| (base[a] + BRICK as i32).min(dims[a] as i32) - 1),
        };
        let range = BoxRange::of_triangle(&triangle, unit_bits).intersect(&brick);
        let corners = corners(&triangle, base, unit_bits);
        let plane = Plane::new(&corners);
        clip(&corners, base, &range, |[x, y, z], polygon| {
            let (x, bit) = (x as usize, 8 * y + z);
            if sums.wanted[x] >> bit & 1 == 1 {
                let weight = sums.weights.of(plane.area(polygon));
                let shade = shading.mean(&plane, polygon, scratch);
                sums.sums[64 * x + bit as usize].add(weight, &shade);
            }
        });
    }
}

/// The sums of the wanted voxels of a brick.
struct BrickSums<'a> {
    key: BrickKey,
    weights: Weights,
    wanted: &'a Mask,
    sums: &'a mut [Sums; 512],
}
