//! A grid as brick runs: partial bricks one by one, full bricks as maximal runs along `x`. A solid
//! grid is read with one step per run, not per brick.

use std::ops::Range;

use super::{BrickKey, FULL, FullRun, Mask, VoxelGrid};

/// Approximate number of bricks, or of runs, in one part of a grid.
const PART: usize = 1 << 13;

/// Consecutive bricks along `x` with the same mask: one partial brick, or a run of full ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrickRun {
    /// The first brick.
    pub start: BrickKey,
    /// The number of bricks; 1 unless they are full.
    pub len: u32,
    /// The mask of each brick.
    pub mask: Mask,
}

impl BrickRun {
    /// The key after the last brick's.
    pub(crate) fn end(&self) -> BrickKey {
        self.start.along_x(self.len)
    }

    /// Clips to the half-open range `first..end`, which must intersect the run.
    fn clip(self, first: BrickKey, end: BrickKey) -> Self {
        let start = self.start.max(first);
        Self { start, len: start.bricks_to(self.end().min(end)), ..self }
    }
}

/// The brick runs of a grid, or of a part of it, in canonical order.
#[derive(Debug, Clone)]
pub struct BrickRuns<'a> {
    keys: &'a [BrickKey],
    masks: &'a [Mask],
    full: &'a [FullRun],
}

impl<'a> BrickRuns<'a> {
    /// The runs of `grid` in these ranges of its partial bricks and of its runs of full bricks.
    fn of(grid: &'a VoxelGrid, bricks: Range<usize>, runs: Range<usize>) -> Self {
        let (keys, masks) = (&grid.keys[bricks.clone()], &grid.masks[bricks]);
        Self { keys, masks, full: &grid.full[runs] }
    }

    /// The first brick.
    pub(crate) fn first(&self) -> Option<BrickKey> {
        let brick = self.keys.first().copied();
        let run = self.full.first().map(|run| run.start);
        brick.into_iter().chain(run).min()
    }

    /// Splits off the runs that begin before `end`.
    pub(crate) fn take_before(&mut self, end: BrickKey) -> BrickRuns<'a> {
        // A linear scan: the part split off is usually a row of a few bricks.
        let bricks = self.keys.iter().take_while(|&&key| key < end).count();
        let runs = self.full.iter().take_while(|run| run.start < end).count();
        let (keys, masks, full);
        (keys, self.keys) = self.keys.split_at(bricks);
        (masks, self.masks) = self.masks.split_at(bricks);
        (full, self.full) = self.full.split_at(runs);
        BrickRuns { keys, masks, full }
    }

    /// The rows along `x` that are not empty.
    pub(crate) fn rows(mut self) -> impl Iterator<Item = BrickRuns<'a>> {
        std::iter::from_fn(move || {
            let first = self.first()?;
            Some(self.take_before(first.next_row()))
        })
    }
}

impl Iterator for BrickRuns<'_> {
    type Item = BrickRun;

    #[inline]
    fn next(&mut self) -> Option<BrickRun> {
        match (self.keys.first(), self.full.first()) {
            (Some(&start), run) if run.is_none_or(|run| start < run.start) => {
                self.keys.split_off_first();
                let &mask = self.masks.split_off_first()?;
                Some(BrickRun { start, len: 1, mask })
            }
            (_, Some(&FullRun { start, len })) => {
                self.full.split_off_first();
                Some(BrickRun { start, len, mask: FULL })
            }
            _ => None,
        }
    }
}

