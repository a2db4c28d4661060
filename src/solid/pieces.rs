//! The pieces of a solid: the components of its voxels, connected through faces, edges and corners.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::forest::Forest;
use crate::grid::{BRICK, BrickKey, BrickRun, Mask, VoxelGrid, is_empty, mask_spliced, mask_step};
use crate::lattice::MAX_DIM;
use crate::solid::fill::spread;

/// Most bricks that are neither empty nor full: above, the pieces take longer than a quick fill.
const MAX_BRICKS: usize = 1 << 16;

/// The number of pieces; `None` above [`MAX_BRICKS`].
///
/// The components of each brick, or of each run of full bricks, are the elements of a forest. They
/// are joined where they touch in a run before.
pub(super) fn pieces(grid: &VoxelGrid) -> Option<u64> {
    if grid.masks().len() > MAX_BRICKS {
        return None;
    }
    let runs: Vec<BrickRun> = grid.brick_runs().collect();
    let counts = runs.par_iter().map(|run| components(run.mask).count());
    let (mut firsts, mut elements) = (counts.collect::<Vec<usize>>(), 0);
    for first in &mut firsts {
        elements += std::mem::replace(first, elements);
    }
    // More runs of full bricks than a grid in memory has.
    u32::try_from(elements).ok()?;
    firsts.push(elements);

    let elements_of = Elements { runs, firsts, forest: Forest::new(elements) };
    let unions = (0..elements_of.runs.len()).into_par_iter().map(|run| elements_of.join(run));
    Some((elements - unions.sum::<usize>()) as u64)
}

/// The offsets, in bricks along `y` and `z`, of a row and of the neighbours before it.
const OFFSETS: [[i32; 2]; 5] = [[0, 0], [-1, 0], [-1, -1], [0, -1], [1, -1]];

/// The components of all runs.
struct Elements {
    runs: Vec<BrickRun>,
    /// The element of each run's first component, then the number of elements.
    firsts: Vec<usize>,
    forest: Forest,
}

impl Elements {
    /// Joins the components of a run with those that they touch in runs before it; returns the
    /// number of unions.
    fn join(&self, run: usize) -> usize {
        let unions = OFFSETS.into_iter().map(|offset| -> usize {
            let before = self.beside(run, offset);
            before.map(|other| self.join_two(run, other, offset)).sum()
        });
        unions.sum()
    }

    /// The runs before a run, in the row at an offset, with a brick next to one of its bricks.
    fn beside(&self, run: usize, [y, z]: [i32; 2]) -> Range<usize> {
        let BrickRun { start, len, .. } = self.runs[run];
        let [x, at_y, at_z] = start.position();
        let at = [at_y.wrapping_add_signed(y), at_z.wrapping_add_signed(z)];
        if at.iter().any(|&c| c >= MAX_DIM / BRICK) {
            return 0..0;
        }
        let row = BrickKey::new([0, at[0], at[1]]);
        let [first, end] = [row.along_x(x.saturating_sub(1)), row.along_x(x + len + 1)];
        let end = end.min(row.next_row());
        let is_before = |run: &BrickRun| run.start.along_x(run.len) <= first;
        let before = self.runs[..run].partition_point(is_before);
        before..self.runs[..run].partition_point(|run| run.start < end)
    }

    /// Joins the components of two runs where they touch; the second lies at an offset along `y`
    /// and `z`. Returns the number of unions.
    fn join_two(&self, run: usize, other: usize, [y, z]: [i32; 2]) -> usize {
        let [from, to] = [run, other].map(|run| {
            let BrickRun { start, len, .. } = self.runs[run];
            let [x, ..] = start.position();
            x..x + len
        });
        // The offsets along x of two bricks of these runs.
        let offsets = [
            (to.end == from.start).then_some(-1),
            (to.start < from.end && from.start < to.end).then_some(0),
            (to.start == from.end).then_some(1),
        ];
        let touch = |one: &Mask, other: &Mask| {
            let is_at = |x| !is_empty(&and(spilled(one, [x, y, z]), other));
            offsets.into_iter().flatten().any(is_at)
        };
        let are_one = [run, other].into_iter().all(|run| self.count(run) == 1);
        let root = |run: usize| self.forest.root(self.firsts[run] as u32);
        if are_one && root(run) == root(other) {
            return 0;
        }
        let others = self.components(other);
        let mut unions = 0;
        for (one, mask) in &self.components(run) {
            for (two, beside) in &others {
                unions += usize::from(touch(mask, beside) && self.forest.join(*one, *two));
            }
        }
        unions
    }

