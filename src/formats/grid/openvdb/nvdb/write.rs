//! Writing in two passes: nodes are counted first, which gives all offsets, then streamed. Takes
//! less than 2 MiB besides the grid.
//!
//! Statistics cover the occupied voxels, whose value is 1: minimum, maximum and mean are 1, and the
//! deviation 0. Colours have none. The checksum is NanoVDB's partial one, of all but the nodes.

use std::io::Write;

use super::{
    ALIGNMENT, BLIND, CRC_DIGITS, CRC_LABEL, FLOAT, FOG_VOLUME, GRID, INTEGER, LEVEL_SET, MAGIC,
    NO_CHECKSUM, ROOT_ENTRY, Sizes, TREE, UNKNOWN_CLASS, VECTOR, VERSION,
};
use crate::base::srgb::Rgba;
use crate::formats::grid::description::Description;
use crate::formats::grid::level_set::world_distance;
use crate::formats::grid::openvdb::TEXT;
use crate::formats::grid::openvdb::channel::{Channel, Entry, float};
use crate::formats::grid::openvdb::record::Record;
use crate::formats::grid::openvdb::tree::{Bounds, Tree, UPPER_VOXELS};
use crate::formats::grid::openvdb::world::{WorldFromIndex, diagonal};
use crate::formats::io::checked::Checked;
use crate::formats::{Out, WriteError};
use crate::grid::{BrickKey, Mask, VoxelGrid, is_empty, mask_places, run_bounds};

/// Grid flag: all nodes have bounding boxes.
const HAS_BOUNDS: u32 = 0b10;
/// Grid flags: nodes have minima, maxima, means and deviations.
const HAS_STATISTICS: u32 = 0b1_1100;
/// Grid flag: nodes are in breadth-first order.
const IS_BREADTH_FIRST: u32 = 0b10_0000;
/// Node flag: the node has a bounding box.
const NODE_FLAG: u8 = 2;
/// Minimum, maximum, mean and deviation of densities.
const STATISTICS: [f32; 4] = [1.0, 1.0, 1.0, 0.0];

/// Writes a file with one NanoVDB grid for each of `channels`.
pub fn write(grid: &VoxelGrid, channels: &[Channel], out: &mut Out) -> Result<(), WriteError> {
    let planned = channels.iter().map(|&channel| {
        let tree = Tree::of(grid, channel);
        Layout::of(&tree).map(|layout| (tree, layout))
    });
    let planned: Vec<(Tree, Layout)> = planned.collect::<Result<_, _>>()?;
    let mut head = Record::default();
    head.bytes(&MAGIC);
    head.u32(VERSION);
    // No codec.
    head.each([planned.len() as u16, 0], Record::u16);
    planned.iter().for_each(|(tree, layout)| put_description(&mut head, tree, layout));
    out.write_all(&head.0)?;
    planned.iter().try_for_each(|(tree, layout)| write_grid(tree, layout, out))?;
    Ok(())
}

fn write_grid(tree: &Tree, layout: &Layout, out: &mut dyn Write) -> std::io::Result<()> {
    out.write_all(&grid_head(tree, layout).0)?;
    let mut nodes = Checked::new(&mut *out);
    let mut uppers = Nodes::new(tree.channel, layout.uppers, layout.lowers, layout.sizes.lower);
    tree.each_upper(|upper, entries| nodes.write_all(uppers.next(upper.bounds, entries)))?;
    let mut lowers = Nodes::new(tree.channel, layout.lowers, layout.leaves, layout.sizes.leaf);
    tree.each_lower(|lower| nodes.write_all(lowers.next(lower.bounds, &lower.entries)))?;
    tree.each_lower(|lower| {
        lower.write_leaves(LEAVES, &mut nodes, |key, mask, record| {
            let begin = record.0.len();
            record.0.resize(begin + layout.sizes.leaf, 0);
            put_leaf(&mut record.0[begin..], tree.channel, layout.sizes, key, mask);
        })
    })?;
    let mut crc = nodes.crc();
    let Some(text) = &layout.text else { return Ok(()) };
    crc.update(text.as_bytes());
    let text = format!("{text}{:0width$x}", crc.finalize(), width = CRC_DIGITS);
    out.write_all(&blind_data(&text).0)
}

