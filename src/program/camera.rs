//! The camera of a picture, for other renderers: in the mesh's axes and units, where files that are
//! written lie too.

use serde::Serialize;
use trivox::render::{Camera, Projection, RenderOptions};
use trivox::{Up, VoxelGrid, World};

/// VoxelArgs `render --json` says of it.
#[derive(Debug, Serialize)]
pub struct CameraReport {
    projection: &'static str,
    eye: [f64; 3],
    /// In the picture, of length 1, at right angles.
    right: [f64; 3],
    up: [f64; 3],
    /// Against the direction of view.
    back: [f64; 3],
    /// The picture's left, right, bottom and top edge from the line of view, as pbrt has them: in the
    /// mesh's units; for a perspective camera at distance 1 from the eye.
    screen_window: [f64; 4],
}

impl CameraReport {
    /// The camera that has `grid` in its picture.
    pub fn new(grid: &VoxelGrid, options: &RenderOptions) -> Self {
        let unplaced = World { origin: [0.0; 3], voxel_size: 1.0, up: Up::default() };
        let World { origin, voxel_size, up } = grid.world.unwrap_or(unplaced);
        let camera = Camera::new(grid, up, options);
        let eye = camera.eye();
        let [right, above, back] = camera.axes();
        let (projection, unit) = match camera.projection() {
            Projection::Perspective => ("perspective", 1.0),
            Projection::Orthographic => ("orthographic", voxel_size),
        };
        let [left, top] = camera.film_corner();
        let [width, height] = options.size.map(|side| f64::from(side) * camera.pixel_side());
        Self {
            projection,
            eye: [0, 1, 2].map(|a| origin[a] + voxel_size * eye[a]),
            right,
            up: above,
            back,
            screen_window: [left, left + width, top - height, top].map(|edge| edge * unit),
        }
    }
}
