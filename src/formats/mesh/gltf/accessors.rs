//! Accessors: typed arrays in the buffers of a glTF file, dense or sparse.

use std::borrow::Cow;

use crate::base::srgb::Linear;
use crate::formats::mesh::gltf::json::{Accessor, Document, Sparse};

/// The arrays of a file. Errors name the accessor.
pub(super) struct Arrays<'a> {
    pub(super) document: &'a Document<'a>,
    buffers: Vec<Cow<'a, [u8]>>,
    /// Bytes of all buffers.
    bytes: usize,
}

/// Limit of elements of an accessor without a buffer view, for files of any length.
const MOST_ZEROS: usize = 1 << 16;

/// The decoder of a component type.
struct Component<T> {
    size: usize,
    read: fn(&[u8]) -> T,
}

/// The first bytes of a slice, which must be long enough.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

impl Component<f64> {
    /// For the attribute `what`. Integers are those of `KHR_mesh_quantization`.
    fn of_number(accessor: &Accessor, what: &str) -> Result<Self, String> {
        let (size, read): (_, fn(&[u8]) -> f64) =
            match (accessor.component_type, accessor.normalized) {
                (5120, false) => (1, |b| i8::from_le_bytes(first(b)).into()),
                (5121, false) => (1, |b| u8::from_le_bytes(first(b)).into()),
                (5122, false) => (2, |b| i16::from_le_bytes(first(b)).into()),
                (5123, false) => (2, |b| u16::from_le_bytes(first(b)).into()),
                (5120, true) => (1, |b| (f64::from(i8::from_le_bytes(first(b))) / 127.0).max(-1.0)),
                (5121, true) => (1, |b| f64::from(u8::from_le_bytes(first(b))) / 255.0),
                (5122, true) => {
                    (2, |b| (f64::from(i16::from_le_bytes(first(b))) / 32767.0).max(-1.0))
                }
                (5123, true) => (2, |b| f64::from(u16::from_le_bytes(first(b))) / 65535.0),
                (5126, _) => (4, |b| f32::from_le_bytes(first(b)).into()),
                (other, _) => return Err(format!("has components of type {other} for {what}")),
            };
        Ok(Self { size, read })
    }
}

impl Component<u32> {
    fn of_index(component_type: u32) -> Result<Self, String> {
        let (size, read): (_, fn(&[u8]) -> u32) = match component_type {
            5121 => (1, |b| u8::from_le_bytes(first(b)).into()),
            5123 => (2, |b| u16::from_le_bytes(first(b)).into()),
            5125 => (4, |b| u32::from_le_bytes(first(b))),
            other => return Err(format!("has components of type {other} for indices")),
        };
        Ok(Self { size, read })
    }
}

impl Component<u16> {
    /// For a colour in linear light. Integers are always normalized, even if the file denies it.
    fn of_light(component_type: u32) -> Result<Self, String> {
        let (size, read): (_, fn(&[u8]) -> u16) = match component_type {
            5121 => (1, |b| u16::from(u8::from_le_bytes(first(b))) * 257),
            5123 => (2, |b| u16::from_le_bytes(first(b))),
            5126 => (4, |b| light(f32::from_le_bytes(first(b)).into())),
            other => return Err(format!("has components of type {other} for colours")),
        };
        Ok(Self { size, read })
    }
}

/// A channel from 0 to 1, as 16 bits; NaN is 0.
pub(super) fn light(value: f64) -> u16 {
    (value.clamp(0.0, 1.0) * f64::from(u16::MAX)).round() as u16
}

impl<'a> Arrays<'a> {
    /// The arrays of `document` in its buffers.
    pub(super) fn new(document: &'a Document<'a>, buffers: Vec<Cow<'a, [u8]>>) -> Self {
        let bytes = buffers.iter().map(|buffer| buffer.len()).sum();
        Self { document, buffers, bytes }
    }

    /// Adds the positions in the accessor to `out`.
    pub(super) fn positions(&self, index: usize, out: &mut Vec<[f64; 3]>) -> Result<(), String> {
        let read = |accessor: &Accessor| {
            check_shape(accessor, "VEC3")?;
            let Component { size, read } = Component::of_number(accessor, "positions")?;
            let position = |b: &[u8]| [0, 1, 2].map(|axis| read(&b[axis * size..]));
            self.elements(accessor, 3 * size, position, [0.0; 3], out)
        };
        named(index, self.accessor(index).and_then(read))
    }

    /// The vectors of three numbers in the accessor.
    pub(super) fn vectors(&self, index: usize) -> Result<Vec<[f64; 3]>, String> {
        let mut out = Vec::new();
        self.positions(index, &mut out)?;
        Ok(out)
    }

    /// The vectors of four numbers in the accessor.
    pub(super) fn vec4s(&self, index: usize) -> Result<Vec<[f64; 4]>, String> {
        self.numbers(index, "VEC4", "rotations or weights")
    }

    /// The 4x4 matrices in the accessor, column by column.
    pub(super) fn matrices(&self, index: usize) -> Result<Vec<[f64; 16]>, String> {
        self.numbers(index, "MAT4", "matrices")
    }

    fn numbers<const N: usize>(
        &self,
        index: usize,
        shape: &str,
        what: &str,
    ) -> Result<Vec<[f64; N]>, String> {
        let read = |accessor: &Accessor| {
            check_shape(accessor, shape)?;
            let Component { size, read } = Component::of_number(accessor, what)?;
            let mut out = Vec::new();
            let element = |b: &[u8]| std::array::from_fn(|n| read(&b[n * size..]));
            self.elements(accessor, N * size, element, [0.0; N], &mut out)?;
            Ok(out)
        };
        named(index, self.accessor(index).and_then(read))
    }

