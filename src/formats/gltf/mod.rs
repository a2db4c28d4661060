//! The glTF 2.0 reader: documents with buffers inside or beside them, and binary files.
//!
//! The triangles of all meshes in the scene, each where its node places it. Written here rather than
//! taken from the crate `gltf`, which reads transforms as 32-bit numbers, refuses quantized meshes and
//! panics where arrays are other than the document says; what is read of a document here is little.

mod accessors;
mod buffers;
mod json;
mod scene;

use std::path::Path;

use crate::error::MeshError;
use crate::formats::gltf::accessors::Arrays;
use crate::formats::gltf::json::{Document, Primitive};
use crate::formats::gltf::scene::{Instance, instances};
use crate::formats::{Loaded, MeshSpec, ReadError, check_memory, counted, excerpt};
use crate::mesh::Mesh;

/// Khronos'.
pub const SPEC: MeshSpec = MeshSpec { extension: "gltf", ..BINARY_SPEC };

/// The same in one binary file.
pub const BINARY_SPEC: MeshSpec = MeshSpec {
    extension: "glb",
    name: "glTF 2.0",
    carries: "triangles of the scene, at rest, y up; materials and colours are not used yet",
    read: |bytes, path, options| read_within(&bytes, path, options.memory),
};

/// Whatever does not depend on the file.
const REST: u64 = 16 << 10;

/// Reads the meshes in the scene of `bytes`. Buffers in other files are looked for beside `path`.
///
/// # Errors
/// No glTF, malformed or cut off, extensions that are required and not known, buffers that are missing
/// or too short, indices out of range, coordinates that are not finite, no triangles.
pub fn read(bytes: &[u8], path: &Path) -> Result<Loaded, ReadError> {
    read_within(bytes, path, u64::MAX)
}

/// The same, if it takes at most `limit` bytes of memory at any time, `bytes` included.
///
/// # Errors
/// It could take more; all that [`read`] refuses.
pub fn read_within(bytes: &[u8], path: &Path, limit: u64) -> Result<Loaded, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Content("the file is empty".into()));
    }
    let buffers::Container { json, binary } = buffers::open(bytes)?;
    let for_document = bytes.len() as u64 + json::most_memory(json) + REST;
    check_memory(for_document, limit)?;
    let document = json::parse(json)?;
    refuse_extensions(&document)?;

    let folder = path.parent().unwrap_or(Path::new(""));
    let for_buffers =
        for_document.saturating_add(buffers::most_memory(&document.buffers, binary, folder));
    check_memory(for_buffers, limit)?;
    let buffers = buffers::load(&document.buffers, binary, folder)?;
    let arrays = Arrays::new(&document, buffers);
    let (instances, scenes_left_out) = instances(&document).map_err(ReadError::Content)?;
    let mut read = Reading { arrays, left_out: LeftOut::default() };
    let parts = read.parts()?;

    let total = |of: fn(&Part) -> u64| {
        let each =
            instances.iter().map(|instance| parts[instance.mesh].iter().map(of).sum::<u64>());
        each.fold(0, u64::saturating_add)
    };
    let [vertices, triangles] = [total(|part| part.new_vertices), total(|part| part.triangles)];
    let indices = parts.iter().flatten().map(|part| part.indices).max().unwrap_or(0);
    let for_mesh = vertices.saturating_mul(24).saturating_add(triangles.saturating_mul(12));
    check_memory(for_buffers.saturating_add(for_mesh).saturating_add(4 * indices), limit)?;
    for (what, count) in [("vertices", vertices), ("triangles", triangles)] {
        if count > u64::from(u32::MAX) {
            return Err(MeshError::TooLarge { what, count: count as usize }.into());
        }
    }
    let mut build = Build::new(vertices as usize, triangles as usize)?;
    for instance in &instances {
        read.add(instance, &parts[instance.mesh], &mut build)?;
    }
    if build.triangles.is_empty() {
        return Err(nothing_to_voxelize(&read.left_out));
    }
    let warnings = warnings(&document, &read.left_out, scenes_left_out);
    Ok(Loaded { mesh: Mesh::new(build.positions, build.triangles)?, warnings })
}

