//! Vertex colours: sRGB values from 0 to 1 or from 0 to 255.

use crate::base::srgb::{Linear, linear, linear_of};
use crate::formats::mesh::flat_colors::NO_COLOR;
use crate::formats::mesh::obj::materials::exceeds_display;
use crate::formats::mesh::out_of_range::{clamped_colors, is_unit};

/// The scale of a file's vertex colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VertexColors {
    /// Whether values are from 0 to 255 instead of 0 to 1.
    are_of_255: bool,
    /// Whether some vertices have no colour.
    are_some_missing: bool,
    /// Vertices with a colour value outside its range.
    clamped: u64,
}

impl VertexColors {
    /// The scale of all parts' colours of vertices, NaN where a vertex has none; `None` if no
    /// vertex has a colour.
    pub(super) fn of(parts: &[Vec<[f64; 3]>]) -> Option<Self> {
        let colors = || parts.iter().flatten();
        let is_missing = |color: &[f64; 3]| color.iter().any(|value| value.is_nan());
        if colors().all(is_missing) {
            return None;
        }
        let are_of_255 = colors().any(|&color| exceeds_display(color));
        let most = if are_of_255 { 255.0 } else { 1.0 };
        let is_clamped = |color: &&[f64; 3]| {
            !is_missing(color) && color.iter().any(|value| !is_unit(value / most))
        };
        let are_some_missing = colors().any(is_missing);
        let clamped = colors().filter(is_clamped).count() as u64;
        Some(Self { are_of_255, are_some_missing, clamped })
    }

    /// Converts the colours of all parts to linear light; [`NO_COLOR`] for those that are missing.
    pub(super) fn linear(self, parts: &[Vec<[f64; 3]>]) -> Vec<Linear> {
        let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        all.extend(parts.iter().flatten().map(|&color| self.linear_of(color)));
        all
    }

    fn linear_of(self, color: [f64; 3]) -> Linear {
        if color.iter().any(|value| value.is_nan()) {
            return NO_COLOR;
        }
        let most = if self.are_of_255 { 1.0 } else { 255.0 };
        let [r, g, b] = color.map(|value| linear_of_steps(value * most));
        [r, g, b, u16::MAX]
    }

    /// Warnings; `opacities` is the number of vertices with an opacity.
    pub(super) fn warnings(self, opacities: usize) -> impl Iterator<Item = String> {
        let of_255 = "colours of vertices exceed 1, and are read as 0 to 255";
        let missing = "some vertices have no colour: their faces have the colour of the material";
        let opaque = "the seventh numbers of vertices are taken for opacities, and not used";
        let warnings =
            [(self.are_of_255, of_255), (self.are_some_missing, missing), (opacities > 0, opaque)];
        let warnings = warnings.into_iter().filter(|(is_so, _)| *is_so);
        let clamped = clamped_colors([self.clamped, 0]);
        warnings.map(|(_, what)| what.to_owned()).chain(clamped)
    }
}

/// The linear light of a value from 0 to 255. Nearly all values are rounded bytes, which a table
/// converts.
fn linear_of_steps(steps: f64) -> u16 {
    let nearest = steps.round();
    if (0.0..=255.0).contains(&nearest) && (steps - nearest).abs() < 1e-3 {
        linear_of(nearest as u8)
    } else {
        linear(steps / 255.0)
    }
}
