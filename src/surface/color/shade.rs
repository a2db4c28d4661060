//! Shading: the mean colour and opacity of a clipped polygon of a triangle.

use std::collections::BTreeSet;

use crate::base::srgb::{Linear, Rgba, rgba_of};
use crate::mesh::appearance::texture::Texture;
use crate::mesh::appearance::texture::pyramid::{Sample, TexelAlpha, level_bytes};
use crate::mesh::appearance::{
    Alpha, Appearance, Filter, FilterChoice, Material, TextureRef, Wrap, is_placed,
};
use crate::surface::color::Color;
use crate::surface::color::clip::{Plane, Polygon, TexelMap, inward, largest};
use crate::surface::color::coverage::{Coverage, Scratch, has_room};
use crate::surface::color::polygon::{TexelPolygon, bounds};
use crate::surface::color::sums::Sums;
use crate::surface::color::texels::{Sampler, Sum};

/// A [`Sample`] of a surface, in integers from 0 to 65,535.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shade(pub(super) [u16; 5]);

/// The component of a [`Shade`] with the share of the area that is not fully transparent.
pub(super) const VISIBLE: usize = 4;

impl Shade {
    #[inline(always)]
    fn of(sample: Sample) -> Self {
        let mut quantized = [0; 5];
        for (quantized, share) in quantized.iter_mut().zip(sample) {
            *quantized = (share * 65535.0 + 0.5) as u16;
        }
        Self(quantized)
    }

    pub(super) fn is_visible(self) -> bool {
        self.0[VISIBLE] > 0
    }

    /// Its colour; `None` if it is transparent.
    pub(super) fn color(&self) -> Option<Rgba> {
        Sums::of(&[*self]).mean().map(rgba_of)
    }
}

fn fraction(color: Linear) -> Color {
    color.map(|c| f64::from(c) / 65535.0)
}

/// What is integrated over the surface.
#[derive(Debug, Clone, Copy)]
pub(super) enum Layer {
    Color,
    /// Metalness in blue; roughness in green, where both have the same textures.
    Metallic,
    /// Roughness in green.
    Roughness,
    /// Emitted light, in parts of the `brightest` of a material.
    Emission {
        brightest: f32,
    },
}

/// The properties of a material that a layer integrates.
struct Look {
    /// The factor of the texture.
    color: Linear,
    /// `Opaque` for a cutoff of 0.
    alpha: Alpha,
    has_vertex_colors: bool,
    texture: Option<TextureRef>,
    /// The opacity map; an opaque material ignores it.
    opacity: Option<TextureRef>,
    texel_alpha: TexelAlpha,
}

impl Look {
    fn new(material: &Material, layer: Layer) -> Self {
        let opaque = |color: [f32; 3], texture, texel_alpha| {
            let [r, g, b] = color.map(|c| (c.clamp(0.0, 1.0) * 65535.0 + 0.5) as u16);
            let (color, alpha) = ([r, g, b, u16::MAX], Alpha::Opaque);
            Self { color, alpha, has_vertex_colors: false, texture, opacity: None, texel_alpha }
        };
        let Material { metallic, roughness, .. } = *material;
        let factors = [0.0, roughness.unwrap_or(1.0), metallic.unwrap_or(0.0)];
        match layer {
            Layer::Color => Self::of_color(material),
            Layer::Metallic => opaque(factors, material.metallic_texture, TexelAlpha::Linear),
            Layer::Roughness => opaque(factors, material.roughness_texture, TexelAlpha::Linear),
            Layer::Emission { brightest } => {
                let emission = material.emission.unwrap_or_default().map(|c| c / brightest);
                opaque(emission, material.emission_texture, TexelAlpha::Opaque)
            }
        }
    }

