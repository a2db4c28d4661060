//! The camera: its view of a grid, projection and framing. All views of a turntable have the same
//! framing.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

use crate::base::names::named;
use crate::base::vector::{Vector, cross, dot, minus, norm, plus, rotated, sin_cos, times};
use crate::grid::{Up, VoxelGrid, run_bounds};
use crate::view::render::{RenderError, RenderOptions};

/// The viewing direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum View {
    /// From the front: looking along the mesh's -z axis, or along +y where z is up.
    Front,
    /// From behind.
    Back,
    /// From the left: looking along +x.
    Left,
    /// From the right: looking along -x.
    Right,
    /// From above; the front is at the bottom of the picture.
    Top,
    /// From below; the front is at the top of the picture.
    Bottom,
    /// From the front, the right and above, so that the three axes have equal angles and equal
    /// scales in the picture: azimuth 45 degrees, elevation atan(1 / sqrt 2), orthographic.
    Iso,
    /// From the front, the right and above, in perspective: azimuth 38 degrees, elevation 28
    /// degrees.
    #[default]
    ThreeQuarter,
}

named!(View, "view", {
    ThreeQuarter = "three-quarter",
    Iso = "iso",
    Front = "front",
    Back = "back",
    Left = "left",
    Right = "right",
    Top = "top",
    Bottom = "bottom",
});

/// The projection of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// Perspective projection.
    Perspective,
    /// Parallel projection, perpendicular to the film.
    Orthographic,
}

named!(Projection, "camera", { Perspective = "perspective", Orthographic = "orthographic" });

/// Sine of half the angle that the grid's bounding sphere subtends: about 30 degrees in total.
const HALF_ANGLE_SINE: f64 = 0.26;

/// Sides of a polygon circumscribed about a circle; the radius to its corners is 0.1 % larger.
const SIDES: u32 = 72;

/// Cosine and sine of an angle.
type Angle = [f64; 2];

/// Azimuth and elevation of [`View::Iso`].
const ISO: [Angle; 2] =
    [[FRAC_1_SQRT_2, FRAC_1_SQRT_2], [0.816_496_580_927_726, 0.577_350_269_189_625_7]];

/// Azimuth and elevation of [`View::ThreeQuarter`].
const THREE_QUARTER: [Angle; 2] = [
    [0.788_010_753_606_722, 0.615_661_475_325_658],
    [0.882_947_592_858_927, 0.469_471_562_785_891],
];

impl View {
    /// Azimuth, from the front to the right, and elevation of the direction to the eye.
    fn angles(self) -> [Angle; 2] {
        let degrees = match self {
            Self::Front => [0.0, 0.0],
            Self::Right => [90.0, 0.0],
            Self::Back => [180.0, 0.0],
            Self::Left => [270.0, 0.0],
            Self::Top => [0.0, 90.0],
            Self::Bottom => [0.0, 270.0],
            Self::Iso => return ISO,
            Self::ThreeQuarter => return THREE_QUARTER,
        };
        degrees.map(angle)
    }

    fn projection(self) -> Projection {
        match self {
            Self::ThreeQuarter => Projection::Perspective,
            _ => Projection::Orthographic,
        }
    }
}

fn angle(degrees: f64) -> Angle {
    let (sin, cos) = sin_cos(degrees);
    [cos, sin]
}

/// The direction with this azimuth and elevation, by right, up and front.
fn direction([[cos_a, sin_a], [cos_e, sin_e]]: [Angle; 2]) -> Vector {
    [sin_a * cos_e, sin_e, cos_a * cos_e]
}

/// The directions to the eye and to the picture's upper edge, by right, up and front.
fn to_eye_and_up(options: &RenderOptions) -> [Vector; 2] {
    let of_view = options.view.angles();
    let given = [options.azimuth, options.elevation].map(|degrees| degrees.map(angle));
    let angles = [0, 1].map(|i| given[i].unwrap_or(of_view[i]));
    let [azimuth, [cos_e, sin_e]] = angles;
    [direction(angles), direction([azimuth, [-sin_e, cos_e]])]
}

