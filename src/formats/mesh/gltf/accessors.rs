//! Accessors: typed arrays in the buffers of a glTF file, dense or sparse.

use std::array::from_fn;
use std::borrow::Cow;
use std::cell::Cell;

use crate::base::srgb::Linear;
use crate::formats::mesh::gltf::json::{Accessor, Document, Sparse, View};
use crate::formats::mesh::out_of_range::is_unit;

/// The arrays of a file. Errors name the accessor.
pub(super) struct Arrays<'a> {
    pub(super) document: &'a Document<'a>,
    buffers: Vec<Cow<'a, [u8]>>,
    /// Bytes of all buffers.
    bytes: usize,
}

/// Limit of elements of an accessor without a buffer view, for files of any length.
const MOST_ZEROS: usize = 1 << 16;

/// How numbers are stored.
struct Component {
    size: usize,
    /// The integer that stands for 1 if they are normalized.
    most: f64,
    /// Reads a number as a float, which represents each of them exactly.
    read: fn(&[u8]) -> f64,
}

/// Component types of numbers; the integers are those of `KHR_mesh_quantization`.
const NUMBERS: &[u32] = &[5120, 5121, 5122, 5123, FLOAT];
const INDICES: &[u32] = &[5121, 5123, 5125];
const COLORS: &[u32] = &[5121, 5123, FLOAT];
const FLOAT: u32 = 5126;

/// The first bytes of a slice, which must be long enough.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

impl Component {
    fn of(kind: u32, allowed: &[u32], what: &str) -> Result<Self, String> {
        if !allowed.contains(&kind) {
            return Err(format!("has components of type {kind} for {what}"));
        }
        let (size, most, read): (_, _, fn(&[u8]) -> f64) = match kind {
            5120 => (1, 127.0, |b| i8::from_le_bytes(first(b)).into()),
            5121 => (1, 255.0, |b| u8::from_le_bytes(first(b)).into()),
            5122 => (2, 32767.0, |b| i16::from_le_bytes(first(b)).into()),
            5123 => (2, 65535.0, |b| u16::from_le_bytes(first(b)).into()),
            5125 => (4, u32::MAX.into(), |b| u32::from_le_bytes(first(b)).into()),
            _ => (4, 1.0, |b| f32::from_le_bytes(first(b)).into()),
        };
        Ok(Self { size, most, read })
    }
}

/// A channel from 0 to 1, as 16 bits; NaN is 0.
pub(super) fn light(value: f64) -> u16 {
    (value.clamp(0.0, 1.0) * f64::from(u16::MAX)).round() as u16
}

impl<'a> Arrays<'a> {
    pub(super) fn new(document: &'a Document<'a>, buffers: Vec<Cow<'a, [u8]>>) -> Self {
        let bytes = buffers.iter().map(|buffer| buffer.len()).sum();
        Self { document, buffers, bytes }
    }

    /// The elements of accessor `index`, of `N` components. Errors name its use, `what`.
    pub(super) fn numbers<const N: usize>(
        &self,
        index: usize,
        what: &str,
    ) -> Result<Vec<[f64; N]>, String> {
        let mut out = Vec::new();
        self.add_numbers(index, what, &mut out)?;
        Ok(out)
    }

    /// Adds the elements of [`numbers`](Self::numbers) to `out`.
    pub(super) fn add_numbers<const N: usize>(
        &self,
        index: usize,
        what: &str,
        out: &mut Vec<[f64; N]>,
    ) -> Result<(), String> {
        self.vectors(index, NUMBERS, what, |numbers| numbers, out)
    }

    /// The elements of `N` indices in the accessor.
    pub(super) fn indices<const N: usize>(&self, index: usize) -> Result<Vec<[u32; N]>, String> {
        let mut out = Vec::new();
        let convert = |numbers: [f64; N]| numbers.map(|number| number as u32);
        self.vectors(index, INDICES, "indices", convert, &mut out)?;
        Ok(out)
    }

    /// Adds the elements of accessor `index`, converted from `N` components of a type in `allowed`.
    fn vectors<T: Copy, const N: usize>(
        &self,
        index: usize,
        allowed: &[u32],
        what: &str,
        convert: impl Fn([f64; N]) -> T,
        out: &mut Vec<T>,
    ) -> Result<(), String> {
        let read = |accessor: &Accessor| {
            let shape = match N {
                1 => "SCALAR",
                2 => "VEC2",
                3 => "VEC3",
                4 => "VEC4",
                _ => "MAT4",
            };
            if accessor.shape != shape {
                return Err(misshapen(accessor, shape));
            }
            let kind = accessor.component_type;
            let Component { size, most, read } = Component::of(kind, allowed, what)?;
            // Integers of colours are normalized even if the file denies it.
            let is_normalized =
                kind != FLOAT && (allowed == COLORS || accessor.normalized && allowed == NUMBERS);
            let number =
                |b: &[u8]| if is_normalized { (read(b) / most).max(-1.0) } else { read(b) };
            let element = |b: &[u8]| convert(from_fn(|n| number(&b[n * size..])));
            self.elements(accessor, N * size, element, convert([0.0; N]), out)
        };
        named(index, self.accessor(index).and_then(read))
    }

