//! What `tobj` makes of a text, in the order of lines and with the colours that it needs.

use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::Path;

use crate::formats::ReadError;
use crate::formats::obj::diagnose::{describe, locate};
use crate::formats::obj::feed::{Colors, Feed, LeftOut, Part, feed};
use crate::formats::obj::looks::Looks;
use crate::formats::obj::text::{first_word, has_negative_index, statements};

/// The surface of a text, and what else is in it.
pub(super) struct Surface {
    pub(super) models: Vec<tobj::Model>,
    pub(super) looks: Looks,
    pub(super) left_out: LeftOut,
}

/// Why a text was not loaded.
enum Failure {
    /// Only some vertices have colours.
    Colors,
    Other(ReadError),
}

/// Loads the surface of `text`.
///
/// # Errors
/// Malformed lines, indices out of range.
pub(super) fn load(text: &str) -> Result<Surface, ReadError> {
    let first = match starts_with_color(text) {
        true => Colors::OfEachVertex,
        false => Colors::AsWritten,
    };
    let loaded = load_with(text, first).or_else(|failure| match failure {
        Failure::Colors => load_with(text, Colors::OfEachVertex),
        other => Err(other),
    });
    loaded.map_err(|failure| match failure {
        Failure::Colors => describe(&tobj::LoadError::FaceColorOutOfBounds),
        Failure::Other(error) => error,
    })
}

/// Whether the first vertex has a colour: then most likely all have.
fn starts_with_color(text: &str) -> bool {
    let mut vertices = statements(text).filter(|(_, line)| first_word(line) == Some("v"));
    vertices.next().is_some_and(|(_, line)| line.split_whitespace().count() > 6)
}

fn load_with(text: &str, colors: Colors) -> Result<Surface, Failure> {
    let mut all = feed(text, Part::All, colors);
    let surface = match parse(&mut all) {
        Ok(models) => Ok(all.into_surface(models)),
        Err(tobj::LoadError::FaceColorOutOfBounds | tobj::LoadError::ColorParseError)
            if colors == Colors::AsWritten =>
        {
            return Err(Failure::Colors);
        }
        Err(error) => load_vertices_first(text, colors, error),
    };
    let surface = surface.map_err(Failure::Other)?;
    let has_colors = surface.models.iter().any(|model| !model.mesh.vertex_color.is_empty());
    match has_colors && colors == Colors::AsWritten {
        true => Err(Failure::Colors),
        false => Ok(surface),
    }
}

fn parse(input: &mut impl BufRead) -> Result<Vec<tobj::Model>, tobj::LoadError> {
    // No material files: they are read elsewhere.
    let materials = |_: &Path| Ok(Default::default());
    tobj::load_obj_buf(input, &tobj::LoadOptions::default(), materials).map(|(models, _)| models)
}

/// The surface of `text` where some face is in an earlier group than its vertices, if that is all
/// that `error` says. Negative indices would then count from the wrong line.
fn load_vertices_first(
    text: &str,
    colors: Colors,
    error: tobj::LoadError,
) -> Result<Surface, ReadError> {
    if let Some(fault) = locate(text) {
        return Err(fault);
    }
    if has_negative_index(text) {
        return Err(describe(&error));
    }
    let mut faces = feed(text, Part::Faces, colors);
    let models = parse(&mut feed(text, Part::Vertices, colors).chain(&mut faces));
    models.map(|models| faces.into_surface(models)).map_err(|error| describe(&error))
}

impl<'a, S: Iterator<Item = Cow<'a, str>>> Feed<S> {
    fn into_surface(self, models: Vec<tobj::Model>) -> Surface {
        Surface { models, looks: self.looks, left_out: self.left_out }
    }
}
