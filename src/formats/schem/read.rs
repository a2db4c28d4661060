//! Reading: schematics of versions 1 to 3, with the blocks in any order of tags.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::GzDecoder;

use super::blocks::{STONE, known_colors};
use super::nbt::{COMPOUND, DOUBLE, INT, LIST, SHORT, STRING, TagReader};
use super::{Frame, check_dims};
use crate::formats::brick_colors::{ColorRun, MaskColors, TOO_MANY_COLORS, colors};
use crate::formats::description::is_possible;
use crate::formats::tally::Tally;
use crate::formats::{LoadedGrid, ReadError, excerpt};
use crate::grid::{BRICK, BrickKey, FULL, Mask, Up, VoxelGrid, World};
use crate::srgb::Rgba;

/// The colour of blocks whose colour is not known.
const UNKNOWN: Rgba = [150, 150, 150, 255];
/// Blocks in which there is nothing.
const AIR: [&str; 4] = ["air", "cave_air", "void_air", "structure_void"];
/// Most kinds of blocks: the game has about 30,000 states.
const MAX_KINDS: usize = u16::MAX as usize - 1;

/// Reads a grid: a voxel for every block but air, in the colour of the block's name. A schematic of
/// stone only has no colours.
///
/// # Errors
/// Not a schematic of version 1 to 3, or a damaged one; no blocks; an impossible world position.
pub fn read(input: &mut dyn BufRead) -> Result<LoadedGrid, ReadError> {
    if input.fill_buf()?.first() != Some(&0x1f) {
        return Err(content("not a Sponge schematic: it is not compressed by gzip"));
    }
    let schematic = read_schematic(input).map_err(|error| match error {
        ReadError::Io(error) => match error.kind() {
            ErrorKind::UnexpectedEof => content("the file ends before its blocks do"),
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                content(format!("the file is damaged: {error}"))
            }
            _ => ReadError::Io(error),
        },
        other => other,
    })?;
    schematic.finish()
}

fn content(what: impl Into<String>) -> ReadError {
    ReadError::Content(what.into())
}

fn read_schematic(input: &mut dyn BufRead) -> Result<Schematic, ReadError> {
    let mut schematic = Schematic::default();
    let mut tags = TagReader { input: BufReader::new(GzDecoder::new(&mut *input)) };
    match tags.next()? {
        Some((COMPOUND, _)) => schematic.take_all(&mut tags)?,
        _ => return Err(content("not a Sponge schematic: it does not begin with a compound")),
    }
    // Reads to the end, where the checksum is.
    if io::copy(&mut tags.input, &mut io::sink())? > 0 || !input.fill_buf()?.is_empty() {
        return Err(content("there are more bytes after the schematic"));
    }
    Ok(schematic)
}

/// The tags that say what the blocks are.
#[derive(Default)]
struct Schematic {
    version: Option<i32>,
    /// Width, height and length.
    size: [Option<u32>; 3],
    /// Block names by number.
    palette: Option<HashMap<u32, String>>,
    /// A variable-length integer for each block.
    data: Option<Vec<u8>>,
    origin: Option<[f64; 3]>,
    voxel_size: Option<f64>,
    up: Option<Up>,
    ignored: Tally,
}

impl Schematic {
    /// Takes the tags of a compound, and of those in it that are ours to read.
    fn take_all(&mut self, tags: &mut TagReader<impl Read>) -> Result<(), ReadError> {
        while let Some((tag, name)) = tags.next()? {
            match (tag, name.as_str()) {
                (COMPOUND, "Schematic" | "Blocks" | "Metadata" | "trivox") => {
                    self.take_all(tags)?
                }
                (INT, "Version") => self.version = Some(tags.int()?),
                (SHORT, "Width") => self.size[0] = Some(tags.short()?.into()),
                (SHORT, "Height") => self.size[1] = Some(tags.short()?.into()),
                (SHORT, "Length") => self.size[2] = Some(tags.short()?.into()),
                (COMPOUND, "Palette") => self.palette = Some(palette(tags)?),
                (super::nbt::BYTE_ARRAY, "Data" | "BlockData") => self.data = Some(tags.bytes()?),
                (LIST, "Origin") => self.origin = tags.doubles()?,
                (DOUBLE, "VoxelSize") => self.voxel_size = Some(tags.double()?),
                (STRING, "Up") => {
                    self.up = Some(match tags.text()?.as_str() {
                        "y" => Up::Y,
                        "z" => Up::Z,
                        up => return Err(content(format!("'{}' cannot be up", excerpt(up)))),
                    });
                }
                (LIST, "Entities" | "BlockEntities" | "TileEntities") => {
                    if tags.skip_list(0)? > 0 {
                        self.ignored.add(&name);
                    }
                }
                _ => tags.skip(tag, 0)?,
            }
        }
        Ok(())
    }

    fn world(&self) -> Result<Option<World>, ReadError> {
        let (Some(origin), Some(voxel_size), Some(up)) = (self.origin, self.voxel_size, self.up)
        else {
            return Ok(None);
        };
        let world = World { origin, voxel_size, up };
        match is_possible(&world) {
            true => Ok(Some(world)),
            false => {
                Err(content(format!("a grid cannot lie at {origin:?} with voxels of {voxel_size}")))
            }
        }
    }

