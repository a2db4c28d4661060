//! `crosses(triangle, column)`: does the line through the voxel centres of a column pass through
//! the triangle, and in which voxel?
//!
//! A column runs along an axis and is given by its centre in the plane across it: `(y, z)` for
//! columns along `x`, `(z, x)` along `y`, `(x, y)` along `z`. The triangle is projected to that
//! plane and oriented counter-clockwise. A centre strictly inside is covered; one exactly on an
//! edge is covered if and only if that edge runs down: towards smaller second coordinate or, when
//! level, towards smaller first coordinate. That is the top-left rule of rasterizers. It is a
//! symbolic perturbation: the centre moves by an infinitesimal step up the first coordinate and a
//! far smaller one down the second, and then lies on no edge. So of two triangles that share an
//! edge and lie on opposite sides of it exactly one covers the centre, and a column crosses a
//! closed mesh an even number of times, as often into it as out of it.
//!
//! A triangle that projects to a segment or point needs no special case: it covers no centre. Its
//! edge functions add up to 0, so a covered centre would be on all its edges, and all would run
//! down; but edge vectors add up to 0, so not all of them run down.
//!
//! # The voxel
//! The edge functions at the centre, divided by their sum, are the weights of the corners across
//! from the edges. So the [`Height`] of the crossing, along the axis, is a fraction with that sum
//! as its denominator, and its voxel is a quotient in integers. Backends find the voxel in floats
//! with an error bound, and ask for the quotient only where that leaves several.
//!
//! # Sizes
//! By the bit budget of [`lattice`](crate::lattice), corners and centres of columns through the
//! grid are at most `2^24`, and so are their differences. So the slope of an edge function is at
//! most `2^24`, its constant and its value at most `2^49`, and the sums between below `2^51`: all
//! are exact in `i64`. A covered centre has weights that are not negative and add up to the
//! denominator, twice the projected area and at most `2^48`: all are exact in `f64`. The numerator
//! is below `2^75`, for `i128`.
//!
//! The shader of the same name has the same functions on integers built from `u32`, behind filters
//! in `f32`. Instead of the division it compares the few heights that its filter leaves.

pub mod blocks;

use crate::lattice::{SPAN_BITS, Triangle};

/// An axis along which columns run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Columns across the plane `(y, z)`.
    X,
    /// Columns across the plane `(z, x)`.
    Y,
    /// Columns across the plane `(x, y)`.
    Z,
}

impl Axis {
    /// All three, in order.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// The coordinates of `point` across the axis, in their order, and the one along it.
    #[must_use]
    #[inline]
    pub fn project(self, point: [i32; 3]) -> ([i32; 2], i32) {
        let [first, second] = self.across();
        ([point[first], point[second]], point[self.along()])
    }

    /// The indices of the coordinates across the axis, in their order.
    #[must_use]
    #[inline]
    pub fn across(self) -> [usize; 2] {
        match self {
            Self::X => [1, 2],
            Self::Y => [2, 0],
            Self::Z => [0, 1],
        }
    }

    /// The index of the coordinate along the axis.
    #[must_use]
    #[inline]
    pub fn along(self) -> usize {
        self as usize
    }

    /// The inverse of [`project`](Self::project).
    #[must_use]
    #[inline]
    pub fn unproject<T>(self, [first, second]: [T; 2], along: T) -> [T; 3] {
        match self {
            Self::X => [along, first, second],
            Self::Y => [second, along, first],
            Self::Z => [first, second, along],
        }
    }
}

/// A triangle, set up for columns along one axis.
///
/// ```
/// use trivox::predicate::crosses::{Axis, ProjectedTriangle};
///
/// // A ramp that rises along x, over voxels of 4 units.
/// let projected = ProjectedTriangle::new(&[[0, 0, 0], [16, 0, 16], [0, 16, 0]], Axis::Z);
/// assert_eq!(projected.at([14, 14]), None);
/// // Over the centre of voxel (1, 0) it is at height 6, the centre of voxel 1.
/// let height = projected.at([6, 2]).expect("within the triangle");
/// assert_eq!(height.numerator(), 6 * i128::from(height.denominator()));
/// assert_eq!(height.voxel(2, 4), 1);
/// assert_eq!(height.first_center(2), 1);
/// // Its normal points up, so what lies below is inside.
/// assert_eq!(projected.winding(), -1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ProjectedTriangle {
    /// The edges across from the corners, in the corners' order.
    edges: [Edge; 3],
    /// The corners' coordinates along the axis.
    heights: [i32; 3],
    /// Twice the projected area.
    area: i64,
    winding: i32,
}

impl ProjectedTriangle {
    /// Sets up `triangle`, which must keep the bit budget of [`lattice`](crate::lattice).
    #[must_use]
    #[inline]
    pub fn new(triangle: &Triangle, axis: Axis) -> Self {
        let [(a, height_a), (b, height_b), (c, height_c)] =
            triangle.map(|corner| axis.project(corner));
        let area = Edge::new(a, b).value(c);
        let (b, c, height_b, height_c) =
            if area < 0 { (c, b, height_c, height_b) } else { (b, c, height_b, height_c) };
        Self {
            edges: [Edge::new(b, c), Edge::new(c, a), Edge::new(a, b)],
            heights: [height_a, height_b, height_c],
            area: area.abs(),
            winding: -area.signum() as i32,
        }
    }