    /// Whether the accessor has neither a buffer view nor sparse elements, so that all is zero.
    pub(super) fn is_zero(&self, index: usize) -> bool {
        let accessor = self.document.accessors.get(index);
        accessor.is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none())
    }

    /// Adds the colours in the accessor to `out`. Returns the number of those with a value outside
    /// 0 to 1.
    pub(super) fn colors(&self, index: usize, out: &mut Vec<Linear>) -> Result<u64, String> {
        let clamped = Cell::new(0);
        let color = |values: [f64; 4]| {
            let is_clamped = !values.into_iter().all(is_unit);
            clamped.set(clamped.get() + u64::from(is_clamped));
            values.map(light)
        };
        let opaque = |[r, g, b]: [f64; 3]| color([r, g, b, 1.0]);
        let accessor = named(index, self.accessor(index))?;
        match &accessor.shape[..] {
            "VEC3" => self.vectors(index, COLORS, "colours", opaque, out)?,
            "VEC4" => self.vectors(index, COLORS, "colours", color, out)?,
            _ => return named(index, Err(misshapen(accessor, "VEC3 or VEC4"))),
        }
        Ok(clamped.get())
    }

    pub(super) fn view(&self, view: usize) -> Result<&[u8], String> {
        view_bytes(&self.document.buffer_views, &self.buffers, view)
    }

    pub(super) fn count(&self, index: usize) -> Result<usize, String> {
        named(index, self.accessor(index).map(|accessor| accessor.count))
    }

    /// Checks that the accessor has an element for each of `vertices`.
    pub(super) fn check_count(&self, index: usize, vertices: u64) -> Result<(), String> {
        match self.count(index)? as u64 {
            count if count == vertices => Ok(()),
            count => Err(format!(
                "accessor {index} (counted from 0) has {count} elements for {vertices} vertices"
            )),
        }
    }

    /// An accessor. Its count is limited by the bytes of all buffers or a small constant, so that
    /// the size of one without a buffer view is proportional to the file.
    fn accessor(&self, index: usize) -> Result<&Accessor, String> {
        let accessor = self.document.accessors.get(index).ok_or("does not exist")?;
        let count = accessor.count;
        if count > self.bytes.max(MOST_ZEROS) {
            Err(format!("says that it has {count} elements, more than there are bytes"))
        } else {
            Ok(accessor)
        }
    }

    /// Adds the elements to `out`. Without a buffer view they are `zero`, except for sparse ones
    /// (glTF 2.0, 3.6.2.3).
    fn elements<T: Copy>(
        &self,
        accessor: &Accessor,
        size: usize,
        read: impl Fn(&[u8]) -> T,
        zero: T,
        out: &mut Vec<T>,
    ) -> Result<(), String> {
        let start = out.len();
        let count = accessor.count;
        match accessor.buffer_view {
            Some(view) => {
                let stride = self.document.buffer_views.get(view).and_then(|view| view.byte_stride);
                let stride = stride.unwrap_or(size);
                let bytes = self.bytes(view, accessor.byte_offset, count, [size, stride])?;
                out.reserve_exact(count);
                // The last chunk may be no longer than the element.
                out.extend(bytes.chunks(stride).take(count).map(|chunk| read(&chunk[..size])));
            }
            None => out.resize(start + count, zero),
        }
        match &accessor.sparse {
            Some(sparse) => self.replace(sparse, size, read, &mut out[start..]),
            None => Ok(()),
        }
    }

    /// Replaces the elements of a sparse accessor.
    fn replace<T>(
        &self,
        sparse: &Sparse,
        size: usize,
        read: impl Fn(&[u8]) -> T,
        out: &mut [T],
    ) -> Result<(), String> {
        let Sparse { count, indices, values } = sparse;
        let index = Component::of(indices.component_type, INDICES, "indices")?;
        let sizes = [index.size; 2];
        let at = self.bytes(indices.buffer_view, indices.byte_offset, *count, sizes)?;
        let values = self.bytes(values.buffer_view, values.byte_offset, *count, [size; 2])?;
        for (at, value) in at.chunks_exact(index.size).zip(values.chunks_exact(size)) {
            let (at, len) = ((index.read)(at) as usize, out.len());
            let element = out.get_mut(at).ok_or_else(|| {
                format!("replaces the element {at}, but there are {len}, counted from 0")
            })?;
            *element = read(value);
        }
        Ok(())
    }

    /// The bytes of `count` elements in a view, of the given size and stride.
    fn bytes(
        &self,
        view: usize,
        offset: usize,
        count: usize,
        [size, stride]: [usize; 2],
    ) -> Result<&[u8], String> {
        let bytes = self.view(view)?;
        if stride < size {
            return Err(format!("has elements of {size} bytes at a stride of {stride}"));
        }
        let long = || format!("reaches past the end of the buffer view {view}");
        let len = match count.checked_sub(1) {
            Some(before) => before.checked_mul(stride).and_then(|len| len.checked_add(size)),
            None => Some(0),
        };
        let end = len.and_then(|len| offset.checked_add(len)).ok_or_else(long)?;
        bytes.get(offset..end).ok_or_else(long)
    }
}

pub(super) fn view_bytes<'b>(
    views: &[View],
    buffers: &'b [Cow<[u8]>],
    view: usize,
) -> Result<&'b [u8], String> {
    let missing = || format!("is in the buffer view {view}, which does not exist");
    let &View { buffer, byte_offset, byte_length, .. } = views.get(view).ok_or_else(missing)?;
    let missing = || format!("is in the buffer {buffer}, which does not exist");
    let buffer = buffers.get(buffer).ok_or_else(missing)?;
    let end = byte_offset.checked_add(byte_length);
    end.and_then(|end| buffer.get(byte_offset..end)).ok_or_else(|| {
        format!("is in the buffer view {view}, which reaches past the end of its buffer")
    })
}

fn misshapen(accessor: &Accessor, shape: &str) -> String {
    let found = crate::formats::excerpt(&accessor.shape);
    format!("is of type {found} where {shape} belongs")
}

fn named<T>(index: usize, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|what| format!("accessor {index} (counted from 0) {what}"))
}
