//! What a pixel looks like.

use crate::raymarch::{Face, Hit, Ray, Scene};
use crate::render::camera::{Camera, Vec3, add_scaled, dot};
use crate::render::ground::Ground;
use crate::render::light::{GROUND_LIGHT, Light, OFF, SKY_LIGHT, SUN_LIGHT, is_dark, to_sky};
use crate::render::{Background, PLAIN, RenderOptions};
use crate::srgb::{Rgba, linear_of, srgb_of};

/// Linear light.
type Color = [f32; 3];

/// Rays from a face to the sky: of a voxel that covers a few pixels or more, and of a smaller one.
const SKY_RAYS: [usize; 2] = [12, 6];
/// How many pixels a few are.
const A_FEW: f64 = 3.0;

/// What light there is where no sky is seen, thrown from surface to surface, as a part of the sky's.
const BOUNCED: f32 = 0.25;

/// The light at a corner of a face between 0, 1, 2 and 3 free voxels of the three about it: what is narrow
/// is dark (as in M. Lysenko, *Ambient occlusion for Minecraft-like worlds*, 2013).
const CORNER_LIGHT: [f32; 4] = [0.55, 0.74, 0.88, 1.0];

/// The top and the bottom of the background.
const GRADIENT: [[u8; 3]; 2] = [[238, 241, 245], [190, 197, 206]];
/// How much of the background's light is the sun's, and the sky's.
const GROUND_SHADES: [f32; 2] = [0.30, 0.45];

/// Voxels that cover fewer pixels have no visible edges; those that cover more have all of them.
const EDGES: [f32; 2] = [4.0, 12.0];
/// How dark edges are, and half their width in pixels.
const EDGE_SHADE: f32 = 0.16;
const EDGE_WIDTH: f32 = 0.7;

/// Entries of the memory for faces, a power of two.
const SEEN: usize = 1 << 12;

/// What all rays to one face have in common.
#[derive(Debug, Clone, Copy)]
struct Surface {
    /// Which face it is; none has 0.
    key: u64,
    albedo: Color,
    /// What part of the sky's light there is.
    sky: f32,
    /// Whether the sun shines on all of it, or on none; `None` where that is told for each ray.
    is_lit: Option<bool>,
    /// At the corners: at both ends of the first axis for the lower end of the second, then for the upper.
    corners: [f32; 4],
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
    camera: &'a Camera,
    options: &'a RenderOptions,
    light: Light,
    /// To the sky from the six faces, lower and upper by axes.
    to_sky: [Vec<Vec3>; 6],
    ground: Option<&'a Ground>,
    /// Whether voxels cover so few pixels that a face is lit as its middle is.
    is_small: bool,
    seen: Vec<Surface>,
}

impl<'a> Shader<'a> {
    pub(super) fn new(
        scene: &'a Scene<'a>,
        camera: &'a Camera,
        ground: Option<&'a Ground>,
        options: &'a RenderOptions,
    ) -> Self {
        let samples = (options.samples * options.samples) as usize;
        let faces = [0, 1, 2].map(|axis| [false, true].map(|is_upper| Face { axis, is_upper }));
        let [min, max] = scene.bounds().unwrap_or_default().map(|voxel| voxel.map(f64::from));
        let middle = [0, 1, 2].map(|a| (min[a] + max[a] + 1.0) / 2.0);
        let is_small = camera.pixels_per_voxel(middle) < A_FEW;
        let rays = SKY_RAYS[usize::from(is_small)];
        let to_sky_of = |face: Face| to_sky(face.normal().map(f64::from), rays);
        let [x, y, z] = faces.map(|pair| pair.map(to_sky_of));
        let ([x0, x1], [y0, y1], [z0, z1]) = (x, y, z);
        let nothing =
            Surface { key: 0, albedo: [0.0; 3], sky: 0.0, is_lit: None, corners: [0.0; 4] };
        Self {
            scene,
            camera,
            options,
            light: Light::new(camera, samples),
            to_sky: [x0, x1, y0, y1, z0, z1],
            ground,
            is_small,
            seen: vec![nothing; SEEN],
        }
    }

