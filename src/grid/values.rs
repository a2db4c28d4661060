//! Values of voxels, such as colours: a sparse list by brick, and one default for all other voxels.
//!
//! In a surface nearly all voxels have their own value; in a solid only those at its surface do,
//! so memory is proportional to the surface.

use rayon::prelude::*;

use crate::base::srgb::Rgba;
use crate::grid::VoxelGrid;
use crate::grid::brick::{BrickKey, Mask, count, is_empty, mask_place, mask_places};
use crate::lattice::MAX_DIM;

/// The colour that renderers give voxels of a grid without colours: a warm clay, distinct from
/// backgrounds and shadows.
pub const DEFAULT_COLOR: Rgba = [220, 198, 168, 255];

/// The colours of a grid's voxels: sRGB with opacity.
pub type Colors = VoxelValues<Rgba>;

/// The colours of the voxels of one brick.
pub type BrickColors<'a> = BrickValues<'a, Rgba>;

/// A value for each of a grid's voxels.
#[derive(Debug, Clone)]
pub struct VoxelValues<T> {
    /// Sorted, without duplicates.
    keys: Vec<BrickKey>,
    /// The voxels of each brick that have their own value; never empty.
    masks: Vec<Mask>,
    /// The index of each brick's first value.
    first: Vec<u64>,
    /// Brick by brick, in the order of mask words and of bits within a word.
    own: Vec<T>,
    /// The value of all other voxels.
    rest: T,
}

/// The values of the voxels of one brick.
#[derive(Debug, Clone, Copy)]
pub struct BrickValues<'a, T> {
    mask: Mask,
    /// The exclusive prefix sum of the mask words' bit counts.
    before: [u16; 8],
    own: &'a [T],
    rest: T,
}

impl<T: Copy + Sync> VoxelValues<T> {
    /// One value for all voxels.
    #[must_use]
    pub fn uniform(value: T) -> Self {
        Self { keys: vec![], masks: vec![], first: vec![], own: vec![], rest: value }
    }

    /// Values by brick, in any order of bricks: one for each voxel of the mask, in the order of
    /// mask words and of bits within a word. All other voxels have the value `rest`.
    ///
    /// # Panics
    /// A key is repeated, or the number of values differs from the number of voxels in the mask.
    #[must_use]
    pub fn from_bricks(mut bricks: Vec<(BrickKey, Mask, Vec<T>)>, rest: T) -> Self
    where
        T: Send,
    {
        bricks.par_sort_unstable_by_key(|&(key, ..)| key);
        let mut values = Self::uniform(rest);
        values.reserve(bricks.len(), bricks.iter().map(|(.., own)| own.len()).sum());
        bricks.iter().for_each(|(key, mask, own)| values.push(*key, *mask, own));
        values
    }

    /// Reserves memory for more bricks, and for `values` values in them.
    pub(crate) fn reserve(&mut self, bricks: usize, values: usize) {
        self.keys.reserve_exact(bricks);
        self.masks.reserve_exact(bricks);
        self.first.reserve_exact(bricks);
        self.own.reserve_exact(values);
    }

    /// Appends the values `own` of the voxels in `mask`. Keys must increase.
    ///
    /// # Panics
    /// `key` is not above the last one, or there is not one value for each voxel.
    pub(crate) fn push(&mut self, key: BrickKey, mask: Mask, own: &[T]) {
        assert_eq!(count(&mask) as usize, own.len(), "values of brick {:?}", key.position());
        assert!(self.keys.last().is_none_or(|&last| last < key), "brick {:?}", key.position());
        if is_empty(&mask) {
            return;
        }
        self.keys.push(key);
        self.masks.push(mask);
        self.first.push(self.own.len() as u64);
        self.own.extend_from_slice(own);
    }

    /// These values without those of empty voxels of `grid`; `None` if there are no such values.
    pub(crate) fn of_occupied(&self, grid: &VoxelGrid) -> Option<Self> {
        let occupied = |key: BrickKey, mask: &Mask| -> Mask {
            let occupied = grid.mask_of(key);
            std::array::from_fn(|x| mask[x] & occupied[x])
        };
        if self.bricks().all(|(key, mask, _)| occupied(key, &mask) == mask) {
            return None;
        }
        let mut kept = Self::uniform(self.rest);
        for (key, mask, _) in self.bricks() {
            let (brick, mask) = (self.of_brick(key), occupied(key, &mask));
            let own: Vec<T> = mask_places(mask).map(|(x, bit)| brick.at(x, bit)).collect();
            kept.push(key, mask, &own);
        }
        Some(kept)
    }

    /// The values, each mapped by `of`.
    pub(crate) fn map(&self, of: impl Fn(T) -> T) -> Self {
        let mut mapped = self.clone();
        mapped.own.iter_mut().chain([&mut mapped.rest]).for_each(|value| *value = of(*value));
        mapped
    }

    /// The value of all voxels without their own.
    #[must_use]
    pub fn rest(&self) -> T {
        self.rest
    }

