//! The blocks that voxels become.

use std::cmp::Reverse;

use super::blocks::{Blocks, KNOWN, STONE, Version, version_of};
use crate::base::srgb::Rgba;
use crate::formats::WriteOptions;
use crate::grid::{BRICK, BrickRun, Colors, VoxelGrid};
use crate::surface::palette::{IndexedColors, MAX_COLORS, Palette};

/// The number of air.
pub(super) const AIR: u8 = 0;

/// The palette of blocks, and the block of each voxel.
pub(super) struct Kinds {
    /// Block names by number. The first is air; of the others, more frequent ones come first.
    pub(super) names: Vec<String>,
    /// The number of voxels by the number of a block; none of air.
    pub(super) counts: Vec<u64>,
    /// The colour of voxels without colours.
    plain: Rgba,
    /// The palette indices of voxels; `None` if the grid has no colours.
    indexed: Option<IndexedColors>,
    /// The number of a block by its palette index.
    numbers: [u8; 256],
}

impl Kinds {
    pub(super) fn new(grid: &VoxelGrid, options: &WriteOptions) -> Self {
        let default = Blocks::default();
        let blocks = options.blocks.as_ref().unwrap_or(&default);
        let plain = match &options.blocks {
            Some(own) => own.list[0].clone(),
            None => (format!("minecraft:{STONE}"), KNOWN[STONE].0),
        };
        let indexed = index(grid, blocks, options.dither);
        let (list, of_index) = match &indexed {
            Some(indexed) => (&blocks.list[..], indexed.counts(grid)),
            None => (std::slice::from_ref(&plain), vec![grid.occupied()]),
        };
        let mut used: Vec<usize> = (0..list.len()).filter(|&index| of_index[index] > 0).collect();
        used.sort_by_key(|&index| (Reverse(of_index[index]), &list[index].0));
        let (mut names, mut counts, mut numbers) =
            (vec!["minecraft:air".to_owned()], vec![0], [AIR; 256]);
        for (number, &index) in (1..=u8::MAX).zip(&used) {
            names.push(list[index].0.clone());
            counts.push(of_index[index]);
            numbers[index] = number;
        }
        Self { names, counts, plain: plain.1, indexed, numbers }
    }

    /// The first version of the game that has these blocks.
    pub(super) fn version(&self) -> Version {
        version_of(&self.names)
    }

    /// The colours of the voxels of `grid`, whose blocks these are, as blocks.
    pub(super) fn painted(&self, grid: &VoxelGrid) -> Colors {
        let indexed = self.indexed.as_ref().and_then(|indexed| indexed.painted(grid));
        indexed.unwrap_or(Colors::uniform(self.plain))
    }

    /// Sets the blocks of a run's voxels in one row along `x`: bit `bit` of each word.
    pub(super) fn put(&self, grid: &VoxelGrid, run: &BrickRun, bit: u32, row: &mut [u8]) {
        let is_occupied = |x: usize| run.mask[x] >> bit & 1 == 1;
        let (Some(indexed), Some(colors)) = (&self.indexed, &grid.colors) else {
            for (x, block) in row.iter_mut().enumerate() {
                *block = u8::from(is_occupied(x % BRICK as usize));
            }
            return;
        };
        for (n, row) in (0..).zip(row.chunks_mut(BRICK as usize)) {
            let key = run.start.along_x(n);
            let own = colors.of_brick(key);
            let [x0, y, z] = key.first_voxel();
            for (x, block) in (0..).zip(row).filter(|&(x, _)| is_occupied(x as usize)) {
                let voxel = [x0 + x, y + bit / BRICK, z + bit % BRICK];
                *block = self.numbers[usize::from(indexed.index(voxel, &own.at(x, bit)))];
            }
        }
    }
}

/// The palette indices of the voxels of `grid`; `None` if it has no colours.
fn index(grid: &VoxelGrid, blocks: &Blocks, dither: bool) -> Option<IndexedColors> {
    let colors: Vec<Rgba> = blocks.list.iter().map(|&(_, color)| color).collect();
    let palette = Palette::of_blocks(&colors).expect("1 to 255 visible colours");
    let indexed = IndexedColors::new(grid, Some(&palette), MAX_COLORS, dither)?;
    if !blocks.may_merge || dither {
        return Some(indexed);
    }
    let distinct = palette.without_alike(&indexed.counts(grid));
    IndexedColors::new(grid, Some(&distinct), MAX_COLORS, dither)
}
