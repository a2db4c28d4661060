//! What the worst files of their kind may cost: ten seconds and 2 GiB of memory for each MB of the
//! file, or a refusal.

use std::time::{Duration, Instant};

use super::litematic::place;
use super::vox::{file, group, model, shape, transform};
use super::*;
use crate::common::files::gzipped;
use fastnbt::{Value, nbt};
use flate2::{Compress, Compression, FlushCompress};

/// The time that this thread has computed, which other tests do not lengthen; that of a clock where
/// the system does not tell.
fn computed(since: Instant) -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// Reads a file of at most a MB from disk, with default options. Ten seconds of a desktop are at
/// most a minute here, without all optimizations and on a slow machine.
fn read_in_time(format: GridFormat, bytes: &[u8]) -> Result<VoxelGrid, ReadError> {
    assert!(bytes.len() <= 1_000_000, "{} bytes", bytes.len());
    let folder = tempdir().unwrap();
    let path = folder.path().join("a").with_extension(format.extension());
    fs::write(&path, bytes).unwrap();
    let clock = Instant::now();
    let begun = computed(clock);
    let read = read_grid(&path).map(|loaded| loaded.grid);
    let took = computed(clock) - begun;
    println!("{format:?}, {} bytes: {took:.2?}", bytes.len());
    assert!(took < Duration::from_secs(60), "{} bytes took {took:?}", bytes.len());
    read
}

/// The tags of a compound, without its end.
fn tags(compound: &Value) -> Vec<u8> {
    let mut bytes = fastnbt::to_bytes(compound).unwrap();
    assert_eq!(bytes.pop(), Some(0));
    bytes
}

/// The tags `head`, and an array with `count` elements and so many bytes that repeats `pattern`, in
/// `ends` compounds.
fn repeated(
    head: &[u8],
    [kind, name]: [&str; 2],
    [count, bytes]: [usize; 2],
    pattern: &[u8],
    ends: usize,
) -> Vec<u8> {
    let array = [kind.as_bytes(), &(name.len() as u16).to_be_bytes(), name.as_bytes()].concat();
    let begin = [head, &array, &(count as u32).to_be_bytes()].concat();
    // A part of a stream that refers to nothing before it.
    let mut crc = crc32fast::Hasher::new();
    let mut deflated = |content: &[u8], times: usize, flush: FlushCompress| {
        (0..times).for_each(|_| crc.update(content));
        let mut out = Vec::with_capacity(content.len() + (1 << 16));
        let mut deflater = Compress::new(Compression::best(), false);
        deflater.compress_vec(content, &mut out, flush).unwrap();
        out.repeat(times)
    };
    let chunk = pattern.repeat((1 << 20) / pattern.len());
    let rest = [&chunk[..bytes % chunk.len()], &vec![0; ends]].concat();
    let zipped = [
        deflated(&begin, 1, FlushCompress::Full),
        deflated(&chunk, bytes / chunk.len(), FlushCompress::Full),
        deflated(&rest, 1, FlushCompress::Finish),
    ];
    let length = (begin.len() + bytes + ends) as u32;
    let start = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let end = [crc.finalize().to_le_bytes(), length.to_le_bytes()];
    [&start[..], zipped.concat().as_slice(), end.as_flattened()].concat()
}

/// A schematic of `size` whose block numbers repeat `pattern`, `bytes` for each block.
fn schem(size: [u16; 3], palette: &Value, pattern: &[u8], bytes: usize) -> Vec<u8> {
    let [width, height, length] = size.map(u16::cast_signed);
    let head = nbt!({
        "Version": 2, "Width": width, "Height": height, "Length": length, "Palette": palette,
    });
    let volume = size.map(usize::from).iter().product::<usize>() * bytes;
    repeated(&tags(&head), ["\x07", "BlockData"], [volume; 2], pattern, 1)
}

