//! The blocks that voxels become.

use super::blocks::{Blocks, STONE};
use crate::formats::WriteOptions;
use crate::grid::{BRICK, BrickRun, VoxelGrid};
use crate::surface::palette::{IndexedColors, Palette};

/// The index of air.
pub(super) const AIR: u8 = 0;

/// The palette of blocks, and the block of each voxel.
pub(super) struct Kinds {
    /// Block names by index; the first is air.
    pub(super) names: Vec<String>,
    /// The indices of voxels, without air.
    indexed: Option<IndexedColors>,
}

impl Kinds {
    pub(super) fn new(grid: &VoxelGrid, options: &WriteOptions) -> Self {
        let air = "minecraft:air".to_owned();
        let own = options.blocks.as_ref().map(Blocks::list);
        if grid.colors.is_none() {
            let stone = || format!("minecraft:{STONE}");
            let plain =
                own.and_then(|own| own.first()).map_or_else(stone, |(name, _)| name.clone());
            return Self { names: vec![air, plain], indexed: None };
        }
        let default = Blocks::default();
        let blocks = own.unwrap_or(default.list()).iter().cloned();
        let (names, colors): (Vec<_>, Vec<_>) = blocks.unzip();
        let palette = Palette::new(&colors).expect("at most 127 visible colours");
        let names = std::iter::once(air).chain(names).collect();
        Self { names, indexed: IndexedColors::new(grid, Some(&palette), options.dither) }
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
                *block = 1 + indexed.index(voxel, &own.at(x, bit));
            }
        }
    }
}
