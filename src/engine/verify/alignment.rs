//! Alignments of two grids: permutation and mirroring of the axes, and a shift by whole voxels.

use std::fmt;

use serde::Serialize;

use crate::base::numbers::AXES;
use crate::grid::{BRICK, BrickKey, FULL, GridError, Mask, VoxelGrid, mask_place, mask_voxels};

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

    /// The position of a voxel or a brick after permutation and mirroring; the exact grid has
    /// `dims` of them along each axis.
    fn turn(&self, at: [u32; 3], dims: [u32; 3]) -> [u32; 3] {
        [0, 1, 2].map(|a| {
            let axis = self.axes[a];
            if self.mirrored[a] { dims[axis] - 1 - at[axis] } else { at[axis] }
        })
    }

    /// The image of a voxel of an exact grid of `dims` voxels.
    pub(super) fn apply(&self, voxel: [u32; 3], dims: [u32; 3]) -> [i64; 3] {
        let turned = self.turn(voxel, dims);
        [0, 1, 2].map(|a| i64::from(turned[a]) + self.shift[a])
    }

    /// The inverse of [`apply`](Self::apply), also outside the exact grid.
    pub(super) fn invert(&self, voxel: [i64; 3], dims: [u32; 3]) -> [i64; 3] {
        let mut exact = [0; 3];
        for (a, (at, shift)) in voxel.into_iter().zip(self.shift).enumerate() {
            let (axis, along) = (self.axes[a], at - shift);
            exact[axis] = if self.mirrored[a] { i64::from(dims[axis]) - 1 - along } else { along };
        }
        exact
    }

    /// The image of an inclusive box.
    pub(super) fn apply_box(&self, [lo, hi]: [[u32; 3]; 2], dims: [u32; 3]) -> [[i64; 3]; 2] {
        let (a, b) = (self.apply(lo, dims), self.apply(hi, dims));
        [[0, 1, 2].map(|i| a[i].min(b[i])), [0, 1, 2].map(|i| a[i].max(b[i]))]
    }

    /// The image of `exact` in a box of `dims` voxels with the minimum corner `corner`; voxels
    /// outside are left out.
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`](crate::lattice::MAX_DIM).
    pub(super) fn image(
        &self,
        exact: &VoxelGrid,
        corner: [i64; 3],
        dims: [u32; 3],
    ) -> Result<VoxelGrid, GridError> {
        let bricks = exact.dims().map(|d| d.div_ceil(BRICK));
        let turned = exact.bricks().map(|(key, mask)| {
            (BrickKey::new(self.turn(key.position(), bricks)), self.turned(mask))
        });
        let whole = self.axes.map(|axis| BRICK * bricks[axis]);
        let turned = VoxelGrid::from_bricks(whole, turned.collect())?;
        // Mirroring by bricks puts the padding of the last brick before the first voxel.
        let low = [0, 1, 2].map(|a| {
            let lacking = whole[a] - exact.dims()[self.axes[a]];
            corner[a] - self.shift[a] + if self.mirrored[a] { i64::from(lacking) } else { 0 }
        });
        turned.in_box(low, dims)
    }

    /// The voxels of a brick after permutation and mirroring.
    fn turned(&self, mask: Mask) -> Mask {
        let mut turned = [0; 8];
        if mask == FULL {
            return mask;
        }
        for voxel in mask_voxels([0; 3], mask) {
            let (slice, bit) = mask_place(self.turn(voxel, [BRICK; 3]));
            turned[slice] |= 1 << bit;
        }
        turned
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
