//! The palette index of each voxel of a grid.

use rayon::prelude::*;

use super::distinct::Distinct;
use super::dither::{self, Mixer, Mixture};
use super::nearest::Nearest;
use super::{Palette, Rgb};
use crate::base::srgb::Rgba;
use crate::grid::VoxelGrid;

/// Colours per task.
const BATCH: usize = 1 << 12;

/// The colours of a grid's voxels as palette indices. Takes 3 MiB, and for each distinct colour one
/// byte, or 16 if dithered.
#[derive(Debug)]
pub struct IndexedColors {
    palette: Palette,
    distinct: Distinct,
    table: Table,
}

/// The lookup table, by the index of a distinct colour.
#[derive(Debug)]
enum Table {
    Nearest(Vec<u8>),
    Dithered(Vec<Mixture>),
}

impl IndexedColors {
    /// The indices of `grid` in `palette` or, if `None`, in [`Palette::of_grid`]. `None` if the
    /// grid has no colours.
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
            false => Table::Nearest(map_batches(&all, |batch| nearest.of(batch))),
            true => {
                let mixer = Mixer::new(&nearest);
                Table::Dithered(map_batches(&all, |batch| mixer.mixtures(batch)))
            }
        };
        Some(Self { palette, distinct, table })
    }

    /// The palette that the indices refer to.
    #[must_use]
    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// The palette index of `voxel`, whose colour is `color`.
    #[must_use]
    #[inline]
    pub fn index(&self, voxel: [u32; 3], color: &Rgba) -> u8 {
        let index = self.distinct.index(color);
        match &self.table {
            Table::Nearest(table) => table[index],
            Table::Dithered(table) => table[index][dither::threshold(voxel)],
        }
    }
}

/// Maps `colors` by `map`, batch by batch in parallel.
fn map_batches<T: Copy + Default + Send>(
    colors: &[Rgb],
    map: impl Fn(&[Rgb]) -> Vec<T> + Sync,
) -> Vec<T> {
    let mut all = vec![T::default(); colors.len()];
    let batches = all.par_chunks_mut(BATCH).zip(colors.par_chunks(BATCH));
    batches.for_each(|(all, batch)| all.copy_from_slice(&map(batch)));
    all
}