    /// The pixel of a column and a row.
    pub(super) fn pixel(&mut self, at: [usize; 2]) -> Rgba {
        let last = self.options.samples as usize - 1;
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
        let samples = self.options.samples as usize;
        let at = [0, 1].map(|i| (part[i] as f64 + 0.5) / samples as f64 + pixel[i] as f64);
        let number = part[1] * samples + part[0];
        let ray = self.camera.ray(at);
        match ray.and_then(|ray| Some((ray, self.scene.first_hit(&ray)?))) {
            Some((ray, hit)) => self.voxel(&ray, &hit, number),
            None => {
                let (light, of) = ray.map_or((1.0, 0), |ray| self.light_on_ground(&ray, number));
                let color = self.background(at[1]).map(|color| color.map(|c| c * light));
                Sample { of, color }
            }
        }
    }

    fn background(&self, row: f64) -> Option<Color> {
        match self.options.background {
            Background::Transparent => None,
            Background::Color(color) => Some(linear(color)),
            Background::Gradient => {
                let [top, bottom] = GRADIENT.map(linear);
                let part = (row / f64::from(self.options.size[1])) as f32;
                Some([0, 1, 2].map(|i| top[i] + (bottom[i] - top[i]) * part))
            }
        }
    }

    /// How much light the ground has where the ray meets it, and whether the sun's is missing.
    fn light_on_ground(&self, ray: &Ray, sample: usize) -> (f32, u64) {
        let ground = self.ground.and_then(|ground| Some((ground, ground.met_by(ray)?)));
        let Some((ground, point)) = ground else { return (1.0, 0) };
        let [of_sun, of_sky] = GROUND_SHADES;
        let is_dark = is_dark(self.scene, point, self.light.suns[sample]);
        let sky = 1.0 - of_sky * ground.dark_at(point);
        ((1.0 - of_sun * f32::from(is_dark)) * sky, u64::from(is_dark))
    }

    /// The colour of a voxel where the ray meets it.
    fn voxel(&mut self, ray: &Ray, hit: &Hit, sample: usize) -> Sample {
        let face = hit.face.unwrap_or_else(|| facing(ray));
        let surface = self.surface(hit.voxel, face);
        let point = point_on(ray, hit, face);
        let normal = face.normal().map(f64::from);
        let (u, v) = others(face.axis);
        let within = [u, v].map(|a| (point[a] - f64::from(hit.voxel[a])) as f32);

        let towards = dot(normal, self.light.sun) as f32;
        let is_lit = surface.is_lit.unwrap_or_else(|| {
            let off = add_scaled(point, OFF, normal);
            towards > 0.0 && !is_dark(self.scene, off, self.light.suns[sample])
        });
        let sun = if is_lit { towards } else { 0.0 };
        let above = (dot(normal, self.camera.world_up) as f32 + 1.0) / 2.0;
        let sky = surface.sky * bilinear(surface.corners, within);
        let (edge, is_edge) = self.edge(point, within);
        let color = [0, 1, 2].map(|i| {
            let around = GROUND_LIGHT[i] + (SKY_LIGHT[i] - GROUND_LIGHT[i]) * above;
            let light = SUN_LIGHT[i] * sun + around * sky;
            (surface.albedo[i] * light * edge).min(1.0)
        });
        let of = surface.key << 2 | u64::from(is_lit) << 1 | u64::from(is_edge);
        Sample { of, color: Some(color) }
    }

    /// How light a place in the face of a voxel is, which is darker at its edges, and whether it is there.
    fn edge(&self, point: Vec3, within: [f32; 2]) -> (f32, bool) {
        let pixels = self.camera.pixels_per_voxel(point) as f32;
        let strength = EDGE_SHADE * ((pixels - EDGES[0]) / (EDGES[1] - EDGES[0])).clamp(0.0, 1.0);
        let from_edge = within.map(|c| c.min(1.0 - c));
        let is_edge = from_edge[0].min(from_edge[1]) * pixels < EDGE_WIDTH;
        (if is_edge { 1.0 - strength } else { 1.0 }, is_edge && strength > 0.0)
    }

