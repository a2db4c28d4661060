//! Reading: any number of regions, with their tags in any order.

use std::io::BufRead;
use std::ops::Range;

use super::bits;
use crate::formats::grid::dense;
use crate::formats::grid::minecraft::frame::Frame;
use crate::formats::grid::minecraft::nbt::{
    COMPOUND, INT, LIST, LONG_ARRAY, STRING, TagReader, read_gzip,
};
use crate::formats::grid::minecraft::paint::{Painter, Palettes};
use crate::formats::grid::minecraft::{Head, MAX_VOLUME};
use crate::formats::io::bytes::Budget;
use crate::formats::{LoadedGrid, ReadError, content, excerpt};
use crate::grid::{BRICK, union_bounds};
use crate::lattice::MAX_DIM;

/// The format, for messages.
const WHAT: &str = "Litematica schematic";

const MAX_REGIONS: usize = 1 << 16;
/// Most bytes of block numbers in all regions: what [`MAX_VOLUME`] blocks of 8 bits have.
const MAX_BYTES: u64 = MAX_VOLUME;

/// Peak bytes per region besides its blocks: list entries, name and allocations.
const REGION_BYTES: u64 = 3 * size_of::<Region>() as u64 + size_of::<Blocks>() as u64 + 160;

/// Peak bytes per palette entry: a growing list is copied to one of twice the capacity.
const ENTRY_BYTES: u64 = 3 * size_of::<u16>() as u64;

/// Most entries of all palettes, which air alone could fill without end.
const MAX_ENTRIES: usize = 1 << 22;

/// Reads a grid: a voxel for every block but air, in the colour of the block's name. A schematic of
/// stone only has no colours.
pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let mut schematic = Schematic { memory: Budget::new(limit), ..Schematic::default() };
    read_gzip(input, WHAT, |tags| schematic.take_all(tags, 0))?;
    schematic.finish()
}

/// The tags that say what the blocks are.
#[derive(Default)]
struct Schematic {
    head: Head,
    kinds: Palettes,
    regions: Vec<Region>,
    /// Bytes of block numbers in all regions.
    states: u64,
    /// Entries of all palettes.
    entries: usize,
    memory: Budget,
}

/// A region, as its tags say.
struct Region {
    name: String,
    /// The minimum corner.
    low: [i64; 3],
    size: [u32; 3],
    /// Kinds by number.
    palette: Vec<u16>,
    /// Big-endian words of numbers.
    states: Vec<u8>,
}

impl Schematic {
    /// Takes the tags of the root, or of the metadata, one level deeper.
    fn take_all(&mut self, tags: &mut TagReader, depth: u32) -> Result<(), ReadError> {
        while let Some((tag, name)) = tags.next()? {
            match (tag, name.as_str()) {
                (COMPOUND, "Metadata") if depth == 0 => self.take_all(tags, 1)?,
                (COMPOUND, "Regions") if depth == 0 => self.take_regions(tags)?,
                _ => self.head.take(tags, (tag, &name), 0)?,
            }
        }
        Ok(())
    }

    fn take_regions(&mut self, tags: &mut TagReader) -> Result<(), ReadError> {
        while let Some((tag, name)) = tags.next()? {
            ensure!(tag == COMPOUND, "the region '{}' is not a compound", excerpt(&name));
            ensure!(self.regions.len() < MAX_REGIONS, "there are more than {MAX_REGIONS} regions");
            let region = self.take_region(excerpt(&name), tags)?;
            self.regions.push(region);
            self.memory.take(REGION_BYTES)?;
        }
        Ok(())
    }

    fn take_region(&mut self, region: String, tags: &mut TagReader) -> Result<Region, ReadError> {
        let (mut position, mut size, mut palette, mut states) = (None, None, None, None);
        while let Some((tag, name)) = tags.next()? {
            match (tag, name.as_str()) {
                (COMPOUND, "Position") => position = place(tags)?,
                (COMPOUND, "Size") => size = place(tags)?,
                (LIST, "BlockStatePalette") => palette = Some(self.palette(tags)?),
                (LONG_ARRAY, "BlockStates") => {
                    let most = MAX_BYTES - self.states;
                    let words = tags.bytes(8, most, &mut self.memory)?;
                    self.states += words.len() as u64;
                    states = Some(words);
                }
                _ => self.head.take(tags, (tag, &name), 0)?,
            }
        }
        let missing = |what: &str| content(format!("the region '{region}' has no '{what}'"));
        let position = position.ok_or_else(|| missing("Position"))?.map(i64::from);
        let size = size.ok_or_else(|| missing("Size"))?;
        Ok(Region {
            // With a negative size, the position is the maximum block along that axis.
            low: [0, 1, 2].map(|axis| position[axis] + (i64::from(size[axis]) + 1).min(0)),
            size: size.map(i32::unsigned_abs),
            palette: palette.ok_or_else(|| missing("BlockStatePalette"))?,
            states: states.ok_or_else(|| missing("BlockStates"))?,
            name: region,
        })
    }

