//! The lighthouse's texture: 256 x 256 texels of 16 colours.
//!
//! Rows are counted from the top, as in the picture; texture coordinates from the bottom.

use super::obj::Region;
use super::shapes::noise;

const SIZE: usize = 256;

/// Four runs of four colours, light to dark: painted masonry, roof tiles, stone, planks.
const PALETTE: [[u8; 3]; 16] = [
    [0xf7, 0xf1, 0xe6],
    [0xe4, 0xdb, 0xcc],
    [0xd9, 0x2f, 0x2b],
    [0xb8, 0x22, 0x24],
    [0xe8, 0x83, 0x4a],
    [0xd9, 0x6a, 0x38],
    [0xc4, 0x57, 0x2d],
    [0x97, 0x3d, 0x22],
    [0xb9, 0xb4, 0xac],
    [0xa3, 0x9e, 0x98],
    [0x8d, 0x89, 0x86],
    [0x6c, 0x69, 0x6a],
    [0xc8, 0x95, 0x5c],
    [0xb7, 0x82, 0x4b],
    [0xa3, 0x70, 0x3e],
    [0x6f, 0x49, 0x29],
];
const MASONRY: u8 = 0;
const TILES: u8 = 4;
const STONE: u8 = 8;
const PLANKS: u8 = 12;

/// A rectangle of texels as a region: `u` around a part, `v` along it. Half a texel stays free at
/// the border, so that no neighbour shows where texels are blended.
const fn region(left: usize, top: usize, width: usize, height: usize) -> Region {
    let size = SIZE as f64;
    Region {
        corner: [(left as f64 + 0.5) / size, 1.0 - ((top + height) as f64 - 0.5) / size],
        around: [(width - 1) as f64 / size, 0.0],
        along: [0.0, (height - 1) as f64 / size],
    }
}

/// Five bands of painted masonry, red at top and bottom.
pub(crate) const BANDS: Region = region(0, 0, 256, 125);
/// Blocks of grey stone.
pub(crate) const STONES: Region = region(128, 128, 128, 64);
/// Eight boards, one after the other along the part.
pub(crate) const BOARDS: Region = region(128, 192, 128, 64);
/// Four courses of roof tiles, one above the other along the part.
pub(crate) const ROOF: Region = region(0, 128, 128, 64);

/// The same texels, with what was along the part around it.
pub(crate) const fn turned(region: Region) -> Region {
    Region { corner: region.corner, around: region.along, along: region.around }
}

/// The same texels, run through around the part from the other side.
pub(crate) const fn mirrored(region: Region) -> Region {
    let Region { corner: [u, v], around: [s, t], along } = region;
    Region { corner: [u + s, v + t], around: [-s, -t], along }
}

/// The picture as a PNG file.
pub(crate) fn png() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIZE as u32, SIZE as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Four);
    encoder.set_palette(PALETTE.concat());
    // Stored rather than compressed, so that no later compressor can change the file.
    encoder.set_compression(png::Compression::NoCompression);
    encoder.set_filter(png::Filter::NoFilter);
    let rows: Vec<u8> = (0..SIZE * SIZE / 2)
        .map(|pair| {
            let [row, column] = [pair * 2 / SIZE, pair * 2 % SIZE];
            texel(row, column) << 4 | texel(row, column + 1)
        })
        .collect();
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&rows));
    written.expect("the picture has the size that its header says");
    file
}

/// The colour at a place of the picture.
fn texel(row: usize, column: usize) -> u8 {
    match (row, column) {
        (0..128, _) => masonry(row, column),
        (_, 0..128) => roof_tiles(row - 128, column),
        (128..192, _) => stones(row - 128, column - 128),
        _ => boards(row - 192, column - 128),
    }
}

/// Courses of 5 rows, bands of 5 courses, joints a shade darker.
fn masonry(row: usize, column: usize) -> u8 {
    let (course, red) = (row / 5, (row / 25).is_multiple_of(2));
    let joint = row % 5 == 4 || (column + course % 2 * 8).is_multiple_of(16);
    MASONRY + 2 * u8::from(red) + u8::from(joint)
}

/// Courses of 16 rows, tiles 16 wide with round lower ends, each its own shade.
fn roof_tiles(row: usize, column: usize) -> u8 {
    let (course, shifted) = (row / 16, column + row / 16 % 2 * 8);
    let (across, down) = ((shifted % 16) as i32 - 8, (row % 16) as i32);
    let below_the_end = down > 10 && across * across + (down - 8) * (down - 8) * 2 > 64;
    match (below_the_end, across) {
        (true, _) | (_, -8) => TILES + 3,
        _ => TILES + shade([course, shifted / 16 % 8], 3),
    }
}

/// Courses of 16 rows, blocks 24 to 40 wide, mortar between.
fn stones(row: usize, column: usize) -> u8 {
    let course = row / 16;
    let edges = [0, 40, 64, 96, 128].map(|edge| (edge + course * 56) % 128);
    if row % 16 >= 14 || edges.iter().any(|&edge| (column + 128 - edge) % 128 < 2) {
        return STONE + 3;
    }
    let block = edges.iter().map(|&edge| (column + 128 - edge) % 128).min().unwrap_or(0);
    STONE + shade([course, (column + 128 - block) % 128], 3)
}

/// Boards of 8 rows with a gap between, each of two lengths.
fn boards(row: usize, column: usize) -> u8 {
    let board = row / 8;
    let end = 24 + board * 37 % 80;
    if row % 8 == 7 || column == end {
        PLANKS + 3
    } else {
        PLANKS + shade([board, usize::from(column > end)], 3)
    }
}

/// One of `count` shades, by chance.
fn shade(keys: [usize; 2], count: u8) -> u8 {
    let shade = (noise(keys) + 1.0) / 2.0 * f64::from(count);
    (shade as u8).min(count - 1)
}
