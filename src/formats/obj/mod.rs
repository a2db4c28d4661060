//! Wavefront OBJ, read by `tobj`.
//!
//! `tobj` parses. Around it, the text is made such that it is read as it is meant (`text`), what
//! makes the surface is handed on in portions (`feed`), polygons are cut into triangles, concave
//! ones too (`polygons`), an error's line is found (`diagnose`), and what was skipped is said. The
//! memory for all that is bounded beforehand (`memory`).

mod diagnose;
mod feed;
mod memory;
mod text;

use std::io::{BufRead, Read};
use std::path::Path;

use crate::formats::obj::diagnose::{describe, locate};
use crate::formats::obj::feed::{LeftOut, Named, Part, feed};
use crate::formats::obj::memory::loading_memory;
use crate::formats::obj::text::{clean, has_negative_index, may_overflow};
use crate::formats::polygons::{CROSSING, Cutter};
use crate::formats::{Loaded, MeshSpec, ReadError};
use crate::mesh::Mesh;

/// Wavefront's.
pub const SPEC: MeshSpec = MeshSpec {
    extension: "obj",
    name: "Wavefront",
    carries: "positions, faces of any shape, groups; materials are not used yet",
    read: |bytes, path, options| read_within(bytes, path, options.memory),
};

/// Reads the mesh in `bytes`, all groups and objects together. Material files are looked for
/// beside `path`; a missing one is a warning.
///
/// # Errors
/// Not text, malformed lines, indices out of range, coordinates that are not finite, no faces.
pub fn read(bytes: Vec<u8>, path: &Path) -> Result<Loaded, ReadError> {
    read_text(&clean(bytes)?, path)
}

/// The same, if it takes at most `limit` bytes of memory at any time, `bytes` included.
///
/// # Errors
/// It could take more; all that [`read`] refuses.
pub fn read_within(bytes: Vec<u8>, path: &Path, limit: u64) -> Result<Loaded, ReadError> {
    let text = clean(bytes)?;
    // To count is a seventh of the work of reading: not where any text of this length would do.
    if memory::at_worst(text.len()) > limit {
        let needed = loading_memory(&text);
        if needed > limit {
            return Err(ReadError::Memory { needed, limit });
        }
    }
    read_text(&text, path)
}

fn read_text(text: &str, path: &Path) -> Result<Loaded, ReadError> {
    if may_overflow(text)
        && let Some(error) = locate(text)
    {
        return Err(error);
    }
    let mut all = feed(text, Part::All, path.parent().unwrap_or(Path::new("")));
    let models = load(&mut all).or_else(|error| load_vertices_first(text, error))?;
    let left_out = all.left_out;

    let mut build = Build::for_models(&models);
    models.into_iter().for_each(|model| build.add(&model.mesh));
    if build.triangles.is_empty() {
        return Err(nothing_found(&left_out, &build));
    }
    let warnings = warnings(&left_out, &build);
    let mesh = Mesh::new(build.positions, build.triangles)
        .map_err(|e| locate(text).unwrap_or(ReadError::Mesh(e)))?;
    Ok(Loaded { mesh, warnings })
}

fn load(input: &mut impl BufRead) -> Result<Vec<tobj::Model>, tobj::LoadError> {
    // No material files: they would be of use only to their names.
    let materials = |_: &Path| Ok(Default::default());
    tobj::load_obj_buf(input, &tobj::LoadOptions::default(), materials).map(|(models, _)| models)
}

/// The models in `text` where some face is in an earlier group than its vertices, if that is all
/// that `error` says. Negative indices would then count from the wrong line.
fn load_vertices_first(text: &str, error: tobj::LoadError) -> Result<Vec<tobj::Model>, ReadError> {
    if let Some(fault) = locate(text) {
        return Err(fault);
    }
    if has_negative_index(text) {
        return Err(describe(&error));
    }
    let part = |part| feed(text, part, Path::new(""));
    load(&mut part(Part::Vertices).chain(part(Part::Faces))).map_err(|e| describe(&e))
}

/// The triangles of all models, gathered.
struct Build {
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    cutter: Cutter,
    /// Faces of fewer than three corners: points and lines too.
    lean: usize,
}

impl Build {
    /// With room for all of them.
    fn for_models(models: &[tobj::Model]) -> Self {
        let vertices = models.iter().map(|model| model.mesh.positions.len() / 3).sum();
        let triangles = models.iter().map(|model| triangle_count(&model.mesh)).sum();
        Self {
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(triangles),
            cutter: Cutter::default(),
            lean: 0,
        }
    }

    fn add(&mut self, model: &tobj::Mesh) {
        // Past u32 the mesh is refused by its check: positions outnumber what an index can name.
        let base = self.positions.len() as u32;
        let (positions, _) = model.positions.as_chunks::<3>();
        self.positions.extend_from_slice(positions);
        if model.face_arities.is_empty() {
            let (triangles, _) = model.indices.as_chunks::<3>();
            self.triangles.extend(triangles.iter().map(|t| t.map(|i| base.wrapping_add(i))));
            return;
        }
        let mut rest = &model.indices[..];
        for &arity in &model.face_arities {
            let (face, after) = rest.split_at(arity as usize);
            rest = after;
            match *face {
                [] | [_] | [_, _] => self.lean += 1,
                [a, b, c] => self.triangles.push([a, b, c].map(|i| base.wrapping_add(i))),
                _ => {
                    let corners: Vec<[f64; 3]> =
                        face.iter().map(|&i| positions[i as usize]).collect();
                    let triangles = self.cutter.cut(&corners).into_iter();
                    let global = |corner: u32| base.wrapping_add(face[corner as usize]);
                    self.triangles.extend(triangles.map(|triangle| triangle.map(global)));
                }
            }
        }
    }
}

/// How many triangles the faces of `model` are cut into.
fn triangle_count(model: &tobj::Mesh) -> usize {
    match &model.face_arities[..] {
        [] => model.indices.len() / 3,
        arities => arities.iter().map(|&arity| arity.saturating_sub(2) as usize).sum(),
    }
}

fn nothing_found(left_out: &LeftOut, build: &Build) -> ReadError {
    ReadError::Content(match left_out.points_and_lines + build.lean {
        0 => "no faces found: is this an OBJ mesh?".into(),
        n => format!("no faces found, only {n} points and lines: nothing to voxelize"),
    })
}

fn warnings(left_out: &LeftOut, build: &Build) -> Vec<String> {
    let LeftOut { points_and_lines, free_form, calls, unknown, missing } = left_out;
    let mut warnings = Vec::new();
    let mut warn = |count: usize, what: &str| {
        if count > 0 {
            warnings.push(format!("{count} {what}"));
        }
    };
    warn(points_and_lines + build.lean, "points and lines were skipped: they have no surface");
    warn(build.cutter.crossing, CROSSING);
    warn(*free_form, "free-form curves and surfaces were skipped: convert them to polygons");
    let more = |named: &Named| if named.others > 0 { " and others" } else { "" };
    let (lines, and) = (calls.quoted(), more(calls));
    let what = "lines were skipped that include a file or run a command: ";
    warn(calls.count, &format!("{what}{lines}{and}"));
    let and = more(unknown);
    let words = unknown.quoted();
    warn(unknown.count, &format!("lines were skipped: {words}{and} are no OBJ keywords"));
    let more = match missing.others {
        0 => String::new(),
        others => format!(" and {others} others"),
    };
    if missing.count > 0 {
        warnings.push(format!("material files not found: {}{more}", missing.quoted()));
    }
    warnings
}
