//! Turntable views about the up axis with a common framing.

use std::collections::BTreeMap;

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
