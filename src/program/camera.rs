//! The camera of a picture for other renderers, in the mesh's axes and units, in which written
//! files lie too.

use serde::Serialize;
use trivox::view::render::{Camera, Projection, RenderError, RenderOptions};
use trivox::{Place, VoxelGrid};

/// The camera in the output of `render --json`.
#[derive(Debug, Serialize)]
pub struct CameraReport {
    projection: &'static str,
    eye: [f64; 3],
    /// Unit vectors to the right and upwards in the picture.
    right: [f64; 3],
    up: [f64; 3],
    /// The unit vector against the direction of view.
    back: [f64; 3],
    /// The left, right, bottom and top edge of the picture, as in pbrt's `screenwindow`: in mesh
    /// units for an orthographic camera; at distance 1 from the eye for a perspective camera.
    screen_window: [f64; 4],
}

impl CameraReport {
    /// The camera that frames `grid`.
    ///
    /// # Errors
    /// Invalid options.
    pub fn new(grid: &VoxelGrid, options: &RenderOptions) -> Result<Self, RenderError> {
        let Place { origin, voxel_size } = grid.world.place.unwrap_or_default();
        let camera = Camera::new(grid, grid.world.up, options)?;
        let eye = camera.eye();
        let [right, above, back] = camera.axes();
        let (projection, unit) = match camera.projection() {
            Projection::Perspective => ("perspective", 1.0),
            Projection::Orthographic => ("orthographic", voxel_size),
        };
        let [left, top] = camera.film_corner();
        let [width, height] = options.size.map(|side| f64::from(side) * camera.pixel_side());
        Ok(Self {
            projection,
            eye: [0, 1, 2].map(|a| origin[a] + voxel_size * eye[a]),
            right,
            up: above,
            back,
            screen_window: [left, left + width, top - height, top].map(|edge| edge * unit),
        })
    }
}
