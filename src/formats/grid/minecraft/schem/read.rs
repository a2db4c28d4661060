//! Reading: schematics of versions 1 to 3, with the blocks in any order of tags.

use std::collections::HashMap;
use std::io::BufRead;

use crate::formats::grid::dense;
use crate::formats::grid::minecraft::frame::Frame;
use crate::formats::grid::minecraft::nbt::{
    BYTE_ARRAY, COMPOUND, INT, SHORT, TagReader, read_gzip,
};
use crate::formats::grid::minecraft::paint::{Painter, Palettes};
use crate::formats::grid::minecraft::{Head, MAX_VOLUME};
use crate::formats::io::bytes::Budget;
use crate::formats::{LoadedGrid, ReadError, content, excerpt};
use crate::grid::BRICK;

/// The format, for messages.
const WHAT: &str = "Sponge schematic";

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
    /// Width, height and length.
    size: [Option<u32>; 3],
    /// The blocks of the palette, and these by the number in the file.
    palette: Option<(Palettes, Kinds)>,
    /// A variable-length integer for each block.
    data: Option<Vec<u8>>,
    memory: Budget,
}

impl Schematic {
    /// Reads the tags of a compound, and of the nested compounds that hold blocks or metadata.
    /// `depth` is the nesting level: 0 at the root.
    fn take_all(&mut self, tags: &mut TagReader, depth: u32) -> Result<(), ReadError> {
        /// The level of `Blocks` in `Schematic` in the root.
        const DEEPEST: u32 = 2;
        while let Some((tag, name)) = tags.next()? {
            match (tag, name.as_str()) {
                (COMPOUND, "Schematic" | "Blocks" | "Metadata") if depth < DEEPEST => {
                    self.take_all(tags, depth + 1)?;
                }
                (SHORT, "Width") => self.size[0] = Some(tags.short()?.into()),
                (SHORT, "Height") => self.size[1] = Some(tags.short()?.into()),
                (SHORT, "Length") => self.size[2] = Some(tags.short()?.into()),
                (COMPOUND, "Palette") => self.palette = Some(self.palette(tags)?),
                (BYTE_ARRAY, "Data" | "BlockData") => {
                    self.data = Some(tags.bytes(1, MAX_VOLUME, &mut self.memory)?);
                }
                _ => self.head.take(tags, (tag, &name), depth)?,
            }
        }
        Ok(())
    }

    fn palette(&mut self, tags: &mut TagReader) -> Result<(Palettes, Kinds), ReadError> {
        let (mut kinds, mut numbers) = (Palettes::default(), Kinds::default());
        while let Some((tag, name)) = tags.next()? {
            let number = match tag {
                INT => u32::try_from(tags.int()?).ok(),
                _ => None,
            };
            let refused = |what: &str| {
                content(format!("the block '{}' of the palette has {what}", excerpt(&name)))
            };
            let number = number.ok_or_else(|| refused("no number from 0"))?;
            if !numbers.add(number, kinds.add(&name, &mut self.memory)?) {
                return Err(refused("the number of another"));
            }
            self.memory.check(numbers.bytes())?;
        }
        self.memory.take(numbers.bytes())?;
        Ok((kinds, numbers))
    }

    fn finish(self) -> Result<LoadedGrid, ReadError> {
        let (world, warnings) = self.head.world(WHAT, 3)?;
        let [Some(width), Some(height), Some(length)] = self.size else {
            bail!("a schematic needs 'Width', 'Height' and 'Length'");
        };
        let (Some((kinds, numbers)), Some(data)) = (self.palette, self.data) else {
            bail!("the schematic has no blocks: 'Palette' or 'Data' is missing");
        };
        let size = [width, height, length];
        ensure!(!size.contains(&0), "a schematic needs at least one block along each axis");
        ensure!(
            dense::volume(size) <= MAX_VOLUME,
            "the size is {width}x{height}x{length} blocks, but at most {MAX_VOLUME} are read, \
             empty ones too"
        );
        let mut painter = Painter::new(Frame { size, up: world.up }, &kinds, self.memory);
        paint(&mut painter, size, &numbers, &data)?;
        painter.finish(world, warnings)
    }
}

/// The kinds of blocks by their numbers in the file.
#[derive(Default)]
struct Kinds {
    /// The kinds of numbers of up to three bytes; [`NONE`](Self::NONE) if there is none.
    short: Vec<u16>,
    long: HashMap<u32, u16>,
}

impl Kinds {
    /// No kind: there are fewer.
    const NONE: u16 = u16::MAX;

    /// Adds the kind of a number. Returns whether it had none.
    fn add(&mut self, number: u32, kind: u16) -> bool {
        if number >= 1 << 21 {
            return self.long.insert(number, kind).is_none();
        }
        let number = number as usize;
        self.short.resize(self.short.len().max(number + 1), Self::NONE);
        std::mem::replace(&mut self.short[number], kind) == Self::NONE
    }

    /// Bytes of memory.
    fn bytes(&self) -> u64 {
        // The list doubles, and the map too, at up to 7/8 of its slots.
        6 * self.short.len() as u64 + 32 * self.long.len() as u64
    }

    fn of(&self, number: u32) -> Option<u16> {
        match self.short.get(number as usize) {
            Some(&kind) => Some(kind).filter(|&kind| kind != Self::NONE),
            None => self.long.get(&number).copied(),
        }
    }
}

/// Paints the blocks of `data`, a variable-length number each.
fn paint(
    painter: &mut Painter,
    [width, height, length]: [u32; 3],
    kinds: &Kinds,
    data: &[u8],
) -> Result<(), ReadError> {
    let volume = dense::volume([width, height, length]);
    let mut row: Vec<u16> = Vec::with_capacity(width as usize);
    let (mut at, mut rest) = (0, data);
    for up in 0..height {
        for across in 0..length {
            row.clear();
            let end = at + u64::from(width);
            if let Some(kind) = uniform_row(rest, width as usize).and_then(|n| kinds.of(n)) {
                rest = &rest[width as usize..];
                at = end;
                // Air changes nothing.
                if kind == 0 {
                    continue;
                }
                row.resize(width as usize, kind);
            }
            while at < end {
                let number = next_number(&mut rest, at)?.ok_or_else(|| {
                    content(format!("there are {at} blocks, but its size is of {volume}"))
                })?;
                row.push(kinds.of(number).ok_or_else(|| {
                    content(format!("block {at} has the number {number}, not in the palette"))
                })?);
                at += 1;
            }
            painter.put_row([0, up, across], &row)?;
        }
        if up % BRICK == BRICK - 1 || up + 1 == height {
            painter.drain()?;
        }
    }
    ensure!(rest.is_empty(), "there are more than the {volume} blocks of its size");
    Ok(())
}

/// Takes the number of block `at` from `data`; `None` at its end.
#[inline]
fn next_number(data: &mut &[u8], at: u64) -> Result<Option<u32>, ReadError> {
    let mut number = 0;
    for (n, &byte) in data.iter().enumerate() {
        // Four bits are left for the fifth byte, and no byte follows it.
        ensure!(n < 4 || byte <= 0xf, "the number of block {at} has more than 32 bits");
        number |= u32::from(byte & 0x7f) << (7 * n);
        if byte < 0x80 {
            *data = &data[n + 1..];
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// The number of all blocks of the next row, if they have one, of one byte.
fn uniform_row(data: &[u8], width: usize) -> Option<u32> {
    let row = data.get(..width)?;
    let &first = row.first()?;
    (first < 0x80 && row.iter().all(|&byte| byte == first)).then_some(first.into())
}
