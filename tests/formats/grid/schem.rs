//! Sponge's `.schem`, read by `fastnbt`: block for block, in the right place.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::Read;

use fastnbt::{ByteArray, IntArray, Value, nbt};
use flate2::read::GzDecoder;
use serde::Deserialize;
use trivox::formats::{Blocks as BlockList, MAX_BLOCKS};

use super::colored::listed;
use super::*;
use crate::common::files::gzipped;

/// The data versions of the blocks: from Minecraft 1.13.2 to 1.20.
pub(crate) const VERSIONS: [i32; 5] = [1631, 2566, 2724, 3105, 3463];

/// The colours of red wool and of blocks whose colour is not known.
pub(crate) const RED_WOOL: Rgba = [161, 40, 35, 255];
pub(crate) const GREY: Rgba = [150, 150, 150, 255];

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Schematic {
    version: i32,
    data_version: i32,
    width: i16,
    height: i16,
    length: i16,
    offset: IntArray,
    metadata: Option<Value>,
    blocks: Blocks,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Blocks {
    palette: HashMap<String, i32>,
    data: ByteArray,
    block_entities: Vec<Value>,
}

/// What metadata say of where the grid lies: nothing where that is not known.
pub(crate) fn world_tags(world: &World) -> Option<Value> {
    let up = if world.up == Up::Y { "y" } else { "z" };
    let tags = match world.place {
        Some(Place { origin: [x, y, z], voxel_size }) => {
            nbt!({"Origin": [x, y, z], "VoxelSize": voxel_size, "Up": up})
        }
        None => nbt!({ "Up": up }),
    };
    (*world != World::default()).then_some(tags)
}

pub(crate) fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut tags = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut tags).unwrap();
    tags
}

impl Schematic {
    fn of(bytes: &[u8]) -> Self {
        let mut root: HashMap<String, Self> = fastnbt::from_bytes(&unzipped(bytes)).unwrap();
        let schematic = root.remove("Schematic").unwrap();
        assert_eq!((schematic.version, root.len()), (3, 0));
        assert!(VERSIONS.contains(&schematic.data_version), "{}", schematic.data_version);
        assert_eq!(schematic.offset.iter().copied().collect::<Vec<_>>(), [0; 3]);
        assert!(schematic.blocks.block_entities.is_empty());
        schematic
    }

    fn size(&self) -> [u32; 3] {
        [self.width, self.height, self.length].map(|edge| u32::from(edge.cast_unsigned()))
    }

    /// The name of each block but air, by its place.
    fn named(&self) -> HashMap<[u32; 3], &str> {
        let names: HashMap<i32, &str> =
            self.blocks.palette.iter().map(|(name, &number)| (number, name.as_str())).collect();
        let [width, _, length] = self.size();
        let volume: u64 = self.size().iter().map(|&d| u64::from(d)).product();
        let place = |index: u32| {
            let [x, z, y] = [index % width, index / width % length, index / width / length];
            [x, y, z]
        };
        let mut bytes = self.blocks.data.iter().map(|&byte| i32::from(byte.cast_unsigned()));
        let numbers: Vec<i32> = std::iter::from_fn(|| match bytes.next()? {
            low @ 0x80.. => Some(low & 0x7f | bytes.next()? << 7),
            low => Some(low),
        })
        .collect();
        assert_eq!(numbers.len() as u64, volume);
        let blocks = (0..).zip(numbers);
        let named = blocks.map(|(index, number)| (place(index), names[&number]));
        named.filter(|&(_, name)| name != "minecraft:air").collect()
    }
}

/// Where a voxel lies in the game.
pub(crate) fn turned([x, y, z]: [u32; 3], grid: &VoxelGrid) -> [u32; 3] {
    match grid.world.up {
        Up::Y => [x, y, z],
        Up::Z => [x, z, grid.dims()[1] - 1 - y],
    }
}

/// Width, height and length of the grid in the game.
pub(crate) fn turned_size(grid: &VoxelGrid) -> [u32; 3] {
    let [x, y, z] = grid.dims();
    if grid.world.up == Up::Z { [x, z, y] } else { [x, y, z] }
}

