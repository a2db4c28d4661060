//! The mean look of a part of a triangle.

use std::sync::Arc;

use crate::appearance::texture::Texture;
use crate::appearance::texture::pyramid::{Pyramid, Reading, Sample};
use crate::appearance::{Alpha, Appearance, Filter, Material, TextureRef, Wrap};
use crate::color::clip::{Plane, Polygon};
use crate::color::coverage::{Coverage, Scratch, has_room};
use crate::color::flat::Flat;
use crate::color::texels::Image;
use crate::srgb::{Linear, Rgba};

/// The look of a surface, of 65,535.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shade {
    /// Red, green and blue, multiplied by opacity.
    pub(super) light: [u16; 3],
    pub(super) opacity: u16,
    /// The share of the area that is not altogether transparent.
    pub(super) seen: u16,
}

impl Shade {
    fn of([r, g, b, opacity, seen]: Sample) -> Self {
        let [r, g, b, opacity, seen] =
            [r, g, b, opacity, seen].map(|part| (part * 65535.0 + 0.5) as u16);
        Self { light: [r, g, b], opacity, seen }
    }

    /// Whether it is not altogether transparent.
    pub(super) fn is_seen(self) -> bool {
        self.opacity > 0
    }
}

/// Red, green, blue and opacity from 0 to 1, in linear light, not multiplied by opacity.
type Color = [f64; 4];

fn fraction(color: Linear) -> Color {
    color.map(|c| f64::from(c) / 65535.0)
}

/// A texture and how it is read.
struct Prepared {
    texture: Texture,
    pyramid: Arc<Pyramid>,
    read: TextureRef,
}

impl Prepared {
    fn new(texture: Texture, read: TextureRef, reading: Reading) -> Self {
        let pyramid = texture.pyramid(reading);
        Self { texture, pyramid, read }
    }

    fn image(&self) -> Image<'_> {
        let TextureRef { wrap, filter, .. } = self.read;
        Image { texture: &self.texture, pyramid: &self.pyramid, wrap, filter }
    }
}

/// A material, ready for use.
struct Paint {
    alpha: Alpha,
    factor: Color,
    has_vertex_colors: bool,
    /// The texture. Its opacity is that of both images, where they can be joined.
    main: Option<Prepared>,
    /// An image of opacity that is placed in another way than the texture.
    other: Option<Prepared>,
}

impl Paint {
    fn new(appearance: &Appearance, material: &Material) -> Self {
        let Material { color, texture, opacity, has_vertex_colors, alpha } = *material;
        let factor = fraction(color);
        // What is opaque anyway needs no image of opacity.
        let alpha = if alpha.is_opaque() { Alpha::Opaque } else { alpha };
        let opacity = opacity.filter(|_| alpha != Alpha::Opaque);
        let image = |read: &TextureRef| &appearance.textures[read.texture as usize];
        let mut other = None;
        let source = match (texture, opacity) {
            (None, None) => None,
            (Some(read), None) => Some((image(&read).clone(), read)),
            (None, Some(read)) => Some((only_opacity(image(&read)), read)),
            (Some(read), Some(opacity)) if read.wrap == opacity.wrap => {
                Some((joined(image(&read), image(&opacity)), read))
            }
            (Some(read), Some(opacity)) => {
                other = Some(Prepared::new(image(&opacity).clone(), opacity, Reading::Blend));
                Some((image(&read).clone(), read))
            }
        };
        let reading = match alpha {
            Alpha::Opaque => Reading::Opaque,
            Alpha::Blend => Reading::Blend,
            Alpha::Mask(least) => Reading::Cut(least_texel(least, factor[3])),
        };
        let main = source.map(|(texture, read)| Prepared::new(texture, read, reading));
        Self { alpha, factor, has_vertex_colors, main, other }
    }
}

/// The least opacity of a texel, of 255, with which a surface of this opacity reaches a cutoff of
/// `least`.
fn least_texel(least: u16, opacity: f64) -> u16 {
    let is_seen = |texel: u16| reaches(f64::from(texel) / 255.0 * opacity, least);
    // Near the quotient: rounding may be off by one.
    let about = (f64::from(least) / 65535.0 / opacity * 255.0).min(300.0) as u16;
    (about.saturating_sub(1)..=255).find(|&texel| is_seen(texel)).unwrap_or(256)
}

fn reaches(opacity: f64, least: u16) -> bool {
    opacity * 65535.0 >= f64::from(least)
}

/// White, and as opaque as an image.
fn only_opacity(image: &Texture) -> Texture {
    let white = |&[_, _, _, opacity]: &Rgba| [u8::MAX, u8::MAX, u8::MAX, opacity];
    Texture::new(image.size(), image.texels().iter().map(white).collect())
}

