//! Puts the blocks of a schematic into bricks.

use std::collections::HashMap;

use super::blocks::{AIR, KNOWN, STONE, plain_name};
use super::frame::Frame;
use crate::base::srgb::Rgba;
use crate::formats::grid::brick_colors::{COLOR_BYTES, ColorRun, MaskColors, RUN_BYTES, colors};
use crate::formats::io::bytes::Budget;
use crate::formats::io::warnings::NameCounts;
use crate::formats::{LoadedGrid, ReadError, shortened};
use crate::grid::{BRICK, BrickKey, FULL, Mask, World, bits_of_bytes, brick_slot, count, in_order};

/// The colour of blocks whose colour is not known.
const UNKNOWN: Rgba = [150, 150, 150, 255];
/// Most kinds of blocks: the game has about 30,000 states.
const MAX_KINDS: usize = u16::MAX as usize - 1;

/// Bytes of memory for a brick of the current eight heights: its kinds, and in two lists that grow.
const SLICE_BYTES: u64 = 1024 + 192;

/// Bytes of memory for a kind of blocks besides its name: in a map and lists that grow.
const KIND_BYTES: u64 = 160;

/// The kinds of blocks in a schematic's palettes.
#[derive(Default)]
pub(super) struct Palettes {
    /// By kind, which counts from 1; 0 is air.
    colors: Vec<Rgba>,
    /// The kinds by their names, shortened.
    kinds: HashMap<String, u16>,
    /// Whether a block is not stone.
    has_colors: bool,
}

impl Palettes {
    /// The kind of the next block of a palette, from its name; 0 is air.
    pub(super) fn add(&mut self, full_name: &str, memory: &mut Budget) -> Result<u16, ReadError> {
        let name = plain_name(full_name);
        if AIR.contains(&name) {
            return Ok(0);
        }
        // Names that differ only past what is shown have the same colour.
        let shown = shortened(full_name, 255);
        if let Some(&kind) = self.kinds.get(&shown) {
            return Ok(kind);
        }
        ensure!(self.colors.len() < MAX_KINDS, "there are more than {MAX_KINDS} kinds of blocks");
        self.has_colors |= name != STONE;
        self.colors.push(KNOWN.get(name).map_or(UNKNOWN, |&(color, _)| color));
        // At most `MAX_KINDS`.
        let kind = self.colors.len() as u16;
        memory.take(shown.capacity() as u64 + KIND_BYTES)?;
        self.kinds.insert(shown, kind);
        Ok(kind)
    }
}

/// The kinds of the blocks of one brick by [slot](brick_slot); 0 is air.
type BrickKinds = [u16; 512];

/// Puts blocks into bricks, eight heights at a time.
pub(super) struct Painter<'a> {
    frame: Frame,
    palettes: &'a Palettes,
    /// The bricks of the current eight heights.
    slice: Vec<(BrickKey, Box<BrickKinds>)>,
    /// Their indices.
    indices: HashMap<BrickKey, usize>,
    /// The first brick of the latest row, and the known indices of the row's bricks: eight rows in
    /// turn share their bricks.
    latest: (BrickKey, Vec<Option<usize>>),
    /// Bricks along `x` with the same blocks.
    bricks: Vec<ColorRun<'static>>,
    /// The number of blocks of each kind.
    counts: Vec<u64>,
    /// The file and the bricks take a part of it.
    memory: Budget,
}

impl<'a> Painter<'a> {
    /// In a `frame` of dimensions that a grid may have; the file takes a part of the `memory`.
    pub(super) fn new(frame: Frame, palettes: &'a Palettes, memory: Budget) -> Self {
        Self {
            frame,
            palettes,
            slice: Vec::new(),
            indices: HashMap::new(),
            latest: (BrickKey::default(), Vec::new()),
            bricks: Vec::new(),
            counts: vec![0; palettes.colors.len() + 1],
            memory,
        }
    }

    /// Puts a row of blocks along the width, from a place along the width, height and length on;
    /// air changes nothing.
    pub(super) fn put_row(&mut self, at: [u32; 3], row: &[u16]) -> Result<(), ReadError> {
        let [x0, y, z] = self.frame.grid_from_game(at);
        let first = BrickKey::of_voxel([x0, y, z]);
        if self.latest.0 != first {
            self.latest.0 = first;
            self.latest.1.clear();
        }
        let (mut x, mut rest) = (x0, row);
        while !rest.is_empty() {
            let in_brick = (BRICK - x % BRICK) as usize;
            let (kinds, after) = rest.split_at(in_brick.min(rest.len()));
            if kinds.iter().fold(0, |any, kind| any | kind) != 0 {
                let index = self.index_of((x / BRICK - x0 / BRICK) as usize)?;
                let brick = &mut self.slice[index].1;
                let slots = (brick_slot([x, y, z])..).step_by(brick_slot([1, 0, 0]));
                for (slot, &kind) in slots.zip(kinds).filter(|&(_, &kind)| kind != 0) {
                    brick[slot] = kind;
                }
            }
            (x, rest) = (x + kinds.len() as u32, after);
        }
        Ok(())
    }

