//! Colours without textures: of faces, one material for each distinct colour, and of vertices,
//! some of which may have none.

use std::collections::HashMap;

use crate::base::srgb::{Linear, Rgba, linear, linear_of, linear_of_rgba};
use crate::formats::mesh::out_of_range::is_unit;
use crate::mesh::appearance::{Alpha, Material};

/// Number of distinct colours that are kept exactly.
const MAX_EXACT: usize = 1 << 16;

/// The beginning of a warning; the name of the coloured elements follows.
const ALL_TRANSPARENT: &str = "opacity was ignored, as all would be transparent: that of";

/// The colour of a vertex without one.
pub(crate) const NO_COLOR: Linear = [0; 4];

/// Whether a vertex of this triangle has no colour. Then the colours of the others are not used
/// either: what lies between them is not known.
#[inline]
pub(crate) fn lacks_color(triangle: [u32; 3], colors: &[Linear]) -> bool {
    triangle.iter().any(|&vertex| colors[vertex as usize] == NO_COLOR)
}

/// The alpha mode of vertex colours. If all are fully transparent, it is opaque, with a warning.
fn alpha_of(vertex_colors: &[Linear], warnings: &mut Vec<String>) -> Alpha {
    let alpha = Alpha::of_colors(vertex_colors);
    if alpha == Alpha::Opaque || vertex_colors.iter().any(|color| color[3] > 0) {
        return alpha;
    }
    warnings.push(format!("{ALL_TRANSPARENT} vertices"));
    Alpha::Opaque
}

/// The values of full light and full opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColorScale {
    pub(crate) light: f64,
    pub(crate) opacity: f64,
}

impl ColorScale {
    /// Whether a colour is in the range of the scale.
    #[inline]
    pub(crate) fn holds(self, [r, g, b, opacity]: [f64; 4]) -> bool {
        [r, g, b].into_iter().all(|value| is_unit(value / self.light))
            && is_unit(opacity / self.opacity)
    }

    /// Converts a colour, in sRGB as nearly all programs write, to linear light.
    pub(crate) fn linear(self, [r, g, b, opacity]: [f64; 4]) -> Linear {
        let light = |value: f64| {
            if self.light == 255.0 && value.fract() == 0.0 {
                linear_of(value as u8)
            } else {
                linear(value / self.light)
            }
        };
        let opacity = (opacity / self.opacity).clamp(0.0, 1.0) * f64::from(u16::MAX);
        [light(r), light(g), light(b), opacity.round() as u16]
    }

    /// Converts a colour to 8-bit sRGB.
    pub(crate) fn srgb(self, [r, g, b, opacity]: [f64; 4]) -> Rgba {
        let byte = |value: f64| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
        let light = |value: f64| byte(value / self.light);
        [light(r), light(g), light(b), byte(opacity / self.opacity)]
    }
}

/// Materials by colour, appended to other materials.
#[derive(Default)]
pub(crate) struct FlatColors {
    others: Vec<Material>,
    colors: Vec<Rgba>,
    index_of: HashMap<Rgba, u32>,
    is_rounded: bool,
}

impl FlatColors {
    /// An upper bound of bytes for the colours of `triangles`: materials with names, and colours
    /// and indices in lists that have just grown.
    pub(crate) fn most_memory(triangles: u64) -> u64 {
        triangles.min(2 * MAX_EXACT as u64) * (size_of::<Material>() as u64 + 108)
    }

    /// No colours; materials follow `others`.
    pub(crate) fn new(others: Vec<Material>) -> Self {
        Self { others, ..Self::default() }
    }

    /// The index of the material of this sRGB colour. After 65,536 distinct colours, new ones are
    /// rounded to 16 steps per channel, which gives at most 65,536 more.
    pub(crate) fn material_of(&mut self, mut color: Rgba) -> u32 {
        if let Some(&index) = self.index_of.get(&color) {
            return index;
        }
        if self.index_of.len() >= MAX_EXACT {
            self.is_rounded = true;
            color = color.map(|channel| (channel >> 4) * 17);
        }
        let next = self.others.len() + self.colors.len();
        *self.index_of.entry(color).or_insert_with(|| {
            self.colors.push(color);
            next as u32
        })
    }

    /// All materials, and a warning for each change of a colour. If there are vertex colours, the
    /// first material shows them. If all colours are fully transparent, their last channel is not
    /// opacity: they become opaque.
    pub(crate) fn finish(
        self,
        vertex_colors: &[Linear],
        warnings: &mut Vec<String>,
    ) -> Vec<Material> {
        let Self { others: mut materials, mut colors, index_of, is_rounded } = self;
        drop(index_of);
        if !colors.is_empty() && colors.iter().all(|color| color[3] == 0) {
            colors.iter_mut().for_each(|color| color[3] = u8::MAX);
            warnings.push(format!("{ALL_TRANSPARENT} faces"));
        }
        if is_rounded {
            warnings.push(format!(
                "faces have more than {MAX_EXACT} colours: the others were rounded to 16 steps a \
                 channel"
            ));
        }
        materials.reserve_exact(colors.len());
        materials.extend(colors.into_iter().map(Self::material));
        if !vertex_colors.is_empty() {
            materials[0].has_vertex_colors = true;
            materials[0].alpha = alpha_of(vertex_colors, warnings);
        }
        materials
    }

    pub(crate) fn material(color: Rgba) -> Material {
        let alpha = if color[3] < u8::MAX { Alpha::Blend } else { Alpha::Opaque };
        let [r, g, b, a] = color;
        let mut name = format!("#{r:02x}{g:02x}{b:02x}");
        if a < u8::MAX {
            name += &format!("{a:02x}");
        }
        Material { name, color: linear_of_rgba(color), alpha, ..Material::default() }
    }
}
