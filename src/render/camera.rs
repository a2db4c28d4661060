//! From where a grid is seen, and the rays through the pixels.

use crate::grid::{Up, VoxelGrid, run_bounds};
use crate::render::RenderOptions;
use crate::render::orbit::{swept, turned};

/// From where a grid is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// From the front: against the mesh's z axis, or along its y axis where z is up.
    Front,
    /// From behind.
    Back,
    /// From the left: along the x axis.
    Left,
    /// From the right: against the x axis.
    Right,
    /// From above, the front below.
    Top,
    /// From below, the front above.
    Bottom,
    /// From the front, the right and above.
    #[default]
    Iso,
}

/// How the picture is projected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// What is nearer is larger.
    Perspective,
    /// What is parallel remains so.
    Orthographic,
}

pub(super) type Vec3 = [f64; 3];

pub(super) fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `s a + b`.
pub(super) fn add_scaled(b: Vec3, s: f64, a: Vec3) -> Vec3 {
    std::array::from_fn(|i| s * a[i] + b[i])
}

pub(super) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn normalized(v: Vec3) -> Vec3 {
    let length = dot(v, v).sqrt();
    v.map(|c| c / length)
}

/// Half the angle under which the sphere about the grid is seen, as a sine: a lens of a length that shows
/// things as they are remembered.
const HALF_ANGLE_SINE: f64 = 0.26;

/// Horizontal and vertical direction of [`View::Iso`]: to the right and above, as cosine and sine.
const ISO_AZIMUTH: [f64; 2] = [0.788_010_753_606_722, 0.615_661_475_325_658];
const ISO_ELEVATION: [f64; 2] = [0.882_947_592_858_927, 0.469_471_562_785_891];

