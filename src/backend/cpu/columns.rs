//! Finds where columns of voxels cross triangles: row by row of columns, those that a triangle covers
//! are an interval.

use std::ops::Range;

use crate::backend::Rule;
use crate::backend::cpu::open::OpenBricks;
use crate::backend::cpu::tasks::Portion;
use crate::place::{PlacedMesh, Triangle};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::{Axis, Crossing};

/// Sets in `bricks` what `rule`, one of those that look at columns, says of a portion of `mesh`.
pub(super) fn cross(mesh: &PlacedMesh, rule: Rule, portion: &Portion, bricks: &mut OpenBricks) {
    let lattice = mesh.lattice();
    for axis in rule.axes() {
        let columns = Columns::new(*axis, lattice.unit_bits, lattice.dims, &portion.clip);
        for index in portion.groups().flatten() {
            let triangle = mesh.triangle(index);
            match rule {
                Rule::Touched => {}
                Rule::Crossed => {
                    columns.each_crossed(&triangle, |voxel| bricks.set_voxel(voxel));
                }
                Rule::Flips(_) => columns.each_flip(&triangle, |voxel, _| bricks.flip_voxel(voxel)),
                Rule::WindingFlips => {
                    columns.each_flip(&triangle, |voxel, winding| bricks.count(voxel, winding));
                }
            }
        }
    }
}

/// Sets in `bricks` what `rule`, one by which crossings flip voxels, says of what the `triangles` of
/// `mesh` have before the grid.
#[cfg(feature = "gpu")]
pub(super) fn cross_before(
    mesh: &PlacedMesh,
    rule: Rule,
    triangles: &[usize],
    bricks: &mut OpenBricks,
) {
    let lattice = mesh.lattice();
    let grid = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| d as i32 - 1) };
    for axis in rule.axes() {
        let columns = Columns::new(*axis, lattice.unit_bits, lattice.dims, &grid);
        for &index in triangles {
            columns.each_before(&mesh.triangle(index), |voxel, winding| match rule {
                Rule::WindingFlips => bricks.count(voxel, winding),
                _ => bricks.flip_voxel(voxel),
            });
        }
    }
}

/// The columns along one axis through a box of voxels.
struct Columns {
    axis: Axis,
    unit_bits: u32,
    /// Voxels of the grid along the axis.
    count: i32,
    /// The box across the axis, in the order of [`Axis::project`].
    across: [Range<i32>; 2],
    /// And along it.
    along: Range<i32>,
}

impl Columns {
    fn new(axis: Axis, unit_bits: u32, dims: [u32; 3], clip: &BoxRange) -> Self {
        let (lo, along_lo) = axis.project(clip.lo);
        let (hi, along_hi) = axis.project(clip.hi);
        let (_, count) = axis.project(dims.map(|d| d as i32));
        let across = [lo[0]..hi[0] + 1, lo[1]..hi[1] + 1];
        Self { axis, unit_bits, count, across, along: along_lo..along_hi + 1 }
    }

    /// The voxels in which columns cross `triangle`.
    #[inline]
    fn each_crossed(&self, triangle: &Triangle, mut found: impl FnMut([i32; 3])) {
        self.each(triangle, |crossing, column, center| {
            let along = crossing.height(center).voxel(self.unit_bits, self.count);
            if self.along.contains(&along) {
                found(self.axis.unproject(column, along));
            }
        });
    }

    /// The voxels whose centres are the first at or past where columns cross `triangle`, with what
    /// that adds to the winding number. The grid's first voxel has what was crossed before.
    #[inline]
    fn each_flip(&self, triangle: &Triangle, mut found: impl FnMut([i32; 3], i32)) {
        self.each(triangle, |crossing, column, center| {
            let along = crossing.height(center).first_center(self.unit_bits).max(0);
            if self.along.contains(&along) {
                found(self.axis.unproject(column, along), crossing.winding());
            }
        });
    }

    /// The grid's first voxels of columns that cross `triangle` before the grid, with what that adds
    /// to the winding number.
    #[cfg(feature = "gpu")]
    fn each_before(&self, triangle: &Triangle, mut found: impl FnMut([i32; 3], i32)) {
        self.each(triangle, |crossing, column, center| {
            if crossing.height(center).first_center(self.unit_bits) < 0 {
                found(self.axis.unproject(column, 0), crossing.winding());
            }
        });
    }

    /// The columns that cross `triangle`: their indices and their centres.
    #[inline]
    fn each(&self, triangle: &Triangle, mut found: impl FnMut(&Crossing, [i32; 2], [i32; 2])) {
        let [(a, _), (b, _), (c, _)] = triangle.map(|corner| self.axis.project(corner));
        let [firsts, seconds] = [0, 1].map(|i| {
            let (lo, hi) = (a[i].min(b[i]).min(c[i]), a[i].max(b[i]).max(c[i]));
            let Range { start, end } = self.across[i];
            start.max(self.center_from(lo))..end.min(self.center_from(hi + 1))
        });
        if firsts.is_empty() || seconds.is_empty() {
            return;
        }
        let crossing = Crossing::new(triangle, self.axis);
        for second in seconds {
            let center = self.center(second);
            for first in crossing.row(center, firsts.clone(), self.unit_bits) {
                found(&crossing, [first, second], [self.center(first), center]);
            }
        }
    }

    /// The first voxel whose centre is at `coordinate` or past it.
    #[inline]
    fn center_from(&self, coordinate: i32) -> i32 {
        let half = 1 << (self.unit_bits - 1);
        (coordinate + half - 1) >> self.unit_bits
    }

    #[inline]
    fn center(&self, voxel: i32) -> i32 {
        (voxel << self.unit_bits) + (1 << (self.unit_bits - 1))
    }
}
