//! The colours of voxels: the mean of the mesh's surface inside each voxel, weighted by area, in linear
//! light.
//!
//! Triangles are assigned to the bricks that they touch (`nodes`) and cut into pieces at the planes
//! between voxels (`clip`). The mean look of a piece (`shade`) is that of the texels that it covers,
//! each weighted by the covered area (`texels`, `coverage`). Pieces are summed in integers (`sums`), so
//! their order has no effect. All of it runs on the CPU, whatever backend found the voxels, and uses only
//! the basic operations of floating point: the colours are the same on every machine, to the bit.
//!
//! Voxels of a solid that the surface does not touch have one colour, the mean of all others; those of
//! them that are exposed have the colour of their neighbours (`beside`).

use rayon::prelude::*;

use crate::color::clip::{Plane, corners, cut};
use crate::color::coverage::Scratch;
use crate::color::shade::{Look, Looks, Shade};
use crate::color::sums::{Sums, Weights};
use crate::error::BackendError;
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid, count, is_empty, set_bits};
use crate::mode::Mode;
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::progress::Progress;
use crate::srgb::{Rgba, linear_of, rgba_of, srgb_of};

mod clip;
mod coverage;
mod flat;
mod interior;
mod nodes;
mod shade;
mod sums;
mod texels;

/// How voxels are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColorOptions {
    /// How the grid was voxelized. Surface voxels in which everything is transparent are left out.
    pub mode: Mode,
    /// Keep the transparent voxels of surfaces.
    pub keep_transparent: bool,
    /// The limit of memory in bytes, the colours included.
    pub memory: u64,
}

impl ColorOptions {
    /// For voxels of `mode`, without a limit of memory.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, keep_transparent: false, memory: u64::MAX }
    }
}

/// A grid in colour.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Colored {
    /// With colours, if the mesh has any.
    pub grid: VoxelGrid,
    /// Number of voxels that were left out because everything in them is transparent.
    pub transparent: u64,
}

impl Colored {
    /// `grid` without colours.
    #[must_use]
    pub fn without_colors(grid: VoxelGrid) -> Self {
        Self { grid, transparent: 0 }
    }
}

/// Gives the voxels of `grid`, which are those of `mesh`, the colours of the mesh.
///
/// # Errors
/// That takes too much memory.
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
    let needed = most_memory(mesh, &grid);
    if needed > options.memory {
        return Err(BackendError::Memory { needed, allowed: options.memory });
    }
    let is_solid = matches!(options.mode, Mode::Solid(_));
    let looks = Looks::new(appearance);
    let painted = Painter { mesh, looks, grid: &grid, is_solid, progress }.paint();
    if progress.is_cancelled() {
        return Err(BackendError::Cancelled);
    }
    let (grid, transparent) = match is_solid || options.keep_transparent {
        true => (grid, 0),
        false => without_transparent(grid, &painted)?,
    };
    let surface = Surface::new(painted);
    let colors = match !is_solid && surface.colors.own_count() == grid.occupied() {
        true => surface.colors,
        false => interior::colors(&grid, &surface),
    };
    Ok(Colored { grid: grid.with_colors(colors), transparent })
}

/// Removes the voxels that have pieces, all of them transparent. Returns how many.
fn without_transparent(
    grid: VoxelGrid,
    painted: &[Painted],
) -> Result<(VoxelGrid, u64), BackendError> {
    let unseen = |brick: &Painted| {
        let mask = std::array::from_fn(|x| brick.touched[x] & !brick.seen[x]);
        (!is_empty(&mask)).then_some((brick.key, mask))
    };
    let unseen = VoxelGrid::from_bricks(grid.dims(), painted.iter().filter_map(unseen).collect())?;
    Ok(match unseen.occupied() {
        0 => (grid, 0),
        count => (grid.subtract(&unseen), count),
    })
}

/// An upper estimate of bytes: triangle lists of bricks, painted bricks, the colours of the surface and
/// those of the grid.
fn most_memory(mesh: &PlacedMesh, grid: &VoxelGrid) -> u64 {
    let bricks = grid.keys().len() as u64;
    let voxels: u64 = grid.masks().par_iter().map(|mask| u64::from(count(mask))).sum();
    let a_brick = (size_of::<Painted>() + 2 * size_of::<(BrickKey, Mask, u64)>()) as u64;
    let a_voxel = 3 * size_of::<Rgba>() as u64;
    mesh.len() as u64 * 16 + bricks * a_brick + voxels * a_voxel
}

/// The colours of a brick's voxels.
struct Painted {
    key: BrickKey,
    /// The voxels in which there is a piece of a triangle.
    touched: Mask,
    /// Those in which it is not altogether transparent.
    seen: Mask,
    /// One for each voxel of `seen`.
    colors: Vec<Rgba>,
}

/// The coloured surface of a mesh, including voxels that are not in the grid.
struct Surface {
    touched: Vec<(BrickKey, Mask)>,
    colors: Colors,
}

