//! The values of a node: decodes densities (only whether they are above 0), distances and colours.

use std::io::{Cursor, Read};

use flate2::read::ZlibDecoder;

use crate::base::srgb::Rgba;
use crate::formats::ReadError;
use crate::formats::grid::npy::header::Element;
use crate::formats::grid::openvdb::blosc;
use crate::formats::grid::openvdb::channel::rgba_of;
use crate::formats::grid::openvdb::nodes::{NO_COLOR, is_occupied};
use crate::formats::grid::openvdb::source::Source;
use crate::formats::grid::openvdb::tree::set_indices;
use crate::grid::{Mask, set_bits};

// Compression flags.
const ZIP: u32 = 1;
/// Inactive values that equal the background are not stored.
pub(super) const ACTIVE_MASK: u32 = 2;
const BLOSC: u32 = 4;

// Codes of the inactive values of a node.

/// All equal the background, and are not stored.
pub(super) const BACKGROUND_ELSEWHERE: u8 = 0;
const NEGATIVE_BACKGROUND: u8 = 1;
const ONE_INACTIVE: u8 = 2;
/// A mask follows: values at its bits equal the background, the others its negative.
pub(super) const SELECTED_BACKGROUND: u8 = 3;
const SELECTED_ONE: u8 = 4;
const SELECTED_TWO: u8 = 5;
const ALL: u8 = 6;

#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// The encoding of a number outside nodes.
    alone: Element,
    /// The encoding of a number in a node.
    in_node: Element,
    /// The numbers of a value.
    numbers: usize,
    /// Activity only, without values.
    is_mask: bool,
}

impl Kind {
    /// The types by the name of a tree with 8, 16 and 32 children along each axis.
    pub(super) fn of_tree(name: &str) -> Option<Self> {
        let half = name.strip_suffix("_HalfFloat");
        let name = half.unwrap_or(name).strip_prefix("Tree_")?.strip_suffix("_5_4_3")?;
        let (alone, numbers) = match name {
            "float" => ("<f4", 1),
            "double" => ("<f8", 1),
            "int32" => ("<i4", 1),
            "int64" => ("<i8", 1),
            "bool" | "mask" => ("|b1", 1),
            "vec3s" => ("<f4", 3),
            _ => return None,
        };
        // OpenVDB marks trees of integers too, but writes these as they are.
        let in_node = if half.is_some() && alone.starts_with("<f") { "<f2" } else { alone };
        let (alone, in_node) = (Element::of(alone)?, Element::of(in_node)?);
        Some(Self { alone, in_node, numbers, is_mask: name == "mask" })
    }

    pub(super) fn is_color(self) -> bool {
        self.numbers == 3
    }

    /// Whether values can be distances.
    pub(super) fn is_float(self) -> bool {
        self.alone.is_float() && self.numbers == 1
    }
}

/// A decoder of a grid's values.
pub(super) struct Values {
    kind: Kind,
    compression: u32,
    /// Whether a level set's background is inside (below 0), and whether its negation is.
    level_set: Option<[bool; 2]>,
    /// The values of the node that was read last, as they are stored; at most those of an upper
    /// node, 384 KiB.
    bytes: Vec<u8>,
    /// The mask of a node with two inactive values: set for the second of them.
    selected: Vec<u64>,
}

impl Values {
    /// A decoder that takes the active voxels above 0; in a level set all voxels below 0.
    pub(super) fn new(kind: Kind, compression: u32, is_level_set: bool) -> Result<Self, ReadError> {
        let unknown = compression & !(ZIP | BLOSC | ACTIVE_MASK);
        ensure!(unknown == 0, "compression {compression} is not supported");
        let level_set = is_level_set.then_some([false; 2]);
        Ok(Self { kind, compression, level_set, bytes: Vec::new(), selected: Vec::new() })
    }

    pub(super) fn is_level_set(&self) -> bool {
        self.level_set.is_some()
    }

    /// The numbers of the `active` voxels of the leaf that was read last.
    pub(super) fn numbers(&self, active: &Mask) -> impl Iterator<Item = f64> {
        let of = self.kind.in_node;
        // All are stored, or the active ones.
        let is_dense = self.bytes.len() == 512 * of.bytes;
        (0..).zip(set_indices(active)).map(move |(nth, index)| {
            of.number(&self.bytes[if is_dense { index as usize } else { nth } * of.bytes..])
        })
    }

    /// Reads the value of voxels in no node, as a number and as a colour.
    pub(super) fn background(
        &mut self,
        source: &mut Source,
    ) -> Result<(f64, Option<Rgba>), ReadError> {
        let bytes = self.single(source, "the background")?;
        let number = self.kind.alone.number(&bytes);
        self.level_set = self.level_set.map(|_| [is_occupied(number, true), number > 0.0]);
        Ok((number, self.decode(self.kind.alone, &bytes)))
    }

    /// Reads a single value outside nodes.
    pub(super) fn whole(&self, source: &mut Source, what: &str) -> Result<Option<Rgba>, ReadError> {
        Ok(self.decode(self.kind.alone, &self.single(source, what)?))
    }

    /// The bytes of a single value outside nodes, and zeros.
    fn single(&self, source: &mut Source, what: &str) -> Result<[u8; 12], ReadError> {
        let mut bytes = [0; 12];
        source.fill(&mut bytes[..self.kind.numbers * self.kind.alone.bytes], what)?;
        Ok(bytes)
    }

