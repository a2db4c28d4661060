//! The values of a node: decodes densities (only whether they are above 0), distances (only whether
//! they are below 0) and colours.

use std::io::{Cursor, Read};

use flate2::read::ZlibDecoder;
use half::f16;

use super::blosc::Chunks;
use super::nodes::NO_COLOR;
use super::source::Source;
use super::{ACTIVE_MASK, BACKGROUND_ELSEWHERE, LEAF_MASK, SELECTED_BACKGROUND};
use crate::base::srgb::Rgba;
use crate::formats::grid::openvdb::channel::rgba_of;
use crate::formats::{ReadError, content};
use crate::grid::{Mask, set_bits};

// Compression flags, besides `ACTIVE_MASK`.
const ZIP: u32 = 1;
const BLOSC: u32 = 4;

// What precedes a node's values, besides `BACKGROUND_ELSEWHERE` and
// `SELECTED_BACKGROUND`.
const NEGATIVE_BACKGROUND: u8 = 1;
const ONE_INACTIVE: u8 = 2;
const SELECTED_ONE: u8 = 4;
const SELECTED_TWO: u8 = 5;
const ALL: u8 = 6;

/// The types of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// Of a single value outside nodes.
    alone: Number,
    /// Of a value in a node.
    in_node: Number,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Half,
    Float,
    Double,
    Int32,
    Int64,
    Bool,
    /// Activity only, without values.
    Mask,
    HalfVector,
    Vector,
}

impl Kind {
    /// The types by the name of a tree with 8, 16 and 32 children along each axis.
    pub(super) fn of_tree(name: &str) -> Option<Self> {
        let (alone, in_node) = match name {
            "Tree_float_5_4_3_HalfFloat" => (Number::Float, Number::Half),
            "Tree_float_5_4_3" => (Number::Float, Number::Float),
            "Tree_double_5_4_3_HalfFloat" => (Number::Double, Number::Half),
            "Tree_double_5_4_3" => (Number::Double, Number::Double),
            "Tree_int32_5_4_3" => (Number::Int32, Number::Int32),
            "Tree_int64_5_4_3" => (Number::Int64, Number::Int64),
            "Tree_bool_5_4_3" => (Number::Bool, Number::Bool),
            "Tree_mask_5_4_3" => (Number::Mask, Number::Mask),
            "Tree_vec3s_5_4_3_HalfFloat" => (Number::Vector, Number::HalfVector),
            "Tree_vec3s_5_4_3" => (Number::Vector, Number::Vector),
            _ => return None,
        };
        Some(Self { alone, in_node })
    }

    pub(super) fn is_color(self) -> bool {
        self.alone == Number::Vector
    }

    /// Whether values can be distances.
    pub(super) fn is_float(self) -> bool {
        matches!(self.alone, Number::Float | Number::Double)
    }
}

impl Number {
    fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::Mask => 1,
            Self::Half => 2,
            Self::Float | Self::Int32 => 4,
            Self::HalfVector => 6,
            Self::Double | Self::Int64 => 8,
            Self::Vector => 12,
        }
    }

    /// Decodes a value; `None` for a density that is not above 0.
    #[inline]
    fn decode(self, bytes: &[u8]) -> Option<Rgba> {
        match self {
            Self::HalfVector => {
                let halves = bytes.as_chunks().0;
                Some(rgba_of([0, 1, 2].map(|n| f16::from_le_bytes(halves[n]).to_f32())))
            }
            Self::Vector => {
                let floats = bytes.as_chunks().0;
                Some(rgba_of([0, 1, 2].map(|n| f32::from_le_bytes(floats[n]))))
            }
            _ => self.is_positive(bytes).then_some(NO_COLOR),
        }
    }

    /// Whether a number is above 0. The bits of positive floats, infinity included, are 1 to those
    /// of infinity.
    fn is_positive(self, bytes: &[u8]) -> bool {
        (1..=self.greatest_bits()).contains(&bits_of(bytes))
    }

    /// Whether a float is below 0 or is -0, the distance of a voxel inside whose centre is on the
    /// surface: it has a sign, and is not NaN.
    fn is_negative(self, bytes: &[u8]) -> bool {
        let sign = 1 << (8 * bytes.len() - 1);
        let bits = bits_of(bytes);
        bits & sign != 0 && (bits & !sign) <= self.greatest_bits()
    }

    /// The bits of the greatest number, infinity included.
    fn greatest_bits(self) -> u64 {
        match self {
            Self::Half => 0x7c00,
            Self::Float => u64::from(f32::INFINITY.to_bits()),
            Self::Double => f64::INFINITY.to_bits(),
            Self::Int32 => i32::MAX as u64,
            Self::Int64 => i64::MAX as u64,
            Self::Bool | Self::Mask | Self::HalfVector | Self::Vector => u8::MAX.into(),
        }
    }
}