    fn surface(&mut self, voxel: [u32; 3], face: Face) -> Surface {
        let [x, y, z] = voxel.map(u64::from);
        let side = 2 * face.axis as u64 + u64::from(face.is_upper) + 1;
        let key = side << 48 | z << 32 | y << 16 | x;
        // As bricks are spread, by the golden ratio.
        let place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SEEN.ilog2())) as usize;
        if self.seen[place].key != key {
            self.seen[place] = self.look_at(key, voxel, face);
        }
        self.seen[place]
    }

    fn look_at(&self, key: u64, voxel: [u32; 3], face: Face) -> Surface {
        let color = self.scene.grid().colors.as_ref().map_or(PLAIN, |colors| colors.of(voxel));
        let [r, g, b, _] = color;
        let normal = face.normal().map(f64::from);
        let middle = voxel.map(|c| f64::from(c) + 0.5);
        let outside = add_scaled(middle, 0.5 + OFF, normal);
        let directions = &self.to_sky[2 * face.axis + usize::from(face.is_upper)];
        let dark = directions.iter().filter(|&&to| is_dark(self.scene, outside, to)).count();
        let seen = 1.0 - dark as f32 / directions.len() as f32;
        let sky = BOUNCED + (1.0 - BOUNCED) * seen;
        let sun = self.light.sun;
        let is_lit = || dot(normal, sun) > 0.0 && !is_dark(self.scene, outside, sun);
        let is_lit = self.is_small.then(is_lit);
        Surface { key, albedo: linear([r, g, b]), sky, is_lit, corners: self.corners(voxel, face) }
    }

    /// The light at the corners of a face, by the voxels about them that stand out.
    fn corners(&self, voxel: [u32; 3], face: Face) -> [f32; 4] {
        let normal = face.normal();
        let (u, v) = others(face.axis);
        let stands = |along: [i32; 2]| {
            let mut at: [i32; 3] = std::array::from_fn(|a| voxel[a] as i32 + normal[a]);
            at[u] += along[0];
            at[v] += along[1];
            usize::from(self.scene.contains(at))
        };
        [[-1, -1], [1, -1], [-1, 1], [1, 1]].map(|[i, j]| {
            let sides = [stands([i, 0]), stands([0, j])];
            match sides {
                [1, 1] => CORNER_LIGHT[0],
                [a, b] => CORNER_LIGHT[3 - a - b - stands([i, j])],
            }
        })
    }
}

/// The pixel that has these samples.
fn mean(samples: impl IntoIterator<Item = Sample>) -> Rgba {
    let (mut sum, mut covered, mut all) = ([0.0; 3], 0.0, 0.0);
    for sample in samples {
        all += 1.0;
        if let Some(color) = sample.color {
            sum = [0, 1, 2].map(|i| sum[i] + color[i]);
            covered += 1.0;
        }
    }
    let light = sum.map(|light| (light / f32::max(covered, 1.0) * 65535.0 + 0.5) as u16);
    let [r, g, b] = light.map(srgb_of);
    [r, g, b, (covered / all * 255.0 + 0.5) as u8]
}

/// The face that a ray looks at which begins in its voxel.
fn facing(ray: &Ray) -> Face {
    let direction = ray.direction();
    let longer = |a: usize, b: usize| if direction[b].abs() > direction[a].abs() { b } else { a };
    let axis = longer(longer(0, 1), 2);
    Face { axis, is_upper: direction[axis] < 0.0 }
}

/// Where a ray meets a face: exactly in its plane, and not past its edges.
fn point_on(ray: &Ray, hit: &Hit, face: Face) -> Vec3 {
    let point = ray.at(hit.distance);
    std::array::from_fn(|a| {
        let low = f64::from(hit.voxel[a]);
        match a == face.axis {
            true => low + f64::from(u8::from(face.is_upper)),
            false => point[a].clamp(low, low + 1.0),
        }
    })
}

/// The two other axes.
fn others(axis: usize) -> (usize, usize) {
    ((axis + 1) % 3, (axis + 2) % 3)
}

fn bilinear([a, b, c, d]: [f32; 4], [u, v]: [f32; 2]) -> f32 {
    let (lower, upper) = (a + (b - a) * u, c + (d - c) * u);
    lower + (upper - lower) * v
}

fn linear(color: [u8; 3]) -> Color {
    color.map(|c| f32::from(linear_of(c)) / 65535.0)
}
