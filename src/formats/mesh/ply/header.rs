//! The header of a PLY file: the encoding and the declared elements.

use crate::base::numbers::counted;
use crate::formats::io::tokens::{Tokens, quoted};
use crate::formats::io::warnings::NameCounts;
use crate::formats::{ReadError, content};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Encoding {
    Text,
    Little,
    Big,
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn named(token: &[u8]) -> Option<Self> {
        Some(match token {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    /// Whether the type of a channel determines its full value; otherwise the values do.
    pub(super) fn has_full_value(self) -> bool {
        matches!(self, Self::I8 | Self::U8 | Self::U16)
    }

    /// The full value of channels of this type with the maximum `largest`. Values above 1 on a
    /// scale of 1 are below 2.
    pub(super) fn full_value(self, largest: f64) -> f64 {
        match self {
            Self::I8 | Self::U8 => 255.0,
            Self::U16 => 65535.0,
            Self::F32 | Self::F64 if largest <= 2.0 => 1.0,
            _ if largest <= 255.0 => 255.0,
            _ => 65535.0,
        }
    }

    /// Bytes in a binary file.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// A property: one number of each record, or a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Property<'a> {
    pub(super) name: &'a [u8],
    /// The type of a list's length.
    pub(super) length: Option<Scalar>,
    pub(super) scalar: Scalar,
}

// The elements that are read or counted.
pub(super) const VERTEX: &[u8] = b"vertex";
pub(super) const FACE: &[u8] = b"face";
pub(super) const STRIP: &[u8] = b"tristrips";
pub(super) const EDGE: &[u8] = b"edge";

// The properties that are read, by the names that programs use.
pub(super) const AXES: [&[u8]; 3] = [b"x", b"y", b"z"];
const CHANNELS: [[&[u8]; 4]; 3] = [
    [b"red", b"green", b"blue", b"alpha"],
    [b"r", b"g", b"b", b"a"],
    [b"diffuse_red", b"diffuse_green", b"diffuse_blue", b"diffuse_alpha"],
];
const TEXCOORDS: [[&[u8]; 2]; 3] = [[b"s", b"t"], [b"u", b"v"], [b"texture_u", b"texture_v"]];

/// An element: a number of records with the same properties.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub(super) name: &'a [u8],
    pub(super) count: u64,
    pub(super) properties: Vec<Property<'a>>,
}

impl Element<'_> {
    /// Whether its records are faces or triangle strips.
    pub(super) fn is_of_faces(&self) -> bool {
        [FACE, STRIP].contains(&self.name)
    }

    /// The index of the first property with one of `names` that is a list, or is not.
    pub(super) fn find(&self, names: &[&[u8]], is_list: bool) -> Option<usize> {
        let is_found = |p: &Property| names.contains(&p.name) && p.length.is_some() == is_list;
        self.properties.iter().position(is_found)
    }

    /// The index of the corner list of a face or strip.
    pub(super) fn corners(&self) -> Option<usize> {
        let corners = self.find(&[b"vertex_indices", b"vertex_index"], true);
        corners.filter(|_| self.is_of_faces())
    }

    /// The properties of red, green and blue, and of opacity.
    pub(super) fn channels(&self) -> Option<([usize; 3], Option<usize>)> {
        let find = |name| self.find(&[name], false);
        CHANNELS.iter().find_map(|&[red, green, blue, opacity]| {
            let light = [find(red)?, find(green)?, find(blue)?];
            Some((light, find(opacity)))
        })
    }

    /// Whether some of red, green and blue are missing, by the first of [`CHANNELS`]: `r` and `g`
    /// are names of other properties too.
    pub(super) fn has_incomplete_color(&self) -> bool {
        self.channels().is_none() && self.find(&CHANNELS[0][..3], false).is_some()
    }

    /// The texture coordinate properties of a vertex.
    pub(super) fn texcoords(&self) -> Option<[usize; 2]> {
        let find = |name| self.find(&[name], false);
        TEXCOORDS.iter().find_map(|&[u, v]| Some([find(u)?, find(v)?]))
    }

    /// The texture coordinate property of a face: a list of two numbers per corner.
    pub(super) fn corner_texcoords(&self) -> Option<usize> {
        self.find(&[b"texcoord"], true)
    }
}

#[derive(Debug)]
pub(super) struct Header<'a> {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element<'a>>,
    /// The files of textures that comments name, in order.
    pub(super) textures: Vec<&'a [u8]>,
    /// Whether a comment says that Blender wrote the file.
    pub(super) is_of_blender: bool,
    /// Unknown keywords.
    pub(super) unknown: NameCounts,
}

