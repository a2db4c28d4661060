//! Convex polygons, cut half-space by half-space (I. Sutherland and G. Hodgman, "Reentrant Polygon
//! Clipping", Communications of the ACM 17(1), 1974).

use std::array::from_fn;

/// The part of a convex polygon with coordinates in `low..=low + 1` along `axis`.
pub fn clip<const N: usize>(polygon: &[[f64; N]], axis: usize, low: f64) -> Vec<[f64; N]> {
    // The part at heights of at least 0.
    let half = |polygon: &[[f64; N]], height: &dyn Fn([f64; N]) -> f64| {
        let mut part = Vec::new();
        for (i, &p) in polygon.iter().enumerate() {
            let q = polygon[(i + 1) % polygon.len()];
            let (g, h) = (height(p), height(q));
            if g >= 0.0 {
                part.push(p);
            }
            if g * h < 0.0 {
                part.push(from_fn(|k| p[k] + (q[k] - p[k]) * g / (g - h)));
            }
        }
        part
    };
    half(&half(polygon, &|p| p[axis] - low), &|p| low + 1.0 - p[axis])
}
