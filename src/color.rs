//! The colours of voxels: of each the mean over all that is inside it of the mesh's surface, by area and
//! in linear light.
//!
//! Triangles are handed to the bricks that they touch (`nodes`), cut into pieces at the planes between
//! voxels (`clip`), and looked at (`shade`): a piece of a textured triangle in as many places as there
//! are texels in it, or in a smaller image of as many texels. Pieces are summed in integers (`sums`), so
//! the order in which they come has no effect; and all of it is done on the CPU, whatever backend found
//! the voxels. What is computed in floating point uses basic operations alone. So colours, too, are the
//! same on every machine, to the bit.
//!
//! Voxels of a solid that the surface does not touch have one colour, the mean of all others; but those
//! that can be seen look like what is next to them (`beside`).

use rayon::prelude::*;

use crate::appearance::Appearance;
use crate::color::clip::cut;
use crate::color::shade::{Look, Shade};
use crate::color::sums::{Sums, Weights};
use crate::error::BackendError;
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid, count, is_empty, set_bits};
use crate::mode::Mode;
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::progress::Progress;
use crate::srgb::{Rgba, linear_of, rgba_of, srgb_of};

mod beside;
mod clip;
mod coverage;
mod nodes;
mod shade;
mod sums;

/// How voxels are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColorOptions {
    /// What the voxels are. Of surfaces, those in which all is transparent are left out.
    pub mode: Mode,
    /// Not to leave any out.
    pub keep_transparent: bool,
    /// The most bytes of memory that the work may take, the colours included.
    pub memory: u64,
}

impl ColorOptions {
    /// For voxels of `mode`, in any memory.
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
    /// How many voxels were left out, in which all is transparent.
    pub transparent: u64,
}

impl Colored {
    /// As it is.
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
    let painted = Painter { mesh, appearance, grid: &grid, is_solid, progress }.paint();
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
        false => beside::colors(&grid, &surface),
    };
    Ok(Colored { grid: grid.with_colors(colors), transparent })
}

/// Leaves out the voxels in which something is, but nothing is seen; and counts them.
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

/// Bytes, about: the triangles on their way to bricks; what is painted, the colours of the surface made
/// of it, and those of the grid.
fn most_memory(mesh: &PlacedMesh, grid: &VoxelGrid) -> u64 {
    let bricks = grid.keys().len() as u64;
    let voxels: u64 = grid.masks().par_iter().map(|mask| u64::from(count(mask))).sum();
    let a_brick = (size_of::<Painted>() + 2 * size_of::<(BrickKey, Mask, u64)>()) as u64;
    let a_voxel = 3 * size_of::<Rgba>() as u64;
    mesh.len() as u64 * 16 + bricks * a_brick + voxels * a_voxel
}

/// What is seen of a brick.
struct Painted {
    key: BrickKey,
    /// The voxels in which there is a piece of a triangle.
    touched: Mask,
    /// Those in which it is not altogether transparent.
    seen: Mask,
    /// Of those.
    colors: Vec<Rgba>,
}

/// The surface of a mesh in colour: voxels in which something is seen, whether they are in the grid or
/// not.
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

/// Of voxels of which nothing is known.
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
    appearance: &'a Appearance,
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
        // Of a solid also what is not in it: its neighbours may be seen, and look like this.
        let wanted = if self.is_solid { [u64::MAX; 8] } else { self.grid.mask_of(key) };
        let look = |&triangle: &u32| {
            let triangle = triangle as usize;
            Look::new(self.appearance, triangle, self.mesh.indices()[triangle])
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
        for triangle in triangles {
            self.add(key, *triangle as usize, &look(triangle), weights, &wanted, &mut sums);
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

    /// Adds the pieces of a triangle in `wanted` voxels of a brick.
    fn add(
        &self,
        key: BrickKey,
        triangle: usize,
        look: &Look,
        weights: Weights,
        wanted: &Mask,
        sums: &mut [Sums; 512],
    ) {
        let unit_bits = self.mesh.lattice().unit_bits;
        let dims = self.grid.dims();
        let triangle = self.mesh.triangle(triangle);
        let base = key.position().map(|b| (b * BRICK) as i32);
        let brick = BoxRange {
            lo: base,
            hi: std::array::from_fn(|a| (base[a] + BRICK as i32).min(dims[a] as i32) - 1),
        };
        let range = BoxRange::of_triangle(&triangle, unit_bits).intersect(&brick);
        cut(&triangle, unit_bits, base, &range, |[x, y, z], piece| {
            let (x, bit) = (x as usize, 8 * y + z);
            if wanted[x] >> bit & 1 == 1 {
                let (shade, area) = look.mean(piece);
                sums[64 * x + bit as usize].add(weights.of(area), &shade);
            }
        });
    }
}
