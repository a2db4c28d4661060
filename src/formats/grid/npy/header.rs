//! Parses an array's header.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::formats::grid::dense::volume;
use crate::formats::io::bytes::fill;
use crate::formats::{ReadError, checked_dims, content, excerpt};

pub(super) const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// Longest header that is read, in bytes. NumPy's own limit is 10,000; `write` makes about 80.
const MAX_HEADER: u32 = 1 << 16;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(super) dims: [u32; 3],
    pub(super) element: Element,
    pub(super) is_fortran: bool,
}

/// The data of each voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    pub(super) kind: Kind,
    /// The size in bytes.
    pub(crate) bytes: usize,
    is_big: bool,
}

/// The kinds of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    // Integers of 1, 2, 4 or 8 bytes: occupied unless zero.
    Unsigned,
    Signed,
    /// Floats of 2, 4 or 8 bytes: 0 or 1.
    Float,
    /// Four bytes along the last axis.
    Rgba,
}

impl Element {
    const BYTE: Self = Self { kind: Kind::Unsigned, bytes: 1, is_big: false };
    const RGBA: Self = Self { kind: Kind::Rgba, bytes: 4, is_big: false };

    /// The type `descr` of NumPy, such as `<f4`.
    pub(crate) fn of(descr: &str) -> Option<Self> {
        let name = descr.trim_start_matches(['|', '<', '>', '=']);
        let (kind, bytes) = match name.split_at_checked(1)? {
            ("?", "") | ("b", "1") => (Kind::Bool, "1"),
            ("u", bytes @ ("1" | "2" | "4" | "8")) => (Kind::Unsigned, bytes),
            ("i", bytes @ ("1" | "2" | "4" | "8")) => (Kind::Signed, bytes),
            ("f", bytes @ ("2" | "4" | "8")) => (Kind::Float, bytes),
            _ => return None,
        };
        Some(Self { kind, bytes: bytes.parse().ok()?, is_big: descr.starts_with('>') })
    }

    pub(crate) fn is_float(self) -> bool {
        self.kind == Kind::Float
    }

    /// The integer, or the bits of a float, at the beginning of `bytes`.
    pub(crate) fn integer(self, bytes: &[u8]) -> i128 {
        let mut low = [0; 16];
        let (own, rest) = low.split_at_mut(self.bytes);
        own.copy_from_slice(&bytes[..self.bytes]);
        if self.is_big {
            own.reverse();
        }
        if self.kind == Kind::Signed && own.last().is_some_and(|&byte| byte > 127) {
            rest.fill(u8::MAX);
        }
        i128::from_le_bytes(low)
    }

    /// The float nearest to the number at the beginning of `bytes`.
    pub(crate) fn number(self, bytes: &[u8]) -> f64 {
        // Most numbers, in half the time.
        if let (Self { kind: Kind::Float, bytes: 4, is_big: false }, Some(&four)) =
            (self, bytes.first_chunk())
        {
            return f32::from_le_bytes(four).into();
        }
        let bits = self.integer(bytes);
        match (self.kind, self.bytes) {
            (Kind::Float, 2) => half::f16::from_bits(bits as u16).to_f64(),
            (Kind::Float, 4) => f32::from_bits(bits as u32).into(),
            (Kind::Float, _) => f64::from_bits(bits as u64),
            _ => bits as f64,
        }
    }
}

/// An array of `count` voxels by their coordinates, a row each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coordinates {
    pub(super) count: u64,
    pub(super) integer: Element,
    pub(super) is_fortran: bool,
}

/// An array of rows of numbers, or of texts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    /// The type, such as `<f4`.
    pub(crate) descr: String,
    pub(crate) count: u64,
    pub(crate) columns: u64,
    /// Bytes of a row.
    pub(crate) row: u64,
    /// Whether columns follow each other, as `numpy.argwhere` makes them.
    pub(crate) is_fortran: bool,
}