/// A direction by right, up and front, in the grid's axes.
fn in_world(up_axis: Up, [right, up, front]: Vector) -> Vector {
    let direction = match up_axis {
        Up::Y => [right, up, front],
        Up::Z => [right, -front, up],
    };
    // No -0, which would be printed.
    direction.map(|c| c + 0.0)
}

/// The origins of the rays of a picture, in voxels from the grid's corner.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Camera {
    /// How the picture is projected.
    pub projection: Projection,
    /// The orthonormal axes: right and up in the picture, and towards the eye.
    pub axes: [[f64; 3]; 3],
    /// The position of the eye, in voxels from the grid's minimum corner.
    pub eye: [f64; 3],
    /// The picture's top left corner on the film, right of and above the eye, in voxels. The film
    /// of a perspective camera is at distance 1.
    pub film_corner: [f64; 2],
    /// The side of a pixel on the film, in voxels.
    pub pixel_side: f64,
    /// Up in the world.
    pub(crate) world_up: Vector,
    pub(crate) up_axis: Up,
}

impl Camera {
    /// One that has all of `grid` in the picture, at a zoom of 1.
    ///
    /// # Errors
    /// As [`RenderOptions::check`].
    pub fn new(
        grid: &VoxelGrid,
        up_axis: Up,
        options: &RenderOptions,
    ) -> Result<Self, RenderError> {
        options.check()?;
        let turn = options.turn.unwrap_or(0.0);
        let [back, up] =
            to_eye_and_up(options).map(|v| in_world(up_axis, rotated(v, 1, sin_cos(turn))));

        let whole = [[0; 3], grid.dims().map(|d| d - 1)];
        let [min, max] = grid.occupied_bounds().unwrap_or(whole).map(|voxel| voxel.map(f64::from));
        let center = std::array::from_fn(|a| (min[a] + max[a] + 1.0) / 2.0);
        let half: Vector = std::array::from_fn(|a| (max[a] + 1.0 - min[a]) / 2.0);
        let radius = norm(half);
        let mut camera = Self {
            projection: options.projection.unwrap_or(options.view.projection()),
            axes: [cross(up, back), up, back],
            eye: plus(times(back, radius / HALF_ANGLE_SINE), center),
            film_corner: [0.0; 2],
            pixel_side: 1.0,
            world_up: in_world(up_axis, [0.0, 1.0, 0.0]),
            up_axis,
        };
        camera.frame(grid, options, center);
        Ok(camera)
    }

    /// The direction with this azimuth and elevation in degrees, in the grid's axes.
    pub(crate) fn world_direction(&self, [azimuth, elevation]: [f64; 2]) -> Vector {
        in_world(self.up_axis, direction([azimuth, elevation].map(angle)))
    }

    /// Places the film so that it shows all of the grid; for a turntable, at every turn about
    /// `center`.
    fn frame(&mut self, grid: &VoxelGrid, options: &RenderOptions, center: Vector) {
        let (mut min, mut max) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        let show = |point: Vector| {
            let [point, _] = self.project(point);
            min = [0, 1].map(|i| min[i].min(point[i]));
            max = [0, 1].map(|i| max[i].max(point[i]));
        };
        let whole = [[0; 3], grid.dims().map(|d| d - 1)];
        let runs = grid.brick_runs().map(|run| run_bounds(run.start, run.len, &run.mask));
        let is_empty = grid.brick_count() == 0;
        let boxes = runs.chain(is_empty.then_some(whole));
        match options.turn {
            Some(_) => swept(boxes, center, self.up_axis.axis()).into_iter().for_each(show),
            None => boxes.flat_map(corners).for_each(show),
        }
        let size = options.size.map(f64::from);
        let room = 1.0 - 2.0 * options.margin;
        let pixel = |i: usize| (max[i] - min[i]) / (size[i] * room);
        self.pixel_side = pixel(0).max(pixel(1)) / options.zoom;
        let center = [0, 1].map(|i| (min[i] + max[i]) / 2.0);
        let side = self.pixel_side;
        self.film_corner = [center[0] - size[0] / 2.0 * side, center[1] + size[1] / 2.0 * side];
    }

