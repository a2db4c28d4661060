//! Puts the blocks of a schematic into bricks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::blocks::{AIR, STONE, known_colors};
use super::frame::Frame;
use crate::base::srgb::Rgba;
use crate::formats::grid::brick_colors::{ColorRun, MaskColors, TOO_MANY_COLORS, colors};
use crate::formats::io::warnings::NameCounts;
use crate::formats::{LoadedGrid, ReadError, check_memory, content, excerpt, shortened};
use crate::grid::{BRICK, BrickKey, FULL, Mask, VoxelGrid, World, brick_slot};

/// The colour of blocks whose colour is not known.
const UNKNOWN: Rgba = [150, 150, 150, 255];
/// Most kinds of blocks: the game has about 30,000 states.
const MAX_KINDS: usize = u16::MAX as usize - 1;

/// Bytes of memory for a brick: in a list that grows, and in the grid.
const BRICK_BYTES: u64 = 3 * size_of::<ColorRun>() as u64 + 96;
/// Bytes of memory for the colour of a voxel: here, and in the list of the grid as it grows.
const COLOR_BYTES: u64 = 4 * 4;

/// The kinds of blocks in a schematic's palettes.
pub(super) struct Palettes {
    known: HashMap<&'static str, Rgba>,
    /// By kind, which counts from 1; 0 is air.
    colors: Vec<Rgba>,
    /// Likewise, shortened.
    names: Vec<String>,
    is_stone: bool,
    /// The kinds whose colours are not known.
    unknown: Vec<u16>,
}

impl Default for Palettes {
    fn default() -> Self {
        let (colors, names, unknown) = (Vec::new(), Vec::new(), Vec::new());
        Self { known: known_colors(), colors, names, is_stone: true, unknown }
    }
}

impl Palettes {
    /// The kind of the next block of a palette, from its name; 0 is air.
    ///
    /// # Errors
    /// One of more than 65,534.
    pub(super) fn add(&mut self, full_name: &str) -> Result<u16, ReadError> {
        let name = plain_name(full_name);
        if AIR.contains(&name) {
            return Ok(0);
        }
        if self.colors.len() == MAX_KINDS {
            return Err(content(format!("there are more than {MAX_KINDS} kinds of blocks")));
        }
        self.is_stone &= name == STONE;
        let color = self.known.get(name).copied();
        self.colors.push(color.unwrap_or(UNKNOWN));
        self.names.push(shortened(full_name, 255));
        // At most `MAX_KINDS`.
        let kind = self.colors.len() as u16;
        if color.is_none() {
            self.unknown.push(kind);
        }
        Ok(kind)
    }
}

/// A block's name without namespace and properties, such as `oak_stairs` of
/// `minecraft:oak_stairs[facing=east]`.
fn plain_name(name: &str) -> &str {
    let name = name.split('[').next().unwrap_or_default();
    name.strip_prefix("minecraft:").unwrap_or(name)
}

/// The kinds of the blocks of one brick by [slot](brick_slot); 0 is air.
type BrickKinds = [u16; 512];

/// Puts blocks into bricks, eight heights at a time.
pub(super) struct Painter<'a> {
    frame: Frame,
    palettes: &'a Palettes,
    /// The bricks of the current eight heights.
    slice: HashMap<BrickKey, Box<BrickKinds>>,
    /// Bricks along `x` with the same blocks.
    bricks: Vec<ColorRun<'static>>,
    /// The number of blocks of each kind.
    counts: Vec<u64>,
    /// Bytes of memory that the bricks take, and may take.
    bytes: u64,
    limit: u64,
}

impl<'a> Painter<'a> {
    /// In a `frame` of dimensions that a grid may have, and at most `limit` bytes of memory.
    pub(super) fn new(frame: Frame, palettes: &'a Palettes, limit: u64) -> Self {
        let counts = vec![0; palettes.colors.len() + 1];
        Self { frame, palettes, slice: HashMap::new(), bricks: Vec::new(), counts, bytes: 0, limit }
    }

