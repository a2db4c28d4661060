//! [`ProjectedTriangle`] for blocks of up to 4 x 4 columns, several triangles with each vector
//! instruction.
//!
//! A lane of the vector holds one (triangle, block) pair. The edge functions are set up at the
//! centre of the block's lowest column; from column to column they change by a constant.
//!
//! # Exact in `f64`
//! With `u = 2^-53` and `D = 2^24`, by which the bit budget of [`lattice`](crate::lattice) bounds
//! coordinates and their differences:
//!
//! - Edge functions at centres are at most `2 D^2`. They add up to twice the projected area, at
//!   most `D^2`, as all corners are in a square of `D`. Centres between the block's lowest column
//!   and another are within the budget too. So all values are integers below `2^53`, exact in any
//!   order, fused or not.
//! - A covered centre has weights that are not negative and add up to the area. The rise over the
//!   first corner takes two products, a sum, a reciprocal and its product: it is off by `4 u D`,
//!   and after the sum with the first corner's height by less than `2^-26`.
//! - In fixed point with `FIXED_BITS` fraction bits, that is one unit, and rounding adds another
//!   half. So the voxel is certain if two units more or less leave it the same; otherwise the exact
//!   [`Height`](super::Height) decides. Of a level triangle, one perpendicular to the axis, the
//!   rise is 0 and nothing is rounded: otherwise all faces of models aligned to the lattice would
//!   be uncertain.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use pulp::{Simd, WithSimd};

use crate::predicate::InstructionSet;
use crate::predicate::blocks::{BLOCK, Coordinate, LANES};
use crate::predicate::crosses::{Axis, ProjectedTriangle, center_of, runs_down};

/// The position along the axis that is asked for, as an index of a voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// [`Height::voxel`](super::Height::voxel) in a grid of this many voxels along the axis.
    Voxel(i32),
    /// [`Height::first_center`](super::Height::first_center).
    FirstCenter,
}

/// One crossing of a column of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The pair, in the order in which they were added.
    pub lane: usize,
    /// The indices of the column, in the order of [`Axis::across`].
    pub column: [i32; 2],
    /// The voxel's index along the axis.
    pub along: i32,
    /// [`ProjectedTriangle::winding`] of the pair's triangle.
    pub winding: i32,
}

/// The result of [`Pairs::solve`]: the columns of its block that each pair's triangle crosses, and
/// the voxels of the crossings.
#[derive(Clone, Copy)]
pub(crate) struct Crossings {
    /// By lane, a bit for each column that the triangle crosses.
    pub(crate) covered: [u16; LANES],
    /// By column and lane, [`Hit::along`]; without meaning where the column is not crossed.
    pub(crate) along: [Coordinate; COLUMNS],
    /// By lane, [`Hit::winding`].
    pub(crate) windings: Coordinate,
}

/// Columns of a block.
pub(crate) const COLUMNS: usize = (BLOCK * BLOCK) as usize;
/// Lanes whose columns fit into one word.
const WORD: usize = u64::BITS as usize / COLUMNS;

/// A value for each lane. Aligned to cache lines, so that no vector straddles two.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Doubles([f64; LANES]);

/// A triangle whose corners are projected by [`Axis::project`]: their coordinates across the axis
/// of the columns, and along it.
pub type ProjectedCorners = [([i32; 2], i32); 3];

/// Up to [`LANES`] pairs of a triangle and a block of columns.
#[derive(Debug, Clone)]
pub struct Pairs {
    fraction_bits: u32,
    len: usize,
    /// `corners[corner][axis][lane]`, in lattice units; the axes are those across, then the one
    /// along.
    corners: [[Coordinate; 3]; 3],
    /// `lowest[axis][lane]`, the indices of the block's lowest column.
    lowest: [Coordinate; 2],
}

/// Runs [`Pairs::solve`].
struct Solve<'a> {
    pairs: &'a mut Pairs,
    extent: [i32; 2],
    position: Position,
}

