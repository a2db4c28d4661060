//! Writing in two passes: nodes are counted first, which gives all offsets, then streamed. Takes
//! less than 2 MiB besides the grid.

use std::io::Write;

use bytemuck::{NoUninit, bytes_of, cast_slice};
use half::f16;

use super::values::{ACTIVE_MASK, BACKGROUND_ELSEWHERE, SELECTED_BACKGROUND};
use super::{MAGIC, VERSION};
use crate::formats::grid::description::Description;
use crate::formats::grid::level_set::world_distance;
use crate::formats::grid::openvdb::TEXT;
use crate::formats::grid::openvdb::channel::{Channel, Entry, HALVES, rounded};
use crate::formats::grid::openvdb::record::Record;
use crate::formats::grid::openvdb::tree::{Counts, LOWER_WORDS, Tree, UPPER_WORDS};
use crate::formats::grid::openvdb::world::WorldFromIndex;
use crate::formats::{Out, WriteError};
use crate::grid::Channel::{Scalar, Vector};
use crate::grid::{BrickKey, Mask, VoxelGrid, VoxelValues, count, mask_places};

/// The library version that the file claims.
const LIBRARY: [u32; 2] = [10, 0];
/// 1.0 as a half float, for each voxel of a leaf.
const ONES: [[u8; 2]; 512] = [[0x00, 0x3c]; 512];
/// Bytes of a half float.
const HALF: u64 = 2;
/// Bytes of a float.
const WHOLE: u64 = 4;
/// Bytes of the minimum corner of a child or tile of the root: three 32-bit integers.
const CORNER: u64 = 12;

/// Writes a file with one OpenVDB grid for each of `channels`.
pub fn write(grid: &VoxelGrid, channels: &[Channel], out: &mut Out) -> Result<(), WriteError> {
    let mut head = Record::default();
    head.bytes(&MAGIC);
    head.u32(VERSION);
    head.each(LIBRARY, Record::u32);
    // The file has offsets.
    head.bytes(&[1]);
    head.bytes(uuid(hash_of(grid, channels)).as_bytes());
    // No metadata of the file.
    head.each([0, channels.len() as u32], Record::u32);
    out.write_all(&head.0)?;
    let mut at = head.0.len() as u64;
    for &channel in channels {
        at = write_grid(&Tree::of(grid, channel), at, out)?;
    }
    Ok(())
}

/// Writes a grid that begins at byte `at`. Returns its end.
fn write_grid(tree: &Tree, at: u64, out: &mut dyn Write) -> std::io::Result<u64> {
    let mut descriptor = Record::default();
    put_text(&mut descriptor, tree.channel.name());
    // A tree with 8, 16 and 32 children along each axis.
    let kind = match tree.channel {
        Channel::Density => "Tree_float_5_4_3_HalfFloat",
        Channel::Color(_) => "Tree_vec3s_5_4_3_HalfFloat",
        Channel::Attribute(of, _) if of.components() > 1 => "Tree_vec3s_5_4_3",
        Channel::Attribute(of, _) if !of.is_float() => "Tree_int32_5_4_3",
        Channel::Attribute(..) | Channel::Distance(_) => "Tree_float_5_4_3",
    };
    put_text(&mut descriptor, kind);
    // No parent: the tree is not shared.
    put_text(&mut descriptor, "");
    let head = grid_head(tree);
    let begin = at + (descriptor.0.len() + 3 * size_of::<u64>()) as u64;
    let buffers = begin + head.0.len() as u64 + topology_bytes(tree);
    let end = buffers + buffer_bytes(tree);
    descriptor.each([begin, buffers, end], Record::u64);
    out.write_all(&descriptor.0)?;
    out.write_all(&head.0)?;
    write_topology(tree, out)?;
    tree.each_lower(|lower| {
        lower.write_leaves(LEAVES, out, |key, mask, buffer| {
            put_buffer(buffer, tree.channel, key, mask)
        })
    })?;
    Ok(end)
}

/// A UUID from a hash of the content, so that files are reproducible: version 8 of RFC 9562, custom
/// but for six bits.
fn uuid(digits: String) -> String {
    let mut digits = digits.into_bytes();
    digits[12] = b'8';
    digits[16] = b'8';
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|group| String::from_utf8_lossy(&digits[group]).into_owned()).join("-")
}

