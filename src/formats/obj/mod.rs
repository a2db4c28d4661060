//! Wavefront OBJ, read by `tobj`.
//!
//! `tobj` parses. Around it, the text is first made such that it is read as it is meant (`text`),
//! polygons are cut into triangles, concave ones too (`polygons`), an error's line is found
//! (`diagnose`), and what was skipped is said.

mod diagnose;
mod polygons;
mod text;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::formats::obj::diagnose::{describe, locate};
use crate::formats::obj::polygons::Cutter;
use crate::formats::obj::text::{Tidied, may_overflow};
use crate::formats::{Loaded, ReadError, excerpt};
use crate::mesh::Mesh;

/// Reads the mesh in `bytes`, all groups and objects together. Material files are looked for
/// beside `path`; a missing one is a warning.
///
/// # Errors
/// Not text, malformed lines, indices out of range, coordinates that are not finite, no faces.
pub fn read(bytes: Vec<u8>, path: &Path) -> Result<Loaded, ReadError> {
    let tidied = Tidied::new(bytes)?;
    let text = tidied.text.as_str();
    if may_overflow(text)
        && let Some(error) = locate(text)
    {
        return Err(error);
    }
    let missing = RefCell::new(Vec::new());
    let material_file = |name: &Path| {
        let file = path.parent().unwrap_or(Path::new("")).join(name);
        if !file.is_file() {
            missing.borrow_mut().push(name.to_owned());
        }
        Ok(Default::default())
    };
    let options = tobj::LoadOptions::default();
    let models = tobj::load_obj_buf(&mut text.as_bytes(), &options, material_file);
    let (models, _) = models.map_err(|e| locate(text).unwrap_or_else(|| describe(&e)))?;

    let mut build = Build::default();
    models.iter().for_each(|model| build.add(&model.mesh));
    if build.triangles.is_empty() {
        return Err(nothing_found(&tidied, &build));
    }
    let warnings = warnings(&tidied, &build, &missing.into_inner());
    let mesh = Mesh::new(build.positions, build.triangles)
        .map_err(|e| locate(text).unwrap_or(ReadError::Mesh(e)))?;
    Ok(Loaded { mesh, warnings })
}

/// The triangles of all models, gathered.
#[derive(Default)]
struct Build {
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    cutter: Cutter,
    /// Faces of fewer than three corners: points and lines too.
    lean: usize,
}

impl Build {
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

fn nothing_found(tidied: &Tidied, build: &Build) -> ReadError {
    ReadError::Content(match tidied.points_and_lines + build.lean {
        0 => "no faces found: is this an OBJ mesh?".into(),
        n => format!("no faces found, only {n} points and lines: nothing to voxelize"),
    })
}

fn shown(name: &Path) -> String {
    excerpt(&name.to_string_lossy())
}

/// How many unknown words, or missing files, are named.
const NAMED: usize = 3;

fn warnings(tidied: &Tidied, build: &Build, missing: &[PathBuf]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |count: usize, what: &str| {
        if count > 0 {
            warnings.push(format!("{count} {what}"));
        }
    };
    warn(
        tidied.points_and_lines + build.lean,
        "points and lines were skipped: they have no surface",
    );
    warn(
        build.cutter.crossing,
        "polygons cross themselves or are far from flat; part of their area may be missing",
    );
    warn(tidied.free_form, "free-form curves and surfaces were skipped: convert them to polygons");
    let words: Vec<String> =
        tidied.unknown.keys().take(NAMED).map(|word| format!("'{word}'")).collect();
    let more = if tidied.unknown.len() > NAMED { " and others" } else { "" };
    warn(
        tidied.unknown.values().sum(),
        &format!("lines were skipped: {}{more} are no OBJ keywords", words.join(", ")),
    );
    let more = match missing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} others"),
    };
    let names: Vec<String> =
        missing.iter().take(NAMED).map(|name| format!("'{}'", shown(name))).collect();
    if !names.is_empty() {
        warnings.push(format!("material files not found: {}{more}", names.join(", ")));
    }
    warnings
}
