//! Does a triangle meet an axis-aligned box? The optimised test.
//!
//! T. Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", Journal of Graphics Tools 6(1), 2001:
//! the thirteen axes of [`sat`](super::sat), with the box moved to the origin, so that its
//! projection is a radius; with both ends of an edge projected once, since they coincide; and with
//! the axes in three groups, the paper's bullets, to be tested in the order that rejects soonest:
//!
//! 1. [`box_normals_separate`], three axes: the triangle's bounding box against the box;
//! 2. [`plane_separates`], one axis: the triangle's plane;
//! 3. [`edges_separate`], nine axes: the cross products of the box normals and the edges.
//!
//! [`overlaps`] tests them in the order 3, 1, 2, as the paper's code does.
//!
//! # Known limits
//! Those of [all these tests](super), and one that the paper leaves open. The plane is given by one
//! corner and the normal. The normal of a long sliver is mostly rounding error, so it need not be
//! perpendicular to the edges, and the plane through the first corner may miss the other two by
//! far: a box that contains the third corner can be reported disjoint. [`sat`](super::sat) is not
//! affected, since it projects all corners.

use super::{Aabb, Point, Triangle, cross, dot, sub};

/// Whether `triangle` meets `aabb`.
#[inline]
pub fn overlaps(triangle: &Triangle, aabb: &Aabb) -> bool {
    let v = triangle.map(|corner| sub(corner, aabb.center));
    !edges_separate(&v, aabb.half)
        && !box_normals_separate(&v, aabb.half)
        && !plane_separates(&v, aabb.half)
}

/// Bullet 1: whether a box normal separates triangle `v` from the box of half edges `half` around
/// the origin.
#[inline]
pub fn box_normals_separate(v: &Triangle, half: Point) -> bool {
    (0..3).any(|a| {
        let min = v[0][a].min(v[1][a]).min(v[2][a]);
        let max = v[0][a].max(v[1][a]).max(v[2][a]);
        min > half[a] || max < -half[a]
    })
}

/// Bullet 2: whether the plane of triangle `v` misses the box of half edges `half` around the
/// origin: its distance from the centre against the box's radius, both times the length of the
/// normal.
#[inline]
pub fn plane_separates(v: &Triangle, half: Point) -> bool {
    let normal = cross(sub(v[1], v[0]), sub(v[2], v[1]));
    dot(normal, v[0]).abs() > dot(normal.map(f64::abs), half)
}

/// Bullet 3: whether the cross product of a box normal and an edge separates triangle `v` from the
/// box of half edges `half` around the origin.
#[inline]
pub fn edges_separate(v: &Triangle, half: Point) -> bool {
    (0..3).any(|i| {
        let (start, across) = (v[i], v[(i + 2) % 3]);
        let edge = sub(v[(i + 1) % 3], start);
        (0..3).any(|a| edge_separates(edge, [start, across], half, a))
    })
}

/// The axis `u_a x edge`, which lies in the plane of the other two box normals. `ends` are the
/// corners whose projections bound the triangle's: the edge's start and the corner across.
#[inline]
fn edge_separates(edge: Point, ends: [Point; 2], half: Point, a: usize) -> bool {
    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
    let [p, q] = ends.map(|v| edge[b] * v[c] - edge[c] * v[b]);
    let radius = half[b] * edge[c].abs() + half[c] * edge[b].abs();
    let (min, max) = if p < q { (p, q) } else { (q, p) };
    min > radius || max < -radius
}
