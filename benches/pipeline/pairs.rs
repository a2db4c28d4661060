//! Counts the pairs of triangle and voxel that touch: the pairs that every algorithm has to find.

use rayon::prelude::*;
use trivox::PlacedMesh;
use trivox::lattice::Triangle;
use trivox::predicate::boxes::BoxRange;
use trivox::predicate::touches;

/// (Triangle, voxel) pairs that touch.
pub fn touching_pairs(mesh: &PlacedMesh) -> u64 {
    let lattice = mesh.lattice();
    let grid = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| d as i32 - 1) };
    let indices = (0..mesh.len()).into_par_iter();
    indices.map(|index| Pairs::new(mesh.triangle(index), lattice.fraction_bits, grid).count()).sum()
}

/// The voxels that one triangle touches, found by halving cubes that it touches.
struct Pairs {
    triangle: Triangle,
    fraction_bits: u32,
    /// All voxels there are.
    grid: BoxRange,
}

impl Pairs {
    fn new(triangle: Triangle, fraction_bits: u32, grid: BoxRange) -> Self {
        Self { triangle, fraction_bits, grid }
    }

    fn count(&self) -> u64 {
        let mut bits = self.fraction_bits;
        while self.reached(bits).longest() > 2 {
            bits += 1;
        }
        self.count_in(self.reached(bits), bits)
    }

    /// Cubes of `2^bits` units that the triangle's bounding box touches in the grid.
    fn reached(&self, bits: u32) -> BoxRange {
        let grid = self.grid.coarser(bits - self.fraction_bits);
        BoxRange::of_triangle(&self.triangle, bits).intersect(&grid)
    }

    /// Voxels touched within the cubes of `2^bits` units in `range`.
    fn count_in(&self, BoxRange { lo, hi }: BoxRange, bits: u32) -> u64 {
        let mut count = 0;
        for x in lo[0]..=hi[0] {
            for y in lo[1]..=hi[1] {
                count += (lo[2]..=hi[2]).map(|z| self.count_in_cube([x, y, z], bits)).sum::<u64>();
            }
        }
        count
    }

    fn count_in_cube(&self, cube: [i32; 3], bits: u32) -> u64 {
        let half = 1 << (bits - 1);
        if !touches(&self.triangle, cube.map(|i| (2 * i + 1) * half), half) {
            return 0;
        }
        if bits == self.fraction_bits {
            return 1;
        }
        let parts = BoxRange { lo: cube.map(|i| 2 * i), hi: cube.map(|i| 2 * i + 1) };
        self.count_in(parts.intersect(&self.reached(bits - 1)), bits - 1)
    }
}