/// A texture whose opacity is multiplied by that of an image, as large as the larger of both.
fn joined(texture: &Texture, opacity: &Texture) -> Texture {
    let (own, of_opacity) = (texture.size(), opacity.size());
    let size = [0, 1].map(|a| own[a].max(of_opacity[a]));
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

/// The looks of all triangles of a mesh.
pub(super) struct Looks<'a> {
    appearance: &'a Appearance,
    paints: Vec<Paint>,
}

impl<'a> Looks<'a> {
    pub(super) fn new(appearance: &'a Appearance) -> Self {
        let paints = appearance.materials.iter().map(|m| Paint::new(appearance, m)).collect();
        Self { appearance, paints }
    }

    /// The look of a triangle with these vertices.
    pub(super) fn of(&self, triangle: usize, vertices: [u32; 3]) -> Look<'_> {
        let index = self.appearance.material_of.get(triangle).map_or(0, |&index| index as usize);
        let paint = &self.paints[index];
        let corner = |vertex: u32| fraction(self.appearance.vertex_colors[vertex as usize]);
        let corners = paint.has_vertex_colors.then(|| vertices.map(corner));
        let mut look = Look { paint, image: None, uvs: [[0.0; 2]; 3], corners, plain: None };
        if let (Some(main), Some(uvs)) = (&paint.main, self.appearance.uvs.get(triangle))
            && uvs.as_flattened().iter().all(|c| c.is_finite())
        {
            look.image = Some(main.image());
            look.uvs = near_zero(uvs.map(|uv| uv.map(f64::from)), main.read.wrap);
        }
        let is_even = corners.is_none_or(|[a, b, c]| a == b && b == c);
        if is_even && look.image.is_none() {
            look.plain = Some(look.shade([1.0; 5], look.color([0.0; 2])));
        }
        look
    }
}

/// The same places of a repeated texture, as near to its first tile as may be, for precision.
fn near_zero(mut uvs: [[f64; 2]; 3], wrap: [Wrap; 2]) -> [[f64; 2]; 3] {
    for (axis, wrap) in wrap.into_iter().enumerate() {
        if wrap != Wrap::Clamp {
            // The remainder is exact. Two tiles, one of which may be mirrored.
            let first = uvs[0][axis];
            let shift = first - first % 2.0;
            uvs.iter_mut().for_each(|uv| uv[axis] -= shift);
        }
    }
    uvs
}

/// What a triangle looks like.
pub(super) struct Look<'a> {
    paint: &'a Paint,
    image: Option<Image<'a>>,
    /// Where the corners are in the texture.
    uvs: [[f64; 2]; 3],
    /// By which the factor is multiplied at the corners.
    corners: Option<[Color; 3]>,
    /// The look, where it is the same everywhere.
    plain: Option<Shade>,
}