/// Extensions by the beginnings of their names that leave the shape as it is.
const HARMLESS: [&str; 12] = [
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "KHR_animation_pointer",
    "KHR_xmp",
    "KHR_audio",
    "KHR_mesh_quantization",
    "EXT_texture_",
    "EXT_lights_",
    "EXT_mesh_features",
    "EXT_structural_metadata",
    "MSFT_texture_",
];

/// Extensions with a fallback that is read, if they are not required.
const COMPRESSIONS: [&str; 3] =
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"];

fn is_harmless(extension: &str) -> bool {
    HARMLESS.iter().any(|beginning| extension.starts_with(beginning))
}

fn refuse_extensions(document: &Document) -> Result<(), ReadError> {
    let Some(extension) = document.extensions_required.iter().find(|name| !is_harmless(name))
    else {
        return Ok(());
    };
    let fix = match COMPRESSIONS.contains(&&extension[..]) {
        true => "decompress it",
        false => "write it without",
    };
    Err(ReadError::Content(format!(
        "the file needs the extension {}, which is not read: {fix} with the tool that made it, or \
         with gltf-transform",
        excerpt(extension)
    )))
}

/// What was skipped.
#[derive(Debug, Default)]
struct LeftOut {
    points_and_lines: u64,
    without_positions: u64,
}

/// What is to be read of a primitive with triangles.
struct Part<'a> {
    primitive: &'a Primitive,
    /// Where it is in its mesh.
    index: usize,
    mode: Mode,
    position: usize,
    /// Vertices that no part before it in the mesh has.
    new_vertices: u64,
    indices: u64,
    triangles: u64,
}

#[derive(Debug, Clone, Copy)]
enum Mode {
    Triangles,
    Strip,
    Fan,
}

impl Mode {
    /// How many triangles `corners` corners make.
    fn triangles(self, corners: u64) -> u64 {
        match self {
            Self::Triangles => corners / 3,
            Self::Strip | Self::Fan => corners.saturating_sub(2),
        }
    }

    /// The corners of triangle number `at`.
    fn corners(self, at: usize) -> [usize; 3] {
        match self {
            Self::Triangles => [3 * at, 3 * at + 1, 3 * at + 2],
            Self::Strip => [at, at + 1 + at % 2, at + 2 - at % 2],
            Self::Fan => [at + 1, at + 2, 0],
        }
    }
}

struct Reading<'a> {
    arrays: Arrays<'a>,
    left_out: LeftOut,
}

fn in_primitive(mesh: usize, primitive: usize, what: &str) -> ReadError {
    let place = format!("mesh {mesh}, primitive {primitive} (counted from 0)");
    ReadError::Content(format!("{place}: {what}"))
}

