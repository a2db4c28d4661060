//! The point of a triangle nearest to a lattice point: its Voronoi region (C. Ericson, *Real-Time
//! Collision Detection*, 2005, section 5.1.5), decided in integers.
//!
//! # Sizes
//! Edges are at most `2^24` long on each axis, and corners at most `2^25 + 1` from the point
//! ([`Query`](super::query::Query)). So dot products of the two are below `2^51`, and the products
//! of two dot products below `2^103`. A normal is below `2^49`, its dot product with a difference
//! below `2^76`, and the squared distance to a plane is a fraction below `2^152` over at most
//! `2^100`. Squared distances to corners are exact in `f64`; to edges and planes each has fewer
//! than eight roundings of `2^-53`.

use std::cmp::Ordering;

use crate::base::vector::{cross, dot, minus};
use crate::solid::distance::exact::Fraction;

/// A point of the lattice, or one of its coarser form.
pub(in crate::solid) type Point = [i64; 3];

/// A bound of the relative error of [`Candidate::squared`], with a factor of 4 to spare.
pub(super) const RELATIVE_ERROR: f64 = 1.0 / (1_u64 << 48) as f64;

/// The part of a triangle that contains the nearest point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feature {
    Corner(usize),
    /// The edge from this corner to the next.
    Edge(usize),
    Face,
}

impl Feature {
    /// The squared distance of `p` from this part of a triangle, the one nearest to it.
    fn squared_distance(self, p: Point, corners: &[Point; 3]) -> Fraction {
        let wide = |v: Point| v.map(i128::from);
        let squared_norm = |v: Point| dot(wide(v), wide(v));
        match self {
            Self::Corner(i) => Fraction::new(squared_norm(minus(p, corners[i])), 1),
            Self::Edge(i) => {
                let along = minus(corners[(i + 1) % 3], corners[i]);
                let area = cross(minus(p, corners[i]), along);
                Fraction::new(squared_norm(area), squared_norm(along))
            }
            Self::Face => {
                let (normal, height) = plane(p, corners);
                Fraction::of_square(height, squared_norm(normal))
            }
        }
    }
}

/// The squared distance of `p` from a triangle.
pub(in crate::solid) fn squared_distance(p: Point, corners: &[Point; 3]) -> Fraction {
    feature(p, corners).squared_distance(p, corners)
}

/// A triangle, and its squared distance from a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) index: u32,
    corners: [Point; 3],
    feature: Feature,
    /// Rounded; 0 exactly if the point is on the triangle.
    pub(super) squared: f64,
}

impl Candidate {
    pub(super) fn new(p: Point, index: u32, corners: [Point; 3]) -> Self {
        let feature = feature(p, &corners);
        let squared = match feature {
            Feature::Corner(i) => {
                let from = minus(p, corners[i]);
                dot(from, from) as f64
            }
            Feature::Edge(i) => {
                let along = minus(corners[(i + 1) % 3], corners[i]);
                let area = cross(minus(p, corners[i]), along).map(|c| c as f64);
                dot(area, area) / dot(along, along) as f64
            }
            Feature::Face => {
                let (normal, height) = plane(p, &corners);
                let (normal, height) = (normal.map(|c| c as f64), height as f64);
                height * height / dot(normal, normal)
            }
        };
        Self { index, corners, feature, squared }
    }

    /// Whether it is nearer to `p` than `other`, or as near and before it; exact.
    pub(super) fn precedes(&self, other: &Self, p: Point) -> bool {
        let error = RELATIVE_ERROR * other.squared;
        if (self.squared - other.squared).abs() > error {
            return self.squared < other.squared;
        }
        let is_before = self.index < other.index;
        if self.has_same_feature(other) {
            return is_before;
        }
        let [own, others] = [self, other].map(|of| of.feature.squared_distance(p, &of.corners));
        match own.cmp(&others) {
            Ordering::Less => true,
            Ordering::Equal => is_before,
            Ordering::Greater => false,
        }
    }

