//! Turntable views about the up axis with a common framing.

use crate::render::camera::Vec3;

/// Sides of the polygon circumscribed about a circle; its radius is 0.1 % larger.
const SIDES: u32 = 72;

/// `v`, in coordinates (right, up, front), turned about the up axis from the front to the right.
/// Quarter turns are exact.
pub(super) fn turned([x, y, z]: Vec3, degrees: f64) -> Vec3 {
    let (sin, cos) = sin_cos(degrees);
    [x * cos + z * sin, y, z * cos - x * sin]
}

pub(super) fn sin_cos(degrees: f64) -> (f64, f64) {
    let turn = degrees.rem_euclid(360.0);
    let quarters = (turn / 90.0).floor();
    let (sin, cos) = libm::sincos((turn - 90.0 * quarters).to_radians());
    match quarters as u8 % 4 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Points whose convex hull contains `boxes` (first and last voxel of each) at every turn about the
/// line through `center` along `up`: polygons circumscribed about the circles of the outermost
/// corners.
pub(super) fn swept(
    boxes: impl Iterator<Item = [[u32; 3]; 2]>,
    center: Vec3,
    up: usize,
) -> impl Iterator<Item = Vec3> {
    let level = [(up + 1) % 3, (up + 2) % 3];
    let polygon = (0..SIDES).map(|side| sin_cos(360.0 / f64::from(SIDES) * f64::from(side)));
    let polygon: Vec<(f64, f64)> = polygon.collect();
    let (_, of_sides) = sin_cos(180.0 / f64::from(SIDES));
    cylinders(boxes, center, up).into_iter().flat_map(move |Cylinder { heights, radius }| {
        let (radius, polygon) = (radius / of_sides, polygon.clone());
        heights.into_iter().flat_map(move |height| {
            polygon.clone().into_iter().map(move |(sin, cos)| {
                let mut point = center;
                point[up] = height;
                point[level[0]] += radius * cos;
                point[level[1]] += radius * sin;
                point
            })
        })
    })
}

/// A cylinder about the axis.
#[derive(Debug, Clone, Copy)]
struct Cylinder {
    heights: [f64; 2],
    radius: f64,
}

/// One cylinder per lowest height of boxes.
fn cylinders(
    boxes: impl Iterator<Item = [[u32; 3]; 2]>,
    center: Vec3,
    up: usize,
) -> impl IntoIterator<Item = Cylinder> {
    let mut cylinders = std::collections::BTreeMap::<u32, Cylinder>::new();
    for [min, max] in boxes {
        let [low, high] = [min.map(f64::from), max.map(|c| f64::from(c) + 1.0)];
        let reach = |a: usize| (center[a] - low[a]).max(high[a] - center[a]);
        let [x, y] = [1, 2].map(|further| reach((up + further) % 3));
        // Not `hypot`, whose result differs between platforms.
        let radius = (x * x + y * y).sqrt();
        let heights = [low[up], high[up]];
        let cylinder = cylinders.entry(min[up]).or_insert(Cylinder { heights, radius });
        cylinder.heights[1] = cylinder.heights[1].max(high[up]);
        cylinder.radius = cylinder.radius.max(radius);
    }
    cylinders.into_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turns_are_exact_and_others_lie_between() {
        let front = [0.0, 0.5, 1.0];
        let turns = [0.0, 90.0, 180.0, 270.0, 360.0, -90.0, -1e-300].map(|t| turned(front, t));
        let [right, back, left] = [[1.0, 0.5, 0.0], [0.0, 0.5, -1.0], [-1.0, 0.5, 0.0]];
        assert_eq!(turns, [front, right, back, left, front, left, front]);
        let [x, _, z] = turned(front, 60.0);
        assert!((x - 0.75_f64.sqrt()).abs() < 1e-15 && (z - 0.5).abs() < 1e-15, "{x}, {z}");
    }

    #[test]
    fn swept_points_are_about_the_boxes_however_they_are_turned() {
        let boxes = [[[0, 0, 0], [3, 1, 0]], [[1, 5, 1], [1, 9, 1]]];
        let center = [2.0, 5.0, 1.0];
        let points: Vec<Vec3> = swept(boxes.into_iter(), center, 1).collect();
        // Far corners are (2, 1) and (1, 1) off the axis.
        for (heights, reach) in [([0.0, 2.0], 5.0_f64.sqrt()), ([5.0, 10.0], 2.0_f64.sqrt())] {
            for height in heights {
                let distances = points
                    .iter()
                    .filter(|point| point[1] == height)
                    .map(|point| [point[0] - center[0], point[2] - center[2]])
                    .map(|[x, z]| (x * x + z * z).sqrt());
                let (low, high) = (reach / (1.0 - 1e-12), reach * 1.001);
                let distances: Vec<f64> = distances.collect();
                assert_eq!(distances.len(), SIDES as usize);
                assert!(distances.iter().all(|d| (low..high).contains(d)), "{distances:?}");
            }
        }
    }
}
