//! Shading of pixels, in integers from the ray on, so that all devices draw the same picture. The
//! twin of `shaders/draw/` and `shaders/trace/faces.wgsl`.

use std::sync::OnceLock;

use crate::base::srgb::{Rgba, linear_of, srgb_of};
use crate::grid::DEFAULT_COLOR;
use crate::view::render::camera::Camera;
use crate::view::render::film::Film;
use crate::view::render::ground::Ground;
use crate::view::render::light::{
    Light, ONE, RAY_OFFSET, fixed, is_occluded, lerp_fixed, scale, to_sun,
};
use crate::view::render::prepass::DepthPrepass;
use crate::view::render::{Background, RenderOptions};
use crate::view::trace::{FRACTION_BITS, Face, Ray, Scene, Touch};

/// Linear light, 16 bits per channel.
pub(crate) type Color = [u32; 3];

/// Ambient-occlusion rays per face, of large and of small voxels.
const SKY_RAYS: [usize; 2] = [12, 6];
/// Sets of such rays, of large and of small voxels: with several sets, the error of small voxels
/// averages out within a pixel.
const SKY_SETS: [u32; 2] = [1, 16];
/// Voxels narrower than this are small, in pixels.
const SMALL_PIXELS: f64 = 3.0;

/// Ambient light at a corner of a face with 0, 1, 2 and 3 of its three neighbours empty (M.
/// Lysenko, *Ambient occlusion for Minecraft-like worlds*, 2013).
const CORNER_LIGHT: [u32; 4] = [fixed(0.55), fixed(0.74), fixed(0.88), ONE];

/// Colours of the background at the top and at the bottom.
const GRADIENT: [[u8; 3]; 2] = [[238, 241, 245], [190, 197, 206]];
/// Shares of the background's light that the sun and the sky contribute.
pub(crate) const GROUND_SHADES: [u32; 2] = [fixed(0.30), fixed(0.45)];

/// Darkening by edge lines.
pub(crate) const EDGE_SHADE: u32 = fixed(0.16);
/// Half-widths of edge lines are multiples of `2^-EDGE_BITS` voxel.
const EDGE_BITS: u32 = 24;
/// Half-width of edge lines of voxels one pixel wide: 0.7 pixels.
const EDGE_WIDTH: f64 = 0.7 * (1 << EDGE_BITS) as f64;
/// Width of voxels, in pixels, up to which edge lines have faded out.
const EDGE_PIXELS: f64 = 4.0;
/// Half-width at which edge lines have faded out.
pub(crate) const EDGE_MAX: i32 = (EDGE_WIDTH / EDGE_PIXELS) as i32;
/// They fade over this range of half-widths below [`EDGE_MAX`]: up to voxels of 12 pixels.
pub(crate) const EDGE_FADE: i32 = EDGE_MAX - (EDGE_WIDTH / 12.0) as i32;

/// Slots of the direct-mapped cache of surfaces, a power of two.
const CACHE_SLOTS: usize = 1 << 12;

/// The parameters of a picture, beside the scene.
#[derive(Debug)]
pub(crate) struct PictureParams {
    pub(crate) film: Film,
    pub(crate) light: Light,
    pub(crate) ground: Option<Ground>,
    /// Samples along each side of a pixel.
    pub(crate) samples: usize,
    /// Background colour of each row of samples; `None` if transparent.
    pub(crate) background: Option<Vec<Color>>,
    pub(crate) edges: Edges,
    /// Whether voxels are small: the sun's shadow is traced once per face, from its centre.
    pub(crate) is_small: bool,
    pub(crate) corner_light: [u32; 4],
}

/// Widths of the edge lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edges {
    /// Half-width at the voxel `origin`.
    pub(crate) width: i32,
    /// Change of the half-width per voxel along each axis.
    pub(crate) step: [i32; 3],
    pub(crate) origin: [u32; 3],
}

impl PictureParams {
    pub(crate) fn new(
        bounds: Option<[[u32; 3]; 2]>,
        camera: &Camera,
        options: &RenderOptions,
    ) -> Self {
        let samples = options.samples as usize;
        let [min, max] = bounds.unwrap_or_default();
        let middle = [0, 1, 2].map(|a| (f64::from(min[a]) + f64::from(max[a]) + 1.0) / 2.0);
        let is_small = camera.voxels_per_pixel(middle) * SMALL_PIXELS > 1.0;
        let (rays, sets) = (SKY_RAYS[usize::from(is_small)], SKY_SETS[usize::from(is_small)]);
        let has_ground = options.background != Background::Transparent;
        Self {
            film: Film::new(camera, options.size, options.samples),
            light: Light::new(to_sun(camera, options.sun), camera, samples * samples, rays, sets),
            ground: has_ground.then(|| Ground::new(bounds, camera)).flatten(),
            samples,
            background: background_rows(options.background, options.size[1] * options.samples),
            edges: Edges::new(camera, min, middle, options.edges),
            is_small,
            // Corners of small voxels would alias into stripes on slopes.
            corner_light: if is_small { [ONE; 4] } else { CORNER_LIGHT },
        }
    }
}

