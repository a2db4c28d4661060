//! Wavefront OBJ, read by `tobj`.
//!
//! `tobj` parses; this module gives it clean text (line continuations, a byte order mark, names in
//! old encodings, comments after numbers), leaves out points and lines, cuts polygons into
//! triangles (concave ones too), finds the line that an error is on, and says what was skipped.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

use earcut::{Earcut, utils3d::project3d_to_2d};

use crate::formats::{Loaded, ReadError};
use crate::mesh::Mesh;

/// Reads the mesh in `bytes`, all groups and objects together. Material files are looked for
/// beside `path`; a missing one is a warning.
///
/// # Errors
/// Not text, malformed lines, indices out of range, coordinates that are not finite, no faces.
pub fn read(bytes: Vec<u8>, path: &Path) -> Result<Loaded, ReadError> {
    let text = clean_text(bytes)?;
    let points_and_lines = text.lines().filter(|line| is_point_or_line(line)).count();
    let text = tidy_lines(text);
    if may_overflow(&text)
        && let Some(error) = locate(&text)
    {
        return Err(error);
    }
    let options = tobj::LoadOptions::default();
    let missing = RefCell::new(Vec::new());
    let material_file = |name: &Path| {
        let file = path.parent().unwrap_or(Path::new("")).join(name);
        if !file.is_file() {
            missing.borrow_mut().push(name.to_owned());
        }
        Ok(Default::default())
    };
    let models = tobj::load_obj_buf(&mut text.as_bytes(), &options, material_file);
    let (models, _) = models.map_err(|e| locate(&text).unwrap_or_else(|| describe(&e)))?;

    let mut build = Build { points_and_lines, ..Build::default() };
    models.iter().for_each(|model| build.add(&model.mesh));
    if build.triangles.is_empty() {
        return Err(ReadError::Content(build.nothing_found()));
    }
    let warnings = build.warnings(&text, &missing.into_inner());
    let mesh = Mesh::new(build.positions, build.triangles)
        .map_err(|e| locate(&text).unwrap_or(ReadError::Mesh(e)))?;
    Ok(Loaded { mesh, warnings })
}

/// Text as `tobj` reads it: UTF-8 without byte order mark, lines ended by `\n`, none continued.
fn clean_text(bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Content("the file is empty".into()));
    }
    if bytes.contains(&0) {
        let what = "not an OBJ text file: it contains zero bytes (binary, or UTF-16 text)";
        return Err(ReadError::Content(what.into()));
    }
    // Names of materials and groups may be in any encoding; nothing else is beyond ASCII.
    let mut text = String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if text.contains('\r') && !text.contains('\n') {
        text = text.replace('\r', "\n");
    }
    if text.contains("\\\n") || text.contains("\\\r\n") {
        text = join_continued_lines(&text);
    }
    Ok(text)
}

/// Joins lines that end in a backslash to the next, and keeps later line numbers by adding as many
/// empty lines after them.
fn join_continued_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut owed = 0;
    for line in text.lines() {
        // A comment may end in a backslash that means nothing, such as a folder's.
        let is_comment = owed == 0 && first_word(line).is_some_and(|word| word.starts_with('#'));
        match line.strip_suffix('\\').filter(|_| !is_comment) {
            Some(start) => {
                joined.push_str(start);
                joined.push(' ');
                owed += 1;
            }
            None => {
                joined.push_str(line);
                (0..=owed).for_each(|_| joined.push('\n'));
                owed = 0;
            }
        }
    }
    joined
}

fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

fn is_point_or_line(line: &str) -> bool {
    matches!(first_word(line), Some("p" | "l"))
}

/// The text with each line as `tobj` reads it, and as many lines as before.
fn tidy_lines(text: String) -> String {
    if text.lines().all(|line| matches!(tidy(line), Cow::Borrowed(tidied) if tidied == line)) {
        return text;
    }
    text.lines().flat_map(|line| [tidy(line), "\n".into()]).collect()
}

