//! The grids of a file: the density, and where the voxels have colours, these.

use half::f16;

use crate::formats::openvdb::tree::Entry;
use crate::grid::{BrickColors, BrickRun, Colors, FULL, Mask, VoxelGrid, set_bits};
use crate::srgb::{Rgba, linear_of, srgb_of};

/// What a grid of a file says of the voxels.
#[derive(Debug, Clone, Copy)]
pub(super) enum Channel<'a> {
    /// That they are there: 1.
    Density,
    /// Their colours, in linear light from 0 to 1.
    Color(&'a Colors),
}

impl<'a> Channel<'a> {
    /// Those that there are.
    pub(super) fn all(grid: &'a VoxelGrid) -> impl Iterator<Item = Self> {
        [Self::Density].into_iter().chain(grid.colors.as_ref().map(Self::Color))
    }

    /// The grid's name: what renderers look for.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Density => super::DENSITY,
            Self::Color(_) => super::COLOR,
        }
    }

    /// Floats of a value.
    pub(super) fn floats(self) -> usize {
        self.tile().floats(float).count()
    }

    /// What is there where there is no voxel: of colours that of the rest, with which those of voxels
    /// at a surface mix where a renderer interpolates.
    pub(super) fn background(self) -> Value {
        match self {
            Self::Density => Value::Density(0.0),
            Self::Color(_) => self.tile(),
        }
    }

    /// What is there in tiles.
    pub(super) fn tile(self) -> Value {
        match self {
            Self::Density => Value::Density(1.0),
            Self::Color(colors) => Value::Color(colors.rest()),
        }
    }

    /// A piece as parts whose bricks are one kind of entry in their lower nodes.
    pub(super) fn cut(self, piece: BrickRun) -> impl Iterator<Item = (BrickRun, Entry)> {
        let end = piece.start.along_x(piece.len);
        let colors = match self {
            Self::Color(colors) if piece.mask == FULL => Some(colors),
            _ => None,
        };
        let own = colors.into_iter().flat_map(move |colors| colors.between(piece.start, end));
        let own = own.filter(|(_, colors)| colors.is_own()).map(|(key, _)| key);
        let (mut own, mut at) = (own.peekable(), piece.start);
        std::iter::from_fn(move || {
            let (stop, entry) = match own.peek() {
                _ if at == end => return None,
                _ if piece.mask != FULL => (end, Entry::Node),
                Some(&key) if key == at => (key.along_x(1), Entry::Node),
                Some(&key) => (key, Entry::Full),
                None => (end, Entry::Full),
            };
            let part = BrickRun { start: at, len: at.bricks_to(stop), ..piece };
            own.next_if(|&key| key < stop);
            at = stop;
            Some((part, entry))
        })
    }
}

/// A value of a grid of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    Density(f32),
    Color(Rgba),
}

impl Value {
    /// Its floats; `light` is the linear light of an sRGB value.
    pub(super) fn floats(self, light: fn(u8) -> f32) -> impl Iterator<Item = f32> {
        let (floats, count) = match self {
            Self::Density(density) => ([density; 3], 1),
            Self::Color([r, g, b, _]) => ([r, g, b].map(light), 3),
        };
        floats.into_iter().take(count)
    }
}

/// The colours of the voxels of a mask, in its order.
pub(super) fn colors_of(colors: BrickColors, mask: &Mask) -> impl Iterator<Item = Rgba> {
    let bits = (0..).zip(mask).flat_map(|(x, &word)| set_bits(word).map(move |bit| (x, bit)));
    bits.map(move |(x, bit)| colors.at(x, bit))
}

/// The linear light of an sRGB value, from 0 to 1.
pub(super) const fn float(value: u8) -> f32 {
    linear_of(value) as f32 / u16::MAX as f32
}

/// The same as far as a half float has it. Steps of sRGB are at least 9 of those of half floats apart.
pub(super) fn rounded(value: u8) -> f32 {
    HALVES[usize::from(value)].to_f32()
}

/// The same as a half float.
pub(super) fn half(value: u8) -> [u8; 2] {
    HALVES[usize::from(value)].to_le_bytes()
}

/// The linear light of each sRGB value.
const HALVES: [f16; 256] = {
    let mut halves = [f16::ZERO; 256];
    let mut value = 0;
    while value < 256 {
        halves[value] = f16::from_f32_const(float(value as u8));
        value += 1;
    }
    halves
};

/// The sRGB colour nearest to linear light, which is 0 where it is no number, or below; opaque.
pub(super) fn rgba_of(light: [f32; 3]) -> Rgba {
    let [r, g, b] =
        light.map(|light| srgb_of((light.clamp(0.0, 1.0) * f32::from(u16::MAX) + 0.5) as u16));
    [r, g, b, u8::MAX]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_values_come_back_from_floats_and_half_floats() {
        for value in 0..=u8::MAX {
            let [float, half] = [float(value), f16::from_le_bytes(half(value)).to_f32()];
            assert_eq!(rgba_of([float, half, rounded(value)]), [value, value, value, 255]);
        }
    }

    #[test]
    fn light_that_no_screen_shows_is_the_nearest_that_it_does() {
        assert_eq!(rgba_of([f32::NAN, -3.0, 1e9]), [0, 0, 255, 255]);
        assert_eq!(rgba_of([f32::INFINITY, f32::NEG_INFINITY, -0.0]), [255, 0, 0, 255]);
    }
}
