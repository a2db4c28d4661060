//! The colours of voxels: for each brick those of the voxels that have one of their own, and one for
//! all others.
//!
//! Of a surface nearly all voxels have one of their own; of a solid those at the surface, so that
//! colours take memory as the surface does.

use rayon::prelude::*;

use crate::grid::brick::{BRICK, BrickKey, Mask, count, is_empty};
use crate::srgb::Rgba;

/// The colour in which voxels of a grid without colours are drawn: a green that is neither the grey of
/// a background nor that of a shadow.
pub const DEFAULT_COLOR: Rgba = [128, 176, 150, 255];

/// The colours of a grid's voxels, in sRGB, and how opaque they are.
#[derive(Debug, Clone)]
pub struct Colors {
    /// Sorted, without duplicates.
    keys: Vec<BrickKey>,
    /// The voxels of each brick that have a colour of their own; some.
    masks: Vec<Mask>,
    /// The index of each brick's first colour.
    first: Vec<u64>,
    /// Of each brick by words of its mask, and in these from the lowest bit up.
    own: Vec<Rgba>,
    rest: Rgba,
}

/// The colours of the voxels of one brick.
#[derive(Debug, Clone, Copy)]
pub struct BrickColors<'a> {
    mask: Mask,
    /// How many of `own` come before those of each word.
    before: [u16; 8],
    own: &'a [Rgba],
    rest: Rgba,
}

impl Colors {
    /// The same for all voxels.
    #[must_use]
    pub fn uniform(color: Rgba) -> Self {
        Self { keys: vec![], masks: vec![], first: vec![], own: vec![], rest: color }
    }

    /// Of `bricks`, in any order, those voxels of each that its mask holds, by words of the mask and in
    /// these from the lowest bit up; and of all other voxels, `rest`.
    ///
    /// # Panics
    /// A brick comes twice, or has other than one colour for each voxel in its mask.
    #[must_use]
    pub fn from_bricks(mut bricks: Vec<(BrickKey, Mask, Vec<Rgba>)>, rest: Rgba) -> Self {
        bricks.par_sort_unstable_by_key(|&(key, ..)| key);
        let mut colors = Self::uniform(rest);
        bricks.iter().for_each(|(key, mask, own)| colors.push(*key, *mask, own));
        colors
    }

    /// Adds those voxels of a brick that `mask` holds. It comes after all that were added before.
    ///
    /// # Panics
    /// It does not, or there is other than one colour for each voxel.
    pub(crate) fn push(&mut self, key: BrickKey, mask: Mask, own: &[Rgba]) {
        assert_eq!(count(&mask) as usize, own.len(), "colours of brick {:?}", key.position());
        assert!(self.keys.last().is_none_or(|&last| last < key), "brick {:?}", key.position());
        if is_empty(&mask) {
            return;
        }
        self.keys.push(key);
        self.masks.push(mask);
        self.first.push(self.own.len() as u64);
        self.own.extend_from_slice(own);
    }

    /// Of the voxels that have none of their own.
    #[must_use]
    pub fn rest(&self) -> Rgba {
        self.rest
    }

    /// Whether all voxels have the same.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.own.iter().all(|&color| color == self.rest)
    }

    /// Whether all of `occupied` voxels are opaque.
    pub(crate) fn are_opaque(&self, occupied: u64) -> bool {
        let is_opaque = |color: &Rgba| color[3] == u8::MAX;
        let has_rest = occupied > self.own_count();
        (!has_rest || is_opaque(&self.rest)) && self.own.par_iter().all(is_opaque)
    }

    /// Those of the brick `key`.
    #[must_use]
    pub fn of_brick(&self, key: BrickKey) -> BrickColors<'_> {
        match self.index_of(key) {
            Some(index) => self.brick(index),
            None => BrickColors { mask: [0; 8], before: [0; 8], own: &[], rest: self.rest },
        }
    }

    /// Which of the bricks that have voxels with a colour of their own is `key`.
    pub(crate) fn index_of(&self, key: BrickKey) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }

    /// The bricks from key `first` to before key `end` that have voxels with a colour of their own.
    pub(crate) fn between(
        &self,
        first: BrickKey,
        end: BrickKey,
    ) -> impl Iterator<Item = (BrickKey, BrickColors<'_>)> {
        let begin = self.keys.partition_point(|&key| key < first);
        let keys = self.keys[begin..].iter().take_while(move |&&key| key < end);
        (begin..).zip(keys).map(|(index, &key)| (key, self.brick(index)))
    }

    /// Those of one of the bricks that have voxels with a colour of their own.
    pub(crate) fn brick(&self, index: usize) -> BrickColors<'_> {
        let mask = self.masks[index];
        let mut before = [0; 8];
        for x in 1..8 {
            before[x] = before[x - 1] + mask[x - 1].count_ones() as u16;
        }
        let own = &self.own[self.first[index] as usize..][..count(&mask) as usize];
        BrickColors { mask, before, own, rest: self.rest }
    }

    /// That of a voxel.
    #[must_use]
    pub fn of(&self, voxel: [u32; 3]) -> Rgba {
        let [x, y, z] = voxel.map(|c| c % BRICK);
        self.of_brick(BrickKey::new(voxel.map(|c| c / BRICK))).at(x, 8 * y + z)
    }

    /// The bricks that have voxels with a colour of their own, in canonical order, with these voxels
    /// and their colours, by words of the mask and in these from the lowest bit up.
    pub fn bricks(&self) -> impl Iterator<Item = (BrickKey, Mask, &[Rgba])> + '_ {
        let bricks = self.keys.iter().zip(&self.masks).zip(&self.first);
        bricks.map(|((&key, &mask), &first)| {
            (key, mask, &self.own[first as usize..][..count(&mask) as usize])
        })
    }

    /// Those that voxels have of their own, brick by brick.
    #[cfg(feature = "palette")]
    pub(crate) fn own(&self) -> &[Rgba] {
        &self.own
    }

    /// How many voxels have a colour of their own.
    #[must_use]
    pub fn own_count(&self) -> u64 {
        self.own.len() as u64
    }

    /// Bytes of memory that they take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let a_brick = size_of::<BrickKey>() + size_of::<Mask>() + size_of::<u64>();
        (self.keys.len() * a_brick + size_of_val(&self.own[..])) as u64
    }
}

impl BrickColors<'_> {
    /// That of the voxel of bit `bit`, `8 y + z`, in word `x` of the brick's mask.
    #[must_use]
    #[inline]
    pub fn at(&self, x: u32, bit: u32) -> Rgba {
        let word = self.mask[x as usize];
        if word >> bit & 1 == 0 {
            return self.rest;
        }
        let below = (word & ((1 << bit) - 1)).count_ones() as usize;
        self.own[usize::from(self.before[x as usize]) + below]
    }

    /// The voxels that have one of their own.
    #[must_use]
    pub fn mask(&self) -> Mask {
        self.mask
    }

    /// Whether a voxel has another colour than those without one of their own.
    pub(crate) fn is_own(&self) -> bool {
        self.own.iter().any(|&color| color != self.rest)
    }
}