fn tidy(line: &str) -> Cow<'_, str> {
    match first_word(line) {
        // A line of three points would be taken for a triangle.
        Some("p" | "l") => "".into(),
        Some("v" | "vt" | "vn" | "f") => without_comment(line).into(),
        // One space before the name is all that is understood, and no name is an error.
        Some(keyword @ ("usemtl" | "mtllib")) => match line.trim_start()[keyword.len()..].trim() {
            "" if keyword == "mtllib" => "".into(),
            "" => "usemtl (none)".into(),
            name if line.starts_with(&format!("{keyword} {name}")) => line.into(),
            name => format!("{keyword} {name}").into(),
        },
        _ => line.into(),
    }
}

/// A comment begins at a word, so that `1.#IND`, which some programs write for NaN, is not `1.`.
fn without_comment(line: &str) -> &str {
    let comment = line.find(" #").or_else(|| line.find("\t#"));
    &line[..comment.unwrap_or(line.len())]
}

/// Whether a texture or normal index has a sign, or is so long that `tobj` would overflow. It
/// multiplies these before it compares them, so that one out of range may even wrap into it.
fn may_overflow(text: &str) -> bool {
    let long = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() > 15;
    text.split('/').skip(1).any(|rest| rest.starts_with(['-', '+']) || long(rest))
}

/// The triangles of all models, gathered.
#[derive(Default)]
struct Build {
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    points_and_lines: usize,
    crossing_polygons: usize,
    earcut: Earcut<f64>,
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
            let face: Vec<u32> = face.iter().map(|i| base.wrapping_add(*i)).collect();
            match face[..] {
                [] | [_] | [_, _] => self.points_and_lines += 1,
                [a, b, c] => self.triangles.push([a, b, c]),
                _ => self.add_polygon(&face),
            }
        }
    }

    /// Cuts a polygon of four corners or more into triangles: a fan where it is convex, else by
    /// ear clipping in its own plane.
    fn add_polygon(&mut self, face: &[u32]) {
        let corners: Vec<[f64; 3]> = face
            .iter()
            .map(|&i| self.positions.get(i as usize).copied().unwrap_or_default())
            .collect();
        let flat = flatten(&corners);
        let mut cut: Vec<u32> = Vec::new();
        if let Some(flat) = flat.filter(|flat| !is_convex(flat)) {
            self.earcut.earcut(flat.iter().copied(), &[], &mut cut);
            // Relative difference of the areas; rounding alone leaves about 1e-15 per corner.
            if earcut::deviation(flat, &[], &cut) > 1e-9 {
                self.crossing_polygons += 1;
            }
        }
        let (triangles, _) = cut.as_chunks::<3>();
        if triangles.is_empty() {
            self.triangles.extend((2..face.len()).map(|i| [face[0], face[i - 1], face[i]]));
        } else {
            self.triangles.extend(triangles.iter().map(|t| t.map(|i| face[i as usize])));
        }
    }

    fn nothing_found(&self) -> String {
        match self.points_and_lines {
            0 => "no faces found: is this an OBJ mesh?".into(),
            n => format!("no faces found, only {n} points and lines: nothing to voxelize"),
        }
    }

    fn warnings(&self, text: &str, missing: &[PathBuf]) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warn = |count: usize, what: &str| {
            if count > 0 {
                warnings.push(format!("{count} {what}"));
            }
        };
        warn(self.points_and_lines, "points and lines were skipped: they have no surface");
        warn(
            self.crossing_polygons,
            "polygons cross themselves or are far from flat; part of their area may be missing",
        );
        let free_form = |line: &&str| line.starts_with("surf ") || line.starts_with("curv");
        let free_form =
            if text.contains("\ncstype") { text.lines().filter(free_form).count() } else { 0 };
        warn(free_form, "free-form curves and surfaces were skipped: convert them to polygons");
        for name in missing {
            warnings.push(format!("material file '{}' was not found", name.display()));
        }
        warnings
    }
}

/// The corners in the plane of the polygon, or `None` where it has no area. Moved to the first
/// corner and scaled to about 1, so that far-away and tiny polygons keep their digits.
fn flatten(corners: &[[f64; 3]]) -> Option<Vec<[f64; 2]>> {
    let local = corners.iter().map(|p| [0, 1, 2].map(|a| p[a] - corners[0][a]));
    let mut local: Vec<[f64; 3]> = local.collect();
    let size = local.iter().flatten().fold(0.0, |m: f64, c| m.max(c.abs()));
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    local.iter_mut().flatten().for_each(|c| *c /= size);
    let mut flat = Vec::new();
    project3d_to_2d(&local, local.len(), &mut flat).then_some(flat)
}

