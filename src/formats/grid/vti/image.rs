//! The XML of a file.

use std::io::Cursor;
use std::str::FromStr;

use memchr::{memchr, memmem};

use super::values::{Encoded, Values, of_ascii};
use crate::formats::grid::npy::header::Element;
use crate::formats::io::bytes::Budget;
use crate::formats::io::tokens::numbers;
use crate::formats::io::xml::{Element as Tag, Xml};
use crate::formats::{ReadError, checked_dims, checked_place, content, excerpt};
use crate::grid::Place;

/// Attributes of the root, and the values that are read; the first is recommended.
const ROOT: [(&str, &[&str]); 4] = [
    ("type", &["ImageData"]),
    ("byte_order", &["LittleEndian"]),
    ("header_type", &["UInt64", "UInt32"]),
    ("compressor", &["vtkZLibDataCompressor"]),
];

/// Image data, whose arrays are not decoded yet. They are removed as they are read.
pub(super) struct Image<'a> {
    pub(super) dims: [u32; 3],
    pub(super) place: Place,
    pub(super) cells: Vec<Array<'a>>,
    pub(super) points: Vec<Array<'a>>,
    pub(super) fields: Vec<Array<'a>>,
    /// Bytes of the numbers before an array's values.
    head_size: u64,
    is_compressed: bool,
    appended: Encoded<'a>,
    /// Bytes taken so far, and the limit.
    pub(super) memory: Budget,
}

pub(super) struct Array<'a> {
    pub(super) name: String,
    /// One of VTK's types.
    pub(super) kind: String,
    pub(super) components: u64,
    stored: Stored<'a>,
}