    fn count(&self, run: usize) -> usize {
        self.firsts[run + 1] - self.firsts[run]
    }

    /// The elements of a run, and their voxels in each of its bricks.
    fn components(&self, run: usize) -> Vec<(u32, Mask)> {
        let (mask, first) = (self.runs[run].mask, self.firsts[run]);
        let masks = match self.count(run) {
            1 => vec![mask],
            _ => components(mask).collect(),
        };
        (first as u32..).zip(masks).collect()
    }
}

/// The components of a brick's voxels.
fn components(mut rest: Mask) -> impl Iterator<Item = Mask> {
    std::iter::from_fn(move || {
        let x = rest.iter().position(|&slice| slice != 0)?;
        let mut component = [0; 8];
        component[x] = rest[x] & rest[x].wrapping_neg();
        // Through faces first: quick, and mostly all.
        component = spread(component, &rest);
        while component != rest {
            let next = and(spilled(&component, [0; 3]), &rest);
            if next == component {
                break;
            }
            component = next;
        }
        rest = and(rest, &component.map(|slice| !slice));
        Some(component)
    })
}

fn and(a: Mask, b: &Mask) -> Mask {
    std::array::from_fn(|x| a[x] & b[x])
}

/// The mask and the voxels that touch it, in the brick at an offset.
fn spilled(mask: &Mask, offset: [i32; 3]) -> Mask {
    (0..3).fold(*mask, |mask, axis| match offset[axis] {
        0 => {
            let up = mask_spliced([&[0; 8], &mask], axis, 1);
            let down = mask_spliced([&mask, &[0; 8]], axis, BRICK - 1);
            std::array::from_fn(|x| mask[x] | up[x] | down[x])
        }
        step => mask_step(&mask, axis, step > 0),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::HashSet;

    use fastrand::Rng;

    use super::*;

    /// By a search from voxel to voxel.
    fn searched(grid: &VoxelGrid) -> u64 {
        let mut rest: HashSet<[u32; 3]> = grid.voxels().collect();
        let mut pieces = 0;
        while let Some(&start) = rest.iter().next() {
            pieces += 1;
            rest.remove(&start);
            let mut stack = vec![start];
            while let Some(at) = stack.pop() {
                for code in 0..27_i32 {
                    let by = [code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1];
                    let next = [0, 1, 2].map(|a| at[a].wrapping_add_signed(by[a]));
                    if rest.remove(&next) {
                        stack.push(next);
                    }
                }
            }
        }
        pieces
    }

    #[test]
    fn pieces_are_those_of_a_search() {
        let mut rng = Rng::with_seed(71);
        let mut seen = HashSet::new();
        for _ in 0..300 {
            let dims = [(); 3].map(|()| rng.u32(1..60));
            let mut voxels = Vec::new();
            // Boxes, some of them with full bricks, and single voxels.
            for _ in 0..rng.usize(0..60) {
                let from = dims.map(|dim| rng.u32(0..dim));
                let most = if rng.bool() { 2 } else { 30 };
                let to = [0, 1, 2].map(|a| (from[a] + rng.u32(1..=most)).min(dims[a]));
                let slice = |z| {
                    (from[1]..to[1]).flat_map(move |y| (from[0]..to[0]).map(move |x| [x, y, z]))
                };
                voxels.extend((from[2]..to[2]).flat_map(slice));
            }
            let grid = VoxelGrid::from_voxels(dims, voxels).unwrap();
            let expected = searched(&grid);
            assert_eq!(pieces(&grid), Some(expected), "{dims:?}");
            seen.insert(expected);
        }
        assert!(seen.len() > 10 && seen.contains(&0), "{seen:?}");
    }

    #[test]
    fn pieces_of_too_many_bricks_are_not_counted() {
        // A voxel in each brick.
        let voxel = |i: usize| [i % 64, i / 64 % 64, i / 4096].map(|c| 8 * c as u32);
        let grid = |bricks| VoxelGrid::from_voxels([512; 3], (0..bricks).map(voxel)).unwrap();
        assert_eq!(pieces(&grid(MAX_BRICKS)), Some(MAX_BRICKS as u64));
        assert_eq!(pieces(&grid(MAX_BRICKS + 1)), None);
    }
}
