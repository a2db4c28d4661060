//! The records of a PLY file, number by number. A 64-bit float represents all types exactly.

use crate::formats::io::tokens::{Tokens, number, quoted};
use crate::formats::mesh::flat_colors::ColorScale;
use crate::formats::mesh::ply::build::{Build, Face, texcoord};
use crate::formats::mesh::ply::header::{AXES, Element, Header, Property, STRIP, Scalar, VERTEX};
use crate::formats::{ReadError, content};

/// An error about a record.
#[derive(Debug)]
pub(super) enum Fault {
    /// The record or the file ends before the end of a number.
    Missing,
    /// Not a number, or not one of its type.
    Malformed,
    /// Any other, by its message.
    Other(String),
}

/// A cursor over the numbers of a file. A clone continues from the original's position.
pub(super) trait Values: Clone {
    /// Begins the next record.
    fn begin(&mut self) {}
    fn next(&mut self, scalar: Scalar) -> Result<f64, Fault>;
    fn skip(&mut self, scalar: Scalar, count: u64) -> Result<(), Fault>;
    /// Ends a record.
    fn end(&mut self) {}
    /// The number of records with more numbers than declared.
    fn extra(&self) -> u64 {
        0
    }
    /// The error of a record, with its position.
    fn error(&self, record: &str, fault: Fault) -> ReadError;
    /// Bytes left.
    fn left(&self) -> usize;
}

/// Text: a record per line, or numbers that are separated by any white space.
#[derive(Clone)]
pub(super) struct Text<'a> {
    tokens: Tokens<'a>,
    is_by_line: bool,
    len: usize,
    last: &'a [u8],
    extra: u64,
}

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize, is_by_line: bool) -> Self {
        Self { tokens: Tokens::from(bytes, at), is_by_line, len: bytes.len(), last: b"", extra: 0 }
    }

    fn token(&mut self) -> Option<&'a [u8]> {
        if self.is_by_line { self.tokens.next_in_line() } else { self.tokens.next() }
    }
}

impl Values for Text<'_> {
    fn begin(&mut self) {
        self.tokens.skip_blank_lines();
    }

    fn next(&mut self, scalar: Scalar) -> Result<f64, Fault> {
        self.last = self.token().ok_or(Fault::Missing)?;
        let number = number(self.last).ok_or(Fault::Malformed)?;
        let is_whole = matches!(scalar, Scalar::F32 | Scalar::F64) || number.fract() == 0.0;
        if is_whole { Ok(number) } else { Err(Fault::Malformed) }
    }

    fn skip(&mut self, _: Scalar, count: u64) -> Result<(), Fault> {
        (0..count).try_for_each(|_| self.token().map(|_| ()).ok_or(Fault::Missing))
    }

    fn end(&mut self) {
        if self.is_by_line && self.tokens.next_in_line().is_some() {
            self.extra += 1;
            self.tokens.rest_of_line();
        }
    }

    fn extra(&self) -> u64 {
        self.extra
    }

    fn error(&self, record: &str, fault: Fault) -> ReadError {
        let what = match fault {
            Fault::Missing if self.tokens.offset() == self.len => {
                "the file ends: it is cut off".into()
            }
            Fault::Missing => "fewer numbers in the line than the header declares".into(),
            Fault::Malformed => {
                let last = quoted(self.last);
                format!("{last} is not a number of the type that the header declares")
            }
            Fault::Other(what) => what,
        };
        self.tokens.error(format!("{record}: {what}"))
    }

    fn left(&self) -> usize {
        let mut tokens = self.tokens.clone();
        tokens.skip_blank_lines();
        self.len - tokens.offset()
    }
}

/// Binary numbers, big-endian or little-endian.
#[derive(Clone)]
pub(super) struct Binary<'a, const IS_BIG: bool> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a, const IS_BIG: bool> Binary<'a, IS_BIG> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = *self.bytes[self.at..].first_chunk().ok_or(Fault::Missing)?;
        if IS_BIG {
            bytes.reverse();
        }
        self.at += N;
        Ok(bytes)
    }
}

impl<const IS_BIG: bool> Values for Binary<'_, IS_BIG> {
    fn next(&mut self, scalar: Scalar) -> Result<f64, Fault> {
        Ok(match scalar {
            Scalar::I8 => i8::from_le_bytes(self.take()?).into(),
            Scalar::U8 => u8::from_le_bytes(self.take()?).into(),
            Scalar::I16 => i16::from_le_bytes(self.take()?).into(),
            Scalar::U16 => u16::from_le_bytes(self.take()?).into(),
            Scalar::I32 => i32::from_le_bytes(self.take()?).into(),
            Scalar::U32 => u32::from_le_bytes(self.take()?).into(),
            Scalar::F32 => f32::from_le_bytes(self.take()?).into(),
            Scalar::F64 => f64::from_le_bytes(self.take()?),
        })
    }

    fn skip(&mut self, scalar: Scalar, count: u64) -> Result<(), Fault> {
        let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(scalar.size()));
        let bytes = bytes.filter(|&bytes| bytes <= self.left()).ok_or(Fault::Missing)?;
        self.at += bytes;
        Ok(())
    }

    fn error(&self, record: &str, fault: Fault) -> ReadError {
        let what = match fault {
            Fault::Missing | Fault::Malformed => {
                "the file ends: it is cut off, or the header is wrong".into()
            }
            Fault::Other(what) => what,
        };
        content(format!("{record}, before byte {}: {what}", self.at))
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }
}

