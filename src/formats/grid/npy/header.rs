//! Parses an array's header.

use std::io::{BufRead, Read};

use crate::formats::grid::dense::volume;
use crate::formats::io::bytes::fill;
use crate::formats::{ReadError, checked_dims, content, excerpt};

pub(super) const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// Longest header that is read, in bytes. NumPy's own limit is 10,000; `write` makes about 80.
const MAX_HEADER: u32 = 1 << 16;

/// The header's fields.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) dims: [u32; 3],
    pub(super) element: Element,
    pub(super) is_fortran: bool,
}

/// The data of each voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Bool,
    /// Occupied unless zero.
    Byte,
    /// Occupied unless zero.
    SignedByte,
    /// Four bytes along the last axis.
    Rgba,
}

impl Header {
    pub(super) fn read(input: &mut dyn BufRead) -> Result<Self, ReadError> {
        let text = read_text(input)?;
        let fields = Fields::parse(&text)
            .ok_or_else(|| content(format!("the header is malformed: {}", excerpt(&text))))?;
        fields.interpret()
    }

    /// The array's length in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.voxels() * if self.element == Element::Rgba { 4 } else { 1 }
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

/// An array of a few elements.
pub(in crate::formats) struct SmallArray {
    /// The type, such as `<f8`.
    pub(in crate::formats) descr: String,
    /// The tuple, without spaces.
    pub(in crate::formats) shape: String,
    pub(in crate::formats) bytes: Vec<u8>,
}

impl SmallArray {
    /// Reads at most `most` bytes of elements.
    pub(in crate::formats) fn read(input: &mut dyn BufRead, most: u64) -> Result<Self, ReadError> {
        let text = read_text(input)?;
        let fields = Fields::parse(&text).and_then(|fields| Some((fields.descr?, fields.shape?)));
        let (descr, shape) = fields
            .ok_or_else(|| content(format!("the header is malformed: {}", excerpt(&text))))?;
        let mut bytes = Vec::new();
        input.take(most).read_to_end(&mut bytes)?;
        Ok(Self { descr: descr.to_owned(), shape: shape.replace(' ', ""), bytes })
    }
}

/// Reads the preamble and the header's text.
fn read_text(input: &mut dyn BufRead) -> Result<String, ReadError> {
    let mut start = [0; 8];
    fill(input, &mut start, "the first 8 bytes: not an .npy file")?;
    let [magic @ .., major, minor] = start;
    if magic != MAGIC {
        return Err(content("not an .npy file: it does not begin with '\\x93NUMPY'"));
    }
    let mut length = [0; 4];
    match major {
        1 => fill(input, &mut length[..2], "the header's length")?,
        2 | 3 => fill(input, &mut length, "the header's length")?,
        _ => return Err(content(format!(".npy version {major}.{minor} is not supported"))),
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(content(format!("a header of {length} bytes: at most {MAX_HEADER} are read")));
    }
    let mut text = vec![0; length as usize];
    fill(input, &mut text, "the header")?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The header's dictionary, as text. Parsed by hand: the crate `npyz` multiplies the dimensions
/// before they can be checked, and panics on overflow.
#[derive(Default)]
struct Fields<'a> {
    descr: Option<&'a str>,
    fortran_order: Option<&'a str>,
    shape: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// `None` if the text is not a dictionary with only these keys, in any order.
    fn parse(text: &'a str) -> Option<Self> {
        let mut fields = Self::default();
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let after = after.trim_start().strip_prefix(':')?.trim_start();
            let (value, after) = value(after)?;
            let field = match key {
                "descr" => &mut fields.descr,
                "fortran_order" => &mut fields.fortran_order,
                "shape" => &mut fields.shape,
                _ => return None,
            };
            if field.replace(value).is_some() {
                return None;
            }
            rest = match after.trim_start() {
                "" => "",
                more => more.strip_prefix(',')?.trim_start(),
            };
        }
        Some(fields)
    }