impl VoxelGrid {
    /// All voxels as bricks and runs of full bricks, in canonical order.
    ///
    /// ```
    /// use trivox::VoxelGrid;
    /// use trivox::grid::{BrickKey, FULL};
    ///
    /// let row = (0..100).map(|x| (BrickKey::new([x, 0, 0]), FULL)).collect();
    /// let grid = VoxelGrid::from_bricks([800, 8, 8], row)?;
    /// let run = grid.brick_runs().next().expect("a run");
    /// assert_eq!((run.len, grid.brick_runs().count()), (100, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn brick_runs(&self) -> BrickRuns<'_> {
        BrickRuns { keys: &self.keys, masks: &self.masks, full: &self.full }
    }

    /// The runs that begin in `first..end`, found by binary search.
    pub(crate) fn brick_runs_between(&self, first: BrickKey, end: BrickKey) -> BrickRuns<'_> {
        let bricks_before = |at: BrickKey| self.keys.partition_point(|&key| key < at);
        let runs_before = |at: BrickKey| self.full.partition_point(|run| run.start < at);
        let bricks = bricks_before(first)..bricks_before(end);
        BrickRuns::of(self, bricks, runs_before(first)..runs_before(end))
    }

    /// The runs in the half-open box of bricks `from..to`, row by row, clipped to the box. Rows are
    /// found by binary search, and empty rows are skipped.
    pub(crate) fn brick_runs_in(
        &self,
        from: [u32; 3],
        to: [u32; 3],
    ) -> impl Iterator<Item = BrickRun> {
        let row = |y, z| BrickKey::new([0, y, z]);
        let mut next = Some(row(from[1], from[2]));
        let rows = std::iter::from_fn(move || {
            loop {
                let at = next?.along_x(from[0]);
                let mut rest = self.runs_from(at);
                let [x, y, z] = rest.first()?.max(at).position();
                let end = row(y, z).along_x(to[0]);
                if z >= to[2] {
                    return None;
                }
                let is_before = y < from[1] || y < to[1] && x < from[0];
                next = if is_before {
                    Some(row(y.max(from[1]), z))
                } else if y + 1 < to[1] {
                    Some(row(y + 1, z))
                } else {
                    (z + 1 < to[2]).then(|| row(from[1], z + 1))
                };
                if !is_before && y < to[1] && x < to[0] {
                    return Some(
                        rest.take_before(end).map(move |run| run.clip(at.max(row(y, z)), end)),
                    );
                }
            }
        });
        rows.flatten()
    }

    /// The runs that end after `key`; the first may begin before it.
    fn runs_from(&self, key: BrickKey) -> BrickRuns<'_> {
        let brick = self.keys.partition_point(|&k| k < key);
        let run = self.full.partition_point(|run| run.start.along_x(run.len) <= key);
        BrickRuns::of(self, brick..self.keys.len(), run..self.full.len())
    }
}

/// Splits all rows of bricks into parts of about equal work, each of whole rows: the half-open key
/// range of each part.
pub(crate) fn key_ranges(grids: &[&VoxelGrid]) -> Vec<[BrickKey; 2]> {
    let mut bounds = vec![BrickKey::default(), BrickKey::NONE];
    for grid in grids {
        bounds.extend(grid.keys.iter().step_by(PART).map(|key| key.row()));
        bounds.extend(grid.full.iter().step_by(PART).map(|run| run.start.row()));
    }
    bounds.sort_unstable();
    bounds.dedup();
    bounds.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Consecutive bricks along `x` with one mask in each of `N` grids.
pub(crate) struct Overlap<const N: usize> {
    pub(crate) start: BrickKey,
    pub(crate) len: u32,
    /// By grid; empty where the grid has no brick.
    pub(crate) masks: [Mask; N],
}

/// The runs of `N` grids, each in canonical order, split wherever a run of any grid begins or ends.
pub(crate) fn overlay<I: Iterator<Item = BrickRun>, const N: usize>(
    mut rest: [I; N],
) -> impl Iterator<Item = Overlap<N>> + use<I, N> {
    let mut heads = rest.each_mut().map(Iterator::next);
    std::iter::from_fn(move || {
        let start = heads.iter().flatten().map(|run| run.start).min()?;
        // The nearest begin or end of any grid's run.
        let next = |run: &BrickRun| if run.start > start { run.start } else { run.end() };
        let end = heads.iter().flatten().map(next).min()?;
        let len = start.bricks_to(end);
        let mut masks = [[0; 8]; N];
        for ((head, rest), mask) in heads.iter_mut().zip(&mut rest).zip(&mut masks) {
            if let Some(run) = head.as_mut().filter(|run| run.start == start) {
                *mask = run.mask;
                (run.start, run.len) = (end, run.len - len);
                if run.len == 0 {
                    *head = rest.next();
                }
            }
        }
        Some(Overlap { start, len, masks })
    })
}