impl Header {
    /// The header of an array of bytes, `x` fastest: occupied unless zero.
    pub(crate) fn x_fastest(dims: [u32; 3]) -> Self {
        Self { dims, element: Element::BYTE, is_fortran: true }
    }

    /// The array's length in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.voxels() * self.element.bytes as u64
    }

    /// The other meaning of uint8 of shape (1, x, y, 4): a batch of one grid of occupancy, not
    /// colours.
    pub(crate) fn as_batch(&self) -> Option<Self> {
        let [1, x, y] = self.dims else { return None };
        let batch = Self { dims: [x, y, 4], element: Element::BYTE, ..*self };
        (self.element == Element::RGBA).then_some(batch)
    }

    /// A warning that the colours may be a batch of one grid of occupancy.
    pub(crate) fn doubt(&self) -> Option<String> {
        let [x, y, z] = self.as_batch()?.dims;
        Some(format!(
            "an array of uint8 of shape (1, {x}, {y}, {z}) is read as colours of 1x{x}x{y} voxels: \
             occupancy of {x}x{y}x{z} is of shape ({x}, {y}, {z}), or of bool"
        ))
    }

    pub(super) fn voxels(&self) -> u64 {
        volume(self.dims)
    }

    /// The array's axes from slowest to fastest in the file: C order, or Fortran order, which is
    /// the same with `x` and `z` exchanged. The exchange is its own inverse.
    pub(super) fn file_order<T>(&self, [x, y, z]: [T; 3]) -> [T; 3] {
        if self.is_fortran { [z, y, x] } else { [x, y, z] }
    }
}

/// Reads the preamble and the header's text.
fn read_text(input: &mut dyn BufRead) -> Result<String, ReadError> {
    let mut start = [0; 8];
    fill(input, &mut start, "the first 8 bytes: not an .npy file")?;
    let [magic @ .., major, minor] = start;
    ensure!(magic == MAGIC, "not an .npy file: it does not begin with '\\x93NUMPY'");
    let mut length = [0; 4];
    match major {
        1 => fill(input, &mut length[..2], "the header's length")?,
        2 | 3 => fill(input, &mut length, "the header's length")?,
        _ => bail!(".npy version {major}.{minor} is not supported"),
    }
    let length = u32::from_le_bytes(length);
    ensure!(length <= MAX_HEADER, "a header of {length} bytes: at most {MAX_HEADER} are read");
    let mut text = vec![0; length as usize];
    fill(input, &mut text, "the header")?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The header's dictionary, as text. Parsed by hand: the crate `npyz` multiplies the dimensions
/// before they can be checked, and panics on overflow.
#[derive(Default)]
pub(crate) struct Fields(BTreeMap<&'static str, String>);

/// The keys: the type, such as `<f8`, the order, and the tuple of lengths.
const KEYS: [&str; 3] = ["descr", "fortran_order", "shape"];

impl Fields {
    pub(crate) fn read(input: &mut dyn BufRead) -> Result<Self, ReadError> {
        let text = read_text(input)?;
        let malformed = || content(format!("the header is malformed: {}", excerpt(&text)));
        Self::parse(&text).ok_or_else(malformed)
    }

    /// `None` if the text is not a dictionary with only these keys, in any order.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = Self::default();
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let after = after.trim_start().strip_prefix(':')?.trim_start();
            let (value, after) = value(after)?;
            let key = KEYS.into_iter().find(|&known| known == key)?;
            if fields.0.insert(key, value.to_owned()).is_some() {
                return None;
            }
            rest = match after.trim_start() {
                "" => "",
                more => more.strip_prefix(',')?.trim_start(),
            };
        }
        Some(fields)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| &value[..])
    }

    fn required(&self, key: &str) -> Result<&str, ReadError> {
        self.get(key).ok_or_else(|| content(format!("the header has no '{key}'")))
    }

    /// The coordinates of voxels, if these are integers of shape `(n, 3)`.
    pub(super) fn coordinates(&self) -> Option<Coordinates> {
        let integer = Element::of(self.get("descr")?)?;
        let [count, 3] = lengths(self.get("shape")?)?[..] else { return None };
        let is_fortran = self.get("fortran_order")? == "True";
        let is_integer = matches!(integer.kind, Kind::Unsigned | Kind::Signed);
        is_integer.then_some(Coordinates { count, integer, is_fortran })
    }

    /// Rows, if these are numbers of four or eight bytes or texts, of shape `(n,)`, `(n, 2)` or
    /// `(n, 3)`.
    pub(crate) fn rows(&self) -> Option<Rows> {
        let descr = self.get("descr")?;
        let words = match descr {
            "<f4" | "<i4" => 1,
            "<f8" | "<i8" => 2,
            _ => descr.strip_prefix("<U")?.parse().ok().filter(|&length: &u32| length > 0)?,
        };
        let (count, columns) = match lengths(self.get("shape")?)?[..] {
            [count] => (count, 1),
            [count, columns @ 2..=3] => (count, columns),
            _ => return None,
        };
        let row = 4 * columns * u64::from(words);
        let is_fortran = columns > 1 && self.get("fortran_order")? == "True";
        Some(Rows { descr: descr.to_owned(), count, columns, row, is_fortran })
    }

    pub(crate) fn grid(&self) -> Result<Header, ReadError> {
        let descr = self.required("descr")?;
        let element = Element::of(descr).ok_or_else(|| {
            content(format!(
                "elements of type {} are not supported: use bool or uint8 (distances are \
                 read from .npz, .vti, .vdb and .nvdb)",
                excerpt(descr)
            ))
        })?;
        let (dims, has_channels) = dims(self.required("shape")?, descr)?;
        let is_fortran = match self.required("fortran_order")? {
            "True" => true,
            "False" => false,
            other => bail!("'fortran_order' is {}", excerpt(other)),
        };
        Ok(Header { dims, element: if has_channels { Element::RGBA } else { element }, is_fortran })
    }
}

