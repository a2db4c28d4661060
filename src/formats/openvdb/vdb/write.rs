//! Writing: nodes are counted first, so that it is known where each part lies, and then streamed.
//! Besides the grid that takes less than 2 MiB.

use std::io::{BufWriter, Write};

use super::{ACTIVE_MASK, BACKGROUND_ELSEWHERE, LEAF_MASK, LOWER_MASK, MAGIC, UPPER_MASK, VERSION};
use crate::formats::openvdb::record::{Record, put_bits};
use crate::formats::openvdb::tree::{Counts, Entry, Lower, Tree};
use crate::formats::openvdb::world::WorldFromIndex;
use crate::formats::openvdb::{NAME, TEXT};
use crate::formats::{WriteError, vox};
use crate::grid::{GridHash, Mask, VoxelGrid, count};

/// Floats in a tree of 8, 16 and 32 along each axis, stored as half floats.
const TYPE: &str = "Tree_float_5_4_3_HalfFloat";
/// The library's version that we write like.
const LIBRARY: [u32; 2] = [10, 0];
/// 1.0 as a half float.
const ONE: [u8; 2] = [0x00, 0x3c];
/// Most bytes of a leaf's buffer.
const MAX_BUFFER: usize = LEAF_MASK + 1 + 512 * ONE.len();
/// Bytes of a root's tile: its corner, its value, whether it is active.
const ROOT_TILE: u64 = 12 + 4 + 1;
/// Bytes of a root's child before the node itself: its corner.
const ROOT_CHILD: u64 = 12;

/// Writes `grid`.
///
/// # Errors
/// `out` fails; the grid lies nowhere.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    let tree = Tree::of(grid);
    let world_from_index = WorldFromIndex::of(grid)?;
    let mut out = BufWriter::with_capacity(1 << 18, out);
    out.write_all(&head(&tree, &world_from_index).0)?;
    write_topology(&tree, &mut out)?;
    tree.each_lower(|lower| write_buffers(lower, &mut out))?;
    Ok(out.flush()?)
}

/// All that comes before the tree.
fn head(tree: &Tree, world_from_index: &WorldFromIndex) -> Record {
    let mut head = Record::default();
    head.bytes(&MAGIC);
    head.u32(VERSION);
    head.each(LIBRARY, Record::u32);
    // The file says where its parts lie.
    head.bytes(&[1]);
    head.bytes(uuid(tree.grid.hash()).as_bytes());
    // No metadata of the file; one grid.
    head.each([0, 1], Record::u32);
    put_text(&mut head, NAME);
    put_text(&mut head, TYPE);
    // Its tree is not another grid's.
    put_text(&mut head, "");
    let grid = grid_head(tree, world_from_index);
    let begin = (head.0.len() + 3 * size_of::<u64>()) as u64;
    let buffers = begin + grid.0.len() as u64 + topology_bytes(tree);
    head.each([begin, buffers, buffers + buffer_bytes(&tree.counts)], Record::u64);
    head.bytes(&grid.0);
    head
}

/// Of the grid's content, so that files are the same where grids are: version 8 of RFC 9562, free
/// but for six bits.
fn uuid(hash: GridHash) -> String {
    let mut digits = hash.to_string().into_bytes();
    digits[12] = b'8';
    digits[16] = b'8';
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|group| String::from_utf8_lossy(&digits[group]).into_owned()).join("-")
}

fn grid_head(tree: &Tree, world_from_index: &WorldFromIndex) -> Record {
    let mut head = Record::default();
    head.u32(ACTIVE_MASK);
    put_metadata(&mut head, tree);
    put_transform(&mut head, world_from_index);
    // One buffer a leaf.
    head.u32(1);
    head
}

fn put_metadata(head: &mut Record, tree: &Tree) {
    let corner = |corner: [u32; 3]| corner.map(u32::to_le_bytes).concat();
    let [lo, hi] = tree.bounds().unwrap_or_default();
    let text = vox::describe(tree.grid);
    let entries: [(&str, &str, &[u8]); 8] = [
        ("class", "string", b"fog volume"),
        ("file_bbox_max", "vec3i", &corner(hi)),
        ("file_bbox_min", "vec3i", &corner(lo)),
        ("file_compression", "string", b"active values"),
        ("file_voxel_count", "int64", &tree.grid.occupied().to_le_bytes()),
        ("is_saved_as_half_float", "bool", &[1]),
        ("name", "string", NAME.as_bytes()),
        (TEXT, "string", text.as_bytes()),
    ];
    head.u32(entries.len() as u32);
    for (name, kind, value) in entries {
        put_text(head, name);
        put_text(head, kind);
        put_bytes(head, value);
    }
}

