//! Litematica's `.litematic`, read and written by `fastnbt`.

use fastnbt::{LongArray, Value, nbt};
use trivox::formats::MAX_BLOCKS;

use super::colored::listed;
use super::schem::{
    GREY, RED_WOOL, VERSIONS, changed, of_blocks, turned, turned_size, unzipped, world_tags,
    zipped_tags,
};
use super::*;
use crate::common::files::gzipped;

type Tags = HashMap<String, Value>;

fn compound(tags: &mut Tags, name: &str) -> Tags {
    let Some(Value::Compound(tags)) = tags.remove(name) else { panic!("a compound {name}") };
    tags
}

/// The only region of a file: the blocks of its palette, and their numbers.
struct Region {
    size: [i32; 3],
    palette: Vec<Value>,
    states: LongArray,
}

impl Region {
    /// The region of a file of `grid`, whose other tags are as they should be.
    fn of(bytes: &[u8], grid: &VoxelGrid) -> Self {
        let mut file: Tags = fastnbt::from_bytes(&unzipped(bytes)).unwrap();
        let mut regions = compound(&mut file, "Regions");
        let mut region = compound(&mut regions, "trivox");
        let mut metadata = compound(&mut file, "Metadata");
        let size = turned_size(grid).map(u32::cast_signed);
        let Some(Value::List(palette)) = region.remove("BlockStatePalette") else { panic!() };
        let Some(Value::LongArray(states)) = region.remove("BlockStates") else { panic!() };
        let expected = nbt!({
            "Position": place([0; 3]), "Size": place(size), "Entities": [], "TileEntities": [],
            "PendingBlockTicks": [], "PendingFluidTicks": [],
        });
        assert_eq!((Value::Compound(region), regions.len()), (expected, 0));
        assert_eq!(metadata.remove("trivox"), world_tags(&grid.world));
        let expected = nbt!({
            "Name": "trivox", "Author": "trivox", "Description": "", "TimeCreated": 0_i64,
            "TimeModified": 0_i64, "RegionCount": 1, "TotalBlocks": grid.occupied() as i32,
            "TotalVolume": size.iter().product::<i32>(), "EnclosingSize": place(size),
        });
        assert_eq!(Value::Compound(metadata), expected);
        let Some(Value::Int(version)) = file.remove("MinecraftDataVersion") else { panic!() };
        assert!(VERSIONS.contains(&version), "{version}");
        assert_eq!(file, HashMap::from([("Version".to_owned(), Value::Int(5))]));
        Self { size, palette, states }
    }

    /// The number of each block, bit by bit.
    fn numbers(&self) -> Vec<usize> {
        let bits = (2..).find(|&bits| self.palette.len() <= 1 << bits).unwrap();
        let volume = self.size.iter().product::<i32>() as usize;
        assert_eq!(self.states.len(), (volume * bits).div_ceil(64));
        let bit = |at: usize| (self.states[at / 64] >> (at % 64) & 1) as usize;
        let number = |n| (0..bits).map(|b| bit(n * bits + b) << b).sum();
        (0..volume).map(number).collect()
    }

    /// The block at each place but air.
    fn named(&self) -> HashMap<[u32; 3], &Value> {
        let [width, _, length] = self.size.map(i32::cast_unsigned);
        let place = |at: u32| [at % width, at / width / length, at / width % length];
        let air = nbt!({"Name": "minecraft:air"});
        let air = self.palette.iter().position(|state| *state == air);
        let blocks = (0..).zip(self.numbers()).filter(|&(_, number)| Some(number) != air);
        blocks.map(|(at, number)| (place(at), &self.palette[number])).collect()
    }
}

#[test]
fn fastnbt_reads_a_litematic_block_for_block() {
    for grid in grids_of(0..300_000) {
        let region = Region::of(&written(&grid, Litematic), &grid);
        let named = region.named();
        assert_eq!(named.len() as u64, grid.occupied());
        let stone = nbt!({"Name": "minecraft:stone"});
        for voxel in grid.voxels() {
            assert_eq!(*named[&turned(voxel, &grid)], stone, "{voxel:?}");
        }
    }
}

#[test]
fn a_litematic_has_the_blocks_of_a_schem() {
    for grid in grids_of(10..20_000) {
        let grid = colored(&grid, false);
        let bytes = written(&grid, Litematic);
        let region = Region::of(&bytes, &grid);
        let named = region.named();
        assert_eq!(named.len() as u64, grid.occupied());
        // Only blocks that occur are in the palette, with air.
        let is_named = |state: &Value| named.values().any(|&other| other == state);
        let unnamed = region.palette.iter().filter(|state| !is_named(state));
        assert_eq!(unnamed.collect::<Vec<_>>(), [&nbt!({"Name": "minecraft:air"})]);
        let back = read(Litematic, &bytes).unwrap();
        assert!(back == reread(&grid, Schem));
    }
}

