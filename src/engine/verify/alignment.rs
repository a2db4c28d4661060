//! Alignments of two grids: permutation and mirroring of the axes, and a shift by whole voxels.

use std::fmt;

use serde::Serialize;

use crate::base::numbers::AXES;
use crate::grid::GridError;
use crate::grid::{BRICK, BrickKey, FULL, Mask, VoxelGrid, count, mask_place, mask_voxels};
use crate::lattice::MAX_DIM;

/// A transform from the exact grid to the verified grid: one of the 48 permutations and mirrors of
/// the axes, then a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Alignment {
    /// Axis `a` of the grid is axis `axes[a]` of the exact grid.
    pub axes: [usize; 3],
    /// Whether axis `a` is mirrored, within the exact grid's extent.
    pub mirrored: [bool; 3],
    /// Shift after permutation and mirroring, in voxels along the verified grid's axes.
    pub shift: [i64; 3],
}

impl Alignment {
    /// No permutation, mirror or shift.
    pub const IDENTITY: Self = Self { axes: [0, 1, 2], mirrored: [false; 3], shift: [0; 3] };

    /// Whether it is [`IDENTITY`](Self::IDENTITY).
    #[must_use]
    pub fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// The 48 alignments without a shift.
    pub(super) fn symmetries() -> impl Iterator<Item = Self> {
        const ORDERS: [[usize; 3]; 6] =
            [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]];
        ORDERS.into_iter().flat_map(|axes| {
            (0..8).map(move |bits| {
                let mirrored = [0, 1, 2].map(|a| bits >> a & 1 == 1);
                Self { axes, mirrored, shift: [0; 3] }
            })
        })
    }

    /// Order of simplicity, for ties: displaced axes, mirrored axes, length of the shift.
    pub(super) fn complexity(&self) -> (usize, usize, u64) {
        let displaced = (0..3).filter(|&a| self.axes[a] != a).count();
        let mirrored = self.mirrored.iter().filter(|&&is| is).count();
        (displaced, mirrored, self.shift.iter().map(|s| s.unsigned_abs()).sum())
    }

    /// The map of voxels of an exact grid of `dims` voxels.
    pub(super) fn map(&self, dims: [u32; 3]) -> Map {
        let last = |a: usize| i64::from(dims[self.axes[a]]) - 1;
        let begin = |a: usize| if self.mirrored[a] { last(a) } else { 0 };
        Map {
            axes: self.axes,
            mirrored: self.mirrored,
            offset: [0, 1, 2].map(|a| begin(a) + self.shift[a]),
        }
    }
}

impl fmt::Display for Alignment {
    /// `mirrored in x and z and shifted by (0, 1, 0)`, or `turned to axes (z, -x, y)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.axes != Self::IDENTITY.axes {
            let axes = [0, 1, 2].map(|a| {
                format!("{}{}", if self.mirrored[a] { "-" } else { "" }, AXES[self.axes[a]])
            });
            parts.push(format!("turned to axes ({})", axes.join(", ")));
        } else if self.mirrored != [false; 3] {
            let axes = (0..3).filter(|&a| self.mirrored[a]).map(|a| AXES[a].to_string());
            parts.push(format!("mirrored in {}", axes.collect::<Vec<_>>().join(" and ")));
        }
        if self.shift != [0; 3] {
            let [x, y, z] = self.shift;
            parts.push(format!("shifted by ({x}, {y}, {z})"));
        }
        match parts[..] {
            [] => f.write_str("as placed"),
            _ => f.write_str(&parts.join(" and ")),
        }
    }
}

/// Maps voxels of the exact grid to voxels of the verified grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Map {
    axes: [usize; 3],
    mirrored: [bool; 3],
    /// Image of voxel (0, 0, 0).
    offset: [i64; 3],
}

impl Map {
    pub(super) fn apply(&self, voxel: [u32; 3]) -> [i64; 3] {
        [0, 1, 2].map(|a| {
            let along = i64::from(voxel[self.axes[a]]);
            self.offset[a] + if self.mirrored[a] { -along } else { along }
        })
    }

    /// The inverse of `apply`, also outside the exact grid.
    pub(super) fn invert(&self, voxel: [i64; 3]) -> [i64; 3] {
        let mut exact = [0; 3];
        for a in 0..3 {
            let along = voxel[a] - self.offset[a];
            exact[self.axes[a]] = if self.mirrored[a] { -along } else { along };
        }
        exact
    }