    fn of_color(material: &Material) -> Self {
        let Material { color, texture, opacity, has_vertex_colors, .. } = *material;
        let (alpha, opacity, texel_alpha) = match material.alpha {
            Alpha::Opaque | Alpha::Mask(0) => (Alpha::Opaque, None, TexelAlpha::Opaque),
            Alpha::Blend => (Alpha::Blend, opacity, TexelAlpha::Blend),
            Alpha::Mask(cutoff) => {
                let texel_cutoff = texel_cutoff(cutoff, fraction(color)[3]);
                (Alpha::Mask(cutoff), opacity, TexelAlpha::Cutoff(texel_cutoff))
            }
        };
        Self { color, alpha, has_vertex_colors, texture, opacity, texel_alpha }
    }
}

/// A material with its textures prepared for sampling.
struct PreparedMaterial {
    alpha: Alpha,
    factor: Color,
    has_vertex_colors: bool,
    /// The base texture, with the opacity map multiplied in if their wrap modes agree.
    base: Option<Sampler>,
    /// The opacity map, if its wrap modes differ from those of the base texture.
    opacity_map: Option<Sampler>,
    /// The shade, where there are neither textures nor vertex colours.
    flat: Option<Shade>,
}

impl PreparedMaterial {
    fn new(appearance: &Appearance, look: &Look, filter: FilterChoice) -> Self {
        let Look { alpha, has_vertex_colors, .. } = *look;
        let factor = fraction(look.color);
        let white = Texture::new([1, 1], vec![[u8::MAX; 4]]);
        let image = |of: TextureRef| &appearance.textures[of.texture as usize];
        let prepared = |(source, texel_alpha)| {
            let (texture, TextureRef { wrap, filter: own, .. }) = match source {
                Source::Image(of) => (image(of).clone(), of),
                Source::Made { base, opacity } => {
                    let made = multiply_opacity(base.map_or(&white, image), image(opacity));
                    (made, base.unwrap_or(opacity))
                }
            };
            let filter = match (alpha, filter) {
                // The cutoff is decided for whole texels: interpolation would move its edges.
                (Alpha::Mask(_), _) | (_, FilterChoice::Nearest) => Filter::Nearest,
                (_, FilterChoice::Linear) => Filter::Linear,
                (_, FilterChoice::Auto) => own,
            };
            Sampler { pyramid: texture.pyramid(texel_alpha), texture, wrap, filter }
        };
        let [base, opacity_map] = Source::of(look).map(|source| source.map(prepared));
        let is_flat = base.is_none() && !has_vertex_colors;
        let flat = is_flat.then(|| shade([1.0; 5], factor, alpha, false));
        Self { alpha, factor, has_vertex_colors, base, opacity_map, flat }
    }
}

/// A texture that a material samples.
enum Source {
    Image(TextureRef),
    /// The base texture, or white, with its opacity multiplied by the opacity map.
    Made {
        base: Option<TextureRef>,
        opacity: TextureRef,
    },
}

impl Source {
    /// The base texture of a material, and its opacity map if the wrap modes of the two differ.
    fn of(look: &Look) -> [Option<(Self, TexelAlpha)>; 2] {
        let texel_alpha = look.texel_alpha;
        match (look.texture, look.opacity) {
            (None, None) => [None, None],
            (Some(base), None) => [Some((Self::Image(base), texel_alpha)), None],
            (Some(base), Some(map)) if base.wrap != map.wrap => {
                [(base, texel_alpha), (map, TexelAlpha::Blend)]
                    .map(|(of, alpha)| Some((Self::Image(of), alpha)))
            }
            (base, Some(opacity)) => [Some((Self::Made { base, opacity }, texel_alpha)), None],
        }
    }
}