    fn palette(&mut self, tags: &mut TagReader) -> Result<Vec<u16>, ReadError> {
        let mut palette = Vec::new();
        for number in 0..tags.compounds()? {
            ensure!(
                self.entries != MAX_ENTRIES,
                "the palettes have more than {MAX_ENTRIES} blocks"
            );
            self.entries += 1;
            self.memory.take(ENTRY_BYTES)?;
            let mut kind = None;
            while let Some((tag, name)) = tags.next()? {
                match (tag, name.as_str()) {
                    (STRING, "Name") => {
                        kind = Some(self.kinds.add(&tags.text()?, &mut self.memory)?)
                    }
                    _ => tags.skip(tag, 1, 0)?,
                }
            }
            let unnamed = || content(format!("block {number} of a palette has no 'Name'"));
            palette.push(kind.ok_or_else(unnamed)?);
        }
        Ok(palette)
    }

    fn finish(self) -> Result<LoadedGrid, ReadError> {
        let (world, warnings) = self.head.world(WHAT, 7)?;
        let (low, size) = bounds(&self.regions)?;
        let frame = Frame { size, up: world.up };
        let placed = self.regions.iter().map(|region| Blocks::new(region, low));
        let placed: Vec<Blocks> = placed.collect::<Result<_, _>>()?;
        let volume: u64 = self.regions.iter().map(|region| dense::volume(region.size)).sum();
        ensure!(
            volume <= MAX_VOLUME,
            "the regions are of {volume} blocks, but at most {MAX_VOLUME} are read, empty ones too"
        );
        let mut painter = Painter::new(frame, &self.kinds, self.memory);
        let mut later: Vec<usize> = (0..placed.len()).collect();
        later.sort_by_key(|&n| placed[n].low[1]);
        let mut later = later.into_iter().peekable();
        // The regions of the current eight heights, in their order.
        let (mut current, mut kinds) = (Vec::new(), Vec::new());
        for slice in (0..size[1]).step_by(BRICK as usize) {
            current.extend(std::iter::from_fn(|| {
                later.next_if(|&n| placed[n].low[1] < slice + BRICK)
            }));
            current.sort();
            for &n in &current {
                placed[n].paint(slice, &mut kinds, &mut painter)?;
            }
            painter.drain()?;
            current.retain(|&n| placed[n].low[1] + placed[n].region.size[1] > slice + BRICK);
        }
        painter.finish(world, warnings)
    }
}

/// The three coordinates of a compound; `None` if one is missing.
fn place(tags: &mut TagReader) -> Result<Option<[i32; 3]>, ReadError> {
    let mut place = [None; 3];
    while let Some((tag, name)) = tags.next()? {
        match (tag, name.as_str()) {
            (INT, "x") => place[0] = Some(tags.int()?),
            (INT, "y") => place[1] = Some(tags.int()?),
            (INT, "z") => place[2] = Some(tags.int()?),
            _ => tags.skip(tag, 1, 0)?,
        }
    }
    let [x, y, z] = place;
    Ok(x.zip(y).zip(z).map(|((x, y), z)| [x, y, z]))
}

/// The lowest corner of all regions, and the size of the box around them.
fn bounds(regions: &[Region]) -> Result<([i64; 3], [u32; 3]), ReadError> {
    let boxes = regions.iter().map(|Region { low, size, .. }| {
        [*low, std::array::from_fn(|axis| low[axis] + i64::from(size[axis]))]
    });
    let [low, high] =
        boxes.reduce(union_bounds).ok_or_else(|| content("the schematic has no regions"))?;
    let size: [i64; 3] = std::array::from_fn(|axis| high[axis] - low[axis]);
    if size.iter().any(|&size| size > i64::from(MAX_DIM)) {
        let [x, y, z] = size;
        bail!(
            "the regions reach across {x}x{y}x{z} blocks, but a grid has at most {MAX_DIM} an axis"
        );
    }
    Ok((low, size.map(|size| size as u32)))
}

