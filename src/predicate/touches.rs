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
//! The bit budget of [`lattice`](crate::lattice) bounds differences: `|v - c| <= 2^24`,
//! `|e| <= 2^24`, and `h < 2^24`. So a product of two is at most `2^48`, an edge axis with its
//! radius at most `2^51`, a component of the normal at most `2^49`, and the plane at most
//! `3 * 2^49 * 2^25 < 2^76`: edges are exact in `i64`, the plane in `i128`.
//!
//! This is the specification of all forms of the test: the vectors of the CPU backend
//! ([`blocks`](super::blocks)), and the kernels of GPUs, which must equal it on a built-in mesh
//! before a GPU is used. It is written to be read, one pair at a time, and no backend runs it.
//!
//! The shader of the same name has the same functions on integers built from `u32`, behind a filter
//! in `f32` that decides all signs outside its error bound.

use crate::base::vector::{cross, minus};
use crate::lattice::Triangle;

/// Whether the closed `triangle` meets the closed cube of half edge `half` around `center`, all in
/// lattice units within the bit budget.
#[must_use]
pub fn touches(triangle: &Triangle, center: [i32; 3], half: i32) -> bool {
    let [a, b, c] = *triangle;
    let v = [sub(a, center), sub(b, center), sub(c, center)];
    let half = i64::from(half);
    !(box_separates(&v, half) || edges_separate(&v, half) || plane_separates(&v, half))
}

/// The three box normals: the bounding box of the triangle against the cube.
fn box_separates(&[a, b, c]: &[[i64; 3]; 3], half: i64) -> bool {
    let separates = |axis: usize| {
        let lo = a[axis].min(b[axis]).min(c[axis]);
        let hi = a[axis].max(b[axis]).max(c[axis]);
        lo > half || hi < -half
    };
    separates(0) || separates(1) || separates(2)
}

/// The nine cross products of a box normal and an edge.
fn edges_separate(&[a, b, c]: &[[i64; 3]; 3], half: i64) -> bool {
    edge_axes_separate(a, b, c, half)
        || edge_axes_separate(b, c, a, half)
        || edge_axes_separate(c, a, b, half)
}

fn edge_axes_separate(start: [i64; 3], end: [i64; 3], across: [i64; 3], half: i64) -> bool {
    let e = minus(end, start);
    let yz = |v: [i64; 3]| [v[1], v[2]];
    let zx = |v: [i64; 3]| [v[2], v[0]];
    let xy = |v: [i64; 3]| [v[0], v[1]];
    edge_separates(yz(e), yz(start), yz(across), half)
        || edge_separates(zx(e), zx(start), zx(across), half)
        || edge_separates(xy(e), xy(start), xy(across), half)
}

/// The axis `e x n`, where the box normal `n` is the axis left out of the two dimensions. Both ends
/// of the edge project to one value, so the edge's start and the opposite corner bound the
/// projection.
fn edge_separates(e: [i64; 2], start: [i64; 2], across: [i64; 2], half: i64) -> bool {
    let p = e[1] * start[0] - e[0] * start[1];
    let q = e[1] * across[0] - e[0] * across[1];
    let r = half * (e[0].abs() + e[1].abs());
    r < p.min(q) || p.max(q) < -r
}

/// The triangle's plane.
fn plane_separates(&[a, b, c]: &[[i64; 3]; 3], half: i64) -> bool {
    let n = cross(minus(b, a), minus(c, b));
    let size = n[0].abs() + n[1].abs() + n[2].abs();
    i128::from(half) * i128::from(size) < dot(n, a).abs()
}

/// At most `3 * 2^49 * 2^24` for a normal and a difference within the bit budget.
pub(crate) fn dot(n: [i64; 3], v: [i64; 3]) -> i128 {
    let term = |i: usize| i128::from(n[i]) * i128::from(v[i]);
    term(0) + term(1) + term(2)
}

fn sub(a: [i32; 3], b: [i32; 3]) -> [i64; 3] {
    minus(a.map(i64::from), b.map(i64::from))
}
