//! The difference between the winding number of an open surface and the signed count of a column's
//! crossings.
//!
//! The number is `n + b` ([`solid_angle`](crate::solid::fill::solid_angle)). A voxel is inside if
//! it is at least 1/2, that is, if `n` plus the *offset* `k = floor(b + 1/2)` is at least 1. Along
//! a column the offset changes only where `b` passes `i + 1/2` for an integer `i`: at caps across
//! the holes, and at the boundary itself. An octree divides the grid; a cube is decided as a whole
//! if a bound of the change of `b` excludes every `i + 1/2`. In the remaining bricks, those at
//! caps, each voxel has its own offset.
//!
//! `b` is smooth except for integer jumps across the closing rays, which do not affect the bound;
//! between two points of a cube they are counted exactly. As in a fast multipole method, the nodes
//! of the [BVH](crate::solid::fill::loop_bvh) in a cube's far field are one Taylor polynomial of
//! degree 2 around its centre, with an error bound, that the cube's children inherit.

mod cube;
mod work;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pulp::Arch;
use rayon::prelude::*;

use crate::base::lanes::LANES;
use crate::base::progress::Progress;
use crate::base::vector::norm;
use crate::grid::{BRICK, Mask, brick_slot, mask_below};
use crate::lattice::Lattice;
use crate::solid::fill::loop_bvh::LoopBvh;
use crate::solid::fill::offsets::cube::{Cube, Expansion};
use crate::solid::fill::solid_angle::Point;
use crate::solid::topology::Boundary;

pub(in crate::solid) use work::takes_at_most;

/// Bound of the rounding error of a sum over all edges, at points that are at least one lattice
/// unit from every edge: at most [`MAX_EDGES`](crate::solid::topology::MAX_EDGES) factors, each
/// with an error of a few `2^-53`. At a smaller distance `d` an edge of length `l` has an error of
/// about `2^-53 l / d`. A voxel is inside from a winding number of 1/2 minus this bound on.
pub(super) const ROUNDING: f64 = 1e-8;
/// Maximum error of a far node in a cube (the acceptance criterion). A larger tolerance leaves
/// fewer near nodes, but more points whose number is within the error of an `i + 1/2`.
const CUBE_TOLERANCE: f64 = 1e-4;
/// Maximum error of a node in the first sums for points: the numbers of few are near an `i + 1/2`.
const FIRST_TOLERANCE: f64 = 1e-3;
/// Maximum errors of a near node in further sums for one point.
const NEAR_TOLERANCES: [f64; 2] = [1e-4, 1e-5];
/// Maximum errors of a node in the last sums for one point, from the root.
const ROOT_TOLERANCES: [f64; 2] = [1e-5, 1e-7];
/// Maximum ratio of the radius of a near node to that of a cube; a larger node is replaced by its
/// children.
const MAX_RADIUS_RATIO: f64 = 1.0;
/// A voxel is uncertain if the distance of its number from the nearest `i + 1/2` is less than this:
/// less than that from the nearest integer.
const UNCERTAIN: f64 = 0.25;
/// Maximum error of a number that decides a voxel: whether the voxel is uncertain depends on the
/// approximate number.
const MAX_VOXEL_ERROR: f64 = 0.2;
/// Maximum error of a polynomial that is evaluated at all; a larger one decides no voxel.
const MAX_ERROR: f64 = 1.0;
/// Maximum number of undecided voxels of a brick that is not divided; sums for more cost about as
/// much as eight children.
const MAX_UNDECIDED: usize = 40;
/// The edge length, in voxels, of cubes that are never divided: sums for all of their voxels cost
/// less.
const MIN_SIZE: u32 = 4;

/// A region of the grid.
pub(super) enum Region {
    /// Rows of bricks, a half-open range in `y` and `z`, with the offset of all voxels of their
    /// first brick; `None` if the offset differs by column.
    Rows { from: [u32; 2], to: [u32; 2], offset: Option<i32> },
    /// A brick with an offset per voxel.
    Brick { at: [u32; 3], content: Box<CapBrick> },
    /// The estimated number of uncertain voxels above an `i + 1/2` in a cube without caps, and the
    /// voxel at its centre.
    Uncertain { center: [u32; 3], voxels: u64 },
}

/// A brick at a cap.
#[derive(Debug, Clone)]
pub(super) struct CapBrick {
    /// The offset of voxel `(x, y, z)` has index `64 x + 8 y + z`.
    pub(super) offsets: [i32; 512],
    /// Voxels with a number less than [`UNCERTAIN`] above an `i + 1/2`.
    pub(super) uncertain: Mask,
}

impl CapBrick {
    fn new() -> Box<Self> {
        Box::new(Self { offsets: [0; 512], uncertain: Mask::default() })
    }

    /// Sets the offset of a voxel; `number` is `b` or a number with the same offset.
    #[inline]
    fn set(&mut self, voxel: [u32; 3], number: f64) {
        let (slot, offset) = (brick_slot(voxel), offset(number));
        self.offsets[slot] = offset;
        self.mark_if_uncertain(slot, number - f64::from(offset));
    }

