//! Turntable views about the up axis with a common framing.

use crate::base::vector::{Vector, sin_cos};

/// Sides of the polygon circumscribed about a circle; its radius is 0.1 % larger.
const SIDES: u32 = 72;

/// Points whose convex hull contains `boxes` (first and last voxel of each) at every turn about the
/// line through `center` along `up`: polygons circumscribed about the circles of the outermost
/// corners.
pub(super) fn swept(
    boxes: impl Iterator<Item = [[u32; 3]; 2]>,
    center: Vector,
    up: usize,
) -> Vec<Vector> {
    let level = [(up + 1) % 3, (up + 2) % 3];
    let polygon = (0..SIDES).map(|side| sin_cos(360.0 / f64::from(SIDES) * f64::from(side)));
    let polygon: Vec<(f64, f64)> = polygon.collect();
    let (_, of_sides) = sin_cos(180.0 / f64::from(SIDES));
    let mut points = Vec::new();
    for Cylinder { heights, radius } in cylinders(boxes, center, up) {
        for height in heights {
            let corner = |(sin, cos): &(f64, f64)| {
                let mut point = center;
                point[up] = height;
                point[level[0]] += radius / of_sides * cos;
                point[level[1]] += radius / of_sides * sin;
                point
            };
            points.extend(polygon.iter().map(corner));
        }
    }
    points
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
    center: Vector,
    up: usize,
) -> impl IntoIterator<Item = Cylinder> {
    let mut cylinders = std::collections::BTreeMap::<u32, Cylinder>::new();
    for [min, max] in boxes {
        let [low, high] = [min.map(f64::from), max.map(|c| f64::from(c) + 1.0)];
        let farthest = |a: usize| (center[a] - low[a]).max(high[a] - center[a]);
        let [x, y] = [1, 2].map(|offset| farthest((up + offset) % 3));
        // Not `hypot`, whose result differs between platforms.
        let radius = (x * x + y * y).sqrt();
        let heights = [low[up], high[up]];
        let cylinder = cylinders.entry(min[up]).or_insert(Cylinder { heights, radius });
        cylinder.heights[1] = cylinder.heights[1].max(high[up]);
        cylinder.radius = cylinder.radius.max(radius);
    }
    cylinders.into_values()
}