#[test]
fn numbers_of_every_count_of_bits_are_packed() {
    // With air: palettes of 2 to 4, 5, 8, 9, ... 256 blocks.
    for count in [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, MAX_BLOCKS] {
        let width = 8 * count as u32;
        let grid = block([width + 1, 1, 1], [0; 3], [width, 1, 1]);
        let (grid, options) = of_blocks(count, "[axis=y,a=b]", grid);
        let bytes = written_with(&grid, Litematic, &options);
        let region = Region::of(&bytes, &grid);
        let named = region.named();
        assert_eq!(named.len() as u64, grid.occupied());
        for ([x, ..], state) in named {
            let name = format!("minecraft:block_{}", x as usize % count);
            assert_eq!(*state, nbt!({"Name": name, "Properties": {"axis": "y", "a": "b"}}));
        }
        assert_eq!(read(Litematic, &bytes).unwrap().occupied(), grid.occupied());
    }
}

fn loaded(tags: &Value) -> LoadedGrid {
    load_bytes(Litematic, &zipped_tags(tags)).unwrap()
}

pub(crate) fn place([x, y, z]: [i32; 3]) -> Value {
    nbt!({"x": x, "y": y, "z": z})
}

fn states(words: &[i64]) -> Value {
    Value::LongArray(LongArray::new(words.to_vec()))
}

/// A region with air, red wool and stairs in its palette.
fn small(position: [i32; 3], size: [i32; 3], words: &[i64]) -> Value {
    nbt!({
        "Position": place(position),
        "Size": place(size),
        "BlockStatePalette": [
            {"Name": "minecraft:air"},
            {"Properties": {"half": "top"}, "Name": "minecraft:red_wool"},
            {"Name": "minecraft:oak_stairs"},
        ],
        "BlockStates": states(words),
        "PendingBlockTicks": [],
        "TileEntities": [{"id": "chest"}],
    })
}

#[test]
fn regions_of_other_programs_are_put_together() {
    // Of the region of negative size the block at -2, 0, 0 is stairs: the second of three along x,
    // in the first of two rows. The other's last block is wool.
    let negative = small([-1, 0, 0], [-3, 1, 2], &[0b10_00]);
    let other = small([1, 1, -1], [1, 2, 1], &[0b01_00]);
    let tags = nbt!({"Version": 6, "SubVersion": 1, "MinecraftDataVersion": 2975,
        "Regions": {"a": negative, "b": other}, "Metadata": {"Name": "two"}});
    let LoadedGrid { grid, warnings, .. } = loaded(&tags);
    assert_eq!((grid.dims(), grid.world), ([5, 3, 3], World::default()));
    assert_eq!(listed(&grid), [([1, 0, 1], GREY), ([4, 2, 0], RED_WOOL)].into());
    let skipped = "only blocks are read; skipped: 'TileEntities'";
    assert_eq!(warnings, [skipped, "blocks whose colour is not known are grey: 'oak_stairs'"]);
}

#[test]
fn later_regions_replace_earlier_ones_wherever_they_begin() {
    let compound = |name: &str, tags: &Value| {
        let content = fastnbt::to_bytes(tags).unwrap();
        [b"\x0a\0", &[name.len() as u8][..], name.as_bytes(), &content[3..]].concat()
    };
    let [wool, stairs] = [0b01_01, 0b10_10];
    // Two blocks on another. Slices of bricks begin at heights 0, 8 and 16.
    let tower = |y: i32, block: i64| small([0, y, 0], [1, 2, 1], &[block]);
    let regions = [
        compound("a", &tower(8, wool)),
        compound("b", &tower(7, stairs)),
        compound("c", &tower(6, wool)),
        compound("d", &small([0; 3], [1, 20, 1], &[0])),
    ];
    let head = b"\x0a\0\0\x03\0\x07Version\0\0\0\x05\x0a\0\x07Regions";
    let bytes = gzipped(&[&head[..], &regions.concat(), &[0; 2]].concat());
    let grid = read(Litematic, &bytes).unwrap();
    let expected = [(6, RED_WOOL), (7, RED_WOOL), (8, GREY), (9, RED_WOOL)];
    assert_eq!(listed(&grid), expected.map(|(y, color)| ([0, y, 0], color)).into());
}

#[test]
fn blocks_of_many_palettes_are_one_kind_by_name() {
    let state = |n: usize| nbt!({"Name": format!("minecraft:b{n}")});
    let palette = Value::List((0..1000).map(state).collect());
    // Ten bits a block: the last one of the palette, then the first.
    let region = |y: i32| {
        nbt!({"Position": place([0, y, 0]), "Size": place([2, 1, 1]),
            "BlockStatePalette": palette.clone(), "BlockStates": states(&[999])})
    };
    let regions = (0..66).map(|y| (format!("r{y}"), region(y))).collect();
    let tags = nbt!({"Version": 5, "Regions": Value::Compound(regions)});
    let LoadedGrid { grid, blocks, .. } = loaded(&tags);
    assert_eq!(grid.occupied(), 2 * 66);
    let expected = ["minecraft:b0", "minecraft:b999"].map(|name| (name.to_owned(), 66));
    assert_eq!(blocks, expected);
    let many = Value::List((0..65_535).map(state).collect());
    let region = changed(region(0), |tags| _ = tags.insert("BlockStatePalette".into(), many));
    let tags = zipped_tags(&nbt!({"Version": 5, "Regions": {"r": region}}));
    refused(Litematic, &tags, "more than 65534 kinds of blocks");
}

