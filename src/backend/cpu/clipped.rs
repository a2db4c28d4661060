//! The triangles of a task, in groups that fill vectors.

use std::ops::Range;

use crate::backend::cpu::triangle_batch::BATCH_LEN;
use crate::grid::BRICK;
use crate::predicate::boxes::BoxRange;

/// A range of triangles, and the box of voxels to set.
pub(super) struct ClippedTriangles<'a> {
    pub(super) triangles: Range<usize>,
    /// The first and last layer of bricks that each group of [`BATCH_LEN`] triangles touches; empty
    /// if the box has all layers.
    pub(super) layers: &'a [[i32; 2]],
    /// The box, inclusive, within the grid.
    pub(super) clip: BoxRange,
}

impl ClippedTriangles<'_> {
    /// The groups of up to [`BATCH_LEN`] triangles that touch the layers of the box.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let Self { triangles, layers, clip } = self;
        let box_layers = clip.coarser(BRICK.ilog2());
        let is_near = move |group: usize| {
            let near = |&[lo, hi]: &[i32; 2]| lo <= box_layers.hi[2] && hi >= box_layers.lo[2];
            layers.get(group).is_none_or(near)
        };
        let firsts = triangles.clone().step_by(BATCH_LEN).enumerate();
        let near = firsts.filter(move |&(group, _)| is_near(group));
        near.map(|(_, first)| first..triangles.end.min(first + BATCH_LEN))
    }
}