#[test]
fn schematics_of_hundreds_of_millions_of_blocks_are_read_in_seconds() {
    let palette = nbt!({
        "minecraft:stone": 0, "minecraft:air": 1, "minecraft:cave_air": 2,
        "minecraft:red_wool": 128, "minecraft:void_air": 129,
    });
    let read =
        |size, pattern: &[u8], bytes| read_in_time(Schem, &schem(size, &palette, pattern, bytes));
    assert_eq!(read([640; 3], &[1, 0], 1).unwrap().occupied(), 131_072_000);
    assert_eq!(read([1, 8000, 30_000], &[1, 2, 1], 1).unwrap().occupied(), 0);
    assert_eq!(read([500; 3], &[128, 1, 129, 1], 2).unwrap().occupied(), 62_500_000);
}

#[test]
fn large_solids_of_two_blocks_keep_both_colours() {
    let palette = nbt!({ "minecraft:dirt": 0, "minecraft:sand": 1 });
    let row = [[0; 256], [1; 256]].concat();
    let bytes = schem([512, 520, 520], &palette, &row, 1);
    let grid = read_in_time(Schem, &bytes).unwrap();
    let color = |x| grid.color([x, 519, 7]).unwrap();
    assert!(color(0) == color(255) && color(255) != color(256) && color(256) == color(511));
}

#[test]
fn schematics_that_need_too_much_memory_are_refused() {
    let palette = nbt!({ "minecraft:stone": 0, "minecraft:red_wool": 1, "minecraft:air": 2 });
    let mixed = schem([640; 3], &palette, &[0, 1], 1);
    let error = read_in_time(Schem, &mixed).unwrap_err();
    assert!(matches!(error, ReadError::Memory { .. }), "{error}");
    // Colours of all voxels; bricks of one height, which are all in one slice, and of one block
    // across.
    for (size, pattern) in
        [([256; 3], &[0_u8, 1][..]), ([4000, 1, 8000], &[0, 2]), ([1, 4000, 8000], &[0, 2])]
    {
        refused_within(192 << 20, Schem, &schem(size, &palette, pattern, 1));
    }
}

#[test]
fn litematics_of_half_a_billion_blocks_are_read_in_seconds() {
    let state = |name: &str| nbt!({ "Name": name });
    let [width, height, length] = [1024, 512, 1024];
    let region = nbt!({
        "Position": place([0; 3]), "Size": place([width, height, length]),
        "BlockStatePalette": [state("minecraft:air"), state("minecraft:stone")],
    });
    let within = b"\x0a\0\x07Regions\x0a\0\x01r";
    let head = [&tags(&nbt!({ "Version": 5 })), &within[..], &tags(&region)[3..]].concat();
    let bytes = (width * height) as usize * length as usize / 4;
    // Eight blocks of one kind, then eight of the other.
    let pattern = [0x55, 0x55, 0, 0, 0x55, 0x55, 0, 0];
    let zipped = repeated(&head, ["\x0c", "BlockStates"], [bytes / 8, bytes], &pattern, 3);
    let read = read_in_time(Litematic, &zipped);
    assert_eq!(read.unwrap().occupied(), 1 << 28);
}

#[test]
fn thousands_of_regions_are_put_together_in_the_time_that_their_blocks_take() {
    let seconds = |at: fn(i32) -> [i32; 3]| {
        let region = |n: i32| {
            let region = nbt!({
                "Position": place(at(n)), "Size": place([32, 1, 1]),
                "BlockStatePalette": [{ "Name": "stone" }],
                "BlockStates": fastnbt::LongArray::new(vec![0]),
            });
            (n.to_string(), region)
        };
        let regions = Value::Compound((0..60_000).map(region).collect());
        let tags = fastnbt::to_bytes(&nbt!({ "Version": 5, "Regions": regions })).unwrap();
        let bytes = gzipped(&tags);
        let clock = Instant::now();
        let begun = computed(clock);
        let read = read(Litematic, &bytes);
        let took = (computed(clock) - begun).as_secs_f64();
        assert_eq!(read.unwrap().occupied(), 60_000 * 32);
        took
    };
    let [flat, tall] = [seconds(|n| [0, 0, n]), seconds(|n| [0, n, 0])];
    println!("one height: {flat:.2} s, one on another: {tall:.2} s");
    assert!(tall < 4.0 * flat + 0.5, "{tall} and {flat} s");
}

