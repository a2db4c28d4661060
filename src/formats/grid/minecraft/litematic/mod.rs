//! `.litematic`, the schematics of the mod Litematica, written as version 5.
//!
//! A schematic has named regions, each with a position, a size, a palette and the numbers of its
//! blocks. A number has as many bits as the last one of the palette needs, two at least. They are
//! packed into 64-bit words from the lowest bits on, and may lie in two words. There is no
//! specification; this follows files of the mod and of *litemapy*. Timestamps are 0, so
//! that the same grid gives the same bytes.
//!
//! Files of versions 1 to 7 are read. Regions are put together in their order, where later blocks
//! replace earlier ones; the grid begins at the lowest corner of all. Along an axis with a
//! negative size, the position is the region's last block.

mod read;

use std::io;

pub use self::read::read;
use super::frame::Frame;
use super::kinds::Kinds;
use super::nbt::{LONG, LONG_ARRAY, Tags, write_gzip};
use super::{schem, write_world};
use crate::formats::grid::dense;
use crate::formats::{GridSpec, Out, WriteError, WriteOptions};
use crate::grid::{VoxelGrid, World};
use crate::lattice::MAX_DIM;

pub const SPEC: GridSpec = GridSpec {
    extension: "litematic",
    name: "Litematica schematic",
    carries: "up to 65,536 voxels per axis and 2,147,483,647 in all, empty ones too; the nearest \
              of 161 or chosen blocks; position, voxel size and up axis in custom metadata",
    read: Some(|input, options| read(input, options.memory)),
    write,
    check_dims: |dims, _| super::check_dims(dims, MAX_DIM),
    ..schem::SPEC
};

/// The format version of Minecraft 1.13.2 and later, which all releases of the mod with these block
/// names read.
const VERSION: u32 = 5;

/// The name of the region and, by default, of the schematic.
const NAME: &str = "trivox";

/// Bits of a block's number, with `kinds` in the palette.
fn bits(kinds: usize) -> u32 {
    (usize::BITS - kinds.saturating_sub(1).leading_zeros()).max(2)
}

/// Writes `grid`. Memory per thread is constant.
pub fn write(grid: &VoxelGrid, options: &WriteOptions, out: &mut Out) -> Result<(), WriteError> {
    let frame = Frame::new(grid);
    let kinds = Kinds::new(grid, options);
    let name = options.name.as_deref().filter(|name| is_java_text(name));
    write_gzip(out, |tags| {
        tags.compound("")?;
        tags.int("MinecraftDataVersion", kinds.version().data)?;
        tags.int("Version", VERSION)?;
        write_metadata(tags, grid, &frame, name.unwrap_or(NAME))?;
        tags.compound("Regions")?;
        tags.compound(NAME)?;
        write_region(tags, grid, &frame, &kinds)?;
        // Ends the region, the regions and the root.
        (0..3).try_for_each(|_| tags.end())
    })
}

fn write_metadata(tags: &mut Tags, grid: &VoxelGrid, frame: &Frame, name: &str) -> io::Result<()> {
    tags.compound("Metadata")?;
    tags.string("Name", name)?;
    tags.string("Author", NAME)?;
    tags.string("Description", "")?;
    tags.put(LONG, "TimeCreated", &[0; 8])?;
    tags.put(LONG, "TimeModified", &[0; 8])?;
    tags.int("RegionCount", 1)?;
    // Both are at most [`super::MAX_VOLUME`].
    tags.int("TotalBlocks", grid.occupied() as u32)?;
    tags.int("TotalVolume", dense::volume(grid.dims()) as u32)?;
    write_place(tags, "EnclosingSize", frame.size)?;
    if grid.world != World::default() {
        write_world(tags, &grid.world)?;
    }
    tags.end()
}

fn write_place(tags: &mut Tags, name: &str, place: [u32; 3]) -> io::Result<()> {
    tags.compound(name)?;
    for (axis, value) in ["x", "y", "z"].into_iter().zip(place) {
        tags.int(axis, value)?;
    }
    tags.end()
}

fn write_region(tags: &mut Tags, grid: &VoxelGrid, frame: &Frame, kinds: &Kinds) -> io::Result<()> {
    write_place(tags, "Position", [0; 3])?;
    write_place(tags, "Size", frame.size)?;
    tags.compounds("BlockStatePalette", kinds.names.len() as u32)?;
    for name in &kinds.names {
        write_state(tags, name)?;
    }
    for nothing in ["Entities", "TileEntities", "PendingBlockTicks", "PendingFluidTicks"] {
        tags.compounds(nothing, 0)?;
    }
    let bits = bits(kinds.names.len());
    // At most 2^31 blocks of 8 bits.
    let words = (dense::volume(grid.dims()) * u64::from(bits)).div_ceil(64);
    tags.put(LONG_ARRAY, "BlockStates", &(words as u32).to_be_bytes())?;
    frame.write(grid, kinds, tags.out, bits, |numbers| packed(&numbers, bits))
}

/// Writes a block's compound of the palette: its name, and the properties in square brackets.
fn write_state(tags: &mut Tags, block: &str) -> io::Result<()> {
    let (name, properties) = match block.split_once('[') {
        Some((name, rest)) => (name, rest.trim_end_matches(']')),
        None => (block, ""),
    };
    tags.string("Name", name)?;
    if !properties.is_empty() {
        tags.compound("Properties")?;
        for (key, value) in properties.split(',').filter_map(|pair| pair.split_once('=')) {
            tags.string(key, value)?;
        }
        tags.end()?;
    }
    tags.end()
}

/// Packs numbers of up to 8 `bits` into 64-bit words.
fn packed(numbers: &[u8], bits: u32) -> Vec<u8> {
    let mut words = Vec::with_capacity((numbers.len() * bits as usize).div_ceil(64) * 8);
    // The bits that are in no word yet, fewer than 64.
    let (mut pending, mut filled) = (0_u64, 0);
    for &number in numbers {
        let number = u64::from(number);
        pending |= number << filled;
        filled += bits;
        if filled >= 64 {
            words.extend(pending.to_be_bytes());
            filled -= 64;
            // The number's bits that did not fit: `filled` of them, fewer than `bits`.
            pending = number >> (bits - filled);
        }
    }
    if filled > 0 {
        words.extend(pending.to_be_bytes());
    }
    words
}

/// Whether a text is the same in UTF-8 and in Java's modified UTF-8, and no longer than NBT allows.
fn is_java_text(text: &str) -> bool {
    text.len() <= u16::MAX.into() && text.chars().all(|c| c != '\0' && c <= '\u{ffff}')
}
