//! Column tests: the crossings of triangles with blocks of up to 4 x 4 columns of voxels.
//! (triangle, block) pairs are queued until they fill a vector.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::backend::Rule;
use crate::backend::cpu::brick_cache::{Address, Addresses, BrickCache};
use crate::backend::cpu::strips::Strips;
use crate::backend::cpu::triangle_batch::TriangleBatch;
use crate::lattice::PlacedMesh;
use crate::predicate::blocks::{BLOCK, LANES};
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::Axis;
use crate::predicate::crosses::blocks::{
    COLUMNS, Crossings, Pairs, Position, ProjectedCorners, for_each_bit,
};

/// A task that sets voxels in `bricks` by `rule`, one that tests columns.
pub(super) struct Task<'a, G> {
    pub(super) mesh: &'a PlacedMesh,
    pub(super) rule: Rule,
    /// Groups of triangles, each at most a [`TriangleBatch`].
    pub(super) groups: G,
    /// The voxels to set, inclusive, within the grid.
    pub(super) clip: BoxRange,
    /// Whether only crossings outside the grid are set, clamped to its end voxels.
    pub(super) is_outside: bool,
    pub(super) bricks: BrickCache<'a>,
}

impl<'a, G> WithSimd for Task<'a, G>
where
    G: Iterator<Item: ExactSizeIterator<Item = usize> + Clone>,
{
    type Output = BrickCache<'a>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> BrickCache<'a> {
        let Self { mesh, rule, groups, clip, is_outside, mut bricks } = self;
        let fraction_bits = mesh.lattice().fraction_bits;
        let columns = rule.axes().iter().map(|&axis| Columns::new(axis, mesh, rule, &clip));
        let columns = columns.flat_map(|columns| columns.parts(is_outside));
        let mut all: Vec<_> = columns.map(|columns| ColumnQueues::new(simd, columns)).collect();
        let mut batch = TriangleBatch::new();
        for group in groups {
            batch.load(mesh, group.clone());
            let centers = batch.centers(fraction_bits, &clip);
            for queues in &mut all {
                let axis = queues.columns.axis;
                for lane in centers.lanes_with_some(axis.across(), group.len()).iter() {
                    let triangle = batch.projected(axis, lane);
                    queues.add(triangle, centers.columns(axis, lane), &mut bricks);
                }
            }
        }
        for queues in &mut all {
            queues.finish(&mut bricks);
        }
        bricks
    }
}

/// Queues the blocks of columns along one axis, and tests them.
struct ColumnQueues<S> {
    simd: S,
    columns: Columns,
    /// Pairs by the extent of their block.
    by_extent: [[Pairs; BLOCK as usize]; BLOCK as usize],
    /// Scratch memory of a test: by column, the addresses of the crossed voxels.
    addresses: [Addresses; COLUMNS],
}

impl<S: Simd> ColumnQueues<S> {
    fn new(simd: S, columns: Columns) -> Self {
        let pairs = |_| Pairs::new(columns.fraction_bits);
        let by_extent = std::array::from_fn(|_| std::array::from_fn(pairs));
        Self { simd, columns, by_extent, addresses: [Addresses::default(); COLUMNS] }
    }

    /// Queues a triangle with all blocks that it may cross, of the `extent` columns from `lowest`
    /// on: those whose centres are within its bounds.
    #[inline(always)]
    fn add(
        &mut self,
        triangle: ProjectedCorners,
        (lowest, extent): ([i32; 2], [i32; 2]),
        bricks: &mut BrickCache,
    ) {
        let longest = extent[0].max(extent[1]);
        if longest <= BLOCK {
            self.push(triangle, lowest, extent, bricks);
            return;
        }
        // Most of up to 2 x 2 blocks are crossed: a clip would cost more than it saves.
        let clips = longest > 2 * BLOCK;
        let strips = clips.then(|| self.columns.strips(&triangle, lowest));
        for j in (0..extent[1]).step_by(BLOCK as usize) {
            let rows = BLOCK.min(extent[1] - j);
            let columns = match &strips {
                Some(strips) => strips.clip(j..j + rows, 0..extent[0]),
                None => 0..extent[0],
            };
            for i in columns.clone().step_by(BLOCK as usize) {
                let extent = [BLOCK.min(columns.end - i), rows];
                self.push(triangle, [lowest[0] + i, lowest[1] + j], extent, bricks);
            }
        }
    }

    #[inline(always)]
    fn push(
        &mut self,
        triangle: ProjectedCorners,
        lowest: [i32; 2],
        extent: [i32; 2],
        bricks: &mut BrickCache,
    ) {
        let [first, second] = extent.map(|columns| (columns - 1) as usize % BLOCK as usize);
        let pairs = &mut self.by_extent[first][second];
        pairs.push(triangle, lowest);
        if pairs.len() == LANES {
            let (columns, addresses) = (&self.columns, &mut self.addresses);
            self.simd.vectorize(Solve { columns, pairs, extent, addresses, bricks });
        }
    }

    /// Processes all queued pairs.
    fn finish(&mut self, bricks: &mut BrickCache) {
        for (row, first) in self.by_extent.iter_mut().zip(1..) {
            for (pairs, second) in row.iter_mut().zip(1..) {
                let (columns, addresses) = (&self.columns, &mut self.addresses);
                let extent = [first, second];
                self.simd.vectorize(Solve { columns, pairs, extent, addresses, bricks });
            }
        }
    }
}

struct Solve<'r, 'a> {
    columns: &'r Columns,
    pairs: &'r mut Pairs,
    extent: [i32; 2],
    addresses: &'r mut [Addresses; COLUMNS],
    bricks: &'r mut BrickCache<'a>,
}

