//! What a pixel looks like: in integers from the ray on, so that all machines draw the same picture.
//! The GPU's stages have the same functions.

use crate::grid::DEFAULT_COLOR;
use crate::render::camera::Camera;
use crate::render::film::Film;
use crate::render::ground::{Dark, Ground, between};
use crate::render::light::{Light, OFF, ONE, is_dark, of, share, to_sun};
use crate::render::{Background, RenderOptions};
use crate::srgb::{Rgba, linear_of, srgb_of};
use crate::trace::{Face, Ray, Scene, Touch, UNIT_BITS};

/// Linear light of 16 bits a channel.
pub(super) type Color = [u32; 3];

/// Rays from a face to the sky: of a voxel that covers a few pixels or more, and of a smaller one.
const SKY_RAYS: [usize; 2] = [12, 6];
/// Sets of such rays: where a pixel is the mean of many small voxels, they look to many places.
const SKY_SETS: [u32; 2] = [1, 16];
/// How many pixels a few are.
const A_FEW: f64 = 3.0;

/// The light at a corner of a face between 0, 1, 2 and 3 free voxels of the three about it: what is narrow
/// is dark (as in M. Lysenko, *Ambient occlusion for Minecraft-like worlds*, 2013).
const CORNER_LIGHT: [f64; 4] = [0.55, 0.74, 0.88, 1.0];

/// The top and the bottom of the background.
const GRADIENT: [[u8; 3]; 2] = [[238, 241, 245], [190, 197, 206]];
/// How much of the background's light is the sun's, and the sky's.
const GROUND_SHADES: [f64; 2] = [0.30, 0.45];

/// Voxels that cover fewer pixels have no visible edges; those that cover more have all of them.
const EDGES: [f64; 2] = [4.0, 12.0];
/// How dark edges are, and half their width in pixels.
pub(super) const EDGE_SHADE: f64 = 0.16;
const EDGE_WIDTH: f64 = 0.7;
/// Half widths of edges are multiples of `2^-EDGE_BITS` voxel.
const EDGE_BITS: u32 = 24;

/// Entries of the memory for faces, a power of two.
const SEEN: usize = 1 << 12;

/// The numbers of a picture.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) film: Film,
    pub(super) light: Light,
    pub(super) ground: Option<Ground>,
    /// Places along each side of a pixel.
    pub(super) samples: usize,
    /// What is behind each row of places, or nothing.
    pub(super) behind: Option<Vec<Color>>,
    pub(super) edges: Edges,
    /// Whether voxels cover so few pixels that a face is lit as its middle is.
    pub(super) is_small: bool,
    pub(super) corner_light: [u32; 4],
    /// How much of the background's light is the sun's, and the sky's.
    pub(super) ground_shades: [u32; 2],
}

/// How wide edges are, and how dark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges {
    /// Half the width at the voxel `from`; a step along an axis adds to it.
    pub(super) width: i32,
    pub(super) step: [i32; 3],
    pub(super) from: [u32; 3],
    /// Wider ones are not seen.
    pub(super) most: i32,
    /// Narrower ones are as dark as any: so much below `most`.
    pub(super) range: i32,
}

impl Look {
    pub(super) fn new(
        bounds: Option<[[u32; 3]; 2]>,
        camera: &Camera,
        options: &RenderOptions,
    ) -> Self {
        let samples = options.samples as usize;
        let [min, max] = bounds.unwrap_or_default();
        let middle = [0, 1, 2].map(|a| (f64::from(min[a]) + f64::from(max[a]) + 1.0) / 2.0);
        let is_small = camera.voxels_per_pixel(middle) * A_FEW > 1.0;
        let (rays, sets) = (SKY_RAYS[usize::from(is_small)], SKY_SETS[usize::from(is_small)]);
        let has_ground = options.background != Background::Transparent;
        Self {
            film: Film::new(camera, options.size, options.samples),
            light: Light::new(to_sun(camera, options.sun), camera, samples * samples, rays, sets),
            ground: has_ground.then(|| Ground::new(bounds, camera)).flatten(),
            samples,
            behind: behind(options.background, options.size[1] * options.samples),
            edges: Edges::new(camera, min, middle, options.edges),
            is_small,
            // Of small voxels corners are lines across a slope, as its steps fall on pixels.
            corner_light: if is_small { [ONE; 4] } else { CORNER_LIGHT.map(share) },
            ground_shades: GROUND_SHADES.map(share),
        }
    }
}