/// The shade of the texture sample `sample`, if `is_textured`, times the surface colour `color`.
#[inline(always)]
fn shade(sample: Sample, color: Color, alpha: Alpha, is_textured: bool) -> Shade {
    let [r, g, b, opacity, visible] = sample;
    let [red, green, blue, own] = color;
    let own = match alpha {
        Alpha::Opaque => 1.0,
        Alpha::Blend => own,
        // The cutoff was applied when the texture was sampled.
        Alpha::Mask(_) if is_textured => 1.0,
        Alpha::Mask(cutoff) => f64::from(u8::from(reaches(own, cutoff))),
    };
    let visible = if own > 0.0 { visible } else { 0.0 };
    Shade::of([red * r * own, green * g * own, blue * b * own, opacity * own, visible])
}

/// The smallest texel opacity, of 255, for which `opacity` times it reaches `cutoff`, of 65,535;
/// 256 if there is none.
fn texel_cutoff(cutoff: u16, opacity: f64) -> u16 {
    let is_visible = |texel: u16| reaches(f64::from(texel) / 255.0 * opacity, cutoff);
    // The rounded quotient may be off by one.
    let about = (f64::from(cutoff) / 65535.0 / opacity * 255.0).min(300.0) as u16;
    (about.saturating_sub(1)..=255).find(|&texel| is_visible(texel)).unwrap_or(256)
}

fn reaches(opacity: f64, cutoff: u16) -> bool {
    opacity * 65535.0 >= f64::from(cutoff)
}

/// `texture` with its opacity multiplied by that of `opacity`, at the larger of both sizes.
fn multiply_opacity(texture: &Texture, opacity: &Texture) -> Texture {
    let (texture_size, opacity_size) = (texture.size(), opacity.size());
    let size = [0, 1].map(|a| texture_size[a].max(opacity_size[a]));
    let texel = |image: &Texture, at: [u32; 2]| {
        let [x, y] = [0, 1].map(|a| {
            let middle = 2 * u64::from(at[a]) + 1;
            (middle * u64::from(image.size()[a]) / (2 * u64::from(size[a]))) as u32
        });
        image.texel(x, y)
    };
    let places = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y]));
    let texels = places.map(|at| {
        let [r, g, b, a] = texel(texture, at);
        let product = u32::from(a) * u32::from(texel(opacity, at)[3]);
        [r, g, b, ((product + 127) / 255) as u8]
    });
    Texture::new(size, texels.collect())
}

/// The shading of all triangles of a mesh.
pub(super) struct Shading<'a> {
    appearance: &'a Appearance,
    materials: Vec<PreparedMaterial>,
}

impl<'a> Shading<'a> {
    /// An upper estimate of the bytes of [`new`](Self::new): mip levels, and textures made of
    /// others.
    pub(super) fn bytes(appearance: &Appearance, layer: Layer) -> u64 {
        let size = |of: TextureRef| appearance.textures[of.texture as usize].size();
        // Clones of a texture share their levels.
        let mut shared = BTreeSet::new();
        let bytes_of = |(source, alpha)| match source {
            Source::Image(of) if shared.insert((of.texture, alpha)) => level_bytes(size(of)),
            Source::Image(_) => 0,
            Source::Made { base, opacity } => {
                let (base, opacity) = (base.map_or([1; 2], size), size(opacity));
                let made = [0, 1].map(|a| base[a].max(opacity[a]));
                let texels: u64 = made.map(u64::from).into_iter().product();
                level_bytes(made) + texels * size_of::<Rgba>() as u64
            }
        };
        let sources = |material| Source::of(&Look::new(material, layer));
        appearance.materials.iter().flat_map(sources).flatten().map(bytes_of).sum()
    }

    pub(super) fn new(appearance: &'a Appearance, filter: FilterChoice, layer: Layer) -> Self {
        let prepare =
            |material| PreparedMaterial::new(appearance, &Look::new(material, layer), filter);
        Self { appearance, materials: appearance.materials.iter().map(prepare).collect() }
    }

    /// The shade of a triangle by its material alone.
    #[inline]
    pub(super) fn flat(&self, triangle: usize) -> Option<Shade> {
        self.material(triangle).flat
    }

    #[inline]
    fn material(&self, triangle: usize) -> &PreparedMaterial {
        &self.materials[self.appearance.material_index(triangle) as usize]
    }