/// A list's length; 1 for a scalar.
fn length(values: &mut impl Values, property: &Property) -> Result<u64, Fault> {
    let Some(scalar) = property.length else { return Ok(1) };
    let length = values.next(scalar)?;
    if length >= 0.0 && length.fract() == 0.0 { Ok(length as u64) } else { Err(Fault::Malformed) }
}

fn skip(values: &mut impl Values, property: &Property) -> Result<u64, Fault> {
    let count = length(values, property)?;
    values.skip(property.scalar, count)?;
    Ok(count)
}

/// Calls `read` for each record of an element. Surplus numbers of a record are skipped and counted.
fn each_record<V: Values>(
    element: &Element,
    values: &mut V,
    mut read: impl FnMut(&mut V) -> Result<(), Fault>,
) -> Result<(), ReadError> {
    if element.properties.is_empty() {
        return Ok(());
    }
    for record in 0..element.count {
        values.begin();
        read(values).map_err(|fault| {
            values.error(&format!("{} {record} (counted from 0)", quoted(element.name)), fault)
        })?;
        values.end();
    }
    Ok(())
}

/// Upper bounds for the triangulation of faces.
#[derive(Debug, Default)]
pub(super) struct FaceCounts {
    pub(super) triangles: u64,
    /// Corners of the largest face.
    pub(super) largest: u64,
    /// Length of the longest list of texture coordinates.
    pub(super) texcoords: u64,
}

/// Counts faces without allocating.
pub(super) fn count_faces<V: Values>(
    header: &Header,
    mut values: V,
) -> Result<FaceCounts, ReadError> {
    let mut counts = FaceCounts::default();
    for element in &header.elements {
        let (corners, texcoords) = (element.corners(), element.corner_texcoords());
        each_record(element, &mut values, |values| {
            for (at, property) in element.properties.iter().enumerate() {
                let count = skip(values, property)?;
                if Some(at) == corners {
                    counts.triangles += count.saturating_sub(2);
                    counts.largest = counts.largest.max(count);
                } else if Some(at) == texcoords {
                    counts.texcoords = counts.texcoords.max(count);
                }
            }
            Ok(())
        })?;
    }
    Ok(counts)
}

/// Reads the records of a mesh; returns the cursor after the last.
pub(super) fn read_records<V: Values>(
    header: &Header,
    mut values: V,
    build: &mut Build,
) -> Result<V, ReadError> {
    // Faces need the vertices.
    let mut early = Vec::new();
    let mut has_vertices = header.named(VERTEX).next().is_none();
    for element in &header.elements {
        let is_face = element.is_of_faces();
        if element.name == VERTEX {
            read_vertices(element, &mut values, build)?;
            has_vertices = true;
        } else if is_face && has_vertices {
            read_faces(element, &mut values, build)?;
        } else {
            early.extend(is_face.then(|| (element, values.clone())));
            each_record(element, &mut values, |values| {
                element.properties.iter().try_for_each(|p| skip(values, p).map(|_| ()))
            })?;
        }
    }
    for (element, mut values) in early {
        read_faces(element, &mut values, build)?;
    }
    Ok(values)
}

/// The numbers of a record that are read: position, colour, texture coordinates, texture index.
type Record = [f64; 10];

const POSITION: usize = 0;
const LIGHT: usize = 3;
const OPACITY: usize = 6;
const TEXCOORDS: usize = 7;
const TEXTURE: usize = 9;

/// The defaults; a missing opacity is opaque, on the scale of bytes.
const EMPTY: Record = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 255.0, 0.0, 0.0, 0.0];

fn color(record: &Record) -> [f64; 4] {
    [LIGHT, LIGHT + 1, LIGHT + 2, OPACITY].map(|slot| record[slot])
}

/// The slot of each property in a record, if it is read.
struct Slots(Vec<Option<usize>>);

impl Slots {
    /// Assigns `properties` to the slots from `first` on.
    fn send(&mut self, first: usize, properties: impl IntoIterator<Item = usize>) {
        for (slot, property) in (first..).zip(properties) {
            self.0[property] = Some(slot);
        }
    }

    /// Reads the number of a property, or skips the property.
    #[inline]
    fn read(
        &self,
        (at, property): (usize, &Property),
        values: &mut impl Values,
        record: &mut Record,
    ) -> Result<(), Fault> {
        match self.0[at] {
            Some(slot) => {
                let number = values.next(property.scalar)?;
                // Some programs call unsigned channels `char`.
                let is_wrapped = property.scalar == Scalar::I8 && (LIGHT..=OPACITY).contains(&slot);
                record[slot] = if is_wrapped && number < 0.0 { number + 256.0 } else { number };
            }
            None => _ = skip(values, property)?,
        }
        Ok(())
    }

