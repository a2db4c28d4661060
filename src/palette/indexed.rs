//! Which colour of a palette each voxel of a grid has.

use rayon::prelude::*;

use super::distinct::Distinct;
use super::dither::{self, Mixer, Mixture};
use super::nearest::Nearest;
use super::{Palette, Rgb};
use crate::grid::VoxelGrid;
use crate::srgb::Rgba;

/// Colours that one task looks up.
const CHUNK: usize = 1 << 12;

/// The colours of a grid's voxels as indices of a palette's. Takes 3 MiB, and for each colour that is
/// different from all others one byte, or 16 if dithered.
pub struct IndexedColors {
    palette: Palette,
    distinct: Distinct,
    table: Table,
}

/// What each colour becomes, by its index in the set of them.
enum Table {
    Plain(Vec<u8>),
    Dithered(Vec<Mixture>),
}

impl IndexedColors {
    /// Those of `grid` by the `palette`, or where none is given by those that suit it best; `None` where
    /// the grid has no colours.
    #[must_use]
    pub fn new(grid: &VoxelGrid, palette: Option<&Palette>, dither: bool) -> Option<Self> {
        let (colors, occupied) = (grid.colors.as_ref()?, grid.occupied());
        let distinct = Distinct::new(colors, occupied);
        let palette = match palette {
            Some(palette) => palette.clone(),
            None => Palette::of_distinct(&distinct, || distinct.counts(colors, occupied)),
        };
        let (all, nearest) = (distinct.colors(), Nearest::new(&palette));
        let table = match dither {
            false => Table::Plain(by_parts(&all, |part| nearest.of(part))),
            true => {
                let mixer = Mixer::new(&nearest);
                Table::Dithered(by_parts(&all, |part| mixer.mixtures(part)))
            }
        };
        Some(Self { palette, distinct, table })
    }

    /// What the indices are of.
    #[must_use]
    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// The index of the palette's colour that `voxel`, of this `color`, has.
    #[must_use]
    #[inline]
    pub fn index(&self, voxel: [u32; 3], color: &Rgba) -> u8 {
        let index = self.distinct.index(color);
        match &self.table {
            Table::Plain(table) => table[index],
            Table::Dithered(table) => table[index][dither::step(voxel)],
        }
    }
}

/// What `of` makes of `colors`, part by part.
fn by_parts<T: Copy + Default + Send>(
    colors: &[Rgb],
    of: impl Fn(&[Rgb]) -> Vec<T> + Sync,
) -> Vec<T> {
    let mut all = vec![T::default(); colors.len()];
    let parts = all.par_chunks_mut(CHUNK).zip(colors.par_chunks(CHUNK));
    parts.for_each(|(all, part)| all.copy_from_slice(&of(part)));
    all
}
