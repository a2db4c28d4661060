//! Sums over the pieces of triangles in a voxel, in integers: the same in whatever order the pieces come.

use crate::color::shade::Shade;
use crate::srgb::Linear;

/// The sums over the pieces of triangles in a voxel, weighted by area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sums {
    /// Red, green and blue, multiplied by opacity.
    light: [u64; 3],
    opacity: u64,
    /// Weight of what is not altogether transparent, times 65,535.
    seen: u64,
    /// Weight of all pieces.
    all: u64,
}

/// The largest area of a plane in a cube is the square root of two.
const MAX_AREA: f64 = 1.5;

/// The quantization of areas to integer weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    a_face: f64,
}

impl Weights {
    /// For a mesh of so many triangles.
    ///
    /// A piece counts with at most `1.5 * 2^k`, and its light with 65,535 times that, less than
    /// `2^(k + 17)`. With `n` triangles no sum reaches `2^64` where `k + 17 + log2 n <= 64`; of up to 134
    /// million a voxel's face is `2^20` then.
    pub(super) fn new(triangles: usize) -> Self {
        const MOST_BITS: u32 = 20;
        let bits = (47 - triangles.next_power_of_two().ilog2()).min(MOST_BITS);
        Self { a_face: f64::from(1_u32 << bits) }
    }

    /// The weight of an area in faces of a voxel: at least 1, so that pieces without area count where
    /// there are no others.
    pub(super) fn of(&self, area: f64) -> u64 {
        ((area.min(MAX_AREA) * self.a_face + 0.5) as u64).max(1)
    }
}

impl Sums {
    /// Adds a piece.
    #[inline]
    pub(super) fn add(&mut self, weight: u64, shade: &Shade) {
        let Shade { light, opacity, seen } = shade;
        for (sum, &light) in self.light.iter_mut().zip(light) {
            *sum += weight * u64::from(light);
        }
        self.opacity += weight * u64::from(*opacity);
        self.seen += weight * u64::from(*seen);
        self.all += weight;
    }

    /// Whether there is any piece.
    #[inline]
    pub(super) fn is_touched(&self) -> bool {
        self.all > 0
    }

    /// The mean colour, weighted by opacity, and the mean opacity of what is not altogether transparent.
    /// `None` where the mean opacity of all is below 1 / 1024.
    pub(super) fn mean(&self) -> Option<Linear> {
        /// Pieces without area have less weight than that.
        const NEXT_TO_NOTHING: u128 = 1024;
        let Self { light: [r, g, b], opacity, seen, all } = *self;
        if u128::from(opacity) * NEXT_TO_NOTHING < u128::from(all) * 65535 {
            return None;
        }
        let mean = |sum: u64, of: u64| {
            // Almost always there is room in 64 bits, whose division is many times as fast.
            if let Some(product) = sum.checked_mul(65535).and_then(|sum| sum.checked_add(of / 2)) {
                return product.checked_div(of).map(|mean| mean.min(65535) as u16);
            }
            let sum = u128::from(sum) * 65535;
            (sum + u128::from(of / 2)).checked_div(of.into()).map(|mean| mean.min(65535) as u16)
        };
        Some([mean(r, opacity)?, mean(g, opacity)?, mean(b, opacity)?, mean(opacity, seen)?])
    }
}
