#![doc = include_str!("../../../docs/bricks.md")]

use std::io::{BufRead, BufWriter, Read, Write};

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::base::srgb::Rgba;
use crate::formats::io::bytes::fill;
use crate::formats::io::checked::Checked;
use crate::formats::{
    GridSpec, LoadedGrid, Out, ReadError, WriteError, check_memory, checked_place, content,
    excerpt, shortened,
};
use crate::grid::{BrickKey, Colors, FULL, Mask, Place, VoxelGrid, World, count, is_empty};

pub const SPEC: GridSpec = GridSpec {
    extension: "bricks",
    name: "raw bricks",
    carries: "up to 65,536 voxels per axis; position, voxel size and up axis; RGBA; all as in \
              memory, after a line of JSON",
    read: Some(|input, options| read(input, options.memory)),
    has_colors: true,
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

const FORMAT: &str = "trivox bricks";
const VERSION: u32 = 1;
const COLORED_VERSION: u32 = 2;
/// The placeholder for the CRC-32.
const NO_CRC: &str = "00000000";
/// Alignment of the data, in bytes.
const ALIGN: u64 = 64;
/// Longest header that is read, in bytes; `write` makes about 250.
const MAX_HEADER: u64 = 1 << 12;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    dims: [u32; 3],
    world: Option<WorldHeader>,
    bricks: u64,
    runs: u64,
    masks_at: u64,
    keys_at: u64,
    runs_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    colors: Option<ColorHeader>,
    /// The length of the file.
    bytes: u64,
    /// CRC-32 of the whole file with these digits as `0`; absent from older files.
    #[serde(skip_serializing_if = "Option::is_none")]
    crc32: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct ColorHeader {
    rest: Rgba,
    bricks: u64,
    own: u64,
    masks_at: u64,
    keys_at: u64,
    first_at: u64,
    own_at: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct WorldHeader {
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    voxel_size: Option<f64>,
    up: String,
}

impl Header {
    fn of(grid: &VoxelGrid, colors: Option<&Colors>) -> Self {
        let World { up, place } = grid.world;
        let world = (grid.world != World::default()).then(|| WorldHeader {
            origin: place.map(|place| place.origin),
            voxel_size: place.map(|place| place.voxel_size),
            up: up.name().to_owned(),
        });
        let colors = colors.map(|colors| ColorHeader {
            rest: colors.rest(),
            bricks: colors.bricks().count() as u64,
            own: colors.own_count(),
            ..ColorHeader::default()
        });
        let header = Self {
            format: FORMAT.to_owned(),
            version: if colors.is_some() { COLORED_VERSION } else { VERSION },
            dims: grid.dims(),
            world,
            bricks: grid.masks().len() as u64,
            runs: grid.full_runs().len() as u64,
            colors,
            crc32: Some(NO_CRC.to_owned()),
            ..Self::default()
        };
        header.with_offsets(MAX_HEADER)
    }

    /// Sets all offsets, from `masks_at` on.
    fn with_offsets(mut self, masks_at: u64) -> Self {
        let mut end = masks_at;
        let mut begin = |count: u64, size: u64| {
            let begin = end;
            end = end.saturating_add(count.saturating_mul(size));
            begin
        };
        self.masks_at = begin(self.bricks, 64);
        self.keys_at = begin(self.bricks, 8);
        self.runs_at = begin(self.runs, 16);
        if let Some(colors) = &mut self.colors {
            colors.masks_at = begin(colors.bricks, 64);
            colors.keys_at = begin(colors.bricks, 8);
            colors.first_at = begin(colors.bricks, 8);
            colors.own_at = begin(colors.own, 4);
        }
        self.bytes = end;
        self
    }

    /// Bytes of memory for reading: lists that grow, and the grid.
    fn memory(&self) -> u64 {
        let [mask, key, run] = [64, 8, 16];
        let bricks = self.bricks.saturating_mul(5 * mask + 3 * key);
        let grid = bricks.saturating_add(self.runs.saturating_mul(8 * run));
        let colors = self.colors.as_ref().map_or(0, |colors| {
            let bricks = colors.bricks.saturating_mul(5 * mask + 8 * key);
            bricks.saturating_add(colors.own.saturating_mul(3 * size_of::<Rgba>() as u64))
        });
        grid.saturating_add(colors)
    }

    /// The header line, padded to the alignment.
    fn line(self) -> Result<String, serde_json::Error> {
        // The final offsets have at most as many digits as those measured, so the line fits.
        let longest = serde_json::to_string(&self)?.len() as u64 + 1;
        let masks_at = longest.next_multiple_of(ALIGN);
        let line = serde_json::to_string(&self.with_offsets(masks_at))?;
        Ok(format!("{line:<width$}\n", width = masks_at as usize - 1))
    }

    fn world(&self) -> Result<World, ReadError> {
        let Some(WorldHeader { origin, voxel_size, up }) = &self.world else {
            return Ok(World::default());
        };
        let up = up.parse().map_err(|_| content("the header's 'up' is neither y nor z"))?;
        let place = match (*origin, *voxel_size) {
            (Some(origin), Some(voxel_size)) => Some(checked_place(Place { origin, voxel_size })?),
            (None, None) => None,
            _ => bail!("the header's 'world' needs both 'origin' and 'voxel_size'"),
        };
        Ok(World { up, place })
    }
}

/// Writes `grid`, in constant memory; the colours of empty voxels are left out, for which the
/// others are copied. The data is generated twice, first for the checksum.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let colors = grid.voxel_colors();
    let colors = colors.as_deref();
    let line = Header::of(grid, colors).line().map_err(std::io::Error::from)?;
    let mut checked = Checked::new(std::io::sink());
    let mut sink = BufWriter::with_capacity(1 << 16, &mut checked);
    sink.write_all(line.as_bytes())?;
    write_words(grid, colors, &mut sink)?;
    sink.flush()?;
    drop(sink);
    let line = line.replacen(&crc_field(NO_CRC), &crc_field(&digits(checked.crc())), 1);
    out.write_all(line.as_bytes())?;
    Ok(write_words(grid, colors, out)?)
}

fn digits(crc: Hasher) -> String {
    format!("{:08x}", crc.finalize())
}

fn crc_field(digits: &str) -> String {
    format!("\"crc32\":\"{digits}\"")
}

fn write_words(
    grid: &VoxelGrid,
    colors: Option<&Colors>,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let mut put = |word: u64| out.write_all(&word.to_le_bytes());
    grid.masks().as_flattened().iter().try_for_each(|&word| put(word))?;
    grid.keys().iter().try_for_each(|&key| put(key.packed()))?;
    grid.full_runs().try_for_each(|(start, len)| {
        put(start.packed())?;
        put(len.into())
    })?;
    colors.map_or(Ok(()), |colors| write_colors(colors, out))
}

fn write_colors(colors: &Colors, out: &mut impl Write) -> std::io::Result<()> {
    let mut put = |word: u64| out.write_all(&word.to_le_bytes());
    colors.bricks().try_for_each(|(_, mask, _)| mask.into_iter().try_for_each(&mut put))?;
    colors.bricks().try_for_each(|(key, ..)| put(key.packed()))?;
    let mut first = 0;
    for (.., own) in colors.bricks() {
        put(first)?;
        first += own.len() as u64;
    }
    colors.bricks().try_for_each(|(.., own)| out.write_all(own.as_flattened()))
}

pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let mut crc = Hasher::new();
    let header = read_header(input, &mut crc)?;
    check_memory(header.memory(), limit)?;
    let input = &mut Checked { crc: Some(crc), ..Checked::counted(input) };
    let mut masks: Vec<Mask> = Vec::new();
    for _ in 0..header.bricks {
        let mask = words(input, "the masks")?;
        let is_partial = !is_empty(&mask) && mask != FULL;
        ensure!(is_partial, "brick {} is empty or full", masks.len());
        masks.push(mask);
    }
    let mut bricks: Vec<(BrickKey, Mask)> = Vec::new();
    for mask in masks {
        let [key] = words(input, "the keys")?;
        bricks.push((next_key(key, bricks.last().map(|&(last, _)| last))?, mask));
    }
    let mut runs: Vec<(BrickKey, u32)> = Vec::new();
    for _ in 0..header.runs {
        let [key, len] = words(input, "the runs")?;
        let key = next_key(key, runs.last().map(|&(last, _)| last))?;
        let len = u32::try_from(len).ok().filter(|&len| len > 0);
        runs.push((key, len.ok_or_else(|| content("the length of a run is not possible"))?));
    }
    let colors = header.colors.as_ref().map(|header| read_colors(input, header)).transpose()?;
    ensure!(
        input.inner.fill_buf()?.is_empty(),
        "there are more than the {} bytes of the grid",
        header.bytes
    );
    let count = bricks.len() as u64 + runs.iter().map(|&(_, len)| u64::from(len)).sum::<u64>();
    let mut grid = VoxelGrid::from_bricks_and_runs(header.dims, bricks, runs)?;
    ensure!(grid.brick_count() == count, "some bricks are there twice");
    grid.world = header.world()?;
    if let Some(colors) = &colors {
        check_colors(&grid, colors)?;
    }
    grid.colors = colors;
    let found = digits(input.crc());
    if let Some(stated) = header.crc32.filter(|stated| *stated != found) {
        bail!(
            "the header says that the CRC-32 is {stated}, but it is {found}: the file is damaged, \
             copy it again"
        );
    }
    Ok(LoadedGrid::new(grid, Vec::new()))
}

