//! Sums the shades of a brick's triangles over their parts in each voxel.
//!
//! A shade that is constant or varies linearly needs the area and the centroid of a part (`parts`).
//! A triangle with a texture is clipped (`clip`), and the texels are averaged over the polygon
//! (`shade`, `integrals`).

use pulp::Simd;

use crate::grid::{BRICK, BrickKey, Mask, brick_slot, is_empty, mask_bounds, mask_places};
use crate::lattice::Distinct;
use crate::surface::color::clip::{ClipScratch, Plane, clip};
use crate::surface::color::coverage;
use crate::surface::color::integrals::{Integrated, Queues, Target};
use crate::surface::color::parts::each_part;
use crate::surface::color::shade::{Shading, TriangleShading};
use crate::surface::color::sums::{Sums, Weights};
use crate::surface::color::texels::Sampler;
use crate::surface::color::touched::brick_masks;

/// The triangles that touch a brick.
#[derive(Clone, Copy)]
pub(in crate::surface) struct BrickTriangles<'a> {
    pub(in crate::surface) distinct: &'a Distinct<'a>,
    pub(in crate::surface) key: BrickKey,
    pub(in crate::surface) triangles: &'a [u32],
    pub(in crate::surface) weights: Weights,
}

/// The voxels of a brick that its triangles touch.
pub(in crate::surface) struct Touched {
    /// By triangle.
    pub(in crate::surface) masks: Vec<Mask>,
    /// The voxels that any triangle touches.
    pub(in crate::surface) any: Mask,
}

/// The triangles of a brick, where they are, and how each is shaded.
#[derive(Clone, Copy)]
pub(super) struct Shaded<'a> {
    pub(super) brick: &'a BrickTriangles<'a>,
    pub(super) touched: &'a Touched,
    pub(super) shadings: &'a [TriangleShading<'a>],
}

impl BrickTriangles<'_> {
    /// The bytes of memory of the lists for each triangle: of [`Self::touched`], also while it is
    /// made, and of [`Self::shadings`].
    pub(in crate::surface) const BYTES_A_TRIANGLE: u64 =
        (2 * size_of::<Mask>() + size_of::<TriangleShading>()) as u64;

    /// The voxels of `wanted` that the triangles touch.
    #[inline(always)]
    pub(in crate::surface) fn touched<S: Simd>(&self, simd: S, wanted: &Mask) -> Touched {
        let mut masks = brick_masks(simd, self.distinct.mesh, self.triangles, self.base());
        let mut any = Mask::default();
        for mask in &mut masks {
            for x in 0..8 {
                mask[x] &= wanted[x];
                any[x] |= mask[x];
            }
        }
        Touched { masks, any }
    }

    /// The shading of each triangle.
    pub(super) fn shadings<'a>(&self, shading: &'a Shading) -> Vec<TriangleShading<'a>> {
        let mesh = self.distinct.mesh;
        let indices = self.triangles.iter().map(|&triangle| triangle as usize);
        indices.map(|index| shading.of(mesh.source(index), mesh.indices()[index])).collect()
    }

    /// The corners of a triangle, in voxels from the minimum corner of the brick.
    #[inline(always)]
    pub(in crate::surface) fn corners(&self, index: usize) -> [[f64; 3]; 3] {
        let (mesh, base) = (self.distinct.mesh, self.base());
        let fraction_bits = mesh.lattice().fraction_bits;
        let units_per_voxel = f64::from(1_u32 << fraction_bits);
        // Exact: the bit budget leaves 25 bits for differences, and units are powers of two.
        mesh.triangle(self.triangles[index] as usize).map(|corner| {
            [0, 1, 2].map(|a| f64::from(corner[a] - (base[a] << fraction_bits)) / units_per_voxel)
        })
    }

    /// The weight of a part of a triangle.
    #[inline(always)]
    fn weight(&self, index: usize, area: f64) -> u64 {
        u64::from(self.distinct.copies(self.triangles[index])) * self.weights.of(area)
    }

    /// The minimum corner.
    fn base(&self) -> [i32; 3] {
        self.key.position().map(|b| (b * BRICK) as i32)
    }
}

/// The sums of a brick, and scratch memory of a task.
#[derive(Default)]
pub(in crate::surface) struct Integrator {
    clipped: ClipScratch,
    coverage: coverage::Scratch,
    queues: Queues,
    /// By voxel: empty before the first brick, zeros between bricks.
    sums: Vec<Sums>,
}