    /// Whether the nearest points are at one corner, or on one edge, of both.
    fn has_same_feature(&self, other: &Self) -> bool {
        match (self.feature, other.feature) {
            (Feature::Corner(i), Feature::Corner(j)) => self.corners[i] == other.corners[j],
            (Feature::Edge(i), Feature::Edge(j)) => {
                let [a, b] = [(self, i), (other, j)]
                    .map(|(each, i)| [each.corners[i], each.corners[(i + 1) % 3]]);
                a == b || a == [b[1], b[0]]
            }
            _ => false,
        }
    }

    /// The barycentric coordinates of the point nearest to `p`: each with a relative error of a few
    /// `2^-53`, and 0 exactly beside the nearest corner or edge.
    pub(super) fn weights(&self, p: Point) -> [f64; 3] {
        let mut weights = [0.0; 3];
        match self.feature {
            Feature::Corner(i) => weights[i] = 1.0,
            Feature::Edge(i) => {
                let next = (i + 1) % 3;
                let edge = minus(self.corners[next], self.corners[i]);
                let (along, squared) = (dot(minus(p, self.corners[i]), edge), dot(edge, edge));
                weights[i] = (squared - along) as f64 / squared as f64;
                weights[next] = along as f64 / squared as f64;
            }
            Feature::Face => {
                let areas = areas(products(p, &self.corners));
                let total = areas[0] + areas[1] + areas[2];
                weights = areas.map(|area| area as f64 / total as f64);
            }
        }
        weights
    }
}

/// The normal of a triangle, and its dot product with the vector from the first corner to `p`.
fn plane(p: Point, &[a, b, c]: &[Point; 3]) -> (Point, i128) {
    let normal = cross(minus(b, a), minus(c, a));
    (normal, dot(normal.map(i128::from), minus(p, a).map(i128::from)))
}

/// The dot products of the edges from the first corner to the second and to the third with the
/// vectors from each corner to a point.
type Products = [[i64; 2]; 3];

#[inline]
fn products(p: Point, corners: &[Point; 3]) -> Products {
    let edges = [minus(corners[1], corners[0]), minus(corners[2], corners[0])];
    corners.map(|corner| edges.map(|edge| dot(edge, minus(p, corner))))
}

/// The barycentric coordinates of the projection to the plane, times the squared norm of the
/// normal.
#[inline]
fn areas([a, b, c]: Products) -> [i128; 3] {
    let area = |u: [i64; 2], v: [i64; 2]| {
        i128::from(u[0]) * i128::from(v[1]) - i128::from(v[0]) * i128::from(u[1])
    };
    [area(b, c), area(c, a), area(a, b)]
}

/// The feature nearest to `p`. A corner is nearest if `p` is in its normal cone, an edge if `p` is
/// beyond it and strictly between the planes through its ends. `p` is beyond all edges of a
/// triangle without area, which is a segment: an edge or a corner is nearest.
fn feature(p: Point, corners: &[Point; 3]) -> Feature {
    let products = products(p, corners);
    // By the edges to the second and third corner: from the first, the second and the third corner.
    let [[ab, ac], [bb, bc], [cb, cc]] = products;
    if ab <= 0 && ac <= 0 {
        return Feature::Corner(0);
    }
    if bb >= 0 && bc <= bb {
        return Feature::Corner(1);
    }
    if cc >= 0 && cb <= cc {
        return Feature::Corner(2);
    }
    let [beyond_a, beyond_b, beyond_c] = areas(products).map(|area| area <= 0);
    if beyond_c && ab > 0 && bb < 0 {
        return Feature::Edge(0);
    }
    if beyond_a && bc > bb && cb > cc {
        return Feature::Edge(1);
    }
    if beyond_b && ac > 0 && cc < 0 {
        return Feature::Edge(2);
    }
    Feature::Face
}
