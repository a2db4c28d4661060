//! Reading, level by level in file order. Children may be in any order, but all nodes of a level
//! must come before those of the next.

use std::io::{BufRead, Read};

use flate2::read::ZlibDecoder;

use super::{
    BLIND, CRC_DIGITS, CRC_LABEL, FLOAT, FOG_VOLUME, GRID, GRID_MAGICS, LEVEL_SET, MAGICS,
    MAJOR_VERSION, METADATA, NO_CHECKSUM, ROOT_ENTRY, Sizes, TREE, UNKNOWN_CLASS, VECTOR,
};
use crate::base::srgb::Rgba;
use crate::formats::grid::openvdb::blosc;
use crate::formats::grid::openvdb::channel::rgba_of;
use crate::formats::grid::openvdb::nodes::{
    Band, FoundGrid, NO_COLOR, Nodes, Rank, SelectedGrids, is_occupied,
};
use crate::formats::grid::openvdb::source::Source;
use crate::formats::grid::openvdb::tree::{
    LOWER, LOWER_WORDS, UPPER_BRICKS, UPPER_VOXELS, UPPER_WORDS, child_corner, set_indices,
};
use crate::formats::grid::openvdb::world::WorldFromIndex;
use crate::formats::grid::openvdb::{COLOR, DENSITY, TEXT};
use crate::formats::io::bytes::{u32_at, u64_at};
use crate::formats::{LoadedGrid, ReadError, content};
use crate::grid::{BRICK, FULL};

/// Bytes at the beginning of a grid that its checksum does not cover.
const UNCHECKED: usize = 16;
/// Version 32.6.0, the last in which the first half of the checksum also covers the root.
const LAST_WITH_ROOT: u32 = MAJOR_VERSION << 21 | 6 << 10;
/// Most bytes of the text field.
const MAX_TEXT: u64 = 1 << 12;

/// Reads the grid of floats named `density`, or else the first fog volume, or else the first level
/// set, of all segments of the file. Voxels are occupied if active and above 0; of a level set, if
/// below 0. Colours are those of the grid of vectors named `Cd`.
pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let mut source = Source::new(input);
    let mut found = SelectedGrids { limit, ..SelectedGrids::default() };
    let magic = source.array("the first 8 bytes: not a NanoVDB file")?;
    check_magic(magic, "not a NanoVDB file: it")?;
    read_segment(&mut source, &mut found)?;
    while let Some(first) = source.next_byte()? {
        let mut magic = [first; 8];
        source.fill(&mut magic[1..], "more bytes after the last grid")?;
        check_magic(magic, "there are more bytes after the last grid: what follows")?;
        read_segment(&mut source, &mut found)?;
    }
    found.into_grid("is a fog volume or a level set of floats")
}

fn check_magic(magic: [u8; 8], what: &str) -> Result<(), ReadError> {
    let is_known = MAGICS.contains(&magic);
    ensure!(is_known, "{what} begins with neither 'NanoVDB0' nor 'NanoVDB2'");
    Ok(())
}

/// Reads a segment after its magic: a head, and grids of one compression; `nanovdb_convert` writes
/// one for each grid.
fn read_segment(source: &mut Source, found: &mut SelectedGrids) -> Result<(), ReadError> {
    check_version(source)?;
    let [count, codec] = source.numbers(u16::from_le_bytes, "the head")?;
    let grids = (0..count).map(|_| GridHead::read(source));
    let grids: Vec<GridHead> = grids.collect::<Result<_, _>>()?;
    let best = grids.iter().filter_map(GridHead::rank).max();
    for grid in grids {
        let end = source.at().saturating_add(grid.file_bytes);
        let is_color = found.colors.is_none() && grid.is_color();
        if is_color || grid.rank() == best && best > found.best() {
            if !is_color {
                // Its memory is free for the better one.
                found.others.extend(found.chosen.take().map(|chosen| chosen.name));
            }
            let new = read_codec(source, codec, grid, found.left())?;
            found.add(new, is_color);
        } else {
            found.others.push(grid.name);
        }
        source.skip_to(end, "the next grid")?;
    }
    Ok(())
}

fn check_version(source: &mut Source) -> Result<(), ReadError> {
    let version = source.u32("the version")?;
    let [major, minor] = [version >> 21, version >> 10 & 0x7ff];
    let unsupported = format_args!(
        "version {major}.{minor} of the format is not supported, only {MAJOR_VERSION}"
    );
    source.ensure(major == MAJOR_VERSION, unsupported)
}