impl WithSimd for Solve<'_> {
    type Output = Vec<Hit>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<Hit> {
        let mut hits = Vec::new();
        let Crossings { covered, along, windings } = self.pairs.solve(self.extent, self.position);
        for_each_bit(covered, |column, lane| {
            let (along, winding) = (along[column][lane], windings[lane]);
            hits.push(Hit { lane, column: self.pairs.column(column, lane), along, winding });
        });
        hits
    }
}

impl Pairs {
    /// No pairs; voxels of `2^fraction_bits` units, at least 2 so that centres are integers.
    #[must_use]
    pub fn new(fraction_bits: u32) -> Self {
        debug_assert!(fraction_bits > 0);
        Self { fraction_bits, len: 0, corners: [[[0; LANES]; 3]; 3], lowest: [[0; LANES]; 2] }
    }

    /// The number of pairs.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a triangle with the block whose lowest column is `lowest`.
    ///
    /// # Panics
    /// There are [`LANES`] pairs already.
    #[inline(always)]
    pub fn push(&mut self, triangle: ProjectedCorners, lowest: [i32; 2]) {
        assert!(self.len < LANES, "no room for a ninth pair");
        let lane = self.len % LANES;
        for corner in 0..3 {
            let ([first, second], along) = triangle[corner];
            self.corners[corner][0][lane] = first;
            self.corners[corner][1][lane] = second;
            self.corners[corner][2][lane] = along;
        }
        self.lowest[0][lane] = lowest[0];
        self.lowest[1][lane] = lowest[1];
        self.len += 1;
    }

    /// The crossings of each triangle with the first `extent` columns of its block, 1 to 4 along
    /// each axis. All these columns must keep the bit budget. Removes the pairs.
    ///
    /// # Panics
    /// The extent is not of 1 to 4 columns.
    pub fn solve_by(
        &mut self,
        set: InstructionSet,
        extent: [i32; 2],
        position: Position,
    ) -> Vec<Hit> {
        assert!(extent.iter().all(|columns| (1..=BLOCK).contains(columns)), "{extent:?}");
        set.dispatch(Solve { pairs: self, extent, position })
    }

    /// [`solve_by`](Self::solve_by) within a function that is compiled for some instruction set.
    /// [`column`](Self::column) refers to these pairs until others are added.
    #[inline(always)]
    pub(crate) fn solve(&mut self, extent: [i32; 2], position: Position) -> Crossings {
        debug_assert!(extent.iter().all(|columns| (1..=BLOCK).contains(columns)), "{extent:?}");
        let len = std::mem::take(&mut self.len);
        let edges = Edges::new(self);
        let fixed = Fixed::new(position, self.fraction_bits);

        let (mut covered, mut uncertain) = ([0u16; LANES], [0u16; LANES]);
        let mut along = [[0; LANES]; COLUMNS];
        for i in 0..extent[0] {
            let row = edges.row(i);
            for j in 0..extent[1] {
                let column = (i * BLOCK + j) as usize % COLUMNS;
                for lane in 0..LANES {
                    let values = edges.values(&row, j, lane);
                    let covers = u16::from(edges.cover(values, lane)) << column;
                    let (voxel, is_certain) =
                        fixed.voxel(edges.height(values, lane), edges.is_level[lane]);
                    along[column][lane] = voxel;
                    covered[lane] |= covers;
                    uncertain[lane] |= if is_certain { 0 } else { covers };
                }
            }
        }
        covered[len..].fill(0);
        if uncertain[..len].iter().any(|&columns| columns != 0) {
            self.resolve(&uncertain[..len], position, &mut along);
        }
        Crossings { covered, along, windings: edges.windings }
    }

    /// The indices of a column of the block in `lane`.
    #[inline(always)]
    pub(crate) fn column(&self, column: usize, lane: usize) -> [i32; 2] {
        let [i, j] = [column as i32 / BLOCK, column as i32 % BLOCK];
        [self.lowest[0][lane] + i, self.lowest[1][lane] + j]
    }

    /// The indices of a column of the blocks in all lanes.
    #[inline(always)]
    pub(crate) fn columns(&self, column: usize) -> [Coordinate; 2] {
        let mut columns = [[0; LANES]; 2];
        for lane in 0..LANES {
            [columns[0][lane], columns[1][lane]] = self.column(column, lane);
        }
        columns
    }

