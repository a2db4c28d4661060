//! Finds where columns of voxels cross triangles: row by row of columns, those that a triangle covers
//! are an interval.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::place::{PlacedMesh, Triangle};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::{Axis, Crossing, Row};
use crate::voxelize::Rule;
use crate::voxelize::cpu::brick_cache::OpenBricks;
use crate::voxelize::cpu::tasks::Portion;
use crate::voxelize::cpu::triangle_batch::Gathered;

/// A portion of a mesh, of which the voxels that `rule` names are to be set in `bricks`. The rule is
/// one that looks at columns.
pub(super) struct Job<'a> {
    pub(super) mesh: &'a PlacedMesh,
    pub(super) rule: Rule,
    pub(super) portion: Portion<'a>,
    pub(super) bricks: OpenBricks<'a>,
}

impl<'a> WithSimd for Job<'a> {
    type Output = OpenBricks<'a>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> OpenBricks<'a> {
        let Self { mesh, rule, portion, mut bricks } = self;
        let unit_bits = mesh.lattice().unit_bits;
        let columns = |axis: &Axis| Columns::new(*axis, mesh, rule, &portion.clip);
        let axes: Vec<Columns> = rule.axes().iter().map(columns).collect();
        let mut gathered = Gathered::new();
        for group in portion.groups() {
            gathered.fetch(mesh, group.clone());
            let centers = gathered.centers(unit_bits, &portion.clip);
            for columns in &axes {
                for lane in centers.with_some(columns.axis.across(), group.len()).iter() {
                    let triangle = gathered.triangle(lane);
                    columns.cross(rule, &triangle, &centers.range(lane), &mut bricks);
                }
            }
        }
        bricks
    }
}

/// Sets in `bricks` what `rule`, one of flips, counts for the ends of the grid of what columns cross
/// beyond them in `triangles` of `mesh`.
#[cfg(feature = "gpu")]
pub(super) fn cross_beyond(
    mesh: &PlacedMesh,
    rule: Rule,
    triangles: &[usize],
    bricks: &mut OpenBricks,
) {
    let lattice = mesh.lattice();
    let grid = BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| d as i32 - 1) };
    for axis in rule.axes() {
        let columns = Columns::new(*axis, mesh, rule, &grid);
        for &index in triangles {
            let triangle = mesh.triangle(index);
            let centers = BoxRange::of_centers(&triangle, lattice.unit_bits).intersect(&grid);
            columns.cross_beyond(rule, &triangle, &centers, bricks);
        }
    }
}

/// The columns along one axis through a box of voxels.
struct Columns {
    axis: Axis,
    unit_bits: u32,
    /// Voxels of the grid along the axis.
    count: i32,
    /// Those of the box along it, and past the grid's last one, if what is crossed there counts.
    along: Range<i32>,
    /// Where crossings must be, in voxels, that count for these.
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

    /// Sets what `rule` says of `triangle`, in the bounds of which `centers` are.
    #[inline]
    fn cross(&self, rule: Rule, triangle: &Triangle, centers: &BoxRange, bricks: &mut OpenBricks) {
        let crossing = Crossing::new(triangle, self.axis);
        let [(lo, _), (hi, _)] = [centers.lo, centers.hi].map(|corner| self.axis.project(corner));
        for second in lo[1]..=hi[1] {
            let Some(row) = crossing.row(second, lo[0]..hi[0] + 1, self.unit_bits) else {
                continue;
            };
            let row = if self.reach == (i32::MIN..i32::MAX) { row } else { row.near(&self.reach) };
            match rule {
                Rule::Conservative | Rule::SixSeparating => {
                    self.each_crossed(&row, second, |voxel| bricks.set_voxel(voxel));
                }
                Rule::Parity(_) => {
                    self.each_flip(&row, second, |voxel| bricks.flip_voxel(voxel));
                }
                Rule::Winding | Rule::Crossings => {
                    let winding = crossing.winding();
                    self.each_flip(&row, second, |voxel| bricks.count(voxel, winding));
                }
            }
        }
    }

    /// Sets what `rule` counts for the ends of the grid of what is crossed beyond them.
    #[cfg(feature = "gpu")]
    fn cross_beyond(
        &self,
        rule: Rule,
        triangle: &Triangle,
        centers: &BoxRange,
        bricks: &mut OpenBricks,
    ) {
        let crossing = Crossing::new(triangle, self.axis);
        let [(lo, _), (hi, _)] = [centers.lo, centers.hi].map(|corner| self.axis.project(corner));
        for second in lo[1]..=hi[1] {
            let Some(row) = crossing.row(second, lo[0]..hi[0] + 1, self.unit_bits) else {
                continue;
            };
            for (reach, end) in [(i32::MIN..0, 0), (self.count..i32::MAX, self.count)] {
                let row = row.clone().near(&reach);
                let beyond =
                    row.columns().filter(|&first| reach.contains(&row.first_center(first)));
                for first in beyond.filter(|_| self.along.contains(&end)) {
                    let voxel = self.axis.unproject([first, second], end);
                    match rule {
                        Rule::Winding | Rule::Crossings => bricks.count(voxel, crossing.winding()),
                        _ => bricks.flip_voxel(voxel),
                    }
                }
            }
        }
    }

    /// The voxels in which the columns of `row` are crossed.
    #[inline]
    fn each_crossed(&self, row: &Row, second: i32, mut found: impl FnMut([i32; 3])) {
        for first in row.columns() {
            let along = row.voxel(first, self.count);
            if self.along.contains(&along) {
                found(self.axis.unproject([first, second], along));
            }
        }
    }

    /// The voxels whose centres are the first at or past where the columns of `row` are crossed; those
    /// at the ends have what is crossed beyond.
    #[inline]
    fn each_flip(&self, row: &Row, second: i32, mut found: impl FnMut([i32; 3])) {
        for first in row.columns() {
            let along = row.first_center(first).clamp(0, self.count);
            if self.along.contains(&along) {
                found(self.axis.unproject([first, second], along));
            }
        }
    }
}