    /// Marks a voxel if it is uncertain; `remainder` is its number minus its offset.
    #[inline(always)]
    fn mark_if_uncertain(&mut self, slot: usize, remainder: f64) {
        self.uncertain[slot / 64] |= u64::from(remainder < UNCERTAIN - 0.5) << (slot % 64);
    }
}

/// The winding number `b` of the boundary's closing rays, on the lattice of the surface.
pub(in crate::solid) struct Field {
    bvh: LoopBvh,
    /// The root of `bvh`; empty without loops.
    root: Vec<u32>,
    units_per_voxel: f64,
    arch: Arch,
    dims: [u32; 3],
}

impl Field {
    pub(in crate::solid) fn new(boundary: &Boundary, lattice: &Lattice) -> Self {
        let units_per_voxel = f64::from(lattice.units_per_voxel());
        Self::of(LoopBvh::new(boundary.loops()), units_per_voxel, lattice.dims)
    }

    fn of(bvh: LoopBvh, units_per_voxel: f64, dims: [u32; 3]) -> Self {
        Self { root: bvh.root(), bvh, units_per_voxel, arch: Arch::new(), dims }
    }

    /// Maximum memory of the field of a boundary, in bytes.
    pub(in crate::solid) fn bytes(boundary: &Boundary) -> u64 {
        LoopBvh::bytes(boundary.edges())
    }

    /// The octree's root. Its edge in bricks is a power of two.
    fn root_cube(&self) -> Cube {
        let longest = self.dims.into_iter().fold(1, u32::max);
        let size = longest.div_ceil(BRICK).next_power_of_two() * BRICK;
        Cube { at: [0; 3], size, near: self.root.clone(), far: Expansion::default() }
    }

    /// The bricks of the octree's root, the unit of the progress of [`regions`](Self::regions).
    pub(super) fn work(&self) -> u64 {
        u64::from(self.root_cube().size / BRICK).pow(3)
    }

    /// Rows that cover the grid, and the bricks at caps, in any order; incomplete if `progress` is
    /// cancelled.
    ///
    /// # Errors
    /// The number of bricks at caps, if it exceeds `room`.
    pub(super) fn regions(&self, room: u64, progress: &dyn Progress) -> Result<Vec<Region>, u64> {
        let count = AtomicU64::new(0);
        let regions = self.regions_of(self.root_cube(), room, &count, progress);
        let count = count.into_inner();
        if count > room { Err(count) } else { Ok(regions) }
    }

    /// The regions of a cube of the octree. `count` is the number of bricks at caps so far;
    /// the first `room` of them are kept.
    fn regions_of(
        &self,
        mut cube: Cube,
        room: u64,
        count: &AtomicU64,
        progress: &dyn Progress,
    ) -> Vec<Region> {
        let (size, mut regions) = (cube.size / BRICK, Vec::new());
        let is_in_grid = (0..3).all(|a| cube.at[a] < self.dims[a]);
        if is_in_grid && !progress.is_cancelled() {
            let all = self.expand_loops(&mut cube);
            if self.is_decided(&cube, &all) {
                regions = self.regions_without_cap(&cube, &all);
            } else if size > 1 {
                let children: Vec<Cube> = cube.children().collect();
                let of_child = |child| self.regions_of(child, room, count, progress);
                return children.into_par_iter().flat_map_iter(of_child).collect();
            } else if count.fetch_add(1, Relaxed) < room {
                regions.push(self.cap_brick(cube, &all));
            }
        }
        progress.advance(u64::from(size).pow(3));
        regions
    }

    /// The regions of a cube whose voxels have the same offset, except for jumps.
    fn regions_without_cap(&self, cube: &Cube, all: &Expansion) -> Vec<Region> {
        let mut regions = Vec::new();
        let voxels = self.estimated_uncertain(cube, all);
        if voxels > 0 {
            let center = [0, 1, 2].map(|a| (cube.at[a] + cube.size / 2).min(self.dims[a] - 1));
            regions.push(Region::Uncertain { center, voxels });
        }
        if cube.at[0] == 0 {
            let from = [1, 2].map(|a| cube.at[a] / BRICK);
            let to = [1, 2]
                .map(|a| ((cube.at[a] + cube.size) / BRICK).min(self.dims[a].div_ceil(BRICK)));
            let is_uniform = self.edges_with_rays_in(cube).is_empty();
            let offset = is_uniform.then(|| offset(all.taylor.value));
            regions.push(Region::Rows { from, to, offset });
        }
        regions
    }

    fn cap_brick(&self, cube: Cube, all: &Expansion) -> Region {
        let (at, mut content) = (cube.at, CapBrick::new());
        self.set_offsets(cube, all, &mut content);
        let in_grid = mask_below([0, 1, 2].map(|a| self.dims[a] - at[a]));
        for (layer, in_grid) in content.uncertain.iter_mut().zip(in_grid) {
            *layer &= in_grid;
        }
        Region::Brick { at: at.map(|c| c / BRICK), content }
    }

