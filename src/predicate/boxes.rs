//! Boxes by index: the box of `2^k` lattice units and index `i` is `[i 2^k, (i + 1) 2^k]`.

use crate::lattice::{Aabb, Triangle};

/// Inclusive range of box indices per axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct BoxRange {
    /// Lowest index per axis.
    pub lo: [i32; 3],
    /// Highest index per axis; below `lo` where the range is empty.
    pub hi: [i32; 3],
}

impl BoxRange {
    /// The boxes of `2^box_bits` units that the bounding box of `triangle` touches; `box_bits` is
    /// at most 31.
    ///
    /// Box `i` meets `[min, max]` if and only if `(i + 1) 2^k >= min` and `i 2^k <= max`, hence
    /// from `floor((min - 1) / 2^k)` to `floor(max / 2^k)`.
    #[inline]
    pub fn of_triangle(triangle: &Triangle, box_bits: u32) -> Self {
        let Aabb { lo, hi } = Aabb::of(triangle);
        Self { lo: lo.map(|c| (c - 1) >> box_bits), hi: hi.map(|c| c >> box_bits) }
    }

    /// The boxes whose centres are within the bounding box of `triangle`; `box_bits` is 1 to 30.
    ///
    /// The centre of box `i` is at `(i + 1/2) 2^k`, hence from `ceil(min / 2^k - 1/2)` to
    /// `floor(max / 2^k - 1/2)`.
    #[inline]
    pub fn of_centers(triangle: &Triangle, box_bits: u32) -> Self {
        let (Aabb { lo, hi }, half) = (Aabb::of(triangle), 1 << (box_bits - 1));
        Self { lo: lo.map(|c| (c + half - 1) >> box_bits), hi: hi.map(|c| (c - half) >> box_bits) }
    }

    /// The voxels of a grid.
    pub fn of_grid(dims: [u32; 3]) -> Self {
        Self { lo: [0; 3], hi: dims.map(|d| d as i32 - 1) }
    }

    /// The boxes in both.
    #[inline]
    pub fn intersect(&self, other: &Self) -> Self {
        let lo = |i: usize| self.lo[i].max(other.lo[i]);
        let hi = |i: usize| self.hi[i].min(other.hi[i]);
        Self { lo: [lo(0), lo(1), lo(2)], hi: [hi(0), hi(1), hi(2)] }
    }

    /// The boxes `2^bits` times as large that contain these.
    #[inline]
    pub fn coarser(&self, bits: u32) -> Self {
        Self { lo: self.lo.map(|lo| lo >> bits), hi: self.hi.map(|hi| hi >> bits) }
    }

    /// Whether no box is in the range.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        (0..3).any(|i| self.lo[i] > self.hi[i])
    }

    /// The number of boxes along each axis.
    #[must_use]
    #[inline]
    pub fn extent(&self) -> [i32; 3] {
        let extent = |i: usize| self.hi[i] - self.lo[i] + 1;
        [extent(0), extent(1), extent(2)]
    }

    /// The number of boxes along the longest axis.
    #[must_use]
    #[inline]
    pub fn longest(&self) -> i32 {
        let [x, y, z] = self.extent();
        x.max(y).max(z)
    }
}
