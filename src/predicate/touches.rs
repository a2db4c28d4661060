//! `touches(triangle, box)`: does the closed triangle meet the closed cube?
//!
//! The thirteen axes of T. Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", Journal of
//! Graphics Tools 6(1), 2001, in integers: three box normals, the cross products of three edges
//! and three box normals, and the triangle's plane. Two convex polyhedra are disjoint if and only
//! if one of these axes separates their projections strictly, so touching counts.
//!
//! Degenerate triangles need no special case. A zero axis projects everything to 0 and separates
//! nothing; and a segment or a point is separated from a box by the box normals and the cross
//! products of its direction alone, which are among the thirteen (the edges of a flattened
//! triangle are parallel to the segment).
//!
//! # Sizes
//! The bit budget of [`place`](mod@crate::place) bounds differences: `|v - c| <= 2^24`,
//! `|e| <= 2^24`, and `h < 2^24`. So a product of two is at most `2^48`, an edge axis with its
//! radius at most `2^51`, a component of the normal at most `2^49`, and the plane at most
//! `3 * 2^49 * 2^25 < 2^76`: edges are exact in `i64`, the plane in `i128`.
//!
//! The shader of the same name does the same in `f32`, and in integers built from `u32` where
//! `f32` cannot be sure.

use crate::place::Triangle;

/// Whether the closed `triangle` meets the closed cube of half edge `half` around `center`, all in
/// lattice units within the bit budget.
#[must_use]
pub fn touches(triangle: &Triangle, center: [i32; 3], half: i32) -> bool {
    let v = triangle.map(|corner| sub(corner, center));
    let h = i64::from(half);
    !box_separates(&v, h) && !edges_separate(&v, h) && !plane_separates(&v, h)
}

/// The three box normals: the bounding box of the triangle against the cube.
fn box_separates(v: &[[i64; 3]; 3], h: i64) -> bool {
    (0..3).any(|a| {
        let min = v[0][a].min(v[1][a]).min(v[2][a]);
        let max = v[0][a].max(v[1][a]).max(v[2][a]);
        min > h || max < -h
    })
}

/// The nine cross products of a box normal and an edge.
fn edges_separate(v: &[[i64; 3]; 3], h: i64) -> bool {
    (0..3).any(|i| {
        let e = sub64(v[(i + 1) % 3], v[i]);
        // Both ends of the edge project to one value, so the edge's start and the corner across
        // from it are all there is.
        (0..3).any(|a| edge_separates(e, v[i], v[(i + 2) % 3], h, a))
    })
}

/// The axis `e x n`, where `n` is box normal `a`. It lies in the plane of the other two axes.
fn edge_separates(e: [i64; 3], start: [i64; 3], across: [i64; 3], h: i64, a: usize) -> bool {
    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
    let p = e[c] * start[b] - e[b] * start[c];
    let q = e[c] * across[b] - e[b] * across[c];
    let r = h * (e[b].abs() + e[c].abs());
    p.min(q) > r || p.max(q) < -r
}

/// The triangle's own plane.
fn plane_separates(v: &[[i64; 3]; 3], h: i64) -> bool {
    let n = cross(sub64(v[1], v[0]), sub64(v[2], v[1]));
    let d: i128 = (0..3).map(|a| i128::from(n[a]) * i128::from(v[0][a])).sum();
    let r: i128 = (0..3).map(|a| i128::from(n[a].abs()) * i128::from(h)).sum();
    d.abs() > r
}

pub(crate) fn cross(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn sub(a: [i32; 3], b: [i32; 3]) -> [i64; 3] {
    std::array::from_fn(|i| i64::from(a[i]) - i64::from(b[i]))
}

pub(crate) fn sub64(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}
