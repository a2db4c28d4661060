//! Sponge `.schem`, version 3, for WorldEdit and similar tools (SpongePowered, *Sponge Schematic
//! Specification*, version 3, 2021); by an option version 2, for readers that know no other.
//!
//! The number of a block is a variable-length integer of one or two bytes. The offset is 0: a
//! schematic is pasted with its minimum corner at the player. WorldEdit reads version 3 from 7.3
//! on. Schematics of versions 1 to 3 are read.

mod read;

use std::io;

pub use self::read::read;
use super::frame::Frame;
use super::kinds::Kinds;
use super::nbt::{self, BYTE_ARRAY, Tags, write_gzip};
use super::{MAX_VOLUME, check_dims, lost, write_world};
use crate::formats::grid::dense;
use crate::formats::{GridSpec, Out, WriteError, WriteOptions};
use crate::grid::{VoxelGrid, World};

pub const SPEC: GridSpec = GridSpec {
    extension: "schem",
    name: "Sponge schematic",
    carries: "up to 65,535 voxels per axis and 2,147,483,647 in all, empty ones too; the nearest \
              of 161 or chosen blocks; position, voxel size and up axis in custom metadata",
    read: Some(|input, options| read(input, options.memory)),
    // Dimensions are unsigned 16-bit integers.
    check_dims: |dims, _| check_dims(dims, u16::MAX.into()),
    lost,
    has_colors: true,
    ..GridSpec::plain(write)
};

/// Writes `grid`. Memory per thread is constant.
pub fn write(grid: &VoxelGrid, options: &WriteOptions, out: &mut Out) -> Result<(), WriteError> {
    let kinds = Kinds::new(grid, options);
    let frame = Frame::new(grid);
    let bytes = dense::volume(grid.dims()) + kinds.counts.iter().skip(SHORT).sum::<u64>();
    if bytes > MAX_VOLUME {
        return Err(WriteError::Unsupported(format!(
            "the numbers of its blocks take {bytes} bytes, but a .schem has {MAX_VOLUME} at most: \
             lower the resolution, or write .litematic"
        )));
    }
    write_gzip(out, |tags| {
        if !options.plain {
            tags.compound("")?;
        }
        tags.compound("Schematic")?;
        tags.int("Version", if options.plain { 2 } else { 3 })?;
        write_head(tags, grid, &frame, kinds.version().data)?;
        if options.plain {
            tags.int("PaletteMax", kinds.names.len() as u32)?;
        } else {
            tags.compound("Blocks")?;
        }
        tags.compound("Palette")?;
        for (number, name) in (0..).zip(&kinds.names) {
            tags.int(name, number)?;
        }
        tags.end()?;
        let data = if options.plain { "BlockData" } else { "Data" };
        tags.put(BYTE_ARRAY, data, &(bytes as u32).to_be_bytes())?;
        let has_long = kinds.names.len() > SHORT;
        frame.write(grid, &kinds, tags.out, u8::BITS, |blocks| encoded(blocks, has_long))?;
        // Optional in the specification, but WorldEdit always writes it, so readers may rely on it.
        tags.compounds("BlockEntities", 0)?;
        // Ends the schematic; in version 3 the blocks before and the root after it.
        (0..if options.plain { 1 } else { 3 }).try_for_each(|_| tags.end())
    })
}

/// Block numbers below this, those of the most frequent blocks, take one byte.
const SHORT: usize = 128;

/// `blocks` as variable-length integers.
fn encoded(blocks: Vec<u8>, has_long: bool) -> Vec<u8> {
    if !has_long {
        return blocks;
    }
    // The low seven bits, the highest of a byte that another follows, and the eighth bit.
    let bytes = |block| [Some(block), (usize::from(block) >= SHORT).then_some(1)];
    blocks.into_iter().flat_map(bytes).flatten().collect()
}

fn write_head(tags: &mut Tags, grid: &VoxelGrid, frame: &Frame, version: u32) -> io::Result<()> {
    tags.int("DataVersion", version)?;
    for (name, blocks) in ["Width", "Height", "Length"].into_iter().zip(frame.size) {
        tags.put(nbt::SHORT, name, &(blocks as u16).to_be_bytes())?;
    }
    tags.ints("Offset", [0; 3])?;
    if grid.world != World::default() {
        tags.compound("Metadata")?;
        write_world(tags, &grid.world)?;
        tags.end()?;
    }
    Ok(())
}