/// The numbers of nodes of each kind, and their byte offsets in the grid.
struct Layout {
    /// Leaves, lower and upper nodes.
    nodes: [u32; 3],
    /// Tiles in lower and upper nodes and in the root.
    tiles: [u32; 3],
    uppers: u64,
    lowers: u64,
    leaves: u64,
    blind: u64,
    end: u64,
    /// The text field without the digits of its CRC-32, in one grid per file.
    text: Option<String>,
    sizes: Sizes,
}

impl Layout {
    fn of(tree: &Tree) -> Result<Self, WriteError> {
        let counts = tree.counts;
        let uppers = tree.uppers().count() as u64;
        // Active ones only.
        let tiles = tree.tiles().filter(|tile| tile.entry == Entry::Full).count() as u64;
        let nodes = [counts.leaves, counts.lowers, uppers];
        let tiles = [counts.leaf_tiles, counts.lower_tiles, tiles];
        if nodes.iter().chain(&tiles).any(|&count| count > u32::MAX.into()) {
            let what = "the grid has more nodes than .nvdb can count: use a lower resolution";
            return Err(WriteError::Unsupported(what.into()));
        }
        let text = match tree.channel {
            Channel::Density | Channel::Distance(_) => {
                Some(Description::of(tree.grid).to_string() + CRC_LABEL)
            }
            Channel::Color(_) | Channel::Attribute(..) => None,
        };
        let sizes = Sizes::of(tree.channel.components());
        let root = (GRID + TREE + sizes.root + ROOT_ENTRY * tree.root.len()) as u64;
        let [leaf_bytes, lower_bytes, upper_bytes] =
            [sizes.leaf, sizes.lower, sizes.upper].map(|n| n as u64);
        let lowers = root + uppers * upper_bytes;
        let leaves = lowers + counts.lowers * lower_bytes;
        let blind = leaves + counts.leaves * leaf_bytes;
        let blind_bytes =
            |text: &String| BLIND + (text.len() + CRC_DIGITS).next_multiple_of(ALIGNMENT);
        Ok(Self {
            nodes: nodes.map(|count| count as u32),
            tiles: tiles.map(|count| count as u32),
            uppers: root,
            lowers,
            leaves,
            blind,
            end: blind + text.as_ref().map_or(0, blind_bytes) as u64,
            text,
            sizes,
        })
    }
}

/// The metadata of a grid in the file header.
fn put_description(head: &mut Record, tree: &Tree, layout: &Layout) {
    let name = tree.channel.name();
    let name_size = name.len() + 1;
    // In memory and in the file.
    head.each([layout.end; 2], Record::u64);
    head.u64(name_key(name));
    head.u64(tree.grid.occupied());
    let [kind, class] = kind_and_class(tree.channel);
    head.each([kind, class], Record::u32);
    put_world_bounds(head, tree);
    put_bounds(head, tree.bounds());
    head.each([tree.world_from_index().scale; 3], Record::f64);
    head.u32(name_size as u32);
    head.each(layout.nodes, Record::u32);
    // The root.
    head.u32(1);
    head.each(layout.tiles, Record::u32);
    // No codec, and padding.
    head.each([0, 0], Record::u16);
    head.u32(VERSION);
    head.padded(name.as_bytes(), name_size);
}

fn kind_and_class(channel: Channel) -> [u32; 2] {
    match channel {
        Channel::Density => [FLOAT, FOG_VOLUME],
        Channel::Attribute(of, _) if !of.is_float() => [INTEGER, UNKNOWN_CLASS],
        Channel::Attribute(of, _) if of.components() == 1 => [FLOAT, UNKNOWN_CLASS],
        Channel::Color(_) | Channel::Attribute(..) => [VECTOR, UNKNOWN_CLASS],
        Channel::Distance(_) => [FLOAT, LEVEL_SET],
    }
}

/// NanoVDB's hash of a name.
fn name_key(name: &str) -> u64 {
    name.bytes().fold(0_u64, |hash, byte| {
        hash.wrapping_mul(67).wrapping_add(u64::from(byte) + (hash >> 56))
    })
}

