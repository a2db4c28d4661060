//! Reading: schematics of versions 1 to 3, with the blocks in any order of tags.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use super::check_dims;
use crate::formats::grid::minecraft::frame::Frame;
use crate::formats::grid::minecraft::gzip::unzip;
use crate::formats::grid::minecraft::nbt::{BYTE_ARRAY, COMPOUND, INT, LIST, SHORT, TagReader};
use crate::formats::grid::minecraft::paint::{Painter, Palettes};
use crate::formats::grid::minecraft::{MAX_VOLUME, WorldTags};
use crate::formats::io::warnings::NameCounts;
use crate::formats::{LoadedGrid, ReadError, content, excerpt};
use crate::grid::BRICK;

/// Reads a grid: a voxel for every block but air, in the colour of the block's name. A schematic of
/// stone only has no colours.
///
/// # Errors
/// Not a schematic of version 1 to 3, or a damaged one; no blocks; an impossible world position.
pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let schematic = unzip(input, "a Sponge schematic", |tags| {
        let mut schematic = Schematic { limit, ..Schematic::default() };
        schematic.take_all(tags, 0)?;
        Ok(schematic)
    })?;
    schematic.finish(limit)
}

/// The tags that say what the blocks are.
#[derive(Default)]
struct Schematic {
    version: Option<i32>,
    /// Width, height and length.
    size: [Option<u32>; 3],
    /// The blocks of the palette, and these by the number in the file.
    palette: Option<(Palettes, HashMap<u32, u16>)>,
    /// A variable-length integer for each block.
    data: Option<Vec<u8>>,
    world: WorldTags,
    ignored: NameCounts,
    /// Bytes of memory.
    limit: u64,
}

impl Schematic {
    /// Reads the tags of a compound, and of the nested compounds that hold blocks or metadata.
    /// `depth` is the nesting level: 0 at the root.
    fn take_all(&mut self, tags: &mut TagReader<impl Read>, depth: u32) -> Result<(), ReadError> {
        /// That of `Blocks` in `Schematic` in the root.
        const DEEPEST: u32 = 2;
        while let Some((tag, name)) = tags.next()? {
            match (tag, name.as_str()) {
                (COMPOUND, "Schematic" | "Blocks" | "Metadata") if depth < DEEPEST => {
                    self.take_all(tags, depth + 1)?;
                }
                (COMPOUND, "trivox") => self.world.take(tags)?,
                (INT, "Version") => self.version = Some(tags.int()?),
                (SHORT, "Width") => self.size[0] = Some(tags.short()?.into()),
                (SHORT, "Height") => self.size[1] = Some(tags.short()?.into()),
                (SHORT, "Length") => self.size[2] = Some(tags.short()?.into()),
                (COMPOUND, "Palette") => self.palette = Some(palette(tags)?),
                (BYTE_ARRAY, "Data" | "BlockData") => {
                    self.data = Some(tags.bytes_within(self.limit)?)
                }
                (LIST, "Entities" | "BlockEntities" | "TileEntities") => {
                    if tags.skip_list(0)? > 0 {
                        self.ignored.add(&name);
                    }
                }
                _ => tags.skip(tag, depth)?,
            }
        }
        Ok(())
    }

    fn finish(self, limit: u64) -> Result<LoadedGrid, ReadError> {
        match self.version {
            Some(1..=3) => {}
            Some(other) => {
                let supported = "only 1, 2 and 3";
                return Err(content(format!(
                    "schematic version {other} is not supported, {supported}"
                )));
            }
            None => return Err(content("not a Sponge schematic: it has no 'Version'")),
        }
        let world = self.world.world()?;
        let [Some(width), Some(height), Some(length)] = self.size else {
            return Err(content("a schematic needs 'Width', 'Height' and 'Length'"));
        };
        let (Some((kinds, numbers)), Some(data)) = (self.palette, self.data) else {
            return Err(content("the schematic has no blocks: 'Palette' or 'Data' is missing"));
        };
        let frame = Frame { width, height, length, up: world.up };
        if frame.dims().contains(&0) {
            return Err(content("a schematic needs at least one block along each axis"));
        }
        if check_dims(frame.dims()).is_err() {
            return Err(content(format!(
                "the size is {width}x{height}x{length} blocks, but at most {MAX_VOLUME} are read, \
                 empty ones too"
            )));
        }
        let mut painter = Painter::new(frame, &kinds, limit.saturating_sub(data.len() as u64));
        paint(&mut painter, [width, height, length], &numbers, &data)?;
        painter.finish(world, &self.ignored)
    }
}

