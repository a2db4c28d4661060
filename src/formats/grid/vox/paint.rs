//! The palette indices and labels of the voxels that are read.

use super::write::{UNCOLORED, uncolored_palette};
use crate::base::srgb::Rgba;
use crate::grid::{Attribute, BrickKey, Channel, Colors, Mask, count, own_values};

/// The palette index, or the label, of each voxel of a list of bricks.
pub(super) struct Paint<'a, T> {
    /// In canonical order.
    bricks: &'a [(BrickKey, Mask)],
    /// The number of voxels before each brick (an exclusive prefix sum).
    first: Vec<usize>,
    /// By voxel, in the order of mask words and of bits within a word; 0 if not set yet.
    indices: Vec<T>,
}

impl<'a, T: Copy + Default + PartialEq> Paint<'a, T> {
    /// No indices set.
    pub(super) fn new(bricks: &'a [(BrickKey, Mask)]) -> Self {
        let mut voxels = 0;
        let mut first = Vec::with_capacity(bricks.len());
        for (_, mask) in bricks {
            first.push(voxels);
            voxels += count(mask) as usize;
        }
        Self { bricks, first, indices: vec![T::default(); voxels] }
    }

    /// Sets the indices of voxels of the brick `key`, each by its [slot](crate::grid::brick_slot),
    /// unless they have one.
    pub(super) fn set(&mut self, key: BrickKey, voxels: impl Iterator<Item = (u16, T)>) {
        let brick = self.bricks.partition_point(|&(other, _)| other < key);
        let (mask, mut begin) = (&self.bricks[brick].1, self.first[brick]);
        let begins = mask.map(|word| {
            let first = begin;
            begin += word.count_ones() as usize;
            first
        });
        for (slot, index) in voxels {
            let (word, bit) = (usize::from(slot / 64), slot % 64);
            let below = mask[word] & ((1 << bit) - 1);
            let own = &mut self.indices[begins[word] + below.count_ones() as usize];
            if *own == T::default() {
                *own = index;
            }
        }
    }
}

impl Paint<'_, u32> {
    /// The label of voxels without one, which overlapping voxels do not replace.
    pub(super) const REST: u32 = u32::MAX;

    /// The labels, which are counted from 1.
    pub(super) fn labels(&self) -> Channel {
        let none = |label: u32| if label == Self::REST { u32::MAX } else { label.wrapping_sub(1) };
        let mut labels = self.indices.iter().map(|&label| [none(label), 0, 0]);
        let of_brick = |&(key, mask): &(BrickKey, Mask)| {
            (key, mask, labels.by_ref().take(count(&mask) as usize).collect())
        };
        Channel::from_bricks(Attribute::Label, self.bricks.iter().map(of_brick).collect())
    }
}

impl Paint<'_, u8> {
    /// The number of voxels with each index.
    pub(super) fn counts(&self) -> [u64; 256] {
        let mut counts = [0; 256];
        self.indices.iter().for_each(|&index| counts[usize::from(index)] += 1);
        counts
    }

    /// The colours by the file's `palette`, or by MagicaVoxel's default. `None` if there are no
    /// voxels, or if the file was written by this crate from a grid without colours.
    pub(super) fn colors(&self, palette: Option<&[Rgba]>, is_ours: bool) -> Option<Colors> {
        let is_uncolored_index = || self.indices.iter().all(|&index| index == UNCOLORED);
        let is_uncolored = is_ours && palette == Some(&uncolored_palette()) && is_uncolored_index();
        if self.indices.is_empty() || is_uncolored {
            return None;
        }
        let own_palette = default_palette();
        let palette = palette.unwrap_or(&own_palette);
        let color_of = |index: u8| {
            let [r, g, b, _] = palette[usize::from(index) - 1];
            [r, g, b, u8::MAX]
        };
        // The most common colour becomes the default.
        let counts = self.counts();
        let commonest = (1..=u8::MAX).max_by_key(|&index| counts[usize::from(index)]);
        let rest = color_of(commonest.unwrap_or(UNCOLORED));
        let mut colors = Colors::uniform(rest);
        let mut of_voxels = self.indices.iter().map(|&index| color_of(index));
        for &(key, mask) in self.bricks {
            let (own, values) = own_values(mask, rest, |_, _| of_voxels.next().unwrap_or(rest));
            colors.push(key, own, &values);
        }
        Some(colors)
    }
}

/// MagicaVoxel's default palette, used by files without one: entry `n` is the colour of index
/// `n + 1`; the last entry has no index.
fn default_palette() -> [Rgba; 256] {
    /// Ramps from light to dark.
    const RAMP: [u8; 10] = [0xee, 0xdd, 0xbb, 0xaa, 0x88, 0x77, 0x55, 0x44, 0x22, 0x11];
    std::array::from_fn(|entry| match entry as u8 {
        // A cube of six steps per channel, from white, without black.
        n @ 0..215 => {
            let [r, g, b] = [n / 36, n / 6 % 6, n % 6].map(|step| 255 - 51 * step);
            [r, g, b, 255]
        }
        n @ 215..255 => {
            let value = RAMP[usize::from((n - 215) % 10)];
            let [r, g, b] = match (n - 215) / 10 {
                0 => [value, 0, 0],
                1 => [0, value, 0],
                2 => [0, 0, value],
                _ => [value; 3],
            };
            [r, g, b, 255]
        }
        255 => [0; 4],
    })
}
