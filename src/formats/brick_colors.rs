//! From colours as files have them, brick by brick, to those of a grid.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::grid::{BRICK, BrickKey, Colors, FULL, Mask, VoxelGrid};
use crate::srgb::Rgba;

/// Most voxels in whole rows of bricks that get a colour of their own, 256 MiB of them: a file of some
/// KiB can say more.
const MAX_IN_ROWS: u64 = 1 << 26;

/// Why there are then none at all.
pub(super) const TOO_MANY_COLORS: &str = "too many solid parts differ in colour from the others";

/// The colours of bricks in a row along `x`; what of them is said of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch<'a> {
    pub(super) start: BrickKey,
    pub(super) len: u32,
    /// The voxels that have a colour.
    pub(super) mask: &'a Mask,
    pub(super) paint: Paint<'a>,
}

/// The colours of the voxels of a mask.
#[derive(Debug, Clone, Copy)]
pub(super) enum Paint<'a> {
    All(Rgba),
    /// By words of the mask, and in these from the lowest bit up.
    Each(&'a [Rgba]),
}

impl Patch<'_> {
    fn end(&self) -> BrickKey {
        self.start.along_x(self.len)
    }
}

/// Bricks of a grid along `x` that hold the same voxels, and one patch over all of them, or none.
struct Part<'a> {
    start: BrickKey,
    len: u32,
    voxels: Mask,
    patch: Option<Patch<'a>>,
}

impl Part<'_> {
    /// The colour of all voxels, if it is a part of what is full and they have one.
    fn is_uniform(&self, missing: Rgba) -> Option<Rgba> {
        match self.patch {
            _ if self.voxels != FULL => None,
            None => Some(missing),
            Some(Patch { mask, paint: Paint::All(color), .. }) if *mask == FULL => Some(color),
            Some(_) => None,
        }
    }

    fn voxel_count(&self) -> u64 {
        u64::from(self.len) * u64::from(BRICK.pow(3))
    }

    /// Which of a brick's voxels have another colour than `rest`, and these colours.
    fn own(&self, missing: Rgba, rest: Rgba) -> (Mask, Vec<Rgba>) {
        let (mut own, mut colors) = ([0; 8], Vec::new());
        let none = (&[0; 8], Paint::All(missing));
        let (mask, paint) = self.patch.map_or(none, |patch| (patch.mask, patch.paint));
        let mut said = 0;
        for (x, own) in own.iter_mut().enumerate() {
            let mut left = mask[x] | self.voxels[x];
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                let is_said = mask[x] & bit != 0;
                let color = match paint {
                    _ if !is_said => missing,
                    Paint::All(color) => color,
                    Paint::Each(colors) => colors[said],
                };
                said += usize::from(is_said);
                if color != rest && self.voxels[x] & bit != 0 {
                    *own |= bit;
                    colors.push(color);
                }
            }
        }
        (own, colors)
    }
}

/// The parts of `grid`. The patches come in canonical order, and do not overlap.
fn parts<'a>(
    grid: &VoxelGrid,
    patches: impl Iterator<Item = Patch<'a>>,
) -> impl Iterator<Item = Part<'a>> {
    let (mut pieces, mut patches) = (grid.brick_runs(), patches.peekable());
    let mut rest = pieces.next();
    std::iter::from_fn(move || {
        let piece = rest?;
        let (start, end) = (piece.start, piece.start.along_x(piece.len));
        while patches.next_if(|patch| patch.end() <= start).is_some() {}
        let next = patches.peek().copied().filter(|patch| patch.start < end);
        let patch = next.filter(|patch| patch.start <= start);
        let stop = match (patch, next) {
            (Some(patch), _) => patch.end().min(end),
            (None, Some(next)) => next.start,
            (None, None) => end,
        };
        let len = start.bricks_to(stop);
        rest = if stop < end {
            Some(crate::grid::BrickRun { start: stop, len: piece.len - len, ..piece })
        } else {
            pieces.next()
        };
        Some(Part { start, len, voxels: piece.mask, patch })
    })
}