impl Look<'_> {
    /// Where it is the same everywhere.
    pub(super) fn plain(&self) -> Option<Shade> {
        self.plain
    }

    /// The mean over a piece of the triangle.
    #[inline]
    pub(super) fn mean(&self, plane: &Plane, piece: &Polygon, scratch: &mut Scratch) -> Shade {
        match self.plain {
            Some(shade) => shade,
            None => self.mean_of(plane, piece, scratch),
        }
    }

    fn mean_of(&self, plane: &Plane, piece: &Polygon, scratch: &mut Scratch) -> Shade {
        /// In texels: so that places have a fraction, and are integers of 64 bits.
        const FARTHEST: f64 = (1_u64 << 45) as f64;
        let Some(image) = &self.image else {
            // The mean of an affine function is its value at the centroid.
            return self.shade([1.0; 5], self.color(plane.centroid(piece)));
        };
        let size = image.size();
        let texels = |weights: [f64; 2]| {
            let uv = self.uv(weights);
            [0, 1].map(|a| (uv[a] * size[a]).clamp(-FARTHEST, FARTHEST))
        };
        let mut polygon = Flat::EMPTY;
        for point in piece.points() {
            polygon.push(texels(plane.weights(plane.seen(point))));
        }
        let color = match self.corners {
            Some(_) => self.color(plane.centroid(piece)),
            None => self.paint.factor,
        };
        if let Some(sample) = self.sampled(image, &polygon, color[3], scratch) {
            return self.shade(sample, color);
        }
        let sample = image.mean(&polygon, scratch);
        self.shade(
            sample.unwrap_or_else(|| {
                image.at(texels(plane.centroid(piece)), image.pyramid.reading())
            }),
            color,
        )
    }

    /// The mean of points, where a cutoff or an image of opacity has to be looked at point by point: of
    /// magnified textures what is interpolated is cut, and opacities that vary have no mip levels.
    fn sampled(
        &self,
        image: &Image,
        polygon: &Flat,
        opacity: f64,
        scratch: &mut Scratch,
    ) -> Option<Sample> {
        /// Texels along an axis up to which a linear filter is looked at.
        const FEW: f64 = 3.0;
        const SMALLEST: f64 = 0.125;
        let [low, high] = polygon.bounds();
        let span = [high[0] - low[0], high[1] - low[1]];
        let longest = span[0].max(span[1]);
        let is_cut = matches!(self.paint.alpha, Alpha::Mask(_));
        let is_varied = is_cut && opacity != self.paint.factor[3] || self.paint.other.is_some();
        let is_magnified = is_cut && image.filter == Filter::Linear && longest <= FEW;
        if !is_varied && !is_magnified {
            return None;
        }
        let mut edge = 1.0;
        while longest <= FEW * edge && edge > SMALLEST && image.filter == Filter::Linear {
            edge /= 2.0;
        }
        while !has_room(span.map(|texels| texels / edge)) {
            edge *= 2.0;
        }
        let mut scaled = *polygon;
        scaled.points_mut().as_flattened_mut().iter_mut().for_each(|c| *c /= edge);
        let (mut sum, mut area) = ([0.0; 5], 0.0);
        for (cell, part) in Coverage::new(scaled.points(), scratch).cells() {
            let sample = self.point(image, cell.map(|i| (i as f64 + 0.5) * edge), opacity);
            (0..5).for_each(|i| sum[i] += part * sample[i]);
            area += part;
        }
        if area > 0.0 {
            return Some(sum.map(|c| c / area));
        }
        let middle = [0, 1].map(|a| low[a] / 2.0 + high[a] / 2.0);
        Some(self.point(image, middle, opacity))
    }

    /// What is seen at a point of the texture, in texels, of a surface of this opacity.
    fn point(&self, image: &Image, point: [f64; 2], opacity: f64) -> Sample {
        let of_other = |other: Image| {
            let (from, to) = (image.size(), other.size());
            other.at([0, 1].map(|a| point[a] / from[a] * to[a]), Reading::Blend)[3]
        };
        let other = self.paint.other.as_ref().map_or(1.0, |other| of_other(other.image()));
        let sample = image.at(point, Reading::Blend);
        let Alpha::Mask(least) = self.paint.alpha else {
            let [r, g, b, a, seen] = sample;
            let seen = if other > 0.0 { seen } else { 0.0 };
            return [r * other, g * other, b * other, a * other, seen];
        };
        let own = opacity * other;
        if !reaches(sample[3] * own, least) {
            return [0.0; 5];
        }
        // The outline is that of the interpolated opacity; the colour is that of what is not cut.
        match image.at(point, Reading::Cut(least_texel(least, own))) {
            [r, g, b, a, _] if a > 0.0 => [r / a, g / a, b / a, 1.0, 1.0],
            _ => [0.0; 5],
        }
    }

    /// The look where textures show `sample` on a surface of this colour.
    fn shade(&self, sample: Sample, color: Color) -> Shade {
        let [r, g, b, opacity, seen] = sample;
        let [red, green, blue, own] = color;
        let own = match self.paint.alpha {
            Alpha::Opaque => 1.0,
            Alpha::Blend => own,
            // Textures have been cut already.
            Alpha::Mask(_) if self.image.is_some() => 1.0,
            Alpha::Mask(least) => f64::from(u8::from(reaches(own, least))),
        };
        let seen = if own > 0.0 { seen } else { 0.0 };
        Shade::of([red * r * own, green * g * own, blue * b * own, opacity * own, seen])
    }

    /// The colour of material and corners at a point, which is given by the weights of the second and
    /// third corner.
    #[inline]
    fn color(&self, weights: [f64; 2]) -> Color {
        let factor = &self.paint.factor;
        let Some([a, b, c]) = &self.corners else { return *factor };
        std::array::from_fn(|i| {
            let corner = a[i] + weights[0] * (b[i] - a[i]) + weights[1] * (c[i] - a[i]);
            factor[i] * corner
        })
    }

    #[inline]
    fn uv(&self, weights: [f64; 2]) -> [f64; 2] {
        let [a, b, c] = self.uvs;
        [0, 1].map(|i| a[i] + weights[0] * (b[i] - a[i]) + weights[1] * (c[i] - a[i]))
    }
}
