//! The colours of a grid's voxels, from those of the mesh's surface.
//!
//! A voxel that the surface touches has its own colour. A solid may have exposed voxels that the
//! surface does not touch: the surface passes between the centre of such a voxel, inside, and that
//! of its neighbour, outside, and touches only the neighbour. Such a voxel is filled with the mean
//! colour of its coloured face neighbours, of six, or with their most typical one. All other voxels
//! share one colour.

use rayon::prelude::*;

use crate::base::srgb::{Rgba, rgba_of};
use crate::grid::{
    BRICK, BrickKey, Colors, Mask, VoxelGrid, count, is_empty, mask_place, mask_spliced,
    mask_voxels,
};
use crate::surface::color::sums::Sums;
use crate::surface::color::visible::most_typical;
use crate::surface::color::{Blend, SurfaceColors};

/// The voxels of a brick with a neighbour in the voxels `of` its brick, for each of the six faces:
/// by axis, below and above.
pub(super) fn with_neighbors(key: BrickKey, of: impl Fn(BrickKey) -> Mask) -> [[Mask; 2]; 3] {
    let (here, beside) = (of(key), key.beside());
    [0, 1, 2].map(|axis| {
        let [below, above] = beside[axis].map(|key| key.map_or([0; 8], &of));
        [mask_spliced([&below, &here], axis, 1), mask_spliced([&here, &above], axis, BRICK - 1)]
    })
}

/// The colours of `grid`.
pub(super) fn colors(grid: &VoxelGrid, surface: &SurfaceColors, blend: Blend) -> Colors {
    let bricks = surface_bricks(surface);
    let bricks = bricks.into_par_iter().filter_map(|key| {
        let occupied = grid.mask_of(key);
        if is_empty(&occupied) {
            return None;
        }
        let (mask, colors) = brick_colors(key, &occupied, grid, surface, blend);
        (!is_empty(&mask)).then_some((key, mask, colors))
    });
    Colors::from_bricks(bricks.collect(), surface.colors.rest())
}

/// The bricks of the surface and their face neighbours.
fn surface_bricks(surface: &SurfaceColors) -> Vec<BrickKey> {
    let near = surface
        .touched
        .par_iter()
        .flat_map_iter(|&(key, _)| key.beside().into_iter().flatten().chain([Some(key)]).flatten());
    let mut near: Vec<BrickKey> = near.collect();
    near.par_sort_unstable();
    near.dedup();
    near
}

/// The `occupied` voxels of a brick that get their own colours, and these colours.
fn brick_colors(
    key: BrickKey,
    occupied: &Mask,
    grid: &VoxelGrid,
    surface: &SurfaceColors,
    blend: Blend,
) -> (Mask, Vec<Rgba>) {
    let own = surface.colors.of_brick(key);
    let (touched, visible) = (surface.touched(key), own.mask());
    let next = with_neighbors(key, |key| surface.colors.of_brick(key).mask());
    let inside = with_neighbors(key, |key| grid.mask_of(key));
    let any =
        |of: &[[Mask; 2]; 3], x: usize| of.as_flattened().iter().fold(0, |any, mask| any | mask[x]);
    let all = |of: &[[Mask; 2]; 3], x: usize| {
        of.as_flattened().iter().fold(u64::MAX, |all, mask| all & mask[x])
    };
    let filled: Mask =
        std::array::from_fn(|x| occupied[x] & !touched[x] & any(&next, x) & !all(&inside, x));
    let mask: Mask = std::array::from_fn(|x| occupied[x] & visible[x] | filled[x]);
    let color = |voxel: [u32; 3]| {
        let (x, bit) = mask_place(voxel);
        if filled[x] >> bit & 1 == 0 {
            return own.of(voxel);
        }
        let neighbor = |(axis, side): (usize, usize)| {
            let is_visible = next[axis][side][x] >> bit & 1 == 1;
            let mut voxel = voxel;
            voxel[axis] = if side == 1 { voxel[axis] + 1 } else { voxel[axis].wrapping_sub(1) };
            is_visible.then(|| surface.colors.of(voxel))
        };
        let sides = (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]);
        let neighbors: Vec<Rgba> = sides.filter_map(neighbor).collect();
        let color = match blend {
            Blend::None => most_typical(neighbors),
            _ => Sums::of_colors(&neighbors).mean().map(rgba_of),
        };
        color.unwrap_or(surface.colors.rest())
    };
    let mut colors = Vec::with_capacity(count(&mask) as usize);
    colors.extend(mask_voxels(key.first_voxel(), mask).map(color));
    (mask, colors)
}