impl Integrator {
    /// Adds the shade of each triangle to the sums of the voxels `wanted` that it touches.
    #[inline(always)]
    pub(super) fn add<S: Simd>(&mut self, simd: S, of: Shaded, wanted: &Mask) {
        self.sums.resize(512, Sums::default());
        let own_of = |index: usize| -> Mask {
            let touched = &of.touched.masks[index];
            std::array::from_fn(|x| touched[x] & wanted[x])
        };
        // The textured triangles, with the voxels in which rounding lost their polygons.
        let mut lost = Vec::new();
        for (index, shading) in of.shadings.iter().enumerate() {
            let Some(sampler) = shading.varying_texture() else { continue };
            let own = own_of(index);
            if is_empty(&own) {
                continue;
            }
            let rest = self.add_textured(simd, of, index, sampler, own);
            if !is_empty(&rest) {
                lost.push((index, rest));
            }
        }
        let is_plain = |&index: &usize| of.shadings[index].varying_texture().is_none();
        let plain = (0..of.shadings.len()).filter(is_plain).map(|index| (index, own_of(index)));
        let Self { queues, sums, .. } = self;
        each_part(
            simd,
            plain.chain(lost),
            #[inline(always)]
            |index| of.brick.corners(index),
            #[inline(always)]
            |part| {
                let weight = of.brick.weight(part.triangle, part.area);
                sums[part.voxel].add(weight, &of.shadings[part.triangle].at(part.weights));
            },
        );
        queues.finish(simd, |integrated| add_mean(integrated, of.shadings, sums));
    }

    /// Adds a textured triangle to the sums of its `own` voxels. Returns the voxels in which
    /// rounding lost its polygon.
    #[inline(always)]
    fn add_textured<S: Simd>(
        &mut self,
        simd: S,
        Shaded { brick, shadings, .. }: Shaded,
        index: usize,
        sampler: &Sampler,
        mut own: Mask,
    ) -> Mask {
        let (shading, corners) = (&shadings[index], brick.corners(index));
        let map = shading.texel_map(sampler, Plane::new(&corners));
        let filter = shading.integrated().map(|sampler| sampler.filter);
        let [first, last] = mask_bounds(&own);
        let Self { clipped, coverage, queues, sums } = self;
        clip(
            &corners,
            [0, 1, 2].map(|a| [first[a] as i32, last[a] as i32]),
            clipped,
            #[inline(always)]
            |voxel, polygon| {
                let voxel = brick_slot(voxel.map(i32::cast_unsigned));
                let bit = 1 << (voxel % 64);
                if own[voxel / 64] & bit == 0 {
                    return;
                }
                own[voxel / 64] &= !bit;
                let weight = brick.weight(index, map.plane.area(polygon));
                let texels = &map.map(polygon);
                if let Some(filter) = filter {
                    let color = shading.mean_color(&map.plane, polygon);
                    let target = Target { triangle: index, voxel, weight, color };
                    let is_queued = queues.push(
                        simd,
                        filter,
                        texels,
                        target,
                        #[inline(always)]
                        |integrated| add_mean(integrated, shadings, sums),
                    );
                    if is_queued {
                        return;
                    }
                }
                sums[voxel].add(weight, &shading.mean(sampler, &map, polygon, texels, coverage));
            },
        );
        own
    }

    /// The sums of a voxel, and removes them.
    pub(super) fn take(&mut self, voxel: usize) -> Sums {
        std::mem::take(&mut self.sums[voxel])
    }
}

/// Adds the mean of an integrated polygon to the sums of its voxel.
#[inline(always)]
fn add_mean(integrated: &Integrated, shadings: &[TriangleShading], sums: &mut [Sums]) {
    let Target { triangle, voxel, weight, color } = *integrated.target;
    let shading = &shadings[triangle];
    if let Some(sampler) = shading.integrated() {
        sums[voxel].add(weight, &shading.shade(sampler.weighted(integrated), color));
    }
}

/// The indices of a mask's voxels in their brick.
pub(in crate::surface) fn voxels_of(mask: &Mask) -> impl Iterator<Item = usize> + use<> {
    mask_places(*mask).map(|(x, bit)| (64 * x + bit) as usize)
}