/// The grid header, the tree header and the root.
fn grid_head(tree: &Tree, layout: &Layout) -> Record {
    const TAPER: f64 = 1.0;
    let mut head = Record::default();
    head.bytes(&MAGIC);
    head.u64(0);
    head.u32(VERSION);
    let bounds = if tree.root.is_empty() { 0 } else { HAS_BOUNDS };
    let statistics = if let Channel::Density = tree.channel { HAS_STATISTICS } else { 0 };
    head.u32(bounds | statistics | IS_BREADTH_FIRST);
    // Grid 0 of 1: the grids of a file are independent.
    head.each([0, 1], Record::u32);
    head.u64(layout.end);
    head.padded(tree.channel.name().as_bytes(), 256);
    // The transform as matrix, inverse and translation: in single precision, then in double.
    let WorldFromIndex { scale, translation } = tree.world_from_index();
    let matrices = [scale, 1.0 / scale].map(|d| diagonal([d; 3]));
    let matrices = matrices.as_flattened().as_flattened();
    let numbers = || matrices.iter().copied().chain(translation).chain([TAPER]);
    numbers().for_each(|number| head.f32(number as f32));
    numbers().for_each(|number| head.f64(number));
    put_world_bounds(&mut head, tree);
    head.each([scale; 3], Record::f64);
    let [kind, class] = kind_and_class(tree.channel);
    head.each([class, kind], Record::u32);
    head.u64(layout.blind);
    // Blind records, and three unused fields.
    head.each([layout.text.iter().count() as u32, 0], Record::u32);
    head.each([0; 2], Record::u64);
    // The tree: offsets of leaves, lower nodes, upper nodes and the root, from here.
    let begins = [layout.leaves, layout.lowers, layout.uppers];
    for (begin, count) in begins.into_iter().zip(layout.nodes) {
        head.u64(if count > 0 { begin - GRID as u64 } else { 0 });
    }
    head.u64(TREE as u64);
    head.each(layout.nodes, Record::u32);
    head.each(layout.tiles, Record::u32);
    head.u64(tree.grid.occupied());
    put_root(&mut head, tree, layout);
    let checksum = crc32fast::hash(&head.0[16..]);
    head.0[8..12].copy_from_slice(&checksum.to_le_bytes());
    head.0[12..16].copy_from_slice(&NO_CHECKSUM.to_le_bytes());
    head
}

/// The world bounds of the occupied voxels, as cells rather than centres.
fn put_world_bounds(head: &mut Record, tree: &Tree) {
    let [lo, hi] = tree.bounds().map_or([[f64::MAX; 3], [f64::MIN; 3]], |[lo, hi]| {
        let lo = lo.map(|c| f64::from(c) - 0.5);
        let hi = hi.map(|c| f64::from(c) + 0.5);
        [lo, hi].map(|corner| tree.world_from_index().apply(corner))
    });
    head.each(lo, Record::f64);
    head.each(hi, Record::f64);
}

fn put_bounds(record: &mut Record, bounds: Option<Bounds>) {
    let none = [[i32::MAX; 3], [i32::MIN; 3]].map(|corner| corner.map(i32::cast_unsigned));
    bounds.unwrap_or(none).into_iter().for_each(|corner| record.each(corner, Record::u32));
}

fn put_root(head: &mut Record, tree: &Tree, layout: &Layout) {
    let channel = tree.channel;
    put_bounds(head, tree.bounds());
    head.u32(tree.root.len() as u32);
    head.f32s(&channel.background(float));
    match channel {
        Channel::Density if tree.root.is_empty() => head.each([0.0; 4], Record::f32),
        _ => put_statistics(head, channel),
    }
    head.align(ALIGNMENT);
    // The offset of the first child, from the root.
    let mut child = layout.uppers - (GRID + TREE) as u64;
    for upper in &tree.root {
        let [x, y, z] = upper.origin().map(|c| u64::from(c / UPPER_VOXELS));
        head.u64(x << 42 | y << 21 | z);
        let is_node = upper.entry == Entry::Node;
        head.u64(if is_node { child } else { 0 });
        head.u32((upper.entry == Entry::Full).into());
        if is_node {
            head.f32s(&channel.background(float));
            child += layout.sizes.upper as u64;
        } else {
            head.f32s(&channel.tile(float));
        }
        head.align(ALIGNMENT);
    }
}

fn put_statistics(record: &mut Record, channel: Channel) {
    match channel {
        Channel::Density => record.each(STATISTICS, Record::f32),
        // Minimum and maximum per component, mean and deviation: zero, and marked as not given.
        _ => record.f32s(&vec![0.0; 2 * channel.components() + 2]),
    }
}

/// A writer of the nodes of one level.
struct Nodes<'a> {
    channel: Channel<'a>,
    /// The offsets of the next node and of its next child.
    at: u64,
    child: u64,
    child_bytes: usize,
    record: Record,
}

