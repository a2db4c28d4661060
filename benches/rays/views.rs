//! The rays: those of a picture, and those that go on from what it shows. Their numbers are floats,
//! too, without rounding, so that everybody follows the same.

use fastrand::Rng;
use trivox::VoxelGrid;
use trivox::view::render::{Camera, RenderOptions};
use trivox::view::trace::{Face, Hit, Ray, Scene};

use crate::common::Result;

/// Places along a voxel's side at which sky rays begin: with them, a place in a grid of 16,384
/// voxels an axis is a number of 24 bits.
const PLACES: u32 = 1024;

/// Of a voxel: how far from its face a sky ray begins.
const OFF: f64 = 1.0 / 64.0;

/// The rays through the pixels of a square picture that shows all of the grid, row by row.
pub fn primary_rays(grid: &VoxelGrid, side: u32) -> Result<Vec<Ray>> {
    let up = grid.world.up;
    let camera = Camera::new(grid, up, &RenderOptions::new([side; 2]))?;
    let [right, up, back] = camera.axes;
    let [left, top] = camera.film_corner;
    let eye = camera.eye.map(f64::round);
    let place = |pixel: u32| (f64::from(pixel) + 0.5) * camera.pixel_side;
    let pixels = (0..side).flat_map(|row| (0..side).map(move |column| [column, row]));
    let rays = pixels.map(|[column, row]| {
        let (x, y) = (left + place(column), top - place(row));
        Ray::new(eye, std::array::from_fn(|a| x * right[a] + y * up[a] - back[a]))
    });
    Ok(rays.collect::<std::result::Result<_, _>>()?)
}

/// As many rays as there are `primary` ones: from the faces that these hit, in their order, each to
/// a random side of the face's half of the sky.
pub fn sky_rays(scene: &Scene, primary: &[Ray]) -> Result<Vec<Ray>> {
    let mut rng = Rng::with_seed(1);
    let hits = primary.iter().filter_map(|ray| scene.first_hit(ray));
    let faces: Vec<([u32; 3], Face)> =
        hits.filter_map(|Hit { voxel, face, .. }| Some((voxel, face?))).collect();
    let each = (0..primary.len()).map(|i| faces[i * faces.len() / primary.len()]);
    let rays = each.map(|(voxel, face)| sky_ray(&mut rng, voxel, face));
    rays.collect()
}

fn sky_ray(rng: &mut Rng, voxel: [u32; 3], face: Face) -> Result<Ray> {
    let in_face = if face.is_upper { 1.0 + OFF } else { -OFF };
    let origin = std::array::from_fn(|a| {
        let place = f64::from(rng.u32(1..PLACES)) / f64::from(PLACES);
        f64::from(voxel[a]) + if a == face.axis { in_face } else { place }
    });
    let mut direction = in_ball(rng);
    let length = direction[face.axis].abs();
    direction[face.axis] = if face.is_upper { length } else { -length };
    Ok(Ray::new(origin, direction)?)
}

/// A random point in the ball of radius 1, not at its centre: each direction is as likely.
fn in_ball(rng: &mut Rng) -> [f64; 3] {
    loop {
        let point = [0; 3].map(|_| 2.0 * rng.f64() - 1.0);
        let square: f64 = point.iter().map(|c| c * c).sum();
        if (1e-6..1.0).contains(&square) {
            return point;
        }
    }
}
