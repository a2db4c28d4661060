//! Parses the chunks of a file into a scene.
//!
//! Hand-written: the crate `dot_vox` skips malformed chunks, stops silently at a wrong chunk
//! length, uses a node's id as its position in the file and panics on an invalid rotation.

use std::fmt;

use super::scene::{Model, Node, NodeKind, Pose, ROOT, Rotation, Scene};
use super::{ATTRIBUTE, MAX_MODEL};
use crate::formats::io::tokens::numbers;
use crate::formats::{ReadError, content, excerpt};

/// The versions that MagicaVoxel writes; they differ in chunks that have no effect here.
const VERSIONS: [i32; 2] = [150, 200];

pub(super) fn parse(file: &[u8]) -> Result<Scene<'_>, ReadError> {
    let mut file = Cursor { name: *b"VOX ", at: 0, rest: file };
    if file.take(4, "the file's first four bytes").ok() != Some(b"VOX ") {
        return Err(content("not a MagicaVoxel file: it does not begin with 'VOX '"));
    }
    let version = file.int("the version")?;
    if !VERSIONS.contains(&version) {
        return Err(
            file.fault(format_args!("version {version} is not supported, only 150 and 200"))
        );
    }
    let (_, mut chunks) = file.chunk()?;
    if chunks.name != *b"MAIN" {
        return Err(chunks.fault("MAIN belongs here"));
    }
    file.end()?;

    let mut scene = Scene::default();
    let mut size = None;
    while !chunks.rest.is_empty() {
        let (content, _) = chunks.chunk()?;
        scene.add(content, &mut size)?;
    }
    match size {
        Some(_) => Err(chunks.fault("the last SIZE has no XYZI")),
        None => Ok(scene),
    }
}

impl<'a> Scene<'a> {
    /// Adds one chunk; chunks without effect on voxels are skipped. `size` is the size of a model
    /// whose voxels are still to come.
    fn add(&mut self, mut chunk: Cursor<'a>, size: &mut Option<[u32; 3]>) -> Result<(), ReadError> {
        match &chunk.name {
            b"SIZE" => {
                if size.replace(model_size(&mut chunk)?).is_some() {
                    return Err(chunk.fault("the SIZE before it has no XYZI"));
                }
            }
            b"XYZI" => {
                let size = size.take().ok_or_else(|| chunk.fault("there is no SIZE before it"))?;
                self.models.push(Model { size, voxels: voxels(&mut chunk, size)? });
            }
            b"nTRN" => self.add_node(&mut chunk, Self::transform)?,
            b"nGRP" => self.add_node(&mut chunk, Self::group)?,
            b"nSHP" => self.add_node(&mut chunk, Self::shape)?,
            b"RGBA" => self.palette = Some(chunk.take(1024, "the palette")?.as_chunks().0),
            // Errors are ignored, since layers and materials have no effect.
            b"LAYR" => {
                self.hidden_layers += usize::from(is_hidden_layer(&mut chunk).unwrap_or(false));
                return Ok(());
            }
            b"MATL" => {
                self.materials.extend(material(&mut chunk).ok().flatten());
                return Ok(());
            }
            _ => return Ok(()),
        }
        chunk.end()
    }

    /// Adds a node: its id and attributes, then the rest, parsed by `kind`.
    fn add_node(
        &mut self,
        chunk: &mut Cursor<'a>,
        kind: fn(&mut Cursor<'a>) -> Result<(NodeKind, usize), ReadError>,
    ) -> Result<(), ReadError> {
        let at = chunk.at;
        let id = chunk.int("the node's number")?;
        let attributes = chunk.dict()?;
        if id == ROOT {
            self.description = find(&attributes, ATTRIBUTE);
        }
        let is_hidden = find(&attributes, "_hidden") == Some(b"1");
        let (kind, frames) = kind(chunk)?;
        let node = Node { at, kind, is_hidden, frames };
        match self.nodes.insert(id, node) {
            Some(_) => Err(chunk.fault(format_args!("there are two nodes {id}"))),
            None => Ok(()),
        }
    }

    // Parsers of the kinds of node; each also returns the number of frames.

    fn transform(chunk: &mut Cursor) -> Result<(NodeKind, usize), ReadError> {
        let child = chunk.int("the child")?;
        chunk.int("the reserved number")?;
        chunk.int("the layer")?;
        let (pose, frames) = first_frame(chunk)?;
        Ok((NodeKind::Transform { pose, child }, frames))
    }

    fn group(chunk: &mut Cursor) -> Result<(NodeKind, usize), ReadError> {
        let count = chunk.count(4, "children")?;
        let children = (0..count).map(|_| chunk.int("a child"));
        Ok((NodeKind::Group { children: children.collect::<Result<_, _>>()? }, 1))
    }

    fn shape(chunk: &mut Cursor) -> Result<(NodeKind, usize), ReadError> {
        // A number and an empty dictionary take 8 bytes.
        let count = chunk.count(8, "models")?;
        if count == 0 {
            return Err(chunk.fault("the shape has no model"));
        }
        let mut models = Vec::with_capacity(count);
        for _ in 0..count {
            models.push(chunk.int("a model's number")?);
            chunk.dict()?;
        }
        Ok((NodeKind::Shape { models }, count))
    }
}

fn is_hidden_layer(chunk: &mut Cursor) -> Result<bool, ReadError> {
    chunk.int("the layer's number")?;
    Ok(find(&chunk.dict()?, "_hidden") == Some(b"1"))
}

/// The index of a material that is not diffuse.
fn material(chunk: &mut Cursor) -> Result<Option<u8>, ReadError> {
    let index = chunk.int("the material's number")?;
    let properties = chunk.dict()?;
    let is_diffuse = find(&properties, "_type").is_none_or(|kind| kind == b"_diffuse");
    Ok(u8::try_from(index).ok().filter(|_| !is_diffuse))
}

fn model_size(chunk: &mut Cursor) -> Result<[u32; 3], ReadError> {
    let mut size = [0; 3];
    for length in &mut size {
        let value = chunk.int("a model's size")?;
        let possible = u32::try_from(value).ok().filter(|v| (1..=MAX_MODEL).contains(v));
        *length = possible.ok_or_else(|| {
            chunk.fault(format_args!("a model's size of {value}: 1 to {MAX_MODEL} are possible"))
        })?;
    }
    Ok(size)
}

fn voxels<'a>(chunk: &mut Cursor<'a>, size: [u32; 3]) -> Result<&'a [[u8; 4]], ReadError> {
    let count = chunk.count(4, "voxels")?;
    let first = chunk.at;
    let (voxels, _) = chunk.take(4 * count, "the voxels")?.as_chunks::<4>();
    let outside = |v: &[u8; 4]| (0..3).any(|a| u32::from(v[a]) >= size[a]);
    match voxels.iter().position(outside) {
        Some(index) => {
            let [x, y, z, _] = voxels[index];
            let at = Cursor { at: first + 4 * index, ..*chunk };
            Err(at.fault(format_args!("voxel ({x}, {y}, {z}) is outside the model's {size:?}")))
        }
        None => Ok(voxels),
    }
}

