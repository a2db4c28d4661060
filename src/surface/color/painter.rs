//! Paints bricks: the colours of the voxels of each brick, from the triangles that touch it.

use pulp::{Arch, Simd, WithSimd};

use crate::base::progress::Progress;
use crate::base::srgb::{Rgba, rgba_of};
use crate::grid::{
    BRICK, BrickKey, Mask, VoxelGrid, count, is_empty, mask_below, mask_bounds, mask_places,
};
use crate::lattice::Distinct;
use crate::surface::color::clip::{ClipScratch, Plane, around, clip, corners};
use crate::surface::color::coverage;
use crate::surface::color::integrals::{Integrated, Piece, Queues};
use crate::surface::color::octree;
use crate::surface::color::polygon::TexelPolygon;
use crate::surface::color::shade::{Shade, Shading, TriangleShading};
use crate::surface::color::sums::{Sums, Weights};
use crate::surface::color::touched::brick_masks;

/// An upper estimate of the bytes of coloured bricks, and of the colours of their voxels: each is
/// in three lists at once, or in two of which one grows. For a solid, bricks are in more lists, and
/// so are the keys of their neighbours.
pub(super) fn painted_bytes(bricks: u64, voxels: u64) -> u64 {
    let keys = 3 * 7 * size_of::<BrickKey>();
    let brick_bytes = 3 * (size_of::<ColoredBrick>() + size_of::<(BrickKey, Mask, u64)>()) + keys;
    bricks * brick_bytes as u64 + voxels * 3 * size_of::<Rgba>() as u64
}

/// A brick with coloured voxels.
pub(super) struct ColoredBrick {
    pub(super) key: BrickKey,
    /// The voxels that a triangle touches.
    pub(super) touched: Mask,
    /// The touched voxels that are not fully transparent.
    pub(super) visible: Mask,
    /// The index of its first colour.
    first: usize,
}

/// The bricks of one task.
#[derive(Default)]
pub(super) struct Painted {
    pub(super) bricks: Vec<ColoredBrick>,
    /// Brick by brick, one for each visible voxel.
    pub(super) colors: Vec<Rgba>,
}

impl Painted {
    pub(super) fn colors_of(&self, brick: &ColoredBrick) -> &[Rgba] {
        &self.colors[brick.first..][..count(&brick.visible) as usize]
    }
}

/// The state shared by the painting of all bricks.
pub(super) struct Painter<'a> {
    pub(super) distinct: &'a Distinct<'a>,
    pub(super) shading: Shading<'a>,
    pub(super) grid: &'a VoxelGrid,
    pub(super) is_solid: bool,
    pub(super) progress: &'a dyn Progress,
}

/// Scratch memory of a task.
pub(super) struct Scratch {
    clipped: ClipScratch,
    texels: TexelPolygon,
    coverage: coverage::Scratch,
    queues: Queues,
    /// Empty between bricks.
    sums: Vec<Sums>,
    colors: Vec<Rgba>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            clipped: ClipScratch::default(),
            texels: TexelPolygon::EMPTY,
            coverage: coverage::Scratch::default(),
            queues: Queues::default(),
            sums: vec![Sums::default(); 512],
            colors: vec![[0; 4]; 512],
        }
    }
}

impl Painter<'_> {
    /// The bricks that triangles touch, in no order.
    ///
    /// # Errors
    /// As [`octree::bricks`].
    pub(super) fn paint(&self, memory: u64) -> Result<Vec<Painted>, u64> {
        let weights = Weights::new(self.distinct.mesh.whole().len());
        let arch = Arch::new();
        let paint = |scratch: &mut Scratch, painted: &mut Painted, key, triangles: &[u32]| {
            if self.progress.is_cancelled() {
                return 0;
            }
            let painter = self;
            arch.dispatch(PaintBrick { painter, key, triangles, weights, scratch, painted });
            let is_counted = !self.is_solid || self.grid.keys().binary_search(&key).is_ok();
            match painted.bricks.last() {
                Some(brick) if !is_counted => painted_bytes(1, count(&brick.visible).into()),
                _ => 0,
            }
        };
        let done = |shares| self.progress.advance(shares);
        octree::bricks(self.distinct, self.grid, self.is_solid, memory, &paint, &done)
    }
}

/// Colours a brick.
struct PaintBrick<'a> {
    painter: &'a Painter<'a>,
    key: BrickKey,
    /// The triangles that touch it.
    triangles: &'a [u32],
    weights: Weights,
    scratch: &'a mut Scratch,
    painted: &'a mut Painted,
}