    /// The shading of a triangle with these vertices.
    pub(super) fn of(&self, triangle: usize, vertices: [u32; 3]) -> TriangleShading<'_> {
        let material = self.material(triangle);
        let corner = |vertex: u32| fraction(self.appearance.vertex_colors[vertex as usize]);
        let corners = material.has_vertex_colors.then(|| vertices.map(corner));
        let uvs = [[0.0; 2]; 3];
        let mut shading = TriangleShading { material, sampler: None, uvs, corners, uniform: None };
        if let (Some(base), Some(uvs)) = (&material.base, self.appearance.uvs.get(triangle))
            && is_placed(uvs)
        {
            shading.sampler = Some(base);
            let maps = [Some(base), material.opacity_map.as_ref()];
            let repeats =
                [0, 1].map(|axis| maps.iter().flatten().all(|map| map.wrap[axis] != Wrap::Clamp));
            shading.uvs = near_zero(uvs.map(|uv| uv.map(f64::from)), repeats);
        }
        if corners.is_none_or(|[a, b, c]| a == b && b == c) {
            shading.uniform = shading.constant(shading.color([0.0; 2]));
        }
        shading
    }
}

/// Shifts coordinates by whole periods towards 0, for precision, on each axis on which the textures
/// are repeated.
fn near_zero(mut uvs: [[f64; 2]; 3], repeats: [bool; 2]) -> [[f64; 2]; 3] {
    for (axis, repeats) in repeats.into_iter().enumerate() {
        if repeats {
            // The remainder is exact. A mirrored texture has a period of two tiles.
            let first = uvs[0][axis];
            let shift = first - first % 2.0;
            uvs.iter_mut().for_each(|uv| uv[axis] -= shift);
        }
    }
    uvs
}

/// A triangle in the texture, in texels. One whose height is less than a 1024th of a texel is
/// widened to that: the areas of its parts are then proportional to their areas on the surface, and
/// are the weights of the texels along it.
fn widened(mut corners: [[f64; 2]; 3]) -> [[f64; 2]; 3] {
    const HEIGHT: f64 = 1.0 / 1024.0;
    let edge = |corner: usize| {
        let [p, q] = [corners[(corner + 1) % 3], corners[(corner + 2) % 3]];
        [q[0] - p[0], q[1] - p[1]]
    };
    let square = |[x, y]: [f64; 2]| x * x + y * y;
    // The corner opposite the longest edge.
    let apex = largest([0, 1, 2].map(|corner| square(edge(corner))));
    let (along, from) = (edge(apex), corners[(apex + 1) % 3]);
    let length = square(along).sqrt();
    // Towards higher indices: of a point between two texels, the texel is the second.
    let sign = if along[0] - along[1] > 0.0 { 1.0 } else { -1.0 };
    let normal = [-sign * along[1] / length, sign * along[0] / length];
    let height: f64 = (0..2).map(|a| normal[a] * (corners[apex][a] - from[a])).sum();
    // Not for corners that are all the same.
    if height.abs() < HEIGHT {
        (0..2).for_each(|a| corners[apex][a] += normal[a] * (HEIGHT - height));
    }
    corners
}

/// The material of a triangle, with its texture coordinates and vertex colours.
pub(super) struct TriangleShading<'a> {
    material: &'a PreparedMaterial,
    sampler: Option<&'a Sampler>,
    /// The texture coordinates of the corners.
    uvs: [[f64; 2]; 3],
    /// The vertex colours, which multiply the material's factor.
    corners: Option<[Color; 3]>,
    /// The shade, where it is constant over the triangle.
    pub(super) uniform: Option<Shade>,
}

