//! The primitives of a glTF document that have triangles, and their accessors.

use std::collections::HashMap;

use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::attributes::DocumentAppearance;
use crate::formats::mesh::gltf::json::Primitive;
use crate::formats::mesh::gltf::materials::PlacedTexture;
use crate::formats::{ReadError, content};

/// Meshes compressed by Draco.
pub(super) const DRACO: &str = "KHR_draco_mesh_compression";
/// The advice for compressed files.
pub(super) const DECOMPRESS: &str =
    "decompress it with the tool that made it, or with gltf-transform";

/// Counts of skipped primitives.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub(super) points_and_lines: u64,
    pub(super) without_positions: u64,
    /// Primitives whose positions have no data, and are zero.
    pub(super) zero: u64,
}

/// A primitive with triangles.
pub(super) struct Part<'a> {
    pub(super) primitive: &'a Primitive,
    /// Its index in the mesh.
    pub(super) index: usize,
    pub(super) mode: Mode,
    pub(super) position: usize,
    pub(super) vertices: u64,
    /// The first part of the mesh with the same vertices, by its place in the list of parts, if
    /// that is an earlier part.
    pub(super) shares_vertices_of: Option<usize>,
    pub(super) indices: u64,
    pub(super) triangles: u64,
    /// Sets of four joints that each vertex has.
    pub(super) joint_sets: usize,
    /// Whether its appearance differs from the default.
    pub(super) has_appearance: bool,
    /// The accessor of its colours.
    pub(super) color: Option<usize>,
    /// The accessor of the texture coordinates of its material's first texture, and that texture.
    pub(super) texcoord: Option<(usize, PlacedTexture)>,
    /// The index of its material in the appearance.
    pub(super) material: u32,
}

impl Part<'_> {
    /// The key by which parts share vertices. Vertices that a pose may move are not shared.
    fn key(&self) -> (usize, Option<usize>, Option<usize>) {
        let is_posed = self.joint_sets > 0 || !self.primitive.targets.is_empty();
        (self.position, self.color, is_posed.then_some(self.index))
    }

    /// An upper bound of bytes for posing the part: displacements of a morph target; joints and
    /// weights.
    pub(super) fn posing_memory(&self) -> u64 {
        let morph = if self.primitive.targets.is_empty() { 0 } else { 24 };
        self.vertices.saturating_mul(morph.max(48 * self.joint_sets as u64))
    }
}

/// The topology of triangles.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    Triangles,
    Strip,
    Fan,
}

impl Mode {
    fn triangles(self, corners: u64) -> u64 {
        match self {
            Self::Triangles => corners / 3,
            Self::Strip | Self::Fan => corners.saturating_sub(2),
        }
    }

    pub(super) fn corners(self, at: usize) -> [usize; 3] {
        match self {
            Self::Triangles => [3 * at, 3 * at + 1, 3 * at + 2],
            Self::Strip => [at, at + 1 + at % 2, at + 2 - at % 2],
            Self::Fan => [at + 1, at + 2, 0],
        }
    }
}

pub(super) fn in_primitive(mesh: usize, primitive: usize, what: &str) -> ReadError {
    content(format!("{}: {what}", place(mesh, primitive)))
}

/// The name of a primitive, for messages.
pub(super) fn place(mesh: usize, primitive: usize) -> String {
    format!("mesh {mesh}, primitive {primitive} (counted from 0)")
}

/// The parts of all meshes, with the accessors of their `appearance`.
pub(super) fn parts<'a>(
    arrays: &Arrays<'a>,
    skipped: &mut Skipped,
    appearance: &mut DocumentAppearance,
) -> Result<Vec<Vec<Part<'a>>>, ReadError> {
    let mut all = Vec::with_capacity(arrays.document.meshes.len());
    for (at, mesh) in arrays.document.meshes.iter().enumerate() {
        let mut parts: Vec<Part> = Vec::with_capacity(mesh.primitives.len());
        let mut first_of = HashMap::new();
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            let part = part_of(arrays, index, primitive, skipped);
            let Some(mut part) = part.map_err(|what| in_primitive(at, index, &what))? else {
                continue;
            };
            appearance.locate(arrays, at, &mut part);
            let first = *first_of.entry(part.key()).or_insert(parts.len());
            part.shares_vertices_of = (first < parts.len()).then_some(first);
            parts.push(part);
        }
        all.push(parts);
    }
    Ok(all)
}

fn part_of<'a>(
    arrays: &Arrays,
    index: usize,
    primitive: &'a Primitive,
    skipped: &mut Skipped,
) -> Result<Option<Part<'a>>, String> {
    let mode = match primitive.mode.unwrap_or(4) {
        0..=3 => {
            skipped.points_and_lines += 1;
            return Ok(None);
        }
        4 => Mode::Triangles,
        5 => Mode::Strip,
        6 => Mode::Fan,
        other => return Err(format!("its mode is {other}: use 4 for triangles")),
    };
    let Some(&position) = primitive.attributes.get("POSITION") else {
        skipped.without_positions += 1;
        return Ok(None);
    };
    if primitive.indices.iter().chain([&position]).any(|&at| arrays.is_zero(at)) {
        if primitive.extensions.draco.is_some() {
            return Err(format!("it is compressed with {DRACO}: {DECOMPRESS}"));
        }
        skipped.zero += u64::from(primitive.targets.is_empty());
    }
    let vertices = arrays.count(position)? as u64;
    let indices = match primitive.indices {
        Some(accessor) => arrays.count(accessor)? as u64,
        None => 0,
    };
    let corners = if primitive.indices.is_some() { indices } else { vertices };
    if matches!(mode, Mode::Triangles) && !corners.is_multiple_of(3) {
        return Err(format!("{corners} corners are not those of whole triangles"));
    }
    Ok(Some(Part {
        primitive,
        index,
        mode,
        position,
        vertices,
        shares_vertices_of: None,
        indices,
        triangles: mode.triangles(corners),
        joint_sets: primitive.attributes.keys().filter(|n| n.starts_with("JOINTS_")).count(),
        has_appearance: false,
        color: None,
        texcoord: None,
        material: 0,
    }))
}
