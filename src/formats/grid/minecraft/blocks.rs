//! The palette of blocks.
//!
//! Concrete, wool and terracotta: full, opaque blocks, the same on all sides, not affected by
//! gravity, and in the game since version 1.13. Each colour is the mean of the block's texture in
//! sRGB values, as pixel-art tools publish it (such as *mcgradient*, with fractions); they agree to
//! within 1. Mojang publishes none.

use std::collections::HashMap;

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::srgb::Rgba;

/// The block for voxels without colours.
pub(super) const STONE: &str = "stone";

/// The mean colour of stone's texture.
const STONE_COLOR: Rgba = [125, 125, 125, 255];

/// Most blocks to choose from: with air, their numbers have seven bits.
pub const MAX_BLOCKS: usize = 127;

/// The blocks that voxels become: names and colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Names with a namespace, and opaque colours.
    blocks: Vec<(String, Rgba)>,
}

/// Blocks in which there is nothing.
pub(super) const AIR: [&str; 4] = ["air", "cave_air", "void_air", "structure_void"];

/// Why blocks cannot be chosen from.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlocksError {
    /// None, or too many.
    #[error("a list of blocks has 1 to {MAX_BLOCKS}, but this has {0}")]
    Count(usize),
    /// A name that Minecraft does not allow.
    #[error(
        "'{0}' is no name of a block: use lower-case letters, digits, _, -, . and /, such as \
         white_wool, with a namespace and properties if needed, such as minecraft:oak_log[axis=y]"
    )]
    Name(String),
    /// A block in which there is nothing.
    #[error("'{0}' is no block to build of: its voxels would be empty")]
    Air(String),
    /// A block that appears twice.
    #[error("the block '{0}' appears twice")]
    Twice(String),
}

impl ErrorCode for BlocksError {
    fn code(&self) -> &'static str {
        "option.blocks"
    }
}

impl Default for Blocks {
    /// Concrete, wool and terracotta: 49 blocks.
    fn default() -> Self {
        let named = |(name, color)| (format!("minecraft:{name}"), color);
        Self { blocks: all().into_iter().map(named).collect() }
    }
}

impl Blocks {
    /// Blocks by name, such as `white_wool` or `minecraft:oak_log[axis=y]`, and their colours in
    /// sRGB. A name without a namespace is Minecraft's.
    ///
    /// # Errors
    /// No block, or more than [`MAX_BLOCKS`]; an invalid name, air, or a name that appears twice.
    pub fn new(blocks: impl IntoIterator<Item = (String, [u8; 3])>) -> Result<Self, BlocksError> {
        let mut list: Vec<(String, Rgba)> = Vec::new();
        for (name, [r, g, b]) in blocks {
            if !is_name(&name) {
                return Err(BlocksError::Name(crate::formats::excerpt(&name)));
            }
            let location = name.split('[').next().unwrap_or_default();
            if AIR.contains(&location.strip_prefix("minecraft:").unwrap_or(location)) {
                return Err(BlocksError::Air(name));
            }
            let has_namespace = location.contains(':');
            let full = if has_namespace { name } else { format!("minecraft:{name}") };
            if list.iter().any(|(other, _)| *other == full) {
                return Err(BlocksError::Twice(full));
            }
            list.push((full, [r, g, b, u8::MAX]));
        }
        match list.len() {
            1..=MAX_BLOCKS => Ok(Self { blocks: list }),
            count => Err(BlocksError::Count(count)),
        }
    }

    /// Names with a namespace, and colours.
    pub(super) fn list(&self) -> &[(String, Rgba)] {
        &self.blocks
    }
}

/// Whether `name` is a resource location, with properties in square brackets or without.
fn is_name(name: &str) -> bool {
    let (location, properties) = match name.split_once('[') {
        Some((location, rest)) => (location, rest.strip_suffix(']')),
        None => (name, Some("")),
    };
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(is_letter);
    let parts: Vec<&str> = location.split(':').collect();
    let has_values = |list: &str| {
        let mut pairs = list.split(',').map(|pair| pair.split_once('='));
        pairs.all(|pair| pair.is_some_and(|(key, value)| is_word(key) && is_word(value)))
    };
    (1..=2).contains(&parts.len())
        && parts.into_iter().all(is_word)
        && properties.is_some_and(|list| list.is_empty() || has_values(list))
        && name.len() < 256
}

/// The colours of blocks by their names without namespace, where they are known.
pub(super) fn known_colors() -> HashMap<String, Rgba> {
    all().into_iter().chain([(STONE.to_owned(), STONE_COLOR)]).collect()
}

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

/// The default blocks: names without namespace, and colours.
fn all() -> Vec<(String, Rgba)> {
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
        assert_eq!(all.len(), 49);
        assert!(all.len() <= MAX_BLOCKS);
        for (index, (name, color)) in all.iter().enumerate() {
            for (other, other_color) in &all[..index] {
                assert!(name != other && color != other_color, "{name} and {other}");
            }
        }
    }

    #[test]
    fn names_are_those_that_the_game_allows() {
        let new = |name: &str| Blocks::new([(name.to_owned(), [1, 2, 3])]);
        for (name, full) in [
            ("stone", "minecraft:stone"),
            ("minecraft:oak_log[axis=y]", "minecraft:oak_log[axis=y]"),
            ("oak_log[axis=y,a=b]", "minecraft:oak_log[axis=y,a=b]"),
            ("create:asurine", "create:asurine"),
        ] {
            assert_eq!(new(name).expect(name).list()[0], (full.to_owned(), [1, 2, 3, 255]));
        }
        for name in [
            "",
            "White Wool",
            "a:b:c",
            ":a",
            "a[",
            "a[b]",
            "a[b=c",
            "a[b=c]d",
            "a[b=]",
            "a[=c]",
            "a[b=c,]",
            "Stone",
        ] {
            assert_eq!(new(name), Err(BlocksError::Name(name.to_owned())));
        }
        assert!(new(&"a".repeat(255)).is_ok());
        assert!(matches!(new(&"a".repeat(256)), Err(BlocksError::Name(_))));
    }

    #[test]
    fn lists_without_blocks_with_too_many_or_with_one_twice_are_refused() {
        let numbered = |count: usize| (0..count).map(|n| (format!("block_{n}"), [0; 3]));
        assert_eq!(Blocks::new(numbered(0)), Err(BlocksError::Count(0)));
        assert!(Blocks::new(numbered(MAX_BLOCKS)).is_ok());
        assert_eq!(Blocks::new(numbered(MAX_BLOCKS + 1)), Err(BlocksError::Count(MAX_BLOCKS + 1)));
        let twice = ["stone", "minecraft:stone"].map(|name| (name.to_owned(), [0; 3]));
        for air in ["air", "minecraft:cave_air", "void_air", "structure_void", "air[a=b]"] {
            let list = ["stone", air].map(|name| (name.to_owned(), [0; 3]));
            assert_eq!(Blocks::new(list), Err(BlocksError::Air(air.to_owned())));
        }
        assert!(Blocks::new([("other:air".to_owned(), [0; 3])]).is_ok());
        assert_eq!(Blocks::new(twice), Err(BlocksError::Twice("minecraft:stone".into())));
    }
}