/// The blocks of a region, with its lowest corner in the box around all.
struct Blocks<'a> {
    region: &'a Region,
    low: [u32; 3],
    /// Bits of a number.
    bits: u32,
}

impl<'a> Blocks<'a> {
    fn new(region: &'a Region, low: [i64; 3]) -> Result<Self, ReadError> {
        let Region { name, size, palette, states, .. } = region;
        let [x, y, z] = size;
        // At most `MAX_DIM` each, so this does not overflow.
        let volume = dense::volume(*size);
        if volume == 0 || volume > MAX_VOLUME {
            bail!(
                "the region '{name}' is of {x}x{y}x{z} blocks: 1 to {MAX_VOLUME} in all are \
                 possible"
            );
        }
        let bits = bits(palette.len());
        let (words, needed) = (states.len() / 8, (volume * u64::from(bits)).div_ceil(64));
        ensure!(
            words as u64 == needed,
            "the region '{name}' has {words} words of block numbers, but {x}x{y}x{z} blocks of \
             {bits} bits are {needed}"
        );
        // At most `MAX_DIM`.
        let low = std::array::from_fn(|axis| (region.low[axis] - low[axis]) as u32);
        Ok(Self { region, low, bits })
    }

    /// Paints the heights of the eight from `slice` on; `kinds` is the buffer of a row.
    fn paint(
        &self,
        slice: u32,
        kinds: &mut Vec<u16>,
        painter: &mut Painter,
    ) -> Result<(), ReadError> {
        let ([width, height, length], [x0, y0, z0]) = (self.region.size, self.low);
        let heights = slice.max(y0)..(slice + BRICK).min(y0 + height);
        for y in heights {
            for z in 0..length {
                let row = (u64::from(y - y0) * u64::from(length) + u64::from(z)) * u64::from(width);
                self.kinds(row..row + u64::from(width), kinds)?;
                painter.put_row([x0, y, z0 + z], kinds)?;
            }
        }
        Ok(())
    }

    /// Sets `kinds` to the kinds of a row of blocks.
    fn kinds(&self, row: Range<u64>, kinds: &mut Vec<u16>) -> Result<(), ReadError> {
        /// Blocks of short numbers that are decoded at once: most neighbours are alike.
        const GROUP: u32 = 8;
        kinds.clear();
        let (mut at, mut latest) = (row.start, None);
        while at < row.end {
            let is_group = self.bits <= 8 && at + u64::from(GROUP) <= row.end;
            let count = if is_group { GROUP } else { 1 };
            let numbers = self.numbers(at, count);
            if is_group && latest == Some(numbers) {
                kinds.extend_from_within(kinds.len() - GROUP as usize..);
            } else {
                for n in 0..count {
                    let number = numbers >> (n * self.bits) & ((1 << self.bits) - 1);
                    kinds.push(self.kind(at + u64::from(n), number)?);
                }
                latest = is_group.then_some(numbers);
            }
            at += u64::from(count);
        }
        Ok(())
    }

    /// The numbers of `count` blocks from `at` on, from the lowest bits up; 64 bits at most.
    fn numbers(&self, at: u64, count: u32) -> u64 {
        let bit = at * u64::from(self.bits);
        // Inside the words, whose number was checked; so is the next one, where it is needed.
        let (word, shift) = ((bit / 64) as usize, (bit % 64) as u32);
        let (words, _) = self.region.states.as_chunks();
        let (mut numbers, bits) = (u64::from_be_bytes(words[word]) >> shift, count * self.bits);
        if shift + bits > 64 {
            numbers |= u64::from_be_bytes(words[word + 1]) << (64 - shift);
        }
        if bits < 64 { numbers & ((1 << bits) - 1) } else { numbers }
    }

    /// The kind of block `at`, of this number.
    fn kind(&self, at: u64, number: u64) -> Result<u16, ReadError> {
        self.region.palette.get(number as usize).copied().ok_or_else(|| {
            let (name, kinds) = (&self.region.name, self.region.palette.len());
            content(format!(
                "block {at} of the region '{name}' has the number {number}, but its palette has \
                 {kinds} blocks"
            ))
        })
    }
}
