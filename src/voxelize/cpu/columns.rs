//! Column tests: the crossings of columns of voxels and triangles, by rows of columns. The columns
//! of a row that a triangle covers are an interval.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::place::{PlacedMesh, Triangle};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::{Axis, Crossing, Row};
use crate::voxelize::Rule;
use crate::voxelize::cpu::brick_cache::BrickCache;
use crate::voxelize::cpu::tasks::ClippedTriangles;
use crate::voxelize::cpu::triangle_batch::TriangleBatch;

/// A task that sets voxels in `bricks` by `rule`, one that tests columns.
pub(super) struct Task<'a> {
    pub(super) mesh: &'a PlacedMesh,
    pub(super) rule: Rule,
    pub(super) triangles: ClippedTriangles<'a>,
    pub(super) bricks: BrickCache<'a>,
}

impl<'a> WithSimd for Task<'a> {
    type Output = BrickCache<'a>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> BrickCache<'a> {
        let Self { mesh, rule, triangles, mut bricks } = self;
        let unit_bits = mesh.lattice().unit_bits;
        let columns = |axis: &Axis| Columns::new(*axis, mesh, rule, &triangles.clip);
        let axes: Vec<Columns> = rule.axes().iter().map(columns).collect();
        let mut batch = TriangleBatch::new();
        for group in triangles.groups() {
            batch.load(mesh, group.clone());
            let centers = batch.centers(unit_bits, &triangles.clip);
            for columns in &axes {
                for lane in centers.lanes_with_some(columns.axis.across(), group.len()).iter() {
                    let triangle = batch.triangle(lane);
                    columns.cross(rule, &triangle, &centers.range(lane), &mut bricks);
                }
            }
        }
        bricks
    }
}

/// Sets in `bricks` the crossings of `triangles` outside the grid, clamped to its end voxels. The
/// rule has a [`counting_axis`](Rule::counting_axis).
#[cfg(feature = "gpu")]
pub(super) fn cross_outside(
    mesh: &PlacedMesh,
    rule: Rule,
    triangles: &[usize],
    bricks: &mut BrickCache,
) {
    let lattice = mesh.lattice();
    let grid = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| d as i32 - 1) };
    for axis in rule.axes() {
        let columns = Columns::new(*axis, mesh, rule, &grid);
        for &index in triangles {
            let triangle = mesh.triangle(index);
            let centers = BoxRange::of_centers(&triangle, lattice.unit_bits).intersect(&grid);
            columns.cross_outside(rule, &triangle, &centers, bricks);
        }
    }
}

/// The columns along one axis through a box of voxels.
struct Columns {
    axis: Axis,
    unit_bits: u32,
    /// Voxels of the grid along the axis.
    count: i32,
    /// Voxels of the box along the axis; at the grid's far end, with the extra one of
    /// [`Rule::grid_dims`].
    along: Range<i32>,
    /// Positions of crossings, in voxels, that count for `along`: unbounded at the grid's ends.
    reach: Range<i32>,
}

impl Columns {
    fn new(axis: Axis, mesh: &PlacedMesh, rule: Rule, clip: &BoxRange) -> Self {
        let lattice = mesh.lattice();
        let length = |dims: [u32; 3]| axis.project(dims.map(|d| d as i32)).1;
        let (count, end) = (length(lattice.dims), length(rule.grid_dims(lattice.dims)));
        let [(_, first), (_, last)] = [clip.lo, clip.hi].map(|corner| axis.project(corner));
        let [at_first, at_last] = [first == 0, last + 1 == count];
        let along = first..if at_last { end } else { last + 1 };
        let reach_from = if at_first { i32::MIN } else { first };
        let reach = reach_from..if at_last { i32::MAX } else { last + 1 };
        Self { axis, unit_bits: lattice.unit_bits, count, along, reach }
    }

    /// Sets the voxels of `triangle`; `centers` are the voxel centres within its bounds.
    #[inline]
    fn cross(&self, rule: Rule, triangle: &Triangle, centers: &BoxRange, bricks: &mut BrickCache) {
        let crossing = Crossing::new(triangle, self.axis);
        let [(lo, _), (hi, _)] = [centers.lo, centers.hi].map(|corner| self.axis.project(corner));
        for second in lo[1]..=hi[1] {
            let Some(row) = crossing.row(second, lo[0]..hi[0] + 1, self.unit_bits) else {
                continue;
            };
            let row = if self.reach == (i32::MIN..i32::MAX) { row } else { row.near(&self.reach) };
            match rule {
                Rule::Conservative | Rule::SixSeparating => {
                    self.for_each_crossed(&row, second, |voxel| bricks.set_voxel(voxel));
                }
                Rule::Parity(_) => {
                    self.for_each_counted(&row, second, |voxel| bricks.flip_voxel(voxel));
                }
                Rule::Winding | Rule::Crossings => {
                    let winding = crossing.winding();
                    self.for_each_counted(&row, second, |voxel| bricks.count(voxel, winding));
                }
            }
        }
    }

    /// Sets the crossings of `triangle` outside the grid, clamped to its end voxels.
    #[cfg(feature = "gpu")]
    fn cross_outside(
        &self,
        rule: Rule,
        triangle: &Triangle,
        centers: &BoxRange,
        bricks: &mut BrickCache,
    ) {
        let crossing = Crossing::new(triangle, self.axis);
        let [(lo, _), (hi, _)] = [centers.lo, centers.hi].map(|corner| self.axis.project(corner));
        for second in lo[1]..=hi[1] {
            let Some(row) = crossing.row(second, lo[0]..hi[0] + 1, self.unit_bits) else {
                continue;
            };
            for (reach, end) in [(i32::MIN..0, 0), (self.count..i32::MAX, self.count)] {
                let row = row.clone().near(&reach);
                let outside =
                    row.columns().filter(|&first| reach.contains(&row.first_center(first)));
                for first in outside.filter(|_| self.along.contains(&end)) {
                    let voxel = self.axis.unproject([first, second], end);
                    match rule {
                        Rule::Winding | Rule::Crossings => bricks.count(voxel, crossing.winding()),
                        _ => bricks.flip_voxel(voxel),
                    }
                }
            }
        }
    }

    /// Calls `found` with the voxels that contain the crossings of the columns of `row`.
    #[inline]
    fn for_each_crossed(&self, row: &Row, second: i32, mut found: impl FnMut([i32; 3])) {
        for first in row.columns() {
            let along = row.voxel(first, self.count);
            if self.along.contains(&along) {
                found(self.axis.unproject([first, second], along));
            }
        }
    }

    /// Calls `found` with the voxels whose centres are the first at or past the crossings of the
    /// columns of `row`, clamped to the grid's ends.
    #[inline]
    fn for_each_counted(&self, row: &Row, second: i32, mut found: impl FnMut([i32; 3])) {
        for first in row.columns() {
            let along = row.first_center(first).clamp(0, self.count);
            if self.along.contains(&along) {
                found(self.axis.unproject([first, second], along));
            }
        }
    }
}