/// Reads the palette.
fn palette(tags: &mut TagReader<impl Read>) -> Result<(Palettes, HashMap<u32, u16>), ReadError> {
    let (mut kinds, mut numbers) = (Palettes::default(), HashMap::new());
    while let Some((tag, name)) = tags.next()? {
        let number = match tag {
            INT => u32::try_from(tags.int()?).ok(),
            _ => None,
        };
        let refused = |what: &str| {
            content(format!("the block '{}' of the palette has {what}", excerpt(&name)))
        };
        let number = number.ok_or_else(|| refused("no number from 0"))?;
        if numbers.insert(number, kinds.add(&name)?).is_some() {
            return Err(refused("the number of another"));
        }
    }
    Ok((kinds, numbers))
}

/// Paints the blocks of `data`, a variable-length number each.
fn paint(
    painter: &mut Painter,
    [width, height, length]: [u32; 3],
    kinds: &HashMap<u32, u16>,
    data: &[u8],
) -> Result<(), ReadError> {
    let (area, height) = (u64::from(width) * u64::from(length), u64::from(height));
    let volume = area * height;
    let mut row = Vec::with_capacity(width as usize);
    let (mut at, mut number, mut shift) = (0_u64, 0_u32, 0);
    // The number of the block before, and its kind.
    let mut latest: Option<(u32, u16)> = None;
    let mut rest = data;
    while let Some((&byte, after)) = rest.split_first() {
        let uniform = uniform_row(rest, width as usize).and_then(|number| kinds.get(&number));
        if let (Some(&kind), true, 0) = (uniform, row.is_empty() && at < volume, shift) {
            row.resize(width as usize, kind);
            rest = &rest[width as usize..];
            at += u64::from(width);
        } else {
            rest = after;
            // Of the fifth byte four bits are left, and no byte follows it.
            if shift == 28 && byte > 0xf {
                return Err(content(format!("the number of block {at} has more than 32 bits")));
            }
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 != 0 {
                shift += 7;
                continue;
            }
            let kind = match latest {
                Some((same, kind)) if same == number => kind,
                _ => *kinds.get(&number).ok_or_else(|| {
                    content(format!("block {at} has the number {number}, not in the palette"))
                })?,
            };
            latest = Some((number, kind));
            (number, shift) = (0, 0);
            if at == volume {
                return Err(content(format!(
                    "there are more than the {volume} blocks of its size"
                )));
            }
            row.push(kind);
            at += 1;
        }
        if row.len() == width as usize {
            let before = at / u64::from(width) - 1;
            let [across, up] = [before % u64::from(length), before / u64::from(length)];
            painter.put_row([0, up as u32, across as u32], &row);
            row.clear();
            if at % (area * u64::from(BRICK)) == 0 {
                painter.drain()?;
            }
        }
    }
    if at < volume || shift != 0 {
        return Err(content(format!("there are {at} blocks, but its size is of {volume}")));
    }
    painter.drain()
}

/// The number of all blocks of the next row, if they have one, of one byte.
fn uniform_row(data: &[u8], width: usize) -> Option<u32> {
    let row = data.get(..width)?;
    let &first = row.first()?;
    (first < 0x80 && row.iter().all(|&byte| byte == first)).then_some(first.into())
}
