//! The pieces of a solid: the components of its voxels, connected through faces, edges and corners.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::forest::Forest;
use crate::grid::{BrickRun, BrickRuns, FIRST_Z, Mask, VoxelGrid, is_empty, mask_step};
use crate::solid::fill::spread;

/// Most bricks that are neither empty nor full: above, the pieces take longer than a quick fill.
const MAX_BRICKS: usize = 1 << 16;

/// The number of pieces; `None` above [`MAX_BRICKS`].
///
/// The components of each brick, or of each run of full bricks, are the elements of a forest. They
/// are joined where they touch in a neighbouring run.
pub(super) fn pieces(grid: &VoxelGrid) -> Option<u64> {
    if grid.masks().len() > MAX_BRICKS {
        return None;
    }
    let rows: Vec<BrickRuns> = grid.brick_runs().rows().collect();
    let mut rows: Vec<Row> = rows.into_par_iter().filter_map(Row::new).collect();
    let mut elements = 0_u64;
    for row in &mut rows {
        row.first = elements as u32;
        elements += row.counts.iter().map(|&count| u64::from(count)).sum::<u64>();
    }
    // More runs of full bricks than a grid in memory has.
    u32::try_from(elements).ok()?;

    let forest = Forest::new(elements as usize);
    let joins_of = |row: &Row| -> u64 {
        let joins = OFFSETS.into_iter().map(|[y, z]| {
            let at = [row.at[0].wrapping_add_signed(z), row.at[1].wrapping_add_signed(y)];
            let beside = rows.binary_search_by_key(&at, |row| row.at).ok();
            beside.map_or(0, |beside| row.join(&rows[beside], [y, z], &forest))
        });
        joins.sum()
    };
    Some(elements - rows.par_iter().map(joins_of).sum::<u64>())
}

/// The offsets, in bricks along `y` and `z`, of a row and of the neighbours before it.
const OFFSETS: [[i32; 2]; 5] = [[0, 0], [-1, 0], [-1, -1], [0, -1], [1, -1]];

/// A row of bricks along `x`.
struct Row<'a> {
    /// Its place along `z` and `y`, in bricks: the canonical order.
    at: [u32; 2],
    runs: BrickRuns<'a>,
    /// The number of components of each run, at most 64.
    counts: Vec<u8>,
    /// The element of the first component.
    first: u32,
}

/// A run of bricks and its components.
#[derive(Clone)]
struct Part {
    /// The bricks along `x`.
    span: Range<u32>,
    mask: Mask,
    count: u8,
    /// The element of the first component.
    first: u32,
}

impl<'a> Row<'a> {
    fn new(runs: BrickRuns<'a>) -> Option<Self> {
        let [_, y, z] = runs.first()?.position();
        let counts = runs.clone().map(|run| components(run.mask).count() as u8).collect();
        Some(Self { at: [z, y], runs, counts, first: 0 })
    }

    fn parts(&self) -> impl Iterator<Item = Part> + Clone {
        let runs = self.runs.clone().zip(&self.counts);
        runs.scan(self.first, |next, (BrickRun { start, len, mask }, &count)| {
            let (first, [x, ..]) = (*next, start.position());
            *next += u32::from(count);
            Some(Part { span: x..x + len, mask, count, first })
        })
    }

    /// Joins the components with those of the row at an offset along `y` and `z` where they touch;
    /// returns the number of unions.
    fn join(&self, beside: &Self, [y, z]: [i32; 2], forest: &Forest) -> u64 {
        let mut unions = 0;
        let mut rest = beside.parts().peekable();
        for part in self.parts() {
            while rest.next_if(|other| other.span.end < part.span.start).is_some() {}
            for other in rest.clone().take_while(|other| other.span.start <= part.span.end) {
                unions += part.join(&other, [y, z], forest);
            }
        }
        unions
    }
}

impl Part {
    fn components(&self) -> Vec<(u32, Mask)> {
        let masks = match self.count {
            1 => vec![self.mask],
            _ => components(self.mask).collect(),
        };
        (self.first..).zip(masks).collect()
    }

    fn join(&self, other: &Self, [y, z]: [i32; 2], forest: &Forest) -> u64 {
        let (from, to) = (&self.span, &other.span);
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
        let is_one = self.count == 1 && other.count == 1;
        if is_one && forest.root(self.first) == forest.root(other.first) {
            return 0;
        }
        let others = other.components();
        let mut unions = 0;
        for (one, mask) in self.components() {
            for (two, beside) in &others {
                unions += u64::from(touch(&mask, beside) && forest.join(one, *two));
            }
        }
        unions
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
    (0..3).fold(*mask, |mask, axis| match (offset[axis], axis) {
        (0, 0) => {
            std::array::from_fn(|x| mask[x] | mask[x.saturating_sub(1)] | mask[(x + 1).min(7)])
        }
        (0, 1) => mask.map(|slice| slice | slice << 8 | slice >> 8),
        (0, _) => mask.map(|slice| slice | (slice & !LAST_Z) << 1 | (slice & !FIRST_Z) >> 1),
        (step, _) => mask_step(&mask, axis, step > 0),
    })
}

/// The last voxels of a slice along `z`.
const LAST_Z: u64 = FIRST_Z << 7;

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
