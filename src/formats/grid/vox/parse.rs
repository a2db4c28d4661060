//! Parses the chunks of a file into a scene.
//!
//! Hand-written: the crate `dot_vox` skips malformed chunks, stops silently at a wrong chunk
//! length, uses a node's id as its position in the file and panics on an invalid rotation.

use std::fmt;

use super::scene::{Model, Node, NodeKind, Pose, ROOT, Rotation, Scene};
use super::{ATTRIBUTE, MAX_MODEL, NAME};
use crate::formats::io::tokens::numbers;
use crate::formats::{ReadError, ReadOptions, content, excerpt};

/// The versions that MagicaVoxel writes; they differ in chunks that have no effect here.
const VERSIONS: [i32; 2] = [150, 200];

pub(super) fn parse<'a>(file: &'a [u8], options: &ReadOptions) -> Result<Scene<'a>, ReadError> {
    check_start(file)?;
    let mut file = Cursor { name: *b"VOX ", at: 4, rest: &file[4..] };
    let version = file.int("the version")?;
    let unsupported = format_args!("version {version} is not supported, only 150 and 200");
    file.ensure(VERSIONS.contains(&version), unsupported)?;
    let (_, mut chunks) = file.chunk()?;
    chunks.ensure(chunks.name == *b"MAIN", "MAIN belongs here")?;
    file.end()?;

    let mut scene = Scene { options: *options, ..Scene::default() };
    let mut size = None;
    while !chunks.rest.is_empty() {
        let (content, _) = chunks.chunk()?;
        scene.add(content, &mut size)?;
    }
    chunks.ensure(size.is_none(), "the last SIZE has no XYZI")?;
    if scene.nodes.is_empty() {
        scene.last_frame = (scene.models.len() as u32).saturating_sub(1);
    }
    match (options.frame, scene.last_frame) {
        (Some(frame), 0) if frame > 0 => {
            bail!("there is no frame {frame}: the file has one frame, 0")
        }
        (Some(frame), last) if frame > last => {
            bail!("there is no frame {frame}: the file has the frames 0 to {last}")
        }
        _ => Ok(scene),
    }
}

/// Refuses files of other formats by their first bytes.
pub(super) fn check_start(file: &[u8]) -> Result<(), ReadError> {
    ensure!(file.starts_with(b"VOX "), "not a MagicaVoxel file: it does not begin with 'VOX '");
    Ok(())
}

/// A node's kind, and the frames of its keys.
type Keyed = (NodeKind, Vec<u32>);

impl<'a> Scene<'a> {
    /// Adds one chunk; chunks without effect on voxels are skipped. `size` is the size of a model
    /// whose voxels are still to come.
    fn add(&mut self, mut chunk: Cursor<'a>, size: &mut Option<[u32; 3]>) -> Result<(), ReadError> {
        match &chunk.name {
            b"SIZE" => {
                let before = size.replace(model_size(&mut chunk)?);
                chunk.ensure(before.is_none(), "the SIZE before it has no XYZI")?;
            }
            b"XYZI" => {
                let size = size.take().ok_or_else(|| chunk.fault("there is no SIZE before it"))?;
                self.models.push(Model { size, voxels: voxels(&mut chunk, size)? });
            }
            b"nTRN" => self.add_node(&mut chunk, Self::transform)?,
            b"nGRP" => self.add_node(&mut chunk, Self::group)?,
            b"nSHP" => self.add_node(&mut chunk, Self::shape)?,
            b"RGBA" => self.palette = Some(chunk.take(1024, "the palette")?.as_chunks().0),
            // Errors are ignored where layers and materials have no effect.
            b"LAYR" => {
                match hidden_layer(&mut chunk) {
                    Err(error) if self.options.visible_only => return Err(error),
                    layer => self.hidden_layers.extend(layer.ok().flatten()),
                }
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
        kind: fn(&mut Cursor<'a>, Moment) -> Result<Keyed, ReadError>,
    ) -> Result<(), ReadError> {
        let at = chunk.at;
        let id = chunk.int("the node's number")?;
        let attributes = chunk.dict()?;
        if id == ROOT {
            self.description = find(&attributes, ATTRIBUTE);
        }
        let is_hidden = find(&attributes, "_hidden") == Some(b"1");
        let is_loop = find(&attributes, "_loop") == Some(b"1");
        let moment = Moment { frame: self.options.frame, is_loop };
        let (kind, keys) = kind(chunk, moment)?;
        self.last_frame = keys.iter().copied().fold(self.last_frame, u32::max);
        let name = find(&attributes, NAME);
        let node = Node { at, name, kind, is_hidden, frames: keys.len() };
        let before = self.nodes.insert(id, node);
        chunk.ensure(before.is_none(), format_args!("there are two nodes {id}"))
    }

    // Parsers of the kinds of node.

    fn transform(chunk: &mut Cursor, at: Moment) -> Result<Keyed, ReadError> {
        let child = chunk.int("the child")?;
        chunk.int("the reserved number")?;
        let layer = chunk.int("the layer")?;
        let (pose, keys) = pose(chunk, at)?;
        Ok((NodeKind::Transform { pose, child, layer }, keys))
    }

    fn group(chunk: &mut Cursor, _: Moment) -> Result<Keyed, ReadError> {
        let count = chunk.count(4, "children")?;
        let children = (0..count).map(|_| chunk.int("a child"));
        Ok((NodeKind::Group { children: children.collect::<Result<_, _>>()? }, Vec::new()))
    }

    fn shape(chunk: &mut Cursor, at: Moment) -> Result<Keyed, ReadError> {
        // A number and an empty dictionary take 8 bytes.
        let count = chunk.count(8, "models")?;
        chunk.ensure(count > 0, "the shape has no model")?;
        let (mut models, mut keys) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            models.push(chunk.int("a model's number")?);
            let attributes = chunk.dict()?;
            keys.push(at.frame_of(chunk, &attributes, keys.len())?);
        }
        let model = models[at.key(&keys).0];
        Ok((NodeKind::Shape { model, models }, keys))
    }
}

/// The number of a layer that is hidden.
fn hidden_layer(chunk: &mut Cursor) -> Result<Option<i32>, ReadError> {
    let layer = chunk.int("the layer's number")?;
    Ok((find(&chunk.dict()?, "_hidden") == Some(b"1")).then_some(layer))
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
        let what = format_args!("a model's size of {value}: 1 to {MAX_MODEL} are possible");
        chunk.ensure((1..=MAX_MODEL as i32).contains(&value), what)?;
        *length = value as u32;
    }
    Ok(size)
}

fn voxels<'a>(chunk: &mut Cursor<'a>, size: [u32; 3]) -> Result<&'a [[u8; 4]], ReadError> {
    let count = chunk.count(4, "voxels")?;
    let first = chunk.at;
    let (voxels, _) = chunk.take(4 * count, "the voxels")?.as_chunks::<4>();
    let outside = |v: &[u8; 4]| (0..3).any(|a| u32::from(v[a]) >= size[a]);
    let Some(index) = voxels.iter().position(outside) else { return Ok(voxels) };
    let [x, y, z, _] = voxels[index];
    let at = Cursor { at: first + 4 * index, ..*chunk };
    Err(at.fault(format_args!("voxel ({x}, {y}, {z}) is outside the model's {size:?}")))
}

