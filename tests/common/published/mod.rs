//! The published floating-point overlap tests, in `f64`, as their papers give them.
//!
//! For comparison with `trivox::predicate::touches`. No voxel depends on them.
//!
//! | module | question | source |
//! |---|---|---|
//! | [`sat`] | triangle and box, by the thirteen axes as written | Gottschalk, Lin and Manocha 1996
//! |
//! | [`moller`] | triangle and box, optimised, in three parts | Akenine-Möller 2001 |
//! | [`obb`] | triangle and oriented box | both |
//!
//! # Conventions
//! Triangles and boxes are closed, so touching counts. A test returns `true` unless an axis
//! separates. Coordinates must be finite; results for NaN are unspecified.
//!
//! # Known limits
//! - Every difference, product and sum is rounded. Pairs within rounding of touching may be decided
//!   either way, and differently by two of the tests. [`sat`] and [`moller`] are exact
//!   where all coordinates, those of the box's faces included, are integers up to `D = 2^15`: all
//!   terms are then multiples of a half, and none exceeds `24 D^3 < 2^52`.
//! - The normal of a sliver is mostly rounding error. The paper of 2001 leaves this open; see
//!   [`moller`].
//! - Terms are cubic in the coordinates: they underflow below about `1e-103`, and overflow above
//!   about `1e102`.

pub mod moller;
pub mod obb;
pub mod sat;

/// A point or a vector.
pub type Point = [f64; 3];

/// Three corners, in either orientation.
pub type Triangle = [Point; 3];

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// The centre.
    pub center: Point,
    /// Half the edge along each axis; not negative.
    pub half: Point,
}

impl Aabb {
    /// All eight corners: bit `i` of the index selects the larger coordinate on axis `i`.
    pub fn corners(&self) -> [Point; 8] {
        std::array::from_fn(|index| {
            std::array::from_fn(|i| match index >> i & 1 {
                0 => self.center[i] - self.half[i],
                _ => self.center[i] + self.half[i],
            })
        })
    }
}

/// An oriented box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Obb {
    /// The centre.
    pub center: Point,
    /// The directions of the edges: orthonormal.
    pub axes: [Point; 3],
    /// Half the edge along each of `axes`; not negative.
    pub half: Point,
}

impl From<Aabb> for Obb {
    fn from(Aabb { center, half }: Aabb) -> Self {
        Self { center, axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], half }
    }
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn sub(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}
