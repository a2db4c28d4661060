//! Vertex colours: sRGB values from 0 to 1 or from 0 to 255.

use crate::base::srgb::{Linear, linear, linear_of};
use crate::formats::mesh::flat_colors::NO_COLOR;
use crate::formats::mesh::obj::materials::exceeds_display;
use crate::formats::mesh::obj::vertices::Vertices;
use crate::formats::mesh::out_of_range::{clamped_colors, is_unit};

/// The colours of all vertices in linear light, [`NO_COLOR`] for those without one, and warnings.
/// Empty if no vertex has a colour.
pub(super) fn vertex_colors(vertices: &Vertices) -> (Vec<Linear>, Vec<String>) {
    let colors = || vertices.colors.iter().flatten();
    let is_missing = |color: &[f64; 3]| color.iter().any(|value| value.is_nan());
    if colors().all(is_missing) {
        return (Vec::new(), Vec::new());
    }
    let is_of_255 = colors().any(|&color| exceeds_display(color));
    let most = if is_of_255 { 255.0 } else { 1.0 };
    let mut clamped = 0;
    let convert = |color: &[f64; 3]| {
        if is_missing(color) {
            return NO_COLOR;
        }
        clamped += u64::from(!color.iter().all(|value| is_unit(value / most)));
        let [r, g, b] = color.map(|value| linear_of_steps(value * (255.0 / most)));
        [r, g, b, u16::MAX]
    };
    let mut all = Vec::with_capacity(vertices.positions.len());
    all.extend(colors().map(convert));
    let of_255 = "colours of vertices exceed 1, and are read as 0 to 255";
    let missing = "some vertices have no colour: their faces have the colour of the material";
    let opaque = "the seventh numbers of vertices are taken for opacities, and not used";
    let warnings = [
        (is_of_255, of_255),
        (colors().any(is_missing), missing),
        (vertices.opacities > 0, opaque),
    ];
    let warnings = warnings.into_iter().filter(|(is_so, _)| *is_so);
    let warnings = warnings.map(|(_, what)| what.to_owned());
    (all, warnings.chain(clamped_colors([clamped, 0])).collect())
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