/// A Python string without escapes, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// A string's content, a tuple with its parentheses or a bare word, and the text after it. A list
/// is the type of a record, which is not supported; it is returned with all that follows.
fn value(text: &str) -> Option<(&str, &str)> {
    match text.chars().next()? {
        '\'' | '"' => quoted(text),
        '(' => Some(text.split_at(text.find(')')? + 1)),
        '[' => Some((text, "")),
        _ => {
            let (word, after) = text.split_at(text.find(',').unwrap_or(text.len()));
            Some((word.trim_end(), after))
        }
    }
}

/// The dimensions in a tuple, and whether each voxel of the type `descr` has four channels, which
/// are bytes. Leading ones are those of batches and channels.
fn dims(shape: &str, descr: &str) -> Result<([u32; 3], bool), ReadError> {
    let shown = excerpt(shape);
    let lengths =
        lengths(shape).ok_or_else(|| content(format!("the shape {shown} is malformed")))?;
    let mut rest = &lengths[..];
    let (dims, has_channels) = loop {
        match *rest {
            [x, y, z] => break ([x, y, z], false),
            [x, y, z, 4] if descr.ends_with("u1") => break ([x, y, z], true),
            [1, ref after @ ..] if rest.len() > 3 => rest = after,
            [_, _, _, 4] => {
                bail!("colours of type {} are not supported: use uint8", excerpt(descr))
            }
            _ => bail!(
                "an array of shape {shown} is not a grid: use (nx, ny, nz), or (nx, ny, nz, 4) of \
                 colours"
            ),
        }
    };
    Ok((checked_dims(dims)?, has_channels))
}

fn lengths(shape: &str) -> Option<Vec<u64>> {
    let inner = shape.strip_prefix('(')?.strip_suffix(')')?;
    let numbers = inner.trim_end().trim_end_matches(',').split(',').map(str::trim);
    // NumPy under Python 2 wrote `(3L, 4L, 5L)`.
    let numbers = numbers.filter(|n| !n.is_empty()).map(|n| n.trim_end_matches('L').parse().ok());
    numbers.collect()
}