    /// The values of the brick `key`.
    #[must_use]
    pub fn of_brick(&self, key: BrickKey) -> BrickValues<'_, T> {
        match self.index_of(key) {
            Some(index) => self.brick(index),
            None => BrickValues::new([0; 8], &[], self.rest),
        }
    }

    /// The index of `key` among the bricks with own values.
    pub(crate) fn index_of(&self, key: BrickKey) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }

    /// The bricks with own values whose keys are in `first..end`.
    pub(crate) fn between(
        &self,
        first: BrickKey,
        end: BrickKey,
    ) -> impl Iterator<Item = (BrickKey, BrickValues<'_, T>)> {
        let begin = self.keys.partition_point(|&key| key < first);
        let keys = self.keys[begin..].iter().take_while(move |&&key| key < end);
        (begin..).zip(keys).map(|(index, &key)| (key, self.brick(index)))
    }

    /// The values of the brick at `index` among those with own values.
    pub(crate) fn brick(&self, index: usize) -> BrickValues<'_, T> {
        let mask = self.masks[index];
        let own = &self.own[self.first[index] as usize..][..count(&mask) as usize];
        BrickValues::new(mask, own, self.rest)
    }

    /// The value of a voxel; the default where it has none of its own. Whether it is occupied, the
    /// grid knows: see [`VoxelGrid::color`](crate::VoxelGrid::color).
    #[must_use]
    pub fn of(&self, voxel: [u32; 3]) -> T {
        if voxel.iter().any(|&c| c >= MAX_DIM) {
            return self.rest;
        }
        self.of_brick(BrickKey::of_voxel(voxel)).of(voxel)
    }

    /// The bricks with own values, in canonical order: each with its mask and its values, in the
    /// order of mask words and of bits within a word.
    pub fn bricks(&self) -> impl Iterator<Item = (BrickKey, Mask, &[T])> + '_ {
        let bricks = self.keys.iter().zip(&self.masks).zip(&self.first);
        bricks.map(|((&key, &mask), &first)| {
            (key, mask, &self.own[first as usize..][..count(&mask) as usize])
        })
    }

    /// All own values, brick by brick.
    pub(crate) fn own(&self) -> &[T] {
        &self.own
    }

    /// The number of voxels with their own value.
    #[must_use]
    pub fn own_count(&self) -> u64 {
        self.own.len() as u64
    }

    /// Bytes of memory of so many bricks with `own` values in all.
    pub(crate) fn bytes_of(bricks: u64, own: u64) -> u64 {
        let brick = size_of::<BrickKey>() + size_of::<Mask>() + size_of::<u64>();
        bricks * brick as u64 + own * size_of::<T>() as u64
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        Self::bytes_of(self.keys.len() as u64, self.own_count())
    }
}

/// The voxels of `mask` whose value `of` their [places](mask_places) is not `rest`, and these
/// values in mask order, in which `of` is called.
pub(crate) fn own_values<T: Copy + PartialEq>(
    mask: Mask,
    rest: T,
    mut of: impl FnMut(u32, u32) -> T,
) -> (Mask, Vec<T>) {
    let (mut own, mut values) = (Mask::default(), Vec::new());
    for (x, bit) in mask_places(mask) {
        let value = of(x, bit);
        if value != rest {
            own[x as usize] |= 1 << bit;
            values.push(value);
        }
    }
    (own, values)
}

impl Colors {
    /// Whether no voxel has another colour than [`rest`](Self::rest).
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.own.iter().all(|&color| color == self.rest)
    }
}

impl<'a, T: Copy> BrickValues<'a, T> {
    /// The values `own` of the voxels of `mask`, in its order; all others have the value `rest`.
    pub(crate) fn new(mask: Mask, own: &'a [T], rest: T) -> Self {
        let mut before = [0; 8];
        for x in 1..8 {
            before[x] = before[x - 1] + mask[x - 1].count_ones() as u16;
        }
        Self { mask, before, own, rest }
    }

    /// The value of the voxel at bit `bit`, `8 y + z`, of word `x` of the brick's mask.
    ///
    /// # Panics
    /// `x` is 8 or more. In debug builds also if `bit` is 64 or more.
    #[must_use]
    #[inline]
    pub fn at(&self, x: u32, bit: u32) -> T {
        let word = self.mask[x as usize];
        if word >> bit & 1 == 0 {
            return self.rest;
        }
        let below = (word & ((1 << bit) - 1)).count_ones() as usize;
        self.own[usize::from(self.before[x as usize]) + below]
    }

    /// The value of a voxel of the grid that is in this brick.
    #[inline]
    pub(crate) fn of(&self, voxel: [u32; 3]) -> T {
        let (x, bit) = mask_place(voxel);
        self.at(x as u32, bit)
    }

    /// The voxels with their own value.
    #[must_use]
    pub fn mask(&self) -> Mask {
        self.mask
    }

    /// Whether a voxel's value differs from the default.
    pub(crate) fn differs_from_rest(&self) -> bool
    where
        T: PartialEq,
    {
        self.own.iter().any(|&value| value != self.rest)
    }
}
