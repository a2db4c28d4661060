//! One brick: its mask, and its key in the canonical order.

use bytemuck::{Pod, Zeroable};

use crate::lattice::MAX_DIM;

/// Voxels along a brick's edge.
pub const BRICK: u32 = 8;

/// The voxels of one brick: `mask[x]` has bit `8 y + z` set where voxel `(x, y, z)` is occupied.
pub type Mask = [u64; 8];

/// A mask with every voxel set.
pub const FULL: Mask = [u64::MAX; 8];

/// A brick's position in bricks, packed so that the order of keys is the canonical order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct BrickKey(pub(super) u64);

impl BrickKey {
    /// 65,536 voxels are 8,192 bricks, 13 bits.
    const BITS: u32 = (MAX_DIM / BRICK).ilog2();

    /// Set in the keys of masks of crossings that leave a mesh; positions take 39 bits.
    const EXITS: u64 = 1 << 62;

    /// The key of no brick; greater than all others.
    pub(crate) const NONE: Self = Self(u64::MAX);

    /// The key of the brick at `(x, y, z)`, in bricks, each below 8192.
    ///
    /// # Panics
    /// A coordinate is 8192 or more.
    #[must_use]
    #[inline]
    pub fn new([x, y, z]: [u32; 3]) -> Self {
        assert!(x.max(y).max(z) < 1 << Self::BITS, "brick ({x}, {y}, {z})");
        let (x, y, z) = (u64::from(x), u64::from(y), u64::from(z));
        Self(((z << Self::BITS | y) << Self::BITS) | x)
    }

    /// `(z << 26) + (y << 13) + x`.
    pub(crate) fn packed(self) -> u64 {
        self.0
    }

    /// The key with this [`packed`](Self::packed) value, if it is in range.
    pub(crate) fn from_packed(word: u64) -> Option<Self> {
        Some(Self(word)).filter(|key| key.is_of_brick())
    }

    /// Whether it is the key of a position: no bits are set besides the three coordinates.
    pub(super) fn is_of_brick(self) -> bool {
        self.0 < 1 << (3 * Self::BITS)
    }

    /// The key of the brick that contains a voxel.
    ///
    /// # Panics
    /// A coordinate is 65,536 or more.
    #[must_use]
    #[inline]
    pub fn of_voxel(voxel: [u32; 3]) -> Self {
        Self::new(voxel.map(|c| c / BRICK))
    }

    /// [`of_voxel`](Self::of_voxel), not checked, of a voxel that is in a grid.
    #[inline(always)]
    pub(crate) fn of_grid_voxel([x, y, z]: [i32; 3]) -> Self {
        let brick = |i: i32| u64::from(i as u32 / BRICK);
        Self(brick(z) << (2 * Self::BITS) | brick(y) << Self::BITS | brick(x))
    }

    /// The brick's position, in bricks.
    #[must_use]
    pub fn position(self) -> [u32; 3] {
        let field = |shift: u32| (self.0 >> shift) as u32 & ((1 << Self::BITS) - 1);
        [field(0), field(Self::BITS), field(2 * Self::BITS)]
    }

    /// The brick's first voxel along each axis.
    #[must_use]
    pub fn first_voxel(self) -> [u32; 3] {
        self.position().map(|brick| brick * BRICK)
    }

    /// The key of the brick's mask of crossings that leave a mesh.
    #[inline(always)]
    pub(crate) fn leaving(self) -> Self {
        Self(self.0 | Self::EXITS)
    }

    /// Whether its mask holds crossings that leave a mesh.
    pub(super) fn is_leaving(self) -> bool {
        self.0 & Self::EXITS != 0
    }

    /// The key without the mark of leaving crossings.
    pub(super) fn undirected(self) -> Self {
        Self(self.0 & !Self::EXITS)
    }