/// The first of a transform's frames, and the number of frames.
fn first_frame(chunk: &mut Cursor) -> Result<(Pose, usize), ReadError> {
    // An empty dictionary takes 4 bytes.
    let count = chunk.count(4, "frames")?;
    let mut frames =
        (0..count).map(|_| chunk.dict()).collect::<Result<Vec<Dict>, _>>()?.into_iter();
    let first = frames.next().ok_or_else(|| chunk.fault("the transform has no frame"))?;
    let text = |key| find(&first, key).map(String::from_utf8_lossy);
    let refused =
        |text: &str, what| chunk.fault(format_args!("'{}' is not a {what}", excerpt(text)));
    let rotation = match text("_r") {
        Some(text) => {
            let bits = text.parse().ok().and_then(Rotation::from_bits);
            bits.ok_or_else(|| refused(&text, "rotation"))?
        }
        None => Rotation::NONE,
    };
    let translation: [i32; 3] = match text("_t") {
        Some(text) => {
            numbers(text.split_ascii_whitespace()).ok_or_else(|| refused(&text, "translation"))?
        }
        None => [0; 3],
    };
    Ok((Pose { rotation, translation: translation.map(i64::from) }, count))
}

/// Keys and values, in the file's order.
type Dict<'a> = Vec<(&'a [u8], &'a [u8])>;

fn find<'a>(dict: &Dict<'a>, key: &str) -> Option<&'a [u8]> {
    dict.iter().find(|(k, _)| *k == key.as_bytes()).map(|&(_, value)| value)
}

/// The unread bytes of a chunk.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    name: [u8; 4],
    /// Byte offset in the file.
    at: usize,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn fault(&self, what: impl fmt::Display) -> ReadError {
        let name = self.name.escape_ascii();
        content(format!("chunk {name}, byte {}: {what}", self.at))
    }

    fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8], ReadError> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            let left = self.rest.len();
            let what = format_args!("{what} should be {len} bytes, but {left} are left");
            return Err(self.fault(what));
        };
        self.rest = rest;
        self.at += len;
        Ok(taken)
    }

    fn int(&mut self, what: &str) -> Result<i32, ReadError> {
        let (ints, _) = self.take(4, what)?.as_chunks::<4>();
        Ok(i32::from_le_bytes(ints[0]))
    }

    fn len(&mut self, what: &str) -> Result<usize, ReadError> {
        let len = self.int(what)?;
        usize::try_from(len).map_err(|_| self.fault(format_args!("{what} is {len}")))
    }

    /// A number of items of at least `item_bytes` each, limited by the bytes left.
    fn count(&mut self, item_bytes: usize, what: &str) -> Result<usize, ReadError> {
        let count = self.len("the number of items")?;
        let room = self.rest.len() / item_bytes;
        if count > room {
            return Err(self.fault(format_args!("{count} {what}, but there is room for {room}")));
        }
        Ok(count)
    }

    fn text(&mut self) -> Result<&'a [u8], ReadError> {
        let len = self.len("a text's length")?;
        self.take(len, "a text")
    }

    fn dict(&mut self) -> Result<Dict<'a>, ReadError> {
        let count = self.count(8, "entries of a dictionary")?;
        (0..count).map(|_| Ok((self.text()?, self.text()?))).collect()
    }

    /// The next chunk: its content and its children.
    fn chunk(&mut self) -> Result<(Self, Self), ReadError> {
        let name = self.take(4, "a chunk's name")?;
        let name = [name[0], name[1], name[2], name[3]];
        let mut inner = Cursor { name, ..*self };
        let content = inner.len("its length")?;
        let children = inner.len("its children's length")?;
        let content = inner.part(content, "its content")?;
        let children = inner.part(children, "its children")?;
        (self.at, self.rest) = (inner.at, inner.rest);
        Ok((content, children))
    }

    fn part(&mut self, len: usize, what: &str) -> Result<Self, ReadError> {
        let at = self.at;
        Ok(Cursor { rest: self.take(len, what)?, at, ..*self })
    }

    fn end(&self) -> Result<(), ReadError> {
        match self.rest.len() {
            0 => Ok(()),
            n => Err(self.fault(format_args!("{n} bytes more than it should have"))),
        }
    }
}
