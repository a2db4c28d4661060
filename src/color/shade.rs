//! The mean look of a part of a triangle.
//!
//! Of a textured part it is the mean over the texels that it covers, each by how much of it is covered;
//! where they are many, over those of a smaller image. Where they are few, what is between them counts
//! too: parts of texels are looked at, each in its middle.

use crate::appearance::texture::{Light, Texture};
use crate::appearance::{Alpha, Appearance, Filter, Material, TextureRef};
use crate::color::clip::{Parts, Polygon};
use crate::color::coverage::{self, Coverage};
use crate::srgb::Linear;

/// The look of a surface, of 65,535.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shade {
    /// Red, green and blue, as far as they are seen: multiplied by opacity.
    pub(super) light: [u16; 3],
    pub(super) opacity: u16,
    /// How much of it is not altogether transparent.
    pub(super) seen: u16,
}

impl Shade {
    /// Whether it is not altogether transparent.
    pub(super) fn is_seen(self) -> bool {
        self.opacity > 0
    }
}

/// A sum of light by area.
#[derive(Default)]
struct Sum {
    light: Light,
    seen: f64,
    area: f64,
}

impl Sum {
    #[inline(always)]
    fn add(&mut self, light: Light, area: f64) {
        for (sum, light) in self.light.iter_mut().zip(light) {
            *sum += area * light;
        }
        self.seen += if light[3] > 0.0 { area } else { 0.0 };
        self.area += area;
    }

    /// The mean; multiplied by a colour without opacity.
    fn shade(&self, color: Light) -> Shade {
        let whole = |part: f64| (part / self.area * 65535.0 + 0.5) as u16;
        let [r, g, b] = [0, 1, 2].map(|i| whole(color[i] * self.light[i]));
        Shade { light: [r, g, b], opacity: whole(self.light[3]), seen: whole(self.seen) }
    }
}

/// What a triangle looks like.
pub(super) struct Look<'a> {
    alpha: Alpha,
    /// Of the material alone.
    factor: Light,
    texture: Option<Image<'a>>,
    /// Of which only the opacity counts.
    opacity: Option<Image<'a>>,
    /// Where the corners are in both.
    uvs: [[f64; 2]; 3],
    /// By which the factor is multiplied at the corners.
    corners: Option<[Light; 3]>,
    /// The look, where it is the same everywhere.
    plain: Option<Shade>,
}

/// A texture, and how it is read.
#[derive(Clone, Copy)]
struct Image<'a> {
    texture: &'a Texture,
    read: TextureRef,
}

impl Image<'_> {
    #[inline(always)]
    fn light(&self, uv: [f64; 2], level: u32, filter: Filter) -> Light {
        self.texture.light(uv, level, self.read.wrap, filter)
    }

    fn size(&self) -> [f64; 2] {
        self.texture.size().map(f64::from)
    }
}

fn fraction(color: Linear) -> Light {
    color.map(|c| f64::from(c) / 65535.0)
}

impl<'a> Look<'a> {
    /// That of a triangle with these vertices.
    pub(super) fn new(appearance: &'a Appearance, triangle: usize, vertices: [u32; 3]) -> Self {
        let material = appearance.material(triangle);
        let Material { color, texture, opacity, has_vertex_colors, alpha } = *material;
        let uvs = appearance.uvs.get(triangle);
        let uvs = uvs.map_or([[f64::NAN; 2]; 3], |uvs| uvs.map(|uv| uv.map(f64::from)));
        let has_place = uvs.as_flattened().iter().all(|c| c.is_finite());
        let image = |read: Option<TextureRef>| {
            let read = read.filter(|_| has_place)?;
            Some(Image { texture: &appearance.textures[read.texture as usize], read })
        };
        let corner = |vertex: u32| fraction(appearance.vertex_colors[vertex as usize]);
        let corners = has_vertex_colors.then(|| vertices.map(corner));
        let (texture, opacity) = (image(texture), image(opacity));
        let factor = fraction(color);
        let mut look = Self { alpha, factor, texture, opacity, uvs, corners, plain: None };
        let is_even = corners.is_none_or(|[a, b, c]| a == b && b == c);
        if is_even && texture.or(opacity).is_none() {
            look.plain = Some(look.at([0.0; 2]));
        }
        look
    }

    /// Where it is the same everywhere.
    pub(super) fn plain(&self) -> Option<Shade> {
        self.plain
    }

    /// The mean over a polygon, and its area in faces of a voxel.
    #[inline]
    pub(super) fn mean(&self, polygon: &Polygon) -> (Shade, f64) {
        let parts = polygon.parts();
        let shade = self.plain.unwrap_or_else(|| self.mean_of(polygon, &parts));
        (shade, parts.area)
    }