/// Rejects files that do not begin like PLY.
pub(super) fn check_start(start: &[u8]) -> Result<(), ReadError> {
    let is_ply = start.is_empty() || Tokens::new(start).next_in_line() == Some(b"ply");
    ensure!(is_ply, "not a PLY file: it does not begin with 'ply'");
    Ok(())
}

/// The length of a PLY header in bytes.
pub(super) fn len(bytes: &[u8]) -> Result<usize, ReadError> {
    check_start(bytes)?;
    let mut tokens = Tokens::new(bytes);
    while tokens.offset() < bytes.len() {
        tokens.rest_of_line();
        if tokens.next_in_line() == Some(b"end_header") {
            let end = tokens.offset();
            tokens.rest_of_line();
            // Without a line end, the token may be incomplete.
            if tokens.offset() > end {
                return Ok(tokens.offset());
            }
        }
    }
    Err(tokens.error("the file ends without a line 'end_header': it is cut off".into()))
}

impl<'a> Header<'a> {
    /// Parses the lines up to `end_header`.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, ReadError> {
        let mut tokens = Tokens::new(text);
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut textures = Vec::new();
        let mut is_of_blender = false;
        let mut unknown = NameCounts::default();
        let mut last_fault = None;
        tokens.rest_of_line();
        while tokens.offset() < text.len() {
            let keyword = tokens.next_in_line();
            match keyword {
                Some(b"format") => encoding = Some(parse_encoding(&mut tokens)?),
                Some(b"element") => elements.push(parse_element(&mut tokens)?),
                Some(b"property") => {
                    // A property of an element that failed to parse.
                    if let Some(fault) = last_fault.take() {
                        return Err(fault);
                    }
                    let property = parse_property(&mut tokens)?;
                    let element = elements.last_mut();
                    let element = element.ok_or_else(|| {
                        tokens.error("a property before the first element".into())
                    })?;
                    element.properties.push(property);
                }
                Some(b"comment") if tokens.clone().next_in_line() == Some(b"TextureFile") => {
                    tokens.next_in_line();
                    // Names may have spaces.
                    textures.push(tokens.rest_of_line().trim_ascii());
                    continue;
                }
                Some(b"comment") => {
                    let comment = tokens.clone().rest_of_line().trim_ascii();
                    is_of_blender |= comment.starts_with(b"Created in Blender");
                }
                None | Some(b"obj_info" | b"end_header") => {}
                Some(other) => {
                    let what = format!("{} is no keyword of a PLY header", quoted(other));
                    last_fault = Some(tokens.error(what));
                    unknown.add(&String::from_utf8_lossy(other));
                    tokens.rest_of_line();
                    continue;
                }
            }
            last_fault = None;
            tokens.rest_of_line();
        }
        let missing = || {
            let what = "the header does not say how the file is written: add a line such as \
                        'format ascii 1.0'";
            content(what)
        };
        let encoding = encoding.ok_or_else(missing)?;
        let header = Self { encoding, elements, textures, is_of_blender, unknown };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), ReadError> {
        for element in &self.elements {
            let missing =
                |what: &str| content(format!("the element {} has no {what}", quoted(element.name)));
            if element.name == VERTEX {
                for axis in AXES {
                    let found = element.find(&[axis], false);
                    found.ok_or_else(|| missing(&format!("property {}", quoted(axis))))?;
                }
            } else if element.is_of_faces() && element.count > 0 {
                element.corners().ok_or_else(|| missing("property list 'vertex_indices'"))?;
            }
        }
        let is_twice = self.named(VERTEX).count() > 1;
        ensure!(!is_twice, "the header declares the element 'vertex' twice: remove one");
        Ok(())
    }

    pub(super) fn named(&self, name: &[u8]) -> impl Iterator<Item = &Element<'a>> {
        self.elements.iter().filter(move |element| element.name == name)
    }

    /// The number of records of the elements of this name.
    pub(super) fn count(&self, name: &[u8]) -> u64 {
        self.named(name).fold(0, |sum, element| sum.saturating_add(element.count))
    }

    /// Rejects counts that exceed the file's length, which holds at most `most_values` numbers. So
    /// allocations are proportional to the file.
    pub(super) fn check_room(&self, most_values: u64) -> Result<(), ReadError> {
        let mut left = most_values;
        for element in &self.elements {
            let bytes = |property: &Property| match (self.encoding, property.length) {
                (Encoding::Text, _) => 1,
                (_, Some(length)) => length.size() as u64,
                (_, None) => property.scalar.size() as u64,
            };
            let record: u64 = element.properties.iter().map(bytes).sum();
            let needed = element.count.saturating_mul(record);
            left = left.checked_sub(needed).ok_or_else(|| {
                let records = counted(element.count, "record");
                content(format!(
                    "the header says that there are {records} of the element {}, but the file is \
                     too short for that: it is cut off, or the header is wrong",
                    quoted(element.name)
                ))
            })?;
        }
        Ok(())
    }
}

