//! Does a plane meet an axis-aligned box?
//!
//! Both forms project the box on the plane's normal.
//!
//! - [`overlaps`], for a box given by centre and half edges: S. Gottschalk, "Collision Queries
//!   using Oriented Bounding Boxes", PhD thesis, University of North Carolina at Chapel Hill,
//!   2000; C. Ericson, "Real-Time Collision Detection", 2005, section 5.2.3; also in T.
//!   Akenine-Möller, E. Haines and N. Hoffman, "Real-Time Rendering", 3rd edition, 2008.
//! - [`overlaps_corners`], for a box given by two corners: the corner furthest along the normal
//!   and the one furthest against it, called the p-vertex and the n-vertex. E. Haines and J.
//!   Wallace, "Shaft Culling for Efficient Ray-Cast Radiosity", Eurographics Workshop on
//!   Rendering, 1991.
//!
//! Known limits: the two forms round differently, so they may disagree on a plane within rounding
//! of a corner. A zero normal is no plane: it meets every box if the distance is 0, and otherwise
//! none.

use super::{Aabb, Plane, Point, dot};

/// Whether `plane` meets `aabb`: its distance from the centre against the box's radius along the
/// normal.
#[must_use]
pub fn overlaps(aabb: &Aabb, plane: &Plane) -> bool {
    let from_center = dot(plane.normal, aabb.center) - plane.distance;
    let separated = from_center.abs() > dot(plane.normal.map(f64::abs), aabb.half);
    !separated
}

/// Whether `plane` meets the box between any two opposite corners.
#[must_use]
pub fn overlaps_corners(corners: [Point; 2], plane: &Plane) -> bool {
    let along = |i: usize| corners.map(|corner| plane.normal[i] * corner[i]);
    let sum = |end: fn([f64; 2]) -> f64| (0..3).map(|i| end(along(i))).sum::<f64>();
    let n_vertex = sum(|[a, b]| a.min(b));
    let p_vertex = sum(|[a, b]| a.max(b));
    let separated = n_vertex > plane.distance || p_vertex < plane.distance;
    !separated
}
