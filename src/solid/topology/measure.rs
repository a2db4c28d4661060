//! Volume and area of a placed mesh, as sums of integers, which do not depend on the order.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::base::lanes::LANES;
use crate::base::vector::{cross, dot, minus, norm};
use crate::lattice::PlacedMesh;

/// Triangles summed per task.
const CHUNK: usize = 1 << 14;

/// The unit of areas is `2^-AREA_BITS`.
const AREA_BITS: u32 = 12;

/// Sums over triangles. With at most `2^32` triangles the volume is below `2^107` and the area
/// below `2^95`.
#[derive(Default, Clone, Copy)]
pub(super) struct Measure {
    /// In cubic lattice units, from the grid's centre.
    pub(super) volume_times_six: i128,
    /// In units of `2^-AREA_BITS`.
    twice_area: i128,
}

impl Measure {
    pub(super) fn of(mesh: &PlacedMesh) -> Self {
        // The centre of the grid is a lattice point: a voxel is at least `2^4` units wide.
        let (arch, center) = (Arch::new(), mesh.lattice().end().map(|end| end / 2));
        let sum = |chunk: usize| {
            let triangles = chunk * CHUNK..mesh.len().min((chunk + 1) * CHUNK);
            arch.dispatch(Sum { mesh, triangles, center })
        };
        let chunks = (0..mesh.len().div_ceil(CHUNK)).into_par_iter();
        chunks.map(sum).reduce(Self::default, |one, other| Self {
            volume_times_six: one.volume_times_six + other.volume_times_six,
            twice_area: one.twice_area + other.twice_area,
        })
    }

    /// In square lattice units.
    pub(super) fn area(&self) -> f64 {
        self.twice_area as f64 / (1u64 << (AREA_BITS + 1)) as f64
    }
}

/// Sums the tetrahedra from `center` to up to [`CHUNK`] triangles, and their areas.
struct Sum<'a> {
    mesh: &'a PlacedMesh,
    triangles: Range<usize>,
    center: [i64; 3],
}

impl WithSimd for Sum<'_> {
    type Output = Measure;

    /// Corners and centre differ by at most `2^24` per axis, so a normal is at most `2^49` long in
    /// each component, exact in `i64` and in `f64`, and less than `2^50` in all. Its components are
    /// split into multiples of `2^24` and the rest: each part of a product is at most `2^49`.
    ///
    /// A lane adds three such parts for each of `2^14 / LANES` triangles: the sum is below `2^62`.
    /// An area is below `2^62`, and is split at bit 32.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Measure {
        const LOW_NORMAL_BITS: u32 = 24;
        const LOW_AREA_BITS: u32 = 32;
        let Self { mesh, triangles, center } = self;
        let low_bits = |value: i64, bits: u32| value & ((1 << bits) - 1);
        let (mut volume_low, mut volume_high) = ([0; LANES], [0; LANES]);
        let (mut area_low, mut area_high) = ([0; LANES], [0; LANES]);
        for first in triangles.clone().step_by(LANES) {
            // Triangles past the end have no area, and no volume.
            let mut corners = [[[0; LANES]; 3]; 3];
            for lane in 0..LANES.min(triangles.end - first) {
                let triangle = mesh.triangle(first + lane);
                for corner in 0..3 {
                    for axis in 0..3 {
                        corners[corner][axis][lane] = triangle[corner][axis];
                    }
                }
            }
            for lane in 0..LANES {
                let corner = |index: usize| [0, 1, 2].map(|a| i64::from(corners[index][a][lane]));
                let a = corner(0);
                let normal = cross(minus(corner(1), a), minus(corner(2), a));
                let height = minus(a, center);
                volume_low[lane] += dot(height, normal.map(|c| low_bits(c, LOW_NORMAL_BITS)));
                volume_high[lane] += dot(height, normal.map(|c| c >> LOW_NORMAL_BITS));
                let length = norm(normal.map(|c| c as f64));
                let twice_area = (length * f64::from(1u32 << AREA_BITS)) as i64;
                area_low[lane] += low_bits(twice_area, LOW_AREA_BITS);
                area_high[lane] += twice_area >> LOW_AREA_BITS;
            }
        }
        let sum = |lanes: [i64; LANES]| lanes.map(i128::from).iter().sum::<i128>();
        let joined = |low, high, bits: u32| (sum(high) << bits) + sum(low);
        Measure {
            volume_times_six: joined(volume_low, volume_high, LOW_NORMAL_BITS),
            twice_area: joined(area_low, area_high, LOW_AREA_BITS),
        }
    }
}