    /// Puts a row of blocks along the width, from a place along the width, height and length on; air
    /// changes nothing.
    pub(super) fn put_row(&mut self, [x0, up, across]: [u32; 3], row: &[u16]) {
        let mut rest = row;
        let mut x = x0;
        while !rest.is_empty() {
            let in_brick = rest.len().min((BRICK - x % BRICK) as usize);
            let kinds;
            (kinds, rest) = rest.split_at(in_brick);
            if kinds.iter().any(|&kind| kind != 0) {
                let voxel = self.frame.grid_from_game([x, up, across]);
                let brick = self.slice.entry(BrickKey::of_voxel(voxel));
                let brick = brick.or_insert_with(|| Box::new([0; 512]));
                for (n, &kind) in (0..).zip(kinds).filter(|&(_, &kind)| kind != 0) {
                    let [x, y, z] = voxel;
                    brick[brick_slot([x + n, y, z])] = kind;
                }
            }
            x += in_brick as u32;
        }
    }

    /// Ends the current eight heights.
    ///
    /// # Errors
    /// The bricks take more memory than they may.
    pub(super) fn drain(&mut self) -> Result<(), ReadError> {
        let mut slice: Vec<_> = self.slice.drain().collect();
        slice.sort_unstable_by_key(|&(key, _)| key);
        for (start, kinds) in slice {
            let mut mask: Mask = [0; 8];
            for (word, kinds) in mask.iter_mut().zip(kinds.chunks_exact(64)) {
                *word = (0..).zip(kinds).fold(0, |word, (bit, &k)| word | u64::from(k != 0) << bit);
            }
            let occupied = || kinds.iter().filter(|&&kind| kind != 0);
            occupied().for_each(|&kind| self.counts[usize::from(kind)] += 1);
            let color = |&kind: &u16| self.palettes.colors[usize::from(kind) - 1];
            // A brick is there because it has a block.
            let first = occupied().next().map_or(UNKNOWN, color);
            let is_one = occupied().all(|kind| color(kind) == first);
            let colors = if is_one {
                MaskColors::All(first)
            } else {
                MaskColors::Each(occupied().map(color).collect())
            };
            match self.bricks.last_mut() {
                Some(ColorRun {
                    start: before,
                    len,
                    mask: FULL,
                    colors: MaskColors::All(same),
                }) if mask == FULL && is_one && *same == first && before.along_x(*len) == start => {
                    *len += 1;
                }
                _ => {
                    let own = if is_one { 0 } else { occupied().count() as u64 };
                    self.bytes += BRICK_BYTES + COLOR_BYTES * own;
                    self.bricks.push(ColorRun { start, len: 1, mask, colors });
                }
            }
        }
        check_memory(self.bytes, self.limit)
    }

    /// The grid, at `world`, with a warning if something was `ignored`.
    ///
    /// # Errors
    /// The frame's dimensions are not possible.
    pub(super) fn finish(
        mut self,
        world: World,
        ignored: &NameCounts,
    ) -> Result<LoadedGrid, ReadError> {
        self.bricks.sort_unstable_by_key(|bricks| bricks.start);
        let mut grid = self.grid()?;
        grid.world = world;
        let mut warnings = Vec::from_iter(ignored.warning("only blocks are read; skipped"));
        if !self.palettes.is_stone {
            match colors(&grid, self.bricks.iter().map(ColorRun::borrowed), UNKNOWN) {
                Some(colors) => grid.colors = Some(colors),
                None => warnings.push(format!("colours are ignored: {TOO_MANY_COLORS}")),
            }
            let mut unknown = NameCounts::default();
            let all = self.palettes.unknown.iter().map(|&kind| usize::from(kind));
            let used = all.filter(|&kind| self.counts[kind] > 0);
            used.for_each(|kind| unknown.add(&excerpt(plain_name(&self.palettes.names[kind - 1]))));
            warnings.extend(unknown.warning("blocks whose colour is not known are grey"));
        }
        Ok(LoadedGrid { blocks: self.block_counts(), ..LoadedGrid::new(grid, warnings) })
    }

    /// The names of the blocks and their numbers, the most frequent first.
    fn block_counts(&self) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, count) in self.palettes.names.iter().zip(&self.counts[1..]) {
            *counts.entry(name).or_default() += count;
        }
        counts.retain(|_, count| *count > 0);
        let mut counts: Vec<_> = counts.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
        counts.sort_by_key(|&(_, count)| Reverse(count));
        counts
    }

    fn grid(&self) -> Result<VoxelGrid, ReadError> {
        let (full, others): (Vec<_>, Vec<_>) =
            self.bricks.iter().partition(|bricks| bricks.mask == FULL);
        let others = others.iter().map(|bricks| (bricks.start, bricks.mask)).collect();
        let full = full.iter().map(|bricks| (bricks.start, bricks.len)).collect();
        Ok(VoxelGrid::from_bricks_and_runs(self.frame.dims(), others, full)?)
    }
}