/// The metadata of a grid in the head of a segment.
struct GridHead {
    name: String,
    file_bytes: u64,
    kind: u32,
    class: u32,
}

impl GridHead {
    fn read(source: &mut Source) -> Result<Self, ReadError> {
        let record: [u8; METADATA] = source.array("what stands before a grid")?;
        let name = source.text_of(u32_at(&record, 136), "a grid's name")?;
        Ok(Self {
            name: name.trim_end_matches('\0').to_owned(),
            file_bytes: u64_at(&record, 8),
            kind: u32_at(&record, 32),
            class: u32_at(&record, 36),
        })
    }

    /// `None` for a grid that is not read.
    fn rank(&self) -> Option<Rank> {
        let is_read = matches!(self.class, UNKNOWN_CLASS | FOG_VOLUME | LEVEL_SET);
        let rank = [self.name == DENSITY, self.class != LEVEL_SET];
        (self.kind == FLOAT && is_read).then_some(rank)
    }

    fn is_color(&self) -> bool {
        self.kind == VECTOR && self.name == COLOR
    }
}

fn read_codec(
    source: &mut Source,
    codec: u16,
    head: GridHead,
    limit: u64,
) -> Result<FoundGrid, ReadError> {
    const ZIP: u16 = 1;
    const BLOSC: u16 = 2;
    match codec {
        0 => read_grid(source.take(head.file_bytes), head, limit),
        ZIP => {
            let bytes = source.u64("the grid")?;
            read_grid(ZlibDecoder::new(source.take(bytes)), head, limit)
        }
        BLOSC => read_grid(blosc::decoder(source.take(head.file_bytes)), head, limit),
        _ => bail!("compression {codec} is not supported"),
    }
}

fn read_grid(input: impl Read, head: GridHead, limit: u64) -> Result<FoundGrid, ReadError> {
    let source = Source::new(input);
    let (is_level_set, is_color) = (head.class == LEVEL_SET, head.is_color());
    let sizes = Sizes::of(if is_color { 3 } else { 1 });
    let mut reader = Reader { source, nodes: Nodes::within(limit), sizes, is_level_set, is_color };
    let mut grid = [0; GRID];
    let (unchecked, checked) = grid.split_at_mut(UNCHECKED);
    reader.source.fill(unchecked, "the grid")?;
    reader.source.start_crc();
    reader.source.fill(checked, "the grid")?;
    let [magic, version] = [&grid[..8], &grid[16..20]];
    ensure!(
        GRID_MAGICS.iter().any(|known| known == magic),
        "the grid begins with neither 'NanoVDB0' nor 'NanoVDB1'"
    );
    check_version(&mut Source::new(version))?;
    let [bytes, blind] = [32, 640].map(|at| u64_at(&grid, at));
    let world_from_index = world_from_index(&grid);
    reader.nodes.band = world_from_index.filter(|_| is_level_set).map(|of| Band::new(of.scale));
    reader.tree(&grid)?;
    let Reader { mut source, nodes, .. } = reader;
    let text = read_text(&mut source, blind, u32_at(&grid, 648))?;
    source.skip_to(bytes, "the grid's end")?;
    Ok(FoundGrid { name: head.name, nodes, text, world_from_index, is_level_set })
}

/// Checks the first half of a grid's checksum, which covers its header, if present.
fn check_head(grid: &[u8; GRID], crc: crc32fast::Hasher) -> Result<(), ReadError> {
    let [head, nodes] = [8, 12].map(|at| u32_at(grid, at));
    let is_absent = head == 0 || [head, nodes] == [NO_CHECKSUM; 2];
    if is_absent || head == crc.finalize() { Ok(()) } else { Err(damaged("the grid's head")) }
}

fn damaged(what: &str) -> ReadError {
    content(format!("the checksum of {what} is another: the file is damaged, copy it again"))
}

/// The transform by the map's matrix and translation in double precision.
fn world_from_index(grid: &[u8; GRID]) -> Option<WorldFromIndex> {
    let number = |at: usize| f64::from_bits(u64_at(grid, at));
    // Matrix, inverse and translation, after the same in single precision and a taper.
    let matrix = [0, 1, 2].map(|row| [0, 1, 2].map(|column| number(384 + 8 * (3 * row + column))));
    WorldFromIndex::of_matrix(matrix, [528, 536, 544].map(number))
}