impl WithSimd for Solve<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        /// Minimum number of columns for vectors, which compute the addresses of all columns: most
        /// columns of smaller blocks have no crossing.
        const LEAST_COLUMNS: i32 = 6;
        let Self { columns, pairs, extent, addresses, bricks } = self;
        if pairs.is_empty() {
            return;
        }
        let crossings = pairs.solve(extent, columns.position);
        if extent[0] * extent[1] < LEAST_COLUMNS {
            columns.set_one_by_one(pairs, &crossings, bricks);
        } else {
            columns.set_by_vectors(pairs, extent, &crossings, addresses, bricks);
        }
    }
}

/// The columns along one axis.
struct Columns {
    axis: Axis,
    rule: Rule,
    fraction_bits: u32,
    /// Voxels of the grid along the axis.
    count: i32,
    /// The position of a crossing that the rule asks for.
    position: Position,
    /// The positions of the crossings to set.
    range: Range<i32>,
}

impl Columns {
    /// The columns through a box of voxels.
    fn new(axis: Axis, mesh: &PlacedMesh, rule: Rule, clip: &BoxRange) -> Self {
        let lattice = mesh.lattice();
        let length = |dims: [u32; 3]| axis.project(dims.map(|d| d as i32)).1;
        let (count, end) = (length(lattice.dims), length(rule.grid_dims(lattice.dims)));
        let [(_, first), (_, last)] = [clip.lo, clip.hi].map(|corner| axis.project(corner));
        let (position, range) = if rule.counting_axis().is_none() {
            (Position::Voxel(count), first..last + 1)
        } else {
            // Crossings before the first voxel count for it; those past the last centre for one
            // more voxel, if the grid has room for it.
            let has_end = last + 1 == count && end > count;
            let start = if first == 0 { i32::MIN } else { first };
            (Position::FirstCenter, start..if has_end { i32::MAX } else { last + 1 })
        };
        Self { axis, rule, fraction_bits: lattice.fraction_bits, count, position, range }
    }

    /// These columns; if `is_outside`, one copy for the crossings before the grid and one for those
    /// past it.
    fn parts(self, is_outside: bool) -> Vec<Self> {
        if !is_outside {
            return vec![self];
        }
        let ranges = [self.range.start..0, self.count..self.range.end].into_iter();
        let ranges = ranges.filter(|range| !range.is_empty());
        ranges.map(|range| Self { range, ..self }).collect()
    }

    /// The half-planes that clip strips of columns to `triangle` in the range.
    #[inline(always)]
    fn strips(&self, triangle: &ProjectedCorners, lowest: [i32; 2]) -> Strips {
        let Range { start, end } = self.range;
        // Few crossings are beyond the grid's ends, unless bounds or a window cut the mesh.
        let start = if start == 0 { i32::MIN } else { start };
        let end = if end == self.count { i32::MAX } else { end };
        Strips::new(triangle, lowest, self.fraction_bits, &(start..end))
    }

    /// Sets the voxels of all crossings in the range.
    #[inline(always)]
    fn set_one_by_one(&self, pairs: &Pairs, crossings: &Crossings, bricks: &mut BrickCache) {
        let is_leaving = self.are_leaving(crossings);
        // A closure that is not inlined would be compiled without the caller's instructions.
        for_each_bit(
            crossings.covered,
            #[inline(always)]
            |column, lane| {
                let along = crossings.along[column][lane];
                if self.range.contains(&along) {
                    let along = along.clamp(0, self.count);
                    let voxel = self.axis.unproject(pairs.column(column, lane), along);
                    self.set_at(bricks.address(voxel, is_leaving[lane]), bricks);
                }
            },
        );
    }

    /// Does the same as [`set_one_by_one`](Self::set_one_by_one). Vectors compute the addresses.
    #[inline(always)]
    fn set_by_vectors(
        &self,
        pairs: &Pairs,
        extent: [i32; 2],
        crossings: &Crossings,
        addresses: &mut [Addresses; COLUMNS],
        bricks: &mut BrickCache,
    ) {
        let is_leaving = self.are_leaving(crossings);
        let mut covered = crossings.covered;
        for i in 0..extent[0] {
            for j in 0..extent[1] {
                let column = (i * BLOCK + j) as usize % COLUMNS;
                let mut along = crossings.along[column];
                for lane in 0..LANES {
                    let is_within = self.range.contains(&along[lane]);
                    covered[lane] &= !(u16::from(!is_within) << column);
                    along[lane] = along[lane].clamp(0, self.count);
                }
                let voxels = self.axis.unproject(pairs.columns(column), along);
                addresses[column] = bricks.addresses(&voxels, &is_leaving);
            }
        }
        for_each_bit(
            covered,
            #[inline(always)]
            |column, lane| self.set_at(addresses[column].of(lane), bricks),
        );
    }

    /// By lane, whether crossings leave the mesh. False for rules without directions.
    #[inline(always)]
    fn are_leaving(&self, crossings: &Crossings) -> [bool; LANES] {
        let is_directed = self.rule.directions() == 2;
        let mut are_leaving = [false; LANES];
        for lane in 0..LANES {
            are_leaving[lane] = is_directed & (crossings.windings[lane] < 0);
        }
        are_leaving
    }

    /// Sets, flips or counts the voxel at an address, as the rule says.
    #[inline(always)]
    fn set_at(&self, at: Address, bricks: &mut BrickCache) {
        match self.rule {
            Rule::Conservative | Rule::SixSeparating => bricks.set(at),
            Rule::Parity(_) => bricks.flip(at),
            Rule::Winding | Rule::Crossings => bricks.count(at),
        }
    }
}