    fn finish(self) -> Result<LoadedGrid, ReadError> {
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
        let world = self.world()?;
        let [Some(width), Some(height), Some(length)] = self.size else {
            return Err(content("a schematic needs 'Width', 'Height' and 'Length'"));
        };
        let (Some(palette), Some(data)) = (self.palette, self.data) else {
            return Err(content("the schematic has no blocks: 'Palette' or 'Data' is missing"));
        };
        let frame = Frame { width, height, length, up: world.map_or(Up::default(), |w| w.up) };
        let mut warnings = Vec::new();
        warnings.extend(self.ignored.warning("only blocks are read; skipped"));
        let kinds = Kinds::new(&palette)?;
        let painted = Painter::new(frame, &kinds)?.paint(&data)?;
        let mut grid = painted.grid()?;
        grid.world = world;
        if kinds.has_colors() {
            let runs = painted.bricks.iter().map(PaintedBricks::run);
            match colors(&grid, runs, UNKNOWN) {
                Some(colors) => grid.colors = Some(colors),
                None => warnings.push(format!("colours are ignored: {TOO_MANY_COLORS}")),
            }
            let mut unknown = Tally::default();
            let used = kinds.unknown.iter().filter(|&&(kind, _)| painted.used[usize::from(kind)]);
            used.for_each(|(_, name)| unknown.add(name));
            warnings.extend(unknown.warning("blocks whose colour is not known are grey"));
        }
        Ok(LoadedGrid { grid, warnings })
    }
}

/// Block names by number.
fn palette(tags: &mut TagReader<impl Read>) -> Result<HashMap<u32, String>, ReadError> {
    let mut palette = HashMap::new();
    while let Some((tag, name)) = tags.next()? {
        let number = match tag {
            INT => u32::try_from(tags.int()?).ok(),
            _ => None,
        };
        let shown = excerpt(&name);
        let number = number.ok_or_else(|| {
            content(format!("the block '{shown}' of the palette has no number from 0"))
        })?;
        if palette.insert(number, name).is_some() || palette.len() > MAX_KINDS {
            return Err(content(format!(
                "the block '{shown}' of the palette has the number of another, or is one of more than \
                 {MAX_KINDS}"
            )));
        }
    }
    Ok(palette)
}

/// The blocks of a palette, by number.
struct Kinds {
    /// By the number in the file; 0 is air, otherwise an index into `colors` and 1.
    kinds: HashMap<u32, u16>,
    colors: Vec<Rgba>,
    is_stone: bool,
    /// The kinds whose colours are not known, and their names.
    unknown: Vec<(u16, String)>,
}

impl Kinds {
    fn new(palette: &HashMap<u32, String>) -> Result<Self, ReadError> {
        let known = known_colors();
        let (mut kinds, mut colors) = (HashMap::new(), Vec::new());
        let (mut unknown, mut is_stone) = (Vec::new(), true);
        let mut numbers: Vec<_> = palette.iter().collect();
        numbers.sort_unstable();
        for (&number, name) in numbers {
            let name = plain_name(name);
            if AIR.contains(&name) {
                kinds.insert(number, 0);
                continue;
            }
            is_stone &= name == STONE;
            let color = known.get(name).copied();
            colors.push(color.unwrap_or(UNKNOWN));
            // At most `MAX_KINDS`.
            let kind = colors.len() as u16;
            if color.is_none() {
                unknown.push((kind, name.to_owned()));
            }
            kinds.insert(number, kind);
        }
        Ok(Self { kinds, colors, is_stone, unknown })
    }

    fn has_colors(&self) -> bool {
        !self.is_stone
    }
}

/// A block's name without namespace and properties, such as `oak_stairs` of
/// `minecraft:oak_stairs[facing=east]`.
fn plain_name(name: &str) -> &str {
    let name = name.split('[').next().unwrap_or_default();
    name.strip_prefix("minecraft:").unwrap_or(name)
}

/// The kinds of the blocks of one brick by [`Painter::slot`]; 0 is air.
type BrickKinds = [u16; 512];

/// Puts blocks, in file order, into bricks: eight heights at a time.
struct Painter<'a> {
    frame: Frame,
    dims: [u32; 3],
    kinds: &'a Kinds,
    /// The bricks of the current eight heights.
    slab: HashMap<BrickKey, Box<BrickKinds>>,
    bricks: Vec<PaintedBricks>,
}

/// Bricks along `x` with the same blocks.
struct PaintedBricks {
    start: BrickKey,
    len: u32,
    mask: Mask,
    colors: BrickPaint,
}

enum BrickPaint {
    All(Rgba),
    Each(Vec<Rgba>),
}

impl PaintedBricks {
    fn run(&self) -> ColorRun<'_> {
        let Self { start, len, mask, colors } = self;
        let colors = match colors {
            BrickPaint::All(color) => MaskColors::All(*color),
            BrickPaint::Each(colors) => MaskColors::Each(colors),
        };
        ColorRun { start: *start, len: *len, mask, colors }
    }
}

