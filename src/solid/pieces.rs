//! The pieces of a solid: the components of its voxels, connected through faces, edges and corners.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use crate::base::forest::Forest;
use crate::grid::{BRICK, BrickKey, BrickRun, Mask, VoxelGrid, is_empty, mask_spliced, mask_step};
use crate::lattice::MAX_DIM;
use crate::solid::fill::spread;

/// Maximum number of bricks that are neither empty nor full: the pieces of more take longer than a
/// quick fill.
const MAX_BRICKS: usize = 1 << 16;

/// Maximum number of components of bricks; each takes 80 bytes.
const MAX_PARTS: usize = 1 << 19;

/// The number of pieces; `None` above [`MAX_BRICKS`] or [`MAX_PARTS`].
///
/// The components of each brick, or of each run of full bricks, are the elements of a forest. They
/// are joined where they touch one before them.
pub(super) fn pieces(grid: &VoxelGrid) -> Option<u64> {
    if grid.masks().len() > MAX_BRICKS {
        return None;
    }
    let runs: Vec<BrickRun> = grid.brick_runs().collect();
    let count = AtomicUsize::new(0);
    let parts_of = |run: BrickRun| {
        let parts = components(run.mask).map(move |mask| BrickRun { mask, ..run });
        parts.take_while(|_| count.fetch_add(1, Relaxed) < MAX_PARTS)
    };
    // Runs with the voxels of one component each.
    let parts: Vec<BrickRun> = runs.into_par_iter().flat_map_iter(parts_of).collect();
    if count.into_inner() > MAX_PARTS {
        return None;
    }
    let forest = Forest::new(parts.len());
    let unions = (0..parts.len()).into_par_iter().map(|at| join(&parts, at, &forest));
    Some((parts.len() - unions.sum::<usize>()) as u64)
}

/// The offsets, in bricks along `y` and `z`, of a row and of the neighbours before it.
const OFFSETS: [[i32; 2]; 5] = [[0, 0], [-1, 0], [-1, -1], [0, -1], [1, -1]];

/// Joins the part `at` with those that it touches in bricks before; returns the number of unions.
fn join(parts: &[BrickRun], at: usize, forest: &Forest) -> usize {
    let BrickRun { start, len, mask } = parts[at];
    let [x, y, z] = start.position();
    let mut unions = 0;
    for [dy, dz] in OFFSETS {
        let [y, z] = [y.wrapping_add_signed(dy), z.wrapping_add_signed(dz)];
        if y.max(z) >= MAX_DIM / BRICK {
            continue;
        }
        // The parts with a brick next to one of this part's.
        let row = BrickKey::new([0, y, z]);
        let first = row.along_x(x.saturating_sub(1));
        let end = row.along_x(x + len + 1).min(row.next_row()).min(start);
        let begin = parts.partition_point(|other| other.start.along_x(other.len) <= first);
        // The mask's voxels and those that touch them, in the bricks at three offsets along `x`.
        let mut around: [Option<Mask>; 3] = [None; 3];
        for (index, other) in (begin..).zip(&parts[begin..at]) {
            if other.start >= end {
                break;
            }
            if forest.root(at as u32) == forest.root(index as u32) {
                continue;
            }
            let other_x = other.start.position()[0];
            let dx = if other_x + other.len == x { -1 } else { i32::from(other_x == x + len) };
            let near = &mut around[(dx + 1) as usize];
            let spilled = near.get_or_insert_with(|| spilled(mask, [dx, dy, dz]));
            let touches = !is_empty(&and(*spilled, &other.mask));
            unions += usize::from(touches && forest.join(at as u32, index as u32));
        }
    }
    unions
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
            let next = and(spilled(component, [0; 3]), &rest);
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
fn spilled(mask: Mask, offset: [i32; 3]) -> Mask {
    (0..3).fold(mask, |mask, axis| match offset[axis] {
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
    use crate::base::vector::plus;

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
        // Single voxels, 64 in each brick.
        let dust = |bricks| {
            let within = |n: usize| [n % 4, n / 4 % 4, n / 16].map(|c| 2 * c as u32);
            let of_brick = |i| (0..64).map(move |n| plus(voxel(i), within(n)));
            VoxelGrid::from_voxels([512; 3], (0..bricks).flat_map(of_brick)).unwrap()
        };
        assert_eq!(pieces(&dust(MAX_PARTS / 64)), Some(MAX_PARTS as u64));
        assert_eq!(pieces(&dust(MAX_PARTS / 64 + 1)), None);
    }
}