impl Surface {
    fn new(mut painted: Vec<Painted>) -> Self {
        painted.par_sort_unstable_by_key(|brick| brick.key);
        let touched = painted.iter().map(|brick| (brick.key, brick.touched)).collect();
        let mean = mean(painted.iter().flat_map(|brick| &brick.colors));
        let bricks = painted.into_iter().map(|brick| (brick.key, brick.seen, brick.colors));
        Self { touched, colors: Colors::from_bricks(bricks.collect(), mean.unwrap_or(GREY)) }
    }

    /// The voxels of a brick in which there is a piece of a triangle.
    fn touched(&self, key: BrickKey) -> Mask {
        let found = self.touched.binary_search_by_key(&key, |&(key, _)| key);
        found.map_or([0; 8], |index| self.touched[index].1)
    }
}

/// The colour of a solid without any coloured surface.
const GREY: Rgba = [200, 200, 200, 255];

/// The mean in linear light, opaque.
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
    looks: Looks<'a>,
    grid: &'a VoxelGrid,
    is_solid: bool,
    progress: &'a dyn Progress,
}

impl Painter<'_> {
    /// The bricks in which there are pieces of triangles, in no order.
    fn paint(&self) -> Vec<Painted> {
        let weights = Weights::new(self.mesh.len());
        let paint = |key: BrickKey, triangles: &[u32]| self.paint_brick(key, triangles, weights);
        nodes::bricks(self.mesh, self.grid, self.is_solid, &paint)
    }

    fn paint_brick(&self, key: BrickKey, triangles: &[u32], weights: Weights) -> Painted {
        if self.progress.is_cancelled() {
            return Painted { key, touched: [0; 8], seen: [0; 8], colors: Vec::new() };
        }
        // Of a solid also voxels outside it: exposed neighbours take their colour.
        let wanted = if self.is_solid { [u64::MAX; 8] } else { self.grid.mask_of(key) };
        let look = |&triangle: &u32| {
            let triangle = triangle as usize;
            self.looks.of(triangle, self.mesh.indices()[triangle])
        };
        let only = triangles.first().map(look).and_then(|look| look.plain());
        let is_only = |triangle: &u32| look(triangle).plain() == only;
        if !self.is_solid && only.is_some_and(Shade::is_seen) && triangles.iter().all(is_only) {
            let mut sums = Sums::default();
            only.iter().for_each(|shade| sums.add(1, shade));
            let colors = sums.mean().map(rgba_of).into_iter();
            let colors = colors.flat_map(|c| std::iter::repeat_n(c, count(&wanted) as usize));
            return Painted { key, touched: wanted, seen: wanted, colors: colors.collect() };
        }
        let mut sums = [Sums::default(); 512];
        let mut scratch = Scratch::default();
        let mut pieces = Pieces { key, weights, wanted: &wanted, sums: &mut sums };
        for triangle in triangles {
            self.add(*triangle as usize, &look(triangle), &mut pieces, &mut scratch);
        }
        let mut painted = Painted { key, touched: [0; 8], seen: [0; 8], colors: Vec::new() };
        for (x, &word) in wanted.iter().enumerate() {
            for bit in set_bits(word) {
                let sums = &sums[64 * x + bit as usize];
                painted.touched[x] |= u64::from(sums.is_touched()) << bit;
                if let Some(mean) = sums.mean() {
                    painted.seen[x] |= 1 << bit;
                    painted.colors.push(rgba_of(mean));
                }
            }
        }
        painted
    }

    /// Adds the pieces of a triangle.
    fn add(&self, triangle: usize, look: &Look, pieces: &mut Pieces, scratch: &mut Scratch) {
        let unit_bits = self.mesh.lattice().unit_bits;
        let dims = self.grid.dims();
        let triangle = self.mesh.triangle(triangle);
        let base = pieces.key.position().map(|b| (b * BRICK) as i32);
        let brick = BoxRange {
            lo: base,
            hi: std::array::from_fn(|a| (base[a] + BRICK as i32).min(dims[a] as i32) - 1),
        };
        let range = BoxRange::of_triangle(&triangle, unit_bits).intersect(&brick);
        let corners = corners(&triangle, base, unit_bits);
        let plane = Plane::new(&corners);
        cut(&corners, base, &range, |[x, y, z], piece| {
            let (x, bit) = (x as usize, 8 * y + z);
            if pieces.wanted[x] >> bit & 1 == 1 {
                let weight = pieces.weights.of(plane.area(piece));
                let shade = look.mean(&plane, piece, scratch);
                pieces.sums[64 * x + bit as usize].add(weight, &shade);
            }
        });
    }
}

/// The pieces of triangles in the voxels of a brick.
struct Pieces<'a> {
    key: BrickKey,
    weights: Weights,
    wanted: &'a Mask,
    sums: &'a mut [Sums; 512],
}