impl Edges {
    fn new(camera: &Camera, from: [u32; 3], middle: [f64; 3], are_drawn: bool) -> Self {
        let widths = |pixels: f64| EDGE_WIDTH / pixels * f64::from(1 << EDGE_BITS);
        let [most, least] = EDGES.map(|pixels| widths(pixels) as i32);
        let range = most - least;
        // Where voxels are that small there are none, anywhere.
        if !are_drawn || camera.voxels_per_pixel(middle) * EDGES[0] > 2.0 {
            return Self { width: i32::MAX, step: [0; 3], from, most, range };
        }
        let at = |voxel: [f64; 3]| camera.voxels_per_pixel(voxel.map(|c| c + 0.5)) * widths(1.0);
        let first = from.map(f64::from);
        let step = std::array::from_fn(|a| {
            let next = std::array::from_fn(|b| first[b] + f64::from(u8::from(a == b)));
            (at(next) - at(first)).round_ties_even() as i32
        });
        Self { width: at(first).round_ties_even() as i32, step, from, most, range }
    }
}

/// The background behind rows of places.
fn behind(background: Background, rows: u32) -> Option<Vec<Color>> {
    let row = |row: u32| match background {
        Background::Transparent => None,
        Background::Color(color) => Some(linear(color)),
        Background::Gradient => {
            let [top, bottom] = GRADIENT.map(linear);
            let part = share((f64::from(row) + 0.5) / f64::from(rows));
            Some([0, 1, 2].map(|i| between(top[i], bottom[i], part)))
        }
    };
    (0..rows).map(row).collect()
}

/// What all rays to one face have in common.
#[derive(Debug, Clone, Copy)]
struct Surface {
    /// Which face it is; none has 0.
    key: u64,
    albedo: Color,
    /// What part of the sky's light there is.
    sky: u32,
    /// Whether the sun shines on all of it, or on none; `None` where that is told for each ray.
    is_lit: Option<bool>,
    /// At the corners: at both ends of the first axis for the lower end of the second, then for the upper.
    corners: [u32; 4],
}

/// What a ray comes to.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// The same for places of one face, or of the background, that are lit alike.
    of: u64,
    /// `None` where nothing is.
    color: Option<Color>,
}

/// Draws pixels.
pub(super) struct Shader<'a> {
    scene: &'a Scene<'a>,
    look: &'a Look,
    dark: &'a Dark,
    seen: Vec<Surface>,
}

impl<'a> Shader<'a> {
    /// Of a picture, with what the ground does not see of the sky.
    pub(super) fn new(scene: &'a Scene<'a>, look: &'a Look, dark: &'a Dark) -> Self {
        let nothing = Surface { key: 0, albedo: [0; 3], sky: 0, is_lit: None, corners: [0; 4] };
        Self { scene, look, dark, seen: vec![nothing; SEEN] }
    }

    /// The pixel of a column and a row.
    pub(super) fn pixel(&mut self, at: [usize; 2]) -> Rgba {
        let last = self.look.samples - 1;
        let parts = (0..=last).flat_map(|row| (0..=last).map(move |column| [column, row]));
        let is_corner = |part: &[usize; 2]| part.iter().all(|&i| i == 0 || i == last);
        let corners: Vec<Sample> =
            parts.clone().filter(is_corner).map(|part| self.sample(at, part)).collect();
        // Where the corners of a pixel are of one face, and lit alike, all of it is.
        if corners.iter().all(|corner| corner.of == corners[0].of) {
            return mean(corners);
        }
        let others = parts.filter(|part| !is_corner(part)).map(|part| self.sample(at, part));
        mean(corners.into_iter().chain(others))
    }

