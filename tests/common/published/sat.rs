//! Does a triangle meet an axis-aligned box? The separating axis test, as published.
//!
//! Two convex polyhedra are disjoint if and only if they are separated along a face normal of
//! either or a cross product of an edge of each: S. Gottschalk, M. C. Lin and D. Manocha,
//! "OBBTree: A Hierarchical Structure for Rapid Interference Detection", SIGGRAPH 1996. For a
//! triangle and a box that is thirteen axes: T. Akenine-Möller, "Fast 3D Triangle-Box Overlap
//! Testing", Journal of Graphics Tools 6(1), 2001.
//!
//! All three corners of the triangle and all eight of the box are projected on every axis. That is
//! slow but robust: an inexact axis can miss a separation, but never report one that does not
//! exist. [`moller`](super::moller) is the same test, optimised.
//!
//! Known limits: those of [all these tests](super). Axes are not normalised: an edge parallel to a
//! box normal gives the zero axis, which separates nothing, instead of NaN.

use super::{Aabb, Point, Triangle, cross, dot, sub};

/// Whether `triangle` meets `aabb`.
pub fn overlaps(triangle: &Triangle, aabb: &Aabb) -> bool {
    let corners = aabb.corners();
    !axes(triangle).iter().any(|&axis| separates(axis, triangle, &corners))
}

/// The thirteen axes: the box normals `u_0` to `u_2`; `u_i x f_j` at index `3 + 3 i + j`, with
/// `f_j` the edge from corner `j`; the triangle's normal.
pub fn axes(triangle: &Triangle) -> [Point; 13] {
    let [p, q, r] = *triangle;
    let u = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let f = [sub(q, p), sub(r, q), sub(p, r)];
    std::array::from_fn(|index| match index {
        0..3 => u[index],
        3..12 => cross(u[(index - 3) / 3], f[(index - 3) % 3]),
        _ => cross(f[0], f[1]),
    })
}

/// Whether the projections of `triangle` and of the box with these `corners` on `axis` are
/// disjoint.
pub fn separates(axis: Point, triangle: &Triangle, corners: &[Point; 8]) -> bool {
    let [t_min, t_max] = project(axis, triangle);
    let [b_min, b_max] = project(axis, corners);
    t_min > b_max || t_max < b_min
}

/// The interval that `points` cover along `axis`.
fn project(axis: Point, points: &[Point]) -> [f64; 2] {
    points
        .iter()
        .map(|&p| dot(axis, p))
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[min, max], d| {
            [if d < min { d } else { min }, if d > max { d } else { max }]
        })
}
