//! The palette of blocks.
//!
//! Concrete, wool and terracotta: full, opaque blocks, the same on all sides, not affected by
//! gravity, and in the game since version 1.13. Each colour is the mean of the block's texture in
//! sRGB values, as pixel-art tools publish it (such as *mcgradient*, with fractions); they agree to
//! within 1. Mojang publishes none.

use crate::srgb::Rgba;

/// The block for voxels without colours.
pub(super) const STONE: &str = "stone";

/// The number of blocks.
pub(super) const COUNT: usize = 3 * NAMES.len() + 1;

const NAMES: [&str; 16] = [
    "white",
    "orange",
    "magenta",
    "light_blue",
    "yellow",
    "lime",
    "pink",
    "gray",
    "light_gray",
    "cyan",
    "purple",
    "blue",
    "brown",
    "green",
    "red",
    "black",
];

const CONCRETE: [[u8; 3]; 16] = [
    [207, 213, 214],
    [224, 97, 1],
    [169, 48, 159],
    [36, 137, 199],
    [240, 175, 21],
    [94, 169, 24],
    [214, 101, 143],
    [55, 58, 62],
    [125, 125, 115],
    [21, 119, 136],
    [100, 31, 156],
    [45, 47, 143],
    [96, 59, 31],
    [73, 91, 36],
    [142, 33, 33],
    [8, 10, 15],
];

const WOOL: [[u8; 3]; 16] = [
    [234, 236, 237],
    [240, 118, 19],
    [189, 68, 179],
    [58, 175, 217],
    [248, 198, 39],
    [112, 185, 25],
    [237, 141, 172],
    [62, 68, 71],
    [142, 142, 134],
    [21, 137, 145],
    [121, 42, 172],
    [53, 57, 157],
    [114, 71, 40],
    [84, 109, 27],
    [161, 39, 34],
    [20, 21, 25],
];

const TERRACOTTA: [[u8; 3]; 16] = [
    [210, 178, 161],
    [162, 84, 38],
    [150, 88, 109],
    [113, 109, 138],
    [186, 133, 35],
    [103, 117, 53],
    [162, 78, 79],
    [58, 42, 36],
    [135, 107, 98],
    [87, 91, 91],
    [118, 70, 86],
    [74, 60, 91],
    [77, 51, 36],
    [76, 83, 42],
    [143, 61, 47],
    [37, 23, 16],
];

const PLAIN_TERRACOTTA: [u8; 3] = [152, 94, 67];

/// All blocks: names without namespace, and colours.
pub(super) fn all() -> Vec<(String, Rgba)> {
    let kinds = [("concrete", CONCRETE), ("wool", WOOL), ("terracotta", TERRACOTTA)];
    let colored = kinds.into_iter().flat_map(|(kind, colors)| {
        NAMES.into_iter().zip(colors).map(move |(name, color)| (format!("{name}_{kind}"), color))
    });
    let plain = ("terracotta".to_owned(), PLAIN_TERRACOTTA);
    colored.chain([plain]).map(|(name, [r, g, b])| (name, [r, g, b, u8::MAX])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_a_name_and_a_colour_of_its_own() {
        let all = all();
        assert_eq!(all.len(), COUNT);
        for (index, (name, color)) in all.iter().enumerate() {
            for (other, other_color) in &all[..index] {
                assert!(name != other && color != other_color, "{name} and {other}");
            }
        }
    }
}