    /// Projects a point to the film; also returns its depth along the viewing direction.
    pub(crate) fn project(&self, point: Vector) -> [[f64; 2]; 2] {
        let from_eye = minus(point, self.eye);
        let [x, y, back] = self.axes.map(|axis| dot(from_eye, axis));
        let depth = -back;
        match self.projection {
            Projection::Perspective => [[x / depth, y / depth], [depth; 2]],
            Projection::Orthographic => [[x, y], [depth; 2]],
        }
    }

    /// The film coordinate along an axis (0: right, 1: up) of a position in the picture, in pixels
    /// from its top left corner.
    pub(crate) fn on_film(&self, axis: usize, pixels: f64) -> f64 {
        match axis {
            0 => self.film_corner[0] + pixels * self.pixel_side,
            _ => self.film_corner[1] - pixels * self.pixel_side,
        }
    }

    /// The inverse of [`on_film`](Self::on_film).
    pub(crate) fn in_pixels(&self, axis: usize, on_film: f64) -> f64 {
        let from_corner = on_film - self.film_corner[axis];
        if axis == 0 { from_corner / self.pixel_side } else { -from_corner / self.pixel_side }
    }

    /// The width of a pixel at a point, in voxels.
    pub(crate) fn voxels_per_pixel(&self, point: Vector) -> f64 {
        let depth = match self.projection {
            Projection::Perspective => dot(minus(self.eye, point), self.axes[2]),
            Projection::Orthographic => 1.0,
        };
        self.pixel_side * depth
    }
}

/// The corners of a box of voxels, inclusive.
fn corners([min, max]: [[u32; 3]; 2]) -> impl Iterator<Item = Vector> {
    (0..8).map(move |corner| {
        [0, 1, 2].map(|a| match corner >> a & 1 {
            0 => f64::from(min[a]),
            _ => f64::from(max[a]) + 1.0,
        })
    })
}

/// Points whose convex hull contains `boxes` (first and last voxel of each) at every turn about the
/// line through `center` along `up`: polygons circumscribed about the circles of the outermost
/// corners.
fn swept(boxes: impl Iterator<Item = [[u32; 3]; 2]>, center: Vector, up: usize) -> Vec<Vector> {
    let level = [(up + 1) % 3, (up + 2) % 3];
    let polygon = (0..SIDES).map(|side| sin_cos(360.0 / f64::from(SIDES) * f64::from(side)));
    let polygon: Vec<(f64, f64)> = polygon.collect();
    let (_, of_sides) = sin_cos(180.0 / f64::from(SIDES));
    // By the lowest height of boxes, a cylinder about the axis: its highest height and its radius.
    let mut cylinders = BTreeMap::<u32, [f64; 2]>::new();
    for [min, max] in boxes {
        let [low, high] = [min.map(f64::from), max.map(|c| f64::from(c) + 1.0)];
        let [x, y] = level.map(|a| (center[a] - low[a]).max(high[a] - center[a]));
        let [top, radius] = cylinders.entry(min[up]).or_default();
        *top = top.max(high[up]);
        // Not `hypot`, whose result differs between platforms.
        *radius = radius.max((x * x + y * y).sqrt());
    }
    let mut points = Vec::new();
    for (low, [top, radius]) in cylinders {
        for height in [f64::from(low), top] {
            points.extend(polygon.iter().map(|(sin, cos)| {
                let mut point = center;
                point[up] = height;
                point[level[0]] += radius / of_sides * cos;
                point[level[1]] += radius / of_sides * sin;
                point
            }));
        }
    }
    points
}