    /// What is at a part of a pixel, counted from its top left.
    fn sample(&mut self, pixel: [usize; 2], part: [usize; 2]) -> Sample {
        let samples = self.look.samples;
        let place = [0, 1].map(|i| pixel[i] * samples + part[i]);
        let number = part[1] * samples + part[0];
        let ray = self.look.film.ray(place);
        match self.scene.first_touch(&ray) {
            Some(touch) => self.voxel(&ray, &touch, number),
            None => self.background(&ray, place[1], number),
        }
    }

    /// What is behind the voxels, with the shadows on the ground.
    fn background(&self, ray: &Ray, row: usize, number: usize) -> Sample {
        let Some(behind) = &self.look.behind else { return Sample { of: 0, color: None } };
        let (light, is_dark) = self.light_on_ground(ray, number);
        Sample { of: u64::from(is_dark), color: Some(behind[row].map(|c| of(c, light))) }
    }

    /// How much light the ground has where the ray meets it, and whether the sun's is missing.
    fn light_on_ground(&self, ray: &Ray, number: usize) -> (u32, bool) {
        let ground = self.look.ground.as_ref();
        let met = ground.and_then(|ground| Some((ground, ground.met_by(ray)?)));
        let Some((ground, point)) = met else { return (ONE, false) };
        let [of_sun, of_sky] = self.look.ground_shades;
        let is_dark = is_dark(self.scene, point, self.look.light.suns[number]);
        let sun = if is_dark { ONE - of_sun } else { ONE };
        (of(ONE - of(of_sky, ground.dark_at(self.dark, point)), sun), is_dark)
    }

    /// The colour of a voxel where the ray meets it.
    fn voxel(&mut self, ray: &Ray, touch: &Touch, number: usize) -> Sample {
        let light = &self.look.light;
        let voxel = touch.voxel();
        let face = touch.face(ray).unwrap_or_else(|| facing(ray));
        let surface = self.surface(voxel, face);
        let point = point_on(ray, touch, face);
        let (u, v) = others(face.axis);
        let within = [u, v].map(|a| (point[a] - (i64::from(voxel[a]) << UNIT_BITS)) as u32);

        let of_face = face.number();
        let is_lit = surface
            .is_lit
            .unwrap_or_else(|| !is_dark(self.scene, off(point, face), light.suns[number]));
        let sky = of(surface.sky, bilinear(surface.corners, within));
        let (edge, is_edge) = self.edge(voxel, within);
        let color = [0, 1, 2].map(|i| {
            let sun = if is_lit { light.of_sun[of_face][i] } else { 0 };
            let all = sun + of(light.of_sky[of_face][i], sky);
            of(surface.albedo[i], of(all, edge).min(ONE))
        });
        let of = surface.key << 2 | u64::from(is_lit) << 1 | u64::from(is_edge);
        Sample { of, color: Some(color) }
    }

    /// How light a place in the face of a voxel is, which is darker at its edges, and whether it is there.
    fn edge(&self, voxel: [u32; 3], within: [u32; 2]) -> (u32, bool) {
        let Edges { width, step, from, most, range } = self.look.edges;
        // Wrapping on the way does not matter, where the sum is in range.
        let width = (0..3).fold(width, |width, a| {
            width.wrapping_add(step[a].wrapping_mul((voxel[a] - from[a]) as i32))
        });
        let strength = (most - width).clamp(0, range) as u32;
        let from_edge = within.map(|c| c.min((1 << UNIT_BITS) - c) << (EDGE_BITS - UNIT_BITS));
        let is_edge = strength > 0 && (from_edge[0].min(from_edge[1]) as i32) < width;
        let shade = (strength >> 8) * share(EDGE_SHADE) / (range as u32 >> 8);
        (if is_edge { ONE - shade } else { ONE }, is_edge)
    }