    /// Decodes a value; `None` for a density that is not above 0, or a distance not below 0.
    #[inline]
    fn decode(&self, element: Element, bytes: &[u8]) -> Option<Rgba> {
        if self.kind.is_color() {
            return Some(rgba_of(
                [0, 1, 2].map(|n| element.number(&bytes[n * element.bytes..]) as f32),
            ));
        }
        is_occupied(element.number(bytes), self.is_level_set()).then_some(NO_COLOR)
    }

    /// Reads a leaf's buffer, clears the mask's voxels without a value, and adds the colours of the
    /// others to `colors`, if these are colours.
    pub(super) fn leaf(
        &mut self,
        source: &mut Source,
        mask: &mut Mask,
        colors: &mut Vec<Rgba>,
    ) -> Result<(), ReadError> {
        const WHAT: &str = "the values of a leaf";
        let mut again = Mask::default();
        source.words(&mut again, WHAT)?;
        source.ensure(again == *mask, "a leaf's mask differs from that in the topology")?;
        // Truths are bits in leaves.
        if self.kind.in_node.bytes > 1 {
            let is_color = self.kind.is_color();
            return self.node(source, mask, |_, value| colors.extend(is_color.then_some(value)));
        }
        source.array::<12>(WHAT)?;
        if !self.kind.is_mask {
            source.words(&mut again, WHAT)?;
            mask.iter_mut().zip(again).for_each(|(word, values)| *word &= values);
        }
        Ok(())
    }

    /// Reads a node's values, clears the active bits without a value, and calls `take` with the
    /// others and their indices. Of a level set, the bits become those of the values below 0.
    pub(super) fn node(
        &mut self,
        source: &mut Source,
        active: &mut [u64],
        take: impl FnMut(u32, Rgba),
    ) -> Result<(), ReadError> {
        const WHAT: &str = "the values of a node";
        let stored = source.u8(WHAT)?;
        let [background, negative] = self.level_set.unwrap_or_default();
        let mut inactive = match stored {
            BACKGROUND_ELSEWHERE => [background; 2],
            NEGATIVE_BACKGROUND..=ALL => [negative, background],
            _ => return Err(source.fault(format_args!("values cannot be stored in way {stored}"))),
        };
        if [ONE_INACTIVE, SELECTED_ONE, SELECTED_TWO].contains(&stored) {
            inactive[0] = self.whole(source, WHAT)?.is_some();
        }
        if stored == SELECTED_TWO {
            inactive[1] = self.whole(source, WHAT)?.is_some();
        }
        self.selected.clear();
        self.selected.resize(active.len(), 0);
        if (SELECTED_BACKGROUND..=SELECTED_TWO).contains(&stored) {
            source.words(&mut self.selected, WHAT)?;
        }
        let is_dense = self.compression & ACTIVE_MASK == 0 || stored == ALL;
        let count = if is_dense {
            64 * active.len()
        } else {
            active.iter().map(|word| word.count_ones() as usize).sum()
        };
        self.load(source, count)?;
        self.filter(active, is_dense, inactive, take);
        Ok(())
    }

    /// Calls `take` with each value and its index, and activates exactly these voxels: of a level
    /// set all below 0, otherwise the active ones above 0. `inactive`: whether the two inactive
    /// values of a level set are below 0.
    fn filter(
        &self,
        active: &mut [u64],
        is_dense: bool,
        inactive: [bool; 2],
        mut take: impl FnMut(u32, Rgba),
    ) {
        let value_bytes = self.kind.numbers * self.kind.in_node.bytes;
        let mut stored = 0;
        for (n, (word, selected)) in active.iter_mut().zip(&self.selected).enumerate() {
            let mut kept = 0;
            for bit in set_bits(if self.is_level_set() { u64::MAX } else { *word }) {
                let index = if is_dense { 64 * n + bit as usize } else { stored };
                let value = if is_dense || *word >> bit & 1 == 1 {
                    stored += 1;
                    self.decode(self.kind.in_node, &self.bytes[index * value_bytes..])
                } else {
                    inactive[(selected >> bit & 1) as usize].then_some(NO_COLOR)
                };
                if let Some(value) = value {
                    kept |= 1 << bit;
                    take(64 * n as u32 + bit, value);
                }
            }
            *word = kept;
        }
    }

    fn load(&mut self, source: &mut Source, count: usize) -> Result<(), ReadError> {
        const WHAT: &str = "the values of a node";
        let is_half = self.kind.alone.bytes != self.kind.in_node.bytes;
        self.bytes.clear();
        self.bytes.resize(count * self.kind.numbers * self.kind.in_node.bytes, 0);
        let is_packed = self.compression & (ZIP | BLOSC) != 0 && !(is_half && count == 0);
        // Not positive if compression did not reduce the size: the negated length.
        let packed = if is_packed { source.u64(WHAT)?.cast_signed() } else { 0 };
        if packed <= 0 {
            let len = self.bytes.len();
            let is_length = !is_packed || packed.unsigned_abs() == len as u64;
            source.ensure(is_length, format_args!("{packed} stands for {len} bytes of values"))?;
            return source.fill(&mut self.bytes, WHAT);
        }
        let packed = packed.unsigned_abs();
        let end = source.at() + packed;
        let part = source.by_ref().take(packed);
        let mut values = if self.compression & BLOSC != 0 {
            Source::new(blosc::decoder(Cursor::new(packed.to_le_bytes()).chain(part)))
        } else {
            Source::new(ZlibDecoder::new(part))
        };
        values.fill(&mut self.bytes, "compressed values")?;
        drop(values);
        source.skip_to(end, "compressed values")
    }
}
