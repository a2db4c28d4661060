//! Rays and grids that a search may go wrong with.

use fastrand::Rng;
use trivox::VoxelGrid;
use trivox::view::trace::{FRACTION_BITS, Ray};

use super::voxels::{grid_where as grid, scattered};

/// A voxel, in units of a ray.
pub const SIDE: i64 = 1 << FRACTION_BITS;

/// A ray as integers.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub origin: [i64; 3],
    pub direction: [i32; 3],
}

impl Line {
    pub fn ray(&self) -> Ray {
        Ray::from_units(self.origin, self.direction).expect("in reach")
    }
}

/// Grids that a traversal may go wrong in, with their names.
pub fn adversarial(rng: &mut Rng) -> Vec<(&'static str, VoxelGrid)> {
    let corners = |dims: [u32; 3]| {
        grid(dims, |voxel| (0..3).all(|a| voxel[a] == 0 || voxel[a] == dims[a] - 1))
    };
    let mut scattered = |dims: [u32; 3], count: usize| scattered(dims, count, rng);
    vec![
        ("scattered", scattered([19, 23, 17], 60)),
        ("scattered far apart", scattered([600, 70, 9], 80)),
        ("scattered very far apart", scattered([65536, 5000, 3], 40)),
        ("one voxel", grid([1, 1, 1], |_| true)),
        ("one voxel in the middle", grid([17, 17, 17], |voxel| voxel == [8; 3])),
        ("corners", corners([9, 17, 8])),
        ("corners of bricks", grid([17, 16, 15], |v| v.iter().all(|c| c % 8 == 0 || c % 8 == 7))),
        ("walls", grid([20, 20, 20], |[x, y, z]| x == 7 || y == 8 || z == 15)),
        ("a wall between bricks", grid([16, 16, 16], |[x, _, _]| x == 8)),
        ("a diagonal wall", grid([18, 18, 18], |[x, y, z]| x + y + z == 23)),
        ("diagonal lines", grid([18, 18, 18], |[x, y, z]| x == y && (y == z || y + z == 17))),
        ("a checkerboard", grid([11, 9, 10], |[x, y, z]| (x + y + z) % 2 == 0)),
        ("edges that touch", grid([12, 12, 12], |[x, y, z]| (x + y) % 2 == 0 && z % 5 == 0)),
        ("a full brick", grid([24, 24, 24], |voxel| voxel.iter().all(|c| c / 8 == 1))),
        ("full bricks", grid([29, 16, 16], |[x, y, z]| x < 24 && y / 8 == z / 8)),
        ("a cube, full throughout", grid([64, 64, 64], |_| true)),
        ("bricks full throughout", grid([8, 8, 8], |_| true)),
        ("all but one", grid([16, 16, 16], |voxel| voxel != [8, 7, 8])),
    ]
}

/// A ray for `voxels` of a grid of `dims` that most often meets planes, edges and corners.
pub fn adversarial_line(rng: &mut Rng, dims: [u32; 3], voxels: &[[u32; 3]]) -> Line {
    let near = |rng: &mut Rng, steps: i64| -> [i64; 3] {
        let voxel = voxels[rng.usize(0..voxels.len())];
        std::array::from_fn(|a| i64::from(voxel[a]) * steps + rng.i64(-2 * steps..=3 * steps))
    };
    // From a multiple of half a voxel to a corner: the direction is exact, in halves of voxels.
    let half = SIDE / 2;
    let origin = match rng.u32(0..6) {
        0 => near(rng, 1).map(|c| c * SIDE),
        1 | 2 => near(rng, 2).map(|c| c * half),
        3 => std::array::from_fn(|a| rng.i64(-4..=2 * i64::from(dims[a]) + 4) * half),
        4 => near(rng, SIDE),
        _ => std::array::from_fn(|_| (rng.i64(-2..=2) << 18) * SIDE + rng.i64(-2..=2)),
    };
    let target = voxels[rng.usize(0..voxels.len())].map(i64::from);
    let corner: [i64; 3] = std::array::from_fn(|a| (target[a] + rng.i64(0..=1)) * SIDE);
    let direction = match rng.u32(0..6) {
        0 => {
            let (axis, sign) = (rng.usize(0..3), if rng.bool() { 1 } else { -1 });
            std::array::from_fn(|a| if a == axis { sign } else { 0 })
        }
        1 => std::array::from_fn(|_| rng.i32(-1..=1)),
        2 => std::array::from_fn(|_| rng.i32(-3..=3)),
        3 | 4 => std::array::from_fn(|a| ((corner[a] - origin[a]) / half) as i32),
        _ => std::array::from_fn(|_| rng.i32(-(1 << 24)..=1 << 24)),
    };
    match direction {
        [0, 0, 0] => Line { origin, direction: [0, 0, -1] },
        _ => Line { origin, direction },
    }
}
