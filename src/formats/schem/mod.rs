//! Sponge `.schem`, version 3: Minecraft blocks, for WorldEdit and similar tools.
//!
//! Named binary tags, compressed by gzip (SpongePowered, *Sponge Schematic Specification*, version
//! 3, 2021). In the game `y` is up: grids with `z` up are rotated, `(x, y, z)` to `(x, z, -y)`,
//! without mirroring. A block is a byte, `x` fastest, then `z`, then `y`. The offset is 0: a
//! schematic is pasted with its minimum corner at the player. `Metadata` holds a compound `trivox`
//! with the grid's corner in mesh coordinates, the voxel size and the mesh's up axis.
//!
//! A voxel becomes the block of concrete, wool and terracotta, or of [`WriteOptions::blocks`], with
//! the nearest colour in Oklab, as [`palette`](crate::palette) finds it, optionally dithered;
//! [`WriteOptions::palette`] is ignored. In a grid without colours it becomes stone, or the first
//! of the blocks.
//!
//! Schematics of versions 1 to 3 are read. Blocks of these names and stone have their colours,
//! others are grey, with a warning.

mod blocks;
mod nbt;
mod read;

use std::io::{self, BufWriter, Write};

use flate2::{Compression, write::GzEncoder};

use self::blocks::STONE;
pub use self::blocks::{Blocks, BlocksError, MAX_BLOCKS};
use self::nbt::Tags;
pub use self::read::read;
use crate::formats::{GridSpec, WriteError, WriteOptions, dense, lost_opacity};
use crate::grid::{BRICK, BrickKey, BrickRun, Up, VoxelGrid};
use crate::palette::{IndexedColors, Palette};

/// Sponge's `.schem`.
pub const SPEC: GridSpec = GridSpec {
    extension: "schem",
    name: "Sponge schematic",
    carries: "up to 65,535 voxels an axis and 2,147,483,647 in all, empty ones too; the nearest of 49 \
              or chosen blocks; position, voxel size and up axis in metadata of ours",
    read: Some(read),
    write: Some(write),
    check_dims,
    file_size: |_| None,
    lost,
    distances: None,
    has_colors: true,
};

/// Minecraft 1.13.2, the first version with these block names; later versions upgrade it.
const DATA_VERSION: u32 = 1631;

/// Dimensions are unsigned 16-bit integers.
const MAX_EDGE: u32 = u16::MAX as u32;
/// Array lengths are signed 32-bit integers.
const MAX_VOLUME: u64 = i32::MAX as u64;

fn check_dims(dims: [u32; 3]) -> Result<(), WriteError> {
    let [x, y, z] = dims;
    if dims.iter().all(|&d| d <= MAX_EDGE) && dense::volume(dims) <= MAX_VOLUME {
        return Ok(());
    }
    Err(WriteError::Unsupported(format!(
        "a grid of {x}x{y}x{z} voxels is too large for a schematic, which has {MAX_EDGE} blocks an axis \
         and {MAX_VOLUME} in all at most, empty ones too: lower the resolution"
    )))
}

fn lost(grid: &VoxelGrid) -> Vec<String> {
    let nearest = "colours are those of the nearest of the blocks".to_owned();
    let changed = grid.colors.as_ref().map(|_| nearest);
    changed.into_iter().chain(lost_opacity(grid)).collect()
}

/// Writes `grid`, in constant memory.
///
/// # Errors
/// `out` fails, or the grid is too large.
pub fn write(
    grid: &VoxelGrid,
    options: &WriteOptions,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    check_dims(grid.dims())?;
    let kinds = Kinds::new(grid, options);
    let frame = Frame::new(grid);
    let mut tags = Tags { out: GzEncoder::new(BufWriter::new(out), Compression::default()) };
    tags.compound("")?;
    tags.compound("Schematic")?;
    write_head(&mut tags, grid, &frame)?;
    tags.compound("Blocks")?;
    tags.compound("Palette")?;
    for (number, name) in (0..).zip(&kinds.names) {
        tags.int(name, number)?;
    }
    tags.end()?;
    tags.bytes("Data", dense::volume(grid.dims()) as u32)?;
    frame.rows(grid, &kinds, |row| tags.out.write_all(row))?;
    // Ends the blocks, the schematic and the root.
    (0..3).try_for_each(|_| tags.end())?;
    Ok(tags.out.finish()?.flush()?)
}

