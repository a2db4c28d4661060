//! The colours of the voxels that are read, as indices of a palette.

use super::default_palette::default_palette;
use super::write::{PLAIN, plain_palette};
use crate::grid::{BRICK, BrickKey, Colors, Mask, count, set_bits};
use crate::srgb::Rgba;

/// The index that each voxel of some bricks has.
pub(super) struct Paint<'a> {
    /// In canonical order.
    bricks: &'a [(BrickKey, Mask)],
    /// The index of each brick's first voxel.
    first: Vec<usize>,
    /// Of each voxel, by words of its brick's mask and in these from the lowest bit up; 0 where it has
    /// none yet.
    indices: Vec<u8>,
    /// The brick of the voxel before: most voxels are in the same one.
    latest: usize,
}

impl<'a> Paint<'a> {
    /// Of voxels that have none yet.
    pub(super) fn new(bricks: &'a [(BrickKey, Mask)]) -> Self {
        let mut voxels = 0;
        let mut first = Vec::with_capacity(bricks.len());
        for (_, mask) in bricks {
            first.push(voxels);
            voxels += count(mask) as usize;
        }
        Self { bricks, first, indices: vec![0; voxels], latest: 0 }
    }

    /// Gives a voxel, which is there, an index, unless it has one.
    pub(super) fn set(&mut self, voxel: [u32; 3], index: u8) {
        let key = BrickKey::new(voxel.map(|c| c / BRICK));
        if self.bricks[self.latest].0 != key {
            self.latest = self.bricks.partition_point(|&(other, _)| other < key);
        }
        let mask = &self.bricks[self.latest].1;
        let [x, y, z] = voxel.map(|c| c % BRICK);
        let before: u32 = mask[..x as usize].iter().map(|word| word.count_ones()).sum();
        let below = mask[x as usize] & ((1 << (8 * y + z)) - 1);
        let at = self.first[self.latest] + (before + below.count_ones()) as usize;
        if self.indices[at] == 0 {
            self.indices[at] = index;
        }
    }

    /// Which indices voxels have.
    pub(super) fn used(&self) -> [bool; 256] {
        self.counts().map(|count| count > 0)
    }

    fn counts(&self) -> [u64; 256] {
        let mut counts = [0; 256];
        self.indices.iter().for_each(|&index| counts[usize::from(index)] += 1);
        counts
    }

    /// The colours by a file's `palette`, or by MagicaVoxel's own. `None` where there are no voxels,
    /// and of a grid of ours that was written without.
    pub(super) fn colors(&self, palette: Option<&[Rgba]>, is_ours: bool) -> Option<Colors> {
        let is_plain = || self.indices.iter().all(|&index| index == PLAIN);
        let is_uncolored = is_ours && palette == Some(&plain_palette()) && is_plain();
        if self.indices.is_empty() || is_uncolored {
            return None;
        }
        let own_palette = default_palette();
        let palette = palette.unwrap_or(&own_palette);
        let color_of = |index: u8| {
            let [r, g, b, _] = palette[usize::from(index) - 1];
            [r, g, b, u8::MAX]
        };
        // What most voxels have need not be kept for each.
        let counts = self.counts();
        let commonest = (1..=u8::MAX).max_by_key(|&index| counts[usize::from(index)]);
        let rest = color_of(commonest.unwrap_or(PLAIN));
        let mut colors = Colors::uniform(rest);
        let mut indices = self.indices.iter();
        for &(key, mask) in self.bricks {
            let (mut own_mask, mut own) = ([0; 8], Vec::new());
            for (own_word, word) in own_mask.iter_mut().zip(mask) {
                for (bit, &index) in set_bits(word).zip(&mut indices) {
                    let color = color_of(index);
                    if color != rest {
                        *own_word |= 1 << bit;
                        own.push(color);
                    }
                }
            }
            colors.push(key, own_mask, &own);
        }
        Some(colors)
    }
}