    /// The four joints of each vertex in the accessor.
    pub(super) fn joints(&self, index: usize) -> Result<Vec<[u32; 4]>, String> {
        let read = |accessor: &Accessor| {
            check_shape(accessor, "VEC4")?;
            let Component { size, read } = Component::of_index(accessor.component_type)?;
            let mut out = Vec::new();
            let joints = |b: &[u8]| [0, 1, 2, 3].map(|n| read(&b[n * size..]));
            self.elements(accessor, 4 * size, joints, [0; 4], &mut out)?;
            Ok(out)
        };
        named(index, self.accessor(index).and_then(read))
    }

    /// Whether the accessor has neither a buffer view nor sparse elements, so that all is zero.
    pub(super) fn is_zero(&self, index: usize) -> bool {
        let accessor = self.document.accessors.get(index);
        accessor.is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none())
    }

    /// The texture coordinates in the accessor.
    pub(super) fn texcoords(&self, index: usize) -> Result<Vec<[f64; 2]>, String> {
        let read = |accessor: &Accessor| {
            check_shape(accessor, "VEC2")?;
            let Component { size, read } = Component::of_number(accessor, "texture coordinates")?;
            let mut out = Vec::new();
            let texcoord = |b: &[u8]| [0, 1].map(|axis| read(&b[axis * size..]));
            self.elements(accessor, 2 * size, texcoord, [0.0; 2], &mut out)?;
            Ok(out)
        };
        named(index, self.accessor(index).and_then(read))
    }

    /// Adds the colours in the accessor to `out`.
    pub(super) fn colors(&self, index: usize, out: &mut Vec<Linear>) -> Result<(), String> {
        let read = |accessor: &Accessor| {
            let channels = match &accessor.shape[..] {
                "VEC3" => 3,
                "VEC4" => 4,
                _ => return Err(misshapen(accessor, "VEC3 or VEC4")),
            };
            let Component { size, read } = Component::of_light(accessor.component_type)?;
            let color = |b: &[u8]| {
                let mut color = [u16::MAX; 4];
                for (at, channel) in color[..channels].iter_mut().enumerate() {
                    *channel = read(&b[at * size..]);
                }
                color
            };
            let zero = if channels == 3 { [0, 0, 0, u16::MAX] } else { [0; 4] };
            self.elements(accessor, channels * size, color, zero, out)
        };
        named(index, self.accessor(index).and_then(read))
    }

    /// The bytes of a view.
    pub(super) fn view(&self, view: usize) -> Result<&[u8], String> {
        let length = self.document.buffer_views.get(view).map_or(0, |view| view.byte_length);
        self.bytes(view, 0, length, [1, 1])
    }

    /// The vertex indices in the accessor.
    pub(super) fn indices(&self, index: usize) -> Result<Vec<u32>, String> {
        let read = |accessor: &Accessor| {
            check_shape(accessor, "SCALAR")?;
            let Component { size, read } = Component::of_index(accessor.component_type)?;
            let mut out = Vec::new();
            self.elements(accessor, size, read, 0, &mut out)?;
            Ok(out)
        };
        named(index, self.accessor(index).and_then(read))
    }

    /// The number of elements.
    pub(super) fn count(&self, index: usize) -> Result<usize, String> {
        named(index, self.accessor(index).map(|accessor| accessor.count))
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
                out.extend(bytes.chunks(stride).take(count).map(read_of(size, &read)));
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
        let index = Component::of_index(indices.component_type)?;
        let sizes = [index.size; 2];
        let at = self.bytes(indices.buffer_view, indices.byte_offset, *count, sizes)?;
        let values = self.bytes(values.buffer_view, values.byte_offset, *count, [size; 2])?;
        for (at, value) in at.chunks_exact(index.size).zip(values.chunks_exact(size)) {
            let (at, len) = ((index.read)(at), out.len());
            let element = out.get_mut(at as usize).ok_or_else(|| {
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
        let missing = || format!("is in the buffer view {view}, which does not exist");
        let description = self.document.buffer_views.get(view).ok_or_else(missing)?;
        let buffer = self.buffers.get(description.buffer).ok_or_else(|| {
            format!("is in the buffer {}, which does not exist", description.buffer)
        })?;
        let end = description.byte_offset.checked_add(description.byte_length);
        let bytes =
            end.and_then(|end| buffer.get(description.byte_offset..end)).ok_or_else(|| {
                format!("is in the buffer view {view}, which reaches past the end of its buffer")
            })?;
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

/// Reads an element of `size` bytes at the beginning of a slice; the last slice of an array may be
/// no longer than the element.
fn read_of<T>(size: usize, read: impl Fn(&[u8]) -> T) -> impl Fn(&[u8]) -> T {
    move |bytes| read(&bytes[..size])
}

fn check_shape(accessor: &Accessor, shape: &str) -> Result<(), String> {
    if accessor.shape == shape { Ok(()) } else { Err(misshapen(accessor, shape)) }
}

fn misshapen(accessor: &Accessor, shape: &str) -> String {
    let found = crate::formats::excerpt(&accessor.shape);
    format!("is of type {found} where {shape} belongs")
}

fn named<T>(index: usize, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|what| format!("accessor {index} (counted from 0) {what}"))
}