/// So many instances of a model at places of their own, `step` apart along each axis, in turns.
fn instances(voxels: &[[u8; 4]], count: i32, step: i32) -> Vec<u8> {
    let mut chunks = vec![model([256; 3], voxels), transform(0, 1, &[])];
    chunks.push(group(1, &(0..count).map(|i| 2 + 2 * i).collect::<Vec<_>>()));
    // Rotations by quarter turns, of the six orders of axes.
    let orders = [0b0100, 0b1000, 0b0001, 0b1001, 0b0010, 0b0110];
    for i in 0..count {
        let place = [i % 20, i / 20 % 20, i / 400].map(|n| (step * n).to_string()).join(" ");
        let turned = orders[i as usize % 6] | (i / 6 % 8) << 4;
        let turned = if step < 256 { turned } else { 0b0100 };
        let frame = [("_t", &place[..]), ("_r", &turned.to_string())];
        chunks.push(transform(2 + 2 * i, 3 + 2 * i, &frame));
        chunks.push(shape(3 + 2 * i, 0));
    }
    file(&chunks)
}

/// 2744 voxels in bricks of their own.
fn sparse() -> Vec<[u8; 4]> {
    let at = (0..2744).map(|i| [i % 14, i / 14 % 14, i / 196].map(|c| (18 * c) as u8));
    at.map(|[x, y, z]| [x, y, z, 1]).collect()
}

#[test]
fn thousands_of_instances_in_one_place_are_placed_in_seconds() {
    // 44,000 voxels of a cube, in no order.
    let mut large: Vec<[u8; 4]> = (0..44_000)
        .map(|i: u32| [i % 36, i / 36 % 36, i / 1296, 1 + i % 255].map(|c| c as u8))
        .collect();
    fastrand::Rng::with_seed(1).shuffle(&mut large);
    for (voxels, least) in [(large, 40_000), (sparse(), 1_000_000)] {
        let grid = read_in_time(Vox, &instances(&voxels, 6000, 1)).unwrap();
        assert!(grid.occupied() > least, "{}", grid.occupied());
    }
    // Voxels in nearly all bricks of a model of 256 cubed.
    let mut random = fastrand::Rng::with_seed(1);
    let spread: Vec<[u8; 4]> = (0..44_000).map(|_| [(); 4].map(|()| random.u8(1..))).collect();
    let error = read_in_time(Vox, &instances(&spread, 6000, 1)).unwrap_err();
    assert!(error.to_string().contains("fill more than 16777216 bricks"), "{error}");
}

/// A part of it is read, and the rest is counted.
#[test]
fn a_vox_file_that_does_not_fit_the_memory_three_times_is_refused_before_it_is_parsed() {
    let bytes = [instances(&sparse(), 1, 1), vec![0; 100_000]].concat();
    let least = 3 * bytes.len() as u64;
    let read = |memory| {
        let options = ReadOptions { memory, ..ReadOptions::default() };
        read_grid_from(&mut &bytes[..], Vox, &options).unwrap_err()
    };
    for memory in [0, 1000, least - 2, least - 1] {
        match read(memory) {
            ReadError::Memory { needed, limit } => assert_eq!((needed, limit), (least, memory)),
            error => panic!("{memory}: {error}"),
        }
    }
    // What follows the last chunk.
    assert!(matches!(read(least), ReadError::Content(_)));
}

#[test]
fn instances_that_need_too_much_memory_are_refused_while_they_are_placed() {
    let error = read_in_time(Vox, &instances(&sparse(), 6000, 300)).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("GiB are left for that: allow more"), "{error}");
}
