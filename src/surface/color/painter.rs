//! Paints bricks: the colours of the voxels of each brick, from the triangles that touch it.

use pulp::Simd;

use crate::base::srgb::{Rgba, rgba_of};
use crate::grid::{BrickKey, Mask, VoxelGrid, count, is_empty, mask_below};
use crate::surface::color::Blend;
use crate::surface::color::descent::BrickWork;
use crate::surface::color::integrator::{BrickTriangles, Integrator, Shaded, voxels_of};
use crate::surface::color::interior::with_neighbors;
use crate::surface::color::shade::{Shade, Shading, TriangleShading};
use crate::surface::color::visible;

/// A brick with coloured voxels.
pub(super) struct ColoredBrick {
    pub(super) key: BrickKey,
    /// The voxels that a triangle touches.
    pub(super) touched: Mask,
    /// The touched voxels that are not fully transparent.
    pub(super) visible: Mask,
    /// One for each visible voxel.
    pub(super) colors: Vec<Rgba>,
}

/// Paints the bricks of a grid.
pub(super) struct Painter<'a> {
    pub(super) shading: Shading<'a>,
    pub(super) grid: &'a VoxelGrid,
    pub(super) is_solid: bool,
    pub(super) blend: Blend,
}

impl BrickWork for Painter<'_> {
    type Scratch = Integrator;
    type Output = ColoredBrick;

    fn voxels(painted: &ColoredBrick) -> u64 {
        painted.colors.len() as u64
    }

    fn fills_masks(&self) -> bool {
        true
    }

    /// Bricks, colours and, for a solid, the keys of each brick and its six neighbours are in three
    /// lists at once.
    fn bytes(&self, bricks: u64, voxels: u64) -> u64 {
        let keys = 3 * 7 * size_of::<BrickKey>();
        let brick_bytes =
            3 * (size_of::<ColoredBrick>() + size_of::<(BrickKey, Mask, u64)>()) + keys;
        bricks * brick_bytes as u64 + voxels * 3 * size_of::<Rgba>() as u64
    }

    #[inline(always)]
    fn of_brick<S: Simd>(
        &self,
        simd: S,
        integrator: &mut Integrator,
        brick: &BrickTriangles,
    ) -> ColoredBrick {
        let Self { shading, grid, is_solid, blend } = self;
        // For a solid, empty voxels too: the exposed voxels next to them take the mean of their
        // colours.
        let first = brick.key.first_voxel();
        let wanted = if *is_solid {
            mask_below([0, 1, 2].map(|a| grid.dims()[a] - first[a]))
        } else {
            grid.mask_of(brick.key)
        };
        let all_in = |color| ColoredBrick {
            key: brick.key,
            touched: wanted,
            visible: wanted,
            colors: vec![color; count(&wanted) as usize],
        };
        let mesh = brick.distinct.mesh;
        let flat = |&triangle: &u32| shading.flat(mesh.source(triangle as usize));
        if let Some(color) = only_color(brick.triangles.iter().map(flat)).filter(|_| !is_solid) {
            return all_in(color);
        }
        let shadings = brick.shadings(shading);
        let only = only_color(shadings.iter().map(|shading| shading.uniform));
        if let Some(color) = only.filter(|_| !is_solid) {
            return all_in(color);
        }
        let triangles = brick.touched(simd, &wanted);
        let (shades, mut mixed) = by_shade(&shadings, &triangles.masks);
        // By voxel; `None` for a transparent voxel.
        let mut colors = [None; 512];
        for (shade, mask) in &shades {
            let (own, color) = (std::array::from_fn(|x| mask[x] & !mixed[x]), shade.color());
            voxels_of(&own).for_each(|voxel| colors[voxel] = color);
        }
        let shaded = Shaded { brick, touched: &triangles, shadings: &shadings };
        if *blend != Blend::All && !is_empty(&mixed) {
            let occupied = grid.mask_of(brick.key);
            let covered = with_neighbors(brick.key, |key| grid.mask_of(key));
            // Other voxels of a solid give no voxel their colours.
            let is_used = |x: usize| {
                covered.as_flattened().iter().fold(occupied[x], |any, mask| any | mask[x])
            };
            let used = std::array::from_fn(|x| mixed[x] & is_used(x));
            let mut samples = Vec::new();
            for voxel in voxels_of(&used) {
                colors[voxel] = visible::color(shaded, voxel, &covered, *blend, &mut samples);
                if colors[voxel].is_some() {
                    mixed[voxel / 64] &= !(1 << (voxel % 64));
                }
            }
        }
        integrator.add(simd, shaded, &mixed);
        for voxel in voxels_of(&mixed) {
            colors[voxel] = integrator.take(voxel).mean().map(rgba_of);
        }
        let touched = triangles.any;
        let mut visible = Mask::default();
        for voxel in voxels_of(&touched).filter(|&voxel| colors[voxel].is_some()) {
            visible[voxel / 64] |= 1 << (voxel % 64);
        }
        let mut visible_colors = Vec::with_capacity(count(&visible) as usize);
        visible_colors.extend(voxels_of(&visible).filter_map(|voxel| colors[voxel]));
        ColoredBrick { key: brick.key, touched, visible, colors: visible_colors }
    }
}

/// The voxels of a brick that triangles of each shade touch; and those that triangles of several
/// shades touch, or triangles of varying shade.
fn by_shade(shadings: &[TriangleShading], masks: &[Mask]) -> (Vec<(Shade, Mask)>, Mask) {
    /// Bounds the time of the search.
    const MAX_SHADES: usize = 16;
    let mut shades: Vec<(Shade, Mask)> = Vec::new();
    let mut mixed = [0; 8];
    for (shading, mask) in shadings.iter().zip(masks) {
        let found = |shade| shades.iter().position(|&(other, _)| other == shade);
        match shading.uniform.map(|shade| (shade, found(shade))) {
            Some((_, Some(index))) => add(&mut shades[index].1, mask),
            Some((shade, None)) if shades.len() < MAX_SHADES => shades.push((shade, *mask)),
            _ => add(&mut mixed, mask),
        }
    }
    let mut any = [0; 8];
    for (_, mask) in &shades {
        (0..8).for_each(|x| mixed[x] |= any[x] & mask[x]);
        add(&mut any, mask);
    }
    (shades, mixed)
}

fn add(to: &mut Mask, mask: &Mask) {
    (0..8).for_each(|x| to[x] |= mask[x]);
}

/// The colour of all voxels that triangles of these shades touch, if they are all the same.
fn only_color(mut shades: impl Iterator<Item = Option<Shade>>) -> Option<Rgba> {
    let first = shades.next()??;
    shades.all(|shade| shade == Some(first)).then(|| first.color()).flatten()
}