impl<'a> Reading<'a> {
    /// The parts of all meshes.
    fn parts(&mut self) -> Result<Vec<Vec<Part<'a>>>, ReadError> {
        let document = self.arrays.document;
        let mut all = Vec::with_capacity(document.meshes.len());
        for (at, mesh) in document.meshes.iter().enumerate() {
            let mut parts: Vec<Part> = Vec::with_capacity(mesh.primitives.len());
            let mut known = std::collections::HashSet::new();
            for (index, primitive) in mesh.primitives.iter().enumerate() {
                let part = self.part(index, primitive);
                if let Some(mut part) = part.map_err(|what| in_primitive(at, index, &what))? {
                    if !known.insert(part.position) {
                        part.new_vertices = 0;
                    }
                    parts.push(part);
                }
            }
            all.push(parts);
        }
        Ok(all)
    }

    /// What is to be read of a primitive, if it has triangles.
    fn part(&mut self, index: usize, primitive: &'a Primitive) -> Result<Option<Part<'a>>, String> {
        let mode = match primitive.mode.unwrap_or(4) {
            0..=3 => {
                self.left_out.points_and_lines += 1;
                return Ok(None);
            }
            4 => Mode::Triangles,
            5 => Mode::Strip,
            6 => Mode::Fan,
            other => return Err(format!("its mode is {other}: use 4 for triangles")),
        };
        let Some(position) = primitive.attributes.position else {
            self.left_out.without_positions += 1;
            return Ok(None);
        };
        let vertices = self.arrays.count(position)? as u64;
        let indices = match primitive.indices {
            Some(accessor) => self.arrays.count(accessor)? as u64,
            None => 0,
        };
        let corners = if primitive.indices.is_some() { indices } else { vertices };
        if matches!(mode, Mode::Triangles) && !corners.is_multiple_of(3) {
            return Err(format!("{corners} corners are not those of whole triangles"));
        }
        let triangles = mode.triangles(corners);
        Ok(Some(Part {
            primitive,
            index,
            mode,
            position,
            new_vertices: vertices,
            indices,
            triangles,
        }))
    }

    /// Adds the parts of a mesh where an instance of it is.
    fn add(&self, instance: &Instance, parts: &[Part], build: &mut Build) -> Result<(), ReadError> {
        let mut first_of = std::collections::HashMap::new();
        let start = build.positions.len();
        for part in parts {
            let error = |what: String| in_primitive(instance.mesh, part.index, &what);
            let first = build.positions.len();
            let first = *first_of.entry(part.position).or_insert(first);
            if first == build.positions.len() {
                self.arrays.positions(part.position, &mut build.positions).map_err(error)?;
            }
            let vertices = self.arrays.count(part.position).map_err(error)?;
            let indices = part.primitive.indices.map(|indices| self.arrays.indices(indices));
            let indices = indices.transpose().map_err(error)?;
            if let Some(index) = indices.iter().flatten().find(|&&i| i as usize >= vertices) {
                let what =
                    format!("the index {index} is out of range: there are {vertices} vertices");
                return Err(error(what));
            }
            let vertex = |corner: usize| {
                first as u32 + indices.as_ref().map_or(corner as u32, |indices| indices[corner])
            };
            let is_mirror = instance.scene_from_mesh.is_mirror();
            build.triangles.extend((0..part.triangles as usize).map(|triangle| {
                let [a, b, c] = part.mode.corners(triangle).map(vertex);
                if is_mirror { [a, c, b] } else { [a, b, c] }
            }));
        }
        instance.scene_from_mesh.apply(&mut build.positions[start..]);
        Ok(())
    }
}

/// Positions and triangles of all instances.
struct Build {
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Build {
    /// With room for so many. Instances of instances may be more than there is memory.
    fn new(vertices: usize, triangles: usize) -> Result<Self, ReadError> {
        let mut build = Self { positions: Vec::new(), triangles: Vec::new() };
        build.positions.try_reserve_exact(vertices).map_err(std::io::Error::from)?;
        build.triangles.try_reserve_exact(triangles).map_err(std::io::Error::from)?;
        Ok(build)
    }
}

fn nothing_to_voxelize(left_out: &LeftOut) -> ReadError {
    ReadError::Content(match left_out.points_and_lines {
        0 => "no triangles in the scene: nothing to voxelize".into(),
        n => {
            let sets = counted(n, "set", "sets");
            format!(
                "no triangles in the scene, only {sets} of points or lines: nothing to voxelize"
            )
        }
    })
}

fn warnings(document: &Document, left_out: &LeftOut, scenes_left_out: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |count: u64, one: &str, more: &str, what: &str| {
        if count > 0 {
            warnings.push(format!("{} {what}", counted(count, one, more)));
        }
    };
    let LeftOut { points_and_lines, without_positions } = *left_out;
    let lean = "skipped: they have no surface";
    warn(points_and_lines, "set of points or lines was", "sets of points or lines were", lean);
    warn(without_positions, "primitive was", "primitives were", "skipped: no positions");
    let scenes = scenes_left_out as u64;
    warn(scenes, "scene was", "scenes were", "skipped: another is the one to show first");
    let primitives = || document.meshes.iter().flat_map(|mesh| &mesh.primitives);
    if document.nodes.iter().any(|node| node.skin.is_some()) {
        let what =
            "skins were ignored: their meshes are as they were modelled, not as they are posed";
        warnings.push(what.into());
    }
    if primitives().any(|primitive| primitive.targets.is_some()) {
        warnings.push("morph targets were ignored: their meshes are at rest".into());
    }
    let is_unknown = |name: &&String| !is_harmless(name) && !COMPRESSIONS.contains(&&name[..]);
    if let Some(extension) = document.extensions_used.iter().find(is_unknown) {
        let extension = excerpt(extension);
        warnings.push(format!("the extension {extension} was ignored: the shape may differ"));
    }
    if !document.materials.is_empty() || primitives().any(|p| p.attributes.color.is_some()) {
        warnings.push("materials and colours are not used yet".into());
    }
    warnings
}