enum Stored<'a> {
    Ascii(&'a str),
    Base64(&'a str),
    /// At this place of the appended values.
    Appended(usize),
}

impl<'a> Image<'a> {
    /// Parses the XML of a file. Counts twice its length as memory, for the file and the parsed
    /// XML.
    pub(super) fn parse(bytes: &'a [u8], limit: u64) -> Result<Self, ReadError> {
        let (head, appended) = parts(bytes)?;
        let head = str::from_utf8(head).map_err(|_| content("its XML is not in UTF-8"))?;
        let mut xml = Xml::new("XML", head);
        let root = xml.root("VTKFile")?;
        let names = ROOT.map(|(name, _)| name);
        let values = xml.attributes(&root, names)?.map(Option::unwrap_or_default);
        for ((name, read), value) in ROOT.into_iter().zip(&values) {
            let is_read = value.is_empty() || read.contains(&&**value);
            let (value, known) = (excerpt(value), read[0]);
            ensure!(is_read, "its {name} is '{value}', which is not read: save it with {known}");
        }
        let [_, _, header_type, compressor] = &values;
        let head_size = if header_type == "UInt64" { 8 } else { 4 };
        let is_compressed = !compressor.is_empty();
        let image = xml.child()?.filter(|image| image.name() == "ImageData");
        let image = image.ok_or_else(|| xml.error("there is no <ImageData> in it"))?;
        let (extent, dims, place) = extent(&xml, &image)?;
        let [cells, points, fields] = arrays(&mut xml, &extent)?;
        let memory = Budget { used: 2 * bytes.len() as u64, limit };
        Ok(Self { dims, place, cells, points, fields, head_size, is_compressed, appended, memory })
    }

    /// The values of an array as little-endian bytes, and their number. Decoded bytes are taken
    /// from `memory`.
    pub(super) fn values(
        &self,
        array: &Array<'a>,
        memory: &mut Budget,
    ) -> Result<(Values<'a>, u64), ReadError> {
        let encoded = match array.stored {
            Stored::Ascii(text) => {
                let bytes = of_ascii(text, array.element()?, memory)?;
                let len = bytes.len() as u64;
                return Ok((Box::new(Cursor::new(bytes)), len));
            }
            Stored::Base64(text) => Encoded { text: text.as_bytes(), is_base_64: true },
            Stored::Appended(at) => {
                Encoded { text: self.appended.text.get(at..).unwrap_or_default(), ..self.appended }
            }
        };
        if self.is_compressed {
            encoded.inflated(self.head_size, memory)
        } else {
            encoded.plain(self.head_size, memory)
        }
    }
}

/// The XML before the appended values, without the end of the root element, and these values.
fn parts(bytes: &[u8]) -> Result<(&[u8], Encoded<'_>), ReadError> {
    ensure!(memmem::find(bytes, b"<VTKFile").is_some(), "not a .vti file: there is no <VTKFile>");
    let cut_off =
        || content("it does not end with </VTKFile>: it is cut off, or has more bytes after that");
    let xml = bytes.trim_ascii_end().strip_suffix(b"</VTKFile>").ok_or_else(cut_off)?;
    let Some(at) = memmem::find(xml, b"<AppendedData") else {
        return Ok((xml, Encoded { text: &[], is_base_64: false }));
    };
    let (xml, appended) = xml.split_at(at);
    let appended =
        appended.trim_ascii_end().strip_suffix(b"</AppendedData>").ok_or_else(cut_off)?;
    let (tag, text) = appended.split_at(memchr(b'>', appended).unwrap_or(appended.len()));
    let is_base_64 = memmem::find(tag, b"base64").is_some();
    let text = text.get(1..).and_then(|text| text.trim_ascii_start().strip_prefix(b"_"));
    let text = text.ok_or_else(|| content("the appended data do not begin with '_'"))?;
    Ok((xml, Encoded { text, is_base_64 }))
}

/// The extent of an image, in points, with its dimensions and its place.
fn extent(xml: &Xml, image: &Tag) -> Result<([i32; 6], [u32; 3], Place), ReadError> {
    let ends: [i32; 6] = vector(xml, image, "WholeExtent", "")?;
    let origin: [f64; 3] = vector(xml, image, "Origin", "0 0 0")?;
    let [voxel_size, y, z]: [f64; 3] = vector(xml, image, "Spacing", "1 1 1")?;
    let direction: [f64; 9] = vector(xml, image, "Direction", "1 0 0 0 1 0 0 0 1")?;
    ensure!(
        voxel_size == y && voxel_size == z,
        "its voxels are of {voxel_size} x {y} x {z}, not cubes: resample it with one spacing"
    );
    let is_turned = direction != [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    ensure!(!is_turned, "it is turned by its Direction: resample it along the axes");
    let cells = [0, 2, 4].map(|a| i64::from(ends[a + 1]) - i64::from(ends[a]));
    let dims = checked_dims(cells.map(|count| u64::try_from(count).unwrap_or(0)))?;
    let origin = [0, 1, 2].map(|a| match ends[2 * a] {
        // Also the bits of -0.
        0 => origin[a],
        first => origin[a] + f64::from(first) * voxel_size,
    });
    Ok((ends, dims, checked_place(Place { origin, voxel_size })?))
}

/// The numbers in an attribute.
fn vector<T: FromStr, const N: usize>(
    xml: &Xml,
    tag: &Tag,
    name: &str,
    default: &str,
) -> Result<[T; N], ReadError> {
    let [text] = xml.attributes(tag, [name])?;
    let text = text.as_deref().unwrap_or(default);
    numbers(text.split_ascii_whitespace())
        .ok_or_else(|| xml.error(format!("its {name} is '{}', not {N} numbers", excerpt(text))))
}

/// The arrays of cells, points and fields of an image of this extent.
fn arrays<'a>(xml: &mut Xml<'a>, extent: &[i32; 6]) -> Result<[Vec<Array<'a>>; 3], ReadError> {
    let (mut arrays, mut pieces) = ([const { Vec::new() }; 3], 0);
    while let Some(child) = xml.child()? {
        match child.name() {
            "FieldData" => list(xml, &mut arrays[2])?,
            "Piece" => {
                let own: [i32; 6] = vector(xml, &child, "Extent", "")?;
                pieces += 1;
                ensure!(own == *extent && pieces == 1, "it is in several pieces: save it as one");
                while let Some(child) = xml.child()? {
                    match child.name() {
                        "CellData" => list(xml, &mut arrays[0])?,
                        "PointData" => list(xml, &mut arrays[1])?,
                        _ => xml.skip(&child)?,
                    }
                }
            }
            _ => xml.skip(&child)?,
        }
    }
    Ok(arrays)
}

/// Adds the arrays in an element.
fn list<'a>(xml: &mut Xml<'a>, arrays: &mut Vec<Array<'a>>) -> Result<(), ReadError> {
    while let Some(array) = xml.child()? {
        let names = ["type", "Name", "NumberOfComponents", "format", "offset"];
        let [kind, name, components, format, offset] = xml.attributes(&array, names)?;
        let [kind, name] = [kind, name].map(|text| text.unwrap_or_default().into_owned());
        let components = components.map_or(Ok(1), |text| xml.parsed("NumberOfComponents", &text));
        let text = xml.text(&array)?;
        let stored = match format.as_deref() {
            Some("appended") => {
                Stored::Appended(xml.required(&array, "offset", offset.as_deref())?)
            }
            Some("binary") => Stored::Base64(text),
            Some("ascii") | None => Stored::Ascii(text),
            Some(other) => bail!(
                "the array '{}' has the format '{}': save it as ascii, binary or appended",
                excerpt(&name),
                excerpt(other)
            ),
        };
        arrays.push(Array { name, kind, components: components?, stored });
    }
    Ok(())
}

impl Array<'_> {
    /// The type of its components; a text is of bytes.
    pub(super) fn element(&self) -> Result<Element, ReadError> {
        let kinds = [("String", 'i'), ("UInt", 'u'), ("Int", 'i'), ("Float", 'f')];
        let split = |(name, letter)| Some((letter, self.kind.strip_prefix(name)?));
        let (letter, bits) = kinds.into_iter().find_map(split).unwrap_or_default();
        let bytes = if self.is_text() {
            Some(1)
        } else {
            bits.parse().ok().filter(|n| n % 8 == 0).map(|n: u32| n / 8)
        };
        let element = bytes.and_then(|bytes| Element::of(&format!("<{letter}{bytes}")));
        element.ok_or_else(|| {
            content(format!("values of type '{}' are not read", excerpt(&self.kind)))
        })
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind == "String"
    }
}