/// All bricks, in canonical order.
struct Painted {
    dims: [u32; 3],
    /// Whether there is a block of each kind.
    used: Vec<bool>,
    bricks: Vec<PaintedBricks>,
}

impl Painted {
    fn grid(&self) -> Result<VoxelGrid, ReadError> {
        let (full, others): (Vec<_>, Vec<_>) =
            self.bricks.iter().partition(|bricks| bricks.mask == FULL);
        let others = others.iter().map(|bricks| (bricks.start, bricks.mask)).collect();
        let full = full.iter().map(|bricks| (bricks.start, bricks.len)).collect();
        Ok(VoxelGrid::from_bricks_and_runs(self.dims, others, full)?)
    }
}

impl<'a> Painter<'a> {
    fn new(frame: Frame, kinds: &'a Kinds) -> Result<Self, ReadError> {
        let dims = frame.dims();
        if dims.contains(&0) {
            return Err(content("a schematic needs at least one block along each axis"));
        }
        check_dims(dims).map_err(|error| content(error.to_string()))?;
        Ok(Self { frame, dims, kinds, slab: HashMap::new(), bricks: Vec::new() })
    }

    fn paint(mut self, data: &[u8]) -> Result<Painted, ReadError> {
        let Frame { width, height, length, .. } = self.frame;
        let area = u64::from(width) * u64::from(length);
        let volume = area * u64::from(height);
        let (mut at, mut number, mut shift) = (0_u64, 0_u32, 0);
        // The number of the block before, and its kind.
        let mut latest: Option<(u32, u16)> = None;
        let mut used = vec![false; self.kinds.colors.len() + 1];
        for &byte in data {
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 != 0 {
                shift += 7;
                if shift > 28 {
                    return Err(content(format!("the number of block {at} is too long")));
                }
                continue;
            }
            let kind = match latest {
                Some((same, kind)) if same == number => kind,
                _ => *self.kinds.kinds.get(&number).ok_or_else(|| {
                    content(format!("block {at} has the number {number}, not in the palette"))
                })?,
            };
            latest = Some((number, kind));
            used[usize::from(kind)] = true;
            (number, shift) = (0, 0);
            if at == volume {
                return Err(content(format!(
                    "there are more than the {volume} blocks of its size"
                )));
            }
            if kind != 0 {
                self.put(at, kind);
            }
            at += 1;
            if at % (area * u64::from(BRICK)) == 0 {
                self.drain();
            }
        }
        if at < volume || shift != 0 {
            return Err(content(format!("there are {at} blocks, but its size is of {volume}")));
        }
        self.drain();
        self.bricks.sort_unstable_by_key(|bricks| bricks.start);
        Ok(Painted { dims: self.dims, used, bricks: self.bricks })
    }

    fn put(&mut self, at: u64, kind: u16) {
        let [width, length] = [self.frame.width, self.frame.length].map(u64::from);
        // Each is below its dimension.
        let [x, across, up] =
            [at % width, at / width % length, at / width / length].map(|c| c as u32);
        let voxel = self.frame.grid_from_game([x, up, across]);
        let key = BrickKey::new(voxel.map(|c| c / BRICK));
        let kinds = self.slab.entry(key).or_insert_with(|| Box::new([0; 512]));
        kinds[Self::slot(voxel)] = kind;
    }

    /// The index of a voxel in its brick, in the order of mask words and of bits within a word.
    fn slot(voxel: [u32; 3]) -> usize {
        let [x, y, z] = voxel.map(|c| c % BRICK);
        (64 * x + 8 * y + z) as usize
    }

    fn drain(&mut self) {
        let mut slab: Vec<_> = self.slab.drain().collect();
        slab.sort_unstable_by_key(|&(key, _)| key);
        for (start, kinds) in slab {
            let mut mask: Mask = [0; 8];
            for (word, kinds) in mask.iter_mut().zip(kinds.chunks_exact(64)) {
                *word = (0..).zip(kinds).fold(0, |word, (bit, &k)| word | u64::from(k != 0) << bit);
            }
            let occupied = || kinds.iter().filter(|&&kind| kind != 0);
            let color = |&kind: &u16| self.kinds.colors[usize::from(kind) - 1];
            // A brick is there because it has a block.
            let first = occupied().next().map_or(UNKNOWN, color);
            let is_one = occupied().all(|kind| color(kind) == first);
            let colors = match is_one {
                true => BrickPaint::All(first),
                false => BrickPaint::Each(occupied().map(color).collect()),
            };
            match self.bricks.last_mut() {
                Some(PaintedBricks {
                    start: before,
                    len,
                    mask: FULL,
                    colors: BrickPaint::All(same),
                }) if mask == FULL && is_one && *same == first && before.along_x(*len) == start => {
                    *len += 1;
                }
                _ => self.bricks.push(PaintedBricks { start, len: 1, mask, colors }),
            }
        }
    }
}