impl TriangleShading<'_> {
    /// The shade for the constant surface colour `color`, where the texture is constant as well.
    fn constant(&self, color: Color) -> Option<Shade> {
        let Some(sampler) = self.sampler else { return Some(self.shade([1.0; 5], color)) };
        let [low, high] = bounds(&self.corners_in_texels(sampler));
        let has_map = self.material.opacity_map.is_some();
        if low != high && (has_map || !sampler.is_constant([low, high])) {
            return None;
        }
        Some(self.textured(sampler, low, color))
    }

    /// The shade at a point of the texture, in texels, for this surface colour.
    fn textured(&self, sampler: &Sampler, point: [f64; 2], color: Color) -> Shade {
        let has_map = self.material.opacity_map.is_some();
        let sample = if has_map || matches!(self.material.alpha, Alpha::Mask(_)) {
            self.point(sampler, point, color[3])
        } else {
            sampler.at(point, sampler.pyramid.texel_alpha)
        };
        self.shade(sample, color)
    }

    /// The sampler of the texture; `None` without a texture, or where the shade is constant.
    #[inline]
    pub(super) fn varying_texture(&self) -> Option<&Sampler> {
        self.sampler.filter(|_| self.uniform.is_none())
    }

    /// The sampler of a texture whose mean over a polygon is an integral: no opacity varies besides
    /// the texture's, and the shade is not constant.
    #[inline]
    pub(super) fn integrated(&self) -> Option<&Sampler> {
        let has_cutoff = matches!(self.material.alpha, Alpha::Mask(_));
        let is_supersampled =
            self.material.opacity_map.is_some() || has_cutoff && self.corners.is_some();
        self.varying_texture().filter(|_| !is_supersampled)
    }

    /// The factor of the texture's mean over a clipped polygon.
    #[inline(always)]
    pub(super) fn mean_color(&self, plane: &Plane, clipped: &Polygon) -> Color {
        match self.corners {
            // The mean of an affine function is its value at the centroid.
            Some(_) => self.color(plane.centroid(clipped)),
            None => self.material.factor,
        }
    }

    /// The map from the triangle, in `plane`, to its texture.
    #[inline]
    pub(super) fn texel_map(&self, sampler: &Sampler, plane: Plane) -> TexelMap {
        TexelMap::new(plane, widened(self.corners_in_texels(sampler)))
    }

    /// The shade at the point with these barycentric weights of the second and third corner.
    #[inline(always)]
    pub(super) fn at(&self, weights: [f64; 2]) -> Shade {
        if let Some(shade) = self.uniform {
            return shade;
        }
        let color = self.color(weights);
        let Some(sampler) = self.sampler else { return self.shade([1.0; 5], color) };
        let corners @ [a, b, c] = self.corners_in_texels(sampler);
        let point = [0, 1].map(|i| a[i] + weights[0] * (b[i] - a[i]) + weights[1] * (c[i] - a[i]));
        self.textured(sampler, inward(point, bounds(&corners)), color)
    }

    #[inline]
    fn corners_in_texels(&self, sampler: &Sampler) -> [[f64; 2]; 3] {
        /// In texels: `f64` keeps a fraction up to it, and it fits `i64`.
        const FARTHEST: f64 = (1_u64 << 45) as f64;
        let size = sampler.size();
        self.uvs.map(|uv| [0, 1].map(|a| (uv[a] * size[a]).clamp(-FARTHEST, FARTHEST)))
    }

    /// The mean over a clipped polygon; `texels` is the polygon in the texture, by `map`.
    pub(super) fn mean(
        &self,
        sampler: &Sampler,
        map: &TexelMap,
        clipped: &Polygon,
        texels: &TexelPolygon,
        scratch: &mut Scratch,
    ) -> Shade {
        let color = self.mean_color(&map.plane, clipped);
        if let Some(sample) = self.supersampled(sampler, texels, color[3], scratch) {
            return self.shade(sample, color);
        }
        let sample = sampler
            .mean(texels, scratch)
            .unwrap_or_else(|| sampler.at(map.centroid(clipped), sampler.pyramid.texel_alpha));
        self.shade(sample, color)
    }

    /// The mean of point samples, for an opacity that varies besides the texture's (vertex colours
    /// under a cutoff, or a separate opacity map), which no mip level holds.
    fn supersampled(
        &self,
        sampler: &Sampler,
        polygon: &TexelPolygon,
        opacity: f64,
        scratch: &mut Scratch,
    ) -> Option<Sample> {
        /// Largest span, in cells along an axis, for which a linear filter is evaluated.
        const MAGNIFIED: f64 = 3.0;
        /// Smallest distance of samples, in cells.
        const SMALLEST: f64 = 0.125;
        let has_cutoff = matches!(self.material.alpha, Alpha::Mask(_));
        let map = self.material.opacity_map.as_ref();
        if map.is_none() && !(has_cutoff && opacity != self.material.factor[3]) {
            return None;
        }
        // Cells are the texels of whichever texture has more along an axis.
        let size = sampler.size();
        let more = map.map_or(size, Sampler::size);
        let cells_per_texel = [0, 1].map(|a| (more[a] / size[a]).max(1.0));
        let [low, high] = polygon.bounds();
        let span = [0, 1].map(|a| (high[a] - low[a]) * cells_per_texel[a]);
        let longest = span[0].max(span[1]);
        let is_linear = sampler.filter == Filter::Linear;
        let mut edge = 1.0;
        while longest <= MAGNIFIED * edge && edge > SMALLEST && is_linear {
            edge /= 2.0;
        }
        while !has_room(span.map(|cells| cells / edge)) {
            edge *= 2.0;
        }
        let texels = cells_per_texel.map(|cells| edge / cells);
        let mut scaled = *polygon;
        for point in scaled.points_mut() {
            (0..2).for_each(|a| point[a] /= texels[a]);
        }
        let mut sum = Sum::default();
        for (cell, covered) in Coverage::new(scaled.points(), scratch).cells() {
            let middle = [0, 1].map(|a| (cell[a] as f64 + 0.5) * texels[a]);
            sum.add(self.point(sampler, middle, opacity), covered);
        }
        let middle = [0, 1].map(|a| low[a] / 2.0 + high[a] / 2.0);
        Some(sum.mean().unwrap_or_else(|| self.point(sampler, middle, opacity)))
    }

    /// The sample at a point of the texture, in texels, for a surface opacity of `opacity`.
    fn point(&self, sampler: &Sampler, point: [f64; 2], opacity: f64) -> Sample {
        let map_opacity = |map: &Sampler| {
            let (from, to) = (sampler.size(), map.size());
            map.at([0, 1].map(|a| point[a] / from[a] * to[a]), TexelAlpha::Blend)[3]
        };
        let map = self.material.opacity_map.as_ref().map_or(1.0, map_opacity);
        if let Alpha::Mask(cutoff) = self.material.alpha {
            return sampler.at(point, TexelAlpha::Cutoff(texel_cutoff(cutoff, opacity * map)));
        }
        let [r, g, b, a, visible] = sampler.at(point, TexelAlpha::Blend);
        let visible = if map > 0.0 { visible } else { 0.0 };
        [r * map, g * map, b * map, a * map, visible]
    }

    /// The shade of the texture sample `sample` times the surface colour `color`.
    #[inline(always)]
    pub(super) fn shade(&self, sample: Sample, color: Color) -> Shade {
        shade(sample, color, self.material.alpha, self.sampler.is_some())
    }

    /// Material factor times vertex colour at the point with these barycentric weights of the
    /// second and third corner.
    #[inline]
    fn color(&self, weights: [f64; 2]) -> Color {
        let factor = &self.material.factor;
        let Some([a, b, c]) = &self.corners else { return *factor };
        std::array::from_fn(|i| {
            let corner = a[i] + weights[0] * (b[i] - a[i]) + weights[1] * (c[i] - a[i]);
            factor[i] * corner
        })
    }
}