fn write_head(tags: &mut Tags<impl Write>, grid: &VoxelGrid, frame: &Frame) -> io::Result<()> {
    tags.int("Version", 3)?;
    tags.int("DataVersion", DATA_VERSION)?;
    for (name, blocks) in
        [("Width", frame.width), ("Height", frame.height), ("Length", frame.length)]
    {
        tags.short(name, blocks as u16)?;
    }
    tags.ints("Offset", [0; 3])?;
    if let Some(world) = grid.world {
        tags.compound("Metadata")?;
        tags.compound("trivox")?;
        tags.doubles("Origin", world.origin)?;
        tags.double("VoxelSize", world.voxel_size)?;
        tags.string("Up", if world.up == Up::Y { "y" } else { "z" })?;
        tags.end()?;
        tags.end()?;
    }
    Ok(())
}

/// The palette of blocks, and the block of each voxel.
struct Kinds {
    /// Block names by index; the first is air.
    names: Vec<String>,
    /// The indices of voxels, without air.
    indexed: Option<IndexedColors>,
}

impl Kinds {
    fn new(grid: &VoxelGrid, options: &WriteOptions) -> Self {
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
        let palette = Palette::new(&colors).expect("visible colours, no more than 255");
        let names = std::iter::once(air).chain(names).collect();
        Self { names, indexed: IndexedColors::new(grid, Some(&palette), options.dither) }
    }

    /// Sets the blocks of a run's voxels in one row along `x`: bit `bit` of each word.
    fn put(&self, grid: &VoxelGrid, run: &BrickRun, bit: u32, row: &mut [u8]) {
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
            let [x0, y, z] = key.position().map(|c| c * BRICK);
            for (x, block) in (0..).zip(row).filter(|&(x, _)| is_occupied(x as usize)) {
                let voxel = [x0 + x, y + bit / BRICK, z + bit % BRICK];
                *block = 1 + indexed.index(voxel, &own.at(x, bit));
            }
        }
    }
}

/// A grid in the game's axes.
struct Frame {
    width: u32,
    height: u32,
    length: u32,
    up: Up,
}

impl Frame {
    fn new(grid: &VoxelGrid) -> Self {
        let up = grid.world.map_or(Up::default(), |world| world.up);
        let [width, y, z] = grid.dims();
        let [height, length] = if up == Up::Y { [y, z] } else { [z, y] };
        Self { width, height, length, up }
    }

    /// Voxels along the grid's axes.
    fn dims(&self) -> [u32; 3] {
        match self.up {
            Up::Y => [self.width, self.height, self.length],
            Up::Z => [self.width, self.length, self.height],
        }
    }

    /// The voxel of the grid of a block, whose place is along the width, height and length.
    fn grid_from_game(&self, [x, up, across]: [u32; 3]) -> [u32; 3] {
        match self.up {
            Up::Y => [x, up, across],
            Up::Z => [x, self.length - 1 - across, up],
        }
    }

    /// Calls `take` with all rows of blocks, in file order.
    fn rows(
        &self,
        grid: &VoxelGrid,
        kinds: &Kinds,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let width = self.width as usize;
        // The rows of one height and of one brick across.
        let mut rows = vec![0; width * BRICK as usize];
        for height in 0..self.height {
            let bricks = self.length.div_ceil(BRICK);
            for n in 0..bricks {
                let across = if self.up == Up::Y { n } else { bricks - 1 - n };
                let count = BRICK.min(self.length - across * BRICK);
                let rows = &mut rows[..width * count as usize];
                rows.fill(0);
                let brick = self.brick(height / BRICK, across);
                for run in grid.brick_runs_between(brick, brick.next_row()) {
                    let begin = (run.start.position()[0] * BRICK) as usize;
                    let end = (begin + (run.len * BRICK) as usize).min(width);
                    for (inside, row) in (0..).zip(rows.chunks_exact_mut(width)) {
                        let bit = self.bit(height % BRICK, inside);
                        kinds.put(grid, &run, bit, &mut row[begin..end]);
                    }
                }
                let mut in_order = rows.chunks_exact(width);
                match self.up {
                    Up::Y => in_order.try_for_each(&mut take)?,
                    Up::Z => in_order.rev().try_for_each(&mut take)?,
                }
            }
        }
        Ok(())
    }

    /// The first brick of a row, by its height and its position across, in bricks.
    fn brick(&self, height: u32, across: u32) -> BrickKey {
        match self.up {
            Up::Y => BrickKey::new([0, height, across]),
            Up::Z => BrickKey::new([0, across, height]),
        }
    }

    /// The bit of a row within a brick, by its height and its position across in the brick.
    fn bit(&self, height: u32, across: u32) -> u32 {
        match self.up {
            Up::Y => BRICK * height + across,
            Up::Z => BRICK * across + height,
        }
    }
}
