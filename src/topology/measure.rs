//! Volume and area of a placed mesh, as sums of integers, which do not depend on the order.

use std::ops::Add;

use rayon::prelude::*;

use crate::place::{Lattice, PlacedMesh, Triangle};
use crate::vector::{cross, dot, minus, norm};

/// Triangles summed per task.
const CHUNK: usize = 1 << 14;

/// The unit of areas is `2^-AREA_BITS`.
const AREA_BITS: u32 = 12;

pub(super) struct Measure {
    /// In cubic lattice units, from the grid's centre.
    pub(super) volume_times_six: i128,
    /// In square lattice units.
    pub(super) area: f64,
}

impl Measure {
    pub(super) fn of(mesh: &PlacedMesh) -> Self {
        let center = center(mesh.lattice());
        let sum = |chunk: usize| {
            let triangles = chunk * CHUNK..mesh.len().min((chunk + 1) * CHUNK);
            let terms = triangles.map(|index| Sums::of(mesh.triangle(index), center));
            terms.fold(Sums::default(), Sums::add)
        };
        let chunks = (0..mesh.len().div_ceil(CHUNK)).into_par_iter();
        let sums = chunks.map(sum).reduce(Sums::default, Sums::add);
        let units_of_twice_the_area = (1u64 << (AREA_BITS + 1)) as f64;
        Self {
            volume_times_six: sums.volume_times_six,
            area: sums.twice_area as f64 / units_of_twice_the_area,
        }
    }
}

/// The grid's centre: a lattice point, as a voxel is at least `2^4` units wide.
fn center(lattice: &Lattice) -> [i64; 3] {
    lattice.dims.map(|voxels| (i64::from(voxels) << lattice.fraction_bits) / 2)
}

/// Sums over triangles. With at most `2^32` triangles the volume is below `2^107` and the area
/// below `2^95`.
#[derive(Default, Clone, Copy)]
struct Sums {
    volume_times_six: i128,
    /// In units of `2^-AREA_BITS`.
    twice_area: i128,
}

impl Sums {
    /// Adds the tetrahedron from `center` to the triangle, and the triangle's area.
    ///
    /// Corners and centre differ by at most `2^24` per axis, so the normal is at most `2^49` long
    /// in each component, exact in `i64` and in `f64`, and less than `2^50` in all; the sum of
    /// three products is less than `2^75`.
    fn of([a, b, c]: Triangle, center: [i64; 3]) -> Self {
        let [a, b, c] = [a, b, c].map(|corner| corner.map(i64::from));
        let normal = cross(minus(b, a), minus(c, a));
        let height = minus(a, center);
        let length = norm(normal.map(|component| component as f64));
        Self {
            volume_times_six: dot(height.map(i128::from), normal.map(i128::from)),
            twice_area: i128::from((length * f64::from(1u32 << AREA_BITS)) as i64),
        }
    }
}

impl Add for Sums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            volume_times_six: self.volume_times_six + other.volume_times_six,
            twice_area: self.twice_area + other.twice_area,
        }
    }
}