impl WithSimd for PaintBrick<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let Painter { distinct, shading, grid, is_solid, .. } = self.painter;
        let mesh = distinct.mesh;
        // For a solid, empty voxels too: the exposed voxels next to them take the mean of their
        // colours.
        let first = self.key.first_voxel();
        let wanted = match is_solid {
            true => mask_below([0, 1, 2].map(|a| grid.dims()[a] - first[a])),
            false => grid.mask_of(self.key),
        };
        let flat = |&triangle: &u32| shading.flat(mesh.source(triangle as usize));
        if let Some(color) = only_color(self.triangles.iter().map(flat)).filter(|_| !is_solid) {
            return self.push_uniform(wanted, color);
        }
        let shadings: Vec<_> = self.triangles.iter().map(|&index| self.shading(index)).collect();
        let only = only_color(shadings.iter().map(TriangleShading::uniform));
        if let Some(color) = only.filter(|_| !is_solid) {
            return self.push_uniform(wanted, color);
        }
        let masks = match shadings.iter().any(|shading| shading.uniform().is_some()) {
            true => brick_masks(simd, mesh, self.triangles, self.base()),
            false => Vec::new(),
        };
        let (mut touched, mut visible, mut mixed) = (Mask::default(), Mask::default(), wanted);
        if !masks.is_empty() {
            let by_shade = ByShade::new(&shadings, &masks);
            mixed = std::array::from_fn(|x| wanted[x] & by_shade.mixed[x]);
            for (shade, mask) in &by_shade.shades {
                let own: Mask = std::array::from_fn(|x| mask[x] & wanted[x] & !mixed[x]);
                add(&mut touched, &own);
                if let Some(color) = color_of(*shade) {
                    add(&mut visible, &own);
                    voxels_of(&own).for_each(|voxel| self.scratch.colors[voxel] = color);
                }
            }
        }
        let (mut missed, mut center) = (Mask::default(), None);
        while !is_empty(&mixed) {
            self.sum(simd, &shadings, &masks, &mixed, center);
            let untouched = self.resolve(&mixed, &mut touched, &mut visible);
            // Triangles touch all voxels of a surface: of these, rounding lost all polygons.
            if center.is_none() && !is_solid {
                missed = untouched;
            }
            let Some((x, bit)) = mask_places(missed).next() else { break };
            mixed = Mask::default();
            mixed[x as usize] = 1 << bit;
            missed[x as usize] &= !mixed[x as usize];
            center = Some([x, bit / 8, bit % 8].map(|c| f64::from(c) + 0.5));
        }
        let colors = std::mem::take(&mut self.scratch.colors);
        self.push(touched, visible, |to| to.extend(voxels_of(&visible).map(|v| colors[v])));
        self.scratch.colors = colors;
    }
}

impl<'a> PaintBrick<'a> {
    /// Adds the shades of all triangles to the sums of the `mixed` voxels. `masks` has the voxels
    /// that each triangle touches; empty if they are unknown.
    ///
    /// `center` is that of a voxel whose polygons rounding lost, because triangles touch it only in
    /// points and edges: triangles are clipped [`around`] it.
    #[inline(always)]
    fn sum<S: Simd>(
        &mut self,
        simd: S,
        shadings: &[TriangleShading],
        masks: &[Mask],
        mixed: &Mask,
        center: Option<[f64; 3]>,
    ) {
        for index in 0..shadings.len() {
            let own = masks.get(index).map(|mask| std::array::from_fn(|x| mask[x] & mixed[x]));
            let own = own.as_ref().unwrap_or(mixed);
            if !is_empty(own) {
                let corners = self.corners(index);
                let corners = center.map_or(corners, |center| around(corners, center));
                self.add(simd, index, shadings, &corners, mask_bounds(own), mixed);
            }
        }
        let Scratch { queues, sums, .. } = &mut *self.scratch;
        queues.finish(simd, |integrated| add_pieces(integrated, shadings, sums));
    }

    /// Converts the sums of the `mixed` voxels to colours. Returns the voxels without any.
    fn resolve(&mut self, mixed: &Mask, touched: &mut Mask, visible: &mut Mask) -> Mask {
        let Scratch { sums, colors, .. } = &mut *self.scratch;
        let mut missed = Mask::default();
        for voxel in voxels_of(mixed) {
            let sums = std::mem::take(&mut sums[voxel]);
            let bit = 1 << (voxel % 64);
            let of = if sums.is_touched() { &mut *touched } else { &mut missed };
            of[voxel / 64] |= bit;
            if let Some(mean) = sums.mean() {
                visible[voxel / 64] |= bit;
                colors[voxel] = rgba_of(mean);
            }
        }
        missed
    }

    fn push_uniform(&mut self, mask: Mask, color: Rgba) {
        let count = count(&mask) as usize;
        self.push(mask, mask, |colors| colors.extend(std::iter::repeat_n(color, count)));
    }

    fn push(&mut self, touched: Mask, visible: Mask, colors: impl FnOnce(&mut Vec<Rgba>)) {
        let first = self.painted.colors.len();
        colors(&mut self.painted.colors);
        self.painted.bricks.push(ColoredBrick { key: self.key, touched, visible, first });
    }