/// The bits of a number of at most 8 bytes.
fn bits_of(bytes: &[u8]) -> u64 {
    let mut low = [0; 8];
    low[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(low)
}

/// A decoder of a grid's values.
pub(super) struct Values {
    kind: Kind,
    compression: u32,
    /// Of a level set: whether the background is inside (below 0), and whether its negation is.
    level_set: Option<[bool; 2]>,
    /// The buffer of values, reused; at most those of an upper node, 384 KiB.
    bytes: Vec<u8>,
    /// The mask of a node with two inactive values: set for the second of them.
    selected: Vec<u64>,
}

impl Values {
    /// Of a level set the voxels below 0 are taken, active or not; otherwise the active ones above 0.
    pub(super) fn new(kind: Kind, compression: u32, is_level_set: bool) -> Result<Self, ReadError> {
        if compression & !(ZIP | BLOSC | ACTIVE_MASK) != 0 {
            return Err(content(format!("compression {compression} is not supported")));
        }
        let level_set = is_level_set.then_some([false; 2]);
        Ok(Self { kind, compression, level_set, bytes: Vec::new(), selected: Vec::new() })
    }

    pub(super) fn is_level_set(&self) -> bool {
        self.level_set.is_some()
    }

    /// Reads the value of voxels in no node.
    pub(super) fn background(&mut self, source: &mut Source) -> Result<Option<Rgba>, ReadError> {
        let (bytes, number) = (self.single(source, "the background")?, self.kind.alone);
        let bytes = &bytes[..number.bytes()];
        self.level_set =
            self.level_set.map(|_| [number.is_negative(bytes), number.is_positive(bytes)]);
        Ok(self.decode(number, bytes))
    }

    /// Reads a single value outside nodes.
    pub(super) fn whole(&self, source: &mut Source, what: &str) -> Result<Option<Rgba>, ReadError> {
        let bytes = self.single(source, what)?;
        Ok(self.decode(self.kind.alone, &bytes[..self.kind.alone.bytes()]))
    }

    /// The bytes of a single value outside nodes, and zeros.
    fn single(&self, source: &mut Source, what: &str) -> Result<[u8; 12], ReadError> {
        let mut bytes = [0; 12];
        source.fill(&mut bytes[..self.kind.alone.bytes()], what)?;
        Ok(bytes)
    }

    /// Decodes a value; `None` for a density that is not above 0, or a distance not below 0.
    #[inline]
    fn decode(&self, number: Number, bytes: &[u8]) -> Option<Rgba> {
        match self.level_set {
            Some(_) => number.is_negative(bytes).then_some(NO_COLOR),
            None => number.decode(bytes),
        }
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
        let mut again = [0; LEAF_MASK / 8];
        source.words(&mut again, WHAT)?;
        if again != *mask {
            return Err(source.fault("a leaf's mask differs from that in the topology"));
        }
        let number = self.kind.in_node;
        if !matches!(number, Number::Bool | Number::Mask) {
            let is_color = self.kind.is_color();
            return self.node(source, mask, |_, value| colors.extend(is_color.then_some(value)));
        }
        source.array::<12>(WHAT)?;
        if number == Number::Bool {
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
        let number = self.kind.in_node;
        let mut stored = 0;
        for (n, (word, selected)) in active.iter_mut().zip(&self.selected).enumerate() {
            let mut kept = 0;
            for bit in set_bits(if self.is_level_set() { u64::MAX } else { *word }) {
                let index = if is_dense { 64 * n + bit as usize } else { stored };
                let value = if is_dense || *word >> bit & 1 == 1 {
                    stored += 1;
                    self.decode(number, &self.bytes[index * number.bytes()..][..number.bytes()])
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

    /// Reads `count` values.
    fn load(&mut self, source: &mut Source, count: usize) -> Result<(), ReadError> {
        const WHAT: &str = "the values of a node";
        let is_half = self.kind.alone != self.kind.in_node;
        self.bytes.clear();
        self.bytes.resize(count * self.kind.in_node.bytes(), 0);
        let is_packed = self.compression & (ZIP | BLOSC) != 0 && !(is_half && count == 0);
        // Not positive if compression did not reduce the size: the negated length.
        let packed = if is_packed { source.u64(WHAT)?.cast_signed() } else { 0 };
        if packed <= 0 {
            if is_packed && packed.unsigned_abs() != self.bytes.len() as u64 {
                let len = self.bytes.len();
                return Err(source.fault(format_args!("{packed} stands for {len} bytes of values")));
            }
            return source.fill(&mut self.bytes, WHAT);
        }
        self.unpack(source, packed.unsigned_abs())
    }

    /// Reads the values from `packed` bytes.
    fn unpack(&mut self, source: &mut Source, packed: u64) -> Result<(), ReadError> {
        const WHAT: &str = "compressed values";
        let end = source.at() + packed;
        let is_blosc = self.compression & BLOSC != 0;
        let part = source.by_ref().take(packed);
        let mut values = if is_blosc {
            Source::new(Chunks::new(Cursor::new(packed.to_le_bytes()).chain(part)))
        } else {
            Source::new(ZlibDecoder::new(part))
        };
        values.fill(&mut self.bytes, WHAT)?;
        drop(values);
        source.skip_to(end, WHAT)
    }
}