/// Finds the text field among `count` blind records at `begin`.
fn read_text(source: &mut Source, begin: u64, count: u32) -> Result<Option<String>, ReadError> {
    const WHAT: &str = "blind data";
    if count == 0 {
        return Ok(None);
    }
    source.skip_to(begin, WHAT)?;
    let mut crc = source.crc();
    let mut found = None;
    for _ in 0..count {
        let at = source.at();
        let record: [u8; BLIND] = source.array(WHAT)?;
        let [offset, bytes] = [0, 8].map(|at| u64_at(&record, at));
        let name = record[32..].split(|&byte| byte == 0).next();
        if name == Some(TEXT.as_bytes()) && bytes <= MAX_TEXT {
            found = Some((at.saturating_add(offset), bytes));
        }
    }
    let Some((at, bytes)) = found else { return Ok(None) };
    source.skip_to(at, WHAT)?;
    let text = source.text_of(bytes as u32, WHAT)?;
    let Some((description, digits)) = text.rsplit_once(CRC_LABEL) else { return Ok(Some(text)) };
    crc.update(description.as_bytes());
    crc.update(CRC_LABEL.as_bytes());
    let is_same = digits == format!("{:0width$x}", crc.finalize(), width = CRC_DIGITS);
    if is_same { Ok(Some(description.to_owned())) } else { Err(damaged("the nodes")) }
}

#[derive(Clone, Copy)]
struct Child {
    /// Byte offset in the grid.
    at: u64,
    /// In bricks.
    corner: [i32; 3],
}

struct Reader<'a> {
    source: Source<'a>,
    nodes: Nodes,
    sizes: Sizes,
    /// Takes the voxels below 0, active or not, instead of the active ones above 0.
    is_level_set: bool,
    is_color: bool,
}

