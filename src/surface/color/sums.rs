//! Sums over the triangles' parts in a voxel, and over voxels. They are integers, so their order
//! has no effect.

use crate::base::srgb::{Linear, Rgba, linear_of};
use crate::surface::color::shade::{Shade, VISIBLE};

/// Weighted sums, over the clipped polygons of a voxel or over voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sums {
    /// The weighted sums of the components of a [`Shade`].
    components: [u64; 5],
    weight: u64,
}

/// The largest area of a plane in a cube is the square root of two.
const MAX_AREA: f64 = 1.5;

/// The quantization of areas to integer weights.
#[derive(Debug, Clone, Copy)]
pub(in crate::surface) struct Weights {
    /// The weight of one voxel face.
    face: f64,
}

impl Weights {
    /// For a mesh of `triangles`.
    ///
    /// With `2^k` per face a polygon weighs at most `1.5 * 2^k`, and adds at most 65,535 times
    /// that, less than `2^(k + 17)`. With `n` triangles no sum reaches `2^64` if `k + 17 + log2 n
    /// <= 64`. Up to 134 million triangles, `k = 20`.
    pub(in crate::surface) fn new(triangles: usize) -> Self {
        const MAX_BITS: u32 = 20;
        let bits = (47 - triangles.next_power_of_two().ilog2()).min(MAX_BITS);
        Self { face: f64::from(1_u32 << bits) }
    }

    /// The weight of an area in voxel faces: at least 1, so that polygons without area count where
    /// there are no others.
    pub(super) fn of(&self, area: f64) -> u64 {
        self.units(area).max(1)
    }

    /// An area in voxel faces, rounded to units of weight.
    #[inline(always)]
    pub(in crate::surface) fn units(&self, area: f64) -> u64 {
        (area.min(MAX_AREA) * self.face + 0.5) as u64
    }

    /// The voxel faces of `units`.
    pub(in crate::surface) fn faces(&self, units: u64) -> f64 {
        units as f64 / self.face
    }
}

impl Sums {
    /// The sums of `samples`, each of weight 1.
    pub(super) fn of(samples: &[Shade]) -> Self {
        let mut sums = Self::default();
        samples.iter().for_each(|shade| sums.add(1, shade));
        sums
    }

    /// The sums of the colours of voxels, weighted by their opacity.
    pub(super) fn of_colors(colors: &[Rgba]) -> Self {
        let mut sums = Self::default();
        for &[r, g, b, opacity] in colors {
            let [r, g, b] = [r, g, b].map(linear_of);
            // An opacity of 0 counts as 1 of 255, in the mean opacity too, so that colours without
            // opacity have a mean.
            sums.add(opacity.max(1).into(), &Shade([r, g, b, u16::MAX, 0]));
            sums.components[VISIBLE] += u64::from(u8::MAX) * u64::from(u16::MAX);
        }
        sums
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let components = std::array::from_fn(|i| self.components[i] + other.components[i]);
        Self { components, weight: self.weight + other.weight }
    }

    /// Adds a polygon, or the colour of a voxel.
    #[inline]
    pub(super) fn add(&mut self, weight: u64, Shade(components): &Shade) {
        for (sum, &component) in self.components.iter_mut().zip(components) {
            *sum += weight * u64::from(component);
        }
        self.weight += weight;
    }

    /// The means over all of the area, visible or not: light and opacity, from 0 to 1.
    pub(super) fn means(&self) -> [f64; 4] {
        let [r, g, b, opacity, _] = self.components;
        [r, g, b, opacity].map(|sum| sum as f64 / (self.weight.max(1) as f64 * 65535.0))
    }

    /// The opacity-weighted mean colour, and the mean opacity of the visible area. `None` where the
    /// mean opacity of the whole area is below 1 / 1024.
    pub(super) fn mean(&self) -> Option<Linear> {
        /// The threshold exceeds the share of polygons without area.
        const INVERSE_MIN_OPACITY: u128 = 1024;
        let Self { components: [r, g, b, opacity, visible], weight } = *self;
        if u128::from(opacity) * INVERSE_MIN_OPACITY < u128::from(weight) * 65535 {
            return None;
        }
        let mean = |sum: u64, of: u64| {
            // 64 bits nearly always suffice, and their division is many times as fast.
            if let Some(product) = sum.checked_mul(65535).and_then(|sum| sum.checked_add(of / 2)) {
                return product.checked_div(of).map(|mean| mean.min(65535) as u16);
            }
            let sum = u128::from(sum) * 65535;
            (sum + u128::from(of / 2)).checked_div(of.into()).map(|mean| mean.min(65535) as u16)
        };
        let mean_opacity = if opacity == visible { u16::MAX } else { mean(opacity, visible)? };
        Some([mean(r, opacity)?, mean(g, opacity)?, mean(b, opacity)?, mean_opacity])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_an_area_rounded_to_units_and_at_least_one() {
        let unit = 1.0 / f64::from(1 << 20);
        for (area, weight) in [(0.0, 1), (1.4, 1), (1.6, 2), (1048576.0, 1 << 20)] {
            assert_eq!(Weights::new(1).of(area * unit), weight, "{area} units");
        }
    }

    #[test]
    fn a_voxel_is_seen_if_a_1024th_of_its_surface_is_opaque() {
        let opaque = Shade([65535, 0, 0, 65535, 65535]);
        let transparent = Shade([0; 5]);
        let mut sums = Sums::default();
        sums.add(1, &opaque);
        sums.add(1023, &transparent);
        assert_eq!(sums.mean(), Some([65535, 0, 0, 65535]));
        sums.add(1, &transparent);
        assert_eq!(sums.mean(), None);
    }
}