/// A hash of the voxels and of the values of `channels`.
fn hash_of(grid: &VoxelGrid, channels: &[Channel]) -> String {
    match channels {
        [Channel::Density] => return grid.hash().to_string(),
        [Channel::Distance(field)] => return field.hash().to_string(),
        _ => {}
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(grid.hash().to_string().as_bytes());
    for channel in channels {
        match *channel {
            Channel::Density | Channel::Distance(_) => {}
            Channel::Color(colors) => hash_values(colors, &mut hasher),
            Channel::Attribute(_, Scalar(values)) => hash_values(values, &mut hasher),
            Channel::Attribute(_, Vector(values)) => hash_values(values, &mut hasher),
        }
    }
    hasher.finalize().to_hex().to_string()
}

fn hash_values<T: NoUninit + Sync>(values: &VoxelValues<T>, hasher: &mut blake3::Hasher) {
    hasher.update(bytes_of(&values.rest()));
    for (key, mask, own) in values.bricks() {
        hasher.update(bytes_of(&key.position()));
        hasher.update(bytes_of(&mask));
        hasher.update(cast_slice(own));
    }
}

/// The compression, the metadata and the transform of a grid.
fn grid_head(tree: &Tree) -> Record {
    let corner = |corner: [u32; 3]| corner.map(u32::to_le_bytes).concat();
    let [lo, hi] = tree.bounds().unwrap_or_default();
    let text = Description::of(tree.grid).to_string();
    let (class, last): (_, (&str, &[u8])) = match tree.channel {
        Channel::Density => ("fog volume", (TEXT, text.as_bytes())),
        // A transform of the grid does not transform its values.
        Channel::Color(_) | Channel::Attribute(..) => ("unknown", ("vector_type", b"invariant")),
        Channel::Distance(_) => ("level set", (TEXT, text.as_bytes())),
    };
    let is_half = u8::from(storage(tree.channel).0 == HALF);
    let entries: [(&str, &str, &[u8]); 8] = [
        ("class", "string", class.as_bytes()),
        ("file_bbox_max", "vec3i", &corner(hi)),
        ("file_bbox_min", "vec3i", &corner(lo)),
        ("file_compression", "string", b"active values"),
        ("file_voxel_count", "int64", &tree.grid.occupied().to_le_bytes()),
        ("is_saved_as_half_float", "bool", &[is_half]),
        ("name", "string", tree.channel.name().as_bytes()),
        (last.0, "string", last.1),
    ];
    let mut head = Record::default();
    head.each([ACTIVE_MASK, entries.len() as u32], Record::u32);
    for (name, kind, value) in entries {
        put_text(&mut head, name);
        put_text(&mut head, kind);
        put_text(&mut head, value);
    }
    let WorldFromIndex { scale, translation } = tree.world_from_index();
    put_text(&mut head, "UniformScaleTranslateMap");
    head.each(translation, Record::f64);
    // The scale, the voxel size, and values that the library derives from them.
    for number in [scale, scale, 1.0 / scale, 1.0 / (scale * scale), 0.5 / scale] {
        head.each([number; 3], Record::f64);
    }
    // One buffer a leaf.
    head.u32(1);
    head
}

/// A text or other bytes, after their number.
fn put_text(record: &mut Record, text: impl AsRef<[u8]>) {
    record.u32(text.as_ref().len() as u32);
    record.bytes(text.as_ref());
}

/// Bytes of a float in a node, and the number of a node's masks: active values and children, and
/// the values outside a level set.
fn storage(channel: Channel) -> (u64, u64) {
    match channel {
        Channel::Density | Channel::Color(_) => (HALF, 2),
        Channel::Attribute(..) => (WHOLE, 2),
        Channel::Distance(_) => (WHOLE, 3),
    }
}

fn topology_bytes(tree: &Tree) -> u64 {
    let [uppers, tiles] = [tree.uppers().count() as u64, tree.tiles().count() as u64];
    let (stored, masks) = storage(tree.channel);
    let node = |words: usize| masks * 8 * words as u64 + 1;
    let [whole, half] = [WHOLE, stored].map(|bytes| bytes * tree.channel.components() as u64);
    let Counts { lowers, leaves, leaf_tiles, lower_tiles, .. } = tree.counts;
    // A tile of the root has a corner, a value, and a byte that says whether it is active.
    let root = whole + 2 * size_of::<u32>() as u64 + tiles * (CORNER + whole + 1);
    let uppers = uppers * (CORNER + node(UPPER_WORDS)) + lower_tiles * half;
    let lowers = lowers * node(LOWER_WORDS) + leaf_tiles * half;
    root + uppers + lowers + leaves * size_of::<Mask>() as u64
}

fn buffer_bytes(tree: &Tree) -> u64 {
    let Counts { leaves, leaf_voxels, .. } = tree.counts;
    let (stored, masks) = storage(tree.channel);
    // The mask of active voxels is in the topology too.
    let leaf = (masks - 1) * size_of::<Mask>() as u64 + 1;
    leaves * leaf + leaf_voxels * tree.channel.components() as u64 * stored
}

fn write_topology(tree: &Tree, out: &mut dyn Write) -> std::io::Result<()> {
    let channel = tree.channel;
    let [uppers, tiles] = [tree.uppers().count() as u32, tree.tiles().count() as u32];
    let mut record = Record::default();
    record.f32s(&channel.background(rounded));
    record.each([tiles, uppers], Record::u32);
    for tile in tree.tiles() {
        record.each(tile.origin(), Record::u32);
        record.f32s(&channel.tile(rounded));
        record.bytes(&[(tile.entry == Entry::Full).into()]);
    }
    out.write_all(&record.0)?;
    tree.each_upper(|upper, entries| {
        record.0.clear();
        record.each(upper.origin(), Record::u32);
        put_node(&mut record, entries, channel);
        out.write_all(&record.0)?;
        tree.each_lower_of(upper, entries, |lower| {
            record.0.clear();
            put_node(&mut record, &lower.entries, channel);
            lower.leaves().for_each(|(_, mask)| record.each(*mask, Record::u64));
            out.write_all(&record.0)
        })
    })
}

/// A node's masks, and the values of its tiles.
fn put_node(record: &mut Record, entries: &[Entry], channel: Channel) {
    record.mask(entries, |entry| entry == Entry::Node);
    record.mask(entries, |entry| entry == Entry::Full);
    if let Channel::Distance(_) = channel {
        // No tile is active.
        record.bytes(&[SELECTED_BACKGROUND]);
        record.mask(entries, |entry| entry != Entry::Inside);
        return;
    }
    record.bytes(&[BACKGROUND_ELSEWHERE]);
    let (mut tile, floats) = (Record::default(), channel.tile(rounded));
    match channel {
        Channel::Attribute(..) => tile.f32s(&floats),
        _ => floats.iter().for_each(|&float| tile.bytes(&f16::from_f32(float).to_le_bytes())),
    }
    entries.iter().filter(|&&entry| entry == Entry::Full).for_each(|_| record.bytes(&tile.0));
}

/// Leaves that are encoded at once, of at most 7 KiB each.
const LEAVES: usize = 128;

/// A leaf's mask, what is stored of its values, and these.
fn put_buffer(buffer: &mut Record, channel: Channel, key: BrickKey, mask: &Mask) {
    buffer.each(*mask, Record::u64);
    match channel {
        Channel::Density => {
            buffer.bytes(&[BACKGROUND_ELSEWHERE]);
            buffer.bytes(ONES[..count(mask) as usize].as_flattened());
        }
        Channel::Color(colors) => {
            buffer.bytes(&[BACKGROUND_ELSEWHERE]);
            let own = colors.of_brick(key);
            let half = |value: u8| HALVES[usize::from(value)].to_le_bytes();
            for (x, bit) in mask_places(*mask) {
                let [r, g, b, _] = own.at(x, bit);
                buffer.bytes([r, g, b].map(half).as_flattened());
            }
        }
        Channel::Attribute(_, values) => {
            buffer.bytes(&[BACKGROUND_ELSEWHERE]);
            let (values, count) = (values.of_brick(key), channel.components());
            for (x, bit) in mask_places(*mask) {
                values.at(x, bit)[..count].iter().for_each(|&bits| buffer.u32(bits));
            }
        }
        Channel::Distance(field) => {
            buffer.bytes(&[SELECTED_BACKGROUND]);
            buffer.each(field.inside().mask_of(key).map(|word| !word), Record::u64);
            let distances = field.in_brick(key);
            let of_place = |(x, bit)| world_distance(field, distances(x, bit));
            mask_places(*mask).map(of_place).for_each(|distance| buffer.f32(distance));
        }
    }
}