/// Whether no corner of the polygon, counter-clockwise by construction, turns the other way.
fn is_convex(flat: &[[f64; 2]]) -> bool {
    let n = flat.len();
    (0..n).all(|i| {
        let [a, b, c] = [flat[i], flat[(i + 1) % n], flat[(i + 2) % n]];
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) >= 0.0
    })
}

/// The first line that is malformed, and how. Only run once something is known to be wrong.
fn locate(text: &str) -> Option<ReadError> {
    let count = |keyword| text.lines().filter(|line| first_word(line) == Some(keyword)).count();
    let totals = ["v", "vt", "vn"].map(count);
    let mut counts = [0; 3];
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let fault = match words.next() {
            Some("v") => next(&mut counts[0], vertex_fault(words)),
            Some("vt") => next(&mut counts[1], attribute_fault(words, 2)),
            Some("vn") => next(&mut counts[2], attribute_fault(words, 3)),
            Some("f") => words.find_map(|word| corner_fault(word, counts, totals)),
            _ => None,
        };
        if let Some(what) = fault {
            return Some(ReadError::Line { line: index + 1, what });
        }
    }
    None
}

/// What is wrong where each line by itself is right.
fn describe(error: &tobj::LoadError) -> ReadError {
    ReadError::Content(match error {
        tobj::LoadError::FaceColorOutOfBounds => {
            "some vertices have a colour and others do not: give all of them one, or none".into()
        }
        tobj::LoadError::FaceVertexOutOfBounds => {
            "a face uses a vertex that is defined only after the next group begins".into()
        }
        other => other.to_string(),
    })
}

fn next<T>(count: &mut usize, value: T) -> T {
    *count += 1;
    value
}

/// What is wrong with the numbers of a vertex: a position, then nothing, a weight or a colour.
fn vertex_fault<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let words: Vec<&str> = words.collect();
    let numbers: Vec<f64> = words.iter().map_while(|word| word.parse().ok()).collect();
    let finite = numbers.iter().take_while(|number| number.is_finite()).count();
    if let Some(word) = words.get(finite) {
        return Some(format!("'{word}' is not a finite number"));
    }
    match numbers[..] {
        [_, _, _, 0.0] => Some("the weight is 0, by which the position is divided".into()),
        [_, _, _] | [_, _, _, _] | [_, _, _, _, _, _] => None,
        _ => Some(format!("{} numbers where 3 belong", words.len())),
    }
}

/// What is wrong with a texture coordinate or normal of `count` numbers. They need not be finite,
/// and more may follow.
fn attribute_fault<'a>(words: impl Iterator<Item = &'a str>, count: usize) -> Option<String> {
    let words: Vec<&str> = words.take(count).collect();
    match words.iter().find(|word| word.parse::<f64>().is_err()) {
        Some(word) => Some(format!("'{word}' is not a number")),
        None if words.len() < count => {
            Some(format!("{} numbers where {count} belong", words.len()))
        }
        None => None,
    }
}

/// What is wrong with one corner `v`, `v/vt`, `v//vn` or `v/vt/vn` of a face, after `counts` of
/// `totals` vertices, texture coordinates and normals.
fn corner_fault(corner: &str, counts: [usize; 3], totals: [usize; 3]) -> Option<String> {
    let names = ["vertex", "texture coordinate", "normal"];
    for (part, text) in corner.split('/').enumerate() {
        if text.is_empty() && part > 0 {
            continue;
        }
        let Some((&name, &total)) = names.get(part).zip(totals.get(part)) else {
            return Some(format!("'{corner}' has more than three indices"));
        };
        let Ok(index) = text.parse::<i64>() else {
            return Some(format!("'{text}' in '{corner}' is not an index"));
        };
        // Negative indices count back from the line they are on.
        let limit = if index < 0 { counts[part] } else { total };
        // A file may leave out all texture coordinates or normals and still refer to them.
        let absent = part > 0 && total == 0;
        if !absent && (index == 0 || index.unsigned_abs() > limit as u64) {
            return Some(match index {
                0 => format!("{name} index 0 in '{corner}': indices start at 1"),
                _ => {
                    format!("{name} index {index} in '{corner}' is out of range: there are {limit}")
                }
            });
        }
    }
    None
}