    /// Sets the offsets of a cube within a brick; `all` is its polynomial of all loops.
    fn set_offsets(&self, cube: Cube, all: &Expansion, brick: &mut CapBrick) {
        if let Some(undecided) = self.set_decided(&cube, all, brick) {
            for voxels in undecided.chunks(LANES) {
                let centers: Vec<Point> = voxels.iter().map(|&voxel| self.center(voxel)).collect();
                let numbers = self.numbers(&cube, &centers);
                voxels.iter().zip(numbers).for_each(|(&voxel, number)| brick.set(voxel, number));
            }
        } else {
            for mut child in cube.children() {
                let all = self.expand_loops(&mut child);
                self.set_offsets(child, &all, brick);
            }
        }
    }

    /// `b` at up to [`LANES`] points of `cube`, or numbers with the same offsets.
    fn numbers(&self, cube: &Cube, points: &[Point]) -> Vec<f64> {
        let numbers = self.numbers_in(cube, points, FIRST_TOLERANCE).into_iter().zip(points);
        numbers.map(|(number, &p)| number.unwrap_or_else(|| self.number_in(cube, p))).collect()
    }

    /// [`numbers`](Self::numbers) at one point, with smaller tolerances.
    fn number_in(&self, cube: &Cube, p: Point) -> f64 {
        let by_near = |tolerance| self.numbers_in(cube, &[p], tolerance)[0];
        NEAR_TOLERANCES.into_iter().find_map(by_near).unwrap_or_else(|| self.number_from_root(p))
    }

    /// [`numbers`](Self::numbers) by the near and far fields of the cube, where these decide the
    /// offset.
    fn numbers_in(&self, cube: &Cube, points: &[Point], tolerance: f64) -> Vec<Option<f64>> {
        let (near, error) = self.bvh.winding_numbers(&cube.near, points, tolerance);
        let error = error + cube.far.error() + ROUNDING;
        let numbers = near.iter().zip(points).map(|(near, &p)| near + cube.far.at(p));
        // The approximate number is to tell, too, whether a voxel is uncertain.
        let is_near = error < MAX_VOXEL_ERROR;
        let decides = |number: &f64| is_near && half_integer_distance(*number) > error;
        numbers.map(|number| Some(number).filter(decides)).collect()
    }

    /// The offset of one voxel.
    pub(super) fn offset(&self, voxel: [u32; 3]) -> i32 {
        offset(self.number_from_root(self.center(voxel)))
    }

    /// The offsets at up to [`LANES`] points, in lattice units.
    pub(in crate::solid) fn offsets_at(&self, points: &[Point]) -> Vec<i32> {
        self.numbers(&self.root_cube(), points).into_iter().map(offset).collect()
    }

    /// `b` or a number with the same offset.
    fn number_from_root(&self, p: Point) -> f64 {
        for tolerance in ROOT_TOLERANCES {
            let (number, error) = self.bvh.winding_number(&self.root, p, tolerance);
            // Without an error no node was approximated.
            if error == 0.0 || half_integer_distance(number) > error + ROUNDING {
                return number;
            }
        }
        self.exact(p)
    }

    /// `b`, the sum over all edges.
    fn exact(&self, p: Point) -> f64 {
        self.bvh.winding_number(&self.root, p, 0.0).0
    }

    /// The estimated number of uncertain voxels above an `i + 1/2` in a cube without caps, for
    /// uniformly distributed numbers: around the number at the centre, with a standard deviation of
    /// `half |g| / sqrt(3)`, where `g` is the polynomial's gradient.
    fn estimated_uncertain(&self, cube: &Cube, all: &Expansion) -> u64 {
        let half = f64::from(cube.size / 2) * self.units_per_voxel;
        let number = all.taylor.value;
        let above = number - number.floor() - 0.5;
        if above < 0.0 {
            return 0;
        }
        let share = 0.5 + 0.5 * (UNCERTAIN - above) / (half * norm(all.taylor.gradient));
        let length = |a: usize| u64::from(cube.size.min(self.dims[a].saturating_sub(cube.at[a])));
        let voxels_in_grid: u64 = (0..3).map(length).product();
        (share.clamp(0.0, 1.0) * voxels_in_grid as f64).round() as u64
    }

    fn center(&self, voxel: [u32; 3]) -> Point {
        voxel.map(|c| (f64::from(c) + 0.5) * self.units_per_voxel)
    }
}

/// The distance of `number` from the nearest `i + 1/2`.
fn half_integer_distance(number: f64) -> f64 {
    (number - number.floor() - 0.5).abs()
}

/// The offset for `b`; a voxel within [`ROUNDING`] of a cap is inside.
fn offset(number: f64) -> i32 {
    (number + 0.5 + ROUNDING).floor() as i32
}

#[cfg(test)]
mod tests;
