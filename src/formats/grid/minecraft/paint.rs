//! Puts the blocks of a schematic into bricks.

use std::collections::HashMap;

use super::blocks::{AIR, STONE, known_colors};
use super::frame::Frame;
use crate::base::srgb::Rgba;
use crate::formats::grid::brick_colors::{ColorRun, OwnedColors, TOO_MANY_COLORS, colors};
use crate::formats::io::tally::Tally;
use crate::formats::{LoadedGrid, ReadError, content, excerpt};
use crate::grid::{BrickKey, FULL, Mask, VoxelGrid, World, brick_slot};

/// The colour of blocks whose colour is not known.
const UNKNOWN: Rgba = [150, 150, 150, 255];
/// Most kinds of blocks: the game has about 30,000 states.
const MAX_KINDS: usize = u16::MAX as usize - 1;

/// The kinds of blocks in a schematic's palettes.
pub(super) struct Palettes {
    known: HashMap<String, Rgba>,
    /// By kind, which counts from 1; 0 is air.
    colors: Vec<Rgba>,
    is_stone: bool,
    /// The kinds whose colours are not known, and their names, shortened.
    unknown: Vec<(u16, String)>,
}

impl Palettes {
    pub(super) fn new() -> Self {
        Self { known: known_colors(), colors: Vec::new(), is_stone: true, unknown: Vec::new() }
    }

    /// The kind of the next block of a palette, from its name; 0 is air.
    ///
    /// # Errors
    /// One of more than 65,534.
    pub(super) fn add(&mut self, name: &str) -> Result<u16, ReadError> {
        let name = plain_name(name);
        if AIR.contains(&name) {
            return Ok(0);
        }
        if self.colors.len() == MAX_KINDS {
            return Err(content(format!("there are more than {MAX_KINDS} kinds of blocks")));
        }
        self.is_stone &= name == STONE;
        let color = self.known.get(name).copied();
        self.colors.push(color.unwrap_or(UNKNOWN));
        // At most `MAX_KINDS`.
        let kind = self.colors.len() as u16;
        if color.is_none() {
            self.unknown.push((kind, excerpt(name)));
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
    slab: HashMap<BrickKey, Box<BrickKinds>>,
    bricks: Vec<PaintedBricks>,
    /// Whether there is a block of each kind.
    used: Vec<bool>,
}

/// Bricks along `x` with the same blocks.
struct PaintedBricks {
    start: BrickKey,
    len: u32,
    mask: Mask,
    colors: OwnedColors,
}

impl PaintedBricks {
    fn run(&self) -> ColorRun<'_> {
        let Self { start, len, mask, colors } = self;
        ColorRun { start: *start, len: *len, mask, colors: colors.as_slice() }
    }
}

impl<'a> Painter<'a> {
    /// In a `frame` of dimensions that a grid may have.
    pub(super) fn new(frame: Frame, palettes: &'a Palettes) -> Self {
        let used = vec![false; palettes.colors.len() + 1];
        Self { frame, palettes, slab: HashMap::new(), bricks: Vec::new(), used }
    }

    /// Puts a block at its place along the width, height and length; air changes nothing.
    pub(super) fn put(&mut self, place: [u32; 3], kind: u16) {
        if kind == 0 {
            return;
        }
        let voxel = self.frame.grid_from_game(place);
        let key = BrickKey::of_voxel(voxel);
        let kinds = self.slab.entry(key).or_insert_with(|| Box::new([0; 512]));
        kinds[brick_slot(voxel)] = kind;
        self.used[usize::from(kind)] = true;
    }

    /// Ends the current eight heights.
    pub(super) fn drain(&mut self) {
        let mut slab: Vec<_> = self.slab.drain().collect();
        slab.sort_unstable_by_key(|&(key, _)| key);
        for (start, kinds) in slab {
            let mut mask: Mask = [0; 8];
            for (word, kinds) in mask.iter_mut().zip(kinds.chunks_exact(64)) {
                *word = (0..).zip(kinds).fold(0, |word, (bit, &k)| word | u64::from(k != 0) << bit);
            }
            let occupied = || kinds.iter().filter(|&&kind| kind != 0);
            let color = |&kind: &u16| self.palettes.colors[usize::from(kind) - 1];
            // A brick is there because it has a block.
            let first = occupied().next().map_or(UNKNOWN, color);
            let is_one = occupied().all(|kind| color(kind) == first);
            let colors = match is_one {
                true => OwnedColors::All(first),
                false => OwnedColors::Each(occupied().map(color).collect()),
            };
            match self.bricks.last_mut() {
                Some(PaintedBricks {
                    start: before,
                    len,
                    mask: FULL,
                    colors: OwnedColors::All(same),
                }) if mask == FULL && is_one && *same == first && before.along_x(*len) == start => {
                    *len += 1;
                }
                _ => self.bricks.push(PaintedBricks { start, len: 1, mask, colors }),
            }
        }
    }

    /// The grid, at `world`, with a warning if something was `ignored`.
    ///
    /// # Errors
    /// The frame's dimensions are not possible.
    pub(super) fn finish(mut self, world: World, ignored: &Tally) -> Result<LoadedGrid, ReadError> {
        self.bricks.sort_unstable_by_key(|bricks| bricks.start);
        let mut grid = self.grid()?;
        grid.world = world;
        let mut warnings = Vec::from_iter(ignored.warning("only blocks are read; skipped"));
        if !self.palettes.is_stone {
            match colors(&grid, self.bricks.iter().map(PaintedBricks::run), UNKNOWN) {
                Some(colors) => grid.colors = Some(colors),
                None => warnings.push(format!("colours are ignored: {TOO_MANY_COLORS}")),
            }
            let mut unknown = Tally::default();
            let all = self.palettes.unknown.iter();
            let used = all.filter(|&&(kind, _)| self.used[usize::from(kind)]);
            used.for_each(|(_, name)| unknown.add(name));
            warnings.extend(unknown.warning("blocks whose colour is not known are grey"));
        }
        Ok(LoadedGrid::new(grid, warnings))
    }

    fn grid(&self) -> Result<VoxelGrid, ReadError> {
        let (full, others): (Vec<_>, Vec<_>) =
            self.bricks.iter().partition(|bricks| bricks.mask == FULL);
        let others = others.iter().map(|bricks| (bricks.start, bricks.mask)).collect();
        let full = full.iter().map(|bricks| (bricks.start, bricks.len)).collect();
        Ok(VoxelGrid::from_bricks_and_runs(self.frame.dims(), others, full)?)
    }
}