    fn interpret(&self) -> Result<Header, ReadError> {
        let present = |field: Option<&'a str>, name| {
            field.ok_or_else(|| content(format!("the header has no '{name}'")))
        };
        let descr = present(self.descr, "descr")?;
        let element = match descr.trim_start_matches(['|', '<', '>', '=']) {
            "b1" | "?" => Element::Bool,
            "u1" => Element::Byte,
            "i1" => Element::SignedByte,
            _ => {
                let descr = excerpt(descr);
                let what = format!(
                    "elements of type {descr} are not supported: use bool or uint8 (distances are \
                     read from .npz, .vdb and .nvdb)"
                );
                return Err(content(what));
            }
        };
        let (dims, has_channels) = dims(present(self.shape, "shape")?)?;
        let element = match (has_channels, element) {
            (false, element) => element,
            (true, Element::Byte) => Element::Rgba,
            (true, _) => {
                let descr = excerpt(descr);
                return Err(content(format!(
                    "colours of type {descr} are not supported: use uint8"
                )));
            }
        };
        let is_fortran = match present(self.fortran_order, "fortran_order")? {
            "True" => true,
            "False" => false,
            other => return Err(content(format!("'fortran_order' is {}", excerpt(other)))),
        };
        Ok(Header { dims, element, is_fortran })
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

/// The dimensions in a tuple, and whether each voxel has four channels.
fn dims(shape: &str) -> Result<([u32; 3], bool), ReadError> {
    let shown = excerpt(shape);
    let malformed = || content(format!("the shape {shown} is malformed"));
    let inner = shape.strip_prefix('(').and_then(|s| s.strip_suffix(')')).ok_or_else(malformed)?;
    let numbers = inner.trim_end().trim_end_matches(',').split(',').map(str::trim);
    // NumPy under Python 2 wrote `(3L, 4L, 5L)`.
    let numbers = numbers.filter(|n| !n.is_empty()).map(|n| n.trim_end_matches('L').parse());
    let dims: Vec<u64> = numbers.collect::<Result<_, _>>().map_err(|_| malformed())?;
    let (dims, has_channels) = match dims[..] {
        [x, y, z] => ([x, y, z], false),
        [x, y, z, 4] => ([x, y, z], true),
        _ => {
            let what = format!(
                "an array of shape {shown} is not a grid: use (nx, ny, nz), or (nx, ny, nz, 4) of \
                 colours"
            );
            return Err(content(what));
        }
    };
    Ok((checked_dims(dims)?, has_channels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_in_any_order_and_quoting() {
        let parse = |text| Fields::parse(text).map(|fields| fields.interpret().ok());
        let header = Header { dims: [3, 4, 5], element: Element::Bool, is_fortran: false };
        for text in [
            "{'descr': '|b1', 'fortran_order': False, 'shape': (3, 4, 5), }  \n",
            "{ 'shape':(3L,4L,5L),'fortran_order':False ,'descr' :\"|b1\"}",
        ] {
            assert_eq!(parse(text), Some(Some(header.clone())), "{text}");
        }
    }

    #[test]
    fn unsupported_and_malformed_headers_are_refused() {
        let header = |text: &str| {
            Fields::parse(text).ok_or_else(|| content("malformed")).and_then(|f| f.interpret())
        };
        let good = "{'descr': '|b1', 'fortran_order': False, 'shape': (3, 4, 5), }";
        assert!(header(good).is_ok());
        for (from, to) in [
            ("|b1", "<f4"),
            ("'|b1'", "[('a', '|b1')]"),
            ("'|b1'", "\u{e9}"),
            ("(3, 4, 5)", "(3, 4)"),
            ("(3, 4, 5)", "(3, 4, 5, 6)"),
            ("(3, 4, 5)", "(3, 4, 0)"),
            ("(3, 4, 5)", "(3, 4, -5)"),
            ("(3, 4, 5)", "(3, 4, 65537)"),
            ("(3, 4, 5)", "(3, 4, 99999999999999999999999)"),
            ("(3, 4, 5)", "(4294967296, 4294967296, 4294967296)"),
            ("(3, 4, 5)", "((((3, 4, 5))))"),
            ("(3, 4, 5)", "3, 4, 5"),
            ("(3, 4, 5)", "(3, 4, 5"),
            ("(3, 4, 5)", ""),
            ("False", "Maybe"),
            ("'shape'", "'descr'"),
            ("'shape'", "'Shape'"),
            ("'shape'", "'shape"),
            ("{", "["),
        ] {
            let text = good.replace(from, to);
            assert!(header(&text).is_err(), "{text}");
        }
    }
}