    fn shading(&self, triangle: u32) -> TriangleShading<'a> {
        let Painter { shading, distinct: Distinct { mesh, .. }, .. } = self.painter;
        shading.of(mesh.source(triangle as usize), mesh.indices()[triangle as usize])
    }

    /// The minimum corner.
    fn base(&self) -> [i32; 3] {
        self.key.position().map(|b| (b * BRICK) as i32)
    }

    /// The corners of a triangle, in voxels from the minimum corner of the brick.
    #[inline(always)]
    fn corners(&self, index: usize) -> [[f64; 3]; 3] {
        let mesh = self.painter.distinct.mesh;
        let triangle = mesh.triangle(self.triangles[index] as usize);
        corners(&triangle, self.base(), mesh.lattice().fraction_bits)
    }

    /// Clips a triangle with these corners to the `mixed` voxels from `first` to `last` and adds
    /// the polygons to their sums.
    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        index: usize,
        shadings: &[TriangleShading],
        corners: &[[f64; 3]; 3],
        [first, last]: [[u32; 3]; 2],
        mixed: &Mask,
    ) {
        let shading = &shadings[index];
        let copies = u64::from(self.painter.distinct.copies(self.triangles[index]));
        let plane = Plane::new(corners);
        let texel_map = shading.texel_map(plane);
        let filter = shading.integrated().map(|sampler| sampler.filter);
        let Scratch { clipped, texels, coverage, queues, sums, .. } = &mut *self.scratch;
        clip(
            corners,
            [0, 1, 2].map(|a| [first[a] as i32, last[a] as i32]),
            clipped,
            #[inline(always)]
            |[x, y, z], polygon| {
                let voxel = (64 * x + 8 * y + z) as usize;
                if mixed[voxel / 64] >> (voxel % 64) & 1 == 0 {
                    return;
                }
                let weight = copies * self.weights.of(plane.area(polygon));
                if let Some(map) = &texel_map {
                    map.map(polygon, texels);
                }
                if let Some(filter) = filter {
                    let color = shading.mean_color(&plane, polygon);
                    let piece = Piece::new(index, voxel, weight, color);
                    let done = |integrated: &Integrated| add_pieces(integrated, shadings, sums);
                    if queues.push(simd, filter, texels, piece, done) {
                        return;
                    }
                }
                let shade = shading.mean(&plane, polygon, texel_map.as_ref(), texels, coverage);
                sums[voxel].add(weight, &shade);
            },
        );
    }
}

/// Adds integrated pieces of triangles to the sums of their voxels.
#[inline(always)]
fn add_pieces(integrated: &Integrated, shadings: &[TriangleShading], sums: &mut [Sums]) {
    for (index, piece) in integrated.pieces.iter().enumerate() {
        let shading = &shadings[piece.triangle as usize];
        if let Some(sampler) = shading.integrated() {
            let shade = shading.shade(sampler.weighted(integrated, index), piece.color);
            sums[piece.voxel as usize].add(piece.weight, &shade);
        }
    }
}

/// The voxels of a brick by the shade of the triangles that touch them.
struct ByShade {
    /// For each shade the voxels that its triangles touch.
    shades: Vec<(Shade, Mask)>,
    /// The voxels that triangles of several shades touch, or triangles of varying shade.
    mixed: Mask,
}

impl ByShade {
    fn new(shadings: &[TriangleShading], masks: &[Mask]) -> Self {
        /// Bounds the time of the search.
        const MAX_SHADES: usize = 16;
        let mut shades: Vec<(Shade, Mask)> = Vec::new();
        let mut mixed = [0; 8];
        for (shading, mask) in shadings.iter().zip(masks) {
            let found = |shade| shades.iter().position(|&(other, _)| other == shade);
            match shading.uniform().map(|shade| (shade, found(shade))) {
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
        Self { shades, mixed }
    }
}

fn add(to: &mut Mask, mask: &Mask) {
    (0..8).for_each(|x| to[x] |= mask[x]);
}

/// The colour of all voxels that triangles of these shades touch, if they are all the same.
fn only_color(mut shades: impl Iterator<Item = Option<Shade>>) -> Option<Rgba> {
    let first = shades.next()??;
    shades.all(|shade| shade == Some(first)).then(|| color_of(first)).flatten()
}

/// The colour of voxels that only triangles of one shade touch; `None` if they are transparent.
fn color_of(shade: Shade) -> Option<Rgba> {
    let mut sums = Sums::default();
    sums.add(1, &shade);
    sums.mean().map(rgba_of)
}

/// The indices of a mask's voxels in their brick.
fn voxels_of(mask: &Mask) -> impl Iterator<Item = usize> + use<> {
    mask_places(*mask).map(|(x, bit)| (64 * x + bit) as usize)
}