    /// The index of the `n`-th brick from the first of the latest row on.
    fn index_of(&mut self, n: usize) -> Result<usize, ReadError> {
        let (first, latest) = &mut self.latest;
        if latest.len() <= n {
            latest.resize(n + 1, None);
        }
        if let Some(index) = latest[n] {
            return Ok(index);
        }
        let key = first.along_x(n as u32);
        let index = *self.indices.entry(key).or_insert(self.slice.len());
        latest[n] = Some(index);
        if index == self.slice.len() {
            self.slice.push((key, Box::new([0; 512])));
            self.memory.check(self.slice.len() as u64 * SLICE_BYTES)?;
        }
        Ok(index)
    }

    /// Ends the current eight heights.
    pub(super) fn drain(&mut self) -> Result<(), ReadError> {
        self.indices.clear();
        self.latest.1.clear();
        let mut slice = std::mem::take(&mut self.slice);
        slice.sort_unstable_by_key(|&(key, _)| key);
        let left = (0..slice.len() as u64).rev();
        for ((start, kinds), left) in slice.into_iter().zip(left) {
            let mut mask: Mask = [0; 8];
            for (word, kinds) in mask.iter_mut().zip(kinds.as_chunks::<64>().0) {
                for (n, kinds) in kinds.as_chunks::<8>().0.iter().enumerate() {
                    let bytes = kinds.map(|kind| u8::from(kind != 0));
                    *word |= bits_of_bytes(u64::from_le_bytes(bytes)) << (8 * n);
                }
            }
            let occupied = || kinds.iter().filter(|&&kind| kind != 0);
            let color = |&kind: &u16| self.palettes.colors[usize::from(kind) - 1];
            // A brick is there because it has a block.
            let kind = *occupied().next().unwrap_or(&1);
            // Without an early exit, so that the loop is vectorized.
            let is_kind = kinds.iter().fold(true, |all, &k| all & ((k == kind) | (k == 0)));
            let run = if is_kind {
                self.counts[usize::from(kind)] += u64::from(count(&mask));
                ColorRun { start, len: 1, mask, colors: MaskColors::All(color(&kind)) }
            } else {
                occupied().for_each(|&kind| self.counts[usize::from(kind)] += 1);
                ColorRun::of_brick(start, mask, occupied().map(color).collect())
            };
            if mask == FULL && self.bricks.last_mut().is_some_and(|last| last.extend(&run)) {
                continue;
            }
            self.memory.used += RUN_BYTES + COLOR_BYTES * run.own_count();
            self.memory.check(left * SLICE_BYTES)?;
            self.bricks.push(run);
        }
        Ok(())
    }

    /// The grid, at `world`, with these and other warnings.
    pub(super) fn finish(
        mut self,
        world: World,
        mut warnings: Vec<String>,
    ) -> Result<LoadedGrid, ReadError> {
        self.bricks.sort_unstable_by_key(|bricks| bricks.start);
        let mut grid = in_order(self.frame.dims(), world, &[()], |(), out| {
            self.bricks.iter().for_each(|bricks| out.push(bricks.start, bricks.len, &bricks.mask));
        });
        let mut blocks = self.block_counts();
        if self.palettes.has_colors {
            let runs = self.bricks.iter().map(ColorRun::borrowed);
            // The file has each block.
            grid.colors = Some(colors(&grid, runs, UNKNOWN, self.memory, u64::MAX)?);
            let mut unknown = NameCounts::default();
            let names = blocks.iter().map(|(name, _)| plain_name(name));
            names.filter(|name| !KNOWN.contains_key(name)).for_each(|name| unknown.add(name));
            warnings.extend(unknown.warning("blocks whose colour is not known are grey"));
        }
        blocks.sort_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
        Ok(LoadedGrid { blocks, ..LoadedGrid::new(grid, warnings) })
    }

    /// The names of the blocks and their numbers, by kind.
    fn block_counts(&self) -> Vec<(String, u64)> {
        let mut names: Vec<(&String, &u16)> = self.palettes.kinds.iter().collect();
        names.sort_by_key(|&(_, kind)| kind);
        let counts = names.into_iter().map(|(name, &kind)| (name, self.counts[usize::from(kind)]));
        let used = counts.filter(|&(_, count)| count > 0);
        used.map(|(name, count)| (name.clone(), count)).collect()
    }
}
