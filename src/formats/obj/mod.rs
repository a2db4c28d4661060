//! Wavefront OBJ, read by `tobj`.
//!
//! `tobj` parses (`load`). Before it, the text is normalized (`text`) and filtered to the
//! statements of the surface, in small groups (`filter`). After it, polygons, also concave ones,
//! are triangulated (`build`). Errors are located (`diagnose`), and omitted statements cause
//! warnings. The memory is bounded beforehand (`memory`).
//!
//! The materials of faces are recorded by the filter (`face_materials`). Material files are located
//! (`libraries`) and parsed (`materials`), and converted with their images (`appearance`).

mod appearance;
mod build;
mod colors;
mod diagnose;
mod face_materials;
mod filter;
mod libraries;
mod load;
mod materials;
mod memory;
mod text;

use crate::formats::obj::appearance::appearance;
use crate::formats::obj::build::Build;
use crate::formats::obj::colors::VertexColors;
use crate::formats::obj::diagnose::locate;
use crate::formats::obj::filter::LeftOut;
use crate::formats::obj::libraries::Materials;
use crate::formats::obj::load::{Surface, load};
use crate::formats::obj::memory::loading_memory;
use crate::formats::obj::text::{Cleaned, check_text, clean, may_overflow};
use crate::formats::{Loaded, MeshSpec, ReadError, ReadOptions, Sidecars, check_memory, counted};
use crate::mesh::Mesh;

/// Wavefront's.
pub const SPEC: MeshSpec = MeshSpec {
    extension: "obj",
    name: "Wavefront",
    carries: "positions, faces of any shape, groups; materials, images, colours of vertices",
    check_start: |start, _| check_text(start),
    read: read_with,
};

/// Reads the mesh in `bytes`, all groups and objects together. Material files and images
/// are among the `sidecars`; a missing one is a warning.
///
/// # Errors
/// Not text, malformed lines, indices out of range, coordinates that are not finite, no faces.
pub fn read(bytes: Vec<u8>, sidecars: &Sidecars) -> Result<Loaded, ReadError> {
    read_with(bytes, sidecars, &ReadOptions::default())
}

/// As [`read`], with `options`; the memory limit includes `bytes`.
///
/// # Errors
/// It could take more memory than it may; all that [`read`] refuses.
pub fn read_with(
    bytes: Vec<u8>,
    sidecars: &Sidecars,
    options: &ReadOptions,
) -> Result<Loaded, ReadError> {
    let Cleaned { text, mended } = clean(bytes, options.memory)?;
    let left = options.memory - needed_memory(&text, options.memory)?;
    let surface = load(&text, may_overflow(&text))?;
    let (materials, colors) = match options.appearance {
        true => {
            let materials = Materials::read(&surface.face_materials, sidecars, left);
            (materials, VertexColors::of(&surface.models))
        }
        false => Default::default(),
    };
    let Surface { models, face_materials, left_out, bad_corners } = surface;
    let mut build = Build::for_models(&models, &materials, colors);
    let mut materials_of_faces = face_materials.of_faces();
    models.into_iter().for_each(|model| build.add(&model.mesh, &mut materials_of_faces));
    if build.triangles.is_empty() {
        return Err(nothing_found(&left_out, &build));
    }

    let mut warnings = warnings(&left_out, &build);
    warnings.extend(mended.map(|what| format!("{what}: the exponent's sign follows the 'e'")));
    warnings.extend(bad_corners);
    let Build { positions, triangles, gathered, .. } = build;
    let mesh =
        Mesh::new(positions, triangles).map_err(|e| locate(&text).unwrap_or(ReadError::Mesh(e)))?;
    warnings.extend(materials.warnings.iter().cloned());
    warnings.extend(colors.iter().flat_map(|colors| colors.warnings(left_out.opacities)));
    if !materials.are_there && colors.is_none() {
        return Ok(Loaded { mesh, warnings });
    }
    let held = text.len() as u64 + mesh_bytes(&mesh) + gathered.bytes();
    let left = options.memory.saturating_sub(held);
    let (appearance, said) = appearance(&materials, gathered, sidecars, left);
    warnings.extend(said);
    Ok(Loaded { mesh: mesh.with_appearance(appearance)?, warnings })
}

/// An upper bound of the memory for reading `text`, in bytes.
///
/// # Errors
/// They are more than `limit`.
fn needed_memory(text: &str, limit: u64) -> Result<u64, ReadError> {
    // Counting takes a seventh of the reading time, so it is skipped if every text of this length
    // fits.
    let at_worst = memory::at_worst(text.len());
    if at_worst <= limit / 2 {
        return Ok(at_worst);
    }
    let needed = loading_memory(text);
    check_memory(needed, limit)?;
    Ok(needed)
}

fn mesh_bytes(mesh: &Mesh) -> u64 {
    (size_of_val(mesh.positions()) + size_of_val(mesh.triangles())) as u64
}

fn nothing_found(left_out: &LeftOut, build: &Build) -> ReadError {
    ReadError::Content(match left_out.points_and_lines + build.lean {
        0 => "no faces found: is this an OBJ mesh?".into(),
        n => {
            let lean = counted(n as u64, "point or line", "points and lines");
            format!("no faces found, only {lean}: nothing to voxelize")
        }
    })
}

fn warnings(left_out: &LeftOut, build: &Build) -> Vec<String> {
    let LeftOut { points_and_lines, free_form, calls, unknown, weights: weighted, .. } = left_out;
    let mut warnings = Vec::new();
    let mut warn = |count: usize, one: &str, more: &str, what: &str| {
        if count > 0 {
            warnings.push(format!("{} {what}", counted(count as u64, one, more)));
        }
    };
    let lean = points_and_lines + build.lean;
    let skipped = "skipped: no surface";
    warn(lean, "point or line was", "points and lines were", skipped);
    let ignored = "a weight: it was ignored, since polygons do not use weights";
    warn(*weighted, "vertex has", "vertices have", ignored);
    let skipped = "skipped: convert them to polygons";
    warn(
        *free_form,
        "free-form curve or surface was",
        "free-form curves and surfaces were",
        skipped,
    );
    let lines = ["line was skipped", "lines were skipped"];
    let names = calls.quoted_and_others();
    let called = format!("that may include a file or run a command: {names}");
    warn(calls.count, lines[0], lines[1], &called);
    let names = unknown.quoted_and_others();
    let unknown_names = format!("with unknown OBJ keywords: {names}");
    warn(unknown.count, lines[0], lines[1], &unknown_names);
    warnings.extend(build.cutter.warning());
    warnings
}