/// The chosen frame of an animation; by default the first key, whatever its frame.
#[derive(Clone, Copy)]
struct Moment {
    frame: Option<u32>,
    /// Whether a node repeats its keys.
    is_loop: bool,
}

impl Moment {
    /// The index of the key that holds, of at least one, and the frame among the keys.
    fn key(self, keys: &[u32]) -> (usize, i64) {
        let (first, last) = (i64::from(keys[0]), i64::from(keys[keys.len() - 1]));
        let mut frame = i64::from(self.frame.unwrap_or_default());
        if self.is_loop {
            frame = first + (frame - first).rem_euclid((last - first).max(0) + 1);
        }
        (keys.iter().rposition(|&key| i64::from(key) <= frame).unwrap_or(0), frame)
    }

    /// The frame of key number `index`: its attribute `_f`, or the index. Without a chosen frame
    /// the attribute is not read.
    fn frame_of(self, chunk: &Cursor, of: &Dict, index: usize) -> Result<u32, ReadError> {
        let text = find(of, "_f").filter(|_| self.frame.is_some()).map(String::from_utf8_lossy);
        let Some(text) = text else { return Ok(index as u32) };
        let malformed = |_| chunk.fault(format_args!("'{}' is not a frame", excerpt(&text)));
        text.parse().map_err(malformed)
    }
}

/// The pose of a transform at `moment`, and the frames of its keys. Between two keys, the rotation
/// is that of the first, and the translation is interpolated and rounded towards zero.
fn pose(chunk: &mut Cursor, moment: Moment) -> Result<(Pose, Vec<u32>), ReadError> {
    // An empty dictionary takes 4 bytes.
    let count = chunk.count(4, "frames")?;
    chunk.ensure(count > 0, "the transform has no frame")?;
    let mut read = *chunk;
    let mut keys = Vec::with_capacity(count);
    for index in 0..count {
        let attributes = chunk.dict()?;
        keys.push(moment.frame_of(chunk, &attributes, index)?);
    }
    let (index, frame) = moment.key(&keys);
    for _ in 0..index {
        read.dict()?;
    }
    let mut pose = key_pose(&mut read)?;
    let next = keys.get(index + 1).map_or(frame, |&key| i64::from(key));
    let (passed, left) = (frame - i64::from(keys[index]), next - frame);
    if passed > 0 && left > 0 {
        let next = key_pose(&mut read)?;
        pose.translation = [0, 1, 2].map(|a| {
            // Below 2^63: translations of 32 bits with a sign, frames of 32 bits.
            (pose.translation[a] * left + next.translation[a] * passed) / (left + passed)
        });
    }
    Ok((pose, keys))
}

/// The pose of the next key of a transform.
fn key_pose(chunk: &mut Cursor) -> Result<Pose, ReadError> {
    let attributes = &chunk.dict()?;
    let text = |key| find(attributes, key).map(String::from_utf8_lossy);
    let refused =
        |text: &str, what| chunk.fault(format_args!("'{}' is not a {what}", excerpt(text)));
    let mut pose = Pose::NONE;
    if let Some(text) = text("_r") {
        let rotation = text.parse().ok().and_then(Rotation::from_bits);
        pose.rotation = rotation.ok_or_else(|| refused(&text, "rotation"))?;
    }
    if let Some(text) = text("_t") {
        let translation: Option<[i32; 3]> = numbers(text.split_ascii_whitespace());
        pose.translation = translation.ok_or_else(|| refused(&text, "translation"))?.map(i64::from);
    }
    Ok(pose)
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

    fn ensure(&self, condition: bool, what: impl fmt::Display) -> Result<(), ReadError> {
        if condition { Ok(()) } else { Err(self.fault(what)) }
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
        self.ensure(count <= room, format_args!("{count} {what}, but there is room for {room}"))?;
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
        let more = self.rest.len();
        self.ensure(more == 0, format_args!("{more} bytes more than it should have"))
    }
}
