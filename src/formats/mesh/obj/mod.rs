//! Wavefront OBJ.
//!
//! The text is normalized and divided into parts (`text`), which are parsed in parallel. Three
//! passes: `contents` counts the statements, which gives all buffers their size and bounds the
//! memory beforehand; `vertices` parses positions and texture coordinates; `faces` parses faces and
//! triangulates polygons, also concave ones. Omitted statements cause warnings.
//!
//! Material files are located (`libraries`) and parsed (`materials`), and converted with their
//! images (`appearance`).
//!
//! Geometry is read by hand: the crate `tobj`, which reads the statements of material files, takes
//! more than twice the processor time, on one thread, and reports errors without their line. It is
//! the oracle of the tests.

mod appearance;
mod contents;
mod faces;
mod libraries;
mod materials;
#[cfg(feature = "tobj")]
mod models;
mod text;
mod vertices;

use crate::formats::io::warnings::{counted_warning, only_points_and_lines};
use crate::formats::mesh::obj::appearance::appearance;
use crate::formats::mesh::obj::contents::{Contents, Skipped};
use crate::formats::mesh::obj::faces::Faces;
use crate::formats::mesh::obj::libraries::Materials;
use crate::formats::mesh::obj::text::{check_text, clean};
use crate::formats::mesh::obj::vertices::{Vertices, fault_of_vertex};
use crate::formats::{
    LoadedMesh, MeshSpec, ReadError, ReadOptions, Sidecars, check_memory, content,
};
use crate::mesh::{Mesh, MeshError};

pub const SPEC: MeshSpec = MeshSpec {
    extension: "obj",
    name: "Wavefront",
    carries: "positions, faces of any shape, groups; materials, images, colours of vertices",
    check_start: |start, _| check_text(start),
    read,
};

/// Reads the mesh in `bytes`, all groups and objects together. Material files and images
/// are among the `sidecars`; a missing one is a warning.
fn read(
    bytes: Vec<u8>,
    sidecars: &Sidecars,
    options: &ReadOptions,
) -> Result<LoadedMesh, ReadError> {
    check_text(&bytes)?;
    let text = clean(bytes);
    let contents = Contents::of(&text);
    check_memory(contents.memory, options.memory)?;
    let left = options.memory - contents.memory;
    let materials = if options.appearance {
        Materials::read(&contents, sidecars, left, options.maps)
    } else {
        Materials::default()
    };
    let mut vertices = Vertices::of(&contents, materials.any_mapped);
    let mut faces = Faces::of(&contents, &vertices, &materials);
    faces.faults.points_and_lines += contents.skipped.points_and_lines;
    if let Some(fault) = vertices.fault.take().into_iter().chain(faces.fault.take()).min() {
        return Err(contents.error(fault));
    }
    if faces.triangles.is_empty() {
        let others = faces.faults.points_and_lines;
        ensure!(others > 0, "no faces found: is this an OBJ mesh?");
        return Err(content(only_points_and_lines(others)));
    }
    let colors = options.appearance.then(|| vertices.linear_colors());
    let (vertex_colors, about_colors) = colors.unwrap_or_default();
    let mut warnings = warnings(&contents, &vertices, &faces);
    let labels = faces.labels();
    faces.mark_colorless(&vertex_colors);
    let mesh = Mesh::new(vertices.positions, faces.triangles).map_err(|error| match error {
        MeshError::NotFinite { vertex, .. } => fault_of_vertex(&contents, vertex)
            .map_or(ReadError::Mesh(error), |fault| contents.error(fault)),
        _ => ReadError::Mesh(error),
    })?;
    let mesh = mesh.with_labels(labels);
    warnings.extend(materials.warnings.iter().cloned());
    warnings.extend(vertices.unpainted.filter(|_| options.appearance));
    warnings.extend(about_colors);
    if !materials.any_defined && vertex_colors.is_empty() {
        return Ok(LoadedMesh::new(mesh, warnings));
    }
    let (appearance, said) =
        appearance(&materials, faces.slots, faces.uvs, vertex_colors, sidecars, left);
    warnings.extend(said);
    Ok(LoadedMesh::new(mesh.with_appearance(appearance)?, warnings))
}

fn warnings(contents: &Contents, vertices: &Vertices, faces: &Faces) -> Vec<String> {
    let Skipped { free_form, calls, unknown, .. } = &contents.skipped;
    let mut warnings: Vec<String> = faces.faults.warnings().collect();
    let mut warn = |count: usize, names: [&str; 2], what: &str| {
        warnings.extend(counted_warning(count as u64, names, what));
    };
    let ignored = "a weight: it was ignored, since polygons do not use weights";
    warn(vertices.weights, ["vertex has", "vertices have"], ignored);
    let were = ["free-form curve or surface was", "free-form curves and surfaces were"];
    warn(*free_form, were, "skipped: convert them to polygons");
    let lines = ["line was skipped", "lines were skipped"];
    let names = calls.quoted_and_counted();
    warn(calls.count, lines, &format!("that may include a file or run a command: {names}"));
    let names = unknown.quoted_and_counted();
    warn(unknown.count, lines, &format!("with unknown OBJ keywords: {names}"));
    if let Some(fault) = faces.bad_corners.clone() {
        let others = match faces.bad_corners_count - 1 {
            0 => String::new(),
            others => format!("; so do {others} others"),
        };
        warnings.push(format!(
            "a face lost its texture coordinates and normals, which do not exist: {}{others}",
            contents.error(fault)
        ));
    }
    warnings
}
