//! The appearance of a mesh: materials, textures and vertex colours. Mesh readers produce it, and
//! [`surface::color`](mod@crate::surface::color) uses it.

use std::iter;

use serde::{Deserialize, Serialize};

use crate::base::srgb::Linear;
pub use texture::decode::TextureError;
pub use texture::{Filter, FilterChoice, Texture, Wrap};

pub(crate) mod texture;

/// The materials, textures and vertex colours of a mesh. Texture coordinates are equal by their
/// bits, so that NaN, of triangles without any, is equal to itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Appearance {
    /// The materials that `material_of` refers to.
    pub materials: Vec<Material>,
    /// The material index of each triangle. Empty: all triangles have the first material.
    pub material_of: Vec<u32>,
    /// The images that materials refer to.
    pub textures: Vec<Texture>,
    /// The texture coordinates of each triangle's corners: `(0, 0)` is the outer corner of the
    /// image's first texel, `(1, 1)` that of its last, so `v` points down. Empty without textures.
    /// A triangle with a coordinate that is not finite is not textured.
    pub uvs: Vec<[[f32; 2]; 3]>,
    /// The colour of each vertex, for materials with `has_vertex_colors`. May be empty where there
    /// is none.
    pub vertex_colors: Vec<Linear>,
}

/// The material of a surface: base colour, opacity, metalness, roughness and emission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// The name in the file; that of a plain colour is `#rrggbb`. May be empty.
    pub name: String,
    /// The factor that multiplies texture and vertex colours.
    pub color: Linear,
    /// The base colour texture.
    pub texture: Option<TextureRef>,
    /// The opacity map: its opacity multiplies that of `texture`; its colours are not used.
    pub opacity: Option<TextureRef>,
    /// Whether vertex colours are used.
    pub has_vertex_colors: bool,
    /// How opacity is used.
    pub alpha: Alpha,
    /// Metalness, from 0 to 1; `None` where the file states none.
    pub metallic: Option<f32>,
    /// Roughness, from 0 to 1; `None` where the file states none.
    pub roughness: Option<f32>,
    /// The texture of linear values whose blue multiplies `metallic`.
    pub metallic_texture: Option<TextureRef>,
    /// The texture of linear values whose green multiplies `roughness`.
    pub roughness_texture: Option<TextureRef>,
    /// Emitted light: linear red, green and blue, 1 each for white; `None` where the file has
    /// none.
    pub emission: Option<[f32; 3]>,
    /// The texture that multiplies `emission`.
    pub emission_texture: Option<TextureRef>,
    /// Whether `color` and `texture` are those of the emission, as the base colour is black.
    pub has_color_of_light: bool,
}

impl Material {
    /// Opaque and white.
    pub(crate) const WHITE: Self = Self {
        name: String::new(),
        color: [u16::MAX; 4],
        texture: None,
        opacity: None,
        has_vertex_colors: false,
        alpha: Alpha::Opaque,
        metallic: None,
        roughness: None,
        metallic_texture: None,
        roughness_texture: None,
        emission: None,
        emission_texture: None,
        has_color_of_light: false,
    };

    /// White, with `texture`, number `index` of the appearance. The texture repeats, and is not
    /// interpolated. The material blends if the texture has transparent texels.
    #[must_use]
    pub fn textured(index: u32, texture: &Texture) -> Self {
        let alpha = if texture.has_transparency() { Alpha::Blend } else { Alpha::Opaque };
        let (wrap, filter) = ([Wrap::Repeat; 2], Filter::Nearest);
        let texture = Some(TextureRef { texture: index, wrap, filter });
        Self { texture, alpha, ..Self::WHITE }
    }

    /// Whether it emits light that its colour does not have.
    #[must_use]
    pub fn adds_light(&self) -> bool {
        !self.has_color_of_light && self.emission.is_some_and(|light| light != [0.0; 3])
    }

    /// With textures whose indices are higher by `first`.
    fn with_textures_from(mut self, first: u32) -> Self {
        let Self {
            texture, opacity, metallic_texture, roughness_texture, emission_texture, ..
        } = &mut self;
        let all = [texture, opacity, metallic_texture, roughness_texture, emission_texture];
        all.into_iter().flatten().for_each(|of| of.texture += first);
        self
    }

    /// All its textures.
    fn textures(&self) -> impl Iterator<Item = TextureRef> {
        let (metallic, roughness) = (self.metallic_texture, self.roughness_texture);
        [self.texture, self.opacity, metallic, roughness, self.emission_texture]
            .into_iter()
            .flatten()
    }
}

impl Default for Material {
    /// Opaque and white.
    fn default() -> Self {
        Self::WHITE
    }
}

/// A texture and its sampling parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TextureRef {
    /// The index in [`Appearance::textures`].
    pub texture: u32,
    /// The wrap modes along `u` and `v`.
    pub wrap: [Wrap; 2],
    /// The magnification filter.
    pub filter: Filter,
}

/// The alpha mode of a material.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum Alpha {
    /// Opacity is ignored.
    #[default]
    Opaque,
    /// Alpha test with a cutoff, of 65,535: a lower opacity is transparent, any other opaque.
    Mask(u16),
    /// Alpha blending: opacity is the weight of the surface's colour.
    Blend,
}

impl Alpha {
    /// Blending, unless all of these colours are opaque.
    #[must_use]
    pub fn of_colors(colors: &[Linear]) -> Self {
        if colors.iter().all(|color| color[3] == u16::MAX) { Self::Opaque } else { Self::Blend }
    }

    /// Whether every opacity counts as opaque.
    #[must_use]
    pub fn is_opaque(self) -> bool {
        matches!(self, Self::Opaque | Self::Mask(0))
    }
}