fn parse_encoding(tokens: &mut Tokens) -> Result<Encoding, ReadError> {
    let token = tokens.next_in_line().unwrap_or_default();
    let encoding = match token {
        b"ascii" => Encoding::Text,
        b"binary_little_endian" => Encoding::Little,
        b"binary_big_endian" => Encoding::Big,
        _ => {
            return Err(tokens.error(format!(
                "the format {} is unknown: use ascii, binary_little_endian or binary_big_endian",
                quoted(token)
            )));
        }
    };
    match tokens.next_in_line() {
        None | Some(b"1.0") => Ok(encoding),
        Some(version) => {
            let version = quoted(version);
            Err(tokens.error(format!("the version {version} of PLY is unknown: save it as 1.0")))
        }
    }
}

fn parse_element<'a>(tokens: &mut Tokens<'a>) -> Result<Element<'a>, ReadError> {
    let (name, count) = (tokens.next_in_line(), tokens.next_in_line().unwrap_or_default());
    let number = str::from_utf8(count).ok().and_then(|count| count.parse().ok());
    match (name, number) {
        (Some(name), Some(count)) => Ok(Element { name, count, properties: Vec::new() }),
        _ => Err(tokens.misplaced(Some(count), "the number of the element's records")),
    }
}

fn parse_property<'a>(tokens: &mut Tokens<'a>) -> Result<Property<'a>, ReadError> {
    let scalar = |token: &'a [u8]| {
        let unknown = format!("{} is no type of PLY, such as float or uchar", quoted(token));
        Scalar::named(token).ok_or(unknown)
    };
    let first = tokens.next_in_line().unwrap_or_default();
    let types = match first {
        b"list" => {
            let [length, item] = [(); 2].map(|()| tokens.next_in_line().unwrap_or_default());
            scalar(length).and_then(|length| Ok((Some(length), scalar(item)?)))
        }
        _ => scalar(first).map(|scalar| (None, scalar)),
    };
    let (length, scalar) = types.map_err(|what| tokens.error(what))?;
    let name = tokens.next_in_line();
    let name = name.ok_or_else(|| tokens.error("a property without a name".into()))?;
    Ok(Property { name, length, scalar })
}