impl Edges {
    fn new(camera: &Camera, origin: [u32; 3], middle: [f64; 3], are_drawn: bool) -> Self {
        // The smallest voxels have no edge lines anywhere.
        if !are_drawn || camera.voxels_per_pixel(middle) * EDGE_PIXELS > 2.0 {
            return Self { width: i32::MAX, step: [0; 3], origin };
        }
        let at = |voxel: [f64; 3]| camera.voxels_per_pixel(voxel.map(|c| c + 0.5)) * EDGE_WIDTH;
        let first = origin.map(f64::from);
        let step = std::array::from_fn(|a| {
            let next = std::array::from_fn(|b| first[b] + f64::from(u8::from(a == b)));
            (at(next) - at(first)).round_ties_even() as i32
        });
        Self { width: at(first).round_ties_even() as i32, step, origin }
    }
}

/// The background colours of rows of samples.
fn background_rows(background: Background, rows: u32) -> Option<Vec<Color>> {
    let row = |row: u32| match background {
        Background::Transparent => None,
        Background::Color(color) => Some(linear(color)),
        Background::Gradient => {
            let [top, bottom] = GRADIENT.map(linear);
            let at = fixed((f64::from(row) + 0.5) / f64::from(rows));
            Some([0, 1, 2].map(|i| lerp_fixed(top[i], bottom[i], at)))
        }
    };
    (0..rows).map(row).collect()
}

/// Shading of a face that is shared by all its samples.
#[derive(Debug, Clone, Copy)]
struct Surface {
    /// Identifies the face; 0 if there is none.
    key: u64,
    albedo: Color,
    /// Share of the sky's light.
    sky: u32,
    /// Whether the sun shines on the face; `None` if this is traced per ray.
    is_lit: Option<bool>,
    /// Ambient light at the corners: both ends of the first tangent axis at the lower end of the
    /// second, then at the upper.
    corners: [u32; 4],
}

/// The result of one sample of a pixel.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Equal for samples of the same face, or of the background, that are lit alike.
    key: u64,
    /// `None` for a transparent background.
    color: Option<Color>,
}

/// Draws pixels on the CPU.
pub(crate) struct Shader<'a> {
    scene: &'a Scene<'a>,
    params: &'a PictureParams,
    prepass: &'a DepthPrepass,
    /// The occluded share of the sky at each sample of the ground, computed at its first use.
    occlusion: &'a [OnceLock<u32>],
    /// Direct-mapped by a hash of the face.
    cache: Vec<Surface>,
}

impl<'a> Shader<'a> {
    /// With an empty cache.
    pub(crate) fn new(
        scene: &'a Scene<'a>,
        params: &'a PictureParams,
        prepass: &'a DepthPrepass,
        occlusion: &'a [OnceLock<u32>],
    ) -> Self {
        let empty = Surface { key: 0, albedo: [0; 3], sky: 0, is_lit: None, corners: [0; 4] };
        Self { scene, params, prepass, occlusion, cache: vec![empty; CACHE_SLOTS] }
    }

    /// The pixel of a column and a row.
    pub(crate) fn pixel(&mut self, at: [usize; 2]) -> Rgba {
        let last = self.params.samples - 1;
        let subpixels = (0..=last).flat_map(|row| (0..=last).map(move |column| [column, row]));
        let is_corner = |subpixel: &[usize; 2]| subpixel.iter().all(|&i| i == 0 || i == last);
        let (mut sum, mut key, mut are_equal) = (Sum::default(), None, true);
        for subpixel in subpixels.clone().filter(is_corner) {
            let corner = self.sample(at, subpixel);
            are_equal &= *key.get_or_insert(corner.key) == corner.key;
            sum.add(&corner);
        }
        // If all corners see one face in the same light, their mean is the pixel.
        if !are_equal {
            let others = subpixels.filter(|subpixel| !is_corner(subpixel));
            others.for_each(|subpixel| sum.add(&self.sample(at, subpixel)));
        }
        sum.mean()
    }