    fn surface(&mut self, voxel: [u32; 3], face: Face) -> Surface {
        let [x, y, z] = voxel.map(u64::from);
        let key = (face.number() as u64 + 1) << 48 | z << 32 | y << 16 | x;
        // As bricks are spread, by the golden ratio.
        let place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SEEN.ilog2())) as usize;
        if self.seen[place].key != key {
            self.seen[place] = self.look_at(key, voxel, face);
        }
        self.seen[place]
    }

    fn look_at(&self, key: u64, voxel: [u32; 3], face: Face) -> Surface {
        let light = &self.look.light;
        let of_face = face.number();
        let color =
            self.scene.grid().colors.as_ref().map_or(DEFAULT_COLOR, |colors| colors.of(voxel));
        let [r, g, b, _] = color;
        let outside = off(middle_of(voxel, face), face);
        let ways = light.ways_from(voxel, face).iter();
        let dark = ways.filter(|&&to| is_dark(self.scene, outside, to)).count();
        let is_lit = if light.of_sun[of_face] == [0; 3] {
            Some(false)
        } else if self.look.is_small {
            Some(!is_dark(self.scene, outside, light.sun))
        } else {
            None
        };
        Surface {
            key,
            albedo: linear([r, g, b]),
            sky: light.sky_left[dark],
            is_lit,
            corners: self.corners(voxel, face),
        }
    }

    /// The light at the corners of a face, by the voxels about them that stand out.
    fn corners(&self, voxel: [u32; 3], face: Face) -> [u32; 4] {
        let normal = face.normal();
        let (u, v) = others(face.axis);
        let stands = |along: [i32; 2]| {
            let mut at: [i32; 3] = std::array::from_fn(|a| voxel[a] as i32 + normal[a]);
            at[u] += along[0];
            at[v] += along[1];
            usize::from(self.scene.contains(at))
        };
        [[-1, -1], [1, -1], [-1, 1], [1, 1]].map(|[i, j]| {
            let free = match [stands([i, 0]), stands([0, j])] {
                [1, 1] => 0,
                [a, b] => 3 - a - b - stands([i, j]),
            };
            self.look.corner_light[free]
        })
    }
}

/// The pixel that has these samples.
fn mean(samples: impl IntoIterator<Item = Sample>) -> Rgba {
    let (mut sum, mut covered, mut all) = ([0; 3], 0, 0);
    for sample in samples {
        all += 1;
        if let Some(color) = sample.color {
            sum = [0, 1, 2].map(|i| sum[i] + color[i]);
            covered += 1;
        }
    }
    let divisor = covered.max(1);
    let [r, g, b] = sum.map(|light| srgb_of(((light + divisor / 2) / divisor) as u16));
    [r, g, b, ((covered * 510 + all) / (2 * all)) as u8]
}

/// The face that a ray looks at which begins in its voxel.
fn facing(ray: &Ray) -> Face {
    let (_, direction) = ray.in_units();
    let longer = |a: usize, b: usize| if direction[b].abs() > direction[a].abs() { b } else { a };
    let axis = longer(longer(0, 1), 2);
    Face { axis, is_upper: direction[axis] < 0 }
}

/// Where a ray meets a face, in units: exactly in its plane, and rounded down along the others, which
/// is not past its edges.
fn point_on(ray: &Ray, touch: &Touch, face: Face) -> [i64; 3] {
    let mut point = touch.point(ray);
    let plane = touch.voxel()[face.axis] + u32::from(face.is_upper);
    point[face.axis] = i64::from(plane) << UNIT_BITS;
    point
}

/// The middle of a face.
fn middle_of(voxel: [u32; 3], face: Face) -> [i64; 3] {
    std::array::from_fn(|a| {
        let halves = if a == face.axis { 2 * u32::from(face.is_upper) } else { 1 };
        (2 * i64::from(voxel[a]) + i64::from(halves)) << (UNIT_BITS - 1)
    })
}

/// A little off a face.
fn off(mut point: [i64; 3], face: Face) -> [i64; 3] {
    point[face.axis] += if face.is_upper { OFF } else { -OFF };
    point
}

/// The two other axes.
fn others(axis: usize) -> (usize, usize) {
    ((axis + 1) % 3, (axis + 2) % 3)
}

/// `within` counts units.
fn bilinear([a, b, c, d]: [u32; 4], within: [u32; 2]) -> u32 {
    let [u, v] = within.map(|c| c >> (UNIT_BITS - ONE.ilog2()));
    between(between(a, b, u), between(c, d, u), v)
}

pub(super) fn linear(color: [u8; 3]) -> Color {
    color.map(|c| u32::from(linear_of(c)))
}
