//! A small ray tracer on the library, to start your own from: mesh to voxels to picture.
//!
//! `cargo run --release --example raytrace -- assets/lighthouse.obj 96 picture.png`

use anyhow::{Context, Result, bail};
use image::{Rgb, RgbImage};
use rayon::prelude::*;
use trivox::base::srgb::{linear_of, srgb_of};
use trivox::view::trace::{Ray, Scene};
use trivox::{ColorOptions, Cpu, Mode, NoProgress, PlaceOptions, Sizing, voxelize};

type Vec3 = [f64; 3];

/// From a point below the middle of the grid to the eye, in units of its longest side.
const TO_EYE: Vec3 = [0.96, 0.90, 1.42];
/// Width and height of the image plane at distance 1.
const FILM: f64 = 0.94;
/// Unit vector.
const TO_SUN: Vec3 = [-0.64, 0.60, 0.48];
/// Radiance in linear light, and the albedo of the ground.
const SUN: Vec3 = [0.95, 0.80, 0.58];
const SKY: Vec3 = [0.32, 0.40, 0.52];
const GROUND: Vec3 = [0.66, 0.62, 0.55];
/// Camera rays per pixel. Each hit adds a shadow ray to the sun and one ray to the sky.
const RAYS: u32 = 64;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mesh, resolution, picture] = &args[..] else { bail!("use MESH RESOLUTION PICTURE.png") };
    let resolution = resolution.parse().context("RESOLUTION is a number of voxels")?;
    draw(mesh, resolution, 480).context(mesh.clone())?.save(picture).context(picture.clone())
}

/// Reads, places, voxelizes, colours and draws a mesh.
pub(crate) fn draw(mesh: &str, resolution: u32, side: u32) -> Result<RgbImage> {
    let mesh = trivox::formats::read_mesh(mesh)?.mesh;
    let placed = trivox::place(&mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
    let grid = voxelize(&Cpu, &placed, Mode::Surface, &Default::default(), &NoProgress)?.grid;
    let colors = ColorOptions::new(Mode::Surface);
    let grid = trivox::color(&placed, grid, &colors, &NoProgress)?.0;
    let scene = Scene::new(&grid);

    let [x, y, z] = grid.dims().map(f64::from);
    let eye = add([0.5 * x, 0.36 * y, 0.5 * z], f64::from(resolution), TO_EYE);
    let back = normalized(TO_EYE);
    let right = normalized([back[2], 0.0, -back[0]]);
    let up = normalized(add([0.0, 1.0, 0.0], -back[1], back));
    let mut picture = RgbImage::new(side, side);
    let pixels = picture.enumerate_rows_mut().par_bridge().flat_map_iter(|(_, row)| row);
    pixels.for_each(|(column, row, pixel)| {
        let mut sum = [0.0; 3];
        for n in 0..RAYS {
            let [u, v, _] = spread(n);
            let x = (f64::from(column) + u) / f64::from(side) - 0.5;
            let y = 0.5 - (f64::from(row) + v) / f64::from(side);
            let direction = add(add(back.map(|c| -c), FILM * x, right), FILM * y, up);
            sum = add(sum, 1.0 / f64::from(RAYS), light(&scene, eye, direction, n));
        }
        *pixel = Rgb(sum.map(|c| srgb_of((c * 65535.0) as u16)));
    });
    Ok(picture)
}

/// Radiance that reaches `eye` from `direction`.
fn light(scene: &Scene, eye: Vec3, direction: Vec3, n: u32) -> Vec3 {
    let Ok(ray) = Ray::new(eye, direction) else { return SKY };
    let (point, normal, albedo) = if let Some(hit) = scene.first_hit(&ray) {
        let Some(face) = hit.face else { return [0.0; 3] }; // The eye is in a voxel.
        let color = scene.grid().colors.as_ref().map_or([220; 4], |colors| colors.of(hit.voxel));
        let albedo = [0, 1, 2].map(|i| f64::from(linear_of(color[i])) / 65535.0);
        (ray.at(hit.distance), face.normal().map(f64::from), albedo)
    } else if direction[1] < 0.0 {
        (add(eye, -eye[1] / direction[1], direction), [0.0, 1.0, 0.0], GROUND)
    } else {
        return SKY;
    };
    // The offset keeps a secondary ray from hitting the face that it starts on.
    let from = add(point, 0.001, normal);
    let arrives = |to| Ray::new(from, to).is_ok_and(|ray| scene.first_hit(&ray).is_none());
    let facing: f64 = (0..3).map(|i| normal[i] * TO_SUN[i]).sum();
    let sun = if arrives(TO_SUN) { facing.max(0.0) } else { 0.0 };
    let aside = normalized(spread(n).map(|c| c - 0.5));
    let sky = if arrives(add(normal, 0.99, aside)) { 1.0 } else { 0.1 };
    [0, 1, 2].map(|i| (albedo[i] * (SUN[i] * sun + SKY[i] * sky)).min(1.0))
}

/// The `n`th point of the low-discrepancy sequence R3 in the unit cube (M. Roberts, 2018).
fn spread(n: u32) -> Vec3 {
    [0.819_172_513, 0.671_043_607, 0.549_700_478].map(|step| (f64::from(n) * step).fract())
}

fn add(a: Vec3, s: f64, b: Vec3) -> Vec3 {
    [0, 1, 2].map(|i| a[i] + s * b[i])
}

fn normalized(v: Vec3) -> Vec3 {
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    v.map(|c| c / length)
}