    /// A sample of a pixel, by its position in the pixel from the top left.
    fn sample(&mut self, pixel: [usize; 2], subpixel: [usize; 2]) -> Sample {
        let samples = self.params.samples;
        let sample = [0, 1].map(|i| pixel[i] * samples + subpixel[i]);
        let index = subpixel[1] * samples + subpixel[0];
        let ray = self.params.film.ray(sample);
        let start = self.prepass.start(&self.params.film, pixel);
        match start.and_then(|start| self.scene.first_touch_from(&ray, start)) {
            Some(touch) => self.shade_voxel(&ray, &touch, index),
            None => self.shade_background(&ray, sample[1], index),
        }
    }

    /// The background of a row of samples, with the light on the ground.
    fn shade_background(&self, ray: &Ray, row: usize, index: usize) -> Sample {
        let Some(rows) = &self.params.background else { return Sample { key: 0, color: None } };
        let (light, is_shadowed) = self.light_on_ground(ray, index);
        let color = rows[row].map(|c| scale(c, light));
        Sample { key: u64::from(is_shadowed), color: Some(color) }
    }

    /// The light on the ground at the hit point of the ray, as a share of that of the unshadowed
    /// background, and whether the point is in the sun's shadow.
    fn light_on_ground(&self, ray: &Ray, index: usize) -> (u32, bool) {
        let ground = self.params.ground.as_ref();
        let hit = ground.and_then(|ground| Some((ground, ground.hit(ray)?)));
        let Some((ground, point)) = hit else { return (ONE, false) };
        let [sun_shade, sky_shade] = GROUND_SHADES;
        let is_shadowed = is_occluded(self.scene, point, self.params.light.sun_directions[index]);
        let sun = if is_shadowed { ONE - sun_shade } else { ONE };
        let sky = ONE - scale(sky_shade, ground.occlusion_at(self.scene, self.occlusion, point));
        (scale(sky, sun), is_shadowed)
    }

    /// The colour of a voxel at the hit point.
    fn shade_voxel(&mut self, ray: &Ray, touch: &Touch, index: usize) -> Sample {
        let light = &self.params.light;
        let voxel = touch.voxel();
        let face = seen_face(ray, touch);
        let surface = self.surface(voxel, face);
        let point = point_on(ray, touch, face);
        let (u, v) = tangent_axes(face.axis);
        let within = [u, v].map(|a| (point[a] - (i64::from(voxel[a]) << FRACTION_BITS)) as u32);

        let of_face = face.number();
        let is_lit = surface.is_lit.unwrap_or_else(|| {
            !is_occluded(self.scene, offset_from(point, face), light.sun_directions[index])
        });
        let sky = scale(surface.sky, bilinear(surface.corners, within));
        let (edge, is_edge) = self.edge(voxel, within);
        let color = [0, 1, 2].map(|i| {
            let sun = if is_lit { light.sun_light[of_face][i] } else { 0 };
            let all = sun + scale(light.sky_light[of_face][i], sky);
            scale(surface.albedo[i], scale(all, edge).min(ONE))
        });
        let key = surface.key << 2 | u64::from(is_lit) << 1 | u64::from(is_edge);
        Sample { key, color: Some(color) }
    }

    /// The light on a point of a face, which is darker along the edges, and whether it is on an
    /// edge line.
    fn edge(&self, voxel: [u32; 3], within: [u32; 2]) -> (u32, bool) {
        let Edges { width, step, origin } = self.params.edges;
        // Intermediate sums may wrap: the result is in range.
        let width = (0..3).fold(width, |width, a| {
            width.wrapping_add(step[a].wrapping_mul((voxel[a] - origin[a]) as i32))
        });
        let strength = (EDGE_MAX - width).clamp(0, EDGE_FADE) as u32;
        let edge_distance =
            within.map(|c| c.min((1 << FRACTION_BITS) - c) << (EDGE_BITS - FRACTION_BITS));
        let is_edge = strength > 0 && (edge_distance[0].min(edge_distance[1]) as i32) < width;
        let shade = (strength >> 8) * EDGE_SHADE / (EDGE_FADE as u32 >> 8);
        (if is_edge { ONE - shade } else { ONE }, is_edge)
    }