    /// A hash of `bits` bits that spreads neighbouring bricks: Fibonacci hashing (D. Knuth, The Art
    /// of Computer Programming 3, section 6.4, 1973).
    #[inline]
    pub(crate) fn hash_index(self, bits: u32) -> usize {
        (self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize
    }

    /// The key `n` bricks further along `x`.
    pub(crate) fn along_x(self, n: u32) -> Self {
        Self(self.0 + u64::from(n))
    }

    /// The number of bricks along `x` from this key to `end`, in the same row.
    pub(crate) fn bricks_to(self, end: Self) -> u32 {
        (end.0 - self.0) as u32
    }

    /// The bricks that share a face with it, by axis below and above; `None` outside the largest
    /// grid.
    pub(crate) fn beside(self) -> [[Option<Self>; 2]; 3] {
        let beside = |axis: usize, c: Option<u32>| {
            let mut at = self.position();
            at[axis] = c.filter(|&c| c < MAX_DIM / BRICK)?;
            Some(Self::new(at))
        };
        [0, 1, 2].map(|axis| {
            let c = self.position()[axis];
            [beside(axis, c.checked_sub(1)), beside(axis, Some(c + 1))]
        })
    }

    /// The first key of the brick's row along `x`.
    pub(crate) fn row(self) -> Self {
        Self(self.0 >> Self::BITS << Self::BITS)
    }

    /// The first key of the next row along `x`.
    pub(crate) fn next_row(self) -> Self {
        Self(((self.0 >> Self::BITS) + 1) << Self::BITS)
    }
}

/// The place of a voxel in its brick's mask: the index of the word, and the bit in it.
#[must_use]
#[inline(always)]
pub fn mask_place(voxel: [u32; 3]) -> (usize, u32) {
    let [x, y, z] = voxel.map(|c| c % BRICK);
    (x as usize, 8 * y + z)
}

/// The linear index of a voxel in its brick, 0 to 511, in the order of masks.
#[inline(always)]
pub(crate) fn brick_slot(voxel: [u32; 3]) -> usize {
    let (word, bit) = mask_place(voxel);
    64 * word + bit as usize
}

/// The voxels of a slice that are first along `z`: 1 in each byte.
pub(crate) const FIRST_Z: u64 = 0x0101_0101_0101_0101;

/// Packs bits: bit `i` is byte `i`, which must be 0 or 1.
#[inline(always)]
pub(crate) fn bits_of_bytes(word: u64) -> u64 {
    // Byte i, at bit 8 i, is shifted by 56 - 7 i to bit 56 + i; no two partial products overlap.
    word.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The voxels of a brick whose coordinates in it are below `ends`.
pub(crate) fn mask_below(ends: [u32; 3]) -> Mask {
    let [x, y, z] = ends.map(|end| end.min(BRICK));
    let rows = (0..y).fold(0, |rows, row| rows | 0xff_u64 << (8 * row));
    let columns = ((1_u64 << z) - 1) * FIRST_Z;
    std::array::from_fn(|i| if (i as u32) < x { rows & columns } else { 0 })
}

/// How many voxels a mask holds.
#[must_use]
pub fn count(mask: &Mask) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

// Not `==`, which compiles to a call for arrays.
pub(crate) fn is_empty(mask: &Mask) -> bool {
    mask.iter().fold(0, |any, slice| any | slice) == 0
}

pub(crate) fn is_full(mask: &Mask) -> bool {
    mask.iter().fold(u64::MAX, |all, slice| all & slice) == u64::MAX
}

/// The voxels of `mask`, offset by `base`, which is at most `2^32 - 8` along each axis.
pub fn mask_voxels(base: [u32; 3], mask: Mask) -> impl Iterator<Item = [u32; 3]> {
    mask.into_iter().zip(0u32..).flat_map(move |(word, x)| {
        set_bits(word).map(move |bit| [base[0] + x, base[1] + bit / 8, base[2] + bit % 8])
    })
}

/// The [places](mask_place) of the voxels of `mask`, in its order.
pub(crate) fn mask_places(mask: Mask) -> impl Iterator<Item = (u32, u32)> {
    (0..).zip(mask).flat_map(|(word, bits)| set_bits(bits).map(move |bit| (word, bit)))
}

/// The indices of the set bits of `word`, from the lowest up.
pub(crate) fn set_bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}

/// Smallest and largest voxel per axis of a mask that is not empty.
pub(crate) fn mask_bounds(mask: &Mask) -> [[u32; 3]; 2] {
    let is_occupied = |slice: &u64| *slice != 0;
    let first_x = mask.iter().position(is_occupied).unwrap_or_default() as u32;
    let last_x = mask.iter().rposition(is_occupied).unwrap_or_default() as u32;
    // The union of all slices has a byte for each y; the union of its bytes a bit for each z.
    let slice = mask.iter().fold(0, |any, slice| any | slice);
    let byte = slice.to_le_bytes().into_iter().fold(0, |any, byte| any | byte);
    let last_z = u8::BITS - 1 - byte.leading_zeros();
    let last_y = (u64::BITS - 1 - slice.leading_zeros()) / 8;
    [[first_x, slice.trailing_zeros() / 8, byte.trailing_zeros()], [last_x, last_y, last_z]]
}

/// The brick that has, along `axis`, the last `by` layers of the first brick and then the first
/// layers of the second.
#[inline(always)]
pub(crate) fn mask_spliced([before, brick]: [&Mask; 2], axis: usize, by: u32) -> Mask {
    let low = FIRST_Z * ((1 << by) - 1);
    std::array::from_fn(|x| match axis {
        _ if by == 0 => brick[x],
        0 if x < by as usize => before[x + 8 - by as usize],
        0 => brick[x - by as usize],
        1 => before[x] >> (64 - 8 * by) | brick[x] << (8 * by),
        _ => before[x] >> (8 - by) & low | brick[x] << by & !low,
    })
}

/// The voxels of the next brick that are one step along an axis from `voxels`.
#[inline(always)]
pub(crate) fn mask_step(voxels: &Mask, axis: usize, is_up: bool) -> Mask {
    if is_up {
        mask_spliced([voxels, &[0; 8]], axis, 1)
    } else {
        mask_spliced([&[0; 8], voxels], axis, BRICK - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_brick_has_the_last_packed_key() {
        let last = BrickKey::new([(1 << BrickKey::BITS) - 1; 3]);
        assert_eq!(BrickKey::from_packed(last.packed()), Some(last));
        assert_eq!(BrickKey::from_packed(last.packed() + 1), None);
    }
}