    /// Replaces the positions of the `uncertain` crossings by exact ones.
    #[cold]
    fn resolve(&self, uncertain: &[u16], position: Position, along: &mut [[i32; LANES]; COLUMNS]) {
        let columns = |(lane, &columns): (usize, &u16)| {
            (0..COLUMNS).filter(move |column| columns >> column & 1 == 1).map(move |c| (c, lane))
        };
        for (column, lane) in uncertain.iter().enumerate().flat_map(columns) {
            let center = self.column(column, lane).map(|c| center_of(c, self.fraction_bits));
            // Projected along z, a point stays as it is.
            let triangle = self.corners.map(|corner| corner.map(|axis| axis[lane]));
            let height = ProjectedTriangle::new(&triangle, Axis::Z).height(center);
            along[column][lane] = match position {
                Position::Voxel(count) => height.voxel(self.fraction_bits, count),
                Position::FirstCenter => height.first_center(self.fraction_bits),
            };
        }
    }
}

/// Calls `each` with the column and the lane of each bit.
#[inline(always)]
pub(crate) fn for_each_bit(columns: [u16; LANES], mut each: impl FnMut(usize, usize)) {
    for (lanes, first) in columns.chunks_exact(WORD).zip((0..LANES).step_by(WORD)) {
        // One loop over the bits of several lanes: one exit to mispredict instead of one each.
        let mut word = 0;
        for (&columns, lane) in lanes.iter().zip(0..) {
            word |= u64::from(columns) << (COLUMNS * lane);
        }
        while word != 0 {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            each(bit % COLUMNS, (first + bit / COLUMNS) % LANES);
        }
    }
}

/// Each lane's triangle.
#[derive(Default)]
struct Edges {
    /// The edge functions at the centre of the block's lowest column, positive within the triangle,
    /// by the corner across from the edge.
    lowest: [Doubles; 3],
    /// Their change to the next column, along both axes across.
    steps: [[Doubles; 3]; 2],
    /// The top-left rule: a covered centre has a value of at least 0 on an edge that runs down, and
    /// of at least 1 on others.
    least: [Doubles; 3],
    /// The first corner's height.
    base: Doubles,
    /// The heights of the second and third corner above the first.
    rises: [Doubles; 2],
    /// One divided by twice the area.
    per_area: Doubles,
    /// Whether all corners have one height.
    is_level: [bool; LANES],
    windings: [i32; LANES],
}

impl Edges {
    #[inline(always)]
    fn new(pairs: &Pairs) -> Self {
        let mut edges = Self::default();
        let size = f64::from(1i32 << pairs.fraction_bits);
        for lane in 0..LANES {
            let center =
                [0, 1].map(|axis| center_of(pairs.lowest[axis][lane], pairs.fraction_bits));
            let corner = |corner: usize, axis: usize| {
                f64::from(pairs.corners[corner][axis][lane] - center[axis])
            };
            let x = [corner(0, 0), corner(1, 0), corner(2, 0)];
            let y = [corner(0, 1), corner(1, 1), corner(2, 1)];
            let value = |j: usize, k: usize| x[j] * y[k] - x[k] * y[j];
            let values = [value(1, 2), value(2, 0), value(0, 1)];
            let area = values[0] + values[1] + values[2];
            let sign = if area < 0.0 { -1.0 } else { 1.0 };
            for edge in 0..3 {
                let [j, k] = [(edge + 1) % 3, (edge + 2) % 3];
                let along = [sign * (x[k] - x[j]), sign * (y[k] - y[j])];
                edges.lowest[edge].0[lane] = sign * values[edge];
                edges.steps[0][edge].0[lane] = -size * along[1];
                edges.steps[1][edge].0[lane] = size * along[0];
                edges.least[edge].0[lane] = if runs_down(along) { 0.0 } else { 1.0 };
            }
            let height = |corner: usize| f64::from(pairs.corners[corner][2][lane]);
            let rises = [height(1) - height(0), height(2) - height(0)];
            edges.base.0[lane] = height(0);
            edges.rises[0].0[lane] = rises[0];
            edges.rises[1].0[lane] = rises[1];
            edges.per_area.0[lane] = 1.0 / (sign * area);
            edges.is_level[lane] = (rises[0] == 0.0) & (rises[1] == 0.0);
            edges.windings[lane] = i32::from(area < 0.0) - i32::from(area > 0.0);
        }
        edges
    }