#[test]
fn a_schematic_has_the_tags_it_always_had() {
    let tags = unzipped(&written(&tiny(), Schem));
    let expected = b"\x0a\0\0\
        \x0a\0\x09Schematic\
        \x03\0\x07Version\0\0\0\x03\
        \x03\0\x0bDataVersion\0\0\x06\x5f\
        \x02\0\x05Width\0\x01\
        \x02\0\x06Height\0\x02\
        \x02\0\x06Length\0\x03\
        \x0b\0\x06Offset\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\
        \x0a\0\x08Metadata\
        \x0a\0\x06trivox\
        \x09\0\x06Origin\x06\0\0\0\x03\xbf\xf8\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\
        \x06\0\x09VoxelSize\x3f\xc0\0\0\0\0\0\0\
        \x08\0\x02Up\0\x01y\
        \0\0\
        \x0a\0\x06Blocks\
        \x0a\0\x07Palette\
        \x03\0\x0dminecraft:air\0\0\0\0\
        \x03\0\x0fminecraft:stone\0\0\0\x01\
        \0\
        \x07\0\x04Data\0\0\0\x06\x01\0\0\0\0\x01\
        \x09\0\x0dBlockEntities\x0a\0\0\0\0\
        \0\0\0";
    assert_bytes(&tags, expected);
}

#[test]
fn fastnbt_reads_stone_block_for_block() {
    for grid in grids_of(0..300_000) {
        let schematic = Schematic::of(&written(&grid, Schem));
        let size = turned_size(&grid);
        assert_eq!(schematic.size(), size);
        let told = [Schem, Litematic, Vox].map(|format| format.blocks(&grid));
        assert_eq!(told, [Some(size), Some(size), None]);
        let found = schematic.named();
        assert_eq!(found.len() as u64, grid.occupied(), "{grid:?}");
        for voxel in grid.voxels() {
            assert_eq!(found.get(&turned(voxel, &grid)), Some(&"minecraft:stone"), "{voxel:?}");
        }
        let expected = world_tags(&grid.world).map(|tags| nbt!({ "trivox": tags }));
        assert_eq!(schematic.metadata, expected);
    }
}

fn with(grid: &VoxelGrid, options: &WriteOptions) -> Schematic {
    Schematic::of(&written_with(grid, Schem, options))
}

/// The kinds of blocks in a written schematic.
fn kinds(grid: &VoxelGrid, options: &WriteOptions) -> Vec<String> {
    let kinds: BTreeSet<String> =
        with(grid, options).named().into_values().map(str::to_owned).collect();
    kinds.into_iter().collect()
}

#[test]
fn fastnbt_reads_the_blocks_of_colours() {
    // A grid in which each block is the nearest one of a voxel, and one of many colours.
    // A list of one's own, in which none replaces another.
    let default = BlockList::known().map(|(name, color)| (name.to_owned(), color));
    let blocks = Some(BlockList::new(default).unwrap());
    let options = WriteOptions { blocks, ..WriteOptions::default() };
    for grid in grids_of(10..20_000) {
        let grid = colored(&grid, false);
        let found = with(&grid, &options);
        let named = found.named();
        // Only blocks that occur are in the palette, with air.
        let kinds: HashSet<&str> = named.values().copied().collect();
        assert_eq!(named.len() as u64, grid.occupied());
        assert_eq!(found.blocks.palette.len(), 1 + kinds.len());
        for (voxel, [r, g, b, _]) in listed(&grid) {
            // Twice the same colour is twice the same block.
            if voxel.iter().all(|c| c % 5 == 0) {
                assert_eq!(named[&turned(voxel, &grid)], block_of([r, g, b]), "{voxel:?}");
            }
        }
    }
}

/// The grid as blocks of so many kinds, one after the other along x, and the list of them.
pub(crate) fn of_blocks(
    kinds: usize,
    properties: &str,
    grid: VoxelGrid,
) -> (VoxelGrid, WriteOptions) {
    let color = |n: usize| [n as u8, 255 - n as u8, n as u8];
    let blocks = (0..kinds).map(|n| (format!("block_{n}{properties}"), color(n)));
    let grid = painted_by(grid, [0; 4], |[x, ..]| {
        let [r, g, b] = color(x as usize % kinds);
        Some([r, g, b, 255])
    });
    let blocks = Some(BlockList::new(blocks).unwrap());
    (grid, WriteOptions { blocks, ..WriteOptions::default() })
}

