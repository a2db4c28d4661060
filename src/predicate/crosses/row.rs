//! Crossings of a row of columns, by incremental evaluation.

use std::ops::Range;

use crate::predicate::crosses::{Crossing, Height, center_of};

/// Consecutive columns along the first coordinate that cross a triangle.
///
/// From column to column the height grows by a constant. So heights are fixed-point sums with an
/// error bound; only where that bound leaves two voxels is an exact [`Height`] computed.
///
/// # Error
/// In `f64`, where `u = 2^-53`, the height at the first column is the first corner's plus a mean of
/// the corners' rises: product, sum and quotient round it by less than `4 u reach`, `reach` being
/// the largest rise. The growth is rounded as often; along the row weights stay between 0 and the
/// area, so its terms times the number of columns are at most `reach` each, and their rounding
/// errors add up to less than `8 u reach`. Adding the corner's height rounds by less than `2^21 u`,
/// as heights are at most `2^20` voxels. Truncation to fixed point adds one unit per column, and
/// one. Where all rises are 0 nothing is rounded: lattice units are fixed-point numbers.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    crossing: &'a Crossing,
    columns: Range<i32>,
    /// The second coordinate of the columns' centres.
    level: i32,
    unit_bits: u32,
    /// The height at the first column, in `2^-FIXED_BITS` voxel.
    height: i64,
    /// The growth from column to column, in the same unit.
    growth: i64,
    /// The error bound, in the same unit.
    error: i64,
}

/// Fraction bits: heights of up to `2^20` voxels leave them in 64 bits, besides carries and a sign.
const FIXED_BITS: u32 = 40;
/// 1 in fixed point.
const FIXED_ONE: f64 = (1u64 << FIXED_BITS) as f64;
/// Exceeds `12 * 2^-53`, with slack for terms of second order.
const ROW_ERROR: f64 = 1.0 / (1u64 << 48) as f64;
/// Exceeds `2^21 u`.
const CORNER_ERROR: i64 = 1 << (FIXED_BITS - 31);

impl<'a> Row<'a> {
    #[inline]
    pub(super) fn new(
        crossing: &'a Crossing,
        columns: Range<i32>,
        level: i32,
        unit_bits: u32,
    ) -> Self {
        let scale = FIXED_ONE / f64::from(1u32 << unit_bits);
        let [base, height_b, height_c] = crossing.heights;
        let rises = [height_b - base, height_c - base].map(f64::from);
        let [_, ca, ab] = &crossing.edges;
        let first = [center_of(columns.start, unit_bits), level];
        let mean =
            |[b, c]: [i64; 2]| (b as f64 * rises[0] + c as f64 * rises[1]) / crossing.area as f64;
        let height = f64::from(base) + mean([ca.value(first), ab.value(first)]);
        let growth = mean([ca.slope[0], ab.slope[0]]) * f64::from(1u32 << unit_bits);
        let reach = rises[0].abs().max(rises[1].abs());
        let rounding = (ROW_ERROR * reach * scale) as i64 + CORNER_ERROR + columns.len() as i64 + 2;
        Self {
            height: (height * scale) as i64,
            // The bound of the growth does not hold for a single column.
            growth: if columns.len() > 1 { (growth * scale) as i64 } else { 0 },
            error: if reach > 0.0 { rounding } else { 0 },
            crossing,
            columns,
            level,
            unit_bits,
        }
    }

    /// The columns' indices along the first coordinate.
    #[must_use]
    #[inline]
    pub fn columns(&self) -> Range<i32> {
        self.columns.clone()
    }

    /// Drops columns from both ends whose voxel and first centre are both outside `along`. An end
    /// at `i32::MIN` or `i32::MAX` is unbounded.
    #[must_use]
    #[inline]
    pub fn near(self, along: &Range<i32>) -> Self {
        // A margin of one voxel on both sides exceeds the error.
        let height_of = |voxel: i32| (i64::from(voxel) << FIXED_BITS) - self.height;
        let lo = if along.start > i32::MIN { height_of(along.start - 1) } else { i64::MIN };
        let hi = if along.end < i32::MAX { height_of(along.end + 1) } else { i64::MAX };
        let Range { start, end } = self.columns;
        // Falling heights enter the range at its upper end.
        let [from, to] = match self.growth.signum() {
            1 => [lo.div_euclid(self.growth), hi.div_euclid(self.growth).saturating_add(1)],
            -1 => [
                (-hi).div_euclid(-self.growth),
                lo.saturating_neg().div_euclid(-self.growth).saturating_add(1),
            ],
            _ if lo <= 0 && hi >= 0 => [0, i64::MAX],
            _ => [0, 0],
        };
        let at = |step: i64| i64::from(start).saturating_add(step).clamp(start.into(), end.into());
        let first = at(from);
        let height = self.height + (first - i64::from(start)) * self.growth;
        Self { columns: first as i32..at(to).max(first) as i32, height, ..self }
    }

    /// [`Height::first_center`] of one of the columns.
    #[must_use]
    #[inline]
    pub fn first_center(&self, column: i32) -> i32 {
        // The first centre at or above height `h` is in the voxel of the last unit below `h + 1/2`.
        let above = self.height_of(column) + (1 << (FIXED_BITS - 1)) - 1;
        match self.voxel_of(above) {
            Some(voxel) => voxel,
            None => self.exactly(column).first_center(self.unit_bits),
        }
    }

    /// [`Height::voxel`] of one of the columns.
    #[must_use]
    #[inline]
    pub fn voxel(&self, column: i32, count: i32) -> i32 {
        match self.voxel_of(self.height_of(column)) {
            // `count` may be the far face, which belongs to the last voxel.
            Some(voxel) if voxel != count => voxel,
            _ => self.exactly(column).voxel(self.unit_bits, count),
        }
    }

    #[inline]
    fn height_of(&self, column: i32) -> i64 {
        self.height + i64::from(column - self.columns.start) * self.growth
    }

    /// The voxel of `height`, if the error bound leaves only one.
    #[inline]
    fn voxel_of(&self, height: i64) -> Option<i32> {
        let [lo, hi] = [height - self.error, height + self.error].map(|h| h >> FIXED_BITS);
        (lo == hi).then_some(lo as i32)
    }

    #[cold]
    fn exactly(&self, column: i32) -> Height {
        self.crossing.height([center_of(column, self.unit_bits), self.level])
    }
}