    fn surface(&mut self, voxel: [u32; 3], face: Face) -> Surface {
        let [x, y, z] = voxel.map(u64::from);
        let key = (face.number() as u64 + 1) << 48 | z << 32 | y << 16 | x;
        // Fibonacci hashing.
        let slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - CACHE_SLOTS.ilog2())) as usize;
        if self.cache[slot].key != key {
            self.cache[slot] = self.surface_of(key, voxel, face);
        }
        self.cache[slot]
    }

    fn surface_of(&self, key: u64, voxel: [u32; 3], face: Face) -> Surface {
        let light = &self.params.light;
        let of_face = face.number();
        let color =
            self.scene.grid().colors.as_ref().map_or(DEFAULT_COLOR, |colors| colors.of(voxel));
        let [r, g, b, _] = color;
        let outside = offset_from(face_center(voxel, face), face);
        let directions = light.sky_directions_from(voxel, face).iter();
        let occluded = directions.filter(|&&to| is_occluded(self.scene, outside, to)).count();
        let is_lit = if light.sun_light[of_face] == [0; 3] {
            Some(false)
        } else if self.params.is_small {
            Some(!is_occluded(self.scene, outside, light.sun))
        } else {
            None
        };
        Surface {
            key,
            albedo: linear([r, g, b]),
            sky: light.sky_shares[occluded],
            is_lit,
            corners: self.corners(voxel, face),
        }
    }

    /// Ambient light at the corners of a face, by the occupied voxels of the layer above it.
    fn corners(&self, voxel: [u32; 3], face: Face) -> [u32; 4] {
        let normal = face.normal();
        let (u, v) = tangent_axes(face.axis);
        let occluder = |along: [i32; 2]| {
            let mut at: [i32; 3] = std::array::from_fn(|a| voxel[a] as i32 + normal[a]);
            at[u] += along[0];
            at[v] += along[1];
            usize::from(self.scene.contains(at))
        };
        [[-1, -1], [1, -1], [-1, 1], [1, 1]].map(|[i, j]| {
            let free = match [occluder([i, 0]), occluder([0, j])] {
                [1, 1] => 0,
                [a, b] => 3 - a - b - occluder([i, j]),
            };
            self.params.corner_light[free]
        })
    }
}

/// The sum of samples of a pixel.
#[derive(Debug, Default)]
struct Sum {
    light: Color,
    /// Samples that are not transparent, and all.
    covered: u32,
    all: u32,
}

impl Sum {
    fn add(&mut self, sample: &Sample) {
        if let Some(color) = sample.color {
            self.light = [0, 1, 2].map(|i| self.light[i] + color[i]);
            self.covered += 1;
        }
        self.all += 1;
    }

    /// The pixel.
    fn mean(&self) -> Rgba {
        let Self { light, covered, all } = *self;
        let divisor = covered.max(1);
        let [r, g, b] = light.map(|light| srgb_of(((light + divisor / 2) / divisor) as u16));
        [r, g, b, ((covered * 510 + all) / (2 * all)) as u8]
    }
}

/// The face that is seen: the one through which the ray enters the voxel, or, where it begins in
/// the voxel, the one most nearly perpendicular to it that faces it.
fn seen_face(ray: &Ray, touch: &Touch) -> Face {
    touch.face(ray).unwrap_or_else(|| {
        let (_, direction) = ray.in_units();
        let longer =
            |a: usize, b: usize| if direction[b].abs() > direction[a].abs() { b } else { a };
        let axis = longer(longer(0, 1), 2);
        Face { axis, is_upper: direction[axis] < 0 }
    })
}

/// The point where a ray meets a face, in units: exact along the normal, rounded down along the
/// other axes, which keeps it within the face.
fn point_on(ray: &Ray, touch: &Touch, face: Face) -> [i64; 3] {
    let mut point = touch.point(ray);
    let plane = touch.voxel()[face.axis] + u32::from(face.is_upper);
    point[face.axis] = i64::from(plane) << FRACTION_BITS;
    point
}

/// The centre of a face, in units.
fn face_center(voxel: [u32; 3], face: Face) -> [i64; 3] {
    std::array::from_fn(|a| {
        let halves = if a == face.axis { 2 * u32::from(face.is_upper) } else { 1 };
        (2 * i64::from(voxel[a]) + i64::from(halves)) << (FRACTION_BITS - 1)
    })
}

/// `point` moved [`RAY_OFFSET`] off a face, along its normal.
fn offset_from(mut point: [i64; 3], face: Face) -> [i64; 3] {
    point[face.axis] += if face.is_upper { RAY_OFFSET } else { -RAY_OFFSET };
    point
}

/// The two axes in the plane of a face.
fn tangent_axes(axis: usize) -> (usize, usize) {
    ((axis + 1) % 3, (axis + 2) % 3)
}

/// Interpolates between the corners of a face; `within` is the position in the face, in units.
fn bilinear([a, b, c, d]: [u32; 4], within: [u32; 2]) -> u32 {
    let [u, v] = within.map(|c| c >> (FRACTION_BITS - ONE.ilog2()));
    lerp_fixed(lerp_fixed(a, b, u), lerp_fixed(c, d, u), v)
}

pub(crate) fn linear(color: [u8; 3]) -> Color {
    color.map(|c| u32::from(linear_of(c)))
}
