//! Does a triangle meet an oriented box?
//!
//! The triangle is transformed to the box's frame, where the box is axis-aligned, and tested by
//! [`moller`]. The reduction is in T. Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing",
//! Journal of Graphics Tools 6(1), 2001; the use of oriented boxes in S. Gottschalk, M. C. Lin and
//! D. Manocha, "OBBTree: A Hierarchical Structure for Rapid Interference Detection", SIGGRAPH 1996.
//!
//! Known limits: those of [`moller`], and the rotation is rounded too. The result for a triangle
//! and a box that only touch depends on the orientation; only for quarter turns is there a lattice
//! on which it is exact.

use super::{Aabb, Obb, Point, Triangle, dot, moller, sub};

/// Whether `triangle` meets `obb`.
pub fn overlaps(triangle: &Triangle, obb: &Obb) -> bool {
    debug_assert!(is_orthonormal(&obb.axes), "box axes {:?} are not orthonormal", obb.axes);
    let local = triangle.map(|corner| {
        let from_center = sub(corner, obb.center);
        obb.axes.map(|axis| dot(axis, from_center))
    });
    moller::overlaps(&local, &Aabb { center: [0.0; 3], half: obb.half })
}

/// Whether `axes` are orthonormal to within `f32` precision.
fn is_orthonormal(axes: &[Point; 3]) -> bool {
    let wanted = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    (0..9).map(|k| (k / 3, k % 3)).all(|(i, j)| (dot(axes[i], axes[j]) - wanted(i, j)).abs() < 1e-6)
}