/// The shift, then what the library would else compute from the scale again.
fn put_transform(head: &mut Record, world_from_index: &WorldFromIndex) {
    let WorldFromIndex { scale, shift } = *world_from_index;
    put_text(head, "UniformScaleTranslateMap");
    head.each(shift, Record::f64);
    let voxel_size = scale;
    for number in [scale, voxel_size, 1.0 / scale, 1.0 / (scale * scale), 0.5 / scale] {
        head.each([number; 3], Record::f64);
    }
}

fn put_text(record: &mut Record, text: &str) {
    put_bytes(record, text.as_bytes());
}

fn put_bytes(record: &mut Record, bytes: &[u8]) {
    record.u32(bytes.len() as u32);
    record.bytes(bytes);
}

fn topology_bytes(tree: &Tree) -> u64 {
    let [uppers, tiles] = [tree.uppers().count() as u64, tree.tiles().count() as u64];
    let node = |mask: usize| 2 * mask as u64 + 1;
    let one = ONE.len() as u64;
    let Counts { lowers, leaves, leaf_tiles, lower_tiles, leaf_voxels: _ } = tree.counts;
    let root = 3 * size_of::<u32>() as u64 + tiles * ROOT_TILE;
    let uppers = uppers * (ROOT_CHILD + node(UPPER_MASK)) + lower_tiles * one;
    let lowers = lowers * node(LOWER_MASK) + leaf_tiles * one;
    root + uppers + lowers + leaves * LEAF_MASK as u64
}

fn buffer_bytes(counts: &Counts) -> u64 {
    counts.leaves * (LEAF_MASK as u64 + 1) + counts.leaf_voxels * ONE.len() as u64
}

fn write_topology(tree: &Tree, out: &mut dyn Write) -> std::io::Result<()> {
    const BACKGROUND: f32 = 0.0;
    let [uppers, tiles] = [tree.uppers().count() as u32, tree.tiles().count() as u32];
    let mut record = Record::default();
    record.f32(BACKGROUND);
    record.each([tiles, uppers], Record::u32);
    for tile in tree.tiles() {
        record.each(tile.origin(), Record::u32);
        record.f32(1.0);
        record.bytes(&[1]);
    }
    out.write_all(&record.0)?;
    tree.each_upper(|upper, slots| {
        record.0.clear();
        record.each(upper.origin(), Record::u32);
        put_node(&mut record, slots.entries());
        out.write_all(&record.0)?;
        tree.each_lower_of(upper, slots, |lower| {
            record.0.clear();
            put_node(&mut record, lower.entries());
            lower.leaves().for_each(|(_, mask)| record.each(*mask, Record::u64));
            out.write_all(&record.0)
        })
    })
}

/// Its masks, and the values of its tiles.
fn put_node(record: &mut Record, entries: impl Iterator<Item = Entry> + Clone) {
    put_bits(record, entries.clone().map(|entry| entry == Entry::Node));
    put_bits(record, entries.clone().map(|entry| entry == Entry::Full));
    record.bytes(&[BACKGROUND_ELSEWHERE]);
    entries.filter(|&entry| entry == Entry::Full).for_each(|_| record.bytes(&ONE));
}

fn write_buffers(lower: &Lower, out: &mut dyn Write) -> std::io::Result<()> {
    lower.leaves().try_for_each(|(_, mask)| {
        let (buffer, len) = buffer(mask);
        out.write_all(&buffer[..len])
    })
}

/// A leaf's buffer, and how long it is.
fn buffer(mask: &Mask) -> ([u8; MAX_BUFFER], usize) {
    let mut buffer = [0; MAX_BUFFER];
    let (head, values) = buffer.split_at_mut(LEAF_MASK + 1);
    head[LEAF_MASK] = BACKGROUND_ELSEWHERE;
    for (bytes, word) in head.as_chunks_mut::<8>().0.iter_mut().zip(mask) {
        *bytes = word.to_le_bytes();
    }
    let len = ONE.len() * count(mask) as usize;
    values[..len].as_chunks_mut().0.fill(ONE);
    (buffer, LEAF_MASK + 1 + len)
}
