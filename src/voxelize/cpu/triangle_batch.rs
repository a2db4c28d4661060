//! Fetches triangles some at a time, so that waits for memory overlap and vector instructions find
//! their bounds; and sorts them by these without branches, since which comes next is a toss.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use std::ops::Range;

use crate::place::{PlacedMesh, Triangle};
use crate::predicate::blocks::BLOCK;
use crate::predicate::boxes::BoxRange;

/// Triangles fetched together.
pub(super) const LANES: usize = 64;

/// One number of each triangle.
type Lanes = [i32; LANES];

/// Up to 64 triangles.
pub(super) struct Gathered {
    /// `corners[corner][axis][lane]`
    corners: [[Lanes; 3]; 3],
}

impl Gathered {
    /// Degenerate ones.
    pub(super) fn new() -> Self {
        Self { corners: [[[0; LANES]; 3]; 3] }
    }

    /// Fetches the triangles of `mesh` with these indices, at most [`LANES`].
    #[inline(always)]
    pub(super) fn fetch(&mut self, mesh: &PlacedMesh, indices: Range<usize>) {
        for (lane, index) in indices.take(LANES).enumerate() {
            let triangle = mesh.triangle(index);
            for corner in 0..3 {
                for axis in 0..3 {
                    self.corners[corner][axis][lane] = triangle[corner][axis];
                }
            }
        }
    }

    /// The triangle in `lane`.
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

    /// The voxels of `2^unit_bits` units within `clip` whose centres each triangle's bounds have, as
    /// [`BoxRange::of_centers`] finds them.
    #[inline(always)]
    pub(super) fn centers(&self, unit_bits: u32, clip: &BoxRange) -> Centers {
        let half = 1 << (unit_bits - 1);
        let mut centers = Centers { lo: [[0; LANES]; 3], hi: [[0; LANES]; 3] };
        for axis in 0..3 {
            let corner = |c: usize| &self.corners[c][axis];
            let (a, b, c) = (corner(0), corner(1), corner(2));
            for lane in 0..LANES {
                let min = a[lane].min(b[lane]).min(c[lane]);
                let max = a[lane].max(b[lane]).max(c[lane]);
                centers.lo[axis][lane] = ((min + half - 1) >> unit_bits).max(clip.lo[axis]);
                centers.hi[axis][lane] = ((max - half) >> unit_bits).min(clip.hi[axis]);
            }
        }
        centers
    }

    /// The voxels of `2^unit_bits` units within `clip` that each triangle's bounding box touches,
    /// as [`BoxRange::of_triangle`] finds them.
    #[inline(always)]
    pub(super) fn bounds(&self, unit_bits: u32, clip: &BoxRange) -> Bounds {
        let zero = [0; LANES];
        let (lo, hi) = ([zero; 3], [zero; 3]);
        let mut bounds = Bounds { lo, hi, axes: zero, longest: zero, outside: zero };
        for axis in 0..3 {
            let corner = |c: usize| &self.corners[c][axis];
            let (a, b, c) = (corner(0), corner(1), corner(2));
            for lane in 0..LANES {
                let lo = (a[lane].min(b[lane]).min(c[lane]) - 1) >> unit_bits;
                let hi = a[lane].max(b[lane]).max(c[lane]) >> unit_bits;
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

/// The voxels whose centres are within each triangle's bounds, axis by axis.
pub(super) struct Centers {
    lo: [Lanes; 3],
    hi: [Lanes; 3],
}

impl Centers {
    /// Those of the triangle in `lane`: lowest and highest; highest below lowest where there are none.
    #[inline(always)]
    pub(super) fn range(&self, lane: usize) -> BoxRange {
        let corner = |c: &[Lanes; 3]| [c[0][lane], c[1][lane], c[2][lane]];
        BoxRange { lo: corner(&self.lo), hi: corner(&self.hi) }
    }

    /// Those of the first `len` lanes that have some along both axes `across`.
    #[inline(always)]
    pub(super) fn with_some(&self, across: [usize; 2], len: usize) -> List {
        let mut list = List::default();
        for lane in 0..len.min(LANES) {
            let has = |a: usize| self.lo[a][lane] <= self.hi[a][lane];
            list.push(lane, has(across[0]) & has(across[1]));
        }
        list
    }
}

/// The voxels that each triangle's bounding box touches.
pub(super) struct Bounds {
    lo: [Lanes; 3],
    hi: [Lanes; 3],
    /// Along how many axes there is more than one, whether of interest or not.
    axes: Lanes,
    /// How many there are along the longest axis, less one.
    longest: Lanes,
    /// Not 0 where none is of interest.
    outside: Lanes,
}

impl Bounds {
    /// Those of the triangle in `lane`.
    #[inline(always)]
    pub(super) fn range(&self, lane: usize) -> BoxRange {
        let corner = |c: &[Lanes; 3]| [c[0][lane], c[1][lane], c[2][lane]];
        BoxRange { lo: corner(&self.lo), hi: corner(&self.hi) }
    }

    /// Sorts the first `len` lanes.
    #[inline(always)]
    pub(super) fn sort(&self, len: usize) -> Shapes {
        let mut shapes = Shapes::default();
        for lane in 0..len.min(LANES) {
            let inside = self.outside[lane] == 0;
            let line = inside & (self.axes[lane] <= 1);
            let pair = line & (self.longest[lane] <= 1);
            let block = inside & !line & (self.longest[lane] < BLOCK);
            shapes.one_or_two.push(lane, pair);
            shapes.lines.push(lane, line & !pair);
            shapes.blocks.push(lane, block);
            shapes.large.push(lane, inside & !line & !block);
        }
        shapes
    }
}

/// What the bounds are.
#[derive(Default)]
pub(super) struct Shapes {
    /// One voxel, or two with a common face: the triangle touches them.
    pub(super) one_or_two: List,
    /// A line of voxels along an axis: the triangle passes through all of them.
    pub(super) lines: List,
    /// One block of voxels.
    pub(super) blocks: List,
    /// More.
    pub(super) large: List,
}

/// Lanes.
pub(super) struct List {
    len: usize,
    lanes: [u8; LANES],
}

impl Default for List {
    fn default() -> Self {
        Self { len: 0, lanes: [0; LANES] }
    }
}

impl List {
    #[inline(always)]
    fn push(&mut self, lane: usize, belongs: bool) {
        self.lanes[self.len % LANES] = lane as u8;
        self.len += usize::from(belongs);
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.lanes[..self.len.min(LANES)].iter().map(|&lane| usize::from(lane) % LANES)
    }
}