    fn mean_of(&self, polygon: &Polygon, parts: &Parts) -> Shade {
        let Some(main) = self.texture.or(self.opacity) else {
            // What changes evenly has in the middle what it has in the mean.
            return self.at(parts.centroid);
        };
        let mut room = [[0.0; 2]; Polygon::MOST];
        let corners = &mut room[..polygon.points().len()];
        let size = main.size();
        for (corner, point) in corners.iter_mut().zip(polygon.points()) {
            let uv = self.uv(point.weights);
            *corner = [0, 1].map(|i| uv[i] * size[i]);
        }
        let span = |[low, high]: [[f64; 2]; 2]| [0, 1].map(|a| high[a] - low[a]);
        let Some(cells) = Cells::of(span(coverage::bounds(corners)), main.read.filter) else {
            return self.at(parts.centroid);
        };
        corners.as_flattened_mut().iter_mut().for_each(|c| *c /= cells.edge);
        let color = self.color(parts.centroid);
        let levels = self.levels(&cells, size);
        let mut sum = Sum::default();
        for (cell, part) in Coverage::new(corners).cells() {
            let uv = [0, 1].map(|i| (cell[i] as f64 + 0.5) * cells.edge / size[i]);
            sum.add(self.light(uv, color[3], levels, cells.filter), part);
        }
        match sum.area > 0.0 {
            true => sum.shade(color),
            false => self.at(parts.centroid),
        }
    }

    /// How often the texture and the image of opacity are halved, if their texels are to be like
    /// `cells`.
    fn levels(&self, cells: &Cells, size: [f64; 2]) -> [u32; 2] {
        let level = |image: Option<Image>| {
            let edge = image.map_or(0.0, |image| {
                let own = image.size();
                cells.edge * (own[0] / size[0]).min(own[1] / size[1])
            });
            (1..31).take_while(|&level| f64::from(1_u32 << level) <= edge).count() as u32
        };
        [level(self.texture), level(self.opacity)]
    }

    /// The look at a point.
    fn at(&self, weights: [f64; 2]) -> Shade {
        let color = self.color(weights);
        let mut sum = Sum::default();
        sum.add(self.light(self.uv(weights), color[3], [0; 2], Filter::Linear), 1.0);
        sum.shade(color)
    }

    /// The colour of material and corners at a point, which is given by the weights of the second and
    /// third corner.
    #[inline]
    fn color(&self, weights: [f64; 2]) -> Light {
        let Some([a, b, c]) = &self.corners else { return self.factor };
        std::array::from_fn(|i| {
            let corner = a[i] + weights[0] * (b[i] - a[i]) + weights[1] * (c[i] - a[i]);
            self.factor[i] * corner
        })
    }

    #[inline]
    fn uv(&self, weights: [f64; 2]) -> [f64; 2] {
        let [a, b, c] = self.uvs;
        [0, 1].map(|i| a[i] + weights[0] * (b[i] - a[i]) + weights[1] * (c[i] - a[i]))
    }

    /// What textures show at `uv`, of a surface that is itself so opaque.
    #[inline]
    fn light(&self, uv: [f64; 2], opacity: f64, levels: [u32; 2], filter: Filter) -> Light {
        let of_image = |image: &Image| image.light(uv, levels[1], Filter::Linear)[3];
        let opacity = opacity * self.opacity.as_ref().map_or(1.0, of_image);
        let filter_of = |image: &Image| match image.read.filter {
            Filter::Nearest => Filter::Nearest,
            Filter::Linear => filter,
        };
        let mut light = self
            .texture
            .as_ref()
            .map_or([1.0; 4], |image| image.light(uv, levels[0], filter_of(image)));
        if opacity < 1.0 {
            light = light.map(|c| c * opacity);
        }
        match self.alpha {
            Alpha::Blend => light,
            // A smaller image says how much of it is there.
            Alpha::Mask(_) if levels != [0; 2] => light,
            Alpha::Mask(least) if light[3] * 65535.0 < f64::from(least) => [0.0; 4],
            Alpha::Mask(_) | Alpha::Opaque if light[3] < 1.0 => match light[3] > 0.0 {
                true => light.map(|c| c / light[3]),
                false => [0.0; 4],
            },
            Alpha::Mask(_) | Alpha::Opaque => light,
        }
    }
}

/// The cells of a texture that are looked at.
struct Cells {
    /// In texels.
    edge: f64,
    /// Of what is in their middles.
    filter: Filter,
}

impl Cells {
    /// Those for what spans so many texels along each axis, so that they are few but enough. `None` where
    /// one look is enough.
    fn of(span: [f64; 2], filter: Filter) -> Option<Self> {
        const SMALL: f64 = 0.5;
        const FEW: f64 = 3.0;
        const SMALLEST: f64 = 0.125;
        let longest = span[0].max(span[1]);
        let mut edge = 1.0;
        if filter == Filter::Linear && longest <= FEW {
            while longest <= FEW * edge && edge > SMALLEST {
                edge /= 2.0;
            }
            return (longest > SMALL).then_some(Self { edge, filter });
        }
        while !coverage::has_room(span.map(|texels| texels / edge)) {
            edge *= 2.0;
        }
        // In the middle of a texel there is nothing of others.
        Some(Self { edge, filter: Filter::Nearest })
    }
}