impl Reader<'_> {
    fn tree(&mut self, grid: &[u8; GRID]) -> Result<(), ReadError> {
        let tree: [u8; TREE] = self.source.array("the tree")?;
        let without_root = self.source.crc();
        let root = u64_at(&tree, 24).saturating_add(GRID as u64);
        let uppers = self.root(root)?;
        let is_after_tree = root == (GRID + TREE) as u64;
        match u32_at(grid, 16) {
            ..=LAST_WITH_ROOT if is_after_tree => check_head(grid, self.source.crc())?,
            ..=LAST_WITH_ROOT => {}
            _ => check_head(grid, without_root)?,
        }
        self.source.start_crc();
        let Sizes { upper, lower, leaf, .. } = self.sizes;
        let lowers =
            self.level(uppers, |reader, node| reader.node::<UPPER_WORDS>(node, upper, LOWER))?;
        let leaves =
            self.level(lowers, |reader, node| reader.node::<LOWER_WORDS>(node, lower, 1))?;
        let mut bytes = vec![0; leaf];
        self.level(leaves, |reader, leaf| reader.leaf(leaf, &mut bytes).map(|()| Vec::new()))?;
        Ok(())
    }

    /// Reads the nodes of a level, and returns their children.
    fn level(
        &mut self,
        mut nodes: Vec<Child>,
        mut read: impl FnMut(&mut Self, Child) -> Result<Vec<Child>, ReadError>,
    ) -> Result<Vec<Child>, ReadError> {
        nodes.sort_unstable_by_key(|node| node.at);
        let mut children = Vec::new();
        for &node in &nodes {
            self.source.skip_to(node.at, "a node")?;
            children.extend(read(self, node)?);
            // In lists that grow, or have grown.
            let listed = (2 * nodes.len() + 3 * children.len()) * size_of::<Child>();
            self.nodes.check_memory(listed as u64)?;
        }
        Ok(children)
    }

    fn root(&mut self, at: u64) -> Result<Vec<Child>, ReadError> {
        const WHAT: &str = "the root";
        self.source.skip_to(at, WHAT)?;
        let mut root = vec![0; self.sizes.root];
        self.source.fill(&mut root, WHAT)?;
        self.nodes.background = self.decode(&root[28..]).unwrap_or(NO_COLOR);
        self.nodes.outside(f32::from_bits(u32_at(&root, 28)).into());
        let mut children = Vec::new();
        for _ in 0..u32_at(&root, 24) {
            let entry: [u8; ROOT_ENTRY] = self.source.array(WHAT)?;
            let [key, child] = [0, 8].map(|at| u64_at(&entry, at));
            let corner = root_corner(key);
            let is_active = u32_at(&entry, 16) != 0 && child == 0;
            self.nodes.active_tiles(&[is_active.into()], UPPER_BRICKS);
            if child != 0 {
                children.push(Child { at: at.wrapping_add(child), corner });
                // The capacity is at most twice the length.
                self.nodes.check_memory(2 * size_of_val(&children[..]) as u64)?;
            } else if (is_active || self.is_level_set)
                && let Some(value) = self.decode(&entry[20..])
            {
                self.nodes.tile(corner, UPPER_BRICKS, value);
                self.nodes.check_tiles()?;
            }
        }
        Ok(children)
    }

    /// Reads a node of `bytes` with masks of `WORDS` words; adds its tiles, of `edge` bricks, and
    /// returns its children.
    fn node<const WORDS: usize>(
        &mut self,
        Child { at, corner }: Child,
        bytes: usize,
        edge: u32,
    ) -> Result<Vec<Child>, ReadError> {
        const WHAT: &str = "a node";
        let (mut tiles, mut nodes) = ([0; WORDS], [0; WORDS]);
        // Bounding box and flags.
        self.source.skip(32, WHAT)?;
        self.source.words(&mut tiles, WHAT)?;
        self.source.words(&mut nodes, WHAT)?;
        let entries = 64 * WORDS;
        let entry_bytes = self.sizes.entry;
        self.source.skip_to(at + (bytes - entry_bytes * entries) as u64, WHAT)?;
        let mut table = vec![0; entry_bytes * entries];
        self.source.fill(&mut table, WHAT)?;
        let entry = |n| &table[n as usize * entry_bytes..][..entry_bytes];
        let corner_of = |n| child_corner(corner, n, edge);
        tiles.iter_mut().zip(nodes).for_each(|(tiles, nodes)| *tiles &= !nodes);
        self.nodes.active_tiles(&tiles, edge);
        if self.is_level_set {
            tiles = nodes.map(|nodes| !nodes);
        }
        for n in set_indices(&tiles) {
            if let Some(value) = self.decode(entry(n)) {
                self.nodes.tile(corner_of(n), edge, value);
            }
        }
        self.nodes.check_tiles()?;
        let child = |n| Child { at: at.wrapping_add(u64_at(entry(n), 0)), corner: corner_of(n) };
        Ok(set_indices(&nodes).map(child).collect())
    }

    /// Reads a leaf, into a buffer `bytes` of a leaf's size.
    fn leaf(&mut self, leaf: Child, bytes: &mut [u8]) -> Result<(), ReadError> {
        self.source.fill(bytes, "a leaf")?;
        let value_bytes = self.sizes.value;
        let (head, values) = bytes.split_at(bytes.len() - 512 * value_bytes);
        let mut mask = std::array::from_fn(|x| u64_at(head, 16 + 8 * x));
        if let Some(band) = &mut self.nodes.band {
            let number = |n| f32::from_bits(u32_at(values, 4 * n as usize)).into();
            band.leaf(leaf.corner, &mask, set_indices(&mask).map(number))?;
        }
        if self.is_level_set {
            mask = FULL;
        }
        for n in set_indices(&mask.clone()) {
            match self.decode(&values[n as usize * value_bytes..]) {
                Some(color) if self.is_color => self.nodes.colors.push(color),
                Some(_) => {}
                None => mask[(n / 64) as usize] &= !(1 << (n % 64)),
            }
        }
        self.nodes.leaves.push((leaf.corner, mask));
        Ok(())
    }

    /// Decodes the value at the beginning of `bytes`; `None` outside.
    fn decode(&self, bytes: &[u8]) -> Option<Rgba> {
        let float = |n: usize| f32::from_bits(u32_at(bytes, 4 * n));
        if self.is_color {
            return Some(rgba_of([0, 1, 2].map(float)));
        }
        is_occupied(float(0).into(), self.is_level_set).then_some(NO_COLOR)
    }
}

/// The corner of a root entry, in bricks: 21 bits per axis, in upper nodes, of the unsigned voxel.
fn root_corner(key: u64) -> [i32; 3] {
    let voxel = |shift| ((key >> shift) as u32 & 0x1f_ffff).wrapping_mul(UPPER_VOXELS) as i32;
    [42, 21, 0].map(|shift| voxel(shift) / BRICK as i32)
}