    #[inline]
    fn read_record(
        &self,
        element: &Element,
        values: &mut impl Values,
        record: &mut Record,
    ) -> Result<(), Fault> {
        let mut properties = element.properties.iter().enumerate();
        properties.try_for_each(|property| self.read(property, values, record))
    }
}

/// The slots of the colours of an element, if they are to be read, and their scale: by their type
/// or, if that is ambiguous, by their values.
fn color_slots<V: Values>(
    element: &Element,
    is_read: bool,
    values: &V,
) -> Result<(Slots, Option<ColorScale>), ReadError> {
    let mut slots = Slots(vec![None; element.properties.len()]);
    let Some((light, opacity)) = element.channels().filter(|_| is_read) else {
        return Ok((slots, None));
    };
    slots.send(LIGHT, light);
    slots.send(OPACITY, opacity);
    let scalar = |property: usize| element.properties[property].scalar;
    let (light, opacity) = (scalar(light[0]), opacity.map_or(Scalar::U8, scalar));
    let mut largest: Record = [0.0; 10];
    if !(light.has_full_value() && opacity.has_full_value()) {
        let mut record = EMPTY;
        each_record(element, &mut values.clone(), |values| {
            slots.read_record(element, values, &mut record)?;
            for (largest, number) in largest.iter_mut().zip(record) {
                *largest = largest.max(number);
            }
            Ok(())
        })?;
    }
    let [r, g, b, a] = color(&largest);
    let light = light.full_value(r.max(g).max(b));
    Ok((slots, Some(ColorScale { light, opacity: opacity.full_value(a) })))
}

fn read_vertices<V: Values>(
    element: &Element,
    values: &mut V,
    build: &mut Build,
) -> Result<(), ReadError> {
    let attributes = build.attributes;
    let (mut slots, scale) = color_slots(element, attributes.vertex_colors, values)?;
    slots.send(POSITION, AXES.iter().filter_map(|&axis| element.find(&[axis], false)));
    let texcoords = element.texcoords().filter(|_| attributes.vertex_texcoords);
    slots.send(TEXCOORDS, texcoords.into_iter().flatten());
    let mut record = EMPTY;
    each_record(element, values, |values| {
        slots.read_record(element, values, &mut record)?;
        build.positions.push([0, 1, 2].map(|axis| record[POSITION + axis]));
        if let Some(scale) = scale {
            let color = color(&record);
            build.clamped[0] += u64::from(!scale.holds(color));
            build.vertex_colors.push(scale.linear(color));
        }
        if texcoords.is_some() {
            let uv = texcoord(record[TEXCOORDS], record[TEXCOORDS + 1]);
            build.vertex_texcoords.push(uv);
        }
        Ok(())
    })
}

fn read_faces<V: Values>(
    element: &Element,
    values: &mut V,
    build: &mut Build,
) -> Result<(), ReadError> {
    let attributes = build.attributes;
    let (mut slots, scale) = color_slots(element, attributes.face_colors, values)?;
    let texture = element.find(&[b"texnumber"], false);
    slots.send(TEXTURE, texture.filter(|_| attributes.has_texcoords()));
    let list = element.corners();
    let texcoords_list = element.corner_texcoords().filter(|_| attributes.corner_texcoords);
    let is_strip = element.name == STRIP;
    let (mut corners, mut texcoords) = (Vec::new(), Vec::new());
    let mut record = EMPTY;
    each_record(element, values, |values| {
        for (at, property) in element.properties.iter().enumerate() {
            if list == Some(at) {
                read_list(values, property, &mut corners, index)?;
            } else if texcoords_list == Some(at) {
                read_list(values, property, &mut texcoords, Ok)?;
            } else {
                slots.read((at, property), values, &mut record)?;
            }
        }
        let color = scale.map(|scale| {
            let color = color(&record);
            build.clamped[1] += u64::from(!scale.holds(color));
            scale.srgb(color)
        });
        let face = Face { color, texture: record[TEXTURE], texcoords: &texcoords };
        if is_strip { build.add_strip(&corners, face) } else { build.add_face(&corners, face) }
            .map_err(Fault::Other)
    })
}

#[inline]
fn read_list<T>(
    values: &mut impl Values,
    property: &Property,
    list: &mut Vec<T>,
    convert: impl Fn(f64) -> Result<T, Fault>,
) -> Result<(), Fault> {
    list.clear();
    for _ in 0..length(values, property)? {
        list.push(convert(values.next(property.scalar)?)?);
    }
    Ok(())
}

fn index(number: f64) -> Result<i64, Fault> {
    if number.fract() == 0.0 {
        Ok(number as i64)
    } else {
        Err(Fault::Other(format!("{number} is not an index")))
    }
}
