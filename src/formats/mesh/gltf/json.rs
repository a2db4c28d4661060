//! The parts of a glTF document that are parsed: the scene and its geometry. Materials are kept as
//! raw JSON for their own parser. All else is skipped and takes no memory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
#[cfg(not(feature = "gltf-compression"))]
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

#[cfg(feature = "gltf-compression")]
use crate::formats::mesh::gltf::compression::{Draco, Meshopt};
use crate::formats::{ReadError, content, excerpt, shortened};

#[cfg(not(feature = "gltf-compression"))]
type Draco = IgnoredAny;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a> {
    pub(super) asset: Asset,
    #[serde(default)]
    pub(super) extensions_used: Vec<String>,
    #[serde(default)]
    pub(super) extensions_required: Vec<String>,
    pub(super) scene: Option<usize>,
    #[serde(default)]
    pub(super) scenes: Vec<Scene>,
    #[serde(default)]
    pub(super) nodes: Vec<Node>,
    #[serde(default)]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default)]
    pub(super) skins: Vec<Skin>,
    #[serde(borrow)]
    pub(super) animations: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default)]
    pub(super) buffer_views: Vec<View>,
    #[serde(default, borrow)]
    pub(super) buffers: Vec<Buffer<'a>>,
    #[serde(borrow)]
    pub(super) materials: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) textures: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) images: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) samplers: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub(super) version: String,
    pub(super) min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub(super) nodes: Vec<usize>,
    pub(super) name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) children: Vec<usize>,
    pub(super) mesh: Option<usize>,
    pub(super) skin: Option<usize>,
    /// Weights of morph targets; they override those of the mesh.
    pub(super) weights: Option<Vec<f64>>,
    /// Column-major.
    pub(super) matrix: Option<[f64; 16]>,
    pub(super) translation: Option<[f64; 3]>,
    /// A quaternion: x, y, z, w.
    pub(super) rotation: Option<[f64; 4]>,
    pub(super) scale: Option<[f64; 3]>,
    #[serde(default)]
    pub(super) extensions: NodeExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub(super) instancing: Option<Instancing>,
}

/// `EXT_mesh_gpu_instancing`: one transform per instance.
#[derive(Debug, Deserialize)]
pub(super) struct Instancing {
    /// Accessors by `TRANSLATION`, `ROTATION` and `SCALE`.
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    /// Accessor of 4x4 matrices; identities if absent.
    pub(super) inverse_bind_matrices: Option<usize>,
    /// Nodes.
    pub(super) joints: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub(super) name: Option<String>,
    pub(super) primitives: Vec<Primitive>,
    /// Weights of morph targets.
    pub(super) weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    /// Accessors by attribute name.
    pub(super) attributes: BTreeMap<String, usize>,
    pub(super) indices: Option<usize>,
    pub(super) material: Option<usize>,
    pub(super) mode: Option<u32>,
    /// Morph targets: accessors of displacements by attribute.
    #[serde(default)]
    pub(super) targets: Vec<BTreeMap<String, usize>>,
    #[serde(default)]
    pub(super) extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub(super) draco: Option<Draco>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<usize>,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: usize,
    #[serde(rename = "type")]
    pub(super) shape: String,
    pub(super) sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub(super) count: usize,
    pub(super) indices: SparseArray,
    pub(super) values: SparseArray,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseArray {
    pub(super) buffer_view: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    /// The type of indices; values have the accessor's.
    #[serde(default)]
    pub(super) component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) byte_length: usize,
    pub(super) byte_stride: Option<usize>,
    #[cfg(feature = "gltf-compression")]
    pub(super) extensions: Option<MeshoptExtension<Meshopt>>,
}

/// `KHR_meshopt_compression`, or `EXT_meshopt_compression`, which is a part of it.
#[derive(Debug, Deserialize)]
pub(super) struct MeshoptExtension<T> {
    #[serde(rename = "KHR_meshopt_compression")]
    khr: Option<T>,
    #[serde(rename = "EXT_meshopt_compression")]
    ext: Option<T>,
}

impl<T> MeshoptExtension<T> {
    pub(super) fn content(&self) -> Option<&T> {
        self.khr.as_ref().or(self.ext.as_ref())
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer<'a> {
    #[serde(borrow)]
    pub(super) uri: Option<Cow<'a, str>>,
    pub(super) byte_length: usize,
    extensions: Option<MeshoptExtension<Fallback>>,
}

/// A buffer for readers without the extension; its data are optional.
#[derive(Debug, Deserialize)]
struct Fallback {
    #[serde(default)]
    fallback: bool,
}

impl Buffer<'_> {
    /// Whether the buffer has no data because its views are compressed in another one.
    pub(super) fn is_left_out(&self) -> bool {
        let extension = self.extensions.as_ref().and_then(MeshoptExtension::content);
        let is_fallback = extension.is_some_and(|extension| extension.fallback);
        cfg!(feature = "gltf-compression") && is_fallback && self.uri.is_none()
    }
}

/// An upper bound of bytes of memory of the document in `json`: a pair of braces is at most one of
/// the structures above, and an item between commas at most one pending child node. Vectors may
/// just have been reallocated.
pub(super) fn most_memory(json: &[u8]) -> u64 {
    let count = |sign: u8| json.iter().filter(|&&byte| byte == sign).count() as u64;
    let largest = size_of::<Node>().max(size_of::<Accessor>()) as u64;
    4 * largest * (count(b'{') + 1) + 400 * (count(b',') + count(b'[')) + 3 * json.len() as u64
}

pub(super) fn parse(json: &[u8]) -> Result<Document<'_>, ReadError> {
    let document = serde_json::from_slice::<Document>(json)
        .map_err(|error| refuse_other_version(json).err().unwrap_or_else(|| located(&error)))?;
    refuse_version(&document.asset)?;
    Ok(document)
}

fn refuse_version(asset: &Asset) -> Result<(), ReadError> {
    let needed = asset.min_version.as_ref().unwrap_or(&asset.version);
    let is_read =
        if asset.min_version.is_some() { needed == "2.0" } else { needed.starts_with("2.") };
    if is_read { Ok(()) } else { Err(unsupported_version(needed)) }
}

/// Refuses a document of another version: in glTF 1.0 `asset` is optional, and top-level
/// collections are objects, not arrays.
fn refuse_other_version(json: &[u8]) -> Result<(), ReadError> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(json).unwrap_or_default();
    let member = |name: &str| members.get(name).map(|value| value.get());
    let is_object = |name: &str| member(name).is_some_and(|value| value.starts_with('{'));
    // The `asset` of another version may have another structure.
    match member("asset").and_then(|asset| serde_json::from_str::<Asset>(asset).ok()) {
        Some(asset) => refuse_version(&asset),
        None if is_object("meshes") || is_object("accessors") => Err(unsupported_version("1.0")),
        None => Ok(()),
    }
}

pub(super) fn unsupported_version(version: &str) -> ReadError {
    let version = excerpt(version);
    content(format!(
        "glTF {version} is not read, only 2.0: convert the file, for instance with gltf-pipeline"
    ))
}

fn located(error: &serde_json::Error) -> ReadError {
    let (column, what) = (error.column(), without_place(error));
    let what = format!("not a glTF document: column {column}: {what}");
    ReadError::Line { line: error.line().max(1), what }
}

/// The message of an error, without the line and the column at its end.
pub(super) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    shortened(text.split(" at line ").next().unwrap_or(&text), 120)
}