    /// The edge functions at the first column of row `i` of the block.
    #[inline(always)]
    fn row(&self, i: i32) -> [Doubles; 3] {
        let mut row = self.lowest;
        for edge in 0..3 {
            for lane in 0..LANES {
                row[edge].0[lane] += f64::from(i) * self.steps[0][edge].0[lane];
            }
        }
        row
    }

    /// The three edge functions of the triangle in `lane`, at column `j` of `row`.
    #[inline(always)]
    fn values(&self, row: &[Doubles; 3], j: i32, lane: usize) -> [f64; 3] {
        let value = |edge: usize| row[edge].0[lane] + f64::from(j) * self.steps[1][edge].0[lane];
        [value(0), value(1), value(2)]
    }

    /// Whether a column passes through the triangle.
    #[inline(always)]
    fn cover(&self, values: [f64; 3], lane: usize) -> bool {
        let covers = |edge: usize| values[edge] >= self.least[edge].0[lane];
        covers(0) & covers(1) & covers(2)
    }

    /// The height at which a covered column crosses the triangle.
    #[inline(always)]
    fn height(&self, values: [f64; 3], lane: usize) -> f64 {
        let rise = values[1] * self.rises[0].0[lane] + values[2] * self.rises[1].0[lane];
        self.base.0[lane] + rise * self.per_area.0[lane]
    }
}

/// Fraction bits of heights in lattice units, which are at most `2^24`.
const FIXED_BITS: u32 = 26;
/// 1 in fixed point.
const FIXED_ONE: f64 = (1u64 << FIXED_BITS) as f64;
/// Exceeds the error, in fixed point.
const ERROR: i64 = 2;
/// Added to a number below `2^51`, it leaves the integer nearest to it in the lowest bits.
const ROUNDING: f64 = (3u64 << 51) as f64;

/// The conversion of heights to voxels.
struct Fixed {
    /// Added to heights, in fixed point.
    offset: i64,
    /// Bits of a voxel, in fixed point.
    bits: u32,
    /// The height of the grid's far face in fixed point, which belongs to the last voxel. `None`
    /// for first centres.
    far_face: Option<i64>,
}

impl Fixed {
    #[inline(always)]
    fn new(position: Position, fraction_bits: u32) -> Self {
        let bits = FIXED_BITS + fraction_bits;
        match position {
            Position::Voxel(count) => {
                Self { offset: 0, bits, far_face: Some(i64::from(count) << bits) }
            }
            // The first centre at or above a height is in the voxel of the last unit below half a
            // voxel more.
            Position::FirstCenter => Self { offset: (1 << (bits - 1)) - 1, bits, far_face: None },
        }
    }

    /// The voxel in which `height` is, and whether that is certain. A level triangle's height is
    /// exact.
    #[inline(always)]
    fn voxel(&self, height: f64, is_level: bool) -> (i32, bool) {
        let fixed = (height * FIXED_ONE + ROUNDING).to_bits() as i64;
        let fixed = fixed.wrapping_sub(ROUNDING.to_bits() as i64).wrapping_add(self.offset);
        let error = if is_level { 0 } else { ERROR };
        let voxel = |fixed: i64| (fixed >> self.bits) as i32;
        let [lo, hi] = [voxel(fixed.wrapping_sub(error)), voxel(fixed.wrapping_add(error))];
        let voxel = match self.far_face {
            None => lo,
            // Where another triangle reaches the far face, `lo` is below it and `hi` is not.
            Some(face) => lo - i32::from(is_level & (fixed == face)),
        };
        (voxel, lo == hi)
    }
}
