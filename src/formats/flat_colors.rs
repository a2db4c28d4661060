//! Triangles that each have a plain colour: a material for each colour.

use std::collections::HashMap;

use crate::appearance::{Alpha, Material};
use crate::srgb::{Rgba, linear_of_rgba};

/// So many colours are kept as they are.
const MOST_EXACT: usize = 1 << 16;

/// A warning, before what has the colours.
pub(in crate::formats) const ALL_TRANSPARENT: &str =
    "opacity was ignored, as nothing could be seen with it: that of";

/// Materials by their colour, after others.
pub(in crate::formats) struct PlainColors {
    materials: Vec<Material>,
    /// Materials before the first of these.
    others: usize,
    index_of: HashMap<Rgba, u32>,
    is_rounded: bool,
}

impl PlainColors {
    /// Bytes of memory that so many triangles' colours take at most: materials and their numbers, both
    /// in lists that have just grown.
    pub(in crate::formats) fn most_memory(triangles: u64) -> u64 {
        triangles.min(2 * MOST_EXACT as u64) * (3 * size_of::<Material>() as u64 + 64)
    }

    /// None yet, after `others`.
    pub(in crate::formats) fn new(others: Vec<Material>) -> Self {
        let count = others.len();
        Self { materials: others, others: count, index_of: HashMap::new(), is_rounded: false }
    }

    /// The number of the material of this colour, in sRGB. There are at most twice 65,536: once so many
    /// are known, others are rounded to 16 steps a channel.
    pub(in crate::formats) fn material_of(&mut self, color: Rgba) -> u32 {
        if let Some(&index) = self.index_of.get(&color) {
            return index;
        }
        let color = match self.index_of.len() < MOST_EXACT {
            true => color,
            false => {
                self.is_rounded = true;
                color.map(|channel| (channel >> 4) * 17)
            }
        };
        let materials = &mut self.materials;
        *self.index_of.entry(color).or_insert_with(|| {
            materials.push(Self::material(color));
            materials.len() as u32 - 1
        })
    }

    /// All materials, and a warning for each thing that was changed. Where none of these could be seen
    /// at all, their last channel is not opacity, and they are opaque.
    pub(in crate::formats) fn finish(mut self) -> (Vec<Material>, Vec<String>) {
        let mut warnings = Vec::new();
        let own = &mut self.materials[self.others..];
        if !own.is_empty() && own.iter().all(|material| material.color[3] == 0) {
            own.iter_mut().for_each(|material| {
                material.color[3] = u16::MAX;
                material.alpha = Alpha::Opaque;
            });
            warnings.push(format!("{ALL_TRANSPARENT} faces"));
        }
        if self.is_rounded {
            warnings.push(format!(
                "faces have more than {MOST_EXACT} colours: the others were rounded to 16 steps a \
                 channel"
            ));
        }
        (self.materials, warnings)
    }

    /// What is of this colour, in sRGB.
    pub(in crate::formats) fn material(color: Rgba) -> Material {
        let alpha = if color[3] < u8::MAX { Alpha::Blend } else { Alpha::Opaque };
        Material { color: linear_of_rgba(color), alpha, ..Material::default() }
    }
}