#[test]
fn malformed_litematics_are_refused() {
    let of = |region: Value| nbt!({"Version": 5, "Regions": {"r": region}});
    let one = |size: [i32; 3], words: &[i64]| of(small([0; 3], size, words));
    let region = || small([0; 3], [1; 3], &[1]);
    let without = |name: &str| of(changed(region(), |tags| _ = tags.remove(name).unwrap()));
    assert_eq!(loaded(&one([1, 1, 2], &[0b01])).grid.occupied(), 1);
    let far = nbt!({"Version": 5, "Regions": {
        "a": small([i32::MIN; 3], [1; 3], &[1]), "b": small([i32::MAX; 3], [1; 3], &[1])}});
    let numbers = of(nbt!({"BlockStatePalette": [1, 2]}));
    let nameless = of(nbt!({"BlockStatePalette": [{"Properties": {}}]}));
    for (tags, why) in [
        (one([1, 1, 2], &[]), "'r' has 0 words of block numbers, but 1x1x2 blocks of 2 bits are 1"),
        (one([1, 1, 2], &[1, 0]), "has 2 words"),
        (one([33, 1, 1], &[1]), "has 1 words of block numbers, but 33x1x1 blocks of 2 bits are 2"),
        (one([1, 1, 2], &[0b1100]), "block 1 of the region 'r' has the number 3, but its palette"),
        (one([0, 1, 2], &[]), "of 0x1x2 blocks"),
        (one([65536, -32768, 1], &[0]), "1 to 2147483647 in all"),
        (one([65537, 1, 1], &[0]), "at most 65536 an axis"),
        (one([i32::MIN, 1, i32::MAX], &[0]), "across 2147483648x1x2147483647"),
        (far, "across 4294967296x"),
        (numbers, "a palette is not a list of compounds"),
        (nameless, "block 0 of a palette has no 'Name'"),
        (without("Position"), "no 'Position'"),
        (without("Size"), "no 'Size'"),
        (without("BlockStates"), "no 'BlockStates'"),
        (without("BlockStatePalette"), "no 'BlockStatePalette'"),
        (nbt!({"Version": 5}), "no regions"),
        (nbt!({"Version": 8}), "version 8 of Litematica schematics is not supported, only 1 to 7"),
        (nbt!({"Regions": {}}), "not a Litematica schematic: it has no 'Version'"),
        (nbt!({"Version": 5, "Regions": {"r": 1}}), "the region 'r' is not a compound"),
    ] {
        let error = refused(Litematic, &zipped_tags(&tags), why);
        assert!(matches!(error, ReadError::Content(_)), "{error:?}");
    }
    let schem = written(&tiny(), Schem);
    refused(Litematic, &schem, "not a Litematica schematic: it has no 'Version'");
}

/// Tags that say that there are `words` words of block numbers, of which few follow.
fn lying(words: u32, zeros: usize) -> Vec<u8> {
    let mut tags = b"\x0a\0\0\x0a\0\x07Regions\x0a\0\x01r\x0c\0\x0bBlockStates".to_vec();
    tags.extend(words.to_be_bytes());
    tags.extend(vec![0; zeros]);
    gzipped(&tags)
}

#[test]
fn lengths_that_lie_are_refused_before_they_are_read() {
    for (words, why) in [
        (i32::MAX as u32, "17179869176 bytes of block numbers, but at most 2147483647"),
        (1 << 28, "2147483648 bytes"),
        ((1 << 28) - 1, "ends before its blocks do"),
    ] {
        refused(Litematic, &lying(words, 1000), why);
    }
}

#[test]
fn a_litematic_has_the_name_that_is_given() {
    // Java writes a dragon and a zero in bytes that are no UTF-8.
    for (given, name) in [
        (None, "trivox"),
        (Some("Schloß"), "Schloß"),
        (Some("🐉"), "trivox"),
        (Some("a\0b"), "trivox"),
    ] {
        let options = WriteOptions { name: given.map(str::to_owned), ..WriteOptions::default() };
        let bytes = unzipped(&written_with(&tiny(), Litematic, &options));
        let tag = [&b"\x08\0\x04Name\0"[..], &[name.len() as u8], name.as_bytes()].concat();
        assert!(bytes.windows(tag.len()).any(|window| window == tag), "{name}");
    }
}