impl<'a> Nodes<'a> {
    fn new(channel: Channel<'a>, at: u64, child: u64, child_bytes: usize) -> Self {
        Self { channel, at, child, child_bytes, record: Record::default() }
    }

    fn next(&mut self, bounds: Option<Bounds>, entries: &[Entry]) -> &[u8] {
        let record = &mut self.record;
        record.0.clear();
        put_bounds(record, bounds);
        record.u64(NODE_FLAG.into());
        record.mask(entries, |entry| entry == Entry::Full);
        record.mask(entries, |entry| entry == Entry::Node);
        put_statistics(record, self.channel);
        record.align(ALIGNMENT);
        let values = [self.channel.background(float), self.channel.tile(float)];
        let [background, tile] = values.map(|value| {
            let mut entry = Record::default();
            entry.f32s(&value);
            entry.align(8);
            entry.0
        });
        for entry in entries {
            match entry {
                Entry::Empty => record.bytes(&background),
                Entry::Full | Entry::Inside => record.bytes(&tile),
                Entry::Node => {
                    record.padded(&(self.child - self.at).to_le_bytes(), tile.len());
                    self.child += self.child_bytes as u64;
                }
            }
        }
        self.at += record.0.len() as u64;
        &record.0
    }
}

/// Leaves that are encoded at once, of at most 7 KiB each.
const LEAVES: usize = 32;

/// A leaf's bounding box, flag, mask, statistics and values.
fn put_leaf(leaf: &mut [u8], channel: Channel, sizes: Sizes, key: BrickKey, mask: &Mask) {
    let (head, values) = leaf.split_at_mut(sizes.leaf - 512 * sizes.value);
    // The origin is read from the box's minimum, also where no voxel is active.
    let is_active = !is_empty(mask);
    let [lo, hi] = if is_active { run_bounds(key, 1, mask) } else { [key.first_voxel(); 2] };
    head[..12].copy_from_slice(lo.map(u32::to_le_bytes).as_flattened());
    (0..3).for_each(|a| head[12 + a] = (hi[a] - lo[a]) as u8);
    head[15] = if is_active { NODE_FLAG } else { 0 };
    head[16..80].copy_from_slice(mask.map(u64::to_le_bytes).as_flattened());
    match channel {
        Channel::Density => {
            head[80..96].copy_from_slice(STATISTICS.map(f32::to_le_bytes).as_flattened());
            for (word, values) in mask.iter().zip(values.as_chunks_mut::<256>().0) {
                for (bit, value) in values.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    // 1.0 where the bit is set, without a branch.
                    *value = (((word >> bit) as u32 & 1) * 1.0_f32.to_bits()).to_le_bytes();
                }
            }
        }
        Channel::Color(colors) => {
            let light = |[r, g, b, _]: Rgba| [r, g, b].map(|value| float(value).to_le_bytes());
            let own = colors.of_brick(key);
            let (values, _) = values.as_chunks_mut::<12>();
            let background = light(colors.rest());
            values.iter_mut().for_each(|value| value.copy_from_slice(background.as_flattened()));
            for (x, bit) in mask_places(*mask) {
                let value = &mut values[(64 * x + bit) as usize];
                value.copy_from_slice(light(own.at(x, bit)).as_flattened());
            }
        }
        Channel::Attribute(of, attribute) => {
            let (own, count) = (attribute.of_brick(key), channel.components());
            for (slot, value) in (0..).zip(values.chunks_exact_mut(sizes.value)) {
                let (x, bit) = (slot / 64, slot % 64);
                let is_active = mask[x as usize] >> bit & 1 == 1;
                let bits = if is_active { own.at(x, bit) } else { of.none() };
                value.copy_from_slice(bits.map(u32::to_le_bytes)[..count].as_flattened());
            }
        }
        Channel::Distance(field) => {
            let distances = field.in_brick(key);
            for (slot, value) in (0..).zip(values.as_chunks_mut::<4>().0) {
                *value = world_distance(field, distances(slot / 64, slot % 64)).to_le_bytes();
            }
        }
    }
}

/// A blind record of characters, and the characters.
fn blind_data(text: &str) -> Record {
    let mut record = Record::default();
    // The text follows immediately.
    record.u64(BLIND as u64);
    record.u64(text.len() as u64);
    // Bytes of a character (flags before version 32.4); semantics, class and type are unknown.
    record.each([1, 0, 0, 0], Record::u32);
    record.padded(TEXT.as_bytes(), 256);
    record.bytes(text.as_bytes());
    record.align(ALIGNMENT);
    record
}
