//! Schematics of Minecraft: named binary tags, compressed by gzip, with the numbers of blocks in a
//! palette of names.
//!
//! In the game `y` is up: grids with `z` up are rotated, `(x, y, z)` to `(x, z, -y)`, without
//! mirroring. Blocks are in the order of `x`, then `z`, then `y`. A compound `trivox` in the
//! metadata holds the grid's corner in mesh coordinates, the voxel size and the mesh's up axis.
//!
//! A voxel becomes the one of 161 blocks, or of
//! [`WriteOptions::blocks`](crate::formats::WriteOptions::blocks), with the nearest colour in
//! Oklab, where lightness counts half, as [`palette`](crate::surface::palette) finds it, optionally
//! dithered. Of the 161, blocks that look alike give way to the one of most voxels.
//! [`WriteOptions::palette`](crate::formats::WriteOptions::palette) is ignored. In a grid without
//! colours it becomes stone, or the first of the blocks.
//!
//! Blocks of these names are read in their colours, others in grey, with a warning.

pub(crate) mod blocks;
mod frame;
mod kinds;
pub mod litematic;
mod nbt;
mod paint;
pub mod schem;

use std::io;

use self::blocks::{KNOWN, plain_name};
use self::frame::Frame;
use self::kinds::Kinds;
use self::nbt::{COMPOUND, DOUBLE, INT, LIST, STRING, TagReader, Tags};
use super::dense;
use crate::base::numbers::grouped;
use crate::formats::io::warnings::NameCounts;
use crate::formats::{
    GridFormat, ReadError, WriteError, WriteOptions, content, excerpt, lost_opacity, stated_place,
};
use crate::grid::{Colors, Place, Up, VoxelGrid, World};

/// Array lengths and volumes are signed 32-bit integers.
const MAX_VOLUME: u64 = i32::MAX as u64;

/// Voxels in blocks of Minecraft.
impl GridFormat {
    /// The width, height and length of `grid` in blocks of Minecraft, if voxels become blocks.
    #[must_use]
    pub fn blocks(self, grid: &VoxelGrid) -> Option<[u32; 3]> {
        self.has_blocks().then(|| Frame::new(grid).size)
    }

    /// The blocks that the voxels of `grid` become in Minecraft; `None` for other formats.
    #[must_use]
    pub fn block_list(self, grid: &VoxelGrid, options: &WriteOptions) -> Option<BlockList> {
        self.has_blocks().then(|| BlockList::of(grid, options))
    }

    fn has_blocks(self) -> bool {
        matches!(self, Self::Schem | Self::Litematic)
    }
}

/// The colours of the voxels of `grid` as blocks.
pub fn painted(grid: &VoxelGrid, options: &WriteOptions) -> Colors {
    Kinds::new(grid, options).painted(grid)
}

/// The blocks of a schematic.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockList {
    /// Names with their numbers of voxels, the most frequent first.
    pub counts: Vec<(String, u64)>,
    /// The first version of Minecraft with all known blocks of the list.
    pub game_version: &'static str,
    /// The names of those whose first version is not known.
    pub unknown: Vec<String>,
}

impl BlockList {
    fn of(grid: &VoxelGrid, options: &WriteOptions) -> Self {
        let kinds = Kinds::new(grid, options);
        let game_version = kinds.version().name;
        // Without air.
        let mut unknown = kinds.names[1..].to_vec();
        unknown.retain(|name| !KNOWN.contains_key(plain_name(name)));
        let counts = kinds.names.into_iter().zip(kinds.counts).skip(1).collect();
        Self { counts, game_version, unknown }
    }
}

/// Refuses more than `edge` blocks along an axis, or [`MAX_VOLUME`] in all.
fn check_dims(dims: [u32; 3], edge: u32) -> Result<(), WriteError> {
    let [x, y, z] = dims;
    if dims.iter().all(|&d| d <= edge) && dense::volume(dims) <= MAX_VOLUME {
        return Ok(());
    }
    Err(WriteError::Unsupported(format!(
        "a grid of {x}x{y}x{z} voxels is too large for a schematic, which has {} blocks an axis and \
         {} in all at most, empty ones too: lower the resolution",
        grouped(edge.into()),
        grouped(MAX_VOLUME)
    )))
}

fn lost(grid: &VoxelGrid, options: &WriteOptions) -> Vec<Option<String>> {
    let blocks = if options.dither { "a mixture of blocks" } else { "the nearest block" };
    let changed = grid.colors.as_ref().map(|_| format!("each colour becomes {blocks}"));
    vec![changed, lost_opacity(grid)]
}

/// Writes the compound `trivox`, of a schematic's metadata.
fn write_world(tags: &mut Tags, world: &World) -> io::Result<()> {
    tags.compound("trivox")?;
    if let Some(Place { origin, voxel_size }) = world.place {
        tags.doubles("Origin", origin)?;
        tags.put(DOUBLE, "VoxelSize", &voxel_size.to_be_bytes())?;
    }
    tags.string("Up", world.up.name())?;
    tags.end()
}

/// What schematics of both formats say besides their blocks.
#[derive(Default)]
struct Head {
    version: Option<i32>,
    origin: Option<[f64; 3]>,
    voxel_size: Option<f64>,
    up: Option<Up>,
    /// Lists of entities.
    ignored: NameCounts,
}

impl Head {
    /// Takes the value of a tag, or skips an unknown tag.
    fn take(
        &mut self,
        tags: &mut TagReader,
        (tag, name): (u8, &str),
        depth: u32,
    ) -> Result<(), ReadError> {
        match (tag, name) {
            (INT, "Version") => self.version = Some(tags.int()?),
            (COMPOUND, "trivox") => self.take_world(tags)?,
            (LIST, "Entities" | "BlockEntities" | "TileEntities") => {
                if tags.skip_list(0)? > 0 {
                    self.ignored.add(name);
                }
            }
            _ => tags.skip(tag, 1, depth)?,
        }
        Ok(())
    }

    /// Takes the tags of the compound `trivox`, to its end.
    fn take_world(&mut self, tags: &mut TagReader) -> Result<(), ReadError> {
        while let Some((tag, name)) = tags.next()? {
            match (tag, name.as_str()) {
                (LIST, "Origin") => self.origin = tags.doubles()?,
                (DOUBLE, "VoxelSize") => self.voxel_size = Some(tags.double()?),
                (STRING, "Up") => {
                    let up = tags.text()?;
                    let refused = |_| content(format!("'{}' cannot be up", excerpt(&up)));
                    self.up = Some(up.parse().map_err(refused)?);
                }
                _ => tags.skip(tag, 1, 0)?,
            }
        }
        Ok(())
    }

    /// The up axis and the place of a file that is `what`, of version 1 to `newest`, with warnings;
    /// without tags `y` is up, as in the game.
    fn world(&self, what: &str, newest: i32) -> Result<(World, Vec<String>), ReadError> {
        match self.version {
            None => bail!("not a {what}: it has no 'Version'"),
            Some(version) if !(1..=newest).contains(&version) => {
                bail!("version {version} of {what}s is not supported, only 1 to {newest}")
            }
            Some(_) => {}
        }
        let names = ["'Origin'", "'VoxelSize'"];
        let (place, half) = stated_place(self.origin, self.voxel_size, names)?;
        let ignored = self.ignored.warning("only blocks are read; skipped");
        let world = World { up: self.up.unwrap_or(Up::Y), place };
        Ok((world, half.into_iter().chain(ignored).collect()))
    }
}
