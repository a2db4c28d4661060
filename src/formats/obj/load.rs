//! Loads a text by `tobj`, retrying with reordered lines or completed colours if necessary.

use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::Path;

use crate::formats::ReadError;
use crate::formats::obj::diagnose::{Counts, bad_corners, describe, locate};
use crate::formats::obj::face_materials::FaceMaterials;
use crate::formats::obj::filter::{Colors, Corners, Feed, LeftOut, Part, feed};
use crate::formats::obj::text::{first_word, has_negative_index, statements};

/// The surface of a text, with its materials and omitted statements.
pub(super) struct Surface {
    pub(super) models: Vec<tobj::Model>,
    pub(super) face_materials: FaceMaterials,
    pub(super) left_out: LeftOut,
    /// A warning about invalid indices of texture coordinates and normals.
    pub(super) bad_corners: Option<String>,
}

/// Why a text was not loaded.
enum Failure {
    /// Only some vertices have colours.
    Colors,
    /// Some faces have invalid indices of texture coordinates or normals.
    Corners(String),
    Other(ReadError),
}

/// Loads the surface of `text`. `tobj` cannot read texture coordinates and normals where
/// `may_overflow`.
///
/// # Errors
/// Malformed lines, indices of vertices out of range.
pub(super) fn load(text: &str, may_overflow: bool) -> Result<Surface, ReadError> {
    let mut colors = match starts_with_color(text) {
        true => Colors::OfEachVertex,
        false => Colors::AsWritten,
    };
    let mut bad = None;
    if may_overflow {
        if let Some(fault) = locate(text) {
            return Err(fault);
        }
        bad = bad_corners(text);
    }
    loop {
        let corners = match bad {
            Some(_) => Corners::Checked(Counts::of(text)),
            None => Corners::AsWritten,
        };
        match load_with(text, colors, corners) {
            Ok(surface) => return Ok(Surface { bad_corners: bad, ..surface }),
            Err(Failure::Colors) if colors == Colors::AsWritten => colors = Colors::OfEachVertex,
            Err(Failure::Corners(what)) if bad.is_none() => bad = Some(what),
            Err(Failure::Other(error)) => return Err(error),
            Err(Failure::Colors | Failure::Corners(_)) => {
                return Err(describe(&tobj::LoadError::FaceColorOutOfBounds));
            }
        }
    }
}

/// Whether the first vertex has a colour; then most likely all have.
fn starts_with_color(text: &str) -> bool {
    let mut vertices = statements(text).filter(|(_, line)| first_word(line) == Some("v"));
    vertices.next().is_some_and(|(_, line)| line.split_whitespace().count() > 6)
}

fn load_with(text: &str, colors: Colors, corners: Corners) -> Result<Surface, Failure> {
    let mut all = feed(text, Part::All, colors, corners);
    let surface = match parse(&mut all) {
        Ok(models) => Ok(all.into_surface(models)),
        Err(tobj::LoadError::FaceColorOutOfBounds | tobj::LoadError::ColorParseError)
            if colors == Colors::AsWritten =>
        {
            return Err(Failure::Colors);
        }
        Err(error) => {
            if let Some(fault) = locate(text) {
                return Err(Failure::Other(fault));
            }
            if corners == Corners::AsWritten
                && let Some(what) = bad_corners(text)
            {
                return Err(Failure::Corners(what));
            }
            load_vertices_first(text, colors, corners, error)
        }
    };
    let surface = surface.map_err(Failure::Other)?;
    let has_colors = surface.models.iter().any(|model| !model.mesh.vertex_color.is_empty());
    match has_colors && colors == Colors::AsWritten {
        true => Err(Failure::Colors),
        false => Ok(surface),
    }
}

fn parse(input: &mut impl BufRead) -> Result<Vec<tobj::Model>, tobj::LoadError> {
    // Material files are read by `libraries`.
    let materials = |_: &Path| Ok(Default::default());
    tobj::load_obj_buf(input, &tobj::LoadOptions::default(), materials).map(|(models, _)| models)
}

/// The surface of `text` where some face is in an earlier group than its vertices, and no line is
/// wrong. Negative indices would then count from the wrong line.
fn load_vertices_first(
    text: &str,
    colors: Colors,
    corners: Corners,
    error: tobj::LoadError,
) -> Result<Surface, ReadError> {
    if has_negative_index(text) {
        return Err(describe(&error));
    }
    let mut faces = feed(text, Part::Faces, colors, corners);
    let models = parse(&mut feed(text, Part::Vertices, colors, corners).chain(&mut faces));
    models.map(|models| faces.into_surface(models)).map_err(|error| describe(&error))
}

impl<'a, S: Iterator<Item = Cow<'a, str>>> Feed<S> {
    fn into_surface(self, models: Vec<tobj::Model>) -> Surface {
        Surface {
            models,
            face_materials: self.face_materials,
            left_out: self.left_out,
            bad_corners: None,
        }
    }
}