impl View {
    /// To the eye, and what is up in the picture; by right, up and front.
    fn to_eye_and_up(self) -> [Vec3; 2] {
        let up = [0.0, 1.0, 0.0];
        match self {
            Self::Front => [[0.0, 0.0, 1.0], up],
            Self::Back => [[0.0, 0.0, -1.0], up],
            Self::Left => [[-1.0, 0.0, 0.0], up],
            Self::Right => [[1.0, 0.0, 0.0], up],
            Self::Top => [[0.0, 1.0, 0.0], [0.0, 0.0, -1.0]],
            Self::Bottom => [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
            Self::Iso => {
                let ([cos_a, sin_a], [cos_e, sin_e]) = (ISO_AZIMUTH, ISO_ELEVATION);
                [[sin_a * cos_e, sin_e, cos_a * cos_e], [-sin_a * sin_e, cos_e, -cos_a * sin_e]]
            }
        }
    }

    fn projection(self) -> Projection {
        match self {
            Self::Iso => Projection::Perspective,
            _ => Projection::Orthographic,
        }
    }
}

/// Where the rays of a picture come from, in voxels from the grid's corner.
#[derive(Debug, Clone)]
pub struct Camera {
    pub(super) projection: Projection,
    /// To the right and up in the picture, and towards the eye: of length 1, at right angles.
    pub(super) right: Vec3,
    pub(super) up: Vec3,
    pub(super) back: Vec3,
    /// What is up in the world.
    pub(super) world_up: Vec3,
    pub(super) up_axis: Up,
    pub(super) eye: Vec3,
    /// The film is at distance 1 from the eye of a perspective camera: the corner at the top left, and
    /// the side of a pixel.
    corner: [f64; 2],
    pixel: f64,
}

impl Camera {
    /// One that has all of `grid` in the picture.
    #[must_use]
    pub fn new(grid: &VoxelGrid, up_axis: Up, options: &RenderOptions) -> Self {
        // Right, up and front, by the axes.
        let [world_up, front] = match up_axis {
            Up::Y => [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Up::Z => [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
        };
        let axes = [[1.0, 0.0, 0.0], world_up, front];
        let of_world =
            |v: Vec3| -> Vec3 { [0, 1, 2].map(|i| (0..3).map(|j| axes[j][i] * v[j]).sum()) };
        let turn = options.turn.unwrap_or(0.0);
        let [back, up] = options.view.to_eye_and_up().map(|v| of_world(turned(v, turn)));

        let whole = [[0; 3], grid.dims().map(|d| d - 1)];
        let [min, max] = grid.occupied_bounds().unwrap_or(whole).map(|voxel| voxel.map(f64::from));
        let center = std::array::from_fn(|a| (min[a] + max[a] + 1.0) / 2.0);
        let half: Vec3 = std::array::from_fn(|a| (max[a] + 1.0 - min[a]) / 2.0);
        let radius = dot(half, half).sqrt();
        let mut camera = Self {
            projection: options.projection.unwrap_or(options.view.projection()),
            right: cross(up, back),
            up,
            back,
            world_up,
            up_axis,
            eye: add_scaled(center, radius / HALF_ANGLE_SINE, back),
            corner: [0.0; 2],
            pixel: 1.0,
        };
        camera.frame(grid, options, center);
        camera
    }

    /// How the picture is projected.
    #[must_use]
    pub fn projection(&self) -> Projection {
        self.projection
    }

    /// Where the picture is seen from, in voxels from the grid's corner.
    #[must_use]
    pub fn eye(&self) -> [f64; 3] {
        self.eye
    }

    /// To the right in the picture, up in it, and from it towards the eye: of length 1, at right angles.
    #[must_use]
    pub fn axes(&self) -> [[f64; 3]; 3] {
        [self.right, self.up, self.back]
    }

    /// Where the picture's top left corner is on the film, to the right of the eye and above it: in voxels,
    /// for a perspective camera at distance 1.
    #[must_use]
    pub fn film_corner(&self) -> [f64; 2] {
        self.corner
    }

    /// The side of a pixel on the film.
    #[must_use]
    pub fn pixel_side(&self) -> f64 {
        self.pixel
    }

    /// Moves the film so that it shows all of the grid, however it is turned about its `center` if it is.
    fn frame(&mut self, grid: &VoxelGrid, options: &RenderOptions, center: Vec3) {
        let (mut min, mut max) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        let show = |point: Vec3| {
            let [point, _] = self.project(point);
            min = [0, 1].map(|i| min[i].min(point[i]));
            max = [0, 1].map(|i| max[i].max(point[i]));
        };
        let whole = [[0; 3], grid.dims().map(|d| d - 1)];
        let pieces = grid.brick_runs().map(|piece| run_bounds(piece.start, piece.len, &piece.mask));
        let is_empty = grid.brick_count() == 0;
        let boxes = pieces.chain(is_empty.then_some(whole));
        match options.turn {
            Some(_) => {
                let world_up = if self.world_up[1] > 0.5 { 1 } else { 2 };
                swept(boxes, center, world_up).for_each(show);
            }
            None => boxes.flat_map(corners).for_each(show),
        }
        let size = options.size.map(f64::from);
        let room = 1.0 - 2.0 * options.margin;
        let pixel = |i: usize| (max[i] - min[i]) / (size[i] * room);
        self.pixel = pixel(0).max(pixel(1));
        let center = [0, 1].map(|i| (min[i] + max[i]) / 2.0);
        self.corner =
            [center[0] - size[0] / 2.0 * self.pixel, center[1] + size[1] / 2.0 * self.pixel];
    }

    /// Where a point is on the film, and how far it is from the eye, along the camera.
    fn project(&self, point: Vec3) -> [[f64; 2]; 2] {
        let from_eye = add_scaled(point, -1.0, self.eye);
        let (x, y, depth) =
            (dot(from_eye, self.right), dot(from_eye, self.up), -dot(from_eye, self.back));
        match self.projection {
            Projection::Perspective => [[x / depth, y / depth], [depth; 2]],
            Projection::Orthographic => [[x, y], [depth; 2]],
        }
    }

    /// A place along an axis of the film, to the right or up, of one in the picture, in pixels from its
    /// top left corner.
    pub(super) fn on_film(&self, axis: usize, pixels: f64) -> f64 {
        match axis {
            0 => self.corner[0] + pixels * self.pixel,
            _ => self.corner[1] - pixels * self.pixel,
        }
    }

    /// How many voxels a pixel covers at a point.
    pub(super) fn voxels_per_pixel(&self, point: Vec3) -> f64 {
        let depth = match self.projection {
            Projection::Perspective => dot(add_scaled(self.eye, -1.0, point), self.back),
            Projection::Orthographic => 1.0,
        };
        self.pixel * depth
    }
}

/// The corners of a box, which its smallest and largest voxel tell.
fn corners([min, max]: [[u32; 3]; 2]) -> impl Iterator<Item = Vec3> {
    (0..8).map(move |corner| {
        [0, 1, 2].map(|a| match corner >> a & 1 {
            0 => f64::from(min[a]),
            _ => f64::from(max[a]) + 1.0,
        })
    })
}
