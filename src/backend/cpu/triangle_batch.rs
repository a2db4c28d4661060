//! Batches of triangles in structure-of-arrays layout, so that memory latencies overlap and bounds
//! are computed with vector instructions; and their classification by bounds, without branches,
//! since the order of classes is unpredictable.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use crate::lattice::{PlacedMesh, Triangle};
use crate::predicate::blocks::BLOCK;
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::Axis;
use crate::predicate::crosses::blocks::ProjectedCorners;

/// Triangles per batch.
pub(super) const BATCH_LEN: usize = 64;

/// One value per triangle.
type Lanes = [i32; BATCH_LEN];

/// Up to [`BATCH_LEN`] triangles.
pub(super) struct TriangleBatch {
    /// `corners[corner][axis][lane]`
    corners: [[Lanes; 3]; 3],
}

impl TriangleBatch {
    /// Degenerate triangles at the origin.
    pub(super) fn new() -> Self {
        Self { corners: [[[0; BATCH_LEN]; 3]; 3] }
    }

    /// Loads the triangles of `mesh` with these indices, at most [`BATCH_LEN`].
    #[inline(always)]
    pub(super) fn load(&mut self, mesh: &PlacedMesh, indices: impl Iterator<Item = usize>) {
        for (lane, index) in indices.take(BATCH_LEN).enumerate() {
            let triangle = mesh.triangle(index);
            for corner in 0..3 {
                for axis in 0..3 {
                    self.corners[corner][axis][lane] = triangle[corner][axis];
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn triangle(&self, lane: usize) -> Triangle {
        let mut triangle = [[0; 3]; 3];
        for corner in 0..3 {
            for axis in 0..3 {
                triangle[corner][axis] = self.corners[corner][axis][lane];
            }
        }
        triangle
    }

    /// The triangle in `lane`, projected along `axis`.
    #[inline(always)]
    pub(super) fn projected(&self, axis: Axis, lane: usize) -> ProjectedCorners {
        let ([first, second], along) = (axis.across(), axis.along());
        self.corners
            .each_ref()
            .map(|corner| ([corner[first][lane], corner[second][lane]], corner[along][lane]))
    }

    /// The voxels of `2^fraction_bits` units within `clip` whose centres are in each
    /// triangle's bounds, equal to [`BoxRange::of_centers`].
    #[inline(always)]
    pub(super) fn centers(&self, fraction_bits: u32, clip: &BoxRange) -> Centers {
        let half = 1 << (fraction_bits - 1);
        let mut centers = Centers { lo: [[0; BATCH_LEN]; 3], hi: [[0; BATCH_LEN]; 3] };
        for axis in 0..3 {
            let corner = |c: usize| &self.corners[c][axis];
            let (a, b, c) = (corner(0), corner(1), corner(2));
            for lane in 0..BATCH_LEN {
                let min = a[lane].min(b[lane]).min(c[lane]);
                let max = a[lane].max(b[lane]).max(c[lane]);
                centers.lo[axis][lane] = ((min + half - 1) >> fraction_bits).max(clip.lo[axis]);
                centers.hi[axis][lane] = ((max - half) >> fraction_bits).min(clip.hi[axis]);
            }
        }
        centers
    }

    /// The voxels of `2^fraction_bits` units within `clip` that each triangle's
    /// bounding box touches, equal to [`BoxRange::of_triangle`].
    #[inline(always)]
    pub(super) fn bounds(&self, fraction_bits: u32, clip: &BoxRange) -> VoxelRanges {
        let zero = [0; BATCH_LEN];
        let (lo, hi) = ([zero; 3], [zero; 3]);
        let mut bounds = VoxelRanges { lo, hi, axes: zero, longest: zero, outside: zero };
        for axis in 0..3 {
            let corner = |c: usize| &self.corners[c][axis];
            let (a, b, c) = (corner(0), corner(1), corner(2));
            for lane in 0..BATCH_LEN {
                let lo = (a[lane].min(b[lane]).min(c[lane]) - 1) >> fraction_bits;
                let hi = a[lane].max(b[lane]).max(c[lane]) >> fraction_bits;
                bounds.axes[lane] += i32::from(lo != hi);
                let (lo, hi) = (lo.max(clip.lo[axis]), hi.min(clip.hi[axis]));
                bounds.lo[axis][lane] = lo;
                bounds.hi[axis][lane] = hi;
                bounds.longest[lane] = bounds.longest[lane].max(hi - lo);
                bounds.outside[lane] |= i32::from(lo > hi);
            }
        }
        bounds
    }
}

/// The ranges of voxels, per axis, whose centres are in each triangle's bounds.
pub(super) struct Centers {
    lo: [Lanes; 3],
    hi: [Lanes; 3],
}

impl Centers {
    /// The indices of the lowest column along `axis` of the triangle in `lane`, and the number of
    /// columns along each axis across.
    #[inline(always)]
    pub(super) fn columns(&self, axis: Axis, lane: usize) -> ([i32; 2], [i32; 2]) {
        let [first, second] = axis.across();
        let lowest = [self.lo[first][lane], self.lo[second][lane]];
        let highest = [self.hi[first][lane], self.hi[second][lane]];
        (lowest, [highest[0] - lowest[0] + 1, highest[1] - lowest[1] + 1])
    }

    /// The lanes, of the first `len`, with centres on both axes `across`.
    #[inline(always)]
    pub(super) fn lanes_with_some(&self, across: [usize; 2], len: usize) -> LaneList {
        let mut list = LaneList::default();
        for lane in 0..len.min(BATCH_LEN) {
            let has = |a: usize| self.lo[a][lane] <= self.hi[a][lane];
            list.push(lane, has(across[0]) & has(across[1]));
        }
        list
    }
}

/// The range of voxels that each triangle's bounding box touches.
pub(super) struct VoxelRanges {
    lo: [Lanes; 3],
    hi: [Lanes; 3],
    /// Number of axes with more than one voxel, before clipping.
    axes: Lanes,
    /// Voxels along the longest axis, minus 1.
    longest: Lanes,
    /// Not 0 if no voxel is within the clip.
    outside: Lanes,
}

impl VoxelRanges {
    /// The range of the triangle in `lane`.
    #[inline(always)]
    pub(super) fn range(&self, lane: usize) -> BoxRange {
        let corner = |c: &[Lanes; 3]| [c[0][lane], c[1][lane], c[2][lane]];
        BoxRange { lo: corner(&self.lo), hi: corner(&self.hi) }
    }

    #[inline(always)]
    pub(super) fn classify(&self, len: usize) -> RangeClasses {
        let mut classes = RangeClasses::default();
        for lane in 0..len.min(BATCH_LEN) {
            let inside = self.outside[lane] == 0;
            let line = inside & (self.axes[lane] <= 1);
            let pair = line & (self.longest[lane] <= 1);
            let block = inside & !line & (self.longest[lane] < BLOCK);
            classes.pairs.push(lane, pair);
            classes.lines.push(lane, line & !pair);
            classes.blocks.push(lane, block);
            classes.large.push(lane, inside & !line & !block);
        }
        classes
    }
}

/// The lanes of each class of ranges. Lanes outside the clip are in none.
#[derive(Default)]
pub(super) struct RangeClasses {
    /// One voxel, or two with a common face: the triangle touches each.
    pub(super) pairs: LaneList,
    /// A longer line of voxels along an axis: the triangle touches each.
    pub(super) lines: LaneList,
    /// One block of voxels.
    pub(super) blocks: LaneList,
    /// More than one block.
    pub(super) large: LaneList,
}

pub(super) struct LaneList {
    len: usize,
    lanes: [u8; BATCH_LEN],
}

impl Default for LaneList {
    fn default() -> Self {
        Self { len: 0, lanes: [0; BATCH_LEN] }
    }
}

impl LaneList {
    #[inline(always)]
    fn push(&mut self, lane: usize, belongs: bool) {
        self.lanes[self.len % BATCH_LEN] = lane as u8;
        self.len += usize::from(belongs);
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.lanes[..self.len.min(BATCH_LEN)].iter().map(|&lane| usize::from(lane) % BATCH_LEN)
    }
}