#[test]
fn blocks_past_127_have_numbers_of_two_bytes() {
    for kinds in [127, 128, MAX_BLOCKS as u32] {
        let voxels = (0..kinds).map(|x| [x, 0, x % 2]);
        let grid = VoxelGrid::from_voxels([kinds, 1, 2], voxels).unwrap();
        let (grid, options) = of_blocks(kinds as usize, "", grid);
        let found = with(&grid, &options);
        let named = found.named();
        for x in 0..kinds {
            assert_eq!(named[&turned([x, 0, x % 2], &grid)], format!("minecraft:block_{x}"));
        }
        let bytes = written_with(&grid, Schem, &options);
        assert!(read(Schem, &bytes).unwrap() == grid);
    }
}

/// The block of a voxel of this colour.
fn block_of([r, g, b]: [u8; 3]) -> String {
    let grid = block([1; 3], [0; 3], [1; 3]).with_colors(Colors::uniform([r, g, b, 255]));
    kinds(&grid, &WriteOptions::default()).concat()
}

/// A row of voxels in 64 shades of a colour, of 30 % to all of its light.
fn shades(color: [u8; 3]) -> VoxelGrid {
    painted_by(block([64, 1, 1], [0; 3], [64, 1, 1]), [0; 4], |[x, ..]| {
        let light = 0.3 + 0.7 * f64::from(x) / 63.0;
        let [r, g, b] = color.map(|c| (f64::from(c) * light.powf(1.0 / 2.2)).round() as u8);
        Some([r, g, b, 255])
    })
}

#[test]
fn surfaces_in_the_shade_keep_their_hue_in_few_blocks() {
    let reds = "nether_wart_block red_concrete red_wool red_mushroom_block";
    let greys = "gray_concrete cyan_terracotta light_blue_terracotta warped_hyphae smooth_basalt";
    let stones = "cyan_terracotta tuff andesite smooth_stone cobbled_deepslate";
    for (color, few) in [
        ([200, 40, 35], reds),
        ([178, 24, 24], reds),
        ([96, 112, 136], greys),
        ([150, 150, 150], stones),
    ] {
        let kinds = kinds(&shades(color), &WriteOptions::default());
        let is_one =
            |kind: &String| few.split(' ').any(|name| *kind == format!("minecraft:{name}"));
        assert!(kinds.iter().all(is_one) && kinds.len() <= 4, "{color:?}: {kinds:?}");
    }
}

#[test]
fn colours_become_the_blocks_that_look_like_them() {
    for (color, name) in [
        ([255, 255, 255], "snow_block"),
        ([0, 0, 0], "black_concrete"),
        ([143, 61, 47], "red_terracotta"),
        ([225, 96, 2], "orange_concrete"),
        ([241, 117, 20], "orange_wool"),
        ([151, 95, 66], "terracotta"),
        ([36, 137, 199], "light_blue_concrete"),
        ([112, 186, 24], "lime_wool"),
    ] {
        assert_eq!(block_of(color), format!("minecraft:{name}"), "{color:?}");
    }
}

