//! The palette of blocks.
//!
//! Full, opaque blocks, alike on all sides, without gravity, light, power or change over time
//! (copper is waxed). Each colour is the mean of the block's texture in linear light, measured on
//! the textures of Minecraft 1.21.4. Mojang publishes none.

use std::collections::HashMap;
use std::sync::LazyLock;

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::srgb::Rgba;
use crate::surface::palette::MAX_COLORS;

/// The block for voxels without colours.
pub(super) const STONE: &str = "stone";

/// Most blocks to choose from: with air, their numbers are bytes.
pub const MAX_BLOCKS: usize = MAX_COLORS;

/// The default blocks without namespace, by the first version of the game that has them.
const DEFAULT: &str = include_str!("blocks.txt");

/// A version of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    /// Its number in files.
    pub(crate) data: u32,
    pub(crate) name: &'static str,
}

/// The first version with today's names of blocks; later ones upgrade its files.
pub(super) const FIRST_VERSION: Version = Version { data: 1631, name: "1.13.2" };

/// The default blocks by their names without namespace: colours, and the first version of the game
/// with them.
pub(super) static KNOWN: LazyLock<HashMap<&str, (Rgba, Version)>> =
    LazyLock::new(|| all().map(|(name, color, since)| (name, (color, since))).collect());

/// The blocks that voxels become: names and colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Names with a namespace, and opaque colours.
    pub(super) list: Vec<(String, Rgba)>,
    /// Whether blocks that look alike may replace each other.
    pub(super) may_merge: bool,
}

/// Blocks in which there is nothing.
pub(super) const AIR: [&str; 4] = ["air", "cave_air", "void_air", "structure_void"];

/// An error in a list of blocks.
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
    /// 161 blocks. Those that look alike replace each other, so that a surface in shades of one
    /// colour has few.
    fn default() -> Self {
        let named = |(name, color, _)| (format!("minecraft:{name}"), color);
        Self { list: all().map(named).collect(), may_merge: true }
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
            if AIR.contains(&plain_name(&name)) {
                return Err(BlocksError::Air(name));
            }
            let full = if name.contains(':') { name } else { format!("minecraft:{name}") };
            if list.iter().any(|(other, _)| *other == full) {
                return Err(BlocksError::Twice(full));
            }
            list.push((full, [r, g, b, u8::MAX]));
        }
        match list.len() {
            1..=MAX_BLOCKS => Ok(Self { list, may_merge: false }),
            count => Err(BlocksError::Count(count)),
        }
    }

    /// The default blocks, whose first version of the game is known: names without a namespace, and
    /// colours.
    pub fn known() -> impl Iterator<Item = (&'static str, [u8; 3])> {
        all().map(|(name, [r, g, b, _], _)| (name, [r, g, b]))
    }
}

/// The first version of the game with all blocks of `names`. Unknown blocks do not count.
pub(super) fn version_of(names: &[String]) -> Version {
    let known = names.iter().filter_map(|name| KNOWN.get(plain_name(name)));
    known.map(|&(_, since)| since).fold(FIRST_VERSION, Version::max)
}

/// A block's name without the game's namespace and without properties, such as `oak_stairs` of
/// `minecraft:oak_stairs[facing=east]`.
pub(super) fn plain_name(name: &str) -> &str {
    let name = name.split('[').next().unwrap_or_default();
    name.strip_prefix("minecraft:").unwrap_or(name)
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

/// The default blocks: names without namespace, colours, and the first version with them.
fn all() -> impl Iterator<Item = (&'static str, Rgba, Version)> {
    let mut version = FIRST_VERSION;
    DEFAULT.lines().filter_map(move |line| {
        if let Some(header) = line.strip_prefix("// Minecraft ") {
            let (name, data) = header.split_once(", data version ")?;
            version = Version { data: data.parse().ok()?, name };
            return None;
        }
        let (name, color) = line.split_once(" #")?;
        let [_, r, g, b] = u32::from_str_radix(color, 16).ok()?.to_be_bytes();
        Some((name, [r, g, b, u8::MAX], version))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_a_name_and_a_colour_of_its_own() {
        let all: Vec<_> = all().collect();
        let headers = DEFAULT.lines().filter(|line| line.starts_with("//")).count();
        assert_eq!((all.len(), headers), (161, 5));
        assert_eq!(DEFAULT.lines().count(), all.len() + headers);
        for (index, (name, color, since)) in all.iter().enumerate() {
            assert!(is_name(name) && *since >= FIRST_VERSION, "{name}");
            for (other, other_color, _) in &all[..index] {
                assert!(name != other && color != other_color, "{name} and {other}");
            }
        }
    }

    #[test]
    fn the_version_is_that_of_the_newest_block() {
        let of = |names: &[&str]| version_of(&names.iter().map(|&n| n.into()).collect::<Vec<_>>());
        assert_eq!(of(&["minecraft:air", "minecraft:stone", "create:tuff"]), FIRST_VERSION);
        let caves = of(&["minecraft:stone", "minecraft:tuff", "minecraft:calcite"]);
        assert_eq!(caves, Version { data: 2724, name: "1.17" });
        let trails = of(&["minecraft:cherry_planks", "minecraft:tuff"]);
        assert_eq!(trails, Version { data: 3463, name: "1.20" });
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
            assert_eq!(new(name).expect(name).list[0], (full.to_owned(), [1, 2, 3, 255]));
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