    /// The change of the winding number where a column, going up its axis, crosses the triangle: 1
    /// where it enters, against the normal, and -1 where it leaves. 0 if no column crosses.
    ///
    /// The corners are counter-clockwise seen from the side that the normal points to.
    #[must_use]
    #[inline]
    pub fn winding(&self) -> i32 {
        self.winding
    }

    /// Whether the column whose centre is `center` passes through the triangle.
    #[must_use]
    #[inline]
    pub fn covers(&self, center: [i32; 2]) -> bool {
        let [bc, ca, ab] = &self.edges;
        // Sign bits, so that there is one branch to mispredict.
        (bc.excess(center) | ca.excess(center) | ab.excess(center)) >= 0
    }

    /// The height at which the column with centre `center` crosses the triangle, if it does.
    #[must_use]
    #[inline]
    pub fn at(&self, center: [i32; 2]) -> Option<Height> {
        self.covers(center).then(|| self.height(center))
    }

    /// The height of [`at`](Self::at), for a column that is known to cross.
    #[inline]
    fn height(&self, center: [i32; 2]) -> Height {
        debug_assert!(self.covers(center), "{center:?} is not covered");
        let [base, height_b, height_c] = self.heights;
        Height {
            base,
            rises: [height_b - base, height_c - base],
            weights: [self.edges[1].value(center), self.edges[2].value(center)],
            area: self.area,
        }
    }
}

/// The edge function of an edge with the triangle on its left, where it is positive.
#[derive(Debug, Clone, Copy)]
struct Edge {
    slope: [i64; 2],
    constant: i64,
    /// The least value at covered centres: 0 or, by the top-left rule, 1.
    least: i64,
}

impl Edge {
    #[inline]
    fn new(start: [i32; 2], end: [i32; 2]) -> Self {
        let (start, end) = (start.map(i64::from), end.map(i64::from));
        let along = [end[0] - start[0], end[1] - start[1]];
        let slope = [-along[1], along[0]];
        let constant = -(slope[0] * start[0] + slope[1] * start[1]);
        Self { slope, constant, least: i64::from(!runs_down(along)) }
    }

    #[inline]
    fn value(&self, center: [i32; 2]) -> i64 {
        debug_assert!(center.iter().all(|c| c.abs() <= 1 << SPAN_BITS), "{center:?} is too far");
        let [p, q] = center.map(i64::from);
        self.slope[0] * p + self.slope[1] * q + self.constant
    }

    /// Negative where the centre is outside the edge.
    #[inline]
    fn excess(&self, center: [i32; 2]) -> i64 {
        self.value(center) - self.least
    }
}

/// Whether an edge vector runs down. Exactly one of a vector and its negative does; the zero vector
/// does not.
#[inline]
fn runs_down<T: Default + PartialOrd>(along: [T; 2]) -> bool {
    let zero = T::default();
    (along[1] < zero) | ((along[1] == zero) & (along[0] < zero))
}

/// The centre of voxel `index` along an axis.
#[inline]
pub(crate) fn center_of(index: i32, fraction_bits: u32) -> i32 {
    (index << fraction_bits) + (1 << (fraction_bits - 1))
}

/// The height at which a column crosses a triangle: an exact fraction, in lattice units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Height {
    /// The first corner's height.
    base: i32,
    /// The heights of the second and third corner above the first.
    rises: [i32; 2],
    /// The barycentric weights of the second and third corner, times `area`.
    weights: [i64; 2],
    area: i64,
}

impl Height {
    /// The numerator of the height, below `2^75`.
    #[must_use]
    #[inline]
    pub fn numerator(&self) -> i128 {
        let term = |i: usize| i128::from(self.weights[i]) * i128::from(self.rises[i]);
        i128::from(self.base) * i128::from(self.area) + term(0) + term(1)
    }

    /// The denominator of the height: twice the area of the projected triangle, 1 to `2^48`.
    #[must_use]
    #[inline]
    pub fn denominator(&self) -> i64 {
        self.area
    }

    /// The height, rounded: its error is below `2^-50` of the triangle's extent along the axis plus
    /// `2^-53` of the height.
    ///
    /// The weights add up to at most `area`, so the rise over `base` is at most the extent. Two
    /// products, a sum and a quotient each round by at most `2^-53` of that.
    #[inline]
    pub(crate) fn to_f64(self) -> f64 {
        let term = |i: usize| self.weights[i] as f64 * f64::from(self.rises[i]);
        f64::from(self.base) + (term(0) + term(1)) / self.area as f64
    }

    /// The first voxel, of `2^fraction_bits` units, whose centre is at the crossing or above. The
    /// index may be outside the grid. `fraction_bits` is at least 1.
    #[must_use]
    pub fn first_center(&self, fraction_bits: u32) -> i32 {
        let half = i128::from(self.area) << (fraction_bits - 1);
        // The crossing less half a voxel, in voxels, rounded up.
        -(half - self.numerator()).div_euclid(2 * half) as i32
    }

    /// The voxel `k`, of `S = 2^fraction_bits` units, whose half-open interval `[k S, (k + 1) S)`
    /// contains the crossing; the last of the grid's `count` voxels also contains its far face. The
    /// index may be outside the grid. `fraction_bits` is at most
    /// [`MAX_FRACTION_BITS`](crate::lattice::MAX_FRACTION_BITS).
    #[must_use]
    pub fn voxel(&self, fraction_bits: u32, count: i32) -> i32 {
        let (numerator, size) = (self.numerator(), i128::from(self.area) << fraction_bits);
        let is_on_far_face = numerator == i128::from(count) * size;
        numerator.div_euclid(size) as i32 - i32::from(is_on_far_face)
    }
}