#[test]
fn dithering_mixes_blocks() {
    let grid = block([16, 1, 16], [0; 3], [16, 1, 16]);
    let grid = grid.with_colors(Colors::uniform([60, 120, 90, 255]));
    let greens = ["moss_block", "warped_planks", "warped_wart_block"];
    for (dither, expected) in [(false, &greens[1..2]), (true, &greens)] {
        let kinds = kinds(&grid, &WriteOptions { dither, ..WriteOptions::default() });
        let names = kinds.iter().map(|kind| kind.strip_prefix("minecraft:").unwrap());
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn grids_that_a_schematic_cannot_hold_are_refused() {
    let options = WriteOptions::default();
    for (format, dims, edge) in [
        (Schem, [65536, 1, 1], "65,535"),
        (Schem, [1, 65536, 1], "65,535"),
        (Schem, [1291; 3], "65,535"),
        (Litematic, [1291; 3], "65,536"),
        (Litematic, [65536, 32768, 1], "65,536"),
    ] {
        let why = unwritable(&VoxelGrid::empty(dims).unwrap(), format);
        let limit = format!("{edge} blocks an axis and 2,147,483,647 in all at most");
        assert!(why.contains(&limit), "{why}");
        assert_eq!(format.check_dims(dims, &options).unwrap_err().to_string(), why);
    }
    assert!(Schem.check_dims([65535, 1, 32767], &options).is_ok());
    assert!(Litematic.check_dims([65536, 32767, 1], &options).is_ok());
    let longest = VoxelGrid::from_voxels([65535, 1, 1], [[65534, 0, 0]]).unwrap();
    let found = Schematic::of(&written(&longest, Schem));
    assert_eq!(found.named().into_keys().collect::<Vec<_>>(), [[65534, 0, 0]]);
}

#[test]
fn blocks_are_read_in_their_colours() {
    for grid in grids_of(10..20_000) {
        let grid = colored(&grid, false);
        let bytes = written(&grid, Schem);
        let back = read(Schem, &bytes).unwrap();
        assert_eq!((back.hash(), back.world), (grid.hash(), grid.world));
        // What is nearest to a block's colour is that block.
        assert!(bytes == written(&back, Schem), "other blocks for {grid:?}");
    }
}

#[test]
fn the_blocks_of_a_file_are_told_before_it_is_written_and_after_it_is_read() {
    for grid in grids_of(10..2000).flat_map(|grid| [colored(&grid, true), grid]) {
        for format in [Schem, Litematic, Vox] {
            for dither in [false, true] {
                let options = WriteOptions { dither, ..WriteOptions::default() };
                let bytes = written_with(&grid, format, &options);
                let loaded = load_bytes(format, &bytes).unwrap();
                let told = format.block_list(&grid, &options).map(|list| list.counts);
                assert!(loaded.blocks.is_sorted_by_key(|&(_, count)| Reverse(count)));
                assert_eq!(loaded.blocks, told.unwrap_or_default());
                let painted = format.painted(&grid, &options);
                if let Some(painted) = painted.filter(|_| grid.colors.is_some()) {
                    let painted = grid.clone().with_colors(painted);
                    assert!(listed(&loaded.grid) == listed(&painted), "{format:?}, {grid:?}");
                }
            }
        }
    }
}

pub(crate) fn zipped_tags(tags: &Value) -> Vec<u8> {
    gzipped(&fastnbt::to_bytes(tags).unwrap())
}

fn loaded(tags: &Value) -> LoadedGrid {
    load_bytes(Schem, &zipped_tags(tags)).unwrap()
}

/// An array of block numbers.
fn block_data(bytes: &[i8]) -> Value {
    Value::ByteArray(ByteArray::new(bytes.to_vec()))
}

/// A compound with other tags.
pub(crate) fn changed(tags: Value, change: impl FnOnce(&mut HashMap<String, Value>)) -> Value {
    let Value::Compound(mut tags) = tags else { panic!("a compound") };
    change(&mut tags);
    Value::Compound(tags)
}

#[test]
fn schematics_of_other_programs_are_read() {
    let palette = nbt!({
        "minecraft:cave_air": 7,
        "minecraft:red_wool": 0,
        "minecraft:oak_stairs[facing=east,half=top]": 300,
    });
    // 300 is two bytes.
    let data = block_data(&[7, 0, 0xac_u8.cast_signed(), 2, 7, 7, 0]);
    let offset = Value::IntArray(IntArray::new(vec![-3, 4, 5]));
    let second = nbt!({
        "Version": 2, "DataVersion": 2586, "BlockData": data.clone(), "Offset": offset,
        "Metadata": {"WEOffsetX": 1, "nested": [[1.0, 2.0], [3.0]]},
        "Width": 3_i16, "Height": 2_i16, "Length": 1_i16, "Palette": palette.clone(),
        "PaletteMax": 3, "BlockEntities": [{"Id": "minecraft:chest"}],
    });
    let third = nbt!({"Schematic": {
        "Blocks": {"Data": data, "Palette": palette, "BlockEntities": []},
        "Entities": [{"Id": "minecraft:pig"}],
        "Width": 3_i16, "Height": 2_i16, "Length": 1_i16, "Version": 3,
    }});
    for (tags, ignored) in [(second, "'BlockEntities'"), (third, "'Entities'")] {
        let LoadedGrid { grid, warnings, .. } = loaded(&tags);
        assert_eq!((grid.dims(), grid.world), ([3, 2, 1], World::default()));
        let expected = [([1, 0, 0], RED_WOOL), ([2, 0, 0], GREY), ([2, 1, 0], RED_WOOL)];
        assert_eq!(listed(&grid), expected.into());
        let unknown = "blocks whose colour is not known are grey: 'oak_stairs'";
        assert_eq!(warnings, [format!("only blocks are read; skipped: {ignored}"), unknown.into()]);
    }
}

/// A schematic of two blocks, stone where the number is 1.
fn stone(data: &[i8]) -> Value {
    nbt!({"Version": 2, "Width": 2_i16, "Height": 1_i16, "Length": 1_i16,
        "BlockData": block_data(data), "Palette": {"minecraft:stone": 1, "minecraft:air": 0}})
}

fn stone_with(name: &str, value: Value) -> Value {
    changed(stone(&[0, 1]), |tags| _ = tags.insert(name.to_owned(), value))
}

#[test]
fn a_position_without_a_voxel_size_is_ignored_with_a_warning() {
    let position = nbt!({"trivox": {"Origin": [1.0, 2.0, 3.0], "Up": "z"}});
    let LoadedGrid { grid, warnings, .. } = loaded(&stone_with("Metadata", position));
    assert_eq!(grid.world, World { up: Up::Z, place: None });
    let ignored = "the grid's position is ignored: it needs both 'Origin' and 'VoxelSize'";
    assert_eq!(warnings, [ignored]);
}

#[test]
fn malformed_schematics_are_refused() {
    let without = |name: &str| changed(stone(&[0, 1]), |tags| _ = tags.remove(name).unwrap());
    assert_eq!(loaded(&stone(&[0, 1])).grid.occupied(), 1);
    let edge = |name: &str| (name.to_owned(), Value::Short(-1));
    let huge = changed(stone(&[0, 1]), |tags| tags.extend(["Width", "Height"].map(edge)));
    let size = "the size is 65535x65535x1 blocks, but at most 2147483647 are read, empty ones too";
    let version = "version 4 of Sponge schematics is not supported, only 1 to 3";
    for (tags, why) in [
        (huge, size),
        (stone(&[1]), "there are 1 blocks, but its size is of 2"),
        (stone(&[1, 1, 1]), "more than the 2 blocks"),
        (stone(&[1, 2]), "block 1 has the number 2, not in the palette"),
        (stone(&[-1, -1, -1, -1, -1, -1]), "the number of block 0 has more than 32 bits"),
        (stone(&[-128, -128, -128, -128, 16]), "the number of block 0 has more than 32 bits"),
        (without("Version"), "no 'Version'"),
        (without("Width"), "needs 'Width'"),
        (without("Palette"), "no blocks"),
        (without("BlockData"), "no blocks"),
        (stone_with("Version", Value::Int(4)), version),
        (stone_with("Height", Value::Short(0)), "at least one block"),
        (stone_with("Palette", nbt!({"a": 1, "b": 1})), "has the number of another"),
        (stone_with("Palette", nbt!({"a": -1})), "has no number from 0"),
        (stone_with("Metadata", nbt!({"trivox": {"Up": "x"}})), "'x' cannot be up"),
    ] {
        let error = refused(Schem, &zipped_tags(&tags), why);
        assert!(matches!(error, ReadError::Content(_)), "{error:?}");
    }
    // A million compounds in each other.
    let mut nested = b"\x0a\0\0".to_vec();
    nested.extend(b"\x0a\0\x06Blocks".repeat(1 << 20));
    refused(Schem, &gzipped(&nested), "tags are more than 512 levels deep");
    let plain = "not a Sponge schematic: it is not compressed by gzip";
    refused(Schem, b"PK\x03\x04", plain);
}

#[test]
fn a_plain_schematic_is_of_version_2() {
    let plain = WriteOptions { plain: true, ..WriteOptions::default() };
    for grid in [tiny(), colored(&tiny(), true)] {
        let bytes = written_with(&grid, Schem, &plain);
        let tags = unzipped(&bytes);
        // The root is the schematic, by name.
        assert!(tags.starts_with(b"\x0a\0\x09Schematic"));
        // It has the tags of version 3, with those of the blocks beside them.
        let of_3 = written(&grid, Schem);
        let mut root: HashMap<String, HashMap<String, Value>> =
            fastnbt::from_bytes(&unzipped(&of_3)).unwrap();
        let mut expected = root.remove("Schematic").unwrap();
        let Some(Value::Compound(mut blocks)) = expected.remove("Blocks") else { panic!() };
        let Value::Compound(palette) = &blocks["Palette"] else { panic!() };
        expected.insert("PaletteMax".to_owned(), Value::Int(palette.len() as i32));
        expected.insert("Version".to_owned(), Value::Int(2));
        expected.insert("BlockData".to_owned(), blocks.remove("Data").unwrap());
        expected.extend(blocks);
        let found: HashMap<String, Value> = fastnbt::from_bytes(&tags).unwrap();
        assert_eq!(found, expected);
        assert!(read(Schem, &bytes).unwrap() == read(Schem, &of_3).unwrap());
    }
}
