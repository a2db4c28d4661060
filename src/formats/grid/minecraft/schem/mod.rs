//! Sponge `.schem`, version 3, for WorldEdit and similar tools (SpongePowered, *Sponge Schematic
//! Specification*, version 3, 2021); by an option version 2, for readers that know no other.
//!
//! The number of a block is a byte. The offset is 0: a schematic is pasted with its minimum corner
//! at the player. WorldEdit reads version 3 from 7.3 on. Schematics of versions 1 to 3 are read.

mod read;

use std::io::{self, Write};

pub use self::read::read;
pub use super::blocks::{Blocks, BlocksError, MAX_BLOCKS};
use super::frame::Frame;
use super::kinds::Kinds;
use super::nbt::Tags;
use super::{DATA_VERSION, gzip, lost, write_world};
use crate::formats::grid::dense;
use crate::formats::{GridSpec, WriteError, WriteOptions};
use crate::grid::{VoxelGrid, World};

/// Sponge's `.schem`.
pub const SPEC: GridSpec = GridSpec {
    extension: "schem",
    name: "Sponge schematic",
    carries: "up to 65,535 voxels per axis and 2,147,483,647 in all, empty ones too; the nearest \
              of 49 or chosen blocks; position, voxel size and up axis in custom metadata",
    read: Some(read),
    write: Some(write),
    check_dims,
    lost,
    has_colors: true,
    ..GridSpec::PLAIN
};

/// Dimensions are unsigned 16-bit integers.
fn check_dims(dims: [u32; 3]) -> Result<(), WriteError> {
    super::check_dims(dims, u16::MAX.into())
}

/// Writes `grid`. Memory per thread is constant.
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
    let written = gzip::write(out, |out| {
        let mut tags = Tags { out };
        if !options.plain {
            tags.compound("")?;
        }
        tags.compound("Schematic")?;
        tags.int("Version", if options.plain { 2 } else { 3 })?;
        write_head(&mut tags, grid, &frame)?;
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
        tags.bytes(data, dense::volume(grid.dims()) as u32)?;
        frame.write(grid, &kinds, tags.out, u8::BITS, |blocks| blocks)?;
        // Optional in the specification, but WorldEdit always writes it, so readers may rely on it.
        tags.compounds("BlockEntities", 0)?;
        // Ends the schematic; in version 3 the blocks before and the root after it.
        (0..if options.plain { 1 } else { 3 }).try_for_each(|_| tags.end())
    });
    Ok(written?)
}

fn write_head(tags: &mut Tags<impl Write>, grid: &VoxelGrid, frame: &Frame) -> io::Result<()> {
    tags.int("DataVersion", DATA_VERSION)?;
    for (name, blocks) in
        [("Width", frame.width), ("Height", frame.height), ("Length", frame.length)]
    {
        tags.short(name, blocks as u16)?;
    }
    tags.ints("Offset", [0; 3])?;
    if grid.world != World::default() {
        tags.compound("Metadata")?;
        write_world(tags, &grid.world)?;
        tags.end()?;
    }
    Ok(())
}
