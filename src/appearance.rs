//! What the triangles of a mesh look like: materials, textures, and colours of vertices. All that
//! readers of meshes gather of it, and all that [`color`](mod@crate::color) knows.

use serde::{Deserialize, Serialize};

use crate::error::MeshError;
use crate::srgb::Linear;
pub use texture::{Filter, Texture, Wrap};

pub(crate) mod texture;

/// What the triangles of a mesh look like.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Appearance {
    /// What triangles can be made of.
    pub materials: Vec<Material>,
    /// Which material each triangle has. Empty: all have the first.
    pub material_of: Vec<u32>,
    /// The images that materials refer to.
    pub textures: Vec<Texture>,
    /// Of each triangle, where its corners are in textures: `(0, 0)` is the corner of the image's
    /// first texel, `(1, 1)` that of its last, so `v` points down. Empty where there are no textures. A
    /// coordinate that is not finite means that there is none: the triangle has its material's colour.
    pub uvs: Vec<[[f32; 2]; 3]>,
    /// Of each vertex. Empty where no material uses them.
    pub vertex_colors: Vec<Linear>,
}

/// What triangles are made of, as far as it shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// The colour, by which those of textures and vertices are multiplied.
    pub color: Linear,
    /// What is painted on it.
    pub texture: Option<TextureRef>,
    /// An image of which only the opacity counts, besides that of `texture`.
    pub opacity: Option<TextureRef>,
    /// Whether the colours of vertices show.
    pub has_vertex_colors: bool,
    /// What is visible of it.
    pub alpha: Alpha,
}

impl Default for Material {
    /// Opaque and white.
    fn default() -> Self {
        Self {
            color: [u16::MAX; 4],
            texture: None,
            opacity: None,
            has_vertex_colors: false,
            alpha: Alpha::Opaque,
        }
    }
}

/// A texture, and how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TextureRef {
    /// Which of the textures.
    pub texture: u32,
    /// What is past the edges, along `u` and `v`.
    pub wrap: [Wrap; 2],
    /// What is between texels.
    pub filter: Filter,
}

/// What opacity means.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum Alpha {
    /// Nothing: all is opaque.
    #[default]
    Opaque,
    /// What has less than this, of 65,535, is not there; all else is opaque.
    Mask(u16),
    /// How much is seen of the surface, and not of what is behind it.
    Blend,
}

impl Appearance {
    /// Checks that it is one of a mesh of so many `vertices` and `triangles`.
    ///
    /// # Errors
    /// Too few or too many of something, or an index of something that is not there.
    pub(crate) fn check(&self, vertices: usize, triangles: usize) -> Result<(), MeshError> {
        let Self { materials, material_of, textures, uvs, vertex_colors } = self;
        let texture_refs = || materials.iter().flat_map(|m| [m.texture, m.opacity]).flatten();
        let needs_uvs = texture_refs().next().is_some();
        let needs_colors = materials.iter().any(|material| material.has_vertex_colors);
        check_count("material indices", material_of.len(), false, triangles)?;
        check_count("triples of texture coordinates", uvs.len(), needs_uvs, triangles)?;
        check_count("vertex colours", vertex_colors.len(), needs_colors, vertices)?;
        let last = material_of.iter().copied().max().unwrap_or(0);
        check_index("material", last, materials.len())?;
        let textures = textures.len();
        texture_refs().try_for_each(|of| check_index("texture", of.texture, textures))
    }

    /// With textures without transparency for materials that show none: what is hidden in an image has a
    /// colour all the same.
    pub(crate) fn with_opaque_textures(mut self) -> Self {
        let Self { materials, textures, .. } = &mut self;
        let mut opaque: Vec<Option<u32>> = vec![None; textures.len()];
        for material in materials {
            match material.alpha {
                // All has at least so much.
                Alpha::Mask(0) => material.alpha = Alpha::Opaque,
                Alpha::Opaque => {}
                Alpha::Mask(_) | Alpha::Blend => continue,
            }
            let Some(read) = &mut material.texture else { continue };
            let index = read.texture as usize;
            if textures[index].has_transparency() {
                read.texture = *opaque[index].get_or_insert_with(|| {
                    textures.push(textures[index].opaque());
                    textures.len() as u32 - 1
                });
            }
        }
        self
    }

    /// The material of a triangle.
    #[must_use]
    #[inline]
    pub fn material(&self, triangle: usize) -> &Material {
        &self.materials[self.material_of.get(triangle).map_or(0, |&index| index as usize)]
    }

    /// Whether something may be seen through.
    #[must_use]
    pub fn has_transparency(&self) -> bool {
        let of_image = |read: &TextureRef| self.textures[read.texture as usize].has_transparency();
        self.materials.iter().filter(|material| material.alpha != Alpha::Opaque).any(|material| {
            let Material { color, texture, opacity, has_vertex_colors, .. } = material;
            let of_vertices = || self.vertex_colors.iter().any(|color| color[3] < u16::MAX);
            color[3] < u16::MAX
                || texture.iter().chain(opacity).any(of_image)
                || *has_vertex_colors && of_vertices()
        })
    }

    /// The colour of all triangles, if they have the same opaque one all over.
    #[must_use]
    pub fn only_color(&self) -> Option<Linear> {
        let color_of = |material: &Material| {
            let Material { color: [r, g, b, _], texture, opacity, has_vertex_colors, alpha } =
                material;
            let is_plain = texture.or(*opacity).is_none() && !has_vertex_colors;
            (is_plain && *alpha == Alpha::Opaque).then_some([*r, *g, *b, u16::MAX])
        };
        let is_used = |index: usize| match &self.material_of[..] {
            [] => index == 0,
            materials => materials.contains(&(index as u32)),
        };
        let mut used = (0..self.materials.len()).filter(|&index| is_used(index));
        let first = color_of(&self.materials[used.next()?])?;
        used.all(|index| color_of(&self.materials[index]) == Some(first)).then_some(first)
    }
}

/// Of a list there are as many items as there should be, or none at all, unless it is needed.
fn check_count(
    what: &str,
    count: usize,
    is_needed: bool,
    expected: usize,
) -> Result<(), MeshError> {
    if count == expected || count == 0 && !is_needed {
        return Ok(());
    }
    Err(MeshError::Appearance(format!("there are {count} {what}, but {expected} are needed")))
}

fn check_index(what: &str, index: u32, count: usize) -> Result<(), MeshError> {
    if (index as usize) < count {
        return Ok(());
    }
    let what = format!("{what} {index} is used, but there are {count} (counted from 0)");
    Err(MeshError::Appearance(what))
}