fn read_colors(input: &mut dyn Read, header: &ColorHeader) -> Result<Colors, ReadError> {
    const WHAT: &str = "the colours";
    let mut masks: Vec<Mask> = Vec::new();
    for _ in 0..header.bricks {
        masks.push(words(input, WHAT)?);
    }
    let mut keys: Vec<BrickKey> = Vec::new();
    for _ in 0..header.bricks {
        let [key] = words(input, WHAT)?;
        keys.push(next_key(key, keys.last().copied())?);
    }
    let mut before = 0;
    for mask in &masks {
        let [first] = words(input, WHAT)?;
        let is_next = first == before && !is_empty(mask);
        ensure!(is_next, "the numbers of colours contradict one another");
        before += u64::from(count(mask));
    }
    ensure!(before == header.own, "the numbers of colours contradict one another");
    let mut colors = Colors::uniform(header.rest);
    let mut own = Vec::new();
    for (key, mask) in keys.into_iter().zip(masks) {
        own.resize(count(&mask) as usize, [0; 4]);
        fill(input, own.as_flattened_mut(), WHAT)?;
        colors.push(key, mask, &own);
    }
    Ok(colors)
}

fn check_colors(grid: &VoxelGrid, colors: &Colors) -> Result<(), ReadError> {
    for (key, mask, _) in colors.bricks() {
        let [x, y, z] = key.position();
        let mut words = mask.iter().zip(grid.mask_of(key));
        let is_inside = words.all(|(mask, voxels)| mask & !voxels == 0);
        ensure!(is_inside, "brick ({x}, {y}, {z}) has colours without a voxel");
    }
    Ok(())
}

