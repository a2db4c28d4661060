//! The palette index of each voxel of a grid.

use rayon::prelude::*;

use super::color_set::ColorSet;
use super::dither::{self, Mixer, Mixture};
use super::nearest::Nearest;
use super::{MAX_COLORS, Palette, Rgb};
use crate::base::srgb::Rgba;
use crate::grid::{BrickKey, Colors, Mask, Up, VoxelGrid, mask_voxels};

/// Colours per task.
const BATCH: usize = 1 << 12;

/// The colours of a grid's voxels as palette indices. Takes 3 MiB, and for each distinct colour one
/// byte, or 16 if dithered.
#[derive(Debug)]
pub struct IndexedColors {
    palette: Palette,
    distinct: ColorSet,
    table: Table,
    up: Up,
}

/// The lookup table, by the index of a distinct colour.
#[derive(Debug)]
enum Table {
    Nearest(Vec<u8>),
    Dithered(Vec<Mixture>),
}

impl IndexedColors {
    /// The indices of `grid` in `palette` or, if `None`, in that of at most `most` colours with the
    /// least error. `None` if the grid has no colours.
    #[must_use]
    pub fn new(
        grid: &VoxelGrid,
        palette: Option<&Palette>,
        most: usize,
        dither: bool,
    ) -> Option<Self> {
        let (colors, occupied) = (&*grid.voxel_colors()?, grid.occupied());
        let distinct = ColorSet::new(colors, occupied);
        let palette = match palette {
            Some(palette) => palette.clone(),
            None => Palette::of_set(&distinct, colors, occupied, most.clamp(1, MAX_COLORS)),
        };
        let all = distinct.colors();
        let table = if dither {
            let mixer = Mixer::new(&palette);
            Table::Dithered(map_batches(&all, |batch| mixer.mixtures(batch)))
        } else {
            let nearest = Nearest::new(&palette);
            Table::Nearest(map_batches(&all, |batch| nearest.of(batch)))
        };
        Some(Self { palette, distinct, table, up: grid.world.up })
    }

    /// The palette that the indices refer to.
    #[must_use]
    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// The number of voxels of `grid`, whose indices these are, by palette index.
    #[must_use]
    pub fn counts(&self, grid: &VoxelGrid) -> Vec<u64> {
        let mut counts = vec![0; self.palette.colors().len()];
        let Some(colors) = &grid.voxel_colors() else { return counts };
        match &self.table {
            Table::Nearest(table) => {
                let voxels = self.distinct.counts(colors, grid.occupied());
                table.iter().zip(voxels).for_each(|(&index, n)| counts[usize::from(index)] += n);
            }
            Table::Dithered(_) => {
                let bricks = grid.bricks().flat_map(|(key, mask)| self.of_brick(colors, key, mask));
                bricks.for_each(|index| counts[usize::from(index)] += 1);
            }
        }
        counts
    }

    /// The colours that the voxels of `grid`, whose indices these are, have in the palette; `None`
    /// if it has no colours.
    #[must_use]
    pub fn painted(&self, grid: &VoxelGrid) -> Option<Colors> {
        let colors = &*grid.voxel_colors()?;
        let color = |index: u8| self.palette.colors()[usize::from(index)];
        let painted = |(key, mask)| {
            (key, mask, self.of_brick(colors, key, mask).map(color).collect::<Vec<_>>())
        };
        let bricks: Vec<_> = match &self.table {
            // Voxels of one colour have several where they are dithered.
            Table::Dithered(_) => grid.bricks().map(painted).collect(),
            Table::Nearest(_) => {
                colors.bricks().map(|(key, mask, _)| painted((key, mask))).collect()
            }
        };
        let has_rest = grid.occupied() > colors.own_count();
        let rest = has_rest.then(|| color(self.index([0; 3], &colors.rest())));
        Some(Colors::from_bricks(bricks, rest.unwrap_or(colors.rest())))
    }

    /// The palette indices of the voxels `mask` of a brick, in order.
    fn of_brick(&self, colors: &Colors, key: BrickKey, mask: Mask) -> impl Iterator<Item = u8> {
        let own = colors.of_brick(key);
        mask_voxels(key.first_voxel(), mask).map(move |voxel| self.index(voxel, &own.of(voxel)))
    }

    /// The palette index of `voxel`, whose colour is `color`, one of the grid's.
    ///
    /// # Panics
    /// May panic for a colour of no voxel; otherwise its index is undefined.
    #[must_use]
    #[inline]
    pub fn index(&self, voxel: [u32; 3], color: &Rgba) -> u8 {
        let index = self.distinct.index(color);
        match &self.table {
            Table::Nearest(table) => table[index],
            Table::Dithered(table) => table[index][dither::threshold(voxel, self.up)],
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