    /// The image of an inclusive box.
    pub(super) fn apply_box(&self, [lo, hi]: [[u32; 3]; 2]) -> [[i64; 3]; 2] {
        let (a, b) = (self.apply(lo), self.apply(hi));
        [[0, 1, 2].map(|i| a[i].min(b[i])), [0, 1, 2].map(|i| a[i].max(b[i]))]
    }

    /// Followed by a shift.
    pub(super) fn shifted(self, by: [i64; 3]) -> Self {
        Self { offset: [0, 1, 2].map(|a| self.offset[a] + by[a]), ..self }
    }

    /// The image of a brick: up to eight bricks, by position, without empty ones.
    fn apply_brick(&self, key: BrickKey, mask: Mask) -> impl Iterator<Item = ([i64; 3], Mask)> {
        let brick = i64::from(BRICK);
        let base = key.first_voxel();
        let [corner, _] = self.apply_box([base, base.map(|c| c + BRICK - 1)]);
        let first = corner.map(|c| c.div_euclid(brick));
        let within = [0, 1, 2].map(|a| corner[a].rem_euclid(brick) as u32);
        let masks = match mask {
            FULL => split_full(within),
            _ => self.split(mask, within),
        };
        let parts = masks.into_iter().zip(0i64..).filter(|(mask, _)| *mask != [0; 8]);
        parts.map(move |(mask, i)| {
            ([first[0] + (i & 1), first[1] + ((i >> 1) & 1), first[2] + (i >> 2)], mask)
        })
    }

    /// Permutes and mirrors the voxels of a brick and splits them over 2 x 2 x 2 bricks; its image
    /// begins at voxel `within` of the first.
    fn split(&self, mask: Mask, within: [u32; 3]) -> [Mask; 8] {
        let mut masks = [[0; 8]; 8];
        for voxel in mask_voxels([0; 3], mask) {
            // Below 16: in the first or the second brick along each axis.
            let [x, y, z] = [0, 1, 2].map(|a| {
                let along = voxel[self.axes[a]];
                within[a] + if self.mirrored[a] { BRICK - 1 - along } else { along }
            });
            let part = x / BRICK + 2 * (y / BRICK) + 4 * (z / BRICK);
            let (slice, bit) = mask_place([x, y, z]);
            masks[part as usize][slice] |= 1 << bit;
        }
        masks
    }

    /// The image of `exact` in a grid of `dims` voxels.
    ///
    /// # Errors
    /// A voxel is outside.
    pub(super) fn grid(&self, exact: &VoxelGrid, dims: [u32; 3]) -> Result<VoxelGrid, GridError> {
        let images = exact.bricks().flat_map(|(key, mask)| self.apply_brick(key, mask));
        // A negative position becomes that of the largest brick, which is outside too.
        let key =
            |brick: [i64; 3]| key_at(brick).unwrap_or(BrickKey::new([MAX_DIM / BRICK - 1; 3]));
        VoxelGrid::from_bricks(dims, images.map(|(brick, mask)| (key(brick), mask)).collect())
    }

    /// Number of voxels of `exact` whose image is not occupied in `grid`; `None` if more than
    /// `most`.
    pub(super) fn misses(&self, exact: &VoxelGrid, grid: &VoxelGrid, most: u64) -> Option<u64> {
        let mut misses = 0;
        for (brick, mask) in exact.bricks().flat_map(|(key, mask)| self.apply_brick(key, mask)) {
            let occupied = key_at(brick).map_or([0; 8], |key| grid.mask_of(key));
            misses += u64::from(count(&std::array::from_fn(|x| mask[x] & !occupied[x])));
            if misses > most {
                return None;
            }
        }
        Some(misses)
    }
}

/// [`Map::split`] for a full brick: a box in each of the eight bricks.
fn split_full(within: [u32; 3]) -> [Mask; 8] {
    std::array::from_fn(|part| {
        let [xs, ys, zs] = [0, 1, 2].map(|a| match part >> a & 1 {
            0 => within[a]..BRICK,
            _ => 0..within[a],
        });
        let row = zs.fold(0, |row, z| row | 1 << z);
        let slice = ys.fold(0, |slice, y| slice | row << (8 * y));
        std::array::from_fn(|x| if xs.contains(&(x as u32)) { slice } else { 0 })
    })
}

/// The key of the brick at `position`, if it is within the largest grid.
fn key_at(position: [i64; 3]) -> Option<BrickKey> {
    let is_possible = position.iter().all(|&b| (0..i64::from(MAX_DIM / BRICK)).contains(&b));
    is_possible.then(|| BrickKey::new(position.map(|b| b as u32)))
}