fn read_header(input: &mut dyn BufRead, crc: &mut Hasher) -> Result<Header, ReadError> {
    let mut line = Vec::new();
    input.take(MAX_HEADER).read_until(b'\n', &mut line)?;
    let is_header = line.starts_with(b"{") && line.ends_with(b"\n");
    ensure!(is_header, "not a .bricks file, or cut off in its header");
    let text = String::from_utf8_lossy(&line);
    let header: Header = serde_json::from_str(&text).map_err(|error| {
        let error = shortened(&error.to_string(), 120);
        content(format!("the header is malformed: {error}: {}", excerpt(&text)))
    })?;
    let stated = header.crc32.as_deref().unwrap_or(NO_CRC);
    crc.update(text.replacen(&crc_field(stated), &crc_field(NO_CRC), 1).as_bytes());
    ensure!(header.format == FORMAT, "not a .bricks file: the header has another 'format'");
    ensure!(
        [VERSION, COLORED_VERSION].contains(&header.version),
        ".bricks version {} is not supported, only {VERSION} and {COLORED_VERSION}",
        header.version
    );
    ensure!(
        header.colors.is_some() == (header.version == COLORED_VERSION),
        "the header's 'version' and 'colors' contradict one another"
    );
    let expected = header.clone().with_offsets(line.len() as u64);
    ensure!(header == expected, "the header's offsets contradict one another");
    Ok(header)
}

/// Decodes a key, which must be greater than `last`.
fn next_key(word: u64, last: Option<BrickKey>) -> Result<BrickKey, ReadError> {
    let key = BrickKey::from_packed(word);
    key.filter(|key| last.is_none_or(|last| last < *key))
        .ok_or_else(|| content(format!("key {word} is not possible, or out of order")))
}

fn words<const N: usize>(input: &mut dyn Read, what: &str) -> Result<[u64; N], ReadError> {
    let mut bytes = [[0; 8]; N];
    fill(input, bytes.as_flattened_mut(), what)?;
    Ok(bytes.map(u64::from_le_bytes))
}