/// The colours that patches give the voxels of `grid`; those they say nothing of have `missing`. The
/// most common one of full bricks becomes that of the rest. The patches come in canonical order, and do
/// not overlap.
///
/// `None`: they would take too much memory.
pub(super) fn colors<'a>(
    grid: &VoxelGrid,
    patches: impl Iterator<Item = Patch<'a>> + Clone,
    missing: Rgba,
) -> Option<Colors> {
    let mut uniform: HashMap<Rgba, u64> = HashMap::new();
    for part in parts(grid, patches.clone()) {
        if let Some(color) = part.is_uniform(missing) {
            *uniform.entry(color).or_default() += part.voxel_count();
        }
    }
    let most = uniform.iter().max_by_key(|&(&color, &count)| (count, Reverse(color)));
    let rest = most.map_or(missing, |(&color, _)| color);
    let mut in_rows = 0;
    let mut colors = Colors::uniform(rest);
    for part in parts(grid, patches) {
        if part.is_uniform(missing) == Some(rest) {
            continue;
        }
        in_rows += if part.len > 1 { part.voxel_count() } else { 0 };
        if in_rows > MAX_IN_ROWS {
            return None;
        }
        let (mask, own) = part.own(missing, rest);
        (0..part.len).for_each(|n| colors.push(part.start.along_x(n), mask, &own));
    }
    Some(colors)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Rgba = [255, 0, 0, 255];
    const BLUE: Rgba = [0, 0, 255, 9];
    const NONE: Rgba = [1, 2, 3, 4];

    fn key(x: u32) -> BrickKey {
        BrickKey::new([x, 0, 0])
    }

    fn patch<'a>(x: u32, len: u32, mask: &'a Mask, paint: Paint<'a>) -> Patch<'a> {
        Patch { start: key(x), len, mask, paint }
    }

    #[test]
    fn a_grid_has_the_colours_of_the_patches_and_else_what_is_missing() {
        let mut bricks: Vec<_> = (1..9).map(|x| (key(x), FULL)).collect();
        bricks.push((key(10), [3, 0, 0, 0, 0, 0, 0, 1]));
        let grid = VoxelGrid::from_bricks([96, 8, 8], bricks).expect("inside");
        let few = [6, 0, 0, 0, 0, 0, 0, 1];
        let each = [RED, BLUE, RED];
        let patches = [
            patch(0, 2, &FULL, Paint::All(BLUE)),
            patch(3, 4, &FULL, Paint::All(RED)),
            patch(7, 1, &few, Paint::Each(&each)),
            patch(10, 1, &few, Paint::Each(&each)),
        ];
        let colors = colors(&grid, patches.into_iter(), NONE).expect("few");
        assert_eq!(colors.rest(), RED);
        for (voxel, color) in [
            ([8, 0, 0], BLUE),
            ([16, 3, 4], NONE),
            ([24, 0, 0], RED),
            ([47, 7, 7], RED),
            ([55, 0, 0], RED),
            ([56, 0, 0], NONE),
            ([56, 0, 1], RED),
            ([56, 0, 2], BLUE),
            ([63, 0, 0], RED),
            ([80, 0, 0], NONE),
            ([80, 0, 1], RED),
            ([87, 0, 0], RED),
        ] {
            assert_eq!(colors.of(voxel), color, "{voxel:?}");
        }
        // Brick 1, 2 and 8, nearly all of 7, and one voxel of 10.
        assert_eq!(colors.own_count(), 3 * 512 + 510 + 1);
    }

    #[test]
    fn long_rows_of_other_colours_than_the_most_common_are_too_much() {
        let rows = (0..65).flat_map(|y| (0..65).map(move |z| [0, y, z]));
        let runs = rows.map(|at| (BrickKey::new(at), 64)).collect();
        let grid = VoxelGrid::from_bricks_and_runs([520; 3], vec![], runs).expect("inside");
        let of = |len: u32| {
            let looks = grid.brick_runs().map(move |piece| Patch {
                start: piece.start,
                len,
                mask: &FULL,
                paint: Paint::All(BLUE),
            });
            colors(&grid, looks, RED)
        };
        assert_eq!(of(64).map(|colors| colors.own_count()), Some(0));
        assert_eq!(of(1).map(|colors| colors.own_count()), Some(65 * 65 * 512));
        assert!(of(32).is_none());
    }
}