impl PartialEq for Appearance {
    fn eq(&self, other: &Self) -> bool {
        let Self { materials, material_of, textures, uvs, vertex_colors } = self;
        bytemuck::cast_slice::<_, u32>(uvs) == bytemuck::cast_slice::<_, u32>(&other.uvs)
            && *materials == other.materials
            && *material_of == other.material_of
            && *textures == other.textures
            && *vertex_colors == other.vertex_colors
    }
}

impl Appearance {
    /// The appearance of meshes one after the other, each with its numbers of vertices and
    /// triangles; `None` if none has one. A mesh without one is white.
    pub(crate) fn join<'a>(
        parts: impl Iterator<Item = (Option<&'a Self>, usize, usize)> + Clone,
    ) -> Option<Self> {
        let mut looks = parts.clone().filter_map(|(look, ..)| look);
        let has_uvs = looks.clone().any(|look| !look.uvs.is_empty());
        let has_colors = looks.clone().any(|look| !look.vertex_colors.is_empty());
        looks.next()?;
        let white = Self { materials: vec![Material::WHITE], ..Self::default() };
        let mut all = Self::default();
        for (look, vertices, triangles) in parts {
            let look = look.unwrap_or(&white);
            let (material, texture) = (all.materials.len() as u32, all.textures.len() as u32);
            let materials = look.materials.iter().cloned();
            all.materials.extend(materials.map(|of| of.with_textures_from(texture)));
            all.material_of.extend(look.material_of.iter().map(|of| of + material));
            all.textures.extend_from_slice(&look.textures);
            all.uvs.extend_from_slice(&look.uvs);
            all.vertex_colors.extend_from_slice(&look.vertex_colors);
            // A list that is empty here, though not in all.
            if look.material_of.is_empty() {
                all.material_of.extend(iter::repeat_n(material, triangles));
            }
            if has_uvs && look.uvs.is_empty() {
                all.uvs.extend(iter::repeat_n([[f32::NAN; 2]; 3], triangles));
            }
            if has_colors && look.vertex_colors.is_empty() {
                all.vertex_colors.extend(iter::repeat_n(Material::WHITE.color, vertices));
            }
        }
        Some(all)
    }

    /// Checks that it fits a mesh of `vertices` and `triangles`.
    ///
    /// # Errors
    /// A list of the wrong length, or an index out of range.
    pub(crate) fn check(&self, vertices: usize, triangles: usize) -> Result<(), String> {
        let Self { materials, material_of, textures, uvs, vertex_colors } = self;
        let texture_refs = || materials.iter().flat_map(Material::textures);
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

    /// The material of a triangle; the first for a triangle past the list of materials.
    ///
    /// # Panics
    /// There is no such material, which [`Mesh::with_appearance`](crate::Mesh::with_appearance)
    /// refuses.
    #[must_use]
    #[inline]
    pub fn material(&self, triangle: usize) -> &Material {
        &self.materials[self.material_index(triangle) as usize]
    }

    /// The index of a triangle's material; the first for a triangle past the list of materials.
    #[must_use]
    #[inline]
    pub fn material_index(&self, triangle: usize) -> u32 {
        self.material_of.get(triangle).copied().unwrap_or(0)
    }

    /// Whether a triangle may be partly transparent.
    ///
    /// # Panics
    /// A texture is missing, which [`Mesh::with_appearance`](crate::Mesh::with_appearance) refuses.
    #[must_use]
    pub fn has_transparency(&self) -> bool {
        let of_image = |of: &TextureRef| self.textures[of.texture as usize].has_transparency();
        self.materials.iter().filter(|material| !material.alpha.is_opaque()).any(|material| {
            let Material { color, texture, opacity, has_vertex_colors, .. } = material;
            let of_vertices = || self.vertex_colors.iter().any(|color| color[3] < u16::MAX);
            color[3] < u16::MAX
                || texture.iter().chain(opacity).any(of_image)
                || *has_vertex_colors && of_vertices()
        })
    }

    /// The colour of all triangles, if it is uniform and opaque.
    #[must_use]
    pub fn only_color(&self) -> Option<Linear> {
        let color_of = |material: &Material| {
            let Material {
                color: [r, g, b, _], texture, opacity, has_vertex_colors, alpha, ..
            } = material;
            let is_uniform = texture.or(*opacity).is_none() && !has_vertex_colors;
            (is_uniform && alpha.is_opaque()).then_some([*r, *g, *b, u16::MAX])
        };
        let of_all = self.material_of.is_empty().then_some(0);
        let used = self.material_of.iter().copied().chain(of_all);
        let mut colors = used.map(|index| color_of(self.materials.get(index as usize)?));
        let first = colors.next()??;
        colors.all(|color| color == Some(first)).then_some(first)
    }
}

/// Whether a triangle with these texture coordinates is textured: they are finite.
#[inline]
pub(crate) fn is_placed(uvs: &[[f32; 2]; 3]) -> bool {
    uvs.as_flattened().iter().all(|coordinate| coordinate.is_finite())
}

/// Checks that a list has `expected` items; it may be empty unless it is needed.
fn check_count(what: &str, count: usize, is_needed: bool, expected: usize) -> Result<(), String> {
    if count == expected || count == 0 && !is_needed {
        return Ok(());
    }
    Err(format!("there are {count} {what}, but {expected} are needed"))
}

fn check_index(what: &str, index: u32, count: usize) -> Result<(), String> {
    if (index as usize) < count {
        return Ok(());
    }
    Err(format!("{what} {index} is used, but there are {count} (counted from 0)"))
}
